"""What a value is while a program runs, and how a result is rounded to its MIL type.

Every float is held in one torch type, the precision of the run: float32 or float64; fp16, bf16 (and, at precision 32,
fp32) results are rounded to their type once per operation. Every integer is held as int64 and wrapped to its width.
"""
from dataclasses import dataclass

import numpy as np
import torch

from blob import BITS, is_float, is_signed


class InterpreterError(Exception):
    """The program asks for what MIL does not define, or for what this interpreter does not know."""


@dataclass
class Tensor:
    data: object         # torch.Tensor, or a string
    dtype: str


@dataclass
class Chances(Tensor):
    """What classify gives as a dictionary: its numbers in the order of the classes, and their labels."""
    labels: list


@dataclass
class List:
    """Elements are data as in Tensor.data; an element that was never written is None."""
    elements: list
    dtype: str
    shape: tuple


def half(array):
    # numpy rounds float64 to half in one step; torch goes by float32, which rounds twice.
    with np.errstate(over="ignore"):
        return array.detach().numpy().astype(np.float16).astype(np.float64)


class Rounded(torch.autograd.Function):
    """Rounds to fp16 or bf16; the gradient passes as if it did not, as no derivative of steps is of use."""

    @staticmethod
    def forward(_, x, dtype):
        if dtype == "bf16":
            return x.to(torch.float32).to(torch.bfloat16).to(x.dtype)
        return torch.from_numpy(np.asarray(half(x))).to(x.dtype)

    @staticmethod
    def backward(_, dy):
        return dy, None


def wrapped(x, dtype):
    """Integers modulo the width of their type."""
    bits = BITS[dtype]
    if bits >= 64:
        return x
    x = x & ((1 << bits) - 1)
    if is_signed(dtype):
        x = torch.where(x >= 1 << (bits - 1), x - (1 << bits), x)
    return x


def kind_of(dtype):
    if dtype in ("bool", "string"):
        return dtype
    return "float" if is_float(dtype) else "int"


def kind_of_data(data):
    if isinstance(data, str):
        return "string"
    if data.dtype == torch.bool:
        return "bool"
    return "float" if data.dtype.is_floating_point else "int"


def finish(data, dtype, precision):
    """The result of an operation in its declared type."""
    if kind_of_data(data) != kind_of(dtype):
        raise InterpreterError("the operator gives %s, the text declares %s" % (kind_of_data(data), dtype))
    if dtype in ("fp16", "bf16"):
        return Tensor(Rounded.apply(data.to(precision), dtype), dtype)
    if is_float(dtype):
        return Tensor(data.to(precision), dtype)
    if kind_of(dtype) == "int":
        return Tensor(wrapped(data.to(torch.int64), dtype), dtype)
    return Tensor(data, dtype)


def from_numpy(array, dtype, precision):
    """A constant: decimals are rounded to their declared type first, also when more precision is carried."""
    if kind_of(dtype) == "float":
        narrow = {"fp16": np.float16, "fp32": np.float32}.get(dtype, np.float64)
        with np.errstate(over="ignore"):
            array = np.asarray(array, np.float64).astype(narrow).astype(np.float64)
        return finish(torch.tensor(array), dtype, precision)
    wide = np.bool_ if dtype == "bool" else np.int64
    return finish(torch.tensor(np.asarray(array).astype(wide)), dtype, precision)
