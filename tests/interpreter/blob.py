"""Weight files: reads what BLOBFILE points at, generates it where the file is absent, writes what was generated.

Arrays hold floats as float32 (fp64 as float64) and integers of every width as int64: each holds its MIL type exactly.

Generated values are a function of (name, index) alone, where the name is "<path>@<offset>": u in [0, 1) from a hash;
an array of rank 0 or 1 (a scale, a variance, a bias) is 0.5 + u, so that roots exist; one of a higher rank is
(2u - 1) * sqrt(3 / n) with n elements for each index of its first axis, so that products keep their size; an
integer is the remainder of the hash by its number of values, or by 2 if it is wider than 8 bits, as it is an index.
"""
import math
import os
import struct

import numpy as np

SENTINEL = 0xDEADBEEF
ENTRY_SIZE = 64
CODES = {1: "fp16", 2: "fp32", 3: "uint8", 4: "int8", 5: "bf16", 6: "int16", 7: "uint16", 8: "int4", 9: "uint1",
         10: "uint2", 11: "uint4", 12: "uint3", 13: "uint6", 14: "int32", 15: "uint32", 16: "fp8e4m3fn", 17: "fp8e5m2"}
BITS = {"fp16": 16, "fp32": 32, "fp64": 64, "bf16": 16, "fp8e4m3fn": 8, "fp8e5m2": 8, "int4": 4, "int8": 8, "int16": 16,
        "int32": 32, "int64": 64, "uint1": 1, "uint2": 2, "uint3": 3, "uint4": 4, "uint6": 6, "uint8": 8, "uint16": 16,
        "uint32": 32, "uint64": 64, "bool": 8}
WHOLE = {"fp16": "<f2", "fp32": "<f4", "fp64": "<f8", "int8": "<i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
         "uint8": "<u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8"}


class BlobError(Exception):
    """A weight file or a reference to it is not as it should be."""


def is_float(dtype):
    return dtype.startswith(("fp", "bf"))


def is_signed(dtype):
    return dtype.startswith("int")


def size_of(dtype, count):
    return (count * BITS[dtype] + 7) // 8


# ---- bytes and numbers ----

def unpack_bits(data, bits, count):
    """Numbers of `bits` bits, dense, the lowest bit first, straddling bytes."""
    flat = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:count * bits]
    return flat.reshape(count, bits).astype(np.int64) @ (1 << np.arange(bits, dtype=np.int64))


def pack_bits(values, bits):
    values = np.asarray(values, np.int64).reshape(-1, 1)
    return np.packbits((values >> np.arange(bits)) & 1, bitorder="little").tobytes()


def float8_e4m3(codes):
    """No infinities: the largest exponent holds numbers, all bits set is NaN."""
    sign = np.where(codes & 0x80, -1.0, 1.0)
    exponent, fraction = (codes >> 3) & 15, codes & 7
    normal = np.ldexp(1 + fraction / 8.0, exponent - 7)
    value = sign * np.where(exponent == 0, np.ldexp(fraction / 8.0, -6), normal)
    return np.where((codes & 0x7F) == 0x7F, np.nan, value).astype(np.float32)


def decode(data, dtype, count):
    if dtype == "bf16":
        return (np.frombuffer(data, "<u2", count).astype(np.uint32) << 16).view(np.float32)
    if dtype == "fp8e4m3fn":
        return float8_e4m3(np.frombuffer(data, np.uint8, count).astype(np.int64))
    if dtype == "fp8e5m2":  # the upper byte of an fp16
        return (np.frombuffer(data, np.uint8, count).astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    if dtype == "bool":
        return np.frombuffer(data, np.uint8, count) != 0
    if dtype in WHOLE:
        array = np.frombuffer(data, WHOLE[dtype], count)
        wide = np.float64 if dtype == "fp64" else np.float32 if is_float(dtype) else np.int64
        return array.astype(wide)
    values = unpack_bits(data, BITS[dtype], count)
    if is_signed(dtype):
        values -= (values >> (BITS[dtype] - 1)) << BITS[dtype]
    return values


def encode(array, dtype):
    if dtype in WHOLE:
        return np.asarray(array).astype(WHOLE[dtype]).tobytes()
    if is_float(dtype):
        raise BlobError("writing %s is not provided for" % dtype)
    return pack_bits(array, BITS[dtype])


# ---- files ----

def read_entry(data, offset, dtype, count):
    """The array that the metadata entry at `offset` describes; `count` follows from the type in the text."""
    if offset % 4 or offset + ENTRY_SIZE > len(data):
        raise BlobError("no entry at offset %d of %d bytes" % (offset, len(data)))
    sentinel, code, size, start = struct.unpack_from("<IIQQ", data, offset)
    if sentinel != SENTINEL:
        raise BlobError("no sentinel at offset %d" % offset)
    if CODES.get(code) != dtype:
        raise BlobError("the entry at offset %d is %s, the text says %s" % (offset, CODES.get(code, code), dtype))
    if size != size_of(dtype, count):
        raise BlobError("the entry at offset %d has %d bytes, %d elements of %s need %d"
                        % (offset, size, count, dtype, size_of(dtype, count)))
    if start > len(data) or size > len(data) - start:
        raise BlobError("the data of the entry at offset %d ends past the file" % offset)
    return decode(data[start:start + size], dtype, count)


def path_below(folder, path):
    """The file of a BLOBFILE path; what would leave the folder is refused."""
    inside = os.path.normpath(path.removeprefix("@model_path/"))
    if os.path.isabs(inside) or inside.startswith(".."):
        raise BlobError("path %r leaves the folder of the model" % path)
    return os.path.join(folder, inside)


def read_file(path):
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < ENTRY_SIZE or struct.unpack_from("<I", data, 4)[0] != 2:
        raise BlobError("%s is no weight file of version 2" % os.path.basename(path))
    return data


def write_entries(folder, blobs):
    """Files that hold the given (Blob, dtype, array)s at their offsets."""
    files = {}
    for blob, dtype, array in blobs:
        files.setdefault(path_below(folder, blob.path), []).append((blob.offset, dtype, array))
    for path, entries in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(struct.pack("<II56x", len(entries), 2))
            for offset, dtype, array in sorted(entries, key=lambda e: e[0]):
                data = encode(array, dtype)
                file.seek(offset)
                file.write(struct.pack("<IIQQ40x", SENTINEL, {v: k for k, v in CODES.items()}[dtype], len(data),
                                       offset + ENTRY_SIZE) + data)


# ---- generated values ----

def hashes(name, count):
    """`count` 64-bit numbers: FNV-1a of the name starts a counter, whose values are mixed by splitmix64's steps."""
    start = 0xCBF29CE484222325
    for byte in name.encode():
        start = (start ^ byte) * 0x100000001B3 % 2**64
    z = np.uint64(start) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


def uniform(name, count):
    """In [0, 1), multiples of 2^-53."""
    return (hashes(name, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def generated(name, dtype, shape):
    count = math.prod(shape)
    if not is_float(dtype):
        values = 2 if BITS[dtype] > 8 or dtype == "bool" else 2**BITS[dtype]
        numbers = (hashes(name, count) % np.uint64(values)).astype(np.int64)
        return numbers - (values // 2 if is_signed(dtype) and values > 2 else 0)
    u = uniform(name, count)
    if len(shape) <= 1:
        return (0.5 + u).astype(np.float32)
    return ((2 * u - 1) * math.sqrt(3.0 * shape[0] / max(count, 1))).astype(np.float32)


class Weights:
    """What the BLOBFILEs of a program in `folder` hold; remembers what had to be generated."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}
        self.generated = []

    def read(self, blob, dtype, shape):
        path = path_below(self.folder, blob.path)
        if path not in self.files:
            self.files[path] = read_file(path) if os.path.exists(path) else None
        if self.files[path] is not None:
            return read_entry(self.files[path], blob.offset, dtype, math.prod(shape)).reshape(shape)
        array = generated("%s@%d" % (blob.path, blob.offset), dtype, shape).reshape(shape)
        if dtype == "fp16":
            array = array.astype(np.float16).astype(np.float32)
        self.generated.append((blob, dtype, array))
        return array
