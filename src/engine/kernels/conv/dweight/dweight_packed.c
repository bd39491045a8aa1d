#include "engine/kernels/conv/dweight/dweight_packed.h"

#include <string.h>

mw__dweight_unit mw__dweight_unit_of(const mw__packed_dweight *s, int64_t index)
{
    mw__dweight_unit u = {.part = index / s->ranges / s->groups,
                          .group = index / s->ranges % s->groups,
                          .panel = index % s->ranges * s->share};
    u.panels = mw__i64_min(s->share, s->input_panels - u.panel);
    return u;
}

/* Sums of a tile: [panels, output panels, taps, rows, lanes]. */
int64_t mw__dweight_tile_at(const mw__packed_dweight *s, const mw__dweight_panel *p, int64_t o, int64_t tap)
{
    const int64_t taps = mw__dweight_taps_of_plane(s);
    return ((p->panel * s->output_panels + o) * s->window.kernel[0] * taps + p->plane * taps + tap) *
           mw__dweight_tile_floats(s);
}

const float *mw__dweight_frame_under(const mw__packed_dweight *s, const mw__dweight_panel *p, int64_t tap)
{
    const mw__conv_window *w = &s->window;
    const int64_t y = tap / w->kernel[2] * w->dilation[1], x = tap % w->kernel[2] * w->dilation[2];
    return p->frame + (y * s->cut.columns + x) * s->lanes;
}

/* A tile under a tap. */
static void add_tap(const mw__packed_dweight *s, const mw__dweight_chunk *c, const mw__dweight_panel *p, int64_t o,
                    int64_t tap, bool add, float *sums)
{
    const mw__conv_places *places = &s->places[p->fewer ? 1 + tap : 0];
    const float *dy = p->dy + o * mw__dweight_positions(s) * s->rows, *frame = mw__dweight_frame_under(s, p, tap);
    const int64_t lines = c->rows * s->cut.width;
    if (p->runs == 0)
        p->run(0, dy, frame, places->at, sums, add);
    for (int64_t i = 0; i < p->runs; i++) {
        const mw__dweight_images *images = &p->images[i];
        const mw__places_run each = mw__conv_places_of(places, &s->cut, c->row, c->rows, images->begin, 0, lines);
        p->run((images->end - images->begin) * each.count, dy, frame, each.at, sums, add || i > 0);
    }
}

/* The memory of a chunk behind the sums of a unit. */
mw__dweight_panel mw__dweight_begin_chunk(const mw__packed_dweight *s, mw__dweight_images *images, float *sums)
{
    float *const dy = sums + mw__dweight_sums_floats(s);
    return (mw__dweight_panel){
        .dy = dy, .frame = dy + mw__i64_round_up(mw__dweight_dy_floats(s), 16), .images = images};
}

static void add_chunk(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u,
                      const mw__dweight_chunk *c, bool add, float *sums)
{
    mw__dweight_images images[MW__DWEIGHT_POSITIONS];
    mw__dweight_panel p = mw__dweight_begin_chunk(s, images, sums);
    p.fewer = mw__dweight_pack_finite(s, call, u, c, p.dy);
    for (; p.panel < u->panels; p.panel++)
        for (p.plane = 0; p.plane < s->window.kernel[0]; p.plane++) {
            mw__dweight_pack_x(s, call, u, c, &p);
            for (int64_t o = 0; o < s->output_panels; o++)
                for (int64_t t = 0; t < mw__dweight_taps_of_plane(s); t++)
                    add_tap(s, c, &p, o, t, add, sums + mw__dweight_tile_at(s, &p, o, t));
        }
}

/* The sums to their places in dweight [groups outputs, inputs, taps]. */
void mw__dweight_put_sums(const mw__packed_dweight *s, const mw__dweight_unit *u, const float *sums, float *out)
{
    const int64_t taps = s->window.taps;
    for (int64_t p = 0; p < u->panels; p++)
        for (int64_t o = 0; o < s->output_panels * s->rows; o++) {
            const int64_t first = (u->panel + p) * s->lanes, channels = mw__i64_min(s->lanes, s->inputs - first);
            const float *from = sums + (p * s->output_panels + o / s->rows) * taps * mw__dweight_tile_floats(s) +
                                o % s->rows * s->lanes;
            float *to = out + ((u->group * s->outputs + o) * s->inputs + first) * taps;
            for (int64_t c = 0; o < s->outputs && c < channels; c++)
                for (int64_t t = 0; t < taps; t++)
                    *to++ = from[t * mw__dweight_tile_floats(s) + c] + 0.0f; /* no -0, whatever zeros were left out */
        }
}

/* The sums of dy, in the unit that has the first channels of its group. */
static void put_bias(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u, float *out)
{
    const int64_t area = s->window.area_out, parts = s->parts.parts;
    const int64_t begin = s->examples * u->part / parts, end = s->examples * (u->part + 1) / parts;
    memset(out + u->group * s->outputs, 0, (size_t)s->outputs * sizeof *out);
    for (int64_t n = begin; n < end; n++) {
        const int64_t first = (n * s->groups + u->group) * s->outputs;
        s->plane((const float *)call->in[1] + first * area, s->outputs, area, out + u->group * s->outputs);
    }
}

/* A unit: [parts, groups, ranges of input panels]. */
static void packed_dweight_run(const mw__kernel_call *call)
{
    const mw__packed_dweight *s = call->block;
    float *const sums = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const mw__dweight_unit u = mw__dweight_unit_of(s, unit);
        const int64_t begin = s->chunks * u.part / s->parts.parts, end = s->chunks * (u.part + 1) / s->parts.parts;
        float *const out = (float *)call->out[0] + u.part * s->parts.stride;
        for (int64_t i = begin; i < end; i++) {
            const mw__dweight_chunk c = mw__dweight_chunk_of(s, i);
            add_chunk(s, call, &u, &c, i > begin, sums);
        }
        mw__dweight_put_sums(s, &u, sums, out);
        if (s->parts.biases > 0 && u.panel == 0)
            put_bias(s, call, &u, s->parts.parts > 1 ? out + s->parts.weights : call->out[1]);
    }
}

/* ---- planning ---- */

/* Straight into the results, or into parts that are added up. */
static void plan_results(mw__planner *planner, const mw__packed_dweight *s, mw__step *step,
                         const mw__conv_dweight_match *match)
{
    if (s->parts.parts == 1) {
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__WHOLE, 0);
        if (match->dbias != NULL)
            mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__WHOLE, 0);
        return;
    }
    const size_t size = (size_t)s->parts.stride * sizeof(float);
    const uint32_t partial = mw__plan_temporary(planner, size * (size_t)s->parts.parts);
    mw__step_write(planner, step, partial, MW__WHOLE, 0);
    mw__dweight_plan_sums(planner, &s->parts, partial, match);
}

mw_status mw__plan_conv_dweight_packed(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    mw__packed_dweight *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    mw__dweight_fill(planner, match, s);
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)s->inputs * (double)s->window.taps;
    mw__step *step = mw__plan_step(planner, packed_dweight_run, "conv.dweight", s->parts.parts * s->groups * s->ranges,
                                   0.02 * flops);
    step->block = s;
    step->report.flops = flops;
    step->scratch = (size_t)(mw__dweight_sums_floats(s) + mw__dweight_chunk_floats(s)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    plan_results(planner, s, step, match);
    return mw__plan_check(planner, err);
}
