/* Writing otherwise what no device runs as it is. */
#include "graph/transform/plain.h"

#include "graph/ir/classify.h"
#include "graph/patterns/conv_quantized.h"

bool mw__is_plain_op(const mw__op *op)
{
    return op->row != NULL && (op->row->id == MW__OP_conv_quantized || op->row->id == MW__OP_classify);
}

static void write_classify(mw__clone *clone, const mw__op *op)
{
    mw_tensor *results[2] = {NULL, NULL};
    mw__classify_emit(clone->to, op, mw__clone_operand(clone, mw__arg(op, "probabilities"), MW_F32), results);
    for (size_t i = 0; i < 2; i++)
        mw__clone_set(clone, op->results[i], results[i]);
}

bool mw__clone_plain_op(mw__clone *clone, const mw__op *op)
{
    if (mw__classify_is_misused(op))
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "uses what only results of classify may be");
    if (clone->to->error.status != MW_OK || mw__is_label_list(op))
        return true;
    if (!mw__is_plain_op(op))
        return false;
    if (mw__op_verify(op, &clone->to->error) != MW_OK)
        return true;
    if (op->row->id == MW__OP_classify)
        write_classify(clone, op);
    else
        mw__clone_set(clone, op->results[0], mw__conv_quantized_plain(clone, op));
    return true;
}
