/* mw passes --list: the rows of the passes' tables, as text. */
#include "tool/commands/commands.h"

#include <string.h>

typedef struct list_row {
    const char *stage; /* of a pass; NULL of what belongs to one */
    const char *kind, *name, *pass;
    bool required;
    const char *sentence;
} list_row;

/* Of the flags of a row, that alone counts here. */
enum {
    OPTIONAL,
    REQUIRED,
    MW__RULE_REQUIRED = REQUIRED,
    MW__RULE_HALF = 0,
    MW__RULE_STANDS_IN = 0,
    MW__RULE_ON_REQUEST = 0,
    MW__RULE_QUIET = 0
};

#define MW_STAGE_TRAINING "training"
#define MW_STAGE_FORM     "form"
#define MW_STAGE_TEXT     "text"
#define MW_STAGE_FUNCTION "function"
#define MW_STAGE_STEPS    "steps"

/* In the order in which they run. */
static const list_row passes[] = {
#define MW_PASS(stage, id, need, function, invariant, sentence)                                                        \
    {MW_STAGE_##stage, "pass", #id, #id, (need) == REQUIRED, sentence},
#include "passes/pipeline.def"
};

/* What belongs to a pass: what it finds out, and what it applies. */
static const list_row rules[] = {
#define MW_PASS_PART(id, pass, need, sentence) {NULL, "part", #id, #pass, (need) == REQUIRED, sentence},
#define MW_ANALYSIS(id, pass, need, sentence)  {NULL, "analysis", #id, #pass, (need) == REQUIRED, sentence},
#include "passes/pipeline.def"
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants)                                                 \
    {NULL, "rewrite", #id, #pass, ((flags)&MW__RULE_REQUIRED) != 0, reason},
#include "passes/rewrites.def"
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason)                            \
    {NULL, "pattern", name, "patterns", false, reason},
#include "passes/patterns.def"
};

int tool_pass_count(void) { return (int)(sizeof passes / sizeof passes[0]); }

static void json_row(mw__json_writer *json, const list_row *row, const char *stage)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "stage", stage);
    mw__json_add_string(json, "kind", row->kind);
    mw__json_add_string(json, "name", row->name);
    mw__json_add_string(json, "pass", row->pass);
    mw__json_add_bool(json, "required", row->required);
    mw__json_add_string(json, "sentence", row->sentence);
    mw__json_close(json, '}');
}

static void say_row(const list_row *row, const char *stage, const tool_call *call)
{
    const char *need = row->required ? "required" : "";
    if (call->json != NULL)
        json_row(call->json, row, stage);
    else if (row->stage != NULL)
        tool_print("%-9s %-14s %8s  %s\n", stage, row->name, need, row->sentence);
    else
        tool_print("  %-8s  %-27s %8s  %s\n", row->kind, row->name, need, row->sentence);
}

void tool_say_pass_list(const tool_call *call)
{
    if (call->json != NULL)
        mw__json_open(call->json, "rules", '[');
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        say_row(&passes[i], passes[i].stage, call);
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            if (strcmp(rules[k].pass, passes[i].name) == 0)
                say_row(&rules[k], passes[i].stage, call);
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
}
