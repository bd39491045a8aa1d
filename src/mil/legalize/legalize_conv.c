/* A convolution whose weight is computed, written in the decomposed form (graph/patterns/conv.h). */
#include "mil/legalize/rewrites.h"

#include "graph/patterns/conv.h"

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
