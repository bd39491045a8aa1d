/* The models of swept_models.h that have one shape, as MIL text. */
#include "swept_models.h"

#include <string.h>

#define T(shape) "tensor<fp16, [" shape "]>"
#define I(shape) "tensor<int32, [" shape "]>"
#define X        T("1, 64, 32, 32")
#define M        T("1, 128, 256")

/* Weights are references to a file that is not there: a check asks for types and shapes. */
#define CONST(type, name)                                                                                              \
    type " " name " = const()[val = " type "(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(64)))]; "

#define FUNCTION(name, expression)                                                                                     \
    {                                                                                                                  \
        name, X " x", X " y = " expression ";",                                                                        \
        {                                                                                                              \
            {                                                                                                          \
                NULL, NULL                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define FUNCTION_OF_TWO(name, expression)                                                                              \
    {                                                                                                                  \
        name, X " x, " X " z", X " y = " expression ";",                                                               \
        {                                                                                                              \
            {                                                                                                          \
                NULL, NULL                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define MODEL(name, inputs, body)                                                                                      \
    {                                                                                                                  \
        name, inputs, body,                                                                                            \
        {                                                                                                              \
            {                                                                                                          \
                NULL, NULL                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define COMPARISON(operation)                                                                                          \
    MODEL(operation, X " x, " X " z",                                                                                  \
          "tensor<bool, [1, 64, 32, 32]> a = " operation "(x = x, y = z); " X                                          \
          " y = cast(dtype = string(\"fp16\"), x = a);")
#define REDUCTION(operation)                                                                                           \
    MODEL(operation "_c", X " x",                                                                                      \
          T("1, 1, 32, 32") " y = " operation "(axes = " I("1") "([1]), keep_dims = bool(true), x = x);")
#define CAST(from, to, dtype) to " y = cast(dtype = string(\"" dtype "\"), x = " from ");"

static const swept_model models[] = {
    /* functions of one element */
    FUNCTION("abs", "abs(x = x)"),
    FUNCTION("acos", "acos(x = x)"),
    FUNCTION("asin", "asin(x = x)"),
    FUNCTION("atan", "atan(x = x)"),
    FUNCTION("atanh", "atanh(x = x)"),
    FUNCTION("ceil", "ceil(x = x)"),
    FUNCTION("clip", "clip(alpha = fp16(-1), beta = fp16(1), x = x)"),
    FUNCTION("cos", "cos(x = x)"),
    FUNCTION("cosh", "cosh(x = x)"),
    FUNCTION("elu", "elu(alpha = fp16(1), x = x)"),
    FUNCTION("erf", "erf(x = x)"),
    FUNCTION("exp", "exp(x = x)"),
    FUNCTION("exp2", "exp2(x = x)"),
    FUNCTION("floor", "floor(x = x)"),
    FUNCTION("gelu_exact", "gelu(mode = string(\"EXACT\"), x = x)"),
    FUNCTION("gelu_sigmoid", "gelu(mode = string(\"SIGMOID_APPROXIMATION\"), x = x)"),
    FUNCTION("gelu_tanh", "gelu(mode = string(\"TANH_APPROXIMATION\"), x = x)"),
    FUNCTION("hard_sigmoid", "sigmoid_hard(alpha = fp16(0x1.9ap-3), beta = fp16(0.5), x = x)"),
    FUNCTION("inverse", "inverse(epsilon = fp16(0x1p-13), x = x)"),
    FUNCTION("leaky_relu", "leaky_relu(alpha = fp16(0x1.9ap-4), x = x)"),
    FUNCTION("linear_activation", "linear_activation(alpha = fp16(2), beta = fp16(1), x = x)"),
    FUNCTION("log", "log(epsilon = fp16(0), x = x)"),
    FUNCTION("pow_const", "pow(x = x, y = fp16(3))"),
    FUNCTION("pow_half", "pow(x = x, y = fp16(0.5))"),
    FUNCTION("relu", "relu(x = x)"),
    FUNCTION("relu6", "relu6(x = x)"),
    FUNCTION("round", "round(x = x)"),
    FUNCTION("rsqrt", "rsqrt(epsilon = fp16(0), x = x)"),
    FUNCTION("scaled_tanh", "scaled_tanh(alpha = fp16(1), beta = fp16(1), x = x)"),
    FUNCTION("sigmoid", "sigmoid(x = x)"),
    FUNCTION("sign", "sign(x = x)"),
    FUNCTION("silu", "silu(x = x)"),
    FUNCTION("sin", "sin(x = x)"),
    FUNCTION("sinh", "sinh(x = x)"),
    FUNCTION("softplus", "softplus(x = x)"),
    FUNCTION("softsign", "softsign(x = x)"),
    FUNCTION("sqrt", "sqrt(x = x)"),
    FUNCTION("square", "square(x = x)"),
    FUNCTION("tan", "tan(x = x)"),
    FUNCTION("tanh", "tanh(x = x)"),
    FUNCTION("thresholded_relu", "thresholded_relu(alpha = fp16(0.5), x = x)"),
    MODEL("prelu", X " x", CONST(T("64"), "w") X " y = prelu(alpha = w, x = x);"),
    /* of two */
    FUNCTION_OF_TWO("add", "add(x = x, y = z)"),
    FUNCTION_OF_TWO("floor_div", "floor_div(x = x, y = z)"),
    FUNCTION_OF_TWO("maximum", "maximum(x = x, y = z)"),
    FUNCTION_OF_TWO("minimum", "minimum(x = x, y = z)"),
    FUNCTION_OF_TWO("mod", "mod(x = x, y = z)"),
    FUNCTION_OF_TWO("mul", "mul(x = x, y = z)"),
    FUNCTION_OF_TWO("pow", "pow(x = x, y = z)"),
    FUNCTION_OF_TWO("real_div", "real_div(x = x, y = z)"),
    FUNCTION_OF_TWO("sub", "sub(x = x, y = z)"),
    MODEL("add_bc_batch", T("4, 64, 32, 32") " x, " X " z", T("4, 64, 32, 32") " y = add(x = x, y = z);"),
    MODEL("add_bc_both", T("1, 64, 1, 32") " x, " T("1, 1, 32, 1") " z", X " y = add(x = x, y = z);"),
    MODEL("add_bc_ch", X " x, " T("1, 64, 1, 1") " z", X " y = add(x = x, y = z);"),
    MODEL("add_bc_hw", X " x, " T("1, 1, 32, 32") " z", X " y = add(x = x, y = z);"),
    MODEL("add_bc_w", X " x, " T("1, 1, 1, 32") " z", X " y = add(x = x, y = z);"),
    COMPARISON("equal"),
    COMPARISON("greater"),
    COMPARISON("greater_equal"),
    COMPARISON("less"),
    COMPARISON("less_equal"),
    COMPARISON("not_equal"),
    MODEL(
        "logical_and", X " x, " X " z",
        "tensor<bool, [1, 64, 32, 32]> a = greater(x = x, y = fp16(0)); tensor<bool, [1, 64, 32, 32]> b = greater(x = "
        "z, y = fp16(0)); tensor<bool, [1, 64, 32, 32]> c = logical_and(x = a, y = b); " CAST("c", X, "fp16")),
    MODEL("select", X " m, " X " x, " X " z",
          "tensor<bool, [1, 64, 32, 32]> a = greater(x = m, y = fp16(0)); " X " y = select(a = x, b = z, cond = a);"),
    /* types: fp32 models as coremltools writes them, with the computation in fp16 */
    MODEL("add_f32", "tensor<fp32, [1, 64, 32, 32]> x, tensor<fp32, [1, 64, 32, 32]> z",
          X " a = cast(dtype = string(\"fp16\"), x = x); " X " b = cast(dtype = string(\"fp16\"), x = z); " X
            " c = add(x = a, y = b); " CAST("c", "tensor<fp32, [1, 64, 32, 32]>", "fp32")),
    MODEL(
        "matmul_f32", "tensor<fp32, [1, 128, 256]> x, tensor<fp32, [1, 256, 128]> z",
        M " a = cast(dtype = string(\"fp16\"), x = x); " T(
            "1, 256, 128") " b = cast(dtype = string(\"fp16\"), x = "
                           "z); " T("1, 128, 128") " c = matmul(transpose_x = bool(false), transpose_y = bool(false), "
                                                   "x = a, y = b); " CAST("c", "tensor<fp32, [1, 128, 128]>", "fp32")),
    MODEL("relu_f32", "tensor<fp32, [1, 64, 32, 32]> x",
          X " a = cast(dtype = string(\"fp16\"), x = x); " X
            " b = relu(x = a); " CAST("b", "tensor<fp32, [1, 64, 32, 32]>", "fp32")),
    MODEL("add_i32", I("1, 64, 32, 32") " x, " I("1, 64, 32, 32") " z", I("1, 64, 32, 32") " y = add(x = x, y = z);"),
    MODEL("mul_i32", I("1, 64, 32, 32") " x, " I("1, 64, 32, 32") " z", I("1, 64, 32, 32") " y = mul(x = x, y = z);"),
    MODEL("matmul_i32", I("1, 128, 256") " x, " I("1, 256, 128") " z",
          I("1, 128, 128") " y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = z);"),
    MODEL("cast_f16_f32", X " x", CAST("x", "tensor<fp32, [1, 64, 32, 32]>", "fp32")),
    MODEL("cast_f16_i32", X " x", CAST("x", I("1, 64, 32, 32"), "int32")),
    MODEL("cast_i32_f16", I("1, 64, 32, 32") " x", CAST("x", X, "fp16")),
    /* An int8 result leaves a Core ML model as int32. The table calls the operation before that cast by its name, which
     * ends in __pre__output__int32__cast. */
    {"cast_f16_i8",
     X " x",
     "tensor<int8, [1, 64, 32, 32]> a = cast(dtype = string(\"int8\"), x = x); " CAST("a", I("1, 64, 32, 32"), "int32"),
     {{"cast to int32", "a"}, {"cast to int8", "y"}}},
    {"quantize_i8",
     X " x",
     "tensor<int8, [1, 64, 32, 32]> a = quantize(input = x, output_dtype = string(\"int8\"), scale = "
     "fp16(0x1.9ap-4)); " CAST("a", I("1, 64, 32, 32"), "int32"),
     {{"inner cast", "a"}, {"final cast to int8", "y"}}},
    MODEL("q_dq_i8", X " x",
          "tensor<int8, [1, 64, 32, 32]> a = quantize(input = x, output_dtype = string(\"int8\"), scale = "
          "fp16(0x1.9ap-4)); " X " y = dequantize(input = a, scale = fp16(0x1.9ap-4));"),
    /* products */
    MODEL("conv1x1", X " x", CONST(T("64, 64, 1, 1"), "w") X " y = conv(weight = w, x = x);"),
    MODEL("conv3x3", X " x",
          CONST(T("64, 64, 3, 3"), "w") X " y = conv(pad_type = string(\"same\"), weight = w, x = x);"),
    MODEL("conv3x3_dw", X " x",
          CONST(T("64, 1, 3, 3"), "w") X
          " y = conv(groups = int32(64), pad_type = string(\"same\"), weight = w, x = x);"),
    MODEL("conv7x7_s2", X " x",
          CONST(T("64, 64, 7, 7"), "w") T("1, 64, 16, 16") " y = conv(pad_type = string(\"same\"), strides = " I(
              "2") "([2, 2]), weight = w, x = x);"),
    MODEL("conv3x3_d2", X " x",
          CONST(T("64, 64, 3, 3"), "w") X
          " y = conv(dilations = " I("2") "([2, 2]), pad_type = string(\"same\"), weight = w, x = x);"),
    MODEL("conv1d", T("1, 64, 1024") " x",
          CONST(T("64, 64, 3"), "w") T("1, 64, 1024") " y = conv(pad_type = string(\"same\"), weight = w, x = x);"),
    MODEL("conv3d", T("1, 16, 8, 16, 16") " x",
          CONST(T("16, 16, 3, 3, 3"), "w")
              T("1, 16, 8, 16, 16") " y = conv(pad_type = string(\"same\"), weight = w, x = x);"),
    MODEL("conv_dynw", X " x, " T("64, 64, 1, 1") " w", X " y = conv(weight = w, x = x);"),
    MODEL("conv_transpose", X " x",
          CONST(T("64, 64, 2, 2"), "w")
              T("1, 64, 64, 64") " y = conv_transpose(strides = " I("2") "([2, 2]), weight = w, x = x);"),
    MODEL("conv_transpose_k3s2", X " x",
          CONST(T("64, 64, 3, 3"), "w")
              T("1, 64, 64, 64") " y = conv_transpose(pad_type = string(\"same\"), strides = " I(
                  "2") "([2, 2]), weight = w, x = x);"),
    MODEL("conv_transpose_1d", T("1, 64, 256") " x",
          CONST(T("64, 64, 4"), "w")
              T("1, 64, 514") " y = conv_transpose(strides = " I("1") "([2]), weight = w, x = x);"),
    MODEL("conv_transpose_3d", T("1, 16, 4, 8, 8") " x",
          CONST(T("16, 16, 2, 2, 2"), "w")
              T("1, 16, 8, 16, 16") " y = conv_transpose(strides = " I("3") "([2, 2, 2]), weight = w, x = x);"),
    MODEL("linear", M " x",
          CONST(T("512, 256"), "w") CONST(T("512"), "b") T("1, 128, 512") " y = linear(bias = b, weight = w, x = x);"),
    MODEL("matmul_const", M " x",
          CONST(T("256, 512"), "w")
              T("1, 128, 512") " y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w);"),
    MODEL("matmul_dyn", M " x, " T("1, 256, 128") " z",
          T("1, 128, 128") " y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = z);"),
    MODEL("matmul_dyn_tr", M " x, " M " z",
          T("1, 128, 128") " y = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = z);"),
    MODEL("matmul_batched4d", T("1, 8, 128, 64") " x, " T("1, 8, 64, 128") " z",
          T("1, 8, 128, 128") " y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = z);"),
    MODEL("matmul_bc", T("1, 8, 128, 64") " x, " T("1, 1, 64, 128") " z",
          T("1, 8, 128, 128") " y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = z);"),
    MODEL("sdpa", T("1, 8, 128, 64") " q, " T("1, 8, 128, 64") " k, " T("1, 8, 128, 64") " v",
          T("1, 8, 128, 64") " y = scaled_dot_product_attention(key = k, query = q, value = v);"),
    MODEL("sdpa_mask",
          T("1, 8, 128, 64") " q, " T("1, 8, 128, 64") " k, " T("1, 8, 128, 64") " v, " T("1, 1, 128, 128") " m",
          T("1, 8, 128, 64") " y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = v);"),
    /* recurrent networks */
    MODEL("lstm", T("16, 1, 64") " x",
          CONST(T("1, 64"), "h") CONST(T("1, 64"), "c") CONST(T("256, 64"), "a") CONST(T("256, 64"), "b")
              T("16, 1, 64") " y, " T("1, 64") " u, " T("1, 64") " v = lstm(direction = string(\"forward\"), initial_c "
                                                                 "= c, initial_h = h, output_sequence = bool(true), "
                                                                 "weight_hh = b, weight_ih = a, x = x);"),
    MODEL("gru", T("16, 1, 64") " x",
          CONST(T("1, 64"), "h") CONST(T("192, 64"), "a") CONST(T("192, 64"), "b")
              T("16, 1, 64") " y, " T("1, 64") " u = gru(direction = string(\"forward\"), initial_h = h, "
                                               "output_sequence = bool(true), weight_hh = b, "
                                               "weight_ih = a, x = x);"),
    MODEL("rnn", T("16, 1, 64") " x",
          CONST(T("1, 64"), "h") CONST(T("64, 64"), "a") CONST(T("64, 64"), "b")
              T("16, 1, 64") " y, " T("1, 64") " u = rnn(activation = string(\"tanh\"), direction = "
                                               "string(\"forward\"), initial_h = h, output_sequence = "
                                               "bool(true), weight_hh = b, weight_ih = a, x = x);"),
    /* pools, norms and reductions */
    MODEL("avg_pool", X " x",
          T("1, 64, 16, 16") " y = avg_pool(kernel_sizes = " I(
              "2") "([2, 2]), pad_type = string(\"valid\"), strides = " I("2") "([2, 2]), x = x);"),
    MODEL("l2_pool", X " x",
          T("1, 64, 16, 16") " y = l2_pool(kernel_sizes = " I(
              "2") "([2, 2]), pad_type = string(\"valid\"), strides = " I("2") "([2, 2]), x = x);"),
    MODEL("max_pool", X " x",
          X " y = max_pool(kernel_sizes = " I("2") "([3, 3]), pad_type = string(\"same\"), strides = " I(
              "2") "([1, 1]), x = x);"),
    MODEL("avg_pool3d", T("1, 16, 8, 16, 16") " x",
          T("1, 16, 4, 8, 8") " y = avg_pool(kernel_sizes = " I("3") "([2, 2, 2]), pad_type = string(\"valid\"), "
                                                                     "strides = " I("3") "([2, 2, 2]), x = x);"),
    MODEL("global_avg", X " x",
          T("1, 64, 1, 1") " y = reduce_mean(axes = " I("2") "([2, 3]), keep_dims = bool(true), x = x);"),
    FUNCTION("softmax_c", "softmax(axis = int32(1), x = x)"),
    FUNCTION("softmax_h", "softmax(axis = int32(2), x = x)"),
    FUNCTION("softmax_w", "softmax(axis = int32(3), x = x)"),
    MODEL("softmax_n", T("8, 64, 16, 16") " x", T("8, 64, 16, 16") " y = softmax(axis = int32(0), x = x);"),
    MODEL("log_softmax", X " x",
          T("1, 1, 32, 32") " a = reduce_log_sum_exp(axes = " I("1") "([1]), keep_dims = bool(true), x = x); " X
                                                                     " y = sub(x = x, y = a);"),
    FUNCTION("layer_norm_c", "layer_norm(axes = " I("1") "([1]), epsilon = fp16(0x1.5p-17), x = x)"),
    FUNCTION("layer_norm_hw", "layer_norm(axes = " I("2") "([2, 3]), epsilon = fp16(0x1.5p-17), x = x)"),
    FUNCTION("layer_norm_chw", "layer_norm(axes = " I("3") "([1, 2, 3]), epsilon = fp16(0x1.5p-17), x = x)"),
    MODEL("layer_norm_w", M " x",
          CONST(T("256"), "g") CONST(T("256"), "b") M
          " y = layer_norm(axes = " I("1") "([2]), beta = b, epsilon = fp16(0x1.5p-17), gamma = g, x = x);"),
    MODEL("instance_norm", X " x",
          CONST(T("64"), "g") CONST(T("64"), "b") X
          " y = instance_norm(beta = b, epsilon = fp16(0x1.5p-17), gamma = g, x = x);"),
    MODEL("batch_norm", X " x",
          CONST(T("64"), "m") CONST(T("64"), "v") X
          " y = batch_norm(epsilon = fp16(0x1.5p-17), mean = m, variance = v, x = x);"),
    FUNCTION("l2_norm", "l2_norm(epsilon = fp16(0x1p-20), x = x)"),
    FUNCTION("lrn",
             "local_response_norm(alpha = fp16(0x1.a4p-14), beta = fp16(0.75), k = fp16(1), size = int32(5), x = "
             "x)"),
    REDUCTION("reduce_l1_norm"),
    REDUCTION("reduce_l2_norm"),
    REDUCTION("reduce_log_sum"),
    REDUCTION("reduce_log_sum_exp"),
    REDUCTION("reduce_max"),
    REDUCTION("reduce_mean"),
    REDUCTION("reduce_min"),
    REDUCTION("reduce_prod"),
    REDUCTION("reduce_sum"),
    REDUCTION("reduce_sum_square"),
    MODEL("reduce_sum_w", X " x",
          T("1, 64, 32, 1") " y = reduce_sum(axes = " I("1") "([3]), keep_dims = bool(true), x = x);"),
    MODEL("reduce_sum_all", X " x",
          T("1, 1, 1, 1") " y = reduce_sum(axes = " I("4") "([0, 1, 2, 3]), keep_dims = bool(true), x = x);"),
    MODEL("reduce_argmax_c", X " x",
          I("1, 1, 32, 32") " a = reduce_argmax(axis = int32(1), keep_dims = bool(true), output_dtype = "
                            "string(\"int32\"), x = x); " CAST("a", T("1, 1, 32, 32"), "fp16")),
    MODEL("reduce_argmax_w", X " x",
          I("1, 64, 32, 1") " a = reduce_argmax(axis = int32(3), keep_dims = bool(true), output_dtype = "
                            "string(\"int32\"), x = x); " CAST("a", T("1, 64, 32, 1"), "fp16")),
    MODEL("argmax_flat", T("1, 32000") " x",
          I("1, 1") " a = reduce_argmax(axis = int32(1), keep_dims = bool(true), output_dtype = string(\"int32\"), x = "
                    "x); " CAST("a", T("1, 1"), "fp16")),
    FUNCTION("cumsum_c", "cumsum(axis = int32(1), exclusive = bool(false), reverse = bool(false), x = x)"),
    FUNCTION("cumsum_w", "cumsum(axis = int32(3), exclusive = bool(false), reverse = bool(false), x = x)"),
    /* shapes and moves */
    MODEL("reshape", X " x", T("1, 64, 1024") " y = reshape(shape = " I("3") "([1, 64, 1024]), x = x);"),
    MODEL("reshape_split_c", X " x",
          T("1, 8, 8, 32, 32") " y = reshape(shape = " I("5") "([1, 8, 8, 32, 32]), x = x);"),
    FUNCTION("transpose_hw", "transpose(perm = " I("4") "([0, 1, 3, 2]), x = x)"),
    MODEL("transpose_cw", X " x", T("1, 32, 32, 64") " y = transpose(perm = " I("4") "([0, 3, 2, 1]), x = x);"),
    MODEL("transpose_nc", T("8, 64, 16, 16") " x",
          T("64, 8, 16, 16") " y = transpose(perm = " I("4") "([1, 0, 2, 3]), x = x);"),
    MODEL("transpose_r5", T("1, 4, 16, 16, 16") " x",
          T("1, 16, 4, 16, 16") " y = transpose(perm = " I("5") "([0, 2, 1, 4, 3]), x = x);"),
    MODEL("concat_c", X " x, " X " z",
          T("1, 128, 32, 32") " y = concat(axis = int32(1), interleave = bool(false), values = (x, z));"),
    MODEL("concat_interleave", X " x, " X " z",
          T("1, 128, 32, 32") " y = concat(axis = int32(1), interleave = bool(true), values = (x, z));"),
    MODEL("concat_n", X " x, " X " z",
          T("2, 64, 32, 32") " y = concat(axis = int32(0), interleave = bool(false), values = (x, z));"),
    MODEL("concat_w", X " x, " X " z",
          T("1, 64, 32, 64") " y = concat(axis = int32(3), interleave = bool(false), values = (x, z));"),
    MODEL("split_c", X " x",
          T("1, 32, 32, 32") " y, " T("1, 32, 32, 32") " u = split(axis = int32(1), num_splits = int32(2), x = x);"),
    MODEL("stack", X " x, " X " z", T("1, 2, 64, 32, 32") " y = stack(axis = int32(1), values = (x, z));"),
    MODEL("slice_c", X " x",
          T("1, 32, 32, 32") " y = slice_by_index(begin = " I("4") "([0, 8, 0, 0]), end = " I(
              "4") "([1, 40, 32, 32]), x = x);"),
    MODEL("slice_w_stride2", X " x",
          T("1, 64, 32, 16") " y = slice_by_index(begin = " I("4") "([0, 0, 0, 0]), end = " I(
              "4") "([1, 64, 32, 32]), stride = " I("4") "([1, 1, 1, 2]), x = x);"),
    MODEL("slice_by_size", X " x",
          T("1, 64, 16, 16") " y = slice_by_size(begin = " I("4") "([0, 0, 4, 4]), size = " I(
              "4") "([1, 64, 16, 16]), x = x);"),
    MODEL("slice_dyn", X " x, " I("4") " b",
          T("1, 32, 16, 16") " y = slice_by_size(begin = b, size = " I("4") "([1, 32, 16, 16]), x = x);"),
    FUNCTION("reverse_w", "reverse(axes = " I("1") "([3]), x = x)"),
    MODEL("tile", X " x", T("1, 128, 32, 64") " y = tile(reps = " I("4") "([1, 2, 1, 2]), x = x);"),
    MODEL("pad_const", X " x",
          T("1, 64, 34, 34") " y = pad(constant_val = fp16(0), mode = string(\"constant\"), pad = " I(
              "4") "([1, 1, 1, 1]), x = x);"),
    MODEL("pad_reflect", X " x",
          T("1, 64, 36, 36") " y = pad(constant_val = fp16(0), mode = string(\"reflect\"), pad = " I(
              "4") "([2, 2, 2, 2]), x = x);"),
    MODEL("pad_replicate", X " x",
          T("1, 64, 36, 36") " y = pad(constant_val = fp16(0), mode = string(\"replicate\"), pad = " I(
              "4") "([2, 2, 2, 2]), x = x);"),
    MODEL("pad_c", X " x",
          T("1, 72, 32, 32") " y = pad(constant_val = fp16(0), mode = string(\"constant\"), pad = " I(
              "8") "([0, 0, 4, 4, 0, 0, 0, 0]), x = x);"),
    MODEL("space_to_depth", X " x", T("1, 256, 16, 16") " y = space_to_depth(block_size = int32(2), x = x);"),
    MODEL("depth_to_space", X " x", T("1, 16, 64, 64") " y = depth_to_space(block_size = int32(2), x = x);"),
    MODEL("pixel_shuffle", X " x", T("1, 16, 64, 64") " y = pixel_shuffle(upscale_factor = int32(2), x = x);"),
    MODEL("pixel_unshuffle", X " x", T("1, 256, 16, 16") " y = pixel_unshuffle(downscale_factor = uint32(2), x = x);"),
    MODEL("space_to_batch", X " x",
          T("4, 64, 16, 16") " y = space_to_batch(block_shape = " I("2") "([2, 2]), paddings = " I(
              "2, 2") "([[0, 0], [0, 0]]), x = x);"),
    MODEL("batch_to_space", T("4, 64, 16, 16") " x",
          X " y = batch_to_space(block_shape = " I("2") "([2, 2]), crops = " I("2, 2") "([[0, 0], [0, 0]]), x = x);"),
    MODEL("sliding_windows", T("1, 64, 256") " x",
          T("1, 64, 63, 8") " y = sliding_windows(axis = int32(2), size = int32(8), stride = int32(4), x = x);"),
    MODEL("band_part", T("1, 128, 128") " x",
          T("1, 128, 128") " y = band_part(lower = int32(-1), upper = int32(0), x = x);"),
    MODEL("squeeze_expand", T("1, 64, 1, 32") " x",
          T("1, 64, 32") " a = squeeze(axes = " I("1") "([2]), x = x); " T("1, 64, 32, 1") " y = expand_dims(axes = " I(
              "1") "([3]), x = a);"),
    MODEL("fill_like", X " x", X " y = fill_like(ref_tensor = x, value = fp16(1));"),
    /* images */
    MODEL("upsample_nearest", X " x",
          T("1, 64, 64, 64") " y = upsample_nearest_neighbor(scale_factor_height = fp32(2), scale_factor_width = "
                             "fp32(2), x = x);"),
    MODEL("upsample_nearest_x3", X " x",
          T("1, 64, 96, 96") " y = upsample_nearest_neighbor(scale_factor_height = fp32(3), scale_factor_width = "
                             "fp32(3), x = x);"),
    MODEL("upsample_nearest_frac", X " x",
          T("1, 64, 48, 48") " y = upsample_nearest_neighbor(scale_factor_height = fp32(1.5), scale_factor_width = "
                             "fp32(1.5), x = x);"),
    MODEL("upsample_bilinear", X " x",
          T("1, 64, 64, 64") " y = upsample_bilinear(align_corners = bool(false), scale_factor_height = fp32(2), "
                             "scale_factor_width = fp32(2), x = x);"),
    MODEL("upsample_bilinear_ac", X " x",
          T("1, 64, 64, 64") " y = upsample_bilinear(align_corners = bool(true), scale_factor_height = fp32(2), "
                             "scale_factor_width = fp32(2), x = x);"),
    MODEL(
        "resize_bilinear", X " x",
        T("1, 64, 48, 48") " y = resize_bilinear(sampling_mode = string(\"DEFAULT\"), target_size_height = int32(48), "
                           "target_size_width = int32(48), x = x);"),
    MODEL("resize_nearest", X " x",
          T("1, 64, 48, 48") " y = resize_nearest_neighbor(target_size_height = int32(48), target_size_width = "
                             "int32(48), x = x);"),
    MODEL("resize_down", X " x",
          T("1, 64, 20, 20") " y = resize(interpolation_mode = string(\"LINEAR\"), resized_dims = uint32(2), "
                             "sampling_mode = string(\"DEFAULT\"), shape = " I("2") "([20, 20]), x = x);"),
    MODEL("crop_resize", X " x",
          CONST(T("4, 4"), "b") CONST(I("4"), "i")
              T("4, 64, 8, 8") " y = crop_resize(box_coordinate_mode = string(\"CORNERS_HEIGHT_FIRST\"), box_indices = "
                               "i, boxes = b, "
                               "normalized_coordinates = bool(false), pad_value = fp16(0), sampling_mode = "
                               "string(\"DEFAULT\"), "
                               "spatial_scale = fp16(1), target_height = uint32(8), target_width = uint32(8), x = x);"),
    MODEL("affine", X " x",
          CONST(T("1, 6"), "w") X
          " y = affine(align_corners = bool(true), coordinates_mode = string(\"normalized_minus_one_to_one\"), "
          "output_height = int32(32), output_width = int32(32), padding_mode = string(\"constant\"), padding_value = "
          "fp16(0), sampling_mode = string(\"bilinear\"), transform_matrix = w, x = x);"),
    MODEL("resample", X " x, " T("1, 32, 32, 2") " g",
          X " y = resample(align_corners = bool(true), coordinates = g, coordinates_mode = "
            "string(\"normalized_minus_one_to_one\"), padding_mode = string(\"constant\"), padding_value = fp16(0), "
            "sampling_mode = string(\"bilinear\"), x = x);"),
    /* positions and order; coremltools makes positions int16 before they are used */
    MODEL("gather_c", X " x",
          CONST(I("32"), "i") T("1, 32, 32, 32") " y = gather(axis = int32(1), batch_dims = int32(0), indices = i, "
                                                 "validate_indices = bool(false), x = x);"),
    MODEL("gather_w", X " x",
          CONST(I("16"), "i") T("1, 64, 32, 16") " y = gather(axis = int32(3), batch_dims = int32(0), indices = i, "
                                                 "validate_indices = bool(false), x = x);"),
    MODEL("gather_dyn", T("1000, 256") " x, " I("1, 64") " i",
          "tensor<int16, [1, 64]> a = cast(dtype = string(\"int16\"), x = i); " T(
              "1, 64, 256") " y = gather(axis = int32(0), batch_dims = int32(0), indices = a, validate_indices = "
                            "bool(false), x = x);"),
    MODEL("embedding", I("1, 64") " i",
          CONST(T("32000, 256"), "w") "tensor<int16, [1, 64]> a = cast(dtype = string(\"int16\"), x = i); " T(
              "1, 64, 256") " y = gather(axis = int32(0), batch_dims = int32(0), indices = a, validate_indices = "
                            "bool(false), x = w);"),
    {"gather_along_axis",
     X " x, " I("1, 64, 32, 32") " i",
     "tensor<int16, [1, 64, 32, 32]> a = cast(dtype = string(\"int16\"), x = i); " X " y = gather_along_axis(axis = "
     "int32(3), indices = a, validate_indices = bool(false), x = x);",
     {{"index cast", "a"}, {"gather itself", "y"}}},
    {"gather_nd",
     X " x, " I("8, 2") " i",
     "tensor<int16, [8, 2]> a = cast(dtype = string(\"int16\"), x = i); " T(
         "8, 32, 32") " y = gather_nd(batch_dims = int32(0), indices = a, validate_indices = bool(false), x = x);",
     {{"index preparation", "a"}, {"gather_nd itself", "y"}}},
    MODEL("scatter", X " x, " I("4") " i, " T("1, 64, 32, 4") " u",
          X " y = scatter(axis = int32(3), data = x, indices = i, mode = string(\"add\"), updates = u, "
            "validate_indices = bool(false));"),
    MODEL("scatter_along_axis", X " x, " I("1, 64, 32, 32") " i, " X " u",
          X " y = scatter_along_axis(axis = int32(3), data = x, indices = i, mode = string(\"add\"), updates = u, "
            "validate_indices = bool(false));"),
    MODEL(
        "topk_c", X " x",
        T("1, 4, 32, 32") " y, " I("1, 4, 32, 32") " i = topk(ascending = bool(false), axis = int32(1), k = int32(4), "
                                                   "output_indices_dtype = string(\"int32\"), return_indices = "
                                                   "bool(true), sort = bool(true), x = x);"),
    MODEL(
        "topk_w", X " x",
        T("1, 64, 32, 4") " y, " I("1, 64, 32, 4") " i = topk(ascending = bool(false), axis = int32(3), k = int32(4), "
                                                   "output_indices_dtype = string(\"int32\"), return_indices = "
                                                   "bool(true), sort = bool(true), x = x);"),
    MODEL("topk_large", T("1, 32000") " x",
          T("1, 40") " y, " I("1, 40") " i = topk(ascending = bool(false), axis = int32(1), k = int32(40), "
                                       "output_indices_dtype = string(\"int32\"), return_indices = bool(true), sort = "
                                       "bool(true), x = x);"),
    MODEL("argsort_w", X " x",
          I("1, 64, 32, 32") " a = argsort(ascending = bool(false), axis = int32(3), x = x); " CAST("a", X, "fp16")),
    MODEL("one_hot", I("1, 64") " i",
          I("1, 64, 128") " y = one_hot(axis = int32(-1), indices = i, off_value = int32(0), on_value = int32(1), "
                          "one_hot_vector_size = int32(128));"),
    MODEL("nonzero", T("1, 256") " x", I("?, 2") " a = non_zero(x = x); " CAST("a", T("?, 2"), "fp16")),
    {"range_1d",
     I("1") " e",
     "tensor<int16, [1]> a = cast(dtype = string(\"int16\"), x = e); int16 b = squeeze(axes = " I(
         "1") "([0]), x = a); "
              "int32 c = cast(dtype = string(\"int32\"), x = b); " I(
                  "?") " d = range_1d(end = c, start = int32(0), step = int32(1)); " CAST("d", T("?"), "fp16"),
     {{"squeeze", "b"}, {"casts and range", "a c d y"}}},
    {"random_normal",
     X " x",
     X " a = random_normal(mean = fp16(0), seed = int32(0), shape = " I("4") "([1, 64, 32, 32]), stddev = fp16(1)); " X
                                                                             " y = add(x = x, y = a);",
     {{"random_normal", "a"}, {"following add", "y"}}},
    /* ranks */
    MODEL("relu_r1", T("65536") " x", T("65536") " y = relu(x = x);"),
    MODEL("relu_r2", T("256, 256") " x", T("256, 256") " y = relu(x = x);"),
    MODEL("relu_r3", M " x", M " y = relu(x = x);"),
    MODEL("relu_r5", T("1, 4, 16, 32, 32") " x", T("1, 4, 16, 32, 32") " y = relu(x = x);"),
};

const swept_model *swept_model_row(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}
