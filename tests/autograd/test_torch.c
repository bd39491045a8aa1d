/* Ten training steps of the MLP on the engine against losses that PyTorch recorded (tests/data/torch/mlp_losses.py). */
#include "hashed.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 10
#define SUMS  4

typedef struct record {
    double losses[STEPS], sums[SUMS];
} record;

static bool read_record(const char *name, record *out)
{
    char path[512], word[64];
    snprintf(path, sizeof path, "%s/data/torch/mlp_losses.txt", MW_TESTS_DIR);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file != NULL && !found && fscanf(file, "%63s", word) == 1) {
        found = strcmp(word, name) == 0;
        for (int i = 0; found && i < STEPS; i++)
            found = fscanf(file, "%lf", &out->losses[i]) == 1;
        for (int i = 0; found && i < SUMS; i++)
            found = fscanf(file, "%lf", &out->sums[i]) == 1;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static const struct {
    const char *name;
    size_t count;
    float scale;
} parameters[SUMS] = {
    {"fc1.weight", 256 * 784, 0.125f}, {"fc1.bias", 256, 0.125f}, {"fc2.weight", 2560, 0.25f}, {"fc2.bias", 10, 0.25f}};

static mw_trainer *make_trainer(mw_optimizer optimizer, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(128, 784));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(128));
    mw_tensor *h = mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH);
    mw_trainer *trainer = engine_trainer(mw_cross_entropy(mw_dense(h, 10, "fc2"), y), optimizer, MW_DEVICE_CPU, 2, err);
    mw_graph_destroy(graph);
    for (size_t i = 0; trainer != NULL && i < SUMS; i++) {
        float *values = hashed_floats(parameters[i].count, i + 1, parameters[i].scale, 0.0f);
        mw_trainer_write(trainer, parameters[i].name, MW_F32, values, parameters[i].count, err);
        free(values);
    }
    return trainer;
}

static float one_step(mw_trainer *trainer, int step, mw_error *err)
{
    float *x = hashed_floats(128 * 784, 100 + (uint64_t)step, 1.0f, 0.5f), loss = NAN;
    int32_t *y = hashed_integers(128, 200 + (uint64_t)step, 10);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = 128 * 784},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = 128}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 128};
    mw_trainer_step(trainer, &batch, &loss, err);
    free(y);
    free(x);
    return loss;
}

/* Two fp32 implementations differ by rounding only, which ten steps at these rates amplify little: 2e-5 is some 80
 * units in the last place of a loss of 2.4; Adam divides by sqrt(v) of the first steps and gets 2e-4. */
static void check_training(const char *name, mw_optimizer optimizer, double tolerance)
{
    record expected;
    mw_error err = {0};
    REQUIRE(read_record(name, &expected));
    mw_trainer *trainer = make_trainer(optimizer, &err);
    for (int step = 0; trainer != NULL && step < STEPS; step++) {
        float loss = one_step(trainer, step, &err);
        check_note(fabs((double)loss - expected.losses[step]) <= tolerance, __FILE__, __LINE__,
                   "%s: loss of step %d is %.8g, PyTorch has %.8g", name, step, (double)loss, expected.losses[step]);
    }
    for (size_t i = 0; trainer != NULL && i < SUMS; i++) {
        float *values = malloc(parameters[i].count * sizeof *values);
        double sum = 0.0;
        mw_trainer_read(trainer, parameters[i].name, MW_F32, values, parameters[i].count, &err);
        for (size_t k = 0; k < parameters[i].count; k++)
            sum += fabs((double)values[k]);
        free(values);
        check_note(fabs(sum - expected.sums[i]) <= tolerance * expected.sums[i], __FILE__, __LINE__,
                   "%s: sum of |%s| is %.8g, PyTorch has %.8g", name, parameters[i].name, sum, expected.sums[i]);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

static void test_sgd_follows_pytorch(void) { check_training("sgd", mw_sgd(0.05f), 2e-5); }

static void test_momentum_follows_pytorch(void)
{
    check_training("momentum", mw_sgd_momentum(0.02f, 0.9f, false), 2e-5);
}

static void test_nesterov_with_decay_follows_pytorch(void)
{
    mw_optimizer optimizer = mw_sgd_momentum(0.02f, 0.9f, true);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, 0.01f);
    check_training("nesterov_decay", optimizer, 2e-5);
}

static void test_adam_follows_pytorch(void) { check_training("adam", mw_adam(1e-3f), 2e-4); }

static void test_adamw_follows_pytorch(void) { check_training("adamw", mw_adamw(1e-3f, 0.1f), 2e-4); }

static void test_rmsprop_follows_pytorch(void)
{
    mw_optimizer optimizer = mw_rmsprop(1e-4f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_CENTERED, true);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_MOMENTUM, 0.5f);
    check_training("rmsprop", optimizer, 2e-4);
}

static void test_adagrad_follows_pytorch(void)
{
    mw_optimizer optimizer = mw_adagrad(1e-3f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_LR_DECAY, 0.1f);
    check_training("adagrad", optimizer, 2e-4);
}

int main(void)
{
    RUN(test_sgd_follows_pytorch);
    RUN(test_momentum_follows_pytorch);
    RUN(test_nesterov_with_decay_follows_pytorch);
    RUN(test_adam_follows_pytorch);
    RUN(test_adamw_follows_pytorch);
    RUN(test_rmsprop_follows_pytorch);
    RUN(test_adagrad_follows_pytorch);
    return check_finish();
}
