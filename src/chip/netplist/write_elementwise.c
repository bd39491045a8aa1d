/* Element-wise operations as units. A boolean is 0 or 1 in fp16, which is what comparing units make. */
#include "base/number/fp16.h"
#include "base/number/types.h"
#include "chip/netplist/handlers.h"

#include <math.h>
#include <string.h>

static double half(double value) { return (double)mw__fp16_to_float(mw__fp16_from_double(value)); }

static double number_arg(const mw__op *op, const char *name)
{
    double value = 0;
    if (mw__arg_exists(op, name))
        mw__arg_float(op, name, &value);
    return value;
}

/* The units have no epsilon: one that fp16 has is added before. */
static mw__net_value add_epsilon(mw__net_writer *w, const mw__op *op, mw__net_value x)
{
    const double epsilon = half(number_arg(op, "epsilon"));
    return epsilon != 0 ? mw__net_goc(w, x, 1, epsilon) : x;
}

void mw__net_write_unary(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    const char *mode = mw__arg_exists(op, "mode") ? mw__arg_string(op, "mode") : NULL;
    if (mode != NULL && strcmp(mode, "EXACT") != 0) {
        mw__net_cannot(w, op, "the unit GELU has no approximations");
        return;
    }
    if (!mw__net_operand(w, op, "x", &x))
        return;
    x = add_epsilon(w, op, x);
    plist_t params = plist_new_dict();
    for (size_t i = 0; i < sizeof row->half / sizeof *row->half && row->half[i].key != NULL; i++)
        mw__net_set_half(params, row->half[i].key,
                         row->half[i].argument != NULL ? number_arg(op, row->half[i].argument) : 0);
    mw__net_set_string(params, "Type", row->kind);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, x.dims));
}

/* ---- two operands ---- */

/* A constant whose elements are one number, which does not widen the other operand. */
static bool is_scalar(const mw__op *op, const char *argument, const char *other, double *out)
{
    const mw_tensor *value = mw__arg(op, argument), *x = mw__arg(op, other);
    const mw__payload *payload = value->payload;
    const size_t count = payload != NULL && payload->data != NULL ? mw__payload_count(payload) : 0;
    if (count == 0 || mw__is_constant(x) || (!payload->splat && count != 1) ||
        mw_shape_count(x->type->shape) != mw_shape_count(op->results[0]->type->shape))
        return false;
    *out = mw__payload_float(payload, 0);
    return value->type->dtype == MW_F16 || value->type->dtype == MW_F32;
}

/* add, sub and mul by a number are the gain-offset unit, bit for bit. */
static bool write_by_number(mw__net_writer *w, const mw__op *op)
{
    const bool add = strcmp(op->kind, "add") == 0, sub = strcmp(op->kind, "sub") == 0;
    double c;
    mw__net_value v;
    if (!add && !sub && strcmp(op->kind, "mul") != 0)
        return false;
    const bool right = is_scalar(op, "y", "x", &c), left = !right && is_scalar(op, "x", "y", &c);
    if ((!right && !left) || ((add || sub) && half(c) == 0) || !mw__net_operand(w, op, right ? "x" : "y", &v))
        return false;
    const double scale = add ? 1 : sub ? (right ? 1 : -1) : c, bias = add ? c : sub ? (right ? -c : c) : 0;
    mw__net_result(w, op, 0, mw__net_goc(w, v, scale, bias));
    return true;
}

void mw__net_write_binary(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x, y;
    if (write_by_number(w, op))
        return;
    if (mw__net_operand(w, op, "x", &x) && mw__net_operand(w, op, "y", &y))
        mw__net_result(w, op, 0, mw__net_binary(w, row->kind, x, y));
}

void mw__net_write_linear_activation(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, mw__net_goc(w, x, number_arg(op, "alpha"), number_arg(op, "beta")));
}

/* ---- operations that are several units: equal but for roundings in between ---- */

void mw__net_write_silu(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, mw__net_binary(w, "Mult", x, mw__net_neuron(w, "SigmoidHighPrecision", x)));
}

void mw__net_write_square(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, mw__net_binary(w, "Mult", x, x));
}

void mw__net_write_relu6(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    plist_t params = plist_new_dict();
    mw__net_set_half(params, "ReluMax", 6);
    mw__net_set_half(params, "ReluMin", 0);
    mw__net_set_string(params, "Type", "ClampedReLU");
    mw__net_result(w, op, 0, mw__net_put(w, "Neuron", params, &x, 1, x.dims));
}

/* x / y is x * (1 / y), and floor of that. */
void mw__net_write_real_div(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x, y;
    if (!mw__net_operand(w, op, "x", &x) || !mw__net_operand(w, op, "y", &y))
        return;
    mw__net_value q = mw__net_binary(w, "Mult", x, mw__net_neuron(w, "Inv", y));
    if (strcmp(row->operation, "floor_div") == 0)
        q = mw__net_neuron(w, "Floor", q);
    mw__net_result(w, op, 0, q);
}

void mw__net_write_exp(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, mw__net_neuron(w, "Exp2", mw__net_goc(w, x, 1 / log(2.0), 0)));
}

void mw__net_write_log(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    x = mw__net_neuron(w, "Log2", add_epsilon(w, op, x));
    mw__net_result(w, op, 0, mw__net_goc(w, x, log(2.0), 0));
}

/* The larger of "less" and "equal". */
void mw__net_write_or_equal(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x, y;
    const char *kind = strcmp(row->operation, "less_equal") == 0 ? "LessThan" : "GreaterThan";
    if (!mw__net_operand(w, op, "x", &x) || !mw__net_operand(w, op, "y", &y))
        return;
    const mw__net_value equal = mw__net_binary(w, "Equal", x, y);
    mw__net_result(w, op, 0, mw__net_binary(w, "Max", mw__net_binary(w, kind, x, y), equal));
}

void mw__net_write_not(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, mw__net_goc(w, x, -1, 1));
}

static bool is_float(const mw_tensor *x) { return mw__number_dtype_is_float(x->type->dtype); }

/* identity, and casts of what is fp16 in a netplist anyway. */
void mw__net_write_alias(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    (void)row;
    const mw_dtype from = mw__arg(op, "x")->type->dtype, to = op->results[0]->type->dtype;
    const bool same = from == to || (from == MW_BOOL && is_float(op->results[0])) || (from == MW_I32 && to == MW_F16) ||
                      (from == MW_U16 && to == MW_F16) || (from == MW_F32 && to == MW_F16) ||
                      (from == MW_F16 && to == MW_F32);
    if (!same) {
        mw__net_cannot(w, op, "everything in a netplist is fp16: what rounds to integers or booleans has no unit");
        return;
    }
    if (mw__net_operand(w, op, "x", &x))
        mw__net_result(w, op, 0, x);
}
