/* The rows of passes/patterns.def, and what applies them to a function. */
#include "engine/compile/patterns/patterns.h"
#include "engine/kernels/pattern_plans.h"

#include "engine/core/kernel.h"

#include <string.h>

/* ---- small patterns ---- */

bool mw__pattern_is_named(const mw__op *op, const char *name)
{
    return op != NULL && op->row != NULL && strcmp(op->row->name, name) == 0;
}

const mw_tensor *mw__pattern_below(const mw_tensor *value, const char *name)
{
    return value != NULL && mw__pattern_is_named(value->op, name) ? mw__arg(value->op, "x") : NULL;
}

const mw_tensor *mw__pattern_below_relu(const mw__op *pool)
{
    const mw_tensor *x = mw__arg(pool, "x");
    const mw_tensor *below = mw__pattern_is_named(x->op, "relu") ? mw__arg(x->op, "x") : NULL;
    return below != NULL && mw__pattern_compare_types(below, x) ? below : NULL; /* a port of fp16 is not held as fp32 */
}

mw_status mw__match_relu_max_pool(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *pool = f->body->ops[at];
    const mw_tensor *x = mw__pattern_below_relu(pool);
    if (x == NULL)
        return mw__pattern_decline(f, "it takes no relu");
    if (!mw__relu_max_pool_suits(pool))
        return mw__pattern_decline(f, "the kernel has no such windows");
    mw__relu_max_pool_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__relu_max_pool_match){.pool = pool, .x = x};
    pattern->reads[0] = x;
    MW_TRY(mw__pattern_add_op(f, pattern, mw__arg(pool, "x")->op, err));
    return mw__pattern_add_op(f, pattern, pool, err);
}

/* ---- guards ---- */

static const char *refuse_unchecked(const mw__finder *f, const mw__op *op)
{
    (void)f;
    mw_error ignored = {0};
    return mw__kernel_check(op, &ignored) == MW_OK ? NULL : "its shapes or types are not known or not valid";
}

/* Sums of integers have other last bits than those of fp32. */
static const char *refuse_unfolded(const mw__finder *f, const mw__op *op)
{
    (void)op;
    return f->config->fold ? NULL : "MW_ENGINE_FOLD=0";
}

/* What a pooling takes of sums that are not rounded is not what it takes of rounded ones. */
static const char *refuse_rounded(const mw__finder *f, const mw__op *op)
{
    (void)op;
    return f->rounding->wanted == NULL ? NULL : "results are rounded to fp16";
}

/* ---- the table ---- */

/* plan_<id>: mw__plan_<plan>, with the payload that the row's match function has put. */
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason)                            \
    static mw_status plan_##id(mw__planner *planner, const void *payload, mw_error *err)                               \
    {                                                                                                                  \
        return mw__plan_##plan(planner, payload, err);                                                                 \
    }
#include "passes/patterns.def"

static const mw__pattern_row rows[] = {
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason)                            \
    {MW__RULE_##id, over, level, how, guard, mw__match_##match, plan_##id, declined},
#include "passes/patterns.def"
};

#define ROW_COUNT (sizeof rows / sizeof *rows)
_Static_assert(ROW_COUNT < 64, "a row has a bit of mw__pattern_root.rows");

/* ---- for match functions ---- */

mw_status mw__pattern_decline(mw__finder *finder, const char *reason)
{
    finder->declined = reason;
    return MW_OK;
}

bool mw__pattern_is(const mw__pattern *pattern, mw__rule_id id)
{
    return pattern != NULL && pattern->row != NULL && pattern->row->id == id;
}

mw__pattern *mw__pattern_put(mw__finder *finder, size_t at, const void *match, mw_error *err)
{
    mw__pattern *pattern = mw__arena_alloc(finder->arena, 1, sizeof *pattern, err), *under = finder->patterns[at];
    if (pattern == NULL)
        return NULL;
    *pattern = (mw__pattern){.row = finder->row, .match = match, .under = under};
    if (under != NULL)
        pattern->ops = under->ops, pattern->op_count = under->op_count, pattern->also = under->also;
    finder->patterns[at] = pattern;
    finder->found = true;
    return pattern;
}

mw_status mw__pattern_put_made(mw__finder *finder, size_t at, const mw_tensor *maker, mw_error *err)
{
    mw__pattern *pattern = mw__arena_alloc(finder->arena, 1, sizeof *pattern, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *pattern = (mw__pattern){.reads = {maker}};
    finder->patterns[at] = pattern;
    return MW_OK;
}

mw_status mw__pattern_add_op(mw__finder *finder, mw__pattern *pattern, const mw__op *op, mw_error *err)
{
    const mw__op **ops = mw__arena_alloc(finder->arena, pattern->op_count + 1, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < pattern->op_count; i++)
        ops[i] = pattern->ops[i];
    ops[pattern->op_count++] = op;
    pattern->ops = ops;
    return MW_OK;
}

/* ---- notes ---- */

static void note_op(const mw__finder *f, const mw__op *op)
{
    if (f->found)
        mw__pass_hit(f->log, f->row->id, op);
    else
        mw__pass_refuse(f->log, f->row->id, op, f->declined != NULL ? f->declined : f->row->declined);
}

void mw__pattern_note_undone(mw__finder *finder, size_t at, const mw__pattern *pattern, const char *reason)
{
    mw__pass_take_back(finder->log, pattern->row->id, finder->body->ops[at], reason);
}

void mw__pattern_take_back(mw__finder *finder, size_t at, const char *reason)
{
    mw__pattern_note_undone(finder, at, finder->patterns[at], reason);
    finder->patterns[at] = finder->patterns[at]->under;
}

/* ---- values ---- */

static mw_status find_uses(mw__finder *f, mw_error *err)
{
    const size_t values = f->function->graph->value_count;
    uint32_t *uses = mw__arena_alloc(f->arena, values, sizeof *uses, err);
    uint32_t *maker = mw__arena_alloc(f->arena, values, sizeof *maker, err);
    if (uses == NULL || maker == NULL)
        return MW_ERROR_MEMORY;
    mw__count_operands(f->body, uses);
    for (size_t i = 0; i < f->body->output_count; i++)
        uses[f->body->outputs[i]->id]++;
    for (size_t i = 0; i < f->body->op_count; i++)
        for (size_t k = 0; k < f->body->ops[i]->result_count; k++)
            maker[f->body->ops[i]->results[k]->id] = (uint32_t)i + 1;
    f->uses = uses, f->maker = maker;
    return MW_OK;
}

const mw__pattern *mw__pattern_of(const mw__finder *finder, const mw_tensor *value)
{
    const uint32_t maker = finder->maker[value->id];
    return maker > 0 ? finder->patterns[maker - 1] : NULL;
}

/* ---- roots ---- */

/* Which rows are applied to operations of that name, a bit each. */
static uint64_t rows_of(const mw__row *operation)
{
    uint64_t found = 0;
    for (size_t i = 0; i < ROW_COUNT; i++)
        for (const char *const *root = mw__pass_rule_of(rows[i].id)->roots; root != NULL && *root != NULL; root++)
            found |= strcmp(*root, operation->name) == 0 ? UINT64_C(1) << i : 0;
    return found;
}

/* Once for all rows: each then looks at what is a root of any, and not at every operation of a long program. */
static mw_status find_roots(mw__finder *f, mw_error *err)
{
    enum { KNOWN = ROW_COUNT };
    uint64_t of[MW__OP_COUNT] = {0};
    mw__pattern_root *roots = mw__arena_alloc(f->arena, f->body->op_count, sizeof *roots, err);
    if (roots == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < f->body->op_count; i++) {
        const mw__row *operation = f->body->ops[i]->row;
        if (operation != NULL && of[operation->id] == 0)
            of[operation->id] = rows_of(operation) | UINT64_C(1) << KNOWN;
        const uint64_t found = operation != NULL ? of[operation->id] & ~(UINT64_C(1) << KNOWN) : 0;
        if (found != 0)
            roots[f->root_count++] = (mw__pattern_root){.at = i, .rows = found};
        f->met |= found;
    }
    f->roots = roots;
    return MW_OK;
}

/* ---- applying the rows ---- */

/* Its bits are others, so that MW_ENGINE_FOLD switches it, and MW_ENGINE_FUSE changes none. */
static bool folds(const mw__pattern_row *row) { return row->guard == refuse_unfolded; }

static const char *switched_off(const mw__finder *f, const mw__pattern_row *row)
{
    const mw__config *config = f->config;
    if (config->reference)
        return "MW_ENGINE_REF=1";
    if (!config->fuse && !folds(row))
        return "MW_ENGINE_FUSE=0";
    if (config->level == MW__LEVEL_REF)
        return "products as a chip adds them run the plain kernels, which compute no patterns";
    if ((row->how & MW__PATTERN_ADDS) != 0 && mw__config_sums(config) != MW__SUMS_FREE)
        return "products are added as on a chip, which its kernel does not";
    return config->level < row->level ? "the processor has no AVX-512, or may not use it" : NULL;
}

static uint64_t bit_of(const mw__pattern_row *row) { return UINT64_C(1) << (row - rows); }

static bool has_place(const mw__finder *f, size_t at)
{
    const mw__pattern *there = f->patterns[at];
    return (f->row->how & MW__PATTERN_GRADIENT) != 0 ||
           (f->row->over != MW__RULE_NONE ? mw__pattern_is(there, f->row->over) : there == NULL);
}

static mw_status apply_at(mw__finder *f, size_t at, const char *off, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    f->found = false;
    f->declined = off;
    if (off == NULL && !has_place(f, at))
        f->declined = "another pattern has its place, or the one it takes the place of is not there";
    else if (off == NULL && f->row->guard != NULL)
        f->declined = f->row->guard(f, op);
    if (f->declined == NULL)
        MW_TRY(f->row->match(f, at, err));
    note_op(f, op);
    return MW_OK;
}

static mw_status apply_at_roots(mw__finder *f, const char *off, mw_error *err)
{
    const bool backwards = (f->row->how & MW__PATTERN_BACKWARDS) != 0;
    for (size_t i = 0; i < f->root_count; i++) {
        const mw__pattern_root *root = &f->roots[backwards ? f->root_count - 1 - i : i];
        if ((root->rows & bit_of(f->row)) != 0)
            MW_TRY(apply_at(f, root->at, off, err));
    }
    return MW_OK;
}

/* Of a row without roots: where there is what it stands over. */
static mw_status apply_over(mw__finder *f, const char *off, mw_error *err)
{
    const size_t count = f->body->op_count;
    for (size_t i = 0; i < count; i++) {
        const size_t at = (f->row->how & MW__PATTERN_BACKWARDS) != 0 ? count - 1 - i : i;
        if (mw__pattern_is(f->patterns[at], f->row->over))
            MW_TRY(apply_at(f, at, off, err));
    }
    return MW_OK;
}

static mw_status apply(mw__finder *f, const mw__pattern_row *row, mw_error *err)
{
    const char *off = switched_off(f, row);
    f->row = row;
    if (mw__pass_is_off(f->log, row->id))
        return MW_OK;
    if (mw__pass_rule_of(row->id)->roots == NULL)
        return apply_over(f, off, err);
    return (f->met & bit_of(row)) != 0 ? apply_at_roots(f, off, err) : MW_OK;
}

static mw_status apply_all(mw__finder *f, mw_error *err)
{
    f->patterns = mw__arena_alloc(f->arena, f->body->op_count, sizeof(mw__pattern *), err);
    if (f->patterns == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(find_uses(f, err));
    MW_TRY(find_roots(f, err));
    for (size_t i = 0; i < ROW_COUNT; i++)
        MW_TRY(apply(f, &rows[i], err));
    MW_TRY(mw__patterns_undo(f, err));
    return mw__patterns_lay_quads(f, err);
}

static mw__finder begin_finder(const mw__plan_request *request)
{
    return (mw__finder){.function = request->function,
                        .body = request->function->body,
                        .config = request->config,
                        .rounding = &request->rounding,
                        .partitions = request->partitions,
                        .arena = request->arena,
                        .log = request->log};
}

mw__pattern **mw__patterns_find(const mw__plan_request *request, mw_error *err)
{
    mw__finder f = begin_finder(request);
    return apply_all(&f, err) == MW_OK ? f.patterns : NULL;
}

mw_status mw__plan_pattern(mw__planner *planner, const mw__pattern *pattern, mw_error *err)
{
    return pattern->row != NULL ? pattern->row->plan(planner, pattern->match, err) : mw__plan_check(planner, err);
}
