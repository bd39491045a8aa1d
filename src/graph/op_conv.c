/* Convolution and its transpose: shape rules and constructors of ops/conv.def. */
#include <millwright/op_conv.h>

#include "graph/rule.h"
