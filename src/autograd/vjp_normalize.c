/* VJPs of normalisation. */
#include "autograd/rules.h"

/* dx = y (dy - sum(dy y)) along the axis */
void mw__vjp_softmax(mw__vjp *vjp)
{
    int64_t axis = -1;
    mw__arg_int(vjp->op, "axis", &axis);
    mw_tensor *y = vjp->y[0], *dy = vjp->dy[0];
    mw_tensor *mean = mw_reduce_sum(mw_mul(dy, y), MW_AXES((int)axis), true);
    mw__vjp_set(vjp, "x", mw_mul(y, mw_sub(dy, mean)));
}
