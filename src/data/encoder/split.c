/* Which rows are kept out for validation. */
#include "base/number/random.h"
#include "data/encoder/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a split needs of each row. */
typedef struct splitting {
    const mw_table_fit_options *options;
    int64_t count;
    uint8_t *parts; /* [count] */
    uint32_t *keys; /* [count] number of the class or group */
    double *times;  /* [count] */
    mw__encoder_words words;
    mw__arena arena;
    mw_error *err;
} splitting;

/* The share, at least one of ten. */
static int64_t share_of(const splitting *s, int64_t count)
{
    const int64_t some = (int64_t)floor((double)count * s->options->validation + 0.5);
    if (some >= count)
        return count - 1;
    return some == 0 && s->options->validation > 0 && count >= 10 ? 1 : some;
}

/* [count] numbers in a random order; `stream` tells one draw from another. */
static uint32_t *draw_order(const splitting *s, int64_t count, uint64_t stream)
{
    uint32_t *order = mw__alloc(s->arena.allocator, (size_t)count, sizeof *order, s->err);
    mw__random random = {.seed = s->options->seed, .stream = UINT64_MAX - stream};
    for (int64_t i = 0; order != NULL && i < count; i++)
        order[i] = (uint32_t)i;
    if (order != NULL)
        mw__random_shuffle(&random, order, (size_t)count);
    return order;
}

static mw__encoder_fold_keys fold_keys(const splitting *s, const uint32_t *order)
{
    return (mw__encoder_fold_keys){.keys = s->keys,
                                   .order = order,
                                   .names = (const char *const *)s->words.names,
                                   .key_count = s->words.count,
                                   .count = s->count};
}

/* One of the parts of a cross-validation. */
static mw_status split_folds(const splitting *s)
{
    const bool by_group = s->options->split == MW_SPLIT_GROUP;
    uint32_t *order = draw_order(s, by_group ? (int64_t)s->words.count : s->count, 0);
    const mw__encoder_fold_keys keys = fold_keys(s, order);
    const mw_status status = order == NULL     ? MW_ERROR_MEMORY
                             : s->keys == NULL ? mw__encoder_fold_rows(s->options, order, s->count, s->parts, s->err)
                             : by_group        ? mw__encoder_fold_groups(s->options, &keys, s->parts, s->err)
                                               : mw__encoder_fold_classes(s->options, &keys, s->parts, s->err);
    mw__free(s->arena.allocator, order);
    return status;
}

static mw_status split_rows(const splitting *s)
{
    uint32_t *order = draw_order(s, s->count, 0);
    for (int64_t i = 0, some = share_of(s, s->count); order != NULL && i < some; i++)
        s->parts[order[i]] = 1;
    mw__free(s->arena.allocator, order);
    return order != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The first of each class in a random order, as many as are its share; at least one stays to learn from. */
static mw_status split_classes(const splitting *s)
{
    const size_t classes = s->words.count;
    uint32_t *order = draw_order(s, s->count, 0);
    int64_t *left = mw__alloc(s->arena.allocator, classes, sizeof *left, s->err);
    for (int64_t i = 0; left != NULL && i < s->count; i++)
        left[s->keys[i]]++;
    for (size_t k = 0; left != NULL && k < classes; k++)
        left[k] = share_of(s, left[k]);
    for (int64_t i = 0; order != NULL && left != NULL && i < s->count; i++)
        s->parts[order[i]] = left[s->keys[order[i]]]-- > 0;
    mw__free(s->arena.allocator, order);
    mw__free(s->arena.allocator, left);
    return order != NULL && left != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status split_groups(const splitting *s)
{
    const int64_t groups = (int64_t)s->words.count;
    if (groups < 2 && s->options->validation > 0)
        return mw__fail(s->err, MW_ERROR_FORMAT,
                        "\"%.300s\": all rows are of one group, \"%.100s\" of \"%.100s\", and cannot be split by it",
                        s->options->path, s->words.names[0], s->options->split_field);
    uint32_t *order = draw_order(s, groups, 0);
    bool *out = mw__alloc(s->arena.allocator, (size_t)groups, sizeof *out, s->err);
    const int64_t some = share_of(s, groups), least = s->options->validation > 0 ? 1 : 0;
    for (int64_t i = 0; order != NULL && out != NULL && i < (some > least ? some : least); i++)
        out[order[i]] = true;
    for (int64_t i = 0; order != NULL && out != NULL && i < s->count; i++)
        s->parts[i] = out[s->keys[i]];
    mw__free(s->arena.allocator, order);
    mw__free(s->arena.allocator, out);
    return order != NULL && out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rows of one time stay together: those at the border are learned from. */
static mw_status split_times(const splitting *s)
{
    double *sorted = mw__alloc(s->arena.allocator, (size_t)s->count, sizeof *sorted, s->err);
    if (sorted == NULL)
        return MW_ERROR_MEMORY;
    memcpy(sorted, s->times, (size_t)s->count * sizeof *sorted);
    qsort(sorted, (size_t)s->count, sizeof *sorted, compare_times);
    if (s->options->folds > 0) {
        const mw_status status = mw__encoder_fold_times(s->options, sorted, s->times, s->count, s->parts, s->err);
        mw__free(s->arena.allocator, sorted);
        return status;
    }
    const int64_t some = share_of(s, s->count);
    const double border = sorted[s->count - 1 - some];
    for (int64_t i = 0; i < s->count; i++)
        s->parts[i] = s->times[i] > border;
    mw__free(s->arena.allocator, sorted);
    return MW_OK;
}

/* The places of the rows in their groups say in which part they are. */
static mw_status fold_last(const splitting *s, size_t groups)
{
    int64_t *counts = mw__alloc(s->arena.allocator, 2 * groups, sizeof *counts, s->err);
    if (counts == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < s->count; i++)
        counts[s->keys != NULL ? s->keys[i] : 0]++;
    for (int64_t i = 0; i < s->count; i++) {
        const size_t key = s->keys != NULL ? s->keys[i] : 0;
        s->parts[i] = mw__encoder_fold_place(s->options, counts[groups + key]++, counts[key]);
    }
    mw__free(s->arena.allocator, counts);
    return MW_OK;
}

/* The share of the rows of each group, its last ones; of all rows where there are no groups. */
static mw_status split_last(const splitting *s)
{
    const size_t groups = s->keys != NULL ? s->words.count : 1;
    if (s->options->folds > 0)
        return fold_last(s, groups);
    int64_t *left = mw__alloc(s->arena.allocator, groups, sizeof *left, s->err);
    if (left == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < s->count; i++)
        left[s->keys != NULL ? s->keys[i] : 0]++;
    for (size_t k = 0; k < groups; k++)
        left[k] = share_of(s, left[k]);
    for (int64_t i = s->count - 1; i >= 0; i--)
        s->parts[i] = left[s->keys != NULL ? s->keys[i] : 0]-- > 0;
    mw__free(s->arena.allocator, left);
    return MW_OK;
}

/* ---- what is read for it ---- */

static mw_status read_time(const splitting *s, const mw__records *rows, const mw__records_cell *cell, bool day_first)
{
    mw__encoder_date date;
    double *out = &s->times[rows->rows - 1];
    if (mw__encoder_read_number(cell, rows->form.decimal, out))
        return MW_OK;
    if (!mw__encoder_read_date(cell, day_first, &date))
        return mw__encoder_refuse(rows, cell, s->options->split_field, "date or number, by which the rows are split",
                                  s->err);
    *out = date.days;
    return MW_OK;
}

static mw_status read_key(splitting *s, const mw__records *rows, const mw__records_cell *cell)
{
    char number[32];
    const char *word;
    size_t length;
    if (!mw__encoder_read_word(cell, MW_FIELD_CATEGORY, '.', number, &word, &length))
        return mw__encoder_refuse(rows, cell, NULL, "word", s->err);
    int64_t found = mw__encoder_find_word(&s->words, word, length);
    if (found < 0) {
        if (s->words.count == UINT32_MAX)
            return mw__records_fail(rows, cell, NULL, s->err, "too many groups");
        found = (int64_t)s->words.count;
        MW_TRY(mw__encoder_add_word(&s->words, &s->arena, word, length, s->err));
    }
    s->keys[rows->rows - 1] = (uint32_t)found;
    return MW_OK;
}

/* Dates with slashes are read as the field is, once one of them tells which way. */
static mw_status find_order(mw__records *rows, size_t place, bool *out_day_first, mw_error *err)
{
    mw__encoder_date date;
    bool more = true, slashed = false, month_first = false;
    while (*out_day_first == false) {
        MW_TRY(mw__records_next(rows, &more, err));
        if (!more)
            break;
        const bool by_month = mw__encoder_read_date(&rows->cells[place], false, &date);
        slashed = slashed || (by_month && date.is_slashed);
        const bool by_day = mw__encoder_read_date(&rows->cells[place], true, &date);
        *out_day_first = by_day && !by_month;
        month_first = month_first || (by_month && !by_day);
    }
    if (slashed && !*out_day_first && !month_first)
        return mw__records_fail(rows, NULL, rows->names[place], err,
                                "day and month of its dates cannot be told apart, as none is above 12; write them as "
                                "2026-12-31");
    return MW_OK;
}

static mw_status read_keys(splitting *s, mw__records *rows, size_t place, bool day_first)
{
    for (bool more = true; more;) {
        MW_TRY(mw__records_next(rows, &more, s->err));
        if (more)
            MW_TRY(s->times != NULL ? read_time(s, rows, &rows->cells[place], day_first)
                                    : read_key(s, rows, &rows->cells[place]));
    }
    return rows->rows == s->count ? MW_OK : mw__records_changed(rows, s->err);
}

static mw_status with_rows(splitting *s, const mw_table_form *form, bool orders, bool *day_first)
{
    const mw_table_fit_options *o = s->options;
    const bool by_class = o->split == MW_SPLIT_STRATIFIED || o->split == MW_SPLIT_RANDOM;
    const char *field = by_class ? o->target : o->split_field;
    mw__records rows;
    size_t place;
    mw_status status = mw__records_open(&rows, s->arena.allocator, o->path, form, s->err);
    rows.rows_max = s->count;
    if (status == MW_OK && !mw__records_find(&rows, field, &place))
        status = mw__records_no_field(&rows, field, s->err);
    if (status == MW_OK)
        status = orders ? find_order(&rows, place, day_first, s->err) : read_keys(s, &rows, place, *day_first);
    mw__records_close(&rows);
    return status;
}

static mw_status split_by_field(splitting *s, const mw_table_form *form)
{
    const mw_split_rule rule = s->options->split;
    bool day_first = false;
    const size_t count = (size_t)s->count;
    if (rule == MW_SPLIT_TIME)
        s->times = mw__alloc(s->arena.allocator, count, sizeof *s->times, s->err);
    else
        s->keys = mw__alloc(s->arena.allocator, count, sizeof *s->keys, s->err);
    if (s->times == NULL && s->keys == NULL)
        return MW_ERROR_MEMORY;
    if (rule == MW_SPLIT_TIME)
        MW_TRY(with_rows(s, form, true, &day_first));
    MW_TRY(with_rows(s, form, false, &day_first));
    return rule == MW_SPLIT_TIME    ? split_times(s)
           : rule == MW_SPLIT_LAST  ? split_last(s)
           : s->options->folds > 0  ? split_folds(s)
           : rule == MW_SPLIT_GROUP ? split_groups(s)
                                    : split_classes(s);
}

mw_status mw__encoder_split(const mw_table_fit_options *options, const mw_table_form *form, int64_t row_count,
                            bool has_classes, uint8_t **out, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    splitting s = {.options = options, .count = row_count, .err = err};
    if (row_count > UINT32_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "table: %lld rows cannot be split, at most %lld",
                        (long long)row_count, (long long)UINT32_MAX);
    s.parts = *out = mw__alloc(allocator, (size_t)row_count, 1, err);
    if (s.parts == NULL)
        return MW_ERROR_MEMORY;
    mw__arena_init(&s.arena, allocator);
    mw__encoder_words_init(&s.words, allocator);
    const bool is_plain = options->split == MW_SPLIT_LAST && options->split_field == NULL;
    const bool is_dealt = options->split == MW_SPLIT_RANDOM && !(has_classes && options->folds > 0);
    const mw_status status = is_dealt   ? (options->folds > 0 ? split_folds(&s) : split_rows(&s))
                             : is_plain ? split_last(&s)
                                        : split_by_field(&s, form);
    mw__encoder_words_deinit(&s.words, allocator);
    mw__arena_deinit(&s.arena);
    mw__free(allocator, s.keys);
    mw__free(allocator, s.times);
    return status;
}
