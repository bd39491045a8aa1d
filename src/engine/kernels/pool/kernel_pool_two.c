/* Pooling over windows of 2 x 2, two elements apart: even and odd elements of two rows are parted, so that a vector
 * holds one element of each of its windows. The last vector of a row overlaps the one before it.
 *
 * relu before the pooling: the largest of relu(x) is relu of the largest x; and where that is above 0, the elements
 * that equal it are those of x that do, elsewhere the gradient is 0. */
#include "engine/kernels/math/math_scalar.h"
#include "engine/kernels/pool/kernel_pool.h"
#include "engine/kernels/reduce/simd_reduce.h"

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
        most = (float##n)((int##n)most & ((most > 0.0f) | (most != most) | keep));                                     \
        STORE(float##n, y + o, most);                                                                                  \
    }
#define GRADIENT(n)                                                                                                    \
    {                                                                                                                  \
        const float##n a = LOAD(float##n, x + 2 * o), b = LOAD(float##n, x + 2 * o + (n));                             \
        const float##n c = LOAD(float##n, below + 2 * o), d = LOAD(float##n, below + 2 * o + (n));                     \
        const float##n most = LOAD(float##n, y + o), sum = LOAD(float##n, dy + o) + 0.0f;                              \
        const int##n share = (int##n)sum & ((most > 0.0f) | keep);                                                     \
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

MW__INLINE void max_body(const mw__two *two, const float *x, float *y)
{
    const int64_t count = two->count;
    const float *const below = x + two->in;
    const int32_t keep = two->relu ? 0 : -1;
    ROW(8, MAX)
    ROW(4, MAX)
    for (int64_t o = 0; o < count; o++) {
        y[o] = mw__larger(below[2 * o + 1], mw__larger(below[2 * o], mw__larger(x[2 * o + 1], x[2 * o])));
        if (two->relu)
            y[o] = mw__scalar_relu(y[o], 0.0f, 0.0f);
    }
}
MW__BASE_AVX2(max, (const mw__two *two, const float *x, float *y), (two, x, y))

MW__INLINE void gradient_body(const mw__two *two, const float *x, const float *y, const float *dy, float *dx)
{
    const int64_t count = two->count;
    const float *const below = x + two->in;
    float *const dbelow = dx + two->in;
    const int32_t keep = two->relu ? 0 : -1;
    ROW(8, GRADIENT)
    ROW(4, GRADIENT)
    for (int64_t o = 0; o < count; o++) {
        const bool a = x[2 * o] == y[o], b = x[2 * o + 1] == y[o], c = below[2 * o] == y[o];
        const bool d = below[2 * o + 1] == y[o];
        const float share = two->relu && !(y[o] > 0.0f) ? 0.0f : dy[o] + 0.0f;
        dx[2 * o] = a ? share : 0.0f;
        dx[2 * o + 1] = !a && b ? share : 0.0f;
        dbelow[2 * o] = !a && !b && c ? share : 0.0f;
        dbelow[2 * o + 1] = !a && !b && !c && d ? share : 0.0f;
    }
}
MW__BASE_AVX2(gradient, (const mw__two *two, const float *x, const float *y, const float *dy, float *dx),
              (two, x, y, dy, dx))

mw__two_max *mw__two_max_choose(mw__level level) { return MW__DISPATCH(max, level); }
mw__two_gradient *mw__two_gradient_choose(mw__level level) { return MW__DISPATCH(gradient, level); }
