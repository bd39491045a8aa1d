"""Random cases of layers that are no single operation of MIL: python3 tests/data/torch/norm_layers.py writes
norm_layers.safetensors for tests/autograd/vjp/test_norm_layers.c. "layer.<i>" in its metadata names the layer and its
numbers: axes or groups, then epsilon."""
import torch
import torch.nn.functional as F

from record import Recorder

record = Recorder("norm_layers", tolerance=1e-5,
                  reason="sums in another order; a gradient is the small difference of terms that nearly cancel")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def case(layer, number, epsilon, inputs, function):
    """The "program" of the record is only for people here."""
    record.notes["layer.%d" % record.count] = "%s %d %s" % (layer, number, repr(epsilon))
    record.case("%s(%d, %s)" % (layer, number, repr(epsilon)), inputs, function)


def over_last(layer, function):
    shape = [extent(1, 4) for _ in range(extent(1, 4))]
    shape[-1] += 2
    count, epsilon = extent(1, len(shape)), record.pick(1e-5, 1e-3)
    own = shape[-count:]
    inputs = {"x": record.normal(*shape) + record.pick(0.0, 1.0), "weight": record.normal(*own)}
    if layer == "layer_norm":
        inputs["bias"] = record.normal(*own)
    case(layer, count, epsilon, inputs, lambda **v: function(own, epsilon, **v))


def rms(own, epsilon, x, weight):
    axes = tuple(range(-len(own), 0))
    return x * torch.rsqrt(x.square().mean(axes, keepdim=True) + epsilon) * weight


def over_channels(layer, function):
    groups, epsilon = extent(1, 3), record.pick(1e-5, 1e-3)
    rank = extent(3, 5) if layer == "group_norm" else extent(3, 4)
    shape = [extent(1, 3), groups * extent(1, 3)] + [extent(1, 3) for _ in range(rank - 2)]
    shape[-1] += 2
    c = shape[1]
    inputs = {"x": record.normal(*shape), "weight": record.normal(c), "bias": record.normal(c)}
    if layer == "batch_norm":
        inputs.update(mean=record.normal(c), variance=record.uniform(0.3, 2.0, c))
    case(layer, groups, epsilon, inputs, lambda **v: function(groups, epsilon, **v))


def batch(groups, epsilon, x, weight, bias, mean, variance):
    """Written out, since F.batch_norm gives no gradient for its statistics."""
    mean, variance, weight, bias = (v.reshape(-1, *[1] * (x.dim() - 2)) for v in (mean, variance, weight, bias))
    return (x - mean) / (variance + epsilon).sqrt() * weight + bias


for i in range(20):
    over_last("layer_norm", lambda own, e, x, weight, bias: F.layer_norm(x, own, weight, bias, e))
    over_last("rms_norm", rms)
    over_channels("group_norm", lambda g, e, x, weight, bias: F.group_norm(x, g, weight, bias, e))
    over_channels("instance_norm",
                  lambda g, e, x, weight, bias: F.instance_norm(x, None, None, weight, bias, True, 0.0, e))
    over_channels("batch_norm", batch)
record.write()
