/* Questions about strings, and texts that are given away. */
#include "base/text/string.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/failing.h"

static void test_an_ending_has_something_before_it(void)
{
    CHECK(mw__string_ends("a.npz", ".npz"));
    CHECK(!mw__string_ends(".npz", ".npz"));
    CHECK(!mw__string_ends("npz", ".npz"));
    CHECK(!mw__string_ends("a.npz.part", ".npz"));
}

static void test_a_start_may_be_all_of_it(void)
{
    CHECK(mw__string_begins("random_normal", "random_"));
    CHECK(mw__string_begins("random_", "random_"));
    CHECK(!mw__string_begins("random", "random_"));
}

static void test_null_is_equal_to_null_alone(void)
{
    CHECK(mw__string_equal(NULL, NULL));
    CHECK(!mw__string_equal(NULL, "") && !mw__string_equal("", NULL));
    CHECK(mw__string_equal("a", "a") && !mw__string_equal("a", "b"));
}

static void test_blank_lines_have_blanks_alone(void)
{
    CHECK(mw__string_is_blank("", 0));
    CHECK(mw__string_is_blank(" \t\r.", 3));
    CHECK(!mw__string_is_blank(" \t\r.", 4));
    CHECK(mw__character_is_digit('0') && mw__character_is_digit('9'));
    CHECK(!mw__character_is_digit('/') && !mw__character_is_digit(':'));
}

static void test_a_text_that_failed_is_not_given_away(void)
{
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw__text text;
    mw_error err = {0};
    mw__text_init(&text, &allocator);
    mw__text_puts(&text, "whole");
    char *taken = mw__text_take(&text, &err);
    CHECK_STR(taken, "whole");
    mw__free(&allocator, taken);

    mw__text_init(&text, &allocator);
    text.limit = 4;
    mw__text_puts(&text, "1234");
    mw__text_puts(&text, "5");
    CHECK(mw__text_take(&text, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "longer than the 4 bytes");
    CHECK_INT(failing.live, 0);
}

int main(void)
{
    RUN(test_an_ending_has_something_before_it);
    RUN(test_a_start_may_be_all_of_it);
    RUN(test_null_is_equal_to_null_alone);
    RUN(test_blank_lines_have_blanks_alone);
    RUN(test_a_text_that_failed_is_not_given_away);
    return check_finish();
}
