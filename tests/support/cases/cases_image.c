/* Cases of ops/image.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include <stdarg.h>

/* operation(x = x, ..) with constants as pairs of a name and a tensor, ended by NULL. */
static mw_tensor *general(const char *operation, mw_tensor *x, ...)
{
    mw_argument arguments[8] = {{"x", &x, 1}};
    mw_tensor *values[8], *y = NULL;
    size_t count = 1;
    va_list rest;
    va_start(rest, x);
    for (const char *name; (name = va_arg(rest, const char *)) != NULL; count++) {
        values[count] = va_arg(rest, mw_tensor *);
        arguments[count] = (mw_argument){name, &values[count], 1};
    }
    va_end(rest);
    mw_op(mw_tensor_graph(x), operation, arguments, count, &y, 1, NULL);
    return y;
}

#define CONSTANT(dtype, value) mw_scalar(mw_tensor_graph(in[0]), dtype, value)

static mw_tensor *size_of_last(mw_tensor *x)
{
    const int32_t shape[] = {9, 7};
    return mw_constant(mw_tensor_graph(x), MW_I32, MW_SHAPE(2), shape);
}

/* clang-format off */
BUILD(nearest_2_3, mw_upsample_nearest_neighbor(in[0], 2, 3))
BUILD(nearest_fraction, mw_upsample_nearest_neighbor(in[0], 1.7f, 0.6f))
BUILD(nearest_default, general("upsample_nearest_neighbor", in[0], (char *)NULL))
BUILD(bilinear_align, mw_upsample_bilinear(in[0], 2, 3, true))
BUILD(bilinear_half, mw_upsample_bilinear(in[0], 2, 3, false))
BUILD(bilinear_fraction, mw_upsample_bilinear(in[0], 1.5f, 0.6f, false))
BUILD(bilinear_default, general("upsample_bilinear", in[0], "scale_factor_height", CONSTANT(MW_I32, 2), (char *)NULL))
BUILD(bilinear_neither, general("upsample_bilinear", in[0], "align_corners", CONSTANT(MW_BOOL, 0),
                                "half_pixel_centers", CONSTANT(MW_BOOL, 0), "scale_factor_height", CONSTANT(MW_F32, 2.0),
                                "scale_factor_width", CONSTANT(MW_F32, 2.0), (char *)NULL))
BUILD(size_nearest, mw_resize_nearest_neighbor(in[0], 7, 4))
BUILD(size_default, mw_resize_bilinear(in[0], 7, 4, MW_SAMPLING_DEFAULT))
BUILD(size_strict, mw_resize_bilinear(in[0], 7, 4, MW_SAMPLING_STRICT_ALIGN_CORNERS))
BUILD(size_align, mw_resize_bilinear(in[0], 7, 4, MW_SAMPLING_ALIGN_CORNERS))
BUILD(size_unalign, mw_resize_bilinear(in[0], 7, 4, MW_SAMPLING_UNALIGN_CORNERS))
BUILD(size_offset, mw_resize_bilinear(in[0], 7, 4, MW_SAMPLING_OFFSET_CORNERS))
BUILD(one_default, mw_resize_bilinear(in[0], 1, 1, MW_SAMPLING_DEFAULT))
BUILD(one_strict, mw_resize_bilinear(in[0], 1, 1, MW_SAMPLING_STRICT_ALIGN_CORNERS))
BUILD(one_align, mw_resize_bilinear(in[0], 1, 1, MW_SAMPLING_ALIGN_CORNERS))
BUILD(one_unalign, mw_resize_bilinear(in[0], 1, 1, MW_SAMPLING_UNALIGN_CORNERS))
BUILD(one_offset, mw_resize_bilinear(in[0], 1, 1, MW_SAMPLING_OFFSET_CORNERS))
BUILD(wide, mw_resize_bilinear(in[0], 3, 600, MW_SAMPLING_UNALIGN_CORNERS))
BUILD(resize_linear, mw_resize(in[0], 7, 4, MW_INTERPOLATION_LINEAR, MW_SAMPLING_UNALIGN_CORNERS))
BUILD(resize_nearest, mw_resize(in[0], 7, 4, MW_INTERPOLATION_NEAREST, MW_SAMPLING_DEFAULT))
BUILD(resize_nearest_strict, mw_resize(in[0], 7, 4, MW_INTERPOLATION_NEAREST, MW_SAMPLING_STRICT_ALIGN_CORNERS))
BUILD(resize_nearest_align, mw_resize(in[0], 1, 4, MW_INTERPOLATION_NEAREST, MW_SAMPLING_ALIGN_CORNERS))
BUILD(resize_nearest_unalign, mw_resize(in[0], 7, 4, MW_INTERPOLATION_NEAREST, MW_SAMPLING_UNALIGN_CORNERS))
BUILD(resize_nearest_offset, mw_resize(in[0], 7, 4, MW_INTERPOLATION_NEAREST, MW_SAMPLING_OFFSET_CORNERS))
BUILD(resize_last, general("resize", in[0], "shape", size_of_last(in[0]), "resized_dims", CONSTANT(MW_I32, 1), (char *)NULL))
BUILD(crop, mw_crop(in[0], 1, 2, 0, 3))
BUILD(crop_nothing, mw_crop(in[0], 0, 0, 0, 0))

static const op_case rows[] = {
    EXACT("upsample_nearest_neighbor", "2 by 3", b_nearest_2_3, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("upsample_nearest_neighbor", "fractions", b_nearest_fraction, F(4, -2, 2, 1, 2, 5, 7)),
    EXACT("upsample_nearest_neighbor", "defaults", b_nearest_default, F(3, -2, 2, 2, 3, 4)),
    EXACT("upsample_bilinear", "align_corners", b_bilinear_align, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("upsample_bilinear", "half pixels", b_bilinear_half, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("upsample_bilinear", "fractions", b_bilinear_fraction, F(5, -2, 2, 1, 2, 1, 5, 7)),
    EXACT("upsample_bilinear", "defaults", b_bilinear_default, F(3, -2, 2, 2, 3, 4)),
    EXACT("upsample_bilinear", "neither corners nor half pixels", b_bilinear_neither, F(3, -2, 2, 2, 3, 4)),
    EXACT("resize_nearest_neighbor", "", b_size_nearest, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize_nearest_neighbor", "one element", b_size_nearest, F(3, -2, 2, 2, 1, 1)),
    EXACT("resize_bilinear", "default", b_size_default, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize_bilinear", "strict", b_size_strict, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize_bilinear", "align", b_size_align, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize_bilinear", "unalign", b_size_unalign, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize_bilinear", "offset", b_size_offset, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize_bilinear", "offset, one element", b_size_offset, F(3, -2, 2, 2, 1, 1)),
    EXACT("resize_bilinear", "default to one", b_one_default, F(3, -2, 2, 2, 4, 5)),
    EXACT("resize_bilinear", "strict to one", b_one_strict, F(3, -2, 2, 2, 4, 5)),
    EXACT("resize_bilinear", "align to one", b_one_align, F(3, -2, 2, 2, 4, 5)),
    EXACT("resize_bilinear", "unalign to one", b_one_unalign, F(3, -2, 2, 2, 4, 5)),
    EXACT("resize_bilinear", "offset to one", b_one_offset, F(3, -2, 2, 2, 4, 5)),
    EXACT("resize_bilinear", "wider than a tile", b_wide, F(3, -2, 2, 1, 2, 530)),
    EXACT("resize", "linear", b_resize_linear, F(2, -2, 2, 4, 5)),
    EXACT("resize", "nearest, default", b_resize_nearest, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize", "nearest, strict", b_resize_nearest_strict, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize", "nearest, align", b_resize_nearest_align, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize", "nearest, unalign", b_resize_nearest_unalign, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize", "nearest, offset", b_resize_nearest_offset, F(4, -2, 2, 2, 3, 4, 5)),
    EXACT("resize", "last axis", b_resize_last, F(3, -2, 2, 2, 3, 5)),
    EXACT("resize", "a vector", b_resize_last, F(1, -2, 2, 5)),
    EXACT("crop", "", b_crop, F(4, -2, 2, 2, 3, 5, 7)),
    EXACT("crop", "nothing", b_crop_nothing, F(4, -2, 2, 1, 2, 3, 4)),
};
/* clang-format on */

OP_CASES(image, rows)
