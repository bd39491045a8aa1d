import math

import torch
import torch.nn.functional as F
from torch import nn

from registry import net


def heads_of(x, heads):
    n, t, d = x.shape
    return x.view(n, t, heads, d // heads).transpose(1, 2)


def attention(q, k, v, mask, heads):
    q, k, v = heads_of(q, heads), heads_of(k, heads), heads_of(v, heads)
    p = torch.softmax(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5) + mask, -1)
    n, _, t, _ = p.shape
    return (p @ v).transpose(1, 2).reshape(n, t, -1)


class Part(nn.Module):
    """Named children and nothing else, for the names that BERT's weights have."""

    def __init__(self, /, **children):
        super().__init__()
        for name, child in children.items():
            self.add_module(name, child)


# ---- BERT ----

class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention = Part(self=Part(query=nn.Linear(width, width), key=nn.Linear(width, width), value=nn.Linear(width, width)),
                              output=Part(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width)))
        self.intermediate = Part(dense=nn.Linear(width, 4 * width))
        self.output = Part(dense=nn.Linear(4 * width, width), LayerNorm=nn.LayerNorm(width))

    def forward(self, x, mask):
        own, output = self.attention.self, self.attention.output
        h = attention(own.query(x), own.key(x), own.value(x), mask, self.heads)
        x = output.LayerNorm(output.dense(h) + x)
        h = self.intermediate.dense(x)
        h = h * 0.5 * (1.0 + torch.erf(h / math.sqrt(2.0)))
        return self.output.LayerNorm(self.output.dense(h) + x)


@net("bert")
class Bert(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.tokens, self.words, width, heads, layers = (8, 64, 16, 2, 2) if tiny else (128, 30522, 768, 12, 4)
        self.embeddings = Part(word_embeddings=nn.Embedding(self.words, width),
                               position_embeddings=nn.Embedding(self.tokens, width),
                               token_type_embeddings=nn.Embedding(1, width), LayerNorm=nn.LayerNorm(width))
        self.encoder = Part(layer=nn.ModuleList([BertLayer(width, heads) for _ in range(layers)]))
        self.pooler, self.classifier = Part(dense=nn.Linear(width, width)), nn.Linear(width, 3)

    def inputs(self, batch):
        return {"x": ((batch, self.tokens), self.words), "y": ((batch,), 3)}

    def forward(self, x):
        e = self.embeddings
        h = e.LayerNorm(e.word_embeddings(x) + e.position_embeddings.weight + e.token_type_embeddings.weight)
        mask = (x == 0)[:, None, None].to(h.dtype) * -10000.0
        for layer in self.encoder.layer:
            h = layer(h, mask)
        return self.classifier(torch.tanh(self.pooler.dense(h[:, 0])))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


# ---- GPT ----

class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.ln_1, self.ln_2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Part(c_attn=nn.Linear(width, 3 * width), c_proj=nn.Linear(width, width))
        self.mlp = Part(c_fc=nn.Linear(width, 4 * width), c_proj=nn.Linear(4 * width, width))

    def forward(self, x, mask):
        q, k, v = self.attn.c_attn(self.ln_1(x)).chunk(3, -1)
        x = x + self.attn.c_proj(attention(q, k, v, mask, self.heads))
        return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)), approximate="tanh"))


@net("gpt")
class Gpt(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.tokens, self.words, width, heads, layers = (8, 64, 16, 2, 2) if tiny else (256, 16384, 512, 8, 6)
        self.wte, self.wpe = nn.Embedding(self.words, width), nn.Embedding(self.tokens, width)
        self.h = nn.ModuleList([GptBlock(width, heads) for _ in range(layers)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, self.words, bias=False)
        self.register_buffer("mask", torch.full((self.tokens, self.tokens), float("-inf")).triu(1), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0.0, 0.02)

    def inputs(self, batch):
        return {"x": ((batch, self.tokens), self.words), "y": ((batch * self.tokens,), self.words)}

    def forward(self, x):
        h = self.wte(x) + self.wpe.weight
        for block in self.h:
            h = block(h, self.mask)
        return self.lm_head(self.ln_f(h)).view(-1, self.words)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
