"""The networks of W7 to W14 in PyTorch, with the parameter names that nets_*.c give them."""
import math

import numpy
import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 10


# ---- GPT-2 ----

class Attention(nn.Module):
    def __init__(self, width, heads, tokens):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("mask", torch.full((tokens, tokens), float("-inf")).triu(1), persistent=False)

    def heads_of(self, x):
        n, t, _ = x.shape
        return self.c_attn(x).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)

    def joined(self, p, v):
        n, _, t, _ = p.shape
        return self.c_proj((p @ v).transpose(1, 2).reshape(n, t, -1))

    def forward(self, x):
        q, k, v = self.heads_of(x)
        return self.joined(torch.softmax(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5) + self.mask, -1), v)

    def cached(self, x, keys, values, at: int):
        """One token; keys and values [B, H, T, E] hold those before it."""
        q, k, v = self.heads_of(x)
        keys[:, :, at], values[:, :, at] = k[:, :, 0], v[:, :, 0]
        keys, values = keys[:, :, :at + 1], values[:, :, :at + 1]
        return self.joined(torch.softmax(q @ keys.transpose(-1, -2) * (q.shape[-1] ** -0.5), -1), values)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads, tokens):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Attention(width, heads, tokens)
        self.ln_2, self.mlp = nn.LayerNorm(width), FeedForward(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

    def cached(self, x, keys, values, at: int):
        x = x + self.attn.cached(self.ln_1(x), keys, values, at)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, layers, heads, width, words, positions, tokens):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList([Block(width, heads, tokens) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0.0, 0.02)

    def forward(self, x):
        h = self.wte(x) + self.wpe.weight[:x.shape[1]]
        for block in self.h:
            h = block(h)
        return F.linear(self.ln_f(h), self.wte.weight)

    def token(self, x, caches, at):
        """Logits after one more token x [B]; caches: (keys, values) of each layer, and at how many tokens they have."""
        h = (self.wte(x) + self.wpe.weight[at])[:, None]
        for block, (keys, values) in zip(self.h, caches):
            h = block.cached(h, keys, values, at)
        return F.linear(self.ln_f(h[:, 0]), self.wte.weight)

    def loss(self, x, y):
        logits = self(x)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), y)


# ---- the form of Llama ----

class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def plain(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class RotaryAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (plain(width, width) for _ in range(4))

    @staticmethod
    def rotated(x, cosine, sine):
        a, b = x.chunk(2, -1)
        return x * cosine + torch.cat([-b, a], -1) * sine

    def forward(self, x, cosine, sine, mask):
        n, t, d = x.shape
        q, k, v = (w(x).view(n, t, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q, k = self.rotated(q, cosine, sine), self.rotated(k, cosine, sine)
        p = torch.softmax(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5) + mask, -1)
        return self.wo((p @ v).transpose(1, 2).reshape(n, t, d))


class SwiGLU(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = plain(width, hidden), plain(hidden, width), plain(width, hidden)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(width), RotaryAttention(width, heads)
        self.ffn_norm, self.feed_forward = RMSNorm(width), SwiGLU(width, hidden)

    def forward(self, x, *how):
        x = x + self.attention(self.attention_norm(x), *how)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(nn.Module):
    def __init__(self, layers, heads, width, hidden, words, tokens):
        super().__init__()
        self.tok_embeddings, self.norm = nn.Embedding(words, width), RMSNorm(width)
        self.layers = nn.ModuleList([LlamaBlock(width, heads, hidden) for _ in range(layers)])
        half = width // heads // 2
        angles = torch.arange(tokens)[:, None] * torch.exp(-math.log(10000) / half * torch.arange(half))
        angles = torch.cat([angles, angles], 1)
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        self.register_buffer("mask", torch.full((tokens, tokens), float("-inf")).triu(1), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0.0, 0.02)

    def loss(self, x, y):
        h = self.tok_embeddings(x)
        for layer in self.layers:
            h = layer(h, self.cosine, self.sine, self.mask)
        logits = F.linear(self.norm(h), self.tok_embeddings.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), y)


# ---- ResNet-18, MobileNetV2, U-Net ----

def convolution(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)


class Classifier(nn.Module):
    """`features`, then the mean over the positions and a dense layer."""

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = convolution(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.changes = stride > 1 or inputs != outputs
        if self.changes:
            self.conv3, self.bn3 = convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        return F.relu(h + (self.bn3(self.conv3(x)) if self.changes else x), inplace=True)


class ResNet(Classifier):
    def __init__(self, width):
        super().__init__()
        self.conv, self.bn = convolution(3, width, 3), nn.BatchNorm2d(width)
        widths = [width] + [width << i // 2 for i in range(8)]
        self.blocks = nn.ModuleList([BasicBlock(widths[i], widths[i + 1], 2 if i in (2, 4, 6) else 1) for i in range(8)])
        self.fc = nn.Linear(widths[-1], CLASSES)

    def features(self, x):
        x = F.relu(self.bn(self.conv(x)), inplace=True)
        for block in self.blocks:
            x = block(x)
        return x


class InvertedBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = expansion * inputs
        self.expands, self.adds = expansion > 1, stride == 1 and inputs == outputs
        if self.expands:
            self.conv1, self.bn1 = convolution(inputs, wide, 1), nn.BatchNorm2d(wide)
        self.conv2, self.bn2 = convolution(wide, wide, 3, stride, wide), nn.BatchNorm2d(wide)
        self.conv3, self.bn3 = convolution(wide, outputs, 1), nn.BatchNorm2d(outputs)

    def forward(self, x):
        h = F.relu6(self.bn1(self.conv1(x)), inplace=True) if self.expands else x
        h = self.bn3(self.conv3(F.relu6(self.bn2(self.conv2(h)), inplace=True)))
        return x + h if self.adds else h


class MobileNet(Classifier):
    STAGES = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, width):
        super().__init__()
        self.conv, self.bn = convolution(3, width, 3), nn.BatchNorm2d(width)
        blocks, inputs = [], width
        for expansion, channels, count, stride in self.STAGES:
            for i in range(count):
                outputs = channels * width // 32
                blocks.append(InvertedBlock(inputs, outputs, stride if i == 0 else 1, expansion))
                inputs = outputs
        self.blocks = nn.ModuleList(blocks)
        self.last, self.last_bn = convolution(inputs, 40 * width, 1), nn.BatchNorm2d(40 * width)
        self.fc = nn.Linear(40 * width, CLASSES)

    def features(self, x):
        x = F.relu6(self.bn(self.conv(x)), inplace=True)
        for block in self.blocks:
            x = block(x)
        return F.relu6(self.last_bn(self.last(x)), inplace=True)


class Twice(nn.Module):
    def __init__(self, inputs, outputs, doubles=None):
        super().__init__()
        if doubles is not None:
            self.upward = nn.ConvTranspose2d(doubles, outputs, 2, 2)
        self.conv1, self.bn1 = convolution(inputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = convolution(outputs, outputs, 3), nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(x)), inplace=True)


class UNet(nn.Module):
    def __init__(self, width, levels=3):
        super().__init__()
        widths = [width << i for i in range(levels + 1)]
        self.down = nn.ModuleList([Twice(3 if i == 0 else widths[i - 1], widths[i]) for i in range(levels)])
        self.bottom = Twice(widths[-2], widths[-1])
        self.up = nn.ModuleList([Twice(2 * widths[i], widths[i], widths[i + 1]) for i in range(levels)])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        kept = []
        for part in self.down:
            kept.append(part(x))
            x = F.max_pool2d(kept[-1], 2)
        x = self.bottom(x)
        for part, before in zip(reversed(self.up), reversed(kept)):
            x = part(torch.cat([before, part.upward(x)], 1))
        return self.head(x)

    def loss(self, x, y):
        return F.binary_cross_entropy_with_logits(self(x), y)


# ---- LSTM ----

class Recurrent(nn.Module):
    def __init__(self, layers, hidden, inputs):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(inputs, hidden, layers, batch_first=True), nn.Linear(hidden, CLASSES)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


# ---- Whisper's encoder ----

class FullAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        n, t, d = x.shape
        q = self.query(x).view(n, t, self.heads, -1).transpose(1, 2)
        k = self.key(x).view(n, t, self.heads, -1).permute(0, 2, 3, 1)
        v = self.value(x).view(n, t, self.heads, -1).transpose(1, 2)
        p = torch.softmax(q @ k * (q.shape[-1] ** -0.5), -1)
        return self.out((p @ v).transpose(1, 2).reshape(n, t, d))


class EncoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attn_ln, self.attn = nn.LayerNorm(width), FullAttention(width, heads)
        self.mlp_ln = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.attn_ln(x))
        return x + self.mlp(self.mlp_ln(x))


class Whisper(nn.Module):
    def __init__(self, layers, heads, width, positions):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(80, width, 3, 1, 1), nn.Conv1d(width, width, 3, 2, 1)
        half = width // 2
        angles = torch.arange(positions)[:, None] * torch.exp(-math.log(10000) / (half - 1) * torch.arange(half))
        self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1), persistent=False)
        self.blocks = nn.ModuleList([EncoderBlock(width, heads) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(width)

    def forward(self, x):
        x = F.gelu(self.conv2(F.gelu(self.conv1(x)))).transpose(1, 2) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


# ---- the workloads, with the shapes of x and y; integers are below `below` ----

def gpt(tiny):
    layers, heads, width, words, positions, batch, tokens = (2, 2, 32, 64, 16, 2, 8) if tiny else (12, 12, 768, 50257, 1024, 4, 64)
    return GPT(layers, heads, width, words, positions, tokens), (batch, tokens), (batch * tokens,), words


def llama(tiny):
    layers, heads, width, hidden, words, batch, tokens = (2, 2, 16, 40, 64, 2, 8) if tiny else (6, 6, 288, 768, 32000, 4, 256)
    return Llama(layers, heads, width, hidden, words, tokens), (batch, tokens), (batch * tokens,), words


def resnet(tiny):
    batch, side, width = (4, 16, 8) if tiny else (32, 32, 64)
    return ResNet(width), (batch, 3, side, side), (batch,), CLASSES


def mobilenet(tiny):
    batch, side, width = (4, 16, 8) if tiny else (32, 32, 32)
    return MobileNet(width), (batch, 3, side, side), (batch,), CLASSES


def lstm(tiny):
    layers, hidden, inputs, steps, batch = (2, 16, 8, 6, 4) if tiny else (2, 256, 128, 64, 32)
    return Recurrent(layers, hidden, inputs), (batch, steps, inputs), (batch,), CLASSES


def unet(tiny):
    batch, side, width = (1, 16, 8) if tiny else (2, 128, 64)
    return UNet(width), (batch, 3, side, side), (batch, 1, side, side), 0


def whisper(tiny):
    layers, heads, width, positions = (2, 2, 16, 12) if tiny else (4, 6, 384, 1500)
    return Whisper(layers, heads, width, positions), (1, 80, 2 * positions), None, 0


def decoder(tiny):
    layers, heads, width, words, positions, tokens = (2, 2, 32, 64, 16, 8) if tiny else (12, 12, 768, 50257, 1024, 128)
    return GPT(layers, heads, width, words, positions, tokens), (layers, heads, tokens, width // heads)


NETS = {"W7": gpt, "W8": resnet, "W9": mobilenet, "W10": lstm, "W10layer": lstm, "W11": unet, "W12": whisper, "W14": llama}


def optimizer_of(workload, model, foreach):
    if workload in ("W7", "W14"):
        return torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, foreach=foreach)
    if workload in ("W8", "W9"):
        return torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, foreach=foreach)
    return torch.optim.Adam(model.parameters(), lr=1e-3, foreach=foreach)


def uniforms(count):
    """The numbers of bench_uniforms: 24 bits of SplitMix64, from seed 1."""
    z = numpy.uint64(1) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    z ^= z >> numpy.uint64(31)
    return torch.from_numpy((z >> numpy.uint64(40)).astype(numpy.float32) * numpy.float32(2.0**-24))


def drawn(shape, below):
    """Floats in [0, 1), or integers below `below`."""
    values = uniforms(math.prod(shape)).view(shape)
    return (values * below).long() if below else values


def data(workload, tiny):
    """model, x, y (None for inference)"""
    model, x, y, below = NETS[workload](tiny)
    text = workload in ("W7", "W14")
    return model, drawn(x, below if text else 0), None if y is None else drawn(y, below)
