/* Sorting and the largest elements: kernels of ops/sort.def. */
#include "engine/kernel.h"
