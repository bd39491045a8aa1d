import torch
import torch.nn.functional as F
from torch import nn

from registry import net


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.full((width,), 0.1))
        self.conv, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        h = self.norm(self.conv(x).permute(0, 2, 3, 1))
        h = self.fc2(F.gelu(self.fc1(h))) * self.scale
        return x + h.permute(0, 3, 1, 2)


@net("convnext_t")
class ConvNeXtT(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, width, self.classes, depths = (64, 8, 10, (1, 1, 2, 1)) if tiny else (128, 96, 1000, (3, 3, 9, 3))
        self.stem, self.stem_norm = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        self.norms = nn.ModuleList([nn.LayerNorm(width << i) for i in range(3)])
        self.downs = nn.ModuleList([nn.Conv2d(width << i, width << i + 1, 2, 2) for i in range(3)])
        self.stages = nn.ModuleList([nn.ModuleList([Block(width << i) for _ in range(depth)])
                                     for i, depth in enumerate(depths)])
        self.norm, self.head = nn.LayerNorm(width << 3), nn.Linear(width << 3, self.classes)

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    @staticmethod
    def by_channels(norm, x):
        return norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    def forward(self, x):
        h = self.by_channels(self.stem_norm, self.stem(x))
        for i, stage in enumerate(self.stages):
            if i > 0:
                h = self.downs[i - 1](self.by_channels(self.norms[i - 1], h))
            for block in stage:
                h = block(h)
        return self.head(self.norm(h.mean((2, 3))))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
