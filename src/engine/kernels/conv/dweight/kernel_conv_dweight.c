/* The gradient of a convolution by its weight, and by its bias where that is wanted too: tiles of 4 or 8 output
 * channels by 3 columns (an input channel and a tap each) stay in registers while the vectors of y of a few examples
 * run. The batch is cut into parts, whose sums are added in order afterwards; parts depend on shapes and partitions
 * only.
 *
 * The operations that it stands for are a convolution over transposed operands and a sum, which add the same products
 * in another order: results agree to rounding, not to the bit. */
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_direct.h"
#include "engine/kernels/implementation.h"
#include "engine/kernels/reduce/plane_sums.h"
#include "engine/kernels/winograd_rows.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define WIDTH   16 /* of a vector of the tile, at most */
#define OUTPUTS 8  /* of a tile, at most */
#define COLUMNS 3
#define SHARE   4    /* examples of a part */
#define NEAR    8192 /* floats of dy that stay in the first-level cache */

/* ---- the tile ---- */

typedef struct tile {
    const float *x[COLUMNS], *dy[OUTPUTS];
    int64_t whole, vectors, examples;
    int64_t x_step, dy_step;     /* floats between examples */
    int64_t last;                /* where the vector after the whole ones begins */
    const uint32_t *fresh;       /* [width]: bits to keep in it */
    float sum[COLUMNS][OUTPUTS]; /* out */
} tile;

typedef void tile_function(tile *t);

#define UNROLL _Pragma("GCC unroll 16")
#define TILE_STEP(outputs, at, vector, load, fma, keep)                                                                \
    {                                                                                                                  \
        vector x[COLUMNS];                                                                                             \
        UNROLL for (int k = 0; k < COLUMNS; k++) x[k] = load(t->x[k] + x_at + (at) + part);                            \
        UNROLL for (int o = 0; o < (outputs); o++)                                                                     \
        {                                                                                                              \
            const vector dy = keep(load(t->dy[o] + dy_at + (at) + part));                                              \
            UNROLL for (int k = 0; k < COLUMNS; k++) sum[o][k] = fma(sum[o][k], dy, x[k]);                             \
        }                                                                                                              \
    }
#define ALL(value) (value)
/* `all` floats are taken at a time, in vectors of `width`. */
#define TILE_FUNCTION(outputs, all, vector, width, zero, load, fma, keep, finish)                                      \
    {                                                                                                                  \
        for (int part = 0; part < (all); part += (width)) {                                                            \
            vector sum[outputs][COLUMNS];                                                                              \
            UNROLL for (int o = 0; o < (outputs); o++) UNROLL for (int k = 0; k < COLUMNS; k++) sum[o][k] = zero;      \
            for (int64_t n = 0; n < t->examples; n++) {                                                                \
                const int64_t x_at = n * t->x_step, dy_at = n * t->dy_step;                                            \
                for (int64_t v = 0; v < t->whole; v++)                                                                 \
                    TILE_STEP(outputs, v *(all), vector, load, fma, ALL)                                               \
                if (t->whole < t->vectors)                                                                             \
                    TILE_STEP(outputs, t->last, vector, load, fma, keep)                                               \
            }                                                                                                          \
            UNROLL for (int k = 0; k < COLUMNS; k++) finish;                                                           \
        }                                                                                                              \
    }
#define FOUR(finish) finish(t->sum[k], sum[0][k], sum[1][k], sum[2][k], sum[3][k])

/* clang-format off */
#if defined(__x86_64__)
#define AVX2_FMA(sum, x, y) _mm256_fmadd_ps(x, y, sum)
#define AVX2_KEEP(value)                                                                                               \
    _mm256_and_ps(value, _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)(t->fresh + part))))
/* The sums of four vectors. */
#define AVX2_FINISH(out, a, b, c, d)                                                                                   \
    {                                                                                                                  \
        const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));                               \
        _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));                \
    }
__attribute__((target("avx2,fma"))) static void tile_avx2(tile *t)
TILE_FUNCTION(4, 8, __m256, 8, _mm256_setzero_ps(), _mm256_loadu_ps, AVX2_FMA, AVX2_KEEP, FOUR(AVX2_FINISH))
#define AVX512_FMA(sum, x, y) _mm512_fmadd_ps(x, y, sum)
#define AVX512_KEEP(value)                                                                                              \
    _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(value), _mm512_loadu_si512(t->fresh)))
#define AVX512_FINISH UNROLL for (int o = 0; o < 8; o++) t->sum[k][o] = _mm512_reduce_add_ps(sum[o][k])
__attribute__((target("avx512f"))) static void tile_avx512(tile *t)
TILE_FUNCTION(8, 16, __m512, 16, _mm512_setzero_ps(), _mm512_loadu_ps, AVX512_FMA, AVX512_KEEP, AVX512_FINISH)
#define BASE_FMA(sum, x, y) _mm_add_ps(sum, _mm_mul_ps(x, y))
#define BASE_KEEP(value)                                                                                               \
    _mm_and_ps(value, _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)(t->fresh + part))))
#define BASE_FINISH(out, a, b, c, d)                                                                                   \
    {                                                                                                                  \
        __m128 p = a, q = b, r = c, s = d;                                                                             \
        _MM_TRANSPOSE4_PS(p, q, r, s);                                                                                 \
        const __m128 all = _mm_add_ps(_mm_add_ps(p, q), _mm_add_ps(r, s));                                             \
        _mm_storeu_ps(out, part == 0 ? all : _mm_add_ps(_mm_loadu_ps(out), all));                                      \
    }
static void tile_base(tile *t)
TILE_FUNCTION(4, 8, __m128, 4, _mm_setzero_ps(), _mm_loadu_ps, BASE_FMA, BASE_KEEP, FOUR(BASE_FINISH))
#elif defined(__aarch64__)
#define BASE_KEEP(value)                                                                                               \
    vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(value), vld1q_u32(t->fresh + part)))
#define BASE_FINISH(out, a, b, c, d)                                                                                   \
    {                                                                                                                  \
        const float32x4_t all = vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d));                                        \
        vst1q_f32(out, part == 0 ? all : vaddq_f32(vld1q_f32(out), all));                                              \
    }
static void tile_base(tile *t)
TILE_FUNCTION(4, 8, float32x4_t, 4, vdupq_n_f32(0.0f), vld1q_f32, vfmaq_f32, BASE_KEEP, FOUR(BASE_FINISH))
#else
#define PLAIN_LOAD(p)        (*(p))
#define PLAIN_FMA(sum, x, y) ((sum) + (x) * (y))
#define PLAIN_KEEP(value)    (t->fresh[part] != 0 ? (value) : 0.0f)
#define PLAIN_FINISH(out, a, b, c, d)                                                                                  \
    {                                                                                                                  \
        const float all[4] = {a, b, c, d};                                                                             \
        for (int o = 0; o < 4; o++)                                                                                    \
            (out)[o] = part == 0 ? all[o] : (out)[o] + all[o];                                                         \
    }
static void tile_base(tile *t)
TILE_FUNCTION(4, 8, float, 1, 0.0f, PLAIN_LOAD, PLAIN_FMA, PLAIN_KEEP, FOUR(PLAIN_FINISH))
#endif

/* A tile's code and extents. */
typedef struct tile_form {
    tile_function *run;
    int64_t outputs, width;
} tile_form;

/* clang-format on */

/* ---- the steps ---- */

typedef struct dweight_block {
    mw__direct direct;
    mw__dweight_parts parts;
    int64_t batch; /* examples copied at a time */
    tile_form tile;
    mw__plane_sums *plane;
    uint32_t fresh[WIDTH];
} dweight_block;

/* Adds the products of `examples` examples, whose x are in `images`, to sums [outputs, depth]. */
static void add_group(const dweight_block *s, const float *images, const float *dy, int64_t examples, float *sums)
{
    const mw__direct *d = &s->direct;
    const int64_t area = d->window.area_out, width = s->tile.width, most = s->tile.outputs;
    tile t = {.whole = area / width, .vectors = (area + width - 1) / width, .examples = examples, .last = area - width};
    t.x_step = d->image, t.dy_step = d->groups * d->outputs * area, t.fresh = s->fresh;
    for (int64_t first = 0; first < d->outputs; first += most)
        for (int64_t at = 0; at < d->depth; at += COLUMNS) {
            const int64_t outputs = mw__i64_min(most, d->outputs - first),
                          columns = mw__i64_min(COLUMNS, d->depth - at);
            for (int64_t o = 0; o < most; o++) /* the last again where there are fewer */
                t.dy[o] = dy + (first + mw__i64_min(o, outputs - 1)) * area;
            for (int64_t k = 0; k < COLUMNS; k++)
                t.x[k] = images + d->tap[at + mw__i64_min(k, columns - 1)];
            s->tile.run(&t);
            for (int64_t o = 0; o < outputs; o++)
                for (int64_t k = 0; k < columns; k++)
                    sums[(first + o) * d->depth + at + k] += t.sum[k][o];
        }
}

/* Examples [n, n + count). */
static void add_examples(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t count, float *sums)
{
    const mw__direct *d = &s->direct;
    const mw__conv_window *w = &d->window;
    const int64_t x_size = d->inputs * w->area_in, dy_size = d->outputs * w->area_out;
    float *const images = call->scratch;
    for (int64_t i = n; s->parts.biases > 0 && i < n + count; i++)
        s->plane((const float *)call->in[1] + i * d->groups * dy_size, s->parts.biases, w->area_out,
                 sums + s->parts.weights);
    for (int64_t group = 0; group < d->groups; group++) {
        const float *x = (const float *)call->in[0] + (n * d->groups + group) * x_size;
        const float *dy = (const float *)call->in[1] + (n * d->groups + group) * dy_size;
        for (int64_t i = 0; i < count; i++)
            mw__direct_copy(d, x + i * d->groups * x_size, 0, images + i * d->image);
        add_group(s, images, dy, count, sums + group * d->outputs * d->depth);
    }
}

/* A unit is a part. */
static void dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        float *const sums = (float *)call->out[0] + unit * s->parts.stride;
        const int64_t end = mw__i64_min((unit + 1) * s->parts.share, s->direct.examples);
        memset(sums, 0, (size_t)s->parts.stride * sizeof *sums);
        for (int64_t n = unit * s->parts.share; n < end; n += s->batch)
            add_examples(s, call, n, mw__i64_min(s->batch, end - n), sums);
    }
}

#define SUM_UNIT 256

/* What the parts hold of one result. */
typedef struct sum_block {
    int64_t first, count, stride, parts;
} sum_block;

static void sum_run(const mw__kernel_call *call)
{
    const sum_block *s = call->block;
    const int64_t begin = call->begin * SUM_UNIT, end = mw__i64_min(call->end * SUM_UNIT, s->count);
    const float *sums = (const float *)call->in[0] + s->first;
    float *const out = call->out[0];
    memcpy(out + begin, sums + begin, (size_t)(end - begin) * sizeof *out);
    for (int64_t part = 1; part < s->parts; part++) {
        sums += s->stride;
        MW__VECTORIZE for (int64_t i = begin; i < end; i++) out[i] += sums[i];
    }
}

/* ---- planning ---- */

#define COUNT_MOST 131072 /* elements of the weight */
#define PARTS_MOST 524288 /* elements of all parts */

/* For the direct kernels. */
static mw__direct read_direct(const mw__conv_dweight_match *match)
{
    const mw_shape weight = mw__shape_of(match->dweight);
    const int64_t groups = match->numbers.groups;
    const mw__conv_window window = mw__conv_window_of(&match->numbers);
    return (mw__direct){.window = window,
                        .rows = window.out[1],
                        .groups = groups,
                        .examples = mw__shape_of(match->x).dim[0],
                        .inputs = weight.dim[1],
                        .outputs = weight.dim[0] / groups};
}

static const char *direct_declines(const void *subject)
{
    const mw__conv_dweight_match *match = subject;
    mw__direct direct = read_direct(match);
    return mw__count_of(match->dweight) <= COUNT_MOST && mw__direct_suits(&direct, MW_F32, false)
               ? NULL
               : "a large weight, or an image beyond the cache";
}

bool mw__conv_dweight_suits(const mw__conv_dweight_match *match, const mw_tensor *weight)
{
    mw__conv_dweight_match asked = *match;
    asked.dweight = weight;
    return mw__dtype_of(weight) == MW_F32 && mw__count_of(match->dy) > 0 && mw__count_of(weight) > 0 &&
           (mw__conv_dweight_depthwise_declines(&asked) == NULL || mw__conv_dweight_packed_declines(&asked) == NULL ||
            direct_declines(&asked) == NULL);
}

mw__dweight_parts mw__dweight_parts_of(const mw__planner *planner, const mw__conv_dweight_match *match, int64_t share)
{
    const int64_t partitions = mw__plan_partitions(planner), examples = mw__shape_of(match->dy).dim[0];
    mw__dweight_parts p = {.share = share, .weights = mw__count_of(match->dweight)};
    const int64_t most = PARTS_MOST / p.weights > partitions ? PARTS_MOST / p.weights : partitions;
    while ((examples + p.share - 1) / p.share > most)
        p.share *= 2;
    while (p.share > 1 && (examples + p.share - 1) / p.share < partitions)
        p.share /= 2;
    p.parts = (examples + p.share - 1) / p.share;
    p.biases = match->dbias != NULL ? mw__count_of(match->dbias) : 0;
    p.stride = (p.weights + p.biases + 15) / 16 * 16;
    return p;
}

static void plan_sum(mw__planner *planner, const mw__dweight_parts *parts, uint32_t partial, int64_t first,
                     const mw_tensor *result)
{
    sum_block *sum = mw__plan_block(planner, sizeof *sum);
    if (sum == NULL)
        return;
    *sum = (sum_block){.first = first, .count = mw__count_of(result), .stride = parts->stride, .parts = parts->parts};
    mw__step *step = mw__plan_step(planner, sum_run, "conv.dweight.sum", (sum->count + SUM_UNIT - 1) / SUM_UNIT,
                                   mw__cost(4.0 * (double)(sum->count * parts->parts), 0.0));
    step->block = sum;
    step->report.helper = true;
    step->report.flops = (double)(sum->count * (parts->parts - 1));
    mw__step_read(planner, step, partial, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, SUM_UNIT * sizeof(float));
}

void mw__dweight_plan_sums(mw__planner *planner, const mw__dweight_parts *parts, uint32_t partial,
                           const mw__conv_dweight_match *match)
{
    plan_sum(planner, parts, partial, 0, match->dweight);
    if (match->dbias != NULL)
        plan_sum(planner, parts, partial, parts->weights, match->dbias);
}

#if defined(__x86_64__)
static const char *avx512_declines(const void *subject)
{
    const mw__direct *d = subject;
    return d->outputs > 4 && d->window.area_out >= 16 ? NULL : "few channels or positions: idle lanes";
}
#endif

static tile_form choose_tile(mw__planner *planner, const mw__direct *d)
{
    static const mw__implementation rows[] = {
#if defined(__x86_64__)
        {.name = "avx512", .level = MW__LEVEL_AVX512, .declines = avx512_declines},
        {.name = "avx2", .level = MW__LEVEL_AVX2},
#endif
        {.name = "base"},
    };
    static const tile_form forms[] = {
#if defined(__x86_64__)
        {.run = tile_avx512, .outputs = 8, .width = 16},
        {.run = tile_avx2, .outputs = 4, .width = 8},
#endif
        {.run = tile_base, .outputs = 4, .width = 8},
    };
    return forms[mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), d) - rows];
}

static void fill_block(mw__planner *planner, const mw__conv_dweight_match *match, dweight_block *s)
{
    mw__direct_prepare(planner, &s->direct);
    const int64_t area = s->direct.window.area_out;
    s->parts = mw__dweight_parts_of(planner, match, SHARE);
    s->tile = choose_tile(planner, &s->direct);
    s->plane = mw__plane_sums_of(mw__plan_level(planner));
    for (int64_t i = 0; i < s->tile.width; i++)
        s->fresh[i] = i >= s->tile.width - area % s->tile.width ? UINT32_MAX : 0;
    const int64_t near = NEAR / (s->tile.outputs * area);
    s->batch = near < 1 ? 1 : mw__i64_min(near, SHARE);
}

static mw_status plan_direct(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    dweight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    s->direct = read_direct(match);
    const mw__direct *d = &s->direct;
    const mw__conv_window *w = &d->window;
    fill_block(planner, match, s);
    const size_t sums = (size_t)s->parts.stride * sizeof(float), channels = (size_t)(s->parts.share * d->groups);
    const uint32_t partial = mw__plan_temporary(planner, sums * (size_t)s->parts.parts);
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)d->depth;
    mw__step *step = mw__plan_step(planner, dweight_run, "conv.dweight", s->parts.parts, 0.02 * flops);
    step->block = s;
    step->report.flops = flops;
    step->scratch = (size_t)(s->batch * d->image) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__ROWS,
                  channels * (size_t)(d->inputs * w->area_in) * sizeof(float), false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__ROWS,
                  channels * (size_t)(d->outputs * w->area_out) * sizeof(float), false);
    mw__step_write(planner, step, partial, MW__ROWS, sums);
    mw__dweight_plan_sums(planner, &s->parts, partial, match);
    return mw__plan_check(planner, err);
}

#define INPUTS_LEAST  8 /* of a group: fewer leave lanes of packed frames idle */
#define OUTPUTS_LEAST 4

static const char *packed_declines(const void *subject)
{
    const mw__conv_dweight_match *match = subject;
    const mw_shape weight = mw__shape_of(match->dweight);
    const bool few = weight.dim[1] < INPUTS_LEAST || weight.dim[0] / match->numbers.groups < OUTPUTS_LEAST;
    return few && direct_declines(match) == NULL ? "few channels in a group" : mw__conv_dweight_packed_declines(match);
}

mw_status mw__plan_conv_dweight(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    static const mw__implementation rows[] = {
        {.name = "depthwise", .level = MW__LEVEL_BASE, .declines = mw__conv_dweight_depthwise_declines},
        {.name = "winograd",
         .level = MW__LEVEL_BASE,
         .declines = mw__winograd_dweight_declines,
         .approximates = true,
         .adds_freely = true},
        {.name = "winograd.lines",
         .level = MW__LEVEL_BASE,
         .declines = mw__winograd_lines_dweight_declines,
         .approximates = true,
         .adds_freely = true},
        {.name = "packed", .level = MW__LEVEL_BASE, .declines = packed_declines},
        {.name = "direct"},
    };
    static mw_status (*const plans[])(mw__planner *, const mw__conv_dweight_match *, mw_error *) = {
        mw__plan_conv_dweight_depthwise, mw__plan_winograd_dweight, mw__plan_winograd_lines_dweight,
        mw__plan_conv_dweight_packed, plan_direct};
    return plans[mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), match) - rows](planner, match, err);
}
