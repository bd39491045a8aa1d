/* Random numbers: shape rules and constructors of ops/random.def. */
#include <millwright/op_random.h>

#include "graph/rule.h"
