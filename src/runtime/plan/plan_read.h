/* A plan as the runtime keeps it. The library beside the core lends its parts to users, prints and traces it. */
#ifndef MW__RUNTIME_PLAN_READ_H
#define MW__RUNTIME_PLAN_READ_H

#include "base/memory/alloc.h"
#include "base/visible.h"
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

/* All memory that a run needs, in bytes. */
static inline uint64_t mw__program_plan_bytes(const mw_plan *plan)
{
    const mw_plan_totals *t = &plan->totals;
    return t->port_bytes + t->constant_bytes + t->intermediate_bytes + t->scratch_bytes;
}

/* plan_time.c: fills the times of totals and steps from the runs. */
mw_status mw__program_plan_measure(mw_plan *plan, mw_error *err);

/* plan_read.c: as the functions of <millwright/plan.h>, whose names are in their messages. */
MW__SIBLING mw_status mw__program_profile(mw_program *program, size_t runs, mw_error *err);
MW__SIBLING mw_status mw__trainer_profile(mw_trainer *trainer, mw_trainer_part part, size_t runs, mw_error *err);
MW__SIBLING mw_plan *mw__program_plan_create(mw_program *program, mw_error *err);
MW__SIBLING mw_plan *mw__trainer_plan_create(mw_trainer *trainer, mw_trainer_part part, mw_error *err);
/* `call` is the function in messages. NULL is fine. */
MW__SIBLING void mw__program_plan_destroy(mw_plan *plan, const char *call);

#endif
