"""Random cases of the gather family: python3 tests/data/torch/gather_cases.py writes gather.safetensors."""
import torch

from record import Recorder, boolean, integer, mil_type, tensor, text

record = Recorder("gather", tolerance=2e-6, reason="sums of at most 12 updates in another order")

VALIDATE = boolean(False)


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def shape(low, high):
    return [extent(1, 5) for _ in range(extent(low, high))]


def axis_of(x):
    """An axis, counted from either end."""
    at = extent(0, x.dim() - 1)
    return at, record.pick(at, at - x.dim())


def gather():
    x = record.normal(*shape(1, 4))
    at, axis = axis_of(x)
    i = record.indices(x.shape[at], *[extent(1, 4) for _ in range(record.pick(0, 1, 1, 2))])

    def expected(x, i):
        flat = torch.index_select(x, at, i.long().reshape(-1))
        return flat.reshape(x.shape[:at] + i.shape + x.shape[at + 1:])

    record.case("gather(axis = %s, batch_dims = int32(0), indices = i, validate_indices = %s, x = x)"
                % (integer(axis), VALIDATE), {"x": x, "i": i}, expected)


def gather_batch():
    b, n, j = extent(1, 4), extent(1, 5), extent(1, 6)
    tail = shape(0, 1)
    x, i = record.normal(b, n, *tail), record.indices(n, b, j)
    record.case("gather(axis = int32(1), batch_dims = int32(1), indices = i, validate_indices = %s, x = x)" % VALIDATE,
                {"x": x, "i": i}, lambda x, i: torch.stack([x[k][i[k].long()] for k in range(b)]))


def gather_along_axis():
    x = record.normal(*shape(1, 4))
    at, axis = axis_of(x)
    taken = list(x.shape)
    taken[at] = extent(1, 6)
    record.case("gather_along_axis(axis = %s, indices = i, validate_indices = %s, x = x)" % (integer(axis), VALIDATE),
                {"x": x, "i": record.indices(x.shape[at], *taken)},
                lambda x, i: torch.take_along_dim(x, i.long(), at))


def coordinates(extents, *lead):
    return torch.stack([record.indices(e, *lead) for e in extents], -1)


def gather_nd():
    x = record.normal(*shape(1, 4))
    depth = extent(1, x.dim())
    i = coordinates(x.shape[:depth], *shape(0, 2))
    record.case("gather_nd(batch_dims = int32(0), indices = i, validate_indices = %s, x = x)" % VALIDATE,
                {"x": x, "i": i}, lambda x, i: x[tuple(i.long().unbind(-1))])


def gather_nd_batch():
    b = extent(1, 4)
    x = record.normal(b, *shape(1, 3))
    depth = extent(1, x.dim() - 1)
    i = coordinates(x.shape[1:1 + depth], b, *shape(0, 1))
    record.case("gather_nd(batch_dims = int32(1), indices = i, validate_indices = %s, x = x)" % VALIDATE,
                {"x": x, "i": i}, lambda x, i: torch.stack([x[k][tuple(i[k].long().unbind(-1))] for k in range(b)]))


REDUCTIONS = {"mul": "prod", "max": "amax", "min": "amin"}


def combine_along(data, at, i, updates, mode):
    if mode == "update":
        return data.scatter(at, i, updates)
    if mode in ("add", "sub"):
        return data.scatter_add(at, i, updates if mode == "add" else -updates)
    if mode == "div":
        return data / torch.ones_like(data).scatter_reduce(at, i, updates, "prod")
    return data.scatter_reduce(at, i, updates, REDUCTIONS[mode])


def values(mode, *extents):
    """Products of factors near 1, some of them 0."""
    if mode in ("mul", "div"):
        factors = record.uniform(0.5, 2.0, *extents) * record.pick(-1.0, 1.0)
        return torch.where(record.uniform(0, 1, *extents) < 0.15, torch.tensor(0.0), factors) if mode == "mul" else factors
    return record.normal(*extents)


def places(mode, count, limit):
    """Indices with repetitions, but for update, where the order of repeated ones is not torch's contract."""
    if mode == "update":
        return torch.randperm(limit, generator=record.generator)[:count].to(torch.int32)
    return record.indices(limit, count)


def scatter(mode):
    extents = shape(1, 3)
    at = extent(0, len(extents) - 1)
    limit = extents[at]
    i = places(mode, extent(1, 7), limit)
    taken = list(extents)
    taken[at] = len(i)

    def expected(d, i, u):
        if mode == "add" and record.pick(True, False):
            return d.index_add(at, i.long(), u)
        if mode == "update" and record.pick(True, False):
            return d.index_copy(at, i.long(), u)
        wide = i.long().reshape([-1 if k == at else 1 for k in range(d.dim())]).expand(u.shape)
        return combine_along(d, at, wide, u, mode)

    record.case('scatter(axis = %s, data = d, indices = i, mode = %s, updates = u, validate_indices = %s)'
                % (integer(record.pick(at, at - len(extents))), text(mode), VALIDATE),
                {"d": values(mode, *extents), "i": i, "u": values(mode, *taken)}, expected)


def scatter_along_axis(mode):
    extents = shape(1, 3)
    at = extent(0, len(extents) - 1)
    limit = extents[at]
    taken = list(extents)
    taken[at] = extent(1, limit) if mode == "update" else extent(1, 7)
    i = record.indices(limit, *taken)
    if mode == "update":
        order = torch.argsort(torch.rand(extents, generator=record.generator), at)
        i = order.narrow(at, 0, taken[at]).to(torch.int32).contiguous()
    record.case('scatter_along_axis(axis = %s, data = d, indices = i, mode = %s, updates = u, validate_indices = %s)'
                % (integer(record.pick(at, at - len(extents))), text(mode), VALIDATE),
                {"d": values(mode, *extents), "i": i, "u": values(mode, *taken)},
                lambda d, i, u: combine_along(d, at, i.long(), u, mode))


def scatter_nd(mode):
    extents = shape(1, 3)
    depth = extent(1, len(extents))
    rows = 1
    for e in extents[:depth]:
        rows *= e
    flat = places(mode, extent(1, 7), rows).long()
    parts, rest = [], flat
    for e in reversed(extents[:depth]):
        parts.insert(0, (rest % e).to(torch.int32))
        rest = rest // e
    inner = extents[depth:]

    def expected(d, i, u):
        wide = flat.reshape([-1] + [1] * len(inner)).expand(u.shape)
        return combine_along(d.reshape([rows] + inner), 0, wide, u, mode).reshape(extents)

    record.case('scatter_nd(data = d, indices = i, mode = %s, updates = u, validate_indices = %s)'
                % (text(mode), VALIDATE),
                {"d": values(mode, *extents), "i": torch.stack(parts, -1),
                 "u": values(mode, len(flat), *inner)}, expected)


def one_hot():
    """Some indices lie outside: all off, which PyTorch refuses and so is computed by comparing."""
    size = extent(1, 6)
    i = record.indices(size + 3, *shape(0, 3)) - record.pick(0, 1)
    at = extent(0, i.dim())
    on, off = int(record.indices(9)) - 4, int(record.indices(9)) - 4

    def expected(i):
        classes = torch.arange(size).reshape([-1 if k == at else 1 for k in range(i.dim() + 1)])
        return torch.where(i.unsqueeze(at) == classes, on, off)

    record.case("one_hot(axis = %s, indices = i, off_value = %s, on_value = %s, one_hot_vector_size = %s)"
                % (integer(record.pick(at, at - i.dim() - 1)), integer(off), integer(on), integer(size)), {"i": i},
                expected, gradient=False)


def non_zero():
    """Of a constant: the number of rows must be known."""
    c = record.pick(record.indices(3, *shape(1, 3)) - 1, torch.round(record.normal(*shape(1, 3))))
    c.reshape(-1)[0] = 1
    places = torch.nonzero(c).to(torch.int32)
    record.case("add(x = x, y = n)", {"x": record.indices(5, *places.shape)}, lambda x: x + places, gradient=False,
                before=["%s n = non_zero(x = %s)[name = string(\"n\")];" % (mil_type(places), tensor(c))])


for _ in range(20):
    gather(), gather_batch(), gather_along_axis(), gather_nd(), gather_nd_batch()
for _ in range(6):
    for name in ("update", "add", "sub", "mul", "div", "max", "min"):
        scatter(name), scatter_along_axis(name), scatter_nd(name)
for _ in range(12):
    one_hot(), non_zero()
record.write()
