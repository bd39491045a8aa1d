/* Products that need no packed panels: vectors, and matrices so small that packing both and a BLAS call cost more than
 * they give. A row of the first operand is read where it stands, whatever its strides; of the second only what is
 * transposed or narrow is copied. */
#include "base/number/integer.h"
#include "engine/kernels/gemm/gemm.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__aarch64__)
typedef float32x4_t quad;
#else
typedef float quad __attribute__((vector_size(16)));
#endif

/* ---- instructions: `name_fma` adds x * y to a sum, `name_quad` adds the halves of a vector ---- */

MW__INLINE quad quad_load(const float *p)
{
    quad value;
    memcpy(&value, p, sizeof value);
    return value;
}
MW__INLINE quad quad_splat(const float *p) { return (quad){*p, *p, *p, *p}; }
MW__INLINE void quad_store(float *p, quad value) { memcpy(p, &value, sizeof value); }
MW__INLINE quad quad_quad(quad value) { return value; }
#if defined(__aarch64__)
MW__INLINE quad quad_fma(quad sum, quad x, quad y) { return vfmaq_f32(sum, x, y); }
#else
MW__INLINE quad quad_fma(quad sum, quad x, quad y) { return sum + x * y; }
#endif

#if defined(__x86_64__)
#define AVX2               __attribute__((target("avx2,fma")))
#define oct_load           _mm256_loadu_ps
#define oct_splat          _mm256_broadcast_ss
#define oct_store          _mm256_storeu_ps
#define oct_fma(sum, x, y) _mm256_fmadd_ps(x, y, sum)
#define oct_quad(value)    _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1))
#endif

MW__INLINE void transpose(quad rows[4])
{
#if defined(__x86_64__)
    _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
#else
    const quad from[4] = {rows[0], rows[1], rows[2], rows[3]};
    for (int r = 0; r < 4; r++)
        rows[r] = (quad){from[0][r], from[1][r], from[2][r], from[3][r]};
#endif
}

/* ---- vectors: c[j] = a . row j of b, four rows at a time; a row's sum does not depend on its neighbors ---- */

#define UNROLL _Pragma("GCC unroll 8")
#define DOTS_FUNCTION(vector, prefix, rows)                                                                            \
    {                                                                                                                  \
        enum { width = sizeof(vector) / sizeof(float), turn = 2 * width };                                             \
        vector sum[rows][2] = {{{0}}};                                                                                 \
        int64_t p = 0;                                                                                                 \
        for (; p + turn <= k; p += turn)                                                                               \
            UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int h = 0; h < 2; h++) sum[r][h] =                     \
                prefix##_fma(sum[r][h], prefix##_load(a + p + h * width), prefix##_load(b + r * ldb + p + h * width)); \
        if (p < k) {                                                                                                   \
            float x[turn] = {0}, y[turn] = {0};                                                                        \
            memcpy(x, a + p, (size_t)(k - p) * sizeof *x);                                                             \
            for (int r = 0; r < (rows); r++) {                                                                         \
                memcpy(y, b + r * ldb + p, (size_t)(k - p) * sizeof *y);                                               \
                UNROLL for (int h = 0; h < 2; h++) sum[r][h] =                                                         \
                    prefix##_fma(sum[r][h], prefix##_load(x + h * width), prefix##_load(y + h * width));               \
            }                                                                                                          \
        }                                                                                                              \
        UNROLL for (int r = 0; r < (rows); r++) total[r] = prefix##_quad(sum[r][0] + sum[r][1]);                       \
    }

#define DOTS_PARAMETERS (int64_t k, const float *a, const float *b, int64_t ldb, quad *total)
MW__INLINE void one_dot_base DOTS_PARAMETERS DOTS_FUNCTION(quad, quad, 1) MW__INLINE void four_dots_base DOTS_PARAMETERS
    DOTS_FUNCTION(quad, quad, 4)
#if defined(__x86_64__)
        AVX2 MW__INLINE void one_dot_avx2 DOTS_PARAMETERS DOTS_FUNCTION(__m256, oct, 1) AVX2 MW__INLINE
    void four_dots_avx2 DOTS_PARAMETERS DOTS_FUNCTION(__m256, oct, 4)
#endif

#define DOTS_LOOP(suffix)                                                                                              \
    {                                                                                                                  \
        int64_t j = 0;                                                                                                 \
        quad total[4];                                                                                                 \
        for (; j + 4 <= n; j += 4) {                                                                                   \
            four_dots_##suffix(k, a, b + j * ldb, ldb, total);                                                         \
            transpose(total);                                                                                          \
            quad_store(c + j, (total[0] + total[1]) + (total[2] + total[3]));                                          \
        }                                                                                                              \
        for (; j < n; j++) {                                                                                           \
            one_dot_##suffix(k, a, b + j * ldb, ldb, total);                                                           \
            c[j] = (total[0][0] + total[0][1]) + (total[0][2] + total[0][3]);                                          \
        }                                                                                                              \
    }

        typedef void dots_function(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c);
static void dots_base(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c) DOTS_LOOP(base)
#if defined(__x86_64__)
    AVX2 static void dots_avx2(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c)
        DOTS_LOOP(avx2)
#endif

/* ---- vectors: one row times a matrix that is not transposed, which is read once, four rows at a time: each sum a
 * chain of multiply-adds, as those of all products of matrices are ---- */

#define SOME_ROWS (int64_t n, const float *a, int64_t stride_a, const float *b, int64_t ldb, float *c)
#define ROW       (int64_t n, int64_t k, const float *a, int64_t stride_a, const float *b, int64_t ldb, float *c)
#define ROW_FUNCTION(vector, prefix, rows)                                                                             \
    {                                                                                                                  \
        enum { width = sizeof(vector) / sizeof(float) };                                                               \
        int64_t j = 0;                                                                                                 \
        for (; j + width <= n; j += width) {                                                                           \
            vector sum = prefix##_load(c + j);                                                                         \
            UNROLL for (int r = 0; r < (rows); r++) sum =                                                              \
                prefix##_fma(sum, prefix##_splat(a + r * stride_a), prefix##_load(b + r * ldb + j));                   \
            prefix##_store(c + j, sum);                                                                                \
        }                                                                                                              \
        for (; j < n; j++) {                                                                                           \
            float rest[width] = {c[j]}, y[width] = {0};                                                                \
            for (int r = 0; r < (rows); r++) {                                                                         \
                y[0] = b[r * ldb + j];                                                                                 \
                prefix##_store(rest,                                                                                   \
                               prefix##_fma(prefix##_load(rest), prefix##_splat(a + r * stride_a), prefix##_load(y))); \
            }                                                                                                          \
            c[j] = rest[0];                                                                                            \
        }                                                                                                              \
    }
#define ROW_LOOP(suffix)                                                                                               \
    {                                                                                                                  \
        int64_t p = 0;                                                                                                 \
        for (; p + 4 <= k; p += 4)                                                                                     \
            four_rows_##suffix(n, a + p * stride_a, stride_a, b + p * ldb, ldb, c);                                    \
        for (; p < k; p++)                                                                                             \
            one_row_##suffix(n, a + p * stride_a, stride_a, b + p * ldb, ldb, c);                                      \
    }

            static void one_row_base SOME_ROWS ROW_FUNCTION(quad, quad, 1) static void four_rows_base SOME_ROWS
    ROW_FUNCTION(quad, quad, 4) static void row_base ROW ROW_LOOP(base)
#if defined(__x86_64__)
AVX2 static void one_row_avx2 SOME_ROWS ROW_FUNCTION(__m256, oct, 1) AVX2 static void four_rows_avx2 SOME_ROWS
    ROW_FUNCTION(__m256, oct, 4) AVX2 static void row_avx2 ROW ROW_LOOP(avx2)
#endif

    /* ---- small matrices: tiles of ROWS x COLUMNS ---- */

    enum {
        ROWS = 4,
        COLUMNS = 16
    };

/* Where a tile's operands stand: a[r * a_row + p * a_step], b[p * b_step + column], c[r * c_row + column]. */
typedef struct tile_operands {
    const float *a, *b;
    float *c;
    int64_t a_row, a_step, b_step, c_row;
} tile_operands;

#define TILE_FUNCTION(vector, prefix, rows)                                                                            \
    {                                                                                                                  \
        enum { width = sizeof(vector) / sizeof(float), vectors = COLUMNS / width };                                    \
        vector sum[rows][vectors] = {{{0}}};                                                                           \
        const float *a = t->a, *b = t->b;                                                                              \
        for (int64_t p = 0; p < k; p++, a += t->a_step, b += t->b_step) {                                              \
            vector y[vectors];                                                                                         \
            UNROLL for (int v = 0; v < vectors; v++) y[v] = prefix##_load(b + v * width);                              \
            UNROLL for (int r = 0; r < (rows); r++)                                                                    \
            {                                                                                                          \
                const vector x = prefix##_splat(a + r * t->a_row);                                                     \
                UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = prefix##_fma(sum[r][v], x, y[v]);                 \
            }                                                                                                          \
        }                                                                                                              \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < vectors; v++)                               \
            prefix##_store(t->c + r * t->c_row + v * width, sum[r][v]);                                                \
    }

typedef void tile_function(int64_t k, const tile_operands *t);
static void rows_base(int64_t k, const tile_operands *t)
    TILE_FUNCTION(quad, quad, ROWS) static void row_tile_base(int64_t k, const tile_operands *t)
        TILE_FUNCTION(quad, quad, 1)
#if defined(__x86_64__)
            AVX2 static void rows_avx2(int64_t k, const tile_operands *t) TILE_FUNCTION(__m256, oct, ROWS) AVX2
    static void row_tile_avx2(int64_t k, const tile_operands *t) TILE_FUNCTION(__m256, oct, 1)
#endif

    /* COLUMNS columns of op(B) with zeros after the last. */
    static void copy_columns(float *out, const mw__gemm_shape *s, const float *b, int64_t columns)
{
    if (columns < COLUMNS)
        memset(out, 0, (size_t)(s->k * COLUMNS) * sizeof *out);
    if (!s->transpose_b) {
        for (int64_t p = 0; p < s->k; p++)
            for (int64_t j = 0; j < columns; j++)
                out[p * COLUMNS + j] = b[p * s->ldb + j];
        return;
    }
    const int64_t whole = columns / 4 * 4, depth = s->k / 4 * 4;
    for (int64_t p = 0; p < depth; p += 4)
        for (int64_t j = 0; j < whole; j += 4) {
            quad rows[4];
            for (int r = 0; r < 4; r++)
                rows[r] = quad_load(b + (j + r) * s->ldb + p);
            transpose(rows);
            for (int r = 0; r < 4; r++)
                quad_store(out + (p + r) * COLUMNS + j, rows[r]);
        }
    for (int64_t j = 0; j < columns; j++)
        for (int64_t p = j < whole ? depth : 0; p < s->k; p++)
            out[p * COLUMNS + j] = b[j * s->ldb + p];
}

/* Rows of one panel of columns; a narrow panel goes through a tile of its own. */
static void run_panel(tile_function *four, tile_function *one, const mw__gemm_shape *s, tile_operands t,
                      int64_t columns)
{
    float narrow[ROWS * COLUMNS];
    float *c = t.c;
    const bool whole = columns == COLUMNS;
    t.c_row = whole ? s->ldc : COLUMNS;
    for (int64_t i = 0, rows; i < s->m; i += rows, t.a += rows * t.a_row, c += rows * s->ldc) {
        rows = s->m - i < ROWS ? 1 : ROWS;
        t.c = whole ? c : narrow;
        (rows == 1 ? one : four)(s->k, &t);
        for (int64_t r = 0; !whole && r < rows; r++)
            for (int64_t j = 0; j < columns; j++)
                c[r * s->ldc + j] = narrow[r * COLUMNS + j];
    }
}

static void run_tiles(tile_function *four, tile_function *one, const mw__gemm_shape *s, const float *a, const float *b,
                      float *c, float *panel)
{
    for (int64_t j = 0; j < s->n; j += COLUMNS) {
        const int64_t columns = mw__i64_min(COLUMNS, s->n - j);
        const float *from = s->transpose_b ? b + j * s->ldb : b + j;
        const bool copied = s->transpose_b || columns < COLUMNS;
        if (copied)
            copy_columns(panel, s, from, columns);
        const tile_operands t = {.a = a,
                                 .b = copied ? panel : from,
                                 .c = c + j,
                                 .a_row = s->transpose_a ? 1 : s->lda,
                                 .a_step = s->transpose_a ? s->lda : 1,
                                 .b_step = copied ? COLUMNS : s->ldb};
        run_panel(four, one, s, t, columns);
    }
}

/* ---- public ---- */

#if defined(__x86_64__)
#define CHOOSE(name, avx2) ((avx2) ? name##_avx2 : name##_base)
#else
#define CHOOSE(name, avx2) ((void)(avx2), name##_base)
#endif

static void times_row(const mw__gemm_code *code, int64_t n, int64_t k, const float *a, int64_t step_a, const float *b,
                      int64_t ldb, float *c)
{
    if (code->row != NULL && n <= MW__GEMM_ROW_MOST) {
        code->row(n, k, a, step_a, b, ldb, c);
        return;
    }
    memset(c, 0, (size_t)n * sizeof *c);
    CHOOSE(row, code->level >= MW__LEVEL_AVX2)(n, k, a, step_a, b, ldb, c);
}

bool mw__gemm_vector(const mw__gemm_code *code, const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    const mw__level level = code->level;
    const int64_t step_a = s->transpose_a ? s->lda : 1, step_b = s->transpose_b ? 1 : s->ldb;
    dots_function *const dots = code->dots != NULL ? code->dots : CHOOSE(dots, level >= MW__LEVEL_AVX2);
    if (s->m == 1 && s->transpose_b && step_a == 1)
        dots(s->n, s->k, a, b, s->ldb, c);
    else if (s->n == 1 && s->ldc == 1 && !s->transpose_a && step_b == 1)
        dots(s->m, s->k, b, a, s->lda, c);
    else if (s->m == 1 && !s->transpose_b)
        times_row(code, s->n, s->k, a, step_a, b, s->ldb, c);
    else if (s->n == 1 && s->ldc == 1 && s->transpose_a)
        times_row(code, s->m, s->k, b, step_b, a, s->lda, c);
    else
        return false;
    return true;
}

/* Added to 0 as sums are, which makes -0 0. */
MW__INLINE void outer_body(const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < s->m; i++) {
        const float x = a[s->transpose_a ? i : i * s->lda];
        float *out = c + i * s->ldc;
        MW__VECTORIZE for (int64_t j = 0; j < s->n; j++) out[j] = x * b[j] + 0.0f;
    }
}
MW__BASE_AVX2_AVX512(outer, (const mw__gemm_shape *s, const float *a, const float *b, float *c), (s, a, b, c))

bool mw__gemm_outer(mw__level level, const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    if (s->k != 1 || (s->transpose_b && s->ldb != 1))
        return false;
    MW__DISPATCH_BEST(outer, level)(s, a, b, c);
    return true;
}

void mw__gemm_row_add(mw__level level, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    CHOOSE(row, level >= MW__LEVEL_AVX2)(n, k, a, 1, b, n, c);
}

void mw__gemm_small(mw__level level, const mw__gemm_shape *s, const float *a, const float *b, float *c, float *panel)
{
    const bool avx2 = level >= MW__LEVEL_AVX2;
    run_tiles(CHOOSE(rows, avx2), CHOOSE(row_tile, avx2), s, a, b, c, panel);
}
