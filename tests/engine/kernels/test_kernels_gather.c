/* Indices that come from data: what lies outside is left alone, negative ones count by opset, repeated ones are taken
 * in one order on any number of threads; sorting has an order for NaN. */
#include "engine/kernel_case.h"
#include "support/check.h"

#include <math.h>

static const uint64_t thread_counts[] = {1, 3};

#define PROGRAM(opset, parameters, body)                                                                               \
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n    func main<" opset        \
    ">(" parameters ") {\n            " body "\n    } -> (y);\n}\n"

/* ---- scatters ---- */

#define SCATTER(opset)                                                                                                 \
    PROGRAM(opset, "tensor<int32, [4]> i, tensor<fp32, [4]> u, tensor<fp32, [3]> x",                                   \
            "tensor<fp32, [3]> y = scatter(axis = int32(0), data = x, indices = i, mode = string(\"add\"), updates = " \
            "u);")

static void check_scatter(const char *text, bool from_end)
{
    int32_t i[4] = {-1, 3, -4, 0};
    float u[4] = {1, 2, 4, 8}, x[3] = {100, 200, 300}, y[3];
    const kernel_port in[] = {{"i", i, sizeof i}, {"u", u, sizeof u}, {"x", x, sizeof x}};
    for (int l = 0; l < 2; l++) {
        REQUIRE(kernel_run(text, thread_counts[l], in, 3, &(kernel_port){"y", y, sizeof y}, 1));
        CHECK_INT(y[0], 108);
        CHECK_INT(y[1], 200);
        CHECK_INT(y[2], from_end ? 301 : 300);
    }
}

static void test_scatter_stays_inside_and_counts_from_the_end_before_ios17(void)
{
    check_scatter(SCATTER("ios15"), true);
    check_scatter(SCATTER("ios16"), true);
    check_scatter(SCATTER("ios17"), false);
}

static void check_gathers(const char *attributes, const char *opset, bool from_end)
{
    char text[1024];
    int32_t i[5] = {-1, 3, -4, 0, 2};
    float x[3] = {10, 20, 30}, y[5];
    const float a[5] = {from_end ? 30.0f : 0.0f, 0.0f, 0.0f, 10.0f, 30.0f};
    snprintf(text, sizeof text,
             "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
             "    func main<%s>(tensor<int32, [5]> i, tensor<fp32, [3]> x) {\n"
             "        tensor<fp32, [5]> a = gather_along_axis(axis = int32(0), indices = i, x = x);\n"
             "        tensor<int32, [2]> s = const()[val = tensor<int32, [2]>([5, 1])];\n"
             "        tensor<int32, [5, 1]> j = reshape(shape = s, x = i);\n"
             "        tensor<fp32, [5]> b = gather_nd(%sindices = j, x = x);\n"
             "        tensor<fp32, [5]> y = add(x = a, y = b);\n    } -> (y);\n}\n",
             opset, attributes);
    const kernel_port in[] = {{"i", i, sizeof i}, {"x", x, sizeof x}};
    for (int l = 0; l < 2; l++) {
        REQUIRE(kernel_run(text, thread_counts[l], in, 2, &(kernel_port){"y", y, sizeof y}, 1));
        for (int k = 0; k < 5; k++)
            CHECK_INT(y[k], 2 * a[k]);
    }
}

static void test_gathers_stay_inside_and_count_from_the_end_before_ios17(void)
{
    check_gathers("", "ios15", true);
    check_gathers("batch_dims = int32(0), ", "ios16", true);
    check_gathers("batch_dims = int32(0), ", "ios17", false);
}

enum { ROWS = 37, COLUMNS = 3, UPDATES = 500 };

/* Sums of floats of very different sizes depend on their order. */
static void test_repeated_updates_have_one_order_on_any_number_of_threads(void)
{
    static int32_t i[UPDATES];
    static float u[UPDATES * COLUMNS], x[ROWS * COLUMNS], y[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
    uint32_t seed = 5;
    for (int k = 0; k < UPDATES; k++)
        i[k] = (int32_t)((kernel_random(&seed) + 1.0f) * 0.5f * ROWS);
    for (int k = 0; k < UPDATES * COLUMNS; k++)
        u[k] = ldexpf(kernel_random(&seed), k % 40 - 20);
    for (int k = 0; k < ROWS * COLUMNS; k++)
        wanted[k] = x[k] = kernel_random(&seed);
    for (int k = 0; k < UPDATES * COLUMNS; k++)
        if (i[k / COLUMNS] < ROWS)
            wanted[i[k / COLUMNS] * COLUMNS + k % COLUMNS] += u[k];
    const kernel_port in[] = {{"i", i, sizeof i}, {"u", u, sizeof u}, {"x", x, sizeof x}};
    for (uint64_t threads = 1; threads < 6; threads++) {
        REQUIRE(kernel_run(PROGRAM("ios17", "tensor<int32, [500]> i, tensor<fp32, [500, 3]> u, tensor<fp32, [37, 3]> x",
                                   "tensor<fp32, [37, 3]> y = scatter(axis = int32(0), data = x, indices = i, mode = "
                                   "string(\"add\"), updates = u);"),
                           threads, in, 3, &(kernel_port){"y", y, sizeof y}, 1));
        CHECK(memcmp(y, wanted, sizeof y) == 0);
    }
}

static void test_update_keeps_the_last(void)
{
    int32_t i[5] = {1, 0, 1, 9, 1}, y[3], x[3] = {-1, -2, -3}, u[5] = {10, 20, 30, 40, 50};
    const kernel_port in[] = {{"i", i, sizeof i}, {"u", u, sizeof u}, {"x", x, sizeof x}};
    for (int l = 0; l < 2; l++) {
        REQUIRE(kernel_run(PROGRAM("ios17", "tensor<int32, [5]> i, tensor<int32, [5]> u, tensor<int32, [3]> x",
                                   "tensor<int32, [3]> y = scatter(axis = int32(0), data = x, indices = i, mode = "
                                   "string(\"update\"), updates = u);"),
                           thread_counts[l], in, 3, &(kernel_port){"y", y, sizeof y}, 1));
        CHECK_INT(y[0], 20);
        CHECK_INT(y[1], 50);
        CHECK_INT(y[2], -3);
    }
}

static void test_integers_wrap_around_and_divide_safely(void)
{
    int32_t i[4] = {0, 1, 2, 3}, y[4], x[4] = {INT32_MIN, 7, INT32_MAX, -7}, u[4] = {-1, 0, 2, 2};
    const kernel_port in[] = {{"i", i, sizeof i}, {"u", u, sizeof u}, {"x", x, sizeof x}};
    REQUIRE(kernel_run(PROGRAM("ios17", "tensor<int32, [4]> i, tensor<int32, [4]> u, tensor<int32, [4]> x",
                               "tensor<int32, [4]> y = scatter(axis = int32(0), data = x, indices = i, mode = "
                               "string(\"div\"), updates = u);"),
                       1, in, 3, &(kernel_port){"y", y, sizeof y}, 1));
    CHECK_INT(y[0], INT32_MIN);
    CHECK_INT(y[1], 0);
    CHECK_INT(y[2], INT32_MAX / 2);
    CHECK_INT(y[3], -3);
    REQUIRE(kernel_run(PROGRAM("ios17", "tensor<int32, [4]> i, tensor<int32, [4]> u, tensor<int32, [4]> x",
                               "tensor<int32, [4]> y = scatter(axis = int32(0), data = x, indices = i, mode = "
                               "string(\"add\"), updates = u);"),
                       1, in, 3, &(kernel_port){"y", y, sizeof y}, 1));
    CHECK_INT(y[0], INT32_MAX);
    CHECK_INT(y[2], INT32_MIN + 1);
}

/* ---- sorting ---- */

static void test_nan_is_the_largest_and_equal_elements_keep_their_order(void)
{
    const float x[8] = {1.0f, NAN, -INFINITY, 0.0f, INFINITY, -0.0f, -NAN, 1.0f};
    static const int32_t down[8] = {1, 6, 4, 0, 7, 3, 5, 2}, up[8] = {2, 3, 5, 0, 7, 4, 1, 6};
    int32_t y[8];
    for (int l = 0; l < 2; l++) {
        REQUIRE(
            kernel_run_one(PROGRAM("ios17", "tensor<fp32, [8]> x",
                                   "tensor<int32, [8]> y = argsort(ascending = bool(false), axis = int32(0), x = x);"),
                           thread_counts[l], x, sizeof x, y, sizeof y));
        CHECK(memcmp(y, down, sizeof y) == 0);
        REQUIRE(
            kernel_run_one(PROGRAM("ios17", "tensor<fp32, [8]> x",
                                   "tensor<int32, [8]> y = argsort(ascending = bool(true), axis = int32(0), x = x);"),
                           thread_counts[l], x, sizeof x, y, sizeof y));
        CHECK(memcmp(y, up, sizeof y) == 0);
    }
}

int main(void)
{
    RUN(test_scatter_stays_inside_and_counts_from_the_end_before_ios17);
    RUN(test_gathers_stay_inside_and_count_from_the_end_before_ios17);
    RUN(test_repeated_updates_have_one_order_on_any_number_of_threads);
    RUN(test_update_keeps_the_last);
    RUN(test_integers_wrap_around_and_divide_safely);
    RUN(test_nan_is_the_largest_and_equal_elements_keep_their_order);
    return check_finish();
}
