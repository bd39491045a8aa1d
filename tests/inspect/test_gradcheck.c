/* The public gradient check: it passes for every operation case on the engine, and names what is wrong. */
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>

/* ---- every operation ---- */

static void check_case(const op_case *c, mw_device device)
{
    static const char *const names[OP_CASE_INPUTS] = {"a", "b", "c", "d"};
    op_instance instance;
    mw_tensor *x[OP_CASE_INPUTS];
    mw_feed feeds[OP_CASE_INPUTS];
    size_t count = 0;
    const bool good = op_instance_init(&instance, c, MW_F32, 11) && mw_tensor_dtype(instance.y) == MW_F32;
    for (size_t i = 0; good && i < instance.count; i++) {
        if (mw_tensor_dtype(instance.in[i]) == MW_F32)
            x[count++] = instance.in[i];
        feeds[i] = (mw_feed){.name = names[i],
                             .dtype = MW_F64,
                             .data = instance.data[i],
                             .count = (size_t)oracle_count(instance.in[i]),
                             .scale = 1.0F};
    }
    if (count > 0) {
        mw_error err = {0};
        const mw_batch batch = {.feeds = feeds, .feed_count = instance.count, .examples = 1};
        mw_gradcheck_options options = mw_gradcheck_defaults(instance.y, x, count);
        options.batch = &batch;
        options.elements = 6;
        options.directions = 1;
        options.compile.device = device;
        options.compile.provider = MW_PROVIDER_ENGINE;
        mw_gradcheck_run(&options, NULL, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message);
    }
    op_instance_deinit(&instance);
}

static void test_every_case_passes_in_fp32(void)
{
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        if (c->ulps < 1000.0) /* a cast to fp16 on the way: its steps are coarser than the differences */
            check_case(c, MW_DEVICE_CPU);
}

/* ---- a small net ---- */

enum { N = 8, D = 5 };

typedef struct net {
    mw_graph *graph;
    mw_tensor *x, *h;
    float data[N * D];
    mw_feed feed;
    mw_batch batch;
} net;

static void make_net(net *n)
{
    *n = (net){.graph = mw_graph_create(NULL, NULL)};
    n->x = mw_input(n->graph, "x", MW_F32, MW_SHAPE(N, D));
    n->h = mw_tanh(mw_dense(n->x, 3, "fc1"));
    for (int i = 0; i < N * D; i++)
        n->data[i] = (float)(i % 7) / 4.0F - 0.7F;
    n->feed = (mw_feed){.name = "x", .dtype = MW_F32, .data = n->data, .count = N * D, .scale = 1.0F};
    n->batch = (mw_batch){.feeds = &n->feed, .feed_count = 1, .examples = N};
}

static mw_gradcheck_options options_of(const net *n, mw_tensor *y, mw_tensor *const *x, size_t count)
{
    mw_gradcheck_options options = mw_gradcheck_defaults(y, x, count);
    options.batch = &n->batch;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    return options;
}

static void test_parameters_and_inputs_of_a_net_on_both_devices(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int k = 0; k < 2; k++) {
        net n;
        mw_error err = {0};
        mw_gradcheck_report report;
        make_net(&n);
        mw_tensor *x[3] = {mw_graph_find(n.graph, "fc1.weight"), mw_graph_find(n.graph, "fc1.bias"), n.x};
        mw_gradcheck_options options = options_of(&n, mw_reduce_mean(mw_square(n.h), MW_ALL_AXES, false), x, 3);
        options.compile.device = devices[k];
        CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_OK);
        CHECK_OK(err);
        CHECK(report.passed);
        CHECK_INT(report.checked + report.skipped, 3 * D + 3 + N * D + 3 + 4); /* elements, tensors, directions */
        CHECK(report.skipped <= report.checked / 4);
        CHECK(report.error <= report.allowed);
        mw_graph_destroy(n.graph);
    }
}

/* tanh with dx = (1 - y^2) dy, but twice that in element 11. */
static mw_status wrong_in_one(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    float factor[3 * D];
    (void)err;
    for (int i = 0; i < 3 * D; i++)
        factor[i] = i == 11 ? 2.0F : 1.0F;
    mw_tensor *slope = mw_add_scalar(mw_neg(mw_square(call->y)), 1.0);
    mw_tensor *mask = mw_constant(call->graph, MW_F32, MW_SHAPE(3, D), factor);
    out_dx[0] = mw_mul(mw_mul(slope, call->dy), mask);
    return MW_OK;
}

static void test_one_wrong_element_is_named(void)
{
    net n;
    mw_error err = {0};
    mw_gradcheck_report report;
    make_net(&n);
    mw_tensor *w = mw_parameter(n.graph, "w", MW_F32, MW_SHAPE(3, D), mw_init_uniform(-1.0F, 1.0F));
    mw_tensor *squashed = mw_custom_vjp("squash", mw_tanh(w), &w, 1, wrong_in_one, NULL);
    mw_tensor *x[2] = {n.x, w};
    mw_gradcheck_options options = options_of(&n, mw_sigmoid(mw_matmul(n.x, squashed, MW_TRANSPOSE_Y)), x, 2);
    CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "mw_gradcheck_run: \"w\" element 11: gradient ");
    CHECK(!report.passed);
    CHECK_STR(report.tensor, "w");
    CHECK_INT(report.index, 11);
    CHECK_NEAR(report.analytic / report.numeric, 2.0, 1e-2);
    mw_graph_destroy(n.graph);
}

/* ---- kinks ---- */

/* x = 1e-6 and -1e-6 stand at the kink of |x|; 1 does not. */
static void test_kinks_are_skipped(void)
{
    static const float at[3] = {0.000001F, 1.0F, -0.000001F};
    mw_error err = {0};
    mw_gradcheck_report report;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3));
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = at, .count = 3, .scale = 1.0F};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 3};
    mw_gradcheck_options options = mw_gradcheck_defaults(mw_abs(x), &x, 1);
    options.batch = &batch;
    options.directions = 0;
    options.compile.provider = MW_PROVIDER_ENGINE;
    CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(report.checked, 1);
    CHECK_INT(report.skipped, 2);
    options.x = (mw_tensor *const[]){NULL};
    CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_ERROR_ARGUMENT);
    CHECK(!report.passed);
    mw_graph_destroy(graph);
}

static void test_zeroed_options_and_a_missing_feed_are_refused(void)
{
    net n;
    mw_error err = {0};
    make_net(&n);
    const mw_gradcheck_options zeroed = {0};
    CHECK_INT(mw_gradcheck_run(&zeroed, NULL, NULL), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_gradcheck_run(NULL, NULL, NULL), MW_ERROR_ARGUMENT);
    mw_gradcheck_options options = options_of(&n, n.h, &n.x, 1);
    options.batch = NULL;
    mw_gradcheck_run(&options, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "has no feed \"x\"");
    options = options_of(&n, n.h, &n.h, 1);
    err = (mw_error){0};
    mw_gradcheck_run(&options, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "is no input or parameter");
    mw_graph_destroy(n.graph);
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    net n;
    make_net(&n);
    bool refused = true;
    for (long k = 0; k < 10000 && refused; k++) {
        failing_allocator failing = {.fail_at = k};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_gradcheck_options options = options_of(&n, n.h, &n.x, 1);
        options.elements = 1;
        options.compile.allocator = &allocator;
        mw_gradcheck_run(&options, NULL, &err);
        refused = failing.failed;
        check_note((err.status != MW_OK) == refused, __FILE__, __LINE__, "request %ld: %s", k, err.message);
        CHECK_INT(failing.live, 0);
    }
    CHECK(!refused);
    mw_graph_destroy(n.graph);
}

int main(void)
{
    RUN(test_every_case_passes_in_fp32);
    RUN(test_parameters_and_inputs_of_a_net_on_both_devices);
    RUN(test_one_wrong_element_is_named);
    RUN(test_kinks_are_skipped);
    RUN(test_zeroed_options_and_a_missing_feed_are_refused);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
