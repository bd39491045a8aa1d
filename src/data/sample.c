/* Examples that are drawn by weights, anew in each epoch. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <math.h>

/* No map has so many below it: a draw and a map with one seed differ. */
static const uint64_t draw_stream = UINT64_MAX - 1;

/* The state: where the share of each example ends, of all weights. */
typedef struct sampling {
    uint64_t key;
    double ends[]; /* [examples of the source] rising, the last is the sum */
} sampling;

/* Uniform in [0, 1) with 53 bits. */
static double draw(const sampling *s, mw__example_place at)
{
    return (double)(mw__data_seed(s->key, (uint64_t)at.example, (uint64_t)at.epoch) >> 11) * 0x1p-53;
}

static mw_status make_drawn(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                            mw_error *err)
{
    const mw_dataset *source = dataset->sources[0];
    const sampling *s = dataset->state;
    const double wanted = draw(s, at) * s->ends[source->examples - 1];
    int64_t low = 0, high = source->examples - 1; /* the first whose end is beyond what was drawn */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->ends[middle] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    at.example = low;
    return mw__dataset_make(source, at, out, scratch, err);
}

static mw_status check_sample(const mw_dataset *source, const double *weights, int64_t count, mw_error *err)
{
    MW_TRY(mw__dataset_check(source, "mw_dataset_sample", err));
    if (weights == NULL || count < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_sample: %s",
                        weights == NULL ? "no weights" : "no examples");
    return MW_OK;
}

static mw_status add_up(sampling *s, const double *weights, int64_t count, mw_error *err)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(weights[i] >= 0) || !isfinite(weights[i]))
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_sample: weight %lld is %g; finite and from 0 on",
                            (long long)i, weights[i]);
        sum += weights[i];
        s->ends[i] = sum;
    }
    if (sum > 0 && isfinite(sum))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_sample: the weights add up to %g", sum);
}

mw_dataset *mw_dataset_sample(const mw_dataset *source, const double *weights, int64_t count, uint64_t seed,
                              mw_error *err)
{
    MW__FLOAT_SCOPE;
    size_t bytes;
    if (mw__skips(err) || check_sample(source, weights, count, err) != MW_OK)
        return NULL;
    if (!mw__mul_size((size_t)source->examples, sizeof(double), &bytes) ||
        !mw__add_size(bytes, sizeof(sampling), &bytes)) {
        mw__fail(err, MW_ERROR_MEMORY, "mw_dataset_sample: there is no memory for %lld weights",
                 (long long)source->examples);
        return NULL;
    }
    sampling *s = mw__alloc(source->allocator, 1, bytes, err);
    mw_dataset *dataset = NULL;
    if (s != NULL && add_up(s, weights, source->examples, err) == MW_OK)
        dataset = mw__dataset_derive(&source, 1, source->columns, source->column_count, count, 0, err);
    if (dataset == NULL) {
        mw__free(source->allocator, s);
        return NULL;
    }
    s->key = mw__data_seed(seed, (uint64_t)dataset->map_count, draw_stream);
    dataset->make = make_drawn;
    dataset->state = s;
    return dataset;
}
