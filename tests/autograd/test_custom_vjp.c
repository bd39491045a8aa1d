/* Gradients of the user's own: estimators that are used in research, what goes along into a trainer, and what is said
 * of a rule that is wrong. */
#include "support/check.h"
#include "support/failing.h"
#include "support/oracles/oracle.h"

#include "graph/transform/clone/clone.h"
#include <millwright/millwright.h>

enum { N = 3 };

static const double at[N] = {0.4, -1.2, 2.6};

static mw_tensor *sum(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }

static void check_values(mw_graph *graph, const mw_tensor *of, const double *expected)
{
    oracle o;
    oracle_init(&o, graph);
    oracle_set(&o, mw_graph_find(graph, "x"), at);
    if (CHECK(of != NULL) && CHECK(oracle_run(&o)))
        for (int i = 0; i < N; i++)
            CHECK_NEAR(oracle_get(&o, of)[i], expected[i], 1e-6);
    oracle_deinit(&o);
}

static mw_status straight_through(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = call->dy;
    return MW_OK;
}

static void test_straight_through_sign(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *dx = NULL, *plain = NULL;
    mw_tensor *hard = mw_sign(x), *y = mw_custom_vjp("straight_through", hard, &x, 1, straight_through, NULL);
    mw_grad(sum(mw_square(y)), &x, 1, &dx, &err);
    mw_grad(sum(mw_square(hard)), &x, 1, &plain, &err); /* other uses keep their own gradient */
    CHECK_OK(err);
    check_values(graph, y, (const double[N]){1.0, -1.0, 1.0});
    check_values(graph, dx, (const double[N]){2.0, -2.0, 2.0});
    check_values(graph, plain, (const double[N]){0.0, 0.0, 0.0});
    mw_graph_destroy(graph);
}

/* dx = -lambda dy, lambda from `user` */
static mw_status reverse(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul_scalar(call->dy, -*(const double *)call->user);
    return MW_OK;
}

static void test_gradient_reversal_and_its_second_derivative(void)
{
    static double lambda = 0.5;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *dx = NULL, *ddx = NULL, *dy = NULL;
    mw_tensor *y = mw_square(mw_custom_vjp("reverse", x, &x, 1, reverse, &lambda));
    mw_grad(sum(y), &x, 1, &dx, &err);
    mw_grad(sum(dx), &x, 1, &ddx, &err);
    mw_tensor *ones = mw_fill(graph, MW_F32, MW_SHAPE(N), 1.0);
    mw_jvp(&y, 1, &x, &ones, 1, &dy, &err);
    CHECK_OK(err);
    check_values(graph, dx, (const double[N]){-at[0], -at[1], -at[2]});
    check_values(graph, dy, (const double[N]){-at[0], -at[1], -at[2]});
    /* dx = -2 lambda y(x), and the derivative of that passes the reversal again */
    check_values(graph, ddx, (const double[N]){0.5, 0.5, 0.5});
    mw_graph_destroy(graph);
}

/* ---- several inputs ---- */

static mw_status product(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    *(int *)call->user += call->wants[0] + 2 * call->wants[1] + 4 * call->wants[2];
    if (call->wants[0])
        out_dx[0] = mw_mul(call->dy, call->inputs[1]);
    if (call->wants[1])
        out_dx[1] = mw_mul(call->dy, call->inputs[0]);
    return MW_OK;
}

static void test_only_wanted_inputs_are_asked(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    int asked = 0;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *n = mw_input(graph, "n", MW_I32, MW_SHAPE(N));
    mw_tensor *w = mw_fill(graph, MW_F32, MW_SHAPE(N), 3.0), *inputs[3] = {x, w, n}, *dx = NULL;
    mw_grad(sum(mw_custom_vjp("product", mw_mul(x, w), inputs, 3, product, &asked)), &x, 1, &dx, &err);
    CHECK_OK(err);
    CHECK_INT(asked, 1);
    mw_graph_destroy(graph);
}

/* ---- copies ---- */

static void test_the_rule_goes_along_into_a_trainer(void)
{
    static double lambda = 1.0;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(N), mw_init_constant(1.0F));
    mw_tensor *y = mw_custom_vjp("reverse", w, &w, 1, reverse, &lambda);
    mw_trainer_options options = mw_trainer_defaults(sum(mw_mul(y, x)), mw_sgd(1.0F));
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const float data[N] = {1.0F, 2.0F, 3.0F};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = data, .count = N, .scale = 1.0F};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    float loss = 0.0F, w_after[N] = {0};
    CHECK_INT(mw_trainer_step(trainer, &batch, &loss, &err), MW_OK);
    mw_trainer_read(trainer, "w", MW_F32, w_after, N, &err);
    CHECK_OK(err);
    CHECK_NEAR(w_after[2], 4.0, 0.0); /* uphill: 1 + 3 */
    mw_trainer_destroy(trainer);
}

/* ---- wrong rules ---- */

static mw_status wrong(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    const char *how = call->user;
    mw_tensor *x = call->inputs[0];
    if (strcmp(how, "shape") == 0)
        out_dx[0] = sum(call->dy);
    else if (strcmp(how, "dtype") == 0)
        out_dx[0] = mw_cast(call->dy, MW_I32);
    else if (strcmp(how, "constructor") == 0)
        out_dx[0] = mw_matmul(x, mw_fill(call->graph, MW_F32, MW_SHAPE(N + 1, 2), 0.0), MW_TRANSPOSE_NONE);
    else if (strcmp(how, "status") == 0)
        return MW_ERROR_UNSUPPORTED;
    else if (strcmp(how, "words") == 0) {
        err->status = MW_ERROR_NUMERIC;
        snprintf(err->message, sizeof err->message, "no second derivative");
        return err->status;
    }
    return MW_OK;
}

static mw_status of_another(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = call->user;
    return MW_OK;
}

static void test_a_wrong_rule_is_reported_with_its_name(void)
{
    static const struct {
        const char *how;
        mw_status status;
        const char *part;
    } rows[] = {
        {"nothing", MW_ERROR_ARGUMENT, "custom_vjp \"mine\": the rule gave nothing"},
        {"shape", MW_ERROR_SHAPE, "custom_vjp \"mine\": the rule gave fp32 [] for input 0 \"x\", which is fp32 [3]"},
        {"dtype", MW_ERROR_DTYPE, "the rule gave int32 [3] for input 0"},
        {"constructor", MW_ERROR_SHAPE, "custom_vjp \"mine\": matmul"},
        {"status", MW_ERROR_UNSUPPORTED, "custom_vjp \"mine\": "},
        {"words", MW_ERROR_NUMERIC, "custom_vjp \"mine\": no second derivative"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_error err = {0};
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *dx = x;
        mw_grad(sum(mw_custom_vjp("mine", x, &x, 1, wrong, (void *)(uintptr_t)rows[i].how)), &x, 1, &dx, &err);
        CHECK_ERROR(err, rows[i].status, rows[i].part);
        CHECK_STR(err.operation, strcmp(rows[i].how, "constructor") == 0 ? err.operation : "custom_vjp");
        CHECK(dx == NULL);
        mw_graph_destroy(graph);
    }
}

static void test_a_tensor_of_another_graph_is_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *dx = NULL;
    mw_tensor *foreign = mw_input(other, "x", MW_F32, MW_SHAPE(N));
    mw_grad(sum(mw_custom_vjp("mine", x, &x, 1, of_another, foreign)), &x, 1, &dx, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"mine\": the rule gave a tensor of another graph");
    CHECK(mw_custom_vjp("mine", x, &foreign, 1, of_another, NULL) == NULL);
    err = (mw_error){0};
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_custom_vjp: input 0, \"x\", belongs to another graph");
    mw_graph_destroy(other);
    mw_graph_destroy(graph);
}

static void test_missing_arguments_are_refused(void)
{
    for (int i = 0; i < 4; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *none = NULL;
        CHECK(mw_custom_vjp(i == 0 ? NULL : "mine", x, i == 1 ? &none : &x, i != 2, i == 3 ? NULL : reverse, NULL) ==
              NULL);
        CHECK_INT(mw_graph_check(graph, NULL), MW_ERROR_ARGUMENT);
        mw_graph_destroy(graph);
    }
    CHECK(mw_custom_vjp("mine", NULL, NULL, 0, reverse, NULL) == NULL);
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    static double lambda = 0.5;
    bool refused = true;
    for (long n = 0; n < 1000 && refused; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(&options, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N)), *dx[3] = {NULL};
        mw_tensor *y = mw_square(mw_custom_vjp("reverse", x, &x, 1, reverse, &lambda)), *v = mw_square(x);
        mw_graph_check(graph, &err);
        mw_vjp(&y, &v, 1, &x, 1, &dx[0], &err);
        mw_jvp(&y, 1, &x, &v, 1, &dx[1], &err);
        mw_hvp(sum(y), &x, &v, 1, &dx[2], &err);
        refused = failing.failed;
        check_note((err.status != MW_OK) == refused, __FILE__, __LINE__, "request %ld: %s", n, err.message);
        CHECK((dx[2] == NULL) == refused);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(!refused);
}

int main(void)
{
    RUN(test_straight_through_sign);
    RUN(test_gradient_reversal_and_its_second_derivative);
    RUN(test_only_wanted_inputs_are_asked);
    RUN(test_the_rule_goes_along_into_a_trainer);
    RUN(test_a_wrong_rule_is_reported_with_its_name);
    RUN(test_a_tensor_of_another_graph_is_refused);
    RUN(test_missing_arguments_are_refused);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
