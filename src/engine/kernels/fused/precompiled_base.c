/* The precompiled kernels for the instructions that every processor of this kind has. On x86-64 there are none: without
 * AVX2 fusion groups run instruction by instruction. */
#include "engine/kernels/fused/precompiled.h"

#if !defined(__x86_64__)
#define ISA base
#define TARGET
#define STRIPS 0
#include "engine/kernels/fused/precompiled_code.def"
#endif
