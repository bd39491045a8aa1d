"""Reductions along axes, and running sums."""
import torch

from registry import ints, normal_axis, operator


def all_axes(x, axes):
    return [normal_axis(a, x.dim()) for a in axes] if axes else list(range(x.dim()))


def register(name, function):
    @operator(name)
    def reduce(x, axes: ints = None, keep_dims: bool = False):
        axes = all_axes(x, axes)
        return function(x, axes, keep_dims) if axes else function(x.reshape(1), [0], False)


def reduce_mean(x, axes, keep):
    if x.dtype.is_floating_point:
        return x.mean(axes, keepdim=keep)
    return torch.trunc(x.double().mean(axes, keepdim=keep)).to(torch.int64)


def reduce_prod(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep)
    return x


def of_floats(function):
    """Roots and logarithms of integers are cut to integers."""
    def reduce(x, axes, keep):
        if x.dtype.is_floating_point:
            return function(x, axes, keep)
        return torch.trunc(function(x.double(), axes, keep)).to(torch.int64)
    return reduce


REDUCTIONS = {
    "reduce_sum": lambda x, axes, keep: x.sum(axes, keepdim=keep),
    "reduce_mean": reduce_mean,
    "reduce_max": lambda x, axes, keep: x.amax(axes, keepdim=keep),
    "reduce_min": lambda x, axes, keep: x.amin(axes, keepdim=keep),
    "reduce_prod": reduce_prod,
    "reduce_sum_square": lambda x, axes, keep: (x * x).sum(axes, keepdim=keep),
    "reduce_l1_norm": lambda x, axes, keep: x.abs().sum(axes, keepdim=keep),
    "reduce_l2_norm": of_floats(lambda x, axes, keep: torch.linalg.vector_norm(x, dim=axes, keepdim=keep)),
    "reduce_log_sum": of_floats(lambda x, axes, keep: torch.log(x.sum(axes, keepdim=keep))),
    "reduce_log_sum_exp": of_floats(lambda x, axes, keep: torch.logsumexp(x, axes, keepdim=keep)),
}

for reduction_name, reduction in REDUCTIONS.items():
    register(reduction_name, reduction)


def first_of(x, axis, keep, best):
    """The lowest index among equals; torch.argmax does not promise which."""
    axis = normal_axis(axis, x.dim())
    hit = x == best(x, axis, True)
    index = torch.arange(x.shape[axis]).reshape([-1] + [1] * (x.dim() - axis - 1))
    return torch.where(hit, index, x.shape[axis]).amin(axis, keepdim=keep)


@operator("reduce_argmax")
def reduce_argmax(x, axis: int = -1, keep_dims: bool = False, output_dtype: str = "int32"):
    return first_of(x.detach(), axis, keep_dims, torch.amax)


@operator("reduce_argmin")
def reduce_argmin(x, axis: int = -1, keep_dims: bool = False, output_dtype: str = "int32"):
    return first_of(x.detach(), axis, keep_dims, torch.amin)


@operator("cumsum")
def cumsum(x, axis: int = 0, exclusive: bool = False, reverse: bool = False):
    if reverse:
        x = x.flip(axis)
    y = torch.cumsum(x, axis)
    if exclusive:   # the sum of what stands before: shifted by one, not y - x, which would round
        y = torch.cat([torch.zeros_like(y.narrow(axis, 0, 1)), y.narrow(axis, 0, y.shape[axis] - 1)], axis)
    return y.flip(axis) if reverse else y
