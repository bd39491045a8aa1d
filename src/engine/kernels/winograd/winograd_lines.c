/* Numbers of a convolution along lines, its blocks, and the lines of x that a block meets. */
#include "engine/kernels/winograd/winograd_lines.h"
#include "base/number/integer.h"
#include "engine/kernels/winograd/winograd_plan.h"

#include <string.h>

#define APART 16 /* floats, so that points are not at the same place of the caches */

/* ---- numbers ---- */

static void read_rows(mw__winograd_lines *w, const mw__packed_request *r)
{
    const mw__conv_window *window = &r->window;
    const int64_t reach = (window->kernel[1] - 1) * window->dilation[1];
    w->before = r->transposed ? reach - window->before[1] : window->before[1];
    w->step = r->transposed ? 1 : window->stride[1], w->spread = r->transposed ? window->stride[1] : 1;
    w->rows_in = r->transposed ? window->out[1] : window->in[1], w->in = r->transposed ? window->out[2] : window->in[2];
    w->rows_out = r->transposed ? window->in[1] : window->out[1],
    w->out = r->transposed ? window->in[2] : window->out[2];
}

/* The line, after its form is chosen. */
static void read_line(mw__winograd_lines *w, int64_t before)
{
    const int64_t s = w->stride, most = mw__i64_divide_up(w->kernel[1], s);
    w->groups = mw__i64_divide_up(most, w->form->taps);
    w->x_lines = w->turned ? w->dilation[1] : w->dilation[1] * s;
    w->y_lines = w->turned ? w->dilation[1] * s : w->dilation[1];
    w->pieces = w->groups;
    w->origin = before;
    if (w->turned && s == 1)
        w->origin = (w->kernel[1] - 1) * w->dilation[1] - before;
    else if (w->turned)
        w->origin = w->groups * w->form->taps - 1 - before / s, w->shift = before % s;
    else if (s > 1) { /* pieces that have a tap */
        const int64_t group = w->form->taps * s;
        w->pieces = (w->groups - 1) * s + mw__i64_min(s, w->kernel[1] - (w->groups - 1) * group);
    }
}

int64_t mw__winograd_line_tap(const mw__winograd_lines *w, int64_t kind, int64_t piece, int64_t j)
{
    const int64_t s = w->stride, taps = w->form->taps, all = w->kernel[1];
    int64_t tap = piece / s * taps * s + piece % s + j * s; /* of x's lines */
    if (w->turned)
        tap = s > 1 ? kind + s * (w->groups * taps - 1 - piece * taps - j) : all - 1 - piece * taps - j;
    return tap >= 0 && tap < all ? tap : -1;
}

int64_t mw__winograd_line_first(const mw__winograd_lines *w, int64_t kind)
{
    int64_t piece = 0;
    while (piece < w->pieces - 1 && mw__winograd_line_tap(w, kind, piece, w->form->taps - 1) < 0 &&
           mw__winograd_line_tap(w, kind, piece, 0) < 0)
        piece++;
    return piece;
}

/* Examples of one row become rows of one example. */
static void choose_rows(mw__winograd_lines *w)
{
    const bool lines = w->rows_in == 1 && w->rows_out == 1 && w->kernel[0] == 1;
    w->x_channel = w->rows_in * w->in, w->x_row = w->in, w->x_example = w->inputs * w->x_channel;
    w->y_channel = w->rows_out * w->out, w->y_row = w->out, w->y_example = w->outputs * w->y_channel;
    if (!lines)
        return;
    w->x_row = w->x_example, w->y_row = w->y_example;
    w->rows_in = w->rows_out = w->examples, w->examples = 1;
    w->before = 0, w->step = w->spread = 1;
}

void mw__winograd_lines_init(mw__winograd_lines *w, const mw__planner *planner, const mw__packed_request *r)
{
    const mw_shape x = mw__shape_of(r->x), y = mw__shape_of(r->result);
    *w = (mw__winograd_lines){.examples = x.dim[0], .inputs = x.dim[1], .outputs = y.dim[1], .turned = r->transposed};
    const mw__conv_window *window = &r->window;
    for (int i = 0; i < 2; i++)
        w->kernel[i] = window->kernel[i + 1], w->dilation[i] = window->dilation[i + 1];
    w->stride = window->stride[2];
    w->code = mw__winograd_code_of(mw__plan_level(planner));
    w->form = &w->code->line[mw__i64_divide_up(w->kernel[1], w->stride) > 3];
    read_rows(w, r);
    read_line(w, window->before[2]);
    choose_rows(w);
    w->turn = mw__packed_code_of(mw__plan_level(planner));
    w->set = mw__gemm_set_of(mw__plan_config(planner));
    w->columns = w->set->columns;
    w->panels = mw__i64_divide_up(w->outputs, w->columns);
    w->lanes = mw__i64_round_up(w->inputs, w->code->width);
    w->weight_point = w->kernel[0] * w->pieces * w->lanes * w->columns + APART;
}

/* ---- blocks ---- */

/* Tiles of each line of a row of y. */
static int64_t tiles_of(const mw__winograd_lines *w)
{
    return mw__i64_divide_up(w->out + w->shift, MW__WINOGRAD_LINE * w->y_lines);
}

/* Of x, that so many rows of y meet, at most. */
static int64_t lines_of(const mw__winograd_lines *w, int64_t rows)
{
    const int64_t reach = (rows - 1) * w->step + (w->kernel[0] - 1) * w->dilation[0];
    return mw__i64_min(mw__i64_min(rows * w->kernel[0], w->rows_in), reach / w->spread + 1);
}

mw__winograd_line_cut mw__winograd_lines_cut(const mw__winograd_lines *w, int64_t tiles)
{
    const int64_t d = w->x_lines > w->y_lines ? w->x_lines : w->y_lines, all = tiles_of(w);
    mw__winograd_line_cut cut = {.across = mw__i64_divide_up(all, mw__i64_clamp(tiles / d, 1, all))};
    cut.strip = mw__i64_divide_up(all, cut.across);
    cut.across = mw__i64_divide_up(all, cut.strip);
    cut.down = mw__i64_divide_up(w->rows_out, mw__i64_clamp(tiles / (cut.strip * d), 1, w->rows_out));
    cut.rows = mw__i64_divide_up(w->rows_out, cut.down);
    cut.down = mw__i64_divide_up(w->rows_out, cut.rows);
    cut.lines = lines_of(w, cut.rows);
    return cut;
}

int64_t mw__winograd_lines_blocks(const mw__winograd_lines *w, const mw__winograd_line_cut *cut)
{
    return w->examples * cut->down * cut->across;
}

mw__winograd_line_block mw__winograd_lines_block(const mw__winograd_lines *w, const mw__winograd_line_cut *cut,
                                                 int64_t at)
{
    mw__winograd_line_block b = {.example = at / cut->across / cut->down,
                                 .row = at / cut->across % cut->down * cut->rows,
                                 .first = at % cut->across * cut->strip};
    b.rows = mw__i64_min(cut->rows, w->rows_out - b.row);
    b.strip = mw__i64_min(cut->strip, tiles_of(w) - b.first);
    return b;
}

int64_t mw__winograd_line_tiles(const mw__winograd_lines *w, int64_t strip) { return strip * w->y_lines; }

int64_t mw__winograd_line_pitch(const mw__winograd_lines *w, int64_t strip)
{
    return (strip + w->groups - 1) * w->x_lines;
}

int64_t mw__winograd_line_positions(const mw__winograd_lines *w, int64_t strip)
{
    return ((strip + w->groups - 1) * MW__WINOGRAD_LINE + w->form->points - MW__WINOGRAD_LINE) * w->x_lines;
}

/* ---- lines ---- */

/* The row of x that row `row` of y meets under row `k` of the kernel; -1: none. */
static int64_t row_under(const mw__winograd_lines *w, int64_t row, int64_t k)
{
    const int64_t n = row * w->step + k * w->dilation[0] - w->before;
    return n >= 0 && n % w->spread == 0 && n / w->spread < w->rows_in ? n / w->spread : -1;
}

int64_t mw__winograd_lines_list(const mw__winograd_lines *w, const mw__winograd_line_block *b, int32_t *slots,
                                int32_t *sources)
{
    int32_t count = 0;
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t k = 0; k < w->kernel[0]; k++, slots++) {
            const int64_t row = row_under(w, b->row + i, k);
            int32_t slot = row < 0 ? -1 : count - 1;
            while (slot >= 0 && sources[slot] != row)
                slot--;
            if (row >= 0 && slot < 0)
                sources[slot = count++] = (int32_t)row;
            *slots = slot;
        }
    return count;
}

mw__winograd_line_read mw__winograd_line_x(const mw__winograd_lines *w, const mw__winograd_line_block *b,
                                           int64_t channels)
{
    return (mw__winograd_line_read){.values = w->form->x,
                                    .channels = channels,
                                    .channel = w->x_channel,
                                    .from = b->first * MW__WINOGRAD_LINE * w->x_lines - w->origin,
                                    .extent = w->in,
                                    .positions = mw__winograd_line_positions(w, b->strip),
                                    .lines = w->x_lines,
                                    .count = b->strip + w->groups - 1};
}

void mw__winograd_line_take(const mw__winograd_lines *w, const mw__winograd_line_read *of, const float *line,
                            float *frame, float *out, int64_t point, int64_t tile)
{
    const int64_t width = w->code->width, begin = mw__i64_clamp(-of->from, 0, of->positions),
                  end = mw__i64_clamp(of->extent - of->from, begin, of->positions);
    memset(frame, 0, (size_t)(begin * width) * sizeof *frame);
    memset(frame + end * width, 0, (size_t)((of->positions - end) * width) * sizeof *frame);
    for (int64_t c = 0; c < of->channels; c += width) {
        if (end > begin)
            w->turn->transpose(line + c * of->channel + of->from + begin, of->channel,
                               mw__i64_min(width, of->channels - c), end - begin, width, frame + begin * width, width);
        of->values(frame, of->lines, of->count, out + c, point, tile);
    }
}
