/* Random numbers: kernels of ops/random.def. An element's number depends on its index alone, so that partitions do not
 * matter (include/millwright/ops/random.h has the formulas). */
#include "engine/core/kernel.h"

#include "base/number/fp16.h"
#include "base/number/random.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct random_block random_block;

struct random_block {
    mw__random_draw *draw;
    double a, b;   /* of the distribution */
    float largest; /* below the high of random_uniform */
    int64_t elements, count;
    mw_dtype dtype;
    int64_t classes, size; /* random_categorical */
    bool logits;
    uint32_t key[2];
    bool fresh;
    _Atomic uint64_t executions; /* drawn from by a step of its own; the one thing that a run changes */
};

/* The words of element `index` in execution `n`. */
static void draw_words(const random_block *block, int64_t index, uint64_t n, uint32_t out[4])
{
    const uint64_t i = (uint64_t)index;
    const uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)n, (uint32_t)(n >> 32)};
    mw__philox(out, counter, block->key);
}

static uint64_t execution(const mw__kernel_call *call, size_t read)
{
    const random_block *block = call->block;
    return block->fresh ? *(const uint64_t *)call->in[read] : 0;
}

static void random_run(const mw__kernel_call *call)
{
    const random_block *block = call->block;
    const uint64_t n = execution(call, 0);
    int64_t begin, end;
    mw__units_range(call, block->elements, block->count, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        uint32_t words[4];
        draw_words(block, i, n, words);
        const float value = (float)block->draw(words, block->a, block->b);
        mw__tile_store(call->out[0], block->dtype, i, 1, &value);
        if (block->dtype == MW_F32 && value > block->largest)
            ((float *)call->out[0])[i] = block->largest;
        else if (block->dtype == MW_F16 && mw__fp16_to_float(((uint16_t *)call->out[0])[i]) > block->largest)
            mw__tile_store(call->out[0], block->dtype, i, 1, &block->largest);
    }
}

/* ---- random_categorical ---- */

static double weight(const random_block *block, const float *x, int64_t c, double top)
{
    const double p = block->logits ? exp((double)x[c] - top) : (double)x[c];
    return p > 0.0 && isfinite(p) ? p : 0.0;
}

static int64_t draw_class(const random_block *block, const float *x, double top, double target)
{
    double sum = 0.0;
    int64_t last = 0;
    for (int64_t c = 0; c < block->classes; c++) {
        const double p = weight(block, x, c, top);
        sum += p;
        if (sum > target)
            return c;
        last = p > 0.0 ? c : last;
    }
    return last;
}

/* A row at a time: out [rows, size]. */
static void categorical_run(const mw__kernel_call *call)
{
    const random_block *block = call->block;
    const uint64_t n = execution(call, 1);
    for (int64_t row = call->begin; row < call->end; row++) {
        const float *x = (const float *)call->in[0] + row * block->classes;
        double top = -HUGE_VAL, sum = 0.0;
        for (int64_t c = 0; c < block->classes; c++)
            top = (double)x[c] > top ? (double)x[c] : top;
        for (int64_t c = 0; c < block->classes; c++)
            sum += weight(block, x, c, top);
        for (int64_t i = row * block->size; i < (row + 1) * block->size; i++) {
            uint32_t words[4];
            draw_words(block, i, n, words);
            const float chosen = (float)draw_class(block, x, top, (double)words[0] * 0x1p-32 * sum);
            mw__tile_store(call->out[0], block->dtype, i, 1, &chosen);
        }
    }
}

/* ---- planning ---- */

static void count_run(const mw__kernel_call *call)
{
    random_block *const *block = call->block;
    *(uint64_t *)call->out[0] = atomic_fetch_add_explicit(&(*block)->executions, 1, memory_order_relaxed);
}

/* A step that gives every partition of the next one the same execution number. */
static void plan_execution(mw__planner *planner, mw__step *reader, random_block *block, uint32_t buffer)
{
    if (block->fresh)
        mw__step_read(planner, reader, buffer, MW__WHOLE, 0, false);
}

static uint32_t plan_count(mw__planner *planner, random_block *block)
{
    random_block **indirect = mw__plan_block(planner, sizeof *indirect);
    const uint32_t buffer = mw__plan_temporary(planner, sizeof(uint64_t));
    if (indirect == NULL)
        return buffer;
    *indirect = block;
    mw__step *step = mw__plan_step(planner, count_run, "random.count", 1, 10.0);
    step->block = indirect;
    step->varies = true;
    mw__step_write(planner, step, buffer, MW__WHOLE, 0);
    return buffer;
}

static random_block *begin_block(mw__planner *planner, const mw__op *op)
{
    int64_t seed = -1;
    random_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return NULL;
    mw__arg_int(op, "seed", &seed);
    block->fresh = seed < 0;
    block->key[0] = (uint32_t)seed;
    block->key[1] = block->fresh ? mw__plan_origin(planner, op->results[0]) : 0;
    block->dtype = mw__dtype_of(op->results[0]);
    block->count = mw__count_of(op->results[0]);
    block->largest = INFINITY;
    return block;
}

/* The largest number of the type below `high`. */
static float below(double high, mw_dtype dtype)
{
    if (dtype == MW_F32)
        return nextafterf((float)high, -INFINITY);
    const uint16_t bits = mw__fp16_from_double(high);
    const bool zero = (bits & 0x7FFF) == 0, negative = (bits & 0x8000) != 0;
    return mw__fp16_to_float((uint16_t)(zero ? 0x8001 : negative ? bits + 1 : bits - 1));
}

static void set_distribution(random_block *block, const mw__op *op)
{
    if (strcmp(op->row->name, "random_normal") == 0) {
        block->draw = mw__random_draw_normal;
        mw__arg_float(op, "mean", &block->a);
        mw__arg_float(op, "stddev", &block->b);
    } else if (strcmp(op->row->name, "random_uniform") == 0) {
        block->draw = mw__random_draw_uniform;
        mw__arg_float(op, "low", &block->a);
        mw__arg_float(op, "high", &block->b);
        /* MIL random_uniform: "When high == low, values of low will be returned." */
        block->largest = block->a < block->b ? below(block->b, block->dtype) : (float)block->a;
    } else {
        block->draw = mw__random_draw_bernoulli;
        mw__arg_float(op, "prob", &block->a);
    }
}

mw_status mw__kernel_random(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *result = op->results[0];
    const mw__units split = mw__units_of(planner, mw__shape_of(result));
    random_block *block = begin_block(planner, op);
    if (block == NULL)
        return mw__plan_check(planner, err);
    if (block->dtype != MW_F32 && block->dtype != MW_F16)
        return mw__kernel_unsupported(op, block->dtype, err);
    set_distribution(block, op);
    block->elements = split.elements;
    const uint32_t counted = block->fresh ? plan_count(planner, block) : 0;
    mw__step *step = mw__plan_step(planner, random_run, op->row->name, split.units, (double)block->count * 40.0);
    step->block = block;
    plan_execution(planner, step, block, counted);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS,
                   (size_t)split.elements * mw__dtype_size(block->dtype));
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_random_categorical(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_shape shape = mw__shape_of(x);
    random_block *block = begin_block(planner, op);
    if (block == NULL || block->count == 0)
        return mw__plan_check(planner, err);
    const char *mode = mw__arg_string(op, "mode");
    block->logits = mode == NULL || strcmp(mode, "logits") == 0;
    block->classes = shape.dim[shape.rank - 1];
    block->size = mw__shape_of(result).dim[shape.rank - 1];
    const int64_t rows = block->count / block->size;
    const uint32_t floats = mw__plan_floats(planner, x);
    const uint32_t counted = block->fresh ? plan_count(planner, block) : 0;
    mw__step *step = mw__plan_step(planner, categorical_run, op->row->name, rows,
                                   (double)(block->count + rows) * (double)block->classes * 10.0);
    step->block = block;
    mw__step_read(planner, step, floats, MW__ROWS, (size_t)block->classes * sizeof(float), false);
    plan_execution(planner, step, block, counted);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS,
                   (size_t)block->size * mw__dtype_size(block->dtype));
    return mw__plan_check(planner, err);
}
