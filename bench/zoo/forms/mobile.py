import torch.nn.functional as F
from torch import nn

from registry import net


def conv_norm(inputs, outputs, kernel, stride=1, groups=1):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Squeeze(nn.Module):
    def __init__(self, channels, inside, hard):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, inside, 1), nn.Conv2d(inside, channels, 1)
        self.hard = hard

    def forward(self, x):
        s = self.fc1(x.mean((2, 3), keepdim=True))
        if self.hard:
            return x * F.hardsigmoid(self.fc2(F.relu(s)))
        return x * self.fc2(F.silu(s)).sigmoid()


class Inverted(nn.Module):
    def __init__(self, inputs, expanded, outputs, kernel, stride, squeeze, hard, activate):
        super().__init__()
        self.expand = conv_norm(inputs, expanded, 1) if expanded != inputs else None
        self.depthwise = conv_norm(expanded, expanded, kernel, stride, expanded)
        self.squeeze = Squeeze(expanded, squeeze, hard) if squeeze else None
        self.project = conv_norm(expanded, outputs, 1)
        self.hard, self.activate, self.kept = hard, activate, stride == 1 and inputs == outputs

    def forward(self, x):
        h = x if self.expand is None else self.activate(self.expand(x))
        h = self.depthwise(h)
        if self.hard:
            h = self.activate(h if self.squeeze is None else self.squeeze(h))
        else:
            h = self.squeeze(self.activate(h))
        h = self.project(h)
        return x + h if self.kept else h


@net("efficientnet_b0")
class EfficientNetB0(nn.Module):
    STAGES = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
              (6, 320, 1, 1, 3))  # expansion, channels, count, stride, kernel

    def __init__(self, tiny):
        super().__init__()
        self.side, part, self.classes, stages = (64, 4, 10, 5) if tiny else (128, 1, 1000, 7)
        self.stem, self.blocks, inputs = conv_norm(3, 32 // part, 3, 2), nn.ModuleList(), 32 // part
        for expansion, channels, count, stride, kernel in self.STAGES[:stages]:
            for i in range(1 if tiny else count):
                self.blocks.append(Inverted(inputs, inputs * expansion, channels // part, kernel, stride if i == 0 else 1,
                                            inputs // 4, False, F.silu))
                inputs = channels // part
        self.last, self.fc = conv_norm(inputs, 1280 // part, 1), nn.Linear(1280 // part, self.classes)

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    def forward(self, x):
        h = F.silu(self.stem(x))
        for block in self.blocks:
            h = block(h)
        return self.fc(F.silu(self.last(h)).mean((2, 3)))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


@net("mobilenet_v3")
class MobileNetV3(nn.Module):
    BLOCKS = ((16, 16, 3, 1, F.relu, False), (64, 24, 3, 2, F.relu, False), (72, 24, 3, 1, F.relu, False),
              (72, 40, 5, 2, F.relu, True), (120, 40, 5, 1, F.relu, True), (120, 40, 5, 1, F.relu, True),
              (240, 80, 3, 2, F.hardswish, False), (200, 80, 3, 1, F.hardswish, False),
              (184, 80, 3, 1, F.hardswish, False), (184, 80, 3, 1, F.hardswish, False),
              (480, 112, 3, 1, F.hardswish, True), (672, 112, 3, 1, F.hardswish, True),
              (672, 160, 5, 2, F.hardswish, True), (960, 160, 5, 1, F.hardswish, True),
              (960, 160, 5, 1, F.hardswish, True))  # expanded, channels, kernel, stride, activation, squeeze

    def __init__(self, tiny):
        super().__init__()
        self.side, part, self.classes, blocks = (64, 4, 10, 8) if tiny else (128, 1, 1000, 15)
        self.stem, self.blocks, inputs = conv_norm(3, 16 // part, 3, 2), nn.ModuleList(), 16 // part
        for expanded, channels, kernel, stride, activate, squeeze in self.BLOCKS[:blocks]:
            inside = self.by_eights(expanded // part // 4) if squeeze else 0
            self.blocks.append(Inverted(inputs, expanded // part, channels // part, kernel, stride, inside, True, activate))
            inputs = channels // part
        self.last = conv_norm(inputs, 960 // part, 1)
        self.fc1, self.fc2 = nn.Linear(960 // part, 1280 // part), nn.Linear(1280 // part, self.classes)

    @staticmethod
    def by_eights(channels):
        rounded = max(8, (channels + 4) // 8 * 8)
        return rounded + 8 if 10 * rounded < 9 * channels else rounded

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    def forward(self, x):
        h = F.hardswish(self.stem(x))
        for block in self.blocks:
            h = block(h)
        return self.fc2(F.hardswish(self.fc1(F.hardswish(self.last(h)).mean((2, 3)))))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
