/* Numbers that a trainer computes with, in the types that its device has. */
#ifndef MW__RUNTIME_TRAINER_OPTIONS_TRAINER_NUMBERS_H
#define MW__RUNTIME_TRAINER_OPTIONS_TRAINER_NUMBERS_H

#include "runtime/trainer/object/trainer_object.h"

/* The element type that the device stores for a declared one. */
mw_dtype mw__trainer_stored(const mw_trainer *trainer, mw_dtype declared);
/* True if a number other than 0 becomes 0 or infinite in `dtype`. */
bool mw__trainer_number_is_lost(double value, mw_dtype dtype);
/* An epsilon that would be 0 in fp16 becomes the smallest that keeps a divisor from 0, with a warning. */
mw_status mw__trainer_keep_epsilon(mw_trainer *trainer, mw__optimizer *optimizer, mw_error *err);
/* Parameters that train but get no gradient: a warning of each, whose `argument` is this. */
#define MW__UNREACHED "gradient"
mw_status mw__trainer_keep_unreached(mw_trainer *trainer, mw_tensor *const *parameters, size_t count, mw_error *err);
/* What a scalar is at step `step`. */
double mw__trainer_scalar_value(const mw_trainer *trainer, const mw__trainer_scalar *scalar, float learning_rate,
                                int64_t step);
/* Sets of scalars that programs may have: [group, or the averages][fp32, fp16]. */
size_t mw__trainer_scalar_sets(const mw_trainer *trainer);
/* What averages move by at a step: a' = a + rate (p' - a). */
double mw__trainer_average_rate(const mw_trainer *trainer, int64_t step);
/* Refuses scalars of step `step` that the device's type cannot hold. */
mw_status mw__trainer_check_scalars(const mw_trainer *trainer, float learning_rate, int64_t step, mw_error *err);

/* Loss scale, epsilons and limits, which depend on the types of the model's parameters; the groups are there. */
mw_status mw__trainer_resolve_numbers(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);

/* ---- trainer_limits.c ---- */

/* The largest number of the type that x is stored in. */
double mw__trainer_largest(const mw_trainer *trainer, const mw_tensor *x);
/* Of every group: within which its update is finite. */
void mw__trainer_set_limits(mw_trainer *trainer);
const mw__optimizer_limits *mw__trainer_limits(const mw_trainer *trainer, const mw_tensor *parameter);
/* Refuses a rate with which these limits prove nothing. */
mw_status mw__trainer_check_rate(const mw_trainer *trainer, float learning_rate, mw_error *err);

#endif
