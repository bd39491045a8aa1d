/* Fusion groups: a training step with them gives the bytes of the step without, also where a group is precompiled; and
 * the programs that precompiled.def is written for do use it. */
#include "engine/kernels/fused/fused.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/optimizers.h"
#include "support/setting.h"

#include <millwright/millwright.h>

#define STEPS 3

/* A model of odd sizes, so that tiles and vectors have remainders. */
static mw_trainer *make_trainer(mw_optimizer optimizer, mw_device device, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
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

/* NULL = on the CPU; else of the ANE model. h15 is h14. */
static const char *const profiles[] = {NULL, "ieee", "h13", "h14", "h16", "h17"};
enum { PROFILES = sizeof profiles / sizeof *profiles };

/* Trains, and keeps the weights of the first layer. */
static void weights_of(mw_optimizer optimizer, const char *profile, int threads, const char *fuse, float *out)
{
    mw_error err = {0};
    const mw_device device = profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    setting_begin("MW_ENGINE_FUSE", fuse);
    setting_begin("MW_ENGINE_PROFILE", profile != NULL ? profile : "ieee");
    mw_trainer *trainer = make_trainer(optimizer, device, threads, &err);
    if (trainer != NULL) {
        train(trainer, &err);
        mw_trainer_read(trainer, "fc1.weight", MW_F32, out, 83 * 37, &err);
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    setting_end("MW_ENGINE_PROFILE");
    setting_end("MW_ENGINE_FUSE");
}

static void test_fusing_changes_no_bit(void)
{
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
            for (size_t k = 0; k < PROFILES; k++) {
                weights_of(optimizers[i], profiles[k], threads, "1", fused);
                weights_of(optimizers[i], profiles[k], threads, "0", plain);
                check_note(memcmp(fused, plain, sizeof fused) == 0, __FILE__, __LINE__,
                           "optimizer %zu, %d threads, profile %s: fused and plain differ", i, threads,
                           profiles[k] != NULL ? profiles[k] : "none");
            }
}

/* ---- batch norm ---- */

enum { CHANNELS = 8, HIGH = 33, WIDE = 35, IMAGE = CHANNELS * HIGH * WIDE, IMAGES = 4 };

typedef mw_tensor *net_builder(mw_graph *graph);

static const char *const image_weights[] = {"mix1", "norm1.weight", "norm1.bias", "mix2", "norm2.weight", "norm2.bias",
                                            "mix3", "norm3.weight", "norm3.bias", "mix4", "fc.weight"};
enum { IMAGE_WEIGHTS = sizeof image_weights / sizeof *image_weights };

typedef struct image_net {
    float weights[IMAGE_WEIGHTS][IMAGE];
} image_net;

/* Along the last axis: what makes the input of a norm and is in no group with it. */
static mw_tensor *mix_rows(mw_tensor *h, int64_t outputs, const char *name)
{
    mw_graph *graph = mw_tensor_graph(h);
    const int64_t inputs = mw_tensor_shape(h).dim[3];
    return mw_linear(h, mw_parameter(graph, name, MW_F32, MW_SHAPE(outputs, inputs), mw_init_normal(0.0f, 0.4f)), NULL);
}

/* build_images without its convolutions, whose sums may have another order when they are fused. Large enough that norms
 * are computed again rather than kept, as they are there. */
static mw_tensor *build_norms(mw_graph *graph)
{
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(IMAGES, CHANNELS, HIGH, WIDE));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(IMAGES));
    h = mw_relu6(mw_batch_norm_layer(mix_rows(h, 41, "mix1"), 0.1f, 1e-5f, "norm1"));
    h = mw_relu6(mw_batch_norm_layer(mix_rows(h, 37, "mix2"), 0.1f, 1e-5f, "norm2"));
    h = mw_batch_norm_layer(mix_rows(h, 43, "mix3"), 0.1f, 1e-5f, "norm3");
    h = mw_relu6(mix_rows(h, 19, "mix4"));
    return mw_cross_entropy(mw_dense(mw_reduce_mean(h, MW_AXES(2, 3), false), 5, "fc"), y);
}

/* Other activations, and a sum with what was before; the last images are so small that several channels share a tile.
 */
static mw_tensor *build_activations(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(IMAGES, CHANNELS, HIGH, WIDE));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(IMAGES));
    mw_tensor *h = mw_relu(mw_batch_norm_layer(mix_rows(x, 41, "mix1"), 0.1f, 1e-5f, "norm1"));
    h = mw_relu(mw_add(mw_batch_norm_layer(mix_rows(h, 35, "mix2"), 0.1f, 1e-5f, "norm2"), x));
    h = mw_silu(mw_batch_norm_layer(mix_rows(h, 64, "mix3"), 0.1f, 1e-5f, "norm3"));
    h = mw_reshape(h, MW_SHAPE(IMAGES, 11 * CHANNELS, 3, 64));
    h = mw_relu(mw_batch_norm_layer(mix_rows(h, 69, "mix4"), 0.1f, 1e-5f, "norm4"));
    h = mw_silu(mw_batch_norm_layer(mix_rows(h, 66, "mix5"), 0.1f, 1e-5f, "norm5"));
    h = mw_mul(h, mw_sigmoid(mw_reduce_mean(h, MW_AXES(2, 3), true)));
    return mw_cross_entropy(mw_dense(mw_reduce_mean(h, MW_AXES(2, 3), false), 5, "fc"), y);
}

static void train_images(mw_trainer *trainer, mw_error *err)
{
    static float x[IMAGES * IMAGE];
    static const int32_t y[IMAGES] = {1, 4, 2, 0};
    for (int i = 0; i < IMAGES * IMAGE; i++)
        x[i] = (float)((i * 7919) % 257) / 257.0f - 0.5f;
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = IMAGES * IMAGE},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = IMAGES}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = IMAGES};
    for (int step = 0; step < STEPS; step++)
        mw_trainer_step(trainer, &batch, NULL, err);
}

static void image_weights_of(net_builder *build, mw_optimizer optimizer, const char *profile, int threads,
                             const char *fuse, image_net *out)
{
    mw_error err = {0};
    *out = (image_net){0};
    setting_begin("MW_ENGINE_FUSE", fuse);
    setting_begin("MW_ENGINE_PROFILE", profile != NULL ? profile : "ieee");
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer *trainer =
        engine_trainer(build(graph), optimizer, profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU, threads, &err);
    if (trainer != NULL)
        train_images(trainer, &err);
    for (int i = 0; trainer != NULL && i < IMAGE_WEIGHTS; i++) {
        const mw_tensor *weight = mw_graph_find(graph, image_weights[i]);
        mw_trainer_read(trainer, image_weights[i], MW_F32, out->weights[i],
                        (size_t)mw_shape_count(mw_tensor_shape(weight)), &err);
    }
    CHECK_OK(err);
    mw_graph_destroy(graph);
    mw_trainer_destroy(trainer);
    setting_end("MW_ENGINE_PROFILE");
    setting_end("MW_ENGINE_FUSE");
}

static void check_norms(net_builder *build)
{
    static image_net fused, plain;
    const mw_optimizer optimizers[] = {mw_sgd(0.1f), mw_adamw(1e-2f, 0.01f)};
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        for (int threads = 1; threads <= 2; threads++)
            for (size_t k = 0; k < PROFILES; k++) {
                image_weights_of(build, optimizers[i], profiles[k], threads, "1", &fused);
                image_weights_of(build, optimizers[i], profiles[k], threads, "0", &plain);
                check_note(memcmp(&fused, &plain, sizeof fused) == 0, __FILE__, __LINE__,
                           "optimizer %zu, %d threads, profile %s: fused and plain differ", i, threads,
                           profiles[k] != NULL ? profiles[k] : "none");
            }
}

static void test_fusing_batch_norm_changes_no_bit(void) { check_norms(build_norms); }
static void test_nor_with_what_follows_it(void) { check_norms(build_activations); }

/* ---- hot regions ---- */

/* Two blocks of a convolution, batch norm and ReLU6, and one of each without an activation. */
static mw_tensor *build_images(mw_graph *graph)
{
    mw_conv_options options = mw_conv_defaults();
    options.bias = false;
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 3, 34, 34));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    h = mw_batch_norm_layer(mw_conv_layer(h, 8, MW_SHAPE(3, 3), "conv1", &options), 0.1f, 1e-5f, "norm1");
    h = mw_conv_layer(mw_relu6(h), 24, MW_SHAPE(1, 1), "conv2", &options);
    h = mw_relu6(mw_batch_norm_layer(h, 0.1f, 1e-5f, "norm2"));
    h = mw_batch_norm_layer(mw_conv_layer(h, 24, MW_SHAPE(1, 1), "conv3", &options), 0.1f, 1e-5f, "norm3");
    h = mw_relu6(mw_conv_layer(h, 24, MW_SHAPE(1, 1), "conv4", &options));
    return mw_cross_entropy(mw_dense(mw_reduce_mean(h, MW_AXES(2, 3), false), 5, "fc"), y);
}

static mw_tensor *build_dense(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(19, 37));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(19));
    mw_tensor *weight = mw_parameter(graph, "weight", MW_F32, MW_SHAPE(45, 45), mw_init_normal(0.0f, 0.1f));
    mw_tensor *h = mw_silu(mw_linear(mw_relu(mw_dense(x, 45, "fc1")), weight, NULL));
    return mw_cross_entropy(mw_dense(mw_gelu(mw_dense(h, 45, "fc2"), MW_GELU_TANH), 7, "fc3"), y);
}

/* The plain form of gradient descent is there wherever anything is: not on x86-64 without AVX2, not for the reference.
 */
static bool has_precompiled(void) { return mw__precompiled_of(level_here()) != NULL; }

/* A wrong signature in precompiled.def costs no bit, only time: so each of its rows is looked for here. */
static void check_hot_regions(mw_device device)
{
    const struct {
        net_builder *build;
        mw_optimizer optimizer;
        const char *label[2]; /* by device, NULL: not precompiled; in fp16 the new values are looked at */
        size_t count[2];
    } rows[] = {{build_dense, mw_adam(1e-3f), {"adam", "adam_fp16_check"}, {7, 7}},
                {build_dense, mw_adamw(1e-3f, 0.01f), {"adamw", "adamw_fp16_check"}, {7, 7}},
                {build_dense, mw_sgd(1e-3f), {"sgd", NULL}, {3, 0}},
                {build_dense, mw_sgd(1e-3f), {"bias_relu", NULL}, {1, 0}},
                {build_dense, mw_sgd(1e-3f), {"relu_backward", NULL}, {1, 0}},
                {build_dense, mw_sgd(1e-3f), {"silu_backward", NULL}, {1, 0}},
                {build_dense, mw_sgd(1e-3f), {"gelu_tanh_backward", "gelu_tanh_backward"}, {1, 1}},
                {build_images, mw_sgd(1e-3f), {"batch_norm_relu6", "batch_norm_relu6"}, {2, 2}},
                {build_images, mw_sgd(1e-3f), {"batch_norm_terms_relu6", "batch_norm_terms_relu6"}, {2, 2}},
                {build_images, mw_sgd(1e-3f), {"batch_norm_dx_relu6_again", "batch_norm_dx_relu6_again"}, {2, 2}},
                {build_images, mw_sgd(1e-3f), {"batch_norm_dx", "batch_norm_dx"}, {1, 1}},
                {build_norms, mw_sgd(1e-3f), {"batch_norm_relu6", "batch_norm_relu6"}, {2, 2}},
                {build_norms, mw_sgd(1e-3f), {"batch_norm_terms_relu6", "batch_norm_terms_relu6"}, {2, 2}},
                {build_norms, mw_sgd(1e-3f), {"batch_norm_dx_relu6_again", "batch_norm_dx_relu6_again"}, {2, 2}},
                {build_activations, mw_sgd(1e-3f), {"centered_square", "centered_square"}, {5, 5}},
                {build_activations, mw_sgd(1e-3f), {"batch_norm_relu", "batch_norm_relu"}, {2, 2}},
                {build_activations, mw_sgd(1e-3f), {"batch_norm_add_relu", "batch_norm_add_relu"}, {1, 1}},
                {build_activations, mw_sgd(1e-3f), {"batch_norm_silu", "batch_norm_silu"}, {2, 2}},
                {build_activations, mw_sgd(1e-3f), {"batch_norm_terms_relu", "batch_norm_terms_relu"}, {3, 3}},
                {build_activations, mw_sgd(1e-3f), {"batch_norm_terms_silu", "batch_norm_terms_silu"}, {1, 1}},
                {build_activations, mw_sgd(1e-3f), {"batch_norm_dx_relu_again", "batch_norm_dx_relu_again"}, {3, 3}}};
    const int half = device == MW_DEVICE_ANE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        if (rows[i].label[half] == NULL || !has_precompiled())
            continue;
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_trainer *trainer = engine_trainer(rows[i].build(graph), rows[i].optimizer, device, 2, &err);
        const run_label wanted = {rows[i].label[half], rows[i].count[half]};
        CHECK_OK(err);
        if (trainer != NULL)
            run_check_labels_for(half ? E5RT_ANE : E5RT_CPU, "hot regions",
                                 mw_program_get_info(mw_trainer_program(trainer)).mil, &wanted, 1);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
}

/* Of the steps as they are kept: what is made again backward moves into other regions. */
static void check_hot_regions_kept(mw_device device)
{
    setting_begin("MW_PASSES_OFF", "redo");
    check_hot_regions(device);
    setting_end("MW_PASSES_OFF");
}

static void test_the_hot_regions_are_found(void) { check_hot_regions_kept(MW_DEVICE_CPU); }

static void test_the_hot_regions_are_found_in_fp16(void) { check_hot_regions_kept(MW_DEVICE_ANE); }

int main(void)
{
    RUN(test_fusing_changes_no_bit);
    RUN(test_fusing_batch_norm_changes_no_bit);
    RUN(test_nor_with_what_follows_it);
    RUN(test_the_hot_regions_are_found);
    RUN(test_the_hot_regions_are_found_in_fp16);
    return check_finish();
}
