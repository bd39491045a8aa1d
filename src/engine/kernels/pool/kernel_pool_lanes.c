/* Pooling by lanes: tables, bands, and moving planes to lanes and back. The loops are in kernel_pool_lanes.def. */
#include "engine/kernels/pool/kernel_pool_lanes.h"

#include <string.h>

#define BAND_MOST 4096 /* vectors of x and y that are held at a time: 256 KiB, a part of a second-level cache */

/* ---- one axis ---- */

static int64_t at_most(int64_t value, int64_t most) { return value < most ? value : most; }
static int64_t at_least(int64_t value, int64_t least) { return value > least ? value : least; }

/* The windows [*begin, *end) that hold elements of [from, to). */
static void windows_over(const mw__window *w, int64_t from, int64_t to, int64_t *begin, int64_t *end)
{
    const int64_t first = from + w->before - w->kernel + 1, last = to - 1 + w->before;
    *begin = at_most(first > 0 ? (first - 1) / w->stride + 1 : 0, w->out);
    *end = at_least(last >= 0 ? at_most(last / w->stride + 1, w->out) : 0, *begin);
}

/* The elements [*begin, *end) that windows [from, to) hold. */
static void elements_under(const mw__window *w, int64_t from, int64_t to, int64_t *begin, int64_t *end)
{
    *begin = at_most(at_least(from * w->stride - w->before, 0), w->in);
    *end = at_least(at_most((to - 1) * w->stride - w->before + w->kernel, w->in), *begin);
    *end = to > from ? *end : *begin;
}

static bool fill_windows(mw__planner *planner, const mw__window *w, bool exclude, mw__pool_axis *out)
{
    int32_t *begin = mw__plan_block(planner, (size_t)w->out * sizeof *begin);
    int32_t *end = mw__plan_block(planner, (size_t)w->out * sizeof *end);
    double *counted = mw__plan_block(planner, (size_t)w->out * sizeof *counted);
    if (begin == NULL || end == NULL || counted == NULL)
        return false;
    for (int64_t o = 0; o < w->out; o++) {
        int64_t from, to;
        elements_under(w, o, o + 1, &from, &to);
        begin[o] = (int32_t)from, end[o] = (int32_t)to;
        counted[o] = (double)(exclude ? to - from : mw__window_padded(w, o));
    }
    out->begin = begin, out->end = end, out->counted = counted;
    return true;
}

static bool fill_elements(mw__planner *planner, const mw__window *w, mw__pool_axis *out)
{
    int32_t *last = mw__plan_block(planner, (size_t)w->in * sizeof *last);
    int32_t *held = mw__plan_block(planner, (size_t)w->in * sizeof *held);
    if (last == NULL || held == NULL)
        return false;
    for (int64_t i = 0; i < w->in; i++) {
        int64_t begin, end;
        windows_over(w, i, i + 1, &begin, &end);
        last[i] = (int32_t)(end - 1), held[i] = (int32_t)(end - begin);
    }
    out->last = last, out->held = held;
    return true;
}

/* ---- bands ---- */

mw__pool_range mw__pool_elements(const mw__pool_lanes *s, const mw__pool_range *windows)
{
    mw__pool_range range;
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        elements_under(&s->axis[i], windows->begin[i], windows->end[i], &range.begin[i], &range.end[i]);
    return range;
}

mw__pool_range mw__pool_windows(const mw__pool_lanes *s, const mw__pool_range *elements)
{
    mw__pool_range range;
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        windows_over(&s->axis[i], elements->begin[i], elements->end[i], &range.begin[i], &range.end[i]);
    return range;
}

int64_t mw__pool_range_count(const mw__pool_range *range)
{
    int64_t count = 1;
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        count *= range->end[i] - range->begin[i];
    return count;
}

bool mw__pool_next_band(const mw__pool_lanes *s, bool back, mw__pool_range *band)
{
    const bool first = band->end[0] == 0;
    for (int i = MW__WINDOW_AXES - 1; i >= 0; i--) {
        const int64_t extent = back ? s->axis[i].in : s->axis[i].out;
        const bool moves = !first && band->end[i] < extent;
        band->begin[i] = moves ? band->end[i] : 0;
        band->end[i] = at_most(band->begin[i] + s->chunk[i], extent);
        if (moves)
            break;
        if (i == 0)
            return first;
    }
    return true;
}

/* The most elements and windows of a band along an axis. */
static void band_extents(const mw__pool_lanes *s, int axis, bool back, int64_t *x, int64_t *y)
{
    const mw__window *w = &s->axis[axis];
    const int64_t chunk = s->chunk[axis];
    *y = back ? at_most((chunk + w->kernel - 2) / w->stride + 1, w->out) : chunk;
    const int64_t span = back ? chunk + 2 * (w->kernel - 1) : (chunk - 1) * w->stride + w->kernel;
    *x = at_most(span, w->in);
}

static void measure_band(mw__pool_lanes *s, bool back)
{
    s->x_most = s->y_most = 1;
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        int64_t x, y;
        band_extents(s, i, back, &x, &y);
        s->x_most *= (size_t)x, s->y_most *= (size_t)y;
    }
}

/* Shortens bands, the first axis first, until they fit. */
static void choose_bands(mw__pool_lanes *s, bool back)
{
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        s->chunk[i] = back ? s->axis[i].in : s->axis[i].out;
    measure_band(s, back);
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        while (s->x_most + s->y_most > BAND_MOST && s->chunk[i] > 1) {
            s->chunk[i] = (s->chunk[i] + 1) / 2;
            measure_band(s, back);
        }
}

bool mw__pool_lanes_prepare(mw__planner *planner, mw__pool_lanes *s, bool exclude, bool back)
{
    s->in = s->out = 1;
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        s->in *= s->axis[i].in, s->out *= s->axis[i].out;
        if (!fill_windows(planner, &s->axis[i], exclude, &s->table[i]) ||
            (back && !fill_elements(planner, &s->axis[i], &s->table[i])))
            return false;
    }
    choose_bands(s, back);
    s->transpose = mw__transpose_choose(mw__plan_level(planner));
    s->code = mw__pool_lanes_choose(mw__plan_level(planner));
    return true;
}

/* ---- planes and lanes ---- */

int64_t mw__pool_grain(const mw__planner *planner, int64_t planes)
{
    return planes >= MW__POOL_LANES * mw__plan_partitions(planner) ? MW__POOL_LANES : MW__POOL_LANES / 2;
}

typedef struct plane_extents {
    int64_t h, w, all;
} plane_extents;

static plane_extents extents_of(const mw__pool_lanes *s, bool of_y)
{
    return (plane_extents){.h = of_y ? s->axis[1].out : s->axis[1].in,
                           .w = of_y ? s->axis[2].out : s->axis[2].in,
                           .all = of_y ? s->out : s->in};
}

void mw__pool_gather(const mw__pool_lanes *s, const float *planes, bool of_y, const mw__pool_range *r, int64_t used,
                     float *lanes)
{
    const plane_extents e = extents_of(s, of_y);
    const int64_t width = r->end[2] - r->begin[2], rows = width == e.w ? 1 : r->end[1] - r->begin[1];
    const int64_t run = width == e.w ? (r->end[1] - r->begin[1]) * width : width;
    if (used < MW__POOL_LANES) /* what the others compute counts for nothing, but they do */
        memset(lanes, 0, (size_t)(mw__pool_range_count(r) * MW__POOL_LANES) * sizeof *lanes);
    for (int64_t d = r->begin[0]; d < r->end[0]; d++)
        for (int64_t h = 0; h < rows; h++, lanes += run * MW__POOL_LANES)
            s->transpose(planes + (d * e.h + r->begin[1] + h) * e.w + r->begin[2], e.all, used, run, lanes,
                         MW__POOL_LANES);
}

void mw__pool_scatter(const mw__pool_lanes *s, const float *lanes, bool of_y, const mw__pool_range *r, int64_t used,
                      float *planes)
{
    const plane_extents e = extents_of(s, of_y);
    const int64_t width = r->end[2] - r->begin[2], rows = width == e.w ? 1 : r->end[1] - r->begin[1];
    const int64_t run = width == e.w ? (r->end[1] - r->begin[1]) * width : width;
    for (int64_t d = r->begin[0]; d < r->end[0]; d++)
        for (int64_t h = 0; h < rows; h++, lanes += run * MW__POOL_LANES)
            s->transpose(lanes, MW__POOL_LANES, run, used, planes + (d * e.h + r->begin[1] + h) * e.w + r->begin[2],
                         e.all);
}
