/* The fault loop over what is no operation of the table: layers, losses, metrics, noise, recomputation and gradients of
 * one's own, each under a loss; and every optimizer with every option of a trainer. */
#include "autograd/optimizers/optimizer_rows.h"
#include "faults.h"
#include "support/check.h"
#include "support/losses.h"

#include <stdlib.h>

enum { N = 2, C = 4, SIDE = 5, EXAMPLES = 3, DEPTH = 6 };

typedef struct composite {
    const char *name;
    mw_tensor *(*build)(mw_graph *g); /* a scalar that depends on parameters */
} composite;

static mw_tensor *image(mw_graph *g) { return mw_input(g, "image", MW_F32, MW_SHAPE(N, C, SIDE, SIDE)); }
static mw_tensor *rows(mw_graph *g) { return mw_input(g, "rows", MW_F32, MW_SHAPE(EXAMPLES, DEPTH)); }
static mw_tensor *labels(mw_graph *g) { return mw_input(g, "labels", MW_I32, MW_SHAPE(EXAMPLES)); }
static mw_tensor *like_rows(mw_graph *g) { return mw_input(g, "like_rows", MW_F32, MW_SHAPE(EXAMPLES, DEPTH)); }
static mw_tensor *logits(mw_graph *g) { return mw_dense(rows(g), DEPTH, "fc"); }
static mw_tensor *mean(mw_tensor *y) { return mw_reduce_mean(mw_square(y), MW_ALL_AXES, false); }

#define COMPOSITE(name, expression)                                                                                    \
    static mw_tensor *name(mw_graph *g) { return expression; }

/* clang-format off */
COMPOSITE(dense, mean(logits(g)))
COMPOSITE(conv, mean(mw_conv_layer(image(g), 3, MW_SHAPE(3, 2), "conv", NULL)))
COMPOSITE(conv_transpose, mean(mw_conv_transpose_layer(image(g), 3, MW_SHAPE(3, 2), "up", NULL)))
COMPOSITE(layer_norm, mean(mw_layer_norm_layer(mw_tanh(logits(g)), 1, 1e-3f, "norm")))
COMPOSITE(rms_norm, mean(mw_rms_norm_layer(mw_tanh(logits(g)), 1, 1e-3f, "norm")))
COMPOSITE(group_norm, mean(mw_group_norm_layer(image(g), 2, 1e-3f, "norm")))
COMPOSITE(instance_norm, mean(mw_instance_norm_layer(image(g), 1e-3f, "norm")))
COMPOSITE(batch_norm, mean(mw_batch_norm_layer(image(g), 0.1f, 1e-3f, "norm")))
COMPOSITE(embedding, mean(mw_embedding(labels(g), 7, 4, "embedding")))
COMPOSITE(dropout, mean(mw_dropout(logits(g), 0.3f, "drop")))
COMPOSITE(log_softmax, mean(mw_log_softmax(logits(g), -1)))
COMPOSITE(cross_entropy, mw_cross_entropy(logits(g), labels(g)))
COMPOSITE(cross_entropy_dense, mw_cross_entropy(logits(g), mw_sigmoid(mw_dense(like_rows(g), DEPTH, "target"))))
COMPOSITE(nll, mw_nll(mw_log_softmax(logits(g), -1), labels(g)))
COMPOSITE(multi_margin, mw_multi_margin(logits(g), labels(g), 1.0f))
COMPOSITE(mse, mw_mse(logits(g), like_rows(g)))
COMPOSITE(l1, mw_l1(logits(g), like_rows(g)))
COMPOSITE(huber, mw_huber(logits(g), like_rows(g), 0.5f))
COMPOSITE(smooth_l1, mw_smooth_l1(logits(g), like_rows(g), 0.5f))
COMPOSITE(bce, mw_binary_cross_entropy(logits(g), mw_sigmoid(mw_dense(like_rows(g), DEPTH, "target")), NULL))
COMPOSITE(kl, mw_kl_divergence(mw_log_softmax(logits(g), -1), mw_softmax(like_rows(g), -1)))
COMPOSITE(hinge, mw_hinge(logits(g), mw_sign(like_rows(g))))
COMPOSITE(accuracy, mw_add(dense(g), mw_accuracy(mw_dense(like_rows(g), DEPTH, "fc2"), labels(g))))
/* clang-format on */

static loss_operands operands(mw_graph *g)
{
    mw_tensor *other = like_rows(g);
    return (loss_operands){.x = logits(g),
                           .y = other,
                           .z = mw_tanh(other),
                           .p = mw_sigmoid(other),
                           .l = labels(g),
                           .s = mw_input(g, "signs", MW_F32, MW_SHAPE(EXAMPLES))};
}

#define LOSS_ROW(id, function, operand, expression) LOSS_BUILDER(id, operands, expression)
#include "support/losses.def"
#undef LOSS_ROW

static mw_tensor *bce_weighted(mw_graph *g)
{
    mw_tensor *weight = mw_parameter(g, "weight", MW_F32, MW_SHAPE(DEPTH), mw_init_constant(2.0f));
    return mw_binary_cross_entropy(logits(g), mw_sigmoid(like_rows(g)), weight);
}

static mw_tensor *cross_entropy_options(mw_graph *g)
{
    static const float weights[DEPTH] = {1.0f, 2.0f, 0.5f, 1.0f, 1.0f, 3.0f};
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_weights = weights;
    options.class_count = DEPTH;
    options.label_smoothing = 0.1f;
    options.ignore_index = -1;
    return mw_cross_entropy_with(logits(g), labels(g), &options);
}

static mw_tensor *accuracy_ignoring(mw_graph *g)
{
    mw_tensor *loss = dense(g);
    return mw_add(loss, mw_accuracy_ignoring(mw_dense(like_rows(g), DEPTH, "fc2"), labels(g), -1));
}

static mw_tensor *noise(mw_graph *g)
{
    mw_tensor *normal = mw_noise_normal(g, MW_F32, MW_SHAPE(EXAMPLES, DEPTH), 0.0f, 1.0f, "normal");
    mw_tensor *uniform = mw_noise_uniform(g, MW_F32, MW_SHAPE(EXAMPLES, DEPTH), 0.5f, 1.5f, "uniform");
    mw_tensor *bernoulli = mw_noise_bernoulli(g, MW_F32, MW_SHAPE(EXAMPLES, DEPTH), 0.5f, "bernoulli");
    return mean(mw_mul(mw_mul(logits(g), normal), mw_add(uniform, bernoulli)));
}

static mw_tensor *attention(mw_graph *g)
{
    mw_tensor *x = mw_input(g, "tokens", MW_F32, MW_SHAPE(N, 4, DEPTH));
    mw_tensor *q = mw_dense(x, DEPTH, "q"), *k = mw_dense(x, DEPTH, "k"), *v = mw_dense(x, DEPTH, "v");
    return mean(mw_scaled_dot_product_attention(q, k, v, NULL));
}

static mw_tensor *sequence(mw_graph *g) { return mw_input(g, "sequence", MW_F32, MW_SHAPE(N, 2, C)); }

static mw_tensor *attention_layer(mw_graph *g)
{
    return mean(mw_multi_head_attention_layer(sequence(g), NULL, NULL, 2, NULL, "attention"));
}

static mw_tensor *lstm_layer(mw_graph *g)
{
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.layers = 2;
    options.bidirectional = true;
    options.batch_first = true;
    options.dropout = 0.25F;
    return mean(mw_lstm_layer(sequence(g), 2, "lstm", &options).y);
}

static mw_tensor *gru_layer(mw_graph *g) { return mean(mw_gru_layer(sequence(g), 2, "gru", NULL).h); }

static mw_tensor *dilated_conv(mw_graph *g)
{
    mw_conv_options options = mw_conv_defaults();
    options.groups = 2;
    options.dilation[0] = options.dilation[1] = 2;
    options.pad_type = MW_PAD_SAME;
    return mean(mw_conv_layer(image(g), 4, MW_SHAPE(2, 2), "conv", &options));
}

static mw_tensor *recomputed(mw_graph *g)
{
    mw_tensor *start = logits(g);
    return mean(mw_recompute(mw_tanh(mw_dense(mw_tanh(start), DEPTH, "fc2")), &start, 1));
}

static mw_status twice(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul_scalar(call->dy, 2.0);
    return MW_OK;
}

static mw_tensor *custom(mw_graph *g)
{
    mw_tensor *start = logits(g);
    return mean(mw_custom_vjp("twice", mw_tanh(start), &start, 1, twice, NULL));
}

static const composite composites[] = {{"dense", dense},
                                       {"conv layer", conv},
                                       {"conv layer, dilated, groups", dilated_conv},
                                       {"conv_transpose layer", conv_transpose},
                                       {"layer_norm layer", layer_norm},
                                       {"rms_norm layer", rms_norm},
                                       {"group_norm layer", group_norm},
                                       {"instance_norm layer", instance_norm},
                                       {"batch_norm layer", batch_norm},
                                       {"embedding", embedding},
                                       {"attention", attention},
                                       {"attention layer", attention_layer},
                                       {"lstm layer", lstm_layer},
                                       {"gru layer", gru_layer},
                                       {"dropout", dropout},
                                       {"noise", noise},
                                       {"log_softmax", log_softmax},
                                       {"cross_entropy", cross_entropy},
                                       {"cross_entropy of probabilities", cross_entropy_dense},
                                       {"cross_entropy with options", cross_entropy_options},
                                       {"nll", nll},
                                       {"multi_margin", multi_margin},
                                       {"mse", mse},
                                       {"l1", l1},
                                       {"huber", huber},
                                       {"smooth_l1", smooth_l1},
                                       {"binary_cross_entropy", bce},
                                       {"binary_cross_entropy, weighted", bce_weighted},
                                       {"kl_divergence", kl},
                                       {"hinge", hinge},
#define LOSS_ROW(id, function, operand, expression) {#id, id},
#include "support/losses.def"
#undef LOSS_ROW
                                       {"accuracy", accuracy},
                                       {"accuracy, ignoring", accuracy_ignoring},
                                       {"recompute", recomputed},
                                       {"custom_vjp", custom}};
enum { COMPOSITES = sizeof composites / sizeof *composites };

/* ---- gradients ---- */

static size_t parameters_of(const mw_graph *graph, mw_tensor **out, size_t capacity)
{
    const mw__block *body = graph->current->body;
    size_t count = 0;
    for (size_t i = 0; i < body->input_count && count < capacity; i++)
        if (body->inputs[i]->role == MW__PARAMETER)
            out[count++] = body->inputs[i];
    return count;
}

static mw_status differentiate(const void *what, const mw_allocator *allocator, bool chip, mw_error *err)
{
    const composite *c = what;
    mw_tensor *x[8], *dx[8];
    mw_graph *graph = faults_graph(allocator, chip, true, err);
    if (graph == NULL)
        return err->status;
    mw_tensor *loss = c->build(graph);
    const size_t count = parameters_of(graph, x, 8);
    if (mw_graph_check(graph, err) == MW_OK && mw_grad(loss, x, count, dx, err) == MW_OK)
        CHECK(count > 0);
    mw_graph_destroy(graph);
    return err->status;
}

/* ---- steps ---- */

/* Feeds of what the composites read. */
static size_t fill_feeds(const mw_graph *graph, mw_feed *feeds, size_t capacity)
{
    static const double zeros[N * C * SIDE * SIDE];
    const mw__block *body = graph->current->body;
    size_t count = 0;
    for (size_t i = 0; i < body->input_count && count < capacity; i++) {
        const mw_tensor *input = body->inputs[i];
        if (input->role == MW__INPUT)
            feeds[count++] = (mw_feed){.name = input->name,
                                       .dtype = MW_F64,
                                       .data = zeros,
                                       .count = (size_t)mw_shape_count(mw_tensor_shape(input)),
                                       .scale = 1.0f};
    }
    return count;
}

static mw_status step(const void *what, const mw_allocator *allocator, bool chip, mw_error *err)
{
    const composite *c = what;
    mw_feed feeds[4];
    mw_graph *graph = faults_graph(allocator, false, true, err);
    if (graph == NULL)
        return err->status;
    mw_tensor *loss = c->build(graph);
    if (mw_graph_check(graph, err) == MW_OK) {
        mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
        faults_train(options, feeds, fill_feeds(graph, feeds, 4), allocator, chip, err);
    }
    mw_graph_destroy(graph);
    return err->status;
}

static void test_every_composite_survives_every_failed_allocation(void)
{
    for (size_t i = 0; i < COMPOSITES; i++) {
        char name[100];
        snprintf(name, sizeof name, "gradient of %s", composites[i].name);
        faults_loop(differentiate, &composites[i], name, 150, i);
        snprintf(name, sizeof name, "step of %s", composites[i].name);
        faults_loop(step, &composites[i], name, 20, i);
    }
}

/* ---- optimizers ---- */

enum { OPTIMIZERS = 9 };

static mw_optimizer optimizer_at(int index, bool compensated)
{
    mw_optimizer made[OPTIMIZERS] = {mw_sgd(0.1f),
                                     mw_sgd_momentum(0.1f, 0.9f, false),
                                     mw_sgd_momentum(0.1f, 0.9f, true),
                                     mw_adam(1e-3f),
                                     mw_adamw(1e-3f, 0.01f),
                                     mw_rmsprop(1e-3f),
                                     mw_rmsprop(1e-3f),
                                     mw_adagrad(1e-2f),
                                     mw_lion(1e-4f, 0.01f)};
    mw_optimizer_set(&made[0], MW_OPTIMIZER_WEIGHT_DECAY, 0.01f);
    mw_optimizer_set(&made[6], MW_OPTIMIZER_CENTERED, true);
    mw_optimizer_set(&made[6], MW_OPTIMIZER_MOMENTUM, 0.9f);
    mw_optimizer_set(&made[index], MW_OPTIMIZER_COMPENSATED, compensated);
    return made[index];
}

static mw_status update(const void *what, const mw_allocator *allocator, bool chip, mw_error *err)
{
    mw__optimizer optimizer = mw__optimizer_of(what);
    mw_graph *graph = faults_graph(allocator, chip, true, err);
    if (graph == NULL)
        return err->status;
    mw__optimizer_set_epsilon(&optimizer, chip, 1.0);
    mw__optimizer_scalars scalars = {.loss_scale = 1.0, .half = chip};
    mw_tensor *state[MW__OPTIMIZER_STATES], *new_state[MW__OPTIMIZER_STATES], *new_p = NULL;
    char name[16];
    mw_tensor *p = rows(graph), *gradient = like_rows(graph);
    for (size_t i = 0; i < mw__optimizer_scalar_count(&optimizer, chip); i++) {
        snprintf(name, sizeof name, "scalar%zu", i);
        scalars.scalar[i] = mw_input(graph, name, MW_F32, mw_shape_scalar());
    }
    const size_t count = mw__optimizer_state_count(&optimizer, chip);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "state%zu", i);
        state[i] = mw_input(graph, name, MW_F32, MW_SHAPE(EXAMPLES, DEPTH));
    }
    if (mw_graph_check(graph, err) == MW_OK)
        mw__optimizer_apply(&(mw__optimizer_request){.optimizer = &optimizer,
                                                     .scalars = &scalars,
                                                     .graph = graph,
                                                     .p = p,
                                                     .gradient = gradient,
                                                     .state = state,
                                                     .state_count = count},
                            &new_p, new_state, err);
    mw_graph_destroy(graph);
    return err->status;
}

static void test_every_update_survives_every_failed_allocation(void)
{
    for (int i = 0; i < 2 * OPTIMIZERS; i++) {
        char name[40];
        const mw_optimizer optimizer = optimizer_at(i / 2, i % 2 == 1);
        snprintf(name, sizeof name, "optimizer %d%s", i / 2, i % 2 == 1 ? ", compensated" : "");
        faults_loop(update, &optimizer, name, 100000, 0);
    }
}

/* ---- options of the trainer ---- */

enum { OPTIONS = 8 };

typedef struct setting {
    int option, optimizer;
} setting;

static mw_trainer_options options_of(const setting *s, mw_tensor *loss)
{
    static mw_parameter_group groups[2];
    groups[0] = mw_parameter_group_frozen("fc1.*");
    groups[1] = mw_parameter_group_defaults("*.bias");
    mw_parameter_group_set(&groups[1], MW_GROUP_RATE_FACTOR, 2);
    mw_parameter_group_set(&groups[1], MW_GROUP_WEIGHT_DECAY, 0);
    mw_trainer_options o = mw_trainer_defaults(loss, optimizer_at(s->optimizer, s->option == 7));
    o.accumulate = s->option == 0 ? 2 : 1;
    o.precision.dynamic = s->option == 1;
    o.clipping.norm = s->option == 2 ? 1.0f : 0.0f;
    o.clipping.value = s->option == 3 ? 1.0f : 0.0f;
    o.average_decay = s->option == 4 ? 0.9f : 0.0f;
    o.dispatch_steps = s->option == 5 ? 2 : 1;
    o.groups = s->option == 6 ? groups : NULL;
    o.group_count = s->option == 6 ? 2 : 0;
    return o;
}

static mw_status train(const void *what, const mw_allocator *allocator, bool chip, mw_error *err)
{
    const setting *s = what;
    mw_feed feeds[4];
    mw_graph *graph = faults_graph(allocator, false, true, err);
    if (graph == NULL)
        return err->status;
    mw_tensor *y = mw_dense(mw_tanh(mw_dense(rows(graph), DEPTH, "fc1")), DEPTH, "fc2");
    mw_tensor *classes = labels(graph), *loss = mw_cross_entropy(y, classes), *metric = mw_accuracy(y, classes);
    if (mw_graph_check(graph, err) == MW_OK) {
        mw_trainer_options options = options_of(s, loss);
        options.metric = metric;
        options.prediction = y;
        faults_train(options, feeds, fill_feeds(graph, feeds, 4), allocator, chip, err);
    }
    mw_graph_destroy(graph);
    return err->status;
}

static void test_every_option_survives_every_failed_allocation(void)
{
    for (int i = 0; i < OPTIONS; i++) {
        char name[40];
        const setting s = {.option = i, .optimizer = (i + 3) % OPTIMIZERS};
        snprintf(name, sizeof name, "trainer with option %d", i);
        faults_loop(train, &s, name, 60, (size_t)i);
    }
}

int main(void)
{
    RUN(test_every_composite_survives_every_failed_allocation);
    RUN(test_every_update_survives_every_failed_allocation);
    RUN(test_every_option_survives_every_failed_allocation);
    return check_finish();
}
