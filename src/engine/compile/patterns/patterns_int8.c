/* Operations on codes of 8 bits: conv, linear and matmul of what is dequantized with a constant that is, and the
 * activation and the quantization behind them; sums and poolings between both. */
#include "engine/compile/patterns/patterns_int8.h"
#include "engine/core/kernel.h"

#include <math.h>
#include <string.h>

enum { CODES = 256, SUMS_MOST = 1 << 30 /* and a bias may be as much */ };

static bool is_byte(const mw_tensor *value)
{
    return value != NULL && (mw__dtype_of(value) == MW_I8 || mw__dtype_of(value) == MW_U8);
}

static bool is_known(const mw_tensor *value)
{
    return value != NULL && value->payload != NULL && value->payload->data != NULL;
}

static int least_code(mw_dtype dtype) { return dtype == MW_I8 ? -128 : 0; }

/* ---- scales ---- */

/* One scale and zero point for all. */
static const char *read_coding(const mw__op *op, float *out_scale, int *out_zero)
{
    const mw_tensor *scale = mw__arg(op, "scale"), *zero = mw__arg(op, "zero_point");
    if (!is_known(scale) || mw__count_of(scale) != 1 || (zero != NULL && (!is_known(zero) || mw__count_of(zero) != 1)))
        return "its scale is not one number that is known";
    *out_scale = (float)mw__payload_float(scale->payload, 0);
    *out_zero = zero != NULL ? (int)mw__payload_int(zero->payload, 0) : 0;
    return *out_scale > 0.0f && isfinite(*out_scale) ? NULL : "its scale is not above 0";
}

/* What a weight is made of. */
typedef struct codes {
    const mw_tensor *data, *scale, *zero; /* zero: or NULL */
    int64_t axis;                         /* of vectors of scales; -1: they have the axes of the data */
} codes;

static codes codes_of(const mw__op *op)
{
    codes c = {.axis = 0};
    if (op == NULL || op->row == NULL)
        return c;
    if (mw__op_is(op, "constexpr_blockwise_shift_scale"))
        return (codes){mw__arg(op, "data"), mw__arg(op, "scale"), mw__arg(op, "offset"), -1};
    const bool affine = mw__op_is(op, "constexpr_affine_dequantize");
    if (!affine && !mw__op_is(op, "dequantize"))
        return c;
    if (mw__arg_present(op, "axis") && !mw__arg_int(op, "axis", &c.axis))
        return c;
    c.data = mw__arg(op, affine ? "quantized_data" : "input");
    c.scale = mw__arg(op, "scale"), c.zero = mw__arg(op, "zero_point");
    c.axis += c.axis < 0 && c.data != NULL ? mw__shape_of(c.data).rank : 0;
    return c;
}

/* Whether numbers are one for all, or one for each element of an axis of the data. */
static bool lies_along(const codes *c, const mw_tensor *value, int axis, int64_t outputs)
{
    const mw_shape shape = mw__shape_of(value);
    if (!is_known(value))
        return false;
    if (mw__count_of(value) == 1)
        return true;
    if (mw__count_of(value) != outputs)
        return false;
    return c->axis >= 0 ? c->axis == axis && shape.rank == 1 : shape.rank > axis && shape.dim[axis] == outputs;
}

static double number_along(const mw_tensor *value, int64_t at)
{
    return value == NULL ? 0.0 : mw__payload_float(value->payload, mw__count_of(value) == 1 ? 0 : (size_t)at);
}

static const char *read_scales(const codes *c, mw__finder *f, mw__int8_product_match *m, mw_error *err)
{
    const int least = least_code(m->weight_dtype);
    float *scales = mw__arena_alloc(f->arena, (size_t)m->outputs, sizeof *scales, err);
    int *zeros = mw__arena_alloc(f->arena, (size_t)m->outputs, sizeof *zeros, err);
    for (int64_t o = 0; scales != NULL && zeros != NULL && o < m->outputs; o++) {
        const double zero = number_along(c->zero, o);
        scales[o] = (float)number_along(c->scale, o);
        if (!(scales[o] > 0.0f) || !isfinite(m->x_scale * scales[o]) || !(m->x_scale * scales[o] > 0.0f))
            return "a scale of its weight is not above 0";
        if (zero != rint(zero) || zero < least || zero >= least + CODES)
            return "a zero point of its weight is no code";
        zeros[o] = (int)zero;
    }
    m->scales = scales, m->zeros = zeros;
    return NULL;
}

/* ---- operands ---- */

/* Rows lie as they do, whatever is said of the axes before them. */
static const mw_tensor *below_shapes(const mw_tensor *x)
{
    while (x != NULL && (mw__pattern_is_named(x->op, "reshape") || mw__pattern_is_named(x->op, "expand_dims") ||
                         mw__pattern_is_named(x->op, "squeeze")))
        x = mw__arg(x->op, "x");
    return x;
}

static const char *read_x(const mw__op *op, mw__int8_product_match *m)
{
    const mw_tensor *x = mw__op_is(op, "conv") ? mw__arg(op, "x") : below_shapes(mw__arg(op, "x"));
    if (x == NULL || !mw__pattern_is_named(x->op, "dequantize") || !is_byte(mw__arg(x->op, "input")))
        return "its x is not dequantized";
    m->x = mw__arg(x->op, "input");
    return read_coding(x->op, &m->x_scale, &m->x_zero);
}

/* Which axis of the weight has the outputs; -1: it is none that is known to be a matrix. */
static int output_axis(const mw__op *op, const mw_tensor *weight, mw__int8_product_match *m)
{
    const mw_shape shape = mw__shape_of(weight);
    bool x_turned = false;
    if (!mw__op_is(op, "matmul"))
        return 0;
    mw__arg_bool(op, "transpose_x", &x_turned);
    mw__arg_bool(op, "transpose_y", &m->weight_turned);
    if (shape.rank < 2 || x_turned || mw__shape_of(mw__arg(op, "x")).rank < shape.rank ||
        mw__shape_span(shape, 0, shape.rank - 2) != 1)
        return -1;
    return shape.rank - (m->weight_turned ? 2 : 1);
}

static const char *read_weight(mw__finder *f, const mw__op *op, mw__int8_product_match *m, mw_error *err)
{
    const mw_tensor *weight = mw__arg(op, mw__op_is(op, "matmul") ? "y" : "weight");
    const codes c = weight != NULL ? codes_of(weight->op) : (codes){0};
    if (!is_byte(c.data) || !is_known(c.data) || c.data->payload->splat)
        return "its weight is not made of constant codes of 8 bits";
    const int axis = output_axis(op, weight, m);
    if (axis < 0)
        return "its weight is no matrix";
    m->weight_turned = m->weight_turned || mw__op_is(op, "linear");
    m->weight = c.data->payload->data, m->weight_dtype = mw__dtype_of(c.data);
    m->outputs = mw__shape_of(weight).dim[axis];
    if (mw__count_of(weight) == 0)
        return "it has no elements";
    m->depth = mw__count_of(weight) / m->outputs;
    if (!lies_along(&c, c.scale, axis, m->outputs) || (c.zero != NULL && !lies_along(&c, c.zero, axis, m->outputs)))
        return "its weight has other scales than one for each output";
    return read_scales(&c, f, m, err);
}

/* bias: that of the operation, or what is added behind a product that has none; NULL: there is none. */
static const char *read_bias(mw__finder *f, const mw_tensor *bias, mw__int8_product_match *m, mw_error *err)
{
    if (bias == NULL)
        return NULL;
    float *numbers = mw__arena_alloc(f->arena, (size_t)m->outputs, sizeof *numbers, err);
    if (!is_known(bias) || mw__count_of(bias) != m->outputs)
        return "its bias is computed";
    for (int64_t o = 0; numbers != NULL && o < m->outputs; o++) {
        numbers[o] = (float)mw__payload_float(bias->payload, (size_t)o);
        if (!isfinite(numbers[o]))
            return "its bias is not finite";
    }
    m->bias = numbers;
    return NULL;
}

/* The largest that a sum can be. */
static bool fits_int32(const mw__int8_product_match *m)
{
    const int x_least = least_code(mw__dtype_of(m->x)), least = least_code(m->weight_dtype);
    const double x_most = fmax(m->x_zero - x_least, x_least + CODES - 1 - m->x_zero);
    for (int64_t o = 0; o < m->outputs; o++)
        if ((double)m->depth * x_most * fmax(m->zeros[o] - least, least + CODES - 1 - m->zeros[o]) >= SUMS_MOST)
            return false;
    return true;
}

/* added: what is added to all rows of a matmul behind it; or NULL. */
static const char *read_product(mw__finder *f, const mw__op *op, const mw_tensor *added, mw__int8_product_match *m,
                                mw_error *err)
{
    mw_error ignored = {0};
    const mw_tensor *bias = mw__op_is(op, "matmul") ? added : mw__arg(op, "bias");
    const mw_tensor *y = op->results[0];
    const char *reason;
    *m = (mw__int8_product_match){.op = op, .result = y};
    if (mw__kernel_check(op, &ignored) != MW_OK || mw__dtype_of(y) != MW_F32 || mw__count_of(y) == 0)
        return "its result is not fp32 of a known shape";
    if (mw__pattern_is_rounded(f, y) || mw__pattern_is_rounded(f, mw__arg(op, "x")))
        return "results are rounded to fp16";
    if ((reason = read_x(op, m)) != NULL || (reason = read_weight(f, op, m, err)) != NULL ||
        (reason = read_bias(f, bias, m, err)) != NULL)
        return reason;
    if (!fits_int32(m))
        return "its sums may leave int32";
    return mw__op_is(op, "conv") ? mw__int8_conv_declines(op) : NULL;
}

const bool *mw__pattern_quads(mw__finder *f, mw_error *err)
{
    if (f->quads == NULL)
        f->quads = mw__arena_alloc(f->arena, f->function->graph->value_count, sizeof *f->quads, err);
    return f->quads;
}

static mw_status put_product(mw__finder *f, size_t at, const mw__int8_product_match *found, mw_error *err)
{
    mw__int8_product_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__pattern *pattern = match != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL || mw__pattern_quads(f, err) == NULL)
        return MW_ERROR_MEMORY;
    *match = *found;
    match->quads = f->quads;
    pattern->reads[0] = found->x;
    return mw__pattern_add_op(f, pattern, found->op, err);
}

mw_status mw__match_int8_product(mw__finder *f, size_t at, mw_error *err)
{
    mw__int8_product_match found;
    const char *reason = read_product(f, f->body->ops[at], NULL, &found, err);
    if (mw__failed(err))
        return err->status;
    return reason != NULL ? mw__pattern_decline(f, reason) : put_product(f, at, &found, err);
}

/* ---- with what is behind ---- */

int mw__pattern_code_between(double code, int low, int high)
{
    return code > low ? (code < high ? (int)code : high) : low;
}

/* Between which numbers an activation puts its x; false: it is none such. */
static bool read_bounds(const mw__op *op, double *out_low, double *out_high)
{
    *out_low = 0.0, *out_high = (double)INFINITY;
    if (mw__pattern_is_named(op, "relu6"))
        *out_high = 6.0;
    else if (mw__pattern_is_named(op, "clip"))
        return mw__arg_float(op, "alpha", out_low) && mw__arg_float(op, "beta", out_high);
    else
        return mw__pattern_is_named(op, "relu");
    return true;
}

/* The code of a bound: rounding keeps the order, so that codes are bounded where numbers were. */
static int bound_code(const mw__int8_product_match *q, double bound)
{
    const float steps = rintf((float)bound / q->y_scale);
    return mw__pattern_code_between((double)steps + q->y_zero, q->low, q->high);
}

/* What is quantized, without the activations that bound it. */
static const mw_tensor *below_bounds(const mw__finder *f, const mw_tensor *x, mw__int8_product_match *q)
{
    double low, high;
    while (x->op != NULL && f->uses[x->id] == 1 && read_bounds(x->op, &low, &high)) {
        const int least = bound_code(q, low), most = bound_code(q, high);
        q->low = least, q->high = most < least ? least : most;
        x = mw__arg(x->op, "x");
    }
    return x;
}

const char *mw__pattern_read_quantize(const mw__finder *f, const mw__op *op, mw__int8_product_match *q,
                                      const mw_tensor **out_x)
{
    *q = (mw__int8_product_match){.result = op->results[0]};
    const char *reason = read_coding(op, &q->y_scale, &q->y_zero);
    q->low = least_code(mw__dtype_of(q->result)), q->high = q->low + CODES - 1;
    if (reason == NULL)
        *out_x = below_bounds(f, mw__arg(op, "input"), q);
    return reason;
}

/* The matmul to whose rows a constant is added; x itself if it is no such sum. */
static const mw_tensor *below_bias(const mw__finder *f, const mw_tensor *x, const mw_tensor **out_bias)
{
    *out_bias = NULL;
    if (!mw__pattern_is_named(x->op, "add") || f->uses[x->id] != 1)
        return x;
    for (int i = 0; i < 2; i++) {
        const mw_tensor *of = mw__arg(x->op, i == 0 ? "x" : "y"), *bias = mw__arg(x->op, i == 0 ? "y" : "x");
        const mw_shape shape = mw__shape_of(of);
        if (!mw__pattern_is_named(of->op, "matmul") || !is_known(bias) || !mw_shape_equal(shape, mw__shape_of(x)) ||
            mw__count_of(bias) != shape.dim[shape.rank - 1] || mw__shape_of(bias).rank == 0 ||
            mw__shape_of(bias).dim[mw__shape_of(bias).rank - 1] != mw__count_of(bias))
            continue;
        *out_bias = bias;
        return of;
    }
    return x;
}

static const char *read_quantized(mw__finder *f, const mw__op *op, mw__int8_product_match *m, mw_error *err)
{
    mw__int8_product_match q;
    const mw_tensor *x, *bias;
    const char *reason = mw__pattern_read_quantize(f, op, &q, &x);
    if (reason != NULL)
        return reason;
    x = below_bias(f, x, &bias);
    const bool product = x->op != NULL && f->maker[x->id] > 0 && f->uses[x->id] == 1 &&
                         (mw__pattern_is_named(x->op, "conv") || mw__pattern_is_named(x->op, "linear") ||
                          mw__pattern_is_named(x->op, "matmul"));
    if (!product)
        return "what it quantizes is no product, or something else needs it";
    if ((reason = read_product(f, x->op, bias, m, err)) != NULL)
        return reason;
    m->result = q.result, m->y_scale = q.y_scale, m->y_zero = q.y_zero, m->low = q.low, m->high = q.high;
    return NULL;
}

/* ---- sums and pools ---- */

const mw_tensor *mw__pattern_codes_below(const mw__finder *f, const mw_tensor *x, float *out_scale, int *out_zero)
{
    if (x == NULL || !mw__pattern_is_named(x->op, "dequantize") || mw__dtype_of(x) != MW_F32 ||
        mw__pattern_is_rounded(f, x) || !is_byte(mw__arg(x->op, "input")) ||
        read_coding(x->op, out_scale, out_zero) != NULL)
        return NULL;
    return mw__arg(x->op, "input");
}

static const char *read_sum(const mw__finder *f, const mw__op *op, mw__int8_sum_match *m)
{
    mw__int8_product_match q;
    const mw_tensor *sum = NULL;
    const char *reason = mw__pattern_read_quantize(f, op, &q, &sum);
    if (reason != NULL)
        return reason;
    if (!mw__pattern_is_named(sum->op, "add") || mw__pattern_is_rounded(f, sum) || mw__count_of(sum) == 0)
        return "what it quantizes is no sum";
    for (int i = 0; i < 2; i++) {
        const mw_tensor *x = mw__arg(sum->op, i == 0 ? "x" : "y");
        m->x[i] = mw__pattern_codes_below(f, x, &m->scale[i], &m->zero[i]);
        if (m->x[i] == NULL || !mw_shape_equal(mw__shape_of(x), mw__shape_of(sum)))
            return "what it adds are not two dequantized tensors of one shape";
    }
    m->base = q, m->base.op = sum->op;
    return NULL;
}

/* Puts what is read from codes and is no product of a constant. */
static mw_status put_other(mw__finder *f, size_t at, const mw__int8_product_match *match, const mw_tensor *x,
                           const mw_tensor *y, mw_error *err)
{
    mw__pattern *pattern = mw__pattern_put(f, at, match, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    pattern->reads[0] = x, pattern->reads[1] = y;
    return mw__pattern_add_op(f, pattern, f->body->ops[at], err);
}

static mw_status put_sum(mw__finder *f, size_t at, const mw__int8_sum_match *found, mw_error *err)
{
    mw__int8_sum_match *sum = mw__arena_alloc(f->arena, 1, sizeof *sum, err);
    if (sum == NULL || mw__pattern_quads(f, err) == NULL)
        return MW_ERROR_MEMORY;
    *sum = *found;
    sum->base.quads = f->quads;
    return put_other(f, at, &sum->base, sum->x[0], sum->x[1], err);
}

void mw__pattern_fill_table(const mw__int8_product_match *q, mw_dtype dtype, float scale, int zero,
                            uint8_t table[CODES])
{
    for (int byte = 0; byte < CODES; byte++) {
        const int code = dtype == MW_I8 ? (int8_t)byte : byte;
        const float number = ((float)code - (float)zero) * scale;
        table[byte] =
            (uint8_t)mw__pattern_code_between((double)rintf(number / q->y_scale) + q->y_zero, q->low, q->high);
    }
}

static bool read_pool(const mw__finder *f, const mw__op *op, mw__int8_pool_match *m)
{
    mw__int8_product_match q;
    const mw_tensor *y = NULL;
    float scale;
    int zero;
    mw_error ignored = {0};
    if (mw__pattern_read_quantize(f, op, &q, &y) != NULL || !mw__pattern_is_named(y->op, "max_pool") ||
        mw__kernel_check(y->op, &ignored) != MW_OK || mw__pattern_is_rounded(f, y) || mw__count_of(y) == 0)
        return false;
    const mw_tensor *x = mw__pattern_codes_below(f, mw__arg(y->op, "x"), &scale, &zero);
    if (x == NULL || !mw__int8_pool_suits(y->op))
        return false;
    *m = (mw__int8_pool_match){.base = q};
    m->base.op = y->op, m->base.x = x;
    mw__pattern_fill_table(&q, mw__dtype_of(x), scale, zero, m->table);
    return true;
}

static mw_status put_pool(mw__finder *f, size_t at, const mw__int8_pool_match *found, mw_error *err)
{
    mw__int8_pool_match *pool = mw__arena_alloc(f->arena, 1, sizeof *pool, err);
    if (pool == NULL || mw__pattern_quads(f, err) == NULL)
        return MW_ERROR_MEMORY;
    *pool = *found;
    pool->base.quads = f->quads;
    return put_other(f, at, &pool->base, pool->base.x, NULL, err);
}

/* ---- whatever is quantized ---- */

/* The product itself has no plan of its own then. */
mw_status mw__match_int8_requantize(mw__finder *f, size_t at, mw_error *err)
{
    mw__int8_product_match found;
    const char *reason = read_quantized(f, f->body->ops[at], &found, err);
    if (mw__failed(err))
        return err->status;
    mw__int8_sum_match sum = {0};
    mw__int8_pool_match pool;
    if (reason != NULL && read_sum(f, f->body->ops[at], &sum) == NULL)
        return put_sum(f, at, &sum, err);
    if (reason != NULL)
        return read_pool(f, f->body->ops[at], &pool) ? put_pool(f, at, &pool, err) : mw__pattern_decline(f, reason);
    MW_TRY(put_product(f, at, &found, err));
    MW_TRY(mw__pattern_add_op(f, f->patterns[at], f->body->ops[at], err));
    return mw__pattern_put_made(f, f->maker[found.op->results[0]->id] - 1, NULL, err);
}
