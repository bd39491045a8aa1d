/* Checks a program against the table: every operation known, its arguments, types and shapes as its row says. */
#include "mil/mil.h"

static mw_status verify_block(const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        if (op->row == NULL) {
            mw__fail(err, MW_ERROR_UNSUPPORTED, "operation %s is not known in ios%d", op->kind,
                     (int)block->function->opset);
            mw__error_subject(err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
            mw__error_position(err, (int)op->line, (int)op->column);
            return MW_ERROR_UNSUPPORTED;
        }
        MW_TRY(mw__op_verify(op, err));
        for (size_t k = 0; k < op->block_count; k++)
            MW_TRY(verify_block(op->blocks[k], err));
    }
    return MW_OK;
}

mw_status mw_graph_verify(const mw_graph *graph, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "graph is NULL");
    MW_TRY(mw_graph_check(graph, err));
    for (size_t i = 0; i < graph->function_count; i++)
        MW_TRY(verify_block(graph->functions[i]->body, err));
    return MW_OK;
}
