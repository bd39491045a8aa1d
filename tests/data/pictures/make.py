#!/usr/bin/env python3
"""Writes pictures of many sizes with Pillow: PNG, JPEG and WebP, turned by Exif, with and without transparency; and records in
fits.txt what Pillow makes of them: lines of file, case and bytes [H, W, channels]. Random crops are drawn by the Philox of
datasets/derived.py. usage: make.py"""
import math
import os
import random
import sys

import PIL
from PIL import Image, ImageOps

sys.path.insert(0, "../datasets")
from derived import Stream, first_two  # noqa: E402  pylint: disable=wrong-import-position

H, W, SEED, BACKGROUND = 8, 10, 0x1234567890ABCDEF, (10, 200, 30)


def picture(width, height, bands):
    """Waves, an edge, and noise."""
    noise, image = random.Random(width * 1000 + height), Image.new("RGBA", (width, height))
    for y in range(height):
        for x in range(width):
            wave = 127 + 90 * math.sin(x * 0.7) * math.cos(y * 0.4)
            edge = 255 if 2 * x > width + y else 20
            alpha = min(255, 13 * (x + y)) if (x + y) % 3 else 0
            image.putpixel((x, y), (int(wave), edge, noise.randrange(256), alpha))
    return image.convert(bands)


def write_all():
    for name in ("a", "b", "turned"):
        os.makedirs(name, exist_ok=True)
    picture(37, 23, "RGB").save("a/wide.png")
    picture(12, 50, "RGB").save("a/high.png")
    picture(5, 4, "RGB").save("a/tiny.png")
    picture(1, 9, "RGB").save("a/line.png")
    picture(10, 8, "RGB").save("a/same.png")
    picture(30, 21, "RGBA").save("a/clear.png")
    picture(16, 16, "L").save("a/gray.png")
    picture(20, 20, "RGB").quantize(6).save("a/holes.png", transparency=2)
    picture(48, 40, "RGB").save("b/plain.jpg", quality=90)
    picture(31, 17, "RGB").save("b/lossy.webp", quality=80)
    picture(17, 31, "RGB").save("b/lossless.webp", lossless=True)
    picture(19, 19, "RGBA").save("b/clear.webp", lossless=True)
    picture(97, 75, "RGB").save("b/large.jpg", quality=90)
    exif = Image.Exif()
    exif[0x0112] = 6
    picture(90, 67, "RGB").save("turned/large.jpg", quality=90, exif=exif)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        exif[0x010F] = "a maker"
        picture(21, 14, "RGB").save(f"turned/{orientation}.jpg", quality=85, exif=exif)
    exif = Image.Exif()
    exif[0x0112] = 6
    picture(13, 9, "RGB").save("turned/x.png", exif=exif)
    picture(13, 9, "RGB").save("turned/y.webp", lossless=True, exif=exif)


def middle(image, ratio, share=1.0):
    w, h = image.size
    width, height = (ratio * h, h) if w >= ratio * h else (w, w / ratio)
    width, height = width * share, height * share
    return ((w - width) / 2, (h - height) / 2, (w + width) / 2, (h + height) / 2)


def random_box(image, number):
    key = first_two(SEED, 2**64 - 1, 2**64 - 1)
    own = Stream(first_two(key, number, 3))
    u = [(own.word(i) >> 8) / 2**24 for i in range(40)]
    w, h = image.size
    for k in range(10):
        area = w * h * (0.2 + 0.7 * u[4 * k])
        ratio = math.exp(math.log(0.75) + (math.log(1.5) - math.log(0.75)) * u[4 * k + 1])
        width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < width <= w and 0 < height <= h:
            top, left = int(u[4 * k + 2] * (h - height + 1)), int(u[4 * k + 3] * (w - width + 1))
            return (left, top, left + width, top + height)
    return middle(image, min(max(w / h, 0.75), 1.5))


def over(image):
    under = Image.new("RGB", image.size, BACKGROUND)
    image = image.convert("RGBA")
    under.paste(image, (0, 0), image)
    return under


def pad(image):
    """As ImageOps.pad, which leaves no line of a picture that is too thin."""
    scale = min(W / image.width, H / image.height)
    if min(image.width, image.height) * scale >= 1:
        return ImageOps.pad(image, (W, H), Image.Resampling.BILINEAR, BACKGROUND)
    return None


def reduced(path):
    """As Pillow's draft mode unpacks a JPEG, at least twice as large as what comes out."""
    with Image.open(path) as image:
        lies = image.getexif().get(0x0112, 1) > 4
        image.draft(None, (2 * H, 2 * W) if lies else (2 * W, 2 * H))
        image.load()
        return ImageOps.exif_transpose(image).convert("RGB")


def cases(image, number, path):
    size, bilinear = (W, H), Image.Resampling.BILINEAR
    rgb = image.convert("RGB")
    yield "stretch", rgb.resize(size, bilinear)
    yield "crop", ImageOps.fit(rgb, size, bilinear)
    yield "part", rgb.resize(size, bilinear, box=middle(rgb, W / H, 0.75))
    yield "pad", pad(rgb)
    yield "gray", rgb.convert("L").resize(size, bilinear)
    yield "blend", over(image).resize(size, bilinear)
    yield "reduce", ImageOps.fit(reduced(path), size, bilinear)
    yield "random", rgb.resize(size, bilinear, box=random_box(rgb, number))


def main():
    write_all()
    number = 0
    with open("fits.txt", "w", encoding="ascii") as out:
        print("# make.py, Pillow", PIL.__version__, file=out)
        for folder in ("a", "b", "turned"):
            for name in sorted(os.listdir(folder)):
                with Image.open(f"{folder}/{name}") as image:
                    image.load()
                    upright = ImageOps.exif_transpose(image)
                for case, made in cases(upright, number, f"{folder}/{name}"):
                    if made is not None:
                        print(f"{folder}/{name}", number, case, made.tobytes().hex(), file=out)
                number += 1


main()
