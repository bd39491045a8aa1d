/* Products of int8 numbers as M6 takes them (rules/arithmetic.def, int8_sums): the operands are codes times scales, of
 * which the codes are multiplied and added as integers. The sum is scaled at the end; from 2^31 on it is infinite, but
 * only there: what it passes on the way does not matter. Codes have 9 bits with their sign, so that PART products are
 * exact in fp32. */
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/math/math_scalar.h"

#include <math.h>

#define COLUMNS 16
#define PART    256 /* products: 255 * 255 * PART < 2^24 */
#define CEILING 2147483648.0

/* A row of PART products at most of each column. */
MW__INLINE void add_part_body(const float *x, const float *y, int64_t count, double *sum)
{
    float part[COLUMNS] = {0};
    for (int64_t p = 0; p < count; p++)
        for (int c = 0; c < COLUMNS; c++)
            part[c] += x[p] * y[p * COLUMNS + c];
    for (int c = 0; c < COLUMNS; c++)
        sum[c] += (double)part[c];
}
MW__BASE_AVX2_AVX512(add_part, (const float *x, const float *y, int64_t count, double *sum), (x, y, count, sum))

static float row_scale(const mw__gemm_codes *s, int64_t i) { return s->row_scales[s->each_row ? i : 0]; }
static float column_scale(const mw__gemm_codes *s, int64_t j) { return s->column_scales[s->each_column ? j : 0]; }

/* codes[p * width + l] of lanes first .. of A or B */
static void read_codes(const mw__gemm_shape *s, const float *from, bool rows, int64_t first, int64_t lanes, int64_t at,
                       int64_t count, int64_t width, float *codes)
{
    const bool side_by_side = rows ? s->transpose_a : !s->transpose_b;
    const int64_t step = rows ? s->lda : s->ldb;
    for (int64_t l = 0; l < width; l++) {
        const float scale = l >= lanes ? 1.0f
                            : rows     ? row_scale(s->codes, first + l)
                                       : column_scale(s->codes, first + l);
        for (int64_t p = 0; p < count; p++) {
            const int64_t place = side_by_side ? (at + p) * step + first + l : (first + l) * step + at + p;
            codes[p * width + l] = l < lanes ? rintf(from[place] / scale) : 0.0f;
        }
    }
}

static float result_of(const mw__gemm_shape *s, double sum, int64_t i, int64_t j)
{
    const float start = s->start == NULL ? 0.0f : s->start[s->start_of_rows ? i : j];
    const double scaled = sum * (double)row_scale(s->codes, i) * (double)column_scale(s->codes, j);
    return fabs(sum) >= CEILING ? copysignf(INFINITY, (float)scaled) : (float)(scaled + (double)start);
}

void mw__gemm_of_codes(const mw__gemm_code *code, const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    float x[PART], y[PART * COLUMNS];
    for (int64_t j = 0; j < s->n; j += COLUMNS)
        for (int64_t i = 0; i < s->m; i++) {
            double sum[COLUMNS] = {0};
            const int64_t columns = s->n - j < COLUMNS ? s->n - j : COLUMNS;
            for (int64_t p = 0; p < s->k; p += PART) {
                const int64_t count = s->k - p < PART ? s->k - p : PART;
                read_codes(s, a, true, i, 1, p, count, 1, x);
                read_codes(s, b, false, j, columns, p, count, COLUMNS, y);
                MW__DISPATCH_BEST(add_part, code->level)(x, y, count, sum);
            }
            for (int64_t l = 0; l < columns; l++)
                c[i * s->ldc + j + l] = result_of(s, sum[l], i, j + l);
        }
}
