/* Loops, branches and lists inside one another, as straight-line operations: values against the blocks as they are, and
 * gradients against central differences of these, both evaluated in double by the oracle. */
#include "random_control.h"
#include "support/check.h"
#include "support/oracles/oracle.h"
#include "support/setting.h"

#include <stdlib.h>

/* ---- random programs ---- */

static const double starts[][2 * CONTROL_WIDTH] = {
    {0.7, -0.4, 0.9, -1.1}, {-1.3, 0.2, 0.6, 1.4}, {1.9, 1.2, -0.8, 0.5}};

static bool evaluate(oracle *o, const mw_graph *graph, const double at[2 * CONTROL_WIDTH])
{
    oracle_init(o, graph);
    oracle_set(o, mw_graph_find(graph, "x"), at);
    oracle_set(o, mw_graph_find(graph, "w"), at + CONTROL_WIDTH);
    return CHECK(oracle_run(o));
}

/* The sum of y's elements in the program as it is. */
static double evaluate_sum(const mw_graph *graph, const double at[2 * CONTROL_WIDTH])
{
    oracle o;
    double sum = NAN;
    if (evaluate(&o, graph, at)) {
        const double *y = oracle_get(&o, mw_graph_find(graph, "y"));
        sum = y[0] + y[1];
    }
    oracle_deinit(&o);
    return sum;
}

static double slope(const mw_graph *graph, const double at[2 * CONTROL_WIDTH], int element)
{
    const double h = 1e-6;
    double low[2 * CONTROL_WIDTH], high[2 * CONTROL_WIDTH];
    memcpy(low, at, sizeof low);
    memcpy(high, at, sizeof high);
    low[element] -= h;
    high[element] += h;
    return (evaluate_sum(graph, high) - evaluate_sum(graph, low)) / (2 * h);
}

static void compare(const mw_graph *graph, const mw_graph *flat, mw_tensor *const dx[2], const double *at,
                    unsigned seed)
{
    oracle as_is, o;
    if (evaluate(&as_is, graph, at) && evaluate(&o, flat, at)) {
        const double *wanted = oracle_get(&as_is, mw_graph_find(graph, "y"));
        const double *y = oracle_get(&o, mw_graph_find(flat, "y"));
        for (int i = 0; i < CONTROL_WIDTH; i++)
            check_note(fabs(y[i] - wanted[i]) <= 1e-12 * (1 + fabs(wanted[i])), __FILE__, __LINE__,
                       "program %u: y[%d] is %g, flat %g", seed, i, wanted[i], y[i]);
        for (int i = 0; i < 2 * CONTROL_WIDTH; i++) {
            const double d = oracle_get(&o, dx[i / CONTROL_WIDTH])[i % CONTROL_WIDTH], near = slope(graph, at, i);
            check_note(fabs(d - near) <= 1e-6 * (1 + fabs(near)), __FILE__, __LINE__,
                       "program %u: the slope by element %d is %g, the gradient %g", seed, i, near, d);
        }
        oracle_deinit(&o);
    }
    oracle_deinit(&as_is);
}

static void check_program(unsigned seed, bool recompute)
{
    mw_error err = {0};
    mw_graph *graph = random_control(seed, recompute);
    mw_graph *flat = mw_graph_flatten(graph, &err);
    if (flat != NULL) {
        mw_tensor *x[2] = {mw_graph_find(flat, "x"), mw_graph_find(flat, "w")}, *dx[2];
        mw_tensor *sum = mw_reduce_sum(mw_graph_find(flat, "y"), MW_ALL_AXES, false);
        if (mw_grad(sum, x, 2, dx, &err) == MW_OK)
            for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
                compare(graph, flat, dx, starts[i], seed);
    }
    check_note(err.status == MW_OK, __FILE__, __LINE__, "program %u: %s", seed, err.message);
    mw_graph_destroy(flat);
    mw_graph_destroy(graph);
}

static unsigned programs(void) { return getenv("MW_NIGHTLY") != NULL ? 4000 : 150; }

static void test_nested_control_flow_is_flattened_right(void)
{
    for (unsigned seed = 0; seed < programs(); seed++)
        check_program(seed, false);
}

static void test_segments_around_and_inside_of_control_flow_change_no_gradient(void)
{
    for (unsigned seed = 0; seed < programs(); seed++)
        check_program(seed, true);
}

int main(void)
{
    RUN(test_nested_control_flow_is_flattened_right);
    RUN(test_segments_around_and_inside_of_control_flow_change_no_gradient);
    return check_finish();
}
