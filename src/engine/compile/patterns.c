/* Finds the patterns of a function. For each forward operation its gradient is written into a scratch graph; a later
 * operation whose operands have that structure, down to the forward operation's own operand and result, is it. */
#include "engine/compile/patterns.h"
#include "engine/kernels/pattern_plans.h"

#include "engine/core/kernel.h"
#include "engine/core/settings.h"
#include "graph/patterns/conv_decomposed.h"
#include "graph/patterns/pool.h"
#include "graph/patterns/relu.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- comparing ---- */

#define DEPTH 512 /* operations in a row, at most */

typedef struct matcher {
    mw__arena *arena;
    mw_graph *scratch;
    const mw_tensor *x, *y, *dy; /* placeholders, in the scratch graph */
    const mw_tensor **match;     /* by id in the scratch graph; NULL = not met yet */
    mw_tensor *dbias;            /* conv: in the scratch graph */
    mw__pattern pattern;         /* what the placeholders must be; dy NULL = anything */
    const mw__rounding *rounding;
} matcher;

static bool same_type(const mw_tensor *a, const mw_tensor *b)
{
    return a->type->kind == MW__TENSOR && mw__type_equal(a->type, b->type);
}

static bool same_constant(const mw__payload *a, const mw__payload *b)
{
    if (a->data == NULL || b->data == NULL)
        return a->strings != NULL && b->strings != NULL && mw__payload_count(a) == 1 && mw__payload_count(b) == 1 &&
               strcmp(a->strings[0], b->strings[0]) == 0;
    return a->splat == b->splat && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static bool matches(matcher *m, const mw_tensor *pattern, const mw_tensor *value, int depth);

static bool same_operands(matcher *m, const mw__op *pattern, const mw__op *op, int depth)
{
    if (pattern->row == NULL || pattern->row != op->row || pattern->slot_count != op->slot_count ||
        pattern->block_count + op->block_count > 0)
        return false;
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *a = &pattern->slots[i], *b = &op->slots[i];
        if (a->count != b->count)
            return false;
        for (size_t j = 0; j < a->count; j++)
            if (a->operands[j].value == NULL || b->operands[j].value == NULL ||
                !matches(m, a->operands[j].value, b->operands[j].value, depth))
                return false;
    }
    return true;
}

static bool matches(matcher *m, const mw_tensor *pattern, const mw_tensor *value, int depth)
{
    const mw_tensor **met = &m->match[pattern->id];
    if (*met != NULL)
        return *met == value;
    if (!same_type(pattern, value) || depth > DEPTH)
        return false;
    if (pattern == m->x || pattern == m->y || pattern == m->dy) {
        const mw_tensor *wanted = pattern == m->x ? m->pattern.x : pattern == m->y ? m->pattern.y : m->pattern.dy;
        if (wanted != NULL && wanted != value)
            return false;
    } else if (pattern->payload != NULL || value->payload != NULL) {
        return pattern->payload != NULL && value->payload != NULL && same_constant(pattern->payload, value->payload);
    } else if (pattern->op == NULL || value->op == NULL || pattern->result != value->result ||
               !same_operands(m, pattern->op, value->op, depth + 1)) {
        return false;
    }
    *met = value;
    return true;
}

/* ---- writing the gradients ---- */

/* By name: a new opset may give an operation a new row. */
static bool is_named(const mw__op *op, const char *name) { return op->row != NULL && strcmp(op->row->name, name) == 0; }

static mw_tensor *placeholder(const matcher *m, const char *name, const mw_tensor *like)
{
    return mw_input(m->scratch, name, like->type->dtype, like->type->shape);
}

/* What relu is taken of, if that is what a pooling takes; else NULL. */
static const mw_tensor *below_relu(const mw__op *pool)
{
    const mw_tensor *x = mw__arg(pool, "x");
    const mw_tensor *below = x->op != NULL && is_named(x->op, "relu") ? mw__arg(x->op, "x") : NULL;
    return below != NULL && same_type(below, x) ? below : NULL; /* a port of fp16 is not held as fp32 */
}

/* What kernels there are for `forward`. */
static bool suits(const mw__rounding *rounding, const mw__op *forward, mw__pattern_kind kind)
{
    const uint32_t id = forward->results[0]->id;
    const bool half = id < rounding->count && rounding->half[id];
    if (kind == MW__PATTERN_CONV_DWEIGHT)
        return is_named(forward, "conv") && mw__conv_dweight_suits(forward);
    return is_named(forward, "max_pool") && mw__max_pool_gradient_suits(forward, half) &&
           (kind == MW__PATTERN_MAX_POOL_GRADIENT || below_relu(forward) != NULL);
}

/* The gradient of `forward`, of that kind, on placeholders; NULL if there is no kernel for it. */
static mw_tensor *write_gradient(matcher *m, const mw__op *forward, mw__pattern_kind kind)
{
    mw__conv conv;
    if (!suits(m->rounding, forward, kind))
        return NULL;
    m->pattern = (mw__pattern){.kind = kind, .forward = forward, .x = mw__arg(forward, "x"), .y = forward->results[0]};
    if (kind == MW__PATTERN_RELU_MAX_POOL_GRADIENT)
        m->pattern.x = below_relu(forward);
    mw_tensor *x = placeholder(m, "x", m->pattern.x), *y = placeholder(m, "y", m->pattern.y);
    mw_tensor *dy = placeholder(m, "dy", m->pattern.y);
    m->x = x, m->y = y, m->dy = dy;
    if (kind == MW__PATTERN_MAX_POOL_GRADIENT)
        return mw__max_pool_gradient(forward, x, y, dy);
    if (kind == MW__PATTERN_RELU_MAX_POOL_GRADIENT)
        return mw__relu_gradient(x, mw__max_pool_gradient(forward, mw_relu(x), y, dy));
    if (!mw__conv_read(forward, &conv))
        return NULL;
    m->dbias = mw__conv_dbias(dy);
    return mw__conv_dweight(&conv, x, dy);
}

/* ---- searching ---- */

/* The next operation after `at` that has the structure of root; op_count if there is none. */
static size_t find_root(matcher *m, const mw__block *body, size_t at, const mw_tensor *root, const mw__pattern *taken)
{
    for (size_t i = at + 1; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (op->row != root->op->row || taken[i].kind != MW__PATTERN_NONE || op->result_count != 1)
            continue;
        memset(m->match, 0, m->scratch->value_count * sizeof *m->match);
        if (matches(m, root, op->results[0], 0) && m->match[m->dy->id] != NULL)
            return i;
    }
    return body->op_count;
}

static bool lists(const mw__pattern *pattern, const mw__op *op)
{
    for (size_t i = 0; i < pattern->op_count; i++)
        if (pattern->ops[i] == op)
            return true;
    return false;
}

/* Adds the operations of the last match to those that the pattern computes. */
static mw_status list_ops(const matcher *m, mw__pattern *pattern, mw_error *err)
{
    const mw__op **ops = mw__arena_alloc(m->arena, pattern->op_count + m->scratch->value_count, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < pattern->op_count; i++)
        ops[i] = pattern->ops[i];
    pattern->ops = ops;
    for (size_t id = 0; id < m->scratch->value_count; id++) {
        const mw_tensor *model = m->scratch->values[id], *found = m->match[id];
        if (found != NULL && model->op != NULL && model->payload == NULL && !lists(pattern, found->op))
            ops[pattern->op_count++] = found->op;
    }
    return MW_OK;
}

/* Marks the gradients of operation `at` among those after it. */
static mw_status search(matcher *m, const mw__block *body, size_t at, const mw_tensor *root, mw__pattern *out,
                        mw_error *err)
{
    for (size_t i = at; (i = find_root(m, body, i, root, out)) < body->op_count;) {
        out[i] = m->pattern;
        out[i].dy = m->match[m->dy->id];
        out[i].result = body->ops[i]->results[0];
        MW_TRY(list_ops(m, &out[i], err));
        if (m->dbias == NULL || m->dbias->op == NULL)
            continue;
        m->pattern.dy = out[i].dy;
        const size_t bias = find_root(m, body, i, m->dbias, out);
        m->pattern.dy = NULL;
        if (bias < body->op_count) {
            out[bias].kind = MW__PATTERN_MADE;
            out[i].dbias = body->ops[bias]->results[0];
            MW_TRY(list_ops(m, &out[i], err));
        }
    }
    return MW_OK;
}

static mw_status begin_matching(matcher *m, const mw__function *function, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = function->graph->allocator;
    options.opset = function->opset;
    m->scratch = mw__graph_make(&options, NULL);
    return m->scratch != NULL ? MW_OK : mw__fail(err, MW_ERROR_MEMORY, "out of memory");
}

/* What a builder refuses has no pattern; what memory did not suffice for may have one. */
static mw_status check_written(const matcher *m, mw_error *err)
{
    return m->scratch->error.status == MW_ERROR_MEMORY ? mw_graph_check(m->scratch, err) : MW_OK;
}

static mw_status make_table(matcher *m, const mw__function *function, mw_error *err)
{
    m->match = mw__alloc(function->graph->allocator, m->scratch->value_count, sizeof *m->match, err);
    return m->match != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void end_matching(const matcher *m, const mw__function *function)
{
    mw__free(function->graph->allocator, m->match);
    mw__graph_free(m->scratch);
}

static mw_status find_one(const mw__function *function, const mw__rounding *rounding, size_t at, mw__pattern_kind kind,
                          mw__arena *arena, mw__pattern *out, mw_error *err)
{
    matcher m = {.arena = arena, .rounding = rounding};
    mw_status status = begin_matching(&m, function, err);
    const mw_tensor *root = status == MW_OK ? write_gradient(&m, function->body->ops[at], kind) : NULL;
    if (status == MW_OK)
        status = check_written(&m, err);
    if (status == MW_OK && root != NULL && root->op != NULL) {
        status = make_table(&m, function, err);
        if (status == MW_OK)
            status = search(&m, function->body, at, root, out, err);
    }
    end_matching(&m, function);
    return status;
}

mw_status mw__pattern_add_op(mw__arena *arena, mw__pattern *pattern, const mw__op *op, mw_error *err)
{
    const mw__op **ops = mw__arena_alloc(arena, pattern->op_count + 1, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < pattern->op_count; i++)
        ops[i] = pattern->ops[i];
    ops[pattern->op_count++] = op;
    pattern->ops = ops;
    return MW_OK;
}

/* A matrix of columns, compared with what the builder writes for the numbers read from it. */
static mw_status find_columns(const mw__function *function, const mw__op *op, mw__arena *arena, mw__pattern *out,
                              mw_error *err)
{
    mw__conv conv;
    const mw_tensor *x = NULL;
    if (!mw__conv_columns_read(op, &x, &conv))
        return MW_OK;
    matcher m = {.arena = arena, .pattern = {.kind = MW__PATTERN_CONV_COLUMNS, .x = x, .result = op->results[0]}};
    m.pattern.product = op;
    mw__conv *kept = mw__arena_alloc(arena, 1, sizeof *kept, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    *kept = conv;
    MW_TRY(begin_matching(&m, function, err));
    m.x = placeholder(&m, "x", x);
    const mw_tensor *root = mw__conv_decomposed_columns(&conv, (mw_tensor *)(uintptr_t)m.x);
    mw_status status = check_written(&m, err);
    if (root != NULL && status == MW_OK)
        status = make_table(&m, function, err);
    if (root != NULL && status == MW_OK && matches(&m, root, mw__arg(op, "y"), 0)) {
        *out = m.pattern;
        out->columns = kept;
        status = list_ops(&m, out, err);
        if (status == MW_OK)
            status = mw__pattern_add_op(arena, out, op, err);
    }
    end_matching(&m, function);
    return status;
}

/* How often values are operands or outputs, up to 2. */
static int count_uses(const mw__block *body, const mw_tensor *value)
{
    int uses = 0;
    for (size_t i = 0; i < body->output_count && uses < 2; i++)
        uses += body->outputs[i] == value;
    for (size_t i = 0; i < body->op_count && uses < 2; i++)
        for (size_t k = 0; k < body->ops[i]->slot_count; k++)
            for (size_t v = 0; v < body->ops[i]->slots[k].count; v++)
                uses += body->ops[i]->slots[k].operands[v].value == value;
    return uses;
}

/* One number for each element of axis 1 of y, on an axis like that. */
static bool is_bias(const mw_tensor *bias, const mw_tensor *y)
{
    const mw_shape b = bias->type->shape, shape = y->type->shape;
    bool fits = b.rank == shape.rank && shape.rank > 1 && b.dim[1] == shape.dim[1];
    for (int i = 0; fits && i < b.rank; i++)
        fits = i == 1 || b.dim[i] == 1;
    return fits && bias != y && (bias->type->dtype == MW_F16 || bias->type->dtype == MW_F32);
}

static bool is_rounded(const mw__rounding *rounding, const mw_tensor *value)
{
    return rounding->wanted != NULL && value->id < rounding->count && rounding->wanted[value->id];
}

/* The product of columns that y, a convolution's result, is another shape of, where nobody else needs either. */
static const mw__pattern *find_product(const mw__block *body, const mw_tensor *y, const mw__pattern *patterns)
{
    const mw__op *shaped = y->op;
    if (shaped == NULL || !is_named(shaped, "reshape") || count_uses(body, y) != 1)
        return NULL;
    const mw_tensor *product = mw__arg(shaped, "x");
    for (size_t i = 0; i < body->op_count; i++)
        if (patterns[i].kind == MW__PATTERN_CONV_COLUMNS && patterns[i].result == product)
            return count_uses(body, product) == 1 ? &patterns[i] : NULL;
    return NULL;
}

/* The sum of such a y and its bias. */
static mw_status find_columns_bias(const mw__function *function, const mw__rounding *rounding, size_t at,
                                   mw__arena *arena, mw__pattern *out, mw_error *err)
{
    const mw__op *op = function->body->ops[at];
    const mw_tensor *y = mw__arg(op, "x"), *bias = mw__arg(op, "y"), *sum = op->results[0];
    if (!same_type(y, sum) || !is_bias(bias, y))
        return MW_OK;
    const mw__pattern *columns = find_product(function->body, y, out);
    if (columns == NULL || is_rounded(rounding, columns->result) != is_rounded(rounding, sum) ||
        !mw__conv_columns_bias_suits(columns, y))
        return MW_OK;
    out[at] = *columns;
    out[at].bias = bias, out[at].result = sum;
    MW_TRY(mw__pattern_add_op(arena, &out[at], y->op, err));
    return mw__pattern_add_op(arena, &out[at], op, err);
}

static mw_status find_relu_pool(const mw__op *op, mw__arena *arena, mw__pattern *out, mw_error *err)
{
    if (below_relu(op) == NULL || !mw__relu_max_pool_suits(op))
        return MW_OK;
    const mw__op **ops = mw__arena_alloc(arena, 2, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    ops[0] = mw__arg(op, "x")->op, ops[1] = op;
    *out =
        (mw__pattern){.kind = MW__PATTERN_RELU_MAX_POOL, .forward = op, .x = below_relu(op), .ops = ops, .op_count = 2};
    return MW_OK;
}

static mw_status find_all(const mw__function *function, const mw__rounding *rounding, mw__arena *arena,
                          mw__pattern *out, mw_error *err)
{
    for (size_t i = 0; i < function->body->op_count; i++) {
        const mw__op *op = function->body->ops[i];
        const bool pool = is_named(op, "max_pool");
        mw_error ignored = {0};
        if (is_named(op, "matmul"))
            MW_TRY(find_columns(function, op, arena, &out[i], err));
        if (is_named(op, "add"))
            MW_TRY(find_columns_bias(function, rounding, i, arena, out, err));
        if ((!pool && !is_named(op, "conv")) || mw__kernel_check(op, &ignored) != MW_OK)
            continue;
        if (!pool) {
            MW_TRY(find_one(function, rounding, i, MW__PATTERN_CONV_DWEIGHT, arena, out, err));
            continue;
        }
        MW_TRY(find_relu_pool(op, arena, &out[i], err));
        MW_TRY(find_one(function, rounding, i, MW__PATTERN_MAX_POOL_GRADIENT, arena, out, err));
        if (below_relu(op) != NULL)
            MW_TRY(find_one(function, rounding, i, MW__PATTERN_RELU_MAX_POOL_GRADIENT, arena, out, err));
    }
    return MW_OK;
}

static bool switched_off(void) { return mw__kernel_level() == MW__LEVEL_REF || !mw__settings_fuse(); }

mw__pattern *mw__patterns_find(const mw__function *function, const mw__rounding *rounding, mw__arena *arena,
                               mw_error *err)
{
    mw__pattern *patterns = mw__arena_alloc(arena, function->body->op_count, sizeof *patterns, err);
    if (patterns == NULL || switched_off())
        return patterns;
    /* what a pooling takes of sums that are not rounded is not what it takes of rounded ones: no joins in fp16 */
    if (find_all(function, rounding, arena, patterns, err) != MW_OK ||
        mw__patterns_find_within(function, patterns, arena, err) != MW_OK ||
        (rounding->wanted == NULL && mw__patterns_join(function, patterns, arena, err) != MW_OK))
        return NULL;
    return patterns;
}

static mw_status plan_nothing(mw__planner *planner, const mw__pattern *pattern, mw_error *err)
{
    (void)pattern;
    return mw__plan_check(planner, err);
}

mw_status mw__plan_pattern(mw__planner *planner, const mw__pattern *pattern, mw_error *err)
{
    static mw_status (*const plans[MW__PATTERN_COUNT])(mw__planner *, const mw__pattern *, mw_error *) = {
        [MW__PATTERN_MADE] = plan_nothing,
        [MW__PATTERN_CONV_DWEIGHT] = mw__plan_conv_dweight,
        [MW__PATTERN_CONV_COLUMNS] = mw__plan_conv_columns,
        [MW__PATTERN_ALL_WITHIN] = mw__plan_all_within,
        [MW__PATTERN_MAX_POOL_GRADIENT] = mw__plan_max_pool_gradient,
        [MW__PATTERN_RELU_MAX_POOL] = mw__plan_relu_max_pool,
        [MW__PATTERN_RELU_MAX_POOL_GRADIENT] = mw__plan_max_pool_gradient,
        [MW__PATTERN_CONV_MAX_POOL] = mw__plan_conv_max_pool,
        [MW__PATTERN_CONV_BY_ARGMAX] = mw__plan_conv_by_argmax,
    };
    const bool gradient =
        pattern->kind == MW__PATTERN_MAX_POOL_GRADIENT || pattern->kind == MW__PATTERN_RELU_MAX_POOL_GRADIENT;
    if (gradient && pattern->argmax != NULL)
        return mw__plan_unpool(planner, pattern, err);
    return plans[pattern->kind](planner, pattern, err);
}
