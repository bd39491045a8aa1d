/* The precompiled kernels for AVX2. */
#include "engine/kernels/fused/precompiled.h"

#if defined(__x86_64__)
#define ISA    avx2
#define TARGET MW__TARGET_AVX2
#if defined(__clang__)
#define STRIPS 0
#else
#define STRIPS        1
#define STRIP_LANES   8
#define ROUND(v, how) _mm256_storeu_ps(v, mw__round_avx2(_mm256_loadu_ps(v), how))
#endif
#include "engine/kernels/fused/precompiled_code.def"
#endif
