/* Which products are of int8 numbers. */
#ifndef MW__ENGINE_COMPILE_STORAGE_INT8_PRODUCTS_H
#define MW__ENGINE_COMPILE_STORAGE_INT8_PRODUCTS_H

#include "engine/core/step.h"

/* inout: by value id, NULL before; what is allocated lives in `arena` */
mw_status mw__storage_find_codes(const mw__function *function, mw__arena *arena, mw__codes **inout, mw_error *err);

#endif
