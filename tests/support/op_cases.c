/* The operation cases. To cover a new row: one builder if none fits, one line in the table. */
#include "support/op_cases.h"
#include "base/fp16.h"
#include "base/random.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

/* ---- builders ---- */

#define UNARY(name)                                                                                                    \
    static mw_tensor *b_##name(mw_tensor *const *in) { return mw_##name(in[0]); }
#define BINARY(name)                                                                                                   \
    static mw_tensor *b_##name(mw_tensor *const *in) { return mw_##name(in[0], in[1]); }
#define BUILD(name, expression)                                                                                        \
    static mw_tensor *b_##name(mw_tensor *const *in) { return (expression); }

/* clang-format off */
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(real_div)
BINARY(floor_div)
BINARY(maximum)
BINARY(minimum)
BINARY(pow)
BINARY(equal)
BINARY(not_equal)
BINARY(less)
BINARY(less_equal)
BINARY(greater)
BINARY(greater_equal)
UNARY(abs)
UNARY(sign)
UNARY(square)
UNARY(sqrt)
UNARY(exp)
UNARY(erf)
UNARY(tanh)
UNARY(sigmoid)
UNARY(relu)
UNARY(silu)
UNARY(identity)
UNARY(logical_not)
BUILD(rsqrt, mw_rsqrt(in[0], 1e-3f))
BUILD(inverse, mw_inverse(in[0], 1e-2f))
BUILD(log, mw_log(in[0], 1e-3f))
BUILD(gelu_exact, mw_gelu(in[0], MW_GELU_EXACT))
BUILD(gelu_tanh, mw_gelu(in[0], MW_GELU_TANH))
BUILD(gelu_sigmoid, mw_gelu(in[0], MW_GELU_SIGMOID))
BUILD(clip, mw_clip(in[0], -0.5f, 0.75f))
BUILD(cast_int, mw_cast(in[0], MW_I32))
BUILD(cast_half, mw_cast(mw_cast(in[0], MW_F16), MW_F32))
BUILD(cast_bool, mw_cast(in[0], MW_BOOL))
BUILD(constant, mw_add(in[0], mw_scalar(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), 0.5)))
BUILD(select, mw_select(in[2], in[0], in[1]))
BUILD(matmul, mw_matmul(in[0], in[1], false, false))
BUILD(matmul_tx, mw_matmul(in[0], in[1], true, false))
BUILD(matmul_ty, mw_matmul(in[0], in[1], false, true))
BUILD(matmul_txy, mw_matmul(in[0], in[1], true, true))
BUILD(reduce_sum, mw_reduce_sum(in[0], MW_AXES(-1), false))
BUILD(reduce_sum_first, mw_reduce_sum(in[0], MW_AXES(0), true))
BUILD(reduce_sum_middle, mw_reduce_sum(in[0], MW_AXES(1), false))
BUILD(reduce_sum_outer, mw_reduce_sum(in[0], MW_AXES(0, 2), false))
BUILD(reduce_sum_all, mw_reduce_sum(in[0], MW_ALL_AXES, false))
BUILD(reduce_mean, mw_reduce_mean(in[0], MW_AXES(1), true))
BUILD(reduce_max, mw_reduce_max(in[0], MW_AXES(-1), false))
BUILD(reduce_max_first, mw_reduce_max(in[0], MW_AXES(0), false))
BUILD(reduce_min, mw_reduce_min(in[0], MW_AXES(0, 1), true))
BUILD(reduce_lse, mw_reduce_log_sum_exp(in[0], MW_AXES(-1), false))
BUILD(reduce_lse_first, mw_reduce_log_sum_exp(in[0], MW_AXES(0), true))
BUILD(softmax, mw_softmax(in[0], -1))
BUILD(softmax_first, mw_softmax(in[0], 0))
BUILD(reshape, mw_reshape(in[0], MW_SHAPE(5, -1)))
BUILD(transpose, mw_transpose(in[0], MW_AXES(1, 0)))
BUILD(transpose_3, mw_transpose(in[0], MW_AXES(2, 0, -2)))
BUILD(expand_dims, mw_expand_dims(in[0], MW_AXES(0, -1)))
BUILD(squeeze, mw_squeeze(in[0], MW_AXES(1)))
BUILD(squeeze_all, mw_squeeze(in[0], MW_ALL_AXES))
BUILD(concat, mw_concat(in, 3, 1))
BUILD(slice_by_size, mw_slice_by_size(in[0], (const int64_t[]){1, -3}, (const int64_t[]){2, 2}))
BUILD(tile, mw_tile(in[0], MW_SHAPE(2, 1, 3)))
BUILD(pad, mw_pad(in[0], (const int64_t[]){1, 2, 0, 3}, 2, MW_PAD_CONSTANT, 0.25f))
BUILD(pad_last, mw_pad(in[0], (const int64_t[]){2, 1}, 1, MW_PAD_CONSTANT, 0.0f))
BUILD(pad_reflect, mw_pad(in[0], (const int64_t[]){2, 3}, 1, MW_PAD_REFLECT, 0.0f))
BUILD(pad_replicate, mw_pad(in[0], (const int64_t[]){1, 1, 2, 3}, 2, MW_PAD_REPLICATE, 0.0f))
BUILD(fill, mw_add(in[0], mw_fill(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), MW_SHAPE(3, 1), 1.5)))
BUILD(range, mw_mul(in[0], mw_range_1d(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), 1.0, 9.0, 2.0)))
BUILD(one_hot, mw_mul(in[1], mw_one_hot(in[0], 5, -1, mw_tensor_dtype(in[1]), 2.0, -1.0)))
BUILD(one_hot_first, mw_mul(in[1], mw_one_hot(in[0], 5, 0, mw_tensor_dtype(in[1]), 1.0, 0.0)))
BUILD(gather, mw_gather(in[0], in[1], 1))
BUILD(gather_rows, mw_gather(in[0], in[1], 0))
/* clang-format on */

static mw_tensor *b_linear(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    static const float weight[12] = {0.5f, -1.0f, 0.25f, 2.0f, 0.75f, -0.5f, 1.5f, -0.125f, 1.0f, 0.0f, -2.0f, 0.5f};
    static const uint16_t weight_16[12] = {0x3800, 0xbc00, 0x3400, 0x4000, 0x3a00, 0xb800,
                                           0x3e00, 0xb000, 0x3c00, 0x0000, 0xc000, 0x3800};
    static const float bias[3] = {1.0f, -0.5f, 0.25f};
    static const uint16_t bias_16[3] = {0x3c00, 0xb800, 0x3400};
    mw_dtype real = mw_tensor_dtype(in[0]);
    bool half = real == MW_F16;
    mw_tensor *w = mw_constant(graph, real, MW_SHAPE(3, 4), half ? (const void *)weight_16 : weight);
    return mw_linear(in[0], w, mw_constant(graph, real, MW_SHAPE(3), half ? (const void *)bias_16 : bias));
}

/* Both parts count, differently, so that each has its own cotangent. */
static mw_tensor *b_split(mw_tensor *const *in)
{
    mw_tensor *parts[2];
    if (mw_split_sizes(in[0], (const int64_t[]){2, 3}, 2, 1, parts) != MW_OK)
        return NULL;
    return mw_concat((mw_tensor *const[]){mw_mul_scalar(parts[1], 2.0), parts[0]}, 2, 1);
}

static mw_tensor *b_split_even(mw_tensor *const *in)
{
    mw_tensor *parts[3];
    return mw_split(in[0], 3, 0, parts) == MW_OK ? mw_mul(parts[0], parts[2]) : NULL;
}

static mw_tensor *b_slice(mw_tensor *const *in)
{
    const mw_slice slices[3] = {{.begin = 1, .end = 4, .stride = 1},
                                {.begin = 5, .end = 0, .stride = -2},
                                {.begin = 1, .end = 9, .stride = 3, .to_end = true}};
    return mw_slice_by_index(in[0], slices);
}

static mw_tensor *b_slice_squeeze(mw_tensor *const *in)
{
    const mw_slice slices[3] = {{.begin = -1, .squeeze = true},
                                {.stride = -1, .from_start = true, .to_end = true},
                                {.begin = -4, .end = -1, .stride = 1}};
    return mw_slice_by_index(in[0], slices);
}

static mw_tensor *b_concat_interleave(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    mw_tensor *axis = mw_scalar(graph, MW_I32, 1), *interleave = mw_scalar(graph, MW_BOOL, 1), *y = NULL;
    const mw_argument arguments[] = {{"axis", &axis, 1}, {"interleave", &interleave, 1}, {"values", in, 2}};
    mw_op(graph, "concat", arguments, 3, &y, 1, NULL);
    return y;
}

static mw_tensor *b_gather_batch(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    mw_tensor *axis = mw_scalar(graph, MW_I32, 2), *batch = mw_scalar(graph, MW_I32, 1), *y = NULL;
    const mw_argument arguments[] = {
        {"axis", &axis, 1}, {"batch_dims", &batch, 1}, {"indices", &in[1], 1}, {"x", &in[0], 1}};
    mw_op(graph, "gather", arguments, 4, &y, 1, NULL);
    return y;
}

/* ---- the table ---- */

#define F(r, low, high, ...)                                                                                           \
    {                                                                                                                  \
        MW_F32, {r, {__VA_ARGS__}}, low, high                                                                          \
    }
#define I(r, low, high, ...)                                                                                           \
    {                                                                                                                  \
        MW_I32, {r, {__VA_ARGS__}}, low, high                                                                          \
    }
#define B(r, ...)                                                                                                      \
    {                                                                                                                  \
        MW_BOOL, {r, {__VA_ARGS__}}, 0, 2                                                                              \
    }
/* The kernel's result is the correctly rounded one, or off by a stated number of units for a stated reason. */
#define EXACT(name, detail, build, ...)                                                                                \
    {                                                                                                                  \
        name, detail, build, {__VA_ARGS__}, 1.0, 0.0, ""                                                               \
    }
#define LOOSE(name, detail, build, ulps, magnitude, reason, ...)                                                       \
    {                                                                                                                  \
        name, detail, build, {__VA_ARGS__}, ulps, magnitude, reason                                                    \
    }
#define LIBM "a transcendental function of at most 4 ulp"
#define SUM  "a sum in another order"

/* clang-format off */
const op_case op_cases[] = {
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
    EXACT("maximum", "", b_maximum, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("minimum", "", b_minimum, F(2, -2, 2, 5, 7), F(1, -2, 2, 7)),
    LOOSE("pow", "", b_pow, 8, 0, LIBM, F(2, 0.2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("equal", "int32", b_equal, I(2, 0, 3, 5, 7), I(1, 0, 3, 7)),
    EXACT("not_equal", "int32", b_not_equal, I(2, 0, 3, 5, 7), I(1, 0, 3, 7)),
    EXACT("less", "", b_less, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7)),
    EXACT("less_equal", "int32", b_less_equal, I(2, 0, 3, 5, 7), I(2, 0, 3, 5, 7)),
    EXACT("greater", "", b_greater, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 1)),
    EXACT("greater_equal", "int32", b_greater_equal, I(2, 0, 3, 5, 7), I(2, 0, 3, 5, 7)),
    EXACT("logical_not", "", b_logical_not, B(2, 5, 7)),
    EXACT("select", "", b_select, F(2, -2, 2, 5, 7), F(2, -2, 2, 5, 7), B(2, 5, 7)),
    EXACT("select", "broadcast", b_select, F(2, -2, 2, 5, 7), F(0, -2, 2, 0), B(2, 5, 1)),
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
    LOOSE("sigmoid", "", b_sigmoid, 4, 0, LIBM, F(2, -6, 6, 5, 7)),
    EXACT("relu", "", b_relu, F(2, -2, 2, 5, 7)),
    LOOSE("silu", "", b_silu, 6, 0, LIBM, F(2, -5, 5, 5, 7)),
    LOOSE("gelu", "exact", b_gelu_exact, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    LOOSE("gelu", "tanh", b_gelu_tanh, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    LOOSE("gelu", "sigmoid", b_gelu_sigmoid, 8, 1, LIBM, F(2, -3, 3, 15, 37)),
    EXACT("clip", "", b_clip, F(2, -2, 2, 5, 7)),
    EXACT("cast", "to int32", b_cast_int, F(2, -9, 9, 5, 7)),
    LOOSE("cast", "to fp16 and back", b_cast_half, 8192, 0, "rounded to 11 bits on the way", F(2, -2, 2, 5, 7)),
    EXACT("cast", "to bool", b_cast_bool, I(2, 0, 2, 5, 7)),
    LOOSE("matmul", "", b_matmul, 16, 4, SUM, F(2, -1, 1, 5, 7), F(2, -1, 1, 7, 3)),
    LOOSE("matmul", "transposed x", b_matmul_tx, 16, 4, SUM, F(2, -1, 1, 7, 5), F(2, -1, 1, 7, 3)),
    LOOSE("matmul", "transposed y", b_matmul_ty, 16, 4, SUM, F(2, -1, 1, 5, 7), F(2, -1, 1, 3, 7)),
    LOOSE("matmul", "both transposed", b_matmul_txy, 16, 4, SUM, F(2, -1, 1, 7, 5), F(2, -1, 1, 3, 7)),
    LOOSE("matmul", "batch", b_matmul, 16, 4, SUM, F(3, -1, 1, 2, 5, 7), F(3, -1, 1, 2, 7, 3)),
    LOOSE("matmul", "batch broadcast", b_matmul_ty, 16, 4, SUM, F(4, -1, 1, 2, 1, 5, 7), F(3, -1, 1, 3, 4, 7)),
    LOOSE("matmul", "rank 1 x", b_matmul, 16, 4, SUM, F(1, -1, 1, 7), F(3, -1, 1, 2, 7, 3)),
    LOOSE("matmul", "rank 1 y", b_matmul, 16, 4, SUM, F(3, -1, 1, 2, 5, 7), F(1, -1, 1, 7)),
    LOOSE("matmul", "dot", b_matmul, 16, 4, SUM, F(1, -1, 1, 7), F(1, -1, 1, 7)),
    LOOSE("matmul", "large", b_matmul, 64, 12, SUM, F(2, -1, 1, 37, 130), F(2, -1, 1, 130, 65)),
    EXACT("matmul", "int32", b_matmul, I(2, -9, 9, 5, 7), I(2, -9, 9, 7, 3)),
    LOOSE("linear", "", b_linear, 16, 4, SUM, F(2, -1, 1, 6, 4)),
    LOOSE("linear", "rank 3", b_linear, 16, 4, SUM, F(3, -1, 1, 2, 3, 4)),
    LOOSE("reduce_sum", "last", b_reduce_sum, 64, 8, SUM, F(2, -1, 1, 5, 70)),
    LOOSE("reduce_sum", "first", b_reduce_sum_first, 64, 8, SUM, F(2, -1, 1, 70, 33)),
    LOOSE("reduce_sum", "middle", b_reduce_sum_middle, 16, 4, SUM, F(3, -1, 1, 3, 9, 5)),
    LOOSE("reduce_sum", "outer", b_reduce_sum_outer, 16, 4, SUM, F(3, -1, 1, 4, 3, 5)),
    LOOSE("reduce_sum", "all", b_reduce_sum_all, 128, 16, SUM, F(2, -1, 1, 40, 30)),
    EXACT("reduce_sum", "int32", b_reduce_sum, I(2, -9, 9, 5, 7)),
    LOOSE("reduce_mean", "", b_reduce_mean, 16, 1, SUM, F(3, -1, 1, 3, 9, 5)),
    EXACT("reduce_max", "", b_reduce_max, F(2, -1, 1, 5, 70)),
    EXACT("reduce_max", "first", b_reduce_max_first, F(2, -1, 1, 9, 7)),
    EXACT("reduce_min", "", b_reduce_min, F(3, -1, 1, 3, 4, 5)),
    LOOSE("reduce_log_sum_exp", "", b_reduce_lse, 8, 4, LIBM, F(2, -9, 9, 5, 7)),
    LOOSE("reduce_log_sum_exp", "first", b_reduce_lse_first, 8, 4, LIBM, F(2, -3, 3, 9, 7)),
    LOOSE("softmax", "", b_softmax, 16, 0, LIBM, F(2, -4, 4, 5, 17)),
    LOOSE("softmax", "first axis", b_softmax_first, 16, 0, LIBM, F(3, -4, 4, 5, 3, 2)),
    EXACT("identity", "", b_identity, F(2, -2, 2, 5, 7)),
    EXACT("reshape", "", b_reshape, F(2, -2, 2, 10, 3)),
    EXACT("transpose", "", b_transpose, F(2, -2, 2, 13, 70)),
    EXACT("transpose", "rank 3", b_transpose_3, F(3, -2, 2, 3, 4, 5)),
    EXACT("expand_dims", "", b_expand_dims, F(2, -2, 2, 5, 7)),
    EXACT("squeeze", "", b_squeeze, F(3, -2, 2, 5, 1, 7)),
    EXACT("squeeze", "all", b_squeeze_all, F(4, -2, 2, 1, 5, 1, 7)),
    EXACT("concat", "", b_concat, F(2, -2, 2, 3, 2), F(2, -2, 2, 3, 5), F(2, -2, 2, 3, 1)),
    EXACT("concat", "interleaved", b_concat_interleave, F(2, -2, 2, 3, 4), F(2, -2, 2, 3, 4)),
    EXACT("split", "by sizes", b_split, F(2, -2, 2, 4, 5)),
    EXACT("split", "even", b_split_even, F(2, -2, 2, 6, 3)),
    EXACT("slice_by_index", "strides", b_slice, F(3, -2, 2, 5, 6, 9)),
    EXACT("slice_by_index", "squeeze and masks", b_slice_squeeze, F(3, -2, 2, 3, 4, 6)),
    EXACT("slice_by_size", "", b_slice_by_size, F(2, -2, 2, 4, 5)),
    EXACT("tile", "", b_tile, F(3, -2, 2, 3, 2, 4)),
    EXACT("pad", "two axes", b_pad, F(3, -2, 2, 2, 3, 4)),
    EXACT("pad", "one axis", b_pad_last, F(2, -2, 2, 3, 4)),
    EXACT("pad", "reflect", b_pad_reflect, F(2, -2, 2, 3, 5)),
    EXACT("pad", "replicate", b_pad_replicate, F(2, -2, 2, 3, 4)),
    EXACT("fill", "", b_fill, F(2, -2, 2, 3, 4)),
    EXACT("range_1d", "", b_range, F(2, -2, 2, 3, 4)),
    EXACT("one_hot", "", b_one_hot, I(2, -1, 6, 3, 2), F(3, -1, 1, 3, 2, 5)),
    EXACT("one_hot", "first axis", b_one_hot_first, I(1, 0, 5, 3), F(2, -1, 1, 5, 3)),
    EXACT("gather", "", b_gather, F(3, -2, 2, 3, 5, 2), I(2, 0, 5, 2, 4)),
    EXACT("gather", "rows", b_gather_rows, F(2, -2, 2, 5, 9), I(1, 0, 5, 7)),
    EXACT("gather", "scalar index", b_gather_rows, F(2, -2, 2, 5, 9), I(0, 0, 5, 0)),
    EXACT("gather", "batch", b_gather_batch, F(4, -2, 2, 2, 3, 5, 2), I(2, 0, 5, 2, 4)),
};
/* clang-format on */
const size_t op_case_count = sizeof op_cases / sizeof *op_cases;

/* ---- instances ---- */

static double draw(mw__random *random, const op_input *input, mw_dtype real)
{
    double u = (double)mw__random_uniform(random), value = input->low + u * (input->high - input->low);
    if (input->dtype != MW_F32)
        return floor(value);
    return real == MW_F16 ? (double)mw__fp16_to_float(mw__fp16_from_double(value)) : (double)(float)value;
}

bool op_instance_init(op_instance *instance, const op_case *c, mw_dtype real, uint64_t seed)
{
    static const char *const names[OP_CASE_INPUTS] = {"a", "b", "c"};
    *instance = (op_instance){.graph = mw_graph_create(NULL)};
    mw__random random = {.seed = seed};
    for (size_t i = 0; i < OP_CASE_INPUTS && c->in[i].dtype != MW_DTYPE_NONE; i++) {
        const op_input *input = &c->in[i];
        mw_dtype dtype = input->dtype == MW_F32 ? real : input->dtype;
        instance->in[i] = mw_input(instance->graph, names[i], dtype, input->shape);
        int64_t count = mw_shape_count(input->shape);
        instance->data[i] = malloc((size_t)(count + 1) * sizeof(double));
        for (int64_t k = 0; k < count; k++)
            instance->data[i][k] = draw(&random, input, real);
        instance->count++;
    }
    instance->y = c->build(instance->in);
    return mw_graph_check(instance->graph, NULL) == MW_OK && instance->y != NULL;
}

void op_instance_deinit(op_instance *instance)
{
    for (size_t i = 0; i < OP_CASE_INPUTS; i++)
        free(instance->data[i]);
    mw_graph_destroy(instance->graph);
}

void op_instance_feed(const op_instance *instance, oracle *o)
{
    for (size_t i = 0; i < instance->count; i++)
        oracle_set(o, instance->in[i], instance->data[i]);
}
