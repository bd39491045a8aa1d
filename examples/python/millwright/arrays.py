"""Elements in memory: what the library gives (Array) and what it is fed (buffers, numpy's arrays, lists of numbers).

Nothing here needs numpy: its arrays are known by their __array_interface__, and numpy.asarray takes an Array."""
from __future__ import annotations

import ctypes
import itertools
import math
import struct
import sys
from typing import Any, List

from . import abi

DType = abi.mw_dtype

# The types that move between Python and the library: of struct, of ctypes, of numpy.
TYPES = {
    DType.MW_F16: ("e", ctypes.c_uint16, "f2"), DType.MW_F32: ("f", ctypes.c_float, "f4"),
    DType.MW_F64: ("d", ctypes.c_double, "f8"), DType.MW_I8: ("b", ctypes.c_int8, "i1"),
    DType.MW_I16: ("h", ctypes.c_int16, "i2"), DType.MW_I32: ("i", ctypes.c_int32, "i4"),
    DType.MW_I64: ("q", ctypes.c_int64, "i8"), DType.MW_U8: ("B", ctypes.c_uint8, "u1"),
    DType.MW_U16: ("H", ctypes.c_uint16, "u2"), DType.MW_U32: ("I", ctypes.c_uint32, "u4"),
    DType.MW_U64: ("Q", ctypes.c_uint64, "u8"), DType.MW_BOOL: ("?", ctypes.c_bool, "b1"),
}
BY_NUMPY = {code: dtype for dtype, (_, _, code) in TYPES.items()}
FLOATS = {DType.MW_F16, DType.MW_F32, DType.MW_F64}
NATIVE = "<" if sys.byteorder == "little" else ">"
# Letters of the buffer protocol, of whatever size they have on this machine.
KINDS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"), "?": "b"}


def dtype_of(value):
    """A DType of itself, its name in MIL ("fp32"), or a dtype of numpy."""
    if isinstance(value, str):
        for dtype in DType:
            if dtype.name.lower() == f"mw_{value}" or NAMES.get(dtype) == value:
                return dtype
    code = getattr(value, "str", "")[1:] if not isinstance(value, int) else None
    if code in BY_NUMPY:
        return BY_NUMPY[code]
    if isinstance(value, (str, bool)) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no element type")
    return DType(value)


NAMES = {
    DType.MW_F16: "fp16", DType.MW_F32: "fp32", DType.MW_F64: "fp64", DType.MW_I8: "int8", DType.MW_I16: "int16",
    DType.MW_I32: "int32", DType.MW_I64: "int64", DType.MW_U8: "uint8", DType.MW_U16: "uint16", DType.MW_U32: "uint32",
    DType.MW_U64: "uint64", DType.MW_BOOL: "bool",
}


def nested(items, shape):
    if len(shape) < 2:
        return items if shape else items[0]
    step = math.prod(shape[1:])
    return [nested(items[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


class Array:
    """Dense row-major elements in memory of their own. numpy.asarray(a) shares it; tolist() needs no numpy."""

    def __init__(self, shape: Any, dtype: Any, data: Any = None) -> None:
        self.shape, self.dtype = tuple(shape), DType(dtype)
        self.size = math.prod(self.shape)
        self.data = data if data is not None else (TYPES[self.dtype][1] * self.size)()

    @property
    def __array_interface__(self):
        code = ("|" if TYPES[self.dtype][2][1] == "1" else NATIVE) + TYPES[self.dtype][2]
        return {"version": 3, "shape": self.shape, "typestr": code, "data": (ctypes.addressof(self.data), False)}

    @classmethod
    def room(cls, shape, dtype, kind, size):
        """The same as Array(shape, dtype), of numbers that are known: kind is the type of the memory in ctypes."""
        made = cls.__new__(cls)
        made.shape, made.dtype, made.size, made.data = shape, dtype, size, kind()
        return made

    def numpy(self) -> Any:
        """An array of numpy that shares the memory."""
        import numpy  # of whoever asks for it

        return numpy.asarray(self)

    def flat(self) -> List[Any]:
        """The elements, one behind the other."""
        if self.dtype == DType.MW_F16:
            return list(struct.unpack(f"={self.size}e", bytes(self.data)))
        return list(self.data)

    def tolist(self) -> Any:
        """Lists within lists; a number for rank 0."""
        return nested(self.flat(), self.shape)

    def __len__(self):
        if not self.shape:
            raise TypeError("an Array of rank 0 has no length")
        return self.shape[0]

    def __getitem__(self, index):
        """Element or part `index` of the first axis; a part shares the memory."""
        index = range(len(self))[index]
        if len(self.shape) == 1:
            return self.flat()[index] if self.dtype == DType.MW_F16 else self.data[index]
        kind, part = TYPES[self.dtype][1], math.prod(self.shape[1:])
        data = (kind * part).from_buffer(self.data, index * part * ctypes.sizeof(kind)) if part else (kind * 0)()
        return Array(self.shape[1:], self.dtype, data)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __float__(self):
        if self.size != 1:
            raise TypeError(f"an Array of {self.size} elements is no number")
        return float(self.flat()[0])

    def __repr__(self):
        return f"Array(shape={self.shape}, dtype={NAMES[self.dtype]})"


class Source:
    """Elements that C reads: address, element type and shape. It keeps alive what it points to."""

    def __init__(self, keep, address, dtype, shape):
        self.keep, self.address, self.dtype, self.shape = keep, address, DType(dtype), tuple(shape)
        self.count = math.prod(self.shape)


def source(value, what, real=DType.MW_F64):
    """What C can read of a value: an Array, numpy's arrays, a buffer, a number, lists of numbers. `real` is the type of
    floats in lists. Elements of memory stay where they are, so they must be dense, row-major and of a type of TYPES."""
    if isinstance(value, Array):
        return Source(value, ctypes.addressof(value.data), value.dtype, value.shape)
    if hasattr(value, "__array_interface__"):
        return from_interface(value, what)
    if isinstance(value, (int, float, list, tuple)):
        return from_numbers(value, what, real)
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"{what}: a {type(value).__name__} has no elements") from None
    return from_buffer(view, what)


def refuse_dtype(what, name):
    raise TypeError(f"{what}: elements of type {name!r} are not taken; these are: {', '.join(NAMES.values())}")


def from_interface(value, what):
    facts = value.__array_interface__
    if not isinstance(facts.get("data"), tuple):  # its memory comes as a buffer: of the value, or beside its shape
        return reshaped(from_buffer(memoryview(value if facts.get("data") is None else facts["data"]), what), facts, what)
    code, shape, strides = facts["typestr"], tuple(facts["shape"]), facts.get("strides")
    dtype = BY_NUMPY.get(code[1:])
    if dtype is None or code[0] not in (NATIVE, "|"):
        refuse_dtype(what, code)
    if strides is not None and math.prod(shape) > 0 and not dense(shape, strides, int(code[2:])):
        raise ValueError(f"{what}: the array is not dense and row-major; numpy.ascontiguousarray makes it so")
    return Source((value, facts), facts["data"][0], dtype, shape)


def reshaped(found, facts, what):
    """A buffer with the shape and the type that its owner says."""
    dtype, shape = BY_NUMPY.get(facts["typestr"][1:]), tuple(facts["shape"])
    if dtype is None or facts["typestr"][0] not in (NATIVE, "|"):
        refuse_dtype(what, facts["typestr"])
    size = ctypes.sizeof(TYPES[dtype][1])
    if found.count * ctypes.sizeof(TYPES[found.dtype][1]) != math.prod(shape) * size or facts.get("offset"):
        raise ValueError(f"{what}: its memory is not {math.prod(shape)} elements of {NAMES[dtype]}")
    return Source(found, found.address, dtype, shape)


def place(value, what, dtype, shape):
    """Where C may write elements of a type and a shape (None: any): an Array, or an array that can be written."""
    found = source(value, what)
    if shape is not None:
        of_shape(found, shape, what)
    facts = getattr(value, "__array_interface__", {})
    if isinstance(facts.get("data"), tuple) and facts["data"][1]:
        raise ValueError(f"{what}: the array cannot be written")
    if not isinstance(facts.get("data"), tuple):
        raise TypeError(f"{what}: a {type(value).__name__} has no memory that results can be written to")
    if (found.dtype in FLOATS) != (dtype in FLOATS):
        raise TypeError(f"{what}: results are {NAMES[dtype]}, the array is {NAMES[found.dtype]}")
    return found


def dense(shape, strides, step):
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def from_buffer(view, what):
    kind = KINDS.get(view.format.lstrip("@=" + NATIVE))
    dtype = BY_NUMPY.get(f"{kind}{view.itemsize}")
    if dtype is None:
        refuse_dtype(what, view.format)
    if not view.c_contiguous:
        raise ValueError(f"{what}: the buffer is not dense and row-major")
    block = ctypes.c_char * view.nbytes
    data = block.from_buffer_copy(view) if view.readonly else block.from_buffer(view)
    return Source((view, data), ctypes.addressof(data), dtype, view.shape)


def from_numbers(value, what, real):
    shape, level = [], [value]
    while any(isinstance(item, (list, tuple)) for item in level):
        lengths = {len(item) if isinstance(item, (list, tuple)) else -1 for item in level}
        if len(lengths) != 1:
            raise ValueError(f"{what}: the lists within a list differ in length")
        shape.append(lengths.pop())
        level = list(itertools.chain.from_iterable(level))
    kinds = {type(item) for item in level}
    if not kinds <= {bool, int, float}:
        refuse_dtype(what, next(kind for kind in kinds if kind not in (bool, int, float)).__name__)
    fits = all(-(2**31) <= item < 2**31 for item in level) if kinds == {int} else False
    dtype = real if float in kinds or (not kinds and shape) else DType.MW_I32 if fits else DType.MW_I64
    return packed(level, DType.MW_BOOL if kinds == {bool} else dtype, shape, what)


def packed(items, dtype, shape, what):
    """A list of numbers as elements of a type that holds them."""
    letter = TYPES[dtype][0]
    try:
        if letter == "?" and not all(item in (0, 1) for item in items):
            raise ValueError("a truth value is 0 or 1")
        data = struct.pack(f"={len(items)}{letter}", *items)
    except (struct.error, OverflowError, ValueError, TypeError) as error:
        raise ValueError(f"{what}: {error} (as {NAMES[dtype]})") from None
    block = (ctypes.c_char * len(data)).from_buffer_copy(data)
    return Source(block, ctypes.addressof(block), dtype, shape)


BITS = {DType.MW_U1: 1, DType.MW_U2: 2, DType.MW_U3: 3, DType.MW_U4: 4, DType.MW_U6: 6, DType.MW_I4: 4}


def packed_bits(items, dtype, shape, what):
    """The same of a type below a byte: elements lie without gaps, the first in the lowest bits. Of constants only."""
    bits, low = BITS[dtype], -8 if dtype == DType.MW_I4 else 0
    total = 0
    for i, item in enumerate(items):
        if not isinstance(item, int) or not low <= item < low + (1 << bits):
            raise ValueError(f"{what}: {item} is no number of {bits} bits")
        total |= (item & ((1 << bits) - 1)) << (i * bits)
    data = total.to_bytes((len(items) * bits + 7) // 8, "little")
    block = (ctypes.c_char * len(data)).from_buffer_copy(data)
    return Source(block, ctypes.addressof(block), dtype, shape)


def converted(found, dtype, what):
    """A source in another element type; numbers that it does not hold are refused."""
    if found.dtype == dtype:
        return found
    kind = TYPES[found.dtype][1] * found.count
    items = Array(found.shape, found.dtype, kind.from_address(found.address)).flat()
    if dtype not in TYPES and dtype not in BITS:
        refuse_dtype(what, dtype.name)
    return (packed_bits if dtype in BITS else packed)(items, dtype, found.shape, what)


def of_shape(found, wanted, what):
    """The source, if it has the extents that are wanted (None: any)."""
    fits = len(found.shape) == len(wanted) and all(w in (None, d) for d, w in zip(found.shape, wanted))
    if not fits:
        raise ValueError(f"{what}: the shape is {list(found.shape)}, {list(wanted)} is wanted")
    return found
