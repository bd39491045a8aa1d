/* Which constants are expanded when a program is compiled, and which stay as they are stored. */
#include "engine/compile/storage/stored_weights.h"

#include "base/memory/checked.h"
#include "engine/core/kernel.h"
#include "graph/constants/compressed.h"
#include "graph/ir/uses.h"

#include <string.h>

/* Below it, a constant is not worth the steps that expand it. */
enum { LEAST_ELEMENTS = 4096 };

typedef struct preparation {
    mw__arena *arena;
    const mw__use *const *uses;
    bool codes; /* products of codes may take weights as they are */
    mw_error *err;
} preparation;

/* ---- which may stay ---- */

/* The kernel expands it in parts, or a step of its own does before each run. */
static bool takes_packed(const mw__use *use)
{
    const mw__op *op = use->op;
    const char *packed = op->row != NULL ? mw__row_packed(op->row) : NULL;
    return packed != NULL && strcmp(op->slots[use->slot].name, packed) == 0 && op->block->owner == NULL &&
           !mw__op_is_mixed(op);
}

/* As far as it shows without its uses. */
static bool is_stored(const mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    const bool stored = mw__op_is_constexpr(value->op) || (value->payload != NULL && dtype == MW_F16);
    return stored && (dtype == MW_F16 || dtype == MW_F32) && mw_shape_count(mw_tensor_shape(value)) >= LEAST_ELEMENTS &&
           !value->is_output && (value->payload == NULL || (!value->payload->splat && value->payload->data != NULL));
}

static bool may_stay(const preparation *p, const mw_tensor *value)
{
    if (!is_stored(value))
        return false;
    for (const mw__use *use = p->uses[value->id]; use != NULL; use = use->next)
        if (!takes_packed(use))
            return false;
    return p->uses[value->id] != NULL;
}

/* Products of codes take it as it is (compile/patterns/patterns_int8.c); where one does not, it is expanded in each
 * run. */
static bool takes_codes(const mw__use *use)
{
    const mw__op *op = use->op;
    const bool matmul = mw__op_is(op, "matmul");
    if (op->row == NULL || op->block->owner != NULL || !(matmul || mw__op_is(op, "conv") || mw__op_is(op, "linear")))
        return false;
    const mw_tensor *x = mw__op_operand(op, "x");
    return x != NULL && x->op != NULL && mw__op_is(x->op, "dequantize") &&
           strcmp(op->slots[use->slot].name, matmul ? "y" : "weight") == 0;
}

static bool stays_as_codes(const preparation *p, const mw_tensor *value)
{
    if (!p->codes || !is_stored(value) || mw_tensor_dtype(value) != MW_F32)
        return false;
    for (const mw__use *use = p->uses[value->id]; use != NULL; use = use->next)
        if (!takes_codes(use))
            return false;
    return p->uses[value->id] != NULL;
}

/* ---- what is done ---- */

static mw_status expand_weight(const mw__op *op, mw_error *err)
{
    for (size_t i = 0; i < op->result_count; i++) {
        const mw__payload *payload = mw__constant_payload(op->results[i], err);
        if (payload == NULL) {
            mw__error_position(err, (int)op->line, (int)op->column);
            return err->status;
        }
        op->results[i]->payload = payload;
    }
    return MW_OK;
}

/* *out: whether it stays. A constexpr gets a literal without data, so that it counts as one. */
static mw_status pack_weight(const preparation *p, mw_tensor *value, bool *out)
{
    mw__compressed *packed = mw__arena_alloc(p->arena, 1, sizeof *packed, p->err);
    mw__payload *literal = mw__arena_alloc(p->arena, 1, sizeof *literal, p->err);
    if (packed == NULL || literal == NULL)
        return MW_ERROR_MEMORY;
    *out = mw__compressed_read(p->arena, value, packed, p->err);
    if (!*out)
        return p->err->status;
    value->packed = packed;
    *literal = (mw__payload){.type = value->type};
    if (value->payload == NULL)
        value->payload = literal;
    return MW_OK;
}

static mw_status prepare_op(const preparation *p, const mw__op *op, bool packs)
{
    const bool constexpr = mw__op_is_constexpr(op);
    bool packed = false;
    if (op->result_count == 1 && ((packs && may_stay(p, op->results[0])) || stays_as_codes(p, op->results[0])))
        MW_TRY(pack_weight(p, op->results[0], &packed));
    return constexpr && !packed ? expand_weight(op, p->err) : MW_OK;
}

static mw_status prepare_block(const preparation *p, const mw__block *block, bool packs)
{
    for (size_t i = 0; i < block->op_count; i++) {
        MW_TRY(prepare_op(p, block->ops[i], packs));
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            MW_TRY(prepare_block(p, block->ops[i]->blocks[k], false));
    }
    return MW_OK;
}

static uint64_t bytes_of(const mw_tensor *value)
{
    return (uint64_t)mw_shape_count(mw_tensor_shape(value)) * sizeof(float);
}

/* What there may be to do, by one walk. */
typedef struct survey {
    bool codes, compressed;
    uint64_t bytes; /* that constants which are stored otherwise would take as fp32 */
} survey;

static void survey_block(survey *found, const mw__block *block, bool outermost)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        found->compressed = found->compressed || mw__op_is_constexpr(op);
        found->codes = found->codes || (outermost && mw__op_is(op, "dequantize"));
        if (outermost && op->result_count == 1 && is_stored(op->results[0]))
            found->bytes += bytes_of(op->results[0]);
        for (size_t b = 0; b < op->block_count; b++)
            survey_block(found, op->blocks[b], false);
    }
}

/* Of those which may stay. */
static uint64_t dense_bytes(const preparation *p, const mw__block *body)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < body->op_count; i++)
        if (body->ops[i]->result_count == 1 && may_stay(p, body->ops[i]->results[0]))
            bytes += bytes_of(body->ops[i]->results[0]);
    return bytes;
}

/* The uses are collected only for a program with enough of them, or with codes. */
static mw_status choose_packing(preparation *p, const mw__function *function, const survey *found, uint64_t most,
                                mw__arena *scratch, bool *out)
{
    *out = false;
    if (!found->codes && found->bytes <= most)
        return MW_OK;
    p->uses = mw__uses_make(scratch, function, p->err);
    if (p->uses == NULL)
        return MW_ERROR_MEMORY;
    *out = dense_bytes(p, function->body) > most;
    p->codes = found->codes;
    return MW_OK;
}

mw_status mw__prepare_weights(const mw__function *function, mw__arena *arena, const mw__config *config, mw_error *err)
{
    mw__arena scratch;
    survey found = {0};
    preparation p = {.arena = arena, .err = err};
    bool packs = false;
    mw_status status = MW_OK;
    survey_block(&found, function->body, true);
    found.codes = found.codes && config->fold;
    mw__arena_init(&scratch, arena->allocator);
    if (config->level != MW__LEVEL_REF)
        status = choose_packing(&p, function, &found, config->pack, &scratch, &packs);
    if (status == MW_OK && (packs || p.codes || found.compressed))
        status = prepare_block(&p, function->body, packs);
    mw__arena_deinit(&scratch);
    return status;
}
