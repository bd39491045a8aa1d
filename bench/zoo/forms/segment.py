import torch
import torch.nn.functional as F
from torch import nn

from registry import net


def conv_norm(inputs, outputs, kernel, stride=1, dilation=1):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2 * dilation, dilation, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


def conv_relu(*form):
    return nn.Sequential(*conv_norm(*form), nn.ReLU())


def resize_like(x, like):
    return F.interpolate(x, like.shape[2:], mode="bilinear", align_corners=False)


class Segmenter(nn.Module):
    """`classes` scores for every position of x [N, 3, height, width]."""
    shape, classes = (0, 0), 0

    def inputs(self, batch):
        return {"x": ((batch, 3, *self.shape), 0), "y": ((batch, *self.shape), self.classes)}

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


# ---- U-Net ----

class Twice(nn.Module):
    def __init__(self, inputs, channels, below=0):
        super().__init__()
        self.a, self.b = conv_relu(inputs, channels, 3), conv_relu(channels, channels, 3)
        if below:
            self.up = nn.ConvTranspose2d(below, channels, 2, 2)

    def forward(self, x):
        return self.b(self.a(x))


@net("unet")
class UNet(Segmenter):
    def __init__(self, tiny):
        super().__init__()
        side, width, levels = (32, 4, 4) if tiny else (192, 32, 4)
        self.shape, self.classes = (side, side), 4
        self.down = nn.ModuleList([Twice(width << i - 1 if i else 3, width << i) for i in range(levels)])
        self.bottom = Twice(width << levels - 1, width << levels)
        self.up = nn.ModuleList([Twice(width << i + 1, width << i, width << i + 1) for i in range(levels)])
        self.head = nn.Conv2d(width, self.classes, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            kept.append(level(x))
            x = F.max_pool2d(kept[-1], 2)
        x = self.bottom(x)
        for level, side in zip(reversed(self.up), reversed(kept)):
            x = level(torch.cat([side, level.up(x)], 1))
        return self.head(x)


# ---- DeepLabV3 ----

class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride, dilation):
        super().__init__()
        self.conv1, self.conv2 = conv_relu(inputs, width, 1), conv_relu(width, width, 3, stride, dilation)
        self.conv3, self.down = conv_norm(width, 4 * width, 1), None
        if stride > 1 or inputs != 4 * width:
            self.down = conv_norm(inputs, 4 * width, 1, stride)

    def forward(self, x):
        h = self.conv3(self.conv2(self.conv1(x)))
        return F.relu(h + (x if self.down is None else self.down(x)))


class Pyramid(nn.Module):
    def __init__(self, inputs, width, rate):
        super().__init__()
        self.add_module("0", conv_relu(inputs, width, 1))
        for i in range(1, 4):
            self.add_module(str(i), conv_relu(inputs, width, 3, 1, rate * i))
        self.pool, self.project = conv_relu(inputs, width, 1), conv_relu(5 * width, width, 1)

    def forward(self, x):
        parts = [self.get_submodule(str(i))(x) for i in range(4)]
        pooled = resize_like(self.pool(x.mean((2, 3), keepdim=True)), x)
        return self.project(torch.cat([*parts, pooled], 1))


@net("deeplabv3")
class DeepLabV3(Segmenter):
    def __init__(self, tiny):
        super().__init__()
        side, stem, width, rate, counts = (48, 4, 8, 2, (1, 1, 1, 1)) if tiny else (128, 64, 256, 6, (3, 4, 6, 3))
        self.shape, self.classes = (side, side), 21
        self.stem, self.blocks, inputs = conv_relu(3, stem, 7, 2), nn.ModuleList(), stem
        for stage, count in enumerate(counts):
            for i in range(count):
                stride = 2 if i == 0 and stage in (1, 2) else 1
                self.blocks.append(Bottleneck(inputs, stem << stage, stride, 2 if stage == 3 else 1))
                inputs = 4 * (stem << stage)
        self.aspp, self.conv = Pyramid(inputs, width, rate), conv_relu(width, width, 3)
        self.head = nn.Conv2d(width, self.classes, 1)

    def forward(self, x):
        h = F.max_pool2d(self.stem(x), 3, 2, 1)
        for block in self.blocks:
            h = block(h)
        return resize_like(self.head(self.conv(self.aspp(h))), x)


# ---- feature pyramid ----

class Basic(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1, self.conv2, self.down = conv_relu(inputs, channels, 3, stride), conv_norm(channels, channels, 3), None
        if stride > 1 or inputs != channels:
            self.down = conv_norm(inputs, channels, 1, stride)

    def forward(self, x):
        return F.relu(self.conv2(self.conv1(x)) + (x if self.down is None else self.down(x)))


@net("fpn_segment")
class FeaturePyramid(Segmenter):
    def __init__(self, tiny):
        super().__init__()
        height, width, across, count = (32, 8, 8, 1) if tiny else (192, 64, 128, 2)
        self.shape, self.classes, self.count = (height, 2 * height), 19, count
        self.stem, self.blocks, inputs = conv_relu(3, width, 7, 2), nn.ModuleList(), width
        for stage in range(4):
            for i in range(count):
                self.blocks.append(Basic(inputs, width << stage, 2 if i == 0 and stage > 0 else 1))
                inputs = width << stage
        self.lateral = nn.ModuleList([nn.Conv2d(width << i, across, 1) for i in range(4)])
        self.smooth = nn.ModuleList([conv_relu(across, across, 3) for _ in range(4)])
        self.head = nn.Conv2d(across, self.classes, 1)

    def forward(self, x):
        h, levels = F.max_pool2d(self.stem(x), 3, 2, 1), []
        for i, block in enumerate(self.blocks):
            h = block(h)
            if (i + 1) % self.count == 0:
                levels.append(h)
        above, total = None, None
        for i in (3, 2, 1, 0):
            side = self.lateral[i](levels[i])
            above = side if above is None else side + resize_like(above, side)
            part = resize_like(self.smooth[i](above), levels[0])
            total = part if total is None else total + part
        return resize_like(self.head(total), x)
