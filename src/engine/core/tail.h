/* What a step does to its results while they are near, in the place of element-wise steps behind it. A kernel that can
 * says so by mw__step.fusion.tail, which lies in its block, and calls mw__tail_run on each run of results that it has
 * stored; engine/compile/fuse/tails.c fills it. The loops are those of the steps, so that the bits are the same. */
#ifndef MW__ENGINE_CORE_TAIL_H
#define MW__ENGINE_CORE_TAIL_H

#include "engine/core/step.h"

#define MW__TAIL_MOST 4

typedef void mw__tail_unary(float *out, const float *x, int64_t count, float p, float q);
typedef void mw__tail_binary(float *out, const float *x, const float *y, int64_t count);

typedef struct mw__tail_part {
    mw__tail_unary *unary; /* one of the two */
    mw__tail_binary *binary;
    float p, q;  /* of unary */
    size_t read; /* of the step: the other operand of binary, of as many elements as the result */
    bool turned; /* the result is the second operand */
} mw__tail_part;

typedef struct mw__tail {
    bool beside; /* takes another tensor too: where results are stored in their order, so that it is read in its own */
    double most; /* additions that one function may take as long as: those of short runs are for cheap ones */
    size_t count;
    mw__tail_part parts[MW__TAIL_MOST];
} mw__tail;

/* How many parts at the beginning look at nothing but the number itself, so that its place does not matter. */
static inline size_t mw__tail_placeless(const mw__tail *tail)
{
    size_t count = 0;
    while (count < tail->count && tail->parts[count].unary != NULL)
        count++;
    return count;
}

/* These, of numbers that are not stored yet. */
static inline void mw__tail_run_placeless(const mw__tail *tail, float *numbers, int64_t count)
{
    for (size_t i = 0; i < mw__tail_placeless(tail); i++)
        tail->parts[i].unary(numbers, numbers, count, tail->parts[i].p, tail->parts[i].q);
}

/* The parts from `first` on, of results [at, at + count) of the step's first write. */
static inline void mw__tail_run(const mw__tail *tail, size_t first, const mw__kernel_call *call, int64_t at,
                                int64_t count)
{
    float *const y = (float *)call->out[0] + at;
    for (size_t i = first; i < tail->count; i++) {
        const mw__tail_part *part = &tail->parts[i];
        const float *const other = part->unary == NULL ? (const float *)call->in[part->read] + at : NULL;
        if (part->unary != NULL)
            part->unary(y, y, count, part->p, part->q);
        else if (part->turned)
            part->binary(y, other, y, count);
        else
            part->binary(y, y, other, count);
    }
}

#endif
