/* How long a compile and a dispatch take, beside the engine. */
#include "library.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct timing {
    const char *name;
    int64_t batch, inputs, outputs; /* of a product */
} timing;

static const timing timings[] = {{"a product of 1 x 16 x 16", 1, 16, 16},
                                 {"a product of 128 x 784 x 256", 128, 784, 256},
                                 {"a product of 256 x 1024 x 1024", 256, 1024, 1024}};

enum { RUNS = 101 };

static const char *item(size_t index) { return index < sizeof timings / sizeof *timings ? timings[index].name : NULL; }

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds; false with err set on failure. */
static bool measure(const timing *t, const char *profile, double *out_compile, double *out_run, mw_error *err)
{
    double times[RUNS];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(t->batch, t->inputs));
    mw_tensor *w = mw_parameter(graph, "w", MW_F16, MW_SHAPE(t->inputs, t->outputs), mw_init_zeros());
    mw_output(mw_matmul(x, w, MW_TRANSPOSE_NONE), "y");
    const mw_compile_options options = library_options(profile);
    const double begin = now();
    mw_program *program = mw_program_create(graph, &options, err);
    *out_compile = now() - begin;
    for (int i = 0; i < RUNS && program != NULL && err->status == MW_OK; i++) {
        const double start = now();
        mw_program_run(program, err);
        times[i] = now() - start;
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    if (err->status != MW_OK)
        return false;
    qsort(times, RUNS, sizeof *times, by_value);
    *out_run = times[RUNS / 2];
    return true;
}

static void run(size_t index, ane_result *out)
{
    mw_error err = {0};
    double compile = 0.0, dispatch = 0.0, own_compile = 0.0, own_dispatch = 0.0;
    if (measure(&timings[index], NULL, &compile, &dispatch, &err) &&
        measure(&timings[index], "ieee", &own_compile, &own_dispatch, &err))
        ane_say(out, "ok", "compile %.1f ms, run %.1f us (median of %d); engine %.1f ms, %.1f us", compile * 1e-3,
                dispatch, RUNS, own_compile * 1e-3, own_dispatch);
    else
        ane_say(out, "refused", "%s", err.message);
}

const ane_section ane_times = {"times", item, run};
