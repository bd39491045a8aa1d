/* What the kernels of conv's gradient by weight and bias share: the batch is cut into parts, each a row of sums, which
 * a further step adds up. */
#ifndef MW__ENGINE_KERNELS_CONV_DWEIGHT_KERNEL_CONV_DWEIGHT_H
#define MW__ENGINE_KERNELS_CONV_DWEIGHT_KERNEL_CONV_DWEIGHT_H

#include "engine/kernels/conv/kernel_conv.h"
#include "engine/kernels/pattern_plans.h"

/* The sums of a part: `weights` elements of the weight's gradient, then `biases` of the bias's, or 0. */
typedef struct mw__dweight_parts {
    int64_t share, parts; /* examples of a part */
    int64_t weights, biases;
    int64_t stride; /* floats of a part */
} mw__dweight_parts;

/* Parts of `share` examples, but at least one a partition and no more memory than the weight's size allows. */
mw__dweight_parts mw__dweight_parts_of(const mw__planner *planner, const mw__conv_dweight_match *match, int64_t share);
/* The steps that add up what `partial` holds. */
void mw__dweight_plan_sums(mw__planner *planner, const mw__dweight_parts *parts, uint32_t partial,
                           const mw__conv_dweight_match *match);

/* The row "packed" of the choice, in dweight_packed.c; subject: a match. */
const char *mw__conv_dweight_packed_declines(const void *match);
mw_status mw__plan_conv_dweight_packed(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err);
/* Whether in the form for chips both products add in the order of that file. */
bool mw__conv_columns_dweight_in_order(const mw__conv_columns_dweight_match *match, const mw__config *config,
                                       int partitions);
/* The row "depthwise", in kernel_conv_depthwise_dweight.c. */
const char *mw__conv_dweight_depthwise_declines(const void *match);
mw_status mw__plan_conv_dweight_depthwise(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err);

#endif
