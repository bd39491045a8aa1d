/* A small classifier on made-up data, for tests of several ranks. */
#ifndef TESTS_RUNTIME_PARALLEL_RANKS_NET_H
#define TESTS_RUNTIME_PARALLEL_RANKS_NET_H

#include "support/ranks.h"

#include <millwright/millwright.h>

enum { NET_BATCH = 6, NET_IN = 11, NET_HIDDEN = 13, NET_OUT = 5 };
enum { NET_WEIGHTS = NET_IN * NET_HIDDEN + NET_HIDDEN + NET_HIDDEN * NET_OUT + NET_OUT };

/* What is trained, and how; all zero: fp32, Adam, one batch for an update of each rank. */
typedef struct net_setting {
    bool half, dropout, dynamic, clip, average, batch_norm;
    int accumulate;
    int hidden; /* 0 = NET_HIDDEN */
    float rate; /* 0 = 0.01 */
    int batch;  /* 0 = NET_BATCH */
    int segments;
    uint64_t bucket_bytes;
    mw_wire wire;
    int verify_steps, local_steps;
    float outer_rate, outer_momentum;
    bool sgd;               /* plain, rate 0.1 */
    mw_optimizer optimizer; /* takes the place of Adam, if it has a kind */
    bool shards;
    const mw_parameter_group *groups; /* [group_count] */
    size_t group_count;
    float clip_value;
} net_setting;

/* One rank or all of `ranks` (NULL = none), from its own seed: all go on with that of rank 0. */
mw_trainer *net_make(const net_setting *setting, int accumulate, mw_communicator *ranks, uint64_t seed, mw_error *err);
void net_read(mw_trainer *trainer, float out[NET_WEIGHTS], mw_error *err);

/* So many examples, always the same; `seed` makes others. */
mw_dataset *net_data(int64_t examples, uint64_t seed);

/* Batch `index` of a sequence without end. */
typedef struct net_examples {
    float x[NET_BATCH * NET_IN];
    int32_t y[NET_BATCH];
    mw_feed feeds[2];
    mw_batch batch;
} net_examples;
const mw_batch *net_batch(net_examples *examples, int64_t index);

#endif
