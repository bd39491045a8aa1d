/* Transposing by tiles. The last tile of a side overlaps the one before it, so that no side of a tile's length or more
 * has a rest; shorter sides take smaller tiles. */
#include "engine/kernels/transpose.h"

typedef float float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float float8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float float16 __attribute__((vector_size(64), aligned(4), may_alias));

#define LOAD(vector, p)         (*(const vector *)(const void *)(p))
#define STORE(vector, p, value) (*(vector *)(void *)(p) = (value))

/* Pairs of neighboring elements of a and b in turn, within each four. */
#define LOW4(a, b)         __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH4(a, b)        __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_PAIRS4(a, b)   __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HIGH_PAIRS4(a, b)  __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define LOW8(a, b)         __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH8(a, b)        __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_PAIRS8(a, b)   __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_PAIRS8(a, b)  __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW16(a, b)        __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH16(a, b)       __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_PAIRS16(a, b)  __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_PAIRS16(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
/* Fours of a and b. */
#define EVEN_FOURS8(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define ODD_FOURS8(a, b)   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define EVEN_FOURS16(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define ODD_FOURS16(a, b)  __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)

#define EVEN4(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODD4(a, b)  __builtin_shufflevector(a, b, 1, 3, 5, 7)

/* Transposes each square of 4 x 4 that four rows from `at` on hold. */
#define SQUARES(n, r, at)                                                                                              \
    {                                                                                                                  \
        const float##n a = LOW##n(r[at], r[(at) + 1]), b = HIGH##n(r[at], r[(at) + 1]);                                \
        const float##n c = LOW##n(r[(at) + 2], r[(at) + 3]), d = HIGH##n(r[(at) + 2], r[(at) + 3]);                    \
        r[at] = LOW_PAIRS##n(a, c), r[(at) + 1] = HIGH_PAIRS##n(a, c);                                                 \
        r[(at) + 2] = LOW_PAIRS##n(b, d), r[(at) + 3] = HIGH_PAIRS##n(b, d);                                           \
    }

MW__INLINE void tile_4(const float *x, int64_t stride, float *out, int64_t pitch)
{
    float4 r[4];
    for (int i = 0; i < 4; i++)
        r[i] = LOAD(float4, x + i * stride);
    SQUARES(4, r, 0)
    for (int i = 0; i < 4; i++)
        STORE(float4, out + i * pitch, r[i]);
}

#if defined(__x86_64__)
MW__INLINE void tile_8(const float *x, int64_t stride, float *out, int64_t pitch)
{
    float8 r[8];
    for (int i = 0; i < 8; i++)
        r[i] = LOAD(float8, x + i * stride);
    SQUARES(8, r, 0)
    SQUARES(8, r, 4)
    for (int i = 0; i < 4; i++) {
        STORE(float8, out + i * pitch, EVEN_FOURS8(r[i], r[i + 4]));
        STORE(float8, out + (i + 4) * pitch, ODD_FOURS8(r[i], r[i + 4]));
    }
}

MW__INLINE void tile_16(const float *x, int64_t stride, float *out, int64_t pitch)
{
    float16 r[16];
    for (int i = 0; i < 16; i++)
        r[i] = LOAD(float16, x + i * stride);
    SQUARES(16, r, 0)
    SQUARES(16, r, 4)
    SQUARES(16, r, 8)
    SQUARES(16, r, 12)
    for (int i = 0; i < 4;
         i++) { /* of each row four squares lie side by side: column i of rows 0 to 3, of 4 to 7, .. */
        const float16 a = EVEN_FOURS16(r[i], r[i + 4]), b = ODD_FOURS16(r[i], r[i + 4]);
        const float16 c = EVEN_FOURS16(r[i + 8], r[i + 12]), d = ODD_FOURS16(r[i + 8], r[i + 12]);
        STORE(float16, out + i * pitch, EVEN_FOURS16(a, c));
        STORE(float16, out + (i + 4) * pitch, EVEN_FOURS16(b, d));
        STORE(float16, out + (i + 8) * pitch, ODD_FOURS16(a, c));
        STORE(float16, out + (i + 12) * pitch, ODD_FOURS16(b, d));
    }
}
#endif

/* Two rows in turn. */
MW__INLINE void two_rows(const float *x, int64_t stride, int64_t columns, float *out, int64_t pitch)
{
    int64_t j = 0;
    for (; pitch == 2 && j + 4 <= columns; j += 4) {
        const float4 a = LOAD(float4, x + j), b = LOAD(float4, x + stride + j);
        STORE(float4, out + 2 * j, LOW4(a, b));
        STORE(float4, out + 2 * j + 4, HIGH4(a, b));
    }
    for (; j < columns; j++)
        out[j * pitch] = x[j], out[j * pitch + 1] = x[stride + j];
}

/* Two columns, every other element each. */
MW__INLINE void two_columns(const float *x, int64_t stride, int64_t rows, float *out, int64_t pitch)
{
    int64_t i = 0;
    for (; stride == 2 && i + 4 <= rows; i += 4) {
        const float4 a = LOAD(float4, x + 2 * i), b = LOAD(float4, x + 2 * i + 4);
        STORE(float4, out + i, EVEN4(a, b));
        STORE(float4, out + pitch + i, ODD4(a, b));
    }
    for (; i < rows; i++)
        out[i] = x[i * stride], out[pitch + i] = x[i * stride + 1];
}

MW__INLINE void few(const float *x, int64_t stride, int64_t rows, int64_t columns, float *out, int64_t pitch)
{
    if (rows == 2) {
        two_rows(x, stride, columns, out, pitch);
        return;
    }
    if (columns == 2) {
        two_columns(x, stride, rows, out, pitch);
        return;
    }
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            out[j * pitch + i] = x[i * stride + j];
}

#define TILES(side, inner)                                                                                             \
    MW__INLINE void tiles_##side(const float *x, int64_t stride, int64_t rows, int64_t columns, float *out,            \
                                 int64_t pitch)                                                                        \
    {                                                                                                                  \
        if (rows < (side) || columns < (side)) {                                                                       \
            inner(x, stride, rows, columns, out, pitch);                                                               \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t at = 0; at < columns; at += (side)) {                                                             \
            const int64_t j = at + (side) <= columns ? at : columns - (side);                                          \
            for (int64_t to = 0; to < rows; to += (side)) {                                                            \
                const int64_t i = to + (side) <= rows ? to : rows - (side);                                            \
                tile_##side(x + i * stride + j, stride, out + j * pitch + i, pitch);                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

TILES(4, few)
#if defined(__x86_64__)
TILES(8, tiles_4)
TILES(16, tiles_8)
#endif

#define TRANSPOSE(name, target, body)                                                                                  \
    target static void name(const float *x, int64_t stride, int64_t rows, int64_t columns, float *out, int64_t pitch)  \
    {                                                                                                                  \
        body(x, stride, rows, columns, out, pitch);                                                                    \
    }

TRANSPOSE(transpose_base, , tiles_4)
#if defined(__x86_64__)
TRANSPOSE(transpose_avx2, MW__TARGET_AVX2, tiles_8)
TRANSPOSE(transpose_avx512, MW__TARGET_AVX512, tiles_16)
#endif

mw__transpose *mw__transpose_choose(mw__level level) { return MW__DISPATCH_BEST(transpose, level); }
