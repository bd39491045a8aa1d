#!/usr/bin/env python3
"""Prints src/engine/kernels/math/chip_knots.def: the knots of the ANE's tables by their definitions.

gelu and silu are no values at knots: they are the line through 33 knots that comes nearest to the function over the fp16
numbers of the range, by least squares with equal weights. The M6 study publishes gelu(0) = -0.000754 and
silu(0) = -0.001704, which come out if some of the largest subnormal numbers count too: 40 to 43 of gelu, 32 to 39 of
silu. Nothing else is free; the largest errors, which it publishes too, come out without being asked for.
usage: tools/activation_tables.py > src/engine/kernels/math/chip_knots.def
"""
import math
import struct

KNOTS = 33


def half(bits):
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def to_half(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def fit(f, low, step, subnormal):
    """Least squares of a line through knots low, low + step ..: the normal equations have three diagonals."""
    on, off, right = [0.0] * KNOTS, [0.0] * (KNOTS - 1), [0.0] * KNOTS
    for bits in range(0x400 - subnormal, 0x7C00):
        for x in (half(bits), -half(bits)):
            if abs(x) > abs(low):
                continue
            place = (x - low) / step
            i = min(int(place), KNOTS - 2)
            t = place - i
            on[i] += (1 - t) ** 2
            on[i + 1] += t * t
            off[i] += t * (1 - t)
            right[i] += (1 - t) * f(x)
            right[i + 1] += t * f(x)
    for i in range(1, KNOTS):
        share = off[i - 1] / on[i - 1]
        on[i] -= share * off[i - 1]
        right[i] -= share * right[i - 1]
    out = [0.0] * KNOTS
    out[-1] = right[-1] / on[-1]
    for i in range(KNOTS - 2, -1, -1):
        out[i] = (right[i] - off[i] * out[i + 1]) / on[i]
    return out


def values(f, low, step, count=KNOTS):
    return [f(low + i * step) for i in range(count)]


TABLES = {
    "tanh": ("tanh(x) at 0, 1/8 .. 4", values(math.tanh, 0, 1 / 8)),
    "exp2": ("2^x at 0, 1/32 .. 1", values(lambda x: 2.0**x, 0, 1 / 32)),
    "log2": ("log2(x) at 1/2, 33/64 .. 1", values(math.log2, 0.5, 1 / 64)),
    "sqrt": ("sqrt(x) at 1/2, 9/16 .. 2", values(math.sqrt, 0.5, 1 / 16, 25)),
    "rsqrt": ("1 / sqrt(x) at 1/2, 9/16 .. 2", values(lambda x: 1 / math.sqrt(x), 0.5, 1 / 16, 25)),
    "inverse": ("1 / x at 1/2, 33/64 .. 1", values(lambda x: 1 / x, 0.5, 1 / 64)),
    "erf": ("erf(x) at 0, 1/16 .. 2", values(math.erf, 0, 1 / 16)),
    "sin": ("sin(x) at 0, pi/64 .. pi/2", values(math.sin, 0, math.pi / 64)),
    "gelu": ("a fit of x (1 + erf(x / sqrt 2)) / 2 at -4, -3.75 .. 4",
             fit(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))), -4, 0.25, 40)),
    "silu": ("a fit of x / (1 + e^-x) at -8, -7.5 .. 8", fit(lambda x: x / (1 + math.exp(-x)), -8, 0.5, 36)),
}


def main():
    print("/* The knots of the ANE's tables, fp16. MW_KNOTS(name, ..); written by tools/activation_tables.py. */\n")
    print("/* clang-format off */")
    for name, (what, knots) in TABLES.items():
        words = [to_half(k).hex() for k in knots]
        words = [w.replace("0000000000p", "p").replace("000000000p", "p") for w in words]
        print(f"/* {what} */\nMW_KNOTS({name},")
        for at in range(0, len(words), 8):
            rest = at + 8 >= len(words)
            print("         " + ", ".join(w + "f" for w in words[at:at + 8]) + (")" if rest else ","))
    print("/* clang-format on */")


if __name__ == "__main__":
    main()
