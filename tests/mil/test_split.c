/* What a chip cannot hold, cut: each form turns data/mil/split_<name>_before.mil into split_<name>_after.mil with axes
 * of at most 1024, and is switched off by its name. MW_UPDATE_GOLDENS=1 writes the latter anew. */
#include "golden.h"
#include "mil/legalize/legalize.h"
#include "mil/legalize/split.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { AXIS_MAX = 1024 };

static const char *const names[] = {"digits", "blocks"};

/* The program in parts, freed with mw_string_free; NULL if there was nothing to split. */
static char *split(const char *text, const char *off, mw_error *err)
{
    bool any = false;
    char *result = NULL;
    mw_graph *from = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err), *to = mw_graph_create(NULL, NULL);
    mw__pass_log log = {0};
    const mw__split_options how = {.axis_max = AXIS_MAX, .log = &log};
    if (from != NULL && mw_graph_verify(from, err) == MW_OK && mw__pass_set_parse(&log.off, "off", off, err) == MW_OK &&
        mw__mil_split(from, to, &how, &any, err) == MW_OK && any && mw_graph_verify(to, err) == MW_OK)
        result = mw_graph_print_mil(to, NULL, err);
    mw_graph_destroy(to);
    mw_graph_destroy(from);
    return result;
}

static void test_every_form_gives_its_golden(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw_error err = {0};
        char *before = golden_read("split", names[i], "before"), *got = split(before, NULL, &err);
        CHECK_OK(err);
        CHECK(got != NULL);
        if (got != NULL)
            golden_check("split", names[i], got);
        mw_string_free(got);
        free(before);
    }
}

static void test_a_form_is_switched_off_by_its_name(void)
{
    mw_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *before = golden_read("split", names[i], "before");
        char *got = split(before, i == 0 ? "blocks,digits" : "conv_decomposed,blocks", &err);
        CHECK_OK(err);
        CHECK(got == NULL);
        mw_string_free(got);
        free(before);
    }
}

/* Nothing is cut if one operation on it has no rule: cumsum runs along the axis. */
static void test_an_operation_without_a_rule_keeps_all_whole(void)
{
    mw_error err = {0};
    for (int k = 0; k < 2; k++) {
        bool any = false;
        mw_graph *from = mw_graph_create(NULL, NULL), *to = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(from, "x", MW_F32, MW_SHAPE(3000));
        mw_tensor *y = mw_mul_scalar(x, 2.0);
        mw_output(k == 0 ? mw_exp(y) : mw_cumsum(y, 0, false, false), "y");
        mw__mil_split(from, to, &(mw__split_options){.axis_max = AXIS_MAX}, &any, &err);
        CHECK_OK(err);
        CHECK(any == (k == 0));
        mw_graph_destroy(to);
        mw_graph_destroy(from);
    }
}

/* A short text must not make a program without an end. */
static void test_an_axis_of_very_many_blocks_stays_whole(void)
{
    static const int64_t extents[] = {(int64_t)AXIS_MAX * 4096, INT64_MAX / 8};
    for (size_t i = 0; i < 2; i++) {
        mw_error err = {0};
        bool any = true;
        mw_graph *from = mw_graph_create(NULL, NULL), *to = mw_graph_create(NULL, NULL);
        mw_output(mw_exp(mw_input(from, "x", MW_F32, MW_SHAPE(extents[i]))), "y");
        mw__mil_split(from, to, &(mw__split_options){.axis_max = AXIS_MAX}, &any, &err);
        CHECK_OK(err);
        CHECK(!any);
        mw_graph_destroy(to);
        mw_graph_destroy(from);
    }
}

static void test_digits_of_a_number(void)
{
    static const struct {
        int64_t number, high, low;
    } rows[] = {{0, 0, 0},     {255, 0, 255}, {256, 1, 0},       {257, 1, 1},
                {-1, -1, 255}, {-256, -1, 0}, {524288, 2048, 0}, {-100, -1, 156}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_INT(mw__digit_of(rows[i].number, 0), rows[i].high);
        CHECK_INT(mw__digit_of(rows[i].number, 1), rows[i].low);
    }
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw_error err = {0};
        char *before = golden_read("split", names[i], "before");
        mw_graph *from = mw_graph_parse_mil(before, strlen(before), NULL, NULL, &err);
        CHECK_OK(err);
        for (long n = 0; from != NULL && n < 10000; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_graph_options options = mw_graph_defaults();
            options.allocator = &allocator;
            mw_error failure = {0};
            bool any = false;
            mw_graph *to = mw_graph_create(&options, NULL);
            const mw_status status =
                to != NULL ? mw__mil_split(from, to, &(mw__split_options){.axis_max = AXIS_MAX}, &any, &failure)
                           : MW_ERROR_MEMORY;
            mw_graph_destroy(to);
            CHECK_INT(failing.live, 0);
            CHECK(status == MW_OK || status == MW_ERROR_MEMORY);
            if (!failing.failed)
                break;
        }
        mw_graph_destroy(from);
        free(before);
    }
}

int main(void)
{
    RUN(test_every_form_gives_its_golden);
    RUN(test_a_form_is_switched_off_by_its_name);
    RUN(test_an_operation_without_a_rule_keeps_all_whole);
    RUN(test_an_axis_of_very_many_blocks_stays_whole);
    RUN(test_digits_of_a_number);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
