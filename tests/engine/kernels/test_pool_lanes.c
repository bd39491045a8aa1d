/* Poolings of many planes, and their gradients, against plain loops in double: any windows, one to three axes, planes
 * that do and do not fill vectors, and planes so large that they are taken in bands. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 1 << 20, MAX = 0, AVERAGE, L2, KINDS };
static const char *const names[KINDS] = {"max_pool", "avg_pool", "l2_pool"};

/* Missing axes stand in front. */
typedef struct problem {
    int kind, axes;
    int64_t batch, channels, in[3], kernel[3], stride[3], before[3], after[3], out[3];
    bool exclude;
    char text[300];
} problem;

static float x[MOST], y[MOST], dy[MOST], dx[MOST];
static double wanted_y[MOST], wanted_dx[MOST];

static int64_t planes_of(const problem *p) { return p->batch * p->channels; }
static int64_t in_of(const problem *p) { return p->in[0] * p->in[1] * p->in[2]; }
static int64_t out_of(const problem *p) { return p->out[0] * p->out[1] * p->out[2]; }

/* ---- plain loops ---- */

/* The position in x of element k of window o; -1: padding. */
static int64_t position_of(const problem *p, const int64_t *o, const int64_t *k)
{
    int64_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t position = o[i] * p->stride[i] - p->before[i] + k[i];
        if (position < 0 || position >= p->in[i])
            return -1;
        at = at * p->in[i] + position;
    }
    return at;
}

#define EACH(index, extent)                                                                                            \
    for (index[0] = 0; index[0] < (extent)[0]; index[0]++)                                                             \
        for (index[1] = 0; index[1] < (extent)[1]; index[1]++)                                                         \
            for (index[2] = 0; index[2] < (extent)[2]; index[2]++)

static void window_of(const problem *p, const int64_t *o, int64_t plane, int64_t to)
{
    const float *from = x + plane * in_of(p);
    double *back = wanted_dx + plane * in_of(p), sum = 0.0, most = -INFINITY;
    int64_t k[3], first = -1, inside = 0;
    EACH(k, p->kernel)
    {
        const int64_t at = position_of(p, o, k);
        if (at < 0)
            continue;
        inside++;
        sum += p->kind == L2 ? (double)from[at] * (double)from[at] : (double)from[at];
        if ((double)from[at] > most)
            most = (double)from[at], first = at;
    }
    const double counted = (double)(p->exclude ? inside : p->kernel[0] * p->kernel[1] * p->kernel[2]);
    const double share = (double)dy[to];
    wanted_y[to] = p->kind == MAX ? most : p->kind == L2 ? sqrt(sum) : inside > 0 ? sum / counted : 0.0;
    if (p->kind == MAX && first >= 0)
        back[first] += share;
    EACH(k, p->kernel)
    {
        const int64_t at = position_of(p, o, k);
        if (at >= 0 && p->kind == AVERAGE)
            back[at] += share / counted;
        if (at >= 0 && p->kind == L2 && sum > 0.0)
            back[at] += (double)from[at] * share / sqrt(sum);
    }
}

static void compute_plainly(const problem *p)
{
    int64_t o[3], to = 0;
    memset(wanted_dx, 0, (size_t)(planes_of(p) * in_of(p)) * sizeof *wanted_dx);
    for (int64_t plane = 0; plane < planes_of(p); plane++)
        EACH(o, p->out)
    window_of(p, o, plane, to++);
}

/* ---- the engine ---- */

static mw_shape shape_of(const problem *p, const int64_t *extents)
{
    mw_shape shape = {.rank = 2 + p->axes, .dim = {p->batch, p->channels}};
    for (int i = 0; i < p->axes; i++)
        shape.dim[2 + i] = extents[3 - p->axes + i];
    return shape;
}

static mw_program *compile(const problem *p, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *in = mw_input(graph, "x", MW_F32, shape_of(p, p->in)), *gradient = NULL;
    mw_pool_options options = mw_pool_defaults((mw_shape){.rank = p->axes});
    options.pad_type = MW_PAD_CUSTOM;
    options.exclude_padding = p->exclude;
    for (int i = 0; i < p->axes; i++) {
        const int axis = 3 - p->axes + i;
        options.kernel.dim[i] = p->kernel[axis], options.stride[i] = p->stride[axis];
        options.pad[2 * i] = p->before[axis], options.pad[2 * i + 1] = p->after[axis];
    }
    mw_tensor *result = p->kind == MAX       ? mw_max_pool(in, &options)
                        : p->kind == AVERAGE ? mw_avg_pool(in, &options)
                                             : mw_l2_pool(in, &options);
    mw_tensor *seed = mw_input(graph, "dy", MW_F32, mw_tensor_shape(result));
    mw_vjp(&result, &seed, 1, &in, 1, &gradient, err);
    mw_output(result, "y");
    mw_output(gradient, "dx");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, err);
    mw_graph_destroy(graph);
    return program;
}

static void compare(const problem *p, const char *name, const float *got, const double *wanted, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - wanted[i]) <= 2e-6 * (1.0 + fabs(wanted[i]))) && (double)got[i] != wanted[i]) {
            check_note(false, __FILE__, __LINE__, "%s: %s[%d] is %.9g, not %.9g", p->text, name, (int)i, (double)got[i],
                       wanted[i]);
            return;
        }
}

static void run_problem(const problem *p, int threads)
{
    mw_error err = {0};
    const size_t elements = (size_t)(planes_of(p) * in_of(p)), windows = (size_t)(planes_of(p) * out_of(p));
    mw_program *program = compile(p, threads, &err);
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, elements, &err);
        mw_program_write(program, "dy", MW_F32, dy, windows, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, windows, &err);
        mw_program_read(program, "dx", MW_F32, dx, elements, &err);
    }
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", p->text, err.message)) {
        compare(p, "y", y, wanted_y, (int64_t)windows);
        compare(p, "dx", dx, wanted_dx, (int64_t)elements);
    }
    mw_program_destroy(program);
}

/* ---- problems ---- */

/* Windows of each axis; false where there are none, or some are padding alone. */
static bool finish_problem(problem *p)
{
    int length = snprintf(p->text, sizeof p->text, "%s of %d x %d planes%s", names[p->kind], (int)p->batch,
                          (int)p->channels, p->exclude ? ", padding excluded" : "");
    for (int i = 0; i < 3; i++) {
        const int64_t span = p->in[i] + p->before[i] + p->after[i] - p->kernel[i];
        p->out[i] = span >= 0 ? span / p->stride[i] + 1 : 0;
        if (p->out[i] < 1 || p->before[i] >= p->kernel[i] || p->after[i] >= p->kernel[i])
            return false;
        length += snprintf(p->text + length, sizeof p->text - (size_t)length, "; in %d kernel %d stride %d pad %d %d",
                           (int)p->in[i], (int)p->kernel[i], (int)p->stride[i], (int)p->before[i], (int)p->after[i]);
    }
    return planes_of(p) * in_of(p) <= MOST && planes_of(p) * out_of(p) <= MOST;
}

/* Few different numbers in x, so that windows have ties. */
static void check_problem(problem *p, uint64_t seed)
{
    mw__random random = {.seed = seed};
    if (!finish_problem(p))
        return;
    for (int64_t i = 0; i < planes_of(p) * in_of(p); i++)
        x[i] = (float)mw__random_below(&random, 9) - 4.0f;
    for (int64_t i = 0; i < planes_of(p) * out_of(p); i++)
        dy[i] = mw__random_uniform(&random) - 0.5f;
    compute_plainly(p);
    run_problem(p, 1);
    run_problem(p, 2);
}

static problem draw_problem(mw__random *r)
{
    problem p = {.kind = (int)mw__random_below(r, KINDS), .batch = 1 + (int64_t)mw__random_below(r, 3)};
    p.axes = 1 + (int)mw__random_below(r, p.kind == L2 ? 2 : 3);
    p.channels = 1 + (int64_t)mw__random_below(r, 23);
    p.exclude = p.kind == AVERAGE && mw__random_below(r, 2) == 0;
    for (int i = 0; i < 3; i++) {
        const bool there = i >= 3 - p.axes;
        p.in[i] = there ? 1 + (int64_t)mw__random_below(r, p.axes == 3 ? 7 : p.axes == 2 ? 19 : 70) : 1;
        p.kernel[i] = there ? 1 + (int64_t)mw__random_below(r, p.axes == 3 ? 3 : 5) : 1;
        p.stride[i] = there ? 1 + (int64_t)mw__random_below(r, 4) : 1;
        p.before[i] = there ? (int64_t)mw__random_below(r, (uint64_t)p.kernel[i]) : 0;
        p.after[i] = there ? (int64_t)mw__random_below(r, (uint64_t)p.kernel[i]) : 0;
    }
    return p;
}

static void test_windows_of_any_kind(void)
{
    mw__random random = {.seed = 5};
    const int count = getenv("MW_NIGHTLY") != NULL ? 4000 : 150;
    for (int i = 0; i < count; i++) {
        problem p = draw_problem(&random);
        check_problem(&p, (uint64_t)i);
    }
}

static const problem large[] = {
    {.kind = MAX,
     .axes = 2,
     .channels = 9,
     .in = {1, 131, 157},
     .kernel = {1, 3, 3},
     .stride = {1, 2, 2},
     .before = {0, 1, 1},
     .after = {0, 1, 1}},
    {.kind = MAX,
     .axes = 2,
     .channels = 17,
     .in = {1, 90, 95},
     .kernel = {1, 5, 5},
     .stride = {1, 1, 1},
     .before = {0, 2, 2},
     .after = {0, 2, 2}},
    {.kind = MAX, .axes = 1, .channels = 10, .in = {1, 1, 9001}, .kernel = {1, 1, 3}, .stride = {1, 1, 2}},
    {.kind = MAX, .axes = 3, .channels = 8, .in = {11, 30, 37}, .kernel = {2, 3, 3}, .stride = {2, 2, 1}},
    {.kind = AVERAGE, .axes = 2, .channels = 20, .in = {1, 25, 11}, .kernel = {1, 25, 11}, .stride = {1, 1, 1}},
    {.kind = AVERAGE,
     .axes = 2,
     .channels = 12,
     .in = {1, 101, 113},
     .kernel = {1, 3, 3},
     .stride = {1, 2, 2},
     .before = {0, 1, 1},
     .after = {0, 1, 1}},
    {.kind = AVERAGE, .axes = 2, .channels = 12, .in = {1, 101, 113}, .kernel = {1, 2, 2}, .stride = {1, 2, 2}},
    {.kind = AVERAGE,
     .axes = 1,
     .channels = 9,
     .in = {1, 1, 8000},
     .kernel = {1, 1, 7},
     .stride = {1, 1, 3},
     .before = {0, 0, 3},
     .after = {0, 0, 2},
     .exclude = true},
    {.kind = AVERAGE, .axes = 3, .channels = 11, .in = {9, 21, 33}, .kernel = {3, 2, 4}, .stride = {1, 2, 3}},
    {.kind = L2, .axes = 2, .channels = 16, .in = {1, 70, 91}, .kernel = {1, 3, 2}, .stride = {1, 2, 2}},
};

static void test_planes_in_bands(void)
{
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        problem p = large[i];
        p.batch = 1;
        for (int axis = 0; axis < 3 - p.axes; axis++)
            p.in[axis] = p.kernel[axis] = p.stride[axis] = 1;
        check_problem(&p, i);
    }
}

static void test_narrower_vectors(void)
{
    static const char *const widths[] = {"256", "0"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        test_windows_of_any_kind();
        test_planes_in_bands();
        setting_end("MW_ENGINE_WIDE");
    }
}

int main(void)
{
    RUN(test_windows_of_any_kind);
    RUN(test_planes_in_bands);
    RUN(test_narrower_vectors);
    return check_finish();
}
