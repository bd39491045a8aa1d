/* The same elements in another shape, joined or cut. */
#include "format/onnx/read/import.h"
#include "graph/ir/ir.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>
#include <millwright/ops/space.h>

#include <string.h>

/* ---- reshape ---- */

/* The extents that a list asks for: 0 copies one (unless allowzero), -1 is what remains. */
static mw_status resolve_extents(mw__onnx_node *node, mw_shape x, const int64_t *list, size_t count, mw_shape *out)
{
    const bool zero = mw__onnx_int(node, "allowzero", 0) != 0;
    int open = -1;
    int64_t rest = 1;
    *out = (mw_shape){.rank = (int)count};
    for (int i = 0; i < out->rank; i++) {
        out->dim[i] = list[i] == 0 && !zero && i < x.rank ? x.dim[i] : list[i];
        if (out->dim[i] == -1 && open < 0)
            open = i;
        else if (out->dim[i] < 0 || (list[i] == 0 && !zero && i >= x.rank) ||
                 __builtin_mul_overflow(rest, out->dim[i], &rest))
            return mw__onnx_refuse(node, "extent %lld of axis %d is out of range", (long long)list[i], i);
    }
    const int64_t total = mw_shape_count(x);
    if (open >= 0)
        out->dim[open] = rest > 0 ? total / rest : 0;
    if (mw_shape_count(*out) != total)
        return mw__onnx_refuse(node, "%lld elements do not fit the shape", (long long)total);
    return MW_OK;
}

/* Literals keep their bytes: a weight that is reshaped stays a constant. */
static mw_status give_reshaped(mw__onnx_node *node, mw_shape shape)
{
    mw__onnx_value *x = node->in[0];
    if (x->literal == NULL || x->weight)
        return mw__onnx_give(node, mw__reshape_to(mw__onnx_in(node, 0), shape));
    mw__onnx_literal *literal = mw__arena_alloc(&node->import->arena, 1, sizeof *literal, node->import->err);
    if (literal == NULL)
        return MW_ERROR_MEMORY;
    *literal = *x->literal;
    literal->shape = shape;
    node->out[0] = (mw__onnx_value){.type = x->type, .shape = shape, .literal = literal};
    return MW_OK;
}

mw_status mw__onnx_reshape(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX];
    size_t count;
    mw_shape shape;
    MW_TRY(mw__onnx_known_ints(node, 1, list, MW_RANK_MAX, &count));
    MW_TRY(resolve_extents(node, mw__onnx_shape(node, 0), list, count, &shape));
    return give_reshaped(node, shape);
}

mw_status mw__onnx_flatten(mw__onnx_node *node)
{
    const mw_shape x = mw__onnx_shape(node, 0);
    int axis = x.rank;
    const int64_t given = mw__onnx_int(node, "axis", 1);
    if (given != x.rank)
        MW_TRY(mw__onnx_axis(node, given, x.rank, &axis));
    return give_reshaped(node, MW_SHAPE(mw__shape_span(x, 0, axis), mw__shape_span(x, axis, x.rank)));
}

mw_status mw__onnx_squeeze(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX];
    size_t count;
    const mw_shape x = mw__onnx_shape(node, 0);
    bool gone[MW_RANK_MAX] = {false};
    MW_TRY(mw__onnx_ints_or_input(node, 13, "axes", 1, list, MW_RANK_MAX, &count));
    for (int i = 0; i < x.rank; i++)
        gone[i] = count == 0 && x.dim[i] == 1;
    for (size_t i = 0; i < count; i++) {
        int axis;
        MW_TRY(mw__onnx_axis(node, list[i], x.rank, &axis));
        gone[axis] = true;
        if (x.dim[axis] != 1)
            return mw__onnx_refuse(node, "axis %d has extent %lld, not 1", axis, (long long)x.dim[axis]);
    }
    mw_shape shape = {0};
    for (int i = 0; i < x.rank; i++)
        if (!gone[i])
            shape.dim[shape.rank++] = x.dim[i];
    return give_reshaped(node, shape);
}

mw_status mw__onnx_unsqueeze(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX];
    size_t count;
    const mw_shape x = mw__onnx_shape(node, 0);
    bool made[MW_RANK_MAX] = {false};
    MW_TRY(mw__onnx_ints_or_input(node, 13, "axes", 1, list, MW_RANK_MAX, &count));
    const int rank = x.rank + (int)count;
    if (rank > MW_RANK_MAX)
        return mw__onnx_refuse(node, "its result has more than %d axes", MW_RANK_MAX);
    for (size_t i = 0; i < count; i++) {
        int axis;
        MW_TRY(mw__onnx_axis(node, list[i], rank, &axis));
        if (made[axis])
            return mw__onnx_refuse(node, "axis %d is given twice", axis);
        made[axis] = true;
    }
    mw_shape shape = {.rank = rank};
    for (int i = 0, from = 0; i < rank; i++)
        shape.dim[i] = made[i] ? 1 : x.dim[from++];
    return give_reshaped(node, shape);
}

/* ---- order ---- */

mw_status mw__onnx_transpose(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX];
    size_t count;
    const int rank = mw__onnx_shape(node, 0).rank;
    MW_TRY(mw__onnx_ints(node, "perm", list, MW_RANK_MAX, &count));
    if (count != 0 && count != (size_t)rank)
        return mw__onnx_refuse(node, "perm has %zu numbers for rank %d", count, rank);
    if (rank == 0)
        return mw__onnx_set_same(node, 0, 0);
    mw_axes perm = {.count = rank};
    for (int i = 0; i < rank; i++)
        MW_TRY(mw__onnx_axis(node, count != 0 ? list[i] : rank - 1 - i, rank, &perm.axis[i]));
    return mw__onnx_give(node, mw_transpose(mw__onnx_in(node, 0), perm));
}

static mw_status find_block(mw__onnx_node *node, int64_t *out)
{
    *out = mw__onnx_int(node, "blocksize", 0);
    if (mw__onnx_shape(node, 0).rank != 4)
        return mw__onnx_refuse(node, "its input has not rank 4");
    return *out >= 1 && *out < 32768 ? MW_OK : mw__onnx_refuse(node, "blocksize %lld", (long long)*out);
}

mw_status mw__onnx_depth_to_space(mw__onnx_node *node)
{
    int64_t block;
    MW_TRY(find_block(node, &block));
    mw_tensor *x = mw__onnx_in(node, 0);
    return mw__onnx_give(node,
                         mw__onnx_is(node, "mode", "CRD") ? mw_pixel_shuffle(x, block) : mw_depth_to_space(x, block));
}

mw_status mw__onnx_space_to_depth(mw__onnx_node *node)
{
    int64_t block;
    MW_TRY(find_block(node, &block));
    return mw__onnx_give(node, mw_space_to_depth(mw__onnx_in(node, 0), block));
}

mw_status mw__onnx_reverse_sequence(mw__onnx_node *node)
{
    const int64_t batch = mw__onnx_int(node, "batch_axis", 1), time = mw__onnx_int(node, "time_axis", 0);
    int batch_axis, time_axis;
    const int rank = mw__onnx_shape(node, 0).rank;
    MW_TRY(mw__onnx_axis(node, batch, rank, &batch_axis));
    MW_TRY(mw__onnx_axis(node, time, rank, &time_axis));
    mw_tensor *x = mw__onnx_in(node, 0), *lengths = mw__onnx_in(node, 1);
    return mw__onnx_give(node, mw_reverse_sequence(x, lengths, time_axis, batch_axis));
}

/* ---- joining and cutting ---- */

mw_status mw__onnx_concat(mw__onnx_node *node)
{
    int axis, rank = mw__onnx_shape(node, 0).rank;
    mw_tensor *few[64], **values = few;
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", node->opset < 4 ? 1 : 0), rank, &axis));
    if (node->in_count > 64)
        values = mw__arena_alloc(&node->import->arena, node->in_count, sizeof *values, node->import->err);
    if (values == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < node->in_count; i++)
        if ((values[i] = mw__onnx_in(node, i)) == NULL)
            return mw__onnx_set(node, 0, 0, NULL);
    return mw__onnx_give(node, mw_concat(values, node->in_count, axis));
}

/* Sizes of the parts: given, or as equal as can be. */
static mw_status find_sizes(mw__onnx_node *node, int64_t extent, int64_t *sizes, size_t capacity)
{
    size_t count;
    const size_t parts = node->out_count;
    MW_TRY(mw__onnx_ints_or_input(node, 13, "split", 1, sizes, capacity, &count));
    if (count != 0 && count != parts)
        return mw__onnx_refuse(node, "%zu sizes for %zu parts", count, parts);
    const int64_t wanted = mw__onnx_int(node, "num_outputs", (int64_t)parts);
    if (count != 0)
        return MW_OK;
    if (wanted != (int64_t)parts || (node->opset < 18 && extent % (int64_t)parts != 0))
        return mw__onnx_refuse(node, "%zu parts of %lld elements", parts, (long long)extent);
    const int64_t each = (extent + (int64_t)parts - 1) / (int64_t)parts;
    for (size_t i = 0; i < parts; i++) {
        const int64_t left = extent - each * (int64_t)i;
        sizes[i] = left < 0 ? 0 : left < each ? left : each;
    }
    return MW_OK;
}

enum { PARTS_MAX = 256 };

mw_status mw__onnx_split(mw__onnx_node *node)
{
    int axis;
    int64_t sizes[PARTS_MAX];
    const mw_shape x = mw__onnx_shape(node, 0);
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", 0), x.rank, &axis));
    if (node->out_count == 0 || node->out_count > PARTS_MAX)
        return mw__onnx_refuse(node, "%zu parts; at most %d are supported", node->out_count, PARTS_MAX);
    MW_TRY(find_sizes(node, x.dim[axis], sizes, PARTS_MAX));
    mw_tensor *parts[PARTS_MAX] = {NULL}, *whole = mw__onnx_in(node, 0);
    if (whole == NULL || mw_split_sizes(whole, sizes, node->out_count, axis, parts) != MW_OK)
        return mw__onnx_give(node, NULL);
    for (size_t i = 0; i < node->out_count; i++)
        MW_TRY(mw__onnx_set(node, i, mw__onnx_type(node, 0), parts[i]));
    return MW_OK;
}

/* ---- repeating ---- */

mw_status mw__onnx_expand_to(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX];
    size_t count;
    mw_shape asked = {0}, shape;
    MW_TRY(mw__onnx_known_ints(node, 1, list, MW_RANK_MAX, &count));
    asked.rank = (int)count;
    memcpy(asked.dim, list, count * sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (list[i] < 0)
            return mw__onnx_refuse(node, "extent %lld", (long long)list[i]);
    if (!mw__broadcast_shapes(mw__onnx_shape(node, 0), asked, &shape))
        return mw__onnx_refuse(node, "its input does not broadcast to the shape");
    mw_tensor *x = mw__onnx_in(node, 0);
    if (mw_shape_count(shape) == 0)
        return mw__onnx_give(node, mw_fill(node->graph, mw__onnx_dtype(mw__onnx_type(node, 0)), shape, 0));
    return mw__onnx_give(node, mw__onnx_expand(x, shape));
}

mw_status mw__onnx_tile(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX];
    size_t count;
    const int rank = mw__onnx_shape(node, 0).rank;
    MW_TRY(mw__onnx_known_ints(node, 1, list, MW_RANK_MAX, &count));
    if (count != (size_t)rank)
        return mw__onnx_refuse(node, "%zu repetitions for rank %d", count, rank);
    mw_shape reps = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        reps.dim[i] = list[i];
        if (list[i] < 1)
            return mw__onnx_refuse(node, "it is repeated %lld times", (long long)list[i]);
    }
    return mw__onnx_give(node, mw_tile(mw__onnx_in(node, 0), reps));
}

mw_status mw__onnx_trilu(mw__onnx_node *node)
{
    int64_t k = 0;
    size_t count;
    const mw_shape x = mw__onnx_shape(node, 0);
    if (mw__onnx_has(node, 1))
        MW_TRY(mw__onnx_known_ints(node, 1, &k, 1, &count));
    if (x.rank < 2)
        return mw__onnx_refuse(node, "its input has rank %d", x.rank);
    const int64_t rows = x.dim[x.rank - 2], columns = x.dim[x.rank - 1];
    const bool upper = mw__onnx_int(node, "upper", 1) != 0;
    mw_tensor *made = mw__onnx_in(node, 0);
    /* Kept are n - m >= k (upper) or n - m <= k. A band that is all of one side is asked for by a negative number. */
    const bool nothing = upper ? k >= columns : k <= -rows, all = upper ? k <= -(rows - 1) : k >= columns - 1;
    if (nothing || mw_shape_count(x) == 0)
        return mw__onnx_give(node, mw_fill(node->graph, mw__onnx_dtype(mw__onnx_type(node, 0)), x, 0));
    if (all)
        return mw__onnx_set_same(node, 0, 0);
    const mw_dtype dtype = mw__onnx_dtype(mw__onnx_type(node, 0));
    if (dtype == MW_BOOL && (upper ? k > 0 : k < 0)) /* nothing is taken from a truth */
        made = mw_cast(made, MW_I32);
    if (upper && k > 0) /* without what lies below the k-th diagonal */
        made = mw_sub(made, mw_band_part(made, -1, k - 1));
    else if (!upper && k < 0)
        made = mw_sub(made, mw_band_part(made, -k - 1, -1));
    else
        made = upper ? mw_band_part(made, -k, -1) : mw_band_part(made, -1, k);
    return mw__onnx_give(node, mw__onnx_to(made, dtype));
}
