/* The transforms of winograd.h with the instructions that every processor of this kind has. */
#include "engine/kernels/winograd/winograd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTOR           __m128
#define LOAD             _mm_loadu_ps
#define STORE            _mm_storeu_ps
#define SPLAT            _mm_set1_ps
#define ADD_MUL(c, a, b) ((c) + (a) * (b))
#define SUB_MUL(c, a, b) ((c) - (a) * (b))
#elif defined(__aarch64__)
#include <arm_neon.h>

#define VECTOR           float32x4_t
#define LOAD             vld1q_f32
#define STORE            vst1q_f32
#define SPLAT            vdupq_n_f32
#define ADD_MUL(c, a, b) vfmaq_f32(c, a, b)
#define SUB_MUL(c, a, b) vfmsq_f32(c, a, b)
#else
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

#define VECTOR           four
#define LOAD(p)          (*(const four *)(p))
#define STORE(p, v)      (*(four *)(p) = (v))
#define SPLAT(x)         ((four){x, x, x, x})
#define ADD_MUL(c, a, b) ((c) + (a) * (b))
#define SUB_MUL(c, a, b) ((c) - (a) * (b))
#endif

#define ISA base
#define TARGET
#define WIDTH 4
#include "engine/kernels/winograd/winograd_code.def"
