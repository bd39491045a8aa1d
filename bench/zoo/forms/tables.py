import torch
import torch.nn.functional as F
from torch import nn

from registry import net


def stack(inputs, widths, linear_last):
    """Dense layers and ReLUs by turns: 0.weight, 2.weight, .."""
    layers = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*(layers[:-1] if linear_last else layers))


@net("dlrm")
class Dlrm(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.features, self.rows = (4, 20) if tiny else (26, 10000)
        bottom, top = ((16, 12, 8), (16, 12, 8, 1)) if tiny else ((512, 256, 64), (512, 512, 256, 1))
        self.emb = nn.ModuleList([nn.Embedding(self.rows, bottom[-1]) for _ in range(self.features)])
        self.bot = stack(13, bottom, False)
        self.top = stack(bottom[-1] + (self.features + 1) * self.features // 2, top, True)
        pairs = torch.tril_indices(self.features + 1, self.features + 1, -1)
        self.register_buffer("pairs", pairs[0] * (self.features + 1) + pairs[1], persistent=False)

    def inputs(self, batch):
        return {"x": ((batch, 13), 0), "sparse": ((batch, self.features), self.rows), "y": ((batch,), 0)}

    def forward(self, x, sparse):
        x = self.bot(x)
        all = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.emb)], 1)
        products = torch.bmm(all, all.transpose(1, 2)).flatten(1)[:, self.pairs]
        return self.top(torch.cat([x, products], 1)).view(-1)

    def loss(self, x, sparse, y):
        return F.binary_cross_entropy_with_logits(self(x, sparse), y)


@net("tabular")
class Tabular(nn.Module):
    COUNTS = (12, 24, 31, 60, 100, 365, 1000, 5000)

    def __init__(self, tiny):
        super().__init__()
        self.tiny = tiny
        widths = [min((count + 1) // 2, 50) for count in self.COUNTS]
        self.embeds = nn.ModuleList([nn.Embedding(count, width) for count, width in zip(self.COUNTS, widths)])
        self.bn_cont, layers, inputs = nn.BatchNorm1d(16), [], sum(widths) + 16
        for width in (16, 12, 8) if tiny else (1024, 512, 256):
            layers.append(nn.ModuleList([nn.Linear(inputs, width), nn.BatchNorm1d(width)]))
            inputs = width
        self.layers, self.head = nn.ModuleList(layers), nn.Linear(inputs, 10)

    def inputs(self, batch):
        batch = 32 if self.tiny else batch
        return {"x": ((batch, 16), 0), "categories": ((batch, len(self.COUNTS)), self.COUNTS[0]), "y": ((batch,), 10)}

    def forward(self, x, categories):
        parts = [table(categories[:, i]) for i, table in enumerate(self.embeds)]
        x = torch.cat(parts + [self.bn_cont(x)], 1)
        for linear, norm in self.layers:
            x = norm(F.relu(linear(x)))
        return self.head(x)

    def loss(self, x, categories, y):
        return F.cross_entropy(self(x, categories), y)
