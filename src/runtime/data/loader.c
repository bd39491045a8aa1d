/* Loaders: which batch comes next, and where it comes from: data/batch.c makes it in the call, or a thread has made it
 * already (data/prefetch.c). A position is two numbers, because the order of an epoch depends on the seed and the epoch
 * alone. */
#include "base/number/float_mode.h"
#include "runtime/data/prefetch.h"

struct mw_loader {
    const mw_allocator *allocator;
    mw__guard guard;
    mw__minibatch_maker maker;
    int64_t batches; /* in an epoch */
    mw_loader_position position;
    mw__minibatch_slot slot;  /* without a thread */
    mw__prefetcher *prefetch; /* NULL = none */
};

mw_loader_options mw_loader_defaults(const mw_dataset *dataset, int64_t batch)
{
    return (mw_loader_options){
        .struct_size = sizeof(mw_loader_options),
        .dataset = dataset,
        .batch = batch,
        .shuffle = true,
        .drop_last = true,
    };
}

static mw_status check_options(const mw_loader_options *options, mw_error *err)
{
    if (options == NULL || options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: options must come from mw_loader_defaults");
    MW_TRY(mw__dataset_check(options->dataset, "mw_loader_create", err));
    if (options->batch < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: a batch of %lld examples", (long long)options->batch);
    const int64_t examples = mw_dataset_examples(options->dataset);
    const int64_t ranks = options->ranks != 0 ? options->ranks : 1;
    if (ranks < 1 || options->rank < 0 || options->rank >= ranks)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: rank %lld of %lld; ranks are 0 to ranks - 1",
                        (long long)options->rank, (long long)options->ranks);
    if (options->drop_last && options->batch > examples)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "loader: a batch of %lld from %lld examples, and a short batch is dropped: use a smaller "
                        "batch, or drop_last = false",
                        (long long)options->batch, (long long)examples);
    if (options->shuffle && examples > UINT32_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "loader: %lld examples cannot be shuffled, at most %lld",
                        (long long)examples, (long long)UINT32_MAX);
    return MW_OK;
}

static mw_status init(mw_loader *loader, const mw_loader_options *options, mw_error *err)
{
    const int64_t examples = options->dataset->examples;
    const int ahead = options->dataset->prefetch;
    const int64_t all = examples / options->batch + (!options->drop_last && examples % options->batch != 0);
    const int64_t ranks = options->ranks > 0 ? options->ranks : 1;
    loader->batches = all / ranks + (!options->drop_last && options->rank < all % ranks);
    MW_TRY(mw__minibatch_maker_init(&loader->maker, options, err));
    if (ahead == 0)
        return mw__minibatch_slot_init(&loader->slot, &loader->maker, err);
    return mw__prefetch_create(&loader->prefetch, &loader->maker, options, loader->batches, err);
}

mw_loader *mw_loader_create(const mw_loader_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_options(options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_loader *loader = mw__live_make(allocator, sizeof *loader, MW__LIVE_LOADER, err);
    if (loader == NULL)
        return NULL;
    loader->allocator = allocator;
    if (init(loader, options, err) != MW_OK) {
        mw_loader_destroy(loader);
        return NULL;
    }
    return loader;
}

static void free_parts(void *object)
{
    mw_loader *loader = object;
    mw__prefetch_free(loader->prefetch);
    mw__minibatch_slot_deinit(&loader->slot, &loader->maker);
    mw__minibatch_maker_deinit(&loader->maker);
    mw__free(loader->allocator, loader);
}

/* Its own thread frees it when the function that it is in returns. */
static void free_loader(mw_loader *loader)
{
    if (mw__prefetch_stop(loader->prefetch, free_parts, loader))
        free_parts(loader);
}

void mw_loader_destroy(mw_loader *loader)
{
    if (loader != NULL && mw__live_remove(loader, MW__LIVE_LOADER, __func__) && mw__guard_close(&loader->guard))
        free_loader(loader);
}

/* ---- one call at a time ---- */

static mw_status enter_loader(mw__entry *out, mw_loader *loader, const char *call, mw_error *err)
{
    *out = (mw__entry){0};
    if (loader == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: no loader", call);
    MW_TRY(mw__live_check(loader, MW__LIVE_LOADER, call, err));
    return mw__guard_enter(out, &loader->guard, "loader", call, MW__LENT_NEVER, err);
}

static mw_status leave_loader(const mw__entry *entry, mw_loader *loader, mw_error *err)
{
    if (!mw__guard_leave(entry))
        return MW_OK;
    free_loader(loader);
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "%s: the loader was destroyed meanwhile, by a callback or another thread",
                    entry->call);
}

static const mw_batch *next(mw_loader *loader, mw_error *err)
{
    const mw_batch *batch = NULL;
    if (loader->position.batch == loader->batches) {
        loader->position = (mw_loader_position){.epoch = loader->position.epoch + 1};
        if (loader->prefetch != NULL)
            mw__prefetch_rewind(loader->prefetch);
        return NULL;
    }
    if (loader->prefetch != NULL) {
        if (mw__prefetch_take(loader->prefetch, loader->position, &batch, err) != MW_OK)
            return NULL;
    } else if (mw__minibatch_make(&loader->maker, loader->position, &loader->slot, err) != MW_OK)
        return NULL; /* the position stays: the next call tries this batch again */
    else
        batch = &loader->slot.batch;
    loader->position.batch++;
    return batch;
}

const mw_batch *mw_loader_next(mw_loader *loader, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw__entry entry;
    if (mw__skips(err) || enter_loader(&entry, loader, __func__, err) != MW_OK)
        return NULL;
    const mw_batch *batch = next(loader, err);
    return leave_loader(&entry, loader, err) == MW_OK ? batch : NULL;
}

int64_t mw_loader_batches(const mw_loader *loader)
{
    return mw__live_has(loader, MW__LIVE_LOADER) ? loader->batches : 0;
}

mw_loader_position mw_loader_tell(const mw_loader *loader)
{
    return mw__live_has(loader, MW__LIVE_LOADER) ? loader->position : (mw_loader_position){0};
}

static mw_status seek(mw_loader *loader, mw_loader_position position, mw_error *err)
{
    if (position.epoch < 0 || position.epoch == INT64_MAX || position.batch < 0 || position.batch > loader->batches)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: no batch %lld in epoch %lld; an epoch has %lld batches",
                        (long long)position.batch, (long long)position.epoch, (long long)loader->batches);
    loader->position = position;
    if (loader->prefetch != NULL)
        mw__prefetch_rewind(loader->prefetch);
    return MW_OK;
}

mw_status mw_loader_seek(mw_loader *loader, mw_loader_position position, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(enter_loader(&entry, loader, __func__, err));
    const mw_status status = seek(loader, position, err);
    const mw_status left = leave_loader(&entry, loader, err);
    return left != MW_OK ? left : status;
}
