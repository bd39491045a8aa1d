#!/usr/bin/env python3
"""Writes small pictures of every form with Pillow (and so libpng and libjpeg), and records in pixels.txt what Pillow reads
back as RGB and as gray: lines of file, mode and bytes. usage: make.py"""
import os

import PIL
from PIL import Image

W, H = 9, 7


def picture(kind):
    image = Image.new(kind, (W, H))
    for y in range(H):
        for x in range(W):
            rgb = ((x * 29 + y * 3) % 256, (y * 37 + 40) % 256, (x * y * 5 + 7) % 256, (x * 31 + y) % 256)
            image.putpixel((x, y), rgb[0] if kind == "L" else (rgb[0] > 120) if kind == "1" else rgb[:len(kind)])
    return image


def main():
    for name in ("png", "jpeg"):
        os.makedirs(name, exist_ok=True)
    rgb = picture("RGB")
    rgb.save("png/rgb.png")
    picture("RGBA").save("png/rgba.png")
    picture("L").save("png/gray.png")
    picture("1").convert("1").save("png/bits.png")
    rgb.quantize(16).save("png/palette.png")
    rgb.quantize(4).save("png/transparent.PNG", transparency=1)
    rgb.save("jpeg/plain.jpg", quality=90)
    rgb.save("jpeg/progressive.jpeg", quality=80, progressive=True)
    rgb.save("jpeg/full.JPG", quality=95, subsampling=0, optimize=True)
    picture("L").save("jpeg/gray.jpg")
    with open("pixels.txt", "w") as out:
        print("# make.py, Pillow", PIL.__version__, file=out)
        for folder in ("jpeg", "png"):
            for name in sorted(os.listdir(folder)):
                with Image.open(folder + "/" + name) as image:
                    pixels = image.convert("RGB")
                print(folder + "/" + name, "RGB", pixels.tobytes().hex(), file=out)
                print(folder + "/" + name, "L", pixels.convert("L").tobytes().hex(), file=out)


main()
