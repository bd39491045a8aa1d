/* Pooling windows: shape rules and constructors of ops/pool.def. */
#include <millwright/op_pool.h>

#include "graph/rule.h"
