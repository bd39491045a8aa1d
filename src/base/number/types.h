/* Element types by name; what else there is of them is public. */
#ifndef MW__BASE_NUMBER_TYPES_H
#define MW__BASE_NUMBER_TYPES_H

#include <millwright/types.h>
#include <stddef.h>

/* The element type that is called so; MW_DTYPE_NONE if none is. */
mw_dtype mw__number_dtype_named(const char *text, size_t length);

#endif
