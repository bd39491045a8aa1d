#!/usr/bin/env python3
"""Whether the networks of W7 to W14 are those of torch_nets.py: agree.py MILLWRIGHT, the program of this folder.

Their small forms take a step of gradient descent with rate 1 from the weights that Millwright drew, on the same numbers.
Loss, gradients (the weight before less that after) and running statistics have to be those of PyTorch in fp64 to 1e-4 of
the largest of each tensor, and W13 has to write the same tokens with the same logits. In fp64, because PyTorch 1.13 gives
wrong gradients for W12's convolutions in fp32. Ends with 3 where PyTorch is missing."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import torch_bench

TOLERANCE = 1e-4  # fp32: 20 layers with batch norms over few numbers amplify its rounding, 6e-8, some hundred times
KINKS = {"W9": 2e-2}  # some inputs of its 35 ReLU6 stand so near to 0 that fp32 puts them on the other side: PyTorch's
                      # gradients in fp32 differ from those in fp64 by 7e-3
TRAINED = ["W7", "W8", "W9", "W10", "W10layer", "W11", "W12", "W14"]


def tensors(path):
    """{name: tensor} of a safetensors file of fp32."""
    import torch

    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header, data = json.loads(file.read(size)), bytearray(file.read())
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            found[name] = torch.frombuffer(data[begin:end], dtype=torch.float32).view(entry["shape"])
    return found


def run(program, workload, path, steps):
    command = [program, workload, "--tiny", "--steps", str(steps), "--weights", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split("\t")[1]: float(line.split("\t")[2]) for line in lines}


def load(model, weights):
    missing, unexpected = model.load_state_dict(weights, strict=False)
    strange = [name for name in missing if not name.endswith("num_batches_tracked")] + unexpected
    if strange:
        sys.exit(f"{strange[0]} is in one of the networks only")


def difference(ours, theirs):
    return ((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-3)).item()


def compare(program, workload, folder):
    """[(what, how much it differs)]"""
    import torch
    import torch_nets

    path = os.path.join(folder, workload)
    said, before, after = run(program, workload, path, 1), tensors(path + ".before"), tensors(path)
    model, x, y = torch_nets.data(workload, True)
    load(model, before)
    model.double()
    x, y = x if x.dtype is torch.long else x.double(), y.double() if workload == "W11" else y
    loss = model.loss(x, y) if y is not None else model(x).exp().mean()
    loss.backward()
    found = [("loss", abs(said["first_loss"] - loss.item()) / abs(loss.item()))]
    for name, parameter in model.named_parameters():
        found.append((name, difference(before[name] - after[name], parameter.grad)))
    return found + [(name, difference(after[name], b)) for name, b in model.named_buffers() if "running" in name]


def written(program, folder):
    """[(token, logit)] that W13 writes from the weights of W7: (ours, PyTorch's)."""
    import torch
    import torch_nets

    path, steps = os.path.join(folder, "W7.before"), 8
    said = run(program, "W13", path, steps)
    model, (layers, heads, tokens, width) = torch_nets.decoder(True)
    load(model, tensors(path))
    caches = [[torch.zeros(1, heads, tokens, width) for _ in range(2)] for _ in range(layers)]
    word, theirs = torch.zeros(1, dtype=torch.long), []
    with torch.inference_mode():
        for at in range(steps):
            logits = model.token(word, caches, at)
            word = logits.argmax(-1)
            theirs.append((word.item(), logits.max().item()))
    return [(int(said[f"token.{i}"]), said[f"logit.{i}"]) for i in range(steps)], theirs


def main():
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is missing: python3-torch is not installed.")
        sys.exit(torch_bench.LEFT_OUT)
    # Sums in fp64 are good enough by any BLAS; where the one that is measured is there, it is taken.
    if os.environ.get("LD_LIBRARY_PATH") != (torch_bench.blas_folder() or ""):
        os.execve(sys.executable, [sys.executable, *sys.argv], torch_bench.environment(1))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for workload in TRAINED:
            what, worst = max(compare(sys.argv[1], workload, folder), key=lambda found: found[1])
            print(f"{workload}: {worst:.1e} at most, of {what}")
            good = good and worst < KINKS.get(workload, TOLERANCE)
        ours, theirs = written(sys.argv[1], folder)
        worst = max(abs(a[1] / b[1] - 1) if a[0] == b[0] else 1 for a, b in zip(ours, theirs))
        print(f"W13: {worst:.1e} at most, of the logits of tokens {[token for token, _ in ours]}")
    sys.exit(0 if good and worst < TOLERANCE else 1)


if __name__ == "__main__":
    main()
