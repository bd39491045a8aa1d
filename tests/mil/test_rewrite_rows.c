/* Every row of passes/rewrites.def: a program that it writes in another form, and what it writes. Axes are at most
 * 1024. */
#include "mil/legalize/legal_form.h"
#include "mil/legalize/rewrites.h"
#include "support/check.h"

#include <millwright/mil.h>

enum { AXIS_MAX = 1024 };

typedef struct row_case {
    const char *row;
    const char *opset;         /* NULL = ios18 */
    const char *inputs, *body; /* of the function; the result is y */
    const char *operation;     /* that is counted in what is written */
    int times;
    const char *error; /* or what the message contains */
    mw_chip chip;      /* that is named; its axes are as they are */
} row_case;

/* Integers that are compared with as many numbers are in digits. */
#define WIDE(name, shape)                                                                                              \
    "tensor<int32, [2050]> r = range_1d(end = int32(2050), start = int32(0), step = int32(1));"                        \
    "tensor<bool, [" shape ", 2050]> h = equal(x = " name ", y = r);"                                                  \
    "tensor<fp32, [" shape ", 2050]> y = select(a = fp32(3), b = fp32(2), cond = h);"

/* The rows of x that indices choose. */
#define LOOKED_UP(name)                                                                                                \
    "tensor<fp32, [3, 1]> y = gather(axis = int32(0), batch_dims = int32(0), indices = " name                          \
    ", validate_indices = bool(false), x = x);"

#define TRUTHS(operation)                                                                                              \
    "tensor<bool, [3]> a = greater(x = x, y = fp32(0)); tensor<bool, [3]> b = less(x = x, y = fp32(1));"               \
    "tensor<bool, [3]> y = " operation "(x = a, y = b);"

static const row_case cases[] = {
    {.row = "logical_and",
     .inputs = "tensor<fp32, [3]> x",
     .body = TRUTHS("logical_and"),
     .operation = "mul",
     .times = 1},
    {.row = "logical_or",
     .inputs = "tensor<fp32, [3]> x",
     .body = TRUTHS("logical_or"),
     .operation = "add",
     .times = 1},
    {.row = "logical_xor",
     .inputs = "tensor<fp32, [3]> x",
     .body = TRUTHS("logical_xor"),
     .operation = "not_equal",
     .times = 1},
    {.row = "argument",
     .inputs = "tensor<fp32, [3, 4]> x",
     .body = "tensor<int32, [3]> y = reduce_argmax(axis = int32(1), keep_dims = bool(false), x = x);",
     .operation = "reduce_max",
     .times = 1},
    {.row = "band",
     .inputs = "tensor<fp32, [3, 4]> x",
     .body = "tensor<fp32, [3, 4]> y = band_part(lower = int32(1), upper = int32(0), x = x);",
     .operation = "select",
     .times = 1},
    {.row = "cumsum",
     .inputs = "tensor<fp32, [3, 4]> x",
     .body = "tensor<fp32, [3, 4]> y = cumsum(axis = int32(0), exclusive = bool(false), reverse = bool(true), x = x);",
     .operation = "matmul",
     .times = 1},
    {.row = "cosh",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = cosh(x = x);",
     .operation = "exp",
     .times = 2},
    {.row = "sinh",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = sinh(x = x);",
     .operation = "exp",
     .times = 2},
    {.row = "tan",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = tan(x = x);",
     .operation = "cos",
     .times = 1},
    {.row = "asin",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = asin(x = x);",
     .operation = "sqrt",
     .times = 1},
    {.row = "acos",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = acos(x = x);",
     .operation = "sqrt",
     .times = 1},
    {.row = "atanh",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = atanh(x = x);",
     .operation = "log",
     .times = 1},
    {.row = "mod",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> y = mod(x = x, y = fp32(3));",
     .operation = "floor_div",
     .times = 1},
    {.row = "product",
     .inputs = "tensor<fp32, [3, 5]> x",
     .body = "tensor<fp32, [3]> y = reduce_prod(axes = tensor<int32, [1]>([1]), keep_dims = bool(false), x = x);",
     .operation = "mul",
     .times = 3},
    {.row = "windows",
     .inputs = "tensor<fp32, [3, 5]> x",
     .body = "tensor<fp32, [3, 4, 2]> y = sliding_windows(axis = int32(1), size = int32(2), stride = int32(1), x = x);",
     .operation = "slice_by_index",
     .times = 2},
    {.row = "turned",
     .inputs = "tensor<int32, [3]> n, tensor<fp32, [3, 5]> x",
     .body = "tensor<fp32, [3, 5]> y = reverse_sequence(batch_axis = int32(0), lengths = n, seq_axis = int32(1), x = "
             "x);",
     .operation = "matmul",
     .times = 1},
    {.row = "drawn",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> z = random_normal(mean = fp32(0), seed = int32(7), shape = tensor<int32, [1]>([3]), "
             "stddev = fp32(1)); tensor<fp32, [3]> y = add(x = x, y = z);",
     .operation = "random_normal",
     .times = 0},
    {.row = "gather_nd",
     .inputs = "tensor<int32, [4, 2]> i, tensor<fp32, [3, 5, 2]> x",
     .body = "tensor<fp32, [4, 2]> y = gather_nd(batch_dims = int32(0), indices = i, validate_indices = bool(false), "
             "x = x);",
     .operation = "matmul",
     .times = 1},
    {.row = "non_zero",
     .inputs = "tensor<fp32, [3, 5]> x",
     .body = "tensor<int32, [4, 2]> z = non_zero(x = x); tensor<fp32, [4, 2]> y = cast(dtype = string(\"fp32\"), x = "
             "z);",
     .operation = "matmul",
     .times = 2},
    {.row = "put",
     .inputs = "tensor<int32, [2, 5]> i, tensor<fp32, [3, 5]> x, tensor<fp32, [2, 5]> u",
     .body = "tensor<fp32, [3, 5]> y = scatter_along_axis(axis = int32(0), data = x, indices = i, mode = "
             "string(\"max\"), updates = u, validate_indices = bool(false));",
     .operation = "reduce_max",
     .times = 1},
    {.row = "placed",
     .inputs = "tensor<int32, [2]> i, tensor<fp32, [3, 5]> x",
     .body = "tensor<fp32, [3, 2]> y = slice_by_size(begin = i, size = tensor<int32, [2]>([3, 2]), x = x);",
     .operation = "matmul",
     .times = 1},
    {.row = "update",
     .inputs = "tensor<int32, [2]> i, tensor<int32, [2]> e, tensor<fp32, [3, 5]> x, tensor<fp32, [2, 2]> u",
     .body = "tensor<fp32, [3, 5]> y = slice_update(begin = i, end = e, update = u, x = x);",
     .operation = "matmul",
     .times = 2},
    {.row = "declared",
     .inputs = "tensor<int32, [2]> i, tensor<fp32, [3, 5]> x",
     .body = "tensor<fp32, [3, 5]> z = fill(shape = i, value = fp32(2)); tensor<fp32, [3, 5]> y = add(x = x, y = z);",
     .operation = "fill",
     .times = 1},
    {.row = "crop",
     .inputs = "tensor<fp32, [2, 3, 4, 5]> x",
     .body = "tensor<fp32, [1, 3, 2, 2]> y = crop_resize(boxes = tensor<fp32, [1, 4]>([[0, 0, 3, 4]]), "
             "target_height = int32(2), target_width = int32(2), x = x);",
     .operation = "matmul",
     .times = 2},
    {.row = "sampling",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp32, [1, 1, 4, 4]> x, tensor<fp32, [1, 6]> t",
     .body =
         "tensor<fp32, [1, 1, 3, 3]> y = affine(align_corners = bool(true), coordinates_mode = "
         "string(\"normalized_minus_one_to_one\"), output_height = int32(3), output_width = int32(3), padding_mode = "
         "string(\"constant\"), padding_value = fp32(0), sampling_mode = string(\"bilinear\"), transform_matrix = t, "
         "x = x);",
     .operation = "affine",
     .times = 0},
    {.row = "same_cast",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<int32, [2]> i, tensor<fp32, [4, 3]> x",
     .body = "tensor<int32, [2]> j = cast(dtype = string(\"int32\"), x = i);"
             "tensor<fp32, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = j, validate_indices = "
             "bool(false), x = x);",
     .operation = "int32\")",
     .times = 0},
    {.row = "wide_conv",
     .inputs = "tensor<fp32, [1, 1, 20]> x",
     .body =
         "tensor<fp32, [1, 1, 16]> w = const()[val = tensor<fp32, [1, 1, 16]>([[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
         "12, 13, 14, 15, 16]]])];"
         "tensor<fp32, [1, 1, 5]> y = conv(dilations = tensor<int32, [1]>([1]), groups = int32(1), pad = "
         "tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [1]>([1]), weight = w, "
         "x = x);",
     .operation = "concat",
     .times = 1},
    {.row = "index_nothing",
     .inputs = "tensor<int32, [0]> i, tensor<fp32, [4, 2]> x",
     .body = "tensor<fp32, [0, 2]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, validate_indices = "
             "bool(false), x = x);",
     .operation = "fill",
     .times = 1},
    {.row = "gather",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [4, 2]> x",
     .body = "tensor<fp32, [3, 2]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, validate_indices = "
             "bool(false), x = x);",
     .operation = "matmul",
     .times = 1},
    {.row = "gather_along_axis",
     .inputs = "tensor<int32, [3, 2]> i, tensor<fp32, [4, 2]> x",
     .body = "tensor<fp32, [3, 2]> y = gather_along_axis(axis = int32(0), indices = i, validate_indices = bool(false), "
             "x = x);",
     .operation = "reduce_sum",
     .times = 1},
    {.row = "one_hot",
     .inputs = "tensor<int32, [3]> i",
     .body = "tensor<fp32, [3, 4]> y = one_hot(axis = int32(-1), indices = i, off_value = fp32(0), on_value = fp32(1), "
             "one_hot_vector_size = int32(4));",
     .operation = "one_hot",
     .times = 0},
    {.row = "scatter",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [4, 2]> x, tensor<fp32, [3, 2]> u",
     .body = "tensor<fp32, [4, 2]> y = scatter(axis = int32(0), data = x, indices = i, mode = string(\"add\"), updates "
             "= u, validate_indices = bool(false));",
     .operation = "matmul",
     .times = 1},
    {.row = "match",
     .inputs = "tensor<int32, [3, 1]> i",
     .body = "tensor<int32, [2050]> r = range_1d(end = int32(2050), start = int32(0), step = int32(1));"
             "tensor<bool, [3, 2050]> h = equal(x = i, y = r);"
             "tensor<fp32, [3, 2050]> y = select(a = fp32(1), b = fp32(0), cond = h);",
     .operation = "greater",
     .times = 0},
    {.row = "comparison",
     .inputs = "tensor<int32, [3, 1]> i",
     .body = WIDE("i", "3"),
     .operation = "greater",
     .times = 3},
    {.row = "offset",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [3000, 1]> x",
     .body = "tensor<int32, [3]> j = add(x = i, y = int32(1));" LOOKED_UP("j"),
     .operation = "matmul",
     .times = 3},
    {.row = "order",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [3000, 1]> x",
     .body = "tensor<bool, [3]> n = less(x = i, y = int32(0)); tensor<int32, [3]> a = add(x = i, y = int32(3000));"
             "tensor<int32, [3]> j = select(a = a, b = i, cond = n);" LOOKED_UP("j"),
     .operation = "matmul",
     .times = 3},
    {.row = "limit",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [3000, 1]> x",
     .body = "tensor<int32, [3]> j = maximum(x = i, y = int32(0));" LOOKED_UP("j"),
     .operation = "matmul",
     .times = 3},
    {.row = "extreme",
     .inputs = "tensor<int32, [3, 1]> i",
     .body = "tensor<int32, [1, 1]> m = reduce_min(axes = tensor<int32, [1]>([0]), keep_dims = bool(true), x = "
             "i);" WIDE("m", "1"),
     .operation = "reduce_min",
     .times = 2},
    {.row = "cast",
     .inputs = "tensor<int32, [3, 1]> i",
     .body = "tensor<int32, [3, 1]> c = cast(dtype = string(\"int32\"), x = i);" WIDE("c", "3"),
     .operation = "cast",
     .times = 0},
    {.row = "reshape",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 1, 2]> y = reshape(shape = tensor<int32, [3]>([1300, 1, 2]), x = x);",
     .operation = "reshape",
     .times = 2},
    {.row = "sum",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [2]> y = reduce_sum_square(axes = tensor<int32, [1]>([0]), keep_dims = bool(false), x = x);",
     .operation = "reduce_sum",
     .times = 1},
    {.row = "mean",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [2]> y = reduce_mean(axes = tensor<int32, [1]>([0]), keep_dims = bool(false), x = x);",
     .operation = "mul",
     .times = 2},
    {.row = "reduction",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [2]> y = reduce_max(axes = tensor<int32, [1]>([0]), keep_dims = bool(false), x = x);",
     .operation = "reduce_max",
     .times = 3},
    {.row = "softmax",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 2]> y = softmax(axis = int32(0), x = x);",
     .operation = "exp",
     .times = 2},
    {.row = "linear",
     .inputs = "tensor<fp32, [3, 2]> x",
     .body = "tensor<fp32, [1300, 2]> w = fill(shape = tensor<int32, [2]>([1300, 2]), value = fp32(2));"
             "tensor<fp32, [1300]> b = fill(shape = tensor<int32, [1]>([1300]), value = fp32(1));"
             "tensor<fp32, [3, 1300]> y = linear(bias = b, weight = w, x = x);",
     .operation = "add",
     .times = 2},
    {.row = "contraction",
     .inputs = "tensor<fp32, [3, 1300]> a, tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [3, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = a, y = x);",
     .operation = "matmul",
     .times = 2},
    {.row = "elementwise",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 2]> y = atan(x = x);",
     .operation = "atan",
     .times = 2},
    {.row = "identity",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 2]> y = identity(x = x);",
     .operation = "identity",
     .times = 2},
    {.row = "transpose",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [2, 1300]> y = transpose(perm = tensor<int32, [2]>([1, 0]), x = x);",
     .operation = "transpose",
     .times = 2},
    {.row = "concat",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 4]> y = concat(axis = int32(1), interleave = bool(false), values = (x, x));",
     .operation = "concat",
     .times = 2},
    {.row = "slice",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 1]> y = slice_by_index(begin = tensor<int32, [2]>([0, 1]), begin_mask = tensor<bool, "
             "[2]>([true, false]), end = tensor<int32, [2]>([0, 2]), end_mask = tensor<bool, [2]>([true, false]), x = "
             "x);",
     .operation = "slice_by_index",
     .times = 2},
    {.row = "tile",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 4]> y = tile(reps = tensor<int32, [2]>([1, 2]), x = x);",
     .operation = "tile",
     .times = 2},
    {.row = "move",
     .inputs = "tensor<int32, [3, 1]> i",
     .body = "tensor<int32, [3, 1]> m = reverse(axes = tensor<int32, [1]>([0]), x = i);" WIDE("m", "3"),
     .operation = "reverse",
     .times = 2},
    {.row = "each_part",
     .inputs = "tensor<fp32, [1300, 2]> x",
     .body = "tensor<fp32, [1300, 2]> y = softmax(axis = int32(1), x = x);",
     .operation = "softmax",
     .times = 2},
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
     .times = 0},
    {.row = "half_cast",
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp32, [3]> c = cast(dtype = string(\"fp32\"), x = x); tensor<fp32, [3]> y = exp(x = c);",
     .operation = "cast",
     .times = 0},
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
     .times = 0},
    {.row = "rounded_range",
     .inputs = "tensor<fp32, [10]> x",
     .body = "tensor<fp32, [10]> r = range_1d(end = fp32(1), start = fp32(0), step = fp32(0.1));"
             "tensor<fp32, [10]> y = add(x = x, y = r);",
     .operation = "range_1d",
     .times = 0},
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
     .error = "integers from 3000 to 3000 meet an integer input"},
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
     .times = 3},
    {.row = "fraction",
     .inputs = "tensor<int32, [3]> i",
     .body = "tensor<int32, [3]> q = real_div(x = i, y = int32(2)); tensor<fp32, [3]> y = cast(dtype = "
             "string(\"fp32\"), x = q);",
     .operation = "floor",
     .times = 1},
    {.row = "mixed_fraction",
     .inputs = "tensor<int32, [3, 2]> i",
     .body = "tensor<int32, [3, 1]> q = matmul(transpose_x = bool(false), transpose_y = bool(false), x = i, y = "
             "tensor<fp32, [2, 1]>([[0.5], [2]])); tensor<fp32, [3, 1]> y = cast(dtype = string(\"fp32\"), x = q);",
     .operation = "floor",
     .times = 1},
    {.row = "half_operands",
     .inputs = "tensor<int32, [3]> i",
     .body = "tensor<int32, [3]> q = add(x = i, y = int32(2)); tensor<fp32, [3]> y = cast(dtype = string(\"fp32\"), x "
             "= q);",
     .operation = "floor",
     .times = 0},
    /* ---- what a row leaves, beyond their order ---- */
    {.row = "sine",
     .chip = MW_CHIP_H14,
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp16, [3]> y = cos(x = x);",
     .operation = "floor(",
     .times = 2},
    {.row = "softplus",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp16, [3]> y = softplus(x = x);",
     .operation = "minimum(",
     .times = 1},
    {.row = "round",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp16, [3]> y = round(x = x);",
     .operation = "select(",
     .times = 1},
    {.row = "square",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 65]> x",
     .body = "tensor<fp16, [2, 65]> s = square(x = x); tensor<fp16, [2, 65]> y = exp(x = s);",
     .operation = "square(",
     .times = 0},
    {.row = "zero_of_reduction",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 5]> x",
     .body = "tensor<fp16, [2, 1]> s = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = x);"
             "tensor<fp16, [2, 1]> y = mul(x = s, y = fp16(0));",
     .operation = "sub(",
     .times = 1},
    {.row = "rounding_scale",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [5]> x",
     .body = "tensor<fp16, [5]> s = floor(x = x); tensor<fp16, [5]> y = mul(x = s, y = fp16(3));",
     .operation = "[3, 3, 3, 3, 3]",
     .times = 0},
    {.row = "known_range",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp16, [3]> r = range_1d(end = fp16(3), start = fp16(0), step = fp16(1));"
             "tensor<fp16, [3]> y = add(x = x, y = r);",
     .operation = "range_1d",
     .times = 0},
    {.row = "known_shape",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<int32, [1]> s = shape(x = x);"
             "tensor<fp16, [1]> f = cast(dtype = string(\"fp16\"), x = s); tensor<fp16, [3]> y = mul(x = x, y = f);",
     .operation = "shape(",
     .times = 0},
    {.row = "tile_copies",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 3]> x",
     .body = "tensor<fp16, [7, 30]> y = tile(reps = tensor<int32, [2]>([7, 10]), x = x);",
     .operation = "[3, 5]>",
     .times = 0},
    {.row = "concat_one",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [3]> x",
     .body = "tensor<fp16, [3]> y = concat(axis = int32(0), interleave = bool(false), values = (x));",
     .operation = "identity(",
     .times = 1},
    {.row = "pad_channels",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 3, 3]> x",
     .body = "tensor<fp16, [1, 4, 3, 5]> y = pad(constant_val = fp16(2), mode = string(\"constant\"), pad = "
             "tensor<int32, [6]>([1, 1, 0, 0, 1, 1]), x = x);",
     .operation = "concat(",
     .times = 1},
    {.row = "pad_mode",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [3, 4]> x",
     .body = "tensor<fp16, [3, 7]> y = pad(constant_val = fp16(0), mode = string(\"reflect\"), pad = "
             "tensor<int32, [2]>([1, 2]), x = x);",
     .operation = "reverse(",
     .times = 2},
    {.row = "matmul_rank",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 2, 3, 4]> x, tensor<fp16, [1, 2, 2, 5, 4]> w",
     .body = "tensor<fp16, [1, 2, 2, 3, 5]> y = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, "
             "y = w);",
     .operation = "reshape(",
     .times = 3},
    {.row = "linear_rank",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 2, 3, 2]> x",
     .body = "tensor<fp16, [1, 2]> w = const()[val = tensor<fp16, [1, 2]>([[1, 2]])];"
             "tensor<fp16, [1, 2, 2, 3, 1]> y = linear(weight = w, x = x);",
     .operation = "reshape(",
     .times = 2},
    {.row = "layer_norm_rank",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 2, 3, 2]> x",
     .body = "tensor<fp16, [1, 2, 2, 3, 2]> y = layer_norm(axes = tensor<int32, [1]>([-1]), epsilon = fp16(0.01), "
             "x = x);",
     .operation = "reshape(",
     .times = 2},
    {.row = "attention",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 3, 4]> q, tensor<fp16, [2, 5, 4]> k, tensor<fp16, [2, 5, 4]> v",
     .body = "tensor<fp16, [2, 3, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .operation = "matmul(",
     .times = 2},
    {.row = "half_scaled", /* a scale that fp16 has */
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> w = constexpr_blockwise_shift_scale(data = tensor<int8, [3]>([1, -2, 100]), scale = "
             "tensor<fp32, [1]>([0.125])); tensor<fp32, [3]> y = add(x = x, y = w);",
     .operation = "constexpr_blockwise_shift_scale",
     .times = 1},
    {.row = "crop",
     .inputs = "tensor<fp32, [2, 3, 4, 5]> x, tensor<fp32, [1, 4]> b",
     .body = "tensor<fp32, [1, 3, 1, 1]> y = crop_resize(boxes = b, x = x);",
     .error = "rewrite crop did not apply, which wants boxes that are constants"},
    {.row = "drawn",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> z = random_normal(mean = fp32(0), seed = int32(-1), shape = tensor<int32, [1]>([3]), "
             "stddev = fp32(1)); tensor<fp32, [3]> y = add(x = x, y = z);",
     .error = "rewrite drawn did not apply, which wants a fixed seed"},
    {.row = "gather",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [3000, 1]> x",
     .body = "tensor<int32, [3]> j = mul(x = i, y = int32(2));" LOOKED_UP("j"),
     .error = "rewrite gather did not apply, which wants indices that come from an input by sums, limits"},
};
enum { CASES = sizeof cases / sizeof *cases };

static int count(const char *text, const char *operation)
{
    int times = 0;
    char wanted[100];
    snprintf(wanted, sizeof wanted, strchr(operation, '(') != NULL ? " = %s" : " = %s(", operation);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        times++;
    return times;
}

/* Decomposed and in parts if anything is, then legal; freed with mw_string_free. */
static char *rewrite(const row_case *c, mw_error *err)
{
    char text[4096];
    bool any = false, parts_any = false;
    char *result = NULL;
    snprintf(text, sizeof text, "program(1.3)\n{func main<%s>(%s) {%s} -> (y);}", c->opset != NULL ? c->opset : "ios18",
             c->inputs, c->body);
    mw_graph *from = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_graph *decomposed = mw_graph_create(NULL, NULL), *parts = mw_graph_create(NULL, NULL),
             *to = mw_graph_create(NULL, NULL);
    const mw__device_traits *ane = mw__device_find(MW_DEVICE_ANE);
    if (from != NULL && mw_graph_verify(from, err) == MW_OK &&
        mw__mil_decompose(from, decomposed, &(mw__legality){.device = ane}, NULL, &any, err) == MW_OK &&
        mw__mil_split(any ? decomposed : from, parts, &(mw__split_options){.axis_max = AXIS_MAX}, &parts_any, err) ==
            MW_OK &&
        mw__mil_legalize(parts_any ? parts
                         : any     ? decomposed
                                   : from,
                         to, ane, err) == MW_OK)
        result = mw_graph_print_mil(to, NULL, err);
    mw_graph_destroy(to);
    mw_graph_destroy(decomposed);
    mw_graph_destroy(parts);
    mw_graph_destroy(from);
    return result;
}

/* All forms for the chip that is named, held to its rows. */
static char *rewrite_for(const row_case *c, mw_error *err)
{
    char text[4096];
    mw__legal_form form = {0};
    snprintf(text, sizeof text, "program(1.3)\n{func main<%s>(%s) {%s} -> (y);}", c->opset != NULL ? c->opset : "ios18",
             c->inputs, c->body);
    mw_graph *from = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    const mw__legal_options how = {.device = mw__device_find(MW_DEVICE_ANE), .chip = mw__chip_find(c->chip)};
    char *result =
        from != NULL && mw_graph_verify(from, err) == MW_OK && mw__legal_form_make(from, &how, &form, err) == MW_OK
            ? mw_graph_print_mil(form.graph, NULL, err)
            : NULL;
    mw__legal_form_deinit(&form);
    mw_graph_destroy(from);
    return result;
}

static void check_case(const row_case *c)
{
    mw_error err = {0};
    char *text = c->chip != MW_CHIP_AUTO ? rewrite_for(c, &err) : rewrite(c, &err);
    if (c->error != NULL) {
        CHECK_CONTAINS(err.message, c->error);
    } else if (CHECK_OK(err)) {
        const int times = count(text, c->operation);
        check_note(times == c->times, __FILE__, __LINE__, "%s: %d of %s, not %d, in %s", c->row, times, c->operation,
                   c->times, text);
    }
    mw_string_free(text);
}

static void test_every_row_writes_its_case(void)
{
    for (size_t i = 0; i < CASES; i++)
        check_case(&cases[i]);
}

static void test_every_row_has_a_case(void)
{
    for (size_t i = 0; MW__RULE_BEFORE_REWRITES + 1 + i < MW__RULE_FIRST_PATTERN; i++) {
        const mw__rule *rule = mw__pass_rule_of((mw__rule_id)(MW__RULE_BEFORE_REWRITES + 1 + i));
        check_note(i < CASES && strcmp(cases[i].row, rule->name) == 0, __FILE__, __LINE__,
                   "no case of row %s in its place", rule->name);
    }
}

int main(void)
{
    RUN(test_every_row_writes_its_case);
    RUN(test_every_row_has_a_case);
    return check_finish();
}
