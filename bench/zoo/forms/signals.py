import torch.nn.functional as F
from torch import nn
from torch.nn.utils import weight_norm

from registry import net


# ---- electrocardiograms ----

class LeadBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(inputs, outputs, 17, 1, 8, bias=False), nn.BatchNorm1d(outputs)
        self.conv2, self.bn2 = nn.Conv1d(outputs, outputs, 17, 4, 7, bias=False), nn.BatchNorm1d(outputs)
        self.skip = nn.Conv1d(inputs, outputs, 1, bias=False)

    def forward(self, x, added):
        x = self.conv2(F.relu(self.bn1(self.conv1(x)))) + self.skip(F.max_pool1d(added, 4))
        return F.relu(self.bn2(x)), x


@net("ecg")
class Ecg(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.samples, channels = (256, (8, 8, 12)) if tiny else (4096, (64, 128, 196, 256, 320))
        self.conv, self.bn = nn.Conv1d(12, channels[0], 17, 1, 8, bias=False), nn.BatchNorm1d(channels[0])
        self.blocks = nn.ModuleList([LeadBlock(a, b) for a, b in zip(channels, channels[1:])])
        self.fc = nn.Linear(channels[-1] * (self.samples >> 2 * len(self.blocks)), 6)

    def inputs(self, batch):
        return {"x": ((batch, 12, self.samples), 0), "y": ((batch, 6), 0)}

    def forward(self, x):
        x = added = F.relu(self.bn(self.conv(x)))
        for block in self.blocks:
            x, added = block(x, added)
        return self.fc(x.flatten(1))

    def loss(self, x, y):
        return F.binary_cross_entropy_with_logits(self(x), y)


# ---- dilated temporal network ----

class TemporalBlock(nn.Module):
    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.before = 2 * dilation
        self.conv1 = weight_norm(nn.Conv1d(inputs, outputs, 3, dilation=dilation))
        self.conv2 = weight_norm(nn.Conv1d(outputs, outputs, 3, dilation=dilation))
        self.downsample = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x):
        h = F.relu(self.conv1(F.pad(x, (self.before, 0))))
        h = F.relu(self.conv2(F.pad(h, (self.before, 0))))
        return F.relu(h + (x if self.downsample is None else self.downsample(x)))


@net("tcn")
class Tcn(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.keys, self.steps, levels, width = (6, 20, 3, 8) if tiny else (88, 512, 8, 128)
        self.levels = nn.ModuleList([TemporalBlock(width if i > 0 else self.keys, width, 1 << i) for i in range(levels)])
        self.linear = nn.Linear(width, self.keys)

    def inputs(self, batch):
        return {"x": ((batch, self.keys, self.steps), 0), "y": ((batch, self.steps, self.keys), 0)}

    def forward(self, x):
        for level in self.levels:
            x = level(x)
        return self.linear(x.transpose(1, 2))

    def loss(self, x, y):
        return F.binary_cross_entropy_with_logits(self(x), y)


# ---- spectrograms ----

class Separable(nn.Module):
    def __init__(self, width, stride):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False)
        self.pointwise = nn.Conv2d(width, width, 1, bias=False)
        self.depthwise_bn, self.pointwise_bn = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x):
        x = F.relu(self.depthwise_bn(self.depthwise(x)))
        return F.relu(self.pointwise_bn(self.pointwise(x)))


@net("dscnn")
class DsCnn(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.frames, self.bands, width, blocks = (20, 12, 8, 2) if tiny else (98, 44, 276, 5)
        self.conv, self.bn = nn.Conv2d(1, width, (10, 4), 2, (4, 1), bias=False), nn.BatchNorm2d(width)
        self.blocks = nn.ModuleList([Separable(width, 2 if i == 0 else 1) for i in range(blocks)])
        self.pool, self.fc = nn.AvgPool2d((-(-self.frames // 4), -(-self.bands // 4))), nn.Linear(width, 12)

    def inputs(self, batch):
        return {"x": ((batch, 1, self.frames, self.bands), 0), "y": ((batch,), 12)}

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        return self.fc(self.pool(x).flatten(1))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
