/* An optimizer of one's own: Sophia-G, which divides by an estimate of the Hessian's diagonal and clips. The estimate
 * is the squared gradient of the loss on labels that are drawn from what the network itself predicts: a second scalar
 * of the graph, the rule's probe. The paper takes it at every tenth step; here it is taken at each, for one more
 * backward pass. Trains a 784-256-10 network on MNIST with it and with AdamW, from the same weights on the same
 * batches.
 *
 * Source: Liu et al. 2024, "Sophia: A Scalable Stochastic Second-order Optimizer", algorithms 2 and 3 */
#include "options.h"

/* ---- the optimizer ---- */

static mw_status states(void *user, const mw_update_parameter *of, mw_update_state *out, size_t *out_count,
                        mw_error *err)
{
    (void)user, (void)of, (void)err;
    out[0].name = "m";
    out[1].name = "h";
    *out_count = 2;
    return MW_OK;
}

static mw_status update(const mw_update_call *c, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    (void)err;
    const double beta1 = 0.96, beta2 = 0.99, gamma = 0.05, batch = (double)*(const int64_t *)c->user;
    mw_tensor *curvature = mw_mul_scalar(mw_square(c->probe), batch);
    out_states[0] = mw_add(mw_mul_scalar(c->states[0], beta1), mw_mul_scalar(c->g, 1.0 - beta1));
    out_states[1] = mw_add(mw_mul_scalar(c->states[1], beta2), mw_mul_scalar(curvature, 1.0 - beta2));
    mw_tensor *divisor = mw_add_scalar(mw_mul_scalar(out_states[1], gamma), 1e-7);
    mw_tensor *step = mw_clip(mw_real_div(out_states[0], divisor), -1.0f, 1.0f);
    step = mw_add(step, mw_mul_scalar(c->p, c->weight_decay));
    *out_p = mw_sub(c->p, mw_mul(step, mw_update_call_scalar(c, "learning_rate")));
    return MW_OK;
}

/* ---- the training ---- */

/* The loss on labels that are drawn from softmax(logits). */
static mw_tensor *sampled_loss(mw_tensor *logits)
{
    const mw_shape shape = mw_tensor_shape(logits);
    mw_tensor *drawn = mw_random_categorical(mw_stop_gradient(logits), MW_CATEGORICAL_LOGITS, 1, -1);
    return mw_cross_entropy(logits, mw_cast(mw_reshape(drawn, MW_SHAPE(shape.dim[0])), MW_I32));
}

static void train(example_options *o, bool sophia, const mw_dataset *training, const mw_dataset *test, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o->batch, 784));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o->batch));
    mw_tensor *logits = mw_dense(mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH), 10, "fc2");
    mw_optimizer_rule rule = mw_optimizer_rule_defaults("sophia-g", update);
    rule.states = states;
    rule.decays = true;
    rule.probe = sophia ? sampled_loss(logits) : NULL;
    rule.user = &o->batch;
    mw_optimizer optimizer = mw_optimizer_custom(o->learning_rate, &rule);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, 0.1);
    mw_trainer_options options =
        mw_trainer_defaults(mw_cross_entropy(logits, y), sophia ? optimizer : mw_adamw(3e-3f, 0.05f));
    options.metric = mw_accuracy(logits, y);
    options.compile.device = o->device;
    options.compile.seed = o->seed;
    options.compile.threads = (int)o->threads;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    options_fit(o, trainer, training, test, err);
    printf("%s:\n", sophia ? "Sophia-G" : "AdamW");
    options_report(trainer, test, "test accuracy", err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 3, .batch = 128, .seed = 1, .learning_rate = 1e-3f};
    o.schedule = mw_schedule_cosine(0.0);
    options_parse(&o, argc, argv);
    mw_error err = {0};
    mw_dataset *training = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);
    train(&o, false, training, test, &err);
    train(&o, true, training, test, &err);
    mw_dataset_destroy(test);
    mw_dataset_destroy(training);
    return options_exit_code(&err);
}
