/* Trainers of several ranks beside one that accumulates the same batches: the same bits, whatever the network does. */
#include "support/check.h"
#include "support/ranks.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 6, IN = 11, HIDDEN = 13, OUT = 5, STEPS = 20, WEIGHTS = IN * HIDDEN + HIDDEN + HIDDEN * OUT + OUT };

/* What is trained, and how. */
typedef struct setting {
    bool half, dropout, dynamic, clip, average;
    int accumulate; /* of each rank */
} setting;

typedef struct outcome {
    float losses[STEPS];
    float weights[WEIGHTS];
    mw_error err;
    mw_trainer_counters counters;
} outcome;

static float noise(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (float)(x >> 40) / (float)(1 << 23) - 1.0f;
}

/* The examples of batch `index` of all. */
typedef struct examples {
    float x[BATCH * IN];
    int32_t y[BATCH];
    mw_feed feeds[2];
    mw_batch batch;
} examples;

static const mw_batch *fill(examples *e, int64_t index)
{
    for (int i = 0; i < BATCH * IN; i++)
        e->x[i] = noise((uint64_t)(index * BATCH * IN + i));
    for (int i = 0; i < BATCH; i++)
        e->y[i] = (int32_t)(fabsf(e->x[i * IN] * 1.7f + e->x[i * IN + 1]) * 2.0f) % OUT;
    e->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = e->x, .count = BATCH * IN};
    e->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = e->y, .count = BATCH};
    e->batch = (mw_batch){.feeds = e->feeds, .feed_count = 2, .examples = BATCH};
    return &e->batch;
}

static mw_trainer *make(const setting *s, int accumulate, mw_communicator *ranks, uint64_t seed, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(BATCH, IN));
    mw_tensor *y = mw_input(g, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *h = mw_relu(mw_dense(x, HIDDEN, "fc1"));
    if (s->dropout)
        h = mw_dropout(h, 0.25f, "drop");
    mw_tensor *logits = mw_dense(h, OUT, "fc2");
    mw_trainer_options o = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-2f));
    o.accumulate = accumulate;
    o.communicator = ranks;
    o.dynamic_loss_scale = s->dynamic;
    o.clip_norm = s->clip ? 0.5f : 0.0f;
    o.average_decay = s->average ? 0.9f : 0.0f;
    o.compile.seed = seed;
    o.compile.threads = 1;
    if (s->half)
        o.compile.device = MW_DEVICE_ANE;
    mw_trainer *t = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    return t;
}

static void read_weights(mw_trainer *t, float *out, mw_error *err)
{
    static const char *const names[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
    static const size_t counts[] = {IN * HIDDEN, HIDDEN, HIDDEN * OUT, OUT};
    for (size_t i = 0; i < 4; out += counts[i++])
        mw_trainer_read(t, names[i], out, counts[i], err);
}

/* One rank that accumulates what `ranks` ranks have: losses are the means of as many. */
static void train_alone(const setting *s, int ranks, outcome *out)
{
    mw_trainer *t = make(s, ranks * s->accumulate, NULL, 1, &out->err);
    examples e;
    for (int step = 0; step < STEPS; step++) {
        double sum = 0.0;
        for (int k = 0; k < ranks; k++) {
            float loss;
            mw_trainer_step(t, fill(&e, step * ranks + k), &loss, &out->err);
            sum += (double)loss;
        }
        out->losses[step] = (float)(sum / ranks);
    }
    read_weights(t, out->weights, &out->err);
    out->counters = mw_trainer_count(t);
    mw_trainer_destroy(t);
}

typedef struct together {
    const setting *setting;
    outcome of[RANKS_MAX];
} together;

static void train_job(mw_communicator *c, int rank, void *user)
{
    together *all = user;
    outcome *out = &all->of[rank];
    const int ranks = mw_communicator_size(c);
    mw_trainer *t = make(all->setting, all->setting->accumulate, c, (uint64_t)rank + 1, &out->err);
    examples e;
    for (int step = 0; step < STEPS; step++)
        mw_trainer_step(t, fill(&e, step * ranks + rank), &out->losses[step], &out->err);
    read_weights(t, out->weights, &out->err);
    out->counters = mw_trainer_count(t);
    mw_trainer_destroy(t);
}

static void check_same(const together *all, const outcome *alone, int ranks)
{
    CHECK_STR(alone->err.message, "");
    for (int rank = 0; rank < ranks; rank++) {
        const outcome *out = &all->of[rank];
        CHECK_STR(out->err.message, "");
        CHECK(memcmp(out->losses, alone->losses, sizeof out->losses) == 0);
        CHECK(memcmp(out->weights, alone->weights, sizeof out->weights) == 0);
    }
}

static void test_ranks_have_the_bits_of_one_that_accumulates(void)
{
    static const setting settings[] = {
        {.accumulate = 1},
        {.accumulate = 1, .half = true},
        {.accumulate = 1, .dropout = true},
        {.accumulate = 1, .dropout = true, .half = true, .dynamic = true},
        {.accumulate = 1, .clip = true, .average = true},
        {.accumulate = 1, .clip = true, .average = true, .half = true},
    };
    together *all = calloc(1, sizeof *all);
    outcome *alone = calloc(1, sizeof *alone);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int ranks = 1; ranks <= 5; ranks++) {
            memset(all, 0, sizeof *all);
            memset(alone, 0, sizeof *alone);
            all->setting = &settings[i];
            ranks_run(&(ranks_network){.size = ranks, .shuffle = (unsigned)(i + 1), .latency = 1e-5}, train_job, all);
            train_alone(&settings[i], ranks, alone);
            check_same(all, alone, ranks);
        }
    free(all);
    free(alone);
}

int main(void)
{
    RUN(test_ranks_have_the_bits_of_one_that_accumulates);
    return check_finish();
}
