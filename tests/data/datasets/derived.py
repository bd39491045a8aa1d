#!/usr/bin/env python3
"""Records what mw_dataset_split deals out, and what mw_dataset_augment makes of small images: by an implementation of
Philox 4x32-10 of its own and numpy's slices, not by the library. usage: derived.py > derived.txt"""
import numpy as np

MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(right >> 32) ^ c[1] ^ k[0], right & MASK, (left >> 32) ^ c[3] ^ k[1], left & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def halves(value):
    return [value & MASK, value >> 32]


class Stream:
    def __init__(self, seed, stream=0):
        self.seed, self.stream, self.at = seed, stream, 0

    def word(self, index):
        return philox(halves(index // 4) + halves(self.stream), halves(self.seed))[index % 4]

    def next(self):
        self.at += 1
        return self.word(self.at - 1)

    def below(self, bound):
        while True:
            low = self.next()
            drawn = self.next() << 32 | low
            if drawn >= (2**64 - bound) % bound:
                return drawn % bound


def deal(count, seed):
    order, stream = list(range(count)), Stream(seed, 2**64 - 1)
    for left in range(count, 1, -1):
        i = stream.below(left)
        order[i], order[left - 1] = order[left - 1], order[i]
    return order


def first_two(key, low, high):
    words = philox(halves(low) + halves(high), halves(key))
    return words[1] << 32 | words[0]


def uniforms(seed, maps, example, epoch):
    own = Stream(first_two(first_two(seed, maps, 2**64 - 1), example, epoch))
    return [(own.word(i) >> 8) / 2**24 for i in range(8)]


def augment(image, u, pad, crop, shift, flip, flip_vertical, brightness, contrast, fill):
    """image [H, W, C], in its dtype."""
    kind, limit = image.dtype, image.dtype == np.uint8
    image = np.pad(image, ((pad, pad), (pad, pad), (0, 0)), constant_values=fill)
    h, w = crop if crop else image.shape[:2]
    y, x = int(u[0] * (image.shape[0] - h + 1)), int(u[1] * (image.shape[1] - w + 1))
    image = image[y:y + h, x:x + w]
    dy, dx = int(u[2] * (2 * shift + 1)) - shift, int(u[3] * (2 * shift + 1)) - shift
    moved = np.full_like(image, fill)
    for i in range(h):
        for j in range(w):
            if 0 <= i - dy < h and 0 <= j - dx < w:
                moved[i, j] = image[i - dy, j - dx]
    if u[4] < flip:
        moved = moved[:, ::-1]
    if u[5] < flip_vertical:
        moved = moved[::-1]
    if brightness or contrast:
        b = (2 * u[6] - 1) * np.float64(np.float32(brightness)) * (255 if limit else 1)
        c = 1 + (2 * u[7] - 1) * np.float64(np.float32(contrast))
        total = 0.0
        for value in moved.ravel():
            total += float(value)
        mean = total / moved.size
        out = mean + (moved.astype(np.float64) - mean) * c + b
        moved = (np.floor(np.clip(out, 0, 255) + 0.5).clip(0, 255) if limit else out).astype(kind)
    return moved


H, W, C, EXAMPLES, SEED = 5, 4, 2, 3, 0xABCDEF0123456789
CASES = [  # pad, crop, shift, flip, flip_vertical, brightness, contrast, fill
    (0, None, 0, 0, 0, 0, 0, 0),
    (2, (5, 4), 0, 0, 0, 0, 0, 7),
    (0, (3, 2), 0, 0, 0, 0, 0, 0),
    (0, None, 2, 0, 0, 0, 0, 9),
    (0, None, 0, 0.5, 0, 0, 0, 0),
    (0, None, 0, 0, 0.5, 0, 0, 0),
    (0, None, 0, 0, 0, 0.25, 0, 0),
    (0, None, 0, 0, 0, 0, 0.5, 0),
    (1, (4, 5), 1, 0.5, 0.5, 0.125, 0.75, 30),
]


def main():
    print("# derived.py, numpy", np.__version__)
    print("split", *deal(20, 7))
    for number, case in enumerate(CASES):
        for form in ("u8_last", "u8_first", "f32_last"):
            for epoch in (0, 3):
                for example in range(EXAMPLES):
                    count = H * W * C
                    values = (np.arange(count) * 37 + example * 11) % 256
                    image = values.astype(np.uint8 if form[0] == "u" else np.float32)
                    image = image.reshape(C, H, W).transpose(1, 2, 0) if form == "u8_first" else image.reshape(H, W, C)
                    out = augment(image, uniforms(SEED, 0, example, epoch), *case)
                    out = out.transpose(2, 0, 1) if form == "u8_first" else out
                    show = [str(v) if form[0] == "u" else "%08x" % np.float32(v).view(np.uint32) for v in out.ravel()]
                    print(number, form, epoch, example, len(show), *show)


if __name__ == "__main__":
    main()
