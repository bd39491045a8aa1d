"""Numbers that a C test can draw again (tests/autograd/hashed.h), so that weights and batches need no file."""
import numpy as np
import torch


def uniform(count, stream):
    """float32 in [-0.5, 0.5): the hash of the index, 24 bits of it."""
    h = np.arange(count, dtype=np.uint64) + np.uint64(stream) * np.uint64(1000003)
    h = (h * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
    h ^= h >> np.uint64(15)
    h = (h * np.uint64(2246822519)) & np.uint64(0xFFFFFFFF)
    h ^= h >> np.uint64(13)
    return ((h >> np.uint64(8)).astype(np.float64) / 16777216.0 - 0.5).astype(np.float32)


def tensor(shape, stream, scale, offset=0.0):
    values = uniform(int(np.prod(shape)), stream).reshape(shape)
    return torch.from_numpy(values * np.float32(scale) + np.float32(offset))


def integers(shape, stream, limit):
    """int64 in [0, limit)."""
    values = (uniform(int(np.prod(shape)), stream).astype(np.float64) + 0.5) * limit
    return torch.from_numpy(values.astype(np.int64).reshape(shape))
