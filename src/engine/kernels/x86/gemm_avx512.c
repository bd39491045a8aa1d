/* The product with AVX-512, by the loops of gemm_blocked.c: tiles of up to 14 x 32 sums in registers. */
#include "engine/kernels/x86/gemm_avx512.h"
#include "engine/kernels/gemm_blocked.h"
#include "engine/kernels/x86/avx512.h"

#define ROWS  14 /* of a tile of 32 columns */
#define APART 8  /* of one whose rows of A lie apart */
#define DOTS  8

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- the tile ---- */

typedef void tile_function(const mw__gemm_tile *tile);

/* Step p of k: every sum gets its product. */
#define STEP                                                                                                           \
    {                                                                                                                  \
        __m512 y[2];                                                                                                   \
        UNROLL for (int v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(b + v * LANES);                                \
        UNROLL for (int r = 0; r < rows; r++)                                                                          \
        {                                                                                                              \
            const __m512 x = _mm512_set1_ps(by_side ? a[r] : row[r][p]);                                               \
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_ps(x, y[v], sum[r][v]);                  \
        }                                                                                                              \
        a += a_step, b += b_step;                                                                                      \
    }

/* rows, vectors and by_side are constants where this is inlined. A row of C is asked for in each of the first steps:
 * all at once would hold up the loads of A and B. */
MW__INLINE void tile_body(const int rows, const int vectors, const bool by_side, const mw__gemm_tile *t)
{
    __m512 sum[ROWS][2];
    const float *row[APART], *a = t->a, *b = t->b, *ahead = t->c;
    const int64_t a_step = t->a_step, b_step = t->b_step, c_row = t->c_row, k = t->k;
    UNROLL for (int r = 0; r < rows; r++)
    {
        if (!by_side)
            row[r] = a + r * t->a_row;
        UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_setzero_ps();
    }
    int64_t p = 0;
    for (const int64_t asked = smaller(rows, k); p < asked; p++, ahead += c_row) {
        _mm_prefetch((const char *)ahead, _MM_HINT_T0);
        _mm_prefetch((const char *)(ahead + t->columns - 1), _MM_HINT_T0);
        STEP
    }
    for (; p < k; p++)
        STEP const __mmask16 mask = (__mmask16)(0xffffu >> (LANES * vectors - t->columns)), all = 0xffff;
    float *c = t->c;
    UNROLL for (int r = 0; r < rows; r++, c += c_row) UNROLL for (int v = 0; v < vectors; v++)
    {
        const __mmask16 here = v + 1 == vectors ? mask : all;
        if (t->add)
            sum[r][v] = _mm512_add_ps(sum[r][v], _mm512_maskz_loadu_ps(here, c + v * LANES));
        _mm512_mask_storeu_ps(c + v * LANES, here, sum[r][v]);
    }
}

#define TILE(rows, vectors, by_side)                                                                                   \
    static void tile_##rows##_##vectors##_##by_side(const mw__gemm_tile *tile)                                         \
    {                                                                                                                  \
        tile_body(rows, vectors, by_side, tile);                                                                       \
    }
#define TILES(rows)       TILE(rows, 1, 1) TILE(rows, 2, 1)
#define TILES_APART(rows) TILES(rows) TILE(rows, 1, 0) TILE(rows, 2, 0)
TILES_APART(1)
TILES_APART(2)
TILES_APART(3)
TILES_APART(4)
TILES_APART(5)
TILES_APART(6)
TILES_APART(7)
TILES_APART(8)
TILES(9)
TILES(10)
TILES(11)
TILES(12)
TILES(13)
TILES(14)

/* [rows - 1][vectors - 1] */
#define LISTED(rows, by_side)                                                                                          \
    {                                                                                                                  \
        tile_##rows##_1_##by_side, tile_##rows##_2_##by_side                                                           \
    }
static tile_function *const tiles[ROWS][2] = {LISTED(1, 1),  LISTED(2, 1),  LISTED(3, 1),  LISTED(4, 1), LISTED(5, 1),
                                              LISTED(6, 1),  LISTED(7, 1),  LISTED(8, 1),  LISTED(9, 1), LISTED(10, 1),
                                              LISTED(11, 1), LISTED(12, 1), LISTED(13, 1), LISTED(14, 1)};
static tile_function *const tiles_apart[APART][2] = {LISTED(1, 0), LISTED(2, 0), LISTED(3, 0), LISTED(4, 0),
                                                     LISTED(5, 0), LISTED(6, 0), LISTED(7, 0), LISTED(8, 0)};

static void run_tile(const mw__gemm_tile *t)
{
    const int vectors = t->columns > LANES ? 2 : 1;
    (t->a_row == 1 ? tiles : tiles_apart)[t->rows - 1][vectors - 1](t);
}

/* ---- packing: columns that lack are zeros up to 16 ---- */

/* Into the second cache, for the panel that comes next: while a tile runs nothing else would be asked for. It may lie
 * outside of the matrix. */
MW__INLINE void ask(const float *from, int64_t floats)
{
    _mm_prefetch((const char *)((uintptr_t)from + (uintptr_t)floats * sizeof *from), _MM_HINT_T1);
}

/* Steps of k of up to 16 lanes that lie apart; both counts are constants where this is inlined, but at the edges. */
MW__INLINE void pack_square(float *out, int64_t width, const float *from, int64_t step, int64_t lanes, int64_t steps)
{
    const __mmask16 mask = (__mmask16)(0xffffu >> (LANES - steps));
    __m512 r[LANES];
    UNROLL for (int i = 0; i < LANES; i++) r[i] =
        i < lanes ? _mm512_maskz_loadu_ps(mask, from + i * step) : _mm512_setzero_ps();
    UNROLL for (int i = 0; i < LANES; i++) ask(from, (width + i) * step);
    mw__transpose_avx512(r);
    UNROLL for (int i = 0; i < LANES; i++) if (i < steps) _mm512_storeu_ps(out + i * width, r[i]);
}

static void pack_apart(float *out, int64_t width, const float *from, int64_t step, int64_t lanes, int64_t k)
{
    for (int64_t p = 0; p < k; p += LANES) {
        float *const to = out + p * width;
        const int64_t steps = smaller(LANES, k - p);
        if (steps == LANES && lanes == LANES)
            pack_square(to, width, from + p, step, LANES, LANES);
        else if (steps == LANES && lanes == ROWS)
            pack_square(to, width, from + p, step, ROWS, LANES);
        else
            pack_square(to, width, from + p, step, lanes, steps);
    }
}

static void pack(float *out, int64_t width, const mw__gemm_lanes *l)
{
    for (int64_t first = 0; first < l->count; first += LANES) {
        const int64_t lanes = smaller(LANES, l->count - first);
        const __mmask16 mask = (__mmask16)(0xffffu >> (LANES - lanes));
        if (!l->side_by_side)
            pack_apart(out + first, width, l->from + first * l->step, l->step, lanes, l->k);
        else
            for (int64_t p = 0; p < l->k; p++) {
                const float *from = l->from + p * l->step + first;
                ask(from, width);
                _mm512_storeu_ps(out + p * width + first, _mm512_maskz_loadu_ps(mask, from));
            }
    }
}

/* ---- dots: rows of b times a, DOTS at a time so that as many loads are under way ---- */

/* rows is a constant where this is inlined; a row's sum does not depend on its neighbours. */
MW__INLINE void dots_body(const int rows, int64_t k, const float *a, const float *b, int64_t ldb, float *c)
{
    __m512 sum[DOTS];
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
    for (; j + DOTS <= n; j += DOTS)
        dots_body(DOTS, k, a, b + j * ldb, ldb, c + j);
    for (; j < n; j++)
        dots_body(1, k, a, b + j * ldb, ldb, c + j);
}

const mw__gemm_set mw__gemm_avx512_set = {.rows = ROWS,
                                          .columns = 2 * LANES,
                                          .apart = APART,
                                          .whole = LANES,
                                          .tile = run_tile,
                                          .pack = pack,
                                          .across = mw__gemm_across,
                                          .across_scratch = mw__gemm_across_scratch};
