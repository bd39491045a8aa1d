"""Random cases of the space family: python3 tests/data/torch/space_cases.py writes space.safetensors."""
import torch

from record import Recorder, ints

record = Recorder("space", tolerance=1e-7, reason="elements are moved, never computed")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def matrix(values):
    """A 2 x 2 literal."""
    return "tensor<int32, [2, 2]>([[%d, %d], [%d, %d]])" % tuple(values)


def numbers(*shape):
    """Floats, or at times integers or booleans, which move alike."""
    kind = record.pick("float", "float", "float", "float", "int", "bool")
    if kind == "float":
        return record.normal(*shape), True
    if kind == "int":
        return record.indices(1000, *shape) - 500, False
    return record.indices(2, *shape).bool(), False


def case(expression, x, gradient, function):
    record.case(expression, {"x": x}, function, gradient=gradient)


# ---- channels and space ----

def depth_to_space(x, b):
    n, c, h, w = x.shape
    blocks = x.reshape(n, b, b, c // (b * b), h, w)
    return torch.einsum("nijchw->nchiwj", blocks).reshape(n, c // (b * b), h * b, w * b)


def space_to_depth(x, b):
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // b, b, w // b, b)
    return torch.einsum("nchiwj->nijchw", blocks).reshape(n, b * b * c, h // b, w // b)


for i in range(35):
    b = extent(1, 3)
    x, gradient = numbers(extent(1, 2), b * b * extent(1, 2), extent(1, 3), extent(1, 3))
    case("depth_to_space(block_size = int32(%d), x = x)" % b, x, gradient,
         lambda x: depth_to_space(x if gradient else x.double(), b).to(x.dtype))
for i in range(35):
    b = extent(1, 3)
    x, gradient = numbers(extent(1, 2), extent(1, 2), b * extent(1, 3), b * extent(1, 3))
    case("space_to_depth(block_size = int32(%d), x = x)" % b, x, gradient,
         lambda x: space_to_depth(x if gradient else x.double(), b).to(x.dtype))
for i in range(35):
    b = extent(1, 3)
    x, gradient = numbers(extent(1, 2), b * b * extent(1, 2), extent(1, 3), extent(1, 3))
    case("pixel_shuffle(upscale_factor = int32(%d), x = x)" % b, x, gradient,
         lambda x: torch.nn.functional.pixel_shuffle(x, b))
for i in range(35):
    b = extent(1, 3)
    x, gradient = numbers(extent(1, 2), extent(1, 2), b * extent(1, 3), b * extent(1, 3))
    case("pixel_unshuffle(downscale_factor = %s(%d), x = x)" % (record.pick("int32", "uint32"), b), x, gradient,
         lambda x: torch.nn.functional.pixel_unshuffle(x, b))


# ---- batch and space: block by block with strided slices ----

def space_to_batch(x, block, edge):
    padded = torch.nn.functional.pad(x, (edge[2], edge[3], edge[0], edge[1]))
    return torch.cat([padded[:, :, i::block[0], j::block[1]] for i in range(block[0]) for j in range(block[1])])


def batch_to_space(x, block, edge):
    n, height, width = x.shape[0] // (block[0] * block[1]), x.shape[2] * block[0], x.shape[3] * block[1]
    parts = list(x.split(n))
    whole = torch.zeros(n, x.shape[1], height, width, dtype=x.dtype)
    for i in range(block[0]):
        for j in range(block[1]):
            whole[:, :, i::block[0], j::block[1]] = parts[i * block[1] + j]
    return whole[:, :, edge[0]:height - edge[1], edge[2]:width - edge[3]]


for i in range(35):
    block = [extent(1, 3), extent(1, 3)]
    low = [extent(0, 2), extent(0, 2)]
    size = [extent(1, 6), extent(1, 6)]
    high = [(-(size[k] + low[k])) % block[k] + record.pick(0, block[k]) for k in range(2)]
    if i % 4 == 0:
        size, low, high = [block[k] * extent(1, 3) for k in range(2)], [0, 0], [0, 0]
    edge = [low[0], high[0], low[1], high[1]]
    x, gradient = numbers(extent(1, 2), extent(1, 2), *size)
    case("space_to_batch(block_shape = %s, paddings = %s, x = x)" % (ints(block), matrix(edge)), x, gradient,
         lambda x: space_to_batch(x, block, edge))
for i in range(35):
    block = [extent(1, 3), extent(1, 3)]
    size = [extent(1, 3), extent(1, 3)]
    edge = [extent(0, (size[k // 2] * block[k // 2] - 1) // 2) for k in range(4)] if i % 4 else [0] * 4
    x, gradient = numbers(block[0] * block[1] * extent(1, 2), extent(1, 2), *size)
    case("batch_to_space(block_shape = %s, crops = %s, x = x)" % (ints(block), matrix(edge)), x, gradient,
         lambda x: batch_to_space(x, block, edge))
record.write()
