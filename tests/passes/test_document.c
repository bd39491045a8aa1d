/* The tables of docs/passes.md are what the rows say. MW_UPDATE_GOLDENS=1 writes them anew. */
#include "passes/rule.h"
#include "support/check.h"
#include "support/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 16, OPTIONAL = 0, REQUIRED = MW__RULE_REQUIRED };

static const char *may(unsigned flags) { return (flags & MW__RULE_REQUIRED) != 0 ? "no" : "yes"; }

typedef struct small_text {
    char text[64];
} small_text;

/* "ELEMENTS | SUMS": "elements, sums" */
static small_text lower_case(const char *names)
{
    small_text out = {""};
    size_t to = 0;
    for (size_t i = 0; names[i] != '\0' && to + 1 < sizeof out.text; i++)
        if (names[i] == '|')
            out.text[to - 1] = ',';
        else
            out.text[to++] = (char)tolower((unsigned char)names[i]);
    return out;
}

static void check_section(const char *name, page *section)
{
    char path[512];
    REQUIRE(section->text != NULL);
    snprintf(path, sizeof path, "%s/../docs/passes.md", MW_TESTS_DIR);
    page_check_section(path, name, section->text);
    page_free(section);
}

/* ---- passes ---- */

/* The invariants (passes/invariant.h, mw__steps_* of engine/compile/step_pass.h) in words. */
static const char *words_of(const char *invariant)
{
    static const char *const words[][2] = {
        {"anything", ""},
        {"no_states", "no value is a state, and no operation reads or writes one"},
        {"flat", "for a device whose ports are fp16: no branch, no loop, no list"},
        {"half", "the same, and no port is fp32, int32 or bool"},
        {"ordered", "a step reads ports, constants, and what an earlier step has written"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], invariant) == 0)
            return words[i][1];
    CHECK_STR("an invariant without words", invariant);
    return "?";
}

#define MW_STAGE_TRAINING "training"
#define MW_STAGE_FORM     "form"
#define MW_STAGE_TEXT     "text"
#define MW_STAGE_FUNCTION "function"
#define MW_STAGE_STEPS    "steps"

static void test_passes_are_those_of_the_list(void)
{
    page p = page_make(LIMIT);
    page_put(&p, "| stage | pass | what it does | may be left out | what holds afterwards |\n|---|---|---|---|---|\n");
#define MW_PASS(stage, id, need, function, invariant, sentence)                                                        \
    page_put(&p, "| %s | `%s` | %s | %s | %s |\n", MW_STAGE_##stage, #id, sentence, may(need), words_of(#invariant));
#include "passes/pipeline.def"
    check_section("passes", &p);
}

static void test_joins_are_those_of_the_list(void)
{
    page p = page_make(LIMIT);
    page_put(
        &p,
        "| way | takes steps that are, or have | bytes of a tensor count from | bytes saved for each that is kept | "
        "part |\n|---|---|---|---|---|\n");
#define MW_PASS_JOIN(id, need, takes, least, held, ...)                                                                \
    page_put(&p, "| `%s` | %s | %d | %d | |\n", #id, lower_case(#takes).text, least, held);
#define MW_PASS_PART(id, pass, need, sentence) page_put(&p, "| `%s` | | | | of `%s`: %s |\n", #id, #pass, sentence);
#include "passes/pipeline.def"
    check_section("joins", &p);
}

static void test_findings_are_those_of_the_list(void)
{
    page p = page_make(LIMIT);
    page_put(&p, "| name | pass | what is found out | may be left out |\n|---|---|---|---|\n");
#define MW_PASS_PART(...)
#define MW_ANALYSIS(id, pass, need, sentence)                                                                          \
    page_put(&p, "| `%s` | `%s` | %s | %s |\n", #id, #pass, sentence, may(need));
#include "passes/pipeline.def"
    check_section("findings", &p);
}

/* ---- rules ---- */

static void put_roots(page *p, const mw__rule *rule)
{
    if (rule->roots == mw__pass_roots_any || rule->roots == mw__pass_roots_elementwise)
        page_put(p, "%s", rule->roots == mw__pass_roots_any ? "any" : "element by element");
    for (const char *const *root = rule->roots; root != NULL && *root != NULL; root++)
        page_put(p, "%s`%s`", root != rule->roots ? ", " : "", *root);
}

static void put_rewrites(page *p, mw__rule_id pass)
{
    page_put(p, "%s### `%s`\n\n", p->used > 0 ? "\n" : "", mw__pass_rule_of(pass)->name);
    page_put(p, "| rewrite | operations | why the result is the same | wants | may be left out |\n"
                "|---|---|---|---|---|\n");
    for (int id = MW__RULE_NONE + 1; id < MW__RULE_COUNT; id++) {
        const mw__rule *rule = mw__pass_rule_of((mw__rule_id)id);
        if (rule->kind != MW__KIND_REWRITE || rule->pass != pass)
            continue;
        page_put(p, "| `%s` | ", rule->name);
        put_roots(p, rule);
        page_put(p, " | %s | %s | %s |\n", rule->reason, rule->wants, may(rule->flags));
    }
}

static bool has_rewrites(mw__rule_id pass)
{
    bool any = false;
    for (int id = MW__RULE_NONE + 1; id < MW__RULE_COUNT; id++)
        any = any || (mw__pass_rule_of((mw__rule_id)id)->kind == MW__KIND_REWRITE &&
                      mw__pass_rule_of((mw__rule_id)id)->pass == pass);
    return any;
}

static void test_rewrites_are_those_of_the_rows(void)
{
    page p = page_make(LIMIT);
    for (int id = MW__RULE_NONE + 1; id < MW__RULE_COUNT; id++)
        if (has_rewrites((mw__rule_id)id))
            put_rewrites(&p, (mw__rule_id)id);
    check_section("rewrites", &p);
}

/* ---- patterns ---- */

static const bool needs_avx512[MW__RULE_COUNT] = {
#define MW__LEVEL_REF                                                                       false
#define MW__LEVEL_BASE                                                                      false
#define MW__LEVEL_AVX512                                                                    true
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason) [MW__RULE_##id] = (level),
#include "passes/patterns.def"
};

static const mw__rule_id over_of[MW__RULE_COUNT] = {
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason) [MW__RULE_##id] = (over),
#include "passes/patterns.def"
};

static void put_pattern(page *p, mw__rule_id id)
{
    const mw__rule *rule = mw__pass_rule_of(id);
    page_put(p, "| `%s` | ", rule->name);
    put_roots(p, rule);
    if (over_of[id] != MW__RULE_NONE)
        page_put(p, "%s the place of `%s`", rule->roots != NULL ? ", in" : "in", mw__pass_rule_of(over_of[id])->name);
    page_put(p, " | %s | %s |\n", rule->reason != NULL ? rule->reason : "", needs_avx512[id] ? "yes" : "no");
}

static void test_patterns_are_those_of_the_rows(void)
{
    page p = page_make(LIMIT);
    page_put(&p, "| pattern | tried at | what makes both the same | needs AVX-512 |\n|---|---|---|---|\n");
    for (int id = MW__RULE_NONE + 1; id < MW__RULE_COUNT; id++)
        if (mw__pass_rule_of((mw__rule_id)id)->kind == MW__KIND_PATTERN)
            put_pattern(&p, (mw__rule_id)id);
    check_section("patterns", &p);
}

int main(void)
{
    RUN(test_passes_are_those_of_the_list);
    RUN(test_joins_are_those_of_the_list);
    RUN(test_findings_are_those_of_the_list);
    RUN(test_rewrites_are_those_of_the_rows);
    RUN(test_patterns_are_those_of_the_rows);
    return check_finish();
}
