/* Activations: shape rules and constructors of ops/activation.def. */
#include <millwright/ops/activation.h>

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- shape rules ---- */

static const char *const gelu_modes[] = {
    [MW_GELU_EXACT] = "EXACT", [MW_GELU_TANH] = "TANH_APPROXIMATION", [MW_GELU_SIGMOID] = "SIGMOID_APPROXIMATION"};
#define GELU_MODES (sizeof gelu_modes / sizeof gelu_modes[0])

mw_status mw__shape_gelu(mw__infer *infer)
{
    const char *mode = mw__arg_string(infer->op, "mode");
    for (size_t i = 0; mode != NULL && i < GELU_MODES; i++) {
        if (strcmp(mode, gelu_modes[i]) == 0)
            return mw__shape_same_as_x(infer);
    }
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                         "mode \"%s\" is none of EXACT, TANH_APPROXIMATION, SIGMOID_APPROXIMATION",
                         mode != NULL ? mode : "");
}

/* The argument has one element for each channel of x [N, C, ..]. */
static mw_status check_channels(const mw__infer *infer, const char *arg)
{
    const mw_shape x = mw__rule_shape(infer, "x"), vector = mw__rule_shape(infer, arg);
    char first[240], second[240];
    mw__arg_print(infer->op, "x", first, sizeof first);
    mw__arg_print(infer->op, arg, second, sizeof second);
    if (x.rank < 3 || x.rank > 5)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must have rank 3 to 5; expand_dims can add axes", first);
    if (vector.rank != 1 || !mw__dim_fits(vector.dim[0], x.dim[1]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s does not fit %s: one element per channel (axis 1) is wanted",
                             second, first);
    return MW_OK;
}

/* MIL's prelu takes different slopes for rank 4 only (coremltools, defs/ios15/activation.py). */
static mw_status check_equal_slopes(const mw__infer *infer)
{
    const mw__payload *alpha = mw__arg_payload(infer->op, "alpha");
    const int rank = mw__rule_shape(infer, "x").rank;
    for (size_t i = 1; alpha != NULL && rank != 4 && i < mw__payload_count(alpha); i++) {
        if (mw__payload_float(alpha, i) != mw__payload_float(alpha, 0))
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                                 "the slopes alpha must be equal for x of rank %d; reshape x to rank 4", rank);
    }
    return MW_OK;
}

mw_status mw__shape_prelu(mw__infer *infer)
{
    MW_TRY(check_channels(infer, "alpha"));
    MW_TRY(check_equal_slopes(infer));
    return mw__shape_same_as_x(infer);
}

mw_status mw__shape_softplus_parametric(mw__infer *infer)
{
    MW_TRY(check_channels(infer, "alpha"));
    MW_TRY(check_channels(infer, "beta"));
    return mw__shape_same_as_x(infer);
}

/* ---- constructors ---- */

/* A factor or an offset, which an infinity would turn into NaN somewhere; bounds may be infinite. */
static bool check_factor(const mw_tensor *x, const char *operation, const char *arg, float value)
{
    if (x != NULL && !isfinite(value))
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: %s is %g; it must be finite", operation, arg, (double)value);
    return isfinite(value);
}

static mw_tensor *unary_factors(const char *operation, mw_tensor *x, float alpha, float beta)
{
    if (!check_factor(x, operation, "alpha", alpha) || !check_factor(x, operation, "beta", beta))
        return NULL;
    return mw__unary_alpha_beta(operation, x, alpha, beta);
}

mw_tensor *mw_relu(mw_tensor *x) { return mw__unary("relu", x); }
mw_tensor *mw_sigmoid(mw_tensor *x) { return mw__unary("sigmoid", x); }
mw_tensor *mw_silu(mw_tensor *x) { return mw__unary("silu", x); }
mw_tensor *mw_relu6(mw_tensor *x) { return mw__unary("relu6", x); }
mw_tensor *mw_softplus(mw_tensor *x) { return mw__unary("softplus", x); }
mw_tensor *mw_softsign(mw_tensor *x) { return mw__unary("softsign", x); }
mw_tensor *mw_leaky_relu(mw_tensor *x, float alpha)
{
    MW__FLOAT_SCOPE;
    return check_factor(x, "leaky_relu", "alpha", alpha) ? mw__unary_alpha("leaky_relu", x, alpha) : NULL;
}
mw_tensor *mw_thresholded_relu(mw_tensor *x, float alpha)
{
    MW__FLOAT_SCOPE;
    return mw__unary_alpha("thresholded_relu", x, alpha);
}
mw_tensor *mw_elu(mw_tensor *x, float alpha)
{
    MW__FLOAT_SCOPE;
    return check_factor(x, "elu", "alpha", alpha) ? mw__unary_alpha("elu", x, alpha) : NULL;
}
mw_tensor *mw_clamped_relu(mw_tensor *x, float alpha, float beta)
{
    MW__FLOAT_SCOPE;
    return check_factor(x, "clamped_relu", "alpha", alpha) ? mw__unary_alpha_beta("clamped_relu", x, alpha, beta)
                                                           : NULL;
}
mw_tensor *mw_scaled_tanh(mw_tensor *x, float alpha, float beta)
{
    MW__FLOAT_SCOPE;
    return unary_factors("scaled_tanh", x, alpha, beta);
}
mw_tensor *mw_sigmoid_hard(mw_tensor *x, float alpha, float beta)
{
    MW__FLOAT_SCOPE;
    return unary_factors("sigmoid_hard", x, alpha, beta);
}
mw_tensor *mw_linear_activation(mw_tensor *x, float alpha, float beta)
{
    MW__FLOAT_SCOPE;
    return unary_factors("linear_activation", x, alpha, beta);
}

mw_tensor *mw_gelu(mw_tensor *x, mw_gelu_mode mode)
{
    MW__FLOAT_SCOPE;
    if (x == NULL)
        return NULL;
    if ((unsigned)mode >= GELU_MODES)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "gelu: mode %d is no mw_gelu_mode", (int)mode);
    mw__build build = mw__build_begin("gelu", x);
    mw__build_set(&build, "x", x);
    mw__build_string(&build, "mode", gelu_modes[mode]);
    return mw__build_end(&build);
}

/* ---- numbers per channel: constants in MIL, otherwise composed ---- */

/* vector [C] as [C, 1, ..], which broadcasts to x [N, C, ..]. */
static mw_tensor *along_channels(const char *operation, const char *arg, mw_tensor *vector, const mw_tensor *x)
{
    if (vector == NULL || x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x), own = mw_tensor_shape(vector);
    if (shape.rank < 3 || shape.rank > 5 || own.rank != 1 || !mw__dim_fits(own.dim[0], shape.dim[1]))
        return mw__graph_fail(x->graph, MW_ERROR_SHAPE,
                              "%s: x must be [N, C, ..] of rank 3 to 5 and %s [C], one element per channel", operation,
                              arg);
    mw_axes axes = {.count = shape.rank - 2};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = i + 1;
    return mw_expand_dims(vector, axes);
}

mw_tensor *mw__expand_prelu(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    mw_tensor *x = mw__argument_find(arguments, count, "x"), *alpha = mw__argument_find(arguments, count, "alpha");
    if (x == NULL || alpha == NULL)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "prelu: argument %s is missing", x == NULL ? "x" : "alpha");
    mw_tensor *slopes = along_channels("prelu", "alpha", alpha, x);
    mw_tensor *scaled = mw_mul(x, slopes);
    mw_tensor *positive = mw_greater(x, mw__scalar(graph, mw_tensor_dtype(x), 0.0, "zero"));
    return mw_select(positive, x, scaled);
}

mw_tensor *mw__expand_softplus_parametric(mw_graph *graph, const mw_argument *arguments, size_t count,
                                          mw_tensor **out_more)
{
    (void)out_more;
    mw_tensor *x = mw__argument_find(arguments, count, "x"), *alpha = mw__argument_find(arguments, count, "alpha");
    mw_tensor *beta = mw__argument_find(arguments, count, "beta");
    if (x == NULL || alpha == NULL || beta == NULL)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "softplus_parametric: argument %s is missing",
                              x == NULL       ? "x"
                              : alpha == NULL ? "alpha"
                                              : "beta");
    mw_tensor *factors = along_channels("softplus_parametric", "alpha", alpha, x);
    mw_tensor *rates = along_channels("softplus_parametric", "beta", beta, x);
    return mw_mul(mw_softplus(mw_mul(x, rates)), factors);
}

mw_tensor *mw_prelu(mw_tensor *x, mw_tensor *alpha)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || alpha == NULL)
        return NULL;
    if (!mw__is_constant(alpha)) {
        const mw_argument arguments[] = {
            {.name = "x", .values = &x, .count = 1},
            {.name = "alpha", .values = &alpha, .count = 1},
        };
        return mw__expand_prelu(x->graph, arguments, 2, NULL);
    }
    mw__build build = mw__build_begin("prelu", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "alpha", alpha);
    return mw__build_end(&build);
}

mw_tensor *mw_softplus_parametric(mw_tensor *x, mw_tensor *alpha, mw_tensor *beta)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || alpha == NULL || beta == NULL)
        return NULL;
    if (!mw__is_constant(alpha) || !mw__is_constant(beta)) {
        const mw_argument arguments[] = {
            {.name = "x", .values = &x, .count = 1},
            {.name = "alpha", .values = &alpha, .count = 1},
            {.name = "beta", .values = &beta, .count = 1},
        };
        return mw__expand_softplus_parametric(x->graph, arguments, 3, NULL);
    }
    mw__build build = mw__build_begin("softplus_parametric", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "alpha", alpha);
    mw__build_set(&build, "beta", beta);
    return mw__build_end(&build);
}
