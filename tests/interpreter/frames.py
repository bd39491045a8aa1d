"""Runs a recurrent program frame by frame, in the library and in the interpreter, each with its own carried state.

    python3 tests/interpreter/frames.py LIBRARY FOLDER --carry states_in=Identity_1 [--frames 1000] [--ane]

Inputs that are not carried are fresh noise in every frame, magnitudes not negative; `?` extents of the text are taken
as 1. Prints the farthest output of any frame and of the last, beside its largest element; fails beyond the tolerance of
fp32 sums in another order (fp16 results with --ane).
"""
import argparse
import os
import sys
import tempfile

import numpy as np
import torch

import blob
import compare
import interpret
import library
from values import Tensor


def fixed_copy(folder, scratch):
    """The program with every `?` extent 1, and generated weights where there are none."""
    with open(os.path.join(folder, "model.mil")) as file:
        text = file.read().replace("[?", "[1").replace(", ?", ", 1")
    with open(os.path.join(scratch, "model.mil"), "w") as file:
        file.write(text)
    run = interpret.load(scratch, precision=64)
    run.run(compare.Case.chosen(run))
    if run.weights.generated:
        blob.write_entries(scratch, run.weights.generated)
    return scratch


class Frames:
    """Inputs of every frame, and what is handed from one to the next."""

    def __init__(self, run, carried, seed=3):
        self.shapes = {n: tuple(v.data.shape) for n, v in run.inputs().items()}
        self.carried = carried
        self.random = np.random.default_rng(seed)

    def next(self):
        drawn = {n: self.random.standard_normal(s).astype(np.float32) for n, s in self.shapes.items()
                 if n not in self.carried}
        return {n: np.abs(x) if "magnitude" in n else x for n, x in drawn.items()}

    def start(self):
        return {n: np.zeros(self.shapes[n], np.float32) for n in self.carried}


def run_frames(lib, folder, carried, count, device):
    run = interpret.load(folder, precision=64)
    frames = Frames(run, carried)
    graph = lib.read(os.path.join(folder, "model.mil"))
    program = graph.compile(device)
    ours, theirs = frames.start(), frames.start()
    worst = last = 0.0
    for _ in range(count):
        inputs = frames.next()
        compare.feed(program, {**inputs, **ours})
        program.run()
        fed = {n: Tensor(torch.as_tensor(np.asarray(x, np.float64)), "fp32") for n, x in {**inputs, **theirs}.items()}
        wanted = compare.tensors_of(run.run(fed))
        got = compare.results(program, wanted)
        last = compare.farthest(got, wanted)
        worst = max(worst, last)
        ours = {n: got[of] for n, of in carried.items()}
        theirs = {n: wanted[of].numpy() for n, of in carried.items()}
    program.close()
    graph.close()
    return worst, last


def main():
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description="Runs a recurrent program frame by frame.")
    parser.add_argument("library")
    parser.add_argument("folder")
    parser.add_argument("--carry", action="append", default=[], help="INPUT=OUTPUT")
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--ane", action="store_true")
    chosen = parser.parse_args()
    lib = library.Library(os.path.abspath(chosen.library))
    carried = dict(pair.split("=", 1) for pair in chosen.carry)
    with tempfile.TemporaryDirectory() as scratch:
        worst, last = run_frames(lib, fixed_copy(chosen.folder, scratch), carried, chosen.frames,
                                 library.ANE if chosen.ane else library.CPU)
    tolerance = compare.FP16_TOLERANCE * compare.NOISE if chosen.ane else compare.FP32_TOLERANCE
    print("%s: %d frames, farthest %.2e, in the last frame %.2e, tolerance %.0e" % (
        os.path.basename(chosen.folder.rstrip("/")), chosen.frames, worst, last, tolerance))
    return worst > tolerance


if __name__ == "__main__":
    sys.exit(main())
