"""Random cases of the pool family: python3 tests/data/torch/pool_cases.py writes pool.safetensors.

PyTorch pads evenly; uneven padding is said with F.pad, of -inf for maxima and zeros for the rest.
"""
import torch
import torch.nn.functional as F

from record import Recorder, boolean, ints, text

record = Recorder("pool", tolerance=2e-6, reason="sums of at most 27 elements in another order, shares of overlaps")
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def arguments(kernel, strides, pad_type, pad, ceil):
    return "ceil_mode = %s, %%skernel_sizes = %s, pad = %s, pad_type = %s, strides = %s, x = x" % (
        boolean(ceil), ints(kernel), ints(pad), text(pad_type), ints(strides))


def drawn(axes, kernel):
    size = [extent(k, k + 5 if axes < 3 else k + 3) for k in kernel]
    return [extent(1, 2), extent(1, 2)] + size


def around(x, pad, value):
    """pad is [before, after] per spatial axis; F.pad wants the last axis first."""
    return F.pad(x, [p for i in reversed(range(len(pad) // 2)) for p in pad[2 * i:2 * i + 2]], value=value)


def emit(kind, call, x, function, include=True):
    extra = "" if kind != "avg_pool" else "exclude_padding_from_average = %s, " % boolean(not include)
    record.case("%s(%s)" % (kind, call % extra), {"x": x}, function)


def even(axes, ceil):
    """Padding equal on both sides, at most half a kernel, as PyTorch has it."""
    kernel = [extent(1, 4 if axes < 3 else 3) for _ in range(axes)]
    strides = [extent(1, 3) for _ in range(axes)]
    # without padding MIL takes a last window that starts beyond x, PyTorch does not
    half = [(extent(1, k // 2) if ceil and k > 1 else extent(0, k // 2)) for k in kernel]
    if ceil and 0 in half:
        strides = [1 if h == 0 else s for h, s in zip(half, strides)]
    pad = [h for h in half for _ in range(2)]
    call = arguments(kernel, strides, "custom" if max(pad) > 0 else record.pick("valid", "custom"), pad, ceil)
    shape = drawn(axes, kernel)
    kind = record.pick("max_pool", "avg_pool", "avg_pool")
    if kind == "max_pool":
        emit(kind, call, record.distinct(*shape), lambda x: MAX[axes](x, kernel, strides, half, ceil_mode=ceil))
    else:
        include = record.pick(True, False)
        emit(kind, call, record.normal(*shape),
             lambda x: AVG[axes](x, kernel, strides, half, ceil_mode=ceil, count_include_pad=include), include)


def same(axes, lower):
    kernel = [extent(1, 4 if axes < 3 else 3) for _ in range(axes)]
    strides = [extent(1, 3) for _ in range(axes)]
    shape = drawn(axes, kernel)
    pad = []
    for i in range(axes):
        total = max(0, (-(-shape[2 + i] // strides[i]) - 1) * strides[i] + kernel[i] - shape[2 + i])
        before = (total + 1) // 2 if lower else total // 2
        pad += [before, total - before]
    call = arguments(kernel, strides, "same_lower" if lower else "same", [0] * 2 * axes, False)
    uneven(axes, call, kernel, strides, pad, shape)


def custom(axes):
    kernel = [extent(1, 4 if axes < 3 else 3) for _ in range(axes)]
    strides = [extent(1, 3) for _ in range(axes)]
    pad = [extent(0, k - 1) for k in kernel for _ in range(2)]
    uneven(axes, arguments(kernel, strides, "custom", pad, False), kernel, strides, pad, drawn(axes, kernel))


def uneven(axes, call, kernel, strides, pad, shape):
    kind = record.pick("max_pool", "avg_pool", "avg_pool", "l2_pool" if axes < 3 else "max_pool")
    if kind == "max_pool":
        emit(kind, call, record.distinct(*shape),
             lambda x: MAX[axes](around(x, pad, -torch.inf), kernel, strides))
    elif kind == "l2_pool":
        emit(kind, call, record.normal(*shape), lambda x: norm(axes, around(x, pad, 0.0), kernel, strides))
    else:
        include = record.pick(True, False)

        def average(x):
            y = AVG[axes](around(x, pad, 0.0), kernel, strides)
            share = AVG[axes](around(torch.ones_like(x), pad, 0.0), kernel, strides)
            return y if include else y / share
        emit(kind, call, record.normal(*shape), average, include)


def norm(axes, x, kernel, strides):
    if axes == 2:
        return F.lp_pool2d(x, 2.0, tuple(kernel), tuple(strides))
    return F.lp_pool1d(x, 2.0, kernel[0], strides[0])


for i in range(90):
    even(record.pick(1, 2, 2, 3), False)
for i in range(40):
    even(record.pick(1, 2), True)
for i in range(50):
    same(record.pick(1, 2, 2, 3), record.pick(False, True))
for i in range(40):
    custom(record.pick(1, 2, 2, 3))
record.write()
