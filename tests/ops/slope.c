/* Derivatives by differences: see slope.h. */
#include "slope.h"
#include "support/check.h"

#include "base/number/random.h"
#include <millwright/millwright.h>
#include <stdlib.h>

mw_tensor *slope_weighted_sum(mw_tensor *y, uint64_t seed)
{
    if (y == NULL)
        return NULL;
    mw_shape shape = mw_tensor_shape(y);
    int64_t count = mw_shape_count(shape);
    float *weights = malloc((size_t)(count + 1) * sizeof *weights);
    mw__random random = {.seed = seed};
    for (int64_t i = 0; i < count; i++)
        weights[i] = mw__random_uniform(&random) + 0.5f;
    mw_tensor *w = mw_constant(mw_tensor_graph(y), MW_F32, shape, weights);
    free(weights);
    return mw_reduce_sum(mw_mul(y, w), MW_ALL_AXES, false);
}

bool slope_init(slope_problem *p, const op_case *c)
{
    *p = (slope_problem){0};
    if (!op_instance_init(&p->instance, c, MW_F32, 11) || mw_tensor_dtype(p->instance.y) != MW_F32)
        return false;
    mw__random random = {.seed = 5};
    for (size_t i = 0; i < p->instance.count; i++) {
        if (mw_tensor_dtype(p->instance.in[i]) != MW_F32)
            continue;
        int64_t count = oracle_count(p->instance.in[i]);
        p->direction[p->count] = malloc((size_t)(count + 1) * sizeof(double));
        for (int64_t k = 0; k < count; k++)
            p->direction[p->count][k] = (double)mw__random_uniform(&random) - 0.5;
        p->from[p->count] = i;
        p->x[p->count++] = p->instance.in[i];
    }
    p->value = slope_weighted_sum(p->instance.y, 3);
    return p->count > 0 && p->value != NULL;
}

void slope_deinit(slope_problem *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->direction[i]);
    op_instance_deinit(&p->instance);
}

/* The value at x + t direction. */
static double value_at(const slope_problem *p, const mw_tensor *value, double t)
{
    oracle o;
    oracle_init(&o, p->instance.graph);
    op_instance_feed(&p->instance, &o);
    for (size_t i = 0; i < p->count; i++) {
        int64_t count = oracle_count(p->x[i]);
        double *moved = malloc((size_t)(count + 1) * sizeof *moved);
        for (int64_t k = 0; k < count; k++)
            moved[k] = p->instance.data[p->from[i]][k] + t * p->direction[i][k];
        oracle_set(&o, p->x[i], moved);
        free(moved);
    }
    double result = NAN;
    if (check_note(oracle_run(&o), __FILE__, __LINE__, "the oracle does not know %s", o.missing))
        result = oracle_get(&o, value)[0];
    oracle_deinit(&o);
    return result;
}

/* gradient . direction at x */
static double slope_by_gradient(const slope_problem *p, mw_tensor *const *dx)
{
    oracle o;
    oracle_init(&o, p->instance.graph);
    op_instance_feed(&p->instance, &o);
    double slope = 0.0;
    if (check_note(oracle_run(&o), __FILE__, __LINE__, "the oracle does not know %s", o.missing))
        for (size_t i = 0; i < p->count; i++)
            for (int64_t k = 0; k < oracle_count(p->x[i]); k++)
                slope += oracle_get(&o, dx[i])[k] * p->direction[i][k];
    oracle_deinit(&o);
    return slope;
}

/* Differences in double with step 1e-4: truncation about 1e-8 of the third derivative, rounding about 1e-12. Constants
 * of the rules are fp32 in the graph, hence 1e-6. */
void slope_check(const op_case *c, const slope_problem *p, const mw_tensor *value, mw_tensor *const *dx,
                 const char *order)
{
    const double step = 1e-4;
    double numeric = (value_at(p, value, step) - value_at(p, value, -step)) / (2.0 * step);
    double analytic = slope_by_gradient(p, dx);
    double scale = 1.0 + fabs(numeric);
    check_note(fabs(numeric - analytic) <= 2e-6 * scale, __FILE__, __LINE__,
               "%s (%s): %s derivative is %.12g, by differences %.12g", c->name, c->detail, order, analytic, numeric);
}
