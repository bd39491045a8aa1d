/* What each kernel of a pattern takes, and its plan. */
#ifndef MW__ENGINE_KERNELS_PATTERN_PLANS_H
#define MW__ENGINE_KERNELS_PATTERN_PLANS_H

#include "engine/core/pattern.h"

bool mw__conv_dweight_suits(const mw__op *conv);
mw_status mw__plan_conv_dweight(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
bool mw__conv_dweight_argmax_suits(const mw__op *conv, const mw__op *pool);
/* The product `matmul` of columns: the numbers of their convolution, read but not compared, and x. */
bool mw__conv_columns_read(const mw__op *matmul, const mw_tensor **out_x, mw__conv *out);
/* y, what the product of columns is reshaped to, has their channels on axis 1. */
bool mw__conv_columns_bias_suits(const mw__pattern *columns, const mw_tensor *y);
mw_status mw__plan_conv_columns(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
/* The x of reduce_min(select(abs(x) <= limit, 1, 0)) over all axes, or without the minimum of a single number; NULL if
 * `good` is not that. */
const mw_tensor *mw__all_within_read(const mw_tensor *good, float *out_limit);
mw_status mw__plan_all_within(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
bool mw__relu_max_pool_suits(const mw__op *pool);
mw_status mw__plan_relu_max_pool(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
/* `half`: what is added is rounded to fp16, so that sums of several must stay as they are written. */
bool mw__max_pool_gradient_suits(const mw__op *pool, bool half);
mw_status mw__plan_max_pool_gradient(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
mw_status mw__plan_unpool(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
bool mw__conv_max_pool_suits(const mw__op *conv, const mw__op *pool);
mw_status mw__plan_conv_max_pool(mw__planner *planner, const mw__pattern *pattern, mw_error *err);
bool mw__conv_by_argmax_suits(const mw__op *conv, const mw__op *pool);
mw_status mw__plan_conv_by_argmax(mw__planner *planner, const mw__pattern *pattern, mw_error *err);

#endif
