/* What moves elements, as units. */
#include "chip/netplist/handlers.h"

#include <string.h>

void mw__net_write_transpose(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    int from[MW__NET_AXES] = {0, 1, 2, 3, 4};
    (void)row;
    const int rank = mw__arg_shape(op, "x").rank;
    if (!mw__net_operand(w, op, "x", &x) || !mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count))
        return;
    for (int i = 0; i < rank; i++)
        from[mw__net_axis(i, rank, w->rank)] =
            mw__net_axis((int)(perm[i] < 0 ? perm[i] + rank : perm[i]), rank, w->rank);
    mw__net_result(w, op, 0, mw__net_transpose(w, x, from));
}

/* reshape, expand_dims, squeeze, flatten2d: the elements stay in their order. */
void mw__net_write_reshape(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, x);
}

void mw__net_write_concat(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    const mw__operand *operands;
    const size_t count = mw__arg_values(op, "values", &operands);
    const mw_shape shape = op->results[0]->type->shape;
    int64_t axis = 0;
    bool interleave = false;
    mw__arg_int(op, "axis", &axis);
    if (mw__arg_bool(op, "interleave", &interleave) && interleave) {
        mw__net_cannot(w, op, "the unit does not interleave");
        return;
    }
    mw__net_value *bottoms = mw__arena_alloc(&w->arena, count, sizeof *bottoms, w->err);
    for (size_t i = 0; bottoms != NULL && i < count; i++)
        if (!mw__net_value_of(w, op, operands[i].value, &bottoms[i]))
            return;
    if (bottoms == NULL)
        return;
    plist_t params = plist_new_dict();
    const int at = mw__net_axis((int)(axis < 0 ? axis + shape.rank : axis), shape.rank, w->rank);
    mw__net_set_string(params, "Dimension", mw__net_axis_names[at]);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, bottoms, count, mw__net_dims_of(w, shape)));
}

void mw__net_write_split(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    int64_t axis = 0, offset = 0;
    const int rank = mw__arg_shape(op, "x").rank;
    (void)row;
    mw__arg_int(op, "axis", &axis);
    axis = axis < 0 ? axis + rank : axis;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    for (size_t i = 0; i < op->result_count; i++) {
        const int64_t size = op->results[i]->type->shape.dim[axis];
        mw__net_result(w, op, i, mw__net_view(w, x, mw__net_axis((int)axis, rank, w->rank), offset, size));
        offset += size;
    }
}

/* One view for each axis that is cut. */
static void write_views(mw__net_writer *w, const mw__op *op, const int64_t *begin, const int64_t *size)
{
    mw__net_value x;
    const int rank = mw__arg_shape(op, "x").rank;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    for (int i = 0; i < rank; i++)
        x = mw__net_view(w, x, mw__net_axis(i, rank, w->rank), begin[i], size[i]);
    mw__net_result(w, op, 0, x);
}

void mw__net_write_slice_size(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    int64_t begin[MW_RANK_MAX], size[MW_RANK_MAX];
    size_t count;
    const mw_shape x = mw__arg_shape(op, "x");
    (void)row;
    if (!mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) ||
        !mw__arg_ints(op, "size", size, MW_RANK_MAX, &count)) {
        mw__net_cannot(w, op, "a view whose place is computed");
        return;
    }
    for (int i = 0; i < x.rank; i++)
        size[i] = size[i] < 0 ? x.dim[i] - begin[i] : size[i];
    write_views(w, op, begin, size);
}

void mw__net_write_slice(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX], stride[MW_RANK_MAX], size[MW_RANK_MAX];
    bool from_start[MW_RANK_MAX], to_end[MW_RANK_MAX], squeeze[MW_RANK_MAX];
    size_t count;
    const mw_shape x = mw__arg_shape(op, "x");
    (void)row;
    bool known =
        mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) && mw__arg_ints(op, "end", end, MW_RANK_MAX, &count);
    const bool strided = mw__arg_present(op, "stride") && mw__arg_ints(op, "stride", stride, MW_RANK_MAX, &count);
    mw__arg_mask(op, "begin_mask", from_start);
    mw__arg_mask(op, "end_mask", to_end);
    mw__arg_mask(op, "squeeze_mask", squeeze);
    for (int i = 0; known && i < x.rank; i++) {
        known = !strided || stride[i] == 1;
        begin[i] = from_start[i] ? 0 : begin[i] < 0 ? begin[i] + x.dim[i] : begin[i];
        end[i] = squeeze[i] ? begin[i] + 1 : to_end[i] ? x.dim[i] : end[i] < 0 ? end[i] + x.dim[i] : end[i];
        end[i] = end[i] > x.dim[i] ? x.dim[i] : end[i];
        size[i] = end[i] - begin[i];
        known = known && begin[i] >= 0 && size[i] > 0;
    }
    if (known)
        write_views(w, op, begin, size);
    else
        mw__net_cannot(w, op, "the unit takes a part that is known, in steps of 1");
}

/* Repeating an axis of extent 1 is broadcasting. */
void mw__net_write_tile(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    const mw_shape from = mw__arg_shape(op, "x"), to = op->results[0]->type->shape;
    (void)row;
    for (int i = 0; i < from.rank; i++)
        if (from.dim[i] != 1 && from.dim[i] != to.dim[i]) {
            mw__net_cannot(w, op, "how Tile repeats an axis of more than 1 is not public");
            return;
        }
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, mw__net_broadcast(w, x, mw__net_dims_of(w, to)));
}

void mw__net_write_gather(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value bottoms[2];
    int64_t axis = 0;
    const mw_tensor *indices = mw__arg(op, "indices");
    const mw_shape x = mw__arg_shape(op, "x");
    if (!mw__is_constant(indices) || indices->payload == NULL || indices->payload->data == NULL ||
        indices->type->shape.rank != 1) {
        mw__net_cannot(w, op, "the unit takes a constant vector of indices");
        return;
    }
    mw__arg_int(op, "axis", &axis);
    axis = axis < 0 ? axis + x.rank : axis;
    const size_t count = mw__payload_count(indices->payload);
    uint16_t *data = mw__arena_alloc(&w->arena, count, sizeof *data, w->err);
    if (data == NULL || !mw__net_operand(w, op, "x", &bottoms[0]))
        return;
    for (size_t i = 0; i < count; i++) {
        const int64_t index = mw__payload_int(indices->payload, i);
        data[i] = (uint16_t)(index < 0 ? index + x.dim[axis] : index);
    }
    const int at = mw__net_axis((int)axis, x.rank, w->rank);
    mw__net_dims dims = {{1, 1, 1, 1, 1}};
    dims.of[at] = (int64_t)count;
    bottoms[1] = mw__net_constant(w, "UInt16", data, dims);
    plist_t params = plist_new_dict(), axes = plist_new_array();
    plist_array_append_item(axes, plist_new_string(mw__net_axis_names[at]));
    plist_dict_set_item(params, "GatherNDAxes", axes);
    dims = bottoms[0].dims;
    dims.of[at] = (int64_t)count;
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, bottoms, 2, dims));
}

/* ---- between space, channels and batch ---- */

static plist_t factors(int64_t x, int64_t y)
{
    plist_t params = plist_new_dict();
    mw__net_set_int(params, "FactorX", x);
    mw__net_set_int(params, "FactorY", y);
    mw__net_set_int(params, "FactorZ", 1);
    return params;
}

void mw__net_write_space(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    static const char *const arguments[] = {"block_size", "upscale_factor", "downscale_factor"};
    mw__net_value x;
    int64_t factor = 1;
    if (w->rank != 4 || !mw__net_operand(w, op, "x", &x))
        return;
    for (size_t i = 0; i < op->row->arg_count; i++)
        for (size_t k = 0; k < 3; k++)
            if (strcmp(op->row->args[i].name, arguments[k]) == 0)
                mw__arg_int(op, arguments[k], &factor);
    mw__net_result(
        w, op, 0,
        mw__net_put(w, row->type, factors(factor, factor), &x, 1, mw__net_dims_of(w, op->results[0]->type->shape)));
}

/* With a batch of 1 there is one order of the blocks; with more, ANEForge's and MIL's differ. */
void mw__net_write_batch_space(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    int64_t block[2] = {1, 1}, edges[4] = {0};
    size_t count;
    const bool to_batch = strcmp(row->operation, "space_to_batch") == 0;
    const mw_shape in = mw__arg_shape(op, "x"), out = op->results[0]->type->shape;
    if (!mw__arg_ints(op, "block_shape", block, 2, &count) ||
        !mw__arg_ints(op, to_batch ? "paddings" : "crops", edges, 4, &count) || edges[0] != 0 || edges[1] != 0 ||
        edges[2] != 0 || edges[3] != 0 || w->rank != 4 || (to_batch ? in : out).dim[0] != 1) {
        mw__net_cannot(w, op, "the unit takes a batch of 1, without padding and cropping");
        return;
    }
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0,
                       mw__net_put(w, row->type, factors(block[1], block[0]), &x, 1, mw__net_dims_of(w, out)));
}
