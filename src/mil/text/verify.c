/* Checks a program against the table: every operation known, its arguments, types and shapes as in its row. */
#include "base/number/float_mode.h"
#include "mil/io.h"

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
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "graph is NULL");
    MW_TRY(mw_graph_check(graph, err));
    for (size_t i = 0; i < graph->function_count; i++)
        MW_TRY(verify_block(graph->functions[i]->body, err));
    return MW_OK;
}

/* ---- constants ---- */

static mw_status check_op(const mw__op *op, mw_error *err)
{
    char subject[160];
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        if (op->row->args[i].kind != MW__CONST || slot->count != 1 || mw__is_constant(slot->operands[0].value))
            continue;
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s must be a constant", mw__op_subject(op, subject, sizeof subject),
                 slot->name);
        mw__error_subject(err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
        mw__error_position(err, (int)op->line, (int)op->column);
        return MW_ERROR_ARGUMENT;
    }
    return MW_OK;
}

static mw_status check_block(const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        MW_TRY(check_op(block->ops[i], err));
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            MW_TRY(check_block(block->ops[i]->blocks[k], err));
    }
    return MW_OK;
}

mw_status mw__mil_check_constants(const mw_graph *graph, mw_error *err)
{
    for (size_t i = 0; i < graph->function_count; i++)
        MW_TRY(check_block(graph->functions[i]->body, err));
    return MW_OK;
}
