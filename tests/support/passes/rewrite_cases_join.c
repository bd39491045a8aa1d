/* Several operations as one, of fp32 on the CPU: the passes recognize and absorb. */
#include "support/passes/rewrite_case_rows.h"

#define X "tensor<fp32, [2, 5]>"
#define CONV(weight, of, x, more)                                                                                      \
    of " = conv(dilations = tensor<int32, [1]>([1]), groups = int32(1), strides = tensor<int32, [1]>([1]), weight = "  \
       "tensor<fp32, " weight ", x = " x more ");"
#define PLAIN ", pad = tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\")"

static const rewrite_case rows[] = {
    {.row = "known_number",
     .inputs = X " x",
     .body = "fp32 a = const()[val = fp32(64)]; fp32 r = sqrt(x = a); " X " y = mul(x = x, y = r);",
     .operation = "sqrt(",
     .times = 0},
    {.row = "spelled_sigmoid",
     .inputs = X " x",
     .body = X " n = mul(x = x, y = fp32(-1)); " X " e = exp(x = n); " X " s = add(x = fp32(1), y = e);" X
               " y = real_div(x = fp32(1), y = s);",
     .operation = "sigmoid(",
     .times = 1,
     .wide_bound = 4},
    {.row = "spelled_silu",
     .inputs = X " x",
     .body = X " s = sigmoid(x = x); " X " y = mul(x = s, y = x);",
     .operation = "silu(",
     .times = 1,
     .wide_bound = 2},
    {.row = "spelled_gelu",
     .inputs = X " x",
     .body = X " d = real_div(x = x, y = fp32(1.4142135)); " X " e = erf(x = d); " X " s = add(x = e, y = fp32(1));" X
               " m = mul(x = x, y = s); " X " y = mul(x = m, y = fp32(0.5));",
     .operation = "gelu(",
     .times = 1,
     .wide_bound = 4},
    {.row = "spelled_softplus",
     .inputs = X " x",
     .body = X " e = exp(x = x); " X " s = add(x = e, y = fp32(1)); " X " y = log(epsilon = fp32(1e-45), x = s);",
     .operation = "softplus(",
     .times = 1,
     .wide_bound = 4},
    {.row = "spelled_hard",
     .inputs = X " x",
     .body = X " a = add(x = x, y = fp32(3)); " X " c = clip(alpha = fp32(0), beta = fp32(6), x = a);" X
               " m = mul(x = x, y = c); " X " y = real_div(x = m, y = fp32(6));",
     .operation = "sigmoid_hard(",
     .times = 1,
     .draws = {DRAWN("x", -5, 5, 0.25)},
     .wide_bound = 2},
    {.row = "spelled_mish",
     .inputs = X " x",
     .body = X " e = exp(x = x); " X " s = add(x = e, y = fp32(1)); " X " q = mul(x = s, y = s);" X
               " n = sub(x = q, y = fp32(1)); " X " d = add(x = q, y = fp32(1)); " X " t = real_div(x = n, y = d);" X
               " y = mul(x = x, y = t);",
     .operation = "softplus(",
     .times = 1,
     .wide_bound = 8},
    {.row = "spelled_layer_norm",
     .inputs = X " x",
     .body = "tensor<fp32, [2, 1]> m = reduce_mean(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = x);" X
             " d = sub(x = x, y = m); " X " p = pow(x = d, y = fp32(2));"
             "tensor<fp32, [2, 1]> v = reduce_mean(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = p);"
             "tensor<fp32, [2, 1]> a = add(x = v, y = fp32(0.001)); tensor<fp32, [2, 1]> s = sqrt(x = a);" X
             " y = real_div(x = d, y = s);",
     .operation = "layer_norm(",
     .times = 1,
     .wide_bound = 8},
    {.row = "spelled_rms_norm",
     .inputs = X " x",
     .body = X " p = pow(x = x, y = fp32(2));"
               "tensor<fp32, [2, 1]> v = reduce_mean(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = p);"
               "tensor<fp32, [2, 1]> a = add(x = v, y = fp32(0.001)); tensor<fp32, [2, 1]> s = sqrt(x = a);"
               "tensor<fp32, [2, 1]> r = real_div(x = fp32(1), y = s);" X " y = mul(x = x, y = r);",
     .operation = "rsqrt(",
     .times = 1,
     .wide_bound = 8},
    {.row = "spelled_attention",
     .inputs = "tensor<fp32, [2, 3, 4]> q, tensor<fp32, [2, 5, 4]> k, tensor<fp32, [2, 5, 4]> v",
     .body = "tensor<fp32, [2, 3, 5]> p = matmul(transpose_x = bool(false), transpose_y = bool(true), x = q, y = k);"
             "tensor<fp32, [2, 3, 5]> s = mul(x = p, y = fp32(0.5)); tensor<fp32, [2, 3, 5]> w = softmax(axis = "
             "int32(-1), x = s); tensor<fp32, [2, 3, 4]> y = matmul(transpose_x = bool(false), transpose_y = "
             "bool(false), x = w, y = v);",
     .operation = "scaled_dot_product_attention(",
     .times = 1,
     .wide_bound = 8},
    {.row = "scaled_result",
     .inputs = "tensor<fp32, [1, 2, 3]> x",
     .body = CONV("[2, 2, 1]>([[[1], [2]], [[3], [-1]]])", "tensor<fp32, [1, 2, 3]> c", "x",
                  PLAIN) "tensor<fp32, [1, 2, 3]> y = mul(x = c, y = tensor<fp32, [2, 1]>([[0.3], [-1.7]]));",
     .operation = "mul(",
     .times = 0,
     .wide_bound = 4},
    {.row = "scaled_operand",
     .inputs = "tensor<fp32, [1, 2, 3]> x",
     .body = "tensor<fp32, [1, 2, 3]> m = add(x = x, y = tensor<fp32, [2, 1]>([[0.3], [-1.7]]));" CONV(
         "[2, 2, 1]>([[[1], [2]], [[3], [-1]]])", "tensor<fp32, [1, 2, 3]> y", "m", PLAIN),
     .operation = "add(",
     .times = 0,
     .wide_bound = 4},
    {.row = "scaled_norm",
     .inputs = X " x",
     .body = X " n = layer_norm(axes = tensor<int32, [1]>([1]), epsilon = fp32(0.001), x = x);" X
               " y = mul(x = tensor<fp32, [5]>([1, 2, 3, -4, 0.1]), y = n);",
     .operation = "mul(",
     .times = 0,
     .wide_bound = 4},
    {.row = "padded_conv",
     .inputs = "tensor<fp32, [1, 2, 3]> x",
     .body = "tensor<fp32, [1, 2, 6]> p = pad(constant_val = fp32(0), mode = string(\"constant\"), pad = tensor<int32, "
             "[2]>([1, 2]), x = x);" CONV("[1, 2, 2]>([[[1, 2], [3, -1]]])", "tensor<fp32, [1, 1, 5]> y", "p", PLAIN),
     .operation = "pad(",
     .times = 0},
    {.row = "turned_twice",
     .inputs = "tensor<fp32, [2, 3, 4]> x",
     .body = "tensor<fp32, [4, 2, 3]> t = transpose(perm = tensor<int32, [3]>([2, 0, 1]), x = x);"
             "tensor<fp32, [3, 2, 4]> y = transpose(perm = tensor<int32, [3]>([2, 1, 0]), x = t);",
     .operation = "transpose(",
     .times = 1},
    {.row = "turned_operand",
     .inputs = "tensor<fp32, [3, 4]> x, tensor<fp32, [5, 4]> z",
     .body = "tensor<fp32, [4, 5]> t = transpose(perm = tensor<int32, [2]>([1, 0]), x = z);"
             "tensor<fp32, [3, 5]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = t);",
     .operation = "transpose(",
     .times = 0,
     .wide_bound = 4},
};

const rewrite_case_group rewrite_cases_join = {rows, sizeof rows / sizeof *rows};
