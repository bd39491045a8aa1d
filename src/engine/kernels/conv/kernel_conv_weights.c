/* Packing of kernel_conv_weights.h. */
#include "engine/kernels/conv/kernel_conv_weights.h"
#include "base/number/integer.h"

#include <string.h>

#define TAPS 64 /* of a kernel that is transposed as a whole */
#define ROWS 16 /* of a panel, at most */

/* Of an input channel of a transposed weight: its elements of each grid, from weight [outputs, taps] on. */
static void pack_kernel(const mw__packed_weights *w, const float *weight, int64_t here, int64_t channel, int64_t panel,
                        float *packed)
{
    float kernel[TAPS * ROWS];
    if (w->taps <= TAPS)
        w->code->transpose(weight, w->taps, here, w->taps, w->rows, kernel, w->rows);
    for (int64_t i = 0; i < w->grids; i++) {
        const mw__packed_grid *g = &w->grid[i];
        float *to = packed + g->weights + (panel * g->depth + channel * g->taps) * w->rows;
        for (int64_t t = 0; t < g->taps; t++, to += w->rows)
            if (w->taps <= TAPS)
                memcpy(to, kernel + g->tap[t].element * w->rows, (size_t)w->rows * sizeof *to);
            else
                w->code->column(weight + g->tap[t].element, w->taps, here, w->rows, to);
    }
}

/* Of a weight [outputs, inputs, taps] whose grid lacks some taps. */
static void pack_some(const mw__packed_weights *w, const float *weight, int64_t here, float *packed)
{
    const mw__packed_grid *g = w->grid;
    for (int64_t i = 0; i < g->depth; i++)
        w->code->column(weight + i / g->taps * w->taps + g->tap[i % g->taps].element, w->inputs * w->taps, here,
                        w->rows, packed + i * w->rows);
}

/* A unit is a panel. */
static void pack_run(const mw__kernel_call *call)
{
    const mw__packed_weights *w = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t group = unit / w->panels, panel = unit % w->panels, first = panel * w->rows;
        const int64_t here = mw__i64_min(w->rows, w->outputs - first), depth = w->inputs * w->taps;
        const float *const weight = (const float *)call->in[0] + group * w->outputs * depth;
        float *const packed = (float *)call->out[0] + group * w->floats;
        if (!w->transposed && w->grid->taps < w->taps)
            pack_some(w, weight + first * depth, here, packed + panel * w->grid->depth * w->rows);
        else if (!w->transposed) /* one grid */
            w->code->transpose(weight + first * depth, depth, here, depth, w->rows, packed + panel * depth * w->rows,
                               w->rows);
        for (int64_t c = 0; w->transposed && c < w->inputs; c++)
            pack_kernel(w, weight + (c * w->outputs + first) * w->taps, here, c, panel, packed);
    }
}

bool mw__packed_weights_read(mw__planner *planner, const mw__packed_request *r, bool all, mw__packed_weights *out)
{
    const mw_shape weight = mw__shape_of(r->weight);
    mw__packed_grid *const grids = mw__packed_fill_grids(planner, r);
    *out = (mw__packed_weights){.groups = r->groups, .taps = r->window.taps, .transposed = r->transposed};
    if (grids == NULL)
        return false;
    if (!all)
        mw__packed_drop_taps(planner, r, grids);
    out->inputs = r->transposed ? weight.dim[0] / r->groups : weight.dim[1];
    out->outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups;
    out->grid = grids, out->grids = mw__packed_grids(r);
    out->code = mw__packed_code_of(mw__plan_level(planner));
    out->panels = mw__i64_divide_up(out->outputs, out->code->rows);
    out->rows = mw__i64_divide_up(out->outputs, out->panels);
    for (int64_t i = 0; i < out->grids; i++) {
        grids[i].depth = out->inputs * grids[i].taps;
        grids[i].weights = out->floats;
        out->floats += grids[i].depth * out->panels * out->rows;
    }
    return true;
}

uint32_t mw__packed_weights_plan(mw__planner *planner, const mw__packed_weights *w, const mw__packed_request *r)
{
    const int64_t units = w->groups * w->panels;
    const size_t size = (size_t)(w->groups * w->floats) * sizeof(float);
    const uint32_t from = mw__conv_operand(planner, r->weight), packed = mw__plan_temporary(planner, size);
    mw__step *step = mw__plan_step(planner, pack_run, "conv.pack", units, mw__cost(8.0 * (double)size, 0.0));
    step->block = w;
    step->report.helper = true;
    step->prepares = true;
    step->rounds = r->columns != NULL;
    mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    mw__step_write(planner, step, packed, MW__WHOLE, 0);
    return packed;
}
