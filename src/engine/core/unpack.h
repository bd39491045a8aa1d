/* Elements of constants that stay as they are stored, as kernels take them. */
#ifndef MW__ENGINE_CORE_UNPACK_H
#define MW__ENGINE_CORE_UNPACK_H

#include "engine/core/config.h"
#include "graph/constants/compressed.h"

/* mw__compressed_load, with vectors for the common forms; the same bits. */
void mw__unpack(mw__level level, const mw__compressed *packed, int64_t begin, int64_t count, float *out);

#endif
