/* What is counted of operations, against loops that count by running. */
#include "graph/ir/count.h"
#include "graph/ir/ir.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>

static mw_graph *graph_of;

static mw_tensor *input(const char *name, mw_shape shape) { return mw_input(graph_of, name, MW_F16, shape); }

static mw_tensor *weight(mw_shape shape)
{
    const int64_t count = mw_shape_count(shape);
    void *zeros = calloc((size_t)count, 2);
    mw_tensor *made = mw_constant(graph_of, MW_F16, shape, zeros);
    free(zeros);
    return made;
}

static const mw__op *op_of(const mw_tensor *value)
{
    mw_error err = {0};
    CHECK(mw_graph_check(graph_of, &err) == MW_OK);
    CHECK_OK(err);
    return value != NULL ? value->op : NULL;
}

static void check_count(const mw_tensor *value, double flops, uint64_t values, uint64_t weights, uint64_t results)
{
    const mw__op *op = op_of(value);
    REQUIRE(op != NULL);
    const mw__traffic traffic = mw__op_traffic(op);
    check_note(mw__op_flops(op) == flops, __FILE__, __LINE__, "%s: %g, not %g", op->kind, mw__op_flops(op), flops);
    check_note(traffic.values == values && traffic.weights == weights && traffic.results == results, __FILE__, __LINE__,
               "%s: %llu + %llu -> %llu", op->kind, (unsigned long long)traffic.values,
               (unsigned long long)traffic.weights, (unsigned long long)traffic.results);
}

static void begin(void) { graph_of = mw_graph_create(NULL, NULL); }
static void end(void) { mw_graph_destroy(graph_of); }

/* The loops of a product, counted by running them. */
static double naive_matmul(int batch, int m, int k, int n)
{
    double count = 0.0;
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < k; l++)
                    count += 2.0;
    return count;
}

static void test_products_are_counted(void)
{
    begin();
    check_count(mw_matmul(input("a", MW_SHAPE(3, 5, 7)), weight(MW_SHAPE(7, 11)), MW_TRANSPOSE_NONE),
                naive_matmul(3, 5, 7, 11), 2 * 3 * 5 * 7, 2 * 7 * 11, 2 * 3 * 5 * 11);
    check_count(mw_matmul(input("b", MW_SHAPE(7, 5)), input("c", MW_SHAPE(7, 11)), MW_TRANSPOSE_X),
                naive_matmul(1, 5, 7, 11), 2 * 7 * (5 + 11), 0, 2 * 5 * 11);
    mw_tensor *square = input("d", MW_SHAPE(6, 6));
    check_count(mw_matmul(square, square, MW_TRANSPOSE_NONE), naive_matmul(1, 6, 6, 6), 72, 0, 72);
    check_count(mw_linear(input("e", MW_SHAPE(4, 9)), weight(MW_SHAPE(5, 9)), weight(MW_SHAPE(5))),
                naive_matmul(1, 4, 9, 5), 72, 2 * (45 + 5), 40);
    end();
}

/* [1, 4, 10, 10] by 3x3 in two groups: each of 6 x 8 x 8 results is 2 * 9 products. The way back, each of 6 x 8 x 8
 * elements meets as many weights. */
static void test_convolutions_are_counted(void)
{
    begin();
    mw_conv_options options = mw_conv_defaults();
    options.groups = 2;
    check_count(mw_conv(input("x", MW_SHAPE(1, 4, 10, 10)), weight(MW_SHAPE(6, 2, 3, 3)), NULL, &options),
                2.0 * 6 * 64 * 18, 2 * 400, 2 * 108, 2 * 6 * 64);
    check_count(mw_conv_transpose(input("y", MW_SHAPE(1, 6, 8, 8)), weight(MW_SHAPE(6, 2, 3, 3)), NULL, &options),
                2.0 * 6 * 64 * 18, 2 * 6 * 64, 2 * 108, 2 * 400);
    end();
}

static void test_elements_are_counted(void)
{
    begin();
    mw_tensor *x = input("x", MW_SHAPE(8, 16)), *y = input("y", MW_SHAPE(16));
    check_count(mw_add(x, y), 128, 2 * (128 + 16), 0, 256);
    check_count(mw_add(x, x), 128, 256, 0, 256);
    check_count(mw_relu(x), 128, 256, 0, 256);
    check_count(mw_exp(x), -1.0, 256, 0, 256);
    check_count(mw_transpose(x, MW_AXES(1, 0)), 0, 256, 0, 256);
    check_count(mw_reduce_sum(x, MW_AXES(1), false), 128 - 8, 256, 0, 16);
    check_count(mw_reduce_mean(x, MW_AXES(1), false), 128, 256, 0, 16);
    const int64_t from[] = {0, 0}, size[] = {2, 16};
    check_count(mw_slice_by_size(x, from, size), 0, 64, 0, 64);
    end();
}

/* What has no number as a whole has its products. */
static void test_products_within_are_counted(void)
{
    begin();
    const mw_recurrent_weights weights = {.weight_ih = weight(MW_SHAPE(12, 5)), .weight_hh = weight(MW_SHAPE(12, 3))};
    const mw_recurrent lstm = mw_lstm(input("x", MW_SHAPE(7, 2, 5)), NULL, NULL, &weights, NULL);
    mw_tensor *query = input("q", MW_SHAPE(2, 4, 6, 8)), *key = input("k", MW_SHAPE(2, 4, 9, 8));
    const mw_tensor *scores = mw_scaled_dot_product_attention(query, key, input("v", MW_SHAPE(2, 4, 9, 5)), NULL);
    const mw__op *layer = op_of(lstm.y);
    REQUIRE(layer != NULL && scores != NULL && strcmp(layer->kind, "lstm") == 0);
    CHECK(mw__op_flops(layer) < 0.0 && mw__op_flops(scores->op) < 0.0);
    CHECK_NEAR(mw__op_products(layer), naive_matmul(7, 2, 5, 12) + naive_matmul(7, 2, 3, 12), 0.0);
    CHECK_NEAR(mw__op_products(scores->op), naive_matmul(8, 6, 8, 9) + naive_matmul(8, 6, 9, 5), 0.0);
    end();
}

/* ---- a text with what it says ---- */

static const mw__op *parse(const char *statement, mw_graph **out)
{
    char text[4096];
    mw_error err = {0};
    snprintf(text, sizeof text,
             "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n    func main<ios18>(%s\n    } -> (y);\n}\n",
             statement);
    *out = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(*out != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    const mw__block *body = *out != NULL ? mw__graph_main(*out)->body : NULL;
    return body != NULL && body->op_count > 0 ? body->ops[body->op_count - 1] : NULL;
}

/* A weight of codes is read as it is stored: 8 x 16 of 4 bits and 16 halves. */
static void test_stored_weights_are_counted(void)
{
    mw_graph *graph;
    const mw__op *op = parse(
        "tensor<fp16, [4, 16]> x) {\n"
        "        tensor<fp16, [8, 16]> w = constexpr_lut_to_dense(indices = tensor<uint4, [8, 16]>(BLOBFILE(path = "
        "string(\"@model_path/weights/weight.bin\"), offset = uint64(64))), lut = tensor<fp16, [1, 1, 16, "
        "1]>(BLOBFILE(path = string(\"@model_path/weights/weight.bin\"), offset = uint64(256))))[name = "
        "string(\"w\")];\n"
        "        tensor<fp16, [4, 8]> y = linear(x = x, weight = w)[name = string(\"y\")];",
        &graph);
    REQUIRE(op != NULL);
    const mw__traffic traffic = mw__op_traffic(op);
    CHECK_INT(traffic.values, 128);
    CHECK_INT(traffic.weights, 8 * 16 / 2 + 32);
    CHECK_INT(traffic.results, 64);
    mw_graph_destroy(graph);
}

/* Extents beyond what fits, and those that nobody knows. */
static void test_numbers_without_bound_are_the_largest(void)
{
    static const int64_t long_axis = INT64_MAX;
    mw_shape shape = {.rank = 4, .dim = {long_axis, long_axis, long_axis, long_axis}};
    const mw__type huge = {.kind = MW__TENSOR, .dtype = MW_F16, .shape = shape};
    const mw__type open = {.kind = MW__TENSOR, .dtype = MW_F16, .shape = {.rank = 1, .dim = {MW_DIM_UNKNOWN}}};
    mw_tensor x = {.type = &huge}, y = {.type = &huge}, z = {.type = &open};
    mw_tensor *result = &y;
    mw__operand operand = {.value = &x};
    mw__slot slots[] = {{.name = "x", .operands = &operand, .count = 1}};
    const mw__op relu = {.row = &mw__rows[MW__OP_relu],
                         .kind = "relu",
                         .slots = slots,
                         .slot_count = 1,
                         .results = &result,
                         .result_count = 1};
    CHECK(mw__value_bytes(&x) == UINT64_MAX && mw__value_bytes(&z) == 0);
    CHECK(mw__op_flops(&relu) > 1e75 && isfinite(mw__op_flops(&relu)));
    CHECK(mw__op_traffic(&relu).values == UINT64_MAX && mw__op_traffic(&relu).results == UINT64_MAX);
    CHECK(mw__add_saturated(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    result = &z;
    CHECK(mw__op_flops(&relu) < 0.0 && mw__op_products(&relu) == 0.0);
}

/* An operation that the table does not know has bytes and no number. */
static void test_unknown_operations_have_bytes(void)
{
    mw_graph *graph;
    const mw__op *op = parse("tensor<fp16, [4, 16]> x) {\n        tensor<fp16, [4, 8]> y = made_up(x = x)[name = "
                             "string(\"y\")];",
                             &graph);
    REQUIRE(op != NULL && op->row == NULL);
    CHECK(mw__op_flops(op) < 0.0 && mw__op_products(op) == 0.0);
    CHECK_INT(mw__op_traffic(op).values, 128);
    CHECK_INT(mw__op_traffic(op).results, 64);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_products_are_counted);
    RUN(test_convolutions_are_counted);
    RUN(test_elements_are_counted);
    RUN(test_products_within_are_counted);
    RUN(test_stored_weights_are_counted);
    RUN(test_numbers_without_bound_are_the_largest);
    RUN(test_unknown_operations_have_bytes);
    return check_finish();
}
