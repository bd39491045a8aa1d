/* A convolution of the gradient of a pooling, which is how the gradient by x comes: of each window of its operand one
 * element, or none, is not zero. Each of them is added, times the kernel of its channel, to a frame of the result:
 *
 *     frame[at[e] + row ..] += d[e] weight[o][row][..]      for channels o, and the listed elements e in order
 *
 * Every element of the result is summed in the order of the dense form (kernel_conv_avx512.c), whose other products are
 * zero: same bits, as long as the weight is finite. In the form for chips (kernel_conv_columns.c) sums begin anew every
 * MW__PACKED_DEPTH of channels and taps, and are rounded. */
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/kernel_conv_avx512.h"
#include "engine/kernels/pattern_avx512.h"
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/pool/kernel_pool_argmax_avx512.h"

#include <string.h>

#define FRAME 131072

typedef struct scatter_block {
    mw__conv_avx512 conv;
    mw__argmax_places places;
    mw__argmax_windows pooling;
    int64_t vectors;                 /* of a row of the kernel: columns times channels of the result */
    int64_t columns, frame, corner;  /* positions of a row of the frame, floats, where the result begins */
    int64_t weights;                 /* floats of a channel's kernel */
    const mw__packed_finish *finish; /* in the form for chips, whose weight is that of the transposed convolution; or
                                        NULL */
} scatter_block;

/* One group of two examples, or of one. */
typedef struct scatter_pair {
    float *frame[2];  /* [rows, columns, channels of the result] */
    float *before[2]; /* the same of the blocks before */
    bool begun;       /* there are such */
    int examples;
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
    if (s->finish != NULL) {
        for (int64_t i = call->begin * c->outputs; i < call->end * c->outputs; i++)
            for (int64_t tap = 0; tap < taps; tap++)
                ((float *)call->out[0])[i / c->outputs * s->weights + tap * c->outputs + i % c->outputs] =
                    ((const float *)call->in[0])[i * taps + tap];
        return;
    }
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

/* ---- in the form for chips ---- */

/* Elements [first, end) of the kernel alone: where a block of sums ends within a channel. */
static void scatter_part(const scatter_block *s, const scatter_pair *p, const float *weight, int64_t first, int64_t end)
{
    const int64_t channels = s->conv.outputs, width = s->conv.window.kernel[2];
    for (int e = 0; e < 2; e++)
        for (int64_t i = 0; i < p->count[e]; i++)
            for (int64_t tap = first; tap < end; tap++) {
                const __m512 d = _mm512_set1_ps(p->list[e].d[i]);
                float *to = p->frame[e] + p->list[e].at[i] + (tap / width * s->columns + tap % width) * channels;
                const float *w = weight + tap * channels;
                for (int64_t v = 0; v < channels; v += LANES)
                    _mm512_storeu_ps(to + v, _mm512_fmadd_ps(d, _mm512_loadu_ps(w + v), _mm512_loadu_ps(to + v)));
            }
}

static void add_before(const scatter_block *s, const float *before, float *frame)
{
    MW__VECTORIZE for (int64_t i = 0; i < s->frame; i++) frame[i] += before[i];
}

static void end_block(const scatter_block *s, scatter_pair *p)
{
    for (int e = 0; e < p->examples; e++) {
        float *const sums = p->frame[e];
        if (p->begun)
            add_before(s, p->before[e], sums);
        p->frame[e] = p->before[e], p->before[e] = sums;
        memset(p->frame[e], 0, (size_t)s->frame * sizeof(float));
    }
    p->begun = true;
}

/* Channel i, whose elements come in the order of the dense form from the last on. */
static void scatter_channel(const scatter_block *s, scatter_pair *p, const float *weight, int64_t i)
{
    const int64_t taps = s->conv.window.taps, begin = i * taps, block = (begin + taps - 1) / MW__PACKED_DEPTH;
    const int64_t rest = begin + taps - block * MW__PACKED_DEPTH; /* elements in the block in which it ends */
    if (i > 0 && begin % MW__PACKED_DEPTH == 0)
        end_block(s, p);
    if (rest >= taps) {
        scatter(s, p, weight);
        return;
    }
    scatter_part(s, p, weight, rest, taps);
    end_block(s, p);
    scatter_part(s, p, weight, 0, rest);
}

/* ---- running ---- */

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
    p->begun = false, p->examples = examples;
    for (int e = 0; e < examples; e++)
        memset(p->frame[e], 0, (size_t)s->frame * sizeof(float));
    for (int64_t i = 0; i < c->inputs; i++) {
        for (int e = 0; e < examples; e++) {
            const int64_t plane = ((unit + e * c->groups) * c->inputs + i) * count;
            p->count[e] = mw__argmax_collect_in_order(&s->pooling, &s->places, (const float *)call->in[1] + plane,
                                                      (const uint8_t *)call->in[2] + plane, &p->list[e]);
        }
        if (s->finish != NULL)
            scatter_channel(s, p, weight + i * s->weights, i);
        else
            scatter(s, p, weight + i * s->weights);
    }
    for (int e = 0; e < examples; e++) {
        const int64_t floats = c->outputs * c->window.area_out;
        float *const y = (float *)call->out[0] + (unit + e * c->groups) * floats;
        if (p->begun)
            add_before(s, p->before[e], p->frame[e]);
        put_planes(s, p->frame[e], y);
        if (s->finish != NULL && s->finish->round != NULL)
            s->finish->round(y, y, floats, 0, 0);
    }
}

/* Of a pair, with those of the blocks before. */
static int64_t frame_count(const scatter_block *s)
{
    return s->finish != NULL && s->conv.inputs * s->conv.window.taps > MW__PACKED_DEPTH ? 4 : 2;
}

/* A unit is one example. */
static void scatter_run(const mw__kernel_call *call)
{
    const scatter_block *s = call->block;
    const size_t list = mw__argmax_list_bytes(&s->pooling) / sizeof(float);
    float *const frames = call->scratch, *const lists = frames + frame_count(s) * s->frame;
    scatter_pair p = {.frame = {frames, frames + s->frame}};
    for (int e = 0; e < 2; e++) {
        p.list[e] = mw__argmax_list_in(&s->pooling, lists + (size_t)e * list);
        p.before[e] = frame_count(s) > 2 ? frames + (2 + e) * s->frame : NULL;
    }
    for (int64_t n = call->begin; n < call->end; n += 2) {
        const int examples = call->end - n < 2 ? 1 : 2;
        p.count[1] = 0;
        for (int64_t group = 0; group < s->conv.groups; group++)
            run_pair(s, call, n * s->conv.groups + group, examples, &p);
    }
}

/* ---- planning ---- */

/* The numbers of the convolution are read. */
static bool read_frame(const mw__op *pool, scatter_block *s)
{
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
    scatter_block s = {0};
    return mw__arg(conv, "bias") == NULL && mw__conv_avx512_read(conv, &s.conv) && read_frame(pool, &s);
}

/* The form for chips: dy is the x of a convolution whose windows reach as far as those that reached an element of x. */
static bool read_columns(const mw__packed_request *r, const mw__op *pool, scatter_block *s)
{
    const mw_shape weight = mw__shape_of(r->weight);
    s->conv = (mw__conv_avx512){.window = r->window, .groups = r->groups, .examples = mw__shape_of(r->x).dim[0]};
    s->conv.inputs = weight.dim[0] / r->groups, s->conv.outputs = weight.dim[1];
    s->finish = r->columns;
    mw__conv_window *const w = &s->conv.window;
    for (int i = 0; i < 3; i++) {
        w->before[i] = (w->kernel[i] - 1) * w->dilation[i] - w->before[i];
        w->in[i] = r->window.out[i], w->out[i] = r->window.in[i];
    }
    w->area_in = r->window.area_out, w->area_out = r->window.area_in;
    return w->kernel[0] == 1 && w->in[0] == 1 && w->before[0] == 0 && w->before[1] >= 0 && w->before[2] >= 0 &&
           w->taps <= MW__PACKED_DEPTH && r->columns->add == NULL && read_frame(pool, s);
}

bool mw__conv_columns_by_argmax_avx512(const mw__conv_columns_match *match, const mw__op *pool,
                                       const mw__config *config, int partitions)
{
    mw__packed_finish finish = {0};
    mw__packed_request request;
    scatter_block ignored = {0};
    if (match->bias != NULL || !mw__conv_columns_in_order(match, config, partitions, &request))
        return false;
    request.columns = &finish;
    return read_columns(&request, pool, &ignored);
}

static uint32_t plan_pack(mw__planner *planner, const scatter_block *s, const mw_tensor *weight)
{
    const size_t weights = (size_t)s->weights * sizeof(float);
    const int64_t planes = s->conv.groups * s->conv.inputs;
    const uint32_t from = mw__conv_operand(planner, weight);
    const uint32_t packed = mw__plan_temporary(planner, weights * (size_t)planes);
    mw__step *pack = mw__plan_step(planner, pack_run, "conv.pack.by_argmax", planes,
                                   mw__cost((double)weights * (double)planes, 0.0));
    pack->block = s;
    pack->report.helper = true;
    pack->rounds = s->finish != NULL;
    mw__step_read(planner, pack, from, MW__WHOLE, 0, false);
    mw__step_write(planner, pack, packed, MW__ROWS, weights);
    return packed;
}

static void plan_scatter(mw__planner *planner, scatter_block *s, const mw__packed_request *r,
                         const mw__unpool_match *source)
{
    const mw__conv_avx512 *c = &s->conv;
    s->places = mw__argmax_places_of(planner, &s->pooling, c->outputs, s->columns * c->outputs);
    const uint32_t packed = plan_pack(planner, s, r->weight);
    const size_t count = (size_t)(c->groups * c->inputs * s->pooling.count);
    const double listed = (double)count * (double)c->examples;
    mw__step *step = mw__plan_step(planner, scatter_run, "conv.scatter", c->examples,
                                   listed * (0.5 + 0.3 * (double)(s->weights / LANES)));
    step->block = s;
    step->rounds = s->finish != NULL;
    step->scratch = (size_t)(frame_count(s) * s->frame) * sizeof(float) + 2 * mw__argmax_list_bytes(&s->pooling);
    mw__step_read(planner, step, packed, MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, source->dy), MW__ROWS, count * sizeof(float), false);
    mw__step_read(planner, step, *source->argmax, MW__ROWS, count, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__ROWS,
                   (size_t)(c->groups * c->outputs * c->window.area_out) * sizeof(float));
}

mw_status mw__plan_conv_by_argmax(mw__planner *planner, const mw__conv_by_argmax_match *match, mw_error *err)
{
    scatter_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    const mw__op *pool = match->source->pool;
    const mw__packed_request request =
        match->columns != NULL
            ? mw__conv_columns_request(planner, match->columns)
            : (mw__packed_request){.weight = mw__arg(match->conv, "weight"), .result = match->conv->results[0]};
    if (match->columns != NULL ? request.columns != NULL && read_columns(&request, pool, s)
                               : mw__conv_avx512_read(match->conv, &s->conv) && read_frame(pool, s))
        plan_scatter(planner, s, &request, match->source);
    return mw__plan_check(planner, err);
}
