#!/usr/bin/env python3
"""Records what mw_dataset_augment makes of small images by rotation (PyTorch's grid_sample), color (colorsys and numpy) and
erasing (numpy), with the Philox of derived.py. usage: augment.py > augment.txt"""
import colorsys
import itertools
import math

import numpy as np
import torch
from derived import Stream, first_two

H, W, EXAMPLES, SEED = 6, 7, 4, 0xABCDEF0123456789
CASES = (  # name, numbers
    ("rotate", 30.0, 0.0), ("rotate", 180.0, 60.0),
    ("color", 0.4, 0, 0, 0), ("color", 0, 0.6, 0, 0), ("color", 0, 0, 2.0, 0), ("color", 0, 0, 0, 0.5),
    ("color", 0.5, 0.5, 0.5, 0.1),
    ("erase", 1.0, 0.1, 0.4, 0.5, 2.0, 7.0), ("erase", 0.5, 0.02, 0.33, 0.3, 3.3, 0.0),
)


def numbers(example, epoch):
    own = Stream(first_two(first_two(SEED, 0, 2**64 - 1), example, epoch))
    return [(own.word(i) >> 8) / 2**24 for i in range(60)]


def rotate(image, u, degrees, fill):
    angle = math.radians((2 * u[8] - 1) * degrees)
    h, w, _ = image.shape
    # grid_sample takes places from -1 to 1 along each axis, so that the matrix has the shape of the image in it
    matrix = torch.tensor([[[math.cos(angle), -math.sin(angle) * h / w, 0],
                            [math.sin(angle) * w / h, math.cos(angle), 0]]], dtype=torch.float64)
    planes = torch.from_numpy(image.astype(np.float64)).permute(2, 0, 1)[None] - fill
    grid = torch.nn.functional.affine_grid(matrix, list(planes.shape), align_corners=False)
    out = torch.nn.functional.grid_sample(planes, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return (out + fill)[0].permute(1, 2, 0).numpy()


def color(image, u, b, c, s, h, limit):
    x = image.astype(np.float64) / limit
    factor = [max(0, 1 - v) + (1 + v - max(0, 1 - v)) * u[9 + i] for i, v in enumerate((b, c, s))]
    order = list(itertools.permutations(range(4)))[int(24 * u[13])]
    weights = np.array([0.2989, 0.587, 0.114])
    for step in order:
        gray = x @ weights
        if step == 0:
            x = np.clip(factor[0] * x, 0, 1)
        elif step == 1:
            x = np.clip(factor[1] * x + (1 - factor[1]) * gray.mean(), 0, 1)
        elif step == 2:
            x = np.clip(factor[2] * x + (1 - factor[2]) * gray[..., None], 0, 1)
        else:
            move = (2 * u[12] - 1) * h
            for place in np.ndindex(x.shape[:2]):
                hue, saturation, value = colorsys.rgb_to_hsv(*x[place])
                x[place] = colorsys.hsv_to_rgb((hue + move) % 1.0, saturation, value)
    return x * limit


def erase(image, u, probability, low, high, least, most, value):
    h, w, _ = image.shape
    out = image.astype(np.float64)
    for k in range(10 if u[14] < probability else 0):
        area = h * w * (low + (high - low) * u[16 + 4 * k])
        ratio = math.exp(math.log(least) + (math.log(most) - math.log(least)) * u[17 + 4 * k])
        height, width = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if height < h and width < w:
            top, left = int(u[18 + 4 * k] * (h - height + 1)), int(u[19 + 4 * k] * (w - width + 1))
            out[top:top + height, left:left + width] = value
            break
    return out


def main():
    print("# augment.py, numpy", np.__version__, "PyTorch", torch.__version__)
    for number, (name, *values) in enumerate(CASES):
        for form, epoch, example in itertools.product(("u8_last", "u8_first", "f32_last"), (0, 3), range(EXAMPLES)):
            count, first = H * W * 3, form == "u8_first"
            data = np.array([(i * 37 + i * i * 3 + example * 11) % 256 for i in range(count)])
            image = data.reshape(3, H, W).transpose(1, 2, 0) if first else data.reshape(H, W, 3)
            limit = 255.0 if form[0] == "u" else 1.0
            image = image if limit == 255 else image / 255.0
            u = numbers(example, epoch)
            out = {"rotate": rotate, "erase": erase}.get(name, color)(image, u, *values, *([limit] if name == "color" else []))
            out = out.transpose(2, 0, 1) if first else out
            print(number, form, epoch, example, count, *["%.7g" % v for v in out.ravel()])


main()
