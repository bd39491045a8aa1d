/* Resizing and cropping of images: shape rules and constructors of ops/image.def. The sampling is in resample.c. */
#include <millwright/ops/image.h>

#include "base/number/float_mode.h"
#include "graph/geometry/resample.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>

/* ---- shape rules ---- */

mw_status mw__shape_resample(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    mw__resample axes[2];
    MW_TRY(mw__resample_read(infer->op, shape, axes, infer->err));
    int64_t resized = 2;
    if (mw__row_arg(infer->op->row, "resized_dims") != NULL)
        MW_TRY(mw__rule_int(infer, "resized_dims", &resized));
    for (int i = 2 - (int)resized; i < 2; i++)
        shape.dim[shape.rank - 2 + i] = axes[i].out;
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* crop[0] elements go at the start of the axis, crop[1] at its end. */
static mw_status crop_axis(const mw__infer *infer, const char *arg, int64_t *extent)
{
    int64_t crop[2];
    size_t count;
    bool known;
    MW_TRY(mw__rule_ints(infer, arg, crop, 2, &count, &known));
    if (count != 2)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be [before, after]", arg);
    if (crop[0] < 0 || crop[1] < 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s [%" PRId64 ", %" PRId64 "] must not be negative", arg,
                             crop[0], crop[1]);
    if (*extent == MW_DIM_UNKNOWN)
        return MW_OK;
    if (crop[0] + crop[1] >= *extent)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "%s [%" PRId64 ", %" PRId64 "] leaves nothing of the extent %" PRId64, arg, crop[0],
                             crop[1], *extent);
    *extent -= crop[0] + crop[1];
    return MW_OK;
}

mw_status mw__shape_crop(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    if (shape.rank != 4)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "x must be [N, C, H, W], not of rank %d", shape.rank);
    MW_TRY(crop_axis(infer, "crop_height", &shape.dim[2]));
    MW_TRY(crop_axis(infer, "crop_width", &shape.dim[3]));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* ---- constructors ---- */

/* An integral factor as an integer, which is what converters write; infinities are refused by the shape rule. */
static void build_factor(mw__build *build, const char *arg, float factor)
{
    const bool whole = factor == floorf(factor) && fabsf(factor) < 1e6f;
    mw__build_scalar(build, arg, whole ? MW_I32 : MW_F32, (double)factor);
}

mw_tensor *mw_upsample_nearest_neighbor(mw_tensor *x, float scale_height, float scale_width)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("upsample_nearest_neighbor", x);
    mw__build_set(&build, "x", x);
    build_factor(&build, "scale_factor_height", scale_height);
    build_factor(&build, "scale_factor_width", scale_width);
    return mw__build_end(&build);
}

mw_tensor *mw_upsample_bilinear(mw_tensor *x, float scale_height, float scale_width, bool align_corners)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("upsample_bilinear", x);
    mw__build_set(&build, "x", x);
    mw__build_scalar(&build, "scale_factor_height", MW_F32, (double)scale_height);
    mw__build_scalar(&build, "scale_factor_width", MW_F32, (double)scale_width);
    mw__build_bool(&build, "align_corners", align_corners);
    return mw__build_end(&build);
}

mw_tensor *mw_resize_nearest_neighbor(mw_tensor *x, int64_t height, int64_t width)
{
    mw__build build = mw__build_begin("resize_nearest_neighbor", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "target_size_height", height);
    mw__build_int(&build, "target_size_width", width);
    return mw__build_end(&build);
}

static mw_tensor *fail_mode(mw_tensor *x, const char *operation, const char *type, int mode)
{
    return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: %d is no %s", operation, mode, type);
}

mw_tensor *mw_resize_bilinear(mw_tensor *x, int64_t height, int64_t width, mw_sampling_mode sampling)
{
    MW__FLOAT_SCOPE;
    if (x != NULL && mw__sampling_name(sampling) == NULL)
        return fail_mode(x, "resize_bilinear", "mw_sampling_mode", (int)sampling);
    mw__build build = mw__build_begin("resize_bilinear", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "target_size_height", height);
    mw__build_int(&build, "target_size_width", width);
    mw__build_string(&build, "sampling_mode", mw__sampling_name(sampling));
    return mw__build_end(&build);
}

mw_tensor *mw_resize(mw_tensor *x, int64_t height, int64_t width, mw_interpolation_mode interpolation,
                     mw_sampling_mode sampling)
{
    MW__FLOAT_SCOPE;
    if (x != NULL && mw__sampling_name(sampling) == NULL)
        return fail_mode(x, "resize", "mw_sampling_mode", (int)sampling);
    if (x != NULL && mw__interpolation_name(interpolation) == NULL)
        return fail_mode(x, "resize", "mw_interpolation_mode", (int)interpolation);
    const uint32_t resized = 2;
    mw__build build = mw__build_begin("resize", x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "shape", (const int64_t[]){height, width}, 2);
    if (x != NULL)
        mw__build_set(&build, "resized_dims", mw_constant(x->graph, MW_U32, mw_shape_scalar(), &resized));
    mw__build_string(&build, "interpolation_mode", mw__interpolation_name(interpolation));
    mw__build_string(&build, "sampling_mode", mw__sampling_name(sampling));
    return mw__build_end(&build);
}

mw_tensor *mw_crop(mw_tensor *x, int64_t top, int64_t bottom, int64_t left, int64_t right)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("crop", x);
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "crop_height", (const int64_t[]){top, bottom}, 2);
    mw__build_ints(&build, "crop_width", (const int64_t[]){left, right}, 2);
    return mw__build_end(&build);
}
