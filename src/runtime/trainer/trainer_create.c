/* Making a trainer: the copy of the model, its numbers, its programs. */
#include "base/number/float_mode.h"
#include "runtime/trainer/build/trainer_programs.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/ranks/trainer_ranks.h"
#include "runtime/trainer/step/trainer_compare.h"
#include "runtime/trainer/step/trainer_step.h"
#include "runtime/trainer/trainer_memory.h"
#include "runtime/trainer/trainer_model.h"
#include "runtime/trainer/watch/trainer_watched.h"

#include <millwright/millwright.h>
#include <string.h>

static mw_status prepare_trainer(mw_trainer *t, const mw_trainer_options *o, size_t pieces, mw_error *err)
{
    MW_TRY(mw__target_resolve(&o->compile, &t->target, err));
    t->compile = o->compile;
    t->compile.share = (mw_share){0}; /* what is shared is the owner's, below */
    if (o->compile.share.trainer != NULL) {
        mw__state_owner *lender = mw__state_owner_of(o->compile.share.trainer);
        MW_TRY(mw__state_owner_check_lender(lender, &t->target.symbols, "compile.share.trainer", err));
        mw__state_owner_lend(lender);
        t->owner.lender = lender;
    }
    if (t->variants.main != NULL)
        t->owner.lender = &t->variants.main->owner; /* while it is made; the trainer outlives it */
    const mw__optimizer optimizer = mw__optimizer_of(&o->optimizer);
    t->numbers.learning_rate = optimizer.learning_rate;
    t->numbers.clip_value = (double)o->clipping.value;
    t->numbers.clip_norm = (double)o->clipping.norm;
    t->numbers.average_decay = (double)o->average_decay;
    t->numbers.average_from = o->average_decay == 1.0f && o->average_from == 0 ? 1 : o->average_from;
    t->numbers.accumulate = o->accumulate > 1 ? o->accumulate : 1;
    t->numbers.segments = o->memory.segments;
    if (o->watch.replay_folder != NULL) {
        t->diagnosis.replay_folder =
            mw__arena_string(&t->arena, o->watch.replay_folder, strlen(o->watch.replay_folder), err);
        if (t->diagnosis.replay_folder == NULL)
            return MW_ERROR_MEMORY;
    }
    t->numbers.dispatch_steps = o->dispatch_steps > 1 ? o->dispatch_steps : 1;
    MW_TRY(mw__trainer_join_ranks(t, o, err));
    if (t->strategy->sums_gradients && optimizer.rule != NULL && optimizer.rule->probe != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: the optimizer \"%.63s\" has a probe, whose gradient ranks do not exchange: set "
                        "ranks.local_steps, or leave the communicator out",
                        optimizer.rule->name);
    MW_TRY(mw__trainer_copy_model(t, o, err));
    if (pieces > 1)
        MW_TRY(mw__trainer_recompute(t, pieces, err));
    MW_TRY(mw__trainer_make_groups(t, o, err));
    MW_TRY(mw__trainer_resolve_numbers(t, o, err));
    MW_TRY(mw__trainer_take_comparison(t, o->watch.compare, err));
    const size_t times = t->ranks != NULL && t->ranks->shards != NULL ? 2 : 1; /* the finite check reads them, too */
    t->optimizer.scalars = mw__arena_alloc(&t->arena, times * mw__trainer_scalar_sets(t) * MW__OPTIMIZER_SCALARS,
                                           sizeof *t->optimizer.scalars, err);
    return t->optimizer.scalars != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status create_trainer(mw_trainer *t, const mw_trainer_options *o, size_t pieces, mw_error *err)
{
    MW_TRY(prepare_trainer(t, o, pieces, err));
    MW_TRY(mw__trainer_make_step(t, err));
    MW_TRY(mw__trainer_find_watched(t, err));
    if (t->numbers.accumulate > 1 && !t->strategy->sums_gradients)
        MW_TRY(mw__trainer_make_accumulation(t, err));
    MW_TRY(mw__trainer_describe(t, err));
    if (t->ranks != NULL)
        MW_TRY(mw__trainer_compare_ranks(t, err));
    return t->numbers.dispatch_steps > 1 ? mw__trainer_make_slots(t, (size_t)t->numbers.dispatch_steps, err) : MW_OK;
}

/* The others wait for this rank, which has failed. */
static void tell_ranks(const mw_trainer_options *options, mw_status status, mw_error *err)
{
    mw_communicator *c = options->ranks.communicator;
    if (mw__communicator_size(c) > 1 && mw__communicator_check(c, "trainer", NULL) == MW_OK)
        mw__communicator_end(c, status, err);
}

/* With the forward pass in so many pieces, of which all but the last are computed again. */
mw_trainer *mw__trainer_create_in(const mw_trainer_options *options, size_t pieces, mw_trainer *main, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(options->compile.allocator);
    mw_trainer *trainer = mw__live_make(allocator, sizeof *trainer, MW__LIVE_TRAINER, err);
    if (trainer == NULL)
        return NULL;
    trainer->allocator = allocator;
    mw__arena_init(&trainer->arena, allocator);
    mw__map_init(&trainer->optimizer.declared, allocator);
    mw__map_init(&trainer->optimizer.members, allocator);
    trainer->strategy = &mw__trainer_alone;
    trainer->numbers.gradient_ranks = 1;
    trainer->watched.update_pass = &trainer->step;
    trainer->variants.main = main;
    mw__state_owner_init(&trainer->owner, &mw__trainer_kind, allocator, &trainer->target.symbols);
    const mw_status status = create_trainer(trainer, options, pieces, err);
    trainer->owner.lender = main != NULL ? NULL : trainer->owner.lender;
    if (status == MW_OK)
        return trainer;
    if (trainer->ranks == NULL || !trainer->ranks->agreed)
        tell_ranks(options, status, err);
    mw_trainer_destroy(trainer);
    return NULL;
}

/* ---- variants ---- */

static mw_status check_variant(const mw_trainer *t, const mw_trainer *variant, size_t index, mw_error *err)
{
    if (variant->owner.state.count != t->owner.state.count)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "trainer: the graph of variant %zu has %zu parameters and states of theirs, that of the loss %zu", index,
            variant->owner.state.count, t->owner.state.count);
    if (variant->progress.batch != t->progress.batch)
        return mw__fail(err, MW_ERROR_SHAPE, "trainer: variant %zu has a batch of %lld, and the loss one of %lld",
                        index, (long long)variant->progress.batch, (long long)t->progress.batch);
    return MW_OK;
}

static mw_status make_variants(mw_trainer *t, const mw_trainer_options *options, mw_error *err)
{
    mw_trainer_options o = *options;
    o.compile.share = (mw_share){0};
    o.compile.keep_folder = NULL;
    o.prediction = NULL;
    o.variant_count = 0;
    t->variants.items = mw__arena_alloc(&t->arena, options->variant_count, sizeof(mw_trainer *), err);
    if (t->variants.items == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < options->variant_count; i++) {
        o.loss = options->variants[i];
        mw_trainer *variant = mw__trainer_create_in(&o, 1, t, err);
        if (variant == NULL)
            return mw__status_or(err, MW_ERROR_ARGUMENT);
        t->variants.items[t->variants.count++] = variant;
        MW_TRY(check_variant(t, variant, i, err));
    }
    return MW_OK;
}

static mw_trainer *create_checked(const mw_trainer_options *options, mw_error *err)
{
    const mw_status checked = mw__trainer_check_options(options, err);
    if (checked != MW_OK) {
        if (options != NULL && options->struct_size == sizeof *options)
            tell_ranks(options, checked, err);
        return NULL;
    }
    const mw_graph *graph = options->loss->graph;
    mw__graph_hold(graph);
    mw_trainer *trainer = mw__trainer_create_in(options, 1, NULL, err);
    if (trainer != NULL && options->memory.limit > 0)
        trainer = mw__trainer_within_memory(trainer, options, err);
    if (trainer != NULL && options->variant_count > 0 && make_variants(trainer, options, err) != MW_OK) {
        mw_trainer_destroy(trainer);
        trainer = NULL;
    }
    const mw_status status = trainer != NULL ? MW_OK : mw__status_or(err, MW_ERROR_ARGUMENT);
    if (mw__graph_drop(graph, "mw_trainer_create", status, err) == MW_OK)
        return trainer;
    mw_trainer_destroy(trainer);
    return NULL;
}

/* The trainer that lends its state is in use meanwhile. */
mw_trainer *mw_trainer_create(const mw_trainer_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    mw_trainer *lender =
        options != NULL && options->struct_size == sizeof *options ? options->compile.share.trainer : NULL;
    mw__entry entry;
    if (mw__trainer_enter(&entry, lender, __func__, MW__LENT_IN_PROGRESS, err) != MW_OK)
        return NULL;
    mw_trainer *trainer = create_checked(options, err);
    if (mw__trainer_leave(&entry, err->status, err) == MW_OK)
        return trainer;
    mw_trainer_destroy(trainer);
    return NULL;
}
