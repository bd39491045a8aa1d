/* Shapes, parts and order of elements. */
#include "format/onnx/write/write_args.h"

#include <string.h>

static bool is_known(mw_shape shape)
{
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] < 0)
            return false;
    return true;
}

/* False, and the problem noted, if the numbers are computed. */
static bool ints(mw__onnx_writer *w, const mw__op *op, const char *name, int64_t *out, size_t *out_count)
{
    if (mw__arg_ints(op, name, out, 2 * MW_RANK_MAX, out_count))
        return true;
    mw__onnx_cannot(w, op, "with computed numbers for its shape it is not written yet");
    return false;
}

/* Axes of one element that are added or left out, whatever the others are. */
static void write_units(mw__onnx_writer *w, const mw__op *op)
{
    int64_t axes[2 * MW_RANK_MAX];
    size_t count;
    const bool given = mw__arg_present(op, "axes");
    if (!given || ints(w, op, "axes", axes, &count))
        mw__onnx_make(w, strcmp(op->row->name, "squeeze") == 0 ? "Squeeze" : "Unsqueeze", result(w, op),
                      arg(w, op, "x"), given ? mw__onnx_longs(w, axes, count) : NULL);
}

static int unknown_extents(mw_shape shape)
{
    int count = 0;
    for (int i = 0; i < shape.rank; i++)
        count += shape.dim[i] < 0;
    return count;
}

/* Everything that leaves the elements in their order. A computed shape means the same in both, 0 and -1 too. */
void mw__onnx_write_reshape(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    if (unknown_extents(result_shape(op)) > 1 && mw__arg_exists(op, "shape"))
        mw__onnx_make(w, operation, result(w, op), arg(w, op, "x"),
                      mw__onnx_cast_to(w, NULL, arg(w, op, "shape"), MW_I64));
    else if (unknown_extents(result_shape(op)) > 1 && mw__arg_exists(op, "axes"))
        write_units(w, op);
    else
        mw__onnx_reshape_to(w, op, result(w, op), arg(w, op, "x"), result_shape(op));
}

void mw__onnx_write_transpose(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t perm[2 * MW_RANK_MAX];
    size_t count;
    (void)operation;
    if (!ints(w, op, "perm", perm, &count))
        return;
    for (size_t i = 0; i < count; i++)
        perm[i] += perm[i] < 0 ? (int64_t)count : 0;
    mw__onnx_transpose_to(w, result(w, op), arg(w, op, "x"), perm, (int)count);
}

static void join_values(mw__onnx_writer *w, const mw__op *op, const char **in, size_t count)
{
    pb_node *node = mw__onnx_node_of(w, "Concat", result(w, op), in, count);
    mw__onnx_put_int(w, node, "axis", axis_of(op, "axis", result_shape(op).rank));
}

void mw__onnx_write_concat(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw__operand *values;
    bool interleave = false;
    const size_t count = mw__arg_values(op, "values", &values);
    const char **in = mw__onnx_alloc(w, count, sizeof *in);
    (void)operation;
    if (mw__arg_bool(op, "interleave", &interleave) && interleave) {
        mw__onnx_cannot(w, op, "interleaved it is not written yet");
        return;
    }
    for (size_t i = 0; in != NULL && i < count; i++)
        in[i] = mw__onnx_name_of(w, values[i].value);
    if (in != NULL)
        join_values(w, op, in, count);
}

void mw__onnx_write_stack(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(op, "values", &values);
    const char **in = mw__onnx_alloc(w, count, sizeof *in);
    mw_shape shape = result_shape(op);
    (void)operation;
    shape.dim[axis_of(op, "axis", shape.rank)] = 1;
    for (size_t i = 0; in != NULL && i < count; i++)
        in[i] = mw__onnx_reshape_to(w, op, NULL, mw__onnx_name_of(w, values[i].value), shape);
    if (in != NULL)
        join_values(w, op, in, count);
}

void mw__onnx_write_split(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const int64_t axis = axis_of(op, "axis", result_shape(op).rank);
    int64_t *sizes = mw__onnx_alloc(w, op->result_count, sizeof *sizes);
    for (size_t i = 0; sizes != NULL && i < op->result_count; i++)
        if ((sizes[i] = op->results[i]->type->shape.dim[axis]) < 0) {
            mw__onnx_cannot(w, op, "its parts are not known");
            return;
        }
    if (sizes == NULL)
        return;
    const char *const in[] = {arg(w, op, "x"), mw__onnx_longs(w, sizes, op->result_count)};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 2);
    for (size_t i = 1; i < op->result_count; i++)
        mw__onnx_put_result(w, node, mw__onnx_result(w, op, i));
    mw__onnx_put_int(w, node, "axis", axis);
}

/* ---- slices ---- */

/* One element of an axis that goes, all that is masked, or what begin and end say. */
static void apply_masks(const mw__op *op, mw__onnx_slices *s, bool *out_squeezes)
{
    bool from_start[MW_RANK_MAX], to_end[MW_RANK_MAX], squeeze[MW_RANK_MAX];
    mw__arg_mask(op, "begin_mask", from_start);
    mw__arg_mask(op, "end_mask", to_end);
    mw__arg_mask(op, "squeeze_mask", squeeze);
    *out_squeezes = false;
    for (size_t i = 0; i < s->count; i++) {
        const bool back = s->step[i] < 0;
        if (squeeze[i]) {
            s->end[i] = s->begin[i] == -1 ? INT64_MAX : s->begin[i] + 1;
            s->step[i] = 1;
            *out_squeezes = true;
            continue;
        }
        s->begin[i] = from_start[i] ? (back ? INT64_MAX : 0) : s->begin[i];
        s->end[i] = to_end[i] ? (back ? INT64_MIN : INT64_MAX) : s->end[i];
    }
}

/* Where only the ends are computed: they are taken, but for those that are masked. */
static void cut_computed(mw__onnx_writer *w, const mw__op *op, const char *out, const mw__onnx_slices *s)
{
    bool to_end[MW_RANK_MAX], squeeze[MW_RANK_MAX];
    uint8_t known[MW_RANK_MAX];
    int64_t axes[MW_RANK_MAX];
    mw__arg_mask(op, "end_mask", to_end);
    mw__arg_mask(op, "squeeze_mask", squeeze);
    for (size_t i = 0; i < s->count; i++) {
        axes[i] = (int64_t)i;
        known[i] = to_end[i] || squeeze[i];
    }
    const char *const ends[] = {mw__onnx_tensor(w, MW_BOOL, (mw_shape){1, {(int64_t)s->count}}, known),
                                mw__onnx_longs(w, s->end, s->count),
                                mw__onnx_cast_to(w, NULL, arg(w, op, "end"), MW_I64)};
    const char *const in[] = {arg(w, op, "x"), mw__onnx_longs(w, s->begin, s->count),
                              mw__onnx_name(mw__onnx_node_of(w, "Where", NULL, ends, 3)),
                              mw__onnx_longs(w, axes, s->count), mw__onnx_longs(w, s->step, s->count)};
    mw__onnx_node_of(w, "Slice", out, in, 5);
}

void mw__onnx_write_slice_by_index(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_slices s = {.count = 0};
    bool squeezes;
    size_t ends, steps;
    (void)operation;
    if (!mw__is_constant(mw__arg(op, "begin"))) {
        mw__onnx_take_part(w, op);
        return;
    }
    const bool ends_known = mw__is_constant(mw__arg(op, "end"));
    if (!ints(w, op, "begin", s.begin, &s.count) || (ends_known && !ints(w, op, "end", s.end, &ends)))
        return;
    for (size_t i = 0; i < s.count; i++)
        s.step[i] = 1;
    if (mw__arg_present(op, "stride") && !ints(w, op, "stride", s.step, &steps))
        return;
    apply_masks(op, &s, &squeezes);
    const char *part = squeezes ? mw__onnx_fresh(w) : result(w, op);
    if (ends_known)
        mw__onnx_slice_to(w, part, arg(w, op, "x"), &s);
    else
        cut_computed(w, op, part, &s);
    if (squeezes)
        mw__onnx_reshape_to(w, op, result(w, op), part, result_shape(op));
}

/* From known places on, as many as is computed; -1 is all that are left. */
static void take_computed(mw__onnx_writer *w, const mw__op *op)
{
    mw__onnx_slices s;
    int64_t axes[MW_RANK_MAX];
    if (!ints(w, op, "begin", s.begin, &s.count))
        return;
    for (size_t i = 0; i < s.count; i++) {
        axes[i] = (int64_t)i;
        if (s.begin[i] < 0) {
            mw__onnx_cannot(w, op, "its shape is not known, and a begin counts from the end");
            return;
        }
    }
    const char *begin = mw__onnx_longs(w, s.begin, s.count);
    const char *size = mw__onnx_cast_to(w, NULL, arg(w, op, "size"), MW_I64);
    const char *is_rest = mw__onnx_make(w, "Less", NULL, size, mw__onnx_number(w, MW_I64, 0));
    const char *last = mw__onnx_number(w, MW_I64, (double)INT32_MAX);
    const char *const ends[] = {is_rest, last, mw__onnx_make(w, "Add", NULL, size, begin)};
    const char *const in[] = {arg(w, op, "x"), begin, mw__onnx_name(mw__onnx_node_of(w, "Where", NULL, ends, 3)),
                              mw__onnx_longs(w, axes, s.count)};
    mw__onnx_node_of(w, "Slice", result(w, op), in, 4);
}

void mw__onnx_write_slice_by_size(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_slices s;
    const mw_shape shape = result_shape(op);
    (void)operation;
    if (!mw__is_constant(mw__arg(op, "begin"))) {
        mw__onnx_take_part(w, op);
        return;
    }
    if (!is_known(shape) && !mw__is_constant(mw__arg(op, "size"))) {
        take_computed(w, op);
        return;
    }
    if (!is_known(shape)) {
        mw__onnx_cannot(w, op, "its shape is not known");
        return;
    }
    if (!ints(w, op, "begin", s.begin, &s.count))
        return;
    for (size_t i = 0; i < s.count; i++) {
        s.end[i] = s.begin[i] + shape.dim[i];
        s.end[i] = s.begin[i] < 0 && s.end[i] >= 0 ? INT64_MAX : s.end[i];
        s.step[i] = 1;
    }
    mw__onnx_slice_to(w, result(w, op), arg(w, op, "x"), &s);
}

void mw__onnx_write_reverse(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_slices s = {.count = (size_t)result_shape(op).rank};
    int64_t axes[2 * MW_RANK_MAX];
    size_t count = 0;
    (void)operation;
    if (s.count == 0) {
        mw__onnx_make(w, "Identity", result(w, op), arg(w, op, "x"), NULL);
        return;
    }
    const bool all = !mw__arg_present(op, "axes");
    if (!all && !ints(w, op, "axes", axes, &count))
        return;
    for (size_t i = 0; i < s.count; i++) {
        bool turns = all;
        for (size_t k = 0; k < count; k++)
            turns = turns || (size_t)(axes[k] < 0 ? axes[k] + (int64_t)s.count : axes[k]) == i;
        s.begin[i] = turns ? INT64_MAX : 0;
        s.end[i] = turns ? INT64_MIN : INT64_MAX;
        s.step[i] = turns ? -1 : 1;
    }
    mw__onnx_slice_to(w, result(w, op), arg(w, op, "x"), &s);
}

/* ---- repetition and borders ---- */

void mw__onnx_write_tile(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t reps[2 * MW_RANK_MAX];
    size_t count;
    if (ints(w, op, "reps", reps, &count))
        mw__onnx_make(w, operation, result(w, op), arg(w, op, "x"), mw__onnx_longs(w, reps, count));
}

void mw__onnx_write_pad(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t pad[2 * MW_RANK_MAX], pads[2 * MW_RANK_MAX] = {0};
    size_t count;
    const size_t rank = (size_t)result_shape(op).rank;
    const char *mode = mw__arg_string(op, "mode");
    if (!ints(w, op, "pad", pad, &count))
        return;
    for (size_t i = 0; i < count; i++)
        pads[i % 2 * rank + rank - count / 2 + i / 2] = pad[i];
    double value = 0;
    mw__arg_float(op, "constant_val", &value);
    const bool constant = mode == NULL || strcmp(mode, "constant") == 0;
    const char *const in[] = {arg(w, op, "x"), mw__onnx_longs(w, pads, 2 * rank),
                              constant ? mw__onnx_number(w, op->results[0]->type->dtype, value) : NULL};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 3);
    mw__onnx_put_text(w, node, "mode", constant ? "constant" : strcmp(mode, "reflect") == 0 ? "reflect" : "edge");
}

/* The shape that a fill gets, of int64. */
static const char *filled_shape(mw__onnx_writer *w, const mw__op *op)
{
    const mw_shape shape = result_shape(op);
    if (is_known(shape))
        return mw__onnx_longs(w, shape.dim, (size_t)shape.rank);
    if (mw__arg_exists(op, "ref_tensor"))
        return mw__onnx_make(w, "Shape", NULL, arg(w, op, "ref_tensor"), NULL);
    return mw__onnx_cast_to(w, NULL, arg(w, op, "shape"), MW_I64);
}

void mw__onnx_write_fill(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *value = mw__onnx_number(w, dtype_of(op), mw__arg_number(op, "value"));
    mw__onnx_make(w, operation, result(w, op), value, filled_shape(w, op));
}

void mw__onnx_write_shape(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *shape = mw__onnx_make(w, operation, NULL, arg(w, op, "x"), NULL);
    mw__onnx_cast_to(w, result(w, op), shape, op->results[0]->type->dtype);
}

void mw__onnx_write_range_1d(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *const in[] = {arg(w, op, "start"), arg(w, op, "end"), arg(w, op, "step")};
    mw__onnx_node_of(w, operation, result(w, op), in, 3);
}

static const char *triangle(mw__onnx_writer *w, const char *operation, const char *x, int64_t diagonal, bool upper)
{
    const char *const in[] = {x, mw__onnx_number(w, MW_I64, (double)diagonal)};
    pb_node *node = mw__onnx_node_of(w, operation, NULL, in, 2);
    mw__onnx_put_int(w, node, "upper", upper);
    return mw__onnx_name(node);
}

/* The triangle below diagonal `upper`, then the one above diagonal -`lower`; a negative number keeps all. Of integers
 * and truths onnxruntime has int64 alone. */
void mw__onnx_write_band_part(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const int64_t lower = mw__arg_whole(op, "lower"), upper = mw__arg_whole(op, "upper");
    const mw_dtype dtype = dtype_of(op);
    const bool is_float = dtype == MW_F32 || dtype == MW_F16;
    const char *x = is_float ? arg(w, op, "x") : mw__onnx_cast_to(w, NULL, arg(w, op, "x"), MW_I64);
    if (upper >= 0)
        x = triangle(w, operation, x, upper, false);
    if (lower >= 0)
        x = triangle(w, operation, x, -lower, true);
    if (is_float)
        mw__onnx_make(w, "Identity", result(w, op), x, NULL);
    else
        mw__onnx_cast_to(w, result(w, op), x, dtype);
}
