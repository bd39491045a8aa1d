/* Rows of CSV (RFC 4180): the end of a row is looked for while the buffer is filled, each byte once; then the row is
 * cut, and quoted cells are unquoted in place.
 *
 *     row   ::= cell (separator cell)* (CRLF | LF | end)
 *     cell  ::= plain | '"' (any but '"' | '""')* '"' */
#include "data/records/records.h"

#include <string.h>

typedef enum place { AT_BEGIN, IN_PLAIN, IN_QUOTES, AT_QUOTE } place;

static place step(place at, char c, char separator)
{
    if (at == IN_QUOTES)
        return c == '"' ? AT_QUOTE : IN_QUOTES;
    if (c == separator)
        return AT_BEGIN;
    if (c == '"')
        return at == AT_BEGIN || at == AT_QUOTE ? IN_QUOTES : IN_PLAIN;
    return IN_PLAIN;
}

/* The end of the row that begins at source.at: its '\n', or the end of the file. */
static mw_status find_end(mw__records *rows, size_t *out_end, mw_error *err)
{
    mw__records_source *s = &rows->source;
    place in = AT_BEGIN;
    for (size_t done = 0;;) {
        for (size_t i = s->at + done; i < s->size; i++, done++) {
            if (s->text[i] == '\n' && in != IN_QUOTES) {
                *out_end = i;
                return MW_OK;
            }
            in = step(in, s->text[i], rows->form.separator);
        }
        if (s->ended)
            break;
        MW_TRY(mw__records_source_fill(s, err));
    }
    *out_end = s->size;
    const mw__records_cell row = {.line = rows->line, .column = 1};
    return in == IN_QUOTES ? mw__records_fail(rows, &row, NULL, err, "the quote is not closed") : MW_OK;
}

/* ---- cells of a row ---- */

typedef struct cutting {
    mw__records *rows;
    char *at, *end, *line_begin;
} cutting;

static mw_status fail_here(const cutting *c, const char *what, mw_error *err)
{
    const mw__records_cell cell = {.line = c->rows->line, .column = (size_t)(c->at - c->line_begin) + 1};
    return mw__records_fail(c->rows, &cell, NULL, err, "%s", what);
}

static mw_status cut_quoted(cutting *c, mw__records_cell *out, mw_error *err)
{
    char *write = ++c->at;
    out->text = write;
    for (; c->at < c->end; c->at++) {
        if (*c->at == '"' && (++c->at == c->end || *c->at != '"'))
            break;
        if (*c->at == '\n') {
            c->rows->line++;
            c->line_begin = c->at + 1;
        }
        *write++ = *c->at;
    }
    out->length = (size_t)(write - out->text);
    if (c->at < c->end && *c->at != c->rows->form.separator)
        return fail_here(c, "something stands behind the closing quote", err);
    return MW_OK;
}

static mw_status cut_cell(cutting *c, mw__records_cell *out, mw_error *err)
{
    *out = (mw__records_cell){.text = c->at, .line = c->rows->line, .column = (size_t)(c->at - c->line_begin) + 1};
    if (c->at < c->end && *c->at == '"')
        return cut_quoted(c, out, err);
    for (; c->at < c->end && *c->at != c->rows->form.separator; c->at++)
        if (*c->at == '"')
            return fail_here(c, "a quote in a field that is not quoted; it must be doubled, in quotes", err);
    out->length = (size_t)(c->at - out->text);
    return MW_OK;
}

static mw_status cut_row(cutting *c, size_t *out_count, mw_error *err)
{
    mw__records *rows = c->rows;
    for (*out_count = 0;; c->at++) {
        if (*out_count == MW__RECORDS_CELLS_MAX)
            return fail_here(c, "more than 65536 fields in a row", err);
        MW_TRY(mw__grow(rows->source.allocator, &rows->cells, &rows->cell_capacity, *out_count + 1, sizeof *rows->cells,
                        err));
        MW_TRY(cut_cell(c, &rows->cells[*out_count], err));
        ++*out_count;
        if (c->at == c->end)
            return MW_OK;
    }
}

/* ---- the next row ---- */

static mw_status skip_empty_lines(mw__records *rows, mw_error *err)
{
    mw__records_source *s = &rows->source;
    for (;;) {
        while (s->size - s->at < 2 && !s->ended)
            MW_TRY(mw__records_source_fill(s, err));
        const size_t rest = s->size - s->at;
        if (rest > 0 && s->text[s->at] == '\n')
            s->at++;
        else if (rest > 1 && s->text[s->at] == '\r' && s->text[s->at + 1] == '\n')
            s->at += 2;
        else
            return MW_OK;
        rows->line++;
    }
}

mw_status mw__records_read_csv(mw__records *rows, size_t *out_count, mw_error *err)
{
    mw__records_source *s = &rows->source;
    size_t end;
    *out_count = 0;
    MW_TRY(skip_empty_lines(rows, err));
    if (s->at == s->size)
        return MW_OK;
    MW_TRY(find_end(rows, &end, err));
    const size_t next = end < s->size ? end + 1 : end;
    char *begin = s->text + s->at;
    end -= end < s->size && end > s->at && s->text[end - 1] == '\r';
    cutting c = {.rows = rows, .at = begin, .end = s->text + end, .line_begin = begin};
    MW_TRY(cut_row(&c, out_count, err));
    s->at = next;
    rows->line++;
    return MW_OK;
}
