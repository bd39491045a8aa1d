/* Finds the flag of a training step: a product of numbers that say of one tensor each whether all of it is within a
 * limit (kernel_reduce_within.c). The whole product is one pattern, at its last multiplication; a number that is
 * multiplied with no other is one by itself. */
#include "engine/compile/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

typedef struct finder {
    mw__arena *arena;
    mw__pattern *patterns;
    bool *taken; /* by value: part of a product that has been found */
    mw__good *goods;
    size_t count, capacity;
    const mw__op **ops;
    size_t op_count;
    mw_error *err;
} finder;

static bool is_product(const mw_tensor *value)
{
    return value->op != NULL && strcmp(value->op->kind, "mul") == 0 && mw__dtype_of(value) == MW_F32 &&
           mw__count_of(value) == 1;
}

/* The operations that make a number, from the last on. */
static void list_ops(finder *f, const mw_tensor *good)
{
    const mw__op *last = good->op, *select = strcmp(last->kind, "select") == 0 ? last : mw__arg(last, "x")->op;
    const mw__op *compare = mw__arg(select, "cond")->op;
    if (select != last)
        f->ops[f->op_count++] = last;
    f->ops[f->op_count++] = select;
    f->ops[f->op_count++] = compare;
    f->ops[f->op_count++] = mw__arg(compare, "x")->op;
}

#define GOOD_OPS 5 /* for each number at most, with its multiplication */

/* Collects the numbers of a product from its end; the left side may be another product. False if there is anything
 * else, or no room. */
static bool collect(finder *f, const mw_tensor *value)
{
    for (;;) {
        const bool product = is_product(value);
        const mw_tensor *good = product ? mw__arg(value->op, "y") : value;
        mw__good *out = &f->goods[f->count];
        out->x = f->count < f->capacity ? mw__all_within_read(good, &out->limit) : NULL;
        if (out->x == NULL)
            return false;
        f->count++;
        if (product)
            f->ops[f->op_count++] = value->op;
        list_ops(f, good);
        if (!product)
            return true;
        value = mw__arg(value->op, "x");
    }
}

static void mark_products(finder *f, const mw_tensor *value)
{
    for (; is_product(value); value = mw__arg(value->op, "x")) {
        f->taken[value->id] = true;
        f->taken[mw__arg(value->op, "y")->id] = true;
    }
    f->taken[value->id] = true;
}

static mw_status keep(finder *f, const mw__op *op, mw__pattern *out)
{
    mw__good *goods = mw__arena_alloc(f->arena, f->count, sizeof *goods, f->err);
    const mw__op **ops = mw__arena_alloc(f->arena, f->op_count, sizeof *ops, f->err);
    if (goods == NULL || ops == NULL)
        return MW_ERROR_MEMORY;
    memcpy(goods, f->goods, f->count * sizeof *goods);
    for (size_t i = 0; i < f->op_count; i++) /* they were met from the end */
        ops[i] = f->ops[f->op_count - 1 - i];
    *out = (mw__pattern){.kind = MW__PATTERN_ALL_WITHIN,
                         .result = op->results[0],
                         .goods = goods,
                         .good_count = f->count,
                         .ops = ops,
                         .op_count = f->op_count};
    return MW_OK;
}

/* product > 0.5, or another number between: made with the product. */
static mw_status find_flag(finder *f, const mw__block *body, size_t at)
{
    mw__pattern *product = &f->patterns[at];
    for (size_t i = at + 1; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        const mw_tensor *bound =
            strcmp(op->kind, "greater") == 0 && mw__arg(op, "x") == product->result ? mw__arg(op, "y") : NULL;
        if (bound == NULL || bound->payload == NULL || bound->payload->data == NULL || mw__count_of(bound) != 1 ||
            mw__count_of(op->results[0]) != 1 || f->patterns[i].kind != MW__PATTERN_NONE)
            continue;
        const double number = mw__payload_float(bound->payload, 0);
        if (!(number >= 0.0 && number < 1.0))
            continue;
        product->flag = op->results[0];
        f->patterns[i].kind = MW__PATTERN_MADE;
        return mw__pattern_add_op(f->arena, product, op, f->err);
    }
    return MW_OK;
}

/* From the end of the text, so that a whole product is met before its parts. */
static mw_status find(finder *f, const mw__block *body)
{
    for (size_t i = body->op_count; i-- > 0;) {
        const mw__op *op = body->ops[i];
        if (op->result_count != 1 || f->taken[op->results[0]->id] ||
            (!is_product(op->results[0]) && strcmp(op->kind, "reduce_min") != 0))
            continue;
        f->count = f->op_count = 0;
        if (!collect(f, op->results[0]))
            continue;
        mark_products(f, op->results[0]);
        MW_TRY(keep(f, op, &f->patterns[i]));
        MW_TRY(find_flag(f, body, i));
    }
    return MW_OK;
}

static size_t count_compared(const mw__block *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->op_count; i++)
        count += strcmp(body->ops[i]->kind, "less_equal") == 0;
    return count;
}

mw_status mw__patterns_find_within(const mw__function *function, mw__pattern *patterns, mw__arena *arena, mw_error *err)
{
    const size_t compared = count_compared(function->body);
    if (compared == 0)
        return MW_OK;
    mw__arena scratch;
    mw__arena_init(&scratch, arena->allocator);
    finder f = {.arena = arena, .patterns = patterns, .capacity = compared, .err = err};
    f.taken = mw__arena_alloc(&scratch, function->graph->value_count, sizeof *f.taken, err);
    f.goods = mw__arena_alloc(&scratch, f.capacity + 1, sizeof *f.goods, err);
    f.ops = mw__arena_alloc(&scratch, (f.capacity + 1) * GOOD_OPS, sizeof *f.ops, err);
    mw_status status = f.taken != NULL && f.goods != NULL && f.ops != NULL ? find(&f, function->body) : MW_ERROR_MEMORY;
    mw__arena_deinit(&scratch);
    return status;
}
