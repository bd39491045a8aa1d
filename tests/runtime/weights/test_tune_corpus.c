/* Programs that nobody here wrote, with every weight that can be one as a parameter, and with every adapter that can
 * be: both compute what the program does. Most of these programs came without their weight files; they get numbers. */
#include "graph/transform/tune/trainable.h"
#include "runtime/program/corpus.h"
#include "support/check.h"

#include <dirent.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>

enum { WEIGHTS_MAX = 8 << 20 };

static void fill_inputs(mw_program *program, mw_error *err)
{
    uint32_t state = 3;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        if (port.is_output || port.is_parameter || (port.dtype != MW_F32 && port.dtype != MW_F16))
            continue;
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *data = malloc((count + 1) * sizeof *data);
        for (size_t k = 0; k < count; k++)
            data[k] = corpus_number(&state);
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
    for (size_t i = 0; mw_program_port_at(a, i, &port); i++) {
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
    int trainable, adapted; /* programs */
    int weights, left;      /* of those that "*" takes and leaves */
    int roles[9];           /* of all constants, by mw_weight_role */
} totals;

static mw_program *compile(const mw_graph *graph, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    mw_program *program = mw_program_create(graph, &options, err);
    if (program != NULL && corpus_choose_shapes(program, err) != MW_OK) {
        mw_program_destroy(program);
        return NULL;
    }
    if (program != NULL) {
        fill_inputs(program, err);
        mw_program_run(program, err);
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

/* What "*" takes is a weight of a layer; a statistic, an epsilon, a scalar never is. */
static void count_choice(void *user, const mw_tune_choice *choice)
{
    totals *t = user;
    const bool taken = choice->outcome == MW_TUNE_TRAINED;
    t->weights += taken;
    t->left += !taken;
    check_note(!taken || (choice->weight->role != MW_WEIGHT_NONE && choice->weight->shape.rank > 0), __FILE__, __LINE__,
               "\"%s\" was taken, %s of %s", choice->weight->name, choice->weight->argument, choice->weight->operation);
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
    tune.report = count_choice;
    tune.report_user = t;
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

/* In every program, also those that are too large to run here. */
static void count_roles(const mw_graph *graph, totals *t)
{
    enum { MOST = 1000 };
    static mw_weight weights[MOST];
    mw_error err = {0};
    size_t count = 0;
    mw_graph_weights(graph, weights, MOST, &count, &err);
    for (size_t i = 0; i < count && i < MOST; i++)
        t->roles[weights[i].role]++;
}

static void check_file(const char *path, totals *t)
{
    mw_graph *graph = corpus_read(path);
    if (graph != NULL)
        count_roles(graph, t);
    if (graph != NULL && corpus_fill_weights(graph, WEIGHTS_MAX) <= WEIGHTS_MAX)
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
    printf("       %d programs trainable, %d adapted; \"*\" takes %d weights and leaves %d constants\n", t.trainable,
           t.adapted, t.weights, t.left);
    CHECK(t.trainable >= 12); /* the others have no weight of a layer */
    CHECK(t.weights >= 60);
    for (int i = 0; i < 9; i++)
        printf("       %d %s\n", t.roles[i], mw__tune_role_name((mw_weight_role)i));
    CHECK(t.roles[MW_WEIGHT_KERNEL] >= 150 && t.roles[MW_WEIGHT_BIAS] >= 90 && t.roles[MW_WEIGHT_NORM] >= 50);
    CHECK(t.roles[MW_WEIGHT_TABLE] >= 1 && t.roles[MW_WEIGHT_STATISTIC] >= 6);
    CHECK(t.adapted >= 12);
}

int main(void)
{
    RUN(test_copies_compute_what_the_programs_do);
    return check_finish();
}
