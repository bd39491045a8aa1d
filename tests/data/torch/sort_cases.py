"""Random cases of the sort family: python3 tests/data/torch/sort_cases.py writes sort.safetensors."""
import torch

from record import Recorder, boolean, integer, mil_type, text

record = Recorder("sort", tolerance=1e-7, reason="elements are copied, and no two cotangents meet")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def shape():
    extents = [extent(1, 4) for _ in range(extent(1, 3))]
    extents[extent(0, len(extents) - 1)] = extent(1, 40)
    return extents


def axis_of(extents):
    at = max(range(len(extents)), key=lambda i: extents[i]) if record.pick(True, True, False) else 0
    return at, record.pick(at, at - len(extents))


def argsort():
    """Ties, NaN and zeros of both signs: PyTorch's stable sort puts NaN above every number, as ours does."""
    extents = shape()
    at, axis = axis_of(extents)
    ascending = record.pick(True, False)
    x = record.indices(5, *extents)
    if record.pick(True, False):
        x = x.float() - 2.0
        x[record.uniform(0, 1, *extents) < 0.1] = float("nan")
        x = torch.where((x == 0) & (record.uniform(0, 1, *extents) < 0.5), torch.tensor(-0.0), x)
    record.case("argsort(ascending = %s, axis = %s, x = x)" % (boolean(ascending), integer(axis)), {"x": x},
                lambda x: torch.sort(x, stable=True, dim=at, descending=not ascending)[1], gradient=False)


def topk(indices):
    extents = shape()
    at, axis = axis_of(extents)
    k, ascending = extent(1, extents[at]), record.pick(True, False)
    x = record.distinct(*extents)
    result = list(extents)
    result[at] = k
    both = indices or record.pick(True, False)
    values = mil_type(torch.zeros(result))
    places = mil_type(torch.zeros(result, dtype=torch.int32))
    name = '%s v%s = topk(ascending = %s, axis = %s, k = %s, output_indices_dtype = %s, return_indices = %s, ' \
           'sort = bool(true), x = x)[name = string("top")];' % (
               values, ", %s i" % places if both else "", boolean(ascending), integer(axis), integer(k), text("int32"),
               boolean(both))
    record.case("identity(x = %s)" % ("i" if indices else "v"), {"x": x},
                lambda x: torch.topk(x, k, at, largest=not ascending)[1 if indices else 0], gradient=not indices,
                before=[name])


for _ in range(80):
    argsort(), topk(True), topk(False)
record.write()
