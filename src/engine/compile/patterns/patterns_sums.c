/* Sums of products, as a gradient is by a weight that every step of a recurrent net multiplies with: each product is
 * added to the sum while its tile is in registers, in the order of the text, so that no bit changes. */
#include "engine/compile/patterns/patterns.h"
#include "engine/kernels/pattern_plans.h"

#define LEAST 3 /* products: fewer are added by the element-wise step that they would be read in anyway */

/* The product that a value is, if nothing else needs it and it may be added as it is computed. */
static const mw__op *product_of(const mw__finder *f, const mw_tensor *value, const mw_tensor *sum)
{
    const bool alone = mw__pattern_is_named(value->op, "matmul") && f->uses[value->id] == 1;
    return alone && mw__pattern_of(f, value) == NULL && mw__pattern_compare_types(value, sum) &&
                   mw__matmul_sum_suits(value->op, f->config, f->partitions)
               ? value->op
               : NULL;
}

/* The sum so far that a value is, if nothing else needs it; NULL if it is none. */
static const mw__matmul_sum_match *sum_of(const mw__finder *f, const mw_tensor *value)
{
    return f->sums != NULL && f->uses[value->id] == 1 ? f->sums[value->id] : NULL;
}

static void add_product(mw__matmul_sum_match *match, const mw__op *product, const mw_tensor *sum)
{
    match->sum[match->count] = sum;
    match->product[match->count++] = product;
    match->ops[match->op_count++] = product;
}

/* What `other` and the product make. */
static mw__matmul_sum_match extend(const mw__finder *f, const mw_tensor *other, const mw__op *product,
                                   const mw_tensor *result)
{
    const mw__matmul_sum_match *so_far = sum_of(f, other);
    const mw__op *first = product_of(f, other, result);
    mw__matmul_sum_match match = {.before = first == NULL ? other : NULL};
    if (so_far != NULL && so_far->count < MW__PRODUCTS_MOST)
        match = *so_far;
    else if (first != NULL)
        add_product(&match, first, NULL);
    add_product(&match, product, result);
    match.ops[match.op_count++] = result->op;
    match.result = result;
    return match;
}

static mw_status put_matmul_sum(mw__finder *f, size_t at, const mw__matmul_sum_match *match, mw_error *err)
{
    mw__pattern *pattern = mw__pattern_put(f, at, match, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    pattern->ops = match->ops, pattern->op_count = match->op_count;
    return MW_OK;
}

/* Keeps the sum by its value, for the one that goes on with it, whose pattern takes the place of this one. */
static mw__matmul_sum_match *keep_sum(mw__finder *f, const mw__matmul_sum_match *match, mw_error *err)
{
    if (f->sums == NULL)
        f->sums = mw__arena_alloc(f->arena, f->function->graph->value_count, sizeof *f->sums, err);
    mw__matmul_sum_match *kept = f->sums != NULL ? mw__arena_alloc(f->arena, 1, sizeof *kept, err) : NULL;
    if (kept == NULL)
        return NULL;
    *kept = *match;
    f->sums[match->result->id] = kept;
    return kept;
}

mw_status mw__match_matmul_sum(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    const mw_tensor *x = mw__arg(op, "x"), *y = mw__arg(op, "y"), *other = x;
    const mw__op *product = product_of(f, y, op->results[0]);
    if (product == NULL)
        product = product_of(f, x, op->results[0]), other = y;
    if (product == NULL || !mw__pattern_compare_types(other, op->results[0]))
        return MW_OK;
    const mw__matmul_sum_match match = extend(f, other, product, op->results[0]);
    const mw__matmul_sum_match *kept = keep_sum(f, &match, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    if (kept->count < LEAST)
        return MW_OK;
    if (mw__pattern_is(mw__pattern_of(f, other), MW__RULE_matmul_sum) && kept->before != other)
        mw__pattern_take_back(f, f->maker[other->id] - 1, "the next sum goes on with it");
    return put_matmul_sum(f, at, kept, err);
}
