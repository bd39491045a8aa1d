/* The convolution of kernel_conv_avx512.h: geometry, packing and the steps of conv itself. Its tiles are in
 * kernel_conv_row_avx512.c, and what follows it in the same step in kernel_conv_pool.c. */
#include "engine/kernels/conv/kernel_conv_avx512.h"
#include "base/number/integer.h"
#include "engine/core/tail.h"
#include "engine/kernels/common_avx512.h"

#include <math.h>
#include <string.h>

/* ---- geometry ---- */

#define FRAME_FLOATS 131072 /* 512 KB: part of the second-level cache */
#define EXTENT       65536
#define DEPTH        4096
#define DEPTH_NARROW 2048 /* of rows that fill no tile: the weight is read more often than it is multiplied */
#define ROW_WIDE     8
#define ROW_LEAST    4  /* positions: sums that hide the latency of multiply-add */
#define BAND_LEAST   4  /* rows */
#define UNITS_LEAST  16 /* rows of all examples, for threads to share */

static bool extents_fit(const mw__conv_window *w)
{
    for (int i = 1; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT || w->stride[i] > EXTENT ||
            w->dilation[i] > EXTENT || w->before[i] > EXTENT)
            return false;
    return mw__conv_is_plane(w) && w->out[1] > 0 && w->out[2] >= ROW_LEAST;
}

static void set_frame(mw__conv_avx512 *c)
{
    const mw__conv_window *w = &c->window;
    const int64_t reach = (w->kernel[2] - 1) * w->dilation[2]; /* columns beyond the first of a window */
    c->phases = mw__i64_min(w->stride[2], reach + 1);
    c->width = w->out[2] + reach / w->stride[2];
    c->pitch = c->phases * c->width;
    c->rows = (c->band - 1) * w->stride[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
    c->plane = c->rows * c->pitch;
    c->frame = c->inputs * c->plane;
    c->depth = c->inputs * w->taps;
    c->lanes = (c->outputs + MW__CONV_LANES - 1) / MW__CONV_LANES * MW__CONV_LANES;
    c->panels = (c->lanes + MW__CONV_PANEL - 1) / MW__CONV_PANEL;
}

/* Bands of at most `most` rows of y, of nearly equal size. */
static void cut_bands(mw__conv_avx512 *c, int64_t most)
{
    const int64_t rows = c->window.out[1], bands = (rows + most - 1) / most;
    c->band = (rows + bands - 1) / bands;
    c->bands = (rows + c->band - 1) / c->band;
    set_frame(c);
}

/* Whether the numbers of `out` that are read suit but for the size of a frame; the others are set, for one frame. */
static bool fill_conv(mw__conv_avx512 *out)
{
    if (!extents_fit(&out->window))
        return false;
    cut_bands(out, out->window.out[1]);
    const int64_t depth = out->window.out[2] < ROW_WIDE ? DEPTH_NARROW : DEPTH;
    return out->inputs > 0 && out->inputs <= depth / out->window.taps && 2 * out->lanes <= 3 * out->outputs &&
           out->pitch <= FRAME_FLOATS / out->inputs;
}

static bool fill_frame(mw__conv_avx512 *out)
{
    return fill_conv(out) && out->rows <= FRAME_FLOATS / out->inputs / out->pitch;
}

/* Frames of a band of rows where one of all rows is beyond the cache, unless most of a band would be copied twice. */
static bool fill_bands(mw__conv_avx512 *out)
{
    if (!fill_conv(out))
        return false;
    const mw__conv_window *w = &out->window;
    const int64_t rows = FRAME_FLOATS / out->inputs / out->pitch, reach = (w->kernel[1] - 1) * w->dilation[1];
    if (out->rows <= rows)
        return true;
    const int64_t band = rows > reach ? (rows - 1 - reach) / w->stride[1] + 1 : 0;
    if (band < BAND_LEAST || band * w->stride[1] < 2 * reach)
        return false;
    cut_bands(out, band);
    return true;
}

/* The same, with as many rows as a line has room for taken as one where windows are single elements: the long rows make
 * full tiles, of 14 positions, of small images, too. */
static bool fill_joined(mw__conv_avx512 *out)
{
    const mw__conv_window w = out->window;
    bool single = w.taps == 1;
    for (int i = 1; i < 3; i++)
        single = single && w.stride[i] == 1 && w.before[i] == 0 && w.in[i] == w.out[i];
    for (int64_t k = single ? mw__i64_min(w.in[1], MW__CONV_LINE / w.in[2]) : 0; k > 1; k--) {
        if (w.in[1] % k != 0 || w.in[1] / k * out->examples < UNITS_LEAST)
            continue;
        out->window.in[1] = out->window.out[1] = w.in[1] / k;
        out->window.in[2] = out->window.out[2] = w.in[2] * k;
        if (fill_bands(out))
            return true;
    }
    out->window = w;
    return fill_bands(out);
}

/* False if that is no convolution for these kernels. */
static bool read_conv(const mw__op *conv, mw__conv_avx512 *out)
{
    mw_error ignored = {0};
    const mw_tensor *x = mw__arg(conv, "x"), *weight = mw__arg(conv, "weight"), *y = conv->results[0];
    *out = (mw__conv_avx512){0};
    if (mw__dtype_of(y) != MW_F32 || mw__count_of(y) <= 0 ||
        mw__conv_window_read(conv, &out->window, &out->groups, &ignored) != MW_OK)
        return false;
    out->examples = mw__shape_of(x).dim[0];
    out->inputs = mw__shape_of(weight).dim[1], out->outputs = mw__shape_of(weight).dim[0] / out->groups;
    return true;
}

bool mw__conv_avx512_read(const mw__op *conv, mw__conv_avx512 *out) { return read_conv(conv, out) && fill_frame(out); }

static void read_forward(const mw__packed_request *r, mw__conv_avx512 *out)
{
    const mw_shape weight = mw__shape_of(r->weight);
    *out = (mw__conv_avx512){.window = r->window, .groups = r->groups, .examples = mw__shape_of(r->x).dim[0]};
    out->inputs = weight.dim[1], out->outputs = weight.dim[0] / r->groups;
}

/* dy is the x of a convolution whose windows reach as far as those that reached an element of x. */
static bool read_dx(const mw__packed_request *r, mw__conv_avx512 *out)
{
    const mw_shape weight = mw__shape_of(r->weight);
    *out = (mw__conv_avx512){.window = r->window, .groups = r->groups, .transposed = true};
    out->examples = mw__shape_of(r->x).dim[0];
    out->inputs = weight.dim[0] / r->groups, out->outputs = weight.dim[1];
    mw__conv_window *const w = &out->window;
    for (int i = 0; i < 3; i++) {
        w->before[i] = (w->kernel[i] - 1) * w->dilation[i] - w->before[i];
        w->in[i] = r->window.out[i], w->out[i] = r->window.in[i];
        if (w->stride[i] != 1 || w->before[i] < 0)
            return false;
    }
    w->area_in = r->window.area_out, w->area_out = r->window.area_in;
    return true;
}

/* False if it has strides and is transposed, or no elements. */
static bool read_numbers(const mw__packed_request *r, mw__conv_avx512 *out)
{
    if (r->transposed && !read_dx(r, out))
        return false;
    if (!r->transposed)
        read_forward(r, out);
    return mw__count_of(r->result) > 0;
}

bool mw__conv_avx512_takes(const mw__packed_request *r, mw__conv_avx512 *out)
{
    const bool reads = read_numbers(r, out);
    out->blocks = true;
    return reads && fill_frame(out);
}

static bool read_request(const mw__packed_request *r, mw__conv_avx512 *out)
{
    return read_numbers(r, out) && mw__dtype_of(r->result) == MW_F32 && fill_joined(out);
}

void mw__conv_avx512_prepare(mw__planner *planner, mw__conv_avx512 *c)
{
    const mw__conv_window *w = &c->window;
    int32_t *const taps = mw__plan_block(planner, (size_t)c->depth * sizeof *taps), *tap = taps;
    c->tap = taps;
    for (int64_t i = 0; taps != NULL && i < c->inputs; i++)
        for (int64_t y = 0; y < w->kernel[1]; y++)
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                const int64_t at = x * w->dilation[2], column = at % w->stride[2] * c->width + at / w->stride[2];
                *tap++ = (int32_t)(i * c->plane + y * w->dilation[1] * c->pitch + column);
            }
}

int64_t mw__conv_avx512_panel(const mw__conv_avx512 *c, int64_t panel)
{
    return mw__i64_min(MW__CONV_PANEL, c->lanes - panel * MW__CONV_PANEL);
}

/* ---- packing: panels [depth + 2, 32 or 16], zeros for channels that are not there; all of the size of whole ones.
 * After the depth the bias, and then a 0 if zeros of the border may be left out (kernel_conv_row_avx512.c). ---- */

typedef struct pack_block {
    mw__conv_avx512 conv;
    bool has_bias;
} pack_block;

int64_t mw__conv_avx512_panel_floats(const mw__conv_avx512 *c) { return (c->depth + 2) * MW__CONV_PANEL; }

int64_t mw__conv_avx512_weights(const mw__conv_avx512 *c) { return c->panels * mw__conv_avx512_panel_floats(c); }

/* Input channels whose weights are asked for beforehand: they lie far apart, so that processors fetch nothing by
 * themselves. */
enum { AHEAD_POINTS = 16, AHEAD_TAPS = 2 };

static void ask_for_inputs(const float *from, int64_t count, int64_t ahead)
{
    for (int64_t i = 0; i < count; i += LANES)
        mw__kernel_prefetch(from, (ahead + i) * (int64_t)sizeof *from);
}

/* Up to 16 channels from `first` of the group's weight on, to columns of a panel of `width`. */
static void pack_lanes(const mw__conv_avx512 *c, const float *weight, int64_t first, int64_t width, float *packed)
{
    const int64_t taps = c->window.taps, there = c->outputs - first < LANES ? c->outputs - first : LANES;
    mw__packed_transpose *const transpose = mw__packed_avx512.transpose;
    if (!c->transposed)
        transpose(weight + first * c->depth, c->depth, there, c->depth, LANES, packed, width);
    const __mmask16 mask = (__mmask16)((1u << there) - 1);
    for (int64_t i = 0; c->transposed && i < c->inputs; i++, packed += taps * width) { /* from the last tap on */
        const float *const from = weight + (i * c->outputs + first) * taps;
        ask_for_inputs(from, there * taps, (taps == 1 ? AHEAD_POINTS : AHEAD_TAPS) * c->outputs * taps);
        if (taps == 1)
            _mm512_storeu_ps(packed, _mm512_maskz_loadu_ps(mask, from));
        else
            transpose(from, taps, there, taps, LANES, packed + (taps - 1) * width, -width);
    }
}

/* 0 if all weights are finite and no bias is -0, else NaN. */
static float border_of(const float *packed, int64_t count, const float *bias, int64_t biases)
{
    __m512 sum = _mm512_setzero_ps();
    for (int64_t i = 0; i < count; i += LANES)
        sum = _mm512_fmadd_ps(_mm512_loadu_ps(packed + i), _mm512_setzero_ps(), sum);
    float all = _mm512_reduce_add_ps(sum);
    for (int64_t i = 0; i < biases; i++)
        all = bias[i] == 0.0f && signbit(bias[i]) ? NAN : all;
    return all == 0.0f ? 0.0f : NAN;
}

/* A unit is a panel. */
static void pack_run(const mw__kernel_call *call)
{
    const pack_block *s = call->block;
    const mw__conv_avx512 *c = &s->conv;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t panel = unit % c->panels, first = panel * MW__CONV_PANEL, width = mw__conv_avx512_panel(c, panel);
        const int64_t channel = unit / c->panels * c->outputs, there = mw__i64_min(width, c->outputs - first);
        const float *weight = (const float *)call->in[0] + channel * c->depth;
        float *packed = (float *)call->out[0] + unit * mw__conv_avx512_panel_floats(c),
              *bias = packed + c->depth * width;
        for (int64_t lane = 0; lane < width; lane += LANES)
            pack_lanes(c, weight, first + lane, width, packed + lane);
        for (int64_t o = 0; o < width; o++)
            bias[o] = s->has_bias && o < there ? ((const float *)call->in[1])[channel + first + o] : 0.0f;
        bias[width] = border_of(packed, c->depth * width, bias, there);
    }
}

uint32_t mw__conv_avx512_pack(mw__planner *planner, const mw__conv_avx512 *c, const mw_tensor *weight,
                              const mw_tensor *bias)
{
    const uint32_t from = mw__conv_operand(planner, weight);
    const size_t size = (size_t)mw__conv_avx512_panel_floats(c) * sizeof(float);
    const int64_t panels = c->groups * c->panels;
    pack_block *s = mw__plan_block(planner, sizeof *s);
    const uint32_t packed = mw__plan_temporary(planner, size * (size_t)panels);
    if (s == NULL)
        return packed;
    *s = (pack_block){.conv = *c, .has_bias = bias != NULL};
    mw__step *step =
        mw__plan_step(planner, pack_run, "conv.pack.avx512", panels, mw__cost((double)size * (double)panels, 0.0));
    step->block = s;
    step->report.helper = true;
    step->prepares = true;
    step->rounds = c->blocks;
    mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    if (bias != NULL)
        mw__step_read(planner, step, mw__plan_buffer(planner, bias), MW__WHOLE, 0, false);
    mw__step_write(planner, step, packed, MW__ROWS, size);
    return packed;
}

/* ---- the frame ---- */

/* The elements of a row whose place among the columns of the frame, before and after them, is `phase`. */
static void copy_phase(const mw__conv_avx512 *c, const float *x, int64_t phase, float *out)
{
    const mw__conv_window *w = &c->window;
    const int64_t stride = w->stride[2], before = w->before[2];
    const int64_t first = before > phase ? (before - phase + stride - 1) / stride : 0;
    const int64_t start = first * stride + phase - before; /* in the row of x */
    const int64_t inside = w->in[2] > start ? (w->in[2] - start + stride - 1) / stride : 0;
    const int64_t count = mw__i64_min(inside, c->width - first);
    for (int64_t i = 0; i < count; i++)
        out[first + i] = x[start + i * stride];
}

/* `rows` rows of x, as they lie; those of the next frame are asked for. */
static void copy_rows(const mw__conv_avx512 *c, const float *x, int64_t rows, float *out)
{
    const int64_t width = c->window.in[2], pitch = c->pitch, count = mw__i64_min(width, pitch - c->window.before[2]);
    const int64_t ahead =
        c->bands > 1 ? c->band * c->window.stride[1] * width : c->groups * c->inputs * c->window.area_in;
    const int64_t next = ahead * (int64_t)sizeof *x;
    const __mmask16 rest = (__mmask16)((1u << count % LANES) - 1);
    for (int64_t y = 0; y < rows; y++, x += width, out += pitch) {
        int64_t i = 0;
        for (; i + LANES <= count; i += LANES) {
            mw__kernel_prefetch(x + i, next);
            _mm512_storeu_ps(out + i, _mm512_loadu_ps(x + i));
        }
        mw__kernel_prefetch(x + i, next);
        if (rest != 0)
            _mm512_mask_storeu_ps(out + i, rest, _mm512_maskz_loadu_ps(rest, x + i));
    }
}

static void clear_rows(const mw__conv_avx512 *c, int64_t begin, int64_t end, float *plane)
{
    memset(plane + begin * c->pitch, 0, (size_t)((end - begin) * c->pitch) * sizeof *plane);
}

void mw__conv_avx512_copy(const mw__conv_avx512 *c, const float *x, int64_t band, float *frame)
{
    const mw__conv_window *w = &c->window;
    const int64_t start = band * c->band * w->stride[1] - w->before[1]; /* the row of x in the first of the frame */
    const int64_t from = start > 0 ? mw__i64_min(start, w->in[1]) : 0,
                  top = start < 0 ? mw__i64_min(-start, c->rows) : 0;
    const int64_t rows = mw__i64_min(w->in[1] - from, c->rows - top);
    for (int64_t i = 0; i < c->inputs; i++, x += w->area_in, frame += c->plane) {
        const float *const first = x + from * w->in[2];
        float *const out = frame + top * c->pitch;
        if (c->bands > 1) {
            clear_rows(c, 0, top, frame);
            clear_rows(c, top + rows, c->rows, frame);
        }
        if (w->stride[2] == 1 && w->before[2] < c->pitch)
            copy_rows(c, first, rows, out + w->before[2]);
        else
            for (int64_t y = 0; y < rows; y++)
                for (int64_t phase = 0; phase < c->phases; phase++)
                    copy_phase(c, first + y * w->in[2], phase, out + y * c->pitch + phase * c->width);
    }
}

/* ---- conv ---- */

typedef struct conv_block {
    mw__conv_avx512 conv;
    int64_t lines;  /* rows of y at a time */
    int64_t shares; /* of the panels of all groups: several where rows do not keep every partition busy */
    const mw__packed_finish *columns;
    mw__tail tail;
} conv_block;

/* Lines of y [lines, width of y, MW__CONV_PANEL] and what the last square reads beyond them. */
static int64_t line_floats(const conv_block *s) { return (s->lines * s->conv.window.out[2] + LANES) * MW__CONV_PANEL; }

/* Rows of y of one group under one frame. */
typedef struct conv_rows {
    const float *frame, *packed, *bias;
    float *lines, *y;                /* y: the first of the rows */
    int64_t band, count, begin, end; /* begin, end: panels */
    const mw__kernel_call *call;
} conv_rows;

/* Positions of so many channels from y on, what is done to them before they are stored, and after. */
static void store_lines(const conv_block *s, const conv_rows *r, int64_t positions, int64_t channels, float *y)
{
    const int64_t area = s->conv.window.area_out, at = y - (const float *)r->call->out[0];
    const size_t first = mw__tail_placeless(&s->tail);
    if (first > 0)
        mw__tail_run_placeless(&s->tail, r->lines, positions * MW__CONV_PANEL);
    mw__conv_avx512_transpose(r->lines, positions, channels, y, area);
    for (int64_t o = 0; first < s->tail.count && o < channels; o++)
        mw__tail_run(&s->tail, first, r->call, at + o * area, positions);
}

static void run_rows(const conv_block *s, const conv_rows *r)
{
    const mw__conv_avx512 *c = &s->conv;
    const int64_t width = c->window.out[2], area = c->window.area_out;
    for (int64_t panel = r->begin; panel < r->end; panel++) {
        const int64_t first = panel * MW__CONV_PANEL, channels = mw__i64_min(MW__CONV_PANEL, c->outputs - first);
        for (int64_t row = 0; row < r->count; row += s->lines) {
            const int64_t here = mw__i64_min(s->lines, r->count - row);
            for (int64_t i = 0; i < here; i++)
                mw__conv_avx512_row(c, r->frame, r->packed, panel, r->band, row + i,
                                    r->lines + i * width * MW__CONV_PANEL);
            if (s->columns != NULL)
                mw__conv_avx512_finish(s->columns, r->bias != NULL ? r->bias + first : NULL, channels, here * width,
                                       r->lines);
            store_lines(s, r, here * width, channels, r->y + first * area + row * width);
        }
    }
}

/* Panels [begin, end) of one group of an example, [examples, groups], under the frame of a band. */
static void run_group(const conv_block *s, const mw__kernel_call *call, int64_t at, int64_t band, int64_t begin,
                      int64_t end)
{
    float *const frame = (float *)call->scratch + line_floats(s);
    const mw__conv_avx512 *c = &s->conv;
    const mw__conv_window *w = &c->window;
    const int64_t group = at % c->groups, row = band * c->band;
    const bool biased = s->columns != NULL && s->columns->add != NULL;
    const conv_rows rows = {.frame = frame,
                            .packed = (const float *)call->in[1] + group * mw__conv_avx512_weights(c),
                            .bias = biased ? (const float *)call->in[2] + group * c->outputs : NULL,
                            .lines = call->scratch,
                            .y = (float *)call->out[0] + at * c->outputs * w->area_out + row * w->out[2],
                            .band = band,
                            .call = call,
                            .count = mw__i64_min(c->band, w->out[1] - row),
                            .begin = begin,
                            .end = end};
    mw__conv_avx512_copy(c, (const float *)call->in[0] + at * c->inputs * w->area_in, band, frame);
    run_rows(s, &rows);
}

/* A unit is a share of the panels in a band of one example: [examples, bands, shares]. */
static void conv_run(const mw__kernel_call *call)
{
    const conv_block *s = call->block;
    const mw__conv_avx512 *c = &s->conv;
    const int64_t panels = c->groups * c->panels;
    memset(call->scratch, 0, (size_t)(line_floats(s) + c->frame) * sizeof(float));
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t share = unit % s->shares, place = unit / s->shares;
        const int64_t begin = panels * share / s->shares, end = panels * (share + 1) / s->shares;
        for (int64_t at = begin; at < end;) {
            const int64_t group = at / c->panels, first = at % c->panels;
            const int64_t last = mw__i64_min(c->panels, first + end - at);
            run_group(s, call, place / c->bands * c->groups + group, place % c->bands, first, last);
            at += last - first;
        }
    }
}

const char *mw__conv_avx512_declines(const void *op)
{
    mw__conv_avx512 ignored;
    return read_conv(op, &ignored) && fill_joined(&ignored)
               ? NULL
               : "not fp32, three spatial axes, few channels or positions, or a frame beyond the cache";
}

/* More bands where examples would not keep every partition busy. */
static void share_rows(const mw__planner *planner, mw__conv_avx512 *c)
{
    const int64_t partitions = mw__plan_partitions(planner), units = c->examples * c->bands;
    const int64_t most = (units + partitions - 1) / partitions;
    if (10 * most * partitions <= 11 * units || c->examples == 0)
        return;
    const int64_t bands = (2 * partitions + c->examples - 1) / c->examples, band = c->window.out[1] / bands;
    if (bands > c->bands && band > 0)
        cut_bands(c, band);
}

/* More shares of the panels where bands would not, either: one example of a row alone, say. */
static int64_t share_panels(const mw__planner *planner, const mw__conv_avx512 *c)
{
    const int64_t partitions = mw__plan_partitions(planner), units = c->examples * c->bands;
    return units == 0 || units >= partitions ? 1
                                             : mw__i64_min(mw__i64_divide_up(partitions, units), c->groups * c->panels);
}

/* A step of numbers that are read. `bias` is read if something is done to the sums. */
static void plan_conv(mw__planner *planner, conv_block *s, const mw__packed_request *r)
{
    mw__conv_avx512 *const c = &s->conv;
    const int64_t most = MW__CONV_LINE / c->window.out[2];
    if (r->columns == NULL)
        share_rows(planner, c);
    mw__conv_avx512_prepare(planner, c);
    s->lines = most > 0 ? most : 1;
    s->shares = share_panels(planner, c);
    s->columns = r->columns;
    const bool apart = r->columns != NULL && r->bias != NULL;
    const uint32_t packed = mw__conv_avx512_pack(planner, c, r->weight, apart ? NULL : r->bias);
    const uint32_t bias = apart ? mw__conv_operand(planner, r->bias) : 0;
    const double results = (double)mw__count_of(r->result);
    const mw__access access = c->bands * s->shares > 1 ? MW__WHOLE : MW__ROWS;
    const char *label = c->transposed ? "conv_transpose.avx512" : "conv.avx512";
    mw__step *step = mw__plan_step(planner, conv_run, r->columns != NULL ? r->columns->label : label,
                                   c->examples * c->bands * s->shares,
                                   mw__cost(4.0 * results, 0.3 * 2.0 * results * (double)c->depth));
    step->block = s;
    s->tail.most = INFINITY;
    step->fusion.tail = r->columns == NULL ? &s->tail : NULL;
    step->rounds = r->columns != NULL;
    step->report.flops = 2.0 * results * (double)c->depth;
    step->scratch = (size_t)(line_floats(s) + c->frame) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, r->x), access,
                  (size_t)(c->groups * c->inputs * c->window.area_in) * sizeof(float), false);
    mw__step_read(planner, step, packed, MW__WHOLE, 0, false);
    if (apart)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), access,
                   (size_t)(c->groups * c->outputs * c->window.area_out) * sizeof(float));
}

mw_status mw__plan_conv_avx512(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw__packed_request request = {
        .x = mw__arg(op, "x"), .weight = mw__arg(op, "weight"), .bias = mw__arg(op, "bias"), .result = op->results[0]};
    conv_block *s = mw__plan_block(planner, sizeof *s);
    if (s != NULL && read_conv(op, &s->conv) && fill_joined(&s->conv))
        plan_conv(planner, s, &request);
    return mw__plan_check(planner, err);
}

const char *mw__conv_request_avx512_declines(const void *request)
{
    mw__conv_avx512 ignored;
    return read_request(request, &ignored) ? NULL : "strides, few channels or positions, or a frame beyond the cache";
}

mw_status mw__plan_conv_request_avx512(mw__planner *planner, const mw__packed_request *request, mw_error *err)
{
    conv_block *s = mw__plan_block(planner, sizeof *s);
    if (s != NULL && read_request(request, &s->conv))
        plan_conv(planner, s, request);
    return mw__plan_check(planner, err);
}

mw_status mw__plan_conv_avx512_columns(mw__planner *planner, const mw__packed_request *request, mw_error *err)
{
    conv_block *s = mw__plan_block(planner, sizeof *s);
    if (s != NULL && mw__conv_avx512_takes(request, &s->conv))
        plan_conv(planner, s, request);
    return mw__plan_check(planner, err);
}
