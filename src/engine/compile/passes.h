/* What the files of this folder do one after the other to a function: steps, folded, fused. */
#ifndef MW__ENGINE_COMPILE_PASSES_H
#define MW__ENGINE_COMPILE_PASSES_H

#include "engine/compile/compiled.h"
#include "graph/transform/lower.h"
#include "passes/log.h"

/* Plans `function`; everything that stays is in `arena`. */
typedef struct mw__plan_request {
    const mw__function *function;
    mw__arena *arena;
    const mw__config *config; /* of the compiler; not kept */
    mw__rounding rounding;    /* of the function's values */
    int partitions;
    const mw__lowered *lowered; /* its last outputs are those of the states; NULL = it has none */
    bool nested;                /* a block: its ports have no names */
    mw__pass_log *log;          /* or NULL */
    const char *name;           /* of the function, for the log */
} mw__plan_request;
mw_status mw__plan_function(const mw__plan_request *request, mw__program *program, mw_error *err);
/* Adds to counts[id] as how many operands of its operations each value is read. */
void mw__count_operands(const mw__block *body, uint32_t *counts);
/* A branch or loop, as a step of the planner. */
mw_status mw__plan_nested(mw__planner *planner, const mw__plan_request *request, const mw__op *op, mw_error *err);

/* What the passes over steps work on. */
typedef struct mw__pass {
    mw__arena *arena;
    const mw__config *config;
    mw__buffer *buffers;
    size_t buffer_count;
    int partitions; /* that the plan is for: a step that is run beforehand has the bits that it would have there */
    struct mw__planner *planner;            /* whose these are; it may get more buffers */
    const mw__pass_log *log;                /* or NULL */
    const struct mw__fuse_weights *weights; /* of the way by which steps are joined (fuse/cost.h) */
} mw__pass;

/* Steps in the order of the text; afterwards fewer: those on constants alone have run, their results are constants. */
mw_status mw__plan_fold_steps(const mw__pass *pass, mw__step **steps, size_t *step_count, mw_error *err);

/* Values that are kept for much later are made again there, where that is cheap; afterwards more steps. */
mw_status mw__plan_redo_steps(const mw__pass *pass, mw_error *err);

#endif
