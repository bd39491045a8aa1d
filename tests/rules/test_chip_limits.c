/* What the compiler for M4 and M6 takes and what Core ML on M4 offers to the ANE, as the M6 study swept it, against the
 * rows of rules/legality*.c. Neither table has rows that its README marks as generated. Rows of Core ML's that join the
 * models of a sweep are counted apart. */
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/chip/legality_cases.h"
#include "support/chip/swept_models.h"
#include "support/chip/vector_table.h"

#include <ctype.h>
#include <millwright/chip.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, NAME_LONGEST = 64 };

/* ---- one model ---- */

static mw_graph *parse(const char *name, const swept_text *model)
{
    char text[TEXT_MAX];
    mw_error err = {0};
    legality_text(model->inputs, model->body, text, sizeof text);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", name, err.message);
    return graph;
}

/* As it stands: the study gave its models to the compiler and to Core ML, not to mw_program_create. */
static mw_chip_report *check(const char *name, const mw_graph *graph, mw_chip chip, mw_chip_judge judge)
{
    mw_error err = {0};
    mw_chip_check_options options = mw_chip_check_defaults();
    options.as_it_is = true;
    options.judge = judge;
    mw_chip_report *report = mw_chip_report_create(graph, chip, &options, &err);
    check_note(report != NULL, __FILE__, __LINE__, "%s: %s", name, err.message);
    return report;
}

typedef struct tally {
    int right, wrong, unknown, untold;
} tally;

static void count_verdict(tally *all, bool good, const char *name, const char *ours, const char *theirs)
{
    all->right += good, all->wrong += !good;
    check_note(good, __FILE__, __LINE__, "%s: we say %s, the table %s", name, ours, theirs);
}

/* ---- direct_compile_h16g_h18g.tsv: model, M4, M6 ---- */

static const mw_chip_finding *first_refusal(const mw_chip_report *report)
{
    const mw_chip_finding *finding;
    for (size_t i = 0; (finding = mw_chip_report_finding_at(report, i)) != NULL; i++)
        if (finding->verdict == MW_CHIP_REFUSED)
            return finding;
    return NULL;
}

static void check_direct_row(const char *name, const char *theirs, mw_chip chip, tally *all)
{
    swept_text model;
    if (!swept_text_make(name, &model)) {
        all->unknown++;
        printf("%s: cannot be made, no model has that name\n", name);
        return;
    }
    mw_graph *graph = parse(name, &model);
    mw_chip_report *report = graph != NULL ? check(name, graph, chip, MW_CHIP_JUDGE_DIRECT) : NULL;
    if (report != NULL) {
        const mw_chip_finding *refused = first_refusal(report);
        count_verdict(all, (refused == NULL) == (strcmp(theirs, "compiles") == 0), name,
                      refused != NULL ? refused->rule : "it is taken", theirs);
    }
    all->unknown += report == NULL;
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

static bool is_verdict(const char *text) { return strcmp(text, "compiles") == 0 || strncmp(text, "refused", 7) == 0; }

/* A chip that was not swept itself is held to what two columns agree on. */
static void check_direct(mw_chip chip, int column, int other)
{
    vector_table t;
    tally all = {0};
    if (!vector_table_open(&t, "direct_compile_h16g_h18g.tsv"))
        SKIP("../shared/data/ane-numerics is not there");
    while (vector_table_next(&t)) {
        const char *theirs = t.field[column];
        if (is_verdict(theirs) && strcmp(theirs, t.field[other]) == 0) {
            check_direct_row(t.field[0], theirs, chip, &all);
        } else {
            all.untold++;
            printf("%s: %s: no verdict to hold it to (%s; %s)\n", mw_chip_name(chip), t.field[0], theirs,
                   t.field[other]);
        }
    }
    fclose(t.file);
    printf("%s: %d of %d models as the compiler has them; %d without a verdict, %d not made\n", mw_chip_name(chip),
           all.right, all.right + all.wrong, all.untold, all.unknown);
    CHECK(all.wrong == 0 && all.unknown == 0 && all.right > 50);
}

static void test_the_compiler_for_m4(void) { check_direct(MW_CHIP_H16, 1, 1); }
static void test_the_compiler_for_m6(void) { check_direct(MW_CHIP_H18G, 2, 2); }
static void test_h18_has_the_limits_of_both(void) { check_direct(MW_CHIP_H18, 1, 2); }
static void test_h19_has_the_limits_of_m6(void) { check_direct(MW_CHIP_H19, 2, 2); }

/* ---- coreml_support_m4.tsv: names of models, what is offered ---- */

/* Operations of a model that are offered: "yes", "no", or part by part: "index cast not, gather itself offered". */
static bool is_offered(const char *verdict, const swept_part *parts, const char *result)
{
    for (int i = 0; parts != NULL && i < SWEPT_PARTS && parts[i].called != NULL; i++) {
        const char *said = strstr(verdict, parts[i].called);
        char padded[NAME_LONGEST], word[NAME_LONGEST];
        snprintf(padded, sizeof padded, " %s ", parts[i].results);
        snprintf(word, sizeof word, " %s ", result);
        if (said != NULL && strstr(padded, word) != NULL)
            return strncmp(said + strlen(parts[i].called), " offered", 8) == 0;
    }
    return strcmp(verdict, "yes") == 0;
}

static const char *refused_by(const mw_chip_report *report, const char *result)
{
    const mw_chip_finding *finding;
    for (size_t i = 0; (finding = mw_chip_report_finding_at(report, i)) != NULL; i++)
        if (finding->verdict == MW_CHIP_REFUSED && finding->tensor != NULL && strcmp(finding->tensor, result) == 0)
            return finding->rule;
    return NULL;
}

/* Every operation of the model, as the planner weighs them one by one. */
static void check_operations(const char *name, const char *verdict, const swept_text *model, const mw_graph *graph,
                             const mw_chip_report *report, tally *all)
{
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw_tensor *result = body->ops[i]->results[0];
        if (mw__is_constant(result))
            continue;
        const char *rule = refused_by(report, result->name);
        char subject[2 * NAME_LONGEST];
        snprintf(subject, sizeof subject, "%s, %s of %s", name, result->name, body->ops[i]->kind);
        count_verdict(all, (rule == NULL) == is_offered(verdict, model->parts, result->name), subject,
                      rule != NULL ? rule : "it is offered", verdict);
    }
}

static void check_model(const char *name, const char *verdict, bool inside, tally *all)
{
    swept_text model;
    if (!swept_text_make(name, &model)) {
        all->unknown += !inside; /* 3 groups of 64 channels lie between those that were swept */
        if (!inside)
            printf("%s: cannot be made, no model has that name\n", name);
        return;
    }
    mw_graph *graph = parse(name, &model);
    mw_chip_report *report = graph != NULL ? check(name, graph, MW_CHIP_H16, MW_CHIP_JUDGE_COREML) : NULL;
    if (report != NULL)
        check_operations(name, verdict, &model, graph, report, all);
    all->unknown += report == NULL;
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

/* "sw_conv_k13..k15": each number from the one to the other. */
static bool check_range(const char *item, const char *verdict, tally *all)
{
    const char *dots = strstr(item, "..");
    if (dots == NULL)
        return false;
    const char *digits = dots;
    while (digits > item && isdigit((unsigned char)digits[-1]))
        digits--;
    const int first = atoi(digits), last = atoi(dots + 2 + strcspn(dots + 2, "0123456789"));
    for (int n = first; n <= last; n++) {
        char name[NAME_LONGEST];
        snprintf(name, sizeof name, "%.*s%d", (int)(digits - item), item, n);
        check_model(name, verdict, n > first && n < last, all);
    }
    return true;
}

/* The name that "17" or "k64x1" stands for after "sw_conv_k1x16" or "sw_conv_k32x1". */
static void complete_name(char *name, const char *item)
{
    size_t keep = strlen(name);
    if (isdigit((unsigned char)item[0]))
        while (keep > 0 && isdigit((unsigned char)name[keep - 1]))
            keep--;
    else
        keep = item[0] == 'k' && keep > 0 ? (size_t)(strrchr(name, 'k') - name) : 0;
    snprintf(name + keep, NAME_LONGEST - keep, "%s", item);
}

/* Returns true if the row joins models. */
static bool check_coreml_row(char *names, const char *verdict, tally *row, tally *joined)
{
    char name[NAME_LONGEST] = "";
    names[strcspn(names, "(+")] = '\0'; /* what the model is made of */
    const bool joins = strchr(names, ',') != NULL || strstr(names, "..") != NULL;
    for (char *rest, *item = strtok_r(names, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest)) {
        if (check_range(item, verdict, joined))
            continue;
        complete_name(name, item);
        check_model(name, verdict, false, joins ? joined : row);
    }
    return joins;
}

static void test_what_core_ml_offers_on_m4(void)
{
    vector_table t;
    tally single = {0}, joined = {0};
    int rows = 0, joins = 0;
    if (!vector_table_open(&t, "coreml_support_m4.tsv"))
        SKIP("../shared/data/ane-numerics is not there");
    for (; vector_table_next(&t); rows++)
        joins += check_coreml_row(t.field[0], t.field[1], &single, &joined);
    fclose(t.file);
    printf("Core ML on M4: %d rows of one model, %d of %d operations as offered, %d models not made\n", rows - joins,
           single.right, single.right + single.wrong, single.unknown);
    printf("Core ML on M4: %d rows that join models, %d of %d operations as offered, %d models not made\n", joins,
           joined.right, joined.right + joined.wrong, joined.unknown);
    CHECK(single.wrong + joined.wrong == 0 && single.unknown + joined.unknown == 0 && rows > 200);
}

int main(void)
{
    RUN(test_the_compiler_for_m4);
    RUN(test_the_compiler_for_m6);
    RUN(test_h18_has_the_limits_of_both);
    RUN(test_h19_has_the_limits_of_m6);
    RUN(test_what_core_ml_offers_on_m4);
    return check_finish();
}
