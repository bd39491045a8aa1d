/* What the model of the ANE makes of large and small inputs: right within what its tables and fp16 allow, or known. The
 * sizes at which it is not are a table of docs/chip.md. MW_UPDATE_GOLDENS=1 writes that anew. */
#include "graph/ir/op_table.h"
#include "large_inputs.h"
#include "support/check.h"
#include "support/page.h"

static const char *const profiles[] = {"h13", "h16", "h17", "h18g"};
enum { PROFILES = sizeof profiles / sizeof *profiles, KNOWN_MAX = 64, LIMIT = 1 << 16 };

/* Of each row of the table, whether an end was seen to be wrong. */
static struct {
    bool first, last;
} seen[KNOWN_MAX];

static bool is_known(const large_case *c, const char *profile, bool slope, int k)
{
    for (size_t i = 0; large_known_at(i) != NULL; i++) {
        const large_known *known = large_known_at(i);
        if (!large_known_covers(known, c, profile, slope, k))
            continue;
        seen[i].first = seen[i].first || k == known->from;
        seen[i].last = seen[i].last || k == known->to;
        return true;
    }
    return false;
}

static void check_sweep(const large_case *c, const char *profile, bool slope)
{
    large_found found[LARGE_SIZES];
    if (!large_sweep(c, profile, slope, found))
        return;
    for (int i = 0; i < LARGE_SIZES; i++) {
        const large_found *here = &found[i];
        check_note(!here->wrong || is_known(c, profile, slope, i + LARGE_FIRST), __FILE__, __LINE__,
                   "%s%s on %s, k = %d: of x = %g it is %g, not %g%s", c->name, slope ? ", gradient" : "", profile,
                   i + LARGE_FIRST, here->x, here->got, here->wanted, here->warned ? " (with a warning)" : "");
    }
}

static void test_results_are_right_at_every_size(void)
{
    for (size_t i = 0; large_case_at(i) != NULL; i++)
        for (size_t p = 0; p < PROFILES; p++)
            check_sweep(large_case_at(i), profiles[p], false);
}

static void test_gradients_are_right_at_every_size(void)
{
    for (size_t i = 0; large_case_at(i) != NULL; i++)
        for (size_t p = 0; p < PROFILES && !large_case_at(i)->no_slope; p++)
            check_sweep(large_case_at(i), profiles[p], true);
}

/* Runs behind the two: a row that nothing needs any more is taken out. */
static void test_what_is_known_is_so(void)
{
    for (size_t i = 0; large_known_at(i) != NULL; i++) {
        const large_known *known = large_known_at(i);
        REQUIRE(i < KNOWN_MAX);
        check_note(seen[i].first && seen[i].last, __FILE__, __LINE__, "%s%s: right at k = %d", known->name,
                   known->slope ? ", gradient" : "", seen[i].first ? known->to : known->from);
    }
}

/* ---- the cases are all there are ---- */

static bool has_case(const char *name)
{
    for (size_t i = 0; large_case_at(i) != NULL; i++)
        if (strncmp(large_case_at(i)->name, name, strlen(name)) == 0)
            return true;
    return false;
}

/* Functions of numbers from -1 to 1, which no large input reaches. */
static bool is_of_unit_interval(const char *name)
{
    return strcmp(name, "asin") == 0 || strcmp(name, "acos") == 0 || strcmp(name, "atanh") == 0;
}

static void test_every_function_has_a_case(void)
{
    mw_operation operation;
    for (size_t i = 0; mw_operation_at(i, &operation); i++) {
        const mw__row *row = mw__row_find(operation.name, MW_IOS18, NULL);
        const bool unary = mw__row_has(row, MW__TRAIT_UNARY) && operation.gradient != MW_GRADIENT_NONE;
        check_note(!unary || is_of_unit_interval(operation.name) || has_case(operation.name), __FILE__, __LINE__,
                   "%s has no case", operation.name);
    }
}

/* ---- the document ---- */

static void test_the_table_is_that_of_the_document(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/../docs/chip.md", MW_TESTS_DIR);
    page table = page_make(LIMIT);
    REQUIRE(table.text != NULL);
    page_put(&table, "| what | k | profiles | what comes out | why |\n|---|---|---|---|---|\n");
    for (size_t i = 0; large_known_at(i) != NULL; i++) {
        const large_known *known = large_known_at(i);
        page_put(&table, "| %s%s | %d .. %d | %s | %s | %s |\n", known->name, known->slope ? ", gradient" : "",
                 known->from, known->to, known->profiles, known->gives, known->why);
    }
    page_check_section(path, "large_inputs", table.text);
    page_free(&table);
}

int main(void)
{
    RUN(test_results_are_right_at_every_size);
    RUN(test_gradients_are_right_at_every_size);
    RUN(test_what_is_known_is_so);
    RUN(test_every_function_has_a_case);
    RUN(test_the_table_is_that_of_the_document);
    return check_finish();
}
