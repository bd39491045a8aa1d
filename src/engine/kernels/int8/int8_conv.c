#include "engine/kernels/int8/int8_conv.h"

#include <string.h>

enum { BORDER_MOST = 16 /* of x's elements, that planes may have */ };

/* ---- the layout ---- */

/* Missing axes stand in front. */
typedef struct geometry {
    int64_t groups, channels, outputs;
    int64_t kernel[MW__INT8_AXES], stride[MW__INT8_AXES], dilation[MW__INT8_AXES], before[MW__INT8_AXES],
        in[MW__INT8_AXES], out[MW__INT8_AXES];
    int64_t phases[MW__INT8_AXES]; /* remainders of the stride that elements of the kernel have */
    int64_t quads;                 /* of channels, or of a row of the kernel for each channel */
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

/* Where a result takes one element alone, rows are one row. */
static void join_axes(geometry *g)
{
    for (int i = 0; i < MW__INT8_AXES; i++)
        if (g->kernel[i] != 1 || g->stride[i] != 1 || g->in[i] != g->out[i])
            return;
    for (int i = 0; i + 1 < MW__INT8_AXES; i++) {
        g->out[2] *= g->out[i], g->in[2] *= g->in[i];
        g->in[i] = g->out[i] = 1;
    }
}

static bool read_geometry(const mw__op *op, geometry *g)
{
    mw__conv conv;
    const mw_tensor *x = mw__arg(op, "x"), *y = op->results[0];
    if (!mw__conv_read(op, &conv))
        return false;
    *g = (geometry){.groups = conv.groups,
                    .channels = mw__shape_of(x).dim[1] / conv.groups,
                    .outputs = mw__shape_of(y).dim[1] / conv.groups};
    for (int i = 0; i < MW__INT8_AXES; i++) {
        const int from = i - (MW__INT8_AXES - conv.axes);
        g->kernel[i] = from < 0 ? 1 : conv.kernel[from], g->stride[i] = from < 0 ? 1 : conv.stride[from];
        g->dilation[i] = from < 0 ? 1 : conv.dilation[from], g->before[i] = from < 0 ? 0 : conv.before[from];
        g->in[i] = from < 0 ? 1 : conv.in[from], g->out[i] = from < 0 ? 1 : conv.out[from];
    }
    join_axes(g);
    const int64_t row = (g->kernel[2] + 3) / 4;
    g->by_pixels = g->channels * row < (g->channels + 3) / 4 * g->kernel[2];
    g->quads = g->by_pixels ? g->channels * row : (g->channels + 3) / 4;
    for (int i = 0; i < MW__INT8_AXES; i++)
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

bool mw__int8_conv_is_whole(const mw__op *op)
{
    int64_t groups = 1;
    return !mw__arg_present(op, "groups") || (mw__arg_int(op, "groups", &groups) && groups == 1);
}

const char *mw__int8_conv_declines(const mw__op *op)
{
    geometry g;
    if (!read_geometry(op, &g))
        return "its extents are not known";
    double quads = (double)planes_of(&g), elements = (double)g.channels;
    for (int i = 0; i < MW__INT8_AXES; i++) {
        if (g.kernel[i] > 1024)
            return "its kernel has more than 1024 elements along an axis";
        quads *= (double)extent_of(&g, i), elements *= (double)g.in[i];
    }
    const double images = g.groups > 1 ? 1 : (double)mw__shape_of(mw__arg(op, "x")).dim[0];
    if (images * quads * 4 > (double)(1 << 30))
        return "its planes would take more than 1 GiB";
    return quads > BORDER_MOST * (elements + 4096) ? "its border is too wide" : NULL;
}

/* Where the planes begin, as indices [quad, phase of each axis]. */
static const mw__int8_plane *lay_out_planes(mw__planner *planner, const geometry *g)
{
    mw__int8_plane *planes = mw__plan_block(planner, (size_t)planes_of(g) * sizeof *planes);
    const int64_t row = (g->kernel[2] + 3) / 4;
    for (int64_t i = 0; planes != NULL && i < planes_of(g); i++) {
        int64_t rest = i, phase[MW__INT8_AXES];
        for (int axis = MW__INT8_AXES - 1; axis >= 0; rest /= g->phases[axis], axis--)
            phase[axis] = rest % g->phases[axis];
        mw__int8_plane *p = &planes[i];
        p->channel = g->by_pixels ? rest / row : 4 * rest;
        p->count = g->by_pixels ? 4 : mw__i64_min(g->channels - p->channel, 4);
        for (int axis = 0; axis < MW__INT8_AXES; axis++)
            p->begin[axis] = remainder_at(g, axis, phase[axis]) - g->before[axis];
        if (g->by_pixels)
            p->begin[2] = rest % row * 4 * g->dilation[2] - g->before[2];
    }
    return planes;
}

/* An element of a sum: a quad, at an element of the kernel. */
typedef struct element {
    int64_t quad, k[MW__INT8_AXES];
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

static int32_t offset_of(const geometry *g, const mw__int8_conv *b, const element *e)
{
    int64_t plane_at = e->quad, at = 0;
    for (int axis = 0; axis < MW__INT8_AXES; axis++) {
        const bool still = axis == 2 && g->by_pixels;
        plane_at = plane_at * g->phases[axis] + (still ? 0 : phase_at(g, axis, e->k[axis]));
        at = at * b->extent[axis] + (still ? 0 : e->k[axis] * g->dilation[axis] / g->stride[axis]);
    }
    return (int32_t)(4 * (plane_at * b->together * b->plane_quads + at));
}

static const int32_t *lay_out_offsets(mw__planner *planner, const geometry *g, const mw__int8_conv *b)
{
    int32_t *offset = mw__plan_block(planner, (size_t)b->depth * sizeof *offset);
    for (int64_t i = 0; offset != NULL && i < b->depth; i++) {
        const element e = element_at(g, i);
        offset[i] = offset_of(g, b, &e);
    }
    return offset;
}

/* Of quads that lie side by side. */
static const int32_t *lay_out_dense(mw__planner *planner, const mw__int8_conv *b)
{
    int32_t *offset = mw__plan_block(planner, (size_t)b->depth * sizeof *offset);
    for (int64_t i = 0; offset != NULL && i < b->depth; i++)
        offset[i] = (int32_t)(4 * i * b->code->lanes);
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
                                 const mw__int8_conv *b)
{
    const int64_t size = mw__int8_conv_panel_size(b);
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

static const int32_t *lay_ones(mw__planner *planner, const geometry *g, const mw__int8_conv *b)
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

static const int32_t *lay_starts(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_conv *b,
                                 const int32_t *add)
{
    int32_t *start = mw__plan_block(planner, (size_t)(b->groups * b->blocks * b->block_rows) * sizeof *start);
    for (int64_t o = 0; start != NULL && o < m->outputs; o++)
        start[o / b->outputs * b->blocks * b->block_rows + o % b->outputs] = add[o];
    return start;
}

/* ---- planning ---- */

/* What its codes are added to. */
static const mw_tensor *others_of(const mw__int8_product_match *m) { return m->sum->x[1 - m->own]; }

static void begin_block(mw__int8_conv *b, const geometry *g, const mw__int8_product_match *m, mw__level level)
{
    const mw_dtype dtype = mw__dtype_of(m->x);
    const bool x_quads = mw__int8_in_quads(m, m->x),
               y_quads = mw__int8_in_quads(m, m->sum != NULL ? others_of(m) : m->result);
    *b = (mw__int8_conv){.code = mw__int8_code_of(level),
                         .x_quads = x_quads,
                         .y_quads = y_quads,
                         .finish_lines = y_quads ? mw__int8_quads_of(level) : mw__int8_rows_of(level),
                         .lay_plane = mw__int8_conv_lay_of(level, x_quads),
                         .copy = mw__int8_conv_copy_of(level),
                         .images = mw__shape_of(m->x).dim[0],
                         .groups = g->groups,
                         .channels = g->channels,
                         .outputs = g->outputs,
                         .together = g->groups > 1 ? 1 : mw__shape_of(m->x).dim[0],
                         .across = g->by_pixels ? 0 : g->in[0] * g->in[1] * g->in[2],
                         .along = g->by_pixels ? g->dilation[2] : 0,
                         .plane_count = planes_of(g),
                         .plane_quads = 1,
                         .depth = depth_of(g),
                         .flip = UINT32_C(0x01010101) * mw__int8_flip_of(m, m->x),
                         .border = UINT32_C(0x01010101) * (uint32_t)mw__int8_unsigned(dtype, m->x_zero)};
    for (int i = 0; i < MW__INT8_AXES; i++) {
        b->in[i] = g->in[i], b->out[i] = g->out[i], b->stride[i] = g->stride[i], b->extent[i] = extent_of(g, i);
        b->plane_quads *= b->extent[i];
    }
    b->block_rows = b->outputs == 1 ? 1 : b->code->rows;
    b->blocks = (b->outputs + b->block_rows - 1) / b->block_rows;
}

static void write_result(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_conv *b, mw__step *step)
{
    const uint32_t to = m->sum != NULL ? mw__int8_plan_result(planner, &m->sum->base, others_of(m))
                                       : mw__plan_buffer(planner, m->result);
    step->block = b;
    step->report.flops = 2.0 * (double)mw__count_of(m->result) * (double)m->depth;
    if (m->sum != NULL)
        mw__step_read(planner, step, mw__plan_buffer(planner, others_of(m)), MW__WHOLE, 0, false);
    mw__step_write(planner, step, to, MW__WHOLE, 0);
    if (m->sum != NULL)
        mw__int8_plan_unweave(planner, &m->sum->base, to);
}

/* What results are added to before they leave. */
static bool read_sum(mw__planner *planner, const mw__int8_product_match *m, mw__int8_conv *b)
{
    mw__int8_sum *sum = m->sum != NULL ? mw__plan_block(planner, sizeof *sum) : NULL;
    if (sum == NULL)
        return m->sum == NULL;
    *sum = mw__int8_sum_of(m->sum, b->y_quads, mw__plan_level(planner));
    b->sum = sum, b->own = m->own, b->least = (float)(m->y_zero - m->sum->zero[m->own]);
    b->finish_joined = b->y_quads ? mw__int8_joined_of(mw__plan_level(planner), &b->finish, sum) : NULL;
    return true;
}

static void plan_groups(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_conv *b, double cost)
{
    const int64_t units = b->images * b->groups;
    mw__step *step = mw__plan_step(planner, mw__int8_conv_run_groups, m->op->kind, units, cost);
    step->scratch = mw__int8_conv_tile_bytes(b) +
                    (size_t)(mw__int8_conv_group_quads(b) + 2 * MW__INT8_LANES_MOST) * sizeof(uint32_t);
    mw__step_read(planner, step, mw__plan_buffer(planner, m->x), MW__WHOLE, 0, false);
    write_result(planner, m, b, step);
}

/* Whether quads are planes as they lie. Nothing behind them may be read, which tiles of whole vectors do not. */
static bool lies_in_planes(const mw__int8_conv *b)
{
    const bool whole = b->images * b->plane_quads % (b->code->lanes / b->code->vectors) == 0;
    if (!b->x_quads || !whole || b->block_rows == 1 || b->ones != NULL)
        return false;
    return b->plane_count * 4 == b->channels && b->depth == b->plane_count &&
           b->plane_quads * b->channels == mw__int8_conv_x_size(b) && b->stride[0] * b->stride[1] * b->stride[2] == 1;
}

/* The buffer of planes. */
static uint32_t plan_planes(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_conv *b)
{
    const size_t quads = (size_t)(b->images * mw__int8_conv_group_quads(b)) + 2 * MW__INT8_LANES_MOST;
    const uint32_t planes = mw__plan_temporary(planner, quads * sizeof(uint32_t));
    mw__step *lay = mw__plan_step(planner, mw__int8_conv_run_planes, "conv.planes", b->images * b->plane_count,
                                  mw__cost(8.0 * (double)quads, 0));
    lay->block = b;
    lay->report.helper = true;
    mw__step_read(planner, lay, mw__plan_buffer(planner, m->x), MW__WHOLE, 0, false);
    mw__step_write(planner, lay, planes, MW__WHOLE, 0);
    return planes;
}

static void plan_tiles(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_conv *b, double cost)
{
    const uint32_t planes = lies_in_planes(b) ? mw__plan_buffer(planner, m->x) : plan_planes(planner, m, b);
    mw__step *step = mw__plan_step(planner, mw__int8_conv_run_tiles, m->op->kind,
                                   mw__i64_divide_up(b->tiles, b->tiles_of_unit) * b->chunks, cost);
    step->scratch = mw__int8_conv_tile_bytes(b);
    mw__step_read(planner, step, planes, MW__WHOLE, 0, false);
    write_result(planner, m, b, step);
}

mw_status mw__int8_plan_conv(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_numbers *numbers,
                             mw_error *err)
{
    geometry g;
    mw__int8_conv *b = mw__plan_block(planner, sizeof *b);
    int32_t *zeros = mw__plan_block(planner, (size_t)m->outputs * sizeof *zeros);
    if (b == NULL || zeros == NULL || !read_geometry(m->op, &g))
        return mw__plan_check(planner, err);
    begin_block(b, &g, m, mw__plan_level(planner));
    const int32_t zero = mw__int8_unsigned(mw__dtype_of(m->x), m->x_zero);
    const bool any = fill_outputs(m, zero, numbers->add, zeros);
    b->finish = numbers->finish;
    b->finish.zero += b->y_quads && numbers->finish.dtype == MW_I8 ? 128 : 0;
    if (!read_sum(planner, m, b))
        return mw__plan_check(planner, err);
    b->scale = numbers->scale, b->shift = numbers->shift;
    b->zeros = zeros, b->out_size = mw__dtype_size(numbers->finish.dtype);
    bool dense;
    mw__int8_conv_cut(b, &dense);
    mw__int8_conv_split(b, mw__plan_partitions(planner));
    b->planes = lay_out_planes(planner, &g), b->offset = lay_out_offsets(planner, &g, b);
    b->dense = dense ? lay_out_dense(planner, b) : NULL;
    b->panels = lay_panels(planner, m, &g, b), b->ones = any ? lay_ones(planner, &g, b) : NULL;
    b->start = lay_starts(planner, m, b, numbers->add);
    if (b->planes == NULL || b->start == NULL || b->offset == NULL || b->panels == NULL || (dense && b->dense == NULL))
        return mw__plan_check(planner, err);
    const double cost = mw__cost(0, (double)mw__count_of(m->result) * (double)m->depth / 4);
    (b->groups > 1 ? plan_groups : plan_tiles)(planner, m, b, cost);
    return mw__plan_check(planner, err);
}
