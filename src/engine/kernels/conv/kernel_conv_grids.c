/* The grids of a packed convolution (kernel_conv_packed.h): which elements of the kernel reach which results. */
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_packed.h"

#include <string.h>

/* Along one axis, the elements of the kernel that reach results at `start` + j stride, from the last to the first. */
static int64_t axis_taps(const mw__conv_window *w, int axis, int64_t start, int64_t *element, int64_t *offset)
{
    int64_t count = 0;
    for (int64_t k = w->kernel[axis] - 1; k >= 0; k--) {
        const int64_t at = start + w->before[axis] - k * w->dilation[axis];
        if (at % w->stride[axis] == 0)
            element[count] = k, offset[count++] = at / w->stride[axis];
    }
    return count;
}

static void transposed_grid(const mw__conv_window *w, const int64_t start[3], mw__packed_tap *tap, mw__packed_grid *out)
{
    int64_t element[3][MW__PACKED_EXTENT], offset[3][MW__PACKED_EXTENT], count[3];
    out->area = 1, out->taps = 0, out->tap = tap;
    for (int i = 0; i < 3; i++) {
        count[i] = axis_taps(w, i, start[i], element[i], offset[i]);
        out->start[i] = start[i];
        out->extent[i] = mw__i64_divide_up(w->in[i] - start[i], w->stride[i]);
        out->area *= out->extent[i];
    }
    for (int64_t z = 0; z < count[0]; z++)
        for (int64_t y = 0; y < count[1]; y++)
            for (int64_t x = 0; x < count[2]; x++)
                tap[out->taps++] = (mw__packed_tap){
                    .offset = {offset[0][z], offset[1][y], offset[2][x]},
                    .element = (element[0][z] * w->kernel[1] + element[1][y]) * w->kernel[2] + element[2][x]};
}

/* A grid for each remainder; together they have each element of the kernel once. */
static void fill_transposed(const mw__conv_window *w, mw__packed_tap *tap, mw__packed_grid *grid)
{
    const int64_t ends[3] = {mw__i64_min(w->stride[0], w->in[0]), mw__i64_min(w->stride[1], w->in[1]),
                             mw__i64_min(w->stride[2], w->in[2])};
    for (int64_t z = 0; z < ends[0]; z++)
        for (int64_t y = 0; y < ends[1]; y++)
            for (int64_t x = 0; x < ends[2]; x++, grid++) {
                transposed_grid(w, (const int64_t[3]){z, y, x}, tap, grid);
                tap += grid->taps;
            }
}

static void fill_forward(const mw__conv_window *w, mw__packed_tap *tap, mw__packed_grid *grid)
{
    *grid = (mw__packed_grid){.area = w->area_out, .taps = w->taps, .tap = tap};
    memcpy(grid->extent, w->out, sizeof grid->extent);
    for (int64_t t = 0; t < w->taps; t++) {
        mw__conv_tap(w, t, tap[t].offset);
        tap[t].element = t;
    }
}

int64_t mw__packed_grids(const mw__packed_request *r)
{
    const mw__conv_window *w = &r->window;
    int64_t all = 1;
    for (int i = 0; r->transposed && i < 3 && all <= MW__PACKED_GRIDS; i++)
        all *= mw__i64_min(w->stride[i], w->in[i]);
    return all;
}

mw__packed_grid *mw__packed_fill_grids(mw__planner *planner, const mw__packed_request *r)
{
    mw__packed_grid *const grids = mw__plan_block(planner, (size_t)mw__packed_grids(r) * sizeof *grids);
    mw__packed_tap *const taps = mw__plan_block(planner, (size_t)r->window.taps * sizeof *taps);
    if (grids == NULL || taps == NULL)
        return NULL;
    (r->transposed ? fill_transposed : fill_forward)(&r->window, taps, grids);
    return grids;
}

/* Whether a tap lies on an element of x at any position of a grid along an axis. */
static bool meets_x(const mw__packed_request *r, const mw__packed_grid *g, const mw__packed_tap *tap, int axis)
{
    const mw__conv_window *w = &r->window;
    const int64_t step = r->transposed ? 1 : w->stride[axis], in = r->transposed ? w->out[axis] : w->in[axis];
    const int64_t at = tap->offset[axis], first = at < 0 ? mw__i64_divide_up(-at, step) : 0;
    return first < g->extent[axis] && first * step + at < in;
}

/* Leaves out taps that lie in the border everywhere, as those of large dilations on small planes do. */
static void drop_taps(const mw__packed_request *r, mw__packed_grid *g, mw__packed_tap *kept)
{
    int64_t count = 0;
    for (int64_t t = 0; t < g->taps; t++)
        if (meets_x(r, g, &g->tap[t], 0) && meets_x(r, g, &g->tap[t], 1) && meets_x(r, g, &g->tap[t], 2))
            kept[count++] = g->tap[t];
    g->tap = kept, g->taps = count;
}

void mw__packed_drop_taps(mw__planner *planner, const mw__packed_request *r, mw__packed_grid *grids)
{
    mw__packed_tap *kept = mw__plan_block(planner, (size_t)r->window.taps * sizeof *kept);
    for (int64_t i = 0; kept != NULL && i < mw__packed_grids(r); i++) {
        drop_taps(r, &grids[i], kept);
        kept += grids[i].taps;
    }
}
