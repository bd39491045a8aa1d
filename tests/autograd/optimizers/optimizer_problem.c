/* The problem of optimizer_problem.h on the engine, and the optimizers in double. */
#include "optimizer_problem.h"
#include "autograd/hashed.h"
#include "support/check.h"

#include "base/number/fp16.h"
#include "runtime/trainer/object/trainer_access.h"
#include <stdlib.h>
#include <string.h>

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

#define OF(number) mw_optimizer_get(o, MW_OPTIMIZER_##number)

static bool is(const mw_optimizer *o, const char *name) { return strcmp(mw_optimizer_name(o), name) == 0; }

/* PyTorch's documentation of torch.optim.SGD, dampening 0. */
static double sgd(const mw_optimizer *o, reference *e, double g)
{
    e->momentum = OF(MOMENTUM) * e->momentum + g;
    return OF(NESTEROV) != 0.0 ? g + OF(MOMENTUM) * e->momentum : e->momentum;
}

/* Kingma and Ba 2015, algorithm 1. */
static double adam(const mw_optimizer *o, reference *e, double g, int64_t t)
{
    const double beta1 = OF(BETA1), beta2 = OF(BETA2);
    e->m = beta1 * e->m + (1.0 - beta1) * g;
    e->v = beta2 * e->v + (1.0 - beta2) * g * g;
    const double m = e->m / (1.0 - pow(beta1, (double)t)), v = e->v / (1.0 - pow(beta2, (double)t));
    return m / (sqrt(v) + OF(EPSILON));
}

/* PyTorch's documentation of torch.optim.RMSprop. */
static double rmsprop(const mw_optimizer *o, reference *e, double g)
{
    const double alpha = OF(ALPHA);
    e->v = alpha * e->v + (1.0 - alpha) * g * g;
    e->mean = alpha * e->mean + (1.0 - alpha) * g;
    const double square = OF(CENTERED) != 0.0 ? fmax(e->v - e->mean * e->mean, 0.0) : e->v;
    e->momentum = OF(MOMENTUM) * e->momentum + g / (sqrt(square) + OF(EPSILON));
    return e->momentum;
}

/* Duchi et al. 2011, the diagonal form, with the decay of PyTorch's documentation. */
static double adagrad(const mw_optimizer *o, reference *e, double g, int64_t t)
{
    e->v = (t == 1 ? OF(INITIAL_ACCUMULATOR) : e->v) + g * g;
    return g / (sqrt(e->v) + OF(EPSILON)) / (1.0 + (double)(t - 1) * OF(LR_DECAY));
}

/* Chen et al. 2023, algorithm 2. */
static double lion(const mw_optimizer *o, reference *e, double g)
{
    const double c = OF(BETA1) * e->m + (1.0 - OF(BETA1)) * g;
    e->m = OF(BETA2) * e->m + (1.0 - OF(BETA2)) * g;
    return c > 0.0 ? 1.0 : c < 0.0 ? -1.0 : 0.0;
}

void reference_step(const mw_optimizer *o, reference *e, double g, int64_t t)
{
    const double rate = OF(LEARNING_RATE), decay = OF(WEIGHT_DECAY);
    if (OF(DECOUPLED) == 0.0)
        g += decay * e->p;
    double change = is(o, "sgd")       ? sgd(o, e, g)
                    : is(o, "adam")    ? adam(o, e, g, t)
                    : is(o, "muon")    ? adam(o, e, g, t) /* w is no matrix */
                    : is(o, "rmsprop") ? rmsprop(o, e, g)
                    : is(o, "adagrad") ? adagrad(o, e, g, t)
                                       : lion(o, e, g);
    if (OF(DECOUPLED) != 0.0)
        change += decay * e->p;
    e->p -= rate * change;
}

/* ---- every kind ---- */

mw_optimizer problem_with_decay(mw_optimizer optimizer, float weight_decay)
{
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, weight_decay);
    return optimizer;
}

mw_optimizer problem_decoupled(mw_optimizer optimizer)
{
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_DECOUPLED, true);
    return optimizer;
}

mw_optimizer problem_rmsprop(float alpha, float epsilon, bool centered, float momentum)
{
    mw_optimizer optimizer = mw_rmsprop(0.01f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_ALPHA, alpha);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_EPSILON, epsilon);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_CENTERED, centered);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_MOMENTUM, momentum);
    return optimizer;
}

mw_optimizer problem_other_adagrad(void)
{
    mw_optimizer optimizer = problem_with_decay(mw_adagrad(0.05f), 0.1f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_LR_DECAY, 0.1f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_INITIAL_ACCUMULATOR, 0.01f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_EPSILON, 1e-3f);
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
    out[count++] = mw_muon(0.01f, 0.1f);
    for (size_t i = 0; i < count; i++)
        if (!is(&out[i], "sgd") && !is(&out[i], "lion") && mw_optimizer_get(&out[i], MW_OPTIMIZER_EPSILON) == 0.0)
            mw_optimizer_set(&out[i], MW_OPTIMIZER_EPSILON, 1e-4f);
    return count;
}
