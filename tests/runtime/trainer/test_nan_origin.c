/* A refused step names the first operation whose result is not finite, in the order of execution, with the forward
 * operation and the parameter that it belongs to. Each net fails at a place that is known by its construction. */
#include "support/check.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4 };

typedef struct net {
    mw_graph *graph;
    mw_tensor *x, *w, *loss; /* x [N]; w [N], a parameter of ones */
} net;

static net begin(void)
{
    net n = {.graph = mw_graph_create(NULL, NULL)};
    n.x = mw_input(n.graph, "x", MW_F32, MW_SHAPE(N));
    n.w = mw_parameter(n.graph, "layer.w", MW_F32, MW_SHAPE(N), mw_init_constant(1.0f));
    return n;
}

static mw_tensor *mean(mw_tensor *x) { return mw_reduce_mean(x, MW_ALL_AXES, false); }

/* Two harmless layers stand before what fails. */
static mw_tensor *body(const net *n)
{
    mw_tensor *v = mw_parameter(n->graph, "first.v", MW_F32, MW_SHAPE(N), mw_init_constant(1.0f));
    return mw_mul(mw_tanh(mw_mul(n->x, v)), n->w);
}

/* ---- the nets: finite for x = 0.5, not for x = 0 (or as said) ---- */

static mw_tensor *norm_at_zero(const net *n) { return mw_sqrt(mw_reduce_sum(mw_square(body(n)), MW_ALL_AXES, false)); }
static mw_tensor *log_of_zero(const net *n) { return mw_neg(mean(mw_log(mw_relu(body(n)), 0.0f))); }
static mw_tensor *division(const net *n) { return mean(mw_real_div(n->w, body(n))); }
static mw_tensor *overflow(const net *n) { return mean(mw_exp(mw_mul_scalar(mw_mul(n->x, n->w), 100.0))); }

/* A mask of -inf is meant; what fails is the logarithm behind it. */
static mw_tensor *masked(const net *n)
{
    const float mask[N] = {0.0f, -INFINITY, 0.0f, -INFINITY};
    mw_tensor *scores = mw_add(body(n), mw_constant(n->graph, MW_F32, MW_SHAPE(N), mask));
    mw_tensor *p = mw_softmax(scores, 0);
    return mw_sub(mean(mw_log(mw_relu(mw_mul(n->x, n->w)), 0.0f)), mean(mw_square(p)));
}

static mw_tensor *norm_of_segment(const net *n)
{
    mw_tensor *start = body(n);
    return mw_recompute(mw_sqrt(mw_reduce_sum(mw_square(start), MW_ALL_AXES, false)), &start, 1);
}

/* dx = dy / x */
static mw_status divide(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_real_div(call->dy, call->inputs[0]);
    return MW_OK;
}

static mw_tensor *rule_of_its_own(const net *n)
{
    mw_tensor *start = body(n);
    return mean(mw_custom_vjp("mine", mw_tanh(start), &start, 1, divide, NULL));
}

/* 0 forward, as w is 1; the slope by w is 1e20. */
static mw_tensor *steep(const net *n)
{
    mw_tensor *still = mw_add_scalar(n->w, -1.0);
    for (int i = 0; i < 5; i++)
        still = mw_mul_scalar(still, 1e4);
    return mean(mw_add(still, body(n)));
}

typedef struct row {
    const char *what;
    mw_tensor *(*loss)(const net *n);
    float x;                /* that fails */
    const char *message[3]; /* parts */
} row;

static const row rows[] = {
    {"a norm at zero", norm_at_zero, 0.0f, {"in the gradient of sqrt", "layer.w", "is refused"}},
    {"a logarithm of zero", log_of_zero, 0.0f, {"the loss is inf", "is that of log", "layer.w"}},
    {"a division by zero", division, 0.0f, {"the loss is inf", "is that of real_div", "layer.w"}},
    {"an exponential", overflow, 3.0f, {"the loss is inf", "is that of exp", "layer.w"}},
    {"a segment that is computed again", norm_of_segment, 0.0f, {"in the gradient of sqrt", "layer.w", "is refused"}},
    {"a rule of the user's", rule_of_its_own, 0.0f, {"is that of real_div", "in the gradient of mine", "layer.w"}},
    {"a mask that is meant", masked, 0.0f, {"the loss is -inf", "is that of log", "layer.w"}},
};

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static mw_trainer_options options_of(const net *n, mw_device device)
{
    mw_trainer_options options = mw_trainer_defaults(n->loss, mw_sgd(1e-3f));
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    return options;
}

typedef struct fed {
    float x[N];
    mw_feed feed;
    mw_batch batch;
} fed;

static void fill(fed *f, float x)
{
    for (int i = 0; i < N; i++)
        f->x[i] = x;
    f->feed = (mw_feed){.name = "x", .dtype = MW_F32, .data = f->x, .count = N, .scale = 1.0f};
    f->batch = (mw_batch){.feeds = &f->feed, .feed_count = 1, .examples = N};
}

static void check_message(const mw_error *err, const row *r, const char *how)
{
    check_note(strcmp(err->tensor, "layer.w") == 0, __FILE__, __LINE__, "%s, %s: tensor \"%s\"", r->what, how,
               err->tensor);
    check_note(err->status == MW_ERROR_NUMERIC, __FILE__, __LINE__, "%s, %s: %s", r->what, how, err->message);
    for (int i = 0; i < 3; i++)
        check_note(strstr(err->message, r->message[i]) != NULL, __FILE__, __LINE__, "%s, %s: \"%s\" without \"%s\"",
                   r->what, how, err->message, r->message[i]);
}

static void check_row(const row *r, mw_device device)
{
    fed good, bad;
    mw_error err = {0};
    net n = begin();
    n.loss = r->loss(&n);
    const mw_trainer_options options = options_of(&n, device);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(n.graph);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    fill(&good, r->x > 0.0f ? 0.001f : 0.5f);
    fill(&bad, r->x);
    mw_trainer_step(trainer, &good.batch, NULL, &err);
    CHECK_OK(err);
    for (int i = 0; i < 2; i++) {
        err = (mw_error){0};
        mw_trainer_step(trainer, &bad.batch, NULL, &err);
        check_message(&err, r, device == MW_DEVICE_ANE ? "fp16" : "fp32");
    }
    err = (mw_error){0};
    mw_trainer_step(trainer, &good.batch, NULL, &err); /* looking has changed nothing */
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 2);
    mw_trainer_destroy(trainer);
}

static void test_the_operation_is_named(void)
{
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            check_row(&rows[i], devices[d]);
}

static void test_it_is_named_in_a_dispatch_and_in_accumulation(void)
{
    for (int k = 0; k < 2; k++) {
        fed good, bad;
        mw_error err = {0};
        net n = begin();
        n.loss = norm_at_zero(&n);
        mw_trainer_options options = options_of(&n, MW_DEVICE_CPU);
        options.accumulate = k == 0 ? 3 : 0;
        options.dispatch_steps = k == 0 ? 0 : 3;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        mw_graph_destroy(n.graph);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        fill(&good, 0.5f);
        fill(&bad, 0.0f);
        const mw_batch batches[] = {good.batch, bad.batch, good.batch};
        if (k == 1)
            mw_trainer_step_many(trainer, batches, 3, NULL, &err);
        for (int i = 0; k == 0 && i < 2; i++)
            mw_trainer_step(trainer, &batches[i], NULL, &err);
        check_message(&err, &rows[0], k == 0 ? "accumulated" : "dispatched");
        mw_trainer_destroy(trainer);
    }
}

/* In fp16 a slope of 1e20 is infinite; in fp32 the gradient is finite, but no update is sure to be. */
static void test_a_gradient_that_is_too_large_is_told(void)
{
    static const row told[] = {
        {"fp32", steep, 0.5f, {"the gradient of \"layer.w\" is beyond 1.1259e+15", "step 1", "can overflow"}},
        {"fp16", steep, 0.5f, {"is that of mul", "in the gradient of mul", "layer.w"}}};
    for (size_t d = 0; d < 2; d++) {
        fed f;
        mw_error err = {0};
        net n = begin();
        n.loss = steep(&n);
        const mw_trainer_options options = options_of(&n, devices[d]);
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        mw_graph_destroy(n.graph);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        fill(&f, 0.5f);
        mw_trainer_step(trainer, &f.batch, NULL, &err);
        check_message(&err, &told[d], told[d].what);
        mw_trainer_destroy(trainer);
    }
}

/* The weight is at the end of fp16, and the gradient leads beyond it. */
static void test_an_update_is_named_with_its_parameter(void)
{
    static const row told = {"an update", NULL, 0.0f, {"is that of sub", "the update of \"layer.w\"", "step 1"}};
    fed f;
    mw_error err = {0};
    net n = begin();
    n.loss = mean(mw_mul(n.x, mw_tanh(mw_mul_scalar(n.w, 1e-7)))); /* tanh(0.0065): a slope that is not 0 */
    n.loss = mw_add(n.loss, mean(mw_mul(n.x, mw_mul_scalar(n.w, 1e-3))));
    mw_trainer_options options = options_of(&n, MW_DEVICE_ANE);
    options.optimizer = mw_sgd(60000.0f);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(n.graph);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const float last[N] = {-65000.0f, 1.0f, 1.0f, 1.0f};
    mw_trainer_write(trainer, "layer.w", MW_F32, last, N, &err);
    fill(&f, 400.0f);
    mw_trainer_step(trainer, &f.batch, NULL, &err);
    check_message(&err, &told, "fp16");
    mw_trainer_destroy(trainer);
}

static void test_a_scale_that_does_not_help_names_it_too(void)
{
    fed bad;
    mw_error err = {0};
    net n = begin();
    n.loss = norm_at_zero(&n);
    mw_trainer_options options = options_of(&n, MW_DEVICE_ANE);
    options.precision.dynamic = true;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(n.graph);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    fill(&bad, 0.0f);
    int taken = 0;
    while (taken < 40 && mw_trainer_step(trainer, &bad.batch, NULL, &err) == MW_OK)
        taken++;
    CHECK_INT(taken, 31);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "in the gradient of sqrt");
    mw_trainer_destroy(trainer);
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE", "ieee"); /* where IEEE has a NaN a chip has 0 */
    RUN(test_the_operation_is_named);
    RUN(test_it_is_named_in_a_dispatch_and_in_accumulation);
    RUN(test_a_gradient_that_is_too_large_is_told);
    RUN(test_an_update_is_named_with_its_parameter);
    RUN(test_a_scale_that_does_not_help_names_it_too);
    return check_finish();
}
