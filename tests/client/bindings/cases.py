"""A call of every operation of the table from Python: what it is given by name, and the shapes of its results.

A row is (arguments, shapes); where a shape is None, it is not looked at, and the program is not run. In the arguments
In(shape, dtype) is an input of the graph, Const(values, dtype) a constant of another type than Python's numbers have;
everything else is given as a user would. An operation without a case fails the test.
"""
import collections

In = collections.namedtuple("In", "shape dtype low high", defaults=("fp32", 0.25, 0.75))
Const = collections.namedtuple("Const", "values dtype")

X, V = In((2, 3)), In((4,))
PLANE, CUBE = In((1, 4, 6, 6)), In((2, 3, 4))
SEQUENCE, INDICES = In((5, 2, 3)), In((2,), "int32", 0, 2)
UNARY = """abs sign square sqrt rsqrt inverse exp log erf tanh exp2 floor ceil round sin cos tan asin acos atan sinh
cosh atanh relu sigmoid silu gelu relu6 softplus softsign identity softmax""".split()
BINARY = "add sub mul real_div floor_div mod maximum minimum pow".split()
COMPARE = "equal not_equal less less_equal greater greater_equal".split()
REDUCE = """reduce_sum reduce_mean reduce_max reduce_min reduce_log_sum_exp reduce_prod reduce_sum_square reduce_l1_norm
reduce_l2_norm reduce_log_sum""".split()
BOOLS = In((2, 3), "bool", 0, 2)
MASK = Const([[1, 0, 1], [0, 1, 0]], "u1")
LUT = [[[[0.5], [1.5], [2.5], [3.5]]]]
SAMPLE = {"sampling_mode": "bilinear", "coordinates_mode": "normalized_minus_one_to_one",
          "padding_mode": "constant", "padding_value": 0.5, "align_corners": True}
RNN = {"x": SEQUENCE, "initial_h": In((2, 4))}
POOL = {"x": PLANE, "kernel_sizes": [2, 2], "strides": [2, 2], "pad_type": "valid"}

CASES = {
    **{name: [({"x": X}, [(2, 3)])] for name in UNARY},
    **{name: [({"x": X, "y": In((3,))}, [(2, 3)]), ({"x": X, "y": 2}, [(2, 3)])] for name in BINARY},
    **{name: [({"x": X, "y": X}, [(2, 3)])] for name in COMPARE},
    **{name: [({"x": CUBE, "axes": [0, -1], "keep_dims": True}, [(1, 3, 1)])] for name in REDUCE},
    "logical_and": [({"x": BOOLS, "y": BOOLS}, [(2, 3)])],
    "logical_or": [({"x": BOOLS, "y": BOOLS}, [(2, 3)])],
    "logical_xor": [({"x": BOOLS, "y": BOOLS}, [(2, 3)])],
    "logical_not": [({"x": BOOLS}, [(2, 3)])],
    "select": [({"cond": BOOLS, "a": X, "b": 0.0}, [(2, 3)])],
    "threshold": [({"x": X, "alpha": 0.5}, [(2, 3)])],
    "clip": [({"x": X, "alpha": 0.3, "beta": 0.5}, [(2, 3)])],
    "cast": [({"x": X, "dtype": "fp16"}, [(2, 3)])],
    "leaky_relu": [({"x": X, "alpha": 0.1}, [(2, 3)])],
    "prelu": [({"x": PLANE, "alpha": [0.1, 0.2, 0.3, 0.4]}, [(1, 4, 6, 6)])],
    "clamped_relu": [({"x": X, "alpha": 0.1, "beta": 0.5}, [(2, 3)])],
    "thresholded_relu": [({"x": X, "alpha": 0.5}, [(2, 3)])],
    "elu": [({"x": X, "alpha": 1.0}, [(2, 3)])],
    "softplus_parametric": [({"x": PLANE, "alpha": [1.0] * 4, "beta": [2.0] * 4}, [(1, 4, 6, 6)])],
    "scaled_tanh": [({"x": X, "alpha": 1.5, "beta": 0.5}, [(2, 3)])],
    "sigmoid_hard": [({"x": X, "alpha": 0.2, "beta": 0.5}, [(2, 3)])],
    "linear_activation": [({"x": X, "alpha": 2.0, "beta": 0.5}, [(2, 3)])],
    "matmul": [({"x": X, "y": In((4, 3)), "transpose_y": True}, [(2, 4)])],
    "linear": [({"x": X, "weight": [[1.0, 2.0, 3.0]] * 4, "bias": [0.5] * 4}, [(2, 4)])],
    "einsum": [({"values": [In((2, 3, 4)), In((4, 3, 5))], "equation": "chw,whr->chr"}, [(2, 3, 5)])],
    "scaled_dot_product_attention": [({"query": CUBE, "key": CUBE, "value": CUBE}, [(2, 3, 4)])],
    "lstm": [({**RNN, "initial_c": In((2, 4)), "weight_ih": [[0.1] * 3] * 16, "weight_hh": [[0.1] * 4] * 16,
               "output_sequence": True}, [(5, 2, 4), (2, 4), (2, 4)])],
    "gru": [({**RNN, "weight_ih": [[0.1] * 3] * 12, "weight_hh": [[0.1] * 4] * 12, "output_sequence": True},
             [(5, 2, 4), (2, 4)])],
    "rnn": [({**RNN, "weight_ih": [[0.1] * 3] * 4, "weight_hh": [[0.1] * 4] * 4, "output_sequence": True},
             [(5, 2, 4), (2, 4)])],
    "conv": [({"x": PLANE, "weight": In((5, 4, 3, 3)), "strides": [2, 2], "pad_type": "same"}, [(1, 5, 3, 3)])],
    "conv_quantized": [({"x": PLANE, "weight": Const([[[[1]]] * 4] * 5, "uint8"), "quantization_type": "linear",
                         "nbits": 8, "quant_scale": [0.5] * 5, "quant_bias": [0.0] * 5}, [(1, 5, 6, 6)])],
    "conv_transpose": [({"x": PLANE, "weight": [[[[0.5] * 2] * 2] * 2] * 4, "strides": [2, 2]}, [(1, 2, 12, 12)])],
    "max_pool": [(POOL, [(1, 4, 3, 3)])],
    "avg_pool": [({**POOL, "exclude_padding_from_average": True}, [(1, 4, 3, 3)])],
    "l2_pool": [(POOL, [(1, 4, 3, 3)])],
    "reduce_argmax": [({"x": CUBE, "axis": 1, "keep_dims": False}, [(2, 4)])],
    "reduce_argmin": [({"x": CUBE, "axis": -1, "keep_dims": True}, [(2, 3, 1)])],
    "cumsum": [({"x": CUBE, "axis": 2, "exclusive": True}, [(2, 3, 4)])],
    "batch_norm": [({"x": PLANE, "mean": [0.5] * 4, "variance": [1.0] * 4, "epsilon": 1e-3}, [(1, 4, 6, 6)])],
    "instance_norm": [({"x": PLANE, "gamma": [1.0] * 4, "beta": [0.0] * 4}, [(1, 4, 6, 6)])],
    "layer_norm": [({"x": CUBE, "axes": [-1], "epsilon": 1e-3}, [(2, 3, 4)])],
    "l2_norm": [({"x": In((1, 3, 4, 4))}, [(1, 3, 4, 4)])],
    "local_response_norm": [({"x": PLANE, "size": 3}, [(1, 4, 6, 6)])],
    "reshape": [({"x": CUBE, "shape": [4, -1]}, [(4, 6)])],
    "transpose": [({"x": CUBE, "perm": [2, 0, 1]}, [(4, 2, 3)])],
    "expand_dims": [({"x": X, "axes": [1]}, [(2, 1, 3)])],
    "squeeze": [({"x": In((2, 1, 3)), "axes": [1]}, [(2, 3)])],
    "concat": [({"values": [X, In((4, 3))], "axis": 0}, [(6, 3)])],
    "stack": [({"values": [X, X, X], "axis": 1}, [(2, 3, 3)])],
    "split": [({"x": CUBE, "axis": 2, "num_splits": 2}, [(2, 3, 2), (2, 3, 2)]),
              ({"x": CUBE, "axis": 2, "split_sizes": [1, 3]}, [(2, 3, 1), (2, 3, 3)]),
              ({"x": In((100,)), "axis": 0, "num_splits": 100}, [(1,)] * 100)],
    "slice_by_index": [({"x": CUBE, "begin": [0, 1, 0], "end": [2, 3, 0], "end_mask": [False, False, True]},
                        [(2, 2, 4)])],
    "slice_by_size": [({"x": CUBE, "begin": [0, 1, 2], "size": [2, 1, -1]}, [(2, 1, 2)])],
    "slice_update": [({"x": CUBE, "update": In((2, 1, 4)), "begin": [0, 1, 0], "end": [2, 2, 4]}, [(2, 3, 4)])],
    "tile": [({"x": X, "reps": [2, 2]}, [(4, 6)])],
    "pad": [({"x": PLANE, "pad": [1, 2, 3, 4], "mode": "constant", "constant_val": 0.5}, [(1, 4, 9, 13)])],
    "fill": [({"shape": [2, 3], "value": 0.5}, [(2, 3)])],
    "fill_like": [({"ref_tensor": X, "value": 0.5}, [(2, 3)])],
    "range_1d": [({"start": 0, "end": 10, "step": 3}, [(4,)])],
    "reverse": [({"x": CUBE, "axes": [1]}, [(2, 3, 4)])],
    "reverse_sequence": [({"x": CUBE, "lengths": [1, 2], "seq_axis": 1, "batch_axis": 0}, [(2, 3, 4)])],
    "sliding_windows": [({"x": CUBE, "axis": 2, "size": 2, "stride": 2}, [(2, 3, 2, 2)])],
    "band_part": [({"x": CUBE, "lower": 0, "upper": -1}, [(2, 3, 4)])],
    "flatten2d": [({"x": CUBE, "axis": 2}, [(6, 4)])],
    "reshape_like": [({"x": CUBE, "ref_tensors": [In((6, 4))], "begins": [0], "ends": [2], "end_masks": [False]},
                      [(6, 4)])],
    "shape": [({"x": CUBE}, [(3,)])],
    "depth_to_space": [({"x": PLANE, "block_size": 2}, [(1, 1, 12, 12)])],
    "space_to_depth": [({"x": PLANE, "block_size": 2}, [(1, 16, 3, 3)])],
    "pixel_shuffle": [({"x": PLANE, "upscale_factor": 2}, [(1, 1, 12, 12)])],
    "pixel_unshuffle": [({"x": PLANE, "downscale_factor": Const(2, "uint32")}, [(1, 16, 3, 3)])],
    "space_to_batch": [({"x": PLANE, "block_shape": [2, 2], "paddings": [[0, 0], [0, 0]]}, [(4, 4, 3, 3)])],
    "batch_to_space": [({"x": In((4, 4, 3, 3)), "block_shape": [2, 2], "crops": [[0, 0], [0, 0]]}, [(1, 4, 6, 6)])],
    "one_hot": [({"indices": INDICES, "one_hot_vector_size": 3, "on_value": 1.0, "off_value": 0.0}, [(2, 3)])],
    "gather": [({"x": CUBE, "indices": INDICES, "axis": 1}, [(2, 2, 4)])],
    "gather_along_axis": [({"x": X, "indices": In((2, 2), "int32", 0, 3), "axis": 1}, [(2, 2)])],
    "gather_nd": [({"x": X, "indices": In((5, 1), "int32", 0, 2)}, [(5, 3)])],
    "scatter": [({"data": X, "indices": INDICES, "updates": In((2, 3)), "axis": 0, "mode": "add"}, [(2, 3)])],
    "scatter_along_axis": [({"data": X, "indices": In((2, 2), "int32", 0, 2), "updates": In((2, 2)), "axis": 1,
                             "mode": "add"}, [(2, 3)])],
    "scatter_nd": [({"data": X, "indices": In((2, 1), "int32", 0, 2), "updates": X, "mode": "add"}, [(2, 3)])],
    "non_zero": [({"x": Const([1.0, 0.0, 2.0], "fp32")}, [None])],
    "argsort": [({"x": X, "axis": 1, "ascending": True}, [(2, 3)])],
    "topk": [({"x": CUBE, "k": 2, "axis": 2, "ascending": False}, [(2, 3, 2), (2, 3, 2)])],
    "non_maximum_suppression": [({"boxes": In((1, 4, 5)), "scores": In((1, 2, 5)), "max_boxes": 3,
                                  "iou_threshold": 0.5}, [(1, 4, 3), (1, 2, 3), (1, 3)])],
    "upsample_nearest_neighbor": [({"x": PLANE, "scale_factor_height": 2, "scale_factor_width": 3}, [(1, 4, 12, 18)])],
    "upsample_bilinear": [({"x": PLANE, "scale_factor_height": 2, "scale_factor_width": 2, "align_corners": False},
                           [(1, 4, 12, 12)])],
    "resize_nearest_neighbor": [({"x": PLANE, "target_size_height": 3, "target_size_width": 12}, [(1, 4, 3, 12)])],
    "resize_bilinear": [({"x": PLANE, "target_size_height": 3, "target_size_width": 12, "sampling_mode": "DEFAULT"},
                         [(1, 4, 3, 12)])],
    "resize": [({"x": PLANE, "shape": [3, 12], "resized_dims": Const(2, "uint32"), "interpolation_mode": "LINEAR",
                 "sampling_mode": "DEFAULT"}, [(1, 4, 3, 12)])],
    "crop": [({"x": PLANE, "crop_height": [1, 2], "crop_width": [0, 3]}, [(1, 4, 3, 3)])],
    "resample": [({"x": PLANE, "coordinates": In((1, 3, 5, 2)), **SAMPLE}, [(1, 4, 3, 5)])],
    "affine": [({"x": PLANE, "transform_matrix": [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]], "output_height": 3,
                 "output_width": 5, **SAMPLE}, [(1, 4, 3, 5)])],
    "crop_resize": [({"x": PLANE, "boxes": [[0.0, 0.0, 1.0, 1.0]], "target_height": 3, "target_width": 2,
                      "box_indices": [0]}, [(1, 4, 3, 2)])],
    "random_bernoulli": [({"shape": [2, 3], "prob": 0.5, "seed": 1}, [(2, 3)])],
    "random_categorical": [({"x": X, "mode": "logits", "size": 4, "seed": 1}, [(2, 4)])],
    "random_normal": [({"shape": [2, 3], "mean": 0.0, "stddev": 1.0, "seed": 1}, [(2, 3)])],
    "random_uniform": [({"shape": [2, 3], "low": 0.0, "high": 1.0, "seed": 1}, [(2, 3)])],
    "quantize": [({"input": X, "scale": 0.1, "output_dtype": "uint8"}, [(2, 3)])],
    "dequantize": [({"input": Const([1, 2], "int8"), "scale": 0.1}, [(2,)])],
    "constexpr_affine_dequantize": [({"quantized_data": Const([[1, 2]], "uint8"), "scale": 0.5,
                                      "zero_point": Const(1, "uint8"), "axis": 0}, [(1, 2)])],
    "constexpr_cast": [({"source_val": Const([1.0, 2.0], "fp16"), "output_dtype": "fp32"}, [(2,)])],
    "constexpr_lut_to_dense": [({"indices": Const([[0, 1, 2], [3, 0, 1]], "u2"), "lut": LUT}, [(2, 3)])],
    "constexpr_sparse_to_dense": [({"nonzero_data": Const([1, 2, 3], "int8"), "mask": MASK}, [(2, 3)])],
    "constexpr_blockwise_shift_scale": [({"data": Const([[1, 2], [3, 4]], "int8"), "scale": [[0.5], [0.25]]},
                                         [(2, 2)])],
    "constexpr_lut_to_sparse": [({"indices_mask": MASK, "indices_nonzero_data": Const([3, 0, 1], "u2"), "lut": LUT,
                                  "vector_axis": 0}, [None, None])],
    "constexpr_sparse_blockwise_shift_scale": [({"data_mask": MASK, "nonzero_data": Const([1, 2, 3], "int8"),
                                                 "scale": [[0.5], [0.25]]}, [None, None])],
    "make_list": [({"init_length": 2, "elem_shape": [3], "dtype": "fp32"}, [None])],
    "list_gather": [({"ls": "list", "indices": [0, 1]}, [(2, 3)])],
    "list_length": [({"ls": "list"}, [()])],
    "list_read": [({"ls": "list", "index": 0}, [(3,)])],
    "list_scatter": [({"ls": "list", "indices": [0, 1], "value": X}, [None])],
    "list_write": [({"ls": "list", "index": 1, "value": In((3,))}, [None])],
}

# Operations that have a call of their own in Python, as they hold blocks, states or the labels of classes.
APART = {"const": "Graph.constant", "cond": "cond", "while_loop": "while_loop", "classify": "classify",
         "read_state": "ops.read_state", "write_state": "ops.write_state"}
