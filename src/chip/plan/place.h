/* Laying out memory; between allocate.c and place.c. */
#ifndef MW__CHIP_PLAN_PLACE_H
#define MW__CHIP_PLAN_PLACE_H

#include "chip/plan/plan.h"

/* The layers between which a layer's values are touched: its own, and its partner's if they are issued at once. */
size_t mw__chip_plan_begin(const mw__chip_planner *p, size_t layer);
size_t mw__chip_plan_end(const mw__chip_planner *p, size_t layer);

/* Offsets of all values that are in no port. What finds no room on chip goes to DRAM. */
mw_status mw__chip_plan_place(mw__chip_planner *p);

#endif
