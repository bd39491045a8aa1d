import torch
import torch.nn.functional as F
from torch import nn

from registry import net
from text import Part


# ---- Deep Speech 2 ----

class BothWays(nn.Module):
    def __init__(self, inputs, hidden, normalized):
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs) if normalized else None
        self.rnn = nn.GRU(inputs, hidden, bidirectional=True)

    def forward(self, x):
        t, n, width = x.shape
        if self.norm is not None:
            x = self.norm(x.reshape(t * n, width)).view(t, n, width)
        return self.rnn(x)[0].view(t, n, 2, -1).sum(2)


@net("deepspeech")
class DeepSpeech(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.bands, self.samples, width, hidden, layers = (21, 16, 4, 8, 2) if tiny else (161, 200, 32, 256, 3)
        # PyTorch 1.13 writes beyond its memory for four channels and kernels of 41 x 11
        a, b = ((11, 5), (7, 5)) if tiny else ((41, 11), (21, 11))
        self.conv1 = nn.Conv2d(1, width, a, (2, 2), (a[0] // 2, a[1] // 2), bias=False)
        self.conv2 = nn.Conv2d(width, width, b, (2, 1), (b[0] // 2, b[1] // 2), bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        height = ((self.bands - 1) // 2) // 2 + 1
        self.rnns = nn.ModuleList([BothWays(hidden if i > 0 else width * height, hidden, i > 0) for i in range(layers)])
        self.norm, self.fc = nn.BatchNorm1d(hidden), nn.Linear(hidden, 29)

    def inputs(self, batch):
        return {"x": ((batch, 1, self.bands, self.samples), 0), "y": (((self.samples + 1) // 2 * batch,), 29)}

    def forward(self, x):
        x = F.hardtanh(self.bn1(self.conv1(x)), 0, 20)
        x = F.hardtanh(self.bn2(self.conv2(x)), 0, 20)
        x = x.flatten(1, 2).permute(2, 0, 1)
        for rnn in self.rnns:
            x = rnn(x)
        return self.fc(self.norm(x.reshape(-1, x.shape[2])))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


# ---- Conformer ----

class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.fc1, self.fc2 = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + 0.5 * self.fc2(F.silu(self.fc1(self.norm(x))))


class ConformerBlock(nn.Module):
    def __init__(self, width, heads, kernel):
        super().__init__()
        self.ffn1, self.ffn2, self.attn_norm = FeedForward(width), FeedForward(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.conv = Part(norm=nn.LayerNorm(width), pointwise1=nn.Conv1d(width, 2 * width, 1),
                         depthwise=nn.Conv1d(width, width, kernel, 1, kernel // 2, groups=width, bias=False),
                         bn=nn.BatchNorm1d(width), pointwise2=nn.Conv1d(width, width, 1))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = self.ffn1(x)
        h = self.attn_norm(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        conv = self.conv
        h = F.glu(conv.pointwise1(conv.norm(x).transpose(1, 2)), 1)
        h = conv.pointwise2(F.silu(conv.bn(conv.depthwise(h))))
        return self.norm(self.ffn2(x + h.transpose(1, 2)))


@net("conformer")
class Conformer(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.samples, self.bands, width, heads, kernel = (20, 16, 16, 2, 5) if tiny else (400, 80, 144, 4, 31)
        layers, self.classes = (2, 10) if tiny else (4, 256)
        self.subsample1, self.subsample2 = nn.Conv2d(1, width, 3, 2), nn.Conv2d(width, width, 3, 2)
        self.project = nn.Linear(width * self.quarter(self.bands), width)
        self.layers = nn.ModuleList([ConformerBlock(width, heads, kernel) for _ in range(layers)])
        self.fc = nn.Linear(width, self.classes)

    @staticmethod
    def quarter(extent):
        return ((extent - 1) // 2 - 1) // 2

    def inputs(self, batch):
        return {"x": ((batch, 1, self.samples, self.bands), 0), "y": ((batch * self.quarter(self.samples),), self.classes)}

    def forward(self, x):
        x = F.relu(self.subsample2(F.relu(self.subsample1(x))))
        x = self.project(x.transpose(1, 2).flatten(2))
        for layer in self.layers:
            x = layer(x)
        return self.fc(x).view(-1, self.classes)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
