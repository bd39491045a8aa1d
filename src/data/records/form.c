/* How a CSV file is written, by its first rows: what parts the fields, and what parts the digits of a number. */
#include "base/text/string.h"
#include "data/records/records.h"

#include <string.h>

enum { ROWS_LOOKED_AT = 64 };

/* Fields of the row that begins at `at`, which is moved behind it. */
static size_t count_fields(const char **at, const char *end, char separator)
{
    size_t count = 1;
    bool quoted = false;
    for (; *at < end && (quoted || **at != '\n'); ++*at) {
        quoted = quoted != (**at == '"');
        count += !quoted && **at == separator;
    }
    *at += *at < end;
    return count;
}

/* Rows that have as many fields as the first, in a thousand; 0 if that has one. */
static size_t rate_separator(const char *text, const char *end, char separator)
{
    size_t rows = 0, same = 0, first = 0;
    for (const char *at = text; at < end && rows < ROWS_LOOKED_AT;) {
        const char *begin = at;
        const size_t count = count_fields(&at, end, separator);
        if (mw__string_is_blank(begin, (size_t)(at - begin) - (at[-1] == '\n')))
            continue;
        if (at == end && rows > 0 && end[-1] != '\n')
            break; /* cut */
        first = rows++ == 0 ? count : first;
        same += count == first;
    }
    return first > 1 ? 1000 * same / rows : 0;
}

/* Of those by which most rows are alike the first here: a comma may part digits, and words. */
static char find_separator(const char *path, const char *text, const char *end)
{
    static const char separators[] = "\t;|,";
    char best = mw__string_ends(path, ".tsv") ? '\t' : ',';
    size_t most = 0;
    for (const char *s = separators; *s != '\0'; s++) {
        const size_t rate = rate_separator(text, end, *s);
        if (rate > most) {
            most = rate;
            best = *s;
        }
    }
    return best;
}

/* Digits behind the mark of [-+]? digit+ mark digit+, with blanks around it; 0 = it is none. */
static size_t count_decimals(const char *at, const char *end, char mark)
{
    size_t before = 0, behind = 0;
    while (at < end && (*at == ' ' || *at == '"'))
        at++;
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && mw__character_is_digit(*at); at++)
        before++;
    if (before == 0 || at == end || *at++ != mark)
        return 0;
    for (; at < end && mw__character_is_digit(*at); at++)
        behind++;
    while (at < end && (*at == ' ' || *at == '"' || *at == '\r'))
        at++;
    return at == end ? behind : 0;
}

/* A comma, if there are numbers with it and none with a point; 1.234 may be a thousand. */
static char find_decimal(const char *text, const char *end, char separator)
{
    bool comma = false, point = false;
    for (const char *at = text; at < end; at++) {
        const char *begin = at;
        while (at < end && *at != separator && *at != '\n')
            at++;
        comma = comma || count_decimals(begin, at, ',') > 0;
        const size_t decimals = count_decimals(begin, at, '.');
        point = point || (decimals > 0 && decimals != 3);
    }
    return comma && !point && separator != ',' ? ',' : '.';
}

void mw__records_find_form(mw_table_form *form, const char *path, const char *sample, size_t size)
{
    if (form->separator == '\0')
        form->separator = find_separator(path, sample, sample + size);
    if (form->decimal == '\0')
        form->decimal = find_decimal(sample, sample + size, form->separator);
}
