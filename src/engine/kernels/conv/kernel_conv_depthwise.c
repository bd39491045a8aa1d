/* Convolutions whose groups have one input channel, forward and backward. A plane of x is copied once, with its border,
 * into a plane for each remainder of row and column by the stride. All of them have rows of one pitch, so that a tap
 * is one offset for every position of y, whose rows are computed with that pitch, one after the other, and cut:
 *
 *     y[j pitch + i] = bias + sum over taps of weight[t] frame[at[t] + j pitch + i]      in order: kernel_conv_packed.h
 *
 * Scratch of a partition: some frames, and bands of rows of y: frames are filled before the first of them is read, as
 * loads that meet several stores on their way to memory wait for them.
 *
 * Where the code has masks, and rows of x and of a grid are of one length, planes are read where they lie, and what is
 * outside is masked: the same chains, so the same bits. */
#include "engine/kernels/conv/kernel_conv_depthwise.h"
#include "base/number/integer.h"

#include <string.h>

#define BAND 2048 /* positions of y, about */
#define PAGE 1024 /* floats */

typedef struct depthwise_block {
    mw__depthwise_frame frame;
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
static int64_t band_rows(const depthwise_block *s) { return mw__i64_max(1, BAND / s->frame.pitch); }

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

static void order_taps(const mw__packed_grid *g, const float *weight, float taps[MW__DEPTHWISE_TAPS])
{
    for (int64_t t = 0; t < g->taps; t++)
        taps[t] = weight[g->tap[t].element];
}

/* One grid of output `o` of units [unit, unit + count), whose frames and bands lie one after the other. */
static void run_grid(const depthwise_block *s, const mw__kernel_call *call, size_t grid, const int32_t *at,
                     int64_t unit, int64_t count, int64_t o)
{
    float taps[MW__DEPTHWISE_TAPS];
    const mw__packed_grid *g = &s->grid[grid];
    const float *const frames = call->scratch;
    float *const bands = (float *)call->scratch + s->together * s->frame.floats;
    const int64_t pitch = s->frame.pitch, lines = band_rows(s);
    for (int64_t row = 0; row < g->extent[1]; row += lines) {
        const int64_t here = mw__i64_min(lines, g->extent[1] - row);
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

/* Of the product of columns: what becomes of the planes of units [unit, unit + count), and their bias. */
static void finish_planes(const depthwise_block *s, const mw__kernel_call *call, int64_t unit, int64_t count)
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
    memset(frames, 0, (size_t)(s->together * s->frame.floats) * sizeof *frames);
    for (int64_t unit = call->begin, count; unit < call->end; unit += count) {
        count = mw__i64_min(s->together, call->end - unit);
        for (int64_t i = 0; i < count; i++)
            mw__depthwise_fill_frame(
                &s->frame, s->code, mw__depthwise_plane(call->in[0], (unit + i) * s->area_in),
                mw__depthwise_plane(call->in[0], (unit + i) * s->area_in + mw__i64_max(s->together * s->area_in, PAGE)),
                frames + i * s->frame.floats);
        for (int64_t o = 0; o < s->outputs; o++) {
            const int32_t *at = s->at;
            for (int64_t grid = 0; grid < s->grids; at += s->grid[grid++].taps)
                run_grid(s, call, (size_t)grid, at, unit, count, o);
        }
        if (s->columns != NULL)
            finish_planes(s, call, unit, count);
    }
}

/* Bands of all grids, and then their rows to their places. */
static void flat_grids(const depthwise_block *s, const float *x, plane_weight w, float *bands, float *y)
{
    float taps[MW__DEPTHWISE_TAPS];
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
    float taps[MW__DEPTHWISE_TAPS];
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
            finish_planes(s, call, unit, 1);
    }
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
    return mw__depthwise_fits(&r->window) ? NULL : "three spatial axes, or a plane beyond its frames";
}

/* The frame of all grids, and the places of their taps. */
static void fill_places(mw__planner *planner, const int64_t in[2], const int64_t step[2], depthwise_block *s)
{
    int64_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {INT32_MIN, INT32_MIN}, extent[2] = {1, 1};
    int32_t *const places = mw__plan_block(planner, (size_t)s->taps * sizeof *places), *at = places;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        for (int i = 0; i < 2; i++) {
            extent[i] = mw__i64_max(extent[i], g->extent[i + 1]);
            for (int64_t t = 0; t < g->taps; t++) {
                low[i] = mw__i64_min(low[i], g->tap[t].offset[i + 1]);
                high[i] = mw__i64_max(high[i], g->tap[t].offset[i + 1]);
            }
        }
    for (int i = 0; i < 2; i++) {
        if (low[i] > high[i]) /* no tap reaches any position: a kernel in the cropped border of a transpose */
            low[i] = high[i] = 0;
        low[i] = mw__depthwise_begin(low[i], step[i]);
    }
    s->frame = mw__depthwise_frame_of(in, step, extent, low, high);
    s->at = places;
    for (const mw__packed_grid *g = s->grid; places != NULL && g < s->grid + s->grids; g++)
        for (int64_t t = 0; t < g->taps; t++)
            *at++ = mw__depthwise_place_of(&s->frame, g->tap[t].offset[1], g->tap[t].offset[2]);
}

/* All grids without frames, if their code can do so. */
static void plan_flat(mw__planner *planner, const int64_t in[2], const int64_t step[2], depthwise_block *s)
{
    int64_t vectors = 0, at = 0;
    bool fits = step[0] == 1 && step[1] == 1;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids;
         vectors += mw__depthwise_vectors(g->area, s->code) * g->taps, g++)
        fits = fits && mw__depthwise_is_flat(s->code, in, g->extent[1], g->extent[2], g->taps);
    if (!fits || vectors > MW__DEPTHWISE_MASKS)
        return;
    mw__packed_flat *const flat = mw__plan_block(planner, (size_t)s->grids * sizeof *flat);
    uint16_t *mask = mw__plan_block(planner, (size_t)vectors * sizeof *mask);
    int32_t *const places = mw__plan_block(planner, (size_t)s->taps * sizeof *places);
    for (int64_t i = 0; flat != NULL && mask != NULL && places != NULL && i < s->grids; i++) {
        const mw__packed_grid *g = &s->grid[i];
        flat[i] = (mw__packed_flat){.taps = g->taps, .count = g->area, .at = places + at, .mask = mask};
        for (int64_t t = 0; t < g->taps; t++, mask += mw__depthwise_vectors(g->area, s->code))
            mw__depthwise_fill_flat(s->code, in, g->area, g->tap[t].offset + 1, &places[at++], mask);
    }
    s->flat = flat;
}

/* What scratch holds: bands of grids whose rows do not lie as they are computed, or some planes' frames and bands. */
static void choose_scratch(depthwise_block *s)
{
    int64_t rows = 0, area = 0;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        rows = mw__i64_max(rows, g->extent[1]), area = mw__i64_max(area, g->area);
    if (s->flat != NULL) {
        s->band = s->grids == 1 && s->spread[0] == 1 && s->spread[1] == 1 ? 0 : (area + 15) / 16 * 16;
        return;
    }
    s->band = mw__i64_min(rows, band_rows(s)) * s->frame.pitch + MW__PACKED_SLACK;
    s->together = mw__i64_max(1, mw__i64_min(8, MW__DEPTHWISE_NEAR / (s->frame.floats + s->band)));
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
    step->report.flops = flops;
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
