"""Compressed constants, and quantization of values. Sub-byte integers come as plain integers (blob.py)."""
import torch

from blob import pack_bits, unpack_bits
from registry import ints, normal_axis, operator
from values import InterpreterError, kind_of

RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15)}


def along(parameter, axis, rank):
    """A scalar, or a vector along `axis` of a tensor of that rank."""
    if parameter is None or parameter.numel() == 1:
        return parameter if parameter is None else parameter.reshape(())
    shape = [1] * rank
    shape[normal_axis(axis, rank)] = -1
    return parameter.reshape(shape)


def dequantized(data, scale, zero_point, axis, precision):
    scale, zero_point = along(scale, axis, data.dim()), along(zero_point, axis, data.dim())
    shifted = data.to(precision) if zero_point is None else data.to(precision) - zero_point.to(precision)
    return shifted * scale


@operator("constexpr_affine_dequantize")
def constexpr_affine_dequantize(quantized_data, scale, zero_point, axis: int, call=None):
    return dequantized(quantized_data, scale, zero_point, axis, call.precision)


@operator("dequantize")
def dequantize(input, scale, zero_point=None, axis: int = 0, call=None):
    return dequantized(input, scale, zero_point, axis, call.precision)


@operator("quantize")
def quantize(input, scale, output_dtype: str, zero_point=None, axis: int = 0):
    scale, zero_point = along(scale, axis, input.dim()), along(zero_point, axis, input.dim())
    rounded = torch.round(input.detach() / scale)
    low, high = RANGES[output_dtype]
    return (rounded if zero_point is None else rounded + zero_point).clamp(low, high).to(torch.int64)


@operator("constexpr_cast")
def constexpr_cast(source_val, output_dtype: str):
    if kind_of(output_dtype) != "float":
        raise InterpreterError("output_dtype %s" % output_dtype)
    return source_val


# ---- tables ----

def stretched(parameter, shape, first=0):
    """Repeats each element over its block: extents of `shape` are multiples of the parameter's."""
    for axis, n in enumerate(shape):
        parameter = parameter.repeat_interleave(n // parameter.shape[axis + first], axis + first)
    return parameter


def looked_up(indices, lut, vector_axis):
    """lut [blocks.., entries, V]; V > 1 elements of an entry stand along vector_axis."""
    rank = indices.dim()
    rows = stretched(lut, indices.shape).reshape(-1, *lut.shape[-2:])      # [count, entries, V]
    y = rows[torch.arange(indices.numel()), indices.reshape(-1)]           # [count, V]
    return merged_vectors(y.reshape(*indices.shape, lut.shape[-1]), vector_axis, rank)


def merged_vectors(y, vector_axis, rank):
    if y.shape[-1] == 1:
        return y.squeeze(-1)
    axis = normal_axis(vector_axis, rank)
    return y.movedim(-1, axis + 1).flatten(axis, axis + 1)


@operator("constexpr_lut_to_dense")
def constexpr_lut_to_dense(indices, lut, shape: ints = None, vector_axis: int = 0):
    """ios16 has packed indices and a shape; ios18 indices of the real shape and a table for each block."""
    if shape is None:
        return looked_up(indices, lut, vector_axis)
    bits = (lut.numel() - 1).bit_length()
    count = int(torch.tensor(shape).prod())
    numbers = unpack_bits(pack_bits(indices.numpy(), 8), bits, count)
    return lut[torch.from_numpy(numbers)].reshape(shape)


# ---- blocks and sparse ----

def shift_scaled(data, scale, offset, precision):
    y = data.to(precision)
    if offset is not None:
        y = y - stretched(offset, data.shape).to(precision)
    return y * stretched(scale, data.shape)


@operator("constexpr_blockwise_shift_scale")
def constexpr_blockwise_shift_scale(data, scale, offset=None, call=None):
    return shift_scaled(data, scale, offset, call.precision)


def filled(mask, nonzero):
    """Dense, with the values in order where the mask is set."""
    dense = torch.zeros(mask.numel(), dtype=nonzero.dtype)
    dense[mask.reshape(-1) != 0] = nonzero[:int((mask != 0).sum())]
    return dense.reshape(mask.shape)


@operator("constexpr_sparse_to_dense")
def constexpr_sparse_to_dense(nonzero_data, mask, shape: ints = None):
    """ios16 has a packed mask and a shape; ios18 a mask of the real shape."""
    if shape is not None:
        count = int(torch.tensor(shape).prod())
        mask = torch.from_numpy(unpack_bits(pack_bits(mask.numpy(), 8), 1, count)).reshape(shape)
    return filled(mask, nonzero_data)


@operator("constexpr_lut_to_sparse")
def constexpr_lut_to_sparse(indices_mask, indices_nonzero_data, lut, vector_axis: int = 0):
    dense = looked_up(filled(indices_mask, indices_nonzero_data), lut, vector_axis)
    vectors = indices_mask.unsqueeze(-1).expand(*indices_mask.shape, lut.shape[-1])
    mask = merged_vectors(vectors, vector_axis, indices_mask.dim())
    return mask, dense[mask != 0]


@operator("constexpr_sparse_blockwise_shift_scale")
def constexpr_sparse_blockwise_shift_scale(data_mask, nonzero_data, scale, offset=None, call=None):
    dense = shift_scaled(filled(data_mask, nonzero_data), scale, offset, call.precision)
    return data_mask, dense[data_mask != 0]
