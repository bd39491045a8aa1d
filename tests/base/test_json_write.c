/* JSON that is written: the bytes of strings in each style, and of whole texts. */
#include "base/text/json_write.h"
#include "support/check.h"
#include "support/failing.h"

#include <math.h>
#include <string.h>

static void check_string(mw__json_style style, const char *string, const char *expected)
{
    mw__text text;
    mw__text_init(&text, NULL);
    mw__json_put_bytes(&text, string, strlen(string), style);
    CHECK_STR(text.data, expected);
    mw__text_deinit(&text);
}

static void test_each_style_escapes_what_it_says(void)
{
    static const char string[] = "a\"\\\x01\x7f\xe2\x80\xae\xff\xc3\xa9\xf3\xa0\x80\x81";
    check_string(MW__JSON_SAFE, string, "\"a\\\"\\\\\\u0001\\u007f\\u202e\xef\xbf\xbd\xc3\xa9\\udb40\\udc01\"");
    check_string(MW__JSON_SPELLED, string, "\"a\\\"\\\\\\u0001\\u007f\\u202e\\\\xff\xc3\xa9\\udb40\\udc01\"");
    check_string(MW__JSON_VALID, string, "\"a\\\"\\\\\\u0001\x7f\xe2\x80\xae\xef\xbf\xbd\xc3\xa9\xf3\xa0\x80\x81\"");
    check_string(MW__JSON_EXACT, string, "\"a\\\"\\\\\\u0001\x7f\xe2\x80\xae\xff\xc3\xa9\xf3\xa0\x80\x81\"");
    check_string(MW__JSON_SAFE, "", "\"\"");
}

static void test_what_is_shown_is_cut_and_then_escaped(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    mw__json_put_printable(&text, "\"\\\n", 16);
    CHECK_STR(text.data, "\\\"\\\\\\\\n");
    text.size = 0;
    mw__json_put_printable(&text, "0123456789abcdef", 10);
    CHECK_STR(text.data, "01234...ef");
    mw__text_deinit(&text);
}

static void write_all(mw__json_writer *json)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "a\"", "b\n");
    mw__json_add_integer(json, "low", INT64_MIN);
    mw__json_add_unsigned(json, "high", UINT64_MAX);
    mw__json_break(json);
    mw__json_open(json, "list", '[');
    mw__json_close(json, ']');
    mw__json_open(json, "lines", '[');
    for (int i = 0; i < 2; i++) {
        mw__json_break(json);
        mw__json_open(json, NULL, '{');
        mw__json_add_bool(json, "is", i == 0);
        mw__json_add_null(json, "none");
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
    mw__json_add_number(json, "half", 0.5);
    mw__json_add_number(json, "third", 1.0 / 3.0);
    mw__json_add_number(json, "nan", (double)NAN);
    mw__json_add_string(json, "absent", NULL);
    mw__json_add_printable(json, "shown", "\x1b", 16);
    mw__json_add_printable(json, "unshown", NULL, 16);
    mw__json_add_raw(json, "raw", "[1]");
    mw__json_close(json, '}');
}

static void check_text(bool compact, const char *expected)
{
    mw__json_writer json;
    mw__json_writer_init(&json, NULL, compact);
    write_all(&json);
    CHECK_STR(mw__json_text(&json), expected);
    mw__json_writer_deinit(&json);
}

static void test_commas_and_lines_stand_between_values(void)
{
    check_text(false, "{\"a\\\"\": \"b\\u000a\", \"low\": -9223372036854775808, \"high\": 18446744073709551615,\n"
                      "\"list\": [], \"lines\": [\n{\"is\": true, \"none\": null},\n{\"is\": false, \"none\": null}], "
                      "\"half\": 0.5, \"third\": 0.33333333333333331, \"nan\": null, \"absent\": null, "
                      "\"shown\": \"\\\\x1b\", \"unshown\": null, \"raw\": [1]}");
    check_text(true, "{\"a\\\"\":\"b\\u000a\",\"low\":-9223372036854775808,\"high\":18446744073709551615,\n"
                     "\"list\":[],\"lines\":[\n{\"is\":true,\"none\":null},\n{\"is\":false,\"none\":null}],"
                     "\"half\":0.5,\"third\":0.33333333333333331,\"nan\":null,\"absent\":null,"
                     "\"shown\":\"\\\\x1b\",\"unshown\":null,\"raw\":[1]}");
}

static void test_a_failed_allocation_leaves_no_text(void)
{
    failing_allocator failing = {.fail_at = 0};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw__json_writer json;
    mw__json_writer_init(&json, &allocator, false);
    write_all(&json);
    CHECK(mw__json_text(&json) == NULL);
    mw__json_writer_deinit(&json);
    CHECK_INT(failing.live, 0);
}

int main(void)
{
    RUN(test_each_style_escapes_what_it_says);
    RUN(test_what_is_shown_is_cut_and_then_escaped);
    RUN(test_commas_and_lines_stand_between_values);
    RUN(test_a_failed_allocation_leaves_no_text);
    return check_finish();
}
