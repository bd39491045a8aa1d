/* What becomes of sums of products: codes of another scale, or real numbers. A number and 1.5 2^23 have a sum whose
 * last bit is worth 1, so that adding and subtracting that rounds, ties to even, on every processor alike. */
#include "engine/kernels/int8/int8_tiles.h"

#define ROUNDER 12582912.0f

/* Parts may lie outside of int32 where the whole does not. */
MW__INLINE int32_t sum_of(int32_t sum, int32_t add, int32_t less)
{
    return (int32_t)((uint32_t)sum + (uint32_t)add - (uint32_t)less);
}

/* A NaN gives `low`. */
MW__INLINE int32_t code_of(float real, float low, float high)
{
    real = real > low ? real : low;
    real = real < high ? real : high;
    return (int32_t)(real + ROUNDER - ROUNDER);
}

MW__INLINE void line_body(const mw__int8_finish *finish, const int32_t *sums, int64_t count, float scale, float shift,
                          void *out)
{
    const float low = finish->low, high = finish->high;
    const int32_t zero = finish->zero;
    if (finish->dtype == MW_F32) {
        float *real = out;
        MW__VECTORIZE
        for (int64_t i = 0; i < count; i++)
            real[i] = (float)sums[i] * scale + shift;
        return;
    }
    uint8_t *codes = out;
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        codes[i] = (uint8_t)(code_of((float)sums[i] * scale + shift, low, high) + zero);
}

MW__INLINE void rows_body(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, void *out)
{
    for (int64_t i = 0; i < r->rows; i++)
        line_body(finish, sums + i * r->step, r->count, r->scale[i], r->shift[i],
                  (char *)out + (size_t)i * r->out_step);
}
MW__BASE_AVX2(rows, (const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, void *out),
              (finish, sums, r, out))

/* A loop for each byte of the quads. */
MW__INLINE void quad_body(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, int64_t row,
                          uint32_t *out)
{
    const float low = finish->low, high = finish->high;
    const int32_t zero = finish->zero;
    for (int64_t i = 0; i < r->count; i++)
        out[i] = 0;
    for (int j = 0; j < 4; j++) {
        const int32_t *const of = sums + (row + j) * r->step;
        const float scale = r->scale[row + j], shift = r->shift[row + j];
        MW__VECTORIZE
        for (int64_t i = 0; i < r->count; i++)
            out[i] |= (uint32_t)(uint8_t)(code_of((float)of[i] * scale + shift, low, high) + zero) << 8 * j;
    }
}

MW__INLINE void quads_body(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, void *out)
{
    for (int64_t i = 0; i < r->rows; i += 4)
        quad_body(finish, sums, r, i, (uint32_t *)(void *)((char *)out + (size_t)(i / 4) * r->out_step));
}
MW__BASE_AVX2(quads, (const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r, void *out),
              (finish, sums, r, out))

MW__INLINE void lanes_body(const mw__int8_finish *finish, const int32_t *sums, int64_t count,
                           const mw__int8_lanes *lanes, int32_t by, void *out)
{
    const float low = finish->low, high = finish->high, *scale = lanes->scale, *shift = lanes->shift;
    const int32_t zero = finish->zero, *add = lanes->add, *u = lanes->u;
    if (finish->dtype == MW_F32) {
        float *real = out;
        MW__VECTORIZE
        for (int64_t i = 0; i < count; i++)
            real[i] = (float)sum_of(sums[i], add[i], by * u[i]) * scale[i] + shift[i];
        return;
    }
    uint8_t *codes = out;
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        codes[i] =
            (uint8_t)(code_of((float)sum_of(sums[i], add[i], by * u[i]) * scale[i] + shift[i], low, high) + zero);
}
MW__BASE_AVX2(lanes,
              (const mw__int8_finish *finish, const int32_t *sums, int64_t count, const mw__int8_lanes *lanes,
               int32_t by, void *out),
              (finish, sums, count, lanes, by, out))

mw__int8_finish_rows *mw__int8_rows_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return mw__int8_rows_avx512;
#endif
    return MW__DISPATCH(rows, level);
}

mw__int8_finish_quads *mw__int8_quads_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return mw__int8_quads_avx512;
#endif
    return MW__DISPATCH(quads, level);
}

mw__int8_finish_joined *mw__int8_joined_of(mw__level level, const mw__int8_finish *finish, const mw__int8_sum *sum)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512 && finish->dtype != MW_F32 && sum->fits)
        return mw__int8_joined_avx512;
#endif
    (void)level, (void)finish, (void)sum;
    return NULL;
}

mw__int8_finish_lanes *mw__int8_lanes_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return mw__int8_lanes_avx512;
#endif
    return MW__DISPATCH(lanes, level);
}
