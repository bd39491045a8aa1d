/* Attention: shape rules and constructors of ops/attention.def. */
#include <millwright/op_attention.h>

#include "graph/rule.h"
