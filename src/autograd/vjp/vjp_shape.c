/* VJPs of data movement: each element's cotangent goes back to where the element came from. */
#include "autograd/vjp/rules.h"
#include "graph/patterns/embedding.h"

#include <string.h>

mw_shape mw__vjp_x_shape(const mw__vjp *vjp) { return mw_tensor_shape(mw__vjp_arg(vjp, "x")); }

void mw__vjp_identity(mw__vjp *vjp) { mw__vjp_set(vjp, "x", vjp->dy[0]); }

void mw__vjp_reshape(mw__vjp *vjp) { mw__vjp_set(vjp, "x", mw_reshape(vjp->dy[0], mw__vjp_x_shape(vjp))); }

void mw__vjp_expand_dims(mw__vjp *vjp) { mw__vjp_reshape(vjp); }

void mw__vjp_squeeze(mw__vjp *vjp) { mw__vjp_reshape(vjp); }

/* by the inverse permutation */
void mw__vjp_transpose(mw__vjp *vjp)
{
    int64_t perm[MW_RANK_MAX];
    size_t rank = 0;
    mw__arg_ints(vjp->op, "perm", perm, MW_RANK_MAX, &rank);
    mw_axes inverse = {.count = (int)rank};
    for (size_t i = 0; i < rank; i++)
        inverse.axis[perm[i] < 0 ? perm[i] + (int64_t)rank : perm[i]] = (int)i;
    mw__vjp_set(vjp, "x", mw_transpose(vjp->dy[0], inverse));
}

int mw__vjp_axis_of(const mw__vjp *vjp, int rank)
{
    const int64_t axis = mw__arg_whole(vjp->op, "axis");
    return (int)(axis < 0 ? axis + rank : axis);
}

/* Part `index` of dy: consecutive, or every count-th slice when interleaved. */
static mw_tensor *concat_part(const mw__vjp *vjp, int axis, int64_t begin, int64_t extent, int64_t stride)
{
    mw_shape shape = mw_tensor_shape(vjp->dy[0]);
    mw_slice slices[MW_RANK_MAX] = {0};
    for (int i = 0; i < shape.rank; i++)
        slices[i] = (mw_slice){.end = shape.dim[i], .stride = 1};
    slices[axis] = (mw_slice){.begin = begin, .end = begin + (extent - 1) * stride + 1, .stride = stride};
    return mw_slice_by_index(vjp->dy[0], slices);
}

void mw__vjp_concat(mw__vjp *vjp)
{
    const mw__operand *values;
    size_t count = mw__arg_values(vjp->op, "values", &values);
    const bool scalars = mw_tensor_shape(values[0].value).rank == 0;
    int axis = scalars ? 0 : mw__vjp_axis_of(vjp, mw_tensor_shape(vjp->dy[0]).rank);
    bool interleave = false;
    mw__arg_bool(vjp->op, "interleave", &interleave);
    int64_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t extent = scalars ? 1 : values[i].value->type->shape.dim[axis];
        mw_tensor *part = NULL;
        if (extent > 0)
            part = concat_part(vjp, axis, begin, extent, interleave && !scalars ? (int64_t)count : 1);
        if (part != NULL)
            mw__vjp_set_member(vjp, "values", i, scalars ? mw_squeeze(part, MW_AXES(0)) : part);
        begin += interleave ? 1 : extent;
    }
}

/* Parts without a cotangent are zero. */
void mw__vjp_split(mw__vjp *vjp)
{
    const mw_shape in = mw__vjp_x_shape(vjp);
    const int axis = mw__vjp_axis_of(vjp, in.rank);
    mw__span spans[MW_RANK_MAX];
    for (int i = 0; i < in.rank; i++)
        spans[i] = mw__span_all(in.dim[i]);
    for (size_t i = 0; i < vjp->result_count; i++) {
        spans[axis].count = mw_tensor_shape(vjp->y[i]).dim[axis];
        if (vjp->dy[i] != NULL)
            mw__vjp_set_part(vjp, "x", vjp->dy[i], spans);
        spans[axis].begin += spans[axis].count;
    }
}

mw_tensor *mw__unmap_axis(mw_tensor *y, int axis, const int32_t *source, int64_t count, int64_t extent)
{
    mw_shape shape = mw_tensor_shape(y);
    const mw__taken from = {.batch = 1,
                            .outer = mw__shape_span(shape, 0, axis),
                            .extent = extent,
                            .inner = mw__shape_span(shape, axis + 1, shape.rank),
                            .axis = axis};
    shape.dim[axis] = extent;
    mw_tensor *indices = mw_constant(mw_tensor_graph(y), MW_I32, MW_SHAPE(count), source);
    return mw__embedding_gradient(NULL, y, indices, from, shape);
}

/* The windows laid out one after the other, then each of their elements back to its place. */
void mw__vjp_sliding_windows(mw__vjp *vjp)
{
    mw_shape in = mw__vjp_x_shape(vjp), windows = mw_tensor_shape(vjp->dy[0]), flat = in;
    int axis = mw__vjp_axis_of(vjp, in.rank);
    int64_t stride = 1, size = windows.dim[axis + 1], count = windows.dim[axis] * size;
    mw__arg_int(vjp->op, "stride", &stride);
    mw_error err = {0};
    int32_t *source = mw__arena_alloc(&vjp->graph->arena, (size_t)count, sizeof *source, &err);
    if (source == NULL) {
        mw__graph_fail(vjp->graph, err.status, "%s", err.message);
        return;
    }
    for (int64_t j = 0; j < count; j++)
        source[j] = (int32_t)(j / size * stride + j % size);
    flat.dim[axis] = count;
    mw_tensor *dy = mw_reshape(vjp->dy[0], flat);
    mw__vjp_set(vjp, "x", mw__unmap_axis(dy, axis, source, count, in.dim[axis]));
}

/* The elements of the axes [from, to), -1 if unknown. */
static int64_t count_between(mw_shape shape, int from, int to)
{
    int64_t count = 1;
    for (int i = from; i < to; i++) {
        if (shape.dim[i] < 0)
            return -1;
        count *= shape.dim[i];
    }
    return count;
}

/* The sum over the repetitions of one axis: [outer, reps, extent, inner] -> [outer, extent, inner]. */
static mw_tensor *sum_repetitions(mw_tensor *y, int axis, int64_t extent)
{
    mw_shape shape = mw_tensor_shape(y);
    const int64_t outer = count_between(shape, 0, axis), inner = count_between(shape, axis + 1, shape.rank);
    mw_tensor *parts = mw_reshape(y, MW_SHAPE(outer, shape.dim[axis] / extent, extent, inner));
    shape.dim[axis] = extent;
    return mw_reshape(mw_reduce_sum(parts, MW_AXES(1), false), shape);
}

void mw__vjp_tile(mw__vjp *vjp)
{
    const mw_shape in = mw__vjp_x_shape(vjp), out = mw_tensor_shape(vjp->dy[0]);
    int64_t reps[MW_RANK_MAX];
    size_t count = 0;
    const bool constant = mw__arg_ints(vjp->op, "reps", reps, MW_RANK_MAX, &count);
    mw_tensor *dx = vjp->dy[0];
    for (int i = 0; i < in.rank; i++) {
        const bool known = in.dim[i] >= 0 && out.dim[i] >= 0;
        if ((constant && reps[i] == 1) || (known && (in.dim[i] == out.dim[i] || in.dim[i] == 0)))
            continue;
        if (!known) {
            mw__fail(vjp->err, MW_ERROR_UNSUPPORTED, "tile: the gradient needs the extent of axis %d, which is unknown",
                     i);
            return;
        }
        dx = sum_repetitions(dx, i, in.dim[i]);
    }
    mw__vjp_set(vjp, "x", dx);
}

/* Where output j of a padded axis comes from, -1 for the constant. */
static int32_t pad_source(int64_t j, int64_t before, int64_t extent, bool reflect)
{
    int64_t i = j - before;
    if (i >= 0 && i < extent)
        return (int32_t)i;
    if (reflect)
        return (int32_t)(i < 0 ? -i : 2 * (extent - 1) - i);
    return (int32_t)(i < 0 ? 0 : extent - 1);
}

static mw_tensor *unpad_axis(mw_tensor *y, int axis, int64_t before, int64_t extent, bool reflect)
{
    mw_graph *graph = mw_tensor_graph(y);
    int64_t count = mw_tensor_shape(y).dim[axis];
    if (y == NULL || count == extent)
        return y;
    mw_error err = {0};
    int32_t *source = mw__arena_alloc(&graph->arena, (size_t)count, sizeof *source, &err);
    if (source == NULL)
        return mw__graph_fail(graph, err.status, "%s", err.message);
    for (int64_t j = 0; j < count; j++)
        source[j] = pad_source(j, before, extent, reflect);
    return mw__unmap_axis(y, axis, source, count, extent);
}

/* `pad` names [before, after] of the last axes in order. */
void mw__vjp_pad(mw__vjp *vjp)
{
    mw_shape in = mw__vjp_x_shape(vjp);
    int64_t pad[2 * MW_RANK_MAX] = {0}, begin[MW_RANK_MAX] = {0};
    size_t count = 0;
    mw__arg_ints(vjp->op, "pad", pad, 2 * MW_RANK_MAX, &count);
    int first = in.rank - (int)(count / 2);
    for (int i = first; i < in.rank; i++)
        begin[i] = pad[2 * (i - first)];
    const char *mode = mw__arg_string(vjp->op, "mode");
    mw_tensor *dx = vjp->dy[0];
    if (mode == NULL || strcmp(mode, "constant") == 0)
        dx = mw_slice_by_size(dx, begin, in.dim);
    else
        for (int i = 0; i < in.rank; i++)
            dx = unpad_axis(dx, i, begin[i], in.dim[i], strcmp(mode, "reflect") == 0);
    mw__vjp_set(vjp, "x", dx);
}

/* dstep = sum of i dy[i], which is the sum of what follows each element */
void mw__vjp_range_1d(mw__vjp *vjp)
{
    const bool start = mw_tensor_shape(mw__vjp_arg(vjp, "start")).rank > 0; /* [1] is one number, too */
    const bool step = mw_tensor_shape(mw__vjp_arg(vjp, "step")).rank > 0;
    mw_tensor *after = mw_cumsum(vjp->dy[0], 0, true, true);
    mw__vjp_set(vjp, "start", mw_reduce_sum(vjp->dy[0], MW_ALL_AXES, start));
    mw__vjp_set(vjp, "step", mw_reduce_sum(after, MW_ALL_AXES, step));
}
