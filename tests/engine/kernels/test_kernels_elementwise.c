/* Element-wise kernels: broadcasting in every form against plain index arithmetic, and the corners of integers, NaN,
 * epsilons and casts. */
#include "base/number/fp16.h"
#include "engine/kernel_case.h"
#include "support/check.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const uint64_t thread_counts[] = {1, 3};

/* ---- integers ---- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static void test_integers_wrap_and_divide_without_traps(void)
{
    static const int32_t a[] = {7, -7, 7, -7, INT32_MAX, INT32_MIN, INT32_MIN, 5, 0, 6, -6};
    static const int32_t b[] = {2, 2, -2, -2, 1, -1, 3, 0, 0, 3, 3};
    int32_t sum[11], product[11], quotient[11], floored[11];
    const char *text =
        RUN_TEXT("tensor<int32, [11]> a, tensor<int32, [11]> b",
                 "tensor<int32, [11]> s = add(x = a, y = b);\ntensor<int32, [11]> p = mul(x = a, y = b);\n"
                 "tensor<int32, [11]> q = real_div(x = a, y = b);\n"
                 "tensor<int32, [11]> f = floor_div(x = a, y = b);\n",
                 "s, p, q, f");
    REQUIRE(kernel_run(
        text, 1, (const kernel_port[]){{"a", (void *)(uintptr_t)a, 44}, {"b", (void *)(uintptr_t)b, 44}}, 2,
        (const kernel_port[]){{"s", sum, 44}, {"p", product, 44}, {"q", quotient, 44}, {"f", floored, 44}}, 4));
    for (int i = 0; i < 11; i++) {
        CHECK_INT(sum[i], (int32_t)(uint32_t)((int64_t)a[i] + b[i]));
        CHECK_INT(product[i], (int32_t)(uint32_t)((int64_t)a[i] * b[i]));
        CHECK_INT(quotient[i], b[i] == 0 ? 0 : (int32_t)(uint32_t)((int64_t)a[i] / b[i]));
        CHECK_INT(floored[i], b[i] == 0 ? 0 : (int32_t)(uint32_t)floor_divide(a[i], b[i]));
    }
}

static void test_integer_powers(void)
{
    static const int32_t a[] = {2, -3, 10, 1, -1, -1, 0, 0, 5, 3};
    static const int32_t b[] = {10, 3, 0, -5, -3, -4, 0, 3, -1, 40};
    static const int32_t expected[] = {1024, -27, 1, 1, -1, 1, 1, 0, 0, (int32_t)(uint32_t)12157665459056928801ull};
    int32_t y[10];
    REQUIRE(kernel_run(
        RUN_TEXT("tensor<int32, [10]> a, tensor<int32, [10]> b", "tensor<int32, [10]> y = pow(x = a, y = b);\n", "y"),
        1, (const kernel_port[]){{"a", (void *)(uintptr_t)a, 40}, {"b", (void *)(uintptr_t)b, 40}}, 2,
        &(kernel_port){"y", y, 40}, 1));
    for (int i = 0; i < 10; i++)
        CHECK_INT(y[i], expected[i]);
}

/* ---- NaN, signed powers, epsilons ---- */

static void test_maximum_and_minimum_pass_nan_on(void)
{
    const float a[] = {NAN, 1, NAN, 2, -INFINITY}, b[] = {1, NAN, NAN, 3, INFINITY};
    float high[5], low[5];
    REQUIRE(kernel_run(RUN_TEXT("tensor<fp32, [5]> a, tensor<fp32, [5]> b",
                                "tensor<fp32, [5]> h = maximum(x = a, y = b);\n"
                                "tensor<fp32, [5]> l = minimum(x = a, y = b);\n",
                                "h, l"),
                       1, (const kernel_port[]){{"a", (void *)(uintptr_t)a, 20}, {"b", (void *)(uintptr_t)b, 20}}, 2,
                       (const kernel_port[]){{"h", high, 20}, {"l", low, 20}}, 2));
    for (int i = 0; i < 3; i++)
        CHECK(isnan(high[i]) && isnan(low[i]));
    CHECK(high[3] == 3 && low[3] == 2 && high[4] == INFINITY && low[4] == -INFINITY);
}

static void test_negative_base_takes_integral_powers(void)
{
    const float x[] = {-2, -2, 4, -8, 0};
    const float y[] = {3, 2, 0.5f, 1.0f / 3, 0};
    float r[5];
    REQUIRE(kernel_run(
        RUN_TEXT("tensor<fp32, [5]> a, tensor<fp32, [5]> b", "tensor<fp32, [5]> r = pow(x = a, y = b);\n", "r"), 1,
        (const kernel_port[]){{"a", (void *)(uintptr_t)x, 20}, {"b", (void *)(uintptr_t)y, 20}}, 2,
        &(kernel_port){"r", r, 20}, 1));
    CHECK(r[0] == -8 && r[1] == 4 && r[2] == 2 && isnan(r[3]) && r[4] == 1);
}

static void test_epsilon_is_rounded_to_the_type_of_x(void)
{
    const uint16_t half_zero = 0;
    const float zero = 0;
    uint16_t half = 0;
    float single = 0;
    REQUIRE(kernel_run_one(
        RUN_TEXT("tensor<fp16, [1]> x", "tensor<fp16, [1]> y = rsqrt(epsilon = fp16(1e-12), x = x);\n", "y"), 1,
        &half_zero, 2, &half, 2));
    CHECK_INT(half, 0x7c00); /* 1e-12 is 0 in fp16 */
    REQUIRE(kernel_run_one(
        RUN_TEXT("tensor<fp32, [1]> x", "tensor<fp32, [1]> y = rsqrt(epsilon = fp32(1e-12), x = x);\n", "y"), 1, &zero,
        4, &single, 4));
    CHECK_NEAR(single, 1e6, 0.2);
}

/* log's default is the smallest subnormal fp32 and 0 in fp16; inverse's 1e-4 is 1.0002e-4 in fp16. */
static void test_default_epsilons_at_zero(void)
{
    const uint16_t half_zero = 0;
    const float zero = 0;
    uint16_t half[3] = {0};
    float single[3] = {0};
    const char *singles = RUN_TEXT("tensor<fp32, [1]> x",
                                   "tensor<fp32, [1]> a = log(x = x);\ntensor<fp32, [1]> b = inverse(x = x);\n"
                                   "tensor<fp32, [1]> c = rsqrt(x = x);\n",
                                   "a, b, c");
    REQUIRE(kernel_run(singles, 1, &(kernel_port){"x", (void *)(uintptr_t)&zero, 4}, 1,
                       (const kernel_port[]){{"a", &single[0], 4}, {"b", &single[1], 4}, {"c", &single[2], 4}}, 3));
    CHECK_NEAR(single[0], -103.2789, 1e-4);
    CHECK_NEAR(single[1], 1e4, 1e-2);
    CHECK_NEAR(single[2], 1e6, 0.2);
    const char *halves = RUN_TEXT("tensor<fp16, [1]> x",
                                  "tensor<fp16, [1]> a = log(x = x);\ntensor<fp16, [1]> b = inverse(x = x);\n"
                                  "tensor<fp16, [1]> c = rsqrt(x = x);\n",
                                  "a, b, c");
    REQUIRE(kernel_run(halves, 1, &(kernel_port){"x", (void *)(uintptr_t)&half_zero, 2}, 1,
                       (const kernel_port[]){{"a", &half[0], 2}, {"b", &half[1], 2}, {"c", &half[2], 2}}, 3));
    CHECK_INT(half[0], 0xfc00);
    CHECK_INT(half[1], mw__fp16_from_float(1.0f / mw__fp16_to_float(mw__fp16_from_float(1e-4f))));
    CHECK_INT(half[2], 0x7c00);
}

static void test_ties_round_to_even(void)
{
    const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 8388607.5f}, expected[] = {0, 2, 2, 0, -2, -2, 8388608};
    float y[7];
    REQUIRE(kernel_run_one(RUN_TEXT("tensor<fp32, [7]> x", "tensor<fp32, [7]> y = round(x = x);\n", "y"), 1, x,
                           sizeof x, y, sizeof y));
    for (int i = 0; i < 7; i++)
        CHECK(y[i] == expected[i]);
}

/* ---- casts ---- */

static void test_float_to_integer_truncates_and_saturates(void)
{
    const float x[] = {2.9f, -2.9f, 3e9f, -3e9f, INFINITY, -INFINITY, NAN, 0.0f, 300.0f};
    static const int32_t wide[] = {2, -2, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, 0, 300};
    static const uint8_t narrow[] = {2, 0, 255, 0, 255, 0, 0, 0, 255};
    static const uint8_t truth[] = {1, 1, 1, 1, 1, 1, 1, 0, 1};
    int32_t i32[9];
    uint8_t u8[9], boolean[9];
    REQUIRE(kernel_run(RUN_TEXT("tensor<fp32, [9]> x",
                                "tensor<int32, [9]> i = cast(dtype = string(\"int32\"), x = x);\n"
                                "tensor<uint8, [9]> u = cast(dtype = string(\"uint8\"), x = x);\n"
                                "tensor<bool, [9]> b = cast(dtype = string(\"bool\"), x = x);\n",
                                "i, u, b"),
                       1, &(kernel_port){"x", (void *)(uintptr_t)x, 36}, 1,
                       (const kernel_port[]){{"i", i32, 36}, {"u", u8, 9}, {"b", boolean, 9}}, 3));
    for (int i = 0; i < 9; i++) {
        CHECK_INT(i32[i], wide[i]);
        CHECK_INT(u8[i], narrow[i]);
        CHECK_INT(boolean[i], truth[i]);
    }
}

static void test_half_overflows_to_infinity(void)
{
    const float x[] = {65504, 65519, 65520, -1e9f, 1.00048828125f, 1.00146484375f};
    static const uint16_t expected[] = {0x7bff, 0x7bff, 0x7c00, 0xfc00, 0x3c00, 0x3c02};
    uint16_t y[6];
    REQUIRE(kernel_run_one(
        RUN_TEXT("tensor<fp32, [6]> x", "tensor<fp16, [6]> y = cast(dtype = string(\"fp16\"), x = x);\n", "y"), 1, x,
        sizeof x, y, sizeof y));
    for (int i = 0; i < 6; i++)
        CHECK_INT(y[i], expected[i]);
}

static void test_integer_to_half_rounds_once(void)
{
    static const int32_t x[] = {2049, 2051, 65519, 65520, -2049};
    static const uint16_t expected[] = {0x6800, 0x6802, 0x7bff, 0x7c00, 0xe800};
    uint16_t y[5];
    REQUIRE(kernel_run_one(
        RUN_TEXT("tensor<int32, [5]> x", "tensor<fp16, [5]> y = cast(dtype = string(\"fp16\"), x = x);\n", "y"), 1, x,
        20, y, 10));
    for (int i = 0; i < 5; i++)
        CHECK_INT(y[i], expected[i]);
}

/* ---- broadcasting ---- */

#define AXES 4
typedef struct shapes {
    int64_t a[AXES], b[AXES]; /* 0 ends a shape from the left: leading axes that are missing */
} shapes;

static const shapes broadcasts[] = {
    {{0, 0, 37, 19}, {0, 0, 37, 19}}, {{0, 0, 128, 10}, {0, 0, 0, 10}}, {{0, 0, 0, 0}, {0, 0, 33, 70}},
    {{0, 0, 65, 1}, {0, 0, 65, 33}},  {{0, 0, 29, 1}, {0, 0, 1, 31}},   {{2, 3, 5, 7}, {0, 3, 1, 7}},
    {{2, 1, 5, 1}, {1, 3, 1, 7}},     {{0, 0, 0, 1000}, {0, 0, 0, 1}},  {{0, 0, 3, 1500}, {0, 0, 0, 1500}},
    {{4, 6, 1, 1}, {4, 6, 9, 9}},
};

static int64_t extent_of(const int64_t *shape, int axis) { return shape[axis] == 0 ? 1 : shape[axis]; }

static int64_t count_of(const int64_t *shape)
{
    int64_t count = 1;
    for (int axis = 0; axis < AXES; axis++)
        count *= extent_of(shape, axis);
    return count;
}

static const char *print_type(char *buffer, size_t size, const char *dtype, const int64_t *shape)
{
    int used = snprintf(buffer, size, "tensor<%s, [", dtype);
    bool first = true;
    for (int axis = 0; axis < AXES; axis++)
        if (shape[axis] != 0) {
            used += snprintf(buffer + used, size - (size_t)used, first ? "%lld" : ", %lld", (long long)shape[axis]);
            first = false;
        }
    snprintf(buffer + used, size - (size_t)used, "]>");
    return buffer;
}

static void result_shape(const shapes *s, int64_t *out)
{
    for (int axis = 0; axis < AXES; axis++) {
        const int64_t a = extent_of(s->a, axis), b = extent_of(s->b, axis);
        out[axis] = s->a[axis] == 0 && s->b[axis] == 0 ? 0 : a > b ? a : b;
    }
}

/* The element of an operand that belongs to element `at` of the result. */
static int64_t source(const int64_t *operand, const int64_t *result, int64_t at)
{
    int64_t offset = 0, below = 1;
    for (int axis = AXES - 1; axis >= 0; axis--) {
        const int64_t index = at % extent_of(result, axis);
        at /= extent_of(result, axis);
        offset += extent_of(operand, axis) == 1 ? 0 : index * below;
        below *= extent_of(operand, axis);
    }
    return offset;
}

static float rounded(float value, bool half) { return half ? mw__fp16_to_float(mw__fp16_from_float(value)) : value; }

typedef struct broadcast_run {
    float a[4608], b[4608], r[4608];
    uint16_t half_a[4608], half_b[4608], half_r[4608];
    uint8_t less[4608];
} broadcast_run;

static void check_broadcast(broadcast_run *d, const shapes *s, uint64_t threads, bool half)
{
    char text[1024], parameters[256], body[512], ta[64], tb[64], tr[64], tl[64];
    int64_t result[AXES];
    const char *dtype = half ? "fp16" : "fp32";
    result_shape(s, result);
    snprintf(parameters, sizeof parameters, "%s a, %s b", print_type(ta, sizeof ta, dtype, s->a),
             print_type(tb, sizeof tb, dtype, s->b));
    snprintf(body, sizeof body, "%s r = sub(x = a, y = b); %s l = less(x = a, y = b);",
             print_type(tr, sizeof tr, dtype, result), print_type(tl, sizeof tl, "bool", result));
    const size_t na = (size_t)count_of(s->a), nb = (size_t)count_of(s->b), nr = (size_t)count_of(result);
    uint32_t seed = 5;
    for (size_t i = 0; i < na; i++)
        d->a[i] = rounded(kernel_random(&seed), half), d->half_a[i] = mw__fp16_from_float(d->a[i]);
    for (size_t i = 0; i < nb; i++)
        d->b[i] = rounded(kernel_random(&seed), half), d->half_b[i] = mw__fp16_from_float(d->b[i]);
    const size_t size = half ? 2 : 4;
    const kernel_port in[] = {{"a", half ? (void *)d->half_a : d->a, na * size},
                              {"b", half ? (void *)d->half_b : d->b, nb * size}};
    const kernel_port out[] = {{"r", half ? (void *)d->half_r : d->r, nr * size}, {"l", d->less, nr}};
    REQUIRE(kernel_run(kernel_text(text, sizeof text, parameters, body, "r, l"), threads, in, 2, out, 2));
    for (size_t i = 0; i < nr; i++) {
        const float a = d->a[source(s->a, result, (int64_t)i)], b = d->b[source(s->b, result, (int64_t)i)];
        const float got = half ? mw__fp16_to_float(d->half_r[i]) : d->r[i];
        if (!check_note(got == rounded(a - b, half) && d->less[i] == (a < b), __FILE__, __LINE__,
                        "%s minus %s, %d threads: element %zu is %g", ta, tb, (int)threads, i, (double)got))
            return;
    }
}

static void test_operands_broadcast(void)
{
    broadcast_run *data = calloc(1, sizeof *data);
    REQUIRE(data != NULL);
    for (size_t i = 0; i < COUNT(broadcasts); i++)
        for (size_t threads = 0; threads < COUNT(thread_counts); threads++) {
            check_broadcast(data, &broadcasts[i], thread_counts[threads], false);
            check_broadcast(data, &broadcasts[i], thread_counts[threads], true);
        }
    free(data);
}

/* cond [9, 1], a scalar, b [9, 40]: three kinds of operand at once, in every element size. */
static void test_select_broadcasts_all_three(void)
{
    for (size_t k = 0; k < COUNT(thread_counts); k++) {
        uint8_t cond[9];
        int32_t a = -5, b[360], y[360];
        for (int i = 0; i < 9; i++)
            cond[i] = (uint8_t)(i % 2);
        for (int i = 0; i < 360; i++)
            b[i] = i;
        REQUIRE(kernel_run(RUN_TEXT("tensor<bool, [9, 1]> c, tensor<int32, [1]> a, tensor<int32, [9, 40]> b",
                                    "tensor<int32, [9, 40]> y = select(a = a, b = b, cond = c);\n", "y"),
                           thread_counts[k],
                           (const kernel_port[]){{"c", cond, sizeof cond}, {"a", &a, sizeof a}, {"b", b, sizeof b}}, 3,
                           &(kernel_port){"y", y, sizeof y}, 1));
        for (int i = 0; i < 360; i++)
            CHECK_INT(y[i], i / 40 % 2 != 0 ? -5 : i);
    }
}

int main(void)
{
    RUN(test_integers_wrap_and_divide_without_traps);
    RUN(test_integer_powers);
    RUN(test_maximum_and_minimum_pass_nan_on);
    RUN(test_negative_base_takes_integral_powers);
    RUN(test_epsilon_is_rounded_to_the_type_of_x);
    RUN(test_default_epsilons_at_zero);
    RUN(test_ties_round_to_even);
    RUN(test_float_to_integer_truncates_and_saturates);
    RUN(test_half_overflows_to_infinity);
    RUN(test_integer_to_half_rounds_once);
    RUN(test_operands_broadcast);
    RUN(test_select_broadcasts_all_three);
    return check_finish();
}
