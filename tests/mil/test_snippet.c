/* MIL text as a part of a graph: values and gradients as of the constructors, used many times, and what is refused. */
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
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
        mw_graph *g = mw_graph_create(NULL, NULL);
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
        mw_program_run(program, &err);
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
    mw_graph *g = mw_graph_create(NULL, NULL);
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

/* ---- an operation of one's own: forward and gradient are texts ---- */

/* y = x with 1 at most, of which the rule lets the gradient through */
static const char cut[] = "func cut<ios15>(tensor<fp32, [2, 3]> x) {\n"
                          "    tensor<fp32, []> one = const()[name = tensor<string, []>(\"one\"), val = "
                          "tensor<fp32, []>(1)];\n"
                          "    tensor<fp32, [2, 3]> y = minimum(x = x, y = one)[name = tensor<string, []>(\"y\")];\n"
                          "} -> (y);";
static const char pass_on[] = "func pass_on<ios15>(tensor<fp32, [2, 3]> x, tensor<fp32, [2, 3]> dy) {\n"
                              "    tensor<fp32, [2, 3]> s = sigmoid(x = x)[name = tensor<string, []>(\"s\")];\n"
                              "    tensor<fp32, [2, 3]> dx = mul(x = dy, y = s)[name = tensor<string, []>(\"dx\")];\n"
                              "} -> (dx);";

static mw_status gradient_of_cut(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    ++*(int *)call->user;
    mw_mil_snippet(call->graph, pass_on, (mw_tensor *const[]){call->inputs[0], call->dy}, 2, out_dx, 1);
    return mw_graph_check(call->graph, err);
}

/* One step of gradient descent on sum(y): w - rate * sigmoid(w), also where w is beyond 1 and minimum has no gradient.
 */
static void test_an_operation_of_two_texts_trains_by_its_own_rule(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        int asked = 0;
        float w[6];
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_parameter(g, "w", MW_F32, MW_SHAPE(2, 3), mw_init_data(x_values)), *y;
        mw_mil_snippet(g, cut, &x, 1, &y, 1);
        y = mw_custom_vjp("cut", y, &x, 1, gradient_of_cut, &asked);
        mw_trainer *trainer = engine_trainer(mw_reduce_sum(y, MW_AXES(0, 1), false), mw_sgd(0.5f), devices[i], 1, &err);
        mw_trainer_step(trainer, &(mw_batch){0}, NULL, &err);
        mw_trainer_read(trainer, "w", MW_F32, w, 6, &err);
        CHECK_OK(err);
        CHECK(asked > 0);
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(w[k], x_values[k] - 0.5f / (1.0f + expf(-x_values[k])), i == 0 ? 1e-6 : 2e-3);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(g);
    }
}

static void refuse(const char *text, size_t inputs, size_t results, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph_options how = mw_graph_defaults();
    how.opset = MW_IOS16;
    mw_graph *g = mw_graph_create(&how, NULL), *other = mw_graph_create(NULL, NULL);
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
    RUN(test_an_operation_of_two_texts_trains_by_its_own_rule);
    RUN(test_texts_and_tensors_that_do_not_fit_are_refused);
    return check_finish();
}
