/* Windows of rows, and the rows that follow them. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/text/text.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <string.h>

enum { ALIGNED = 512 /* bytes, from which on an arena aligns to 64, as scratch is */ };

typedef struct windows {
    int64_t length, horizon, gap;
    size_t inputs, targets;
    size_t column[]; /* [inputs + targets] of the source */
} windows;

/* ---- serving ---- */

/* Row `row` of the source to place `at` of columns [first, first + count) of an example. */
static mw_status make_row(const mw_dataset *dataset, mw__example_place row, size_t first, size_t count, int64_t at,
                          void *const *out, char *scratch, mw_error *err)
{
    const mw_dataset *source = dataset->sources[0];
    const windows *w = dataset->state;
    void **places = (void **)(void *)scratch;
    char *rest = mw__data_put_places(source, scratch);
    for (size_t i = first; i < first + count; i++)
        places[w->column[i]] = (char *)out[i] + (size_t)at * source->example_bytes[w->column[i]];
    return mw__dataset_make(source, row, places, rest, err);
}

static mw_status make_window(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                             mw_error *err)
{
    const windows *w = dataset->state;
    const int64_t begin = dataset->index[at.example], behind = begin + w->length + w->gap;
    for (int64_t i = 0; i < w->length; i++)
        MW_TRY(make_row(dataset, (mw__example_place){at.epoch, begin + i}, 0, w->inputs, i, out, scratch, err));
    for (int64_t i = 0; i < w->horizon; i++)
        MW_TRY(
            make_row(dataset, (mw__example_place){at.epoch, behind + i}, w->inputs, w->targets, i, out, scratch, err));
    return MW_OK;
}

/* ---- what is asked for ---- */

mw_window_options mw_window_defaults(int64_t length)
{
    return (mw_window_options){.struct_size = sizeof(mw_window_options), .length = length, .stride = 1, .horizon = 1};
}

static mw_status check_numbers(const mw_window_options *o, mw_error *err)
{
    int64_t rows;
    if (o->length < 1 || o->stride < 1 || o->horizon < 0 || o->gap < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_window: length %lld, stride %lld, horizon %lld, gap %lld; the first two are from 1 "
                        "on, the others from 0",
                        (long long)o->length, (long long)o->stride, (long long)o->horizon, (long long)o->gap);
    if (o->horizon == 0 && (o->targets != NULL || o->target_count > 0 || o->gap > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_window: a horizon of 0 rows has no %s",
                        o->gap > 0 ? "gap before it" : "targets");
    if ((o->inputs == NULL) != (o->input_count == 0) || (o->targets == NULL) != (o->target_count == 0))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_window: a list of columns and its count go together; NULL and 0 are the default");
    if (!mw__add_i64(o->length, o->horizon, &rows) || !mw__add_i64(rows, o->gap, &rows))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_window: length, gap and horizon are beyond 2^63 rows");
    return MW_OK;
}

static mw_status check_window(const mw_dataset *source, const mw_window_options *o, mw_error *err)
{
    MW_TRY(mw__dataset_check(source, "mw_dataset_window", err));
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_window: %s",
                        o == NULL ? "no options" : "options are made with mw_window_defaults");
    return check_numbers(o, err);
}

static mw_status find_column(const mw_dataset *source, const char *name, size_t *out, mw_error *err)
{
    for (*out = 0; name != NULL && *out < source->column_count; ++*out)
        if (strcmp(source->columns[*out].name, name) == 0)
            return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_window: the data set has no column \"%.60s\"",
                    name != NULL ? name : "");
}

/* All but `series` where none are named. */
static mw_status choose_inputs(const mw_dataset *source, const mw_window_options *o, windows *w, mw_error *err)
{
    for (size_t i = 0; i < o->input_count; i++)
        MW_TRY(find_column(source, o->inputs[i], &w->column[w->inputs++], err));
    for (size_t i = 0; o->inputs == NULL && i < source->column_count; i++)
        if (o->series == NULL || strcmp(source->columns[i].name, o->series) != 0)
            w->column[w->inputs++] = i;
    if (w->inputs == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_window: no columns but \"%.60s\"", o->series);
    return MW_OK;
}

static mw_status choose_columns(const mw_dataset *source, const mw_window_options *o, windows *w, mw_error *err)
{
    MW_TRY(choose_inputs(source, o, w, err));
    if (o->horizon == 0)
        return MW_OK;
    w->targets = o->targets != NULL ? o->target_count : w->inputs;
    for (size_t i = 0; i < w->targets; i++)
        if (o->targets == NULL)
            w->column[w->inputs + i] = w->column[i];
        else
            MW_TRY(find_column(source, o->targets[i], &w->column[w->inputs + i], err));
    return MW_OK;
}

/* ---- columns ---- */

static mw_status name_column(const mw_column *from, int64_t rows, mw_column *out, mw_error *err)
{
    if (from->shape.rank == MW_RANK_MAX)
        return mw__fail(err, MW_ERROR_SHAPE, "mw_dataset_window: column \"%.60s\" has %d axes, and rows make one more",
                        from->name, MW_RANK_MAX);
    *out = *from;
    out->data = NULL;
    memmove(out->shape.dim + 1, from->shape.dim, (size_t)from->shape.rank * sizeof *out->shape.dim);
    out->shape.dim[0] = rows;
    out->shape.rank++;
    return MW_OK;
}

/* Names of targets come from the arena. */
static mw_status name_columns(const mw_dataset *source, const windows *w, mw__arena *arena, mw_column *out,
                              mw_error *err)
{
    for (size_t i = 0; i < w->inputs + w->targets; i++) {
        const mw_column *from = &source->columns[w->column[i]];
        MW_TRY(name_column(from, i < w->inputs ? w->length : w->horizon, &out[i], err));
        if (i < w->inputs)
            continue;
        const size_t size = strlen(from->name);
        char *name = mw__arena_alloc(arena, size + sizeof ".next", 1, err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        memcpy(name, from->name, size);
        memcpy(name + size, ".next", sizeof ".next");
        out[i].name = name;
    }
    return MW_OK;
}

/* ---- where windows begin ---- */

/* The rows of each series, one after the other. */
typedef struct series_scan {
    const mw_dataset *source;
    size_t column; /* the number of columns: all is one series */
    char *scratch, *last;
} series_scan;

/* The first row behind `begin` that belongs to another series. */
static mw_status find_end(const series_scan *s, int64_t begin, int64_t *out, mw_error *err)
{
    const mw_dataset *source = s->source;
    *out = source->examples;
    if (s->column == source->column_count)
        return MW_OK;
    const size_t bytes = source->example_bytes[s->column];
    void **places = (void **)(void *)s->scratch;
    char *rest = mw__data_put_places(source, s->scratch);
    for (int64_t row = begin; row < source->examples; row++) {
        MW_TRY(mw__dataset_make(source, (mw__example_place){0, row}, places, rest, err));
        if (row > begin && memcmp(s->last, places[s->column], bytes) != 0) {
            *out = row;
            return MW_OK;
        }
        memcpy(s->last, places[s->column], bytes);
    }
    return MW_OK;
}

/* How many windows there are; their begins, unless begin is NULL. */
static mw_status find_windows(const series_scan *s, const mw_window_options *o, int64_t *begin, int64_t *out_count,
                              int64_t *out_longest, mw_error *err)
{
    const int64_t rows = o->length + o->gap + o->horizon;
    *out_count = *out_longest = 0;
    for (int64_t first = 0, end; first < s->source->examples; first = end) {
        MW_TRY(find_end(s, first, &end, err));
        *out_longest = end - first > *out_longest ? end - first : *out_longest;
        for (int64_t at = first; rows <= end - at; at += o->stride) {
            if (begin != NULL)
                begin[*out_count] = at;
            ++*out_count;
            if (o->stride > end - at)
                break;
        }
    }
    return MW_OK;
}

static mw_status count_windows(const series_scan *s, const mw_window_options *o, int64_t *out, mw_error *err)
{
    int64_t longest;
    MW_TRY(find_windows(s, o, NULL, out, &longest, err));
    if (*out == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_window: a window of %lld rows, a gap of %lld and %lld rows behind it do not fit "
                        "into the longest series, of %lld",
                        (long long)o->length, (long long)o->gap, (long long)o->horizon, (long long)longest);
    return MW_OK;
}

/* ---- making ---- */

/* Takes `w`, also on failure. */
static mw_dataset *make_windows(const series_scan *s, const mw_window_options *o, windows *w, const mw_column *columns,
                                mw_error *err)
{
    int64_t count, longest;
    mw_dataset *dataset = NULL;
    if (count_windows(s, o, &count, err) == MW_OK)
        dataset = mw__dataset_derive(&s->source, 1, columns, w->inputs + w->targets, count, (size_t)count, err);
    if (dataset == NULL) {
        mw__free(s->source->allocator, w);
        return NULL;
    }
    dataset->make = make_window;
    dataset->state = w;
    mw__data_scratch_bytes(s->source, &dataset->scratch_bytes);
    if (find_windows(s, o, dataset->index, &count, &longest, err) == MW_OK)
        return dataset;
    mw_dataset_destroy(dataset);
    return NULL;
}

static mw_status begin_scan(const mw_dataset *source, const mw_window_options *o, mw__arena *arena, series_scan *s,
                            mw_error *err)
{
    size_t bytes;
    *s = (series_scan){.source = source, .column = source->column_count};
    if (o->series != NULL)
        MW_TRY(find_column(source, o->series, &s->column, err));
    if (!mw__data_scratch_bytes(source, &bytes))
        return mw__fail(err, MW_ERROR_SHAPE, "mw_dataset_window: an example of the source is larger than memory");
    s->scratch = mw__arena_alloc(arena, bytes > ALIGNED ? bytes : ALIGNED, 1, err);
    if (o->series != NULL)
        s->last = mw__arena_alloc(arena, source->example_bytes[s->column] + 1, 1, err);
    return s->scratch == NULL || (o->series != NULL && s->last == NULL) ? MW_ERROR_MEMORY : MW_OK;
}

static mw_dataset *window_dataset(const mw_dataset *source, const mw_window_options *o, mw__arena *arena, mw_error *err)
{
    series_scan scan;
    const size_t most = o->input_count + o->target_count + 2 * source->column_count;
    mw_column *columns = mw__arena_alloc(arena, most, sizeof *columns, err);
    windows *w = mw__alloc(source->allocator, 1, sizeof *w + most * sizeof *w->column, err);
    if (columns == NULL || w == NULL) {
        mw__free(source->allocator, w);
        return NULL;
    }
    *w = (windows){.length = o->length, .horizon = o->horizon, .gap = o->gap};
    if (choose_columns(source, o, w, err) == MW_OK && begin_scan(source, o, arena, &scan, err) == MW_OK &&
        name_columns(source, w, arena, columns, err) == MW_OK)
        return make_windows(&scan, o, w, columns, err);
    mw__free(source->allocator, w);
    return NULL;
}

mw_dataset *mw_dataset_window(const mw_dataset *source, const mw_window_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw__arena arena;
    mw_error own = {0};
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    if (check_window(source, options, err) != MW_OK)
        return NULL;
    mw__arena_init(&arena, source->allocator);
    mw_dataset *dataset = window_dataset(source, options, &arena, err);
    mw__arena_deinit(&arena);
    return dataset;
}
