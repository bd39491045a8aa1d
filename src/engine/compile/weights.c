/* Expands compressed constants once, when a program is compiled. */
#include "engine/compile/weights.h"
#include "graph/compressed.h"

static mw_status expand_op(const mw__op *op, mw_error *err)
{
    for (size_t i = 0; i < op->result_count; i++) {
        mw_tensor *value = op->results[i];
        const mw__payload *payload = mw__constant_payload(value, err);
        if (payload == NULL) {
            mw__error_position(err, (int)op->line, (int)op->column);
            return err->status;
        }
        value->payload = payload;
    }
    return MW_OK;
}

static mw_status expand_block(const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        if (mw__op_is_constexpr(block->ops[i]))
            MW_TRY(expand_op(block->ops[i], err));
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            MW_TRY(expand_block(block->ops[i]->blocks[k], err));
    }
    return MW_OK;
}

mw_status mw__expand_weights(mw_graph *graph, mw_error *err)
{
    for (size_t i = 0; i < graph->function_count; i++)
        MW_TRY(expand_block(graph->functions[i]->body, err));
    return MW_OK;
}
