/* The transforms of winograd.h with AVX-512. */
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/winograd/winograd.h"

#define ISA avx512
#define TARGET
#define WIDTH            16
#define VECTOR           __m512
#define LOAD             _mm512_loadu_ps
#define STORE            _mm512_storeu_ps
#define SPLAT            _mm512_set1_ps
#define ADD_MUL(c, a, b) _mm512_fmadd_ps(a, b, c)
#define SUB_MUL(c, a, b) _mm512_fnmadd_ps(a, b, c)
#include "engine/kernels/winograd/winograd_code.def"
