/* Activations: kernels of ops/activation.def. */
#include "engine/kernel.h"
