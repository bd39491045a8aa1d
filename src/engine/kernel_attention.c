/* Attention: kernels of ops/attention.def. */
#include "engine/kernel.h"
