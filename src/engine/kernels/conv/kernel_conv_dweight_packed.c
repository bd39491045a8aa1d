/* The gradient of a convolution by its weight as sums of packed panels, for any number of channels, positions and axes.
 * Lanes are input channels: a chunk of positions of x is transposed, with its border, into frames [rows, columns,
 * lanes], so that under every tap the vectors of a position lie at a fixed distance; dy is transposed into panels
 * [positions, rows] of output channels:
 *
 *     sum[tap][o][c ..] += dy[position][o] frame[at[position] + offset of tap][c ..]
 *
 * A chunk is of images: the planes of all examples, one after the other. With three axes each plane of the kernel has
 * frames of its own, of the planes of x that it meets, and leaves out images for which that lies in the border.
 *
 * Where lanes would be idle, as there are few input channels, they are columns, an input channel and a tap each: what
 * is summed is the same as for a kernel of one element and so many input channels, whose frames are gathered.
 *
 * A unit takes a range of panels of input channels of a group over a share of the chunks. Sums of a unit run over its
 * positions in order; where chunks are shared, those of the shares are added in order afterwards. Scratch of a
 * partition: the sums of a unit, a chunk of dy and one frame.
 *
 * In the form for chips the sums of each example are a product, whose order they have, and are rounded; a product with
 * ones adds them. No bit of either changes. */
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_dweight.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/conv/kernel_conv_places.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/reduce/plane_sums.h"

#include <string.h>

#define POSITIONS    512     /* of a chunk, about */
#define FRAME_MOST   131072  /* floats of a frame, about */
#define PARTIAL_MOST 1048576 /* floats of all shares' sums */
#define FRAME_ROWS   49152   /* elements: with what chunks add to them, places are 16 bits (mw__packed_place) */
#define EXTENT       65536
#define COLUMN_COST  8 /* of gathering a vector of columns, in products of one */

typedef struct packed_dweight {
    mw__conv_window window;
    mw__conv_window gathered;                  /* taps > 0: lanes are its columns, and `window` has one tap */
    int64_t examples, groups, inputs, outputs; /* channels of a group; inputs: columns where those are lanes */
    int64_t planes, area;                      /* planes of an example of dy, and positions of one */
    const mw__packed_code *code;
    int64_t lanes, rows;                 /* of a panel of inputs, of outputs */
    int64_t output_panels, input_panels; /* of a group */
    mw__conv_chunk cut;                  /* the size of a chunk */
    int64_t down, across, chunks;        /* chunks of an image, and in all */
    const mw__conv_places *places;       /* [1 + taps of a plane], of kernel_conv_places.h */
    bool borders;                        /* some are fewer than all */
    int64_t share, ranges;               /* panels of inputs of a unit, and how many units they make */
    mw__dweight_parts parts;
    mw__plane_sums *plane;
    mw__conv_finite *finite;
    mw__loop1 *round, *round_all; /* in the form for chips: of the sums of an example, of all; NULL: none */
    mw__loop2 *add;               /* of the sums of an example */
} packed_dweight;

static int64_t positions_of(const packed_dweight *s) { return s->cut.each * s->cut.height * s->cut.width; }
static int64_t frame_floats(const packed_dweight *s) { return s->cut.each * s->cut.rows * s->cut.columns * s->lanes; }
static int64_t tile_floats(const packed_dweight *s) { return s->rows * s->lanes; }
static int64_t sums_floats(const packed_dweight *s)
{
    return s->share * s->output_panels * s->window.taps * tile_floats(s);
}
static int64_t dy_floats(const packed_dweight *s) { return s->output_panels * positions_of(s) * s->rows; }
static bool lanes_are_columns(const packed_dweight *s) { return s->gathered.taps > 0; }
static int64_t taps_of_plane(const packed_dweight *s) { return s->window.kernel[1] * s->window.kernel[2]; }

/* Lines of columns before they are transposed. */
static int64_t line_floats(const packed_dweight *s)
{
    return lanes_are_columns(s) ? s->code->width * s->cut.height * s->cut.width : 0;
}

/* All but the sums. */
static int64_t chunk_floats(const packed_dweight *s)
{
    return mw__i64_round_up(dy_floats(s), 16) + mw__i64_round_up(frame_floats(s), 16) +
           mw__i64_round_up(line_floats(s), 16);
}

/* ---- one chunk ---- */

typedef struct dweight_chunk {
    int64_t image, images;              /* planes of examples */
    int64_t row, rows, column, columns; /* of y */
} dweight_chunk;

static dweight_chunk chunk_of(const packed_dweight *s, int64_t index)
{
    const mw__conv_window *w = &s->window;
    dweight_chunk c = {.image = index / (s->down * s->across) * s->cut.each,
                       .row = index / s->across % s->down * s->cut.height,
                       .column = index % s->across * s->cut.width};
    c.images = mw__i64_min(s->cut.each, s->examples * s->planes - c.image);
    c.rows = mw__i64_min(s->cut.height, w->out[1] - c.row);
    c.columns = mw__i64_min(s->cut.width, w->out[2] - c.column);
    return c;
}

/* dy of a group to panels [output panels, positions, rows]; lines that end early end in zeros. */
static void pack_dy(const packed_dweight *s, const dweight_chunk *c, const float *dy, float *packed)
{
    const mw__conv_window *w = &s->window;
    for (int64_t p = 0; p < s->output_panels; p++) {
        const int64_t first = p * s->rows, here = mw__i64_min(s->rows, s->outputs - first);
        float *to = packed + p * positions_of(s) * s->rows;
        for (int64_t m = c->image; m < c->image + c->images; m++) {
            const float *from = dy + (m / s->planes * s->groups * s->outputs + first) * w->area_out +
                                m % s->planes * s->area + c->row * w->out[2] + c->column;
            const bool dense = c->columns == w->out[2] && s->cut.width == w->out[2];
            const int64_t lines = dense ? 1 : c->rows, count = dense ? c->rows * s->cut.width : c->columns;
            for (int64_t y = 0; y < lines; y++, from += w->out[2], to += (dense ? count : s->cut.width) * s->rows) {
                s->code->transpose(from, w->area_out, here, count, s->rows, to, s->rows);
                if (!dense)
                    memset(to + count * s->rows, 0, (size_t)((s->cut.width - count) * s->rows) * sizeof *to);
            }
        }
    }
}

/* The plane of x that image m meets under a plane of the kernel; -1 in the border. */
static int64_t plane_under(const packed_dweight *s, int64_t m, int64_t kernel)
{
    const mw__conv_window *w = &s->window;
    const int64_t z = m % s->planes * w->stride[0] + kernel * w->dilation[0] - w->before[0];
    return z < w->in[0] ? z : -1;
}

/* A line of x, `channels` of them, under the frame's columns. */
static void pack_line(const packed_dweight *s, const dweight_chunk *c, const float *x, int64_t channels, float *frame)
{
    const mw__conv_window *w = &s->window;
    const int64_t start = c->column * w->stride[2] - w->before[2];
    const int64_t begin = mw__i64_min(start < 0 ? -start : 0, s->cut.columns);
    const int64_t inside = w->in[2] - start, end = inside < begin ? begin : mw__i64_min(inside, s->cut.columns);
    memset(frame, 0, (size_t)(begin * s->lanes) * sizeof *frame);
    memset(frame + end * s->lanes, 0, (size_t)((s->cut.columns - end) * s->lanes) * sizeof *frame);
    for (int64_t lane = 0; end > begin && lane < channels; lane += s->code->width)
        s->code->transpose(x + lane * w->area_in + start + begin, w->area_in,
                           mw__i64_min(s->code->width, channels - lane), end - begin, s->code->width,
                           frame + begin * s->lanes + lane, s->lanes);
}

/* Channels from `first` on of a group, x, under a plane of the kernel, to frames. */
static void pack_frames(const packed_dweight *s, const dweight_chunk *c, const float *x, int64_t first,
                        int64_t channels, int64_t kernel, float *frame)
{
    const mw__conv_window *w = &s->window;
    const int64_t line = s->cut.columns * s->lanes;
    for (int64_t m = c->image; m < c->image + c->images; m++) {
        const int64_t z = plane_under(s, m, kernel);
        for (int64_t y = 0; y < s->cut.rows; y++, frame += line) {
            const int64_t from = c->row * w->stride[1] + y - w->before[1];
            if (z < 0 || from < 0 || from >= w->in[1])
                memset(frame, 0, (size_t)line * sizeof *frame);
            else
                pack_line(s, c,
                          x + (m / s->planes * s->groups * s->inputs + first) * w->area_in +
                              (z * w->in[1] + from) * w->in[2],
                          channels, frame);
        }
    }
}

/* What an image of a chunk meets of column `at` of its group's: out [rows, width of a chunk]. */
static void gather_line(const packed_dweight *s, const dweight_chunk *c, const float *x, int64_t m, int64_t at,
                        float *out)
{
    const mw__conv_window *w = &s->gathered;
    int64_t offset[3], rows[2], columns[2];
    mw__conv_tap(w, at % w->taps, offset);
    const int64_t z = m % s->planes * w->stride[0] + offset[0], width = s->cut.width;
    const int64_t start = c->column * w->stride[2] + offset[2], row = c->row * w->stride[1] + offset[1];
    mw__conv_reach(row, w->stride[1], w->in[1], c->rows, rows);
    mw__conv_reach(start, w->stride[2], w->in[2], c->columns, columns);
    if (z < 0 || z >= w->in[0])
        rows[0] = rows[1] = c->rows;
    memset(out, 0, (size_t)(rows[0] * width) * sizeof *out);
    memset(out + rows[1] * width, 0, (size_t)((c->rows - rows[1]) * width) * sizeof *out);
    const int64_t channel = m / s->planes * s->groups * (s->inputs / w->taps) + at / w->taps;
    const int64_t from = channel * w->area_in + (z * w->in[1] + row + rows[0] * w->stride[1]) * w->in[2] + start;
    if (rows[1] > rows[0])
        s->code->lines((const float *)((uintptr_t)x + (uintptr_t)(from * (int64_t)sizeof *x)), w->stride[1] * w->in[2],
                       rows[1] - rows[0], w->stride[2], columns[0], columns[1], width, out + rows[0] * width);
}

/* Columns from `first` on of a group, x, to frames; lines: scratch. */
static void gather_frames(const packed_dweight *s, const dweight_chunk *c, const float *x, int64_t first, int64_t count,
                          float *frame, float *lines)
{
    const int64_t positions = c->rows * s->cut.width, width = s->code->width;
    for (int64_t m = c->image; m < c->image + c->images; m++, frame += s->cut.rows * s->cut.columns * s->lanes)
        for (int64_t lane = 0; lane < count; lane += width) {
            const int64_t here = mw__i64_min(width, count - lane);
            for (int64_t i = 0; i < here; i++)
                gather_line(s, c, x, m, first + lane + i, lines + i * positions);
            s->code->transpose(lines, positions, here, positions, width, frame + lane, s->lanes);
        }
}

/* Images of a chunk that meet x under a plane of the kernel, and follow each other. */
typedef struct image_run {
    int16_t begin, end;
} image_run;

static int64_t find_images(const packed_dweight *s, const dweight_chunk *c, int64_t kernel, bool fewer, image_run *out)
{
    int64_t count = 0;
    for (int64_t i = 0; i < c->images; i++) {
        const bool meets = !fewer || plane_under(s, c->image + i, kernel) >= 0;
        if (meets && count > 0 && out[count - 1].end == i)
            out[count - 1].end++;
        else if (meets)
            out[count++] = (image_run){.begin = (int16_t)i, .end = (int16_t)(i + 1)};
    }
    return count;
}

/* ---- a unit ---- */

typedef struct dweight_unit {
    int64_t part, group, panel, panels; /* panels of inputs */
} dweight_unit;

static dweight_unit unit_of(const packed_dweight *s, int64_t index)
{
    dweight_unit u = {.part = index / s->ranges / s->groups,
                      .group = index / s->ranges % s->groups,
                      .panel = index % s->ranges * s->share};
    u.panels = mw__i64_min(s->share, s->input_panels - u.panel);
    return u;
}

/* dy of a group to panels. Whether taps need fewer than all places: not those of a dy that is not finite. */
static bool pack_finite(const packed_dweight *s, const mw__kernel_call *call, const dweight_unit *u,
                        const dweight_chunk *c, float *packed)
{
    const int64_t count = c->images * c->rows * s->cut.width * s->rows, panel = positions_of(s) * s->rows;
    bool fewer = s->borders;
    pack_dy(s, c, (const float *)call->in[1] + u->group * s->outputs * s->window.area_out, packed);
    for (int64_t p = 0; fewer && p < s->output_panels; p++)
        fewer = s->finite(packed + p * panel, count);
    return fewer;
}

/* What a panel of inputs of a unit meets in a chunk under one plane of the kernel. */
typedef struct chunk_panel {
    float *dy, *frame;
    int64_t panel, plane;
    image_run *images;
    int64_t runs; /* of images */
    bool fewer;
    mw__packed_sums *run;
} chunk_panel;

/* Sums of a tile: [panels, output panels, taps, rows, lanes]. */
static int64_t tile_at(const packed_dweight *s, const chunk_panel *p, int64_t o, int64_t tap)
{
    const int64_t taps = taps_of_plane(s);
    return ((p->panel * s->output_panels + o) * s->window.kernel[0] * taps + p->plane * taps + tap) * tile_floats(s);
}

static const float *frame_under(const packed_dweight *s, const chunk_panel *p, int64_t tap)
{
    const mw__conv_window *w = &s->window;
    const int64_t y = tap / w->kernel[2] * w->dilation[1], x = tap % w->kernel[2] * w->dilation[2];
    return p->frame + (y * s->cut.columns + x) * s->lanes;
}

static void pack_x(const packed_dweight *s, const mw__kernel_call *call, const dweight_unit *u, const dweight_chunk *c,
                   chunk_panel *p)
{
    const int64_t first = (u->panel + p->panel) * s->lanes, channels = mw__i64_min(s->lanes, s->inputs - first);
    const float *const x = call->in[0];
    p->run = s->code->sums[s->rows - 1][mw__i64_divide_up(channels, s->code->width) - 1];
    p->runs = find_images(s, c, p->plane, p->fewer, p->images);
    if (p->runs == 0)
        return;
    if (lanes_are_columns(s))
        gather_frames(s, c, x + u->group * (s->inputs / s->gathered.taps) * s->gathered.area_in, first, channels,
                      p->frame, p->frame + mw__i64_round_up(frame_floats(s), 16));
    else
        pack_frames(s, c, x + u->group * s->inputs * s->window.area_in, first, channels, p->plane, p->frame);
}

/* A tile under a tap. */
static void add_tap(const packed_dweight *s, const dweight_chunk *c, const chunk_panel *p, int64_t o, int64_t tap,
                    bool add, float *sums)
{
    const mw__conv_places *places = &s->places[p->fewer ? 1 + tap : 0];
    const float *dy = p->dy + o * positions_of(s) * s->rows, *frame = frame_under(s, p, tap);
    const int64_t lines = c->rows * s->cut.width;
    if (p->runs == 0)
        p->run(0, dy, frame, places->at, sums, add);
    for (int64_t i = 0; i < p->runs; i++) {
        const image_run *images = &p->images[i];
        const mw__places_run each = mw__conv_places_of(places, &s->cut, c->row, c->rows, images->begin, 0, lines);
        p->run((images->end - images->begin) * each.count, dy, frame, each.at, sums, add || i > 0);
    }
}

/* The memory of a chunk behind the sums of a unit. */
static chunk_panel begin_chunk(const packed_dweight *s, image_run *images, float *sums)
{
    float *const dy = sums + sums_floats(s);
    return (chunk_panel){.dy = dy, .frame = dy + mw__i64_round_up(dy_floats(s), 16), .images = images};
}

static void add_chunk(const packed_dweight *s, const mw__kernel_call *call, const dweight_unit *u,
                      const dweight_chunk *c, bool add, float *sums)
{
    image_run images[POSITIONS];
    chunk_panel p = begin_chunk(s, images, sums);
    p.fewer = pack_finite(s, call, u, c, p.dy);
    for (; p.panel < u->panels; p.panel++)
        for (p.plane = 0; p.plane < s->window.kernel[0]; p.plane++) {
            pack_x(s, call, u, c, &p);
            for (int64_t o = 0; o < s->output_panels; o++)
                for (int64_t t = 0; t < taps_of_plane(s); t++)
                    add_tap(s, c, &p, o, t, add, sums + tile_at(s, &p, o, t));
        }
}

/* The sums to their places in dweight [groups outputs, inputs, taps]. */
static void put_sums(const packed_dweight *s, const dweight_unit *u, const float *sums, float *out)
{
    const int64_t taps = s->window.taps;
    for (int64_t p = 0; p < u->panels; p++)
        for (int64_t o = 0; o < s->output_panels * s->rows; o++) {
            const int64_t first = (u->panel + p) * s->lanes, channels = mw__i64_min(s->lanes, s->inputs - first);
            const float *from =
                sums + (p * s->output_panels + o / s->rows) * taps * tile_floats(s) + o % s->rows * s->lanes;
            float *to = out + ((u->group * s->outputs + o) * s->inputs + first) * taps;
            for (int64_t c = 0; o < s->outputs && c < channels; c++)
                for (int64_t t = 0; t < taps; t++)
                    *to++ = from[t * tile_floats(s) + c] + 0.0f; /* no -0, whatever zeros were left out */
        }
}

/* The sums of dy, in the unit that has the first channels of its group. */
static void put_bias(const packed_dweight *s, const mw__kernel_call *call, const dweight_unit *u, float *out)
{
    const int64_t area = s->window.area_out, parts = s->parts.parts;
    const int64_t begin = s->examples * u->part / parts, end = s->examples * (u->part + 1) / parts;
    memset(out + u->group * s->outputs, 0, (size_t)s->outputs * sizeof *out);
    for (int64_t n = begin; n < end; n++) {
        const int64_t first = (n * s->groups + u->group) * s->outputs;
        s->plane((const float *)call->in[1] + first * area, s->outputs, area, out + u->group * s->outputs);
    }
}

/* A unit: [parts, groups, ranges of input panels]. */
static void packed_dweight_run(const mw__kernel_call *call)
{
    const packed_dweight *s = call->block;
    float *const sums = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const dweight_unit u = unit_of(s, unit);
        const int64_t begin = s->chunks * u.part / s->parts.parts, end = s->chunks * (u.part + 1) / s->parts.parts;
        float *const out = (float *)call->out[0] + u.part * s->parts.stride;
        for (int64_t i = begin; i < end; i++) {
            const dweight_chunk c = chunk_of(s, i);
            add_chunk(s, call, &u, &c, i > begin, sums);
        }
        put_sums(s, &u, sums, out);
        if (s->parts.biases > 0 && u.panel == 0)
            put_bias(s, call, &u, s->parts.parts > 1 ? out + s->parts.weights : call->out[1]);
    }
}

/* ---- planning ---- */

/* Positions of a line in a chunk, at most: rows under a kernel, with columns for so many, are FRAME_ROWS elements. */
static int64_t line_most(const mw__conv_window *w)
{
    const int64_t reach[2] = {(w->kernel[1] - 1) * w->dilation[1], (w->kernel[2] - 1) * w->dilation[2]};
    const int64_t columns = FRAME_ROWS / (reach[0] + 1);
    return columns > reach[1] ? mw__i64_min(POSITIONS, (columns - reach[1] - 1) / w->stride[2] + 1) : 0;
}

static void choose_chunk(packed_dweight *s)
{
    const mw__conv_window *w = &s->window;
    const int64_t reach[2] = {(w->kernel[1] - 1) * w->dilation[1], (w->kernel[2] - 1) * w->dilation[2]};
    s->across = mw__i64_divide_up(w->out[2], line_most(w));
    s->cut.width = mw__i64_divide_up(w->out[2], s->across);
    s->cut.columns = (s->cut.width - 1) * w->stride[2] + reach[1] + 1;
    const int64_t line = s->cut.columns * s->lanes * w->stride[1];
    const int64_t lines = mw__i64_min(POSITIONS / s->cut.width, mw__i64_divide_up(FRAME_MOST, line));
    s->cut.height = mw__i64_min(lines > 0 ? lines : 1, w->out[1]);
    s->down = mw__i64_divide_up(w->out[1], s->cut.height);
    s->cut.rows = (s->cut.height - 1) * w->stride[1] + reach[0] + 1;
    const int64_t whole = s->cut.height * s->cut.width, frame = s->cut.rows * s->cut.columns * s->lanes;
    const int64_t each = mw__i64_min(POSITIONS / whole, FRAME_MOST / frame);
    const int64_t images = s->examples * s->planes;
    s->cut.each = s->down == 1 && s->across == 1 && each > 1 ? mw__i64_min(each, images) : 1;
    s->chunks = mw__i64_divide_up(images, s->cut.each) * s->down * s->across;
}

/* Shares of the chunks where their sums are small, else ranges of channels, which read dy again for each. */
static void choose_units(const mw__planner *planner, packed_dweight *s)
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
static int64_t cost_of(const packed_dweight *s, int64_t vectors, int64_t gathered)
{
    return vectors * s->outputs + COLUMN_COST * gathered;
}

/* Whether lanes that are columns take fewer vectors, which pay for gathering them. */
static void choose_lanes(packed_dweight *s)
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

static void read_numbers(const mw__conv_dweight_match *match, mw__level level, packed_dweight *s)
{
    const mw_shape x = mw__shape_of(match->x);
    *s = (packed_dweight){.window = mw__conv_window_of(&match->numbers), .groups = match->numbers.groups};
    s->examples = x.dim[0];
    s->inputs = x.dim[1] / s->groups, s->outputs = mw__shape_of(match->dy).dim[1] / s->groups;
    s->planes = s->window.out[0], s->area = s->window.out[1] * s->window.out[2];
    s->code = mw__packed_code_of(level);
}

const char *mw__conv_dweight_packed_declines(const void *subject)
{
    packed_dweight s;
    read_numbers(subject, MW__LEVEL_BASE, &s);
    const mw__conv_window *w = &s.window;
    for (int i = 0; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT / w->dilation[i] || w->stride[i] > 64)
            return "extents or strides beyond its frames";
    return line_most(w) > 0 ? NULL : "a kernel beyond its frames";
}

static void fill_block(mw__planner *planner, const mw__conv_dweight_match *match, packed_dweight *s)
{
    read_numbers(match, mw__plan_level(planner), s);
    choose_lanes(s);
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
        s->borders = s->borders || plane_under(s, 0, k) < 0 || plane_under(s, s->planes - 1, k) < 0;
}

/* Straight into the results, or into parts that are added up. */
static void plan_results(mw__planner *planner, const packed_dweight *s, mw__step *step,
                         const mw__conv_dweight_match *match)
{
    if (s->parts.parts == 1) {
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__WHOLE, 0);
        if (match->dbias != NULL)
            mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__WHOLE, 0);
        return;
    }
    const size_t size = (size_t)s->parts.stride * sizeof(float);
    const uint32_t partial = mw__plan_temporary(planner, size * (size_t)s->parts.parts);
    mw__step_write(planner, step, partial, MW__WHOLE, 0);
    mw__dweight_plan_sums(planner, &s->parts, partial, match);
}

mw_status mw__plan_conv_dweight_packed(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    packed_dweight *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    fill_block(planner, match, s);
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)s->inputs * (double)s->window.taps;
    mw__step *step = mw__plan_step(planner, packed_dweight_run, "conv.dweight", s->parts.parts * s->groups * s->ranges,
                                   0.02 * flops);
    step->block = s;
    step->report.flops = flops;
    step->scratch = (size_t)(sums_floats(s) + chunk_floats(s)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    plan_results(planner, s, step, match);
    return mw__plan_check(planner, err);
}

/* ---- in the form for chips ---- */

static bool is_whole(const packed_dweight *s) { return s->down == 1 && s->planes == 1; } /* an example is in a chunk */

/* Sums beside those of all examples, for each tile, or for one at a time where no example goes beyond a chunk. */
typedef struct apart_sums {
    float *example; /* [tile] of one that is not added yet */
    float *block;   /* [tile] of less than a block of positions */
    int64_t step;   /* floats between tiles; 0: one for all */
} apart_sums;

static int64_t kept_floats(const packed_dweight *s)
{
    return mw__i64_round_up(is_whole(s) ? tile_floats(s) : sums_floats(s), 16);
}

static apart_sums divide_apart(const packed_dweight *s, float *memory)
{
    return (apart_sums){.example = memory, .block = memory + kept_floats(s), .step = is_whole(s) ? 0 : tile_floats(s)};
}

/* What one tile is multiplied of, in a chunk. */
typedef struct apart_tile {
    const float *dy, *frame;
    const mw__conv_places *places;
    mw__packed_sums *run;
    float *example, *block, *sums;
} apart_tile;

/* Positions of image i of a chunk to the sums of its example; `meets`: they meet x under the kernel. */
static void add_positions(const packed_dweight *s, const dweight_chunk *c, const apart_tile *t, int64_t i, bool meets,
                          float *sums)
{
    const int64_t plane = (c->image + i) % s->planes * s->area;
    const int64_t start = plane + c->row * s->cut.width, end = start + c->rows * s->cut.width;
    for (int64_t p = start, next; p < end; p = next) {
        const int64_t block = p / MW__GEMM_DEPTH;
        next = mw__i64_min((block + 1) * MW__GEMM_DEPTH, end);
        float *const to = block == 0 ? sums : t->block;
        const mw__places_run run = mw__conv_places_of(t->places, &s->cut, c->row, c->rows, i, p - start, next - start);
        t->run(meets ? run.count : 0, t->dy, t->frame, run.at, to, p % MW__GEMM_DEPTH != 0);
        if (block > 0 && (next % MW__GEMM_DEPTH == 0 || next == s->window.area_out))
            s->add(sums, sums, to, tile_floats(s));
    }
}

/* A chunk of whole lines, of images of which `images` meet x. */
static void add_tile(const packed_dweight *s, const dweight_chunk *c, const apart_tile *t, const chunk_panel *p)
{
    for (int64_t i = 0, run = 0; i < c->images; i++) {
        while (run < p->runs && p->images[run].end <= i)
            run++;
        add_positions(s, c, t, i, run < p->runs && p->images[run].begin <= i, t->example);
        if (c->row + c->rows < s->window.out[1] || (c->image + i + 1) % s->planes != 0)
            continue;
        if (s->round != NULL)
            s->round(t->example, t->example, tile_floats(s), 0, 0);
        s->add(t->sums, t->sums, t->example, tile_floats(s));
    }
}

/* The tiles of a chunk. */
static void add_apart(const packed_dweight *s, const mw__kernel_call *call, const dweight_unit *u,
                      const dweight_chunk *c, float *sums)
{
    image_run images[POSITIONS];
    chunk_panel p = begin_chunk(s, images, sums);
    const apart_sums apart = divide_apart(s, sums + sums_floats(s) + chunk_floats(s));
    p.fewer = pack_finite(s, call, u, c, p.dy);
    for (; p.panel < u->panels; p.panel++)
        for (p.plane = 0; p.plane < s->window.kernel[0]; p.plane++) {
            pack_x(s, call, u, c, &p);
            for (int64_t o = 0; o < s->output_panels; o++)
                for (int64_t t = 0; t < taps_of_plane(s); t++) {
                    const int64_t at = tile_at(s, &p, o, t), own = apart.step > 0 ? at : 0;
                    const apart_tile tile = {.dy = p.dy + o * positions_of(s) * s->rows,
                                             .frame = frame_under(s, &p, t),
                                             .places = &s->places[p.fewer ? 1 + t : 0],
                                             .run = p.run,
                                             .example = apart.example + own,
                                             .block = apart.block + own,
                                             .sums = sums + at};
                    add_tile(s, c, &tile, &p);
                }
        }
}

/* A unit: [groups, ranges of input panels]. */
static void apart_run(const mw__kernel_call *call)
{
    const packed_dweight *s = call->block;
    float *const sums = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const dweight_unit u = unit_of(s, unit);
        memset(sums, 0, (size_t)sums_floats(s) * sizeof *sums);
        for (int64_t i = 0; i < s->chunks; i++) {
            const dweight_chunk c = chunk_of(s, i);
            add_apart(s, call, &u, &c, sums);
        }
        if (s->round_all != NULL)
            s->round_all(sums, sums, sums_floats(s), 0, 0);
        put_sums(s, &u, sums, call->out[0]);
    }
}

/* In the order of mw__gemm, but for vectors and a BLAS. */
static bool keeps_order(const mw__config *config, int partitions, const packed_dweight *s)
{
    const int64_t depth = s->inputs * s->window.taps;
    const int64_t share = mw__i64_divide_up(s->examples * s->groups * s->outputs, partitions);
    const mw__gemm_code each = mw__gemm_choose(config, mw__i64_min(share, s->outputs), depth, s->window.area_out);
    const mw__gemm_code sum = mw__gemm_choose(config, 1, depth, s->examples);
    return share > 1 && s->outputs > 1 && depth > 1 && each.sgemm == NULL && each.sums == MW__SUMS_FREE &&
           sum.sgemm == NULL;
}

bool mw__conv_columns_dweight_in_order(const mw__conv_columns_dweight_match *match, const mw__config *config,
                                       int partitions)
{
    packed_dweight s;
    read_numbers(&match->dweight, config->level, &s);
    return keeps_order(config, partitions, &s);
}

bool mw__conv_columns_dweight_suits(const mw__conv_columns_dweight_match *match, const mw__config *config,
                                    int partitions)
{
    packed_dweight s;
    if (mw__conv_dweight_packed_declines(&match->dweight) != NULL)
        return false;
    read_numbers(&match->dweight, config->level, &s);
    const bool in_order = keeps_order(config, partitions, &s);
    choose_lanes(&s);
    const int64_t panels = mw__i64_divide_up(s.inputs, s.code->width * s.code->vectors);
    return s.inputs >= s.code->width && s.window.out[2] <= line_most(&s.window) && s.groups * panels >= partitions &&
           in_order;
}

static void fill_apart(mw__planner *planner, const mw__conv_columns_dweight_match *match, packed_dweight *s)
{
    const mw__level level = mw__plan_level(planner);
    fill_block(planner, &match->dweight, s);
    s->round = mw__round_loop(level, mw__plan_rounds(planner, match->each));
    s->round_all = mw__round_loop(level, mw__plan_rounds(planner, match->result));
    s->add = mw__function2_find(MW__OP_add)->at[level];
    const int64_t ranges = mw__i64_divide_up(mw__plan_partitions(planner), s->groups);
    s->parts.parts = 1;
    s->share = mw__i64_divide_up(s->input_panels, mw__i64_min(s->input_panels, ranges));
    s->ranges = mw__i64_divide_up(s->input_panels, s->share);
}

mw_status mw__plan_conv_columns_dweight(mw__planner *planner, const mw__conv_columns_dweight_match *match,
                                        mw_error *err)
{
    packed_dweight *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    fill_apart(planner, match, s);
    const double flops = 2.0 * (double)mw__count_of(match->dweight.dy) * (double)s->inputs * (double)s->window.taps;
    mw__step *step = mw__plan_step(planner, apart_run, "conv.columns.dweight", s->groups * s->ranges, 0.02 * flops);
    step->block = s;
    step->report.flops = flops;
    step->rounds = true;
    step->scratch = (size_t)(sums_floats(s) + chunk_floats(s) + 2 * kept_floats(s)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dweight.x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dweight.dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
