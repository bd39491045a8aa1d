/* Foreign strings in text for people. */
#include "base/text/error.h"
#include "base/text/log.h"
#include "base/text/printable.h"
#include "support/check.h"
#include "support/clean.h"

#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>

static const char *shown(const char *string)
{
    static char out[600];
    return mw__printable(out, sizeof out, string);
}

static void test_what_is_shown_of_characters(void)
{
    CHECK_STR(shown("fc1.weight"), "fc1.weight");
    CHECK_STR(shown("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK_STR(shown("a\nb\tc\rd"), "a\\nb\\tc\\rd");
    CHECK_STR(shown("\033[2J\007\x7f"), "\\x1b[2J\\x07\\x7f");
    CHECK_STR(shown("\xe2\x80\xae"
                    "x\xc2\x9b"),
              "\\u202ex\\u009b");
    CHECK_STR(shown("a\xff"
                    "b\xe2\x82"),
              "a\\xffb\\xe2\\x82");
    CHECK_STR(shown("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
    CHECK_STR(shown("C:\\n"), "C:\\n"); /* a backslash stays, so that showing twice is showing once */
    for (size_t i = 0; i < hostile_name_count; i++) {
        char once[600];
        CHECK(text_is_clean(shown(hostile_names[i]), false, 599));
        snprintf(once, sizeof once, "%s", shown(hostile_names[i]));
        CHECK_STR(shown(once), once);
    }
}

static void test_every_pair_of_bytes_is_clean(void)
{
    for (int a = 1; a < 256; a++) {
        for (int b = 1; b < 256; b++) {
            const char pair[] = {(char)a, (char)b, '!', '\0'};
            if (!CHECK(text_is_clean(shown(pair), false, 20)))
                return;
        }
    }
}

static void test_strings_are_cut_in_their_middle(void)
{
    char out[33], name[4097];
    memset(name, 'n', 4096);
    memcpy(name, "head.", 5);
    strcpy(name + 4096 - 5, ".tail");
    CHECK_STR(mw__printable(out, sizeof out, name), "head.nnnnnnnnnnnnnnn...nnnn.tail");
    CHECK_INT(mw__printable_printf(out, sizeof out, "\"%.20s\": rule", name), 28);
    CHECK_STR(out, "\"head.nnnnnnn....tail\": rule");
    CHECK_INT(mw__printable_printf(out, 9, "%s", "123456789"), 8);
    CHECK_STR(out, "1234...9");
}

static void test_messages_keep_their_own_words_beside_long_names(void)
{
    char *name = malloc(1 << 16);
    REQUIRE(name != NULL);
    memset(name, '\033', (1 << 16) - 1);
    name[(1 << 16) - 1] = '\0';
    mw_error err = {0};
    mw__fail(&err, MW_ERROR_SHAPE, "matmul \"%s\": %s is %d wide, not %s; try a hint", name, name, 12345, "short");
    CHECK(text_is_clean(err.message, false, sizeof err.message - 1));
    CHECK_CONTAINS(err.message, " is 12345 wide, not short; try a hint");
    CHECK(strlen(err.message) > sizeof err.message - 16);
    mw__error_subject(&err, name, name);
    CHECK(text_is_clean(err.operation, false, sizeof err.operation - 1) && err.operation[0] != '\0');
    CHECK(text_is_clean(err.tensor, false, sizeof err.tensor - 1) && err.tensor[0] != '\0');
    free(name);
}

static void remember(void *user, mw_log_level level, const char *line)
{
    (void)level;
    snprintf(user, 2000, "%s", line);
}

static void test_log_lines_are_shown(void)
{
    char seen[2000] = "";
    mw_log_set(remember, seen);
    for (size_t i = 0; i < hostile_name_count; i++) {
        mw__log(MW_LOG_WARNING, "loaded \"%s\"", hostile_names[i]);
        CHECK(strstr(seen, "loaded \"") == seen && text_is_clean(seen, false, 1023));
    }
    mw_log_set(NULL, NULL);
}

/* The C library is the oracle for all that is no string. */
#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        char wanted[600], out[600];                                                                                    \
        const int length = snprintf(wanted, sizeof wanted, __VA_ARGS__);                                               \
        CHECK_INT(mw__printable_printf(out, sizeof out, __VA_ARGS__), length);                                         \
        CHECK_STR(out, wanted);                                                                                        \
    } while (0)

static void test_numbers_are_those_of_the_c_library(void)
{
    SAME("%d %5d|%-5d|%05d|%+d %i", INT_MIN, 12, 12, 12, 7, -1);
    SAME("%u %x %X %#x %04x %o %c%c", UINT_MAX, 255U, 255U, 255U, 10U, 8U, 'a', '%');
    SAME("%ld %lu %lld %llu %zu %zd %hd", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX, SIZE_MAX, (size_t)5, (short)-3);
    SAME("%" PRId64 " %" PRIu64 " %jd", INT64_MIN, UINT64_MAX, INTMAX_MIN);
    SAME("%g %.3g %f %.0f %e %.*e %a", 0.1, 1e300, 1e300, 2.5, -1e-7, 3, 1.5, 0.1);
    SAME("%*d|%-*d|%*s|%-8s|%8s|%.3s|%.*s|100%%", 6, 42, 6, 42, 5, "ab", "left", "right", "ab", 2, "abcdef");
    SAME("%s%s", "", "no format: %d");
}

static void test_numbers_have_a_point_in_every_locale(void)
{
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL)
        SKIP("no locale with a decimal comma is installed");
    char out[40];
    mw__printable_printf(out, sizeof out, "%g", 0.5);
    setlocale(LC_NUMERIC, "C");
    CHECK_STR(out, "0.5");
}

static void test_a_count_reads_no_further(void)
{
    char out[40];
    const char bytes[3] = {'a', 'b', 'c'}; /* no NUL */
    mw__printable_printf(out, sizeof out, "%.*s", 3, bytes);
    CHECK_STR(out, "abc");
}

static void test_listings_append_what_is_shown(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_show(&text, "a\033", 96);
    mw__text_show(&text, "0123456789", 7);
    CHECK_STR(text.data, "a\\x1b012...9");
    mw__text_deinit(&text);
}

int main(void)
{
    RUN(test_what_is_shown_of_characters);
    RUN(test_every_pair_of_bytes_is_clean);
    RUN(test_strings_are_cut_in_their_middle);
    RUN(test_messages_keep_their_own_words_beside_long_names);
    RUN(test_log_lines_are_shown);
    RUN(test_numbers_are_those_of_the_c_library);
    RUN(test_numbers_have_a_point_in_every_locale);
    RUN(test_a_count_reads_no_further);
    RUN(test_listings_append_what_is_shown);
    return check_finish();
}
