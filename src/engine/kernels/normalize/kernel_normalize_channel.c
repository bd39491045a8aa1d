/* batch_norm and local_response_norm, whose numbers belong to channels. A lane's units are planes of one channel, or
 * stretches of up to 64 neighboring positions with all their channels. Each result is rounded once. */
#include "engine/core/kernel.h"
#include "engine/core/tail.h"

#include <math.h>
#include <string.h>

static int64_t positions_of(mw_shape shape) { return mw__shape_span(shape, 2, shape.rank); }

/* ---- batch_norm ---- */

#define TAIL_MOST 8.0 /* additions: planes may be short */

/* Of a channel. */
typedef struct batch_numbers {
    float mean, scale, shift;
} batch_numbers;

MW__INLINE void batch_scale_body(float *out, const float *x, int64_t count, const batch_numbers *numbers)
{
    const float mean = numbers->mean, scale = numbers->scale, shift = numbers->shift;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) out[i] = (x[i] - mean) * scale + shift;
}
MW__BASE_AVX2_AVX512(batch_scale, (float *out, const float *x, int64_t count, const batch_numbers *numbers),
                     (out, x, count, numbers))

typedef struct batch_block {
    int64_t channels, positions;
    bool has_gamma, has_beta;
    mw_dtype dtype;
    float epsilon;
    void (*scale)(float *out, const float *x, int64_t count, const batch_numbers *numbers);
    mw__tail tail;
} batch_block;

/* A plane in tiles; what is held as fp32 goes straight to its place. */
static void batch_plane(const batch_block *s, const mw__kernel_call *call, int64_t plane, const batch_numbers *numbers)
{
    float tile[MW__TILE], out[MW__TILE];
    for (int64_t at = plane * s->positions, end = at + s->positions; at < end; at += MW__TILE) {
        const int64_t run = end - at < MW__TILE ? end - at : MW__TILE;
        const float *x = mw__tile_load(call->in[0], s->dtype, at, run, tile);
        if (s->dtype == MW_F32) {
            s->scale((float *)call->out[0] + at, x, run, numbers);
            mw__tail_run(&s->tail, 0, call, at, run);
        } else {
            s->scale(out, x, run, numbers);
            mw__tile_store(call->out[0], s->dtype, at, run, out);
        }
    }
}

/* Reads: x, mean, variance, gamma, beta, the last two where there are any. */
static void batch_run(const mw__kernel_call *call)
{
    const batch_block *s = call->block;
    const float *means = call->in[1], *variances = call->in[2];
    const float *gammas = s->has_gamma ? call->in[3] : NULL;
    const float *betas = s->has_beta ? call->in[s->has_gamma ? 4 : 3] : NULL;
    for (int64_t plane = call->begin; plane < call->end; plane++) {
        const int64_t c = plane % s->channels;
        const float root = sqrtf(variances[c] + s->epsilon);
        const batch_numbers numbers = {.mean = means[c],
                                       .scale = (gammas != NULL ? gammas[c] : 1.0f) / root,
                                       .shift = betas != NULL ? betas[c] : 0.0f};
        batch_plane(s, call, plane, &numbers);
    }
}

mw_status mw__kernel_batch_norm(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static const char *const names[] = {"mean", "variance", "gamma", "beta"};
    const mw_tensor *x = mw__arg(op, "x");
    const mw_shape shape = mw__shape_of(x);
    batch_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    double epsilon = 0.0;
    mw__arg_float(op, "epsilon", &epsilon);
    *s = (batch_block){.channels = shape.dim[1],
                       .positions = positions_of(shape),
                       .has_gamma = mw__arg_present(op, "gamma"),
                       .has_beta = mw__arg_present(op, "beta"),
                       .dtype = mw__dtype_of(x),
                       .epsilon = (float)epsilon,
                       .scale = MW__DISPATCH_BEST(batch_scale, mw__plan_level(planner)),
                       .tail = {.most = TAIL_MOST, .beside = true}};
    uint32_t vectors[4] = {0};
    for (int i = 0; i < 4; i++)
        if (mw__arg_present(op, names[i]))
            vectors[i] = mw__plan_floats(planner, mw__arg(op, names[i]));
    const size_t size = mw__dtype_size(s->dtype), unit = (size_t)s->positions * size;
    const double count = (double)mw__count_of(x);
    mw__step *step = mw__plan_step(planner, batch_run, "batch_norm", shape.dim[0] * shape.dim[1],
                                   mw__cost(count * (double)size * 2, count * 3));
    step->block = s;
    step->fusion.tail = s->dtype == MW_F32 ? &s->tail : NULL;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, unit, true);
    for (int i = 0; i < 4; i++)
        if (mw__arg_present(op, names[i]))
            mw__step_read(planner, step, vectors[i], MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__ROWS, unit);
    return mw__plan_check(planner, err);
}

/* ---- local_response_norm ---- */

#define POSITIONS 64

typedef struct response_block {
    int64_t channels, positions, stretches; /* stretches of positions */
    int64_t before, after;                  /* channels of the window on either side */
    mw_dtype dtype;
    float factor; /* alpha / size */
    float beta, k;
} response_block;

/* x, out [channels, width] */
static void respond(const response_block *s, const float *x, float *out, int64_t width)
{
    float sum[POSITIONS];
    for (int64_t c = 0; c < s->channels; c++) {
        const int64_t first = c < s->before ? 0 : c - s->before;
        const int64_t last = s->channels - 1 - c < s->after ? s->channels - 1 : c + s->after;
        for (int64_t i = 0; i < width; i++)
            sum[i] = 0.0f;
        for (int64_t other = first; other <= last; other++)
            for (int64_t i = 0; i < width; i++)
                sum[i] += x[other * width + i] * x[other * width + i];
        for (int64_t i = 0; i < width; i++)
            out[c * width + i] = x[c * width + i] / powf(s->k + s->factor * sum[i], s->beta);
    }
}

/* Scratch: the stretch before and after, each [channels, width]. */
static void response_run(const mw__kernel_call *call)
{
    const response_block *s = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t at = unit % s->stretches * POSITIONS;
        const int64_t width = s->positions - at < POSITIONS ? s->positions - at : POSITIONS;
        const int64_t base = unit / s->stretches * s->channels * s->positions + at;
        float *x = call->scratch, *out = x + s->channels * width;
        for (int64_t c = 0; c < s->channels; c++) {
            float *row = x + c * width;
            const float *from = mw__tile_load(call->in[0], s->dtype, base + c * s->positions, width, row);
            if (from != row)
                memcpy(row, from, (size_t)width * sizeof *row);
        }
        respond(s, x, out, width);
        for (int64_t c = 0; c < s->channels; c++)
            mw__tile_store(call->out[0], s->dtype, base + c * s->positions, width, out + c * width);
    }
}

static float number_arg(const mw__op *op, const char *arg)
{
    double value = 0.0;
    mw__arg_float(op, arg, &value);
    return (float)value;
}

static void fill_response(response_block *s, const mw__op *op, mw_shape shape)
{
    int64_t size = 1;
    mw__arg_int(op, "size", &size);
    s->channels = shape.dim[1];
    s->positions = positions_of(shape);
    s->stretches = (s->positions + POSITIONS - 1) / POSITIONS;
    s->before = size / 2;
    s->after = (size - 1) / 2;
    s->factor = number_arg(op, "alpha") / (float)size;
    s->beta = number_arg(op, "beta");
    s->k = number_arg(op, "k");
}

mw_status mw__kernel_local_response_norm(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x");
    const mw_shape shape = mw__shape_of(x);
    response_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(x) == 0)
        return mw__plan_check(planner, err);
    s->dtype = mw__dtype_of(x);
    fill_response(s, op, shape);
    const double bytes = (double)mw__count_of(x) * (double)mw__dtype_size(s->dtype) * 2;
    const int64_t window = s->before + 1 + s->after < s->channels ? s->before + 1 + s->after : s->channels;
    mw__step *step = mw__plan_step(planner, response_run, "local_response_norm", shape.dim[0] * s->stretches,
                                   mw__cost(bytes, (double)mw__count_of(x) * ((double)window * 2 + 60)));
    step->block = s;
    const int64_t width = s->positions < POSITIONS ? s->positions : POSITIONS;
    step->scratch = (size_t)(s->channels * width) * 2 * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
