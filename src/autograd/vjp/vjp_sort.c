/* VJPs of ops/sort.def: the cotangents of the chosen elements go back to where they stood. */
#include "autograd/vjp/rules.h"
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
    mw__vjp_set(vjp, "x", mw__pick_gradient(NULL, vjp->dy[0], indices, at, shape));
}

/* [N, M, B]: 1 where result m is box b. The index -1 of what is not filled is no box. */
static mw_tensor *chosen(const mw__vjp *vjp, int64_t boxes, mw_dtype dtype)
{
    mw_tensor *numbers = mw_range_1d(vjp->graph, MW_I32, 0.0, (double)boxes, 1.0);
    mw_tensor *hit = mw_equal(mw_expand_dims(vjp->y[2], MW_AXES(2)), numbers);
    mw_tensor *one = mw_scalar(vjp->graph, dtype, 1.0);
    return mw_select(hit, one, mw_scalar(vjp->graph, dtype, 0.0));
}

/* Boxes and scores that stay go back to where they stood: a product with numbers of which each column has one 1. */
void mw__vjp_boxes(mw__vjp *vjp)
{
    static const char *const args[] = {"boxes", "scores"};
    const bool across = vjp->op->row->since >= MW_IOS17; /* [N, 4, B] and [N, K, B] */
    const mw_tensor *boxes = mw__vjp_arg(vjp, "boxes");
    const int64_t count = mw_tensor_shape(boxes).dim[across ? 2 : 1];
    mw_tensor *hot = count >= 0 ? chosen(vjp, count, mw_tensor_dtype(boxes)) : NULL;
    if (count < 0)
        mw__graph_fail(vjp->graph, MW_ERROR_UNSUPPORTED, "the number of boxes must be known for a gradient");
    for (int i = 0; i < 2; i++)
        if (vjp->dy[i] != NULL && mw__vjp_wants(vjp, args[i]))
            mw__vjp_set(vjp, args[i],
                        across ? mw_matmul(vjp->dy[i], hot, MW_TRANSPOSE_NONE)
                               : mw_matmul(hot, vjp->dy[i], MW_TRANSPOSE_X));
}
