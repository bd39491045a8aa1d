"""Convolutions and pooling, with MIL's ways to pad.

S is the number of spatial axes. Padding is done by hand, [before, after] for each axis, and torch's functions are
called without any: they know symmetric padding alone.
"""
import torch
from torch.nn import functional

from registry import ints, operator
from values import InterpreterError

CONV = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
CONV_TRANSPOSE = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def same_pads(extents, reaches, strides, lower):
    """The output has ceil(n / s) elements; of an odd total the larger half stands at the end, or first if `lower`."""
    pads = []
    for n, reach, s in zip(extents, reaches, strides):
        total = max(0, ((n + s - 1) // s - 1) * s + reach - n)
        small, large = total // 2, total - total // 2
        pads += [large, small] if lower else [small, large]
    return pads


def resolved_pads(pad_type, pad, extents, reaches, strides):
    pad_type = pad_type.lower()
    if pad_type == "valid":
        return [0] * (2 * len(extents))
    if pad_type == "custom":
        return list(pad) if pad else [0] * (2 * len(extents))
    if pad_type in ("same", "same_lower"):
        return same_pads(extents, reaches, strides, pad_type == "same_lower")
    raise InterpreterError("pad_type %s" % pad_type)


def torch_pads(pads):
    """torch lists the last axis first."""
    pairs = [pads[i:i + 2] for i in range(0, len(pads), 2)]
    return [p for pair in reversed(pairs) for p in pair]


def padded(x, pads, value=0.0):
    return functional.pad(x, torch_pads(pads), value=value) if any(pads) else x


@operator("conv")
def conv(x, weight, bias=None, strides: ints = None, pad_type: str = "valid", pad: ints = None,
         dilations: ints = None, groups: int = 1):
    spatial = x.dim() - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    reaches = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations)]
    x = padded(x, resolved_pads(pad_type, pad, x.shape[2:], reaches, strides))
    return CONV[spatial](x, weight, bias, stride=strides, dilation=dilations, groups=groups)


@operator("conv_quantized")
def conv_quantized(x, weight, quantization_type: str, nbits: int, quant_scale, quant_bias, bias=None,
                   strides: ints = None, pad_type: str = "valid", pad: ints = None, dilations: ints = None,
                   groups: int = 1):
    if quantization_type != "linear":
        raise InterpreterError("quantization_type %s is not provided for" % quantization_type)
    column = [-1] + [1] * (weight.dim() - 1)
    dense = weight.to(x.dtype) * quant_scale.reshape(column) + quant_bias.reshape(column)
    return conv(x, dense, bias, strides, pad_type, pad, dilations, groups)


@operator("conv_transpose")
def conv_transpose(x, weight, bias=None, pad: ints = None, output_shape: ints = None, pad_type: str = "valid",
                   strides: ints = None, dilations: ints = None, groups: int = 1):
    """The gradient of conv: the full result, from which the padding is cut."""
    spatial = x.dim() - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    full = CONV_TRANSPOSE[spatial](x, weight, bias, stride=strides, dilation=dilations, groups=groups)
    wanted = list(output_shape[-spatial:]) if output_shape else None
    if pad_type.lower().startswith("same") and wanted is None:
        wanted = [n * s for n, s in zip(x.shape[2:], strides)]
    crops = transpose_crops(full.shape[2:], wanted, pad_type.lower(), pad)
    return padded_bias(full, crops, bias, wanted)


def transpose_crops(full, wanted, pad_type, pad):
    if pad_type == "custom" and pad:
        return list(pad)
    crops = []
    for have, want in zip(full, wanted or full):
        # What the kernel does not reach stands at the end.
        small, large = max(0, have - want) // 2, (have - want) - max(0, have - want) // 2
        crops += [large, small] if pad_type == "same_lower" else [small, large]
    return crops


def padded_bias(full, crops, bias, wanted):
    """Cut; where the wanted extent is larger than what the kernel reaches, the rest holds the bias alone."""
    if wanted is not None:
        for axis, want in enumerate(wanted):
            crops[2 * axis + 1] = full.shape[2 + axis] - want - crops[2 * axis]
    if min(crops) >= 0:
        return padded(full, [-c for c in crops])
    bare = full if bias is None else full - bias.reshape([1, -1] + [1] * (full.dim() - 2))
    bare = padded(bare, [-c for c in crops])
    return bare if bias is None else bare + bias.reshape([1, -1] + [1] * (full.dim() - 2))


# ---- pooling ----

def extra_for_ceiling(extents, kernels, strides, pads):
    """How much is padded at the end of each axis for ceil_mode: the last window must begin inside x or its padding."""
    extra = []
    for i, (n, k, s) in enumerate(zip(extents, kernels, strides)):
        before, after = pads[2 * i:2 * i + 2]
        out = (n + before + after - k + s - 1) // s + 1
        if (out - 1) * s >= n + before and before + after > 0:
            out -= 1
        extra.append(max(0, (out - 1) * s + k - (n + before + after)))
    return extra


def windows(x, kernels, strides, pads, ceil_mode, value):
    """[N, C, out.., K]: the elements of each window, `value` for what is padded."""
    spatial = x.dim() - 2
    if ceil_mode:
        extra = extra_for_ceiling(x.shape[2:], kernels, strides, pads)
        pads = [p + (extra[i // 2] if i % 2 else 0) for i, p in enumerate(pads)]
    x = padded(x, pads, value)
    for axis in range(spatial):
        x = x.unfold(2 + axis, kernels[axis], strides[axis])
    return x.flatten(2 + spatial)


def pool_windows(x, kernel_sizes, strides, pad_type, pad, ceil_mode, value):
    strides = strides or [1] * (x.dim() - 2)
    pads = resolved_pads(pad_type, pad, x.shape[2:], kernel_sizes, strides)
    return windows(x, kernel_sizes, strides, pads, ceil_mode, value)


@operator("max_pool")
def max_pool(x, kernel_sizes: ints, pad_type: str = "valid", strides: ints = None, pad: ints = None,
             ceil_mode: bool = False):
    return pool_windows(x, kernel_sizes, strides, pad_type, pad, ceil_mode, float("-inf")).amax(-1)


@operator("avg_pool")
def avg_pool(x, kernel_sizes: ints, pad_type: str = "valid", strides: ints = None, pad: ints = None,
             exclude_padding_from_average: bool = False, ceil_mode: bool = False):
    """What ceil_mode adds beyond the padding is never counted, as in PyTorch; MIL's documentation leaves it open."""
    total = pool_windows(x, kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0).sum(-1)
    counted = torch.ones_like(x[:1, :1])
    if not exclude_padding_from_average:
        steps = strides or [1] * (x.dim() - 2)
        pad = resolved_pads(pad_type, pad, x.shape[2:], kernel_sizes, steps)
        counted, pad_type, pad = padded(counted, pad, 1.0), "custom", [0] * len(pad)
        if ceil_mode:   # the padding is part of the ones now: the windows are as many as those of `total`
            extra = [(n - 1) * s + k - m for n, s, k, m in
                     zip(total.shape[2:], steps, kernel_sizes, counted.shape[2:])]
            pad, ceil_mode = [max(0, e) if i else 0 for e in extra for i in (0, 1)], False
    return total / pool_windows(counted, kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0).sum(-1)


@operator("l2_pool")
def l2_pool(x, kernel_sizes: ints, pad_type: str = "valid", strides: ints = None, pad: ints = None,
            ceil_mode: bool = False):
    return torch.sqrt(pool_windows(x * x, kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0).sum(-1))
