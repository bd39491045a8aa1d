"""Gathers, scatters, sorting, and what selects by value.

A scatter is its gather on the numbers of the places 0, 1, 2, ..: it says where each update goes.
"""
import warnings

import torch

from registry import integer, normal_axis, operator
from values import InterpreterError

# torch 1.13 says of scatter_reduce that its interface may change.
warnings.filterwarnings("ignore", message="scatter_reduce")


def within(indices, n):
    """Negative indices count from the end. Others out of bounds are undefined: they are cut, to be some place."""
    return torch.where(indices < 0, indices + n, indices).clamp(0, max(n - 1, 0))


def by_batch(function, x, indices, batch_dims):
    """The function on each batch, of which the first batch_dims axes of x and indices are the index."""
    if batch_dims == 0:
        return function(x, indices)
    shape = x.shape[:batch_dims]
    parts = [function(a, b) for a, b in zip(x.flatten(0, batch_dims - 1), indices.flatten(0, batch_dims - 1))]
    return torch.stack(parts).unflatten(0, tuple(shape))


def take(x, indices, axis, batch_dims=0):
    axis = normal_axis(axis, x.dim()) - batch_dims

    def one(a, i):
        flat = a.index_select(axis, within(i, a.shape[axis]).reshape(-1))
        return flat.reshape(a.shape[:axis] + i.shape + a.shape[axis + 1:])
    return by_batch(one, x, indices, batch_dims)


def take_along(x, indices, axis):
    return torch.gather(x, axis, within(indices, x.shape[axis]))


def take_nd(x, indices, batch_dims=0):
    def one(a, i):
        return a[tuple(within(i[..., k], a.shape[k]) for k in range(i.shape[-1]))]
    return by_batch(one, x, indices, batch_dims)


@operator("gather")
def gather(x, indices, axis: int = 0, batch_dims: int = 0, validate_indices: bool = False):
    return take(x, indices, axis, batch_dims)


@operator("gather_along_axis")
def gather_along_axis(x, indices, axis: int = 0, validate_indices: bool = False):
    return take_along(x, indices, axis)


@operator("gather_nd")
def gather_nd(x, indices, batch_dims: int = 0, validate_indices: bool = False):
    return take_nd(x, indices, batch_dims)


# ---- scatters ----

def multiplied(flat, places, values):
    return flat.scatter_reduce(0, places, values, "prod")


MODES = {
    "update": lambda flat, places, values: flat.scatter(0, places, values),
    "add": lambda flat, places, values: flat.index_add(0, places, values),
    "sub": lambda flat, places, values: flat.index_add(0, places, -values),
    "mul": multiplied,
    "div": lambda flat, places, values: flat / multiplied(torch.ones_like(flat), places, values),
    "max": lambda flat, places, values: flat.scatter_reduce(0, places, values, "amax"),
    "min": lambda flat, places, values: flat.scatter_reduce(0, places, values, "amin"),
}


def scattered(data, gathered_places, updates, mode):
    if mode not in MODES:
        raise InterpreterError("mode %s" % mode)
    places = gathered_places.reshape(-1)
    flat = MODES[mode](data.reshape(-1), places, updates.expand(gathered_places.shape).reshape(-1))
    return (flat if data.dtype.is_floating_point else flat.to(torch.int64)).reshape(data.shape)


def places_of(data):
    return torch.arange(data.numel()).reshape(data.shape)


@operator("scatter")
def scatter(data, indices, updates, axis: int = 0, mode: str = "add", validate_indices: bool = False):
    return scattered(data, take(places_of(data), indices, axis), updates, mode)


@operator("scatter_along_axis")
def scatter_along_axis(data, indices, updates, axis: int = 0, mode: str = "add", validate_indices: bool = False):
    return scattered(data, take_along(places_of(data), indices, axis), updates, mode)


@operator("scatter_nd")
def scatter_nd(data, indices, updates, mode: str = "add", validate_indices: bool = False):
    return scattered(data, take_nd(places_of(data), indices), updates, mode)


# ---- by value ----

@operator("non_zero")
def non_zero(x):
    return torch.nonzero(x)


@operator("argsort")
def argsort(x, axis: int = -1, ascending: bool = False):
    return torch.sort(x.detach(), stable=True, dim=axis, descending=not ascending).indices


@operator("topk")
def topk(x, k: int = 1, axis: int = -1, ascending: bool = False, sort: bool = True, return_indices: bool = True,
         output_indices_dtype: str = "int32"):
    """Of equals the lower index comes first; without `sort` the order is free, and it is the same here."""
    k = x.shape[axis] if k == -1 else k
    order = torch.sort(x.detach(), stable=True, dim=axis, descending=not ascending).indices.narrow(axis, 0, k)
    values = torch.gather(x, axis, order)
    return (values, order) if return_indices else values


@operator("one_hot")
def one_hot(indices, one_hot_vector_size: int, axis: int = -1, on_value=None, off_value=None):
    axis = normal_axis(axis, indices.dim() + 1)
    shape = [1] * (indices.dim() + 1)
    shape[axis] = one_hot_vector_size
    hit = indices.unsqueeze(axis) == torch.arange(one_hot_vector_size).reshape(shape)
    on_value = integer(1) if on_value is None else on_value
    off_value = torch.zeros_like(on_value) if off_value is None else off_value
    return torch.where(hit, on_value, off_value)


# ---- boxes ----

def overlap(box, others):
    """Intersection over union of boxes [center x, center y, width, height]."""
    low, high = box[:2] - box[2:] / 2, box[:2] + box[2:] / 2
    lows, highs = others[:, :2] - others[:, 2:] / 2, others[:, :2] + others[:, 2:] / 2
    shared = (torch.minimum(high, highs) - torch.maximum(low, lows)).clamp(min=0).prod(-1)
    union = box[2:].prod() + others[:, 2:].prod(-1) - shared
    return torch.where(union > 0, shared / union, torch.zeros_like(union))


def kept_boxes(boxes, scores, iou_threshold, score_threshold, max_boxes, per_class):
    best, label = scores.max(-1)
    order = torch.sort(best, stable=True, descending=True).indices.tolist()
    kept = []
    for i in order:
        if len(kept) == max_boxes or best[i] < score_threshold:
            break
        rivals = [k for k in kept if not per_class or label[k] == label[i]]
        if not rivals or bool((overlap(boxes[i], boxes[rivals]) <= iou_threshold).all()):
            kept.append(i)
    return kept


@operator("non_maximum_suppression")
def non_maximum_suppression(boxes, scores, iou_threshold: float, max_boxes: int, score_threshold: float = -float("inf"),
                            per_class_suppression: bool = False, call=None):
    """boxes [B, N, 4], scores [B, N, K]; what is not filled is 0, of the indices -1. From ios17 on, without the fourth
    result, [B, 4, N] and [B, K, N]."""
    if len(call.results) == 3:
        boxes, scores = boxes.transpose(1, 2), scores.transpose(1, 2)
    kept = suppressed(boxes, scores, iou_threshold, max_boxes, score_threshold, per_class_suppression)
    return (kept[0].transpose(1, 2), kept[1].transpose(1, 2), kept[2]) if len(call.results) == 3 else kept


def suppressed(boxes, scores, iou_threshold, max_boxes, score_threshold, per_class_suppression):
    batch = boxes.shape[0]
    out_boxes = torch.zeros(batch, max_boxes, 4, dtype=boxes.dtype)
    out_scores = torch.zeros(batch, max_boxes, scores.shape[-1], dtype=scores.dtype)
    indices = torch.full((batch, max_boxes), -1)
    counts = []
    for b in range(batch):
        kept = kept_boxes(boxes[b].detach(), scores[b].detach(), iou_threshold, score_threshold, max_boxes,
                          per_class_suppression)
        out_boxes[b, :len(kept)] = boxes[b, kept]
        out_scores[b, :len(kept)] = scores[b, kept]
        indices[b, :len(kept)] = integer(kept)
        counts.append(len(kept))
    return out_boxes, out_scores, indices, integer(counts)
