/* VJPs of the operations of op_shape_move.c: the inverse movement of the cotangent, or a sum where elements were used
 * several times. */
#include "autograd/vjp/rules.h"

/* Part i of dy, its axis dropped. */
void mw__vjp_stack(mw__vjp *vjp)
{
    const mw_shape shape = mw_tensor_shape(vjp->dy[0]);
    const int axis = mw__vjp_axis_of(vjp, shape.rank);
    for (int64_t i = 0; i < shape.dim[axis]; i++) {
        mw_slice slices[MW_RANK_MAX] = {0};
        for (int k = 0; k < shape.rank; k++)
            slices[k] = (mw_slice){.from_start = true, .to_end = true};
        slices[axis] = (mw_slice){.begin = i, .end = i + 1, .squeeze = true};
        mw__vjp_set_member(vjp, "values", (size_t)i, mw_slice_by_index(vjp->dy[0], slices));
    }
}

void mw__vjp_reverse(mw__vjp *vjp)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    mw_axes reversed = MW_ALL_AXES;
    if (mw__arg_present(vjp->op, "axes")) {
        mw__arg_ints(vjp->op, "axes", axes, MW_RANK_MAX, &count);
        reversed.count = (int)count;
    }
    for (size_t i = 0; i < count; i++)
        reversed.axis[i] = (int)axes[i];
    mw__vjp_set(vjp, "x", mw_reverse(vjp->dy[0], reversed));
}

void mw__vjp_reverse_sequence(mw__vjp *vjp)
{
    int64_t seq = 0, batch = 0;
    mw__arg_int(vjp->op, "seq_axis", &seq);
    mw__arg_int(vjp->op, "batch_axis", &batch);
    mw__vjp_set(vjp, "x", mw_reverse_sequence(vjp->dy[0], mw__vjp_arg(vjp, "lengths"), (int)seq, (int)batch));
}

void mw__vjp_band_part(mw__vjp *vjp)
{
    int64_t lower = -1, upper = -1;
    mw__arg_int(vjp->op, "lower", &lower);
    mw__arg_int(vjp->op, "upper", &upper);
    mw__vjp_set(vjp, "x", mw_band_part(vjp->dy[0], lower, upper));
}
