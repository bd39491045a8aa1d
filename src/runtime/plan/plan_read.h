/* A plan as the runtime keeps it; shared by plan_read.c (making and reading), plan_print.c and trace.c. */
#ifndef MW__RUNTIME_PLAN_READ_H
#define MW__RUNTIME_PLAN_READ_H

#include "base/memory/alloc.h"
#include "runtime/dispatch/symbols.h"

#include <millwright/plan.h>

struct mw_plan {
    const mw_allocator *allocator;
    mw__arena arena;
    mw__symbols symbols;
    void *handle;             /* e5rt's plan, which owns the names of values and the spans of the runs */
    const e5rt_mw_plan *data; /* of the handle */
    mw_plan_totals totals;
    mw_plan_step *steps;
    mw_plan_buffer *buffers;
};

/* plan_time.c: fills the times of totals and steps from the runs. */
mw_status mw__program_plan_measure(mw_plan *plan, mw_error *err);

#define MW__FIXED_MAX 48

/* `value` >= 0 with `decimals` <= 6 digits after the point, whatever the locale; returns `out`. */
const char *mw__program_plan_fixed(char out[MW__FIXED_MAX], double value, int decimals);

#endif
