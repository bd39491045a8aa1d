"""Normalization. Variances are those of the population (divided by n)."""
import torch

from ops_elementwise import by_channel, rounded_epsilon
from registry import ints, normal_axis, operator


@operator("batch_norm")
def batch_norm(x, mean, variance, gamma=None, beta=None, epsilon: float = 1e-5):
    y = (x - by_channel(mean, x)) / torch.sqrt(by_channel(variance, x) + epsilon)
    return scaled(y, gamma, beta, x)


def scaled(y, gamma, beta, x):
    if gamma is not None:
        y = y * by_channel(gamma, x)
    return y if beta is None else y + by_channel(beta, x)


def standard(x, axes, epsilon):
    mean = x.mean(axes, keepdim=True)
    centered = x - mean
    return centered / torch.sqrt((centered * centered).mean(axes, keepdim=True) + epsilon)


@operator("instance_norm")
def instance_norm(x, gamma=None, beta=None, epsilon: float = 1e-5):
    return scaled(standard(x, list(range(2, x.dim())), epsilon), gamma, beta, x)


@operator("layer_norm")
def layer_norm(x, axes: ints = None, gamma=None, beta=None, epsilon: float = 1e-5, call=None):
    axes = sorted(normal_axis(a, x.dim()) for a in axes) if axes else list(range(x.dim()))
    y = standard(x, axes, rounded_epsilon(epsilon, call.dtypes["x"]))
    # gamma and beta have the extents of x along axes, which need not be the last ones.
    shape = [x.shape[i] if i in axes else 1 for i in range(x.dim())]
    if gamma is not None:
        y = y * gamma.reshape(shape)
    return y if beta is None else y + beta.reshape(shape)


@operator("l2_norm")
def l2_norm(x, epsilon: float = 1e-6):
    return x / torch.sqrt((x * x).sum([-3, -2, -1], keepdim=True) + epsilon)


@operator("local_response_norm")
def local_response_norm(x, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
    """Squares are summed over `size` neighboring channels, of which size // 2 come before, cut at both ends."""
    squares = x * x
    channels = x.shape[1]
    sums = []
    for c in range(channels):
        first = max(0, c - size // 2)
        sums.append(squares[:, first:min(channels, c - size // 2 + size)].sum(1))
    return x / (k + alpha / size * torch.stack(sums, 1)) ** beta
