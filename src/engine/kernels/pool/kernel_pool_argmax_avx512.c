/* The gradient of a pooling by its argmax, as a step of its own and as lists of elements for convolutions. The pooling
 * itself is part of a convolution (kernel_conv_pool.c). */
#include "engine/kernels/pool/kernel_pool_argmax_avx512.h"
#include "engine/kernels/common_avx512.h"

#include "engine/kernels/pattern_plans.h"
#include "graph/geometry/window.h"

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

bool mw__pool_argmax_suits(const mw__op *pool)
{
    mw__window windows[MW__WINDOW_AXES];
    if (mw__dtype_of(pool->results[0]) != MW_F32 || mw__count_of(pool->results[0]) <= 0 || !read_windows(pool, windows))
        return false;
    for (int i = 0; i < 2; i++) {
        const mw__window *w = &windows[i];
        if (w->kernel != 2 || w->stride != 2 || w->dilation != 1 || w->before != 0 || w->after != 0 ||
            2 * w->out > w->in)
            return false;
    }
    return true;
}

mw__argmax_windows mw__argmax_windows_of(const mw__op *pool)
{
    const mw_shape x = mw__shape_of(mw__arg(pool, "x")), y = mw__shape_of(pool->results[0]);
    return (mw__argmax_windows){.in = {x.dim[2], x.dim[3]}, .out = {y.dim[2], y.dim[3]}, .count = y.dim[2] * y.dim[3]};
}

mw__argmax_places mw__argmax_places_of(mw__planner *planner, const mw__argmax_windows *p, int64_t right, int64_t down)
{
    int32_t *const corner = mw__plan_block(planner, (size_t)(p->count + LANES) * sizeof *corner);
    mw__argmax_places places = {.corner = corner};
    for (int64_t i = 0; corner != NULL && i < p->count; i++)
        corner[i] = (int32_t)(2 * (i / p->out[1]) * down + 2 * (i % p->out[1]) * right);
    for (int i = 0; i < MW__ARGMAX_NONE; i++)
        places.element[i] = (int32_t)(i / 2 * down + i % 2 * right);
    return places;
}

static int64_t list_floats(const mw__argmax_windows *p) { return (p->count + 2 * LANES) / LANES * LANES; }

size_t mw__argmax_list_bytes(const mw__argmax_windows *p) { return (size_t)(2 * list_floats(p)) * sizeof(float); }

mw__argmax_list mw__argmax_list_in(const mw__argmax_windows *p, float *memory)
{
    return (mw__argmax_list){.d = memory, .at = (int32_t *)(void *)(memory + list_floats(p))};
}

#define AHEAD 4096 /* bytes of dy that are asked for early */

/* Windows side by side, up to 16, and their elements in a row of x: 16 and what is beyond them. */
typedef struct beside {
    __mmask16 windows, left, right;
} beside;

static beside beside_of(int64_t count)
{
    const int64_t more = 2 * count - LANES;
    return (beside){.windows = mw__first_lanes(count),
                    .left = mw__first_lanes(2 * count),
                    .right = mw__first_lanes(more > 0 ? more : 0)};
}

/* One row of x under windows: `which` are the numbers of its elements in a window. */
MW__INLINE void put_row(const beside *b, __m512 left, __m512 right, __m128i low, __m128i high, int16_t which, float *dx)
{
    const __m128i wanted = _mm_set1_epi16(which);
    _mm512_mask_storeu_ps(dx, b->left, _mm512_maskz_mov_ps(_mm_cmpeq_epi8_mask(low, wanted), left));
    if (b->right != 0)
        _mm512_mask_storeu_ps(dx + LANES, b->right, _mm512_maskz_mov_ps(_mm_cmpeq_epi8_mask(high, wanted), right));
}

MW__INLINE void unpool_windows(const beside *b, const float *dy, const uint8_t *argmax, float *upper, float *lower)
{
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const __m512 d = _mm512_add_ps(_mm512_maskz_loadu_ps(b->windows, dy), _mm512_setzero_ps());
    const __m512 left = _mm512_permutexvar_ps(twice, d);
    const __m512 right = _mm512_permutexvar_ps(_mm512_add_epi32(twice, _mm512_set1_epi32(8)), d);
    const __m128i bytes = _mm_maskz_loadu_epi8(b->windows, argmax);
    const __m128i low = _mm_unpacklo_epi8(bytes, bytes), high = _mm_unpackhi_epi8(bytes, bytes);
    put_row(b, left, right, low, high, 0x0100, upper);
    put_row(b, left, right, low, high, 0x0302, lower);
}

void mw__unpool(const mw__argmax_windows *p, const float *dy, const uint8_t *argmax, float *dx, int64_t pitch)
{
    const int64_t whole = p->out[1] / LANES * LANES;
    const beside all = beside_of(LANES), rest = beside_of(p->out[1] - whole);
    for (int64_t i = 0; i < p->out[0]; i++, dx += 2 * pitch, dy += p->out[1], argmax += p->out[1]) {
        for (int64_t j = 0; j < whole; j += LANES)
            unpool_windows(&all, dy + j, argmax + j, dx + 2 * j, dx + pitch + 2 * j);
        if (rest.windows != 0)
            unpool_windows(&rest, dy + whole, argmax + whole, dx + 2 * whole, dx + pitch + 2 * whole);
    }
}

/* Appends what is taken. */
MW__INLINE int64_t append(const mw__argmax_list *list, int64_t count, __mmask16 taken, __m512 d, __m512i at)
{
    _mm512_storeu_si512(list->at + count, _mm512_maskz_compress_epi32(taken, at));
    _mm512_storeu_ps(list->d + count, _mm512_maskz_compress_ps(taken, d));
    return count + __builtin_popcount(taken);
}

int64_t mw__argmax_collect(const mw__argmax_windows *p, const mw__argmax_places *places, const float *dy,
                           const uint8_t *argmax, const mw__argmax_list *list, float *bias)
{
    const __m512i element = _mm512_loadu_si512(places->element), none = _mm512_set1_epi32(MW__ARGMAX_NONE);
    const mw__argmax_list to = *list;
    const int32_t *const corner = places->corner;
    const int64_t windows = p->count;
    __m512 sum = _mm512_loadu_ps(bias);
    int64_t count = 0;
    for (int64_t w = 0; w < windows; w += LANES) {
        const __mmask16 there = mw__first_lanes(windows - w);
        mw__kernel_prefetch(dy + w, AHEAD);
        const __m512i winner = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, argmax + w));
        const __mmask16 taken = _mm512_mask_cmplt_epi32_mask(there, winner, none);
        const __m512 d = _mm512_maskz_loadu_ps(taken, dy + w);
        const __m512i inside = _mm512_permutexvar_epi32(winner, element);
        sum = _mm512_add_ps(sum, d);
        count = append(&to, count, taken, d, _mm512_add_epi32(_mm512_loadu_si512(corner + w), inside));
    }
    _mm512_storeu_ps(bias, sum);
    return count;
}

/* Of up to 8 windows of a row both rows of x at once: its upper ones in the lower half of the vectors. */
MW__INLINE int64_t collect_row(const mw__argmax_places *places, int64_t windows, const int32_t *corner, const float *dy,
                               const uint8_t *argmax, const mw__argmax_list *list, int64_t count)
{
    const __m512i both = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    const __mmask16 there = mw__first_lanes(windows);
    const __m512i winner = _mm512_permutexvar_epi32(both, _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, argmax)));
    const __mmask16 upper = _mm512_cmplt_epi32_mask(winner, _mm512_set1_epi32(2));
    const __mmask16 lower = _mm512_cmplt_epi32_mask(winner, _mm512_set1_epi32(MW__ARGMAX_NONE)) & (__mmask16)~upper;
    const __mmask16 taken = (there & upper) | ((__mmask16)(there << 8) & lower);
    const __m512i at = _mm512_add_epi32(_mm512_permutexvar_epi32(both, _mm512_loadu_si512(corner)),
                                        _mm512_permutexvar_epi32(winner, _mm512_loadu_si512(places->element)));
    const __m512 d = _mm512_permutexvar_ps(both, _mm512_maskz_loadu_ps(there, dy));
    return append(list, count, taken, d, at);
}

/* The windows of a row whose winner is in row `half` of x. */
MW__INLINE int64_t collect_half(const mw__argmax_places *places, int64_t windows, const int32_t *corner,
                                const float *dy, const uint8_t *argmax, int half, const mw__argmax_list *list,
                                int64_t count)
{
    const __m512i element = _mm512_loadu_si512(places->element);
    for (int64_t w = 0; w < windows; w += LANES) {
        const __mmask16 there = mw__first_lanes(windows - w);
        const __m512i winner = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, argmax + w));
        const __mmask16 taken =
            _mm512_mask_cmpeq_epi32_mask(there, _mm512_srli_epi32(winner, 1), _mm512_set1_epi32(half));
        const __m512i at = _mm512_add_epi32(_mm512_loadu_si512(corner + w), _mm512_permutexvar_epi32(winner, element));
        count = append(list, count, taken, _mm512_maskz_loadu_ps(taken, dy + w), at);
    }
    return count;
}

int64_t mw__argmax_collect_in_order(const mw__argmax_windows *p, const mw__argmax_places *places, const float *dy,
                                    const uint8_t *argmax, const mw__argmax_list *list)
{
    const mw__argmax_list to = *list;
    const int64_t windows = p->out[1];
    int64_t count = 0;
    for (int64_t i = 0; i < p->out[0]; i++, dy += windows, argmax += windows) {
        const int32_t *const corner = places->corner + i * windows;
        if (windows <= 8)
            count = collect_row(places, windows, corner, dy, argmax, &to, count);
        else
            for (int half = 0; half < 2; half++)
                count = collect_half(places, windows, corner, dy, argmax, half, &to, count);
    }
    return count;
}

/* ---- the step: a unit is a plane ---- */

static void unpool_run(const mw__kernel_call *call)
{
    const mw__argmax_windows *p = call->block;
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

mw_status mw__plan_unpool(mw__planner *planner, const mw__unpool_match *match, mw_error *err)
{
    mw__argmax_windows *p = mw__plan_block(planner, sizeof *p);
    if (p == NULL)
        return mw__plan_check(planner, err);
    *p = mw__argmax_windows_of(match->pool);
    const size_t in = (size_t)(p->in[0] * p->in[1]), out = (size_t)p->count;
    const double elements = (double)mw__count_of(match->dx);
    mw__step *step = mw__plan_step(planner, unpool_run, match->relu ? "relu.max_pool.unpool" : "max_pool.unpool",
                                   mw__count_of(match->dx) / (int64_t)in, mw__cost(5.0 * elements, elements));
    step->block = p;
    step->span = 1;
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__ROWS, out * sizeof(float), false);
    mw__step_read(planner, step, *match->argmax, MW__ROWS, out, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dx), MW__ROWS, in * sizeof(float));
    return mw__plan_check(planner, err);
}
