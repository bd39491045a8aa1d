"""Random cases of the conv family: python3 tests/data/torch/conv_cases.py writes conv.safetensors."""
import torch
import torch.nn.functional as functional

from record import Recorder, integer, ints, tensor, text

record = Recorder("conv", tolerance=3e-6, reason="sums of at most 200 products in another order")
CONV = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
TRANSPOSE = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def numbers(axes, most):
    return [extent(1, most) for _ in range(axes)]


def statement(operation, weight, bias, strides, dilations, pad, pad_type, groups, more=""):
    arguments = ["bias = %s" % bias] if bias else []
    arguments += ["dilations = %s" % ints(dilations), "groups = %s" % integer(groups)]
    arguments += [more] if more else []
    arguments += ["pad = %s" % ints(pad), "pad_type = %s" % text(pad_type), "strides = %s" % ints(strides),
                  "weight = %s" % weight, "x = x"]
    return "%s(%s)" % (operation, ", ".join(arguments))


def bordered(x, pad):
    """pad = before, after of each spatial axis; PyTorch counts from the last axis."""
    axes = len(pad) // 2
    return functional.pad(x, [p for i in reversed(range(axes)) for p in pad[2 * i:2 * i + 2]])


def same_pad(extents, kernel, strides, dilations, lower):
    """TensorFlow's SAME, written from its definition."""
    pad = []
    for size, k, s, d in zip(extents, kernel, strides, dilations):
        total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        pad += [total - total // 2, total // 2] if lower else [total // 2, total - total // 2]
    return pad


def forward(axes, fixed):
    """A conv with its weight computed, or a constant, which alone may be dilated."""
    groups = record.pick(1, 1, 2, 3)
    inputs, outputs = groups * extent(1, 2), groups * extent(1, 2)
    kernel, strides = numbers(axes, 5 - axes), numbers(axes, 3)
    dilations = numbers(axes, 3) if fixed else [1] * axes
    size = [(k - 1) * d + extent(1, 5 - axes) for k, d in zip(kernel, dilations)]
    x = record.normal(extent(1, 2), inputs, *size)
    weight, bias = record.normal(outputs, inputs // groups, *kernel), record.normal(outputs)
    pad_type = record.pick("valid", "custom", "same", "same_lower")
    pad = {"valid": [0] * (2 * axes), "custom": [extent(0, 3) for _ in range(2 * axes)]}.get(pad_type)
    if pad is None:
        pad = same_pad(size, kernel, strides, dilations, pad_type == "same_lower")
    written = pad if pad_type == "custom" else [extent(0, 3) for _ in range(2 * axes)]  # ignored unless custom

    def run(x, w=weight, b=bias):
        return CONV[axes](bordered(x, pad), w, b, strides, 0, dilations, groups)

    shown = (tensor(weight), tensor(bias)) if fixed else ("w", "b")
    inputs = {"x": x} if fixed else {"x": x, "w": weight, "b": bias}
    record.case(statement("conv", shown[0], shown[1], strides, dilations, written, pad_type, groups), inputs, run)


def transposed(axes):
    groups = record.pick(1, 1, 2)
    inputs, outputs = groups * extent(1, 2), groups * extent(1, 2)
    kernel, strides, dilations = numbers(axes, 3), numbers(axes, 3), numbers(axes, 2)
    size = [extent(2, 5 - axes) if axes < 3 else 2 for _ in range(axes)]
    x = record.normal(extent(1, 2), inputs, *size)
    weight, bias = record.normal(inputs, outputs // groups, *kernel), record.normal(outputs)
    reach = [s * (n - 1) + (k - 1) * d + 1 for s, n, k, d in zip(strides, size, kernel, dilations)]
    pad_type = record.pick("valid", "custom")
    crop = [p for r in reach for p in (extent(0, (r - 1) // 2), extent(0, (r - 1) // 2))]
    crop = crop if pad_type == "custom" else [0] * (2 * axes)

    def run(x):
        y = TRANSPOSE[axes](x, weight, bias, strides, 0, 0, groups, dilations)
        return bordered(y, [-p for p in crop])

    record.case(statement("conv_transpose", tensor(weight), tensor(bias), strides, dilations, crop, pad_type, groups),
                {"x": x}, run)


def shaped(axes):
    """output_shape: the crop is shared between both ends, the odd one at the end (ONNX ConvTranspose)."""
    kernel, strides = numbers(axes, 3), numbers(axes, 3)
    size = [extent(2, 3) for _ in range(axes)]
    x, weight = record.normal(1, 2, *size), record.normal(2, 2, *kernel)
    reach = [s * (n - 1) + k for s, n, k in zip(strides, size, kernel)]
    wanted = [extent(max(1, r - 2), r + s - 1) for r, s in zip(reach, strides)]
    pad = []
    for r, w in zip(reach, wanted):
        before = max(0, r - w) // 2
        pad += [-before, w - r + before]

    def run(x):
        return bordered(TRANSPOSE[axes](x, weight, None, strides), pad)

    record.case(statement("conv_transpose", tensor(weight), None, strides, [1] * axes, [0] * (2 * axes), "valid", 1,
                          "output_shape = %s" % ints([1, 2] + wanted)), {"x": x}, run)


for count, axes in ((60, 1), (50, 2), (8, 3)):
    for _ in range(count):
        forward(axes, fixed=False)
for count, axes in ((15, 1), (9, 2), (2, 3)):
    for _ in range(count):
        forward(axes, fixed=True)
for count, axes in ((25, 1), (18, 2), (3, 3)):
    for _ in range(count):
        transposed(axes)
for count, axes in ((12, 1), (8, 2)):
    for _ in range(count):
        shaped(axes)
record.write()
