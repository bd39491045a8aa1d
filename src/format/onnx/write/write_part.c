/* Parts that are replaced or turned round, and windows. */
#include "format/onnx/write/write_args.h"

#include <string.h>

/* ---- parts of computed places ---- */

typedef struct parts {
    mw__onnx_writer *w;
    const mw__op *op;
    mw_shape x;
    int64_t begin[MW_RANK_MAX], count[MW_RANK_MAX], step[MW_RANK_MAX];
    bool known; /* where it begins; else it is moved so that it lies within x */
    bool begin_mask[MW_RANK_MAX], squeeze[MW_RANK_MAX];
} parts;

static bool is_given(const mw__op *op, const char *name)
{
    return mw__arg_exists(op, name) && mw__arg_present(op, name);
}

static bool read_flags(const mw__op *op, const char *name, bool flags[MW_RANK_MAX])
{
    size_t count;
    memset(flags, 0, MW_RANK_MAX * sizeof *flags);
    return !is_given(op, name) || mw__arg_bools(op, name, flags, MW_RANK_MAX, &count);
}

/* Where an axis of known extents begins, from 0. */
static int64_t first_of(const parts *p, int axis)
{
    const int64_t extent = p->x.dim[axis], begin = p->begin[axis];
    if (p->begin_mask[axis] && !p->squeeze[axis])
        return p->step[axis] < 0 ? extent - 1 : 0;
    return begin < 0 ? begin + extent : begin;
}

/* False if extents or strides are not known; `part` is the shape of what lies there. */
static bool read_parts(parts *p, mw_shape part)
{
    size_t count;
    for (int i = 0; i < MW_RANK_MAX; i++)
        p->step[i] = 1;
    if (!read_flags(p->op, "begin_mask", p->begin_mask) || !read_flags(p->op, "squeeze_mask", p->squeeze) ||
        (is_given(p->op, "stride") && !mw__arg_ints(p->op, "stride", p->step, MW_RANK_MAX, &count)))
        return false;
    p->known = mw__arg_ints(p->op, "begin", p->begin, MW_RANK_MAX, &count);
    for (int i = 0, from = 0; i < p->x.rank; i++) {
        p->count[i] = p->squeeze[i] ? 1 : part.dim[from++];
        if (p->x.dim[i] < 0 || p->count[i] < 0 || (!p->known && p->step[i] < 1))
            return false;
    }
    return true;
}

static bool spans(const parts *p, int axis) { return p->count[axis] == p->x.dim[axis] && p->step[axis] == 1; }

/* A begin that is computed; a negative one counts from the end, and the part ends within x. */
static const char *moved_begin(const parts *p, int axis)
{
    mw__onnx_writer *w = p->w;
    const int64_t last = p->x.dim[axis] - 1 - (p->count[axis] - 1) * p->step[axis], at = axis;
    const char *begins = mw__onnx_cast_to(w, NULL, arg(w, p->op, "begin"), MW_I64);
    const char *one = mw__onnx_make(w, "Gather", NULL, begins, mw__onnx_longs(w, &at, 1));
    const char *zero = mw__onnx_number(w, MW_I64, 0), *extent = mw__onnx_number(w, MW_I64, (double)p->x.dim[axis]);
    const char *const in[] = {mw__onnx_make(w, "Less", NULL, one, zero), mw__onnx_make(w, "Add", NULL, one, extent),
                              one};
    const char *wrapped = mw__onnx_name(mw__onnx_node_of(w, "Where", NULL, in, 3));
    const char *low = mw__onnx_make(w, "Max", NULL, wrapped, zero);
    return mw__onnx_make(w, "Min", NULL, low, mw__onnx_number(w, MW_I64, (double)last));
}

/* The elements of an axis that lie in the part, [count]. */
static const char *places(const parts *p, int axis)
{
    const bool known = p->known || (p->begin_mask[axis] && !p->squeeze[axis]);
    const int64_t first = known ? first_of(p, axis) : 0;
    int64_t *values = mw__onnx_alloc(p->w, (size_t)p->count[axis], sizeof *values);
    for (int64_t i = 0; values != NULL && i < p->count[axis]; i++)
        values[i] = first + i * p->step[axis];
    const char *numbers = values != NULL ? mw__onnx_longs(p->w, values, (size_t)p->count[axis]) : NULL;
    return known ? numbers : mw__onnx_make(p->w, "Add", NULL, moved_begin(p, axis), numbers);
}

static const char *take_part(const parts *p, const char *x, int axis)
{
    const char *const in[] = {x, places(p, axis)};
    pb_node *node = mw__onnx_node_of(p->w, "Gather", NULL, in, 2);
    mw__onnx_put_int(p->w, node, "axis", axis);
    return mw__onnx_name(node);
}

static int next_axis(const parts *p, int axis)
{
    while (axis < p->x.rank && spans(p, axis))
        axis++;
    return axis;
}

/* x with the update in the places of the axes from `axis` on: what lies there of that axis is replaced by itself with
 * the update in the places of the axes behind it. */
static const char *replace(const parts *p, const char *out, const char *x, int axis, const char *update)
{
    mw__onnx_writer *w = p->w;
    const int rank = p->x.rank, behind = next_axis(p, axis + 1);
    const mw_shape column = {.rank = 2, .dim = {p->count[axis], 1}};
    const char *at = mw__onnx_reshape_to(w, p->op, NULL, places(p, axis), column);
    if (behind < rank)
        update = replace(p, NULL, take_part(p, x, axis), behind, update);
    if (axis != 0) {
        x = mw__onnx_swap_axes(w, NULL, x, rank, 0, axis);
        update = mw__onnx_swap_axes(w, NULL, update, rank, 0, axis);
    }
    const char *const in[] = {x, at, update};
    const char *made = mw__onnx_name(mw__onnx_node_of(w, "ScatterND", axis == 0 ? out : NULL, in, 3));
    return axis == 0 ? made : mw__onnx_swap_axes(w, out, made, rank, 0, axis);
}

void mw__onnx_write_slice_update(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    parts p = {.w = w, .op = op, .x = mw__arg_shape(op, "x")};
    (void)operation;
    if (!read_parts(&p, mw__arg_shape(op, "update"))) {
        mw__onnx_cannot(w, op, "its extents or strides are not known");
        return;
    }
    mw_shape whole_rank = {.rank = p.x.rank};
    memcpy(whole_rank.dim, p.count, sizeof p.count);
    const char *update = mw__onnx_reshape_to(w, op, NULL, arg(w, op, "update"), whole_rank);
    const int axis = next_axis(&p, 0);
    if (axis < p.x.rank)
        replace(&p, result(w, op), arg(w, op, "x"), axis, update);
    else
        mw__onnx_make(w, "Identity", result(w, op), update, NULL);
}

void mw__onnx_take_part(mw__onnx_writer *w, const mw__op *op)
{
    parts p = {.w = w, .op = op, .x = mw__arg_shape(op, "x")};
    const char *x = arg(w, op, "x");
    if (!read_parts(&p, result_shape(op))) {
        mw__onnx_cannot(w, op, "its extents or strides are not known");
        return;
    }
    for (int axis = next_axis(&p, 0); axis < p.x.rank; axis = next_axis(&p, axis + 1))
        x = take_part(&p, x, axis);
    mw__onnx_reshape_to(w, op, result(w, op), x, result_shape(op));
}

/* ---- windows ---- */

void mw__onnx_write_sliding_windows(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const int axis = (int)axis_of(op, "axis", mw__arg_shape(op, "x").rank);
    const mw_shape windows = {2, {result_shape(op).dim[axis], result_shape(op).dim[axis + 1]}};
    const int64_t count = mw_shape_count(windows), stride = mw__arg_whole(op, "stride");
    if (count < 0) {
        mw__onnx_cannot(w, op, "the extent of its axis is not known");
        return;
    }
    int64_t *at = mw__onnx_table(w, op, count, sizeof *at);
    for (int64_t i = 0; at != NULL && i < count; i++)
        at[i] = i / windows.dim[1] * stride + i % windows.dim[1];
    const char *const in[] = {arg(w, op, "x"), at != NULL ? mw__onnx_tensor(w, MW_I64, windows, at) : NULL};
    mw__onnx_put_int(w, mw__onnx_node_of(w, operation, result(w, op), in, 2), "axis", axis);
}

/* ---- sequences ---- */

/* The axis of the steps first, that of the batch second, as ONNX wants them; or the way back. */
static const char *turn(mw__onnx_writer *w, const mw__op *op, const char *out, const char *x, bool back)
{
    int64_t perm[MW_RANK_MAX], inverse[MW_RANK_MAX];
    const int rank = result_shape(op).rank;
    int count = 2;
    perm[0] = axis_of(op, "seq_axis", rank);
    perm[1] = axis_of(op, "batch_axis", rank);
    for (int i = 0; i < rank; i++)
        if (i != perm[0] && i != perm[1])
            perm[count++] = i;
    for (int i = 0; i < rank; i++)
        inverse[perm[i]] = i;
    return mw__onnx_transpose_to(w, out, x, back ? inverse : perm, rank);
}

void mw__onnx_write_reverse_sequence(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape x = result_shape(op);
    const int64_t extent = x.dim[axis_of(op, "seq_axis", x.rank)];
    if (extent < 0) {
        mw__onnx_cannot(w, op, "the extent of its sequence is not known");
        return;
    }
    const char *lengths = mw__onnx_cast_to(w, NULL, arg(w, op, "lengths"), MW_I64);
    lengths = mw__onnx_make(w, "Max", NULL, lengths, mw__onnx_number(w, MW_I64, 1)); /* onnxruntime clears what has 0 */
    lengths = mw__onnx_make(w, "Min", NULL, lengths, mw__onnx_number(w, MW_I64, (double)extent));
    const char *const in[] = {turn(w, op, NULL, arg(w, op, "x"), false), lengths};
    pb_node *node = mw__onnx_node_of(w, operation, NULL, in, 2);
    mw__onnx_put_int(w, node, "time_axis", 0);
    mw__onnx_put_int(w, node, "batch_axis", 1);
    turn(w, op, result(w, op), mw__onnx_name(node), true);
}
