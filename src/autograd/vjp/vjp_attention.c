/* VJPs of attention. The weights are computed anew: the operation does not give them out. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/attention.h"

/* A mask of the other float type gets a cotangent of its type. */
static mw_tensor *like_mask(const mw__vjp *vjp, mw_tensor *dscores)
{
    const mw_dtype dtype = mw_tensor_dtype(mw__vjp_arg(vjp, "attn_mask"));
    return mw_tensor_dtype(dscores) == dtype ? dscores : mw_cast(dscores, dtype);
}

/* y = P v with P = softmax(s q k^T + m), s = 1 / sqrt(E):
 * dv = P^T dy, dm = D = P (dy v^T - sum(dy y)), dq = s D k, dk = s D^T q. The sum over the keys of P dP is that over
 * the values of dy y, which is shorter. */
void mw__vjp_scaled_dot_product_attention(mw__vjp *vjp)
{
    mw_tensor *q = mw__vjp_arg(vjp, "query"), *k = mw__vjp_arg(vjp, "key"), *v = mw__vjp_arg(vjp, "value");
    mw_tensor *dy = vjp->dy[0], *weights = mw__attention_weights(q, k, mw__vjp_arg(vjp, "attn_mask"));
    const double scale = mw__attention_scale(q);
    if (mw__vjp_wants(vjp, "value"))
        mw__vjp_set(vjp, "value", mw_matmul(weights, dy, MW_TRANSPOSE_X));
    if (!mw__vjp_wants(vjp, "query") && !mw__vjp_wants(vjp, "key") && !mw__vjp_wants(vjp, "attn_mask"))
        return;
    mw_tensor *mean = mw_reduce_sum(mw_mul(dy, vjp->y[0]), MW_AXES(-1), true);
    mw_tensor *lifted = mw_sub(mw_matmul(dy, v, MW_TRANSPOSE_Y), mean);
    mw_tensor *dscores = mw_mul(weights, lifted);
    if (mw__vjp_wants(vjp, "attn_mask"))
        mw__vjp_set(vjp, "attn_mask", like_mask(vjp, dscores));
    if (mw__vjp_wants(vjp, "query"))
        mw__vjp_set(vjp, "query", mw_mul_scalar(mw_matmul(dscores, k, MW_TRANSPOSE_NONE), scale));
    if (mw__vjp_wants(vjp, "key"))
        mw__vjp_set(vjp, "key", mw_mul_scalar(mw_matmul(dscores, q, MW_TRANSPOSE_X), scale));
}
