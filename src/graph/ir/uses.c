/* The walk that collects the uses of every value. */
#include "graph/ir/uses.h"

#include "graph/ir/rule.h"

#include <string.h>

typedef struct walk {
    mw__arena *arena;
    mw__use **first, **last; /* by value id */
    mw_error *err;
} walk;

static mw_status note_use(const walk *w, const mw__op *op, size_t slot, const mw_tensor *value)
{
    mw__use *use = mw__arena_alloc(w->arena, 1, sizeof *use, w->err);
    if (use == NULL)
        return MW_ERROR_MEMORY;
    *use = (mw__use){.op = op, .slot = slot};
    if (w->last[value->id] != NULL)
        w->last[value->id]->next = use;
    else
        w->first[value->id] = use;
    w->last[value->id] = use;
    return MW_OK;
}

static mw_status walk_operands(const walk *w, const mw__op *op, size_t slot, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i].value != NULL)
            MW_TRY(note_use(w, op, slot, operands[i].value));
        else
            MW_TRY(walk_operands(w, op, slot, operands[i].members, operands[i].member_count));
    }
    return MW_OK;
}

static mw_status walk_block(const walk *w, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        for (size_t s = 0; s < op->slot_count; s++)
            if (op->slots[s].operands != NULL)
                MW_TRY(walk_operands(w, op, s, op->slots[s].operands, op->slots[s].count));
        for (size_t b = 0; b < op->block_count; b++)
            MW_TRY(walk_block(w, op->blocks[b]));
    }
    return MW_OK;
}

const mw__use *const *mw__uses_make(mw__arena *arena, const mw__function *function, mw_error *err)
{
    const size_t count = function->graph->value_count;
    walk w = {.arena = arena, .err = err};
    w.first = mw__arena_alloc(arena, count, sizeof *w.first, err);
    w.last = mw__arena_alloc(arena, count, sizeof *w.last, err);
    if (w.first == NULL || w.last == NULL || walk_block(&w, function->body) != MW_OK)
        return NULL;
    return (const mw__use *const *)w.first;
}

/* ---- what becomes of a value ---- */

static bool is_cast(const mw__op *op) { return op->kind != NULL && strcmp(op->kind, "cast") == 0; }

static bool makes_integers(const mw__op *op)
{
    return op->result_count == 1 && op->results[0]->type->kind == MW__TENSOR &&
           mw__arg_type_holds(MW__INT, mw_tensor_dtype(op->results[0]));
}

bool mw__is_rearrangement(const mw__op *op)
{
    if (mw__op_has(op, MW__TRAIT_REARRANGES))
        return true;
    const mw_tensor *x = is_cast(op) ? mw__arg(op, "x") : NULL;
    return x != NULL && mw__arg_type_holds(MW__INT, mw_tensor_dtype(x)) && makes_integers(op);
}

bool mw__uses_cast_to_integers(const mw__block *body)
{
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (makes_integers(op) && is_cast(op))
            return true;
        for (size_t b = 0; b < op->block_count; b++)
            if (mw__uses_cast_to_integers(op->blocks[b]))
                return true;
    }
    return false;
}

bool mw__becomes_integer(const mw__use *const *uses, const mw_tensor *value)
{
    for (const mw__use *use = uses[value->id]; use != NULL; use = use->next) {
        if (is_cast(use->op) && makes_integers(use->op))
            return true;
        if ((mw__is_rearrangement(use->op) || is_cast(use->op)) && use->op->result_count == 1 &&
            mw__becomes_integer(uses, use->op->results[0]))
            return true;
    }
    return false;
}
