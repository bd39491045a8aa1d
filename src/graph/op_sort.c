/* Sorting and the largest elements: shape rules and constructors of ops/sort.def. */
#include <millwright/op_sort.h>

#include "graph/rule.h"
