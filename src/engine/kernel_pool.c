/* Pooling windows: kernels of ops/pool.def. */
#include "engine/kernel.h"
