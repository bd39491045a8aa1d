"""Blocks of space that become channels or batches, and back."""
import torch
from torch.nn import functional

from registry import ints, operator


@operator("depth_to_space")
def depth_to_space(x, block_size: int):
    """TensorFlow's order: channel (i*b + j)*C + c goes to row h*b + i, column w*b + j of channel c."""
    n, channels, h, w = x.shape
    b = block_size
    y = x.reshape(n, b, b, channels // (b * b), h, w).permute(0, 3, 4, 1, 5, 2)
    return y.reshape(n, channels // (b * b), h * b, w * b)


@operator("space_to_depth")
def space_to_depth(x, block_size: int):
    n, channels, h, w = x.shape
    b = block_size
    y = x.reshape(n, channels, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4)
    return y.reshape(n, channels * b * b, h // b, w // b)


@operator("pixel_shuffle")
def pixel_shuffle(x, upscale_factor: int):
    """PyTorch's order: channel c*f*f + i*f + j."""
    return functional.pixel_shuffle(x, upscale_factor)


@operator("pixel_unshuffle")
def pixel_unshuffle(x, downscale_factor: int):
    return functional.pixel_unshuffle(x, downscale_factor)


@operator("space_to_batch")
def space_to_batch(x, block_shape: ints, paddings):
    """Axes 2.. are padded and cut in blocks; the place in the block leads the batch, as in TensorFlow."""
    pads = paddings.reshape(-1, 2).tolist()
    x = functional.pad(x, [p for pair in reversed(pads) for p in pair])
    for i, b in enumerate(block_shape):
        x = x.unflatten(2 + 2 * i, (x.shape[2 + 2 * i] // b, b))
    count = len(block_shape)
    order = [3 + 2 * i for i in range(count)] + [0, 1] + [2 + 2 * i for i in range(count)]
    return x.permute(order).flatten(0, count)


@operator("batch_to_space")
def batch_to_space(x, block_shape: ints, crops):
    count = len(block_shape)
    batch = x.shape[0] // int(torch.tensor(block_shape).prod())
    x = x.unflatten(0, (*block_shape, batch))       # [blocks.., N, C, space..]
    order = [count, count + 1]
    for i in range(count):
        order += [count + 2 + i, i]
    x = x.permute(order)
    for i in range(count):
        x = x.flatten(2 + i, 3 + i)
    for i, (first, last) in enumerate(crops.reshape(-1, 2).tolist()):
        x = x.narrow(2 + i, first, x.shape[2 + i] - first - last)
    return x
