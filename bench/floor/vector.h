/* fp32 lanes, as many as the processor has side by side, as a compiler's vector
 * type, and the functions of them that the floor needs. With the flags of
 * ../CMakeLists.txt they become AVX-512, or AVX2 and FMA. */
#ifndef FLOOR_VECTOR_H
#define FLOOR_VECTOR_H

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
/* Before a loop of constant length: all of it written out, so that what it
 * indexes can stay in registers. */
#define UNROLL _Pragma("clang loop unroll(full)")

/* What is 16 numbers wide takes PARTS vectors. */
#if defined(__AVX512F__)
enum { LANES = 16, PARTS = 1 };
#define ALL(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#else
enum { LANES = 8, PARTS = 2 };
#define ALL(x) x, x, x, x, x, x, x, x
#endif

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(4 * LANES), aligned(4), may_alias)); /* 0 or -1; or integers */

INLINE vec load(const float *p) { return *(const vec *)p; }
INLINE void store(float *p, vec x) { *(vec *)p = x; }
INLINE mask load_int(const int32_t *p) { return *(const mask *)p; }
INLINE void store_int(int32_t *p, mask x) { *(mask *)p = x; }
INLINE vec splat(float x) { return (vec){ALL(x)}; }
INLINE mask splat_int(int32_t x) { return (mask){ALL(x)}; }
INLINE vec choose(mask where, vec a, vec b) { return (vec)(((mask)a & where) | ((mask)b & ~where)); }
INLINE mask choose_int(mask where, mask a, mask b) { return (a & where) | (b & ~where); }

INLINE float add_lanes(vec x)
{
    float sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += x[i];
    return sum;
}

INLINE vec square_root(vec x)
{
    vec root;
    for (int i = 0; i < LANES; i++)
        root[i] = __builtin_sqrtf(x[i]);
    return root;
}

/* exp(x) = 2^n 2^f with f in [-1/2, 1/2]: 2^f by a polynomial of degree 6
 * (relative error below 2e-7), 2^n put into the exponent. Arguments are held
 * within [-87, 88], where the result is a normal number. */
INLINE vec exponential(vec x)
{
    const vec round = splat(12582912.0f); /* 1.5 * 2^23: what is added to it is
                                             rounded to an integer */
    x = choose(x > splat(88.0f), splat(88.0f), x);
    x = choose(x < splat(-87.0f), splat(-87.0f), x);
    const vec t = x * splat(1.44269504f), shifted = t + round, f = t - (shifted - round);
    vec p = splat(1.5403530e-4f);
    p = p * f + splat(1.3333558e-3f);
    p = p * f + splat(9.6181291e-3f);
    p = p * f + splat(5.5504109e-2f);
    p = p * f + splat(2.4022651e-1f);
    p = p * f + splat(6.9314718e-1f);
    p = p * f + splat(1.0f);
    const mask n = ((mask)shifted - (mask)round) << 23;
    return (vec)((mask)p + n);
}

/* y = x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3): the tanh form
 * of GELU; and its derivative. */
INLINE void gelu(vec x, vec *y, vec *dy_dx)
{
    const float k = 0.7978845608f, c = k * 0.044715f;
    const vec xx = x * x, u = x * (k + c * xx), s = 1.0f / (1.0f + exponential(-2.0f * u));
    *y = x * s;
    *dy_dx = s + x * s * (1.0f - s) * (2.0f * k + 6.0f * c * xx);
}

#endif
