/* Between which numbers a value lies, by what makes it: for warnings, which must not be raised for what is safe. */
#ifndef MW__MIL_LEGALIZE_NUMBERS_BOUND_H
#define MW__MIL_LEGALIZE_NUMBERS_BOUND_H

#include "graph/ir/ir_types.h"

typedef struct mw__bound {
    double low, high; /* infinite where nothing is known */
} mw__bound;

/* Follows few operations back, so that what is far away is not known. */
mw__bound mw__bound_of(const mw_tensor *value);

#endif
