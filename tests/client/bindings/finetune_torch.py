#!/usr/bin/env python3
"""examples/python/finetune.py in PyTorch, from the same weights over the same batches: WEIGHTS is a .npz of the network's
weights by their names."""
import gzip
import pathlib
import struct
import sys

import numpy
import torch
from torch import nn

weights, data, batch = numpy.load(sys.argv[1]), (sys.argv[2:] or ["/usr/share/datasets/fashion-mnist"])[0], 64


def read(name):
    path = pathlib.Path(data) / name
    content = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(f"{name}.gz").read_bytes())
    axes = content[3]
    return numpy.frombuffer(content, "u1", offset=4 + 4 * axes).reshape(struct.unpack(f">{axes}i", content[4 : 4 + 4 * axes]))


def part(prefix):
    x = torch.from_numpy(read(f"{prefix}-images-idx3-ubyte")[:, None].astype("f4") / 255)
    return x, torch.from_numpy(read(f"{prefix}-labels-idx1-ubyte").astype("i8"))


def accuracy():
    with torch.no_grad():
        return 100 * (net(test[0]).argmax(1) == test[1]).double().mean().item()


net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10))
for name, layer in {"conv1": net[0], "conv2": net[3], "fc1": net[7], "fc2": net[9]}.items():
    layer.load_state_dict({key: torch.from_numpy(weights[f"{name}.{key}"]) for key in ("weight", "bias")})
    layer.requires_grad_(name.startswith("fc"))
train, test = part("train"), part("t10k")

optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], 1e-3)
print(f"before: {accuracy():.2f} %")
for begin in range(0, len(train[0]) - batch + 1, batch):
    loss = nn.functional.cross_entropy(net(train[0][begin : begin + batch]), train[1][begin : begin + batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"after:  {accuracy():.2f} %")
