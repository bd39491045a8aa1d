/* CSV by RFC 4180. The text is one copy of the file, in which quoted fields are unquoted in place.
 *
 *     file   ::= bom? row*            row   ::= field (separator field)* (CRLF | LF | end)
 *     field  ::= plain | '"' (any but '"' | '""')* '"' */
#include "base/file/file.h"
#include "base/text/printable.h"
#include "data/table/table.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS_MAX = 65536 };

typedef struct span {
    const char *text;
    size_t length, line, column;
} span;

typedef struct reader {
    mw__table *table;
    char *at, *end;
    const char *line_start;
    size_t line;
    char separator;
    span *fields; /* of the row */
    size_t count, room;
    span *header; /* of the first row; texts stay, as fields are unquoted in place */
    size_t header_count;
    size_t *chosen; /* field of the header for each that is asked for */
} reader;

/* ---- rows ---- */

static mw_status malformed_csv(const reader *csv, size_t line, size_t column, const char *what, mw_error *err)
{
    const mw__table_place place = {.line = line, .column = column};
    return mw__table_fail(csv->table, &place, err, "%s", what);
}

static size_t column_of(const reader *csv, const char *at) { return (size_t)(at - csv->line_start) + 1; }

static void note_line(reader *csv)
{
    csv->line++;
    csv->line_start = csv->at;
}

/* Behind the opening quote; moves what is quoted together. */
static mw_status read_quoted(reader *csv, span *out, mw_error *err)
{
    char *write = csv->at;
    out->text = write;
    for (;; csv->at++) {
        if (csv->at == csv->end)
            return malformed_csv(csv, out->line, out->column, "the quote is not closed", err);
        if (*csv->at == '"') {
            if (++csv->at == csv->end || *csv->at != '"')
                break;
        } else if (*csv->at == '\n') {
            csv->line++;
            csv->line_start = csv->at + 1;
        }
        *write++ = *csv->at;
    }
    out->length = (size_t)(write - out->text);
    return MW_OK;
}

static bool at_end_of_field(const reader *csv)
{
    return csv->at == csv->end || *csv->at == csv->separator || *csv->at == '\n' ||
           (*csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n');
}

static mw_status read_field(reader *csv, mw_error *err)
{
    if (csv->count == FIELDS_MAX)
        return malformed_csv(csv, csv->line, column_of(csv, csv->at), "more than 65536 fields in a row", err);
    MW_TRY(mw__grow(csv->table->allocator, &csv->fields, &csv->room, csv->count + 1, sizeof *csv->fields, err));
    span *out = &csv->fields[csv->count++];
    *out = (span){.text = csv->at, .line = csv->line, .column = column_of(csv, csv->at)};
    if (csv->at < csv->end && *csv->at == '"') {
        csv->at++;
        MW_TRY(read_quoted(csv, out, err));
        if (!at_end_of_field(csv))
            return malformed_csv(csv, csv->line, column_of(csv, csv->at), "something stands behind the closing quote",
                                 err);
        return MW_OK;
    }
    for (; !at_end_of_field(csv); csv->at++)
        if (*csv->at == '"')
            return malformed_csv(csv, csv->line, column_of(csv, csv->at), "a quote in a field that is not quoted", err);
    out->length = (size_t)(csv->at - out->text);
    return MW_OK;
}

static void skip_empty_lines(reader *csv)
{
    while (csv->at < csv->end) {
        if (*csv->at == '\n')
            csv->at++;
        else if (*csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n')
            csv->at += 2;
        else
            return;
        note_line(csv);
    }
}

/* row ::= field (separator field)* (CRLF | LF | end) */
static mw_status read_row(reader *csv, mw_error *err)
{
    csv->count = 0;
    for (;;) {
        MW_TRY(read_field(csv, err));
        if (csv->at == csv->end)
            return MW_OK;
        if (*csv->at != csv->separator)
            break;
        csv->at++;
    }
    csv->at += *csv->at == '\r' ? 2 : 1;
    note_line(csv);
    return MW_OK;
}

/* ---- which fields ---- */

/* What a name of the header leads to, as pointers of a map: the place of its field from 1 on, or that there are
 * several.
 */
static char several;

/* Names of the header by their places. Without a header fields are called by their numbers. */
static mw_status map_names(const reader *csv, mw__map *places, mw_error *err)
{
    char number[24];
    for (size_t i = 0; i < csv->header_count; i++) {
        const int digits = snprintf(number, sizeof number, "%zu", i);
        const span own = {.text = number, .length = (size_t)digits};
        const span *name = csv->header != NULL ? &csv->header[i] : &own;
        void *place = mw__map_get_n(places, name->text, name->length) == NULL ? (void *)(uintptr_t)(i + 1) : &several;
        MW_TRY(mw__map_set_n(places, name->text, name->length, place, err));
    }
    return MW_OK;
}

static mw_status choose_field(const reader *csv, const mw__map *places, const char *name, size_t *out, mw_error *err)
{
    const void *place = mw__map_get(places, name);
    if (place != NULL && place != &several) {
        *out = (size_t)(uintptr_t)place - 1;
        return MW_OK;
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.300s\" has %s field \"%.100s\" among its %zu", csv->table->path,
                    place == NULL ? "no" : "more than one", name, csv->header_count);
}

static mw_status choose_named(reader *csv, const mw__map *places, mw_error *err)
{
    const mw__table *table = csv->table;
    size_t at = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const size_t fields = mw__table_field_count(&table->asked[i]);
        table->columns[i].width = fields;
        table->columns[i].is_array = fields > 1;
        for (size_t k = 0; k < fields; k++)
            MW_TRY(choose_field(csv, places, mw__table_field(&table->asked[i], k), &csv->chosen[at++], err));
    }
    return MW_OK;
}

static mw_status choose_fields(reader *csv, mw_error *err)
{
    const mw__table *table = csv->table;
    mw__map places;
    size_t count = 0;
    for (size_t i = 0; i < table->column_count; i++)
        count += mw__table_field_count(&table->asked[i]);
    csv->chosen = mw__alloc(table->allocator, count, sizeof *csv->chosen, err);
    if (csv->chosen == NULL)
        return MW_ERROR_MEMORY;
    mw__map_init(&places, table->allocator);
    mw_status status = map_names(csv, &places, err);
    if (status == MW_OK)
        status = choose_named(csv, &places, err);
    mw__map_deinit(&places);
    return status;
}

static mw_status take_row(reader *csv, mw_error *err)
{
    mw__table *table = csv->table;
    const mw__table_place place = {.line = csv->fields[0].line, .column = 1};
    if (csv->count != csv->header_count)
        return mw__table_fail(table, &place, err, "it has %zu fields, the first line %zu", csv->count,
                              csv->header_count);
    size_t at = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        for (size_t k = 0; k < table->columns[i].width; k++) {
            const span *field = &csv->fields[csv->chosen[at++]];
            const mw__table_place where = {field->line, field->column, mw__table_field(&table->asked[i], k)};
            MW_TRY(mw__table_put(table, i, field->text, field->length, &where, err));
        }
    }
    return mw__table_end_row(table, &place, err);
}

/* ---- the file ---- */

static mw_status read_header(reader *csv, bool no_header, mw_error *err)
{
    skip_empty_lines(csv);
    if (csv->at == csv->end)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is empty", csv->table->path);
    MW_TRY(read_row(csv, err));
    csv->header_count = csv->count;
    if (no_header) {
        MW_TRY(choose_fields(csv, err));
        return take_row(csv, err);
    }
    csv->header = csv->fields;
    csv->fields = NULL;
    csv->room = 0;
    return choose_fields(csv, err);
}

static mw_status read_rows(reader *csv, bool no_header, mw_error *err)
{
    if (csv->end - csv->at >= 3 && memcmp(csv->at, "\xef\xbb\xbf", 3) == 0)
        csv->line_start = csv->at += 3;
    MW_TRY(read_header(csv, no_header, err));
    for (skip_empty_lines(csv); csv->at < csv->end; skip_empty_lines(csv)) {
        MW_TRY(read_row(csv, err));
        MW_TRY(take_row(csv, err));
    }
    return MW_OK;
}

mw_status mw__table_read_csv(mw__table *table, const mw_table_options *options, mw_error *err)
{
    char *text;
    size_t size;
    if (options->separator == '\0' || strchr(",;|\t", options->separator) == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: the separator is 0x%02x, not ',', ';', '|' or a tab",
                        (unsigned char)options->separator);
    MW_TRY(mw__file_read(table->allocator, table->path, SIZE_MAX / 2, &text, &size, err));
    reader csv = {
        .table = table, .at = text, .end = text + size, .line_start = text, .line = 1, .separator = options->separator};
    const mw_status status = read_rows(&csv, options->no_header, err);
    mw__free(table->allocator, csv.fields);
    mw__free(table->allocator, csv.header);
    mw__free(table->allocator, csv.chosen);
    mw__free(table->allocator, text);
    return status;
}
