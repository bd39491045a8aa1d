/* In the form for chips. */
#include "engine/kernels/conv/dweight/dweight_packed.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/math/round.h"

#include <string.h>

static bool is_whole(const mw__packed_dweight *s)
{
    return s->down == 1 && s->planes == 1;
} /* an example is in a chunk */

/* Sums beside those of all examples, for each tile, or for one at a time where no example goes beyond a chunk. */
typedef struct apart_sums {
    float *example; /* [tile] of one that is not added yet */
    float *block;   /* [tile] of less than a block of positions */
    int64_t step;   /* floats between tiles; 0: one for all */
} apart_sums;

static int64_t kept_floats(const mw__packed_dweight *s)
{
    return mw__i64_round_up(is_whole(s) ? mw__dweight_tile_floats(s) : mw__dweight_sums_floats(s), 16);
}

static apart_sums divide_apart(const mw__packed_dweight *s, float *memory)
{
    return (apart_sums){
        .example = memory, .block = memory + kept_floats(s), .step = is_whole(s) ? 0 : mw__dweight_tile_floats(s)};
}

/* What one tile is multiplied of, in a chunk. */
typedef struct apart_tile {
    const float *dy, *frame;
    const mw__conv_places *places;
    mw__packed_sums *run;
    float *example, *block, *sums;
} apart_tile;

/* Positions of image i of a chunk to the sums of its example; `meets`: they meet x under the kernel. */
static void add_positions(const mw__packed_dweight *s, const mw__dweight_chunk *c, const apart_tile *t, int64_t i,
                          bool meets, float *sums)
{
    const int64_t plane = (c->image + i) % s->planes * s->area;
    const int64_t start = plane + c->row * s->cut.width, end = start + c->rows * s->cut.width;
    for (int64_t p = start, next; p < end; p = next) {
        const int64_t block = p / MW__GEMM_DEPTH;
        next = mw__i64_min((block + 1) * MW__GEMM_DEPTH, end);
        float *const to = block == 0 ? sums : t->block;
        const mw__places_run run = mw__conv_places_of(t->places, &s->cut, c->row, c->rows, i, p - start, next - start);
        t->run(meets ? run.count : 0, t->dy, t->frame, run.at, to, p % MW__GEMM_DEPTH != 0);
        if (block > 0 && (next % MW__GEMM_DEPTH == 0 || next == s->window.area_out))
            s->add(sums, sums, to, mw__dweight_tile_floats(s));
    }
}

/* A chunk of whole lines, of images of which `images` meet x. */
static void add_tile(const mw__packed_dweight *s, const mw__dweight_chunk *c, const apart_tile *t,
                     const mw__dweight_panel *p)
{
    for (int64_t i = 0, run = 0; i < c->images; i++) {
        while (run < p->runs && p->images[run].end <= i)
            run++;
        add_positions(s, c, t, i, run < p->runs && p->images[run].begin <= i, t->example);
        if (c->row + c->rows < s->window.out[1] || (c->image + i + 1) % s->planes != 0)
            continue;
        if (s->round != NULL)
            s->round(t->example, t->example, mw__dweight_tile_floats(s), 0, 0);
        s->add(t->sums, t->sums, t->example, mw__dweight_tile_floats(s));
    }
}

/* The tiles of a chunk. */
static void add_apart(const mw__packed_dweight *s, const mw__kernel_call *call, const mw__dweight_unit *u,
                      const mw__dweight_chunk *c, float *sums)
{
    mw__dweight_images images[MW__DWEIGHT_POSITIONS];
    mw__dweight_panel p = mw__dweight_begin_chunk(s, images, sums);
    const apart_sums apart = divide_apart(s, sums + mw__dweight_sums_floats(s) + mw__dweight_chunk_floats(s));
    p.fewer = mw__dweight_pack_finite(s, call, u, c, p.dy);
    for (; p.panel < u->panels; p.panel++)
        for (p.plane = 0; p.plane < s->window.kernel[0]; p.plane++) {
            mw__dweight_pack_x(s, call, u, c, &p);
            for (int64_t o = 0; o < s->output_panels; o++)
                for (int64_t t = 0; t < mw__dweight_taps_of_plane(s); t++) {
                    const int64_t at = mw__dweight_tile_at(s, &p, o, t), own = apart.step > 0 ? at : 0;
                    const apart_tile tile = {.dy = p.dy + o * mw__dweight_positions(s) * s->rows,
                                             .frame = mw__dweight_frame_under(s, &p, t),
                                             .places = &s->places[p.fewer ? 1 + t : 0],
                                             .run = p.run,
                                             .example = apart.example + own,
                                             .block = apart.block + own,
                                             .sums = sums + at};
                    add_tile(s, c, &tile, &p);
                }
        }
}

/* A unit: [groups, ranges of input panels]. */
static void apart_run(const mw__kernel_call *call)
{
    const mw__packed_dweight *s = call->block;
    float *const sums = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const mw__dweight_unit u = mw__dweight_unit_of(s, unit);
        memset(sums, 0, (size_t)mw__dweight_sums_floats(s) * sizeof *sums);
        for (int64_t i = 0; i < s->chunks; i++) {
            const mw__dweight_chunk c = mw__dweight_chunk_of(s, i);
            add_apart(s, call, &u, &c, sums);
        }
        if (s->round_all != NULL)
            s->round_all(sums, sums, mw__dweight_sums_floats(s), 0, 0);
        mw__dweight_put_sums(s, &u, sums, call->out[0]);
    }
}

/* In the order of mw__gemm, but for vectors and a BLAS. */
static bool keeps_order(const mw__config *config, int partitions, const mw__packed_dweight *s)
{
    const int64_t depth = s->inputs * s->window.taps;
    const int64_t share = mw__i64_divide_up(s->examples * s->groups * s->outputs, partitions);
    const mw__gemm_code each = mw__gemm_choose(config, mw__i64_min(share, s->outputs), depth, s->window.area_out);
    const mw__gemm_code sum = mw__gemm_choose(config, 1, depth, s->examples);
    return share > 1 && s->outputs > 1 && depth > 1 && each.sgemm == NULL && each.sums == MW__SUMS_FREE &&
           sum.sgemm == NULL;
}

bool mw__conv_columns_dweight_in_order(const mw__conv_columns_dweight_match *match, const mw__config *config,
                                       int partitions)
{
    mw__packed_dweight s;
    mw__dweight_read(&match->dweight, config->level, &s);
    return keeps_order(config, partitions, &s);
}

bool mw__conv_columns_dweight_suits(const mw__conv_columns_dweight_match *match, const mw__config *config,
                                    int partitions)
{
    mw__packed_dweight s;
    if (mw__conv_dweight_packed_declines(&match->dweight) != NULL)
        return false;
    mw__dweight_read(&match->dweight, config->level, &s);
    const bool in_order = keeps_order(config, partitions, &s);
    mw__dweight_choose_lanes(&s);
    const int64_t panels = mw__i64_divide_up(s.inputs, s.code->width * s.code->vectors);
    return s.inputs >= s.code->width && s.window.out[2] <= mw__dweight_line_most(&s.window) &&
           s.groups * panels >= partitions && in_order;
}

static void fill_apart(mw__planner *planner, const mw__conv_columns_dweight_match *match, mw__packed_dweight *s)
{
    const mw__level level = mw__plan_level(planner);
    mw__dweight_fill(planner, &match->dweight, s);
    s->round = mw__round_loop(level, mw__plan_rounds(planner, match->each));
    s->round_all = mw__round_loop(level, mw__plan_rounds(planner, match->result));
    s->add = mw__function2_find(MW__OP_add)->at[level];
    const int64_t ranges = mw__i64_divide_up(mw__plan_partitions(planner), s->groups);
    s->parts.parts = 1;
    s->share = mw__i64_divide_up(s->input_panels, mw__i64_min(s->input_panels, ranges));
    s->ranges = mw__i64_divide_up(s->input_panels, s->share);
}

mw_status mw__plan_conv_columns_dweight(mw__planner *planner, const mw__conv_columns_dweight_match *match,
                                        mw_error *err)
{
    mw__packed_dweight *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    fill_apart(planner, match, s);
    const double flops = 2.0 * (double)mw__count_of(match->dweight.dy) * (double)s->inputs * (double)s->window.taps;
    mw__step *step = mw__plan_step(planner, apart_run, "conv.columns.dweight", s->groups * s->ranges, 0.02 * flops);
    step->block = s;
    step->report.flops = flops;
    step->rounds = true;
    step->scratch =
        (size_t)(mw__dweight_sums_floats(s) + mw__dweight_chunk_floats(s) + 2 * kept_floats(s)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dweight.x), MW__WHOLE, 0, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dweight.dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
