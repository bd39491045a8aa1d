/* softmax along one axis: the maximum is subtracted first, sums are taken in fp32 partial sums, and each result is
 * rounded once. A partition's units are rows (last axis), or stretches of up to 64 neighboring columns (another axis).
 */
#include "engine/core/kernel.h"
#include "engine/kernels/implementation.h"
#include "engine/kernels/math/math.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include <math.h>

#define COLUMNS 64

typedef struct softmax_block {
    int64_t n;         /* extent of the axis */
    int64_t inner;     /* elements from one of its positions to the next */
    int64_t stretches; /* of inner */
    mw_dtype dtype;
    mw__loop1 *exp;
    mw__loop1 *settle; /* of infinity less infinity, which is 0 on a chip; NULL: it is NaN */
    void (*shift)(float *out, const float *x, int64_t count);
    void (*divide)(float *x, int64_t count);
} softmax_block;

/* out = x - max(x) */
MW__INLINE void shift_body(float *out, const float *x, int64_t count)
{
    const float most = mw__lanes_max(x, count);
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = x[i] - most;
}
MW__BASE_AVX2_AVX512(shift, (float *out, const float *x, int64_t count), (out, x, count))

/* x = x / sum(x) */
MW__INLINE void divide_body(float *x, int64_t count)
{
    const float sum = mw__lanes_sum(x, count);
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) x[i] = x[i] / sum;
}
MW__BASE_AVX2_AVX512(divide, (float *x, int64_t count), (x, count))

/* Scratch: one row. */
static void rows_run(const mw__kernel_call *call)
{
    const softmax_block *s = call->block;
    float *row = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        float *out = s->dtype == MW_F32 ? (float *)call->out[0] + unit * s->n : row;
        s->shift(out, mw__tile_load(call->in[0], s->dtype, unit * s->n, s->n, row), s->n);
        if (s->settle != NULL)
            s->settle(out, out, s->n, 0.0f, 0.0f);
        s->exp(out, out, s->n, 0.0f, 0.0f);
        s->divide(out, s->n);
        if (s->dtype != MW_F32)
            mw__tile_store(call->out[0], s->dtype, unit * s->n, s->n, out);
    }
}

/* Scratch [n, width]. */
static void softmax_columns(const softmax_block *s, float *scratch, int64_t width)
{
    float most[COLUMNS], sum[COLUMNS];
    for (int64_t j = 0; j < width; j++)
        most[j] = -INFINITY, sum[j] = 0.0f;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < width; j++)
            most[j] = mw__larger(scratch[i * width + j], most[j]);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < width; j++)
            scratch[i * width + j] -= most[j];
    if (s->settle != NULL)
        s->settle(scratch, scratch, s->n * width, 0.0f, 0.0f);
    s->exp(scratch, scratch, s->n * width, 0.0f, 0.0f);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < width; j++)
            sum[j] += scratch[i * width + j];
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < width; j++)
            scratch[i * width + j] /= sum[j];
}

static void columns_run(const mw__kernel_call *call)
{
    const softmax_block *s = call->block;
    float *scratch = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t column = unit % s->stretches * COLUMNS;
        const int64_t base = unit / s->stretches * s->n * s->inner + column;
        const int64_t width = s->inner - column < COLUMNS ? s->inner - column : COLUMNS;
        for (int64_t i = 0; i < s->n; i++) {
            const float *row = mw__tile_load(call->in[0], s->dtype, base + i * s->inner, width, scratch + i * width);
            for (int64_t j = 0; row != scratch + i * width && j < width; j++)
                scratch[i * width + j] = row[j];
        }
        softmax_columns(s, scratch, width);
        for (int64_t i = 0; i < s->n; i++)
            mw__tile_store(call->out[0], s->dtype, base + i * s->inner, width, scratch + i * width);
    }
}

static void fill_block(mw__level level, softmax_block *s, mw_shape shape, int64_t axis)
{
    s->n = shape.dim[axis];
    s->inner = mw__shape_span(shape, (int)axis + 1, shape.rank);
    s->stretches = (s->inner + COLUMNS - 1) / COLUMNS;
    s->exp = mw__loop1_find(MW__OP_exp, level);
    s->shift = MW__DISPATCH_BEST(shift, level);
    s->divide = MW__DISPATCH_BEST(divide, level);
}

static const char *rows_decline(const void *subject)
{
    const softmax_block *s = subject;
    return s->inner == 1 ? NULL : "not over the last axis";
}

mw_status mw__kernel_softmax(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(x);
    const mw_shape shape = mw__shape_of(x);
    int64_t axis = 0;
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__kernel_unsupported(op, dtype, err);
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    softmax_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    s->dtype = dtype;
    fill_block(mw__plan_level(planner), s, shape, axis);
    if (mw__plan_is_half(planner, result) && (mw__plan_config(planner)->arithmetic & MW__ARITHMETIC(no_nan)) != 0)
        s->settle = mw__round_loop(mw__plan_level(planner), MW__ROUND_NUMBER);
    static const mw__implementation list[] = {{.name = "rows", .declines = rows_decline}, {.name = "columns"}};
    const bool rows = mw__plan_implementation(planner, MW__IMPLEMENTATIONS(list), s) == &list[0];
    const int64_t outer = mw__count_of(x) / (s->n * s->inner);
    const size_t size = mw__dtype_size(dtype), unit = (size_t)(s->n * s->inner) * size;
    const double count = (double)mw__count_of(x);
    mw__step *step = mw__plan_step(planner, rows ? rows_run : columns_run, "softmax",
                                   rows ? outer : outer * s->stretches, mw__cost(count * (double)size * 2, count * 30));
    step->block = s;
    step->span = rows;
    step->scratch = (size_t)s->n * (rows ? 1 : (size_t)(s->inner < COLUMNS ? s->inner : COLUMNS)) * sizeof(float);
    const mw__access access = s->stretches == 1 ? MW__ROWS : MW__WHOLE;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), access, access == MW__ROWS ? unit : 0,
                  access == MW__ROWS);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), access, access == MW__ROWS ? unit : 0);
    return mw__plan_check(planner, err);
}
