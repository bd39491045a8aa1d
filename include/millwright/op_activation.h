/* Activations: functions of one tensor, element by element.
 *
 *     mw_tensor *h = mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH);
 *
 * In the VJPs r is the result and dr its cotangent. Every call returns NULL and leaves an error on the graph when it
 * fails; a NULL operand yields NULL. Results live as long as the graph. */
#ifndef MILLWRIGHT_OP_ACTIVATION_H
#define MILLWRIGHT_OP_ACTIVATION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** r = max(x, 0).
 *  x       [..]  F16 or F32
 *  return  [..]  dtype of x
 *  errors  MW_ERROR_DTYPE
 *  vjp     dx = dr where x > 0, else 0
 *  source  MIL relu */
MW_API mw_tensor *mw_relu(mw_tensor *x);

/** r = 1 / (1 + e^-x); arguments and errors as mw_relu.
 *  vjp     dx = dr * r * (1 - r)
 *  source  MIL sigmoid */
MW_API mw_tensor *mw_sigmoid(mw_tensor *x);

/** r = x * sigmoid(x); arguments and errors as mw_relu.
 *  vjp     dx = dr * s * (1 + x * (1 - s)), s = sigmoid(x)
 *  source  MIL silu */
MW_API mw_tensor *mw_silu(mw_tensor *x);

/** Which form of gelu. */
typedef enum mw_gelu_mode {
    MW_GELU_EXACT,  /* x / 2 * (1 + erf(x / sqrt(2))) */
    MW_GELU_TANH,   /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
    MW_GELU_SIGMOID /* x * sigmoid(1.702 * x) */
} mw_gelu_mode;

/** r = gelu(x) in the form that `mode` names; arguments as mw_relu.
 *  errors  MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for another mode
 *  vjp     dx = dr * the derivative of that form
 *  source  MIL gelu */
MW_API mw_tensor *mw_gelu(mw_tensor *x, mw_gelu_mode mode);

#ifdef __cplusplus
}
#endif
#endif
