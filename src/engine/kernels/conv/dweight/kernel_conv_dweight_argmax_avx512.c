/* The gradient of a convolution by its weight and bias where a pooling follows it: of each window one element, or none,
 * has a gradient, so that one product in four is left. For one output channel after the other the elements that have
 * one are listed; lanes are the elements of x under a row of the kernel, channel by channel, which lie side by side in
 * a frame of the example with its border:
 *
 *     dweight[o][row][..] = sum over listed e of d[e] frame[at[e] + row ..] */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"
#include "engine/kernels/pattern_avx512.h"
#include "engine/kernels/pool/kernel_pool_argmax_avx512.h"

#include <string.h>

#define ROWS    3 /* of the kernel, in a tile */
#define VECTORS 4 /* of a row, in a tile */
#define SHARE   16
#define FRAME   131072

typedef struct argmax_block {
    mw__conv_window window;
    int64_t groups, inputs, outputs, examples; /* channels of a group */
    int64_t columns, frame;                    /* positions of a row, floats in all */
    int64_t vectors;                           /* of a row of the kernel */
    int64_t sums;                              /* floats of a channel's sums */
    mw__argmax_windows pooling;
    mw__argmax_places places;
    mw__dweight_parts parts;
} argmax_block;

/* A lane's scratch. */
typedef struct argmax_scratch {
    float *frame;
    float *sums; /* [groups outputs, rows of the kernel, vectors, LANES] */
    float *bias; /* [groups outputs, LANES] */
    mw__argmax_list list[2];
} argmax_scratch;

static int64_t frame_floats(const argmax_block *s) { return mw__i64_round_up(s->frame + s->vectors * LANES, LANES); }

static size_t scratch_bytes(const argmax_block *s)
{
    const int64_t channels = s->groups * s->outputs;
    return (size_t)(frame_floats(s) + channels * (s->sums + LANES)) * sizeof(float) +
           2 * mw__argmax_list_bytes(&s->pooling);
}

static argmax_scratch divide_scratch(const argmax_block *s, void *memory)
{
    const int64_t channels = s->groups * s->outputs;
    argmax_scratch out = {.frame = memory};
    out.sums = out.frame + frame_floats(s);
    out.bias = out.sums + channels * s->sums;
    out.list[0] = mw__argmax_list_in(&s->pooling, out.bias + channels * LANES);
    out.list[1] = mw__argmax_list_in(&s->pooling, out.list[0].d + mw__argmax_list_bytes(&s->pooling) / sizeof(float));
    return out;
}

/* Up to 16 channels of up to 16 positions; those of the next example are asked for. */
static void transpose_square(const argmax_block *s, const float *x, int64_t channels, int64_t positions, float *out)
{
    const __mmask16 from = (__mmask16)((1u << positions) - 1), to = (__mmask16)((1u << channels) - 1);
    const int64_t area = s->window.area_in, next = s->groups * s->inputs * area * (int64_t)sizeof *x;
    __m512 r[LANES];
    UNROLL for (int c = 0; c < LANES; c++)
    {
        r[c] = _mm512_setzero_ps();
        if (c < channels) {
            mw__kernel_prefetch(x + c * area, next);
            r[c] = _mm512_maskz_loadu_ps(from, x + c * area);
        }
    }
    mw__transpose_avx512(r);
    UNROLL for (int p = 0; p < LANES; p++)
    {
        if (p < positions)
            _mm512_mask_storeu_ps(out + p * s->inputs, to, r[p]);
    }
}

typedef struct tile {
    const float *x; /* the frame at the first row and vector */
    const float *d;
    const int32_t *at;
    int64_t count, x_step, sum_step; /* floats between rows of the kernel */
    float *sum;
} tile;

typedef void tile_function(const tile *t);

/* Sums with one listed element; `rows` and `vectors` are constants where this is inlined. */
MW__INLINE void tile_add(const int rows, const int vectors, const tile *t, int64_t i, __m512 (*sum)[VECTORS])
{
    const float *x = t->x + t->at[i];
    const __m512 d = _mm512_set1_ps(t->d[i]);
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] =
        _mm512_fmadd_ps(d, _mm512_loadu_ps(x + r * t->x_step + v * LANES), sum[r][v]);
}

/* Two sums take turns, where there are registers, to hide the latency of multiply-add. */
MW__INLINE void tile_body(const int rows, const int vectors, const tile *t)
{
    __m512 sum[ROWS][VECTORS], other[ROWS][VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        sum[r][v] = _mm512_loadu_ps(t->sum + r * t->sum_step + v * LANES);
        other[r][v] = _mm512_setzero_ps();
    }
    int64_t i = 0;
    for (; rows * vectors < 8 && i + 2 <= t->count; i += 2) {
        tile_add(rows, vectors, t, i, sum);
        tile_add(rows, vectors, t, i + 1, other);
    }
    for (; i < t->count; i++)
        tile_add(rows, vectors, t, i, sum);
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        _mm512_storeu_ps(t->sum + r * t->sum_step + v * LANES, _mm512_add_ps(sum[r][v], other[r][v]));
}

#define TILE(rows, vectors)                                                                                            \
    static void tile_##rows##_##vectors(const tile *t) { tile_body(rows, vectors, t); }
#define TILES(rows) TILE(rows, 1) TILE(rows, 2) TILE(rows, 3) TILE(rows, 4)
TILES(1)
TILES(2)
TILES(3)

#define LISTED(rows)                                                                                                   \
    {                                                                                                                  \
        tile_##rows##_1, tile_##rows##_2, tile_##rows##_3, tile_##rows##_4                                             \
    }
/* [rows - 1][vectors - 1] */
static tile_function *const tiles[ROWS][VECTORS] = {LISTED(1), LISTED(2), LISTED(3)};

/* `count` in nearly equal parts of at most `most`: where part `part` begins. */
static int64_t part_begin(int64_t count, int64_t most, int64_t part)
{
    const int64_t parts = (count + most - 1) / most;
    return count * part / parts;
}

/* Adds the listed elements of one channel to its sums. */
static void add_listed(const argmax_block *s, const float *frame, const mw__argmax_list *list, int64_t count,
                       float *sums)
{
    const mw__conv_window *w = &s->window;
    tile t = {.d = list->d, .at = list->at, .count = count, .sum_step = s->vectors * LANES};
    t.x_step = w->dilation[1] * s->columns * s->inputs;
    for (int64_t i = 0, row; (row = part_begin(w->kernel[1], ROWS, i)) < w->kernel[1]; i++)
        for (int64_t j = 0, vector; (vector = part_begin(s->vectors, VECTORS, j)) < s->vectors; j++) {
            t.x = frame + row * t.x_step + vector * LANES;
            t.sum = sums + row * t.sum_step + vector * LANES;
            tiles[part_begin(w->kernel[1], ROWS, i + 1) - row - 1][part_begin(s->vectors, VECTORS, j + 1) - vector - 1](
                &t);
        }
}

/* The channels of one group to a frame [rows, columns, channels] whose border is zero. */
static void fill_frame(const argmax_block *s, const float *x, float *frame)
{
    const mw__conv_window *w = &s->window;
    const int64_t c = s->inputs, rows = s->frame / (s->columns * c);
    const int64_t lines = mw__i64_min(w->in[1], rows - w->before[1]),
                  width = mw__i64_min(w->in[2], s->columns - w->before[2]);
    if (c == 1 && width > 0) { /* nothing to turn */
        float *const out = frame + w->before[1] * s->columns + w->before[2];
        for (int64_t y = 0; y < lines; y++)
            memcpy(out + y * s->columns, x + y * w->in[2], (size_t)width * sizeof *frame);
        return;
    }
    for (int64_t y = 0; y < lines; y++)
        for (int64_t p = 0; p < width; p += LANES)
            for (int64_t i = 0; i < c; i += LANES) {
                const int64_t at = (y + w->before[1]) * s->columns + w->before[2] + p;
                transpose_square(s, x + i * w->area_in + y * w->in[2] + p, mw__i64_min(LANES, c - i),
                                 mw__i64_min(LANES, width - p), frame + at * c + i);
            }
}

/* Sums [channels, rows of the kernel, vectors, LANES] as gradients [channels, inputs, *kernel]. */
static void put_sums(const argmax_block *s, const argmax_scratch *scratch, float *out)
{
    const mw__conv_window *w = &s->window;
    for (int64_t o = 0; o < s->groups * s->outputs; o++)
        for (int64_t row = 0; row < w->kernel[1]; row++) {
            const float *sums = scratch->sums + o * s->sums + row * s->vectors * LANES;
            for (int64_t tap = 0; tap < w->kernel[2]; tap++)
                for (int64_t i = 0; i < s->inputs; i++)
                    out[((o * s->inputs + i) * w->kernel[1] + row) * w->kernel[2] + tap] = *sums++;
        }
    for (int64_t o = 0; o < s->parts.biases; o++) {
        float sum = 0.0f;
        for (int lane = 0; lane < LANES; lane++)
            sum += scratch->bias[o * LANES + lane];
        out[s->parts.weights + o] = sum;
    }
}

/* The channels of one group of one example. The list of a channel is made while the one before it is on its way to
 * memory: what has just been stored is slow to read. */
static void add_group(const argmax_block *s, const float *dy, const uint8_t *argmax, int64_t first,
                      const argmax_scratch *scratch)
{
    const int64_t count = s->pooling.count;
    int64_t listed = 0;
    for (int64_t o = first; o <= first + s->outputs; o++) {
        const int64_t before = listed;
        if (o < first + s->outputs)
            listed = mw__argmax_collect(&s->pooling, &s->places, dy + o * count, argmax + o * count,
                                        &scratch->list[o % 2], scratch->bias + o * LANES);
        if (o > first)
            add_listed(s, scratch->frame, &scratch->list[(o - 1) % 2], before, scratch->sums + (o - 1) * s->sums);
    }
}

static void add_example(const argmax_block *s, const mw__kernel_call *call, int64_t n, const argmax_scratch *scratch)
{
    const int64_t planes = n * s->groups * s->outputs * s->pooling.count;
    for (int64_t group = 0; group < s->groups; group++) {
        const int64_t x = (n * s->groups + group) * s->inputs * s->window.area_in;
        fill_frame(s, (const float *)call->in[0] + x, scratch->frame);
        add_group(s, (const float *)call->in[1] + planes, (const uint8_t *)call->in[2] + planes, group * s->outputs,
                  scratch);
    }
}

/* A unit is a part. */
static void argmax_run(const mw__kernel_call *call)
{
    const argmax_block *s = call->block;
    const argmax_scratch scratch = divide_scratch(s, call->scratch);
    memset(scratch.frame, 0, (size_t)frame_floats(s) * sizeof(float));
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t end = mw__i64_min((unit + 1) * s->parts.share, s->examples);
        memset(scratch.sums, 0, (size_t)(s->groups * s->outputs * (s->sums + LANES)) * sizeof(float));
        for (int64_t n = unit * s->parts.share; n < end; n++)
            add_example(s, call, n, &scratch);
        put_sums(s, &scratch, (float *)call->out[0] + unit * s->parts.stride);
    }
}

/* ---- planning ---- */

static bool read_block(const mw__op *conv, const mw__op *pool, argmax_block *s)
{
    mw_error ignored = {0};
    const mw_shape weight = mw__shape_of(mw__arg(conv, "weight"));
    mw__conv_window *const w = &s->window;
    if (mw__conv_window_read(conv, w, &s->groups, &ignored) != MW_OK)
        return false;
    s->examples = mw__shape_of(mw__arg(conv, "x")).dim[0];
    s->inputs = weight.dim[1], s->outputs = weight.dim[0] / s->groups;
    s->pooling = mw__argmax_windows_of(pool);
    s->columns = (w->out[2] - 1) * w->stride[2] + w->kernel[2];
    s->frame = ((w->out[1] - 1) * w->stride[1] + (w->kernel[1] - 1) * w->dilation[1] + 1) * s->columns * s->inputs;
    s->vectors = mw__i64_round_up(w->kernel[2] * s->inputs, LANES) / LANES;
    s->sums = w->kernel[1] * s->vectors * LANES;
    return true;
}

bool mw__conv_dweight_argmax_avx512(const mw__op *conv, const mw__op *pool)
{
    argmax_block s = {0};
    return read_block(conv, pool, &s) && s.window.dilation[2] == 1 && s.frame <= FRAME && s.sums <= FRAME / s.outputs;
}

mw_status mw__plan_conv_dweight_argmax(mw__planner *planner, const mw__conv_dweight_argmax_match *match, mw_error *err)
{
    argmax_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !read_block(match->dweight.conv, match->source->pool, s))
        return mw__plan_check(planner, err);
    s->places = mw__argmax_places_of(planner, &s->pooling, s->window.stride[2] * s->inputs,
                                     s->window.stride[1] * s->columns * s->inputs);
    s->parts = mw__dweight_parts_of(planner, &match->dweight, SHARE);
    const int64_t channels = s->groups * s->outputs * s->pooling.count;
    const size_t sums = (size_t)s->parts.stride * sizeof(float), share = (size_t)s->parts.share;
    const uint32_t partial = mw__plan_temporary(planner, sums * (size_t)s->parts.parts);
    const double listed = (double)(channels * s->examples);
    mw__step *step = mw__plan_step(planner, argmax_run, "conv.dweight.argmax", s->parts.parts,
                                   listed * (0.5 + 0.15 * (double)(s->vectors * s->window.kernel[1])));
    step->block = s;
    step->scratch = scratch_bytes(s);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dweight.x), MW__ROWS,
                  share * (size_t)(s->groups * s->inputs * s->window.area_in) * sizeof(float), false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->source->dy), MW__ROWS,
                  share * (size_t)channels * sizeof(float), false);
    mw__step_read(planner, step, *match->source->argmax, MW__ROWS, share * (size_t)channels, false);
    mw__step_write(planner, step, partial, MW__ROWS, sums);
    mw__dweight_plan_sums(planner, &s->parts, partial, &match->dweight);
    return mw__plan_check(planner, err);
}
