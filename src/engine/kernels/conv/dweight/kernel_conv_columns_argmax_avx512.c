/* The gradient by the weight in the form for chips (dweight/dweight_packed_chip.c) where a pooling follows the
 * convolution: of each of its windows one element of dy, or none, is not zero, and those are listed in the order of
 * their positions. Sums, blocks and what is rounded are those of the dense form, so that no bit changes: products of
 * fp16 numbers are never so small that a zero which is left out would change the sign of a sum. Where x is not finite
 * the zeros are listed, too, as 0 * inf is not 0. */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/dweight/kernel_conv_dweight.h"
#include "engine/kernels/conv/kernel_conv_columns_avx512.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/pattern_avx512.h"
#include "engine/kernels/pool/kernel_pool_argmax_avx512.h"

#include <string.h>

#define CHANNELS_LEAST 8 /* lanes of 16 that pay */
#define FRAME          131072

typedef struct argmax_block {
    mw__conv_window window;
    int64_t examples, groups, inputs, outputs; /* channels of a group */
    int64_t lanes, rows, columns;              /* of a position of the frame; positions */
    int64_t sums;                              /* floats of those of one output channel */
    int64_t share, shares;                     /* output channels of a unit, and units of a group */
    mw__columns_avx512 numbers;                /* its channels, depth and tap alone */
    mw__argmax_windows pooling;
    mw__argmax_places places;
    const int32_t *where;         /* [positions]: in the frame */
    mw__loop1 *round, *round_all; /* of the sums of an example, of all; NULL: none */
} argmax_block;

/* A partition's scratch. */
typedef struct argmax_scratch {
    float *frame, *plane;    /* plane: of dy, where all of it is listed */
    float *one, *sums;       /* [share, taps, lanes]: of an example, of all */
    mw__argmax_list list[2]; /* of one channel and of the next */
} argmax_scratch;

static int64_t frame_floats(const argmax_block *s) { return s->rows * s->columns * s->lanes; }

static size_t scratch_bytes(const argmax_block *s)
{
    return (size_t)(frame_floats(s) + mw__i64_round_up(s->window.area_out, LANES) + 2 * s->share * s->sums) *
               sizeof(float) +
           2 * mw__argmax_list_bytes(&s->pooling);
}

static argmax_scratch divide_scratch(const argmax_block *s, void *memory)
{
    argmax_scratch out = {.frame = memory};
    out.plane = out.frame + frame_floats(s);
    out.one = out.plane + mw__i64_round_up(s->window.area_out, LANES);
    out.sums = out.one + s->share * s->sums;
    out.list[0] = mw__argmax_list_in(&s->pooling, out.sums + s->share * s->sums);
    out.list[1] = mw__argmax_list_in(&s->pooling, out.list[0].d + mw__argmax_list_bytes(&s->pooling) / sizeof(float));
    return out;
}

/* The channels of a group to the frame, whose border is zero. */
static void fill_frame(const argmax_block *s, const float *x, float *frame)
{
    const mw__conv_window *w = &s->window;
    const int64_t lines = mw__i64_min(w->in[1], s->rows - w->before[1]),
                  width = mw__i64_min(w->in[2], s->columns - w->before[2]);
    for (int64_t y = 0; y < lines; y++)
        for (int64_t c = 0; c < s->inputs; c += LANES)
            mw__columns_avx512_transpose(
                x + c * w->area_in + y * w->in[2], mw__i64_min(LANES, s->inputs - c), w->area_in, width,
                frame + ((y + w->before[1]) * s->columns + w->before[2]) * s->lanes + c, s->lanes);
}

/* The sums of one channel and example, anew for each block of positions. */
static void sum_list(const argmax_block *s, mw__columns_listed all, int64_t count)
{
    const int64_t positions = s->window.area_out;
    mw__columns_listed part = all;
    for (int64_t begin = 0, first = 0; begin < positions; begin += MW__COLUMNS_BLOCK, first += part.count) {
        const int64_t end = begin + MW__COLUMNS_BLOCK;
        part.d = all.d + first, part.at = all.at + first, part.count = count - first, part.add = begin > 0;
        for (int64_t i = 0; end < positions && i < part.count; i++)
            if (part.at[i] >= s->where[end])
                part.count = i;
        mw__columns_sum_listed(&s->numbers, &part);
    }
}

/* What a unit reads and where its sums go. */
typedef struct argmax_unit {
    int64_t group, first, outputs; /* output channels of the group */
    const float *x, *dy;
    const uint8_t *argmax;
    const argmax_scratch *scratch;
} argmax_unit;

/* All positions of one channel, with their zeros. */
static void sum_dense(const argmax_block *s, const argmax_unit *u, int64_t plane, float *sums)
{
    float *const d = u->scratch->plane;
    memset(d, 0, (size_t)s->window.area_out * sizeof *d);
    mw__unpool(&s->pooling, u->dy + plane * s->pooling.count, u->argmax + plane * s->pooling.count, d,
               s->pooling.in[1]);
    sum_list(s, (mw__columns_listed){.d = d, .at = s->where, .frame = u->scratch->frame, .sums = sums},
             s->window.area_out);
}

/* The sums of an example, [outputs of the unit, taps, lanes]. A list is made while the one before it is on its way to
 * memory: what has just been stored is slow to read. */
static void sum_example(const argmax_block *s, const argmax_unit *u, int64_t n, float *sums)
{
    const int64_t first = (n * s->groups + u->group) * s->outputs + u->first, windows = s->pooling.count;
    const float *const x = u->x + (n * s->groups + u->group) * s->inputs * s->window.area_in;
    const bool finite = mw__columns_is_finite(x, s->inputs * s->window.area_in);
    fill_frame(s, x, u->scratch->frame);
    for (int64_t o = 0, listed = 0; finite && o <= u->outputs; o++) {
        const int64_t before = listed, plane = first + o;
        const mw__argmax_list *made = &u->scratch->list[o % 2], *ready = &u->scratch->list[(o + 1) % 2];
        if (o < u->outputs)
            listed = mw__argmax_collect_in_order(&s->pooling, &s->places, u->dy + plane * windows,
                                                 u->argmax + plane * windows, made);
        if (o > 0)
            sum_list(s,
                     (mw__columns_listed){
                         .d = ready->d, .at = ready->at, .frame = u->scratch->frame, .sums = sums + (o - 1) * s->sums},
                     before);
    }
    for (int64_t o = 0; !finite && o < u->outputs; o++)
        sum_dense(s, u, first + o, sums + o * s->sums);
}

/* Adds the sums of an example. */
static void add_example(const argmax_block *s, const argmax_unit *u)
{
    const int64_t floats = u->outputs * s->sums;
    float *const one = u->scratch->one, *const sums = u->scratch->sums;
    if (s->round != NULL)
        s->round(one, one, floats, 0, 0);
    MW__VECTORIZE for (int64_t i = 0; i < floats; i++) sums[i] += one[i];
}

/* A unit: [groups, shares]. */
static void argmax_run(const mw__kernel_call *call)
{
    const argmax_block *s = call->block;
    const argmax_scratch scratch = divide_scratch(s, call->scratch);
    memset(scratch.frame, 0, (size_t)frame_floats(s) * sizeof(float));
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        argmax_unit u = {.group = unit / s->shares, .first = unit % s->shares * s->share, .scratch = &scratch};
        u.x = call->in[0], u.dy = call->in[1], u.argmax = call->in[2];
        u.outputs = mw__i64_min(s->share, s->outputs - u.first);
        memset(scratch.sums, 0, (size_t)(u.outputs * s->sums) * sizeof(float));
        for (int64_t n = 0; n < s->examples; n++) {
            sum_example(s, &u, n, scratch.one);
            add_example(s, &u);
        }
        if (s->round_all != NULL)
            s->round_all(scratch.sums, scratch.sums, u.outputs * s->sums, 0, 0);
        for (int64_t o = 0; o < u.outputs; o++)
            mw__columns_put_sums(&s->numbers, scratch.sums + o * s->sums,
                                 (float *)call->out[0] + (u.group * s->outputs + u.first + o) * s->numbers.depth);
    }
}

/* ---- planning ---- */

static void read_block(const mw__conv_dweight_match *match, const mw__op *pool, int partitions, argmax_block *s)
{
    const mw_shape x = mw__shape_of(match->x);
    *s = (argmax_block){.window = mw__conv_window_of(&match->numbers), .groups = match->numbers.groups};
    const mw__conv_window *w = &s->window;
    s->examples = x.dim[0];
    s->inputs = x.dim[1] / s->groups, s->outputs = mw__shape_of(match->dy).dim[1] / s->groups;
    s->lanes = mw__i64_round_up(s->inputs, LANES);
    s->rows = (w->out[1] - 1) * w->stride[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
    s->columns = (w->out[2] - 1) * w->stride[2] + (w->kernel[2] - 1) * w->dilation[2] + 1;
    s->sums = w->taps * s->lanes;
    const int64_t parts = (partitions + s->groups - 1) / s->groups;
    s->share = (s->outputs + parts - 1) / parts;
    s->shares = (s->outputs + s->share - 1) / s->share;
    s->pooling = mw__argmax_windows_of(pool);
}

bool mw__conv_columns_argmax_avx512(const mw__conv_columns_dweight_match *match, const mw__op *pool,
                                    const mw__config *config, int partitions)
{
    argmax_block s;
    read_block(&match->dweight, pool, partitions, &s);
    const mw__conv_window *w = &s.window;
    return mw__conv_is_plane(w) && s.inputs >= CHANNELS_LEAST && w->before[1] <= s.rows && w->before[2] <= s.columns &&
           s.columns <= FRAME / s.lanes && s.rows <= FRAME / s.lanes / s.columns &&
           mw__conv_columns_dweight_in_order(match, config, partitions);
}

static void fill_places(mw__planner *planner, argmax_block *s)
{
    const mw__conv_window *w = &s->window;
    const int64_t right = w->stride[2] * s->lanes, down = w->stride[1] * s->columns * s->lanes;
    int32_t *const where = mw__plan_block(planner, (size_t)w->area_out * sizeof *where);
    int32_t *const tap = mw__plan_block(planner, (size_t)w->taps * sizeof *tap);
    for (int64_t p = 0; where != NULL && p < w->area_out; p++)
        where[p] = (int32_t)(p / w->out[2] * down + p % w->out[2] * right);
    for (int64_t t = 0; tap != NULL && t < w->taps; t++)
        tap[t] = (int32_t)(t / w->kernel[2] * w->dilation[1] * s->columns + t % w->kernel[2] * w->dilation[2]);
    s->places = mw__argmax_places_of(planner, &s->pooling, right, down);
    s->where = where;
    s->numbers = (mw__columns_avx512){.channels = s->inputs, .depth = s->inputs * w->taps, .tap = tap};
}

mw_status mw__plan_conv_columns_argmax(mw__planner *planner, const mw__conv_columns_argmax_match *match, mw_error *err)
{
    argmax_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    const mw__conv_columns_dweight_match *columns = &match->columns;
    const mw__level level = mw__plan_level(planner);
    read_block(&columns->dweight, match->source->pool, mw__plan_partitions(planner), s);
    fill_places(planner, s);
    s->round = mw__round_loop(level, mw__plan_rounds(planner, columns->each));
    s->round_all = mw__round_loop(level, mw__plan_rounds(planner, columns->result));
    const double listed = (double)(s->examples * s->groups * s->outputs * s->pooling.count);
    mw__step *step = mw__plan_step(planner, argmax_run, "conv.columns.dweight.argmax", s->groups * s->shares,
                                   listed * (0.5 + 0.15 * (double)(s->sums / LANES)));
    step->block = s;
    step->rounds = true;
    step->scratch = scratch_bytes(s);
    mw__step_read(planner, step, mw__plan_buffer(planner, columns->dweight.x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->source->dy), MW__WHOLE, 0, false);
    mw__step_read(planner, step, *match->source->argmax, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, columns->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
