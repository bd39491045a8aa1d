"""Random cases of the reduce family: python3 tests/data/torch/reduce_cases.py writes reduce.safetensors.

Extrema are of distinct elements: equal ones share the gradient here as in torch.amax, but not in torch.max.
"""
import torch

from record import Recorder, boolean, integer, ints

record = Recorder("reduce", tolerance=3e-6,
                  reason="sums of at most 120 elements in another order, exponentials and logarithms of a few ulp")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def positive(*shape):
    return record.uniform(0.1, 2.0, *shape)


def with_zeros(*shape):
    """Some elements 0: products have other gradients there."""
    return record.normal(*shape) * (record.uniform(0, 1, *shape) > 0.2).float()


def product(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep)
    return x


KINDS = {
    "reduce_sum": (record.normal, lambda x, axes, keep: x.sum(axes, keepdim=keep)),
    "reduce_mean": (record.normal, lambda x, axes, keep: x.mean(axes, keepdim=keep)),
    "reduce_max": (record.distinct, lambda x, axes, keep: x.amax(axes, keepdim=keep)),
    "reduce_min": (record.distinct, lambda x, axes, keep: x.amin(axes, keepdim=keep)),
    "reduce_prod": (with_zeros, product),
    "reduce_sum_square": (record.normal, lambda x, axes, keep: (x * x).sum(axes, keepdim=keep)),
    "reduce_l1_norm": (record.normal, lambda x, axes, keep: torch.linalg.vector_norm(x, 1, axes, keepdim=keep)),
    "reduce_l2_norm": (with_zeros, lambda x, axes, keep: torch.linalg.vector_norm(x, 2, axes, keepdim=keep)),
    "reduce_log_sum": (positive, lambda x, axes, keep: x.sum(axes, keepdim=keep).log()),
    "reduce_log_sum_exp": (record.normal, lambda x, axes, keep: x.logsumexp(axes, keepdim=keep)),
}


def reduction(kind):
    draw, function = KINDS[kind]
    rank = extent(1, 4)
    shape = [extent(1, 5 if rank > 2 else 9) for _ in range(rank)]
    axes = sorted(set(extent(0, rank - 1) for _ in range(extent(1, rank))))
    keep = record.pick(False, True)
    spelled = [a - rank if record.pick(False, True) else a for a in axes]
    listed = "" if len(axes) == rank and record.pick(False, True) else "axes = %s, " % ints(spelled)
    record.case("%s(%skeep_dims = %s, x = x)" % (kind, listed, boolean(keep)), {"x": draw(*shape)},
                lambda x: function(x, axes, keep))


def position(kind):
    rank = extent(1, 3)
    shape = [extent(1, 9) for _ in range(rank)]
    axis, keep = extent(-rank, rank - 1), record.pick(False, True)
    function = torch.argmax if kind == "reduce_argmax" else torch.argmin
    record.case('%s(axis = %s, keep_dims = %s, output_dtype = string("int32"), x = x)'
                % (kind, integer(axis), boolean(keep)), {"x": record.distinct(*shape)},
                lambda x: function(x, axis, keepdim=keep), gradient=False)


def running():
    rank = extent(1, 3)
    shape = [extent(1, 9) for _ in range(rank)]
    axis, exclusive, reverse = extent(-1, rank - 1), record.pick(False, True), record.pick(False, True)

    def function(x):
        x = x.flip(axis) if reverse else x
        y = x.cumsum(axis)
        y = y.roll(1, axis) * (torch.arange(x.shape[axis]) > 0).reshape([-1] + [1] * ((rank - 1 - axis) % rank)) \
            if exclusive else y
        return y.flip(axis) if reverse else y
    record.case("cumsum(axis = %s, exclusive = %s, reverse = %s, x = x)"
                % (integer(axis), boolean(exclusive), boolean(reverse)), {"x": record.normal(*shape)}, function)


for i in range(16):
    for name in KINDS:
        reduction(name)
for i in range(15):
    position("reduce_argmax")
    position("reduce_argmin")
for i in range(30):
    running()
zero = torch.zeros(2, 3)
zero[1, 0] = 2.0
record.case("reduce_l2_norm(axes = %s, keep_dims = bool(false), x = x)" % ints([1]), {"x": zero},
            lambda x: torch.linalg.vector_norm(x, 2, 1))
record.write()
