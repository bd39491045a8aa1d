/* The flag that gates a step: what must be finite. In trainer_check.c. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_CHECK_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_CHECK_H

#include "runtime/trainer/build/trainer_build.h"

/* A constant of rank 0 in the type of the loss. */
mw_tensor *mw__trainer_number(const mw__trainer_build *b, double value);
/* 1 if all of x is finite and at most `limit` in size, else 0, in the type of the loss and of rank 0. */
mw_tensor *mw__trainer_within(mw__trainer_build *b, mw_tensor *x, double limit);
/* True for floating-point tensors with elements: what may be not finite. */
bool mw__trainer_is_checked(const mw_tensor *x);
/* Sets b->ok and b->ok_number. */
mw_status mw__trainer_build_gate(mw__trainer_build *b, mw_error *err);

#endif
