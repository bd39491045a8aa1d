/* Cases of normalization. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include "base/number/fp16.h"

/* A constant in the float type under test: start, start + step, .. wrapping after seven, exact in fp16. */
static mw_tensor *numbers(mw_tensor *like, mw_shape shape, double start, double step)
{
    float wide[64];
    uint16_t half[64];
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        wide[i] = (float)(start + step * (double)(i % 7));
        half[i] = mw__fp16_from_float(wide[i]);
    }
    const bool is_half = mw_tensor_dtype(like) == MW_F16;
    return mw_constant(mw_tensor_graph(like), mw_tensor_dtype(like), shape, is_half ? (const void *)half : wide);
}

static mw_tensor *by(mw_tensor *x, mw_axes axes, mw_shape extents)
{
    mw_tensor *gamma = numbers(x, extents, 0.5, 0.25);
    return mw_layer_norm(x, axes, gamma, numbers(x, extents, -1.0, 0.5), 1e-3f);
}

static mw_tensor *b_batch(mw_tensor *const *in)
{
    const mw_shape channels = MW_SHAPE(mw_tensor_shape(in[0]).dim[1]);
    mw_tensor *mean = numbers(in[0], channels, -0.5, 0.25), *variance = numbers(in[0], channels, 0.5, 0.5);
    mw_tensor *gamma = numbers(in[0], channels, 1.5, -0.5);
    return mw_batch_norm(in[0], mean, variance, gamma, numbers(in[0], channels, -1.0, 0.5), 1e-3f);
}

static mw_tensor *b_batch_plain(mw_tensor *const *in)
{
    const mw_shape channels = MW_SHAPE(mw_tensor_shape(in[0]).dim[1]);
    mw_tensor *mean = numbers(in[0], channels, -0.5, 0.25);
    return mw_batch_norm(in[0], mean, numbers(in[0], channels, 0.5, 0.5), NULL, NULL, 1e-3f);
}

static mw_tensor *b_instance(mw_tensor *const *in)
{
    const mw_shape channels = MW_SHAPE(mw_tensor_shape(in[0]).dim[1]);
    mw_tensor *gamma = numbers(in[0], channels, 0.5, 0.5);
    return mw_instance_norm(in[0], gamma, numbers(in[0], channels, -1.0, 0.5), 1e-3f);
}

/* MIL's defaults: no gamma, no beta, epsilon 1e-5, k 1. */
static mw_tensor *plain(const char *operation, mw_tensor *x)
{
    mw_tensor *y = NULL;
    const mw_argument arguments[] = {{"x", &x, 1}};
    mw_op(mw_tensor_graph(x), operation, arguments, 1, &y, 1, NULL);
    return y;
}

static mw_tensor *b_lrn_default(mw_tensor *const *in)
{
    mw_tensor *x = in[0], *size = mw_scalar(mw_tensor_graph(x), MW_I32, 3), *y = NULL;
    const mw_argument arguments[] = {{"x", &x, 1}, {"size", &size, 1}};
    mw_op(mw_tensor_graph(x), "local_response_norm", arguments, 2, &y, 1, NULL);
    return y;
}

/* clang-format off */
BUILD(softmax, mw_softmax(in[0], -1))
BUILD(softmax_first, mw_softmax(in[0], 0))
BUILD(instance_plain, plain("instance_norm", in[0]))
BUILD(layer_last, by(in[0], MW_AXES(-1), MW_SHAPE(7)))
BUILD(layer_two, by(in[0], MW_AXES(1, 2), MW_SHAPE(3, 7)))
BUILD(layer_middle, by(in[0], MW_AXES(1), MW_SHAPE(3)))
BUILD(layer_outer, by(in[0], MW_AXES(-1, 0), MW_SHAPE(2, 7)))
BUILD(layer_all, plain("layer_norm", in[0]))
BUILD(layer_gamma, mw_layer_norm(in[0], MW_AXES(-1), numbers(in[0], MW_SHAPE(7), 0.5, 0.25), NULL, 1e-3f))
BUILD(layer_beta, mw_layer_norm(in[0], MW_AXES(-1), NULL, numbers(in[0], MW_SHAPE(7), 0.5, 0.25), 1e-3f))
BUILD(l2, mw_l2_norm(in[0], 1e-3f))
BUILD(l2_default, plain("l2_norm", in[0]))
BUILD(lrn, mw_local_response_norm(in[0], 3, 2.0f, 0.75f, 0.5f))
BUILD(lrn_even, mw_local_response_norm(in[0], 4, 2.0f, 1.25f, 1.0f))
BUILD(lrn_wide, mw_local_response_norm(in[0], 1000, 500.0f, 0.5f, 1.0f))
BUILD(lrn_one, mw_local_response_norm(in[0], 1, 1.0f, 0.5f, 1.0f))
/* clang-format on */

#define SCALED "sums in another order, divided by a spread that may be small"

/* clang-format off */
static const op_case rows[] = {
    LOOSE("softmax", "", b_softmax, 16, 0, LIBM, F(2, -4, 4, 5, 17)),
    LOOSE("softmax", "first axis", b_softmax_first, 16, 0, LIBM, F(3, -4, 4, 5, 3, 2)),
    LOOSE("batch_norm", "", b_batch, 8, 6, SUM, F(4, -2, 2, 2, 3, 4, 5)),
    LOOSE("batch_norm", "without gamma and beta", b_batch_plain, 8, 6, SUM, F(3, -2, 2, 2, 3, 5)),
    LOOSE("batch_norm", "rank 5", b_batch, 8, 6, SUM, F(5, -2, 2, 2, 3, 2, 2, 3)),
    LOOSE("batch_norm", "planes longer than a tile", b_batch, 8, 6, SUM, F(3, -2, 2, 1, 2, 1100)),
    LOOSE("instance_norm", "", b_instance, 16, 4, SCALED, F(4, -2, 2, 2, 3, 4, 5)),
    LOOSE("instance_norm", "rank 3", b_instance, 16, 4, SCALED, F(3, -2, 2, 2, 3, 9)),
    LOOSE("instance_norm", "defaults", b_instance_plain, 16, 4, SCALED, F(4, -2, 2, 2, 3, 4, 5)),
    LOOSE("layer_norm", "", b_layer_last, 16, 4, SCALED, F(2, -2, 2, 5, 7)),
    LOOSE("layer_norm", "many rows", b_layer_gamma, 16, 4, SCALED, F(3, -2, 2, 9, 5, 7)),
    LOOSE("layer_norm", "two axes", b_layer_two, 16, 6, SCALED, F(3, -2, 2, 2, 3, 7)),
    LOOSE("layer_norm", "middle axis", b_layer_middle, 64, 4, SCALED, F(3, -2, 2, 2, 3, 7)),
    LOOSE("layer_norm", "first and last axis", b_layer_outer, 16, 6, SCALED, F(3, -2, 2, 2, 3, 7)),
    LOOSE("layer_norm", "every axis, defaults", b_layer_all, 16, 4, SCALED, F(3, -2, 2, 2, 3, 57)),
    LOOSE("layer_norm", "gamma only", b_layer_gamma, 16, 4, SCALED, F(2, -2, 2, 5, 7)),
    LOOSE("layer_norm", "beta only", b_layer_beta, 16, 4, SCALED, F(2, -2, 2, 5, 7)),
    LOOSE("layer_norm", "far from zero", b_layer_last, 4096, 4, "the mean, 100 times the spread, is rounded", F(2, 99, 101, 3, 7)),
    LOOSE("l2_norm", "", b_l2, 16, 0, SUM, F(4, -2, 2, 2, 3, 4, 5)),
    LOOSE("l2_norm", "rank 3, default", b_l2_default, 16, 0, SUM, F(3, -2, 2, 3, 4, 5)),
    LOOSE("local_response_norm", "", b_lrn, 16, 0, LIBM, F(4, -2, 2, 2, 7, 3, 2)),
    LOOSE("local_response_norm", "even window", b_lrn_even, 16, 0, LIBM, F(4, -2, 2, 2, 7, 3, 2)),
    LOOSE("local_response_norm", "window wider than the channels", b_lrn_wide, 16, 0, LIBM, F(3, -2, 2, 2, 5, 3)),
    LOOSE("local_response_norm", "window of one", b_lrn_one, 16, 0, LIBM, F(3, -2, 2, 2, 5, 3)),
    LOOSE("local_response_norm", "defaults, rank 5, many positions", b_lrn_default, 16, 0, LIBM, F(5, -2, 2, 2, 4, 3, 5, 9)),
};
/* clang-format on */

OP_CASES(normalize, rows)
