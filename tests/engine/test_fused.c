/* Fusion groups: a training step with them gives the bytes of the step without, also where a group is precompiled; and
 * the programs that precompiled.def is written for do use it. */
#include "run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/optimizers.h"
#include "support/setting.h"

#include <millwright/millwright.h>

#define STEPS 3

/* A model of odd sizes, so that tiles and vectors have remainders. */
static mw_trainer *make_trainer(mw_optimizer optimizer, mw_device device, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(19, 37));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(19));
    mw_tensor *h = mw_gelu(mw_dense(x, 83, "fc1"), MW_GELU_TANH);
    h = mw_layer_norm_layer(mw_silu(mw_dense(h, 45, "fc2")), 1, 1e-5f, "norm");
    mw_trainer *trainer =
        engine_trainer(mw_cross_entropy(mw_dense(mw_relu(h), 7, "fc3"), y), optimizer, device, threads, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void train(mw_trainer *trainer, mw_error *err)
{
    static float x[19 * 37];
    static int32_t y[19];
    for (int i = 0; i < 19 * 37; i++)
        x[i] = (float)((i * 7919) % 257) / 257.0f - 0.5f;
    for (int i = 0; i < 19; i++)
        y[i] = i % 7;
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = 19 * 37},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = 19}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 19};
    for (int step = 0; step < STEPS; step++)
        mw_trainer_step(trainer, &batch, NULL, err);
}

/* Trains, and keeps the weights of the first layer. profile: of the ANE model; NULL = on the CPU. */
static void weights_of(mw_optimizer optimizer, const char *profile, int threads, const char *fuse, float *out)
{
    mw_error err = {0};
    const mw_device device = profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    setting_begin("MW_ENGINE_FUSE", fuse);
    setting_begin("MW_ENGINE_PROFILE", profile != NULL ? profile : "ieee");
    mw_trainer *trainer = make_trainer(optimizer, device, threads, &err);
    if (trainer != NULL) {
        train(trainer, &err);
        mw_trainer_read(trainer, "fc1.weight", out, 83 * 37, &err);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    setting_end("MW_ENGINE_PROFILE");
    setting_end("MW_ENGINE_FUSE");
}

static void test_fusing_changes_no_bit(void)
{
    static const char *const profiles[] = {NULL, "ieee", "h13", "h14", "h16", "h17"}; /* h15 is h14 */
    static float fused[83 * 37], plain[83 * 37];
    mw_optimizer optimizers[] = {mw_sgd(0.1f),
                                 mw_sgd_momentum(0.1f, 0.9f, true),
                                 mw_adam(1e-2f),
                                 mw_adamw(1e-2f, 0.01f),
                                 mw_rmsprop(1e-3f),
                                 optimizer_with_momentum(optimizer_centered(mw_rmsprop(1e-3f))),
                                 mw_adagrad(1e-2f),
                                 mw_lion(1e-3f, 0.01f),
                                 optimizer_compensated(mw_sgd(0.1f)),
                                 optimizer_compensated(mw_sgd_momentum(0.1f, 0.9f, true)),
                                 optimizer_compensated(mw_adam(1e-2f)),
                                 optimizer_compensated(mw_adamw(1e-2f, 0.01f)),
                                 optimizer_compensated(optimizer_with_momentum(optimizer_centered(mw_rmsprop(1e-3f)))),
                                 optimizer_compensated(mw_adagrad(1e-2f)),
                                 optimizer_compensated(mw_lion(1e-3f, 0.01f))};
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        for (int threads = 1; threads <= 3; threads++)
            for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++) {
                weights_of(optimizers[i], profiles[k], threads, "1", fused);
                weights_of(optimizers[i], profiles[k], threads, "0", plain);
                check_note(memcmp(fused, plain, sizeof fused) == 0, __FILE__, __LINE__,
                           "optimizer %zu, %d threads, profile %s: fused and plain differ", i, threads,
                           profiles[k] != NULL ? profiles[k] : "none");
            }
}

/* A wrong signature in precompiled.def costs no bit, only time: so it is looked for here. */
static void check_hot_regions(mw_device device)
{
    const struct {
        mw_optimizer optimizer;
        const char *label[2]; /* by device: in fp16 the loss is scaled, and the new values are looked at */
        size_t count[2];
    } rows[] = {
        {mw_adam(1e-3f), {"adam", "adam_fp16_check"}, {8, 8}},
        {mw_adam(1e-3f), {"bias_gelu_tanh", "bias_gelu_tanh"}, {1, 1}},
        {mw_adam(1e-3f), {"gelu_tanh_backward", "gelu_tanh_backward"}, {1, 1}},
        {mw_adam(1e-3f), {"bias_silu", "bias_silu"}, {1, 1}},
        {mw_adamw(1e-3f, 0.01f), {"adamw", "adamw_fp16_check"}, {8, 8}},
        {mw_sgd(1e-3f), {"sgd", "sgd_scaled_check"}, {5, 6}},
        {mw_sgd_momentum(1e-3f, 0.9f, false), {"momentum", "momentum_scaled_check"}, {6, 8}},
        {mw_sgd_momentum(1e-3f, 0.9f, true), {"nesterov", "nesterov_scaled_check"}, {8, 8}},
        {mw_rmsprop(1e-3f), {"rmsprop", "rmsprop_fp16_check"}, {8, 8}},
        {optimizer_with_momentum(mw_rmsprop(1e-3f)), {"rmsprop_momentum", "rmsprop_momentum_fp16_check"}, {8, 8}},
        {optimizer_centered(mw_rmsprop(1e-3f)), {"rmsprop_centered", "rmsprop_centered_fp16_check"}, {8, 8}},
        {mw_adagrad(1e-3f), {"adagrad", "adagrad_fp16_check"}, {8, 8}},
        {mw_lion(1e-3f, 0.01f), {"lion", "lion_fp16_check"}, {8, 8}}};
    const int half = device == MW_DEVICE_ANE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        mw_trainer *trainer = make_trainer(rows[i].optimizer, device, 2, &err);
        REQUIRE(trainer != NULL);
        const run_label wanted = {rows[i].label[half], rows[i].count[half]};
        run_check_labels("hot regions", mw_program_mil(mw_trainer_program(trainer)), &wanted, 1);
        mw_trainer_destroy(trainer);
    }
}

static void test_the_hot_regions_are_found(void) { check_hot_regions(MW_DEVICE_CPU); }

static void test_the_hot_regions_are_found_in_fp16(void) { check_hot_regions(MW_DEVICE_ANE); }

int main(void)
{
    RUN(test_fusing_changes_no_bit);
    RUN(test_the_hot_regions_are_found);
    RUN(test_the_hot_regions_are_found_in_fp16);
    return check_finish();
}
