/* What the text of a plan and its trace share. */
#ifndef MW__INSPECT_PLAN_H
#define MW__INSPECT_PLAN_H

#include "runtime/plan/plan_read.h"

#define MW__INSPECT_FIXED_MAX 48

/* plan_print.c: `value` >= 0 with `decimals` <= 6 digits after the point, whatever the locale; returns `out`. */
const char *mw__inspect_fixed(char out[MW__INSPECT_FIXED_MAX], double value, int decimals);

#endif
