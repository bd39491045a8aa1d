import torch
import torch.nn.functional as F
from torch import nn

from registry import net


def conv_norm(inputs, outputs, kernel, stride=1, groups=1):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return conv, nn.BatchNorm2d(outputs)


class Unit(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        half, self.branch1 = outputs // 2, None
        if stride > 1:
            self.branch1 = nn.Sequential(*conv_norm(inputs, inputs, 3, stride, inputs), *conv_norm(inputs, half, 1), nn.ReLU())
        self.branch2 = nn.Sequential(
            *conv_norm(inputs if stride > 1 else half, half, 1), nn.ReLU(), *conv_norm(half, half, 3, stride, half),
            *conv_norm(half, half, 1), nn.ReLU())

    def forward(self, x):
        if self.branch1 is None:
            a, b = x.chunk(2, 1)
        else:
            a, b = self.branch1(x), x
        h = torch.cat([a, self.branch2(b)], 1)
        n, c, height, width = h.shape
        return h.view(n, 2, c // 2, height, width).transpose(1, 2).reshape(n, c, height, width)


@net("shufflenet_v2")
class ShuffleNetV2(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, stem, last, self.classes = (64, 8, 64, 10) if tiny else (128, 24, 1024, 1000)
        counts, widths = ((2, 2, 2), (8, 16, 32)) if tiny else ((4, 8, 4), (116, 232, 464))
        self.stem, self.blocks, inputs = nn.Sequential(*conv_norm(3, stem, 3, 2)), nn.ModuleList(), stem
        for count, width in zip(counts, widths):
            for i in range(count):
                self.blocks.append(Unit(inputs, width, 2 if i == 0 else 1))
                inputs = width
        self.last, self.fc = nn.Sequential(*conv_norm(inputs, last, 1)), nn.Linear(last, self.classes)

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1)
        for block in self.blocks:
            h = block(h)
        return self.fc(F.relu(self.last(h)).mean((2, 3)))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
