/* conv_transpose where sums are those of a chip: each sum takes all its products at once, in the order of channels. So
 * the elements of x that each place of the result takes are gathered, with zeros where a tap finds none, and multiplied
 * with the weight, as a conv does it. A unit is some places of one group of one example. */
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv.h"
#include "engine/kernels/gemm/gemm.h"

#include <string.h>

#define TILE_FLOATS 131072 /* of columns */
#define TILE_MOST   512
#define TILE_LEAST  16

typedef struct gather_block {
    mw__conv_window window;          /* in = the result, out = x */
    int64_t groups, inputs, outputs; /* channels of a group */
    int64_t depth, tile, tiles;      /* of products of a sum; places of a unit, units of a group */
    mw_dtype dtype;
    bool has_bias;
    mw__gemm_code code;
} gather_block;

/* A partition's scratch. */
typedef struct gather_scratch {
    float *weight;   /* [outputs, inputs, taps] of a group */
    float *columns;  /* [inputs, taps, tile] */
    float *sums;     /* [outputs, tile] */
    int64_t *source; /* [tile] */
    void *gemm;
} gather_scratch;

static gather_scratch divide_scratch(const gather_block *s, void *memory, size_t *out_bytes)
{
    const size_t weight = mw__size_round_up((size_t)(s->outputs * s->depth) * sizeof(float), 64),
                 columns = mw__size_round_up((size_t)(s->depth * s->tile) * sizeof(float), 64),
                 sums = mw__size_round_up((size_t)(s->outputs * s->tile) * sizeof(float), 64),
                 source = mw__size_round_up((size_t)s->tile * sizeof(int64_t), 64);
    char *const at = memory;
    *out_bytes = weight + columns + sums + source + mw__gemm_scratch(s->outputs, s->tile, s->depth);
    if (memory == NULL)
        return (gather_scratch){0};
    return (gather_scratch){.weight = memory,
                            .columns = (float *)(void *)(at + weight),
                            .sums = (float *)(void *)(at + weight + columns),
                            .source = (int64_t *)(void *)(at + weight + columns + sums),
                            .gemm = at + weight + columns + sums + source};
}

/* The element of x that a tap carries to a place of the result; -1 if there is none. */
int64_t mw__conv_transpose_source(const mw__conv_window *w, int64_t tap, int64_t at)
{
    int64_t offset[3], from = 0, rest[3] = {at / (w->in[1] * w->in[2]), at / w->in[2] % w->in[1], at % w->in[2]};
    mw__conv_tap(w, tap, offset);
    for (int i = 0; i < 3; i++) {
        const int64_t spread = rest[i] - offset[i];
        if (spread < 0 || spread % w->stride[i] != 0 || spread / w->stride[i] >= w->out[i])
            return -1;
        from = from * w->out[i] + spread / w->stride[i];
    }
    return from;
}

static void turn_weight(const gather_block *s, const float *weight, int64_t group, float *out)
{
    const int64_t taps = s->window.taps;
    for (int64_t c = 0; c < s->inputs; c++)
        for (int64_t o = 0; o < s->outputs; o++)
            memcpy(out + o * s->depth + c * taps, weight + ((group * s->inputs + c) * s->outputs + o) * taps,
                   (size_t)taps * sizeof *out);
}

static void gather_columns(const gather_block *s, const float *x, int64_t first, int64_t count,
                           const gather_scratch *scratch)
{
    const int64_t taps = s->window.taps;
    for (int64_t tap = 0; tap < taps; tap++) {
        for (int64_t i = 0; i < count; i++)
            scratch->source[i] = mw__conv_transpose_source(&s->window, tap, first + i);
        for (int64_t c = 0; c < s->inputs; c++) {
            float *const out = scratch->columns + (c * taps + tap) * count;
            for (int64_t i = 0; i < count; i++)
                out[i] = scratch->source[i] < 0 ? 0.0f : x[c * s->window.area_out + scratch->source[i]];
        }
    }
}

static void add_bias(const gather_block *s, const float *bias, int64_t count, float *sums)
{
    for (int64_t o = 0; o < s->outputs; o++)
        for (int64_t i = 0; i < count; i++)
            sums[o * count + i] += bias[o];
}

static void run_unit(const gather_block *s, const mw__kernel_call *call, int64_t unit, const gather_scratch *scratch)
{
    const mw__conv_window *w = &s->window;
    const int64_t plane = unit / s->tiles, group = plane % s->groups, first = unit % s->tiles * s->tile;
    const int64_t count = mw__i64_min(s->tile, w->area_in - first);
    const float *const bias = s->has_bias ? (const float *)call->in[2] + group * s->outputs : NULL;
    const bool starts = s->code.sums == MW__SUMS_FIXED;
    const mw__gemm_shape shape = {.m = s->outputs,
                                  .n = count,
                                  .k = s->depth,
                                  .lda = s->depth,
                                  .ldb = count,
                                  .ldc = count,
                                  .start = starts ? bias : NULL,
                                  .start_of_rows = true};
    gather_columns(s, (const float *)call->in[0] + plane * s->inputs * w->area_out, first, count, scratch);
    mw__gemm(&s->code, &shape, scratch->weight, scratch->columns, scratch->sums, scratch->gemm);
    if (bias != NULL && !starts)
        add_bias(s, bias, count, scratch->sums);
    for (int64_t o = 0; o < s->outputs; o++)
        mw__tile_store(call->out[0], s->dtype, (plane * s->outputs + o) * w->area_in + first, count,
                       scratch->sums + o * count);
}

static void gather_run(const mw__kernel_call *call)
{
    const gather_block *s = call->block;
    size_t ignored;
    const gather_scratch scratch = divide_scratch(s, call->scratch, &ignored);
    int64_t turned = -1;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t group = unit / s->tiles % s->groups;
        if (group != turned)
            turn_weight(s, call->in[1], group, scratch.weight);
        turned = group;
        run_unit(s, call, unit, &scratch);
    }
}

/* ---- planning ---- */

static void fill_block(mw__planner *planner, const mw__op *op, gather_block *s)
{
    const mw_shape weight = mw__shape_of(mw__arg(op, "weight"));
    s->inputs = weight.dim[0] / s->groups, s->outputs = weight.dim[1];
    s->depth = s->inputs * s->window.taps;
    s->dtype = mw__dtype_of(op->results[0]), s->has_bias = mw__arg(op, "bias") != NULL;
    const int64_t depth = s->depth > 0 ? s->depth : 1, wanted = TILE_FLOATS / depth / TILE_LEAST * TILE_LEAST;
    s->tile = mw__i64_min(mw__i64_clamp(wanted, TILE_LEAST, TILE_MOST), s->window.area_in);
    s->tiles = (s->window.area_in + s->tile - 1) / s->tile;
    s->code = mw__plan_gemm(planner, s->outputs, s->tile, s->depth);
}

mw_status mw__plan_conv_transpose_gathered(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *const operands[3] = {mw__arg(op, "x"), mw__arg(op, "weight"), mw__arg(op, "bias")};
    gather_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    MW_TRY(mw__conv_window_read(op, &s->window, &s->groups, err));
    fill_block(planner, op, s);
    uint32_t in[3] = {0};
    for (int i = 0; i < 3 && operands[i] != NULL; i++)
        in[i] = mw__conv_operand(planner, operands[i]);
    const int64_t units = mw__shape_of(operands[0]).dim[0] * s->groups * s->tiles;
    const double products = (double)mw__count_of(op->results[0]) * (double)s->depth;
    mw__step *step =
        mw__plan_step(planner, gather_run, "conv_transpose", units, mw__cost(4.0 * products, 2.0 * products));
    step->block = s;
    step->report.flops = 2.0 * (double)mw__count_of(operands[0]) * (double)s->outputs * (double)s->window.taps;
    divide_scratch(s, NULL, &step->scratch);
    for (int i = 0; i < 3 && operands[i] != NULL; i++)
        mw__step_read(planner, step, in[i], MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
