/* VJPs of ops/sort.def: the cotangents of the chosen elements go back to where they stood. */
#include "autograd/rules.h"
#include "graph/patterns/embedding.h"

/* The indices that the operation gave, or those of a second one that gives them. */
static mw_tensor *indices_of(const mw__vjp *vjp, int axis)
{
    mw_tensor *values = NULL, *indices = NULL;
    const int64_t k = mw_tensor_shape(vjp->y[0]).dim[axis];
    bool ascending = false;
    if (vjp->result_count == 2)
        return vjp->y[1];
    mw__arg_bool(vjp->op, "ascending", &ascending);
    mw_topk(mw__vjp_arg(vjp, "x"), k, axis, ascending, &values, &indices);
    return indices;
}

void mw__vjp_topk(mw__vjp *vjp)
{
    const mw_shape shape = mw_tensor_shape(mw__vjp_arg(vjp, "x"));
    int64_t axis = -1;
    mw__arg_int(vjp->op, "axis", &axis);
    const int at = (int)(axis < 0 ? axis + shape.rank : axis);
    mw_tensor *indices = indices_of(vjp, at);
    mw__vjp_set(vjp, "x", mw__pick_gradient(vjp->dy[0], indices, at, shape));
}
