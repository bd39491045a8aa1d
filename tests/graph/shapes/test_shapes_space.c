/* Shape rules of ops/space.def: what they give, unknown extents, and every refusal. */
#include "shape_words.h"

#define PAIR(...) ((const int64_t[2]){__VA_ARGS__})
#define EDGE(...) ((const int64_t[4]){__VA_ARGS__})

static void test_channels_and_space(void)
{
    GIVES(MW_F32, S(2, 3, 8, 10), mw_depth_to_space(F(2, 12, 4, 5), 2));
    GIVES(MW_BOOL, S(2, -1, 8, -1), mw_depth_to_space(B(2, -1, 4, -1), 2));
    GIVES(MW_I32, S(2, 27, 2, 1), mw_space_to_depth(N(2, 3, 6, 3), 3));
    GIVES(MW_F16, S(-1, 12, -1, 2), mw_space_to_depth(H(-1, 3, -1, 4), 2));
    GIVES(MW_F32, S(2, 3, 8, 10), mw_pixel_shuffle(F(2, 12, 4, 5), 2));
    GIVES(MW_F32, S(2, 12, 4, 5), mw_pixel_unshuffle(F(2, 3, 8, 10), 2));
    GIVES(MW_F32, S(2, 3, 4, 5), mw_pixel_unshuffle(F(2, 3, 4, 5), 1));
    GIVES(MW_F32, S(0, 4, 0, 5), mw_space_to_depth(F(0, 1, 0, 10), 2));
}

static void test_channels_and_space_refuse(void)
{
    REFUSES(MW_ERROR_SHAPE, "depth_to_space: the extent 6 of axis 1 does not divide by 4",
            mw_depth_to_space(F(2, 6, 4, 5), 2));
    REFUSES(MW_ERROR_SHAPE, "space_to_depth: the extent 5 of axis 3 does not divide by 2",
            mw_space_to_depth(F(2, 6, 4, 5), 2));
    REFUSES(MW_ERROR_SHAPE, "pixel_shuffle: the extent 8 of axis 1 does not divide by 9",
            mw_pixel_shuffle(F(2, 8, 4, 5), 3));
    REFUSES(MW_ERROR_SHAPE, "pixel_unshuffle: the extent 4 of axis 2 does not divide by 3",
            mw_pixel_unshuffle(F(2, 8, 4, 5), 3));
    REFUSES(MW_ERROR_SHAPE, "x \"h\" [4, 4, 4] must be [N, C, H, W]",
            mw_depth_to_space(mw_input(g, "h", MW_F32, S(4, 4, 4)), 2));
    REFUSES(MW_ERROR_ARGUMENT, "block_size 0 is outside [1, 32767]", mw_space_to_depth(F(2, 4, 4, 4), 0));
    REFUSES(MW_ERROR_ARGUMENT, "upscale_factor -2 is outside", mw_pixel_shuffle(F(2, 4, 4, 4), -2));
    REFUSES(MW_ERROR_ARGUMENT, "downscale_factor 32768 is outside", mw_pixel_unshuffle(F(2, 4, 4, 4), 32768));
    REFUSES(MW_ERROR_ARGUMENT, "downscale_factor -1 is outside", mw_pixel_unshuffle(F(2, 4, 4, 4), -1));
    REFUSES(MW_ERROR_ARGUMENT, "downscale_factor 0 is outside [1, 32767]",
            op(g, "pixel_unshuffle", "x", F(2, 4, 4, 4), "downscale_factor", one(g, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "block_size must be a constant",
            op(g, "depth_to_space", "x", F(2, 4, 4, 4), "block_size", SCALARI, NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_UNSUPPORTED, "ios16", mw_pixel_unshuffle(F(2, 3, 8, 10), 2));
}

static void test_batch_and_space(void)
{
    GIVES(MW_F32, S(12, 3, 2, 2), mw_space_to_batch(F(2, 3, 4, 6), PAIR(2, 3), EDGE(0, 0, 0, 0)));
    GIVES(MW_I32, S(12, 3, 3, 3), mw_space_to_batch(N(2, 3, 5, 4), PAIR(2, 3), EDGE(1, 0, 2, 3)));
    GIVES(MW_F32, S(-1, 3, 2, -1), mw_space_to_batch(F(-1, 3, 4, -1), PAIR(2, 3), EDGE(0, 0, 1, 0)));
    GIVES(MW_F32, S(2, 3, 5, 4), mw_batch_to_space(F(12, 3, 3, 3), PAIR(2, 3), EDGE(1, 0, 2, 3)));
    GIVES(MW_BOOL, S(-1, 3, 0, -1), mw_batch_to_space(B(-1, 3, 3, -1), PAIR(2, 3), EDGE(3, 3, 2, 3)));
}

static void test_batch_and_space_refuse(void)
{
    REFUSES(MW_ERROR_SHAPE, "space_to_batch: the extent 5 of axis 2 does not divide by 2",
            mw_space_to_batch(F(2, 3, 4, 6), PAIR(2, 3), EDGE(1, 0, 0, 0)));
    REFUSES(MW_ERROR_SHAPE, "batch_to_space: the extent 4 of axis 0 does not divide by 6",
            mw_batch_to_space(F(4, 3, 3, 3), PAIR(2, 3), EDGE(0, 0, 0, 0)));
    REFUSES(MW_ERROR_SHAPE, "crops take 7 of the 6 elements of axis 2",
            mw_batch_to_space(F(12, 3, 3, 3), PAIR(2, 3), EDGE(3, 4, 0, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "paddings[1, 0] is -1, which is negative",
            mw_space_to_batch(F(2, 3, 4, 6), PAIR(2, 3), EDGE(0, 0, -1, 1)));
    REFUSES(MW_ERROR_ARGUMENT, "block_shape[1] 0 is outside [1, 32767]",
            mw_batch_to_space(F(2, 3, 4, 6), PAIR(2, 0), EDGE(0, 0, 0, 0)));
    REFUSES(MW_ERROR_SHAPE, "must be [N, C, H, W]", mw_space_to_batch(F(2, 3, 4), PAIR(1, 1), EDGE(0, 0, 0, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "block or paddings is NULL", mw_space_to_batch(F(2, 3, 4, 6), NULL, EDGE(0, 0, 0, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "does not fit int32",
            mw_space_to_batch(F(2, 3, 4, 6), PAIR(2, 3), EDGE(INT64_C(1) << 40, 0, 0, 0)));
    REFUSES(MW_ERROR_SHAPE, "crops must be [2, 2], not [4]",
            op(g, "batch_to_space", "x", F(12, 3, 3, 3), "block_shape", INTS(2, 3), "crops", INTS(0, 0, 0, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "block_shape has 1 numbers, not height and width",
            op(g, "batch_to_space", "x", F(12, 3, 3, 3), "block_shape", INTS(2), "crops", INTS(0), NULL));
}

int main(void)
{
    RUN(test_channels_and_space);
    RUN(test_channels_and_space_refuse);
    RUN(test_batch_and_space);
    RUN(test_batch_and_space_refuse);
    return check_finish();
}
