/* Activations: functions of one tensor, element by element.
 *
 *     mw_tensor *h = mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH);
 *
 * All of NaN are NaN (docs/architecture.md, "NaN"). In the VJPs y is the result and dy its cotangent. Every call
 * returns NULL and leaves an error on the graph when it fails; a NULL operand yields NULL. Results live as long as the
 * graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_ACTIVATION_H
#define MILLWRIGHT_OPS_ACTIVATION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = max(x, 0).
 *  x       [..]  F16 or F32
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_DTYPE
 *  vjp     dx = dy where x > 0, else 0
 *  source  MIL relu */
MW_API mw_tensor *mw_relu(mw_tensor *x);

/** y = 1 / (1 + e^-x); arguments and errors as mw_relu.
 *  vjp     dx = dy * y * (1 - y)
 *  source  MIL sigmoid */
MW_API mw_tensor *mw_sigmoid(mw_tensor *x);

/** y = x * sigmoid(x); arguments and errors as mw_relu.
 *  vjp     dx = dy * s * (1 + x * (1 - s)), s = sigmoid(x)
 *  source  MIL silu */
MW_API mw_tensor *mw_silu(mw_tensor *x);

/** Which form of gelu. */
typedef enum mw_gelu_mode {
    MW_GELU_EXACT,  /* x / 2 * (1 + erf(x / sqrt(2))) */
    MW_GELU_TANH,   /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
    MW_GELU_SIGMOID /* x * sigmoid(1.702 * x) */
} mw_gelu_mode;

/** y = gelu(x) in the form that `mode` names; arguments as mw_relu.
 *  errors  MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for another mode
 *  vjp     dx = dy * the derivative of that form
 *  source  MIL gelu */
MW_API mw_tensor *mw_gelu(mw_tensor *x, mw_gelu_mode mode);

/** y = min(max(x, 0), 6); arguments and errors as mw_relu.
 *  vjp     dx = dy where 0 < x < 6, else 0 (PyTorch's relu6)
 *  source  MIL relu6 */
MW_API mw_tensor *mw_relu6(mw_tensor *x);

/** y = x where x >= 0, else alpha * x; arguments and errors as mw_relu.
 *  alpha   slope of the negative side; PyTorch's default is 0.01
 *  vjp     dx = dy where x > 0, else alpha * dy (PyTorch's leaky_relu)
 *  source  MIL leaky_relu */
MW_API mw_tensor *mw_leaky_relu(mw_tensor *x, float alpha);

/** y = x where x >= 0, else alpha[c] * x, with one slope per channel c.
 *  x       [N, C, ..]  rank 3 to 5, F16 or F32
 *  alpha   [C]  dtype of x. A constant gives MIL's prelu, which wants equal slopes unless x has rank 4; a parameter or
 *          another computed tensor gives the same value of operations that take it, select and mul
 *  return  [N, C, ..]  dtype of x
 *  errors  MW_ERROR_SHAPE if the ranks or C do not fit, MW_ERROR_ARGUMENT for unequal constant slopes with rank 3 or 5
 *  vjp     dx = dy where x > 0, else alpha * dy; dalpha = sum of x * dy over x <= 0 of the channel (PyTorch's prelu)
 *  source  MIL prelu */
MW_API mw_tensor *mw_prelu(mw_tensor *x, mw_tensor *alpha);

/** y = min(x, beta) where x >= 0, else min(alpha * x, beta); arguments and errors as mw_relu.
 *  alpha   slope of the negative side
 *  beta    upper bound
 *  vjp     dx = dy * (1 where x > 0, else alpha) where leaky_relu(x) < beta, else 0
 *  source  MIL clamped_relu */
MW_API mw_tensor *mw_clamped_relu(mw_tensor *x, float alpha, float beta);

/** y = x where x >= alpha, else 0; arguments and errors as mw_relu.
 *  alpha   the smallest value that passes (PyTorch's threshold starts above it)
 *  vjp     dx = dy where x >= alpha, else 0
 *  source  MIL thresholded_relu */
MW_API mw_tensor *mw_thresholded_relu(mw_tensor *x, float alpha);

/** y = x where x > 0, else alpha * (e^x - 1); arguments and errors as mw_relu.
 *  alpha   the negative limit is -alpha; PyTorch's default is 1
 *  vjp     dx = dy where x > 0, else dy * alpha * e^x (PyTorch's elu)
 *  source  MIL elu */
MW_API mw_tensor *mw_elu(mw_tensor *x, float alpha);

/** y = ln(1 + e^x); arguments and errors as mw_relu. Exact to the dtype for every x.
 *  vjp     dx = dy * sigmoid(x)
 *  source  MIL softplus */
MW_API mw_tensor *mw_softplus(mw_tensor *x);

/** y = alpha[c] * ln(1 + e^(beta[c] * x)), with one pair of numbers per channel c.
 *  x       [N, C, ..]  rank 3 to 5, F16 or F32
 *  alpha   [C]  dtype of x; where alpha or beta is no constant, the same value comes of mul and softplus
 *  beta    [C]  dtype of x
 *  return  [N, C, ..]  dtype of x
 *  errors  MW_ERROR_SHAPE if the ranks or C do not fit
 *  vjp     dx = dy * alpha * beta * s, s = sigmoid(beta * x); dalpha = sum of dy * softplus(beta * x) and
 *          dbeta = sum of dy * alpha * x * s over the channel
 *  source  MIL softplus_parametric */
MW_API mw_tensor *mw_softplus_parametric(mw_tensor *x, mw_tensor *alpha, mw_tensor *beta);

/** y = x / (1 + |x|); arguments and errors as mw_relu.
 *  vjp     dx = dy / (1 + |x|)^2
 *  source  MIL softsign */
MW_API mw_tensor *mw_softsign(mw_tensor *x);

/** y = alpha * tanh(beta * x); arguments and errors as mw_relu.
 *  vjp     dx = dy * alpha * beta * (1 - tanh(beta * x)^2)
 *  source  MIL scaled_tanh */
MW_API mw_tensor *mw_scaled_tanh(mw_tensor *x, float alpha, float beta);

/** y = min(max(alpha * x + beta, 0), 1); arguments and errors as mw_relu.
 *  alpha   slope; PyTorch's hardsigmoid is 1/6, Keras' 0.2
 *  beta    value at x = 0, 0.5 in both
 *  vjp     dx = dy * alpha where 0 < alpha * x + beta < 1, else 0 (PyTorch's hardsigmoid)
 *  source  MIL sigmoid_hard */
MW_API mw_tensor *mw_sigmoid_hard(mw_tensor *x, float alpha, float beta);

/** y = alpha * x + beta; arguments and errors as mw_relu.
 *  vjp     dx = dy * alpha
 *  source  MIL linear_activation */
MW_API mw_tensor *mw_linear_activation(mw_tensor *x, float alpha, float beta);

#ifdef __cplusplus
}
#endif
#endif
