/* Which example the elements of a result belong to, operation by operation. What has no rule counts as mixing the
 * examples, which costs exactness of an evaluation but never its truth. */
#include "graph/ir/rule.h"
#include "graph/transform/batch/batch.h"

#include <string.h>

/* What a rule sees. */
typedef struct asked {
    const mw__batch_rows *table;
    const mw__op *op;
    size_t result;
    int64_t batch;
    mw_shape shape; /* of the result */
} asked;

/* Where the rows of the result are, as far as it follows from the operands seen so far. */
typedef struct place {
    bool known;
    int axis;
    int64_t inner;
} place;

/* False: examples are mixed. */
typedef bool batch_rule(const asked *a, place *out);

static mw__batch_rows rows_of(const asked *a, mw_tensor *value)
{
    return value != NULL ? a->table[mw__evaluated(value)->id] : (mw__batch_rows){.kind = MW__BATCH_NONE};
}

static mw__batch_rows rows_of_arg(const asked *a, const char *arg) { return rows_of(a, mw__arg(a->op, arg)); }

static int rank_of(const asked *a, const char *arg) { return mw_tensor_shape(mw__arg(a->op, arg)).rank; }

/* An operand has its rows along `axis` of the result; all that have rows must agree. */
static bool put_rows(const asked *a, place *out, int axis, int64_t inner)
{
    if (axis < 0 || axis >= a->shape.rank || a->shape.dim[axis] % (a->batch * inner) != 0)
        return false;
    if (out->known && (out->axis != axis || out->inner != inner))
        return false;
    *out = (place){.known = true, .axis = axis, .inner = inner};
    return true;
}

static bool arg_axis(const asked *a, const char *name, int rank, int *out)
{
    int64_t axis;
    if (!mw__arg_int(a->op, name, &axis))
        return false;
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

/* Marks of the axes of an argument; one that is absent or empty means all. */
static bool arg_axes(const asked *a, const char *name, int rank, bool out[MW_RANK_MAX])
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
static bool put_aligned(const asked *a, place *out, const mw_tensor *value, mw__batch_rows rows)
{
    const mw_shape shape = mw_tensor_shape(value);
    const int axis = rows.axis + a->shape.rank - shape.rank;
    if (rows.kind != MW__BATCH_ROWS)
        return true;
    return axis >= 0 && a->shape.dim[axis] == shape.dim[rows.axis] && put_rows(a, out, axis, rows.inner);
}

static bool elementwise(const asked *a, place *out)
{
    for (size_t s = 0; s < a->op->slot_count; s++) {
        const mw__slot *slot = &a->op->slots[s];
        for (size_t i = 0; slot->operands != NULL && i < slot->count; i++) {
            mw_tensor *value = slot->operands[i].value;
            if (value == NULL || !put_aligned(a, out, value, rows_of(a, value)))
                return false;
        }
    }
    return true;
}

/* ---- operations on x that keep its axes ---- */

/* True if no operand but `arg` has rows. */
static bool only(const asked *a, const char *arg)
{
    for (size_t s = 0; s < a->op->slot_count; s++) {
        const mw__slot *slot = &a->op->slots[s];
        for (size_t i = 0; slot->operands != NULL && i < slot->count; i++) {
            mw_tensor *value = slot->operands[i].value;
            if (value != mw__arg(a->op, arg) && (value == NULL || rows_of(a, value).kind != MW__BATCH_NONE))
                return false;
        }
    }
    return true;
}

/* x alone has rows, and they stay where they are. */
static bool keep_x(const asked *a, place *out)
{
    const mw__batch_rows x = rows_of_arg(a, "x");
    return only(a, "x") && x.kind == MW__BATCH_ROWS && put_rows(a, out, x.axis, x.inner);
}

/* What looks along other axes than `axis` may not have its rows there. */
static bool across_axis(const asked *a, place *out)
{
    int axis;
    return keep_x(a, out) && arg_axis(a, "axis", a->shape.rank, &axis) && axis != out->axis;
}

static bool across_axes(const asked *a, place *out)
{
    bool marks[MW_RANK_MAX];
    return keep_x(a, out) && arg_axes(a, "axes", a->shape.rank, marks) && !marks[out->axis];
}

/* [N, C, ..]: anything may happen behind the first axis. */
static bool behind_first(const asked *a, place *out) { return keep_x(a, out) && out->axis == 0 && a->shape.rank > 1; }

/* The last `count` axes are used. */
static bool before_last(const asked *a, place *out, int count)
{
    return keep_x(a, out) && out->axis < a->shape.rank - count;
}

static bool before_last_two(const asked *a, place *out) { return before_last(a, out, 2); }

static bool before_last_three(const asked *a, place *out) { return before_last(a, out, 3); }

/* Padding of the rows themselves would move them. */
static bool same_extent(const asked *a, place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    return keep_x(a, out) && x.dim[out->axis] == a->shape.dim[out->axis];
}

static bool reverse_sequence(const asked *a, place *out)
{
    int along, of;
    const int rank = a->shape.rank;
    const mw__batch_rows x = rows_of_arg(a, "x"), lengths = rows_of_arg(a, "lengths");
    if (!arg_axis(a, "seq_axis", rank, &along) || !arg_axis(a, "batch_axis", rank, &of))
        return false;
    if (x.kind == MW__BATCH_ROWS && (x.axis == along || !put_rows(a, out, x.axis, x.inner)))
        return false;
    return lengths.kind != MW__BATCH_ROWS || put_rows(a, out, of, lengths.inner);
}

/* ---- the same elements in another shape or order ---- */

/* Element l, counted row by row, belongs to example (l / step) % batch: an axis of the new shape must have it so, too.
 */
static bool view(const asked *a, place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    const mw__batch_rows rows = rows_of_arg(a, "x");
    if (rows.kind != MW__BATCH_ROWS)
        return false;
    const int64_t step = rows.inner * mw__shape_span(x, rows.axis + 1, x.rank);
    int64_t below = mw__shape_span(a->shape, 0, a->shape.rank);
    for (int axis = 0; axis < a->shape.rank && below > 0; axis++) {
        const int64_t above = below;
        below /= a->shape.dim[axis];
        if (step % below == 0 && above % (step * a->batch) == 0)
            return put_rows(a, out, axis, step / below);
    }
    return false;
}

/* The axes that are new are named, so that the rows stay on their own one, also where there is one example. */
static bool expand_dims(const asked *a, place *out)
{
    bool added[MW_RANK_MAX];
    const mw__batch_rows x = rows_of_arg(a, "x");
    if (x.kind != MW__BATCH_ROWS || !arg_axes(a, "axes", a->shape.rank, added))
        return false;
    for (int axis = 0, from = 0; axis < a->shape.rank; axis++)
        if (!added[axis] && from++ == x.axis)
            return put_rows(a, out, axis, x.inner);
    return false;
}

/* Where the axis of the one example goes too, its rows are those of the next one. */
static bool squeeze(const asked *a, place *out)
{
    bool gone[MW_RANK_MAX];
    const mw_shape shape = mw_tensor_shape(mw__arg(a->op, "x"));
    const mw__batch_rows x = rows_of_arg(a, "x");
    if (x.kind != MW__BATCH_ROWS || !arg_axes(a, "axes", shape.rank, gone))
        return false;
    int axis = x.axis;
    for (int i = 0; i < x.axis; i++)
        axis -= gone[i] && shape.dim[i] == 1;
    return gone[x.axis] && shape.dim[x.axis] == 1 ? view(a, out) : put_rows(a, out, axis, x.inner);
}

static bool transpose(const asked *a, place *out)
{
    int64_t perm[MW_RANK_MAX];
    size_t count;
    const mw__batch_rows x = rows_of_arg(a, "x");
    if (!mw__arg_ints(a->op, "perm", perm, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if ((perm[i] < 0 ? perm[i] + a->shape.rank : perm[i]) == x.axis)
            return put_rows(a, out, (int)i, x.inner);
    }
    return false;
}

static bool concat(const asked *a, place *out)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(a->op, "values", &values);
    bool interleave = false, along = false, other = false;
    int axis;
    if (!arg_axis(a, "axis", a->shape.rank, &axis) || !mw__arg_bool(a->op, "interleave", &interleave))
        return false;
    for (size_t i = 0; i < count; i++) {
        const mw__batch_rows rows = rows_of(a, values[i].value);
        along = along || (rows.kind == MW__BATCH_ROWS && rows.axis == axis);
        other = other || rows.kind != MW__BATCH_ROWS;
        if (rows.kind == MW__BATCH_ROWS && !put_rows(a, out, rows.axis, rows.inner))
            return false;
    }
    return !along || (!other && !interleave); /* along the rows, each value adds whole runs of them */
}

static bool stack(const asked *a, place *out)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(a->op, "values", &values);
    int axis;
    if (!arg_axis(a, "axis", a->shape.rank, &axis))
        return false;
    for (size_t i = 0; i < count; i++) {
        const mw__batch_rows rows = rows_of(a, values[i].value);
        if (rows.kind == MW__BATCH_ROWS && !put_rows(a, out, rows.axis + (rows.axis >= axis), rows.inner))
            return false;
    }
    return true;
}

/* True if a piece of the rows starts with the first row of the first example; `put_rows` checks its end. */
static bool starts_whole(const asked *a, int64_t start, int64_t inner) { return start % (a->batch * inner) == 0; }

static bool split(const asked *a, place *out)
{
    int axis;
    int64_t start = 0;
    if (!keep_x(a, out) || !arg_axis(a, "axis", a->shape.rank, &axis))
        return false;
    for (size_t i = 0; i < a->result; i++)
        start += mw_tensor_shape(a->op->results[i]).dim[axis];
    return axis != out->axis || starts_whole(a, start, out->inner);
}

/* Where a slice starts along `axis`; false if that is not known when compiled. */
static bool slice_start(const asked *a, int axis, int64_t extent, int64_t *out)
{
    int64_t begin[MW_RANK_MAX];
    size_t count;
    if (!mw__arg_ints(a->op, "begin", begin, MW_RANK_MAX, &count) || (size_t)axis >= count)
        return false;
    *out = begin[axis] < 0 ? begin[axis] + extent : begin[axis];
    return true;
}

static bool slice_by_size(const asked *a, place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    int64_t start = 0;
    if (!keep_x(a, out))
        return false;
    if (x.dim[out->axis] == a->shape.dim[out->axis])
        return true;
    return slice_start(a, out->axis, x.dim[out->axis], &start) && starts_whole(a, start, out->inner);
}

static bool marked(const asked *a, const char *arg, int axis)
{
    bool marks[MW_RANK_MAX];
    size_t count;
    return mw__arg_bools(a->op, arg, marks, MW_RANK_MAX, &count) && (size_t)axis < count && marks[axis];
}

static bool slice_by_index(const asked *a, place *out)
{
    const mw_shape x = mw_tensor_shape(mw__arg(a->op, "x"));
    const mw__batch_rows rows = rows_of_arg(a, "x");
    int64_t stride[MW_RANK_MAX], start = 0;
    size_t count = 0;
    int axis = rows.axis;
    if (!only(a, "x") || marked(a, "squeeze_mask", rows.axis))
        return false;
    if (mw__arg_present(a->op, "stride") && (!mw__arg_ints(a->op, "stride", stride, MW_RANK_MAX, &count) ||
                                             (size_t)rows.axis >= count || stride[rows.axis] != 1))
        return false;
    for (int i = 0; i < rows.axis; i++)
        axis -= marked(a, "squeeze_mask", i);
    if (!marked(a, "begin_mask", rows.axis) && !slice_start(a, rows.axis, x.dim[rows.axis], &start))
        return false;
    return starts_whole(a, start, rows.inner) && put_rows(a, out, axis, rows.inner);
}

/* The windows of an axis stand behind it, on an axis of their own. */
static bool sliding_windows(const asked *a, place *out)
{
    int axis;
    const mw__batch_rows x = rows_of_arg(a, "x");
    return arg_axis(a, "axis", rank_of(a, "x"), &axis) && x.axis != axis &&
           put_rows(a, out, x.axis + (x.axis > axis), x.inner);
}

/* ---- reductions ---- */

static bool reduce_marked(const asked *a, const bool marks[MW_RANK_MAX], place *out)
{
    const mw__batch_rows x = rows_of_arg(a, "x");
    bool keep_dims = false;
    int axis = x.axis;
    if (x.kind != MW__BATCH_ROWS || marks[x.axis] || !mw__arg_bool(a->op, "keep_dims", &keep_dims))
        return false;
    for (int i = 0; i < x.axis && !keep_dims; i++)
        axis -= marks[i];
    return put_rows(a, out, axis, x.inner);
}

static bool reduce(const asked *a, place *out)
{
    bool marks[MW_RANK_MAX];
    return arg_axes(a, "axes", rank_of(a, "x"), marks) && reduce_marked(a, marks, out);
}

static bool reduce_arg(const asked *a, place *out)
{
    bool marks[MW_RANK_MAX] = {false};
    int axis;
    if (!arg_axis(a, "axis", rank_of(a, "x"), &axis) || axis < 0 || axis >= MW_RANK_MAX)
        return false;
    marks[axis] = true;
    return reduce_marked(a, marks, out);
}

/* ---- products ---- */

/* One factor of matmul: batch axes are counted from their end, the contracted axis may have no rows. `free` = the axis
 * that goes into the result, `at` = where. A vector is contracted. */
static bool put_factor(const asked *a, place *out, mw__batch_rows rows, int rank, int free, int at, int batch_rank)
{
    if (rows.kind != MW__BATCH_ROWS)
        return true;
    if (rank < 2)
        return false;
    if (rows.axis < rank - 2)
        return put_rows(a, out, batch_rank - (rank - 2) + rows.axis, rows.inner);
    return rows.axis == free && put_rows(a, out, at, rows.inner);
}

static bool matmul(const asked *a, place *out)
{
    const int rank_x = rank_of(a, "x"), rank_y = rank_of(a, "y");
    const int batch_rank = a->shape.rank - (rank_x > 1) - (rank_y > 1);
    bool transpose_x = false, transpose_y = false;
    if (!mw__arg_bool(a->op, "transpose_x", &transpose_x) || !mw__arg_bool(a->op, "transpose_y", &transpose_y))
        return false;
    const int free_x = rank_x - (transpose_x ? 1 : 2), free_y = rank_y - (transpose_y ? 2 : 1);
    return put_factor(a, out, rows_of_arg(a, "x"), rank_x, free_x, batch_rank, batch_rank) &&
           put_factor(a, out, rows_of_arg(a, "y"), rank_y, free_y, batch_rank + (rank_x > 1), batch_rank);
}

static bool linear(const asked *a, place *out) { return keep_x(a, out) && out->axis != a->shape.rank - 1; }

/* "nchw,nwhu->nchu" or "chw,whr->chr": all but the contracted w keep their place. */
static bool einsum(const asked *a, place *out)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(a->op, "values", &values);
    const int rank = a->shape.rank, contracted[2] = {rank - 1, rank - 3};
    for (size_t i = 0; i < count && i < 2; i++) {
        const mw__batch_rows rows = rows_of(a, values[i].value);
        if (rows.kind == MW__BATCH_ROWS && (rows.axis == contracted[i] || !put_rows(a, out, rows.axis, rows.inner)))
            return false;
    }
    return true;
}

static bool attention(const asked *a, place *out)
{
    static const char *const args[] = {"query", "key", "value", "attn_mask"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        mw_tensor *value = mw__arg(a->op, args[i]);
        const mw__batch_rows rows = rows_of(a, value);
        if (rows.kind != MW__BATCH_ROWS)
            continue;
        if (rows.axis >= mw_tensor_shape(value).rank - 2 || !put_aligned(a, out, value, rows))
            return false;
    }
    return true;
}

/* The batch is axis 1 of x [steps, batch, ..] and of the outputs, axis 0 of the states before and after. */
static bool recurrent(const asked *a, place *out)
{
    for (size_t i = 0; i < a->op->slot_count; i++) {
        const mw__slot *slot = &a->op->slots[i];
        const bool is_x = strcmp(slot->name, "x") == 0, is_state = strncmp(slot->name, "initial_", 8) == 0;
        const mw__batch_rows rows = rows_of_arg(a, slot->name);
        if (rows.kind == MW__BATCH_NONE)
            continue;
        if ((!is_x && !is_state) || rows.axis != (is_x ? 1 : 0) ||
            !put_rows(a, out, a->result == 0 ? 1 : 0, rows.inner))
            return false;
    }
    return true;
}

/* ---- gathers ---- */

static int64_t batch_dims(const asked *a)
{
    int64_t count = 0;
    return mw__row_arg(a->op->row, "batch_dims") != NULL && mw__arg_int(a->op, "batch_dims", &count) ? count : 0;
}

/* x[.., axis, ..] becomes x[.., indices, ..]. */
static bool gather(const asked *a, place *out)
{
    const mw__batch_rows x = rows_of_arg(a, "x"), indices = rows_of_arg(a, "indices");
    const int shared = (int)batch_dims(a), rank = rank_of(a, "indices") - shared;
    const bool same = x.axis < shared;
    int axis;
    if (!arg_axis(a, "axis", rank_of(a, "x"), &axis))
        return false;
    if (x.kind == MW__BATCH_ROWS &&
        (x.axis == axis || !put_rows(a, out, x.axis < axis ? x.axis : x.axis - 1 + rank, x.inner)))
        return false;
    if (x.kind == MW__BATCH_ROWS && indices.kind == MW__BATCH_ROWS && !(same && indices.axis < shared))
        return false;
    if (indices.kind != MW__BATCH_ROWS)
        return true;
    return put_rows(a, out, indices.axis < shared ? indices.axis : axis + indices.axis - shared, indices.inner);
}

static bool gather_along_axis(const asked *a, place *out)
{
    int axis;
    if (!arg_axis(a, "axis", a->shape.rank, &axis))
        return false;
    return elementwise(a, out) && out->axis != axis;
}

/* The last axis of the indices holds coordinates of x, behind the axes that both share. */
static bool gather_nd(const asked *a, place *out)
{
    const mw_shape coordinates = mw_tensor_shape(mw__arg(a->op, "indices"));
    const mw__batch_rows x = rows_of_arg(a, "x"), indices = rows_of_arg(a, "indices");
    const int shared = (int)batch_dims(a);
    const int used = shared + (int)coordinates.dim[coordinates.rank - 1];
    if (x.kind == MW__BATCH_ROWS) {
        if (x.axis >= shared && (x.axis < used || indices.kind == MW__BATCH_ROWS))
            return false;
        if (!put_rows(a, out, x.axis < shared ? x.axis : x.axis - used + coordinates.rank - 1, x.inner))
            return false;
    }
    if (indices.kind != MW__BATCH_ROWS)
        return true;
    return indices.axis < coordinates.rank - 1 && put_rows(a, out, indices.axis, indices.inner);
}

static bool one_hot(const asked *a, place *out)
{
    int axis;
    const mw__batch_rows indices = rows_of_arg(a, "indices");
    return only(a, "indices") && arg_axis(a, "axis", a->shape.rank, &axis) &&
           put_rows(a, out, indices.axis + (indices.axis >= axis), indices.inner);
}

/* ---- images at places, boxes ---- */

/* [N, ..]: every operand of the two that has rows has them on the first axis, as every result. */
static bool first_of_both(const asked *a, place *out, const char *one, const char *other)
{
    const mw__batch_rows rows[2] = {rows_of_arg(a, one), rows_of_arg(a, other)};
    for (int i = 0; i < 2; i++)
        if (rows[i].kind == MW__BATCH_ROWS && (rows[i].axis != 0 || !put_rows(a, out, 0, rows[i].inner)))
            return false;
    return true;
}

static bool resample_at(const asked *a, place *out) { return first_of_both(a, out, "x", "coordinates"); }

static bool affine(const asked *a, place *out) { return first_of_both(a, out, "x", "transform_matrix"); }

static bool boxes(const asked *a, place *out) { return first_of_both(a, out, "boxes", "scores"); }

/* [B, C, H, W] and boxes [R, ..] give [R, B, ..] of roi with four numbers, else [R, ..], box r of image r or of the one
 * that its index says. */
static bool crop_resize(const asked *a, place *out)
{
    const bool roi = mw__row_arg(a->op->row, "roi") != NULL;
    const bool each = roi && mw_tensor_shape(mw__arg(a->op, "roi")).dim[2] == 4;
    const bool indexed = !each && (roi || mw__arg_present(a->op, "box_indices"));
    const mw__batch_rows x = rows_of_arg(a, "x");
    const bool whole = mw_tensor_shape(mw__arg(a->op, "x")).dim[0] == a->shape.dim[0];
    if (x.kind == MW__BATCH_ROWS &&
        (x.axis != 0 || indexed || (!each && !whole) || !put_rows(a, out, each ? 1 : 0, x.inner)))
        return false;
    const char *places = roi ? "roi" : "boxes";
    return first_of_both(a, out, places, indexed && !roi ? "box_indices" : places);
}

/* ---- the table ---- */

/* By the stem of the shape rule: operations that share one look along the same axes. */
static const struct {
    mw__shape_rule *shape;
    batch_rule *rule;
} rules[] = {
    {mw__shape_same_as_x, elementwise},
    {mw__shape_unary, elementwise},
    {mw__shape_gelu, elementwise},
    {mw__shape_broadcast, elementwise},
    {mw__shape_compare, elementwise},
    {mw__shape_select, elementwise},
    {mw__shape_clip, elementwise},
    {mw__shape_cast, elementwise},
    {mw__shape_quantize, elementwise},
    {mw__shape_dequantize, elementwise},
    {mw__shape_prelu, keep_x},
    {mw__shape_softplus_parametric, keep_x},
    {mw__shape_batch_norm, keep_x},
    {mw__shape_band_part, before_last_two},
    {mw__shape_tile, keep_x},
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
    {mw__shape_resample_at, resample_at},
    {mw__shape_affine, affine},
    {mw__shape_crop_resize, crop_resize},
    {mw__shape_boxes, boxes},
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
    {mw__shape_split, split},
    {mw__shape_slice_by_index, slice_by_index},
    {mw__shape_slice_by_size, slice_by_size},
    {mw__shape_sliding_windows, sliding_windows},
    {mw__shape_reduce, reduce},
    {mw__shape_reduce_arg, reduce_arg},
    {mw__shape_matmul, matmul},
    {mw__shape_linear, linear},
    {mw__shape_einsum, einsum},
    {mw__shape_scaled_dot_product_attention, attention},
    {mw__shape_lstm, recurrent},
    {mw__shape_gru, recurrent},
    {mw__shape_rnn, recurrent},
    {mw__shape_gather, gather},
    {mw__shape_gather_along_axis, gather_along_axis},
    {mw__shape_gather_nd, gather_nd},
    {mw__shape_one_hot, one_hot},
};

static batch_rule *find_rule(const mw__op *op)
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
    return op->row != NULL && (op->row->shape == mw__shape_shape || op->row->shape == mw__shape_fill_like);
}

/* The strongest of what the operands are: mixed before rows before none. */
static mw__batch_rows strongest(const asked *a, const mw__operand *operands, size_t count, mw__batch_rows found)
{
    for (size_t i = 0; i < count && found.kind != MW__BATCH_MIXED; i++) {
        mw__batch_rows rows = found;
        if (operands[i].value != NULL)
            rows = rows_of(a, operands[i].value);
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
    if (op->block_count > 0 || mw__row_is_lowered(op->row))
        return mixed;
    if (reads_no_value(op) || value->payload != NULL)
        return none;
    const asked a = {.table = table, .op = op, .result = result, .batch = batch, .shape = mw_tensor_shape(value)};
    mw__batch_rows found = none;
    for (size_t s = 0; s < op->slot_count; s++) {
        if (op->slots[s].operands != NULL)
            found = strongest(&a, op->slots[s].operands, op->slots[s].count, found);
    }
    if (found.kind != MW__BATCH_ROWS)
        return found;
    place out = {0};
    batch_rule *rule = find_rule(op);
    if (rule == NULL || !rule(&a, &out) || !out.known)
        return mixed;
    return (mw__batch_rows){.kind = MW__BATCH_ROWS, .axis = out.axis, .inner = out.inner};
}
