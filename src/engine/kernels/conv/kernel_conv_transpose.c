/* conv_transpose: the weight times a tile of x, then the products are added where they belong (col2im). A unit is a
 * block of channels of one example, which no other unit writes. The plain loops are transpose_ref. */
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_direct.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/implementation.h"

#include <string.h>

#define UNIT_FLOATS 65536 /* of sums, and of products */
#define TILE_LEAST  16

typedef struct transpose_block {
    mw__conv_window window;          /* in = the result, out = x */
    int64_t groups, inputs, outputs; /* channels of a group */
    int64_t channels, blocks;        /* of a unit; units of a group */
    int64_t tile;
    mw_dtype dtype;
    bool has_bias;
    mw__gemm_code code;
} transpose_block;

/* Where a unit stands. */
typedef struct transpose_unit {
    int64_t example, group, channel; /* the first one within the group */
} transpose_unit;

static transpose_unit unit_of(const transpose_block *s, int64_t unit)
{
    return (transpose_unit){.example = unit / s->blocks / s->groups,
                            .group = unit / s->blocks % s->groups,
                            .channel = unit % s->blocks * s->channels};
}

static void start(const transpose_block *s, const transpose_unit *u, const float *bias, float *sums)
{
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t i = 0; i < s->window.area_in; i++)
            sums[c * s->window.area_in + i] = bias != NULL ? bias[u->group * s->outputs + u->channel + c] : 0.0f;
}

/* Adds the products of one tap at positions [first, first + count) to a plane. */
static void scatter(const mw__conv_window *w, int64_t tap, int64_t first, int64_t count, const float *products,
                    float *plane)
{
    int64_t offset[3];
    mw__conv_tap(w, tap, offset);
    for (int64_t end = first + count; first < end;) {
        const mw__conv_run run = mw__conv_row(w, offset, first, end - first);
        int64_t begin = 0, stop = 0;
        if (run.row >= 0)
            mw__conv_inside(w, &run, offset[2], &begin, &stop);
        for (int64_t p = begin; p < stop; p++)
            plane[run.row + p * w->stride[2] + offset[2]] += products[p - run.position];
        products += run.count;
        first += run.count;
    }
}

static void add_tile(const transpose_block *s, const mw__kernel_call *call, const transpose_unit *u, int64_t first,
                     float *sums)
{
    const mw__conv_window *w = &s->window;
    const int64_t count = mw__i64_min(s->tile, w->area_out - first);
    float *const products = call->scratch; /* [channels, taps, count] */
    void *const gemm = products + mw__i64_round_up(s->channels * w->taps * s->tile, 16);
    const mw__gemm_shape shape = {.m = s->channels * w->taps,
                                  .n = count,
                                  .k = s->inputs,
                                  .lda = s->outputs * w->taps,
                                  .ldb = w->area_out,
                                  .ldc = count,
                                  .transpose_a = true};
    const float *weight = (const float *)call->in[1] + (u->group * s->inputs * s->outputs + u->channel) * w->taps;
    const float *x = (const float *)call->in[0] + (u->example * s->groups + u->group) * s->inputs * w->area_out + first;
    mw__gemm(&s->code, &shape, weight, x, products, gemm);
    for (int64_t row = 0; row < shape.m; row++)
        scatter(w, row % w->taps, first, count, products + row * count, sums + row / w->taps * w->area_in);
}

static void transpose_run(const mw__kernel_call *call)
{
    const transpose_block *s = call->block;
    const float *bias = s->has_bias ? call->in[2] : NULL;
    const int64_t elements = s->channels * s->window.area_in;
    const size_t products = (size_t)mw__i64_round_up(s->channels * s->window.taps * s->tile, 16) * sizeof(float);
    const size_t gemm = mw__gemm_scratch(s->channels * s->window.taps, s->tile, s->inputs);
    float *const own = (float *)(void *)((char *)call->scratch + products + (gemm + 63) / 64 * 64);
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const transpose_unit u = unit_of(s, unit);
        float *const sums = s->dtype == MW_F32 ? (float *)call->out[0] + unit * elements : own;
        start(s, &u, bias, sums);
        for (int64_t first = 0; first < s->window.area_out; first += s->tile)
            add_tile(s, call, &u, first, sums);
        if (s->dtype != MW_F32)
            mw__tile_store(call->out[0], s->dtype, unit * elements, elements, sums);
    }
}

/* ---- the plain form ---- */

static void transpose_ref(const mw__kernel_call *call)
{
    const transpose_block *s = call->block;
    const mw__conv_window *w = &s->window;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const transpose_unit u = unit_of(s, unit);
        const float *x = (const float *)call->in[0] + (u.example * s->groups + u.group) * s->inputs * w->area_out;
        for (int64_t i = 0; i < s->channels * w->area_in; i++) {
            const int64_t channel = u.channel + i / w->area_in;
            double sum = s->has_bias ? (double)((const float *)call->in[2])[u.group * s->outputs + channel] : 0.0;
            for (int64_t tap = 0; tap < w->taps; tap++) {
                const int64_t from = mw__conv_transpose_source(w, tap, i % w->area_in);
                const float *weight =
                    (const float *)call->in[1] + (u.group * s->inputs * s->outputs + channel) * w->taps + tap;
                for (int64_t c = 0; from >= 0 && c < s->inputs; c++)
                    sum += (double)x[c * w->area_out + from] * (double)weight[c * s->outputs * w->taps];
            }
            const float rounded = (float)sum;
            mw__tile_store(call->out[0], s->dtype, unit * s->channels * w->area_in + i, 1, &rounded);
        }
    }
}

/* ---- planning ---- */

/* As many channels as fit, so that units are equal. */
static void choose_unit(mw__planner *planner, transpose_block *s)
{
    const mw__conv_window *w = &s->window;
    const int64_t least = mw__i64_min(TILE_LEAST, w->area_out) * w->taps;
    const int64_t each = least > w->area_in ? least : w->area_in;
    s->channels = 1;
    for (int64_t n = 2; n <= s->outputs && n * each <= UNIT_FLOATS; n++)
        if (s->outputs % n == 0)
            s->channels = n;
    s->blocks = s->outputs / s->channels;
    const int64_t wanted = UNIT_FLOATS / (s->channels * w->taps);
    s->tile = mw__i64_min(wanted > TILE_LEAST ? wanted : TILE_LEAST, w->area_out);
    s->code = mw__plan_gemm(planner, s->channels * w->taps, s->tile, s->inputs);
}

static size_t scratch_bytes(const transpose_block *s)
{
    const size_t products = (size_t)mw__i64_round_up(s->channels * s->window.taps * s->tile, 16) * sizeof(float);
    const size_t gemm = mw__gemm_scratch(s->channels * s->window.taps, s->tile, s->inputs);
    const size_t sums = s->dtype == MW_F32 ? 0 : (size_t)(s->channels * s->window.area_in) * sizeof(float);
    return products + (gemm + 63) / 64 * 64 + sums;
}

static mw_status plan_product(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *weight = mw__arg(op, "weight"), *bias = mw__arg(op, "bias");
    const mw_tensor *result = op->results[0];
    transpose_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    MW_TRY(mw__conv_window_read(op, &s->window, &s->groups, err));
    s->inputs = mw__shape_of(weight).dim[0] / s->groups, s->outputs = mw__shape_of(weight).dim[1];
    s->dtype = mw__dtype_of(result), s->has_bias = bias != NULL;
    choose_unit(planner, s);
    const bool plain = mw__plan_level(planner) == MW__LEVEL_REF;
    const double products = (double)mw__count_of(x) * (double)s->outputs * (double)s->window.taps;
    const uint32_t in[3] = {mw__conv_operand(planner, x), mw__conv_operand(planner, weight),
                            bias != NULL ? mw__conv_operand(planner, bias) : 0};
    const int64_t units = mw__shape_of(x).dim[0] * s->groups * s->blocks;
    mw__step *step = mw__plan_step(planner, plain ? transpose_ref : transpose_run, "conv_transpose", units,
                                   mw__cost(4.0 * products / (double)(s->inputs > 0 ? s->inputs : 1), 2.0 * products));
    step->block = s;
    step->report.flops = 2.0 * products;
    step->scratch = plain ? 0 : scratch_bytes(s);
    for (int i = 0; i < (bias != NULL ? 3 : 2); i++)
        mw__step_read(planner, step, in[i], MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS,
                   (size_t)(s->channels * s->window.area_in) * mw__dtype_size(s->dtype));
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_conv_transpose(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static const mw__implementation rows[] = {
        MW__CONV_DEPTHWISE_ROW,
        MW__CONV_FEW_ROW,
        {.name = "packed.avx512",
         .level = MW__LEVEL_AVX512,
         .declines = mw__conv_row_packed_declines,
         .plan = mw__plan_conv_row_packed,
         .adds_freely = true},
        {.name = "direct",
         .level = MW__LEVEL_BASE,
         .declines = mw__conv_row_direct_declines,
         .plan = mw__plan_conv_row_direct,
         .adds_freely = true},
        MW__CONV_PACKED_ROW,
        MW__CONV_FEW_NARROW_ROW,
        {.name = "product", .level = MW__LEVEL_BASE, .plan = plan_product, .adds_freely = true},
        {.name = "ref", .plan = plan_product, .adds_freely = true},
        {.name = "gathered", .plan = mw__plan_conv_transpose_gathered}};
    if (mw__count_of(op->results[0]) == 0)
        return mw__plan_check(planner, err);
    return mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), op)->plan(planner, op, err);
}
