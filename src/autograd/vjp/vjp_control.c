/* VJPs of ops/control.def: none. Gradients want a flat graph (graph/transform/flatten/flatten.h). */
#include "autograd/vjp/rules.h"
