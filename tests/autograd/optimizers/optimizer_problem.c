/* The problem of optimizer_problem.h on the engine, and the optimizers in double. */
#include "optimizer_problem.h"
#include "autograd/hashed.h"
#include "support/check.h"

#include "base/number/fp16.h"
#include "runtime/trainer/object/trainer_access.h"
#include <stdlib.h>

/* ---- the problem ---- */

/* loss = sum(w c) / 256: the gradient times the default loss scale is c. */
mw_trainer *problem_trainer(mw_device device, mw_optimizer optimizer, float loss_scale, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(PROBLEM_COUNT), mw_init_zeros());
    mw_tensor *c = mw_input(graph, "c", MW_F32, MW_SHAPE(PROBLEM_COUNT));
    mw_tensor *sum = mw_reduce_sum(mw_mul(w, c), MW_ALL_AXES, false);
    mw_trainer_options options = mw_trainer_defaults(mw_mul_scalar(sum, 1.0 / 256.0), optimizer);
    options.precision.loss_scale = loss_scale;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    float *values = hashed_floats(PROBLEM_COUNT, 40, 1.0f, 0.0f);
    if (trainer != NULL)
        mw_trainer_write(trainer, "w", MW_F32, values, PROBLEM_COUNT, err);
    free(values);
    return trainer;
}

void problem_step(mw_trainer *trainer, const float *gradient, mw_error *err)
{
    float c[PROBLEM_COUNT];
    for (int i = 0; i < PROBLEM_COUNT; i++)
        c[i] = 256.0f * gradient[i];
    const mw_feed feed = {.name = "c", .dtype = MW_F32, .data = c, .count = PROBLEM_COUNT};
    mw_trainer_step(trainer, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = PROBLEM_COUNT}, NULL, err);
}

void problem_gradient(int step, float *out)
{
    for (int i = 0; i < PROBLEM_COUNT; i++) {
        const float u = hashed_uniform((uint64_t)i, 50 + (uint64_t)step);
        out[i] = ldexpf(u, -3 * (i % 4));
        if (i == 0 || (step % 3 != 0 && i % 7 == 6))
            out[i] = 0.0f;
    }
}

void problem_read(mw_trainer *trainer, const char *name, double *out)
{
    const mw__state_entry *entry = mw__state_find(mw__trainer_state(trainer), name);
    for (int i = 0; i < PROBLEM_COUNT; i++) {
        out[i] = 0.0;
        if (entry != NULL)
            out[i] = entry->dtype == MW_F16 ? (double)mw__fp16_to_float(((const uint16_t *)entry->data)[i])
                                            : (double)((const float *)entry->data)[i];
    }
}

void problem_read_sum(mw_trainer *trainer, double *out)
{
    double low[PROBLEM_COUNT];
    problem_read(trainer, "w", out);
    problem_read(trainer, "w#low", low);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        out[i] += low[i] / 256.0;
}

/* ---- the optimizers ---- */

/* PyTorch's documentation of torch.optim.SGD, dampening 0. */
static double sgd(const mw_optimizer *o, reference *e, double g)
{
    e->momentum = (double)o->momentum * e->momentum + g;
    return o->nesterov ? g + (double)o->momentum * e->momentum : e->momentum;
}

/* Kingma and Ba 2015, algorithm 1. */
static double adam(const mw_optimizer *o, reference *e, double g, int64_t t)
{
    const double beta1 = (double)o->beta1, beta2 = (double)o->beta2;
    e->m = beta1 * e->m + (1.0 - beta1) * g;
    e->v = beta2 * e->v + (1.0 - beta2) * g * g;
    const double m = e->m / (1.0 - pow(beta1, (double)t)), v = e->v / (1.0 - pow(beta2, (double)t));
    return m / (sqrt(v) + (double)o->epsilon);
}

/* PyTorch's documentation of torch.optim.RMSprop. */
static double rmsprop(const mw_optimizer *o, reference *e, double g)
{
    const double alpha = (double)o->alpha;
    e->v = alpha * e->v + (1.0 - alpha) * g * g;
    e->mean = alpha * e->mean + (1.0 - alpha) * g;
    const double square = o->centered ? fmax(e->v - e->mean * e->mean, 0.0) : e->v;
    e->momentum = (double)o->momentum * e->momentum + g / (sqrt(square) + (double)o->epsilon);
    return e->momentum;
}

/* Duchi et al. 2011, the diagonal form, with the decay of PyTorch's documentation. */
static double adagrad(const mw_optimizer *o, reference *e, double g, int64_t t)
{
    e->v = (t == 1 ? (double)o->initial_accumulator : e->v) + g * g;
    return g / (sqrt(e->v) + (double)o->epsilon) / (1.0 + (double)(t - 1) * (double)o->lr_decay);
}

/* Chen et al. 2023, algorithm 2. */
static double lion(const mw_optimizer *o, reference *e, double g)
{
    const double c = (double)o->beta1 * e->m + (1.0 - (double)o->beta1) * g;
    e->m = (double)o->beta2 * e->m + (1.0 - (double)o->beta2) * g;
    return c > 0.0 ? 1.0 : c < 0.0 ? -1.0 : 0.0;
}

void reference_step(const mw_optimizer *o, reference *e, double g, int64_t t)
{
    const double rate = (double)o->learning_rate, decay = (double)o->weight_decay;
    if (!o->decoupled)
        g += decay * e->p;
    double change = o->kind == MW_SGD       ? sgd(o, e, g)
                    : o->kind == MW_ADAM    ? adam(o, e, g, t)
                    : o->kind == MW_RMSPROP ? rmsprop(o, e, g)
                    : o->kind == MW_ADAGRAD ? adagrad(o, e, g, t)
                                            : lion(o, e, g);
    if (o->decoupled)
        change += decay * e->p;
    e->p -= rate * change;
}

/* ---- every kind ---- */

mw_optimizer problem_with_decay(mw_optimizer optimizer, float weight_decay)
{
    optimizer.weight_decay = weight_decay;
    return optimizer;
}

mw_optimizer problem_decoupled(mw_optimizer optimizer)
{
    optimizer.decoupled = true;
    return optimizer;
}

mw_optimizer problem_rmsprop(float alpha, float epsilon, bool centered, float momentum)
{
    mw_optimizer optimizer = mw_rmsprop(0.01f);
    optimizer.alpha = alpha;
    optimizer.epsilon = epsilon;
    optimizer.centered = centered;
    optimizer.momentum = momentum;
    return optimizer;
}

mw_optimizer problem_other_adagrad(void)
{
    mw_optimizer optimizer = problem_with_decay(mw_adagrad(0.05f), 0.1f);
    optimizer.lr_decay = 0.1f;
    optimizer.initial_accumulator = 0.01f;
    optimizer.epsilon = 1e-3f;
    return optimizer;
}

size_t problem_all_kinds(mw_optimizer *out)
{
    size_t count = 0;
    out[count++] = mw_sgd(0.05f);
    out[count++] = problem_decoupled(problem_with_decay(mw_sgd_momentum(0.05f, 0.8f, true), 0.1f));
    out[count++] = mw_adam(0.01f);
    out[count++] = mw_adamw(0.01f, 0.1f);
    out[count++] = mw_rmsprop(0.01f);
    out[count++] = problem_decoupled(problem_with_decay(problem_rmsprop(0.9f, 1e-3f, true, 0.8f), 0.1f));
    out[count++] = mw_adagrad(0.05f);
    out[count++] = problem_decoupled(problem_other_adagrad());
    out[count++] = mw_lion(0.01f, 0.0f);
    out[count++] = mw_lion(0.01f, 0.1f);
    out[count++] = problem_with_decay(mw_sgd(0.05f), 0.1f);
    for (size_t i = 0; i < count; i++)
        if (out[i].kind != MW_SGD && out[i].kind != MW_LION && out[i].epsilon == 0.0f)
            out[i].epsilon = 1e-4f;
    return count;
}
