/* Resizing and cropping of images x [.., C, H, W].
 *
 *     mw_tensor *twice = mw_upsample_nearest_neighbor(x, 2, 2);
 *     mw_tensor *small = mw_resize_bilinear(x, 32, 32, MW_SAMPLING_UNALIGN_CORNERS);
 *
 * Resizing takes the last two axes one after the other. Along an axis of n elements, element i of m stands at a
 * position p between the elements of x, clamped to [0, n - 1], and is (1 - f) x[floor(p)] + f x[floor(p) + 1], where f
 * is the fraction of p; or it is one element of x, the nearest. Each result is linear in x, so that a VJP is the
 * product with the transposed matrices of interpolation.
 *
 * In the VJPs y is the result and dy its cotangent. Every call returns NULL and leaves an error on the graph when it
 * fails; a NULL operand yields NULL. Results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_IMAGE_H
#define MILLWRIGHT_OPS_IMAGE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where element i of m stands among n elements. */
typedef enum mw_sampling_mode {
    MW_SAMPLING_DEFAULT,              /* i n / m */
    MW_SAMPLING_STRICT_ALIGN_CORNERS, /* i (n - 1) / (m - 1); 0 for m = 1 (PyTorch's align_corners) */
    MW_SAMPLING_ALIGN_CORNERS,        /* i (n - 1) / (m - 1); (n - 1) / 2 for m = 1 */
    MW_SAMPLING_UNALIGN_CORNERS,      /* (i + 1/2) n / m - 1/2 (PyTorch's default) */
    MW_SAMPLING_OFFSET_CORNERS        /* (i + 1/2) max(1, n - 1) / m */
} mw_sampling_mode;

/** What is made of the elements around a position. */
typedef enum mw_interpolation_mode {
    MW_INTERPOLATION_LINEAR,
    MW_INTERPOLATION_NEAREST /* the nearest element; if two are equally near, the later one. MW_SAMPLING_DEFAULT gives
                                the same as MW_SAMPLING_UNALIGN_CORNERS: element floor((i + 1/2) n / m), PyTorch's
                                "nearest-exact". coremltools writes it so for TensorFlow's half_pixel_centers */
} mw_interpolation_mode;

/** y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] for y of extents height and width.
 *  x             [.., C, H, W]  rank at least 3, F16 or F32
 *  scale_height  positive; an integral factor is written as an integer
 *  scale_width   positive
 *  return        [.., C, floor(H * scale_height), floor(W * scale_width)]  dtype of x. The factors say no more than
 *                these extents (PyTorch's recompute_scale_factor): 3 elements by 1.12 are the same 3
 *  errors        MW_ERROR_SHAPE if the rank is below 3, an axis is empty or becomes so; MW_ERROR_ARGUMENT for a factor
 *                that is not positive; MW_ERROR_DTYPE
 *  vjp           dx = sum of dy over the copies
 *  source        MIL upsample_nearest_neighbor */
MW_API mw_tensor *mw_upsample_nearest_neighbor(mw_tensor *x, float scale_height, float scale_width);

/** y = x resized linearly by a factor; arguments, result and errors as mw_upsample_nearest_neighbor.
 *  align_corners  true: the positions of MW_SAMPLING_STRICT_ALIGN_CORNERS; false: of MW_SAMPLING_UNALIGN_CORNERS with
 *                 the ratio of the extents (PyTorch takes the factor itself, which is the same for integral factors).
 *                 MIL's ios16 form with half_pixel_centers = false as well takes those of MW_SAMPLING_DEFAULT
 *  vjp            dx = dy weighted as x was
 *  source         MIL upsample_bilinear */
MW_API mw_tensor *mw_upsample_bilinear(mw_tensor *x, float scale_height, float scale_width, bool align_corners);

/** y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] (PyTorch's "nearest", computed exactly).
 *  x       [.., C, H, W]  rank at least 3, F16 or F32
 *  height  at least 1
 *  width   at least 1
 *  return  [.., C, height, width]  dtype of x
 *  errors  MW_ERROR_SHAPE if the rank is below 3 or an axis is empty; MW_ERROR_ARGUMENT for a size below 1;
 *          MW_ERROR_DTYPE
 *  vjp     dx = sum of dy over the copies
 *  source  MIL resize_nearest_neighbor, which does not say which element is near */
MW_API mw_tensor *mw_resize_nearest_neighbor(mw_tensor *x, int64_t height, int64_t width);

/** y = x resized linearly; arguments, result and errors as mw_resize_nearest_neighbor.
 *  sampling  MW_ERROR_ARGUMENT for another value
 *  vjp       dx = dy weighted as x was
 *  source    MIL resize_bilinear */
MW_API mw_tensor *mw_resize_bilinear(mw_tensor *x, int64_t height, int64_t width, mw_sampling_mode sampling);

/** y = x resized linearly or to the nearest element; needs MW_IOS17. x may have any rank from 2 on. x may also be I32:
 *  the fraction of a result is then dropped. An extent of 0 keeps the extent of x. Everything else is as for
 *  mw_resize_bilinear. With mw_op, resized_dims = 1 resizes only the last axis; 3 and more are refused.
 *  vjp     dx = dy weighted as x was
 *  source  MIL resize */
MW_API mw_tensor *mw_resize(mw_tensor *x, int64_t height, int64_t width, mw_interpolation_mode interpolation,
                            mw_sampling_mode sampling);

/** y = x without `top` and `bottom` rows, `left` and `right` columns.
 *  x       [N, C, H, W]  F16 or F32
 *  top .. right  at least 0; something must be left
 *  return  [N, C, H - top - bottom, W - left - right]  dtype of x
 *  errors  MW_ERROR_SHAPE if the rank is not 4 or nothing is left; MW_ERROR_ARGUMENT for a negative number;
 *          MW_ERROR_DTYPE
 *  vjp     dx = dy with a border of zeros
 *  source  MIL crop */
MW_API mw_tensor *mw_crop(mw_tensor *x, int64_t top, int64_t bottom, int64_t left, int64_t right);

#ifdef __cplusplus
}
#endif
#endif
