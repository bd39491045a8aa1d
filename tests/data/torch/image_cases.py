"""Random cases of the image family: python3 tests/data/torch/image_cases.py writes image.safetensors."""
import torch
import torch.nn.functional as F

from record import Recorder, boolean, integer, ints, real, text

record = Recorder("image", tolerance=1e-6, reason="four products in fp32, weights rounded before or after")

MODES = ("DEFAULT", "STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "UNALIGN_CORNERS", "OFFSET_CORNERS")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def image():
    return record.normal(extent(1, 2), extent(1, 2), extent(1, 5), extent(1, 5))


def positions(mode, n, m):
    """Where m elements stand among n: the formulas of MIL's documentation, in double."""
    i = torch.arange(m, dtype=torch.float64)
    if mode == "DEFAULT":
        p = i * n / m
    elif mode == "UNALIGN_CORNERS":
        p = (i + 0.5) * n / m - 0.5
    elif mode == "OFFSET_CORNERS":
        p = (i + 0.5) * max(1, n - 1) / m
    elif m == 1:
        p = torch.tensor([(n - 1) / 2 if mode == "ALIGN_CORNERS" else 0.0], dtype=torch.float64)
    else:
        p = i * (n - 1) / (m - 1)
    return p.clamp(0, n - 1)


def along(x, axis, p):
    """x interpolated at positions p of an axis, by taking both neighbors."""
    low = p.floor().long()
    high = (low + 1).clamp(max=x.shape[axis] - 1)
    shape = [-1 if i == axis else 1 for i in range(x.dim())]
    f = (p - low).to(x.dtype).reshape(shape)
    return x.index_select(axis, low) * (1 - f) + x.index_select(axis, high) * f


def linear(x, mode, h, w):
    rows = along(x, x.dim() - 2, positions(mode, x.shape[-2], h))
    return along(rows, x.dim() - 1, positions(mode, x.shape[-1], w))


for _ in range(18):
    fh, fw = extent(1, 3), extent(1, 3)
    record.case("upsample_nearest_neighbor(scale_factor_height = %s, scale_factor_width = %s, x = x)"
                % (integer(fh), integer(fw)), {"x": image()},
                lambda x: F.interpolate(x, scale_factor=(float(fh), float(fw)), mode="nearest"))
    factors = "scale_factor_height = %s, scale_factor_width = %s" % (real(fh), real(fw))
    record.case("upsample_bilinear(align_corners = %s, %s, x = x)" % (boolean(True), factors), {"x": image()},
                lambda x: F.interpolate(x, scale_factor=(float(fh), float(fw)), mode="bilinear", align_corners=True))
    record.case("upsample_bilinear(align_corners = %s, half_pixel_centers = %s, %s, x = x)"
                % (boolean(False), boolean(True), factors), {"x": image()},
                lambda x: F.interpolate(x, scale_factor=(float(fh), float(fw)), mode="bilinear", align_corners=False))
    h, w = extent(1, 8), extent(1, 8)
    size = "target_size_height = %s, target_size_width = %s" % (integer(h), integer(w))
    x = image()
    # PyTorch rounds the ratio to fp32 first, so that it may miss the element below by one: exact indices instead
    rows = torch.div(torch.arange(h) * x.shape[2], h, rounding_mode="floor")
    columns = torch.div(torch.arange(w) * x.shape[3], w, rounding_mode="floor")
    record.case("resize_nearest_neighbor(%s, x = x)" % size, {"x": x},
                lambda x: x.index_select(2, rows).index_select(3, columns))
    record.case("resize_bilinear(sampling_mode = %s, %s, x = x)" % (text("UNALIGN_CORNERS"), size), {"x": image()},
                lambda x: F.interpolate(x, size=(h, w), mode="bilinear", align_corners=False))
    record.case("resize_bilinear(sampling_mode = %s, %s, x = x)" % (text("STRICT_ALIGN_CORNERS"), size),
                {"x": image()}, lambda x: F.interpolate(x, size=(h, w), mode="bilinear", align_corners=True))
    for mode in ("DEFAULT", "ALIGN_CORNERS", "OFFSET_CORNERS"):
        record.case("resize_bilinear(sampling_mode = %s, %s, x = x)" % (text(mode), size), {"x": image()},
                    lambda x: linear(x, mode, h, w))
    mode = record.pick(*MODES)
    record.case("resize(interpolation_mode = %s, resized_dims = uint32(2), sampling_mode = %s, shape = %s, x = x)"
                % (text("LINEAR"), text(mode), ints((h, w))), {"x": image()}, lambda x: linear(x, mode, h, w))
    record.case("resize(interpolation_mode = %s, resized_dims = uint32(2), sampling_mode = %s, shape = %s, x = x)"
                % (text("NEAREST_NEIGHBOR"), text("UNALIGN_CORNERS"), ints((h, w))), {"x": image()},
                lambda x: F.interpolate(x, size=(h, w), mode="nearest-exact"))
    x = image()
    top, left = extent(0, x.shape[2] - 1), extent(0, x.shape[3] - 1)
    bottom, right = extent(0, x.shape[2] - 1 - top), extent(0, x.shape[3] - 1 - left)
    record.case("crop(crop_height = %s, crop_width = %s, x = x)" % (ints((top, bottom)), ints((left, right))),
                {"x": x}, lambda x: x[:, :, top:x.shape[2] - bottom, left:x.shape[3] - right])
record.write()
