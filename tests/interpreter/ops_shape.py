"""What moves elements without computing: reshape, transpose, slices, concat, pad, fill and their kin."""
import math

import torch

from registry import bools, integer, ints, normal_axis, operator, tensors
from values import InterpreterError


@operator("reshape")
def reshape(x, shape: ints, call=None):
    """0 copies the extent at its index, -1 takes the rest. From ios17 on the shape may have another length: it is
    aligned at the right then, and a 0 before x's first axis is 1."""
    if len(shape) == x.dim() or call.opset >= 17:
        extents = [1] * (len(shape) - x.dim()) + list(x.shape)
        shape = [extents[i - len(shape)] if n == 0 and x.numel() else n for i, n in enumerate(shape)]
    return x.reshape(shape)


@operator("reshape_like")
def reshape_like(x, ref_tensors: tensors, begins: ints, ends: ints, end_masks: bools):
    shape = []
    for ref, begin, end, masked in zip(ref_tensors, begins, ends, end_masks):
        shape += list(ref.shape)[begin:None if masked else end]
    return x.reshape(shape)


@operator("flatten2d")
def flatten2d(x, axis: int = 1):
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@operator("transpose")
def transpose(x, perm: ints):
    return x.permute([p % x.dim() for p in perm]) if x.dim() else x


@operator("expand_dims")
def expand_dims(x, axes: ints):
    """Axes are those of the result."""
    rank = x.dim() + len(axes)
    for axis in sorted(normal_axis(a, rank) for a in axes):
        x = x.unsqueeze(axis)
    return x


@operator("squeeze")
def squeeze(x, axes: ints = None):
    if axes is None:
        return x.squeeze()
    for axis in sorted((normal_axis(a, x.dim()) for a in axes), reverse=True):
        x = x.squeeze(axis)
    return x


@operator("concat")
def concat(values: tensors, axis: int, interleave: bool = False):
    if not interleave:
        return torch.cat(values, axis)
    axis = normal_axis(axis, values[0].dim())
    return torch.stack(values, axis + 1).flatten(axis, axis + 1)


@operator("stack")
def stack(values: tensors, axis: int):
    return torch.stack(values, axis)


@operator("split")
def split(x, axis: int, num_splits: int = None, split_sizes: ints = None):
    n = x.shape[axis]
    if split_sizes is None:
        if n % num_splits:
            raise InterpreterError("%d elements in %d equal parts" % (n, num_splits))
        split_sizes = [n // num_splits] * num_splits
    return tuple(torch.split(x, split_sizes, axis))


# ---- slices ----

def sliced(x, begin, end, stride=None, begin_mask=None, end_mask=None, squeeze_mask=None):
    rank = x.dim()
    stride, none = stride or [1] * rank, [False] * rank
    begin_mask, end_mask, squeeze_mask = begin_mask or none, end_mask or none, squeeze_mask or none
    for axis in reversed(range(rank)):      # from the last, as squeezed axes vanish
        n = x.shape[axis]
        if squeeze_mask[axis]:
            x = x.select(axis, begin[axis])
            continue
        bounds = slice(None if begin_mask[axis] else begin[axis], None if end_mask[axis] else end[axis], stride[axis])
        if bounds != slice(None, None, 1):
            x = x.index_select(axis, integer(list(range(*bounds.indices(n)))))
    return x


@operator("slice_by_index")
def slice_by_index(x, begin: ints, end: ints, stride: ints = None, begin_mask: bools = None, end_mask: bools = None,
                   squeeze_mask: bools = None):
    return sliced(x, begin, end, stride, begin_mask, end_mask, squeeze_mask)


@operator("slice_by_size")
def slice_by_size(x, begin: ints, size: ints):
    for axis, (b, n) in enumerate(zip(begin, size)):
        b = b + x.shape[axis] if b < 0 else b
        x = x.narrow(axis, b, x.shape[axis] - b if n == -1 else n)
    return x


@operator("slice_update")
def slice_update(x, update, begin: ints, end: ints, stride: ints = None, begin_mask: bools = None,
                 end_mask: bools = None, squeeze_mask: bools = None):
    places = sliced(torch.arange(x.numel()).reshape(x.shape), begin, end, stride, begin_mask, end_mask, squeeze_mask)
    values = update.expand(places.shape).reshape(-1)
    return x.reshape(-1).scatter(0, places.reshape(-1), values).reshape(x.shape)


@operator("crop")
def crop(x, crop_height: ints, crop_width: ints):
    for axis, (first, last) in ((-2, crop_height), (-1, crop_width)):
        x = x.narrow(axis, first, x.shape[axis] - first - last)
    return x


# ---- order ----

@operator("reverse")
def reverse(x, axes: ints = None):
    return x.flip(axes if axes is not None else list(range(x.dim())))


@operator("reverse_sequence")
def reverse_sequence(x, lengths: ints, seq_axis: int = 0, batch_axis: int = 0):
    """Of batch i the first lengths[i] elements along seq_axis are reversed."""
    parts = []
    for i, length in enumerate(lengths):
        part = x.narrow(batch_axis, i, 1)
        rest = part.narrow(seq_axis, length, x.shape[seq_axis] - length)
        parts.append(torch.cat([part.narrow(seq_axis, 0, length).flip(seq_axis), rest], seq_axis))
    return torch.cat(parts, batch_axis)


@operator("tile")
def tile(x, reps: ints):
    return x.repeat(reps)


@operator("sliding_windows")
def sliding_windows(x, axis: int, size: int, stride: int = 1):
    axis = normal_axis(axis, x.dim())
    return x.unfold(axis, size, stride).movedim(-1, axis + 1)


@operator("band_part")
def band_part(x, lower: int = -1, upper: int = -1):
    rows, columns = torch.arange(x.shape[-2]).reshape(-1, 1), torch.arange(x.shape[-1])
    keep = torch.ones(x.shape[-2:], dtype=torch.bool)
    if lower >= 0:
        keep &= rows - columns <= lower
    if upper >= 0:
        keep &= columns - rows <= upper
    return torch.where(keep, x, torch.zeros_like(x))


# ---- padding ----

def pad_indices(n, before, after, mode):
    index = torch.arange(-before, n + after)
    if mode == "replicate":
        return index.clamp(0, n - 1)
    if max(before, after) > n - 1:
        raise InterpreterError("reflect pads %d and %d of %d elements" % (before, after, n))
    return (n - 1) - ((n - 1) - index.abs()).abs()


@operator("pad")
def pad(x, pad: ints, mode: str = "constant", constant_val: float = 0.0):
    """`pad` is [before, after] for each of the last axes, in their order."""
    axes = range(x.dim() - len(pad) // 2, x.dim())
    if min(pad, default=0) < 0:
        raise InterpreterError("negative padding")
    for axis, before, after in zip(axes, pad[0::2], pad[1::2]):
        if mode.lower() == "constant":
            x = constant_padded(x, axis, before, after, constant_val)
        elif before or after:
            x = x.index_select(axis, pad_indices(x.shape[axis], before, after, mode.lower()))
    return x


def constant_padded(x, axis, before, after, value):
    parts = []
    for count in (before, after):
        shape = list(x.shape)
        shape[axis] = count
        parts.append(torch.full(shape, value, dtype=x.dtype) if x.dtype.is_floating_point
                     else torch.full(shape, int(value), dtype=x.dtype))
    return torch.cat([parts[0], x, parts[1]], axis)


# ---- made of nothing ----

@operator("fill")
def fill(shape: ints, value=None, call=None):
    value = torch.zeros((), dtype=call.precision) if value is None else value
    return value.reshape(()).expand(shape).clone()


@operator("fill_like")
def fill_like(ref_tensor, value=None, call=None):
    return fill(list(ref_tensor.shape), value, call)


@operator("range_1d")
def range_1d(start, end, step):
    """start + i * step, with ceil((end - start) / step) elements."""
    count = max(0, math.ceil((end.item() - start.item()) / step.item()))
    return start + step * torch.arange(count).to(start.dtype)


@operator("shape")
def shape(x):
    return integer(list(x.shape))
