/* Every row of passes/rewrites.def computes what stood there before: its program in fp32 on the CPU and what is made of
 * it on the model of the ANE, or on the CPU by the engine's own rows, with the same numbers. Left out by its name it is
 * required, or the program is refused, or another text gives the same. A row without a case, or whose case it does not
 * write, fails by its name. */
#include "compiled.h"
#include "mil/legalize/decompose.h"
#include "support/check.h"
#include "support/night.h"

#include <stdlib.h>

enum { LONG = 20000 }; /* more than an axis has on a chip before MW_CHIP_H16 */

static const double half_unit = 0x1p-10, single_unit = 0x1p-23;

static size_t row_count(void) { return MW__RULE_FIRST_PATTERN - MW__RULE_BEFORE_REWRITES - 1; }

static mw__rule_id id_of(size_t row) { return (mw__rule_id)(MW__RULE_BEFORE_REWRITES + 1 + row); }

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

static mw_graph *graph_of(const rewrite_case *c, mw_error *err)
{
    char text[REWRITE_TEXT];
    return CHECK(rewrite_case_text(c, LONG, text, sizeof text)) ? parse(text, err) : NULL;
}

/* Rows that the engine applies to what it computes for the CPU in fp32; the others write what the ANE takes. */
static bool is_joined(const rewrite_case *c)
{
    const mw__rule *rule = mw__pass_rule_of(mw__pass_rule_find(c->row, strlen(c->row)));
    return rule->pass == MW__RULE_recognize || rule->pass == MW__RULE_absorb;
}

static mw_device device_of(const rewrite_case *c) { return is_joined(c) ? MW_DEVICE_CPU : MW_DEVICE_ANE; }

static mw_program *source_of(const mw_graph *graph, mw_error *err)
{
    seen_passes seen = {0};
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, "recognize,absorb", &seen, err);
    seen_deinit(&seen);
    return program;
}

/* ---- what a row writes ---- */

static void check_seen(const mw__rule *rule, mw__rule_id id, const seen_passes *seen)
{
    check_note(seen->hits[id] > 0, __FILE__, __LINE__, "row %s: it did not write its case", rule->name);
    check_note(seen->broken == NULL, __FILE__, __LINE__, "row %s: %s breaks its invariant", rule->name, seen->broken);
}

static void compare_made(const rewrite_case *c, const char *what, mw_program *source, mw_program *made)
{
    const compiled_bound half = {.unit = half_unit, .units = c->bound, .half = true},
                         single = {.unit = single_unit, .units = c->wide_bound}, bound = is_joined(c) ? single : half;
    compiled_compare(c, what, source, made, &bound);
}

static void check_row(const rewrite_case *c, mw__rule_id id)
{
    mw_error err = {0}, refused = {0};
    seen_passes seen = {0};
    mw_graph *graph = graph_of(c, &err);
    mw_program *source = source_of(graph, &err);
    mw_program *made = compiled_for(graph, device_of(c), c->chip, NULL, &seen, &refused);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "row %s: %s", c->row, err.message);
    if (c->error != NULL) {
        CHECK_CONTAINS(refused.message, c->error);
    } else if (check_note(refused.status == MW_OK, __FILE__, __LINE__, "row %s: %s", c->row, refused.message)) {
        check_seen(mw__pass_rule_of(id), id, &seen);
        compare_made(c, c->row, source, made);
    }
    mw_program_destroy(made);
    mw_program_destroy(source);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
}

static const rewrite_case *case_of(size_t row)
{
    const rewrite_case *c = rewrite_case_at(row);
    const char *name = mw__pass_rule_of(id_of(row))->name;
    return check_note(c != NULL && strcmp(c->row, name) == 0, __FILE__, __LINE__,
                      "row %s has no case in its place (tests/support/passes)", name)
               ? c
               : NULL;
}

static void test_every_row_computes_what_its_operation_does(void)
{
    for (size_t i = 0; i < row_count(); i++) {
        const rewrite_case *c = case_of(i);
        if (c != NULL)
            check_row(c, id_of(i));
    }
}

static void test_every_bound_has_a_reason(void)
{
    for (size_t i = 0; rewrite_case_at(i) != NULL; i++) {
        const rewrite_case *c = rewrite_case_at(i);
        check_note((c->bound != 0) == (c->because != NULL), __FILE__, __LINE__, "row %s: a bound and no reason",
                   c->row);
    }
}

/* ---- without it ---- */

static void check_required(const mw__rule *rule, const mw_program *program, const mw_error *err)
{
    check_note(program == NULL && err->status == MW_ERROR_ARGUMENT && strstr(err->message, rule->name) != NULL,
               __FILE__, __LINE__, "row %s is required, but: %d %s", rule->name, (int)err->status, err->message);
}

static bool is_refusal(const mw_error *err)
{
    return (err->status == MW_ERROR_UNSUPPORTED || err->status == MW_ERROR_NUMERIC) && err->message[0] != '\0';
}

static void check_other(const rewrite_case *c, const mw_graph *graph, const seen_passes *without, mw_program *made)
{
    mw_error err = {0};
    seen_passes with = {0};
    mw_program *source = source_of(graph, &err);
    mw_program *whole = compiled_for(graph, device_of(c), c->chip, NULL, &with, &err);
    CHECK_OK(err);
    check_note(seen_differ(&with, without), __FILE__, __LINE__, "row %s: the same texts without it", c->row);
    check_note(without->broken == NULL, __FILE__, __LINE__, "without row %s: %s breaks its invariant", c->row,
               without->broken);
    compare_made(c, c->row, source, made);
    mw_program_destroy(whole);
    mw_program_destroy(source);
    seen_deinit(&with);
}

static void check_left_out(const rewrite_case *c, mw__rule_id id)
{
    mw_error err = {0}, refused = {0};
    seen_passes seen = {0};
    const mw__rule *rule = mw__pass_rule_of(id);
    mw_graph *graph = graph_of(c, &err);
    mw_program *made = compiled_for(graph, device_of(c), c->chip, rule->name, &seen, &refused);
    CHECK_OK(err);
    check_note(seen.hits[id] == 0, __FILE__, __LINE__, "row %s: hits though it is left out", c->row);
    if ((rule->flags & MW__RULE_REQUIRED) != 0)
        check_required(rule, made, &refused);
    else if (made != NULL)
        check_other(c, graph, &seen, made);
    else
        check_note(is_refusal(&refused), __FILE__, __LINE__, "without row %s: %d %s", c->row, (int)refused.status,
                   refused.message);
    mw_program_destroy(made);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
}

static void test_every_row_is_left_out_or_required(void)
{
    for (size_t i = 0; i < row_count(); i++) {
        const rewrite_case *c = case_of(i);
        if (c != NULL)
            check_left_out(c, id_of(i));
    }
}

/* A case without a row that is not its own, which may still be what its own leans on. */
static void check_pair(const rewrite_case *c, const mw_graph *graph, mw_program *source, const seen_passes *with,
                       mw__rule_id off)
{
    char what[100];
    mw_error refused = {0};
    seen_passes seen = {0};
    snprintf(what, sizeof what, "%s without %s", c->row, mw__pass_rule_of(off)->name);
    mw_program *made = compiled_for(graph, device_of(c), c->chip, mw__pass_rule_of(off)->name, &seen, &refused);
    if (made != NULL && seen_differ(with, &seen))
        compare_made(c, what, source, made);
    else if (made == NULL)
        check_note(is_refusal(&refused), __FILE__, __LINE__, "%s: %d %s", what, (int)refused.status, refused.message);
    check_note(seen.broken == NULL, __FILE__, __LINE__, "%s: %s breaks its invariant", what, seen.broken);
    mw_program_destroy(made);
    seen_deinit(&seen);
}

/* By night those of other passes, too. */
static bool is_looked_at(const rewrite_case *c, mw__rule_id off)
{
    const mw__rule *rule = mw__pass_rule_of(off), *own = mw__pass_rule_of(mw__pass_rule_find(c->row, strlen(c->row)));
    return (rule->flags & MW__RULE_REQUIRED) == 0 && (rule->pass == own->pass || night_has_come());
}

static void check_pairs(const rewrite_case *c)
{
    mw_error err = {0}, refused = {0};
    seen_passes with = {0};
    mw_graph *graph = graph_of(c, &err);
    mw_program *source = source_of(graph, &err);
    mw_program *whole = compiled_for(graph, device_of(c), c->chip, NULL, &with, &refused);
    CHECK_OK(err);
    for (size_t i = 0; i < row_count(); i++)
        if (is_looked_at(c, id_of(i)))
            check_pair(c, graph, source, &with, id_of(i));
    mw_program_destroy(whole);
    mw_program_destroy(source);
    mw_graph_destroy(graph);
    seen_deinit(&with);
}

static void test_no_row_that_is_left_out_makes_another_wrong(void)
{
    for (size_t i = 0; rewrite_case_at(i) != NULL; i++)
        check_pairs(rewrite_case_at(i));
}

/* ---- in fp32 ---- */

static void compare_wide(const rewrite_case *c, const mw_graph *graph, const mw_graph *written)
{
    mw_error err = {0};
    const compiled_bound bound = {.unit = single_unit, .units = c->wide_bound};
    mw_program *source = source_of(graph, &err), *made = source_of(written, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "row %s: %s", c->row, err.message))
        compiled_compare(c, c->row, source, made, &bound);
    mw_program_destroy(made);
    mw_program_destroy(source);
}

/* The graph itself, as the text of a pass names its constants and does not have them. */
static void check_decomposed(const rewrite_case *c)
{
    mw_error err = {0};
    bool any = false;
    const mw__legality ane = {.device = mw__device_find(MW_DEVICE_ANE), .chip = mw__chip_find(c->chip)};
    mw_graph *graph = graph_of(c, &err), *written = mw_graph_create(NULL, NULL);
    mw__mil_decompose(graph, written, &ane, NULL, &any, &err);
    CHECK_OK(err);
    if (check_note(any, __FILE__, __LINE__, "row %s: nothing is decomposed", c->row))
        compare_wide(c, graph, written);
    mw_graph_destroy(written);
    mw_graph_destroy(graph);
}

static void test_decomposed_forms_compute_the_same_in_fp32(void)
{
    for (size_t i = 0; i < row_count(); i++)
        if (mw__pass_rule_of(id_of(i))->pass == MW__RULE_decompose && case_of(i) != NULL)
            check_decomposed(case_of(i));
}

int main(void)
{
    RUN(test_every_row_computes_what_its_operation_does);
    RUN(test_every_bound_has_a_reason);
    RUN(test_every_row_is_left_out_or_required);
    RUN(test_no_row_that_is_left_out_makes_another_wrong);
    RUN(test_decomposed_forms_compute_the_same_in_fp32);
    return check_finish();
}
