/* Shape rules: for each what it gives, what it does with unknown extents, and every refusal with its message.
 * Expected shapes follow coremltools' documentation of MIL (NumPy where that says so). */
#include "shape_words.h"

#include <math.h>

static void test_binary_broadcasts(void)
{
    GIVES(MW_F32, S(2, 3), mw_add(F(2, 3), F(2, 3)));
    GIVES(MW_F32, S(2, 3), mw_sub(F(2, 3), F(3)));
    GIVES(MW_F16, S(4, 2, 3), mw_mul(H(2, 1), H(4, 1, 3)));
    GIVES(MW_F32, S(2), mw_real_div(SCALAR, F(2)));
    GIVES(MW_I32, S(2, 2), mw_floor_div(N(2, 2), SCALARI));
    GIVES(MW_F32, S(0, 3), mw_maximum(F(0, 3), F(1, 3)));
    GIVES(MW_F32, S(-1, 3), mw_minimum(F(-1, 3), F(1, 3)));
    GIVES(MW_F32, S(5, 3), mw_pow(F(-1, 3), F(5, 3)));
    GIVES(MW_F32, S(-1), mw_add(F(-1), F(-1)));
}

static void test_binary_refuses(void)
{
    REFUSES(MW_ERROR_SHAPE, "add: shapes do not broadcast: x \"h\" [2, 3] and y \"fc1.bias\" [4]",
            mw_add(mw_input(g, "h", MW_F32, S(2, 3)), mw_input(g, "fc1.bias", MW_F32, S(4))));
    REFUSES(MW_ERROR_SHAPE, "do not broadcast", mw_mul(F(0, 3), F(2, 3)));
    REFUSES(MW_ERROR_DTYPE, "x is fp32 but y is int32", mw_add(F(2), N(2)));
    REFUSES(MW_ERROR_DTYPE, "x is bool, not fp16, fp32 or int32", mw_add(B(2), B(2)));
}

static void test_scalar_conveniences(void)
{
    GIVES(MW_F32, S(2, 3), mw_add_scalar(F(2, 3), 1.5));
    GIVES(MW_F16, S(2), mw_mul_scalar(H(2), 0.5));
    GIVES(MW_I32, S(2), mw_neg(N(2)));
    REFUSES(MW_ERROR_NUMERIC, "add_y: 1.5 does not fit int32", mw_add_scalar(N(2), 1.5));
    REFUSES(MW_ERROR_NUMERIC, "mul_y: 70000 does not fit fp16", mw_mul_scalar(H(2), 70000));
    REFUSES(MW_ERROR_DTYPE, "no scalar of type uint8", mw_mul_scalar(leaf(g, MW_U8, S(2)), 2));
}

static void test_unary_keeps_type_and_shape(void)
{
    GIVES(MW_F32, S(2, -1), mw_exp(F(2, -1)));
    GIVES(MW_I32, S(2), mw_abs(N(2)));
    GIVES(MW_F16, S(2), mw_rsqrt(H(2), 1e-5f));
    GIVES(MW_F32, S(0), mw_log(F(0), 0));
    GIVES(MW_F32, mw_shape_scalar(), mw_relu(SCALAR));
    GIVES(MW_STRING, mw_shape_scalar(), mw_identity(mw_text(g, "t")));
    REFUSES(MW_ERROR_DTYPE, "exp: x is int32, not fp16 or fp32", mw_exp(N(2)));
    REFUSES(MW_ERROR_ARGUMENT, "epsilon must be a constant", op(g, "log", "x", F(2), "epsilon", SCALAR, NULL));
}

static void test_gelu_modes(void)
{
    GIVES(MW_F32, S(2), mw_gelu(F(2), MW_GELU_EXACT));
    GIVES(MW_F32, S(2), mw_gelu(F(2), MW_GELU_TANH));
    GIVES(MW_F32, S(2), mw_gelu(F(2), MW_GELU_SIGMOID));
    REFUSES(MW_ERROR_ARGUMENT, "gelu: mode 7", mw_gelu(F(2), (mw_gelu_mode)7));
    REFUSES(MW_ERROR_ARGUMENT, "mode \"FAST\" is none of", op(g, "gelu", "x", F(2), "mode", mw_text(g, "FAST"), NULL));
    REFUSES(MW_ERROR_DTYPE, "mode is int32, not string", op(g, "gelu", "x", F(2), "mode", one(g, 1), NULL));
}

static void test_clip_bounds(void)
{
    GIVES(MW_F32, S(2), mw_clip(F(2), -1, 1));
    GIVES(MW_F16, S(2), mw_clip(H(2), 0, INFINITY));
    REFUSES(MW_ERROR_ARGUMENT, "clip: alpha 1 must be below beta 1", mw_clip(F(2), 1, 1));
    REFUSES(MW_ERROR_ARGUMENT, "must be below", mw_clip(F(2), NAN, 1));
    mw_tensor *(*scalar)(mw_graph *, mw_dtype, double) = mw_scalar;
    GIVES_IN(MW_IOS16, MW_F32, S(2),
             op(g, "clip", "x", F(2), "alpha", scalar(g, MW_F32, 2), "beta", scalar(g, MW_F32, 1), NULL));
    REFUSES_IN(MW_IOS17, MW_ERROR_ARGUMENT, "alpha 2 must be below beta 1",
               op(g, "clip", "x", F(2), "alpha", scalar(g, MW_F32, 2), "beta", scalar(g, MW_F32, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "argument alpha is missing", op(g, "clip", "x", F(2), NULL));
}

static void test_cast_by_opset(void)
{
    GIVES(MW_F16, S(2), mw_cast(F(2), MW_F16));
    GIVES(MW_BOOL, S(2), mw_cast(N(2), MW_BOOL));
    GIVES_IN(MW_IOS17, MW_U8, S(2), mw_cast(F(2), MW_U8));
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "dtype \"uint8\" is not fp16, fp32, int32 or bool (the others need ios17)",
               mw_cast(F(2), MW_U8));
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "x is int8", mw_cast(leaf(g, MW_I8, S(2)), MW_F32));
    REFUSES(MW_ERROR_DTYPE, "dtype \"int64\"", mw_cast(F(2), MW_I64));
}

static void test_matmul_shapes(void)
{
    GIVES(MW_F32, S(2, 4), mw_matmul(F(2, 3), F(3, 4), MW_TRANSPOSE_NONE));
    GIVES(MW_F32, S(2, 4), mw_matmul(F(3, 2), F(4, 3), MW_TRANSPOSE_X | MW_TRANSPOSE_Y));
    GIVES(MW_F32, S(5, 7, 2, 4), mw_matmul(F(7, 2, 3), F(5, 1, 3, 4), MW_TRANSPOSE_NONE));
    GIVES(MW_F32, S(4), mw_matmul(F(3), F(3, 4), MW_TRANSPOSE_NONE));
    REFUSES(MW_ERROR_ARGUMENT, "matmul: transposes is 4", mw_matmul(F(2, 3), F(3, 4), 4));
    GIVES(MW_F32, S(5, 2), mw_matmul(F(5, 2, 3), F(3), MW_TRANSPOSE_NONE));
    GIVES(MW_F32, mw_shape_scalar(), mw_matmul(F(3), F(3), MW_TRANSPOSE_NONE));
    GIVES(MW_I32, S(-1, 4), mw_matmul(N(-1, 3), N(3, 4), MW_TRANSPOSE_NONE));
    GIVES(MW_F32, S(2, 4), mw_matmul(F(2, -1), F(3, 4), MW_TRANSPOSE_NONE));
    GIVES(MW_F32, S(2, 4), mw_matmul(F(2, 0), F(0, 4), MW_TRANSPOSE_NONE));
}

static void test_matmul_refuses(void)
{
    REFUSES(MW_ERROR_SHAPE, "matmul: inner dimensions differ: x [128, 784] and y [512, 256]",
            mw_matmul(mw_input(g, "x", MW_F32, S(128, 784)), mw_input(g, "y", MW_F32, S(512, 256)), MW_TRANSPOSE_NONE));
    REFUSES(MW_ERROR_SHAPE, "[2, 3] transposed and y", mw_matmul(F(2, 3), F(3, 4), MW_TRANSPOSE_X));
    REFUSES(MW_ERROR_SHAPE, "batch dimensions do not broadcast", mw_matmul(F(2, 2, 3), F(3, 3, 4), MW_TRANSPOSE_NONE));
    REFUSES(MW_ERROR_SHAPE, "x has rank 1 and cannot be transposed", mw_matmul(F(3), F(3, 4), MW_TRANSPOSE_X));
    REFUSES(MW_ERROR_SHAPE, "y is a scalar", mw_matmul(F(3), SCALAR, MW_TRANSPOSE_NONE));
    REFUSES(MW_ERROR_DTYPE, "x is fp32 but y is fp16", mw_matmul(F(2, 3), H(3, 4), MW_TRANSPOSE_NONE));
    REFUSES(MW_ERROR_ARGUMENT, "transpose_x must be a constant",
            op(g, "matmul", "x", F(2, 3), "y", F(3, 4), "transpose_x", B(1), NULL));
}

static mw_tensor *weights(mw_graph *g, mw_shape shape) { return mw_constant(g, MW_F32, shape, (const float[64]){0}); }

static void test_linear_shapes(void)
{
    GIVES(MW_F32, S(2, 4), mw_linear(F(2, 3), weights(g, S(4, 3)), weights(g, S(4))));
    GIVES(MW_F32, S(5, 2, 4), mw_linear(F(5, 2, 3), weights(g, S(4, 3)), NULL));
    GIVES(MW_F32, S(4), mw_linear(F(3), weights(g, S(4, 3)), NULL));
    REFUSES(MW_ERROR_SHAPE, "[2, 5] and weight [4, 3]", mw_linear(F(2, 5), weights(g, S(4, 3)), NULL));
    REFUSES(MW_ERROR_SHAPE, "bias [3] does not fit weight [4, 3]",
            mw_linear(F(2, 3), weights(g, S(4, 3)), weights(g, S(3))));
    REFUSES(MW_ERROR_SHAPE, "weight must be [outputs, inputs]", mw_linear(F(2, 3), weights(g, S(4, 3, 1)), NULL));
    REFUSES(MW_ERROR_SHAPE, "x is a scalar", mw_linear(SCALAR, weights(g, S(4, 3)), NULL));
}

static void test_reduce_shapes(void)
{
    GIVES(MW_F32, S(2), mw_reduce_sum(F(2, 3), MW_AXES(-1), false));
    GIVES(MW_F32, S(2, 1), mw_reduce_mean(F(2, 3), MW_AXES(1), true));
    GIVES(MW_F32, mw_shape_scalar(), mw_reduce_max(F(2, 3), MW_ALL_AXES, false));
    GIVES(MW_F32, S(1, 1), mw_reduce_min(F(2, 3), MW_ALL_AXES, true));
    GIVES(MW_F32, S(3), mw_reduce_log_sum_exp(F(2, 3, 4), MW_AXES(2, 0), false));
    GIVES(MW_I32, S(-1), mw_reduce_sum(N(-1, 3), MW_AXES(1), false));
    GIVES(MW_F32, S(2), mw_reduce_sum(F(2, 0), MW_AXES(1), false));
    GIVES(MW_F32, mw_shape_scalar(), mw_reduce_sum(SCALAR, MW_ALL_AXES, false));
}

static void test_reduce_refuses(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "reduce_sum: axes 2 is outside [-2, 2)", mw_reduce_sum(F(2, 3), MW_AXES(2), false));
    REFUSES(MW_ERROR_ARGUMENT, "axes names axis 1 twice", mw_reduce_sum(F(2, 3), MW_AXES(1, -1), false));
    REFUSES(MW_ERROR_SHAPE, "axis 1 has extent 0", mw_reduce_max(F(2, 0), MW_AXES(1), false));
    REFUSES(MW_ERROR_DTYPE, "not fp16, fp32 or int32", mw_reduce_log_sum_exp(B(2), MW_ALL_AXES, false));
    REFUSES(MW_ERROR_ARGUMENT, "axes is empty", op(g, "reduce_sum", "x", F(2), "axes", ints(g, NULL, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "9 axes, at most 8", mw_reduce_sum(F(2), (mw_axes){.count = 9}, false));
    REFUSES(MW_ERROR_ARGUMENT, "axes must be a constant", op(g, "reduce_sum", "x", F(2), "axes", N(1), NULL));
    REFUSES(MW_ERROR_DTYPE, "axes is fp32, not int32", op(g, "reduce_sum", "x", F(2), "axes", F(1), NULL));
}

static void test_softmax_rejects_axis_out_of_range(void)
{
    GIVES(MW_F16, S(2, 3), mw_softmax(H(2, 3), -2));
    REFUSES(MW_ERROR_ARGUMENT, "softmax: axis 2 is outside [-2, 2)", mw_softmax(F(2, 3), 2));
    REFUSES(MW_ERROR_ARGUMENT, "axis -3", mw_softmax(F(2, 3), -3));
    REFUSES(MW_ERROR_ARGUMENT, "axis 0 is outside [0, 0)", mw_softmax(SCALAR, 0));
    REFUSES(MW_ERROR_ARGUMENT, "axis has 2 elements, at most 1 are allowed",
            op(g, "softmax", "x", F(2), "axis", INTS(0, 0), NULL));
}

static void test_reshape_shapes(void)
{
    GIVES(MW_F32, S(3, 2), mw_reshape(F(2, 3), S(3, 2)));
    GIVES(MW_F32, S(2, 12), mw_reshape(F(2, 3, 4), S(2, -1)));
    GIVES(MW_F32, S(2, 3, 4), mw_reshape(F(2, 3, 4), S(0, -1, 4)));
    GIVES(MW_F32, S(-1, 12), mw_reshape(F(-1, 12), S(0, -1)));
    GIVES(MW_F32, S(-1), mw_reshape(F(-1, 3), S(-1)));
    GIVES(MW_F32, S(2, 0, 7), mw_reshape(F(2, 0, 4), S(2, 0, 7)));
    GIVES(MW_F32, S(0, 3), mw_reshape(F(3, 0, 2), S(-1, 3)));
    GIVES(MW_F32, mw_shape_scalar(), mw_reshape(F(1, 1), mw_shape_scalar()));
    GIVES(MW_F32, S(0, 5), mw_reshape(F(0, 5), S(0, 5)));
    GIVES(MW_F32, S(-1, -1), op(g, "reshape", "x", F(2, 3), "shape", N(2), NULL));
}

static void test_reshape_refuses(void)
{
    REFUSES(MW_ERROR_SHAPE, "x \"in0\" [2, 3] does not have the elements of shape [4, 2]",
            mw_reshape(F(2, 3), S(4, 2)));
    REFUSES(MW_ERROR_SHAPE, "does not have the elements", mw_reshape(F(2, 3), S(4, -1)));
    REFUSES(MW_ERROR_ARGUMENT, "more than one -1", mw_reshape(F(2, 3), S(-1, -1)));
    REFUSES(MW_ERROR_ARGUMENT, "only -1 may be negative", mw_reshape(F(2, 3), S(-2, 3)));
    REFUSES(MW_ERROR_SHAPE, "copies an extent, but rank 1 where x has rank 2", mw_reshape(F(2, 3), S(0)));
    REFUSES(MW_ERROR_SHAPE, "rank 9 of shape", mw_reshape(F(2), (mw_shape){.rank = 9}));
    REFUSES(MW_ERROR_SHAPE, "shape must be a vector", op(g, "reshape", "x", F(2), "shape", N(1, 1), NULL));
    REFUSES(MW_ERROR_UNSUPPORTED, "the length of shape is not known",
            op(g, "reshape", "x", F(2), "shape", N(-1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "does not fit int32", mw_reshape(F(2), S(INT64_C(1) << 40)));
}

static void test_transpose(void)
{
    GIVES(MW_F32, S(4, 2, 3), mw_transpose(F(2, 3, 4), MW_AXES(2, 0, 1)));
    GIVES(MW_I32, S(3, 2), mw_transpose(N(2, 3), MW_AXES(-1, -2)));
    GIVES(MW_F32, S(3, -1), mw_transpose(F(-1, 3), MW_AXES(1, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "perm has 1 axes, x has rank 2", mw_transpose(F(2, 3), MW_AXES(0)));
    REFUSES(MW_ERROR_ARGUMENT, "perm names axis 0 twice", mw_transpose(F(2, 3), MW_AXES(0, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "perm 2 is outside", mw_transpose(F(2, 3), MW_AXES(0, 2)));
}

static void test_expand_dims_and_squeeze(void)
{
    GIVES(MW_F32, S(1, 2, 1, 3), mw_expand_dims(F(2, 3), MW_AXES(2, 0)));
    GIVES(MW_F32, S(2, 3, 1), mw_expand_dims(F(2, 3), MW_AXES(-1)));
    GIVES(MW_F32, S(2), mw_squeeze(F(1, 2, 1), MW_ALL_AXES));
    GIVES(MW_F32, S(2, 3), mw_squeeze(F(2, 1, 3), MW_AXES(1, 0)));
    GIVES(MW_F32, S(-1), mw_squeeze(F(-1, 1), MW_ALL_AXES));
    GIVES(MW_F32, mw_shape_scalar(), mw_squeeze(F(1), MW_AXES(-1)));
    REFUSES(MW_ERROR_ARGUMENT, "axes is empty", mw_expand_dims(F(2), MW_ALL_AXES));
    REFUSES(MW_ERROR_ARGUMENT, "axes 2 is outside [-2, 2)", mw_expand_dims(F(2), MW_AXES(2)));
    REFUSES(MW_ERROR_ARGUMENT, "twice", mw_expand_dims(F(2), MW_AXES(0, -3)));
    REFUSES(MW_ERROR_SHAPE, "exceed rank 8", mw_expand_dims(F(1, 1, 1, 1, 1, 1, 1, 1), MW_AXES(0)));
    REFUSES(MW_ERROR_ARGUMENT, "squeeze: axes 1 is outside", mw_squeeze(F(1), MW_AXES(1)));
}

static mw_tensor *join(mw_graph *g, mw_tensor *a, mw_tensor *b, int axis)
{
    (void)g;
    return mw_concat((mw_tensor *const[]){a, b}, 2, axis);
}

static mw_tensor *interleave(mw_graph *g, mw_tensor *a, mw_tensor *b, int axis)
{
    mw_tensor *values[] = {a, b}, *result;
    mw_tensor *flag = mw_scalar(g, MW_BOOL, 1), *number = one(g, axis);
    const mw_argument arguments[] = {{"values", values, 2}, {"axis", &number, 1}, {"interleave", &flag, 1}};
    return mw_op(g, "concat", arguments, 3, &result, 1, NULL) == MW_OK ? result : NULL;
}

static void test_concat(void)
{
    GIVES(MW_F32, S(2, 7), join(g, F(2, 3), F(2, 4), -1));
    GIVES(MW_F32, S(-1, 3), join(g, F(-1, 3), F(2, 3), 0));
    GIVES(MW_F32, S(2, 7), join(g, F(-1, 3), F(2, 4), 1));
    GIVES(MW_F32, S(2, 3), join(g, F(0, 3), F(2, 3), 0));
    GIVES(MW_F32, S(2, 6), interleave(g, F(2, 3), F(2, 3), 1));
    REFUSES(MW_ERROR_SHAPE, "values[1] [3, 4] does not fit values[0] [2, 3]", join(g, F(2, 3), F(3, 4), 1));
    REFUSES(MW_ERROR_SHAPE, "values[1]", join(g, F(2, 3), F(2), 0));
    REFUSES(MW_ERROR_DTYPE, "values[0] is fp32 but values[1] is fp16", join(g, F(2), H(2), 0));
    REFUSES(MW_ERROR_ARGUMENT, "axis 2 is outside", join(g, F(2, 3), F(2, 3), 2));
    GIVES(MW_F32, S(2), join(g, SCALAR, SCALAR, 0));
    REFUSES(MW_ERROR_SHAPE, "values[0] is a scalar, but values[1] has rank 1", join(g, SCALAR, F(2), 0));
    REFUSES(MW_ERROR_SHAPE, "interleave wants equal shapes", interleave(g, F(2, 3), F(2, 4), 1));
}

static mw_tensor *part(mw_tensor *x, const int64_t *sizes, size_t count, int axis, size_t index)
{
    mw_tensor *parts[1000];
    const mw_status status =
        sizes != NULL ? mw_split_sizes(x, sizes, count, axis, parts) : mw_split(x, count, axis, parts);
    return status == MW_OK ? parts[index] : NULL;
}

static void test_split(void)
{
    static const int64_t sizes[] = {1, 0, 3};
    GIVES(MW_F32, S(2, 2), part(F(2, 6), NULL, 3, 1, 2));
    GIVES(MW_F32, S(2, 3), part(F(2, 4), sizes, 3, -1, 2));
    GIVES(MW_F32, S(2, 0), part(F(2, 4), sizes, 3, -1, 1));
    GIVES(MW_F32, S(-1, 2), part(F(-1, 2), NULL, 2, 0, 1));
    REFUSES(MW_ERROR_SHAPE, "4 equal parts of the extent 6 do not exist", part(F(2, 6), NULL, 4, 1, 0));
    REFUSES(MW_ERROR_SHAPE, "split_sizes sum to 4, the extent is 5", part(F(5), sizes, 3, 0, 0));
    REFUSES(MW_ERROR_ARGUMENT, "split_sizes[0] is -1", part(F(5), (const int64_t[]){-1, 6}, 2, 0, 0));
    GIVES(MW_F32, S(1, 2), part(F(1000, 2), NULL, 1000, 0, 999));
    REFUSES(MW_ERROR_ARGUMENT, "split: 0 parts; at least 1 is wanted", part(F(65), NULL, 0, 0, 0));
    REFUSES(MW_ERROR_ARGUMENT, "axis 1 is outside", part(F(4), NULL, 2, 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "either num_splits or split_sizes", op(g, "split", "x", F(4), "axis", one(g, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "num_splits 0 must be at least 1",
            op(g, "split", "x", F(4), "axis", one(g, 0), "num_splits", one(g, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "num_splits is 3 but split_sizes has 2",
            op(g, "split", "x", F(4), "axis", one(g, 0), "num_splits", one(g, 3), "split_sizes", INTS(2, 2), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "has 2 results, room is given for 1",
            op(g, "split", "x", F(4), "axis", one(g, 0), "num_splits", one(g, 2), NULL));
}

static mw_tensor *slice1(mw_tensor *x, mw_slice slice) { return mw_slice_by_index(x, &slice); }

/* Expected lengths: Python's len(range(n)[b:e:s]). */
static void test_slice_by_index_follows_python(void)
{
    GIVES(MW_F32, S(3), slice1(F(10), (mw_slice){.begin = 2, .end = 5}));
    GIVES(MW_F32, S(2), slice1(F(10), (mw_slice){.begin = 2, .end = 5, .stride = 2}));
    GIVES(MW_F32, S(3), slice1(F(10), (mw_slice){.begin = -3, .to_end = true}));
    GIVES(MW_F32, S(8), slice1(F(10), (mw_slice){.from_start = true, .end = -2}));
    GIVES(MW_F32, S(8), slice1(F(10), (mw_slice){.begin = 2, .end = 100}));
    GIVES(MW_F32, S(0), slice1(F(10), (mw_slice){.begin = 5, .end = 5}));
    GIVES(MW_F32, S(0), slice1(F(10), (mw_slice){.begin = 5, .end = -8}));
    GIVES(MW_F32, S(10), slice1(F(10), (mw_slice){.from_start = true, .to_end = true, .stride = -1}));
    GIVES(MW_F32, S(4), slice1(F(10), (mw_slice){.begin = 8, .end = 1, .stride = -2}));
    GIVES(MW_F32, S(4), slice1(F(10), (mw_slice){.from_start = true, .end = 5, .stride = -1}));
    GIVES(MW_F32, S(6), slice1(F(10), (mw_slice){.begin = 5, .to_end = true, .stride = -1}));
    GIVES(MW_F32, S(4), slice1(F(10), (mw_slice){.from_start = true, .to_end = true, .stride = 3}));
    GIVES(MW_F32, mw_shape_scalar(), slice1(F(10), (mw_slice){.begin = -1, .squeeze = true}));
    GIVES(MW_F32, S(-1), slice1(F(-1), (mw_slice){.begin = 1, .end = 3}));
    GIVES(MW_F32, S(3),
          mw_slice_by_index(F(2, 3),
                            (const mw_slice[]){{.begin = 1, .squeeze = true}, {.from_start = true, .to_end = true}}));
    GIVES(MW_F32, S(-1, 3),
          op(g, "slice_by_index", "x", F(2, 3), "begin", N(2), "end", N(2), "end_mask",
             mw_constant(g, MW_BOOL, S(2), (const char[]){0, 1}), "begin_mask",
             mw_constant(g, MW_BOOL, S(2), (const char[]){0, 1}), NULL));
}

static void test_slice_by_index_refuses(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "end[0] 2 is before begin 5", slice1(F(10), (mw_slice){.begin = 5, .end = 2}));
    REFUSES(MW_ERROR_ARGUMENT, "begin[0] 10 is squeezed but outside the extent 10",
            slice1(F(10), (mw_slice){.begin = 10, .squeeze = true}));
    REFUSES(MW_ERROR_SHAPE, "slice_by_index: axis 0 has extent 0: there is no element to squeeze it to",
            slice1(F(0), (mw_slice){.squeeze = true}));
    REFUSES(MW_ERROR_SHAPE, "slice_by_index: axis 0 has extent 0",
            op(g, "slice_by_index", "x", F(0, 3), "begin", N(2), "end", N(2), "squeeze_mask",
               mw_constant(g, MW_BOOL, S(2), (const char[]){1, 0}), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "slices is NULL", mw_slice_by_index(F(10), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "begin has 1 elements, x has rank 2",
            op(g, "slice_by_index", "x", F(2, 3), "begin", INTS(0), "end", INTS(1, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "stride[0] is 0",
            op(g, "slice_by_index", "x", F(2), "begin", INTS(0), "end", INTS(1), "stride", INTS(0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "end_mask has 2 elements",
            op(g, "slice_by_index", "x", F(2), "begin", INTS(0), "end", INTS(1), "end_mask",
               mw_constant(g, MW_BOOL, S(2), "\1\1"), NULL));
}

static mw_tensor *sized(mw_tensor *x, int64_t begin, int64_t size) { return mw_slice_by_size(x, &begin, &size); }

static void test_slice_by_size(void)
{
    GIVES(MW_F32, S(3), sized(F(10), 7, 3));
    GIVES(MW_F32, S(2), sized(F(10), -2, -1));
    GIVES(MW_F32, S(0), sized(F(10), 10, 0));
    GIVES(MW_F32, S(4), sized(F(-1), 2, 4));
    GIVES(MW_F32, S(4), op(g, "slice_by_size", "x", F(10), "begin", N(1), "size", INTS(4), NULL));
    GIVES(MW_F32, S(-1), op(g, "slice_by_size", "x", F(10), "begin", INTS(1), "size", N(1), NULL));
    REFUSES(MW_ERROR_SHAPE, "axis 0: 4 elements from 7 leave the extent 10", sized(F(10), 7, 4));
    REFUSES(MW_ERROR_SHAPE, "from -11 leave", sized(F(10), -11, 1));
    REFUSES(MW_ERROR_ARGUMENT, "size[0] is -2", sized(F(10), 0, -2));
    REFUSES(MW_ERROR_SHAPE, "size[0] 11 exceeds",
            op(g, "slice_by_size", "x", F(10), "begin", N(1), "size", INTS(11), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "begin or size is NULL", mw_slice_by_size(F(10), NULL, NULL));
}

static void test_tile(void)
{
    GIVES(MW_I32, S(4, 9), mw_tile(N(2, 3), S(2, 3)));
    GIVES(MW_F32, S(-1, 3), mw_tile(F(-1, 3), S(2, 1)));
    GIVES(MW_F32, S(-1, -1), op(g, "tile", "x", F(2, 3), "reps", N(2), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "reps has 3 elements", op(g, "tile", "x", F(2, 3), "reps", N(3), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "reps[1] 0 must be positive", mw_tile(F(2, 3), S(1, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "reps has 1 elements", mw_tile(F(2, 3), S(2)));
    REFUSES(MW_ERROR_SHAPE, "exceeds 2^63", mw_tile(F(INT64_C(1) << 62), S(4)));
}

static mw_tensor *bordered(mw_tensor *x, int64_t before, int64_t after, mw_pad_mode mode)
{
    return mw_pad(x, (const int64_t[]){before, after}, 1, mode, 0);
}

static void test_pad(void)
{
    GIVES(MW_F32, S(2, 6), bordered(F(2, 3), 1, 2, MW_PAD_CONSTANT));
    GIVES(MW_F16, S(5, 4), mw_pad(H(2, 3), (const int64_t[]){1, 2, 0, 1}, 2, MW_PAD_CONSTANT, 1));
    GIVES(MW_F32, S(7), bordered(F(3), 2, 2, MW_PAD_REFLECT));
    GIVES(MW_F32, S(9), bordered(F(3), 3, 3, MW_PAD_REPLICATE));
    GIVES(MW_F32, S(-1), bordered(F(-1), 5, 0, MW_PAD_REFLECT));
    GIVES(MW_F32, S(-1, -1), op(g, "pad", "x", F(2, 3), "pad", N(4), NULL));
    REFUSES(MW_ERROR_SHAPE, "axis 0: pad 3 exceeds 2, the most that reflect can do with extent 3",
            bordered(F(3), 0, 3, MW_PAD_REFLECT));
    REFUSES(MW_ERROR_SHAPE, "pad 4 exceeds 3", bordered(F(3), 4, 0, MW_PAD_REPLICATE));
    REFUSES(MW_ERROR_ARGUMENT, "pad -1 is negative", bordered(F(3), -1, 0, MW_PAD_CONSTANT));
    REFUSES(MW_ERROR_DTYPE, "x is int32", bordered(N(3), 1, 0, MW_PAD_CONSTANT));
    REFUSES(MW_ERROR_ARGUMENT, "2 axes is outside [1, 1]", mw_pad(F(3), (const int64_t[4]){0}, 2, MW_PAD_CONSTANT, 0));
    REFUSES(MW_ERROR_ARGUMENT, "mode 9", bordered(F(3), 0, 0, (mw_pad_mode)9));
    REFUSES(MW_ERROR_ARGUMENT, "mode \"wrap\" is none",
            op(g, "pad", "x", F(3), "pad", INTS(1, 1), "mode", mw_text(g, "wrap"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "pad has 3 numbers", op(g, "pad", "x", F(3, 3), "pad", INTS(1, 1, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "for every axis as they are computed", op(g, "pad", "x", F(3, 3), "pad", N(2), NULL));
}

static void test_fill_and_range(void)
{
    GIVES(MW_F16, S(2, 0), mw_fill(g, MW_F16, S(2, 0), 1));
    GIVES(MW_BOOL, mw_shape_scalar(), mw_fill(g, MW_BOOL, mw_shape_scalar(), 1));
    GIVES(MW_F32, S(2), op(g, "fill", "shape", INTS(2), NULL));
    GIVES(MW_F32, S(-1, -1), op(g, "fill", "shape", N(2), NULL));
    REFUSES(MW_ERROR_SHAPE, "shape[0] is -1", mw_fill(g, MW_F32, S(-1), 1));
    REFUSES(MW_ERROR_SHAPE, "value must be a scalar", op(g, "fill", "shape", INTS(2), "value", INTS(1, 2), NULL));
    GIVES(MW_I32, S(4), mw_range_1d(g, MW_I32, 0, 10, 3));
    GIVES(MW_F32, S(5), mw_range_1d(g, MW_F32, 1, 0, -0.2));
    GIVES(MW_I32, S(0), mw_range_1d(g, MW_I32, 5, 0, 1));
    GIVES(MW_I32, S(-1), op(g, "range_1d", "start", one(g, 0), "end", SCALARI, "step", one(g, 1), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "step is 0", mw_range_1d(g, MW_I32, 0, 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "too many elements", mw_range_1d(g, MW_F32, 0, 1e20, 1e-5));
    REFUSES(MW_ERROR_DTYPE, "is bool, not fp16, fp32 or int32", mw_range_1d(g, MW_BOOL, 0, 1, 1));
    REFUSES(MW_ERROR_SHAPE, "end must be a scalar",
            op(g, "range_1d", "start", one(g, 0), "end", N(2), "step", one(g, 1), NULL));
}

static void test_one_hot(void)
{
    GIVES(MW_F32, S(5, 10), mw_one_hot(N(5), 10, -1, MW_F32, 1, 0));
    GIVES(MW_F16, S(10, 5), mw_one_hot(N(5), 10, 0, MW_F16, 1, 0));
    GIVES(MW_F32, S(-1, 10), mw_one_hot(N(-1), 10, 1, MW_F32, 1, 0));
    GIVES(MW_I32, S(5, 3), op(g, "one_hot", "indices", N(5), "one_hot_vector_size", one(g, 3), NULL));
    GIVES(MW_I32, S(5, -1), op(g, "one_hot", "indices", N(5), "one_hot_vector_size", SCALARI, NULL));
    REFUSES(MW_ERROR_ARGUMENT, "one_hot_vector_size must be one integer",
            op(g, "one_hot", "indices", N(5), "one_hot_vector_size", ints(g, NULL, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "axis 2 is outside [-2, 2)", mw_one_hot(N(5), 10, 2, MW_F32, 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "one_hot_vector_size 0", mw_one_hot(N(5), 0, -1, MW_F32, 1, 0));
    REFUSES(MW_ERROR_DTYPE, "indices is fp32", mw_one_hot(F(5), 10, -1, MW_F32, 1, 0));
    REFUSES(MW_ERROR_SHAPE, "exceed rank 8", mw_one_hot(N(1, 1, 1, 1, 1, 1, 1, 1), 2, 0, MW_F32, 1, 0));
}

static mw_tensor *take(mw_graph *g, mw_tensor *x, mw_tensor *indices, int axis, int batch)
{
    return op(g, "gather", "x", x, "indices", indices, "axis", one(g, axis), "batch_dims", one(g, batch), NULL);
}

static void test_gather(void)
{
    GIVES(MW_F32, S(2, 5, 3), mw_gather(F(10, 3), N(2, 5), 0));
    GIVES(MW_F32, S(10), mw_gather(F(10, 3), SCALARI, -1));
    GIVES_IN(MW_IOS15, MW_F32, S(2, 3), mw_gather(F(10, 3), N(2), 0));
    GIVES(MW_F32, S(4, 5, 7), take(g, F(4, 10, 7), N(4, 5), 1, 1));
    GIVES(MW_F32, S(-1, 3), mw_gather(F(10, 3), N(-1), 0));
    REFUSES(MW_ERROR_ARGUMENT, "axis 2 is outside", mw_gather(F(10, 3), N(2), 2));
    REFUSES(MW_ERROR_DTYPE, "indices is fp32", mw_gather(F(10, 3), F(2), 0));
    REFUSES(MW_ERROR_ARGUMENT, "batch_dims 2 must be", take(g, F(4, 10, 7), N(4, 5), 1, 2));
    REFUSES(MW_ERROR_ARGUMENT, "batch_dims -1 must be", take(g, F(4, 10, 7), N(4, 5), 1, -1));
    REFUSES(MW_ERROR_SHAPE, "batch axis 0 differs: x has 4, indices 3", take(g, F(4, 10, 7), N(3, 5), 1, 1));
    REFUSES(MW_ERROR_SHAPE, "exceed rank 8", mw_gather(F(1, 1, 1, 1, 1), N(1, 1, 1, 1, 1), 0));
    REFUSES_IN(MW_IOS15, MW_ERROR_ARGUMENT, "has no argument \"batch_dims\"; it takes axis, indices, x",
               take(g, F(4), N(2), 0, 0));
}

static void test_gather_constant_indices_by_opset(void)
{
    GIVES_IN(MW_IOS16, MW_F32, S(2), mw_gather(F(3), INTS(-3, 2), 0));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "index -4 is outside [-3, 3)", mw_gather(F(3), INTS(-4), 0));
    GIVES_IN(MW_IOS17, MW_F32, S(1), mw_gather(F(3), INTS(-1), 0)); /* not validated: undefined, but legal text */
    REFUSES_IN(MW_IOS17, MW_ERROR_ARGUMENT, "index -1 is outside [0, 3)",
               op(g, "gather", "x", F(3), "indices", INTS(-1), "validate_indices", mw_scalar(g, MW_BOOL, 1), NULL));
}

int main(void)
{
    RUN(test_binary_broadcasts);
    RUN(test_binary_refuses);
    RUN(test_scalar_conveniences);
    RUN(test_unary_keeps_type_and_shape);
    RUN(test_gelu_modes);
    RUN(test_clip_bounds);
    RUN(test_cast_by_opset);
    RUN(test_matmul_shapes);
    RUN(test_matmul_refuses);
    RUN(test_linear_shapes);
    RUN(test_reduce_shapes);
    RUN(test_reduce_refuses);
    RUN(test_softmax_rejects_axis_out_of_range);
    RUN(test_reshape_shapes);
    RUN(test_reshape_refuses);
    RUN(test_transpose);
    RUN(test_expand_dims_and_squeeze);
    RUN(test_concat);
    RUN(test_split);
    RUN(test_slice_by_index_follows_python);
    RUN(test_slice_by_index_refuses);
    RUN(test_slice_by_size);
    RUN(test_tile);
    RUN(test_pad);
    RUN(test_fill_and_range);
    RUN(test_one_hot);
    RUN(test_gather);
    RUN(test_gather_constant_indices_by_opset);
    return check_finish();
}
