/* Reductions over any set of axes. Sums of floats are taken in fp32 over at most 512 elements in 16 interleaved partial
 * sums (64 rows, for columns), and those are added in double, always in index order; squares and magnitudes are formed
 * in fp32, products in double; the result is rounded once. Sums and products of I32 wrap around; what has
 * a fraction (mean, root, logarithm) is truncated, as by cast. An empty reduction gives 0 (sums and norms), 1
 * (product), NaN or integer 0 (mean), -inf or INT_MIN (max and log_sum_exp), inf or INT_MAX (min). */
#include "engine/kernels/kernel_reduce.h"
#include "engine/kernels/implementation.h"
#include "engine/kernels/math.h"
#include "engine/kernels/simd_reduce.h"

#include <math.h>
#include <string.h>

typedef enum reduction { SUM, MEAN, MAX, MIN, LOG_SUM_EXP, PROD, SUM_SQUARE, L1_NORM, L2_NORM, LOG_SUM } reduction;

typedef struct reduce_block {
    mw__nd_iter outer; /* kept loops: result element -> offset in x; one operand */
    mw__nd_iter inner; /* reduced loops; one operand */
    int64_t elements;  /* of a unit */
    int64_t count;     /* results */
    int64_t reduced;   /* elements that make one result */
    reduction kind;
    bool trailing; /* result i needs elements [i * reduced, (i + 1) * reduced) */
    bool plain;    /* a sum or mean of fp32 over one loop */
    mw_dtype dtype;
    mw__loop1 *exp;
    double (*sum)(const float *x, int64_t count);
    float (*most)(const float *x, int64_t count); /* max, or min for MIN */
    void (*add_rows)(float *part, const float *x, int64_t stride, int64_t rows, int64_t width);
    mw__reduce_small small;
} reduce_block;

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
static const float *summands(const reduce_block *s, const float *x, int64_t count, float *tile)
{
    if (s->kind == SUM_SQUARE || s->kind == L2_NORM)
        for (int64_t i = 0; i < count; i++)
            tile[i] = x[i] * x[i];
    else if (s->kind == L1_NORM)
        for (int64_t i = 0; i < count; i++)
            tile[i] = fabsf(x[i]);
    else
        return x;
    return tile;
}

static float finish(const reduce_block *s, float most, double sum)
{
    switch (s->kind) {
    case MEAN:
        return (float)(sum / (double)s->reduced);
    case LOG_SUM_EXP: /* all -inf; an inf; a NaN */
        return isinf(most) || isnan(most) ? most : (float)((double)most + log(sum));
    case L2_NORM:
        return (float)sqrt(sum);
    case LOG_SUM:
        return (float)log(sum);
    case MAX:
    case MIN:
        return most;
    default:
        return (float)sum;
    }
}

/* ---- rows: the innermost loop is reduced ---- */

static const float *stretch_of(const reduce_block *s, const void *x, int64_t offset, int64_t length, float *tile)
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

static float row_most(const reduce_block *s, const void *x, int64_t base)
{
    float tile[MW__TILE], most = s->kind == MIN ? INFINITY : -INFINITY;
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t done = 0; done < s->reduced;) {
        const int64_t run = mw__nd_position_run(&s->inner, &position, MW__TILE);
        const float part = s->most(stretch_of(s, x, base + position.offset[0], run, tile), run);
        most = s->kind == MIN ? mw__smaller(part, most) : mw__larger(part, most);
        mw__nd_position_step(&s->inner, &position, run);
        done += run;
    }
    return most;
}

/* The sum, or that of e^(x - shift), or the product. */
static double row_sum(const reduce_block *s, const void *x, int64_t base, const float *shift)
{
    float tile[MW__TILE];
    double sum = s->kind == PROD ? 1.0 : 0.0;
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
        if (s->kind == PROD)
            for (int64_t i = 0; i < run; i++)
                sum *= (double)part[i];
        else
            sum += s->sum(part, run);
        mw__nd_position_step(&s->inner, &position, run);
        done += run;
    }
    return sum;
}

static double row_totals(const reduce_block *s, const void *x, int64_t base, float *out_most)
{
    const bool extremum = s->kind == MAX || s->kind == MIN, shifted = s->kind == LOG_SUM_EXP;
    *out_most = extremum || shifted ? row_most(s, x, base) : 0.0f;
    if (extremum || (shifted && (isinf(*out_most) || isnan(*out_most))))
        return 0.0;
    return row_sum(s, x, base, shifted ? out_most : NULL);
}

static float row_result(const reduce_block *s, const void *x, int64_t base)
{
    float most;
    const double sum = row_totals(s, x, base, &most);
    return finish(s, most, sum);
}

/* Sums and products modulo 2^64, the extreme, and for log_sum_exp the sum of e^(x - most). */
typedef struct integer_totals {
    uint64_t sum, magnitudes, squares, product;
    int32_t most;
    double exps;
} integer_totals;

static void integer_stretch(const int32_t *x, int64_t stride, int64_t count, reduction kind, integer_totals *t)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t v = x[i * stride];
        const uint64_t wide = (uint64_t)(int64_t)v;
        t->sum += wide;
        t->magnitudes += v < 0 ? (uint64_t)0 - wide : wide;
        t->squares += wide * wide;
        t->product *= wide;
        t->most = (kind == MIN ? v < t->most : v > t->most) ? v : t->most;
    }
}

/* Toward zero; what does not fit saturates, and NaN is 0. */
static int32_t truncated(double v)
{
    if (isnan(v))
        return 0;
    return v <= INT32_MIN ? INT32_MIN : v >= INT32_MAX ? INT32_MAX : (int32_t)v;
}

static int32_t integer_finish(const reduce_block *s, const integer_totals *t)
{
    switch (s->kind) {
    case MEAN:
        return (int32_t)(s->reduced > 0 ? (int64_t)t->sum / s->reduced : 0);
    case MAX:
    case MIN:
        return t->most;
    case PROD:
        return (int32_t)(uint32_t)t->product;
    case SUM_SQUARE:
        return (int32_t)(uint32_t)t->squares;
    case L1_NORM:
        return (int32_t)(uint32_t)t->magnitudes;
    case L2_NORM:
        return truncated(sqrt((double)t->squares));
    case LOG_SUM:
        return truncated(log((double)(int64_t)t->sum));
    case LOG_SUM_EXP:
        return truncated((double)t->most + log(t->exps));
    default:
        return (int32_t)(uint32_t)t->sum;
    }
}

static double integer_exps(const reduce_block *s, const int32_t *x, int64_t base, double most)
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

static integer_totals integer_totals_of(const reduce_block *s, const int32_t *x, int64_t base)
{
    const int64_t stride = s->inner.stride[0][s->inner.rank - 1];
    integer_totals totals = {.product = 1, .most = s->kind == MIN ? INT32_MAX : INT32_MIN};
    mw__nd_position position;
    mw__nd_position_seek(&s->inner, &position, 0);
    for (int64_t done = 0; done < s->reduced;) {
        const int64_t run = mw__nd_position_run(&s->inner, &position, s->reduced - done);
        integer_stretch(x + base + position.offset[0], stride, run, s->kind, &totals);
        mw__nd_position_step(&s->inner, &position, run);
        done += run;
    }
    if (s->kind == LOG_SUM_EXP)
        totals.exps = integer_exps(s, x, base, totals.most);
    return totals;
}

/* One tile of fp32 after the other makes one result each. */
static void short_rows_sum(const reduce_block *s, const float *x, float *out, int64_t begin, int64_t end)
{
    for (int64_t at = begin; at < end; at++)
        out[at] = finish(s, 0.0f, 0.0 + s->sum(x + at * s->reduced, s->reduced));
}

static void rows_run(const mw__kernel_call *call)
{
    const reduce_block *s = call->block;
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    if (s->plain && s->trailing && s->reduced <= MW__TILE && s->inner.stride[0][0] == 1) {
        short_rows_sum(s, call->in[0], call->out[0], at, end);
        return;
    }
    mw__nd_position position;
    mw__nd_position_seek(&s->outer, &position, at);
    for (; at < end; at++) {
        if (s->dtype == MW_I32) {
            const integer_totals totals = integer_totals_of(s, call->in[0], position.offset[0]);
            ((int32_t *)call->out[0])[at] = integer_finish(s, &totals);
        } else {
            const float result = row_result(s, call->in[0], position.offset[0]);
            mw__tile_store(call->out[0], s->dtype, at, 1, &result);
        }
        mw__nd_position_step(&s->outer, &position, 1);
    }
}

/* ---- one result of many elements: chunks of fixed size, so that the bits do not depend on the lanes ---- */

#define CHUNK 8192

typedef struct chunk_totals {
    double sum;
    float most;
    integer_totals integer;
} chunk_totals;

static void chunks_run(const mw__kernel_call *call)
{
    const reduce_block *s = call->block;
    chunk_totals *totals = call->out[0];
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t at = unit * CHUNK, left = s->reduced - at;
        reduce_block chunk = *s;
        chunk.reduced = chunk.inner.extent[0] = left < CHUNK ? left : CHUNK;
        if (s->dtype == MW_I32)
            totals[unit].integer = integer_totals_of(&chunk, call->in[0], at);
        else
            totals[unit].sum = row_totals(&chunk, call->in[0], at, &totals[unit].most);
    }
}

static float add_chunks(const reduce_block *s, const chunk_totals *chunks, int64_t count)
{
    float most = s->kind == MIN ? INFINITY : -INFINITY;
    double sum = s->kind == PROD ? 1.0 : 0.0;
    for (int64_t i = 0; i < count; i++)
        most = s->kind == MIN ? mw__smaller(chunks[i].most, most) : mw__larger(chunks[i].most, most);
    for (int64_t i = 0; i < count; i++)
        if (s->kind == PROD)
            sum *= chunks[i].sum;
        else /* the chunks of log_sum_exp have shifts of their own */
            sum += s->kind == LOG_SUM_EXP ? chunks[i].sum * exp((double)chunks[i].most - (double)most) : chunks[i].sum;
    return finish(s, most, sum);
}

static int32_t add_integer_chunks(const reduce_block *s, const chunk_totals *chunks, int64_t count)
{
    integer_totals all = chunks[0].integer;
    for (int64_t i = 1; i < count; i++) {
        const integer_totals *t = &chunks[i].integer;
        all.sum += t->sum, all.magnitudes += t->magnitudes, all.squares += t->squares, all.product *= t->product;
        all.most = (s->kind == MIN ? t->most < all.most : t->most > all.most) ? t->most : all.most;
    }
    all.exps = 0.0;
    for (int64_t i = 0; i < count; i++)
        all.exps += chunks[i].integer.exps * exp((double)chunks[i].integer.most - (double)all.most);
    return integer_finish(s, &all);
}

static void chunks_finish(const mw__kernel_call *call)
{
    const reduce_block *s = call->block;
    const int64_t count = (s->reduced - 1) / CHUNK + 1;
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

static void add_exp(const reduce_block *s, column_sums *c, const float *row, int64_t width)
{
    float tile[COLUMNS];
    tile[0] = 0.0f; /* gcc does not see that width > 0 */
    for (int64_t j = 0; j < width; j++)
        tile[j] = row[j] - c->most[j];
    s->exp(tile, tile, width, 0.0f, 0.0f);
    for (int64_t j = 0; j < width; j++)
        c->part[j] += tile[j];
}

static void add_row(const reduce_block *s, column_sums *c, const float *row, int64_t width, column_pass pass)
{
    if (pass == PASS_SUM)
        for (int64_t j = 0; j < width; j++)
            c->part[j] += row[j];
    else if (pass == PASS_EXP)
        add_exp(s, c, row, width);
    else if (pass == PASS_PRODUCT)
        for (int64_t j = 0; j < width; j++)
            c->sum[j] *= (double)row[j];
    else if (s->kind == MIN)
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

static void columns_pass(const reduce_block *s, column_sums *c, const void *x, int64_t base, int64_t width,
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
static void columns_sum(const reduce_block *s, column_sums *c, const float *x, int64_t width)
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

static void columns_run(const mw__kernel_call *call)
{
    const reduce_block *s = call->block;
    column_sums c;
    float results[COLUMNS];
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    mw__nd_position position;
    mw__nd_position_seek(&s->outer, &position, at);
    while (at < end) {
        const int64_t width = mw__nd_position_run(&s->outer, &position, end - at < COLUMNS ? end - at : COLUMNS);
        for (int64_t j = 0; j < width; j++)
            c.most[j] = s->kind == MIN ? INFINITY : -INFINITY;
        const bool extremum = s->kind == MAX || s->kind == MIN;
        if (extremum || s->kind == LOG_SUM_EXP)
            columns_pass(s, &c, call->in[0], position.offset[0], width, PASS_MOST);
        if (s->plain)
            columns_sum(s, &c, (const float *)call->in[0] + position.offset[0], width);
        else if (!extremum)
            columns_pass(s, &c, call->in[0], position.offset[0], width,
                         s->kind == LOG_SUM_EXP ? PASS_EXP
                         : s->kind == PROD      ? PASS_PRODUCT
                                                : PASS_SUM);
        for (int64_t j = 0; j < width; j++)
            results[j] = finish(s, c.most[j], c.sum[j]);
        mw__tile_store(call->out[0], s->dtype, at, width, results);
        mw__nd_position_step(&s->outer, &position, width);
        at += width;
    }
}

/* ---- planning ---- */

static reduction kind_of(mw__op_id id)
{
    switch (id) {
    case MW__OP_reduce_mean:
        return MEAN;
    case MW__OP_reduce_max:
        return MAX;
    case MW__OP_reduce_min:
        return MIN;
    case MW__OP_reduce_log_sum_exp:
        return LOG_SUM_EXP;
    case MW__OP_reduce_prod:
        return PROD;
    case MW__OP_reduce_sum_square:
        return SUM_SQUARE;
    case MW__OP_reduce_l1_norm:
        return L1_NORM;
    case MW__OP_reduce_l2_norm:
        return L2_NORM;
    case MW__OP_reduce_log_sum:
        return LOG_SUM;
    default:
        return SUM;
    }
}

static mw_status reduced_axes(const mw__op *op, int rank, bool *out, mw_error *err)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    char subject[128];
    const bool given = mw__arg_present(op, "axes");
    if (given && !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: axes must be constants",
                        mw__op_subject(op, subject, sizeof subject));
    for (int axis = 0; axis < rank; axis++)
        out[axis] = !given;
    for (size_t i = 0; i < count; i++) {
        if (axes[i] < -rank || axes[i] >= rank)
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s: axis %lld is outside rank %d",
                            mw__op_subject(op, subject, sizeof subject), (long long)axes[i], rank);
        out[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
    }
    return MW_OK;
}

/* Parts the loops of x into kept and reduced ones. True if the innermost loop of x that turns is a kept one. */
static bool part_loops(reduce_block *s, mw_shape shape, const bool *reduced)
{
    int64_t strides[MW_RANK_MAX], below = 1;
    bool inner_kept = false;
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        if (below == 1 && shape.dim[axis] != 1)
            inner_kept = !reduced[axis];
        strides[axis] = below;
        below *= shape.dim[axis];
    }
    s->outer.operands = s->inner.operands = 1;
    for (int axis = 0; axis < shape.rank; axis++)
        mw__nd_iter_add(reduced[axis] ? &s->inner : &s->outer, shape.dim[axis], &strides[axis]);
    mw__nd_iter_finish(&s->outer);
    mw__nd_iter_finish(&s->inner);
    return inner_kept;
}

/* True if the reduced axes are the last ones, so that result i needs elements [i * reduced, (i + 1) * reduced). */
static bool trailing(mw_shape shape, const bool *reduced)
{
    bool seen = false;
    for (int axis = 0; axis < shape.rank; axis++) {
        if (seen && !reduced[axis] && shape.dim[axis] != 1)
            return false;
        seen = seen || (reduced[axis] && shape.dim[axis] != 1);
    }
    return true;
}

static void choose_loops(reduce_block *s, mw__level level)
{
    s->exp = mw__loop1_find(MW__OP_exp, level);
    s->add_rows = MW__DISPATCH_BEST(add_rows, level);
#if defined(__x86_64__)
    s->sum = level >= MW__LEVEL_AVX2 ? sum_avx2 : sum_base;
    s->most = s->kind == MIN ? (level >= MW__LEVEL_AVX2 ? min_avx2 : min_base)
                             : (level >= MW__LEVEL_AVX2 ? max_avx2 : max_base);
#else
    s->sum = sum_base;
    s->most = s->kind == MIN ? min_base : max_base;
#endif
}

/* ---- the ways to reduce ---- */

typedef struct reduce_request {
    reduce_block *block;
    mw__level level;
    bool columns;
} reduce_request;

static const char *chunks_decline(const void *subject)
{
    const reduce_request *r = subject;
    return r->block->count == 1 && r->block->reduced > 2 * CHUNK ? NULL : "several results, or few elements";
}

/* Fills the block of the small kernels, which only they read. */
static mw__kernel *find_small(const reduce_request *r, mw__reduce_small_find *find)
{
    reduce_block *s = r->block;
    s->small = (mw__reduce_small){.elements = s->elements, .count = s->count, .mean = s->kind == MEAN};
    const bool sums = s->dtype == MW_F32 && (s->kind == SUM || s->kind == MEAN);
    return sums ? find(r->level, &s->outer, &s->inner, &s->small) : NULL;
}

static bool are_columns(const reduce_request *r)
{
    const reduce_block *s = r->block;
    return r->columns || (s->reduced == 1 && s->outer.stride[0][0] == 1);
}

static const char *small_columns_decline(const void *subject)
{
    const reduce_request *r = subject;
    return are_columns(r) && find_small(r, mw__reduce_small_columns) != NULL ? NULL
                                                                             : "no fp32 sums of few rows side by side";
}

static const char *small_rows_decline(const void *subject)
{
    const reduce_request *r = subject;
    return !are_columns(r) && find_small(r, mw__reduce_small_rows) != NULL ? NULL : "no fp32 sums of short rows";
}

static const char *columns_decline(const void *subject)
{
    const reduce_request *r = subject;
    return r->columns ? NULL : "neighbouring results do not read neighbouring elements";
}

static mw__implementations reductions(void)
{
    static const mw__implementation rows[] = {
        {.name = "chunks", .declines = chunks_decline, .run = chunks_run},
        {.name = "small columns", .level = MW__LEVEL_BASE, .declines = small_columns_decline},
        {.name = "small rows", .level = MW__LEVEL_BASE, .declines = small_rows_decline},
        {.name = "columns", .declines = columns_decline, .run = columns_run},
        {.name = "rows", .run = rows_run},
    };
    return MW__IMPLEMENTATIONS(rows);
}

/* Operations that make `to` numbers of `from`; 0 where functions are in it. */
static double folding_flops(const reduce_block *s, double from, double to)
{
    const bool plain = s->kind == SUM || s->kind == MEAN || s->kind == MAX || s->kind == MIN || s->kind == PROD;
    return plain && s->dtype != MW_I32 ? from - to : 0.0;
}

/* x is contiguous here, as every axis is reduced. */
static mw_status plan_chunks(mw__planner *planner, const mw__op *op, const reduce_block *s, double cost, mw_error *err)
{
    const int64_t count = (s->reduced - 1) / CHUNK + 1;
    const size_t unit = sizeof(chunk_totals);
    const uint32_t totals = mw__plan_temporary(planner, (size_t)count * unit);
    mw__step *step = mw__plan_step(planner, chunks_run, op->row->name, count, cost);
    step->block = s;
    step->flops = folding_flops(s, (double)s->reduced, (double)count);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "x")), MW__ROWS, CHUNK * mw__dtype_size(s->dtype),
                  false);
    mw__step_write(planner, step, totals, MW__ROWS, unit);
    step = mw__plan_step(planner, chunks_finish, op->row->name, 1, (double)count * 10.0);
    step->block = s;
    step->flops = folding_flops(s, (double)count + (s->kind == MEAN), 1.0);
    mw__step_read(planner, step, totals, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__ROWS, mw__dtype_size(s->dtype));
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_reduce(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    const mw_shape shape = mw__shape_of(x);
    bool reduced[MW_RANK_MAX];
    if (dtype != MW_F32 && dtype != MW_F16 && dtype != MW_I32)
        return mw__kernel_unsupported(op, dtype, err);
    MW_TRY(reduced_axes(op, shape.rank, reduced, err));
    reduce_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const bool columns = part_loops(s, shape, reduced) && dtype != MW_I32;
    s->kind = kind_of(op->row->id), s->dtype = dtype;
    s->count = mw__count_of(result), s->reduced = mw__nd_iter_count(&s->inner);
    s->plain = (s->kind == SUM || s->kind == MEAN) && dtype == MW_F32 && s->inner.rank == 1;
    choose_loops(s, mw__plan_level(planner));
    const size_t size = mw__dtype_size(dtype);
    const double count = (double)mw__count_of(x), flops = s->kind == LOG_SUM_EXP ? 24 : 1;
    const double cost = mw__cost(count * (double)size, count * flops);
    const reduce_request r = {.block = s, .level = mw__plan_level(planner), .columns = columns};
    const mw__implementation *taken = mw__plan_implementation(planner, reductions(), &r);
    if (taken->run == chunks_run)
        return plan_chunks(planner, op, s, cost, err);
    const bool rows = trailing(shape, reduced) && !columns && s->reduced > 0;
    s->trailing = rows;
    const mw__units split =
        rows ? (mw__units){.units = s->count, .elements = 1} : mw__units_of(planner, mw__shape_of(result));
    s->elements = split.elements;
    mw__kernel *const run = taken->run != NULL
                                ? taken->run
                                : find_small(&r, are_columns(&r) ? mw__reduce_small_columns : mw__reduce_small_rows);
    mw__step *step = mw__plan_step(planner, run, op->row->name, split.units, cost);
    step->block = taken->run != NULL ? (const void *)s : &s->small;
    step->flops = folding_flops(s, count, s->kind == MEAN ? 0.0 : (double)s->count);
    if (rows)
        mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)s->reduced * size, false);
    else
        mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * size);
    return mw__plan_check(planner, err);
}
