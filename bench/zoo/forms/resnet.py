import torch.nn.functional as F
from torch import nn

from registry import net


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.down = None
        if stride > 1 or inputs != 4 * width:
            self.down = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        return F.relu(self.bn3(self.conv3(h)) + (x if self.down is None else self.down(x)))


@net("resnet50")
class ResNet50(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, self.classes, stem = (32, 10, 8) if tiny else (128, 1000, 64)
        self.conv1, self.bn1 = nn.Conv2d(3, stem, 7, 2, 3, bias=False), nn.BatchNorm2d(stem)
        layers, inputs = [], stem
        for stage, count in enumerate((1, 2, 1, 1) if tiny else (3, 4, 6, 3)):
            for block in range(count):
                layers.append(Bottleneck(inputs, stem << stage, 2 if stage > 0 and block == 0 else 1))
                inputs = 4 * (stem << stage)
        self.blocks = nn.ModuleList(layers)
        self.fc = nn.Linear(inputs, self.classes)

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for block in self.blocks:
            h = block(h)
        return self.fc(h.mean((2, 3)))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
