"""Products: linear, matmul, einsum, attention."""
import math

import torch

from registry import operator, tensors
from values import InterpreterError, kind_of


def product(x, y, call):
    """torch.matmul; of an integer and a float the float decides, and the result has its declared kind."""
    if x.dtype != y.dtype:
        x, y = x.to(call.precision), y.to(call.precision)
    result = torch.matmul(x, y)
    if kind_of(call.dtype) == "int" and result.dtype.is_floating_point:
        return torch.trunc(result).to(torch.int64)
    return result


@operator("linear")
def linear(x, weight, bias=None, call=None):
    y = product(x, weight.transpose(-1, -2), call)
    return y if bias is None else y + bias.to(y.dtype)


@operator("matmul")
def matmul(x, y, transpose_x: bool = False, transpose_y: bool = False, call=None):
    if (transpose_x and x.dim() < 2) or (transpose_y and y.dim() < 2):
        raise InterpreterError("a vector cannot be transposed")
    return product(x.transpose(-1, -2) if transpose_x else x, y.transpose(-1, -2) if transpose_y else y, call)


@operator("einsum")
def einsum(values: tensors, equation: str):
    return torch.einsum(equation.replace(" ", ""), *values)


@operator("scaled_dot_product_attention")
def scaled_dot_product_attention(query, key, value, attn_mask=None):
    """softmax(query key' / sqrt(E) + mask) value; false in a mask of bool is -inf."""
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])   # [.., L, S]
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask
    return torch.matmul(torch.softmax(scores, -1), value)
