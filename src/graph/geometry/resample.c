/* Sampling of images: reading the arguments and the five grids of coremltools' resize_bilinear. */
#include "graph/geometry/resample.h"

#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const samplings[] = {
    [MW_SAMPLING_DEFAULT] = "DEFAULT",
    [MW_SAMPLING_STRICT_ALIGN_CORNERS] = "STRICT_ALIGN_CORNERS",
    [MW_SAMPLING_ALIGN_CORNERS] = "ALIGN_CORNERS",
    [MW_SAMPLING_UNALIGN_CORNERS] = "UNALIGN_CORNERS",
    [MW_SAMPLING_OFFSET_CORNERS] = "OFFSET_CORNERS",
};
static const char *const interpolations[] = {
    [MW_INTERPOLATION_LINEAR] = "LINEAR",
    [MW_INTERPOLATION_NEAREST] = "NEAREST_NEIGHBOR",
};
#define COUNT(names) (sizeof(names) / sizeof(names)[0])

const char *mw__sampling_name(mw_sampling_mode mode)
{
    return (unsigned)mode < COUNT(samplings) ? samplings[mode] : NULL;
}

const char *mw__interpolation_name(mw_interpolation_mode mode)
{
    return (unsigned)mode < COUNT(interpolations) ? interpolations[mode] : NULL;
}

/* ---- arguments ---- */

static bool has(const mw__infer *infer, const char *arg) { return mw__row_arg(infer->op->row, arg) != NULL; }

static mw_status read_sampling(const mw__infer *infer, mw_sampling_mode *out)
{
    const char *text = mw__arg_string(infer->op, "sampling_mode");
    for (size_t i = 0; text != NULL && i < COUNT(samplings); i++) {
        if (strcmp(text, samplings[i]) == 0) {
            *out = (mw_sampling_mode)i;
            return MW_OK;
        }
    }
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                         "sampling_mode \"%s\" is none of DEFAULT, STRICT_ALIGN_CORNERS, ALIGN_CORNERS, "
                         "UNALIGN_CORNERS, OFFSET_CORNERS",
                         text != NULL ? text : "");
}

/* align_corners, and from ios16 on half_pixel_centers, which is its opposite unless given. Neither is TensorFlow's old
 * convention, i in / out. */
static mw_status read_corners(const mw__infer *infer, mw_sampling_mode *out)
{
    bool align, half;
    MW_TRY(mw__rule_bool(infer, "align_corners", &align));
    half = !align;
    if (has(infer, "half_pixel_centers") && mw__arg_present(infer->op, "half_pixel_centers"))
        MW_TRY(mw__rule_bool(infer, "half_pixel_centers", &half));
    if (align && half)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "align_corners and half_pixel_centers exclude each other");
    *out = align ? MW_SAMPLING_STRICT_ALIGN_CORNERS : half ? MW_SAMPLING_UNALIGN_CORNERS : MW_SAMPLING_DEFAULT;
    return MW_OK;
}

static mw_status read_interpolation(const mw__infer *infer, bool *out_nearest)
{
    const char *text = mw__arg_string(infer->op, "interpolation_mode");
    *out_nearest = text != NULL && strcmp(text, interpolations[MW_INTERPOLATION_NEAREST]) == 0;
    if (!*out_nearest && (text == NULL || strcmp(text, interpolations[MW_INTERPOLATION_LINEAR]) != 0))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "interpolation_mode \"%s\" is neither LINEAR nor NEAREST_NEIGHBOR",
                             text != NULL ? text : "");
    return MW_OK;
}

static mw_status read_mode(const mw__infer *infer, mw_sampling_mode *out, bool *out_nearest)
{
    *out = MW_SAMPLING_DEFAULT;
    const mw__op_id id = infer->op->row->id;
    *out_nearest = id == MW__OP_upsample_nearest_neighbor || id == MW__OP_resize_nearest_neighbor;
    if (has(infer, "interpolation_mode"))
        MW_TRY(read_interpolation(infer, out_nearest));
    if (has(infer, "align_corners"))
        return read_corners(infer, out);
    if (has(infer, "sampling_mode"))
        MW_TRY(read_sampling(infer, out));
    /* The nearest under DEFAULT of `resize` is that of centers: coremltools writes it for TensorFlow's
     * half_pixel_centers, and its test test_resize_nearest_neighbor makes [a, b, b] of [a, b]. */
    if (has(infer, "interpolation_mode") && *out_nearest && *out == MW_SAMPLING_DEFAULT)
        *out = MW_SAMPLING_UNALIGN_CORNERS;
    return MW_OK;
}

/* ---- extents ---- */

static mw_status check_extent(const mw__infer *infer, const char *what, int64_t extent)
{
    return extent >= 1 && extent <= INT32_MAX
               ? MW_OK
               : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s is %" PRId64 ", it must be at least 1", what, extent);
}

/* out = floor(in factor). The factor does no more than that: positions follow from the extents, as
 * upsample_bilinear's documentation says ("the scale factor is recomputed by the output size"). */
static mw_status read_factor(const mw__infer *infer, const char *arg, mw__resample *axis)
{
    const mw_dtype dtype = mw__rule_dtype(infer, arg); /* NONE if it is left out */
    double factor;
    if (dtype != MW_DTYPE_NONE && dtype != MW_F32 && dtype != MW_F16 && dtype != MW_I32)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is %s, not fp16, fp32 or int32", arg, mw_dtype_name(dtype));
    if (!mw__arg_float(infer->op, arg, &factor) || !(factor > 0.0) || !(factor <= INT32_MAX))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one constant positive number", arg);
    axis->out = MW_DIM_UNKNOWN;
    if (axis->in == MW_DIM_UNKNOWN)
        return MW_OK;
    const double out = floor((double)axis->in * factor);
    if (!(out >= 1.0 && out <= INT32_MAX))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s %g makes an extent of %" PRId64 " empty or too large", arg,
                             factor, axis->in);
    axis->out = (int64_t)out;
    return MW_OK;
}

/* The last resized_dims elements of `shape` are extents of the result; the others do not matter. */
static mw_status read_shape(const mw__infer *infer, mw_shape x, mw__resample axes[2])
{
    int64_t shape[MW_RANK_MAX], resized;
    size_t count;
    bool known;
    MW_TRY(mw__rule_int(infer, "resized_dims", &resized));
    MW_TRY(mw__rule_ints(infer, "shape", shape, MW_RANK_MAX, &count, &known));
    if (resized < 1 || resized > 2)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "resized_dims %" PRId64 " must be 1 or 2", resized);
    if (resized > x.rank || (size_t)resized > count)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "resized_dims %" PRId64 " is above the rank %d of x or the %zu elements of shape", resized,
                             x.rank, count);
    for (int i = 2 - (int)resized; i < 2; i++) {
        const int64_t extent = known ? shape[count - 2 + (size_t)i] : MW_DIM_UNKNOWN;
        axes[i].out = extent == 0 ? axes[i].in : extent; /* MIL: 0 is inferred from x */
        if (known && extent != 0)
            MW_TRY(check_extent(infer, "an element of shape", extent));
    }
    if (resized == 1)
        axes[0].in = axes[0].out = 1;
    return MW_OK;
}

static mw_status read_extents(const mw__infer *infer, mw_shape x, mw__resample axes[2])
{
    static const char *const targets[] = {"target_size_height", "target_size_width"};
    static const char *const factors[] = {"scale_factor_height", "scale_factor_width"};
    if (has(infer, "shape"))
        return read_shape(infer, x, axes);
    if (x.rank < 3)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x must be [.., C, H, W], not of rank %d; expand_dims can add axes",
                             x.rank);
    for (int i = 0; i < 2; i++) {
        if (!has(infer, targets[i])) {
            MW_TRY(read_factor(infer, factors[i], &axes[i]));
            continue;
        }
        MW_TRY(mw__rule_int(infer, targets[i], &axes[i].out));
        MW_TRY(check_extent(infer, targets[i], axes[i].out));
    }
    return MW_OK;
}

mw_status mw__resample_read(const mw__op *op, mw_shape x, mw__resample out[2], mw_error *err)
{
    const mw__infer infer = {.op = op, .err = err};
    mw_sampling_mode sampling;
    bool nearest;
    MW_TRY(read_mode(&infer, &sampling, &nearest));
    for (int i = 0; i < 2; i++) {
        const int axis = x.rank - 2 + i;
        out[i] = (mw__resample){.in = axis >= 0 ? x.dim[axis] : 1, .sampling = sampling, .nearest = nearest};
        if (out[i].in == 0)
            return mw__rule_fail(&infer, MW_ERROR_SHAPE, "axis %d of x is empty: there is nothing to sample", axis);
    }
    return read_extents(&infer, x, out);
}

mw_status mw__resample_plan(const mw__op *op, mw_shape x, mw__resample out[2], mw_error *err)
{
    MW_TRY(mw__resample_read(op, x, out, err));
    const mw_shape declared = mw_tensor_shape(op->results[0]);
    for (int i = 0; i < 2; i++)
        if (out[i].out == MW_DIM_UNKNOWN)
            out[i].out = declared.dim[declared.rank - 2 + i];
    return MW_OK;
}

/* ---- positions ---- */

/* Where element i stands between the elements of x, before it is clamped to [0, in - 1]. */
static double position(const mw__resample *axis, int64_t i)
{
    const double in = (double)axis->in, out = (double)axis->out, at = (double)i;
    switch (axis->sampling) {
    case MW_SAMPLING_STRICT_ALIGN_CORNERS:
        return axis->out == 1 ? 0.0 : at * (in - 1.0) / (out - 1.0);
    case MW_SAMPLING_ALIGN_CORNERS:
        return axis->out == 1 ? (in - 1.0) / 2.0 : at * (in - 1.0) / (out - 1.0);
    case MW_SAMPLING_UNALIGN_CORNERS:
        return (at + 0.5) * in / out - 0.5;
    case MW_SAMPLING_OFFSET_CORNERS:
        return (at + 0.5) * (axis->in > 2 ? in - 1.0 : 1.0) / out;
    default: /* MIL's spacing (in - in / out) / (out - 1) is in / out */
        return at * in / out;
    }
}

mw__tap mw__resample_tap(const mw__resample *axis, int64_t i)
{
    double at = position(axis, i);
    if (axis->nearest)
        at = floor(axis->sampling == MW_SAMPLING_DEFAULT ? at : at + 0.5);
    const double last = (double)(axis->in - 1), clamped = at < 0.0 ? 0.0 : at > last ? last : at;
    const double low = floor(clamped);
    mw__tap tap = {.low = (int64_t)low, .high = (int64_t)low, .weight = clamped - low};
    if (tap.weight > 0.0)
        tap.high++;
    return tap;
}
