/* reduce_argmax and reduce_argmin: the position of an extremum along one axis, the first of equal ones; a NaN is beyond
 * every number. x is seen as [outer, n, inner], a unit is one outer index. */
#include "engine/core/kernel.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include "base/number/fp16.h"

typedef struct arg_block {
    int64_t n, inner;
    bool min;
    mw_dtype dtype, position;
    void (*find_run)(const float *x, int64_t n, bool min, int64_t *out_at); /* NULL: one element after the other */
} arg_block;

#define BETTER_FLOAT(x, y, min)   ((y) == (y) && ((x) != (x) || ((min) ? (x) < (y) : (x) > (y))))
#define BETTER_INTEGER(x, y, min) ((min) ? (x) < (y) : (x) > (y))

/* The position of the best of n elements `step` apart. */
#define FINDER(name, type, load, better)                                                                               \
    static int64_t name(const type *x, int64_t n, int64_t step, bool min)                                              \
    {                                                                                                                  \
        int64_t best = 0;                                                                                              \
        for (int64_t i = 1; i < n; i++)                                                                                \
            if (better(load(x[i * step]), load(x[best * step]), min))                                                  \
                best = i;                                                                                              \
        return best;                                                                                                   \
    }
FINDER(find_f32, float, , BETTER_FLOAT)
FINDER(find_f16, uint16_t, mw__fp16_to_float, BETTER_FLOAT)
FINDER(find_i32, int32_t, , BETTER_INTEGER)

/* The same of fp32 side by side: the first run of elements whose extremum none before it reaches, then the place in it.
 */
#define RUN 1024

MW__INLINE void find_run_body(const float *x, int64_t n, bool min, int64_t *out_at)
{
    int64_t at = 0;
    float best = 0.0f;
    for (int64_t i = 0; i < n && best == best; i += RUN) {
        const int64_t count = n - i < RUN ? n - i : RUN;
        const float most = min ? mw__lanes_min(x + i, count) : mw__lanes_max(x + i, count);
        if (i == 0 || BETTER_FLOAT(most, best, min))
            best = most, at = i;
    }
    while (best == best ? x[at] != best : x[at] == x[at])
        at++;
    *out_at = at;
}
MW__BASE_AVX2(find_run, (const float *x, int64_t n, bool min, int64_t *out_at), (x, n, min, out_at))

static int64_t find_extreme(const arg_block *s, const void *x, int64_t at)
{
    int64_t position = 0;
    if (s->find_run != NULL) {
        s->find_run((const float *)x + at, s->n, s->min, &position);
        return position;
    }
    switch (s->dtype) {
    case MW_F32:
        return find_f32((const float *)x + at, s->n, s->inner, s->min);
    case MW_F16:
        return find_f16((const uint16_t *)x + at, s->n, s->inner, s->min);
    default:
        return find_i32((const int32_t *)x + at, s->n, s->inner, s->min);
    }
}

static void arg_run(const mw__kernel_call *call)
{
    const arg_block *s = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++)
        for (int64_t i = 0; i < s->inner; i++) {
            const int64_t position = find_extreme(s, call->in[0], unit * s->n * s->inner + i);
            if (s->position == MW_U16)
                ((uint16_t *)call->out[0])[unit * s->inner + i] = (uint16_t)position;
            else
                ((int32_t *)call->out[0])[unit * s->inner + i] = (int32_t)position;
        }
}

mw_status mw__kernel_reduce_arg(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_shape shape = mw__shape_of(x);
    int64_t axis;
    MW_TRY(mw__kernel_check_number(op, mw__dtype_of(x), err));
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    arg_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    s->n = shape.dim[axis], s->inner = mw__shape_span(shape, (int)axis + 1, shape.rank);
    s->min = op->row->id == MW__OP_reduce_argmin || op->row->id == MW__OP_reduce_argmin_ios17;
    s->dtype = mw__dtype_of(x), s->position = mw__dtype_of(result);
    if (s->dtype == MW_F32 && s->inner == 1 && mw__plan_level(planner) != MW__LEVEL_REF)
        s->find_run = MW__DISPATCH(find_run, mw__plan_level(planner));
    const double count = (double)mw__count_of(x);
    const size_t size = mw__dtype_size(s->dtype);
    mw__step *step = mw__plan_step(planner, arg_run, op->row->name, mw__count_of(result) / s->inner,
                                   mw__cost(count * (double)size, count * 20.0));
    step->block = s;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)(s->n * s->inner) * size, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS,
                   (size_t)s->inner * mw__dtype_size(s->position));
    return mw__plan_check(planner, err);
}
