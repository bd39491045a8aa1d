/* Images x [N, C, H, W] sampled at places that are given.
 *
 *     mw_tensor *theta = ..;                                                  // [N, 6]: a spatial transformer
 *     mw_tensor *turned = mw_affine(x, theta, 28, 28, true);
 *     mw_tensor *warped = mw_resample(x, grid, NULL);                         // PyTorch's F.grid_sample(x, grid)
 *     mw_tensor *patches = mw_crop_resize(x, boxes, whose, 7, 7, NULL);       // of every box
 *
 * A place is a row and a column, in pixels: whole numbers are the centers of pixels. An element is (1 - f) (1 - g) a +
 * (1 - f) g b + f (1 - g) c + f g d of the four pixels around its place, where f and g are the fractions of row and
 * column; or it is one pixel, the nearest, of two the even one. Places are found in double and the element is rounded
 * once. A place that is no number gives NaN.
 *
 * Gradients flow to x and to what the places come from: coordinates, matrix, boxes. To the latter there is none of the
 * nearest pixel. An element is not differentiable in a place on the center line of pixels.
 *
 * In the VJPs y is the result and dy its cotangent. Every call returns NULL and leaves an error on the graph when it
 * fails; a NULL operand yields NULL (except where NULL is said to mean none). Results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_SAMPLE_H
#define MILLWRIGHT_OPS_SAMPLE_H

#include <millwright/graph.h>
#include <millwright/ops/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is outside the image. Of the pixels 1 2 3: */
typedef enum mw_border {
    MW_BORDER_CONSTANT, /* v v v 1 2 3 v v v */
    MW_BORDER_NEAREST,  /* 1 1 1 1 2 3 3 3 3 */
    MW_BORDER_REFLECT,  /* 2 3 2 1 2 3 2 1 2 */
    MW_BORDER_SYMMETRIC /* 3 2 1 1 2 3 3 2 1 */
} mw_border;

/** What coordinates count. The ends of a range are the centers of the outermost pixels with align_corners, else their
 *  outer edges. */
typedef enum mw_coordinates {
    MW_COORDINATES_MINUS_ONE_TO_ONE, /* [-1, 1] is the image */
    MW_COORDINATES_ZERO_TO_ONE,      /* [0, 1] is the image */
    MW_COORDINATES_PIXELS            /* 0 is the center of the first pixel; align_corners does not matter */
} mw_coordinates;

/** The numbers of mw_resample; fill it with mw_resample_defaults. */
typedef struct mw_resample_options {
    size_t struct_size;                  /* set by mw_resample_defaults */
    mw_interpolation_mode interpolation; /* default MW_INTERPOLATION_LINEAR */
    mw_border border;                    /* default MW_BORDER_CONSTANT */
    float value;                         /* of a constant border; default 0 */
    mw_coordinates coordinates;          /* default MW_COORDINATES_MINUS_ONE_TO_ONE */
    bool align_corners;                  /* default false */
} mw_resample_options;

/** Returns the default options, which are those of PyTorch's grid_sample. */
MW_API mw_resample_options mw_resample_defaults(void);

/** y[n, c, i, j] = x[n, c] at the place coordinates[n, i, j], of which the first number is the column, the second the
 *  row.
 *  x            [N, C, H, W]  F16 or F32
 *  coordinates  [N, I, J, 2]  F32 or I32; F16 from MW_IOS16, integers of 8 and 16 bits from MW_IOS17 on
 *  options      NULL = mw_resample_defaults()
 *  return       [N, C, I, J]  dtype of x
 *  errors       MW_ERROR_SHAPE for other shapes or an image without pixels; MW_ERROR_ARGUMENT for options that are not
 *               made by mw_resample_defaults; MW_ERROR_DTYPE
 *  vjp          dx = dy put back with the weights it was taken with; dcoordinates = dy times the slope of x there
 *  source       MIL resample */
MW_API mw_tensor *mw_resample(mw_tensor *x, mw_tensor *coordinates, const mw_resample_options *options);

/** y[n, c, i, j] = x[n, c] at the place (u, v): u = a0 s + a1 t + a2, v = b0 s + b1 t + b2, where (s, t) are column and
 *  row of the element in the result, and all four count from -1 to 1. Outside x is 0.
 *  x                 [N, C, H, W]      F16 or F32
 *  transform_matrix  [N or 1, 6]       dtype of x; a0 a1 a2 b0 b1 b2 of each image, or of all
 *  height            at least 1
 *  width             at least 1
 *  align_corners     as mw_coordinates says, of x and of the result; the one element of an extent of 1 is at -1 then.
 *                    Apple's compilers take true alone (coremltools: "currently not supported")
 *  return            [N, C, height, width]  dtype of x
 *  errors            MW_ERROR_SHAPE for other shapes or an image without pixels; MW_ERROR_ARGUMENT for a size below 1;
 *                    MW_ERROR_DTYPE
 *  vjp               as mw_resample; dtransform_matrix is summed over the elements
 *  source            MIL affine. mw_op reaches what mw_resample_options can say as well */
MW_API mw_tensor *mw_affine(mw_tensor *x, mw_tensor *transform_matrix, int64_t height, int64_t width,
                            bool align_corners);

/** What the four numbers of a box are. */
typedef enum mw_box {
    MW_BOX_CORNERS_HEIGHT_FIRST,     /* top, left, bottom, right */
    MW_BOX_CORNERS_WIDTH_FIRST,      /* left, top, right, bottom */
    MW_BOX_CENTER_SIZE_HEIGHT_FIRST, /* row and column of the center, height, width */
    MW_BOX_CENTER_SIZE_WIDTH_FIRST   /* column and row of the center, width, height */
} mw_box;

/** The numbers of mw_crop_resize; fill it with mw_crop_resize_defaults. */
typedef struct mw_crop_resize_options {
    size_t struct_size;        /* set by mw_crop_resize_defaults */
    mw_box box;                /* default MW_BOX_CORNERS_HEIGHT_FIRST */
    bool normalized;           /* numbers count from 0 to 1 over the centers of the pixels; default false: pixels */
    float spatial_scale;       /* times every number; default 1 */
    mw_sampling_mode sampling; /* where the elements stand in a box, as those of mw_resize_bilinear stand among its n
                                  pixels, n = bottom - top + 1; default MW_SAMPLING_DEFAULT */
    float pad_value;           /* of every element whose place is outside the image; default 0 */
} mw_crop_resize_options;

/** Returns the default options. */
MW_API mw_crop_resize_options mw_crop_resize_defaults(void);

/** y[r, c] = the part boxes[r] of image indices[r] of x, resized linearly. An element whose place is outside the image
 *  is pad_value, however near the image it is. A place is outside if it is more than 1/4096 of a pixel beyond the
 *  centers of the outermost pixels; this tolerance keeps rounding at an edge from deciding. Needs MW_IOS17.
 *  x        [B, C, H, W]  F16 or F32
 *  boxes    [R, 4]        F16, F32 or U16; U16 and other integers only for corners in pixels. A box may end before it
 *           starts; it is then read in reverse. With normalized corners and MW_SAMPLING_UNALIGN_CORNERS, such an axis
 *           is taken whole instead
 *  indices  [R]           I32 or U16, 0 to B - 1: an image that does not exist is pad_value; NULL = box r is of image r
 *  height   at least 1
 *  width    at least 1
 *  options  NULL = mw_crop_resize_defaults()
 *  return   [R, C, height, width]  dtype of x
 *  errors   MW_ERROR_SHAPE for other shapes, an image without pixels, or more boxes than images without indices;
 *           MW_ERROR_ARGUMENT for a size below 1 or options that are not made by mw_crop_resize_defaults;
 *           MW_ERROR_DTYPE
 *  vjp      as mw_resample; dboxes is summed over the elements inside the image
 *  source   MIL crop_resize. Before ios17 it takes roi [R, 1, 4, 1, 1], every box of all images: [R, B, C, ..], or
 *           [R, 1, 5, 1, 1] with the index in front: [R, 1, C, ..]; mw_op builds these */
MW_API mw_tensor *mw_crop_resize(mw_tensor *x, mw_tensor *boxes, mw_tensor *indices, int64_t height, int64_t width,
                                 const mw_crop_resize_options *options);

#ifdef __cplusplus
}
#endif
#endif
