/* Operators element by element, and casts. */
#include "format/onnx/read/import.h"

#include <millwright/ops/activation.h>
#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

/* ---- two tensors ---- */

typedef mw_tensor *binary(mw_tensor *x, mw_tensor *y);
typedef struct binary_row {
    const char *name;
    binary *build;
} binary_row;

static binary *find_binary(const mw__onnx_node *node, const binary_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, node->proto->op_type) == 0)
            return rows[i].build;
    return NULL;
}

static mw_status same_types(mw__onnx_node *node)
{
    for (size_t i = 1; i < node->in_count; i++)
        if (!mw__onnx_has(node, i) || mw__onnx_type(node, i) != mw__onnx_type(node, 0))
            return mw__onnx_refuse(node, "its inputs have different element types");
    return MW_OK;
}

enum { FOLDED_MAX = 64 };

/* Quotients toward zero of integers that are known, of equal shapes or by one number; *out_done says whether they are.
 * (MIL leaves open what an integer division does, so that it is no constant to the graph.) */
static mw_status divide_known(mw__onnx_node *node, bool *out_done)
{
    int64_t quotients[FOLDED_MAX];
    const mw__onnx_literal *x = mw__onnx_known(node->import, node->in[0]);
    const mw__onnx_literal *y = mw__onnx_known(node->import, node->in[1]);
    *out_done = x != NULL && y != NULL && x->count <= FOLDED_MAX &&
                (mw_shape_equal(x->shape, y->shape) || (y->count == 1 && y->shape.rank <= x->shape.rank));
    for (size_t i = 0; *out_done && i < x->count; i++) {
        const int64_t a = mw__onnx_literal_int(x, i), b = mw__onnx_literal_int(y, y->count == 1 ? 0 : i);
        *out_done = b != 0 && !(b == -1 && a == INT64_MIN);
        quotients[i] = *out_done ? a / b : 0;
    }
    return *out_done ? mw__onnx_set_ints(node, 0, mw__onnx_type(node, 0), x->shape, quotients) : MW_OK;
}

mw_status mw__onnx_arithmetic(mw__onnx_node *node)
{
    static const binary_row rows[] = {{"Add", mw_add}, {"Sub", mw_sub}, {"Mul", mw_mul}, {"Div", mw_real_div}};
    binary *build = find_binary(node, rows, sizeof rows / sizeof *rows);
    MW_TRY(same_types(node));
    const int type = mw__onnx_type(node, 0);
    if (build == mw_real_div && mw__onnx_is_integer(type)) {
        bool done;
        MW_TRY(divide_known(node, &done));
        if (done)
            return MW_OK;
    }
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    return mw__onnx_set(node, 0, type, mw__onnx_wrap(build(x, y), type));
}

mw_status mw__onnx_pow(mw__onnx_node *node)
{
    const int type = mw__onnx_type(node, 0), power = mw__onnx_type(node, 1);
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    if (mw__onnx_is_integer(type) && mw__onnx_is_integer(power))
        return mw__onnx_set(node, 0, type, mw__onnx_wrap(mw_pow(x, y), type));
    const mw_dtype dtype = mw__onnx_is_float(type) ? mw__onnx_dtype(type) : mw__onnx_dtype(power);
    mw_tensor *base = mw__onnx_to(x, dtype);
    mw_tensor *raised = mw_pow(base, mw__onnx_to(y, dtype));
    return mw__onnx_set(node, 0, type, mw__onnx_wrap(mw__onnx_to(raised, mw__onnx_dtype(type)), type));
}

/* x - y trunc(x / y): the sign of x, as C's fmod; integers are divided toward zero anyway. */
static mw_tensor *truncated_mod(mw_tensor *x, mw_tensor *y, bool whole)
{
    mw_tensor *quotient = mw_real_div(x, y);
    if (!whole) {
        mw_tensor *sign = mw_sign(quotient);
        quotient = mw_mul(sign, mw_floor(mw_abs(quotient)));
    }
    return mw_sub(x, mw_mul(quotient, y));
}

mw_status mw__onnx_mod(mw__onnx_node *node)
{
    MW_TRY(same_types(node));
    const int type = mw__onnx_type(node, 0);
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    const bool whole = mw__onnx_is_integer(type);
    mw_tensor *rest = mw__onnx_int(node, "fmod", 0) != 0 ? truncated_mod(x, y, whole) : mw_mod(x, y);
    return mw__onnx_set(node, 0, type, rest);
}

mw_status mw__onnx_bit_shift(mw__onnx_node *node)
{
    MW_TRY(same_types(node));
    const int type = mw__onnx_type(node, 0);
    mw_tensor *x = mw__onnx_in(node, 0), *power = mw_exp2(mw__onnx_in(node, 1));
    const bool left = mw__onnx_is(node, "direction", "LEFT");
    return mw__onnx_set(node, 0, type, left ? mw__onnx_wrap(mw_mul(x, power), type) : mw_floor_div(x, power));
}

mw_status mw__onnx_variadic(mw__onnx_node *node)
{
    static const binary_row rows[] = {{"Max", mw_maximum}, {"Min", mw_minimum}, {"Sum", mw_add}, {"Mean", mw_add}};
    binary *build = find_binary(node, rows, sizeof rows / sizeof *rows);
    MW_TRY(same_types(node));
    mw_tensor *x = mw__onnx_in(node, 0);
    for (size_t i = 1; i < node->in_count; i++)
        x = build(x, mw__onnx_in(node, i));
    if (strcmp(node->proto->op_type, "Mean") == 0 && node->in_count > 1)
        x = mw_real_div(x, mw_scalar(node->graph, mw_tensor_dtype(x), (double)node->in_count));
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), x);
}

/* ---- one tensor ---- */

typedef struct unary_row {
    const char *name;
    mw_tensor *(*build)(mw_tensor *x);
    bool whole; /* takes integers too */
} unary_row;

mw_status mw__onnx_unary(mw__onnx_node *node)
{
    static const unary_row rows[] = {
        {"Abs", mw_abs, true},
        {"Neg", mw_neg, true},
        {"Sign", mw_sign, true},
        {"Ceil", mw_ceil, false},
        {"Floor", mw_floor, false},
        {"Round", mw_round, false},
        {"Sqrt", mw_sqrt, false},
        {"Exp", mw_exp, false},
        {"Erf", mw_erf, false},
        {"Sin", mw_sin, false},
        {"Cos", mw_cos, false},
        {"Tan", mw_tan, false},
        {"Asin", mw_asin, false},
        {"Acos", mw_acos, false},
        {"Atan", mw_atan, false},
        {"Sinh", mw_sinh, false},
        {"Cosh", mw_cosh, false},
        {"Tanh", mw_tanh, false},
        {"Atanh", mw_atanh, false},
        {"Sigmoid", mw_sigmoid, false},
        {"Softplus", mw_softplus, false},
        {"Softsign", mw_softsign, false},
    };
    const int type = mw__onnx_type(node, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, node->proto->op_type) == 0) {
            if (!rows[i].whole && !mw__onnx_is_float(type))
                return mw__onnx_refuse(node, "it is supported of floating-point numbers only");
            return mw__onnx_set(node, 0, type, mw__onnx_wrap(rows[i].build(mw__onnx_in(node, 0)), type));
        }
    return mw__onnx_refuse(node, "the operator is not known");
}

/* sign(x) ln(|x| + sqrt(x^2 + 1)) */
mw_status mw__onnx_asinh(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0), *size = mw_abs(x);
    mw_tensor *root = mw_sqrt(mw_add_scalar(mw_square(x), 1)), *sign = mw_sign(x);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_mul(sign, mw_log(mw_add(size, root), 0)));
}

/* ln(x + sqrt(x - 1) sqrt(x + 1)) */
mw_status mw__onnx_acosh(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    mw_tensor *root = mw_sqrt(mw_add_scalar(x, -1));
    root = mw_mul(root, mw_sqrt(mw_add_scalar(x, 1)));
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_log(mw_add(x, root), 0));
}

mw_status mw__onnx_log(mw__onnx_node *node)
{
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_log(mw__onnx_in(node, 0), 0));
}

mw_status mw__onnx_reciprocal(mw__onnx_node *node)
{
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_inverse(mw__onnx_in(node, 0), 0));
}

mw_status mw__onnx_identity(mw__onnx_node *node) { return mw__onnx_set_same(node, 0, 0); }

/* ---- types ---- */

static mw_status cast_to(mw__onnx_node *node, int type)
{
    char buffer[16];
    const mw_dtype dtype = mw__onnx_dtype(type);
    if (dtype == MW_DTYPE_NONE)
        return mw__onnx_refuse(node, "it casts to %s", mw__onnx_type_name(type, buffer));
    if (mw__onnx_type(node, 0) == type)
        return mw__onnx_set_same(node, 0, 0);
    mw_tensor *x = mw__onnx_to(mw__onnx_in(node, 0), dtype);
    return mw__onnx_set(node, 0, type, dtype == MW_I32 ? mw__onnx_wrap(x, type) : x);
}

mw_status mw__onnx_cast(mw__onnx_node *node) { return cast_to(node, mw__onnx_type_attribute(node, "to", 0)); }
mw_status mw__onnx_cast_like(mw__onnx_node *node) { return cast_to(node, mw__onnx_type(node, 1)); }

/* ---- bounds ---- */

/* The bound that an input or, before opset 11, an attribute says; NULL if there is none. */
static mw_tensor *find_bound(mw__onnx_node *node, const char *name, size_t index)
{
    if (node->opset >= 11)
        return mw__onnx_in(node, index);
    const Mw__Onnx__Attribute *found = mw__onnx_attribute(node, name);
    return found != NULL ? mw_scalar(node->graph, mw__onnx_dtype(mw__onnx_type(node, 0)), (double)found->f) : NULL;
}

mw_status mw__onnx_clip(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    mw_tensor *low = find_bound(node, "min", 1), *high = find_bound(node, "max", 2);
    if (low != NULL)
        x = mw_maximum(x, low);
    if (high != NULL)
        x = mw_minimum(x, high);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), x);
}

/* As it is computed after training: x, and a mask of ones. */
mw_status mw__onnx_dropout(mw__onnx_node *node)
{
    int64_t training = 0;
    size_t count;
    if (mw__onnx_has(node, 2))
        MW_TRY(mw__onnx_known_ints(node, 2, &training, 1, &count));
    double ratio = 0.5;
    if (training != 0 && mw__onnx_has(node, 1))
        MW_TRY(mw__onnx_known_floats(node, 1, &ratio, 1, &count));
    if (training != 0 && ratio != 0)
        return mw__onnx_refuse(node, "it is to drop elements, as in training");
    MW_TRY(mw__onnx_set_same(node, 0, 0));
    const int type = node->opset < 10 ? mw__onnx_type(node, 0) : MW__ONNX_BOOL;
    if (node->out_count < 2)
        return MW_OK;
    return mw__onnx_set(node, 1, type, mw_fill(node->graph, mw__onnx_dtype(type), mw__onnx_shape(node, 0), 1));
}
