"""Compares a program with compressed weights with the same one whose weights were expanded here, both run by the library.

    python3 tests/interpreter/compressed.py LIBRARY FOLDER [--plain FOLDER] [--until VALUE]

LIBRARY is build/release/libmillwright.so, FOLDER holds a model.mil with constexpr statements. Prints for each output
and device how far the two are apart, beside the largest element, and how far the library is from the interpreter; with
--plain, how far the compressed program is from one that was never compressed. --until ends the programs at a value.

Fails if the two differ by more than 1e-4, on either device: both programs are run by the library on the same device, so
that what is left is what compression does to it. The interpreter computes what the program declares, in fp32 where that
says so; beside it the library may be off by the rounding of its results: on the model of the ANE all of them are fp16.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

import torch

import blob
import compare
import interpret
import library
from mil_text import Blob

TOLERANCE = 1e-4
DENSE = "weights/dense.bin"


class Expanding(interpret.Interpreter):
    """Remembers what constexpr statements give."""

    def bind(self, statement, results, scope):
        super().bind(statement, results, scope)
        if statement.op.startswith("constexpr_"):
            for of, name in statement.results:
                self.dense[name] = (of, scope[name])


def expanded(folder):
    """The values of all constexpr statements, by name."""
    run = interpret.load(folder)
    run = Expanding(run.program, folder)
    run.dense = {}
    run.run(run.inputs())
    return run.dense


def cut(text, until):
    """The program up to a value, which is its one output."""
    if until is None:
        return text
    lines = text.split("\n")
    last = next(i for i, line in enumerate(lines) if re.search(r"[ ,]%s( =|,)" % re.escape(until), line))
    return "\n".join(lines[:last + 1] + ["        } -> (%s);" % until, "}"])


def with_dense_weights(text, dense, folder):
    """Each constexpr statement as a const of a new weight file."""
    entries, offset, lines = [], 64, []
    for line in text.split("\n"):
        found = re.match(r"\s*(tensor<[^>]*>) (\w+) = constexpr_", line)
        if not found:
            lines.append(line)
            continue
        of, name = found.groups()
        kind, value = dense[name]
        place = Blob("@model_path/" + DENSE, offset)
        entries.append((place, kind.dtype, value.data.numpy()))
        offset += blob.ENTRY_SIZE + -(-blob.size_of(kind.dtype, value.data.numel()) // 64) * 64
        lines.append('            %s %s = const()[name = tensor<string, []>("%s"), val = %s(BLOBFILE(path = tensor<string, '
                     '[]>("%s"), offset = tensor<uint64, []>(%d)))];' % (of, name, name, of, place.path, place.offset))
    blob.write_entries(folder, entries)
    return "\n".join(lines)


def place(folder, scratch, text):
    """A folder with the weights of `folder` and that text."""
    os.makedirs(scratch)
    for name in os.listdir(folder):
        if name != "model.mil":
            target = os.path.join(scratch, name)
            whole = os.path.isdir(os.path.join(folder, name))
            (shutil.copytree if whole else shutil.copyfile)(os.path.join(folder, name), target)
            os.chmod(target, 0o700)
    with open(os.path.join(scratch, "model.mil"), "w", encoding="utf-8") as file:
        file.write(text)
    return scratch


def outputs(lib, folder, inputs, shapes, device):
    graph = lib.read(os.path.join(folder, "model.mil"))
    try:
        program = graph.compile(device)
        try:
            compare.feed(program, inputs)
            program.run()
            return {n: torch.from_numpy(program.read(n, tuple(s))) for n, s in shapes.items()}
        finally:
            program.close()
    finally:
        graph.close()


def apart(a, b):
    return float((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1e-30))


def text_of(folder, until):
    with open(os.path.join(folder, "model.mil"), encoding="utf-8") as file:
        return cut(file.read(), until)


def check(lib, chosen, scratch):
    text = text_of(chosen.folder, chosen.until)
    packed = place(chosen.folder, os.path.join(scratch, "packed"), text)
    dense = place(chosen.folder, os.path.join(scratch, "dense"), text)
    with open(os.path.join(dense, "model.mil"), "w", encoding="utf-8") as file:
        file.write(with_dense_weights(text, expanded(packed), dense))
    run = interpret.load(packed)
    inputs = run.inputs()
    wanted = compare.tensors_of(run.run(inputs))
    half = "fp16" in compare.Case.types(run)
    shapes = {n: v.shape for n, v in wanted.items()}
    plain = chosen.plain and place(chosen.plain, os.path.join(scratch, "plain"), text_of(chosen.plain, chosen.until))
    good = True
    for device, where in ((library.CPU, "CPU"), (library.ANE, "ANE")):
        try:
            got, twin = (outputs(lib, f, inputs, shapes, device) for f in (packed, dense))
            whole = plain and outputs(lib, plain, inputs, shapes, device)
        except library.LibraryError as error:
            print("%s: %s" % (where, error))
            good = good and device != library.CPU
            continue
        for name in shapes:
            far, off = apart(got[name], twin[name]), apart(got[name], wanted[name])
            near = far <= TOLERANCE and off <= compare.rounding(half or device == library.ANE)
            good = good and near
            print("%s %-40s expanded %.1e  interpreter %.1e%s%s" % (
                where, name, far, off, "  never compressed %.1e" % apart(got[name], whole[name]) if plain else "",
                "" if near else "  FAILED"))
    return good


def main():
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description="Compares compressed weights with expanded ones.")
    parser.add_argument("library")
    parser.add_argument("folder")
    parser.add_argument("--plain")
    parser.add_argument("--until")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return not check(library.Library(os.path.abspath(chosen.library)), chosen, scratch)


if __name__ == "__main__":
    sys.exit(main())
