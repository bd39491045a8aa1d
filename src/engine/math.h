/* Loops over one or two fp32 arrays: arithmetic and elementary functions. `ref` is libm; the others are polynomials
 * with an error of about 2 ulp (tests/engine/test_math.c), which vectorise and give the same bits at every width. */
#ifndef MW__ENGINE_MATH_H
#define MW__ENGINE_MATH_H

#include "engine/kernel.h"

/* out may be x; p and q: epsilon, or the bounds of clip. */
typedef void mw__loop1(float *out, const float *x, int64_t count, float p, float q);
/* out may be x or y. */
typedef void mw__loop2(float *out, const float *x, const float *y, int64_t count);

/* Unary functions are named by operation, gelu by its mode. */
typedef enum mw__function1 {
    MW__F1_NONE,
    MW__F1_ABS,
    MW__F1_SIGN,
    MW__F1_SQUARE,
    MW__F1_SQRT,
    MW__F1_RSQRT,
    MW__F1_INVERSE,
    MW__F1_RELU,
    MW__F1_CLIP,
    MW__F1_EXP,
    MW__F1_LOG,
    MW__F1_ERF,
    MW__F1_TANH,
    MW__F1_SIGMOID,
    MW__F1_SILU,
    MW__F1_GELU_EXACT,
    MW__F1_GELU_TANH,
    MW__F1_GELU_SIGMOID,
    MW__F1_COUNT
} mw__function1;

mw__loop1 *mw__loop1_find(mw__function1 function, mw__level level);

/* NULL for an operation that is not a binary one. */
mw__loop2 *mw__loop2_find(mw__op_id op, mw__level level);

/* Estimated flops an element. */
double mw__loop1_flops(mw__function1 function);

/* out[i] = expression of v = x[i] and the parameters p, q: what every loop over one operand is made of. */
#define MW__LOOP1_BODY(name, expression)                                                                               \
    MW__INLINE void name##_body(float *out, const float *x, int64_t count, float p, float q)                           \
    {                                                                                                                  \
        (void)p, (void)q;                                                                                              \
        MW__VECTORIZE for (int64_t i = 0; i < count; i++)                                                              \
        {                                                                                                              \
            const float v = x[i];                                                                                      \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

#endif
