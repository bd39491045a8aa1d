/* What holds of every plan, whatever the graph. */
#ifndef TESTS_CHIP_PLAN_PLAN_PROPERTIES_H
#define TESTS_CHIP_PLAN_PLAN_PROPERTIES_H

#include <millwright/chip_plan.h>

/* Notes what does not hold; `name` says of which program. */
void plan_check_properties(const mw_chip_plan *plan, const char *name);

#endif
