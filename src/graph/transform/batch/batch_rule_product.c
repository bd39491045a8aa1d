/* Products, recurrent layers, gathers, and images at places: which example the elements of their results belong to. */
#include "graph/ir/rule.h"
#include "graph/transform/batch/batch_rule.h"

#include <string.h>

/* ---- products ---- */

/* One factor of matmul: batch axes are counted from their end, the contracted axis may have no rows. `free` = the axis
 * that goes into the result, `at` = where. A vector is contracted. */
static bool put_factor(const mw__batch_asked *a, mw__batch_place *out, mw__batch_rows rows, int rank, int free, int at,
                       int batch_rank)
{
    if (rows.kind != MW__BATCH_ROWS)
        return true;
    if (rank < 2)
        return false;
    if (rows.axis < rank - 2)
        return mw__batch_put_rows(a, out, batch_rank - (rank - 2) + rows.axis, rows.inner);
    return rows.axis == free && mw__batch_put_rows(a, out, at, rows.inner);
}

bool mw__batch_matmul(const mw__batch_asked *a, mw__batch_place *out)
{
    const int rank_x = mw__batch_rank_of(a, "x"), rank_y = mw__batch_rank_of(a, "y");
    const int batch_rank = a->shape.rank - (rank_x > 1) - (rank_y > 1);
    bool transpose_x = false, transpose_y = false;
    if (!mw__arg_bool(a->op, "transpose_x", &transpose_x) || !mw__arg_bool(a->op, "transpose_y", &transpose_y))
        return false;
    const int free_x = rank_x - (transpose_x ? 1 : 2), free_y = rank_y - (transpose_y ? 2 : 1);
    return put_factor(a, out, mw__batch_rows_of_arg(a, "x"), rank_x, free_x, batch_rank, batch_rank) &&
           put_factor(a, out, mw__batch_rows_of_arg(a, "y"), rank_y, free_y, batch_rank + (rank_x > 1), batch_rank);
}

bool mw__batch_linear(const mw__batch_asked *a, mw__batch_place *out)
{
    return mw__batch_keep_x(a, out) && out->axis != a->shape.rank - 1;
}

/* "nchw,nwhu->nchu" or "chw,whr->chr": all but the contracted w keep their place. */
bool mw__batch_einsum(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(a->op, "values", &values);
    const int rank = a->shape.rank, contracted[2] = {rank - 1, rank - 3};
    for (size_t i = 0; i < count && i < 2; i++) {
        const mw__batch_rows rows = mw__batch_rows_of(a, values[i].value);
        if (rows.kind == MW__BATCH_ROWS &&
            (rows.axis == contracted[i] || !mw__batch_put_rows(a, out, rows.axis, rows.inner)))
            return false;
    }
    return true;
}

bool mw__batch_attention(const mw__batch_asked *a, mw__batch_place *out)
{
    static const char *const args[] = {"query", "key", "value", "attn_mask"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        mw_tensor *value = mw__arg(a->op, args[i]);
        const mw__batch_rows rows = mw__batch_rows_of(a, value);
        if (rows.kind != MW__BATCH_ROWS)
            continue;
        if (rows.axis >= mw_tensor_shape(value).rank - 2 || !mw__batch_put_aligned(a, out, value, rows))
            return false;
    }
    return true;
}

/* The batch is axis 1 of x [steps, batch, ..] and of the outputs, axis 0 of the states before and after. */
bool mw__batch_recurrent(const mw__batch_asked *a, mw__batch_place *out)
{
    for (size_t i = 0; i < a->op->slot_count; i++) {
        const mw__slot *slot = &a->op->slots[i];
        const bool is_x = strcmp(slot->name, "x") == 0, is_state = strncmp(slot->name, "initial_", 8) == 0;
        const mw__batch_rows rows = mw__batch_rows_of_arg(a, slot->name);
        if (rows.kind == MW__BATCH_NONE)
            continue;
        if ((!is_x && !is_state) || rows.axis != (is_x ? 1 : 0) ||
            !mw__batch_put_rows(a, out, a->result == 0 ? 1 : 0, rows.inner))
            return false;
    }
    return true;
}

/* ---- gathers ---- */

static int64_t batch_dims(const mw__batch_asked *a)
{
    int64_t count = 0;
    return mw__row_arg(a->op->row, "batch_dims") != NULL && mw__arg_int(a->op, "batch_dims", &count) ? count : 0;
}

/* x[.., axis, ..] becomes x[.., indices, ..]. */
bool mw__batch_gather(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x"), indices = mw__batch_rows_of_arg(a, "indices");
    const int shared = (int)batch_dims(a), rank = mw__batch_rank_of(a, "indices") - shared;
    const bool same = x.axis < shared;
    int axis;
    if (!mw__batch_arg_axis(a, "axis", mw__batch_rank_of(a, "x"), &axis))
        return false;
    if (x.kind == MW__BATCH_ROWS &&
        (x.axis == axis || !mw__batch_put_rows(a, out, x.axis < axis ? x.axis : x.axis - 1 + rank, x.inner)))
        return false;
    if (x.kind == MW__BATCH_ROWS && indices.kind == MW__BATCH_ROWS && !(same && indices.axis < shared))
        return false;
    if (indices.kind != MW__BATCH_ROWS)
        return true;
    return mw__batch_put_rows(a, out, indices.axis < shared ? indices.axis : axis + indices.axis - shared,
                              indices.inner);
}

bool mw__batch_gather_along_axis(const mw__batch_asked *a, mw__batch_place *out)
{
    int axis;
    if (!mw__batch_arg_axis(a, "axis", a->shape.rank, &axis))
        return false;
    return mw__batch_elementwise(a, out) && out->axis != axis;
}

/* The last axis of the indices holds coordinates of x, behind the axes that both share. */
bool mw__batch_gather_nd(const mw__batch_asked *a, mw__batch_place *out)
{
    const mw_shape coordinates = mw_tensor_shape(mw__arg(a->op, "indices"));
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x"), indices = mw__batch_rows_of_arg(a, "indices");
    const int shared = (int)batch_dims(a);
    const int used = shared + (int)coordinates.dim[coordinates.rank - 1];
    if (x.kind == MW__BATCH_ROWS) {
        if (x.axis >= shared && (x.axis < used || indices.kind == MW__BATCH_ROWS))
            return false;
        if (!mw__batch_put_rows(a, out, x.axis < shared ? x.axis : x.axis - used + coordinates.rank - 1, x.inner))
            return false;
    }
    if (indices.kind != MW__BATCH_ROWS)
        return true;
    return indices.axis < coordinates.rank - 1 && mw__batch_put_rows(a, out, indices.axis, indices.inner);
}

bool mw__batch_one_hot(const mw__batch_asked *a, mw__batch_place *out)
{
    int axis;
    const mw__batch_rows indices = mw__batch_rows_of_arg(a, "indices");
    return mw__batch_is_only(a, "indices") && mw__batch_arg_axis(a, "axis", a->shape.rank, &axis) &&
           mw__batch_put_rows(a, out, indices.axis + (indices.axis >= axis), indices.inner);
}

/* ---- images at places, boxes ---- */

/* [N, ..]: every operand of the two that has rows has them on the first axis, as every result. */
static bool first_of_both(const mw__batch_asked *a, mw__batch_place *out, const char *one, const char *other)
{
    const mw__batch_rows rows[2] = {mw__batch_rows_of_arg(a, one), mw__batch_rows_of_arg(a, other)};
    for (int i = 0; i < 2; i++)
        if (rows[i].kind == MW__BATCH_ROWS && (rows[i].axis != 0 || !mw__batch_put_rows(a, out, 0, rows[i].inner)))
            return false;
    return true;
}

bool mw__batch_resample_at(const mw__batch_asked *a, mw__batch_place *out)
{
    return first_of_both(a, out, "x", "coordinates");
}

bool mw__batch_affine(const mw__batch_asked *a, mw__batch_place *out)
{
    return first_of_both(a, out, "x", "transform_matrix");
}

bool mw__batch_boxes(const mw__batch_asked *a, mw__batch_place *out)
{
    return first_of_both(a, out, "boxes", "scores");
}

/* [B, C, H, W] and boxes [R, ..] give [R, B, ..] of roi with four numbers, else [R, ..], box r of image r or of the one
 * that its index says. */
bool mw__batch_crop_resize(const mw__batch_asked *a, mw__batch_place *out)
{
    const bool roi = mw__row_arg(a->op->row, "roi") != NULL;
    const bool each = roi && mw_tensor_shape(mw__arg(a->op, "roi")).dim[2] == 4;
    const bool indexed = !each && (roi || mw__arg_present(a->op, "box_indices"));
    const mw__batch_rows x = mw__batch_rows_of_arg(a, "x");
    const bool whole = mw_tensor_shape(mw__arg(a->op, "x")).dim[0] == a->shape.dim[0];
    if (x.kind == MW__BATCH_ROWS &&
        (x.axis != 0 || indexed || (!each && !whole) || !mw__batch_put_rows(a, out, each ? 1 : 0, x.inner)))
        return false;
    const char *places = roi ? "roi" : "boxes";
    return first_of_both(a, out, places, indexed && !roi ? "box_indices" : places);
}
