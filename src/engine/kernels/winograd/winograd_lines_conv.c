/* Convolution, and its gradient by x, as winograd_lines.h has them. A step's units are blocks. */
#include "base/number/integer.h"
#include "engine/core/tail.h"
#include "engine/kernels/winograd/winograd_lines.h"
#include "engine/kernels/winograd_rows.h"

#include <string.h>

#define VALUES     131072 /* floats of V, about: it stays in the second-level cache */
#define TILES_MOST 112    /* of a block, about */
#define TILES      28
#define TAIL_MOST  8.0 /* additions: runs are short */
#define APART      16  /* floats between points, so that they are not at the same place of the caches */

typedef struct lines_block {
    mw__winograd_lines w;
    mw__winograd_line_cut cut;
    int64_t pitch, tiles;     /* of a line of V; of a row of y */
    int64_t x_point, y_point; /* floats between points of V and M */
    bool has_bias;
    mw__tail tail;
} lines_block;

/* A partition's scratch. */
typedef struct lines_scratch {
    float *frame;             /* of x, of y: [positions, width] */
    float *x, *y;             /* V [points, lines, pitch, lanes], M [points, rows, tiles, columns] */
    float *bias;              /* [columns] */
    int32_t *slots, *sources; /* of mw__winograd_lines_list */
} lines_scratch;

static int64_t frame_floats(const lines_block *s)
{
    const int64_t x = mw__winograd_line_positions(&s->w, s->cut.strip), y = s->tiles * MW__WINOGRAD_LINE;
    return mw__i64_round_up((x > y ? x : y) * s->w.code->width, 16);
}

static lines_scratch divide_scratch(const lines_block *s, float *memory)
{
    lines_scratch out = {.frame = memory, .x = memory + frame_floats(s)};
    out.y = out.x + s->w.form->points * s->x_point;
    out.bias = out.y + s->w.form->points * s->y_point;
    out.slots = (int32_t *)(void *)(out.bias + mw__i64_round_up(s->w.columns, 16));
    out.sources = out.slots + s->cut.rows * s->w.kernel[0];
    return out;
}

static size_t scratch_bytes(const lines_block *s)
{
    const int64_t floats =
        frame_floats(s) + s->w.form->points * (s->x_point + s->y_point) + mw__i64_round_up(s->w.columns, 16);
    return (size_t)floats * sizeof(float) + (size_t)(s->cut.rows * s->w.kernel[0] + s->cut.lines) * sizeof(int32_t);
}

/* ---- a block ---- */

static void read_lines(const lines_block *s, const float *x, const mw__winograd_line_block *b,
                       const lines_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t lines = mw__winograd_lines_list(w, b, scratch->slots, scratch->sources);
    const mw__winograd_line_read read = mw__winograd_line_x(w, b, w->inputs);
    for (int64_t i = 0; i < lines; i++)
        mw__winograd_line_take(w, &read, x + b->example * w->x_example + scratch->sources[i] * w->x_row, scratch->frame,
                               scratch->x + i * s->pitch * w->lanes, s->x_point, w->lanes);
}

/* What one row of y takes of a row of the kernel and a piece, or of all pieces that lie side by side. */
typedef struct lines_part {
    int64_t kind, point, row, slot; /* slot: of V */
    int64_t kernel, piece, depth;
    bool add;
} lines_part;

/* From element `at` of the depth on. */
static void multiply_row(const lines_block *s, const mw__winograd_line_block *b, const lines_part *p, int64_t at,
                         const float *weight, const lines_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t tiles = mw__winograd_line_run(w, b->strip), parts = mw__i64_divide_up(tiles, w->set->rows);
    const int64_t x_step = mw__winograd_line_x_step(w) * w->lanes, y_step = mw__winograd_line_y_step(w) * w->columns;
    const float *const x =
        scratch->x + p->point * s->x_point + (p->slot * s->pitch + p->piece * w->dilation[1]) * w->lanes + at;
    float *const y = scratch->y + p->point * s->y_point + (p->row * s->tiles + p->kind) * w->columns;
    for (int64_t part = 0; part < parts; part++) {
        const int64_t first = tiles * part / parts, end = tiles * (part + 1) / parts;
        w->set->tile(&(mw__gemm_tile){.rows = end - first,
                                      .columns = w->columns,
                                      .k = mw__i64_min(MW__GEMM_DEPTH, p->depth - at),
                                      .a_row = x_step,
                                      .a_step = 1,
                                      .b_step = w->columns,
                                      .c_row = y_step,
                                      .a = x + first * x_step,
                                      .b = weight + at * w->columns,
                                      .c = y + first * y_step,
                                      .add = p->add});
    }
}

/* The first row of the kernel under which a row of y meets x. */
static int64_t first_of(const lines_block *s, const int32_t *slots)
{
    int64_t k = 0;
    while (k < s->w.kernel[0] && slots[k] < 0)
        k++;
    return k;
}

/* A piece of the weight serves all rows of the block. */
static void multiply_rows(const lines_block *s, const mw__winograd_line_block *b, lines_part *p, bool first,
                          const float *weight, const lines_scratch *scratch)
{
    for (int64_t at = 0; at < p->depth; at += MW__GEMM_DEPTH)
        for (p->row = 0; p->row < b->rows; p->row++) {
            const int32_t *const slots = scratch->slots + p->row * s->w.kernel[0];
            p->slot = slots[p->kernel];
            p->add = !first || at > 0 || p->kernel > first_of(s, slots);
            if (p->slot >= 0)
                multiply_row(s, b, p, at, weight, scratch);
        }
}

/* M of a panel of outputs of one kind, from weight [points, rows of the kernel, pieces, lanes, columns]. */
static void multiply_block(const lines_block *s, const mw__winograd_line_block *b, int64_t kind, const float *weight,
                           const lines_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t begin = mw__winograd_line_first(w, kind), together = w->dilation[1] == 1 ? w->pieces - begin : 1;
    lines_part p = {.kind = kind, .depth = together * w->lanes};
    for (p.point = 0; p.point < w->form->points; p.point++)
        for (p.kernel = 0; p.kernel < w->kernel[0]; p.kernel++)
            for (p.piece = begin; p.piece < w->pieces; p.piece += together)
                multiply_rows(s, b, &p, p.piece == begin,
                              weight + p.point * w->weight_point +
                                  (p.kernel * w->pieces + p.piece) * w->lanes * w->columns,
                              scratch);
}

/* M of rows that meet nothing is 0. */
static void clear_rows(const lines_block *s, const mw__winograd_line_block *b, const lines_scratch *scratch)
{
    const size_t size = (size_t)(s->tiles * s->w.columns) * sizeof(float);
    for (int64_t row = 0; row < b->rows; row++)
        for (int64_t point = 0; point < s->w.form->points; point++)
            if (first_of(s, scratch->slots + row * s->w.kernel[0]) == s->w.kernel[0])
                memset(scratch->y + point * s->y_point + row * s->tiles * s->w.columns, 0, size);
}

/* A panel of outputs of one row of a block to its planes. */
static void finish_row(const lines_block *s, const mw__kernel_call *call, const mw__winograd_line_block *b, int64_t row,
                       int64_t panel, const lines_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t width = w->code->width, column = b->first * MW__WINOGRAD_LINE * w->y_lines - w->shift;
    const int64_t first = panel * w->columns, outputs = mw__i64_min(w->columns, w->outputs - first);
    const int64_t skip = column < 0 ? -column : 0; /* of the frame, before the line begins */
    const int64_t count = mw__i64_min(b->strip * MW__WINOGRAD_LINE * w->y_lines - skip, w->out - column - skip);
    int64_t at = b->example * w->y_example + first * w->y_channel + (b->row + row) * w->y_row + column + skip;
    for (int64_t o = 0; o < outputs; o += width, at += width * w->y_channel) {
        const int64_t channels = mw__i64_min(width, outputs - o);
        w->form->y(scratch->y + row * s->tiles * w->columns + o, s->y_point, w->columns, w->y_lines, b->strip,
                   scratch->bias + o, scratch->frame);
        for (int64_t p = 0; p < count; p += width) {
            const int64_t here = mw__i64_min(width, count - p);
            w->turn->transpose(scratch->frame + (skip + p) * width, width, here, channels, here,
                               (float *)call->out[0] + at + p, w->y_channel);
        }
        for (int64_t c = 0; s->tail.count > 0 && c < channels; c++)
            mw__tail_run(&s->tail, 0, call, at + c * w->y_channel, count);
    }
}

static void run_block(const lines_block *s, const mw__kernel_call *call, const mw__winograd_line_block *b,
                      const lines_scratch *scratch)
{
    const mw__winograd_lines *w = &s->w;
    read_lines(s, call->in[0], b, scratch);
    memset(scratch->bias, 0, (size_t)w->columns * sizeof *scratch->bias);
    clear_rows(s, b, scratch);
    for (int64_t panel = 0; panel < w->panels; panel++) {
        const int64_t first = panel * w->columns, outputs = mw__i64_min(w->columns, w->outputs - first);
        if (s->has_bias)
            memcpy(scratch->bias, (const float *)call->in[2] + first, (size_t)outputs * sizeof *scratch->bias);
        for (int64_t kind = 0; kind < mw__winograd_line_kinds(w); kind++)
            multiply_block(s, b, kind,
                           (const float *)call->in[1] + (kind * w->panels + panel) * w->form->points * w->weight_point,
                           scratch);
        for (int64_t row = 0; row < b->rows; row++)
            finish_row(s, call, b, row, panel, scratch);
    }
}

static void lines_run(const mw__kernel_call *call)
{
    const lines_block *s = call->block;
    const lines_scratch scratch = divide_scratch(s, call->scratch);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const mw__winograd_line_block b = mw__winograd_lines_block(&s->w, &s->cut, unit);
        run_block(s, call, &b, &scratch);
    }
}

/* ---- planning ---- */

/* How y is cut changes no sum: so that every partition has something to do. */
static void choose_blocks(const mw__planner *planner, lines_block *s)
{
    const mw__winograd_lines *w = &s->w;
    const int64_t partitions = mw__plan_partitions(planner);
    int64_t tiles = mw__i64_clamp(VALUES / (w->form->points * w->lanes), TILES, TILES_MOST);
    s->cut = mw__winograd_lines_cut(w, tiles);
    while (tiles > 1 && partitions > 1 && mw__winograd_lines_blocks(w, &s->cut) < 2 * partitions) {
        tiles /= 2;
        s->cut = mw__winograd_lines_cut(w, tiles);
    }
    s->pitch = mw__winograd_line_pitch(w, s->cut.strip), s->tiles = mw__winograd_line_tiles(w, s->cut.strip);
    s->x_point = (s->cut.lines * s->pitch + w->set->rows) * w->lanes + APART;
    s->y_point = s->cut.rows * s->tiles * w->columns + APART;
}

mw_status mw__plan_winograd_lines(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    lines_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    mw__winograd_lines_init(&s->w, planner, r);
    choose_blocks(planner, s);
    s->has_bias = r->bias != NULL, s->tail.most = TAIL_MOST;
    const uint32_t x = mw__conv_operand(planner, r->x), weight = mw__winograd_lines_plan_weight(planner, &s->w, r);
    const uint32_t bias = s->has_bias ? mw__conv_operand(planner, r->bias) : 0;
    const double flops = 2.0 * (double)mw__count_of(r->result) * (double)(s->w.inputs * r->window.taps) /
                         (double)(r->transposed ? r->window.stride[1] * r->window.stride[2] : 1);
    mw__step *step = mw__plan_step(planner, lines_run, r->transposed ? "conv_transpose.lines" : "conv.lines",
                                   mw__winograd_lines_blocks(&s->w, &s->cut),
                                   mw__cost(4.0 * (double)mw__count_of(r->result), 0.2 * flops));
    step->block = s;
    step->report.flops = flops;
    step->scratch = scratch_bytes(s);
    step->fusion.tail = &s->tail;
    mw__step_read(planner, step, x, MW__WHOLE, 0, false);
    mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (s->has_bias)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
