/* What a step does, in numbers that can be counted: bytes and floating-point operations. Plans are shown with them; no
 * decision depends on them (those are made by mw__step.cost, an estimate in ns). */
#ifndef MW__ENGINE_COMPILE_PLAN_WORK_H
#define MW__ENGINE_COMPILE_PLAN_WORK_H

#include "engine/core/buffer.h"

typedef struct mw__work {
    uint64_t *read, *written; /* bytes, by operand; a buffer that is met twice counts at its larger operand, 0 at the
                                 other; the caller's */
    uint64_t bytes_read, bytes_written;
    double flops; /* negative: unknown */
} mw__work;

/* Bytes are those that a run cannot do without: each that is touched once, whatever caches make of it. Of operations
 * the usual ones are counted: addition, subtraction, multiplication, division, square root, comparison, maximum and
 * minimum as 1, a multiplication with addition as 2; a step with exp or another such function has no number. */
mw__work mw__step_work(const mw__buffer *buffers, const mw__step *step, uint64_t *read, uint64_t *written);

#endif
