import math

import torch
import torch.nn.functional as F
from torch import nn

from registry import net
from text import Part


def plain(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, groups, hidden):
        super().__init__()
        self.heads, self.groups, shared = heads, groups, width // heads * groups
        self.attention_norm, self.ffn_norm = RMSNorm(width), RMSNorm(width)
        self.attention = Part(wq=plain(width, width), wk=plain(width, shared), wv=plain(width, shared), wo=plain(width, width))
        self.feed_forward = Part(w1=plain(width, hidden), w3=plain(width, hidden), w2=plain(hidden, width))

    def turned(self, x, cosine, sine):
        n, h, t, e = x.shape
        real, imaginary = x.reshape(n, h, t, e // 2, 2).unbind(-1)
        return torch.stack([real * cosine - imaginary * sine, real * sine + imaginary * cosine], -1).view(n, h, t, e)

    def repeated(self, x):
        n, g, t, e = x.shape
        return x[:, :, None].expand(n, g, self.heads // g, t, e).reshape(n, self.heads, t, e)

    def forward(self, x, cosine, sine, mask):
        n, t, d = x.shape
        h, own = self.attention_norm(x), self.attention
        q = self.turned(own.wq(h).view(n, t, self.heads, -1).transpose(1, 2), cosine, sine)
        k = self.turned(own.wk(h).view(n, t, self.groups, -1).transpose(1, 2), cosine, sine)
        k, v = self.repeated(k), self.repeated(own.wv(h).view(n, t, self.groups, -1).transpose(1, 2))
        p = torch.softmax(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5) + mask, -1)
        x = x + own.wo((p @ v).transpose(1, 2).reshape(n, t, d))
        h, own = self.ffn_norm(x), self.feed_forward
        return x + own.w2(F.silu(own.w1(h)) * own.w3(h))


@net("llama")
class Llama(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.tokens, self.words, width = (8, 64, 32) if tiny else (256, 16000, 512)
        heads, groups, hidden, layers = (4, 2, 40, 2) if tiny else (8, 2, 1376, 6)
        self.tok_embeddings, self.norm, self.output = nn.Embedding(self.words, width), RMSNorm(width), plain(width, self.words)
        self.layers = nn.ModuleList([LlamaBlock(width, heads, groups, hidden) for _ in range(layers)])
        half = width // heads // 2
        angles = torch.arange(self.tokens)[:, None] * torch.exp(-math.log(10000) / half * torch.arange(half))
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        self.register_buffer("mask", torch.full((self.tokens, self.tokens), float("-inf")).triu(1), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0.0, 0.02)

    def inputs(self, batch):
        return {"x": ((batch, self.tokens), self.words), "y": ((batch * self.tokens,), self.words)}

    def forward(self, x):
        h = self.tok_embeddings(x)
        for layer in self.layers:
            h = layer(h, self.cosine, self.sine, self.mask)
        return self.output(self.norm(h)).view(-1, self.words)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
