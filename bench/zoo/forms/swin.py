import torch
from torch import nn

from patches import Classifies, Mlp
from registry import net


class WindowAttention(nn.Module):
    def __init__(self, width, window, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.relative_position_bias_table = nn.Parameter(0.02 * torch.randn((2 * window - 1) ** 2, heads))
        places = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", (apart[..., 0] * (2 * window - 1) + apart[..., 1]).view(-1), persistent=False)

    def forward(self, x, mask):
        n, t, d = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.relative_position_bias_table[self.index].view(t, t, -1).permute(2, 0, 1)
        if mask is not None:
            scores = (scores.view(-1, mask.shape[0], self.heads, t, t) + mask[:, None]).view(-1, self.heads, t, t)
        return self.proj((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(n, t, d))


class SwinBlock(nn.Module):
    def __init__(self, width, side, window, heads, shift):
        super().__init__()
        self.side, self.window, self.shift = side, window, shift
        self.norm1, self.attn = nn.LayerNorm(width), WindowAttention(width, window, heads)
        self.norm2, self.mlp = nn.LayerNorm(width), Mlp(width, 4 * width)
        self.register_buffer("mask", self.masked() if shift else None, persistent=False)

    def masked(self):
        stripes, parts = torch.zeros(1, self.side, self.side, 1), (slice(0, -self.window),
                                                                   slice(-self.window, -self.shift), slice(-self.shift, None))
        for i, rows in enumerate(parts):
            for j, columns in enumerate(parts):
                stripes[:, rows, columns] = 3 * i + j
        stripes = self.windows(stripes).squeeze(-1)
        return (stripes[:, None] - stripes[:, :, None] != 0) * -100.0

    def windows(self, x):
        n, w, count = x.shape[0], self.window, self.side // self.window
        return x.view(n, count, w, count, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(n * count ** 2, w * w, -1)

    def joined(self, x, n):
        w, count = self.window, self.side // self.window
        return x.view(n, count, count, w, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(n, self.side, self.side, -1)

    def forward(self, x):
        h = self.norm1(x)
        if self.shift:
            h = torch.roll(h, (-self.shift, -self.shift), (1, 2))
        h = self.joined(self.attn(self.windows(h), self.mask), x.shape[0])
        if self.shift:
            h = torch.roll(h, (self.shift, self.shift), (1, 2))
        x = x + h
        return x + self.mlp(self.norm2(x))


class Merging(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.reduction(self.norm(x))


class Stage(nn.Module):
    def __init__(self, width, side, window, heads, layers, last):
        super().__init__()
        shifts = [window // 2 if i % 2 == 1 and side > window else 0 for i in range(layers)]
        self.blocks = nn.ModuleList([SwinBlock(width, side, window, heads, shift) for shift in shifts])
        self.downsample = None if last else Merging(width)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x if self.downsample is None else self.downsample(x)


class MapEmbed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj, self.norm = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.proj(x).permute(0, 2, 3, 1))


@net("swin")
class Swin(Classifies):
    def __init__(self, tiny):
        super().__init__()
        self.side, width, window, self.classes = (32, 8, 2, 10) if tiny else (224, 96, 7, 1000)
        layers, heads = ((2, 2), (2, 4)) if tiny else ((2, 2, 6, 2), (3, 6, 12, 24))
        self.patch_embed = MapEmbed(width)
        self.layers = nn.ModuleList([Stage(width << i, self.side // 4 >> i, window, heads[i], layers[i], i + 1 == len(layers))
                                     for i in range(len(layers))])
        width <<= len(layers) - 1
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, self.classes)

    def forward(self, x):
        x = self.patch_embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean((1, 2)))
