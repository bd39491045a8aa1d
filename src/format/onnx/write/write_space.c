/* Blocks between space, channels and batch. */
#include "format/onnx/write/write_args.h"

static int64_t times_extent(int64_t extent, int64_t factor) { return extent < 0 ? extent : extent * factor; }
static int64_t over(int64_t extent, int64_t factor) { return extent < 0 ? extent : extent / factor; }

/* x as `apart`, its axes in another order, as `out` of the result's shape. */
static const char *move_blocks(mw__onnx_writer *w, const mw__op *op, const char *x, mw_shape apart, const int64_t *perm)
{
    const char *blocks = mw__onnx_reshape_to(w, op, NULL, x, apart);
    return mw__onnx_transpose_to(w, NULL, blocks, perm, apart.rank);
}

/* ONNX's operators, of which onnxruntime has those of floats alone; other types are moved by Reshape and Transpose. */
static void rearrange(mw__onnx_writer *w, const mw__op *op, const char *operation, const char *size, const char *mode)
{
    static const int64_t apart_first[] = {0, 3, 4, 1, 5, 2}, apart_last[] = {0, 1, 4, 2, 5, 3},
                         together[] = {0, 3, 5, 1, 2, 4};
    const mw_shape x = mw__arg_shape(op, "x");
    const int64_t b = mw__arg_whole(op, size), channels = over(x.dim[1], b * b);
    const char *in = arg(w, op, "x");
    if (dtype_of(op) == MW_F32 || dtype_of(op) == MW_F16) {
        pb_node *node = mw__onnx_node_of(w, operation, result(w, op), &in, 1);
        mw__onnx_put_int(w, node, "blocksize", b);
        if (mode != NULL)
            mw__onnx_put_text(w, node, "mode", mode);
        return;
    }
    const char *moved;
    if (mode == NULL)
        moved = move_blocks(w, op, in, (mw_shape){6, {x.dim[0], x.dim[1], over(x.dim[2], b), b, over(x.dim[3], b), b}},
                            together);
    else if (strcmp(mode, "DCR") == 0)
        moved = move_blocks(w, op, in, (mw_shape){6, {x.dim[0], b, b, channels, x.dim[2], x.dim[3]}}, apart_first);
    else
        moved = move_blocks(w, op, in, (mw_shape){6, {x.dim[0], channels, b, b, x.dim[2], x.dim[3]}}, apart_last);
    mw__onnx_reshape_to(w, op, result(w, op), moved, result_shape(op));
}

void mw__onnx_write_depth_to_space(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    rearrange(w, op, operation, "block_size", "DCR");
}

void mw__onnx_write_space_to_depth(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    rearrange(w, op, operation, "block_size", NULL);
}

void mw__onnx_write_pixel_shuffle(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    rearrange(w, op, operation, "upscale_factor", "CRD");
}

void mw__onnx_write_pixel_unshuffle(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static const int64_t perm[] = {0, 1, 3, 5, 2, 4};
    const mw_shape x = mw__arg_shape(op, "x"), to = result_shape(op);
    const int64_t block = mw__arg_whole(op, "downscale_factor");
    const mw_shape apart = {6, {x.dim[0], x.dim[1], over(x.dim[2], block), block, over(x.dim[3], block), block}};
    const char *moved = move_blocks(w, op, arg(w, op, "x"), apart, perm);
    (void)operation;
    mw__onnx_reshape_to(w, op, result(w, op), moved, to);
}

/* Two numbers, and four of a border: above, below, before, after. */
static bool read_blocks(mw__onnx_writer *w, const mw__op *op, const char *border, int64_t block[2], int64_t edges[4])
{
    size_t count;
    if (mw__arg_ints(op, "block_shape", block, 2, &count) && count == 2 && mw__arg_ints(op, border, edges, 4, &count) &&
        count == 4)
        return true;
    mw__onnx_cannot(w, op, "its numbers are not known");
    return false;
}

void mw__onnx_write_space_to_batch(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static const int64_t perm[] = {3, 5, 0, 1, 2, 4};
    int64_t block[2], edges[4];
    const mw_shape x = mw__arg_shape(op, "x"), to = result_shape(op);
    (void)operation;
    if (!read_blocks(w, op, "paddings", block, edges))
        return;
    const int64_t pads[] = {0, 0, edges[0], edges[2], 0, 0, edges[1], edges[3]};
    const char *padded = mw__onnx_make(w, "Pad", NULL, arg(w, op, "x"), mw__onnx_longs(w, pads, 8));
    const mw_shape apart = {6, {x.dim[0], x.dim[1], to.dim[2], block[0], to.dim[3], block[1]}};
    mw__onnx_reshape_to(w, op, result(w, op), move_blocks(w, op, padded, apart, perm), to);
}

/* An axis without its first and last elements. */
static void cut_axis(mw__onnx_slices *s, size_t axis, int64_t before, int64_t after)
{
    s->begin[axis] = before;
    s->end[axis] = after > 0 ? -after : INT64_MAX;
    s->step[axis] = 1;
}

void mw__onnx_write_batch_to_space(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static const int64_t perm[] = {2, 3, 4, 0, 5, 1};
    int64_t block[2], edges[4];
    const mw_shape x = mw__arg_shape(op, "x"), to = result_shape(op);
    mw__onnx_slices s = {.count = 4};
    (void)operation;
    if (!read_blocks(w, op, "crops", block, edges))
        return;
    const mw_shape apart = {6, {block[0], block[1], over(x.dim[0], block[0] * block[1]), x.dim[1], x.dim[2], x.dim[3]}};
    const mw_shape joined = {4,
                             {to.dim[0], x.dim[1], times_extent(x.dim[2], block[0]), times_extent(x.dim[3], block[1])}};
    const char *all = mw__onnx_reshape_to(w, op, NULL, move_blocks(w, op, arg(w, op, "x"), apart, perm), joined);
    for (size_t i = 0; i < 4; i++)
        cut_axis(&s, i, i < 2 ? 0 : edges[2 * i - 4], i < 2 ? 0 : edges[2 * i - 3]);
    mw__onnx_slice_to(w, result(w, op), all, &s);
}

void mw__onnx_write_crop(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_slices s = {.count = 4};
    int64_t rows[2] = {0}, columns[2] = {0};
    size_t count;
    (void)operation;
    mw__arg_ints(op, "crop_height", rows, 2, &count);
    mw__arg_ints(op, "crop_width", columns, 2, &count);
    for (size_t i = 0; i < 4; i++)
        cut_axis(&s, i, i < 2 ? 0 : i == 2 ? rows[0] : columns[0], i < 2 ? 0 : i == 2 ? rows[1] : columns[1]);
    mw__onnx_slice_to(w, result(w, op), arg(w, op, "x"), &s);
}
