/* Element types by name and by kind; what else there is of them is public. */
#ifndef MW__BASE_NUMBER_TYPES_H
#define MW__BASE_NUMBER_TYPES_H

#include <millwright/types.h>
#include <stdbool.h>
#include <stddef.h>

/* The element type that is called so; MW_DTYPE_NONE if none is. */
mw_dtype mw__number_dtype_named(const char *text, size_t length);

/* Bytes of an element, of a type of whole bytes. */
static inline size_t mw__number_dtype_size(mw_dtype dtype) { return (size_t)mw_dtype_bits(dtype) / 8; }

/* Whether operations compute in it: files have other float types, too. */
static inline bool mw__number_dtype_is_float(mw_dtype dtype) { return dtype == MW_F16 || dtype == MW_F32; }

#endif
