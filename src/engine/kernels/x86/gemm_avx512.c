/* The product with AVX-512: blocks of B are packed into panels of 32 columns, A is read where it lies, and a tile of
 * 8 x 32 sums stays in registers while k runs. Sums run over k in order, in blocks of MW__GEMM_DEPTH that are added to
 * C. */
#include "engine/kernels/x86/gemm_avx512.h"
#include "engine/kernels/x86/avx512.h"

#define ROWS 8

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- the tile: C [rows, 16 or 32] (+)= A B, B a panel ---- */

typedef struct tile_call {
    int64_t k, lda, ldc;
    const float *a, *b;
    float *c;
    __mmask16 mask; /* columns of the last vector */
    bool add;
} tile_call;

typedef void tile_function(const tile_call *call);

/* rows, vectors and transposed are constants where this is inlined. */
MW__INLINE void tile_body(const int rows, const int vectors, const bool transposed, const tile_call *t)
{
    __m512 sum[ROWS][2];
    const float *row[ROWS];
    UNROLL for (int r = 0; r < rows; r++)
    {
        row[r] = transposed ? t->a + r : t->a + r * t->lda;
        UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_setzero_ps();
    }
    for (int64_t p = 0; p < t->k; p++) {
        const int64_t at = transposed ? p * t->lda : p;
        __m512 y[2];
        UNROLL for (int v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(t->b + p * MW__GEMM_PANEL + v * LANES);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const __m512 x = _mm512_set1_ps(row[r][at]);
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_ps(x, y[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        float *c = t->c + r * t->ldc + v * LANES;
        const __mmask16 mask = v + 1 == vectors ? t->mask : (__mmask16)0xffff;
        if (t->add)
            sum[r][v] = _mm512_add_ps(sum[r][v], _mm512_maskz_loadu_ps(mask, c));
        _mm512_mask_storeu_ps(c, mask, sum[r][v]);
    }
}

#define TILE(rows, vectors, transposed)                                                                                \
    static void tile_##rows##_##vectors##_##transposed(const tile_call *call)                                          \
    {                                                                                                                  \
        tile_body(rows, vectors, transposed, call);                                                                    \
    }
#define TILES(rows) TILE(rows, 1, 0) TILE(rows, 1, 1) TILE(rows, 2, 0) TILE(rows, 2, 1)
TILES(1)
TILES(2)
TILES(3)
TILES(4)
TILES(5)
TILES(6)
TILES(7)
TILES(8)

#define LISTED(rows)                                                                                                   \
    {                                                                                                                  \
        {tile_##rows##_1_0, tile_##rows##_1_1}, { tile_##rows##_2_0, tile_##rows##_2_1 }                               \
    }
/* [rows - 1][vectors - 1][transposed] */
static tile_function *const tiles[ROWS][2][2] = {LISTED(1), LISTED(2), LISTED(3), LISTED(4),
                                                 LISTED(5), LISTED(6), LISTED(7), LISTED(8)};

/* ---- packing: k outermost in a panel, missing columns filled with zeros ---- */

/* out [16, stride MW__GEMM_PANEL] = transpose of 16 x 16 elements of x */
static void transpose_square(float *out, const float *x, int64_t ldx)
{
    __m512 r[LANES];
    UNROLL for (int i = 0; i < LANES; i++) r[i] = _mm512_loadu_ps(x + i * ldx);
    mw__transpose_avx512(r);
    UNROLL for (int i = 0; i < LANES; i++) _mm512_storeu_ps(out + i * MW__GEMM_PANEL, r[i]);
}

/* Up to 16 columns of B, which are rows of the array b [columns, k]. */
static void pack_transposed(float *out, const float *b, int64_t ldb, int64_t columns, int64_t k)
{
    int64_t p = 0;
    for (; columns == LANES && p + LANES <= k; p += LANES)
        transpose_square(out + p * MW__GEMM_PANEL, b + p, ldb);
    for (; p < k; p++)
        for (int64_t c = 0; c < LANES; c++)
            out[p * MW__GEMM_PANEL + c] = c < columns ? b[c * ldb + p] : 0.0f;
}

static void pack(float *out, const float *b, int64_t ldb, bool transpose, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < n; j += LANES) {
        float *to = out + j / MW__GEMM_PANEL * MW__GEMM_PANEL * k + j % MW__GEMM_PANEL;
        const int64_t columns = smaller(LANES, n - j);
        const __mmask16 mask = (__mmask16)((1u << columns) - 1);
        if (transpose)
            pack_transposed(to, b + j * ldb, ldb, columns, k);
        else
            for (int64_t p = 0; p < k; p++)
                _mm512_storeu_ps(to + p * MW__GEMM_PANEL, _mm512_maskz_loadu_ps(mask, b + p * ldb + j));
    }
}

/* ---- dots: rows of b times a, ROWS at a time so that as many loads are under way ---- */

/* rows is a constant where this is inlined; a row's sum does not depend on its neighbours. */
MW__INLINE void dots_body(const int rows, int64_t k, const float *a, const float *b, int64_t ldb, float *c)
{
    __m512 sum[ROWS];
    UNROLL for (int r = 0; r < rows; r++) sum[r] = _mm512_setzero_ps();
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        const __m512 x = _mm512_loadu_ps(a + p);
        UNROLL for (int r = 0; r < rows; r++) sum[r] = _mm512_fmadd_ps(x, _mm512_loadu_ps(b + r * ldb + p), sum[r]);
    }
    const __mmask16 rest = (__mmask16)((1u << (k - p)) - 1);
    const __m512 x = _mm512_maskz_loadu_ps(rest, a + p);
    UNROLL for (int r = 0; r < rows; r++)
    {
        sum[r] = _mm512_fmadd_ps(x, _mm512_maskz_loadu_ps(rest, b + r * ldb + p), sum[r]);
        c[r] = _mm512_reduce_add_ps(sum[r]);
    }
}

/* ---- public ---- */

void mw__gemm_avx512_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c)
{
    int64_t j = 0;
    for (; j + ROWS <= n; j += ROWS)
        dots_body(ROWS, k, a, b + j * ldb, ldb, c + j);
    for (; j < n; j++)
        dots_body(1, k, a, b + j * ldb, ldb, c + j);
}

/* A panel times all rows of A; t.a and t.c are set here. */
static void run_panel(const mw__gemm_shape *s, tile_call t, const float *a, float *c, int vectors)
{
    for (int64_t i = 0; i < s->m; i += ROWS) {
        t.a = a + (s->transpose_a ? i : i * s->lda);
        t.c = c + i * s->ldc;
        tiles[smaller(ROWS, s->m - i) - 1][vectors - 1][s->transpose_a](&t);
    }
}

void mw__gemm_avx512(const mw__gemm_shape *s, const float *a, const float *b, float *c, float *scratch)
{
    for (int64_t j = 0; j < s->n; j += MW__GEMM_COLUMNS)
        for (int64_t p = 0; p < s->k; p += MW__GEMM_DEPTH) {
            const int64_t columns = smaller(MW__GEMM_COLUMNS, s->n - j), depth = smaller(MW__GEMM_DEPTH, s->k - p);
            pack(scratch, s->transpose_b ? b + j * s->ldb + p : b + p * s->ldb + j, s->ldb, s->transpose_b, columns,
                 depth);
            for (int64_t q = 0; q < columns; q += MW__GEMM_PANEL) {
                const int64_t width = smaller(MW__GEMM_PANEL, columns - q),
                              rest = width > LANES ? width - LANES : width;
                const tile_call t = {.k = depth,
                                     .lda = s->lda,
                                     .ldc = s->ldc,
                                     .b = scratch + q * depth,
                                     .mask = (__mmask16)((1u << rest) - 1),
                                     .add = p > 0};
                run_panel(s, t, a + (s->transpose_a ? p * s->lda : p), c + j + q, width > LANES ? 2 : 1);
            }
        }
}
