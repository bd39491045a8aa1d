"""Random cases of the normalize family: python3 tests/data/torch/normalize_cases.py writes normalize.safetensors."""
import torch
import torch.nn.functional as F

from record import Recorder, integer, ints, real, tensor

record = Recorder("normalize", tolerance=1e-5,
                  reason="sums in another order; a gradient is the small difference of terms that nearly cancel")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def extents(rank, high=4):
    return [extent(1, high) for _ in range(rank)]


def epsilon():
    return record.pick(1e-5, 1e-3, 0.1)


def softmax():
    x = 3 * record.normal(*extents(extent(1, 4)))
    axis = extent(-x.dim(), x.dim() - 1)
    record.case("softmax(axis = %s, x = x)" % integer(axis), {"x": x}, lambda x: F.softmax(x, axis))


# Groups have three elements or more: with two, y is nearly +-1 whatever x is, and its gradient nothing but rounding.

def affine(shape, words):
    """gamma and beta or neither, and their arguments in MIL."""
    gamma = record.normal(*shape) if record.pick(True, False) else None
    beta = record.normal(*shape) if record.pick(True, False) else None
    text = dict(words)
    if gamma is not None:
        text["gamma"] = tensor(gamma)
    if beta is not None:
        text["beta"] = tensor(beta)
    return gamma, beta, ", ".join("%s = %s" % item for item in sorted(text.items()))


def layer_norm():
    shape = extents(extent(1, 4))
    shape[-1] += 2
    count, eps = extent(1, len(shape)), epsilon()
    own = shape[-count:]
    axes = list(range(-count, 0))
    gamma, beta, text = affine(own, {"x": "x", "epsilon": real(eps), "axes": ints(axes)})
    x = record.pick(0.1, 1.0, 10.0) * record.normal(*shape) + record.pick(0.0, 1.0)
    record.case("layer_norm(%s)" % text, {"x": x}, lambda x: F.layer_norm(x, own, gamma, beta, eps))


def layer_norm_inside():
    """Axes that are not the last: through a permutation, as PyTorch has no such argument."""
    shape, eps = [extent(3, 5), extent(3, 5), extent(1, 4)], epsilon()
    axes = record.pick([0], [1], [0, 1], [0, 2])
    others = [a for a in range(3) if a not in axes]
    order = others + axes
    own = [shape[a] for a in axes]
    gamma, beta, text = affine(own, {"x": "x", "epsilon": real(eps), "axes": ints(axes)})
    back = [order.index(a) for a in range(3)]
    record.case("layer_norm(%s)" % text, {"x": record.normal(*shape)},
                lambda x: F.layer_norm(x.permute(order), own, gamma, beta, eps).permute(back))


def batch_norm():
    shape, eps = extents(extent(3, 5), 4), epsilon()
    c = shape[1]
    mean, variance = record.normal(c), record.uniform(0.2, 3.0, c)
    gamma, beta, text = affine([c], {"x": "x", "epsilon": real(eps), "mean": tensor(mean),
                                     "variance": tensor(variance)})
    record.case("batch_norm(%s)" % text, {"x": record.normal(*shape)},
                lambda x: F.batch_norm(x, mean, variance, gamma, beta, False, 0.0, eps))


def instance_norm():
    shape, eps = extents(extent(3, 4), 4), epsilon()
    shape[-1] += 2
    gamma, beta, text = affine([shape[1]], {"x": "x", "epsilon": real(eps)})
    record.case("instance_norm(%s)" % text, {"x": record.normal(*shape)},
                lambda x: F.instance_norm(x, None, None, gamma, beta, True, 0.0, eps))


def l2_norm():
    eps = epsilon()
    record.case("l2_norm(epsilon = %s, x = x)" % real(eps), {"x": record.normal(*extents(extent(3, 5), 4))},
                lambda x: x / (x.square().sum((-3, -2, -1), keepdim=True) + eps).sqrt())


def local_response_norm():
    shape = [extent(1, 3), extent(1, 8)] + extents(extent(1, 3), 3)
    size, alpha, beta, k = extent(1, 6), record.pick(1e-4, 0.5, 3.0), record.pick(0.5, 0.75, 1.0), record.pick(0.5, 2.0)
    record.case("local_response_norm(alpha = %s, beta = %s, k = %s, size = %s, x = x)"
                % (real(alpha), real(beta), real(k), integer(size)), {"x": record.normal(*shape)},
                lambda x: lrn(x, size, alpha, beta, k))


def lrn(x, size, alpha, beta, k):
    """Positions are folded into one axis, as its rank 3 form is the same mathematics."""
    return F.local_response_norm(x.reshape(x.shape[0], x.shape[1], -1), size, alpha, beta, k).reshape(x.shape)


for count, draw in ((25, softmax), (45, layer_norm), (20, layer_norm_inside), (32, batch_norm), (35, instance_norm),
                    (15, l2_norm), (35, local_response_norm)):
    for i in range(count):
        draw()
record.write()
