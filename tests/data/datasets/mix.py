#!/usr/bin/env python3
"""Records what mw_dataset_mix makes of small pictures, by numpy and the Philox of derived.py. usage: mix.py > mix.txt"""
import itertools
import math

import numpy as np
from derived import Stream, first_two

H, W, C, EXAMPLES, CLASSES, SEED = 6, 5, 3, 5, 4, 0x0F1E2D3C4B5A6978
CASES = ((0.2, 0, 1), (1.5, 0, 1), (0, 1.0, 1), (0.5, 4.0, 0.7), (0, 0, 1))  # mixup, cutmix, probability


def uniform(stream):
    return (stream.next() >> 8) / 2**24


def normal(stream):
    first, second = stream.next(), stream.next()
    return float(np.float32(math.sqrt(-2 * math.log((first + 1) / 2**32)) * math.cos(2 * math.pi * second / 2**32)))


def gamma(stream, alpha):
    if alpha < 1:
        large = gamma(stream, alpha + 1)
        return large * (1 - uniform(stream)) ** (1 / alpha)
    d = alpha - 1 / 3
    while True:
        x = normal(stream)
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(1 - uniform(stream)) < x * x / 2 + d - d * v + d * math.log(v):
            return d * v


def beta(seed, alpha):
    alpha, stream = float(np.float32(alpha)), Stream(seed, 2)
    a, b = gamma(stream, alpha), gamma(stream, alpha)
    return a / (a + b)


def mix(images, targets, example, epoch, mixup, cutmix, probability):
    seed = first_two(first_two(SEED, 0, 2**64 - 1), example, epoch)
    u = [(Stream(seed).word(i) >> 8) / 2**24 for i in range(4)]
    x, y = images[example].astype(np.float64), targets[example]
    if not (mixup or cutmix) or u[0] >= float(np.float32(probability)):
        return x, y
    other = Stream(seed, 1).below(EXAMPLES)
    if mixup and (not cutmix or u[1] < 0.5):
        share = beta(seed, mixup)
        x = share * x + (1 - share) * images[other]
    else:
        size = math.sqrt(1 - beta(seed, cutmix)) / 2
        row, column = int(u[2] * H), int(u[3] * W)
        top, bottom = max(0, row - int(size * H)), min(H, row + int(size * H))
        left, right = max(0, column - int(size * W)), min(W, column + int(size * W))
        x[top:bottom, left:right] = images[other][top:bottom, left:right]
        share = 1 - (bottom - top) * (right - left) / (H * W)
    return x, share * y + (1 - share) * targets[other]


def main():
    print("# mix.py, numpy", np.__version__)
    data = np.array([(i * 41 + i * i * 7) % 256 for i in range(EXAMPLES * H * W * C)])
    for number, form, epoch, example in itertools.product(range(len(CASES)), ("u8_last", "u8_first", "f32_last"), (0, 2),
                                                          range(EXAMPLES)):
        images = data.reshape(EXAMPLES, H, W, C)
        if form == "u8_first":
            images = data.reshape(EXAMPLES, C, H, W).transpose(0, 2, 3, 1)
        x, y = mix(images, np.eye(CLASSES)[np.arange(EXAMPLES) % CLASSES], example, epoch, *CASES[number])
        x = x.transpose(2, 0, 1) if form == "u8_first" else x
        print(number, form, epoch, example, *["%.7g" % v for v in (*y, *x.ravel())])


main()
