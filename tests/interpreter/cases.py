"""Programs with results computed by hand: (statement, inputs, expected), one or more for an operator.

A statement is all that follows the result's type and name; the inputs' MIL types follow from their values. An expected
number that is no terminating fraction is given as the formula that it comes from.
"""
from math import erf, exp, inf, log, pi, sqrt, tanh

def sigmoid(x):
    return 1 / (1 + exp(-x))


X = {"x": [-1.5, 0.0, 2.0]}
SQUARE = {"x": [[1.0, 2.0], [3.0, 4.0]]}
IMAGE = {"x": [[[[1.0, 2.0], [3.0, 4.0]]]]}

CASES = [
    # pairs
    ("add(x = x, y = y)", {"x": [1.0, 2.0], "y": [[10.0], [20.0]]}, [[11, 12], [21, 22]]),
    ("sub(x = x, y = y)", {"x": [1, 2], "y": [3, 1]}, [-2, 1]),
    ("mul(x = x, y = y)", {"x": [1.5, 2.0], "y": [2.0, -3.0]}, [3, -6]),
    ("real_div(x = x, y = y)", {"x": [1.0, -3.0], "y": [2.0, 2.0]}, [0.5, -1.5]),
    ("floor_div(x = x, y = y)", {"x": [-7, 7], "y": [2, 2]}, [-4, 3]),
    ("mod(x = x, y = y)", {"x": [-7, 7], "y": [3, -3]}, [2, -2]),
    ("mod(x = x, y = y)", {"x": [-5.5], "y": [2.0]}, [0.5]),
    ("pow(x = x, y = y)", {"x": [-2.0, 4.0], "y": [3.0, 0.5]}, [-8, 2]),
    ("maximum(x = x, y = y)", {"x": [1.0, 5.0], "y": [2.0, 4.0]}, [2, 5]),
    ("minimum(x = x, y = y)", {"x": [1.0, 5.0], "y": [2.0, 4.0]}, [1, 4]),
    ("equal(x = x, y = y)", {"x": [1, 2], "y": [1, 3]}, [True, False]),
    ("not_equal(x = x, y = y)", {"x": [1, 2], "y": [1, 3]}, [False, True]),
    ("less(x = x, y = y)", {"x": [1.0, 3.0], "y": [2.0, 3.0]}, [True, False]),
    ("less_equal(x = x, y = y)", {"x": [1.0, 3.0], "y": [2.0, 3.0]}, [True, True]),
    ("greater(x = x, y = y)", {"x": [1.0, 3.0], "y": [2.0, 3.0]}, [False, False]),
    ("greater_equal(x = x, y = y)", {"x": [1.0, 3.0], "y": [2.0, 3.0]}, [False, True]),
    ("logical_and(x = x, y = y)", {"x": [True, True], "y": [True, False]}, [True, False]),
    ("logical_or(x = x, y = y)", {"x": [False, True], "y": [False, False]}, [False, True]),
    ("logical_xor(x = x, y = y)", {"x": [True, True], "y": [True, False]}, [False, True]),
    # singles
    ("logical_not(x = x)", {"x": [True, False]}, [False, True]),
    ("abs(x = x)", X, [1.5, 0, 2]), ("sign(x = x)", X, [-1, 0, 1]), ("square(x = x)", X, [2.25, 0, 4]),
    ("exp2(x = x)", X, [2**-1.5, 1, 4]), ("ceil(x = x)", X, [-1, 0, 2]), ("floor(x = x)", X, [-2, 0, 2]),
    ("round(x = x)", {"x": [0.5, 1.5, -2.5]}, [0, 2, -2]), ("exp(x = x)", X, [exp(-1.5), 1, exp(2)]),
    ("erf(x = x)", X, [erf(-1.5), 0, erf(2)]), ("tanh(x = x)", X, [tanh(-1.5), 0, tanh(2)]),
    ("sqrt(x = x)", {"x": [9.0]}, [3]), ("sin(x = x)", {"x": [0.0]}, [0]), ("cos(x = x)", {"x": [0.0]}, [1]),
    ("tan(x = x)", {"x": [0.0]}, [0]), ("asin(x = x)", {"x": [1.0]}, [pi / 2]), ("acos(x = x)", {"x": [1.0]}, [0]),
    ("atan(x = x)", {"x": [1.0]}, [pi / 4]), ("sinh(x = x)", {"x": [1.0]}, [(exp(1) - exp(-1)) / 2]),
    ("cosh(x = x)", {"x": [1.0]}, [(exp(1) + exp(-1)) / 2]), ("atanh(x = x)", {"x": [0.5]}, [log(3) / 2]),
    ("identity(x = x)", X, [-1.5, 0, 2]),
    ("rsqrt(epsilon = fp32(1), x = x)", {"x": [3.0]}, [0.5]),
    ("inverse(x = x)", {"x": [0.0]}, [1e4]), ("log(epsilon = fp32(0.5), x = x)", {"x": [0.5]}, [0]),
    ("clip(alpha = fp32(-1), beta = fp32(inf), x = x)", X, [-1, 0, 2]),
    ("threshold(alpha = fp32(0.5), x = x)", X, [0.5, 0.5, 2]),
    ("cast(dtype = string(\"int32\"), x = x)", {"x": [-1.9, 1.9]}, [-1, 1]),
    ("cast(dtype = string(\"bool\"), x = x)", X, [True, False, True]),
    ("cast(dtype = string(\"fp16\"), x = x)", {"x": [1.0 + 2.0**-11, 1.0 + 3 * 2.0**-11, 1e6]}, [1, 1 + 2**-9, inf]),
    ("select(a = a, b = b, cond = c)", {"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [True, False]}, [1, 4]),
    # activations
    ("relu(x = x)", X, [0, 0, 2]), ("relu6(x = x)", {"x": [7.0]}, [6]), ("sigmoid(x = x)", X, [sigmoid(-1.5),
     .5, sigmoid(2)]),
    ("silu(x = x)", {"x": [2.0]}, [2 * sigmoid(2)]), ("softplus(x = x)", X, [log(1 + exp(-1.5)), log(2),
     log(1 + exp(2))]),
    ("softsign(x = x)", X, [-0.6, 0, 2 / 3]), ("leaky_relu(alpha = fp32(0.5), x = x)", X, [-0.75, 0, 2]),
    ("prelu(alpha = tensor<fp32, [2]>([0.5, 2]), x = x)", {"x": [[[-1.0], [-1.0]]]}, [[[-0.5], [-2]]]),
    ("clamped_relu(alpha = fp32(0.5), beta = fp32(1), x = x)", X, [-0.75, 0, 1]),
    ("thresholded_relu(alpha = fp32(2), x = x)", X, [0, 0, 2]), ("elu(alpha = fp32(2), x = x)", X,
     [2 * (exp(-1.5) - 1), 0, 2]),
    ("gelu(mode = string(\"EXACT\"), x = x)", {"x": [1.0]}, [0.5 * (1 + erf(1 / sqrt(2)))]),
    ("gelu(mode = string(\"SIGMOID_APPROXIMATION\"), x = x)", {"x": [1.0]}, [sigmoid(1.702)]),
    ("gelu(mode = string(\"TANH_APPROXIMATION\"), x = x)", {"x": [1.0]}, [0.5 * (1 + tanh(sqrt(2 / pi) * 1.044715))]),
    ("sigmoid_hard(alpha = fp32(0.5), beta = fp32(0.5), x = x)", X, [0, 0.5, 1]),
    ("softplus_parametric(alpha = tensor<fp32, [1]>([2]), beta = tensor<fp32, [1]>([3]), x = x)", {"x": [[[1.0]]]},
     [[[2 * log(1 + exp(3))]]]),
    ("scaled_tanh(alpha = fp32(2), beta = fp32(3), x = x)", {"x": [1.0]}, [2 * tanh(3)]),
    ("linear_activation(alpha = fp32(2), beta = fp32(3), x = x)", X, [0, 3, 7]),
    ("softmax(axis = int32(0), x = x)", {"x": [0.0, log(3)]}, [0.25, 0.75]),
    # products
    ("linear(bias = tensor<fp32, [1]>([5]), weight = tensor<fp32, [1, 2]>([[1, 2]]), x = x)", SQUARE, [[10], [16]]),
    ("matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = x)", SQUARE, [[5, 11], [11, 25]]),
    ("einsum(equation = string(\"chw,whr->chr\"), values = (x, y))", {"x": [[[1.0, 2.0]]], "y": [[[3.0]],
     [[4.0]]]}, [[[11]]]),
    ("scaled_dot_product_attention(key = k, query = q, value = v)",
     {"k": [[[0.0], [log(3)]]], "q": [[[1.0]]], "v": [[[1.0], [5.0]]]}, [[[4]]]),
    # convolutions and pools: x = 1 2 3
    ("conv(pad = tensor<int32, [2]>([1, 0]), pad_type = string(\"custom\"), weight = tensor<fp32, [1, 1, "
     "2]>([[[10, 1]]]), x = x)",
     {"x": [[[1.0, 2.0, 3.0]]]}, [[[1, 12, 23]]]),
    ("conv(pad_type = string(\"same\"), weight = tensor<fp32, [1, 1, 2]>([[[10, 1]]]), x = x)",
     {"x": [[[1.0, 2.0, 3.0]]]}, [[[12, 23, 30]]]),
    ("conv(pad_type = string(\"same_lower\"), weight = tensor<fp32, [1, 1, 2]>([[[10, 1]]]), x = x)",
     {"x": [[[1.0, 2.0, 3.0]]]}, [[[1, 12, 23]]]),
    ("conv_transpose(strides = tensor<int32, [1]>([2]), weight = tensor<fp32, [1, 1, 3]>([[[1, 10, 100]]]), x = x)",
     {"x": [[[1.0, 2.0]]]}, [[[1, 10, 102, 20, 200]]]),
    ("conv_quantized(nbits = int32(8), quant_bias = tensor<fp32, [1]>([1]), quant_scale = tensor<fp32, [1]>([2]), "
     "quantization_type = string(\"linear\"), weight = tensor<uint8, [1, 1, 1]>([[[3]]]), x = x)",
         {"x": [[[10.0]]]}, [[[70]]]),
    ("max_pool(kernel_sizes = tensor<int32, [1]>([2]), pad = tensor<int32, [2]>([1, 1]), "
     "pad_type = string(\"custom\"), x = x)",
     {"x": [[[-1.0, -2.0]]]}, [[[-1, -1, -2]]]),
    ("avg_pool(kernel_sizes = tensor<int32, [1]>([2]), pad = tensor<int32, [2]>([1, 1]), "
     "pad_type = string(\"custom\"), x = x)",
     {"x": [[[2.0, 4.0]]]}, [[[1, 3, 2]]]),
    ("avg_pool(exclude_padding_from_average = bool(true), kernel_sizes = tensor<int32, [1]>([2]), "
     "pad = tensor<int32, [2]>([1, 1]), pad_type = string(\"custom\"), x = x)", {"x": [[[2.0, 4.0]]]}, [[[2, 3, 4]]]),
    ("l2_pool(kernel_sizes = tensor<int32, [1]>([2]), pad_type = string(\"valid\"), x = x)", {"x": [[[3.0,
     4.0]]]}, [[[5]]]),
    # normalization
    ("batch_norm(beta = tensor<fp32, [1]>([1]), epsilon = fp32(0), gamma = tensor<fp32, [1]>([3]), "
     "mean = tensor<fp32, [1]>([1]), "
     "variance = tensor<fp32, [1]>([4]), x = x)", {"x": [[[5.0]]]}, [[[7]]]),
    ("instance_norm(epsilon = fp32(0), x = x)", {"x": [[[1.0, 3.0]]]}, [[[-1, 1]]]),
    ("layer_norm(axes = tensor<int32, [1]>([1]), epsilon = fp32(0), x = x)", {"x": [[1.0, 3.0]]}, [[-1, 1]]),
    ("l2_norm(epsilon = fp32(0), x = x)", {"x": [[[3.0, 4.0]]]}, [[[0.6, 0.8]]]),
    ("local_response_norm(alpha = fp32(3), beta = fp32(1), k = fp32(1), size = int32(3), x = x)",
     {"x": [[[1.0], [2.0], [1.0]]]}, [[[1 / 6], [2 / 7], [1 / 6]]]),
    # reductions
    ("reduce_sum(axes = tensor<int32, [1]>([0]), keep_dims = bool(false), x = x)", SQUARE, [4, 6]),
    ("reduce_mean(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = x)", SQUARE, [[1.5], [3.5]]),
    ("reduce_max(x = x)", SQUARE, 4), ("reduce_min(x = x)", SQUARE, 1), ("reduce_prod(x = x)", SQUARE, 24),
    ("reduce_sum_square(x = x)", SQUARE, 30), ("reduce_l1_norm(x = x)", X, 3.5), ("reduce_l2_norm(x = x)",
     {"x": [3.0, -4.0]}, 5),
    ("reduce_log_sum(x = x)", SQUARE, log(10)), ("reduce_log_sum_exp(x = x)", {"x": [1000.0, 1000.0]}, 1000 + log(2)),
    ("reduce_argmax(axis = int32(0), x = x)", {"x": [1.0, 3.0, 3.0]}, 1), ("reduce_argmin(axis = int32(0), "
     "x = x)", {"x": [2, 1, 1]}, 1),
    ("cumsum(axis = int32(0), exclusive = bool(true), reverse = bool(true), x = x)", {"x": [1.0, 2.0, 4.0]}, [6, 4, 0]),
    # shapes
    ("reshape(shape = tensor<int32, [2]>([0, -1]), x = x)", SQUARE, [[1, 2], [3, 4]]),
    ("flatten2d(axis = int32(1), x = x)", IMAGE, [[1, 2, 3, 4]]),
    ("transpose(perm = tensor<int32, [2]>([1, 0]), x = x)", SQUARE, [[1, 3], [2, 4]]),
    ("expand_dims(axes = tensor<int32, [2]>([0, -1]), x = x)", {"x": [1.0, 2.0]}, [[[1], [2]]]),
    ("squeeze(axes = tensor<int32, [1]>([0]), x = x)", {"x": [[[1.0]]]}, [[1]]),
    ("concat(axis = int32(0), interleave = bool(true), values = (x, y))", {"x": [1, 2], "y": [3, 4]}, [1, 3, 2, 4]),
    ("stack(axis = int32(-1), values = (x, y))", {"x": [1, 2], "y": [3, 4]}, [[1, 3], [2, 4]]),
    ("slice_by_index(begin = tensor<int32, [2]>([0, -1]), end = tensor<int32, [2]>([0, 0]), "
     "end_mask = tensor<bool, [2]>([true, true]), "
     "squeeze_mask = tensor<bool, [2]>([false, false]), stride = tensor<int32, [2]>([1, -1]), x = x)", SQUARE,
         [[2, 1], [4, 3]]),
    ("slice_by_index(begin = tensor<int32, [2]>([1, 0]), end = tensor<int32, [2]>([0, 2]), "
     "squeeze_mask = tensor<bool, [2]>([true, false]), x = x)", SQUARE, [3, 4]),
    ("slice_by_size(begin = tensor<int32, [1]>([-2]), size = tensor<int32, [1]>([-1]), x = x)", {"x": [1, 2,
     3]}, [2, 3]),
    ("slice_update(begin = tensor<int32, [1]>([0]), end = tensor<int32, [1]>([3]), stride = tensor<int32, "
     "[1]>([2]), update = u, x = x)",
     {"u": [8.0, 9.0], "x": [1.0, 2.0, 3.0]}, [8, 2, 9]),
    ("crop(crop_height = tensor<int32, [2]>([1, 0]), crop_width = tensor<int32, [2]>([0, 1]), x = x)", IMAGE,
     [[[[3]]]]),
    ("reverse(axes = tensor<int32, [1]>([0]), x = x)", {"x": [1, 2, 3]}, [3, 2, 1]),
    ("reverse_sequence(batch_axis = int32(0), lengths = tensor<int32, [2]>([2, 3]), seq_axis = int32(1), x = x)",
     {"x": [[1, 2, 3], [4, 5, 6]]}, [[2, 1, 3], [6, 5, 4]]),
    ("tile(reps = tensor<int32, [1]>([2]), x = x)", {"x": [1, 2]}, [1, 2, 1, 2]),
    ("sliding_windows(axis = int32(0), size = int32(2), stride = int32(1), x = x)", {"x": [1, 2, 3]}, [[1, 2], [2, 3]]),
    ("band_part(lower = int32(-1), upper = int32(0), x = x)", SQUARE, [[1, 0], [3, 4]]),
    ("pad(constant_val = fp32(7), mode = string(\"constant\"), pad = tensor<int32, [2]>([1, 0]), x = x)",
     SQUARE, [[7, 1, 2], [7, 3, 4]]),
    ("pad(mode = string(\"reflect\"), pad = tensor<int32, [2]>([2, 1]), x = x)", {"x": [1.0, 2.0, 3.0]}, [3, 2,
     1, 2, 3, 2]),
    ("pad(mode = string(\"replicate\"), pad = tensor<int32, [2]>([1, 1]), x = x)", {"x": [1.0, 2.0]}, [1, 1, 2, 2]),
    ("fill(shape = tensor<int32, [2]>([1, 2]), value = int32(3))", {}, [[3, 3]]),
    ("fill_like(ref_tensor = x, value = fp32(3))", {"x": [1.0, 2.0]}, [3, 3]),
    ("range_1d(end = int32(6), start = int32(1), step = int32(2))", {}, [1, 3, 5]), ("shape(x = x)", SQUARE, [2, 2]),
    ("reshape_like(begins = (int32(0)), end_masks = (bool(true)), ends = (int32(0)), ref_tensors = (y), x = x)",
     {"x": [1.0, 2.0, 3.0, 4.0], "y": [[1.0, 1.0], [1.0, 1.0]]}, [[1, 2], [3, 4]]),
    # space
    ("depth_to_space(block_size = int32(2), x = x)", {"x": [[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]}, [[[[1, 2],
     [3, 4]]]]),
    ("space_to_depth(block_size = int32(2), x = x)", IMAGE, [[[[1]], [[2]], [[3]], [[4]]]]),
    ("pixel_shuffle(upscale_factor = int32(2), x = x)", {"x": [[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]}, [[[[1,
     2], [3, 4]]]]),
    ("pixel_unshuffle(downscale_factor = int32(2), x = x)", IMAGE, [[[[1]], [[2]], [[3]], [[4]]]]),
    ("space_to_batch(block_shape = tensor<int32, [2]>([2, 2]), paddings = tensor<int32, [2, 2]>([[0, 0], [0, "
     "0]]), x = x)",
     IMAGE, [[[[1]]], [[[2]]], [[[3]]], [[[4]]]]),
    ("batch_to_space(block_shape = tensor<int32, [2]>([2, 2]), crops = tensor<int32, [2, 2]>([[0, 1], [0, 0]]), x = x)",
     {"x": [[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]}, [[[[1, 2]]]]),
    # indices
    ("gather(axis = int32(1), indices = i, x = x)", dict(SQUARE, i=[1, -1, 0]), [[2, 2, 1], [4, 4, 3]]),
    ("gather(axis = int32(1), batch_dims = int32(1), indices = i, x = x)", dict(SQUARE, i=[[1], [0]]), [[2], [3]]),
    ("gather_along_axis(axis = int32(0), indices = i, x = x)", dict(SQUARE, i=[[1, 0]]), [[3, 2]]),
    ("gather_nd(indices = i, x = x)", dict(SQUARE, i=[[0, 1], [1, 0]]), [2, 3]),
    ("scatter(axis = int32(0), data = x, indices = i, mode = string(\"add\"), updates = u)",
     {"x": [1.0, 2.0], "i": [0, 0], "u": [10.0, 20.0]}, [31, 2]),
    ("scatter_along_axis(axis = int32(0), data = x, indices = i, mode = string(\"mul\"), updates = u)",
     {"x": [1.0, 2.0], "i": [1, 1], "u": [10.0, 20.0]}, [1, 400]),
    ("scatter_nd(data = x, indices = i, mode = string(\"max\"), updates = u)", dict(SQUARE, i=[[0, 0]],
     u=[9.0]), [[9, 2], [3, 4]]),
    ("non_zero(x = x)", {"x": [[0, 5], [6, 0]]}, [[0, 1], [1, 0]]), ("argsort(axis = int32(0), x = x)",
     {"x": [1.0, 3.0, 2.0]}, [1, 2, 0]),
    ("one_hot(indices = i, off_value = int32(0), on_value = int32(5), one_hot_vector_size = int32(3))",
     {"i": [2, 0]}, [[0, 0, 5], [5, 0, 0]]),
    # images
    ("upsample_nearest_neighbor(scale_factor_height = int32(1), scale_factor_width = int32(2), x = x)", IMAGE,
     [[[[1, 1, 2, 2], [3, 3, 4, 4]]]]),
    ("resize_nearest_neighbor(target_size_height = int32(1), target_size_width = int32(4), x = x)", IMAGE,
     [[[[1, 1, 2, 2]]]]),
    ("upsample_bilinear(align_corners = bool(false), scale_factor_height = int32(1), "
     "scale_factor_width = int32(2), x = x)",
     IMAGE, [[[[1, 1.25, 1.75, 2], [3, 3.25, 3.75, 4]]]]),
    ("resize_bilinear(sampling_mode = string(\"STRICT_ALIGN_CORNERS\"), target_size_height = int32(3), "
     "target_size_width = int32(2), x = x)",
     IMAGE, [[[[1, 2], [2, 3], [3, 4]]]]),
    ("resize(interpolation_mode = string(\"LINEAR\"), resized_dims = uint32(2), "
     "sampling_mode = string(\"UNALIGN_CORNERS\"), "
     "shape = tensor<int32, [2]>([1, 1]), x = x)", IMAGE, [[[[2.5]]]]),
    ("affine(align_corners = bool(true), coordinates_mode = string(\"unnormalized\"), output_height = int32(2), "
     "output_width = int32(2), "
     "padding_mode = string(\"constant\"), padding_value = fp32(9), sampling_mode = string(\"bilinear\"), "
     "transform_matrix = tensor<fp32, [1, 6]>([[1, 0, 1, 0, 1, 0]]), x = x)", IMAGE, [[[[2, 9], [4, 9]]]]),
    ("resample(align_corners = bool(true), coordinates = c, coordinates_mode = string(\"unnormalized\"), "
     "padding_mode = string(\"constant\"), "
     "padding_value = fp32(0), sampling_mode = string(\"bilinear\"), x = x)", dict(IMAGE, c=[[[[0.5, 1.0]]]]),
         [[[[3.5]]]]),
    ("crop_resize(box_coordinate_mode = string(\"CORNERS_WIDTH_FIRST\"), box_indices = tensor<int32, [1]>([0]), "
     "boxes = b, "
     "sampling_mode = string(\"ALIGN_CORNERS\"), target_height = int32(2), target_width = int32(1), x = x)",
     dict(IMAGE, b=[[0.0, 0.0, 1.0, 1.0]]), [[[[1.5], [3.5]]]]),
    # recurrent, with weights 0: gates are 1/2, candidates 0
    ("rnn(initial_h = h, weight_hh = tensor<fp32, [1, 1]>([[1]]), weight_ih = tensor<fp32, [1, 1]>([[1]]), "
     "activation = string(\"linear\"), "
     "output_sequence = bool(true), x = x)", {"x": [[[1.0]], [[2.0]]], "h": [[10.0]]}, [[[11]], [[13]]]),
    ("gru(initial_h = h, weight_hh = tensor<fp32, [3, 1]>([[0], [0], [0]]), weight_ih = tensor<fp32, [3, "
     "1]>([[0], [0], [0]]), x = x)",
     {"x": [[[1.0]], [[1.0]]], "h": [[8.0]]}, [[[2]]]),
    ("lstm(initial_c = c, initial_h = h, weight_hh = tensor<fp32, [4, 1]>([[0], [0], [0], [0]]), "
     "weight_ih = tensor<fp32, [4, 1]>([[0], [0], [0], [1]]), bias = tensor<fp32, [4]>([0, 0, 0, 0]), "
         "activation = string(\"linear\"), "
     "cell_activation = string(\"linear\"), x = x)", {"x": [[[2.0]]], "c": [[4.0]], "h": [[0.0]]}, [[[1.5]]]),
    # quantized
    ("quantize(input = x, output_dtype = string(\"int8\"), scale = fp32(0.5))", {"x": [0.25, 0.75, 100.0]}, [0,
     2, 127]),
    ("dequantize(input = tensor<int8, [2]>([1, -3]), scale = fp32(0.5), zero_point = int8(1))", {}, [0, -2]),
    ("constexpr_affine_dequantize()[axis = int32(0), quantized_data = tensor<uint8, [2, 1]>([[3], [4]]), "
     "scale = tensor<fp32, [2]>([1, 0.5]), zero_point = tensor<uint8, [2]>([1, 2])]", {}, [[2], [1]]),
    ("constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([228]), lut = tensor<fp32, [4]>([10, 11, 12, 13]), "
     "shape = tensor<uint32, [1]>([4])]",
     {}, [10, 11, 12, 13]),
    ("constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([5]), nonzero_data = tensor<fp32, [2]>([7, 8]), "
     "shape = tensor<uint32, [1]>([3])]",
     {}, [7, 0, 8]),
    ("constexpr_cast()[output_dtype = string(\"fp32\"), source_val = fp16(1.5)]", {}, 1.5),
    ("constexpr_blockwise_shift_scale(data = tensor<int4, [4]>([1, 2, 3, -4]), offset = tensor<int4, [2]>([1, "
     "0]), scale = tensor<fp32, [2]>([2, 10]))",
     {}, [0, 2, 30, -40]),
]

# Several results: (result types, statement, inputs, expected of each).
SEVERAL = [
    (["tensor<fp32, [1]>", "tensor<fp32, [2]>"], "split(axis = int32(0), num_splits = int32(2), "
     "split_sizes = tensor<int32, [2]>([1, 2]), x = x)",
     X, [[-1.5], [0, 2]]),
    (["tensor<fp32, [2]>", "tensor<int32, [2]>"], "topk(axis = int32(0), k = int32(2), x = x)", {"x": [1.0, 3.0,
     2.0]}, [[3, 2], [1, 2]]),
    (["tensor<fp32, [1, 2, 4]>", "tensor<fp32, [1, 2, 1]>", "tensor<int32, [1, 2]>", "tensor<int32, [1]>"],
     "non_maximum_suppression(boxes = b, iou_threshold = fp32(0.5), max_boxes = int32(2), "
         "per_class_suppression = bool(false), "
     "score_threshold = fp32(0.1), scores = s)",
     {"b": [[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0], [9.0, 9.0, 2.0, 2.0]]], "s": [[[0.5], [0.9], [0.05]]]},
     [[[[0, 0, 2, 2], [0, 0, 0, 0]]], [[[0.9], [0]]], [[1, -1]], [1]]),
    (["tensor<fp32, [1, 4, 1]>", "tensor<fp32, [1, 1, 1]>", "tensor<int32, [1, 1]>"],
     "non_maximum_suppression(boxes = b, iou_threshold = fp32(0.5), max_boxes = int32(1), scores = s)",
     {"b": [[[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]]], "s": [[[0.5, 0.9]]]},
     [[[[5], [6], [7], [8]]], [[[0.9]]], [[1]]]),
    (["tensor<uint1, [3]>", "tensor<fp32, [2]>"], "constexpr_lut_to_sparse(indices_mask = tensor<uint1, [3]>([1, "
     "0, 1]), "
     "indices_nonzero_data = tensor<uint1, [2]>([1, 0]), lut = tensor<fp32, [1, 2, 1]>([[[5], [6]]]))", {}, [[1,
         0, 1], [6, 5]]),
    (["tensor<uint1, [3]>", "tensor<fp32, [2]>"], "constexpr_sparse_blockwise_shift_scale(data_mask = "
     "tensor<uint1, [3]>([1, 0, 1]), "
     "nonzero_data = tensor<int8, [2]>([3, 4]), offset = tensor<int8, [1]>([1]), scale = tensor<fp32, "
         "[1]>([2]))", {}, [[1, 0, 1], [4, 6]]),
]
