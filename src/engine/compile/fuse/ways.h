/* The ways of joining work (schedule.h): each takes the planner's steps and leaves fewer, or another order of them. */
#ifndef MW__ENGINE_COMPILE_FUSE_WAYS_H
#define MW__ENGINE_COMPILE_FUSE_WAYS_H

#include "engine/compile/fuse/cost.h"
#include "engine/compile/passes.h"

typedef mw_status mw__fuse_way(const mw__pass *pass, mw_error *err);

/* Looks at a buffer behind the step that makes it. */
mw__fuse_way mw__fuse_watches;
/* Large products that only the update reads, behind the flag that is made of all gradients, move there. */
mw__fuse_way mw__fuse_deferred;
/* Steps that can do more to their results take what is done to each of them behind (engine/core/tail.h). */
mw__fuse_way mw__fuse_tails;
/* Element-wise steps and sums become groups, and groups over the same units chains. */
mw__fuse_way mw__fuse_groups;
/* Runs of steps over the same units become one that runs them by blocks of these. */
mw__fuse_way mw__fuse_blocks;

#endif
