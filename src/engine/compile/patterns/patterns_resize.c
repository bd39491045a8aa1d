/* The gradient of resizing: autograd writes two products with constant matrices of interpolation, of whose numbers
 * nearly all are zeros (autograd/vjp/vjp_image.c). */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

static bool transposes(const mw__op *op, bool x, bool y)
{
    bool of_x = false, of_y = false;
    mw__arg_bool(op, "transpose_x", &of_x);
    mw__arg_bool(op, "transpose_y", &of_y);
    return of_x == x && of_y == y;
}

/* height^T (dy width) */
static bool read_resize(const mw__finder *f, const mw__op *op, mw__resize_gradient_match *out)
{
    const mw_tensor *inner = mw__arg(op, "y");
    if (!transposes(op, true, false) || !mw__pattern_is_named(inner->op, "matmul") || f->uses[inner->id] != 1 ||
        !transposes(inner->op, false, false))
        return false;
    *out = (mw__resize_gradient_match){.height = mw__arg(op, "x"),
                                       .width = mw__arg(inner->op, "y"),
                                       .dy = mw__arg(inner->op, "x"),
                                       .dx = op->results[0]};
    const int rank = mw__shape_of(out->dx).rank;
    return rank >= 3 && mw__shape_of(out->dy).rank == rank && mw__dtype_of(out->dy) == MW_F32 &&
           mw__dtype_of(out->dx) == MW_F32 && mw__count_of(out->dx) > 0;
}

mw_status mw__match_resize_gradient(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    mw__resize_gradient_match match;
    if (!read_resize(f, op, &match))
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__resizing_suits(match.height, match.width))
        return mw__pattern_decline(f, "its matrices do not interpolate");
    mw__resize_gradient_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.dy;
    MW_TRY(mw__pattern_add_op(f, pattern, mw__arg(op, "y")->op, err));
    return mw__pattern_add_op(f, pattern, op, err);
}
