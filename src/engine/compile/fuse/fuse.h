/* Between the files that fuse steps: fuse.c collects groups of element-wise steps and their sums, fuse_chain.c runs
 * groups over the same units as one step, fuse_emit.c makes the steps. */
#ifndef MW__ENGINE_COMPILE_FUSE_FUSE_H
#define MW__ENGINE_COMPILE_FUSE_FUSE_H

#include "engine/compile/fuse/ways.h"
#include "engine/kernels/fused/fused.h"

typedef struct mw__fuse_group {
    mw__step *steps[MW__FUSED_CODE];
    size_t count;
    mw__step *watches[MW__STEP_WRITES]; /* that look at what it makes */
    size_t watch_count;
    mw__step *sums[MW__FUSED_SUMS]; /* of what it makes or reads */
    size_t sum_count;
    mw__element_operand reads[MW__STEP_READS]; /* from outside */
    size_t read_count;
    int64_t elements;    /* of each tensor */
    mw__fused_view view; /* once it sums */
} mw__fuse_group;

/* A step by itself, or a group. */
typedef struct mw__fuse_item {
    mw__step *step;
    mw__fuse_group *group; /* NULL: a step */
} mw__fuse_item;

/* The buffer that a step reads as one of the group's own tensors. */
bool mw__fuse_reads(const mw__fuse_group *group, const mw__element_operand *operand);

/* Reads of `buffer` by this step. */
uint32_t mw__fuse_times_read(const mw__step *step, uint32_t buffer);

/* Groups over the same units that may run one after the other, unit by unit. */
typedef struct mw__fuse_chain {
    mw__fuse_item *items;
    size_t count;
} mw__fuse_chain;

/* Finds chains among the items, in the order in which they may stand; a chain of one item is that item. What a chain
 * makes for itself alone is computed again where it is read, if that is cheap. */
mw_status mw__fuse_find_chains(const mw__pass *pass, const mw__fuse_item *items, size_t count, mw__arena *scratch,
                               mw__fuse_chain **out, size_t *out_count, mw_error *err);

/* Puts the steps of the items in the place of the planner's. */
mw_status mw__fuse_emit(const mw__pass *pass, const mw__fuse_item *items, size_t count, mw__arena *scratch,
                        mw_error *err);

#endif
