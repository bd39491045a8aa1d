/* Scanners of patterns. Held to PCRE2 with the same patterns by tests/text/test_scanners.c. */
#include "text/split/scanners.h"

#include "text/unicode/unicode.h"

#include <string.h>

enum { WORD = MW__CHAR_LETTER | MW__CHAR_NUMBER };

static bool is_line_end(uint32_t code) { return code == '\n' || code == '\r'; }
static bool is_symbol(uint8_t class) { return (class & (WORD | MW__CHAR_SPACE)) == 0; }

/* First byte behind the characters of a class. */
static const char *skip_class(const char *at, const char *end, uint8_t class)
{
    while (at < end) {
        const mw__char c = mw__unicode_read(at, end);
        if ((c.class & class) == 0)
            break;
        at += c.length;
    }
    return at;
}

static const char *skip_symbols(const char *at, const char *end)
{
    while (at < end) {
        const mw__char c = mw__unicode_read(at, end);
        if (!is_symbol(c.class))
            break;
        at += c.length;
    }
    return at;
}

/* 's 't 're 've 'm 'll 'd; without case also the long s, U+017F. */
static size_t contraction(const char *at, const char *end, bool any_case)
{
    const size_t size = (size_t)(end - at);
    if (size < 2 || *at != '\'')
        return 0;
    const unsigned char lower = any_case ? 0x20 : 0;
    const char a = (char)(at[1] | lower), b = size > 2 ? (char)(at[2] | lower) : '\0';
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
        return 3;
    return any_case && size > 2 && (unsigned char)at[1] == 0xc5 && (unsigned char)at[2] == 0xbf ? 3 : 0;
}

/* \s+(?!\S)|\s+ : white space up to the end, or all but the last character of it, which goes to the next word. */
static size_t spaces(const char *at, const char *end)
{
    const char *last = at, *p = at;
    while (p < end) {
        const mw__char c = mw__unicode_read(p, end);
        if ((c.class & MW__CHAR_SPACE) == 0)
            break;
        last = p;
        p += c.length;
    }
    return (size_t)((p == end || last == at ? p : last) - at);
}

/* ---- GPT-2 ---- */

const char mw__scanner_gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static size_t gpt2(const char *at, const char *end)
{
    const size_t short_form = contraction(at, end, false);
    if (short_form > 0)
        return short_form;
    const char *word = *at == ' ' && at + 1 < end ? at + 1 : at;
    const mw__char c = mw__unicode_read(word, end);
    if ((c.class & WORD) != 0)
        return (size_t)(skip_class(word, end, c.class & WORD) - at);
    if (is_symbol(c.class))
        return (size_t)(skip_symbols(word, end) - at);
    return spaces(at, end);
}

/* ---- cl100k, as Llama-3; Qwen2 with one digit at a time ---- */

/* [^\r\n\p{L}\p{N}]?\p{L}+ ; 0 if there is none. */
static size_t letters(mw__char c, const char *at, const char *end)
{
    const char *word = at;
    if ((c.class & WORD) == 0 && !is_line_end(c.code))
        word += c.length;
    const char *p = skip_class(word, end, MW__CHAR_LETTER);
    return p > word ? (size_t)(p - at) : 0;
}

static size_t digits(const char *at, const char *end, int most)
{
    const char *p = at;
    for (int i = 0; i < most && p < end; i++) {
        const mw__char c = mw__unicode_read(p, end);
        if ((c.class & MW__CHAR_NUMBER) == 0)
            break;
        p += c.length;
    }
    return (size_t)(p - at);
}

/* " ?[^\s\p{L}\p{N}]+[\r\n]*", or [\r\n/]* at the end ; 0 if there is none. */
static size_t symbols(const char *at, const char *end, bool slashes)
{
    const char *first = *at == ' ' ? at + 1 : at, *p = skip_symbols(first, end);
    if (p == first)
        return 0;
    while (p < end && (is_line_end((unsigned char)*p) || (slashes && *p == '/')))
        p++;
    return (size_t)(p - at);
}

/* \s*[\r\n]+ : white space up to the last end of a line in it; 0 if there is none. */
static size_t lines(const char *at, const char *end)
{
    const char *found = at;
    for (const char *p = at; p < end;) {
        const mw__char c = mw__unicode_read(p, end);
        if ((c.class & MW__CHAR_SPACE) == 0)
            break;
        p += c.length;
        found = is_line_end(c.code) ? p : found;
    }
    return (size_t)(found - at);
}

static size_t cl100k_of(const char *at, const char *end, int most_digits)
{
    const mw__char c = mw__unicode_read(at, end);
    size_t found = *at == '\'' ? contraction(at, end, true) : 0;
    if (found == 0)
        found = letters(c, at, end);
    if (found == 0)
        found = digits(at, end, most_digits);
    if (found == 0)
        found = symbols(at, end, false);
    if (found == 0)
        found = lines(at, end);
    return found > 0 ? found : spaces(at, end);
}

static size_t cl100k(const char *at, const char *end) { return cl100k_of(at, end, 3); }
static size_t qwen2(const char *at, const char *end) { return cl100k_of(at, end, 1); }

/* ---- o200k: words end in lower case, or are in upper case; contractions belong to them ---- */

/* First byte behind upper* (Lu Lt Lm Lo M), or lower* (Ll Lm Lo M); *shared: behind the last character that is in both
 * classes, NULL if there is none. */
static const char *skip_case(const char *at, const char *end, mw__letter_case other, const char **shared)
{
    *shared = NULL;
    while (at < end) {
        const mw__char c = mw__unicode_read(at, end);
        const mw__letter_case is = mw__unicode_case(c.code);
        if ((c.class & (MW__CHAR_LETTER | MW__CHAR_MARK)) == 0 || is == other)
            break;
        at += c.length;
        *shared = is == MW__CASE_NONE ? at : *shared;
    }
    return at;
}

/* upper*lower+ : the first takes what is in both classes, and gives back no more than it must; NULL if there is none.
 */
static const char *to_lower(const char *at, const char *end)
{
    const char *shared = NULL, *ignored = NULL;
    const char *upper = skip_case(at, end, MW__CASE_LOWER, &shared);
    const char *lower = skip_case(upper, end, MW__CASE_UPPER, &ignored);
    return lower > upper ? lower : shared;
}

/* upper+ where no lower follows; NULL if there is none. */
static const char *all_upper(const char *at, const char *end)
{
    const char *ignored = NULL, *upper = skip_case(at, end, MW__CASE_LOWER, &ignored);
    return upper > at ? upper : NULL;
}

/* [^\r\n\p{L}\p{N}]?upper*lower+ or the same with upper+lower*, and a contraction; 0 if there is neither. */
static size_t cased_letters(mw__char c, const char *at, const char *end)
{
    const char *word = (c.class & WORD) == 0 && !is_line_end(c.code) ? at + c.length : at;
    const char *found = to_lower(word, end);
    found = found == NULL && word > at ? to_lower(at, end) : found;
    found = found == NULL ? all_upper(word, end) : found;
    found = found == NULL && word > at ? all_upper(at, end) : found;
    return found != NULL ? (size_t)(found - at) + contraction(found, end, true) : 0;
}

static size_t o200k(const char *at, const char *end)
{
    size_t found = cased_letters(mw__unicode_read(at, end), at, end);
    if (found == 0)
        found = digits(at, end, 3);
    if (found == 0)
        found = symbols(at, end, true);
    if (found == 0)
        found = lines(at, end);
    return found > 0 ? found : spaces(at, end);
}

/* ---- by pattern ---- */

#define HEAD  "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define TAIL  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define FRONT "[^\\r\\n\\p{L}\\p{N}]?"
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"

static const struct {
    const char *name; /* NULL: another spelling */
    const char *pattern;
    mw__scanner *scanner;
} known[] = {
    {"gpt2", mw__scanner_gpt2_pattern, gpt2},
    {NULL, "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", gpt2},
    {"cl100k", SHORT "|" HEAD "\\p{N}{1,3}" TAIL, cl100k},
    {"qwen2", SHORT "|" HEAD "\\p{N}" TAIL, qwen2},
    {"o200k",
     FRONT UPPER "*" LOWER "+" SHORT "?|" FRONT UPPER "+" LOWER "*" SHORT
                 "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     o200k},
};

const char mw__scanner_names[] = "gpt2, cl100k, qwen2 and o200k";

const char *mw__scanner_pattern(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].name != NULL && strcmp(known[i].name, name) == 0)
            return known[i].pattern;
    return NULL;
}

mw__scanner *mw__scanner_of(const char *pattern)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].pattern, pattern) == 0)
            return known[i].scanner;
    return NULL;
}
