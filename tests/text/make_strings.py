#!/usr/bin/env python3
"""Writes strings that are hard to cut into tokens, one JSON string a line, the same ones for the same seed.
usage: tests/text/make_strings.py COUNT [SEED [unmarked]]
Characters are those that Unicode 14 assigns. With `unmarked` nothing stands above white space and the characters of
make_tokenizers.TABLE: Hugging Face's engine, not SentencePiece, drops what follows in one grapheme."""
import json
import random
import re
import sys
import unicodedata

WORDS = ("the of and to in is that it was for on are as with his they be at one have this from or had by hot word but "
         "what some we can out other were all there when up use your how said an each she Hello World don't I'll we've "
         "naïve café Grüße Привет мир 東京 日本 مرحبا हिन्दी ไทย 한국어 iPhone COVID-19 3.14159 1,000,000 2026-11-30 "
         "http://example.org/a?b=c user@example.org x=y+z; {\"a\": [1, 2]} #include <stdio.h> <s> </s> <unk> [MASK] "
         "<|endoftext|> <|im_start|> <mask> <tool_call> 'S 'RE 'll 'Ve 'ſ ''s n't").split(" ")
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n", "\n ", "\u00a0", "\u3000", "\u200b", "\u2028", "\x85",
          "\x0b", "\x1c", "\ufeff"]
RANGES = [(0x20, 0x7f), (0xa0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700), (0x900, 0xe80), (0x1100, 0x1200),
          (0x1e00, 0x2000), (0x2000, 0x2300), (0x2460, 0x2600), (0x3000, 0x3130), (0x4e00, 0x5000), (0xac00, 0xad00),
          (0xf900, 0xfb50), (0xfe00, 0x10000), (0x10000, 0x10400), (0x1d400, 0x1d800), (0x1f300, 0x1f700), (0x1, 0x20)]
# Newer than the tables of the engine's parts: BERT's cut knows Unicode 8, the normal forms know 13.
LATER = {0x61d, 0x9fd, 0xa76, 0xafe, 0xc3c, 0xc77, 0xc84, 0xd3b, 0xd3c}


def assigned(code):
    return code not in LATER and unicodedata.category(chr(code)) not in ("Cn", "Cs")


def character(draw):
    while True:
        code = draw.randrange(*draw.choice(RANGES))
        if assigned(code):
            return chr(code)


def part(draw):
    kind = draw.random()
    if kind < 0.45:
        return draw.choice(WORDS)
    if kind < 0.65:
        return draw.choice(SPACES) * draw.choice([1, 1, 1, 2, 5])
    if kind < 0.75:
        return "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 9)))
    if kind < 0.85:
        return draw.choice("!?.,:;-_'\"()[]{}<>/\\|@#$%^&*+=~`") * draw.choice([1, 1, 2, 3, 8])
    if kind < 0.9:
        return draw.choice("aeiouscnz") + "".join(chr(draw.randrange(0x300, 0x345)) for _ in range(draw.randrange(1, 4)))
    return "".join(character(draw) for _ in range(draw.randrange(1, 6)))


def joins(c):
    """Whether a character may be of one grapheme with the one before."""
    return unicodedata.category(c)[0] == "M" or c in "\u200c\u200d"


def without_joins(text):
    kept = ""
    for c in text:
        if not (joins(c) and re.search("[\\s\ufb01\u00bd\u00c5\u2460]$", kept)):
            kept += c
    return kept


def main():
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for i in range(int(sys.argv[1])):
        size = draw.choice([0, 1, 2, 3, 5, 8, 20]) if i else 0
        text = "".join(part(draw) + draw.choice(["", "", " "]) for _ in range(size))
        if sys.argv[3:] == ["unmarked"]:
            text = without_joins(text)
        print(json.dumps(text))


if __name__ == "__main__":
    main()
