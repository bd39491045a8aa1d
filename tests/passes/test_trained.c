/* A trainer without each pass and each rule that may be left out: it trains the same, or the device refuses its step by
 * a message. All passes that its programs go through keep their invariants. */
#include "engine/kernels/gemm/blas.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/passes/seen_passes.h"

#include <math.h>
#include <millwright/millwright.h>

enum { EXAMPLES = 4, CLASSES = 3, STEPS = 3, PIXELS = 2 * 8 * 8 };

/* A convolution, a pooling and a dense layer. */
static mw_trainer *make_trainer(mw_device device, const char *off, seen_passes *seen, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(EXAMPLES, 2, 8, 8));
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(EXAMPLES));
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    mw_tensor *h = mw_max_pool(mw_relu(mw_conv_layer(x, 16, MW_SHAPE(3, 3), "conv", NULL)), &two);
    mw_tensor *logits = mw_dense(mw_reshape(h, MW_SHAPE(EXAMPLES, 16 * 3 * 3)), CLASSES, "dense");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, labels), mw_adam(1e-2f));
    options.compile = engine_options(device, 1);
    options.compile.profile = "ieee";
    options.compile.passes = (mw_passes){.off = off, .report = seen_report, .report_user = seen};
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* The loss of the last step. */
static float train(mw_trainer *trainer, mw_error *err)
{
    float x[EXAMPLES * PIXELS], loss = 0;
    const int32_t labels[EXAMPLES] = {0, 1, 2, 1};
    for (size_t i = 0; i < EXAMPLES * PIXELS; i++)
        x[i] = (float)(i * 37 % 17) / 8.0f - 1.0f;
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = EXAMPLES * PIXELS},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = EXAMPLES}};
    for (int i = 0; i < STEPS; i++)
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 2, .examples = EXAMPLES}, &loss, err);
    return loss;
}

static void check_loss(const char *name, mw_trainer *trainer, float wanted, double bound)
{
    mw_error err = {0};
    const float loss = train(trainer, &err);
    check_note(err.status == MW_OK && fabs((double)loss - (double)wanted) <= bound * fabs((double)wanted), __FILE__,
               __LINE__, "without %s: the loss is %.9g, not %.9g: %s", name, (double)loss, (double)wanted, err.message);
}

static void check_without(mw_device device, mw__rule_id id, float wanted, double bound)
{
    mw_error err = {0};
    seen_passes seen = {0};
    const char *name = mw__pass_rule_of(id)->name;
    mw_trainer *trainer = make_trainer(device, name, &seen, &err);
    check_note(seen.broken == NULL, __FILE__, __LINE__, "without %s: %s breaks its invariant", name, seen.broken);
    check_note(seen.hits[id] == 0, __FILE__, __LINE__, "%s has hits though it is left out", name);
    if (trainer != NULL)
        check_loss(name, trainer, wanted, bound);
    else
        check_note(device == MW_DEVICE_ANE && err.status == MW_ERROR_UNSUPPORTED, __FILE__, __LINE__,
                   "without %s: %d %s", name, (int)err.status, err.message);
    mw_trainer_destroy(trainer);
    seen_deinit(&seen);
}

static void check_device(mw_device device, double bound)
{
    mw_error err = {0};
    seen_passes seen = {0};
    mw_trainer *trainer = make_trainer(device, NULL, &seen, &err);
    const float wanted = trainer != NULL ? train(trainer, &err) : 0;
    REQUIRE(err.status == MW_OK && seen.broken == NULL);
    for (size_t i = MW__RULE_NONE + 1; i < MW__RULE_COUNT; i++)
        if ((mw__pass_rule_of((mw__rule_id)i)->flags & MW__RULE_REQUIRED) == 0)
            check_without(device, (mw__rule_id)i, wanted, bound);
    mw_trainer_destroy(trainer);
    seen_deinit(&seen);
}

/* Sums of a gradient may be in another order. */
static void test_a_trainer_on_the_cpu_lacks_any_rule(void) { check_device(MW_DEVICE_CPU, 1e-5); }

/* Other operations round elsewhere. */
static void test_a_trainer_on_the_ane_lacks_any_rule(void) { check_device(MW_DEVICE_ANE, 1e-2); }

/* ---- what a model spells from parts ---- */

enum { FEATURES = 6, HIDDEN = 8 };

/* gelu, as one operation or as exporters write it. */
static mw_tensor *activate(mw_tensor *x, bool spelled)
{
    if (!spelled)
        return mw_gelu(x, MW_GELU_EXACT);
    mw_tensor *sum = mw_add_scalar(mw_erf(mw_mul_scalar(x, 0.70710678118654752)), 1.0);
    return mw_mul_scalar(mw_mul(x, sum), 0.5);
}

static float train_gelu(bool spelled, const char *off, seen_passes *seen)
{
    mw_error err = {0};
    float x[EXAMPLES * FEATURES], loss = 0;
    const int32_t labels[EXAMPLES] = {0, 1, 2, 1};
    for (size_t i = 0; i < EXAMPLES * FEATURES; i++)
        x[i] = (float)(i * 37 % 17) / 4.0f - 2.0f;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(EXAMPLES, FEATURES));
    mw_tensor *truth = mw_input(graph, "labels", MW_I32, MW_SHAPE(EXAMPLES));
    mw_tensor *logits = mw_dense(activate(mw_dense(in, HIDDEN, "first"), spelled), CLASSES, "last");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, truth), mw_adam(1e-2f));
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    options.compile.passes = (mw_passes){.off = off, .report = seen_report, .report_user = seen};
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = EXAMPLES * FEATURES},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = EXAMPLES}};
    for (int i = 0; i < STEPS; i++)
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 2, .examples = EXAMPLES}, &loss, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    return loss;
}

static void test_a_spelled_activation_trains_as_the_one_that_it_is(void)
{
    seen_passes native = {0}, spelled = {0}, without = {0};
    const double wanted = (double)train_gelu(false, NULL, &native);
    CHECK_NEAR(train_gelu(true, NULL, &spelled), wanted, 1e-6);
    CHECK_NEAR(train_gelu(true, "recognize", &without), wanted, 1e-5);
    CHECK(native.hits[MW__RULE_spelled_gelu] == 0);
    CHECK(spelled.hits[MW__RULE_spelled_gelu] > 0);
    CHECK(without.hits[MW__RULE_spelled_gelu] == 0);
    seen_deinit(&native);
    seen_deinit(&spelled);
    seen_deinit(&without);
}

int main(void)
{
    RUN(test_a_spelled_activation_trains_as_the_one_that_it_is);
    mw__blas_choose("none", NULL);
    RUN(test_a_trainer_on_the_cpu_lacks_any_rule);
    RUN(test_a_trainer_on_the_ane_lacks_any_rule);
    return check_finish();
}
