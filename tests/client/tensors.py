"""Files of tensors between this library and Python: numpy reads what we write, and we read what numpy and PyTorch write.

Usage: tensors.py LIBRARY, the path of libmillwright. Without numpy it is skipped, without
PyTorch what needs it is.
"""
import ctypes
import json
import os
import struct
import sys
import tempfile
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p

try:
    import numpy
except ImportError:
    print("numpy is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

# The numbers of mw_dtype.
DTYPES = {"f2": 1, "f4": 2, "f8": 3, "i1": 6, "i2": 7, "i4": 8, "i8": 9, "u1": 15, "u2": 16, "u4": 17, "u8": 18, "b1": 21}


class Shape(ctypes.Structure):
    _fields_ = [("rank", c_int), ("dim", c_int64 * 8)]


class Values(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", Shape), ("data", c_void_p)]


class Info(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", Shape), ("size", c_size_t), ("stored", c_char_p),
                ("file", c_char_p)]


class File(ctypes.Structure):
    _fields_ = [("format", c_char_p), ("count", c_size_t)]


library = ctypes.CDLL(sys.argv[1])
library.mw_tensors_open.restype = c_void_p
library.mw_tensors_open.argtypes = [c_char_p, c_void_p]
library.mw_tensors_destroy.argtypes = [c_void_p]
library.mw_tensors_get_info.restype = File
library.mw_tensors_get_info.argtypes = [c_void_p]
library.mw_tensors_at.restype = POINTER(Info)
library.mw_tensors_at.argtypes = [c_void_p, c_size_t]
library.mw_tensors_read.argtypes = [c_void_p, c_char_p, c_int, c_void_p, c_size_t, c_void_p]
library.mw_tensors_write.argtypes = [c_char_p, POINTER(Values), c_size_t, c_void_p]
library.mw_dtype_name.restype = c_char_p
passed = failed = 0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED", what)


def write(path, arrays):
    items = (Values * len(arrays))()
    for item, (name, array) in zip(items, arrays.items()):
        shape = Shape(array.ndim, (c_int64 * 8)(*array.shape))
        item.name, item.dtype, item.shape, item.data = name.encode(), DTYPES[array.dtype.str[1:]], shape, array.ctypes.data
    check("write " + path, library.mw_tensors_write(path.encode(), items, len(arrays), None) == 0)


def read(path):
    """Every tensor as mw_tensors_read gives it in its own type; None if the file is refused."""
    kinds = {number: name for name, number in DTYPES.items()}
    tensors = library.mw_tensors_open(path.encode(), None)
    if not tensors:
        return None
    out = {}
    for i in range(library.mw_tensors_get_info(tensors).count):
        info = library.mw_tensors_at(tensors, i).contents
        array = numpy.empty(info.shape.dim[:info.shape.rank], "<" + kinds[info.dtype])
        check("read", library.mw_tensors_read(tensors, info.name, info.dtype, array.ctypes.data, array.size, None) == 0)
        out[info.name.decode()] = array
    library.mw_tensors_destroy(tensors)
    return out


def same(name, got, want):
    check(name, got is not None and list(got) == list(want) and all(
        got[k].dtype == want[k].dtype.newbyteorder("<") and got[k].shape == want[k].shape
        and got[k].tobytes() == want[k].astype(want[k].dtype.newbyteorder("<")).tobytes() for k in want))


def read_safetensors(path):
    """The format in ten lines, from its description."""
    names = {"F16": "f2", "F32": "f4", "F64": "f8", "BOOL": "b1", **{k[0].upper() + str(8 * int(k[1])): k for k in DTYPES
                                                                     if k[0] in "iu"}}
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header, body, out = json.loads(data[8:8 + size]), data[8 + size:], {}
    for name, item in header.items():
        if name != "__metadata__":
            begin, end = item["data_offsets"]
            out[name] = numpy.frombuffer(body[begin:end], "<" + names[item["dtype"]]).reshape(item["shape"])
    return out


random = numpy.random.default_rng(7)


def random_array(kind):
    shape = tuple(random.integers(0, 6, random.integers(0, 5)))
    if kind == "b1":
        return random.integers(0, 2, shape).astype(bool)
    raw = random.standard_normal(shape) * 50
    return numpy.array(abs(raw) if kind[0] == "u" else raw).astype("<" + kind)


for kind, number in DTYPES.items():
    word = {"f": "fp", "i": "int", "u": "uint", "b": "bool"}[kind[0]]
    name = word if kind == "b1" else word + str(8 * int(kind[1]))
    check("number of " + kind, library.mw_dtype_name(number) == name.encode())
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for turn in range(20):
        arrays = {f"layer.{i}.{kind}": random_array(kind) for i, kind in enumerate(DTYPES)}
        write("a.npz", arrays)
        with numpy.load("a.npz") as loaded:
            same("numpy reads our .npz", dict(loaded), arrays)
        write("a.safetensors", arrays)
        same("our safetensors", read_safetensors("a.safetensors"), arrays)
        for kind in DTYPES:
            write("a.npy", {"a": random_array(kind)})
            check("numpy reads our .npy", numpy.load("a.npy").dtype.str[1:] == kind)
        swapped = {k: v.astype(v.dtype.newbyteorder(">")) for k, v in arrays.items()}
        fortran = {k: numpy.array(v, order="F") for k, v in arrays.items()}
        for source in (arrays, swapped, fortran):
            numpy.savez("b.npz", **source)
            same("we read .npz", read("b.npz"), arrays)
            numpy.savez_compressed("c.npz", **source)
            same("we read compressed .npz", read("c.npz"), arrays)
    try:
        import torch
    except ImportError:
        torch = None
        print("no PyTorch: its files are left out")
    for turn in range(20 if torch else 0):
        state = {}
        for i, kind in enumerate("f2 f4 f8 i1 i2 i4 i8 u1 b1".split()):
            base = torch.from_numpy(random_array(kind))
            for _ in range(3):
                axes = [int(a) for a in random.permutation(base.dim())]
                view = base.permute(axes)
                if view.dim() and view.shape[0] > 1:
                    view = view[random.integers(0, 2)::random.integers(1, 3)]
                state[f"{i}.{len(state)}"] = view
        torch.save(state, "a.pt")
        same("we read PyTorch's", read("a.pt"), {k: v.numpy() for k, v in state.items()})
    os.chdir("/")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
