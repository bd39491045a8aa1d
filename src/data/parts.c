/* Data sets that are parts of others, and several behind one another. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "runtime/data/classes.h"

#include <millwright/dataset_derived.h>
#include <string.h>

/* ---- subset ---- */

static mw_status check_subset(const mw_dataset *source, const int64_t *examples, int64_t count, mw_error *err)
{
    MW_TRY(mw__dataset_check(source, "mw_dataset_subset", err));
    if (examples == NULL || count < 1 || (uint64_t)count > SIZE_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_subset: %lld examples; it needs at least one",
                        examples == NULL ? 0LL : (long long)count);
    for (int64_t i = 0; i < count; i++) {
        if (examples[i] < 0 || examples[i] >= source->examples)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_dataset_subset: number %lld is %lld; the source has examples "
                            "0 to %lld",
                            (long long)i, (long long)examples[i], (long long)source->examples - 1);
    }
    return MW_OK;
}

mw_dataset *mw_dataset_subset(const mw_dataset *source, const int64_t *examples, int64_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_subset(source, examples, count, err) != MW_OK)
        return NULL;
    mw_dataset *dataset = mw__dataset_derive_subset(source, count, err);
    if (dataset != NULL)
        memcpy(dataset->index, examples, (size_t)count * sizeof *examples);
    return dataset;
}

/* ---- part of a rank ---- */

static mw_status check_shard(const mw_dataset *source, int rank, int ranks, mw_error *err)
{
    MW_TRY(mw__dataset_check(source, "mw_dataset_shard", err));
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_shard: rank %d of %d; ranks are 0 to ranks - 1", rank,
                        ranks);
    if (source->examples < ranks)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_shard: %lld examples for %d ranks",
                        (long long)source->examples, ranks);
    return MW_OK;
}

mw_dataset *mw_dataset_shard(const mw_dataset *source, int rank, int ranks, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_shard(source, rank, ranks, err) != MW_OK)
        return NULL;
    const int64_t count = source->examples / ranks;
    mw_dataset *dataset = mw__dataset_derive_subset(source, count, err);
    for (int64_t i = 0; dataset != NULL && i < count; i++)
        dataset->index[i] = rank + i * ranks;
    if (dataset != NULL)
        dataset->is_part = true;
    return dataset;
}

/* ---- concatenation ---- */

static mw_status make_concatenated(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                                   mw_error *err)
{
    size_t low = 0, high = dataset->source_count; /* index[low] <= example < index[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (dataset->index[middle] <= at.example)
            low = middle;
        else
            high = middle;
    }
    at.example -= dataset->index[low];
    return mw__dataset_make(dataset->sources[low], at, out, scratch, err);
}

static mw_status compare_column(const mw_column *first, const mw_column *other, size_t source, mw_error *err)
{
    if (strcmp(first->name, other->name) != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_concatenate: source %zu has a column \"%.100s\" where "
                        "source 0 has \"%.100s\"",
                        source, other->name, first->name);
    if (first->dtype != other->dtype)
        return mw__fail(err, MW_ERROR_DTYPE,
                        "mw_dataset_concatenate: column \"%.100s\" is %s in source %zu, and %s "
                        "in source 0",
                        other->name, mw_dtype_name(other->dtype), source, mw_dtype_name(first->dtype));
    if (!mw_shape_equal(first->shape, other->shape))
        return mw__fail(err, MW_ERROR_SHAPE,
                        "mw_dataset_concatenate: column \"%.100s\" has another shape in source "
                        "%zu than in source 0",
                        other->name, source);
    if (first->scale != other->scale || first->offset != other->offset)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_concatenate: column \"%.100s\" has another scale or offset "
                        "in source %zu than in source 0",
                        other->name, source);
    return MW_OK;
}

static mw_status check_sources(const mw_dataset *const *sources, size_t count, int64_t *out_examples, mw_error *err)
{
    *out_examples = 0;
    if (sources == NULL || count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_concatenate: no sources");
    for (size_t i = 0; i < count; i++) {
        MW_TRY(mw__dataset_check(sources[i], "mw_dataset_concatenate", err));
        if (sources[i]->column_count != sources[0]->column_count)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_dataset_concatenate: source %zu has %zu columns, source 0 has "
                            "%zu",
                            i, sources[i]->column_count, sources[0]->column_count);
        for (size_t k = 0; k < sources[0]->column_count; k++)
            MW_TRY(compare_column(&sources[0]->columns[k], &sources[i]->columns[k], i, err));
        if (!mw__add_i64(*out_examples, sources[i]->examples, out_examples))
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_concatenate: more examples than can be counted");
    }
    return MW_OK;
}

mw_dataset *mw_dataset_concatenate(const mw_dataset *const *sources, size_t source_count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    int64_t examples;
    if (mw__skips(err) || check_sources(sources, source_count, &examples, err) != MW_OK)
        return NULL;
    mw_dataset *dataset = mw__dataset_derive(sources, source_count, sources[0]->columns, sources[0]->column_count,
                                             examples, source_count + 1, err);
    if (dataset == NULL)
        return NULL;
    dataset->make = make_concatenated;
    for (size_t i = 0; i < source_count; i++)
        dataset->index[i + 1] = dataset->index[i] + sources[i]->examples;
    if (mw__dataset_join_classes(dataset, "mw_dataset_concatenate", err) == MW_OK)
        return dataset;
    mw_dataset_destroy(dataset);
    return NULL;
}
