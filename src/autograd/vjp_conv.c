/* VJPs of ops/conv.def. In the comments y is the forward result, dy its cotangent. */
#include "autograd/rules.h"
