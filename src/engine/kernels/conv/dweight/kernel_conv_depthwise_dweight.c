/* The gradient by the weight of convolutions whose groups have one input channel, with the planes of
 * kernel_conv_depthwise.c: dy gets the frame's pitch with zeros behind its rows, lanes sum over an example after
 * another, and are added up at the end; products of those zeros with what is not finite in x are part of it. Where
 * planes are read where they lie, the lanes are those of positions without a border, and its sums are in another order.
 * Groups are taken in blocks whose planes lie one after the other, and the planes that come next are fetched
 * beforehand.
 *
 * In the form for chips each example has a gradient of its own, a product of dy with the columns of x, and the lanes of
 * planes as they lie are those of that product. */
#include "base/number/integer.h"
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"
#include "engine/kernels/conv/kernel_conv_depthwise.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include <string.h>

#define GROUPS_MOST 32 /* of a block */

typedef struct dweight_block {
    mw__depthwise_frame frame;
    const mw__packed_flat *flat;    /* both NULL: planes are copied to frames */
    const mw__depthwise_bands *cut; /* in place of `flat` */
    mw__conv_window window;
    int64_t examples, groups, outputs;
    int64_t block, together; /* groups whose planes of an example are read one after the other; planes of frames */
    int64_t count;           /* positions of y with the frame's pitch */
    const int32_t *at;
    const mw__packed_code *code;
    bool has_bias;
} dweight_block;

static int64_t dy_floats(const dweight_block *s) { return s->count + MW__PACKED_SLACK; }
static int64_t sums_floats(const dweight_block *s) { return s->outputs * s->window.taps * s->code->width; }

/* dy with the frame's pitch; what is behind its rows is zero already. */
static void spread_dy(const dweight_block *s, const float *dy, float *out)
{
    for (int64_t row = 0; row < s->window.out[1]; row++, dy += s->window.out[2], out += s->frame.pitch)
        memcpy(out, dy, (size_t)s->window.out[2] * sizeof *out);
}

static const float *dy_of(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t channel)
{
    return mw__depthwise_plane(call->in[1], (n * s->groups * s->outputs + channel) * s->window.area_out);
}

static const float *x_of(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t group)
{
    return mw__depthwise_plane(call->in[0], (n * s->groups + group) * s->window.area_in);
}

/* Groups [unit, unit + count) of an example, whose frames are filled before the first of them is read; those of groups
 * from `next` of example `then` on come after them. */
static void add_frames(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t count,
                       int64_t then, int64_t next, float *sums)
{
    float *const frames = call->scratch, *const dys = frames + s->together * s->frame.floats;
    for (int64_t i = 0; i < count; i++)
        mw__depthwise_fill_frame(&s->frame, s->code, x_of(s, call, n, unit + i), 0, x_of(s, call, then, next + i),
                                 frames + i * s->frame.floats);
    for (int64_t o = 0; o < s->outputs; o++) {
        for (int64_t i = 0; i < count; i++) {
            mw__depthwise_ask_for(dy_of(s, call, then, (next + i) * s->outputs + o), s->window.area_out);
            spread_dy(s, dy_of(s, call, n, (unit + i) * s->outputs + o), dys + i * dy_floats(s));
        }
        for (int64_t i = 0; i < count; i++)
            s->code->dots(s->window.taps, s->at, frames + i * s->frame.floats, dys + i * dy_floats(s), s->count,
                          sums + i * sums_floats(s) + o * s->window.taps * s->code->width);
    }
}

/* A plane as it lies, or bands of it, where the next is the one that comes behind it. */
static void add_plane(const dweight_block *s, const float *x, const float *dy, const mw__packed_next *next, float *sums)
{
    if (s->flat != NULL)
        s->code->flat_dots(s->flat, x, dy, next, sums);
    for (int b = 0; s->cut != NULL && b < 3; b++) {
        const int64_t floats = s->cut->band[b].rows * s->window.out[2];
        for (int64_t k = 0; k < s->cut->band[b].times; k++) {
            const int64_t at = s->cut->band[b].row * s->window.out[2] + k * floats;
            const mw__packed_next behind = {.x = mw__depthwise_plane(x, at + floats),
                                            .dy = mw__depthwise_plane(dy, at + floats)};
            s->code->flat_dots(&s->cut->band[b].flat, x + at, dy + at, &behind, sums);
        }
    }
}

static void add_flat(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t count,
                     float *sums)
{
    const int64_t after = mw__i64_min(n + 1, s->examples - 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t o = 0; o < s->outputs; o++) {
            const bool last = i + 1 == count;
            const int64_t then = last ? after : n, group = last ? unit : unit + i + 1;
            const mw__packed_next next = {.x = x_of(s, call, then, group),
                                          .dy = dy_of(s, call, then, group * s->outputs + o)};
            add_plane(s, x_of(s, call, n, unit + i), dy_of(s, call, n, (unit + i) * s->outputs + o), &next,
                      sums + i * sums_floats(s) + o * s->window.taps * s->code->width);
        }
}

/* One example of groups [unit, end). */
static void add_example(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t end,
                        float *sums)
{
    for (int64_t c = unit * s->outputs; s->has_bias && c < end * s->outputs; c++)
        ((float *)call->out[1])[c] += mw__lanes_sum(dy_of(s, call, n, c), s->window.area_out);
    if (s->flat != NULL || s->cut != NULL) {
        add_flat(s, call, n, unit, end - unit, sums);
        return;
    }
    for (int64_t at = unit; at < end; at += s->together) {
        const int64_t after = at + s->together;
        add_frames(s, call, n, at, mw__i64_min(s->together, end - at),
                   after < end ? n : mw__i64_min(n + 1, s->examples - 1), after < end ? after : unit,
                   sums + (at - unit) * sums_floats(s));
    }
}

/* MW__PACKED_FEW examples of planes of one vector, in the order of add_example. */
static void add_few(const dweight_block *s, const mw__kernel_call *call, int64_t n, int64_t unit, int64_t end,
                    float *sums)
{
    for (int64_t i = n; s->has_bias && i < n + MW__PACKED_FEW; i++)
        for (int64_t c = unit; c < end; c++)
            ((float *)call->out[1])[c] += mw__lanes_sum(dy_of(s, call, i, c), s->window.area_out);
    for (int64_t c = unit; c < end; c++)
        s->code->flat_few_dots(s->flat, x_of(s, call, n, c), s->groups * s->window.area_in, dy_of(s, call, n, c),
                               s->groups * s->window.area_out, sums + (c - unit) * sums_floats(s));
}

static void add_examples(const dweight_block *s, const mw__kernel_call *call, int64_t unit, int64_t end, float *sums)
{
    const bool few = s->flat != NULL && s->outputs == 1 && mw__packed_is_few(s->code, s->flat);
    int64_t n = 0;
    for (; few && n + MW__PACKED_FEW <= s->examples; n += MW__PACKED_FEW)
        add_few(s, call, n, unit, end, sums);
    for (; n < s->examples; n++)
        add_example(s, call, n, unit, end, sums);
}

/* A unit is a group. */
static void depthwise_dweight_run(const mw__kernel_call *call)
{
    const dweight_block *s = call->block;
    const int64_t width = s->code->width, frames = s->together * s->frame.floats;
    float *const scratch = call->scratch, *const sums = scratch + frames + s->together * dy_floats(s);
    memset(scratch, 0, (size_t)(frames + s->together * dy_floats(s)) * sizeof *scratch);
    for (int64_t unit = call->begin, end; unit < call->end; unit = end) {
        end = mw__i64_min(unit + s->block, call->end);
        memset(sums, 0, (size_t)((end - unit) * sums_floats(s)) * sizeof *sums);
        for (int64_t c = unit * s->outputs; s->has_bias && c < end * s->outputs; c++)
            ((float *)call->out[1])[c] = 0.0f;
        add_examples(s, call, unit, end, sums);
        const int64_t results = s->outputs * s->window.taps;
        for (int64_t i = 0; i < (end - unit) * results; i++)
            ((float *)call->out[0])[unit * results + i] = mw__lanes_sum(sums + i * width, width);
    }
}

const char *mw__conv_dweight_depthwise_declines(const void *subject)
{
    const mw__conv_dweight_match *match = subject;
    const mw__conv_window window = mw__conv_window_of(&match->numbers);
    if (match->numbers.groups == 1 || mw__shape_of(match->dweight).dim[1] != 1)
        return "more than one input channel in a group";
    return mw__conv_is_plane(&window) && mw__depthwise_fits(&window)
               ? NULL
               : "three spatial axes, or a plane beyond its frames";
}

/* Whether planes can be read where they lie. */
static bool lies_flat(const mw__packed_code *code, const mw__conv_window *w)
{
    return w->stride[1] == 1 && w->stride[2] == 1 &&
           mw__depthwise_is_flat(code, w->in + 1, w->out[1], w->out[2], w->taps);
}

static const mw__depthwise_bands *cut_planes(mw__planner *planner, const mw__packed_code *code,
                                             const mw__conv_window *w)
{
    int64_t offset[MW__DEPTHWISE_TAPS][2], tap[3];
    if (w->stride[1] != 1 || w->stride[2] != 1 || w->in[2] != w->out[2])
        return NULL;
    for (int64_t t = 0; t < w->taps; t++) {
        mw__conv_tap(w, t, tap);
        memcpy(offset[t], tap + 1, sizeof offset[t]);
    }
    return mw__depthwise_cut(planner, code, w->in + 1, w->out[1], w->taps, (const int64_t(*)[2])offset);
}

/* NULL after a failed allocation. */
static mw__packed_flat *make_flat(mw__planner *planner, const mw__packed_code *code, const mw__conv_window *w)
{
    const int64_t vectors = mw__depthwise_vectors(w->area_out, code);
    mw__packed_flat *const flat = mw__plan_block(planner, sizeof *flat);
    uint16_t *const mask = mw__plan_block(planner, (size_t)(vectors * w->taps) * sizeof *mask);
    int32_t *const at = mw__plan_block(planner, (size_t)w->taps * sizeof *at);
    if (flat == NULL || mask == NULL || at == NULL)
        return NULL;
    *flat = (mw__packed_flat){.taps = w->taps, .count = w->area_out, .inside = w->area_in, .at = at, .mask = mask};
    for (int64_t t = 0; t < w->taps; t++) {
        int64_t offset[3];
        mw__conv_tap(w, t, offset);
        mw__depthwise_fill_flat(code, w->in + 1, w->area_out, offset + 1, &at[t], mask + t * vectors);
    }
    return flat;
}

static void fill_dweight(mw__planner *planner, const mw__conv_dweight_match *match, dweight_block *s)
{
    *s = (dweight_block){.window = mw__conv_window_of(&match->numbers), .groups = match->numbers.groups};
    const mw__conv_window *w = &s->window;
    int64_t low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = -w->before[i + 1], high[i] = low[i] + (w->kernel[i + 1] - 1) * w->dilation[i + 1];
        low[i] = mw__depthwise_begin(low[i], w->stride[i + 1]);
    }
    s->frame = mw__depthwise_frame_of(w->in + 1, w->stride + 1, w->out + 1, low, high);
    s->examples = mw__shape_of(match->x).dim[0], s->outputs = mw__shape_of(match->dweight).dim[0] / s->groups;
    s->count = (w->out[1] - 1) * s->frame.pitch + w->out[2];
    s->code = mw__packed_code_of(mw__plan_level(planner));
    s->has_bias = match->dbias != NULL;
    int32_t *const at = mw__plan_block(planner, (size_t)w->taps * sizeof *at);
    s->at = at;
    for (int64_t t = 0; at != NULL && t < w->taps; t++) {
        int64_t offset[3];
        mw__conv_tap(w, t, offset);
        at[t] = mw__depthwise_place_of(&s->frame, offset[1], offset[2]);
    }
    s->cut = cut_planes(planner, s->code, w);
    s->flat = s->cut == NULL && lies_flat(s->code, w) ? make_flat(planner, s->code, w) : NULL;
    s->block =
        mw__i64_max(1, mw__i64_min(GROUPS_MOST, 2 * MW__DEPTHWISE_NEAR / mw__i64_max(w->area_in, sums_floats(s))));
    s->together = s->flat != NULL || s->cut != NULL
                      ? 0
                      : mw__i64_max(1, mw__i64_min(8, MW__DEPTHWISE_NEAR / (s->frame.floats + dy_floats(s))));
}

mw_status mw__plan_conv_dweight_depthwise(mw__planner *planner, const mw__conv_dweight_match *match, mw_error *err)
{
    dweight_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    fill_dweight(planner, match, s);
    const double flops = 2.0 * (double)mw__count_of(match->dy) * (double)s->window.taps;
    mw__step *step = mw__plan_step(planner, depthwise_dweight_run, "conv.dweight", s->groups, 0.05 * flops);
    step->block = s;
    step->report.flops = flops;
    step->scratch =
        (size_t)(s->together * (s->frame.floats + dy_floats(s)) + s->block * sums_floats(s)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dweight), MW__ROWS,
                   (size_t)(s->outputs * s->window.taps) * sizeof(float));
    if (match->dbias != NULL)
        mw__step_write(planner, step, mw__plan_buffer(planner, match->dbias), MW__ROWS,
                       (size_t)s->outputs * sizeof(float));
    return mw__plan_check(planner, err);
}

/* ---- of each example by itself ---- */

typedef struct dots_block {
    mw__packed_flat *flat;
    int64_t units, area_in;
    const mw__packed_code *code;
    mw__loop1 *round; /* or NULL */
} dots_block;

/* A unit is a group of an example. */
static void dots_run(const mw__kernel_call *call)
{
    const dots_block *s = call->block;
    const int64_t taps = s->flat->taps, rest = s->flat->count % s->code->width;
    float *const sums = call->scratch, *const out = call->out[0];
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const float *const x = mw__depthwise_plane(call->in[0], unit * s->area_in);
        const float *const dy = mw__depthwise_plane(call->in[1], unit * s->flat->count);
        const int64_t more = unit + 1 < s->units;
        const mw__packed_next next = {.x = x + more * s->area_in, .dy = dy + more * s->flat->count};
        memset(sums, 0, (size_t)(taps * s->code->width) * sizeof *sums);
        s->code->flat_dots(s->flat, x, dy, &next, sums);
        s->code->totals(taps, rest, sums, out + unit * taps);
    }
    if (s->round != NULL)
        s->round(out + call->begin * taps, out + call->begin * taps, (call->end - call->begin) * taps, 0, 0);
}

const char *mw__conv_depthwise_dots_decline(const mw__packed_request *r, mw__level level)
{
    const mw__conv_window *w = &r->window;
    const mw__packed_code *code = mw__packed_code_of(level);
    if (r->dy == NULL || !mw__conv_is_plane(w) || !mw__depthwise_fits(w))
        return "no gradient of a plane by the weight, three spatial axes, or a plane beyond its frames";
    if (code->totals == NULL)
        return "no code for planes where they lie";
    return lies_flat(code, w) ? NULL : "a stride, or rows of another length";
}

mw_status mw__plan_conv_depthwise_dots(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    const mw__conv_window *w = &r->window;
    dots_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    *s = (dots_block){.units = mw__shape_of(r->x).dim[0] * r->groups,
                      .area_in = w->area_in,
                      .code = mw__packed_code_of(mw__plan_level(planner)),
                      .round = r->columns->round};
    s->flat = make_flat(planner, s->code, w);
    const double flops = 2.0 * (double)(s->units * w->area_out * w->taps);
    mw__step *step = mw__plan_step(planner, dots_run, r->columns->label, s->units, 0.05 * flops);
    step->block = s;
    step->rounds = true;
    step->report.flops = flops;
    step->scratch = (size_t)(w->taps * s->code->width) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, r->x), MW__ROWS, (size_t)w->area_in * sizeof(float), false);
    mw__step_read(planner, step, mw__plan_buffer(planner, r->dy), MW__ROWS, (size_t)w->area_out * sizeof(float), false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__ROWS, (size_t)w->taps * sizeof(float));
    return mw__plan_check(planner, err);
}
