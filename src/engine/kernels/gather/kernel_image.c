/* Resizing and cropping of images: kernels of ops/image.def. A unit is one row of the result; interpolation is in
 * double and rounded once. */
#include "engine/core/kernel.h"
#include "graph/geometry/resample.h"

#include <string.h>

/* ---- resizing ---- */

typedef struct resample_block {
    mw__resample height, width;
    mw_dtype dtype;
    mw__tap column[]; /* width.out of them */
} resample_block;

/* No product with a weight of 0, which would make NaN of an infinity that has no part in it. */
static double blend(double low, double high, double weight)
{
    return weight > 0.0 ? (1.0 - weight) * low + weight * high : low;
}

static void resample_run(const mw__kernel_call *call)
{
    const resample_block *block = call->block;
    const int64_t width_in = block->width.in, width_out = block->width.out;
    float *scratch = call->scratch, *result = scratch + 2 * width_in; // [width_in], [width_in], [width_out]
    for (int64_t row = call->begin; row < call->end; row++) {
        const int64_t image = row / block->height.out * block->height.in;
        const mw__tap tap = mw__resample_tap(&block->height, row % block->height.out);
        const float *top = mw__tile_load(call->in[0], block->dtype, (image + tap.low) * width_in, width_in, scratch);
        const float *bottom =
            mw__tile_load(call->in[0], block->dtype, (image + tap.high) * width_in, width_in, scratch + width_in);
        for (int64_t j = 0; j < width_out; j++) {
            const mw__tap *at = &block->column[j];
            const double above = blend((double)top[at->low], (double)top[at->high], at->weight);
            const double below = blend((double)bottom[at->low], (double)bottom[at->high], at->weight);
            result[j] = (float)blend(above, below, tap.weight);
        }
        mw__tile_store(call->out[0], block->dtype, row * width_out, width_out, result);
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
            const mw__tap *at = &block->column[j];
            const double above = blend(top[at->low], top[at->high], at->weight);
            const double below = blend(bottom[at->low], bottom[at->high], at->weight);
            result[j] = (int32_t)blend(above, below, tap.weight);
        }
    }
}

mw_status mw__kernel_resample(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    mw__resample axes[2];
    MW_TRY(mw__resample_plan(op, mw__shape_of(x), axes, err));
    const size_t columns = (size_t)axes[1].out;
    resample_block *block = mw__plan_block(planner, sizeof *block + columns * sizeof block->column[0]);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    block->height = axes[0], block->width = axes[1], block->dtype = dtype;
    for (size_t j = 0; j < columns; j++)
        block->column[j] = mw__resample_tap(&axes[1], (int64_t)j);
    const double count = (double)mw__count_of(result);
    mw__step *step = mw__plan_step(planner, dtype == MW_I32 ? resample_integers : resample_run, op->row->name,
                                   mw__count_of(result) / axes[1].out,
                                   mw__cost(count * 5.0 * (double)mw__dtype_size(dtype), count * 12.0));
    step->block = block;
    step->scratch = (2 * (size_t)axes[1].in + columns) * sizeof(float);
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
