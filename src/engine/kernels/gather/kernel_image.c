/* Resizing and cropping of images: kernels of ops/image.def. A unit is one row of the result; interpolation is in
 * double and rounded once. */
#include "engine/core/kernel.h"
#include "graph/geometry/resample.h"

#include <string.h>

/* ---- resizing ---- */

/* Taps of the columns, side by side. */
typedef struct resample_columns {
    int32_t *low, *high;
    double *weight, *rest; /* of high; of low */
} resample_columns;

typedef struct resample_block resample_block;

/* One row of the result along the width; `count` columns. */
typedef void across_function(const resample_columns *c, const float *x, int64_t count, double *out);
typedef void down_function(const double *above, const double *below, double weight, int64_t count, float *out);
typedef void take_columns_function(const int32_t *from, const float *x, int64_t count, float *out);

struct resample_block {
    mw__resample height, width;
    mw_dtype dtype;
    resample_columns columns;
    across_function *across;
    down_function *down;
    take_columns_function *take;
    bool nearest; /* no column has a weight */
};

/* No product with a weight of 0, which would make NaN of an infinity that has no part in it. */
static double blend(double low, double high, double weight)
{
    return weight > 0.0 ? (1.0 - weight) * low + weight * high : low;
}

MW__INLINE void across_body(const resample_columns *c, const float *x, int64_t count, double *out)
{
    const int32_t *low = c->low, *high = c->high;
    const double *weight = c->weight, *rest = c->rest;
    MW__VECTORIZE for (int64_t j = 0; j < count; j++)
    {
        const double a = (double)x[low[j]], b = (double)x[high[j]];
        const double both = rest[j] * a + weight[j] * b;
        out[j] = weight[j] > 0.0 ? both : a;
    }
}
MW__BASE_AVX2_AVX512(across, (const resample_columns *c, const float *x, int64_t count, double *out),
                     (c, x, count, out))

MW__INLINE void down_body(const double *above, const double *below, double weight, int64_t count, float *out)
{
    const double rest = 1.0 - weight;
    MW__VECTORIZE for (int64_t j = 0; j < count; j++) out[j] = (float)(rest * above[j] + weight * below[j]);
}
MW__BASE_AVX2_AVX512(down, (const double *above, const double *below, double weight, int64_t count, float *out),
                     (above, below, weight, count, out))

MW__INLINE void take_columns_body(const int32_t *from, const float *x, int64_t count, float *out)
{
    MW__VECTORIZE for (int64_t j = 0; j < count; j++) out[j] = x[from[j]];
}
MW__BASE_AVX2_AVX512(take_columns, (const int32_t *from, const float *x, int64_t count, float *out),
                     (from, x, count, out))

/* Rows of x along the width of the result: neighboring rows of the result ask for the same. */
typedef struct across_rows {
    const resample_block *block;
    const void *x;
    float *tile;      // [width.in], for fp16
    double *row[2];   // [width.out] each
    int64_t there[2]; /* which they are; -1 = none */
} across_rows;

/* Row `wanted` of x, in the place that `other` does not have. */
static const double *row_across(across_rows *rows, int64_t wanted, int64_t other)
{
    const resample_block *block = rows->block;
    for (int i = 0; i < 2; i++)
        if (rows->there[i] == wanted)
            return rows->row[i];
    const int at = rows->there[0] == other ? 1 : 0;
    const int64_t width = block->width.in;
    const float *x = mw__tile_load(rows->x, block->dtype, wanted * width, width, rows->tile);
    block->across(&block->columns, x, block->width.out, rows->row[at]);
    rows->there[at] = wanted;
    return rows->row[at];
}

static void resample_run(const mw__kernel_call *call)
{
    const resample_block *block = call->block;
    const int64_t width = block->width.out;
    double *const first = call->scratch, *const second = first + width;
    float *const result = (float *)(void *)(second + width);
    across_rows rows = {block, call->in[0], result + width, {first, second}, {-1, -1}};
    const bool whole = block->dtype == MW_F32;
    for (int64_t row = call->begin; row < call->end; row++) {
        const int64_t image = row / block->height.out * block->height.in;
        const mw__tap tap = mw__resample_tap(&block->height, row % block->height.out);
        float *out = whole ? (float *)call->out[0] + row * width : result;
        const double *above = row_across(&rows, image + tap.low, image + tap.high);
        if (tap.weight > 0.0)
            block->down(above, row_across(&rows, image + tap.high, image + tap.low), tap.weight, width, out);
        else
            for (int64_t j = 0; j < width; j++)
                out[j] = (float)above[j];
        if (!whole)
            mw__tile_store(call->out[0], block->dtype, row * width, width, out);
    }
}

/* A row that is the one before it is copied. */
static void nearest_run(const mw__kernel_call *call)
{
    const resample_block *block = call->block;
    const int64_t width = block->width.out;
    int64_t before = -1;
    for (int64_t row = call->begin; row < call->end; row++) {
        const int64_t image = row / block->height.out * block->height.in;
        const int64_t from = image + mw__resample_tap(&block->height, row % block->height.out).low;
        float *out = (float *)call->out[0] + row * width;
        if (from == before)
            memcpy(out, out - width, (size_t)width * sizeof *out);
        else
            block->take(block->columns.low, (const float *)call->in[0] + from * block->width.in, width, out);
        before = from;
    }
}

/* Integers lose what is behind the point. */
static void resample_integers(const mw__kernel_call *call)
{
    const resample_block *block = call->block;
    const int64_t width_in = block->width.in, width_out = block->width.out;
    for (int64_t row = call->begin; row < call->end; row++) {
        const int64_t image = row / block->height.out * block->height.in;
        const mw__tap tap = mw__resample_tap(&block->height, row % block->height.out);
        const int32_t *top = (const int32_t *)call->in[0] + (image + tap.low) * width_in;
        const int32_t *bottom = (const int32_t *)call->in[0] + (image + tap.high) * width_in;
        int32_t *result = (int32_t *)call->out[0] + row * width_out;
        for (int64_t j = 0; j < width_out; j++) {
            const int32_t low = block->columns.low[j], high = block->columns.high[j];
            const double above = blend(top[low], top[high], block->columns.weight[j]);
            const double below = blend(bottom[low], bottom[high], block->columns.weight[j]);
            result[j] = (int32_t)blend(above, below, tap.weight);
        }
    }
}

static bool fill_columns(mw__planner *planner, resample_block *block)
{
    const size_t count = (size_t)block->width.out;
    resample_columns *c = &block->columns;
    c->low = mw__plan_block(planner, count * sizeof *c->low);
    c->high = mw__plan_block(planner, count * sizeof *c->high);
    c->weight = mw__plan_block(planner, count * sizeof *c->weight);
    c->rest = mw__plan_block(planner, count * sizeof *c->rest);
    if (c->low == NULL || c->high == NULL || c->weight == NULL || c->rest == NULL)
        return false;
    block->nearest = block->width.nearest && block->height.nearest && block->dtype == MW_F32;
    for (size_t j = 0; j < count; j++) {
        const mw__tap tap = mw__resample_tap(&block->width, (int64_t)j);
        c->low[j] = (int32_t)tap.low, c->high[j] = (int32_t)tap.high;
        c->weight[j] = tap.weight, c->rest[j] = 1.0 - tap.weight;
    }
    return true;
}

mw_status mw__kernel_resample(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    const mw__level level = mw__plan_level(planner);
    mw__resample axes[2];
    MW_TRY(mw__resample_plan(op, mw__shape_of(x), axes, err));
    resample_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    *block = (resample_block){.height = axes[0],
                              .width = axes[1],
                              .dtype = dtype,
                              .across = MW__DISPATCH_BEST(across, level),
                              .down = MW__DISPATCH_BEST(down, level),
                              .take = MW__DISPATCH_BEST(take_columns, level)};
    if (!fill_columns(planner, block))
        return mw__plan_check(planner, err);
    mw__kernel *const run = dtype == MW_I32 ? resample_integers : block->nearest ? nearest_run : resample_run;
    mw__plan_note(planner, dtype == MW_I32 ? "integers" : block->nearest ? "nearest" : "linear", NULL);
    const double count = (double)mw__count_of(result);
    const size_t columns = (size_t)axes[1].out;
    mw__step *step =
        mw__plan_step(planner, run, op->row->name, mw__count_of(result) / axes[1].out,
                      mw__cost(count * 2.0 * (double)mw__dtype_size(dtype), count * (block->nearest ? 1.0 : 4.0)));
    step->block = block;
    step->scratch = 2 * columns * sizeof(double) + ((size_t)axes[1].in + columns) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, columns * mw__dtype_size(dtype));
    return mw__plan_check(planner, err);
}

/* ---- cropping ---- */

typedef struct crop_block {
    int64_t height_in, height_out, width_in, width_out, top, left;
    size_t size; /* of an element */
} crop_block;

static void crop_run(const mw__kernel_call *call)
{
    const crop_block *block = call->block;
    const size_t bytes = (size_t)block->width_out * block->size;
    for (int64_t row = call->begin; row < call->end; row++) {
        const int64_t image = row / block->height_out, line = row % block->height_out + block->top;
        const int64_t from = (image * block->height_in + line) * block->width_in + block->left;
        memcpy((char *)call->out[0] + (size_t)row * bytes, (const char *)call->in[0] + (size_t)from * block->size,
               bytes);
    }
}

mw_status mw__kernel_crop(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_shape in = mw__shape_of(x), out = mw__shape_of(result);
    int64_t rows[2] = {0}, columns[2] = {0};
    size_t count;
    mw__arg_ints(op, "crop_height", rows, 2, &count);
    mw__arg_ints(op, "crop_width", columns, 2, &count);
    crop_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    *block = (crop_block){.height_in = in.dim[2],
                          .height_out = out.dim[2],
                          .width_in = in.dim[3],
                          .width_out = out.dim[3],
                          .top = rows[0],
                          .left = columns[0],
                          .size = mw__dtype_size(mw__dtype_of(result))};
    const size_t bytes = (size_t)block->width_out * block->size;
    const int64_t units = mw__count_of(result) / block->width_out;
    mw__step *step =
        mw__plan_step(planner, crop_run, op->row->name, units, mw__cost(2.0 * (double)units * (double)bytes, 0.0));
    step->block = block;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, bytes);
    return mw__plan_check(planner, err);
}
