/* VJPs of ops/conv.def, written through the pattern, which knows the forms that engine and chips accept. In the
 * comments y is the forward result, dy its cotangent. */
#include "autograd/rules.h"
#include "graph/patterns/conv.h"

static bool read(const mw__vjp *vjp, mw__conv *conv)
{
    if (mw__conv_read(vjp->op, conv))
        return true;
    mw__graph_fail(vjp->graph, MW_ERROR_UNSUPPORTED, "%s: its gradient needs known extents", vjp->op->kind);
    return false;
}

static void set_bias(mw__vjp *vjp)
{
    if (mw__arg_present(vjp->op, "bias") && mw__vjp_wants(vjp, "bias"))
        mw__vjp_set(vjp, "bias", mw__conv_dbias(vjp->dy[0]));
}

/* dx = transpose(dy, weight), dweight = x * dy, dbias = sum of dy */
void mw__vjp_conv(mw__vjp *vjp)
{
    mw__conv conv;
    mw_tensor *dy = vjp->dy[0];
    if (!read(vjp, &conv))
        return;
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw__conv_dx(&conv, dy, mw__vjp_arg(vjp, "weight")));
    if (mw__vjp_wants(vjp, "weight"))
        mw__vjp_set(vjp, "weight", mw__conv_dweight(&conv, mw__vjp_arg(vjp, "x"), dy));
    set_bias(vjp);
}

/* y is the x of the convolution: dx = conv(dy, weight), dweight = dy * x, dbias = sum of dy */
void mw__vjp_conv_transpose(mw__vjp *vjp)
{
    mw__conv conv;
    mw_tensor *dy = vjp->dy[0];
    if (!read(vjp, &conv))
        return;
    if (mw__vjp_wants(vjp, "x"))
        mw__vjp_set(vjp, "x", mw__conv_y(&conv, dy, mw__vjp_arg(vjp, "weight")));
    if (mw__vjp_wants(vjp, "weight"))
        mw__vjp_set(vjp, "weight", mw__conv_dweight(&conv, dy, mw__vjp_arg(vjp, "x")));
    set_bias(vjp);
}
