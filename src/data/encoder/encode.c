/* Rows of numbers from rows of cells, and data sets of them. */
#include "base/memory/checked.h"
#include "base/number/hash.h"
#include "data/encoder/encoder.h"
#include "runtime/data/classes.h"

#include <math.h>
#include <string.h>

/* ---- fields of a file ---- */

static mw_status bind_series(mw_table_encoder *encoder, const mw__records *rows, mw_error *err)
{
    mw__encoder_window *w = &encoder->window;
    if (w->series[0] == '\0' || mw__records_find(rows, w->series, &w->place))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no field \"%.100s\" among its %zu, which names the series",
                    rows->source.path, w->series, rows->count);
}

static void bind_targets(mw_table_encoder *encoder, const mw__records *rows, bool has_target)
{
    for (size_t i = 0; has_target && i < encoder->target_count; i++)
        has_target = mw__records_find(rows, encoder->targets[i].name, &encoder->targets[i].place);
    if (!has_target)
        encoder->targets[0].place = SIZE_MAX;
}

mw_status mw__encoder_bind(mw_table_encoder *encoder, const mw__records *rows, bool has_target, mw_error *err)
{
    for (size_t i = 0; i < encoder->field_count; i++) {
        mw__encoder_field *f = &encoder->fields[i];
        f->place = SIZE_MAX;
        if (f->kind != MW_FIELD_IGNORED && !mw__records_find(rows, f->name, &f->place))
            return mw__fail(err, MW_ERROR_FORMAT,
                            "\"%.300s\" has no field \"%.100s\" among its %zu, which the table has "
                            "that was learned",
                            rows->source.path, f->name, rows->count);
    }
    bind_targets(encoder, rows, has_target);
    return bind_series(encoder, rows, err);
}

/* ---- cells ---- */

typedef struct encoding {
    const mw_table_encoder *encoder;
    const mw__records *rows;
    mw__encoder_words *series; /* names of series so far, in `names` */
    mw__arena *names;
    mw_error *err;
} encoding;

static mw_status put_number(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *out)
{
    const bool is_boolean = f->kind == MW_FIELD_BOOLEAN;
    double value = f->fill;
    const bool is_missing = mw__encoder_is_missing(cell);
    if (!is_missing && !(is_boolean ? mw__encoder_read_boolean(cell, &value)
                                    : mw__encoder_read_number(cell, c->rows->form.decimal, &value)))
        return mw__encoder_refuse(c->rows, cell, f->name, is_boolean ? "truth, as true or no" : "finite number",
                                  c->err);
    out[0] = (float)(value - f->offset);
    if (!isfinite(out[0]))
        return mw__encoder_refuse(c->rows, cell, f->name, "number that fp32 has", c->err);
    if (f->has_indicator)
        out[1] = is_missing;
    return MW_OK;
}

static void put_circle(double share, float *out)
{
    const double angle = 2 * 3.14159265358979323846 * share;
    out[0] = (float)sin(angle);
    out[1] = (float)cos(angle);
}

static mw_status put_date(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *out)
{
    mw__encoder_date date;
    const bool is_missing = mw__encoder_is_missing(cell);
    if (f->has_indicator)
        out[f->columns - 1] = is_missing;
    out[MW__DATE_YEAR] = (float)(f->value.mean - f->offset);
    out[MW__DATE_AGE] = (float)f->age.mean;
    if (is_missing)
        return MW_OK;
    if (!mw__encoder_read_date(cell, f->day_first, &date))
        return mw__encoder_refuse(c->rows, cell, f->name, "date", c->err);
    out[MW__DATE_YEAR] = (float)(date.year - f->offset);
    out[MW__DATE_AGE] = (float)(f->newest - date.days);
    put_circle((date.month - 1) / 12.0, out + MW__DATE_MONTH);
    put_circle(date.weekday / 7.0, out + MW__DATE_WEEKDAY);
    if (f->has_time)
        put_circle(date.days - floor(date.days), out + MW__DATE_HOUR);
    return MW_OK;
}

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* A word adds 1 or -1 to the column that its hash says, in lower case as ASCII has it; longer ones than 64 bytes by
 * their begin. */
static void add_hash(const char *word, size_t length, const mw__encoder_field *f, float *out)
{
    char low[64];
    length = length < sizeof low ? length : sizeof low;
    for (size_t i = 0; i < length; i++)
        low[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
    const uint64_t hash = mw__hash64(low, length, 0);
    out[hash % (uint64_t)f->width] += hash >> 63 != 0 ? -1.0f : 1.0f;
}

static mw_status put_text(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *out)
{
    double square = 0;
    if (cell->kind == MW__RECORDS_LIST || cell->kind == MW__RECORDS_NESTED)
        return mw__encoder_refuse(c->rows, cell, f->name, "text", c->err);
    for (size_t at = 0; at < cell->length && !mw__encoder_is_missing(cell); at++) {
        const size_t begin = at;
        while (at < cell->length && is_of_word(cell->text[at]))
            at++;
        if (at > begin)
            add_hash(cell->text + begin, at - begin, f, out);
    }
    for (int64_t i = 0; i < f->width; i++)
        square += (double)out[i] * (double)out[i];
    for (int64_t i = 0; i < f->width && square > 0; i++)
        out[i] = (float)(out[i] / sqrt(square));
    return MW_OK;
}

static mw_status put_word(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *out)
{
    char number[32];
    const char *word = "";
    size_t length = 0;
    if (!mw__encoder_is_missing(cell) &&
        !mw__encoder_read_word(cell, f->kind, c->rows->form.decimal, number, &word, &length))
        return mw__encoder_refuse(c->rows, cell, f->name, f->kind == MW_FIELD_ID ? "integer" : "word", c->err);
    const int64_t found = mw__encoder_find_word(&f->words, word, length);
    out[0] = (float)(found >= 0 ? found : (int64_t)f->words.count);
    return MW_OK;
}

/* The number of the word, or the value. */
static mw_status put_element(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *out)
{
    char number[32];
    const char *word = "";
    size_t length = 0;
    double value = 0;
    if (f->has_values && !mw__encoder_read_number(cell, '.', &value))
        return mw__encoder_refuse(c->rows, cell, f->name, "finite number", c->err);
    if (!f->has_values && !mw__encoder_element_word(cell, number, &word, &length))
        return mw__encoder_refuse(c->rows, cell, f->name, "word", c->err);
    const int64_t found = f->has_values ? 0 : mw__encoder_find_word(&f->words, word, length);
    *out = f->has_values ? (float)value : (float)(found >= 0 ? found : (int64_t)f->words.count);
    return isfinite(*out) ? MW_OK : mw__encoder_refuse(c->rows, cell, f->name, "number that fp32 has", c->err);
}

/* How many there are, up to the length, and each of them. */
static mw_status put_sequence(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *out)
{
    int64_t count = 0;
    mw__records_cell element;
    if (mw__encoder_is_missing(cell))
        return MW_OK;
    if (cell->kind == MW__RECORDS_NESTED)
        return mw__encoder_refuse(c->rows, cell, f->name, "list of words or numbers", c->err);
    mw__encoder_elements elements = mw__encoder_elements_of(cell);
    for (; count < f->length && mw__encoder_next_element(&elements, &element); count++)
        MW_TRY(put_element(c, f, &element, out + 1 + count));
    out[0] = (float)count;
    return MW_OK;
}

static mw_status put_cell(const encoding *c, const mw__encoder_field *f, const mw__records_cell *cell, float *row)
{
    float *out = row + f->first;
    switch (f->kind) {
    case MW_FIELD_NUMBER:
    case MW_FIELD_BOOLEAN:
        return put_number(c, f, cell, out);
    case MW_FIELD_DATE:
        return put_date(c, f, cell, out);
    case MW_FIELD_TEXT:
        return put_text(c, f, cell, out);
    case MW_FIELD_CATEGORY:
    case MW_FIELD_ID:
        return put_word(c, f, cell, out);
    case MW_FIELD_SEQUENCE:
        return put_sequence(c, f, cell, out);
    default:
        return MW_OK;
    }
}

static mw_status put_row(const encoding *c, float *row)
{
    const mw_table_encoder *e = c->encoder;
    for (size_t i = 0; i < e->field_count; i++)
        if (e->fields[i].kind != MW_FIELD_IGNORED)
            MW_TRY(put_cell(c, &e->fields[i], &c->rows->cells[e->fields[i].place], row));
    return MW_OK;
}

mw_status mw__encoder_encode_row(const mw_table_encoder *encoder, const mw__records *rows, float *out, mw_error *err)
{
    const encoding c = {.encoder = encoder, .rows = rows, .err = err};
    memset(out, 0, (size_t)encoder->columns * sizeof *out);
    return put_row(&c, out);
}

/* ---- the target ---- */

static mw_status put_class(const encoding *c, int64_t *out)
{
    const mw_table_encoder *e = c->encoder;
    const mw__records_cell *cell = &c->rows->cells[e->targets[0].place];
    char number[32];
    const char *word;
    size_t length;
    if (mw__encoder_is_empty(cell))
        return mw__records_fail(c->rows, cell, e->targets[0].name, c->err,
                                "the target is missing; leave the row out, or fill it");
    if (!mw__encoder_read_word(cell, MW_FIELD_CATEGORY, '.', number, &word, &length))
        return mw__encoder_refuse(c->rows, cell, e->targets[0].name, "word", c->err);
    *out = mw__encoder_find_word(&e->targets[0].classes, word, length);
    return *out >= 0 ? MW_OK
                     : mw__records_fail(c->rows, cell, e->targets[0].name, c->err,
                                        "\"%.*s\" is none of the %zu classes that were learned",
                                        (int)(length < 60 ? length : 60), word, e->targets[0].classes.count);
}

mw_status mw__encoder_encode_class(const mw_table_encoder *encoder, const mw__records *rows, int64_t *out,
                                   mw_error *err)
{
    const encoding c = {.encoder = encoder, .rows = rows, .err = err};
    return put_class(&c, out);
}

static mw_status put_value(const encoding *c, const mw__encoder_target *target, float *out)
{
    double value;
    const mw__encoder_scale *scale = &target->value;
    MW_TRY(mw__encoder_target_value(target, c->rows, &value, c->err));
    *out = (float)((value - scale->mean) / (scale->deviation > 0 ? scale->deviation : 1));
    if (isfinite(*out))
        return MW_OK;
    return mw__encoder_refuse(c->rows, &c->rows->cells[target->place], target->name, "number that fp32 has", c->err);
}

static mw_status put_values(const encoding *c, float *out)
{
    for (size_t i = 0; i < c->encoder->target_count; i++)
        MW_TRY(put_value(c, &c->encoder->targets[i], out + i));
    return MW_OK;
}

/* ---- a part ---- */

/* Columns that grow row by row. */
typedef struct part {
    float *x;         /* [rows, columns] */
    void *y;          /* [rows, targets] */
    uint32_t *series; /* [rows] number of the series; NULL = all are one */
    size_t rows;
    size_t x_capacity, y_capacity, series_capacity; /* elements */
} part;

/* The number of the series that the row is of. */
static mw_status put_series(const encoding *c, part *p)
{
    const mw__encoder_window *w = &c->encoder->window;
    const mw__records_cell *cell = &c->rows->cells[w->place];
    char number[32];
    const char *word = "";
    size_t length = 0;
    MW_TRY(mw__grow(c->encoder->allocator, &p->series, &p->series_capacity, p->rows + 1, sizeof *p->series, c->err));
    if (!mw__encoder_is_missing(cell) && !mw__encoder_read_word(cell, MW_FIELD_CATEGORY, '.', number, &word, &length))
        return mw__encoder_refuse(c->rows, cell, w->series, "word", c->err);
    int64_t found = mw__encoder_find_word(c->series, word, length);
    if (found < 0) {
        found = (int64_t)c->series->count;
        MW_TRY(mw__encoder_add_word(c->series, c->names, word, length, c->err));
    }
    p->series[p->rows] = (uint32_t)found;
    return MW_OK;
}

static mw_status add_row(const encoding *c, part *p)
{
    const mw_table_encoder *e = c->encoder;
    const size_t columns = (size_t)e->columns, used = p->rows * columns;
    const bool is_class = e->targets[0].kind == MW_TARGET_CLASS;
    MW_TRY(mw__grow(e->allocator, &p->x, &p->x_capacity, used + columns, sizeof *p->x, c->err));
    memset(p->x + used, 0, columns * sizeof *p->x);
    MW_TRY(put_row(c, p->x + used));
    if (e->targets[0].place != SIZE_MAX) {
        MW_TRY(mw__grow(e->allocator, &p->y, &p->y_capacity, (p->rows + 1) * e->target_count,
                        is_class ? sizeof(int64_t) : sizeof(float), c->err));
        MW_TRY(is_class ? put_class(c, (int64_t *)p->y + p->rows)
                        : put_values(c, (float *)p->y + p->rows * e->target_count));
    }
    if (e->window.length > 0 && e->window.series[0] != '\0')
        MW_TRY(put_series(c, p));
    p->rows++;
    return MW_OK;
}

static mw_status name_classes(const mw_table_encoder *e, mw_dataset *dataset, mw_error *err)
{
    const mw__class_list lists[] = {{0}, {e->targets[0].classes.names, e->targets[0].classes.count}};
    return e->targets[0].kind == MW_TARGET_CLASS ? mw__dataset_keep_classes(dataset, lists, err) : MW_OK;
}

/* Takes the arrays of the part over but that of the series. */
static mw_dataset *make_rows(const mw_table_encoder *e, part *p, mw_error *err)
{
    const bool has_target = e->targets[0].place != SIZE_MAX;
    mw_column columns[] = {
        {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(e->columns), .data = p->x},
        {.name = "y", .dtype = e->targets[0].kind == MW_TARGET_CLASS ? MW_I64 : MW_F32, .data = p->y}};
    if (e->target_count > 1)
        columns[1].shape = MW_SHAPE((int64_t)e->target_count);
    mw_dataset *set = mw__dataset_from_memory(e->allocator, columns, has_target ? 2 : 1, (int64_t)p->rows, false, err);
    if (set == NULL)
        return NULL;
    set->owned[0] = p->x;
    p->x = NULL;
    if (has_target) {
        set->owned[1] = p->y;
        p->y = NULL;
        if (name_classes(e, set, err) != MW_OK) {
            mw_dataset_destroy(set);
            return NULL;
        }
    }
    return set;
}

static mw_dataset *make_set(const encoding *c, part *p)
{
    mw_dataset *rows = make_rows(c->encoder, p, c->err);
    if (rows == NULL || c->encoder->window.length == 0)
        return rows;
    mw_dataset *windows = mw__encoder_make_windows(c->encoder, rows, p->series, c->rows->source.path, c->err);
    mw_dataset_destroy(rows);
    return windows;
}

/* Rows that were counted before have their place at once. */
static mw_status reserve(const encoding *c, const mw__records *rows, const uint8_t *parts, part out[2])
{
    const mw_table_encoder *e = c->encoder;
    const size_t size = e->targets[0].kind == MW_TARGET_CLASS ? sizeof(int64_t) : sizeof(float);
    size_t counts[3] = {0, 0, 0}, numbers;
    for (int64_t i = 0; parts != NULL && i < rows->rows_max; i++)
        counts[parts[i]]++;
    for (int k = 0; k < 2; k++) {
        if (counts[k] == 0)
            continue;
        if (!mw__mul_size(counts[k], (size_t)e->columns, &numbers))
            return mw__fail(c->err, MW_ERROR_MEMORY, "table: there is no memory for %zu rows", counts[k]);
        MW_TRY(mw__grow(e->allocator, &out[k].x, &out[k].x_capacity, numbers, sizeof *out[k].x, c->err));
        MW_TRY(mw__grow(e->allocator, &out[k].y, &out[k].y_capacity, counts[k] * e->target_count, size, c->err));
    }
    return MW_OK;
}

static mw_status read_parts(const encoding *c, mw__records *rows, const uint8_t *parts, part out[2])
{
    for (bool more;;) {
        MW_TRY(mw__records_next(rows, &more, c->err));
        if (!more)
            return MW_OK;
        const uint8_t kind = parts != NULL ? parts[rows->rows - 1] : MW__PART_LEARNED;
        if (kind != MW__PART_NEITHER)
            MW_TRY(add_row(c, &out[kind]));
    }
}

static mw_status encode_parts(const encoding *c, mw__records *rows, const uint8_t *parts, mw_dataset *out[2])
{
    const mw_allocator *allocator = c->encoder->allocator;
    part made[2] = {{0}, {0}};
    mw_status status = reserve(c, rows, parts, made);
    if (status == MW_OK)
        status = read_parts(c, rows, parts, made);
    for (int i = 0; i < 2; i++) {
        out[i] = status == MW_OK && made[i].rows > 0 ? make_set(c, &made[i]) : NULL;
        if (made[i].rows > 0 && out[i] == NULL && status == MW_OK)
            status = mw__failed(c->err) ? c->err->status : MW_ERROR_MEMORY;
        mw__free(allocator, made[i].x);
        mw__free(allocator, made[i].y);
        mw__free(allocator, made[i].series);
    }
    return status;
}

mw_status mw__encoder_encode(const mw_table_encoder *encoder, mw__records *rows, const uint8_t *parts,
                             mw_dataset *out[2], mw_error *err)
{
    mw__encoder_words series;
    mw__arena names;
    const encoding c = {.encoder = encoder, .rows = rows, .series = &series, .names = &names, .err = err};
    mw__arena_init(&names, encoder->allocator);
    mw__encoder_words_init(&series, encoder->allocator);
    const mw_status status = encode_parts(&c, rows, parts, out);
    mw__encoder_words_deinit(&series, encoder->allocator);
    mw__arena_deinit(&names);
    if (status != MW_OK && out[0] != NULL) {
        mw_dataset_destroy(out[0]);
        out[0] = NULL;
    }
    return status;
}
