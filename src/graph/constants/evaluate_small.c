/* Evaluates small tensors over the operations that make them, by recursion to constants and shapes. A text may declare
 * what is not so: nothing here trusts a type beyond what it checks. */
#include "graph/constants/evaluate_call.h"

#include "base/number/fp16.h"
#include "base/number/types.h"
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 64, STEPS_MAX = 4096 };

/* ---- elements ---- */

/* Least and greatest value of an integer type; false for other types. */
static bool integer_range(mw_dtype dtype, double *low, double *high)
{
    const int bits = mw_dtype_bits(dtype);
    switch (dtype) {
    case MW_BOOL:
        *low = 0, *high = 1;
        return true;
    case MW_I8:
    case MW_I16:
    case MW_I32:
        *low = -ldexp(1, bits - 1), *high = -*low - 1;
        return true;
    case MW_U8:
    case MW_U16:
    case MW_U32:
        *low = 0, *high = ldexp(1, bits) - 1;
        return true;
    default:
        return false;
    }
}

bool mw__known_fit(mw_dtype dtype, double value, double *out)
{
    double low, high;
    if (dtype == MW_F32 && fabs(value) < 0x1p127)
        *out = (double)(float)value;
    else if (dtype == MW_F16 && fabs(value) < 65504)
        *out = (double)mw__fp16_to_float(mw__fp16_from_double(value));
    else if (integer_range(dtype, &low, &high) && value >= low && value <= high && value == trunc(value))
        *out = value;
    else
        return false;
    return true;
}

bool mw__known_begin(mw__known *out, mw_dtype dtype, mw_shape shape)
{
    double low, high;
    const int64_t count = mw_shape_count(shape);
    if (count < 0 || count > MW__KNOWN_MAX || (!mw__number_dtype_is_float(dtype) && !integer_range(dtype, &low, &high)))
        return false;
    out->dtype = dtype;
    out->shape = shape;
    out->count = (size_t)count;
    return true;
}

bool mw__known_put(mw__known *out, size_t at, double value)
{
    return at < out->count && mw__known_fit(out->dtype, value, &out->at[at]);
}

static bool read_payload(const mw__payload *payload, mw__known *out)
{
    if (payload->type->kind != MW__TENSOR || payload->data == NULL ||
        !mw__known_begin(out, payload->type->dtype, payload->type->shape))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!mw__known_put(out, i, mw__payload_float(payload, i)))
            return false;
    return true;
}

/* ---- arguments ---- */

const mw_tensor *mw__known_operand(const mw__known_call *c, const char *name)
{
    const mw__slot *slot = mw__op_slot(c->op, name);
    return slot != NULL && slot->operands != NULL && slot->count == 1 ? slot->operands[0].value : NULL;
}

bool mw__known_argument(const mw__known_call *c, const char *name, mw__known *out)
{
    const mw_tensor *value = mw__known_operand(c, name);
    return value != NULL && mw__evaluate(c->e, value, out);
}

bool mw__known_integer(const mw__known_call *c, const char *name, int64_t otherwise, int64_t *out)
{
    mw__known *known = &c->room[2];
    *out = otherwise;
    if (mw__known_operand(c, name) == NULL)
        return true;
    if (!mw__known_argument(c, name, known) || known->count != 1 || mw__number_dtype_is_float(known->dtype))
        return false;
    *out = (int64_t)known->at[0];
    return true;
}

/* ---- the shape of a tensor, and new shapes for the same elements ---- */

static const mw_tensor *look_up(const mw__evaluation *e, const mw_tensor *value)
{
    const mw_tensor *now = e->lookup != NULL ? e->lookup(e->user, value) : NULL;
    return now != NULL ? now : value;
}

static bool shape_of(const mw__known_call *c, mw__known *out)
{
    const mw_tensor *x = mw__known_operand(c, "x");
    if (x == NULL)
        return false;
    x = look_up(c->e, x);
    if (x->type == NULL || x->type->kind != MW__TENSOR ||
        !mw__known_begin(out, c->type->dtype, MW_SHAPE((int64_t)x->type->shape.rank)))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (x->type->shape.dim[i] < 0 || !mw__known_put(out, i, (double)x->type->shape.dim[i]))
            return false;
    return true;
}

static bool reshaped(const mw__known_call *c, mw__known *out)
{
    return mw__known_argument(c, "x", out) && mw_shape_count(c->type->shape) == (int64_t)out->count &&
           mw__known_begin(out, out->dtype, c->type->shape);
}

/* ---- made of numbers ---- */

static bool range_1d(const mw__known_call *c, mw__known *out)
{
    int64_t start, end, step;
    if (!mw__known_integer(c, "start", 0, &start) || !mw__known_integer(c, "end", 0, &end) ||
        !mw__known_integer(c, "step", 1, &step) || step == 0)
        return false;
    const int64_t span = step > 0 ? end - start : start - end, by = step > 0 ? step : -step;
    if (!mw__known_begin(out, c->type->dtype, MW_SHAPE(span > 0 ? (span - 1) / by + 1 : 0)))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!mw__known_put(out, i, (double)(start + (int64_t)i * step)))
            return false;
    return true;
}

static bool fill_known(const mw__known_call *c, mw__known *out)
{
    mw__known *value = &c->room[0]; /* 0.0, if none is given */
    value->at[0] = 0;
    if (mw__known_operand(c, "value") != NULL && (!mw__known_argument(c, "value", value) || value->count != 1))
        return false;
    if (!mw__known_begin(out, c->type->dtype, c->type->shape))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!mw__known_put(out, i, value->at[0]))
            return false;
    return true;
}

/* ---- operations ---- */

static mw__known_evaluator *find_evaluator(const char *kind)
{
    static const struct {
        const char *kind;
        mw__known_evaluator *evaluate;
    } rows[] = {{"shape", shape_of},
                {"select", mw__known_select},
                {"reshape", reshaped},
                {"squeeze", reshaped},
                {"expand_dims", reshaped},
                {"gather", mw__known_gather},
                {"slice_by_index", mw__known_slice_by_index},
                {"slice_by_size", mw__known_slice_by_size},
                {"concat", mw__known_concat},
                {"stack", mw__known_stack},
                {"split", mw__known_split},
                {"tile", mw__known_tile},
                {"reduce_sum", mw__known_reduce},
                {"reduce_prod", mw__known_reduce},
                {"reduce_max", mw__known_reduce},
                {"reduce_min", mw__known_reduce},
                {"range_1d", range_1d},
                {"fill", fill_known},
                {"fill_like", fill_known},
                {"cast", mw__known_unary},
                {"identity", mw__known_unary},
                {"floor", mw__known_unary},
                {"ceil", mw__known_unary},
                {"round", mw__known_unary},
                {"abs", mw__known_unary},
                {"square", mw__known_unary},
                {"logical_not", mw__known_unary}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(kind, rows[i].kind) == 0)
            return rows[i].evaluate;
    return mw__known_binary;
}

/* What an operation gives is what it is declared to give, or not known. */
static bool evaluate_op(mw__evaluation *e, const mw_tensor *value, mw__known *out)
{
    const mw__op *op = value->op;
    mw__known_call c = {.e = e, .op = op, .type = value->type, .result = value->result};
    if (op == NULL || op->block_count > 0)
        return false;
    mw__known_evaluator *evaluate = find_evaluator(op->kind);
    if (op->result_count != 1 && evaluate != mw__known_split)
        return false;
    c.room = mw__alloc(NULL, 3, sizeof *c.room, NULL);
    const bool known = c.room != NULL && evaluate(&c, out) && mw__type_fits(value->type, out->dtype, out->shape);
    mw__free(NULL, c.room);
    return known;
}

bool mw__evaluate(mw__evaluation *e, const mw_tensor *value, mw__known *out)
{
    if (++e->steps > STEPS_MAX || e->depth >= DEPTH_MAX)
        return false;
    value = look_up(e, value);
    if (value->type == NULL || value->type->kind != MW__TENSOR)
        return false;
    if (value->payload != NULL)
        return read_payload(value->payload, out);
    e->depth++;
    const bool known = evaluate_op(e, value, out);
    e->depth--;
    return known;
}

bool mw__evaluate_scalar(mw__evaluation *e, const mw_tensor *value, int64_t *out)
{
    mw__known known;
    const mw_dtype dtype = mw_tensor_dtype(value);
    if ((dtype != MW_I32 && dtype != MW_BOOL) || mw_shape_count(value->type->shape) != 1)
        return false;
    if (!mw__evaluate(e, value, &known) || known.count != 1 || known.dtype != dtype)
        return false;
    *out = (int64_t)known.at[0];
    return true;
}
