/* Convolutions whose groups have one input channel, or few output channels, forward and backward. A plane of x is
 * copied with its border into a plane for each remainder of row and column by the stride. All of them have rows of one
 * pitch, so that a tap is one offset for every position of y, whose rows are computed with that pitch, one after the
 * other, and cut:
 *
 *     y[j pitch + i] = bias + sum over taps of weight[t] frame[at[t] + j pitch + i]      in order: kernel_conv_packed.h
 *
 * A frame is of the input channels of a group, and of the planes of x that a plane of y meets, if there are several; it
 * is of a band of rows of y where all would be beyond a cache. Scratch of a partition: some frames, and lines of y:
 * frames are filled before the first of them is read, as loads that meet several stores on their way to memory wait for
 * them.
 *
 * Where the code has masks, and rows of x and of a grid are of one length, planes are read where they lie, and what is
 * outside is masked: the same chains, so the same bits. */
#include "engine/kernels/conv/kernel_conv_depthwise.h"
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_direct.h"

#include <string.h>

#define LINES       2048  /* positions of y at a time, about */
#define PAGE        1024  /* floats */
#define FRAME_WHOLE 16384 /* floats of a frame that is not cut into bands */
#define FRAME_NEAR  8192  /* of a frame of a band of one plane, */
#define FRAMES_NEAR 49152 /* and of several */

typedef struct depthwise_block {
    mw__depthwise_frame frame;
    const mw__packed_flat *flat;    /* [grids]; NULL: planes are copied to frames */
    const mw__depthwise_bands *cut; /* of one grid, in place of `flat`; or NULL */
    int64_t together;        /* units of frames: what one's stores are still about to write, the next does not read */
    int64_t floats;          /* of the frames of a unit */
    int64_t ahead;           /* floats to the plane of x that comes next */
    int64_t line;            /* floats of lines of a plane of y */
    int64_t abreast;         /* output channels of a group that are computed at a time */
    int64_t inputs, outputs; /* channels of a group */
    int64_t planes;          /* of x, that a plane of y meets */
    const int64_t *plane;    /* where they lie, from a plane of y times its step */
    int64_t extent, step, spread_deep; /* planes of a grid at most; between them in x, and in y */
    int64_t band, bands;               /* rows of a grid under a frame */
    int64_t rows;                      /* of them that are computed at a time */
    int64_t groups, area_in, area_out, deep_in, width, height, spread[2];
    int64_t grids, taps; /* taps: of the kernel */
    int64_t woven;       /* 2: grids that follow each other have every second column each; or 1 */
    const mw__packed_grid *grid;
    const int32_t *at; /* of the taps of all grids, for each input channel */
    const mw__packed_code *code;
    bool has_bias, transposed;
    const mw__packed_finish *columns; /* of the product of columns; or NULL */
} depthwise_block;

/* A unit is a group of an example; a plane of y and a band of rows of it where there are several. */
typedef struct depthwise_unit {
    int64_t image, plane, row; /* plane, row: of a grid */
} depthwise_unit;

static depthwise_unit unit_of(const depthwise_block *s, int64_t index)
{
    if (s->bands == 1 && s->extent == 1)
        return (depthwise_unit){.image = index};
    return (depthwise_unit){.image = index / s->bands / s->extent,
                            .plane = index / s->bands % s->extent,
                            .row = index % s->bands * s->band};
}

/* Rows from `row` on of a plane of a grid, which are in `lines`, to their places in a plane of y; where grids are woven
 * those of the next lie `apart` from them. */
static void cut_lines(const depthwise_block *s, const mw__packed_grid *g, const float *lines, int64_t apart,
                      int64_t pitch, int64_t row, int64_t rows, float *y)
{
    y += g->start[1] * s->width + g->start[2];
    if (s->woven == 2) {
        const int64_t stride = s->spread[0] * s->width;
        s->code->weave(lines, lines + apart, pitch, rows, s->width, y + row * stride, stride);
        return;
    }
    if (s->grids == 1 && s->spread[1] == 1) { /* rows of y follow each other */
        s->code->lines(lines, pitch, rows, 1, 0, s->width, s->width, y + row * s->width);
        return;
    }
    for (int64_t i = 0; i < rows; i++) /* the bias is in it: adding -0 changes no bit */
        s->code->store(y + (row + i) * s->spread[0] * s->width, s->spread[1], lines + i * pitch, g->extent[2], -0.0f);
}

/* What a plane is multiplied with. */
typedef struct plane_weight {
    const float *weight;
    float bias;
} plane_weight;

static float bias_of(const mw__kernel_call *call, int64_t channel) { return ((const float *)call->in[2])[channel]; }

/* Of output `o` of a group of an example. */
static plane_weight weight_of(const depthwise_block *s, const mw__kernel_call *call, int64_t image, int64_t o)
{
    const int64_t group = image % s->groups, channel = group * s->outputs + o;
    const int64_t first = s->transposed ? group * s->inputs * s->outputs + o : channel * s->inputs;
    return (plane_weight){.weight = (const float *)call->in[1] + first * s->taps,
                          .bias = s->has_bias ? bias_of(call, channel) : 0.0f};
}

/* taps [inputs, taps of the grid], `apart` from each other */
static void order_taps(const depthwise_block *s, const mw__packed_grid *g, const float *weight, int64_t apart,
                       float *taps)
{
    const int64_t between = s->transposed ? s->outputs * s->taps : s->taps; /* input channels */
    for (int64_t c = 0; c < s->inputs; c++, weight += between)
        for (int64_t t = 0; t < g->taps; t++, taps += apart)
            *taps = weight[g->tap[t].element];
}

#define TOGETHER 8 /* units of frames, at most */

/* Units whose frames and lines lie one after the other in a partition's scratch. */
typedef struct depthwise_batch {
    const mw__kernel_call *call;
    depthwise_unit units[TOGETHER];
    int64_t count;
    float *frames, *lines, *taps;
} depthwise_batch;

static void begin_batch(const depthwise_block *s, int64_t unit, int64_t count, depthwise_batch *out)
{
    out->count = count;
    for (int64_t i = 0; i < count; i++)
        out->units[i] = unit_of(s, unit + i);
}

/* What is computed at a time: lines of one grid, from `line` of the bands of their units on, of output channels. */
typedef struct depthwise_lines {
    const mw__packed_grid *grid;
    const int32_t *at;
    int64_t line, most;      /* lines, at most */
    int64_t output, abreast; /* channels */
} depthwise_lines;

static int64_t count_lines(const depthwise_lines *l, const depthwise_unit *u)
{
    return u->plane < l->grid->extent[0] ? mw__i64_min(l->most, l->grid->extent[1] - u->row - l->line) : 0;
}

/* The weight of so many output channels, which may lie as it is multiplied. */
static const float *weight_abreast(const depthwise_block *s, const depthwise_batch *b, const depthwise_lines *l,
                                   int64_t image, float *bias)
{
    for (int64_t k = 0; k < l->abreast; k++) {
        const plane_weight w = weight_of(s, b->call, image, l->output + k);
        bias[k] = w.bias;
        if (l->abreast == 1 && !s->transposed)
            return w.weight;
        order_taps(s, l->grid, w.weight, l->abreast, b->taps + k);
    }
    return b->taps;
}

/* Unit i of a batch, to lines of grids that are woven one after the other. */
static void run_taps(const depthwise_block *s, const depthwise_batch *b, const depthwise_lines *l, int64_t i,
                     int64_t woven)
{
    float bias[MW__PACKED_OUTPUTS];
    const int64_t pitch = s->frame.pitch, rows = count_lines(l, &b->units[i]);
    if (rows <= 0)
        return;
    const mw__packed_outputs out = {.count = l->abreast,
                                    .between = s->line,
                                    .weight = weight_abreast(s, b, l, b->units[i].image, bias),
                                    .bias = bias,
                                    .y = b->lines + (woven * s->together + i) * s->abreast * s->line};
    s->code->taps(s->inputs * l->grid->taps, l->at, b->frames + i * s->floats + l->line * pitch,
                  (rows - 1) * pitch + l->grid->extent[2], &out);
}

static void cut_taps(const depthwise_block *s, const depthwise_batch *b, const depthwise_lines *l, int64_t i)
{
    const depthwise_unit *u = &b->units[i];
    const int64_t rows = count_lines(l, u), plane = l->grid->start[0] + u->plane * s->spread_deep;
    float *const y =
        (float *)b->call->out[0] + (u->image * s->outputs + l->output) * s->area_out + plane * s->height * s->width;
    for (int64_t k = 0; k < l->abreast && rows > 0; k++)
        cut_lines(s, l->grid, b->lines + (i * s->abreast + k) * s->line, s->together * s->abreast * s->line,
                  s->frame.pitch, u->row + l->line, rows, y + k * s->area_out);
}

/* Lines of grids that are woven, or of one; returns where the taps of the next begin. */
static const int32_t *run_grids(const depthwise_block *s, const depthwise_batch *b, depthwise_lines l)
{
    const depthwise_lines first = l;
    for (int64_t k = 0; k < s->woven; k++, l.at += s->inputs * l.grid->taps, l.grid++)
        for (int64_t i = 0; i < b->count; i++)
            run_taps(s, b, &l, i, k);
    for (int64_t i = 0; i < b->count; i++)
        cut_taps(s, b, &first, i);
    return l.at;
}

/* All grids of output channels [output, output + abreast). */
static void run_outputs(const depthwise_block *s, const depthwise_batch *b, int64_t output, int64_t abreast)
{
    depthwise_lines l = {.at = s->at, .output = output, .abreast = abreast};
    for (l.grid = s->grid; l.grid < s->grid + s->grids; l.grid += s->woven) {
        const int32_t *next = l.at;
        for (l.line = 0; l.line < s->band; l.line += s->rows) {
            l.most = mw__i64_min(s->rows, s->band - l.line);
            next = run_grids(s, b, l);
        }
        l.at = next;
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

/* The planes of x that unit i of a batch meets. */
static void fill_frames(const depthwise_block *s, const depthwise_batch *b, int64_t i)
{
    const depthwise_unit *u = &b->units[i];
    float *frame = b->frames + i * s->floats;
    for (int64_t c = 0; c < s->inputs; c++)
        for (int64_t p = 0; p < s->planes; p++, frame += s->frame.floats) {
            const int64_t z = u->plane * s->step + s->plane[p];
            const int64_t x = (u->image * s->inputs + c) * s->area_in + z * s->frame.in[0] * s->frame.in[1];
            if (z < 0 || z >= s->deep_in)
                memset(frame, 0, (size_t)s->frame.floats * sizeof *frame);
            else
                mw__depthwise_fill_frame(&s->frame, s->code, mw__depthwise_plane(b->call->in[0], x),
                                         u->row * s->frame.step[0], mw__depthwise_plane(b->call->in[0], x + s->ahead),
                                         frame);
        }
}

static void depthwise_run(const mw__kernel_call *call)
{
    const depthwise_block *s = call->block;
    float *const lines = (float *)call->scratch + s->together * s->floats;
    depthwise_batch b = {.call = call,
                         .frames = call->scratch,
                         .lines = lines,
                         .taps = lines + s->woven * s->together * s->abreast * s->line};
    memset(b.frames, 0, (size_t)(s->together * s->floats) * sizeof(float));
    for (int64_t unit = call->begin; unit < call->end; unit += b.count) {
        begin_batch(s, unit, mw__i64_min(s->together, call->end - unit), &b);
        for (int64_t i = 0; i < b.count; i++)
            fill_frames(s, &b, i);
        for (int64_t o = 0; o < s->outputs; o += s->abreast)
            run_outputs(s, &b, o, mw__i64_min(s->abreast, s->outputs - o));
        if (s->columns != NULL)
            finish_planes(s, call, unit, b.count);
    }
}

/* Lines of all grids, and then their rows to their places. */
static void flat_grids(const depthwise_block *s, const float *x, plane_weight w, float *lines, float *y)
{
    float taps[MW__DEPTHWISE_TAPS];
    for (int64_t grid = 0; grid < s->grids; grid++) {
        order_taps(s, &s->grid[grid], w.weight, 1, taps);
        s->code->flat_taps(&s->flat[grid], taps, x, w.bias, lines + grid * s->line);
    }
    for (int64_t grid = 0; grid < s->grids; grid += s->woven)
        cut_lines(s, &s->grid[grid], lines + grid * s->line, s->line, s->grid[grid].extent[2], 0,
                  s->grid[grid].extent[1], y);
}

static void cut_run(const mw__kernel_call *call)
{
    const depthwise_block *s = call->block;
    for (int64_t i = call->begin * s->outputs; i < call->end * s->outputs; i++) {
        const int64_t image = i / s->outputs;
        const plane_weight w = weight_of(s, call, image, i % s->outputs);
        const float *const x = (const float *)call->in[0] + image * s->area_in;
        float taps[MW__DEPTHWISE_TAPS], *const y = (float *)call->out[0] + i * s->area_out;
        order_taps(s, s->grid, w.weight, 1, taps);
        for (int b = 0; b < 3; b++)
            for (int64_t k = 0; k < s->cut->band[b].times; k++) {
                const int64_t at = (s->cut->band[b].row + k * s->cut->band[b].rows) * s->width;
                s->code->flat_taps(&s->cut->band[b].flat, taps, x + at, w.bias, y + at);
            }
    }
    if (s->columns != NULL)
        finish_planes(s, call, call->begin, call->end - call->begin);
}

/* Planes of one vector, from `unit` on. */
static void few_planes(const depthwise_block *s, const mw__kernel_call *call, int64_t unit)
{
    float taps[MW__PACKED_FEW][MW__DEPTHWISE_TAPS];
    mw__packed_plane planes[MW__PACKED_FEW];
    for (int64_t i = 0; i < MW__PACKED_FEW; i++) {
        const plane_weight w = weight_of(s, call, unit + i, 0);
        order_taps(s, s->grid, w.weight, 1, taps[i]);
        planes[i] = (mw__packed_plane){taps[i], (const float *)call->in[0] + (unit + i) * s->area_in, w.bias,
                                       (float *)call->out[0] + (unit + i) * s->area_out};
    }
    s->code->flat_few(s->flat, planes);
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
            if (s->line == 0) {
                order_taps(s, s->grid, w.weight, 1, taps);
                s->code->flat_taps(s->flat, taps, x, w.bias, y);
            } else {
                flat_grids(s, x, w, call->scratch, y);
            }
        }
        if (s->columns != NULL)
            finish_planes(s, call, unit, 1);
    }
}

static void few_run(const mw__kernel_call *call)
{
    mw__kernel_call rest = *call;
    for (; rest.begin + MW__PACKED_FEW <= call->end; rest.begin += MW__PACKED_FEW)
        few_planes(call->block, call, rest.begin);
    flat_run(&rest);
}

/* The planes of x that the taps of all grids reach, each once. */
static void list_planes(mw__planner *planner, depthwise_block *s)
{
    int64_t *const plane = mw__plan_block(planner, (size_t)s->taps * sizeof *plane);
    s->plane = plane;
    for (const mw__packed_grid *g = s->grid; plane != NULL && g < s->grid + s->grids; g++)
        for (int64_t t = 0, i = 0; t < g->taps; t++, i = 0) {
            while (i < s->planes && plane[i] != g->tap[t].offset[0])
                i++;
            if (i == s->planes)
                plane[s->planes++] = g->tap[t].offset[0];
        }
    s->planes = mw__i64_max(1, s->planes); /* none: a kernel in the cropped border of a transpose */
}

/* What rows and columns of taps and positions reach. */
typedef struct depthwise_reach {
    int64_t low[2], high[2], extent[2];
} depthwise_reach;

static depthwise_reach reach_of(const depthwise_block *s, const int64_t step[2])
{
    depthwise_reach out = {{INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN}, {1, 1}};
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        for (int i = 0; i < 2; i++) {
            out.extent[i] = mw__i64_max(out.extent[i], g->extent[i + 1]);
            for (int64_t t = 0; t < g->taps; t++) {
                out.low[i] = mw__i64_min(out.low[i], g->tap[t].offset[i + 1]);
                out.high[i] = mw__i64_max(out.high[i], g->tap[t].offset[i + 1]);
            }
        }
    for (int i = 0; i < 2; i++) {
        if (out.low[i] > out.high[i]) /* no tap reaches any position */
            out.low[i] = out.high[i] = 0;
        out.low[i] = mw__depthwise_begin(out.low[i], step[i]);
    }
    return out;
}

/* Bands of rows whose frames stay in a cache; more where units would not keep every partition busy. */
static void choose_bands(const mw__planner *planner, const mw__packed_request *r, int64_t rows, depthwise_block *s)
{
    const int64_t partitions = mw__plan_partitions(planner), images = mw__shape_of(r->x).dim[0] * s->groups;
    const int64_t frames = s->inputs * s->planes, all = frames * s->frame.floats;
    const int64_t row = mw__i64_max(1, frames * s->frame.step[0] * s->frame.step[1] * s->frame.pitch);
    s->band = rows;
    if (r->columns == NULL && all > FRAME_WHOLE) {
        const int64_t border = s->frame.rows - rows, near = frames == 1 ? FRAME_NEAR : FRAMES_NEAR;
        s->band = mw__i64_min(rows, mw__i64_max(near / row - border, 1 + border));
    }
    const int64_t units = images * s->extent;
    if (r->columns == NULL && units < 2 * partitions)
        s->band = mw__i64_min(s->band, mw__i64_divide_up(rows, mw__i64_divide_up(2 * partitions, units)));
    s->bands = mw__i64_divide_up(rows, s->band);
    s->band = mw__i64_divide_up(rows, s->bands);
}

/* The frame of all grids, and the places of their taps. */
static void fill_places(mw__planner *planner, const mw__packed_request *r, const int64_t in[2], const int64_t step[2],
                        depthwise_block *s)
{
    int64_t count = 0;
    const depthwise_reach reach = reach_of(s, step);
    s->frame = mw__depthwise_frame_of(in, step, reach.extent, reach.low, reach.high);
    choose_bands(planner, r, reach.extent[0], s);
    s->frame = mw__depthwise_frame_of(in, step, (const int64_t[]){s->band, reach.extent[1]}, reach.low, reach.high);
    s->frame.reused = s->bands > 1 || s->planes > 1 || s->deep_in > 1;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        count += g->taps;
    int32_t *const places = mw__plan_block(planner, (size_t)(count * s->inputs) * sizeof *places), *at = places;
    s->at = places;
    for (const mw__packed_grid *g = s->grid; places != NULL && g < s->grid + s->grids; g++)
        for (int64_t c = 0; c < s->inputs; c++)
            for (int64_t t = 0, p = 0; t < g->taps; t++, p = 0) {
                while (s->plane[p] != g->tap[t].offset[0])
                    p++;
                *at++ = (int32_t)((c * s->planes + p) * s->frame.floats) +
                        mw__depthwise_place_of(&s->frame, g->tap[t].offset[1], g->tap[t].offset[2]);
            }
}

/* Whether results have as many planes and columns as x, and their positions lie as its elements do. */
static bool lies_flat(const depthwise_block *s, const int64_t in[2], const int64_t step[2])
{
    return step[0] == 1 && step[1] == 1 && s->inputs == 1 && s->deep_in == 1 && s->planes == 1 && s->plane[0] == 0 &&
           s->area_out == s->height * s->width && s->grid->extent[2] == in[1];
}

/* One grid in bands of a large plane. */
static void plan_cut(mw__planner *planner, const int64_t in[2], const int64_t step[2], depthwise_block *s)
{
    int64_t offset[MW__DEPTHWISE_TAPS][2];
    if (!lies_flat(s, in, step) || s->grids > 1 || s->spread[0] > 1 || s->spread[1] > 1)
        return;
    for (int64_t t = 0; t < s->grid->taps; t++)
        memcpy(offset[t], s->grid->tap[t].offset + 1, sizeof offset[t]);
    s->cut = mw__depthwise_cut(planner, s->code, in, s->height, s->grid->taps, (const int64_t(*)[2])offset);
}

/* All grids without frames, if their code can do so. */
static void plan_flat(mw__planner *planner, const int64_t in[2], const int64_t step[2], depthwise_block *s)
{
    int64_t vectors = 0, at = 0;
    bool fits = lies_flat(s, in, step) && s->cut == NULL;
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
        flat[i] = (mw__packed_flat){
            .taps = g->taps, .count = g->area, .inside = in[0] * in[1], .at = places + at, .mask = mask};
        for (int64_t t = 0; t < g->taps; t++, mask += mw__depthwise_vectors(g->area, s->code))
            mw__depthwise_fill_flat(s->code, in, g->area, g->tap[t].offset + 1, &places[at++], mask);
    }
    s->flat = flat;
}

/* What scratch holds: lines of grids whose rows do not lie as they are computed, or some units' frames and lines. */
static void choose_scratch(depthwise_block *s)
{
    int64_t area = 0;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        area = mw__i64_max(area, g->area);
    if (s->cut != NULL)
        return;
    if (s->flat != NULL) {
        s->line = s->grids == 1 && s->spread[0] == 1 && s->spread[1] == 1 ? 0 : mw__i64_round_up(area, 16);
        return;
    }
    s->rows = mw__i64_min(s->band, mw__i64_max(1, LINES / s->frame.pitch));
    s->abreast = mw__i64_min(s->outputs, MW__PACKED_OUTPUTS);
    s->line = s->rows * s->frame.pitch + MW__PACKED_SLACK;
    s->floats = s->inputs * s->planes * s->frame.floats;
    s->together =
        mw__i64_max(1, mw__i64_min(TOGETHER, MW__DEPTHWISE_NEAR / (s->floats + s->woven * s->abreast * s->line)));
    s->ahead = mw__i64_max(s->bands * s->extent == 1 ? s->together * s->inputs * s->area_in : 0, PAGE);
}

static bool fill_block(mw__planner *planner, const mw__packed_request *r, depthwise_block *s)
{
    const mw__conv_window *w = &r->window;
    const mw_shape weight = mw__shape_of(r->weight);
    const int64_t *const in = r->transposed ? w->out : w->in, *const out = r->transposed ? w->in : w->out;
    const int64_t step[2] = {r->transposed ? 1 : w->stride[1], r->transposed ? 1 : w->stride[2]};
    s->groups = r->groups, s->taps = w->taps, s->columns = r->columns, s->transposed = r->transposed;
    s->has_bias = r->bias != NULL && r->columns == NULL; /* else `columns` adds it */
    s->inputs = r->transposed ? weight.dim[0] / r->groups : weight.dim[1];
    s->outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups;
    s->area_in = r->transposed ? w->area_out : w->area_in, s->area_out = r->transposed ? w->area_in : w->area_out;
    s->deep_in = in[0], s->height = out[1], s->width = out[2];
    s->step = r->transposed ? 1 : w->stride[0], s->spread_deep = r->transposed ? w->stride[0] : 1;
    for (int i = 0; i < 2; i++)
        s->spread[i] = r->transposed ? w->stride[i + 1] : 1;
    s->code = mw__packed_code_of(mw__plan_level(planner));
    s->grid = mw__packed_fill_grids(planner, r), s->grids = mw__packed_grids(r);
    if (s->grid == NULL)
        return false;
    s->woven = s->spread[1] == 2 && s->width > 1 ? 2 : 1;
    for (const mw__packed_grid *g = s->grid; g < s->grid + s->grids; g++)
        s->extent = mw__i64_max(s->extent, g->extent[0]);
    list_planes(planner, s);
    if (s->plane == NULL)
        return false;
    fill_places(planner, r, in + 1, step, s);
    plan_cut(planner, in + 1, step, s);
    plan_flat(planner, in + 1, step, s);
    choose_scratch(s);
    return true;
}

static bool takes_few(const depthwise_block *s)
{
    return s->flat != NULL && s->line == 0 && s->outputs == 1 && s->columns == NULL &&
           mw__packed_is_few(s->code, s->flat);
}

mw_status mw__plan_conv_depthwise(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    depthwise_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !fill_block(planner, r, s))
        return mw__plan_check(planner, err);
    const int64_t images = mw__shape_of(r->x).dim[0] * s->groups;
    const bool flat = s->flat != NULL || s->cut != NULL;
    const int64_t units = flat ? images : images * s->extent * s->bands;
    const uint32_t x = mw__conv_operand(planner, r->x), weight = mw__conv_operand(planner, r->weight);
    const uint32_t bias = r->bias != NULL ? mw__conv_operand(planner, r->bias) : 0;
    double flops = 0.0;
    for (int64_t i = 0; i < s->grids; i++)
        flops += 2.0 * (double)(images * s->outputs) * (double)(s->grid[i].area * s->inputs * s->grid[i].taps);
    static const char *const labels[2][2] = {{"conv.depthwise", "conv_transpose.depthwise"},
                                             {"conv.few", "conv_transpose.few"}};
    const char *label = r->columns != NULL ? r->columns->label : labels[s->inputs > 1 || s->groups == 1][r->transposed];
    const mw__access access = units == images ? MW__ROWS : MW__WHOLE;
    mw__step *step = mw__plan_step(planner,
                                   s->cut != NULL    ? cut_run
                                   : takes_few(s)    ? few_run
                                   : s->flat != NULL ? flat_run
                                                     : depthwise_run,
                                   label, units, mw__cost(4.0 * (double)mw__count_of(r->result), 0.6 * flops));
    step->block = s;
    step->rounds = r->columns != NULL;
    step->report.flops = flops;
    step->scratch = (size_t)(flat ? s->grids * s->line
                                  : s->together * (s->floats + s->woven * s->abreast * s->line) +
                                        s->abreast * s->inputs * s->taps) *
                    sizeof(float);
    mw__step_read(planner, step, x, access, (size_t)(s->inputs * s->area_in) * sizeof(float), false);
    mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (r->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), access,
                   (size_t)(s->outputs * s->area_out) * sizeof(float));
    return mw__plan_check(planner, err);
}
