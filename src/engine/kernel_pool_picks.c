/* The gradient of a pooling by its picks, as a step of its own. The pooling itself is part of a convolution
 * (kernel_conv_pool.c). */
#include "engine/kernel_pool_picks.h"

#include "engine/idiom.h"
#include "graph/window.h"

#include <string.h>

static bool read_windows(const mw__op *pool, mw__window windows[MW__WINDOW_AXES])
{
    mw_error ignored = {0};
    int64_t kernel[MW__WINDOW_AXES];
    size_t count = 0;
    const mw_shape x = mw__shape_of(mw__arg(pool, "x"));
    return mw__arg_ints(pool, "kernel_sizes", kernel, MW__WINDOW_AXES, &count) && count == 2 && x.rank == 4 &&
           mw__op_windows(pool, x, kernel, windows, &ignored) == MW_OK;
}

bool mw__pool_picks_suits(const mw__op *pool)
{
    mw__window windows[MW__WINDOW_AXES];
    if (mw__loop_level() != MW__LEVEL_WIDER || mw__dtype_of(pool->results[0]) != MW_F32 ||
        mw__count_of(pool->results[0]) <= 0 || !read_windows(pool, windows))
        return false;
    for (int i = 0; i < 2; i++) {
        const mw__window *w = &windows[i];
        if (w->kernel != 2 || w->stride != 2 || w->dilation != 1 || w->before != 0 || w->after != 0 ||
            2 * w->out > w->in)
            return false;
    }
    return true;
}

mw__picked mw__picked_of(const mw__op *pool)
{
    const mw_shape x = mw__shape_of(mw__arg(pool, "x")), y = mw__shape_of(pool->results[0]);
    return (mw__picked){.in = {x.dim[2], x.dim[3]}, .out = {y.dim[2], y.dim[3]}, .count = y.dim[2] * y.dim[3]};
}

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define STEP   8 /* windows side by side */

/* `count` windows of a row, at most STEP. */
MW__INLINE TARGET void unpool_windows(const float *dy, const uint8_t *picks, int64_t count, float *upper, float *lower)
{
    const __mmask16 windows = (__mmask16)((1u << count) - 1), elements = (__mmask16)((1u << 2 * count) - 1);
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const __m512 d =
        _mm512_permutexvar_ps(twice, _mm512_add_ps(_mm512_maskz_loadu_ps(windows, dy), _mm512_setzero_ps()));
    const __m128i bytes = _mm_maskz_loadu_epi8(windows, picks), pairs = _mm_unpacklo_epi8(bytes, bytes);
    const __mmask16 above = _mm_cmpeq_epi8_mask(pairs, _mm_set1_epi16(0x0100));
    const __mmask16 below = _mm_cmpeq_epi8_mask(pairs, _mm_set1_epi16(0x0302));
    _mm512_mask_storeu_ps(upper, elements, _mm512_maskz_mov_ps(above, d));
    _mm512_mask_storeu_ps(lower, elements, _mm512_maskz_mov_ps(below, d));
}

TARGET void mw__unpool(const mw__picked *p, const float *dy, const uint8_t *picks, float *dx, int64_t pitch)
{
    for (int64_t i = 0; i < p->out[0]; i++, dx += 2 * pitch)
        for (int64_t j = 0; j < p->out[1]; j += STEP) {
            const int64_t left = p->out[1] - j, at = i * p->out[1] + j;
            unpool_windows(dy + at, picks + at, left < STEP ? left : STEP, dx + 2 * j, dx + pitch + 2 * j);
        }
}

#else

void mw__unpool(const mw__picked *p, const float *dy, const uint8_t *picks, float *dx, int64_t pitch)
{
    (void)p, (void)dy, (void)picks, (void)dx, (void)pitch;
}

#endif

/* ---- the step: a unit is a plane ---- */

static void unpool_run(const mw__kernel_call *call)
{
    const mw__picked *p = call->block;
    const int64_t in = p->in[0] * p->in[1];
    const bool covered = 2 * p->out[0] == p->in[0] && 2 * p->out[1] == p->in[1];
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        float *dx = (float *)call->out[0] + plane * in;
        if (!covered)
            memset(dx, 0, (size_t)in * sizeof *dx);
        mw__unpool(p, (const float *)call->in[0] + plane * p->count, (const uint8_t *)call->in[1] + plane * p->count,
                   dx, p->in[1]);
    }
}

mw_status mw__plan_unpool(mw__planner *planner, const mw__idiom *idiom, mw_error *err)
{
    mw__picked *p = mw__plan_block(planner, sizeof *p);
    if (p == NULL)
        return mw__plan_check(planner, err);
    *p = mw__picked_of(idiom->forward);
    const size_t in = (size_t)(p->in[0] * p->in[1]), out = (size_t)p->count;
    const double elements = (double)mw__count_of(idiom->result);
    const bool relu = idiom->kind == MW__IDIOM_RELU_MAX_POOL_GRADIENT;
    mw__step *step = mw__plan_step(planner, unpool_run, relu ? "relu.max_pool.gradient" : "max_pool.gradient",
                                   mw__count_of(idiom->result) / (int64_t)in, mw__cost(5.0 * elements, elements));
    step->block = p;
    mw__step_read(planner, step, mw__plan_buffer(planner, idiom->dy), MW__ROWS, out * sizeof(float), false);
    mw__step_read(planner, step, *idiom->picks, MW__ROWS, out, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, idiom->result), MW__ROWS, in * sizeof(float));
    return mw__plan_check(planner, err);
}
