/* The precompiled kernels for AVX-512. */
#include "engine/kernels/fused/precompiled.h"

#if defined(__x86_64__)
#define ISA    avx512
#define TARGET MW__TARGET_AVX512
#if defined(__clang__)
#define STRIPS 0
#else
#define STRIPS        1
#define STRIP_LANES   16
#define ROUND(v, how) _mm512_storeu_ps(v, mw__round_avx512(_mm512_loadu_ps(v), how))
#endif
#include "engine/kernels/fused/precompiled_code.def"
#endif
