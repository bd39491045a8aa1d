/* What a run takes, against runs that others have measured, and which programs two engines share. */
#include "chip/cost/timing.h"
#include "plan_text.h"
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

/* 1x1 convolutions with one weight, one behind the other, as the study's. */
static mw_chip_plan *plan_of_chain(int channels, int height, int width, int layers, mw_chip chip)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    void *zeros = calloc((size_t)channels * (size_t)channels, 2);
    mw_tensor *h = mw_input(graph, "x", MW_F16, MW_SHAPE(1, channels, height, width));
    mw_tensor *w = mw_constant(graph, MW_F16, MW_SHAPE(channels, channels, 1, 1), zeros);
    const mw_chip_plan_options options = plan_options();
    for (int i = 0; i < layers; i++)
        h = mw_conv(h, w, NULL, NULL);
    mw_output(h, "y");
    mw_chip_plan *plan = mw_chip_plan_create(graph, chip, &options, &err);
    CHECK_OK(err);
    free(zeros);
    mw_graph_destroy(graph);
    return plan;
}

static const mw_chip_time *time_named(const mw_chip_plan *plan, const char *name)
{
    const mw_chip_time *t;
    for (size_t i = 0; (t = mw_chip_plan_time_at(plan, i)) != NULL; i++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

/* ---- runs that were measured ---- */

typedef struct run {
    mw_chip chip;
    int channels, height, width, layers;
    double us;
    const char *name;
} run;

#define BACK_TO_BACK "a step, back to back"
#define APART        "a step, 0.4 ms and more apart"

/* M6 study: notes/scheduling.md D1c, D2 and D5, and section 5 (a second between calls), notes/compute_array.md B8,
 * which has maderix's figure of M4 as 16.37 TFLOP/s. A range that took anything would prove nothing: on M6 the high end
 * is at most four times the low one. */
static void test_measured_chains_are_in_the_range(void)
{
    static const run runs[] = {
        {MW_CHIP_H18G, 512, 1, 128, 16, 227, BACK_TO_BACK},  {MW_CHIP_H18G, 512, 1, 128, 384, 1618, BACK_TO_BACK},
        {MW_CHIP_H18G, 512, 1, 128, 384, 4563, APART},       {MW_CHIP_H18G, 512, 1, 256, 384, 1691, BACK_TO_BACK},
        {MW_CHIP_H18G, 64, 1, 1024, 384, 309, BACK_TO_BACK}, {MW_CHIP_H18G, 1024, 32, 32, 32, 2149, BACK_TO_BACK},
        {MW_CHIP_H16, 64, 1, 1024, 384, 2000, BACK_TO_BACK}, {MW_CHIP_H16, 1024, 32, 32, 32, 4198, BACK_TO_BACK}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const run *r = &runs[i];
        mw_chip_plan *plan = plan_of_chain(r->channels, r->height, r->width, r->layers, r->chip);
        const mw_chip_time *t = time_named(plan, r->name);
        check_note(t != NULL && t->low_us <= r->us && r->us <= t->high_us, __FILE__, __LINE__,
                   "%d channels, %d x %d, %d layers: %g to %g, measured %g", r->channels, r->height, r->width,
                   r->layers, t != NULL ? t->low_us : 0.0, t != NULL ? t->high_us : 0.0, r->us);
        if (r->chip == MW_CHIP_H18G && strcmp(r->name, BACK_TO_BACK) == 0)
            CHECK(t != NULL && t->high_us <= 4.0 * t->low_us);
        mw_chip_plan_destroy(plan);
    }
}

/* ---- two engines ---- */

static void check_parts(int channels, int width, int layers, size_t first, size_t second)
{
    mw_chip_plan *plan = plan_of_chain(channels, 1, width, layers, MW_CHIP_H18G);
    const mw_chip_segment *s = mw_chip_plan_segment_at(plan, 0);
    REQUIRE(s != NULL);
    CHECK_INT(s->engines, second > 0 ? 2 : 1);
    CHECK_INT(s->first_engine_parts, first);
    CHECK_INT(s->parts, first + second);
    mw_chip_plan_destroy(plan);
}

/* Published: a width of 128 stays on one engine, 256 is shared; of 5 and of 7 tiles the extra one is on the second. */
static void test_programs_are_shared_as_published(void)
{
    check_parts(512, 128, 384, 1, 0);
    check_parts(512, 256, 384, 1, 1);
    check_parts(256, 8192, 32, 2, 3);
    check_parts(256, 12288, 32, 3, 4);
}

/* One layer saves less than its copies cost: 0.35 us for each KiB. */
static void test_copies_keep_a_short_program_on_one_engine(void) { check_parts(512, 256, 1, 1, 0); }

static void test_one_engine_shares_nothing(void)
{
    mw_chip_plan *plan = plan_of_chain(512, 1, 256, 64, MW_CHIP_H17);
    const mw_chip_segment *s = mw_chip_plan_segment_at(plan, 0);
    CHECK(s != NULL && s->engines == 1 && s->parts == 1 && s->first_engine_parts == 1);
    mw_chip_plan_destroy(plan);
}

/* ---- rows ---- */

static void check_rows(mw_chip chip)
{
    mw_chip_plan *plan = plan_of_chain(64, 1, 256, 4, chip);
    const mw_chip_time *t, *quick = time_named(plan, BACK_TO_BACK), *apart = time_named(plan, APART);
    size_t count = 0;
    for (; (t = mw_chip_plan_time_at(plan, count)) != NULL; count++)
        check_note(t->low_us >= 0.0 && t->low_us <= t->high_us && t->source[0] != '\0' &&
                       mw_chip_time_basis_name(t->basis) != NULL,
                   __FILE__, __LINE__, "%s: %g to %g", t->name, t->low_us, t->high_us);
    CHECK_INT(count, 12);
    CHECK(quick != NULL && apart != NULL && quick->high_us < apart->high_us);
    mw_chip_plan_destroy(plan);
}

static void test_chips_that_were_measured_have_all_parts(void)
{
    check_rows(MW_CHIP_H13);
    check_rows(MW_CHIP_H16);
    check_rows(MW_CHIP_H17);
    check_rows(MW_CHIP_H18G);
}

static void test_other_chips_have_no_times(void)
{
    mw_error err = {0};
    mw_chip_plan *plan = plan_of_chain(64, 1, 256, 4, MW_CHIP_H14);
    CHECK(mw_chip_plan_time_at(plan, 0) == NULL && mw_chip_plan_time_at(NULL, 0) == NULL);
    char *text = mw_chip_plan_print_time(plan, &err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "h14 (M2): nothing was measured");
    CHECK(mw_chip_plan_print_time(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "plan is NULL");
    CHECK(mw_chip_time_basis_name((mw_chip_time_basis)4) == NULL);
    mw_string_free(text);
    mw_chip_plan_destroy(plan);
}

static void test_text_and_json_have_the_parts(void)
{
    mw_error err = {0};
    mw_chip_plan *plan = plan_of_chain(512, 1, 256, 64, MW_CHIP_H18G);
    char *text = mw_chip_plan_print_time(plan, &err), *json = mw_chip_plan_print_json(plan, &err);
    char *whole = mw_chip_plan_print(plan, &err);
    REQUIRE(text != NULL && json != NULL && whole != NULL);
    CHECK_CONTAINS(text, "h18g (M6): 1 dispatch, 1 on both engines");
    CHECK_CONTAINS(text, "weights from memory");
    CHECK_CONTAINS(text, "measured: M6 study");
    CHECK_CONTAINS(json, "\"basis\": \"model\"");
    CHECK_CONTAINS(json, "\"engines\": 2");
    CHECK_CONTAINS(whole, "on both engines: 1 and 1 of 2 parts");
    mw_string_free(text);
    mw_string_free(json);
    mw_string_free(whole);
    mw_chip_plan_destroy(plan);
}

/* ---- clocks ---- */

/* The lowest and the highest of a parameter set in compiler_frequencies.tsv, in MHz. */
static bool read_clocks(const char *set, double *low, double *high)
{
    char line[1024];
    bool found = false;
    FILE *file = fopen(MW_SHARED_DATA "/ane-numerics/compiler_frequencies.tsv", "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const size_t length = strlen(set);
        if (strncmp(line, set, length) != 0 || line[length] != '\t')
            continue;
        char *end, *at = line + length + 1;
        *low = *high = strtod(at, &end) * 1e-6;
        while (*end == ' ')
            *high = strtod(end, &end) * 1e-6;
        found = true;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static void check_clocks(mw_chip chip, const char *set)
{
    double low = 0.0, high = 0.0;
    const mw__timing *t = mw__timing_of(chip);
    CHECK(read_clocks(set, &low, &high));
    REQUIRE(t != NULL && t->clock_mhz.basis == MW_CHIP_TIME_COMPILER);
    CHECK_NEAR(t->clock_mhz.low, low, 1e-6);
    CHECK_NEAR(t->clock_mhz.high, high, 1e-6);
}

static void test_clocks_are_those_of_the_compiler(void)
{
    double low, high;
    if (!read_clocks("H13", &low, &high))
        SKIP("../shared/data/ane-numerics is not there");
    check_clocks(MW_CHIP_H13, "H13");
    check_clocks(MW_CHIP_H16, "H16g");
    check_clocks(MW_CHIP_H17, "H17s");
}

int main(void)
{
    RUN(test_measured_chains_are_in_the_range);
    RUN(test_programs_are_shared_as_published);
    RUN(test_copies_keep_a_short_program_on_one_engine);
    RUN(test_one_engine_shares_nothing);
    RUN(test_chips_that_were_measured_have_all_parts);
    RUN(test_other_chips_have_no_times);
    RUN(test_text_and_json_have_the_parts);
    RUN(test_clocks_are_those_of_the_compiler);
    return check_finish();
}
