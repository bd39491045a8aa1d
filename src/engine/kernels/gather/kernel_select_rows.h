/* select where the condition is one for all elements of a row (kernel_select_rows.c). */
#ifndef MW__ENGINE_KERNELS_SELECT_ROWS_H
#define MW__ENGINE_KERNELS_SELECT_ROWS_H

#include "engine/core/step.h"

/* Whether what is not chosen is an input of the function, of the type of the result, and rows are chosen whole. */
bool mw__select_rows_suits(const mw__planner *planner, const mw__op *op);
mw_status mw__plan_select_rows(mw__planner *planner, const mw__op *op, mw_error *err);

#endif
