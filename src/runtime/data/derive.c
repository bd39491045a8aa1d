/* Data sets made of others: what all of them do, random splits, and batches made ahead. The rest is in
 * libmillwright_data. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/number/random.h"
#include "runtime/data/data.h"

#include <string.h>

enum { DEPTH_MAX = 32, PREFETCH_MAX = 64 };

/* ---- what all of them do ---- */

static mw_status take_source(mw_dataset *dataset, const mw_dataset *source, mw_error *err)
{
    if (source->depth + 1 > DEPTH_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "data set: more than %d data sets one on another", DEPTH_MAX);
    if (source->depth >= dataset->depth)
        dataset->depth = source->depth + 1;
    if (source->map_count > dataset->map_count)
        dataset->map_count = source->map_count;
    if (source->scratch_bytes > dataset->scratch_bytes)
        dataset->scratch_bytes = source->scratch_bytes;
    dataset->sources[dataset->source_count++] = mw__dataset_retain(source);
    return MW_OK;
}

static mw_status take_sources(mw_dataset *dataset, const mw_dataset *const *sources, size_t count, size_t index_count,
                              mw_error *err)
{
    dataset->sources = mw__alloc(dataset->allocator, count, sizeof *dataset->sources, err);
    dataset->index = mw__alloc(dataset->allocator, index_count, sizeof *dataset->index, err);
    if (dataset->sources == NULL || dataset->index == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        MW_TRY(take_source(dataset, sources[i], err));
    return MW_OK;
}

mw_dataset *mw__dataset_derive(const mw_dataset *const *sources, size_t source_count, const mw_column *columns,
                               size_t column_count, int64_t examples, size_t index_count, mw_error *err)
{
    mw_dataset *dataset = mw__dataset_create(sources[0]->allocator, columns, column_count, examples, err);
    if (dataset == NULL)
        return NULL;
    if (take_sources(dataset, sources, source_count, index_count, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}

/* ---- subset ---- */

static mw_status make_subset(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                             mw_error *err)
{
    at.example = dataset->index[at.example];
    return mw__dataset_make(dataset->sources[0], at, out, scratch, err);
}

mw_dataset *mw__dataset_derive_subset(const mw_dataset *source, int64_t count, mw_error *err)
{
    mw_dataset *dataset =
        mw__dataset_derive(&source, 1, source->columns, source->column_count, count, (size_t)count, err);
    if (dataset != NULL)
        dataset->make = make_subset;
    return dataset;
}

/* ---- part of a rank ---- */

bool mw__dataset_is_part(const mw_dataset *dataset)
{
    for (; dataset != NULL; dataset = dataset->source_count > 0 ? dataset->sources[0] : NULL)
        if (dataset->is_part)
            return true;
    return false;
}

/* ---- random split ---- */

/* No epoch of a loader is so late: its orders and this one differ. */
static const uint64_t split_stream = UINT64_MAX;

static mw_status count_rest(const mw_dataset *source, const int64_t *counts, size_t part_count, int64_t *out_rest,
                            mw_error *err)
{
    int64_t sum = 0;
    size_t rests = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (counts[i] == -1)
            rests++;
        else if (counts[i] < 1 || !mw__add_i64(sum, counts[i], &sum))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_dataset_split: part %zu of %lld examples; at least 1, or -1 "
                            "for the rest",
                            i, (long long)counts[i]);
    }
    *out_rest = source->examples - sum;
    if (rests > 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_split: %zu parts are -1, the rest; one can be", rests);
    if (rests == 0 ? *out_rest != 0 : *out_rest < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_split: %lld of %lld examples are dealt out%s",
                        (long long)sum, (long long)source->examples,
                        rests == 0 ? "; the counts must add up, or one be -1, the rest" : ", which leaves no rest");
    return MW_OK;
}

static mw_status check_split(const mw_dataset *source, const int64_t *counts, size_t part_count, int64_t *out_rest,
                             mw_error *err)
{
    MW_TRY(mw__dataset_check(source, "mw_dataset_split", err));
    if (counts == NULL || part_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_split: no counts");
    if (source->examples > UINT32_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "mw_dataset_split: %lld examples cannot be dealt out, at most %lld",
                        (long long)source->examples, (long long)UINT32_MAX);
    return count_rest(source, counts, part_count, out_rest, err);
}

static mw_status deal(const mw_dataset *source, const int64_t *counts, size_t part_count, int64_t rest,
                      const uint32_t *order, mw_dataset **out_parts, mw_error *err)
{
    for (size_t i = 0; i < part_count; i++) {
        const int64_t count = counts[i] == -1 ? rest : counts[i];
        out_parts[i] = mw__dataset_derive_subset(source, count, err);
        if (out_parts[i] == NULL)
            return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
        for (int64_t k = 0; k < count; k++)
            out_parts[i]->index[k] = *order++;
    }
    return MW_OK;
}

static mw_status split_dataset(const mw_dataset *source, const int64_t *counts, size_t part_count, uint64_t seed,
                               mw_dataset **out_parts, mw_error *err)
{
    int64_t rest;
    MW_TRY(check_split(source, counts, part_count, &rest, err));
    const size_t examples = (size_t)source->examples;
    uint32_t *order = mw__alloc(source->allocator, examples, sizeof *order, err);
    if (order == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < examples; i++)
        order[i] = (uint32_t)i;
    mw__random random = {.seed = seed, .stream = split_stream};
    mw__random_shuffle(&random, order, examples);
    const mw_status status = deal(source, counts, part_count, rest, order, out_parts, err);
    mw__free(source->allocator, order);
    return status;
}

mw_status mw_dataset_split(const mw_dataset *source, const int64_t *counts, size_t part_count, uint64_t seed,
                           mw_dataset **out_parts, mw_error *err)
{
    MW__FLOAT_SCOPE;
    for (size_t i = 0; out_parts != NULL && i < part_count; i++)
        out_parts[i] = NULL;
    if (mw__skips(err))
        return err->status;
    if (out_parts == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_split: no place for the parts");
    const mw_status status = split_dataset(source, counts, part_count, seed, out_parts, err);
    for (size_t i = 0; status != MW_OK && i < part_count; i++) {
        mw_dataset_destroy(out_parts[i]);
        out_parts[i] = NULL;
    }
    return status;
}

/* ---- batches made ahead: loader.c looks at `prefetch` ---- */

static mw_status make_same(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                           mw_error *err)
{
    return mw__dataset_make(dataset->sources[0], at, out, scratch, err);
}

mw_dataset *mw__dataset_derive_same(const mw_dataset *source, mw_error *err)
{
    mw_dataset *dataset =
        mw__dataset_derive(&source, 1, source->columns, source->column_count, source->examples, 0, err);
    if (dataset == NULL)
        return NULL;
    if (source->make != NULL)
        dataset->make = make_same;
    for (size_t i = 0; i < dataset->column_count; i++)
        dataset->columns[i].data = source->columns[i].data;
    return dataset;
}

static mw_status check_prefetch(const mw_dataset *source, const char *call, int batches, int threads, mw_error *err)
{
    MW_TRY(mw__dataset_check(source, call, err));
    if (batches < 1 || batches > PREFETCH_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %d batches ahead, not 1 to %d", call, batches, PREFETCH_MAX);
    if (threads < 1 || threads > batches)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "%s: %d threads; each makes a batch, so that there are at least 1 and at most as many as batches "
            "ahead, %d",
            call, threads, batches);
    return MW_OK;
}

static mw_dataset *prefetch_dataset(const mw_dataset *source, const char *call, int batches, int threads, mw_error *err)
{
    if (check_prefetch(source, call, batches, threads, err) != MW_OK)
        return NULL;
    mw_dataset *dataset = mw__dataset_derive_same(source, err);
    if (dataset == NULL)
        return NULL;
    dataset->buckets = source->buckets;
    dataset->prefetch = batches;
    dataset->prefetch_threads = threads;
    return dataset;
}

mw_dataset *mw_dataset_prefetch(const mw_dataset *source, int batches, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : prefetch_dataset(source, __func__, batches, 1, err);
}

mw_dataset *mw_dataset_prefetch_threads(const mw_dataset *source, int batches, int threads, mw_error *err)
{
    MW__FLOAT_SCOPE;
    return mw__skips(err) ? NULL : prefetch_dataset(source, __func__, batches, threads, err);
}
