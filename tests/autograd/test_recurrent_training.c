/* An LSTM learns the adding problem, from the weights and on the batches of PyTorch's run
 * (data/torch/recurrent_training.py): the state dict is loaded as PyTorch wrote it. */
#include "hashed.h"
#include "support/check.h"
#include "support/on_engine.h"

#include "format/tensors/safetensors.h"

#include <stdlib.h>

#define RECORD MW_TESTS_DIR "/data/torch/recurrent_training.safetensors"

enum { STEPS = 150, LENGTH = 4, BATCH = 32, HIDDEN = 16 };

/* Numbers in [0, 1) and marks at two of them, one in each half; the target is their sum. */
static void fill_batch(uint64_t step, float *x, float *y)
{
    float *numbers = hashed_floats((size_t)LENGTH * BATCH, 1000 + step, 1.0F, 0.5F);
    for (int i = 0; i < LENGTH * BATCH; i++) { /* numbers [LENGTH, BATCH], x [BATCH, LENGTH, 2] */
        x[2 * i] = numbers[i % LENGTH * BATCH + i / LENGTH];
        x[2 * i + 1] = 0.0F;
    }
    for (int b = 0; b < BATCH; b++)
        y[b] = 0.0F;
    for (uint64_t half = 0; half < 2; half++) {
        int32_t *at = hashed_integers(BATCH, 2000 + 2 * step + half, LENGTH / 2);
        for (int b = 0; b < BATCH; b++) {
            const int i = b * LENGTH + at[b] + (int)half * (LENGTH / 2);
            x[2 * i + 1] = 1.0F;
            y[b] += x[2 * i];
        }
        free(at);
    }
    free(numbers);
}

static mw_trainer *create(mw_device device, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(BATCH, LENGTH, 2));
    mw_tensor *y = mw_input(g, "y", MW_F32, MW_SHAPE(BATCH, 1));
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.batch_first = true;
    const mw_recurrent r = mw_lstm_layer(x, HIDDEN, "lstm", &options);
    mw_tensor *sum = mw_dense(mw_squeeze(r.h, MW_AXES(0)), 1, "out");
    mw_tensor *loss = mw_reduce_mean(mw_square(mw_sub(sum, y)), MW_AXES(0, 1), false);
    mw_optimizer adam = mw_adam(0.03F);
    if (device == MW_DEVICE_CPU)
        mw_optimizer_set(&adam, MW_OPTIMIZER_EPSILON, 1e-6F); /* PyTorch's run; fp16 has its own */
    mw_trainer *trainer = engine_trainer(loss, adam, device, 1, err);
    mw_trainer_load_weights(trainer, RECORD, NULL, err);
    mw_graph_destroy(g);
    return trainer;
}

static void train(mw_device device, float losses[STEPS])
{
    mw_error err = {0};
    mw_trainer *trainer = create(device, &err);
    for (int step = 0; step < STEPS; step++) {
        float x[LENGTH * BATCH * 2], y[BATCH];
        fill_batch((uint64_t)step, x, y);
        const mw_feed feeds[] = {
            {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)LENGTH * BATCH * 2, .scale = 1.0F},
            {.name = "y", .dtype = MW_F32, .data = y, .count = BATCH, .scale = 1.0F}};
        losses[step] = 0.0F;
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 2, .examples = BATCH}, &losses[step], &err);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

static void read_losses(float *out)
{
    mw__safetensors file;
    mw_error err = {0};
    mw__safetensors_open(&file, mw__allocator_default(), RECORD, &err);
    const mw__safetensors_tensor *losses = err.status == MW_OK ? mw__safetensors_find(&file, "losses") : NULL;
    REQUIRE(losses != NULL && losses->size == STEPS * sizeof(float));
    mw__safetensors_read(&file, losses, out, &err);
    CHECK_OK(err);
    mw__safetensors_close(&file);
}

/* What guessing the mean gives is the variance of two numbers in [0, 1): 1/6. */
static double last_losses(const float *losses)
{
    double sum = 0.0;
    for (int step = STEPS - 10; step < STEPS; step++)
        sum += (double)losses[step] / 10.0;
    return sum;
}

static void test_every_loss_is_that_of_torch(void)
{
    float torch[STEPS] = {0}, losses[STEPS];
    read_losses(torch);
    train(MW_DEVICE_CPU, losses);
    for (int step = 0; step < STEPS; step++) /* rounding that 150 steps of Adam pass on */
        CHECK_NEAR(losses[step], torch[step], 1e-5 + 1e-4 * step * (double)torch[step]);
    CHECK(last_losses(losses) < 1.0 / 6.0 / 5.0);
}

/* fp16 throughout: the beginning is that of PyTorch, and it learns as well. */
static void test_it_learns_on_the_chip(void)
{
    float torch[STEPS] = {0}, losses[STEPS];
    read_losses(torch);
    train(MW_DEVICE_ANE, losses);
    for (int step = 0; step < 20; step++)
        CHECK_NEAR(losses[step], torch[step], 0.02);
    CHECK(last_losses(losses) < 1.0 / 6.0 / 5.0);
}

int main(void)
{
    RUN(test_every_loss_is_that_of_torch);
    RUN(test_it_learns_on_the_chip);
    return check_finish();
}
