/* What the cells of each field are, over all rows. */
#include "data/encoder/encoder.h"

#include <math.h>
#include <string.h>

void mw__encoder_forget(mw__encoder_observed *observed, size_t count, const mw_allocator *allocator)
{
    for (size_t i = 0; observed != NULL && i < count; i++)
        mw__map_deinit(&observed[i].words);
    mw__free(allocator, observed);
}

static void note_odd(mw__encoder_odd *odd, const mw__records_cell *cell)
{
    if (odd->cell.line > 0)
        return;
    const size_t length = cell->length < MW__ENCODER_ODD_BYTES ? cell->length : MW__ENCODER_ODD_BYTES;
    memcpy(odd->text, cell->text, length);
    odd->cell = *cell;
    odd->cell.text = odd->text;
    odd->cell.length = length;
}

static void observe_number(mw__encoder_observed *o, const mw__records_cell *cell, char decimal)
{
    double value;
    if (!mw__encoder_read_number(cell, decimal, &value)) {
        o->grouped += mw__encoder_is_grouped(cell, decimal);
        note_odd(&o->no_number, cell);
        return;
    }
    o->is_rising = o->is_rising && value == floor(value) && (o->numbers == 0 || value > o->last);
    o->has_fraction = o->has_fraction || value != floor(value);
    o->is_zero_one = o->is_zero_one && (value == 0 || value == 1);
    o->last = value;
    o->numbers++;
}

static void observe_date(mw__encoder_observed *o, const mw__records_cell *cell)
{
    mw__encoder_date month_first, day_first;
    const bool by_month = mw__encoder_read_date(cell, false, &month_first);
    const bool by_day = mw__encoder_read_date(cell, true, &day_first);
    const mw__encoder_date *found = by_month ? &month_first : &day_first;
    if (!by_month && !by_day) {
        note_odd(&o->no_date, cell);
        return;
    }
    o->dates++;
    o->has_time = o->has_time || (found->has_time && found->days != floor(found->days));
    o->is_slashed = o->is_slashed || found->is_slashed;
    o->month_first = o->month_first || (found->is_slashed && !by_day);
    o->day_first = o->day_first || (found->is_slashed && !by_month);
}

/* Words of a cell, up to three. */
static int count_words(const mw__records_cell *cell)
{
    int count = 0;
    bool in_word = false;
    for (size_t i = 0; i < cell->length && count < 3; i++) {
        const bool is_blank = cell->text[i] == ' ' || cell->text[i] == '\n';
        count += !is_blank && !in_word;
        in_word = !is_blank;
    }
    return count;
}

static mw_status observe_word(mw__encoder_observed *o, const mw__records_cell *cell, mw_error *err)
{
    char number[32];
    const char *word;
    size_t length;
    o->spaced += count_words(cell) >= 3;
    if (o->distinct > MW__ENCODER_DISTINCT_MAX ||
        !mw__encoder_read_word(cell, MW_FIELD_CATEGORY, '.', number, &word, &length) ||
        mw__map_get_n(&o->words, word, length) != NULL)
        return MW_OK;
    o->distinct++;
    return mw__map_set_n(&o->words, word, length, o, err);
}

static void observe_elements(mw__encoder_observed *o, const mw__records_cell *cell)
{
    double value;
    mw__records_cell element;
    mw__encoder_elements elements = mw__encoder_elements_of(cell);
    for (; mw__encoder_next_element(&elements, &element); o->elements++) {
        const bool is_number = mw__encoder_read_number(&element, '.', &value);
        o->has_word_element = o->has_word_element || !is_number;
        o->has_fraction_element = o->has_fraction_element || (is_number && value != floor(value));
    }
    o->sequences++;
}

static mw_status observe_cell(mw__encoder_observed *o, const mw__records_cell *cell, char decimal, mw_error *err)
{
    double truth;
    if (mw__encoder_is_missing(cell))
        return MW_OK;
    o->present++;
    if (o->is_sequence ? cell->kind != MW__RECORDS_NESTED : mw__encoder_looks_like_sequence(cell))
        observe_elements(o, cell);
    if (cell->kind != MW__RECORDS_TEXT) {
        o->nested += cell->kind == MW__RECORDS_NESTED;
        return MW_OK;
    }
    observe_number(o, cell, decimal);
    o->booleans += mw__encoder_read_boolean(cell, &truth);
    observe_date(o, cell);
    return observe_word(o, cell, err);
}

static bool is_said_sequence(const mw_table_fit_options *options, const char *name)
{
    for (size_t i = 0; options->fields != NULL && i < options->field_count; i++)
        if (options->fields[i].kind == MW_FIELD_SEQUENCE && options->fields[i].name != NULL &&
            strcmp(options->fields[i].name, name) == 0)
            return true;
    return false;
}

mw_status mw__encoder_observe(mw__records *rows, const mw_table_fit_options *options, mw__encoder_observed **out,
                              int64_t *out_rows, mw_error *err)
{
    bool more = true;
    mw__encoder_observed *all = *out = mw__alloc(rows->source.allocator, rows->count, sizeof *all, err);
    if (all == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        mw__map_init(&all[i].words, rows->source.allocator);
        all[i].is_rising = all[i].is_zero_one = true;
        all[i].is_sequence = is_said_sequence(options, rows->names[i]);
    }
    for (;;) {
        MW_TRY(mw__records_next(rows, &more, err));
        if (!more)
            break;
        for (size_t i = 0; i < rows->count; i++)
            MW_TRY(observe_cell(&all[i], &rows->cells[i], rows->form.decimal, err));
    }
    *out_rows = rows->rows;
    return rows->rows > 0 ? MW_OK : mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no rows", rows->source.path);
}
