/* The gradients of pooling in both forms of graph: who takes the cotangent of a window with ties, padding that takes
 * none, and nothing in them that a chip refuses. */
#include "support/check.h"
#include "support/oracles/oracle.h"

#include "base/number/random.h"
#include "graph/ir/ir.h"
#include "mil/legalize/legality.h"
#include "mil/legalize/legalize.h"
#include <float.h>
#include <millwright/millwright.h>

enum { H = 5, W = 6, PLANES = 2, COUNT = PLANES * H * W, MOST = 400 };

static const mw_pool_options *windows(int index)
{
    static const mw_pool_options all[] = {
        {.kernel = {2, {2, 2}}, .stride = {2, 2}, .pad_type = MW_PAD_VALID},
        {.kernel = {2, {3, 2}}, .stride = {1, 1}, .pad_type = MW_PAD_VALID},
        {.kernel = {2, {3, 3}}, .stride = {2, 1}, .pad_type = MW_PAD_CUSTOM, .pad = {1, 1, 1, 1}},
        {.kernel = {2, {2, 5}}, .stride = {3, 2}, .pad_type = MW_PAD_CUSTOM, .pad = {0, 1, 4, 3}},
        {.kernel = {2, {3, 3}}, .stride = {2, 2}, .pad_type = MW_PAD_CUSTOM, .pad = {1, 1, 1, 1}, .ceil_mode = true},
        {.kernel = {2, {2, 2}}, .stride = {1, 2}, .pad_type = MW_PAD_CUSTOM, .pad = {3, 3, 3, 0}},
        {.kernel = {2, {1, 1}}, .stride = {2, 3}, .pad_type = MW_PAD_VALID},
    };
    return index < (int)(sizeof all / sizeof *all) ? &all[index] : NULL;
}

typedef mw_tensor *pool_call(mw_tensor *x, const mw_pool_options *options);

typedef struct fixture {
    mw_graph *graph;
    mw_tensor *x, *y, *dy, *dx;
    oracle o;
    double x_at[COUNT], dy_at[MOST];
} fixture;

/* A graph with y, and dx of the seed dy. */
static bool make(fixture *f, pool_call *pool, const mw_pool_options *numbers, mw_dtype dtype, mw__lowering lowering)
{
    mw_error err = {0};
    mw_pool_options options = *numbers;
    options.struct_size = sizeof options;
    f->graph = mw_graph_create(NULL, NULL);
    f->graph->lowering = lowering;
    f->x = mw_input(f->graph, "x", dtype, MW_SHAPE(1, PLANES, H, W));
    f->y = pool(f->x, &options);
    f->dy = mw_input(f->graph, "dy", dtype, mw_tensor_shape(f->y));
    mw_backward(&(mw_pullback){.roots = &f->y, .seeds = &f->dy, .root_count = 1}, &f->x, 1, &f->dx, &err);
    return check_note(err.status == MW_OK && mw_shape_count(mw_tensor_shape(f->y)) <= MOST, __FILE__, __LINE__, "%s",
                      err.message);
}

static const double *run(fixture *f)
{
    oracle_init(&f->o, f->graph);
    oracle_set(&f->o, f->x, f->x_at);
    oracle_set(&f->o, f->dy, f->dy_at);
    return CHECK(oracle_run(&f->o)) ? oracle_get(&f->o, f->dx) : NULL;
}

static void drop(fixture *f)
{
    oracle_deinit(&f->o);
    mw_graph_destroy(f->graph);
}

/* Few distinct values, the lowest float and -inf among them, so that most windows have ties. */
static void draw(fixture *f)
{
    static const double values[] = {1.0, 0.0, -(double)FLT_MAX, -INFINITY};
    mw__random random = {.seed = 3};
    for (int i = 0; i < COUNT; i++)
        f->x_at[i] = values[(int)(mw__random_uniform(&random) * 4.0f)];
    for (int i = 0; i < MOST; i++)
        f->dy_at[i] = 1.0 + (double)mw__random_uniform(&random);
}

/* The first largest element of a window that is inside x; -1 if there is none. */
static int winner(const fixture *f, const mw_pool_options *n, int plane, int64_t row, int64_t column)
{
    int best = -1;
    for (int64_t h = 0; h < n->kernel.dim[0]; h++)
        for (int64_t w = 0; w < n->kernel.dim[1]; w++) {
            const int64_t r = row * n->stride[0] - n->pad[0] + h, c = column * n->stride[1] - n->pad[2] + w;
            if (r < 0 || r >= H || c < 0 || c >= W)
                continue;
            const int at = (int)((plane * H + r) * W + c);
            best = best < 0 || f->x_at[at] > f->x_at[best] ? at : best;
        }
    return best;
}

static void check_ties(const mw_pool_options *n, mw__lowering lowering)
{
    fixture f = {0};
    draw(&f);
    if (make(&f, mw_max_pool, n, MW_F32, lowering)) {
        const double *dx = run(&f);
        const mw_shape out = mw_tensor_shape(f.y);
        double wanted[COUNT] = {0};
        for (int i = 0; i < (int)mw_shape_count(out); i++) {
            const int64_t plane = i / (out.dim[2] * out.dim[3]), rest = i % (out.dim[2] * out.dim[3]);
            const int at = winner(&f, n, (int)plane, rest / out.dim[3], rest % out.dim[3]);
            if (at >= 0)
                wanted[at] += f.dy_at[i];
        }
        for (int i = 0; dx != NULL && i < COUNT; i++)
            check_note(fabs(dx[i] - wanted[i]) < 1e-12, __FILE__, __LINE__, "kernel %lld x %lld: dx[%d] is %g, not %g",
                       (long long)n->kernel.dim[0], (long long)n->kernel.dim[1], i, dx[i], wanted[i]);
    }
    drop(&f);
}

static void test_first_of_equal_elements_takes_the_gradient(void)
{
    for (int i = 0; windows(i) != NULL; i++) {
        check_ties(windows(i), MW__LOWERING_NATIVE);
        check_ties(windows(i), MW__LOWERING_DECOMPOSED);
    }
}

static void test_l2_pool_has_no_gradient_at_zero(void)
{
    for (int i = 0; windows(i) != NULL; i++) {
        fixture f = {0};
        for (int k = 0; k < MOST; k++)
            f.dy_at[k] = 1.0;
        if (make(&f, mw_l2_pool, windows(i), MW_F32, MW__LOWERING_NATIVE)) {
            const double *dx = run(&f);
            for (int k = 0; dx != NULL && k < COUNT; k++)
                CHECK(dx[k] == 0.0);
        }
        drop(&f);
    }
}

static void test_chips_accept_the_gradients(void)
{
    static pool_call *const pools[] = {mw_max_pool, mw_avg_pool, mw_l2_pool};
    for (int i = 0; windows(i) != NULL; i++)
        for (size_t k = 0; k < sizeof pools / sizeof *pools; k++) {
            fixture f = {0};
            mw_error err = {0};
            if (make(&f, pools[k], windows(i), MW_F16, MW__LOWERING_DECOMPOSED)) {
                mw_output(f.dx, "dx");
                mw__mil_check_legal(f.graph, mw__device_find(MW_DEVICE_ANE), &err);
                CHECK_OK(err);
            }
            drop(&f);
        }
}

static void test_a_window_of_too_many_elements_is_refused(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(1, 1, 70, 70)), *dx;
    const mw_pool_options all = mw_pool_defaults(MW_SHAPE(70, 70));
    mw_grad(mw_max_pool(x, &all), &x, 1, &dx, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "a window of more than 4096 elements has no gradient; use reduce_max");
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_first_of_equal_elements_takes_the_gradient);
    RUN(test_l2_pool_has_no_gradient_at_zero);
    RUN(test_chips_accept_the_gradients);
    RUN(test_a_window_of_too_many_elements_is_refused);
    return check_finish();
}
