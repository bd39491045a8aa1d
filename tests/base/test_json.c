/* The strict JSON reader: what it tells, what it refuses and where, and that nothing leaks on the way. */
#include "base/text/json.h"
#include "base/text/json_write.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdlib.h>

/* Writes the events down in one line: {depth key=... } */
static mw_status write_down(void *user, const mw__json_item *item, mw_error *err)
{
    mw__text *text = user;
    (void)err;
    switch (item->event) {
    case MW__JSON_BEGIN_OBJECT:
        mw__text_printf(text, "{%d ", item->depth);
        break;
    case MW__JSON_END_OBJECT:
        mw__text_printf(text, "}%d ", item->depth);
        break;
    case MW__JSON_BEGIN_ARRAY:
        mw__text_printf(text, "[%d ", item->depth);
        break;
    case MW__JSON_END_ARRAY:
        mw__text_printf(text, "]%d ", item->depth);
        break;
    case MW__JSON_KEY:
        CHECK_INT(strlen(item->text), item->length);
        mw__text_printf(text, "%d:%s= ", item->depth, item->text);
        break;
    case MW__JSON_STRING:
        CHECK_INT(strlen(item->text), item->length);
        mw__text_printf(text, "%d'%s' ", item->depth, item->text);
        break;
    case MW__JSON_NUMBER:
        mw__text_printf(text, "%d#%llu ", item->depth, (unsigned long long)item->number);
        break;
    case MW__JSON_REAL:
        CHECK_INT(strlen(item->text), item->length);
        mw__text_printf(text, "%d~%s ", item->depth, item->text);
        break;
    case MW__JSON_TRUE:
    case MW__JSON_FALSE:
    case MW__JSON_NULL:
        mw__text_printf(text, "%d%s ", item->depth,
                        item->event == MW__JSON_TRUE    ? "T"
                        : item->event == MW__JSON_FALSE ? "F"
                                                        : "0");
        break;
    }
    return MW_OK;
}

static void check_events(const char *json, const char *expected)
{
    mw__text text;
    mw__text_init(&text, NULL);
    mw_error err = {0};
    const mw_status status = mw__json_read(NULL, json, strlen(json), write_down, &text, &err);
    CHECK(status == MW_OK);
    CHECK_OK(err);
    CHECK_STR(text.data != NULL ? text.data : "", expected);
    mw__text_deinit(&text);
}

static void test_the_whole_language_has_words_and_reals(void)
{
    const char *json = "[null, true, false, -1, 2.5, -0e-5, 1E+30, 7, 18446744073709551615, 99999999999999999999]";
    mw__text text;
    mw__text_init(&text, NULL);
    mw_error err = {0};
    CHECK_INT(mw__json_read_all(NULL, json, strlen(json), write_down, &text, &err), MW_OK);
    CHECK_OK(err);
    CHECK_STR(text.data, "[0 10 1T 1F 1~-1 1~2.5 1~-0e-5 1~1E+30 1#7 1~18446744073709551615 "
                         "1~99999999999999999999 ]0 ");
    mw__text_deinit(&text);
    static const char *const wrong[] = {"-",   "-x",   "1.",  ".5",    "1e",   "1e+",
                                        "-01", "01.5", "nul", "nullx", "True", "+1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (mw_error){0};
        mw__text_init(&text, NULL);
        check_note(mw__json_read_all(NULL, wrong[i], strlen(wrong[i]), write_down, &text, &err) == MW_ERROR_FORMAT,
                   __FILE__, __LINE__, "\"%s\" is taken", wrong[i]);
        mw__text_deinit(&text);
    }
}

static void test_events_come_in_text_order(void)
{
    check_events(
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},\"__metadata__\":{\"a\":\"b\"}}   ",
        "{0 1:w= {1 2:dtype= 2'F32' 2:shape= [2 3#2 3#3 ]2 2:data_offsets= [2 3#0 3#24 ]2 }1 "
        "1:__metadata__= {1 2:a= 2'b' }1 }0 ");
    check_events(" \t\r\n{ } ", "{0 }0 ");
    check_events("[]", "[0 ]0 ");
    check_events("[[],{},\"\"]", "[0 [1 ]1 {1 }1 1'' ]0 ");
    check_events("7", "0#7 ");
    check_events("[0,18446744073709551615]", "[0 1#0 1#18446744073709551615 ]0 ");
    check_events("[[[[[[[[1]]]]]]]]", "[0 [1 [2 [3 [4 [5 [6 [7 8#1 ]7 ]6 ]5 ]4 ]3 ]2 ]1 ]0 ");
}

static void test_strings_are_unescaped(void)
{
    check_events("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "0'\"\\/\b\f\n\r\t' ");
    check_events("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"", "0'A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80' ");
    check_events("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\xf4\x8f\xbf\xbf\"",
                 "0'\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\xf4\x8f\xbf\xbf' ");
}

static void test_one_name_may_stand_in_two_objects(void)
{
    check_events("{\"a\":{\"a\":1},\"b\":{\"a\":2}}", "{0 1:a= {1 2:a= 2#1 }1 1:b= {1 2:a= 2#2 }1 }0 ");
}

static const struct {
    const char *text;
    const char *message;
    int line, column;
} refused[] = {
    {"", "ends where a value should be", 1, 1},
    {"  ", "ends where a value should be", 1, 3},
    {"{", "expected a name in quotes", 1, 2},
    {"[", "ends where a value should be", 1, 2},
    {"{\"a\"", "expected ':'", 1, 5},
    {"{\"a\" 1}", "expected ':'", 1, 6},
    {"{\"a\":}", "expected an object", 1, 6},
    {"{\"a\":1", "expected ',' or '}'", 1, 7},
    {"{\"a\":1,}", "expected a name", 1, 8},
    {"{\"a\":1,\n \"b\":2]", "expected ',' or '}'", 2, 7},
    {"[1,]", "expected an object, an array", 1, 4},
    {"[1 2]", "expected ',' or ']'", 1, 4},
    {"[1}", "expected ',' or ']'", 1, 3},
    {"{a:1}", "expected a name", 1, 2},
    {"{1:1}", "expected a name", 1, 2},
    {"{}{}", "text after the value", 1, 3},
    {"{}\n\nx", "text after the value", 3, 1},
    {"null", "expected an object", 1, 1},
    {"[true]", "expected an object", 1, 2},
    {"[-1]", "negative", 1, 2},
    {"[1.5]", "fraction", 1, 2},
    {"[1e5]", "fraction or an exponent", 1, 2},
    {"[01]", "leading zero", 1, 2},
    {"[18446744073709551616]", "above 2^64", 1, 2},
    {"[999999999999999999999999999999999]", "above 2^64", 1, 2},
    {"{\"a\":1,\n\"a\":2}", "\"a\" appears twice", 2, 1},
    {"{\"a\":1,\"\\u0061\":2}", "\"a\" appears twice", 1, 8},
    {"[[[[[[[[[1]]]]]]]]]", "nested too deeply", 1, 9},
    {"\"abc", "without its end", 1, 1},
    {"\"abc\\", "unknown escape", 1, 5},
    {"\"\\x\"", "unknown escape", 1, 2},
    {"\"\\'\"", "unknown escape", 1, 2},
    {"\"\\u12\"", "four hexadecimal digits", 1, 4},
    {"\"\\u12g4\"", "four hexadecimal digits", 1, 4},
    {"\"\\u0000\"", "\\u0000", 1, 4},
    {"\"\\ud800\"", "surrogate", 1, 4},
    {"\"\\udc00\"", "surrogate", 1, 4},
    {"\"\\ud800\\u0041\"", "surrogate", 1, 4},
    {"\"\\ud800\\ud800\"", "surrogate", 1, 4},
    {"\"a\nb\"", "control character", 1, 3},
    {"\"a\tb\"", "control character", 1, 3},
    {"\"\x80\"", "UTF-8", 1, 2},
    {"\"\xc0\xaf\"", "UTF-8", 1, 2},
    {"\"\xc1\xbf\"", "UTF-8", 1, 2},
    {"\"\xe0\x9f\xbf\"", "UTF-8", 1, 2},
    {"\"\xed\xa0\x80\"", "UTF-8", 1, 2},
    {"\"\xf0\x8f\xbf\xbf\"", "UTF-8", 1, 2},
    {"\"\xf4\x90\x80\x80\"", "UTF-8", 1, 2},
    {"\"\xf5\x80\x80\x80\"", "UTF-8", 1, 2},
    {"\"\xe2\x82\"", "UTF-8", 1, 2},
    {"\"\xe2\x82", "UTF-8", 1, 2},
    {"\xef\xbb\xbf{}", "expected an object", 1, 1},
    {"{}\v", "text after", 1, 3},
};

static mw_status ignore(void *user, const mw__json_item *item, mw_error *err)
{
    (void)user, (void)item, (void)err;
    return MW_OK;
}

/* A copy without NUL at its end, so that the address sanitizer sees a read beyond it. */
static mw_status read_exact(const mw_allocator *allocator, const char *text, size_t size, mw_error *err)
{
    char *copy = malloc(size + (size == 0));
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    if (size > 0)
        memcpy(copy, text, size);
    const mw_status status = mw__json_read(allocator, copy, size, ignore, NULL, err);
    free(copy);
    return status;
}

static void test_malformed_text_is_refused_with_its_place(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mw_error err = {0};
        const mw_status status = read_exact(NULL, refused[i].text, strlen(refused[i].text), &err);
        check_note(status == MW_ERROR_FORMAT && err.status == status && strstr(err.message, refused[i].message) != NULL,
                   __FILE__, __LINE__, "%s gives %d \"%s\", not \"%s\"", refused[i].text, (int)status, err.message,
                   refused[i].message);
        check_note(err.text_line == refused[i].line && err.text_column == refused[i].column, __FILE__, __LINE__,
                   "%s fails at %d:%d, not %d:%d", refused[i].text, err.text_line, err.text_column, refused[i].line,
                   refused[i].column);
    }
}

static const char sample[] = "{\"__metadata__\":{\"format\":\"pt\\u00e9\"},\"fc1.weight\":{\"dtype\":\"F16\",\"shape\":"
                             "[256,784],\"data_offsets\":[0,401408]},\"e\":[]}";

static void test_a_zero_byte_is_refused(void)
{
    mw_error err = {0};
    CHECK(read_exact(NULL, "{}\0", 3, &err) == MW_ERROR_FORMAT);
    CHECK(read_exact(NULL, "[\0]", 3, NULL) == MW_ERROR_FORMAT);
    CHECK(read_exact(NULL, "\"\0\"", 3, NULL) == MW_ERROR_FORMAT);
}

static void test_every_prefix_is_refused_and_leaks_nothing(void)
{
    for (size_t size = 0; size < sizeof sample - 1; size++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        CHECK(read_exact(&allocator, sample, size, &err) == MW_ERROR_FORMAT);
        CHECK_INT(failing.live, 0);
    }
    CHECK(read_exact(NULL, sample, sizeof sample - 1, NULL) == MW_OK);
}

/* Every byte replaced by every byte: either accepted or an error with a place, never a crash or a leak. */
static void test_every_changed_byte_is_survived(void)
{
    char text[sizeof sample - 1];
    for (size_t at = 0; at < sizeof text; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, sample, sizeof text);
            text[at] = (char)byte;
            failing_allocator failing = {.fail_at = -1};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            const mw_status status = read_exact(&allocator, text, sizeof text, &err);
            CHECK(status == err.status && failing.live == 0);
            CHECK(status == MW_OK || (status == MW_ERROR_FORMAT && err.text_line > 0 && err.text_column > 0));
        }
    }
}

static void test_every_failed_allocation_is_survived(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        const mw_status status = read_exact(&allocator, sample, sizeof sample - 1, &err);
        CHECK(status == err.status && status == (failing.failed ? MW_ERROR_MEMORY : MW_OK));
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
}

static mw_status stop_at_number(void *user, const mw__json_item *item, mw_error *err)
{
    if (item->event != MW__JSON_NUMBER)
        return MW_OK;
    ++*(int *)user;
    return mw__fail(err, MW_ERROR_STOPPED, "enough");
}

static void test_the_handler_can_stop_the_reading(void)
{
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    int numbers = 0;
    mw_error err = {0};
    CHECK(mw__json_read(&allocator, sample, sizeof sample - 1, stop_at_number, &numbers, &err) == MW_ERROR_STOPPED);
    CHECK_ERROR(err, MW_ERROR_STOPPED, "enough");
    CHECK_INT(numbers, 1);
    CHECK_INT(failing.live, 0);
}

static void test_hostile_sizes_take_linear_time(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    for (int i = 0; i < 2000000; i++)
        mw__text_puts(&text, "[");
    mw_error err = {0};
    CHECK(mw__json_read(NULL, text.data, text.size, ignore, NULL, &err) == MW_ERROR_FORMAT);
    CHECK_INT(err.text_column, 9);
    text.size = 0;
    for (int i = 0; i < 200000; i++)
        mw__text_printf(&text, "%c\"layer.%d\":%d", i == 0 ? '{' : ',', i, i);
    mw__text_puts(&text, ",\"layer.7\":1}");
    err = (mw_error){0};
    CHECK(mw__json_read(NULL, text.data, text.size, ignore, NULL, &err) == MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "\"layer.7\" appears twice");
    mw__text_deinit(&text);
}

static mw_status keep_string(void *user, const mw__json_item *item, mw_error *err)
{
    (void)err;
    if (item->event == MW__JSON_STRING)
        memcpy(user, item->text, item->length + 1);
    return MW_OK;
}

static void test_written_strings_read_back(void)
{
    mw__text text;
    char byte[3] = "xx", back[64] = "";
    mw_error err = {0};
    for (int i = 1; i < 0x80; i++) {
        mw__text_init(&text, NULL);
        byte[0] = (char)i;
        mw__json_put_string(&text, byte);
        CHECK_INT(mw__json_read(NULL, text.data, text.size, keep_string, back, &err), MW_OK);
        CHECK_STR(back, byte);
        for (size_t k = 0; k < text.size; k++)
            CHECK(text.data[k] >= 0x20 && text.data[k] < 0x7f);
        mw__text_deinit(&text);
    }
    mw__text_init(&text, NULL); /* what is no UTF-8: a lone byte, an overlong form, a surrogate */
    mw__json_put_string(&text, "\xc3\xa9\xff\xc0\xaf\xed\xa0\x80.");
    CHECK_INT(mw__json_read(NULL, text.data, text.size, keep_string, back, &err), MW_OK);
    CHECK(strncmp(back, "\xc3\xa9\xef\xbf\xbd", 5) == 0 && strstr(back, ".") != NULL);
    mw__text_deinit(&text);
    CHECK_OK(err);
}

int main(void)
{
    RUN(test_written_strings_read_back);
    RUN(test_events_come_in_text_order);
    RUN(test_the_whole_language_has_words_and_reals);
    RUN(test_strings_are_unescaped);
    RUN(test_one_name_may_stand_in_two_objects);
    RUN(test_malformed_text_is_refused_with_its_place);
    RUN(test_a_zero_byte_is_refused);
    RUN(test_every_prefix_is_refused_and_leaks_nothing);
    RUN(test_every_changed_byte_is_survived);
    RUN(test_every_failed_allocation_is_survived);
    RUN(test_the_handler_can_stop_the_reading);
    RUN(test_hostile_sizes_take_linear_time);
    return check_finish();
}
