#include "engine/kernels/conv/dweight/dweight_packed.h"

#include <string.h>

mw__dweight_chunk mw__dweight_chunk_of(const mw__packed_dweight *s, int64_t index)
{
    const mw__conv_window *w = &s->window;
    mw__dweight_chunk c = {.image = index / (s->down * s->across) * s->cut.each,
                           .row = index / s->across % s->down * s->cut.height,
                           .column = index % s->across * s->cut.width};
    c.images = mw__i64_min(s->cut.each, s->examples * s->planes - c.image);
    c.rows = mw__i64_min(s->cut.height, w->out[1] - c.row);
    c.columns = mw__i64_min(s->cut.width, w->out[2] - c.column);
    return c;
}

/* dy of a group to panels [output panels, positions, rows]; lines that end early end in zeros. */
static void pack_dy(const mw__packed_dweight *s, const mw__dweight_chunk *c, const float *dy, float *packed)
{
    const mw__conv_window *w = &s->window;
    for (int64_t p = 0; p < s->output_panels; p++) {
        const int64_t first = p * s->rows, here = mw__i64_min(s->rows, s->outputs - first);
        float *to = packed + p * mw__dweight_positions(s) * s->rows;
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
int64_t mw__dweight_plane_under(const mw__packed_dweight *s, int64_t m, int64_t kernel)
{
    const mw__conv_window *w = &s->window;
    const int64_t z = m % s->planes * w->stride[0] + kernel * w->dilation[0] - w->before[0];
    return z < w->in[0] ? z : -1;
}

/* A line of x, `channels` of them, under the frame's columns. */
static void pack_line(const mw__packed_dweight *s, const mw__dweight_chunk *c, const float *x, int64_t channels,
                      float *frame)
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
static void pack_frames(const mw__packed_dweight *s, const mw__dweight_chunk *c, const float *x, int64_t first,
                        int64_t channels, int64_t kernel, float *frame)
{
    const mw__conv_window *w = &s->window;
    const int64_t line = s->cut.columns * s->lanes;
    for (int64_t m = c->image; m < c->image + c->images; m++) {
        const int64_t z = mw__dweight_plane_under(s, m, kernel);
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
static void gather_line(const mw__packed_dweight *s, const mw__dweight_chunk *c, const float *x, int64_t m, int64_t at,
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
static void gather_frames(const mw__packed_dweight *s, const mw__dweight_chunk *c, const float *x, int64_t first,
                          int64_t count, float *frame, float *lines)
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

static int64_t find_images(const mw__packed_dweight *s, const mw__dweight_chunk *c, int64_t kernel, bool fewer,
                           mw__dweight_images *out)
{
    int64_t count = 0;
    for (int64_t i = 0; i < c->images; i++) {
        const bool meets = !fewer || mw__dweight_plane_under(s, c->image + i, kernel) >= 0;
        if (meets && count > 0 && out[count - 1].end == i)
            out[count - 1].end++;
        else if (meets)
            out[count++] = (mw__dweight_images){.begin = (int16_t)i, .end = (int16_t)(i + 1)};
    }
    return count;
}

/* dy of a group to panels. Whether taps need fewer than all places: not those of a dy that is not finite. */
bool mw__dweight_pack_finite(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u,
                             const mw__dweight_chunk *c, float *packed)
{
    const int64_t count = c->images * c->rows * s->cut.width * s->rows, panel = mw__dweight_positions(s) * s->rows;
    bool fewer = s->borders;
    pack_dy(s, c, (const float *)call->in[1] + u->group * s->outputs * s->window.area_out, packed);
    for (int64_t p = 0; fewer && p < s->output_panels; p++)
        fewer = s->finite(packed + p * panel, count);
    return fewer;
}

void mw__dweight_pack_x(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u,
                        const mw__dweight_chunk *c, mw__dweight_panel *p)
{
    const int64_t first = (u->panel + p->panel) * s->lanes, channels = mw__i64_min(s->lanes, s->inputs - first);
    const float *const x = call->in[0];
    p->run = s->code->sums[s->rows - 1][mw__i64_divide_up(channels, s->code->width) - 1];
    p->runs = find_images(s, c, p->plane, p->fewer, p->images);
    if (p->runs == 0)
        return;
    if (mw__dweight_lanes_are_columns(s))
        gather_frames(s, c, x + u->group * (s->inputs / s->gathered.taps) * s->gathered.area_in, first, channels,
                      p->frame, p->frame + mw__i64_round_up(mw__dweight_frame_floats(s), 16));
    else
        pack_frames(s, c, x + u->group * s->inputs * s->window.area_in, first, channels, p->plane, p->frame);
}
