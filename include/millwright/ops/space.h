/* Blocks moved between space, channels and batch. A block is b rows of b elements; (i, j) is the position in it.
 *
 *     mw_tensor *fine = mw_pixel_shuffle(x, 2);                            // [N, 4 C, H, W] -> [N, C, 2 H, 2 W]
 *
 * x is [N, C, H, W] of any element type. A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_SPACE_H
#define MILLWRIGHT_OPS_SPACE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- channels and space ---- */

/** y[n, c, h b + i, w b + j] = x[n, (i b + j) C + c, h, w]: TensorFlow's order (DCR of ONNX).
 *  x       [N, b b C, H, W]
 *  block   b, in [1, 32767]
 *  return  [N, C, H b, W b]
 *  errors  MW_ERROR_SHAPE if the channels do not divide, MW_ERROR_ARGUMENT
 *  vjp     dx = space_to_depth(dy, b)
 *  source  MIL depth_to_space */
MW_API mw_tensor *mw_depth_to_space(mw_tensor *x, int64_t block);

/** y[n, (i b + j) C + c, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_depth_to_space.
 *  x       [N, C, H b, W b]
 *  block   b, in [1, 32767]
 *  return  [N, b b C, H, W]
 *  errors  MW_ERROR_SHAPE if height or width do not divide, MW_ERROR_ARGUMENT
 *  vjp     dx = depth_to_space(dy, b)
 *  source  MIL space_to_depth */
MW_API mw_tensor *mw_space_to_depth(mw_tensor *x, int64_t block);

/** y[n, c, h b + i, w b + j] = x[n, c b b + i b + j, h, w]: PyTorch's order (CRD of ONNX).
 *  x       [N, C b b, H, W]
 *  factor  b, in [1, 32767]
 *  return  [N, C, H b, W b]
 *  errors  MW_ERROR_SHAPE if the channels do not divide, MW_ERROR_ARGUMENT
 *  vjp     dx = pixel_unshuffle(dy, b)
 *  source  MIL pixel_shuffle, PyTorch's pixel_shuffle */
MW_API mw_tensor *mw_pixel_shuffle(mw_tensor *x, int64_t factor);

/** y[n, c b b + i b + j, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_pixel_shuffle.
 *  x       [N, C, H b, W b]
 *  factor  b, in [1, 32767]
 *  return  [N, C b b, H, W]
 *  errors  MW_ERROR_SHAPE if height or width do not divide, MW_ERROR_ARGUMENT; MW_ERROR_UNSUPPORTED below MW_IOS16
 *  vjp     dx = pixel_shuffle(dy, b)
 *  source  MIL pixel_unshuffle, PyTorch's pixel_unshuffle */
MW_API mw_tensor *mw_pixel_unshuffle(mw_tensor *x, int64_t factor);

/* ---- batch and space ---- */

/** y[(i b1 + j) N + n, c, h, w] = p[n, c, h b0 + i, w b1 + j], where p is x with a border of zeros.
 *  x         [N, C, H, W]
 *  block     b0 rows and b1 columns, each in [1, 32767]
 *  paddings  rows above, rows below, columns before, columns after; each >= 0
 *  return    [N b0 b1, C, (H + above + below) / b0, (W + before + after) / b1]
 *  errors    MW_ERROR_SHAPE if the padded height or width does not divide, MW_ERROR_ARGUMENT
 *  vjp       dx = batch_to_space(dy, block, crops = paddings)
 *  source    MIL space_to_batch, TensorFlow's order of the batch */
MW_API mw_tensor *mw_space_to_batch(mw_tensor *x, const int64_t block[2], const int64_t paddings[4]);

/** y = p without its border, where p[n, c, h b0 + i, w b1 + j] = x[(i b1 + j) N + n, c, h, w].
 *  x       [N b0 b1, C, H, W]
 *  block   b0 rows and b1 columns, each in [1, 32767]
 *  crops   rows above, rows below, columns before, columns after; each >= 0
 *  return  [N, C, H b0 - above - below, W b1 - before - after]
 *  errors  MW_ERROR_SHAPE if the batch does not divide or less than nothing is left, MW_ERROR_ARGUMENT
 *  vjp     dx = space_to_batch(dy, block, paddings = crops)
 *  source  MIL batch_to_space, TensorFlow's order of the batch */
MW_API mw_tensor *mw_batch_to_space(mw_tensor *x, const int64_t block[2], const int64_t crops[4]);

#ifdef __cplusplus
}
#endif
#endif
