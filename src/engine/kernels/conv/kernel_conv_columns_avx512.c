/* The kernels of kernel_conv_columns_avx512.h. When they are chosen, and their numbers, are in kernel_conv_columns.c.
 */
#include "engine/kernels/conv/kernel_conv_columns_avx512.h"
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"

#define PANEL 32 /* positions, or output channels, of a tile */

/* From the first position to the last, with what lies between the rows. */
static int64_t span_of(const mw__columns_avx512 *c) { return (c->rows - 1) * c->row_step + c->width; }

size_t mw__columns_avx512_scratch(const mw__columns_avx512 *c)
{
    const int64_t product = mw__i64_round_up(c->outputs, LANES) * mw__i64_round_up(span_of(c), PANEL);
    const int64_t dweight = PANEL * (mw__i64_round_up(c->rows * c->width, LANES) + mw__i64_round_up(c->depth, LANES));
    const size_t dense = (size_t)(product > dweight ? product : dweight) * sizeof(float);
    const size_t sparse = c->where != NULL ? mw__columns_sparse_scratch(c) : 0;
    return dense > sparse ? dense : sparse;
}

/* ---- y: lanes are positions, those between the rows too ---- */

#define ROWS 8 /* of the left matrix */

typedef struct product_tile {
    const float *left, *x;
    const int32_t *tap;
    int64_t left_step, count; /* floats between rows; elements of this block */
    float *sum;               /* [ROWS, sum_step] */
    int64_t sum_step;
    bool add;
} product_tile;

typedef void product_function(const product_tile *t);

/* rows and vectors are constants where this is inlined */
MW__INLINE void product_body(const int rows, const int vectors, const product_tile *t)
{
    __m512 sum[ROWS][2];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_setzero_ps();
    for (int64_t i = 0; i < t->count; i++) {
        const float *x = t->x + t->tap[i];
        __m512 y[2];
        UNROLL for (int v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(x + v * LANES);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const __m512 left = _mm512_set1_ps(t->left[r * t->left_step + i]);
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_ps(left, y[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        float *to = t->sum + r * t->sum_step + v * LANES;
        if (t->add)
            sum[r][v] = _mm512_add_ps(sum[r][v], _mm512_loadu_ps(to));
        _mm512_storeu_ps(to, sum[r][v]);
    }
}

#define PRODUCT(rows)                                                                                                  \
    static void product_##rows##_1(const product_tile *t) { product_body(rows, 1, t); }                                \
    static void product_##rows##_2(const product_tile *t) { product_body(rows, 2, t); }
PRODUCT(1)
PRODUCT(2)
PRODUCT(3)
PRODUCT(4)
PRODUCT(5)
PRODUCT(6)
PRODUCT(7)
PRODUCT(8)

#define PRODUCTS(rows)                                                                                                 \
    {                                                                                                                  \
        product_##rows##_1, product_##rows##_2                                                                         \
    }
/* [rows - 1][vectors - 1] */
static product_function *const products[ROWS][2] = {PRODUCTS(1), PRODUCTS(2), PRODUCTS(3), PRODUCTS(4),
                                                    PRODUCTS(5), PRODUCTS(6), PRODUCTS(7), PRODUCTS(8)};

/* The rows of positions, without what lies between them. */
static void put_rows(const mw__columns_avx512 *c, const float *sum, float *y)
{
    const __mmask16 rest = (__mmask16)((1u << c->width % LANES) - 1);
    for (int64_t row = 0; row < c->rows; row++, sum += c->row_step, y += c->width) {
        int64_t i = 0;
        for (; i + LANES <= c->width; i += LANES)
            _mm512_storeu_ps(y + i, _mm512_loadu_ps(sum + i));
        if (rest != 0)
            _mm512_mask_storeu_ps(y + i, rest, _mm512_maskz_loadu_ps(rest, sum + i));
    }
}

void mw__columns_avx512_product(const mw__columns_avx512 *c, const float *left, const float *image, float *y,
                                float *scratch)
{
    const int64_t span = span_of(c), step = mw__i64_round_up(span, PANEL);
    for (int64_t begin = 0; begin < c->depth; begin += MW__COLUMNS_BLOCK)
        for (int64_t p = 0; p < span; p += PANEL)
            for (int64_t o = 0; o < c->outputs; o += ROWS) {
                const product_tile t = {.left = left + o * c->depth + begin,
                                        .x = image + p,
                                        .tap = c->tap + begin,
                                        .left_step = c->depth,
                                        .count = mw__i64_min(MW__COLUMNS_BLOCK, c->depth - begin),
                                        .sum = scratch + o * step + p,
                                        .sum_step = step,
                                        .add = begin > 0};
                products[mw__i64_min(ROWS, c->outputs - o) - 1][span - p > LANES](&t);
            }
    for (int64_t o = 0; o < c->outputs; o++)
        put_rows(c, scratch + o * step, y + o * c->rows * c->width);
}

/* ---- dw: lanes are output channels ---- */

#define TAPS     12 /* of a tile with one vector */
#define TAPS_TWO 8  /* with two: so many pointers stay in registers */

typedef struct dweight_tile {
    const mw__columns_avx512 *columns;
    const float *image, *dy; /* dy [positions, PANEL] */
    const int32_t *tap;
    int64_t begin, end; /* positions */
    float *sum;         /* [taps, PANEL] */
} dweight_tile;

typedef void dweight_function(const dweight_tile *t);

/* taps and vectors are constants where this is inlined */
MW__INLINE void dweight_body(const int taps, const int vectors, const dweight_tile *t)
{
    const int64_t width = t->columns->width, step = t->columns->x_step;
    const float *dy = t->dy + t->begin * PANEL, *x[TAPS];
    __m512 sum[TAPS][2];
    UNROLL for (int i = 0; i < taps; i++)
    {
        x[i] = t->image + t->tap[i];
        UNROLL for (int v = 0; v < vectors; v++) sum[i][v] = _mm512_setzero_ps();
    }
    int64_t column = t->begin % width, row = t->begin / width * t->columns->row_step;
    for (int64_t p = t->begin; p < t->end; column = 0, row += t->columns->row_step) {
        const int64_t run = mw__i64_min(width - column, t->end - p);
        int64_t at = row + column * step;
        for (p += run; dy < t->dy + p * PANEL; dy += PANEL, at += step) {
            __m512 d[2];
            UNROLL for (int v = 0; v < vectors; v++) d[v] = _mm512_loadu_ps(dy + v * LANES);
            UNROLL for (int i = 0; i < taps; i++)
            {
                const __m512 value = _mm512_set1_ps(x[i][at]);
                UNROLL for (int v = 0; v < vectors; v++) sum[i][v] = _mm512_fmadd_ps(d[v], value, sum[i][v]);
            }
        }
    }
    UNROLL for (int i = 0; i < taps; i++) UNROLL for (int v = 0; v < vectors; v++)
    {
        float *to = t->sum + i * PANEL + v * LANES;
        if (t->begin > 0)
            sum[i][v] = _mm512_add_ps(sum[i][v], _mm512_loadu_ps(to));
        _mm512_storeu_ps(to, sum[i][v]);
    }
}

#define DWEIGHT(taps, vectors)                                                                                         \
    static void dweight_##taps##_##vectors(const dweight_tile *t) { dweight_body(taps, vectors, t); }
#define DWEIGHTS(taps) DWEIGHT(taps, 1) DWEIGHT(taps, 2)
DWEIGHTS(1)
DWEIGHTS(2)
DWEIGHTS(3)
DWEIGHTS(4)
DWEIGHTS(5)
DWEIGHTS(6)
DWEIGHTS(7)
DWEIGHTS(8)
DWEIGHT(9, 1)
DWEIGHT(10, 1)
DWEIGHT(11, 1)
DWEIGHT(12, 1)

/* [vectors - 1][taps - 1] */
static dweight_function *const dweights[2][TAPS] = {
    {dweight_1_1, dweight_2_1, dweight_3_1, dweight_4_1, dweight_5_1, dweight_6_1, dweight_7_1, dweight_8_1,
     dweight_9_1, dweight_10_1, dweight_11_1, dweight_12_1},
    {dweight_1_2, dweight_2_2, dweight_3_2, dweight_4_2, dweight_5_2, dweight_6_2, dweight_7_2, dweight_8_2}};

void mw__columns_avx512_transpose(const float *x, int64_t rows, int64_t x_step, int64_t columns, float *out,
                                  int64_t out_step)
{
    for (int64_t at = 0; at < columns; at += LANES) {
        const __mmask16 there = (__mmask16)((1u << mw__i64_min(LANES, columns - at)) - 1);
        __m512 r[LANES];
        UNROLL for (int i = 0; i < LANES; i++) r[i] =
            i < rows ? _mm512_maskz_loadu_ps(there, x + i * x_step + at) : _mm512_setzero_ps();
        mw__transpose_avx512(r);
        UNROLL for (int i = 0; i < LANES; i++)
        {
            if (at + i < columns)
                _mm512_mask_storeu_ps(out + (at + i) * out_step, (__mmask16)((1u << rows) - 1), r[i]);
        }
    }
}

/* The elements of dw [depth] of up to PANEL channels in sum [depth, PANEL]; lanes of other channels mean nothing. */
static void sum_positions(const mw__columns_avx512 *c, int vectors, const float *dy, const float *image, float *sum)
{
    const int64_t positions = c->rows * c->width, most = vectors == 1 ? TAPS : TAPS_TWO;
    const int64_t parts = (c->depth + most - 1) / most;
    for (int64_t begin = 0; begin < positions; begin += MW__COLUMNS_BLOCK)
        for (int64_t part = 0; part < parts; part++) { /* of nearly equal size */
            const int64_t first = c->depth * part / parts, taps = c->depth * (part + 1) / parts - first;
            const dweight_tile t = {.columns = c,
                                    .image = image,
                                    .dy = dy,
                                    .tap = c->tap + first,
                                    .begin = begin,
                                    .end = mw__i64_min(begin + MW__COLUMNS_BLOCK, positions),
                                    .sum = sum + first * PANEL};
            dweights[vectors - 1][taps - 1](&t);
        }
}

void mw__columns_avx512_dweight(const mw__columns_avx512 *c, const float *dy, const float *image, float *dw,
                                float *scratch)
{
    const int64_t positions = c->rows * c->width;
    if (c->where != NULL && mw__columns_sparse_dweight(c, dy, image, dw, scratch))
        return;
    float *const transposed = scratch, *const sum = transposed + PANEL * mw__i64_round_up(positions, LANES);
    for (int64_t o = 0; o < c->outputs; o += PANEL) {
        const int64_t there = mw__i64_min(PANEL, c->outputs - o);
        for (int64_t v = 0; v < there; v += LANES)
            mw__columns_avx512_transpose(dy + (o + v) * positions, mw__i64_min(LANES, there - v), positions, positions,
                                         transposed + v, PANEL);
        sum_positions(c, there > LANES ? 2 : 1, transposed, image, sum);
        for (int64_t at = 0; at < c->depth; at += LANES)
            mw__columns_avx512_transpose(sum + at * PANEL, mw__i64_min(LANES, c->depth - at), PANEL, there,
                                         dw + o * c->depth + at, c->depth);
    }
}

const mw__columns_kernel mw__columns_kernel_avx512 = {.scratch = mw__columns_avx512_scratch,
                                                      .product = mw__columns_avx512_product,
                                                      .dweight = mw__columns_avx512_dweight};
