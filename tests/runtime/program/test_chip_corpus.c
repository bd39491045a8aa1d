/* Real programs on the model of the ANE: none of them stops because of a constant that fp16 does not hold, and those
 * that had such constants compute what they do in fp32. What stops them otherwise is counted by its message. */
#include "corpus.h"
#include "support/check.h"
#include "support/setting.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHTS_MAX = 256 << 20 };

typedef struct totals {
    int programs, on_cpu, on_both, replaced, constants, other;
    double worst;
} totals;

static mw_program *compile(const mw_graph *graph, mw_device device, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = device;
    mw_program *program = mw_program_create(graph, &options, err);
    if (program == NULL || corpus_choose_shapes(program, err) == MW_OK)
        return program;
    mw_program_destroy(program);
    return NULL;
}

/* The same numbers for both: masks are 1 but for their end, indices small, magnitudes (which go into logarithms) from 0
 * on, everything else in [-1, 1). */
static float input_number(const char *name, bool integer, int64_t i, int64_t count, uint32_t *state)
{
    const float number = corpus_number(state);
    if (strstr(name, "mask") != NULL)
        return i < count * 3 / 4 ? 1.0F : 0.0F;
    if (strstr(name, "magnitude") != NULL)
        return fabsf(number);
    if (strstr(name, "ids") != NULL)
        return (float)(int)(1024.0F + 1000.0F * number);
    return integer ? (float)(int)(40.0F + 30.0F * number) : number;
}

static void fill_inputs(mw_program *program, mw_program *other, mw_error *err)
{
    uint32_t state = 3;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        if (port.is_output || port.is_parameter)
            continue;
        const int64_t count = mw_shape_count(port.shape);
        float *data = malloc(((size_t)count + 1) * sizeof *data);
        for (int64_t k = 0; data != NULL && k < count; k++)
            data[k] = input_number(port.name, port.dtype == MW_I32, k, count, &state);
        mw_program_write(program, port.name, MW_F32, data, (size_t)count, err);
        mw_program_write(other, port.name, MW_F32, data, (size_t)count, err);
        free(data);
    }
}

/* The largest difference of an output beside its largest element; INFINITY if one is no number in one of the two. */
static double port_distance(mw_program *a, mw_program *b, const mw_port *port, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(port->shape);
    float *x = malloc((count + 1) * sizeof *x), *y = malloc((count + 1) * sizeof *y);
    double most = 0.0, largest = 1e-30;
    mw_program_read(a, port->name, MW_F32, x, count, err);
    mw_program_read(b, port->name, MW_F32, y, count, err);
    for (size_t k = 0; k < count; k++) {
        const double difference = fabs((double)x[k] - (double)y[k]);
        most = isfinite(difference) ? fmax(most, difference) : (double)INFINITY;
        largest = fmax(largest, isfinite(x[k]) ? fabs((double)x[k]) : 0.0);
    }
    free(x);
    free(y);
    return most / largest;
}

static double distance(mw_program *a, mw_program *b, mw_error *err)
{
    double worst = 0.0;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(a, i, &port); i++)
        if (port.is_output)
            worst = fmax(worst, port_distance(a, b, &port, err));
    return worst;
}

/* Every result is rounded to 11 bits (5e-4); what is measured over a few dozen layers is 6e-4 of the largest element.
 */
#define TOLERANCE 3e-3
/* It takes logarithms of energies near 0: the interpreter (tests/interpreter) with every result in fp16 is 5e-3 off
 * from fp32 there. */
#define PITCH_TOLERANCE 2e-2

static void compare(mw_program *exact, mw_program *chip, const char *who, totals *t)
{
    mw_error err = {0};
    mw_warning warning = {0};
    fill_inputs(exact, chip, &err);
    mw_program_run(exact, &err);
    mw_program_run(chip, &err);
    const double apart = distance(exact, chip, &err);
    const size_t count = mw_program_get_info(chip).warning_count;
    t->on_both++;
    t->replaced += count > 0;
    t->worst = fmax(t->worst, apart);
    const double tolerance = strstr(who, "basic-pitch") != NULL ? PITCH_TOLERANCE : TOLERANCE;
    check_note(err.status == MW_OK && apart <= tolerance, __FILE__, __LINE__, "%s: %g apart, %zu replaced; %s", who,
               apart, count, err.message);
    for (size_t i = 0; mw_program_warning_at(chip, i, &warning); i++)
        printf("  %s: %s\n", who, warning.message);
    if (count > 0)
        printf("  %s: %g apart\n", who, apart);
}

static void check_program(const mw_graph *graph, const char *who, totals *t)
{
    mw_error none = {0}, err = {0};
    mw_program *exact = compile(graph, MW_DEVICE_CPU, &none);
    mw_program *chip = exact != NULL ? compile(graph, MW_DEVICE_ANE, &err) : NULL;
    t->programs++;
    t->on_cpu += exact != NULL;
    if (chip != NULL)
        compare(exact, chip, who, t);
    else if (exact != NULL)
        *(err.status == MW_ERROR_NUMERIC ? &t->constants : &t->other) += 1;
    if (chip == NULL && exact != NULL)
        printf("  %s: %s\n", who, err.message);
    mw_program_destroy(chip);
    mw_program_destroy(exact);
}

static void test_no_constant_stops_a_real_program(void)
{
    static const char corpus[] = MW_SHARED_DATA "/mil";
    totals t = {0};
    char path[600];
    DIR *folder = opendir(corpus);
    if (folder == NULL)
        SKIP("%s is not there", corpus);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s/model.mil", corpus, entry->d_name);
        mw_graph *graph = corpus_read(path);
        if (graph != NULL && corpus_fill_weights(graph, WEIGHTS_MAX) <= WEIGHTS_MAX)
            check_program(graph, entry->d_name, &t);
        mw_graph_destroy(graph);
    }
    closedir(folder);
    printf("%d programs: %d run on the CPU, %d of them on the ANE, %d with constants replaced, at most %g apart; "
           "%d stop for a constant, %d for a rule of the chip\n",
           t.programs, t.on_cpu, t.on_both, t.replaced, t.worst, t.constants, t.other);
    CHECK_INT(t.constants, 0);
    CHECK_INT(t.on_both, t.on_cpu);
    CHECK(t.replaced >= 2);
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE",
                  "ieee"); /* what constants that were replaced change is looked at, not what a chip rounds */
    RUN(test_no_constant_stops_a_real_program);
    return check_finish();
}
