/* The lists of kernel_conv_places.h. Lines are left out of the lists where a chunk has several examples, and so all
 * lines of each; else when they are read, as chunks of one list have other lines. Positions of lines are left out where
 * a chunk has whole ones. Taps that need the same positions have one list. */
#include "engine/kernels/conv/kernel_conv_places.h"
#include "base/number/integer.h"
#include "engine/kernels/reduce/simd_reduce.h"

#define TAPS 64 /* of a kernel for which lists are kept */

static bool are_finite_base(const float *x, int64_t count) { return mw__all_finite(x, count); }
#if defined(__x86_64__)
MW__TARGET_AVX2 static bool are_finite_avx2(const float *x, int64_t count) { return mw__all_finite(x, count); }
#endif

mw__conv_finite *mw__conv_finite_of(mw__level level) { return MW__DISPATCH(are_finite, level); }

void mw__conv_reach(int64_t start, int64_t stride, int64_t extent, int64_t count, int64_t out[2])
{
    const int64_t after = extent - start;
    out[0] = mw__i64_clamp(start < 0 ? (-start + stride - 1) / stride : 0, 0, count);
    out[1] = mw__i64_clamp(after > 0 ? (after - 1) / stride + 1 : 0, out[0], count);
}

/* Positions of y along an axis that lie on x under element k of the kernel: [*low, *high). */
static void inside(const mw__conv_window *w, int axis, int64_t k, int64_t *low, int64_t *high)
{
    int64_t reach[2];
    mw__conv_reach(k * w->dilation[axis] - w->before[axis], w->stride[axis], w->in[axis], w->out[axis], reach);
    *low = reach[0], *high = reach[1];
}

static const mw__packed_place *list(mw__planner *planner, const mw__conv_window *w, const mw__conv_chunk *c,
                                    const mw__conv_places *p)
{
    const int64_t count = c->each * p->lines * p->columns;
    mw__packed_place *const all = mw__plan_block(planner, (size_t)(count + 1) * sizeof *all), *at = all;
    for (int64_t n = 0; all != NULL && n < c->each; n++)
        for (int64_t y = p->top; y < p->top + p->lines; y++)
            for (int64_t x = p->left; x < p->left + p->columns; x++)
                *at++ = (mw__packed_place){
                    .a = (uint16_t)((n * c->height + y) * c->width + x),
                    .x = (uint16_t)((n * c->rows + y * w->stride[1]) * c->columns + x * w->stride[2])};
    return all;
}

static mw__conv_places needed(const mw__conv_window *w, const mw__conv_chunk *c, int64_t tap)
{
    mw__conv_places p = {.lines = c->height, .columns = c->width};
    int64_t right = 0;
    inside(w, 1, tap / w->kernel[2], &p.low, &p.high);
    if (c->each > 1)
        p.top = p.low, p.lines = p.high - p.low;
    if (c->width == w->out[2]) {
        inside(w, 2, tap % w->kernel[2], &p.left, &right);
        p.columns = right - p.left;
    }
    return p;
}

static bool lists_the_same(const mw__conv_places *a, const mw__conv_places *b)
{
    return a->top == b->top && a->lines == b->lines && a->left == b->left && a->columns == b->columns;
}

const mw__conv_places *mw__conv_list_places(mw__planner *planner, const mw__conv_window *w, const mw__conv_chunk *c,
                                            bool *out_fewer)
{
    const int64_t taps = w->kernel[1] * w->kernel[2];
    mw__conv_places *const all = mw__plan_block(planner, (size_t)(1 + taps) * sizeof *all);
    *out_fewer = false;
    if (all == NULL)
        return NULL;
    all[0] = (mw__conv_places){.lines = c->height, .columns = c->width, .high = w->out[1]};
    all[0].at = list(planner, w, c, &all[0]);
    for (int64_t t = 0; t < taps; t++) {
        mw__conv_places *const p = &all[1 + t];
        *p = taps <= TAPS ? needed(w, c, t) : all[0];
        *out_fewer = *out_fewer || p->low > 0 || p->high < w->out[1] || p->columns < c->width;
        for (int64_t i = 0; p->at == NULL && i <= t; i++)
            if (lists_the_same(p, &all[i]))
                p->at = all[i].at;
        if (p->at == NULL)
            p->at = list(planner, w, c, p);
    }
    return all;
}

/* Listed places before position `position`, of those in lines [low, high). */
static int64_t places_before(const mw__conv_places *p, int64_t width, int64_t low, int64_t high, int64_t position)
{
    const int64_t line = position / width, x = position % width;
    const int64_t part = line >= low && line < high ? mw__i64_clamp(x - p->left, 0, p->columns) : 0;
    return (mw__i64_clamp(line, low, high) - p->top) * p->columns + part;
}

mw__places_run mw__conv_places_of(const mw__conv_places *p, const mw__conv_chunk *c, int64_t row, int64_t lines,
                                  int64_t image, int64_t begin, int64_t end)
{
    const int64_t low = mw__i64_clamp(p->low - row, p->top, p->top + p->lines);
    const int64_t high = mw__i64_clamp(p->high - row < lines ? p->high - row : lines, low, p->top + p->lines);
    const int64_t first = places_before(p, c->width, low, high, begin);
    return (mw__places_run){.at = p->at + image * p->lines * p->columns + first,
                            .count = places_before(p, c->width, low, high, end) - first};
}
