/* Which kind a field is of: what is said, or what its content shows. What is nearly all numbers or dates is not guessed
 * at: the cells that are none are mended, or the kind is said. */
#include "base/text/string.h"
#include "data/encoder/encoder.h"

#include <string.h>

/* Words up to which a field is a category whatever its rows, and columns of a text. */
enum { FEW_WORDS = 20, TEXT_WIDTH = 64, SEQUENCE_WIDTH = 32, SEQUENCE_LENGTH = 256 };

typedef struct choosing {
    const mw_table_fit_options *options;
    const mw__records *rows;
    int64_t row_count;
    bool keeps_target; /* it is an input, too */
    mw_error *err;
} choosing;

static const mw_field_setting *find_setting(const mw_table_fit_options *o, const char *name)
{
    for (size_t i = 0; i < o->field_count; i++)
        if (strcmp(o->fields[i].name, name) == 0)
            return &o->fields[i];
    return NULL;
}

/* id, Id, user_id, userId, index, rank of a row: a number of the row, not of what it is about. */
static bool is_called_id(const char *name)
{
    const size_t length = strlen(name);
    const char *end = length >= 2 ? name + length - 2 : "";
    const bool ends = (end[0] == 'I' && (end[1] == 'd' || end[1] == 'D')) ||
                      (end[0] == 'i' && end[1] == 'd' && (length == 2 || end[-1] == '_' || end[-1] == ' '));
    return ends || strcmp(name, "index") == 0 || strncmp(name, "column_", 7) == 0;
}

/* ---- by content ---- */

static mw_field_kind ignore_field(mw__encoder_field *f, const char *reason)
{
    f->reason = reason;
    return MW_FIELD_IGNORED;
}

/* Whether nine in ten are of a kind, and so the others are likely mistakes. */
static bool is_nearly(int64_t some, int64_t all) { return all >= 10 && some < all && some >= all - all / 10; }

static mw_status refuse_mixture(const choosing *c, const char *name, const mw__encoder_odd *odd, int64_t some,
                                int64_t all, const char *what)
{
    return mw__records_fail(c->rows, &odd->cell, name, c->err,
                            "\"%.*s\" is no %s, as %lld of its %lld cells are; mend it, or say the kind of the field",
                            (int)odd->cell.length, odd->text, what, (long long)some, (long long)all);
}

static mw_status check_dates(const choosing *c, const char *name, const mw__encoder_observed *o)
{
    if (!o->is_slashed || o->day_first != o->month_first)
        return MW_OK;
    return mw__records_fail(c->rows, NULL, name, c->err,
                            "day and month of its dates %s; write them as 2026-12-31, or ignore the field",
                            o->day_first ? "stand in either order" : "cannot be told apart, as none is above 12");
}

static mw_field_kind choose_words(const mw__encoder_observed *o)
{
    const int64_t distinct = (int64_t)o->distinct;
    if (distinct > FEW_WORDS && 2 * o->spaced > o->present)
        return MW_FIELD_TEXT;
    return distinct <= FEW_WORDS || (distinct <= MW__ENCODER_DISTINCT_MAX && 2 * distinct <= o->present)
               ? MW_FIELD_CATEGORY
               : MW_FIELD_TEXT;
}

static mw_field_kind find_kind(const choosing *c, mw__encoder_field *f, const mw__encoder_observed *o)
{
    if (o->present == 0)
        return ignore_field(f, "it is empty");
    if (o->nested > 0 || (o->sequences > 0 && o->sequences < o->present))
        return ignore_field(f, "it has arrays or objects");
    if (o->sequences == o->present)
        return o->elements > 0 ? MW_FIELD_SEQUENCE : ignore_field(f, "its arrays are empty");
    if (o->numbers == o->present) {
        if (o->is_rising && o->present == c->row_count && c->row_count > 1 && is_called_id(f->name))
            return ignore_field(f, "it counts the rows");
        if (is_called_id(f->name) && !o->has_fraction && c->row_count > 1 && !o->is_zero_one)
            return MW_FIELD_ID;
        return o->is_zero_one ? MW_FIELD_BOOLEAN : MW_FIELD_NUMBER;
    }
    if (o->booleans == o->present)
        return MW_FIELD_BOOLEAN;
    if (o->dates == o->present && !(o->day_first && o->month_first))
        return MW_FIELD_DATE;
    if (o->grouped > 0 && o->numbers + o->grouped == o->present)
        mw__records_fail(c->rows, &o->no_number.cell, f->name, c->err,
                         "\"%.*s\" has its digits in groups; write the numbers of the field without, or say its kind",
                         (int)o->no_number.cell.length, o->no_number.text);
    else if (is_nearly(o->numbers, o->present))
        refuse_mixture(c, f->name, &o->no_number, o->numbers, o->present, "number");
    else if (is_nearly(o->dates, o->present))
        refuse_mixture(c, f->name, &o->no_date, o->dates, o->present, "date");
    return choose_words(o);
}

/* ---- the fields ---- */

static void take_sequence(mw__encoder_field *f, const mw__encoder_observed *o, const mw_field_setting *s)
{
    const mw_sequence_elements elements = s != NULL ? s->elements : MW_SEQUENCE_FOUND;
    f->width = f->width > 0 ? f->width : SEQUENCE_WIDTH;
    f->length = s != NULL && s->length > 0 ? s->length : SEQUENCE_LENGTH;
    f->has_values = elements == MW_SEQUENCE_VALUES ||
                    (elements == MW_SEQUENCE_FOUND && !o->has_word_element && o->has_fraction_element);
}

static void take_setting(const choosing *c, mw__encoder_field *f, const mw__encoder_observed *o,
                         const mw_field_setting *s)
{
    const char *split = c->options->split_field, *series = c->options->window.series;
    const bool is_split = split != NULL && strcmp(split, f->name) == 0;
    const bool is_series = series != NULL && strcmp(series, f->name) == 0;
    f->kind = s != NULL ? s->kind : MW_FIELD_FOUND;
    if (s == NULL && (c->options->only_fields || is_split || is_series))
        f->kind = ignore_field(f, is_series  ? "it names the series"
                                  : is_split ? "the rows are split by it"
                                             : "it is not listed");
    else if (f->kind == MW_FIELD_IGNORED)
        f->reason = "as said";
    else if (f->kind == MW_FIELD_FOUND)
        f->kind = find_kind(c, f, o);
    f->rule = s != NULL ? s->missing : MW_MISSING_MEAN;
    f->constant = s != NULL ? s->constant : 0;
    f->width = s != NULL ? s->width : 0;
    if (f->kind == MW_FIELD_TEXT && f->width == 0)
        f->width = TEXT_WIDTH;
    f->is_found = s == NULL || s->kind == MW_FIELD_FOUND;
    if (f->kind == MW_FIELD_SEQUENCE)
        take_sequence(f, o, s);
}

static mw_status check_setting(const mw_field_setting *s, size_t index, mw_error *err)
{
    if (s->name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: setting %zu of a field has no name", index);
    if (s->kind < MW_FIELD_FOUND || s->kind > MW_FIELD_IGNORED || s->missing < MW_MISSING_MEAN ||
        s->missing > MW_MISSING_CONSTANT)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: field \"%.100s\": %d is no %s", s->name,
                        s->kind < MW_FIELD_FOUND || s->kind > MW_FIELD_IGNORED ? (int)s->kind : (int)s->missing,
                        s->kind < MW_FIELD_FOUND || s->kind > MW_FIELD_IGNORED ? "kind" : "rule of what is missing");
    const bool is_sequence = s->kind == MW_FIELD_SEQUENCE;
    if (s->length < 0 || s->length > MW__ENCODER_LENGTH_MAX || s->elements < MW_SEQUENCE_FOUND ||
        s->elements > MW_SEQUENCE_VALUES || (!is_sequence && (s->length > 0 || s->elements != MW_SEQUENCE_FOUND)))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "table: field \"%.100s\" has the length %lld and elements %d; sequences have them, of 1 to %d "
                        "values",
                        s->name, (long long)s->length, (int)s->elements, MW__ENCODER_LENGTH_MAX);
    const bool has_width =
        s->kind == MW_FIELD_CATEGORY || s->kind == MW_FIELD_ID || s->kind == MW_FIELD_TEXT || is_sequence;
    if (s->width < 0 || s->width > MW__ENCODER_WIDTH_MAX || (s->width > 0 && !has_width))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "table: field \"%.100s\" has the width %lld; categories, ids, texts and sequences have one, of 1 to %d",
            s->name, (long long)s->width, MW__ENCODER_WIDTH_MAX);
    const bool is_number = s->kind == MW_FIELD_NUMBER;
    if (!is_number && (s->missing != MW_MISSING_MEAN || s->constant != 0))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "table: field \"%.100s\" says what fills missing cells, which only numbers have: set its kind",
                        s->name);
    if (!(s->constant - s->constant == 0) || (s->missing != MW_MISSING_CONSTANT && s->constant != 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: field \"%.100s\" has the constant %g, %s", s->name, s->constant,
                        s->missing == MW_MISSING_CONSTANT ? "no finite number" : "without the rule that takes it");
    return MW_OK;
}

static bool is_target(const mw_table_encoder *e, size_t place)
{
    for (size_t i = 0; i < e->target_count; i++)
        if (e->targets[i].place == place)
            return true;
    return false;
}

static mw_status check_settings(const choosing *c, const mw_table_encoder *e)
{
    const mw_table_fit_options *o = c->options;
    size_t place;
    if (o->field_count > 0 && o->fields == NULL)
        return mw__fail(c->err, MW_ERROR_ARGUMENT, "table: %zu settings of fields, and no fields", o->field_count);
    for (size_t i = 0; i < o->field_count; i++) {
        MW_TRY(check_setting(&o->fields[i], i, c->err));
        if (!mw__records_find(c->rows, o->fields[i].name, &place))
            return mw__records_no_field(c->rows, o->fields[i].name, c->err);
        if (!c->keeps_target && is_target(e, place))
            return mw__fail(c->err, MW_ERROR_ARGUMENT,
                            "\"%.300s\" has no field \"%.100s\" among its %zu besides the target", c->rows->source.path,
                            o->fields[i].name, c->rows->count);
        if (find_setting(o, o->fields[i].name) != &o->fields[i])
            return mw__fail(c->err, MW_ERROR_ARGUMENT, "table: field \"%.100s\" has two settings", o->fields[i].name);
    }
    return MW_OK;
}

static mw_status choose_field(const choosing *c, mw_table_encoder *e, mw__encoder_field *f,
                              const mw__encoder_observed *o)
{
    take_setting(c, f, o, find_setting(c->options, f->name));
    if (f->kind == MW_FIELD_DATE) {
        MW_TRY(check_dates(c, f->name, o));
        f->has_time = o->has_time;
        f->day_first = o->day_first;
    }
    mw__encoder_words_init(&f->words, e->allocator);
    return c->err->status;
}

/* A target of numbers is a value if they are many, or no integers. */
static mw_status choose_target(const choosing *c, mw_table_encoder *e, const mw__encoder_observed *o)
{
    enum { CLASSES_OF_NUMBERS = 32 };
    const bool is_found = c->options->target_kind == MW_TARGET_FOUND;
    const bool are_many = o->has_fraction || o->distinct > CLASSES_OF_NUMBERS;
    if (is_found && are_many && is_nearly(o->numbers, o->present))
        return refuse_mixture(c, e->targets[0].name, &o->no_number, o->numbers, o->present, "number");
    if (is_found)
        e->targets[0].kind = o->numbers == o->present && are_many ? MW_TARGET_VALUE : MW_TARGET_CLASS;
    if (e->targets[0].kind == MW_TARGET_CLASS && e->targets[0].scale != MW_TARGET_STANDARD)
        return mw__fail(c->err, MW_ERROR_ARGUMENT, "table: the target \"%.100s\" has classes, and these no scale",
                        e->targets[0].name);
    if (e->targets[0].kind == MW_TARGET_CLASS && e->window.horizon > 1)
        return mw__fail(
            c->err, MW_ERROR_ARGUMENT,
            "table: the target \"%.100s\" has classes; a window predicts one of them, with a horizon of 0 or "
            "1, not %lld",
            e->targets[0].name, (long long)e->window.horizon);
    if (e->targets[0].kind == MW_TARGET_VALUE && c->options->split == MW_SPLIT_STRATIFIED)
        return mw__fail(c->err, MW_ERROR_ARGUMENT,
                        "table: the target \"%.100s\" has values; a stratified split is of classes",
                        e->targets[0].name);
    return MW_OK;
}

/* Several targets are of one kind: truths, or else numbers. */
static mw_status choose_several(const choosing *c, mw_table_encoder *e, const mw__encoder_observed *observed)
{
    bool are_truths = true;
    for (size_t i = 0; i < e->target_count; i++) {
        const mw__encoder_observed *o = &observed[e->targets[i].place];
        are_truths = are_truths && o->booleans == o->present;
    }
    const bool is_found = c->options->target_kind == MW_TARGET_FOUND;
    for (size_t i = 0; is_found && i < e->target_count; i++)
        e->targets[i].kind = are_truths ? MW_TARGET_LABELS : MW_TARGET_VALUE;
    if (e->targets[0].kind == MW_TARGET_LABELS && e->targets[0].scale != MW_TARGET_STANDARD && is_found)
        return mw__fail(c->err, MW_ERROR_ARGUMENT, "table: the targets are labels, and these have no scale");
    return MW_OK;
}

static mw_status find_targets(const choosing *c, mw_table_encoder *e)
{
    for (size_t i = 0; i < e->target_count; i++) {
        const char *name = i == 0 ? c->options->target : c->options->more_targets[i - 1];
        mw__encoder_target *t = &e->targets[i];
        if (name == NULL || !mw__records_find(c->rows, name, &t->place))
            return mw__records_no_field(c->rows, name != NULL ? name : "", c->err);
        for (size_t k = 0; k < i; k++)
            if (e->targets[k].place == t->place)
                return mw__fail(c->err, MW_ERROR_ARGUMENT, "table: the target \"%.100s\" is said twice", name);
        t->name = mw__arena_keep(&e->arena, name, c->err);
        t->kind = c->options->target_kind;
        t->scale = c->options->target_scale;
        if (t->name == NULL)
            return MW_ERROR_MEMORY;
    }
    return MW_OK;
}

static mw_status choose_all(const choosing *c, mw_table_encoder *e, const mw__encoder_observed *observed)
{
    size_t used = 0;
    MW_TRY(find_targets(c, e));
    MW_TRY(e->target_count > 1 || c->options->target_kind == MW_TARGET_LABELS
               ? choose_several(c, e, observed)
               : choose_target(c, e, &observed[e->targets[0].place]));
    MW_TRY(check_settings(c, e));
    for (size_t i = 0, k = 0; i < c->rows->count; i++) {
        if (!c->keeps_target && is_target(e, i))
            continue;
        mw__encoder_field *f = &e->fields[k++];
        f->name = mw__arena_keep(&e->arena, c->rows->names[i], c->err);
        f->place = i;
        if (f->name == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(choose_field(c, e, f, &observed[i]));
        used += f->kind != MW_FIELD_IGNORED;
    }
    if (used == 0)
        return mw__fail(c->err, MW_ERROR_FORMAT, "\"%.300s\": the table has no field besides the target \"%.100s\"",
                        c->rows->source.path, c->options->target);
    return MW_OK;
}

static mw_status take_window(const choosing *c, mw_table_encoder *e, const mw__encoder_window *window)
{
    const char *series = c->options->window.series;
    if (window->length == 0)
        return MW_OK;
    e->window = *window;
    e->window.series = mw__arena_keep(&e->arena, series != NULL ? series : "", c->err);
    if (e->window.series == NULL)
        return MW_ERROR_MEMORY;
    if (series == NULL || mw__records_find(c->rows, series, &e->window.place))
        return MW_OK;
    return mw__fail(c->err, MW_ERROR_ARGUMENT, "\"%.300s\" has no field \"%.100s\" among its %zu, to name the series",
                    c->rows->source.path, series, c->rows->count);
}

mw_table_encoder *mw__encoder_choose(const mw_table_fit_options *options, const mw__records *rows,
                                     const mw__encoder_observed *observed, int64_t row_count, mw_error *err)
{
    const mw_table_window *w = &options->window;
    const mw__encoder_window window = {.length = w->length, .stride = w->stride, .horizon = w->horizon, .gap = w->gap};
    const choosing c = {.options = options,
                        .rows = rows,
                        .row_count = row_count,
                        .keeps_target = mw__encoder_target_is_input(&window),
                        .err = err};
    const size_t targets = 1 + options->more_target_count, fewer = c.keeps_target ? 0 : targets;
    if (fewer > rows->count) {
        mw__fail(err, MW_ERROR_ARGUMENT, "\"%.300s\" has %zu fields, and %zu targets are said", rows->source.path,
                 rows->count, targets);
        return NULL;
    }
    mw_table_encoder *e = mw__encoder_make(rows->source.allocator, rows->count - fewer, targets, err);
    if (e == NULL)
        return NULL;
    if (take_window(&c, e, &window) == MW_OK && choose_all(&c, e, observed) == MW_OK)
        return e;
    mw__encoder_free(e);
    return NULL;
}
