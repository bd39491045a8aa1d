/* What a function's steps and buffers are collected in while it is planned. Kernels see it through core/step.h only;
 * the driver that fills and reads it is compile/plan_function.c. */
#ifndef MW__ENGINE_CORE_PLANNER_H
#define MW__ENGINE_CORE_PLANNER_H

#include "engine/core/buffer.h"
#include "engine/core/kernel.h"
#include "engine/core/step.h"

enum { MW__PLANNER_ITERS = 32 };

struct mw__planner {
    mw__arena *arena; /* of everything that stays */
    const mw__config *config;
    mw__rounding rounding;
    int partitions;
    uint32_t *buffer_of; /* by value id */
    uint32_t *reads;     /* likewise: as how many operands */
    uint32_t *turned;    /* likewise: the buffer of its transpose, where one is kept; else MW__NO_BUFFER */
    mw__buffer *buffers;
    mw__step **steps;
    size_t buffer_count, buffer_capacity, step_count, step_capacity;
    const mw__nd_iter *iters[MW__PLANNER_ITERS]; /* planned before, by extent */
    const mw__op *op;                            /* being planned */
    const char *implementation, *declined;       /* so far, of its plan */
    mw_error error;                              /* the first failure */
    mw__step dummy;
    mw__step_operand dummy_operands[MW__STEP_READS + MW__STEP_WRITES];
};

/* 0 after a failure: there is always a first buffer. */
uint32_t mw__planner_add_buffer(mw__planner *planner, mw__buffer buffer);
/* NULL, after a failed allocation, is left out. */
void mw__planner_add_step(mw__planner *planner, mw__step *step);
void mw__planner_add_copy(mw__planner *planner, uint32_t from, uint32_t to);
/* Bytes of a value; false, with an error, if they are not known. */
bool mw__planner_size(mw__planner *planner, const mw_tensor *value, size_t *out);
#endif
