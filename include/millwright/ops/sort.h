/* Sorting and the largest elements.
 *
 *     mw_tensor *order = mw_argsort(scores, -1, false);             // [N, C] -> [N, C], the best class first
 *     mw_tensor *values, *classes;
 *     mw_topk(scores, 5, -1, false, &values, &classes);             // [N, C] -> [N, 5] and [N, 5]
 *
 * Order. Of equal elements the one with the lower index comes first, ascending and descending, whatever the number of
 * threads; -0 equals 0. NaN counts as larger than every number, as in PyTorch: last ascending, first descending. MIL
 * states neither. A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_SORT_H
#define MILLWRIGHT_OPS_SORT_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** r = the indices along axis that sort x; MIL's own default is descending.
 *  x          [.., n, ..]  F16, F32 or I32
 *  axis       in [-rank, rank)
 *  ascending  false: the largest first
 *  return     [.., n, ..]  I32
 *  errors     MW_ERROR_ARGUMENT if axis is out of range, MW_ERROR_DTYPE
 *  vjp        none: integers
 *  source     MIL argsort */
MW_API mw_tensor *mw_argsort(mw_tensor *x, int axis, bool ascending);

/** The k largest elements along axis and where they stand, sorted.
 *  x            [.., n, ..]  F16, F32 or I32; from MW_IOS17 on also I8, I16, U8 and U16
 *  k            in [1, n]; in a text of ios17 -1 stands for n
 *  axis         in [-rank, rank)
 *  ascending    true: the k smallest, the smallest first
 *  out_values   receives [.., k, ..], dtype of x
 *  out_indices  receives [.., k, ..], I32; NULL = not wanted
 *  return       MW_OK or the error, which is also left on the graph; both results are NULL then
 *  errors       MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
 *  vjp          dx = scatter_along_axis(0, indices, dvalues, axis, add)
 *  source       MIL topk. Its sort = false (MW_IOS16, by mw_op) leaves the order open; here it is the same. Its
 *               output_indices_dtype (MW_IOS17, by mw_op) may be int8, int16, int32, uint8 or uint16, if n fits */
MW_API mw_status mw_topk(mw_tensor *x, int64_t k, int axis, bool ascending, mw_tensor **out_values,
                         mw_tensor **out_indices);

/** The numbers of mw_non_maximum_suppression; fill it with mw_non_maximum_suppression_defaults. */
typedef struct mw_non_maximum_suppression_options {
    size_t struct_size;    /* set by mw_non_maximum_suppression_defaults */
    float iou_threshold;   /* a box goes whose intersection with one that stays, divided by their union, is above this;
                              default 0.5 */
    float score_threshold; /* a box goes whose largest score is below this; default -infinity. Not from MW_IOS17 on,
                              where MIL has none: only -infinity then */
    bool per_class;        /* only boxes with the same class, that of their largest score, compete; default false */
} mw_non_maximum_suppression_options;

/** Returns the default options. */
MW_API mw_non_maximum_suppression_options mw_non_maximum_suppression_defaults(void);

/** The boxes that stay, of each image: the box with the largest score, then the next of those left that overlaps none
 *  of the ones that stay by more than iou_threshold, and so on, at most max_boxes; of equal scores the lower index
 *  first. What is not filled is 0, of the indices -1.
 *  boxes        [N, B, 4]  F16 or F32: column and row of the center, width, height; MW_IOS17: [N, 4, B]
 *  scores       [N, B, K]  dtype of boxes, K classes, at least one;                  MW_IOS17: [N, K, B]
 *  max_boxes    M, at least 1; may exceed B
 *  options      NULL = mw_non_maximum_suppression_defaults()
 *  out_boxes    receives [N, M, 4], MW_IOS17: [N, 4, M], dtype of boxes
 *  out_scores   receives [N, M, K], MW_IOS17: [N, K, M], dtype of boxes
 *  out_indices  receives [N, M], I32: which of the B boxes; NULL = not wanted
 *  out_counts   receives [N], I32: how many stay; NULL = not wanted. From MW_IOS17 on MIL has none: must be NULL
 *  return       MW_OK or the error, which is also left on the graph; all results are NULL then
 *  errors       MW_ERROR_SHAPE, MW_ERROR_ARGUMENT, MW_ERROR_DTYPE; MW_ERROR_UNSUPPORTED for a score_threshold or counts
 *               that the opset does not have
 *  vjp          the cotangents of the boxes that stay, and of their scores, go to where they stood
 *  source       MIL non_maximum_suppression, which says neither how boxes of one score are ordered nor what is not
 *               filled. Two boxes without area do not overlap. NaN counts as the largest score; a box with a NaN goes
 *               unless it comes first */
MW_API mw_status mw_non_maximum_suppression(mw_tensor *boxes, mw_tensor *scores, int64_t max_boxes,
                                            const mw_non_maximum_suppression_options *options, mw_tensor **out_boxes,
                                            mw_tensor **out_scores, mw_tensor **out_indices, mw_tensor **out_counts);

#ifdef __cplusplus
}
#endif
#endif
