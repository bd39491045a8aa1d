import math

import torch
import torch.nn.functional as F
from torch import nn

from registry import net

GROUPS, LEVELS, BLOCKS = 8, 3, 2


class Time(nn.Module):
    def __init__(self, width):
        super().__init__()
        half = width // 2
        frequencies = 1000 * torch.exp(-math.log(10000) / (half - 1) * torch.arange(half, dtype=torch.float64))
        self.register_buffer("frequencies", frequencies.float(), persistent=False)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, 4 * width)

    def forward(self, t):
        angles = t[:, None] * self.frequencies
        return F.silu(self.fc2(F.silu(self.fc1(torch.cat([angles.sin(), angles.cos()], 1)))))


class Residual(nn.Module):
    def __init__(self, inputs, channels, width):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(GROUPS, inputs), nn.Conv2d(inputs, channels, 3, padding=1)
        self.time = nn.Linear(4 * width, channels)
        self.norm2, self.conv2 = nn.GroupNorm(GROUPS, channels), nn.Conv2d(channels, channels, 3, padding=1)
        self.skip = nn.Conv2d(inputs, channels, 1) if inputs != channels else None

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + (x if self.skip is None else self.skip(x))


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.GroupNorm(GROUPS, width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x).flatten(2).transpose(1, 2)).chunk(3, 2)
        p = torch.softmax(q @ k.transpose(1, 2) * (q.shape[-1] ** -0.5), -1)
        return x + self.out(p @ v).transpose(1, 2).reshape(x.shape)


@net("diffusion_unet")
class DiffusionUNet(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, width = (8, 8) if tiny else (32, 64)
        widths = [width << (level > 0) for level in range(LEVELS)]
        self.time, self.first = Time(width), nn.Conv2d(3, width, 3, padding=1)
        self.down, self.up, kept, inputs = nn.ModuleList(), nn.ModuleList(), [width], width
        for level in range(LEVELS):
            for _ in range(BLOCKS):
                self.down.append(Residual(inputs, widths[level], width))
                inputs = widths[level]
                kept.append(inputs)
            if level < LEVELS - 1:
                kept.append(inputs)
        self.downsample = nn.ModuleList([nn.Conv2d(w, w, 3, 2, 1) for w in widths[:-1]])
        self.middle = nn.ModuleList([Residual(inputs, inputs, width) for _ in range(2)])
        for level in reversed(range(LEVELS)):
            for _ in range(BLOCKS + 1):
                self.up.append(Residual(inputs + kept.pop(), widths[level], width))
                inputs = widths[level]
        self.upsample = nn.ModuleList([nn.Conv2d(w, w, 3, padding=1) for w in widths[1:]])
        self.down_attention = nn.ModuleList([Attention(widths[1]) for _ in range(BLOCKS)])
        self.up_attention = nn.ModuleList([Attention(widths[1]) for _ in range(BLOCKS + 1)])
        self.middle_attention = Attention(widths[-1])
        self.last_norm, self.last = nn.GroupNorm(GROUPS, width), nn.Conv2d(width, 3, 3, padding=1)

    def inputs(self, batch):
        shape = (batch, 3, self.side, self.side)
        return {"x": (shape, 0), "t": ((batch,), 0), "y": (shape, 0)}

    def forward(self, x, t):
        time, h = self.time(t), self.first(x)
        kept = [h]
        for level in range(LEVELS):
            for i in range(BLOCKS):
                h = self.down[level * BLOCKS + i](h, time)
                h = self.down_attention[i](h) if level == 1 else h
                kept.append(h)
            if level < LEVELS - 1:
                h = self.downsample[level](h)
                kept.append(h)
        h = self.middle[1](self.middle_attention(self.middle[0](h, time)), time)
        for level in reversed(range(LEVELS)):
            for i in range(BLOCKS + 1):
                h = self.up[(LEVELS - 1 - level) * (BLOCKS + 1) + i](torch.cat([h, kept.pop()], 1), time)
                h = self.up_attention[i](h) if level == 1 else h
            if level > 0:
                h = self.upsample[level - 1](F.interpolate(h, scale_factor=2, mode="nearest"))
        return self.last(F.silu(self.last_norm(h)))

    def loss(self, x, t, y):
        return F.mse_loss(self(x, t), y)
