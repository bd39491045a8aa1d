/* A table that is read row by row: its form, its fields, its rows. */
#include "data/records/records.h"
#include "base/text/printable.h"
#include "base/text/spelling.h"
#include "base/text/string.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mw_status mw__records_fail(const mw__records *rows, const mw__records_cell *cell, const char *field, mw_error *err,
                           const char *format, ...)
{
    char what[400], named[140] = "";
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (field != NULL)
        mw__printable_printf(named, sizeof named, ", field \"%.100s\"", field);
    const size_t line = cell != NULL ? cell->line : 1, column = cell != NULL ? cell->column : 1;
    mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\", line %zu%s: %s", rows->source.path, line, named, what);
    mw__error_position(err, line < INT_MAX ? (int)line : INT_MAX, column < INT_MAX ? (int)column : INT_MAX);
    return MW_ERROR_FORMAT;
}

mw_status mw__records_changed(const mw__records *rows, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has changed while it was read", rows->source.path);
}

/* ---- fields ---- */

/* What is called so, or so with a number behind it: a, a_2, a_3. How far the numbers of a name went is kept, so that a
 * header of one name costs no more than others. */
static mw_status find_free_name(mw__records *rows, mw__text *whole, size_t length, mw_error *err)
{
    char number[24] = "";
    uintptr_t next = (uintptr_t)mw__map_get_n(&rows->repeats, whole->data, length);
    const uintptr_t first = next;
    while (!whole->failed && mw__map_get_n(&rows->by_name, whole->data, whole->size) != NULL) {
        next += next == 0 ? 2 : 1;
        snprintf(number, sizeof number, "_%zu", (size_t)next);
        whole->size = length;
        mw__text_puts(whole, number);
    }
    MW_TRY(mw__text_check(whole, err));
    return next != first ? mw__map_set_n(&rows->repeats, whole->data, length, (void *)next, err) : MW_OK;
}

static mw_status keep_name(mw__records *rows, const mw__text *whole, mw_error *err)
{
    const char *kept = mw__arena_string(&rows->arena, whole->data, whole->size, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__map_set(&rows->by_name, kept, (void *)(uintptr_t)(rows->count + 1), err));
    rows->names[rows->count++] = kept;
    return MW_OK;
}

static mw_status add_name(mw__records *rows, const char *name, size_t length, mw_error *err)
{
    mw__text whole;
    mw__text_init(&whole, rows->source.allocator);
    mw__text_append(&whole, name, length);
    mw_status status = mw__text_check(&whole, err);
    if (status == MW_OK)
        status = find_free_name(rows, &whole, length, err);
    if (status == MW_OK)
        status = keep_name(rows, &whole, err);
    mw__text_deinit(&whole);
    return status;
}

mw_status mw__records_add_field(mw__records *rows, const char *name, size_t length, mw_error *err)
{
    char made[32];
    if ((rows->count & (rows->count - 1)) == 0) { /* a power of two: the list doubles */
        const size_t capacity = rows->count > 0 ? 2 * rows->count : 1;
        const char **names = mw__resize(rows->source.allocator, rows->names, capacity, sizeof *names, err);
        if (names == NULL)
            return MW_ERROR_MEMORY;
        rows->names = names;
    }
    if (length == 0) {
        length = (size_t)snprintf(made, sizeof made, "column_%zu", rows->count + 1);
        name = made;
    }
    return add_name(rows, name, length, err);
}

mw_status mw__records_no_field(const mw__records *rows, const char *name, mw_error *err)
{
    char hint[200];
    mw__spelling spelling;
    mw__spelling_init(&spelling, name);
    for (size_t i = 0; i < rows->count; i++)
        mw__spelling_offer(&spelling, rows->names[i]);
    return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.300s\" has no field \"%.100s\" among its %zu%s", rows->source.path,
                    name, rows->count, mw__spelling_hint(&spelling, "", hint, sizeof hint));
}

bool mw__records_find(const mw__records *rows, const char *name, size_t *out)
{
    const uintptr_t number = (uintptr_t)mw__map_get(&rows->by_name, name);
    *out = number > 0 ? (size_t)number - 1 : 0;
    return number > 0;
}

static mw_status trim_name(mw__records *rows, const mw__records_cell *cell, mw_error *err)
{
    const char *text = cell->text;
    size_t length = cell->length;
    for (; length > 0 && (*text == ' ' || *text == '\t'); length--)
        text++;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (memchr(text, '\0', length) != NULL)
        return mw__records_fail(rows, cell, NULL, err, "the name of a field has a NUL");
    return mw__records_add_field(rows, text, length, err);
}

/* The names of the first row; without a header its cells stay, for the first row. */
static mw_status read_header(mw__records *rows, mw_error *err)
{
    char number[24];
    size_t count;
    MW_TRY(mw__records_read_csv(rows, &count, err));
    if (count == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\", line 1: it is empty", rows->source.path);
    for (size_t i = 0; i < count; i++) {
        snprintf(number, sizeof number, "%zu", i);
        MW_TRY(rows->form.no_header ? mw__records_add_field(rows, number, strlen(number), err)
                                    : trim_name(rows, &rows->cells[i], err));
    }
    return MW_OK;
}

/* ---- the file ---- */

static mw_status check_form(const mw_table_form *form, mw_error *err)
{
    if (form->separator != '\0' && strchr(",;|\t", form->separator) == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: the separator is 0x%02x, not ',', ';', '|' or a tab",
                        (unsigned char)form->separator);
    if (form->decimal != '\0' && form->decimal != '.' && form->decimal != ',')
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: the decimal mark is 0x%02x, not '.' or ','",
                        (unsigned char)form->decimal);
    if (form->decimal == ',' && form->separator == ',')
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "table: a comma cannot part fields and digits; one of the two is another");
    if (form->encoding < MW_ENCODING_FOUND || form->encoding > MW_ENCODING_LATIN1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "table: %d is no encoding", (int)form->encoding);
    return MW_OK;
}

mw_status mw__records_open(mw__records *rows, const mw_allocator *allocator, const char *path,
                           const mw_table_form *asked, mw_error *err)
{
    mw__records_source *s = &rows->source;
    *rows = (mw__records){.form = asked != NULL ? *asked : (mw_table_form){0}, .line = 1};
    s->file.descriptor = -1;
    s->allocator = allocator;
    mw__arena_init(&rows->arena, allocator);
    mw__map_init(&rows->by_name, allocator);
    mw__map_init(&rows->repeats, allocator);
    mw__text_init(&rows->texts, allocator);
    rows->is_lines = mw__string_ends(path, ".jsonl") || mw__string_ends(path, ".ndjson");
    MW_TRY(check_form(&rows->form, err));
    MW_TRY(mw__records_source_open(s, allocator, path, rows->form.encoding, err));
    MW_TRY(mw__records_source_fill(s, err));
    rows->form.encoding = s->encoding;
    if (rows->is_lines) {
        rows->form.decimal = '.';
        return mw__records_list_keys(rows, err);
    }
    mw__records_find_form(&rows->form, path, s->text, s->size < MW__RECORDS_SAMPLE ? s->size : MW__RECORDS_SAMPLE);
    return read_header(rows, err);
}

void mw__records_close(mw__records *rows)
{
    mw__free(rows->source.allocator, rows->cells);
    mw__free(rows->source.allocator, rows->names);
    mw__text_deinit(&rows->texts);
    mw__map_deinit(&rows->by_name);
    mw__map_deinit(&rows->repeats);
    mw__arena_deinit(&rows->arena);
    mw__records_source_close(&rows->source);
}

static mw_status next_csv(mw__records *rows, bool *out_more, mw_error *err)
{
    size_t count = rows->count;
    const bool is_first = rows->rows == 0 && rows->form.no_header; /* the header is the first row */
    if (!is_first)
        MW_TRY(mw__records_read_csv(rows, &count, err));
    *out_more = count > 0;
    if (count > 0 && count != rows->count)
        return mw__records_fail(
            rows, &rows->cells[0], NULL, err,
            "it has %zu fields, the first line has %zu: a cell with a separator stands in quotes, and "
            "an empty one has its separators, too",
            count, rows->count);
    return MW_OK;
}

mw_status mw__records_next(mw__records *rows, bool *out_more, mw_error *err)
{
    MW_TRY(rows->is_lines ? mw__records_read_line(rows, out_more, err) : next_csv(rows, out_more, err));
    rows->rows += *out_more;
    return rows->rows_max == 0 || rows->rows <= rows->rows_max ? MW_OK : mw__records_changed(rows, err);
}
