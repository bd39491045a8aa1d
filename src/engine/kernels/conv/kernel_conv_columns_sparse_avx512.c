/* The weights' gradient of kernel_conv_columns_avx512.h where most of dy is zero, as a pooling leaves it: of one output
 * channel after the other the elements that are not zero are listed, and lanes are channels of the image, which lie
 * side by side in a frame. Each sum keeps its order. That no bit changes needs numbers of fp16: no product of them, and
 * no sum, is so small that fp32 makes it -0, so that a zero changes none; and a finite image, as 0 * inf is not 0. */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/kernel_conv_columns_avx512.h"

#define LIST (MW__COLUMNS_BLOCK + LANES)

static int64_t lanes_of(const mw__columns_avx512 *c) { return (c->channels + LANES - 1) / LANES * LANES; }

size_t mw__columns_sparse_scratch(const mw__columns_avx512 *c)
{
    return (size_t)((c->area + c->depth / c->channels) * lanes_of(c)) * sizeof(float) +
           2 * LIST * (sizeof(float) + sizeof(int32_t));
}

#define TAPS 9 /* of a tile: so many pointers stay in registers */

static int64_t count_nonzero(const float *x, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i += LANES) {
        const __m512 v = _mm512_maskz_loadu_ps(mw__first_lanes(count - i), x + i);
        found += __builtin_popcount(_mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NEQ_UQ));
    }
    return found;
}

bool mw__columns_is_finite(const float *x, int64_t count)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000);
    __mmask16 found = 0;
    for (int64_t i = 0; i < count; i += LANES) {
        const __m512i v = _mm512_maskz_loadu_epi32(mw__first_lanes(count - i), x + i);
        found |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(v, exponent), exponent);
    }
    return found == 0;
}

typedef struct sparse_list {
    float d[LIST];
    int32_t at[LIST]; /* in the frame, of the first element of the kernel */
} sparse_list;

/* Of the positions [begin, end) those where dy is not zero. */
static int64_t list_nonzero(const mw__columns_avx512 *c, const float *dy, int64_t begin, int64_t end, sparse_list *list)
{
    int64_t count = 0;
    for (int64_t p = begin; p < end; p += LANES) {
        const __mmask16 there = mw__first_lanes(end - p);
        const __m512 d = _mm512_maskz_loadu_ps(there, dy + p);
        const __m512i at = _mm512_maskz_loadu_epi32(there, c->where + p);
        const __mmask16 taken = _mm512_cmp_ps_mask(d, _mm512_setzero_ps(), _CMP_NEQ_UQ);
        _mm512_storeu_ps(list->d + count, _mm512_maskz_compress_ps(taken, d));
        _mm512_storeu_si512(list->at + count, _mm512_maskz_compress_epi32(taken, at));
        count += __builtin_popcount(taken);
    }
    return count;
}

typedef struct sparse_tile {
    const float *d;
    const int32_t *at;
    int64_t count;
    const float *frame; /* at its vector */
    const int32_t *tap;
    int64_t lanes; /* floats between positions of the frame and between sums */
    float *sum;
    bool add;
} sparse_tile;

typedef void sparse_function(const sparse_tile *t);

/* taps is a constant where this is inlined */
MW__INLINE void sparse_body(const int taps, const sparse_tile *t)
{
    const float *x[TAPS];
    __m512 sum[TAPS];
    UNROLL for (int i = 0; i < taps; i++)
    {
        x[i] = t->frame + t->tap[i] * t->lanes;
        sum[i] = _mm512_setzero_ps();
    }
    for (int64_t e = 0; e < t->count; e++) {
        const __m512 d = _mm512_set1_ps(t->d[e]);
        const int64_t at = t->at[e];
        UNROLL for (int i = 0; i < taps; i++) sum[i] = _mm512_fmadd_ps(d, _mm512_loadu_ps(x[i] + at), sum[i]);
    }
    UNROLL for (int i = 0; i < taps; i++)
    {
        float *to = t->sum + i * t->lanes;
        if (t->add)
            sum[i] = _mm512_add_ps(sum[i], _mm512_loadu_ps(to));
        _mm512_storeu_ps(to, sum[i]);
    }
}

#define SPARSE(taps)                                                                                                   \
    static void sparse_##taps(const sparse_tile *t) { sparse_body(taps, t); }
SPARSE(1)
SPARSE(2)
SPARSE(3)
SPARSE(4)
SPARSE(5)
SPARSE(6)
SPARSE(7)
SPARSE(8)
SPARSE(9)

static sparse_function *const tiles[TAPS] = {sparse_1, sparse_2, sparse_3, sparse_4, sparse_5,
                                             sparse_6, sparse_7, sparse_8, sparse_9};

void mw__columns_sum_listed(const mw__columns_avx512 *c, const mw__columns_listed *l)
{
    const int64_t taps = c->depth / c->channels, parts = (taps + TAPS - 1) / TAPS, lanes = lanes_of(c);
    sparse_tile t = {.d = l->d, .at = l->at, .count = l->count, .lanes = lanes, .add = l->add};
    for (int64_t v = 0; v < lanes; v += LANES)
        for (int64_t part = 0; part < parts; part++) { /* of nearly equal size */
            const int64_t first = taps * part / parts, count = taps * (part + 1) / parts - first;
            t.frame = l->frame + v, t.tap = c->tap + first, t.sum = l->sums + first * lanes + v;
            tiles[count - 1](&t);
        }
}

void mw__columns_put_sums(const mw__columns_avx512 *c, const float *sums, float *dw)
{
    const int64_t taps = c->depth / c->channels, lanes = lanes_of(c);
    for (int64_t v = 0; v < c->channels; v += LANES)
        for (int64_t i = 0; i < taps; i += LANES)
            mw__columns_avx512_transpose(sums + i * lanes + v, mw__i64_min(LANES, taps - i), lanes,
                                         mw__i64_min(LANES, c->channels - v), dw + v * taps + i, taps);
}

/* A list is made while the one before it is on its way to memory: what has just been stored is slow to read. */
static void sum_channels(const mw__columns_avx512 *c, const float *dy, float *dw, mw__columns_listed sums,
                         sparse_list lists[2])
{
    const int64_t positions = c->rows * c->width;
    const int64_t blocks = (positions + MW__COLUMNS_BLOCK - 1) / MW__COLUMNS_BLOCK, parts = c->outputs * blocks;
    int64_t listed = 0;
    for (int64_t part = 0; part <= parts; part++) {
        const int64_t before = listed, begin = part % blocks * MW__COLUMNS_BLOCK;
        if (part < parts)
            listed = list_nonzero(c, dy + part / blocks * positions, begin,
                                  mw__i64_min(begin + MW__COLUMNS_BLOCK, positions), &lists[part % 2]);
        if (part == 0)
            continue;
        sums.d = lists[(part - 1) % 2].d, sums.at = lists[(part - 1) % 2].at;
        sums.count = before, sums.add = (part - 1) % blocks > 0;
        mw__columns_sum_listed(c, &sums);
        if (part % blocks == 0)
            mw__columns_put_sums(c, sums.sums, dw + (part / blocks - 1) * c->depth);
    }
}

#define NONZERO_MOST 3 /* one in so many, for listing to pay */

bool mw__columns_sparse_dweight(const mw__columns_avx512 *c, const float *dy, const float *image, float *dw,
                                float *scratch)
{
    const int64_t elements = c->outputs * c->rows * c->width, lanes = lanes_of(c);
    if (count_nonzero(dy, elements) > elements / NONZERO_MOST || !mw__columns_is_finite(image, c->channels * c->area))
        return false;
    for (int64_t v = 0; v < c->channels; v += LANES)
        mw__columns_avx512_transpose(image + v * c->area, mw__i64_min(LANES, c->channels - v), c->area, c->area,
                                     scratch + v, lanes);
    float *const sums = scratch + c->area * lanes;
    sparse_list *const lists = (sparse_list *)(void *)(sums + c->depth / c->channels * lanes);
    sum_channels(c, dy, dw, (mw__columns_listed){.frame = scratch, .sums = sums}, lists);
    return true;
}
