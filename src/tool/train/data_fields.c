/* The first row of a table. It is read as data/table reads it, which says what is wrong with the rest of the file. */
#include "tool/train/data_fields.h"

#include "base/file/file.h"
#include "base/text/json.h"
#include "base/text/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a file that is looked at. */
typedef struct reading {
    data_fields *fields;
    const char *path;
    const char *at, *end;
    mw_error *err;
} reading;

static bool fail_reading(const reading *r, size_t line, const char *what)
{
    if (r->err->status != MW_OK)
        return false;
    r->err->status = MW_ERROR_FORMAT;
    mw__printable_printf(r->err->message, sizeof r->err->message, "\"%.300s\", line %zu: %s", r->path, line, what);
    return false;
}

/* ---- the list of names ---- */

static bool grow_fields(data_fields *fields)
{
    const size_t room = fields->room > 0 ? 2 * fields->room : 16;
    char **names = realloc(fields->names, room * sizeof *names);
    if (names == NULL)
        return false;
    fields->names = names;
    fields->room = room;
    return true;
}

static bool add_field(const reading *r, const char *text, size_t length)
{
    data_fields *fields = r->fields;
    char *name = fields->count < fields->room || grow_fields(fields) ? malloc(length + 1) : NULL;
    if (name == NULL)
        return fail_reading(r, 1, "there is no memory for the names of its fields");
    memcpy(name, text, length);
    name[length] = '\0';
    fields->names[fields->count++] = name;
    return true;
}

void data_fields_free(data_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        free(fields->names[i]);
    free(fields->names);
    *fields = (data_fields){0};
}

/* ---- CSV ---- */

/* Behind the opening quote. A doubled quote is one; the name is put together where it stands. */
static bool read_quoted(reading *r, char *text)
{
    char *out = text;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"'))
            break;
        r->at += *r->at == '"';
        *out++ = *r->at;
    }
    if (r->at == r->end)
        return fail_reading(r, 1, "the quote is not closed");
    r->at++;
    return add_field(r, text, (size_t)(out - text));
}

static bool ends_field(const reading *r, char separator)
{
    return r->at == r->end || *r->at == separator || *r->at == '\n' ||
           (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static bool read_row(reading *r, char separator)
{
    for (;; r->at++) {
        const char *begin = r->at;
        if (r->at < r->end && *r->at == '"') {
            r->at++;
            if (!read_quoted(r, (char *)(uintptr_t)r->at))
                return false;
            if (!ends_field(r, separator))
                return fail_reading(r, 1, "text follows a closing quote");
        } else {
            while (!ends_field(r, separator))
                r->at++;
            if (!add_field(r, begin, (size_t)(r->at - begin)))
                return false;
        }
        if (r->at == r->end || *r->at != separator)
            return true;
    }
}

/* Without a header the first row only says how many fields there are. */
static bool number_fields(const reading *r)
{
    const size_t count = r->fields->count;
    data_fields_free(r->fields);
    for (size_t i = 0; i < count; i++) {
        char number[24];
        if (!add_field(r, number, (size_t)snprintf(number, sizeof number, "%zu", i)))
            return false;
    }
    return true;
}

static void skip_mark(reading *r)
{
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at += 3;
}

static bool open_reading(reading *r, char **out_text)
{
    size_t size = 0;
    if (mw__file_read(mw__allocator_or_default(NULL), r->path, SIZE_MAX / 2, out_text, &size, r->err) != MW_OK)
        return false;
    r->at = *out_text;
    r->end = *out_text + size;
    skip_mark(r);
    return true;
}

bool data_fields_of_csv(data_fields *fields, const char *path, char separator, bool header, mw_error *err)
{
    char *text = NULL;
    reading r = {.fields = fields, .path = path, .err = err};
    bool good = open_reading(&r, &text);
    while (good && r.at < r.end && (*r.at == '\n' || *r.at == '\r'))
        r.at++;
    good = good && (r.at < r.end || fail_reading(&r, 1, "it is empty")) && read_row(&r, separator) &&
           (header || number_fields(&r));
    mw__free(mw__allocator_or_default(NULL), text);
    return good;
}

/* ---- JSON Lines ---- */

static mw_status take_key(void *user, const mw__json_item *item, mw_error *err)
{
    const reading *r = user;
    (void)err;
    r->fields->has_arrays = r->fields->has_arrays || (item->event == MW__JSON_BEGIN_ARRAY && item->depth == 1);
    return item->event != MW__JSON_KEY || item->depth != 1 || add_field(r, item->text, item->length) ? MW_OK
                                                                                                     : MW_ERROR_MEMORY;
}

/* The number of the first line that is not blank; r->at is its begin. */
static size_t find_line(reading *r)
{
    size_t line = 1;
    for (; r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'); r->at++)
        line += *r->at == '\n';
    return line;
}

bool data_fields_of_jsonl(data_fields *fields, const char *path, mw_error *err)
{
    char *text = NULL;
    mw_error why = {0};
    reading r = {.fields = fields, .path = path, .err = err};
    bool good = open_reading(&r, &text);
    if (good) {
        const size_t line = find_line(&r);
        const char *end = memchr(r.at, '\n', (size_t)(r.end - r.at));
        const size_t length = (size_t)((end != NULL ? end : r.end) - r.at);
        if (mw__json_read_all(mw__allocator_or_default(NULL), r.at, length, take_key, &r, &why) != MW_OK)
            good = fail_reading(&r, line, why.message);
        else if (fields->count == 0)
            good = fail_reading(&r, line, "it has no object with keys, {\"x\": 1, \"y\": 2}");
    }
    mw__free(mw__allocator_or_default(NULL), text);
    return good;
}
