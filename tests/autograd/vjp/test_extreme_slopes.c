/* Values and derivatives of functions of one or two numbers, at numbers tiny, huge, and deep in their tails: right in
 * proportion to themselves wherever the value, the derivative and its product with the cotangent fit the type. Against
 * closed forms in double that do not cancel. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/fp16.h"
#include "support/setting.h"
#include <float.h>
#include <millwright/millwright.h>
#include <stdlib.h>

typedef mw_tensor *unary(mw_tensor *x);
typedef double number_of(double x);

typedef struct row {
    const char *name;
    unary *make;
    number_of *value, *slope; /* NaN where there is none; value NULL = not compared */
    double single, half;      /* tolerances beyond the general ones; 0 = those */
} row;

/* ---- the truth ---- */

static double sigmoid(double x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }
static double sech_square(double x)
{
    const double e = exp(-2 * fabs(x));
    return 4 * e / ((1 + e) * (1 + e));
}

#define TRUTH(name, expression)                                                                                        \
    static double name(double x) { return (expression); }

TRUTH(v_inverse, 1 / x)
TRUTH(d_inverse, -1 / x / x)
TRUTH(v_rsqrt, x > 0 ? 1 / sqrt(x) : NAN)
TRUTH(d_rsqrt, x > 0 ? -0.5 / x / sqrt(x) : NAN)
TRUTH(v_sqrt, x > 0 ? sqrt(x) : NAN)
TRUTH(d_sqrt, x > 0 ? 0.5 / sqrt(x) : NAN)
TRUTH(v_log, x > 0 ? log(x) : NAN)
TRUTH(d_log, x > 0 ? 1 / x : NAN)
TRUTH(d_log_shifted, x > -0.125 ? 1 / (x + 0.125) : NAN)
TRUTH(d_tan, 1 + tan(x) * tan(x))
TRUTH(v_asin, fabs(x) < 1 ? asin(x) : NAN)
TRUTH(d_asin, fabs(x) < 1 ? 1 / sqrt((1 - x) * (1 + x)) : NAN)
TRUTH(d_acos, fabs(x) < 1 ? -1 / sqrt((1 - x) * (1 + x)) : NAN)
TRUTH(v_atanh, fabs(x) < 1 ? atanh(x) : NAN)
TRUTH(d_atanh, fabs(x) < 1 ? 1 / ((1 - x) * (1 + x)) : NAN)
TRUTH(d_atan, 1 / (1 + x * x))
TRUTH(d_sigmoid, sigmoid(x) * sigmoid(-x))
TRUTH(v_silu, x *sigmoid(x))
TRUTH(d_silu, sigmoid(x) * (1 + x * sigmoid(-x)))
TRUTH(v_gelu_sigmoid, x *sigmoid(1.702 * x))
TRUTH(d_gelu_sigmoid, sigmoid(1.702 * x) * (1 + 1.702 * x * sigmoid(-1.702 * x)))
static double gelu_inner(double x) { return 1.5957691216057308 * (x + 0.044715 * x * x * x); }
TRUTH(v_gelu_tanh, x *sigmoid(gelu_inner(x)))
static double d_gelu_tanh(double x)
{
    const double s = sigmoid(gelu_inner(x)), rise = 1.5957691216057308 * x * (1 + 3 * 0.044715 * x * x);
    return fabs(x) > 40 ? (x > 0) : s * (1 + rise * sigmoid(-gelu_inner(x)));
}
TRUTH(v_elu, x > 0 ? x : 1.5 * expm1(x))
TRUTH(d_elu, x > 0 ? 1 : 1.5 * exp(x))
TRUTH(v_softplus, fmax(x, 0) + log1p(exp(-fabs(x))))
TRUTH(v_softsign, x / (1 + fabs(x)))
TRUTH(d_softsign, 1 / (1 + fabs(x)) / (1 + fabs(x)))
TRUTH(v_scaled_tanh, 1.5 * tanh(0.5 * x))
TRUTH(d_scaled_tanh, 0.75 * sech_square(0.5 * x))
TRUTH(exponential, exp(x))
TRUTH(sinus_hyperbolicus, sinh(x))
TRUTH(cosinus_hyperbolicus, cosh(x))
TRUTH(tangens_hyperbolicus, tanh(x))
TRUTH(v_square_root_of_power, x > 0 ? pow(x, 0.03125) : NAN)
TRUTH(d_square_root_of_power, x > 0 ? 0.03125 * pow(x, 0.03125 - 1) : NAN)

/* ---- the functions ---- */

static mw_tensor *inverse(mw_tensor *x) { return mw_inverse(x, 0.0f); }
static mw_tensor *rsqrt(mw_tensor *x) { return mw_rsqrt(x, 0.0f); }
static mw_tensor *logarithm(mw_tensor *x) { return mw_log(x, 0.0f); }
static mw_tensor *log_shifted(mw_tensor *x) { return mw_log(x, 0.125f); }
static mw_tensor *gelu_tanh(mw_tensor *x) { return mw_gelu(x, MW_GELU_TANH); }
static mw_tensor *gelu_sigmoid(mw_tensor *x) { return mw_gelu(x, MW_GELU_SIGMOID); }
static mw_tensor *elu(mw_tensor *x) { return mw_elu(x, 1.5f); }
static mw_tensor *scaled_tanh(mw_tensor *x) { return mw_scaled_tanh(x, 1.5f, 0.5f); }
static mw_tensor *thirty_second_root(mw_tensor *x)
{
    return mw_pow(x, mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), 0.03125));
}

/* Where a tolerance is wider, the argument of an exponential is itself rounded, by its size times a unit in the last
 * place: 120 of them in fp32 before e^-88 vanishes, 17 in fp16. */
static const row rows[] = {
    {.name = "inverse", .make = inverse, .value = v_inverse, .slope = d_inverse},
    {.name = "rsqrt", .make = rsqrt, .value = v_rsqrt, .slope = d_rsqrt},
    {.name = "sqrt", .make = mw_sqrt, .value = v_sqrt, .slope = d_sqrt},
    {.name = "log", .make = logarithm, .value = v_log, .slope = d_log},
    {.name = "log, shifted", .make = log_shifted, .slope = d_log_shifted},
    {.name = "tan", .make = mw_tan, .value = tan, .slope = d_tan},
    {.name = "asin", .make = mw_asin, .value = v_asin, .slope = d_asin},
    {.name = "acos", .make = mw_acos, .slope = d_acos},
    {.name = "atanh", .make = mw_atanh, .value = v_atanh, .slope = d_atanh},
    {.name = "atan", .make = mw_atan, .value = atan, .slope = d_atan},
    {.name = "exp", .make = mw_exp, .value = exponential, .slope = exponential},
    {.name = "sinh", .make = mw_sinh, .value = sinus_hyperbolicus, .slope = cosinus_hyperbolicus},
    {.name = "cosh", .make = mw_cosh, .value = cosinus_hyperbolicus, .slope = sinus_hyperbolicus},
    {.name = "tanh", .make = mw_tanh, .value = tangens_hyperbolicus, .slope = sech_square},
    {.name = "sigmoid", .make = mw_sigmoid, .value = sigmoid, .slope = d_sigmoid},
    {.name = "silu", .make = mw_silu, .value = v_silu, .slope = d_silu},
    {.name = "gelu, tanh",
     .make = gelu_tanh,
     .value = v_gelu_tanh,
     .slope = d_gelu_tanh,
     .single = 0x1p-17,
     .half = 0x1p-5},
    {.name = "gelu, sigmoid",
     .make = gelu_sigmoid,
     .value = v_gelu_sigmoid,
     .slope = d_gelu_sigmoid,
     .single = 0x1p-17,
     .half = 0x1p-5},
    {.name = "elu", .make = elu, .value = v_elu, .slope = d_elu},
    {.name = "softplus", .make = mw_softplus, .value = v_softplus, .slope = sigmoid},
    {.name = "softsign", .make = mw_softsign, .value = v_softsign, .slope = d_softsign},
    {.name = "scaled_tanh", .make = scaled_tanh, .value = v_scaled_tanh, .slope = d_scaled_tanh},
    {.name = "pow", .make = thirty_second_root, .value = v_square_root_of_power, .slope = d_square_root_of_power},
};

static const double sizes[] = {1e-37, 1e-30, 1e-20, 1e-10, 1e-7,   1e-5, 6.2e-5, 1e-4, 1e-3, 0.01, 0.1,  0.3,  0.5,
                               0.7,   0.9,   0.99,  0.999, 0.9999, 1.0,  1.2,    1.57, 2.0,  2.5,  3.0,  3.5,  4.0,
                               5.0,   6.0,   7.0,   8.0,   9.0,    10.0, 12.0,   15.0, 20.0, 30.0, 50.0, 80.0, 86.0,
                               120.0, 256.0, 1e3,   2e4,   6e4,    1e7,  1e10,   1e19, 1e30, 1e38};
enum { SIZES = sizeof sizes / sizeof *sizes, POINTS = 2 * SIZES };

/* ---- a type and a device ---- */

typedef struct mode {
    const char *name;
    mw_dtype dtype;
    mw_device device;
    double largest, smallest, step; /* finite, normal, subnormal */
    double tolerance, cotangents[3];
} mode;

static const mode modes[] = {
    {.name = "fp32",
     .dtype = MW_F32,
     .device = MW_DEVICE_CPU,
     .largest = FLT_MAX,
     .smallest = FLT_MIN,
     .step = 0x1p-149,
     .tolerance = 0x1p-19,
     .cotangents = {1.0, 0x1p100, 0x1p-100}},
    {.name = "fp16",
     .dtype = MW_F16,
     .device = MW_DEVICE_CPU,
     .largest = 65504.0,
     .smallest = 0x1p-14,
     .step = 0x1p-24,
     .tolerance = 0x1p-7,
     .cotangents = {1.0, 256.0, 0x1p-8}},
    {.name = "the ANE",
     .dtype = MW_F32,
     .device = MW_DEVICE_ANE,
     .largest = 65504.0,
     .smallest = 0x1p-14,
     .step = 0x1p-24,
     .tolerance = 0x1p-7,
     .cotangents = {1.0, 256.0, 0x1p-8}},
};

static float in_type(double v, const mode *m)
{
    return m->largest < FLT_MAX ? mw__fp16_to_float(mw__fp16_from_double(v)) : (float)v;
}

static size_t points_of(const mode *m, float *x)
{
    size_t count = 0;
    for (size_t i = 0; i < POINTS; i++) {
        const float v = in_type(i % 2 == 0 ? sizes[i / 2] : -sizes[i / 2], m);
        if (isfinite(v) && fabs((double)v) >= m->smallest)
            x[count++] = v;
    }
    return count;
}

static bool fits(double v, const mode *m) { return fabs(v) <= m->largest; }
static bool is_normal(double v, const mode *m) { return fits(v, m) && fabs(v) >= m->smallest; }

static bool near(float got, double truth, double tolerance, const mode *m)
{
    return fabs((double)got - truth) <= tolerance * fabs(truth) + 2 * m->step;
}

typedef struct outcome {
    float y[POINTS * POINTS], dx[2][POINTS * POINTS];
} outcome;

/* y = f(x) or x / z, and the cotangents; false if the device has no such operation. */
static bool run(unary *make, const mode *m, const float *x_at, const float *z_at, size_t count, double cotangent,
                outcome *out)
{
    static float w_at[POINTS * POINTS];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[2] = {mw_input(graph, "x", m->dtype, MW_SHAPE(count))}, *dx[2];
    if (z_at != NULL)
        x[1] = mw_input(graph, "z", m->dtype, MW_SHAPE(count));
    mw_tensor *w = mw_input(graph, "w", m->dtype, MW_SHAPE(count));
    mw_tensor *y = z_at != NULL ? mw_real_div(x[0], x[1]) : make(x[0]);
    mw_vjp(&y, &w, 1, x, z_at != NULL ? 2 : 1, dx, &err);
    mw_output(y, "y");
    mw_output(dx[0], "dx");
    if (z_at != NULL)
        mw_output(dx[1], "dz");
    mw_program *program = engine_compile(graph, m->device, 0, &err);
    mw_graph_destroy(graph);
    if (program == NULL) {
        CHECK(m->device == MW_DEVICE_ANE && strstr(err.message, "the ANE does not run it") != NULL);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        w_at[i] = (float)cotangent;
    mw_program_write(program, "x", MW_F32, x_at, count, &err);
    if (z_at != NULL)
        mw_program_write(program, "z", MW_F32, z_at, count, &err);
    mw_program_write(program, "w", MW_F32, w_at, count, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out->y, count, &err);
    mw_program_read(program, "dx", MW_F32, out->dx[0], count, &err);
    if (z_at != NULL)
        mw_program_read(program, "dz", MW_F32, out->dx[1], count, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    return true;
}

static outcome out; /* too large for a stack */

static void check_row(const row *r, const mode *m)
{
    float x[POINTS];
    const size_t count = points_of(m, x);
    const double own = m->largest < FLT_MAX ? r->half : r->single, tolerance = own > 0.0 ? own : m->tolerance;
    for (int k = 0; k < 3; k++) {
        if (!run(r->make, m, x, NULL, count, m->cotangents[k], &out))
            return;
        for (size_t i = 0; i < count; i++) {
            const double slope = r->slope((double)x[i]), dx = m->cotangents[k] * slope;
            const double y = r->value != NULL ? r->value((double)x[i]) : 0.0;
            if (isnan(slope) || !fits(y, m))
                continue;
            if (r->value != NULL && is_normal(y, m) && fabs((double)x[i]) < 1e6)
                check_note(near(out.y[i], y, tolerance, m), __FILE__, __LINE__, "%s, %s: y(%g) is %.9g, not %.9g",
                           r->name, m->name, (double)x[i], (double)out.y[i], y);
            if ((is_normal(slope, m) || slope == 0.0) && fits(dx, m))
                check_note(near(out.dx[0][i], dx, tolerance, m), __FILE__, __LINE__, "%s, %s: dx(%g) is %.9g, not %.9g",
                           r->name, m->name, (double)x[i], (double)out.dx[0][i], dx);
        }
    }
}

static void test_tails_of_functions(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
            check_row(&rows[i], &modes[k]);
}

/* -dy x / z^2 where the quotient, the derivative and the result fit; 0 where x is. */
static void test_quotients_of_every_size(void)
{
    static float x[POINTS * POINTS], z[POINTS * POINTS];
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        const mode *m = &modes[k];
        float points[POINTS];
        const size_t count = points_of(m, points);
        for (size_t i = 0; i < count * count; i++) {
            x[i] = i / count == 0 ? 0.0f : points[i / count];
            z[i] = i / count == 0 ? points[i % count] * 0x1p-9f : points[i % count]; /* 0 over what is subnormal */
            z[i] = in_type((double)z[i], m) == 0.0f ? points[i % count] : in_type((double)z[i], m);
        }
        for (int c = 0; c < 3; c++) {
            run(NULL, m, x, z, count * count, m->cotangents[c], &out);
            for (size_t i = 0; i < count * count; i++) {
                const double slope = -((double)x[i] / (double)z[i]) / (double)z[i], dz = m->cotangents[c] * slope;
                const double y = (double)x[i] / (double)z[i];
                const bool posed = x[i] == 0.0f || (is_normal(y, m) && is_normal(slope, m));
                if (posed && fits(dz, m))
                    check_note(near(out.dx[1][i], dz, m->tolerance, m), __FILE__, __LINE__,
                               "%s: dz(%g / %g) is %.9g, not %.9g", m->name, (double)x[i], (double)z[i],
                               (double)out.dx[1][i], dz);
            }
        }
    }
}

/* ---- norms ---- */

enum { ROW = 8 };

static mw_tensor *layer_norm(mw_tensor *x) { return mw_layer_norm(x, MW_AXES(3), NULL, NULL, 1e-5f); }
static mw_tensor *l2_norm(mw_tensor *x) { return mw_l2_norm(x, 1e-6f); }

/* dx = r (g - mean(g) - n mean(g n)) for n = (x - mean(x)) r, r = (var(x) + 1e-5)^-1/2 */
static void layer_norm_truth(const float *x, const double *g, double *dx)
{
    double mean = 0, variance = 0, level = 0, along = 0, n[ROW];
    for (int i = 0; i < ROW; i++)
        mean += (double)x[i] / ROW, level += g[i] / ROW;
    for (int i = 0; i < ROW; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean) / ROW;
    const double r = 1 / sqrt(variance + 1e-5);
    for (int i = 0; i < ROW; i++)
        n[i] = ((double)x[i] - mean) * r, along += g[i] * n[i] / ROW;
    for (int i = 0; i < ROW; i++)
        dx[i] = r * (g[i] - level - n[i] * along);
}

/* dx = r (g - y sum(g y)) for y = x r, r = (sum(x^2) + 1e-6)^-1/2 */
static void l2_norm_truth(const float *x, const double *g, double *dx)
{
    double squares = 1e-6, along = 0;
    for (int i = 0; i < ROW; i++)
        squares += (double)x[i] * (double)x[i];
    const double r = 1 / sqrt(squares);
    for (int i = 0; i < ROW; i++)
        along += g[i] * (double)x[i] * r;
    for (int i = 0; i < ROW; i++)
        dx[i] = r * (g[i] - (double)x[i] * r * along);
}

/* Squares of x overflow fp16 from 256 on; the derivative is an ordinary number. Differences of terms of size r, of some
 * roundings each. */
static void test_norms_of_large_numbers_in_fp16(void)
{
    static const double shares[ROW] = {1, -0.5, 0.25, 0.75, -1, 0.625, 0.3125, -0.875};
    static const double g[ROW] = {-0.75, 0.5, 0, -0.5, 0.75, 0.25, -0.25, 1};
    for (int square = 0; square < 2; square++)
        for (double size = 0.5; size <= 32768; size *= 4) {
            mw_error err = {0};
            float x_at[ROW], g_at[ROW], dx_at[ROW] = {0};
            double truth[ROW], most = 0;
            for (int i = 0; i < ROW; i++)
                x_at[i] = (float)(shares[i] * size), g_at[i] = (float)g[i];
            mw_graph *graph = mw_graph_create(NULL, NULL);
            mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 1, 1, ROW)), *dx = NULL;
            mw_tensor *w = mw_input(graph, "w", MW_F16, MW_SHAPE(1, 1, 1, ROW));
            mw_tensor *y = square ? l2_norm(x) : layer_norm(x);
            mw_vjp(&y, &w, 1, &x, 1, &dx, &err);
            mw_output(dx, "dx");
            mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 0, &err);
            mw_program_write(program, "x", MW_F32, x_at, ROW, &err);
            mw_program_write(program, "w", MW_F32, g_at, ROW, &err);
            mw_program_run(program, &err);
            mw_program_read(program, "dx", MW_F32, dx_at, ROW, &err);
            CHECK_OK(err);
            (square ? l2_norm_truth : layer_norm_truth)(x_at, g, truth);
            for (int i = 0; i < ROW; i++)
                most = fmax(most, fabs(truth[i]));
            for (int i = 0; i < ROW; i++)
                CHECK_NEAR(dx_at[i], truth[i], 0x1p-8 * most + 0x1p-24);
            mw_program_destroy(program);
            mw_graph_destroy(graph);
        }
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE",
                  "ieee"); /* the tails are those of IEEE; a chip has its own (rules/arithmetic.def) */
    RUN(test_tails_of_functions);
    RUN(test_quotients_of_every_size);
    RUN(test_norms_of_large_numbers_in_fp16);
    return check_finish();
}
