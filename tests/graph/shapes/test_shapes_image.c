/* Shape rules of ops/image.def. */
#include "shape_words.h"

static void test_upsample(void)
{
    GIVES(MW_F32, S(1, 3, 8, 15), mw_upsample_nearest_neighbor(F(1, 3, 4, 5), 2, 3));
    GIVES(MW_F16, S(3, 7, 2), mw_upsample_nearest_neighbor(H(3, 4, 5), 1.75f, 0.5f));
    GIVES(MW_F32, S(1, 3, -1, 10), mw_upsample_bilinear(F(1, 3, -1, 5), 2, 2, true));
    GIVES(MW_F32, S(0, 8, 10), mw_upsample_bilinear(F(0, 4, 5), 2, 2, false));
    GIVES_IN(MW_IOS15, MW_F32, S(3, 4, 5), op(g, "upsample_bilinear", "x", F(3, 4, 5), NULL));
    REFUSES(MW_ERROR_SHAPE,
            "upsample_nearest_neighbor: x must be [.., C, H, W], not of rank 2; expand_dims can add axes",
            mw_upsample_nearest_neighbor(F(4, 5), 2, 2));
    REFUSES(MW_ERROR_ARGUMENT, "scale_factor_height must be one constant positive number",
            mw_upsample_nearest_neighbor(F(1, 4, 5), 0, 2));
    REFUSES(MW_ERROR_ARGUMENT, "scale_factor_width must be one constant positive number",
            mw_upsample_bilinear(F(1, 4, 5), 1, -2, true));
    REFUSES(MW_ERROR_DTYPE, "scale_factor_width is string, not fp16, fp32 or int32",
            op(g, "upsample_bilinear", "x", F(1, 4, 5), "scale_factor_width", mw_text(g, "2"), NULL));
    REFUSES(MW_ERROR_SHAPE, "scale_factor_height 0.2 makes an extent of 4 empty or too large",
            mw_upsample_nearest_neighbor(F(1, 4, 5), 0.2f, 1));
    REFUSES(MW_ERROR_SHAPE, "axis 1 of x is empty: there is nothing to sample",
            mw_upsample_nearest_neighbor(F(1, 0, 5), 2, 2));
    REFUSES(MW_ERROR_DTYPE, "x is int32, not fp16 or fp32", mw_upsample_nearest_neighbor(N(1, 4, 5), 2, 2));
}

static void test_half_pixel_centers(void)
{
    mw_tensor *(*scalar)(mw_graph *, mw_dtype, double) = mw_scalar;
    GIVES(MW_F32, S(1, 4, 5),
          op(g, "upsample_bilinear", "x", F(1, 4, 5), "align_corners", scalar(g, MW_BOOL, 0), "half_pixel_centers",
             scalar(g, MW_BOOL, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "align_corners and half_pixel_centers exclude each other",
            op(g, "upsample_bilinear", "x", F(1, 4, 5), "half_pixel_centers", scalar(g, MW_BOOL, 1), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_ARGUMENT, "half_pixel_centers",
               op(g, "upsample_bilinear", "x", F(1, 4, 5), "half_pixel_centers", scalar(g, MW_BOOL, 1), NULL));
}

static void test_resize_to_a_size(void)
{
    GIVES(MW_F32, S(1, 3, 9, 2), mw_resize_nearest_neighbor(F(1, 3, 4, 5), 9, 2));
    GIVES(MW_F32, S(3, 9, 2), mw_resize_bilinear(F(3, -1, -1), 9, 2, MW_SAMPLING_OFFSET_CORNERS));
    REFUSES(MW_ERROR_ARGUMENT, "resize_nearest_neighbor: target_size_height is 0, it must be at least 1",
            mw_resize_nearest_neighbor(F(1, 4, 5), 0, 2));
    REFUSES(MW_ERROR_ARGUMENT, "target_size_width is -1", mw_resize_bilinear(F(1, 4, 5), 2, -1, MW_SAMPLING_DEFAULT));
    REFUSES(MW_ERROR_ARGUMENT, "resize_bilinear: 9 is no mw_sampling_mode",
            mw_resize_bilinear(F(1, 4, 5), 2, 2, (mw_sampling_mode)9));
    REFUSES(MW_ERROR_ARGUMENT, "sampling_mode \"CORNERS\" is none of DEFAULT, STRICT_ALIGN_CORNERS",
            op(g, "resize_bilinear", "x", F(1, 4, 5), "target_size_height", one(g, 2), "target_size_width", one(g, 2),
               "sampling_mode", mw_text(g, "CORNERS"), NULL));
    REFUSES(MW_ERROR_SHAPE, "not of rank 2", mw_resize_bilinear(F(4, 5), 2, 2, MW_SAMPLING_DEFAULT));
}

static void test_resize(void)
{
    GIVES(MW_F32, S(9, 2), mw_resize(F(4, 5), 9, 2, MW_INTERPOLATION_NEAREST, MW_SAMPLING_DEFAULT));
    GIVES(MW_F32, S(4, 9), op(g, "resize", "x", F(4, 5), "shape", INTS(7, 9), "resized_dims", one(g, 1), NULL));
    GIVES(MW_F32, S(9), op(g, "resize", "x", F(5), "shape", INTS(9), "resized_dims", one(g, 1), NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_UNSUPPORTED, "ios17",
               mw_resize(F(4, 5), 9, 2, MW_INTERPOLATION_LINEAR, MW_SAMPLING_DEFAULT));
    REFUSES(MW_ERROR_ARGUMENT, "resize: 5 is no mw_interpolation_mode",
            mw_resize(F(4, 5), 9, 2, (mw_interpolation_mode)5, MW_SAMPLING_DEFAULT));
    REFUSES(MW_ERROR_ARGUMENT, "interpolation_mode \"CUBIC\" is neither LINEAR nor NEAREST_NEIGHBOR",
            op(g, "resize", "x", F(4, 5), "shape", INTS(7, 9), "resized_dims", one(g, 1), "interpolation_mode",
               mw_text(g, "CUBIC"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "resized_dims 3 must be 1 or 2",
            op(g, "resize", "x", F(3, 4, 5), "shape", INTS(3, 7, 9), "resized_dims", one(g, 3), NULL));
    REFUSES(MW_ERROR_SHAPE, "resized_dims 2 is above the rank 2 of x or the 1 elements of shape",
            op(g, "resize", "x", F(4, 5), "shape", INTS(7), "resized_dims", one(g, 2), NULL));
    REFUSES(MW_ERROR_SHAPE, "resized_dims 2 is above the rank 1 of x",
            op(g, "resize", "x", F(4), "shape", INTS(7, 9), "resized_dims", one(g, 2), NULL));
    GIVES(MW_F32, S(4, 2), mw_resize(F(4, 5), 0, 2, MW_INTERPOLATION_LINEAR, MW_SAMPLING_DEFAULT));
    REFUSES(MW_ERROR_ARGUMENT, "an element of shape is -1",
            mw_resize(F(4, 5), -1, 2, MW_INTERPOLATION_LINEAR, MW_SAMPLING_DEFAULT));
}

static void test_crop(void)
{
    GIVES(MW_F32, S(1, 3, 1, 5), mw_crop(F(1, 3, 4, 5), 1, 2, 0, 0));
    GIVES(MW_F16, S(-1, 3, -1, 2), mw_crop(H(-1, 3, -1, 5), 1, 2, 1, 2));
    REFUSES(MW_ERROR_SHAPE, "crop: x must be [N, C, H, W], not of rank 3", mw_crop(F(3, 4, 5), 1, 1, 1, 1));
    REFUSES(MW_ERROR_SHAPE, "crop_height [2, 2] leaves nothing of the extent 4", mw_crop(F(1, 3, 4, 5), 2, 2, 0, 0));
    REFUSES(MW_ERROR_ARGUMENT, "crop_width [-1, 0] must not be negative", mw_crop(F(1, 3, 4, 5), 0, 0, -1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "crop_height must be [before, after]",
            op(g, "crop", "x", F(1, 3, 4, 5), "crop_height", INTS(1), "crop_width", INTS(0, 0), NULL));
}

int main(void)
{
    RUN(test_upsample);
    RUN(test_half_pixel_centers);
    RUN(test_resize_to_a_size);
    RUN(test_resize);
    RUN(test_crop);
    return check_finish();
}
