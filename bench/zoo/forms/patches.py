import torch
import torch.nn.functional as F
from torch import nn

from registry import net


class Classifies(nn.Module):
    """x [B, 3, S, S] -> one of the classes."""

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch,), self.classes)}

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class PatchEmbed(nn.Module):
    def __init__(self, patch, width):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


# ---- ViT ----

class VitAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        p = torch.softmax(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5), -1)
        return self.proj((p @ v).transpose(1, 2).reshape(n, t, d))


class VitBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width), VitAttention(width, heads)
        self.norm2, self.mlp = nn.LayerNorm(width), Mlp(width, 4 * width)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@net("vit")
class ViT(Classifies):
    def __init__(self, tiny):
        super().__init__()
        self.side, patch, width, layers, heads, self.classes = (16, 4, 16, 2, 2, 10) if tiny else (224, 16, 384, 12, 6, 1000)
        self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, (self.side // patch) ** 2 + 1, width))
        self.patch_embed = PatchEmbed(patch, width)
        self.blocks = nn.ModuleList([VitBlock(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, self.classes)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


# ---- MLP-Mixer ----

class MixerBlock(nn.Module):
    def __init__(self, patches, width, tokens, channels):
        super().__init__()
        self.norm1, self.mlp_tokens = nn.LayerNorm(width), Mlp(patches, tokens)
        self.norm2, self.mlp_channels = nn.LayerNorm(width), Mlp(width, channels)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


@net("mixer")
class Mixer(Classifies):
    def __init__(self, tiny):
        super().__init__()
        self.side, patch, width, layers, self.classes = (16, 4, 16, 2, 10) if tiny else (224, 16, 512, 8, 1000)
        tokens, channels = (8, 32) if tiny else (256, 2048)
        self.stem = PatchEmbed(patch, width)
        patches = (self.side // patch) ** 2
        self.blocks = nn.ModuleList([MixerBlock(patches, width, tokens, channels) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, self.classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))
