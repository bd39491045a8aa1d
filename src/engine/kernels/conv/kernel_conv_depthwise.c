/* Convolutions whose groups have one input channel, forward and backward. A plane of x is copied once, with its border,
 * into a plane for each remainder of row and column by the stride. All of them have rows of one pitch, so that a tap
 * is one offset for every position of y, whose rows are computed with that pitch, one after the other, and cut:
 *
 *     y[j pitch + i] = bias + sum over taps of weight[t] frame[at[t] + j pitch + i]      in order: kernel_conv_packed.h
 *
 * For the weight's gradient dy gets that pitch with zeros behind its rows, lanes sum over an example after another, and
 * are added up at the end; products of those zeros with what is not finite in x are part of it. Scratch of a
 * partition: some frames, and bands of rows of y or all of dy: frames are filled before the first of them is read, as
 * loads that meet several stores on their way to memory wait for them.
 *
 * Where the code has masks, and rows of x and of a grid are of one length, planes are read where they lie, and what is
 * outside is masked: the same chains, so the same bits of y; the lanes that the weight's gradient is summed in are then
 * those of positions without a border, and its sums are in another order. Groups of that gradient are taken in blocks
 * whose planes lie one after the other, and the planes that come next are fetched beforehand: each begins a page, which
 * some processors do not fetch by themselves. */
#include "engine/kernels/conv/kernel_conv_dweight.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/simd_reduce.h"

#include <string.h>

#define FRAME_MOST 4194304 /* floats */
#define BAND       2048    /* positions of y, about */
#define TAPS_MOST  512
#define EXTENT     65536
#define PAGE       1024 /* floats */
#define LINE       16   /* floats of a cache line */
#define NEAR       4096 /* floats that stay in the first-level cache beside those of a loop */

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

/* Planes lie in pages of their own, of which some processors fetch nothing by themselves. */
static void ask_for(const float *plane, int64_t floats)
{
    for (int64_t i = 0; i < floats; i += LINE)
        mw__prefetch(plane, i * (int64_t)sizeof *plane);
}

/* The frame of plane x; `next` is one that comes later, or lies outside of any object. */
static void fill_frame(const depthwise_frame *f, const mw__packed_code *code, const float *x, const float *next,
                       float *frame)
{
    ask_for(next, f->in[0] * f->in[1]);
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

/* ---- planes without a frame ---- */

#define MASKS_MOST 16384 /* of a step: they are read for each plane, and stay in the first-level cache */

static int64_t vectors_of(int64_t count, const mw__packed_code *code) { return divide_up(count, code->width); }

/* Whether the code takes planes [rows, in[1]] as they lie, under taps one element apart. */
static bool is_flat(const mw__packed_code *code, const int64_t in[2], int64_t rows, int64_t columns, int64_t taps)
{
    return code->flat_taps != NULL && columns == in[1] && vectors_of(rows * columns, code) * taps <= MASKS_MOST;
}

/* Where in a plane `in` the positions of y, rows as long as its own, find their elements under a tap at `offset` from
 * them. at, mask: of this tap. */
static void fill_flat(const mw__packed_code *code, const int64_t in[2], int64_t count, const int64_t offset[2],
                      int32_t *at, uint16_t *mask)
{
    *at = (int32_t)(offset[0] * in[1] + offset[1]);
    for (int64_t i = 0; i < count; i++) {
        const int64_t y = i / in[1] + offset[0], x = i % in[1] + offset[1];
        if (y >= 0 && y < in[0] && x >= 0 && x < in[1])
            mask[i / code->width] |= (uint16_t)(1u << i % code->width);
    }
}

/* ---- y, or x of the transpose ---- */

typedef struct depthwise_block {
    depthwise_frame frame;
    const mw__packed_flat *flat; /* [grids]; NULL: planes are copied to frames */
    int64_t together; /* planes of frames: what one's stores are still about to write, the next does not read */
    int64_t band;     /* floats */
    int64_t outputs;  /* channels of a group */
    int64_t groups, area_in, area_out, width, spread[2];
    int64_t grids, taps; /* taps: of the kernel */
    const mw__packed_grid *grid;
    const int32_t *at; /* of the taps of all grids */
    const mw__packed_code *code;
    bool has_bias;
    const mw__packed_finish *columns; /* of the product of columns; or NULL */
} depthwise_block;

/* Rows of one grid that are computed at a time. */
static int64_t band_rows(const depthwise_block *s) { return larger(1, BAND / s->frame.pitch); }

/* Rows from `row` on of a grid, which are in `band`, to their places. */
static void cut_band(const depthwise_block *s, const mw__packed_grid *g, const float *band, int64_t pitch, int64_t row,
                     int64_t rows, float *y)
{
    y += g->start[1] * s->width + g->start[2];
    if (s->grids == 1 && s->spread[1] == 1) { /* rows of y follow each other */
        s->code->lines(band, pitch, rows, 1, 0, s->width, s->width, y + row * s->width);
        return;
    }
    for (int64_t i = 0; i < rows; i++) /* the bias is in it: adding -0 changes no bit */
        s->code->store(y + (row + i) * s->spread[0] * s->width, s->spread[1], band + i * pitch, g->extent[2], -0.0f);
}

/* What a plane is multiplied with. */
typedef struct plane_weight {
    const float *weight;
    float bias;
} plane_weight;

static float bias_of(const mw__kernel_call *call, int64_t channel) { return ((const float *)call->in[2])[channel]; }

/* Of output `o` of a unit. */
static plane_weight weight_of(const depthwise_block *s, const mw__kernel_call *call, int64_t unit, int64_t o)
{
    const int64_t channel = unit % s->groups * s->outputs + o;
    return (plane_weight){.weight = (const float *)call->in[1] + channel * s->taps,
                          .bias = s->has_bias ? bias_of(call, channel) : 0.0f};
}

static void order_taps(const mw__packed_grid *g, const float *weight, float taps[TAPS_MOST])
{
    for (int64_t t = 0; t < g->taps; t++)
        taps[t] = weight[g->tap[t].element];
}

/* One grid of output `o` of units [unit, unit + count), whose frames and bands lie one after the other. */
static void run_grid(const depthwise_block *s, const mw__kernel_call *call, size_t grid, const int32_t *at,
                     int64_t unit, int64_t count, int64_t o)
{
    float taps[TAPS_MOST];
    const mw__packed_grid *g = &s->grid[grid];
    const float *const frames = call->scratch;
    float *const bands = (float *)call->scratch + s->together * s->frame.floats;
    const int64_t pitch = s->frame.pitch, lines = band_rows(s);
    for (int64_t row = 0; row < g->extent[1]; row += lines) {
        const int64_t here = smaller(lines, g->extent[1] - row);
        for (int64_t i = 0; i < count; i++) {
            const plane_weight w = weight_of(s, call, unit + i, o);
            order_taps(g, w.weight, taps);
            s->code->taps(g->taps, taps, at, frames + i * s->frame.floats + row * pitch,
                          (here - 1) * pitch + g->extent[2], w.bias, bands + i * s->band);
        }
        for (int64_t i = 0; i < count; i++)
            cut_band(s, g, bands + i * s->band, pitch, row, here,
                     (float *)call->out[0] + ((unit + i) * s->outputs + o) * s->area_out);
    }
}

/* Perhaps outside of x. */
static const float *plane_at(const void *x, int64_t at)
{
    return (const float *)((uintptr_t)x + (uintptr_t)(at * (int64_t)sizeof(float)));
}

/* Of the product of columns: what becomes of the planes of units [unit, unit + count), and their bias. */
static void finish(const depthwise_block *s, const mw__kernel_call *call, int64_t unit, int64_t count)
{
    const mw__packed_finish *f = s->columns;
    float *const y = (float *)call->out[0] + unit * s->outputs * s->area_out;
    const int64_t all = count * s->outputs * s->area_out;
    if (f->round != NULL)
        f->round(y, y, all, 0, 0);
    for (int64_t o = 0; f->add != NULL && o < count * s->outputs; o++) {
        float *const plane = y + o * s->area_out;
        f->add(plane, plane, s->area_out, bias_of(call, (unit * s->outputs + o) % (s->groups * s->outputs)), 0);
    }
    if (f->after != NULL)
        f->after(y, y, all, 0, 0);
}

/* A unit is a group of an example. */
static void depthwise_run(const mw__kernel_call *call)
{
    const depthwise_block *s = call->block;
    float *const frames = call->scratch;
    for (int64_t i = 1; i <= s->together; i++)
        memset(frames + i * s->frame.floats - MW__PACKED_SLACK, 0, MW__PACKED_SLACK * sizeof *frames);
    for (int64_t unit = call->begin, count; unit < call->end; unit += count) {
        count = smaller(s->together, call->end - unit);
        for (int64_t i = 0; i < count; i++)
            fill_frame(&s->frame, s->code, plane_at(call->in[0], (unit + i) * s->area_in),
                       plane_at(call->in[0], (unit + i) * s->area_in + larger(s->together * s->area_in, PAGE)),
                       frames + i * s->frame.floats);
        for (int64_t o = 0; o < s->outputs; o++) {
            const int32_t *at = s->at;
            for (int64_t grid = 0; grid < s->grids; at += s->grid[grid++].taps)
                run_grid(s, call, (size_t)grid, at, unit, count, o);
        }
        if (s->columns != NULL)
            finish(s, call, unit, count);
    }
}

/* Bands of all grids, and then their rows to their places. */
static void flat_grids(const depthwise_block *s, const float *x, plane_weight w, float *bands, float *y)
{
    float taps[TAPS_MOST];
    for (int64_t grid = 0; grid < s->grids; grid++) {
        order_taps(&s->grid[grid], w.weight, taps);
        s->code->flat_taps(&s->flat[grid], taps, x, w.bias, bands + grid * s->band);
    }
    for (int64_t grid = 0; grid < s->grids; grid++)
        cut_band(s, &s->grid[grid], bands + grid * s->band, s->grid[grid].extent[2], 0, s->grid[grid].extent[1], y);
}

/* The same without frames. */
static void flat_run(const mw__kernel_call *call)
{
    const depthwise_block *s = call->block;
    float taps[TAPS_MOST];
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const float *x = (const float *)call->in[0] + unit * s->area_in;
        for (int64_t o = 0; o < s->outputs; o++) {
            const plane_weight w = weight_of(s, call, unit, o);
            float *y = (float *)call->out[0] + (unit * s->outputs + o) * s->area_out;
            if (s->band == 0) {
                order_taps(s->grid, w.weight, taps);
                s->code->flat_taps(s->flat, taps, x, w.bias, y);
            } else {
                flat_grids(s, x, w, call->scratch, y);
            }
        }
        if (s->columns != NULL)
            finish(s, call, unit, 1);
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

/* All grids without frames, if their code can do so. */
static void plan_flat(mw__planner *planner, const int64_t in[2], const int64_t step[2], depthwise_block *s)
{
    int64_t vectors = 0, at = 0;
    bool fits = step[0] == 1 && step[1] == 1;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids;
         vectors += vectors_of(g->area, s->code) * g->taps, g++)
        fits = fits && is_flat(s->code, in, g->extent[1], g->extent[2], g->taps);
    if (!fits || vectors > MASKS_MOST)
        return;
    mw__packed_flat *const flat = mw__plan_block(planner, (size_t)s->grids * sizeof *flat);
    uint16_t *mask = mw__plan_block(planner, (size_t)vectors * sizeof *mask);
    int32_t *const places = mw__plan_block(planner, (size_t)s->taps * sizeof *places);
    for (int64_t i = 0; flat != NULL && mask != NULL && places != NULL && i < s->grids; i++) {
        const mw__packed_grid *g = &s->grid[i];
        flat[i] = (mw__packed_flat){.taps = g->taps, .count = g->area, .at = places + at, .mask = mask};
        for (int64_t t = 0; t < g->taps; t++, mask += vectors_of(g->area, s->code))
            fill_flat(s->code, in, g->area, g->tap[t].offset + 1, &places[at++], mask);
    }
    s->flat = flat;
}

/* What scratch holds: bands of grids whose rows do not lie as they are computed, or some planes' frames and bands. */
static void choose_scratch(depthwise_block *s)
{
    int64_t rows = 0, area = 0;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        rows = larger(rows, g->extent[1]), area = larger(area, g->area);
    if (s->flat != NULL) {
        s->band = s->grids == 1 && s->spread[0] == 1 && s->spread[1] == 1 ? 0 : (area + 15) / 16 * 16;
        return;
    }
    s->band = smaller(rows, band_rows(s)) * s->frame.pitch + MW__PACKED_SLACK;
    s->together = larger(1, smaller(8, NEAR / (s->frame.floats + s->band)));
}

static bool fill_block(mw__planner *planner, const mw__packed_request *r, depthwise_block *s)
{
    const mw__conv_window *w = &r->window;
    const mw_shape weight = mw__shape_of(r->weight);
    const int64_t in[2] = {r->transposed ? w->out[1] : w->in[1], r->transposed ? w->out[2] : w->in[2]};
    const int64_t step[2] = {r->transposed ? 1 : w->stride[1], r->transposed ? 1 : w->stride[2]};
    s->groups = r->groups, s->taps = w->taps, s->columns = r->columns;
    s->has_bias = r->bias != NULL && r->columns == NULL; /* else `columns` adds it */
    s->outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups;
    s->area_in = r->transposed ? w->area_out : w->area_in, s->area_out = r->transposed ? w->area_in : w->area_out;
    s->width = r->transposed ? w->in[2] : w->out[2];
    for (int i = 0; i < 2; i++)
        s->spread[i] = r->transposed ? w->stride[i + 1] : 1;
    s->code = mw__packed_code_of(mw__plan_level(planner));
    s->grid = mw__packed_fill_grids(planner, r), s->grids = mw__packed_grids(r);
    if (s->grid == NULL)
        return false;
    fill_places(planner, in, step, s);
    plan_flat(planner, in, step, s);
    choose_scratch(s);
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
    const char *label = r->columns != NULL ? r->columns->label
                        : r->transposed    ? "conv_transpose.depthwise"
                                           : "conv.depthwise";
    mw__step *step = mw__plan_step(planner, s->flat != NULL ? flat_run : depthwise_run, label, units,
                                   mw__cost(4.0 * (double)mw__count_of(r->result), 0.6 * flops));
    step->block = s;
    step->rounds = r->columns != NULL;
    step->flops = flops;
    step->scratch =
        (size_t)(s->flat != NULL ? s->grids * s->band : s->together * (s->frame.floats + s->band)) * sizeof(float);
    mw__step_read(planner, step, x, MW__ROWS, (size_t)s->area_in * sizeof(float), false);
    mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (r->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__ROWS,
                   (size_t)(s->outputs * s->area_out) * sizeof(float));
    return mw__plan_check(planner, err);
}

/* ---- the gradient by the weight ---- */

#define GROUPS_MOST 32 /* of a block */

typedef struct dweight_block {
    depthwise_frame frame;
    const mw__packed_flat *flat; /* NULL: planes are copied to frames */
    mw__conv_window window;
    int64_t examples, groups, outputs;
    int64_t block, together; /* groups whose planes of an example are read one after the other; planes of frames */
    int64_t count;           /* positions of y with the frame's pitch */
    const int32_t *at;
    const mw__packed_code *code;
    bool has_bias;
} dweight_block;

static int64_t dy_floats(const dweight_block *s) { return s->count + MW__PACKED_SLACK; }
static int64_t sums_floats(const dweight_block *s) { return s->outputs * s->window.taps * s->code->width; }

/* dy with the frame's pitch; what is behind its rows is zero already. */
static void spread_dy(const dweight_block *s, const float *dy, float *out)
{
    for (int64_t row = 0; row < s->window.out[1]; row++, dy += s->window.out[2], out += s->frame.pitch)
        memcpy(out, dy, (size_t)s->window.out[2] * sizeof *out);
}

static const float *dy_of(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t channel)
{
    return plane_at(call->in[1], (n * s->groups * s->outputs + channel) * s->window.area_out);
}

static const float *x_of(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t group)
{
    return plane_at(call->in[0], (n * s->groups + group) * s->window.area_in);
}

/* Groups [unit, unit + count) of an example, whose frames are filled before the first of them is read; those of groups
 * from `next` of example `then` on come after them. */
static void add_frames(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t count,
                       int64_t then, int64_t next, float *sums)
{
    float *const frames = call->scratch, *const dys = frames + s->together * s->frame.floats;
    for (int64_t i = 0; i < count; i++)
        fill_frame(&s->frame, s->code, x_of(s, call, n, unit + i), x_of(s, call, then, next + i),
                   frames + i * s->frame.floats);
    for (int64_t o = 0; o < s->outputs; o++) {
        for (int64_t i = 0; i < count; i++) {
            ask_for(dy_of(s, call, then, (next + i) * s->outputs + o), s->window.area_out);
            spread_dy(s, dy_of(s, call, n, (unit + i) * s->outputs + o), dys + i * dy_floats(s));
        }
        for (int64_t i = 0; i < count; i++)
            s->code->dots(s->window.taps, s->at, frames + i * s->frame.floats, dys + i * dy_floats(s), s->count,
                          sums + i * sums_floats(s) + o * s->window.taps * s->code->width);
    }
}

static void add_flat(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t count,
                     float *sums)
{
    const int64_t after = smaller(n + 1, s->examples - 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t o = 0; o < s->outputs; o++) {
            const bool last = i + 1 == count;
            const int64_t then = last ? after : n, group = last ? unit : unit + i + 1;
            const mw__packed_next next = {.x = x_of(s, call, then, group),
                                          .dy = dy_of(s, call, then, group * s->outputs + o)};
            s->code->flat_dots(s->flat, x_of(s, call, n, unit + i), dy_of(s, call, n, (unit + i) * s->outputs + o),
                               &next, sums + i * sums_floats(s) + o * s->window.taps * s->code->width);
        }
}

/* One example of groups [unit, end). */
static void add_example(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t end,
                        float *sums)
{
    for (int64_t c = unit * s->outputs; s->has_bias && c < end * s->outputs; c++)
        ((float *)call->out[1])[c] += mw__lanes_sum(dy_of(s, call, n, c), s->window.area_out);
    if (s->flat != NULL) {
        add_flat(s, call, n, unit, end - unit, sums);
        return;
    }
    for (int64_t at = unit; at < end; at += s->together) {
        const int64_t after = at + s->together;
        add_frames(s, call, n, at, smaller(s->together, end - at), after < end ? n : smaller(n + 1, s->examples - 1),
                   after < end ? after : unit, sums + (at - unit) * sums_floats(s));
    }
}

/* A unit is a group. */
static void depthwise_dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    const int64_t width = s->code->width, frames = s->together * s->frame.floats;
    float *const scratch = call->scratch, *const sums = scratch + frames + s->together * dy_floats(s);
    memset(scratch, 0, (size_t)(frames + s->together * dy_floats(s)) * sizeof *scratch);
    for (int64_t unit = call->begin, end; unit < call->end; unit = end) {
        end = smaller(unit + s->block, call->end);
        memset(sums, 0, (size_t)((end - unit) * sums_floats(s)) * sizeof *sums);
        for (int64_t c = unit * s->outputs; s->has_bias && c < end * s->outputs; c++)
            ((float *)call->out[1])[c] = 0.0f;
        for (int64_t n = 0; n < s->examples; n++)
            add_example(s, call, n, unit, end, sums);
        const int64_t results = s->outputs * s->window.taps;
        for (int64_t i = 0; i < (end - unit) * results; i++)
            ((float *)call->out[0])[unit * results + i] = mw__lanes_sum(sums + i * width, width);
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

/* Without frames, if the code can do so. */
static void plan_flat_dweight(mw__planner *planner, dweight_block *s)
{
    const mw__conv_window *w = &s->window;
    if (w->stride[1] != 1 || w->stride[2] != 1 || !is_flat(s->code, w->in + 1, w->out[1], w->out[2], w->taps))
        return;
    const int64_t vectors = vectors_of(w->area_out, s->code);
    mw__packed_flat *const flat = mw__plan_block(planner, sizeof *flat);
    uint16_t *const mask = mw__plan_block(planner, (size_t)(vectors * w->taps) * sizeof *mask);
    int32_t *const at = mw__plan_block(planner, (size_t)w->taps * sizeof *at);
    if (flat == NULL || mask == NULL || at == NULL)
        return;
    *flat = (mw__packed_flat){.taps = w->taps, .count = w->area_out, .at = at, .mask = mask};
    for (int64_t t = 0; t < w->taps; t++) {
        int64_t offset[3];
        mw__conv_tap(w, t, offset);
        fill_flat(s->code, w->in + 1, w->area_out, offset + 1, &at[t], mask + t * vectors);
    }
    s->flat = flat;
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
    plan_flat_dweight(planner, s);
    s->block = larger(1, smaller(GROUPS_MOST, 2 * NEAR / larger(w->area_in, sums_floats(s))));
    s->together = s->flat != NULL ? 0 : larger(1, smaller(8, NEAR / (s->frame.floats + dy_floats(s))));
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
        (size_t)(s->together * (s->frame.floats + dy_floats(s)) + s->block * sums_floats(s)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__ROWS,
                   (size_t)(s->outputs * s->window.taps) * sizeof(float));
    if (match->dbias != NULL)
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__ROWS,
                       (size_t)s->outputs * sizeof(float));
    return mw__plan_check(planner, err);
}
