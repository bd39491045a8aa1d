/* JSON Lines: each line is an object for the reader of base/text/json.h; which of its keys is asked for is looked at
 * when it comes, so that the values of a column of several keys are put into their order at the end of the line. */
#include "base/file/file.h"
#include "base/number/number.h"
#include "base/text/json.h"
#include "base/text/string.h"
#include "base/text/text.h"
#include "data/table/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One value of a field that is asked for: text[offset ..] of the line's texts. */
typedef struct value {
    size_t offset, length;
    bool is_word;
} value;

/* A field that is asked for: where its values of this line are. */
typedef struct field {
    const char *name;
    size_t column, first, count;
    bool seen, is_array;
} field;

typedef struct reader {
    mw__table *table;
    field *fields; /* [field_count], in the order of the columns */
    size_t field_count, line;
    mw__map by_name; /* name -> the first field that is called so, which has the values */
    field *open;     /* whose value comes next; NULL = of a key that nobody asks for */
    value *values;
    size_t value_count, value_room;
    mw__text texts;
} reader;

static mw_status wrong(const reader *json, const field *f, const char *what, mw_error *err)
{
    const mw__table_place place = {.line = json->line, .column = 1, .field = f != NULL ? f->name : NULL};
    return mw__table_fail(json->table, &place, err, "%s", what);
}

/* ---- events ---- */

static field *find_field(const reader *json, const char *name, size_t length)
{
    return mw__map_get_n(&json->by_name, name, length);
}

static void begin_member(reader *json, const mw__json_item *key)
{
    json->open = find_field(json, key->text, key->length);
    if (json->open == NULL)
        return;
    json->open->seen = true;
    json->open->first = json->value_count;
    json->open->count = 0;
}

static mw_status add_value(reader *json, const char *text, size_t length, bool is_word, mw_error *err)
{
    MW_TRY(mw__grow(json->table->allocator, &json->values, &json->value_room, json->value_count + 1,
                    sizeof *json->values, err));
    json->values[json->value_count++] = (value){json->texts.size, length, is_word};
    json->open->count++;
    mw__text_append(&json->texts, text, length);
    mw__text_append(&json->texts, "", 1);
    return mw__text_check(&json->texts, err);
}

static mw_status take_scalar(reader *json, const mw__json_item *item, mw_error *err)
{
    char number[24];
    switch (item->event) {
    case MW__JSON_STRING:
        return add_value(json, item->text, item->length, true, err);
    case MW__JSON_REAL:
        return add_value(json, item->text, item->length, false, err);
    case MW__JSON_TRUE:
        return add_value(json, "1", 1, false, err);
    case MW__JSON_FALSE:
        return add_value(json, "0", 1, false, err);
    case MW__JSON_NUMBER:
        snprintf(number, sizeof number, "%" PRIu64, item->number);
        return add_value(json, number, strlen(number), false, err);
    default:
        return wrong(json, json->open, "it is null or an object; a number, a word or an array is wanted", err);
    }
}

static mw_status take_item(void *user, const mw__json_item *item, mw_error *err)
{
    reader *json = user;
    if (item->depth == 0)
        return item->event == MW__JSON_BEGIN_OBJECT || item->event == MW__JSON_END_OBJECT
                   ? MW_OK
                   : wrong(json, NULL, "the line is no JSON object", err);
    if (item->depth == 1 && item->event == MW__JSON_KEY)
        begin_member(json, item);
    else if (json->open == NULL || item->event == MW__JSON_END_ARRAY)
        return MW_OK;
    else if (item->event == MW__JSON_BEGIN_ARRAY)
        json->open->is_array = true;
    else
        return take_scalar(json, item, err);
    return MW_OK;
}

/* ---- lines ---- */

static mw_status put_field(reader *json, const field *f, mw_error *err)
{
    const field *from = find_field(json, f->name, strlen(f->name));
    const mw__table_place place = {.line = json->line, .column = 1, .field = f->name};
    if (!from->seen)
        return mw__table_fail(json->table, &place, err, "it is missing");
    if (from->is_array)
        json->table->columns[f->column].is_array = true;
    if (json->table->asked[f->column].classes && (from->count != 1 || from->is_array))
        return mw__table_fail(json->table, &place, err, "a class is one word, no array");
    for (size_t i = from->first; i < from->first + from->count; i++) {
        const value *v = &json->values[i];
        if (v->is_word && !json->table->asked[f->column].classes)
            return mw__table_fail(json->table, &place, err, "\"%.60s\" is a word; a number is wanted, or set `classes`",
                                  json->texts.data + v->offset);
        MW_TRY(mw__table_put(json->table, f->column, json->texts.data + v->offset, v->length, &place, err));
    }
    return MW_OK;
}

/* What the JSON reader says has the place in the line. */
static mw_status explain(const reader *json, const mw_error *reason, mw_error *err)
{
    if (reason->status != MW_ERROR_FORMAT || strncmp(reason->message, "JSON:", 5) != 0) {
        if (err != NULL)
            *err = *reason;
        return reason->status;
    }
    const mw__table_place place = {.line = json->line,
                                   .column = (size_t)(reason->text_column > 0 ? reason->text_column : 1)};
    return mw__table_fail(json->table, &place, err, "%s", reason->message);
}

static mw_status read_line(reader *json, const char *text, size_t size, mw_error *err)
{
    mw_error reason = {0};
    json->open = NULL;
    json->value_count = json->texts.size = 0;
    for (size_t i = 0; i < json->field_count; i++)
        json->fields[i].seen = json->fields[i].is_array = false;
    if (mw__json_read_all(json->table->allocator, text, size, take_item, json, &reason) != MW_OK)
        return explain(json, &reason, err);
    for (size_t i = 0; i < json->field_count; i++)
        MW_TRY(put_field(json, &json->fields[i], err));
    const mw__table_place place = {.line = json->line, .column = 1};
    return mw__table_end_row(json->table, &place, err);
}

static mw_status read_lines(reader *json, const char *text, size_t size, mw_error *err)
{
    const char *const end = text + size;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        text += 3;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((line_end != NULL ? line_end : end) - text);
        json->line++;
        if (!mw__string_is_blank(text, length))
            MW_TRY(read_line(json, text, length, err));
        text += length + (line_end != NULL);
    }
    return MW_OK;
}

static mw_status list_fields(reader *json, mw_error *err)
{
    const mw__table *table = json->table;
    for (size_t i = 0; i < table->column_count; i++)
        json->field_count += mw__table_field_count(&table->asked[i]);
    json->fields = mw__alloc(table->allocator, json->field_count, sizeof *json->fields, err);
    if (json->fields == NULL)
        return MW_ERROR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const size_t fields = mw__table_field_count(&table->asked[i]);
        table->columns[i].is_array = fields > 1;
        for (size_t k = 0; k < fields; k++) {
            field *f = &json->fields[at++];
            *f = (field){.name = mw__table_field(&table->asked[i], k), .column = i};
            if (mw__map_get(&json->by_name, f->name) == NULL)
                MW_TRY(mw__map_set(&json->by_name, f->name, f, err));
        }
    }
    return MW_OK;
}

mw_status mw__table_read_jsonl(mw__table *table, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    reader json = {.table = table};
    mw__text_init(&json.texts, table->allocator);
    mw__map_init(&json.by_name, table->allocator);
    mw_status status = list_fields(&json, err);
    if (status == MW_OK)
        status = mw__file_read(table->allocator, table->path, SIZE_MAX / 2, &text, &size, err);
    if (status == MW_OK)
        status = read_lines(&json, text, size, err);
    mw__map_deinit(&json.by_name);
    mw__free(table->allocator, json.fields);
    mw__free(table->allocator, json.values);
    mw__text_deinit(&json.texts);
    mw__free(table->allocator, text);
    return status;
}
