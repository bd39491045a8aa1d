/* Every published number of rules/facts.def, computed by the model: a function a row. Where the model does not
 * match, the function says what it gives instead. Numbers are those of the sources, not of an earlier run. */
#include "base/number/fp16.h"
#include "support/check.h"
#include "support/chip/text_run.h"

#include <stdlib.h>

#define IS(actual, expected) is((double)(actual), (double)(expected), __LINE__, #actual)

static void is(double actual, double expected, int line, const char *text)
{
    check_note(actual == expected, __FILE__, line, "%s is %g, not %g", text, actual, expected);
}

static const char *profile_of_row; /* of the row that is tested */

static float one(const char *expression, float x) { return text_of_one(profile_of_row, expression, x); }
static float two(const char *expression, float x, float z) { return text_of_two(profile_of_row, expression, x, z); }

/* x . ones, by matmul. */
static float by_matmul(const char *profile, const float *x, size_t count)
{
    char signature[128];
    float y = NAN, *ones = malloc(count * sizeof *ones);
    for (size_t i = 0; ones != NULL && i < count; i++)
        ones[i] = 1.0f;
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %zu]> x, tensor<fp16, [%zu, 1]> ones", count, count);
    text_run(
        profile, signature,
        "bool no = const()[name = string(\"no\"), val = bool(false)];\n"
        "tensor<fp16, [1, 1]> y = matmul(transpose_x = no, transpose_y = no, x = x, y = ones)[name = string(\"y\")];",
        (text_port[]){{"x", x, count}, {"ones", ones, count}}, 2, &y, 1);
    free(ones);
    return y;
}

static float by_reduce(const char *profile, const float *x, size_t count)
{
    char signature[64];
    float y = NAN;
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %zu]> x", count);
    text_run(profile, signature,
             "tensor<int32, [1]> axes = const()[name = string(\"axes\"), val = tensor<int32, [1]>([1])];\n"
             "bool keep = const()[name = string(\"keep\"), val = bool(true)];\n"
             "tensor<fp16, [1, 1]> y = reduce_sum(axes = axes, keep_dims = keep, x = x)[name = string(\"y\")];",
             &(text_port){"x", x, count}, 1, &y, 1);
    return y;
}

static float sum_of_ones(const char *profile, size_t count, float (*sum)(const char *, const float *, size_t))
{
    float *x = malloc(count * sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++)
        x[i] = 1.0f;
    const float y = x != NULL ? sum(profile, x, count) : NAN;
    free(x);
    return y;
}

/* ---- the rows ---- */

static void fact_sum_of_4096_and_ones(void)
{
    float x[1025];
    for (int i = 0; i < 1025; i++)
        x[i] = i == 0 ? 4096.0f : 1.0f;
    IS(by_matmul(profile_of_row, x, 1025), 5116);
    IS(by_matmul("h13", x, 1025), 5120); /* sums in fp32 */
}

static void fact_survivors(void)
{
    static const float rows[][2] = {{1024, 16}, {3000, 16}, {4090, 16}, {4096, 4}, {8000, 4}, {16000, 4}, {30000, 4}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const float b = rows[r][0];
        float first[48], second[48];
        for (int i = 0; i < 48; i++) {
            first[i] = (float[]){b, -b, 1.0f}[i % 3];
            second[i] = (float[]){b, 1.0f, -b}[i % 3];
        }
        IS(by_matmul(profile_of_row, first, 48), rows[r][1]);
        IS(by_matmul(profile_of_row, second, 48), rows[r][1]);
    }
}

static void fact_sum_of_16384_ones(void) { IS(sum_of_ones(profile_of_row, 16384, by_matmul), 16384); }

static void fact_product_ceiling(void)
{
    static const char *const profiles[] = {"h13", "h14", "h15", "h16", "h17"};
    for (size_t p = 0; p < 5; p++) {
        IS(by_matmul(profiles[p], (float[]){32752}, 1), 32752);
        IS(by_matmul(profiles[p], (float[]){32768}, 1), INFINITY);
        IS(by_matmul(profiles[p], (float[]){-32768}, 1), -INFINITY);
        IS(by_matmul(profiles[p], (float[]){16384, 16384}, 2), INFINITY);
    }
    IS(by_matmul("ieee", (float[]){32768}, 1), 32768);
}

static float conv_of(float x, int channels)
{
    char signature[160];
    float y = NAN, xs[2] = {x, 0}, ones[2] = {1, 1};
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %d, 1, 1]> x, tensor<fp16, [1, %d, 1, 1]> w", channels,
             channels);
    text_run(
        profile_of_row, signature,
        "tensor<fp16, [1, 1, 1, 1]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), "
        "pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"custom\"), strides = tensor<int32, [2]>([1, 1]), "
        "weight = w, x = x)[name = string(\"y\")];",
        (text_port[]){{"x", xs, (size_t)channels}, {"w", ones, (size_t)channels}}, 2, &y, 1);
    return y;
}

/* x . w by a 1x1 conv. */
static float by_conv(const char *profile, const float *x, const float *w, int channels)
{
    char signature[160];
    float y = NAN;
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %d, 1, 1]> x, tensor<fp16, [1, %d, 1, 1]> w", channels,
             channels);
    text_run(
        profile, signature,
        "tensor<fp16, [1, 1, 1, 1]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), "
        "pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"custom\"), strides = tensor<int32, [2]>([1, 1]), "
        "weight = w, x = x)[name = string(\"y\")];",
        (text_port[]){{"x", x, (size_t)channels}, {"w", w, (size_t)channels}}, 2, &y, 1);
    return y;
}

static float sum_by_conv(float a, float b, float c, float d, float e)
{
    return by_conv(profile_of_row, (float[]){a, b, c, d, e}, (float[]){1, 1, 1, 1, 1}, 5);
}

static void fact_fixed_grid(void)
{
    IS(sum_by_conv(0x1p-17f, 0, 0, 0, 0), 0x1p-16);
    IS(sum_by_conv(0x1p-18f, 0, 0, 0, 0), 0);
    IS(sum_by_conv(0x1p-20f, 0, 0, 0, 0), 0);
    IS(by_conv("h17", (float[]){0x1p-18f, 0}, (float[]){1, 1}, 2), 0x1p-18);
}

static void fact_fixed_ceiling(void)
{
    IS(sum_by_conv(16384, 16384, -16384, -16384, 1), INFINITY);
    IS(sum_by_conv(16384, 16376, 0, 0, 0), 32768);
    IS(sum_by_conv(16384, -16384, 16384, -16384, 1), 1); /* in another order nothing overflows */
}

static void fact_fixed_ties(void)
{
    IS(sum_by_conv(2048, 1, 0, 0, 0), 2050);
    IS(sum_by_conv(1, 0x1p-11f, 0, 0, 0), 0x1.004p+0);
}

static void fact_fixed_cancels(void) { IS(sum_by_conv(16384, 0x1p-18f, -16384, 0, 0), 0); }

static void fact_fixed_drops(void)
{
    const float a[] = {0x1p-8f, 0}, b[] = {0x1p-9f, 0}, c[] = {0x1.fa8p-9f, 0}, d[] = {0x1.fa8p-8f, 0};
    IS(by_conv(profile_of_row, a, b, 2), 0);
    IS(by_conv(profile_of_row, c, d, 2), 0);
    IS(by_conv("h16", a, b, 2), 0x1p-16);
    IS(by_conv("h16", c, d, 2), 0x1p-15);
}

static void fact_fitted_tables(void)
{
    CHECK_NEAR(one("gelu(mode = string(\"EXACT\"), x = x)", 0), -0.000754, 5e-7);
    CHECK_NEAR(one("silu(x = x)", 0), -0.001704, 5e-7);
    CHECK_NEAR(one("silu(x = x)", 0.5f) - 0.5 / (1.0 + exp(-0.5)), -0.0149, 1e-4);
}

static void fact_pointwise_conv(void)
{
    IS(conv_of(60000, 1), 60000);
    IS(conv_of(60000, 2), INFINITY);
}

static void fact_reduce_sum_range(void)
{
    IS(by_reduce(profile_of_row, (float[]){32752, 32752}, 2), 65504);
    IS(by_reduce(profile_of_row, (float[]){32768, 32768}, 2), INFINITY);
}

static void fact_reduce_sum_m1(void)
{
    IS(sum_of_ones(profile_of_row, 2048, by_reduce), 2048);
    IS(sum_of_ones(profile_of_row, 2049, by_reduce), 2048);
    IS(sum_of_ones("h13,narrow_sums", 3000, by_reduce), 2048); /* what a running sum would give */
}

static void fact_reduce_sum_m5(void)
{
    static const char *const profiles[] = {"h14", "h15", "h16", "h17"};
    for (size_t p = 0; p < 4; p++) {
        IS(sum_of_ones(profiles[p], 2048, by_reduce), 2048);
        IS(sum_of_ones(profiles[p], 2049, by_reduce), 2050);
    }
}

/* Of [v, v] in its last or its first axis of two, from element `begin` on. */
static float slice_of(const char *profile, float v, int axis, int begin)
{
    char statement[400], signature[64];
    float y = NAN;
    snprintf(signature, sizeof signature, "tensor<fp16, [%d, %d]> x", axis == 0 ? 2 : 1, axis == 0 ? 1 : 2);
    snprintf(statement, sizeof statement,
             "tensor<fp16, [1, 1]> y = slice_by_size(begin = tensor<int32, [2]>([%d, %d]), "
             "size = tensor<int32, [2]>([1, 1]), x = x)[name = string(\"y\")];",
             axis == 0 ? begin : 0, axis == 1 ? begin : 0);
    text_run(profile, signature, statement, &(text_port){"x", (float[]){v, v}, 2}, 1, &y, 1);
    return y;
}

static void fact_width_slice(void)
{
    static const char *const clamped[] = {"h13", "h14", "h15"}, *const exact[] = {"h16", "h17"};
    for (size_t p = 0; p < 3; p++) {
        IS(slice_of(clamped[p], 4094, 1, 1), 4094);
        IS(slice_of(clamped[p], 4096, 1, 1), INFINITY);
        IS(slice_of(clamped[p], -4096, 1, 1), -INFINITY);
        IS(slice_of(clamped[p], 60000, 1, 0), 60000);
        IS(slice_of(clamped[p], 60000, 0, 1), 60000);
    }
    for (size_t p = 0; p < 2; p++)
        IS(slice_of(exact[p], 60000, 1, 1), 60000);
}

/* The largest error of a function over fp16 numbers of [-limit, limit]. */
static double error_of(const char *name, double (*exact)(double), float limit)
{
    enum { COUNT = 8192 };
    static float x[COUNT], y[COUNT];
    char statement[160];
    double most = 0.0;
    for (int i = 0; i < COUNT; i++)
        x[i] = mw__fp16_to_float(mw__fp16_from_float(limit * (2.0f * (float)i / (COUNT - 1) - 1.0f)));
    snprintf(statement, sizeof statement, "tensor<fp16, [%d]> y = %s(x = x)[name = string(\"y\")];", COUNT, name);
    if (!text_run(profile_of_row, "tensor<fp16, [8192]> x", statement, &(text_port){"x", x, COUNT}, 1, y, COUNT))
        return NAN;
    for (int i = 0; i < COUNT; i++)
        most = fmax(most, fabs((double)y[i] - exact((double)x[i])));
    return most;
}

static double sigmoid_of(double x) { return 1.0 / (1.0 + exp(-x)); }

static void fact_sigmoid_error(void)
{
    CHECK_NEAR(error_of("sigmoid", sigmoid_of, 12.0f), 0.0034, 0.0001);
    IS(one("sigmoid(x = x)", -9.9375f), 0);
    IS(one("sigmoid(x = x)", 8.3203125f), 1);
    IS(one("sigmoid(x = x)", -1.0f), mw__fp16_to_float(mw__fp16_from_double(sigmoid_of(-1.0))));
}

static void fact_tanh_error(void)
{
    CHECK_NEAR(error_of("tanh", tanh, 12.0f), 0.0017, 0.0001); /* published to two digits */
    IS(one("tanh(x = x)", 0.0f), 0);
}

static double gelu_of(double x) { return 0.5 * x * (1.0 + erf(x / sqrt(2.0))); }
static double silu_of(double x) { return x * sigmoid_of(x); }

/* The least value at 0 of lines between 33 knots of the function in fp16, over ranges from -10..-2 to 1..10. */
static double least_at_zero(double (*function)(double))
{
    double least = INFINITY;
    for (double low = -10.0; low <= -2.0; low += 0.0625)
        for (double high = 1.0; high <= 10.0; high += 0.0625) {
            const double step = (high - low) / 32.0, before = floor(-low / step), from = low + before * step;
            const double left = (double)mw__fp16_to_float(mw__fp16_from_double(function(from))),
                         right = (double)mw__fp16_to_float(mw__fp16_from_double(function(from + step)));
            least = fmin(least, left + (right - left) * -from / step);
        }
    return least;
}

static void fact_gelu_error(void)
{
    CHECK(least_at_zero(gelu_of) > -0.00001);
    IS(one("gelu(mode = string(\"EXACT\"), x = x)", 0.0f), 0);
}

static void fact_silu_at_zero(void)
{
    CHECK(least_at_zero(silu_of) > -0.00001);
    IS(one("silu(x = x)", 0.0f), 0);
}

static void fact_elu_error(void)
{
    IS(one("elu(alpha = fp16(1), x = x)", -1.0f), mw__fp16_to_float(mw__fp16_from_double(expm1(-1.0))));
}

static void fact_exp_overflow(void)
{
    IS(one("exp(x = x)", 11.09375f), INFINITY);
    CHECK(one("exp(x = x)", 11.0859375f) < 65505.0f);
}

#define LOG "log(epsilon = fp16(0), x = x)"

static void fact_log_of_zero(void) { IS(one(LOG, 0.0f), -45440); }

static void fact_log_of_infinity(void)
{
    IS(one(LOG, INFINITY), 0);
    IS(one("cos(x = x)", INFINITY), 0);
}

static void fact_softplus_of_infinity(void)
{
    IS(one("softplus(x = x)", INFINITY), 0);
    IS(one("softplus(x = x)", 11.09375f), 0);
    CHECK_NEAR(one("softplus(x = x)", 11.0f), 11.0, 0.01);
    IS(one("softsign(x = x)", INFINITY), 0);
}

static void fact_mul_of_infinity(void)
{
    IS(two("mul(x = x, y = z)", INFINITY, 2.0f), INFINITY);
    IS(two("mul(x = x, y = z)", INFINITY, 0.0f), 0);
}

static void fact_nan_in(void)
{
    IS(two("add(x = x, y = z)", NAN, 0.0f), INFINITY);
    IS(one("relu(x = x)", NAN), INFINITY);
    IS(one("exp(x = x)", NAN), INFINITY);
    IS(two("maximum(x = x, y = z)", NAN, 1.0f), INFINITY);
    IS(one("sigmoid(x = x)", NAN), 1);
    IS(one("tanh(x = x)", NAN), 1);
    IS(one("erf(x = x)", NAN), 1);
}

static void softmax_of(const float x[4], float y[4])
{
    text_run(profile_of_row, "tensor<fp16, [1, 4]> x",
             "int32 axis = const()[name = string(\"axis\"), val = int32(1)];\n"
             "tensor<fp16, [1, 4]> y = softmax(axis = axis, x = x)[name = string(\"y\")];",
             &(text_port){"x", x, 4}, 1, y, 4);
}

static void fact_nan_in_softmax(void)
{
    float y[4] = {NAN, NAN, NAN, NAN};
    softmax_of((float[]){NAN, 1, 2, 3}, y);
    for (int i = 0; i < 4; i++)
        IS(y[i], i == 0);
}

static void fact_no_nan_out(void)
{
    IS(two("sub(x = x, y = z)", INFINITY, INFINITY), 0);
    IS(two("mul(x = x, y = z)", 0.0f, INFINITY), 0);
    IS(one("sqrt(x = x)", -1.0f), 0);
    IS(one("rsqrt(epsilon = fp16(0), x = x)", -1.0f), 0);
    IS(one(LOG, -1.0f), 0);
}

static void fact_denormals_in_elements(void)
{
    IS(two("add(x = x, y = z)", 0x1p-24f, 0.0f), 0x1p-24);
    IS(two("mul(x = x, y = z)", 0x1p-24f, 1.0f), 0x1p-24);
}

static void fact_denormals_in_products(void)
{
    IS(by_matmul("h13", (float[]){0x1p-20f, 0x1p-20f}, 2), 0);
    IS(by_matmul("h17", (float[]){0x1p-20f, 0x1p-20f}, 2), 0x1p-19);
    IS(by_matmul("h13", (float[]){0x1p-14f}, 1), 0x1p-14);
}

static void fact_reciprocal_of_minus_zero(void)
{
    IS(one("inverse(epsilon = fp16(0), x = x)", -0.0f), INFINITY);
    IS(one("rsqrt(epsilon = fp16(0), x = x)", -0.0f), INFINITY);
}

static void fact_ties(void)
{
    IS(two("add(x = x, y = z)", 2048.0f, 1.0f), 2048);
    IS(two("add(x = x, y = z)", 2050.0f, 1.0f), 2052);
}

static void fact_bytes_by_255(void)
{
    float x[256], y[256];
    int differ[2] = {0, 0};
    for (int i = 0; i < 256; i++)
        x[i] = (float)i;
    for (int k = 0; k < 2; k++) {
        REQUIRE(text_run(k == 0 ? profile_of_row : "h17,-mul_ties_away", "tensor<fp16, [256]> x",
                         "fp16 k = const()[name = string(\"k\"), val = fp16(0x1.01p-8)];\n"
                         "tensor<fp16, [256]> y = mul(x = x, y = k)[name = string(\"y\")];",
                         &(text_port){"x", x, 256}, 1, y, 256));
        for (int i = 0; i < 256; i++)
            differ[k] += y[i] != mw__fp16_to_float(mw__fp16_from_double(i / 255.0));
    }
    CHECK_INT(differ[0], 0);
    CHECK_INT(differ[1], 10);
}

static void fact_round_of_halves(void)
{
    IS(one("round(x = x)", 0.5f), 1);
    IS(one("round(x = x)", 1.5f), 2);
    IS(one("round(x = x)", 2.5f), 3);
    IS(one("round(x = x)", -2.5f), -3);
    IS(text_of_one("ieee", "round(x = x)", 2.5f), 2);
}

static void fact_softmax_of_large(void)
{
    float y[4] = {NAN, NAN, NAN, NAN};
    softmax_of((float[]){1000, 1, 2, 3}, y);
    for (int i = 0; i < 4; i++)
        IS(y[i], i == 0);
}

/* ANEForge's chain, with N = 20 * 4096 numbers in a group: over ones the second sum is 81920. */
static const char *const group_norm =
    "tensor<int32, [4]> sh = const()[name = string(\"sh\"), val = tensor<int32, [4]>([1, 32, 20, 4096])];\n"
    "tensor<fp16, [1, 32, 20, 4096]> r = reshape(shape = sh, x = x)[name = string(\"r\")];\n"
    "tensor<int32, [1]> a3 = const()[name = string(\"a3\"), val = tensor<int32, [1]>([3])];\n"
    "tensor<int32, [1]> a2 = const()[name = string(\"a2\"), val = tensor<int32, [1]>([2])];\n"
    "bool kd = const()[name = string(\"kd\"), val = bool(true)];\n"
    "fp16 n = const()[name = string(\"n\"), val = fp16(0x1.998p-17)];\n"
    "fp16 eps = const()[name = string(\"eps\"), val = fp16(0x1.5p-17)];\n"
    "tensor<fp16, [1, 32, 20, 1]> s0 = reduce_sum(axes = a3, keep_dims = kd, x = r)[name = string(\"s0\")];\n"
    "tensor<fp16, [1, 32, 1, 1]> s1 = reduce_sum(axes = a2, keep_dims = kd, x = s0)[name = string(\"s1\")];\n"
    "tensor<fp16, [1, 32, 1, 1]> mean = mul(x = s1, y = n)[name = string(\"mean\")];\n"
    "tensor<fp16, [1, 32, 20, 4096]> c = sub(x = r, y = mean)[name = string(\"c\")];\n"
    "tensor<fp16, [1, 32, 20, 4096]> q = mul(x = c, y = c)[name = string(\"q\")];\n"
    "tensor<fp16, [1, 32, 20, 1]> v0 = reduce_sum(axes = a3, keep_dims = kd, x = q)[name = string(\"v0\")];\n"
    "tensor<fp16, [1, 32, 1, 1]> v1 = reduce_sum(axes = a2, keep_dims = kd, x = v0)[name = string(\"v1\")];\n"
    "tensor<fp16, [1, 32, 1, 1]> var = mul(x = v1, y = n)[name = string(\"var\")];\n"
    "tensor<fp16, [1, 32, 1, 1]> ve = add(x = var, y = eps)[name = string(\"ve\")];\n"
    "tensor<fp16, [1, 32, 1, 1]> rs = rsqrt(epsilon = fp16(0), x = ve)[name = string(\"rs\")];\n"
    "tensor<fp16, [1, 32, 20, 4096]> o = mul(x = c, y = rs)[name = string(\"o\")];\n"
    "tensor<int32, [4]> so = const()[name = string(\"so\"), val = tensor<int32, [4]>([1, 640, 64, 64])];\n"
    "tensor<fp16, [1, 640, 64, 64]> y = reshape(shape = so, x = o)[name = string(\"y\")];";

enum { GROUP = 20 * 4096, NUMBERS = 32 * GROUP };

/* The largest difference from group norm in double precision. */
static double group_norm_error(const char *profile, const float *x, float *y)
{
    double most = 0.0;
    if (!text_run(profile, "tensor<fp16, [1, 640, 64, 64]> x", group_norm, &(text_port){"x", x, NUMBERS}, 1, y,
                  NUMBERS))
        return NAN;
    for (int g = 0; g < 32; g++) {
        const float *from = x + g * GROUP;
        double mean = 0.0, variance = 0.0;
        for (int i = 0; i < GROUP; i++)
            mean += (double)from[i] / GROUP;
        for (int i = 0; i < GROUP; i++)
            variance += ((double)from[i] - mean) * ((double)from[i] - mean) / GROUP;
        for (int i = 0; i < GROUP; i++) {
            const double error = fabs((double)y[g * GROUP + i] - ((double)from[i] - mean) / sqrt(variance + 1e-5));
            most = error == error ? fmax(most, error) : INFINITY;
        }
    }
    return most;
}

/* Numbers of a normal distribution, whose squares sum to more than fp16 holds. */
static void fact_group_norm(void)
{
    float *x = malloc(NUMBERS * sizeof *x), *y = malloc(NUMBERS * sizeof *y);
    REQUIRE(x != NULL && y != NULL);
    uint32_t state = 7;
    for (int i = 0; i < NUMBERS; i++) {
        double sum = -6.0;
        for (int k = 0; k < 12; k++) {
            state = state * 1664525u + 1013904223u;
            sum += (double)(state >> 8) / 16777216.0;
        }
        x[i] = mw__fp16_to_float(mw__fp16_from_double(sum));
    }
    CHECK(group_norm_error(profile_of_row, x, y) < 0.03);
    CHECK(!(group_norm_error("h17,-wide_chains", x, y) < 0.03)); /* v1 is infinite */
    free(x);
    free(y);
}

static void fact_quotient_by_zero(void)
{
    IS(two("real_div(x = x, y = z)", 1.0f, 0.0f), 0);
    IS(two("real_div(x = x, y = z)", 0.0f, 0.0f), 0);
    IS(two("real_div(x = x, y = z)", 1.0f, -0.0f), 0);
    IS(two("real_div(x = x, y = z)", 1.0f, 2.0f), 0.5);
}

static void fact_trigonometry(void) { CHECK_NEAR(one("atan(x = x)", 1.0f), 0.7853982, 0.0005); }

static void fact_tanh_times_sigmoid(void)
{
    const float y = one("tanh(x = x)", 0.1f), s = one("sigmoid(x = x)", 0.1f);
    CHECK_INT(mw__fp16_from_float(two("mul(x = x, y = z)", y, s)), 0x2ab2);
}

/* ---- the table ---- */

typedef struct fact {
    const char *id, *profile;
    void (*test)(void);
} fact;

static const fact facts[] = {
#define MW_FACT(id, quantity, published, source, profile, verdict) {#id, profile, fact_##id},
#include "rules/facts.def"
#undef MW_FACT
};

int main(void)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        profile_of_row = facts[i].profile;
        check_begin(facts[i].id);
        facts[i].test();
        check_end();
    }
    return check_finish();
}
