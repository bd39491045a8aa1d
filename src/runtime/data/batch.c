/* Which examples a batch has, and bringing them together. Sets in memory are copied column by column, others example by
 * example. */
#include "runtime/data/batch.h"
#include "base/memory/checked.h"
#include "base/number/random.h"
#include "runtime/data/bucket.h"

#include <string.h>

/* ---- memory ---- */

static mw_status allocate_maker(mw__minibatch_maker *maker, mw_error *err)
{
    const mw_allocator *allocator = maker->allocator;
    const mw_dataset *dataset = maker->dataset;
    maker->row = mw__alloc(allocator, dataset->column_count, sizeof *maker->row, err);
    if (maker->row == NULL)
        return MW_ERROR_MEMORY;
    if (dataset->scratch_bytes > 0) {
        maker->scratch = mw__alloc_aligned(allocator, dataset->scratch_bytes, 64, err);
        if (maker->scratch == NULL)
            return MW_ERROR_MEMORY;
    }
    const bool buckets = dataset->buckets != NULL;
    if (maker->shuffle || buckets)
        maker->order = mw__alloc(allocator, (size_t)dataset->examples, sizeof *maker->order, err);
    if (buckets)
        maker->room = mw__alloc(allocator, (size_t)dataset->examples, sizeof *maker->room, err);
    return (maker->order == NULL && (maker->shuffle || buckets)) || (maker->room == NULL && buckets) ? MW_ERROR_MEMORY
                                                                                                     : MW_OK;
}

mw_status mw__minibatch_maker_init(mw__minibatch_maker *maker, const mw_loader_options *options, mw_error *err)
{
    *maker = (mw__minibatch_maker){
        .allocator = mw__allocator_or_default(options->allocator),
        .dataset = mw__dataset_retain(options->dataset),
        .batch_size = options->batch,
        .rank = options->rank,
        .ranks = options->ranks > 0 ? options->ranks : 1,
        .shuffle = options->shuffle,
        .seed = options->seed,
        .ordered_epoch = -1,
    };
    return allocate_maker(maker, err);
}

void mw__minibatch_maker_deinit(mw__minibatch_maker *maker)
{
    mw__free(maker->allocator, maker->row);
    mw__free_aligned(maker->allocator, maker->scratch);
    mw__free(maker->allocator, maker->order);
    mw__free(maker->allocator, maker->room);
    if (maker->dataset != NULL)
        mw__dataset_release(maker->dataset);
}

static mw_status make_feed(mw__minibatch_slot *slot, const mw__minibatch_maker *maker, size_t index, mw_error *err)
{
    const mw_column *column = &maker->dataset->columns[index];
    const size_t bytes = maker->dataset->example_bytes[index];
    size_t size;
    if (!mw__mul_size(bytes, (size_t)maker->batch_size, &size))
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: a batch of %lld examples of \"%.100s\" does not fit in memory",
                        (long long)maker->batch_size, column->name);
    slot->buffers[index] = mw__alloc_aligned(maker->allocator, size, 64, err);
    if (slot->buffers[index] == NULL)
        return MW_ERROR_MEMORY;
    slot->feeds[index] = (mw_feed){
        .name = column->name,
        .dtype = column->dtype,
        .data = slot->buffers[index],
        .count = size / ((size_t)mw_dtype_bits(column->dtype) / 8),
        .scale = column->scale,
        .offset = column->offset,
    };
    return MW_OK;
}

mw_status mw__minibatch_slot_init(mw__minibatch_slot *slot, const mw__minibatch_maker *maker, mw_error *err)
{
    const mw_allocator *allocator = maker->allocator;
    const size_t columns = maker->dataset->column_count;
    if ((uint64_t)maker->batch_size > SIZE_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "loader: a batch of %lld examples", (long long)maker->batch_size);
    slot->buffers = mw__alloc(allocator, columns, sizeof *slot->buffers, err);
    slot->feeds = mw__alloc(allocator, columns, sizeof *slot->feeds, err);
    slot->ids = mw__alloc(allocator, (size_t)maker->batch_size, sizeof *slot->ids, err);
    if (slot->buffers == NULL || slot->feeds == NULL || slot->ids == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < columns; i++)
        MW_TRY(make_feed(slot, maker, i, err));
    slot->batch = (mw_batch){.feeds = slot->feeds, .feed_count = columns, .ids = slot->ids};
    return MW_OK;
}

void mw__minibatch_slot_deinit(mw__minibatch_slot *slot, const mw__minibatch_maker *maker)
{
    for (size_t i = 0; slot->buffers != NULL && i < maker->dataset->column_count; i++)
        mw__free_aligned(maker->allocator, slot->buffers[i]);
    mw__free(maker->allocator, slot->buffers);
    mw__free(maker->allocator, slot->feeds);
    mw__free(maker->allocator, slot->ids);
}

/* ---- which examples ---- */

/* Every epoch starts from the identity, so that its order does not depend on the epochs before it. */
static void order_epoch(mw__minibatch_maker *maker, int64_t epoch)
{
    const size_t examples = (size_t)maker->dataset->examples;
    const mw__length_buckets *buckets = maker->dataset->buckets;
    if (maker->order == NULL || maker->ordered_epoch == epoch)
        return;
    for (size_t i = 0; i < examples; i++)
        maker->order[i] = (uint32_t)i;
    mw__random random = {.seed = maker->seed, .stream = (uint64_t)epoch};
    if (maker->shuffle)
        mw__random_shuffle(&random, maker->order, examples);
    if (buckets != NULL)
        mw__length_buckets_order(buckets, maker->order, maker->room, examples, (size_t)maker->batch_size,
                                 maker->shuffle ? &random : NULL);
    maker->ordered_epoch = epoch;
}

/* The ids of a batch; behind the last example it is repeated. */
static void choose_examples(const mw__minibatch_maker *maker, int64_t number, mw__minibatch_slot *slot)
{
    const int64_t first = number * maker->batch_size;
    const int64_t left = maker->dataset->examples - first;
    for (int64_t i = 0; i < maker->batch_size; i++) {
        const int64_t place = first + (i < left ? i : left - 1);
        slot->ids[i] = maker->order != NULL ? (int64_t)maker->order[place] : place;
    }
    slot->batch.examples = left < maker->batch_size ? left : maker->batch_size;
}

/* ---- how long it is ---- */

/* Bytes of an example of a column in this batch: all of them, or those of its first rows. */
static size_t row_bytes(const mw__minibatch_maker *maker, const mw__minibatch_slot *slot, size_t column)
{
    const mw_column *c = &maker->dataset->columns[column];
    const size_t whole = maker->dataset->example_bytes[column];
    return slot->rows == 0 ? whole : whole / (size_t)c->shape.dim[0] * (size_t)slot->rows;
}

static void cut_batch(const mw__minibatch_maker *maker, mw__minibatch_slot *slot)
{
    if (maker->dataset->buckets == NULL)
        return;
    slot->rows = mw__length_buckets_limit(maker->dataset->buckets, slot->ids, slot->batch.examples);
    for (size_t k = 0; k < maker->dataset->column_count; k++)
        slot->feeds[k].count =
            row_bytes(maker, slot, k) * (size_t)maker->batch_size / ((size_t)mw_dtype_bits(slot->feeds[k].dtype) / 8);
}

/* ---- bringing them together ---- */

/* Rows in a shuffled order lie where the processor cannot guess: a few of them are prefetched. */
enum { AHEAD = 6, LINE = 64, AHEAD_BYTES = 4096 };

static void fetch_ahead(const mw__minibatch_slot *slot, int64_t i, const char *data, size_t bytes)
{
    if (i >= slot->batch.examples)
        return;
    const char *row = data + (size_t)slot->ids[i] * bytes;
    for (size_t at = 0; at < bytes && at < AHEAD_BYTES; at += LINE)
        __builtin_prefetch(row + at);
}

static void copy_column(const mw__minibatch_maker *maker, mw__minibatch_slot *slot, size_t column)
{
    const size_t bytes = maker->dataset->example_bytes[column], taken = row_bytes(maker, slot, column);
    const char *data = maker->dataset->columns[column].data;
    char *out = slot->buffers[column];
    for (int64_t i = 0; i < slot->batch.examples; i++, out += taken) {
        fetch_ahead(slot, i + AHEAD, data, bytes);
        memcpy(out, data + (size_t)slot->ids[i] * bytes, taken);
    }
}

/* One that is cut reaches into the place of the next, which is made after it; behind the last there is room for it. */
static mw_status make_example(mw__minibatch_maker *maker, int64_t epoch, mw__minibatch_slot *slot, int64_t i,
                              mw_error *err)
{
    const mw_dataset *dataset = maker->dataset;
    const mw__example_place at = {.epoch = epoch, .example = slot->ids[i]};
    for (size_t k = 0; k < dataset->column_count; k++)
        maker->row[k] = (char *)slot->buffers[k] + (size_t)i * row_bytes(maker, slot, k);
    return mw__dataset_make(dataset, at, maker->row, maker->scratch, err);
}

static void repeat_last(const mw__minibatch_maker *maker, mw__minibatch_slot *slot)
{
    for (size_t k = 0; k < maker->dataset->column_count; k++) {
        const size_t bytes = row_bytes(maker, slot, k);
        char *out = (char *)slot->buffers[k] + (size_t)slot->batch.examples * bytes;
        for (int64_t i = slot->batch.examples; i < maker->batch_size; i++, out += bytes)
            memcpy(out, out - bytes, bytes);
    }
}

mw_status mw__minibatch_make(mw__minibatch_maker *maker, mw_loader_position position, mw__minibatch_slot *slot,
                             mw_error *err)
{
    order_epoch(maker, position.epoch);
    choose_examples(maker, maker->rank + position.batch * maker->ranks, slot);
    cut_batch(maker, slot);
    if (maker->dataset->make == NULL) {
        for (size_t k = 0; k < maker->dataset->column_count; k++)
            copy_column(maker, slot, k);
    } else {
        for (int64_t i = 0; i < slot->batch.examples; i++)
            MW_TRY(make_example(maker, position.epoch, slot, i, err));
    }
    repeat_last(maker, slot);
    return MW_OK;
}
