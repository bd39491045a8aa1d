/* Elementary functions against double libm: over dense sweeps, over numbers of all bits (every 17th with MW_NIGHTLY=1;
 * MW_TEST_ALL_BITS=1: every one, which takes hours), special values, and equal bits at every width. */
#include "base/number/bits.h"
#include "engine/kernels/math/math.h"
#include "engine/run.h"
#include "support/check.h"

#include <float.h>
#include <stdlib.h>

#define POINTS 400000

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double silu(double x) { return x * sigmoid(x); }
static double gelu_exact(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static double gelu_tanh(double x) { return x * sigmoid(1.59576912160573071176 * (x + 0.044715 * x * x * x)); }
static double gelu_sigmoid(double x) { return x * sigmoid(1.702 * x); }
static double elu(double x) { return x > 0.0 ? x : 0.5 * expm1(x); }
static double softplus(double x) { return log1p(exp(-fabs(x))) + fmax(x, 0.0); }
static double softplus_parametric(double x) { return 0.5 * softplus((double)(2.0f * (float)x)); } /* overflows */
static double scaled_tanh(double x) { return 0.5 * tanh(2.0 * x); }

typedef struct sweep {
    const char *name;
    mw__op_id op;
    const char *mode;
    double (*exact)(double);
    double low, high;
    double ulps;   /* of the result */
    double beside; /* absolute, per unit of |x|: what cancellation leaves of gelu's negative tail */
} sweep;

/* The scalar arguments, where a function has them and is not log. */
#define P 0.5f
#define Q 2.0f

static const sweep sweeps[] = {
    {.name = "exp", .op = MW__OP_exp, .exact = exp, .low = -103.0, .high = 88.7, .ulps = 1.0},
    {.name = "log", .op = MW__OP_log, .exact = log, .low = 1e-44, .high = 3e38, .ulps = 1.0},
    {.name = "erf", .op = MW__OP_erf, .exact = erf, .low = -5.0, .high = 5.0, .ulps = 1.5},
    /* glibc's own is at 2.1 */
    {.name = "tanh", .op = MW__OP_tanh, .exact = tanh, .low = -12.0, .high = 12.0, .ulps = 2.5},
    {.name = "sigmoid", .op = MW__OP_sigmoid, .exact = sigmoid, .low = -87.0, .high = 87.0, .ulps = 2.5},
    /* a subnormal sigmoid has few bits; an error of sigmoid counts up to twice where the product is just below a power
       of 2: 3.1 ulp at -5.97 are the most of every 17th number */
    {.name = "silu", .op = MW__OP_silu, .exact = silu, .low = -80.0, .high = 80.0, .ulps = 3.5, .beside = 0x1p-149},
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
    {.name = "exp2", .op = MW__OP_exp2, .exact = exp2, .low = -149.0, .high = 128.0, .ulps = 1.5},
    {.name = "sin", .op = MW__OP_sin, .exact = sin, .low = -1e4, .high = 1e4, .ulps = 0.6},
    {.name = "cos", .op = MW__OP_cos, .exact = cos, .low = -1e4, .high = 1e4, .ulps = 0.6},
    {.name = "tan", .op = MW__OP_tan, .exact = tan, .low = -1e4, .high = 1e4, .ulps = 2.0},
    {.name = "asin", .op = MW__OP_asin, .exact = asin, .low = -1.0, .high = 1.0, .ulps = 2.5},
    {.name = "acos", .op = MW__OP_acos, .exact = acos, .low = -1.0, .high = 1.0, .ulps = 2.0},
    {.name = "atan", .op = MW__OP_atan, .exact = atan, .low = -100.0, .high = 100.0, .ulps = 2.5},
    {.name = "sinh", .op = MW__OP_sinh, .exact = sinh, .low = -89.5, .high = 89.5, .ulps = 2.0},
    {.name = "cosh", .op = MW__OP_cosh, .exact = cosh, .low = -89.5, .high = 89.5, .ulps = 2.0},
    {.name = "atanh", .op = MW__OP_atanh, .exact = atanh, .low = -1.0, .high = 1.0, .ulps = 2.5},
    {.name = "elu", .op = MW__OP_elu, .exact = elu, .low = -20.0, .high = 20.0, .ulps = 2.0},
    {.name = "softplus", .op = MW__OP_softplus, .exact = softplus, .low = -104.0, .high = 90.0, .ulps = 2.5},
    {.name = "softplus_parametric",
     .op = MW__OP_softplus_parametric,
     .exact = softplus_parametric,
     .low = -50.0,
     .high = 50.0,
     .ulps = 2.5},
    {.name = "scaled_tanh", .op = MW__OP_scaled_tanh, .exact = scaled_tanh, .low = -6.0, .high = 6.0, .ulps = 3.0},
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

/* How far y is from the function of x, in units of what is allowed. */
static double distance(const sweep *s, float x, float y)
{
    const double exact = s->exact((double)x), allowed = s->ulps * ulp(exact) + s->beside * fabs((double)x);
    if (exact != exact || isinf((float)exact))
        return (exact != exact && y != y) || (double)y == exact || (float)exact == y ? 0.0 : INFINITY;
    return y != y ? INFINITY : fabs((double)y - exact) / allowed;
}

static void check_sweep(const sweep *s, mw__level level)
{
    mw__loop1 *loop = mw__function1_find(s->op, s->mode)->at[level];
    double worst = 0.0;
    float where = 0.0f;
    for (int i = 0; i < POINTS; i++) {
        const float x = point(s, i);
        float y = 0.0f;
        loop(&y, &x, 1, s->op == MW__OP_log ? 0.0f : P, Q);
        const double off = distance(s, x, y);
        if (off > worst)
            worst = off, where = x;
    }
    check_note(worst <= 1.0, __FILE__, __LINE__, "%s at level %d is %.3g times its tolerance from exact at %.9g",
               s->name, (int)level, worst, (double)where);
}

#define AT_ONCE 4096

/* Numbers by their bits, each `step` after the last: inf, NaN, subnormals and far angles are among them. */
static void check_all_bits(const sweep *s, mw__loop1 *loop, uint64_t step)
{
    static float x[AT_ONCE], y[AT_ONCE];
    double worst = 0.0;
    float where = 0.0f;
    for (uint64_t bits = 0, count = 0; bits <= UINT32_MAX; count = 0) {
        for (; count < AT_ONCE && bits <= UINT32_MAX; bits += step)
            x[count++] = mw__float_of((uint32_t)bits);
        loop(y, x, (int64_t)count, s->op == MW__OP_log ? 0.0f : P, Q);
        for (uint64_t i = 0; i < count; i++) {
            const double off = distance(s, x[i], y[i]);
            if (off > worst)
                worst = off, where = x[i];
        }
    }
    check_note(worst <= 1.0, __FILE__, __LINE__, "%s is %.3g times its tolerance from exact at %.9g (%a)", s->name,
               worst, (double)where, (double)where);
}

static void test_numbers_of_all_bits(void)
{
    const uint64_t step = getenv("MW_TEST_ALL_BITS") != NULL ? 1 : getenv("MW_NIGHTLY") != NULL ? 17 : 10007;
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        check_all_bits(&sweeps[i], mw__function1_find(sweeps[i].op, sweeps[i].mode)->at[level_here()], step);
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
    if (best_level() < MW__LEVEL_AVX2)
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

/* ---- two operands ---- */

#define PAIRS 400000

static uint32_t drawn(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

static float between(uint32_t *state, double low, double high)
{
    return (float)(low + (high - low) * (double)drawn(state) * 0x1p-32);
}

/* Numbers of all sizes, and some that are whole. */
static void test_powers_are_near_the_exact_ones(void)
{
    uint32_t state = 1;
    double worst = 0.0;
    for (int i = 0; i < PAIRS; i++) {
        const float x = expf(between(&state, -20.0, 20.0)) * (i % 4 == 3 ? -1.0f : 1.0f);
        const float y = i % 4 == 3 ? rintf(between(&state, -6.0, 6.0)) : between(&state, -5.0, 5.0);
        float result = 0.0f;
        mw__function2_find(MW__OP_pow)->at[level_here()](&result, &x, &y, 1);
        const double exact = pow((double)x, (double)y), off = fabs((double)result - exact);
        const double ulps = y == 3.0f ? 1.5 : y == 2.0f || y == -1.0f ? 0.5 : 0.51;
        worst = isinf((float)exact) ? worst : fmax(worst, off / ulp(exact) / ulps);
        if (isinf((float)exact))
            CHECK(isinf(result));
    }
    check_note(worst <= 1.0, __FILE__, __LINE__, "pow is %.3g times its tolerance from exact", worst);
}

/* C's rules: annex F of its standard. */
static void test_special_powers(void)
{
    static const float numbers[] = {0.0f,  -0.0f,  1.0f,       -1.0f,       0.5f,        -0.5f,     2.0f, -2.0f,
                                    3.0f,  -3.0f,  1e30f,      -1e30f,      INFINITY,    -INFINITY, NAN,  2.5f,
                                    -2.5f, 1e-40f, 8388609.0f, 16777216.0f, -8388609.0f, 8388607.5f};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    for (int level = MW__LEVEL_BASE; level <= (int)level_here(); level++)
        for (int i = 0; i < COUNT * COUNT; i++) {
            const float x = numbers[i / COUNT], y = numbers[i % COUNT];
            const double wanted = pow((double)x, (double)y);
            float result = 0.0f;
            mw__function2_find(MW__OP_pow)->at[level](&result, &x, &y, 1);
            const bool exact = same(result, (float)wanted) && (result != 0.0f || !signbit(result) == !signbit(wanted));
            check_note(exact || fabs((double)result - wanted) <= 1e-7 * fabs(wanted), __FILE__, __LINE__,
                       "%g to the %g is %g at level %d, not %g", (double)x, (double)y, (double)result, level, wanted);
        }
}

/* fmod is exact in every C library. */
static float exact_mod(float x, float y)
{
    const float rest = fmodf(x, y);
    return rest != 0.0f && (rest < 0.0f) != (y < 0.0f) ? rest + y : rest;
}

static void check_mod(float x, float y, mw__level level)
{
    float result = 0.0f;
    mw__function2_find(MW__OP_mod)->at[level](&result, &x, &y, 1);
    const float wanted = exact_mod(x, y);
    check_note((result != result && wanted != wanted) || memcmp(&result, &wanted, sizeof result) == 0, __FILE__,
               __LINE__, "mod(%a, %a) is %a at level %d, not %a", (double)x, (double)y, (double)result, (int)level,
               (double)wanted);
}

static void test_mod_is_exact(void)
{
    static const float numbers[] = {0.0f, -0.0f, 1.0f,     -1.0f,     2.5f, -2.5f, 6.0f,
                                    3.0f, 1e30f, INFINITY, -INFINITY, NAN,  1e-44f};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    for (int i = 0; i < COUNT * COUNT; i++)
        check_mod(numbers[i / COUNT], numbers[i % COUNT], level_here());
    uint32_t state = 1;
    for (int i = 0; i < PAIRS / 4; i++) {
        const float x = mw__float_of(drawn(&state)), y = mw__float_of(drawn(&state));
        check_mod(x, y, level_here());
        const float size = between(&state, 0.0, 22.0), near = expf(size) * (i % 2 == 0 ? 1.0f : -1.0f);
        check_mod(near, between(&state, -9.0, 9.0), level_here());
        check_mod(rintf(near), rintf(between(&state, 1.0, 9.0)), level_here());
    }
}

/* What stands beside an element changes nothing of it: far angles and quotients are computed apart. */
static void test_neighbors_change_no_bit(void)
{
    static const mw__op_id angles[] = {MW__OP_sin, MW__OP_cos, MW__OP_tan};
    float x[200], alone, all[200];
    for (int i = 0; i < 200; i++)
        x[i] = (float)(i - 100) * 0.731f;
    for (size_t f = 0; f < 3; f++)
        for (int far = 0; far < 200; far += 37) {
            const float before = x[far];
            x[far] = 1e20f;
            mw__loop1_find(angles[f], level_here())(all, x, 200, 0.0f, 0.0f);
            for (int i = 0; i < 200; i++) {
                mw__loop1_find(angles[f], level_here())(&alone, &x[i], 1, 0.0f, 0.0f);
                CHECK(memcmp(&alone, &all[i], sizeof alone) == 0);
            }
            x[far] = before;
        }
}

int main(void)
{
    RUN(test_reference_functions);
    RUN(test_polynomials);
    RUN(test_numbers_of_all_bits);
    RUN(test_both_widths_give_the_same_bits);
    RUN(test_special_values);
    RUN(test_nan_goes_through_every_function);
    RUN(test_powers_are_near_the_exact_ones);
    RUN(test_special_powers);
    RUN(test_mod_is_exact);
    RUN(test_neighbors_change_no_bit);
    return check_finish();
}
