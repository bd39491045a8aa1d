/* Layers that the ANE does not run, written by the patterns that stand in for them: a convolution whose weight is
 * computed (graph/patterns/conv.h), and a recurrent network over time (graph/patterns/recurrent.h). */
#include "mil/legalize/rewrites.h"

#include "graph/patterns/conv.h"
#include "graph/patterns/recurrent.h"

/* ---- convolutions ---- */

/* A literal in an argument has no value of its own in the copy. */
static bool is_copied(const mw_tensor *value) { return value == NULL || value->payload == NULL || value->op != NULL; }

bool mw__conv_has_computed_weight(const mw__rewriting *pass, const mw__op *op)
{
    const mw__legalizer *legalizer = pass->legalizer;
    mw__conv conv;
    const mw_tensor *weight = mw__arg(op, "weight");
    return legalizer->legality.device->constant_weights && weight != NULL && !mw__is_constant(weight) &&
           is_copied(mw__arg(op, "x")) && is_copied(mw__arg(op, "bias")) && mw__conv_read(op, &conv);
}

static mw_tensor *write_conv(mw__clone *clone, const mw__op *op)
{
    mw__conv conv;
    if (!mw__conv_read(op, &conv))
        return NULL;
    const mw__lowering lowering = clone->to->lowering;
    const mw_tensor *bias = mw__arg(op, "bias");
    clone->to->lowering = MW__LOWERING_DECOMPOSED;
    mw_tensor *y =
        mw__conv_y(&conv, mw__clone_get(clone, mw__arg(op, "x")), mw__clone_get(clone, mw__arg(op, "weight")));
    clone->to->lowering = lowering;
    return bias != NULL ? mw__conv_add_bias(y, mw__clone_get(clone, bias)) : y;
}

mw_tensor *mw__conv_decompose(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw__clone_set(clone, op->results[0], write_conv(clone, op));
    return NULL;
}

/* ---- recurrent networks ---- */

bool mw__recurrent_is_refused(const mw__rewriting *pass, const mw__op *op)
{
    mw__recurrent r;
    (void)pass;
    return mw__recurrent_read(op, &r);
}

static void copy_half(mw__clone *clone, mw_recurrent_weights *half, mw_dtype dtype)
{
    half->weight_ih = mw__clone_operand(clone, half->weight_ih, dtype);
    half->weight_hh = mw__clone_operand(clone, half->weight_hh, dtype);
    half->bias = mw__clone_operand(clone, half->bias, dtype);
    half->peephole = mw__clone_operand(clone, half->peephole, dtype);
    half->input_bias = mw__clone_operand(clone, half->input_bias, dtype);
}

mw_tensor *mw__recurrent_decompose(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__recurrent r;
    mw_tensor *results[3];
    char subject[160];
    (void)pass;
    if (!mw__recurrent_read(op, &r))
        return NULL;
    if (mw_tensor_shape(r.x).dim[0] < 0 || mw_tensor_shape(op->results[0]).dim[2] < 0) {
        mw__graph_fail(clone->to, MW_ERROR_UNSUPPORTED,
                       "%s: the ANE does not run it (source: operation sweep of ANEForge on the ANE); to be written "
                       "out over time the number of steps and the hidden elements must be known",
                       mw__op_subject(op, subject, sizeof subject));
        return NULL;
    }
    const mw_dtype dtype = mw_tensor_dtype(mw__clone_get(clone, r.x));
    r.x = mw__clone_operand(clone, r.x, dtype);
    r.h = mw__clone_operand(clone, r.h, dtype);
    r.c = mw__clone_operand(clone, r.c, dtype);
    copy_half(clone, &r.half[0], dtype);
    copy_half(clone, &r.half[1], dtype);
    if (mw_graph_check(clone->to, NULL) != MW_OK)
        return NULL;
    mw__recurrent_write(&r, results);
    for (size_t i = 0; i < op->result_count; i++)
        mw__clone_set(clone, op->results[i], results[i]);
    return NULL;
}
