#!/usr/bin/env python3
"""The form of make_folder.py in PyTorch: it goes on with a text token by token, reads a prompt, takes a training step.
usage: bench/text/torch_text.py decode|prefill|train FOLDER [--threads N] [--rounds N] [--mode eager|jit]
Prints `torch<TAB>metric<TAB>value`. As bench/torch_bench.py it starts again with the OpenMP build of OpenBLAS."""
import argparse
import json
import math
import os
import statistics
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import torch_bench  # noqa: E402

if os.environ.get("BENCH_TEXT_STARTED") is None and __name__ == "__main__":
    at = sys.argv.index("--threads") + 1 if "--threads" in sys.argv else 0
    environment = torch_bench.environment(int(sys.argv[at]) if at > 0 else 1)
    os.execve(sys.executable, [sys.executable, *sys.argv], {**environment, "BENCH_TEXT_STARTED": "1"})

import numpy  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

CACHE, TOKENS, PROMPT = 1024, 256, 8


def weights_of(folder):
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
    data = numpy.memmap(os.path.join(folder, "model.safetensors"), numpy.uint8, "r", 8 + size)
    kinds = {"F32": numpy.float32, "F16": numpy.float16}
    return {name: torch.from_numpy(data[slice(*t["data_offsets"])].view(kinds[t["dtype"]]).reshape(t["shape"]).copy())
            for name, t in header.items()}


def rms(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


def turned(x, cosine, sine):
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Block(torch.nn.Module):
    def __init__(self, weights, at, heads):
        super().__init__()
        self.heads = heads

        def take(name):
            return torch.nn.Parameter(weights[at + name + ".weight"])
        self.q, self.k, self.v, self.o = (take(f"self_attn.{n}_proj") for n in "qkvo")
        self.gate, self.up, self.down = take("mlp.gate_proj"), take("mlp.up_proj"), take("mlp.down_proj")
        self.before, self.after = take("input_layernorm"), take("post_attention_layernorm")
        width = self.q.shape[0]
        self.register_buffer("keys", torch.zeros(heads, CACHE, width // heads), persistent=False)
        self.register_buffer("values", torch.zeros(heads, CACHE, width // heads), persistent=False)

    def forward(self, x, cosine, sine, mask, at: int, cached: bool):
        t, width = x.shape
        h = rms(x, self.before)
        q = turned(F.linear(h, self.q).view(t, self.heads, -1).transpose(0, 1), cosine, sine)
        k = turned(F.linear(h, self.k).view(t, self.heads, -1).transpose(0, 1), cosine, sine)
        v = F.linear(h, self.v).view(t, self.heads, -1).transpose(0, 1)
        if cached:
            self.keys[:, at:at + t] = k
            self.values[:, at:at + t] = v
            k, v = self.keys[:, :at + t], self.values[:, :at + t]
        scores = q @ k.transpose(-1, -2) * (1.0 / math.sqrt(q.shape[-1]))
        if t > 1:
            scores = scores + mask
        x = x + F.linear((torch.softmax(scores, -1) @ v).transpose(0, 1).reshape(t, width), self.o)
        h = rms(x, self.after)
        return x + F.linear(F.silu(F.linear(h, self.gate)) * F.linear(h, self.up), self.down)


class Net(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            c = json.load(file)
        weights = weights_of(folder)
        heads, head = c["num_attention_heads"], c["hidden_size"] // c["num_attention_heads"]
        self.words = torch.nn.Parameter(weights["model.embed_tokens.weight"])
        self.last = torch.nn.Parameter(weights["model.norm.weight"])
        self.blocks = torch.nn.ModuleList(Block(weights, f"model.layers.{i}.", heads)
                                          for i in range(c["num_hidden_layers"]))
        angles = torch.arange(CACHE)[:, None] * 10000.0 ** (-2.0 * torch.arange(head // 2) / head)
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        self.register_buffer("mask", torch.full((TOKENS, TOKENS), float("-inf")).triu(1), persistent=False)

    def forward(self, tokens, at: int, cached: bool):
        t = tokens.shape[0]
        x = self.words[tokens]
        for block in self.blocks:
            x = block(x, self.cosine[at:at + t], self.sine[at:at + t], self.mask[:t, :t], at, cached)
        if cached:
            x = x[-1:]
        return F.linear(rms(x, self.last), self.words)


def emit(metric, value):
    print(f"torch\t{metric}\t{value:.6g}", flush=True)


def decode(net, rounds):
    """The likeliest token each time, behind a prompt of PROMPT."""
    seconds = []
    with torch.no_grad():
        logits = net(torch.arange(PROMPT), 0, True)
        for i in range(rounds):
            start = time.perf_counter()
            logits = net(logits[-1].argmax().view(1), PROMPT + i, True)
            seconds.append(time.perf_counter() - start)
    emit("token_ms", 1e3 * statistics.median(seconds[rounds // 10:]))
    emit("tokens_per_s", 1 / statistics.median(seconds[rounds // 10:]))


def prefill(net, rounds):
    seconds = []
    with torch.no_grad():
        for _ in range(rounds):
            start = time.perf_counter()
            net(torch.arange(TOKENS), 0, True)
            seconds.append(time.perf_counter() - start)
    emit("prefill_ms", 1e3 * min(seconds))


def train(net, rounds):
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4, weight_decay=0.1, foreach=True)
    tokens, seconds, loss = torch.arange(TOKENS) * 7 % net.words.shape[0], [], None
    for _ in range(rounds):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(tokens, 0, False), tokens.roll(-1))
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    emit("step_ms", 1e3 * min(seconds))
    emit("loss", loss.item())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["decode", "prefill", "train"])
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--mode", choices=["eager", "jit"], default="eager")
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    net = Net(o.folder)
    net = torch.jit.script(net) if o.mode == "jit" else net
    usual = {"decode": 128, "prefill": 5, "train": 3}
    {"decode": decode, "prefill": prefill, "train": train}[o.what](net, o.rounds or usual[o.what])


if __name__ == "__main__":
    main()
