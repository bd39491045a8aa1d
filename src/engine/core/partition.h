/* Which units of a step each partition takes, what follows for the bytes that it touches, and running one step so. */
#ifndef MW__ENGINE_CORE_PARTITION_H
#define MW__ENGINE_CORE_PARTITION_H

#include "engine/core/step.h"

/* First unit of `partition`: partitions take contiguous ranges that begin at multiples of the grain. */
int64_t mw__partition_begin(const mw__step *step, int partition, int partitions);
/* True if no two different partitions touch a common byte, one as `a` of `a_step`, the other as `b` of `b_step`. */
bool mw__partitions_disjoint(int partitions, const mw__step *a_step, const mw__step_operand *a, const mw__step *b_step,
                             const mw__step_operand *b);
/* Each unit touches bytes of its own alone, of rows or in planes. */
bool mw__step_operand_has_units(const mw__step_operand *operand);
/* True if the write may lie over the read: unit by unit they touch the same bytes. */
bool mw__step_operand_goes_with(const mw__step_operand *read, const mw__step_operand *write);
/* True if `step` may write its operand `write` over the memory of the buffer `read`. */
bool mw__step_in_place(const mw__step *step, uint32_t read, uint32_t write);

/* Runs one step on the caller, partition after partition.
 * flush  as that of the configuration */
void mw__execute_step(const mw__step *step, int partitions, bool flush, const void *const *in, void *const *out,
                      void *scratch);

#endif
