/* Data movement: permutations, slices, tiles, pads, joins and gathers of odd extents against plain index arithmetic,
 * and indices that are out of range. */
#include "engine/kernel_case.h"
#include "support/check.h"

#include <stdlib.h>

static const uint64_t thread_counts[] = {1, 3};

/* ---- transpose: extents 9, 20, 35, every permutation, elements of 1, 2 and 4 bytes ---- */

enum { A = 9, B = 20, C = 35, ALL = A * B * C };

static int permuted_source(const int *perm, int at)
{
    static const int dims[3] = {A, B, C}, strides[3] = {B * C, C, 1};
    int source = 0;
    for (int axis = 2; axis >= 0; axis--) {
        source += at % dims[perm[axis]] * strides[perm[axis]];
        at /= dims[perm[axis]];
    }
    return source;
}

static void check_permutation(const int *perm, const char *dtype, size_t size, uint64_t threads)
{
    static const int dims[3] = {A, B, C};
    static unsigned char x[ALL * 4], y[ALL * 4];
    char text[1024], parameters[64], body[256];
    for (int i = 0; i < ALL; i++) {
        const uint32_t value = size == 1 ? (uint32_t)(i % 2) : size == 2 ? (uint32_t)i & 0x3fff : (uint32_t)i;
        memcpy(x + (size_t)i * size, &value, size);
    }
    snprintf(parameters, sizeof parameters, "tensor<%s, [%d, %d, %d]> x", dtype, A, B, C);
    snprintf(body, sizeof body,
             "tensor<%s, [%d, %d, %d]> y = transpose(perm = tensor<int32, [3]>([%d, %d, %d]), x = x);", dtype,
             dims[perm[0]], dims[perm[1]], dims[perm[2]], perm[0], perm[1], perm[2]);
    REQUIRE(
        kernel_run_one(kernel_text(text, sizeof text, parameters, body, "y"), threads, x, ALL * size, y, ALL * size));
    for (int i = 0; i < ALL; i++)
        if (!check_note(memcmp(y + (size_t)i * size, x + (size_t)permuted_source(perm, i) * size, size) == 0, __FILE__,
                        __LINE__, "transpose %d %d %d of %s on %d threads: element %d", perm[0], perm[1], perm[2],
                        dtype, (int)threads, i))
            return;
}

static void test_every_permutation(void)
{
    static const int perms[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int p = 0; p < 6; p++)
        for (int l = 0; l < 2; l++) {
            check_permutation(perms[p], "fp32", 4, thread_counts[l]);
            check_permutation(perms[p], "fp16", 2, thread_counts[l]);
            check_permutation(perms[p], "bool", 1, thread_counts[l]);
        }
}

/* ---- slices ---- */

/* Positions, repetitions and amounts that are known at the run only, for results whose extents are declared. What would
 * leave the tensor is moved to its edge. */
static void test_positions_may_be_computed(void)
{
    static const struct {
        const char *statement;
        int32_t n[2];
        float y[6];
        int count;
    } rows[] = {
        {"slice_by_size(begin = n1, size = tensor<int32, [1]>([2]), x = x)", {1, 0}, {2, 3}, 2},
        {"slice_by_size(begin = n1, size = tensor<int32, [1]>([2]), x = x)", {-2, 0}, {3, 4}, 2},
        {"slice_by_size(begin = n1, size = tensor<int32, [1]>([2]), x = x)", {9, 0}, {3, 4}, 2},
        {"slice_by_index(begin = n1, end = n2, x = x)", {2, 4}, {3, 4}, 2},
        {"slice_by_index(begin = n1, end = n2, x = x)", {-9, 2}, {1, 2}, 2},
        {"slice_by_index(begin = n1, end = tensor<int32, [1]>([0]), end_mask = tensor<bool, [1]>([true]), x = x)",
         {3, 0},
         {3, 4},
         2},
        {"tile(reps = n1, x = tensor<fp32, [2]>([7, 8]))", {3, 0}, {7, 8, 7, 8, 7, 8}, 6},
        {"pad(constant_val = fp32(9), mode = string(\"constant\"), pad = n, x = x)", {2, 0}, {9, 9, 1, 2, 3, 4}, 6},
        {"pad(constant_val = fp32(9), mode = string(\"constant\"), pad = n, x = x)", {0, 2}, {1, 2, 3, 4, 9, 9}, 6},
        {"pad(constant_val = fp32(9), mode = string(\"constant\"), pad = n, x = x)", {-3, 2}, {1, 2, 3, 4, 9, 9}, 6},
        {"pad(constant_val = fp32(9), mode = string(\"constant\"), pad = n, x = x)", {7, 7}, {9, 9, 1, 2, 3, 4}, 6},
        {"pad(constant_val = fp32(0), mode = string(\"reflect\"), pad = n, x = x)", {1, 1}, {2, 1, 2, 3, 4, 3}, 6},
        {"pad(constant_val = fp32(0), mode = string(\"reflect\"), pad = n, x = x)", {2, 0}, {3, 2, 1, 2, 3, 4}, 6},
        {"pad(constant_val = fp32(0), mode = string(\"replicate\"), pad = n, x = x)", {0, 2}, {1, 2, 3, 4, 4, 4}, 6},
        {"fill(shape = n1, value = fp32(5))", {2, 0}, {5, 5}, 2},
        {"reshape(shape = n1, x = x)", {4, 0}, {1, 2, 3, 4}, 4},
    };
    static const float x[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        char text[1024], body[512];
        float y[6] = {0};
        const size_t r = i / 2;
        snprintf(body, sizeof body,
                 "tensor<int32, [1]> n1, tensor<int32, [1]> n2 = split(axis = int32(0), num_splits = int32(2), x = n);"
                 "tensor<fp32, [%d]> y = %s;",
                 rows[r].count, rows[r].statement);
        const kernel_port in[] = {{"x", (void *)x, sizeof x}, {"n", (void *)rows[r].n, sizeof rows[r].n}};
        const kernel_port out = {"y", y, (size_t)rows[r].count * sizeof *y};
        if (!kernel_run(kernel_text(text, sizeof text, "tensor<fp32, [4]> x, tensor<int32, [2]> n", body, "y"),
                        thread_counts[i % 2], in, 2, &out, 1))
            continue;
        for (int k = 0; k < rows[r].count; k++)
            check_note(y[k] == rows[r].y[k], __FILE__, __LINE__, "%s of %d, %d: element %d is %g", rows[r].statement,
                       (int)rows[r].n[0], (int)rows[r].n[1], k, (double)y[k]);
    }
}

static void test_slices_follow_python(void)
{
    int32_t x[60], y[2 * 3], z[4];
    for (int i = 0; i < 60; i++)
        x[i] = i;
    /* x[:, ::-2, 1] of [4, 5, 3] with the ends clamped as Python does, and x[-1, 1:3, -2:] */
    REQUIRE(kernel_run(
        RUN_TEXT("tensor<int32, [4, 5, 3]> x",
                 "tensor<int32, [2, 3]> y = slice_by_index(begin = tensor<int32, [3]>([2, 0, 1]), begin_mask = "
                 "tensor<bool, [3]>([false, true, false]), end = tensor<int32, [3]>([99, 0, 0]), end_mask = "
                 "tensor<bool, [3]>([false, true, false]), squeeze_mask = tensor<bool, [3]>([false, false, true]), "
                 "stride = tensor<int32, [3]>([1, -2, 1]), x = x);\n"
                 "tensor<int32, [2, 2]> z = slice_by_index(begin = tensor<int32, [3]>([-1, 1, -2]), end = "
                 "tensor<int32, [3]>([0, 3, 3]), squeeze_mask = tensor<bool, [3]>([true, false, false]), x = x);\n",
                 "y, z"),
        1, &(kernel_port){"x", x, sizeof x}, 1, (const kernel_port[]){{"y", y, sizeof y}, {"z", z, sizeof z}}, 2));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            CHECK_INT(y[i * 3 + j], (i + 2) * 15 + (4 - 2 * j) * 3 + 1);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            CHECK_INT(z[i * 2 + j], 45 + (i + 1) * 3 + 1 + j);
}

/* ---- joins ---- */

/* Eleven operands and eleven parts: more than one step takes. */
static void test_many_parts_join_and_split(void)
{
    enum { ROWS = 13, PARTS = 11, WIDTH = PARTS * 3 };
    for (int l = 0; l < 2; l++) {
        float x[ROWS * WIDTH], y[ROWS * WIDTH];
        char text[4096], body[2048];
        int used = 0;
        for (int i = 0; i < ROWS * WIDTH; i++)
            x[i] = (float)i;
        for (int i = 0; i < PARTS; i++)
            used +=
                snprintf(body + used, sizeof body - (size_t)used, "%stensor<fp32, [13, 3]> p%d", i > 0 ? ", " : "", i);
        used += snprintf(
            body + used, sizeof body - (size_t)used,
            " = split(axis = int32(-1), num_splits = int32(11), x = x); tensor<fp32, [13, 33]> y = concat(axis = "
            "int32(1), interleave = bool(false), values = (");
        for (int i = 0; i < PARTS; i++)
            used += snprintf(body + used, sizeof body - (size_t)used, "%sp%d", i > 0 ? ", " : "", PARTS - 1 - i);
        snprintf(body + used, sizeof body - (size_t)used, "));");
        REQUIRE(kernel_run_one(kernel_text(text, sizeof text, "tensor<fp32, [13, 33]> x", body, "y"), thread_counts[l],
                               x, sizeof x, y, sizeof y));
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < WIDTH; c++)
                CHECK(y[r * WIDTH + c] == x[r * WIDTH + (PARTS - 1 - c / 3) * 3 + c % 3]);
    }
}

/* Two long rows: partitions share them out by bytes, across the borders of parts. */
static void test_long_rows_join_and_split(void)
{
    enum { ROWS = 2, PARTS = 9, WIDTH = 200003 };
    static const int sizes[PARTS] = {1, 70001, 3, 60000, 17, 40009, 4096, 25875, 1};
    static float x[ROWS * WIDTH], y[ROWS * WIDTH];
    char text[4096], body[2048];
    int used = 0;
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = (float)i;
    for (int i = 0; i < PARTS; i++)
        used += snprintf(body + used, sizeof body - (size_t)used, "%stensor<fp32, [2, %d]> p%d", i > 0 ? ", " : "",
                         sizes[i], i);
    used += snprintf(body + used, sizeof body - (size_t)used,
                     " = split(axis = int32(1), split_sizes = tensor<int32, [9]>([1, 70001, 3, 60000, 17, 40009, 4096, "
                     "25875, 1]), x = x); tensor<fp32, [2, 200003]> y = concat(axis = int32(1), interleave = "
                     "bool(false), values = (");
    for (int i = 0; i < PARTS; i++)
        used += snprintf(body + used, sizeof body - (size_t)used, "%sp%d", i > 0 ? ", " : "", PARTS - 1 - i);
    snprintf(body + used, sizeof body - (size_t)used, "));");
    for (int l = 0; l < 2; l++) {
        memset(y, 0, sizeof y);
        REQUIRE(kernel_run_one(kernel_text(text, sizeof text, "tensor<fp32, [2, 200003]> x", body, "y"),
                               thread_counts[l], x, sizeof x, y, sizeof y));
        for (int r = 0; r < ROWS; r++)
            for (int i = PARTS - 1, from = WIDTH, to = 0; i >= 0; to += sizes[i--]) {
                from -= sizes[i];
                CHECK(memcmp(y + r * WIDTH + to, x + r * WIDTH + from, (size_t)sizes[i] * sizeof *x) == 0);
            }
    }
}

static void test_interleaved_operands_alternate(void)
{
    const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
    float y[8];
    REQUIRE(
        kernel_run(RUN_TEXT("tensor<fp32, [2, 2]> a, tensor<fp32, [2, 2]> b",
                            "tensor<fp32, [2, 4]> y = concat(axis = int32(1), interleave = bool(true), values = (a, "
                            "b));\n",
                            "y"),
                   1, (const kernel_port[]){{"a", (void *)(uintptr_t)a, 16}, {"b", (void *)(uintptr_t)b, 16}}, 2,
                   &(kernel_port){"y", y, sizeof y}, 1));
    const float expected[] = {1, 10, 2, 20, 3, 30, 4, 40};
    CHECK(memcmp(y, expected, sizeof y) == 0);
}

/* ---- tile and pad ---- */

static void test_tile_repeats_every_axis(void)
{
    enum { M = 5, N = 7 };
    for (int l = 0; l < 2; l++) {
        int32_t x[M * N], y[3 * M * 2 * N];
        for (int i = 0; i < M * N; i++)
            x[i] = i;
        REQUIRE(kernel_run_one(RUN_TEXT("tensor<int32, [5, 7]> x",
                                        "tensor<int32, [15, 14]> y = tile(reps = tensor<int32, [2]>([3, 2]), x = x);\n",
                                        "y"),
                               thread_counts[l], x, sizeof x, y, sizeof y));
        for (int i = 0; i < 3 * M; i++)
            for (int j = 0; j < 2 * N; j++)
                CHECK_INT(y[i * 2 * N + j], x[i % M * N + j % N]);
    }
}

static int mirror(int at, int n) { return at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at; }
static int nearest(int at, int n) { return at < 0 ? 0 : at >= n ? n - 1 : at; }

static void test_pads_reflect_and_replicate(void)
{
    enum { M = 6, N = 8, H = M + 3, W = N + 5 };
    float x[M * N], reflected[H * W], replicated[H * W], constant[H * W];
    for (int i = 0; i < M * N; i++)
        x[i] = (float)(i + 1);
#define PAD(name, mode)                                                                                                \
    "tensor<fp32, [9, 13]> " name " = pad(constant_val = fp32(0.5), mode = string(\"" mode                             \
    "\"), pad = tensor<int32, [4]>([1, 2, 3, 2]), x = x);\n"
    REQUIRE(kernel_run(
        RUN_TEXT("tensor<fp32, [6, 8]> x", PAD("r", "reflect") PAD("e", "replicate") PAD("c", "constant"), "r, e, c"),
        3, &(kernel_port){"x", x, sizeof x}, 1,
        (const kernel_port[]){
            {"r", reflected, sizeof reflected}, {"e", replicated, sizeof replicated}, {"c", constant, sizeof constant}},
        3));
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            const int r = i - 1, c = j - 3;
            CHECK(reflected[i * W + j] == x[mirror(r, M) * N + mirror(c, N)]);
            CHECK(replicated[i * W + j] == x[nearest(r, M) * N + nearest(c, N)]);
            CHECK(constant[i * W + j] == (r < 0 || r >= M || c < 0 || c >= N ? 0.5f : x[r * N + c]));
        }
}

/* ---- indices ---- */

#define GATHER(opset)                                                                                                  \
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n    func main<" opset        \
    ">(tensor<int32, [6]> i, tensor<fp32, [4, 3]> x) {\n            tensor<fp32, [6, 3]> y = gather(axis = int32(0), " \
    "indices = i, x = x);\n    } -> (y);\n}\n"

static void check_gather(const char *text, bool negative_counts_from_end)
{
    static const int32_t indices[] = {0, 3, -1, 4, INT32_MIN, 2};
    float x[12], y[18];
    for (int i = 0; i < 12; i++)
        x[i] = (float)(i + 1);
    REQUIRE(kernel_run(text, 3,
                       (const kernel_port[]){{"i", (void *)(uintptr_t)indices, sizeof indices}, {"x", x, sizeof x}}, 2,
                       &(kernel_port){"y", y, sizeof y}, 1));
    for (int i = 0; i < 6; i++) {
        const int at = indices[i] == -1 && negative_counts_from_end ? 3 : indices[i];
        for (int j = 0; j < 3; j++)
            CHECK(y[i * 3 + j] == (at >= 0 && at < 4 ? x[at * 3 + j] : 0.0f));
    }
}

static void test_gather_stays_inside_and_counts_from_the_end_before_ios17(void)
{
    check_gather(GATHER("ios15"), true);
    check_gather(GATHER("ios16"), true);
    check_gather(GATHER("ios17"), false);
}

static void test_gather_with_batches_and_narrow_indices(void)
{
    enum { N = 2, L = 5, D = 3, P = 4 };
    static const uint16_t indices[N * P] = {4, 0, 1, 9, 3, 3, 2, 0};
    float x[N * L * D], y[N * P * D];
    for (int i = 0; i < N * L * D; i++)
        x[i] = (float)(i + 1);
    REQUIRE(
        kernel_run(RUN_TEXT("tensor<uint16, [2, 4]> i, tensor<fp32, [2, 5, 3]> x",
                            "tensor<fp32, [2, 4, 3]> y = gather(axis = int32(1), batch_dims = int32(1), indices = i, "
                            "validate_indices = bool(false), x = x);\n",
                            "y"),
                   1, (const kernel_port[]){{"i", (void *)(uintptr_t)indices, sizeof indices}, {"x", x, sizeof x}}, 2,
                   &(kernel_port){"y", y, sizeof y}, 1));
    for (int n = 0; n < N; n++)
        for (int p = 0; p < P; p++)
            for (int j = 0; j < D; j++) {
                const int at = indices[n * P + p];
                CHECK(y[(n * P + p) * D + j] == (at < L ? x[(n * L + at) * D + j] : 0.0f));
            }
}

static void test_one_hot_is_off_out_of_range(void)
{
    static const int32_t indices[] = {2, -1, 3, 0};
    float last[12], first[12];
#define ONE_HOT(type, name, axis)                                                                                      \
    "tensor<fp32, " type "> " name " = one_hot(axis = int32(" axis                                                     \
    "), indices = x, off_value = fp32(-1.0), on_value = fp32(2.0), one_hot_vector_size = int32(3));\n"
    REQUIRE(
        kernel_run(RUN_TEXT("tensor<int32, [4]> x", ONE_HOT("[4, 3]", "y", "-1") ONE_HOT("[3, 4]", "z", "0"), "y, z"),
                   3, &(kernel_port){"x", (void *)(uintptr_t)indices, sizeof indices}, 1,
                   (const kernel_port[]){{"y", last, sizeof last}, {"z", first, sizeof first}}, 2));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            CHECK(last[i * 3 + j] == (indices[i] == j ? 2.0f : -1.0f));
            CHECK(first[j * 4 + i] == (indices[i] == j ? 2.0f : -1.0f));
        }
}

int main(void)
{
    RUN(test_every_permutation);
    RUN(test_positions_may_be_computed);
    RUN(test_slices_follow_python);
    RUN(test_many_parts_join_and_split);
    RUN(test_long_rows_join_and_split);
    RUN(test_interleaved_operands_alternate);
    RUN(test_tile_repeats_every_axis);
    RUN(test_pads_reflect_and_replicate);
    RUN(test_gather_stays_inside_and_counts_from_the_end_before_ios17);
    RUN(test_gather_with_batches_and_narrow_indices);
    RUN(test_one_hot_is_off_out_of_range);
    return check_finish();
}
