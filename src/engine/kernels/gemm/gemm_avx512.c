/* The product with AVX-512, by the loops of gemm_blocked.c: tiles of up to 14 x 32 sums in registers. */
#include "engine/kernels/gemm/gemm_avx512.h"
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/gemm/gemm_blocked.h"

#define ROWS  14 /* of a tile of 32 columns */
#define DOTS  4
#define PARTS 8
#define LONG  256 /* numbers of a row */
/* Rows of a block of A, 19 tiles: half of the second cache, and all of a batch of 256. A panel of B is packed once for
 * them and stays in the first cache. */
#define BLOCK 266

/* ---- the tile ---- */

typedef void tile_function(const mw__gemm_tile *tile);

#define TURN 4 /* steps of k after which pointers to rows that lie apart move on; two lines are asked for in them */
#define LINE 64

/* Step q of a turn: every sum gets its product. */
#define STEP(q)                                                                                                        \
    {                                                                                                                  \
        __m512 y[2];                                                                                                   \
        UNROLL for (int v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(b + v * LANES);                                \
        UNROLL for (int r = 0; r < rows; r++)                                                                          \
        {                                                                                                              \
            const __m512 x = _mm512_set1_ps(by_side ? a[r] : three[r / 3][(r % 3) * a_row + (q)]);                     \
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_ps(x, y[v], sum[r][v]);                  \
        }                                                                                                              \
        a += a_step, b += b_step;                                                                                      \
    }
#define MOVE_ON(steps) UNROLL for (int g = 0; g < (rows + 2) / 3; g++) three[g] += (steps);

/* The next line that is asked for, into the second cache: where the last of a row was, the next row. */
#define ASK                                                                                                            \
    {                                                                                                                  \
        _mm_prefetch(line, _MM_HINT_T1);                                                                               \
        line += LINE;                                                                                                  \
        if (--left == 0) {                                                                                             \
            line = row = (const char *)((uintptr_t)row + (uintptr_t)t->ask.row * sizeof *a);                           \
            left = t->ask.lines;                                                                                       \
        }                                                                                                              \
    }

/* rows, vectors and by_side are constants where this is inlined. Where rows of A lie apart there is a pointer for three
 * of them, as there are fewer registers than rows. A row of C is asked for in each of the first steps: all at once
 * would hold up the loads of A and B. */
MW__INLINE void tile_body(const int rows, const int vectors, const bool by_side, const mw__gemm_tile *t)
{
    __m512 sum[ROWS][2];
    const float *three[(ROWS + 2) / 3], *a = t->a, *b = t->b, *ahead = t->c;
    const int64_t a_row = t->a_row, a_step = t->a_step, b_step = t->b_step, c_row = t->c_row, k = t->k;
    UNROLL for (int g = 0; g < (rows + 2) / 3; g++) three[g] = a + 3 * g * a_row;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_setzero_ps();
    int64_t p = 0;
    for (const int64_t first = mw__i64_min(rows, k); p < first; p++, ahead += c_row) {
        _mm_prefetch((const char *)ahead, _MM_HINT_T0);
        _mm_prefetch((const char *)(ahead + t->columns - 1), _MM_HINT_T0);
        STEP(0)
        MOVE_ON(1)
    }
    const char *row = (const char *)t->ask.from, *line = row;
    int64_t asked = t->ask.count, left = t->ask.lines;
    for (; p + TURN <= k; p += TURN) {
        UNROLL for (int q = 0; q < TURN; q++)
        {
            if (q % 2 == 0 && asked-- > 0)
                ASK STEP(q)
        }
        MOVE_ON(TURN)
    }
    for (; p < k; p++) {
        STEP(0)
        MOVE_ON(1)
    }
    const __mmask16 mask = (__mmask16)(0xffffu >> (LANES * vectors - t->columns)), all = 0xffff;
    float *c = t->c;
    if (t->add)
        UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        {
            const __m512 before = _mm512_maskz_loadu_ps(v + 1 == vectors ? mask : all, c + r * c_row + v * LANES);
            sum[r][v] = _mm512_add_ps(sum[r][v], before);
        }
    if (mask == all)
        UNROLL for (int r = 0; r < rows; r++, c += c_row) UNROLL for (int v = 0; v < vectors; v++)
            _mm512_storeu_ps(c + v * LANES, sum[r][v]);
    else
        UNROLL for (int r = 0; r < rows; r++, c += c_row) UNROLL for (int v = 0; v < vectors; v++)
            _mm512_mask_storeu_ps(c + v * LANES, v + 1 == vectors ? mask : all, sum[r][v]);
}

#define TILE(rows, vectors, by_side)                                                                                   \
    static void tile_##rows##_##vectors##_##by_side(const mw__gemm_tile *tile)                                         \
    {                                                                                                                  \
        tile_body(rows, vectors, by_side, tile);                                                                       \
    }
#define TILES(rows) TILE(rows, 1, 1) TILE(rows, 2, 1) TILE(rows, 1, 0) TILE(rows, 2, 0)
TILES(1)
TILES(2)
TILES(3)
TILES(4)
TILES(5)
TILES(6)
TILES(7)
TILES(8)
TILES(9)
TILES(10)
TILES(11)
TILES(12)
TILES(13)
TILES(14)

/* [by_side][rows - 1][vectors - 1] */
#define LISTED(rows, by_side)                                                                                          \
    {                                                                                                                  \
        tile_##rows##_1_##by_side, tile_##rows##_2_##by_side                                                           \
    }
#define ALL_LISTED(by_side)                                                                                            \
    {                                                                                                                  \
        LISTED(1, by_side), LISTED(2, by_side), LISTED(3, by_side), LISTED(4, by_side), LISTED(5, by_side),            \
            LISTED(6, by_side), LISTED(7, by_side), LISTED(8, by_side), LISTED(9, by_side), LISTED(10, by_side),       \
            LISTED(11, by_side), LISTED(12, by_side), LISTED(13, by_side), LISTED(14, by_side)                         \
    }
static tile_function *const tiles[2][ROWS][2] = {ALL_LISTED(0), ALL_LISTED(1)};

static void run_tile(const mw__gemm_tile *t)
{
    const int vectors = t->columns > LANES ? 2 : 1;
    tiles[t->a_row == 1][t->rows - 1][vectors - 1](t);
}

/* ---- packing: columns that lack are zeros up to 16 ---- */

/* Into the second cache, for the panel that comes next, where no tile does. It may lie outside of the matrix. */
MW__INLINE void ask(const float *from, int64_t floats)
{
    _mm_prefetch((const char *)((uintptr_t)from + (uintptr_t)floats * sizeof *from), _MM_HINT_T1);
}

/* Steps of k of up to 16 lanes that lie apart; both counts are constants where this is inlined, but at the edges. */
MW__INLINE void pack_square(float *out, int64_t width, const float *from, int64_t step, int64_t lanes, int64_t steps,
                            bool asks)
{
    const __mmask16 mask = (__mmask16)(0xffffu >> (LANES - steps));
    __m512 r[LANES];
    UNROLL for (int i = 0; i < LANES; i++) r[i] =
        i < lanes ? _mm512_maskz_loadu_ps(mask, from + i * step) : _mm512_setzero_ps();
    if (asks)
        UNROLL for (int i = 0; i < LANES; i++) ask(from, (width + i) * step);
    mw__transpose_avx512(r);
    UNROLL for (int i = 0; i < LANES; i++) if (i < steps) _mm512_storeu_ps(out + i * width, r[i]);
}

/* `lanes` of them from the one at `first` on. */
static void pack_apart(float *out, int64_t width, const mw__gemm_lanes *l, int64_t first, int64_t lanes)
{
    for (int64_t p = 0; p < l->k; p += LANES) {
        float *const to = out + p * width;
        const float *from = l->from + first * l->step + p;
        const int64_t steps = mw__i64_min(LANES, l->k - p);
        if (steps == LANES && lanes == LANES)
            pack_square(to, width, from, l->step, LANES, LANES, l->asks);
        else if (steps == LANES && lanes == ROWS)
            pack_square(to, width, from, l->step, ROWS, LANES, l->asks);
        else
            pack_square(to, width, from, l->step, lanes, steps, l->asks);
    }
}

void mw__gemm_avx512_pack(float *out, int64_t width, const mw__gemm_lanes *l)
{
    for (int64_t first = 0; first < l->count; first += LANES) {
        const int64_t lanes = mw__i64_min(LANES, l->count - first);
        const __mmask16 mask = (__mmask16)(0xffffu >> (LANES - lanes));
        if (!l->side_by_side)
            pack_apart(out + first, width, l, first, lanes);
        else
            for (int64_t p = 0; p < l->k; p++) {
                const float *from = l->from + p * l->step + first;
                if (l->asks)
                    ask(from, width);
                _mm512_storeu_ps(out + p * width + first, _mm512_maskz_loadu_ps(mask, from));
            }
    }
}

/* ---- dots: rows of b times a. Long rows one after the other, in PARTS sums: memory is read in its order, which takes
 * less the further away it is (128 rows of 1568 numbers on a Zen 5, from the second level of the cache and beyond it:
 * 5.4 us, four rows at a time 6.6 us, eight 6.4 us). Short ones DOTS at a time, as adding up the sums takes as long.
 * ---- */

/* What a row of b is: fp32, or fp16 that is widened. */
MW__INLINE __m512 load_lanes(const void *b, int64_t at, const bool half)
{
    if (half)
        return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)((const uint16_t *)b + at)));
    return _mm512_loadu_ps((const float *)b + at);
}

MW__INLINE __m512 load_rest(const void *b, int64_t at, int64_t count, const bool half)
{
    if (!half)
        return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), (const float *)b + at);
    uint16_t rest[LANES] = {0};
    for (int64_t i = 0; i < count; i++)
        rest[i] = ((const uint16_t *)b)[at + i];
    return load_lanes(rest, 0, true);
}

/* One row; half is a constant where this is inlined. */
MW__INLINE float long_dot(const bool half, int64_t k, const float *a, const void *b)
{
    __m512 sum[PARTS];
    UNROLL for (int i = 0; i < PARTS; i++) sum[i] = _mm512_setzero_ps();
    int64_t p = 0;
    for (; p + PARTS * LANES <= k; p += PARTS * LANES)
        UNROLL for (int i = 0; i < PARTS; i++) sum[i] =
            _mm512_fmadd_ps(_mm512_loadu_ps(a + p + i * LANES), load_lanes(b, p + i * LANES, half), sum[i]);
    for (; p + LANES <= k; p += LANES)
        sum[0] = _mm512_fmadd_ps(_mm512_loadu_ps(a + p), load_lanes(b, p, half), sum[0]);
    const __m512 x = _mm512_maskz_loadu_ps((__mmask16)((1u << (k - p)) - 1), a + p);
    sum[1] = _mm512_fmadd_ps(x, load_rest(b, p, k - p, half), sum[1]);
    for (int width = PARTS / 2; width > 0; width /= 2)
        UNROLL for (int i = 0; i < width; i++) sum[i] = _mm512_add_ps(sum[i], sum[i + width]);
    return _mm512_reduce_add_ps(sum[0]);
}

/* rows and half are constants where this is inlined; a row's sum does not depend on its neighbors. */
MW__INLINE void dots_body(const int rows, const bool half, int64_t k, const float *a, const void *b, int64_t ldb,
                          float *c)
{
    __m512 sum[DOTS];
    UNROLL for (int r = 0; r < rows; r++) sum[r] = _mm512_setzero_ps();
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        const __m512 x = _mm512_loadu_ps(a + p);
        UNROLL for (int r = 0; r < rows; r++) sum[r] = _mm512_fmadd_ps(x, load_lanes(b, r * ldb + p, half), sum[r]);
    }
    const __m512 x = _mm512_maskz_loadu_ps((__mmask16)((1u << (k - p)) - 1), a + p);
    UNROLL for (int r = 0; r < rows; r++)
    {
        sum[r] = _mm512_fmadd_ps(x, load_rest(b, r * ldb + p, k - p, half), sum[r]);
        c[r] = _mm512_reduce_add_ps(sum[r]);
    }
}

/* ---- public ---- */

void mw__gemm_avx512_long_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c)
{
    for (int64_t j = 0; j < n; j++)
        c[j] = long_dot(false, k, a, b + j * ldb);
}

void mw__gemm_avx512_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c)
{
    int64_t j = 0;
    for (; j + DOTS <= n; j += DOTS)
        dots_body(DOTS, false, k, a, b + j * ldb, ldb, c + j);
    for (; j < n; j++)
        dots_body(1, false, k, a, b + j * ldb, ldb, c + j);
}

void mw__gemm_avx512_half_dots(int64_t n, int64_t k, const float *a, const uint16_t *b, int64_t ldb, float *c)
{
    int64_t j = 0;
    for (; k >= LONG && j < n; j++)
        c[j] = long_dot(true, k, a, b + j * ldb);
    for (; j + DOTS <= n; j += DOTS)
        dots_body(DOTS, true, k, a, b + j * ldb, ldb, c + j);
    for (; j < n; j++)
        dots_body(1, true, k, a, b + j * ldb, ldb, c + j);
}

/* ---- a row times b: up to COLUMNS columns in registers, each sum a chain over k, as in gemm_small.c ---- */

#define VECTORS 8
#define COLUMNS (VECTORS * LANES)

/* vectors is a constant where this is inlined; of the last one `mask` is there. */
MW__INLINE void row_body(const int vectors, __mmask16 mask, int64_t k, const float *a, int64_t step_a, const float *b,
                         int64_t ldb, float *c)
{
    __m512 sum[VECTORS];
    UNROLL for (int v = 0; v < vectors; v++) sum[v] = _mm512_setzero_ps();
    for (int64_t p = 0; p < k; p++, b += ldb) {
        const __m512 x = _mm512_set1_ps(a[p * step_a]);
        UNROLL for (int v = 0; v + 1 < vectors; v++) sum[v] =
            _mm512_fmadd_ps(x, _mm512_loadu_ps(b + v * LANES), sum[v]);
        sum[vectors - 1] = _mm512_fmadd_ps(x, _mm512_maskz_loadu_ps(mask, b + (vectors - 1) * LANES), sum[vectors - 1]);
    }
    UNROLL for (int v = 0; v + 1 < vectors; v++) _mm512_storeu_ps(c + v * LANES, sum[v]);
    _mm512_mask_storeu_ps(c + (vectors - 1) * LANES, mask, sum[vectors - 1]);
}

#define ROW_OF(vectors)                                                                                                \
    case vectors:                                                                                                      \
        row_body(vectors, mask, k, a, step_a, b + j, ldb, c + j);                                                      \
        break;

void mw__gemm_avx512_row(int64_t n, int64_t k, const float *a, int64_t step_a, const float *b, int64_t ldb, float *c)
{
    for (int64_t j = 0; j < n; j += COLUMNS) {
        const int64_t columns = mw__i64_min(COLUMNS, n - j), vectors = (columns + LANES - 1) / LANES;
        const __mmask16 mask = (__mmask16)(0xffffu >> (vectors * LANES - columns));
        switch (vectors) {
            ROW_OF(1)
            ROW_OF(2)
            ROW_OF(3)
            ROW_OF(4)
            ROW_OF(5)
            ROW_OF(6)
            ROW_OF(7)
            ROW_OF(8)
        }
    }
}

const mw__gemm_set mw__gemm_avx512_set = {.rows = ROWS,
                                          .columns = 2 * LANES,
                                          .apart = ROWS,
                                          .block = BLOCK,
                                          .asks = true,
                                          .whole = LANES,
                                          .tile = run_tile,
                                          .pack = mw__gemm_avx512_pack,
                                          .across = mw__gemm_avx512_across,
                                          .across_scratch = mw__gemm_avx512_across_scratch};
