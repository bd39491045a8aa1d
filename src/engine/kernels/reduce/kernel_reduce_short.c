/* Reductions of short rows of fp32, and products of rows of any length: 16 rows at a time, a row in each lane, with the
 * bits of the general code. That adds a row in 16 partial sums that are combined in pairs (simd_reduce.h), compares
 * likewise but for what is left behind whole sixteens, and multiplies one number after the other in double. */
#include "engine/kernels/reduce/kernel_reduce.h"
#include "engine/kernels/reduce/simd_reduce.h"
#include "engine/kernels/transpose.h"

#define ROWS  16
#define MOST  64 /* columns that are held at a time */
#define SHORT 32 /* columns of a row that is taken so: longer ones fill vectors by themselves */

MW__INLINE void short_sum_body(const float *row, int64_t count, float *out)
{
    float part[MW__PARTIALS][ROWS] = {{0}};
    for (int64_t i = 0; i < count; i++)
        for (int l = 0; l < ROWS; l++)
            part[i % MW__PARTIALS][l] += row[i * ROWS + l];
    for (int half = MW__PARTIALS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            for (int l = 0; l < ROWS; l++)
                part[i][l] += part[i + half][l];
    for (int l = 0; l < ROWS; l++)
        out[l] = part[0][l];
}

/* Whole sixteens in partial results, what is left into the first of them. */
#define SHORT_MOST(name, start, operator)                                                                              \
    MW__INLINE void name(const float *row, int64_t count, float *out)                                                  \
    {                                                                                                                  \
        float part[MW__PARTIALS][ROWS];                                                                                \
        int32_t nan[ROWS] = {0};                                                                                       \
        const int64_t whole = count / MW__PARTIALS * MW__PARTIALS;                                                     \
        for (int i = 0; i < (whole > 0 ? MW__PARTIALS : 1); i++)                                                       \
            for (int l = 0; l < ROWS; l++)                                                                             \
                part[i][l] = start;                                                                                    \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            float *to = part[i < whole ? i % MW__PARTIALS : 0];                                                        \
            for (int l = 0; l < ROWS; l++) {                                                                           \
                to[l] = row[i * ROWS + l] operator to[l] ? row[i * ROWS + l] : to[l];                                  \
                nan[l] |= row[i * ROWS + l] != row[i * ROWS + l];                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int half = whole > 0 ? MW__PARTIALS / 2 : 0; half > 0; half /= 2)                                         \
            for (int i = 0; i < half; i++)                                                                             \
                for (int l = 0; l < ROWS; l++)                                                                         \
                    part[i][l] = part[i + half][l] operator part[i][l] ? part[i + half][l] : part[i][l];               \
        for (int l = 0; l < ROWS; l++)                                                                                 \
            out[l] = nan[l] != 0 ? NAN : part[0][l];                                                                   \
    }
SHORT_MOST(short_max_body, -INFINITY, >)
SHORT_MOST(short_min_body, INFINITY, <)

typedef void short_function(const float *row, int64_t count, float *out);
MW__BASE_AVX2_AVX512(short_sum, (const float *row, int64_t count, float *out), (row, count, out))
MW__BASE_AVX2_AVX512(short_max, (const float *row, int64_t count, float *out), (row, count, out))
MW__BASE_AVX2_AVX512(short_min, (const float *row, int64_t count, float *out), (row, count, out))

MW__INLINE void multiply_rows_body(const float *row, int64_t count, double *product)
{
    for (int64_t i = 0; i < count; i++)
        for (int l = 0; l < ROWS; l++)
            product[l] *= (double)row[i * ROWS + l];
}
MW__BASE_AVX2_AVX512(multiply_rows, (const float *row, int64_t count, double *product), (row, count, product))

static void reduce_rows_short(const mw__reduce_block *s, const float *x, int64_t rows, float *out)
{
    static short_function *const sums[] = MW__BASE_AVX2_AVX512_LIST(short_sum);
    static short_function *const largest[] = MW__BASE_AVX2_AVX512_LIST(short_max);
    static short_function *const smallest[] = MW__BASE_AVX2_AVX512_LIST(short_min);
    float row[MOST * ROWS];
    if (rows < ROWS)
        memset(row, 0, sizeof row);
    s->transpose(x, s->reduced, rows, s->reduced, row, ROWS);
    short_function *const *const ways = s->kind == MW__REDUCE_MAX   ? largest
                                        : s->kind == MW__REDUCE_MIN ? smallest
                                                                    : sums;
    ways[s->way](row, s->reduced, out);
    for (int l = 0; s->kind == MW__REDUCE_MEAN && l < ROWS; l++)
        out[l] = (float)((double)out[l] / (double)s->reduced);
}

static void reduce_products(const mw__reduce_block *s, const float *x, int64_t rows, float *out)
{
    static void (*const ways[])(const float *row, int64_t count, double *product) =
        MW__BASE_AVX2_AVX512_LIST(multiply_rows);
    float row[MOST * ROWS];
    double product[ROWS];
    if (rows < ROWS)
        memset(row, 0, sizeof row);
    for (int l = 0; l < ROWS; l++)
        product[l] = 1.0;
    for (int64_t at = 0; at < s->reduced; at += MOST) {
        const int64_t count = s->reduced - at < MOST ? s->reduced - at : MOST;
        s->transpose(x + at, s->reduced, rows, count, row, ROWS);
        ways[s->way](row, count, product);
    }
    for (int l = 0; l < ROWS; l++)
        out[l] = (float)product[l];
}

void mw__reduce_short(const mw__kernel_call *call)
{
    const mw__reduce_block *s = call->block;
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    for (; at < end; at += ROWS) {
        const int64_t rows = end - at < ROWS ? end - at : ROWS;
        const float *x = (const float *)call->in[0] + at * s->reduced;
        float out[ROWS];
        if (s->kind == MW__REDUCE_PROD)
            reduce_products(s, x, rows, out);
        else
            reduce_rows_short(s, x, rows, out);
        memcpy((float *)call->out[0] + at, out, (size_t)rows * sizeof *out);
    }
}

bool mw__reduce_is_short(const mw__reduce_block *s)
{
    const bool rows = s->dtype == MW_F32 && s->outer.rank == 1 && s->inner.rank == 1 && s->inner.stride[0][0] == 1 &&
                      s->outer.stride[0][0] == s->reduced && s->reduced > 1 && s->count >= ROWS / 2;
    switch (s->kind) {
    case MW__REDUCE_PROD:
        return rows;
    case MW__REDUCE_MAX:
    case MW__REDUCE_MIN:
    case MW__REDUCE_SUM:
    case MW__REDUCE_MEAN:
        return rows && s->reduced <= SHORT;
    default:
        return false;
    }
}
