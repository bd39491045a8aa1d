/* The rows by pass. */
#include "mil/legalize/rewrites.h"

#define ROW(id, guard, emit) {MW__RULE_##id, guard, emit},

#undef ROW_decompose
#undef ROW_parts
#undef ROW_fp16
#undef ROW_fit
#define ROW_decompose(...) ROW(__VA_ARGS__)
#define ROW_parts(...)
#define ROW_fp16(...)
#define ROW_fit(...)
static const mw__rewrite decompose_rows[] = {
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants) ROW_##pass(id, guard, emit)
#include "passes/rewrites.def"
};

#undef ROW_decompose
#undef ROW_parts
#undef ROW_fp16
#undef ROW_fit
#define ROW_decompose(...)
#define ROW_parts(...) ROW(__VA_ARGS__)
#define ROW_fp16(...)
#define ROW_fit(...)
static const mw__rewrite parts_rows[] = {
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants) ROW_##pass(id, guard, emit)
#include "passes/rewrites.def"
};

#undef ROW_decompose
#undef ROW_parts
#undef ROW_fp16
#undef ROW_fit
#define ROW_decompose(...)
#define ROW_parts(...)
#define ROW_fp16(...) ROW(__VA_ARGS__)
#define ROW_fit(...)
static const mw__rewrite fp16_rows[] = {
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants) ROW_##pass(id, guard, emit)
#include "passes/rewrites.def"
};

#undef ROW_decompose
#undef ROW_parts
#undef ROW_fp16
#undef ROW_fit
#define ROW_decompose(...)
#define ROW_parts(...)
#define ROW_fp16(...)
#define ROW_fit(...) ROW(__VA_ARGS__)
static const mw__rewrite fit_rows[] = {
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants) ROW_##pass(id, guard, emit)
#include "passes/rewrites.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
_Static_assert(COUNT(parts_rows) < 64 && COUNT(decompose_rows) < 64, "a row has a bit of mw__rewriting.rows");

mw__rewrites mw__mil_rewrites(mw__rule_id pass, bool half_ports)
{
    mw__rewrites rows = {.half_ports = half_ports, .asked = mw__legality_names_rewrite};
    rows.checked = pass == MW__RULE_decompose || pass == MW__RULE_fit;
    switch (pass) {
    case MW__RULE_decompose:
        rows.rows = decompose_rows, rows.count = COUNT(decompose_rows);
        break;
    case MW__RULE_parts:
        rows.rows = parts_rows, rows.count = COUNT(parts_rows);
        break;
    case MW__RULE_fp16:
        rows.rows = fp16_rows, rows.count = COUNT(fp16_rows);
        break;
    default:
        rows.rows = fit_rows, rows.count = COUNT(fit_rows);
        break;
    }
    return rows;
}

const mw__rule *mw__mil_rewrite_wanting(const mw__op *op, size_t *at)
{
    if (*at <= MW__RULE_BEFORE_REWRITES)
        *at = MW__RULE_BEFORE_REWRITES + 1;
    for (; *at < MW__RULE_FIRST_PATTERN; ++*at) {
        const mw__rule *rule = mw__pass_rule_of((mw__rule_id)*at);
        if ((rule->flags & MW__RULE_QUIET) == 0 && mw__pass_rule_has_root(rule, op)) {
            ++*at;
            return rule;
        }
    }
    return NULL;
}
