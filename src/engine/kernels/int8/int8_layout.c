/* Quads of channels as rows again. */
#include "engine/kernels/int8/int8.h"

typedef struct rows_block {
    int64_t images, channels, pixels;
    uint8_t flip; /* makes codes of the bytes of quads */
    void (*unweave)(const uint32_t *x, int64_t count, uint8_t flip, uint8_t *out, int64_t step);
} rows_block;

/* Byte j of all quads. */
MW__INLINE void byte_of(const uint32_t *x, int64_t count, const int j, uint8_t flip, uint8_t *out)
{
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = (uint8_t)(x[i] >> 8 * j) ^ flip;
}

MW__INLINE void unweave_body(const uint32_t *x, int64_t count, uint8_t flip, uint8_t *out, int64_t step)
{
    byte_of(x, count, 0, flip, out), byte_of(x, count, 1, flip, out + step);
    byte_of(x, count, 2, flip, out + 2 * step), byte_of(x, count, 3, flip, out + 3 * step);
}
MW__BASE_AVX2_AVX512(unweave, (const uint32_t *x, int64_t count, uint8_t flip, uint8_t *out, int64_t step),
                     (x, count, flip, out, step))

/* A unit is an image's quad. */
static void run_unweave(const mw__kernel_call *call)
{
    const rows_block *b = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++)
        b->unweave((const uint32_t *)call->in[0] + unit * b->pixels, b->pixels, b->flip,
                   (uint8_t *)call->out[0] + (unit % b->images * b->channels + unit / b->images * 4) * b->pixels,
                   b->pixels);
}

static bool is_turned_back(const mw__int8_product_match *m, const mw_tensor *x)
{
    return mw__int8_in_quads(m, x) && !mw__int8_in_quads(m, m->result);
}

uint32_t mw__int8_plan_result(mw__planner *planner, const mw__int8_product_match *m, const mw_tensor *x)
{
    return is_turned_back(m, x) ? mw__plan_temporary(planner, (size_t)mw__count_of(m->result))
                                : mw__plan_buffer(planner, m->result);
}

void mw__int8_plan_unweave(mw__planner *planner, const mw__int8_product_match *m, uint32_t from)
{
    const mw_shape shape = mw__shape_of(m->result);
    const uint32_t to = mw__plan_buffer(planner, m->result);
    rows_block *b = from != to ? mw__plan_block(planner, sizeof *b) : NULL;
    if (b == NULL)
        return;
    *b = (rows_block){.images = shape.dim[0],
                      .channels = shape.dim[1],
                      .pixels = mw__shape_span(shape, 2, shape.rank),
                      .flip = mw__dtype_of(m->result) == MW_I8 ? 128 : 0,
                      .unweave = MW__DISPATCH_BEST(unweave, mw__plan_level(planner))};
    mw__step *step = mw__plan_step(planner, run_unweave, "int8.rows", b->images * b->channels / 4,
                                   mw__cost(2.0 * (double)mw__count_of(m->result), 0));
    step->block = b;
    step->report.helper = true;
    mw__step_read(planner, step, from, MW__ROWS, (size_t)b->pixels * 4, false);
    mw__step_write(planner, step, to, MW__WHOLE, 0);
}
