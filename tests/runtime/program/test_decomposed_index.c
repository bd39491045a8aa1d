/* What is taken and put by integers that are fed gives on the model of the ANE what it gives on the CPU: moved elements
 * exactly, sums and products of fp16 numbers as far as fp16 goes. */
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, INTEGERS = 12 };

typedef struct index_case {
    const char *opset; /* NULL = ios18 */
    const char *inputs, *body;
    int integers[INTEGERS]; /* of every integer input, one after the other, again from the first after the last */
    int count;
    double off; /* beside the largest element */
} index_case;

/* Multiples of 1/8 up to 4, none of them 0. */
static float number(size_t i) { return (float)((int)(i * 2654435761u >> 20 & 31) - 16) / 8.0F + 0.0625F; }

static void feed(mw_program *program, const index_case *c, const mw_port *port, bool is_integer, mw_error *err)
{
    float data[MOST];
    const size_t count = (size_t)mw_shape_count(port->shape);
    for (size_t i = 0; i < count && i < MOST; i++)
        data[i] = is_integer ? (float)c->integers[i % (size_t)c->count] : number(i);
    mw_program_write(program, port->name, MW_F32, data, count, err);
}

static size_t run(const index_case *c, mw_device device, float *y, mw_error *err)
{
    char text[2000];
    size_t count = 0;
    mw_port port;
    snprintf(text, sizeof text, "program(1.3)\n{func main<%s>(%s) {%s} -> (y);}", c->opset != NULL ? c->opset : "ios18",
             c->inputs, c->body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_program *program = engine_compile(graph, device, 1, err);
    for (size_t i = 0; program != NULL && mw_program_port_at(program, i, &port); i++)
        if (!port.is_output) {
            const mw_dtype declared = mw_tensor_dtype(mw_graph_find(graph, port.name));
            feed(program, c, &port, declared != MW_F32, err);
        } else {
            count = (size_t)mw_shape_count(port.shape);
        }
    mw_program_run(program, err);
    if (count <= MOST)
        mw_program_read(program, "y", MW_F32, y, count, err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return count;
}

static void check_case(const index_case *c)
{
    float cpu[MOST] = {0}, ane[MOST] = {0};
    mw_error err = {0};
    double most = 0.0, largest = 1e-30, smallest = 0.0;
    const size_t count = run(c, MW_DEVICE_CPU, cpu, &err);
    CHECK_INT(run(c, MW_DEVICE_ANE, ane, &err), count);
    if (!CHECK_OK(err))
        return;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)cpu[i] - (double)ane[i]));
        largest = fmax(largest, (double)cpu[i]);
        smallest = fmin(smallest, (double)cpu[i]);
    }
    check_note(most / fmax(largest, -smallest) <= c->off && count > 0, __FILE__, __LINE__, "%s: %g apart", c->body,
               most);
}

static void check_all(const index_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_case(&cases[i]);
}

#define CHECK_CASES(cases) check_all(cases, sizeof(cases) / sizeof *(cases))

/* ---- tables ---- */

#define NO_CHECK "validate_indices = bool(false), "

static void test_what_is_taken_is_exact(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<int32, [4, 2]> i, tensor<fp32, [3, 5, 2]> x",
         .body = "tensor<fp32, [4, 2]> y = gather_nd(batch_dims = int32(0), indices = i, " NO_CHECK "x = x);",
         .integers = {0, 4, 2, 3, 1, 1, 2, 0},
         .count = 8},
        {.inputs = "tensor<int32, [2, 3, 1]> i, tensor<fp32, [2, 5, 2]> x",
         .body = "tensor<fp32, [2, 3, 2]> y = gather_nd(batch_dims = int32(1), indices = i, " NO_CHECK "x = x);",
         .integers = {4, 0, 3, 3, 2},
         .count = 5},
        {.inputs = "tensor<int32, [3, 3]> i, tensor<int32, [3, 5, 2]> x", /* all coordinates, integers */
         .body = "tensor<int32, [3]> y = gather_nd(batch_dims = int32(0), indices = i, " NO_CHECK "x = x);",
         .integers = {2, 4, 1, 0, 3, 0, 1, 0, 1},
         .count = 9},
        {.opset = "ios16", /* below 0 counts from the end */
         .inputs = "tensor<int16, [4, 2]> i, tensor<fp32, [3, 5]> x",
         .body = "tensor<fp32, [4]> y = gather_nd(batch_dims = int32(0), indices = i, x = x);",
         .integers = {-1, -5, 0, 4, 2, -2, -3, 0},
         .count = 8},
        {.inputs = "tensor<int16, [3]> i, tensor<int16, [4, 2]> x",
         .body = "tensor<int16, [3, 2]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, " NO_CHECK
                 "x = x);",
         .integers = {3, 1, 2},
         .count = 3},
        {.inputs = "tensor<int32, [3, 2]> i, tensor<int32, [4, 2]> x",
         .body = "tensor<int32, [3, 2]> y = gather_along_axis(axis = int32(0), indices = i, " NO_CHECK "x = x);",
         .integers = {3, 1, 0, 2, 2},
         .count = 5},
        {.inputs = "tensor<int32, [3, 2, 4]> x", /* as many rows as are declared: too few, and too many */
         .body = "tensor<int32, [7, 3]> y = non_zero(x = x);",
         .integers = {0, 3, 0, 0, -1},
         .count = 5},
        {.inputs = "tensor<int16, [3, 4]> x",
         .body = "tensor<int32, [9, 2]> y = non_zero(x = x);",
         .integers = {0, 300, 0, 0, 256},
         .count = 5},
        {.inputs = "tensor<int32, [3]> i",
         .body = "tensor<int32, [4, 3]> y = one_hot(axis = int32(0), indices = i, off_value = int32(9), on_value = "
                 "int32(4), one_hot_vector_size = int32(4));",
         .integers = {3, 7, 0},
         .count = 3},
    };
    CHECK_CASES(cases);
}

#define PUT(what, mode, of)                                                                                            \
    "tensor<fp32, [3, 4]> y = " what "(" of "data = x, indices = i, mode = string(\"" mode "\"), updates = u, "        \
    "validate_indices = bool(false));"
#define ROWS(mode)                                                                                                     \
    {                                                                                                                  \
        .inputs = "tensor<int32, [5]> i, tensor<fp32, [5, 4]> u, tensor<fp32, [3, 4]> x",                              \
        .body = PUT("scatter", mode, "axis = int32(0), "), .integers = {2, 0, 2, 0, 7}, .count = 5, .off = 1e-3        \
    }
#define ELEMENTS(mode)                                                                                                 \
    {                                                                                                                  \
        .inputs = "tensor<int32, [3, 6]> i, tensor<fp32, [3, 6]> u, tensor<fp32, [3, 4]> x",                           \
        .body = PUT("scatter_along_axis", mode, "axis = int32(-1), "), .integers = {2, 0, 2, 3, 3, 2, 1}, .count = 7,  \
        .off = 1e-3                                                                                                    \
    }
#define POINTS(mode)                                                                                                   \
    {                                                                                                                  \
        .inputs = "tensor<int32, [4, 2]> i, tensor<fp32, [4]> u, tensor<fp32, [3, 4]> x",                              \
        .body = PUT("scatter_nd", mode, ""), .integers = {2, 0, 1, 3, 2, 0, 0, 1}, .count = 8, .off = 1e-3             \
    }
#define EVERY(form) form("update"), form("add"), form("sub"), form("mul"), form("div"), form("max"), form("min")

/* Indices that meet, and one that is outside. */
static void test_what_is_put_is_near_in_every_mode(void)
{
    static const index_case cases[] = {EVERY(ROWS), EVERY(ELEMENTS), EVERY(POINTS)};
    CHECK_CASES(cases);
}

static void test_what_is_put_at_constants_or_below_zero_is_exact(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<fp32, [3, 4]> u, tensor<fp32, [5, 4]> x",
         .body = "tensor<fp32, [5, 4]> y = scatter(axis = int32(0), data = x, indices = tensor<int32, [3]>([4, 1, 4]), "
                 "mode = string(\"update\"), updates = u, validate_indices = bool(false));",
         .integers = {0},
         .count = 1},
        {.opset = "ios16",
         .inputs = "tensor<int32, [3]> i, tensor<int32, [3, 4]> u, tensor<int32, [5, 4]> x",
         .body = "tensor<int32, [5, 4]> y = scatter(axis = int32(0), data = x, indices = i, mode = string(\"add\"), "
                 "updates = u);",
         .integers = {-1, 0, -5},
         .count = 3},
    };
    CHECK_CASES(cases);
}

/* ---- places ---- */

static void test_slices_that_begin_anywhere_are_exact(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<int32, [3]> i, tensor<fp32, [3, 4, 5]> x",
         .body = "tensor<fp32, [2, 4, 3]> y = slice_by_size(begin = i, size = tensor<int32, [3]>([2, 4, 3]), x = x);",
         .integers = {1, 0, 2},
         .count = 3},
        {.inputs = "tensor<int32, [2]> i, tensor<fp32, [3, 5]> x", /* moved into x; below 0 from the end */
         .body = "tensor<fp32, [2, 3]> y = slice_by_size(begin = i, size = tensor<int32, [2]>([2, 3]), x = x);",
         .integers = {9, -2},
         .count = 2},
        {.inputs = "tensor<int16, [2]> i, tensor<int16, [3, 5]> x",
         .body = "tensor<int16, [1, 3]> y = slice_by_size(begin = i, size = tensor<int32, [2]>([1, 3]), x = x);",
         .integers = {2, 1},
         .count = 2},
        {.inputs = "tensor<int32, [2]> i, tensor<int32, [2]> e, tensor<fp32, [3, 7]> x",
         .body = "tensor<fp32, [3]> y = slice_by_index(begin = i, end = e, squeeze_mask = tensor<bool, [2]>([true, "
                 "false]), stride = tensor<int32, [2]>([1, 2]), x = x);",
         .integers = {2, 1},
         .count = 2},
        {.inputs = "tensor<int32, [2]> i, tensor<int32, [2]> e, tensor<fp32, [3, 7]> x",
         .body = "tensor<fp32, [2, 3]> y = slice_by_index(begin = i, begin_mask = tensor<bool, [2]>([true, false]), "
                 "end = e, stride = tensor<int32, [2]>([-1, -2]), x = x);",
         .integers = {2, 5},
         .count = 2},
        {.inputs = "tensor<int32, [1]> i, tensor<int32, [1]> e, tensor<fp32, [7]> x", /* moved, backwards */
         .body = "tensor<fp32, [3]> y = slice_by_index(begin = i, end = e, stride = tensor<int32, [1]>([-2]), x = x);",
         .integers = {1},
         .count = 1},
        {.inputs = "tensor<int32, [2]> i, tensor<int32, [2]> e, tensor<fp32, [3, 5]> x, tensor<fp32, [2, 2]> u",
         .body = "tensor<fp32, [3, 5]> y = slice_update(begin = i, end = e, update = u, x = x);",
         .integers = {1, 2},
         .count = 2},
        {.inputs = "tensor<int32, [2]> i, tensor<int32, [2]> e, tensor<int32, [3, 5]> x, tensor<int32, [3]> u",
         .body = "tensor<int32, [3, 5]> y = slice_update(begin = i, end = e, squeeze_mask = tensor<bool, [2]>([false, "
                 "true]), update = u, x = x);",
         .integers = {0, 3},
         .count = 2},
    };
    CHECK_CASES(cases);
}

static void test_sequences_are_turned_exactly(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<int32, [3]> i, tensor<fp32, [3, 5, 2]> x",
         .body =
             "tensor<fp32, [3, 5, 2]> y = reverse_sequence(batch_axis = int32(0), lengths = i, seq_axis = int32(1), "
             "x = x);",
         .integers = {5, 0, 3},
         .count = 3},
        {.inputs = "tensor<int8, [2]> i, tensor<int8, [5, 3, 2]> x", /* beyond the axis: all of it */
         .body = "tensor<int8, [5, 3, 2]> y = reverse_sequence(batch_axis = int32(2), lengths = i, seq_axis = "
                 "int32(0), x = x);",
         .integers = {9, 4},
         .count = 2},
        {.inputs = "tensor<fp32, [2, 4]> x",
         .body = "tensor<fp32, [2, 4]> y = reverse_sequence(batch_axis = int32(0), lengths = tensor<int32, [2]>([3, 1])"
                 ", seq_axis = int32(1), x = x);",
         .integers = {0},
         .count = 1},
    };
    CHECK_CASES(cases);
}

static void test_windows_are_exact(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<fp32, [2, 9]> x",
         .body =
             "tensor<fp32, [2, 4, 3]> y = sliding_windows(axis = int32(-1), size = int32(3), stride = int32(2), x = "
             "x);",
         .integers = {0},
         .count = 1},
        {.inputs = "tensor<fp32, [9, 2]> x", /* fewer windows than elements */
         .body = "tensor<fp32, [2, 7, 2]> y = sliding_windows(axis = int32(0), size = int32(7), stride = int32(2), x = "
                 "x);",
         .integers = {0},
         .count = 1},
    };
    CHECK_CASES(cases);
}

/* ---- extents that are fed, numbers that are drawn ---- */

static void test_extents_that_are_fed_are_those_declared(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<int32, [2]> i, tensor<fp32, [3, 5]> x",
         .body = "tensor<fp32, [3, 5]> z = fill(shape = i, value = fp32(2)); tensor<fp32, [3, 5]> y = add(x = x, y = "
                 "z);",
         .integers = {3, 5},
         .count = 2},
        {.inputs = "tensor<int32, [2]> i, tensor<fp32, [3, 5]> x",
         .body = "tensor<fp32, [6, 5]> y = tile(reps = i, x = x);",
         .integers = {2, 1},
         .count = 2},
        {.inputs = "tensor<int16, [2]> i, tensor<fp32, [3, 5]> x",
         .body = "tensor<fp32, [5, 3]> y = reshape(shape = i, x = x);",
         .integers = {5, 3},
         .count = 2},
        {.inputs = "tensor<int32, [2]> i, tensor<fp32, [1, 2, 3, 2]> x",
         .body =
             "tensor<fp32, [1, 2, 6, 4]> y = resize(interpolation_mode = string(\"NEAREST_NEIGHBOR\"), resized_dims "
             "= uint32(2), sampling_mode = string(\"DEFAULT\"), shape = i, x = x);",
         .integers = {6, 4},
         .count = 2},
    };
    CHECK_CASES(cases);
}

#define DRAWN(what) "tensor<fp32, [300]> z = " what "; tensor<fp32, [300]> y = add(x = x, y = z);"

static void test_numbers_of_a_fixed_seed_are_those_of_the_cpu(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<fp32, [300]> x",
         .body = DRAWN("random_normal(mean = fp32(1), seed = int32(7), shape = tensor<int32, [1]>([300]), stddev = "
                       "fp32(2))"),
         .integers = {0},
         .count = 1,
         .off = 1e-3},
        {.inputs = "tensor<fp32, [300]> x",
         .body = DRAWN("random_uniform(high = fp32(3), low = fp32(-2), seed = int32(0), shape = tensor<int32, "
                       "[1]>([300]))"),
         .integers = {0},
         .count = 1,
         .off = 1e-3},
        {.inputs = "tensor<fp32, [300]> x",
         .body = DRAWN("random_bernoulli(prob = fp32(0.25), seed = int32(3), shape = tensor<int32, [1]>([300]))"),
         .integers = {0},
         .count = 1},
        {.inputs = "tensor<fp32, [300]> x", /* none is drawn */
         .body = DRAWN("random_normal(mean = fp32(1), seed = int32(-1), shape = tensor<int32, [1]>([300]), stddev = "
                       "fp32(0))"),
         .integers = {0},
         .count = 1},
    };
    CHECK_CASES(cases);
}

/* ---- numbers ---- */

static void test_products_and_remainders_are_near(void)
{
    static const index_case cases[] = {
        {.inputs = "tensor<fp32, [3, 7]> x",
         .body = "tensor<fp32, [3]> y = reduce_prod(axes = tensor<int32, [1]>([1]), keep_dims = bool(false), x = x);",
         .integers = {0},
         .count = 1,
         .off = 4e-3}, /* three roundings */
        {.inputs = "tensor<fp32, [2, 1, 3]> x",
         .body = "tensor<fp32, [1, 1, 1]> y = reduce_prod(keep_dims = bool(true), x = x);",
         .integers = {0},
         .count = 1,
         .off = 4e-3},
        {.inputs = "tensor<fp32, [4, 8]> x",
         .body = "tensor<fp32, [4, 8]> y = mod(x = x, y = fp32(0.75));",
         .integers = {0},
         .count = 1},
        {.inputs = "tensor<int32, [9]> x",
         .body = "tensor<int32, [9]> y = mod(x = x, y = int32(7));",
         .integers = {-2000, -7, -1, 0, 3, 7, 13, 699, 2047},
         .count = 9},
    };
    CHECK_CASES(cases);
}

/* ---- what is wrong ---- */

/* Nothing is rewritten by numbers that break the operation's own rule. */
static void test_what_breaks_its_own_rule_is_refused_for_that(void)
{
    static const struct {
        const char *body, *error;
    } cases[] = {
        {"tensor<fp32, [2, 2, 2]> y = sliding_windows(axis = int32(100), size = int32(2), stride = int32(1), x = x);",
         "axis 100"},
        {"tensor<fp32, [2]> y = reduce_prod(axes = tensor<int32, [2]>([99, -50]), keep_dims = bool(false), x = x);",
         "axes 99"},
        {"tensor<fp32, [2, 3]> y = reverse_sequence(batch_axis = int32(9), lengths = i, seq_axis = int32(-9), x = x);",
         "seq_axis -9"},
        {"tensor<fp32, [2, 3]> y = gather(axis = int32(100), batch_dims = int32(0), indices = i, " NO_CHECK "x = x);",
         "axis 100"},
        {"tensor<fp32, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(70), indices = i, " NO_CHECK "x = x);",
         "batch_dims 70"},
        {"tensor<fp32, [2, 3]> y = gather_nd(batch_dims = int32(-4), indices = i, " NO_CHECK "x = x);", "batch_dims"},
        {"tensor<fp32, [2, 3]> y = scatter(axis = int32(60), data = x, indices = i, mode = string(\"max\"), updates = "
         "x, validate_indices = bool(false));",
         "axis 60"},
        {"tensor<int32, [2]> y = reduce_argmax(axis = int32(100), keep_dims = bool(false), x = x);", "axis 100"},
        {"tensor<fp32, [2, 9]> y = slice_by_size(begin = i, size = tensor<int32, [2]>([2, 9]), x = x);", "extent 3"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        float y[1];
        mw_error err = {0};
        const index_case c = {
            .inputs = "tensor<int32, [2]> i, tensor<fp32, [2, 3]> x", .body = cases[k].body, .count = 1};
        run(&c, MW_DEVICE_ANE, y, &err);
        CHECK(err.status != MW_OK);
        CHECK_CONTAINS(err.message, cases[k].error);
    }
}

int main(void)
{
    RUN(test_what_is_taken_is_exact);
    RUN(test_what_is_put_is_near_in_every_mode);
    RUN(test_what_is_put_at_constants_or_below_zero_is_exact);
    RUN(test_slices_that_begin_anywhere_are_exact);
    RUN(test_sequences_are_turned_exactly);
    RUN(test_windows_are_exact);
    RUN(test_extents_that_are_fed_are_those_declared);
    RUN(test_numbers_of_a_fixed_seed_are_those_of_the_cpu);
    RUN(test_products_and_remainders_are_near);
    RUN(test_what_breaks_its_own_rule_is_refused_for_that);
    return check_finish();
}
