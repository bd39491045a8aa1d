/* The flag of a training step: a product of numbers that state of one tensor each whether all of it is within a limit
 * (kernel_reduce_within.c). The whole product is one pattern, at its last multiplication; a number that is multiplied
 * with no other is one by itself. The rows go from the end of the text, so that a whole product comes before its parts.
 */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

static bool is_product(const mw_tensor *value)
{
    return mw__pattern_is_named(value->op, "mul") && mw__dtype_of(value) == MW_F32 && mw__count_of(value) == 1;
}

/* The last number of what is left of a product, or all that is left. */
static const mw_tensor *last_good(const mw_tensor *value)
{
    return is_product(value) ? mw__arg(value->op, "y") : value;
}

/* The numbers of a product; the left side may be another product. 0 if there is anything else. */
static size_t count_goods(const mw_tensor *value)
{
    float limit;
    for (size_t count = 1;; count++) {
        if (mw__all_within_read(last_good(value), &limit) == NULL)
            return 0;
        if (!is_product(value))
            return count;
        value = mw__arg(value->op, "x");
    }
}

static size_t count_compared(const mw__block *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->op_count; i++)
        count += strcmp(body->ops[i]->kind, "less_equal") == 0;
    return count;
}

/* Marks the products and numbers of a product: an operation of theirs is no pattern by itself. A mark rather than a
 * search, as a training step has as many numbers as parameters. */
static mw_status mark(mw__finder *f, const mw_tensor *value, mw_error *err)
{
    if (f->within == NULL)
        f->within = mw__arena_alloc(f->arena, f->function->graph->value_count, sizeof *f->within, err);
    if (f->within == NULL)
        return MW_ERROR_MEMORY;
    for (; is_product(value); value = mw__arg(value->op, "x")) {
        f->within[value->id] = true;
        f->within[last_good(value)->id] = true;
    }
    f->within[value->id] = true;
    return MW_OK;
}

/* The operations that make a number, put before *end: the last one first. */
static void list_good(const mw__op ***end, const mw_tensor *good)
{
    const mw__op *last = good->op, *select = mw__pattern_is_named(last, "select") ? last : mw__arg(last, "x")->op;
    const mw__op *compare = mw__arg(select, "cond")->op;
    if (select != last)
        *--*end = last;
    *--*end = select;
    *--*end = compare;
    *--*end = mw__arg(compare, "x")->op;
}

#define GOOD_OPS 5 /* for each number at most, with its multiplication */

/* Numbers from the end of the product on, operations in the order of the text. */
static mw_status list(mw__finder *f, mw__pattern *pattern, mw__good *goods, size_t count, mw_error *err)
{
    const mw__op **ops = mw__arena_alloc(f->arena, count * GOOD_OPS, sizeof *ops, err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    const mw__op **const end = ops + count * GOOD_OPS, **first = end;
    const mw_tensor *value = ((const mw__all_within_match *)pattern->match)->result;
    for (size_t i = 0; i < count; i++) {
        const mw_tensor *good = last_good(value);
        goods[i].x = mw__all_within_read(good, &goods[i].limit);
        if (i + 1 < count)
            *--first = value->op;
        list_good(&first, good);
        value = i + 1 < count ? mw__arg(value->op, "x") : NULL;
    }
    pattern->ops = first;
    pattern->op_count = (size_t)(end - first);
    return MW_OK;
}

/* Whether `op` compares the product with a number between 0 and 1. */
static bool is_flag(const mw__op *op, const mw_tensor *product)
{
    const mw_tensor *bound =
        mw__pattern_is_named(op, "greater") && mw__arg(op, "x") == product ? mw__arg(op, "y") : NULL;
    if (bound == NULL || bound->payload == NULL || bound->payload->data == NULL || mw__count_of(bound) != 1 ||
        mw__count_of(op->results[0]) != 1)
        return false;
    const double number = mw__payload_float(bound->payload, 0);
    return number >= 0.0 && number < 1.0;
}

/* product > 0.5, or another number between: made with the product. */
static mw_status find_flag(mw__finder *f, size_t at, mw__all_within_match *match, mw_error *err)
{
    for (size_t i = at + 1; i < f->body->op_count; i++) {
        const mw__op *op = f->body->ops[i];
        if (f->patterns[i] != NULL || !is_flag(op, match->result))
            continue;
        match->flag = f->patterns[at]->also = op->results[0];
        MW_TRY(mw__pattern_put_made(f, i, match->result, err));
        return mw__pattern_add_op(f, f->patterns[at], op, err);
    }
    return MW_OK;
}

static mw_status put_within(mw__finder *f, size_t at, size_t count, mw_error *err)
{
    mw__all_within_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__good *goods = mw__arena_alloc(f->arena, count, sizeof *goods, err);
    if (match == NULL || goods == NULL)
        return MW_ERROR_MEMORY;
    *match = (mw__all_within_match){.goods = goods, .count = count, .result = f->body->ops[at]->results[0]};
    mw__pattern *pattern = mw__pattern_put(f, at, match, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mark(f, match->result, err));
    MW_TRY(list(f, pattern, goods, count, err));
    return find_flag(f, at, match, err);
}

mw_status mw__match_all_within(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    if (f->within != NULL && f->within[op->results[0]->id])
        return mw__pattern_decline(f, "it is part of a longer product");
    const size_t count = count_goods(op->results[0]);
    if (count == 0)
        return mw__pattern_decline(f, "not only numbers that state whether a tensor is within a limit");
    if (count > count_compared(f->body))
        return mw__pattern_decline(f, "one number occurs twice");
    return put_within(f, at, count, err);
}
