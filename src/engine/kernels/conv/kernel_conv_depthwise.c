/* Convolutions whose groups have one input channel, forward and backward. A plane of x is copied once, with its border,
 * into a plane for each remainder of row and column by the stride. All of them have rows of one pitch, so that a tap
 * is one offset for every position of y, whose rows are computed with that pitch, one after the other, and cut:
 *
 *     y[j pitch + i] = bias + sum over taps of weight[t] frame[at[t] + j pitch + i]      in order: kernel_conv_packed.h
 *
 * For the weight's gradient dy gets that pitch with zeros behind its rows, lanes sum over an example after another, and
 * are added up at the end; products of those zeros with what is not finite in x are part of it. Scratch of a
 * partition: the frame, and a band of rows of y or all of dy. */
#include "engine/kernels/conv/kernel_conv_dweight.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/simd_reduce.h"

#include <string.h>

#define FRAME_MOST 4194304 /* floats */
#define BAND       2048    /* positions of y, about */
#define TAPS_MOST  512
#define EXTENT     65536

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -divide_up(-a, b); }

/* ---- the frame ---- */

typedef struct depthwise_frame {
    int64_t in[2], step[2]; /* of a plane of x */
    int64_t first[2];       /* of row and column: where the planes begin, in elements of x */
    int64_t rows, pitch;    /* of each plane */
    int64_t floats;
} depthwise_frame;

/* What taps with offsets from `low` to `high` reach from `extent` positions. */
static depthwise_frame frame_of(const int64_t in[2], const int64_t step[2], const int64_t extent[2],
                                const int64_t low[2], const int64_t high[2])
{
    depthwise_frame f = {.in = {in[0], in[1]}, .step = {step[0], step[1]}, .first = {low[0], low[1]}};
    f.rows = extent[0] + (high[0] - low[0]) / step[0];
    f.pitch = extent[1] + (high[1] - low[1]) / step[1];
    f.floats = step[0] * step[1] * f.rows * f.pitch + MW__PACKED_SLACK;
    return f;
}

static int32_t place_of(const depthwise_frame *f, int64_t row, int64_t column)
{
    const int64_t y = row - f->first[0], x = column - f->first[1];
    const int64_t plane = y % f->step[0] * f->step[1] + x % f->step[1];
    return (int32_t)((plane * f->rows + y / f->step[0]) * f->pitch + x / f->step[1]);
}

/* Which of `count` elements from `first` on, `step` apart, lie within [0, extent). */
static void find_inside(int64_t first, int64_t step, int64_t extent, int64_t count, int64_t *out_begin,
                        int64_t *out_end)
{
    const int64_t inside = extent > first ? divide_up(extent - first, step) : 0;
    *out_begin = smaller(first < 0 ? divide_up(-first, step) : 0, count);
    *out_end = larger(*out_begin, smaller(inside, count));
}

static void fill_frame(const depthwise_frame *f, const mw__packed_code *code, const float *x, float *frame)
{
    for (int64_t py = 0; py < f->step[0]; py++)
        for (int64_t px = 0; px < f->step[1]; px++, frame += f->rows * f->pitch) {
            const int64_t y = f->first[0] + py, left = f->first[1] + px;
            int64_t top, bottom, begin, end;
            find_inside(y, f->step[0], f->in[0], f->rows, &top, &bottom);
            find_inside(left, f->step[1], f->in[1], f->pitch, &begin, &end);
            const int64_t offset = (y + top * f->step[0]) * f->in[1] + left;
            memset(frame, 0, (size_t)(top * f->pitch) * sizeof *frame);
            code->lines((const float *)((uintptr_t)x + (uintptr_t)(offset * (int64_t)sizeof *x)), f->step[0] * f->in[1],
                        bottom - top, f->step[1], begin, end, f->pitch, frame + top * f->pitch);
            memset(frame + bottom * f->pitch, 0, (size_t)((f->rows - bottom) * f->pitch) * sizeof *frame);
        }
}

/* ---- y, or x of the transpose ---- */

typedef struct depthwise_block {
    depthwise_frame frame;
    int64_t outputs; /* channels of a group */
    int64_t groups, area_in, area_out, width, spread[2];
    int64_t grids, taps; /* taps: of the kernel */
    const mw__packed_grid *grid;
    const int32_t *at; /* of the taps of all grids */
    const mw__packed_code *code;
    bool has_bias;
} depthwise_block;

static int64_t band_floats(const depthwise_block *s) { return larger(BAND, s->frame.pitch) + MW__PACKED_SLACK; }

/* One grid of one plane of y. */
static void run_grid(const depthwise_block *s, const mw__packed_grid *g, const int32_t *at, const float *weight,
                     float bias, const float *frame, float *band, float *y)
{
    float taps[TAPS_MOST];
    const int64_t pitch = s->frame.pitch, lines = larger(1, BAND / pitch);
    for (int64_t t = 0; t < g->taps; t++)
        taps[t] = weight[g->tap[t].element];
    y += g->start[1] * s->width + g->start[2];
    for (int64_t row = 0; row < g->extent[1]; row += lines) {
        const int64_t here = smaller(lines, g->extent[1] - row);
        s->code->taps(g->taps, taps, at, frame + row * pitch, (here - 1) * pitch + g->extent[2], bias, band);
        if (s->grids == 1 && s->spread[1] == 1) { /* rows of y follow each other */
            s->code->lines(band, pitch, here, 1, 0, s->width, s->width, y + row * s->width);
            continue;
        }
        for (int64_t i = 0; i < here; i++) /* the bias is in it: adding -0 changes no bit */
            s->code->store(y + (row + i) * s->spread[0] * s->width, s->spread[1], band + i * pitch, g->extent[2],
                           -0.0f);
    }
}

/* A unit is a group of an example. */
static void depthwise_run(const mw__kernel_call *call)
{
    const depthwise_block *s = call->block;
    float *const frame = call->scratch, *const band = frame + s->frame.floats;
    memset(frame + s->frame.floats - MW__PACKED_SLACK, 0, MW__PACKED_SLACK * sizeof *frame);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        fill_frame(&s->frame, s->code, (const float *)call->in[0] + unit * s->area_in, frame);
        for (int64_t o = 0; o < s->outputs; o++) {
            const int64_t channel = unit % s->groups * s->outputs + o;
            const float *weight = (const float *)call->in[1] + channel * s->taps;
            const float bias = s->has_bias ? ((const float *)call->in[2])[channel] : 0.0f;
            const int32_t *at = s->at;
            for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; at += g->taps, g++)
                run_grid(s, g, at, weight, bias, frame, band,
                         (float *)call->out[0] + (unit * s->outputs + o) * s->area_out);
        }
    }
}

static bool extents_fit(const mw__conv_window *w)
{
    for (int i = 1; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT / w->dilation[i] ||
            w->before[i] > EXTENT || w->stride[i] > 16)
            return false;
    /* what any of the frames below covers */
    const int64_t rows = larger(w->in[1], w->out[1] * w->stride[1]) + 2 * w->kernel[1] * w->dilation[1];
    const int64_t columns = larger(w->in[2], w->out[2] * w->stride[2]) + 2 * w->kernel[2] * w->dilation[2];
    return w->kernel[0] == 1 && w->in[0] == 1 && w->out[0] == 1 && w->before[0] == 0 && w->taps <= TAPS_MOST &&
           rows <= FRAME_MOST / columns;
}

const char *mw__conv_depthwise_declines(const mw__packed_request *r)
{
    const mw_shape weight = mw__shape_of(r->weight);
    if (r->groups == 1 && mw__shape_of(r->result).dim[1] > 1)
        return "one group";
    if ((r->transposed ? weight.dim[0] / r->groups : weight.dim[1]) != 1)
        return "more than one input channel in a group";
    if (mw__dtype_of(r->result) != MW_F32 || mw__count_of(r->result) < 1 || mw__count_of(r->x) < 1)
        return "not fp32, or no elements";
    return extents_fit(&r->window) ? NULL : "three spatial axes, or a plane beyond its frames";
}

/* The frame of all grids, and the places of their taps. */
static void fill_places(mw__planner *planner, const int64_t in[2], const int64_t step[2], depthwise_block *s)
{
    int64_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {INT32_MIN, INT32_MIN}, extent[2] = {1, 1};
    int32_t *const places = mw__plan_block(planner, (size_t)s->taps * sizeof *places), *at = places;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        for (int i = 0; i < 2; i++) {
            extent[i] = larger(extent[i], g->extent[i + 1]);
            for (int64_t t = 0; t < g->taps; t++) {
                low[i] = smaller(low[i], g->tap[t].offset[i + 1]);
                high[i] = larger(high[i], g->tap[t].offset[i + 1]);
            }
        }
    for (int i = 0; i < 2; i++) /* planes begin at multiples of the step, as a row of x does */
        low[i] = floor_of(low[i], step[i]) * step[i];
    s->frame = frame_of(in, step, extent, low, high);
    s->at = places;
    for (const mw__packed_grid *g = s->grid; places != NULL && g < s->grid + s->grids; g++)
        for (int64_t t = 0; t < g->taps; t++)
            *at++ = place_of(&s->frame, g->tap[t].offset[1], g->tap[t].offset[2]);
}

static bool fill_block(mw__planner *planner, const mw__packed_request *r, depthwise_block *s)
{
    const mw__conv_window *w = &r->window;
    const mw_shape weight = mw__shape_of(r->weight);
    const int64_t step[2] = {r->transposed ? 1 : w->stride[1], r->transposed ? 1 : w->stride[2]};
    s->groups = r->groups, s->taps = w->taps, s->has_bias = r->bias != NULL;
    s->outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups;
    s->area_in = r->transposed ? w->area_out : w->area_in, s->area_out = r->transposed ? w->area_in : w->area_out;
    s->width = r->transposed ? w->in[2] : w->out[2];
    for (int i = 0; i < 2; i++)
        s->spread[i] = r->transposed ? w->stride[i + 1] : 1;
    s->code = mw__packed_code_of(mw__plan_level(planner));
    s->grid = mw__packed_fill_grids(planner, r), s->grids = mw__packed_grids(r);
    if (s->grid == NULL)
        return false;
    fill_places(planner, (const int64_t[2]){r->transposed ? w->out[1] : w->in[1], r->transposed ? w->out[2] : w->in[2]},
                step, s);
    return true;
}

mw_status mw__plan_conv_depthwise(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    depthwise_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !fill_block(planner, r, s))
        return mw__plan_check(planner, err);
    const int64_t units = mw__shape_of(r->x).dim[0] * s->groups;
    const uint32_t x = mw__conv_operand(planner, r->x), weight = mw__conv_operand(planner, r->weight);
    const uint32_t bias = r->bias != NULL ? mw__conv_operand(planner, r->bias) : 0;
    double flops = 0.0;
    for (int64_t i = 0; i < s->grids; i++)
        flops += 2.0 * (double)(units * s->outputs) * (double)(s->grid[i].area * s->grid[i].taps);
    mw__step *step =
        mw__plan_step(planner, depthwise_run, r->transposed ? "conv_transpose.depthwise" : "conv.depthwise", units,
                      mw__cost(4.0 * (double)mw__count_of(r->result), 0.6 * flops));
    step->block = s;
    step->flops = flops;
    step->scratch = (size_t)(s->frame.floats + band_floats(s)) * sizeof(float);
    mw__step_read(planner, step, x, MW__ROWS, (size_t)s->area_in * sizeof(float), false);
    mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (r->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__ROWS,
                   (size_t)(s->outputs * s->area_out) * sizeof(float));
    return mw__plan_check(planner, err);
}

/* ---- the gradient by the weight ---- */

typedef struct dweight_block {
    depthwise_frame frame;
    mw__conv_window window;
    int64_t examples, groups, outputs;
    int64_t count; /* positions of y with the frame's pitch */
    const int32_t *at;
    const mw__packed_code *code;
    bool has_bias;
} dweight_block;

static int64_t dy_floats(const dweight_block *s) { return s->count + MW__PACKED_SLACK; }

/* dy with the frame's pitch; what is behind its rows is zero already. */
static void spread_dy(const dweight_block *s, const float *dy, float *out)
{
    for (int64_t row = 0; row < s->window.out[1]; row++, dy += s->window.out[2], out += s->frame.pitch)
        memcpy(out, dy, (size_t)s->window.out[2] * sizeof *out);
}

/* A unit is a group. */
static void depthwise_dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    const mw__conv_window *w = &s->window;
    const int64_t width = s->code->width;
    float *const frame = call->scratch, *const dy = frame + s->frame.floats, *const sums = dy + dy_floats(s);
    memset(frame + s->frame.floats - MW__PACKED_SLACK, 0, MW__PACKED_SLACK * sizeof *frame);
    memset(dy, 0, (size_t)dy_floats(s) * sizeof *dy);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        memset(sums, 0, (size_t)(s->outputs * w->taps * width) * sizeof *sums);
        for (int64_t o = 0; s->has_bias && o < s->outputs; o++)
            ((float *)call->out[1])[unit * s->outputs + o] = 0.0f;
        for (int64_t n = 0; n < s->examples; n++) {
            fill_frame(&s->frame, s->code, (const float *)call->in[0] + (n * s->groups + unit) * w->area_in, frame);
            for (int64_t o = 0; o < s->outputs; o++) {
                const int64_t channel = unit * s->outputs + o;
                const float *plane = (const float *)call->in[1] + (n * s->groups * s->outputs + channel) * w->area_out;
                spread_dy(s, plane, dy);
                s->code->dots(w->taps, s->at, frame, dy, s->count, sums + o * w->taps * width);
                if (s->has_bias)
                    ((float *)call->out[1])[channel] += mw__lanes_sum(plane, w->area_out);
            }
        }
        for (int64_t i = 0; i < s->outputs * w->taps; i++)
            ((float *)call->out[0])[unit * s->outputs * w->taps + i] = mw__lanes_sum(sums + i * width, width);
    }
}

const char *mw__conv_dweight_depthwise_declines(const void *subject)
{
    const mw__conv_dweight_match *match = subject;
    const mw__conv_window window = mw__conv_window_of(&match->numbers);
    if (match->numbers.groups == 1 || mw__shape_of(match->dweight).dim[1] != 1)
        return "more than one input channel in a group";
    return extents_fit(&window) ? NULL : "three spatial axes, or a plane beyond its frames";
}

static void fill_dweight(mw__planner *planner, const mw__conv_dweight_match *match, dweight_block *s)
{
    *s = (dweight_block){.window = mw__conv_window_of(&match->numbers), .groups = match->numbers.groups};
    const mw__conv_window *w = &s->window;
    int64_t low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = -w->before[i + 1], high[i] = low[i] + (w->kernel[i + 1] - 1) * w->dilation[i + 1];
        low[i] = floor_of(low[i], w->stride[i + 1]) * w->stride[i + 1];
    }
    s->frame = frame_of(w->in + 1, w->stride + 1, w->out + 1, low, high);
    s->examples = mw__shape_of(match->x).dim[0], s->outputs = mw__shape_of(match->dweight).dim[0] / s->groups;
    s->count = (w->out[1] - 1) * s->frame.pitch + w->out[2];
    s->code = mw__packed_code_of(mw__plan_level(planner));
    s->has_bias = match->dbias != NULL;
    int32_t *const at = mw__plan_block(planner, (size_t)w->taps * sizeof *at);
    s->at = at;
    for (int64_t t = 0; at != NULL && t < w->taps; t++) {
        int64_t offset[3];
        mw__conv_tap(w, t, offset);
        at[t] = place_of(&s->frame, offset[1], offset[2]);
    }
}

mw_status mw__plan_conv_dweight_depthwise(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    dweight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    fill_dweight(planner, match, s);
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)s->window.taps;
    mw__step *step = mw__plan_step(planner, depthwise_dweight_run, "conv.dweight", s->groups, 0.05 * flops);
    step->block = s;
    step->flops = flops;
    step->scratch =
        (size_t)(s->frame.floats + dy_floats(s) + s->outputs * s->window.taps * s->code->width) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__ROWS,
                   (size_t)(s->outputs * s->window.taps) * sizeof(float));
    if (match->dbias != NULL)
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__ROWS,
                       (size_t)s->outputs * sizeof(float));
    return mw__plan_check(planner, err);
}
