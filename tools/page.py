#!/usr/bin/env python3
"""Looks at a report and at the pictures of it that tools/page.sh made: tags nest, both pictures show something, the dark
one is dark, and something was printed. usage: tools/page.py PAGE FOLDER"""
import html.parser
import struct
import sys
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + length]
        at += 12 + length


def unfiltered(line, before, how, size):
    for i in range(len(line)):
        a = line[i - size] if i >= size else 0
        b, c = before[i], before[i - size] if i >= size else 0
        p = a + b - c
        paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[how]) & 255
    return line


def brightness(path):
    """Mean of the bytes of a PNG, and how many different ones there are."""
    parts = list(chunks(open(path, "rb").read()))
    width, height, _, color = struct.unpack(">IIBB", dict(parts)[b"IHDR"][:10])
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    size = {2: 3, 6: 4}[color]
    row, before, total, seen = width * size, bytearray(width * size), 0, set()
    for y in range(height):
        at = y * (row + 1)
        before = unfiltered(bytearray(raw[at + 1:at + 1 + row]), before, raw[at], size)
        total += sum(before)
        seen.update(before[::size])
    return total / (row * height), len(seen)


class Nesting(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit("the page closes a tag that is not open: " + tag)


def main():
    page, folder = sys.argv[1:3]
    parser = Nesting()
    parser.feed(open(page, encoding="utf-8").read())
    if parser.open:
        sys.exit("tags stay open: %s" % parser.open)
    light, dark = brightness(folder + "/light.png"), brightness(folder + "/dark.png")
    if light[0] < 180 or dark[0] > 110 or min(light[1], dark[1]) < 30:
        sys.exit("a picture is empty, or the two are alike: light %s, dark %s" % (light, dark))
    if len(open(folder + "/page.pdf", "rb").read()) < 20000:
        sys.exit("what was printed is empty")
    print("light %.0f, dark %.0f of 255" % (light[0], dark[0]))


main()
