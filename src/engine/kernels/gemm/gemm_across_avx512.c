/* Products of few rows with a B that is transposed, as those of a layer with its weight, with AVX-512. C^T = B A^T is
 * computed instead, in panels of PANEL rows of B: the lanes of a vector are rows of A, which are packed once, and B is
 * read once, as it lies. Sums are those of gemm_blocked.c, in the same order. */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/gemm/gemm_avx512.h"

#define PANEL   16 /* rows of B */
#define VECTORS 4  /* rows of A at a time, in vectors */
#define TURN    8  /* steps of k */

/* Rows of B times all that is packed of A, for some k. */
typedef struct strip {
    const float *a, *b;
    int64_t k, ldb;
    float *sums; /* [rows, vectors] */
    bool add;
} strip;

/* Step q of a turn: every sum gets its product. */
#define STEP(q)                                                                                                        \
    {                                                                                                                  \
        __m512 y[VECTORS];                                                                                             \
        UNROLL for (int v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(a + v * LANES);                                \
        UNROLL for (int r = 0; r < rows; r++)                                                                          \
        {                                                                                                              \
            const __m512 x = _mm512_set1_ps(three[r / 3][(r % 3) * ldb + (q)]);                                        \
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_ps(x, y[v], sum[r][v]);                  \
        }                                                                                                              \
        a += vectors * LANES;                                                                                          \
    }

/* rows and vectors are constants where this is inlined. A pointer for three rows: there are fewer registers than rows.
 * The same rows of the next panel are asked for into the second cache, a line in a step; they may lie outside of B. */
MW__INLINE void strip_body(const int rows, const int vectors, const strip *t)
{
    __m512 sum[PANEL][VECTORS];
    const float *three[(PANEL + 2) / 3], *a = t->a, *next = t->b;
    const int64_t ldb = t->ldb, k = t->k;
    const int asked = (rows + 1) / 2, groups = (rows + 2) / 3;
    UNROLL for (int g = 0; g < groups; g++) three[g] = t->b + 3 * g * ldb;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_setzero_ps();
    int64_t p = 0;
    for (; p + TURN <= k; p += TURN, next += TURN) {
        const char *line = (const char *)((uintptr_t)next + (uintptr_t)((PANEL + (p & TURN ? asked : 0)) * ldb * 4));
        UNROLL for (int q = 0; q < TURN; q++)
        {
            if (q < asked)
                _mm_prefetch(line, _MM_HINT_T1);
            line = (const char *)((uintptr_t)line + (uintptr_t)(ldb * 4));
            STEP(q)
        }
        UNROLL for (int g = 0; g < groups; g++) three[g] += TURN;
    }
    for (; p < k; p++) {
        STEP(0)
        UNROLL for (int g = 0; g < groups; g++) three[g]++;
    }
    float *to = t->sums;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++, to += LANES)
        _mm512_store_ps(to, t->add ? _mm512_add_ps(sum[r][v], _mm512_load_ps(to)) : sum[r][v]);
}

#define STRIP(rows, vectors)                                                                                           \
    static void strip_##rows##_##vectors(const strip *t) { strip_body(rows, vectors, t); }
STRIP(16, 1)
STRIP(8, 2)
STRIP(8, 3)
STRIP(6, 4)
STRIP(5, 4)

/* How a panel is cut, by vectors: as many sums as there are registers for, and enough that none waits for its last. */
static const struct {
    int rows[4]; /* up to 0 */
    void (*strip[3])(const strip *t);
} cuts[VECTORS] = {{{16}, {strip_16_1}},
                   {{8, 8}, {strip_8_2, strip_8_2}},
                   {{8, 8}, {strip_8_3, strip_8_3}},
                   {{6, 5, 5}, {strip_6_4, strip_5_4, strip_5_4}}};

/* Rows and columns of C from sums [PANEL, vectors]. */
static void store_sums(float *c, int64_t ldc, int64_t rows, int64_t vectors, const float *sums)
{
    for (int64_t first = 0; first < rows; first += LANES, sums += LANES) {
        __m512 r[LANES];
        UNROLL for (int i = 0; i < PANEL; i++) r[i] = _mm512_load_ps(sums + i * vectors * LANES);
        mw__transpose_avx512(r);
        UNROLL for (int i = 0; i < LANES; i++) if (first + i < rows) _mm512_storeu_ps(c + (first + i) * ldc, r[i]);
    }
}

/* PANEL columns of C; `packed`: A, [k, vectors]. */
static void run_panel(const mw__gemm_shape *s, int64_t rows, const float *packed, const float *b, float *c)
{
    _Alignas(64) float sums[PANEL * VECTORS * LANES];
    const int64_t vectors = (rows + LANES - 1) / LANES;
    for (int64_t p = 0; p < s->k; p += MW__GEMM_DEPTH) {
        strip t = {.a = packed + p * vectors * LANES,
                   .b = b + p,
                   .k = mw__i64_min(MW__GEMM_DEPTH, s->k - p),
                   .ldb = s->ldb,
                   .sums = sums,
                   .add = p > 0};
        for (int i = 0; i < 3 && cuts[vectors - 1].rows[i] > 0; i++) {
            cuts[vectors - 1].strip[i](&t);
            t.b += cuts[vectors - 1].rows[i] * s->ldb;
            t.sums += cuts[vectors - 1].rows[i] * vectors * LANES;
        }
    }
    store_sums(c, s->ldc, rows, vectors, sums);
}

/* ---- public ---- */

/* A packed A stays in the second cache. Packing B costs as much as packing A of its size, and as much as turning C
 * round of a depth that is the rows of A. Measured: 128 rows times a weight of 768 take as long either way, 256 rows
 * 0.9 of the time with B packed. */
#define MOST_FLOATS 98304

size_t mw__gemm_avx512_across_scratch(int64_t m, int64_t k)
{
    const int64_t all = (m + LANES - 1) / LANES * LANES * k;
    return (size_t)(mw__i64_min(all, MOST_FLOATS) + LANES) * sizeof(float);
}

bool mw__gemm_avx512_across(const mw__gemm_shape *s, const float *a, const float *b, float *c, float *scratch)
{
    enum { CHUNK = VECTORS * LANES };
    if (!s->transpose_b || s->m < 1 || s->n < PANEL || s->n < 2 * s->m || s->k < s->m ||
        (s->m + LANES - 1) / LANES * LANES * s->k > MOST_FLOATS)
        return false;
    for (int64_t i = 0; i < s->m; i += CHUNK) {
        const int64_t rows = mw__i64_min(CHUNK, s->m - i);
        mw__gemm_avx512_set.pack(scratch + i * s->k, (rows + LANES - 1) / LANES * LANES,
                                 &(mw__gemm_lanes){.from = a + i * (s->transpose_a ? 1 : s->lda),
                                                   .count = rows,
                                                   .k = s->k,
                                                   .step = s->lda,
                                                   .side_by_side = s->transpose_a});
    }
    for (int64_t j = 0; j < s->n; j += PANEL) {
        const int64_t from = mw__i64_min(j, s->n - PANEL); /* the last panel takes again what it lacks */
        for (int64_t i = 0; i < s->m; i += CHUNK)
            run_panel(s, mw__i64_min(CHUNK, s->m - i), scratch + i * s->k, b + from * s->ldb, c + i * s->ldc + from);
    }
    return true;
}
