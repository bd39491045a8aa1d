/* Windows of rows that follow each other in time: an example is `length` rows, and the target of what comes behind
 * them. Nothing is copied but indices: the rows stay in memory once. */
#include "base/memory/checked.h"
#include "data/encoder/encoder.h"
#include "runtime/data/classes.h"

#include <string.h>

enum { ROWS_MAX = 65536 /* of a window, its gap and its horizon */ };

/* What serves an example. */
typedef struct windows {
    int64_t length, gap, horizon;
    size_t row_bytes, target_bytes; /* of x, and of y; 0 = there is none */
    int64_t order[];                /* [rows] of the source: those of a series stand together */
} windows;

const char *mw__encoder_window_fault(const mw__encoder_window *w, bool has_classes)
{
    if (w->length < 1 || w->length > ROWS_MAX || w->stride < 1 || w->stride > INT32_MAX)
        return "length 1 to 65536 and stride 1 or more";
    if (w->horizon < 0 || w->horizon > ROWS_MAX || w->gap < 0 || w->gap > ROWS_MAX)
        return "horizon and gap 0 to 65536";
    if (w->horizon == 0 && w->gap > 0)
        return "no gap without a horizon";
    return has_classes && w->horizon > 1 ? "horizon 0 or 1 of classes" : "";
}

/* ---- serving ---- */

static mw_status make_window(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                             mw_error *err)
{
    const mw_dataset *rows = dataset->sources[0];
    const windows *w = dataset->state;
    const int64_t begin = dataset->index[at.example];
    const int64_t *row = w->order + begin, *target = row + w->length + w->gap - (w->horizon == 0);
    const char *x = rows->columns[0].data, *y = w->target_bytes > 0 ? rows->columns[1].data : NULL;
    (void)scratch, (void)err;
    for (int64_t i = 0; i < w->length; i++)
        memcpy((char *)out[0] + (size_t)i * w->row_bytes, x + (size_t)row[i] * w->row_bytes, w->row_bytes);
    for (int64_t i = 0; y != NULL && i < (w->horizon > 0 ? w->horizon : 1); i++)
        memcpy((char *)out[1] + (size_t)i * w->target_bytes, y + (size_t)target[i] * w->target_bytes, w->target_bytes);
    return MW_OK;
}

/* ---- where windows begin ---- */

/* Rows of one series one behind the other, in the order of the file: counted, then dealt out. firsts [series + 1]. */
static mw_status order_rows(const uint32_t *series, int64_t rows, int64_t *order, int64_t **firsts, size_t *out_count,
                            const mw_allocator *allocator, mw_error *err)
{
    size_t count = 1;
    for (int64_t i = 0; series != NULL && i < rows; i++)
        count = series[i] + (size_t)1 > count ? series[i] + (size_t)1 : count;
    int64_t *first = *firsts = mw__alloc(allocator, count + 2, sizeof *first, err);
    if (first == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < rows; i++)
        first[(series != NULL ? series[i] : 0) + 2]++;
    for (size_t k = 2; k < count + 2; k++)
        first[k] += first[k - 1];
    for (int64_t i = 0; i < rows; i++)
        order[first[(series != NULL ? series[i] : 0) + 1]++] = i;
    *out_count = count;
    return MW_OK;
}

/* How many windows begin in [begin, end); where, unless out is NULL. */
static int64_t list_begins(const mw__encoder_window *w, int64_t rows, int64_t begin, int64_t end, int64_t *out)
{
    int64_t count = 0;
    for (; rows <= end - begin; begin += w->stride, count++)
        if (out != NULL)
            out[count] = begin;
    return count;
}

/* ---- making ---- */

/* The rows that a window has with what it predicts, or without. */
static int64_t rows_of(const mw__encoder_window *w, bool has_target)
{
    return has_target ? w->length + w->gap + w->horizon : w->length;
}

static mw_dataset *derive_windows(const mw_table_encoder *e, const mw_dataset *rows, int64_t count, mw_error *err)
{
    const mw__encoder_window *w = &e->window;
    const bool is_class = e->targets[0].kind == MW_TARGET_CLASS;
    mw_column columns[2] = {rows->columns[0], rows->column_count > 1 ? rows->columns[1] : rows->columns[0]};
    columns[0].shape = MW_SHAPE(w->length, e->columns);
    columns[0].data = columns[1].data = NULL;
    if (!is_class && w->horizon > 0)
        columns[1].shape = e->target_count > 1 ? MW_SHAPE(w->horizon, (int64_t)e->target_count) : MW_SHAPE(w->horizon);
    mw_dataset *set = mw__dataset_derive(&rows, 1, columns, rows->column_count, count, (size_t)count, err);
    if (set == NULL)
        return NULL;
    set->make = make_window;
    const mw__class_list lists[] = {{0}, {e->targets[0].classes.names, e->targets[0].classes.count}};
    if (!is_class || rows->column_count < 2 || mw__dataset_keep_classes(set, lists, err) == MW_OK)
        return set;
    mw_dataset_destroy(set);
    return NULL;
}

static mw_status refuse_short(const mw__encoder_window *w, int64_t rows, int64_t longest, const char *path,
                              mw_error *err)
{
    return mw__fail(
        err, MW_ERROR_FORMAT,
        "\"%.300s\": a window of %lld rows with what it predicts takes %lld, and the longest series of this "
        "part has %lld: shorter windows, or another share for validation",
        path, (long long)w->length, (long long)rows, (long long)longest);
}

/* The begins of all windows; takes firsts as order_rows leaves them: the end of series k is firsts[k + 1]. */
static mw_dataset *make_set(const mw_table_encoder *e, const mw_dataset *rows, const int64_t *firsts, size_t series,
                            const char *path, mw_error *err)
{
    const int64_t wanted = rows_of(&e->window, rows->column_count > 1);
    int64_t count = 0, longest = 0;
    for (size_t k = 0; k < series; k++) {
        const int64_t begin = firsts[k], end = firsts[k + 1];
        longest = end - begin > longest ? end - begin : longest;
        count += list_begins(&e->window, wanted, begin, end, NULL);
    }
    if (count == 0) {
        refuse_short(&e->window, wanted, longest, path, err);
        return NULL;
    }
    mw_dataset *set = derive_windows(e, rows, count, err);
    int64_t *next = set != NULL ? set->index : NULL;
    for (size_t k = 0; next != NULL && k < series; k++)
        next += list_begins(&e->window, wanted, firsts[k], firsts[k + 1], next);
    return set;
}

mw_dataset *mw__encoder_make_windows(const mw_table_encoder *e, const mw_dataset *rows, const uint32_t *series,
                                     const char *path, mw_error *err)
{
    size_t bytes, count = 0;
    int64_t *firsts = NULL;
    windows *w = NULL;
    if (!mw__mul_size((size_t)rows->examples, sizeof *w->order, &bytes) || !mw__add_size(bytes, sizeof *w, &bytes))
        mw__fail(err, MW_ERROR_MEMORY, "table: there is no memory for %lld rows", (long long)rows->examples);
    else
        w = mw__alloc(e->allocator, 1, bytes, err);
    mw_dataset *set = NULL;
    if (w != NULL && order_rows(series, rows->examples, w->order, &firsts, &count, e->allocator, err) == MW_OK)
        set = make_set(e, rows, firsts, count, path, err);
    mw__free(e->allocator, firsts);
    if (set == NULL) {
        mw__free(e->allocator, w);
        return NULL;
    }
    w->length = e->window.length, w->gap = e->window.gap, w->horizon = e->window.horizon;
    w->row_bytes = rows->example_bytes[0];
    w->target_bytes = rows->column_count > 1 ? rows->example_bytes[1] : 0;
    set->state = w;
    return set;
}
