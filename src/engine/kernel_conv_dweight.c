/* The gradient of a convolution by its weight, and by its bias where that is wanted too, recognised by engine/idiom.h:
 * tiles of 4 output channels by 3 columns (an input channel and a tap each) stay in registers while the vectors of y of
 * a few examples run. The batch is cut into parts, whose sums are added in order afterwards; parts depend on shapes and
 * lanes only.
 *
 * The operations that it stands for are a convolution over transposed operands and a sum, which add the same products
 * in another order: results agree to rounding, not to the bit. */
#include "engine/idiom.h"
#include "engine/kernel_conv_direct.h"
#include "engine/lanes.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define WIDTH   MW__DIRECT_WIDTH
#define OUTPUTS MW__DIRECT_OUTPUTS
#define COLUMNS 3
#define BATCH   4 /* examples copied at a time */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- the tile ---- */

typedef struct tile {
    const float *x[COLUMNS], *dy[OUTPUTS];
    int64_t whole, vectors, examples;
    int64_t x_step, dy_step;     /* floats between examples */
    int64_t last;                /* where the vector after the whole ones begins */
    const uint32_t *fresh;       /* [WIDTH]: bits to keep in it */
    float sum[COLUMNS][OUTPUTS]; /* out */
} tile;

typedef void tile_function(tile *t);

#define UNROLL _Pragma("GCC unroll 16")
#define TILE_STEP(at, vector, load, fma, keep)                                                                         \
    {                                                                                                                  \
        vector x[COLUMNS];                                                                                             \
        UNROLL for (int k = 0; k < COLUMNS; k++) x[k] = load(t->x[k] + x_at + (at) + part);                            \
        UNROLL for (int o = 0; o < OUTPUTS; o++)                                                                       \
        {                                                                                                              \
            const vector dy = keep(load(t->dy[o] + dy_at + (at) + part));                                              \
            UNROLL for (int k = 0; k < COLUMNS; k++) sum[o][k] = fma(sum[o][k], dy, x[k]);                             \
        }                                                                                                              \
    }
#define ALL(value) (value)
#define TILE_FUNCTION(vector, width, zero, load, fma, keep, finish)                                                    \
    {                                                                                                                  \
        for (int part = 0; part < WIDTH; part += (width)) {                                                            \
            vector sum[OUTPUTS][COLUMNS];                                                                              \
            UNROLL for (int o = 0; o < OUTPUTS; o++) UNROLL for (int k = 0; k < COLUMNS; k++) sum[o][k] = zero;        \
            for (int64_t n = 0; n < t->examples; n++) {                                                                \
                const int64_t x_at = n * t->x_step, dy_at = n * t->dy_step;                                            \
                for (int64_t v = 0; v < t->whole; v++)                                                                 \
                    TILE_STEP(v *WIDTH, vector, load, fma, ALL)                                                        \
                if (t->whole < t->vectors)                                                                             \
                    TILE_STEP(t->last, vector, load, fma, keep)                                                        \
            }                                                                                                          \
            UNROLL for (int k = 0; k < COLUMNS; k++) finish(t->sum[k], sum[0][k], sum[1][k], sum[2][k], sum[3][k]);    \
        }                                                                                                              \
    }

/* clang-format off */
#if defined(__x86_64__)
#define WIDE_FMA(sum, x, y) _mm256_fmadd_ps(x, y, sum)
#define WIDE_KEEP(value)                                                                                               \
    _mm256_and_ps(value, _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)(t->fresh + part))))
/* The sums of four vectors. */
#define WIDE_FINISH(out, a, b, c, d)                                                                                   \
    {                                                                                                                  \
        const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));                               \
        _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));                \
    }
__attribute__((target("avx2,fma"))) static void tile_wide(tile *t)
TILE_FUNCTION(__m256, 8, _mm256_setzero_ps(), _mm256_loadu_ps, WIDE_FMA, WIDE_KEEP, WIDE_FINISH)
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
TILE_FUNCTION(__m128, 4, _mm_setzero_ps(), _mm_loadu_ps, BASE_FMA, BASE_KEEP, BASE_FINISH)
#elif defined(__aarch64__)
#define BASE_KEEP(value)                                                                                               \
    vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(value), vld1q_u32(t->fresh + part)))
#define BASE_FINISH(out, a, b, c, d)                                                                                   \
    {                                                                                                                  \
        const float32x4_t all = vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d));                                        \
        vst1q_f32(out, part == 0 ? all : vaddq_f32(vld1q_f32(out), all));                                              \
    }
static void tile_base(tile *t)
TILE_FUNCTION(float32x4_t, 4, vdupq_n_f32(0.0f), vld1q_f32, vfmaq_f32, BASE_KEEP, BASE_FINISH)
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
TILE_FUNCTION(float, 1, 0.0f, PLAIN_LOAD, PLAIN_FMA, PLAIN_KEEP, PLAIN_FINISH)
#endif

static tile_function *choose_tile(mw__level level)
{
#if defined(__x86_64__)
    if (level == MW__LEVEL_WIDE && __builtin_cpu_supports("fma"))
        return tile_wide;
#endif
    (void)level;
    return tile_base;
}
/* clang-format on */

MW__INLINE void sum_planes_body(const float *x, int64_t count, int64_t area, float *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] += mw__lanes_sum(x + i * area, area);
}
MW__TWICE(sum_planes, (const float *x, int64_t count, int64_t area, float *out), (x, count, area, out))

/* Adds to out [count] the sums of planes [count, area]. */
typedef void plane_sum(const float *x, int64_t count, int64_t area, float *out);

/* ---- the steps ---- */

typedef struct dweight_block {
    mw__direct direct;
    int64_t share, parts; /* examples of a part */
    int64_t count;        /* elements of the weight */
    int64_t biases;       /* sums of dy that follow them in a part, or 0 */
    int64_t stride;       /* floats of a part */
    tile_function *tile;
    plane_sum *plane;
    uint32_t fresh[WIDTH];
} dweight_block;

/* Adds the products of `examples` examples, whose x are in `images`, to sums
 * [outputs, depth]. */
static void add_group(const dweight_block *s, const float *images, const float *dy, int64_t examples, float *sums)
{
    const mw__direct *d = &s->direct;
    tile t = {.whole = d->whole, .vectors = d->vectors, .examples = examples, .last = d->window.area_out - WIDTH};
    t.x_step = d->image, t.dy_step = d->groups * d->outputs * d->window.area_out, t.fresh = s->fresh;
    for (int64_t first = 0; first < d->outputs; first += OUTPUTS)
        for (int64_t at = 0; at < d->depth; at += COLUMNS) {
            const int64_t outputs = smaller(OUTPUTS, d->outputs - first), columns = smaller(COLUMNS, d->depth - at);
            for (int64_t o = 0; o < OUTPUTS; o++) /* the last again where there are fewer */
                t.dy[o] = dy + (first + smaller(o, outputs - 1)) * d->window.area_out;
            for (int64_t k = 0; k < COLUMNS; k++)
                t.x[k] = images + d->tap[at + smaller(k, columns - 1)];
            s->tile(&t);
            for (int64_t o = 0; o < outputs; o++)
                for (int64_t k = 0; k < columns; k++)
                    sums[(first + o) * d->depth + at + k] += t.sum[k][o];
        }
}

/* A unit is a part. */
static void dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    const mw__direct *d = &s->direct;
    const mw__conv_window *w = &d->window;
    const int64_t x_size = d->inputs * w->area_in, dy_size = d->outputs * w->area_out;
    float *const images = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        float *const sums = (float *)call->out[0] + unit * s->stride;
        const int64_t end = smaller((unit + 1) * s->share, d->examples);
        memset(sums, 0, (size_t)s->stride * sizeof *sums);
        for (int64_t n = unit * s->share, here; n < end; n += here) {
            here = smaller(BATCH, end - n);
            for (int64_t i = n; s->biases > 0 && i < n + here; i++)
                s->plane((const float *)call->in[1] + i * s->biases * w->area_out, s->biases, w->area_out,
                         sums + s->count);
            for (int64_t group = 0; group < d->groups; group++) {
                const float *x = (const float *)call->in[0] + (n * d->groups + group) * x_size;
                const float *dy = (const float *)call->in[1] + (n * d->groups + group) * dy_size;
                for (int64_t i = 0; i < here; i++)
                    mw__direct_copy(d, x + i * d->groups * x_size, images + i * d->image);
                add_group(s, images, dy, here, sums + group * d->outputs * d->depth);
            }
        }
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
    const int64_t begin = call->begin * SUM_UNIT, end = smaller(call->end * SUM_UNIT, s->count);
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

/* Window, channels and examples of a conv, for the direct kernels. */
static bool read_direct(const mw__op *conv, mw__direct *out)
{
    mw_error ignored = {0};
    const mw_shape weight = mw__shape_of(mw__arg(conv, "weight"));
    *out = (mw__direct){.examples = mw__shape_of(mw__arg(conv, "x")).dim[0]};
    if (mw__conv_window_read(conv, &out->window, &out->groups, &ignored) != MW_OK)
        return false;
    out->inputs = weight.dim[1], out->outputs = weight.dim[0] / out->groups;
    return true;
}

bool mw__conv_dweight_suits(const mw__op *conv)
{
    mw__direct direct;
    const mw_tensor *weight = mw__arg(conv, "weight");
    return mw__dtype_of(weight) == MW_F32 && mw__count_of(conv->results[0]) > 0 && mw__count_of(weight) <= COUNT_MOST &&
           read_direct(conv, &direct) && mw__direct_suits(&direct, MW_F32);
}

/* Parts of a batch, but at least one a lane and no more memory than the
 * weight's size allows. */
static void choose_parts(dweight_block *s, int64_t lanes)
{
    const int64_t examples = s->direct.examples, most = PARTS_MOST / s->count > lanes ? PARTS_MOST / s->count : lanes;
    s->share = BATCH;
    while ((examples + s->share - 1) / s->share > most)
        s->share *= 2;
    while (s->share > 1 && (examples + s->share - 1) / s->share < lanes)
        s->share /= 2;
    s->parts = (examples + s->share - 1) / s->share;
}

static void plan_sum(mw__planner *planner, const dweight_block *s, uint32_t partial, int64_t first,
                     const mw_tensor *result)
{
    sum_block *sum = mw__plan_block(planner, sizeof *sum);
    if (sum == NULL)
        return;
    *sum = (sum_block){.first = first, .count = mw__count_of(result), .stride = s->stride, .parts = s->parts};
    mw__step *step = mw__plan_step(planner, sum_run, "conv.dweight.sum", (sum->count + SUM_UNIT - 1) / SUM_UNIT,
                                   mw__cost(4.0 * (double)(sum->count * s->parts), 0.0));
    step->block = sum;
    step->flops = (double)(sum->count * (s->parts - 1));
    mw__step_read(planner, step, partial, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, SUM_UNIT * sizeof(float));
}

mw_status mw__plan_conv_dweight(mw__planner *planner, const mw__idiom *idiom, mw_error *err)
{
    dweight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !read_direct(idiom->forward, &s->direct))
        return mw__plan_check(planner, err);
    const mw__direct *d = &s->direct;
    const mw__conv_window *w = &d->window;
    mw__direct_prepare(planner, &s->direct);
    s->count = mw__count_of(idiom->result);
    s->biases = idiom->dbias != NULL ? d->groups * d->outputs : 0;
    s->stride = (s->count + s->biases + 15) / 16 * 16;
    s->tile = choose_tile(mw__kernel_level());
    s->plane = MW__PICK(sum_planes, mw__kernel_level());
    for (int64_t i = 0; i < WIDTH; i++)
        s->fresh[i] = i >= WIDTH - d->fresh ? UINT32_MAX : 0;
    choose_parts(s, mw__plan_lanes(planner));
    const size_t sums = (size_t)s->stride * sizeof(float), example = (size_t)(s->share * d->groups) * sizeof(float);
    const uint32_t partial = mw__plan_temporary(planner, sums * (size_t)s->parts);
    const double flops = 2.0 * (double)mw__count_of(idiom->dy) * (double)d->depth;
    mw__step *step = mw__plan_step(planner, dweight_run, "conv.dweight", s->parts, 0.02 * flops);
    step->block = s;
    step->flops = flops;
    step->scratch = (size_t)(BATCH * d->image) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, idiom->x), MW__ROWS,
                  example * (size_t)(d->inputs * w->area_in), false);
    mw__step_read(planner, step, mw__plan_buffer(planner, idiom->dy), MW__ROWS,
                  example * (size_t)(d->outputs * w->area_out), false);
    mw__step_write(planner, step, partial, MW__ROWS, sums);
    plan_sum(planner, s, partial, 0, idiom->result);
    if (idiom->dbias != NULL)
        plan_sum(planner, s, partial, s->count, idiom->dbias);
    return mw__plan_check(planner, err);
}
