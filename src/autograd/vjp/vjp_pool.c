/* VJPs of pooling: the patterns of graph/patterns/pool.h. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/pool.h"

void mw__vjp_max_pool(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw__max_pool_gradient(vjp->op, mw__vjp_arg(vjp, "x"), vjp->y[0], vjp->dy[0]));
}

void mw__vjp_avg_pool(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw__avg_pool_gradient(vjp->op, mw__vjp_arg(vjp, "x"), vjp->dy[0]));
}

void mw__vjp_l2_pool(mw__vjp *vjp)
{
    mw__vjp_set(vjp, "x", mw__l2_pool_gradient(vjp->op, mw__vjp_arg(vjp, "x"), vjp->y[0], vjp->dy[0]));
}
