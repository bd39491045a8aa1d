/* Cases of ops/sample.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

static mw_tensor *resampled(mw_tensor *const *in, mw_interpolation_mode interpolation, mw_border border,
                            mw_coordinates coordinates, bool align)
{
    mw_resample_options options = mw_resample_defaults();
    options.interpolation = interpolation, options.border = border, options.value = 0.75f;
    options.coordinates = coordinates, options.align_corners = align;
    return mw_resample(in[0], in[1], &options);
}

static mw_tensor *cropped(mw_tensor *const *in, mw_tensor *indices, mw_box box, mw_sampling_mode sampling,
                          bool normalized)
{
    mw_crop_resize_options options = mw_crop_resize_defaults();
    options.box = box, options.sampling = sampling, options.normalized = normalized;
    options.pad_value = 0.5f, options.spatial_scale = normalized ? 1.0f : 0.75f;
    return mw_crop_resize(in[0], in[1], indices, 3, 2, &options);
}

static mw_tensor *one_each(mw_tensor *x)
{
    const int32_t indices[] = {2, 0, 1, 2, 7};
    return mw_constant(mw_tensor_graph(x), MW_I32, MW_SHAPE(5), indices);
}

/* clang-format off */
BUILD(defaults, mw_resample(in[0], in[1], NULL))
BUILD(constant, resampled(in, MW_INTERPOLATION_LINEAR, MW_BORDER_CONSTANT, MW_COORDINATES_MINUS_ONE_TO_ONE, true))
BUILD(border, resampled(in, MW_INTERPOLATION_LINEAR, MW_BORDER_NEAREST, MW_COORDINATES_ZERO_TO_ONE, true))
BUILD(reflect, resampled(in, MW_INTERPOLATION_LINEAR, MW_BORDER_REFLECT, MW_COORDINATES_MINUS_ONE_TO_ONE, false))
BUILD(symmetric, resampled(in, MW_INTERPOLATION_LINEAR, MW_BORDER_SYMMETRIC, MW_COORDINATES_ZERO_TO_ONE, false))
BUILD(pixels, resampled(in, MW_INTERPOLATION_LINEAR, MW_BORDER_SYMMETRIC, MW_COORDINATES_PIXELS, false))
BUILD(near_constant, resampled(in, MW_INTERPOLATION_NEAREST, MW_BORDER_CONSTANT, MW_COORDINATES_PIXELS, true))
BUILD(near_border, resampled(in, MW_INTERPOLATION_NEAREST, MW_BORDER_NEAREST, MW_COORDINATES_PIXELS, false))
BUILD(near_reflect, resampled(in, MW_INTERPOLATION_NEAREST, MW_BORDER_REFLECT, MW_COORDINATES_PIXELS, false))
BUILD(affine, mw_affine(in[0], in[1], 4, 3, true))
BUILD(affine_edges, mw_affine(in[0], in[1], 3, 5, false))
BUILD(affine_one, mw_affine(in[0], in[1], 1, 1, true))
BUILD(crop_default, mw_crop_resize(in[0], in[1], one_each(in[0]), 2, 3, NULL))
BUILD(crop_own, cropped(in, NULL, MW_BOX_CORNERS_HEIGHT_FIRST, MW_SAMPLING_ALIGN_CORNERS, false))
BUILD(crop_strict, cropped(in, one_each(in[0]), MW_BOX_CORNERS_WIDTH_FIRST, MW_SAMPLING_STRICT_ALIGN_CORNERS, true))
BUILD(crop_unalign, cropped(in, one_each(in[0]), MW_BOX_CENTER_SIZE_HEIGHT_FIRST, MW_SAMPLING_UNALIGN_CORNERS, true))
BUILD(crop_turned, cropped(in, one_each(in[0]), MW_BOX_CORNERS_HEIGHT_FIRST, MW_SAMPLING_UNALIGN_CORNERS, true))
BUILD(crop_offset, cropped(in, one_each(in[0]), MW_BOX_CENTER_SIZE_WIDTH_FIRST, MW_SAMPLING_OFFSET_CORNERS, false))
BUILD(crop_given, mw_crop_resize(in[0], in[1], in[2], 2, 2, NULL))

#define IMAGES F(4, -2, 2, 2, 3, 4, 5)
#define THREE F(4, -2, 2, 3, 2, 5, 4)

static const op_case rows[] = {
    EXACT("resample", "defaults", b_defaults, IMAGES, F(4, -1.5, 1.5, 2, 3, 2, 2)),
    EXACT("resample", "constant", b_constant, IMAGES, F(4, -1.5, 1.5, 2, 3, 4, 2)),
    EXACT("resample", "border", b_border, IMAGES, F(4, -0.5, 1.5, 2, 2, 4, 2)),
    EXACT("resample", "reflection", b_reflect, IMAGES, F(4, -5, 5, 2, 3, 4, 2)),
    EXACT("resample", "symmetric", b_symmetric, IMAGES, F(4, -3, 3, 2, 3, 4, 2)),
    EXACT("resample", "symmetric, one row", b_symmetric, F(4, -2, 2, 1, 2, 1, 5), F(4, -3, 3, 1, 3, 4, 2)),
    EXACT("resample", "reflection, one column", b_reflect, F(4, -2, 2, 1, 2, 5, 1), F(4, -3, 3, 1, 3, 4, 2)),
    EXACT("resample", "pixels of integers", b_pixels, IMAGES, I(4, -6, 9, 2, 3, 4, 2)),
    EXACT("resample", "nearest, constant", b_near_constant, IMAGES, F(4, -2, 6, 2, 3, 4, 2)),
    EXACT("resample", "nearest, border", b_near_border, IMAGES, F(4, -2, 6, 2, 3, 4, 2)),
    EXACT("resample", "nearest, reflection", b_near_reflect, IMAGES, F(4, -9, 9, 2, 3, 4, 2)),
    EXACT("affine", "", b_affine, IMAGES, F(2, -0.8, 0.8, 2, 6)),
    EXACT("affine", "one matrix", b_affine_edges, IMAGES, F(2, -0.8, 0.8, 1, 6)),
    EXACT("affine", "one element", b_affine_one, IMAGES, F(2, -0.8, 0.8, 2, 6)),
    EXACT("crop_resize", "defaults", b_crop_default, THREE, F(2, 0, 3, 5, 4)),
    EXACT("crop_resize", "a box of each image", b_crop_own, THREE, F(2, -1, 6, 2, 4)),
    EXACT("crop_resize", "strict", b_crop_strict, THREE, F(2, -0.2, 1.2, 5, 4)),
    EXACT("crop_resize", "unalign", b_crop_unalign, THREE, F(2, 0.1, 0.9, 5, 4)),
    EXACT("crop_resize", "corners turned over", b_crop_turned, THREE, F(2, 0.1, 2, 5, 4)),
    EXACT("crop_resize", "offset", b_crop_offset, THREE, F(2, 1.05, 1.9, 5, 4)), /* inside: at the edge it jumps */
    EXACT("crop_resize", "indices that are fed", b_crop_given, THREE, F(2, 0, 4, 4, 4), I(1, 0, 3, 4)),
};
/* clang-format on */

OP_CASES(sample, rows)
