/* Passes to and over steps: what is told of them (passes/log.h), with a line for each step as their text. */
#ifndef MW__ENGINE_COMPILE_STEP_PASS_H
#define MW__ENGINE_COMPILE_STEP_PASS_H

#include "engine/compile/passes.h"
#include "engine/core/planner.h"

typedef bool mw__step_invariant(const mw__planner *planner);

/* Nothing that could be told from outside. */
mw__step_invariant mw__steps_anything;
/* What a step that an output depends on reads of what is made while the program runs, a step before it has written.
 * Others are dropped later; where a pattern computes more than its root, they read what nothing writes. */
mw__step_invariant mw__steps_ordered;

/* Which steps an output depends on, by step; freed by the caller, also after a failure. */
mw_status mw__steps_find_live(const mw__planner *planner, bool **out, mw_error *err);

typedef struct mw__step_pass {
    mw__rule_id id;
    mw__step_invariant *holds;
    const char *invariant;
} mw__step_pass;

/* True if it is left out by its name, or by MW_ENGINE_FUSE=0: that leaves out all that can be, but for patterns, which
 * say so of each operation. */
bool mw__step_pass_is_off(const mw__plan_request *request, mw__rule_id id);

typedef struct mw__step_run {
    mw__pass_run run;
    const mw__step_pass *pass;
    mw__step **before; /* the steps, in their order; NULL = nobody listens */
    size_t count;
} mw__step_run;

mw_status mw__step_pass_begin(mw__step_run *run, const mw__plan_request *request, const mw__planner *planner,
                              const mw__step_pass *pass, mw_error *err);
mw_status mw__step_pass_end(mw__step_run *run, const mw__planner *planner, mw_error *err);

#endif
