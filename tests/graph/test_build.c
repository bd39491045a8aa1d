/* Building: sticky errors, sharing of constants, defaults, names, results, leaves, mw_op, verification, arguments. */
#include "graph_check.h"
#include "support/op_count.h"

#include <stdlib.h>

#define S MW_SHAPE

static void expect_error(mw_graph *graph, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph_check(graph, &err);
    drop_places(err.message);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

/* ---- errors ---- */

static void test_first_error_sticks(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 3));
    CHECK(mw_matmul(x, x, MW_TRANSPOSE_NONE) == NULL);
    CHECK(mw_softmax(x, 9) == NULL);
    CHECK(mw_relu(x) == NULL);
    CHECK(mw_input(g, "y", MW_F32, S(1)) == NULL);
    CHECK(mw_scalar(g, MW_F32, 1) == NULL);
    CHECK(mw_name(x, "z") == NULL);
    CHECK(mw_output(x, "z") == NULL);
    CHECK(mw_dense(x, 4, "d") == NULL);
    expect_error(g, MW_ERROR_SHAPE, "matmul: inner dimensions differ");
}

static void test_null_tensor_yields_null_without_an_error(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 3)), *parts[2];
    mw_error err = {0};
    CHECK(mw_add(NULL, x) == NULL && mw_add(x, NULL) == NULL);
    CHECK(mw_select(NULL, x, x) == NULL && mw_gelu(NULL, MW_GELU_EXACT) == NULL);
    CHECK(mw_one_hot(NULL, 2, 0, MW_F32, 1, 0) == NULL && mw_reduce_sum(NULL, MW_ALL_AXES, false) == NULL);
    CHECK(mw_concat((mw_tensor *const[]){x, NULL}, 2, 0) == NULL && mw_concat(NULL, 0, 0) == NULL);
    CHECK(mw_pad(NULL, NULL, 1, MW_PAD_CONSTANT, 0) == NULL && mw_slice_by_index(NULL, NULL) == NULL);
    CHECK(mw_linear(x, NULL, NULL) == NULL && mw_dense(NULL, 1, "d") == NULL && mw_add_scalar(NULL, 1) == NULL);
    CHECK(mw_name(NULL, "n") == NULL && mw_output(NULL, "n") == NULL && mw_stop_gradient(NULL) == NULL);
    CHECK_INT(mw_split(NULL, 2, 0, parts), MW_ERROR_ARGUMENT);
    CHECK(parts[0] == NULL && parts[1] == NULL);
    CHECK(mw_input(NULL, "x", MW_F32, S(1)) == NULL && mw_fill(NULL, MW_F32, S(1), 0) == NULL);
    CHECK_INT(mw_graph_check(g, &err), MW_OK);
    mw_graph_destroy(g);
    mw_graph_destroy(NULL);
}

static void test_tensor_of_another_graph_is_refused(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2)), *y = mw_input(other, "y", MW_F32, S(2));
    CHECK(mw_add(x, y) == NULL);
    expect_error(g, MW_ERROR_ARGUMENT, "add: y, \"y\", belongs to another graph");
    expect_error(other, MW_ERROR_ARGUMENT, "add: y, \"y\", belongs to another graph"); /* whichever is asked */
}

static void test_tensors_of_two_graphs_are_an_error_of_both(void)
{
    for (int i = 0; i < 4; i++) {
        mw_graph *g = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 2)), *s = mw_state(g, "s", MW_F32, S(2, 2), mw_init_zeros());
        mw_tensor *y = mw_relu(mw_input(other, "y", MW_F32, S(2, 2)));
        CHECK(i != 0 || mw_matmul(y, x, MW_TRANSPOSE_NONE) == NULL);
        CHECK(i != 1 || mw_concat((mw_tensor *[]){x, y}, 2, 0) == NULL);
        CHECK(i != 2 || mw_state_assign(s, y) == NULL);
        CHECK(i != 3 || mw_mul(x, y) == NULL);
        expect_error(g, MW_ERROR_ARGUMENT, "another graph");
        expect_error(other, MW_ERROR_ARGUMENT, "another graph");
    }
}

static void test_a_graph_that_is_not_made_says_why(void)
{
    mw_error err = {0};
    mw_graph_options options = {0};
    CHECK(mw_graph_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "not made by mw_graph_defaults");
    err = (mw_error){0};
    options = mw_graph_defaults();
    options.opset = (mw_opset)99;
    CHECK(mw_graph_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "opset 99 is no mw_opset");
    CHECK(mw_graph_create(NULL, &err) == NULL); /* the error is still set */
    mw_error_clear(&err);
    mw_graph *graph = mw_graph_create(NULL, &err);
    CHECK(graph != NULL && err.status == MW_OK);
    mw_graph_destroy(graph);
}

static void test_a_tensor_without_a_name_is_called_by_its_operation(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 2));
    mw_relu(x);
    mw_tensor *y = mw_relu(x), *z = mw_input(other, "z", MW_F32, S(2, 2));
    mw_add(z, y);
    expect_error(g, MW_ERROR_ARGUMENT, "add: y, the result of relu, belongs to another graph");
    mw_error err = {0};
    mw_graph_check(other, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the result of relu #2");
    mw_graph_destroy(other);
}

static void test_messages_name_the_layer_and_the_operation(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 3));
    g->scope = "fc1";
    CHECK(mw_matmul(x, x, MW_TRANSPOSE_NONE) == NULL);
    mw_error err = {0};
    mw_graph_check(g, &err);
    CHECK_CONTAINS(err.message, "matmul \"fc1\": inner dimensions differ: x [2, 3] and y \"x\" [2, 3]");
    CHECK_STR(err.operation, "matmul");
    CHECK_STR(err.tensor, "fc1");
    CHECK(err.file != NULL && err.line > 0);
    mw_graph_destroy(g);
}

static void test_zeroed_options_are_refused(void)
{
    const mw_graph_options zeroed = {0};
    mw_graph_options wrong = mw_graph_defaults();
    wrong.opset = (mw_opset)19;
    CHECK(mw_graph_create(&zeroed, NULL) == NULL);
    CHECK(mw_graph_create(&wrong, NULL) == NULL);
    mw_error err = {0};
    CHECK_INT(mw_graph_check(NULL, &err), MW_ERROR_ARGUMENT);
}

/* ---- constants and defaults ---- */

static void test_defaults_become_shared_const_statements(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(2, 2));
    mw_tensor *y = op(g, "matmul", "x", x, "y", x, NULL);
    REQUIRE(y != NULL);
    CHECK_INT(op_count(g->block, "const"),
              2); /* one false for transpose_x, one for transpose_y: names tell their use */
    mw_tensor *flag = mw__arg(y->op, "transpose_x");
    REQUIRE(flag != NULL && flag->payload != NULL && flag->op != NULL);
    mw_tensor *again = mw_matmul(x, x, MW_TRANSPOSE_NONE);
    CHECK(again != NULL && flag == mw__arg(again->op, "transpose_x"));
    CHECK_INT(op_count(g->block, "const"), 2);
    mw_matmul(x, x, MW_TRANSPOSE_X);
    CHECK_INT(op_count(g->block, "const"), 3);
    mw_softmax(x, 1);
    mw_reduce_sum(x, MW_AXES(1), false); /* [1] of rank 1 is not the scalar 1 */
    CHECK_INT(op_count(g->block, "const"), 6);
    CHECK_INT(mw_graph_check(g, NULL), MW_OK);
    mw_graph_destroy(g);
}

static void test_default_scalars_take_the_element_type(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *half = op(g, "log", "x", mw_input(g, "h", MW_F16, S(2)), NULL);
    mw_tensor *single = op(g, "inverse", "x", mw_input(g, "s", MW_F32, S(2)), NULL);
    REQUIRE(half != NULL && single != NULL);
    double value = -1;
    CHECK_INT(mw_tensor_dtype(mw__arg(half->op, "epsilon")), MW_F16);
    CHECK(mw__arg_float(half->op, "epsilon", &value) && value == 0); /* 1e-45 is 0 in fp16 */
    CHECK_INT(mw_tensor_dtype(mw__arg(single->op, "epsilon")), MW_F32);
    CHECK(mw__arg_float(single->op, "epsilon", &value) && value == (double)1e-4f);
    mw_graph_destroy(g);
}

static void test_constants_of_the_user_are_not_shared(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    CHECK(mw_scalar(g, MW_F32, 1) != mw_scalar(g, MW_F32, 1));
    CHECK(mw__constant(g, MW_F32, mw_shape_scalar(), &(float){1}, "c") ==
          mw__constant(g, MW_F32, mw_shape_scalar(), &(float){1}, "c"));
    CHECK(mw__constant(g, MW_I32, mw_shape_scalar(), &(int32_t){1065353216}, "c") !=
          mw__constant(g, MW_F32, mw_shape_scalar(), &(float){1}, "c")); /* the same bytes */
    static const float large[32] = {0};
    CHECK(mw__constant(g, MW_F32, S(32), large, "c") != mw__constant(g, MW_F32, S(32), large, "c"));
    mw_graph_destroy(g);
}

static void test_shared_constants_stay_in_their_block(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw__block *outer = g->block;
    mw__block *inner = mw__block_create(g->current, NULL, &err);
    const float value = 2;
    g->block = inner;
    mw_tensor *in = mw__constant(g, MW_F32, mw_shape_scalar(), &value, "c");
    g->block = outer;
    mw_tensor *out = mw__constant(g, MW_F32, mw_shape_scalar(), &value, "c");
    CHECK(in != out && in->op->block == inner && out->op->block == outer);
    mw_graph_destroy(g);
}

static void test_constants_of_ten_elements_go_to_the_blob(void)
{
    static const int32_t numbers[16] = {0};
    mw_graph *new_graph = make_graph(MW_IOS18, NULL), *old = make_graph(MW_IOS17, NULL);
    CHECK(mw_constant(new_graph, MW_F32, S(10), numbers)->payload->in_blob);
    CHECK(!mw_constant(new_graph, MW_F32, S(9), numbers)->payload->in_blob);
    CHECK(mw_constant(new_graph, MW_I32, S(10), numbers)->payload->in_blob);
    CHECK(!mw_constant(old, MW_I32, S(10), numbers)->payload->in_blob);
    CHECK(mw_constant(old, MW_I8, S(2, 5), numbers)->payload->in_blob);
    CHECK(!mw_constant(new_graph, MW_BOOL, S(10), numbers)->payload->in_blob);
    mw_graph_destroy(new_graph);
    mw_graph_destroy(old);
}

static void test_constant_refuses(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "constant: data is NULL", mw_constant(g, MW_F32, S(2), NULL));
    REFUSES(MW_ERROR_DTYPE, "string has no elements", mw_constant(g, MW_STRING, S(2), "x"));
    REFUSES(MW_ERROR_SHAPE, "has no size in memory", mw_constant(g, MW_F32, S(-1), "x"));
    REFUSES(MW_ERROR_NUMERIC, "scalar: 1e+06 does not fit fp16", mw_scalar(g, MW_F16, 1e6));
    REFUSES(MW_ERROR_NUMERIC, "does not fit int32", mw_scalar(g, MW_I32, 0x1p31));
    REFUSES(MW_ERROR_ARGUMENT, "the string is NULL", mw_text(g, NULL));
}

/* ---- reading arguments ---- */

static mw_tensor *element_of(mw_graph *g, mw_dtype dtype, const void *data)
{
    return mw_constant(g, dtype, S(2), data);
}

static void test_payload_elements_of_every_kind(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    static const uint16_t half[] = {0x3c00, 0xc000}, bf[] = {0x3f80, 0xc000}, wide[] = {65535, 1};
    static const int8_t small[] = {-5, 7};
    static const int64_t large[] = {INT64_MIN, INT64_MAX};
    static const double doubles[] = {0.1, -3.75};
    static const unsigned char nibbles[] = {0x7f}, six[] = {0xc1, 0x0f}, fp8[] = {0x38, 0xc4}, e5[] = {0x3c, 0xc0};
    CHECK(mw__payload_float(element_of(g, MW_F16, half)->payload, 1) == -2);
    CHECK(mw__payload_float(element_of(g, MW_BF16, bf)->payload, 1) == -2);
    CHECK(mw__payload_int(element_of(g, MW_U16, wide)->payload, 0) == 65535);
    CHECK(mw__payload_int(element_of(g, MW_I8, small)->payload, 0) == -5);
    CHECK(mw__payload_int(element_of(g, MW_I64, large)->payload, 0) == INT64_MIN);
    CHECK(mw__payload_float(element_of(g, MW_F64, doubles)->payload, 0) == 0.1);
    CHECK(mw__payload_int(element_of(g, MW_F64, doubles)->payload, 1) == -3);
    CHECK(mw__payload_int(element_of(g, MW_I4, nibbles)->payload, 0) == -1);
    CHECK(mw__payload_int(element_of(g, MW_I4, nibbles)->payload, 1) == 7);
    CHECK(mw__payload_int(element_of(g, MW_U4, nibbles)->payload, 0) == 15);
    CHECK(mw__payload_int(element_of(g, MW_U6, six)->payload, 0) == 1);
    CHECK(mw__payload_int(element_of(g, MW_U6, six)->payload, 1) == 63); /* straddles the byte */
    CHECK(mw__payload_float(element_of(g, MW_F8E4M3FN, fp8)->payload, 0) == 1);
    CHECK(mw__payload_float(element_of(g, MW_F8E4M3FN, fp8)->payload, 1) == -3);
    CHECK(mw__payload_float(element_of(g, MW_F8E5M2, e5)->payload, 0) == 1);
    CHECK(mw__payload_float(element_of(g, MW_F8E5M2, e5)->payload, 1) == -2);
    CHECK_INT(mw_graph_check(g, NULL), MW_OK);
    mw_graph_destroy(g);
}

static void test_absent_arguments_read_as_their_defaults(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_gather(mw_input(g, "x", MW_F32, S(4)), mw_input(g, "i", MW_I32, S(2)), 0);
    mw__slot bare[5];
    memcpy(bare, y->op->slots, sizeof bare);
    mw__op parsed = *y->op; /* as text without the optional arguments would be */
    parsed.slots = bare;
    bare[0].operands = bare[1].operands = bare[3].operands = NULL;
    int64_t number = -1;
    bool flag = true;
    size_t count;
    CHECK(mw__arg_int(&parsed, "axis", &number) && number == 0);
    CHECK(mw__arg_ints(&parsed, "batch_dims", &number, 1, &count) && count == 1);
    CHECK(mw__arg_bool(&parsed, "validate_indices", &flag) && !flag);
    CHECK(!mw__arg_present(&parsed, "axis") && mw__arg_present(&parsed, "x"));
    CHECK(!mw__arg_int(&parsed, "indices", &number)); /* not a constant */
    mw_error err = {0};
    CHECK_INT(mw__op_verify(&parsed, &err), MW_OK);
    mw_graph_destroy(g);
}

/* ---- names and results ---- */

static void test_names_are_unique(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "input: the name \"x\" is taken",
            (mw_input(g, "x", MW_F32, S(1)), mw_input(g, "x", MW_F32, S(1))));
    REFUSES(MW_ERROR_ARGUMENT, "name: the name \"x\" is taken", mw_name(mw_relu(mw_input(g, "x", MW_F32, S(1))), "x"));
    REFUSES(MW_ERROR_ARGUMENT, "output: the name \"x\" is taken",
            mw_output(mw_relu(mw_input(g, "x", MW_F32, S(1))), "x"));
    REFUSES(MW_ERROR_ARGUMENT, "the name is empty", mw_input(g, "", MW_F32, S(1)));
    REFUSES(MW_ERROR_ARGUMENT, "is a port and keeps its name", mw_name(mw_input(g, "x", MW_F32, S(1)), "y"));
    REFUSES(MW_ERROR_ARGUMENT, "the name \"d.weight\" is taken",
            mw_dense(mw_dense(mw_input(g, "x", MW_F32, S(1, 2)), 2, "d"), 2, "d"));
}

static void test_name_and_output_of_one_tensor_agree(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_name(mw_relu(mw_input(g, "x", MW_F32, S(1))), "h");
    CHECK(mw_name(h, "h") == h);
    CHECK(mw_output(h, "h") == h);
    CHECK(mw_graph_find(g, "h") == h);
    CHECK_STR(mw_tensor_name(h), "h");
    CHECK(mw_graph_find(g, "absent") == NULL && mw_graph_find(NULL, "h") == NULL);
    CHECK_INT(mw_graph_check(g, NULL), MW_OK);
    mw_graph_destroy(g);
}

static void test_output_of_leaf_constant_and_output_is_an_identity(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(1));
    mw_tensor *a = mw_output(x, "a"), *b = mw_output(mw_scalar(g, MW_F32, 1), "b");
    mw_tensor *y = mw_relu(x), *c = mw_output(y, "c"), *d = mw_output(y, "d");
    CHECK(a != NULL && a != x && strcmp(a->op->kind, "identity") == 0);
    CHECK(b != NULL && strcmp(b->op->kind, "identity") == 0);
    CHECK(c == y && d != NULL && d != y);
    CHECK_INT(g->current->body->output_count, 4);
    CHECK_STR(mw_tensor_name(y), "c");
    mw_graph_destroy(g);
}

static void test_stop_gradient_leaves_other_uses_alone(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(1)), *stopped = mw_stop_gradient(x);
    CHECK(stopped != x && stopped->stop_gradient && !x->stop_gradient);
    CHECK_TYPE(stopped, MW_F32, S(1));
    mw_graph_destroy(g);
}

static void test_parameter_refuses(void)
{
    REFUSES(MW_ERROR_DTYPE, "parameter \"w\": int32 cannot be trained",
            mw_parameter(g, "w", MW_I32, S(1), mw_init_zeros()));
    REFUSES(MW_ERROR_SHAPE, "every extent must be known", mw_parameter(g, "w", MW_F32, S(-1), mw_init_zeros()));
    REFUSES(MW_ERROR_ARGUMENT, "was not made by an mw_init function", mw_parameter(g, "w", MW_F32, S(1), (mw_init){0}));
    REFUSES(MW_ERROR_SHAPE, "input \"x\": extent -2 of axis 0 is negative", mw_input(g, "x", MW_F32, S(-2)));
    REFUSES(MW_ERROR_SHAPE, "more than 2^63", mw_input(g, "x", MW_F32, S(INT64_MAX, 3)));
    REFUSES(MW_ERROR_DTYPE, "string has no elements", mw_input(g, "x", MW_STRING, S(1)));
}

static void test_parameter_copies_its_data(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    float *data = malloc(2 * sizeof *data);
    REQUIRE(data != NULL);
    data[0] = 1;
    data[1] = 2;
    mw_tensor *w = mw_parameter(g, "w", MW_F32, S(2), mw_init_data(data));
    free(data);
    REQUIRE(w != NULL);
    CHECK(((const float *)w->init->data)[1] == 2);
    CHECK(w->role == MW__PARAMETER);
    mw_graph_destroy(g);
}

/* ---- dense, linear and their expansion ---- */

static void test_dense_makes_parameters_and_an_expanded_linear(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_dense(mw_input(g, "x", MW_F16, S(4, 3)), 5, "fc1");
    CHECK_TYPE(y, MW_F16, S(4, 5));
    CHECK_TYPE(mw_graph_find(g, "fc1.weight"), MW_F16, S(5, 3));
    CHECK_TYPE(mw_graph_find(g, "fc1.bias"), MW_F16, S(5));
    CHECK_INT(op_count(g->block, "linear"), 0);
    CHECK_INT(op_count(g->block, "matmul"), 1);
    CHECK(g->scope == NULL);
    const mw__init *bias = mw_graph_find(g, "fc1.bias")->init;
    CHECK_NEAR(bias->b, 0.57735026918962573, 1e-7); /* 1 / sqrt(3) */
    mw_graph_destroy(g);
}

static void test_dense_refuses(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "dense \"d\": units 0", mw_dense(mw_input(g, "x", MW_F32, S(1, 2)), 0, "d"));
    REFUSES(MW_ERROR_SHAPE, "the last extent of x [2, ?]", mw_dense(mw_input(g, "x", MW_F32, S(2, -1)), 1, "d"));
    REFUSES(MW_ERROR_ARGUMENT, "dense: the name is empty", mw_dense(mw_input(g, "x", MW_F32, S(1, 2)), 1, NULL));
    REFUSES(MW_ERROR_DTYPE, "int32 cannot be trained", mw_dense(mw_input(g, "x", MW_I32, S(1, 2)), 1, "d"));
}

static void test_op_expands_where_a_constant_is_wanted(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(4, 3)), *w = mw_input(g, "w", MW_F32, S(5, 3));
    mw_tensor *constant = mw_constant(g, MW_F32, S(5, 3), (const float[15]){0});
    CHECK_TYPE(op(g, "linear", "x", x, "weight", w, NULL), MW_F32, S(4, 5));
    CHECK_INT(op_count(g->block, "linear"), 0);
    CHECK_TYPE(op(g, "linear", "x", x, "weight", constant, NULL), MW_F32, S(4, 5));
    CHECK_INT(op_count(g->block, "linear"), 1);
    CHECK_INT(mw_graph_check(g, NULL), MW_OK);
    mw_graph_destroy(g);
}

static void test_op_refuses(void)
{
    REFUSES_IN((mw_opset)MW_IOS15, MW_ERROR_UNSUPPORTED, "relu: needs opset ios15, the function has ios14",
               (g->current->opset = (mw_opset)(MW_IOS15 - 1), op(g, "relu", NULL)));
    REFUSES(MW_ERROR_UNSUPPORTED, "nonsense: the table does not know", op(g, "nonsense", NULL));
    REFUSES(MW_ERROR_ARGUMENT, "relu: has no argument \"y\"; it takes x",
            op(g, "relu", "y", leaf(g, MW_F32, S(1)), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "relu: argument x is missing", op(g, "relu", NULL));
    REFUSES(MW_ERROR_ARGUMENT, "add: x is given twice", op(g, "add", "x", leaf(g, MW_F32, S(1)), "x", one(g, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "relu: x is NULL", op(g, "relu", "x", (mw_tensor *)NULL, NULL));
}

static void test_op_reports_to_the_caller_and_the_graph(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *result = NULL;
    mw_error err = {.status = MW_ERROR_FILE};
    CHECK_INT(mw_op(g, "relu", NULL, 0, &result, 1, &err), MW_ERROR_FILE);
    CHECK_INT(mw_graph_check(g, NULL), MW_OK); /* a set error does nothing */
    err = (mw_error){0};
    CHECK_INT(mw_op(g, "relu", NULL, 0, &result, 1, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "argument x is missing");
    expect_error(g, MW_ERROR_ARGUMENT, "argument x is missing");
}

/* ---- verification of parsed operations ---- */

static void test_verify_compares_declared_types(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_name(mw_relu(mw_input(g, "x", MW_F32, S(2, 3))), "y");
    mw_error err = {0};
    CHECK_INT(mw__op_verify(y->op, &err), MW_OK);
    y->type = mw__type_tensor(g, MW_F32, S(2, -1), &err);
    CHECK_INT(mw__op_verify(y->op, &err), MW_OK); /* ? fits */
    y->type = mw__type_tensor(g, MW_F32, S(2, 4), &err);
    y->op->line = 7;
    y->op->column = 13;
    CHECK_INT(mw__op_verify(y->op, &err), MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "relu \"y\": result 0 is declared fp32 [2, 4], the rule gives fp32 [2, 3]");
    CHECK_INT(err.text_line, 7);
    CHECK_INT(err.text_column, 13);
    mw_graph_destroy(g);
}

static void test_function_replaces_the_empty_main_once(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw__function *first = mw__function_create(g, "predict", MW_IOS16, &err);
    REQUIRE(first != NULL);
    CHECK(mw__graph_main(g) == NULL && g->current == first && g->block == first->body);
    mw_input(g, "x", MW_F32, S(1));
    CHECK(mw__function_create(g, "main", MW_IOS16, &err) != NULL);
    CHECK_INT(g->function_count, 2);
    CHECK(mw__function_create(g, "main", MW_IOS16, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "function \"main\" exists already");
    mw_graph_destroy(g);
}

static void test_type_bytes_round_sub_byte_types_up(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    size_t size = 0;
    CHECK(mw__type_bytes(mw__type_tensor(g, MW_U6, S(3), NULL), &size) && size == 3);
    CHECK(mw__type_bytes(mw__type_tensor(g, MW_F16, S(2, 3), NULL), &size) && size == 12);
    CHECK(mw__type_bytes(mw__type_tensor(g, MW_F16, S(0, 3), NULL), &size) && size == 0);
    CHECK(!mw__type_bytes(mw__type_tensor(g, MW_F16, S(-1), NULL), &size));
    CHECK(!mw__type_bytes(mw__type_tensor(g, MW_F64, S(INT64_MAX), NULL), &size));
    CHECK(!mw__type_bytes(mw__type_tensor(g, MW_STRING, S(1), NULL), &size));
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_first_error_sticks);
    RUN(test_null_tensor_yields_null_without_an_error);
    RUN(test_tensor_of_another_graph_is_refused);
    RUN(test_tensors_of_two_graphs_are_an_error_of_both);
    RUN(test_a_graph_that_is_not_made_says_why);
    RUN(test_a_tensor_without_a_name_is_called_by_its_operation);
    RUN(test_messages_name_the_layer_and_the_operation);
    RUN(test_zeroed_options_are_refused);
    RUN(test_defaults_become_shared_const_statements);
    RUN(test_default_scalars_take_the_element_type);
    RUN(test_constants_of_the_user_are_not_shared);
    RUN(test_shared_constants_stay_in_their_block);
    RUN(test_constants_of_ten_elements_go_to_the_blob);
    RUN(test_constant_refuses);
    RUN(test_payload_elements_of_every_kind);
    RUN(test_absent_arguments_read_as_their_defaults);
    RUN(test_names_are_unique);
    RUN(test_name_and_output_of_one_tensor_agree);
    RUN(test_output_of_leaf_constant_and_output_is_an_identity);
    RUN(test_stop_gradient_leaves_other_uses_alone);
    RUN(test_parameter_refuses);
    RUN(test_parameter_copies_its_data);
    RUN(test_dense_makes_parameters_and_an_expanded_linear);
    RUN(test_dense_refuses);
    RUN(test_op_expands_where_a_constant_is_wanted);
    RUN(test_op_refuses);
    RUN(test_op_reports_to_the_caller_and_the_graph);
    RUN(test_verify_compares_declared_types);
    RUN(test_function_replaces_the_empty_main_once);
    RUN(test_type_bytes_round_sub_byte_types_up);
    return check_finish();
}
