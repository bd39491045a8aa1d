/* Blocks between space, channels and batch: every operation of ops/space.def is the strided copy with the loops of its
 * own order. A border is put on or taken off by a second step. */
#include "engine/core/kernel.h"

enum { BATCH, CHANNELS, HEIGHT, WIDTH };

/* ---- channels and space ---- */

static bool read_block(const mw__op *op, const char *arg, int64_t *out)
{
    return mw__arg_int(op, arg, out) && mw__shape_of(mw__arg(op, "x")).rank == 4 && *out >= 1;
}

/* x [N, channels, H, W]; rows, columns, channels: strides of the position in a block and of a channel, in planes. */
static void plan_to_space(mw__planner *planner, const mw__op *op, int64_t block, const int64_t planes[3])
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    int64_t strides[MW_RANK_MAX];
    mw__nd_row_major(x, strides);
    const int64_t plane = strides[CHANNELS];
    const int64_t row = planes[0] * plane, column = planes[1] * plane, channel = planes[2] * plane;
    mw__copy copy = mw__copy_of(planner, op);
    mw__nd_iter_add(&copy.iter, x.dim[BATCH], &strides[BATCH]);
    mw__nd_iter_add(&copy.iter, x.dim[CHANNELS] / (block * block), &channel);
    mw__nd_iter_add(&copy.iter, x.dim[HEIGHT], &strides[HEIGHT]);
    mw__nd_iter_add(&copy.iter, block, &row);
    mw__nd_iter_add(&copy.iter, x.dim[WIDTH], &strides[WIDTH]);
    mw__nd_iter_add(&copy.iter, block, &column);
    mw__plan_copy(planner, &copy);
}

/* (i b + j) C + c */
mw_status mw__kernel_depth_to_space(mw__planner *planner, const mw__op *op, mw_error *err)
{
    int64_t b;
    if (!read_block(op, "block_size", &b))
        return mw__kernel_need_constant(op, "block_size", err);
    const int64_t channels = mw__shape_of(op->results[0]).dim[CHANNELS];
    const int64_t planes[] = {b * channels, channels, 1};
    plan_to_space(planner, op, b, planes);
    return mw__plan_check(planner, err);
}

/* c b b + i b + j */
mw_status mw__kernel_pixel_shuffle(mw__planner *planner, const mw__op *op, mw_error *err)
{
    int64_t b;
    if (!read_block(op, "upscale_factor", &b))
        return mw__kernel_need_constant(op, "upscale_factor", err);
    const int64_t planes[] = {b, 1, b * b};
    plan_to_space(planner, op, b, planes);
    return mw__plan_check(planner, err);
}

/* The result's channels are channels and positions in a block, in the order of `channels_first`. */
static void plan_to_channels(mw__planner *planner, const mw__op *op, int64_t block, bool channels_first)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    int64_t strides[MW_RANK_MAX];
    mw__nd_row_major(x, strides);
    const int64_t down = block * strides[HEIGHT], right = block * strides[WIDTH];
    mw__copy copy = mw__copy_of(planner, op);
    mw__nd_iter_add(&copy.iter, x.dim[BATCH], &strides[BATCH]);
    if (channels_first)
        mw__nd_iter_add(&copy.iter, x.dim[CHANNELS], &strides[CHANNELS]);
    mw__nd_iter_add(&copy.iter, block, &strides[HEIGHT]);
    mw__nd_iter_add(&copy.iter, block, &strides[WIDTH]);
    if (!channels_first)
        mw__nd_iter_add(&copy.iter, x.dim[CHANNELS], &strides[CHANNELS]);
    mw__nd_iter_add(&copy.iter, x.dim[HEIGHT] / block, &down);
    mw__nd_iter_add(&copy.iter, x.dim[WIDTH] / block, &right);
    mw__plan_copy(planner, &copy);
}

mw_status mw__kernel_space_to_depth(mw__planner *planner, const mw__op *op, mw_error *err)
{
    int64_t block;
    if (!read_block(op, "block_size", &block))
        return mw__kernel_need_constant(op, "block_size", err);
    plan_to_channels(planner, op, block, false);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_pixel_unshuffle(mw__planner *planner, const mw__op *op, mw_error *err)
{
    int64_t block;
    if (!read_block(op, "downscale_factor", &block))
        return mw__kernel_need_constant(op, "downscale_factor", err);
    plan_to_channels(planner, op, block, true);
    return mw__plan_check(planner, err);
}

/* ---- batch and space ---- */

typedef struct blocks {
    int64_t shape[2];
    int64_t border[4]; /* before and after of height, then width */
    bool bordered;
} blocks;

static bool read_blocks(const mw__op *op, const char *border, blocks *out)
{
    size_t shapes = 0, borders = 0;
    const bool known = mw__arg_ints(op, "block_shape", out->shape, 2, &shapes) &&
                       mw__arg_ints(op, border, out->border, 4, &borders) && shapes == 2 && borders == 4;
    out->bordered = known && (out->border[0] | out->border[1] | out->border[2] | out->border[3]) != 0;
    return known && mw__shape_of(mw__arg(op, "x")).rank == 4;
}

static uint32_t image_buffer(mw__planner *planner, mw_shape shape, size_t size)
{
    return mw__plan_temporary(planner, (size_t)mw_shape_count(shape) * size);
}

/* x with its border, then the blocks. */
mw_status mw__kernel_space_to_batch(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x");
    const mw_shape result = mw__shape_of(op->results[0]);
    mw_shape image = mw__shape_of(x);
    int64_t strides[MW_RANK_MAX];
    blocks b;
    if (!read_blocks(op, "paddings", &b))
        return mw__kernel_need_constant(op, "block_shape and paddings, each,", err);
    if (mw__count_of(op->results[0]) == 0)
        return mw__plan_check(planner, err);
    mw__copy copy = mw__copy_of(planner, op);
    for (int i = 0; i < 2; i++)
        image.dim[HEIGHT + i] = result.dim[HEIGHT + i] * b.shape[i];
    if (b.bordered) {
        const int64_t before[MW_RANK_MAX] = {[HEIGHT] = b.border[0], [WIDTH] = b.border[2]};
        copy.from = image_buffer(planner, image, copy.size);
        mw__plan_zero_pad(planner, x, before, image, copy.from);
    }
    mw__nd_row_major(image, strides);
    const int64_t down = b.shape[0] * strides[HEIGHT], right = b.shape[1] * strides[WIDTH];
    mw__nd_iter_add(&copy.iter, b.shape[0], &strides[HEIGHT]);
    mw__nd_iter_add(&copy.iter, b.shape[1], &strides[WIDTH]);
    mw__nd_iter_add(&copy.iter, image.dim[BATCH], &strides[BATCH]);
    mw__nd_iter_add(&copy.iter, image.dim[CHANNELS], &strides[CHANNELS]);
    mw__nd_iter_add(&copy.iter, result.dim[HEIGHT], &down);
    mw__nd_iter_add(&copy.iter, result.dim[WIDTH], &right);
    mw__plan_copy(planner, &copy);
    return mw__plan_check(planner, err);
}

/* The middle of an image. */
static void plan_crop(mw__planner *planner, const mw__op *op, const blocks *b, uint32_t from, mw_shape image)
{
    int64_t strides[MW_RANK_MAX];
    mw__copy copy = mw__copy_of(planner, op);
    copy.from = from;
    mw__nd_row_major(image, strides);
    copy.start = b->border[0] * strides[HEIGHT] + b->border[2] * strides[WIDTH];
    for (int axis = 0; axis < image.rank; axis++)
        mw__nd_iter_add(&copy.iter, copy.shape.dim[axis], &strides[axis]);
    mw__plan_copy(planner, &copy);
}

/* The blocks, then the image without its border. */
mw_status mw__kernel_batch_to_space(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    int64_t strides[MW_RANK_MAX];
    blocks b;
    if (!read_blocks(op, "crops", &b))
        return mw__kernel_need_constant(op, "block_shape and crops, each,", err);
    if (mw__count_of(op->results[0]) == 0)
        return mw__plan_check(planner, err);
    mw__copy copy = mw__copy_of(planner, op);
    copy.shape =
        MW_SHAPE(copy.shape.dim[BATCH], x.dim[CHANNELS], x.dim[HEIGHT] * b.shape[0], x.dim[WIDTH] * b.shape[1]);
    if (b.bordered)
        copy.to = image_buffer(planner, copy.shape, copy.size);
    mw__nd_row_major(x, strides);
    const int64_t column = copy.shape.dim[BATCH] * strides[BATCH], row = b.shape[1] * column;
    mw__nd_iter_add(&copy.iter, copy.shape.dim[BATCH], &strides[BATCH]);
    mw__nd_iter_add(&copy.iter, x.dim[CHANNELS], &strides[CHANNELS]);
    mw__nd_iter_add(&copy.iter, x.dim[HEIGHT], &strides[HEIGHT]);
    mw__nd_iter_add(&copy.iter, b.shape[0], &row);
    mw__nd_iter_add(&copy.iter, x.dim[WIDTH], &strides[WIDTH]);
    mw__nd_iter_add(&copy.iter, b.shape[1], &column);
    mw__plan_copy(planner, &copy);
    if (b.bordered)
        plan_crop(planner, op, &b, copy.to, copy.shape);
    return mw__plan_check(planner, err);
}
