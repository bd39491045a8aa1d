/* Shape rules of ops/sample.def. */
#include "shape_words.h"

static mw_tensor *resample_with(mw_tensor *x, mw_tensor *at, const char *mode, const char *border, const char *pixels)
{
    mw_graph *g = mw_tensor_graph(x);
    mw_tensor *align = mw_scalar(g, MW_BOOL, 0), *value = mw_scalar(g, mw_tensor_dtype(x), 0.0);
    mw_tensor *words[] = {mw_text(g, mode), mw_text(g, border), mw_text(g, pixels)};
    return op(g, "resample", "x", x, "coordinates", at, "sampling_mode", words[0], "padding_mode", words[1],
              "padding_value", value, "coordinates_mode", words[2], "align_corners", align, NULL);
}

static mw_tensor *numbers(mw_graph *g, mw_dtype dtype, mw_shape shape) { return leaf(g, dtype, shape); }

static void test_resample(void)
{
    GIVES(MW_F32, S(2, 3, 6, 7), mw_resample(F(2, 3, 4, 5), F(2, 6, 7, 2), NULL));
    GIVES(MW_F16, S(2, 3, 6, 7), mw_resample(H(2, 3, 4, 5), F(2, 6, 7, 2), NULL));
    GIVES(MW_F32, S(2, 3, -1, 7), mw_resample(F(-1, 3, 4, 5), F(2, -1, 7, 2), NULL));
    GIVES(MW_F32, S(2, 3, 6, 7),
          resample_with(F(2, 3, 4, 5), numbers(g, MW_U8, S(2, 6, 7, 2)), "nearest", "symmetric", "unnormalized"));
    REFUSES(MW_ERROR_SHAPE, "resample: x must be [N, C, H, W], not of rank 3",
            mw_resample(F(3, 4, 5), F(2, 6, 7, 2), NULL));
    REFUSES(MW_ERROR_SHAPE, "coordinates must be [2, H, W, 2]", mw_resample(F(2, 3, 4, 5), F(2, 6, 7, 3), NULL));
    REFUSES(MW_ERROR_SHAPE, "coordinates must be [2, H, W, 2]", mw_resample(F(2, 3, 4, 5), F(1, 6, 7, 2), NULL));
    REFUSES(MW_ERROR_SHAPE, "axis 3 of x is empty: there is nothing to sample",
            mw_resample(F(2, 3, 4, 0), F(2, 6, 7, 2), NULL));
    REFUSES(MW_ERROR_DTYPE, "x is int32, not fp16 or fp32", mw_resample(N(2, 3, 4, 5), F(2, 6, 7, 2), NULL));
    REFUSES(MW_ERROR_DTYPE, "coordinates is bool; it must be a number",
            mw_resample(F(2, 3, 4, 5), B(2, 6, 7, 2), NULL));
}

static void test_resample_by_opset(void)
{
    GIVES_IN(MW_IOS15, MW_F32, S(2, 3, 6, 7), mw_resample(F(2, 3, 4, 5), N(2, 6, 7, 2), NULL));
    GIVES_IN(MW_IOS16, MW_F32, S(2, 3, 6, 7), mw_resample(F(2, 3, 4, 5), H(2, 6, 7, 2), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_DTYPE, "coordinates is fp16; fp16 needs ios16",
               mw_resample(F(2, 3, 4, 5), H(2, 6, 7, 2), NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "coordinates is uint8; integers but int32 need ios17",
               mw_resample(F(2, 3, 4, 5), numbers(g, MW_U8, S(2, 6, 7, 2)), NULL));
}

static void test_resample_words(void)
{
    mw_resample_options bad = {0}, border = mw_resample_defaults(), mode = border, kind = border;
    border.border = (mw_border)9, mode.coordinates = (mw_coordinates)-1, kind.interpolation = (mw_interpolation_mode)2;
    REFUSES(MW_ERROR_ARGUMENT, "resample: options are not made by mw_resample_defaults",
            mw_resample(F(2, 3, 4, 5), F(2, 6, 7, 2), &bad));
    REFUSES(MW_ERROR_ARGUMENT, "border is no mw_border", mw_resample(F(2, 3, 4, 5), F(2, 6, 7, 2), &border));
    REFUSES(MW_ERROR_ARGUMENT, "coordinates is no mw_coordinates", mw_resample(F(2, 3, 4, 5), F(2, 6, 7, 2), &mode));
    REFUSES(MW_ERROR_ARGUMENT, "no mw_interpolation_mode", mw_resample(F(2, 3, 4, 5), F(2, 6, 7, 2), &kind));
    REFUSES(MW_ERROR_ARGUMENT, "sampling_mode \"cubic\" is none of bilinear, nearest",
            resample_with(F(2, 3, 4, 5), F(2, 6, 7, 2), "cubic", "constant", "unnormalized"));
    REFUSES(MW_ERROR_ARGUMENT, "padding_mode \"wrap\" is none of constant, border, reflection, symmetric",
            resample_with(F(2, 3, 4, 5), F(2, 6, 7, 2), "nearest", "wrap", "unnormalized"));
    REFUSES(MW_ERROR_ARGUMENT, "coordinates_mode \"normalized\" is none of normalized_minus_one_to_one",
            resample_with(F(2, 3, 4, 5), F(2, 6, 7, 2), "nearest", "border", "normalized"));
}

static void test_affine(void)
{
    GIVES(MW_F32, S(2, 3, 6, 7), mw_affine(F(2, 3, 4, 5), F(2, 6), 6, 7, true));
    GIVES(MW_F16, S(2, 3, 6, 7), mw_affine(H(2, 3, 4, 5), H(1, 6), 6, 7, false));
    REFUSES(MW_ERROR_SHAPE, "affine: transform_matrix must be [1, 6] or [2, 6]",
            mw_affine(F(2, 3, 4, 5), F(3, 6), 6, 7, true));
    REFUSES(MW_ERROR_SHAPE, "transform_matrix must be [1, 6] or [2, 6]",
            mw_affine(F(2, 3, 4, 5), F(2, 2, 3), 6, 7, true));
    REFUSES(MW_ERROR_ARGUMENT, "output_height is 0, it must be at least 1",
            mw_affine(F(2, 3, 4, 5), F(2, 6), 0, 7, true));
    REFUSES(MW_ERROR_DTYPE, "convert one with cast", mw_affine(F(2, 3, 4, 5), H(2, 6), 6, 7, true));
}

static void test_crop_resize(void)
{
    GIVES(MW_F32, S(9, 3, 6, 7), mw_crop_resize(F(2, 3, 4, 5), F(9, 4), N(9), 6, 7, NULL));
    GIVES(MW_F16, S(2, 3, 6, 7), mw_crop_resize(H(2, 3, 4, 5), F(2, 4), NULL, 6, 7, NULL));
    GIVES(MW_F32, S(-1, 3, 1, 1), op(g, "crop_resize", "x", F(2, 3, 4, 5), "boxes", F(-1, 4), NULL));
    REFUSES(MW_ERROR_SHAPE, "crop_resize: boxes must be [R, 4]",
            mw_crop_resize(F(2, 3, 4, 5), F(9, 5), N(9), 6, 7, NULL));
    REFUSES(MW_ERROR_SHAPE, "box_indices must have an index for each of the 9 boxes",
            mw_crop_resize(F(2, 3, 4, 5), F(9, 4), N(8), 6, 7, NULL));
    REFUSES(MW_ERROR_SHAPE, "9 boxes are more than the 2 images; box_indices can say which is whose",
            mw_crop_resize(F(2, 3, 4, 5), F(9, 4), NULL, 6, 7, NULL));
    REFUSES(MW_ERROR_ARGUMENT, "target_width is -7", mw_crop_resize(F(2, 3, 4, 5), F(2, 4), NULL, 6, -7, NULL));
    REFUSES(MW_ERROR_DTYPE, "spatial_scale is fp16, not fp32",
            op(g, "crop_resize", "x", H(2, 3, 4, 5), "boxes", F(2, 4), "spatial_scale", mw_scalar(g, MW_F16, 1), NULL));
}

static void test_crop_resize_words(void)
{
    mw_crop_resize_options bad = {0}, box = mw_crop_resize_defaults(), mode = box, normalized = box;
    box.box = (mw_box)4, mode.sampling = (mw_sampling_mode)9, normalized.normalized = true;
    REFUSES(MW_ERROR_ARGUMENT, "crop_resize: options are not made by mw_crop_resize_defaults",
            mw_crop_resize(F(2, 3, 4, 5), F(2, 4), NULL, 6, 7, &bad));
    REFUSES(MW_ERROR_ARGUMENT, "box is no mw_box", mw_crop_resize(F(2, 3, 4, 5), F(2, 4), NULL, 6, 7, &box));
    REFUSES(MW_ERROR_ARGUMENT, "no mw_sampling_mode", mw_crop_resize(F(2, 3, 4, 5), F(2, 4), NULL, 6, 7, &mode));
    REFUSES(MW_ERROR_DTYPE, "boxes of integers cannot be normalized",
            mw_crop_resize(F(2, 3, 4, 5), numbers(g, MW_U16, S(2, 4)), NULL, 6, 7, &normalized));
    REFUSES(
        MW_ERROR_ARGUMENT, "box_coordinate_mode \"YXYX\" is none of CORNERS_HEIGHT_FIRST, CORNERS_WIDTH_FIRST",
        op(g, "crop_resize", "x", F(2, 3, 4, 5), "boxes", F(2, 4), "box_coordinate_mode", mw_text(g, "YXYX"), NULL));
}

/* The default of box_coordinate_mode is spelled with a slip in coremltools, and so in files. */
static void test_crop_resize_before_ios17(void)
{
    GIVES_IN(MW_IOS15, MW_F32, S(9, 2, 3, 6, 7),
             op(g, "crop_resize", "x", F(2, 3, 4, 5), "roi", F(9, 1, 4, 1, 1), "target_height", one(g, 6),
                "target_width", one(g, 7), NULL));
    GIVES_IN(MW_IOS16, MW_F16, S(9, 1, 3, 1, 1),
             op(g, "crop_resize", "x", H(2, 3, 4, 5), "roi", H(9, 1, 5, 1, 1), "box_coordinate_mode",
                mw_text(g, "CONRNERS_HEIGHT_FIRST"), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_ARGUMENT, "pad_value",
               op(g, "crop_resize", "x", F(2, 3, 4, 5), "roi", F(9, 1, 4, 1, 1), "pad_value", SCALAR, NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_SHAPE, "roi must be [R, 1, 4, 1, 1], or [R, 1, 5, 1, 1]",
               op(g, "crop_resize", "x", F(2, 3, 4, 5), "roi", F(9, 1, 6, 1, 1), NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "crop_resize: boxes need ios17; before, mw_op builds it with roi",
               mw_crop_resize(F(2, 3, 4, 5), F(2, 4), NULL, 6, 7, NULL));
}

int main(void)
{
    RUN(test_resample);
    RUN(test_resample_by_opset);
    RUN(test_resample_words);
    RUN(test_affine);
    RUN(test_crop_resize);
    RUN(test_crop_resize_words);
    RUN(test_crop_resize_before_ios17);
    return check_finish();
}
