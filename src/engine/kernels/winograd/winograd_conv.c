/* Convolution, and its gradient by x, as winograd.h has them. Strips of tiles are taken one after the other until a
 * block of them is full, which is multiplied; a step's units are examples where they keep every partition busy, else
 * blocks. */
#include "base/number/integer.h"
#include "engine/core/tail.h"
#include "engine/kernels/winograd/winograd_plan.h"

#include <string.h>

#define TILES      28  /* of a block, about */
#define TILES_MANY 56  /* of many inputs, for which the weight's values come from far */
#define INPUTS     256 /* so many */
#define TAIL_MOST  8.0 /* additions: runs are short */
#define APART      16  /* floats between pairs of points, so that they are not at the same place of the caches */

typedef struct winograd_block {
    mw__winograd w;
    mw__winograd_cut cut;
    int64_t strips;           /* of a block, at most */
    int64_t tiles;            /* of it */
    int64_t lanes;            /* inputs rounded up to vectors */
    int64_t x_point, y_point; /* floats between pairs of points of V and M */
    bool blocks;              /* a unit is a block; else an example */
    bool has_bias;
    mw__tail tail;
} winograd_block;

/* A partition's scratch. */
typedef struct winograd_scratch {
    float *frame; /* [points, columns, width]; [side, columns, width] of y */
    float *x, *y; /* V, M */
    float *bias;  /* [columns] */
} winograd_scratch;

static int64_t frame_floats(const winograd_block *s)
{
    return s->w.form->points * (s->cut.strip * s->cut.side + 2) * s->w.code->width;
}

static winograd_scratch divide_scratch(const winograd_block *s, float *memory)
{
    winograd_scratch out = {.frame = memory, .x = memory + mw__i64_round_up(frame_floats(s), 16)};
    out.y = out.x + s->w.pairs * s->x_point;
    out.bias = out.y + s->w.pairs * s->y_point;
    return out;
}

static size_t scratch_bytes(const winograd_block *s)
{
    return (size_t)(mw__i64_round_up(frame_floats(s), 16) + s->w.pairs * (s->x_point + s->y_point) + s->w.columns) *
           sizeof(float);
}

/* ---- a block of strips ---- */

/* The values of one strip, whose first tile has the number `tile`. */
static void read_strip(const winograd_block *s, const float *x, const mw__winograd_strip *strip, int64_t tile,
                       const winograd_scratch *scratch)
{
    const mw__winograd_shape *h = &s->w.shape;
    const mw__winograd_planes planes = {.planes = x + strip->example * h->inputs * h->in[0] * h->in[1],
                                        .channels = h->inputs,
                                        .extent = {h->in[0], h->in[1]},
                                        .from = {strip->row - h->before[0], strip->column - h->before[1]},
                                        .rows = s->w.form->points,
                                        .columns = strip->tiles * s->cut.side + 2,
                                        .values = s->w.form->x};
    mw__winograd_take(&s->w, &planes, strip->tiles, scratch->frame, scratch->x + tile * s->lanes, s->x_point, s->lanes);
}

/* M of a panel of outputs, from weight [points^2, inputs, columns]. */
static void multiply_block(const winograd_block *s, const float *weight, int64_t tiles, const winograd_scratch *scratch)
{
    const int64_t most = s->w.set->rows, parts = mw__i64_divide_up(tiles, most), inputs = s->w.shape.inputs;
    for (int64_t pair = 0; pair < s->w.pairs; pair++)
        for (int64_t k = 0; k < inputs; k += MW__GEMM_DEPTH)
            for (int64_t part = 0; part < parts; part++) {
                const int64_t first = tiles * part / parts, end = tiles * (part + 1) / parts;
                s->w.set->tile(&(mw__gemm_tile){.rows = end - first,
                                                .columns = s->w.columns,
                                                .k = mw__i64_min(MW__GEMM_DEPTH, inputs - k),
                                                .a_row = s->lanes,
                                                .a_step = 1,
                                                .b_step = s->w.columns,
                                                .c_row = s->w.columns,
                                                .a = scratch->x + pair * s->x_point + first * s->lanes + k,
                                                .b = weight + pair * s->w.weight_point + k * s->w.columns,
                                                .c = scratch->y + pair * s->y_point + first * s->w.columns,
                                                .add = k > 0});
            }
}

/* Rows of y [side, columns, width] of a vector of outputs to their planes, of which the first begins at element `at`.
 */
static void store_rows(const winograd_block *s, const mw__kernel_call *call, const mw__winograd_strip *strip,
                       int64_t channels, const float *frame, int64_t at)
{
    const mw__winograd_shape *h = &s->w.shape;
    const int64_t width = s->w.code->width, area = h->out[0] * h->out[1], pitch = strip->tiles * s->cut.side;
    int64_t rows = mw__i64_min(s->cut.side, h->out[0] - strip->row),
            columns = mw__i64_min(pitch, h->out[1] - strip->column);
    float *const y = call->out[0];
    at += strip->row * h->out[1] + strip->column;
    if (columns == h->out[1] && columns == pitch)
        columns *= rows, rows = 1;
    for (int64_t i = 0; i < rows; i++, at += h->out[1], frame += pitch * width) {
        for (int64_t p = 0; p < columns; p += width) {
            const int64_t here = mw__i64_min(width, columns - p);
            s->w.turn->transpose(frame + p * width, width, here, channels, here, y + at + p, area);
        }
        for (int64_t c = 0; s->tail.count > 0 && c < channels; c++)
            mw__tail_run(&s->tail, 0, call, at + c * area, columns);
    }
}

/* A panel of outputs of strips [begin, end). */
static void finish_panel(const winograd_block *s, const mw__kernel_call *call, int64_t begin, int64_t end,
                         int64_t panel, const winograd_scratch *scratch)
{
    const mw__winograd_shape *h = &s->w.shape;
    const int64_t width = s->w.code->width, area = h->out[0] * h->out[1];
    const int64_t first = panel * s->w.columns, outputs = mw__i64_min(s->w.columns, h->outputs - first);
    const float *m = scratch->y;
    for (int64_t at = begin; at < end; at++) {
        const mw__winograd_strip strip = mw__winograd_strip_of(&s->cut, at);
        float *rows[MW__WINOGRAD_SIDE];
        for (int64_t i = 0; i < s->cut.side; i++)
            rows[i] = scratch->frame + i * strip.tiles * s->cut.side * width;
        for (int64_t o = 0; o < outputs; o += width) {
            s->w.form->y(m + o, s->y_point, s->w.columns, strip.tiles, scratch->bias + o, rows);
            store_rows(s, call, &strip, mw__i64_min(width, outputs - o), scratch->frame,
                       (strip.example * h->outputs + first + o) * area);
        }
        m += strip.tiles * s->w.columns;
    }
}

/* Strips [begin, end), at most a block. */
static void run_block(const winograd_block *s, const mw__kernel_call *call, int64_t begin, int64_t end,
                      const winograd_scratch *scratch)
{
    int64_t tiles = 0;
    for (int64_t at = begin; at < end; at++) {
        const mw__winograd_strip strip = mw__winograd_strip_of(&s->cut, at);
        read_strip(s, call->in[0], &strip, tiles, scratch);
        tiles += strip.tiles;
    }
    memset(scratch->bias, 0, (size_t)s->w.columns * sizeof *scratch->bias);
    for (int64_t panel = 0; panel < s->w.panels; panel++) {
        const int64_t first = panel * s->w.columns, outputs = mw__i64_min(s->w.columns, s->w.shape.outputs - first);
        if (s->has_bias)
            memcpy(scratch->bias, (const float *)call->in[2] + first, (size_t)outputs * sizeof *scratch->bias);
        multiply_block(s, (const float *)call->in[1] + panel * s->w.pairs * s->w.weight_point, tiles, scratch);
        finish_panel(s, call, begin, end, panel, scratch);
    }
}

static void winograd_run(const mw__kernel_call *call)
{
    const winograd_block *s = call->block;
    const winograd_scratch scratch = divide_scratch(s, call->scratch);
    const int64_t all = s->cut.across * s->cut.down, each = s->blocks ? s->strips : all;
    const int64_t end = mw__i64_min(call->end * each, s->w.shape.examples * all);
    for (int64_t at = call->begin * each; at < end; at += s->strips)
        run_block(s, call, at, mw__i64_min(at + s->strips, end), &scratch);
}

/* ---- planning ---- */

static void choose_block(const mw__planner *planner, winograd_block *s)
{
    const mw__winograd_shape *h = &s->w.shape;
    s->lanes = mw__i64_round_up(h->inputs, s->w.code->width);
    const int64_t rows = s->w.set->rows, most = h->inputs < INPUTS ? TILES : TILES_MANY;
    s->cut = mw__winograd_cut_of(h->out, s->w.form->side, most);
    const int64_t all = h->examples * s->cut.across * s->cut.down, partitions = mw__plan_partitions(planner);
    s->strips = mw__i64_clamp(most / s->cut.strip, 1, all);
    s->blocks = 10 * mw__i64_divide_up(h->examples, partitions) * partitions > 11 * h->examples;
    if (s->blocks)
        s->strips = mw__i64_clamp(mw__i64_divide_up(all, 2 * partitions), 1, s->strips);
    s->tiles = s->strips * s->cut.strip;
    s->x_point = mw__i64_round_up(s->tiles, rows) * s->lanes + APART;
    s->y_point = s->tiles * s->w.columns + APART;
}

mw_status mw__plan_winograd_conv(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    winograd_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    mw__winograd_init(&s->w, planner, r);
    choose_block(planner, s);
    s->has_bias = r->bias != NULL, s->tail.most = TAIL_MOST;
    const mw__winograd_shape *h = &s->w.shape;
    const uint32_t x = mw__conv_operand(planner, r->x), weight = mw__winograd_plan_weight(planner, &s->w, r);
    const uint32_t bias = s->has_bias ? mw__conv_operand(planner, r->bias) : 0;
    const double flops = 18.0 * (double)mw__count_of(r->result) * (double)h->inputs;
    const int64_t strips = h->examples * s->cut.across * s->cut.down;
    const mw__access access = s->blocks ? MW__WHOLE : MW__ROWS;
    mw__step *step = mw__plan_step(planner, winograd_run, r->transposed ? "conv_transpose.winograd" : "conv.winograd",
                                   s->blocks ? mw__i64_divide_up(strips, s->strips) : h->examples,
                                   mw__cost(4.0 * (double)mw__count_of(r->result), 0.15 * flops));
    step->block = s;
    step->report.flops = flops;
    step->scratch = scratch_bytes(s);
    step->fusion.tail = &s->tail;
    mw__step_read(planner, step, x, access, (size_t)(h->inputs * h->in[0] * h->in[1]) * sizeof(float), false);
    mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (s->has_bias)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), access,
                   (size_t)(h->outputs * h->out[0] * h->out[1]) * sizeof(float));
    return mw__plan_check(planner, err);
}
