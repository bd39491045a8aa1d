/* The vectors that were measured on M4 and M6 (../shared/data/ane-numerics, read there and never copied), each on the
 * model of its chip. */
#include "base/number/fp16.h"
#include "support/check.h"
#include "support/chip/text_run.h"
#include "support/chip/vector_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 64 };

/* ---- products_fp16.tsv ---- */

typedef struct product_row {
    float weight[CHANNELS], x[CHANNELS], bias, expected;
} product_row;

/* "1 each", "0.25 first, else 0" */
static void read_weights(const char *text, float *weight)
{
    const float value = strtof(text, NULL);
    for (int i = 0; i < CHANNELS; i++)
        weight[i] = i == 0 || strstr(text, "each") != NULL ? value : 0.0f;
}

/* Numbers, and '0*61' for so many zeros; "bits 0xFE00". The rest are zeros. */
static bool read_inputs(const char *text, float *x)
{
    int count = 0;
    memset(x, 0, CHANNELS * sizeof *x);
    if (strncmp(text, "bits ", 5) == 0) {
        x[0] = mw__fp16_to_float((uint16_t)strtoul(text + 5, NULL, 16));
        return true;
    }
    while (*text != '\0') {
        char *end;
        const bool quoted = *text == '\'';
        const float value = strtof(text + quoted, &end);
        const long times = quoted && *end == '*' ? strtol(end + 1, &end, 10) : 1;
        if (end == text + quoted)
            return false;
        for (long i = 0; i < times && count < CHANNELS; i++)
            x[count++] = value;
        text = end + quoted;
        text += strspn(text, " ");
    }
    return count > 0;
}

static void put_list(char *text, size_t size, const float *values, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s[[%a]]", i > 0 ? ", " : "", (double)values[i]);
}

/* A 1x1 conv of 64 channels to one, as it was measured. */
static float run_conv(const char *profile, const product_row *row, bool has_bias)
{
    char weights[CHANNELS * 32], statements[8192], bias[128] = "";
    float y = NAN;
    put_list(weights, sizeof weights, row->weight, CHANNELS);
    if (has_bias)
        snprintf(bias, sizeof bias, "bias = tensor<fp16, [1]>([%a]), ", (double)row->bias);
    snprintf(
        statements, sizeof statements,
        "tensor<fp16, [1, 64, 1, 1]> w = const()[name = string(\"w\"), val = tensor<fp16, [1, 64, 1, 1]>([[%s]])];\n"
        "tensor<fp16, [1, 1, 1, 1]> y = conv(%sdilations = tensor<int32, [2]>([1, 1]), groups = int32(1), "
        "pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), "
        "weight = w, x = x)[name = string(\"y\")];",
        weights, bias);
    text_run(profile, "tensor<fp16, [1, 64, 1, 1]> x", statements, &(text_port){"x", row->x, CHANNELS}, 1, &y, 1);
    return y;
}

typedef struct tally {
    int right, wrong;
} tally;

static void check_row(const char *profile, const vector_table *t, float actual, float expected, tally *out)
{
    const bool same = actual == expected;
    out->right += same, out->wrong += !same;
    check_note(same || out->wrong > 5, __FILE__, __LINE__, "%s: %s, weights %s, bias \"%s\", inputs %s: %.9g, not %.9g",
               profile, t->field[0], t->field[2], t->field[3], t->field[4], (double)actual, (double)expected);
}

/* Fields: set, chips, weights, bias, inputs, ane. */
static void check_products(const char *profile, const char *chip)
{
    vector_table t;
    tally all = {0};
    if (!vector_table_open(&t, "products_fp16.tsv"))
        SKIP("../shared/data/ane-numerics is not there");
    while (vector_table_next(&t)) {
        product_row row = {.bias = strtof(t.field[3], NULL), .expected = strtof(t.field[5], NULL)};
        if (strstr(t.field[1], chip) == NULL)
            continue;
        read_weights(t.field[2], row.weight);
        REQUIRE(read_inputs(t.field[4], row.x));
        check_row(profile, &t, run_conv(profile, &row, t.field[3][0] != '\0'), row.expected, &all);
    }
    fclose(t.file);
    printf("%s: %d of %d products\n", profile, all.right, all.right + all.wrong);
    CHECK(all.wrong == 0 && all.right > 100);
}

static void test_products_of_m4(void) { check_products("h16", "M4"); }
static void test_products_of_m6(void) { check_products("h18g", "M6"); }

/* ---- elementwise_fp16.tsv ---- */

static void test_elements_of_m6(void)
{
    vector_table t;
    tally all = {0};
    if (!vector_table_open(&t, "elementwise_fp16.tsv"))
        SKIP("../shared/data/ane-numerics is not there");
    while (vector_table_next(&t)) {
        char expression[64];
        snprintf(expression, sizeof expression, "%s(x = x, y = z)", t.field[0]);
        const float expected = strtof(t.field[3], NULL);
        const float actual = text_of_two("h18g", expression, strtof(t.field[1], NULL), strtof(t.field[2], NULL));
        const bool same = actual == expected;
        all.right += same, all.wrong += !same;
        check_note(same, __FILE__, __LINE__, "h18g: %s of %s and %s: %.9g, not %s", t.field[0], t.field[1], t.field[2],
                   (double)actual, t.field[3]);
    }
    fclose(t.file);
    printf("h18g: %d of %d sums and products of elements\n", all.right, all.right + all.wrong);
    CHECK(all.wrong == 0 && all.right > 50);
}

/* ---- int8_m6.tsv ---- */

typedef struct int8_row {
    int64_t channels, height, width; /* of the kernel */
    int power;                       /* scales are 2^-power */
    const char *values;
} int8_row;

/* Codes of x, and of the weight at channel c and row y of the kernel. */
static int x_code(const int8_row *row) { return strstr(row->values, "128") != NULL ? -128 : 127; }

static int weight_code(const int8_row *row, int64_t c, int64_t y)
{
    if (strstr(row->values, "first half") != NULL)
        return c < row->channels / 2 ? 127 : -127;
    if (strstr(row->values, "rows") != NULL)
        return y == 1 ? 127 : -128;
    return x_code(row);
}

/* x, quantized and dequantized, by a conv with an int8 weight that comes from a file. */
static float run_int8(const int8_row *row)
{
    const size_t count = (size_t)(row->channels * row->height);
    char signature[256], statements[2048];
    float *x = malloc(count * sizeof *x), *w = malloc(count * sizeof *w), y = NAN;
    const float scale = ldexpf(1.0f, -row->power);
    for (size_t i = 0; x != NULL && w != NULL && i < count; i++) {
        x[i] = (float)x_code(row) * scale;
        w[i] = (float)weight_code(row, (int64_t)i / row->height, (int64_t)i % row->height) * scale;
    }
    snprintf(signature, sizeof signature, "tensor<fp16, [1, %d, %d, 1]> x, tensor<fp16, [1, %d, %d, 1]> w",
             (int)row->channels, (int)row->height, (int)row->channels, (int)row->height);
    snprintf(
        statements, sizeof statements,
        "tensor<int8, [1, %d, %d, 1]> q = quantize(input = x, output_dtype = string(\"int8\"), scale = fp16(%a))"
        "[name = string(\"q\")];\n"
        "tensor<fp16, [1, %d, %d, 1]> d = dequantize(input = q, scale = fp16(%a))[name = string(\"d\")];\n"
        "tensor<int8, [1, %d, %d, 1]> p = quantize(input = w, output_dtype = string(\"int8\"), scale = fp16(%a))"
        "[name = string(\"p\")];\n"
        "tensor<fp16, [1, %d, %d, 1]> e = dequantize(input = p, scale = fp16(%a))[name = string(\"e\")];\n"
        "tensor<fp16, [1, 1, 1, 1]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), "
        "pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), "
        "weight = e, x = d)[name = string(\"y\")];",
        (int)row->channels, (int)row->height, (double)scale, (int)row->channels, (int)row->height, (double)scale,
        (int)row->channels, (int)row->height, (double)scale, (int)row->channels, (int)row->height, (double)scale);
    if (x != NULL && w != NULL)
        text_run("h18g", signature, statements, (text_port[]){{"x", x, count}, {"w", w, count}}, 2, &y, 1);
    free(x);
    free(w);
    return y;
}

/* Fields: conv, values, channels, kernel's height, power, sum, exact, as compiled, CPU alone. */
static void test_int8_of_m6(void)
{
    vector_table t;
    tally all = {0};
    int on_cpu = 0;
    if (!vector_table_open(&t, "int8_m6.tsv"))
        SKIP("../shared/data/ane-numerics is not there");
    while (vector_table_next(&t)) {
        const int8_row row = {.channels = strtol(t.field[2], NULL, 10),
                              .height = strtol(t.field[3], NULL, 10),
                              .power = (int)strtol(t.field[4], NULL, 10),
                              .values = t.field[1]};
        const float expected = strtof(t.field[7], NULL);
        if (strcmp(t.field[7], t.field[8]) == 0) { /* ran on the CPU */
            on_cpu++;
            continue;
        }
        const float actual = run_int8(&row);
        const bool same = actual == expected || (expected == 0.0f && actual == 0.0f);
        all.right += same, all.wrong += !same;
        check_note(same, __FILE__, __LINE__, "int8: %s, %s, %s channels, height %s: %.9g, not %s", t.field[0],
                   t.field[1], t.field[2], t.field[3], (double)actual, t.field[7]);
    }
    fclose(t.file);
    printf("h18g: %d of %d int8 sums; %d more ran on the CPU where they were measured\n", all.right,
           all.right + all.wrong, on_cpu);
    CHECK(all.wrong == 0 && all.right > 20);
}

/* ---- activation_statistics_m6.tsv ---- */

/* A function, as it is written in MIL, and in doubles. The published reference of inverse leaves out its epsilon. */
typedef struct function {
    const char *name, *expression;
    double (*exact)(double x);
    double abs_slack; /* relative, beside what is printed; of tanh the study's own knots give 1.4 % more */
} function;

static double sigmoid_exactly(double x) { return 1.0 / (1.0 + exp(-x)); }
static double silu_exactly(double x) { return x / (1.0 + exp(-x)); }
static double gelu_exactly(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752); }
static double gelu_by_tanh(double x)
{
    return 0.5 * x * (1.0 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}
static double rsqrt_exactly(double x) { return 1.0 / sqrt(x); }
static double inverse_exactly(double x) { return 1.0 / x; }

static const function functions[] = {
    {"sigmoid", "sigmoid(x = x)", sigmoid_exactly, 0},
    {"tanh", "tanh(x = x)", tanh, 0.015},
    {"gelu", "gelu(mode = string(\"EXACT\"), x = x)", gelu_exactly, 0},
    {"gelu_tanh", "gelu(mode = string(\"TANH_APPROXIMATION\"), x = x)", gelu_by_tanh, 0},
    {"silu", "silu(x = x)", silu_exactly, 0},
    {"exp", "exp(x = x)", exp, 0},
    {"log", "log(epsilon = fp16(0x0p+0), x = x)", log, 0},
    {"sqrt", "sqrt(x = x)", sqrt, 0},
    {"rsqrt", "rsqrt(epsilon = fp16(0x0p+0), x = x)", rsqrt_exactly, 0},
    {"inverse", "inverse(epsilon = fp16(0x1.a38p-14), x = x)", inverse_exactly, 0},
    {"erf", "erf(x = x)", erf, 0},
    {"sin", "sin(x = x)", sin, 0},
};

enum { POINTS = 2048 * 256 };

/* The different fp16 numbers of POINTS points from low to high, by equal steps or, of positive ranges, equal factors.
 */
static size_t range_of(double low, double high, float *out)
{
    size_t count = 0;
    for (int i = 0; i < POINTS; i++) {
        const double place = i / (POINTS - 1.0),
                     x = low > 0.0 ? low * pow(high / low, place) : low + (high - low) * place;
        const float half = mw__fp16_to_float(mw__fp16_from_float((float)x));
        if (count == 0 || half != out[count - 1])
            out[count++] = half;
    }
    return count;
}

static double ulp_of(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent - 11 < -24 ? -24 : exponent - 11);
}

typedef struct errors {
    double most, ulps;
} errors;

static bool run_function(const function *f, const float *x, size_t count, errors *out)
{
    char signature[64], statement[256];
    float *y = malloc(count * sizeof *y);
    snprintf(signature, sizeof signature, "tensor<fp16, [%zu]> x", count);
    snprintf(statement, sizeof statement, "tensor<fp16, [%zu]> y = %s[name = string(\"y\")];", count, f->expression);
    const bool good = y != NULL && text_run("h18g", signature, statement, &(text_port){"x", x, count}, 1, y, count);
    *out = (errors){0};
    for (size_t i = 0; good && i < count; i++) {
        const double exact = f->exact((double)x[i]), error = fabs((double)y[i] - exact);
        out->most = fmax(out->most, error);
        out->ulps = fmax(out->ulps, error / ulp_of(exact));
    }
    free(y);
    return good;
}

/* Half of the last of four digits that are printed, and of the tenth of an ulp. */
static void check_statistics(const function *f, const vector_table *t, const float *x, size_t count)
{
    errors found;
    const double most = strtod(t->field[3], NULL), ulps = strtod(t->field[5], NULL);
    REQUIRE(run_function(f, x, count, &found));
    printf("h18g: %-9s largest error %.4g (%s), %.1f ulp (%s)\n", f->name, found.most, t->field[3], found.ulps,
           t->field[5]);
    check_note(fabs(found.most - most) <= most * (6e-4 + f->abs_slack), __FILE__, __LINE__, "%s: error %.5g, not %s",
               f->name, found.most, t->field[3]);
    check_note(fabs(found.ulps - ulps) <= 0.051 + ulps * 1e-5, __FILE__, __LINE__, "%s: %.2f ulp, not %s", f->name,
               found.ulps, t->field[5]);
}

static void test_functions_of_m6(void)
{
    vector_table t;
    int rows = 0;
    if (!vector_table_open(&t, "activation_statistics_m6.tsv"))
        SKIP("../shared/data/ane-numerics is not there");
    float *x = malloc(POINTS * sizeof *x);
    REQUIRE(x != NULL);
    while (vector_table_next(&t)) {
        char *const dots = strstr(t.field[1], "..");
        REQUIRE(dots != NULL);
        *dots = '\0';
        const double low = strtod(t.field[1], NULL), high = strtod(dots + 2, NULL);
        const size_t count = range_of(low, high, x);
        check_note(count == (size_t)strtoul(t.field[2], NULL, 10), __FILE__, __LINE__, "%s: %zu inputs, not %s",
                   t.field[0], count, t.field[2]);
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            if (strcmp(functions[i].name, t.field[0]) == 0)
                check_statistics(&functions[i], &t, x, count), rows++;
    }
    free(x);
    fclose(t.file);
    CHECK_INT(rows, sizeof functions / sizeof *functions);
}

int main(void)
{
    RUN(test_functions_of_m6);
    RUN(test_int8_of_m6);
    RUN(test_products_of_m4);
    RUN(test_products_of_m6);
    RUN(test_elements_of_m6);
    return check_finish();
}
