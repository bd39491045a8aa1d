/* Gradients of each example (mw_vmap): how long they are, and their sum with none longer than a limit.
 *
 *     mw_vmap(gradients, NULL, x, mapped, 3, &dw, 1, &err);   // [B, O, I]
 *     mw_clip_examples(&dw, 1, 1.0, &sum, &err);              // [O, I]
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_PER_EXAMPLE_H
#define MILLWRIGHT_PER_EXAMPLE_H

#include <millwright/autograd.h>

#ifdef __cplusplus
extern "C" {
#endif

/** n[b] = sqrt(sum over i and all elements of dx[i][b]^2): how long the gradient of each example is.
 *  dx      count >= 1 tensors [B, ..]  F16 or F32, all of one type
 *  return  [B]; lives as long as the graph. NULL for a NULL tensor
 *  errors  MW_ERROR_SHAPE if a first extent differs, MW_ERROR_DTYPE */
MW_API mw_tensor *mw_example_norms(mw_tensor *const *dx, size_t count);

/** out_sums[i] = sum over b of dx[i][b] min(1, limit / n[b]), n of mw_example_norms: no example moves the sum by more
 *  than `limit`. With noise of a deviation in proportion to the limit it is the gradient of DP-SGD
 *  (docs/autograd.md).
 *  dx        count >= 1 tensors [B, ..]  F16 or F32, all of one type
 *  limit     > 0
 *  out_sums  receives count tensors of the shapes of dx without the first axis
 *  errors    as mw_example_norms; MW_ERROR_ARGUMENT for the limit. Then all are NULL
 *  source    Abadi et al. 2016, "Deep Learning with Differential Privacy", algorithm 1 */
MW_API mw_status mw_clip_examples(mw_tensor *const *dx, size_t count, double limit, mw_tensor **out_sums,
                                  mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
