/* Scanners against PCRE2 with the pattern that they stand for, over drawn texts. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/night.h"
#include "text/normal/aligned.h"
#include "text/regex/regex.h"
#include "text/split/scanners.h"
#include "text/unicode/unicode.h"

#include <stdlib.h>

#define HEAD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define TAIL "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
static const char *const patterns[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|" HEAD "\\p{N}{1,3}" TAIL,
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|" HEAD "\\p{N}" TAIL,
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|"
    "'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|"
    "'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

/* What patterns tell apart comes often, anything else now and then. U+180E is a space to PCRE2 alone, which knows
 * Unicode 14, and utf8proc 15: of what that added below U+11000, five are left out. */
static uint32_t draw_code(mw__random *random)
{
    static const uint32_t often[] = {' ',    ' ',     ' ',    '\n',   '\r',  '\t',  '\'',  'a',  's',    't',
                                     'R',    'e',     'l',    'D',    'M',   'v',   '1',   '2',  '!',    '/',
                                     0xe9,   0x17f,   0x4e00, 0x661,  0x85,  0xa0,  0x301, 0xbd, 0x2028, 0x3000,
                                     0x2167, 0x1f600, 0x200b, 0x212a, 0x1c5, 0x2b0, 0xc9,  'B'};
    if (mw__random_below(random, 8) != 0)
        return often[mw__random_below(random, sizeof often / sizeof *often)];
    for (;;) {
        const uint32_t code = (uint32_t)mw__random_below(random, 0x11000);
        if ((code < 0xd800 || code > 0xdfff) && code != 0x180e && code != 0xcf3 && code != 0xece && code < 0x10efd)
            return code;
    }
}

static size_t draw_text(mw__random *random, char text[256])
{
    const size_t chars = (size_t)mw__random_below(random, 40);
    size_t size = 0;
    for (size_t i = 0; i < chars; i++)
        size += mw__aligned_encode(draw_code(random), text + size);
    return size;
}

static bool agree(mw__scanner *scan, const mw__regex *regex, const char *text, size_t size)
{
    mw_error err = {0};
    for (size_t at = 0; at < size;) {
        size_t begin = 0, end = 0;
        const size_t word = scan(text + at, text + size);
        if (!mw__regex_find(regex, text, size, at, &begin, &end, &err) || begin != at || end != at + word) {
            printf("at %zu of \"%.*s\": %zu bytes, PCRE2 says %zu to %zu\n", at, (int)size, text, word, begin, end);
            return false;
        }
        at += word;
    }
    return true;
}

static void check_pattern(const char *pattern, uint64_t seed, long texts)
{
    mw_error err = {0};
    char text[256];
    mw__random random = {.seed = seed, .stream = 7};
    mw__scanner *scan = mw__scanner_of(pattern);
    mw__regex *regex = mw__regex_create(pattern, &err);
    REQUIRE(scan != NULL);
    if (regex == NULL && strstr(err.message, "built without it") != NULL)
        SKIP("%s", err.message);
    REQUIRE(CHECK_OK(err));
    long good = 0;
    for (long i = 0; i < texts; i++)
        good += agree(scan, regex, text, draw_text(&random, text));
    CHECK_INT(good, texts);
    mw__regex_destroy(regex);
}

static void test_words_are_those_of_pcre2(void)
{
    if (!mw__unicode_is_whole())
        SKIP("the library was built without libutf8proc");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        check_pattern(patterns[i], i, night_has_come() ? 1000000 : 20000);
}

/* Every byte belongs to a word, whatever the bytes are. */
static void test_bytes_that_are_no_text_are_cut_too(void)
{
    mw__random random = {.seed = 1, .stream = 8};
    for (long i = 0; i < 20000; i++) {
        char bytes[64];
        const size_t size = 1 + (size_t)mw__random_below(&random, sizeof bytes - 1);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (char)mw__random_below(&random, 256);
        for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
            size_t at = 0;
            while (at < size) {
                const size_t word = mw__scanner_of(patterns[p])(bytes + at, bytes + size);
                REQUIRE(word > 0 && word <= size - at);
                at += word;
            }
        }
    }
}

int main(void)
{
    RUN(test_words_are_those_of_pcre2);
    RUN(test_bytes_that_are_no_text_are_cut_too);
    return check_finish();
}
