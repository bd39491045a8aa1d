"""What the generators of recorded cases share: one case is a MIL program, its inputs, and what PyTorch says of it.

A generator draws random cases of one family of operations and writes tests/data/torch/<family>.safetensors:

    from record import Recorder, boolean, ints
    record = Recorder("matmul", tolerance=1e-5, reason="sums of at most 9 products in another order")
    record.case("matmul(transpose_x = %s, transpose_y = bool(false), x = x, y = w)" % boolean(False),
                {"x": x, "w": w}, lambda x, w: x @ w)
    record.write()

tests/ops/test_torch.c reads each program with our parser, runs it on the engine and compares the result `y`; then it
differentiates y, seeded with the recorded `dy`, and compares the gradient of every float input. The programs are printed
here, by hand and from MIL's reference alone, so that neither our constructors nor our printer had a say.
"""
import json
import os
import re
import struct
import zlib

import numpy as np
import torch

torch.set_num_threads(1)

MIL_TYPES = {torch.float32: "fp32", torch.int32: "int32", torch.bool: "bool"}
FILE_TYPES = {torch.float32: "F32", torch.int32: "I32", torch.bool: "BOOL"}


# ---- literals of MIL ----

def boolean(value):
    return "bool(%s)" % ("true" if value else "false")


def integer(value):
    return "int32(%d)" % value


def number(value):
    """A float exactly, as a hex float without trailing zeros."""
    return re.sub(r"\.?0*p", "p", float(np.float32(value)).hex())


def real(value):
    return "fp32(%s)" % number(value)


def text(value):
    return 'string("%s")' % value


def ints(values):
    return "tensor<int32, [%d]>([%s])" % (len(values), ", ".join(str(int(v)) for v in values))


def booleans(values):
    return "tensor<bool, [%d]>([%s])" % (len(values), ", ".join("true" if v else "false" for v in values))


def tensor(value):
    """A float or integer tensor, exactly, for arguments that must be constants."""
    def nest(v):
        if v.dim() == 0:
            return number(v) if v.dtype == torch.float32 else str(int(v))
        return "[%s]" % ", ".join(nest(e) for e in v)
    return "%s(%s)" % (mil_type(value), nest(value))


def mil_type(value):
    if value.dim() == 0:
        return MIL_TYPES[value.dtype]
    return "tensor<%s, [%s]>" % (MIL_TYPES[value.dtype], ", ".join(str(e) for e in value.shape))


# ---- cases ----

class Recorder:
    """Collects the cases of one family.

    tolerance  largest allowed |ours - PyTorch's|, as a share of the tensor's largest magnitude
    reason     why it is not smaller
    opset      of the programs
    """

    def __init__(self, family, tolerance, reason, opset="ios18"):
        self.family, self.opset = family, opset
        self.notes = {"tolerance": repr(float(tolerance)), "reason": reason, "torch": torch.__version__}
        self.tensors = {}
        self.count = 0
        self.generator = torch.Generator().manual_seed(zlib.crc32(family.encode()))

    # Random numbers for the generators, the same at every run.
    def normal(self, *shape):
        return torch.randn(shape, generator=self.generator)

    def uniform(self, low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=self.generator)

    def distinct(self, *shape):
        """Floats without ties, at least 1/16 apart: for maxima and sorting."""
        count = int(np.prod(shape))
        return (torch.randperm(count, generator=self.generator).float() / 16 - count / 32).reshape(shape)

    def indices(self, limit, *shape):
        return torch.randint(0, limit, shape, generator=self.generator).to(torch.int32)

    def pick(self, *choices):
        return choices[int(torch.randint(0, len(choices), (), generator=self.generator))]

    def case(self, expression, inputs, function, gradient=True, before=()):
        """y = expression, a MIL operation with its arguments, over the named inputs; function says the same in PyTorch.

        gradient  False for results or operations that have none
        before    statements that the expression needs, e.g. 'tensor<fp32, [2]> h = relu(x = x)[name = string("h")];'
        """
        leaves = {n: v.detach().clone().requires_grad_(gradient and v.dtype == torch.float32)
                  for n, v in inputs.items()}
        y = function(**leaves)
        if y.dtype == torch.int64:
            y = y.to(torch.int32)
        self._program(expression, inputs, y, before)
        for name, value in leaves.items():
            self._tensor(name, value)
        self._tensor("y", y)
        if gradient:
            dy = self.normal(*y.shape)
            y.backward(dy)
            self._tensor("dy", dy)
            for name, value in leaves.items():
                if value.requires_grad:
                    self._tensor("d" + name, torch.zeros_like(value) if value.grad is None else value.grad)
        self.count += 1

    def _program(self, expression, inputs, y, before):
        parameters = ", ".join("%s %s" % (mil_type(v), n) for n, v in inputs.items())
        lines = list(before) + ['%s y = %s[name = string("y")];' % (mil_type(y), expression)]
        body = "".join("            %s\n" % line for line in lines)
        self.notes["program.%d" % self.count] = (
            "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n    func main<%s>(%s) {\n%s        } -> (y);\n}"
            % (self.opset, parameters, body))

    def _tensor(self, name, value):
        self.tensors["%d.%s" % (self.count, name)] = value.detach().contiguous()

    def write(self):
        """Writes <family>.safetensors beside the generator. The largest type comes first, so that data is aligned."""
        order = sorted(self.tensors, key=lambda n: self.tensors[n].dtype == torch.bool)
        header, data = {"__metadata__": dict(self.notes, count=str(self.count))}, b""
        for name in order:
            value = self.tensors[name]
            raw = value.numpy().tobytes()
            header[name] = {"dtype": FILE_TYPES[value.dtype], "shape": list(value.shape),
                            "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        encoded = json.dumps(header, separators=(",", ":")).encode()
        encoded += b" " * (-len(encoded) % 8)
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), self.family + ".safetensors")
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(encoded)) + encoded + data)
        print("%s: %d cases, %d bytes" % (self.family, self.count, len(encoded) + len(data)))
