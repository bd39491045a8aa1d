/* Tiles of products of codes with AVX-512, with VNNI and without. */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/int8/int8_tiles.h"

enum { DOT_ROWS = 8, DOT_LANES = 48, WIDE_ROWS = 8, WIDE_LANES = 32 };

#define VECTOR         __m512i
#define VECTORS        3
#define ROWS           DOT_ROWS
#define SUFFIX         wide_dots
#define TARGET         __attribute__((target("avx512vnni")))
#define LOAD(p)        _mm512_loadu_si512(p)
#define STORE(p, x)    _mm512_storeu_si512(p, x)
#define SPREAD(number) _mm512_set1_epi32(number)
#define WIDE           0
#define DOT(sum, u, s) _mm512_dpbusd_epi32(sum, u, s)
#include "engine/kernels/int8/int8_tile.def"

#define VECTOR            __m512i
#define VECTORS           2
#define ROWS              WIDE_ROWS
#define SUFFIX            wide
#define TARGET            __attribute__((target("avx512bw")))
#define LOAD(p)           _mm512_loadu_si512(p)
#define STORE(p, x)       _mm512_storeu_si512(p, x)
#define SPREAD(number)    _mm512_set1_epi32(number)
#define WIDE              1
#define EVEN(u)           _mm512_and_si512(u, _mm512_set1_epi16(255))
#define ODD(u)            _mm512_srli_epi16(u, 8)
#define MADD(sum, x16, y) _mm512_add_epi32(sum, _mm512_madd_epi16(x16, y))
#include "engine/kernels/int8/int8_tile.def"

const mw__int8_code mw__int8_avx512_dots = {
    "avx512.vnni", DOT_ROWS, DOT_LANES, 3, false, {tile_1_wide_dots, tile_2_wide_dots, tile_3_wide_dots},
    one_wide_dots};
const mw__int8_code mw__int8_avx512 = {"avx512", WIDE_ROWS, WIDE_LANES, 2, true, {tile_1_wide, tile_2_wide}, one_wide};

/* ---- results ---- */

/* As int8_finish.c has it: these round by themselves. */
static __m128i codes_of(const mw__int8_finish *finish, __m512 real)
{
    real = _mm512_min_ps(_mm512_max_ps(real, _mm512_set1_ps(finish->low)), _mm512_set1_ps(finish->high));
    return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(real), _mm512_set1_epi32(finish->zero)));
}

static void store_results(const mw__int8_finish *finish, __m512 real, __mmask16 mask, void *out, int64_t at)
{
    if (finish->dtype == MW_F32)
        _mm512_mask_storeu_ps((float *)out + at, mask, real);
    else
        _mm_mask_storeu_epi8((uint8_t *)out + at, mask, codes_of(finish, real));
}

/* One row of at most three vectors, whose masks are made once for all rows. */
static void finish_row(const mw__int8_finish *finish, const int32_t *sums, const __mmask16 masks[3], __m512 scale,
                       __m512 shift, void *out)
{
    UNROLL for (int v = 0; v < 3; v++)
    {
        if (masks[v] == 0)
            return;
        const __m512i sum = _mm512_maskz_loadu_epi32(masks[v], sums + v * LANES);
        store_results(finish, _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale), shift), masks[v], out,
                      v * LANES);
    }
}

void mw__int8_rows_avx512(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, void *out)
{
    const __mmask16 masks[3] = {mw__first_lanes(r->count), mw__first_lanes(mw__i64_max(r->count - LANES, 0)),
                                mw__first_lanes(mw__i64_max(r->count - 2 * LANES, 0))};
    for (int64_t i = 0; i < r->rows; i++)
        finish_row(finish, sums + i * r->step, masks, _mm512_set1_ps(r->scale[i]), _mm512_set1_ps(r->shift[i]),
                   (char *)out + (size_t)i * r->out_step);
}

/* Codes of a row before the zero point and the bounds, as far as 16 bits: what is beyond them is beyond a code, too. */
MW__INLINE __m512i steps_of(const mw__int8_finish *finish, __m512i sums, __m512 scale, __m512 shift, const bool plain)
{
    __m512 real = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale);
    if (plain)
        return _mm512_cvtps_epi32(real);
    real = _mm512_max_ps(_mm512_add_ps(real, shift), _mm512_set1_ps(finish->low));
    return _mm512_cvtps_epi32(_mm512_min_ps(real, _mm512_set1_ps(finish->high)));
}

/* What the codes of quads are made with: copies, as compilers read again what may lie where they write. */
typedef struct quad_bounds {
    __m512i zero, low, high, order;
} quad_bounds;

MW__INLINE quad_bounds bounds_of(const mw__int8_finish *finish)
{
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return (quad_bounds){.zero = _mm512_set1_epi16((int16_t)finish->zero),
                         .low = _mm512_set1_epi8((char)((int)finish->low + finish->zero)),
                         .high = _mm512_set1_epi8((char)((int)finish->high + finish->zero)),
                         .order = _mm512_broadcast_i32x4(order)};
}

/* Bytes of four rows of 16 lanes, of which each group of 16 bytes has four. */
MW__INLINE __m512i weave_rows(const quad_bounds *b, const __m512i row[4])
{
    const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(row[0], row[1]), b->zero);
    const __m512i second = _mm512_adds_epi16(_mm512_packs_epi32(row[2], row[3]), b->zero);
    const __m512i codes = _mm512_packus_epi16(first, second);
    return _mm512_shuffle_epi8(_mm512_max_epu8(_mm512_min_epu8(codes, b->high), b->low), b->order);
}

/* plain: there are no shifts, and what is beyond int32 needs no care. */
MW__INLINE void finish_quad(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, int64_t at,
                            uint32_t *out, const bool plain)
{
    const mw__int8_finish f = *finish;
    const quad_bounds bounds = bounds_of(&f);
    const int64_t count = r->count, step = r->step;
    const int32_t *of = sums + at * step;
    __m512 scale[4], shift[4];
    UNROLL for (int j = 0; j < 4; j++) scale[j] = _mm512_set1_ps(r->scale[at + j]),
                                       shift[j] = _mm512_set1_ps(r->shift[at + j]);
    for (int64_t i = 0; i < count; i += LANES) {
        const __mmask16 mask = mw__first_lanes(count - i);
        __m512i row[4];
        UNROLL for (int j = 0; j < 4; j++) row[j] =
            steps_of(&f, _mm512_maskz_loadu_epi32(mask, of + j * step + i), scale[j], shift[j], plain);
        _mm512_mask_storeu_epi32(out + i, mask, weave_rows(&bounds, row));
    }
}

void mw__int8_quads_avx512(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, void *out)
{
    for (int64_t at = 0; at < r->rows; at += 4) {
        uint32_t *const to = (uint32_t *)(void *)((char *)out + (size_t)(at / 4) * r->out_step);
        if (finish->fits && !finish->shifts)
            finish_quad(finish, sums, r, at, to, true);
        else
            finish_quad(finish, sums, r, at, to, false);
    }
}

/* ---- sums with others ---- */

/* What is added in the registers, by rows of 16 lanes. */
typedef struct joined_numbers {
    __m512 least, scale, other_scale, by; /* by: what the sum is multiplied by, or divided by */
    __m512i other_least;
    bool divides;
} joined_numbers;

static joined_numbers numbers_of(const mw__int8_joined *j)
{
    const mw__int8_sum *sum = j->sum;
    return (joined_numbers){.least = _mm512_set1_ps(j->least),
                            .scale = _mm512_set1_ps(sum->scale[j->own]),
                            .other_scale = _mm512_set1_ps(sum->scale[1 - j->own]),
                            .by = _mm512_set1_ps(sum->divides ? sum->y_scale : 1.0f / sum->y_scale),
                            .other_least = _mm512_set1_epi32(sum->least[1 - j->own]),
                            .divides = sum->divides};
}

/* Steps of the sum of a row, and of byte `j` of the others. */
MW__INLINE __m512i joined_steps(const mw__int8_finish *f, const joined_numbers *n, __m512i sums, __m512 scale,
                                __m512 shift, __m512i others, const int j)
{
    __m512 own = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale), shift);
    own = _mm512_min_ps(_mm512_max_ps(own, _mm512_set1_ps(f->low)), _mm512_set1_ps(f->high));
    own = _mm512_add_ps(_mm512_roundscale_ps(own, _MM_FROUND_TO_NEAREST_INT), n->least);
    const __m512i high = j > 0 ? _mm512_srli_epi32(others, (unsigned)(8 * j)) : others;
    const __m512i code = j < 3 ? _mm512_and_si512(high, _mm512_set1_epi32(255)) : high;
    const __m512 other = _mm512_cvtepi32_ps(_mm512_add_epi32(code, n->other_least));
    const __m512 sum = _mm512_add_ps(_mm512_mul_ps(own, n->scale), _mm512_mul_ps(other, n->other_scale));
    return _mm512_cvtps_epi32(n->divides ? _mm512_div_ps(sum, n->by) : _mm512_mul_ps(sum, n->by));
}

static void join_quad(const mw__int8_finish *finish, const quad_bounds *bounds, const joined_numbers *numbers,
                      const int32_t *sums, const mw__int8_rows *r, int64_t at, const uint32_t *others, uint32_t *out)
{
    const mw__int8_finish f = *finish;
    const joined_numbers n = *numbers;
    const int64_t count = r->count, step = r->step;
    const int32_t *of = sums + at * step;
    __m512 scale[4], shift[4];
    UNROLL for (int j = 0; j < 4; j++) scale[j] = _mm512_set1_ps(r->scale[at + j]),
                                       shift[j] = _mm512_set1_ps(r->shift[at + j]);
    for (int64_t i = 0; i < count; i += LANES) {
        const __mmask16 mask = mw__first_lanes(count - i);
        const __m512i other = _mm512_maskz_loadu_epi32(mask, others + i);
        __m512i row[4];
        UNROLL for (int j = 0; j < 4; j++) row[j] =
            joined_steps(&f, &n, _mm512_maskz_loadu_epi32(mask, of + j * step + i), scale[j], shift[j], other, j);
        _mm512_mask_storeu_epi32(out + i, mask, weave_rows(bounds, row));
    }
}

void mw__int8_joined_avx512(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r,
                            const mw__int8_joined *joined, void *out)
{
    const mw__int8_finish to = {.low = joined->sum->low, .high = joined->sum->high, .zero = joined->sum->y_zero};
    const quad_bounds bounds = bounds_of(&to);
    const joined_numbers numbers = numbers_of(joined);
    for (int64_t at = 0; at < r->rows; at += 4) {
        const size_t line = (size_t)(at / 4) * r->out_step;
        join_quad(finish, &bounds, &numbers, sums, r, at,
                  (const uint32_t *)(const void *)((const char *)joined->others + line),
                  (uint32_t *)(void *)((char *)out + line));
    }
}

void mw__int8_lanes_avx512(const mw__int8_finish *finish, const int32_t *sums, int64_t count,
                           const mw__int8_lanes *lanes, int32_t by, void *out)
{
    const __m512i times = _mm512_set1_epi32(by);
    for (int64_t i = 0; i < count; i += LANES) {
        const __mmask16 mask = mw__first_lanes(count - i);
        const __m512i less = _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(mask, lanes->u + i), times);
        const __m512i more = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(mask, lanes->add + i), less);
        const __m512i sum = _mm512_add_epi32(_mm512_maskz_loadu_epi32(mask, sums + i), more);
        const __m512 real = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_maskz_loadu_ps(mask, lanes->scale + i));
        store_results(finish, _mm512_add_ps(real, _mm512_maskz_loadu_ps(mask, lanes->shift + i)), mask, out, i);
    }
}
