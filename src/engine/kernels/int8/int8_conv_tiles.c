#include "engine/kernels/int8/int8_conv.h"
#include "engine/kernels/int8/int8_copy.h"

#include <string.h>

enum { TILES_MOST = 8 /* of a unit */ };

/* ---- which pixels a tile has ---- */

/* Lanes that are results, which lie side by side in a plane of y. */
typedef struct run {
    int64_t lane, count, image, to;
} run;

/* Lanes that are copied. */
typedef struct source {
    int64_t lane, count, from; /* from: in quads of a plane */
} source;

typedef struct mw__int8_pixels {
    run runs[MW__INT8_LANES_MOST];
    source sources[MW__INT8_LANES_MOST];
    int64_t first; /* pixel */
    int run_count, source_count, vectors;
} tile;

/* Joins what goes on where the last one ends. */
static void add_run(tile *t, run r)
{
    run *last = t->run_count > 0 ? &t->runs[t->run_count - 1] : NULL;
    if (last != NULL && last->lane + last->count == r.lane && last->image == r.image && last->to + last->count == r.to)
        last->count += r.count;
    else
        t->runs[t->run_count++] = r;
}

static void add_source(tile *t, source s)
{
    source *last = t->source_count > 0 ? &t->sources[t->source_count - 1] : NULL;
    if (last != NULL && last->from + last->count == s.from)
        last->count += s.count;
    else
        t->sources[t->source_count++] = s;
}

/* Where a pixel is in its line of y, which is an image's or one of all of them. */
static run run_at(const mw__int8_conv *b, int64_t lane, int64_t count, int64_t image, int64_t to)
{
    return b->y_quads ? (run){lane, count, 0, image * mw__int8_conv_y_size(b) + to} : (run){lane, count, image, to};
}

/* Pixels of planes as they lie. */
static void find_runs(const mw__int8_conv *b, int64_t first, int64_t end, tile *t)
{
    const int64_t row = b->extent[2];
    for (int64_t at = first, next; at < end; at = next) {
        const int64_t image = at / b->plane_quads, q = at % b->plane_quads, line = q / row, w = q % row;
        const int64_t h = line % b->extent[1], d = line / b->extent[1];
        next = mw__i64_min(at - w + row, end);
        const int64_t width = mw__i64_min(next - at, b->out[2] - w);
        if (d < b->out[0] && h < b->out[1] && width > 0)
            add_run(t, run_at(b, at - first, width, image, (d * b->out[1] + h) * b->out[2] + w));
    }
}

/* Pixels of results alone. */
static void find_sources(const mw__int8_conv *b, int64_t first, int64_t end, tile *t)
{
    const int64_t area = mw__int8_conv_y_size(b);
    for (int64_t at = first, next; at < end; at = next) {
        const int64_t image = at / area, to = at % area, line = to / b->out[2], w = to % b->out[2];
        const int64_t h = line % b->out[1], d = line / b->out[1];
        next = mw__i64_min(at - w + b->out[2], end);
        add_run(t, run_at(b, at - first, next - at, image, to));
        add_source(t,
                   (source){at - first, next - at, image * b->plane_quads + (d * b->extent[1] + h) * b->extent[2] + w});
    }
}

static int64_t lanes_of_vector(const mw__int8_conv *b) { return b->code->lanes / b->code->vectors; }

/* Tiles have as many vectors as others, or one less: those of a single vector take nearly as long as those of two. */
static void find_tile(const mw__int8_conv *b, int64_t at, tile *t)
{
    const int64_t lanes = lanes_of_vector(b), vectors = mw__i64_divide_up(b->pixels, lanes);
    const int64_t from = at * vectors / b->tiles, to = (at + 1) * vectors / b->tiles;
    t->first = from * lanes, t->vectors = (int)(to - from);
    t->run_count = t->source_count = 0;
    (b->dense != NULL ? find_sources : find_runs)(b, t->first, mw__i64_min(to * lanes, b->pixels), t);
}

/* ---- how many tiles ---- */

#define COPY_COST 4 /* of one run, in products of a vector */

void mw__int8_conv_cut(mw__int8_conv *b, bool *out_dense)
{
    const int64_t one = ((b->out[0] - 1) * b->extent[1] + b->out[1] - 1) * b->extent[2] + b->out[2];
    const int64_t apart = (b->together - 1) * b->plane_quads + one, dense = b->together * mw__int8_conv_y_size(b);
    const int64_t rows = b->blocks * b->block_rows, runs = dense / b->out[2];
    *out_dense = mw__i64_divide_up(dense, lanes_of_vector(b)) * rows + COPY_COST * runs <
                 mw__i64_divide_up(apart, lanes_of_vector(b)) * rows;
    b->pixels = *out_dense ? dense : apart;
    b->tiles = mw__i64_divide_up(b->pixels, b->code->lanes);
}

enum { WEIGHTS_MOST = 256 << 10, PIXELS_MOST = 512 << 10 }; /* bytes that stay in a cache while others pass */

/* Each panel is taken for several tiles if all panels of a unit would not stay. */
static int64_t tiles_together(const mw__int8_conv *b)
{
    const int64_t panels = b->blocks * mw__int8_conv_panel_size(b) * 4, pixels = b->code->lanes * b->depth * 4;
    const int64_t most = mw__i64_min(mw__i64_max(PIXELS_MOST / pixels, 1), TILES_MOST);
    if (b->groups > 1 || panels <= WEIGHTS_MOST)
        return 1;
    return mw__i64_divide_up(b->tiles, mw__i64_divide_up(b->tiles, most));
}

void mw__int8_conv_split(mw__int8_conv *b, int partitions)
{
    b->tiles_of_unit = tiles_together(b);
    const int64_t units = mw__i64_divide_up(b->tiles, b->tiles_of_unit);
    const int64_t wanted = units >= 8 * partitions || partitions == 1 ? 1 : 2 * partitions;
    b->chunk = mw__i64_divide_up(b->blocks, wanted);
    b->chunks = mw__i64_divide_up(b->blocks, b->chunk);
}

static int64_t tile_quads(const mw__int8_conv *b) { return b->dense != NULL ? b->depth * b->code->lanes : 0; }
size_t mw__int8_conv_tile_bytes(const mw__int8_conv *b)
{
    return (size_t)(tile_quads(b) * b->tiles_of_unit) * sizeof(uint32_t);
}

/* ---- a tile ---- */

/* Of runs that are all of one size, a constant where this is inlined; 0: of any. */
MW__INLINE void copy_runs(const mw__int8_conv *b, const tile *t, const uint8_t *planes, uint32_t *lanes,
                          const int64_t size)
{
    const int64_t depth = b->depth, step = b->code->lanes;
    const int32_t *const offset = b->offset;
    const int count = t->source_count;
    for (int64_t k = 0; k < depth; k++, lanes += step)
        for (int i = 0; i < count; i++) {
            const source s = t->sources[i];
            mw__int8_copy((const uint32_t *)(const void *)(planes + offset[k]) + s.from, 1, size > 0 ? size : s.count,
                          lanes + s.lane);
        }
}

MW__INLINE void copy_body(const mw__int8_conv *b, const tile *t, const uint8_t *planes, uint32_t *lanes)
{
    const int64_t size = t->sources[0].count;
    bool same = true;
    for (int i = 0; i < t->source_count; i++)
        same = same && t->sources[i].count == size;
    if (same && size == 4)
        copy_runs(b, t, planes, lanes, 4);
    else if (same && size == 8)
        copy_runs(b, t, planes, lanes, 8);
    else
        copy_runs(b, t, planes, lanes, 0);
}
MW__BASE_AVX2_AVX512(copy, (const mw__int8_conv *b, const tile *t, const uint8_t *planes, uint32_t *lanes),
                     (b, t, planes, lanes))

void (*mw__int8_conv_copy_of(mw__level level))(const mw__int8_conv *, const struct mw__int8_pixels *, const uint8_t *,
                                               uint32_t *)
{
    return MW__DISPATCH_BEST(copy, level);
}

/* Where results go, and what they are added to, which lies as they do; or NULL. */
typedef struct target {
    char *y;
    const char *others;
} target;

static target target_at(const target *to, size_t bytes)
{
    return (target){to->y + bytes, to->others != NULL ? to->others + bytes : NULL};
}

static void put_results(const mw__int8_conv *b, const char *results, size_t size, const target *to)
{
    const uint8_t *const own = (const uint8_t *)results, *const other = (const uint8_t *)to->others;
    if (b->sum == NULL)
        memcpy(to->y, results, size);
    else
        b->sum->add(b->sum, b->own == 0 ? own : other, b->own == 0 ? other : own, (int64_t)size, (uint8_t *)to->y);
}

static void finish_directly(const mw__int8_conv *b, const int32_t *sums, const mw__int8_rows *each, const target *to)
{
    const mw__int8_joined joined = {.sum = b->sum, .own = b->own, .least = b->least, .others = to->others};
    if (b->sum != NULL)
        b->finish_joined(&b->finish, sums, each, &joined, to->y);
    else
        b->finish_lines(&b->finish, sums, each, to->y);
}

/* The sums of outputs [output, output + rows) as results; to: the line of the first one, of the first image. */
static void finish_outputs(const mw__int8_conv *b, const int32_t *sums, int64_t output, int64_t rows, const tile *t,
                           const target *to)
{
    char results[MW__INT8_ROWS_MOST * MW__INT8_LANES_MOST * sizeof(float)];
    const run *const runs = t->runs;
    const int64_t lines = rows / mw__int8_conv_line_rows(b);
    const size_t size = b->out_size * (size_t)mw__int8_conv_line_rows(b), step = mw__int8_conv_line_step(b);
    const size_t line = (size_t)b->code->lanes * size, image = (size_t)(b->groups * b->outputs) * step;
    const bool direct = t->run_count == 1 && (b->sum == NULL || b->finish_joined != NULL);
    const mw__int8_rows each = {.rows = rows,
                                .count = runs[t->run_count - 1].lane + runs[t->run_count - 1].count - runs[0].lane,
                                .step = b->code->lanes,
                                .scale = b->scale + output,
                                .shift = b->shift + output,
                                .out_step = direct ? step : line};
    const target first = target_at(to, (size_t)runs[0].image * image + (size_t)runs[0].to * size);
    if (direct) {
        finish_directly(b, sums + runs[0].lane, &each, &first);
        return;
    }
    b->finish_lines(&b->finish, sums + runs[0].lane, &each, results);
    for (int64_t r = 0; r < lines; r++)
        for (int i = 0; i < t->run_count; i++) {
            const target at =
                target_at(to, (size_t)r * step + (size_t)runs[i].image * image + (size_t)runs[i].to * size);
            put_results(b, results + (size_t)r * line + (size_t)(runs[i].lane - runs[0].lane) * size,
                        (size_t)runs[i].count * size, &at);
        }
}

static void subtract_zeros(const mw__int8_conv *b, const int32_t *sums_of_x, int64_t output, int32_t *sums)
{
    for (int64_t i = 0; b->zeros[output] != 0 && i < b->code->lanes; i++)
        sums[i] = (int32_t)((uint32_t)sums[i] - (uint32_t)b->zeros[output] * (uint32_t)sums_of_x[i]);
}

/* What is computed of a group: the outputs of blocks [from, to) at tiles [tile, tile_end). */
typedef struct part {
    int64_t group, tile, tile_end, from, to;
} part;

/* A tile that is read: the sums of its numbers are wanted where weights have zero points. */
typedef struct ready_tile {
    tile t;
    const uint8_t *x;
    int32_t sums[MW__INT8_LANES_MOST];
} ready_tile;

static void read_tile(const mw__int8_conv *b, const uint8_t *planes, int64_t at, uint32_t *scratch, ready_tile *r)
{
    static const int32_t nothing = 0;
    const bool dense = b->dense != NULL;
    find_tile(b, at, &r->t);
    if (dense)
        b->copy(b, &r->t, planes, scratch);
    r->x = dense ? (const uint8_t *)scratch : planes + r->t.first * 4;
    if (b->ones != NULL)
        b->code->one(r->x, dense ? b->dense : b->offset, b->depth, b->ones, &nothing, r->sums);
}

/* Asks for what results are added to while their sums are computed. */
static void ask_for_others(const mw__int8_conv *b, const tile *t, int64_t rows, const target *to)
{
    const size_t size = b->out_size * (size_t)mw__int8_conv_line_rows(b);
    const size_t image = (size_t)(b->groups * b->outputs) * mw__int8_conv_line_step(b);
    const char *const first = to->others + (size_t)t->runs[0].image * image + (size_t)t->runs[0].to * size;
    for (int64_t r = 0; r < rows / mw__int8_conv_line_rows(b); r++)
        for (int64_t at = 0; at < t->runs[0].count * (int64_t)size; at += 64)
            mw__kernel_prefetch(first, r * (int64_t)mw__int8_conv_line_step(b) + at);
}

/* to: the group's first line. */
static void convolve_block(const mw__int8_conv *b, const ready_tile *r, int64_t group, int64_t at, const target *to)
{
    int32_t sums[MW__INT8_ROWS_MOST * MW__INT8_LANES_MOST];
    const int64_t first = at * b->block_rows, rows = mw__i64_min(b->block_rows, b->outputs - first);
    const int64_t output = group * b->outputs + first;
    mw__int8_tile *const run_tile = b->block_rows == 1 ? b->code->one : b->code->tile[r->t.vectors - 1];
    const target lines = target_at(to, (size_t)(first / mw__int8_conv_line_rows(b)) * mw__int8_conv_line_step(b));
    if (b->sum != NULL)
        ask_for_others(b, &r->t, rows, &lines);
    run_tile(r->x, b->dense != NULL ? b->dense : b->offset, b->depth,
             b->panels + (group * b->blocks + at) * mw__int8_conv_panel_size(b),
             b->start + (group * b->blocks + at) * b->block_rows, sums);
    for (int64_t i = 0; i < rows && b->ones != NULL; i++)
        subtract_zeros(b, r->sums, output + i, sums + i * b->code->lanes);
    finish_outputs(b, sums, output, rows, &r->t, &lines);
}

static void convolve(const mw__int8_conv *b, const uint8_t *planes, const part *p, const target *to, uint32_t *scratch)
{
    ready_tile ready[TILES_MOST];
    int count = 0;
    for (int64_t at = p->tile; at < p->tile_end; at++) {
        read_tile(b, planes, at, scratch + count * tile_quads(b), &ready[count]);
        count += ready[count].t.run_count > 0;
    }
    for (int64_t at = p->from; at < p->to; at++)
        for (int i = 0; i < count; i++)
            convolve_block(b, &ready[i], p->group, at, to);
}

/* Units that follow each other at the same tiles are one part. */
void mw__int8_conv_run_tiles(const mw__kernel_call *call)
{
    const mw__int8_conv *b = call->block;
    const target to = {call->out[0], b->sum != NULL ? call->in[1] : NULL};
    for (int64_t unit = call->begin, next; unit < call->end; unit = next) {
        const int64_t tiles = unit / b->chunks, from = unit % b->chunks * b->chunk;
        next = mw__i64_min((tiles + 1) * b->chunks, call->end);
        const part p = {.tile = tiles * b->tiles_of_unit,
                        .tile_end = mw__i64_min((tiles + 1) * b->tiles_of_unit, b->tiles),
                        .from = from,
                        .to = mw__i64_min(from + (next - unit) * b->chunk, b->blocks)};
        convolve(b, call->in[0], &p, &to, call->scratch);
    }
}

void mw__int8_conv_run_groups(const mw__kernel_call *call)
{
    const mw__int8_conv *b = call->block;
    uint32_t *const planes = (uint32_t *)call->scratch + tile_quads(b);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        for (int64_t p = 0; p < b->plane_count; p++)
            b->lay_plane(b, &b->planes[p], (const uint8_t *)call->in[0] + unit * mw__int8_conv_x_size(b),
                         planes + p * b->plane_quads);
        const target to = {(char *)call->out[0] + (size_t)(unit * b->outputs * mw__int8_conv_y_size(b)) * b->out_size,
                           NULL};
        for (int64_t at = 0; at < b->tiles; at++) {
            const part p = {.group = unit % b->groups, .tile = at, .tile_end = at + 1, .to = b->blocks};
            convolve(b, (const uint8_t *)planes, &p, &to, call->scratch);
        }
    }
}
