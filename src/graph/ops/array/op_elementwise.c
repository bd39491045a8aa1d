/* Element-wise operations: shape rules and constructors of ops/elementwise.def. */
#include <millwright/ops/elementwise.h>

#include "base/number/float_mode.h"
#include "base/number/types.h"
#include "graph/ir/rule.h"
#include "graph/patterns/normalize.h"

#include <math.h>
#include <string.h>

/* ---- shape rules ---- */

mw_status mw__shape_broadcast(mw__infer *infer)
{
    static const char *const args[] = {"x", "y"};
    mw_shape shape;
    MW_TRY(mw__rule_broadcast(infer, args, 2, &shape));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_status mw__shape_same_as_x(mw__infer *infer)
{
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), mw__rule_shape(infer, "x"));
}

/* The same, with constant numbers beside x. */
mw_status mw__shape_unary(mw__infer *infer)
{
    const mw__row *row = infer->op->row;
    for (size_t i = 0; i < row->arg_count; i++) {
        double value;
        if (row->args[i].kind == MW__CONST && !mw__arg_float(infer->op, row->args[i].name, &value))
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one constant number", row->args[i].name);
        if (row->args[i].kind == MW__CONST && isnan(value))
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s is not a number", row->args[i].name);
    }
    return mw__shape_same_as_x(infer);
}

/* Bounds that cross were accepted before ios17: coremltools checks the order in its ios17 clip only. */
mw_status mw__shape_clip(mw__infer *infer)
{
    double alpha, beta;
    if (!mw__arg_float(infer->op, "alpha", &alpha) || !mw__arg_float(infer->op, "beta", &beta))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "alpha and beta must be constant scalars");
    const bool ordered = infer->op->block->function->opset >= MW_IOS17 ? alpha < beta : !isnan(alpha) && !isnan(beta);
    if (!ordered)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "alpha %g must be below beta %g", alpha, beta);
    return mw__shape_same_as_x(infer);
}

static bool castable(mw_dtype dtype, mw_opset opset)
{
    switch (dtype) {
    case MW_F16:
    case MW_F32:
    case MW_I32:
    case MW_BOOL:
        return true;
    case MW_I8:
    case MW_U8:
    case MW_I16:
    case MW_U16:
        return opset >= MW_IOS17;
    default:
        return false;
    }
}

mw_status mw__shape_cast(mw__infer *infer)
{
    const mw_opset opset = infer->op->block->function->opset;
    const char *allowed = opset >= MW_IOS17 ? "fp16, fp32, int32, bool, int8, uint8, int16 or uint16"
                                            : "fp16, fp32, int32 or bool (the others need ios17)";
    const mw_dtype from = mw__rule_dtype(infer, "x");
    const char *name = mw__arg_string(infer->op, "dtype");
    const mw_dtype to = name != NULL ? mw__number_dtype_named(name, strlen(name)) : MW_DTYPE_NONE;
    if (!castable(from, opset))
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "x is %s, not %s", mw_dtype_name(from), allowed);
    if (!castable(to, opset))
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "dtype \"%s\" is not %s", name != NULL ? name : "", allowed);
    return mw__rule_result(infer, to, mw__rule_shape(infer, "x"));
}

/* ---- two tensors ---- */

mw_tensor *mw_add(mw_tensor *x, mw_tensor *y) { return mw__build_pair("add", x, y); }
mw_tensor *mw_sub(mw_tensor *x, mw_tensor *y) { return mw__build_pair("sub", x, y); }
mw_tensor *mw_mul(mw_tensor *x, mw_tensor *y) { return mw__build_pair("mul", x, y); }
mw_tensor *mw_real_div(mw_tensor *x, mw_tensor *y) { return mw__build_pair("real_div", x, y); }
mw_tensor *mw_floor_div(mw_tensor *x, mw_tensor *y) { return mw__build_pair("floor_div", x, y); }
mw_tensor *mw_mod(mw_tensor *x, mw_tensor *y) { return mw__build_pair("mod", x, y); }
mw_tensor *mw_maximum(mw_tensor *x, mw_tensor *y) { return mw__build_pair("maximum", x, y); }
mw_tensor *mw_minimum(mw_tensor *x, mw_tensor *y) { return mw__build_pair("minimum", x, y); }
mw_tensor *mw_pow(mw_tensor *x, mw_tensor *y)
{
    MW__FLOAT_SCOPE;
    return mw__build_pair("pow", x, y);
}

static mw_tensor *binary_scalar(const char *operation, mw_tensor *x, double value, const char *name)
{
    return x != NULL ? mw__build_pair(operation, x, mw__scalar(x->graph, mw_tensor_dtype(x), value, name)) : NULL;
}

mw_tensor *mw_add_scalar(mw_tensor *x, double value)
{
    MW__FLOAT_SCOPE;
    return binary_scalar("add", x, value, "add_y");
}

/* A constant times a constant is one, which keeps the seed of a mean out of the program. */
mw_tensor *mw_mul_scalar(mw_tensor *x, double value)
{
    MW__FLOAT_SCOPE;
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (x != NULL && x->payload != NULL && mw_tensor_shape(x).rank == 0 && (dtype == MW_F32 || dtype == MW_F16))
        return mw__scalar(x->graph, dtype, mw__payload_float(x->payload, 0) * value, "mul_y");
    return binary_scalar("mul", x, value, "mul_y");
}

mw_tensor *mw_neg(mw_tensor *x) { return mw_mul_scalar(x, -1.0); }

/* ---- one tensor ---- */

mw_tensor *mw__unary(const char *operation, mw_tensor *x)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    return mw__build_end(&build);
}

/* Below 0 it would move the pole to where x is, instead of away from it. */
static mw_tensor *unary_epsilon(const char *operation, mw_tensor *x, float epsilon)
{
    if (x != NULL && !mw__check_epsilon(x, operation, epsilon))
        return NULL;
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_float(&build, "epsilon", (double)epsilon);
    return mw__build_end(&build);
}

mw_tensor *mw__unary_alpha(const char *operation, mw_tensor *x, float alpha)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_float(&build, "alpha", (double)alpha);
    return mw__build_end(&build);
}

mw_tensor *mw__unary_alpha_beta(const char *operation, mw_tensor *x, float alpha, float beta)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_float(&build, "alpha", (double)alpha);
    mw__build_float(&build, "beta", (double)beta);
    return mw__build_end(&build);
}

mw_tensor *mw_abs(mw_tensor *x) { return mw__unary("abs", x); }
mw_tensor *mw_sign(mw_tensor *x) { return mw__unary("sign", x); }
mw_tensor *mw_square(mw_tensor *x) { return mw__unary("square", x); }
mw_tensor *mw_sqrt(mw_tensor *x) { return mw__unary("sqrt", x); }
mw_tensor *mw_rsqrt(mw_tensor *x, float epsilon)
{
    MW__FLOAT_SCOPE;
    return unary_epsilon("rsqrt", x, epsilon);
}
mw_tensor *mw_inverse(mw_tensor *x, float epsilon)
{
    MW__FLOAT_SCOPE;
    return unary_epsilon("inverse", x, epsilon);
}
mw_tensor *mw_log(mw_tensor *x, float epsilon)
{
    MW__FLOAT_SCOPE;
    return unary_epsilon("log", x, epsilon);
}
mw_tensor *mw_exp(mw_tensor *x) { return mw__unary("exp", x); }
mw_tensor *mw_erf(mw_tensor *x) { return mw__unary("erf", x); }
mw_tensor *mw_tanh(mw_tensor *x) { return mw__unary("tanh", x); }
mw_tensor *mw_exp2(mw_tensor *x) { return mw__unary("exp2", x); }
mw_tensor *mw_floor(mw_tensor *x) { return mw__unary("floor", x); }
mw_tensor *mw_ceil(mw_tensor *x) { return mw__unary("ceil", x); }
mw_tensor *mw_round(mw_tensor *x) { return mw__unary("round", x); }
mw_tensor *mw_sin(mw_tensor *x) { return mw__unary("sin", x); }
mw_tensor *mw_cos(mw_tensor *x) { return mw__unary("cos", x); }
mw_tensor *mw_tan(mw_tensor *x) { return mw__unary("tan", x); }
mw_tensor *mw_asin(mw_tensor *x) { return mw__unary("asin", x); }
mw_tensor *mw_acos(mw_tensor *x) { return mw__unary("acos", x); }
mw_tensor *mw_atan(mw_tensor *x) { return mw__unary("atan", x); }
mw_tensor *mw_sinh(mw_tensor *x) { return mw__unary("sinh", x); }
mw_tensor *mw_cosh(mw_tensor *x) { return mw__unary("cosh", x); }
mw_tensor *mw_atanh(mw_tensor *x) { return mw__unary("atanh", x); }

mw_tensor *mw_threshold(mw_tensor *x, float alpha)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("threshold", x);
    mw__build_set(&build, "x", x);
    mw__build_scalar(&build, "alpha", mw_tensor_dtype(x), (double)alpha);
    return mw__build_end(&build);
}

mw_tensor *mw_clip(mw_tensor *x, float alpha, float beta)
{
    MW__FLOAT_SCOPE;
    if (x != NULL && !(alpha < beta))
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "clip: alpha %g must be below beta %g", (double)alpha,
                              (double)beta);
    return mw__unary_alpha_beta("clip", x, alpha, beta);
}

mw_tensor *mw_cast(mw_tensor *x, mw_dtype dtype)
{
    mw__build build = mw__build_begin("cast", x);
    mw__build_set(&build, "x", x);
    mw__build_string(&build, "dtype", mw_dtype_name(dtype));
    return mw__build_end(&build);
}
