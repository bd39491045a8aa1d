/* The weight's values at the points of a line (winograd_lines.h), made by a step of its own: once, where the weight is
 * constant. */
#include "base/number/integer.h"
#include "engine/kernels/winograd/winograd_lines.h"

#include <string.h>

#define WIDTH 16 /* at most */

/* All taps of vector `first` .. of the outputs of input `channel`, as [taps, width]. */
static void read_taps(const mw__winograd_lines *w, const float *weight, int64_t first, int64_t channel, float *taps)
{
    const int64_t width = w->code->width, all = w->kernel[0] * w->kernel[1];
    const int64_t here = mw__i64_clamp(w->outputs - first, 0, width);
    const int64_t at = w->turned ? channel * w->outputs + first : first * w->inputs + channel;
    if (here == 0 || channel >= w->inputs)
        memset(taps, 0, (size_t)(all * width) * sizeof *taps);
    else
        w->turn->transpose(weight + at * all, w->turned ? all : w->inputs * all, here, all, width, taps, width);
}

/* Of one row of the kernel and one piece, from all taps. */
static void put_piece(const mw__winograd_lines *w, const float *taps, int64_t kind, int64_t row, int64_t piece,
                      float *out)
{
    const int64_t width = w->code->width, first = (w->turned ? w->kernel[0] - 1 - row : row) * w->kernel[1];
    float of[MW__WINOGRAD_LINE * WIDTH] = {0};
    for (int64_t j = 0; j < w->form->taps; j++) {
        const int64_t tap = mw__winograd_line_tap(w, kind, piece, j);
        if (tap >= 0)
            memcpy(of + j * width, taps + (first + tap) * width, (size_t)width * sizeof *of);
    }
    w->form->weight(of, w->weight_point, out);
}

/* A vector of outputs of a panel, one channel after the other, as they lie side by side. */
static void put_vector(const mw__winograd_lines *w, const float *weight, int64_t kind, int64_t first, float *taps,
                       float *out)
{
    for (int64_t channel = 0; channel < w->lanes; channel++) {
        read_taps(w, weight, first, channel, taps);
        for (int64_t i = 0; i < w->kernel[0] * w->pieces; i++)
            put_piece(w, taps, kind, i / w->pieces, i % w->pieces, out + (i * w->lanes + channel) * w->columns);
    }
}

/* A unit is a panel of a kind. */
static void weight_run(const mw__kernel_call *call)
{
    const mw__winograd_lines *w = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++)
        for (int64_t v = 0; v < w->columns; v += w->code->width)
            put_vector(w, call->in[0], unit / w->panels, unit % w->panels * w->columns + v, call->scratch,
                       (float *)call->out[0] + unit * w->form->points * w->weight_point + v);
}

uint32_t mw__winograd_lines_plan_weight(mw__planner *planner, const mw__winograd_lines *w,
                                        const mw__packed_request *request)
{
    mw__winograd_lines *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return 0;
    *s = *w;
    const int64_t panels = mw__winograd_line_kinds(w) * w->panels;
    const size_t size = (size_t)(panels * w->form->points * w->weight_point) * sizeof(float);
    const uint32_t from = mw__conv_operand(planner, request->weight), values = mw__plan_temporary(planner, size);
    mw__step *step = mw__plan_step(planner, weight_run, "conv.lines.weight", panels, mw__cost((double)size, 0.0));
    step->block = s;
    step->report.helper = true;
    step->prepares = true;
    step->scratch = (size_t)(w->kernel[0] * w->kernel[1] * w->code->width) * sizeof(float);
    mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    mw__step_write(planner, step, values, MW__WHOLE, 0);
    return values;
}
