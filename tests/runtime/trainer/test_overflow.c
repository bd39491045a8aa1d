/* The MNIST network in fp16 with a dynamic loss scale: every 50 steps a batch overflows. The run must end as good as
 * one without. Needs MNIST in the data folder. */
#include "support/check.h"
#include "support/evaluated.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { BATCH = 128, EVERY = 50 };

static mw_trainer *make_trainer(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, 784));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *hidden = mw_relu(mw_dense(x, 128, "fc1"));
    mw_tensor *logits = mw_dense(hidden, 10, "fc2");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(2e-3f));
    options.metric = mw_accuracy(logits, y);
    options.precision.dynamic = true;
    options.precision.interval = 40;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_ANE;
    options.compile.seed = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* The same images two thousand times as bright: the loss is finite, the scaled gradients are not. */
static void step_with_overflow(mw_trainer *trainer, const mw_batch *batch, mw_error *err)
{
    mw_feed feeds[2] = {batch->feeds[0], batch->feeds[1]};
    feeds[0].scale *= 2000.0f;
    const mw_batch bright = {.feeds = feeds, .feed_count = 2, .examples = batch->examples};
    mw_trainer_step(trainer, &bright, NULL, err);
}

typedef struct outcome {
    double accuracy;
    mw_trainer_counters counters;
    int injected;
} outcome;

static outcome train(const mw_dataset *training, const mw_dataset *test, bool inject, mw_error *err)
{
    const char *nightly = getenv("MW_NIGHTLY");
    const int epochs = nightly != NULL && nightly[0] != '\0' ? 4 : 1;
    outcome out = {0};
    mw_trainer *trainer = make_trainer(err);
    mw_loader_options options = mw_loader_defaults(training, BATCH);
    options.seed = 1;
    mw_loader *loader = mw_loader_create(&options, err);
    for (int epoch = 0; epoch < epochs; epoch++) {
        const mw_batch *batch;
        for (int i = 1; (batch = mw_loader_next(loader, err)) != NULL; i++) {
            if (inject && i % EVERY == 0) {
                step_with_overflow(trainer, batch, err);
                out.injected++;
            }
            mw_trainer_step(trainer, batch, NULL, err);
        }
    }
    double loss;
    evaluated(trainer, test, &loss, &out.accuracy, err);
    out.counters = mw_trainer_get_info(trainer).counters;
    mw_loader_destroy(loader);
    mw_trainer_destroy(trainer);
    return out;
}

static void test_overflows_cost_nothing(void)
{
    mw_error err = {0};
    mw_dataset *training = mw_dataset_open_idx(MW_DATA_DIR "/mnist", "train", &err);
    mw_dataset *test = mw_dataset_open_idx(MW_DATA_DIR "/mnist", "t10k", &err);
    if (err.status != MW_OK) {
        SKIP("no MNIST in the data folder: ./run data");
        mw_dataset_destroy(training);
        return;
    }
    const outcome clean = train(training, test, false, &err), hurt = train(training, test, true, &err);
    CHECK_OK(err);
    CHECK(clean.accuracy > 0.93);
    CHECK_NEAR(hurt.accuracy, clean.accuracy, 0.003);
    CHECK(hurt.injected >= 9);
    CHECK_INT(hurt.counters.refused_steps - clean.counters.refused_steps, hurt.injected);
    CHECK_INT(hurt.counters.steps + hurt.counters.refused_steps - hurt.injected,
              clean.counters.steps + clean.counters.refused_steps);
    printf("accuracy %.4f, with %d overflows %.4f\n", clean.accuracy, hurt.injected, hurt.accuracy);
    mw_dataset_destroy(test);
    mw_dataset_destroy(training);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_overflows_cost_nothing);
    return check_finish();
}
