/* Cases of element-wise operations. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include <math.h>

/* The operation of x with MIL's defaults. */
static mw_tensor *plain(const char *operation, mw_tensor *x)
{
    mw_tensor *y = NULL;
    const mw_argument arguments[] = {{"x", &x, 1}};
    mw_op(mw_tensor_graph(x), operation, arguments, 1, &y, 1, NULL);
    return y;
}

/* Multiples of 1/2, so that ties and zeros occur. */
static mw_tensor *halves(mw_tensor *x) { return mw_mul_scalar(mw_floor(mw_mul_scalar(x, 2.0)), 0.5); }

/* y + the sum of no rows at all, each broadcast from y. */
static mw_tensor *with_nothing(mw_tensor *x, mw_tensor *y)
{
    mw_tensor *nothing = mw_slice_by_size(x, (const int64_t[]){0, 0}, (const int64_t[]){0, -1});
    return mw_add(y, mw_reduce_sum(mw_mul(nothing, y), MW_AXES(0), true));
}

/* clang-format off */
BUILD(constant, mw_add(in[0], mw_scalar(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), 0.5)))
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(real_div)
BINARY(floor_div)
BINARY(mod)
BINARY(maximum)
BINARY(minimum)
BINARY(pow)
UNARY(abs)
UNARY(sign)
UNARY(square)
UNARY(sqrt)
BUILD(rsqrt, mw_rsqrt(in[0], 1e-3f))
BUILD(inverse, mw_inverse(in[0], 1e-2f))
UNARY(exp)
BUILD(log, mw_log(in[0], 1e-3f))
UNARY(erf)
UNARY(tanh)
UNARY(exp2)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(atanh)
BUILD(threshold, mw_threshold(in[0], 0.25f))
BUILD(threshold_whole, mw_threshold(in[0], -2))
BUILD(clip, mw_clip(in[0], -0.5f, 0.75f))
BUILD(cast_int, mw_cast(in[0], MW_I32))
BUILD(cast_half, mw_cast(mw_cast(in[0], MW_F16), MW_F32))
BUILD(cast_bool, mw_cast(in[0], MW_BOOL))
BUILD(cast_float, mw_cast(in[0], MW_F32))
BUILD(cast_i8, mw_cast(mw_cast(in[0], MW_I8), MW_I32))
BUILD(cast_u8, mw_cast(mw_cast(in[0], MW_U8), MW_BOOL))
BUILD(cast_i16, mw_cast(mw_cast(in[0], MW_I16), MW_F32))
BUILD(cast_u16, mw_cast(mw_cast(in[0], MW_U16), MW_I32))
BUILD(rsqrt_default, plain("rsqrt", in[0]))
BUILD(inverse_default, plain("inverse", in[0]))
BUILD(log_default, plain("log", in[0]))
BUILD(round_ties, mw_round(halves(in[0])))
BUILD(sign_zero, mw_sign(halves(in[0])))
BUILD(pow_integral, mw_pow(in[0], mw_floor(in[1])))
BUILD(clip_below, mw_clip(in[0], -0.5f, INFINITY))
BUILD(clip_above, mw_clip(in[0], -INFINITY, 0.75f))
BUILD(mul_nothing, with_nothing(in[0], in[1]))
/* clang-format on */

/* clang-format off */
static const op_case rows[] = {
    EXACT("const", "", b_constant, F(1, -1, 1, 9)),
    EXACT("add", "", b_add, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("add", "row", b_add, F(2, -2, 2, 33, 70), F(1, -2, 2, 70)),
    EXACT("add", "column and scalar", b_add, F(3, -2, 2, 4, 5, 1), F(0, -2, 2, 0)),
    EXACT("add", "outer", b_add, F(2, -2, 2, 6, 1), F(2, -2, 2, 1, 5)),
    EXACT("add", "both broadcast in the middle", b_add, F(4, -2, 2, 2, 1, 3, 5), F(3, -2, 2, 4, 1, 5)),
    EXACT("add", "int32", b_add, I(2, -9, 9, 5, 7), I(1, -9, 9, 7)),
    EXACT("sub", "", b_sub, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("sub", "left broadcast", b_sub, F(1, -2, 2, 7), F(2, -2, 2, 5, 7)),
    EXACT("mul", "", b_mul, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("mul", "large", b_mul, F(2, -2, 2, 67, 131), F(2, -2, 2, 67, 1)),
    EXACT("real_div", "", b_real_div, F(2, -2, 2, 5, 7), F(2, 0.5, 2, 5, 7)),
    EXACT("floor_div", "", b_floor_div, F(2, -9, 9, 5, 7), F(2, 0.5, 2, 5, 7)),
    EXACT("floor_div", "int32", b_floor_div, I(2, -20, 20, 5, 7), I(2, 1, 7, 5, 7)),
    EXACT("mod", "", b_mod, F(2, -9, 9, 5, 7), F(2, 0.5, 2, 5, 7)),
    EXACT("mod", "negative divisor, broadcast", b_mod, F(2, -9, 9, 5, 7), F(1, -3, -0.5, 7)),
    EXACT("mod", "int32", b_mod, I(2, -20, 20, 5, 7), I(2, 1, 7, 5, 7)),
    EXACT("mod", "int32, negative divisor", b_mod, I(2, -20, 20, 5, 7), I(2, -7, 0, 5, 7)),
    EXACT("floor_div", "int32, negative divisor", b_floor_div, I(2, -20, 20, 5, 7), I(2, -7, 0, 5, 7)),
    EXACT("maximum", "", b_maximum, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("minimum", "", b_minimum, F(2, -2, 2, 5, 7), F(1, -2, 2, 7)),
    LOOSE("pow", "", b_pow, 8, 0, LIBM, F(2, 0.2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("abs", "", b_abs, F(2, -2, 2, 5, 7)),
    EXACT("sign", "", b_sign, F(2, -2, 2, 5, 7)),
    EXACT("square", "", b_square, F(2, -2, 2, 5, 7)),
    EXACT("sqrt", "", b_sqrt, F(2, 0.1, 4, 5, 7)),
    LOOSE("rsqrt", "", b_rsqrt, 4, 0, "sum, root and quotient are rounded in turn", F(2, 0.1, 4, 5, 7)),
    LOOSE("inverse", "", b_inverse, 2, 0, "sum and quotient are rounded in turn", F(2, 0.2, 4, 5, 7)),
    LOOSE("exp", "", b_exp, 4, 0, LIBM, F(2, -4, 4, 5, 7)),
    LOOSE("log", "", b_log, 4, 1, LIBM, F(2, 0.1, 9, 5, 7)),
    LOOSE("erf", "", b_erf, 4, 0, LIBM, F(2, -3, 3, 5, 7)),
    LOOSE("tanh", "", b_tanh, 4, 0, LIBM, F(2, -4, 4, 15, 37)),
    EXACT("exp2", "int32", b_exp2, I(2, -3, 34, 5, 17)),
    LOOSE("exp2", "", b_exp2, 4, 0, LIBM, F(2, -5, 5, 5, 7)),
    EXACT("floor", "", b_floor, F(2, -9, 9, 5, 37)),
    EXACT("ceil", "", b_ceil, F(2, -9, 9, 5, 37)),
    EXACT("round", "", b_round, F(2, -9, 9, 5, 37)),
    LOOSE("sin", "", b_sin, 4, 0, LIBM, F(2, -7, 7, 5, 7)),
    LOOSE("cos", "", b_cos, 4, 0, LIBM, F(2, -7, 7, 5, 7)),
    LOOSE("tan", "", b_tan, 4, 0, LIBM, F(2, -1.2, 1.2, 5, 7)),
    LOOSE("asin", "", b_asin, 4, 0, LIBM, F(2, -0.9, 0.9, 5, 7)),
    LOOSE("acos", "", b_acos, 4, 0, LIBM, F(2, -0.9, 0.9, 5, 7)),
    LOOSE("atan", "", b_atan, 4, 0, LIBM, F(2, -4, 4, 5, 7)),
    LOOSE("sinh", "", b_sinh, 4, 0, LIBM, F(2, -4, 4, 5, 7)),
    LOOSE("cosh", "", b_cosh, 4, 0, LIBM, F(2, -4, 4, 5, 7)),
    LOOSE("atanh", "", b_atanh, 4, 0, LIBM, F(2, -0.9, 0.9, 5, 7)),
    EXACT("threshold", "", b_threshold, F(2, -2, 2, 5, 7)),
    EXACT("threshold", "int32", b_threshold_whole, I(2, -9, 9, 5, 7)),
    EXACT("clip", "", b_clip, F(2, -2, 2, 5, 7)),
    EXACT("cast", "to int32", b_cast_int, F(2, -9, 9, 5, 7)),
    LOOSE("cast", "to fp16 and back", b_cast_half, 8192, 0, "rounded to 11 bits on the way", F(2, -2, 2, 5, 7)),
    EXACT("cast", "to bool", b_cast_bool, I(2, 0, 2, 5, 7)),
    EXACT("cast", "float to bool", b_cast_bool, F(2, -1, 1, 5, 7)),
    EXACT("cast", "bool to fp32", b_cast_float, B(2, 5, 7)),
    EXACT("cast", "bool to int32", b_cast_int, B(2, 5, 7)),
    EXACT("cast", "int32 to fp32", b_cast_float, I(2, -9, 9, 5, 7)),
    EXACT("cast", "through int8", b_cast_i8, F(2, -120, 120, 5, 7)),
    EXACT("cast", "bool through uint8", b_cast_u8, B(2, 5, 7)),
    EXACT("cast", "through int16", b_cast_i16, I(2, -30000, 30000, 5, 7)),
    EXACT("cast", "through uint16", b_cast_u16, I(2, 0, 65536, 5, 7)),
    LOOSE("rsqrt", "default", b_rsqrt_default, 4, 0, "root and quotient are rounded in turn", F(2, 0.1, 4, 5, 7)),
    LOOSE("inverse", "default", b_inverse_default, 2, 0, "sum and quotient are rounded in turn", F(2, 0.2, 4, 5, 7)),
    LOOSE("log", "default", b_log_default, 4, 1, LIBM, F(2, 0.1, 9, 5, 7)),
    EXACT("round", "ties", b_round_ties, F(2, -5, 5, 5, 37)),
    EXACT("sign", "zero", b_sign_zero, F(2, -2, 2, 5, 37)),
    EXACT("sign", "int32", b_sign, I(2, -2, 3, 5, 7)),
    EXACT("abs", "int32", b_abs, I(2, -9, 9, 5, 7)),
    EXACT("square", "int32", b_square, I(2, -9, 9, 5, 7)),
    LOOSE("pow", "negative base, integral exponent", b_pow_integral, 8, 0, LIBM, F(2, -2, 2, 5, 7), F(2, 0, 4, 5, 7)),
    EXACT("floor_div", "negative divisor", b_floor_div, F(2, -9, 9, 5, 7), F(2, -3, -0.5, 5, 7)),
    EXACT("sub", "int32", b_sub, I(2, -9, 9, 5, 7), I(1, -9, 9, 7)),
    EXACT("mul", "int32", b_mul, I(2, -9, 9, 5, 7), I(2, -9, 9, 5, 1)),
    EXACT("mul", "extent 0", b_mul_nothing, F(2, -2, 2, 5, 7), F(2, -2, 2, 1, 7)),
    EXACT("maximum", "int32", b_maximum, I(2, -9, 9, 5, 7), I(1, -9, 9, 7)),
    EXACT("minimum", "int32", b_minimum, I(2, -9, 9, 5, 7), I(0, -9, 9, 0)),
    EXACT("clip", "no upper bound", b_clip_below, F(2, -2, 2, 5, 7)),
    EXACT("clip", "no lower bound", b_clip_above, F(2, -2, 2, 5, 7)),
};
/* clang-format on */

static const op_unrecorded unrecorded[] = {{"const", "a literal: most programs have some"}, {NULL, NULL}};

OP_CASES_UNRECORDED(elementwise, rows, unrecorded)
