"""Random cases of the compare family: python3 tests/data/torch/compare_cases.py writes compare.safetensors."""
import torch

from record import Recorder

record = Recorder("compare", tolerance=2e-6, reason="a gradient of a repeated operand sums up to 625 numbers")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def shapes(count):
    full = tuple(extent(1, 5) for _ in range(extent(0, 4)))
    return [tuple(record.pick(1, e, e) for e in full)[record.pick(0, 0, 0, len(full)):] for _ in range(count)]


def quarters(*extents):
    return torch.round(record.uniform(-4, 4, *extents)) / 4


def whole(*extents):
    return record.indices(4, *extents) - 2


def truth(*extents):
    return record.indices(2, *extents) > 0


def pair(operation, function, draw):
    sx, sy = shapes(2)
    record.case("%s(x = x, y = w)" % operation, {"x": draw(*sx), "w": draw(*sy)}, lambda x, w: function(x, w),
                gradient=False)


def choice(draw, gradient):
    sc, sa, sb = shapes(3)
    record.case("select(a = a, b = b, cond = c)", {"a": draw(*sa), "b": draw(*sb), "c": truth(*sc)},
                lambda a, b, c: torch.where(c, a, b), gradient)


for _ in range(10):
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        function = getattr(torch, {"equal": "eq", "not_equal": "ne"}.get(name, name))
        pair(name, function, quarters)
        pair(name, function, whole)
    for name in ("and", "or", "xor"):
        pair("logical_" + name, getattr(torch, "logical_" + name), truth)
    record.case("logical_not(x = x)", {"x": truth(*shapes(1)[0])}, lambda x: torch.logical_not(x), gradient=False)
    for draw, gradient in ((quarters, True), (record.normal, True), (whole, False), (truth, False)):
        choice(draw, gradient)
record.write()
