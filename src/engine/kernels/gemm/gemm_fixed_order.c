/* Fixed-point sums (gemm_fixed.h) one product after the other, in doubles, which hold every partial sum: what reaches
 * the ceiling becomes infinite and stays so by itself. And how sums become numbers again. */
#include "engine/kernels/gemm/gemm_fixed.h"
#include "engine/kernels/math/math_scalar.h"

MW__INLINE float operand_of(float x)
{
    const float taken = mw__q16_operand(x);
    return x - x == 0.0f ? mw__round_to_half(x) : taken;
}

#define COLUMNS 16

MW__INLINE void add_one_body(float x, const float *y, double *sum, bool drops)
{
    for (int c = 0; c < COLUMNS; c++)
        sum[c] = mw__q16_add(sum[c], mw__q16_product(x, y[c], drops));
}
MW__BASE_AVX2_AVX512(add_one, (float x, const float *y, double *sum, bool drops), (x, y, sum, drops))

/* One row and up to COLUMNS columns from j on. */
static void sum_columns(mw__level level, const mw__fixed_part *t, int64_t i, int64_t j, int64_t columns, double *sum)
{
    const mw__gemm_shape *s = t->shape;
    float y[COLUMNS] = {0};
    for (int64_t c = 0; c < columns; c++) {
        const float start = s->start == NULL ? 0.0f : s->start[s->start_of_rows ? i : j + c];
        sum[c] = mw__q16_add(0.0, mw__q16_units((double)start));
    }
    for (int64_t p = 0; p < s->k; p++) {
        for (int64_t c = 0; c < columns; c++)
            y[c] = operand_of(t->b[s->transpose_b ? (j + c) * s->ldb + p : p * s->ldb + j + c]);
        MW__DISPATCH_BEST(add_one, level)
        (operand_of(t->a[s->transpose_a ? p * s->lda + i : i * s->lda + p]), y, sum, t->drops);
    }
}

void mw__fixed_in_order(mw__level level, const mw__fixed_part *t)
{
    const int64_t end = t->j + t->columns;
    for (int64_t i = t->i; i < t->i + t->rows; i++)
        for (int64_t j = t->j; j < end; j += COLUMNS) {
            double sum[COLUMNS] = {0};
            const int64_t columns = end - j < COLUMNS ? end - j : COLUMNS;
            sum_columns(level, t, i, j, columns, sum);
            for (int64_t c = 0; c < columns; c++)
                t->c[i * t->shape->ldc + j + c] = mw__q16_sum(sum[c]);
        }
}

/* ---- sums that are known to have a range ---- */

MW__INLINE void store_row_body(float *c, const int32_t *sums, int64_t count, bool first, bool last)
{
    if (first && last)
        MW__VECTORIZE for (int64_t j = 0; j < count; j++) c[j] = mw__q16_number(sums[j]);
    else if (first)
        MW__VECTORIZE for (int64_t j = 0; j < count; j++) c[j] = mw__float_of((uint32_t)sums[j]);
    else if (last)
        MW__VECTORIZE for (int64_t j = 0; j < count; j++) c[j] =
            mw__q16_number((int32_t)(mw__bits_of(c[j]) + (uint32_t)sums[j]));
    else
        MW__VECTORIZE for (int64_t j = 0; j < count; j++) c[j] = mw__float_of(mw__bits_of(c[j]) + (uint32_t)sums[j]);
}
MW__BASE_AVX2_AVX512(store_row, (float *c, const int32_t *sums, int64_t count, bool first, bool last),
                     (c, sums, count, first, last))

/* What sums begin with goes to the first of them. */
static const int32_t *started(const mw__fixed_rows *t, int64_t i, int32_t out[MW__FIXED_COLUMNS])
{
    const int32_t *const sums = t->sums + i * t->sums_row;
    if (!t->first || t->start == NULL)
        return sums;
    for (int64_t j = 0; j < t->columns; j++)
        out[j] =
            (int32_t)((uint32_t)sums[j] + (uint32_t)(int32_t)mw__q16_units((double)t->start[t->start_of_rows ? i : j]));
    return out;
}

void mw__fixed_store(mw__level level, const mw__fixed_rows *t)
{
    int32_t with_start[MW__FIXED_COLUMNS];
    for (int64_t i = 0; i < t->rows; i++)
        MW__DISPATCH_BEST(store_row, level)
    (t->c + i * t->ldc, started(t, i, with_start), t->columns, t->first, t->last);
}
