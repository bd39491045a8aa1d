/* The heads of all rules, from the rows. */
#include "passes/rule.h"

#include "base/text/error.h"

#include <string.h>

const char *const mw__pass_roots_any[] = {NULL}, *const mw__pass_roots_elementwise[] = {NULL};

#define MW_ROOTS(...)                                                                                                  \
    (const char *const[]) { __VA_ARGS__, NULL }
#define MW_ANY         mw__pass_roots_any
#define MW_ELEMENTWISE mw__pass_roots_elementwise
#define OPTIONAL       0
#define REQUIRED       MW__RULE_REQUIRED

static const mw__rule rules[MW__RULE_COUNT] = {
    [MW__RULE_NONE] = {.name = ""},
#define MW_PASS(stage, id, need, function, invariant, sentence)                                                        \
    [MW__RULE_##id] = {#id, MW__KIND_PASS, MW__RULE_##id, need, NULL, sentence, NULL},
#define MW_ANALYSIS(id, pass, need, sentence)                                                                          \
    [MW__RULE_##id] = {#id, MW__KIND_ANALYSIS, MW__RULE_##pass, need, NULL, sentence, NULL},
#include "passes/pipeline.def"
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants)                                                 \
    [MW__RULE_##id] = {#id, MW__KIND_REWRITE, MW__RULE_##pass, flags, roots, reason, wants},
#include "passes/rewrites.def"
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason)                            \
    [MW__RULE_##id] = {name, MW__KIND_PATTERN, MW__RULE_patterns, 0, roots, reason, NULL},
#include "passes/patterns.def"
};

const mw__rule *mw__pass_rule_of(mw__rule_id id) { return &rules[id]; }

mw__rule_id mw__pass_rule_find(const char *name, size_t length)
{
    size_t i = MW__RULE_NONE + 1;
    while (i < MW__RULE_COUNT && (strlen(rules[i].name) != length || memcmp(rules[i].name, name, length) != 0))
        i++;
    return i < MW__RULE_COUNT ? (mw__rule_id)i : MW__RULE_NONE;
}

/* ---- sets ---- */

static mw_status add_name(mw__rule_set *set, const char *source, const char *name, size_t length, mw_error *err)
{
    const mw__rule_id id = mw__pass_rule_find(name, length);
    const int shown = (int)(length < 60 ? length : 60);
    if (id == MW__RULE_NONE)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: \"%.*s\" is no pass and no rule; `mw passes --list` has them",
                        source, shown, name);
    if ((rules[id].flags & MW__RULE_REQUIRED) != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: \"%s\" cannot be left out: without it a program is wrong, or none",
                        source, rules[id].name);
    set->words[id / 64] |= UINT64_C(1) << (id % 64);
    return MW_OK;
}

mw_status mw__pass_set_parse(mw__rule_set *set, const char *source, const char *names, mw_error *err)
{
    for (const char *name = names; name != NULL && *name != '\0';) {
        const size_t length = strcspn(name, ",");
        MW_TRY(add_name(set, source, name, length, err));
        name += length;
        name += *name == ',';
    }
    return MW_OK;
}

bool mw__pass_set_leaves_out(const mw__rule_set *set, mw__rule_id id)
{
    return mw__pass_set_has(set, id) || mw__pass_set_has(set, rules[id].pass);
}
