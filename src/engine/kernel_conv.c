/* Convolution and its transpose: kernels of ops/conv.def. */
#include "engine/kernel.h"
