/* The gradient by the weight as winograd.h has it: of a block of tiles the values of x and of dy, W [points^2, tiles,
 * outputs] and V [points^2, tiles, inputs], whose products W' V are added up over the blocks, and from whose sums the
 * gradient follows. A unit is a range of outputs by one of inputs, over all examples: its sums stay in the second-level
 * cache, and nothing is added across units, so that bits do not depend on partitions. */
#include "base/number/integer.h"
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"
#include "engine/kernels/reduce/plane_sums.h"
#include "engine/kernels/winograd/winograd_plan.h"

#include <string.h>

#define OUTPUTS       64 /* of a unit, at most */
#define OUTPUTS_LEAST 16
#define INPUTS        128
#define TILES         48 /* of a block, at most, or a strip */
#define APART         16 /* floats between pairs of points, so that they are not at the same place of the caches */
#define TAPS          9
#define WIDTH         16 /* at most */

typedef struct dweight_block {
    mw__winograd w;
    mw__winograd_cut cut;
    int64_t strips, tiles;   /* of a block */
    int64_t outputs, inputs; /* of a unit */
    int64_t output_parts, input_parts;
    int64_t x_lanes, dy_lanes; /* of a tile */
    int64_t x_point, dy_point, sum_point;
    bool has_bias;
    mw__plane_sums *plane;
} dweight_block;

/* A partition's scratch. */
typedef struct dweight_scratch {
    float *frame, *x, *dy, *sums;
} dweight_scratch;

static int64_t frame_floats(const dweight_block *s)
{
    return mw__i64_round_up(s->w.form->points * (s->cut.strip * s->cut.side + 2) * s->w.code->width, 16);
}

static dweight_scratch divide_scratch(const dweight_block *s, float *memory)
{
    dweight_scratch out = {.frame = memory, .x = memory + frame_floats(s)};
    out.dy = out.x + s->w.pairs * s->x_point;
    out.sums = out.dy + s->w.pairs * s->dy_point;
    return out;
}

static size_t scratch_bytes(const dweight_block *s)
{
    return (size_t)(frame_floats(s) + s->w.pairs * (s->x_point + s->dy_point + s->sum_point)) * sizeof(float);
}

/* What is computed: outputs [output, output + outputs) by inputs likewise. */
typedef struct dweight_unit {
    int64_t output, outputs, input, inputs;
} dweight_unit;

static dweight_unit unit_of(const dweight_block *s, int64_t at)
{
    const int64_t output = at / s->input_parts * s->outputs, input = at % s->input_parts * s->inputs;
    return (dweight_unit){.output = output,
                          .outputs = mw__i64_min(s->outputs, s->w.shape.outputs - output),
                          .input = input,
                          .inputs = mw__i64_min(s->inputs, s->w.shape.inputs - input)};
}

/* The values of x and dy of one strip, whose first tile has the number `tile`. */
static void read_strip(const dweight_block *s, const mw__kernel_call *call, const dweight_unit *u,
                       const mw__winograd_strip *strip, int64_t tile, const dweight_scratch *scratch)
{
    const mw__winograd_shape *h = &s->w.shape;
    const int64_t x_at = strip->example * h->inputs + u->input, dy_at = strip->example * h->outputs + u->output;
    const mw__winograd_planes x = {.planes = (const float *)call->in[0] + x_at * h->in[0] * h->in[1],
                                   .channels = u->inputs,
                                   .extent = {h->in[0], h->in[1]},
                                   .from = {strip->row - h->before[0], strip->column - h->before[1]},
                                   .rows = s->w.form->points,
                                   .columns = strip->tiles * s->cut.side + 2,
                                   .values = s->w.form->x};
    const mw__winograd_planes dy = {.planes = (const float *)call->in[1] + dy_at * h->out[0] * h->out[1],
                                    .channels = u->outputs,
                                    .extent = {h->out[0], h->out[1]},
                                    .from = {strip->row, strip->column},
                                    .rows = s->cut.side,
                                    .columns = strip->tiles * s->cut.side,
                                    .values = s->w.form->dy};
    mw__winograd_take(&s->w, &x, strip->tiles, scratch->frame, scratch->x + tile * s->x_lanes, s->x_point, s->x_lanes);
    mw__winograd_take(&s->w, &dy, strip->tiles, scratch->frame, scratch->dy + tile * s->dy_lanes, s->dy_point,
                      s->dy_lanes);
}

static void add_products(const dweight_block *s, const dweight_unit *u, int64_t tiles, bool add,
                         const dweight_scratch *scratch)
{
    const int64_t rows = s->w.set->rows, columns = s->w.set->columns;
    for (int64_t pair = 0; pair < s->w.pairs; pair++)
        for (int64_t j = 0; j < u->inputs; j += columns)
            for (int64_t i = 0; i < u->outputs; i += rows)
                s->w.set->tile(&(mw__gemm_tile){.rows = mw__i64_min(rows, u->outputs - i),
                                                .columns = mw__i64_min(columns, s->x_lanes - j),
                                                .k = tiles,
                                                .a_row = 1,
                                                .a_step = s->dy_lanes,
                                                .b_step = s->x_lanes,
                                                .c_row = s->x_lanes,
                                                .a = scratch->dy + pair * s->dy_point + i,
                                                .b = scratch->x + pair * s->x_point + j,
                                                .c = scratch->sums + pair * s->sum_point + i * s->x_lanes + j,
                                                .add = add});
}

/* The gradient of the unit's weights from its sums. */
static void put_weights(const dweight_block *s, const dweight_unit *u, const float *sums, float *dweight)
{
    const int64_t width = s->w.code->width;
    float kernels[TAPS * WIDTH];
    for (int64_t o = 0; o < u->outputs; o++)
        for (int64_t c = 0; c < u->inputs; c += width) {
            float *const out = dweight + ((u->output + o) * s->w.shape.inputs + u->input + c) * TAPS;
            const int64_t here = mw__i64_min(width, u->inputs - c);
            s->w.form->dweight(sums + o * s->x_lanes + c, s->sum_point, kernels);
            for (int64_t i = 0; i < here; i++)
                for (int64_t t = 0; t < TAPS; t++)
                    out[i * TAPS + t] = kernels[t * width + i];
        }
}

static void put_bias(const dweight_block *s, const dweight_unit *u, const float *dy, float *dbias)
{
    const mw__winograd_shape *h = &s->w.shape;
    const int64_t area = h->out[0] * h->out[1];
    memset(dbias + u->output, 0, (size_t)u->outputs * sizeof *dbias);
    for (int64_t n = 0; n < h->examples; n++)
        s->plane(dy + (n * h->outputs + u->output) * area, u->outputs, area, dbias + u->output);
}

static void run_unit(const dweight_block *s, const mw__kernel_call *call, const dweight_unit *u,
                     const dweight_scratch *scratch)
{
    const int64_t all = s->w.shape.examples * s->cut.across * s->cut.down;
    for (int64_t begin = 0; begin < all; begin += s->strips) {
        int64_t tiles = 0;
        for (int64_t at = begin; at < mw__i64_min(begin + s->strips, all); at++) {
            const mw__winograd_strip strip = mw__winograd_strip_of(&s->cut, at);
            read_strip(s, call, u, &strip, tiles, scratch);
            tiles += strip.tiles;
        }
        add_products(s, u, tiles, begin > 0, scratch);
    }
    put_weights(s, u, scratch->sums, call->out[0]);
    if (s->has_bias && u->input == 0)
        put_bias(s, u, call->in[1], call->out[1]);
}

static void dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    const dweight_scratch scratch = divide_scratch(s, call->scratch);
    for (int64_t at = call->begin; at < call->end; at++) {
        const dweight_unit u = unit_of(s, at);
        run_unit(s, call, &u, &scratch);
    }
}

/* ---- planning ---- */

/* Blocks depend on the shape alone, since sums begin anew with each. Units are halved until every partition has enough
 * to do, which changes no sum. */
static void choose_units(const mw__planner *planner, dweight_block *s)
{
    const mw__winograd_shape *h = &s->w.shape;
    const int64_t rows = s->w.set->rows, columns = s->w.set->columns, partitions = mw__plan_partitions(planner);
    s->cut = mw__winograd_cut_of(h->out, s->w.form->side, TILES);
    s->strips = mw__i64_clamp(TILES / s->cut.strip, 1, h->examples * s->cut.across * s->cut.down);
    s->tiles = s->strips * s->cut.strip;
    int64_t outputs = OUTPUTS, inputs = INPUTS;
    while (mw__i64_divide_up(h->outputs, outputs) * mw__i64_divide_up(h->inputs, inputs) < partitions &&
           (outputs > OUTPUTS_LEAST || inputs > columns))
        if (outputs > OUTPUTS_LEAST)
            outputs /= 2;
        else
            inputs /= 2;
    s->outputs = mw__i64_divide_up(h->outputs, mw__i64_divide_up(h->outputs, outputs));
    s->inputs = mw__i64_round_up(mw__i64_divide_up(h->inputs, mw__i64_divide_up(h->inputs, inputs)), columns);
    s->output_parts = mw__i64_divide_up(h->outputs, s->outputs);
    s->input_parts = mw__i64_divide_up(h->inputs, s->inputs);
    s->x_lanes = s->inputs;
    s->dy_lanes = mw__i64_round_up(s->outputs, s->w.code->width);
    s->x_point = s->tiles * s->x_lanes + APART;
    s->dy_point = s->tiles * s->dy_lanes + mw__i64_round_up(rows, APART);
    s->sum_point = s->outputs * s->x_lanes + APART;
}

mw__packed_request mw__winograd_dweight_request(const mw__conv_dweight_match *match)
{
    return (mw__packed_request){.x = match->x,
                                .result = match->dy,
                                .window = mw__conv_window_of(&match->numbers),
                                .groups = match->numbers.groups};
}

mw_status mw__plan_winograd_dweight(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    dweight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    const mw__packed_request request = mw__winograd_dweight_request(match);
    mw__winograd_init(&s->w, planner, &request);
    choose_units(planner, s);
    s->has_bias = match->dbias != NULL;
    s->plane = mw__plane_sums_of(mw__plan_level(planner));
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)(s->w.shape.inputs * TAPS);
    mw__step *step =
        mw__plan_step(planner, dweight_run, "conv.winograd.dweight", s->output_parts * s->input_parts, 0.01 * flops);
    step->block = s;
    step->report.flops = flops;
    step->scratch = scratch_bytes(s);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__WHOLE, 0);
    if (s->has_bias)
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
