/* Copying the blocks of an operation. What goes into a loop may be known better than its blocks declare, and what its
 * body makes of a list too: then they are copied with that, and once more as declared if it does not hold. */
#include "graph/ir/rule.h"
#include "graph/transform/clone/clone_mark.h"

#include <string.h>

/* Beyond so many operations nothing is copied again, whatever a text nests. */
enum { STEPS_MAX = 1 << 18, ROUNDS_MAX = 3 };

static mw_status copy_once(mw__clone *clone, const mw__op *source, mw__op *op, const mw__type *const *types,
                           bool *changed)
{
    mw_graph *to = clone->to;
    op->block_count = 0;
    for (size_t i = 0; i < source->block_count; i++) {
        mw__block *block = mw__block_create(to->current, op, &to->error);
        if (block == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw__clone_block(clone, source->blocks[i], block, types, changed));
        op->blocks[op->block_count++] = block;
    }
    return MW_OK;
}

/* The variables of a loop whose blocks take and give them; NULL of anything else. */
static const mw__slot *loop_variables(const mw__op *op, const mw__op *source)
{
    if (strcmp(op->kind, "while_loop") != 0 || source->block_count != 2)
        return NULL;
    const mw__block *const *blocks = (const mw__block *const *)source->blocks;
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        if (slot->operands != NULL && strcmp(slot->name, "loop_vars") == 0 && blocks[0]->input_count == slot->count &&
            blocks[1]->input_count == slot->count && blocks[1]->output_count == slot->count)
            return slot;
    }
    return NULL;
}

/* False: a variable does not stay what it is from trip to trip, so that nothing better than declared is known. *more:
 * the body says more of a list, which is one list in all trips. */
static mw_status compare_trip(mw_graph *to, const mw__block *body, const mw__type **types, bool *holds, bool *more)
{
    *holds = true, *more = false;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw__type *before = body->inputs[i]->type, *after = body->outputs[i]->type;
        if (!mw__types_fit(before, after)) {
            *holds = false;
            return MW_OK;
        }
        if (before->kind != MW__LIST)
            continue;
        types[i] = mw__type_merge(to, before, after, &to->error);
        if (types[i] == NULL)
            return to->error.status;
        *more = *more || !mw__type_equal(types[i], before);
    }
    return MW_OK;
}

mw_status mw__clone_blocks(mw__clone *clone, const mw__op *source, mw__op *op)
{
    mw_graph *to = clone->to;
    if (source->block_count == 0)
        return MW_OK;
    mw__clone_unswap(clone);
    op->blocks = mw__arena_alloc(&to->arena, source->block_count, sizeof(mw__block *), &to->error);
    const mw__slot *variables = clone->steps < STEPS_MAX ? loop_variables(op, source) : NULL;
    const mw__type **types =
        variables != NULL ? mw__arena_alloc(&to->arena, variables->count, sizeof *types, &to->error) : NULL;
    bool changed = false, holds = true, more = true;
    MW_TRY(to->error.status);
    for (size_t i = 0; variables != NULL && i < variables->count; i++)
        types[i] = variables->operands[i].value != NULL ? variables->operands[i].value->type : NULL;
    for (int round = 0; variables != NULL && holds && more && round < ROUNDS_MAX; round++) {
        MW_TRY(copy_once(clone, source, op, types, &changed));
        MW_TRY(compare_trip(to, op->blocks[1], types, &holds, &more));
    }
    if (variables != NULL && (holds || !changed))
        return MW_OK;
    return copy_once(clone, source, op, NULL, &changed);
}
