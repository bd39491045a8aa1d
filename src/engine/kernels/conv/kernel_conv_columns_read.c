/* Reading what the patterns write for chips (graph/patterns/conv_decomposed.c): the numbers of the convolution whose
 * columns a product takes, and what is inside its border. */
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

#define AXES MW__CONV_AXES /* spatial, at most */

/* The slice that a part of the stack is, in the shape that the stack wants. */
static const mw__op *slice_of(const mw_tensor *part)
{
    const mw__op *shaped = part->op;
    if (shaped == NULL || strcmp(shaped->kind, "reshape") != 0)
        return NULL;
    const mw__op *slice = mw__arg(shaped, "x")->op;
    return slice != NULL && strcmp(slice->kind, "slice_by_index") == 0 ? slice : NULL;
}

/* Kernel and dilation: how often a part begins elsewhere along an axis, and how far from the one before. */
static bool read_kernel(const mw__operand *parts, size_t count, mw__conv *out)
{
    int64_t all = 1;
    for (size_t p = 0; p < count; p++) {
        int64_t begin[MW_RANK_MAX];
        size_t rank = 0;
        const mw__op *slice = slice_of(parts[p].value);
        if (slice == NULL || !mw__arg_ints(slice, "begin", begin, MW_RANK_MAX, &rank) || rank != (size_t)out->axes + 2)
            return false;
        for (int i = 0; i < out->axes; i++)
            if (begin[i + 2] > (out->kernel[i] - 1) * out->dilation[i]) {
                out->dilation[i] = out->kernel[i] == 1 ? begin[i + 2] : out->dilation[i];
                out->kernel[i]++;
            }
    }
    for (int i = 0; i < out->axes; i++)
        all *= out->kernel[i];
    return (size_t)all == count;
}

static bool read_slice(const mw__op *slice, const mw_tensor *columns, mw__conv *out)
{
    int64_t stride[MW_RANK_MAX] = {1, 1, 1, 1, 1};
    const mw_shape x = mw__shape_of(mw__arg(slice, "x")), y = mw__shape_of(slice->results[0]);
    size_t rank = (size_t)x.rank;
    if (x.rank < 3 || x.rank > 2 + AXES || y.rank != x.rank || mw__shape_of(columns).rank != 4 ||
        (mw__arg_present(slice, "stride") && !mw__arg_ints(slice, "stride", stride, MW_RANK_MAX, &rank)) ||
        rank != (size_t)x.rank)
        return false;
    *out = (mw__conv){.axes = x.rank - 2, .groups = mw__shape_of(columns).dim[1]};
    for (int i = 0; i < out->axes; i++) {
        out->kernel[i] = out->dilation[i] = 1;
        out->stride[i] = stride[i + 2];
        out->in[i] = x.dim[i + 2], out->out[i] = y.dim[i + 2];
    }
    return true;
}

/* A product of one matrix, or one for each example, with those of the columns. */
static bool is_product(const mw__op *matmul)
{
    bool transpose = false;
    const mw_tensor *x = mw__arg(matmul, "x"), *y = mw__arg(matmul, "y"), *result = matmul->results[0];
    mw__arg_bool(matmul, "transpose_x", &transpose);
    if (transpose || mw__dtype_of(result) != MW_F32 || mw__count_of(result) < 1 || mw__shape_of(x).rank != 4 ||
        mw__shape_of(y).rank != 4 || mw__shape_of(x).dim[1] != mw__shape_of(y).dim[1])
        return false;
    return mw__shape_of(x).dim[0] == 1 || mw__shape_of(x).dim[0] == mw__shape_of(y).dim[0];
}

bool mw__conv_columns_read(const mw__op *matmul, const mw_tensor **out_x, mw__conv *out)
{
    const mw_tensor *columns = mw__arg(matmul, "y");
    const mw__op *shaped = columns->op;
    if (shaped == NULL || strcmp(shaped->kind, "reshape") != 0 || !is_product(matmul))
        return false;
    const mw__op *stack = mw__arg(shaped, "x")->op;
    const mw__operand *parts = NULL;
    const size_t count =
        stack != NULL && strcmp(stack->kind, "concat") == 0 ? mw__arg_values(stack, "values", &parts) : 0;
    const mw__op *slice = count > 1 ? slice_of(parts[0].value) : NULL;
    if (slice == NULL || !read_slice(slice, columns, out) || !read_kernel(parts, count, out))
        return false;
    *out_x = mw__arg(slice, "x");
    return true;
}

const mw_tensor *mw__conv_columns_inside(const mw_tensor *x, int axes, int64_t *before)
{
    int64_t pad[2 * MW_RANK_MAX];
    size_t count = 0;
    double value = 1.0;
    const mw__op *op = x->op;
    memset(before, 0, (size_t)axes * sizeof *before);
    if (op == NULL || strcmp(op->kind, "pad") != 0 || strcmp(mw__arg_string(op, "mode"), "constant") != 0 ||
        !mw__arg_float(op, "constant_val", &value) || value != 0.0 ||
        !mw__arg_ints(op, "pad", pad, 2 * MW_RANK_MAX, &count) || count != 2 * (size_t)axes)
        return x;
    for (int i = 0; i < axes; i++)
        before[i] = pad[2 * i];
    return mw__arg(op, "x");
}
