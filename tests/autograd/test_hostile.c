/* Misuse of the gradient calls: what a rule, a seed, a segment or a loop must not do is refused with a message, in
 * bounded time and memory. */
#include "support/check.h"

#include <math.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <time.h>

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

/* ---- custom rules ---- */

static mw_status through_itself(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    return mw_vjp(&call->y, &call->dy, 1, call->inputs, call->count, out_dx, err);
}

static void test_a_rule_that_differentiates_its_own_value_ends(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3)), *dx = x;
    mw_tensor *y = mw_custom_vjp("doubled", mw_tanh(x), &x, 1, through_itself, NULL);
    CHECK_INT(mw_grad(sum(y), &x, 1, &dx, &err), MW_ERROR_STATE);
    CHECK_CONTAINS(err.message, "custom_vjp \"doubled\": its rule asks for a gradient that passes its own value");
    CHECK(dx == NULL);
    err = (mw_error){0};
    CHECK_INT(mw_grad(sum(y), &x, 1, &dx, &err), MW_ERROR_STATE); /* and the rule can be asked again */
    mw_graph_destroy(graph);
}

/* The way that such a rule is meant to go: the gradient of what y is made of. */
static mw_status through_the_operations(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    mw_tensor *again = mw_tanh(call->inputs[0]);
    return mw_vjp(&again, &call->dy, 1, call->inputs, call->count, out_dx, err);
}

static void test_a_rule_may_differentiate_other_values(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3)), *dx = NULL, *hv = NULL;
    mw_tensor *y = mw_custom_vjp("same", mw_tanh(x), &x, 1, through_the_operations, NULL);
    CHECK_INT(mw_grad(sum(y), &x, 1, &dx, &err), MW_OK);
    CHECK_INT(mw_hvp(sum(y), &x, &x, 1, &hv, &err), MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static mw_status writes_garbage_and_fails(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    memset(err->message, 'x', sizeof err->message); /* no end, no status */
    err->message[sizeof err->message - 1] = '\0';
    out_dx[0] = call->dy;
    return MW_ERROR_NUMERIC;
}

static void test_a_long_message_of_a_rule_is_cut(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3)), *dx = x;
    mw_tensor *y = mw_custom_vjp("loud", x, &x, 1, writes_garbage_and_fails, NULL);
    CHECK_INT(mw_grad(sum(y), &x, 1, &dx, &err), MW_ERROR_NUMERIC);
    CHECK_CONTAINS(err.message, "custom_vjp \"loud\": xxx");
    CHECK(dx == NULL);
    mw_graph_destroy(graph);
}

/* ---- seeds ---- */

static void test_a_seed_of_another_graph_is_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3)), *foreign = mw_input(other, "v", MW_F32, MW_SHAPE(3));
    mw_tensor *y = mw_relu(x), *out = NULL;
    mw_error err = {0};
    CHECK_INT(mw_vjp(&x, &foreign, 1, &x, 1, &out, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "mw_vjp: u 0 of \"x\" belongs to another graph");
    CHECK(out == NULL);
    err = (mw_error){0};
    CHECK_INT(mw_jvp(&y, 1, &x, &foreign, 1, &out, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_hvp(sum(y), &x, &foreign, 1, &out, &err), MW_ERROR_ARGUMENT);
    CHECK(out == NULL);
    err = (mw_error){0};
    CHECK_INT(mw_graph_check(graph, &err), MW_OK); /* the graph is as good as before */
    mw_graph_destroy(other);
    mw_graph_destroy(graph);
}

/* ---- segments ---- */

static void test_a_segment_from_a_leaf_or_from_itself_is_refused(void)
{
    for (int i = 0; i < 2; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_error err = {0};
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3)), *y = mw_name(mw_relu(x), "y");
        CHECK((i == 0 ? mw_recompute(x, &x, 1) : mw_recompute(y, &y, 1)) == NULL);
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT,
                    i == 0 ? "recompute: there is no operation between the inputs and \"x\""
                           : "no operation between the inputs and \"y\"");
        mw_graph_destroy(graph);
    }
}

static void test_an_input_that_comes_later_has_no_gradient_from_the_segment(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3)), *y = mw_relu(x), *later = mw_tanh(y);
    mw_tensor *inputs[] = {later, x, x}, *dx[2];
    mw_tensor *segment = mw_recompute(y, inputs, 3);
    CHECK_INT(mw_grad(sum(segment), (mw_tensor *const[]){x, later}, 2, dx, &err), MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

/* ---- loops ---- */

static void test_a_loop_of_65536_trips_is_refused_soon(void)
{
    static const char text[] =
        "program(1.3){func main<ios18>(tensor<fp32, [2]> x){"
        "tensor<fp32, [2]> y, int32 k = while_loop(loop_vars = (x, int32(0)))[name = string(\"loop\")]"
        " (tensor<fp32, [2]> v, int32 i) { bool c = less(x = i, y = int32(65536))[name = string(\"c\")]; } -> (c)"
        " (tensor<fp32, [2]> v, int32 i)"
        " { tensor<fp32, [2]> m = relu(x = v)[name = string(\"m\")];"
        "   int32 j = add(x = i, y = int32(1))[name = string(\"j\")]; } -> (m, j);} -> (y);}";
    mw_error err = {0};
    const clock_t begin = clock();
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK_OK(err);
    CHECK(mw_graph_flatten(graph, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "while_loop \"y\": does not end within 16384 trips");
    CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 10.0); /* a hang, not a speed, is what fails here */
    mw_graph_destroy(graph);
}

/* ---- unknown extents ---- */

static void check_slice(mw_slice first, mw_slice second, const char *part)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN, 4)), *dx = NULL;
    mw_tensor *y = mw_slice_by_index(x, (const mw_slice[]){first, second});
    mw_vjp(&y, &y, 1, &x, 1, &dx, &err);
    if (part != NULL)
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, part);
    else
        CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_a_rule_that_cannot_is_named(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN, 4)), *dx = NULL;
    CHECK_INT(mw_grad(sum(x), &x, 1, &dx, &err), MW_ERROR_SHAPE);
    CHECK_CONTAINS(err.message, "gradient of reduce_sum");
    mw_graph_destroy(graph);
}

static void test_a_slice_of_an_unknown_extent_has_no_gradient(void)
{
    const mw_slice all = {.from_start = true, .to_end = true}, inner = {.begin = 1, .end = 3};
    check_slice(all, inner, NULL);
    check_slice(inner, all, "slice_by_index: its gradient needs the extent of axis 0, which is cut");
    check_slice((mw_slice){.from_start = true, .to_end = true, .stride = 2}, inner, "needs the extent of axis 0");
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(MW_DIM_UNKNOWN, 4)), *dx = NULL;
    mw_tensor *y = mw_slice_by_size(x, (const int64_t[]){1, 1}, (const int64_t[]){2, 2});
    mw_grad(sum(y), &x, 1, &dx, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "slice_by_size: its gradient needs the extent of axis 0, which is cut");
    mw_graph_destroy(graph);
}

/* ---- the gradient check ---- */

static void check_gradcheck(mw_tensor *y, mw_tensor *x, const float *data, size_t count, const char *part)
{
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = data, .count = count, .scale = 1.0F};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    mw_gradcheck_options options = mw_gradcheck_defaults(y, &x, 1);
    options.batch = &batch;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    mw_gradcheck_report report;
    mw_error err = {0};
    CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_ERROR_NUMERIC);
    CHECK_CONTAINS(err.message, part);
    CHECK(!report.passed);
}

static void test_gradcheck_of_values_that_are_not_numbers_fails(void)
{
    static const float negative[3] = {-1.0F, -2.0F, -3.0F}, wild[3] = {NAN, 1.0F, INFINITY};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3));
    check_gradcheck(mw_log(x, 0.0F), x, negative, 3, "gradcheck");
    check_gradcheck(mw_tanh(x), x, wild, 3, "feed \"x\" element 0, example 0 is not finite");
    check_gradcheck(sum(mw_mul(x, x)), x, wild, 3, "feed \"x\" element 0, example 0 is not finite");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_rule_that_differentiates_its_own_value_ends);
    RUN(test_a_rule_may_differentiate_other_values);
    RUN(test_a_long_message_of_a_rule_is_cut);
    RUN(test_a_seed_of_another_graph_is_refused);
    RUN(test_a_segment_from_a_leaf_or_from_itself_is_refused);
    RUN(test_an_input_that_comes_later_has_no_gradient_from_the_segment);
    RUN(test_a_loop_of_65536_trips_is_refused_soon);
    RUN(test_a_rule_that_cannot_is_named);
    RUN(test_a_slice_of_an_unknown_extent_has_no_gradient);
    RUN(test_gradcheck_of_values_that_are_not_numbers_fails);
    return check_finish();
}
