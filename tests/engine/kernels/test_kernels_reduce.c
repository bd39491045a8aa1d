/* Reductions and softmax: every set of axes against double sums, empty and non-finite input, long sums. */
#include "base/number/fp16.h"
#include "engine/kernel_case.h"
#include "support/check.h"

#include <stdlib.h>

static const uint64_t thread_counts[] = {1, 3};
static const char *const kinds[] = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_log_sum_exp"};

enum { A = 5, B = 70, C = 6, D = 33, COUNT = A * B * C * D };
static const int extents[4] = {A, B, C, D};

/* One result of `kind` in double: the elements of x whose kept indices make `result`. */
static double reduce(const float *x, int kind, unsigned axes, int result)
{
    double sum = 0, most = kind == 3 ? INFINITY : -INFINITY, exps = 0;
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < COUNT; i++) {
            int rest = i, at = 0, below = 1;
            for (int axis = 3; axis >= 0; axis--) {
                if ((axes >> axis & 1) == 0)
                    at += rest % extents[axis] * below, below *= extents[axis];
                rest /= extents[axis];
            }
            if (at != result)
                continue;
            if (pass == 1) {
                exps += exp((double)x[i] - most);
                continue;
            }
            n++;
            sum += (double)x[i];
            most = kind == 3 ? fmin(most, (double)x[i]) : fmax(most, (double)x[i]);
        }
    return kind == 0 ? sum : kind == 1 ? sum / n : kind == 4 ? most + log(exps) : most;
}

static void check_axes(const float *x, const uint16_t *half, int kind, unsigned axes, uint64_t threads, bool fp16)
{
    char list[32] = "", type[64] = "", body[256], parameters[64], text[1024];
    int results = 1, count = 0;
    for (int axis = 0; axis < 4; axis++) {
        const bool reduced = (axes >> axis & 1) != 0;
        char *to = reduced ? list : type;
        const size_t used = strlen(to);
        snprintf(to + used, 32 - used, used > 0 ? ", %d" : "%d", reduced ? axis : extents[axis]);
        results *= reduced ? 1 : extents[axis];
        count += reduced;
    }
    const char *dtype = fp16 ? "fp16" : "fp32";
    snprintf(parameters, sizeof parameters, "tensor<%s, [%d, %d, %d, %d]> x", dtype, A, B, C, D);
    if (axes == 15)
        snprintf(body, sizeof body, "%s y = %s(keep_dims = bool(false), x = x);", dtype, kinds[kind]);
    else
        snprintf(body, sizeof body,
                 "tensor<%s, [%s]> y = %s(axes = tensor<int32, [%d]>([%s]), keep_dims = bool(false), x = x);", dtype,
                 type, kinds[kind], count, list);
    const size_t size = fp16 ? 2 : 4;
    void *y = calloc((size_t)results, size);
    REQUIRE(y != NULL);
    const bool ran = kernel_run_one(kernel_text(text, sizeof text, parameters, body, "y"), threads,
                                    fp16 ? (const void *)half : x, COUNT * size, y, (size_t)results * size);
    for (int i = 0; ran && i<results; i += results> 40 ? results / 17 : 1) {
        const double exact = reduce(x, kind, axes, i);
        const double got = fp16 ? (double)mw__fp16_to_float(((uint16_t *)y)[i]) : (double)((float *)y)[i];
        const double allowed = (fp16 ? 6e-4 : 3e-7) * fabs(exact) + (kind < 2 && !fp16 ? 2e-5 : 1e-7);
        if (!check_note(fabs(got - exact) <= allowed, __FILE__, __LINE__,
                        "%s over [%s] in %s: element %d is %.9g, not %.9g", kinds[kind], list, dtype, i, got, exact))
            break;
    }
    free(y);
}

static void test_every_set_of_axes(void)
{
    float *x = calloc(COUNT, sizeof *x);
    uint16_t *half = calloc(COUNT, sizeof *half);
    uint32_t seed = 3;
    REQUIRE(x != NULL && half != NULL);
    for (int i = 0; i < COUNT; i++) {
        half[i] = mw__fp16_from_float(kernel_random(&seed));
        x[i] = mw__fp16_to_float(half[i]);
    }
    for (int kind = 0; kind < 5; kind++)
        for (unsigned axes = 1; axes < 16; axes++)
            check_axes(x, half, kind, axes, thread_counts[axes % 2], axes % 3 == 0);
    free(x);
    free(half);
}

/* A single fp32 accumulator loses 4 % here. */
static void test_long_sums_stay_exact(void)
{
    enum { N = 1 << 20 };
    float *x = calloc(N, sizeof *x), y = 0;
    REQUIRE(x != NULL);
    for (int i = 0; i < N; i++)
        x[i] = 0.1f;
    if (kernel_run_one(
            RUN_TEXT("tensor<fp32, [1048576]> x", "fp32 y = reduce_sum(keep_dims = bool(false), x = x);\n", "y"), 1, x,
            N * sizeof *x, &y, sizeof y))
        CHECK_NEAR(y, (double)0.1f * N, 0.1); /* 1e-6 of it */
    float columns[2] = {0, 0};
    if (kernel_run_one(RUN_TEXT("tensor<fp32, [524288, 2]> x",
                                "tensor<fp32, [2]> y = reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = "
                                "bool(false), x = x);\n",
                                "y"),
                       1, x, N * sizeof *x, columns, sizeof columns))
        CHECK_NEAR(columns[1], (double)0.1f * (N / 2), 0.05);
    free(x);
}

static void test_non_finite_elements(void)
{
    const float x[] = {-INFINITY, -INFINITY, 1, INFINITY, NAN, 2};
    float most[3], lse[3];
    REQUIRE(kernel_run(RUN_TEXT("tensor<fp32, [3, 2]> x",
                                "tensor<fp32, [3]> m = reduce_max(axes = tensor<int32, [1]>([1]), keep_dims = "
                                "bool(false), x = x);\n"
                                "tensor<fp32, [3]> l = reduce_log_sum_exp(axes = tensor<int32, [1]>([1]), keep_dims = "
                                "bool(false), x = x);\n",
                                "m, l"),
                       1, &(kernel_port){"x", (void *)(uintptr_t)x, sizeof x}, 1,
                       (const kernel_port[]){{"m", most, sizeof most}, {"l", lse, sizeof lse}}, 2));
    CHECK(most[0] == -INFINITY && most[1] == INFINITY && isnan(most[2]));
    CHECK(lse[0] == -INFINITY && lse[1] == INFINITY && isnan(lse[2]));
}

static void test_integer_means_truncate_and_sums_wrap(void)
{
    static const int32_t x[] = {7, 8, -7, -8, INT32_MAX, INT32_MAX};
    int32_t mean[3], sum[3];
    REQUIRE(kernel_run(RUN_TEXT("tensor<int32, [3, 2]> x",
                                "tensor<int32, [3]> m = reduce_mean(axes = tensor<int32, [1]>([1]), keep_dims = "
                                "bool(false), x = x);\n"
                                "tensor<int32, [3]> s = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = "
                                "bool(false), x = x);\n",
                                "m, s"),
                       1, &(kernel_port){"x", (void *)(uintptr_t)x, sizeof x}, 1,
                       (const kernel_port[]){{"m", mean, sizeof mean}, {"s", sum, sizeof sum}}, 2));
    CHECK_INT(mean[0], 7);
    CHECK_INT(mean[1], -7);
    CHECK_INT(mean[2], INT32_MAX);
    CHECK_INT(sum[0], 15);
    CHECK_INT(sum[2], -2);
}

/* One result of many elements is made of chunks: right, and the same bits on any number of threads. */
static void test_one_result_of_many_elements(void)
{
    enum { N = 70001 };
    static const char *const names[] = {"sum",  "mean",       "max",     "min",     "log_sum_exp",
                                        "prod", "sum_square", "l1_norm", "l2_norm", "log_sum"};
    float *x = calloc(N, sizeof *x);
    double sum = 0, exps = 0, product = 1, squares = 0, most = -INFINITY, least = INFINITY;
    uint32_t seed = 5;
    REQUIRE(x != NULL);
    for (int i = 0; i < N; i++) {
        x[i] = 1.0f + kernel_random(&seed) / 64;
        const double v = (double)x[i];
        sum += v, exps += exp(v), product *= v, squares += v * v, most = fmax(most, v), least = fmin(least, v);
    }
    const double exact[] = {sum, sum / N, most, least, log(exps), product, squares, sum, sqrt(squares), log(sum)};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char body[128], text[1024];
        float one = 0, three = 1;
        snprintf(body, sizeof body, "fp32 y = reduce_%s(keep_dims = bool(false), x = x);\n", names[k]);
        kernel_text(text, sizeof text, "tensor<fp32, [70001]> x", body, "y");
        if (kernel_run_one(text, 1, x, N * sizeof *x, &one, sizeof one) &&
            kernel_run_one(text, 3, x, N * sizeof *x, &three, sizeof three)) {
            check_note(fabs((double)one - exact[k]) <= 1e-6 * fabs(exact[k]), __FILE__, __LINE__,
                       "reduce_%s is %.9g, not %.9g", names[k], (double)one, exact[k]);
            CHECK(memcmp(&one, &three, sizeof one) == 0);
        }
    }
    free(x);
}

static void test_one_integer_of_many(void)
{
    enum { N = 40000 };
    int32_t *x = calloc(N, sizeof *x), y[8] = {0};
    REQUIRE(x != NULL);
    for (int i = 0; i < N; i++)
        x[i] = i % 2 != 0 ? -3 : 1;
    x[N - 1] = 99, x[20000] = -98;
    const kernel_port out[] = {{"s", &y[0], 4}, {"m", &y[1], 4}, {"n", &y[2], 4}, {"p", &y[3], 4},
                               {"q", &y[4], 4}, {"r", &y[5], 4}, {"t", &y[6], 4}, {"u", &y[7], 4}};
    if (kernel_run(RUN_TEXT("tensor<int32, [40000]> x",
                            "int32 s = reduce_sum(keep_dims = bool(false), x = x);\n"
                            "int32 m = reduce_max(keep_dims = bool(false), x = x);\n"
                            "int32 n = reduce_min(keep_dims = bool(false), x = x);\n"
                            "int32 p = reduce_prod(keep_dims = bool(false), x = x);\n"
                            "int32 q = reduce_sum_square(keep_dims = bool(false), x = x);\n"
                            "int32 r = reduce_l2_norm(keep_dims = bool(false), x = x);\n"
                            "int32 t = reduce_log_sum(keep_dims = bool(false), x = x);\n"
                            "int32 u = reduce_log_sum_exp(keep_dims = bool(false), x = x);\n",
                            "s, m, n, p, q, r, t, u"),
                   3, &(kernel_port){"x", x, N * sizeof *x}, 1, out, 8)) {
        uint32_t product = 1;
        for (int i = 0; i < N; i++)
            product *= (uint32_t)x[i];
        CHECK_INT(y[0], 20000 - 60000 + 99 + 3 - 98 - 1);
        CHECK_INT(y[1], 99);
        CHECK_INT(y[2], -98);
        CHECK_INT(y[3], (int32_t)product);
        CHECK_INT(y[4], 20000 + 180000 + 99 * 99 - 9 + 98 * 98 - 1);
        CHECK_INT(y[5], (int)sqrt(219395.0));
        CHECK_INT(y[6], 0); /* the sum is negative: NaN, truncated */
        CHECK_INT(y[7], 99);
    }
    free(x);
}

static void test_positions_are_the_first_and_nan_wins(void)
{
    const float x[] = {1, 3, 3, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 5, NAN, 9, NAN};
    int32_t most[3], least[3];
    REQUIRE(kernel_run(RUN_TEXT("tensor<fp32, [3, 4]> x",
                                "tensor<int32, [3]> m = reduce_argmax(axis = int32(-1), keep_dims = bool(false), "
                                "output_dtype = string(\"int32\"), x = x);\n"
                                "tensor<int32, [3]> l = reduce_argmin(axis = int32(-1), keep_dims = bool(false), "
                                "output_dtype = string(\"int32\"), x = x);\n",
                                "m, l"),
                       2, &(kernel_port){"x", (void *)(uintptr_t)x, sizeof x}, 1,
                       (const kernel_port[]){{"m", most, sizeof most}, {"l", least, sizeof least}}, 2));
    CHECK(most[0] == 1 && most[1] == 0 && most[2] == 1);
    CHECK(least[0] == 3 && least[1] == 0 && least[2] == 1);
}

/* Rows of many runs of elements: the extremum in each of them and at their edges, equal ones and a NaN after it. */
static void test_positions_in_long_rows(void)
{
    enum { N = 5000, ROWS = 12 };
    static const int at[ROWS] = {0, 1, 1023, 1024, 1025, 2047, 2048, 3000, 4095, 4096, 4998, 4999};
    float *x = calloc((size_t)N * ROWS, sizeof *x);
    uint32_t seed = 3;
    for (int i = 0; x != NULL && i < N * ROWS; i++)
        x[i] = kernel_random(&seed);
    for (int r = 0; x != NULL && r < ROWS; r++) {
        float *row = x + (ptrdiff_t)r * N;
        for (int i = at[r]; i < N; i += 700)
            row[i] = r % 3 == 2 ? NAN : 2.0f;
        for (int i = r % 3 == 1 ? at[r] + 1 : N; i < N; i++)
            row[i] = -INFINITY;
    }
    int32_t most[ROWS], least[ROWS];
    REQUIRE(x != NULL && kernel_run(RUN_TEXT("tensor<fp32, [12, 5000]> x",
                                             "tensor<int32, [12]> m = reduce_argmax(axis = int32(1), keep_dims = "
                                             "bool(false), output_dtype = string(\"int32\"), x = x);\n"
                                             "tensor<fp32, [12, 5000]> z = mul(x = x, y = fp32(-1.0));\n"
                                             "tensor<int32, [12]> l = reduce_argmin(axis = int32(1), keep_dims = "
                                             "bool(false), output_dtype = string(\"int32\"), x = z);\n",
                                             "m, l"),
                                    2, &(kernel_port){"x", x, (size_t)N * ROWS * sizeof *x}, 1,
                                    (const kernel_port[]){{"m", most, sizeof most}, {"l", least, sizeof least}}, 2));
    for (int r = 0; r < ROWS; r++)
        check_note(most[r] == at[r] && least[r] == at[r], __FILE__, __LINE__, "row %d: %d and %d for %d", r,
                   (int)most[r], (int)least[r], at[r]);
    free(x);
}

static void test_integer_products_and_norms_wrap(void)
{
    static const int32_t x[] = {INT32_MAX, INT32_MAX, INT32_MIN, -1, 65536, 65536};
    int32_t product[3], norm[3];
    REQUIRE(kernel_run(RUN_TEXT("tensor<int32, [3, 2]> x",
                                "tensor<int32, [3]> p = reduce_prod(axes = tensor<int32, [1]>([1]), keep_dims = "
                                "bool(false), x = x);\n"
                                "tensor<int32, [3]> n = reduce_l1_norm(axes = tensor<int32, [1]>([1]), keep_dims = "
                                "bool(false), x = x);\n",
                                "p, n"),
                       1, &(kernel_port){"x", (void *)(uintptr_t)x, sizeof x}, 1,
                       (const kernel_port[]){{"p", product, sizeof product}, {"n", norm, sizeof norm}}, 2));
    CHECK_INT(product[0], 1);
    CHECK_INT(product[1], INT32_MIN);
    CHECK_INT(product[2], 0);
    CHECK_INT(norm[0], -2);
    CHECK_INT(norm[1], INT32_MIN + 1);
    CHECK_INT(norm[2], 131072);
}

/* ---- softmax ---- */

static void check_softmax(int axis, uint64_t threads, bool fp16)
{
    enum { M = 7, N = 41, K = 67, ALL = M * N * K };
    static const int dims[3] = {M, N, K};
    float *x = calloc(ALL, sizeof *x);
    void *in = calloc(ALL, sizeof *x), *y = calloc(ALL, sizeof *x);
    char text[1024], body[128], parameters[64];
    const char *dtype = fp16 ? "fp16" : "fp32";
    const size_t size = fp16 ? 2 : 4;
    uint32_t seed = 9;
    REQUIRE(x != NULL && in != NULL && y != NULL);
    for (int i = 0; i < ALL; i++) {
        const uint16_t half = mw__fp16_from_float(40 * kernel_random(&seed));
        x[i] = mw__fp16_to_float(half);
        memcpy((char *)in + (size_t)i * size, fp16 ? (const void *)&half : &x[i], size);
    }
    snprintf(parameters, sizeof parameters, "tensor<%s, [7, 41, 67]> x", dtype);
    snprintf(body, sizeof body, "tensor<%s, [7, 41, 67]> y = softmax(axis = int32(%d), x = x);", dtype, axis - 3);
    const bool ran =
        kernel_run_one(kernel_text(text, sizeof text, parameters, body, "y"), threads, in, ALL * size, y, ALL * size);
    const int step = axis == 2 ? 1 : axis == 1 ? K : N * K;
    for (int i = 0; ran && i < ALL; i += 13) {
        const int first = i - i / step % dims[axis] * step;
        double most = -INFINITY, sum = 0;
        for (int j = 0; j < dims[axis]; j++)
            most = fmax(most, (double)x[first + j * step]);
        for (int j = 0; j < dims[axis]; j++)
            sum += exp((double)x[first + j * step] - most);
        const double exact = exp((double)x[i] - most) / sum;
        const double got = fp16 ? (double)mw__fp16_to_float(((uint16_t *)y)[i]) : (double)((float *)y)[i];
        if (!check_note(fabs(got - exact) <= (fp16 ? 4.9e-4 * exact + 3e-8 : 1e-6 * exact + 1e-30), __FILE__, __LINE__,
                        "softmax over axis %d in %s: element %d is %.9g, not %.9g", axis, dtype, i, got, exact))
            break;
    }
    free(x);
    free(in);
    free(y);
}

static void test_softmax_over_every_axis(void)
{
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < 2; i++) {
            check_softmax(axis, thread_counts[i], false);
            check_softmax(axis, thread_counts[i], true);
        }
}

static void test_softmax_of_large_and_masked_logits(void)
{
    const float x[] = {1e30f, 1e30f, -INFINITY, 0, -INFINITY, -INFINITY, 5, -1e30f};
    float y[8];
    REQUIRE(kernel_run_one(
        RUN_TEXT("tensor<fp32, [4, 2]> x", "tensor<fp32, [4, 2]> y = softmax(axis = int32(-1), x = x);\n", "y"), 1, x,
        sizeof x, y, sizeof y));
    CHECK(y[0] == 0.5f && y[1] == 0.5f);
    CHECK(y[2] == 0 && y[3] == 1);
    CHECK(isnan(y[4]) && isnan(y[5])); /* nothing is left to share: as in numpy */
    CHECK(y[6] == 1 && y[7] == 0);
}

int main(void)
{
    RUN(test_every_set_of_axes);
    RUN(test_long_sums_stay_exact);
    RUN(test_non_finite_elements);
    RUN(test_integer_means_truncate_and_sums_wrap);
    RUN(test_one_result_of_many_elements);
    RUN(test_one_integer_of_many);
    RUN(test_positions_are_the_first_and_nan_wins);
    RUN(test_positions_in_long_rows);
    RUN(test_integer_products_and_norms_wrap);
    RUN(test_softmax_over_every_axis);
    RUN(test_softmax_of_large_and_masked_logits);
    return check_finish();
}
