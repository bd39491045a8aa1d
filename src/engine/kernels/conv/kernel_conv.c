/* conv: columns of x are gathered tile by tile and multiplied with the weight (im2col); nothing larger than a tile is
 * kept. A tile is a range of positions over the whole batch, so that small images share one product. F16 is widened to
 * fp32 by steps of their own, sums stay in fp32 and are rounded once. The plain loops are conv_ref. */
#include "base/number/integer.h"
#include "engine/core/unpack.h"
#include "engine/kernels/conv/kernel_conv_direct.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/implementation.h"
#if MW_HAVE_AVX512
#include "engine/kernels/conv/kernel_conv_avx512.h"
#endif

#include <string.h>

/* ---- windows ---- */

mw__conv_window mw__conv_window_of(const mw__conv *conv)
{
    mw__conv_window out = {.taps = 1, .area_in = 1, .area_out = 1};
    for (int i = 0; i < 3; i++) {
        const int from = i - (3 - conv->axes);
        out.kernel[i] = from < 0 ? 1 : conv->kernel[from];
        out.stride[i] = from < 0 ? 1 : conv->stride[from];
        out.dilation[i] = from < 0 ? 1 : conv->dilation[from];
        out.before[i] = from < 0 ? 0 : conv->before[from];
        out.in[i] = from < 0 ? 1 : conv->in[from];
        out.out[i] = from < 0 ? 1 : conv->out[from];
        out.taps *= out.kernel[i];
        out.area_in *= out.in[i];
        out.area_out *= out.out[i];
    }
    return out;
}

mw_status mw__conv_window_read(const mw__op *op, mw__conv_window *out, int64_t *out_groups, mw_error *err)
{
    mw__conv conv;
    char subject[128];
    if (!mw__conv_read(op, &conv))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine needs known extents",
                        mw__op_subject(op, subject, sizeof subject));
    *out = mw__conv_window_of(&conv);
    *out_groups = conv.groups;
    return MW_OK;
}

void mw__conv_tap(const mw__conv_window *window, int64_t tap, int64_t out_offset[3])
{
    for (int i = 2; i >= 0; i--) {
        out_offset[i] = tap % window->kernel[i] * window->dilation[i] - window->before[i];
        tap /= window->kernel[i];
    }
}

mw__conv_run mw__conv_row(const mw__conv_window *window, const int64_t offset[3], int64_t at, int64_t limit)
{
    const int64_t position = at % window->out[2], line = at / window->out[2], left = window->out[2] - position;
    const int64_t y = line % window->out[1] * window->stride[1] + offset[1];
    const int64_t z = line / window->out[1] * window->stride[0] + offset[0];
    const bool inside = y >= 0 && y < window->in[1] && z >= 0 && z < window->in[0];
    return (mw__conv_run){.count = left < limit ? left : limit,
                          .position = position,
                          .row = inside ? (z * window->in[1] + y) * window->in[2] : -1};
}

void mw__conv_inside(const mw__conv_window *window, const mw__conv_run *run, int64_t offset, int64_t *out_begin,
                     int64_t *out_end)
{
    const int64_t stride = window->stride[2], end = run->position + run->count;
    const int64_t first = offset < 0 ? (-offset + stride - 1) / stride : 0;                      /* x >= 0 */
    const int64_t last = offset < window->in[2] ? (window->in[2] - 1 - offset) / stride + 1 : 0; /* x < in */
    *out_begin = mw__i64_clamp(first, run->position, end);
    *out_end = mw__i64_clamp(last, *out_begin, end);
}

uint32_t mw__conv_operand(mw__planner *planner, const mw_tensor *value)
{
    return mw__dtype_of(value) == MW_F16 ? mw__plan_as_fp32(planner, value) : mw__plan_buffer(planner, value);
}

/* ---- conv ---- */

#define TILE_FLOATS 131072 /* of columns: 512 KB, about a second-level cache */
#define TILE_MOST   512
#define TILE_LEAST  16
#define DEPTH       2048 /* rows of columns gathered at a time, at most */
#define ROWS        256  /* of the weight */

typedef struct conv_block {
    mw__conv_window window;
    int64_t groups, inputs, outputs; /* channels of a group */
    int64_t depth, columns, tile, tiles;
    int64_t deep; /* rows of columns gathered at a time */
    mw_dtype dtype;
    bool has_bias;
    mw__gemm_code code;
    const mw__codes *codes;       /* of int8 numbers; or NULL */
    const mw__compressed *packed; /* the weight, if it stays as it is stored; then there is no buffer of it */
} conv_block;

/* A partition's scratch. */
typedef struct conv_scratch {
    float *columns; /* [DEPTH, tile] */
    float *sums;    /* [ROWS, tile] */
    float *part;    /* [ROWS, tile], where the depth needs several products */
    float *weight;  /* [ROWS, DEPTH], of one that is packed */
    void *gemm;
} conv_scratch;

static size_t scratch_floats(const conv_block *s)
{
    const int64_t rows = mw__i64_min(s->outputs, ROWS), depth = s->deep;
    return (size_t)(mw__i64_round_up(depth * s->tile, 16) + 2 * mw__i64_round_up(rows * s->tile, 16) +
                    (s->packed != NULL ? mw__i64_round_up(rows * depth, 16) : 0));
}

static conv_scratch divide_scratch(const conv_block *s, void *memory)
{
    const int64_t rows = mw__i64_min(s->outputs, ROWS), depth = s->deep;
    float *const columns = memory, *const sums = columns + mw__i64_round_up(depth * s->tile, 16);
    float *const weight = sums + 2 * mw__i64_round_up(rows * s->tile, 16);
    return (conv_scratch){.columns = columns,
                          .sums = sums,
                          .part = sums + mw__i64_round_up(rows * s->tile, 16),
                          .weight = weight,
                          .gemm = weight + (s->packed != NULL ? mw__i64_round_up(rows * depth, 16) : 0)};
}

/* Columns [first, first + count) of one row, from plane x of the first example on; planes of a row are `pitch` apart.
 */
static void gather_row(const conv_block *s, const float *x, int64_t pitch, int64_t tap, int64_t first, int64_t count,
                       float *out)
{
    const mw__conv_window *w = &s->window;
    int64_t offset[3];
    mw__conv_tap(w, tap, offset);
    for (int64_t end = first + count; first < end;) {
        const int64_t example = first / w->area_out;
        const mw__conv_run run = mw__conv_row(w, offset, first % w->area_out, end - first);
        int64_t begin = run.position, stop = begin;
        if (run.row >= 0)
            mw__conv_inside(w, &run, offset[2], &begin, &stop);
        const int64_t row = example * pitch + run.row + offset[2]; /* of position 0, perhaps before x */
        memset(out, 0, (size_t)(begin - run.position) * sizeof *out);
        if (w->stride[2] == 1 && stop > begin)
            memcpy(out + begin - run.position, x + row + begin, (size_t)(stop - begin) * sizeof *out);
        else
            for (int64_t p = begin; p < stop; p++)
                out[p - run.position] = x[row + p * w->stride[2]];
        memset(out + stop - run.position, 0, (size_t)(run.position + run.count - stop) * sizeof *out);
        out += run.count;
        first += run.count;
    }
}

/* columns [depth, count] from row `at` of the group on */
static void gather_columns(const conv_block *s, const float *x, int64_t group, int64_t at, int64_t depth, int64_t first,
                           int64_t count, float *columns)
{
    const mw__conv_window *w = &s->window;
    for (int64_t i = at; i < at + depth; i++, columns += count) {
        const int64_t channel = group * s->inputs + i / w->taps;
        gather_row(s, x + channel * w->area_in, s->groups * s->inputs * w->area_in, i % w->taps, first, count, columns);
    }
}

static void add_sums(float *sums, const float *part, int64_t count)
{
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) sums[i] += part[i];
}

/* A range of columns of one group. */
typedef struct conv_tile {
    int64_t group, first, count;
} conv_tile;

/* weight [rows, depth] from element `from` on */
static void expand_weight(const conv_block *s, int64_t from, int64_t rows, int64_t depth, float *weight)
{
    for (int64_t i = 0; i < rows; i++)
        mw__unpack(s->code.level, s->packed, from + i * s->depth, depth, weight + i * depth);
}

static const float *bias_of(const conv_block *s, const mw__kernel_call *call)
{
    return s->has_bias ? call->in[s->packed != NULL ? 1 : 2] : NULL;
}

static bool starts_with_bias(const conv_block *s) { return s->has_bias && s->code.sums == MW__SUMS_FIXED; }

/* From an output channel on. */
static mw__gemm_codes codes_of(const conv_block *s, int64_t channel)
{
    if (s->codes == NULL)
        return (mw__gemm_codes){0};
    return (mw__gemm_codes){
        .row_scales = s->codes->weight_scales + channel, .column_scales = &s->codes->x_scale, .each_row = true};
}

/* sums [rows, count] of channels `row` .. of the group */
static void multiply_rows(const conv_block *s, const mw__kernel_call *call, const conv_tile *t, int64_t row,
                          int64_t rows, const conv_scratch *scratch)
{
    const int64_t from = (t->group * s->outputs + row) * s->depth;
    const float *const start = starts_with_bias(s) ? bias_of(s, call) + t->group * s->outputs + row : NULL;
    const bool packed = s->packed != NULL;
    const mw__gemm_codes codes = codes_of(s, t->group * s->outputs + row);
    int64_t at = 0;
    do {
        const int64_t depth = mw__i64_min(s->depth - at, s->deep);
        const mw__gemm_shape shape = {.m = rows,
                                      .n = t->count,
                                      .k = depth,
                                      .lda = packed ? depth : s->depth,
                                      .ldb = t->count,
                                      .ldc = t->count,
                                      .start = start,
                                      .start_of_rows = true,
                                      .codes = s->codes != NULL ? &codes : NULL};
        gather_columns(s, call->in[0], t->group, at, depth, t->first, t->count, scratch->columns);
        if (packed)
            expand_weight(s, from + at, rows, depth, scratch->weight);
        mw__gemm(&s->code, &shape, packed ? scratch->weight : (const float *)call->in[1] + from + at, scratch->columns,
                 at == 0 ? scratch->sums : scratch->part, scratch->gemm);
        if (at > 0)
            add_sums(scratch->sums, scratch->part, rows * t->count);
        at += depth;
    } while (at < s->depth);
}

/* One channel of a tile to its places in the examples. */
static void store_channel(const conv_block *s, const conv_tile *t, int64_t channel, const float *sums, void *out)
{
    const int64_t area = s->window.area_out, channels = s->groups * s->outputs;
    for (int64_t done = 0; done < t->count;) {
        const int64_t at = t->first + done, run = mw__i64_min(t->count - done, area - at % area);
        mw__tile_store(out, s->dtype, (at / area * channels + channel) * area + at % area, run, sums + done);
        done += run;
    }
}

static conv_tile tile_of(const conv_block *s, int64_t unit)
{
    const int64_t first = unit % s->tiles * s->tile;
    return (conv_tile){.group = unit / s->tiles, .first = first, .count = mw__i64_min(s->tile, s->columns - first)};
}

static void conv_run(const mw__kernel_call *call)
{
    const conv_block *s = call->block;
    const conv_scratch scratch = divide_scratch(s, call->scratch);
    const bool adds = s->has_bias && !starts_with_bias(s);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const conv_tile t = tile_of(s, unit);
        for (int64_t row = 0; row < s->outputs; row += ROWS) {
            const int64_t rows = mw__i64_min(ROWS, s->outputs - row);
            multiply_rows(s, call, &t, row, rows, &scratch);
            for (int64_t i = 0; i < rows; i++) {
                const int64_t channel = t.group * s->outputs + row + i;
                float *const sums = scratch.sums + i * t.count;
                const float bias = adds ? bias_of(s, call)[channel] : 0.0f;
                for (int64_t k = 0; adds && k < t.count; k++)
                    sums[k] += bias;
                store_channel(s, &t, channel, sums, call->out[0]);
            }
        }
    }
}

/* ---- the plain form ---- */

static double window_sum(const conv_block *s, const float *x, const float *weight, int64_t position)
{
    const mw__conv_window *w = &s->window;
    double sum = 0.0;
    for (int64_t tap = 0; tap < w->taps; tap++) {
        int64_t offset[3];
        mw__conv_tap(w, tap, offset);
        const mw__conv_run run = mw__conv_row(w, offset, position, 1);
        const int64_t at = run.position * w->stride[2] + offset[2];
        if (run.row < 0 || at < 0 || at >= w->in[2])
            continue;
        for (int64_t c = 0; c < s->inputs; c++)
            sum += (double)x[c * w->area_in + run.row + at] * (double)weight[c * w->taps + tap];
    }
    return sum;
}

static void conv_ref(const mw__kernel_call *call)
{
    const conv_block *s = call->block;
    const int64_t area = s->window.area_out, inputs = s->groups * s->inputs, outputs = s->groups * s->outputs;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const conv_tile t = tile_of(s, unit);
        for (int64_t at = t.first; at < t.first + t.count; at++)
            for (int64_t row = 0; row < s->outputs; row++) {
                const int64_t channel = t.group * s->outputs + row, example = at / area;
                const float *x =
                    (const float *)call->in[0] + (example * inputs + t.group * s->inputs) * s->window.area_in;
                const float *weight = (const float *)call->in[1] + channel * s->depth;
                const double bias = s->has_bias ? (double)((const float *)call->in[2])[channel] : 0.0;
                const float sum = (float)(window_sum(s, x, weight, at % area) + bias);
                mw__tile_store(call->out[0], s->dtype, (example * outputs + channel) * area + at % area, 1, &sum);
            }
    }
}

/* ---- planning ---- */

/* Sums of a chip are of all products at once. */
static void choose_tile(mw__planner *planner, conv_block *s)
{
    const bool whole = mw__config_sums(mw__plan_config(planner)) != MW__SUMS_FREE;
    s->deep = whole ? s->depth : mw__i64_min(s->depth, DEPTH);
    const int64_t depth = s->deep > 0 ? s->deep : 1;
    const int64_t wanted = TILE_FLOATS / depth / TILE_LEAST * TILE_LEAST;
    s->tile = mw__i64_min(mw__i64_clamp(wanted, TILE_LEAST, TILE_MOST), s->columns);
    s->tiles = (s->columns + s->tile - 1) / s->tile;
    s->code = mw__plan_gemm(planner, mw__i64_min(s->outputs, ROWS), s->tile, depth);
}

/* In their order, without those that are NULL; how many. */
static size_t plan_operands(mw__planner *planner, const mw_tensor *x, const mw_tensor *weight, const mw_tensor *bias,
                            uint32_t in[3])
{
    const mw_tensor *const operands[3] = {x, weight, bias};
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if (operands[i] != NULL)
            in[count++] = mw__conv_operand(planner, operands[i]);
    return count;
}

/* The column form, and the plain one at MW__LEVEL_REF, but for products that are taken as on a chip. */
static mw_status plan_columns(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *weight = mw__arg(op, "weight"), *bias = mw__arg(op, "bias");
    const mw_tensor *result = op->results[0];
    conv_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    MW_TRY(mw__conv_window_read(op, &s->window, &s->groups, err));
    s->inputs = mw__shape_of(weight).dim[1], s->outputs = mw__shape_of(weight).dim[0] / s->groups;
    s->depth = s->inputs * s->window.taps, s->columns = mw__shape_of(x).dim[0] * s->window.area_out;
    s->dtype = mw__dtype_of(result), s->has_bias = bias != NULL;
    choose_tile(planner, s);
    s->codes = mw__plan_codes(planner, result);
    s->packed = mw__is_packed(weight) ? weight->packed : NULL;
    const bool plain = s->code.level == MW__LEVEL_REF && s->code.sums == MW__SUMS_FREE;
    const double flops = 2.0 * (double)mw__count_of(result) * (double)s->depth;
    const double bytes = 4.0 * (double)s->groups * (double)s->depth * (double)s->columns;
    uint32_t in[3];
    const size_t count = plan_operands(planner, x, s->packed != NULL ? NULL : weight, bias, in);
    mw__step *step =
        mw__plan_step(planner, plain ? conv_ref : conv_run, "conv", s->groups * s->tiles, mw__cost(bytes, flops));
    step->block = s;
    step->report.flops = flops;
    step->scratch =
        plain ? 0
              : scratch_floats(s) * sizeof(float) + mw__gemm_scratch(mw__i64_min(s->outputs, ROWS), s->tile, s->deep);
    for (size_t i = 0; i < count; i++)
        mw__step_read(planner, step, in[i], MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}

#if MW_HAVE_AVX512
#define WIDE_OUTPUTS 8 /* tiles of fewer channels are no faster than those of the direct kernel */

static const char *wide_declines(const void *subject)
{
    mw__packed_request request;
    if (!mw__conv_request_read(subject, &request))
        return "unknown extents";
    if (mw__shape_of(request.weight).dim[0] / request.groups < WIDE_OUTPUTS &&
        mw__conv_direct_declines(&request) == NULL)
        return "few output channels in a group";
    return mw__conv_packed_declines(&request);
}
#endif

mw__implementations mw__conv_implementations(void)
{
    static const mw__implementation rows[] = {
        MW__CONV_DEPTHWISE_ROW,
        MW__CONV_FEW_ROW,
        {.name = "winograd",
         .level = MW__LEVEL_BASE,
         .declines = mw__conv_row_winograd_declines,
         .plan = mw__plan_conv_row_winograd,
         .approximates = true,
         .adds_freely = true},
        {.name = "winograd.lines",
         .level = MW__LEVEL_BASE,
         .declines = mw__conv_row_lines_declines,
         .plan = mw__plan_conv_row_lines,
         .approximates = true,
         .adds_freely = true},
#if MW_HAVE_AVX512
        {.name = "avx512",
         .level = MW__LEVEL_AVX512,
         .declines = mw__conv_avx512_declines,
         .plan = mw__plan_conv_avx512,
         .adds_freely = true},
        {.name = "packed.avx512",
         .level = MW__LEVEL_AVX512,
         .declines = wide_declines,
         .plan = mw__plan_conv_row_packed,
         .takes_packed = true,
         .adds_freely = true},
#endif
        {.name = "direct",
         .level = MW__LEVEL_BASE,
         .declines = mw__conv_row_direct_declines,
         .plan = mw__plan_conv_row_direct,
         .adds_freely = true},
        MW__CONV_PACKED_ROW,
        MW__CONV_FEW_NARROW_ROW,
        {.name = "columns", .level = MW__LEVEL_BASE, .plan = plan_columns, .takes_packed = true},
        {.name = "ref", .level = MW__LEVEL_REF, .plan = plan_columns, .takes_packed = true},
    };
    return MW__IMPLEMENTATIONS(rows);
}

mw_status mw__kernel_conv(mw__planner *planner, const mw__op *op, mw_error *err)
{
    mw__conv_window window;
    int64_t groups;
    if (mw__count_of(op->results[0]) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(mw__conv_window_read(op, &window, &groups, err));
    const mw__implementation *taken = mw__plan_implementation(planner, mw__conv_implementations(), op);
    const mw_tensor *weight = mw__arg(op, "weight");
    if (!taken->takes_packed && mw__is_packed(weight))
        mw__plan_buffer(planner, weight); /* all of it, before the steps that read it */
    return taken->plan(planner, op, err);
}
