/* Blocks moved between space, channels and batch: shape rules and constructors of ops/space.def. */
#include <millwright/op_space.h>

#include "graph/rule.h"
