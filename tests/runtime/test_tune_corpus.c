/* Programs that nobody here wrote, with every weight that can be one as a parameter, and with every adapter that can
 * be: both compute what the program does. Most of these programs came without their weight files; they get numbers. */
#include "graph/ir.h"
#include "support/check.h"

#include "base/fp16.h"
#include <dirent.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20, WEIGHTS_MAX = 8 << 20 };

/* ---- numbers ---- */

static float next_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state / 2147483648.0f;
}

/* Weights of the size that a layer starts with; vectors around 1, so that variances are positive. */
static void fill_payload(mw_graph *graph, const mw__payload *payload, uint32_t *state)
{
    mw_error err = {0};
    size_t size;
    const mw_shape shape = payload->type->shape;
    const size_t count = mw__payload_count(payload);
    if (!mw__type_bytes(payload->type, &size))
        return;
    unsigned char *data = mw__arena_alloc(&graph->arena, size, 1, &err);
    const double fan = shape.rank > 1 && shape.dim[0] > 0 ? (double)count / (double)shape.dim[0] : 4.0;
    for (size_t i = 0; data != NULL && i < count; i++) {
        const float value = (shape.rank > 1 ? 0.0f : 1.0f) + (float)((double)next_number(state) / sqrt(fan));
        if (payload->type->dtype == MW_F16)
            ((uint16_t *)(void *)data)[i] = mw__fp16_from_float(value);
        else if (payload->type->dtype == MW_F32)
            ((float *)(void *)data)[i] = value;
    }
    ((mw__payload *)(uintptr_t)payload)->data = data;
    ((mw__payload *)(uintptr_t)payload)->size = size;
}

/* Returns the bytes of all weights. */
static size_t fill_weights(mw_graph *graph)
{
    uint32_t state = 7;
    size_t total = 0;
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__payload *payload = graph->values[i]->payload;
        size_t size;
        if (payload == NULL || payload->type->kind != MW__TENSOR || !mw__type_bytes(payload->type, &size))
            continue;
        total += size;
        if (payload->data == NULL && payload->blob_path != NULL && total <= WEIGHTS_MAX)
            fill_payload(graph, payload, &state);
    }
    return total;
}

static void fill_inputs(mw_program *program, mw_error *err)
{
    uint32_t state = 3;
    mw_port port;
    for (size_t i = 0; mw_program_port(program, i, &port); i++) {
        if (port.is_output || port.is_parameter || (port.dtype != MW_F32 && port.dtype != MW_F16))
            continue;
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *data = malloc((count + 1) * sizeof *data);
        for (size_t k = 0; k < count; k++)
            data[k] = next_number(&state);
        mw_program_write(program, port.name, MW_F32, data, count, err);
        free(data);
    }
}

/* ---- comparing ---- */

static float *read_port(mw_program *program, const mw_port *port, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(port->shape);
    float *data = malloc((count + 1) * sizeof *data);
    mw_program_read(program, port->name, MW_F32, data, count, err);
    return data;
}

/* The largest difference over all float outputs, beside the largest element of each. */
static double distance(mw_program *a, mw_program *b, mw_error *err)
{
    double worst = 0.0;
    mw_port port;
    for (size_t i = 0; mw_program_port(a, i, &port); i++) {
        if (!port.is_output || (port.dtype != MW_F32 && port.dtype != MW_F16))
            continue;
        float *x = read_port(a, &port, err), *y = read_port(b, &port, err);
        double most = 0.0, largest = 1e-30;
        for (int64_t k = 0; k < mw_shape_count(port.shape); k++) {
            const bool same = x[k] == y[k] || (isnan(x[k]) && isnan(y[k]));
            const double difference = fabs((double)x[k] - (double)y[k]);
            most = same ? most : isfinite(difference) ? fmax(most, difference) : 1e30;
            largest = isfinite(x[k]) ? fmax(largest, fabs((double)x[k])) : largest;
        }
        worst = fmax(worst, most / largest);
        free(x);
        free(y);
    }
    return worst;
}

/* ---- programs ---- */

typedef struct totals {
    int trainable, adapted;
} totals;

static mw_program *compile(const mw_graph *graph, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    mw_program *program = mw_compile(graph, &options, err);
    if (program != NULL) {
        fill_inputs(program, err);
        mw_run(program, err);
    }
    return program;
}

/* `copy` must compute what `program` does. */
static void check_copy(mw_program *program, const mw_graph *copy, double tolerance, const char *who)
{
    mw_error err = {0};
    mw_program *other = compile(copy, &err);
    const double apart = other != NULL ? distance(program, other, &err) : 0.0;
    check_note(err.status == MW_OK && apart <= tolerance, __FILE__, __LINE__, "%s: %g apart, at most %g; %s", who,
               apart, tolerance, err.message);
    mw_program_destroy(other);
}

static void check_program(const mw_graph *graph, const char *who, totals *t)
{
    static const char *const all[] = {"*"};
    mw_error err = {0}, none = {0};
    mw_program *program = compile(graph, &err);
    if (program == NULL)
        return; /* operations that the engine has not */
    mw_tune_options tune = mw_tune_defaults(all, 1);
    mw_lora_options lora = mw_lora_defaults(all, 1);
    tune.skip_fixed = lora.skip_fixed = true;
    mw_graph *trainable = mw_graph_trainable(graph, &tune, &err), *adapted = mw_graph_lora(graph, &lora, &none);
    /* norms and biases that are expanded are rounded in between, and these are mostly programs of fp16 */
    if (trainable != NULL)
        check_copy(program, trainable, 1e-2, who);
    if (adapted != NULL)
        check_copy(program, adapted, 0.0, who);
    t->trainable += trainable != NULL;
    t->adapted += adapted != NULL;
    mw_graph_destroy(adapted);
    mw_graph_destroy(trainable);
    mw_program_destroy(program);
}

static void check_file(const char *path, totals *t)
{
    static char text[TEXT_MAX];
    mw_error err = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return;
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    if (size == sizeof text)
        return;
    mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, &err);
    if (graph != NULL && fill_weights(graph) <= WEIGHTS_MAX)
        check_program(graph, path, t);
    mw_graph_destroy(graph);
}

static void test_copies_compute_what_the_programs_do(void)
{
    static const char corpus[] = MW_SHARED_DATA "/mil";
    totals t = {0};
    char path[600];
    DIR *folder = opendir(corpus);
    if (folder == NULL)
        SKIP("%s is not there", corpus);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s/model.mil", corpus, entry->d_name);
        check_file(path, &t);
    }
    closedir(folder);
    CHECK(t.trainable >= 15);
    CHECK(t.adapted >= 12);
}

int main(void)
{
    RUN(test_copies_compute_what_the_programs_do);
    return check_finish();
}
