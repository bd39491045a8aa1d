/* VJPs of ops/random.def. In the comments y is the forward result, dy its cotangent. */
#include "autograd/vjp/rules.h"
