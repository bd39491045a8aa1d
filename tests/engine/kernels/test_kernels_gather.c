/* Indices that come from data: what lies outside is left alone, negative ones count by opset, repeated ones are taken
 * in one order on any number of threads; sorting has an order for NaN. */
#include "base/number/fp16.h"
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

/* ---- many indices ---- */

/* x [planes, rows, inner] and indices [count], or [planes, count, inner] (each); more than are looked up at a time. */
typedef struct many {
    int planes, rows, count, inner;
    bool each, half;
} many;

enum { MANY_MAX = 6000 };
typedef struct many_data {
    int32_t index[MANY_MAX];
    float x[MANY_MAX], y[MANY_MAX], wanted[MANY_MAX];
    uint16_t half_x[MANY_MAX], half_y[MANY_MAX];
    size_t index_count, chosen_count, x_count;
} many_data;

static void draw_many(const many *m, many_data *d)
{
    uint32_t seed = 11;
    d->index_count = (size_t)m->count * (m->each ? (size_t)m->planes * (size_t)m->inner : 1);
    d->chosen_count = (size_t)m->planes * (size_t)m->count * (size_t)m->inner;
    d->x_count = (size_t)m->planes * (size_t)m->rows * (size_t)m->inner;
    for (size_t i = 0; i < d->index_count; i++) /* some lie outside, on either side */
        d->index[i] = (int32_t)floorf((kernel_random(&seed) * 0.6f + 0.5f) * (float)m->rows);
    for (size_t i = 0; i < MANY_MAX; i++) { /* fp16 holds them */
        d->x[i] = floorf(kernel_random(&seed) * 512.0f) / 64.0f;
        d->half_x[i] = mw__fp16_from_float(d->x[i]);
    }
}

/* Where in x element `at` of what is chosen lies; -1 outside. */
static long many_place(const many *m, const many_data *d, size_t at)
{
    const size_t inner = (size_t)m->inner, k = at % inner, entry = at / inner % (size_t)m->count;
    const size_t plane = at / inner / (size_t)m->count;
    const int32_t row = d->index[m->each ? at : entry];
    return row < 0 || row >= m->rows ? -1 : (long)((plane * (size_t)m->rows + (size_t)row) * inner + k);
}

static const char *many_text(char text[1024], const many *m, bool scatter)
{
    char index[64], chosen[64], x[64], body[256];
    const char *type = m->half ? "fp16" : "fp32", *along = m->each ? "_along_axis" : "";
    snprintf(chosen, sizeof chosen, "tensor<%s, [%d, %d, %d]>", type, m->planes, m->count, m->inner);
    snprintf(x, sizeof x, "tensor<%s, [%d, %d, %d]>", type, m->planes, m->rows, m->inner);
    snprintf(index, sizeof index, m->each ? "tensor<int32, [%d, %d, %d]>" : "tensor<int32, [%d]>",
             m->each ? m->planes : m->count, m->count, m->inner);
    snprintf(body, sizeof body,
             scatter ? "%s y = scatter%s(axis = int32(1), data = x, indices = i, mode = string(\"add\"), updates = u);"
                     : "%s y = gather%s(axis = int32(1), indices = i, x = x);",
             scatter ? x : chosen, along);
    snprintf(text, 1024, PROGRAM("ios17", "%s i, %s%s%s x", "%s"), index, scatter ? chosen : "", scatter ? " u, " : "",
             x, body);
    return text;
}

static void check_many(const many *m, many_data *d, bool scatter, uint64_t threads)
{
    char text[1024];
    const size_t size = m->half ? sizeof(uint16_t) : sizeof(float), count = scatter ? d->x_count : d->chosen_count;
    void *x = m->half ? (void *)d->half_x : d->x, *y = m->half ? (void *)d->half_y : d->y;
    const kernel_port in[] = {{"i", d->index, d->index_count * sizeof *d->index},
                              {"x", x, d->x_count * size},
                              {"u", x, d->chosen_count * size}};
    const kernel_port out = {"y", y, count * size};
    REQUIRE(kernel_run(many_text(text, m, scatter), threads, in, scatter ? 3 : 2, &out, 1));
    for (size_t at = 0; scatter && at < count; at++)
        d->wanted[at] = d->x[at];
    for (size_t at = 0; at < d->chosen_count; at++) {
        const long place = many_place(m, d, at);
        if (!scatter)
            d->wanted[at] = place < 0 ? 0.0f : d->x[place];
        else if (place >= 0)
            d->wanted[place] += d->x[at];
    }
    for (size_t at = 0; at < count; at++)
        if (m->half ? d->half_y[at] != mw__fp16_from_float(d->wanted[at]) : d->y[at] != d->wanted[at])
            CHECK_INT((long)at, -1); /* the first place that is wrong */
}

static void test_many_indices_of_every_form(void)
{
    static const many cases[] = {{3, 40, 600, .inner = 1},
                                 {1, 7, 1100, .inner = 1},
                                 {5, 9, 31, .inner = 17},
                                 {2, 30, 5, .inner = 3},
                                 {600, 2, 3, .inner = 1},
                                 {3, 40, 600, .inner = 1, .half = true},
                                 {4, 6, 7, .inner = 5, .half = true},
                                 {3, 40, 600, .inner = 1, .each = true},
                                 {2, 11, 130, .inner = 9, .each = true},
                                 {2, 11, 130, .inner = 9, .each = true, .half = true}};
    static many_data data;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draw_many(&cases[i], &data);
        for (uint64_t threads = 1; threads <= 3; threads++) {
            check_many(&cases[i], &data, false, threads);
            check_many(&cases[i], &data, true, threads);
        }
    }
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
    RUN(test_many_indices_of_every_form);
    RUN(test_nan_is_the_largest_and_equal_elements_keep_their_order);
    return check_finish();
}
