/* CSV (RFC 4180): names in the first line, a record in each other one; an empty field is not there. */
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "view/curves.h"

#include <string.h>

typedef struct table {
    mw__curves *curves;
    const char *path, *at, *end, *line_begin;
    int line;
    mw__text names; /* of the columns, each with a NUL */
    size_t *name_at;
    size_t columns, name_capacity;
    mw__text bytes; /* of the fields of a record */
    struct cell {
        size_t at, length;
    } * cells;
    size_t cell_count, cell_capacity;
    mw__curve_field *fields;
    size_t field_capacity;
    bool torn; /* the file ended inside of quotes */
} table;

static mw_status fail_table(const table *t, const char *at, const char *what, mw_error *err)
{
    return mw__curves_fail(t->path, t->line, (size_t)(at - t->line_begin) + 1, what, err);
}

/* ---- fields ---- */

static mw_status read_quoted(table *t, mw_error *err)
{
    const char *begin = t->at++;
    while (t->at < t->end) {
        if (*t->at == '"' && (t->at + 1 == t->end || t->at[1] != '"')) {
            t->at++;
            return MW_OK;
        }
        if (*t->at == '\0')
            return fail_table(t, t->at, "a byte 0", err);
        t->at += *t->at == '"';
        mw__text_append(&t->bytes, t->at, 1);
        t->at++;
    }
    t->torn = true;
    return fail_table(t, begin, "a quote that does not end", err);
}

static mw_status read_plain(table *t, mw_error *err)
{
    for (; t->at < t->end && *t->at != ',' && *t->at != '\n' && *t->at != '\r'; t->at++) {
        if (*t->at == '"' || *t->at == '\0')
            return fail_table(t, t->at, *t->at == '"' ? "a quote inside of a field without quotes" : "a byte 0", err);
        mw__text_append(&t->bytes, t->at, 1);
    }
    return MW_OK;
}

static mw_status read_field(table *t, mw_error *err)
{
    MW_TRY(mw__grow(t->curves->allocator, &t->cells, &t->cell_capacity, t->cell_count + 1, sizeof *t->cells, err));
    const size_t begin = t->bytes.size;
    const char *from = t->at;
    MW_TRY(t->at < t->end && *t->at == '"' ? read_quoted(t, err) : read_plain(t, err));
    t->cells[t->cell_count++] = (struct cell){begin, t->bytes.size - begin};
    mw__text_append(&t->bytes, "", 1);
    if (t->bytes.failed)
        return mw__text_check(&t->bytes, err);
    for (const char *c = t->bytes.data + begin; *c != '\0';) {
        const size_t length = mw__utf8_length(c, t->bytes.data + t->bytes.size - 1);
        if (length == 0)
            return fail_table(t, from, "a field that is not UTF-8", err);
        c += length;
    }
    return MW_OK;
}

/* One line, with its end, which quotes may hold too; t->line stays that of its begin. */
static mw_status read_record(table *t, mw_error *err)
{
    t->cell_count = 0;
    t->bytes.size = 0;
    t->line_begin = t->at;
    for (;;) {
        MW_TRY(read_field(t, err));
        if (t->at < t->end && *t->at == ',') {
            t->at++;
            continue;
        }
        t->at += t->at < t->end && *t->at == '\r';
        if (t->at < t->end && *t->at != '\n')
            return fail_table(t, t->at, "a field that goes on behind its quotes", err);
        return MW_OK;
    }
}

static void end_line(table *t)
{
    for (const char *c = t->line_begin; c < t->at; c++)
        t->line += *c == '\n' && t->line < 2000000000;
    t->line += t->at < t->end && t->line < 2000000000;
    t->at += t->at < t->end;
}

/* ---- records ---- */

static mw_status take_names(table *t, mw_error *err)
{
    mw__map seen;
    static char present;
    mw_status status = MW_OK;
    mw__map_init(&seen, t->curves->allocator);
    for (size_t i = 0; i < t->cell_count && status == MW_OK; i++) {
        const char *name = t->bytes.data + t->cells[i].at;
        if (name[0] == '\0')
            status = fail_table(t, t->line_begin, "a column without a name", err);
        else if (t->cell_count > MW__CURVES_MAX)
            status = mw__fail(err, MW_ERROR_UNSUPPORTED, "metrics \"%.200s\": more than %d columns", t->path,
                              MW__CURVES_MAX);
        else if (mw__map_get(&seen, name) != NULL)
            status = fail_table(t, t->line_begin, "two columns of one name", err);
        else
            status = mw__map_set(&seen, name, &present, err);
        if (status == MW_OK)
            status = mw__grow(t->curves->allocator, &t->name_at, &t->name_capacity, i + 1, sizeof *t->name_at, err);
        if (status == MW_OK) {
            t->name_at[i] = t->names.size;
            mw__text_append(&t->names, name, t->cells[i].length + 1);
        }
    }
    t->columns = t->cell_count;
    mw__map_deinit(&seen);
    return status == MW_OK ? mw__text_check(&t->names, err) : status;
}

static mw_status take_record(table *t, mw_error *err)
{
    size_t count = 0;
    if (t->cell_count == 1 && t->cells[0].length == 0)
        return MW_OK; /* an empty line */
    if (t->cell_count != t->columns)
        return fail_table(
            t, t->line_begin,
            t->cell_count < t->columns ? "fewer fields than there are names" : "more fields than there are names", err);
    MW_TRY(mw__grow(t->curves->allocator, &t->fields, &t->field_capacity, t->columns, sizeof *t->fields, err));
    for (size_t i = 0; i < t->columns; i++) {
        const char *text = t->bytes.data + t->cells[i].at, *name = t->names.data + t->name_at[i];
        mw__curve_field *f = &t->fields[count];
        if (t->cells[i].length == 0)
            continue;
        *f = (mw__curve_field){
            .name = name, .name_length = strlen(name), .text = text, .text_length = t->cells[i].length};
        f->is_number = mw__number_read(text, f->text_length, MW__NUMBER_F64, &f->number);
        count++;
    }
    return mw__curves_add(t->curves, t->fields, count, err);
}

static mw_status read_all(table *t, mw_error *err)
{
    MW_TRY(read_record(t, err));
    MW_TRY(take_names(t, err));
    end_line(t);
    while (t->at < t->end) {
        mw_error own = {0};
        mw_status status = read_record(t, &own);
        const bool last = t->at == t->end; /* without an end */
        if ((status == MW_OK || status == MW_ERROR_FORMAT) && (t->torn || last))
            return MW_OK; /* the run may have been killed while it wrote it: a number may lack digits */
        if (status == MW_OK)
            status = take_record(t, &own);
        if (status != MW_OK) {
            mw__fail(err, status, "%s", own.message);
            mw__error_position(err, own.text_line, own.text_column);
            return status;
        }
        end_line(t);
    }
    return MW_OK;
}

mw_status mw__curves_read_csv(mw__curves *curves, const char *text, size_t size, const char *path, mw_error *err)
{
    const size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    table t = {.curves = curves, .path = path, .at = text + mark, .end = text + size, .line_begin = text, .line = 1};
    mw__text_init(&t.names, curves->allocator);
    mw__text_init(&t.bytes, curves->allocator);
    const mw_status status = read_all(&t, err);
    mw__text_deinit(&t.names);
    mw__text_deinit(&t.bytes);
    mw__free(curves->allocator, t.name_at);
    mw__free(curves->allocator, t.cells);
    mw__free(curves->allocator, t.fields);
    return status;
}
