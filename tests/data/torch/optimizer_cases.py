"""Ten steps of each optimizer: python3 tests/data/torch/optimizer_cases.py writes optimizer.safetensors for
tests/autograd/optimizers/test_optimizer.c, a tensor [10, 24] for each variant: the parameter after every step.

The parameter and its gradients are hashed numbers that the test computes too, so that they need no file. The gradients
have four magnitudes; the first element's is always 0, and every seventh has one at each third step alone."""
import torch

from hashed import tensor
from record import Recorder

COUNT, STEPS = 24, 10
VARIANTS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd_decay": lambda p: torch.optim.SGD(p, lr=0.05, weight_decay=0.1),
    "momentum_decay": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, weight_decay=0.1),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adam_decay": lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.99), eps=1e-3, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, eps=1e-3, momentum=0.8),
    "rmsprop_centered": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, centered=True),
    "rmsprop_all": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.8, centered=True, weight_decay=0.1),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05),
    "adagrad_all": lambda p: torch.optim.Adagrad(p, lr=0.05, lr_decay=0.1, initial_accumulator_value=0.01, eps=1e-3,
                                                 weight_decay=0.1),
}


def gradient(step):
    g = tensor((COUNT,), 50 + step, 1.0) * torch.tensor([2.0 ** -(3 * (i % 4)) for i in range(COUNT)])
    g[0] = 0.0
    if step % 3 != 0:
        g[6::7] = 0.0
    return g


def train(make):
    p = tensor((COUNT,), 40, 1.0).requires_grad_(True)
    optimizer, path = make([p]), []
    for step in range(STEPS):
        p.grad = gradient(step)
        optimizer.step()
        path.append(p.detach().clone())
    return torch.stack(path)


record = Recorder("optimizer", tolerance=2e-6, reason="a few roundings of a number below 1 at each of ten steps")
for name, make in VARIANTS.items():
    record.tensors[name] = train(make)
record.write()
