/* The rewrites of passes/rewrites.def that have a golden: each turns data/mil/rewrite_<name>_before.mil into
 * rewrite_<name>_after.mil, and is switched off by its name. MW_UPDATE_GOLDENS=1 writes the latter anew. */
#include "golden.h"
#include "mil/legalize/legalize.h"
#include "mil/legalize/rewrites.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <stdlib.h>

static const char *const names[] = {"conv_decomposed"};

/* The legal form of a text, freed with mw_string_free; NULL with err set. */
static char *legalize(const char *text, const char *off, const mw__device_traits *device, mw_error *err)
{
    mw_graph *from = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err), *to = mw_graph_create(NULL, NULL);
    char *result = NULL;
    mw__pass_log log = {0};
    const mw__legalize_options how = {.device = device, .log = &log};
    if (from != NULL && mw_graph_verify(from, err) == MW_OK && mw__pass_set_parse(&log.off, "off", off, err) == MW_OK &&
        mw__mil_legalize_with(from, to, &how, err) == MW_OK && mw_graph_verify(to, err) == MW_OK)
        result = mw_graph_print_mil(to, NULL, err);
    mw_graph_destroy(to);
    mw_graph_destroy(from);
    return result;
}

static void test_every_rewrite_gives_its_golden(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw_error err = {0};
        char *before = golden_read("rewrite", names[i], "before"),
             *got = legalize(before, NULL, mw__device_find(MW_DEVICE_ANE), &err);
        CHECK_OK(err);
        if (got != NULL)
            golden_check("rewrite", names[i], got);
        mw_string_free(got);
        free(before);
    }
}

static void test_rewrites_are_for_their_device_only(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw_error err = {0};
        char *before = golden_read("rewrite", names[i], "before"),
             *got = legalize(before, NULL, mw__device_find(MW_DEVICE_CPU), &err);
        CHECK_OK(err);
        if (got != NULL)
            CHECK_CONTAINS(got, " = conv(");
        mw_string_free(got);
        free(before);
    }
}

static void test_a_rewrite_is_switched_off_by_its_name(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw_error err = {0};
        char list[64], *before = golden_read("rewrite", names[i], "before");
        snprintf(list, sizeof list, "digits,%s", names[i]);
        char *got = legalize(before, list, mw__device_find(MW_DEVICE_ANE), &err);
        CHECK(got == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "a weight that is not a constant needs a batch of 1");
        mw_string_free(got);
        free(before);
    }
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    mw_error err = {0};
    char *before = golden_read("rewrite", "conv_decomposed", "before");
    mw_graph *from = mw_graph_parse_mil(before, strlen(before), NULL, NULL, &err);
    CHECK_OK(err);
    for (long n = 0; from != NULL && n < 10000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error failure = {0};
        mw_graph *to = mw_graph_create(&options, NULL);
        const mw_status status =
            to != NULL ? mw__mil_legalize(from, to, mw__device_find(MW_DEVICE_ANE), &failure) : MW_ERROR_MEMORY;
        CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        mw_graph_destroy(to);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
    mw_graph_destroy(from);
    free(before);
}

int main(void)
{
    RUN(test_every_rewrite_gives_its_golden);
    RUN(test_rewrites_are_for_their_device_only);
    RUN(test_a_rewrite_is_switched_off_by_its_name);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
