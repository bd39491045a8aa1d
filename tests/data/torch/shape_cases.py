"""Random cases of the shape family: python3 tests/data/torch/shape_cases.py writes shape.safetensors."""
import torch

from record import Recorder, boolean, booleans, ints, number, real, text

record = Recorder("shape", tolerance=2e-6, reason="elements are moved; gradients of repeats and borders are short sums")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def shape_of_rank(low, high, most=4):
    return [extent(1, most) for _ in range(extent(low, high))]


def numbers(shape):
    """Floats, or at times integers or booleans, which move alike."""
    kind = record.pick("float", "float", "float", "float", "int", "bool")
    if kind == "float":
        return record.normal(*shape)
    return record.indices(1000, *shape) - 500 if kind == "int" else record.indices(2, *shape).bool()


def either(axis, rank):
    """The same axis, from the front or from the end."""
    return axis - record.pick(0, rank)


def shuffled(count):
    return torch.randperm(count, generator=record.generator).tolist()


def case(expression, x, function, **more):
    gradient = all(v.dtype == torch.float32 for n, v in dict(more, x=x).items() if n in ("x", "update"))
    record.case(expression, dict({"x": x}, **more), function, gradient=gradient)


def tuple_of(names):
    return "(%s)" % ", ".join(names)


# ---- the same elements in another shape ----

for i in range(12):
    shape = shape_of_rank(1, 4)
    count = int(torch.tensor(shape).prod())
    wanted = record.pick([count], [-1], [1, count], [count, 1, 1], [-1, shape[-1]], shape[::-1])
    if i % 3 == 0:
        wanted = [0] * (len(shape) - 1) + [-1]  # 0 copies
        case("reshape(shape = %s, x = x)" % ints(wanted), numbers(shape), lambda x: x * 1 if x.dtype == torch.float32 else x)
    else:
        case("reshape(shape = %s, x = x)" % ints(wanted), numbers(shape), lambda x: x.reshape(wanted))
for i in range(14):
    x = numbers(shape_of_rank(1, 5))
    perm = shuffled(x.dim())
    case("transpose(perm = %s, x = x)" % ints([either(p, x.dim()) for p in perm]), x, lambda x: x.permute(perm))
for i in range(8):
    x = numbers(shape_of_rank(0, 3))
    rank = x.dim() + extent(1, 3)
    axes = sorted(shuffled(rank)[:rank - x.dim()])
    y_shape = list(x.shape)
    for axis in axes:
        y_shape.insert(axis, 1)
    case("expand_dims(axes = %s, x = x)" % ints([either(a, rank) for a in axes]), x, lambda x: x.reshape(y_shape))
for i in range(8):
    x = numbers([record.pick(1, 1, 3) for _ in range(extent(1, 5))])
    if i % 2:
        case("squeeze(x = x)", x, lambda x: x.squeeze())
    else:
        axis = extent(0, x.dim() - 1)
        case("squeeze(axes = %s, x = x)" % ints([either(axis, x.dim())]), x, lambda x: x.squeeze(axis))
for i in range(8):
    x = numbers(shape_of_rank(1, 4))
    axis = extent(0, x.dim())
    rows = int(torch.tensor([1] + list(x.shape)[:axis]).prod())
    case("flatten2d(axis = int32(%d), x = x)" % (axis - (x.dim() if axis < x.dim() and i % 2 else 0)), x,
         lambda x: x.reshape(rows, -1))
for i in range(6):
    first, second = shape_of_rank(2, 3), shape_of_rank(1, 3)
    begin, open_end = extent(0, 1), record.pick(False, True)
    end = len(second) if open_end else extent(0, len(second))
    wanted = first[begin:] + second[0:end]
    x = record.normal(int(torch.tensor([1] + wanted).prod()))
    inputs = {"x": x, "a": record.normal(*first), "b": record.indices(5, *second)}
    record.case("reshape_like(begins = (int32(%d), int32(0)), end_masks = (bool(true), %s), ends = (int32(0), int32(%d)), "
                "ref_tensors = (a, b), x = x)" % (begin, boolean(open_end), 0 if open_end else end),
                inputs, lambda x, a, b: x.reshape(wanted) + 0 * a.sum())

# ---- joining and cutting ----

for i in range(12):
    shape = shape_of_rank(1, 4)
    axis = extent(0, len(shape) - 1)
    parts = [record.normal(*(shape[:axis] + [extent(1, 4)] + shape[axis + 1:])) for _ in range(extent(1, 4))]
    names = "abcd"[:len(parts)]
    record.case("concat(axis = int32(%d), interleave = bool(false), values = %s)" % (either(axis, len(shape)), tuple_of(names)),
                dict(zip(names, parts)), lambda **v: torch.cat([v[n] for n in names], axis))
for i in range(6):
    shape = shape_of_rank(1, 4)
    axis, count = extent(0, len(shape) - 1), extent(1, 4)
    names = "abcd"[:count]
    record.case("concat(axis = int32(%d), interleave = bool(true), values = %s)" % (either(axis, len(shape)), tuple_of(names)),
                {n: record.normal(*shape) for n in names},
                lambda **v: torch.stack([v[n] for n in names], axis + 1).flatten(axis, axis + 1))
for i in range(10):
    shape = shape_of_rank(0, 4)
    axis, count = extent(0, len(shape)), extent(1, 6)
    names = "abcdef"[:count]
    record.case("stack(axis = int32(%d), values = %s)" % (either(axis, len(shape) + 1), tuple_of(names)),
                {n: record.normal(*shape) for n in names}, lambda **v: torch.stack([v[n] for n in names], axis))
for i in range(8):
    shape = shape_of_rank(1, 4)
    axis = extent(0, len(shape) - 1)
    sizes = [extent(1, 3) for _ in range(2)] if i % 2 else [extent(1, 3)] * 2
    shape[axis] = sum(sizes)
    how = "split_sizes = %s" % ints(sizes) if i % 2 else "num_splits = int32(2)"
    types = ["tensor<fp32, [%s]>" % ", ".join(str(e) for e in shape[:axis] + [s] + shape[axis + 1:]) for s in sizes]
    record.case("identity(x = q)", {"x": record.normal(*shape)}, lambda x: x.split(sizes, axis)[1] * 1,
                before=['%s p, %s q = split(axis = int32(%d), %s, x = x)[name = string("s")];'
                        % (types[0], types[1], either(axis, len(shape)), how)])


def bounds(n, step):
    """Python bounds of a slice that is not empty, and whether MIL's masks leave them out."""
    while True:
        begin, end = extent(-n, n - 1), extent(-n, n)
        no_begin, no_end = record.pick(False, False, True), record.pick(False, False, True)
        python = slice(None if no_begin else begin, None if no_end else end, step)
        before = not no_begin and not no_end and begin >= 0 and end >= 0 and end < begin
        if len(range(n)[python]) > 0 and not (step > 0 and before):
            return begin, end, no_begin, no_end, python


def taken(x, indices):
    """x at the given positions of each axis."""
    for axis, index in enumerate(indices):
        x = x.index_select(axis, torch.tensor(index))
    return x


def slice_arguments(shape, squeezable):
    """Arguments of a random slice, the positions on each axis and which axes are squeezed."""
    steps = [record.pick(1, 1, 2, -1, -2, 3) for _ in shape]
    parts = [bounds(n, s) for n, s in zip(shape, steps)]
    squeezed = [squeezable and record.pick(False, False, True) for _ in shape]
    positions = [[p[0] % n] if q else list(range(n)[p[4]]) for p, n, q in zip(parts, shape, squeezed)]
    return ("begin = %s, begin_mask = %s, end = %s, end_mask = %s, squeeze_mask = %s, stride = %s"
            % (ints([p[0] for p in parts]), booleans([p[2] for p in parts]), ints([p[1] for p in parts]),
               booleans([p[3] for p in parts]), booleans(squeezed), ints(steps)), positions, squeezed)


def without(shape, squeezed):
    return [n for n, q in zip(shape, squeezed) if not q]


for i in range(22):
    shape = shape_of_rank(1, 4, 5)
    arguments, positions, squeezed = slice_arguments(shape, True)
    wanted = without([len(p) for p in positions], squeezed)
    case("slice_by_index(%s, x = x)" % arguments, numbers(shape), lambda x: taken(x, positions).reshape(wanted))
for i in range(10):
    shape = shape_of_rank(1, 4, 5)
    begin = [extent(0, n - 1) for n in shape]
    size = [extent(1, n - b) for n, b in zip(shape, begin)]
    told = [-1 if b + s == n and i % 2 else s for b, s, n in zip(begin, size, shape)]
    positions = [list(range(b, b + s)) for b, s in zip(begin, size)]
    case("slice_by_size(begin = %s, size = %s, x = x)"
         % (ints([either(b, n) for b, n in zip(begin, shape)]), ints(told)), numbers(shape), lambda x: taken(x, positions))


def clamped(begin, size, shape):
    """Positions of the part that a computed begin names, moved into x."""
    first = [max(0, min((int(b) + n) if b < 0 else int(b), n - s)) for b, s, n in zip(begin, size, shape)]
    return [list(range(f, f + s)) for f, s in zip(first, size)]


def loose_begin(shape):
    return torch.tensor([extent(-n - 2, n + 2) for n in shape], dtype=torch.int32)


for i in range(12):
    shape = shape_of_rank(1, 4, 5)
    size, begin = [extent(1, n) for n in shape], loose_begin(shape)
    case("slice_by_size(begin = b, size = %s, x = x)" % ints(size), numbers(shape),
         lambda x, b: taken(x, clamped(b, size, shape)), b=begin)
for i in range(6):  # the declared type says how much a computed begin and end take
    shape = shape_of_rank(1, 3, 5)
    size = [extent(1, n) for n in shape]
    begin = torch.tensor([extent(0, n - s) for n, s in zip(shape, size)], dtype=torch.int32)
    end = begin + torch.tensor(size, dtype=torch.int32)
    case("slice_by_index(begin = b, end = e, x = x)", numbers(shape), lambda x, b, e: taken(x, clamped(b, size, shape)),
         b=begin, e=end)


def replaced(x, update, positions):
    """x with the part at the positions replaced: everything else is kept by a mask."""
    spots = torch.arange(x.numel()).reshape(x.shape)
    for axis, index in enumerate(positions):
        spots = spots.index_select(axis, torch.tensor(index))
    return x.reshape(-1).index_put((spots.reshape(-1),), update.reshape(-1)).reshape(x.shape)


for i in range(16):
    shape = shape_of_rank(1, 4, 5)
    arguments, positions, squeezed = slice_arguments(shape, True)
    wanted = without([len(p) for p in positions], squeezed)
    if not wanted:
        continue
    x = numbers(shape)
    update = record.normal(*wanted).to(x.dtype) if x.dtype != torch.bool else record.indices(2, *wanted).bool()
    case("slice_update(%s, update = update, x = x)" % arguments, x, lambda x, update: replaced(x, update, positions),
         update=update)
for i in range(8):
    shape = shape_of_rank(1, 4, 5)
    size, begin = [extent(1, n) for n in shape], loose_begin(shape)
    case("slice_update(begin = b, end = e, update = update, x = x)", record.normal(*shape),
         lambda x, update, b, e: replaced(x, update, clamped(b, size, shape)),
         update=record.normal(*size), b=begin, e=begin + torch.tensor(size, dtype=torch.int32))

# ---- the same elements in another order ----

for i in range(10):
    x = numbers(shape_of_rank(1, 4, 5))
    axes = shuffled(x.dim())[:extent(1, x.dim())]
    if i % 4 == 0:
        case("reverse(x = x)", x, lambda x: x.flip(list(range(x.dim()))))
    else:
        case("reverse(axes = %s, x = x)" % ints([either(a, x.dim()) for a in axes]), x, lambda x: x.flip(axes))


def reversed_rows(x, lengths, seq, batch):
    rows = []
    for b, part in enumerate(x.unbind(batch)):
        axis = seq - (seq > batch)
        n = max(0, min(int(lengths[b]), part.shape[axis]))
        head, tail = part.split([n, part.shape[axis] - n], axis)
        rows.append(torch.cat([head.flip([axis]), tail], axis))
    return torch.stack(rows, batch)


for i in range(12):
    shape = shape_of_rank(2, 4, 5)
    seq, batch = shuffled(len(shape))[:2]
    lengths = torch.tensor([extent(-1, shape[seq] + 1) for _ in range(shape[batch])], dtype=torch.int32)
    case("reverse_sequence(batch_axis = int32(%d), lengths = l, seq_axis = int32(%d), x = x)"
         % (either(batch, len(shape)), either(seq, len(shape))), numbers(shape),
         lambda x, l: reversed_rows(x, l, seq, batch), l=lengths)
for i in range(12):
    shape = shape_of_rank(1, 3)
    axis = extent(0, len(shape) - 1)
    shape[axis] = extent(1, 9)
    size, stride = extent(1, shape[axis]), extent(1, 3)
    case("sliding_windows(axis = int32(%d), size = int32(%d), stride = int32(%d), x = x)"
         % (either(axis, len(shape)), size, stride), numbers(shape),
         lambda x: x.unfold(axis, size, stride).movedim(-1, axis + 1))


def band(x, lower, upper):
    above = x if lower < 0 else torch.triu(x, -lower)
    return above * 1 if upper < 0 else torch.tril(above, upper)


for i in range(10):
    shape, lower, upper = shape_of_rank(2, 4, 5), extent(-1, 4), extent(-1, 4)
    case("band_part(lower = int32(%d), upper = int32(%d), x = x)" % (lower, upper), record.normal(*shape),
         lambda x: band(x, lower, upper))

# ---- repeating and filling ----

for i in range(8):
    x = numbers(shape_of_rank(1, 4))
    reps = [extent(1, 3) for _ in x.shape]
    case("tile(reps = %s, x = x)" % ints(reps), x, lambda x: x.repeat(reps))
for i in range(14):
    mode = record.pick("constant", "reflect", "replicate")
    x = record.normal(extent(1, 2), extent(1, 2), extent(3, 5), extent(3, 5))
    last = extent(1, 2)
    pad = [extent(0, 2) for _ in range(2 * last)]
    value = float(record.normal(1)[0]) if mode == "constant" else 0.0
    torch_pad = [p for k in range(last) for p in pad[2 * (last - 1 - k):2 * (last - 1 - k) + 2]]
    if last == 1:
        torch_pad += [0, 0]
    case("pad(constant_val = %s, mode = %s, pad = %s, x = x)" % (real(value), text(mode), ints(pad)), x,
         lambda x: torch.nn.functional.pad(x, torch_pad, mode, value))
for i in range(4):
    shape, value = shape_of_rank(1, 3), float(record.normal(1)[0])
    record.case("add(x = x, y = f)", {"x": record.normal(*shape)}, lambda x: x + torch.full(shape, value),
                before=["tensor<fp32, [%s]> f = %s[name = string(\"f\")];"
                        % (", ".join(map(str, shape)),
                           "fill(shape = %s, value = %s)" % (ints(shape), real(value)) if i % 2 else
                           "fill_like(ref_tensor = x, value = %s)" % real(value))])
for i in range(8):  # start and step are computed, the extent is declared
    count = extent(1, 9)
    record.case("range_1d(end = %s, start = s, step = t)" % real(1e6), {"s": record.normal(), "t": record.normal()},
                lambda s, t: s + t * torch.arange(count).float())
for i in range(3):
    x = numbers(shape_of_rank(1, 4))
    record.case("shape(x = x)", {"x": x}, lambda x: torch.tensor(list(x.shape), dtype=torch.int32), gradient=False)
record.write()
