/* Direct convolution, and its transpose without strides: tiles of 4 channels by 3 vectors of a row stay
 * in registers while channels and taps run. The weight is packed once a step.
 * Sums run over channels and taps in order, fused multiply-add where the
 * processor has it. The general form and the plain loops are in kernel_conv.c.
 */
#include "engine/kernels/conv/kernel_conv_direct.h"
#include "base/number/integer.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define WIDTH   MW__DIRECT_WIDTH
#define OUTPUTS MW__DIRECT_OUTPUTS
#define VECTORS MW__DIRECT_VECTORS

/* ---- geometry ---- */

#define IMAGE_FLOATS 131072 /* of a partition's copy of all rows */
#define BAND_FLOATS  65536  /* of the copy of a band */
#define EXTENT       65536
#define DEPTH        2048
#define DEPTH_LEAST  8 /* of a transpose: with fewer products, planes of results far apart cost more */

/* What further rows of the kernel add to the rows of a phase. */
static int64_t border_of(const mw__conv_window *w) { return (w->kernel[1] - 1) * w->dilation[1] / w->stride[1]; }

/* Rows of a phase: those that the windows of one row of the kernel read, and the border. */
static int64_t rows_of(const mw__direct *d) { return d->rows + border_of(&d->window); }

/* Phases of rows that some row of the kernel needs. */
static int64_t phases_of(const mw__conv_window *w)
{
    const int64_t span = (w->kernel[1] - 1) * w->dilation[1] + 1;
    return mw__i64_min(w->stride[1], span);
}

/* Rows of y in bands of about one size whose images have up to that many floats; more than twice as many as the border
 * has, or all; 0: they would be fewer. */
static int64_t choose_rows(const mw__direct *d, int64_t floats)
{
    const mw__conv_window *w = &d->window;
    const int64_t row = d->inputs * w->kernel[2] * phases_of(w) * w->out[2];
    const int64_t most = mw__i64_min(floats / row - border_of(w), w->out[1]);
    const int64_t rows = most > 0 ? mw__i64_divide_up(w->out[1], mw__i64_divide_up(w->out[1], most)) : 0;
    return rows == w->out[1] || rows > 2 * border_of(w) ? rows : 0;
}

bool mw__direct_suits(mw__direct *d, mw_dtype dtype, bool in_bands)
{
    const mw__conv_window *w = &d->window;
    if (dtype != MW_F32 || !mw__conv_is_plane(w) || w->area_out < WIDTH)
        return false;
    for (int i = 1; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT || w->stride[i] > EXTENT ||
            w->dilation[i] > EXTENT || w->before[i] > EXTENT || w->before[i] < 0)
            return false;
    if (d->inputs < 1 || w->out[2] * w->kernel[2] > IMAGE_FLOATS || d->inputs > DEPTH / w->taps)
        return false;
    d->rows = choose_rows(d, IMAGE_FLOATS);
    if (d->rows < w->out[1] && in_bands)
        d->rows = choose_rows(d, BAND_FLOATS);
    return d->rows == w->out[1] || (in_bands && d->rows > 0 && d->rows * w->out[2] >= WIDTH);
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
    d->phase = rows_of(d) * w->out[2];
    d->column = phases_of(w) * d->phase;
    d->plane = w->kernel[2] * d->column;
    d->image = d->inputs * d->plane;
    d->positions = d->rows * w->out[2];
    d->whole = d->positions / WIDTH;
    d->fresh = d->positions % WIDTH;
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
    begin = mw__i64_min(begin, count);
    end = end < begin ? begin : mw__i64_min(end, count);
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

/* Of row `first` of y on; `left` is the column of x, perhaps outside, where rows begin. */
static void copy_rows(const mw__direct *d, const float *x, int64_t phase, int64_t first, int64_t left, float *out)
{
    const mw__conv_window *w = &d->window;
    for (int64_t r = first; r < first + rows_of(d); r++, out += w->out[2]) {
        const int64_t y = r * w->stride[1] + phase - w->before[1];
        if (y < 0 || y >= w->in[1])
            memset(out, 0, (size_t)w->out[2] * sizeof *out);
        else
            copy_row(w, x + y * w->in[2], left, out);
    }
}

/* All rows at once, where they lie as densely in x as in the copy; then the elements that came from a neighbor row. */
static void copy_plane(const mw__direct *d, const float *x, int64_t first, int64_t left, float *out)
{
    const mw__conv_window *w = &d->window;
    const int64_t rows = rows_of(d), width = w->out[2], top = first - w->before[1], cut = left < 0 ? -left : left;
    const int64_t begin = mw__i64_min(top < 0 ? -top : 0, rows),
                  end = mw__i64_max(begin, mw__i64_min(w->in[1] - top, rows));
    memset(out, 0, (size_t)(begin * width) * sizeof *out);
    memset(out + end * width, 0, (size_t)((rows - end) * width) * sizeof *out);
    if (begin == end)
        return;
    out += begin * width, x += (top + begin) * width;
    memcpy(out + (left < 0 ? cut : 0), x + (left > 0 ? cut : 0), (size_t)((end - begin) * width - cut) * sizeof *out);
    float *const edge = out + (left < 0 ? 0 : width - cut);
    for (int64_t r = 0; r < end - begin; r++)
        for (int64_t i = 0; i < cut; i++)
            edge[r * width + i] = 0.0f;
}

static void copy_phase(const mw__direct *d, const float *x, int64_t phase, int64_t first, int64_t left, float *out)
{
    const mw__conv_window *w = &d->window;
    const bool dense = w->stride[1] == 1 && w->stride[2] == 1 && w->in[2] == w->out[2];
    if (dense && left > -w->in[2] && left < w->in[2])
        copy_plane(d, x, first, left, out);
    else
        copy_rows(d, x, phase, first, left, out);
}

void mw__direct_copy(const mw__direct *d, const float *x, int64_t first, float *out)
{
    const mw__conv_window *w = &d->window;
    for (int64_t c = 0; c < d->inputs; c++, x += w->area_in)
        for (int64_t column = 0; column < w->kernel[2]; column++)
            for (int64_t phase = 0; phase < phases_of(w); phase++, out += d->phase)
                copy_phase(d, x, phase, first, column * w->dilation[2] - w->before[2], out);
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

/* Element i of the weight of output o of a group; `weight` is the group's. */
static float element_of(const mw__direct *d, const float *weight, int64_t o, int64_t i)
{
    const int64_t taps = d->window.taps, input = i / taps, tap = i % taps;
    return d->reversed ? weight[(input * d->outputs + o) * taps + taps - 1 - tap] : weight[o * d->depth + i];
}

/* packed [groups, blocks, depth + 1, OUTPUTS], zeros for channels that are not there; the bias comes last. A unit is a
 * block. */
static void pack_run(const mw__kernel_call *call)
{
    const direct_block *s = call->block;
    const mw__direct *d = &s->direct;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t first = unit % s->blocks * OUTPUTS, here = mw__i64_min(OUTPUTS, d->outputs - first);
        const int64_t group = unit / s->blocks, channel = group * d->outputs + first;
        const float *weight = (const float *)call->in[0] + group * d->outputs * d->depth;
        float *packed = (float *)call->out[0] + unit * (d->depth + 1) * OUTPUTS;
        for (int64_t i = 0; i < d->depth; i++, packed += OUTPUTS)
            for (int64_t o = 0; o < OUTPUTS; o++)
                packed[o] = o < here ? element_of(d, weight, first + o, i) : 0.0f;
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
    const int64_t left = d->vectors - v, count = left == 4 ? 2 : mw__i64_min(left, VECTORS);
    for (int64_t i = 0; i < count; i++)
        t->at[i] = mw__i64_min((v + i) * WIDTH, d->positions - WIDTH);
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
    const int64_t area_in = d->window.area_in, area_out = d->window.area_out, all = d->window.out[1];
    float *const image = call->scratch, *const spare = image + d->image; /* spare takes what no channel does */
    for (int64_t unit = call->begin * d->groups; unit < call->end * d->groups; unit++) {
        const float *packed = (const float *)call->in[1] + unit % d->groups * s->blocks * (d->depth + 1) * OUTPUTS;
        float *const out = (float *)call->out[0] + unit * d->outputs * area_out;
        for (int64_t row = 0; row < all; row += d->rows) {
            const int64_t first = mw__i64_min(row, all - d->rows);
            mw__direct_copy(d, (const float *)call->in[0] + unit * d->inputs * area_in, first, image);
            run_group(s, image, packed, out + first * d->window.out[2], spare);
        }
    }
}

/* The transpose without strides is a convolution of dy, whose taps come from the last to the first. */
static mw__conv_window reverse(const mw__conv_window *w)
{
    mw__conv_window r = *w;
    for (int i = 0; i < 3; i++) {
        r.in[i] = w->out[i], r.out[i] = w->in[i];
        r.before[i] = (w->kernel[i] - 1) * w->dilation[i] - w->before[i];
    }
    r.area_in = w->area_out, r.area_out = w->area_in;
    return r;
}

/* False if the kernel does not take it. */
static bool read_request(const mw__packed_request *r, mw__direct *out)
{
    const mw__conv_window *w = &r->window;
    const mw_shape weight = mw__shape_of(r->weight);
    if (r->columns != NULL || (r->transposed && (w->stride[0] != 1 || w->stride[1] != 1 || w->stride[2] != 1)))
        return false;
    *out = (mw__direct){.window = r->transposed ? reverse(w) : *w,
                        .groups = r->groups,
                        .examples = mw__shape_of(r->x).dim[0],
                        .inputs = r->transposed ? weight.dim[0] / r->groups : weight.dim[1],
                        .outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups,
                        .reversed = r->transposed};
    if (r->transposed && out->inputs * w->taps < DEPTH_LEAST)
        return false;
    return mw__direct_suits(out, mw__dtype_of(r->result), true);
}

const char *mw__conv_direct_declines(const mw__packed_request *request)
{
    mw__direct direct;
    return read_request(request, &direct) ? NULL
                                          : "not fp32, three spatial axes, a transpose with strides or few products, "
                                            "results of less than a vector, or channels "
                                            "beyond the cache";
}

const char *mw__conv_row_direct_declines(const void *op)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__conv_direct_declines(&request) : "unknown extents";
}

mw_status mw__plan_conv_row_direct(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__packed_request request;
    return mw__conv_request_read(op, &request) ? mw__plan_conv_direct(planner, &request, err)
                                               : mw__plan_check(planner, err);
}

/* The packed weight. */
static uint32_t plan_pack(mw__planner *planner, const direct_block *s, const mw__packed_request *r)
{
    const mw__direct *d = &s->direct;
    const size_t packed = (size_t)((d->depth + 1) * OUTPUTS) * sizeof(float);
    const uint32_t weights = mw__plan_temporary(planner, packed * (size_t)(d->groups * s->blocks));
    mw__step *pack = mw__plan_step(planner, pack_run, "conv.pack", d->groups * s->blocks,
                                   mw__cost((double)packed * (double)(d->groups * s->blocks), 0.0));
    pack->block = s;
    pack->report.helper = true;
    pack->prepares = true;
    mw__step_read(planner, pack, mw__plan_buffer(planner, r->weight), MW__WHOLE, 0, false);
    if (r->bias != NULL)
        mw__step_read(planner, pack, mw__plan_buffer(planner, r->bias), MW__WHOLE, 0, false);
    mw__step_write(planner, pack, weights, MW__ROWS, packed);
    return weights;
}

mw_status mw__plan_conv_direct(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    direct_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !read_request(r, &s->direct))
        return mw__plan_check(planner, err);
    mw__direct *const d = &s->direct;
    mw__direct_prepare(planner, d);
    s->blocks = mw__i64_divide_up(d->outputs, OUTPUTS);
    s->has_bias = r->bias != NULL;
    s->tiles = choose_tiles(mw__plan_level(planner));
    const uint32_t weights = plan_pack(planner, s, r);
    const double flops = 2.0 * (double)mw__count_of(r->result) * (double)d->depth;
    mw__step *step = mw__plan_step(planner, direct_run, d->reversed ? "conv_transpose.direct" : "conv.direct",
                                   d->examples, mw__cost(4.0 * (double)mw__count_of(r->result), 0.3 * flops));
    step->block = s;
    step->report.flops = flops;
    step->scratch = (size_t)(d->image + d->positions) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, r->x), MW__ROWS,
                  (size_t)(d->groups * d->inputs * d->window.area_in) * sizeof(float), false);
    mw__step_read(planner, step, weights, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__ROWS,
                   (size_t)(d->groups * d->outputs * d->window.area_out) * sizeof(float));
    return mw__plan_check(planner, err);
}
