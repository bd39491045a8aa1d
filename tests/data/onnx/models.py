"""Models that PyTorch exports, for tests/format/test_onnx_torch.c: python3 tests/data/onnx/models.py writes them as
recording.py says. PyTorch 1.13.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from recording import record


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(12, 16), nn.Linear(16, 5)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Cnn(nn.Module):
    """Exported with its batch norms as nodes."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 6, 3, stride=2), nn.BatchNorm2d(6)
        self.head = nn.Linear(6 * 3 * 3, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.bn2(self.conv2(x)))
        return F.log_softmax(self.head(x.flatten(1)), dim=1)


class Block(nn.Module):
    """Inverted residual with squeeze and excitation (Howard et al. 2019)."""

    def __init__(self, channels, inner):
        super().__init__()
        self.expand, self.bn1 = nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.depth = nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.squeeze, self.excite = nn.Conv2d(inner, 4, 1), nn.Conv2d(4, inner, 1)
        self.project, self.bn3 = nn.Conv2d(inner, channels, 1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        h = F.hardswish(self.bn1(self.expand(x)))
        h = F.hardswish(self.bn2(self.depth(h)))
        h = h * F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(h, 1)))))
        return x + self.bn3(self.project(h))


class Mobile(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(Block(6, 12), Block(6, 12))
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        x = self.blocks(F.relu6(self.stem(x)))
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        h, _ = self.lstm(x)
        h, _ = self.gru(h)
        return self.head(h)


class Attention(nn.Module):
    """Shapes are computed in the graph."""

    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.table = nn.Embedding(11, 8)

    def forward(self, tokens):
        x = self.table(tokens)
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).split(c, dim=2)
        q, k, v = (y.view(n, t, 2, c // 2).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.transpose(-2, -1) / 2.0
        mask = torch.tril(torch.ones(t, t, dtype=torch.bool))
        scores = scores.masked_fill(~mask, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(n, t, c)
        return x + F.gelu(self.out(y))


torch.manual_seed(16)
keep = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
record("mlp", Mlp(), torch.randn(3, 12), 13, dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
record("cnn", Cnn(), torch.randn(2, 1, 14, 14), 11, **keep)
record("mobile", Mobile(), torch.randn(2, 3, 12, 12), 14, dynamic_axes={"x": {0: "batch"}}, **keep)
record("recurrent", Recurrent(), torch.randn(2, 7, 6), 12)
record("attention", Attention(), torch.randint(0, 11, (2, 6)), 14, dynamic_axes={"x": {0: "batch", 1: "time"}})
