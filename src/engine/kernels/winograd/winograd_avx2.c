/* The transforms of winograd.h with AVX2. */
#include "engine/kernels/winograd/winograd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ISA              avx2
#define TARGET           __attribute__((target("avx2,fma")))
#define WIDTH            8
#define VECTOR           __m256
#define LOAD             _mm256_loadu_ps
#define STORE            _mm256_storeu_ps
#define SPLAT            _mm256_set1_ps
#define ADD_MUL(c, a, b) _mm256_fmadd_ps(a, b, c)
#define SUB_MUL(c, a, b) _mm256_fnmadd_ps(a, b, c)
#include "engine/kernels/winograd/winograd_code.def"
#endif
