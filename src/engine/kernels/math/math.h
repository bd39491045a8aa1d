/* Loops over one or two fp32 arrays: arithmetic and elementary functions. `ref` is libm; the others are polynomials
 * with an error of 3 ulp at most (each function's bound stands in tests/engine/kernels/test_math.c), which vectorize
 * and give the same bits at every width and with every C library. */
#ifndef MW__ENGINE_KERNELS_MATH_H
#define MW__ENGINE_KERNELS_MATH_H

#include "engine/core/kernel.h"

/* out may be x; p and q: scalar arguments. */
typedef void mw__loop1(float *out, const float *x, int64_t count, float p, float q);
/* out may be x or y. */
typedef void mw__loop2(float *out, const float *x, const float *y, int64_t count);

typedef void mw__loop1_i32(int32_t *out, const int32_t *x, int64_t count, int32_t p);
typedef void mw__loop1_bool(uint8_t *out, const uint8_t *x, int64_t count);
typedef void mw__loop2_i32(int32_t *out, const int32_t *x, const int32_t *y, int64_t count);

/* What an operation computes of one operand: its row in math.c. A loop is NULL where the operation has no such type. */
typedef struct mw__function1 {
    mw__loop1 *at[MW__LEVELS]; /* by level */
    mw__loop1_i32 *integers;
    mw__loop1_bool *bools;
    double additions;                  /* an element takes the time of so many; for mw__cost */
    const char *p, *q;                 /* the scalar arguments that the loops get; NULL: 0 */
    const char *mode;                  /* the "mode" that this is for; NULL where there is none */
    const char *name;                  /* in math_scalar.h, where that is not the operation's */
    const struct mw__function1 *other; /* the same operation in another mode */
} mw__function1;

/* The same of two operands: its row in math_pair.c. */
typedef struct mw__function2 {
    mw__loop2 *at[MW__LEVELS];
    mw__loop2_i32 *integers;
    double additions;
} mw__function2;

/* NULL for an operation or a mode that is not there; mode NULL takes the first. */
const mw__function1 *mw__function1_find(mw__op_id op, const char *mode);
const mw__function2 *mw__function2_find(mw__op_id op);

/* The fp32 loop of a function that is there. */
mw__loop1 *mw__loop1_find(mw__op_id op, mw__level level);

/* The loop of one row by level, where x_base serves the reference too. */
#if defined(__x86_64__)
#define MW__LOOPS_SAME(name)                                                                                           \
    {                                                                                                                  \
        name##_base, name##_base, name##_avx2, name##_avx512                                                           \
    }
#else
#define MW__LOOPS_SAME(name)                                                                                           \
    {                                                                                                                  \
        name##_base, name##_base, name##_base, name##_base                                                             \
    }
#endif
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

/* The same as one loop that is left to the compiler, for what calls libm. */
#define MW__LOOP1_PLAIN(name, expression)                                                                              \
    static void name(float *out, const float *x, int64_t count, float p, float q)                                      \
    {                                                                                                                  \
        (void)p, (void)q;                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const float v = x[i];                                                                                      \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

#endif
