/* Products with the Jacobian and the Hessian against closed forms; zeros where nothing flows; what is refused. */
#include "support/check.h"
#include "support/oracles/oracle.h"

#include <math.h>
#include <millwright/millwright.h>

enum { N = 3 };

static const double at_x[N] = {0.5, -1.0, 2.0}, at_z[N] = {1.5, 0.25, -0.5};
static const float at_v[N] = {1.0F, -2.0F, 0.5F};

typedef struct fixture {
    mw_graph *graph;
    mw_tensor *x, *z, *v, *labels;
    oracle o;
    mw_error err;
} fixture;

static void setup(fixture *f)
{
    *f = (fixture){.graph = mw_graph_create(NULL, NULL)};
    f->x = mw_input(f->graph, "x", MW_F32, MW_SHAPE(N));
    f->z = mw_input(f->graph, "z", MW_F32, MW_SHAPE(N));
    f->labels = mw_input(f->graph, "labels", MW_I32, MW_SHAPE(N));
    f->v = mw_constant(f->graph, MW_F32, MW_SHAPE(N), at_v);
    oracle_init(&f->o, f->graph);
}

static const double *value(fixture *f, const mw_tensor *of)
{
    const double labels[N] = {0, 1, 2};
    oracle_set(&f->o, f->x, at_x);
    oracle_set(&f->o, f->z, at_z);
    oracle_set(&f->o, f->labels, labels);
    CHECK_OK(f->err);
    return of != NULL && CHECK(oracle_run(&f->o)) ? oracle_get(&f->o, of) : NULL;
}

static void teardown(fixture *f)
{
    oracle_deinit(&f->o);
    mw_graph_destroy(f->graph);
}

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

static void test_vjp_of_several_values(void)
{
    fixture f;
    setup(&f);
    mw_tensor *y[2] = {mw_mul(f.x, f.z), sum(mw_square(f.x))}, *u[2] = {f.v, NULL}, *x[2] = {f.x, f.z}, *dx[2];
    mw_vjp(y, u, 2, x, 2, dx, &f.err);
    const double *dx0 = value(&f, dx[0]), *dx1 = value(&f, dx[1]);
    for (int i = 0; dx0 != NULL && dx1 != NULL && i < N; i++) {
        CHECK_NEAR(dx0[i], at_v[i] * at_z[i] + 2.0 * at_x[i], 1e-12);
        CHECK_NEAR(dx1[i], at_v[i] * at_x[i], 1e-12);
    }
    teardown(&f);
}

static void test_jvp_over_several_variables_and_values(void)
{
    fixture f;
    setup(&f);
    mw_tensor *y[3] = {mw_mul(f.x, mw_exp(f.z)), sum(mw_mul(f.x, f.x)), f.x};
    mw_tensor *x[2] = {f.x, f.z}, *v[2] = {f.v, f.v}, *dy[3];
    mw_jvp(y, 3, x, v, 2, dy, &f.err);
    const double *dy0 = value(&f, dy[0]), *dy1 = value(&f, dy[1]), *dy2 = value(&f, dy[2]);
    REQUIRE(dy0 != NULL && dy1 != NULL && dy2 != NULL);
    double expected = 0.0;
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(dy0[i], at_v[i] * exp(at_z[i]) * (1.0 + at_x[i]), 1e-12);
        CHECK_NEAR(dy2[i], at_v[i], 0.0);
        expected += 2.0 * at_x[i] * at_v[i];
    }
    CHECK_NEAR(dy1[0], expected, 1e-12);
    teardown(&f);
}

static void test_jvp_of_jvp_is_the_second_directional_derivative(void)
{
    fixture f;
    setup(&f);
    mw_tensor *y = mw_mul(f.x, mw_square(f.x)), *dy = NULL, *ddy = NULL;
    mw_jvp(&y, 1, &f.x, &f.v, 1, &dy, &f.err);
    mw_jvp(&dy, 1, &f.x, &f.v, 1, &ddy, &f.err);
    const double *got = value(&f, ddy);
    for (int i = 0; got != NULL && i < N; i++)
        CHECK_NEAR(got[i], 6.0 * at_x[i] * at_v[i] * at_v[i], 1e-12);
    teardown(&f);
}

/* cross_entropy has a gradient of its own; its J v is (softmax - p) v / N. */
static void test_jvp_of_a_composite(void)
{
    fixture f;
    setup(&f);
    mw_tensor *logits = mw_mul(mw_reshape(f.x, MW_SHAPE(N, 1)), mw_reshape(f.z, MW_SHAPE(1, N)));
    mw_tensor *loss = mw_cross_entropy(logits, f.labels), *dy = NULL, *dx = NULL;
    mw_jvp(&loss, 1, &f.x, &f.v, 1, &dy, &f.err);
    mw_grad(loss, &f.x, 1, &dx, &f.err);
    const double *forward = value(&f, dy), *reverse = value(&f, dx);
    REQUIRE(forward != NULL && reverse != NULL);
    double expected = 0.0;
    for (int i = 0; i < N; i++)
        expected += reverse[i] * at_v[i];
    CHECK_NEAR(forward[0], expected, 1e-12);
    teardown(&f);
}

/* Where a rule chooses between two forms, the other may be infinite: it must not enter J v as 0 times infinity. */
static void test_jvp_of_powers_at_zero(void)
{
    const float exponents[3][N] = {{2.0F, 0.0F, 3.0F}, {0.0F, 2.0F, 1.0F}, {3.0F, 3.0F, 2.0F}};
    for (int e = 0; e < 3; e++) {
        fixture f;
        setup(&f);
        mw_tensor *base = mw_add_scalar(f.x, -0.5), *exponent = mw_constant(f.graph, MW_F32, MW_SHAPE(N), exponents[e]);
        mw_tensor *power = mw_pow(base, mw_add(exponent, mw_sub(f.z, f.z))), *jv[2], *y = power;
        mw_jvp(&y, 1, &f.x, &f.v, 1, &jv[0], &f.err);
        mw_jvp(&y, 1, &f.z, &f.v, 1, &jv[1], &f.err);
        const double *by_base = value(&f, jv[0]), *by_exponent = value(&f, jv[1]);
        for (int i = 0; by_base != NULL && by_exponent != NULL && i < N; i++) {
            const double x = at_x[i] - 0.5, p = exponents[e][i];
            CHECK_NEAR(by_base[i], p == 0.0 ? 0.0 : p * pow(x, p - 1.0) * at_v[i], 1e-6);
            CHECK_NEAR(by_exponent[i], 0.0, 1e-12); /* z - z */
        }
        teardown(&f);
    }
}

static void test_what_nothing_reaches_is_zero(void)
{
    fixture f;
    setup(&f);
    mw_tensor *y[2] = {mw_exp(f.z), mw_sign(f.x)}, *dy[2], *hv[2], *x[2] = {f.x, f.z}, *v[2] = {f.v, f.v};
    mw_jvp(y, 2, x, v, 1, dy, &f.err);
    mw_hvp(sum(f.x), x, v, 2, hv, &f.err);
    mw_tensor *zeros[4] = {dy[0], dy[1], hv[0], hv[1]};
    for (int k = 0; k < 4; k++) {
        const double *got = value(&f, zeros[k]);
        for (int i = 0; got != NULL && i < N; i++)
            CHECK_NEAR(got[i], 0.0, 0.0);
    }
    teardown(&f);
}

/* loss = sum x^3 z: Hxx = 6 x z, Hxz = 3 x^2, Hzz = 0 */
static void test_hvp_over_two_variables(void)
{
    fixture f;
    setup(&f);
    mw_tensor *loss = sum(mw_mul(mw_mul(f.x, mw_square(f.x)), f.z));
    mw_tensor *x[2] = {f.x, f.z}, *v[2] = {f.v, f.z}, *hv[2];
    mw_hvp(loss, x, v, 2, hv, &f.err);
    const double *h0 = value(&f, hv[0]), *h1 = value(&f, hv[1]);
    for (int i = 0; h0 != NULL && h1 != NULL && i < N; i++) {
        CHECK_NEAR(h0[i], 6.0 * at_x[i] * at_z[i] * at_v[i] + 3.0 * at_x[i] * at_x[i] * at_z[i], 1e-12);
        CHECK_NEAR(h1[i], 3.0 * at_x[i] * at_x[i] * at_v[i], 1e-12);
    }
    teardown(&f);
}

static void test_bad_vectors_and_null_are_refused(void)
{
    fixture f;
    setup(&f);
    mw_tensor *y = mw_square(f.x), *out = f.x, *scalar = mw_scalar(f.graph, MW_F32, 1.0);
    mw_jvp(&y, 1, &f.x, &scalar, 1, &out, &f.err);
    CHECK_ERROR(f.err, MW_ERROR_SHAPE, "mw_jvp: v 0 is fp32 [], but \"x\" is fp32 [3]");
    CHECK(out == NULL);
    f.err = (mw_error){0};
    mw_hvp(sum(y), &f.x, &scalar, 1, &out, &f.err);
    CHECK_ERROR(f.err, MW_ERROR_SHAPE, "mw_hvp: v 0 is fp32 [], but \"x\" is");
    f.err = (mw_error){0};
    CHECK_INT(mw_jvp(NULL, 1, &f.x, &f.v, 1, &out, &f.err), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_jvp(&y, 1, &f.x, &f.v, 1, &out, &f.err), MW_ERROR_ARGUMENT); /* the error is set already */
    CHECK_INT(mw_hvp(NULL, &f.x, &f.v, 1, &out, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_jvp(&y, 1, &f.labels, &f.v, 1, &out, NULL), MW_ERROR_DTYPE);
    mw_tensor *none = NULL;
    CHECK_INT(mw_jvp(&none, 1, &f.x, &f.v, 1, &out, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_graph_check(f.graph, NULL), MW_OK);
    teardown(&f);
}

int main(void)
{
    RUN(test_vjp_of_several_values);
    RUN(test_jvp_over_several_variables_and_values);
    RUN(test_jvp_of_jvp_is_the_second_directional_derivative);
    RUN(test_jvp_of_a_composite);
    RUN(test_jvp_of_powers_at_zero);
    RUN(test_what_nothing_reaches_is_zero);
    RUN(test_hvp_over_two_variables);
    RUN(test_bad_vectors_and_null_are_refused);
    return check_finish();
}
