/* Convolution of codes, of one to three axes, any stride, dilation, border and groups. x is laid out in planes of
 * quads: four channels of a pixel, or, of few channels, four pixels that one row of the kernel takes. Where windows
 * move by more than one element, there is a plane for each remainder, so that in all of them neighbors in a row are
 * neighbors in the result: the numbers that an element of the kernel takes of all pixels are one run, which begins at
 * an offset. */
#include "engine/kernels/int8/int8.h"

#include "base/number/integer.h"

#include <string.h>

enum { AXES = MW__CONV_AXES, BORDER_MOST = 16 /* of x's elements, that planes may have */ };

/* Byte j of quad i of a row stands at x[channel + j across][.., begin + i stride + j along]. */
typedef struct plane {
    int64_t channel, count; /* of channels that are there */
    int64_t begin[AXES];
} plane;

typedef struct conv_block {
    const mw__int8_code *code;
    mw__int8_finish_line *finish_line;
    mw__int8_finish finish;
    void (*lay_row)(const struct conv_block *b, const plane *p, const uint8_t *row, uint32_t *out);
    int64_t images, groups, channels, outputs;               /* channels, outputs: of a group */
    int64_t in[AXES], out[AXES], stride[AXES], extent[AXES]; /* extent: of a plane */
    int64_t across, along;                   /* whether a quad has channels, and how far its pixels are apart */
    int64_t plane_count, plane_quads, depth; /* of a group; depth: of a sum, in quads */
    int64_t pixels, tiles, blocks, chunk, chunks;
    const plane *planes;   // [plane_count]
    const int32_t *offset; // [depth]
    const int32_t *panels; // [groups, blocks, panel]
    const int32_t *ones;   // panel of ones where there are numbers; NULL: no weight has a zero point
    const int32_t *add;    // [groups outputs]
    const int32_t *zeros;  // the same
    const float *scale, *shift;
    size_t out_size;
    int block_rows;        /* of a panel */
    uint32_t flip, border; /* a quad of them */
} conv_block;

static int64_t x_size(const conv_block *b) { return b->channels * b->in[0] * b->in[1] * b->in[2]; }
static int64_t y_size(const conv_block *b) { return b->out[0] * b->out[1] * b->out[2]; }
static int64_t panel_size(const conv_block *b) { return mw__int8_panel_count(b->code, b->depth, b->block_rows); }
/* Of a group; a tile may read beyond the last. */
static int64_t group_quads(const conv_block *b) { return b->plane_count * b->plane_quads; }

/* ---- planes ---- */

static void fill_border(uint32_t *out, int64_t count, uint32_t border)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = border;
}

/* Quads of which some bytes are border. */
static void lay_edges(const conv_block *b, const plane *p, const uint8_t *row, int64_t from, int64_t to, uint32_t *out)
{
    const int64_t channel = x_size(b) / b->channels;
    for (int64_t i = from; i < to; i++) {
        uint8_t bytes[4];
        memcpy(bytes, &b->border, 4);
        for (int64_t j = 0; j < 4; j++) {
            const int64_t w = p->begin[2] + i * b->stride[2] + j * b->along;
            if (w >= 0 && w < b->in[2] && (b->across == 0 || j < p->count))
                bytes[j] = row[j * b->across * channel + w] ^ (uint8_t)b->flip;
        }
        memcpy(&out[i], bytes, 4);
    }
}

MW__INLINE void weave(const uint8_t *const x[4], int64_t count, const int64_t stride, uint32_t flip, uint32_t *out)
{
    const uint8_t *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = ((uint32_t)x0[i * stride] | (uint32_t)x1[i * stride] << 8 | (uint32_t)x2[i * stride] << 16 |
                  (uint32_t)x3[i * stride] << 24) ^
                 flip;
}

/* row: of the plane's first channel. */
MW__INLINE void lay_body(const conv_block *b, const plane *p, const uint8_t *row, uint32_t *out)
{
    const int64_t s = b->stride[2], extent = b->extent[2], begin = p->begin[2], channel = x_size(b) / b->channels;
    const uint8_t *x[4];
    int64_t low = begin < 0 ? (-begin + s - 1) / s : 0;
    int64_t high = (b->in[2] - 1 - begin - 3 * b->along) / s + 1;
    high = b->in[2] - 1 - begin - 3 * b->along < 0 ? 0 : mw__i64_min(high, extent);
    low = mw__i64_min(low, high);
    for (int64_t j = 0; j < 4; j++) /* channels that are not there have weights of 0 */
        x[j] = row + (j < p->count ? j : 0) * b->across * channel + begin + low * s + j * b->along;
    lay_edges(b, p, row, 0, low, out);
    if (s == 1)
        weave(x, high - low, 1, b->flip, out + low);
    else if (s == 2)
        weave(x, high - low, 2, b->flip, out + low);
    else
        weave(x, high - low, s, b->flip, out + low);
    lay_edges(b, p, row, high, extent, out);
}
MW__BASE_AVX2_AVX512(lay, (const conv_block *b, const plane *p, const uint8_t *row, uint32_t *out), (b, p, row, out))

/* One plane of the group of channels at x. */
static void lay_plane(const conv_block *b, const plane *p, const uint8_t *x, uint32_t *out)
{
    x += p->channel * (x_size(b) / b->channels);
    for (int64_t i = 0; i < b->extent[0]; i++) {
        const int64_t d = p->begin[0] + i * b->stride[0];
        for (int64_t k = 0; k < b->extent[1]; k++, out += b->extent[2]) {
            const int64_t h = p->begin[1] + k * b->stride[1];
            if (d < 0 || d >= b->in[0] || h < 0 || h >= b->in[1])
                fill_border(out, b->extent[2], b->border);
            else
                b->lay_row(b, p, x + (d * b->in[1] + h) * b->in[2], out);
        }
    }
}

static void run_planes(const mw__kernel_call *call)
{
    const conv_block *b = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t image = unit / b->plane_count, at = unit % b->plane_count;
        lay_plane(b, &b->planes[at], (const uint8_t *)call->in[0] + image * x_size(b),
                  (uint32_t *)call->out[0] + unit * b->plane_quads);
    }
}

/* ---- tiles ---- */

/* Lanes that are results, which lie side by side. */
typedef struct run {
    int64_t lane, count, to;
} run;

static int find_runs(const conv_block *b, int64_t first, run runs[MW__INT8_LANES_MOST])
{
    const int64_t end = mw__i64_min(first + b->code->lanes, b->pixels), row = b->extent[2];
    int count = 0;
    for (int64_t at = first; at < end;) {
        const int64_t line = at / row, h = line % b->extent[1], w = at % row, d = line / b->extent[1];
        const int64_t next = mw__i64_min((line + 1) * row, end);
        const int64_t width = mw__i64_min(next - at, b->out[2] - w), to = (d * b->out[1] + h) * b->out[2] + w;
        if (h < b->out[1] && width > 0) {
            if (count > 0 && runs[count - 1].lane + runs[count - 1].count == at - first &&
                runs[count - 1].to + runs[count - 1].count == to)
                runs[count - 1].count += width;
            else
                runs[count++] = (run){at - first, width, to};
        }
        at = next;
    }
    return count;
}

/* The sums of one output as results; y: its plane. */
static void finish_output(const conv_block *b, const int32_t *sums, int64_t output, const run *runs, int count, char *y)
{
    char results[MW__INT8_LANES_MOST * sizeof(float)];
    const bool direct = count == 1;
    const int64_t first = runs[0].lane, lanes = runs[count - 1].lane + runs[count - 1].count - first;
    b->finish_line(&b->finish, sums + first, lanes, b->add[output], b->scale[output], b->shift[output],
                   direct ? y + (size_t)runs[0].to * b->out_size : results);
    for (int i = 0; i < count && !direct; i++)
        memcpy(y + (size_t)runs[i].to * b->out_size, results + (size_t)(runs[i].lane - first) * b->out_size,
               (size_t)runs[i].count * b->out_size);
}

static void subtract_zeros(const conv_block *b, const int32_t *sums_of_x, int64_t output, int32_t *sums)
{
    for (int64_t i = 0; b->zeros[output] != 0 && i < b->code->lanes; i++)
        sums[i] = (int32_t)((uint32_t)sums[i] - (uint32_t)b->zeros[output] * (uint32_t)sums_of_x[i]);
}

/* One tile of pixels, of the outputs in blocks [from, to) of a group; y: its first plane. */
static void convolve_tile(const conv_block *b, const uint8_t *planes, int64_t group, int64_t tile, int64_t from,
                          int64_t to, char *y)
{
    int32_t sums[MW__INT8_ROWS_MOST * MW__INT8_LANES_MOST], of_x[MW__INT8_LANES_MOST];
    run runs[MW__INT8_LANES_MOST];
    const int64_t first = tile * b->code->lanes;
    const int count = find_runs(b, first, runs);
    if (count == 0)
        return;
    planes += first * 4;
    if (b->ones != NULL)
        b->code->one(planes, b->offset, b->depth, b->ones, of_x);
    for (int64_t at = from; at < to; at++) {
        (b->block_rows == 1 ? b->code->one : b->code->tile)(planes, b->offset, b->depth,
                                                            b->panels + (group * b->blocks + at) * panel_size(b), sums);
        const int64_t end = mw__i64_min((at + 1) * b->block_rows, b->outputs);
        for (int64_t o = at * b->block_rows; o < end; o++) {
            int32_t *line = sums + (o - at * b->block_rows) * b->code->lanes;
            if (b->ones != NULL)
                subtract_zeros(b, of_x, group * b->outputs + o, line);
            finish_output(b, line, group * b->outputs + o, runs, count, y + (size_t)(o * y_size(b)) * b->out_size);
        }
    }
}

/* Of planes that a step before has laid out: a unit is a tile and a part of its blocks. */
static void run_tiles(const mw__kernel_call *call)
{
    const conv_block *b = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t part = unit % b->chunks, tile = unit / b->chunks % b->tiles, image = unit / b->chunks / b->tiles;
        convolve_tile(b, (const uint8_t *)call->in[0] + image * group_quads(b) * 4, 0, tile, part * b->chunk,
                      mw__i64_min((part + 1) * b->chunk, b->blocks),
                      (char *)call->out[0] + (size_t)(image * b->outputs * y_size(b)) * b->out_size);
    }
}

/* A unit is a group of an image, whose planes exist for it alone. */
static void run_groups(const mw__kernel_call *call)
{
    const conv_block *b = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        for (int64_t p = 0; p < b->plane_count; p++)
            lay_plane(b, &b->planes[p], (const uint8_t *)call->in[0] + unit * x_size(b),
                      (uint32_t *)call->scratch + p * b->plane_quads);
        for (int64_t tile = 0; tile < b->tiles; tile++)
            convolve_tile(b, call->scratch, unit % b->groups, tile, 0, b->blocks,
                          (char *)call->out[0] + (size_t)(unit * b->outputs * y_size(b)) * b->out_size);
    }
}

/* ---- the layout ---- */

/* Missing axes stand in front. */
typedef struct geometry {
    int64_t groups, channels, outputs;
    int64_t kernel[AXES], stride[AXES], dilation[AXES], before[AXES], in[AXES], out[AXES];
    int64_t phases[AXES]; /* remainders of the stride that elements of the kernel have */
    int64_t quads;        /* of channels, or of a row of the kernel for each channel */
    bool by_pixels;
} geometry;

static int64_t remainder_at(const geometry *g, int axis, int64_t k) { return k * g->dilation[axis] % g->stride[axis]; }

/* After so many elements of the kernel the remainders come again. */
static int64_t period_of(const geometry *g, int axis)
{
    int64_t a = g->dilation[axis], b = g->stride[axis];
    while (a != 0) {
        const int64_t rest = b % a;
        b = a, a = rest;
    }
    return g->stride[axis] / b;
}

/* The number of its remainder. */
static int64_t phase_at(const geometry *g, int axis, int64_t k) { return k % period_of(g, axis); }

static bool read_geometry(const mw__op *op, geometry *g)
{
    mw__conv conv;
    const mw_tensor *x = mw__arg(op, "x"), *y = op->results[0];
    if (!mw__conv_read(op, &conv))
        return false;
    *g = (geometry){.groups = conv.groups,
                    .channels = mw__shape_of(x).dim[1] / conv.groups,
                    .outputs = mw__shape_of(y).dim[1] / conv.groups};
    for (int i = 0; i < AXES; i++) {
        const int from = i - (AXES - conv.axes);
        g->kernel[i] = from < 0 ? 1 : conv.kernel[from], g->stride[i] = from < 0 ? 1 : conv.stride[from];
        g->dilation[i] = from < 0 ? 1 : conv.dilation[from], g->before[i] = from < 0 ? 0 : conv.before[from];
        g->in[i] = from < 0 ? 1 : conv.in[from], g->out[i] = from < 0 ? 1 : conv.out[from];
    }
    const int64_t row = (g->kernel[2] + 3) / 4;
    g->by_pixels = g->channels * row < (g->channels + 3) / 4 * g->kernel[2];
    g->quads = g->by_pixels ? g->channels * row : (g->channels + 3) / 4;
    for (int i = 0; i < AXES; i++)
        g->phases[i] = i == 2 && g->by_pixels ? 1 : mw__i64_min(g->kernel[i], period_of(g, i));
    return true;
}

static int64_t extent_of(const geometry *g, int axis)
{
    const bool still = axis == 2 && g->by_pixels;
    return g->out[axis] + (still ? 0 : (g->kernel[axis] - 1) * g->dilation[axis] / g->stride[axis]);
}

static int64_t planes_of(const geometry *g) { return g->quads * g->phases[0] * g->phases[1] * g->phases[2]; }

/* Of a sum, in quads. */
static int64_t depth_of(const geometry *g)
{
    return g->quads * g->kernel[0] * g->kernel[1] * (g->by_pixels ? 1 : g->kernel[2]);
}

const char *mw__int8_conv_declines(const mw__op *op)
{
    geometry g;
    if (!read_geometry(op, &g))
        return "its extents are not known";
    double quads = (double)planes_of(&g), elements = (double)g.channels;
    for (int i = 0; i < AXES; i++) {
        if (g.kernel[i] > 1024)
            return "its kernel has more than 1024 elements along an axis";
        quads *= (double)extent_of(&g, i), elements *= (double)g.in[i];
    }
    return quads * 4 > (double)(1 << 30) || quads > BORDER_MOST * (elements + 4096) ? "its border is too wide" : NULL;
}

/* Where the planes begin, as indices [quad, phase of each axis]. */
static const plane *lay_out_planes(mw__planner *planner, const geometry *g)
{
    plane *planes = mw__plan_block(planner, (size_t)planes_of(g) * sizeof *planes);
    const int64_t row = (g->kernel[2] + 3) / 4;
    for (int64_t i = 0; planes != NULL && i < planes_of(g); i++) {
        int64_t rest = i, phase[AXES];
        for (int axis = AXES - 1; axis >= 0; rest /= g->phases[axis], axis--)
            phase[axis] = rest % g->phases[axis];
        plane *p = &planes[i];
        p->channel = g->by_pixels ? rest / row : 4 * rest;
        p->count = g->by_pixels ? 4 : mw__i64_min(g->channels - p->channel, 4);
        for (int axis = 0; axis < AXES; axis++)
            p->begin[axis] = remainder_at(g, axis, phase[axis]) - g->before[axis];
        if (g->by_pixels)
            p->begin[2] = rest % row * 4 * g->dilation[2] - g->before[2];
    }
    return planes;
}

/* An element of a sum: a quad, at an element of the kernel. */
typedef struct element {
    int64_t quad, k[AXES];
} element;

static element element_at(const geometry *g, int64_t index)
{
    element e;
    const int64_t width = g->by_pixels ? 1 : g->kernel[2];
    e.k[2] = index % width, index /= width;
    e.k[1] = index % g->kernel[1], index /= g->kernel[1];
    e.k[0] = index % g->kernel[0], e.quad = index / g->kernel[0];
    return e;
}

static int32_t offset_of(const geometry *g, const conv_block *b, const element *e)
{
    int64_t plane_at = e->quad, at = 0;
    for (int axis = 0; axis < AXES; axis++) {
        const bool still = axis == 2 && g->by_pixels;
        plane_at = plane_at * g->phases[axis] + (still ? 0 : phase_at(g, axis, e->k[axis]));
        at = at * b->extent[axis] + (still ? 0 : e->k[axis] * g->dilation[axis] / g->stride[axis]);
    }
    return (int32_t)(4 * (plane_at * b->plane_quads + at));
}

static const int32_t *lay_out_offsets(mw__planner *planner, const geometry *g, const conv_block *b)
{
    int32_t *offset = mw__plan_block(planner, (size_t)b->depth * sizeof *offset);
    for (int64_t i = 0; offset != NULL && i < b->depth; i++) {
        const element e = element_at(g, i);
        offset[i] = offset_of(g, b, &e);
    }
    return offset;
}

/* ---- weights ---- */

/* The place of byte j of an element in [channels, *kernel]; -1: there is no number. */
static int64_t tap_of(const geometry *g, const element *e, int64_t j)
{
    const int64_t row = (g->kernel[2] + 3) / 4;
    const int64_t channel = g->by_pixels ? e->quad / row : 4 * e->quad + j;
    const int64_t w = g->by_pixels ? e->quad % row * 4 + j : e->k[2];
    if (channel >= g->channels || w >= g->kernel[2])
        return -1;
    return ((channel * g->kernel[0] + e->k[0]) * g->kernel[1] + e->k[1]) * g->kernel[2] + w;
}

static const int32_t *lay_panels(mw__planner *planner, const mw__int8_product_match *m, const geometry *g,
                                 const conv_block *b)
{
    const int64_t size = panel_size(b);
    int32_t *panels = mw__plan_block(planner, (size_t)(b->groups * b->blocks * size) * sizeof *panels);
    for (int64_t i = 0; panels != NULL && i < b->depth; i++) {
        const element e = element_at(g, i);
        for (int64_t o = 0; o < m->outputs; o++) {
            int8_t s[4] = {0};
            for (int64_t j = 0; j < 4; j++)
                if (tap_of(g, &e, j) >= 0)
                    s[j] = (int8_t)mw__int8_signed(
                        m->weight_dtype, mw__int8_code_at(m->weight_dtype, m->weight, o * m->depth + tap_of(g, &e, j)));
            const int64_t row = o % b->outputs;
            mw__int8_panel_put(b->code, b->block_rows, i, (int)(row % b->block_rows), s,
                               panels + (o / b->outputs * b->blocks + row / b->block_rows) * size);
        }
    }
    return panels;
}

static const int32_t *lay_ones(mw__planner *planner, const geometry *g, const conv_block *b)
{
    int32_t *panel = mw__plan_block(planner, (size_t)mw__int8_panel_count(b->code, b->depth, 1) * sizeof *panel);
    for (int64_t i = 0; panel != NULL && i < b->depth; i++) {
        const element e = element_at(g, i);
        int8_t s[4];
        for (int64_t j = 0; j < 4; j++)
            s[j] = tap_of(g, &e, j) >= 0;
        mw__int8_panel_put(b->code, 1, i, 0, s, panel);
    }
    return panel;
}

/* What is added to all sums of an output: the bias, and what both zero points take but for their part by x. */
static bool fill_outputs(const mw__int8_product_match *m, int32_t zero, int32_t *add, int32_t *zeros)
{
    bool any = false;
    for (int64_t o = 0; o < m->outputs; o++) {
        int32_t sum = 0;
        zeros[o] = mw__int8_signed(m->weight_dtype, m->zeros[o]);
        for (int64_t k = 0; k < m->depth; k++)
            sum += mw__int8_code_at(m->weight_dtype, m->weight, o * m->depth + k) - m->zeros[o];
        add[o] = (int32_t)((uint32_t)add[o] - (uint32_t)zero * (uint32_t)sum);
        any = any || zeros[o] != 0;
    }
    return any;
}

/* ---- planning ---- */

static void begin_block(conv_block *b, const geometry *g, const mw__int8_product_match *m, mw__level level)
{
    const mw_dtype dtype = mw__dtype_of(m->x);
    *b = (conv_block){.code = mw__int8_code_of(level),
                      .finish_line = mw__int8_line_of(level),
                      .lay_row = MW__DISPATCH_BEST(lay, level),
                      .images = mw__shape_of(m->x).dim[0],
                      .groups = g->groups,
                      .channels = g->channels,
                      .outputs = g->outputs,
                      .across = !g->by_pixels,
                      .along = g->by_pixels ? g->dilation[2] : 0,
                      .plane_count = planes_of(g),
                      .plane_quads = 1,
                      .depth = depth_of(g),
                      .flip = dtype == MW_I8 ? UINT32_C(0x80808080) : 0,
                      .border = UINT32_C(0x01010101) * (uint32_t)mw__int8_unsigned(dtype, m->x_zero)};
    for (int i = 0; i < AXES; i++) {
        b->in[i] = g->in[i], b->out[i] = g->out[i], b->stride[i] = g->stride[i], b->extent[i] = extent_of(g, i);
        b->plane_quads *= b->extent[i];
    }
    b->pixels = ((b->out[0] - 1) * b->extent[1] + b->out[1] - 1) * b->extent[2] + b->out[2];
    b->tiles = (b->pixels + b->code->lanes - 1) / b->code->lanes;
    b->block_rows = b->outputs == 1 ? 1 : b->code->rows;
    b->blocks = (b->outputs + b->block_rows - 1) / b->block_rows;
}

static void split_blocks(conv_block *b, int partitions)
{
    const int64_t wanted = b->images * b->tiles >= 8 * partitions ? 1 : 2 * partitions;
    b->chunk = mw__i64_max((b->blocks + wanted - 1) / wanted, 1);
    b->chunks = (b->blocks + b->chunk - 1) / b->chunk;
}

static void write_result(mw__planner *planner, const mw__int8_product_match *m, const conv_block *b, mw__step *step)
{
    step->block = b;
    step->report.flops = 2.0 * (double)mw__count_of(m->result) * (double)m->depth;
    mw__step_write(planner, step, mw__plan_buffer(planner, m->result), MW__WHOLE, 0);
}

static void plan_groups(mw__planner *planner, const mw__int8_product_match *m, const conv_block *b, double cost)
{
    const int64_t units = b->images * b->groups;
    mw__step *step = mw__plan_step(planner, run_groups, m->op->kind, units, cost);
    step->scratch = (size_t)(group_quads(b) + 2 * MW__INT8_LANES_MOST) * sizeof(uint32_t);
    mw__step_read(planner, step, mw__plan_buffer(planner, m->x), MW__WHOLE, 0, false);
    write_result(planner, m, b, step);
}

static void plan_tiles(mw__planner *planner, const mw__int8_product_match *m, const conv_block *b, double cost)
{
    const size_t quads = (size_t)(b->images * group_quads(b)) + 2 * MW__INT8_LANES_MOST;
    const uint32_t planes = mw__plan_temporary(planner, quads * sizeof(uint32_t));
    mw__step *lay =
        mw__plan_step(planner, run_planes, "conv.planes", b->images * b->plane_count, mw__cost(8.0 * (double)quads, 0));
    lay->block = b;
    lay->report.helper = true;
    mw__step_read(planner, lay, mw__plan_buffer(planner, m->x), MW__WHOLE, 0, false);
    mw__step_write(planner, lay, planes, MW__WHOLE, 0);
    mw__step *step = mw__plan_step(planner, run_tiles, m->op->kind, b->images * b->tiles * b->chunks, cost);
    mw__step_read(planner, step, planes, MW__WHOLE, 0, false);
    write_result(planner, m, b, step);
}

mw_status mw__int8_plan_conv(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_numbers *numbers,
                             mw_error *err)
{
    geometry g;
    conv_block *b = mw__plan_block(planner, sizeof *b);
    int32_t *zeros = mw__plan_block(planner, (size_t)m->outputs * sizeof *zeros);
    if (b == NULL || zeros == NULL || !read_geometry(m->op, &g))
        return mw__plan_check(planner, err);
    begin_block(b, &g, m, mw__plan_level(planner));
    const int32_t zero = mw__int8_unsigned(mw__dtype_of(m->x), m->x_zero);
    const bool any = fill_outputs(m, zero, numbers->add, zeros);
    b->finish = numbers->finish, b->add = numbers->add, b->scale = numbers->scale, b->shift = numbers->shift;
    b->zeros = zeros, b->out_size = mw__dtype_size(numbers->finish.dtype);
    b->planes = lay_out_planes(planner, &g), b->offset = lay_out_offsets(planner, &g, b);
    b->panels = lay_panels(planner, m, &g, b), b->ones = any ? lay_ones(planner, &g, b) : NULL;
    split_blocks(b, mw__plan_partitions(planner));
    if (b->planes == NULL || b->offset == NULL || b->panels == NULL)
        return mw__plan_check(planner, err);
    const double cost = mw__cost(0, (double)mw__count_of(m->result) * (double)m->depth / 4);
    (b->groups > 1 ? plan_groups : plan_tiles)(planner, m, b, cost);
    return mw__plan_check(planner, err);
}
