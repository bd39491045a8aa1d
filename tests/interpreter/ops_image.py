"""Resizing and sampling of images [.., H, W].

A resize is one matrix for each axis: from the coordinates of its grid points come two neighbors and their weights.
"""
import math

import torch

from registry import ints, operator
from values import InterpreterError


# ---- grids: where in [0, n - 1] each of `out` points lies ----

def grid(n, out, mode):
    """Coordinates by sampling mode; n may be fractional, as the extent of a box is, and a tensor."""
    i = torch.arange(out, dtype=torch.float64)
    if mode == "STRICT_ALIGN_CORNERS":
        return i * ((n - 1) / (out - 1) if out > 1 else 0.0)
    if mode == "ALIGN_CORNERS":
        return i * ((n - 1) / (out - 1)) if out > 1 else (i + 0.5) * (n - 1)
    if mode == "DEFAULT":
        return i * ((n - n / out) / (out - 1) if out > 1 else 0.0)
    if mode == "OFFSET_CORNERS":
        delta = max(1, n - 1) / out
        return (i + 0.5) * delta
    if mode == "UNALIGN_CORNERS":
        return (i + 0.5) * (n / out) - 0.5
    raise InterpreterError("sampling_mode %s" % mode)


def linear_matrix(points, n, precision):
    """[out, n]: row i mixes the two neighbors of point i, cut to [0, n - 1]."""
    points = points.clamp(0, n - 1)
    low = points.floor().long().clamp(max=n - 1)
    high = (low + 1).clamp(max=n - 1)
    rows = torch.arange(len(points))
    matrix = torch.zeros(len(points), n, dtype=torch.float64)
    matrix.index_put_((rows, low), 1 - (points - low), accumulate=True)
    matrix.index_put_((rows, high), points - low, accumulate=True)
    return matrix.to(precision)


def interpolated(x, points_by_axis):
    for axis, points in points_by_axis.items():
        matrix = linear_matrix(points, x.shape[axis], x.dtype)
        x = torch.matmul(x.movedim(axis, -1), matrix.t()).movedim(-1, axis)
    return x


def nearest(x, sources_by_axis):
    for axis, source in sources_by_axis.items():
        x = x.index_select(x.dim() + axis, source.floor().long().clamp(0, x.shape[axis] - 1))
    return x


# ---- resizes ----

@operator("upsample_nearest_neighbor")
def upsample_nearest_neighbor(x, scale_factor_height: float = 1.0, scale_factor_width: float = 1.0):
    sources = {}
    for axis, factor in ((-2, scale_factor_height), (-1, scale_factor_width)):
        out = math.floor(x.shape[axis] * factor)
        sources[axis] = torch.arange(out, dtype=torch.float64) / factor
    return nearest(x, sources)


@operator("resize_nearest_neighbor")
def resize_nearest_neighbor(x, target_size_height: int, target_size_width: int):
    sources = {axis: torch.arange(out, dtype=torch.float64) * x.shape[axis] / out
               for axis, out in ((-2, target_size_height), (-1, target_size_width))}
    return nearest(x, sources)


@operator("upsample_bilinear")
def upsample_bilinear(x, scale_factor_height: float = 1.0, scale_factor_width: float = 1.0,
                      align_corners: bool = True, half_pixel_centers: bool = None):
    half_pixel = not align_corners if half_pixel_centers is None else half_pixel_centers
    points = {}
    for axis, factor in ((-2, scale_factor_height), (-1, scale_factor_width)):
        n = x.shape[axis]
        out = math.floor(n * factor)
        if align_corners:
            points[axis] = grid(n, out, "STRICT_ALIGN_CORNERS")
        elif half_pixel:
            points[axis] = grid(n, out, "UNALIGN_CORNERS")
        else:
            points[axis] = torch.arange(out, dtype=torch.float64) * n / out
    return interpolated(x, points)


@operator("resize_bilinear")
def resize_bilinear(x, target_size_height: int = 1, target_size_width: int = 1, sampling_mode: str = "DEFAULT"):
    return interpolated(x, {axis: grid(x.shape[axis], out, sampling_mode)
                            for axis, out in ((-2, target_size_height), (-1, target_size_width))})


@operator("resize")
def resize(x, shape: ints, resized_dims: int = None, interpolation_mode: str = "LINEAR",
           sampling_mode: str = "DEFAULT"):
    """The last resized_dims axes take the extents of `shape`; 0 and -1 keep the input's."""
    count = len(shape) if resized_dims is None else resized_dims
    points = {}
    for axis in range(-count, 0):
        out = shape[axis] if shape[axis] > 0 else x.shape[axis]
        points[axis] = grid(x.shape[axis], out, sampling_mode)
    if interpolation_mode == "LINEAR":
        return interpolated(x, points)
    return nearest(x, {axis: p + 0.5 for axis, p in points.items()})


# ---- sampling at given places ----

def reflected(at, n, repeat_edge):
    """Mirrors until it lies in [0, n - 1]; the edge element is repeated if the mirror stands behind it."""
    low, span = (-0.5, n) if repeat_edge else (0.0, max(n - 1, 1))
    t = torch.remainder(at - low, 2 * span)
    return (torch.where(t > span, 2 * span - t, t) + low).clamp(0, n - 1)


def element(x, rows, columns, padding_value, constant):
    """x [C, H, W] at integral places [..]; outside the value if the padding is constant, else the nearest."""
    h, w = x.shape[-2:]
    inside = (rows >= 0) & (rows < h) & (columns >= 0) & (columns < w)
    y = x[:, rows.clamp(0, h - 1).long(), columns.clamp(0, w - 1).long()]
    return torch.where(inside, y, torch.full_like(y, padding_value)) if constant else y


def sampled(x, rows, columns, sampling_mode, padding_mode, padding_value):
    """x [C, H, W] at pixel places rows and columns [H2, W2]."""
    if padding_mode in ("reflection", "symmetric"):
        rows = reflected(rows, x.shape[-2], padding_mode == "symmetric")
        columns = reflected(columns, x.shape[-1], padding_mode == "symmetric")
    elif padding_mode == "border":
        rows, columns = rows.clamp(0, x.shape[-2] - 1), columns.clamp(0, x.shape[-1] - 1)
    constant = padding_mode == "constant"
    if sampling_mode == "nearest":
        return element(x, torch.round(rows), torch.round(columns), padding_value, constant)
    top, left = rows.floor(), columns.floor()
    down, right = rows - top, columns - left
    total = 0
    for row, vertical in ((top, 1 - down), (top + 1, down)):
        for column, horizontal in ((left, 1 - right), (left + 1, right)):
            total = total + vertical * horizontal * element(x, row, column, padding_value, constant)
    return total


def pixels(at, n, mode, align_corners):
    """Coordinates in pixels of an axis of n elements."""
    if mode == "unnormalized":
        return at
    if mode == "normalized_minus_one_to_one":
        at = (at + 1) / 2
    return at * (n - 1) if align_corners else at * n - 0.5


@operator("resample")
def resample(x, coordinates, sampling_mode: str, padding_mode: str, padding_value: float, coordinates_mode: str,
             align_corners: bool, call=None):
    """coordinates [N, H2, W2, 2] hold (x, y): the column first."""
    at = coordinates.to(call.precision)
    columns = pixels(at[..., 0], x.shape[-1], coordinates_mode, align_corners)
    rows = pixels(at[..., 1], x.shape[-2], coordinates_mode, align_corners)
    return torch.stack([sampled(image, r, c, sampling_mode, padding_mode, padding_value)
                        for image, r, c in zip(x, rows, columns)])


def unpixels(n, mode, align_corners, precision):
    """The coordinate of each pixel, which `pixels` undoes."""
    i = torch.arange(n, dtype=precision)
    if mode == "unnormalized":
        return i
    at = (i / (n - 1) if n > 1 else i * 0) if align_corners else (i + 0.5) / n
    return 2 * at - 1 if mode == "normalized_minus_one_to_one" else at


@operator("affine")
def affine(x, transform_matrix, output_height: int, output_width: int, sampling_mode: str, padding_mode: str,
           padding_value: float, coordinates_mode: str, align_corners: bool, call=None):
    """Where an output point comes from: (x, y) = matrix [2, 3] times (x', y', 1) of the output."""
    matrix = transform_matrix.reshape(-1, 2, 3).expand(x.shape[0], 2, 3)
    ys = unpixels(output_height, coordinates_mode, align_corners, call.precision).reshape(-1, 1)
    xs = unpixels(output_width, coordinates_mode, align_corners, call.precision).reshape(1, -1)
    images = []
    for image, m in zip(x, matrix):
        columns = pixels(m[0, 0] * xs + m[0, 1] * ys + m[0, 2], x.shape[-1], coordinates_mode, align_corners)
        rows = pixels(m[1, 0] * xs + m[1, 1] * ys + m[1, 2], x.shape[-2], coordinates_mode, align_corners)
        images.append(sampled(image, rows, columns, sampling_mode, padding_mode, padding_value))
    return torch.stack(images)


# ---- boxes ----

def corners(box, mode):
    """(top, left, bottom, right)"""
    a, b, c, d = box
    if mode in ("CORNERS_HEIGHT_FIRST", "CONRNERS_HEIGHT_FIRST"):   # the latter is coremltools' default
        return a, b, c, d
    if mode == "CORNERS_WIDTH_FIRST":
        return b, a, d, c
    if mode == "CENTER_SIZE_WIDTH_FIRST":
        a, b, c, d = b, a, d, c
    return a - c / 2, b - d / 2, a + c / 2, b + d / 2


def cropped(image, box, size, normalized, scale, box_mode, sampling_mode, pad_value):
    top, left, bottom, right = [edge * scale for edge in corners(box, box_mode)]
    if normalized:
        h, w = image.shape[-2] - 1, image.shape[-1] - 1
        top, left, bottom, right = top * h, left * w, bottom * h, right * w
        if sampling_mode == "UNALIGN_CORNERS" and box_mode.startswith("CO"):   # corners turned over mean the whole axis
            top, bottom = (0.0, h) if bottom < top else (top, bottom)
            left, right = (0.0, w) if right < left else (left, right)
    rows = top + grid(bottom - top + 1, size[0], sampling_mode)
    columns = left + grid(right - left + 1, size[1], sampling_mode)
    rows, columns = torch.broadcast_tensors(rows.reshape(-1, 1), columns)
    y = sampled(image, rows.to(image.dtype), columns.to(image.dtype), "bilinear", "border", 0.0)
    h, w = image.shape[-2:]     # a point outside is all padding, however near it lies
    slack = 2.0 ** -12           # what rounding makes of an edge is no place outside
    inside = (rows >= -slack) & (rows <= h - 1 + slack) & (columns >= -slack) & (columns <= w - 1 + slack)
    return torch.where(inside, y, torch.full_like(y, pad_value))


@operator("crop_resize")
def crop_resize(x, roi=None, boxes=None, box_indices: ints = None, target_height: int = 1, target_width: int = 1,
                normalized_coordinates: bool = False, spatial_scale: float = 1.0,
                box_coordinate_mode: str = "CORNERS_HEIGHT_FIRST", sampling_mode: str = "DEFAULT",
                pad_value: float = 0.0, call=None):
    """Until ios16 roi [R, 1, 4 or 5, 1, 1], with the image's index first if there are 5, gives [R, B, C, h, w], one
    image of one box; from ios17 boxes [R, 4] and box_indices [R] give [R, C, h, w]."""
    def crop_of(index, box):
        return cropped(x[index], box, (target_height, target_width), normalized_coordinates, spatial_scale,
                       box_coordinate_mode, sampling_mode, pad_value)
    if boxes is not None:
        boxes = boxes.reshape(-1, 4).double()
        indices = box_indices if box_indices is not None else range(len(boxes))
        return torch.stack([crop_of(i, box) for i, box in zip(indices, boxes)])
    rows = roi.reshape(roi.shape[0], -1).double()
    if len(rows[0]) == 5:
        return torch.stack([crop_of(int(row[0]), row[1:]).unsqueeze(0) for row in rows])
    return torch.stack([torch.stack([crop_of(i, row) for i in range(x.shape[0])]) for row in rows])
