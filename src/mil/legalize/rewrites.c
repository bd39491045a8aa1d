/* The rows, those of a pass one after the other. */
#include "mil/legalize/rewrites.h"

static const mw__rewrite rows[] = {
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants) {MW__RULE_##id, guard, emit},
#include "passes/rewrites.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_of(size_t row, mw__rule_id pass) { return mw__pass_rule_of(rows[row].id)->pass == pass; }

mw__rewrites mw__mil_rewrites(mw__rule_id pass, bool half_ports)
{
    size_t first = 0, end;
    while (first < ROWS && !is_of(first, pass))
        first++;
    for (end = first; end < ROWS && is_of(end, pass);)
        end++;
    return (mw__rewrites){.rows = &rows[first],
                          .count = end - first,
                          .checked = pass == MW__RULE_decompose || pass == MW__RULE_fit,
                          .half_ports = half_ports,
                          .asked = mw__legality_names_rewrite};
}

const mw__rule *mw__mil_rewrite_wanting(const mw__op *op, size_t *at)
{
    if (*at < MW__RULE_FIRST_REWRITE)
        *at = MW__RULE_FIRST_REWRITE;
    for (; *at < MW__RULE_FIRST_PATTERN; ++*at) {
        const mw__rule *rule = mw__pass_rule_of((mw__rule_id)*at);
        if ((rule->flags & MW__RULE_QUIET) == 0 && mw__pass_rule_has_root(rule, op)) {
            ++*at;
            return rule;
        }
    }
    return NULL;
}
