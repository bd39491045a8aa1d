/* Layers, losses and trainers on tensors without elements. What has a value then has one, and gradients of 0; what is a
 * mean of nothing is refused by its own name. */
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/losses.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { WIDTH = 4, SIDE = 5, PARAMETERS = 8 };

typedef struct layer {
    const char *name;
    mw_tensor *(*build)(mw_graph *g);
} layer;

static mw_tensor *rows(mw_graph *g) { return mw_input(g, "rows", MW_F32, MW_SHAPE(0, WIDTH)); }
static mw_tensor *tokens(mw_graph *g) { return mw_input(g, "tokens", MW_F32, MW_SHAPE(0, 3, WIDTH)); }
static mw_tensor *images(mw_graph *g) { return mw_input(g, "images", MW_F32, MW_SHAPE(0, WIDTH, SIDE, SIDE)); }
static mw_tensor *target(mw_graph *g) { return mw_input(g, "target", MW_F32, MW_SHAPE(0, WIDTH)); }
static mw_tensor *labels(mw_graph *g) { return mw_input(g, "labels", MW_I32, MW_SHAPE(0)); }
static mw_tensor *fc(mw_graph *g) { return mw_dense(rows(g), WIDTH, "fc"); }

#define BUILD(name, expression)                                                                                        \
    static mw_tensor *name(mw_graph *g) { return expression; }

/* ---- layers ---- */

/* clang-format off */
BUILD(conv, mw_conv_layer(images(g), 3, MW_SHAPE(3, 2), "conv", NULL))
BUILD(conv_transpose, mw_conv_transpose_layer(images(g), 3, MW_SHAPE(3, 2), "up", NULL))
BUILD(layer_norm, mw_layer_norm_layer(fc(g), 1, 1e-3f, "norm"))
BUILD(rms_norm, mw_rms_norm_layer(fc(g), 1, 1e-3f, "norm"))
BUILD(group_norm, mw_group_norm_layer(images(g), 2, 1e-3f, "norm"))
BUILD(instance_norm, mw_instance_norm_layer(images(g), 1e-3f, "norm"))
BUILD(embedding, mw_embedding(labels(g), 7, WIDTH, "table"))
BUILD(dropout, mw_dropout(fc(g), 0.5f, "drop"))
BUILD(log_softmax, mw_log_softmax(fc(g), -1))
/* clang-format on */

static mw_tensor *dilated_conv(mw_graph *g)
{
    mw_conv_options options = mw_conv_defaults();
    options.groups = 2;
    options.dilation[0] = options.dilation[1] = 2;
    options.pad_type = MW_PAD_SAME;
    return mw_conv_layer(images(g), WIDTH, MW_SHAPE(2, 2), "conv", &options);
}

static mw_tensor *attention(mw_graph *g)
{
    mw_tensor *x = tokens(g), *q = mw_dense(x, WIDTH, "q"), *k = mw_dense(x, WIDTH, "k"), *v = mw_dense(x, WIDTH, "v");
    return mw_scaled_dot_product_attention(q, k, v, NULL);
}

static mw_tensor *recomputed(mw_graph *g)
{
    mw_tensor *start = fc(g);
    return mw_recompute(mw_tanh(mw_dense(mw_tanh(start), WIDTH, "fc2")), &start, 1);
}

static mw_status twice(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul_scalar(call->dy, 2.0);
    return MW_OK;
}

static mw_tensor *custom(mw_graph *g)
{
    mw_tensor *start = fc(g);
    return mw_custom_vjp("twice", mw_tanh(start), &start, 1, twice, NULL);
}

static const layer layers[] = {{"dense", fc},
                               {"conv", conv},
                               {"conv, dilated, groups", dilated_conv},
                               {"conv_transpose", conv_transpose},
                               {"layer_norm", layer_norm},
                               {"rms_norm", rms_norm},
                               {"group_norm", group_norm},
                               {"instance_norm", instance_norm},
                               {"embedding", embedding},
                               {"dropout", dropout},
                               {"log_softmax", log_softmax},
                               {"attention", attention},
                               {"recompute", recomputed},
                               {"custom_vjp", custom}};

static size_t parameters_of(const mw_graph *graph, mw_tensor **out)
{
    const mw__block *body = graph->current->body;
    size_t count = 0;
    for (size_t i = 0; i < body->input_count && count < PARAMETERS; i++)
        if (body->inputs[i]->role == MW__PARAMETER)
            out[count++] = body->inputs[i];
    return count;
}

/* All results, loss and gradients, are 0. */
static void check_zeros(const layer *l, const mw_graph *graph, mw_device device)
{
    mw_error err = {0};
    mw_program *program = engine_compile(graph, device, 0, &err);
    if (program != NULL)
        mw_program_run(program, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s, mask %d: %s", l->name, (int)device, err.message);
    mw_port port;
    for (size_t i = 0; err.status == MW_OK && mw_program_port_at(program, i, &port); i++) {
        float values[256];
        const int64_t count = mw_shape_count(port.shape);
        if (!port.is_output)
            continue;
        REQUIRE(count > 0 && count <= 256);
        mw_program_read(program, port.name, MW_F32, values, (size_t)count, &err);
        CHECK_OK(err);
        for (int64_t k = 0; k < count; k++)
            check_note(values[k] == 0.0f, __FILE__, __LINE__, "%s: %s[%lld] is %g", l->name, port.name, (long long)k,
                       (double)values[k]);
    }
    mw_program_destroy(program);
}

static void check_layer(const layer *l, mw__lowering lowering, mw_device device)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_tensor *x[PARAMETERS], *dx[PARAMETERS], *y = l->build(graph), *loss = mw_reduce_sum(y, MW_ALL_AXES, false);
    graph->lowering = lowering;
    if (mw_graph_check(graph, &err) == MW_OK) {
        const size_t count = parameters_of(graph, x);
        CHECK_INT(mw_shape_count(mw_tensor_shape(y)), 0);
        CHECK(count > 0);
        mw_grad(loss, x, count, dx, &err);
        mw_output(loss, "loss");
        for (size_t i = 0; i < count && err.status == MW_OK; i++) {
            char name[8];
            snprintf(name, sizeof name, "d%zu", i);
            mw_output(dx[i], name);
            CHECK(mw_shape_equal(mw_tensor_shape(dx[i]), mw_tensor_shape(x[i])));
        }
    }
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", l->name, err.message))
        check_zeros(l, graph, device);
    mw_graph_destroy(graph);
}

static void test_layers_of_an_empty_batch_have_gradients_of_0(void)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        check_layer(&layers[i], MW__LOWERING_NATIVE, MW_DEVICE_CPU);
        setting_begin("MW_ENGINE_FUSE", "0");
        check_layer(&layers[i], MW__LOWERING_DECOMPOSED, MW_DEVICE_CPU);
        setting_end("MW_ENGINE_FUSE");
        check_layer(&layers[i], MW__LOWERING_DECOMPOSED, MW_DEVICE_ANE);
    }
}

/* ---- losses and metrics ---- */

static mw_tensor *no_classes(mw_graph *g) { return mw_input(g, "no_classes", MW_F32, MW_SHAPE(3, 0)); }

/* clang-format off */
BUILD(cross_entropy, mw_cross_entropy(fc(g), labels(g)))
BUILD(cross_entropy_dense, mw_cross_entropy(fc(g), target(g)))
BUILD(cross_entropy_no_class, mw_cross_entropy(no_classes(g), mw_input(g, "labels", MW_I32, MW_SHAPE(3))))
BUILD(cross_entropy_with, mw_cross_entropy_with(fc(g), labels(g), &(const mw_cross_entropy_options){
    .struct_size = sizeof(mw_cross_entropy_options), .ignore_index = -1}))
BUILD(nll, mw_nll(fc(g), labels(g)))
BUILD(multi_margin, mw_multi_margin(fc(g), labels(g), 1.0f))
BUILD(accuracy, mw_accuracy(fc(g), labels(g)))
BUILD(accuracy_ignoring, mw_accuracy_ignoring(fc(g), labels(g), -1))
BUILD(mse, mw_mse(fc(g), target(g)))
BUILD(mse_no_values, mw_mse(no_classes(g), mw_input(g, "target", MW_F32, MW_SHAPE(3, 0))))
BUILD(l1, mw_l1(fc(g), target(g)))
BUILD(huber, mw_huber(fc(g), target(g), 1.0f))
BUILD(smooth_l1, mw_smooth_l1(fc(g), target(g), 1.0f))
BUILD(binary_cross_entropy, mw_binary_cross_entropy(fc(g), target(g), NULL))
BUILD(kl_divergence, mw_kl_divergence(fc(g), target(g)))
BUILD(hinge, mw_hinge(fc(g), target(g)))
BUILD(batch_norm, mw_batch_norm_layer(images(g), 0.1f, 1e-3f, "norm"))
/* clang-format on */

static loss_operands operands(mw_graph *g)
{
    mw_tensor *x = fc(g), *y = target(g), *signs = mw_input(g, "signs", MW_F32, MW_SHAPE(0));
    return (loss_operands){.x = x, .y = y, .z = y, .p = y, .l = labels(g), .s = signs};
}

#define LOSS_ROW(id, function, operand, expression) LOSS_BUILDER(id, operands, expression)
#include "support/losses.def"
#undef LOSS_ROW

static void test_losses_and_metrics_refuse_an_empty_batch_by_name(void)
{
    static const struct {
        const char *message;
        mw_tensor *(*build)(mw_graph *g);
    } refused[] = {{"cross_entropy: logits [0, 4]", cross_entropy},
                   {"cross_entropy: logits [0, 4]", cross_entropy_dense},
                   {"cross_entropy: logits [3, 0]", cross_entropy_no_class},
                   {"cross_entropy: logits [0, 4]", cross_entropy_with},
                   {"nll: logits [0, 4]", nll},
                   {"multi_margin: logits [0, 4]", multi_margin},
                   {"accuracy: logits [0, 4]", accuracy},
                   {"accuracy: logits [0, 4]", accuracy_ignoring},
                   {"mse: y [0, 4]", mse},
                   {"mse: y [3, 0]", mse_no_values},
                   {"l1: y [0, 4]", l1},
                   {"huber: y [0, 4]", huber},
                   {"smooth_l1: y [0, 4]", smooth_l1},
                   {"binary_cross_entropy: logits [0, 4]", binary_cross_entropy},
                   {"kl_divergence: log_probabilities [0, 4]", kl_divergence},
                   {"hinge: y [0, 4]", hinge},
#define LOSS_ROW(id, function, operand, expression) {operand, id},
#include "support/losses.def"
#undef LOSS_ROW
                   {"batch_norm \"norm\": x [0, 4, 5, 5] has no element per channel", batch_norm}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        refused[i].build(graph);
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, MW_ERROR_SHAPE, refused[i].message);
        mw_graph_destroy(graph);
    }
}

/* ---- trainers ---- */

static mw_trainer *create(mw_tensor *loss, mw_device device, mw_error *err)
{
    return engine_trainer(loss, mw_sgd(0.125f), device, 0, err);
}

static void test_a_trainer_whose_gradients_all_are_empty_is_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer *trainer = create(mw_reduce_sum(fc(graph), MW_ALL_AXES, false), MW_DEVICE_CPU, &err);
    CHECK(trainer == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "a tensor without elements");
    mw_graph_destroy(graph);
}

/* loss = sum of w over 2 + what an empty branch adds, which is 0: w' = w - 0.125 / 2, the other weights stay. */
static void train_beside_nothing(mw_device device)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_constant(1.0f));
    mw_tensor *branch = mw_reduce_sum(fc(graph), MW_ALL_AXES, false);
    mw_trainer *trainer = create(mw_add(mw_reduce_mean(w, MW_ALL_AXES, false), branch), device, &err);
    float before[WIDTH * WIDTH], after[WIDTH * WIDTH], weights[2], nothing = 0.0f;
    const mw_feed feed = {.name = "rows", .dtype = MW_F32, .data = &nothing, .count = 0, .scale = 1.0f};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 0};
    float loss = -1.0f;
    mw_trainer_read(trainer, "fc.weight", MW_F32, before, WIDTH * WIDTH, &err);
    mw_trainer_step(trainer, &batch, &loss, &err);
    mw_trainer_read(trainer, "fc.weight", MW_F32, after, WIDTH * WIDTH, &err);
    mw_trainer_read(trainer, "w", MW_F32, weights, 2, &err);
    CHECK_OK(err);
    CHECK(loss == 1.0f);
    CHECK(memcmp(before, after, sizeof after) == 0);
    CHECK(weights[0] == 0.9375f && weights[1] == 0.9375f);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_an_empty_branch_trains_nothing(void)
{
    train_beside_nothing(MW_DEVICE_CPU);
    train_beside_nothing(MW_DEVICE_ANE);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_layers_of_an_empty_batch_have_gradients_of_0);
    RUN(test_losses_and_metrics_refuse_an_empty_batch_by_name);
    RUN(test_a_trainer_whose_gradients_all_are_empty_is_refused);
    RUN(test_an_empty_branch_trains_nothing);
    return check_finish();
}
