/* Pooling: kernels of ops/pool.def, one plane [*S] of x a unit. Windows are cut to the elements inside x; sums are
 * taken in double and rounded once. A NaN in a window is its result. fp32 windows are taken a row of windows at a time,
 * where their columns stand inside x, in the order, and so with the bits, of the plain loops of pool_ref, by which
 * those at the ends of a row are taken. */
#include "engine/kernels/pool/kernel_pool.h"
#include "engine/kernels/implementation.h"
#include "engine/kernels/math/math_scalar.h"
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/pool/kernel_pool_lanes.h"
#include "engine/kernels/reduce/simd_reduce.h"
#include "graph/geometry/window.h"

#include <math.h>

typedef enum pool_kind { POOL_MAX, POOL_AVG, POOL_L2 } pool_kind;

typedef struct pool_block pool_block;
/* An element of each of a row's windows, the first at x. */
typedef void take_function(const pool_block *s, const float *x, int64_t count, float *most, double *sum);

struct pool_block {
    mw__window axis[MW__WINDOW_AXES]; /* missing ones in front have extent 1 */
    int64_t in, out;                  /* elements of a plane */
    pool_kind kind;
    bool exclude; /* padding does not count */
    mw_dtype dtype;
    int64_t begin, end; /* windows of a row whose columns all stand inside x; for pool_rows */
    take_function *take;
    bool relu;        /* of x first: then that of the result, which is the same for maxima of windows inside x */
    mw__two_max *two; /* for pool_two */
    mw__pool_lanes lanes;
};

/* The elements of one window inside x, and what they give. */
typedef struct pool_window {
    int64_t begin[MW__WINDOW_AXES], end[MW__WINDOW_AXES]; /* positions in x */
    double sum;
    float most;
} pool_window;

static void add_run(const pool_block *s, pool_window *window, const void *x, int64_t offset, int64_t count)
{
    float tile[MW__TILE];
    const float *run = mw__tile_load(x, s->dtype, offset, count, tile);
    switch (s->kind) {
    case POOL_MAX:
        for (int64_t i = 0; i < count; i++)
            window->most = mw__larger(run[i], window->most);
        return;
    case POOL_AVG:
        for (int64_t i = 0; i < count; i++)
            window->sum += (double)run[i];
        return;
    default:
        for (int64_t i = 0; i < count; i++)
            window->sum += (double)run[i] * (double)run[i];
    }
}

static void add_elements(const pool_block *s, pool_window *window, const void *x, int64_t plane)
{
    for (int64_t d = window->begin[0]; d < window->end[0]; d++)
        for (int64_t h = window->begin[1]; h < window->end[1]; h++) {
            const int64_t row = plane + (d * s->axis[1].in + h) * s->axis[2].in;
            for (int64_t w = window->begin[2]; w < window->end[2]; w += MW__TILE) {
                const int64_t left = window->end[2] - w;
                add_run(s, window, x, row + w, left < MW__TILE ? left : MW__TILE);
            }
        }
}

static float window_result(const pool_block *s, const void *x, int64_t plane, const int64_t *at)
{
    pool_window window = {.most = -INFINITY};
    double counted = 1.0;
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        const mw__window *axis = &s->axis[i];
        int64_t begin, end;
        mw__window_inside(axis, at[i], &begin, &end);
        const int64_t first = at[i] * axis->stride - axis->before;
        window.begin[i] = first + begin, window.end[i] = first + end;
        counted *= (double)(s->exclude ? end - begin : mw__window_padded(axis, at[i]));
    }
    add_elements(s, &window, x, plane);
    if (s->kind == POOL_MAX)
        return window.most;
    return (float)(s->kind == POOL_L2 ? sqrt(window.sum) : counted > 0.0 ? window.sum / counted : 0.0);
}

static void pool_ref(const mw__kernel_call *call)
{
    const pool_block *s = call->block;
    int64_t at[MW__WINDOW_AXES];
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        int64_t to = plane * s->out;
        for (at[0] = 0; at[0] < s->axis[0].out; at[0]++)
            for (at[1] = 0; at[1] < s->axis[1].out; at[1]++)
                for (at[2] = 0; at[2] < s->axis[2].out; at[2]++, to++) {
                    const float result = window_result(s, call->in[0], plane * s->in, at);
                    mw__tile_store(call->out[0], s->dtype, to, 1, &result);
                }
    }
}

/* ---- rows of windows ---- */

MW__INLINE void take_body(const pool_block *s, const float *x, int64_t count, float *most, double *sum)
{
    const int64_t stride = s->axis[2].stride;
    if (s->kind == POOL_MAX)
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) most[i] = mw__larger(x[i * stride], most[i]);
    else if (s->kind == POOL_AVG)
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) sum[i] += (double)x[i * stride];
    else
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) sum[i] += (double)x[i * stride] * (double)x[i * stride];
}
MW__BASE_AVX2(take, (const pool_block *s, const float *x, int64_t count, float *most, double *sum),
              (s, x, count, most, sum))

/* Windows at one place of the first two axes: their elements there that stand inside x, and how many count. */
typedef struct pool_place {
    int64_t at[MW__WINDOW_AXES];
    int64_t begin[2], end[2]; /* elements of the window */
    double counted;           /* with all columns */
} pool_place;

static pool_place place_of(const pool_block *s, int64_t row)
{
    pool_place place = {.at = {row / s->axis[1].out, row % s->axis[1].out}, .counted = (double)s->axis[2].kernel};
    for (int i = 0; i < 2; i++) {
        const mw__window *axis = &s->axis[i];
        mw__window_inside(axis, place.at[i], &place.begin[i], &place.end[i]);
        place.counted *= (double)(s->exclude ? place.end[i] - place.begin[i] : mw__window_padded(axis, place.at[i]));
    }
    return place;
}

/* `count` windows of a row from `from` on, whose columns stand inside x. */
static void pool_row(const pool_block *s, const pool_place *place, const float *x, int64_t from, int64_t count,
                     float *y)
{
    double sum[MW__TILE];
    const int64_t column = from * s->axis[2].stride - s->axis[2].before;
    const int64_t plane = place->at[0] * s->axis[0].stride - s->axis[0].before;
    const int64_t row = place->at[1] * s->axis[1].stride - s->axis[1].before;
    for (int64_t i = 0; i < count; i++) {
        sum[i] = 0.0;
        y[i] = -INFINITY;
    }
    for (int64_t d = place->begin[0]; d < place->end[0]; d++)
        for (int64_t h = place->begin[1]; h < place->end[1]; h++)
            for (int64_t w = 0; w < s->axis[2].kernel; w++)
                s->take(s, x + ((plane + d) * s->axis[1].in + row + h) * s->axis[2].in + column + w, count, y, sum);
    for (int64_t i = 0; s->relu && i < count; i++)
        y[i] = mw__scalar_relu(y[i], 0.0f, 0.0f);
    for (int64_t i = 0; s->kind == POOL_L2 && i < count; i++)
        y[i] = (float)sqrt(sum[i]);
    for (int64_t i = 0; s->kind == POOL_AVG && i < count; i++)
        y[i] = (float)(place->counted > 0.0 ? sum[i] / place->counted : 0.0);
}

static void pool_rows(const mw__kernel_call *call)
{
    const pool_block *s = call->block;
    const int64_t rows = s->axis[0].out * s->axis[1].out, row = s->axis[2].out;
    for (int64_t unit = call->begin * rows; unit < call->end * rows; unit++) {
        pool_place place = place_of(s, unit % rows);
        const int64_t plane = unit / rows * s->in;
        float *y = (float *)call->out[0] + unit * row;
        for (int64_t at = s->begin; at < s->end; at += MW__TILE)
            pool_row(s, &place, (const float *)call->in[0] + plane, at, s->end - at < MW__TILE ? s->end - at : MW__TILE,
                     y + at);
        for (int64_t at = 0; at < row; at++) {
            at = at == s->begin ? s->end : at;
            place.at[2] = at;
            if (at < row)
                y[at] = window_result(s, call->in[0], plane, place.at);
        }
    }
}

/* The windows of a row that are taken together. */
static void find_inner(pool_block *s)
{
    const mw__window *w = &s->axis[2];
    const int64_t begin = (w->before + w->stride - 1) / w->stride, last = w->in + w->before - w->kernel;
    const int64_t end = last < 0 ? 0 : last / w->stride + 1;
    s->begin = begin < w->out ? begin : w->out;
    s->end = end < w->out ? end : w->out;
    s->end = s->end > s->begin ? s->end : s->begin;
}

static void pool_lanes(const mw__kernel_call *call)
{
    const pool_block *block = call->block;
    const mw__pool_lanes *s = &block->lanes;
    float *const x = call->scratch, *const y = x + s->x_most * MW__POOL_LANES;
    for (int64_t plane = call->begin; plane < call->end; plane += MW__POOL_LANES) {
        const int64_t left = call->end - plane, used = left < MW__POOL_LANES ? left : MW__POOL_LANES;
        for (mw__pool_range band = {.end = {0}}; mw__pool_next_band(s, false, &band);) {
            const mw__pool_range under = mw__pool_elements(s, &band);
            mw__pool_gather(s, (const float *)call->in[0] + plane * s->in, false, &under, used, x);
            (block->kind == POOL_MAX ? s->code->maxima : s->code->sums)(s, &under, &band, used, x, y);
            mw__pool_scatter(s, y, true, &band, used, (float *)call->out[0] + plane * s->out);
        }
    }
}

static void pool_two(const mw__kernel_call *call)
{
    const pool_block *s = call->block;
    const mw__two two = {.in = s->axis[2].in, .count = s->axis[2].out, .relu = s->relu};
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        const float *x = (const float *)call->in[0] + plane * s->in;
        float *y = (float *)call->out[0] + plane * s->out;
        for (int64_t i = 0; i < s->axis[1].out; i++)
            s->two(&two, x + 2 * i * s->axis[2].in, y + i * s->axis[2].out);
    }
}

static bool is_inside(const pool_block *s)
{
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        const mw__window *w = &s->axis[i];
        if (w->before != 0 || w->after != 0 || (w->out - 1) * w->stride + w->kernel > w->in)
            return false;
    }
    return s->dtype == MW_F32;
}

static const char *two_declines(const void *subject)
{
    const pool_block *s = subject;
    if (!is_inside(s))
        return "a window reaches beyond the input, or a type other than fp32";
    bool two = s->kind == POOL_MAX && s->axis[0].in == 1;
    for (int i = 1; i < MW__WINDOW_AXES; i++)
        two = two && s->axis[i].kernel == 2 && s->axis[i].stride == 2;
    return two ? NULL : "no max_pool with windows of 2 x 2 side by side";
}

static const char *lanes_decline(const void *subject)
{
    const pool_block *s = subject;
    if (s->dtype != MW_F32)
        return "a type other than fp32";
    return s->lanes.planes < MW__POOL_LANES / 2 ? "few planes" : NULL;
}

static const char *rows_decline(const void *subject)
{
    return ((const pool_block *)subject)->dtype == MW_F32 ? NULL : "a type other than fp32";
}

static mw__kernel *choose_run(mw__planner *planner, pool_block *s)
{
    static const mw__implementation rows[] = {
        {.name = "two", .level = MW__LEVEL_BASE, .declines = two_declines, .run = pool_two},
        {.name = "lanes", .level = MW__LEVEL_BASE, .declines = lanes_decline, .run = pool_lanes},
        {.name = "rows", .level = MW__LEVEL_BASE, .declines = rows_decline, .run = pool_rows},
        {.name = "ref", .run = pool_ref},
    };
    find_inner(s);
    s->take = MW__DISPATCH(take, mw__plan_level(planner));
    s->two = mw__two_max_choose(mw__plan_level(planner));
    return mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), s)->run;
}

/* ---- planning ---- */

static mw_status fill_block(const mw__op *op, pool_block *s, mw_error *err)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    mw__window windows[MW__WINDOW_AXES];
    int64_t kernel[MW__WINDOW_AXES];
    size_t count = 0;
    if (!mw__arg_ints(op, "kernel_sizes", kernel, MW__WINDOW_AXES, &count) || count + 2 != (size_t)x.rank) {
        char subject[128];
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: kernel_sizes must be constants, one per spatial axis",
                        mw__op_subject(op, subject, sizeof subject));
    }
    MW_TRY(mw__op_windows(op, x, kernel, windows, err));
    s->in = s->out = 1;
    for (int i = 0; i < MW__WINDOW_AXES; i++) {
        const int axis = i - (MW__WINDOW_AXES - (int)count);
        s->axis[i] = axis >= 0 ? windows[axis]
                               : (mw__window){.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .span = 1, .out = 1};
        s->in *= s->axis[i].in, s->out *= s->axis[i].out;
    }
    s->kind = op->row->id == MW__OP_max_pool ? POOL_MAX : op->row->id == MW__OP_avg_pool ? POOL_AVG : POOL_L2;
    if (s->kind == POOL_AVG)
        mw__arg_bool(op, "exclude_padding_from_average", &s->exclude);
    s->dtype = mw__dtype_of(op->results[0]);
    return MW_OK;
}

static bool prepare_lanes(mw__planner *planner, pool_block *s)
{
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        s->lanes.axis[i] = s->axis[i];
    s->lanes.squares = s->lanes.root = s->kind == POOL_L2;
    s->lanes.relu = s->relu;
    return mw__pool_lanes_prepare(planner, &s->lanes, s->exclude, false);
}

static mw_status plan_pool(mw__planner *planner, const mw__op *op, const mw_tensor *x, bool relu, mw_error *err)
{
    const mw_tensor *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__kernel_unsupported(op, dtype, err);
    pool_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(fill_block(op, s, err));
    s->relu = relu;
    const size_t size = mw__dtype_size(dtype);
    s->lanes.planes = mw__count_of(result) / s->out;
    mw__kernel *const run = choose_run(planner, s);
    if (run == pool_lanes && !prepare_lanes(planner, s))
        return mw__plan_check(planner, err);
    double elements = (double)mw__count_of(result);
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        elements *= (double)s->axis[i].kernel;
    mw__step *step =
        mw__plan_step(planner, run, relu ? "relu.max_pool" : op->row->name, mw__count_of(result) / s->out,
                      mw__cost((double)mw__count_of(x) * (double)size, elements * (run == pool_ref ? 20.0 : 4.0)));
    step->block = s;
    if (run == pool_lanes) {
        step->grain = mw__pool_grain(planner, s->lanes.planes);
        step->scratch = (s->lanes.x_most + s->lanes.y_most) * MW__POOL_LANES * sizeof(float);
    }
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)s->in * size, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)s->out * size);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_pool(mw__planner *planner, const mw__op *op, mw_error *err)
{
    return plan_pool(planner, op, mw__arg(op, "x"), false, err);
}

bool mw__relu_max_pool_suits(const mw__op *pool)
{
    pool_block s = {0};
    mw_error ignored = {0};
    return mw__count_of(pool->results[0]) > 0 && fill_block(pool, &s, &ignored) == MW_OK && is_inside(&s);
}

mw_status mw__plan_relu_max_pool(mw__planner *planner, const mw__relu_max_pool_match *match, mw_error *err)
{
    return plan_pool(planner, match->pool, match->x, true, err);
}
