/* Runs the ways of joining work over the steps of a function, in the order of their rows. */
#include "engine/compile/fuse/schedule.h"

#include "engine/compile/fuse/ways.h"
#include "engine/compile/step_pass.h"

/* What steps are there, by bit: their kinds, then what else may be done with them. */
enum {
    NOTHING = 0,
    ELEMENTS = 1 << MW__STEP_ELEMENT,
    REDUCTIONS = 1 << MW__STEP_REDUCTION,
    CHECKS = 1 << MW__STEP_CHECK,
    PRODUCTS = 1 << MW__STEP_PRODUCT,
    EPILOGUES = PRODUCTS << 1,
    UNITS = PRODUCTS << 2 /* blocks of them may run between those of other steps */
};

typedef struct way {
    mw__step_pass pass;
    unsigned takes; /* it does something where there is a step of one of these */
    mw__fuse_weights weights;
    mw__fuse_way *join;
} way;

static const way ways[] = {
#define MW_PASS_JOIN(id, need, takes, least, held, function, invariant, sentence)                                      \
    {{MW__RULE_##id, mw__steps_##invariant, #invariant}, takes, {least, held}, mw__fuse_##function},
#include "passes/pipeline.def"
};

static unsigned offers_of(const mw__planner *planner)
{
    unsigned offers = NOTHING;
    for (size_t s = 0; s < planner->step_count; s++) {
        const mw__step *step = planner->steps[s];
        offers |= 1u << step->fusion.kind | (step->fusion.tail != NULL ? EPILOGUES : NOTHING) |
                  (step->span > 0 ? UNITS : NOTHING);
    }
    return offers;
}

static mw_status join_by(const way *w, const mw__plan_request *request, mw__planner *planner, mw_error *err)
{
    const mw__pass pass = {.arena = planner->arena,
                           .config = planner->config,
                           .buffers = planner->buffers,
                           .buffer_count = planner->buffer_count,
                           .partitions = planner->partitions,
                           .log = request->log,
                           .weights = &w->weights,
                           .planner = planner};
    return w->join(&pass, err);
}

mw_status mw__fuse_schedule(const mw__plan_request *request, mw__planner *planner, mw_error *err)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        mw__step_run run;
        const way *w = &ways[i];
        MW_TRY(mw__step_pass_begin(&run, request, planner, &w->pass, err));
        if (!mw__step_pass_is_off(request, w->pass.id) && (offers_of(planner) & w->takes) != 0)
            MW_TRY(join_by(w, request, planner, err));
        MW_TRY(mw__step_pass_end(&run, planner, err));
    }
    return MW_OK;
}
