/* The text for people, whole: a reviewer reads it here. */
#include "graph_check.h"

#define S MW_SHAPE

static void test_mlp_prints_one_line_an_operation(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(4, 3)), *parts[2];
    mw_tensor *h = mw_name(mw_clip(mw_dense(x, 2, "fc"), 0, 6), "h");
    CHECK_INT(mw_split(h, 2, 1, parts), MW_OK);
    mw_output(mw_concat(parts, 2, 1), "y");
    char *text = mw_graph_print(g, NULL);
    REQUIRE(text != NULL);
    CHECK_STR(text, "main<ios18>\n"
                    "  x          fp32 [4, 3]  input\n"
                    "  fc.weight  fp32 [2, 3]  parameter, 6\n"
                    "  fc.bias    fp32 [2]     parameter, 2\n"
                    "  matmul_0   fp32 [4, 2]  matmul(transpose_x = false, transpose_y = true, x = x, y = fc.weight)\n"
                    "  add_0      fp32 [4, 2]  add(x = matmul_0, y = fc.bias)\n"
                    "  h          fp32 [4, 2]  clip(alpha = 0, beta = 6, x = add_0)\n"
                    "  split_0    fp32 [4, 1]\n"
                    "  split_1    fp32 [4, 1]  split(axis = 1, num_splits = 2, x = h)\n"
                    "  y          fp32 [4, 2]  concat(axis = 1, interleave = false, values = (split_0, split_1))\n"
                    "  -> (y)\n"
                    "2 parameter tensors, 8 parameters\n");
    mw_string_free(text);
    mw_graph_destroy(g);
}

static void test_constants_print_short_or_by_type(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, S(-1, 12));
    mw_tensor *y = mw_add(x, mw_constant(g, MW_F32, S(12), (const float[12]){0}));
    y = mw_add(mw_reduce_sum(mw_gelu(y, MW_GELU_EXACT), MW_AXES(0, 1), false), mw_scalar(g, MW_F32, 0.1));
    char *text = mw_graph_print(g, NULL);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "fp32 [?, 12]");
    CHECK_CONTAINS(text, "y = fp32 [12])");
    CHECK_CONTAINS(text, "mode = \"EXACT\"");
    CHECK_CONTAINS(text, "axes = [0, 1]");
    CHECK_CONTAINS(text, "y = 0.1)");
    mw_string_free(text);
    mw_graph_destroy(g);
}

static void test_failed_graph_prints_its_error(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_softmax(mw_input(g, "x", MW_F32, S(1)), 3);
    mw_error err = {0};
    CHECK(mw_graph_print(g, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "softmax #1: axis 3");
    mw_string_free(NULL);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_mlp_prints_one_line_an_operation);
    RUN(test_constants_print_short_or_by_type);
    RUN(test_failed_graph_prints_its_error);
    return check_finish();
}
