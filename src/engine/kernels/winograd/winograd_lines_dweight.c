/* The gradient by the weight as winograd_lines.h has it: of a block the values of x, V [points, lines, tiles, inputs],
 * and of dy, D [points, rows, tiles, outputs], whose products are added up over the blocks, for each row of the kernel
 * and each piece; the gradient follows from these sums. A unit is a range of outputs by one of inputs, over all
 * examples: nothing is added across units, so that bits do not depend on partitions. */
#include "base/number/integer.h"
#include "engine/kernels/reduce/plane_sums.h"
#include "engine/kernels/winograd/winograd_lines.h"
#include "engine/kernels/winograd/winograd_plan.h"

#include <string.h>

#define SUMS   327680 /* floats of a unit, about: they and a block's values stay in the second-level cache */
#define LEAST  32     /* inputs or outputs of a unit */
#define TILES  48     /* of a block, about */
#define JOINED 24     /* tiles of a row of dy, below which products of a row alone would be short */
#define APART  16     /* floats between points, so that they are not at the same place of the caches */
#define WIDTH  16     /* at most */

typedef struct dweight_block {
    mw__winograd_lines w;
    mw__winograd_line_cut cut;
    int64_t outputs, inputs; /* of a unit */
    int64_t output_parts, input_parts;
    int64_t pitch, tiles; /* of a line of V; of a row of dy, behind whose own there may be zeros */
    bool joined;          /* rows of dy lie as lines of V do, so that all of a block are one product */
    int64_t x_lanes, dy_lanes;
    int64_t x_point, dy_point, sum_point; /* floats between points */
    bool has_bias;
    mw__plane_sums *plane;
} dweight_block;

/* A partition's scratch. */
typedef struct dweight_scratch {
    float *frame, *x, *dy, *sums;
    int32_t *slots, *sources;
} dweight_scratch;

static int64_t frame_floats(const dweight_block *s)
{
    return mw__i64_round_up(mw__winograd_line_positions(&s->w, s->cut.strip) * s->w.code->width, 16);
}

static int64_t scratch_floats(const dweight_block *s)
{
    return frame_floats(s) + s->w.form->points * (s->x_point + s->dy_point + s->sum_point);
}

static dweight_scratch divide_scratch(const dweight_block *s, float *memory)
{
    dweight_scratch out = {.frame = memory, .x = memory + frame_floats(s)};
    out.dy = out.x + s->w.form->points * s->x_point;
    out.sums = out.dy + s->w.form->points * s->dy_point;
    out.slots = (int32_t *)(void *)(memory + scratch_floats(s));
    out.sources = out.slots + s->cut.rows * s->w.kernel[0];
    return out;
}

/* What is computed: outputs [output, output + outputs) by inputs likewise. */
typedef struct dweight_unit {
    int64_t output, outputs, input, inputs;
} dweight_unit;

static dweight_unit unit_of(const dweight_block *s, int64_t at)
{
    const int64_t output = at / s->input_parts * s->outputs, input = at % s->input_parts * s->inputs;
    return (dweight_unit){.output = output,
                          .outputs = mw__i64_min(s->outputs, s->w.outputs - output),
                          .input = input,
                          .inputs = mw__i64_min(s->inputs, s->w.inputs - input)};
}

static void read_x(const dweight_block *s, const float *x, const dweight_unit *u, const mw__winograd_line_block *b,
                   const dweight_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t lines = mw__winograd_lines_list(w, b, scratch->slots, scratch->sources);
    const mw__winograd_line_read read = mw__winograd_line_x(w, b, u->inputs);
    x += b->example * w->x_example + u->input * w->x_channel;
    for (int64_t i = 0; i < lines; i++)
        mw__winograd_line_take(w, &read, x + scratch->sources[i] * w->x_row, scratch->frame,
                               scratch->x + i * s->pitch * s->x_lanes, s->x_point, s->x_lanes);
}

static void read_dy(const dweight_block *s, const float *dy, const dweight_unit *u, const mw__winograd_line_block *b,
                    const dweight_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const mw__winograd_line_read read = {.values = w->form->dy,
                                         .channels = u->outputs,
                                         .channel = w->y_channel,
                                         .from = b->first * MW__WINOGRAD_LINE * w->y_lines,
                                         .extent = w->out,
                                         .positions = b->strip * MW__WINOGRAD_LINE * w->y_lines,
                                         .lines = w->y_lines,
                                         .count = b->strip};
    dy += b->example * w->y_example + u->output * w->y_channel + b->row * w->y_row;
    for (int64_t point = 0; s->joined && point < w->form->points; point++)
        memset(scratch->dy + point * s->dy_point, 0, (size_t)(b->rows * s->tiles * s->dy_lanes) * sizeof(float));
    for (int64_t i = 0; i < b->rows; i++)
        mw__winograd_line_take(w, &read, dy + i * w->y_row, scratch->frame, scratch->dy + i * s->tiles * s->dy_lanes,
                               s->dy_point, s->dy_lanes);
}

/* Adds the products dy [tiles, outputs]' x [tiles, inputs] to sums [outputs, inputs]. */
static void add_product(const dweight_block *s, const dweight_unit *u, int64_t tiles, const float *dy, const float *x,
                        float *sums)
{
    const int64_t rows = s->w.set->rows, columns = s->w.set->columns;
    const int64_t panels = mw__i64_divide_up(u->outputs, rows);
    for (int64_t j = 0; j < u->inputs; j += columns)
        for (int64_t i = 0; i < panels; i++) {
            const int64_t first = u->outputs * i / panels, end = u->outputs * (i + 1) / panels;
            s->w.set->tile(&(mw__gemm_tile){.rows = end - first,
                                            .columns = mw__i64_min(columns, s->x_lanes - j),
                                            .k = tiles,
                                            .a_row = 1,
                                            .a_step = s->dy_lanes,
                                            .b_step = mw__winograd_line_x_step(&s->w) * s->x_lanes,
                                            .c_row = s->x_lanes,
                                            .a = dy + first,
                                            .b = x + j,
                                            .c = sums + first * s->x_lanes + j,
                                            .add = true});
        }
}

/* The products of so many tiles of dy from row `row` of a block on, under a row of the kernel. */
static void add_pieces(const dweight_block *s, const dweight_unit *u, int64_t row, int64_t k, int64_t tiles,
                       const dweight_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t slot = scratch->slots[row * w->kernel[0] + k], sums = s->outputs * s->x_lanes;
    for (int64_t point = 0; slot >= 0 && point < w->form->points; point++)
        for (int64_t q = 0; q < w->pieces; q++)
            add_product(s, u, tiles, scratch->dy + point * s->dy_point + row * s->tiles * s->dy_lanes,
                        scratch->x + point * s->x_point + (slot * s->pitch + q * w->dilation[1]) * s->x_lanes,
                        scratch->sums + point * s->sum_point + (k * w->pieces + q) * sums);
}

static void add_block(const dweight_block *s, const dweight_unit *u, const mw__winograd_line_block *b,
                      const dweight_scratch *scratch)
{
    const int64_t tiles = mw__winograd_line_run(&s->w, b->strip);
    if (s->joined) {
        add_pieces(s, u, 0, 0, (b->rows - 1) * s->tiles + tiles, scratch);
        return;
    }
    for (int64_t row = 0; row < b->rows; row++)
        for (int64_t k = 0; k < s->w.kernel[0]; k++)
            add_pieces(s, u, row, k, tiles, scratch);
}

/* The gradient of the unit's weights from its sums. */
static void put_weights(const dweight_block *s, const dweight_unit *u, const float *sums, float *dweight)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t width = w->code->width, all = w->kernel[0] * w->kernel[1];
    float kernel[MW__WINOGRAD_LINE * WIDTH];
    for (int64_t i = 0; i < w->kernel[0] * w->pieces * u->outputs; i++) {
        const int64_t part = i / u->outputs, o = i % u->outputs, row = part / w->pieces * w->kernel[1];
        for (int64_t c = 0; c < u->inputs; c++) {
            if (c % width == 0)
                w->form->dweight(sums + (part * s->outputs + o) * s->x_lanes + c, s->sum_point, kernel);
            float *const out = dweight + ((u->output + o) * w->inputs + u->input + c) * all + row;
            for (int64_t j = 0; j < w->form->taps; j++) {
                const int64_t tap = mw__winograd_line_tap(w, 0, part % w->pieces, j);
                if (tap >= 0)
                    out[tap] = kernel[j * width + c % width];
            }
        }
    }
}

static void put_bias(const dweight_block *s, const dweight_unit *u, const float *dy, float *dbias)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t examples = w->y_row > w->out ? w->rows_out : w->examples, area = w->y_channel;
    memset(dbias + u->output, 0, (size_t)u->outputs * sizeof *dbias);
    for (int64_t n = 0; n < examples; n++)
        s->plane(dy + (n * w->outputs + u->output) * area, u->outputs, area, dbias + u->output);
}

static void dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    const dweight_scratch scratch = divide_scratch(s, call->scratch);
    const int64_t blocks = mw__winograd_lines_blocks(&s->w, &s->cut);
    for (int64_t at = call->begin; at < call->end; at++) {
        const dweight_unit u = unit_of(s, at);
        memset(scratch.sums, 0, (size_t)(s->w.form->points * s->sum_point) * sizeof *scratch.sums);
        for (int64_t i = 0; i < blocks; i++) {
            const mw__winograd_line_block b = mw__winograd_lines_block(&s->w, &s->cut, i);
            read_x(s, call->in[0], &u, &b, &scratch);
            read_dy(s, call->in[1], &u, &b, &scratch);
            add_block(s, &u, &b, &scratch);
        }
        put_weights(s, &u, scratch.sums, call->out[0]);
        if (s->has_bias && u.input == 0)
            put_bias(s, &u, call->in[1], call->out[1]);
    }
}

/* ---- planning ---- */

/* Ranges are halved until a unit's sums are few and every partition has something to do, which changes no sum. */
static void choose_units(const mw__planner *planner, dweight_block *s)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t each = w->form->points * w->kernel[0] * w->pieces, partitions = mw__plan_partitions(planner);
    int64_t outputs = w->outputs, inputs = w->inputs;
    while ((each * outputs * inputs > SUMS ||
            mw__i64_divide_up(w->outputs, outputs) * mw__i64_divide_up(w->inputs, inputs) < partitions) &&
           (outputs > LEAST || inputs > LEAST))
        if (outputs >= inputs)
            outputs = mw__i64_divide_up(outputs, 2);
        else
            inputs = mw__i64_divide_up(inputs, 2);
    const int64_t whole = mw__i64_max(w->set->whole, w->code->width);
    s->inputs = mw__i64_round_up(inputs, whole), s->outputs = outputs;
    s->output_parts = mw__i64_divide_up(w->outputs, s->outputs);
    s->input_parts = mw__i64_divide_up(w->inputs, s->inputs);
}

static void fill_block(const mw__planner *planner, const mw__packed_request *r, dweight_block *s)
{
    const mw__winograd_lines *w = &s->w;
    mw__winograd_lines_init(&s->w, planner, r);
    choose_units(planner, s);
    s->cut = mw__winograd_lines_cut(w, TILES);
    s->pitch = mw__winograd_line_pitch(w, s->cut.strip), s->tiles = mw__winograd_line_tiles(w, s->cut.strip);
    s->joined = w->kernel[0] == 1 && w->step == 1 && s->cut.rows > 1 && s->tiles < JOINED &&
                w->rows_in == w->rows_out && w->before == 0;
    if (s->joined)
        s->tiles = s->pitch / mw__winograd_line_x_step(w);
    s->x_lanes = s->inputs, s->dy_lanes = mw__i64_round_up(s->outputs, w->code->width);
    s->x_point = s->cut.lines * s->pitch * s->x_lanes + APART;
    s->dy_point = s->cut.rows * s->tiles * s->dy_lanes + mw__i64_round_up(w->set->rows, APART);
    s->sum_point = w->kernel[0] * w->pieces * s->outputs * s->x_lanes + APART;
    s->plane = mw__plane_sums_of(mw__plan_level(planner));
}

mw_status mw__plan_winograd_lines_dweight(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    dweight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    const mw__packed_request request = mw__winograd_dweight_request(match);
    fill_block(planner, &request, s);
    s->has_bias = match->dbias != NULL;
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)(s->w.inputs * request.window.taps);
    mw__step *step =
        mw__plan_step(planner, dweight_run, "conv.lines.dweight", s->output_parts * s->input_parts, 0.01 * flops);
    step->block = s;
    step->report.flops = flops;
    step->scratch = (size_t)scratch_floats(s) * sizeof(float) +
                    (size_t)(s->cut.rows * s->w.kernel[0] + s->cut.lines) * sizeof(int32_t);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__WHOLE, 0);
    if (s->has_bias)
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
