/* Which example the elements of a result belong to, operation by operation; products, gathers and boxes are in
 * batch_rule_product.c. What has no rule counts as mixing the
 * examples, which costs exactness of an evaluation but never its truth. */
#include "graph/transform/batch/batch_rule.h"
#include "graph/ir/rule.h"

#include <string.h>

mw__batch_rows mw__batch_rows_of(const mw__batch_asked *a, mw_tensor *value)
{
    return value != NULL ? a->table[mw__evaluated(value)->id] : (mw__batch_rows){.kind = MW__BATCH_NONE};
}

mw__batch_rows mw__batch_rows_of_arg(const mw__batch_asked *a, const char *arg)
{
    return mw__batch_rows_of(a, mw__arg(a->op, arg));
}

int mw__batch_rank_of(const mw__batch_asked *a, const char *arg) { return mw_tensor_shape(mw__arg(a->op, arg)).rank; }

/* An operand has its rows along `axis` of the result; all that have rows must agree. */
bool mw__batch_put_rows(const mw__batch_asked *a, mw__batch_place *out, int axis, int64_t inner)
{
    if (axis < 0 || axis >= a->shape.rank || a->shape.dim[axis] % (a->batch * inner) != 0)
        return false;
    if (out->known && (out->axis != axis || out->inner != inner))
        return false;
    *out = (mw__batch_place){.known = true, .axis = axis, .inner = inner};
    return true;
}

bool mw__batch_arg_axis(const mw__batch_asked *a, const char *name, int rank, int *out)
{
    int64_t axis;
    if (!mw__arg_int(a->op, name, &axis))
        return false;
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

/* Marks of the axes of an argument; one that is absent or empty means all. */
static bool arg_axes(const mw__batch_asked *a, const char *name, int rank, bool out[MW_RANK_MAX])
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const bool present = mw__arg_present(a->op, name);
    if (present && !mw__arg_ints(a->op, name, axes, MW_RANK_MAX, &count))
        return false;
    for (int i = 0; i < rank; i++)
        out[i] = count == 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank)
            return false;
        out[axis] = true;
    }
    return true;
}

/* ---- element by element ---- */

/* Broadcasting counts axes from the end. A row axis that is itself broadcast is one row for all. */
bool mw__batch_put_aligned(const mw__batch_asked *a, mw__batch_place *out, const mw_tensor *value, mw__batch_rows rows)
{
    const mw_shape shape = mw_tensor_shape(value);
    const int axis = rows.axis + a->shape.rank - shape.rank;
    if (rows.kind != MW__BATCH_ROWS)
        return true;
    return axis >= 0 && a->shape.dim[axis] == shape.dim[rows.axis] && mw__batch_put_rows(a, out, axis, rows.inner);
}

bool mw__batch_elementwise(const mw__batch_asked *a, mw__batch_place *out)
{
    for (size_t s = 0; s < a->op->slot_count; s++) {
        const mw__slot *slot = &a->op->slots[s];
        for (size_t i = 0; slot->operands != NULL && i < slot->count; i++) {
            mw_tensor *value = slot->operands[i].value;
            if (value == NULL || !mw__batch_put_aligned(a, out, value, mw__batch_rows_of(a, value)))
                return false;
        }
    }
    return true;
}

/* ---- operations on x that keep its axes ---- */

/* True if no operand but `arg` has rows. */
bool mw__batch_is_only(const mw__batch_asked *a, const char *arg)
{
    for (size_t s = 0; s < a->op->slot_count; s++) {
        const mw__slot *slot = &a->op->slots[s];
        for (size_t i = 0; slot->operands != NULL && i < slot->count; i++) {
            mw_tensor *value = slot->operands[i].value;
            if (value != mw__arg(a->op, arg) && (value == NULL || mw__batch_rows_of(a, value).kind != MW__BATCH_NONE))
                return false;
        }
    }
    return true;
}

/* x alone has rows, and they stay where they are. */
bool mw__batch_keep_x(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    return mw__batch_is_only(a, "x") && x.kind == MW__BATCH_ROWS && mw__batch_put_rows(a, out, x.axis, x.inner);
}

/* What looks along other axes than `axis` may not have its rows there. */
static bool across_axis(const mw__batch_asked *a, mw__batch_place *out)
{
    int axis;
    return mw__batch_keep_x(a, out) && mw__batch_arg_axis(a, "axis", a->shape.rank, &axis) && axis != out->axis;
}

static bool across_axes(const mw__batch_asked *a, mw__batch_place *out)
{
    bool marks[MW_RANK_MAX];
    return mw__batch_keep_x(a, out) && arg_axes(a, "axes", a->shape.rank, marks) && !marks[out->axis];
}

/* [N, C, ..]: anything may happen behind the first axis. */
static bool behind_first(const mw__batch_asked *a, mw__batch_place *out)
{
    return mw__batch_keep_x(a, out) && out->axis == 0 && a->shape.rank > 1;
}

/* The last `count` axes are used. */
static bool before_last(const mw__batch_asked *a, mw__batch_place *out, int count)
{
    return mw__batch_keep_x(a, out) && out->axis < a->shape.rank - count;
}

static bool before_last_two(const mw__batch_asked *a, mw__batch_place *out) { return before_last(a, out, 2); }

static bool before_last_three(const mw__batch_asked *a, mw__batch_place *out) { return before_last(a, out, 3); }

/* Padding of the rows themselves would move them. */
static bool same_extent(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    return mw__batch_keep_x(a, out) && x.dim[out->axis] == a->shape.dim[out->axis];
}

static bool reverse_sequence(const mw__batch_asked *a, mw__batch_place *out)
{
    int along, of;
    const int rank = a->shape.rank;
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x"), lengths = mw__batch_rows_of_arg(a, "lengths");
    if (!mw__batch_arg_axis(a, "seq_axis", rank, &along) || !mw__batch_arg_axis(a, "batch_axis", rank, &of))
        return false;
    if (x.kind == MW__BATCH_ROWS && (x.axis == along || !mw__batch_put_rows(a, out, x.axis, x.inner)))
        return false;
    return lengths.kind != MW__BATCH_ROWS || mw__batch_put_rows(a, out, of, lengths.inner);
}

/* ---- the same elements in another shape or order ---- */

/* Element l, counted row by row, belongs to example (l / step) % batch: an axis of the new shape must have it so, too.
 */
static bool view(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    const mw__batch_rows rows = mw__batch_rows_of_arg(a, "x");
    if (rows.kind != MW__BATCH_ROWS)
        return false;
    const int64_t step = rows.inner * mw__shape_span(x, rows.axis + 1, x.rank);
    int64_t below = mw__shape_span(a->shape, 0, a->shape.rank);
    for (int axis = 0; axis < a->shape.rank && below > 0; axis++) {
        const int64_t above = below;
        below /= a->shape.dim[axis];
        if (step % below == 0 && above % (step * a->batch) == 0)
            return mw__batch_put_rows(a, out, axis, step / below);
    }
    return false;
}

/* The axes that are new are named, so that the rows stay on their own one, also where there is one example. */
static bool expand_dims(const mw__batch_asked *a, mw__batch_place *out)
{
    bool added[MW_RANK_MAX];
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    if (x.kind != MW__BATCH_ROWS || !arg_axes(a, "axes", a->shape.rank, added))
        return false;
    for (int axis = 0, from = 0; axis < a->shape.rank; axis++)
        if (!added[axis] && from++ == x.axis)
            return mw__batch_put_rows(a, out, axis, x.inner);
    return false;
}

/* Where the axis of the one example goes too, its rows are those of the next one. */
static bool squeeze(const mw__batch_asked *a, mw__batch_place *out)
{
    bool gone[MW_RANK_MAX];
    const mw_shape shape = mw_tensor_shape(mw__arg(a->op, "x"));
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    if (x.kind != MW__BATCH_ROWS || !arg_axes(a, "axes", shape.rank, gone))
        return false;
    int axis = x.axis;
    for (int i = 0; i < x.axis; i++)
        axis -= gone[i] && shape.dim[i] == 1;
    return gone[x.axis] && shape.dim[x.axis] == 1 ? view(a, out) : mw__batch_put_rows(a, out, axis, x.inner);
}

static bool transpose(const mw__batch_asked *a, mw__batch_place *out)
{
    int64_t perm[MW_RANK_MAX];
    size_t count;
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    if (!mw__arg_ints(a->op, "perm", perm, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if ((perm[i] < 0 ? perm[i] + a->shape.rank : perm[i]) == x.axis)
            return mw__batch_put_rows(a, out, (int)i, x.inner);
    }
    return false;
}

static bool concat(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(a->op, "values", &values);
    bool interleave = false, along = false, other = false;
    int axis;
    if (!mw__batch_arg_axis(a, "axis", a->shape.rank, &axis) || !mw__arg_bool(a->op, "interleave", &interleave))
        return false;
    for (size_t i = 0; i < count; i++) {
        const mw__batch_rows rows = mw__batch_rows_of(a, values[i].value);
        along = along || (rows.kind == MW__BATCH_ROWS && rows.axis == axis);
        other = other || rows.kind != MW__BATCH_ROWS;
        if (rows.kind == MW__BATCH_ROWS && !mw__batch_put_rows(a, out, rows.axis, rows.inner))
            return false;
    }
    return !along || (!other && !interleave); /* along the rows, each value adds whole runs of them */
}

static bool stack(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(a->op, "values", &values);
    int axis;
    if (!mw__batch_arg_axis(a, "axis", a->shape.rank, &axis))
        return false;
    for (size_t i = 0; i < count; i++) {
        const mw__batch_rows rows = mw__batch_rows_of(a, values[i].value);
        if (rows.kind == MW__BATCH_ROWS && !mw__batch_put_rows(a, out, rows.axis + (rows.axis >= axis), rows.inner))
            return false;
    }
    return true;
}

/* True if a piece of the rows starts with the first row of the first example; `put_rows` checks its end. */
static bool starts_whole(const mw__batch_asked *a, int64_t start, int64_t inner)
{
    return start % (a->batch * inner) == 0;
}

static bool split_rows(const mw__batch_asked *a, mw__batch_place *out)
{
    int axis;
    int64_t start = 0;
    if (!mw__batch_keep_x(a, out) || !mw__batch_arg_axis(a, "axis", a->shape.rank, &axis))
        return false;
    for (size_t i = 0; i < a->result; i++)
        start += mw_tensor_shape(a->op->results[i]).dim[axis];
    return axis != out->axis || starts_whole(a, start, out->inner);
}

/* Where a slice starts along `axis`; false if that is not known when compiled. */
static bool slice_start(const mw__batch_asked *a, int axis, int64_t extent, int64_t *out)
{
    int64_t begin[MW_RANK_MAX];
    size_t count;
    if (!mw__arg_ints(a->op, "begin", begin, MW_RANK_MAX, &count) || (size_t)axis >= count)
        return false;
    *out = begin[axis] < 0 ? begin[axis] + extent : begin[axis];
    return true;
}

static bool slice_by_size(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    int64_t start = 0;
    if (!mw__batch_keep_x(a, out))
        return false;
    if (x.dim[out->axis] == a->shape.dim[out->axis])
        return true;
    return slice_start(a, out->axis, x.dim[out->axis], &start) && starts_whole(a, start, out->inner);
}

static bool marked(const mw__batch_asked *a, const char *arg, int axis)
{
    bool marks[MW_RANK_MAX];
    size_t count;
    return mw__arg_bools(a->op, arg, marks, MW_RANK_MAX, &count) && (size_t)axis < count && marks[axis];
}

static bool slice_by_index(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    const mw__batch_rows rows = mw__batch_rows_of_arg(a, "x");
    int64_t stride[MW_RANK_MAX], start = 0;
    size_t count = 0;
    int axis = rows.axis;
    if (!mw__batch_is_only(a, "x") || marked(a, "squeeze_mask", rows.axis))
        return false;
    if (mw__arg_present(a->op, "stride") && (!mw__arg_ints(a->op, "stride", stride, MW_RANK_MAX, &count) ||
                                             (size_t)rows.axis >= count || stride[rows.axis] != 1))
        return false;
    for (int i = 0; i < rows.axis; i++)
        axis -= marked(a, "squeeze_mask", i);
    if (!marked(a, "begin_mask", rows.axis) && !slice_start(a, rows.axis, x.dim[rows.axis], &start))
        return false;
    return starts_whole(a, start, rows.inner) && mw__batch_put_rows(a, out, axis, rows.inner);
}

/* The windows of an axis stand behind it, on an axis of their own. */
static bool sliding_windows(const mw__batch_asked *a, mw__batch_place *out)
{
    int axis;
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    return mw__batch_arg_axis(a, "axis", mw__batch_rank_of(a, "x"), &axis) && x.axis != axis &&
           mw__batch_put_rows(a, out, x.axis + (x.axis > axis), x.inner);
}

/* ---- reductions ---- */

static bool reduce_marked(const mw__batch_asked *a, const bool marks[MW_RANK_MAX], mw__batch_place *out)
{
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    bool keep_dims = false;
    int axis = x.axis;
    if (x.kind != MW__BATCH_ROWS || marks[x.axis] || !mw__arg_bool(a->op, "keep_dims", &keep_dims))
        return false;
    for (int i = 0; i < x.axis && !keep_dims; i++)
        axis -= marks[i];
    return mw__batch_put_rows(a, out, axis, x.inner);
}

static bool reduce(const mw__batch_asked *a, mw__batch_place *out)
{
    bool marks[MW_RANK_MAX];
    return arg_axes(a, "axes", mw__batch_rank_of(a, "x"), marks) && reduce_marked(a, marks, out);
}

static bool reduce_arg(const mw__batch_asked *a, mw__batch_place *out)
{
    bool marks[MW_RANK_MAX] = {false};
    int axis;
    if (!mw__batch_arg_axis(a, "axis", mw__batch_rank_of(a, "x"), &axis) || axis < 0 || axis >= MW_RANK_MAX)
        return false;
    marks[axis] = true;
    return reduce_marked(a, marks, out);
}

/* ---- the table ---- */

/* By the stem of the shape rule: operations that share one look along the same axes. */
static const struct {
    mw__shape_rule *shape;
    mw__batch_rule_of *rule;
} rules[] = {
    {mw__shape_same_as_x, mw__batch_elementwise},
    {mw__shape_unary, mw__batch_elementwise},
    {mw__shape_gelu, mw__batch_elementwise},
    {mw__shape_broadcast, mw__batch_elementwise},
    {mw__shape_compare, mw__batch_elementwise},
    {mw__shape_select, mw__batch_elementwise},
    {mw__shape_clip, mw__batch_elementwise},
    {mw__shape_cast, mw__batch_elementwise},
    {mw__shape_quantize, mw__batch_elementwise},
    {mw__shape_dequantize, mw__batch_elementwise},
    {mw__shape_prelu, mw__batch_keep_x},
    {mw__shape_softplus_parametric, mw__batch_keep_x},
    {mw__shape_batch_norm, mw__batch_keep_x},
    {mw__shape_band_part, before_last_two},
    {mw__shape_tile, mw__batch_keep_x},
    {mw__shape_softmax, across_axis},
    {mw__shape_cumsum, across_axis},
    {mw__shape_argsort, across_axis},
    {mw__shape_topk, across_axis},
    {mw__shape_layer_norm, across_axes},
    {mw__shape_reverse, across_axes},
    {mw__shape_conv, behind_first},
    {mw__shape_conv_transpose, behind_first},
    {mw__shape_pool, behind_first},
    {mw__shape_l2_pool, behind_first},
    {mw__shape_instance_norm, behind_first},
    {mw__shape_local_response_norm, behind_first},
    {mw__shape_depth_to_space, behind_first},
    {mw__shape_space_to_depth, behind_first},
    {mw__shape_pixel_shuffle, behind_first},
    {mw__shape_pixel_unshuffle, behind_first},
    {mw__shape_resample, before_last_two},
    {mw__shape_crop, before_last_two},
    {mw__shape_resample_at, mw__batch_resample_at},
    {mw__shape_affine, mw__batch_affine},
    {mw__shape_crop_resize, mw__batch_crop_resize},
    {mw__shape_boxes, mw__batch_boxes},
    {mw__shape_l2_norm, before_last_three},
    {mw__shape_pad, same_extent},
    {mw__shape_reverse_sequence, reverse_sequence},
    {mw__shape_reshape, view},
    {mw__shape_reshape_like, view},
    {mw__shape_flatten2d, view},
    {mw__shape_expand_dims, expand_dims},
    {mw__shape_squeeze, squeeze},
    {mw__shape_transpose, transpose},
    {mw__shape_concat, concat},
    {mw__shape_stack, stack},
    {mw__shape_split, split_rows},
    {mw__shape_slice_by_index, slice_by_index},
    {mw__shape_slice_by_size, slice_by_size},
    {mw__shape_sliding_windows, sliding_windows},
    {mw__shape_reduce, reduce},
    {mw__shape_reduce_arg, reduce_arg},
    {mw__shape_matmul, mw__batch_matmul},
    {mw__shape_linear, mw__batch_linear},
    {mw__shape_einsum, mw__batch_einsum},
    {mw__shape_scaled_dot_product_attention, mw__batch_attention},
    {mw__shape_lstm, mw__batch_recurrent},
    {mw__shape_gru, mw__batch_recurrent},
    {mw__shape_rnn, mw__batch_recurrent},
    {mw__shape_gather, mw__batch_gather},
    {mw__shape_gather_along_axis, mw__batch_gather_along_axis},
    {mw__shape_gather_nd, mw__batch_gather_nd},
    {mw__shape_one_hot, mw__batch_one_hot},
};

static mw__batch_rule_of *find_rule(const mw__op *op)
{
    for (size_t i = 0; op->row != NULL && i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].shape == op->row->shape)
            return rules[i].rule;
    }
    return NULL;
}

/* ---- one result ---- */

/* What only looks at the shape of its operand. */
static bool reads_no_value(const mw__op *op)
{
    return op->row != NULL && (op->row->id == MW__OP_shape || op->row->id == MW__OP_fill_like);
}

/* The strongest of what the operands are: mixed before rows before none. */
static mw__batch_rows strongest(const mw__batch_asked *a, const mw__operand *operands, size_t count,
                                mw__batch_rows found)
{
    for (size_t i = 0; i < count && found.kind != MW__BATCH_MIXED; i++) {
        mw__batch_rows rows = found;
        if (operands[i].value != NULL)
            rows = mw__batch_rows_of(a, operands[i].value);
        else
            rows = strongest(a, operands[i].members, operands[i].member_count, found);
        if (rows.kind > found.kind)
            found = rows;
    }
    return found;
}

mw__batch_rows mw__batch_rule(const mw__batch_rows *table, const mw__op *op, size_t result, int64_t batch)
{
    const mw__batch_rows none = {.kind = MW__BATCH_NONE}, mixed = {.kind = MW__BATCH_MIXED, .mixer = op};
    const mw_tensor *value = op->results[result];
    if (op->block_count > 0 || mw__op_has(op, MW__TRAIT_LOWERED))
        return mixed;
    if (reads_no_value(op) || value->payload != NULL)
        return none;
    const mw__batch_asked a = {
        .table = table, .op = op, .result = result, .batch = batch, .shape = mw_tensor_shape(value)};
    mw__batch_rows found = none;
    for (size_t s = 0; s < op->slot_count; s++) {
        if (op->slots[s].operands != NULL)
            found = strongest(&a, op->slots[s].operands, op->slots[s].count, found);
    }
    if (found.kind != MW__BATCH_ROWS)
        return found;
    mw__batch_place out = {0};
    mw__batch_rule_of *rule = find_rule(op);
    if (rule == NULL || !rule(&a, &out) || !out.known)
        return mixed;
    return (mw__batch_rows){.kind = MW__BATCH_ROWS, .axis = out.axis, .inner = out.inner};
}
