/* Values made or added around others: pad, fill, range_1d. */
#include "engine/core/kernel.h"

#include "base/number/fp16.h"
#include "engine/kernels/math/math.h"
#include "engine/kernels/math/round.h"

#include <math.h>
#include <string.h>

/* The bytes of `value` as one element; false for a type that is not computed with. Out of range saturates. */
static bool element_bytes(mw_dtype dtype, double value, void *out)
{
    const double low = -2147483648.0, high = 2147483647.0;
    const double inside = value != value ? 0.0 : fmin(fmax(value, low), high);
    const float f32 = (float)value;
    const int32_t i32 = (int32_t)inside;
    const uint16_t f16 = mw__fp16_from_double(value), i16 = (uint16_t)i32;
    const uint8_t i8 = (uint8_t)i32, boolean = value != 0.0;
    switch (dtype) {
    case MW_F32:
        memcpy(out, &f32, 4);
        return true;
    case MW_F16:
        memcpy(out, &f16, 2);
        return true;
    case MW_I32:
        memcpy(out, &i32, 4);
        return true;
    case MW_I16:
    case MW_U16:
        memcpy(out, &i16, 2);
        return true;
    case MW_I8:
    case MW_U8:
        memcpy(out, &i8, 1);
        return true;
    case MW_BOOL:
        memcpy(out, &boolean, 1);
        return true;
    default:
        return false;
    }
}

/* A constant size, so that a copy is a store. */
#define SPREAD(bytes)                                                                                                  \
    for (int64_t i = 0; i < count; i++)                                                                                \
        memcpy(out + i * (bytes), element, (bytes));                                                                   \
    break;

static void spread_element(char *out, const unsigned char *given, int64_t count, size_t size)
{
    unsigned char element[8]; /* of its own: `out` may be next to anything */
    memcpy(element, given, sizeof element);
    switch (size) {
    case 1:
        SPREAD(1)
    case 2:
        SPREAD(2)
    case 4:
        SPREAD(4)
    default:
        SPREAD(8)
    }
}

/* ---- fill and range_1d ---- */

typedef struct fill_block {
    int64_t elements, count;
    mw_dtype dtype;
    size_t size;
    unsigned char element[8];
} fill_block;

static void fill_run(const mw__kernel_call *call)
{
    const fill_block *block = call->block;
    int64_t begin, end;
    mw__units_range(call, block->elements, block->count, &begin, &end);
    char *out = (char *)call->out[0] + (size_t)begin * block->size;
    spread_element(out, block->element, end - begin, block->size);
}

/* start + i * step in double, rounded once. */
static void range_run(const mw__kernel_call *call)
{
    const fill_block *block = call->block;
    int64_t begin, end;
    mw__units_range(call, block->elements, block->count, &begin, &end);
    if (block->dtype == MW_I32) {
        const uint32_t start = *(const uint32_t *)call->in[0], step = *(const uint32_t *)call->in[1];
        for (int64_t i = begin; i < end; i++)
            ((uint32_t *)call->out[0])[i] = start + (uint32_t)i * step;
        return;
    }
    float one, other;
    const double start = (double)*mw__tile_load(call->in[0], block->dtype, 0, 1, &one);
    const double step = (double)*mw__tile_load(call->in[1], block->dtype, 0, 1, &other);
    for (int64_t i = begin; i < end; i++)
        element_bytes(block->dtype, start + (double)i * step, (char *)call->out[0] + (size_t)i * block->size);
}

static mw__step *plan_made(mw__planner *planner, const mw__op *op, mw__kernel *run, fill_block *block)
{
    const mw_tensor *result = op->results[0];
    const mw__units split = mw__units_of(planner, mw__shape_of(result));
    block->elements = split.elements, block->count = mw__count_of(result);
    block->dtype = mw__dtype_of(result), block->size = mw__dtype_size(block->dtype);
    mw__step *step = mw__plan_step(planner, run, op->row->name, split.units,
                                   mw__cost((double)block->count * (double)block->size, (double)block->count));
    step->block = block;
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * block->size);
    return step;
}

/* The one number of it, for those who read it element by element: such a tensor need not be there. */
static uint32_t plan_number(mw__planner *planner, const mw_tensor *result, const unsigned char *element)
{
    float number;
    memcpy(&number, element, sizeof number);
    mw__loop1 *round = mw__round_loop(mw__plan_level(planner), mw__plan_rounds(planner, result));
    if (round != NULL)
        round(&number, &number, 1, 0, 0);
    return mw__plan_constant(planner, &number, sizeof number);
}

mw_status mw__kernel_fill(mw__planner *planner, const mw__op *op, mw_error *err)
{
    double value = 0.0;
    unsigned char element[8] = {0};
    mw__arg_float(op, "value", &value);
    if (!element_bytes(mw__dtype_of(op->results[0]), value, element))
        return mw__kernel_unsupported(op, mw__dtype_of(op->results[0]), err);
    fill_block *block = mw__plan_block(planner, sizeof *block);
    if (block != NULL && mw__count_of(op->results[0]) > 0) {
        memcpy(block->element, element, sizeof element);
        mw__step *step = plan_made(planner, op, fill_run, block);
        if (block->dtype == MW_F32) {
            step->fusion.kind = MW__STEP_FILL;
            step->fusion.as.number = plan_number(planner, op->results[0], element);
        }
    }
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_range_1d(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_dtype dtype = mw__dtype_of(op->results[0]);
    MW_TRY(mw__kernel_check_number(op, dtype, err));
    fill_block *block = mw__plan_block(planner, sizeof *block);
    if (block != NULL && mw__count_of(op->results[0]) > 0) {
        mw__step *step = plan_made(planner, op, range_run, block);
        mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "start")), MW__WHOLE, 0, false);
        mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "step")), MW__WHOLE, 0, false);
    }
    return mw__plan_check(planner, err);
}

/* ---- pad ---- */

typedef enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE } pad_mode;

typedef struct pad_block {
    int rank; /* >= 1 */
    int64_t in[MW_RANK_MAX], out[MW_RANK_MAX], before[MW_RANK_MAX];
    int64_t least[MW_RANK_MAX], most[MW_RANK_MAX]; /* of before, where it is computed */
    int first;                                     /* the axis that the amounts begin with; rank = none is computed */
    pad_mode mode;
    size_t size;
    unsigned char element[8];
} pad_block;

/* The position in x that fills position `at` of the result; -1 for the constant. */
static int64_t pad_source(const pad_block *block, int axis, int64_t at)
{
    const int64_t n = block->in[axis], source = at - block->before[axis];
    if (source >= 0 && source < n)
        return source;
    if (block->mode == PAD_CONSTANT)
        return -1;
    if (block->mode == PAD_REPLICATE)
        return source < 0 ? 0 : n - 1;
    return source < 0 ? -source : 2 * (n - 1) - source;
}

/* The row of x for a row of the result; -1 if all of it is the constant. */
static int64_t source_row(const pad_block *block, int64_t row)
{
    int64_t source = 0, below = 1;
    for (int axis = block->rank - 2; axis >= 0; axis--) {
        const int64_t at = pad_source(block, axis, row % block->out[axis]);
        row /= block->out[axis];
        if (at < 0)
            return -1;
        source += at * below;
        below *= block->in[axis];
    }
    return source;
}

static void pad_edge(const pad_block *block, char *out, const char *x, int64_t from, int64_t to)
{
    if (block->mode == PAD_CONSTANT) {
        spread_element(out + (size_t)from * block->size, block->element, to - from, block->size);
        return;
    }
    for (int64_t i = from; i < to; i++) {
        const int64_t source = pad_source(block, block->rank - 1, i);
        memcpy(out + (size_t)i * block->size,
               source < 0 ? (const char *)block->element : x + (size_t)source * block->size, block->size);
    }
}

/* Amounts that are computed: what comes before, within what the result leaves room for. */
static void read_amounts(pad_block *block, const void *amounts)
{
    for (int axis = block->first; axis < block->rank; axis++) {
        const int64_t wanted = ((const int32_t *)amounts)[2 * (axis - block->first)];
        const int64_t least = block->least[axis], most = block->most[axis];
        block->before[axis] = wanted < least ? least : wanted > most ? most : wanted;
    }
}

/* Rows [begin, end) of one element each, among constants. */
static void pad_elements(const pad_block *block, const char *x, int64_t begin, int64_t end, char *out)
{
    const size_t size = block->size, step = (size_t)block->out[1] * size;
    char *to = out + (size_t)begin * step;
    spread_element(to, block->element, (end - begin) * block->out[1], size);
    x += (size_t)begin * size;
    to += (size_t)block->before[1] * size;
    if (size == sizeof(uint32_t))
        for (int64_t row = begin; row < end; row++, x += sizeof(uint32_t), to += step)
            memcpy(to, x, sizeof(uint32_t));
    else
        for (int64_t row = begin; row < end; row++, x += size, to += step)
            memcpy(to, x, size);
}

#define ELEMENTS_AT_ONCE 512 /* rows, which are then in the first cache */

/* Zeros between elements, as a gradient has them. */
static bool pads_elements(const pad_block *block)
{
    return block->mode == PAD_CONSTANT && block->first == block->rank && block->rank == 2 && block->in[1] == 1 &&
           block->in[0] == block->out[0];
}

static void pad_run(const mw__kernel_call *call)
{
    for (int64_t row = call->begin; pads_elements(call->block) && row < call->end; row += ELEMENTS_AT_ONCE)
        pad_elements(call->block, call->in[0], row,
                     row + ELEMENTS_AT_ONCE < call->end ? row + ELEMENTS_AT_ONCE : call->end, call->out[0]);
    if (pads_elements(call->block))
        return;
    pad_block own = *(const pad_block *)call->block, *block = &own;
    if (block->first < block->rank)
        read_amounts(block, call->in[1]);
    const int last = block->rank - 1;
    const int64_t n = block->in[last], width = block->out[last], before = block->before[last];
    for (int64_t row = call->begin; row < call->end; row++) {
        char *out = (char *)call->out[0] + (size_t)(row * width) * block->size;
        const int64_t source = source_row(block, row);
        if (source < 0) {
            spread_element(out, block->element, width, block->size);
            continue;
        }
        const char *x = (const char *)call->in[0] + (size_t)(source * n) * block->size;
        pad_edge(block, out, x, 0, before);
        memcpy(out + (size_t)before * block->size, x, (size_t)n * block->size);
        pad_edge(block, out, x, before + n, width);
    }
}

static bool pad_read_mode(const mw__op *op, pad_mode *out)
{
    const char *mode = mw__arg_string(op, "mode");
    *out = mode == NULL || strcmp(mode, "constant") == 0 ? PAD_CONSTANT
           : strcmp(mode, "reflect") == 0                ? PAD_REFLECT
                                                         : PAD_REPLICATE;
    return *out != PAD_REPLICATE || strcmp(mode, "replicate") == 0;
}

/* The amounts are computed and the result is declared: both ends of it hold something that x has. */
static mw_status pad_fill_computed(const mw__op *op, pad_block *block, mw_error *err)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x")), result = mw__shape_of(op->results[0]);
    char subject[128];
    block->rank = x.rank;
    block->first = x.rank - (int)(mw__count_of(mw__arg(op, "pad")) / 2);
    for (int axis = 0; axis < x.rank; axis++) {
        const int64_t n = x.dim[axis], all = result.dim[axis] - n;
        const int64_t limit = block->mode == PAD_CONSTANT ? all : n - (block->mode == PAD_REFLECT);
        block->in[axis] = n, block->out[axis] = result.dim[axis];
        block->least[axis] = all > limit ? all - limit : 0;
        block->most[axis] = all < limit ? all : limit;
        if (all < 0 || block->least[axis] > block->most[axis] || (axis < block->first && all != 0))
            return mw__fail(err, MW_ERROR_SHAPE, "%s: no padding of this mode makes extent %lld of axis %d from %lld",
                            mw__op_subject(op, subject, sizeof subject), (long long)result.dim[axis], axis,
                            (long long)n);
    }
    return MW_OK;
}

static mw_status pad_fill(const mw__op *op, pad_block *block, mw_error *err)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    int64_t amounts[2 * MW_RANK_MAX];
    size_t count = 0;
    char subject[128];
    if (!pad_read_mode(op, &block->mode))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the mode is constant, reflect or replicate",
                        mw__op_subject(op, subject, sizeof subject));
    if (!mw__is_constant(mw__arg(op, "pad")) && mw__dtype_of(mw__arg(op, "pad")) == MW_I32)
        return pad_fill_computed(op, block, err);
    if (!mw__arg_ints(op, "pad", amounts, 2 * MW_RANK_MAX, &count) || count > 2 * (size_t)x.rank || count % 2 != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the engine needs pad as 2 int32 numbers an axis",
                        mw__op_subject(op, subject, sizeof subject));
    block->rank = block->first = x.rank;
    const int first = x.rank - (int)(count / 2);
    for (int axis = 0; axis < x.rank; axis++) {
        const int64_t before = axis < first ? 0 : amounts[2 * (axis - first)];
        const int64_t after = axis < first ? 0 : amounts[2 * (axis - first) + 1];
        const int64_t limit = block->mode == PAD_CONSTANT ? INT64_MAX : x.dim[axis] - (block->mode == PAD_REFLECT);
        if (before < 0 || after < 0 || before > limit || after > limit)
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s: pad [%lld, %lld] does not fit axis %d of extent %lld",
                            mw__op_subject(op, subject, sizeof subject), (long long)before, (long long)after, axis,
                            (long long)x.dim[axis]);
        block->before[axis] = before, block->in[axis] = x.dim[axis];
        block->out[axis] = mw__shape_of(op->results[0]).dim[axis];
    }
    return MW_OK;
}

/* An axis around which nothing is added becomes part of the one before it. */
static void join_axes(pad_block *block)
{
    int rank = 1;
    for (int axis = 1; axis < block->rank; axis++) {
        const int64_t n = block->in[axis];
        if (n == block->out[axis]) {
            block->in[rank - 1] *= n, block->out[rank - 1] *= n, block->before[rank - 1] *= n;
            continue;
        }
        block->in[rank] = n, block->out[rank] = block->out[axis], block->before[rank] = block->before[axis];
        rank++;
    }
    block->rank = block->first = rank;
}

/* `amounts`: NULL unless they are computed. */
static void plan_pad(mw__planner *planner, pad_block *block, uint32_t from, uint32_t to, const mw_tensor *amounts)
{
    if (block->mode == PAD_CONSTANT && amounts == NULL)
        join_axes(block);
    const size_t width = (size_t)block->out[block->rank - 1] * block->size;
    int64_t rows = 1;
    for (int axis = 0; axis + 1 < block->rank; axis++)
        rows *= block->out[axis];
    const double bytes = (double)rows * (double)width;
    mw__step *step = mw__plan_step(planner, pad_run, "pad", rows, mw__cost(2.0 * bytes, bytes / (double)block->size));
    step->block = block;
    mw__step_read(planner, step, from, MW__WHOLE, 0, false);
    if (amounts != NULL)
        mw__step_read(planner, step, mw__plan_buffer(planner, amounts), MW__WHOLE, 0, false);
    mw__step_write(planner, step, to, MW__ROWS, width);
}

void mw__plan_zero_pad(mw__planner *planner, const mw_tensor *x, const int64_t before[MW_RANK_MAX], mw_shape out,
                       uint32_t to)
{
    const mw_shape in = mw__shape_of(x);
    pad_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return;
    *block =
        (pad_block){.rank = in.rank, .first = in.rank, .mode = PAD_CONSTANT, .size = mw__dtype_size(mw__dtype_of(x))};
    for (int axis = 0; axis < in.rank; axis++) {
        block->in[axis] = in.dim[axis];
        block->out[axis] = out.dim[axis];
        block->before[axis] = before[axis];
    }
    plan_pad(planner, block, mw__plan_buffer(planner, x), to, NULL);
}

mw_status mw__kernel_pad(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    double value = 0.0;
    if (mw__shape_of(x).rank == 0) {
        mw__plan_view(planner, result, x);
        return mw__plan_check(planner, err);
    }
    pad_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    MW_TRY(pad_fill(op, block, err));
    mw__arg_float(op, "constant_val", &value);
    block->size = mw__dtype_size(mw__dtype_of(result));
    if (!element_bytes(mw__dtype_of(result), value, block->element))
        return mw__kernel_unsupported(op, mw__dtype_of(result), err);
    const bool computed = block->first < block->rank;
    plan_pad(planner, block, mw__plan_buffer(planner, x), mw__plan_buffer(planner, result),
             computed ? mw__arg(op, "pad") : NULL);
    return mw__plan_check(planner, err);
}
