/* A share of a set apart: at random, of each class alike, or whole groups. */
#include "base/number/float_mode.h"
#include "base/number/random.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

/* What is dealt together, and in which order. */
typedef struct deal {
    int64_t example, group;
    uint64_t drawn; /* of the example, or of its group */
} deal;

mw_divide_options mw_divide_defaults(double share)
{
    return (mw_divide_options){.struct_size = sizeof(mw_divide_options), .share = share};
}

/* ---- which group an example is of ---- */

static bool take_number(const mw_feed *feed, size_t i, int64_t *out)
{
    const void *data = feed->data;
    switch (feed->dtype) {
    case MW_U8:
        *out = ((const uint8_t *)data)[i];
        return true;
    case MW_I8:
        *out = ((const int8_t *)data)[i];
        return true;
    case MW_I16:
        *out = ((const int16_t *)data)[i];
        return true;
    case MW_U16:
        *out = ((const uint16_t *)data)[i];
        return true;
    case MW_I32:
        *out = ((const int32_t *)data)[i];
        return true;
    case MW_I64:
        *out = ((const int64_t *)data)[i];
        return true;
    default:
        return false;
    }
}

static mw_status take_batch(const mw_batch *batch, const char *label, int64_t first, deal *deals, mw_error *err)
{
    for (size_t k = 0; k < batch->feed_count; k++) {
        const mw_feed *feed = &batch->feeds[k];
        for (int64_t i = 0; strcmp(feed->name, label) == 0 && i < batch->examples; i++)
            if (!take_number(feed, (size_t)i, &deals[first + i].group))
                return mw__fail(err, MW_ERROR_DTYPE,
                                "mw_dataset_divide: column \"%.100s\" is not one integer an example", label);
    }
    return MW_OK;
}

/* Those in memory are read there; others are made, all columns of them. */
static mw_status take_labels(const mw_dataset *source, const char *label, deal *deals, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(source, source->examples < BATCH ? source->examples : BATCH);
    options.shuffle = false;
    options.drop_last = false;
    mw_loader *loader = mw_loader_create(&options, err);
    mw_status status = loader != NULL ? MW_OK : MW_ERROR_STATE;
    for (int64_t at = 0; status == MW_OK && at < source->examples;) {
        const mw_batch *batch = mw_loader_next(loader, err);
        status = batch != NULL ? take_batch(batch, label, at, deals, err) : MW_ERROR_STATE;
        at += batch != NULL ? batch->examples : 0;
    }
    mw_loader_destroy(loader);
    return status;
}

static const mw_column *find_column(const mw_dataset *source, const char *name)
{
    for (size_t i = 0; i < source->column_count; i++)
        if (strcmp(source->columns[i].name, name) == 0)
            return &source->columns[i];
    return NULL;
}

/* ---- dealing ---- */

static int compare_deals(const void *a, const void *b)
{
    const deal *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->drawn != y->drawn ? (x->drawn < y->drawn ? -1 : 1) : (x->example < y->example ? -1 : 1);
}

/* By what was drawn of the group, so that groups stay together in a random order. */
static int compare_groups(const void *a, const void *b)
{
    const deal *x = a, *y = b;
    return x->drawn != y->drawn ? (x->drawn < y->drawn ? -1 : 1) : compare_deals(a, b);
}

/* Of each class so many that the number of all is the rounded share after every class. */
static int64_t mark_share(deal *deals, int64_t count, double share, bool *apart)
{
    int64_t taken = 0;
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && deals[end].group == deals[first].group;)
            end++;
        const int64_t until = llrint(share * (double)end);
        for (int64_t i = first; i < end && taken < until; i++, taken++)
            apart[deals[i].example] = true;
    }
    return taken;
}

/* Whole groups, until the share is reached; the last stays. */
static int64_t mark_groups(deal *deals, int64_t count, double share, bool *apart)
{
    int64_t taken = 0;
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && deals[end].group == deals[first].group;)
            end++;
        if (end == count || (double)first >= share * (double)count)
            break;
        for (int64_t i = first; i < end; i++, taken++)
            apart[deals[i].example] = true;
    }
    return taken;
}

static int64_t deal_out(deal *deals, int64_t count, const mw_divide_options *o, bool *apart)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t of = o->groups != NULL ? (uint64_t)deals[i].group : (uint64_t)deals[i].example;
        deals[i].drawn = mw__data_seed(o->seed, of, UINT64_MAX - 1);
    }
    qsort(deals, (size_t)count, sizeof *deals, o->groups != NULL ? compare_groups : compare_deals);
    return o->groups != NULL ? mark_groups(deals, count, o->share, apart) : mark_share(deals, count, o->share, apart);
}

/* ---- the parts ---- */

static mw_status check_divide(const mw_dataset *source, const mw_divide_options *o, mw_dataset **out, mw_error *err)
{
    static const char call[] = "mw_dataset_divide";
    if (o == NULL || o->struct_size != sizeof *o || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: no options of mw_divide_defaults, or no place for the parts",
                        call);
    MW_TRY(mw__dataset_check(source, call, err));
    if (!(o->share > 0.0 && o->share < 1.0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: share %g; it lies between 0 and 1", call, o->share);
    if (o->label != NULL && o->groups != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: a label and groups are two ways to divide: leave one out", call);
    const mw_column *label = o->label != NULL ? find_column(source, o->label) : NULL;
    if (o->label != NULL && label == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data set has no column \"%.100s\"", call, o->label);
    if (label != NULL && mw_shape_count(label->shape) != 1)
        return mw__fail(err, MW_ERROR_DTYPE, "%s: column \"%.100s\" is not one integer an example", call, o->label);
    return MW_OK;
}

static mw_status make_parts(const mw_dataset *source, const bool *apart, int64_t taken, int64_t *numbers,
                            mw_dataset **out, mw_error *err)
{
    int64_t counts[2] = {0, source->examples - taken}; /* where the next of each goes */
    if (taken == 0 || taken == source->examples)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_divide: of %lld examples %lld are the share: one part would be empty",
                        (long long)source->examples, (long long)taken);
    for (int64_t i = 0; i < source->examples; i++) {
        if (apart[i])
            numbers[counts[1]++] = i;
        else
            numbers[counts[0]++] = i;
    }
    out[0] = mw_dataset_subset(source, numbers, counts[0], err);
    out[1] = out[0] != NULL ? mw_dataset_subset(source, numbers + counts[0], taken, err) : NULL;
    if (out[1] != NULL)
        return MW_OK;
    mw_dataset_destroy(out[0]);
    out[0] = NULL;
    return MW_ERROR_MEMORY;
}

static mw_status divide(const mw_dataset *source, const mw_divide_options *o, mw_dataset **out, deal *deals,
                        bool *apart, int64_t *numbers, mw_error *err)
{
    for (int64_t i = 0; i < source->examples; i++)
        deals[i] = (deal){.example = i, .group = o->groups != NULL ? o->groups[i] : 0};
    memset(apart, 0, (size_t)source->examples * sizeof *apart);
    if (o->label != NULL)
        MW_TRY(take_labels(source, o->label, deals, err));
    return make_parts(source, apart, deal_out(deals, source->examples, o, apart), numbers, out, err);
}

mw_status mw_dataset_divide(const mw_dataset *source, const mw_divide_options *options, mw_dataset **out_parts,
                            mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw_error *said = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out_parts != NULL)
        out_parts[0] = out_parts[1] = NULL;
    MW_TRY(check_divide(source, options, out_parts, said));
    const mw_allocator *allocator = source->allocator;
    const size_t count = (size_t)source->examples;
    deal *deals = mw__alloc(allocator, count, sizeof *deals, said);
    bool *apart = mw__alloc(allocator, count, sizeof *apart, said);
    int64_t *numbers = mw__alloc(allocator, count, sizeof *numbers, said);
    if (deals != NULL && apart != NULL && numbers != NULL)
        divide(source, options, out_parts, deals, apart, numbers, said);
    mw__free(allocator, deals);
    mw__free(allocator, apart);
    mw__free(allocator, numbers);
    return said->status;
}
