"""Records ten training steps of four networks in PyTorch; tests/autograd/test_nets.c repeats them.

    python3 tests/data/torch/net_losses.py > tests/data/torch/net_losses.txt

Weights and batches come from a hash that the test draws in the same way. The text says for each network

    net NAME
    weight NAME COUNT STREAM SCALE OFFSET       what a parameter starts as
    input NAME KIND COUNT STREAM SCALE OFFSET   a port; f: floats, i: integers below SCALE; step s draws STREAM + s
    losses L0 .. L9
    sum NAME S                                  sum of |p| of a parameter or buffer after the last step
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from hashed import integers, tensor

STEPS = 10


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x, y):
        h = F.max_pool2d(F.relu(self.conv1(x)), 2)
        h = F.max_pool2d(F.relu(self.conv2(h)), 2)
        return F.cross_entropy(self.fc2(F.relu(self.fc1(h.flatten(1)))), y)


class Block(nn.Module):
    """conv - norm - relu - conv - norm, added to its input (through a 1x1 convolution where the shape changes)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(h + (x if self.shortcut is None else self.shortcut(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.block1 = Block(8, 8, 1)
        self.block2 = Block(8, 16, 2)
        self.fc = nn.Linear(16, 10)

    def forward(self, x, y):
        h = self.block2(self.block1(F.relu(self.bn(self.conv(x)))))
        return F.cross_entropy(self.fc(h.mean((2, 3))), y)


class Transformer(nn.Module):
    """One pre-norm block on embedded tokens."""
    tokens, width, heads, vocabulary = 12, 32, 4, 16

    def __init__(self):
        super().__init__()
        d = self.width
        self.embedding = nn.Embedding(self.vocabulary, d)
        self.position = nn.Parameter(torch.zeros(self.tokens, d))
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.fc1, self.fc2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.head = nn.Linear(d, self.vocabulary)

    def attention(self, x):
        n, t, d = x.shape
        q, k, v = (p.reshape(n, t, self.heads, d // self.heads).transpose(1, 2)
                   for p in self.qkv(x).split(d, dim=2))
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        p = scores.masked_fill(~causal, -math.inf).softmax(-1)
        return self.proj((p @ v).transpose(1, 2).reshape(n, t, d))

    def forward(self, x, y):
        h = self.embedding(x) + self.position
        h = h + self.attention(self.norm1(h))
        h = h + self.fc2(F.gelu(self.fc1(self.norm2(h)), approximate="tanh"))
        return F.cross_entropy(self.head(self.norm3(h)).reshape(-1, self.vocabulary), y)


class VAE(nn.Module):
    """Convolutional encoder and decoder of 16 x 16 images, 8 latent numbers; the noise is an input."""

    def __init__(self):
        super().__init__()
        self.enc1 = nn.Conv2d(1, 4, 4, 2, 1)
        self.enc2 = nn.Conv2d(4, 8, 4, 2, 1)
        self.mean = nn.Linear(128, 8)
        self.log_variance = nn.Linear(128, 8)
        self.fc = nn.Linear(8, 128)
        self.dec1 = nn.ConvTranspose2d(8, 4, 4, 2, 1)
        self.dec2 = nn.ConvTranspose2d(4, 1, 4, 2, 1)

    def forward(self, x, noise):
        h = F.relu(self.enc2(F.relu(self.enc1(x)))).flatten(1)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + (0.5 * log_variance).exp() * noise
        logits = self.dec2(F.relu(self.dec1(F.relu(self.fc(z)).reshape(-1, 8, 4, 4))))
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum((1, 2, 3))
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1)
        return (reconstruction + divergence).mean() / 256


def start(name, p, stream):
    """(scale, offset) of a parameter's first values: norms start near 1, biases near 0, weights by their fan-in."""
    if p.dim() == 1:
        return (0.2, 1.0) if name.endswith("weight") else (0.2, 0.0)
    return 2.0 / math.sqrt(p[0].numel()), 0.0


def train(name, net, inputs, optimizer):
    print("net", name)
    for stream, (key, p) in enumerate(net.named_parameters(), 1):
        scale, offset = start(key, p, stream)
        with torch.no_grad():
            p.copy_(tensor(p.shape, stream, scale, offset))
        print("weight", key, p.numel(), stream, repr(scale), repr(offset))
    for port, (kind, shape, stream, scale, offset) in inputs.items():
        print("input", port, kind, math.prod(shape), stream, scale, offset)
    optimizer = optimizer(net.parameters())
    losses = []
    for step in range(STEPS):
        batch = [integers(shape, stream + step, scale) if kind == "i" else tensor(shape, stream + step, scale, offset)
                 for kind, shape, stream, scale, offset in inputs.values()]
        loss = net(*batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("losses", " ".join("%.9g" % v for v in losses))
    for key, p in net.state_dict().items():
        if not key.endswith("num_batches_tracked"):
            print("sum", key, "%.9g" % p.double().abs().sum().item())


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("# torch", torch.__version__)
    train("conv", ConvNet(), {"x": ("f", (16, 1, 12, 12), 1000, 1.0, 0.5), "y": ("i", (16,), 2000, 10, 0)},
          lambda p: torch.optim.Adam(p, lr=1e-3))
    train("resnet", ResNet(), {"x": ("f", (8, 3, 8, 8), 1000, 2.0, 0.0), "y": ("i", (8,), 2000, 10, 0)},
          lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9))
    train("transformer", Transformer(), {"x": ("i", (4, 12), 1000, 16, 0), "y": ("i", (48,), 2000, 16, 0)},
          lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01))
    train("vae", VAE(), {"x": ("f", (16, 1, 16, 16), 1000, 1.0, 0.5), "noise": ("f", (16, 8), 2000, 3.0, 0.0)},
          lambda p: torch.optim.Adam(p, lr=1e-3))
