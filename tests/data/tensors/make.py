#!/usr/bin/env python3
"""Writes the files of this folder, with numpy 1.24 and PyTorch 1.13 (Debian 12: python3-numpy, python3-torch).

Element i of a tensor is (i * 7 % 23 - 11) / 4 for floats, i * 7 % 23 - 11 for signed integers, i * 7 % 23 for unsigned
ones and i % 3 == 0 for bools, where nothing else is said. safetensors and GGUF have no library here: they are written
by hand, and the quantized blocks are expanded one element at a time into blocks.f32.
"""
import argparse
import collections
import json
import os
import pathlib
import struct

import numpy
import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def values(dtype, *shape):
    dtype = numpy.dtype(dtype)
    i = numpy.arange(int(numpy.prod(shape)))
    v = i * 7 % 23
    if dtype.kind == "b":
        v = i % 3 == 0
    elif dtype.kind == "i":
        v = v - 11
    elif dtype.kind == "f":
        v = (v - 11) / 4
    return v.astype(dtype).reshape(shape)


# ---- numpy ----

numpy.save("f4.npy", values("<f4", 2, 3))
numpy.save("big.npy", values(">f8", 2, 3))
numpy.save("fortran.npy", numpy.asfortranarray(values("<f4", 3, 4, 2)))
numpy.save("scalar.npy", numpy.float32(2.5))
numpy.save("empty.npy", values("<f4", 0, 3))
with open("version2.npy", "wb") as file:
    numpy.lib.format.write_array(file, values("<i4", 5), version=(2, 0))
numpy.save("object.npy", numpy.array([{}, 1], dtype=object), allow_pickle=True)
numpy.save("complex.npy", numpy.zeros(2, "<c8"))
numpy.save("fields.npy", numpy.zeros(2, [("a", "<f4"), ("b", "<i4")]))
every = {d: values(d, 4, 6) for d in "f2 f4 f8 i1 u1 i2 u2 i4 u4 i8 u8 b1".split()}
numpy.savez("all.npz", **every)
numpy.savez_compressed("packed.npz", zeros=numpy.zeros((50, 40), "f4"), **{"layer.0/weight": values("f4", 30, 20)})

# ---- PyTorch ----


def tensor(dtype, *shape):
    return torch.from_numpy(values(dtype, *shape))


base = tensor("f4", 4, 6)
state = collections.OrderedDict()
state["f4"] = base
state["tied"] = base
state["transposed"] = base.t()
state["column"] = base[:, 2]
state["inner"] = base[1:3, 2:5]
state["parameter"] = torch.nn.Parameter(tensor("f4", 3))
state["f2"] = tensor("f2", 4, 6)
state["bf16"] = tensor("f4", 4, 6).bfloat16()
for name in "f8 i1 u1 i2 i4 i8 b1".split():
    state[name] = tensor(name, 4, 6)
state["scalar"] = torch.tensor(2.5)
state["none"] = torch.zeros(0, 3)
torch.save(state, "state.pt")
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.copy_(torch.from_numpy(values("f4", *parameter.shape)))
optimizer = torch.optim.Adam(net.parameters())
optimizer.zero_grad()
net(torch.ones(4, 2)).sum().backward()
optimizer.step()
with torch.no_grad():
    for parameter in net.parameters():
        parameter.copy_(torch.from_numpy(values("f4", *parameter.shape)))
torch.save({"epoch": 3, "state_dict": net.state_dict(), "optimizer": optimizer.state_dict(), "loss": [0.5, None]},
           "checkpoint.pt")
torch.save(net.state_dict(), "protocol4.pt", pickle_protocol=4)
torch.save(net.state_dict(), "old.pt", _use_new_zipfile_serialization=False)
torch.save(net, "module.pt")
torch.save({"x": torch.ones(1).expand(1000)}, "expanded.pt")
torch.save({"x": torch.eye(3).to_sparse()}, "sparse.pt")
torch.save({"x": torch.ones(2, dtype=torch.complex64)}, "complex.pt")

# ---- safetensors ----


def bf16(array):
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()  # the values are exact


def safetensors(path, tensors, notes=None):
    header, data = {}, b""
    if notes:
        header["__metadata__"] = notes
    for name, (dtype, array) in tensors.items():
        raw = bf16(array) if dtype == "BF16" else array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


safetensors("plain.safetensors", {
    "a.weight": ("F32", values("<f4", 4, 6)), "a.bias": ("BF16", values("<f4", 6)),
    "steps": ("I64", values("<i8", 3)), "large": ("I64", numpy.array([1, 2**53 + 1, 3], "<i8")),
    "wide": ("F64", numpy.array([1.0, 1e300, 0.1], "<f8")), "bad": ("BOOL", numpy.array([1, 0, 2], "u1"))},
    {"format": "pt", "note": "by hand"})
os.makedirs("shards", exist_ok=True)
first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
safetensors("shards/" + first, {"a": ("F32", values("<f4", 2, 3)), "b": ("F16", values("<f2", 5))})
safetensors("shards/" + second, {"c": ("BF16", values("<f4", 4))})
with open("shards/model.safetensors.index.json", "w") as file:
    json.dump({"metadata": {"total_size": 42}, "weight_map": {"a": first, "b": first, "c": second}}, file)

# ---- GGUF ----


def half(raw):
    return float(numpy.frombuffer(raw, "<f2")[0])


def k_scale(s, j):
    if j < 4:
        return s[j] & 63, s[j + 4] & 63
    return (s[j + 4] & 15) | ((s[j - 4] >> 6) << 4), (s[j + 4] >> 4) | ((s[j] >> 6) << 4)


def expand(kind, b):
    """One block, as the formulas of the format say; float32 after each operation."""
    f = numpy.float32
    out = []
    if kind == "Q8_0":
        for i in range(32):
            out.append(f(half(b[0:2])) * f(struct.unpack("b", b[2 + i:3 + i])[0]))
    elif kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        d, at, m = f(half(b[0:2])), 2, f(0)
        if kind[3] == "1":
            m, at = f(half(b[2:4])), 4
        high = 0
        if kind[1] == "5":
            high, at = struct.unpack("<I", b[at:at + 4])[0], at + 4
        for i in range(32):
            q = b[at + i % 16] & 15 if i < 16 else b[at + i % 16] >> 4
            q |= ((high >> i) & 1) << 4
            if kind[3] == "0":
                q -= 16 if kind[1] == "5" else 8
            out.append(f(d * f(q)) + m)
    elif kind in ("Q4_K", "Q5_K"):
        d, low = f(half(b[0:2])), f(half(b[2:4]))
        scales, fifth = b[4:16], b[16:48]
        qs = b[16:] if kind == "Q4_K" else b[48:]
        for n in range(256):
            chunk, within = n // 64, n % 64
            j = 2 * chunk + within // 32
            byte = qs[32 * chunk + within % 32]
            q = byte & 15 if within < 32 else byte >> 4
            if kind == "Q5_K":
                q += 16 if fifth[n % 32] & (1 << j) else 0
            scale, minimum = k_scale(scales, j)
            out.append(f(f(d * f(scale)) * f(q)) - f(low * f(minimum)))
    elif kind == "Q6_K":
        ql, qh, scales, d = b[0:128], b[128:192], b[192:208], f(half(b[208:210]))
        for n in range(256):
            h, l = n // 128, n % 32
            part = n % 128 // 32
            byte = ql[64 * h + l + (32 if part in (1, 3) else 0)]
            q = (byte & 15 if part < 2 else byte >> 4) | (((qh[32 * h + l] >> (2 * part)) & 3) << 4)
            scale = struct.unpack("b", scales[8 * h + 2 * part + l // 16:][:1])[0]
            out.append(f(f(d * f(scale)) * f(q - 32)))
    return numpy.array(out, "<f4")


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


random = numpy.random.default_rng(1)


def blocks(kind, size, count):
    """Random blocks whose halves are small and finite."""
    halves = {"Q8_0": [0], "Q4_0": [0], "Q5_0": [0], "Q4_1": [0, 2], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2],
              "Q6_K": [208]}[kind]
    out = b""
    for _ in range(count):
        block = bytearray(random.integers(0, 256, size, dtype="u1").tobytes())
        for at in halves:
            block[at:at + 2] = numpy.array(random.uniform(-1, 1), "<f2").tobytes()
        out += bytes(block)
    return out


kinds = [("F32", 0, 4, 1), ("F16", 1, 2, 1), ("BF16", 30, 2, 1), ("I8", 24, 1, 1), ("Q4_0", 2, 18, 32),
         ("Q4_1", 3, 20, 32), ("Q5_0", 6, 22, 32), ("Q5_1", 7, 24, 32), ("Q8_0", 8, 34, 32), ("Q4_K", 12, 144, 256),
         ("Q5_K", 13, 176, 256), ("Q6_K", 14, 210, 256)]


def gguf(path, kinds, expected):
    infos, data, floats = b"", b"", b""
    for name, number, size, block in kinds:
        if block == 1:
            a = values({"F32": "<f4", "F16": "<f2", "BF16": "<f4", "I8": "i1"}[name], 2, 3)
            raw, shape = bf16(a) if name == "BF16" else a.tobytes(), (2, 3)
        else:
            raw, shape = blocks(name, size, 3), (3, block)
            for i in range(3):
                floats += expand(name, raw[i * size:(i + 1) * size]).tobytes()
        infos += string(name) + struct.pack("<I", 2) + struct.pack("<QQ", shape[1], shape[0])
        infos += struct.pack("<IQ", number, len(data))
        data += raw + bytes(-len(raw) % 32)
    pairs = string("general.architecture") + struct.pack("<I", 8) + string("by-hand")
    pairs += string("n") + struct.pack("<IIi", 5, 0, 0)[:4] + struct.pack("<i", -7)
    pairs += string("eps") + struct.pack("<If", 6, 0.5) + string("on") + struct.pack("<IB", 7, 1)
    pairs += string("words") + struct.pack("<IIQ", 9, 8, 2) + string("a") + string("bc")
    header = b"GGUF" + struct.pack("<IQQ", 3, len(kinds), 5) + pairs + infos
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % 32) + data)
    if expected:
        with open(expected, "wb") as file:
            file.write(floats)


gguf("blocks.gguf", kinds, "blocks.f32")
gguf("unknown.gguf", [("F32", 10, 4, 1)], None)  # Q2_K

# ---- what is read beside what is not ----

torch.save(tensor("f4", 2, 3), "alone.pt")
torch.save([tensor("f4", 2, 3)], "list.pt", pickle_protocol=4)
for protocol in (2, 4):
    torch.save({
        "seed": (1 << 63) + 5, "huge": -(1 << 90), "bytes": b"\0\1", "set": {1, 2}, "frozen": frozenset([3]),
        "state": collections.defaultdict(dict, {0: {"exp": tensor("f4", 3)}}), "dtype": torch.float16,
        "args": argparse.Namespace(lr=1, hidden=tensor("f4", 2)), "best": numpy.float64(0.5),
        "random": numpy.random.RandomState(0).get_state(), "path": pathlib.PurePosixPath("x"),
        "device": torch.device("cpu"), "complex": torch.zeros(2, dtype=torch.complex64),
        "sparse": torch.eye(3).to_sparse(), "expanded": torch.ones(1).expand(9), "module": net,
        "counter": collections.Counter("aab"), "queue": collections.deque([1, 2]),
        "parameter": torch.nn.Parameter(tensor("f4", 3)), "w": tensor("f4", 2, 3)},
        f"beside{protocol}.pt", pickle_protocol=protocol)
numpy.savez("words.npz", words=numpy.array(["a", "bc"]), objects=numpy.array([{}], dtype=object),
            pairs=numpy.zeros(2, [("a", "<f4")]), complex=numpy.zeros(2, "<c8"), w=values("<f4", 2, 3))
safetensors("eight.safetensors", {
    "scale": ("F8_E4M3", numpy.arange(6, dtype="u1")), "w": ("F32", values("<f4", 2, 3)),
    "last": ("F8_E5M2", numpy.arange(2, dtype="u1"))})
gguf("mixed.gguf", [("F32", 0, 4, 1), ("Q4_0", 10, 18, 32), ("I8", 24, 1, 1)], None)  # the second says it is Q2_K
