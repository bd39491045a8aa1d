/* Weights that are replaced in the middle of training: what stands for them beside them follows. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

enum { TRAINED_STEPS = 20 };

typedef enum way { WRITTEN, LOADED } way;

static mw_trainer *create(mw_optimizer optimizer, mw_dtype dtype, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", dtype, MW_SHAPE(4));
    mw_tensor *w = mw_parameter(graph, "w", dtype, MW_SHAPE(4), mw_init_constant(100.0f));
    mw_tensor *y = mw_mul(x, w);
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(y, MW_ALL_AXES, false), optimizer);
    options.prediction = y;
    options.average_decay = 0.999f;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void replace(mw_trainer *trainer, way how, const float *w, mw_error *err)
{
    if (how == WRITTEN) {
        mw_trainer_write(trainer, "w", MW_F32, w, 4, err);
        return;
    }
    mw_trainer *other = create(mw_sgd(0.1f), MW_F32, err);
    mw_trainer_write(other, "w", MW_F32, w, 4, err);
    mw_trainer_save_weights(other, scratch("w.safetensors"), err);
    mw_trainer_load_weights(trainer, scratch("w.safetensors"), NULL, err);
    mw_trainer_destroy(other);
}

static void step(mw_trainer *trainer, mw_batch *out_batch, mw_feed *feed, mw_error *err)
{
    static const float x[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    *feed = (mw_feed){.name = "x", .dtype = MW_F32, .data = x, .count = 4, .scale = 1.0f};
    *out_batch = (mw_batch){.feeds = feed, .feed_count = 1, .examples = 4};
    mw_trainer_step(trainer, out_batch, NULL, err);
}

/* The average of weights that are gone would be what evaluation shows for thousands of steps. */
static void check_average(way how)
{
    static const float wanted[4] = {1.0f, -2.0f, 3.0f, 0.5f};
    mw_error err = {0};
    mw_batch batch;
    mw_feed feed;
    mw_trainer *trainer = create(mw_adam(0.1f), MW_F32, &err);
    REQUIRE(CHECK_OK(err));
    for (int i = 0; i < TRAINED_STEPS; i++)
        step(trainer, &batch, &feed, &err);
    replace(trainer, how, wanted, &err);
    float shown[4] = {0};
    mw_trainer_use_averages(trainer, true, &err);
    mw_trainer_predict(trainer, &batch, MW_F32, shown, 4, &err);
    CHECK_OK(err);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(shown[i], wanted[i], 0.0);
    mw_trainer_destroy(trainer);
}

/* Half a unit in the last place of 100 is 0.03 in fp16, far more than the small weights that come. */
static void check_low(way how)
{
    static const float wanted[4] = {1e-3f, -1e-3f, 2e-3f, 5e-4f};
    mw_error err = {0};
    mw_batch batch;
    mw_feed feed;
    mw_optimizer optimizer = mw_sgd(0.0303f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, true);
    mw_trainer *trainer = create(optimizer, MW_F16, &err);
    REQUIRE(CHECK_OK(err));
    float low[4] = {0}, w[4] = {0};
    for (int i = 0; i < TRAINED_STEPS / 4; i++)
        step(trainer, &batch, &feed, &err);
    mw_trainer_read(trainer, "w#low", MW_F32, low, 4, &err);
    CHECK(low[0] != 0.0f);
    replace(trainer, how, wanted, &err);
    mw_trainer_set_learning_rate(trainer, 0.0f, &err);
    step(trainer, &batch, &feed, &err);
    mw_trainer_read(trainer, "w", MW_F32, w, 4, &err);
    CHECK_OK(err);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(w[i], wanted[i], 1e-6); /* fp16 rounds 1e-3 by 5e-7 */
    mw_trainer_destroy(trainer);
}

static void test_averages_start_anew_from_replaced_weights(void)
{
    check_average(WRITTEN);
    check_average(LOADED);
}

static void test_second_terms_of_replaced_weights_are_zero(void)
{
    check_low(WRITTEN);
    check_low(LOADED);
}

int main(void)
{
    RUN(test_averages_start_anew_from_replaced_weights);
    RUN(test_second_terms_of_replaced_weights_are_zero);
    return check_finish();
}
