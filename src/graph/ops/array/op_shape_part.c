/* Slices, tiles and borders: shape rules and constructors of the second half of ops/shape.def. */
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/number/integer.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- slice_by_index ---- */

/* The arguments of one slice, expanded to one entry per axis. */
typedef struct slices {
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX], stride[MW_RANK_MAX];
    bool begin_mask[MW_RANK_MAX], end_mask[MW_RANK_MAX], squeeze[MW_RANK_MAX];
    bool begin_known, end_known;
} slices;

static mw_status check_length(const mw__infer *infer, const char *arg, size_t count, int rank)
{
    if (count == (size_t)rank)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s has %zu elements, x has rank %d", arg, count, rank);
}

static mw_status read_vector(const mw__infer *infer, const char *arg, int rank, int64_t *out, bool *out_known)
{
    size_t count;
    MW_TRY(mw__rule_ints(infer, arg, out, MW_RANK_MAX, &count, out_known));
    return check_length(infer, arg, count, rank);
}

static mw_status read_mask(const mw__infer *infer, const char *arg, int rank, bool *out)
{
    for (int i = 0; i < rank; i++)
        out[i] = false;
    if (!mw__arg_present(infer->op, arg))
        return MW_OK;
    size_t count;
    if (!mw__arg_bools(infer->op, arg, out, MW_RANK_MAX, &count))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be a constant vector of at most %d bools", arg,
                             MW_RANK_MAX);
    return check_length(infer, arg, count, rank);
}

static mw_status read_slices(const mw__infer *infer, int rank, slices *out)
{
    bool known;
    MW_TRY(read_vector(infer, "begin", rank, out->begin, &out->begin_known));
    MW_TRY(read_vector(infer, "end", rank, out->end, &out->end_known));
    MW_TRY(read_mask(infer, "begin_mask", rank, out->begin_mask));
    MW_TRY(read_mask(infer, "end_mask", rank, out->end_mask));
    MW_TRY(read_mask(infer, "squeeze_mask", rank, out->squeeze));
    for (int i = 0; i < rank; i++)
        out->stride[i] = 1;
    if (mw__arg_present(infer->op, "stride"))
        MW_TRY(read_vector(infer, "stride", rank, out->stride, &known));
    for (int i = 0; i < rank; i++) {
        if (out->stride[i] == 0)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "stride[%d] is 0", i);
    }
    return MW_OK;
}

/* Python's slice.indices on one axis; flags mark bounds that are left out or unknown. */
static int64_t count_slice(const slices *s, int axis, int64_t extent)
{
    const int64_t stride = s->stride[axis];
    const bool forward = stride > 0;
    const bool from_edge = s->begin_mask[axis], to_edge = s->end_mask[axis];
    if (extent < 0 || (!from_edge && !s->begin_known) || (!to_edge && !s->end_known))
        return MW_DIM_UNKNOWN;
    const int64_t low = forward ? 0 : -1, high = forward ? extent : extent - 1;
    int64_t begin = forward ? low : high, end = forward ? high : low;
    if (!from_edge)
        begin = mw__i64_clamp(s->begin[axis] < 0 ? s->begin[axis] + extent : s->begin[axis], low, high);
    if (!to_edge)
        end = mw__i64_clamp(s->end[axis] < 0 ? s->end[axis] + extent : s->end[axis], low, high);
    const int64_t distance = forward ? end - begin : begin - end;
    const int64_t step = forward ? stride : -stride;
    return distance <= 0 ? 0 : (distance - 1) / step + 1;
}

static mw_status check_slice(const mw__infer *infer, const slices *s, int axis, int64_t extent)
{
    const int64_t begin = s->begin[axis], end = s->end[axis];
    if (s->squeeze[axis]) {
        if (extent == 0)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "axis %d has extent 0: there is no element to squeeze it to",
                                 axis);
        if (s->begin_known && extent >= 0 && !s->begin_mask[axis] && (begin < -extent || begin >= extent))
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                                 "begin[%d] %" PRId64 " is squeezed but outside the extent %" PRId64, axis, begin,
                                 extent);
        return MW_OK;
    }
    const bool both = s->begin_known && s->end_known && !s->begin_mask[axis] && !s->end_mask[axis];
    if (both && s->stride[axis] > 0 && begin >= 0 && end >= 0 && end < begin)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "end[%d] %" PRId64 " is before begin %" PRId64, axis, end,
                             begin);
    return MW_OK;
}

mw_status mw__shape_slice_by_index(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    mw_shape shape = {.rank = 0};
    slices s;
    MW_TRY(read_slices(infer, x.rank, &s));
    for (int i = 0; i < x.rank; i++) {
        MW_TRY(check_slice(infer, &s, i, x.dim[i]));
        if (!s.squeeze[i])
            shape.dim[shape.rank++] = count_slice(&s, i, x.dim[i]);
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

static void set_mask(mw__build *build, const char *arg, const bool *mask, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (mask[i]) {
            mw__build_bools(build, arg, mask, (size_t)rank);
            return;
        }
    }
}

/* The part of x that `list` names, as arguments. */
static void set_slices(mw__build *build, const mw_slice *list, int rank)
{
    slices s = {.begin_known = true, .end_known = true};
    bool strided = false;
    for (int i = 0; i < rank; i++) {
        s.begin[i] = list[i].from_start ? 0 : list[i].begin;
        s.end[i] = list[i].to_end ? 0 : list[i].end;
        s.stride[i] = list[i].stride == 0 ? 1 : list[i].stride;
        s.begin_mask[i] = list[i].from_start;
        s.end_mask[i] = list[i].to_end;
        s.squeeze[i] = list[i].squeeze;
        strided = strided || s.stride[i] != 1;
    }
    mw__build_ints(build, "begin", s.begin, (size_t)rank);
    mw__build_ints(build, "end", s.end, (size_t)rank);
    if (strided)
        mw__build_ints(build, "stride", s.stride, (size_t)rank);
    set_mask(build, "begin_mask", s.begin_mask, rank);
    set_mask(build, "end_mask", s.end_mask, rank);
    set_mask(build, "squeeze_mask", s.squeeze, rank);
}

mw_tensor *mw_slice_by_index(mw_tensor *x, const mw_slice *list)
{
    const int rank = mw_tensor_shape(x).rank;
    if (x != NULL && list == NULL && rank > 0)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "slice_by_index: slices is NULL");
    mw__build build = mw__build_begin("slice_by_index", x);
    mw__build_set(&build, "x", x);
    set_slices(&build, list, rank);
    return mw__build_end(&build);
}

/* ---- slice_update ---- */

/* One axis of the part against one of update. What is not known before the run must still fit somewhere. */
static mw_status check_update(const mw__infer *infer, const slices *s, int axis, int64_t extent, int64_t update)
{
    const int64_t wanted = count_slice(s, axis, extent),
                  step = s->stride[axis] < 0 ? -s->stride[axis] : s->stride[axis];
    if (!mw__dim_fits(wanted, update))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the slice has %" PRId64 " elements along axis %d, update %" PRId64,
                             wanted, axis, update);
    if (wanted < 0 && extent >= 0 && update > 0 && (update - 1 >= extent || (update - 1) * step >= extent))
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "%" PRId64 " elements %" PRId64 " apart exceed the extent %" PRId64 " of axis %d", update,
                             step, extent, axis);
    return MW_OK;
}

mw_status mw__shape_slice_update(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x"), update = mw__rule_shape(infer, "update");
    slices s;
    char text[240];
    int rank = 0;
    if (update.rank == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "update is a scalar; use expand_dims and a slice that is not squeezed");
    MW_TRY(read_slices(infer, x.rank, &s));
    for (int i = 0; i < x.rank; i++)
        rank += !s.squeeze[i];
    if (rank != update.rank)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the slice has rank %d, but %s", rank,
                             mw__arg_print(infer->op, "update", text, sizeof text));
    for (int i = 0, from = 0; i < x.rank; i++) {
        MW_TRY(check_slice(infer, &s, i, x.dim[i]));
        if (!s.squeeze[i])
            MW_TRY(check_update(infer, &s, i, x.dim[i], update.dim[from++]));
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), x);
}

mw_tensor *mw_slice_update(mw_tensor *x, mw_tensor *update, const mw_slice *list)
{
    const int rank = mw_tensor_shape(x).rank;
    if (x != NULL && list == NULL && rank > 0)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "slice_update: slices is NULL");
    mw__build build = mw__build_begin("slice_update", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "update", update);
    set_slices(&build, list, rank);
    return mw__build_end(&build);
}

/* A begin that happens to be constant, clamped as one that is computed; false if that is not known. */
static bool clamp_begin(const mw_tensor *x, const mw_tensor *begin, const int64_t *size, int64_t out[MW_RANK_MAX])
{
    const mw_shape shape = mw_tensor_shape(x);
    const mw__payload *payload = begin != NULL ? begin->payload : NULL;
    if (payload == NULL || payload->data == NULL || !mw__arg_type_holds(MW__INT, mw_tensor_dtype(begin)) ||
        mw__payload_count(payload) != (size_t)shape.rank)
        return false;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] < 0 || size[i] < 0 || size[i] > shape.dim[i])
            return false;
        const int64_t at = mw__payload_int(payload, (size_t)i);
        out[i] = mw__i64_clamp(at < 0 ? at + shape.dim[i] : at, 0, shape.dim[i] - size[i]);
    }
    return true;
}

mw_tensor *mw_slice_update_at(mw_tensor *x, mw_tensor *update, mw_tensor *begin)
{
    const mw_shape shape = mw_tensor_shape(update);
    if (x == NULL || update == NULL || begin == NULL)
        return NULL;
    if (shape.rank != mw_tensor_shape(x).rank || (shape.rank > 0 && mw_shape_count(shape) < 0))
        return mw__graph_fail(x->graph, MW_ERROR_SHAPE,
                              "slice_update: update has rank %d where x has rank %d, or extents that are not known",
                              shape.rank, mw_tensor_shape(x).rank);
    int64_t first[MW_RANK_MAX];
    if (clamp_begin(x, begin, shape.dim, first)) {
        mw_slice list[MW_RANK_MAX] = {0};
        for (int i = 0; i < shape.rank; i++)
            list[i] = (mw_slice){.begin = first[i], .end = first[i] + shape.dim[i]};
        return mw_slice_update(x, update, list);
    }
    int32_t sizes[MW_RANK_MAX] = {0};
    for (int i = 0; i < shape.rank; i++)
        sizes[i] = (int32_t)(shape.dim[i] > INT32_MAX ? INT32_MAX : shape.dim[i]);
    mw_tensor *end = mw_add(begin, mw__constant(x->graph, MW_I32, MW_SHAPE(shape.rank), sizes, "size"));
    mw__build build = mw__build_begin("slice_update", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "update", update);
    mw__build_set(&build, "begin", begin);
    mw__build_set(&build, "end", end);
    return mw__build_end(&build);
}

/* ---- slice_by_size ---- */

/* One axis; *out is its extent in the result. */
static mw_status size_of_part(const mw__infer *infer, int axis, int64_t extent, bool begin_known, int64_t begin,
                              int64_t size, int64_t *out)
{
    if (size < -1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "size[%d] is %" PRId64 ", only -1 may be negative", axis, size);
    *out = size == -1 ? MW_DIM_UNKNOWN : size;
    if (extent < 0)
        return MW_OK;
    if (!begin_known) {
        if (size > extent)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "size[%d] %" PRId64 " exceeds the extent %" PRId64, axis, size,
                                 extent);
        return MW_OK;
    }
    const int64_t start = begin < 0 ? begin + extent : begin;
    if (start < 0 || start > extent || (size != -1 && size > extent - start))
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "axis %d: %" PRId64 " elements from %" PRId64 " leave the extent %" PRId64, axis, size,
                             begin, extent);
    if (size == -1)
        *out = extent - start;
    return MW_OK;
}

mw_status mw__shape_slice_by_size(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    int64_t begin[MW_RANK_MAX] = {0}, size[MW_RANK_MAX] = {0};
    bool begin_known, size_known;
    mw_shape shape = {.rank = x.rank};
    MW_TRY(read_vector(infer, "begin", x.rank, begin, &begin_known));
    MW_TRY(read_vector(infer, "size", x.rank, size, &size_known));
    for (int i = 0; i < x.rank; i++) {
        shape.dim[i] = MW_DIM_UNKNOWN;
        if (size_known)
            MW_TRY(size_of_part(infer, i, x.dim[i], begin_known, begin[i], size[i], &shape.dim[i]));
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_slice_by_size(mw_tensor *x, const int64_t *begin, const int64_t *size)
{
    const int rank = mw_tensor_shape(x).rank;
    if (x != NULL && (begin == NULL || size == NULL) && rank > 0)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "slice_by_size: begin or size is NULL");
    mw__build build = mw__build_begin("slice_by_size", x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "begin", begin, (size_t)rank);
    mw__build_ints(&build, "size", size, (size_t)rank);
    return mw__build_end(&build);
}

mw_tensor *mw_slice_by_size_at(mw_tensor *x, mw_tensor *begin, const int64_t *size)
{
    const int rank = mw_tensor_shape(x).rank;
    if (x != NULL && size == NULL && rank > 0)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "slice_by_size: size is NULL");
    int64_t first[MW_RANK_MAX];
    if (x != NULL && rank > 0 && clamp_begin(x, begin, size, first))
        return mw_slice_by_size(x, first, size);
    mw__build build = mw__build_begin("slice_by_size", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "begin", begin);
    mw__build_ints(&build, "size", size, (size_t)rank);
    return mw__build_end(&build);
}

/* ---- tile ---- */

mw_status mw__shape_tile(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    int64_t reps[MW_RANK_MAX];
    bool known;
    MW_TRY(read_vector(infer, "reps", shape.rank, reps, &known));
    for (int i = 0; i < shape.rank; i++) {
        if (!known) {
            shape.dim[i] = MW_DIM_UNKNOWN;
            continue;
        }
        if (reps[i] < 1)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "reps[%d] %" PRId64 " must be positive", i, reps[i]);
        if (shape.dim[i] >= 0 && !mw__mul_i64(shape.dim[i], reps[i], &shape.dim[i]))
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "the extent of axis %d exceeds 2^63", i);
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_tile(mw_tensor *x, mw_shape reps)
{
    mw__build build = mw__build_begin("tile", x);
    mw__build_set(&build, "x", x);
    mw__build_shape(&build, "reps", reps);
    return mw__build_end(&build);
}

/* ---- pad ---- */

static const char *const pad_modes[] = {
    [MW_PAD_CONSTANT] = "constant", [MW_PAD_REFLECT] = "reflect", [MW_PAD_REPLICATE] = "replicate"};
#define PAD_MODES (sizeof pad_modes / sizeof pad_modes[0])

static mw_status read_mode(const mw__infer *infer, mw_pad_mode *out)
{
    const char *mode = mw__arg_string(infer->op, "mode");
    for (size_t i = 0; mode != NULL && i < PAD_MODES; i++) {
        if (strcmp(mode, pad_modes[i]) == 0) {
            *out = (mw_pad_mode)i;
            return MW_OK;
        }
    }
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "mode \"%s\" is none of constant, reflect, replicate",
                         mode != NULL ? mode : "");
}

/* One side of one axis. The limits are those of coremltools' pad. */
static mw_status check_pad(const mw__infer *infer, int axis, int64_t extent, int64_t pad, mw_pad_mode mode)
{
    if (pad < 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "axis %d: pad %" PRId64 " is negative; use a slice", axis, pad);
    if (extent < 0 || mode == MW_PAD_CONSTANT || pad == 0)
        return MW_OK;
    const int64_t most = mode == MW_PAD_REFLECT ? extent - 1 : extent;
    if (pad > most)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "axis %d: pad %" PRId64 " exceeds %" PRId64
                             ", the most that %s can do with extent %" PRId64,
                             axis, pad, most, pad_modes[mode], extent);
    return MW_OK;
}

mw_status mw__shape_pad(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    int64_t pad[2 * MW_RANK_MAX];
    double value;
    mw_pad_mode mode = MW_PAD_CONSTANT;
    size_t count;
    bool known;
    MW_TRY(read_mode(infer, &mode));
    if (!mw__arg_float(infer->op, "constant_val", &value))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "constant_val must be a constant scalar");
    MW_TRY(mw__rule_ints(infer, "pad", pad, 2 * MW_RANK_MAX, &count, &known));
    if (count % 2 != 0 || count > 2 * (size_t)shape.rank || (!known && count != 2 * (size_t)shape.rank))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "pad has %zu numbers for rank %d: two per axis are wanted%s",
                             count, shape.rank, known ? "" : ", for every axis as they are computed");
    const int first = shape.rank - (int)(count / 2);
    for (size_t i = 0; i < count; i++) {
        const int axis = first + (int)(i / 2);
        if (known)
            MW_TRY(check_pad(infer, axis, mw__rule_shape(infer, "x").dim[axis], pad[i], mode));
        if (!known)
            shape.dim[axis] = MW_DIM_UNKNOWN;
        else if (shape.dim[axis] >= 0 && !mw__add_i64(shape.dim[axis], pad[i], &shape.dim[axis]))
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "the extent of axis %d exceeds 2^63", axis);
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_pad(mw_tensor *x, const int64_t *pad, int axes, mw_pad_mode mode, float value)
{
    MW__FLOAT_SCOPE;
    if (x == NULL)
        return NULL;
    if ((unsigned)mode >= PAD_MODES)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "pad: mode %d is no mw_pad_mode", (int)mode);
    if (pad == NULL || axes < 1 || axes > mw_tensor_shape(x).rank)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "pad: %d axes is outside [1, %d], or pad is NULL", axes,
                              mw_tensor_shape(x).rank);
    mw__build build = mw__build_begin("pad", x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "pad", pad, 2 * (size_t)axes);
    mw__build_string(&build, "mode", pad_modes[mode]);
    mw__build_float(&build, "constant_val", (double)value);
    return mw__build_end(&build);
}
