/* Fusion patterns that are compared with what their builder writes: gradients, and the columns of a convolution for
 * chips. For each forward operation its gradient is written; a later operation whose operands have that structure, down
 * to the forward operation's own operand and result, is it. */
#include "engine/compile/patterns/patterns.h"
#include "engine/kernels/pattern_plans.h"

#include "graph/patterns/conv_decomposed.h"
#include "graph/patterns/pool.h"
#include "graph/patterns/relu.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- gradients ---- */

enum { X = MW__COMPARE_X, Y = MW__COMPARE_Y, DY = MW__COMPARE_DY };

mw_status mw__pattern_compare_begin_gradient(mw__pattern_compare *c, const mw__finder *f, const mw_tensor *x,
                                             const mw_tensor *y, mw_error *err)
{
    MW_TRY(mw__pattern_compare_begin(c, f->function, err));
    c->wanted[X] = x, c->wanted[Y] = y;
    mw__pattern_compare_input(c, X, "x", x);
    mw__pattern_compare_input(c, Y, "y", y);
    mw__pattern_compare_input(c, DY, "dy", y);
    return MW_OK;
}

size_t mw__pattern_compare_find(mw__pattern_compare *c, const mw__finder *f, size_t at, const mw_tensor *root)
{
    if (root == NULL || root->op == NULL)
        return f->body->op_count;
    for (size_t i = at + 1; i < f->body->op_count; i++) {
        const mw__op *op = f->body->ops[i];
        if (op->row == root->op->row && f->patterns[i] == NULL && op->result_count == 1 &&
            mw__pattern_compare_values(c, root, op->results[0]) && mw__pattern_compare_found(c, DY) != NULL)
            return i;
    }
    return f->body->op_count;
}

/* ---- max_pool ---- */

static bool is_half(const mw__rounding *rounding, const mw_tensor *value)
{
    return value->id < rounding->count && rounding->half[value->id];
}

static mw_status put_pool_gradient(mw__pattern_compare *c, mw__finder *f, size_t at, mw__max_pool_gradient_match match,
                                   mw_error *err)
{
    mw__max_pool_gradient_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    kept->dy = mw__pattern_compare_found(c, DY);
    kept->dx = f->body->ops[at]->results[0];
    mw__pattern *pattern = mw__pattern_put(f, at, kept, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    pattern->reads[0] = kept->dy, pattern->reads[1] = kept->x, pattern->reads[2] = kept->y;
    return mw__pattern_compare_list_ops(c, f, pattern, err);
}

static mw_tensor *write_pool_gradient(const mw__pattern_compare *c, const mw__max_pool_gradient_match *match)
{
    mw_tensor *x = c->input[X], *y = c->input[Y], *dy = c->input[DY];
    if (!match->relu)
        return mw__max_pool_gradient(match->pool, x, y, dy);
    mw_tensor *relu = mw_relu(x);
    return mw__relu_gradient(relu, mw__max_pool_gradient(match->pool, relu, y, dy));
}

/* Marks the gradients of operation `at` among those after it. */
static mw_status match_pool_gradient(mw__finder *f, size_t at, mw__max_pool_gradient_match match, mw_error *err)
{
    if (!mw__max_pool_gradient_suits(match.pool, is_half(f->rounding, match.y)))
        return mw__pattern_decline(f, "the kernel has no such windows or type");
    mw__pattern_compare c;
    mw_status status = mw__pattern_compare_begin_gradient(&c, f, match.x, match.y, err);
    if (status == MW_OK)
        status = mw__pattern_compare_written(&c, write_pool_gradient(&c, &match), err);
    for (size_t i = at; status == MW_OK && (i = mw__pattern_compare_find(&c, f, i, c.root)) < f->body->op_count;)
        status = put_pool_gradient(&c, f, i, match, err);
    mw__pattern_compare_end(&c);
    return status;
}

mw_status mw__match_max_pool_gradient(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *pool = f->body->ops[at];
    const mw__max_pool_gradient_match match = {.pool = pool, .x = mw__arg(pool, "x"), .y = pool->results[0]};
    return match_pool_gradient(f, at, match, err);
}

mw_status mw__match_relu_max_pool_gradient(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *pool = f->body->ops[at];
    const mw__max_pool_gradient_match match = {
        .pool = pool, .x = mw__pattern_below_relu(pool), .y = pool->results[0], .relu = true};
    return match.x != NULL ? match_pool_gradient(f, at, match, err) : mw__pattern_decline(f, "it takes no relu");
}

/* ---- columns of a convolution for chips ---- */

static mw_status put_columns(mw__pattern_compare *c, mw__finder *f, size_t at, mw__conv_columns_match match,
                             mw_error *err)
{
    mw__conv_columns_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.x;
    MW_TRY(mw__pattern_compare_list_ops(c, f, pattern, err));
    return mw__pattern_add_op(f, pattern, match.product, err);
}

/* A matrix of columns, compared with what the builder writes for the numbers read from it. */
mw_status mw__match_conv_columns(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    mw__conv_columns_match match = {.product = op, .result = op->results[0]};
    if (!mw__conv_columns_read(op, &match.x, &match.conv))
        return mw__pattern_decline(f, "it is no product of columns");
    mw__pattern_compare c;
    mw_status status = mw__pattern_compare_begin(&c, f->function, err);
    if (status == MW_OK) {
        mw_tensor *x = mw__pattern_compare_input(&c, X, "x", match.x);
        c.wanted[X] = match.x;
        status = mw__pattern_compare_written(&c, mw__conv_decomposed_columns(&match.conv, x), err);
    }
    if (status == MW_OK && c.root != NULL && mw__pattern_compare_values(&c, c.root, mw__arg(op, "y")))
        status = put_columns(&c, f, at, match, err);
    mw__pattern_compare_end(&c);
    return status;
}

/* ---- and their bias ---- */

/* One number for each element of axis 1 of y, on an axis like that. */
static bool is_bias(const mw_tensor *bias, const mw_tensor *y)
{
    const mw_shape b = bias->type->shape, shape = y->type->shape;
    bool fits = b.rank == shape.rank && shape.rank > 1 && b.dim[1] == shape.dim[1];
    for (int i = 0; fits && i < b.rank; i++)
        fits = i == 1 || b.dim[i] == 1;
    return fits && bias != y && (bias->type->dtype == MW_F16 || bias->type->dtype == MW_F32);
}

bool mw__pattern_is_rounded(const mw__finder *f, const mw_tensor *value)
{
    const mw__rounding *rounding = f->rounding;
    return rounding->wanted != NULL && value->id < rounding->count && rounding->wanted[value->id] != 0;
}

const mw__pattern *mw__pattern_product(const mw__finder *f, const mw_tensor *product)
{
    const mw__pattern *const pattern = mw__pattern_of(f, product);
    return mw__pattern_is(pattern, MW__RULE_conv_columns) && f->uses[product->id] == 1 ? pattern : NULL;
}

/* The product of columns that y, a convolution's result, is another shape of, where nothing else needs either. */
static const mw__pattern *find_product(const mw__finder *f, const mw_tensor *y)
{
    if (!mw__pattern_is_named(y->op, "reshape") || f->uses[y->id] != 1)
        return NULL;
    return mw__pattern_product(f, mw__arg(y->op, "x"));
}

static mw_status put_columns_bias(mw__finder *f, size_t at, const mw__pattern *columns, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    const mw__conv_columns_match *product = columns->match;
    mw__conv_columns_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = *product;
    kept->bias = mw__arg(op, "y"), kept->result = op->results[0];
    pattern->ops = columns->ops, pattern->op_count = columns->op_count;
    pattern->reads[0] = kept->x;
    MW_TRY(mw__pattern_add_op(f, pattern, mw__arg(op, "x")->op, err));
    return mw__pattern_add_op(f, pattern, op, err);
}

/* The sum of such a y and its bias. */
mw_status mw__match_conv_columns_bias(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    const mw_tensor *y = mw__arg(op, "x"), *bias = mw__arg(op, "y"), *sum = op->results[0];
    if (!mw__pattern_compare_types(y, sum) || !is_bias(bias, y))
        return mw__pattern_decline(f, "y is no bias of x");
    const mw__pattern *columns = find_product(f, y);
    if (columns == NULL)
        return mw__pattern_decline(f, "x is no product of columns, or something else needs it");
    const mw__conv_columns_match *product = columns->match;
    if (mw__pattern_is_rounded(f, product->result) != mw__pattern_is_rounded(f, sum))
        return mw__pattern_decline(f, "only one of product and sum is rounded");
    if (!mw__conv_columns_bias_suits(product, y))
        return mw__pattern_decline(f, "the channels are not on axis 1");
    return put_columns_bias(f, at, columns, err);
}
