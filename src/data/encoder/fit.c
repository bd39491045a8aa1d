/* What is taken of the training rows, in double: means, deviations, fillings, words. Deviations are those of the filled
 * column, divided by the count, as scikit-learn's StandardScaler has them behind a SimpleImputer. */
#include "data/encoder/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of a field, and its values where a median is asked for. */
typedef struct field_sums {
    mw__encoder_sums value, age; /* age: days since the oldest that was seen first */
    double first_day, newest;
    double *values;
    size_t count, capacity;
    int64_t length; /* of the longest sequence */
} field_sums;

typedef struct fitting {
    mw_table_encoder *encoder;
    mw__records *rows;
    field_sums *sums;          /* [field_count] */
    mw__encoder_sums *targets; /* [target_count] */
    int64_t learned;           /* rows of the training part */
    mw_error *err;
} fitting;

void mw__encoder_add_sum(mw__encoder_sums *sums, double value)
{
    const double distance = value - sums->mean;
    sums->count++;
    sums->mean += distance / sums->count;
    sums->squares += distance * (value - sums->mean);
    sums->peak = fabs(value) > sums->peak ? fabs(value) : sums->peak;
}

/* `times` more of one value. */
static void add_many(mw__encoder_sums *sums, double value, double times)
{
    const double all = sums->count + times, distance = value - sums->mean;
    if (times == 0)
        return;
    sums->squares += distance * distance * sums->count * times / all;
    sums->mean += distance * times / all;
    sums->count = all;
}

/* A deviation that rounding made is none. */
static mw__encoder_scale scale_of(const mw__encoder_sums *sums)
{
    const double variance = sums->count > 0 ? sums->squares / sums->count : 0;
    const bool is_constant = variance <= 0x1p-96 * sums->mean * sums->mean || !isfinite(variance);
    return (mw__encoder_scale){.mean = sums->mean, .deviation = is_constant ? 0 : sqrt(variance)};
}

/* ---- cells ---- */

static mw_status take_number(fitting *f, mw__encoder_field *field, field_sums *sums, const mw__records_cell *cell)
{
    double value;
    const bool is_boolean = field->kind == MW_FIELD_BOOLEAN;
    if (!(is_boolean ? mw__encoder_read_boolean(cell, &value)
                     : mw__encoder_read_number(cell, f->rows->form.decimal, &value)))
        return mw__encoder_refuse(f->rows, cell, field->name, is_boolean ? "truth, as true or no" : "finite number",
                                  f->err);
    mw__encoder_add_sum(&sums->value, value);
    if (field->rule != MW_MISSING_MEDIAN)
        return MW_OK;
    MW_TRY(
        mw__grow(f->encoder->allocator, &sums->values, &sums->capacity, sums->count + 1, sizeof *sums->values, f->err));
    sums->values[sums->count++] = value;
    return MW_OK;
}

static mw_status take_date(fitting *f, const mw__encoder_field *field, field_sums *sums, const mw__records_cell *cell)
{
    mw__encoder_date date;
    if (!mw__encoder_read_date(cell, field->day_first, &date))
        return mw__encoder_refuse(f->rows, cell, field->name, "date", f->err);
    if (sums->value.count == 0)
        sums->first_day = sums->newest = date.days;
    sums->newest = date.days > sums->newest ? date.days : sums->newest;
    mw__encoder_add_sum(&sums->value, date.year);
    mw__encoder_add_sum(&sums->age, date.days - sums->first_day);
    return MW_OK;
}

/* More words than there may be are refused; a kind that was found is given up, as words that few rows share say little.
 */
static mw_status add_word(fitting *f, mw__encoder_field *field, const mw__records_cell *cell, const char *word,
                          size_t length)
{
    if (mw__encoder_find_word(&field->words, word, length) >= 0)
        return MW_OK;
    if (field->words.count < MW__ENCODER_WORDS_MAX)
        return mw__encoder_add_word(&field->words, &f->encoder->arena, word, length, f->err);
    if (field->kind == MW_FIELD_ID && field->is_found)
        return MW_OK;
    return mw__records_fail(f->rows, cell, field->name, f->err, "it has more than %d words: %s", MW__ENCODER_WORDS_MAX,
                            field->kind == MW_FIELD_SEQUENCE ? "take its elements as values, or ignore it"
                                                             : "make it a text, or ignore it");
}

static mw_status take_sequence(fitting *f, mw__encoder_field *field, field_sums *sums, const mw__records_cell *cell)
{
    char number[32];
    const char *word;
    size_t length;
    double value;
    mw__records_cell element;
    if (cell->kind == MW__RECORDS_NESTED)
        return mw__encoder_refuse(f->rows, cell, field->name, "list of words or numbers", f->err);
    mw__encoder_elements elements = mw__encoder_elements_of(cell);
    int64_t count = 0;
    for (; count < field->length && mw__encoder_next_element(&elements, &element); count++) {
        if (field->has_values && !mw__encoder_read_number(&element, '.', &value))
            return mw__encoder_refuse(f->rows, &element, field->name, "finite number", f->err);
        if (!field->has_values && !mw__encoder_element_word(&element, number, &word, &length))
            return mw__encoder_refuse(f->rows, &element, field->name, "word", f->err);
        if (field->has_values)
            mw__encoder_add_sum(&sums->value, value);
        else
            MW_TRY(add_word(f, field, &element, word, length));
    }
    sums->length = count > sums->length ? count : sums->length;
    return MW_OK;
}

static mw_status take_word(fitting *f, mw__encoder_field *field, const mw__records_cell *cell, bool is_missing)
{
    char number[32];
    const char *word = "";
    size_t length = 0;
    if (!is_missing && !mw__encoder_read_word(cell, field->kind, f->rows->form.decimal, number, &word, &length))
        return mw__encoder_refuse(f->rows, cell, field->name, field->kind == MW_FIELD_ID ? "integer" : "word", f->err);
    return add_word(f, field, cell, word, length);
}

static mw_status take_cell(fitting *f, size_t index, const mw__records_cell *cell)
{
    mw__encoder_field *field = &f->encoder->fields[index];
    const bool is_missing = mw__encoder_is_missing(cell);
    field->missing += is_missing;
    if (mw__encoder_has_words(field))
        return take_word(f, field, cell, is_missing);
    if (field->kind == MW_FIELD_SEQUENCE && !is_missing)
        return take_sequence(f, field, &f->sums[index], cell);
    if (is_missing || field->kind == MW_FIELD_TEXT || field->kind == MW_FIELD_IGNORED)
        return MW_OK;
    return field->kind == MW_FIELD_DATE ? take_date(f, field, &f->sums[index], cell)
                                        : take_number(f, field, &f->sums[index], cell);
}

/* ---- the target ---- */

mw_status mw__encoder_target_number(const mw__encoder_target *t, const mw__records *rows, double *out, mw_error *err)
{
    const mw__records_cell *cell = &rows->cells[t->place];
    if (mw__encoder_is_missing(cell))
        return mw__records_fail(rows, cell, t->name, err, "the target is missing; leave the row out, or fill it");
    if (t->kind == MW_TARGET_LABELS)
        return mw__encoder_read_boolean(cell, out)
                   ? MW_OK
                   : mw__records_fail(rows, cell, t->name, err,
                                      "\"%.*s\" is no truth, as labels have to be: true or no",
                                      (int)(cell->length < 60 ? cell->length : 60), cell->text);
    if (!mw__encoder_read_number(cell, rows->form.decimal, out))
        return mw__records_fail(rows, cell, t->name, err, "\"%.*s\" is no finite number, as the target has to be",
                                (int)(cell->length < 60 ? cell->length : 60), cell->text);
    return MW_OK;
}

mw_status mw__encoder_target_value(const mw__encoder_target *t, const mw__records *rows, double *out, mw_error *err)
{
    MW_TRY(mw__encoder_target_number(t, rows, out, err));
    if (t->scale == MW_TARGET_LOGARITHM && *out <= 0)
        return mw__records_fail(rows, &rows->cells[t->place], t->name, err,
                                "%g has no logarithm; scale the target by mean and deviation", *out);
    *out = t->scale == MW_TARGET_LOGARITHM ? log(*out) : *out;
    return MW_OK;
}

mw_status mw__encoder_take_class(mw_table_encoder *e, const mw__records *rows, mw_error *err)
{
    char number[32];
    const char *word;
    size_t length;
    mw__encoder_target *target = &e->targets[0];
    const mw__records_cell *cell = &rows->cells[target->place];
    if (mw__encoder_is_empty(cell))
        return mw__records_fail(rows, cell, target->name, err, "the target is missing; leave the row out, or fill it");
    if (!mw__encoder_read_word(cell, MW_FIELD_CATEGORY, '.', number, &word, &length))
        return mw__encoder_refuse(rows, cell, target->name, "word", err);
    if (mw__encoder_find_word(&target->classes, word, length) >= 0)
        return MW_OK;
    if (target->classes.count == MW__ENCODER_WORDS_MAX)
        return mw__records_fail(rows, cell, target->name, err, "the target has more than %d classes; is it a value?",
                                MW__ENCODER_WORDS_MAX);
    return mw__encoder_add_word(&target->classes, &e->arena, word, length, err);
}

static mw_status take_target(fitting *f, bool is_training)
{
    double value;
    if (f->encoder->targets[0].kind == MW_TARGET_CLASS)
        return mw__encoder_take_class(f->encoder, f->rows, f->err);
    for (size_t i = 0; is_training && i < f->encoder->target_count; i++) {
        MW_TRY(mw__encoder_target_value(&f->encoder->targets[i], f->rows, &value, f->err));
        mw__encoder_add_sum(&f->targets[i], value);
    }
    return MW_OK;
}

/* ---- what comes of it ---- */

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(field_sums *sums)
{
    if (sums->count == 0)
        return 0;
    qsort(sums->values, sums->count, sizeof *sums->values, compare_values);
    const size_t half = sums->count / 2;
    return sums->count % 2 == 1 ? sums->values[half] : sums->values[half - 1] / 2 + sums->values[half] / 2;
}

/* A round number near the mean, if fp32 has large steps there beside the deviation. */
static double offset_of(const mw__encoder_scale *scale, double peak)
{
    if (scale->deviation == 0 || peak * 0x1p-24 <= 0x1p-12 * scale->deviation)
        return 0;
    const double unit = pow(10, floor(log10(scale->deviation)));
    return round(scale->mean / unit) * unit;
}

static void finish_number(mw__encoder_field *field, field_sums *sums)
{
    field->fill = field->rule == MW_MISSING_CONSTANT ? field->constant
                  : field->rule == MW_MISSING_MEDIAN ? median_of(sums)
                                                     : sums->value.mean;
    add_many(&sums->value, field->fill, (double)field->missing);
    field->value = scale_of(&sums->value);
    field->offset = field->kind == MW_FIELD_NUMBER ? offset_of(&field->value, sums->value.peak) : 0;
}

/* A missing date has the mean year and age, so that these keep their means. */
static void finish_date(mw__encoder_field *field, field_sums *sums)
{
    field->newest = sums->newest;
    add_many(&sums->value, sums->value.mean, (double)field->missing);
    add_many(&sums->age, sums->age.mean, (double)field->missing);
    field->value = scale_of(&sums->value);
    field->age = scale_of(&sums->age);
    field->offset = round(field->value.mean);
    field->age.mean = sums->newest - sums->first_day - field->age.mean;
}

/* An id that hardly any row shares with another tells nothing of the next one. */
static void check_found_id(const fitting *f, mw__encoder_field *field)
{
    if (2 * (int64_t)field->words.count <= f->learned && field->words.count < MW__ENCODER_WORDS_MAX)
        return;
    mw__encoder_words_deinit(&field->words, f->encoder->allocator);
    mw__encoder_words_init(&field->words, f->encoder->allocator);
    field->kind = MW_FIELD_IGNORED;
    field->reason = "it names the rows";
    field->missing = 0;
}

static mw_status finish_field(fitting *f, mw__encoder_field *field, field_sums *sums)
{
    const bool has_numbers = field->kind == MW_FIELD_NUMBER || field->kind == MW_FIELD_BOOLEAN;
    if (field->kind == MW_FIELD_ID && field->is_found)
        check_found_id(f, field);
    if (field->kind == MW_FIELD_SEQUENCE) {
        field->value = scale_of(&sums->value);
        field->length = sums->length > 0 ? sums->length : 1;
    }
    if (has_numbers)
        finish_number(field, sums);
    else if (field->kind == MW_FIELD_DATE)
        finish_date(field, sums);
    field->has_indicator = (has_numbers || field->kind == MW_FIELD_DATE) && field->missing > 0;
    return mw__encoder_keeps_words(field) ? mw__encoder_sort_words(&field->words, f->err) : MW_OK;
}

static mw_status finish(fitting *f)
{
    mw_table_encoder *e = f->encoder;
    for (size_t i = 0; i < e->field_count; i++)
        MW_TRY(finish_field(f, &e->fields[i], &f->sums[i]));
    if (e->targets[0].kind == MW_TARGET_CLASS)
        MW_TRY(mw__encoder_sort_words(&e->targets[0].classes, f->err));
    for (size_t i = 0; e->targets[0].kind == MW_TARGET_VALUE && i < e->target_count; i++)
        if (e->targets[i].scale != MW_TARGET_AS_IT_IS)
            e->targets[i].value = scale_of(&f->targets[i]);
    return mw__encoder_place_columns(e, f->err);
}

static mw_status take_rows(fitting *f, const uint8_t *parts)
{
    mw_table_encoder *e = f->encoder;
    for (bool more;;) {
        MW_TRY(mw__records_next(f->rows, &more, f->err));
        if (!more)
            return MW_OK;
        const bool is_training = parts[f->rows->rows - 1] == 0;
        MW_TRY(take_target(f, is_training));
        f->learned += is_training;
        for (size_t i = 0; is_training && i < e->field_count; i++)
            MW_TRY(take_cell(f, i, &f->rows->cells[e->fields[i].place]));
    }
}

mw_status mw__encoder_fit_rows(mw_table_encoder *encoder, mw__records *rows, const uint8_t *parts, mw_error *err)
{
    fitting f = {.encoder = encoder, .rows = rows, .err = err};
    f.sums = mw__alloc(encoder->allocator, encoder->field_count, sizeof *f.sums, err);
    f.targets = mw__alloc(encoder->allocator, encoder->target_count, sizeof *f.targets, err);
    mw_status status = f.sums != NULL && f.targets != NULL ? take_rows(&f, parts) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = finish(&f);
    for (size_t i = 0; f.sums != NULL && i < encoder->field_count; i++)
        mw__free(encoder->allocator, f.sums[i].values);
    mw__free(encoder->allocator, f.targets);
    mw__free(encoder->allocator, f.sums);
    return status;
}
