/* The weight's values at pairs of points (winograd.h), made by a step of its own: once, where the weight is constant.
 */
#include "base/number/integer.h"
#include "engine/kernels/winograd/winograd_plan.h"

#include <string.h>

#define TAPS  9
#define WIDTH 16 /* at most */

typedef struct weight_block {
    mw__winograd w;
    bool transposed; /* the weight is [inputs, outputs, taps] and is read from its last tap on */
} weight_block;

/* Vector `first` .. of the outputs of input `channel`, as [taps, width]. */
static void read_taps(const weight_block *s, const float *weight, int64_t first, int64_t channel, float *taps)
{
    const mw__winograd *w = &s->w;
    const int64_t inputs = w->shape.inputs, outputs = w->shape.outputs, width = w->code->width;
    const int64_t here = mw__i64_clamp(outputs - first, 0, width);
    float turned[TAPS * WIDTH];
    if (here == 0) {
        memset(taps, 0, (size_t)(TAPS * width) * sizeof *taps);
        return;
    }
    if (!s->transposed) {
        w->turn->transpose(weight + (first * inputs + channel) * TAPS, inputs * TAPS, here, TAPS, width, taps, width);
        return;
    }
    w->turn->transpose(weight + (channel * outputs + first) * TAPS, TAPS, here, TAPS, width, turned, width);
    for (int t = 0; t < TAPS; t++)
        memcpy(taps + t * width, turned + (TAPS - 1 - t) * width, (size_t)width * sizeof *taps);
}

/* A unit is a panel. */
static void weight_run(const mw__kernel_call *call)
{
    const weight_block *s = call->block;
    const mw__winograd *w = &s->w;
    for (int64_t panel = call->begin; panel < call->end; panel++) {
        float *const out = (float *)call->out[0] + panel * w->pairs * w->weight_point;
        for (int64_t channel = 0; channel < w->shape.inputs; channel++)
            for (int64_t v = 0; v < w->columns; v += w->code->width) {
                float taps[TAPS * WIDTH];
                read_taps(s, call->in[0], panel * w->columns + v, channel, taps);
                w->form->weight(taps, w->weight_point, out + channel * w->columns + v);
            }
    }
}

uint32_t mw__winograd_plan_weight(mw__planner *planner, const mw__winograd *w, const mw__packed_request *request)
{
    weight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return 0;
    *s = (weight_block){.w = *w, .transposed = request->transposed};
    const size_t size = (size_t)(w->panels * w->pairs * w->weight_point) * sizeof(float);
    const uint32_t from = mw__conv_operand(planner, request->weight), values = mw__plan_temporary(planner, size);
    mw__step *step = mw__plan_step(planner, weight_run, "conv.winograd.weight", w->panels, mw__cost((double)size, 0.0));
    step->block = s;
    step->report.helper = true;
    step->prepares = true;
    mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    mw__step_write(planner, step, values, MW__WHOLE, 0);
    return values;
}
