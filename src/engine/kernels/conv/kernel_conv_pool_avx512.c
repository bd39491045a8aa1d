/* conv, relu if there is one, and max_pool over windows of 2 x 2 as one step: two rows of the convolution are pooled
 * while they are near, and its result is never stored. What the pooling took is remembered for its gradient
 * (kernel_pool_argmax.h). Same bits as the three operations. */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/kernel_conv_avx512.h"
#include "engine/kernels/pattern_avx512.h"
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/pool/kernel_pool_argmax_avx512.h"

#include <string.h>

#define PANEL           MW__CONV_PANEL
#define CHUNK_POSITIONS 128 /* windows that are transposed to planes together */

typedef struct pool_block {
    mw__conv_avx512 conv;
    mw__argmax_windows pooling;
    int64_t rows; /* of windows at a time */
    bool relu, keeps;
    const mw__packed_finish *columns; /* of the form for chips; or NULL */
} pool_block;

/* A lane's scratch. */
typedef struct pool_scratch {
    float *lines;    /* [2, width of the convolution, PANEL] */
    float *pooled;   /* [rows, width, PANEL] and what the last square reads beyond them */
    uint8_t *argmax; /* the same */
    float *frame;
} pool_scratch;

static int64_t line_floats(const pool_block *s) { return 2 * s->conv.window.out[2] * PANEL; }

static int64_t pooled_floats(const pool_block *s) { return (s->rows * s->pooling.out[1] + LANES) * PANEL; }

static size_t scratch_bytes(const pool_block *s)
{
    return (size_t)(line_floats(s) + pooled_floats(s) + s->conv.frame) * sizeof(float) + (size_t)pooled_floats(s);
}

static pool_scratch divide_scratch(const pool_block *s, void *memory)
{
    float *const lines = memory, *const pooled = lines + line_floats(s), *const frame = pooled + pooled_floats(s);
    return (pool_scratch){
        .lines = lines, .pooled = pooled, .frame = frame, .argmax = (uint8_t *)(frame + s->conv.frame)};
}

/* What is read before anything is written there: the frame's border, and what lies behind the pooled. */
static void clear_scratch(const pool_block *s, const pool_scratch *scratch)
{
    const int64_t whole = s->rows * s->pooling.out[1] * PANEL, behind = pooled_floats(s) - whole;
    memset(scratch->frame, 0, (size_t)s->conv.frame * sizeof(float));
    memset(scratch->pooled + whole, 0, (size_t)behind * sizeof(float));
    if (s->keeps)
        memset(scratch->argmax, 0, (size_t)pooled_floats(s));
}

/* A window: its elements, the largest of them, NaN if one is, and which it is. */
typedef struct window {
    __m512 x[4], most;
    __m512i which;
} window;

/* With a NaN somewhere: an element replaces what is smaller, and is taken if it is one. */
MW__INLINE void take_any(window *w)
{
    w->most = w->x[0];
    w->which = _mm512_setzero_si512();
    for (int i = 1; i < 4; i++) {
        const __mmask16 more =
            _mm512_cmp_ps_mask(w->x[i], w->most, _CMP_GT_OQ) | _mm512_cmp_ps_mask(w->x[i], w->x[i], _CMP_UNORD_Q);
        w->most = _mm512_mask_mov_ps(w->most, more, w->x[i]);
        w->which = _mm512_mask_mov_epi32(w->which, more, _mm512_set1_epi32(i));
    }
}

/* The same with numbers alone: the first of the largest. */
MW__INLINE void take_numbers(window *w, bool keeps)
{
    /* the second operand is the result where they are equal */
    w->most = _mm512_max_ps(w->x[3], _mm512_max_ps(w->x[2], _mm512_max_ps(w->x[1], w->x[0])));
    w->which = _mm512_set1_epi32(3);
    for (int i = 2; keeps && i >= 0; i--)
        w->which =
            _mm512_mask_mov_epi32(w->which, _mm512_cmp_ps_mask(w->x[i], w->most, _CMP_EQ_OQ), _mm512_set1_epi32(i));
}

/* The windows of two lines, of vectors of `channels`; relu and keeps are constants where this is inlined. */
MW__INLINE void pool_body(const pool_block *s, const pool_scratch *scratch, int64_t channels, int64_t at, bool relu,
                          bool keeps)
{
    const float *const upper = scratch->lines, *const lower = upper + s->conv.window.out[2] * PANEL;
    const int64_t count = s->pooling.out[1];
    for (int64_t j = 0; j < count; j++)
        for (int64_t o = 0; o < channels; o += LANES) {
            const int64_t left = 2 * j * PANEL + o, right = left + PANEL, to = (at + j) * PANEL + o;
            window w = {.x = {_mm512_loadu_ps(upper + left), _mm512_loadu_ps(upper + right),
                              _mm512_loadu_ps(lower + left), _mm512_loadu_ps(lower + right)}};
            const __mmask16 nan =
                _mm512_cmp_ps_mask(w.x[0], w.x[1], _CMP_UNORD_Q) | _mm512_cmp_ps_mask(w.x[2], w.x[3], _CMP_UNORD_Q);
            if (nan != 0)
                take_any(&w);
            else
                take_numbers(&w, keeps);
            const __mmask16 number = (__mmask16)~nan;
            const __mmask16 taken = relu ? _mm512_cmp_ps_mask(w.most, _mm512_setzero_ps(), _CMP_GT_OQ) : number;
            _mm512_storeu_ps(scratch->pooled + to, _mm512_maskz_mov_ps(taken | nan, w.most));
            if (keeps)
                _mm_storeu_si128(
                    (__m128i *)(void *)(scratch->argmax + to),
                    _mm512_cvtepi32_epi8(_mm512_mask_mov_epi32(_mm512_set1_epi32(MW__ARGMAX_NONE), taken, w.which)));
        }
}

/* Their place among the pooled is `at`. */
static void pool_lines(const pool_block *s, const pool_scratch *scratch, int64_t channels, int64_t at)
{
    if (s->relu && s->keeps)
        pool_body(s, scratch, channels, at, true, true);
    else if (s->relu)
        pool_body(s, scratch, channels, at, true, false);
    else if (s->keeps)
        pool_body(s, scratch, channels, at, false, true);
    else
        pool_body(s, scratch, channels, at, false, false);
}

static void transpose_square(const uint8_t *x, int64_t positions, int64_t channels, uint8_t *planes, int64_t area)
{
    const __mmask16 mask = (__mmask16)((1u << positions) - 1);
    __m128i r[LANES];
    for (int i = 0; i < LANES; i++)
        r[i] = _mm_loadu_si128((const __m128i *)(const void *)(x + i * PANEL));
    mw__transpose_bytes(r);
    for (int i = 0; i < channels; i++)
        _mm_mask_storeu_epi8(planes + i * area, mask, r[i]);
}

/* x [positions, PANEL] to planes of `area` bytes. */
static void transpose_argmax(const uint8_t *x, int64_t positions, int64_t channels, uint8_t *planes, int64_t area)
{
    for (int64_t p = 0; p < positions; p += LANES)
        for (int64_t o = 0; o < channels; o += LANES)
            transpose_square(x + p * PANEL + o, mw__i64_min(LANES, positions - p), mw__i64_min(LANES, channels - o),
                             planes + o * area + p, area);
}

/* One group of an example; the planes of its results. */
typedef struct pool_group {
    const float *packed, *bias; /* bias: in the form for chips, else NULL */
    float *y;
    uint8_t *argmax; /* or NULL */
} pool_group;

/* The two rows of the convolution under row `row` of the windows. */
static void run_lines(const pool_block *s, const pool_scratch *scratch, const pool_group *g, int64_t panel, int64_t row)
{
    const mw__conv_avx512 *c = &s->conv;
    const int64_t first = panel * PANEL, width = c->window.out[2];
    for (int64_t half = 0; half < 2; half++)
        mw__conv_avx512_row(c, scratch->frame, g->packed, panel, 0, 2 * row + half,
                            scratch->lines + half * width * PANEL);
    if (s->columns != NULL)
        mw__conv_avx512_finish(s->columns, g->bias != NULL ? g->bias + first : NULL,
                               mw__i64_min(PANEL, c->outputs - first), 2 * width, scratch->lines);
}

/* Rows of windows [row, row + count) of one panel to their planes. */
static void run_rows(const pool_block *s, const pool_scratch *scratch, const pool_group *g, int64_t panel, int64_t row)
{
    const mw__conv_avx512 *c = &s->conv;
    const mw__argmax_windows *p = &s->pooling;
    const int64_t first = panel * PANEL, channels = mw__i64_min(PANEL, c->outputs - first);
    const int64_t count = mw__i64_min(s->rows, p->out[0] - row), to = first * p->count + row * p->out[1];
    for (int64_t i = 0; i < count; i++) {
        run_lines(s, scratch, g, panel, row + i);
        pool_lines(s, scratch, channels, i * p->out[1]);
    }
    mw__conv_avx512_transpose(scratch->pooled, count * p->out[1], channels, g->y + to, p->count);
    if (g->argmax != NULL)
        transpose_argmax(scratch->argmax, count * p->out[1], channels, g->argmax + to, p->count);
}

/* A unit is one example. */
static void pool_run(const mw__kernel_call *call)
{
    const pool_block *s = call->block;
    const mw__conv_avx512 *c = &s->conv;
    const mw__argmax_windows *p = &s->pooling;
    const pool_scratch scratch = divide_scratch(s, call->scratch);
    clear_scratch(s, &scratch);
    for (int64_t unit = call->begin * c->groups; unit < call->end * c->groups; unit++) {
        const int64_t group = unit % c->groups, to = unit * c->outputs * p->count;
        const bool biased = s->columns != NULL && s->columns->add != NULL;
        const pool_group g = {.packed = (const float *)call->in[1] + group * mw__conv_avx512_weights(c),
                              .bias = biased ? (const float *)call->in[2] + group * c->outputs : NULL,
                              .y = (float *)call->out[0] + to,
                              .argmax = s->keeps ? (uint8_t *)call->out[1] + to : NULL};
        mw__conv_avx512_copy(c, (const float *)call->in[0] + unit * c->inputs * c->window.area_in, 0, scratch.frame);
        for (int64_t panel = 0; panel < c->panels; panel++)
            for (int64_t row = 0; row < p->out[0]; row += s->rows)
                run_rows(s, &scratch, &g, panel, row);
    }
}

/* ---- planning ---- */

static bool read_match(const mw__conv_max_pool_match *match, const mw__packed_request *request, mw__conv_avx512 *out)
{
    return match->columns != NULL ? mw__conv_avx512_takes(request, out) : mw__conv_avx512_read(match->conv, out);
}

bool mw__conv_max_pool_avx512(const mw__conv_max_pool_match *match, const mw__config *config, int partitions)
{
    mw__conv_avx512 ignored;
    return mw__pool_argmax_suits(match->pool) &&
           (match->columns != NULL ? mw__conv_columns_in_lanes(match->columns, config, partitions)
                                   : mw__conv_avx512_read(match->conv, &ignored));
}

static mw__packed_request request_of(mw__planner *planner, const mw__conv_max_pool_match *match)
{
    if (match->columns != NULL)
        return mw__conv_columns_request(planner, match->columns);
    return (mw__packed_request){.x = mw__arg(match->conv, "x"),
                                .weight = mw__arg(match->conv, "weight"),
                                .bias = mw__arg(match->conv, "bias"),
                                .result = match->y};
}

static void plan_pool_step(mw__planner *planner, pool_block *s, const mw__packed_request *r,
                           const mw__conv_max_pool_match *match)
{
    const mw__conv_avx512 *const c = &s->conv;
    const uint32_t packed = mw__conv_avx512_pack(planner, c, r->weight, s->columns != NULL ? NULL : r->bias);
    const uint32_t bias = s->columns != NULL ? mw__conv_operand(planner, r->bias) : 0;
    const double results = (double)mw__count_of(match->y);
    const size_t pooled = (size_t)(c->groups * c->outputs * s->pooling.count);
    mw__step *step = mw__plan_step(planner, pool_run, match->relu ? "conv.relu.max_pool" : "conv.max_pool", c->examples,
                                   mw__cost(results, results * (0.6 * (double)c->depth + 2.0)));
    step->block = s;
    step->report.flops = 2.0 * results * (double)c->depth; /* of the convolution */
    step->scratch = scratch_bytes(s);
    mw__step_read(planner, step, mw__plan_buffer(planner, r->x), MW__ROWS,
                  (size_t)(c->groups * c->inputs * c->window.area_in) * sizeof(float), false);
    mw__step_read(planner, step, packed, MW__WHOLE, 0, false);
    if (s->columns != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->pool->results[0]), MW__ROWS, pooled * sizeof(float));
    if (s->keeps) {
        *match->argmax = mw__plan_temporary(planner, pooled * (size_t)c->examples);
        mw__step_write(planner, step, *match->argmax, MW__ROWS, pooled);
    }
}

mw_status mw__plan_conv_max_pool(mw__planner *planner, const mw__conv_max_pool_match *match, mw_error *err)
{
    pool_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return mw__plan_check(planner, err);
    const mw__packed_request request = request_of(planner, match);
    if (!read_match(match, &request, &s->conv))
        return mw__plan_check(planner, err);
    mw__conv_avx512_prepare(planner, &s->conv);
    s->pooling = mw__argmax_windows_of(match->pool);
    s->relu = match->relu, s->keeps = match->argmax != NULL;
    s->rows = CHUNK_POSITIONS / s->pooling.out[1] > 0 ? CHUNK_POSITIONS / s->pooling.out[1] : 1;
    s->columns = request.columns;
    plan_pool_step(planner, s, &request, match);
    return mw__plan_check(planner, err);
}
