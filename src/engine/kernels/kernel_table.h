/* Which kernel plans an operation. */
#ifndef MW__ENGINE_KERNELS_KERNEL_TABLE_H
#define MW__ENGINE_KERNELS_KERNEL_TABLE_H

#include "engine/core/step.h"

/* The plan function of an operation. */
mw__kernel_plan *mw__kernel_find(mw__op_id id);

#endif
