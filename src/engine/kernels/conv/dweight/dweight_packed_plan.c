#include "engine/kernels/conv/dweight/dweight_packed.h"

#define FRAME_MOST   131072  /* floats of a frame, about */
#define PARTIAL_MOST 1048576 /* floats of all shares' sums */
#define FRAME_ROWS   49152   /* elements: with what chunks add to them, places are 16 bits (mw__packed_place) */
#define EXTENT       65536
#define COLUMN_COST  8 /* of gathering a vector of columns, in products of one */

/* Positions of a line in a chunk, at most: rows under a kernel, with columns for so many, are FRAME_ROWS elements. */
int64_t mw__dweight_line_most(const mw__conv_window *w)
{
    const int64_t reach[2] = {(w->kernel[1] - 1) * w->dilation[1], (w->kernel[2] - 1) * w->dilation[2]};
    const int64_t columns = FRAME_ROWS / (reach[0] + 1);
    return columns > reach[1] ? mw__i64_min(MW__DWEIGHT_POSITIONS, (columns - reach[1] - 1) / w->stride[2] + 1) : 0;
}

static void choose_chunk(mw__packed_dweight *s)
{
    const mw__conv_window *w = &s->window;
    const int64_t reach[2] = {(w->kernel[1] - 1) * w->dilation[1], (w->kernel[2] - 1) * w->dilation[2]};
    s->across = mw__i64_divide_up(w->out[2], mw__dweight_line_most(w));
    s->cut.width = mw__i64_divide_up(w->out[2], s->across);
    s->cut.columns = (s->cut.width - 1) * w->stride[2] + reach[1] + 1;
    const int64_t line = s->cut.columns * s->lanes * w->stride[1];
    const int64_t lines = mw__i64_min(MW__DWEIGHT_POSITIONS / s->cut.width, mw__i64_divide_up(FRAME_MOST, line));
    s->cut.height = mw__i64_min(lines > 0 ? lines : 1, w->out[1]);
    s->down = mw__i64_divide_up(w->out[1], s->cut.height);
    s->cut.rows = (s->cut.height - 1) * w->stride[1] + reach[0] + 1;
    const int64_t whole = s->cut.height * s->cut.width, frame = s->cut.rows * s->cut.columns * s->lanes;
    const int64_t each = mw__i64_min(MW__DWEIGHT_POSITIONS / whole, FRAME_MOST / frame);
    const int64_t images = s->examples * s->planes;
    s->cut.each = s->down == 1 && s->across == 1 && each > 1 ? mw__i64_min(each, images) : 1;
    s->chunks = mw__i64_divide_up(images, s->cut.each) * s->down * s->across;
}

/* Shares of the chunks where their sums are small, else ranges of channels, which read dy again for each. */
static void choose_units(const mw__planner *planner, mw__packed_dweight *s)
{
    const int64_t partitions = mw__plan_partitions(planner), weights = s->parts.weights;
    s->parts.parts = 1, s->share = s->input_panels;
    if (partitions > 1 && s->chunks >= partitions && weights <= PARTIAL_MOST / partitions)
        s->parts.parts = partitions;
    else if (partitions > s->groups)
        s->share =
            mw__i64_divide_up(s->input_panels, mw__i64_min(s->input_panels, mw__i64_divide_up(partitions, s->groups)));
    s->ranges = mw__i64_divide_up(s->input_panels, s->share);
}

/* What a position of a chunk costs for so many rows of dy: its products, and gathering each lane. */
static int64_t cost_of(const mw__packed_dweight *s, int64_t vectors, int64_t gathered)
{
    return vectors * s->outputs + COLUMN_COST * gathered;
}

/* Whether lanes that are columns take fewer vectors, which pay for gathering them. */
void mw__dweight_choose_lanes(mw__packed_dweight *s)
{
    const mw__conv_window w = s->window;
    const int64_t vectors = mw__i64_divide_up(s->inputs, s->code->width),
                  columns = mw__i64_divide_up(s->inputs * w.taps, s->code->width);
    if (cost_of(s, columns, columns) >= cost_of(s, vectors * w.taps, vectors))
        return;
    s->gathered = w, s->inputs *= w.taps;
    s->window = (mw__conv_window){.kernel = {1, 1, 1},
                                  .stride = {1, 1, 1},
                                  .dilation = {1, 1, 1},
                                  .in = {w.out[0], w.out[1], w.out[2]},
                                  .out = {w.out[0], w.out[1], w.out[2]},
                                  .taps = 1,
                                  .area_in = w.area_out,
                                  .area_out = w.area_out};
}

void mw__dweight_read(const mw__conv_dweight_match *match, mw__level level, mw__packed_dweight *s)
{
    const mw_shape x = mw__shape_of(match->x);
    *s = (mw__packed_dweight){.window = mw__conv_window_of(&match->numbers), .groups = match->numbers.groups};
    s->examples = x.dim[0];
    s->inputs = x.dim[1] / s->groups, s->outputs = mw__shape_of(match->dy).dim[1] / s->groups;
    s->planes = s->window.out[0], s->area = s->window.out[1] * s->window.out[2];
    s->code = mw__packed_code_of(level);
}

const char *mw__conv_dweight_packed_declines(const void *subject)
{
    mw__packed_dweight s;
    mw__dweight_read(subject, MW__LEVEL_BASE, &s);
    const mw__conv_window *w = &s.window;
    for (int i = 0; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT / w->dilation[i] || w->stride[i] > 64)
            return "extents or strides beyond its frames";
    return mw__dweight_line_most(w) > 0 ? NULL : "a kernel beyond its frames";
}

void mw__dweight_fill(mw__planner *planner, const mw__conv_dweight_match *match, mw__packed_dweight *s)
{
    mw__dweight_read(match, mw__plan_level(planner), s);
    mw__dweight_choose_lanes(s);
    s->lanes = s->code->width * s->code->vectors;
    s->output_panels = mw__i64_divide_up(s->outputs, s->code->rows);
    s->rows = mw__i64_divide_up(s->outputs, s->output_panels);
    s->input_panels = mw__i64_divide_up(s->inputs, s->lanes);
    s->parts = (mw__dweight_parts){.weights = s->groups * s->outputs * s->inputs * s->window.taps,
                                   .biases = match->dbias != NULL ? mw__count_of(match->dbias) : 0};
    s->parts.stride = mw__i64_round_up(s->parts.weights + s->parts.biases, 16);
    s->plane = mw__plane_sums_of(mw__plan_level(planner));
    choose_chunk(s);
    choose_units(planner, s);
    s->finite = mw__conv_finite_of(mw__plan_level(planner));
    s->places = mw__conv_list_places(planner, &s->window, &s->cut, &s->borders);
    for (int64_t k = 0; k < s->window.kernel[0]; k++)
        s->borders =
            s->borders || mw__dweight_plane_under(s, 0, k) < 0 || mw__dweight_plane_under(s, s->planes - 1, k) < 0;
}
