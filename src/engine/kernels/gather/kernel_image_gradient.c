/* The gradient of resizing (compile/patterns_resize.c): two products with matrices of interpolation, each row of which
 * has two numbers at most. A unit is one row of dx: the rows of dy that took of it are added, then their columns. fp32;
 * products with the zeros are left out, so that what is not finite stays where it is. */
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/transpose.h"

#include <string.h>

/* The numbers of a matrix by columns: those of column i are [first[i], first[i + 1]). */
typedef struct resize_taps {
    int32_t *first, *from; /* from: the row of each */
    float *weight;
    int64_t in, out; /* columns, rows */
} resize_taps;

typedef void add_row_function(float *sum, const float *row, float weight, bool begins, int64_t count);

typedef void add_columns_function(const resize_taps *t, const float *sum, float *dx);

typedef struct resize_gradient_block {
    resize_taps height, width;
    add_row_function *add;
    add_columns_function *columns;
    mw__transpose *transpose;
} resize_gradient_block;

MW__INLINE void add_resized_body(float *sum, const float *row, float weight, bool begins, int64_t count)
{
    if (begins)
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) sum[i] = weight * row[i];
    else
        MW__VECTORIZE for (int64_t i = 0; i < count; i++) sum[i] += weight * row[i];
}
MW__BASE_AVX2_AVX512(add_resized, (float *sum, const float *row, float weight, bool begins, int64_t count),
                     (sum, row, weight, begins, count))

#define LANES 16 /* rows of dx that are taken together: a row in each lane */

typedef float four_rows __attribute__((vector_size(16), aligned(4), may_alias));

/* sum [out, LANES] to dx [in, LANES]. */
MW__INLINE void add_columns_body(const resize_taps *t, const float *sum, float *dx)
{
    int32_t k = 0;
    for (int64_t j = 0; j < t->in; j++) {
        four_rows a = {0}, b = {0}, c = {0}, d = {0};
        for (; k < t->first[j + 1]; k++) {
            const four_rows *from = (const four_rows *)(const void *)(sum + (int64_t)t->from[k] * LANES);
            const float weight = t->weight[k];
            a += weight * from[0], b += weight * from[1], c += weight * from[2], d += weight * from[3];
        }
        four_rows *to = (four_rows *)(void *)(dx + j * LANES);
        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    }
}
MW__BASE_AVX2(add_columns, (const resize_taps *t, const float *sum, float *dx), (t, sum, dx))

/* The rows of dy that took of that row of dx. */
static void add_resized_rows(const resize_gradient_block *s, const float *dy, int64_t row, float *sum)
{
    const resize_taps *h = &s->height;
    const float *image = dy + row / h->in * h->out * s->width.out;
    const int32_t begin = h->first[row % h->in], end = h->first[row % h->in + 1];
    if (begin == end)
        memset(sum, 0, (size_t)s->width.out * sizeof *sum);
    for (int32_t k = begin; k < end; k++)
        s->add(sum, image + h->from[k] * s->width.out, h->weight[k], k == begin, s->width.out);
}

static void resize_gradient_run(const mw__kernel_call *call)
{
    const resize_gradient_block *s = call->block;
    const int64_t out = s->width.out, in = s->width.in;
    float *const sum = call->scratch, *const lanes = sum + LANES * out, *const dx = lanes + LANES * out;
    memset(lanes, 0, (size_t)(LANES * out) * sizeof *lanes); /* some may stay without a row */
    for (int64_t row = call->begin; row < call->end; row += LANES) {
        const int64_t rows = call->end - row < LANES ? call->end - row : LANES;
        for (int64_t i = 0; i < rows; i++)
            add_resized_rows(s, call->in[0], row + i, sum + i * out);
        s->transpose(sum, out, rows, out, lanes, LANES);
        s->columns(&s->width, lanes, dx);
        s->transpose(dx, LANES, in, rows, (float *)call->out[0] + row * in, in);
    }
}

/* ---- planning ---- */

static const float *matrix_of(const mw_tensor *value)
{
    const mw__payload *payload = value->payload;
    return mw__dtype_of(value) == MW_F32 && mw__shape_of(value).rank == 2 && payload != NULL && !payload->splat
               ? payload->data
               : NULL;
}

/* Fewer than three numbers in each row. */
static bool interpolates(const mw_tensor *value)
{
    const float *numbers = matrix_of(value);
    const mw_shape shape = mw__shape_of(value);
    for (int64_t i = 0; numbers != NULL && i < shape.dim[0]; i++) {
        int count = 0;
        for (int64_t j = 0; j < shape.dim[1]; j++)
            count += numbers[i * shape.dim[1] + j] != 0.0f;
        if (count > 2)
            return false;
    }
    return numbers != NULL;
}

bool mw__resizing_suits(const mw_tensor *height, const mw_tensor *width)
{
    return interpolates(height) && interpolates(width);
}

static bool fill_taps(mw__planner *planner, const mw_tensor *value, resize_taps *t)
{
    const float *numbers = matrix_of(value);
    t->out = mw__shape_of(value).dim[0], t->in = mw__shape_of(value).dim[1];
    t->first = mw__plan_block(planner, ((size_t)t->in + 1) * sizeof *t->first);
    t->from = mw__plan_block(planner, 2 * (size_t)t->out * sizeof *t->from);
    t->weight = mw__plan_block(planner, 2 * (size_t)t->out * sizeof *t->weight);
    if (t->first == NULL || t->from == NULL || t->weight == NULL)
        return false;
    int32_t count = 0;
    for (int64_t j = 0; j < t->in; j++) {
        for (int64_t i = 0; i < t->out; i++)
            if (numbers[i * t->in + j] != 0.0f)
                t->from[count] = (int32_t)i, t->weight[count++] = numbers[i * t->in + j];
        t->first[j + 1] = count;
    }
    return true;
}

mw_status mw__plan_resize_gradient(mw__planner *planner, const mw__resize_gradient_match *match, mw_error *err)
{
    resize_gradient_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || !fill_taps(planner, match->height, &s->height) || !fill_taps(planner, match->width, &s->width))
        return mw__plan_check(planner, err);
    s->add = MW__DISPATCH_BEST(add_resized, mw__plan_level(planner));
    s->columns = MW__DISPATCH(add_columns, mw__plan_level(planner));
    s->transpose = mw__transpose_choose(mw__plan_level(planner));
    const double bytes = 4.0 * ((double)mw__count_of(match->dy) + (double)mw__count_of(match->dx));
    mw__step *step = mw__plan_step(planner, resize_gradient_run, "resize.gradient",
                                   mw__count_of(match->dx) / s->width.in, mw__cost(bytes, bytes));
    step->block = s;
    step->scratch = LANES * (size_t)(2 * s->width.out + s->width.in) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, match->dy), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->dx), MW__ROWS, (size_t)s->width.in * sizeof(float));
    return mw__plan_check(planner, err);
}
