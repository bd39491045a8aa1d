/* Random numbers: kernels of ops/random.def. */
#include "engine/kernel.h"
