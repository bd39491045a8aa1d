/* cumsum: x is seen as [outer, n, inner], a unit is one outer index. Floats are summed in double and each result is
 * rounded once; I32 wraps around. */
#include "engine/core/kernel.h"

#define COLUMNS 256

typedef struct scan_block {
    int64_t n, inner;
    bool exclusive, reverse;
    mw_dtype dtype;
} scan_block;

/* One stretch of `width` columns of a unit that begins at `base`. */
static void scan_floats(const scan_block *s, const mw__kernel_call *call, int64_t base, int64_t width)
{
    double sums[COLUMNS] = {0};
    float tile[COLUMNS], results[COLUMNS];
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t at = base + (s->reverse ? s->n - 1 - i : i) * s->inner;
        const float *row = mw__tile_load(call->in[0], s->dtype, at, width, tile);
        for (int64_t j = 0; j < width; j++) {
            const double before = sums[j];
            sums[j] += (double)row[j];
            results[j] = (float)(s->exclusive ? before : sums[j]);
        }
        mw__tile_store(call->out[0], s->dtype, at, width, results);
    }
}

static void scan_integers(const scan_block *s, const mw__kernel_call *call, int64_t base, int64_t width)
{
    const int32_t *x = call->in[0];
    int32_t *y = call->out[0];
    for (int64_t j = 0; j < width; j++) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < s->n; i++) {
            const int64_t at = base + j + (s->reverse ? s->n - 1 - i : i) * s->inner;
            const uint32_t before = sum;
            sum += (uint32_t)x[at];
            y[at] = (int32_t)(s->exclusive ? before : sum);
        }
    }
}

static void scan_run(const mw__kernel_call *call)
{
    const scan_block *s = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++)
        for (int64_t j = 0; j < s->inner; j += COLUMNS) {
            const int64_t width = s->inner - j < COLUMNS ? s->inner - j : COLUMNS;
            (s->dtype == MW_I32 ? scan_integers : scan_floats)(s, call, unit * s->n * s->inner + j, width);
        }
}

mw_status mw__kernel_cumsum(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_shape shape = mw__shape_of(x);
    int64_t axis;
    MW_TRY(mw__kernel_check_number(op, mw__dtype_of(x), err));
    MW_TRY(mw__kernel_axis(op, "axis", shape.rank, &axis, err));
    scan_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    s->n = shape.dim[axis], s->inner = mw__shape_span(shape, (int)axis + 1, shape.rank);
    s->dtype = mw__dtype_of(x);
    mw__arg_bool(op, "exclusive", &s->exclusive);
    mw__arg_bool(op, "reverse", &s->reverse);
    const double count = (double)mw__count_of(x);
    const size_t size = mw__dtype_size(s->dtype), bytes = (size_t)(s->n * s->inner) * size;
    mw__step *step = mw__plan_step(planner, scan_run, "cumsum", mw__count_of(x) / (s->n * s->inner),
                                   mw__cost(2 * count * (double)size, count * 10.0));
    step->block = s;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, bytes, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, bytes);
    return mw__plan_check(planner, err);
}
