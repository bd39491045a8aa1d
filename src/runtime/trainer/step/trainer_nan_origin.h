/* Why a step was refused. */
#ifndef MW__RUNTIME_TRAINER_STEP_TRAINER_NAN_ORIGIN_H
#define MW__RUNTIME_TRAINER_STEP_TRAINER_NAN_ORIGIN_H

#include "runtime/trainer/object/trainer_object.h"

/* What was not finite first; "" if that cannot be found. */
typedef struct mw__nan_origin {
    char text[320];
    char operation[64], tensor[96]; /* for the error's fields */
} mw__nan_origin;
/* Runs what the pass was fed last once more. */
void mw__trainer_find_nan_origin(mw_trainer *trainer, const mw__trainer_pass *pass, mw__nan_origin *out);

#endif
