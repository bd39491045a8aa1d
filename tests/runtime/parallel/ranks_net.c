#include "ranks_net.h"

#include <math.h>
#include <stdlib.h>

static float noise(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (float)(x >> 40) / (float)(1 << 23) - 1.0f;
}

static int32_t label(const float *x) { return (int32_t)(fabsf(x[0] * 1.7f + x[1]) * 2.0f) % NET_OUT; }

const mw_batch *net_batch(net_examples *e, int64_t index)
{
    for (int i = 0; i < NET_BATCH * NET_IN; i++)
        e->x[i] = noise((uint64_t)(index * NET_BATCH * NET_IN + i));
    for (int i = 0; i < NET_BATCH; i++)
        e->y[i] = label(e->x + i * NET_IN);
    e->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = e->x, .count = NET_BATCH * NET_IN};
    e->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = e->y, .count = NET_BATCH};
    e->batch = (mw_batch){.feeds = e->feeds, .feed_count = 2, .examples = NET_BATCH};
    return &e->batch;
}

mw_dataset *net_data(int64_t examples, uint64_t seed)
{
    float *x = malloc((size_t)examples * NET_IN * sizeof *x);
    int32_t *y = malloc((size_t)examples * sizeof *y);
    for (int64_t i = 0; i < examples * NET_IN; i++)
        x[i] = noise((uint64_t)i + seed * 1000003u);
    for (int64_t i = 0; i < examples; i++)
        y[i] = label(x + i * NET_IN);
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(NET_IN), .data = x},
                                 {.name = "y", .dtype = MW_I32, .data = y}};
    mw_dataset *set = mw_dataset_create(columns, 2, examples, true, NULL);
    free(x);
    free(y);
    return set;
}

static mw_tensor *layers(const net_setting *s, mw_tensor *x)
{
    mw_tensor *h = mw_dense(x, s->hidden > 0 ? s->hidden : NET_HIDDEN, "fc1");
    if (s->batch_norm)
        h = mw_batch_norm_layer(h, 0.1f, 1e-5f, "bn");
    h = mw_relu(h);
    if (s->dropout)
        h = mw_dropout(h, 0.25f, "drop");
    return mw_dense(h, NET_OUT, "fc2");
}

mw_trainer *net_make(const net_setting *s, int accumulate, mw_communicator *ranks, uint64_t seed, mw_error *err)
{
    const int64_t batch = s->batch > 0 ? s->batch : NET_BATCH;
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(batch, NET_IN));
    mw_tensor *y = mw_input(g, "y", MW_I32, MW_SHAPE(batch));
    mw_tensor *logits = layers(s, x);
    mw_trainer_options o = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(s->rate > 0.0f ? s->rate : 1e-2f));
    o.metric = mw_accuracy(logits, y);
    o.accumulate = accumulate;
    o.ranks.communicator = ranks;
    o.precision.dynamic = s->dynamic;
    o.clipping.norm = s->clip ? 0.5f : 0.0f;
    o.average_decay = s->average ? 0.9f : 0.0f;
    o.average_from = s->average && s->clip ? 2 : 0;
    o.memory.segments = s->segments;
    o.ranks.bucket_bytes = s->bucket_bytes;
    o.ranks.wire = s->wire;
    o.ranks.verify_steps = s->verify_steps;
    o.ranks.local_steps = s->local_steps;
    o.ranks.outer_learning_rate = s->outer_rate;
    o.ranks.outer_momentum = s->outer_momentum;
    if (s->sgd)
        o.optimizer = mw_sgd(0.1f);
    if (mw_optimizer_name(&s->optimizer)[0] != '?')
        o.optimizer = s->optimizer;
    o.ranks.shard_states = s->shards;
    o.groups = s->groups;
    o.group_count = s->group_count;
    o.clipping.value = s->clip_value;
    o.compile.seed = seed;
    o.compile.threads = 1;
    if (s->half)
        o.compile.device = MW_DEVICE_ANE;
    mw_trainer *t = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    return t;
}

void net_read(mw_trainer *t, float out[NET_WEIGHTS], mw_error *err)
{
    static const char *const names[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
    static const size_t counts[] = {NET_IN * NET_HIDDEN, NET_HIDDEN, NET_HIDDEN * NET_OUT, NET_OUT};
    for (size_t i = 0; i < 4; out += counts[i++])
        mw_trainer_read(t, names[i], MW_F32, out, counts[i], err);
}
