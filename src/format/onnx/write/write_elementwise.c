/* Arithmetic, comparisons, selection and activations. */
#include "format/onnx/write/write_args.h"

#include <string.h>

static const char *constant(mw__onnx_writer *w, const mw__op *op, double value)
{
    return mw__onnx_number(w, dtype_of(op), value);
}

/* x + value, or x itself for 0. */
static const char *plus(mw__onnx_writer *w, const mw__op *op, const char *x, double value)
{
    return value != 0 ? mw__onnx_make(w, "Add", NULL, x, constant(w, op, value)) : x;
}

void mw__onnx_write_unary(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_make(w, operation, result(w, op), arg(w, op, "x"), NULL);
}

void mw__onnx_write_binary(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_make(w, operation, result(w, op), arg(w, op, "x"), arg(w, op, "y"));
}

void mw__onnx_write_real_div(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    if (dtype_of(op) == MW_I32)
        mw__onnx_cannot(w, op, "of integers it is not written yet");
    else
        mw__onnx_write_binary(w, op, operation);
}

void mw__onnx_write_not_equal(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *same = mw__onnx_make(w, operation, NULL, arg(w, op, "x"), arg(w, op, "y"));
    mw__onnx_make(w, "Not", result(w, op), same, NULL);
}

void mw__onnx_write_floor_div(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    if (dtype_of(op) == MW_I32) {
        mw__onnx_cannot(w, op, "of integers it is not written yet");
        return;
    }
    const char *ratio = mw__onnx_make(w, operation, NULL, arg(w, op, "x"), arg(w, op, "y"));
    mw__onnx_make(w, "Floor", result(w, op), ratio, NULL);
}

/* ONNX's Mod has the divisor's sign for integers only. */
void mw__onnx_write_mod(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x"), *y = arg(w, op, "y");
    if (dtype_of(op) == MW_I32) {
        mw__onnx_make(w, operation, result(w, op), x, y);
        return;
    }
    const char *times = mw__onnx_make(w, "Floor", NULL, mw__onnx_make(w, "Div", NULL, x, y), NULL);
    mw__onnx_make(w, "Sub", result(w, op), x, mw__onnx_make(w, "Mul", NULL, times, y));
}

void mw__onnx_write_square(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x");
    mw__onnx_make(w, operation, result(w, op), x, x);
}

void mw__onnx_write_with_epsilon(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = plus(w, op, arg(w, op, "x"), mw__arg_number(op, "epsilon"));
    mw__onnx_make(w, operation, result(w, op), x, NULL);
}

void mw__onnx_write_rsqrt(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = plus(w, op, arg(w, op, "x"), mw__arg_number(op, "epsilon"));
    mw__onnx_make(w, "Reciprocal", result(w, op), mw__onnx_make(w, operation, NULL, x, NULL), NULL);
}

void mw__onnx_write_exp2(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_make(w, operation, result(w, op), constant(w, op, 2), arg(w, op, "x"));
}

void mw__onnx_write_threshold(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_make(w, operation, result(w, op), arg(w, op, "x"), arg(w, op, "alpha"));
}

static void clip(mw__onnx_writer *w, const mw__op *op, double low, double high)
{
    const char *const in[] = {arg(w, op, "x"), constant(w, op, low), constant(w, op, high)};
    mw__onnx_node_of(w, "Clip", result(w, op), in, 3);
}

void mw__onnx_write_clip(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    (void)operation;
    clip(w, op, mw__arg_number(op, "alpha"), mw__arg_number(op, "beta"));
}

void mw__onnx_write_relu6(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    (void)operation;
    clip(w, op, 0, 6);
}

void mw__onnx_write_cast(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    (void)operation;
    if (mw__onnx_type_of(dtype_of(op)) == 0)
        mw__onnx_cannot(w, op, "ONNX lacks its type");
    else
        mw__onnx_cast_to(w, result(w, op), arg(w, op, "x"), dtype_of(op));
}

/* Of truths onnxruntime has no Where: cond and a, or not cond and b. */
static void select_truth(mw__onnx_writer *w, const mw__op *op)
{
    const char *cond = arg(w, op, "cond");
    const char *a = mw__onnx_make(w, "And", NULL, cond, arg(w, op, "a"));
    const char *not_cond = mw__onnx_make(w, "Not", NULL, cond, NULL);
    mw__onnx_make(w, "Or", result(w, op), a, mw__onnx_make(w, "And", NULL, not_cond, arg(w, op, "b")));
}

void mw__onnx_write_select(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    if (dtype_of(op) == MW_BOOL) {
        select_truth(w, op);
        return;
    }
    const char *const in[] = {arg(w, op, "cond"), arg(w, op, "a"), arg(w, op, "b")};
    mw__onnx_node_of(w, operation, result(w, op), in, 3);
}

/* ---- activations ---- */

static pb_node *with_alpha(mw__onnx_writer *w, const mw__op *op, const char *operation, const char *out)
{
    const char *x = arg(w, op, "x");
    pb_node *node = mw__onnx_node_of(w, operation, out, &x, 1);
    mw__onnx_put_float(w, node, "alpha", mw__arg_number(op, "alpha"));
    return node;
}

void mw__onnx_write_alpha(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    with_alpha(w, op, operation, result(w, op));
}

void mw__onnx_write_sigmoid_hard(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_put_float(w, with_alpha(w, op, operation, result(w, op)), "beta", mw__arg_number(op, "beta"));
}

void mw__onnx_write_silu(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x");
    mw__onnx_make(w, "Mul", result(w, op), x, mw__onnx_make(w, operation, NULL, x, NULL));
}

static const char *times_scalar(mw__onnx_writer *w, const mw__op *op, const char *x, double value)
{
    return mw__onnx_make(w, "Mul", NULL, x, constant(w, op, value));
}

/* x/2 (1 + f): f = erf(x / sqrt 2), or tanh(sqrt(2 / pi) (x + 0.044715 x^3)). */
void mw__onnx_write_gelu(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x"), *mode = mw__arg_string(op, "mode"), *inner;
    if (mode != NULL && strcmp(mode, "SIGMOID_APPROXIMATION") == 0) {
        const char *gate = mw__onnx_make(w, "Sigmoid", NULL, times_scalar(w, op, x, 1.702), NULL);
        mw__onnx_make(w, "Mul", result(w, op), x, gate);
        return;
    }
    if (mode != NULL && strcmp(mode, "TANH_APPROXIMATION") == 0) {
        const char *cube = mw__onnx_make(w, "Mul", NULL, mw__onnx_make(w, "Mul", NULL, x, x), x);
        const char *sum = mw__onnx_make(w, "Add", NULL, x, times_scalar(w, op, cube, 0.044715));
        inner = mw__onnx_make(w, "Tanh", NULL, times_scalar(w, op, sum, 0.7978845608028654), NULL);
    } else {
        inner = mw__onnx_make(w, operation, NULL, times_scalar(w, op, x, 0.7071067811865476), NULL);
    }
    mw__onnx_make(w, "Mul", result(w, op), times_scalar(w, op, x, 0.5), plus(w, op, inner, 1));
}

void mw__onnx_write_clamped_relu(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *leaky = mw__onnx_name(with_alpha(w, op, operation, NULL));
    mw__onnx_make(w, "Min", result(w, op), leaky, constant(w, op, mw__arg_number(op, "beta")));
}

/* ONNX's own sets x = alpha to 0, where MIL's lets it pass. */
void mw__onnx_write_thresholded_relu(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x"), *alpha = constant(w, op, mw__arg_number(op, "alpha"));
    const char *const in[] = {mw__onnx_make(w, operation, NULL, x, alpha), x, constant(w, op, 0)};
    mw__onnx_node_of(w, "Where", result(w, op), in, 3);
}

void mw__onnx_write_scaled_tanh(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *inner = times_scalar(w, op, arg(w, op, "x"), mw__arg_number(op, "beta"));
    mw__onnx_make(w, "Mul", result(w, op), mw__onnx_make(w, operation, NULL, inner, NULL),
                  constant(w, op, mw__arg_number(op, "alpha")));
}

void mw__onnx_write_linear_activation(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *scaled = times_scalar(w, op, arg(w, op, "x"), mw__arg_number(op, "alpha"));
    mw__onnx_make(w, operation, result(w, op), scaled, constant(w, op, mw__arg_number(op, "beta")));
}

/* Numbers of channels [C] as [C, 1, ..], to broadcast with x [N, C, ..]. */
static const char *of_channels(mw__onnx_writer *w, const mw__op *op, const char *name)
{
    const mw_shape x = mw__arg(op, "x")->type->shape;
    mw_shape shape = mw__arg(op, name)->type->shape;
    for (int i = 1; i < x.rank - 1; i++)
        shape.dim[i] = 1;
    shape.rank = x.rank > 2 ? x.rank - 1 : 1;
    return mw__onnx_reshape_to(w, op, NULL, arg(w, op, name), shape);
}

void mw__onnx_write_prelu(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    mw__onnx_make(w, operation, result(w, op), arg(w, op, "x"), of_channels(w, op, "alpha"));
}

void mw__onnx_write_softplus_parametric(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *inner = mw__onnx_make(w, "Mul", NULL, arg(w, op, "x"), of_channels(w, op, "beta"));
    const char *soft = mw__onnx_make(w, operation, NULL, inner, NULL);
    mw__onnx_make(w, "Mul", result(w, op), soft, of_channels(w, op, "alpha"));
}
