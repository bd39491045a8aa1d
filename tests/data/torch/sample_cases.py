"""Random cases of the sample family: python3 tests/data/torch/sample_cases.py writes sample.safetensors."""
import torch
import torch.nn.functional as F

from record import Recorder, boolean, integer, ints, real, text

record = Recorder("sample", tolerance=2e-5, reason="places are found in fp32 for gradients, and divided by up to 1/7 "
                  "of a pixel there; PyTorch computed in double")

PADDING = {"constant": "zeros", "border": "border", "reflection": "reflection", "symmetric": "reflection"}
COORDINATES = ("unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one")
SAMPLINGS = ("DEFAULT", "STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "UNALIGN_CORNERS", "OFFSET_CORNERS")
BOXES = ("CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST", "CENTER_SIZE_WIDTH_FIRST")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def image():
    return record.normal(extent(1, 2), extent(1, 2), extent(2, 6), extent(2, 6))


# ---- resample ----

def to_pixels(at, n, mode, align):
    if mode == "unnormalized":
        return at
    at = (at + 1) / 2 if mode == "normalized_minus_one_to_one" else at
    return at * (n - 1) if align else at * n - 0.5


def grid_of(rows, columns, height, width, align):
    """What F.grid_sample takes for places in pixels."""
    def normal(p, n):
        return 2 * p / (n - 1) - 1 if align else (2 * p + 1) / n - 1
    return torch.stack([normal(columns, width), normal(rows, height)], -1)


def resampled(x, coordinates, sampling, padding, value, mode, align):
    x, at = x.double(), coordinates.double()
    height, width = x.shape[2:]
    rows, columns = to_pixels(at[..., 1], height, mode, align), to_pixels(at[..., 0], width, mode, align)
    corners = padding != "symmetric"     # which mirrors at the edges: that is PyTorch's for align_corners = False
    grid = grid_of(rows, columns, height, width, corners)
    return (F.grid_sample(x - value, grid, sampling, PADDING[padding], corners) + value).float()


def resample_case(sampling, padding):
    mode, align, value = record.pick(*COORDINATES), record.pick(True, False), float(extent(-2, 2)) / 2
    x = image()
    at = record.uniform(-0.4, 1.4, x.shape[0], extent(1, 4), extent(1, 4), 2)
    if mode == "normalized_minus_one_to_one":
        at = at * 2 - 1
    elif mode == "unnormalized":
        at = at * torch.tensor([x.shape[3], x.shape[2]])
    record.case("resample(align_corners = %s, coordinates = c, coordinates_mode = %s, padding_mode = %s, "
                "padding_value = %s, sampling_mode = %s, x = x)"
                % (boolean(align), text(mode), text(padding), real(value), text(sampling)), {"x": x, "c": at},
                lambda x, c: resampled(x, c, sampling, padding, value, mode, align))


# ---- affine ----

def affine_case(align):
    x = image()
    matrices, height, width = record.pick(1, x.shape[0]), extent(2, 5), extent(2, 5)
    matrix = record.normal(matrices, 6) * 0.3 + torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])

    def function(x, m):
        theta = m.double().reshape(-1, 2, 3).expand(x.shape[0], 2, 3)
        grid = F.affine_grid(theta, (x.shape[0], x.shape[1], height, width), align)
        return F.grid_sample(x.double(), grid, "bilinear", "zeros", align).float()
    record.case("affine(align_corners = %s, coordinates_mode = %s, output_height = %s, output_width = %s, "
                "padding_mode = %s, padding_value = %s, sampling_mode = %s, transform_matrix = m, x = x)"
                % (boolean(align), text("normalized_minus_one_to_one"), integer(height), integer(width),
                   text("constant"), real(0), text("bilinear")), {"x": x, "m": matrix}, function)


# ---- crop_resize ----

def spaced(start, end, out, mode):
    """coremltools' formulas for a box of end - start + 1 pixels; start and end are [R, 1]."""
    n, i = end - start + 1, torch.arange(out, dtype=torch.float64)
    if mode == "UNALIGN_CORNERS":
        return start + (i + 0.5) * n / out - 0.5
    if mode == "OFFSET_CORNERS":
        return start + (i + 0.5) * (n - 1).clamp(min=1) / out
    if mode == "DEFAULT":
        return start + i * n / out
    if out == 1:
        return start + ((n - 1) / 2 if mode == "ALIGN_CORNERS" else 0)
    return start + i * (n - 1) / (out - 1)


def cropped(x, boxes, size, normalized, scale, box_mode, mode, pad):
    """x [R, C, H, W], a box each."""
    x, boxes = x.double(), boxes.double() * scale
    height, width = x.shape[2:]
    a, b, c, d = [boxes[:, i:i + 1] for i in range(4)]
    if box_mode.endswith("WIDTH_FIRST"):
        a, b, c, d = b, a, d, c
    if box_mode.startswith("CENTER"):
        a, b, c, d = a - c / 2, b - d / 2, a + c / 2, b + d / 2
    if normalized:
        if mode == "UNALIGN_CORNERS" and box_mode.startswith("CORNERS"):  # turned over: all of the axis
            a, c = torch.where(c < a, torch.zeros_like(a), a), torch.where(c < a, torch.ones_like(c), c)
            b, d = torch.where(d < b, torch.zeros_like(b), b), torch.where(d < b, torch.ones_like(d), d)
        a, b, c, d = a * (height - 1), b * (width - 1), c * (height - 1), d * (width - 1)
    rows, columns = torch.broadcast_tensors(spaced(a, c, size[0], mode).unsqueeze(2),
                                            spaced(b, d, size[1], mode).unsqueeze(1))
    y = F.grid_sample(x, grid_of(rows, columns, height, width, False), "bilinear", "border", False)
    inside = (rows >= 0) & (rows <= height - 1) & (columns >= 0) & (columns <= width - 1)
    return torch.where(inside.unsqueeze(1), y, torch.tensor(pad, dtype=torch.float64)).float()


def random_boxes(count, x, box_mode, normalized):
    boxes = record.uniform(-0.1, 1.1, count, 4)
    if box_mode.startswith("CENTER"):
        boxes = boxes * torch.tensor([1.0, 1.0, 0.7, 0.7])
    if normalized:
        return boxes
    h, w = x.shape[2] - 1.0, x.shape[3] - 1.0
    return boxes * torch.tensor([w, h, w, h] if box_mode.endswith("WIDTH_FIRST") else [h, w, h, w])


def crop_case(mode, box_mode, form):
    normalized, pad = record.pick(True, False), float(extent(0, 2)) / 2 if form != "ios15" else 0.0
    scale = 1.0 if normalized else record.pick(0.75, 1.0)
    x, count, size = image(), extent(1, 3), (extent(1, 4), extent(1, 4))
    boxes = random_boxes(count, x, box_mode, normalized)
    which = record.indices(x.shape[0], count).long()
    words = {"box_coordinate_mode": text(box_mode), "normalized_coordinates": boolean(normalized),
             "sampling_mode": text(mode), "spatial_scale": real(scale), "target_height": integer(size[0]),
             "target_width": integer(size[1]), "x": "x"}
    options = (size, normalized, scale, box_mode, mode, pad)
    if form != "ios15":
        words["pad_value"] = real(pad)
    record.opset = form
    if form == "ios17":
        words["boxes"], words["box_indices"] = "b", ints(which)
        inputs, function = {"x": x, "b": boxes}, lambda x, b: cropped(x[which], b, *options)
    elif record.pick(True, False):
        words["roi"] = "b"
        inputs = {"x": x, "b": torch.cat([which.float().reshape(-1, 1), boxes], 1).reshape(count, 1, 5, 1, 1)}
        function = lambda x, b: cropped(x[which], b.reshape(-1, 5)[:, 1:], *options).unsqueeze(1)
    else:
        words["roi"] = "b"
        inputs = {"x": x, "b": boxes.reshape(count, 1, 4, 1, 1)}
        function = lambda x, b: torch.stack([cropped(x, row.reshape(1, 4).expand(x.shape[0], 4), *options)
                                             for row in b.reshape(-1, 4)])
    record.case("crop_resize(%s)" % ", ".join("%s = %s" % p for p in sorted(words.items())), inputs, function)
    record.opset = "ios18"


for _ in range(10):
    for padding in PADDING:
        resample_case("bilinear", padding)
        resample_case("nearest", padding)
    affine_case(True)
    affine_case(False)
    for number, mode in enumerate(SAMPLINGS):
        crop_case(mode, record.pick(*BOXES), "ios17")
        crop_case(mode, BOXES[number % 4], record.pick("ios15", "ios16"))
record.write()
