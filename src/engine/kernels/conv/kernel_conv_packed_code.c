/* The inner loops of the packed convolution for all but AVX-512: tiles of up to 6 output channels by 16 positions. */
#include "engine/kernels/conv/kernel_conv_packed.h"

#include <string.h>

#define ROWS       6
#define VECTORS    2
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define UNROLL     _Pragma("GCC unroll 16")

#define WIDTH 8

typedef float vector __attribute__((vector_size(WIDTH * sizeof(float)), aligned(4), may_alias));

/* ---- panels of x ---- */

/* The line after a run is that of the next panel, which begins a new page for each plane: few processors fetch it by
 * themselves. */
MW__INLINE void gather_row(const mw__packed_run *run, const mw__packed_run *end, const float *x, int64_t step,
                           float *out)
{
    if (run < end && step == 1 && run->count == WIDTH) {
        mw__kernel_prefetch(x + run->lane_0, VECTORS * WIDTH * (int64_t)sizeof *x);
        *(vector *)out = *(const vector *)(x + run->lane_0);
        return;
    }
    memset(out, 0, WIDTH * sizeof *out);
    for (; run < end; run++)
        for (int64_t i = run->first; i < run->first + run->count; i++)
            out[i] = x[run->lane_0 + i * step];
}

MW__INLINE void gather_body(const mw__packed_source *s, const float *x, int64_t area, int64_t tap, int64_t count,
                            float *panel)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t *begin = s->begin + tap * VECTORS;
        for (int v = 0; v < VECTORS; v++, panel += WIDTH)
            gather_row(s->runs + begin[v], s->runs + begin[v + 1], x, s->step, panel);
        if (++tap == s->taps)
            tap = 0, x += area;
    }
}

/* ---- results ---- */

MW__INLINE void store_body(float *y, int64_t spread, const float *c, int64_t count, float bias)
{
    int64_t i = 0;
    for (; spread == 1 && i + WIDTH <= count; i += WIDTH) {
        *(vector *)(y + i) = *(const vector *)(c + i) + bias;
        mw__kernel_prefetch(y + i, VECTORS * WIDTH * (int64_t)sizeof *y);
    }
    for (; i < count; i++)
        y[i * spread] = c[i] + bias;
}

/* ---- transposing ---- */

static void transpose(const float *x, int64_t stride, int64_t rows, int64_t count, int64_t fill, float *out,
                      int64_t pitch)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t r = 0; r < fill; r++)
            out[i * pitch + r] = r < rows ? x[r * stride + i] : 0.0f;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* 8 rows of 8 elements each; those from `rows` on are 0. */
__attribute__((target("avx2"))) static void load_block(const float *x, int64_t stride, int64_t rows, __m256 r[WIDTH])
{
    UNROLL for (int k = 0; k < WIDTH; k++) r[k] = k < rows ? _mm256_loadu_ps(x + k * stride) : _mm256_setzero_ps();
}

/* Row k becomes column k. */
__attribute__((target("avx2"))) static void turn_block(__m256 r[WIDTH])
{
    __m256 t[WIDTH], u[WIDTH];
    UNROLL for (int k = 0; k < WIDTH; k += 2)
    {
        t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
        t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
    }
    UNROLL for (int k = 0; k < WIDTH; k += 4) UNROLL for (int h = 0; h < 2; h++)
    {
        u[k + 2 * h] = _mm256_shuffle_ps(t[k + h], t[k + 2 + h], 0x44);
        u[k + 2 * h + 1] = _mm256_shuffle_ps(t[k + h], t[k + 2 + h], 0xee);
    }
    UNROLL for (int k = 0; k < 4; k++)
    {
        r[k] = _mm256_permute2f128_ps(u[k], u[k + 4], 0x20);
        r[k + 4] = _mm256_permute2f128_ps(u[k], u[k + 4], 0x31);
    }
}

#define LINE 16 /* floats of a cache line */

/* In blocks as long as a whole vector may be stored: where `fill` is less, its end is written again by the position
 * that follows. */
__attribute__((target("avx2"))) static void transpose_avx2(const float *x, int64_t stride, int64_t rows, int64_t count,
                                                           int64_t fill, float *out, int64_t pitch)
{
    int64_t i = 0;
    const bool stores = fill == WIDTH || pitch == fill;
    for (const int64_t end = stores ? count - (fill < WIDTH) : 0; i + WIDTH <= end; i += WIDTH) {
        __m256 r[WIDTH];
        load_block(x + i, stride, rows, r);
        for (int64_t k = 0; i % LINE == 0 && k < rows; k++) /* what the next rows are, if there are any */
            mw__kernel_prefetch(x, ((rows + k) * stride + i) * (int64_t)sizeof *x);
        turn_block(r);
        UNROLL for (int k = 0; k < WIDTH; k++) _mm256_storeu_ps(out + (i + k) * pitch, r[k]);
    }
    transpose(x + i, stride, rows, count - i, fill, out + i * pitch, pitch);
}
#endif

static void column(const float *x, int64_t stride, int64_t rows, int64_t fill, float *out)
{
    for (int64_t r = 0; r < fill; r++)
        out[r] = r < rows ? x[r * stride] : 0.0f;
}

/* count elements of x that are `step` apart; nothing beyond the last one is read */
MW__INLINE void take(const int64_t step, const float *x, int64_t count, float *out)
{
    int64_t i = 0;
    for (; step == 1 && i + WIDTH <= count; i += WIDTH)
        *(vector *)(out + i) = *(const vector *)(x + i);
    for (; step == 2 && i + WIDTH < count; i += WIDTH) {
        const vector low = *(const vector *)(x + 2 * i), high = *(const vector *)(x + 2 * i + WIDTH);
        *(vector *)(out + i) = EVEN(low, high);
    }
    for (; i < count; i++)
        out[i] = x[i * step];
}

MW__INLINE void lines_body(const float *x, int64_t stride, int64_t lines, int64_t step, int64_t begin, int64_t end,
                           int64_t count, float *out)
{
    for (int64_t k = 0; k < lines; k++, out += count) {
        const float *from =
            (const float *)((uintptr_t)x + (uintptr_t)((k * stride + begin * step) * (int64_t)sizeof *x));
        for (int64_t i = 0; i < begin; i++)
            out[i] = 0.0f;
        if (step == 1)
            take(1, from, end - begin, out + begin);
        else if (step == 2)
            take(2, from, end - begin, out + begin);
        else
            take(step, from, end - begin, out + begin);
        for (int64_t i = end; i < count; i++)
            out[i] = 0.0f;
    }
}

static void lines_base(const float *x, int64_t stride, int64_t lines, int64_t step, int64_t begin, int64_t end,
                       int64_t count, float *out)
{
    lines_body(x, stride, lines, step, begin, end, count, out);
}

#if defined(__x86_64__)
#define LINE_LONG 32 /* floats, beyond which lines are copied one by one */

/* Lanes [low, high) of a vector. */
__attribute__((target("avx2"))) static __m256i lanes_between(int64_t low, int64_t high)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const int32_t first = (int32_t)(low < 0 ? 0 : low < WIDTH ? low : WIDTH);
    const int32_t end = (int32_t)(high < 0 ? 0 : high < WIDTH ? high : WIDTH);
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(first), lane),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32(end), lane));
}

/* Up to a vector; a store under a mask takes long on some processors. */
__attribute__((target("avx2"))) static inline void store_some(__m256 lanes, int64_t count, float *out)
{
    if (count >= WIDTH) {
        _mm256_storeu_ps(out, lanes);
        return;
    }
    __m128 four = _mm256_castps256_ps128(lanes);
    if (count & 4) {
        _mm_storeu_ps(out, four);
        out += 4, four = _mm256_extractf128_ps(lanes, 1);
    }
    if (count & 2) {
        _mm_storel_pi((__m64 *)(void *)out, four);
        out += 2, four = _mm_movehl_ps(four, four);
    }
    if (count & 1)
        _mm_store_ss(out, four);
}

/* Vectors of each line at once, of which masked lanes are not read. step: 1 or 2, a constant where this is inlined. */
__attribute__((target("avx2"))) MW__INLINE void lines_part(const int64_t step, const float *x, int64_t stride,
                                                           int64_t lines, int64_t begin, int64_t end, int64_t count,
                                                           int64_t pitch, float *out)
{
    const bool some = end > begin;
    const __m256i low = some ? lanes_between(step * begin, step * (end - 1) + 1) : _mm256_setzero_si256();
    const __m256i high =
        some ? lanes_between(step * begin - WIDTH, step * (end - 1) + 1 - WIDTH) : _mm256_setzero_si256();
    const __m256 keep = _mm256_castsi256_ps(lanes_between(begin, end));
    for (int64_t k = 0; k < lines; k++, out += pitch) {
        const float *const from = (const float *)((uintptr_t)x + (uintptr_t)(k * stride * (int64_t)sizeof *x));
        __m256 lanes = _mm256_maskload_ps(from, low);
        if (step == 2) {
            const __m256 behind =
                _mm256_maskload_ps((const float *)((uintptr_t)from + (uintptr_t)(WIDTH * (int64_t)sizeof *x)), high);
            lanes = _mm256_castpd_ps(_mm256_permute4x64_pd(
                _mm256_castps_pd(_mm256_shuffle_ps(lanes, behind, _MM_SHUFFLE(2, 0, 2, 0))), _MM_SHUFFLE(3, 1, 2, 0)));
            lanes = _mm256_and_ps(lanes, keep);
        }
        store_some(lanes, count, out);
    }
}

__attribute__((target("avx2"))) static void lines_avx2(const float *x, int64_t stride, int64_t lines, int64_t step,
                                                       int64_t begin, int64_t end, int64_t count, float *out)
{
    if (count > LINE_LONG || step > 2) {
        lines_body(x, stride, lines, step, begin, end, count, out);
        return;
    }
    for (int64_t i = 0; i < count; i += WIDTH) {
        const float *const from = (const float *)((uintptr_t)x + (uintptr_t)(i * step * (int64_t)sizeof *x));
        const int64_t first = begin > i ? begin - i : 0, last = end - i < WIDTH ? end - i : WIDTH;
        if (step == 1)
            lines_part(1, from, stride, lines, first, last, count - i, count, out + i);
        else
            lines_part(2, from, stride, lines, first, last, count - i, count, out + i);
    }
}
#endif

#define LOW(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

MW__INLINE void weave_body(const float *even, const float *odd, int64_t pitch, int64_t lines, int64_t count, float *y,
                           int64_t stride)
{
    for (int64_t k = 0; k < lines; k++, even += pitch, odd += pitch, y += stride) {
        int64_t i = 0;
        for (; i + 2 * WIDTH <= count; i += 2 * WIDTH) {
            const vector a = *(const vector *)(even + i / 2), b = *(const vector *)(odd + i / 2);
            *(vector *)(y + i) = LOW(a, b);
            *(vector *)(y + i + WIDTH) = HIGH(a, b);
        }
        for (; i + 1 < count; i += 2)
            y[i] = even[i / 2], y[i + 1] = odd[i / 2];
        if (i < count)
            y[i] = even[i / 2];
    }
}

/* ---- the tiles ---- */

/* Fused multiply-add where the instruction set has it: `fma` as the direct kernels take it. */

#define PRODUCT_BODY(rows, fma)                                                                                        \
    {                                                                                                                  \
        vector sum[rows][VECTORS];                                                                                     \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] =                   \
            add ? *(const vector *)(c + (r * VECTORS + v) * WIDTH) : (vector){0};                                      \
        for (int64_t i = 0; i < depth; i++, a += (rows), panel += VECTORS * WIDTH) {                                   \
            vector x[VECTORS];                                                                                         \
            UNROLL for (int v = 0; v < VECTORS; v++) x[v] = *(const vector *)(panel + v * WIDTH);                      \
            UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] =               \
                fma(a[r], x[v], sum[r][v]);                                                                            \
        }                                                                                                              \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < VECTORS; v++) *                             \
            (vector *)(c + (r * VECTORS + v) * WIDTH) = sum[r][v];                                                     \
    }

/* Both vectors before the rows: a row is spread over a register once, and no register is wanting. */
#define SUMS_BODY(rows, vectors, fma)                                                                                  \
    {                                                                                                                  \
        vector sum[rows][vectors];                                                                                     \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++) sum[r][v] =                 \
            add ? *(const vector *)(c + (r * VECTORS + v) * WIDTH) : (vector){0};                                      \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const float *from = x + (int64_t)at[i].x * VECTORS * WIDTH, *row = a + (int64_t)at[i].a * (rows);          \
            vector lanes[vectors];                                                                                     \
            UNROLL for (int v = 0; v < (vectors); v++) lanes[v] = *(const vector *)(from + v * WIDTH);                 \
            UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++) sum[r][v] =             \
                fma(row[r], lanes[v], sum[r][v]);                                                                      \
        }                                                                                                              \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++) *                           \
            (vector *)(c + (r * VECTORS + v) * WIDTH) = sum[r][v];                                                     \
    }

/* `outputs` and `many` are constants: vectors of each, as many as there are registers for. */
#define TAPS_LOOP(outputs, many, fma)                                                                                  \
    for (int64_t i = 0; i < count; i += (many)*WIDTH) {                                                                \
        vector sum[outputs][many];                                                                                     \
        UNROLL for (int o = 0; o < (outputs); o++) UNROLL for (int v = 0; v < (many); v++) sum[o][v] = (vector){0};    \
        for (int64_t t = 0; t < taps; t++) {                                                                           \
            const float *const from = x + at[t] + i, *const weight = out->weight + t * (outputs);                      \
            vector lanes[many];                                                                                        \
            UNROLL for (int v = 0; v < (many); v++) lanes[v] = *(const vector *)(from + v * WIDTH);                    \
            UNROLL for (int o = 0; o < (outputs); o++) UNROLL for (int v = 0; v < (many); v++) sum[o][v] =             \
                fma(weight[o], lanes[v], sum[o][v]);                                                                   \
        }                                                                                                              \
        UNROLL for (int o = 0; o < (outputs); o++) UNROLL for (int v = 0; v < (many); v++) *                           \
            (vector *)(out->y + o * out->between + i + v * WIDTH) = sum[o][v] + out->bias[o];                          \
    }
#define TAPS_BODY(two, three, fma)                                                                                     \
    {                                                                                                                  \
        if (out->count == 1)                                                                                           \
            TAPS_LOOP(1, 4, fma)                                                                                       \
        else if (out->count == 2)                                                                                      \
            TAPS_LOOP(2, two, fma)                                                                                     \
        else                                                                                                           \
            TAPS_LOOP(3, three, fma)                                                                                   \
    }

/* Of three taps at once, the last one again where there are fewer. */
#define DOTS_BODY(fma)                                                                                                 \
    {                                                                                                                  \
        for (int64_t t = 0; t < taps; t += 3) {                                                                        \
            const int64_t second = t + 1 < taps ? t + 1 : t, third = t + 2 < taps ? t + 2 : t;                         \
            const float *const from[3] = {x + at[t], x + at[second], x + at[third]};                                   \
            vector sum[3] = {{0}, {0}, {0}};                                                                           \
            for (int64_t i = 0; i < count; i += WIDTH)                                                                 \
                UNROLL for (int k = 0; k < 3; k++) sum[k] +=                                                           \
                    *(const vector *)(dy + i) * *(const vector *)(from[k] + i);                                        \
            *(vector *)(sums + t * WIDTH) += sum[0];                                                                   \
            if (second > t)                                                                                            \
                *(vector *)(sums + second * WIDTH) += sum[1];                                                          \
            if (third > t)                                                                                             \
                *(vector *)(sums + third * WIDTH) += sum[2];                                                           \
        }                                                                                                              \
    }

#define TILES(target, name, fma, rows)                                                                                 \
    target static void name##_##rows(int64_t depth, const float *a, const float *panel, float *c, bool add)            \
        PRODUCT_BODY(rows, fma) target static void name##_##rows##_1(int64_t count, const float *a, const float *x,    \
                                                                     const mw__packed_place *at, float *c, bool add)   \
            SUMS_BODY(rows, 1, fma) target static void name##_##rows##_2(                                              \
                int64_t count, const float *a, const float *x, const mw__packed_place *at, float *c, bool add)         \
                SUMS_BODY(rows, 2, fma)

#define LISTED(name, rows)                                                                                             \
    {                                                                                                                  \
        name##_##rows##_1, name##_##rows##_2                                                                           \
    }
#define CODE(target, name, fma, turn, copy, two, three, taps_where, dots_where)                                        \
    TILES(target, name, fma, 1)                                                                                        \
    TILES(target, name, fma, 2)                                                                                        \
    TILES(target, name, fma, 3)                                                                                        \
    TILES(target, name, fma, 4)                                                                                        \
    TILES(target, name, fma, 5)                                                                                        \
    TILES(target, name, fma, 6)                                                                                        \
    target static void name##_gather(const mw__packed_source *s, const float *x, int64_t area, int64_t tap,            \
                                     int64_t count, float *panel)                                                      \
    {                                                                                                                  \
        gather_body(s, x, area, tap, count, panel);                                                                    \
    }                                                                                                                  \
    target static void name##_store(float *y, int64_t spread, const float *c, int64_t count, float bias)               \
    {                                                                                                                  \
        store_body(y, spread, c, count, bias);                                                                         \
    }                                                                                                                  \
    target static void name##_weave(const float *even, const float *odd, int64_t pitch, int64_t lines, int64_t count,  \
                                    float *y, int64_t stride)                                                          \
    {                                                                                                                  \
        weave_body(even, odd, pitch, lines, count, y, stride);                                                         \
    }                                                                                                                  \
    target static void name##_taps(int64_t taps, const int32_t *at, const float *x, int64_t count,                     \
                                   const mw__packed_outputs *out) TAPS_BODY(two, three, fma)                           \
        target static void name##_dots(int64_t taps, const int32_t *at, const float *x, const float *dy,               \
                                       int64_t count, float *sums)                                                     \
            DOTS_BODY(fma) static mw__packed_product *const name[ROWS] = {name##_1, name##_2, name##_3,                \
                                                                          name##_4, name##_5, name##_6};               \
    static mw__packed_sums *const name##_sums[ROWS][VECTORS] = {LISTED(name, 1), LISTED(name, 2), LISTED(name, 3),     \
                                                                LISTED(name, 4), LISTED(name, 5), LISTED(name, 6)};    \
    static const mw__packed_code name##_code = {.rows = ROWS,                                                          \
                                                .width = WIDTH,                                                        \
                                                .vectors = VECTORS,                                                    \
                                                .gather = name##_gather,                                               \
                                                .products = name,                                                      \
                                                .store = name##_store,                                                 \
                                                .sums = name##_sums,                                                   \
                                                .transpose = turn,                                                     \
                                                .column = column,                                                      \
                                                .lines = copy,                                                         \
                                                .weave = name##_weave,                                                 \
                                                .taps = name##_taps,                                                   \
                                                .dots = name##_dots,                                                   \
                                                .flat_taps = taps_where,                                               \
                                                .flat_dots = dots_where};

#if defined(__x86_64__)
#define AVX2_FMA(w, x, sum) (vector) _mm256_fmadd_ps(_mm256_set1_ps(w), (__m256)(x), (__m256)(sum))
CODE(__attribute__((target("avx2,fma"))), avx2, AVX2_FMA, transpose_avx2, lines_avx2, 4, 3, mw__packed_flat_taps_avx2,
     mw__packed_flat_dots_avx2)
#define BASE_FMA(w, x, sum) ((sum) + (w) * (x))
#elif defined(__aarch64__)
#include <arm_neon.h>
/* Halves: NEON's vectors are of four. */
static inline vector base_fma(float w, vector x, vector sum)
{
    float32x4_t in[2], out[2];
    memcpy(in, &x, sizeof in);
    memcpy(out, &sum, sizeof out);
    out[0] = vfmaq_n_f32(out[0], in[0], w);
    out[1] = vfmaq_n_f32(out[1], in[1], w);
    memcpy(&sum, out, sizeof sum);
    return sum;
}
#define BASE_FMA base_fma
#else
#define BASE_FMA(w, x, sum) ((sum) + (w) * (x))
#endif
CODE(, base, BASE_FMA, transpose, lines_base, 2, 2, NULL, NULL)

const mw__packed_code *mw__packed_code_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level >= MW__LEVEL_AVX512)
        return &mw__packed_avx512;
#endif
#if defined(__x86_64__)
    if (level >= MW__LEVEL_AVX2)
        return &avx2_code;
#endif
    (void)level;
    return &base_code;
}
