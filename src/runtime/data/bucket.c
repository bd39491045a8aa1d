/* Batches of examples of about one length: which limit an example belongs to, and the order of an epoch by them. */
#include "runtime/data/bucket.h"

#include "base/number/float_mode.h"

#include <string.h>

enum { LIMITS_MAX = 64 };

/* ---- the set ---- */

static mw_status check_limits(const mw_dataset *source, const int64_t *limits, size_t count, mw_error *err)
{
    const mw_column *first = &source->columns[0];
    for (size_t i = 0; i < source->column_count; i++)
        if (source->columns[i].shape.rank < 1 || source->columns[i].shape.dim[0] != first->shape.dim[0])
            return mw__fail(err, MW_ERROR_SHAPE, "mw_dataset_bucket: column \"%.100s\" has not the rows of \"%.100s\"",
                            source->columns[i].name, first->name);
    for (size_t i = 0; i < count; i++)
        if (limits[i] < 1 || (i > 0 && limits[i] <= limits[i - 1]))
            return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_bucket: limit %zu is %lld; they grow from 1 on", i,
                            (long long)limits[i]);
    if (count < 1 || count > LIMITS_MAX || limits[count - 1] != first->shape.dim[0])
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_dataset_bucket: %zu limits; it takes 1 to %d, of which the last is the %lld rows of a column", count,
            LIMITS_MAX, (long long)first->shape.dim[0]);
    return MW_OK;
}

static mw_status check_bucket(const mw_dataset *source, const int64_t *lengths, const int64_t *limits, size_t count,
                              mw_error *err)
{
    MW_TRY(mw__dataset_check(source, "mw_dataset_bucket", err));
    if (lengths == NULL || limits == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_bucket: no %s", lengths == NULL ? "lengths" : "limits");
    if (source->examples > UINT32_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "mw_dataset_bucket: %lld examples cannot be ordered, at most %lld",
                        (long long)source->examples, (long long)UINT32_MAX);
    return check_limits(source, limits, count, err);
}

static mw_status place_examples(mw__length_buckets *b, const int64_t *lengths, int64_t examples, mw_error *err)
{
    for (int64_t i = 0; i < examples; i++) {
        size_t at = 0;
        while (at < b->count && lengths[i] > b->limits[at])
            at++;
        if (lengths[i] < 1 || at == b->count)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_dataset_bucket: example %lld has the length %lld, not 1 to %lld", (long long)i,
                            (long long)lengths[i], (long long)b->limits[b->count - 1]);
        b->of[i] = (unsigned char)at;
    }
    return MW_OK;
}

/* One piece of memory, which goes with the set. */
static mw__length_buckets *make_buckets(const mw_dataset *source, const int64_t *limits, size_t count, mw_error *err)
{
    mw__length_buckets *b =
        mw__alloc(source->allocator, 1, sizeof *b + count * sizeof *limits + (size_t)source->examples, err);
    if (b == NULL)
        return NULL;
    b->count = count;
    b->limits = (int64_t *)(void *)(b + 1);
    b->of = (unsigned char *)(b->limits + count);
    memcpy(b->limits, limits, count * sizeof *limits);
    return b;
}

mw_dataset *mw_dataset_bucket(const mw_dataset *source, const int64_t *lengths, const int64_t *limits,
                              size_t limit_count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_bucket(source, lengths, limits, limit_count, err) != MW_OK)
        return NULL;
    mw_dataset *dataset = mw__dataset_derive_same(source, err);
    if (dataset == NULL)
        return NULL;
    mw__length_buckets *b = make_buckets(source, limits, limit_count, err);
    dataset->state = b;
    dataset->buckets = b;
    if (b != NULL && place_examples(b, lengths, source->examples, err) == MW_OK)
        return dataset;
    mw_dataset_destroy(dataset);
    return NULL;
}

/* ---- the order of an epoch ---- */

/* Stable: `from` by the limits of its examples. */
static void sort_by_limit(const mw__length_buckets *b, const uint32_t *from, uint32_t *to, size_t count)
{
    size_t begin[LIMITS_MAX + 1] = {0};
    for (size_t i = 0; i < count; i++)
        begin[b->of[from[i]] + 1]++;
    for (size_t k = 1; k <= b->count; k++)
        begin[k] += begin[k - 1];
    for (size_t i = 0; i < count; i++)
        to[begin[b->of[from[i]]]++] = from[i];
}

static void swap_batches(uint32_t *order, size_t a, size_t b, size_t batch)
{
    for (size_t i = 0; i < batch; i++) {
        const uint32_t kept = order[a * batch + i];
        order[a * batch + i] = order[b * batch + i];
        order[b * batch + i] = kept;
    }
}

/* What is left over by whole batches stays last: it was chosen at random, not for its length. */
void mw__length_buckets_order(const mw__length_buckets *buckets, uint32_t *order, uint32_t *room, size_t examples,
                              size_t batch, mw__random *random)
{
    const size_t batches = examples / batch, whole = random != NULL ? batches * batch : examples;
    sort_by_limit(buckets, order, room, whole);
    memcpy(order, room, whole * sizeof *order);
    for (size_t left = random != NULL ? batches : 0; left > 1; left--)
        swap_batches(order, (size_t)mw__random_below(random, left), left - 1, batch);
}

int64_t mw__length_buckets_limit(const mw__length_buckets *buckets, const int64_t *ids, int64_t count)
{
    size_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most = buckets->of[ids[i]] > most ? buckets->of[ids[i]] : most;
    return buckets->limits[most];
}
