/* The flag that gates a step: what must be finite, and the limits that save looking. In trainer_check.c. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_CHECK_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_CHECK_H

#include "runtime/trainer/build/trainer_build.h"

/* A constant of rank 0 in the type of the loss. */
mw_tensor *mw__trainer_number(const mw__trainer_build *b, double value);
/* 1 if all of x is finite and at most `limit` in size, else 0, in the type of the loss and of rank 0. */
mw_tensor *mw__trainer_within(mw__trainer_build *b, mw_tensor *x, double limit);
/* True for floating-point tensors with elements: what may be not finite. */
bool mw__trainer_is_checked(const mw_tensor *x);
/* The largest number of the type that x is stored in. */
double mw__trainer_largest(const mw__trainer_build *b, const mw_tensor *x);
/* Sets b->ok and b->ok_number. */
mw_status mw__trainer_build_gate(mw__trainer_build *b, mw_error *err);
/* Of every group: within which its update is finite. */
void mw__trainer_set_limits(mw_trainer *trainer);
const mw__optimizer_limits *mw__trainer_limits(const mw_trainer *trainer, const mw_tensor *parameter);
/* Refuses a rate with which these limits prove nothing. */
mw_status mw__trainer_check_rate(const mw_trainer *trainer, float learning_rate, mw_error *err);

#endif
