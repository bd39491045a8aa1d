/* What fp16 makes of types. */
#include "support/passes/rewrite_case_rows.h"

static const rewrite_case rows[] = {
    {.row = "half_constant",
     .inputs = "tensor<fp32, [3]> x",
     .body = "fp32 c = const()[val = fp32(2)]; tensor<fp32, [3]> y = add(x = x, y = c);",
     .operation = "const()[name = string(\"c\"), val = fp16",
     .times = 1},
    {.row = "half_scaled",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> w = constexpr_blockwise_shift_scale(data = tensor<int8, [3]>([1, -2, 100]), scale = "
             "tensor<fp32, [1]>([0.1])); tensor<fp32, [3]> y = add(x = x, y = w);",
     .operation = "constexpr_blockwise_shift_scale",
     .times = 0,
     .bound = 2,
     .because = "the weights are rounded, and the sum"},
    {.row = "half_cast",
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp32, [3]> c = cast(dtype = string(\"fp32\"), x = x); tensor<fp32, [3]> y = exp(x = c);",
     .operation = "cast",
     .times = 0,
     .bound = 1,
     .because = "exp is rounded"},
    {.row = "half_constexpr_cast",
     .inputs = "tensor<fp16, [3]> x",
     .body =
         "tensor<fp32, [3]> c = constexpr_cast(output_dtype = string(\"fp32\"), source_val = tensor<fp16, [3]>([1, 2, "
         "3])); tensor<fp32, [3]> w = cast(dtype = string(\"fp32\"), x = x); tensor<fp32, [3]> y = add(x = w, y = c);",
     .operation = "constexpr_cast",
     .times = 0},
    {.row = "half_range",
     .inputs = "tensor<int32, [3, 1]> i",
     .body = "tensor<int32, [4]> r = range_1d(end = int32(4), start = int32(0), step = int32(1));"
             "tensor<bool, [3, 4]> h = equal(x = i, y = r);"
             "tensor<fp32, [3, 4]> y = select(a = fp32(1), b = fp32(0), cond = h);",
     .operation = "cast",
     .times = 0,
     .draws = {DRAWN("i", 0, 3, 1)}},
    {.row = "rounded_range",
     .inputs = "tensor<fp32, [10]> x",
     .body = "tensor<fp32, [10]> r = range_1d(end = fp32(1), start = fp32(0), step = fp32(0.1));"
             "tensor<fp32, [10]> y = add(x = x, y = r);",
     .operation = "range_1d",
     .times = 0,
     .bound = 2,
     .because = "the numbers are rounded, and the sum"},
    {.row = "exact_factor",
     .inputs = "tensor<fp32, [1, 1, 30, 30]> x",
     .body = "fp32 s = const()[val = fp32(0x1.555556p-2)]; tensor<fp32, [1, 1, 10, 10]> y = "
             "upsample_nearest_neighbor(scale_factor_height = s, scale_factor_width = s, x = x);",
     .operation = "const()[name = string(\"s\"), val = fp32(0x1.555556p-2)]",
     .times = 1},
    {.row = "far_range",
     .inputs = "tensor<int32, [3]> i",
     .body = "tensor<int32, [1]> r = range_1d(end = int32(3001), start = int32(3000), step = int32(1));"
             "tensor<bool, [3]> h = less(x = i, y = r);"
             "tensor<fp32, [3]> y = select(a = fp32(1), b = fp32(0), cond = h);",
     .error = "integers from 3000 to 3000 meet an integer input",
     .draws = {DRAWN("i", 2990, 3010, 1)}},
    {.row = "conv_decomposed",
     .inputs = "tensor<fp32, [2, 3, 5]> x, tensor<fp32, [4, 3, 2]> w",
     .body = "tensor<fp32, [2, 4, 4]> y = conv(dilations = tensor<int32, [1]>([1]), groups = int32(1), pad = "
             "tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [1]>([1]), weight = w, "
             "x = x);",
     .operation = "conv",
     .times = 0},
    {.row = "recurrent_steps",
     .inputs = "tensor<fp32, [3, 2, 1]> x, tensor<fp32, [2, 1]> s",
     .body = "tensor<fp32, [3, 2, 1]> y, tensor<fp32, [2, 1]> h = rnn(bias = tensor<fp32, [1]>([0x1p-1]), initial_h = "
             "s, output_sequence = bool(true), weight_hh = tensor<fp32, [1, 1]>([[0x1p-1]]), weight_ih = "
             "tensor<fp32, [1, 1]>([[0x1p+0]]), x = x);",
     .operation = "tanh",
     .times = 3,
     .bound = 4,
     .because = "each step is rounded"},
    {.row = "fraction",
     .inputs = "tensor<int32, [3]> i",
     .body = "tensor<int32, [3]> q = real_div(x = i, y = int32(2)); tensor<fp32, [3]> y = cast(dtype = "
             "string(\"fp32\"), x = q);",
     .operation = "floor",
     .times = 1,
     .draws = {DRAWN("i", -9, 9, 1)}},
    {.row = "mixed_fraction",
     .inputs = "tensor<int32, [3, 2]> i",
     .body = "tensor<int32, [3, 1]> q = matmul(transpose_x = bool(false), transpose_y = bool(false), x = i, y = "
             "tensor<fp32, [2, 1]>([[0.5], [2]])); tensor<fp32, [3, 1]> y = cast(dtype = string(\"fp32\"), x = q);",
     .operation = "floor",
     .times = 1,
     .draws = {DRAWN("i", -9, 9, 1)}},
    {.row = "half_operands",
     .inputs = "tensor<int32, [3]> i",
     .body = "tensor<int32, [3]> q = add(x = i, y = int32(2)); tensor<fp32, [3]> y = cast(dtype = string(\"fp32\"), x "
             "= q);",
     .operation = "floor",
     .times = 0,
     .draws = {DRAWN("i", -9, 9, 1)}},
};

const rewrite_case_group rewrite_cases_fp16 = {rows, sizeof rows / sizeof *rows};
