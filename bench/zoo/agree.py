#!/usr/bin/env python3
"""Whether the networks of the zoo are those of forms/: agree.py ZOO [NAME ..], ZOO the program of this folder.

Tiny forms take a step of gradient descent with rate 1 from the weights that Millwright drew, on the same numbers. Loss,
gradients (the weight before less that after) and running statistics have to be those of PyTorch in fp64 to 1e-4 of the
largest of each tensor; what PyTorch in fp32 misses by more is allowed that much more. Ends with 3 where PyTorch is
missing."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "forms")]
import agree as bench_agree  # noqa: E402  (bench/agree.py: this file runs as __main__)
import torch_bench  # noqa: E402

TOLERANCE = 1e-4  # fp32: batch norms over few numbers amplify its rounding, 6e-8, some hundred times
SAME = 10.0       # times what PyTorch's own fp32 is off: kinks (ReLU, max) that rounding moves to the other side


def run(program, name, path):
    command = [program, name, "--tiny", "--steps", "1", "--weights", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split("\t")[1]: float(line.split("\t")[2]) for line in lines}


def step(model, inputs, dtype):
    """(loss, {name: gradient or running statistic}) of the model in that type."""
    model = model.to(dtype)
    model.zero_grad()
    loss = model.loss(*[value.to(dtype) if value.is_floating_point() else value for value in inputs.values()])
    loss.backward()
    found = {name: parameter.grad.double() for name, parameter in model.named_parameters()}
    found.update({name: value.double() for name, value in model.named_buffers() if "running" in name})
    return loss.item(), found


def weight_rounding(weight, gradient):
    """How much the weight after the step is off, as bench_agree.difference has it: half a unit of the largest."""
    return weight.abs().max().item() * 2.0**-24 / max(gradient.abs().max().item(), 1e-3)


def compare(program, name, folder):
    """[(what, how much it differs, how much fp32 does: PyTorch's, and of the weight after the step)]"""
    import torch

    import registry

    path = os.path.join(folder, name)
    said, before, after = run(program, name, path), bench_agree.tensors(path + ".before"), bench_agree.tensors(path)
    results = {}
    for dtype in (torch.float64, torch.float32):
        model, inputs = registry.build(name, True)
        bench_agree.load(model, before)
        results[dtype] = step(model, inputs, dtype)
    (loss, exact), (_, rounded) = results[torch.float64], results[torch.float32]
    found = [("loss", abs(said["first_loss"] - loss) / abs(loss), 0.0)]
    parameters = dict(model.named_parameters())
    for key, wanted in exact.items():
        ours = (before[key].double() - after[key].double()) if key in parameters else after[key].double()
        theirs = bench_agree.difference(rounded[key], wanted) + weight_rounding(before[key], wanted)
        found.append((key, bench_agree.difference(ours, wanted), theirs))
    return found


def main():
    if torch_bench.importlib.util.find_spec("torch") is None:
        print("PyTorch is missing: python3-torch is not installed.")
        sys.exit(torch_bench.LEFT_OUT)
    if os.environ.get("LD_LIBRARY_PATH") != (torch_bench.blas_folder() or ""):
        os.execve(sys.executable, [sys.executable, *sys.argv], torch_bench.environment(1))
    import torch

    import registry

    torch.backends.mkldnn.enabled = False  # 1.13.1 writes beside its memory in gradients of small strided convolutions
    registry.load()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or registry.rows():
            found = compare(sys.argv[1], name, folder)
            what, worst, theirs = max(found, key=lambda entry: entry[1] - SAME * entry[2])
            fine = worst < TOLERANCE + SAME * theirs
            good = good and fine
            print(f"{name}: {worst:.1e} at most, of {what} ({theirs:.1e} by fp32){'' if fine else ' WRONG'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
