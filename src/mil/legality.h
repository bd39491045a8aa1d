/* What a device refuses, as rows; used by legalize.c and by mw__mil_check_legal. */
#ifndef MW__MIL_LEGALITY_H
#define MW__MIL_LEGALITY_H

#include "mil/legalize.h"

/* What is known of the program's values before it is rewritten. */
typedef struct mw__legality {
    const mw__device_traits *device;
    const bool *half; /* by value id: an int32 value that will be fp16 on this device; NULL = none */
    size_t count;
} mw__legality;

bool mw__legality_half(const mw__legality *legality, const mw_tensor *value);

/* The rows for one operation and those in its blocks. */
mw_status mw__legality_check_op(const mw__legality *legality, const mw__op *op, mw_error *err);

/* Element types of the inputs and outputs of a function. */
mw_status mw__legality_check_ports(const mw__legality *legality, const mw__function *function, mw_error *err);

#endif
