"""Compares the library with the interpreter on whole programs: a table, a line for each program.

    python3 tests/interpreter/compare.py LIBRARY FOLDER.. [--only WORD]

LIBRARY is build/release/libmillwright.so; below each FOLDER every folder with a model.mil is a program. One with `?`
extents runs several times, with its default shapes and with other numbers for each `?`. Columns are the farthest output
on the CPU, on the model of the ANE, and the farthest gradient of an input on the CPU, each beside the largest element of
its tensor ("none" without a gradient, "-" for what was refused, with the reason below); and how far the interpreter is
off from itself for each: with sums in fp32, with every result in fp16, and gradients with sums in fp32. A label that is
not the one of the interpreter is infinitely far off. Ends with the rule of the chip, its source and the rewrites that were
tried for each program that the model of the ANE refused, and with the counts.

Fails if a program is farther off than its types or the interpreter's own distance explain, stops on the CPU, or is refused
without a rule of the chip.
"""
import argparse
import glob
import os
import re
import shutil
import sys
import tempfile

import numpy as np
import torch

import blob
import interpret
import library
import mil_text
from values import InterpreterError, Rounded, Tensor, kind_of

# fp32: sums of some thousand products in another order. fp16: each result is rounded to 11 bits (5e-4), and a few dozen
# layers add up.
FP32_TOLERANCE, FP16_TOLERANCE = 2e-5, 3e-3
# Where a program amplifies rounding more than that, the interpreter with its sums in fp32 (with all results in fp16 for
# the ANE) is off from itself with sums in double as well: as many times of that are let pass.
NOISE = 8
# Its sums in fp32 are one way to round. A gradient jumps where rounding puts what enters a ReLU, or who is the largest,
# on the other side (2e-7 below 0 among numbers of 1.5, in basic-pitch): before a program is said to be wrong, sums in fp32
# are taken for inputs that are off by as much as its results, 1e-6. Of such a jump no multiple is let pass.
MOVED, DRAWS, JUMP = 2.0**-20, 8, 1.5
# For every `?`; None = default shapes, as a program without `?` has.
EXTENTS = (None, 1, 3, 7)
# Autograd keeps what flows through a cast to fp16 in fp32; the program has it in fp16, where this is the largest.
HALF_MAX = 65504


def programs(folders):
    for folder in folders:
        yield from sorted(os.path.dirname(p) for p in glob.glob(os.path.join(folder, "**", "model.mil"), recursive=True))


def is_open(run):
    """True if an input has a `?`."""
    return any(None in of.shape for of, _ in run.function.params if of.kind == "tensor")


def chosen_input(name, tensor):
    """Magnitudes go into logarithms, and masks are 0 or 1."""
    data = tensor.data
    if "magnitude" in name:
        data = data.abs()
    if "mask" in name:
        data = (data > -0.5).to(data.dtype)
    return Tensor(data, tensor.dtype)


class HalfInterpreter(interpret.Interpreter):
    """Every float is fp16, as on the ANE: how far that is from fp32 is a property of the program."""

    def checked(self, of, result):
        value = super().checked(of, result)
        if isinstance(value, Tensor) and value.dtype == "fp32":
            return Tensor(Rounded.apply(value.data.clamp(-HALF_MAX, HALF_MAX), "fp16"), value.dtype)
        return value


def rounding(half):
    """How far off a program of such types may be."""
    return FP16_TOLERANCE if half else FP32_TOLERANCE


def tensors_of(values, labels=()):
    """The data of tensors by name, without labels."""
    return {n: v.data.detach() for n, v in values.items() if isinstance(v, Tensor) and n not in labels}


class Case:
    """A program, its inputs, and what the interpreter makes of them with sums in double."""

    def __init__(self, folder, scratch, extent):
        self.extent = extent
        run = self.loaded(folder)
        self.inputs = self.chosen(run)
        self.open = is_open(run)
        self.states = [name for of, name in run.function.params if of.kind == "state"]
        self.half = "fp16" in self.types(run)
        rough = run.run(self.inputs)
        self.folder = self.with_weights(run, folder, scratch)
        self.path = os.path.join(self.folder, "model.mil")
        exact = self.exact(lambda e, inputs: e.run(inputs))
        self.labels = self.predicted(run, exact)
        self.outputs = self.tensors(exact)
        self.floats = [n for n, v in rough.items() if isinstance(v, Tensor) and kind_of(v.dtype) == "float"]
        self.noise = farthest(self.tensors(rough), self.outputs)
        self.half_noise = farthest(self.in_half(), self.outputs)

    def loaded(self, folder, **options):
        run = interpret.load(folder, **options)
        run.extent = self.extent
        return run

    def shapes(self):
        """Of the inputs that the host feeds, by name."""
        return {n: tuple(v.data.shape) for n, v in self.inputs.items() if n not in self.states}

    @staticmethod
    def chosen(run):
        return {n: chosen_input(n, v) for n, v in run.inputs().items()}

    @staticmethod
    def predicted(run, outputs):
        """The labels of classifiers, strings or numbers."""
        names = [s.results[0][1] for s in run.function.body.statements if s.op == "classify"]
        labels = {n: outputs[n].data for n in names if n in outputs}
        return {n: v if isinstance(v, str) else int(v) for n, v in labels.items()}

    def tensors(self, values):
        return tensors_of(values, self.labels)

    def exact(self, use):
        run = self.loaded(self.folder, precision=64)
        return use(run, self.chosen(run))

    def in_half(self):
        """The outputs where every result is fp16."""
        run = HalfInterpreter(self.loaded(self.folder).program, self.folder)
        run.extent = self.extent
        return self.tensors(run.run(self.chosen(run)))

    @staticmethod
    def with_weights(run, folder, scratch):
        if not run.weights.generated:
            return folder
        shutil.copyfile(os.path.join(folder, "model.mil"), os.path.join(scratch, "model.mil"))
        blob.write_entries(scratch, run.weights.generated)
        return scratch

    @staticmethod
    def types(run):
        return {t.dtype for s in run.function.body.statements for t, _ in s.results} | {
            t.dtype for t, _ in run.function.params}

    def seeds(self):
        generator = torch.Generator().manual_seed(7)
        return {n: (torch.rand(self.outputs[n].shape, generator=generator) * 2 - 1) for n in self.floats}

    def gradients(self, seeds):
        """Those of the inputs, and how far the interpreter is off from itself."""
        weights = {n: w.numpy() for n, w in seeds.items()}
        wanted = self.exact(lambda e, inputs: e.gradients(inputs, weights=weights)[1])
        wanted = {n: g for n, g in wanted.items() if n not in self.states}
        rough = self.loaded(self.folder).gradients(self.inputs, weights=weights)[1]
        return wanted, farthest(rough, wanted, self.limit())

    def jumps(self, seeds, wanted):
        """How far the interpreter is off from itself as it rounds in other ways; the farthest of some draws."""
        weights = {n: w.numpy() for n, w in seeds.items()}
        generator = torch.Generator().manual_seed(11)

        def rounded(value):
            if not isinstance(value, Tensor) or kind_of(value.dtype) != "float":
                return value
            signs = torch.randint(0, 2, value.data.shape, generator=generator) * 2 - 1
            return Tensor(value.data * (1 + MOVED * signs), value.dtype)

        farthest_yet = 0.0
        for _ in range(DRAWS):
            inputs = {n: rounded(v) for n, v in self.inputs.items()}
            found = self.loaded(self.folder).gradients(inputs, weights=weights)[1]
            farthest_yet = max(farthest_yet, farthest(found, wanted, self.limit()))
        return farthest_yet

    def limit(self):
        return HALF_MAX if self.half else float("inf")

    def tolerance(self, noise):
        return max(rounding(self.half), NOISE * noise)


def distance(got, wanted, limit):
    """Of the farthest element, beside the largest; infinite if one is no number where the other is. Elements beyond
    `limit` are left out."""
    kept = ~(wanted.abs() > limit).numpy()
    wanted = wanted.double().numpy()[kept]
    got = np.asarray(got).astype(np.float64)[kept]
    if not np.array_equal(np.isnan(got), np.isnan(wanted)) or not np.array_equal(np.isinf(got), np.isinf(wanted)):
        return float("inf")
    finite = np.isfinite(wanted)
    if not finite.any():
        return 0.0
    return float(np.abs(got[finite] - wanted[finite]).max() / max(np.abs(wanted[finite]).max(), 1e-30))


def feed(program, values):
    for name, value in values.items():
        program.write(name, value.data.numpy() if isinstance(value, Tensor) else value)


def farthest(got, wanted, limit=float("inf")):
    return max([distance(got[n], v, limit) for n, v in wanted.items()], default=0.0)


def results(program, wanted, name_of=lambda n: n):
    return {n: program.read(name_of(n), tuple(v.shape)) for n, v in wanted.items()}


def forward(lib, case, device):
    graph = lib.read(case.path)
    try:
        program = graph.compile(device)
        try:
            if case.open:
                program.set_shapes(case.shapes())
            feed(program, {n: v for n, v in case.inputs.items() if n not in case.states})
            program.run()
            noise = case.half_noise if device == library.ANE else case.noise
            if any(program.label(n) != label for n, label in case.labels.items()):
                return float("inf"), noise
            return farthest(results(program, case.outputs), case.outputs), noise
        finally:
            program.close()
    finally:
        graph.close()


def backward(lib, case):
    seeds = case.seeds()
    wanted, noise = case.gradients(seeds)
    if not wanted:
        return None, 0.0
    read = lib.read(case.path)
    if case.open:
        source, read = read, read.specialized(case.shapes())
        source.close()
    graph = read.flat()
    try:
        graph.add_gradients(case.floats, list(wanted))
        program = graph.compile(library.CPU)
        try:
            feed(program, {n: v for n, v in case.inputs.items() if n not in case.states})
            feed(program, {"w_%d" % i: seeds[n].numpy() for i, n in enumerate(case.floats)})
            program.run()
            names = {n: "d_%d" % i for i, n in enumerate(wanted)}
            off = farthest(results(program, wanted, names.get), wanted, case.limit())
            if off > case.tolerance(noise):
                noise = max(noise, case.jumps(seeds, wanted) * JUMP / NOISE)
            return off, noise
        finally:
            program.close()
    finally:
        graph.close()
        read.close()


class Result:
    """How far off a run was, beside the interpreter's own noise; or why there was none."""

    def __init__(self, function, *arguments):
        self.number, self.noise, self.reason = None, 0.0, None
        try:
            self.number, self.noise = function(*arguments)
        except library.LibraryError as error:
            self.reason = str(error)

    def __str__(self):
        return "-" if self.reason else "none" if self.number is None else "%.1e" % self.number

    def near(self, tolerance):
        return self.number is None or self.number <= tolerance


class Refusal:
    """What the library says of a program that the chip does not take: "OPERATION: RULE (source: SOURCE); REWRITES"."""

    def __init__(self, reason):
        found = re.match(r"(?P<rule>.*) \(source: (?P<source>[^)]*)\)(?P<tried>.*)", reason, re.DOTALL)
        self.rule, self.source = (found.group("rule"), found.group("source")) if found else (None, None)
        self.tried = found.group("tried").lstrip("; ,") if found else None

    def lines(self):
        yield "rule: %s" % self.rule
        yield "source: %s" % self.source
        yield "rewrites: %s" % (self.tried or "there is none")


def judged(case, cpu, ane, gradient):
    return (cpu.reason is None and cpu.near(case.tolerance(cpu.noise)) and
            gradient.near(case.tolerance(gradient.noise)) and ane.near(max(rounding(True), NOISE * ane.noise)) and
            (ane.reason is None or Refusal(ane.reason).rule is not None))


def compare(lib, case, name):
    """A line of the table; returns (good, the three results)."""
    cpu, ane = Result(forward, lib, case, library.CPU), Result(forward, lib, case, library.ANE)
    gradient = Result(backward, lib, case)
    good = judged(case, cpu, ane, gradient)
    noises = " ".join("%7.1e" % r.noise for r in (cpu, ane, gradient))
    print("%-62s %-4s %8s %8s %8s  %s%s" % (name[:62], "fp16" if case.half else "fp32", cpu, ane, gradient, noises,
                                            "" if good else "  FAILED"))
    for where, result in (("CPU", cpu), ("ANE", ane), ("gradient", gradient)):
        if result.reason and (where == "CPU" or not cpu.reason):
            print("    %s: %s" % (where, result.reason))
    sys.stdout.flush()
    return good, (cpu, ane, gradient)


def cases(folder):
    """(extent, label) of each run of a program."""
    name = os.path.basename(folder)
    if not is_open(interpret.load(folder)):
        return [(None, name)]
    return [(e, name if e is None else "?=%d of %s" % (e, name)) for e in EXTENTS]


def compare_case(lib, folder, extent, name):
    with tempfile.TemporaryDirectory() as scratch:
        return compare(lib, Case(folder, scratch, extent), name)


def compare_all(lib, folders):
    """How many there were, how many gave each column, how many failed, and why the ANE refused, by name."""
    count, columns, failed, refused = 0, [0, 0, 0], 0, {}
    for folder in folders:
        try:
            for extent, name in cases(folder):
                count += 1
                good, row = compare_case(lib, folder, extent, name)
                columns = [n + (r.reason is None) for n, r in zip(columns, row)]
                failed += not good
                if row[1].reason and not row[0].reason:
                    refused[name] = row[1].reason
        except (InterpreterError, mil_text.MilError, blob.BlobError) as error:
            print("%-62s the interpreter: %s" % (os.path.basename(folder)[:62], error))
            failed += 1
    return count, columns, failed, refused


def print_refusals(refused):
    for name, reason in refused.items():
        refusal = Refusal(reason)
        print("refused for the ANE: %s" % name)
        for line in refusal.lines() if refusal.rule else ["no rule of the chip: %s" % reason]:
            print("    %s" % line)


def main():
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description="Compares the library with the interpreter.")
    parser.add_argument("library")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    lib = library.Library(os.path.abspath(chosen.library))
    print("%-62s %-4s %8s %8s %8s  %s" % ("program", "type", "CPU", "ANE", "gradient", "noise of each"))
    chosen_programs = [f for f in programs(chosen.folders) if chosen.only in f]
    count, (cpu, ane, gradients), failed, refused = compare_all(lib, chosen_programs)
    print_refusals(refused)
    print("%d runs: %d on the CPU, %d on the model of the ANE, %d have gradients; %d failed" % (
        count, cpu, ane, gradients, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
