#include "segment_trainer.h"

#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <stdio.h>
#include <string.h>

void segment_create(segment_trained *out, const segment_setting *s, mw_error *err)
{
    mw_graph_options how = mw_graph_defaults();
    how.allocator = s->allocator;
    *out = (segment_trained){.graph = mw_graph_create(&how, NULL)};
    if (out->graph == NULL)
        return;
    mw_trainer_options options =
        mw_trainer_defaults(s->net->build(out->graph, s->net->depth), s->sgd ? mw_sgd(0.1f) : mw_adamw(1e-2f, 0.05f));
    options.compile = engine_options(s->device, s->threads);
    options.compile.profile = s->profile;
    options.compile.keep_folder = s->keep_folder;
    options.compile.cache_folder = s->cache_folder;
    options.compile.allocator = s->allocator;
    options.memory.segments = s->segments;
    options.memory.limit = s->memory_limit;
    options.accumulate = s->accumulate;
    options.dispatch_steps = s->dispatch_steps;
    options.clipping.norm = s->clip_norm;
    options.clipping.value = s->clip_value;
    options.average_decay = s->average_decay;
    options.precision.loss_scale = s->loss_scale;
    options.precision.dynamic = s->dynamic;
    out->trainer = mw_trainer_create(&options, err);
}

void segment_train(segment_trained *t, const segment_setting *s, int first, int end, mw_error *err)
{
    segment_batch batches[SEGMENT_STEPS];
    mw_batch list[SEGMENT_STEPS];
    for (int i = first; i < end; i++) {
        segment_fill(&batches[i], t->graph, (unsigned)i + 1);
        list[i] = batches[i].batch;
    }
    if (s->dispatch_steps > 1)
        mw_trainer_step_many(t->trainer, list + first, (size_t)(end - first), t->losses + first, err);
    for (int i = first; i < end; i++) {
        if (s->dispatch_steps <= 1)
            mw_trainer_step(t->trainer, &list[i], &t->losses[i], err);
        segment_free(&batches[i]);
    }
}

void segment_destroy(segment_trained *t)
{
    mw_trainer_destroy(t->trainer);
    mw_graph_destroy(t->graph);
}

void segment_check_equal(const segment_trained *a, const segment_trained *b, const segment_setting *s)
{
    const mw__state_set *left = mw__trainer_state(a->trainer), *right = mw__trainer_state(b->trainer);
    char what[120];
    snprintf(what, sizeof what, "%s, device %d, %d threads, %d segments", s->net->name, (int)s->device, s->threads,
             s->segments);
    CHECK_INT(left->count, right->count);
    check_note(memcmp(a->losses, b->losses, sizeof a->losses) == 0, __FILE__, __LINE__, "%s: losses differ", what);
    for (size_t i = 0; i < left->count; i++)
        if (!check_note(memcmp(left->entries[i].data, right->entries[i].data, left->entries[i].size) == 0, __FILE__,
                        __LINE__, "%s: \"%s\" differs", what, left->entries[i].name))
            return;
}
