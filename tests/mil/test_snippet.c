/* MIL text as a part of a graph: values and gradients as of the constructors, used many times, and what is refused. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <string.h>

/* y = x * sigmoid(x) + c, z = sum(y) */
static const char swish[] = "func swish<ios15>(tensor<fp32, [?, 3]> x, tensor<fp32, [3]> c) {\n"
                            "    tensor<fp32, [?, 3]> s = sigmoid(x = x)[name = tensor<string, []>(\"s\")];\n"
                            "    tensor<fp32, [?, 3]> p = mul(x = x, y = s)[name = tensor<string, []>(\"p\")];\n"
                            "    tensor<fp32, [?, 3]> y = add(x = p, y = c)[name = tensor<string, []>(\"y\")];\n"
                            "    tensor<int32, [2]> axes = const()[name = tensor<string, []>(\"axes\"), val = "
                            "tensor<int32, [2]>([0, 1])];\n"
                            "    tensor<bool, []> keep = const()[name = tensor<string, []>(\"keep\"), val = "
                            "tensor<bool, []>(false)];\n"
                            "    tensor<fp32, []> z = reduce_sum(axes = axes, keep_dims = keep, x = y)[name = "
                            "tensor<string, []>(\"z\")];\n"
                            "} -> (y, z);";

static const float x_values[6] = {-1.5f, 0.25f, 2.0f, 0.0f, -0.75f, 1.0f};

static void test_a_snippet_computes_and_differentiates_as_its_operations(void)
{
    mw_error err = {0};
    float y[2][6], d[2][6];
    for (int text = 0; text < 2; text++) {
        mw_graph *g = mw_graph_create(NULL);
        mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 3)), *out[2], *dx;
        mw_tensor *c = mw_constant(g, MW_F32, MW_SHAPE(3), (const float[]){1.0f, 2.0f, 3.0f});
        if (text == 1) {
            mw_mil_snippet(g, swish, (mw_tensor *const[]){x, c}, 2, out, 2);
            mw_mil_snippet(g, swish, (mw_tensor *const[]){out[0], c}, 2, out, 2); /* of its own result */
        } else {
            out[0] = x;
            for (int i = 0; i < 2; i++)
                out[0] = mw_add(mw_mul(out[0], mw_sigmoid(out[0])), c);
            out[1] = mw_reduce_sum(out[0], MW_AXES(0, 1), false);
        }
        mw_grad(out[1], &x, 1, &dx, &err);
        mw_output(out[0], "out");
        mw_output(dx, "dx");
        mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, &err);
        mw_program_write(program, "x", MW_F32, x_values, 6, &err);
        mw_run(program, &err);
        mw_program_read(program, "out", MW_F32, y[text], 6, &err);
        mw_program_read(program, "dx", MW_F32, d[text], 6, &err);
        mw_program_destroy(program);
        mw_graph_destroy(g);
    }
    CHECK_OK(err);
    CHECK(memcmp(y[0], y[1], sizeof y[0]) == 0);
    CHECK(memcmp(d[0], d[1], sizeof d[0]) == 0);
    CHECK(d[0][0] != 0.0f);
}

static void test_a_snippet_trains_and_shares_its_names_with_nobody(void)
{
    mw_error err = {0};
    float loss[2] = {0};
    mw_graph *g = mw_graph_create(NULL);
    mw_tensor *w = mw_parameter(g, "y", MW_F32, MW_SHAPE(2, 3), mw_init_constant(1.0f)); /* a name of the text */
    mw_tensor *c = mw_parameter(g, "s", MW_F32, MW_SHAPE(3), mw_init_zeros()), *out[2];
    mw_mil_snippet(g, swish, (mw_tensor *const[]){w, c}, 2, out, 2);
    mw_name(out[1], "z");
    mw_trainer *trainer = engine_trainer(mw_square(out[1]), mw_sgd(0.01f), MW_DEVICE_ANE, 1, &err);
    for (int i = 0; i < 2; i++)
        mw_trainer_step(trainer, &(mw_batch){0}, &loss[i], &err);
    CHECK_OK(err);
    CHECK(loss[1] < loss[0]);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(g);
}

static void refuse(const char *text, size_t inputs, size_t results, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph_options how = mw_graph_defaults();
    how.opset = MW_IOS16;
    mw_graph *g = mw_graph_create(&how), *other = mw_graph_create(NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 3)), *out[3];
    mw_tensor *const given[3] = {x, mw_input(other, "c", MW_F32, MW_SHAPE(3)), x};
    const mw_status got = mw_mil_snippet(g, text, given, inputs, out, results);
    mw_graph_check(g, &err);
    check_note(got == status && err.status == status && strstr(err.message, part) != NULL, __FILE__, __LINE__,
               "%.30s: %d \"%s\"", text, (int)got, err.message);
    for (size_t i = 0; i < results; i++)
        CHECK(out[i] == NULL);
    mw_graph_destroy(other);
    mw_graph_destroy(g);
}

static void test_texts_and_tensors_that_do_not_fit_are_refused(void)
{
    refuse(swish, 1, 2, MW_ERROR_ARGUMENT,
           "function \"swish\" of the text has 2 inputs and 2 results; 1 and 2 are given");
    refuse(swish, 2, 1, MW_ERROR_ARGUMENT, "2 and 1 are given");
    refuse(swish, 2, 2, MW_ERROR_ARGUMENT, "input 1 is of another graph");
    refuse("func f<ios15>(tensor<fp32, [3, 2]> x) {\n tensor<fp32, [3, 2]> y = relu(x = x)[name = tensor<string, "
           "[]>(\"y\")];\n} -> (y);",
           1, 1, MW_ERROR_SHAPE, "input 0 is fp32 [2, 3], where the text declares \"x\" fp32 [3, 2]");
    refuse("func f<ios15>(tensor<fp16, [2, 3]> x) {\n tensor<fp16, [2, 3]> y = relu(x = x)[name = tensor<string, "
           "[]>(\"y\")];\n} -> (y);",
           1, 1, MW_ERROR_DTYPE, "input 0 is fp32 [2, 3]");
    refuse(
        "func f<ios18>(tensor<fp32, [2, 3]> x) {\n tensor<fp32, [2, 3]> y = relu(x = x)[name = string(\"y\")];\n} -> "
        "(y);",
        1, 1, MW_ERROR_UNSUPPORTED, "the text is of ios18, the graph of ios16");
    refuse("func f<ios15>(tensor<fp32, [2, 3]> x) {\n tensor<fp32, [2, 3]> y = nonsense(x = x)[name = tensor<string, "
           "[]>(\"y\")];\n} -> (y);",
           1, 1, MW_ERROR_UNSUPPORTED, "nonsense");
    refuse("func f<ios15>(tensor<fp32, [2, 3]> x) {\n oops", 1, 1, MW_ERROR_FORMAT, "2");
    refuse("", 1, 1, MW_ERROR_FORMAT, "");
    refuse("func f<ios15>(tensor<fp32, [2, 3]> x) {\n tensor<fp32, [9]> y = relu(x = x)[name = tensor<string, "
           "[]>(\"y\")];\n} -> (y);",
           1, 1, MW_ERROR_FORMAT, "");
}

int main(void)
{
    RUN(test_a_snippet_computes_and_differentiates_as_its_operations);
    RUN(test_a_snippet_trains_and_shares_its_names_with_nobody);
    RUN(test_texts_and_tensors_that_do_not_fit_are_refused);
    return check_finish();
}
