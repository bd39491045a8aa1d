/* Cases recorded from the operator tests of coremltools, on both devices of the engine. They are read where they lie
 * and are no part of this repository; each rule that they taught has a case of its own in test_rules.c.
 *
 * CPU: the test's own tolerance. Where the program holds numbers of fp16 the recorded result and ours are rounded in
 * other places (the tests also compute from weights before they are rounded), at worst each once at the scale of the
 * largest element: two halves of its unit.
 *
 * ANE: let r be the result of the CPU for inputs and constants rounded to fp16, which no kernel of fp16 had a part in,
 * and e what coremltools expects. |e - r| is what rounding the inputs costs in this case. On top of it every operation
 * that computes rounds its result once, to half a unit: of the element itself for one operation, of the largest for a
 * chain, whose later operations may cancel. The recorded numbers are as good as the test's own tolerance. A result
 * beyond fp16's range is infinite. */
#include "recorded.h"
#include "support/check.h"

#include "graph/ir/ir.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER          MW_SHARED_DATA "/coremltools"
#define HALF_UNIT       0x1p-11 /* of 1 in fp16 */
#define SUBNORMAL       0x1p-24
#define EXCEPTIONS_MAX  20
#define ANE_REFUSED_MAX 7 /* of 1,508 */
#define REFUSALS_MAX    64

/* Cases that are refused for the same rule: for the same words but for names and numbers. */
typedef struct refusal {
    char rule[256];
    char cases[160];
    int count;
} refusal;

typedef struct tally {
    int ran, agreed, refused, excepted;
    refusal refusals[REFUSALS_MAX];
    size_t rules;
} tally;

typedef struct totals {
    int cases, left_out; /* left out: an operation that the table does not have */
    tally cpu, ane;
} totals;

/* ---- what the CPU may refuse ---- */

typedef struct excepted {
    const char *name, *message, *rule;
} excepted;

/* The words in quotes are those of the MIL reference (the doc strings of coremltools' operators). */
static const excepted exceptions[] = {
    {"00155", "not known before the program runs",
     "make_list with dynamic_length, whose length the values of an input say, and range_1d of it: \"M = ceil((end - "
     "start) / step)\" elements. Well formed, but every extent of a program of ours is known when it is planned "
     "(docs/status.md, known limits)"},
    {"02130", "declared int32 [2, 5, 3], the rule gives int32 [2, 2, 3]",
     "malformed: slice_by_size: \"if size is -1, all the remaining elements starting with begin are sliced\": from -2 "
     "of 3 on there are 2, as in the recorded result; the declared type says 5"},
    {"01966", "extents that are not known before the program runs",
     "non_zero: its result has a row for each element that is not 0, and every extent is known when a plan is made"},
    {"01967", "extents that are not known before the program runs", "non_zero, likewise"},
    {"05921", "declared int32 [2, 5, 3], the rule gives int32 [2, 2, 3]", "malformed: slice_by_size, likewise"},
};

static bool is_excepted(const char *name, const char *message)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].name, name) == 0 && strstr(message, exceptions[i].message) != NULL)
            return true;
    return false;
}

/* ---- what is refused ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The message without what differs from case to case: names, and # for a number that stands alone. */
static void rule_of(const char *message, char *rule, size_t size)
{
    size_t at = 0;
    for (const char *c = message; *c != '\0' && at + 1 < size; c++) {
        const bool alone = at == 0 || strchr(" [(", rule[at - 1]) != NULL;
        if (*c == '"' && strchr(c + 1, '"') != NULL) {
            c = strchr(c + 1, '"');
        } else if (is_digit(*c) && alone) {
            rule[at++] = '#';
            c += strspn(c, "0123456789") - 1;
        } else {
            rule[at++] = *c;
        }
    }
    rule[at] = '\0';
}

static void note_refusal(tally *t, const char *name, const char *message)
{
    char rule[sizeof t->refusals->rule];
    size_t at = 0;
    rule_of(message, rule, sizeof rule);
    while (at < t->rules && strcmp(t->refusals[at].rule, rule) != 0)
        at++;
    if (at == REFUSALS_MAX)
        return;
    refusal *r = &t->refusals[at];
    if (at == t->rules) {
        *r = (refusal){.count = 0};
        memcpy(r->rule, rule, sizeof rule);
        t->rules++;
    }
    const size_t length = strlen(r->cases);
    snprintf(r->cases + length, sizeof r->cases - length, "%s%s", length > 0 ? " " : "", name);
    r->count++;
}

/* ---- what was recorded wrong ---- */

typedef struct slip {
    const char *name;
    size_t result, element;
    double recorded, right;
    const char *why;
} slip;

static const slip slips[] = {{"02386", 0, 5, 7.899, 7.9,
                              "crop_resize: row 1.5 and column 0.9 of 1 + 4 row + column is 7.9; the test has 7.899"}};

static void mend(const char *name, results *wanted)
{
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const slip *s = &slips[i];
        if (strcmp(s->name, name) != 0)
            continue;
        const bool there = wanted->count > s->result && wanted->elements[s->result] > s->element &&
                           fabs(wanted->element[s->result][s->element] - s->recorded) < 1e-5;
        if (check_note(there, __FILE__, __LINE__, "%s: not the number that was recorded (%s)", name, s->why))
            wanted->element[s->result][s->element] = s->right;
    }
}

/* ---- comparing ---- */

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static double largest(const double *element, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(element[i]))
            most = fmax(most, fabs(element[i]));
    return most;
}

/* A case while it is checked. */
typedef struct checked {
    const recorded *record;
    const char *name;
    results wanted, near; /* near: on the CPU with rounded inputs; only for the ANE */
    const char *where;
} checked;

static bool same_counts(const checked *c, const results *got)
{
    bool good = got->count == c->wanted.count;
    for (size_t k = 0; good && k < got->count; k++)
        good = got->elements[k] == c->wanted.elements[k];
    return check_note(good, __FILE__, __LINE__, "%s on the %s: other results than were recorded", c->name, c->where);
}

static bool close_to(const checked *c, size_t k, size_t i, double got, double allowed)
{
    const double wanted = c->wanted.element[k][i];
    if (same(got, wanted) || fabs(got - wanted) <= allowed)
        return true;
    return check_note(false, __FILE__, __LINE__,
                      "%s (%s) on the %s: result %zu element %zu is %.9g, not %.9g within %g", c->name,
                      mw__safetensors_metadata(&c->record->values, "operations"), c->where, k, i, got, wanted, allowed);
}

static bool agrees_on_cpu(const checked *c, const results *got)
{
    bool good = same_counts(c, got);
    for (size_t k = 0; good && k < got->count; k++) {
        const double most = largest(c->wanted.element[k], c->wanted.elements[k]);
        const double twice = got->holds_half ? 2.0 * HALF_UNIT * most : 0.0;
        for (size_t i = 0; good && i < got->elements[k]; i++)
            good = close_to(c, k, i, got->element[k][i],
                            c->record->atol + c->record->rtol * fabs(c->wanted.element[k][i]) + twice);
    }
    return good;
}

static bool agrees_on_ane(const checked *c, const results *got)
{
    bool good = same_counts(c, got) && same_counts(c, &c->near);
    for (size_t k = 0; good && k < got->count; k++) {
        const double most = largest(c->near.element[k], c->near.elements[k]);
        for (size_t i = 0; good && i < got->elements[k]; i++) {
            const double near = c->near.element[k][i], moved = fabs(c->wanted.element[k][i] - near);
            const double scale = got->computing > 1 ? (double)got->computing * most : fabs(near);
            if (same(got->element[k][i], near) || (fabs(near) >= 65520.0 && isinf(got->element[k][i])))
                continue;
            good = close_to(c, k, i, got->element[k][i], moved + scale * HALF_UNIT + SUBNORMAL + c->record->atol);
        }
    }
    return good;
}

/* ---- running ---- */

static void run_cpu(checked *c, tally *t)
{
    mw_error err = {0};
    results got = {.count = 0};
    mw_graph *graph = recorded_graph(c->record, &err);
    c->where = "CPU";
    t->ran++;
    mw_graph_verify(graph, &err);
    if (err.status == MW_OK && recorded_run(c->record, graph, MW_DEVICE_CPU, EXACT, &got, &err) == MW_OK) {
        t->agreed += agrees_on_cpu(c, &got);
    } else {
        t->refused++;
        note_refusal(t, c->name, err.message);
        const bool known = is_excepted(c->name, err.message);
        t->excepted += known;
        check_note(known, __FILE__, __LINE__, "%s (%s) is refused: %s", c->name,
                   mw__safetensors_metadata(&c->record->values, "operations"), err.message);
    }
    results_free(&got);
    mw_graph_destroy(graph);
}

/* A refusal for the chip's sake says which rule it is and where that is from, and which rewrite was tried if there is
 * one; a program that no device takes is the CPU's exception. */
static void check_refusal(const checked *c, const mw_error *err)
{
    const bool chip = strstr(err->message, "ANE") != NULL && strstr(err->message, "(source: ") != NULL;
    check_note(chip || is_excepted(c->name, err->message), __FILE__, __LINE__,
               "%s (%s) is refused for the ANE without a rule of the chip: %s", c->name,
               mw__safetensors_metadata(&c->record->values, "operations"), err->message);
}

static void run_ane(checked *c, tally *t)
{
    mw_error err = {0};
    results got = {.count = 0};
    mw_graph *graph = recorded_graph(c->record, &err), *rounded = recorded_graph(c->record, &err);
    c->where = "ANE";
    t->ran++;
    if (recorded_run(c->record, graph, MW_DEVICE_ANE, EXACT, &got, &err) != MW_OK) {
        t->refused++;
        note_refusal(t, c->name, err.message);
        check_refusal(c, &err);
    } else if (recorded_run(c->record, rounded, MW_DEVICE_CPU, ROUNDED, &c->near, &err) == MW_OK) {
        t->agreed += agrees_on_ane(c, &got);
    } else {
        check_note(false, __FILE__, __LINE__, "%s: the ANE runs what the CPU refuses: %s", c->name, err.message);
    }
    results_free(&got);
    results_free(&c->near);
    mw_graph_destroy(graph);
    mw_graph_destroy(rounded);
}

static void run_case(const char *name, totals *t)
{
    char path[512];
    mw_error err = {0};
    recorded r;
    snprintf(path, sizeof path, FOLDER "/%s", name);
    if (recorded_open(&r, path, &err) != MW_OK) {
        check_note(false, __FILE__, __LINE__, "%s: %s", name, err.message);
        return;
    }
    checked c = {.record = &r, .name = name};
    mw_graph *graph = recorded_graph(&r, &err);
    t->cases++;
    if (graph != NULL && recorded_unknown(graph) > 0) {
        t->left_out++;
    } else if (graph != NULL && recorded_wanted(&r, &c.wanted, &err) == MW_OK) {
        mend(name, &c.wanted);
        run_cpu(&c, &t->cpu);
        run_ane(&c, &t->ane);
    }
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", name, err.message);
    results_free(&c.wanted);
    mw_graph_destroy(graph);
    recorded_close(&r);
}

static void report(const char *device, const tally *t)
{
    printf("  %s: %d ran, %d agreed, %d refused\n", device, t->ran, t->agreed, t->refused);
    for (size_t i = 0; i < t->rules; i++)
        printf("    %d %s (%s)\n", t->refusals[i].count, t->refusals[i].rule, t->refusals[i].cases);
}

static void test_operator_tests_of_coremltools_agree(void)
{
    static totals t;
    struct dirent **entries;
    const int count = scandir(FOLDER, &entries, NULL, alphasort);
    if (count < 0)
        SKIP("no recorded cases at " FOLDER);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] >= '0' && entries[i]->d_name[0] <= '9')
            run_case(entries[i]->d_name, &t);
        free(entries[i]);
    }
    free(entries);
    printf("  %d cases, %d left out: an operation is not in the table\n", t.cases, t.left_out);
    report("CPU", &t.cpu);
    report("ANE", &t.ane);
    CHECK(t.cpu.ran > 0 && t.ane.ran == t.cpu.ran);
    CHECK(t.cpu.refused <= EXCEPTIONS_MAX);
    CHECK_INT(t.cpu.agreed + t.cpu.excepted, t.cpu.ran);
    CHECK_INT(t.ane.agreed + t.ane.refused, t.ane.ran);
    CHECK(t.ane.refused <= ANE_REFUSED_MAX);
}

int main(void)
{
    RUN(test_operator_tests_of_coremltools_agree);
    return check_finish();
}
