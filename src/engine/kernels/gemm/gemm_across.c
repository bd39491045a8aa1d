/* Products of few rows with a B that is transposed, as those of a layer with its weight, for any instruction set; that
 * of AVX-512 is gemm_across_avx512.c. C^T = B A^T is computed instead, in panels of PANEL rows of B: the lanes of
 * vectors are rows of A, which are packed once, and B is read once, as it lies. Sums are those of gemm_blocked.c, in
 * the same order. */
#include "base/number/integer.h"
#include "engine/kernels/gemm/gemm_blocked.h"

#include "engine/core/kernel.h"

#define PANEL 12 /* rows of B */
#define CHUNK 16 /* rows of A, or half of them if there are no more */
#define LINE  16 /* floats that come together */

static int64_t lanes_of(int64_t rows) { return rows <= CHUNK / 2 ? CHUNK / 2 : CHUNK; }

/* Rows [i, i + CHUNK) of A: [k, lanes], those that lack are zeros. */
static void pack_rows(const mw__gemm_shape *s, const float *a, int64_t i, float *out)
{
    const int64_t rows = mw__i64_min(CHUNK, s->m - i), lanes = lanes_of(rows);
    const int64_t row = s->transpose_a ? 1 : s->lda, step = s->transpose_a ? s->lda : 1;
    for (int64_t p = 0; p < s->k; p++)
        for (int64_t r = 0; r < lanes; r++)
            out[p * lanes + r] = r < rows ? a[(i + r) * row + p * step] : 0.0f;
}

/* PANEL columns of C for the rows of one chunk. The next panel is asked for; it may lie outside of B. */
static void run_panel(const mw__gemm_strips *strips, const mw__gemm_shape *s, int64_t rows, const float *packed,
                      const float *b, float *c)
{
    float sums[PANEL * CHUNK] = {0}, part[PANEL * CHUNK];
    const int64_t lanes = lanes_of(rows);
    for (int64_t p = 0; p < s->k; p += MW__GEMM_DEPTH) {
        const int64_t k = mw__i64_min(MW__GEMM_DEPTH, s->k - p);
        float *const to = p == 0 ? sums : part;
        for (int64_t r = 0; r < PANEL; r++)
            for (int64_t q = 0; q < k; q += LINE)
                mw__kernel_prefetch(b + p, ((PANEL + r) * s->ldb + q) * (int64_t)sizeof *b);
        if (lanes < CHUNK)
            strips->eight(k, b + p, s->ldb, packed + p * lanes, to);
        else
            for (int64_t r = 0; r < PANEL; r += PANEL / 2)
                strips->sixteen(k, b + r * s->ldb + p, s->ldb, packed + p * lanes, to + r * lanes);
        for (int64_t i = 0; p > 0 && i < PANEL * lanes; i++)
            sums[i] += part[i];
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t r = 0; r < PANEL; r++)
            c[i * s->ldc + r] = sums[r * lanes + i];
}

/* ---- public ---- */

/* A packed A stays in the second cache. Packing B costs as much as packing A of its size, and as much as turning C
 * round of a depth that is the rows of A. */
#define MOST_FLOATS 262144

static int64_t packed_floats(int64_t m, int64_t k) { return (m + CHUNK - 1) / CHUNK * CHUNK * k; }

size_t mw__gemm_across_scratch(int64_t m, int64_t k)
{
    return (size_t)mw__i64_min(packed_floats(m, k), MOST_FLOATS) * sizeof(float);
}

bool mw__gemm_takes_across(int64_t m, int64_t n, int64_t k)
{
    return m > 0 && n >= PANEL && n >= 2 * m && k >= m && packed_floats(m, k) <= MOST_FLOATS;
}

bool mw__gemm_across(const mw__gemm_strips *strips, const mw__gemm_shape *s, const float *a, const float *b, float *c,
                     float *scratch)
{
    if (!s->transpose_b || !mw__gemm_takes_across(s->m, s->n, s->k))
        return false;
    for (int64_t i = 0; i < s->m; i += CHUNK)
        pack_rows(s, a, i, scratch + i * s->k);
    for (int64_t j = 0; j < s->n; j += PANEL) {
        const int64_t from = mw__i64_min(j, s->n - PANEL); /* the last panel takes again what it lacks */
        for (int64_t i = 0; i < s->m; i += CHUNK)
            run_panel(strips, s, mw__i64_min(CHUNK, s->m - i), scratch + i * s->k, b + from * s->ldb,
                      c + i * s->ldc + from);
    }
    return true;
}
