/* VJPs of slices: the cotangent of a part goes back to its place, where the driver puts it together with others. Where
 * the place is computed, slice_update puts it among zeros. */
#include "autograd/vjp/rules.h"

static bool mask_at(const mw__vjp *vjp, const char *arg, int axis)
{
    bool mask[MW_RANK_MAX];
    size_t count = 0;
    return mw__arg_bools(vjp->op, arg, mask, MW_RANK_MAX, &count) && (size_t)axis < count && mask[axis];
}

static bool bounds_known(const mw__vjp *vjp)
{
    int64_t bound[MW_RANK_MAX];
    size_t count;
    return mw__arg_ints(vjp->op, "begin", bound, MW_RANK_MAX, &count) &&
           mw__arg_ints(vjp->op, "end", bound, MW_RANK_MAX, &count);
}

/* The shape of a slice before axes are squeezed. */
static mw_shape part_shape(const mw__vjp *vjp, mw_shape squeezed)
{
    mw_shape full = mw__vjp_x_shape(vjp);
    for (int i = 0, from = 0; i < full.rank; i++)
        full.dim[i] = mask_at(vjp, "squeeze_mask", i) ? 1 : squeezed.dim[from++];
    return full;
}

/* begin, 0 where it is masked; NULL with an error for strides, which slice_by_size cannot follow. */
static mw_tensor *run_time_begin(const mw__vjp *vjp)
{
    const mw_shape in = mw__vjp_x_shape(vjp);
    int64_t stride[MW_RANK_MAX];
    int32_t keep[MW_RANK_MAX];
    size_t count = 0;
    bool masked = false;
    if (mw__arg_present(vjp->op, "stride"))
        mw__arg_ints(vjp->op, "stride", stride, MW_RANK_MAX, &count);
    for (int i = 0; i < in.rank; i++) {
        keep[i] = mask_at(vjp, "squeeze_mask", i) || !mask_at(vjp, "begin_mask", i);
        masked = masked || keep[i] == 0;
        if (i < (int)count && stride[i] != 1 && !mask_at(vjp, "squeeze_mask", i))
            return mw__graph_fail(vjp->graph, MW_ERROR_UNSUPPORTED,
                                  "%s: no gradient of a slice that is both strided and at a computed place",
                                  vjp->op->kind);
    }
    mw_tensor *begin = mw__vjp_arg(vjp, "begin");
    return masked ? mw_mul(begin, mw_constant(vjp->graph, MW_I32, MW_SHAPE(in.rank), keep)) : begin;
}

/* dx = dy, of x's rank, at `begin` among zeros. */
static void unslice_at(mw__vjp *vjp, mw_tensor *dy, mw_tensor *begin)
{
    mw_tensor *zeros = mw_fill(vjp->graph, mw_tensor_dtype(vjp->dy[0]), mw__vjp_x_shape(vjp), 0.0);
    mw__vjp_set(vjp, "x", mw_slice_update_at(zeros, dy, begin));
}

/* Zeros around a part can be counted only if the extent is known. */
static void refuse_unknown(const mw__vjp *vjp, int axis)
{
    mw__graph_fail(vjp->graph, MW_ERROR_UNSUPPORTED, "%s: its gradient needs the extent of axis %d, which is cut",
                   vjp->op->kind, axis);
}

/* ---- slice_by_size ---- */

void mw__vjp_slice_by_size(mw__vjp *vjp)
{
    mw_shape in = mw__vjp_x_shape(vjp), out = mw_tensor_shape(vjp->dy[0]);
    int64_t begin[MW_RANK_MAX] = {0};
    mw__span spans[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(vjp->op, "begin", begin, MW_RANK_MAX, &count)) {
        unslice_at(vjp, vjp->dy[0], mw__vjp_arg(vjp, "begin"));
        return;
    }
    for (int i = 0; i < in.rank; i++) {
        if (in.dim[i] < 0 && (begin[i] != 0 || out.dim[i] >= 0)) {
            refuse_unknown(vjp, i);
            return;
        }
        spans[i] = mw__span_all(out.dim[i]);
        spans[i].begin = begin[i] < 0 ? begin[i] + in.dim[i] : begin[i];
    }
    mw__vjp_set_part(vjp, "x", vjp->dy[0], spans);
}

/* ---- slice_by_index ---- */

/* The forward rule has checked the bounds; y has them as extents, but for squeezed axes. */
static mw__span slice_of_axis(const mw__vjp *vjp, int axis, int64_t extent, int64_t out_extent)
{
    int64_t begin[MW_RANK_MAX] = {0}, stride[MW_RANK_MAX] = {0};
    size_t count = 0;
    mw__arg_ints(vjp->op, "begin", begin, MW_RANK_MAX, &count);
    if (!mw__arg_ints(vjp->op, "stride", stride, MW_RANK_MAX, &count))
        for (int i = 0; i < MW_RANK_MAX; i++)
            stride[i] = 1;
    bool squeezed = mask_at(vjp, "squeeze_mask", axis);
    mw__span slice = {begin[axis], squeezed ? 1 : out_extent, squeezed ? 1 : stride[axis]};
    if (!squeezed && mask_at(vjp, "begin_mask", axis))
        slice.begin = slice.stride > 0 ? 0 : extent - 1;
    else if (slice.begin < 0)
        slice.begin += extent;
    if (slice.begin >= extent)
        slice.begin = slice.stride > 0 ? extent : extent - 1;
    else if (slice.begin < 0) /* as Python clamps it */
        slice.begin = 0;
    return slice;
}

/* True if the slice is the whole axis, whatever its extent. */
static bool takes_all(const mw__vjp *vjp, int axis)
{
    int64_t begin[MW_RANK_MAX] = {0}, stride[MW_RANK_MAX] = {0};
    size_t count = 0;
    mw__arg_ints(vjp->op, "begin", begin, MW_RANK_MAX, &count);
    const bool steps = mw__arg_ints(vjp->op, "stride", stride, MW_RANK_MAX, &count) && stride[axis] != 1;
    return (begin[axis] == 0 || mask_at(vjp, "begin_mask", axis)) && mask_at(vjp, "end_mask", axis) && !steps &&
           !mask_at(vjp, "squeeze_mask", axis);
}

void mw__vjp_slice_by_index(mw__vjp *vjp)
{
    mw_shape in = mw__vjp_x_shape(vjp), full = part_shape(vjp, mw_tensor_shape(vjp->dy[0]));
    mw_tensor *dx = mw_reshape(vjp->dy[0], full);
    mw__span spans[MW_RANK_MAX];
    if (!bounds_known(vjp)) {
        unslice_at(vjp, dx, run_time_begin(vjp));
        return;
    }
    for (int i = 0; i < in.rank; i++) {
        if (in.dim[i] < 0 && !takes_all(vjp, i)) {
            refuse_unknown(vjp, i);
            return;
        }
        spans[i] = in.dim[i] < 0 ? mw__span_all(in.dim[i]) : slice_of_axis(vjp, i, in.dim[i], full.dim[i]);
    }
    mw__vjp_set_part(vjp, "x", dx, spans);
}

/* ---- slice_update ---- */

/* The same slice of another x, or its update. */
static mw_tensor *same_slice(const mw__vjp *vjp, const char *operation, mw_tensor *x, mw_tensor *update)
{
    static const char *const names[] = {"begin", "begin_mask", "end", "end_mask", "squeeze_mask", "stride"};
    enum { NAMES = sizeof names / sizeof *names };
    mw_tensor *values[NAMES], *y = NULL;
    mw_argument arguments[NAMES + 2];
    size_t count = 0;
    for (size_t i = 0; i < NAMES; i++) {
        if (!mw__arg_present(vjp->op, names[i]))
            continue;
        values[i] = mw__vjp_arg(vjp, names[i]);
        arguments[count++] = (mw_argument){names[i], &values[i], 1};
    }
    if (update != NULL)
        arguments[count++] = (mw_argument){"update", &update, 1};
    arguments[count++] = (mw_argument){"x", &x, 1};
    mw_op(vjp->graph, operation, arguments, count, &y, 1, NULL);
    return y;
}

/* dx loses the part that was replaced, which is dupdate. */
void mw__vjp_slice_update(mw__vjp *vjp)
{
    mw_tensor *dy = vjp->dy[0];
    const mw_shape shape = mw_tensor_shape(mw__vjp_arg(vjp, "update")), full = part_shape(vjp, shape);
    const bool known = bounds_known(vjp);
    mw_tensor *begin = known ? NULL : run_time_begin(vjp);
    if (mw__vjp_wants(vjp, "x")) {
        mw_tensor *zeros = mw_fill(vjp->graph, mw_tensor_dtype(dy), known ? shape : full, 0.0);
        mw__vjp_set(vjp, "x",
                    known ? same_slice(vjp, "slice_update", dy, zeros) : mw_slice_update_at(dy, zeros, begin));
    }
    if (mw__vjp_wants(vjp, "update")) {
        mw_tensor *part =
            known ? same_slice(vjp, "slice_by_index", dy, NULL) : mw_slice_by_size_at(dy, begin, full.dim);
        mw__vjp_set(vjp, "update", known ? part : mw_reshape(part, shape));
    }
}
