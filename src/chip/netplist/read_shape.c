/* Units that move elements, as operations. */
#include "chip/netplist/handlers.h"
#include "graph/ir/op_build.h"

#include <millwright/ops/shape.h>
#include <string.h>

/* ---- transposes ---- */

mw_tensor *mw__net_transposed(mw_tensor *x, const int64_t *perm, int rank)
{
    int64_t all[MW__NET_AXES], before[MW_RANK_MAX];
    size_t count = 0;
    bool moves = false;
    const bool twice = x != NULL && x->op != NULL && strcmp(x->op->kind, "transpose") == 0 &&
                       mw__arg_ints(x->op, "perm", before, MW_RANK_MAX, &count) && count == (size_t)rank;
    for (int i = 0; i < rank; i++) {
        all[i] = twice ? before[perm[i]] : perm[i];
        moves = moves || all[i] != i;
    }
    x = twice ? mw__arg(x->op, "x") : x;
    if (!moves)
        return x;
    mw__build build = mw__build_begin("transpose", x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "perm", all, (size_t)rank);
    return mw__build_end(&build);
}

static int dimension(mw__net_reader *r, const mw__net_unit *unit, plist_t entry, const char *key)
{
    return mw__net_axis_called(r, unit, mw__net_string(entry, key));
}

mw_tensor *mw__net_read_transpose(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    int64_t perm[MW__NET_AXES] = {0, 1, 2, 3, 4};
    unsigned sources = 0;
    size_t count;
    plist_t list = mw__net_list(unit->params, "TransposeDimensions", &count);
    (void)row;
    for (size_t i = 0; i < count; i++) {
        plist_t entry = plist_array_get_item(list, (uint32_t)i);
        const int from = dimension(r, unit, entry, "TransposeSourceDimension");
        const int to = dimension(r, unit, entry, "TransposeDestinationDimension");
        if (from < 0 || to < 0)
            return NULL;
        perm[to] = from;
    }
    for (int i = 0; i < r->rank; i++)
        sources |= 1U << perm[i];
    if (sources != (1U << r->rank) - 1)
        return mw__net_bad(r, unit, "its TransposeDimensions are no permutation");
    return mw__net_transposed(unit->bottom[0], perm, r->rank);
}

/* ---- parts and joins ---- */

mw_tensor *mw__net_read_concat(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const char *name = unit->params != NULL ? mw__net_string(unit->params, "Dimension") : "Channel";
    const int axis = mw__net_axis_called(r, unit, name);
    (void)row;
    return axis >= 0 ? mw_concat(unit->more, unit->bottom_count, axis) : NULL;
}

mw_tensor *mw__net_read_view(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    int64_t begin[MW__NET_AXES] = {0}, size[MW__NET_AXES];
    const int axis = mw__net_axis_called(r, unit, mw__net_string(unit->params, "Dimension"));
    const mw_shape x = mw_tensor_shape(unit->bottom[0]);
    (void)row;
    if (axis < 0)
        return NULL;
    memcpy(size, x.dim, (size_t)r->rank * sizeof *size);
    begin[axis] = mw__net_int(unit->params, "Offset", 0);
    size[axis] = mw__net_int(unit->params, "Size", 0);
    if (size[axis] <= 0 || begin[axis] + size[axis] > x.dim[axis])
        return mw__net_bad(r, unit, "Offset %lld and Size %lld are not within %lld", (long long)begin[axis],
                           (long long)size[axis], (long long)x.dim[axis]);
    return mw_slice_by_size(unit->bottom[0], begin, size);
}

mw_tensor *mw__net_read_reshape(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    static const char *const keys[] = {"ReshapedBatch", "ReshapedChannel", "ReshapedDepth", "ReshapedHeight",
                                       "ReshapedWidth"};
    mw__net_dims dims;
    (void)row;
    for (int i = 0; i < MW__NET_AXES; i++)
        if ((dims.of[i] = mw__net_int(unit->params, keys[i], i == MW__NET_DEPTH ? 1 : 0)) <= 0)
            return mw__net_bad(r, unit, "%s is absent or 0", keys[i]);
    return mw_reshape(unit->bottom[0], mw__net_shape(r, dims));
}

/* One row of all elements, in the order of the axes. */
mw_tensor *mw__net_read_flatten(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const char *mode = mw__net_string(unit->params, "FlattenType");
    mw__net_dims dims = {{1, 1, 1, 1, mw_shape_count(mw_tensor_shape(unit->bottom[0]))}};
    (void)row;
    if (mode != NULL && strcmp(mode, "NCHW") == 0)
        return mw_reshape(unit->bottom[0], mw__net_shape(r, dims));
    mw__net_cannot_read(r, unit, "only the FlattenType NCHW is known");
    return NULL;
}

mw_tensor *mw__net_read_broadcast(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    mw_shape reps = {.rank = r->rank, .dim = {1, 1, 1, 1, 1}};
    const mw_shape x = mw_tensor_shape(unit->bottom[0]);
    size_t count;
    plist_t list = mw__net_list(unit->params, "BroadcastInfo", &count);
    (void)row;
    for (size_t i = 0; i < count; i++) {
        plist_t entry = plist_array_get_item(list, (uint32_t)i);
        const int axis = dimension(r, unit, entry, "Dimension");
        const int64_t size = mw__net_int(entry, "Size", 0);
        if (axis < 0)
            return NULL;
        if (size <= 0 || (x.dim[axis] != 1 && x.dim[axis] != size))
            return mw__net_bad(r, unit, "an axis of %lld is not broadcast to %lld", (long long)x.dim[axis],
                               (long long)size);
        reps.dim[axis] = size / x.dim[axis];
    }
    return mw_tile(unit->bottom[0], reps);
}

/* Along one axis, by a constant vector. */
mw_tensor *mw__net_read_gather(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    size_t count;
    plist_t list = mw__net_list(unit->params, "GatherNDAxes", &count);
    const mw_tensor *indices = unit->bottom_count == 2 ? unit->bottom[1] : NULL;
    if (count != 1 || indices == NULL || indices->payload == NULL || mw_tensor_dtype(indices) != MW_I32) {
        mw__net_cannot_read(r, unit, "it is read along one axis, with constant UInt16 indices");
        return NULL;
    }
    const int axis = mw__net_axis_called(r, unit, mw__net_string_at(list, 0));
    const mw_shape shape = mw_tensor_shape(indices), x = mw_tensor_shape(unit->bottom[0]);
    if (axis < 0)
        return NULL;
    for (size_t i = 0; i < mw__payload_count(indices->payload); i++)
        if (mw__payload_int(indices->payload, i) >= x.dim[axis])
            return mw__net_bad(r, unit, "index %lld is beyond %lld", (long long)mw__payload_int(indices->payload, i),
                               (long long)x.dim[axis]);
    if (shape.dim[axis] != mw_shape_count(shape))
        return mw__net_bad(r, unit, "its indices are no vector along that axis");
    mw_tensor *vector = mw_constant(r->graph, MW_I32, MW_SHAPE(mw_shape_count(shape)), indices->payload->data);
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_set(&build, "indices", vector);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

/* ---- between space, channels and batch ---- */

static void set_factor(mw__build *build, const char *operation, int64_t x, int64_t y)
{
    const int64_t block[] = {y, x}, two = 2;
    static const int32_t edges[4];
    if (strcmp(operation, "pixel_shuffle") == 0) {
        mw__build_int(build, "upscale_factor", x);
    } else if (strcmp(operation, "pixel_unshuffle") == 0) {
        mw__build_int(build, "downscale_factor", x);
    } else if (strstr(operation, "batch") == NULL) {
        mw__build_int(build, "block_size", x);
    } else {
        mw__build_ints(build, "block_shape", block, 2);
        mw__build_set(build, strcmp(operation, "space_to_batch") == 0 ? "paddings" : "crops",
                      mw__constant(build->graph, MW_I32, MW_SHAPE(two, two), edges, "edges"));
    }
}

mw_tensor *mw__net_read_space(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const int64_t x = mw__net_int(unit->params, "FactorX", 0), y = mw__net_int(unit->params, "FactorY", 0);
    const bool batch = strstr(row->operation, "batch") != NULL;
    const int64_t first = mw_tensor_shape(unit->bottom[0]).dim[0];
    if (x <= 0 || y <= 0 || x > INT16_MAX || y > INT16_MAX)
        return mw__net_bad(r, unit, "FactorX or FactorY is absent or 0");
    if (r->rank != 4 || mw__net_int(unit->params, "FactorZ", 1) != 1 || (!batch && x != y) ||
        (batch && first != (strcmp(row->operation, "space_to_batch") == 0 ? 1 : x * y))) {
        mw__net_cannot_read(r, unit, "factors that differ, of a depth, or of more than one example");
        return NULL;
    }
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    set_factor(&build, row->operation, x, y);
    return mw__build_end(&build);
}
