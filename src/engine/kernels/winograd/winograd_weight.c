/* The weight's values at pairs of points (winograd.h), and its frames. */
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_weights.h"
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

/* ---- numbers ---- */

static const mw__winograd_code *code_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return &mw__winograd_avx512;
#endif
#if defined(__x86_64__)
    if (level >= MW__LEVEL_AVX2)
        return &mw__winograd_avx2;
#endif
    (void)level;
    return &mw__winograd_base;
}

#define APART 16 /* floats, so that pairs of points are not at the same place of the caches */

void mw__winograd_init(mw__winograd *w, const mw__planner *planner, const mw__packed_request *r)
{
    const mw__conv_window *window = &r->window;
    const mw_shape x = mw__shape_of(r->x), y = mw__shape_of(r->result);
    *w = (mw__winograd){.shape = {.examples = x.dim[0], .inputs = x.dim[1], .outputs = y.dim[1]}};
    for (int i = 0; i < 2; i++) {
        w->shape.in[i] = r->transposed ? window->out[i + 1] : window->in[i + 1];
        w->shape.out[i] = r->transposed ? window->in[i + 1] : window->out[i + 1];
        w->shape.before[i] = r->transposed ? 2 - window->before[i + 1] : window->before[i + 1];
    }
    w->code = code_of(mw__plan_level(planner));
    w->form = &w->code->form[mw__winograd_side(r) == 2];
    w->turn = mw__packed_code_of(mw__plan_level(planner));
    w->set = mw__gemm_set_of(mw__plan_config(planner));
    w->pairs = w->form->points * w->form->points;
    w->columns = w->set->columns;
    w->panels = mw__i64_divide_up(w->shape.outputs, w->columns);
    w->weight_point = w->shape.inputs * w->columns + APART;
}

/* ---- frames ---- */

mw__winograd_cut mw__winograd_cut_of(const int64_t out[2], int64_t side, int64_t most)
{
    mw__winograd_cut cut = {.side = side, .tiles = mw__i64_divide_up(out[1], side), .down = mw__i64_divide_up(out[0], side)};
    cut.across = mw__i64_divide_up(cut.tiles, most);
    cut.strip = mw__i64_divide_up(cut.tiles, cut.across);
    cut.across = mw__i64_divide_up(cut.tiles, cut.strip);
    return cut;
}

mw__winograd_strip mw__winograd_strip_of(const mw__winograd_cut *cut, int64_t at)
{
    const int64_t first = at % cut->across * cut->strip;
    return (mw__winograd_strip){.example = at / cut->across / cut->down,
                                .row = at / cut->across % cut->down * cut->side,
                                .column = first * cut->side,
                                .tiles = mw__i64_min(cut->strip, cut->tiles - first)};
}

/* A vector of planes, of which `here` are there, to the frame. */
static void read_planes(const mw__winograd *w, const mw__winograd_planes *of, const float *planes, int64_t here,
                        float *frame)
{
    const int64_t width = w->code->width, left = of->from[1], area = of->extent[0] * of->extent[1];
    const int64_t low = mw__i64_clamp(-left, 0, of->columns), high = mw__i64_clamp(of->extent[1] - left, low, of->columns);
    for (int64_t i = 0; i < of->rows; i++, frame += of->columns * width) {
        const int64_t row = of->from[0] + i;
        const bool inside = row >= 0 && row < of->extent[0] && high > low;
        const int64_t begin = inside ? low : 0, end = inside ? high : 0;
        memset(frame, 0, (size_t)(begin * width) * sizeof *frame);
        if (inside)
            w->turn->transpose(planes + row * of->extent[1] + left + low, area, here, high - low, width,
                               frame + low * width, width);
        memset(frame + end * width, 0, (size_t)((of->columns - end) * width) * sizeof *frame);
    }
}

void mw__winograd_take(const mw__winograd *w, const mw__winograd_planes *of, int64_t tiles, float *frame, float *out,
                       int64_t point, int64_t tile)
{
    const int64_t width = w->code->width, area = of->extent[0] * of->extent[1];
    const float *rows[MW__WINOGRAD_POINTS];
    for (int64_t i = 0; i < of->rows; i++)
        rows[i] = frame + i * of->columns * width;
    for (int64_t c = 0; c < of->channels; c += width) {
        read_planes(w, of, of->planes + c * area, mw__i64_min(width, of->channels - c), frame);
        of->values(rows, tiles, out + c, point, tile);
    }
}
