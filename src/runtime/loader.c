/* Loaders: the order of the examples and their gathering into batches, in the stored type. Everything is allocated at
 * creation; a position is two numbers, because the order of an epoch depends on the seed and the epoch alone. */
#include "base/checked.h"
#include "base/float_mode.h"
#include "base/random.h"
#include "runtime/data.h"

#include <string.h>

struct mw_loader {
    const mw_allocator *allocator;
    mw__guard guard;
    mw_dataset *dataset; /* lives on until the loader is gone */
    int64_t batch_size;
    int64_t batches; /* in an epoch */
    bool shuffle;
    uint64_t seed;
    mw_loader_position position;
    uint32_t *order;       /* [examples] when shuffling, else NULL */
    int64_t ordered_epoch; /* the epoch that `order` is for; -1 = none */
    void **buffers;        /* [columns], of a batch each */
    mw_feed *feeds;        /* [columns] */
    int64_t *ids;          /* [batch] */
    mw_batch batch;
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
    if (options->dataset == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: no data set");
    MW_TRY(mw__live_check(options->dataset, MW__LIVE_DATASET, "mw_loader_create", err));
    if (options->batch < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: a batch of %lld examples", (long long)options->batch);
    const int64_t examples = mw_dataset_examples(options->dataset);
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

static mw_status make_feed(mw_loader *loader, size_t index, mw_error *err)
{
    const mw_column *column = &loader->dataset->columns[index];
    const size_t bytes = loader->dataset->example_bytes[index];
    size_t size;
    if ((uint64_t)loader->batch_size > SIZE_MAX || !mw__mul_size(bytes, (size_t)loader->batch_size, &size))
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: a batch of %lld examples of \"%.100s\" does not fit in memory",
                        (long long)loader->batch_size, column->name);
    loader->buffers[index] = mw__alloc_aligned(loader->allocator, size, 64, err);
    if (loader->buffers[index] == NULL)
        return MW_ERROR_MEMORY;
    loader->feeds[index] = (mw_feed){
        .name = column->name,
        .dtype = column->dtype,
        .data = loader->buffers[index],
        .count = size / ((size_t)mw_dtype_bits(column->dtype) / 8),
        .scale = column->scale,
        .offset = column->offset,
    };
    return MW_OK;
}

static mw_status allocate(mw_loader *loader, mw_error *err)
{
    const mw_allocator *allocator = loader->allocator;
    const size_t columns = loader->dataset->column_count;
    if ((uint64_t)loader->batch_size > SIZE_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: a batch of %lld examples", (long long)loader->batch_size);
    loader->buffers = mw__alloc(allocator, columns, sizeof *loader->buffers, err);
    loader->feeds = mw__alloc(allocator, columns, sizeof *loader->feeds, err);
    loader->ids = mw__alloc(allocator, (size_t)loader->batch_size, sizeof *loader->ids, err);
    if (loader->buffers == NULL || loader->feeds == NULL || loader->ids == NULL)
        return MW_ERROR_MEMORY;
    if (loader->shuffle) {
        loader->order = mw__alloc(allocator, (size_t)loader->dataset->examples, sizeof *loader->order, err);
        if (loader->order == NULL)
            return MW_ERROR_MEMORY;
    }
    for (size_t i = 0; i < columns; i++)
        MW_TRY(make_feed(loader, i, err));
    loader->batch = (mw_batch){.feeds = loader->feeds, .feed_count = columns, .ids = loader->ids};
    return MW_OK;
}

mw_loader *mw_loader_create(const mw_loader_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_options(options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_loader *loader = mw__alloc(allocator, 1, sizeof *loader, err);
    if (loader == NULL)
        return NULL;
    if (mw__live_add(loader, MW__LIVE_LOADER, err) != MW_OK) {
        mw__free(allocator, loader);
        return NULL;
    }
    const int64_t examples = options->dataset->examples;
    loader->allocator = allocator;
    loader->dataset = mw__dataset_retain(options->dataset);
    loader->batch_size = options->batch;
    loader->batches = examples / options->batch + (!options->drop_last && examples % options->batch != 0);
    loader->shuffle = options->shuffle;
    loader->seed = options->seed;
    loader->ordered_epoch = -1;
    if (allocate(loader, err) != MW_OK) {
        mw_loader_destroy(loader);
        return NULL;
    }
    return loader;
}

static void free_loader(mw_loader *loader)
{
    const mw_allocator *allocator = loader->allocator;
    for (size_t i = 0; loader->buffers != NULL && i < loader->dataset->column_count; i++)
        mw__free_aligned(allocator, loader->buffers[i]);
    mw__free(allocator, loader->buffers);
    mw__free(allocator, loader->feeds);
    mw__free(allocator, loader->ids);
    mw__free(allocator, loader->order);
    mw__dataset_release(loader->dataset);
    mw__free(allocator, loader);
}

void mw_loader_destroy(mw_loader *loader)
{
    if (loader != NULL && mw__live_remove(loader, MW__LIVE_LOADER, __func__) && mw__guard_close(&loader->guard))
        free_loader(loader);
}

/* ---- one call at a time ---- */

static mw_status enter(mw__entry *out, mw_loader *loader, const char *call, mw_error *err)
{
    *out = (mw__entry){0};
    if (loader == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: no loader", call);
    MW_TRY(mw__live_check(loader, MW__LIVE_LOADER, call, err));
    return mw__guard_enter(out, &loader->guard, "loader", call, MW__LENT_NEVER, err);
}

static mw_status leave(const mw__entry *entry, mw_loader *loader, mw_error *err)
{
    if (!mw__guard_leave(entry))
        return MW_OK;
    free_loader(loader);
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "%s: the loader was destroyed meanwhile, by a callback or another thread",
                    entry->call);
}

/* Every epoch starts from the identity, so that its order does not depend on the epochs before it. */
static void order_epoch(mw_loader *loader)
{
    const size_t examples = (size_t)loader->dataset->examples;
    for (size_t i = 0; i < examples; i++)
        loader->order[i] = (uint32_t)i;
    mw__random random = {.seed = loader->seed, .stream = (uint64_t)loader->position.epoch};
    mw__random_shuffle(&random, loader->order, examples);
    loader->ordered_epoch = loader->position.epoch;
}

/* The ids of the next batch; behind the last example it is repeated. */
static void choose(mw_loader *loader)
{
    const int64_t examples = loader->dataset->examples;
    const int64_t first = loader->position.batch * loader->batch_size;
    const int64_t left = examples - first;
    for (int64_t i = 0; i < loader->batch_size; i++) {
        const int64_t place = first + (i < left ? i : left - 1);
        loader->ids[i] = loader->shuffle ? (int64_t)loader->order[place] : place;
    }
    loader->batch.examples = left < loader->batch_size ? left : loader->batch_size;
}

/* The user's function may fail with or without saying why. */
static mw_status make_example(const mw_loader *loader, int64_t example, size_t column, void *out, mw_error *err)
{
    const mw_dataset *dataset = loader->dataset;
    mw_error reason = {0};
    const mw__callback outer = mw__callback_begin("function of the data set", MW__LENT_NEVER);
    const mw_status status = dataset->function(dataset->user, example, column, out, &reason);
    mw__callback_end(outer);
    if (status == MW_OK)
        return MW_OK;
    return mw__fail(err, status, "data set: example %lld of column \"%.100s\": %s", (long long)example,
                    dataset->columns[column].name,
                    reason.message[0] != '\0' ? reason.message : "the function that makes it failed");
}

/* Rows in a shuffled order lie where the processor cannot guess: a few of them are prefetched. */
enum { AHEAD = 6, LINE = 64, AHEAD_BYTES = 4096 };

static void prefetch(const mw_loader *loader, int64_t i, const char *data, size_t bytes)
{
    if (i >= loader->batch.examples || data == NULL)
        return;
    const char *row = data + (size_t)loader->ids[i] * bytes;
    for (size_t at = 0; at < bytes && at < AHEAD_BYTES; at += LINE)
        __builtin_prefetch(row + at);
}

static mw_status gather(mw_loader *loader, size_t column, mw_error *err)
{
    const size_t bytes = loader->dataset->example_bytes[column];
    const char *data = loader->dataset->columns[column].data;
    char *out = loader->buffers[column];
    for (int64_t i = 0; i < loader->batch_size; i++, out += bytes) {
        prefetch(loader, i + AHEAD, data, bytes);
        if (i >= loader->batch.examples)
            memcpy(out, out - bytes, bytes);
        else if (data != NULL)
            memcpy(out, data + (size_t)loader->ids[i] * bytes, bytes);
        else
            MW_TRY(make_example(loader, loader->ids[i], column, out, err));
    }
    return MW_OK;
}

static const mw_batch *next(mw_loader *loader, mw_error *err)
{
    if (loader->position.batch == loader->batches) {
        loader->position = (mw_loader_position){.epoch = loader->position.epoch + 1};
        return NULL;
    }
    if (loader->shuffle && loader->ordered_epoch != loader->position.epoch)
        order_epoch(loader);
    choose(loader);
    for (size_t i = 0; i < loader->batch.feed_count; i++) {
        if (gather(loader, i, err) != MW_OK)
            return NULL; /* the position stays: the next call tries this batch again */
    }
    loader->position.batch++;
    return &loader->batch;
}

const mw_batch *mw_loader_next(mw_loader *loader, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw__entry entry;
    if (mw__skips(err) || enter(&entry, loader, __func__, err) != MW_OK)
        return NULL;
    const mw_batch *batch = next(loader, err);
    return leave(&entry, loader, err) == MW_OK ? batch : NULL;
}

int64_t mw_loader_batches(const mw_loader *loader) { return loader != NULL ? loader->batches : 0; }

mw_loader_position mw_loader_tell(const mw_loader *loader)
{
    return loader != NULL ? loader->position : (mw_loader_position){0};
}

static mw_status seek(mw_loader *loader, mw_loader_position position, mw_error *err)
{
    if (position.epoch < 0 || position.epoch == INT64_MAX || position.batch < 0 || position.batch > loader->batches)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: no batch %lld in epoch %lld; an epoch has %lld batches",
                        (long long)position.batch, (long long)position.epoch, (long long)loader->batches);
    loader->position = position;
    return MW_OK;
}

mw_status mw_loader_seek(mw_loader *loader, mw_loader_position position, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(enter(&entry, loader, __func__, err));
    const mw_status status = seek(loader, position, err);
    const mw_status left = leave(&entry, loader, err);
    return left != MW_OK ? left : status;
}
