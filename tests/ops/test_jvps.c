/* Forward products of every operation case: u (J v) equals (u J) v, evaluated by the oracle in double. As every VJP is
 * checked against differences (test_vjps.c), this says that the rules are linear in dy and differentiable by it. */
#include "support/cases/op_cases.h"
#include "support/check.h"

#include "base/number/random.h"
#include <millwright/millwright.h>
#include <stdlib.h>

/* Random values of the shape of x, as a constant. */
static mw_tensor *draw_like(mw_tensor *x, uint64_t seed)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t count = mw_shape_count(shape);
    float *values = malloc((size_t)(count + 1) * sizeof *values);
    mw__random random = {.seed = seed};
    for (int64_t i = 0; i < count; i++)
        values[i] = mw__random_uniform(&random) - 0.5F;
    mw_tensor *drawn = mw_constant(mw_tensor_graph(x), MW_F32, shape, values);
    free(values);
    return drawn;
}

/* *out_size: the sum of the magnitudes, for the tolerance. */
static double dot(const oracle *o, const mw_tensor *a, const mw_tensor *b, double *out_size)
{
    double sum = 0.0;
    for (int64_t i = 0; i < oracle_count(a); i++) {
        const double term = oracle_get(o, a)[i] * oracle_get(o, b)[i];
        sum += term;
        *out_size += fabs(term);
    }
    return sum;
}

static void compare(const op_case *c, const op_instance *instance, mw_tensor *const v[], size_t count, mw_tensor *u,
                    mw_tensor *const dx[], mw_tensor *dy)
{
    oracle o;
    oracle_init(&o, instance->graph);
    op_instance_feed(instance, &o);
    if (check_note(oracle_run(&o), __FILE__, __LINE__, "%s: the oracle does not know %s", c->name, o.missing)) {
        double size = 1.0, forward = dot(&o, u, dy, &size), reverse = 0.0;
        for (size_t i = 0; i < count; i++)
            reverse += dot(&o, dx[i], v[i], &size);
        /* the same sum of products in double, in another order, but constants of the rules (1 / N) are fp32 */
        check_note(fabs(forward - reverse) <= 2e-7 * size, __FILE__, __LINE__,
                   "%s (%s): u (J v) is %.15g, (u J) v is %.15g", c->name, c->detail, forward, reverse);
    }
    oracle_deinit(&o);
}

static bool check_case(const op_case *c)
{
    op_instance instance;
    mw_tensor *x[OP_CASE_INPUTS], *v[OP_CASE_INPUTS], *dx[OP_CASE_INPUTS], *dy = NULL;
    size_t count = 0;
    bool good = op_instance_init(&instance, c, MW_F32, 11) && mw_tensor_dtype(instance.y) == MW_F32;
    for (size_t i = 0; good && i < instance.count; i++)
        if (mw_tensor_dtype(instance.in[i]) == MW_F32)
            x[count++] = instance.in[i];
    if (good && count > 0) {
        mw_error err = {0};
        for (size_t i = 0; i < count; i++)
            v[i] = draw_like(x[i], 31 + i);
        mw_tensor *u = draw_like(instance.y, 7);
        mw_vjp(&instance.y, &u, 1, x, count, dx, &err);
        mw_jvp(&instance.y, 1, x, v, count, &dy, &err);
        if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message))
            compare(c, &instance, v, count, u, dx, dy);
    }
    op_instance_deinit(&instance);
    return good && count > 0;
}

static void test_forward_products_are_the_transposed_reverse_ones(void)
{
    op_cases_check_derivatives("JVP", check_case);
}

int main(void)
{
    RUN(test_forward_products_are_the_transposed_reverse_ones);
    return check_finish();
}
