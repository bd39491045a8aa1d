/* Between the files of the strided copy. */
#ifndef MW__ENGINE_KERNELS_SHAPE_KERNEL_SHAPE_H
#define MW__ENGINE_KERNELS_SHAPE_KERNEL_SHAPE_H

#include "engine/core/kernel.h"

/* Plans the copy by tiles, with its finished iter; false, and nothing planned, if it has no such axes. */
bool mw__plan_tiles(mw__planner *planner, const mw__copy *copy, const mw__nd_iter *iter);

#endif
