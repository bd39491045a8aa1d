#!/usr/bin/env python3
"""Convolutions beside PyTorch's kernels and the rate of a product of the same size.

    convolutions.py PROGRAM [NAME ..] [--rounds N] [--threads N]

PROGRAM is build/release/bench/convolutions; without names every shape runs. In each round a shape runs in the program
and in PyTorch (contiguous and channels_last, the faster counts), one after the other; the table has medians: GFLOP/s
of ours, of PyTorch, our time as a multiple of PyTorch's, and GFLOP/s of [O, C K] x [C K, positions] by PyTorch's BLAS.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import time

from torch_bench import environment, whats_missing

DIRECTIONS = ("forward", "dx", "dweight")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def shapes(program):
    for line in subprocess.check_output([program, "list"], text=True).splitlines():
        name, *numbers = line.split()
        fields = ("n", "c", "h", "w", "o", "kh", "kw", "stride", "pad", "dilation", "groups", "transpose", "d", "kd")
        yield name, dict(zip(fields, map(int, numbers)))


def ours(program, name, threads):
    out = subprocess.check_output([program, name, "--threads", str(threads)], text=True)
    rows = [line.split("\t") for line in out.splitlines()]
    return {row[1]: float(row[2]) * 1e-3 for row in rows}, {row[1]: float(row[3]) for row in rows}


def timed(run, clock):
    """The median of nine, each long enough."""
    run()
    start = clock()
    run()
    runs = max(1, int(0.01 / max(clock() - start, 1e-6)))
    times = []
    for _ in range(9):
        start = clock()
        for _ in range(runs):
            run()
        times.append((clock() - start) / runs)
    return statistics.median(times)


class Peer:
    """One shape in PyTorch."""

    def __init__(self, torch, s, clock):
        self.torch, self.s, self.clock = torch, s, clock
        axes = "dhw" if s["d"] else "hw"
        self.extent, self.kernel = [s[a] for a in axes], [s["k" + a] for a in axes]
        self.pad = [s["pad"] if a == "w" or s["k" + a] > 1 else 0 for a in axes]
        self.stride = [s["stride"] if s[a] > 1 else 1 for a in axes]

    def operands(self, layout):
        s, torch = self.s, self.torch
        ends = (s["c"], s["o"] // s["groups"]) if s["transpose"] else (s["o"], s["c"] // s["groups"])
        x, weight = torch.rand(s["n"], s["c"], *self.extent) - 0.5, torch.rand(*ends, *self.kernel) - 0.5
        if layout == torch.channels_last and s["d"]:
            layout = torch.channels_last_3d
        return x.to(memory_format=layout), weight.to(memory_format=layout)

    def backward(self, dy, x, weight, mask):
        s = self.s
        self.torch.ops.aten.convolution_backward(dy, x, weight, None, self.stride, self.pad, [s["dilation"]] * len(self.pad),
                                                 bool(s["transpose"]), [0] * len(self.pad), s["groups"], mask)

    def measure(self, layout):
        s, torch = self.s, self.torch
        x, weight = self.operands(layout)
        kind = "conv_transpose" if s["transpose"] else "conv"
        function = getattr(torch.nn.functional, f"{kind}{len(self.pad)}d")

        def forward():
            return function(x, weight, None, self.stride, self.pad, dilation=s["dilation"], groups=s["groups"])

        dy = torch.rand_like(forward())
        return {"forward": timed(forward, self.clock),
                "dx": timed(lambda: self.backward(dy, x, weight, [True, False, False]), self.clock),
                "dweight": timed(lambda: self.backward(dy, x, weight, [False, True, False]), self.clock)}

    def product(self, flops):
        """GFLOP/s of the product that a convolution is."""
        s = self.s
        depth = s["c"] // s["groups"] * math.prod(self.kernel)
        positions = max(1, int(flops / 2 / depth / (s["o"] // s["groups"])))
        a, b = self.torch.rand(s["o"] // s["groups"], depth), self.torch.rand(depth, positions)
        return 1e-9 * flops / timed(lambda: a @ b, self.clock)


def measure_all(torch, options):
    clock = time.process_time if options.threads == 1 else time.perf_counter
    layouts = (torch.contiguous_format, torch.channels_last)
    print("| shape | direction | GFLOP/s | PyTorch | /PyTorch | product |\n| - | - | - | - | - | - |")
    for name, s in shapes(options.program):
        if options.names and name not in options.names:
            continue
        peer, rounds = Peer(torch, s, clock), []
        for _ in range(options.rounds):
            times, rates = ours(options.program, name, options.threads)
            theirs = [peer.measure(layout) for layout in layouts]
            rounds.append((times, rates, {d: min(t[d] for t in theirs) for d in DIRECTIONS}))
        flops = 1e9 * rates["forward"] * times["forward"]
        product = peer.product(flops) if s["groups"] < s["c"] else 0.0
        for d in DIRECTIONS:
            rate = statistics.median(r[1][d] for r in rounds)
            torchs = statistics.median(1e-9 * flops / r[2][d] for r in rounds)
            ratio = statistics.median(r[0][d] / r[2][d] for r in rounds)
            print(f"| {name} | {d} | {rate:.1f} | {torchs:.1f} | {ratio:.2f} | {product:.0f} |", flush=True)


def main():
    options = parse()
    missing = whats_missing()
    if missing is not None:
        sys.exit(missing)
    wanted = environment(options.threads)
    if os.environ.get("LD_LIBRARY_PATH") != wanted["LD_LIBRARY_PATH"]:
        os.execve(sys.executable, [sys.executable, *sys.argv], wanted)
    import torch

    torch.set_num_threads(options.threads)
    measure_all(torch, options)


main()
