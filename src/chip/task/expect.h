/* What the interpreter understands: words of a task that must have certain values, each with the name under which
 * others are refused. */
#ifndef MW__CHIP_TASK_EXPECT_H
#define MW__CHIP_TASK_EXPECT_H

#include "chip/task/task.h"

/* Holds a task to the rows for all tasks and for its engine.
 * errors  MW_ERROR_UNSUPPORTED, naming register, value and what that means */
mw_status mw__chip_expect_task(const mw__task *task, bool neural, mw_error *err);

/* The rows, for documents: NULL behind the last. */
typedef struct mw__chip_expectation {
    mw__field_id field;
    bool neural, planar;   /* of which tasks it is asked */
    uint32_t least, most;  /* what is understood */
    const char *otherwise; /* what another value means, or that nobody knows */
} mw__chip_expectation;
const mw__chip_expectation *mw__chip_expectations(size_t index);

#endif
