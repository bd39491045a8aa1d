"""Ten steps of Muon: python3 tests/data/torch/muon_cases.py writes muon.safetensors for
tests/autograd/optimizers/test_muon.c, a tensor [10, 82] for each variant: all parameters after every step.

Muon is written here from its paper (K. Jordan et al. 2024) and the scale of Liu et al. 2025, in double precision; what is
no matrix goes to torch.optim.AdamW. Parameters and gradients are hashed numbers that the test computes too; those of a
step are 2^-(step % 4) as large."""
import math

import torch

from hashed import tensor
from record import Recorder

STEPS = 10
SHAPES = [(6, 4), (3, 5), (2, 4, 2, 1), (1, 7), (20,)]
VARIANTS = {
    "match_rms": dict(match_rms=True),
    "original": dict(match_rms=False),
    "decay": dict(match_rms=True, weight_decay=0.1),
    "plain": dict(match_rms=True, nesterov=False, momentum=0.8),
    "adamw": dict(match_rms=True, weight_decay=0.1, only_adamw=True),
}


def zeropower(g):
    """Newton and Schulz's iteration, quintic."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm() + 1e-7)
    if g.shape[0] > g.shape[1]:
        x = x.T
    for _ in range(5):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return x.T if g.shape[0] > g.shape[1] else x


class Muon:
    def __init__(self, p, lr, momentum=0.95, nesterov=True, weight_decay=0.0, match_rms=True):
        self.p, self.lr, self.momentum, self.nesterov = p, lr, momentum, nesterov
        self.decay, self.match_rms = weight_decay, match_rms
        self.buffer = torch.zeros_like(p)

    def step(self):
        g = self.p.grad
        self.buffer.lerp_(g, 1 - self.momentum)
        update = g.lerp(self.buffer, self.momentum) if self.nesterov else self.buffer
        flat = update.reshape(update.shape[0], -1)
        scale = 0.2 * math.sqrt(max(flat.shape)) if self.match_rms else math.sqrt(max(1, flat.shape[0] / flat.shape[1]))
        with torch.no_grad():
            self.p.mul_(1 - self.lr * self.decay)
            self.p.sub_(self.lr * scale * zeropower(flat).reshape(self.p.shape))


def is_matrix(p):
    return p.dim() >= 2 and p.shape[0] > 1 and p.numel() // p.shape[0] > 1


def train(match_rms, weight_decay=0.0, only_adamw=False, **numbers):
    lr = 0.01
    parameters = [tensor(shape, 40 + i, 1.0).double().requires_grad_(True) for i, shape in enumerate(SHAPES)]
    rest = [p for p in parameters if only_adamw or not is_matrix(p)]
    optimizers = [Muon(p, lr, weight_decay=weight_decay, match_rms=match_rms, **numbers)
                  for p in parameters if all(p is not q for q in rest)]
    optimizers.append(torch.optim.AdamW(rest, lr=lr, weight_decay=weight_decay))
    path = []
    for step in range(STEPS):
        for i, p in enumerate(parameters):
            p.grad = tensor(SHAPES[i], 100 + 10 * step + i, 1.0).double() * 2.0 ** -(step % 4)
        for optimizer in optimizers:
            optimizer.step()
        path.append(torch.cat([p.detach().flatten() for p in parameters]).float())
    return torch.stack(path)


record = Recorder("muon", tolerance=1e-5,
                  reason="five steps of a polynomial make relative errors of small singular values 3.4^5 times larger")
for name, numbers in VARIANTS.items():
    record.tensors[name] = train(**numbers)
record.write()
