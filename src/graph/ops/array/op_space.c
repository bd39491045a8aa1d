/* Blocks between space, channels and batch: shape rules and constructors of ops/space.def. */
#include <millwright/ops/space.h>

#include "base/memory/checked.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

enum { BATCH, CHANNELS, HEIGHT, WIDTH };

static mw_status check_images(const mw__infer *infer, mw_shape x)
{
    char text[240];
    if (x.rank == 4)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be [N, C, H, W]",
                         mw__arg_print(infer->op, "x", text, sizeof text));
}

static mw_status multiply_extent(const mw__infer *infer, mw_shape *shape, int axis, int64_t factor)
{
    if (shape->dim[axis] >= 0 && !mw__mul_i64(shape->dim[axis], factor, &shape->dim[axis]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the extent of axis %d exceeds 2^63", axis);
    return MW_OK;
}

static mw_status divide(const mw__infer *infer, mw_shape *shape, int axis, int64_t factor)
{
    if (shape->dim[axis] >= 0 && shape->dim[axis] % factor != 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the extent %" PRId64 " of axis %d does not divide by %" PRId64,
                             shape->dim[axis], axis, factor);
    shape->dim[axis] = shape->dim[axis] >= 0 ? shape->dim[axis] / factor : MW_DIM_UNKNOWN;
    return MW_OK;
}

/* ---- channels and space ---- */

/* A block is a square; at most 32767, so that its area fits. */
static mw_status read_block(const mw__infer *infer, const char *arg, int64_t *out)
{
    MW_TRY(mw__rule_int(infer, arg, out));
    if (*out < 1 || *out > INT16_MAX)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s %" PRId64 " is outside [1, %d]", arg, *out, INT16_MAX);
    return MW_OK;
}

static mw_status to_space(mw__infer *infer, const char *arg)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    int64_t block;
    MW_TRY(check_images(infer, shape));
    MW_TRY(read_block(infer, arg, &block));
    MW_TRY(divide(infer, &shape, CHANNELS, block * block));
    MW_TRY(multiply_extent(infer, &shape, HEIGHT, block));
    MW_TRY(multiply_extent(infer, &shape, WIDTH, block));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

static mw_status to_channels(mw__infer *infer, const char *arg)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    int64_t block;
    MW_TRY(check_images(infer, shape));
    MW_TRY(read_block(infer, arg, &block));
    MW_TRY(multiply_extent(infer, &shape, CHANNELS, block * block));
    MW_TRY(divide(infer, &shape, HEIGHT, block));
    MW_TRY(divide(infer, &shape, WIDTH, block));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_status mw__shape_depth_to_space(mw__infer *infer) { return to_space(infer, "block_size"); }
mw_status mw__shape_space_to_depth(mw__infer *infer) { return to_channels(infer, "block_size"); }
mw_status mw__shape_pixel_shuffle(mw__infer *infer) { return to_space(infer, "upscale_factor"); }
mw_status mw__shape_pixel_unshuffle(mw__infer *infer) { return to_channels(infer, "downscale_factor"); }

static mw_tensor *with_block(const char *operation, mw_tensor *x, const char *arg, int64_t block)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, arg, block);
    return mw__build_end(&build);
}

mw_tensor *mw_depth_to_space(mw_tensor *x, int64_t block)
{
    return with_block("depth_to_space", x, "block_size", block);
}
mw_tensor *mw_space_to_depth(mw_tensor *x, int64_t block)
{
    return with_block("space_to_depth", x, "block_size", block);
}
mw_tensor *mw_pixel_shuffle(mw_tensor *x, int64_t factor)
{
    return with_block("pixel_shuffle", x, "upscale_factor", factor);
}

/* coremltools writes this one factor as uint32, and so does ANEForge, whose programs ran on an ANE. */
mw_tensor *mw_pixel_unshuffle(mw_tensor *x, int64_t factor)
{
    if (x != NULL && (factor < 1 || factor > INT16_MAX))
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT,
                              "pixel_unshuffle: downscale_factor %" PRId64 " is outside [1, %d]", factor, INT16_MAX);
    const uint32_t number = (uint32_t)factor;
    mw__build build = mw__build_begin("pixel_unshuffle", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "downscale_factor",
                  x == NULL ? NULL : mw__constant(x->graph, MW_U32, mw_shape_scalar(), &number, "downscale_factor"));
    return mw__build_end(&build);
}

/* ---- batch and space ---- */

typedef struct blocks {
    int64_t shape[2];
    int64_t border[4]; /* before and after of height, then width */
} blocks;

static mw_status read_blocks(const mw__infer *infer, const char *border, blocks *out)
{
    size_t count;
    bool known;
    char text[200];
    MW_TRY(mw__rule_ints(infer, "block_shape", out->shape, 2, &count, &known));
    if (count != 2)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "block_shape has %zu numbers, not height and width", count);
    const mw_shape shape = mw__rule_shape(infer, border);
    if (!mw_shape_equal(shape, MW_SHAPE(2, 2)))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must be [2, 2], not %s", border,
                             mw__shape_print(shape, text, sizeof text));
    if (!mw__arg_ints(infer->op, border, out->border, 4, &count))
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the value of %s is not loaded", border);
    for (int i = 0; i < 2; i++) {
        if (out->shape[i] < 1 || out->shape[i] > INT16_MAX)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "block_shape[%d] %" PRId64 " is outside [1, %d]", i,
                                 out->shape[i], INT16_MAX);
    }
    for (int i = 0; i < 4; i++) {
        if (out->border[i] < 0)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s[%d, %d] is %" PRId64 ", which is negative", border,
                                 i / 2, i % 2, out->border[i]);
    }
    return MW_OK;
}

mw_status mw__shape_space_to_batch(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    blocks b;
    MW_TRY(check_images(infer, shape));
    MW_TRY(read_blocks(infer, "paddings", &b));
    MW_TRY(multiply_extent(infer, &shape, BATCH, b.shape[0] * b.shape[1]));
    for (int i = 0; i < 2; i++) {
        int64_t *extent = &shape.dim[HEIGHT + i];
        if (*extent >= 0 && !mw__add_i64(*extent, b.border[2 * i] + b.border[2 * i + 1], extent))
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "the extent of axis %d exceeds 2^63", HEIGHT + i);
        MW_TRY(divide(infer, &shape, HEIGHT + i, b.shape[i]));
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_status mw__shape_batch_to_space(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    blocks b;
    MW_TRY(check_images(infer, shape));
    MW_TRY(read_blocks(infer, "crops", &b));
    MW_TRY(divide(infer, &shape, BATCH, b.shape[0] * b.shape[1]));
    for (int i = 0; i < 2; i++) {
        const int64_t crop = b.border[2 * i] + b.border[2 * i + 1];
        MW_TRY(multiply_extent(infer, &shape, HEIGHT + i, b.shape[i]));
        if (shape.dim[HEIGHT + i] >= 0 && shape.dim[HEIGHT + i] < crop)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "crops take %" PRId64 " of the %" PRId64 " elements of axis %d",
                                 crop, shape.dim[HEIGHT + i], HEIGHT + i);
        shape.dim[HEIGHT + i] -= shape.dim[HEIGHT + i] >= 0 ? crop : 0;
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

static mw_tensor *with_blocks(const char *operation, mw_tensor *x, const int64_t *block, const char *arg,
                              const int64_t *border)
{
    if (x != NULL && (block == NULL || border == NULL))
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: block or %s is NULL", operation, arg);
    mw__build build = mw__build_begin(operation, x);
    int32_t numbers[4] = {0};
    for (int i = 0; x != NULL && i < 4; i++) {
        if (border[i] < INT32_MIN || border[i] > INT32_MAX)
            return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: %s %" PRId64 " does not fit int32", operation, arg,
                                  border[i]);
        numbers[i] = (int32_t)border[i];
    }
    mw__build_set(&build, "x", x);
    mw__build_ints(&build, "block_shape", block, 2);
    mw__build_set(&build, arg, x == NULL ? NULL : mw__constant(x->graph, MW_I32, MW_SHAPE(2, 2), numbers, arg));
    return mw__build_end(&build);
}

mw_tensor *mw_space_to_batch(mw_tensor *x, const int64_t block[2], const int64_t paddings[4])
{
    return with_blocks("space_to_batch", x, block, "paddings", paddings);
}

mw_tensor *mw_batch_to_space(mw_tensor *x, const int64_t block[2], const int64_t crops[4])
{
    return with_blocks("batch_to_space", x, block, "crops", crops);
}
