/* The packed convolution (kernel_conv_packed.h) of small images, whose lanes are examples in place of positions: every
 * position is a product of its own, which leaves out what lies in the border; of images of 4 x 4 under kernels of 3 x 3
 * that is a third. x is transposed to [panels of examples, channels, positions, lanes] by a step of its own, and for
 * each position the taps that reach it are listed (mw__packed_place), MW__PACKED_DEPTH of i at a time.
 *
 * Sums begin at +0 and a bias is added: what is left out changes no bit unless a weight is not finite or a bias is -0
 * (underflow makes sums of -0). Panels with such are multiplied one by one, with zeros. */
#include "base/number/bits.h"
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_places.h"
#include "engine/kernels/conv/kernel_conv_weights.h"

#include <string.h>

#define POSITIONS   64     /* of an image of y, at most */
#define AREA        224    /* of x, so that places are 16 bits */
#define EXAMPLES    32     /* lanes of the widest panel */
#define PLACES      262144 /* that are listed, at most */
#define TAPS        64     /* of a kernel */
#define COLUMNS     1024   /* of x, to be transposed by a unit */
#define MOST_OF_ALL 0.9    /* of the products of positions and lanes that are left, where it pays */

/* What a position takes of a block of i: from input channel `channel` on. */
typedef struct examples_list {
    const mw__packed_place *at;
    int32_t count, channel;
} examples_list;

typedef struct examples_block {
    mw__packed_weights w;
    int64_t examples, lanes, panels; /* panels: of examples */
    int64_t area_in, area_out;
    int64_t blocks;            /* of i */
    const examples_list *list; /* [blocks, positions] */
    const int32_t *grid;       /* [positions] */
    const int32_t *place;      /* [positions, taps]: the position of x, or -1; of taps of the grid, in their order */
    int64_t share, shares;     /* panels of outputs of a unit, and how many units they make */
    const mw__packed_finish *columns; /* or NULL */
    bool has_bias;
    mw__conv_finite *finite;
} examples_block;

/* ---- x ---- */

/* A unit: [panels of examples, parts of the columns]. */
static void transpose_run(const mw__kernel_call *call)
{
    const examples_block *s = call->block;
    const int64_t all = s->w.groups * s->w.inputs * s->area_in, parts = mw__i64_divide_up(all, COLUMNS);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t first = unit / parts * s->lanes, begin = unit % parts * COLUMNS;
        const int64_t count = mw__i64_min(COLUMNS, all - begin), width = s->w.code->width;
        for (int64_t lane = 0; lane < s->lanes; lane += width) {
            const int64_t left = s->examples - first - lane, rows = left < 0 ? 0 : mw__i64_min(width, left);
            s->w.code->transpose((const float *)call->in[0] + (rows > 0 ? (first + lane) * all + begin : 0), all, rows,
                                 count, width, (float *)call->out[0] + (first * all + begin * s->lanes) + lane,
                                 s->lanes);
        }
    }
}

/* ---- products ---- */

/* One panel of outputs by one of examples. */
typedef struct examples_tile {
    const float *x, *weight, *bias; /* of the group; bias: of the panel, or NULL */
    float *sums;                    /* [positions, rows, lanes] */
    float *part;                    /* [rows, lanes], and then zeros of a panel */
    float *y;                       /* the panel's first channel of the first example */
    int64_t panel, rows, count;     /* rows and lanes that are there */
} examples_tile;

static int64_t tile_floats(const examples_block *s) { return s->w.rows * s->lanes; }

static const float *weight_of(const examples_block *s, const examples_tile *t, int64_t position, int64_t channel)
{
    const mw__packed_grid *g = &s->w.grid[s->grid[position]];
    return t->weight + g->weights + (t->panel * g->depth + channel * g->taps) * s->w.rows;
}

/* The number of i with all taps of the kernel counted. */
static int64_t full_index(const examples_block *s, const mw__packed_grid *g, int64_t channel, int64_t tap)
{
    const int64_t element = g->tap[tap].element, taps = s->w.taps;
    return channel * taps + (s->w.transposed ? taps - 1 - element : element);
}

static void add_part(const examples_block *s, const examples_tile *t, float *sums)
{
    MW__VECTORIZE for (int64_t i = 0; i < tile_floats(s); i++) sums[i] += t->part[i];
}

/* A block of i of one position. Those of the form for chips begin anew and are added. */
static void add_block(const examples_block *s, const examples_tile *t, int64_t block, int64_t position)
{
    const examples_list *l = &s->list[block * s->area_out + position];
    mw__packed_sums *const run = s->w.code->sums[s->w.rows - 1][s->w.code->vectors - 1];
    const bool apart = s->columns != NULL && block > 0;
    float *const sums = t->sums + position * tile_floats(s);
    if (l->count == 0 && block > 0)
        return;
    run(l->count, weight_of(s, t, position, l->channel), t->x + l->channel * s->area_in * s->lanes, l->at,
        apart ? t->part : sums, block > 0 && !apart);
    if (apart)
        add_part(s, t, sums);
}

/* All of i of one position, one by one, with the zeros of the border. */
static void add_singly(const examples_block *s, const examples_tile *t, int64_t position)
{
    static const mw__packed_place first = {0};
    mw__packed_sums *const run = s->w.code->sums[s->w.rows - 1][s->w.code->vectors - 1];
    const mw__packed_grid *g = &s->w.grid[s->grid[position]];
    const int64_t floats = tile_floats(s);
    float *const sums = t->sums + position * floats, *const zeros = t->part + floats;
    int64_t block = 0;
    memset(sums, 0, (size_t)floats * sizeof *sums), memset(zeros, 0, (size_t)s->lanes * sizeof *zeros);
    for (int64_t i = 0; i < g->depth; i++) {
        const int64_t channel = i / g->taps, tap = i % g->taps, at = s->place[position * s->w.taps + tap];
        const int64_t next = s->columns != NULL ? full_index(s, g, channel, tap) / MW__PACKED_DEPTH : 0;
        if (next > block && block > 0)
            add_part(s, t, sums);
        run(1, weight_of(s, t, position, 0) + i * s->w.rows,
            at < 0 ? zeros : t->x + (channel * s->area_in + at) * s->lanes, &first, next > 0 ? t->part : sums,
            next == block);
        block = next;
    }
    if (block > 0)
        add_part(s, t, sums);
}

/* ---- results ---- */

/* The bias, and in the form for chips what becomes of sums. */
static void finish_tile(const examples_block *s, const examples_tile *t)
{
    const mw__packed_finish *f = s->columns;
    const int64_t tile = tile_floats(s), all = s->area_out * tile;
    if (f != NULL && f->round != NULL)
        f->round(t->sums, t->sums, all, 0, 0);
    for (int64_t i = 0; i < s->area_out * t->rows; i++) {
        const int64_t row = i % t->rows;
        float *const sums = t->sums + i / t->rows * tile + row * s->lanes;
        const float bias = t->bias != NULL ? t->bias[row] : 0.0f;
        if (f == NULL) {
            MW__VECTORIZE for (int64_t k = 0; k < s->lanes; k++) sums[k] += bias;
        } else if (f->add != NULL) {
            f->add(sums, sums, s->lanes, bias, 0);
        }
    }
    if (f != NULL && f->after != NULL)
        f->after(t->sums, t->sums, all, 0, 0);
}

/* Lanes to their examples. */
static void store_lanes(const examples_block *s, const examples_tile *t)
{
    const int64_t width = s->w.code->width, tile = tile_floats(s), pitch = s->w.groups * s->w.outputs * s->area_out;
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t p = 0; p < s->area_out; p += width) {
            const int64_t here = mw__i64_min(width, s->area_out - p);
            s->w.code->transpose(t->sums + p * tile + row * s->lanes, tile, here, t->count, here,
                                 t->y + row * s->area_out + p, pitch);
        }
}

/* Whether zeros may be left out of the panel. */
static bool may_skip(const examples_block *s, const examples_tile *t)
{
    bool finite = true;
    for (int64_t i = 0; finite && i < s->w.grids; i++) {
        const mw__packed_grid *g = &s->w.grid[i];
        finite = s->finite(t->weight + g->weights + t->panel * g->depth * s->w.rows, g->depth * s->w.rows);
    }
    for (int64_t row = 0; t->bias != NULL && s->columns == NULL && row < t->rows; row++)
        finite = finite && mw__bits_of(t->bias[row]) != 0x80000000u;
    return finite;
}

static void run_tile(const examples_block *s, const examples_tile *t)
{
    const bool skip = may_skip(s, t);
    for (int64_t block = 0; skip && block < s->blocks; block++)
        for (int64_t position = 0; position < s->area_out; position++)
            add_block(s, t, block, position);
    for (int64_t position = 0; !skip && position < s->area_out; position++)
        add_singly(s, t, position);
    finish_tile(s, t);
    store_lanes(s, t);
}

/* Units: [groups, panels of examples, shares]. */
static void examples_run(const mw__kernel_call *call)
{
    const examples_block *s = call->block;
    float *const sums = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t group = unit / s->shares / s->panels, examples = unit / s->shares % s->panels;
        const int64_t begin = unit % s->shares * s->share, end = mw__i64_min(begin + s->share, s->w.panels);
        examples_tile t = {.sums = sums, .part = sums + s->area_out * tile_floats(s)};
        t.count = mw__i64_min(s->lanes, s->examples - examples * s->lanes);
        t.x = (const float *)call->in[0] + (examples * s->w.groups + group) * s->w.inputs * s->area_in * s->lanes;
        t.weight = (const float *)call->in[1] + group * s->w.floats;
        for (t.panel = begin; t.panel < end; t.panel++) {
            const int64_t first = group * s->w.outputs + t.panel * s->w.rows;
            t.rows = mw__i64_min(s->w.rows, s->w.outputs - t.panel * s->w.rows);
            t.bias = s->has_bias ? (const float *)call->in[2] + first : NULL;
            t.y = (float *)call->out[0] + (examples * s->lanes * s->w.groups * s->w.outputs + first) * s->area_out;
            run_tile(s, &t);
        }
    }
}

/* ---- planning ---- */

/* Along one axis: whether an element of the kernel lies on x at a position of y; not if a stride of the transpose
 * leaves it out, which *out_left says. */
static bool lies_inside(const mw__packed_request *r, int axis, int64_t position, int64_t element, bool *out_left)
{
    const mw__conv_window *w = &r->window;
    const int64_t back = position + w->before[axis] - element * w->dilation[axis];
    const int64_t at = position * w->stride[axis] + element * w->dilation[axis] - w->before[axis];
    *out_left = r->transposed && back % w->stride[axis] != 0;
    if (r->transposed)
        return !*out_left && back >= 0 && back / w->stride[axis] < w->out[axis];
    return at >= 0 && at < w->in[axis];
}

/* Products of positions and elements that are not left out by strides, and of these those inside. */
static void count_products(const mw__packed_request *r, double *out_all, double *out_inside)
{
    *out_all = *out_inside = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t positions = r->transposed ? r->window.in[axis] : r->window.out[axis];
        double all = 0.0, inside = 0.0;
        for (int64_t p = 0; p < positions; p++)
            for (int64_t k = 0; k < r->window.kernel[axis]; k++) {
                bool left;
                inside += lies_inside(r, axis, p, k, &left);
                all += !left;
            }
        *out_all *= all, *out_inside *= inside;
    }
}

const char *mw__conv_examples_declines(const mw__packed_request *r)
{
    const mw__conv_window *w = &r->window;
    const int64_t in = r->transposed ? w->area_out : w->area_in, out = r->transposed ? w->area_in : w->area_out;
    const int64_t examples = mw__shape_of(r->x).dim[0];
    const double inputs =
        (double)(mw__shape_of(r->weight).dim[r->transposed ? 0 : 1] / (r->transposed ? r->groups : 1));
    double all, inside;
    if (in > AREA || out > POSITIONS || w->taps > TAPS || mw__is_packed(r->weight) ||
        (r->columns == NULL && mw__dtype_of(r->result) != MW_F32))
        return "large images or kernels, a weight as it is stored, or fp16";
    count_products(r, &all, &inside);
    const double lanes = (double)(mw__i64_divide_up(examples, EXAMPLES) * EXAMPLES);
    if (inside * lanes > MOST_OF_ALL * all * (double)examples)
        return "few products are left out, or few examples";
    return r->columns == NULL || inside * inputs <= PLACES ? NULL : "more places than are listed";
}

/* The position of x under a tap of the position of y at `at`, or -1 in the border. */
static int64_t place_of(const mw__packed_request *r, const mw__packed_tap *tap, const int64_t at[3])
{
    const mw__conv_window *w = &r->window;
    const int64_t *in = r->transposed ? w->out : w->in;
    int64_t place = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t x = (r->transposed ? at[i] / w->stride[i] : at[i] * w->stride[i]) + tap->offset[i];
        if (x < 0 || x >= in[i])
            return -1;
        place = place * in[i] + x;
    }
    return place;
}

static bool is_of_grid(const mw__packed_request *r, const mw__packed_grid *grid, const int64_t at[3])
{
    bool all = true;
    for (int i = 0; i < 3; i++)
        all = all && (!r->transposed || at[i] % r->window.stride[i] == grid->start[i]);
    return all;
}

/* Which grid each position belongs to, and what its taps take. */
static bool fill_positions(mw__planner *planner, const mw__packed_request *r, examples_block *s)
{
    const int64_t *out = r->transposed ? r->window.in : r->window.out, taps = s->w.taps;
    int32_t *const grid = mw__plan_block(planner, (size_t)s->area_out * sizeof *grid);
    int32_t *const place = mw__plan_block(planner, (size_t)(s->area_out * taps) * sizeof *place);
    for (int64_t p = 0; grid != NULL && place != NULL && p < s->area_out; p++) {
        const int64_t at[3] = {p / (out[1] * out[2]), p / out[2] % out[1], p % out[2]};
        while (!is_of_grid(r, &s->w.grid[grid[p]], at))
            grid[p]++;
        const mw__packed_grid *g = &s->w.grid[grid[p]];
        for (int64_t t = 0; t < g->taps; t++)
            place[p * taps + t] = (int32_t)place_of(r, &g->tap[t], at);
    }
    s->grid = grid, s->place = place;
    return grid != NULL && place != NULL;
}

/* The first channel that has an i in the block, and whether that i belongs to it. Blocks of the form for chips are of
 * so many elements of the whole kernel, others of whole channels. */
static int64_t first_channel(const examples_block *s, const mw__packed_grid *g, int64_t block)
{
    const int64_t channels = g->taps > 0 && g->taps < MW__PACKED_DEPTH ? MW__PACKED_DEPTH / g->taps : 1;
    return mw__i64_min(s->columns != NULL ? block * MW__PACKED_DEPTH / s->w.taps : block * channels, s->w.inputs);
}

static bool is_in_block(const examples_block *s, const mw__packed_grid *g, int64_t block, int64_t channel, int64_t tap)
{
    if (s->columns == NULL)
        return channel < first_channel(s, g, block + 1);
    return full_index(s, g, channel, tap) / MW__PACKED_DEPTH == block;
}

/* Places from channel `first` on in the block, to `at` if that is not NULL. */
static int64_t list_places(const examples_block *s, int64_t block, int64_t position, int64_t first,
                           mw__packed_place *at)
{
    const mw__packed_grid *g = &s->w.grid[s->grid[position]];
    const int64_t last = s->columns != NULL ? first + MW__PACKED_DEPTH / s->w.taps + 2 : first_channel(s, g, block + 1);
    int64_t count = 0;
    for (int64_t c = first; c < mw__i64_min(last, s->w.inputs); c++)
        for (int64_t t = 0; t < g->taps; t++) {
            const int64_t place = s->place[position * s->w.taps + t];
            if (place < 0 || !is_in_block(s, g, block, c, t))
                continue;
            if (at != NULL)
                at[count] = (mw__packed_place){.a = (uint16_t)((c - first) * g->taps + t),
                                               .x = (uint16_t)((c - first) * s->area_in + place)};
            count++;
        }
    return count;
}

/* Lists of all blocks; those of whole channels are the first one's, or its beginning. */
static bool fill_lists(mw__planner *planner, examples_block *s)
{
    const int64_t taps = s->w.taps, channels = taps < MW__PACKED_DEPTH ? MW__PACKED_DEPTH / taps : 1;
    s->blocks = s->columns != NULL ? mw__i64_divide_up(s->w.inputs * taps, MW__PACKED_DEPTH)
                                   : mw__i64_divide_up(s->w.inputs, channels);
    examples_list *const lists = mw__plan_block(planner, (size_t)(s->blocks * s->area_out) * sizeof *lists);
    for (int64_t i = 0; lists != NULL && i < s->blocks * s->area_out; i++) {
        const int64_t block = i / s->area_out, position = i % s->area_out;
        const int64_t first = first_channel(s, &s->w.grid[s->grid[position]], block);
        const int64_t count = list_places(s, block, position, first, NULL);
        const bool again = block > 0 && s->columns == NULL;
        mw__packed_place *at = again ? NULL : mw__plan_block(planner, (size_t)(count + 1) * sizeof *at);
        if (at == NULL && !again)
            return false;
        if (!again)
            list_places(s, block, position, first, at);
        lists[i] =
            (examples_list){.at = again ? lists[position].at : at, .count = (int32_t)count, .channel = (int32_t)first};
    }
    s->list = lists;
    return lists != NULL;
}

static bool fill_block(mw__planner *planner, const mw__packed_request *r, examples_block *s)
{
    const mw__conv_window *w = &r->window;
    if (!mw__packed_weights_read(planner, r, true, &s->w))
        return false;
    s->columns = r->columns, s->has_bias = r->bias != NULL;
    s->examples = mw__shape_of(r->x).dim[0];
    s->lanes = s->w.code->width * s->w.code->vectors;
    s->panels = mw__i64_divide_up(s->examples, s->lanes);
    s->area_in = r->transposed ? w->area_out : w->area_in, s->area_out = r->transposed ? w->area_in : w->area_out;
    s->finite = mw__conv_finite_of(mw__plan_level(planner));
    const int64_t wanted = 4 * mw__plan_partitions(planner), units = s->w.groups * s->panels;
    s->share = mw__i64_divide_up(s->w.panels, mw__i64_min(mw__i64_divide_up(wanted, units), s->w.panels));
    s->shares = mw__i64_divide_up(s->w.panels, s->share);
    return fill_positions(planner, r, s) && fill_lists(planner, s);
}

/* Plans the transposition of x. */
static uint32_t plan_transpose(mw__planner *planner, const examples_block *s, const mw_tensor *x)
{
    const int64_t all = s->w.groups * s->w.inputs * s->area_in, units = s->panels * mw__i64_divide_up(all, COLUMNS);
    const size_t size = (size_t)(s->panels * s->lanes * all) * sizeof(float);
    const uint32_t from = mw__conv_operand(planner, x), to = mw__plan_temporary(planner, size);
    mw__step *step = mw__plan_step(planner, transpose_run, "conv.examples.x", units, mw__cost(2.0 * (double)size, 0.0));
    step->block = s;
    step->report.helper = true;
    mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    mw__step_write(planner, step, to, MW__WHOLE, 0);
    return to;
}

mw_status mw__plan_conv_examples(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    examples_block *s = mw__plan_block(planner, sizeof *s);
    double all, inside;
    if (s == NULL || !fill_block(planner, r, s))
        return mw__plan_check(planner, err);
    count_products(r, &all, &inside);
    const double flops = 2.0 * (double)(s->examples * s->w.groups * s->w.outputs * s->w.inputs) * all;
    const uint32_t x = plan_transpose(planner, s, r->x), weight = mw__packed_weights_plan(planner, &s->w, r);
    const uint32_t bias = r->bias != NULL ? mw__conv_operand(planner, r->bias) : 0;
    const char *const label = r->transposed ? "conv_transpose.examples" : "conv.examples";
    mw__step *step = mw__plan_step(planner, examples_run, r->columns != NULL ? r->columns->label : label,
                                   s->w.groups * s->panels * s->shares,
                                   mw__cost(4.0 * (double)mw__count_of(r->result), 0.3 * flops * inside / all));
    step->block = s;
    step->report.flops = flops;
    step->rounds = r->columns != NULL;
    step->scratch = (size_t)((s->area_out + 1) * tile_floats(s) + s->lanes) * sizeof(float);
    mw__step_read(planner, step, x, MW__WHOLE, 0, false);
    mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (r->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
