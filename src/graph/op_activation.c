/* Activations: shape rules and constructors of ops/activation.def. */
#include <millwright/op_activation.h>

#include "graph/rule.h"
