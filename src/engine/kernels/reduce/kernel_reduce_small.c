/* Sums and means over one loop of few turns, without iterators, tiles and double sums; the general code and the plan
 * are in kernel_reduce.c, and both give the same bits. */
#include "engine/kernels/reduce/kernel_reduce.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include <string.h>

#define WIDTH 64 /* columns that are added together */

MW__INLINE void rows_body(const mw__kernel_call *call)
{
    const mw__reduce_small *s = call->block;
    const float *x = call->in[0];
    float *out = call->out[0];
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    for (; at < end; at++) {
        const float sum = mw__lanes_sum(x + at * s->step, s->reduced);
        out[at] = s->mean ? (float)((double)sum / (double)s->reduced) : sum;
    }
}
MW__BASE_AVX2(rows, (const mw__kernel_call *call), (call))

MW__INLINE void columns_body(const mw__kernel_call *call)
{
    const mw__reduce_small *s = call->block;
    int64_t at, end;
    mw__units_range(call, s->elements, s->count, &at, &end);
    for (; at < end; at += WIDTH) {
        const int64_t width = end - at < WIDTH ? end - at : WIDTH;
        const float *x = (const float *)call->in[0] + at;
        float *out = (float *)call->out[0] + at, sum[WIDTH];
        for (int64_t j = 0; j < width; j++)
            sum[j] = 0.0f;
        for (int64_t row = 0; row < s->reduced; row++, x += s->stride)
            MW__VECTORIZE for (int64_t j = 0; j < width; j++) sum[j] += x[j];
        if (s->mean)
            for (int64_t j = 0; j < width; j++)
                out[j] = (float)((double)sum[j] / (double)s->reduced);
        else
            memcpy(out, sum, (size_t)width * sizeof *out);
    }
}
MW__BASE_AVX2(columns, (const mw__kernel_call *call), (call))

static bool fill_small_block(const mw__nd_iter *outer, const mw__nd_iter *inner, mw__reduce_small *block)
{
    block->reduced = inner->extent[0];
    block->step = outer->stride[0][0];
    block->stride = inner->stride[0][0];
    return outer->rank == 1 && inner->rank == 1;
}

mw__kernel *mw__reduce_small_columns(mw__level level, const mw__nd_iter *outer, const mw__nd_iter *inner,
                                     mw__reduce_small *block)
{
    const bool suits = fill_small_block(outer, inner, block) && block->step == 1 && block->reduced <= MW__REDUCE_ROWS;
    return suits ? MW__DISPATCH(columns, level) : NULL;
}

mw__kernel *mw__reduce_small_rows(mw__level level, const mw__nd_iter *outer, const mw__nd_iter *inner,
                                  mw__reduce_small *block)
{
    const bool suits = fill_small_block(outer, inner, block) && (block->stride == 1 || block->reduced == 1) &&
                       block->reduced <= MW__TILE;
    return suits ? MW__DISPATCH(rows, level) : NULL;
}
