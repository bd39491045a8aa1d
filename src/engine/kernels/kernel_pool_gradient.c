/* The gradient of max_pool (compile/patterns_built.c): each dy goes to the first element of its window that equals
 * y, and where windows overlap their shares are added as the operations add them: along rows first, then rows in order.
 * fp32, windows inside x, one or two spatial axes. One plane of x a unit. Same bits as the operations, which end in
 * sums with zero: no element of dx is -0. */
#include "engine/kernels/implementation.h"
#include "engine/kernels/kernel_pool.h"
#include "engine/kernels/pattern_plans.h"
#include "graph/window.h"

#include <string.h>

typedef struct gradient_block {
    mw__window row, column; /* along the last axis but one, and the last */
    int64_t in, out;        /* elements of a plane */
    bool relu;              /* x is what relu is taken of before the pooling; see kernel_pool_two.c */
    bool apart;             /* no windows overlap */
    mw__two_gradient *two;  /* or NULL */
} gradient_block;

/* The first element of a window that equals `most`, counted along rows; -1 if none does or relu stops it. */
static int64_t first_equal(const gradient_block *s, const float *x, float most)
{
    if (s->relu && !(most > 0.0f))
        return -1;
    for (int64_t r = 0; r < s->row.kernel; r++)
        for (int64_t c = 0; c < s->column.kernel; c++)
            if (x[r * s->column.in + c] == most)
                return r * s->column.kernel + c;
    return -1;
}

/* Windows that do not overlap: dx is zero. */
static void scatter(const gradient_block *s, const float *x, const float *y, const float *dy, float *dx)
{
    for (int64_t i = 0; i < s->row.out; i++)
        for (int64_t j = 0; j < s->column.out; j++, y++, dy++) {
            const int64_t corner = i * s->row.stride * s->column.in + j * s->column.stride;
            const int64_t hit = first_equal(s, x + corner, *y);
            if (hit >= 0)
                dx[corner + hit / s->column.kernel * s->column.in + hit % s->column.kernel] = *dy + 0.0f;
        }
}

/* Windows that overlap: the shares of one row of the windows in `part`, then added to dx. */
static void scatter_rows(const gradient_block *s, const int32_t *hits, const float *dy, float *part, float *dx)
{
    for (int64_t r = 0; r < s->row.kernel; r++) {
        memset(part, 0, (size_t)s->in * sizeof *part);
        for (int64_t c = 0; c < s->column.kernel; c++)
            for (int64_t i = 0; i < s->row.out; i++)
                for (int64_t j = 0; j < s->column.out; j++)
                    if (hits[i * s->column.out + j] == r * s->column.kernel + c)
                        part[(i * s->row.stride + r) * s->column.in + j * s->column.stride + c] +=
                            dy[i * s->column.out + j];
        for (int64_t i = 0; i < s->in; i++)
            dx[i] += part[i];
    }
}

static void find_hits(const gradient_block *s, const float *x, const float *y, int32_t *hits)
{
    for (int64_t i = 0; i < s->row.out; i++)
        for (int64_t j = 0; j < s->column.out; j++, y++)
            *hits++ = (int32_t)first_equal(s, x + i * s->row.stride * s->column.in + j * s->column.stride, *y);
}

static void gradient_run(const mw__kernel_call *call)
{
    const gradient_block *s = call->block;
    const mw__two two = {.in = s->column.in, .count = s->column.out, .relu = s->relu};
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        const float *x = (const float *)call->in[0] + plane * s->in, *y = (const float *)call->in[1] + plane * s->out;
        const float *dy = (const float *)call->in[2] + plane * s->out;
        float *dx = (float *)call->out[0] + plane * s->in;
        const bool covered = s->two != NULL && 2 * s->row.out == s->row.in && 2 * s->column.out == s->column.in;
        if (!covered)
            memset(dx, 0, (size_t)s->in * sizeof *dx);
        if (s->two != NULL) {
            for (int64_t i = 0; i < s->row.out; i++)
                s->two(&two, x + 2 * i * s->column.in, y + i * s->column.out, dy + i * s->column.out,
                       dx + 2 * i * s->column.in);
        } else if (s->apart) {
            scatter(s, x, y, dy, dx);
        } else {
            float *const part = call->scratch;
            int32_t *const hits = (int32_t *)(void *)(part + s->in);
            find_hits(s, x, y, hits);
            scatter_rows(s, hits, dy, part, dx);
        }
    }
}

/* ---- planning ---- */

static bool read_windows(const mw__op *pool, gradient_block *out)
{
    mw_error ignored = {0};
    mw__window windows[MW__WINDOW_AXES];
    int64_t kernel[MW__WINDOW_AXES];
    size_t count = 0;
    const mw_shape x = mw__shape_of(mw__arg(pool, "x"));
    if (!mw__arg_ints(pool, "kernel_sizes", kernel, MW__WINDOW_AXES, &count) || count + 2 != (size_t)x.rank ||
        count > 2 || mw__op_windows(pool, x, kernel, windows, &ignored) != MW_OK)
        return false;
    out->row = (mw__window){.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .span = 1, .out = 1};
    out->column = windows[count - 1];
    if (count == 2)
        out->row = windows[0];
    out->in = out->row.in * out->column.in, out->out = out->row.out * out->column.out;
    out->apart = out->row.stride >= out->row.kernel && out->column.stride >= out->column.kernel;
    return true;
}

static bool is_inside(const mw__window *w)
{
    return w->before == 0 && w->dilation == 1 && w->out > 0 && (w->out - 1) * w->stride + w->kernel <= w->in;
}

#define KERNEL_MOST 64 /* elements of a window: the pattern grows with it */

/* An axis of several elements a stride or more apart adds a zero to every sum; without one a -0 could stay. */
static bool adds_zero(const mw__window *w) { return w->stride > 1 && w->kernel > 1; }

bool mw__max_pool_gradient_suits(const mw__op *pool, bool half)
{
    gradient_block s;
    return mw__dtype_of(pool->results[0]) == MW_F32 && mw__count_of(pool->results[0]) > 0 && read_windows(pool, &s) &&
           (s.apart || !half) && is_inside(&s.row) && is_inside(&s.column) && s.row.kernel <= KERNEL_MOST &&
           s.column.kernel <= KERNEL_MOST / s.row.kernel && (adds_zero(&s.row) || adds_zero(&s.column));
}

static const char *two_declines(const void *subject)
{
    const gradient_block *s = subject;
    const bool two = s->row.kernel == 2 && s->row.stride == 2 && s->column.kernel == 2 && s->column.stride == 2;
    return two ? NULL : "no windows of 2 x 2 side by side";
}

static mw__two_gradient *choose_two(mw__planner *planner, const gradient_block *s)
{
    static const mw__implementation rows[] = {{.name = "two", .declines = two_declines}, {.name = "windows"}};
    const bool two = mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), s) == &rows[0];
    return two ? mw__two_gradient_choose(mw__plan_level(planner)) : NULL;
}

mw_status mw__plan_max_pool_gradient(mw__planner *planner, const mw__max_pool_gradient_match *match, mw_error *err)
{
    gradient_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !read_windows(match->pool, s))
        return mw__plan_check(planner, err);
    s->relu = match->relu;
    s->two = choose_two(planner, s);
    const double elements = (double)mw__count_of(match->x);
    const size_t in = (size_t)s->in * sizeof(float), out = (size_t)s->out * sizeof(float);
    mw__step *step = mw__plan_step(planner, gradient_run, s->relu ? "relu.max_pool.gradient" : "max_pool.gradient",
                                   mw__count_of(match->x) / s->in,
                                   mw__cost(8.0 * elements, (s->two != NULL ? 2.0 : 20.0) * elements));
    step->block = s;
    step->scratch = s->apart ? 0 : in + out;
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__ROWS, in, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->y), MW__ROWS, out, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__ROWS, out, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dx), MW__ROWS, in);
    return mw__plan_check(planner, err);
}
