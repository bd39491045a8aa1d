/* VJPs of ops/conv.def, written through the pattern, which knows the forms that engine and chips accept. In the
 * comments y is the forward result, dy its cotangent. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/conv.h"
#include "graph/patterns/conv_quantized.h"

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

/* Of a weight that is spread with zeros, the zeros' gradients are zeros: mw__vjp_conv_spread leaves them out. */
static mw_tensor *dweight_of(const mw__vjp *vjp, mw__conv conv)
{
    mw_tensor *wide = mw__vjp_arg(vjp, "weight");
    const bool spread = mw__conv_narrow(&conv, wide) != wide;
    mw_tensor *dweight = mw__conv_dweight(&conv, mw__vjp_arg(vjp, "x"), vjp->dy[0]);
    return spread ? mw__conv_dilate_weight(dweight, conv.dilation) : dweight;
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
        mw__vjp_set(vjp, "weight", dweight_of(vjp, conv));
    set_bias(vjp);
}

/* dweight is that of the elements of dy where those of weight are */
void mw__vjp_conv_spread(mw__vjp *vjp)
{
    if (mw__vjp_wants_input(vjp, 0))
        mw__vjp_set_input(vjp, 0, mw__conv_undilate_gradient(vjp->dy[0], mw__vjp_input(vjp, 0)));
}

/* dx = transpose(dy, weight quant_scale + quant_bias); codes have no gradient, and the other operands are constants */
void mw__vjp_conv_quantized(mw__vjp *vjp)
{
    mw__conv conv;
    if (!read(vjp, &conv) || !mw__vjp_wants(vjp, "x"))
        return;
    mw_tensor *codes = mw__vjp_arg(vjp, "weight");
    const mw_dtype dtype = mw_tensor_dtype(mw__vjp_arg(vjp, "x"));
    mw_tensor *weight = mw__conv_quantized_weight(vjp->graph, vjp->op, mw__is_constant(codes) ? NULL : codes, dtype);
    mw__vjp_set(vjp, "x", mw__conv_dx(&conv, vjp->dy[0], weight));
}

/* y is the x of the convolution: dx = conv(dy, weight), dweight = dy * x */
void mw__vjp_conv_transposed(mw__vjp *vjp)
{
    const mw__conv *conv = vjp->composite->transposed;
    mw_tensor *dy = vjp->dy[0];
    if (mw__vjp_wants_input(vjp, 0))
        mw__vjp_set_input(vjp, 0, mw__conv_y(conv, dy, mw__vjp_input(vjp, 1)));
    if (mw__vjp_wants_input(vjp, 1))
        mw__vjp_set_input(vjp, 1, mw__conv_dweight(conv, dy, mw__vjp_input(vjp, 0)));
}

/* As the above, dbias = sum of dy */
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
