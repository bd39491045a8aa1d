/* Images sampled at places: shape rules and constructors of ops/sample.def. What they mean is read in sample.c. */
#include <millwright/ops/sample.h>

#include "base/number/float_mode.h"
#include "graph/geometry/resample.h"
#include "graph/geometry/sampling.h"
#include "graph/ir/rule.h"

/* ---- shape rules ---- */

static mw_status result(mw__infer *infer, const mw__sample *s)
{
    const mw_shape shape =
        s->kind == MW__SAMPLE_BOXES && mw__row_arg(infer->op->row, "roi") != NULL
            ? MW_SHAPE(s->planes, s->each ? s->images : 1, s->channels, s->axis[0].out, s->axis[1].out)
            : MW_SHAPE(s->count, s->channels, s->axis[0].out, s->axis[1].out);
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_status mw__shape_resample_at(mw__infer *infer)
{
    mw__sample sample;
    MW_TRY(mw__sample_read(infer->op, &sample, infer->err));
    return result(infer, &sample);
}

mw_status mw__shape_affine(mw__infer *infer) { return mw__shape_resample_at(infer); }

mw_status mw__shape_crop_resize(mw__infer *infer) { return mw__shape_resample_at(infer); }

/* ---- constructors ---- */

mw_resample_options mw_resample_defaults(void)
{
    return (mw_resample_options){.struct_size = sizeof(mw_resample_options)};
}

mw_crop_resize_options mw_crop_resize_defaults(void)
{
    return (mw_crop_resize_options){.struct_size = sizeof(mw_crop_resize_options), .spatial_scale = 1.0f};
}

mw_tensor *mw_resample(mw_tensor *x, mw_tensor *coordinates, const mw_resample_options *options)
{
    MW__FLOAT_SCOPE;
    if (x == NULL)
        return NULL;
    if (options != NULL && options->struct_size != sizeof *options)
        return mw__build_refuse(x, "resample", "options are not made by mw_resample_defaults");
    const mw_resample_options o = options != NULL ? *options : mw_resample_defaults();
    if (o.interpolation != MW_INTERPOLATION_LINEAR && o.interpolation != MW_INTERPOLATION_NEAREST)
        return mw__build_refuse(x, "resample", "interpolation is no mw_interpolation_mode");
    if (mw__border_name(o.border) == NULL)
        return mw__build_refuse(x, "resample", "border is no mw_border");
    if (mw__coordinates_name(o.coordinates) == NULL)
        return mw__build_refuse(x, "resample", "coordinates is no mw_coordinates");
    mw__build build = mw__build_begin("resample", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "coordinates", coordinates);
    mw__build_string(&build, "sampling_mode", mw__nearest_name(o.interpolation == MW_INTERPOLATION_NEAREST));
    mw__build_string(&build, "padding_mode", mw__border_name(o.border));
    mw__build_float(&build, "padding_value", (double)o.value);
    mw__build_string(&build, "coordinates_mode", mw__coordinates_name(o.coordinates));
    mw__build_bool(&build, "align_corners", o.align_corners);
    return mw__build_end(&build);
}

mw_tensor *mw_affine(mw_tensor *x, mw_tensor *transform_matrix, int64_t height, int64_t width, bool align_corners)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("affine", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "transform_matrix", transform_matrix);
    mw__build_int(&build, "output_height", height);
    mw__build_int(&build, "output_width", width);
    mw__build_string(&build, "sampling_mode", mw__nearest_name(false));
    mw__build_string(&build, "padding_mode", mw__border_name(MW_BORDER_CONSTANT));
    mw__build_float(&build, "padding_value", 0.0);
    mw__build_string(&build, "coordinates_mode", mw__coordinates_name(MW_COORDINATES_MINUS_ONE_TO_ONE));
    mw__build_bool(&build, "align_corners", align_corners);
    return mw__build_end(&build);
}

mw_tensor *mw_crop_resize(mw_tensor *x, mw_tensor *boxes, mw_tensor *indices, int64_t height, int64_t width,
                          const mw_crop_resize_options *options)
{
    MW__FLOAT_SCOPE;
    if (x == NULL)
        return NULL;
    if (options != NULL && options->struct_size != sizeof *options)
        return mw__build_refuse(x, "crop_resize", "options are not made by mw_crop_resize_defaults");
    const mw_crop_resize_options o = options != NULL ? *options : mw_crop_resize_defaults();
    if (mw__box_name(o.box) == NULL)
        return mw__build_refuse(x, "crop_resize", "box is no mw_box");
    if (mw__sampling_name(o.sampling) == NULL)
        return mw__build_refuse(x, "crop_resize", "sampling is no mw_sampling_mode");
    mw__build build = mw__build_begin("crop_resize", x);
    if (build.row != NULL && mw__row_arg(build.row, "boxes") == NULL)
        return mw__build_refuse(x, "crop_resize", "boxes need ios17; before, mw_op builds it with roi [R, 1, 4, 1, 1]");
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "boxes", boxes);
    if (indices != NULL)
        mw__build_set(&build, "box_indices", indices);
    mw__build_int(&build, "target_height", height);
    mw__build_int(&build, "target_width", width);
    mw__build_string(&build, "box_coordinate_mode", mw__box_name(o.box));
    mw__build_bool(&build, "normalized_coordinates", o.normalized);
    mw__build_scalar(&build, "spatial_scale", MW_F32, (double)o.spatial_scale);
    mw__build_string(&build, "sampling_mode", mw__sampling_name(o.sampling));
    mw__build_float(&build, "pad_value", (double)o.pad_value);
    return mw__build_end(&build);
}
