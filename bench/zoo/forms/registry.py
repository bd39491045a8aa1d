"""The rows of zoo.def, and the PyTorch form of each: a class with @net("name").

    @net("lenet")
    class LeNet(nn.Module):
        def __init__(self, tiny): ..                # parameters and buffers have the names that the builder gives them
        def inputs(self, batch): ..                 # {"x": (shape, 0)}; (shape, below) of integers; and "y" last
        def forward(self, x): ..                    # of the inputs without "y"
        def loss(self, x, y): ..                    # of all inputs, in the order of inputs()
"""
import glob
import importlib
import math
import os
import re
import sys

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
FORMS = {}


def net(name):
    def register(form):
        FORMS[name] = form
        return form

    return register


def rows():
    """{name: {"paper": .., "batch": .., "optimizer": .., "what": ..}} in the order of zoo.def."""
    with open(os.path.join(HERE, "..", "zoo.def"), encoding="utf-8") as file:
        found = re.findall(r'^ZOO\((\w+), "([^"]*)", (\d+), (\w+), "([^"]*)"\)', file.read(), re.M)
    return {name: {"paper": paper, "batch": int(batch), "optimizer": optimizer, "what": what}
            for name, paper, batch, optimizer, what in found}


def load():
    """Fills FORMS from every file here."""
    sys.path.insert(0, HERE)
    sys.modules.setdefault("registry", sys.modules[__name__])
    for path in sorted(glob.glob(os.path.join(HERE, "*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])


def uniforms(count):
    """The numbers of bench_uniforms: 24 bits of SplitMix64, from seed 1."""
    z = numpy.uint64(1) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    z ^= z >> numpy.uint64(31)
    return torch.from_numpy((z >> numpy.uint64(40)).astype(numpy.float32) * numpy.float32(2.0**-24))


def drawn(shape, below):
    """Floats in [0, 1), or integers below `below`."""
    values = uniforms(math.prod(shape)).view(shape)
    return (values * below).long() if below else values


def build(name, tiny):
    """(model, {input: numbers}), "y" among them."""
    model = FORMS[name](tiny)
    return model, {key: drawn(*entry) for key, entry in model.inputs(4 if tiny else rows()[name]["batch"]).items()}


def optimizer_of(name, model, foreach):
    if rows()[name]["optimizer"] == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, foreach=foreach)
    return torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, foreach=foreach)
