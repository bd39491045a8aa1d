/* Finding the groups of operations that one kernel computes (core/pattern.h). */
#ifndef MW__ENGINE_COMPILE_PATTERNS_H
#define MW__ENGINE_COMPILE_PATTERNS_H

#include "engine/core/pattern.h"

/* One entry for each operation of the body, in `arena`: what its result is, or MW__PATTERN_NONE. NULL with err set
 * after a failed allocation. */
mw__pattern *mw__patterns_find(const mw__function *function, const mw__rounding *rounding, mw__arena *arena,
                               mw_error *err);

/* Joins convolutions with the poolings after them, and with the gradients of those, where the result between them is
 * not needed. In patterns_join.c. */
mw_status mw__patterns_join(const mw__function *function, mw__pattern *patterns, mw__arena *arena, mw_error *err);

/* Numbers that say whether tensors are within limits, and their products. In patterns_within.c. */
mw_status mw__patterns_find_within(const mw__function *function, mw__pattern *patterns, mw__arena *arena,
                                   mw_error *err);

/* One more operation that it computes. */
mw_status mw__pattern_add_op(mw__arena *arena, mw__pattern *pattern, const mw__op *op, mw_error *err);

/* Plans the group as steps of its own. */
mw_status mw__plan_pattern(mw__planner *planner, const mw__pattern *pattern, mw_error *err);

#endif
