/* Trainers whole and in segments, to be compared. */
#ifndef TESTS_RUNTIME_TRAINER_SEGMENT_TRAINER_H
#define TESTS_RUNTIME_TRAINER_SEGMENT_TRAINER_H

#include "segment_nets.h"

/* A network, and what a trainer of it is asked for. */
typedef struct segment_setting {
    const segment_net *net;
    mw_device device;
    int threads, segments, accumulate, dispatch_steps;
    float clip_norm, clip_value, average_decay, loss_scale;
    bool dynamic, sgd;
    const char *profile, *keep_folder, *cache_folder;
    uint64_t memory_limit;
    const mw_allocator *allocator;
} segment_setting;

enum { SEGMENT_STEPS = 6 };

typedef struct segment_trained {
    mw_graph *graph;
    mw_trainer *trainer;
    float losses[SEGMENT_STEPS];
} segment_trained;

/* The trainer is NULL with err set on failure. */
void segment_create(segment_trained *out, const segment_setting *setting, mw_error *err);
/* Steps [first, end) of SEGMENT_STEPS, each on a batch of its own. */
void segment_train(segment_trained *t, const segment_setting *setting, int first, int end, mw_error *err);
void segment_destroy(segment_trained *t);

/* Every byte of the state and every loss. */
void segment_check_equal(const segment_trained *a, const segment_trained *b, const segment_setting *setting);

#endif
