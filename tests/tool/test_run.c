/* mw run: which tensors are batches of an input, and what shape the results have. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <string.h>

static void put_tensor(const char *path, const char *name, mw_shape shape)
{
    static float values[200 * 24 * 3];
    mw_error err = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = (float)(i % 97);
    mw_tensors_write(path, &(mw_tensor_values){name, MW_F32, shape, values}, 1, &err);
    CHECK_OK(err);
}

static void put_model(const char *folder, mw_tensor *(*build)(mw_graph *graph))
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(build(graph), "y");
    mw_graph_write(graph, folder, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static mw_tensor *turned(mw_graph *graph)
{
    return mw_transpose(mw_input(graph, "x", MW_F32, MW_SHAPE(4, 2)), MW_AXES(1, 0));
}

/* The examples of the result stand on its second axis. */
static void test_a_result_has_the_shape_of_the_model_whatever_its_axis(void)
{
    mw_error err = {0};
    float y[8] = {0};
    put_model("turned", turned);
    put_tensor("four.npy", "x", MW_SHAPE(4, 2));
    put_tensor("six.npy", "x", MW_SHAPE(6, 2));
    CHECK_MW(0, "y  [2, 4]", NULL, "run", "turned", "--input", "x=four.npy", "--out", "y.npz");
    CHECK_MW(0, "y  [2, 4]", NULL, "run", "turned", "--input", "x=four.npy", "-b", "4");
    CHECK_MW(0, "y  [2, 6]", NULL, "run", "turned", "--input", "x=six.npy");
    mw_tensors *file = mw_tensors_open("y.npz", &err);
    const mw_tensor_info *info = mw_tensors_find(file, "y");
    CHECK(info != NULL && mw_shape_equal(info->shape, MW_SHAPE(2, 4)));
    mw_tensors_read(file, "y", MW_F32, y, 8, &err);
    CHECK_OK(err);
    for (int i = 0; i < 8; i++)
        CHECK_INT(y[i], i % 4 * 2 + i / 4);
    mw_tensors_destroy(file);
}

static mw_tensor *four_features(mw_graph *graph) { return mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(8, 4))); }

static void test_a_tensor_of_other_examples_is_no_batch(void)
{
    put_model("four", four_features);
    put_tensor("boxes.npy", "x", MW_SHAPE(200, 24, 3));
    CHECK_MW(1, NULL, "is no batch for the input \"x\"", "run", "four", "--input", "x=boxes.npy");
    put_tensor("rows.npy", "x", MW_SHAPE(20, 2, 2));
    CHECK_MW(0, "y  [20, 4]", NULL, "run", "four", "--input", "x=rows.npy");
    put_tensor("one.npy", "x", MW_SHAPE(4));
    CHECK_MW(0, "y  [1, 4]", NULL, "run", "four", "--input", "x=one.npy");
    put_tensor("many.npy", "x", MW_SHAPE(400));
    CHECK_MW(1, NULL, "the first axis counts the examples", "run", "four", "--input", "x=many.npy");
}

static mw_tensor *picture(mw_graph *graph) { return mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3, 5, 4))); }

static void test_axes_in_another_order_are_no_example(void)
{
    put_model("picture", picture);
    put_tensor("last.npy", "x", MW_SHAPE(5, 4, 3));
    CHECK_MW(1, NULL, "is no batch", "run", "picture", "--input", "x=last.npy");
    put_tensor("first.npy", "x", MW_SHAPE(3, 5, 4));
    CHECK_MW(0, "y  [1, 3, 5, 4]", NULL, "run", "picture", "--input", "x=first.npy");
    put_tensor("lasts.npy", "x", MW_SHAPE(2, 5, 4, 3));
    CHECK_MW(1, NULL, "is no batch", "run", "picture", "--input", "x=lasts.npy");
}

static mw_tensor *sum(mw_graph *graph)
{
    return mw_add(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), mw_input(graph, "z", MW_F32, MW_SHAPE(2, 3)));
}

static void test_inputs_of_different_numbers_of_examples_are_refused(void)
{
    put_model("sum", sum);
    put_tensor("x5.npy", "x", MW_SHAPE(5, 3));
    put_tensor("z4.npy", "z", MW_SHAPE(4, 3));
    CHECK_MW(1, NULL, "has 4 examples for the input \"z\", and another input has 5", "run", "sum", "--input",
             "x=x5.npy", "--input", "z=z4.npy");
}

/* As many as a file has: no table of the tool ends before them. */
static void test_every_input_and_result_of_many_is_there(void)
{
    enum { MANY = 70 };
    mw_error err = {0};
    char name[400];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "x%d%0300d", i, 0); /* two that differ behind their beginning */
        mw_tensor *x = mw_input(graph, name, MW_F32, MW_SHAPE(2, 3));
        snprintf(name, sizeof name, "y%d", i);
        mw_output(mw_mul(x, mw_scalar(graph, MW_F32, (float)i)), name);
    }
    mw_graph_write(graph, "many", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    CHECK_MW(0, "y69  [1, 3]", NULL, "run", "many", "--out", "many.npz");
    CHECK_MW(0, NULL, NULL, "compare", "many", "many");
    mw_tensors *file = mw_tensors_open("many.npz", &err);
    CHECK_INT(mw_tensors_get_info(file).count, MANY);
    CHECK_OK(err);
    mw_tensors_destroy(file);
}

static void test_every_weight_of_many_is_checked(void)
{
    enum { MANY = 300 };
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 1));
    for (int i = 0; i < MANY; i++) {
        char name[32];
        const float value = i % 2 == 0 ? 2.0f : 0.5f;
        snprintf(name, sizeof name, "w%d", i);
        x = mw_matmul(x, mw_name(mw_constant(graph, MW_F32, MW_SHAPE(1, 1), &value), name), MW_TRANSPOSE_NONE);
    }
    mw_output(mw_reduce_sum(x, MW_AXES(0, 1), false), "y");
    mw_graph_write(graph, "weights", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    CHECK_MW(0, "301 tensors", NULL, "gradcheck", "weights", "--elements", "1");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_result_has_the_shape_of_the_model_whatever_its_axis);
    RUN(test_a_tensor_of_other_examples_is_no_batch);
    RUN(test_axes_in_another_order_are_no_example);
    RUN(test_inputs_of_different_numbers_of_examples_are_refused);
    RUN(test_every_input_and_result_of_many_is_there);
    RUN(test_every_weight_of_many_is_checked);
    folder_leave(folder);
    return check_finish();
}
