/* UTF-8 at the borders of Unicode 15, table 3-7. */
#include "base/text/utf8.h"
#include "support/check.h"

#include <string.h>

static void check_character(const char *bytes, uint32_t expected)
{
    const size_t length = strlen(bytes);
    uint32_t code = 0;
    CHECK_INT(mw__utf8_read(bytes, bytes + length, &code), length);
    CHECK_INT(code, expected);
    CHECK_INT(mw__utf8_length(bytes, bytes + length), length);
    CHECK(mw__utf8_check(bytes));

    mw__text text;
    mw__text_init(&text, NULL);
    mw__utf8_put(&text, expected);
    CHECK_STR(text.data, bytes);
    mw__text_deinit(&text);
}

static void test_first_and_last_characters_of_each_length_are_read_and_written(void)
{
    check_character("\x01", 0x1);
    check_character("\x7f", 0x7f);
    check_character("\xc2\x80", 0x80);
    check_character("\xdf\xbf", 0x7ff);
    check_character("\xe0\xa0\x80", 0x800);
    check_character("\xed\x9f\xbf", 0xd7ff);
    check_character("\xee\x80\x80", 0xe000);
    check_character("\xef\xbf\xbf", 0xffff);
    check_character("\xf0\x90\x80\x80", 0x10000);
    check_character("\xf4\x8f\xbf\xbf", 0x10ffff);
}

static void test_what_is_no_character_has_no_length(void)
{
    static const char *const odd[] = {"\x80",
                                      "\xbf", /* none begins so */
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",     /* overlong */
                                      "\xf0\x8f\xbf\xbf", /* overlong */
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf", /* surrogates */
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff", /* above U+10FFFF */
                                      "\xc3",
                                      "\xe2\x82",
                                      "\xf0\x9f\x98", /* cut off */
                                      "\xc3.",
                                      "\xe2\x82.",
                                      "\xf0\x9f\x98."};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        CHECK_INT(mw__utf8_length(odd[i], odd[i] + strlen(odd[i])), 0);
        CHECK(!mw__utf8_check(odd[i]));
    }
    CHECK(mw__utf8_check(""));
    CHECK(!mw__utf8_check("caf\xe9"));
}

static void test_a_character_beyond_the_end_is_none(void)
{
    static const char euro[] = "\xe2\x82\xac";
    CHECK_INT(mw__utf8_length(euro, euro + 3), 3);
    CHECK_INT(mw__utf8_length(euro, euro + 2), 0);
    CHECK_INT(mw__utf8_length(euro, euro + 1), 0);
}

static void test_latin1_becomes_the_same_characters(void)
{
    char out[16];
    mw__utf8_from_latin1("caf\xe9 \x80\xff", out);
    CHECK_STR(out, "caf\xc3\xa9 \xc2\x80\xc3\xbf");
}

int main(void)
{
    RUN(test_first_and_last_characters_of_each_length_are_read_and_written);
    RUN(test_what_is_no_character_has_no_length);
    RUN(test_a_character_beyond_the_end_is_none);
    RUN(test_latin1_becomes_the_same_characters);
    return check_finish();
}
