/* Elementary functions against double libm over dense sweeps, special values, and equal bits at both widths. */
#include "engine/kernels/math.h"
#include "run.h"
#include "support/check.h"

#include <float.h>
#include <stdlib.h>

#define POINTS 400000

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double silu(double x) { return x * sigmoid(x); }
static double gelu_exact(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static double gelu_tanh(double x) { return x * sigmoid(1.59576912160573071176 * (x + 0.044715 * x * x * x)); }
static double gelu_sigmoid(double x) { return x * sigmoid(1.702 * x); }

typedef struct sweep {
    const char *name;
    mw__op_id op;
    const char *mode;
    double (*exact)(double);
    double low, high;
    double ulps;   /* of the result */
    double beside; /* absolute, per unit of |x|: what cancellation leaves of gelu's negative tail */
} sweep;

static const sweep sweeps[] = {
    {.name = "exp", .op = MW__OP_exp, .exact = exp, .low = -103.0, .high = 88.7, .ulps = 1.0},
    {.name = "log", .op = MW__OP_log, .exact = log, .low = 1e-44, .high = 3e38, .ulps = 1.0},
    {.name = "erf", .op = MW__OP_erf, .exact = erf, .low = -5.0, .high = 5.0, .ulps = 1.5},
    /* glibc's own is at 2.1 */
    {.name = "tanh", .op = MW__OP_tanh, .exact = tanh, .low = -12.0, .high = 12.0, .ulps = 2.5},
    {.name = "sigmoid", .op = MW__OP_sigmoid, .exact = sigmoid, .low = -87.0, .high = 87.0, .ulps = 2.5},
    {.name = "silu", .op = MW__OP_silu, .exact = silu, .low = -80.0, .high = 80.0, .ulps = 3.0},
    {.name = "gelu exact",
     .op = MW__OP_gelu,
     .mode = "EXACT",
     .exact = gelu_exact,
     .low = -9.0,
     .high = 9.0,
     .ulps = 3.0,
     .beside = 6e-8},
    {.name = "gelu tanh",
     .op = MW__OP_gelu,
     .mode = "TANH_APPROXIMATION",
     .exact = gelu_tanh,
     .low = -9.0,
     .high = 9.0,
     .ulps = 3.0,
     .beside = 1e-7},
    {.name = "gelu sigmoid",
     .op = MW__OP_gelu,
     .mode = "SIGMOID_APPROXIMATION",
     .exact = gelu_sigmoid,
     .low = -40.0,
     .high = 40.0,
     .ulps = 3.0,
     .beside = 1e-7},
};

static double ulp(double value)
{
    const float size = fabsf((float)value);
    return size >= FLT_MAX ? 0x1p104 : (double)nextafterf(size, INFINITY) - (double)size;
}

/* Half of the points evenly, half by magnitude down to 1e-13. */
static float point(const sweep *s, int i)
{
    const double u = (double)(i / 2) / (POINTS / 2);
    if (s->op == MW__OP_log)
        return (float)exp(log(s->low) + u * (log(s->high) - log(s->low)));
    if (i % 2 == 0)
        return (float)(s->low + u * (s->high - s->low));
    const double size = exp(-30.0 + u * (log(s->high) + 30.0));
    return (float)(i % 4 == 1 ? size : -size);
}

static void check_sweep(const sweep *s, mw__level level)
{
    mw__loop1 *loop = mw__function1_find(s->op, s->mode)->at[level];
    double worst = 0.0;
    float where = 0.0f;
    for (int i = 0; i < POINTS; i++) {
        const float x = point(s, i);
        float y = 0.0f;
        loop(&y, &x, 1, 0.0f, 0.0f);
        const double exact = s->exact((double)x), allowed = s->ulps * ulp(exact) + s->beside * fabs((double)x);
        if (fabs((double)y - exact) / allowed > worst)
            worst = fabs((double)y - exact) / allowed, where = x;
    }
    check_note(worst <= 1.0, __FILE__, __LINE__, "%s at level %d is %.3g times its tolerance from exact at %.9g",
               s->name, (int)level, worst, (double)where);
}

static mw__level best_level(void) { return level_here(); }

static void test_reference_functions(void)
{
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        check_sweep(&sweeps[i], MW__LEVEL_REF);
}

static void test_polynomials(void)
{
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        check_sweep(&sweeps[i], MW__LEVEL_BASE);
}

/* Calls `check` for every function of floats, in every mode. */
static void for_every_function(void (*check)(const char *name, const mw__function1 *function))
{
    for (size_t op = 0; op < MW__OP_COUNT; op++)
        for (const mw__function1 *f = mw__function1_find((mw__op_id)op, NULL); f != NULL; f = f->other)
            if (f->at[MW__LEVEL_REF] != NULL)
                check(mw__rows[op].name, f);
}

/* Whole arrays with a ragged end: vector bodies and remainders agree too. */
static void check_widths(const char *name, const mw__function1 *function)
{
    static float x[1003], base[1003], wide[1003];
    const mw__level widths[] = {MW__LEVEL_AVX2, level_here()};
    for (int i = 0; i < 1003; i++)
        x[i] = (float)(i - 500) * 0.173f;
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = -0.0f, x[4] = 1e-42f;
    function->at[MW__LEVEL_BASE](base, x, 1003, 1e-5f, 2.0f);
    for (size_t w = 0; w < 2; w++) {
        function->at[widths[w]](wide, x, 1003, 1e-5f, 2.0f);
        for (int i = 0; i < 1003; i++)
            if (!check_note(memcmp(&base[i], &wide[i], sizeof *base) == 0 || (base[i] != base[i] && wide[i] != wide[i]),
                            __FILE__, __LINE__, "%s of %.9g: %a and %a", name, (double)x[i], (double)base[i],
                            (double)wide[i]))
                break;
    }
}

static void test_both_widths_give_the_same_bits(void)
{
    if (best_level() != MW__LEVEL_AVX2)
        SKIP("this processor has no wide code");
    for_every_function(check_widths);
}

typedef struct special {
    mw__op_id op;
    float x, p, q, result;
} special;

static const special specials[] = {
    {.op = MW__OP_exp, .x = INFINITY, .result = INFINITY},
    {.op = MW__OP_exp, .x = -INFINITY, .result = 0.0f},
    {.op = MW__OP_exp, .x = 89.0f, .result = INFINITY},
    {.op = MW__OP_exp, .x = 0.0f, .result = 1.0f},
    {.op = MW__OP_log, .x = 0.0f, .result = -INFINITY},
    {.op = MW__OP_log, .x = -1.0f, .result = NAN},
    {.op = MW__OP_log, .x = INFINITY, .result = INFINITY},
    {.op = MW__OP_log, .x = 1.0f, .result = 0.0f},
    /* MIL's default epsilon is the smallest subnormal */
    {.op = MW__OP_log, .x = 0.0f, .p = 1e-45f, .result = -103.278931f},
    {.op = MW__OP_erf, .x = INFINITY, .result = 1.0f},
    {.op = MW__OP_erf, .x = -INFINITY, .result = -1.0f},
    {.op = MW__OP_tanh, .x = INFINITY, .result = 1.0f},
    {.op = MW__OP_tanh, .x = -INFINITY, .result = -1.0f},
    {.op = MW__OP_sigmoid, .x = INFINITY, .result = 1.0f},
    {.op = MW__OP_sigmoid, .x = -INFINITY, .result = 0.0f},
    {.op = MW__OP_sign, .x = 0.0f, .result = 0.0f},
    {.op = MW__OP_sign, .x = -3.0f, .result = -1.0f},
    {.op = MW__OP_relu, .x = -2.0f, .result = 0.0f},
    {.op = MW__OP_clip, .x = 3.0f, .p = -1.0f, .q = 2.0f, .result = 2.0f},
    {.op = MW__OP_clip, .x = -3.0f, .p = -1.0f, .q = 2.0f, .result = -1.0f},
    {.op = MW__OP_clip, .x = 3.0f, .p = -1.0f, .q = INFINITY, .result = 3.0f},
    {.op = MW__OP_inverse, .x = 0.0f, .p = 0.5f, .result = 2.0f},
    {.op = MW__OP_rsqrt, .x = 3.0f, .p = 1.0f, .result = 0.5f},
    {.op = MW__OP_sqrt, .x = -1.0f, .result = NAN},
};

static bool same(float a, float b) { return a == b || (a != a && b != b); }

static void test_special_values(void)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        for (int level = MW__LEVEL_REF; level <= (int)best_level(); level++) {
            const special *s = &specials[i];
            float y = 0.0f;
            mw__loop1_find(s->op, (mw__level)level)(&y, &s->x, 1, s->p, s->q);
            check_note(same(y, s->result), __FILE__, __LINE__, "%s of %g at level %d is %.9g, not %.9g",
                       mw__rows[s->op].name, (double)s->x, level, (double)y, (double)s->result);
        }
}

static void check_nan(const char *name, const mw__function1 *function)
{
    for (int level = MW__LEVEL_REF; level <= (int)best_level(); level++) {
        const float x = NAN;
        float y = 0.0f;
        function->at[level](&y, &x, 1, -1.0f, 1.0f);
        check_note(y != y, __FILE__, __LINE__, "%s at level %d makes %g of NaN", name, level, (double)y);
    }
}

static void test_nan_goes_through_every_function(void) { for_every_function(check_nan); }

int main(void)
{
    RUN(test_reference_functions);
    RUN(test_polynomials);
    RUN(test_both_widths_give_the_same_bits);
    RUN(test_special_values);
    RUN(test_nan_goes_through_every_function);
    return check_finish();
}
