/* Direct convolution, forward: tiles of 4 channels by 3 vectors of a row stay
 * in registers while channels and taps run. The weight is packed once a step.
 * Sums run over channels and taps in order, fused multiply-add where the
 * processor has it. The general form and the plain loops are in kernel_conv.c.
 */
#include "engine/kernels/conv/kernel_conv_direct.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define WIDTH   MW__DIRECT_WIDTH
#define OUTPUTS MW__DIRECT_OUTPUTS
#define VECTORS MW__DIRECT_VECTORS

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- geometry ---- */

#define IMAGE_FLOATS 131072 /* of a partition's copy: beyond it columns and a product are as good */
#define EXTENT       65536
#define DEPTH        2048

/* Rows of a phase: those that the windows of one row of the kernel read, and
 * what further rows of it add. */
static int64_t rows_of(const mw__conv_window *w)
{
    return w->out[1] + (w->kernel[1] - 1) * w->dilation[1] / w->stride[1];
}

/* Phases of rows that some row of the kernel needs. */
static int64_t phases_of(const mw__conv_window *w)
{
    const int64_t span = (w->kernel[1] - 1) * w->dilation[1] + 1;
    return smaller(w->stride[1], span);
}

bool mw__direct_suits(const mw__direct *d, mw_dtype dtype)
{
    const mw__conv_window *w = &d->window;
    if (dtype != MW_F32 || w->kernel[0] != 1 || w->in[0] != 1 || w->out[0] != 1 || w->area_out < WIDTH)
        return false;
    for (int i = 1; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT || w->stride[i] > EXTENT ||
            w->dilation[i] > EXTENT || w->before[i] > EXTENT)
            return false;
    const int64_t column = w->out[2] * w->kernel[2], rows = rows_of(w) * phases_of(w);
    return column <= IMAGE_FLOATS && rows <= IMAGE_FLOATS / column && d->inputs > 0 &&
           d->inputs <= IMAGE_FLOATS / (rows * column) && d->inputs <= DEPTH / w->taps;
}

static void fill_taps(const mw__direct *d, int32_t *tap)
{
    const mw__conv_window *w = &d->window;
    for (int64_t c = 0; c < d->inputs; c++)
        for (int64_t y = 0; y < w->kernel[1]; y++)
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                const int64_t at = y * w->dilation[1];
                *tap++ = (int32_t)(c * d->plane + x * d->column + at % w->stride[1] * d->phase +
                                   at / w->stride[1] * w->out[2]);
            }
}

void mw__direct_prepare(mw__planner *planner, mw__direct *d)
{
    const mw__conv_window *w = &d->window;
    d->depth = d->inputs * w->taps;
    d->phase = rows_of(w) * w->out[2];
    d->column = phases_of(w) * d->phase;
    d->plane = w->kernel[2] * d->column;
    d->image = d->inputs * d->plane;
    d->whole = w->area_out / WIDTH;
    d->fresh = w->area_out % WIDTH;
    d->vectors = d->whole + (d->fresh > 0);
    int32_t *const tap = mw__plan_block(planner, (size_t)d->depth * sizeof *tap);
    if (tap != NULL)
        fill_taps(d, tap);
    d->tap = tap;
}

/* out[i] = row[first + i * stride], zeros outside of the row */
static void copy_row(const mw__conv_window *w, const float *row, int64_t first, float *out)
{
    const int64_t stride = w->stride[2], count = w->out[2];
    int64_t begin = first < 0 ? (-first + stride - 1) / stride : 0;
    int64_t end = first < w->in[2] ? (w->in[2] - 1 - first) / stride + 1 : 0;
    begin = smaller(begin, count);
    end = end < begin ? begin : smaller(end, count);
    for (int64_t i = 0; i < begin; i++)
        out[i] = 0.0f;
    if (stride == 1)
        memcpy(out + begin, row + first + begin, (size_t)(end - begin) * sizeof *out);
    else
        for (int64_t i = begin; i < end; i++)
            out[i] = row[first + i * stride];
    for (int64_t i = end; i < count; i++)
        out[i] = 0.0f;
}

static void copy_rows(const mw__direct *d, const float *x, int64_t phase, int64_t first, float *out)
{
    const mw__conv_window *w = &d->window;
    for (int64_t r = 0; r < rows_of(w); r++, out += w->out[2]) {
        const int64_t y = r * w->stride[1] + phase - w->before[1];
        if (y < 0 || y >= w->in[1])
            memset(out, 0, (size_t)w->out[2] * sizeof *out);
        else
            copy_row(w, x + y * w->in[2], first, out);
    }
}

/* All rows at once, where they lie as densely in x as in the copy; then the elements that came from a neighbour row. */
static void copy_plane(const mw__direct *d, const float *x, int64_t first, float *out)
{
    const mw__conv_window *w = &d->window;
    const int64_t rows = rows_of(w), width = w->out[2];
    const int64_t begin = smaller(w->before[1], rows), left = rows - begin;
    const int64_t inside = smaller(w->in[1], left), cut = first < 0 ? -first : first;
    memset(out, 0, (size_t)(begin * width) * sizeof *out);
    out += begin * width;
    memset(out + inside * width, 0, (size_t)((left - inside) * width) * sizeof *out);
    if (inside == 0)
        return;
    memcpy(out + (first < 0 ? cut : 0), x + (first > 0 ? cut : 0), (size_t)(inside * width - cut) * sizeof *out);
    float *const edge = out + (first < 0 ? 0 : width - cut);
    for (int64_t r = 0; r < inside; r++)
        for (int64_t i = 0; i < cut; i++)
            edge[r * width + i] = 0.0f;
}

static void copy_phase(const mw__direct *d, const float *x, int64_t phase, int64_t first, float *out)
{
    const mw__conv_window *w = &d->window;
    const bool dense = w->stride[1] == 1 && w->stride[2] == 1 && w->in[2] == w->out[2];
    if (dense && first > -w->in[2] && first < w->in[2])
        copy_plane(d, x, first, out);
    else
        copy_rows(d, x, phase, first, out);
}

void mw__direct_copy(const mw__direct *d, const float *x, float *out)
{
    const mw__conv_window *w = &d->window;
    for (int64_t c = 0; c < d->inputs; c++, x += w->area_in)
        for (int64_t column = 0; column < w->kernel[2]; column++)
            for (int64_t phase = 0; phase < phases_of(w); phase++, out += d->phase)
                copy_phase(d, x, phase, column * w->dilation[2] - w->before[2], out);
}

/* ---- the tile ---- */

typedef struct tile {
    const float *x; /* the first vector of the first tap */
    const int32_t *tap;
    int64_t depth;
    const float *weight; /* [depth, OUTPUTS] */
    const float *bias;   /* [OUTPUTS] */
    float *out[OUTPUTS];
    int64_t at[VECTORS]; /* of each vector in the planes of y */
} tile;

typedef void tile_function(const tile *t);

/* `vector` holds `width` floats; the rest are the instructions. */
#define UNROLL _Pragma("GCC unroll 16")
#define TILE_FUNCTION(count, vector, width, splat_value, load, splat, fma, add, store)                                 \
    {                                                                                                                  \
        for (int part = 0; part < WIDTH; part += (width)) {                                                            \
            vector sum[OUTPUTS][count];                                                                                \
            UNROLL for (int o = 0; o < OUTPUTS; o++) UNROLL for (int v = 0; v < (count); v++) sum[o][v] = splat_value; \
            const float *weight = t->weight, *x_of[count];                                                             \
            UNROLL for (int v = 0; v < (count); v++) x_of[v] = t->x + t->at[v] + part;                                 \
            for (int64_t i = 0; i < t->depth; i++, weight += OUTPUTS) {                                                \
                const int64_t at = t->tap[i];                                                                          \
                vector x[count];                                                                                       \
                UNROLL for (int v = 0; v < (count); v++) x[v] = load(x_of[v] + at);                                    \
                UNROLL for (int o = 0; o < OUTPUTS; o++)                                                               \
                {                                                                                                      \
                    const vector w = splat(weight + o);                                                                \
                    UNROLL for (int v = 0; v < (count); v++) sum[o][v] = fma(sum[o][v], w, x[v]);                      \
                }                                                                                                      \
            }                                                                                                          \
            UNROLL for (int o = 0; o < OUTPUTS; o++)                                                                   \
            {                                                                                                          \
                const vector bias = splat(t->bias + o);                                                                \
                UNROLL for (int v = 0; v < (count); v++) store(t->out[o] + t->at[v] + part, add(sum[o][v], bias));     \
            }                                                                                                          \
        }                                                                                                              \
    }

/* clang-format off */
#if defined(__x86_64__)
#define AVX2_FMA(sum, x, y) _mm256_fmadd_ps(x, y, sum)
#define AVX2(name, count)                                                                                              \
    __attribute__((target("avx2,fma"))) static void name(const tile *t)                                                \
    TILE_FUNCTION(count, __m256, 8, _mm256_setzero_ps(), _mm256_loadu_ps, _mm256_broadcast_ss, AVX2_FMA,               \
                  _mm256_add_ps, _mm256_storeu_ps)
#define BASE_FMA(sum, x, y) _mm_add_ps(sum, _mm_mul_ps(x, y))
#define BASE(name, count)                                                                                              \
    static void name(const tile *t)                                                                                    \
    TILE_FUNCTION(count, __m128, 4, _mm_setzero_ps(), _mm_loadu_ps, _mm_load1_ps, BASE_FMA, _mm_add_ps, _mm_storeu_ps)
AVX2(avx2_1, 1)
AVX2(avx2_2, 2)
AVX2(avx2_3, 3)
#elif defined(__aarch64__)
#define BASE(name, count)                                                                                              \
    static void name(const tile *t)                                                                                    \
    TILE_FUNCTION(count, float32x4_t, 4, vdupq_n_f32(0.0f), vld1q_f32, vld1q_dup_f32, vfmaq_f32, vaddq_f32, vst1q_f32)
#else
#define PLAIN_LOAD(p)         (*(p))
#define PLAIN_FMA(sum, x, y)  ((sum) + (x) * (y))
#define PLAIN_ADD(x, y)       ((x) + (y))
#define PLAIN_STORE(p, value) (*(p) = (value))
#define BASE(name, count)                                                                                              \
    static void name(const tile *t)                                                                                    \
    TILE_FUNCTION(count, float, 1, 0.0f, PLAIN_LOAD, PLAIN_LOAD, PLAIN_FMA, PLAIN_ADD, PLAIN_STORE)
#endif
BASE(base_1, 1)
BASE(base_2, 2)
BASE(base_3, 3)
/* clang-format on */

typedef struct tile_functions {
    tile_function *of[VECTORS + 1]; /* by vectors */
} tile_functions;

static tile_functions choose_tiles(mw__level level)
{
#if defined(__x86_64__)
    if (level >= MW__LEVEL_AVX2)
        return (tile_functions){{NULL, avx2_1, avx2_2, avx2_3}};
#endif
    (void)level;
    return (tile_functions){{NULL, base_1, base_2, base_3}};
}

/* ---- the steps ---- */

typedef struct direct_block {
    mw__direct direct;
    int64_t blocks; /* of OUTPUTS channels, in a group */
    bool has_bias;
    tile_functions tiles;
} direct_block;

/* packed [groups, blocks, depth + 1, OUTPUTS], zeros for channels that are not there; the bias comes last. A unit is a
 * block. */
static void pack_run(const mw__kernel_call *call)
{
    const direct_block *s = call->block;
    const mw__direct *d = &s->direct;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t first = unit % s->blocks * OUTPUTS, here = smaller(OUTPUTS, d->outputs - first);
        const int64_t channel = unit / s->blocks * d->outputs + first;
        const float *weight = (const float *)call->in[0] + channel * d->depth;
        float *packed = (float *)call->out[0] + unit * (d->depth + 1) * OUTPUTS;
        for (int64_t i = 0; i < d->depth; i++, packed += OUTPUTS)
            for (int64_t o = 0; o < OUTPUTS; o++)
                packed[o] = o < here ? weight[o * d->depth + i] : 0.0f;
        for (int64_t o = 0; o < OUTPUTS; o++)
            packed[o] = s->has_bias && o < here ? ((const float *)call->in[1])[channel + o] : 0.0f;
    }
}

static void set_block(const direct_block *s, int64_t block, const float *packed, float *out, float *spare, tile *t)
{
    const mw__direct *d = &s->direct;
    t->weight = packed + block * (d->depth + 1) * OUTPUTS;
    t->bias = t->weight + d->depth * OUTPUTS;
    for (int64_t o = 0; o < OUTPUTS; o++) {
        const int64_t channel = block * OUTPUTS + o;
        t->out[o] = channel < d->outputs ? out + channel * d->window.area_out : spare;
    }
}

/* From vector v on; returns their count. 4 vectors are two tiles of 2, which keep the multipliers busier than 3 and 1.
 */
static int64_t set_vectors(const mw__direct *d, int64_t v, tile *t)
{
    const int64_t left = d->vectors - v, count = left == 4 ? 2 : smaller(left, VECTORS);
    for (int64_t i = 0; i < count; i++)
        t->at[i] = smaller((v + i) * WIDTH, d->window.area_out - WIDTH);
    return count;
}

#define NEAR_FLOATS 8192 /* an image of this size stays in the first-level cache */

/* The channels of one group of one example. Of a larger image, what a tile reads stays in the cache while the channels
 * run. */
static void run_group(const direct_block *s, const float *image, const float *packed, float *out, float *spare)
{
    const mw__direct *d = &s->direct;
    tile t = {.x = image, .tap = d->tap, .depth = d->depth};
    if (d->image <= NEAR_FLOATS) {
        for (int64_t block = 0; block < s->blocks; block++) {
            set_block(s, block, packed, out, spare, &t);
            for (int64_t v = 0, count; v < d->vectors; v += count) {
                count = set_vectors(d, v, &t);
                s->tiles.of[count](&t);
            }
        }
        return;
    }
    for (int64_t v = 0, count; v < d->vectors; v += count) {
        count = set_vectors(d, v, &t);
        for (int64_t block = 0; block < s->blocks; block++) {
            set_block(s, block, packed, out, spare, &t);
            s->tiles.of[count](&t);
        }
    }
}

/* A unit is one example. */
static void direct_run(const mw__kernel_call *call)
{
    const direct_block *s = call->block;
    const mw__direct *d = &s->direct;
    const int64_t area_in = d->window.area_in, area_out = d->window.area_out;
    float *const image = call->scratch, *const spare = image + d->image; /* spare takes what no channel does */
    for (int64_t unit = call->begin * d->groups; unit < call->end * d->groups; unit++) {
        const float *packed = (const float *)call->in[1] + unit % d->groups * s->blocks * (d->depth + 1) * OUTPUTS;
        mw__direct_copy(d, (const float *)call->in[0] + unit * d->inputs * area_in, image);
        run_group(s, image, packed, (float *)call->out[0] + unit * d->outputs * area_out, spare);
    }
}

mw_status mw__plan_conv_direct(mw__planner *planner, const mw__direct *direct, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *bias = mw__arg(op, "bias"), *result = op->results[0];
    direct_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    s->direct = *direct;
    mw__direct *const d = &s->direct;
    mw__direct_prepare(planner, d);
    s->blocks = (d->outputs + OUTPUTS - 1) / OUTPUTS;
    s->has_bias = bias != NULL;
    s->tiles = choose_tiles(mw__plan_level(planner));
    const size_t packed = (size_t)((d->depth + 1) * OUTPUTS) * sizeof(float), size = sizeof(float);
    const uint32_t weights = mw__plan_temporary(planner, packed * (size_t)(d->groups * s->blocks));
    mw__step *pack = mw__plan_step(planner, pack_run, "conv.pack", d->groups * s->blocks,
                                   mw__cost((double)packed * (double)(d->groups * s->blocks), 0.0));
    pack->block = s;
    pack->helper = true;
    pack->prepares = true;
    mw__step_read(planner, pack, mw__plan_buffer(planner, mw__arg(op, "weight")), MW__WHOLE, 0, false);
    if (bias != NULL)
        mw__step_read(planner, pack, mw__plan_buffer(planner, bias), MW__WHOLE, 0, false);
    mw__step_write(planner, pack, weights, MW__ROWS, packed);
    const double flops = 2.0 * (double)mw__count_of(result) * (double)d->depth;
    mw__step *step = mw__plan_step(planner, direct_run, "conv.direct", d->examples,
                                   mw__cost(4.0 * (double)mw__count_of(result), 0.3 * flops));
    step->block = s;
    step->flops = flops;
    step->scratch = (size_t)(d->image + d->window.area_out) * size;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS,
                  (size_t)(d->groups * d->inputs * d->window.area_in) * size, false);
    mw__step_read(planner, step, weights, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS,
                   (size_t)(d->groups * d->outputs * d->window.area_out) * size);
    return mw__plan_check(planner, err);
}
