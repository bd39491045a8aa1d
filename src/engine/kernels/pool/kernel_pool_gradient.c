/* The gradient of max_pool (compile/patterns_built.c): each dy goes to the first element of its window that equals
 * y, and where windows overlap their shares are added as the operations add them: along rows first, then rows in order.
 * fp32; one plane of x a unit. Same bits as the operations. Most of these end in sums with zero, so that no element of
 * dx is -0; others do where every place of the kernel has a window (mw__pool_lanes.adds_zero). Where a window reaches
 * into the padding they subtract what an element takes from what is left, so that of a dy that is not finite NaN is
 * left, and later equal elements take that. */
#include "base/number/bits.h"
#include "engine/kernels/implementation.h"
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/pool/kernel_pool.h"
#include "engine/kernels/pool/kernel_pool_lanes.h"
#include "engine/kernels/reduce/simd_reduce.h"
#include "graph/geometry/window.h"

#include <string.h>

typedef struct gradient_block {
    mw__window row, column; /* along the last axis but one, and the last */
    int64_t in, out;        /* elements of a plane */
    bool relu;              /* x is what relu is taken of before the pooling; see kernel_pool_two.c */
    bool padded;            /* windows reach into the padding */
    bool apart;             /* no windows overlap, and none does that */
    bool deep;              /* there is a third axis */
    mw__two_gradient *two;  /* or NULL */
    mw__pool_lanes lanes;
} gradient_block;

/* What of a window lies inside x, along one axis: elements [begin, end), which may be none, the first of all at `at`.
 * mw__window_inside without its divisions. */
typedef struct reach {
    int64_t at, begin, end;
} reach;

static reach reach_of(const mw__window *w, int64_t position)
{
    const int64_t at = position * w->stride - w->before;
    return (reach){.at = at, .begin = at < 0 ? -at : 0, .end = at + w->kernel < w->in ? w->kernel : w->in - at};
}

/* Whether no window has its element k in the padding. */
static bool is_never_padding(const mw__window *w, int64_t k)
{
    return k >= w->before && (w->out - 1) * w->stride - w->before + k < w->in;
}

/* relu stops what does not come from an element above 0. */
static bool is_stopped(const gradient_block *s, float most) { return s->relu && !(most > 0.0f); }

/* The first element of a window of the plane x that equals `most`, counted along rows; -1 if none does or relu stops
 * it. */
static int64_t first_equal(const gradient_block *s, const float *x, reach row, reach column, float most)
{
    if (is_stopped(s, most))
        return -1;
    for (int64_t r = row.begin; r < row.end; r++)
        for (int64_t c = column.begin; c < column.end; c++)
            if (x[(row.at + r) * s->column.in + column.at + c] == most)
                return r * s->column.kernel + c;
    return -1;
}

/* Windows that do not overlap: dx is zero. */
static void scatter(const gradient_block *s, const float *x, const float *y, const float *dy, float *dx)
{
    for (int64_t i = 0; i < s->row.out; i++)
        for (int64_t j = 0; j < s->column.out; j++, y++, dy++) {
            const reach row = reach_of(&s->row, i), column = reach_of(&s->column, j);
            const int64_t hit = first_equal(s, x, row, column, *y);
            if (hit >= 0)
                dx[(row.at + hit / s->column.kernel) * s->column.in + column.at + hit % s->column.kernel] = *dy + 0.0f;
        }
}

static void find_hits(const gradient_block *s, const float *x, const float *y, int32_t *hits)
{
    for (int64_t i = 0; i < s->row.out; i++)
        for (int64_t j = 0; j < s->column.out; j++, y++)
            *hits++ = (int32_t)first_equal(s, x, reach_of(&s->row, i), reach_of(&s->column, j), *y);
}

/* What row r of the windows at row i takes. From the last window on, as an element of x adds by columns of a window. */
static void take_row(const gradient_block *s, int64_t r, const int32_t *hits, const float *dy, float *part)
{
    const int64_t kernel = s->column.kernel;
    for (int64_t j = s->column.out - 1; j >= 0; j--) {
        const int64_t c = hits[j] - r * kernel;
        if (c >= 0 && c < kernel)
            part[j * s->column.stride - s->column.before + c] += dy[j];
    }
}

/* The same by the operations themselves: what is left of each dy is kept. */
static void take_what_is_left(const gradient_block *s, int64_t r, const float *x, const float *y, float *left,
                              float *part)
{
    for (int64_t c = 0; c < s->column.kernel; c++) {
        const bool whole = is_never_padding(&s->row, r) && is_never_padding(&s->column, c);
        for (int64_t j = 0; j < s->column.out; j++) {
            const int64_t at = j * s->column.stride - s->column.before + c;
            if (at < 0 || at >= s->column.in)
                continue;
            const bool hit = x[at] == y[j] && !is_stopped(s, y[j]);
            part[at] += hit ? left[j] : 0.0f;
            if (!hit)
                continue;
            left[j] = whole ? 0.0f : left[j] - left[j];
        }
    }
}

/* What sums of shares begin with: -0 where every place of the kernel has a window, unless zero is added. */
static float start_of(const gradient_block *s, int axis, int64_t position)
{
    const bool all = s->lanes.table[axis].held[position] == s->lanes.axis[axis].kernel;
    return all && !s->lanes.adds_zero ? -0.0f : 0.0f;
}

static void begin_sums(const gradient_block *s, float *dx)
{
    for (int64_t row = 0; row < s->row.in; row++)
        for (int64_t k = 0; k < s->column.in; k++)
            *dx++ = start_of(s, 1, row);
}

/* Windows that overlap: for each row of the windows the shares in `part`, a row of x, which are then added to dx. */
static void scatter_rows(const gradient_block *s, const float *x, const float *y, const float *dy, void *scratch,
                         float *dx)
{
    const bool by_hits = s->lanes.adds_zero && (!s->padded || mw__all_finite(dy, s->out));
    const int64_t in = s->column.in, out = s->column.out;
    float *const part = scratch, *const left = part + in;
    int32_t *const hits = (int32_t *)(void *)left;
    if (by_hits)
        find_hits(s, x, y, hits);
    else
        memcpy(left, dy, (size_t)s->out * sizeof *left);
    for (int64_t r = 0; r < s->row.kernel; r++)
        for (int64_t i = 0; i < s->row.out; i++) {
            const int64_t at = i * s->row.stride - s->row.before + r;
            if (at < 0 || at >= s->row.in)
                continue;
            for (int64_t k = 0; k < in; k++)
                part[k] = start_of(s, 2, k);
            if (by_hits)
                take_row(s, r, hits + i * out, dy + i * out, part);
            else
                take_what_is_left(s, r, x + at * in, y + i * out, left + i * out, part);
            for (int64_t k = 0; k < in; k++)
                dx[at * in + k] += part[k];
        }
}

static void gradient_two(const mw__kernel_call *call)
{
    const gradient_block *s = call->block;
    const mw__two two = {.in = s->column.in, .count = s->column.out, .relu = s->relu};
    const bool covered = 2 * s->row.out == s->row.in && 2 * s->column.out == s->column.in;
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        const float *x = (const float *)call->in[0] + plane * s->in, *y = (const float *)call->in[1] + plane * s->out;
        const float *dy = (const float *)call->in[2] + plane * s->out;
        float *dx = (float *)call->out[0] + plane * s->in;
        if (!covered)
            memset(dx, 0, (size_t)s->in * sizeof *dx);
        for (int64_t i = 0; i < s->row.out; i++)
            s->two(&two, x + 2 * i * s->column.in, y + i * s->column.out, dy + i * s->column.out,
                   dx + 2 * i * s->column.in);
    }
}

static void gradient_windows(const mw__kernel_call *call)
{
    const gradient_block *s = call->block;
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        const float *x = (const float *)call->in[0] + plane * s->in, *y = (const float *)call->in[1] + plane * s->out;
        const float *dy = (const float *)call->in[2] + plane * s->out;
        float *dx = (float *)call->out[0] + plane * s->in;
        if (s->apart) {
            memset(dx, 0, (size_t)s->in * sizeof *dx);
            scatter(s, x, y, dy, dx);
        } else {
            begin_sums(s, dx);
            scatter_rows(s, x, y, dy, call->scratch, dx);
        }
    }
}

/* dx of `used` planes, a band at a time. */
static void gradient_bands(const gradient_block *block, const mw__kernel_call *call, int64_t plane, int64_t used)
{
    const mw__pool_lanes *s = &block->lanes;
    float *const x = call->scratch, *const y = x + s->x_most * MW__POOL_LANES;
    float *const dy = y + s->y_most * MW__POOL_LANES;
    int32_t *const hits = (int32_t *)(void *)(dy + s->y_most * MW__POOL_LANES);
    for (mw__pool_range band = {.end = {0}}; mw__pool_next_band(s, true, &band);) {
        const mw__pool_range windows = mw__pool_windows(s, &band), under = mw__pool_elements(s, &windows);
        mw__pool_gather(s, (const float *)call->in[0] + plane * s->in, false, &under, used, x);
        mw__pool_gather(s, (const float *)call->in[1] + plane * s->out, true, &windows, used, y);
        mw__pool_gather(s, (const float *)call->in[2] + plane * s->out, true, &windows, used, dy);
        s->code->hits(s, &under, &windows, used, x, y, hits, dy);
        s->code->shares(s, &band, &windows, used, hits, dy, x);
        mw__pool_scatter(s, x, false, &band, used, (float *)call->out[0] + plane * s->in);
    }
}

static void gradient_lanes(const mw__kernel_call *call)
{
    const gradient_block *s = call->block;
    for (int64_t plane = call->begin; plane < call->end; plane += MW__POOL_LANES) {
        const int64_t left = call->end - plane, used = left < MW__POOL_LANES ? left : MW__POOL_LANES;
        mw__kernel_call some = *call;
        some.begin = plane, some.end = plane + used;
        if (s->padded && !mw__all_finite((const float *)call->in[2] + plane * s->out, used * s->out))
            gradient_windows(&some);
        else
            gradient_bands(s, call, plane, used);
    }
}

/* ---- planning ---- */

/* An axis of several elements a stride or more apart adds a zero to every sum; without one a -0 could stay. */
static bool adds_zero(const mw__window *w) { return w->stride > 1 && w->kernel > 1; }

static bool is_inside(const mw__window *w) { return w->before == 0 && (w->out - 1) * w->stride + w->kernel <= w->in; }

static bool read_windows(const mw__op *pool, gradient_block *out)
{
    static const mw__window none = {.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .span = 1, .out = 1};
    mw_error ignored = {0};
    mw__window windows[MW__WINDOW_AXES], *axis = out->lanes.axis;
    int64_t kernel[MW__WINDOW_AXES];
    size_t count = 0;
    const mw_shape x = mw__shape_of(mw__arg(pool, "x"));
    if (!mw__arg_ints(pool, "kernel_sizes", kernel, MW__WINDOW_AXES, &count) || count + 2 != (size_t)x.rank ||
        mw__op_windows(pool, x, kernel, windows, &ignored) != MW_OK)
        return false;
    out->in = out->out = 1, out->padded = false, out->apart = true;
    for (size_t i = 0; i < MW__WINDOW_AXES; i++) {
        axis[i] = i + count >= MW__WINDOW_AXES ? windows[i + count - MW__WINDOW_AXES] : none;
        out->in *= axis[i].in, out->out *= axis[i].out;
        out->padded = out->padded || !is_inside(&axis[i]);
        out->apart = out->apart && axis[i].stride >= axis[i].kernel;
        out->lanes.adds_zero = out->lanes.adds_zero || adds_zero(&axis[i]);
    }
    out->apart = out->apart && !out->padded;
    out->deep = count > 2;
    out->row = axis[1], out->column = axis[2];
    out->lanes.planes = x.dim[0] * x.dim[1];
    return true;
}

#define KERNEL_MOST 64 /* elements of a window: the pattern grows with it */

bool mw__max_pool_gradient_suits(const mw__op *pool, bool half)
{
    gradient_block s = {0};
    if (mw__dtype_of(pool->results[0]) != MW_F32 || mw__count_of(pool->results[0]) == 0 || !read_windows(pool, &s))
        return false;
    int64_t elements = 1;
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        if (s.lanes.axis[i].dilation != 1 || s.lanes.axis[i].kernel > KERNEL_MOST / elements)
            return false;
        elements *= s.lanes.axis[i].kernel;
    }
    return (s.apart || !half) && !(s.deep && s.padded);
}

static const char *two_declines(const void *subject)
{
    const gradient_block *s = subject;
    const bool two = !s->padded && !s->deep && s->row.kernel == 2 && s->row.stride == 2 && s->column.kernel == 2 &&
                     s->column.stride == 2;
    return two ? NULL : "no windows of 2 x 2 side by side";
}

static const char *gradient_lanes_decline(const void *subject)
{
    const gradient_block *s = subject;
    return s->deep || !s->lanes.adds_zero || s->lanes.planes >= MW__POOL_LANES / 2 ? NULL : "few planes";
}

static mw__kernel *choose_gradient(mw__planner *planner, const gradient_block *s)
{
    static const mw__implementation rows[] = {
        {.name = "two", .declines = two_declines, .run = gradient_two},
        {.name = "lanes", .declines = gradient_lanes_decline, .run = gradient_lanes},
        {.name = "windows", .run = gradient_windows},
    };
    return mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), s)->run;
}

/* Bytes of a partition: those of plane by plane, and of lanes. */
static size_t gradient_scratch(const gradient_block *s, mw__kernel *run)
{
    const size_t rows = s->apart ? 0 : ((size_t)s->column.in + (size_t)s->out) * sizeof(float);
    const size_t lanes = (s->lanes.x_most + 3 * s->lanes.y_most) * MW__POOL_LANES * sizeof(float);
    return run == gradient_two ? 0 : run == gradient_lanes && lanes > rows ? lanes : rows;
}

mw_status mw__plan_max_pool_gradient(mw__planner *planner, const mw__max_pool_gradient_match *match, mw_error *err)
{
    gradient_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !read_windows(match->pool, s) || !mw__pool_lanes_prepare(planner, &s->lanes, false, true))
        return mw__plan_check(planner, err);
    s->relu = s->lanes.relu = match->relu;
    s->two = mw__two_gradient_choose(mw__plan_level(planner));
    mw__kernel *const run = choose_gradient(planner, s);
    const double elements = (double)mw__count_of(match->x);
    const size_t in = (size_t)s->in * sizeof(float), out = (size_t)s->out * sizeof(float);
    mw__step *step =
        mw__plan_step(planner, run, s->relu ? "relu.max_pool.gradient" : "max_pool.gradient", s->lanes.planes,
                      mw__cost(8.0 * elements, (run == gradient_windows ? 20.0 : 2.0) * elements));
    step->block = s;
    step->grain = run == gradient_lanes ? mw__pool_grain(planner, s->lanes.planes) : step->grain;
    step->scratch = gradient_scratch(s, run);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__ROWS, in, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->y), MW__ROWS, out, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__ROWS, out, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dx), MW__ROWS, in);
    return mw__plan_check(planner, err);
}
