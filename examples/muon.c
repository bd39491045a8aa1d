/* An optimizer of one's own, written out: Muon (mw_muon is built in), which steps along the orthogonalized momentum of
 * each matrix, and AdamW for all
 * else. Trains a 784-256-256-10 network on MNIST with it and with AdamW alone, from the same weights on the same
 * batches.
 *
 * Source: K. Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; the scale of a step is that
 * of Liu et al. 2025, "Muon is Scalable for LLM Training" */
#include "options.h"

#include <math.h>

/* ---- the optimizer ---- */

static bool is_matrix(mw_shape shape) { return shape.rank == 2; }

static mw_status states(void *user, const mw_update_parameter *of, mw_update_state *out, size_t *out_count,
                        mw_error *err)
{
    (void)user, (void)err;
    out[0].name = "momentum";
    out[1].name = "v"; /* of AdamW */
    *out_count = is_matrix(of->shape) ? 1 : 2;
    return MW_OK;
}

/* U V^T of g = U S V^T, but for what five steps of Newton and Schulz leave of S: [0.7, 1.2] of it. */
static mw_tensor *orthogonal(mw_tensor *g)
{
    const mw_shape shape = mw_tensor_shape(g);
    const bool tall = shape.dim[0] > shape.dim[1];
    mw_tensor *x = tall ? mw_transpose(g, MW_AXES(1, 0)) : g;
    x = mw_real_div(x, mw_add_scalar(mw_reduce_l2_norm(x, MW_ALL_AXES, true), 1e-7));
    for (int i = 0; i < 5; i++) {
        mw_tensor *a = mw_matmul(x, x, MW_TRANSPOSE_Y);
        mw_tensor *b = mw_add(mw_mul_scalar(a, -4.7750), mw_mul_scalar(mw_matmul(a, a, MW_TRANSPOSE_NONE), 2.0315));
        x = mw_add(mw_mul_scalar(x, 3.4445), mw_matmul(b, x, MW_TRANSPOSE_NONE));
    }
    return tall ? mw_transpose(x, MW_AXES(1, 0)) : x;
}

static double adam_correction(void *user, const mw_update_moment *m)
{
    (void)user;
    return sqrt(1.0 - pow(0.999, (double)m->step)) / (1.0 - pow(0.9, (double)m->step));
}

static mw_status update(const mw_update_call *c, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    (void)err;
    mw_tensor *step, *rate = mw_update_call_scalar(c, "learning_rate");
    if (is_matrix(c->parameter->shape)) {
        const int64_t *n = c->parameter->shape.dim;
        out_states[0] = mw_add(mw_mul_scalar(c->states[0], 0.95), c->g);
        step = orthogonal(mw_add(c->g, mw_mul_scalar(out_states[0], 0.95)));         /* Nesterov's */
        step = mw_mul_scalar(step, 0.2 * sqrt((double)(n[0] > n[1] ? n[0] : n[1]))); /* as long as one of AdamW */
    } else {
        out_states[0] = mw_add(mw_mul_scalar(c->states[0], 0.9), mw_mul_scalar(c->g, 0.1));
        out_states[1] = mw_add(mw_mul_scalar(c->states[1], 0.999), mw_mul_scalar(mw_square(c->g), 0.001));
        step = mw_real_div(out_states[0], mw_add_scalar(mw_sqrt(out_states[1]), 1e-8));
        step = mw_mul(step, mw_update_call_scalar(c, "adam_correction"));
    }
    step = mw_add(step, mw_mul_scalar(c->p, c->weight_decay));
    *out_p = mw_sub(c->p, mw_mul(step, rate));
    return MW_OK;
}

/* ---- the training ---- */

static const mw_update_scalar scalars[] = {{.name = "learning_rate"}, {"adam_correction", adam_correction}};

static void train(const example_options *o, const char *name, mw_optimizer optimizer, const mw_dataset *training,
                  const mw_dataset *test, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o->batch, 784));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o->batch));
    mw_tensor *h = mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH);
    h = mw_gelu(mw_dense(h, 256, "fc2"), MW_GELU_TANH);
    mw_tensor *logits = mw_dense(h, 10, "fc3");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), optimizer);
    options.metric = mw_accuracy(logits, y);
    options.compile.device = o->device;
    options.compile.seed = o->seed;
    options.compile.threads = (int)o->threads;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    options_fit(o, trainer, training, test, err);
    printf("%s:\n", name);
    options_report(trainer, test, "test accuracy", err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 3, .batch = 128, .seed = 1, .learning_rate = 2e-3f};
    o.schedule = mw_schedule_cosine(0.0);
    options_parse(&o, argc, argv);
    mw_error err = {0};
    mw_dataset *training = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);

    mw_optimizer_rule rule = mw_optimizer_rule_defaults("muon", update);
    rule.states = states;
    rule.scalars = scalars;
    rule.scalar_count = 2;
    rule.decays = true;
    mw_optimizer muon = mw_optimizer_custom(o.learning_rate, &rule);
    mw_optimizer_set(&muon, MW_OPTIMIZER_WEIGHT_DECAY, 0.05);
    train(&o, "AdamW", mw_adamw(o.learning_rate, 0.05f), training, test, &err);
    train(&o, "Muon", muon, training, test, &err);
    mw_dataset_destroy(test);
    mw_dataset_destroy(training);
    return options_exit_code(&err);
}
