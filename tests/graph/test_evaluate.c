/* What arithmetic on shapes gives before a program runs: each statement against numbers worked out by hand, and what
 * must stay unknown. */
#include "graph_check.h"

#include "graph/constants/evaluate_small.h"

#include <millwright/mil.h>

/* In every text: a tensor whose shape is asked, an input that is not known, and constants. */
static const char head[] =
    "program(1.3){func main<ios17>(tensor<fp32, [2, 3, 4]> x, tensor<fp32, [2, ?]> open, int32 fed){"
    "tensor<int32, [3]> s = shape(x = x);"
    "tensor<int32, [4]> v = const()[val = tensor<int32, [4]>([5, -7, 0, 2])];"
    "int32 k = const()[val = int32(-3)]; int32 zero = const()[val = int32(0)]; int32 one = const()[val = int32(1)];"
    "int32 most = const()[val = int32(2147483647)]; bool yes = const()[val = bool(true)];"
    "bool no = const()[val = bool(false)];"
    "fp32 half = const()[val = fp32(0.5)]; string to_fp32 = const()[val = string(\"fp32\")];"
    "string to_int32 = const()[val = string(\"int32\")]; string to_bool = const()[val = string(\"bool\")];"
    "tensor<int32, [1]> v1 = const()[val = tensor<int32, [1]>([1])];"
    "tensor<int32, [1]> v3 = const()[val = tensor<int32, [1]>([3])];"
    "tensor<int32, [1]> v9 = const()[val = tensor<int32, [1]>([9])];"
    "tensor<int32, [1]> minus = const()[val = tensor<int32, [1]>([-1])];"
    "int32 two = const()[val = int32(2)]; tensor<int32, [3]> parts = const()[val = tensor<int32, [3]>([1, 2, 1])];"
    "tensor<int32, [2]> grid = const()[val = tensor<int32, [2]>([2, 2])];"
    "tensor<int32, [2]> ends = const()[val = tensor<int32, [2]>([-1, 0])];"
    "tensor<bool, [1]> on = const()[val = tensor<bool, [1]>([true])];"
    "tensor<bool, [4]> mixed = const()[val = tensor<bool, [4]>([true, false, false, true])];"
    "fp32 scaled = mul(x = half, y = half);";

enum { UNKNOWN = -1 };

/* The value r of `text` has `count` elements, or is not known. */
typedef struct evaluated {
    const char *text;
    int count;
    double at[8];
} evaluated;

static const evaluated rows[] = {
    {"tensor<int32, [3]> r = identity(x = s);", 3, {2, 3, 4}},
    {"tensor<int32, [2]> r = shape(x = open);", UNKNOWN, {0}},
    {"int32 r = identity(x = fed);", UNKNOWN, {0}},
    {"int32 r = gather(axis = zero, indices = one, x = s);", 1, {3}},
    {"tensor<int32, [2]> r = gather(axis = zero, indices = ends, x = s);", 2, {4, 2}},
    {"int32 r = gather(axis = zero, indices = k, x = s);", 1, {2}},
    {"int32 r = gather(axis = zero, indices = most, x = s);", UNKNOWN, {0}},
    {"tensor<int32, [2]> r = slice_by_index(begin = v1, end = v3, x = s);", 2, {3, 4}},
    {"tensor<int32, [2]> r = slice_by_index(begin = v1, end = v9, x = s);", 2, {3, 4}},
    {"tensor<int32, [2]> r = slice_by_index(begin = v9, begin_mask = on, end = minus, x = s);", 2, {2, 3}},
    {"tensor<int32, [3]> r = slice_by_index(begin = minus, begin_mask = on, end = v1, end_mask = on, stride = minus, "
     "x = s);",
     3,
     {4, 3, 2}},
    {"int32 r = slice_by_index(begin = minus, end = v1, squeeze_mask = on, x = s);", 1, {4}},
    {"int32 r = slice_by_index(begin = v9, end = v1, squeeze_mask = on, x = s);", UNKNOWN, {0}},
    {"tensor<int32, [2]> r = slice_by_size(begin = v1, size = minus, x = s);", 2, {3, 4}},
    {"tensor<int32, [3]> r = slice_by_size(begin = v1, size = v3, x = s);", UNKNOWN, {0}},
    {"tensor<int32, [4]> r = concat(axis = zero, interleave = no, values = (s, v9));", 4, {2, 3, 4, 9}},
    {"tensor<int32, [2]> r = concat(axis = zero, interleave = no, values = (k, one));", 2, {-3, 1}},
    {"tensor<int32, [4]> r = concat(axis = zero, interleave = yes, values = (ends, grid));", UNKNOWN, {0}},
    {"tensor<int32, [2]> r = stack(axis = zero, values = (k, one));", 2, {-3, 1}},
    {"tensor<int32, [2, 1]> r = stack(axis = zero, values = (v1, v9));", UNKNOWN, {0}},
    {"tensor<int32, [4]> r = add(x = v, y = k);", 4, {2, -10, -3, -1}},
    {"tensor<int32, [4]> r = sub(x = k, y = v);", 4, {-8, 4, -3, -5}},
    {"int32 r = add(x = most, y = one);", UNKNOWN, {0}},
    {"int32 r = mul(x = most, y = most);", UNKNOWN, {0}},
    {"tensor<int32, [4]> r = floor_div(x = v, y = k);", 4, {-2, 2, 0, -1}},
    {"tensor<int32, [4]> r = mod(x = v, y = k);", 4, {-1, -1, 0, -1}},
    {"tensor<int32, [4]> r = floor_div(x = k, y = v);", UNKNOWN, {0}},
    {"tensor<int32, [4]> r = maximum(x = v, y = one);", 4, {5, 1, 1, 2}},
    {"tensor<int32, [4]> r = minimum(x = v, y = one);", 4, {1, -7, 0, 1}},
    {"tensor<bool, [4]> r = less(x = v, y = one);", 4, {0, 1, 1, 0}},
    {"tensor<bool, [4]> r = not_equal(x = v, y = zero);", 4, {1, 1, 0, 1}},
    {"bool r = logical_xor(x = yes, y = no);", 1, {1}},
    {"bool r = logical_not(x = yes);", 1, {0}},
    {"tensor<int32, [4]> r = select(a = k, b = v, cond = mixed);", 4, {-3, -7, 0, -3}},
    {"int32 r = select(a = one, b = fed, cond = yes);", 1, {1}},
    {"int32 r = select(a = one, b = fed, cond = no);", UNKNOWN, {0}},
    {"tensor<int32, [1, 3]> r = expand_dims(axes = zero, x = s);", 3, {2, 3, 4}},
    {"int32 r = squeeze(axes = v1, x = v9);", 1, {9}},
    {"tensor<int32, [2, 2]> r = reshape(shape = grid, x = v);", 4, {5, -7, 0, 2}},
    {"tensor<int32, [3, 3]> r = reshape(shape = grid, x = v);", UNKNOWN, {0}},
    {"int32 r = reduce_prod(axes = v1, keep_dims = no, x = s);", 1, {24}},
    {"int32 r = reduce_sum(axes = v1, keep_dims = no, x = v);", 1, {0}},
    {"tensor<int32, [1]> r = reduce_max(axes = v1, keep_dims = yes, x = v);", 1, {5}},
    {"int32 r = reduce_min(axes = v1, keep_dims = no, x = v);", 1, {-7}},
    {"fp32 r = reduce_sum(axes = v1, keep_dims = no, x = scaled);", UNKNOWN, {0}},
    {"tensor<int32, [3]> r = range_1d(end = most, start = zero, step = most);", UNKNOWN, {0}},
    {"tensor<int32, [?]> r = range_1d(end = k, start = one, step = k);", 2, {1, -2}},
    {"tensor<int32, [?]> r = range_1d(end = most, start = zero, step = one);", UNKNOWN, {0}},
    {"tensor<int32, [2]> p, tensor<int32, [2]> r = split(axis = zero, num_splits = two, x = v);", 2, {0, 2}},
    {"tensor<int32, [1]> p, tensor<int32, [2]> r, tensor<int32, [1]> q = split(axis = zero, split_sizes = parts, x = "
     "v);",
     2,
     {-7, 0}},
    {"tensor<int32, [1]> p, tensor<int32, [2]> r = split(axis = zero, split_sizes = parts, x = v);", UNKNOWN, {0}},
    {"tensor<int32, [6]> r = tile(reps = v3, x = ends);", 6, {-1, 0, -1, 0, -1, 0}},
    {"tensor<int32, [2, 2]> r = fill(shape = grid, value = k);", 4, {-3, -3, -3, -3}},
    {"fp32 f = cast(dtype = to_fp32, x = k); fp32 g = mul(x = f, y = half); int32 r = cast(dtype = to_int32, x = g);",
     1,
     {-1}},
    {"fp32 f = cast(dtype = to_fp32, x = k); fp32 g = mul(x = f, y = half); fp32 h = floor(x = g);"
     "int32 r = cast(dtype = to_int32, x = h);",
     1,
     {-2}},
    {"fp32 f = cast(dtype = to_fp32, x = most); int32 r = cast(dtype = to_int32, x = f);", UNKNOWN, {0}},
    {"bool r = cast(dtype = to_bool, x = half);", 1, {1}},
    {"int32 q = non_such(x = one); int32 r = add(x = q, y = one);", UNKNOWN, {0}},
    {"tensor<int32, [2]> r = add(x = one, y = one);", UNKNOWN, {0}},
};

static mw_graph *parse(const char *text, const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    return mw_graph_parse_mil(text, strlen(text), NULL, &options, err);
}

static void check_row(const evaluated *row)
{
    char text[4096];
    mw_error err = {0};
    mw__evaluation evaluation = {0};
    mw__known known;
    snprintf(text, sizeof text, "%s%s} -> (r);}", head, row->text);
    mw_graph *graph = parse(text, NULL, &err);
    CHECK_OK(err);
    const bool good = graph != NULL && mw__evaluate(&evaluation, mw_graph_find(graph, "r"), &known);
    check_note(good == (row->count != UNKNOWN), __FILE__, __LINE__, "%s is %s", row->text,
               good ? "known" : "not known");
    for (int i = 0; good && i < row->count; i++)
        check_note((int)known.count == row->count && known.at[i] == row->at[i], __FILE__, __LINE__,
                   "%s element %d of %zu is %g", row->text, i, known.count, known.at[i]);
    mw_graph_destroy(graph);
}

static void test_small_integers_are_evaluated(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* Each doubles the work of the one before, if shared operands are evaluated again and again. */
static void test_shared_operands_end(void)
{
    char text[8192] = "program(1.3){func main<ios17>(int32 fed){int32 v0 = const()[val = int32(0)];";
    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "int32 v%d = add(x = v%d, y = v%d);", i + 1, i, i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "} -> (v60);}");
    mw_error err = {0};
    mw__evaluation evaluation = {0};
    mw__known known;
    mw_graph *graph = parse(text, NULL, &err);
    CHECK_OK(err);
    CHECK(!mw__evaluate(&evaluation, mw_graph_find(graph, "v60"), &known));
    CHECK(evaluation.steps < 10000);
    mw_graph_destroy(graph);
}

static void test_a_long_tensor_is_not_known(void)
{
    static const char text[] = "program(1.3){func main<ios17>(int32 fed){"
                               "tensor<int32, [1]> n = const()[val = tensor<int32, [1]>([65])];"
                               "tensor<int32, [1]> m = const()[val = tensor<int32, [1]>([64])];"
                               "int32 one = const()[val = int32(1)];"
                               "tensor<int32, [65]> r = fill(shape = n, value = one);"
                               "tensor<int32, [64]> q = fill(shape = m, value = one);} -> (r, q);}";
    mw_error err = {0};
    mw__evaluation evaluation = {0};
    mw__known known;
    mw_graph *graph = parse(text, NULL, &err);
    CHECK_OK(err);
    CHECK(!mw__evaluate(&evaluation, mw_graph_find(graph, "r"), &known));
    CHECK(mw__evaluate(&evaluation, mw_graph_find(graph, "q"), &known) && known.count == MW__KNOWN_MAX);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_small_integers_are_evaluated);
    RUN(test_shared_operands_end);
    RUN(test_a_long_tensor_is_not_known);
    return check_finish();
}
