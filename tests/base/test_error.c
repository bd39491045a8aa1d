/* Errors, the log hook and the names of statuses. */
#include "base/text/error.h"
#include "base/text/log.h"
#include "support/check.h"
#include "support/clean.h"

static mw_status fail_twice(mw_error *err)
{
    mw__fail(err, MW_ERROR_SHAPE, "first %d", 1);
    return mw__fail(err, MW_ERROR_DTYPE, "second %d", 2);
}

static void test_first_error_is_kept(void)
{
    mw_error err = {0};
    CHECK(fail_twice(&err) == MW_ERROR_DTYPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "first 1");
    CHECK(err.line > 0 && err.file != NULL && strstr(err.file, "test_error") != NULL);
}

static void test_null_error_is_allowed(void)
{
    CHECK(fail_twice(NULL) == MW_ERROR_DTYPE);
    mw__error_subject(NULL, "matmul", "h");
    mw__error_position(NULL, 1, 1);
    CHECK(!mw__failed(NULL));
}

static void test_long_message_is_cut_at_a_character(void)
{
    /* 3-byte characters: 511 = 170 * 3 + 1, so that a plain cut would leave one byte of the 171st. */
    char text[700] = "";
    for (int i = 0; i < 200; i++)
        strcat(text, "\xe2\x82\xac");
    mw_error err = {0};
    mw__fail(&err, MW_ERROR_FORMAT, "%s", text);
    CHECK(strlen(err.message) > sizeof err.message - 6 && text_is_clean(err.message, false, sizeof err.message - 1));
    CHECK(memcmp(err.message, text, 300) == 0);
    mw__error_subject(&err, NULL, text);
    CHECK(strlen(err.tensor) > sizeof err.tensor - 6 && text_is_clean(err.tensor, false, sizeof err.tensor - 1));
}

static void test_cut_of_plain_text_fills_the_message(void)
{
    char text[700];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    mw_error err = {0};
    mw__fail(&err, MW_ERROR_FORMAT, "%s", text);
    CHECK_INT(strlen(err.message), sizeof err.message - 1);
}

static void test_subject_and_position_need_an_error(void)
{
    mw_error err = {0};
    mw__error_subject(&err, "matmul", "h");
    mw__error_position(&err, 3, 4);
    CHECK_STR(err.operation, "");
    CHECK_INT(err.text_line, 0);
    mw__fail(&err, MW_ERROR_SHAPE, "x");
    mw__error_subject(&err, "matmul", "h");
    mw__error_subject(&err, NULL, NULL);
    mw__error_position(&err, 3, 4);
    CHECK_STR(err.operation, "matmul");
    CHECK_STR(err.tensor, "h");
    CHECK_INT(err.text_line, 3);
    CHECK_INT(err.text_column, 4);
}

static void test_every_status_has_its_own_name(void)
{
    for (int a = MW_OK; a <= MW_ERROR_COMMUNICATION; a++) {
        CHECK(strcmp(mw_status_name((mw_status)a), "unknown status") != 0);
        for (int b = MW_OK; b < a; b++)
            CHECK(strcmp(mw_status_name((mw_status)a), mw_status_name((mw_status)b)) != 0);
    }
    CHECK_STR(mw_status_name((mw_status)99), "unknown status");
    CHECK_STR(mw_status_name(MW_ERROR_SHAPE), "shape error");
}

static void remember(void *user, mw_log_level level, const char *line)
{
    snprintf(user, 64, "%d:%s", (int)level, line);
}

static void test_log_is_silent_unless_hooked(void)
{
    char seen[64] = "";
    mw__log(MW_LOG_ERROR, "nobody listens %d", 1);
    mw_log_set(remember, seen);
    mw__log(MW_LOG_WARNING, "step %d", 7);
    CHECK_STR(seen, "1:step 7");
    mw_log_set(NULL, NULL);
    mw__log(MW_LOG_WARNING, "step %d", 8);
    CHECK_STR(seen, "1:step 7");
}

static void test_version_has_three_numbers(void)
{
    int major, minor, patch;
    char rest;
    CHECK_INT(sscanf(mw_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
}

int main(void)
{
    RUN(test_first_error_is_kept);
    RUN(test_null_error_is_allowed);
    RUN(test_long_message_is_cut_at_a_character);
    RUN(test_cut_of_plain_text_fills_the_message);
    RUN(test_subject_and_position_need_an_error);
    RUN(test_every_status_has_its_own_name);
    RUN(test_log_is_silent_unless_hooked);
    RUN(test_version_has_three_numbers);
    return check_finish();
}
