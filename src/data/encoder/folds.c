/* Parts of a cross-validation: which rows are kept out of one fold, which are learned from, and which are neither. */
#include "data/encoder/encoder.h"

#include <stdlib.h>

static uint8_t part_of(int64_t fold, const mw_table_fit_options *o)
{
    return fold == o->fold ? MW__PART_KEPT_OUT : MW__PART_LEARNED;
}

static mw_status refuse_few(const mw_table_fit_options *o, int64_t count, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": %lld %s cannot be %d folds, which have one each at least",
                    o->path, (long long)count, what, o->folds);
}

mw_status mw__encoder_fold_rows(const mw_table_fit_options *o, const uint32_t *order, int64_t count, uint8_t *parts,
                                mw_error *err)
{
    if (count < o->folds)
        return refuse_few(o, count, "rows", err);
    for (int64_t i = 0; i < count; i++)
        parts[order[i]] = part_of(i % o->folds, o);
    return MW_OK;
}

mw_status mw__encoder_fold_classes(const mw_table_fit_options *o, const mw__encoder_fold_keys *k, uint8_t *parts,
                                   mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(o->allocator);
    int64_t *next =
        mw__alloc(allocator, k->key_count + 1, sizeof *next, err); /* the place of the next row of a class */
    mw_status status = next != NULL ? MW_OK : MW_ERROR_MEMORY;
    if (status == MW_OK && k->count < o->folds)
        status = refuse_few(o, k->count, "rows", err);
    for (int64_t i = 0; status == MW_OK && i < k->count; i++)
        next[k->keys[i] + 1]++;
    for (size_t c = 0; status == MW_OK && c < k->key_count; c++) {
        if (next[c + 1] < 2 && o->split == MW_SPLIT_STRATIFIED)
            status = mw__fail(err, MW_ERROR_FORMAT,
                              "\"%.300s\": the class \"%.100s\" has one row, and folds that have as much of each class "
                              "want two at least: leave it out, or split at random",
                              o->path, k->names[c]);
        next[c + 1] += next[c];
    }
    for (int64_t i = 0; status == MW_OK && i < k->count; i++)
        parts[k->order[i]] = part_of(next[k->keys[k->order[i]]]++ % o->folds, o);
    mw__free(allocator, next);
    return status;
}

/* ---- groups ---- */

typedef struct group {
    int64_t size;
    uint32_t key, turn; /* its place in a random order */
} group;

/* The largest first, equal ones at random. */
static int compare_groups(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : (x->turn > y->turn) - (x->turn < y->turn);
}

/* Each group goes to the fold that has the fewest rows so far. */
static void deal_groups(const mw_table_fit_options *o, const group *groups, size_t count, int64_t *rows, int *fold_of)
{
    for (size_t i = 0; i < count; i++) {
        int least = 0;
        for (int f = 1; f < o->folds; f++)
            least = rows[f] < rows[least] ? f : least;
        fold_of[groups[i].key] = least;
        rows[least] += groups[i].size;
    }
}

mw_status mw__encoder_fold_groups(const mw_table_fit_options *o, const mw__encoder_fold_keys *k, uint8_t *parts,
                                  mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(o->allocator);
    if ((int64_t)k->key_count < o->folds)
        return refuse_few(o, (int64_t)k->key_count, "groups", err);
    group *groups = mw__alloc(allocator, k->key_count, sizeof *groups, err);
    int *fold_of = mw__alloc(allocator, k->key_count, sizeof *fold_of, err);
    int64_t *rows = mw__alloc(allocator, (size_t)o->folds, sizeof *rows, err);
    const bool good = groups != NULL && fold_of != NULL && rows != NULL;
    for (size_t i = 0; good && i < k->key_count; i++)
        groups[k->order[i]] = (group){.key = k->order[i], .turn = (uint32_t)i};
    for (int64_t i = 0; good && i < k->count; i++)
        groups[k->keys[i]].size++;
    if (good) {
        qsort(groups, k->key_count, sizeof *groups, compare_groups);
        deal_groups(o, groups, k->key_count, rows, fold_of);
    }
    for (int64_t i = 0; good && i < k->count; i++)
        parts[i] = part_of(fold_of[k->keys[i]], o);
    mw__free(allocator, groups);
    mw__free(allocator, fold_of);
    mw__free(allocator, rows);
    return good ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- time: a fold is what comes behind all that is learned from ---- */

static int64_t border_of(const mw_table_fit_options *o, int64_t count, int block)
{
    return count * block / (o->folds + 1);
}

mw_status mw__encoder_fold_times(const mw_table_fit_options *o, const double *sorted, const double *times,
                                 int64_t count, uint8_t *parts, mw_error *err)
{
    const int64_t begin = border_of(o, count, o->fold + 1), end = border_of(o, count, o->fold + 2);
    int64_t kept = 0;
    if (count < o->folds + 1)
        return refuse_few(o, count, "rows behind a first part", err);
    for (int64_t i = 0; i < count; i++) {
        parts[i] = times[i] <= sorted[begin - 1] ? MW__PART_LEARNED
                   : times[i] <= sorted[end - 1] ? MW__PART_KEPT_OUT
                                                 : MW__PART_NEITHER;
        kept += parts[i] == MW__PART_KEPT_OUT;
    }
    if (kept == 0)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.300s\": fold %d of %d has no rows, as those at its place have one time, which stay "
                        "together: fewer folds",
                        o->path, o->fold + 1, o->folds);
    return MW_OK;
}

uint8_t mw__encoder_fold_place(const mw_table_fit_options *o, int64_t place, int64_t count)
{
    return place < border_of(o, count, o->fold + 1)   ? MW__PART_LEARNED
           : place < border_of(o, count, o->fold + 2) ? MW__PART_KEPT_OUT
                                                      : MW__PART_NEITHER;
}
