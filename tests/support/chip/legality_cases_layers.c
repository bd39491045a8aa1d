/* The cases of legality_cases.h of programs, gathers, convolution and products, in the order of the rows. What is held
 * in a file is a reference to none: a check asks for types and shapes. */
#include "legality_cases.h"

#include <stddef.h>

static const legality_case cases[] = {
    {.rule = "mil",
     .chip = MW_CHIP_H12,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "rank",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 1, 1, 1, 1, 4]> x",
     .trips = "tensor<fp16, [1, 1, 1, 1, 1, 4]> y = relu(x = x);",
     .inside = "tensor<fp16, [1, 1, 1, 1, 4]> y = relu(x = x);",
     .inside_inputs = "tensor<fp16, [1, 1, 1, 1, 4]> x"},
    {.rule = "extent",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [4]> x",
     .trips =
         "tensor<fp16, [16385, 4]> w = const()[val = tensor<fp16, [16385, 4]>(BLOBFILE(path = "
         "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [16385]> y = linear(weight = w, x = x);",
     .inside =
         "tensor<fp16, [16384, 4]> w = const()[val = tensor<fp16, [16384, 4]>(BLOBFILE(path = "
         "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [16384]> y = linear(weight = w, x = x);"},
    {.rule = "open_extent",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<int32, [?, 1]> y = non_zero(x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "float_type",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp32, [4]> x",
     .trips = "tensor<fp32, [4]> y = relu(x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);",
     .inside_inputs = "tensor<fp16, [4]> x"},
    {.rule = "fp8_type",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<fp8e4m3fn, [4]> w = const()[val = tensor<fp8e4m3fn, [4]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [4]> y = relu(x = x);",
     .inside = "tensor<int8, [4]> w = const()[val = tensor<int8, [4]>(BLOBFILE(path = string(\"@model_path/w.bin\"), "
               "offset = uint64(64)))];tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "cast_int32",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<int32, [4]> y = cast(dtype = string(\"int32\"), x = x);",
     .inside = "tensor<fp16, [4]> y = cast(dtype = string(\"fp16\"), x = x);"},
    {.rule = "argument_computed",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x, fp16 e",
     .trips = "tensor<fp16, [4]> y = rsqrt(epsilon = e, x = x);",
     .inside = "tensor<fp16, [4]> y = rsqrt(epsilon = fp16(0.5), x = x);"},
    {.rule = "weights_size",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<fp16, [65536, 16385]> w = const()[val = tensor<fp16, [65536, 16385]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [4]> y = relu(x = x);",
     .inside = "tensor<fp16, [65536, 16384]> w = const()[val = tensor<fp16, [65536, 16384]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "control",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x, bool p",
     .trips = "tensor<fp16, [4]> y = cond(pred = p) () { tensor<fp16, [4]> a = relu(x = x); } -> (a) () { tensor<fp16, "
              "[4]> b = abs(x = x); } -> (b);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "lists",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "list<tensor<fp16, [4]>, 3> l = make_list(dtype = string(\"fp16\"), dynamic_length = bool(false), "
              "elem_shape = (int32(4)), init_length = int32(3)); tensor<fp16, [4]> y = relu(x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "states",
     .chip = MW_CHIP_H17,
     .inputs = "state<tensor<fp16, [4]>> s",
     .trips = "tensor<fp16, [4]> y = read_state(input = s);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);",
     .inside_inputs = "tensor<fp16, [4]> x"},
    {.rule = "coreml_float_type",
     .chip = MW_CHIP_H16,
     .inputs = "tensor<fp32, [4]> x",
     .trips = "tensor<fp32, [4]> y = relu(x = x);",
     .inside = "tensor<fp16, [4]> a = cast(dtype = string(\"fp16\"), x = x);tensor<fp16, [4]> b = relu(x = a);"
               "tensor<fp32, [4]> y = cast(dtype = string(\"fp32\"), x = b);"},
    {.rule = "coreml_int32",
     .chip = MW_CHIP_H16,
     .inputs = "tensor<int32, [4]> x",
     .trips = "tensor<int32, [4]> y = add(x = x, y = x);",
     .inside =
         "tensor<fp16, [2]> y, tensor<int32, [2]> i = topk(ascending = bool(false), axis = int32(0), k = int32(2), "
         "output_indices_dtype = string(\"int32\"), return_indices = bool(true), sort = bool(true), x = x);",
     .inside_inputs = "tensor<fp16, [4]> x"},
    {.rule = "gather_half",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2]> i, tensor<fp16, [5, 3]> x",
     .trips = "tensor<fp16, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, validate_indices = "
              "bool(false), x = x);",
     .inside = "tensor<fp16, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, validate_indices "
               "= bool(false), x = x);",
     .inside_inputs = "tensor<int32, [2]> i, tensor<fp16, [5, 3]> x"},
    {.rule = "gather_along_axis_half",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 3]> i, tensor<fp16, [5, 3]> x",
     .trips = "tensor<fp16, [2, 3]> y = gather_along_axis(axis = int32(0), indices = i, validate_indices = "
              "bool(false), x = x);",
     .inside = "tensor<fp16, [2, 3]> y = gather_along_axis(axis = int32(0), indices = i, validate_indices = "
               "bool(false), x = x);",
     .inside_inputs = "tensor<int32, [2, 3]> i, tensor<fp16, [5, 3]> x"},
    {.rule = "gather_nd_half",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 2]> i, tensor<fp16, [5, 3]> x",
     .trips =
         "tensor<fp16, [2]> y = gather_nd(batch_dims = int32(0), indices = i, validate_indices = bool(false), x = x);",
     .inside =
         "tensor<fp16, [2]> y = gather_nd(batch_dims = int32(0), indices = i, validate_indices = bool(false), x = x);",
     .inside_inputs = "tensor<int32, [2, 2]> i, tensor<fp16, [5, 3]> x"},
    {.rule = "one_hot_half",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2]> i",
     .trips = "tensor<fp16, [2, 5]> y = one_hot(axis = int32(-1), indices = i, off_value = fp16(0), on_value = "
              "fp16(1), one_hot_vector_size = int32(5));",
     .inside = "tensor<fp16, [2, 5]> y = one_hot(axis = int32(-1), indices = i, off_value = fp16(0), on_value = "
               "fp16(1), one_hot_vector_size = int32(5));",
     .inside_inputs = "tensor<int32, [2]> i"},
    {.rule = "non_zero",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<int32, [?, 1]> y = non_zero(x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "scatter",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [5, 3]> x, tensor<int32, [2]> i, tensor<fp16, [2, 3]> u",
     .trips = "tensor<fp16, [5, 3]> y = scatter(axis = int32(0), data = x, indices = i, mode = string(\"add\"), "
              "updates = u, validate_indices = bool(false));",
     .inside = "tensor<fp16, [5, 3]> y = relu(x = x);"},
    {.rule = "scatter_along_axis",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [5, 3]> x, tensor<int32, [2, 3]> i, tensor<fp16, [2, 3]> u",
     .trips = "tensor<fp16, [5, 3]> y = scatter_along_axis(axis = int32(0), data = x, indices = i, mode = "
              "string(\"add\"), updates = u, validate_indices = bool(false));",
     .inside = "tensor<fp16, [5, 3]> y = relu(x = x);"},
    {.rule = "scatter_nd",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [5, 3]> x, tensor<int32, [2, 1]> i, tensor<fp16, [2, 3]> u",
     .trips = "tensor<fp16, [5, 3]> y = scatter_nd(data = x, indices = i, mode = string(\"add\"), updates = u, "
              "validate_indices = bool(false));",
     .inside = "tensor<fp16, [5, 3]> y = relu(x = x);"},
    {.rule = "gather_batch",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<int32, [3]> i, tensor<fp16, [2, 5, 2, 2]> x",
     .trips = "tensor<fp16, [2, 3, 2, 2]> y = gather(axis = int32(1), batch_dims = int32(0), indices = i, "
              "validate_indices = bool(false), x = x);",
     .inside = "tensor<fp16, [1, 3, 2, 2]> y = gather(axis = int32(1), batch_dims = int32(0), indices = i, "
               "validate_indices = bool(false), x = x);",
     .inside_inputs = "tensor<int32, [3]> i, tensor<fp16, [1, 5, 2, 2]> x"},
    {.rule = "coreml_gather_computed",
     .chip = MW_CHIP_H16,
     .inputs = "tensor<int32, [2]> i, tensor<fp16, [5, 3]> x",
     .trips = "tensor<fp16, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, validate_indices = "
              "bool(false), x = x);",
     .inside =
         "tensor<fp16, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = tensor<int32, [2]>([4, "
         "1]), validate_indices = bool(false), x = x);"},
    {.rule = "coreml_gather_constant",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [5, 3]> x",
     .trips =
         "tensor<fp16, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = tensor<int32, [2]>([4, "
         "1]), validate_indices = bool(false), x = x);",
     .inside = "tensor<fp16, [5, 3]> y = relu(x = x);"},
    {.rule = "gather_sweep",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<int32, [2]> i, tensor<fp16, [5, 3]> x",
     .trips = "tensor<fp16, [2, 3]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, validate_indices = "
              "bool(false), x = x);",
     .inside = "tensor<fp16, [5, 3]> y = relu(x = x);"},
    {.rule = "one_hot",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<int32, [2]> i",
     .trips = "tensor<fp16, [2, 5]> y = one_hot(axis = int32(-1), indices = i, off_value = fp16(0), on_value = "
              "fp16(1), one_hot_vector_size = int32(5));",
     .inside = "tensor<fp16, [4]> y = relu(x = x);",
     .inside_inputs = "tensor<fp16, [4]> x"},
    {.rule = "conv_kernel_width",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [1, 4, 1, 14]> w = const()[val = tensor<fp16, [1, 4, 1, 14]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 51]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 1, 13]> w = const()[val = tensor<fp16, [1, 4, 1, 13]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 52]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "coreml_conv_kernel_width",
     .chip = MW_CHIP_H16,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [1, 4, 1, 16]> w = const()[val = tensor<fp16, [1, 4, 1, 16]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 49]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside =
         "tensor<fp16, [1, 4, 16, 16]> w = const()[val = tensor<fp16, [1, 4, 16, 16]>(BLOBFILE(path = "
         "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 49, 49]> y = conv(dilations = "
         "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
         "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_computed_weight",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 4, 8, 8]> x, tensor<fp16, [1, 4, 1, 1]> w",
     .trips = "tensor<fp16, [2, 1, 8, 8]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "
              "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), "
              "weight = w, x = x);",
     .inside = "tensor<fp16, [1, 1, 8, 8]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "
               "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), "
               "weight = w, x = x);",
     .inside_inputs = "tensor<fp16, [1, 4, 8, 8]> x, tensor<fp16, [1, 4, 1, 1]> w"},
    {.rule = "conv_transpose_computed_weight",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x, tensor<fp16, [4, 1, 1, 1]> w",
     .trips = "tensor<fp16, [1, 1, 64, 64]> y = conv_transpose(dilations = tensor<int32, [2]>([1, 1]), groups = "
              "int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, "
              "[2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [4, 1, 1, 1]> w = const()[val = tensor<fp16, [4, 1, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 64]> y = "
               "conv_transpose(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, "
               "0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside_inputs = "tensor<fp16, [1, 4, 64, 64]> x"},
    {.rule = "conv_quantized",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips =
         "tensor<fp16, [1, 4, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1]>(BLOBFILE(path = "
         "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 64]> y = "
         "conv_quantized(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), nbits = int32(8), pad = "
         "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), quant_bias = fp16(0), quant_scale = fp16(1), "
         "quantization_type = string(\"linear\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 64]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_computed_weight_single",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 8, 8]> x, tensor<fp16, [1, 4, 1, 1]> w",
     .trips = "tensor<fp16, [1, 1, 8, 8]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "
              "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), "
              "weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 8, 8]> y = conv(dilations = "
               "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside_inputs = "tensor<fp16, [1, 4, 8, 8]> x"},
    {.rule = "conv_transpose_kernel_width",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [4, 1, 1, 16]> w = const()[val = tensor<fp16, [4, 1, 1, 16]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 79]> y = "
              "conv_transpose(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, "
              "0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [4, 1, 1, 15]> w = const()[val = tensor<fp16, [4, 1, 1, 15]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 78]> y = "
               "conv_transpose(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, "
               "0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_kernel_height",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [1, 4, 30, 1]> w = const()[val = tensor<fp16, [1, 4, 30, 1]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 35, 64]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 29, 1]> w = const()[val = tensor<fp16, [1, 4, 29, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 36, 64]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_kernel_depth",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 32, 8, 8]> x",
     .trips = "tensor<fp16, [1, 4, 17, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 17, 1, 1]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 16, 8, 8]> y = conv(dilations "
              "= tensor<int32, [3]>([1, 1, 1]), groups = int32(1), pad = tensor<int32, [6]>([0, 0, 0, 0, 0, 0]), "
              "pad_type = string(\"valid\"), strides = tensor<int32, [3]>([1, 1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 16, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 16, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 17, 8, 8]> y = "
               "conv(dilations = tensor<int32, [3]>([1, 1, 1]), groups = int32(1), pad = tensor<int32, [6]>([0, 0, 0, "
               "0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [3]>([1, 1, 1]), weight = w, x = x);"},
    {.rule = "conv_volume",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 32, 8, 8]> x",
     .trips = "tensor<fp16, [1, 4, 1, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1, 1]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 32, 8, 8]> y = conv(dilations "
              "= tensor<int32, [3]>([1, 1, 1]), groups = int32(1), pad = tensor<int32, [6]>([0, 0, 0, 0, 0, 0]), "
              "pad_type = string(\"valid\"), strides = tensor<int32, [3]>([1, 1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 64, 64]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside_inputs = "tensor<fp16, [1, 4, 64, 64]> x"},
    {.rule = "conv_kernel_beyond_input",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 5, 8]> x",
     .trips = "tensor<fp16, [1, 4, 6, 1]> w = const()[val = tensor<fp16, [1, 4, 6, 1]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 1, 8]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 5, 1]> w = const()[val = tensor<fp16, [1, 4, 5, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 1, 8]> y = conv(dilations = "
               "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_groups",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [4, 1, 1, 1]> w = const()[val = tensor<fp16, [4, 1, 1, 1]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 4, 64, 64]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(3), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [4, 2, 1, 1]> w = const()[val = tensor<fp16, [4, 2, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 4, 64, 64]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(2), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_kernel_memory",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 65536, 64, 64]> x",
     .trips = "tensor<fp16, [1, 65536, 32, 5]> w = const()[val = tensor<fp16, [1, 65536, 32, 5]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 33, 60]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 65536, 16, 8]> w = const()[val = tensor<fp16, [1, 65536, 16, 8]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [1, 1, 49, 57]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);"},
    {.rule = "conv_batch",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [129, 4, 8, 8]> x",
     .trips = "tensor<fp16, [1, 4, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1]>(BLOBFILE(path = "
              "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [129, 1, 8, 8]> y = conv(dilations = "
              "tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
              "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside = "tensor<fp16, [1, 4, 1, 1]> w = const()[val = tensor<fp16, [1, 4, 1, 1]>(BLOBFILE(path = "
               "string(\"@model_path/w.bin\"), offset = uint64(64)))];tensor<fp16, [128, 1, 8, 8]> y = conv(dilations "
               "= tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = "
               "string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x);",
     .inside_inputs = "tensor<fp16, [128, 4, 8, 8]> x"},
    {.rule = "max_pool_width",
     .chip = MW_CHIP_H16,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [1, 4, 64, 56]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, "
              "[2]>([1, 9]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = "
              "tensor<int32, [2]>([1, 1]), x = x);",
     .inside = "tensor<fp16, [1, 4, 56, 57]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, "
               "[2]>([9, 8]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = "
               "tensor<int32, [2]>([1, 1]), x = x);"},
    {.rule = "pool_window",
     .chip = MW_CHIP_H13,
     .inputs = "tensor<fp16, [1, 4, 64, 64]> x",
     .trips = "tensor<fp16, [1, 4, 35, 64]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, "
              "[2]>([30, 1]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = "
              "tensor<int32, [2]>([1, 1]), x = x);",
     .inside = "tensor<fp16, [1, 4, 36, 64]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, "
               "[2]>([29, 1]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = "
               "tensor<int32, [2]>([1, 1]), x = x);"},
    {.rule = "pool_input",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 3, 8]> x",
     .trips = "tensor<fp16, [1, 4, 1, 8]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([4, "
              "1]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, "
              "[2]>([1, 1]), x = x);",
     .inside = "tensor<fp16, [1, 4, 1, 8]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([3, "
               "1]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, "
               "[2]>([1, 1]), x = x);"},
    {.rule = "pool_padding",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 4, 8, 8]> x",
     .trips = "tensor<fp16, [1, 4, 9, 7]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([2, "
              "2]), pad = tensor<int32, [4]>([2, 0, 0, 0]), pad_type = string(\"custom\"), strides = tensor<int32, "
              "[2]>([1, 1]), x = x);",
     .inside = "tensor<fp16, [1, 4, 8, 7]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([2, "
               "2]), pad = tensor<int32, [4]>([1, 0, 0, 0]), pad_type = string(\"custom\"), strides = tensor<int32, "
               "[2]>([1, 1]), x = x);"},
    {.rule = "matmul_depth",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 1, 2, 2, 3]> x, tensor<fp16, [3, 2]> w",
     .trips = "tensor<fp16, [1, 1, 2, 2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y "
              "= w);",
     .inside = "tensor<fp16, [1, 1, 1, 2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, "
               "y = w);",
     .inside_inputs = "tensor<fp16, [1, 1, 1, 2, 3]> x, tensor<fp16, [3, 2]> w"},
    {.rule = "matmul_transposed_rank",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 1, 1, 2, 3]> x, tensor<fp16, [2, 3]> w",
     .trips =
         "tensor<fp16, [1, 1, 1, 2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = w);",
     .inside =
         "tensor<fp16, [1, 1, 2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = w);",
     .inside_inputs = "tensor<fp16, [1, 1, 2, 3]> x, tensor<fp16, [2, 3]> w"},
    {.rule = "matmul_inner_extent",
     .chip = MW_CHIP_H16,
     .inputs = "tensor<fp16, [2, 32769]> x, tensor<fp16, [32769, 2]> w",
     .trips = "tensor<fp16, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w);",
     .inside = "tensor<fp16, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w);",
     .inside_inputs = "tensor<fp16, [2, 32768]> x, tensor<fp16, [32768, 2]> w"},
    {.rule = "matmul_kernel_memory",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 32769]> x, tensor<fp16, [32769, 2]> w",
     .trips = "tensor<fp16, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w);",
     .inside = "tensor<fp16, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w);",
     .inside_inputs = "tensor<fp16, [2, 32768]> x, tensor<fp16, [32768, 2]> w"},
    {.rule = "linear_rank",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 1, 1, 2, 3]> x",
     .trips =
         "tensor<fp16, [2, 3]> w = const()[val = tensor<fp16, [2, 3]>(BLOBFILE(path = string(\"@model_path/w.bin\"), "
         "offset = uint64(64)))];tensor<fp16, [1, 1, 1, 2, 2]> y = linear(weight = w, x = x);",
     .inside =
         "tensor<fp16, [2, 3]> w = const()[val = tensor<fp16, [2, 3]>(BLOBFILE(path = string(\"@model_path/w.bin\"), "
         "offset = uint64(64)))];tensor<fp16, [1, 1, 2, 2]> y = linear(weight = w, x = x);",
     .inside_inputs = "tensor<fp16, [1, 1, 2, 3]> x"},
    {.rule = "einsum_equation",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 3, 4]> x, tensor<fp16, [4, 3, 5]> w",
     .trips = "tensor<fp16, [2, 3, 5]> y = einsum(equation = string(\"chw,whu->chu\"), values = (x, w));",
     .inside = "tensor<fp16, [1, 2, 3, 5]> y = einsum(equation = string(\"nchw,nwhu->nchu\"), values = (x, w));",
     .inside_inputs = "tensor<fp16, [1, 2, 3, 4]> x, tensor<fp16, [1, 4, 3, 5]> w"},
    {.rule = "attention_batch",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [2, 2, 3, 4]> q, tensor<fp16, [2, 2, 5, 4]> k, tensor<fp16, [2, 2, 5, 4]> v",
     .trips = "tensor<fp16, [2, 2, 3, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .inside = "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .inside_inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v"},
    {.rule = "attention_length",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 512, 4]> q, tensor<fp16, [1, 2, 512, 4]> k, tensor<fp16, [1, 2, 512, 4]> v",
     .trips = "tensor<fp16, [1, 2, 512, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .inside = "tensor<fp16, [1, 2, 511, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .inside_inputs =
         "tensor<fp16, [1, 2, 511, 4]> q, tensor<fp16, [1, 2, 2048, 4]> k, tensor<fp16, [1, 2, 2048, 4]> v"},
    {.rule = "attention_mask_planes",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v, tensor<fp16, "
               "[1, 2, 3, 5]> m",
     .trips =
         "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = v);",
     .inside =
         "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = v);",
     .inside_inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v, "
                      "tensor<fp16, [1, 1, 3, 5]> m"},
    {.rule = "attention_mask_type",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v, tensor<bool, "
               "[1, 1, 3, 5]> m",
     .trips =
         "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = v);",
     .inside =
         "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = v);",
     .inside_inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v, "
                      "tensor<fp16, [1, 1, 3, 5]> m"},
    {.rule = "attention_lengths",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 6, 4]> v",
     .trips = "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .inside = "tensor<fp16, [1, 2, 3, 4]> y = scaled_dot_product_attention(key = k, query = q, value = v);",
     .inside_inputs = "tensor<fp16, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v"},
    {.rule = "softmax",
     .chip = MW_CHIP_H11,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<fp16, [4]> y = softmax(axis = int32(0), x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "norms",
     .chip = MW_CHIP_H11,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<fp16, [4]> y = layer_norm(axes = tensor<int32, [1]>([-1]), epsilon = fp16(0.01), x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
    {.rule = "layer_norm_depth",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [1, 1, 2, 3, 4]> x",
     .trips =
         "tensor<fp16, [1, 1, 2, 3, 4]> y = layer_norm(axes = tensor<int32, [1]>([-1]), epsilon = fp16(0.01), x = x);",
     .inside =
         "tensor<fp16, [1, 1, 1, 3, 4]> y = layer_norm(axes = tensor<int32, [1]>([-1]), epsilon = fp16(0.01), x = x);",
     .inside_inputs = "tensor<fp16, [1, 1, 1, 3, 4]> x"},
    {.rule = "layer_norm_context",
     .chip = MW_CHIP_H17,
     .inputs = "tensor<fp16, [4]> x",
     .trips = "tensor<fp16, [4]> y = layer_norm(axes = tensor<int32, [1]>([-1]), epsilon = fp16(0.01), x = x);",
     .inside = "tensor<fp16, [4]> y = relu(x = x);"},
};

const legality_case *legality_case_layers(size_t index)
{
    return index < sizeof cases / sizeof *cases ? &cases[index] : NULL;
}
