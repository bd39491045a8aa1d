/* Pooling: windows that slide over the spatial axes of [N, C, *S], each giving one number.
 *
 *     mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
 *     two.stride[0] = two.stride[1] = 2;                           // PyTorch's default is the kernel, MIL's is 1
 *     mw_tensor *h = mw_max_pool(x, &two);                         // [N, C, H, W] -> [N, C, H / 2, W / 2]
 *     mw_tensor *all = mw_reduce_mean(x, MW_AXES(2, 3), true);     // global pooling is a reduction
 *
 * N is the batch, C channels, *S one to three spatial extents, K those of the kernel, s the stride, b and a the padding
 * before and after an axis. Padding and what ceil_mode adds hold no elements. A window without any element gives -inf
 * in max_pool and 0 elsewhere, one with a NaN gives NaN. A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_POOL_H
#define MILLWRIGHT_OPS_POOL_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers of a pooling; fill it with mw_pool_defaults. Entry i of stride, and entries 2i (before) and 2i + 1
 *  (after) of pad, belong to spatial axis i. */
typedef struct mw_pool_options {
    size_t struct_size;   /* set by mw_pool_defaults */
    mw_shape kernel;      /* K >= 1, one extent per spatial axis */
    int64_t stride[3];    /* s >= 1; default 1, as in MIL (PyTorch: the kernel) */
    mw_pad_type pad_type; /* default MW_PAD_VALID */
    int64_t pad[6];       /* >= 0, for MW_PAD_CUSTOM; default 0 */
    bool ceil_mode;       /* round the result's extent up; one or two spatial axes, equal padding on both sides, not
                             with MW_PAD_SAME. Default false */
    bool exclude_padding; /* mw_avg_pool: divide by the elements inside x only. Default false */
} mw_pool_options;

/** Returns the default options for a kernel. */
MW_API mw_pool_options mw_pool_defaults(mw_shape kernel);

/** y[n, c, o] = largest of x[n, c, o s - b + k] over k in [0, K).
 *  x        [N, C, *S]  F16 or F32; no spatial extent is 0
 *  options  not NULL
 *  return   [N, C, floor((S + b + a - K) / s) + 1 for each axis]; MW_PAD_SAME: ceil(S / s). With ceil_mode rounded
 *           up, then less 1 if the axis is padded and its last window would start at or beyond S + b (PyTorch does
 *           that without padding too)
 *  errors   MW_ERROR_SHAPE if the kernel exceeds the padded x or x has another rank; MW_ERROR_ARGUMENT for a kernel
 *           extent or stride below 1, a negative pad, what ceil_mode excludes, or options not made by
 *           mw_pool_defaults; MW_ERROR_DTYPE
 *  vjp      dx = each dy at the first largest element of its window, in row-major order; padding never takes any.
 *           Where windows overlap their shares add up. At most 4096 elements a window
 *  source   MIL max_pool; ties as PyTorch */
MW_API mw_tensor *mw_max_pool(mw_tensor *x, const mw_pool_options *options);

/** y[n, c, o] = sum of x[n, c, o s - b + k] over k in [0, K), divided by the elements of the window that stand within
 *  [-b, S + a) of each axis, or by those within x (exclude_padding); arguments, shapes and errors as mw_max_pool.
 *  vjp      dx = dy / that count, spread over the window
 *  source   MIL avg_pool; MIL leaves the count of windows cut by ceil_mode open, it is PyTorch's */
MW_API mw_tensor *mw_avg_pool(mw_tensor *x, const mw_pool_options *options);

/** y[n, c, o] = sqrt(sum of x[n, c, o s - b + k]^2 over k in [0, K)); one or two spatial axes, the rest as mw_max_pool.
 *  vjp      dx = x * (dy / y spread over the window); 0 where y is 0
 *  source   MIL l2_pool; PyTorch's LPPool with norm 2 */
MW_API mw_tensor *mw_l2_pool(mw_tensor *x, const mw_pool_options *options);

#ifdef __cplusplus
}
#endif
#endif
