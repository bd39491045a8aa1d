/* Gradients of element-wise operations and of reductions at zeros, infinities, the largest and subnormal numbers: what
 * the formula of the public header gives in IEEE arithmetic, NaN included. */
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { POINTS = 10, MOST = POINTS * POINTS * POINTS * 3 };

static const float points[POINTS] = {0.0F, INFINITY, -INFINITY, 3e38F, -3e38F, 1e-40F, 1.0F, -1.0F, 2.5F, -0.75F};

/* The same number, both NaN, or near in proportion; what is below fp32 counts as 0. */
static bool agrees(double got, double wanted)
{
    const double rounded = (double)(float)wanted;
    if (isnan(got) || isnan(wanted))
        return isnan(got) && isnan(wanted);
    if (isinf(got) || isinf(rounded))
        return got == rounded;
    return fabs(got - wanted) <= 2e-6 * fmax(fabs(got), fabs(wanted)) + 1e-37;
}

/* The gradients of the sum of y by x, and by z if there is one. */
static bool run_slopes(const char *name, mw_tensor *y, mw_tensor *const *x, const float *const *data, size_t count,
                       size_t elements, float (*out)[MOST])
{
    static const char *const inputs[2] = {"x", "z"}, *const outputs[2] = {"dx", "dz"};
    mw_error err = {0};
    mw_tensor *dx[2];
    mw_graph *graph = mw_tensor_graph(x[0]);
    mw_grad(mw_reduce_sum(y, MW_ALL_AXES, false), x, count, dx, &err);
    for (size_t i = 0; i < count; i++)
        mw_output(mw_identity(dx[i]), outputs[i]);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    for (size_t i = 0; i < count; i++)
        mw_program_write(program, inputs[i], MW_F32, data[i], elements, &err);
    mw_program_run(program, &err);
    for (size_t i = 0; i < count; i++)
        mw_program_read(program, outputs[i], MW_F32, out[i], elements, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", name, err.message);
}

/* ---- one operand ---- */

static mw_tensor *rsqrt_of(mw_tensor *x) { return mw_rsqrt(x, 0.0F); }
static mw_tensor *inverse_of(mw_tensor *x) { return mw_inverse(x, 0.0F); }
static mw_tensor *log_of(mw_tensor *x) { return mw_log(x, 0.0F); }
static mw_tensor *clip_of(mw_tensor *x) { return mw_clip(x, -1.0F, 1.0F); }
static mw_tensor *leaky_of(mw_tensor *x) { return mw_leaky_relu(x, 0.5F); }

typedef double slope_of(double x);
#define SLOPE(name, expression)                                                                                        \
    static double name(double x) { return expression; }
SLOPE(d_abs, x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x)
SLOPE(d_square, 2.0 * x)
SLOPE(d_sqrt, 0.5 / sqrt(x))
SLOPE(d_rsqrt, -0.5 / (x * sqrt(x)))
SLOPE(d_inverse, -1.0 / x / x)
SLOPE(d_log, 1.0 / x)
SLOPE(d_exp, exp(x))
SLOPE(d_erf, 1.1283791670955126 * exp(-x * x))
SLOPE(d_tanh, 1.0 / (cosh(x) * cosh(x)))
SLOPE(d_sin, cos(x))
SLOPE(d_cos, -sin(x))
SLOPE(d_atan, 1.0 / (1.0 + x * x))
SLOPE(d_sinh, cosh(x))
SLOPE(d_cosh, sinh(x))
SLOPE(d_asin, 1.0 / sqrt(1.0 - x * x))
SLOPE(d_atanh, 1.0 / (1.0 - x * x))
SLOPE(d_none, 0.0 * (x == 0.0))
SLOPE(d_relu, x > 0.0)
SLOPE(d_leaky, x > 0.0 ? 1.0 : 0.5)
SLOPE(d_clip, x >= -1.0 && x <= 1.0)
SLOPE(d_sigmoid, 1.0 / ((1.0 + exp(-fabs(x))) * (1.0 + exp(fabs(x)))))
SLOPE(d_softplus, 1.0 / (1.0 + exp(-x)))
SLOPE(d_softsign, 1.0 / ((1.0 + fabs(x)) * (1.0 + fabs(x))))

typedef struct unary_row {
    const char *name;
    mw_tensor *(*make)(mw_tensor *x);
    slope_of *slope;
} unary_row;

static const unary_row unary[] = {
    {"abs", mw_abs, d_abs},
    {"square", mw_square, d_square},
    {"sqrt", mw_sqrt, d_sqrt},
    {"rsqrt", rsqrt_of, d_rsqrt},
    {"inverse", inverse_of, d_inverse},
    {"log", log_of, d_log},
    {"exp", mw_exp, d_exp},
    {"erf", mw_erf, d_erf},
    {"tanh", mw_tanh, d_tanh},
    {"sin", mw_sin, d_sin},
    {"cos", mw_cos, d_cos},
    {"atan", mw_atan, d_atan},
    {"sinh", mw_sinh, d_sinh},
    {"cosh", mw_cosh, d_cosh},
    {"asin", mw_asin, d_asin},
    {"atanh", mw_atanh, d_atanh},
    {"floor", mw_floor, d_none},
    {"sign", mw_sign, d_none},
    {"relu", mw_relu, d_relu},
    {"leaky_relu", leaky_of, d_leaky},
    {"clip", clip_of, d_clip},
    {"sigmoid", mw_sigmoid, d_sigmoid},
    {"softplus", mw_softplus, d_softplus},
    {"softsign", mw_softsign, d_softsign},
};

static void test_operations_of_one_operand(void)
{
    static float out[1][MOST];
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {
        const float *data[1] = {points};
        mw_tensor *x = mw_input(mw_graph_create(NULL, NULL), "x", MW_F32, MW_SHAPE(POINTS));
        if (!run_slopes(unary[i].name, unary[i].make(x), &x, data, 1, POINTS, out))
            continue;
        for (int k = 0; k < POINTS; k++)
            check_note(agrees((double)out[0][k], unary[i].slope((double)points[k])), __FILE__, __LINE__,
                       "%s at %g: slope %g, not %g", unary[i].name, (double)points[k], (double)out[0][k],
                       unary[i].slope((double)points[k]));
    }
}

/* ---- two operands ---- */

typedef double slope_of_two(double x, double z);
#define SLOPES(name, by_x, by_z)                                                                                       \
    static double name##_x(double x, double z)                                                                         \
    {                                                                                                                  \
        (void)x, (void)z;                                                                                              \
        return by_x;                                                                                                   \
    }                                                                                                                  \
    static double name##_z(double x, double z)                                                                         \
    {                                                                                                                  \
        (void)x, (void)z;                                                                                              \
        return by_z;                                                                                                   \
    }
SLOPES(add, 1.0, 1.0)
SLOPES(sub, 1.0, -1.0)
SLOPES(mul, z, x)
SLOPES(div, 1.0 / z, -((double)(float)(x / z) / z))
SLOPES(maximum, x > z ? 1.0 : x == z ? 0.5 : 0.0, z > x ? 1.0 : x == z ? 0.5 : 0.0)
SLOPES(minimum, x < z ? 1.0 : x == z ? 0.5 : 0.0, z < x ? 1.0 : x == z ? 0.5 : 0.0)

typedef struct binary_row {
    const char *name;
    mw_tensor *(*make)(mw_tensor *x, mw_tensor *z);
    slope_of_two *slope[2];
} binary_row;

#define BINARY(name, make)                                                                                             \
    {                                                                                                                  \
#name, make, { name##_x, name##_z }                                                                            \
    }
static const binary_row binary[] = {BINARY(add, mw_add),      BINARY(sub, mw_sub),         BINARY(mul, mw_mul),
                                    BINARY(div, mw_real_div), BINARY(maximum, mw_maximum), BINARY(minimum, mw_minimum)};

static void test_operations_of_two_operands(void)
{
    static float x[POINTS * POINTS], z[POINTS * POINTS], out[2][MOST];
    for (int i = 0; i < POINTS * POINTS; i++)
        x[i] = points[i / POINTS], z[i] = points[i % POINTS];
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        const float *data[2] = {x, z};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *in[2] = {mw_input(graph, "x", MW_F32, MW_SHAPE(POINTS * POINTS)),
                            mw_input(graph, "z", MW_F32, MW_SHAPE(POINTS * POINTS))};
        if (!run_slopes(binary[i].name, binary[i].make(in[0], in[1]), in, data, 2, POINTS * POINTS, out))
            continue;
        for (int k = 0; k < 2 * POINTS * POINTS; k++) {
            const int at = k / 2, by = k % 2;
            const double wanted = binary[i].slope[by]((double)x[at], (double)z[at]);
            check_note(agrees((double)out[by][at], wanted), __FILE__, __LINE__, "%s of %g and %g by %s: %g, not %g",
                       binary[i].name, (double)x[at], (double)z[at], by == 0 ? "x" : "z", (double)out[by][at], wanted);
        }
    }
}

/* ---- reductions of three elements ---- */

typedef double slope_of_three(const double *x, int k);

static double largest(const double *x) { return fmax(x[0], fmax(x[1], x[2])); }
static bool any_nan(const double *x) { return isnan(x[0]) || isnan(x[1]) || isnan(x[2]); }

static double of_log_sum_exp(const double *x, int k)
{
    double sum = 0.0;
    const double most = largest(x);
    for (int i = 0; i < 3; i++)
        sum += exp(x[i] - most);
    return isinf(most) ? exp(x[k] - most) : exp(x[k] - most) / sum;
}

static double of_max(const double *x, int k)
{
    const double most = largest(x);
    return any_nan(x) ? 0.0 : x[k] == most ? 1.0 / ((x[0] == most) + (x[1] == most) + (x[2] == most)) : 0.0;
}

static double of_prod(const double *x, int k)
{
    return (double)(float)(x[(k + 1) % 3] * x[(k + 2) % 3]); /* rounded as each product is */
}

static double of_sum(const double *x, int k) { return (void)x, (void)k, 1.0; }
static double of_mean(const double *x, int k) { return (void)x, (void)k, 1.0 / 3.0; }
static double of_sum_square(const double *x, int k) { return 2.0 * x[k]; }
static double of_l1_norm(const double *x, int k) { return d_abs(x[k]); }

typedef struct reduce_row {
    const char *name;
    mw_tensor *(*make)(mw_tensor *x, mw_axes axes, bool keep_dims);
    slope_of_three *slope;
} reduce_row;

static const reduce_row reductions[] = {
    {"reduce_sum", mw_reduce_sum, of_sum},
    {"reduce_mean", mw_reduce_mean, of_mean},
    {"reduce_max", mw_reduce_max, of_max},
    {"reduce_log_sum_exp", mw_reduce_log_sum_exp, of_log_sum_exp},
    {"reduce_prod", mw_reduce_prod, of_prod},
    {"reduce_sum_square", mw_reduce_sum_square, of_sum_square},
    {"reduce_l1_norm", mw_reduce_l1_norm, of_l1_norm},
};

static void check_reduction(const reduce_row *row, mw_shape shape, mw_axes axes)
{
    static float x[MOST], out[1][MOST];
    for (int i = 0; i < MOST; i++) {
        const int set = i / 3, divisors[3] = {1, POINTS, POINTS * POINTS};
        x[i] = points[set / divisors[i % 3] % POINTS];
    }
    const float *data[1] = {x};
    mw_tensor *in = mw_input(mw_graph_create(NULL, NULL), "x", MW_F32, shape);
    if (!run_slopes(row->name, row->make(in, axes, false), &in, data, 1, MOST, out))
        return;
    for (int i = 0; i < MOST; i++) {
        const float *at = x + i / 3 * 3;
        const double three[3] = {(double)at[0], (double)at[1], (double)at[2]}, wanted = row->slope(three, i % 3);
        check_note(agrees((double)out[0][i], wanted), __FILE__, __LINE__, "%s of %g, %g, %g by element %d: %g, not %g",
                   row->name, three[0], three[1], three[2], i % 3, (double)out[0][i], wanted);
    }
}

static void test_reductions(void)
{
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
        check_reduction(&reductions[i], MW_SHAPE(MOST / 3, 3), MW_AXES(1));
        check_reduction(&reductions[i], MW_SHAPE(MOST / 3, 3, 1), MW_AXES(1, 2));
    }
}

/* ---- the second derivative does not notice ---- */

/* d/dz of -1 / z^2, also where |z| is 1 */
static void test_the_second_derivative_of_a_quotient_by_its_divisor(void)
{
    static const float at[4] = {1.0F, -1.0F, 2.0F, 0.5F};
    const double wanted[4] = {2.0, -2.0, 0.25, 16.0};
    static float out[1][MOST];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *z = mw_input(graph, "x", MW_F32, MW_SHAPE(4)), *dz = NULL;
    mw_tensor *one = mw_fill(graph, MW_F32, MW_SHAPE(4), 1.0);
    mw_grad(mw_reduce_sum(mw_real_div(one, z), MW_ALL_AXES, false), &z, 1, &dz, &err);
    const float *data[1] = {at};
    if (run_slopes("second derivative of a quotient", dz, &z, data, 1, 4, out))
        for (int k = 0; k < 4; k++)
            CHECK_NEAR(out[0][k], wanted[k], 1e-5);
}

int main(void)
{
    RUN(test_operations_of_one_operand);
    RUN(test_operations_of_two_operands);
    RUN(test_reductions);
    RUN(test_the_second_derivative_of_a_quotient_by_its_divisor);
    return check_finish();
}
