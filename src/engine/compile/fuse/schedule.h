/* The scheduler of what runs together: the ways in which steps are joined are the rows MW_PASS_JOIN of
 * src/passes/pipeline.def. */
#ifndef MW__ENGINE_COMPILE_FUSE_SCHEDULE_H
#define MW__ENGINE_COMPILE_FUSE_SCHEDULE_H

#include "engine/compile/passes.h"

/* Joins the planner's steps by each way that is not left out and takes steps that are there. Steps stand in the order
 * of the text, afterwards fewer. */
mw_status mw__fuse_schedule(const mw__plan_request *request, mw__planner *planner, mw_error *err);

#endif
