"""A state dict of PyTorch goes in, is trained for five steps, and comes out as PyTorch itself would have made it.

Usage: steps.py FIVE_STEPS, the path of the program of steps/five_steps.c. torch.save writes the weights, in fp32 and in
bf16; the program loads them, trains and writes safetensors; PyTorch trains the same network on the same batches in
double, and compares every parameter and running statistic to 1e-5. Without PyTorch it is skipped.
"""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("PyTorch is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

BATCH, CLASSES, STEPS = 16, 5, 5
TOLERANCE = 1e-5  # of a weight or its scale: five steps in fp32 beside double
passed = failed = 0
worst = 0.0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED", what)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(2, 4, 3, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(4)
        self.fc1 = torch.nn.Linear(4 * 8 * 8, 32)
        self.fc2 = torch.nn.Linear(32, CLASSES)

    def forward(self, x):
        h = torch.relu(self.bn1(self.conv1(x)))
        return self.fc2(torch.nn.functional.gelu(self.fc1(h.flatten(1))))


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1),
    "momentum": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, 1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=0.01),
}


def batch(step):
    i = torch.arange(BATCH * 2 * 8 * 8)
    x = ((i * 37 + step * 11) % 101 - 50).double() / 32
    return x.reshape(BATCH, 2, 8, 8), (torch.arange(BATCH) * 7 + step) % CLASSES


def train(state, kind):
    """Five steps in double; the losses, and the state dict."""
    net, losses = Net().double(), []
    net.load_state_dict(state)
    optimizer = OPTIMIZERS[kind](net.parameters())
    for step in range(STEPS):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, net.state_dict()


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header, out = json.loads(data[8:8 + size]), {}
    for name, item in header.items():
        if name != "__metadata__":
            begin, end = item["data_offsets"]
            flat = torch.frombuffer(bytearray(data[8 + size + begin:8 + size + end]), dtype=torch.float32)
            out[name] = flat.reshape(item["shape"]).double()
    return out


def compare(label, program, kind, state):
    global worst
    torch.save(state, "in.pt")
    run = subprocess.run([program, "in.pt", kind, "out.safetensors"], capture_output=True, text=True)
    check(f"{label}: {run.stderr}", run.returncode == 0)
    if run.returncode != 0:
        return
    lines = run.stdout.split("\n")
    taken = sorted(line[6:] for line in lines if line.startswith("taken "))
    names = sorted(name for name in state if name != "bn1.num_batches_tracked")
    check(label + ": every weight is taken", taken == names and "unused bn1.num_batches_tracked" in lines)
    losses, want = train({k: v.double() if v.is_floating_point() else v for k, v in state.items()}, kind)
    got = read_safetensors("out.safetensors")
    check(label + ": names", sorted(got) == names)
    ours = [float(line[5:]) for line in lines if line.startswith("loss ")]
    check(f"{label}: losses {ours} {losses}",
          len(ours) == STEPS and all(abs(a - b) < TOLERANCE for a, b in zip(ours, losses)))
    for name in names:
        far = ((got[name] - want[name]).abs() / want[name].abs().clamp(min=1)).max().item()
        moved = (want[name] - state[name].double()).abs().max().item()
        worst = max(worst, far)
        check(f"{label}: {name} is off by {far:g}", far < TOLERANCE and moved > 10 * TOLERANCE)


program = os.path.abspath(sys.argv[1])
torch.manual_seed(3)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind in OPTIMIZERS:
        start = collections.OrderedDict((k, v.clone()) for k, v in Net().state_dict().items())
        compare(kind + ", fp32", program, kind, start)
        for name, value in start.items():
            if value.is_floating_point():
                start[name] = value.bfloat16()
        compare(kind + ", bf16", program, kind, start)
    os.chdir("/")
print(f"the largest difference is {worst:.2g}\n{passed} passed, {failed} failed")
sys.exit(failed > 0)
