/* mw_trainer_fit on several ranks: rank 0 has the files, and what one rank decides by itself (a signal, the clock, a
 * callback) all do at the same step, as the records of the steps carry it. */
#include "base/number/hash.h"
#include "runtime/data/classes.h"
#include "runtime/data/data.h"
#include "runtime/fit/fitting.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool mw__fit_is_first(const mw__fitting *fit)
{
    const mw__trainer_ranks *r = fit->trainer->ranks;
    return r == NULL || mw__communicator_rank(r->communicator) == 0;
}

int mw__fit_ranks(const mw__fitting *fit) { return mw__trainer_rank_count(fit->trainer); }

/* ---- decisions ---- */

bool mw__fit_agree(mw__fitting *fit, uint32_t vote, bool wanted)
{
    mw__trainer_ranks *r = fit->trainer->ranks;
    if (r == NULL)
        return wanted;
    r->vote |= wanted ? vote : 0;
    return (r->votes & vote) != 0;
}

mw_status mw__fit_alone(mw__fitting *fit, mw_status status, mw_error *err)
{
    const mw__trainer_ranks *r = fit->trainer->ranks;
    if (r == NULL || status == MW_ERROR_STOPPED || r->agreed)
        return status;
    return mw__communicator_end(r->communicator, status, err);
}

/* ---- what rank 0 does for all ---- */

mw_status mw__fit_on_first(mw__fitting *fit, mw__fit_part *part, mw_error *err)
{
    const mw_status status = mw__fit_is_first(fit) ? part(fit, err) : MW_OK;
    return fit->trainer->ranks != NULL ? mw__trainer_share_status(fit->trainer, status, err) : status;
}

/* ---- where it goes on ---- */

/* Positions in files count the batches of all ranks, so that another number of them can go on. */
mw_loader_position mw__fit_whole_position(const mw__fitting *fit, mw_loader_position position)
{
    position.batch *= mw__fit_ranks(fit);
    return position;
}

int64_t mw__fit_whole_batches(const mw__fitting *fit)
{
    const mw_dataset *data = fit->options->data.training;
    if (fit->trainer->ranks == NULL || mw__dataset_is_part(data))
        return fit->batches * mw__fit_ranks(fit);
    return mw_dataset_examples(data) / mw__trainer_batch(fit->trainer);
}

/* Where the ranks cannot have the same number of batches to the old place, some are left out. */
mw_loader_position mw__fit_own_position(const mw__fitting *fit, mw_loader_position whole)
{
    const int ranks = mw__fit_ranks(fit);
    whole.batch = (whole.batch + ranks - 1) / ranks;
    if (whole.batch > fit->batches)
        whole.batch = fit->batches;
    return whole;
}

typedef struct start {
    mw_loader_position position;
    double loss_sum, best, mean;
    int64_t best_step;
    mw__fit_patience early, plateau;
    float base_rate;
} start;

mw_status mw__fit_share_start(mw__fitting *fit, mw_error *err)
{
    mw__trainer_ranks *r = fit->trainer->ranks;
    if (r == NULL)
        return MW_OK;
    start s;
    memset(&s, 0, sizeof s);
    s.position = mw_loader_tell(fit->loader);
    s.loss_sum = fit->loss_sum, s.best = fit->best.value, s.mean = fit->progress.loss;
    s.best_step = fit->best.step, s.base_rate = fit->base_rate;
    s.early = fit->best.early, s.plateau = fit->best.plateau;
    MW_TRY(mw__ranks_broadcast(r->communicator, 0, &s, sizeof s, err));
    MW_TRY(mw_loader_seek(fit->loader, s.position, err));
    fit->loss_sum = s.loss_sum, fit->best.value = s.best, fit->progress.loss = s.mean;
    fit->best.step = s.best_step, fit->base_rate = s.base_rate;
    fit->best.early = s.early, fit->best.plateau = s.plateau;
    return mw__trainer_equalize(fit->trainer, err);
}

/* ---- the same data ---- */

static uint64_t hash_batch(const mw_batch *batch, uint64_t hash)
{
    for (size_t i = 0; i < batch->feed_count; i++) {
        const mw_feed *feed = &batch->feeds[i];
        const size_t bytes = feed->count * (size_t)mw_dtype_bits(feed->dtype) / 8;
        hash = mw__hash64(feed->name, strlen(feed->name), hash);
        hash = mw__hash64(feed->data, bytes, hash + (uint64_t)feed->dtype);
    }
    return hash;
}

/* Some batches, spread over the set; of a part of a set none, as those differ. */
static mw_status hash_data(const mw__fitting *fit, uint64_t *out, mw_error *err)
{
    enum { SAMPLES = 4 };
    mw_loader_options options = mw_loader_defaults(fit->options->data.training, mw__trainer_batch(fit->trainer));
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    mw_status status = loader != NULL ? MW_OK : err->status;
    const int64_t batches = mw_loader_batches(loader);
    *out = (uint64_t)mw_dataset_examples(options.dataset);
    for (int64_t i = 0; status == MW_OK && i < SAMPLES && !mw__dataset_is_part(options.dataset); i++) {
        status = mw_loader_seek(loader, (mw_loader_position){.batch = (batches - 1) * i / (SAMPLES - 1)}, err);
        const mw_batch *batch = status == MW_OK ? mw_loader_next(loader, err) : NULL;
        status = batch != NULL ? MW_OK : err->status;
        if (batch != NULL)
            *out = hash_batch(batch, *out);
    }
    mw_loader_destroy(loader);
    return status;
}

typedef struct plan {
    uint64_t data, order, classes; /* hashes */
    int64_t batches, epochs;
    int32_t is_part;
    int32_t saves;
} plan;

static const char *find_difference(const plan *a, const plan *b)
{
    return a->is_part != b->is_part   ? "trains on a part of a set where rank 0 has a whole one, or the other way round"
           : a->batches != b->batches ? "has another number of batches in an epoch"
           : a->data != b->data       ? "has other training data"
           : a->order != b->order     ? "has another order of examples or seed"
           : a->epochs != b->epochs   ? "trains for another number of epochs"
           : a->saves != b->saves     ? "has other options of the checkpoint, the validation or the metrics"
                                      : NULL;
}

/* What decides when something is saved or validated, which all ranks do together. */
static int32_t saving(const mw_fit_options *o)
{
    char text[400];
    const int length = snprintf(text, sizeof text, "%d %d %.80s %d %d %" PRId64 " %" PRId64 " %a %" PRId64 " %a %a %d",
                                o->checkpoint.path != NULL, o->data.validation != NULL,
                                o->stopping.best_by != NULL ? o->stopping.best_by : "", o->stopping.best_highest,
                                mw__fit_has_metrics(o), o->checkpoint.steps, o->stopping.patience,
                                o->stopping.min_delta, o->schedule.plateau_patience, o->schedule.plateau_factor,
                                o->schedule.plateau_least, o->stopping.restore_best);
    return (int32_t)mw__hash64(text, (size_t)length, 0);
}

/* A part of its own on each rank may name its own classes. Who has none has none to compare. */
static mw_status compare_classes(const plan *all, int count, mw_error *err)
{
    int first = 0;
    for (int i = 0; i < count; i++) {
        first = all[first].classes != 0 ? first : i;
        if (all[i].classes != 0 && all[i].classes != all[first].classes)
            return mw__fail(
                err, MW_ERROR_ARGUMENT,
                "mw_trainer_fit: rank %d has other names of classes than rank %d: the same number would be another "
                "class. Open the data of all ranks with the same class_names",
                i, first);
    }
    return MW_OK;
}

static mw_status compare_plans(const mw__fitting *fit, const plan *own, plan *all, mw_error *err)
{
    mw_communicator *c = fit->trainer->ranks->communicator;
    MW_TRY(mw__ranks_gather(c, own, sizeof *own, all, err));
    for (int i = 1; i < mw__communicator_size(c); i++) {
        const char *what = find_difference(&all[0], &all[i]);
        if (what == NULL)
            continue;
        fit->trainer->ranks->agreed = true;
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_trainer_fit: rank %d %s", i, what);
    }
    const mw_status status = compare_classes(all, mw__communicator_size(c), err);
    fit->trainer->ranks->agreed = status != MW_OK || fit->trainer->ranks->agreed;
    return status;
}

mw_status mw__fit_compare_ranks(const mw__fitting *fit, mw_error *err)
{
    if (fit->trainer->ranks == NULL)
        return MW_OK;
    plan own;
    memset(&own, 0, sizeof own);
    MW_TRY(hash_data(fit, &own.data, err));
    own.order = mw__hash64(fit->order, strlen(fit->order), 0);
    own.batches = fit->batches;
    own.epochs = fit->options->epochs;
    own.classes = mw__dataset_hash_classes(fit->options->data.training);
    own.is_part = mw__dataset_is_part(fit->options->data.training);
    own.saves = saving(fit->options);
    const mw_allocator *allocator = mw__trainer_allocator(fit->trainer);
    plan *all = mw__alloc(allocator, (size_t)mw__fit_ranks(fit), sizeof *all, err);
    const mw_status status = all != NULL ? compare_plans(fit, &own, all, err) : MW_ERROR_MEMORY;
    mw__free(allocator, all);
    return status;
}
