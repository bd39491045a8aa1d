/* mw_chip_report_create: every row where it trips and where it just does not, what the report says, and what it is
 * given. */
#include "mil/legalize/legal_form.h"
#include "rules/legality.h"
#include "support/check.h"
#include "support/chip/legality_cases.h"
#include "support/failing.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096 };

static mw_graph *parse(const char *inputs, const char *body)
{
    char text[TEXT_MAX];
    mw_error err = {0};
    legality_text(inputs, body, text, sizeof text);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    return graph;
}

static mw_chip_report *check_by(const mw_graph *graph, mw_chip chip, mw_chip_judge judge, bool as_it_is)
{
    mw_error err = {0};
    mw_chip_check_options options = mw_chip_check_defaults();
    options.judge = judge;
    options.as_it_is = as_it_is;
    mw_chip_report *report = mw_chip_report_create(graph, chip, &options, &err);
    CHECK_OK(err);
    return report;
}

static mw_chip_report *check(const mw_graph *graph, mw_chip chip, bool as_it_is)
{
    return check_by(graph, chip, MW_CHIP_JUDGE_DIRECT, as_it_is);
}

static const mw_chip_finding *find(const mw_chip_report *report, const char *rule)
{
    for (size_t i = 0; mw_chip_report_finding_at(report, i) != NULL; i++)
        if (strcmp(mw_chip_report_finding_at(report, i)->rule, rule) == 0)
            return mw_chip_report_finding_at(report, i);
    return NULL;
}

/* ---- every row ---- */

static const legality_case *case_of(const char *rule)
{
    const legality_case *c;
    for (size_t i = 0; (c = legality_case_at(i)) != NULL; i++)
        if (strcmp(c->rule, rule) == 0)
            return c;
    return NULL;
}

/* The one that the row is of. */
static mw_chip_judge judge_of(const mw__legality_row *row)
{
    return row->judges == MW__BY_COREML ? MW_CHIP_JUDGE_COREML : MW_CHIP_JUDGE_DIRECT;
}

/* The other judge has the row only if it is of both. */
static void check_other_judge(const mw__legality_row *row, const mw_graph *graph, mw_chip chip)
{
    const bool coreml = judge_of(row) == MW_CHIP_JUDGE_COREML;
    mw_chip_report *report = check_by(graph, chip, coreml ? MW_CHIP_JUDGE_DIRECT : MW_CHIP_JUDGE_COREML, true);
    check_note((find(report, row->id) != NULL) == (row->judges == MW__BY_BOTH), __FILE__, __LINE__,
               "%s: wrong for the other judge", row->id);
    mw_chip_report_destroy(report);
}

/* The finding says what the row says; on chips that are not in its set there is none. */
static void check_trips(const mw__legality_row *row, const legality_case *c)
{
    mw_graph *graph = parse(c->inputs, c->trips);
    const mw__chip_row *chip;
    for (size_t i = 0; graph != NULL && (chip = mw__chip_at(i)) != NULL; i++) {
        mw_chip_report *report = check_by(graph, chip->chip, judge_of(row), true);
        const mw_chip_finding *finding = find(report, row->id);
        if (chip->chip == c->chip) {
            check_other_judge(row, graph, c->chip);
            check_note(finding != NULL, __FILE__, __LINE__, "%s: does not trip on %s", row->id, chip->name);
            check_note(finding == NULL || strchr(finding->message, '{') == NULL, __FILE__, __LINE__, "%s: %s", row->id,
                       finding != NULL ? finding->message : "");
            CHECK(finding == NULL ||
                  (finding->source == row->source && finding->verdict == (mw_chip_verdict)row->verdict));
        }
        if ((row->chips & MW__ON(chip->chip)) == 0)
            check_note(finding == NULL, __FILE__, __LINE__, "%s: trips on %s, which is not in its set", row->id,
                       chip->name);
        mw_chip_report_destroy(report);
    }
    mw_graph_destroy(graph);
}

static void check_inside(const mw__legality_row *row, const legality_case *c)
{
    if (c->inside == NULL)
        return;
    mw_graph *graph = parse(c->inside_inputs != NULL ? c->inside_inputs : c->inputs, c->inside);
    mw_chip_report *report = graph != NULL ? check_by(graph, c->chip, judge_of(row), true) : NULL;
    check_note(find(report, row->id) == NULL, __FILE__, __LINE__, "%s: trips inside its limit", row->id);
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

static void test_every_row_trips_and_stops_at_its_limit(void)
{
    const mw__legality_row *row;
    for (size_t i = 0; (row = mw__legality_at(i)) != NULL; i++) {
        const legality_case *c = case_of(row->id);
        if (!check_note(c != NULL, __FILE__, __LINE__, "row %s has no case", row->id))
            continue;
        check_note((row->chips & MW__ON(c->chip)) != 0, __FILE__, __LINE__, "%s: wrong chip", row->id);
        check_trips(row, c);
        check_inside(row, c);
    }
}

/* ---- the rows themselves ---- */

static void test_rows_are_complete(void)
{
    const mw__legality_row *row;
    for (size_t i = 0; (row = mw__legality_at(i)) != NULL; i++) {
        check_note(case_of(row->id) != NULL && row->rule[0] != '\0' && row->source[0] != '\0', __FILE__, __LINE__,
                   "%s lacks something", row->id);
        check_note((row->judges == MW__BY_COREML) == (row->stage == MW__STAGE_PLANNER), __FILE__, __LINE__,
                   "%s: the planner stops what the judge does not say", row->id);
        check_note((row->op != NULL) + (row->port != NULL) + (row->function != NULL) == 1, __FILE__, __LINE__,
                   "%s asks not one thing", row->id);
        for (size_t k = 0; k < i; k++)
            check_note(strcmp(mw__legality_at(k)->id, row->id) != 0, __FILE__, __LINE__, "two rows %s", row->id);
        for (const char *const *name = row->operations; name != NULL && *name != NULL; name++)
            check_note(mw__row_find(*name, MW_IOS18, NULL) != NULL, __FILE__, __LINE__, "%s: no operation %s", row->id,
                       *name);
    }
    const legality_case *c;
    for (size_t i = 0; (c = legality_case_at(i)) != NULL; i++) {
        bool known = false;
        for (size_t k = 0; (row = mw__legality_at(k)) != NULL; k++)
            known = known || strcmp(row->id, c->rule) == 0;
        check_note(known, __FILE__, __LINE__, "case %s has no row", c->rule);
    }
}

/* ---- reports ---- */

/* Three that mw_program_create mends, one that it does not. */
static const char mixed_inputs[] = "tensor<fp32, [4]> x";
static const char mixed_body[] =
    "tensor<fp32, [4]> s = sin(x = x); tensor<fp32, [20]> t = tile(reps = tensor<int32, "
    "[1]>([5]), x = s); tensor<fp32, [2]> y, tensor<int32, [2]> i = topk(ascending = "
    "bool(false), axis = int32(0), k = int32(2), output_indices_dtype = string(\"int32\"), "
    "return_indices = bool(true), sort = bool(true), x = t);";

static void test_all_findings_come_at_once(void)
{
    mw_graph *graph = parse(mixed_inputs, mixed_body);
    mw_chip_report *report = check(graph, MW_CHIP_H13, true);
    static const char *const rules[] = {"float_type", "sine", "tile_factor", "sort", "input_type", "output_type"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        check_note(find(report, rules[i]) != NULL, __FILE__, __LINE__, "no finding %s", rules[i]);
    CHECK_INT(mw_chip_report_get_info(report).finding_count, 6);
    CHECK(!mw_chip_report_get_info(report).passes);
    const mw_chip_finding *sort = find(report, "sort");
    CHECK_STR(sort->operation, "topk");
    CHECK_STR(sort->tensor, "y");
    CHECK(sort->stage == MW_CHIP_STAGE_LOWERING && sort->text_line == 2);
    const mw_chip_finding *tile = find(report, "tile_factor");
    CHECK_INT(tile->there, 5);
    CHECK_STR(tile->message, "5 is no product of the factors 2, 3, 4 and 8");
    CHECK_STR(tile->rewrite, "tile_copies");
    CHECK(tile->reason != NULL && !tile->rewritten);
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

static void test_what_is_rewritten_is_noted(void)
{
    mw_graph *graph = parse(mixed_inputs, mixed_body);
    mw_chip_report *report = check(graph, MW_CHIP_H13, false);
    for (size_t i = 0; mw_chip_report_finding_at(report, i) != NULL; i++) {
        const mw_chip_finding *f = mw_chip_report_finding_at(report, i);
        const bool left = strcmp(f->rule, "sort") == 0;
        check_note(f->verdict == (left ? MW_CHIP_REFUSED : MW_CHIP_NOTED) && f->rewritten == !left, __FILE__, __LINE__,
                   "%s is %d", f->rule, (int)f->verdict);
    }
    CHECK_INT(mw_chip_report_get_info(report).finding_count, 6);
    mw_chip_report_destroy(report);
    report = check(graph, MW_CHIP_H15, false);
    CHECK(mw_chip_report_get_info(report).passes);
    CHECK(find(report, "sine") == NULL && find(report, "tile_factor") != NULL);
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

/* mw_program_create takes their shapes or values later. */
static bool is_chosen_later(const char *rule)
{
    return strcmp(rule, "concat_axis") == 0 || strcmp(rule, "input_open") == 0;
}

/* The same verdict as compiling. */
static void test_what_passes_compiles_and_the_rest_does_not(void)
{
    static const mw_chip chips[] = {MW_CHIP_H13, MW_CHIP_H14, MW_CHIP_H15, MW_CHIP_H16, MW_CHIP_H17};
    const legality_case *c;
    for (size_t i = 0; (c = legality_case_at(i)) != NULL; i++) {
        mw_graph *graph = parse(c->inputs, c->trips);
        for (size_t k = 0;
             strstr(c->trips, "BLOBFILE") == NULL && !is_chosen_later(c->rule) && k < sizeof chips / sizeof *chips;
             k++) {
            mw_error err = {0};
            mw_compile_options options = mw_compile_defaults();
            options.provider = MW_PROVIDER_ENGINE;
            options.device = MW_DEVICE_ANE;
            options.chip = chips[k];
            options.threads = 1;
            mw_chip_report *report = check(graph, chips[k], false);
            mw_program *program = mw_program_create(graph, &options, &err);
            check_note((program != NULL) == mw_chip_report_get_info(report).passes, __FILE__, __LINE__, "%s on %s: %s",
                       c->rule, mw_chip_name(chips[k]), err.message);
            mw_program_destroy(program);
            mw_chip_report_destroy(report);
        }
        mw_graph_destroy(graph);
    }
}

/* What Core ML offers is asked of the program that mw_program_create writes, which has no int32 left. */
static void test_the_judges_differ(void)
{
    static const char inputs[] = "tensor<int32, [4]> x";
    static const char body[] = "tensor<int32, [4]> a = add(x = x, y = x); tensor<fp16, [4]> y = cast(dtype = "
                               "string(\"fp16\"), x = a);";
    mw_graph *graph = parse(inputs, body);
    mw_chip_report *report = check_by(graph, MW_CHIP_H16, MW_CHIP_JUDGE_COREML, true);
    CHECK(find(report, "coreml_int32") != NULL && find(report, "input_type") == NULL);
    CHECK(find(report, "coreml_int32")->stage == MW_CHIP_STAGE_PLANNER);
    CHECK(!mw_chip_report_get_info(report).passes);
    char *text = mw_chip_report_print(report, NULL);
    CHECK_CONTAINS(text, "h16 (M4), offered by Core ML: 2 refused");
    mw_string_free(text);
    mw_chip_report_destroy(report);
    report = check_by(graph, MW_CHIP_H16, MW_CHIP_JUDGE_COREML, false);
    CHECK(mw_chip_report_get_info(report).passes && find(report, "coreml_int32")->rewritten);
    mw_chip_report_destroy(report);
    report = check(graph, MW_CHIP_H16, true);
    CHECK(find(report, "coreml_int32") == NULL && find(report, "input_type") != NULL);
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

static void test_a_graph_without_names_is_checked(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(4));
    mw_output(mw_relu(mw_sin(mw_relu(x))), "y");
    mw_chip_report *report = check(graph, MW_CHIP_H14, true);
    CHECK_INT(mw_chip_report_get_info(report).finding_count, 1);
    CHECK(find(report, "sine") != NULL && find(report, "sine")->tensor != NULL);
    mw_chip_report_destroy(report);
    CHECK(mw_graph_check(graph, NULL) == MW_OK);
    mw_graph_destroy(graph);
}

static void test_operations_that_break_their_own_rule_are_findings(void)
{
    mw_graph *graph =
        parse("tensor<fp16, [4]> x", "tensor<fp16, [5]> a = relu(x = x); tensor<fp16, [5]> b = no_such(x = "
                                     "a); tensor<fp16, [5]> y = tan(x = b);");
    for (int as_it_is = 0; as_it_is < 2; as_it_is++) {
        mw_chip_report *report = check(graph, MW_CHIP_H17, as_it_is != 0);
        CHECK(find(report, "operation_rule") != NULL && find(report, "unknown_operation") != NULL);
        CHECK(find(report, "tan") != NULL && !mw_chip_report_get_info(report).passes);
        mw_chip_report_destroy(report);
    }
    mw_graph_destroy(graph);
}

static void test_the_text_says_it_all(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(mixed_inputs, mixed_body);
    mw_chip_report *report = check(graph, MW_CHIP_H13, false);
    char *text = mw_chip_report_print(report, &err);
    CHECK_OK(err);
    CHECK_CONTAINS(text, "h13 (M1): 1 refused, 0 warned, 5 noted");
    CHECK_CONTAINS(text, "refused topk \"y\" at 2:");
    CHECK_CONTAINS(text,
                   "it came with h14 (M2); the validator of h13 takes it\n    rule sort, lowering\n    source: ane");
    CHECK_CONTAINS(text, "noted sin \"s\" at 2:");
    CHECK_CONTAINS(text, "    rewritten: sine, a series of what is left of the nearest multiple of pi");
    mw_string_free(text);
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

/* ---- what it is given ---- */

static void refuse(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options, mw_status status,
                   const char *part)
{
    mw_error err = {0};
    CHECK(mw_chip_report_create(graph, chip, options, &err) == NULL);
    CHECK_ERROR(err, status, part);
    CHECK(mw_chip_report_create(graph, chip, options, NULL) == NULL);
}

static void test_bad_input_is_refused(void)
{
    const mw_chip_check_options zeroed = {0};
    mw_chip_check_options options = mw_chip_check_defaults();
    mw_graph *graph = parse("tensor<fp16, [4]> x", "tensor<fp16, [4]> y = relu(x = x);");
    refuse(NULL, MW_CHIP_H13, NULL, MW_ERROR_ARGUMENT, "the graph is NULL");
    refuse(graph, (mw_chip)10, NULL, MW_ERROR_ARGUMENT, "unknown chip 10");
    refuse(graph, (mw_chip)-1, NULL, MW_ERROR_ARGUMENT, "unknown chip -1");
    refuse(graph, MW_CHIP_H13, &zeroed, MW_ERROR_ARGUMENT, "mw_chip_check_defaults");
    options.judge = (mw_chip_judge)2;
    refuse(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "unknown judge 2");
    options.judge = MW_CHIP_JUDGE_COREML;
    options.function = "other";
    refuse(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "there is no function \"other\"");
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    mw_matmul(mw_input(graph, "x", MW_F16, MW_SHAPE(2, 3)), mw_input(graph, "w", MW_F16, MW_SHAPE(2, 3)), 0);
    refuse(graph, MW_CHIP_H13, NULL, MW_ERROR_SHAPE, "inner dimensions differ");
    mw_graph_destroy(graph);
}

static void test_nothing_of_a_null_report_is_there(void)
{
    mw_error err = {0};
    CHECK_INT(mw_chip_report_get_info(NULL).finding_count, 0);
    CHECK(mw_chip_report_finding_at(NULL, 0) == NULL && !mw_chip_report_get_info(NULL).passes);
    CHECK(mw_chip_report_print(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the report is NULL");
    mw_chip_report_destroy(NULL);
    CHECK_STR(mw_chip_name(MW_CHIP_H17), "h17");
    CHECK(mw_chip_name((mw_chip)10) == NULL);
    static const struct {
        const char *name;
        mw_chip chip;
    } names[] = {{"any", MW_CHIP_AUTO}, {"m1", MW_CHIP_H13},   {"M4", MW_CHIP_H16},  {"a18", MW_CHIP_H18},
                 {"m6", MW_CHIP_H18G},  {"h16g", MW_CHIP_H16}, {"H19", MW_CHIP_H19}, {"h18g", MW_CHIP_H18G}};
    mw_chip chip = MW_CHIP_H11;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(mw_chip_from_name(names[i].name, &chip) && chip == names[i].chip);
    CHECK(!mw_chip_from_name("m9", &chip) && !mw_chip_from_name("", &chip) && !mw_chip_from_name("m1 a13", &chip));
    CHECK(!mw_chip_from_name(NULL, &chip) && !mw_chip_from_name("m1", NULL) && chip == MW_CHIP_H18G);
}

static void test_every_allocation_may_fail(void)
{
    mw_graph *graph = parse(mixed_inputs, mixed_body);
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_chip_check_options options = mw_chip_check_defaults();
        options.allocator = &allocator;
        mw_chip_report *report = mw_chip_report_create(graph, MW_CHIP_H13, &options, &err);
        CHECK(report != NULL ? mw_chip_report_get_info(report).finding_count == 6 : err.status == MW_ERROR_MEMORY);
        mw_chip_report_destroy(report);
        if (!CHECK_INT(failing.live, 0) || !failing.failed)
            break;
    }
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_every_row_trips_and_stops_at_its_limit);
    RUN(test_rows_are_complete);
    RUN(test_all_findings_come_at_once);
    RUN(test_what_is_rewritten_is_noted);
    RUN(test_what_passes_compiles_and_the_rest_does_not);
    RUN(test_the_judges_differ);
    RUN(test_a_graph_without_names_is_checked);
    RUN(test_operations_that_break_their_own_rule_are_findings);
    RUN(test_the_text_says_it_all);
    RUN(test_bad_input_is_refused);
    RUN(test_nothing_of_a_null_report_is_there);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
