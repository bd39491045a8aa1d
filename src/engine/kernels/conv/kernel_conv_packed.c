/* The packed convolution of kernel_conv_packed.h: planning, and the loops around the tiles. A step's units are
 * examples where they keep every partition busy; else tiles of positions, and of output channels where there are few
 * positions. Scratch of a partition: one panel of x, the sums of a tile (at most SUMS floats, or one panel's), and the
 * runs of one panel. */
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "base/number/integer.h"
#include "engine/core/tail.h"
#include "engine/core/unpack.h"
#include "engine/kernels/conv/kernel_conv_weights.h"

#define OUTPUTS_LEAST 4
#define TAIL_MOST     8.0   /* additions: runs are short */
#define SUMS          98304 /* floats: part of the second-level cache */

typedef struct packed_block {
    mw__packed_weights w;
    int64_t examples;
    int64_t in[3], out[3], step[3], spread[3]; /* of x, of y; between positions in them */
    int64_t area_in, area_out;
    int64_t lanes;         /* of a tile */
    int64_t tile;          /* panels of x in a tile of positions */
    int64_t share, shares; /* panels of output channels of a unit, and how many units they make */
    int64_t tiles;         /* of positions in the largest grid; 0: a unit is an example */
    mw_dtype dtype;
    bool has_bias;
    const mw__compressed *stored; /* the weight, if it stays as it is stored and is packed tile by tile; or NULL */
    mw__level level;
    const mw__packed_finish *columns; /* or NULL */
    mw__tail tail;
} packed_block;

/* ---- one panel of positions ---- */

/* Lanes that lie on one line of a grid. */
typedef struct packed_piece {
    int64_t example, at[3]; /* of the first */
    int32_t first, count;   /* lanes of the panel */
} packed_piece;

/* Those of the panel that begins at position `at` of all examples. Where `cut`, none crosses the end of a vector. */
static int64_t split_panel(const packed_block *s, const mw__packed_grid *g, int64_t at, int64_t count, int64_t line,
                           bool cut, packed_piece *pieces)
{
    int64_t made = 0;
    for (int64_t lane = 0; lane < count;) {
        const int64_t position = at + lane, in = position % g->area, left = line - in % line;
        int64_t here = mw__i64_min(left, count - lane);
        if (cut)
            here = mw__i64_min(here, s->w.code->width - lane % s->w.code->width);
        pieces[made++] = (packed_piece){
            .example = position / g->area,
            .at = {in / (g->extent[1] * g->extent[2]), in / g->extent[2] % g->extent[1], in % g->extent[2]},
            .first = (int32_t)lane,
            .count = (int32_t)here};
        lane += here;
    }
    return made;
}

/* The elements of a piece that lie inside x under a tap; false if there are none. */
static bool run_of(const packed_block *s, const packed_piece *piece, const mw__packed_tap *tap, mw__packed_run *out)
{
    const int64_t z = piece->at[0] * s->step[0] + tap->offset[0], y = piece->at[1] * s->step[1] + tap->offset[1];
    const int64_t step = s->step[2], x = piece->at[2] * step + tap->offset[2];
    if (z < 0 || z >= s->in[0] || y < 0 || y >= s->in[1])
        return false;
    const int64_t skip = x < 0 ? mw__i64_divide_up(-x, step) : 0,
                  inside = s->in[2] > x ? mw__i64_divide_up(s->in[2] - x, step) : 0;
    const int64_t end = mw__i64_min(piece->count, inside);
    const int64_t lane = piece->first % s->w.code->width, row = (z * s->in[1] + y) * s->in[2];
    if (end <= skip)
        return false;
    out->lane_0 = piece->example * s->w.groups * s->w.inputs * s->area_in + row + x - lane * step;
    out->first = (int16_t)(lane + skip), out->count = (int16_t)(end - skip);
    out->mask = ((1u << out->count) - 1) << out->first;
    return true;
}

/* A partition's scratch. */
typedef struct packed_scratch {
    float *panel;         /* [DEPTH, lanes]; of a stored weight [tile, DEPTH, lanes] */
    float *weight, *raw;  /* of a stored weight: [DEPTH, rows], and before it is transposed */
    float *part;          /* of the product of columns: [rows, lanes] */
    float *sums;          /* [tile, panels of output channels, rows, lanes] */
    int32_t *begin;       /* [taps * vectors + 1] */
    mw__packed_run *runs; /* [taps * lanes] */
} packed_scratch;

static void fill_source(const packed_block *s, const mw__packed_grid *g, int64_t at, int64_t count,
                        const packed_scratch *scratch)
{
    packed_piece pieces[MW__PACKED_LANES];
    const int64_t all = split_panel(s, g, at, count, g->extent[2], true, pieces);
    int32_t made = 0, *begin = scratch->begin;
    for (int64_t t = 0; t < g->taps; t++)
        for (int64_t v = 0, p = 0; v < s->w.code->vectors; v++) {
            *begin++ = made;
            for (; p < all && pieces[p].first < (v + 1) * s->w.code->width; p++)
                made += run_of(s, &pieces[p], &g->tap[t], &scratch->runs[made]);
        }
    *begin = made;
}

/* ---- running ---- */

/* What one tile computes. */
typedef struct packed_tile {
    const mw__packed_grid *grid;
    const float *x, *weight, *bias; /* of the group; bias: or NULL */
    void *y;
    int64_t channel;       /* of y, the first of the group */
    int64_t begin, end;    /* positions over all examples */
    int64_t panel, panels; /* of output channels */
    const mw__kernel_call *call;
} packed_tile;

/* What is added to channel `o` of the group: -0 changes no bit of what is finished. */
static float bias_of(const packed_block *s, const packed_tile *t, int64_t o)
{
    if (s->columns != NULL)
        return -0.0f;
    return t->bias != NULL ? t->bias[t->channel + o] : 0.0f;
}

/* Rows [first, end) of the tile's channels at a piece; `sums` are of the first. */
static void store_piece(const packed_block *s, const packed_tile *t, const packed_piece *piece, int64_t first,
                        int64_t end, const float *sums)
{
    int64_t at = piece->example * s->w.groups * s->w.outputs + t->channel + first;
    for (int i = 0; i < 3; i++)
        at = at * s->out[i] + t->grid->start[i] + piece->at[i] * s->spread[i];
    for (int64_t o = first; o < end; o++, at += s->area_out, sums += s->lanes) {
        const float bias = bias_of(s, t, o);
        if (s->dtype == MW_F32) {
            s->w.code->store((float *)t->y + at, s->spread[2], sums + piece->first, piece->count, bias);
            if (s->tail.count > 0)
                mw__tail_run(&s->tail, 0, t->call, at, piece->count);
            continue;
        }
        for (int64_t i = 0; i < piece->count; i++) {
            const float sum = sums[piece->first + i] + bias;
            mw__tile_store(t->y, s->dtype, at + i * s->spread[2], 1, &sum);
        }
    }
}

/* Of the product of columns: what becomes of its sums, and the bias that is still to be added. */
static void finish_sums(const packed_block *s, const packed_tile *t, int64_t first, int64_t end, float *sums)
{
    const mw__packed_finish *f = s->columns;
    const int64_t all = (end - first) * s->lanes;
    if (f->round != NULL)
        f->round(sums, sums, all, 0, 0);
    for (int64_t o = first; f->add != NULL && o < end; o++) {
        float *const row = sums + (o - first) * s->lanes;
        f->add(row, row, s->lanes, t->bias[t->channel + o], 0);
    }
    if (f->after != NULL)
        f->after(sums, sums, all, 0, 0);
}

/* The sums of the panel at position `at` to their places. */
static void store_sums(const packed_block *s, const packed_tile *t, int64_t at, int64_t count, float *sums)
{
    packed_piece pieces[MW__PACKED_LANES];
    const mw__packed_grid *g = t->grid;
    const bool dense = s->w.grids == 1 && s->spread[2] == 1; /* lines follow each other */
    const int64_t all = split_panel(s, g, at, count, dense ? g->area : g->extent[2], false, pieces);
    const int64_t first = t->panel * s->w.rows, end = mw__i64_min(first + t->panels * s->w.rows, s->w.outputs);
    if (s->columns != NULL)
        finish_sums(s, t, first, end, sums);
    for (int64_t p = 0; p < all; p++)
        store_piece(s, t, &pieces[p], first, end, sums);
}

/* So many of i, from k on, are summed at once. */
static int64_t depth_from(const packed_block *s, const mw__packed_grid *g, int64_t k)
{
    if (s->columns == NULL || g->taps == s->w.taps || k == g->depth)
        return mw__i64_min(MW__PACKED_DEPTH, g->depth - k);
    const int64_t at = k / g->taps * s->w.taps + s->w.taps - 1 - g->tap[k % g->taps].element;
    const int64_t limit = (at / MW__PACKED_DEPTH + 1) * MW__PACKED_DEPTH;
    int64_t end = limit / s->w.taps * g->taps;
    for (int64_t t = 0; t < g->taps; t++)
        end += s->w.taps - 1 - g->tap[t].element < limit % s->w.taps;
    return mw__i64_min(end, g->depth) - k;
}

/* A tile of sums that begin anew: of the product of columns. */
static void add_product(const packed_block *s, int64_t depth, const float *weight, const packed_scratch *scratch,
                        float *sums)
{
    const int64_t count = s->w.rows * s->lanes;
    s->w.code->products[s->w.rows - 1](depth, weight, scratch->panel, scratch->part, false);
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) sums[i] += scratch->part[i];
}

static void run_tile(const packed_block *s, const packed_tile *t, const packed_scratch *scratch)
{
    const mw__packed_grid *g = t->grid;
    const mw__packed_source source = {
        .begin = scratch->begin, .runs = scratch->runs, .taps = g->taps, .step = s->step[2]};
    mw__packed_product *const product = s->w.code->products[s->w.rows - 1];
    const int64_t sums_of_panel = t->panels * s->w.rows * s->lanes;
    const bool apart = s->columns != NULL;
    int64_t k = 0;
    do {
        const int64_t depth = depth_from(s, g, k);
        float *sums = scratch->sums;
        for (int64_t at = t->begin; at < t->end; at += s->lanes, sums += sums_of_panel) {
            const int64_t count = mw__i64_min(s->lanes, t->end - at);
            const float *weight = t->weight + (t->panel * g->depth + k) * s->w.rows;
            fill_source(s, g, at, count, scratch);
            if (depth > 0)
                s->w.code->gather(&source, t->x + k / g->taps * s->area_in, s->area_in, k % g->taps, depth,
                                  scratch->panel);
            for (int64_t p = 0; p < t->panels; p++, weight += g->depth * s->w.rows)
                if (apart && k > 0)
                    add_product(s, depth, weight, scratch, sums + p * s->w.rows * s->lanes);
                else
                    product(depth, weight, scratch->panel, sums + p * s->w.rows * s->lanes, k > 0);
            if (k + depth == g->depth)
                store_sums(s, t, at, count, sums);
        }
        k += depth;
    } while (k < g->depth);
}

/* The panel of the weight from depth k on. */
static void unpack_panel(const packed_block *s, const packed_tile *t, int64_t panel, int64_t k, int64_t depth,
                         const packed_scratch *scratch)
{
    const int64_t first = panel * s->w.rows, here = mw__i64_min(s->w.rows, s->w.outputs - first);
    for (int64_t r = 0; r < here; r++)
        mw__unpack(s->level, s->stored, (t->channel + first + r) * t->grid->depth + k, depth,
                   scratch->raw + r * MW__PACKED_DEPTH);
    s->w.code->transpose(scratch->raw, MW__PACKED_DEPTH, here, depth, s->w.rows, scratch->weight, s->w.rows);
}

/* run_tile of a weight that stays as it is stored: each panel of it is made once a tile. */
static void run_stored(const packed_block *s, const packed_tile *t, const packed_scratch *scratch)
{
    const mw__packed_grid *g = t->grid;
    const mw__packed_source source = {
        .begin = scratch->begin, .runs = scratch->runs, .taps = g->taps, .step = s->step[2]};
    const int64_t panels = mw__i64_divide_up(t->end - t->begin, s->lanes),
                  sums_of_panel = t->panels * s->w.rows * s->lanes;
    const int64_t panel_floats = MW__PACKED_DEPTH * s->lanes;
    for (int64_t k = 0, depth; k < g->depth; k += depth) {
        depth = mw__i64_min(MW__PACKED_DEPTH, g->depth - k);
        for (int64_t i = 0; i < panels; i++) {
            const int64_t at = t->begin + i * s->lanes;
            fill_source(s, g, at, mw__i64_min(s->lanes, t->end - at), scratch);
            s->w.code->gather(&source, t->x + k / g->taps * s->area_in, s->area_in, k % g->taps, depth,
                              scratch->panel + i * panel_floats);
        }
        for (int64_t p = 0; p < t->panels; p++) {
            unpack_panel(s, t, t->panel + p, k, depth, scratch);
            for (int64_t i = 0; i < panels; i++)
                s->w.code->products[s->w.rows - 1](depth, scratch->weight, scratch->panel + i * panel_floats,
                                                   scratch->sums + i * sums_of_panel + p * s->w.rows * s->lanes, k > 0);
        }
    }
    for (int64_t i = 0; i < panels; i++) {
        const int64_t at = t->begin + i * s->lanes;
        store_sums(s, t, at, mw__i64_min(s->lanes, t->end - at), scratch->sums + i * sums_of_panel);
    }
}

static void run_whole_tile(const packed_block *s, const packed_tile *t, const packed_scratch *scratch)
{
    if (s->stored != NULL)
        run_stored(s, t, scratch);
    else
        run_tile(s, t, scratch);
}

/* The tile of a group and a grid, without its positions and panels. */
static packed_tile tile_of(const packed_block *s, const mw__kernel_call *call, int64_t group, int64_t grid)
{
    return (packed_tile){
        .grid = &s->w.grid[grid],
        .x = (const float *)call->in[0] + group * s->w.inputs * s->area_in,
        .weight = s->stored != NULL ? NULL : (const float *)call->in[1] + group * s->w.floats + s->w.grid[grid].weights,
        .bias = s->has_bias ? call->in[s->stored != NULL ? 1 : 2] : NULL,
        .y = call->out[0],
        .channel = group * s->w.outputs,
        .panels = s->w.panels,
        .call = call};
}

static void run_examples(const packed_block *s, const mw__kernel_call *call, const packed_scratch *scratch)
{
    for (int64_t i = 0; i < s->w.groups * s->w.grids; i++) {
        packed_tile t = tile_of(s, call, i / s->w.grids, i % s->w.grids);
        const int64_t end = call->end * t.grid->area;
        for (t.begin = call->begin * t.grid->area; t.begin < end; t.begin = t.end) {
            t.end = mw__i64_min(t.begin + s->tile * s->lanes, end);
            run_whole_tile(s, &t, scratch);
        }
    }
}

/* Units: [groups, grids, shares, tiles]. */
static void run_unit(const packed_block *s, const mw__kernel_call *call, int64_t unit, const packed_scratch *scratch)
{
    const int64_t share = unit / s->tiles % s->shares, of = unit / s->tiles / s->shares;
    packed_tile t = tile_of(s, call, of / s->w.grids, of % s->w.grids);
    t.panel = share * s->share, t.panels = mw__i64_min(s->share, s->w.panels - t.panel);
    t.begin = unit % s->tiles * s->tile * s->lanes;
    t.end = mw__i64_min(t.begin + s->tile * s->lanes, s->examples * t.grid->area);
    if (t.begin < t.end)
        run_whole_tile(s, &t, scratch);
}

static int64_t sums_floats(const packed_block *s) { return s->tile * s->share * s->w.rows * s->lanes; }

static int64_t panel_floats(const packed_block *s)
{
    return (s->stored != NULL ? s->tile : 1) * MW__PACKED_DEPTH * s->lanes;
}

static int64_t weight_floats(const packed_block *s)
{
    return s->stored != NULL ? MW__PACKED_DEPTH * s->w.code->rows : 0;
}

static int64_t part_floats(const packed_block *s)
{
    return s->columns != NULL ? mw__i64_round_up(s->w.rows * s->lanes, 16) : 0;
}

static packed_scratch divide_scratch(const packed_block *s, void *memory)
{
    packed_scratch out = {.panel = memory};
    out.weight = out.panel + panel_floats(s);
    out.raw = out.weight + weight_floats(s);
    out.part = out.raw + weight_floats(s);
    out.sums = out.part + part_floats(s);
    out.runs = (mw__packed_run *)(void *)(out.sums + mw__i64_round_up(sums_floats(s), 16));
    out.begin = (int32_t *)(void *)(out.runs + s->w.taps * s->lanes);
    return out;
}

static size_t scratch_bytes(const packed_block *s)
{
    return (size_t)(panel_floats(s) + 2 * weight_floats(s) + part_floats(s) + mw__i64_round_up(sums_floats(s), 16)) *
               sizeof(float) +
           (size_t)(s->w.taps * s->lanes) * sizeof(mw__packed_run) +
           (size_t)(s->w.taps * s->w.code->vectors + 1) * sizeof(int32_t);
}

static void packed_run(const mw__kernel_call *call)
{
    const packed_block *s = call->block;
    const packed_scratch scratch = divide_scratch(s, call->scratch);
    if (s->tiles == 0)
        run_examples(s, call, &scratch);
    for (int64_t unit = call->begin; s->tiles > 0 && unit < call->end; unit++)
        run_unit(s, call, unit, &scratch);
}

/* ---- planning ---- */

const char *mw__conv_packed_declines(const mw__packed_request *r)
{
    const mw_shape weight = mw__shape_of(r->weight);
    const int64_t outputs = r->transposed ? weight.dim[1] : weight.dim[0] / r->groups;
    const mw__conv_window *w = &r->window;
    if (w->taps > MW__PACKED_TAPS || w->kernel[0] > MW__PACKED_EXTENT || w->kernel[1] > MW__PACKED_EXTENT ||
        w->kernel[2] > MW__PACKED_EXTENT || mw__packed_grids(r) > MW__PACKED_GRIDS)
        return "a kernel of over 8192 elements or 2048 along an axis, or over 64 remainders by the strides";
    if (outputs < OUTPUTS_LEAST)
        return "few output channels in a group";
    return mw__count_of(r->result) > 0 && mw__count_of(r->x) > 0 ? NULL : "no elements";
}

/* Units of examples if no partition has much more of them than another; else tiles, and channels where tiles are few.
 */
static void choose_units(const mw__planner *planner, packed_block *s)
{
    const int64_t partitions = mw__plan_partitions(planner), most = mw__i64_divide_up(s->examples, partitions);
    int64_t area = 0;
    for (int64_t i = 0; i < s->w.grids; i++)
        area = s->w.grid[i].area > area ? s->w.grid[i].area : area;
    const bool one_block = s->w.inputs * s->w.taps <= MW__PACKED_DEPTH;
    s->share = s->w.panels, s->shares = 1;
    const int64_t fits = SUMS / (s->share * s->w.rows * s->lanes);
    s->tile = fits < 1 || (one_block && s->stored == NULL) ? 1 : mw__i64_min(fits, s->stored != NULL ? 16 : 8);
    if (10 * most * partitions <= 11 * s->examples)
        return;
    const int64_t wanted = 2 * partitions, panels = mw__i64_divide_up(s->examples * area, s->lanes);
    while (s->tile > 1 && mw__i64_divide_up(panels, s->tile) * s->w.groups * s->w.grids < wanted)
        s->tile--;
    s->tiles = mw__i64_divide_up(panels, s->tile);
    const int64_t shares = mw__i64_divide_up(wanted, s->tiles * s->w.groups * s->w.grids);
    s->share = mw__i64_divide_up(s->w.panels, mw__i64_min(shares, s->w.panels));
    s->shares = mw__i64_divide_up(s->w.panels, s->share);
}

static void fill_block(mw__planner *planner, const mw__packed_request *r, packed_block *s)
{
    const mw__conv_window *w = &r->window;
    s->examples = mw__shape_of(r->x).dim[0];
    s->dtype = mw__dtype_of(r->result), s->has_bias = r->bias != NULL;
    for (int i = 0; i < 3; i++) {
        s->in[i] = r->transposed ? w->out[i] : w->in[i], s->out[i] = r->transposed ? w->in[i] : w->out[i];
        s->step[i] = r->transposed ? 1 : w->stride[i], s->spread[i] = r->transposed ? w->stride[i] : 1;
    }
    s->area_in = r->transposed ? w->area_out : w->area_in, s->area_out = r->transposed ? w->area_in : w->area_out;
    s->stored = !r->transposed && mw__is_packed(r->weight) ? r->weight->packed : NULL;
    s->level = mw__plan_level(planner);
    s->columns = r->columns;
    s->lanes = s->w.code->width * s->w.code->vectors;
}

mw_status mw__plan_conv_packed(mw__planner *planner, const mw__packed_request *r, mw_error *err)
{
    if (mw__conv_examples_declines(r) == NULL)
        return mw__plan_conv_examples(planner, r, err);
    packed_block *s = mw__plan_block(planner, sizeof *s);
    const bool all = mw__is_packed(r->weight) || r->columns != NULL;
    if (s == NULL || !mw__packed_weights_read(planner, r, all, &s->w))
        return mw__plan_check(planner, err);
    fill_block(planner, r, s);
    choose_units(planner, s);
    const uint32_t x = mw__conv_operand(planner, r->x);
    const uint32_t weight = s->stored == NULL ? mw__packed_weights_plan(planner, &s->w, r) : 0;
    const uint32_t bias = r->bias != NULL ? mw__conv_operand(planner, r->bias) : 0;
    const mw__access access = s->tiles > 0 ? MW__WHOLE : MW__ROWS;
    double flops = 0.0;
    for (int64_t i = 0; i < s->w.grids; i++)
        flops +=
            2.0 * (double)(s->examples * s->w.groups * s->w.outputs) * (double)(s->w.grid[i].area * s->w.grid[i].depth);
    const char *const label = r->transposed ? "conv_transpose.packed" : "conv.packed";
    mw__step *step = mw__plan_step(planner, packed_run, r->columns != NULL ? r->columns->label : label,
                                   s->tiles > 0 ? s->w.groups * s->w.grids * s->shares * s->tiles : s->examples,
                                   mw__cost(4.0 * (double)mw__count_of(r->result), 0.3 * flops));
    step->block = s;
    step->report.flops = flops;
    step->rounds = r->columns != NULL;
    s->tail.most = TAIL_MOST;
    step->fusion.tail = r->columns == NULL && s->dtype == MW_F32 && s->spread[2] == 1 ? &s->tail : NULL;
    step->scratch = scratch_bytes(s);
    mw__step_read(planner, step, x, access, (size_t)(s->w.groups * s->w.inputs * s->area_in) * sizeof(float), false);
    if (s->stored == NULL)
        mw__step_read(planner, step, weight, MW__WHOLE, 0, false);
    if (r->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, r->result), access,
                   (size_t)(s->w.groups * s->w.outputs * s->area_out) * mw__dtype_size(s->dtype));
    return mw__plan_check(planner, err);
}
