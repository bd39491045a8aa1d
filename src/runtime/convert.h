/* Elements between host and port types. */
#ifndef MW__RUNTIME_CONVERT_H
#define MW__RUNTIME_CONVERT_H

#include "base/error.h"
#include <millwright/types.h>

/* out[i] = in[i] * scale + offset (a scale of 0 means 1), rounded once to `to`. Between any of F32, F16, I32, I16, U16,
 * I8, U8, BOOL, (F64 as a source).
 *  errors  MW_ERROR_DTYPE for other pairs; MW_ERROR_ARGUMENT for a value that an integer type cannot hold exactly */
mw_status mw__convert(void *out, mw_dtype to, const void *in, mw_dtype from, size_t count, float scale, float offset,
                      mw_error *err);

/* Index of the first element that is NaN or infinite; `count` if none. Integers are finite. */
size_t mw__find_not_finite(const void *data, mw_dtype dtype, size_t count);

#endif
