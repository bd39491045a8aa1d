/* Elements chosen by indices, and the largest ones. */
#include "format/onnx/read/import.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/shape.h>
#include <millwright/ops/sort.h>

#include <string.h>

static mw_status read_axis(mw__onnx_node *node, int64_t fallback, int *out)
{
    return mw__onnx_axis(node, mw__onnx_int(node, "axis", fallback), mw__onnx_shape(node, 0).rank, out);
}

/* ---- gather ---- */

mw_status mw__onnx_gather(mw__onnx_node *node)
{
    int axis;
    MW_TRY(read_axis(node, 0, &axis));
    mw_tensor *indices = mw__onnx_indices(node, 1, mw__onnx_shape(node, 0).dim[axis]);
    return mw__onnx_give(node, mw_gather(mw__onnx_in(node, 0), indices, axis));
}

/* x cut to the extents of the indices but along `axis`: GatherElements lets the indices be smaller. */
static mw_tensor *cut_to(mw_tensor *x, mw_shape shape, int axis)
{
    mw_slice slices[MW_RANK_MAX] = {{0}};
    const mw_shape have = mw_tensor_shape(x);
    bool any = false;
    for (int i = 0; i < have.rank; i++) {
        const int64_t end = i == axis || have.dim[i] < shape.dim[i] ? have.dim[i] : shape.dim[i];
        slices[i] = (mw_slice){.begin = 0, .end = end};
        any = any || end != have.dim[i];
    }
    return any ? mw_slice_by_index(x, slices) : x;
}

mw_status mw__onnx_gather_elements(mw__onnx_node *node)
{
    int axis;
    const mw_shape x = mw__onnx_shape(node, 0), shape = mw__onnx_shape(node, 1);
    MW_TRY(read_axis(node, 0, &axis));
    if (shape.rank != x.rank)
        return mw__onnx_refuse(node, "its indices have rank %d, its data %d", shape.rank, x.rank);
    mw_tensor *indices = mw__onnx_indices(node, 1, x.dim[axis]), *data = mw__onnx_in(node, 0);
    if (data == NULL || indices == NULL)
        return mw__onnx_give(node, NULL);
    return mw__onnx_give(node, mw_gather_along_axis(cut_to(data, shape, axis), indices, axis));
}

/* Coordinates without negative ones: each column has the extent of its own axis. */
static mw_tensor *coordinates(mw__onnx_node *node, size_t index, mw_shape data, int first)
{
    double extents[MW_RANK_MAX];
    const mw_shape shape = mw__onnx_shape(node, index);
    const int64_t count = shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;
    if (count < 1 || count > data.rank - first) {
        mw__onnx_refuse(node, "%lld coordinates for rank %d", (long long)count, data.rank);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        extents[i] = (double)data.dim[first + i];
    mw_tensor *x = mw__onnx_in(node, index);
    mw_tensor *row = mw__onnx_to(mw__onnx_constant_floats(node->graph, MW_F32, MW_SHAPE(count), extents), MW_I32);
    mw_tensor *negative = mw_less(x, mw_scalar(node->graph, MW_I32, 0));
    return mw_select(negative, mw_add(x, row), x);
}

mw_status mw__onnx_gather_nd(mw__onnx_node *node)
{
    const int64_t batch = mw__onnx_int(node, "batch_dims", 0);
    const mw_shape data = mw__onnx_shape(node, 0);
    if (batch < 0 || batch >= data.rank)
        return mw__onnx_refuse(node, "batch_dims %lld of rank %d", (long long)batch, data.rank);
    mw_tensor *indices = coordinates(node, 1, data, (int)batch);
    return mw__onnx_give(node, mw_gather_nd(mw__onnx_in(node, 0), indices, (int)batch));
}

/* ---- scatter ---- */

static mw_status read_mode(mw__onnx_node *node, mw_scatter_mode *out)
{
    *out = MW_SCATTER_UPDATE;
    if (mw__onnx_is(node, "reduction", "add"))
        *out = MW_SCATTER_ADD;
    else if (mw__onnx_is(node, "reduction", "mul"))
        *out = MW_SCATTER_MUL;
    else if (mw__onnx_is(node, "reduction", "max"))
        *out = MW_SCATTER_MAX;
    else if (mw__onnx_is(node, "reduction", "min"))
        *out = MW_SCATTER_MIN;
    else if (mw__onnx_attribute(node, "reduction") != NULL && !mw__onnx_is(node, "reduction", "none"))
        return mw__onnx_refuse(node, "its reduction is not known");
    return MW_OK;
}

/* MIL scatters numbers alone: truths are 0 and 1 for the while. */
static mw_tensor *scattered(mw__onnx_node *node, size_t index)
{
    mw_tensor *x = mw__onnx_in(node, index);
    return mw_tensor_dtype(x) == MW_BOOL ? mw_cast(x, MW_I32) : x;
}

static mw_tensor *restored(mw__onnx_node *node, mw_tensor *x)
{
    return mw_tensor_dtype(mw__onnx_in(node, 0)) == MW_BOOL ? mw_cast(x, MW_BOOL) : x;
}

mw_status mw__onnx_scatter_elements(mw__onnx_node *node)
{
    int axis;
    mw_scatter_mode mode;
    const mw_shape data = mw__onnx_shape(node, 0), shape = mw__onnx_shape(node, 1);
    MW_TRY(read_axis(node, 0, &axis));
    MW_TRY(read_mode(node, &mode));
    for (int i = 0; i < data.rank; i++)
        if (shape.rank != data.rank || (i != axis && shape.dim[i] != data.dim[i]))
            return mw__onnx_refuse(node, "indices that are smaller than the data across the axis are not supported");
    mw_tensor *indices = mw__onnx_indices(node, 1, data.dim[axis]);
    mw_tensor *x = scattered(node, 0), *updates = scattered(node, 2);
    return mw__onnx_give(node, restored(node, mw_scatter_along_axis(x, indices, updates, axis, mode)));
}

mw_status mw__onnx_scatter_nd(mw__onnx_node *node)
{
    mw_scatter_mode mode;
    MW_TRY(read_mode(node, &mode));
    mw_tensor *indices = coordinates(node, 1, mw__onnx_shape(node, 0), 0);
    mw_tensor *data = scattered(node, 0), *updates = scattered(node, 2);
    return mw__onnx_give(node, restored(node, mw_scatter_nd(data, indices, updates, mode)));
}

/* ---- one hot, compress ---- */

mw_status mw__onnx_one_hot(mw__onnx_node *node)
{
    double depth[1], values[2];
    size_t count, value_count;
    const int rank = mw__onnx_shape(node, 0).rank, type = mw__onnx_type(node, 2);
    int axis;
    MW_TRY(mw__onnx_known_floats(node, 1, depth, 1, &count));
    MW_TRY(mw__onnx_known_floats(node, 2, values, 2, &value_count));
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", -1), rank + 1, &axis));
    if (count != 1 || value_count != 2 || !(depth[0] >= 1 && depth[0] <= INT32_MAX))
        return mw__onnx_refuse(node, "its depth or its values are out of range");
    mw_tensor *indices = mw__onnx_to(mw__onnx_in(node, 0), MW_I32);
    mw_tensor *negative = mw_less(indices, mw_scalar(node->graph, MW_I32, 0));
    indices = mw_select(negative, mw_add_scalar(indices, depth[0]), indices);
    const mw_dtype dtype = mw__onnx_dtype(type);
    return mw__onnx_set(node, 0, type, mw_one_hot(indices, (int64_t)depth[0], axis, dtype, values[1], values[0]));
}

enum { CHOSEN_MAX = 512 };

mw_status mw__onnx_compress(mw__onnx_node *node)
{
    int64_t chosen[CHOSEN_MAX];
    size_t count;
    int axis = 0;
    mw_tensor *x = mw__onnx_in(node, 0);
    MW_TRY(mw__onnx_known_ints(node, 1, chosen, CHOSEN_MAX, &count));
    mw_shape shape = mw__onnx_shape(node, 0);
    if (mw__onnx_attribute(node, "axis") != NULL) {
        MW_TRY(read_axis(node, 0, &axis));
    } else {
        shape = MW_SHAPE(mw_shape_count(shape));
        x = mw_reshape(x, shape);
    }
    int64_t kept = 0;
    for (size_t i = 0; i < count && (int64_t)i < shape.dim[axis]; i++)
        if (chosen[i] != 0)
            chosen[kept++] = (int64_t)i;
    return mw__onnx_give(node, mw_gather(x, mw__onnx_constant_ints(node->graph, MW_SHAPE(kept), chosen), axis));
}

/* Coordinates [rank, count] of the elements that are not 0: how many decides an extent, so that x must be known. */
mw_status mw__onnx_non_zero(mw__onnx_node *node)
{
    const mw_shape shape = mw__onnx_shape(node, 0);
    const size_t rank = (size_t)shape.rank;
    const mw__onnx_literal *x = mw__onnx_computed(node->import, node->in[0]);
    size_t found = 0;
    if (x == NULL || x->count > MW__ONNX_KNOWN_MAX)
        return mw__onnx_refuse(node, "input 0 must be known when the file is read, and is computed or large");
    for (size_t i = 0; i < x->count; i++)
        found += mw__onnx_literal_float(x, i) != 0; /* true of a NaN */
    MW_TRY(mw__onnx_charge(node->import, found * rank, sizeof(int64_t)));
    int64_t *places = mw__arena_alloc(&node->import->arena, found * rank, sizeof *places, node->import->err);
    if (places == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0, next = 0; i < x->count; i++) {
        int64_t rest = (int64_t)i;
        if (mw__onnx_literal_float(x, i) == 0)
            continue;
        for (size_t axis = rank; axis-- > 0; rest /= shape.dim[axis])
            places[axis * found + next] = rest % shape.dim[axis];
        next++;
    }
    return mw__onnx_set_ints(node, 0, MW__ONNX_INT64, MW_SHAPE((int64_t)rank, (int64_t)found), places);
}

/* ---- the largest ---- */

mw_status mw__onnx_topk(mw__onnx_node *node)
{
    int axis;
    int64_t k = mw__onnx_int(node, "k", 0);
    size_t count = 1;
    MW_TRY(read_axis(node, -1, &axis));
    if (node->opset >= 10)
        MW_TRY(mw__onnx_known_ints(node, 1, &k, 1, &count));
    if (count != 1 || k < 1 || k > mw__onnx_shape(node, 0).dim[axis])
        return mw__onnx_refuse(node, "k = %lld is out of range", (long long)k);
    mw_tensor *values = NULL, *indices = NULL, *x = mw__onnx_in(node, 0);
    const bool smallest = mw__onnx_int(node, "largest", 1) == 0;
    if (x == NULL || mw_topk(x, k, axis, smallest, &values, &indices) != MW_OK)
        return mw__onnx_give(node, NULL);
    MW_TRY(mw__onnx_give(node, values));
    return mw__onnx_set(node, 1, MW__ONNX_INT64, indices);
}
