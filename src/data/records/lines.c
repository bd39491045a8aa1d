/* Rows of JSON Lines: an object a line, whose members are cells. Strings are cells as they are, numbers as they are
 * written, true and false as words; null is a missing cell, and so is a key that the object has not. */
#include "base/text/json.h"
#include "base/text/string.h"
#include "data/records/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct reading {
    mw__records *rows;
    bool lists;      /* keys become fields; else values become cells */
    bool in_list;    /* of values, which belong to the cell */
    size_t cell;     /* whose value comes next */
    size_t capacity; /* of the list of cells */
} reading;

static mw_status take_key(reading *r, const mw__json_item *item, mw_error *err)
{
    mw__records *rows = r->rows;
    const mw__records_cell here = {.line = rows->line, .column = item->offset + 1};
    const void *found = mw__map_get_n(&rows->by_name, item->text, item->length);
    if (found == NULL && memchr(item->text, '\0', item->length) != NULL)
        return mw__records_fail(rows, &here, NULL, err, "the name of a field has a NUL");
    if (found == NULL && r->lists) {
        if (rows->count == MW__RECORDS_KEYS_MAX)
            return mw__records_fail(rows, &here, NULL, err,
                                    "more than 4096 keys in the first 64 KiB; write the table as CSV");
        return mw__records_add_field(rows, item->text, item->length, err);
    }
    if (found == NULL)
        return mw__records_fail(
            rows, &here, item->text, err,
            "no object of the first 64 KiB has this key: put it into the first line, if only as null");
    r->cell = (size_t)(uintptr_t)found - 1;
    return MW_OK;
}

/* Where the text begins is noted as a number, as the texts may move. */
static mw_status put_cell(reading *r, const char *text, size_t length, mw__records_cell_kind kind, mw_error *err)
{
    mw__records *rows = r->rows;
    if (r->lists)
        return MW_OK;
    rows->cells[r->cell].kind = kind;
    rows->cells[r->cell].column = rows->texts.size;
    rows->cells[r->cell].length = length;
    mw__text_append(&rows->texts, text, length);
    return mw__text_check(&rows->texts, err);
}

/* The text of a value; NULL for null, arrays and objects. `number` has 24 bytes. */
static const char *text_of(const mw__json_item *item, char *number, size_t *out_length)
{
    const char *text = NULL;
    if (item->event == MW__JSON_STRING || item->event == MW__JSON_REAL) {
        *out_length = item->length;
        return item->text;
    }
    if (item->event == MW__JSON_NUMBER) {
        snprintf(number, 24, "%" PRIu64, item->number);
        text = number;
    }
    text = item->event == MW__JSON_TRUE ? "true" : item->event == MW__JSON_FALSE ? "false" : text;
    *out_length = text != NULL ? strlen(text) : 0;
    return text;
}

static mw_status put_value(reading *r, const mw__json_item *item, mw_error *err)
{
    char number[24];
    size_t length;
    const char *text = text_of(item, number, &length);
    r->in_list = item->event == MW__JSON_BEGIN_ARRAY;
    return put_cell(r, text != NULL ? text : "", length,
                    text != NULL                   ? MW__RECORDS_TEXT
                    : item->event == MW__JSON_NULL ? MW__RECORDS_MISSING
                    : r->in_list                   ? MW__RECORDS_LIST
                                                   : MW__RECORDS_NESTED,
                    err);
}

/* A value of the array that the cell is. */
static mw_status put_element(reading *r, const mw__json_item *item, mw_error *err)
{
    char number[24];
    size_t length;
    const char *text = text_of(item, number, &length);
    mw__records_cell *cell = &r->rows->cells[r->cell];
    if (text == NULL || memchr(text, '\0', length) != NULL) {
        cell->kind = MW__RECORDS_NESTED;
        r->in_list = false;
        return MW_OK;
    }
    mw__text_append(&r->rows->texts, text, length);
    mw__text_append(&r->rows->texts, "", 1);
    cell->length += length + 1;
    return mw__text_check(&r->rows->texts, err);
}

static mw_status take_item(void *user, const mw__json_item *item, mw_error *err)
{
    reading *r = user;
    const mw__records_cell here = {.line = r->rows->line, .column = 1};
    const bool ends = item->event == MW__JSON_END_OBJECT || item->event == MW__JSON_END_ARRAY;
    if (item->depth == 0)
        return item->event == MW__JSON_BEGIN_OBJECT || ends
                   ? MW_OK
                   : mw__records_fail(r->rows, &here, NULL, err, "the line is no JSON object");
    if (item->depth == 2 && r->in_list && !r->lists && !ends)
        return put_element(r, item, err);
    if (item->depth > 1 || ends)
        return MW_OK;
    return item->event == MW__JSON_KEY ? take_key(r, item, err) : put_value(r, item, err);
}

static mw_status explain(const mw__records *rows, const mw_error *why, mw_error *err)
{
    const mw__records_cell here = {.line = rows->line, .column = why->text_column > 0 ? (size_t)why->text_column : 1};
    if (strncmp(why->message, "JSON:", 5) == 0 && why->status == MW_ERROR_FORMAT)
        return mw__records_fail(rows, &here, NULL, err, "%s", why->message);
    if (err != NULL)
        *err = *why;
    return why->status;
}

static mw_status read_object(reading *r, const char *line, size_t length, mw_error *err)
{
    mw_error why = {0};
    mw__records *rows = r->rows;
    if (mw__json_read_all(rows->source.allocator, line, length, take_item, r, &why) != MW_OK)
        return explain(rows, &why, err);
    return MW_OK;
}

/* ---- lines ---- */

/* The line that begins at source.at, whole in the buffer. */
static mw_status find_line(mw__records *rows, size_t *out_length, bool *out_more, mw_error *err)
{
    mw__records_source *s = &rows->source;
    for (size_t done = 0;;) {
        const char *begin = s->text + s->at;
        const char *end = memchr(begin + done, '\n', s->size - s->at - done);
        *out_length = end != NULL ? (size_t)(end - begin) : s->size - s->at;
        *out_more = s->at < s->size;
        if (end != NULL || s->ended)
            return MW_OK;
        done = s->size - s->at;
        MW_TRY(mw__records_source_fill(s, err));
    }
}

static void pass_line(mw__records *rows, size_t length)
{
    rows->source.at += length;
    rows->source.at += rows->source.at < rows->source.size;
    rows->line++;
}

mw_status mw__records_list_keys(mw__records *rows, mw_error *err)
{
    reading r = {.rows = rows, .lists = true};
    bool more = true;
    for (size_t looked_at = 0, length = 0; more && looked_at < MW__RECORDS_SAMPLE; looked_at += length + 1) {
        MW_TRY(find_line(rows, &length, &more, err));
        if (more && !mw__string_is_blank(rows->source.text + rows->source.at, length))
            MW_TRY(read_object(&r, rows->source.text + rows->source.at, length, err));
        if (more)
            pass_line(rows, length);
    }
    rows->line = 1;
    if (rows->count == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no object with keys, {\"x\": 1, \"y\": 2}",
                        rows->source.path);
    return mw__records_source_rewind(&rows->source, err);
}

static mw_status begin_row(mw__records *rows, mw_error *err)
{
    MW_TRY(mw__grow(rows->source.allocator, &rows->cells, &rows->cell_capacity, rows->count, sizeof *rows->cells, err));
    rows->texts.size = 0;
    for (size_t i = 0; i < rows->count; i++)
        rows->cells[i] = (mw__records_cell){.line = rows->line, .kind = MW__RECORDS_MISSING};
    return MW_OK;
}

mw_status mw__records_read_line(mw__records *rows, bool *out_more, mw_error *err)
{
    reading r = {.rows = rows};
    size_t length;
    for (;; pass_line(rows, length)) {
        MW_TRY(find_line(rows, &length, out_more, err));
        if (!*out_more)
            return MW_OK;
        if (!mw__string_is_blank(rows->source.text + rows->source.at, length))
            break;
    }
    MW_TRY(begin_row(rows, err));
    MW_TRY(read_object(&r, rows->source.text + rows->source.at, length, err));
    for (size_t i = 0; i < rows->count; i++) {
        rows->cells[i].text = rows->texts.data != NULL ? rows->texts.data + rows->cells[i].column : "";
        rows->cells[i].column = 1;
    }
    pass_line(rows, length);
    return MW_OK;
}
