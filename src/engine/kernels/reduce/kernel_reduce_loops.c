/* The loops of kernel_reduce.c: over rows, over columns, over chunks of one long row, and over integers. */
#include "engine/kernels/reduce/kernel_reduce.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include <math.h>
#include <string.h>

/* ---- contiguous elements ---- */

#define REDUCER(type, name, body)                                                                                      \
    static type name##_base(const float *x, int64_t count) { return body(x, count); }
REDUCER(double, sum, mw__lanes_sum)
REDUCER(float, max, mw__lanes_max)
REDUCER(float, min, mw__lanes_min)
#if defined(__x86_64__)
#define AVX2_REDUCER(type, name, body)                                                                                 \
    MW__TARGET_AVX2 static type name##_avx2(const float *x, int64_t count) { return body(x, count); }
AVX2_REDUCER(double, sum, mw__lanes_sum)
AVX2_REDUCER(float, max, mw__lanes_max)
AVX2_REDUCER(float, min, mw__lanes_min)
#endif

/* part[j] += x[j] + x[j + stride] + .., row after row */
MW__INLINE void add_rows_body(float *part, const float *x, int64_t stride, int64_t rows, int64_t width)
{
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {
        const float *a = x, *b = a + stride, *c = b + stride, *d = c + stride;
        MW__VECTORIZE for (int64_t j = 0; j < width; j++) part[j] = (((part[j] + a[j]) + b[j]) + c[j]) + d[j];
    }
    for (; r < rows; r++, x += stride)
        MW__VECTORIZE for (int64_t j = 0; j < width; j++) part[j] += x[j];
}
MW__BASE_AVX2_AVX512(add_rows, (float *part, const float *x, int64_t stride, int64_t rows, int64_t width),
                     (part, x, stride, rows, width))

/* ---- before and after the sum ---- */

/* What is summed of these elements, in `tile` unless that is x itself. */
static const float *summands(const mw__reduce_block *s, const float *x, int64_t count, float *tile)
{
    if (s->kind == MW__REDUCE_SUM_SQUARE || s->kind == MW__REDUCE_L2_NORM)
        for (int64_t i = 0; i < count; i++)
            tile[i] = x[i] * x[i];
    else if (s->kind == MW__REDUCE_L1_NORM)
        for (int64_t i = 0; i < count; i++)
            tile[i] = fabsf(x[i]);
    else
        return x;
    return tile;
}

static float finish_sum(const mw__reduce_block *s, float most, double sum)
{
    switch (s->kind) {
    case MW__REDUCE_MEAN:
        return (float)(sum / (double)s->reduced);
    case MW__REDUCE_LOG_SUM_EXP: /* all -inf; an inf; a NaN */
        return isinf(most) || isnan(most) ? most : (float)((double)most + log(sum));
    case MW__REDUCE_L2_NORM:
        return (float)sqrt(sum);
    case MW__REDUCE_LOG_SUM:
        return (float)log(sum);
    case MW__REDUCE_MAX:
    case MW__REDUCE_MIN:
        return most;
    default:
        return (float)sum;
    }
}

/* ---- rows: the innermost loop is reduced ---- */

static const float *stretch_of(const mw__reduce_block *s, const void *x, int64_t offset, int64_t length, float *tile)
{
    const int64_t stride = s->inner.stride[0][s->inner.rank - 1];
    if (stride == 1)
        return mw__tile_load(x, s->dtype, offset, length, tile);
    for (int64_t i = 0; i < length; i++) {
        float one;
        tile[i] = *mw__tile_load(x, s->dtype, offset + i * stride, 1, &one);
    }
    return tile;
}

static float row_most(const mw__reduce_block *s, const void *x, int64_t base)
{
    float tile[MW__TILE], most = s->kind == MW__REDUCE_MIN ? INFINITY : -INFINITY;
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t done = 0; done < s->reduced;) {
        const int64_t run = mw__nd_position_run(&s->inner, &position, MW__TILE);
        const float part = s->most(stretch_of(s, x, base + position.offset[0], run, tile), run);
        most = s->kind == MW__REDUCE_MIN ? mw__smaller(part, most) : mw__larger(part, most);
        mw__nd_position_step(&s->inner, &position, run);
        done += run;
    }
    return most;
}

/* The sum, or that of e^(x - shift), or the product. */
static double row_sum(const mw__reduce_block *s, const void *x, int64_t base, const float *shift)
{
    float tile[MW__TILE];
    double sum = s->kind == MW__REDUCE_PROD ? 1.0 : 0.0;
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t done = 0; done < s->reduced;) {
        const int64_t run = mw__nd_position_run(&s->inner, &position, MW__TILE);
        const float *part = summands(s, stretch_of(s, x, base + position.offset[0], run, tile), run, tile);
        if (shift != NULL) {
            for (int64_t i = 0; i < run; i++)
                tile[i] = part[i] - *shift;
            s->exp(tile, tile, run, 0.0f, 0.0f);
            part = tile;
        }
        if (s->kind == MW__REDUCE_PROD)
            for (int64_t i = 0; i < run; i++)
                sum *= (double)part[i];
        else
            sum += s->sum(part, run);
        mw__nd_position_step(&s->inner, &position, run);
        done += run;
    }
    return sum;
}

static double row_totals(const mw__reduce_block *s, const void *x, int64_t base, float *out_most)
{
    const bool extremum = s->kind == MW__REDUCE_MAX || s->kind == MW__REDUCE_MIN,
               shifted = s->kind == MW__REDUCE_LOG_SUM_EXP;
    *out_most = extremum || shifted ? row_most(s, x, base) : 0.0f;
    if (extremum || (shifted && (isinf(*out_most) || isnan(*out_most))))
        return 0.0;
    return row_sum(s, x, base, shifted ? out_most : NULL);
}

static float row_result(const mw__reduce_block *s, const void *x, int64_t base)
{
    float most;
    const double sum = row_totals(s, x, base, &most);
    return finish_sum(s, most, sum);
}

/* Sums and products modulo 2^64, the extreme, and for log_sum_exp the sum of e^(x - most). */

static void integer_stretch(const int32_t *x, int64_t stride, int64_t count, mw__reduction kind, mw__integer_totals *t)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t v = x[i * stride];
        const uint64_t wide = (uint64_t)(int64_t)v;
        t->sum += wide;
        t->magnitudes += v < 0 ? (uint64_t)0 - wide : wide;
        t->squares += wide * wide;
        t->product *= wide;
        t->most = (kind == MW__REDUCE_MIN ? v < t->most : v > t->most) ? v : t->most;
    }
}

/* Toward zero; what does not fit saturates, and NaN is 0. */
static int32_t truncated(double v)
{
    if (isnan(v))
        return 0;
    return v <= INT32_MIN ? INT32_MIN : v >= INT32_MAX ? INT32_MAX : (int32_t)v;
}

static int32_t integer_finish(const mw__reduce_block *s, const mw__integer_totals *t)
{
    switch (s->kind) {
    case MW__REDUCE_MEAN:
        return (int32_t)(s->reduced > 0 ? (int64_t)t->sum / s->reduced : 0);
    case MW__REDUCE_MAX:
    case MW__REDUCE_MIN:
        return t->most;
    case MW__REDUCE_PROD:
        return (int32_t)(uint32_t)t->product;
    case MW__REDUCE_SUM_SQUARE:
        return (int32_t)(uint32_t)t->squares;
    case MW__REDUCE_L1_NORM:
        return (int32_t)(uint32_t)t->magnitudes;
    case MW__REDUCE_L2_NORM:
        return truncated(sqrt((double)t->squares));
    case MW__REDUCE_LOG_SUM:
        return truncated(log((double)(int64_t)t->sum));
    case MW__REDUCE_LOG_SUM_EXP:
        return truncated((double)t->most + log(t->exps));
    default:
        return (int32_t)(uint32_t)t->sum;
    }
}

static double integer_exps(const mw__reduce_block *s, const int32_t *x, int64_t base, double most)
{
    double sum = 0.0;
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t i = 0; i < s->reduced; i++) {
        sum += exp((double)x[base + position.offset[0]] - most);
        mw__nd_position_step(&s->inner, &position, 1);
    }
    return sum;
}

static mw__integer_totals integer_totals_of(const mw__reduce_block *s, const int32_t *x, int64_t base)
{
    const int64_t stride = s->inner.stride[0][s->inner.rank - 1];
    mw__integer_totals totals = {.product = 1, .most = s->kind == MW__REDUCE_MIN ? INT32_MAX : INT32_MIN};
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t done = 0; done < s->reduced;) {
        const int64_t run = mw__nd_position_run(&s->inner, &position, s->reduced - done);
        integer_stretch(x + base + position.offset[0], stride, run, s->kind, &totals);
        mw__nd_position_step(&s->inner, &position, run);
        done += run;
    }
    if (s->kind == MW__REDUCE_LOG_SUM_EXP)
        totals.exps = integer_exps(s, x, base, totals.most);
    return totals;
}

/* One tile of fp32 after the other makes one result each. */
static void short_rows_sum(const mw__reduce_block *s, const float *x, float *out, int64_t begin, int64_t end)
{
    for (int64_t at = begin; at < end; at++)
        out[at] = finish_sum(s, 0.0f, 0.0 + s->sum(x + at * s->reduced, s->reduced));
}

/* Extremes of contiguous rows without iterators. */
static void plain_rows_most(const mw__reduce_block *s, const float *x, float *out, int64_t begin, int64_t end)
{
    for (int64_t at = begin; at < end; at++) {
        const float *row = x + at * s->reduced;
        float most = s->kind == MW__REDUCE_MIN ? INFINITY : -INFINITY;
        for (int64_t i = 0; i < s->reduced; i += MW__TILE) {
            const float part = s->most(row + i, s->reduced - i < MW__TILE ? s->reduced - i : MW__TILE);
            most = s->kind == MW__REDUCE_MIN ? mw__smaller(part, most) : mw__larger(part, most);
        }
        out[at] = most;
    }
}

void mw__reduce_rows(const mw__kernel_call *call)
{
    const mw__reduce_block *s = call->block;
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    if (s->plain && s->trailing && s->reduced <= MW__TILE && s->inner.stride[0][0] == 1) {
        short_rows_sum(s, call->in[0], call->out[0], at, end);
        return;
    }
    if (s->dtype == MW_F32 && s->trailing && (s->kind == MW__REDUCE_MAX || s->kind == MW__REDUCE_MIN)) {
        plain_rows_most(s, call->in[0], call->out[0], at, end);
        return;
    }
    mw__nd_position position;
    mw__nd_position_seek(&s->outer, &position, at);
    for (; at < end; at++) {
        if (s->dtype == MW_I32) {
            const mw__integer_totals totals = integer_totals_of(s, call->in[0], position.offset[0]);
            ((int32_t *)call->out[0])[at] = integer_finish(s, &totals);
        } else {
            const float result = row_result(s, call->in[0], position.offset[0]);
            mw__tile_store(call->out[0], s->dtype, at, 1, &result);
        }
        mw__nd_position_step(&s->outer, &position, 1);
    }
}

/* ---- one result of many elements: chunks of fixed size, so that the bits do not depend on the partitions ---- */

void mw__reduce_chunks(const mw__kernel_call *call)
{
    const mw__reduce_block *s = call->block;
    mw__reduce_totals *totals = call->out[0];
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t at = unit * MW__REDUCE_CHUNK, left = s->reduced - at;
        mw__reduce_block chunk = *s;
        chunk.reduced = chunk.inner.extent[0] = left < MW__REDUCE_CHUNK ? left : MW__REDUCE_CHUNK;
        if (s->dtype == MW_I32)
            totals[unit].integer = integer_totals_of(&chunk, call->in[0], at);
        else
            totals[unit].sum = row_totals(&chunk, call->in[0], at, &totals[unit].most);
    }
}

static float add_chunks(const mw__reduce_block *s, const mw__reduce_totals *chunks, int64_t count)
{
    float most = s->kind == MW__REDUCE_MIN ? INFINITY : -INFINITY;
    double sum = s->kind == MW__REDUCE_PROD ? 1.0 : 0.0;
    for (int64_t i = 0; i < count; i++)
        most = s->kind == MW__REDUCE_MIN ? mw__smaller(chunks[i].most, most) : mw__larger(chunks[i].most, most);
    for (int64_t i = 0; i < count; i++)
        if (s->kind == MW__REDUCE_PROD)
            sum *= chunks[i].sum;
        else /* the chunks of log_sum_exp have shifts of their own */
            sum += s->kind == MW__REDUCE_LOG_SUM_EXP ? chunks[i].sum * exp((double)chunks[i].most - (double)most)
                                                     : chunks[i].sum;
    return finish_sum(s, most, sum);
}

static int32_t add_integer_chunks(const mw__reduce_block *s, const mw__reduce_totals *chunks, int64_t count)
{
    mw__integer_totals all = chunks[0].integer;
    for (int64_t i = 1; i < count; i++) {
        const mw__integer_totals *t = &chunks[i].integer;
        all.sum += t->sum, all.magnitudes += t->magnitudes, all.squares += t->squares, all.product *= t->product;
        all.most = (s->kind == MW__REDUCE_MIN ? t->most < all.most : t->most > all.most) ? t->most : all.most;
    }
    all.exps = 0.0;
    for (int64_t i = 0; i < count; i++)
        all.exps += chunks[i].integer.exps * exp((double)chunks[i].integer.most - (double)all.most);
    return integer_finish(s, &all);
}

void mw__reduce_chunks_finish(const mw__kernel_call *call)
{
    const mw__reduce_block *s = call->block;
    const int64_t count = (s->reduced - 1) / MW__REDUCE_CHUNK + 1;
    if (s->dtype == MW_I32) {
        *(int32_t *)call->out[0] = add_integer_chunks(s, call->in[0], count);
    } else {
        const float result = add_chunks(s, call->in[0], count);
        mw__tile_store(call->out[0], s->dtype, 0, 1, &result);
    }
}

/* ---- columns: the innermost loop is kept, so a stretch of results is computed together ---- */

#define COLUMNS 256

typedef struct column_sums {
    float part[COLUMNS], most[COLUMNS];
    double sum[COLUMNS];
} column_sums;

typedef enum column_pass { PASS_SUM, PASS_MOST, PASS_EXP, PASS_PRODUCT } column_pass;

static void add_exp(const mw__reduce_block *s, column_sums *c, const float *row, int64_t width)
{
    float tile[COLUMNS];
    tile[0] = 0.0f; /* gcc does not see that width > 0 */
    for (int64_t j = 0; j < width; j++)
        tile[j] = row[j] - c->most[j];
    s->exp(tile, tile, width, 0.0f, 0.0f);
    for (int64_t j = 0; j < width; j++)
        c->part[j] += tile[j];
}

static void add_row(const mw__reduce_block *s, column_sums *c, const float *row, int64_t width, column_pass pass)
{
    if (pass == PASS_SUM)
        for (int64_t j = 0; j < width; j++)
            c->part[j] += row[j];
    else if (pass == PASS_EXP)
        add_exp(s, c, row, width);
    else if (pass == PASS_PRODUCT)
        for (int64_t j = 0; j < width; j++)
            c->sum[j] *= (double)row[j];
    else if (s->kind == MW__REDUCE_MIN)
        for (int64_t j = 0; j < width; j++)
            c->most[j] = mw__smaller(row[j], c->most[j]);
    else
        for (int64_t j = 0; j < width; j++)
            c->most[j] = mw__larger(row[j], c->most[j]);
}

static void flush(column_sums *c, int64_t width)
{
    for (int64_t j = 0; j < width; j++) {
        c->sum[j] += (double)c->part[j];
        c->part[j] = 0.0f;
    }
}

static void columns_pass(const mw__reduce_block *s, column_sums *c, const void *x, int64_t base, int64_t width,
                         column_pass pass)
{
    float tile[COLUMNS];
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    memset(c->part, 0, sizeof c->part);
    for (int64_t j = 0; j < width; j++)
        c->sum[j] = pass == PASS_PRODUCT ? 1.0 : 0.0;
    for (int64_t done = 0; done < s->reduced; done++) {
        const float *row = mw__tile_load(x, s->dtype, base + position.offset[0], width, tile);
        add_row(s, c, pass == PASS_SUM ? summands(s, row, width, tile) : row, width, pass);
        if (pass != PASS_MOST && done % MW__REDUCE_ROWS == MW__REDUCE_ROWS - 1)
            flush(c, width);
        mw__nd_position_step(&s->inner, &position, 1);
    }
    flush(c, width);
}

/* columns_pass for plain sums of fp32 rows at one distance. */
static void columns_sum(const mw__reduce_block *s, column_sums *c, const float *x, int64_t width)
{
    const int64_t stride = s->inner.stride[0][0];
    memset(c->part, 0, sizeof c->part);
    memset(c->sum, 0, sizeof c->sum);
    for (int64_t done = 0; done < s->reduced; done += MW__REDUCE_ROWS) {
        const int64_t rows = s->reduced - done < MW__REDUCE_ROWS ? s->reduced - done : MW__REDUCE_ROWS;
        s->add_rows(c->part, x + done * stride, stride, rows, width);
        flush(c, width);
    }
}

void mw__reduce_columns(const mw__kernel_call *call)
{
    const mw__reduce_block *s = call->block;
    column_sums c;
    float results[COLUMNS];
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(&s->outer, &position, at);
    while (at < end) {
        const int64_t width = mw__nd_position_run(&s->outer, &position, end - at < COLUMNS ? end - at : COLUMNS);
        for (int64_t j = 0; j < width; j++)
            c.most[j] = s->kind == MW__REDUCE_MIN ? INFINITY : -INFINITY;
        const bool extremum = s->kind == MW__REDUCE_MAX || s->kind == MW__REDUCE_MIN;
        if (extremum || s->kind == MW__REDUCE_LOG_SUM_EXP)
            columns_pass(s, &c, call->in[0], position.offset[0], width, PASS_MOST);
        if (s->plain)
            columns_sum(s, &c, (const float *)call->in[0] + position.offset[0], width);
        else if (!extremum)
            columns_pass(s, &c, call->in[0], position.offset[0], width,
                         s->kind == MW__REDUCE_LOG_SUM_EXP ? PASS_EXP
                         : s->kind == MW__REDUCE_PROD      ? PASS_PRODUCT
                                                           : PASS_SUM);
        for (int64_t j = 0; j < width; j++)
            results[j] = finish_sum(s, c.most[j], c.sum[j]);
        mw__tile_store(call->out[0], s->dtype, at, width, results);
        mw__nd_position_step(&s->outer, &position, width);
        at += width;
    }
}

void mw__reduce_choose_loops(mw__reduce_block *s, mw__level level)
{
    s->exp = mw__loop1_find(MW__OP_exp, level);
    s->add_rows = MW__DISPATCH_BEST(add_rows, level);
    s->transpose = mw__transpose_choose(level);
    s->way = level == MW__LEVEL_AVX512 ? 2 : level == MW__LEVEL_AVX2 ? 1 : 0;
#if defined(__x86_64__)
    s->sum = level >= MW__LEVEL_AVX2 ? sum_avx2 : sum_base;
    s->most = s->kind == MW__REDUCE_MIN ? (level >= MW__LEVEL_AVX2 ? min_avx2 : min_base)
                                        : (level >= MW__LEVEL_AVX2 ? max_avx2 : max_base);
#else
    s->sum = sum_base;
    s->most = s->kind == MW__REDUCE_MIN ? min_base : max_base;
#endif
}
