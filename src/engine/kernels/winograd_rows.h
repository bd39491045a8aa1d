/* What the choices between ways to convolve (conv/) ask of Winograd's way (winograd/), which is built on them. */
#ifndef MW__ENGINE_KERNELS_WINOGRAD_ROWS_H
#define MW__ENGINE_KERNELS_WINOGRAD_ROWS_H

#include "engine/kernels/pattern_plans.h"

struct mw__packed_request; /* conv/kernel_conv_packed.h */

/* The row "winograd" (implementation.h) of convolutions and of gradients by x. */
const char *mw__winograd_declines(const struct mw__packed_request *request);
mw_status mw__plan_winograd_conv(mw__planner *planner, const struct mw__packed_request *request, mw_error *err);
/* The same of gradients by the weight; subject: a match. */
const char *mw__winograd_dweight_declines(const void *match);
mw_status mw__plan_winograd_dweight(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err);
/* The rows "winograd.lines" of the same. */
const char *mw__winograd_lines_declines(const struct mw__packed_request *request);
mw_status mw__plan_winograd_lines(mw__planner *planner, const struct mw__packed_request *request, mw_error *err);
const char *mw__winograd_lines_dweight_declines(const void *match);
mw_status mw__plan_winograd_lines_dweight(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err);

#endif
