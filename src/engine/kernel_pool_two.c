/* Pooling over windows of 2 x 2, two elements apart: even and odd elements of two rows are parted, so that a vector
 * holds one element of each of its windows. The last vector of a row overlaps the one before it. */
#include "engine/kernel_pool.h"

typedef float float8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t int8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t int4 __attribute__((vector_size(16), aligned(4), may_alias));

#define EVEN8(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD8(a, b)  __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define LOW8(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH8(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define EVEN4(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODD4(a, b)  __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define LOW4(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

#define LOAD(vector, p)         (*(const vector *)(const void *)(p))
#define STORE(vector, p, value) (*(vector *)(void *)(p) = (value))

/* MAX and GRADIENT: windows [o, o + n) of the row. */
#define MOST(n, value)                                                                                                 \
    {                                                                                                                  \
        const float##n next = (value);                                                                                 \
        const int##n more = (next > most) | (next != next);                                                            \
        most = (float##n)((more & (int##n)next) | (~more & (int##n)most));                                             \
    }
#define MAX(n)                                                                                                         \
    {                                                                                                                  \
        const float##n a = LOAD(float##n, x + 2 * o), b = LOAD(float##n, x + 2 * o + (n));                             \
        const float##n c = LOAD(float##n, below + 2 * o), d = LOAD(float##n, below + 2 * o + (n));                     \
        float##n most = EVEN##n(a, b);                                                                                 \
        MOST(n, ODD##n(a, b))                                                                                          \
        MOST(n, EVEN##n(c, d))                                                                                         \
        MOST(n, ODD##n(c, d))                                                                                          \
        STORE(float##n, y + o, most);                                                                                  \
    }
#define GRADIENT(n)                                                                                                    \
    {                                                                                                                  \
        const float##n a = LOAD(float##n, x + 2 * o), b = LOAD(float##n, x + 2 * o + (n));                             \
        const float##n c = LOAD(float##n, below + 2 * o), d = LOAD(float##n, below + 2 * o + (n));                     \
        const float##n most = LOAD(float##n, y + o), sum = LOAD(float##n, dy + o) + 0.0f;                              \
        const int##n share = (int##n)sum;                                                                              \
        const int##n first = EVEN##n(a, b) == most, second = (ODD##n(a, b) == most) & ~first;                          \
        const int##n third = (EVEN##n(c, d) == most) & ~(first | second);                                              \
        const int##n fourth = (ODD##n(c, d) == most) & ~(first | second | third);                                      \
        const float##n p = (float##n)(share & first), q = (float##n)(share & second);                                  \
        const float##n r = (float##n)(share & third), s = (float##n)(share & fourth);                                  \
        STORE(float##n, dx + 2 * o, LOW##n(p, q));                                                                     \
        STORE(float##n, dx + 2 * o + (n), HIGH##n(p, q));                                                              \
        STORE(float##n, dbelow + 2 * o, LOW##n(r, s));                                                                 \
        STORE(float##n, dbelow + 2 * o + (n), HIGH##n(r, s));                                                          \
    }

/* True with the windows done, if there are as many as a vector holds. */
#define ROW(n, body)                                                                                                   \
    if (count >= (n)) {                                                                                                \
        int64_t o = 0;                                                                                                 \
        for (; o + (n) <= count; o += (n))                                                                             \
            body(n) if (o < count)                                                                                     \
            {                                                                                                          \
                o = count - (n);                                                                                       \
                body(n)                                                                                                \
            }                                                                                                          \
        return;                                                                                                        \
    }

MW__INLINE float larger(float next, float most) { return ((next > most) | (next != next)) ? next : most; }

MW__INLINE void max_body(const float *x, int64_t in, float *y, int64_t count)
{
    const float *const below = x + in;
    ROW(8, MAX)
    ROW(4, MAX)
    for (int64_t o = 0; o < count; o++)
        y[o] = larger(below[2 * o + 1], larger(below[2 * o], larger(x[2 * o + 1], x[2 * o])));
}
MW__TWICE(max, (const float *x, int64_t in, float *y, int64_t count), (x, in, y, count))

MW__INLINE void gradient_body(const float *x, int64_t in, const float *y, const float *dy, float *dx, int64_t count)
{
    const float *const below = x + in;
    float *const dbelow = dx + in;
    ROW(8, GRADIENT)
    ROW(4, GRADIENT)
    for (int64_t o = 0; o < count; o++) {
        const bool a = x[2 * o] == y[o], b = x[2 * o + 1] == y[o], c = below[2 * o] == y[o];
        const bool d = below[2 * o + 1] == y[o];
        const float share = dy[o] + 0.0f;
        dx[2 * o] = a ? share : 0.0f;
        dx[2 * o + 1] = !a && b ? share : 0.0f;
        dbelow[2 * o] = !a && !b && c ? share : 0.0f;
        dbelow[2 * o + 1] = !a && !b && !c && d ? share : 0.0f;
    }
}
MW__TWICE(gradient, (const float *x, int64_t in, const float *y, const float *dy, float *dx, int64_t count),
          (x, in, y, dy, dx, count))

mw__two_max *mw__two_max_choose(mw__level level) { return MW__PICK(max, level); }
mw__two_gradient *mw__two_gradient_choose(mw__level level) { return MW__PICK(gradient, level); }
