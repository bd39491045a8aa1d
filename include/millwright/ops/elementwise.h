/* Element-wise operations: arithmetic, rounding, roots and logarithms, angles, conversion.
 *
 *     mw_tensor *h = mw_tanh(mw_add(mw_mul(x, scale), shift));
 *
 * Operations on two tensors broadcast by NumPy's rules: shapes are aligned at their last axis, and an extent of 1 (or a
 * missing axis) is repeated. x [..] and y [..] must have one element type. In the VJPs dy is the cotangent of the
 * result, and cotangents are summed back to the shape of their operand. They are computed in an order, or a form, in
 * which no step overflows, vanishes or cancels where the derivative and its product with dy are normal numbers.
 *
 * A call that fails returns NULL and leaves an error on the graph; a NULL operand yields NULL.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_ELEMENTWISE_H
#define MILLWRIGHT_OPS_ELEMENTWISE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- two tensors ---- */

/** r = x + y.
 *  x, y    broadcastable, F16, F32 or I32
 *  return  the broadcast shape, dtype of x
 *  errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE if the types differ or have no arithmetic
 *  vjp     dx = dr, dy = dr
 *  source  MIL add */
MW_API mw_tensor *mw_add(mw_tensor *x, mw_tensor *y);

/** r = x - y; arguments and errors as mw_add.
 *  vjp     dx = dr, dy = -dr
 *  source  MIL sub */
MW_API mw_tensor *mw_sub(mw_tensor *x, mw_tensor *y);

/** r = x * y; arguments and errors as mw_add.
 *  vjp     dx = dr * y, dy = dr * x
 *  source  MIL mul */
MW_API mw_tensor *mw_mul(mw_tensor *x, mw_tensor *y);

/** r = x / y; arguments and errors as mw_add. Integers are divided toward zero (in coremltools' test
 *  of both integers 5 / 2 is 2), on the ANE too, where they are fp16 numbers.
 *  vjp     dx = dr / y, dy = -dr * r / y
 *  source  MIL real_div */
MW_API mw_tensor *mw_real_div(mw_tensor *x, mw_tensor *y);

/** r = floor(x / y), toward minus infinity; arguments and errors as mw_add.
 *  vjp     dx = dy = 0
 *  source  MIL floor_div */
MW_API mw_tensor *mw_floor_div(mw_tensor *x, mw_tensor *y);

/** r = x - floor(x / y) * y, which has the sign of y (PyTorch's remainder); arguments and errors as mw_add. A float x
 *  modulo 0 is NaN, an integral one is x.
 *  vjp     dx = dr, dy = -dr * floor(x / y)
 *  source  MIL mod */
MW_API mw_tensor *mw_mod(mw_tensor *x, mw_tensor *y);

/** r = the larger of x and y, NaN if either is; arguments and errors as mw_add.
 *  vjp     dr goes to the larger operand; equal ones share it half and half
 *  source  MIL maximum */
MW_API mw_tensor *mw_maximum(mw_tensor *x, mw_tensor *y);

/** r = the smaller of x and y, NaN if either is; arguments and errors as mw_add.
 *  vjp     dr goes to the smaller operand; equal ones share it half and half
 *  source  MIL minimum */
MW_API mw_tensor *mw_minimum(mw_tensor *x, mw_tensor *y);

/** r = x^y; a negative x is defined for integral y only; arguments and errors as mw_add.
 *  vjp     dx = dr * y * x^(y - 1), 0 where y is 0; dy = dr * r * ln(x), 0 where x <= 0
 *  source  MIL pow */
MW_API mw_tensor *mw_pow(mw_tensor *x, mw_tensor *y);

/** r = x + value: mw_add with a scalar constant of x's dtype.
 *  x       [..]  F16, F32 or I32
 *  value   rounded once to the dtype of x
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_NUMERIC if value does not fit the dtype
 *  vjp     dx = dr */
MW_API mw_tensor *mw_add_scalar(mw_tensor *x, double value);

/** r = x * value: mw_mul with a scalar constant of x's dtype; arguments and errors as mw_add_scalar.
 *  vjp     dx = dr * value */
MW_API mw_tensor *mw_mul_scalar(mw_tensor *x, double value);

/** r = -x: mw_mul_scalar(x, -1), as MIL has no negation.
 *  vjp     dx = -dr */
MW_API mw_tensor *mw_neg(mw_tensor *x);

/* ---- one tensor ---- */

/** r = |x|.
 *  x       [..]  F16, F32 or I32
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_DTYPE
 *  vjp     dx = dr * sign(x)
 *  source  MIL abs */
MW_API mw_tensor *mw_abs(mw_tensor *x);

/** r = -1, 0 or 1 by the sign of x; arguments and errors as mw_abs.
 *  vjp     dx = 0
 *  source  MIL sign */
MW_API mw_tensor *mw_sign(mw_tensor *x);

/** r = x * x; arguments and errors as mw_abs.
 *  vjp     dx = 2 * dr * x
 *  source  MIL square */
MW_API mw_tensor *mw_square(mw_tensor *x);

/** r = sqrt(x); NaN for negative x.
 *  x       [..]  F16 or F32
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_DTYPE
 *  vjp     dx = dr / (2 * r)
 *  source  MIL sqrt */
MW_API mw_tensor *mw_sqrt(mw_tensor *x);

/** r = 1 / sqrt(x + epsilon).
 *  x        [..]  F16 or F32
 *  epsilon  finite and >= 0; rounded to the dtype of x: 1e-12 is 0 in fp16. MIL's own default is 1e-12
 *  return   [..]  dtype of x
 *  errors   MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for another epsilon
 *  vjp      dx = -dr * r^3 / 2
 *  source   MIL rsqrt */
MW_API mw_tensor *mw_rsqrt(mw_tensor *x, float epsilon);

/** r = 1 / (x + epsilon); arguments and errors as mw_rsqrt. MIL's own default epsilon is a large 1e-4.
 *  vjp      dx = -dr * r^2
 *  source   MIL inverse */
MW_API mw_tensor *mw_inverse(mw_tensor *x, float epsilon);

/** r = ln(x + epsilon); arguments and errors as mw_rsqrt. MIL's own default epsilon is 1e-45, which is 0 in fp16.
 *  vjp      dx = dr / (x + epsilon)
 *  source   MIL log */
MW_API mw_tensor *mw_log(mw_tensor *x, float epsilon);

/** r = e^x; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * r
 *  source  MIL exp */
MW_API mw_tensor *mw_exp(mw_tensor *x);

/** r = the error function of x; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * 2 / sqrt(pi) * e^(-x^2)
 *  source  MIL erf */
MW_API mw_tensor *mw_erf(mw_tensor *x);

/** r = the hyperbolic tangent of x; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * (1 - r^2)
 *  source  MIL tanh */
MW_API mw_tensor *mw_tanh(mw_tensor *x);

/** r = 2^x; arguments and errors as mw_abs. An integer x below 0 gives 0, and above 30 the result wraps around.
 *  vjp     dx = dr * r * ln(2)
 *  source  MIL exp2 */
MW_API mw_tensor *mw_exp2(mw_tensor *x);

/** r = the largest integer not above x; arguments and errors as mw_sqrt.
 *  vjp     dx = 0
 *  source  MIL floor */
MW_API mw_tensor *mw_floor(mw_tensor *x);

/** r = the smallest integer not below x; arguments and errors as mw_sqrt.
 *  vjp     dx = 0
 *  source  MIL ceil */
MW_API mw_tensor *mw_ceil(mw_tensor *x);

/** r = the integer nearest to x, of two equally near ones the even one; arguments and errors as mw_sqrt.
 *  vjp     dx = 0
 *  source  MIL round */
MW_API mw_tensor *mw_round(mw_tensor *x);

/** r = the sine of x in radians; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * cos(x)
 *  source  MIL sin */
MW_API mw_tensor *mw_sin(mw_tensor *x);

/** r = the cosine of x in radians; arguments and errors as mw_sqrt.
 *  vjp     dx = -dr * sin(x)
 *  source  MIL cos */
MW_API mw_tensor *mw_cos(mw_tensor *x);

/** r = the tangent of x in radians; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * (1 + r^2)
 *  source  MIL tan */
MW_API mw_tensor *mw_tan(mw_tensor *x);

/** r = the angle in [-pi/2, pi/2] whose sine is x; arguments and errors as mw_sqrt. NaN outside
 *  [-1, 1].
 *  vjp     dx = dr / sqrt(1 - x^2)
 *  source  MIL asin */
MW_API mw_tensor *mw_asin(mw_tensor *x);

/** r = the angle in [0, pi] whose cosine is x; arguments and errors as mw_sqrt. NaN outside [-1, 1].
 *  vjp     dx = -dr / sqrt(1 - x^2)
 *  source  MIL acos */
MW_API mw_tensor *mw_acos(mw_tensor *x);

/** r = the angle in (-pi/2, pi/2) whose tangent is x; arguments and errors as mw_sqrt.
 *  vjp     dx = dr / (1 + x^2)
 *  source  MIL atan */
MW_API mw_tensor *mw_atan(mw_tensor *x);

/** r = the hyperbolic sine of x; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * cosh(x)
 *  source  MIL sinh */
MW_API mw_tensor *mw_sinh(mw_tensor *x);

/** r = the hyperbolic cosine of x; arguments and errors as mw_sqrt.
 *  vjp     dx = dr * sinh(x)
 *  source  MIL cosh */
MW_API mw_tensor *mw_cosh(mw_tensor *x);

/** r = the number whose hyperbolic tangent is x; arguments and errors as mw_sqrt. NaN outside [-1, 1].
 *  vjp     dx = dr / (1 - x^2)
 *  source  MIL atanh */
MW_API mw_tensor *mw_atanh(mw_tensor *x);

/** r = max(x, alpha).
 *  x       [..]  F16, F32 or I32
 *  alpha   lower bound, rounded to the dtype of x; integral for I32
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_DTYPE, MW_ERROR_NUMERIC if alpha does not fit the dtype
 *  vjp     dx = dr where x >= alpha, else 0 (PyTorch's clamp)
 *  source  MIL threshold */
MW_API mw_tensor *mw_threshold(mw_tensor *x, float alpha);

/** r = min(max(x, alpha), beta).
 *  x       [..]  F16 or F32
 *  alpha   lower bound, may be -inf
 *  beta    upper bound, > alpha, may be inf
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_ARGUMENT unless alpha < beta, MW_ERROR_DTYPE
 *  vjp     dx = dr where alpha <= x <= beta, else 0
 *  source  MIL clip (its ios17 form asks for alpha < beta) */
MW_API mw_tensor *mw_clip(mw_tensor *x, float alpha, float beta);

/** r = x in another element type.
 *  x       [..]  F16, F32, I32, BOOL; from MW_IOS17 on also I8, U8, I16, U16
 *  dtype   one of the same types; fp32 to fp16 rounds to nearest even, float to integer truncates toward zero,
 *          anything to BOOL is x != 0
 *  return  [..]  dtype
 *  errors  MW_ERROR_DTYPE for other types
 *  vjp     dx = dr cast back, between float types
 *  source  MIL cast */
MW_API mw_tensor *mw_cast(mw_tensor *x, mw_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
