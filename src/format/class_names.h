/* The order of classes: integers by their value, 9 before 10, all others by their bytes. */
#ifndef MW__FORMAT_CLASS_NAMES_H
#define MW__FORMAT_CLASS_NAMES_H

#include "base/visible.h"

#include <stddef.h>

/* Sorts [count] names in place. */
MW__SIBLING void mw__sort_class_names(const char **names, size_t count);

#endif
