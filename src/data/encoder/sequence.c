/* Cells that hold several values: arrays of JSON Lines, [1, 2, 3] of CSV, and 1 2 3 where it is said. */
#include "base/text/string.h"
#include "data/encoder/encoder.h"

#include <string.h>

static bool is_between(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';'; }

static bool is_bracketed(const char *text, const char *end)
{
    return end - text >= 2 && *text == '[' && end[-1] == ']';
}

static void trim_blanks(const char **text, const char **end)
{
    while (*text < *end && is_between(**text) && **text != ',' && **text != ';')
        ++*text;
    while (*end > *text && is_between((*end)[-1]) && (*end)[-1] != ',' && (*end)[-1] != ';')
        --*end;
}

bool mw__encoder_looks_like_sequence(const mw__records_cell *cell)
{
    const char *text = cell->text, *end = cell->text + cell->length;
    if (cell->kind != MW__RECORDS_TEXT)
        return cell->kind == MW__RECORDS_LIST;
    trim_blanks(&text, &end);
    return is_bracketed(text, end);
}

mw__encoder_elements mw__encoder_elements_of(const mw__records_cell *cell)
{
    mw__encoder_elements e = {.at = cell->text, .end = cell->text + cell->length, .cell = *cell};
    if (cell->kind != MW__RECORDS_TEXT)
        return e;
    trim_blanks(&e.at, &e.end);
    if (is_bracketed(e.at, e.end))
        e.at++, e.end--;
    return e;
}

/* An element of a list ends with a NUL, one of a text where something stands between. */
static const char *find_end(const mw__encoder_elements *e)
{
    if (e->cell.kind == MW__RECORDS_LIST) {
        const char *end = memchr(e->at, '\0', (size_t)(e->end - e->at));
        return end != NULL ? end : e->end;
    }
    const char quote = *e->at == '"' || *e->at == '\'' ? *e->at : '\0';
    const char *close = quote != '\0' ? memchr(e->at + 1, quote, (size_t)(e->end - e->at - 1)) : NULL;
    const char *end = close != NULL ? close + 1 : e->at;
    while (end < e->end && !is_between(*end))
        end++;
    return end;
}

bool mw__encoder_next_element(mw__encoder_elements *e, mw__records_cell *out)
{
    const bool is_list = e->cell.kind == MW__RECORDS_LIST;
    while (!is_list && e->at < e->end && is_between(*e->at))
        e->at++;
    if (e->at >= e->end)
        return false;
    const char *end = find_end(e);
    *out = e->cell;
    out->kind = MW__RECORDS_TEXT;
    out->text = e->at;
    out->length = (size_t)(end - e->at);
    if (!is_list && out->length >= 2 && (*out->text == '"' || *out->text == '\'') && end[-1] == *out->text)
        out->text++, out->length -= 2;
    e->at = end + is_list;
    return true;
}

bool mw__encoder_element_word(const mw__records_cell *element, char *number, const char **out, size_t *out_length)
{
    return mw__encoder_read_word(element, MW_FIELD_ID, '.', number, out, out_length) ||
           (mw__encoder_read_word(element, MW_FIELD_CATEGORY, '.', number, out, out_length) && *out_length > 0);
}
