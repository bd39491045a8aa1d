/* Values of cells: what is missing, numbers, truth, dates, words. */
#include "base/number/number.h"
#include "base/text/string.h"
#include "data/encoder/encoder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

typedef struct span {
    const char *text;
    size_t length;
} span;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static span trim(const mw__records_cell *cell)
{
    span s = {cell->text, cell->length};
    for (; s.length > 0 && is_blank(*s.text); s.length--)
        s.text++;
    while (s.length > 0 && is_blank(s.text[s.length - 1]))
        s.length--;
    return s;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Whether it is one of the words, in any case; they end with NULL. */
static bool is_one_of(span s, const char *const *words)
{
    for (; *words != NULL; words++) {
        size_t i = 0;
        while (i < s.length && (*words)[i] != '\0' && lower(s.text[i]) == (*words)[i])
            i++;
        if (i == s.length && (*words)[i] == '\0')
            return true;
    }
    return false;
}

bool mw__encoder_is_empty(const mw__records_cell *cell)
{
    return cell->kind == MW__RECORDS_MISSING || (cell->kind == MW__RECORDS_TEXT && trim(cell).length == 0);
}

/* Those of pandas, and the question mark of older collections; in this case alone, as Na is sodium. */
bool mw__encoder_is_missing(const mw__records_cell *cell)
{
    static const char *const words[] = {"NA",   "N/A",  "n/a",  "NaN",  "nan",  "-NaN", "-nan",
                                        "NULL", "null", "None", "<NA>", "#N/A", "#NA",  "?"};
    const span s = trim(cell);
    bool is_word = false;
    for (size_t i = 0; cell->kind == MW__RECORDS_TEXT && s.length <= 4 && i < sizeof words / sizeof words[0]; i++)
        is_word = is_word || (strlen(words[i]) == s.length && memcmp(words[i], s.text, s.length) == 0);
    return is_word || mw__encoder_is_empty(cell);
}

/* ---- numbers ---- */

bool mw__encoder_read_number(const mw__records_cell *cell, char decimal, double *out)
{
    char text[64];
    span s = trim(cell);
    if (cell->kind != MW__RECORDS_TEXT || s.length == 0)
        return false;
    if (s.length > 1 && *s.text == '+' && s.text[1] != '-') {
        s.text++;
        s.length--;
    }
    if (decimal == ',') {
        if (s.length >= sizeof text || memchr(s.text, '.', s.length) != NULL)
            return false;
        for (size_t i = 0; i < s.length; i++)
            text[i] = s.text[i];
        char *comma = memchr(text, ',', s.length);
        if (comma != NULL)
            *comma = '.';
        s.text = text;
    }
    return mw__number_read(s.text, s.length, MW__NUMBER_F64, out) && isfinite(*out);
}

bool mw__encoder_is_grouped(const mw__records_cell *cell, char decimal)
{
    const char group = decimal == ',' ? '.' : ',';
    const span s = trim(cell);
    size_t i = s.length > 0 && (*s.text == '-' || *s.text == '+'), digits = 0, groups = 0;
    for (; cell->kind == MW__RECORDS_TEXT && i < s.length && s.text[i] != decimal; i++) {
        const bool is_mark = s.text[i] == group, fits = groups == 0 ? digits >= 1 && digits <= 3 : digits == 3;
        if (is_mark ? !fits : !mw__character_is_digit(s.text[i]))
            return false;
        groups += is_mark;
        digits = is_mark ? 0 : digits + 1;
    }
    if (groups == 0 || digits != 3)
        return false;
    for (i++; i < s.length; i++)
        if (!mw__character_is_digit(s.text[i]))
            return false;
    return true;
}

bool mw__encoder_read_boolean(const mw__records_cell *cell, double *out)
{
    static const char *const yes[] = {"true", "yes", "t", "y", "1", "1.0", NULL};
    static const char *const no[] = {"false", "no", "f", "n", "0", "0.0", NULL};
    const span s = trim(cell);
    if (cell->kind != MW__RECORDS_TEXT)
        return false;
    *out = is_one_of(s, yes);
    return *out != 0 || is_one_of(s, no);
}

/* ---- dates ---- */

/* Days since 1970-01-01 of the Gregorian calendar, whose years begin in March here. */
static int64_t days_of(int year, int month, int day)
{
    const int64_t y = year - (month <= 2);
    const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_day(int year, int month, int day)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leaps = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= lengths[month - 1] + (month == 2 && leaps);
}

/* digit{1, most}; how many there were goes to *out_digits. */
static bool take_digits(span *s, int most, int *out, int *out_digits)
{
    *out = *out_digits = 0;
    for (; s->length > 0 && *out_digits < most && mw__character_is_digit(*s->text); s->text++, s->length--) {
        *out = *out * 10 + (*s->text - '0');
        ++*out_digits;
    }
    return *out_digits > 0;
}

static bool take_mark(span *s, char mark)
{
    if (s->length == 0 || *s->text != mark)
        return false;
    s->text++;
    s->length--;
    return true;
}

/* zone ::= 'Z' | [+-] hh ':'? mm; in minutes */
static bool take_zone(span *s, double *out_minutes)
{
    int hours, minutes, digits;
    const double sign = s->length > 0 && *s->text == '-' ? -1 : 1;
    *out_minutes = 0;
    if (s->length == 0 || take_mark(s, 'Z'))
        return true;
    if (!take_mark(s, '+') && !take_mark(s, '-'))
        return false;
    if (!take_digits(s, 2, &hours, &digits) || digits != 2)
        return false;
    take_mark(s, ':');
    if (!take_digits(s, 2, &minutes, &digits) || digits != 2 || hours > 23 || minutes > 59)
        return false;
    *out_minutes = sign * (60 * hours + minutes);
    return true;
}

/* time ::= hh ':' mm (':' ss ('.' digits)?)? zone; a share of the day */
static bool take_time(span *s, double *out)
{
    int hour, minute, second = 0, digits, fraction;
    double part = 0, unit = 1, zone;
    if (!take_digits(s, 2, &hour, &digits) || !take_mark(s, ':') || !take_digits(s, 2, &minute, &digits) || digits != 2)
        return false;
    if (take_mark(s, ':') && (!take_digits(s, 2, &second, &digits) || digits != 2))
        return false;
    if (take_mark(s, '.')) {
        while (take_digits(s, 1, &fraction, &digits))
            part += fraction * (unit /= 10);
        if (unit == 1)
            return false;
    }
    while (take_mark(s, ' '))
        ;
    if (!take_zone(s, &zone) || hour > 23 || minute > 59 || second > 60)
        return false;
    *out = (hour * 3600 + minute * 60 + second + part - 60 * zone) / 86400;
    return s->length == 0;
}

/* date ::= yyyy ('-' | '/') m ('-' | '/') d | d '.' m '.' yyyy | a '/' b '/' yyyy */
static bool take_day(span *s, bool day_first, mw__encoder_date *out, int *out_day)
{
    int a, b, c, digits, last;
    if (!take_digits(s, 4, &a, &digits) || s->length == 0)
        return false;
    const char mark = *s->text;
    if ((mark != '-' && mark != '/' && mark != '.') || !take_mark(s, mark) || !take_digits(s, 2, &b, &last) ||
        !take_mark(s, mark) || !take_digits(s, 4, &c, &last))
        return false;
    const bool year_first = digits == 4;
    if (year_first ? mark == '.' || last > 2 : mark == '-' || last != 4 || digits > 2)
        return false;
    out->is_slashed = !year_first && mark == '/';
    out->first = a;
    out->second = b;
    const bool swaps = out->is_slashed && !day_first;
    out->year = year_first ? a : c;
    out->month = year_first ? b : swaps ? a : b;
    *out_day = year_first ? c : swaps ? b : a;
    return is_day(out->year, out->month, *out_day);
}

bool mw__encoder_read_date(const mw__records_cell *cell, bool day_first, mw__encoder_date *out)
{
    span s = trim(cell);
    double time = 0;
    int day;
    *out = (mw__encoder_date){0};
    if (cell->kind != MW__RECORDS_TEXT || !take_day(&s, day_first, out, &day))
        return false;
    if (s.length > 0) {
        if (!take_mark(&s, 'T') && !take_mark(&s, ' '))
            return false;
        if (!take_time(&s, &time))
            return false;
        out->has_time = true;
    }
    const int64_t days = days_of(out->year, out->month, day);
    out->days = (double)days + time;
    out->weekday = (int)(((days + 3) % 7 + 7) % 7); /* Monday 0: 1970-01-01 was a Thursday */
    return true;
}

/* ---- words ---- */

bool mw__encoder_read_word(const mw__records_cell *cell, mw_field_kind kind, char decimal, char *number,
                           const char **out, size_t *out_length)
{
    double value;
    const span s = trim(cell);
    *out = s.text;
    *out_length = s.length;
    if (kind != MW_FIELD_ID)
        return cell->kind == MW__RECORDS_TEXT && memchr(s.text, '\0', s.length) == NULL;
    if (!mw__encoder_read_number(cell, decimal, &value) || fabs(value) > 0x1p53 || value != floor(value))
        return false;
    *out = number;
    *out_length = (size_t)snprintf(number, 32, "%" PRId64, (int64_t)value);
    return true;
}

mw_status mw__encoder_refuse(const mw__records *rows, const mw__records_cell *cell, const char *field,
                             const char *wanted, mw_error *err)
{
    if (cell->kind != MW__RECORDS_TEXT)
        return mw__records_fail(rows, cell, field, err, "an array or object is no %s; ignore the field%s", wanted,
                                cell->kind == MW__RECORDS_LIST ? ", or make it a sequence" : "");
    return mw__records_fail(rows, cell, field, err, "\"%.*s\" is no %s; mend it, or give the field another kind",
                            (int)(cell->length < 60 ? cell->length : 60), cell->text, wanted);
}
