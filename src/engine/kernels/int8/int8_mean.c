/* Means of codes. The sum of a window is an integer; what a code of the result is follows from it alone. */
#include "engine/kernels/int8/int8_between.h"

#include "base/number/integer.h"

#include <string.h>

enum { AXES = MW__WINDOW_AXES, FLUSH = 256 /* bytes of 255 that 16 bits hold */ };

#define ROUNDER 12582912.0f /* int8_finish.c */

typedef struct mean_block {
    mw__window axis[AXES]; /* missing ones stand in front */
    int64_t in, out;       /* elements of a plane */
    int64_t images, channels;
    bool inside; /* what is around x does not count */
    bool quads;
    uint8_t flip;
    int32_t zero; /* of bytes */
    float x_scale, y_scale, low, high;
    int32_t y_zero;
    void (*add)(const uint8_t *x, int64_t count, uint8_t flip, uint32_t sums[4]);
    void (*add_quads)(const uint8_t *x, int64_t count, uint8_t flip, uint32_t sums[4]);
} mean_block;

/* ---- sums of bytes that follow each other ---- */

MW__INLINE void add_body(const uint8_t *x, int64_t count, uint8_t flip, uint32_t sums[4])
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (uint32_t)(x[i] ^ flip);
    sums[0] += sum;
}
MW__BASE_AVX2_AVX512(add, (const uint8_t *x, int64_t count, uint8_t flip, uint32_t sums[4]), (x, count, flip, sums))

/* Bytes 0 and 2 of a quad, and 1 and 3, as two sums of 16 bits. */
MW__INLINE void quads_body(const uint8_t *x, int64_t count, uint8_t flip, uint32_t sums[4])
{
    (void)flip; /* quads are in the order of their codes */
    for (int64_t at = 0; at < count; at += FLUSH) {
        const uint32_t *const quads = (const uint32_t *)(const void *)x + at;
        const int64_t here = mw__i64_min(count - at, FLUSH);
        uint32_t even = 0, odd = 0;
        for (int64_t i = 0; i < here; i++)
            even += quads[i] & 0xff00ff, odd += quads[i] >> 8 & 0xff00ff;
        sums[0] += even & 0xffff, sums[1] += odd & 0xffff, sums[2] += even >> 16, sums[3] += odd >> 16;
    }
}
MW__BASE_AVX2_AVX512(quads, (const uint8_t *x, int64_t count, uint8_t flip, uint32_t sums[4]), (x, count, flip, sums))

/* ---- windows ---- */

static int64_t first_of(const mw__window *w, int64_t at, int64_t k) { return at * w->stride - w->before + k; }

static uint8_t code_of(const mean_block *b, uint32_t sum, int64_t taken, int64_t divisor)
{
    const int32_t less = (int32_t)((int64_t)sum - taken * b->zero);
    float steps = (float)less * (b->x_scale / ((float)divisor * b->y_scale));
    steps = steps > b->low ? steps : b->low;
    steps = steps < b->high ? steps : b->high;
    return (uint8_t)((int32_t)(steps + ROUNDER - ROUNDER) + b->y_zero);
}

/* The window at (d, h, w) of a plane, whose results lie `step` apart if it has several channels. */
static void mean_at(const mean_block *b, const uint8_t *x, const int64_t at[AXES], int64_t step, uint8_t *out)
{
    uint32_t sums[4] = {0};
    int64_t begin[AXES], end[AXES], taken = 1, divisor = 1;
    for (int i = 0; i < AXES; i++) {
        mw__window_inside(&b->axis[i], at[i], &begin[i], &end[i]);
        taken *= end[i] - begin[i], divisor *= mw__window_padded(&b->axis[i], at[i]);
    }
    const int64_t size = b->quads ? 4 : 1;
    for (int64_t d = begin[0]; d < end[0]; d++)
        for (int64_t h = begin[1]; h < end[1]; h++) {
            const int64_t row = first_of(&b->axis[0], at[0], d) * b->axis[1].in + first_of(&b->axis[1], at[1], h);
            const int64_t from = row * b->axis[2].in + first_of(&b->axis[2], at[2], begin[2]);
            (b->quads ? b->add_quads : b->add)(x + from * size, end[2] - begin[2], b->flip, sums);
        }
    for (int64_t j = 0; j < size; j++)
        out[j * step] = code_of(b, sums[j], taken, b->inside ? taken : divisor);
}

/* A unit is a plane, of one channel or of four. */
static void run_mean(const mw__kernel_call *call)
{
    const mean_block *b = call->block;
    const int64_t size = b->quads ? 4 : 1;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const uint8_t *x = (const uint8_t *)call->in[0] + unit * b->in * size;
        const int64_t plane = b->quads ? unit % b->images * b->channels + unit / b->images * 4 : unit;
        uint8_t *out = (uint8_t *)call->out[0] + plane * b->out;
        int64_t at[AXES];
        for (at[0] = 0; at[0] < b->axis[0].out; at[0]++)
            for (at[1] = 0; at[1] < b->axis[1].out; at[1]++)
                for (at[2] = 0; at[2] < b->axis[2].out; at[2]++)
                    mean_at(b, x, at, b->out, out++);
    }
}

/* ---- planning ---- */

/* An axis of which all is taken. */
static mw__window whole_axis(int64_t extent)
{
    return (mw__window){.in = extent, .kernel = extent, .stride = 1, .dilation = 1, .span = extent, .out = 1};
}

static bool is_spatial_mean(const mw__op *op)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    unsigned taken = 0;
    if (x.rank < 3 || x.rank > 2 + AXES || !mw__arg_present(op, "axes") ||
        !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        taken |= 1u << (axes[i] < 0 ? axes[i] + x.rank : axes[i]);
    return taken == (1u << x.rank) - 4;
}

static bool read_windows(const mw__op *op, mw__window axis[AXES])
{
    const mw_shape shape = mw__shape_of(mw__arg(op, "x"));
    int64_t kernel[AXES];
    size_t count = 0;
    mw_error ignored = {0};
    mw__window windows[AXES];
    const bool pools = mw__op_is(op, "avg_pool");
    if (pools && (!mw__arg_ints(op, "kernel_sizes", kernel, AXES, &count) || count + 2 != (size_t)shape.rank ||
                  mw__op_windows(op, shape, kernel, windows, &ignored) != MW_OK))
        return false;
    if (!pools && (!mw__op_is(op, "reduce_mean") || !is_spatial_mean(op)))
        return false;
    for (int i = 0, from = i - (AXES - (shape.rank - 2)); i < AXES; i++, from++)
        axis[i] = from < 0 ? whole_axis(1) : pools ? windows[from] : whole_axis(shape.dim[2 + from]);
    return true;
}

/* Each window has an element, and its sum fits int32. */
bool mw__int8_mean_suits(const mw__op *op)
{
    mw__window axis[AXES];
    double most = 1.0;
    if (!read_windows(op, axis))
        return false;
    for (int i = 0; i < AXES; most *= (double)axis[i].kernel, i++)
        for (int64_t at = 0; at < axis[i].out; at++) {
            int64_t begin, end;
            mw__window_inside(&axis[i], at, &begin, &end);
            if (begin >= end)
                return false;
        }
    return most < 0x1p22;
}

static void fill_numbers(const mw__int8_product_match *m, mean_block *b)
{
    b->x_scale = m->x_scale, b->y_scale = m->y_scale;
    b->zero = mw__int8_unsigned(mw__dtype_of(m->x), m->x_zero), b->y_zero = m->y_zero;
    b->low = (float)(m->low - m->y_zero), b->high = (float)(m->high - m->y_zero);
    b->flip = mw__int8_flip_of(m, m->x), b->quads = mw__int8_in_quads(m, m->x);
    if (mw__op_is(m->op, "avg_pool"))
        mw__arg_bool(m->op, "exclude_padding_from_average", &b->inside);
}

mw_status mw__plan_int8_mean(mw__planner *planner, const mw__int8_mean_match *match, mw_error *err)
{
    const mw__int8_product_match *m = &match->base;
    const mw_shape shape = mw__shape_of(mw__arg(m->op, "x"));
    const mw__level level = mw__plan_level(planner);
    mean_block *b = mw__plan_block(planner, sizeof *b);
    if (b == NULL || !read_windows(m->op, b->axis))
        return mw__plan_check(planner, err);
    fill_numbers(m, b);
    b->in = mw__shape_span(shape, 2, shape.rank), b->out = b->axis[0].out * b->axis[1].out * b->axis[2].out;
    b->images = shape.dim[0], b->channels = shape.dim[1];
    b->add = MW__DISPATCH_BEST(add, level), b->add_quads = MW__DISPATCH_BEST(quads, level);
    const int64_t planes = b->images * b->channels / (b->quads ? 4 : 1);
    mw__step *step = mw__plan_step(planner, run_mean, "int8.mean", planes, mw__cost((double)mw__count_of(m->x), 0));
    step->block = b;
    mw__step_read(planner, step, mw__plan_buffer(planner, m->x), MW__ROWS, (size_t)b->in * (b->quads ? 4 : 1), false);
    mw__step_write(planner, step, mw__plan_buffer(planner, m->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
