/* Blocks moved between space, channels and batch: kernels of ops/space.def. */
#include "engine/kernel.h"
