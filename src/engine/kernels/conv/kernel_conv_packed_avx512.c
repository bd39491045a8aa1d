/* The packed convolution with AVX-512: tiles of up to 14 output channels by 32 positions. */
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/kernel_conv_packed.h"

#define ROWS    14
#define VECTORS 2

/* ---- panels of x ---- */

/* Where lane 0 would lie, perhaps outside of x: masked lanes are not touched. */
static const float *lane_0(const float *x, const mw__packed_run *run)
{
    return (const float *)((uintptr_t)x + (uintptr_t)(run->lane_0 * (int64_t)sizeof *x));
}

static __m512 gather_1(const mw__packed_run *run, const mw__packed_run *end, const float *x, int64_t step)
{
    __m512 all = _mm512_setzero_ps();
    (void)step;
    for (; run < end; run++)
        all = _mm512_mask_loadu_ps(all, (__mmask16)run->mask, lane_0(x, run));
    return all;
}

/* Lanes [first, first + count), count > 0, of every second element from x on, and those between them; the others are 0
 * in `mask` and are not touched. */
static __m512 every_second(const float *x, __mmask16 mask, int64_t first, int64_t count)
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const uint64_t wide = ((UINT64_C(1) << (2 * count - 1)) - 1) << 2 * first;
    const __m512 low = _mm512_maskz_loadu_ps((__mmask16)wide, x);
    const __m512 high = _mm512_maskz_loadu_ps((__mmask16)(wide >> LANES), x + LANES);
    return _mm512_maskz_permutex2var_ps(mask, low, even, high);
}

static __m512 gather_2(const mw__packed_run *run, const mw__packed_run *end, const float *x, int64_t step)
{
    __m512 all = _mm512_setzero_ps();
    (void)step;
    for (; run < end; run++) {
        const __mmask16 mask = (__mmask16)run->mask;
        all = _mm512_mask_mov_ps(all, mask, every_second(lane_0(x, run), mask, run->first, run->count));
    }
    return all;
}

static __m512 gather_any(const mw__packed_run *run, const mw__packed_run *end, const float *x, int64_t step)
{
    float lanes[LANES] = {0};
    for (; run < end; run++)
        for (int64_t i = run->first; i < run->first + run->count; i++)
            lanes[i] = x[run->lane_0 + i * step];
    return _mm512_loadu_ps(lanes);
}

typedef __m512 gather_vector(const mw__packed_run *run, const mw__packed_run *end, const float *x, int64_t step);

/* `vector` is a constant where this is inlined. */
MW__INLINE void gather_body(gather_vector *vector, const mw__packed_source *s, const float *x, int64_t area,
                            int64_t tap, int64_t count, float *panel)
{
    for (int64_t i = 0; i < count; i++, panel += VECTORS * LANES) {
        const int32_t *begin = s->begin + tap * VECTORS;
        UNROLL for (int v = 0; v < VECTORS; v++)
            _mm512_storeu_ps(panel + v * LANES, vector(s->runs + begin[v], s->runs + begin[v + 1], x, s->step));
        if (++tap == s->taps)
            tap = 0, x += area;
    }
}

static void gather_panel(const mw__packed_source *s, const float *x, int64_t area, int64_t tap, int64_t count,
                         float *panel)
{
    if (s->step == 1)
        gather_body(gather_1, s, x, area, tap, count, panel);
    else if (s->step == 2)
        gather_body(gather_2, s, x, area, tap, count, panel);
    else
        gather_body(gather_any, s, x, area, tap, count, panel);
}

/* ---- the tile ---- */

/* rows is a constant where this is inlined */
MW__INLINE void product_body(const int rows, int64_t depth, const float *a, const float *panel, float *c, bool add)
{
    __m512 sum[ROWS][VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] =
        add ? _mm512_loadu_ps(c + (r * VECTORS + v) * LANES) : _mm512_setzero_ps();
    for (int64_t i = 0; i < depth; i++, a += rows, panel += VECTORS * LANES) {
        __m512 x[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) x[v] = _mm512_loadu_ps(panel + v * LANES);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const __m512 w = _mm512_set1_ps(a[r]);
            UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] = _mm512_fmadd_ps(w, x[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        _mm512_storeu_ps(c + (r * VECTORS + v) * LANES, sum[r][v]);
}

#define PRODUCT(rows)                                                                                                  \
    static void product_##rows(int64_t depth, const float *a, const float *panel, float *c, bool add)                  \
    {                                                                                                                  \
        product_body(rows, depth, a, panel, c, add);                                                                   \
    }
PRODUCT(1)
PRODUCT(2)
PRODUCT(3)
PRODUCT(4)
PRODUCT(5)
PRODUCT(6)
PRODUCT(7)
PRODUCT(8)
PRODUCT(9)
PRODUCT(10)
PRODUCT(11)
PRODUCT(12)
PRODUCT(13)
PRODUCT(14)

static mw__packed_product *const products[ROWS] = {product_1,  product_2,  product_3,  product_4, product_5,
                                                   product_6,  product_7,  product_8,  product_9, product_10,
                                                   product_11, product_12, product_13, product_14};

/* ---- results ---- */

/* Up to 16 to every second place. */
static void store_2(float *y, __m512 sums, int64_t count)
{
    const __m512i low = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    const __m512i high = _mm512_set_epi32(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8);
    const uint64_t wide = ((UINT64_C(1) << (2 * count - 1)) - 1) & 0x55555555;
    _mm512_mask_storeu_ps(y, (__mmask16)wide, _mm512_permutexvar_ps(low, sums));
    if (count > LANES / 2)
        _mm512_mask_storeu_ps(y + LANES, (__mmask16)(wide >> LANES), _mm512_permutexvar_ps(high, sums));
}

static void store_sums(float *y, int64_t spread, const float *c, int64_t count, float bias)
{
    for (int64_t i = 0; spread <= 2 && i < count; i += LANES) {
        const int64_t here = count - i < LANES ? count - i : LANES;
        const __mmask16 mask = (__mmask16)((1u << here) - 1);
        const __m512 sums = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, c + i), _mm512_set1_ps(bias));
        if (spread == 1)
            _mm512_mask_storeu_ps(y + i, mask, sums);
        else
            store_2(y + 2 * i, sums, here);
    }
    for (int64_t i = 0; spread > 2 && i < count; i++)
        y[i * spread] = c[i] + bias;
}

/* ---- sums of the weight's gradient ---- */

/* rows and vectors are constants where this is inlined */
MW__INLINE void sums_body(const int rows, const int vectors, int64_t count, const float *a, const float *x,
                          const mw__packed_place *at, float *c, bool add)
{
    __m512 sum[ROWS][VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] =
        add ? _mm512_loadu_ps(c + (r * VECTORS + v) * LANES) : _mm512_setzero_ps();
    for (int64_t i = 0; i < count; i++) {
        const float *from = x + (int64_t)at[i].x * VECTORS * LANES, *row = a + (int64_t)at[i].a * rows;
        __m512 lanes[VECTORS];
        UNROLL for (int v = 0; v < vectors; v++) lanes[v] = _mm512_loadu_ps(from + v * LANES);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const __m512 d = _mm512_set1_ps(row[r]);
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_ps(d, lanes[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        _mm512_storeu_ps(c + (r * VECTORS + v) * LANES, sum[r][v]);
}

#define SUMS(rows)                                                                                                     \
    static void sums_##rows##_1(int64_t count, const float *a, const float *x, const mw__packed_place *at, float *c,   \
                                bool add)                                                                              \
    {                                                                                                                  \
        sums_body(rows, 1, count, a, x, at, c, add);                                                                   \
    }                                                                                                                  \
    static void sums_##rows##_2(int64_t count, const float *a, const float *x, const mw__packed_place *at, float *c,   \
                                bool add)                                                                              \
    {                                                                                                                  \
        sums_body(rows, 2, count, a, x, at, c, add);                                                                   \
    }
SUMS(1)
SUMS(2)
SUMS(3)
SUMS(4)
SUMS(5)
SUMS(6)
SUMS(7)
SUMS(8)
SUMS(9)
SUMS(10)
SUMS(11)
SUMS(12)
SUMS(13)
SUMS(14)

#define LISTED(rows)                                                                                                   \
    {                                                                                                                  \
        sums_##rows##_1, sums_##rows##_2                                                                               \
    }
static mw__packed_sums *const all_sums[ROWS][VECTORS] = {LISTED(1),  LISTED(2),  LISTED(3),  LISTED(4), LISTED(5),
                                                         LISTED(6),  LISTED(7),  LISTED(8),  LISTED(9), LISTED(10),
                                                         LISTED(11), LISTED(12), LISTED(13), LISTED(14)};

/* ---- transposing ---- */

static void transpose(const float *x, int64_t stride, int64_t rows, int64_t count, int64_t fill, float *out,
                      int64_t pitch)
{
    const __mmask16 filled = (__mmask16)((1u << fill) - 1);
    for (int64_t i = 0; i < count; i += LANES) {
        const int64_t here = count - i < LANES ? count - i : LANES;
        const __mmask16 mask = (__mmask16)((1u << here) - 1);
        __m512 r[LANES];
        UNROLL for (int k = 0; k < LANES; k++) r[k] =
            k < rows ? _mm512_maskz_loadu_ps(mask, x + k * stride + i) : _mm512_setzero_ps();
        UNROLL for (int k = 0; k < LANES; k++) /* what the next rows are, if there are any */
            _mm_prefetch((const char *)((uintptr_t)x + (uintptr_t)(((rows + k) * stride + i) * (int64_t)sizeof *x)),
                         _MM_HINT_T1);
        mw__transpose_avx512(r);
        UNROLL for (int k = 0; k < LANES; k++)
        {
            if (k < here)
                _mm512_mask_storeu_ps(out + (i + k) * pitch, filled, r[k]);
        }
    }
}

static void column(const float *x, int64_t stride, int64_t rows, int64_t fill, float *out)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __mmask16 mask = (__mmask16)((1u << rows) - 1), filled = (__mmask16)((1u << fill) - 1);
    if (stride > INT32_MAX / LANES) {
        for (int64_t r = 0; r < fill; r++)
            out[r] = r < rows ? x[r * stride] : 0.0f;
        return;
    }
    const __m512i at = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int32_t)stride));
    _mm512_mask_storeu_ps(out, filled, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, at, x, sizeof *x));
}

/* ---- one channel by itself ---- */

/* One vector of each line. step: 1 or 2, a constant where this is inlined. */
MW__INLINE void lines_body(const int step, const float *x, int64_t stride, int64_t lines, int64_t begin, int64_t end,
                           int64_t pitch, int64_t here, float *out)
{
    const int64_t low = begin > 0 ? begin : 0, high = end < here ? end : here, inside = high > low ? high - low : 0;
    const __mmask16 mask = inside > 0 ? (__mmask16)(((1u << inside) - 1) << low) : 0;
    const __mmask16 all = (__mmask16)((1u << here) - 1);
    for (int64_t k = 0; k < lines; k++, out += pitch) {
        const float *from = (const float *)((uintptr_t)x + (uintptr_t)(k * stride * (int64_t)sizeof *x));
        __m512 lanes = _mm512_setzero_ps();
        if (inside > 0)
            lanes = step == 1 ? _mm512_maskz_loadu_ps(mask, from) : every_second(from, mask, low, inside);
        _mm512_mask_storeu_ps(out, all, lanes);
    }
}

static void lines(const float *x, int64_t stride, int64_t lines, int64_t step, int64_t begin, int64_t end,
                  int64_t count, float *out)
{
    for (int64_t i = 0; step <= 2 && i < count; i += LANES) {
        const int64_t here = count - i < LANES ? count - i : LANES;
        const float *from = (const float *)((uintptr_t)x + (uintptr_t)(i * step * (int64_t)sizeof *x));
        if (step == 1)
            lines_body(1, from, stride, lines, begin - i, end - i, count, here, out + i);
        else
            lines_body(2, from, stride, lines, begin - i, end - i, count, here, out + i);
    }
    for (int64_t k = 0; step > 2 && k < lines; k++)
        for (int64_t i = 0; i < count; i++)
            out[k * count + i] = i >= begin && i < end ? x[k * stride + i * step] : 0.0f;
}

static void weave(const float *even, const float *odd, int64_t pitch, int64_t lines, int64_t count, float *y,
                  int64_t stride)
{
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(LANES / 2));
    for (int64_t i = 0; i < count; i += 2 * LANES) {
        const uint32_t all = count - i < 2 * LANES ? (1u << (count - i)) - 1 : UINT32_MAX;
        const __mmask16 first = (__mmask16)all, second = (__mmask16)(all >> LANES);
        const int64_t here = count - i < 2 * LANES ? count - i : 2 * LANES;
        const __mmask16 evens = (__mmask16)((1u << (here + 1) / 2) - 1), odds = (__mmask16)((1u << here / 2) - 1);
        for (int64_t k = 0; k < lines; k++) {
            const __m512 a = _mm512_maskz_loadu_ps(evens, even + k * pitch + i / 2);
            const __m512 b = _mm512_maskz_loadu_ps(odds, odd + k * pitch + i / 2);
            _mm512_mask_storeu_ps(y + k * stride + i, first, _mm512_permutex2var_ps(a, low, b));
            if (second != 0)
                _mm512_mask_storeu_ps(y + k * stride + i + LANES, second, _mm512_permutex2var_ps(a, high, b));
        }
    }
}

/* outputs and vectors are constants where this is inlined; from position i on */
MW__INLINE void taps_body(const int outputs, const int vectors, int64_t taps, const int32_t *at, const float *x,
                          const mw__packed_outputs *out, int64_t i)
{
    __m512 sum[MW__PACKED_OUTPUTS][8];
    UNROLL for (int o = 0; o < outputs; o++) UNROLL for (int v = 0; v < vectors; v++) sum[o][v] = _mm512_setzero_ps();
    for (int64_t t = 0; t < taps; t++) {
        const float *const from = x + at[t] + i, *const weight = out->weight + t * outputs;
        __m512 lanes[8], w[MW__PACKED_OUTPUTS];
        UNROLL for (int o = 0; o < outputs; o++) w[o] = _mm512_set1_ps(weight[o]);
        UNROLL for (int v = 0; v < vectors; v++) lanes[v] = _mm512_loadu_ps(from + v * LANES);
        UNROLL for (int v = 0; v < vectors; v++) UNROLL for (int o = 0; o < outputs; o++) sum[o][v] =
            _mm512_fmadd_ps(w[o], lanes[v], sum[o][v]);
    }
    UNROLL for (int o = 0; o < outputs; o++) UNROLL for (int v = 0; v < vectors; v++) _mm512_storeu_ps(
        out->y + o * out->between + i + v * LANES, _mm512_add_ps(sum[o][v], _mm512_set1_ps(out->bias[o])));
}

MW__INLINE void taps_of(const int outputs, int64_t taps, const int32_t *at, const float *x, int64_t count,
                        const mw__packed_outputs *out)
{
    int64_t i = 0;
    for (; i + 4 * LANES < count; i += 8 * LANES)
        taps_body(outputs, 8, taps, at, x, out, i);
    if (i + LANES < count)
        taps_body(outputs, 4, taps, at, x, out, i);
    else if (i < count)
        taps_body(outputs, 1, taps, at, x, out, i);
}

static void taps(int64_t taps, const int32_t *at, const float *x, int64_t count, const mw__packed_outputs *out)
{
    if (out->count == 1)
        taps_of(1, taps, at, x, count, out);
    else if (out->count == 2)
        taps_of(2, taps, at, x, count, out);
    else
        taps_of(3, taps, at, x, count, out);
}

#define DOTS 9 /* taps at once, at most */

/* taps is a constant where this is inlined */
MW__INLINE void dots_body(const int taps, const int32_t *at, const float *x, const float *dy, int64_t count,
                          float *sums)
{
    __m512 sum[DOTS];
    const float *from[DOTS];
    UNROLL for (int t = 0; t < taps; t++) sum[t] = _mm512_loadu_ps(sums + t * LANES), from[t] = x + at[t];
    for (int64_t i = 0; i < count; i += LANES) {
        const __m512 d = _mm512_loadu_ps(dy + i);
        UNROLL for (int t = 0; t < taps; t++) sum[t] = _mm512_fmadd_ps(d, _mm512_loadu_ps(from[t] + i), sum[t]);
    }
    UNROLL for (int t = 0; t < taps; t++) _mm512_storeu_ps(sums + t * LANES, sum[t]);
}

static void dots(int64_t taps, const int32_t *at, const float *x, const float *dy, int64_t count, float *sums)
{
    int64_t t = 0;
    for (; t + 9 <= taps; t += 9)
        dots_body(9, at + t, x, dy, count, sums + t * LANES);
    for (; t + 3 <= taps; t += 3)
        dots_body(3, at + t, x, dy, count, sums + t * LANES);
    for (; t < taps; t++)
        dots_body(1, at + t, x, dy, count, sums + t * LANES);
}

/* ---- planes without a border ---- */

/* Floats, a page: each plane begins a new one, of which some processors fetch nothing by themselves. Measured on a Zen
 * 5, planes of 32 x 32 from memory: 4.2 ms without, 1.3 ms with it. */
#define AHEAD 1024

/* What a vector reads under a tap, perhaps from outside of x: masked lanes are not touched. */
static __m512 flat_lanes(const float *x, int64_t at, uint16_t mask)
{
    return _mm512_maskz_loadu_ps(mask, (const float *)((uintptr_t)x + (uintptr_t)(at * (int64_t)sizeof *x)));
}

/* `vectors`, a constant where this is inlined, from `first` on, of `all` */
MW__INLINE void flat_taps_body(const int vectors, const mw__packed_flat *flat, int64_t first, int64_t all,
                               const float *weight, const float *x, float bias, float *y)
{
    __m512 sum[8];
    const uint16_t *mask = flat->mask + first;
    UNROLL for (int v = 0; v < vectors; v++) sum[v] = _mm512_setzero_ps();
    for (int64_t t = 0; t < flat->taps; t++, mask += all) {
        const __m512 w = _mm512_set1_ps(weight[t]);
        const int64_t at = flat->at[t] + first * LANES;
        UNROLL for (int v = 0; v < vectors; v++) sum[v] =
            _mm512_fmadd_ps(w, flat_lanes(x, at + v * LANES, mask[v]), sum[v]);
    }
    const int64_t left = flat->count - first * LANES;
    UNROLL for (int v = 0; v < vectors; v++) mw__kernel_prefetch(x, ((first + v) * LANES + AHEAD) * (int64_t)sizeof *x);
    UNROLL for (int v = 0; v < vectors; v++) mw__kernel_prefetch(y, ((first + v) * LANES + AHEAD) * (int64_t)sizeof *y);
    UNROLL for (int v = 0; v < vectors; v++)
    {
        const int64_t here = left - v * LANES;
        const __mmask16 there = here < LANES ? (__mmask16)((1u << here) - 1) : 0xffff;
        _mm512_mask_storeu_ps(y + (first + v) * LANES, there, _mm512_add_ps(sum[v], _mm512_set1_ps(bias)));
    }
}

static void flat_taps(const mw__packed_flat *flat, const float *weight, const float *x, float bias, float *y)
{
    const int64_t all = (flat->count + LANES - 1) / LANES;
    int64_t v = 0;
    for (; v + 8 <= all; v += 8)
        flat_taps_body(8, flat, v, all, weight, x, bias, y);
    for (; v + 4 <= all; v += 4)
        flat_taps_body(4, flat, v, all, weight, x, bias, y);
    for (; v < all; v++)
        flat_taps_body(1, flat, v, all, weight, x, bias, y);
}

/* taps, from `first` on, is a constant where this is inlined */
MW__INLINE void flat_dots_body(const int taps, const mw__packed_flat *flat, int64_t first, const float *x,
                               const float *dy, const mw__packed_next *next, float *sums)
{
    const int64_t all = (flat->count + LANES - 1) / LANES;
    const uint16_t *mask = flat->mask + first * all;
    __m512 sum[DOTS];
    sums += first * LANES;
    UNROLL for (int t = 0; t < taps; t++) sum[t] = _mm512_loadu_ps(sums + t * LANES);
    for (int64_t v = 0; v < all; v++) {
        const int64_t left = flat->count - v * LANES;
        const __mmask16 there = left < LANES ? (__mmask16)((1u << left) - 1) : 0xffff;
        const __m512 d = _mm512_maskz_loadu_ps(there, dy + v * LANES);
        mw__kernel_prefetch(next->x, v * LANES * (int64_t)sizeof *x);
        mw__kernel_prefetch(next->dy, v * LANES * (int64_t)sizeof *dy);
        UNROLL for (int t = 0; t < taps; t++) sum[t] =
            _mm512_fmadd_ps(d, flat_lanes(x, flat->at[first + t] + v * LANES, mask[t * all + v]), sum[t]);
    }
    UNROLL for (int t = 0; t < taps; t++) _mm512_storeu_ps(sums + t * LANES, sum[t]);
}

static void flat_dots(const mw__packed_flat *flat, const float *x, const float *dy, const mw__packed_next *next,
                      float *sums)
{
    int64_t t = 0;
    for (; t + 9 <= flat->taps; t += 9)
        flat_dots_body(9, flat, t, x, dy, next, sums);
    for (; t + 3 <= flat->taps; t += 3)
        flat_dots_body(3, flat, t, x, dy, next, sums);
    for (; t < flat->taps; t++)
        flat_dots_body(1, flat, t, x, dy, next, sums);
}

/* ---- planes of one vector: what a tap reads is picked from a register ---- */

static __m512 picked(const mw__packed_flat *flat, int64_t t, __m512 x)
{
    const __m512i from = _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                          _mm512_set1_epi32(flat->at[t]));
    return _mm512_maskz_permutexvar_ps(flat->mask[t], from, x);
}

static __mmask16 first_of(int64_t count) { return (__mmask16)((1u << count) - 1); }

static void flat_few(const mw__packed_flat *flat, const mw__packed_plane *planes)
{
    const mw__packed_flat f = *flat;
    const __mmask16 inside = first_of(f.inside), there = first_of(f.count);
    __m512 x[MW__PACKED_FEW], sum[MW__PACKED_FEW];
    UNROLL for (int i = 0; i < MW__PACKED_FEW; i++)
    {
        x[i] = _mm512_maskz_loadu_ps(inside, planes[i].x), sum[i] = _mm512_setzero_ps();
        mw__kernel_prefetch(planes[i].x, AHEAD * (int64_t)sizeof(float));
        mw__kernel_prefetch(planes[i].y, AHEAD * (int64_t)sizeof(float));
    }
    for (int64_t t = 0; t < f.taps; t++)
        UNROLL for (int i = 0; i < MW__PACKED_FEW; i++) sum[i] =
            _mm512_fmadd_ps(_mm512_set1_ps(planes[i].weight[t]), picked(&f, t, x[i]), sum[i]);
    UNROLL for (int i = 0; i < MW__PACKED_FEW; i++)
        _mm512_mask_storeu_ps(planes[i].y, there, _mm512_add_ps(sum[i], _mm512_set1_ps(planes[i].bias)));
}

static void flat_few_dots(const mw__packed_flat *flat, const float *x, int64_t x_step, const float *dy, int64_t dy_step,
                          float *sums)
{
    const mw__packed_flat f = *flat;
    const __mmask16 inside = first_of(f.inside), there = first_of(f.count);
    __m512 of_x[MW__PACKED_FEW], d[MW__PACKED_FEW];
    UNROLL for (int i = 0; i < MW__PACKED_FEW; i++)
    {
        of_x[i] = _mm512_maskz_loadu_ps(inside, x + i * x_step), d[i] = _mm512_maskz_loadu_ps(there, dy + i * dy_step);
        mw__kernel_prefetch(x, (MW__PACKED_FEW + i) * x_step * (int64_t)sizeof *x);
        mw__kernel_prefetch(dy, (MW__PACKED_FEW + i) * dy_step * (int64_t)sizeof *dy);
    }
    for (int64_t t = 0; t < f.taps; t++) {
        __m512 sum = _mm512_loadu_ps(sums + t * LANES);
        UNROLL for (int i = 0; i < MW__PACKED_FEW; i++) sum = _mm512_fmadd_ps(d[i], picked(&f, t, of_x[i]), sum);
        _mm512_storeu_ps(sums + t * LANES, sum);
    }
}

/* The dots of gemm_avx512.c add a last, masked vector even where it is empty, which makes 0 of -0. */
static void totals(int64_t count, int64_t rest, const float *sums, float *out)
{
    for (int64_t i = 0; i < count; i++) {
        const __m512 sum = _mm512_loadu_ps(sums + i * LANES);
        out[i] = _mm512_reduce_add_ps(rest == 0 ? _mm512_add_ps(sum, _mm512_setzero_ps()) : sum);
    }
}

const mw__packed_code mw__packed_avx512 = {.rows = ROWS,
                                           .width = LANES,
                                           .vectors = VECTORS,
                                           .gather = gather_panel,
                                           .products = products,
                                           .store = store_sums,
                                           .sums = all_sums,
                                           .transpose = transpose,
                                           .column = column,
                                           .lines = lines,
                                           .weave = weave,
                                           .taps = taps,
                                           .dots = dots,
                                           .flat_taps = flat_taps,
                                           .flat_dots = flat_dots,
                                           .totals = totals,
                                           .flat_few = flat_few,
                                           .flat_few_dots = flat_few_dots};
