/* VJPs of selection. Comparisons have none: their results are boolean. */
#include "autograd/vjp/rules.h"

/* The chosen operand gets dy. */
void mw__vjp_select(mw__vjp *vjp)
{
    mw_tensor *cond = mw__vjp_arg(vjp, "cond"), *dy = vjp->dy[0];
    if (mw__vjp_wants(vjp, "a"))
        mw__vjp_set(vjp, "a", mw__where(cond, dy));
    if (mw__vjp_wants(vjp, "b"))
        mw__vjp_set(vjp, "b", mw_select(cond, mw__vjp_scalar_like(dy, 0.0), dy));
}
