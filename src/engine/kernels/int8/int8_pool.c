/* max_pool of codes. A row of windows is pooled over the rows of x first, then along itself. */
#include "engine/kernels/int8/int8.h"

#include "base/number/integer.h"

#include <string.h>

enum { AXES = MW__WINDOW_AXES };

typedef struct pool_block {
    mw__window axis[AXES]; /* missing ones stand in front */
    int64_t in, out;       /* elements of a plane */
    int64_t size;          /* bytes of an element: of quads 4, which are four channels */
    uint8_t flip;          /* makes bytes of the codes, in whose order they are */
    bool same;             /* each byte of the result is the largest of x */
    uint8_t table[256];    /* what it is else, by that byte as it would lie in x */
    void (*take)(uint8_t *out, const uint8_t *x, int64_t stride, int64_t count, uint8_t flip);
    void (*take_some)(uint8_t *out, const uint8_t *x, int64_t stride, int64_t count, uint8_t flip); /* of elements */
} pool_block;

/* `count` and `stride` are constants where this is inlined: compilers make vectors of 64 bytes of other loops, and rows
 * are shorter than that. */
MW__INLINE void take_block(uint8_t *out, const uint8_t *x, const int64_t stride, const int count, uint8_t flip)
{
    MW__VECTORIZE
    for (int i = 0; i < count; i++) {
        const uint8_t other = x[i * stride] ^ flip;
        out[i] = out[i] > other ? out[i] : other;
    }
}

/* The last block may take some of the one before again. */
MW__INLINE void take_blocks(uint8_t *out, const uint8_t *x, const int64_t stride, int64_t count, const int size,
                            uint8_t flip)
{
    for (int64_t i = 0; i + size <= count; i += size)
        take_block(out + i, x + i * stride, stride, size, flip);
    if (count % size != 0)
        take_block(out + count - size, x + (count - size) * stride, stride, size, flip);
}

MW__INLINE void take_by(uint8_t *out, const uint8_t *x, const int64_t stride, int64_t count, uint8_t flip)
{
    if (count >= 64)
        take_blocks(out, x, stride, count, 64, flip);
    else if (count >= 16)
        take_blocks(out, x, stride, count, 16, flip);
    else
        take_blocks(out, x, stride, count, 1, flip);
}

MW__INLINE void take_body(uint8_t *out, const uint8_t *x, int64_t stride, int64_t count, uint8_t flip)
{
    if (stride == 1)
        take_by(out, x, 1, count, flip);
    else if (stride == 2)
        take_by(out, x, 2, count, flip);
    else
        take_by(out, x, stride, count, flip);
}
MW__BASE_AVX2_AVX512(take, (uint8_t * out, const uint8_t *x, int64_t stride, int64_t count, uint8_t flip),
                     (out, x, stride, count, flip))

enum { SPAN = 64 /* quads that are put side by side at a time */ };

MW__INLINE void pick_quads(uint32_t *out, const uint32_t *x, const int64_t stride, int64_t count)
{
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = x[i * stride];
}

MW__INLINE void quads_body(uint8_t *out, const uint8_t *x, int64_t stride, int64_t count, uint8_t flip)
{
    uint32_t picked[SPAN];
    (void)flip; /* quads are in the order of their codes */
    if (stride == 1) {
        take_by(out, x, 1, 4 * count, 0);
        return;
    }
    for (int64_t at = 0; at < count; at += SPAN) {
        const int64_t here = mw__i64_min(count - at, SPAN);
        const uint32_t *const from = (const uint32_t *)(const void *)x + at * stride;
        if (stride == 2)
            pick_quads(picked, from, 2, here);
        else
            pick_quads(picked, from, stride, here);
        take_by(out + 4 * at, (const uint8_t *)picked, 1, 4 * here, 0);
    }
}
MW__BASE_AVX2_AVX512(quads, (uint8_t * out, const uint8_t *x, int64_t stride, int64_t count, uint8_t flip),
                     (out, x, stride, count, flip))

static mw__window padding_axis(void)
{
    return (mw__window){.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .span = 1, .out = 1};
}

static bool read_windows(const mw__op *pool, mw__window axis[AXES])
{
    const mw_shape shape = mw__shape_of(mw__arg(pool, "x"));
    int64_t kernel[AXES];
    size_t count = 0;
    mw_error ignored = {0};
    mw__window windows[AXES];
    if (!mw__arg_ints(pool, "kernel_sizes", kernel, AXES, &count) || count + 2 != (size_t)shape.rank ||
        mw__op_windows(pool, shape, kernel, windows, &ignored) != MW_OK)
        return false;
    for (size_t i = 0; i < AXES; i++)
        axis[i] = i + count < AXES ? padding_axis() : windows[i + count - AXES];
    return true;
}

bool mw__int8_pool_suits(const mw__op *pool)
{
    mw__window axis[AXES];
    if (!read_windows(pool, axis))
        return false;
    for (int i = 0; i < AXES; i++)
        for (int64_t at = 0; at < axis[i].out; at++) {
            int64_t begin, end;
            mw__window_inside(&axis[i], at, &begin, &end);
            if (begin >= end)
                return false;
        }
    return true;
}

static int64_t first_of(const mw__window *w, int64_t at, int64_t k)
{
    return at * w->stride - w->before + k * w->dilation;
}

/* The largest of the rows that windows (d, h) take, of each column. */
static void pool_rows(const pool_block *b, const uint8_t *x, int64_t d, int64_t h, uint8_t *row)
{
    const mw__window *a = b->axis;
    int64_t d_begin, d_end, h_begin, h_end;
    mw__window_inside(&a[0], d, &d_begin, &d_end);
    mw__window_inside(&a[1], h, &h_begin, &h_end);
    memset(row, 0, (size_t)(a[2].in * b->size));
    for (int64_t i = d_begin; i < d_end; i++)
        for (int64_t k = h_begin; k < h_end; k++)
            b->take(row, x + (first_of(&a[0], d, i) * a[1].in + first_of(&a[1], h, k)) * a[2].in * b->size, 1,
                    a[2].in * b->size, b->flip);
}

/* Then of the columns that each window takes. */
static void pool_columns(const pool_block *b, const uint8_t *row, uint8_t *out)
{
    const mw__window *w = &b->axis[2];
    memset(out, 0, (size_t)(w->out * b->size));
    for (int64_t k = 0; k < w->kernel; k++) {
        const int64_t from = first_of(w, 0, k), low = from < 0 ? (w->stride - 1 - from) / w->stride : 0;
        const int64_t high = from >= w->in ? 0 : mw__i64_min((w->in - 1 - from) / w->stride + 1, w->out);
        if (low < high)
            b->take_some(out + low * b->size, row + (from + low * w->stride) * b->size, w->stride, high - low, 0);
    }
    for (int64_t i = 0; !b->same && i < w->out * b->size; i++)
        out[i] = b->table[out[i] ^ b->flip];
    for (int64_t i = 0; b->same && b->flip != 0 && i < w->out; i++)
        out[i] ^= b->flip;
}

static void run_pool(const mw__kernel_call *call)
{
    const pool_block *b = call->block;
    const mw__window *a = b->axis;
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        uint8_t *out = (uint8_t *)call->out[0] + plane * b->out * b->size;
        for (int64_t d = 0; d < a[0].out; d++)
            for (int64_t h = 0; h < a[1].out; h++, out += a[2].out * b->size) {
                pool_rows(b, (const uint8_t *)call->in[0] + plane * b->in * b->size, d, h, call->scratch);
                pool_columns(b, call->scratch, out);
            }
    }
}

/* By the byte of a code as x has it: the byte as the result has it. */
static void fill_table(const mw__int8_pool_match *m, pool_block *b)
{
    const bool quads = mw__int8_in_quads(&m->base, m->base.x);
    const uint8_t of_x = quads && mw__dtype_of(m->base.x) == MW_I8 ? 128 : 0;
    const uint8_t of_y = quads && mw__dtype_of(m->base.result) == MW_I8 ? 128 : 0;
    b->same = true;
    for (int i = 0; i < 256; i++) {
        b->table[i] = m->table[i ^ of_x] ^ of_y;
        b->same = b->same && b->table[i] == i;
    }
}

mw_status mw__int8_plan_pool(mw__planner *planner, const mw__int8_pool_match *m, mw_error *err)
{
    const mw_shape shape = mw__shape_of(m->base.x);
    pool_block *b = mw__plan_block(planner, sizeof *b);
    if (b == NULL || !read_windows(m->base.op, b->axis))
        return mw__plan_check(planner, err);
    b->in = mw__shape_span(shape, 2, shape.rank), b->out = b->axis[0].out * b->axis[1].out * b->axis[2].out;
    b->flip = mw__int8_flip_of(&m->base, m->base.x);
    b->size = mw__int8_in_quads(&m->base, m->base.x) ? 4 : 1;
    b->take = MW__DISPATCH_BEST(take, mw__plan_level(planner));
    b->take_some = b->size == 4 ? MW__DISPATCH_BEST(quads, mw__plan_level(planner)) : b->take;
    fill_table(m, b);
    const int64_t planes = shape.dim[0] * shape.dim[1] / b->size;
    const uint32_t to = mw__int8_plan_result(planner, &m->base, m->base.x);
    mw__step *step =
        mw__plan_step(planner, run_pool, "int8.pool", planes, mw__cost(2.0 * (double)mw__count_of(m->base.x), 0));
    step->block = b;
    step->scratch = (size_t)(b->axis[2].in * b->size);
    mw__step_read(planner, step, mw__plan_buffer(planner, m->base.x), MW__ROWS, (size_t)(b->in * b->size), false);
    mw__step_write(planner, step, to, MW__ROWS, (size_t)(b->out * b->size));
    mw__int8_plan_unweave(planner, &m->base, to);
    return mw__plan_check(planner, err);
}
