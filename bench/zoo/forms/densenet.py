import torch
import torch.nn.functional as F
from torch import nn

from registry import net


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(4 * growth), nn.Conv2d(4 * growth, growth, 3, 1, 1, bias=False)

    def forward(self, x):
        h = self.conv1(F.relu(self.norm1(x)))
        return torch.cat([x, self.conv2(F.relu(self.norm2(h)))], 1)


class DenseBlock(nn.Module):
    def __init__(self, inputs, growth, count, last):
        super().__init__()
        self.layers = nn.ModuleList([DenseLayer(inputs + i * growth, growth) for i in range(count)])
        self.outputs, self.last = inputs + count * growth, last
        if not last:
            self.norm = nn.BatchNorm2d(self.outputs)
            self.conv = nn.Conv2d(self.outputs, self.outputs // 2, 1, bias=False)
            self.outputs //= 2

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x if self.last else F.avg_pool2d(self.conv(F.relu(self.norm(x))), 2)


@net("densenet121")
class DenseNet121(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, growth, self.classes = (64, 4, 10) if tiny else (128, 32, 1000)
        counts = (2, 2, 1, 1) if tiny else (6, 12, 24, 16)
        self.conv0, self.norm0 = nn.Conv2d(3, 2 * growth, 7, 2, 3, bias=False), nn.BatchNorm2d(2 * growth)
        self.blocks, inputs = nn.ModuleList(), 2 * growth
        for i, count in enumerate(counts):
            self.blocks.append(DenseBlock(inputs, growth, count, i == 3))
            inputs = self.blocks[-1].outputs
        self.norm5, self.classifier = nn.BatchNorm2d(inputs), nn.Linear(inputs, self.classes)

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.norm0(self.conv0(x))), 3, 2, 1)
        for block in self.blocks:
            h = block(h)
        return self.classifier(F.relu(self.norm5(h)).mean((2, 3)))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
