/* A convolution of the gradient of a pooling, which is how the gradient by x comes: of each window of its operand one
 * element, or none, is not zero. Each of them is added, times the kernel of its channel, to a frame of the result:
 *
 *     frame[at[e] + row ..] += d[e] weight[o][row][..]      for channels o, and the listed elements e in order
 *
 * Every element of the result is summed in the order of the dense form (kernel_conv_avx512.c), whose other products are
 * zero: same bits, as long as the weight is finite. */
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/x86/avx512.h"
#include "engine/kernels/x86/kernel_conv_avx512.h"
#include "engine/kernels/x86/kernel_pool_argmax.h"
#include "engine/kernels/x86/pattern_avx512.h"

#include <string.h>

#define FRAME 131072

typedef struct scatter_block {
    mw__conv_avx512 conv;
    mw__argmax_places places;
    mw__argmax_windows pooling;
    int64_t vectors;                /* of a row of the kernel: columns times channels of the result */
    int64_t columns, frame, corner; /* positions of a row of the frame, floats, where the result begins */
    int64_t weights;                /* floats of a channel's kernel */
} scatter_block;

/* One group of two examples, or of one. */
typedef struct scatter_pair {
    float *frame[2];         /* [rows, columns, channels of the result] */
    mw__argmax_list list[2]; /* of one channel of x */
    int64_t count[2];
} scatter_pair;

/* ---- packing: [groups, inputs, rows of the kernel, vectors, LANES], the kernel read from its end ---- */

/* A unit is a channel of x. */
static void pack_run(const mw__kernel_call *call)
{
    const scatter_block *s = call->block;
    const mw__conv_avx512 *c = &s->conv;
    const int64_t taps = c->window.taps;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        float *const packed = (float *)call->out[0] + unit * s->weights;
        const int64_t first = unit / c->inputs * c->outputs, input = unit % c->inputs;
        for (int64_t o = 0; o < c->outputs; o++) {
            const float *weight = (const float *)call->in[0] + ((first + o) * c->inputs + input) * taps;
            for (int64_t tap = 0; tap < taps; tap++)
                packed[tap * c->outputs + o] = weight[taps - 1 - tap];
        }
    }
}

/* Adds a listed element times 3 x 3 x 16 numbers. */
MW__INLINE void add_nine(const mw__argmax_list *list, int64_t i, __m512 (*w)[3], int64_t row, float *frame)
{
    float *const to = frame + list->at[i];
    const __m512 d = _mm512_set1_ps(list->d[i]);
    UNROLL for (int r = 0; r < 3; r++) UNROLL for (int v = 0; v < 3; v++)
    {
        float *const sum = to + r * row + v * LANES;
        _mm512_storeu_ps(sum, _mm512_fmadd_ps(d, w[r][v], _mm512_loadu_ps(sum)));
    }
}

/* The kernel stays in registers; elements of two examples take turns, since those of one wait for each other. */
static void scatter_nine(const scatter_pair *p, const float *weight, int64_t row)
{
    const mw__argmax_list one = p->list[0], other = p->list[1];
    const int64_t both = p->count[0] < p->count[1] ? p->count[0] : p->count[1];
    __m512 w[3][3];
    UNROLL for (int r = 0; r < 3; r++) UNROLL for (int v = 0; v < 3; v++) w[r][v] =
        _mm512_loadu_ps(weight + (3 * r + v) * LANES);
    for (int64_t i = 0; i < both; i++) {
        add_nine(&one, i, w, row, p->frame[0]);
        add_nine(&other, i, w, row, p->frame[1]);
    }
    for (int64_t i = both; i < p->count[0]; i++)
        add_nine(&one, i, w, row, p->frame[0]);
    for (int64_t i = both; i < p->count[1]; i++)
        add_nine(&other, i, w, row, p->frame[1]);
}

static void scatter_one(const scatter_block *s, const scatter_pair *p, int which, const float *weight)
{
    const int64_t rows = s->conv.window.kernel[1], row = s->columns * s->conv.outputs;
    for (int64_t i = 0; i < p->count[which]; i++) {
        float *to = p->frame[which] + p->list[which].at[i];
        const float *w = weight;
        const __m512 d = _mm512_set1_ps(p->list[which].d[i]);
        for (int64_t r = 0; r < rows; r++, to += row)
            for (int64_t v = 0; v < s->vectors; v++, w += LANES)
                _mm512_storeu_ps(to + v * LANES,
                                 _mm512_fmadd_ps(d, _mm512_loadu_ps(w), _mm512_loadu_ps(to + v * LANES)));
    }
}

static void scatter(const scatter_block *s, const scatter_pair *p, const float *weight)
{
    if (s->conv.window.kernel[1] == 3 && s->vectors == 3) {
        scatter_nine(p, weight, s->columns * s->conv.outputs);
        return;
    }
    scatter_one(s, p, 0, weight);
    scatter_one(s, p, 1, weight);
}

/* 16 channels of up to 16 positions. A sum of nothing but zeros may be -0, which the bias of 0 of the dense form ends.
 */
static void transpose_square(const float *x, int64_t step, int64_t positions, float *planes, int64_t area)
{
    const __mmask16 mask = (__mmask16)((1u << positions) - 1);
    __m512 r[LANES];
    UNROLL for (int p = 0; p < LANES; p++) r[p] =
        p < positions ? _mm512_add_ps(_mm512_loadu_ps(x + p * step), _mm512_setzero_ps()) : _mm512_setzero_ps();
    mw__transpose_avx512(r);
    UNROLL for (int o = 0; o < LANES; o++) _mm512_mask_storeu_ps(planes + o * area, mask, r[o]);
}

static void put_planes(const scatter_block *s, const float *frame, float *y)
{
    const mw__conv_avx512 *c = &s->conv;
    const int64_t width = c->window.out[2];
    for (int64_t row = 0; row < c->window.out[1]; row++)
        for (int64_t p = 0; p < width; p += LANES)
            for (int64_t o = 0; o < c->outputs; o += LANES)
                transpose_square(frame + s->corner + (row * s->columns + p) * c->outputs + o, c->outputs,
                                 width - p < LANES ? width - p : LANES, y + o * c->window.area_out + row * width + p,
                                 c->window.area_out);
}

/* Groups of `examples` examples from `unit` on, a group of each. */
static void run_pair(const scatter_block *s, const mw__kernel_call *call, int64_t unit, int examples, scatter_pair *p)
{
    const mw__conv_avx512 *c = &s->conv;
    const int64_t count = s->pooling.count;
    const float *weight = (const float *)call->in[0] + unit % c->groups * c->inputs * s->weights;
    for (int e = 0; e < examples; e++)
        memset(p->frame[e], 0, (size_t)s->frame * sizeof(float));
    for (int64_t i = 0; i < c->inputs; i++) {
        for (int e = 0; e < examples; e++) {
            const int64_t plane = ((unit + e * c->groups) * c->inputs + i) * count;
            p->count[e] = mw__argmax_collect_in_order(&s->pooling, &s->places, (const float *)call->in[1] + plane,
                                                      (const uint8_t *)call->in[2] + plane, &p->list[e]);
        }
        scatter(s, p, weight + i * s->weights);
    }
    for (int e = 0; e < examples; e++)
        put_planes(s, p->frame[e], (float *)call->out[0] + (unit + e * c->groups) * c->outputs * c->window.area_out);
}

/* A unit is one example. */
static void scatter_run(const mw__kernel_call *call)
{
    const scatter_block *s = call->block;
    const size_t list = mw__argmax_list_bytes(&s->pooling) / sizeof(float);
    scatter_pair p = {.frame = {call->scratch, (float *)call->scratch + s->frame}};
    for (int e = 0; e < 2; e++)
        p.list[e] = mw__argmax_list_in(&s->pooling, p.frame[1] + s->frame + (size_t)e * list);
    for (int64_t n = call->begin; n < call->end; n += 2) {
        const int examples = call->end - n < 2 ? 1 : 2;
        p.count[1] = 0;
        for (int64_t group = 0; group < s->conv.groups; group++)
            run_pair(s, call, n * s->conv.groups + group, examples, &p);
    }
}

/* ---- planning ---- */

static bool read_block(const mw__op *conv, const mw__op *pool, scatter_block *s)
{
    if (!mw__conv_avx512_read(conv, &s->conv))
        return false;
    const mw__conv_avx512 *c = &s->conv;
    const mw__conv_window *w = &c->window;
    const int64_t above = w->kernel[1] - 1 - w->before[1], left = w->kernel[2] - 1 - w->before[2];
    const int64_t rows = w->in[1] + w->kernel[1] - 1;
    s->pooling = mw__argmax_windows_of(pool);
    s->columns = w->in[2] + w->kernel[2] - 1;
    s->vectors = w->kernel[2] * c->outputs / LANES;
    s->weights = w->taps * c->outputs;
    s->frame = rows * s->columns * c->outputs;
    s->corner = (above * s->columns + left) * c->outputs;
    return c->outputs % LANES == 0 && w->stride[1] == 1 && w->stride[2] == 1 && w->dilation[1] == 1 &&
           w->dilation[2] == 1 && above >= 0 && left >= 0 && above + w->out[1] <= rows &&
           left + w->out[2] <= s->columns && s->frame <= FRAME;
}

bool mw__conv_by_argmax_avx512(const mw__op *conv, const mw__op *pool)
{
    scatter_block ignored;
    return mw__arg(conv, "bias") == NULL && read_block(conv, pool, &ignored);
}

mw_status mw__plan_conv_by_argmax(mw__planner *planner, const mw__conv_by_argmax_match *match, mw_error *err)
{
    scatter_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !read_block(match->conv, match->source->pool, s))
        return mw__plan_check(planner, err);
    const mw__conv_avx512 *c = &s->conv;
    s->places = mw__argmax_places_of(planner, &s->pooling, c->outputs, s->columns * c->outputs);
    const size_t weights = (size_t)s->weights * sizeof(float), planes = (size_t)(c->groups * c->inputs);
    const uint32_t packed = mw__plan_temporary(planner, weights * planes);
    mw__step *pack = mw__plan_step(planner, pack_run, "conv.pack.by_argmax", c->groups * c->inputs,
                                   mw__cost((double)weights * (double)planes, 0.0));
    pack->block = s;
    pack->helper = true;
    mw__step_read(planner, pack, mw__plan_buffer(planner, mw__arg(match->conv, "weight")), MW__WHOLE, 0, false);
    mw__step_write(planner, pack, packed, MW__ROWS, weights);
    const size_t count = planes * (size_t)s->pooling.count;
    const double listed = (double)count * (double)c->examples;
    mw__step *step = mw__plan_step(planner, scatter_run, "conv.scatter", c->examples,
                                   listed * (0.5 + 0.3 * (double)(s->weights / LANES)));
    step->block = s;
    step->scratch = 2 * ((size_t)s->frame * sizeof(float) + mw__argmax_list_bytes(&s->pooling));
    mw__step_read(planner, step, packed, MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->source->dy), MW__ROWS, count * sizeof(float), false);
    mw__step_read(planner, step, *match->source->argmax, MW__ROWS, count, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->conv->results[0]), MW__ROWS,
                   (size_t)(c->groups * c->outputs * c->window.area_out) * sizeof(float));
    return mw__plan_check(planner, err);
}
