/* Which value of one graph is which of another: operations of the same order and kind, whose operands are the same. */
#include "graph/constants/evaluate_small.h"
#include "graph/transform/extents/generalize_parts.h"

#include <string.h>

mw_status mw__generalize_match_refuse(const mw__generalize_match *match, const mw__op *op, const char *why)
{
    char subject[160];
    return mw__fail(match->err, MW_ERROR_UNSUPPORTED, "%s %s", mw__op_subject(op, subject, sizeof subject), why);
}

/* ---- constants ---- */

/* Made of constants alone, by what mw__generalize_constant writes. */
static bool is_filled(const mw_tensor *value)
{
    const mw__op *op = value->op;
    if (op != NULL && strcmp(op->kind, "cast") == 0)
        return mw__arg(op, "x")->payload != NULL || is_filled(mw__arg(op, "x"));
    return op != NULL && (strcmp(op->kind, "fill") == 0 || strcmp(op->kind, "range_1d") == 0);
}

/* The same numbers, as far as they are few. */
static bool equal_numbers(const mw_tensor *a, const mw_tensor *b)
{
    mw__evaluation first = {0}, second = {0};
    mw__known x, y;
    if (!mw_shape_equal(mw_tensor_shape(a), mw_tensor_shape(b)))
        return false;
    if (!mw__evaluate(&first, a, &x) || !mw__evaluate(&second, b, &y))
        return true;
    for (size_t i = 0; i < x.count; i++)
        if (x.at[i] != y.at[i])
            return false;
    return true;
}

bool mw__generalize_match_is_constant(const mw__generalize_match *match, const mw_tensor *value)
{
    return value->payload != NULL || (match->exact && is_filled(value));
}

bool mw__generalize_match_payloads_equal(const mw__payload *a, const mw__payload *b)
{
    if (!mw__type_equal(a->type, b->type) || a->splat != b->splat || a->size != b->size ||
        (a->data == NULL) != (b->data == NULL) || a->member_count != b->member_count)
        return false;
    if (a->strings != NULL && b->strings != NULL) {
        const size_t count = mw__payload_count(a); /* that of b: the types are one */
        size_t same = 0;
        while (same < count && strcmp(a->strings[same], b->strings[same]) == 0)
            same++;
        return same == count;
    }
    return a->data == NULL || a->data == b->data || a->size == 0 || memcmp(a->data, b->data, a->size) == 0;
}

static mw_status match_constants(const mw__generalize_match *match, const mw__op *op, const mw_tensor *a,
                                 const mw_tensor *b)
{
    if (!mw__generalize_match_is_constant(match, b) || a->type->kind != b->type->kind ||
        a->type->dtype != b->type->dtype)
        return mw__generalize_match_refuse(match, op, "is given other constants");
    if (!match->exact || strcmp(op->kind, "reshape") == 0) /* -1 or the number: its result shows */
        return MW_OK;
    const bool same = a->payload != NULL && b->payload != NULL
                          ? mw__generalize_match_payloads_equal(a->payload, b->payload)
                          : equal_numbers(a, b);
    return same ? MW_OK
                : mw__generalize_match_refuse(match, op, "is given constants that do not follow from the extents");
}

/* ---- values ---- */

static mw_status match_value(const mw__generalize_match *match, int k, const mw__op *op, const mw_tensor *a,
                             const mw_tensor *b)
{
    if (a == NULL || b == NULL)
        return a == b ? MW_OK : mw__generalize_match_refuse(match, op, "is given other values");
    if (mw__generalize_match_is_constant(match, a))
        return match_constants(match, op, a, b);
    return match->first[k][b->id] == a->id + 1 ? MW_OK
                                               : mw__generalize_match_refuse(match, op, "is given other values");
}

/* Two values are the same from here on. */
static mw_status define(mw__generalize_match *match, int k, const mw__op *op, const mw_tensor *a, const mw_tensor *b)
{
    const mw_shape x = mw_tensor_shape(a), y = mw_tensor_shape(b);
    const bool tensors = a->type->kind == MW__TENSOR && b->type->kind == MW__TENSOR;
    if (!tensors || a->type->dtype != b->type->dtype || x.rank != y.rank || (match->exact && !mw_shape_equal(x, y)))
        return op != NULL ? mw__generalize_match_refuse(match, op, "has another type")
                          : mw__fail(match->err, MW_ERROR_UNSUPPORTED, "an input has another type");
    match->first[k][b->id] = a->id + 1;
    match->shapes[k][a->id] = y;
    return MW_OK;
}

static mw_status define_all(mw__generalize_match *match, int k, const mw__op *op, mw_tensor *const *a, size_t a_count,
                            mw_tensor *const *b, size_t b_count)
{
    if (a_count != b_count)
        return op != NULL ? mw__generalize_match_refuse(match, op, "has other results")
                          : mw__fail(match->err, MW_ERROR_UNSUPPORTED, "the inputs differ");
    for (size_t i = 0; i < a_count; i++)
        MW_TRY(define(match, k, op, a[i], b[i]));
    return MW_OK;
}

/* ---- operations ---- */

static mw_status match_operands(const mw__generalize_match *match, int k, const mw__op *a, const mw__operand *x,
                                size_t x_count, const mw__operand *y, size_t y_count)
{
    if (x_count != y_count)
        return mw__generalize_match_refuse(match, a, "is given another number of values");
    for (size_t i = 0; i < x_count; i++) {
        MW_TRY(match_value(match, k, a, x[i].value, y[i].value));
        if (x[i].value == NULL)
            MW_TRY(match_operands(match, k, a, x[i].members, x[i].member_count, y[i].members, y[i].member_count));
    }
    return MW_OK;
}

static mw_status match_outputs(const mw__generalize_match *match, int k, const mw__op *op, const mw__block *a,
                               const mw__block *b)
{
    if (a->output_count != b->output_count)
        return mw__generalize_match_refuse(match, op, "has other results");
    for (size_t i = 0; i < a->output_count; i++)
        MW_TRY(match_value(match, k, op, a->outputs[i], b->outputs[i]));
    return MW_OK;
}

static mw_status match_op(mw__generalize_match *match, int k, const mw__op *a, const mw__op *b)
{
    if (strcmp(a->kind, b->kind) != 0 || a->slot_count != b->slot_count || a->block_count != b->block_count)
        return mw__generalize_match_refuse(match, a, "is there for some extents only");
    for (size_t i = 0; i < a->slot_count; i++)
        MW_TRY(match_operands(match, k, a, a->slots[i].operands, a->slots[i].count, b->slots[i].operands,
                              b->slots[i].count));
    for (size_t i = 0; i < a->block_count; i++)
        MW_TRY(define_all(match, k, a, a->blocks[i]->inputs, a->blocks[i]->input_count, b->blocks[i]->inputs,
                          b->blocks[i]->input_count));
    return define_all(match, k, a, a->results, a->result_count, b->results, b->result_count);
}

/* ---- lists ---- */

static bool is_listed(const mw__generalize_match *match, const mw__op *op)
{
    const bool constant = op->row != NULL && op->row->id == MW__OP_const;
    return !constant && !(match->exact && op->result_count == 1 && is_filled(op->results[0]));
}

/* Counts the operations, and lists them if there is room. */
static size_t list_ops(const mw__generalize_match *match, const mw__block *block, const mw__op **out, size_t count)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        if (!is_listed(match, op))
            continue;
        if (out != NULL)
            out[count] = op;
        count++;
        for (size_t k = 0; k < op->block_count; k++)
            count = list_ops(match, op->blocks[k], out, count);
    }
    return count;
}

static mw_status make_tables(mw__generalize_match *match)
{
    const size_t values = match->graphs[0]->value_count;
    for (int k = 0; k < match->count; k++) {
        const mw__block *body = match->graphs[k]->functions[0]->body;
        const size_t count = list_ops(match, body, NULL, 0);
        match->ops[k] = mw__arena_alloc(match->arena, count + 1, sizeof *match->ops[k], match->err);
        match->first[k] =
            mw__arena_alloc(match->arena, match->graphs[k]->value_count, sizeof *match->first[k], match->err);
        match->shapes[k] = mw__arena_alloc(match->arena, values, sizeof *match->shapes[k], match->err);
        if (match->ops[k] == NULL || match->first[k] == NULL || match->shapes[k] == NULL)
            return MW_ERROR_MEMORY;
        list_ops(match, body, match->ops[k], 0);
        if (k > 0 && count != match->op_count)
            return mw__fail(match->err, MW_ERROR_UNSUPPORTED, "the number of operations depends on it");
        match->op_count = count;
    }
    match->at = mw__arena_alloc(match->arena, values, sizeof *match->at, match->err);
    return match->at != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* The outputs of blocks are compared when what is in the blocks is known. */
static mw_status match_blocks(mw__generalize_match *match, int k)
{
    for (size_t i = 0; i < match->op_count; i++)
        for (size_t b = 0; b < match->ops[0][i]->block_count; b++)
            MW_TRY(match_outputs(match, k, match->ops[0][i], match->ops[0][i]->blocks[b], match->ops[k][i]->blocks[b]));
    return MW_OK;
}

/* A result that is a constant has no operation that could compute it otherwise. */
static mw_status match_results(const mw__generalize_match *match, int k, const mw__block *a, const mw__block *b)
{
    bool same = a->output_count == b->output_count;
    for (size_t i = 0; same && i < a->output_count; i++) {
        const mw_tensor *x = a->outputs[i], *y = b->outputs[i];
        if (x->payload != NULL)
            same = y->payload != NULL && mw__generalize_match_payloads_equal(x->payload, y->payload);
        else
            same = match->first[k][y->id] == x->id + 1;
    }
    return same ? MW_OK : mw__fail(match->err, MW_ERROR_UNSUPPORTED, "a result is another constant");
}

mw_status mw__generalize_match_graphs(mw__generalize_match *match)
{
    MW_TRY(make_tables(match));
    const mw__block *a = match->graphs[0]->functions[0]->body;
    for (int k = 0; k < match->count; k++) {
        const mw__block *b = match->graphs[k]->functions[0]->body;
        MW_TRY(define_all(match, k, NULL, a->inputs, a->input_count, b->inputs, b->input_count));
        for (size_t i = 0; i < match->op_count; i++)
            MW_TRY(match_op(match, k, match->ops[0][i], match->ops[k][i]));
        MW_TRY(match_blocks(match, k));
        MW_TRY(match_results(match, k, a, b));
    }
    for (size_t i = 0; i < match->op_count; i++)
        if (match->ops[0][i]->result_count > 0)
            match->at[match->ops[0][i]->results[0]->id] = (uint32_t)i;
    return MW_OK;
}
