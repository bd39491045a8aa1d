#!/usr/bin/env python3
"""Writes small language models with random weights, and what PyTorch makes of a text with them.
usage: tests/text/make_models.py FOLDER
For each family FOLDER/NAME/config.json, model.safetensors and expected.json: tokens [2, T], logits [2, T, words], the
loss of labels (those of -100 do not count), and of each parameter the sum of its gradient and of its squares; "apart":
the same for windows of several documents, which begin at "starts", see themselves alone and count positions from
there. The forms are written here from the papers and the configurations, in double, and share nothing with the library."""
import json
import math
import os
import struct
import sys

import torch

torch.manual_seed(5)
WORDS, WIDTH, LAYERS, HEADS, GROUPS, HIDDEN, TOKENS = 40, 16, 2, 4, 2, 24, 11
LLAMA = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": GROUPS,
         "intermediate_size": HIDDEN, "vocab_size": WORDS, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
         "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False}
FORMS = {
    "gpt2": {"model_type": "gpt2", "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "vocab_size": WORDS,
             "n_positions": 64, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"},
    "llama": {**LLAMA, "model_type": "llama",
              "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                               "original_max_position_embeddings": 16}},
    "mistral": {**LLAMA, "model_type": "mistral", "sliding_window": 4},
    "qwen2": {**LLAMA, "model_type": "qwen2", "tie_word_embeddings": True, "use_sliding_window": False,
              "sliding_window": 4},
    "qwen3": {**LLAMA, "model_type": "qwen3", "head_dim": 8, "rope_theta": 1e6},
    "gemma2": {**LLAMA, "model_type": "gemma2", "head_dim": 8, "tie_word_embeddings": True,
               "hidden_activation": "gelu_pytorch_tanh", "hidden_act": "gelu_pytorch_tanh",
               "attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0, "query_pre_attn_scalar": 12,
               "sliding_window": 4},
}


class Weights(dict):
    """Parameters that are drawn when they are asked for first."""

    def take(self, name, *shape, mean=0.0, spread=0.3):
        if name not in self:
            self[name] = (mean + spread * torch.randn(*shape, dtype=torch.float64)).float().double().requires_grad_()
        return self[name]


def rms(x, weight, eps):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


# Of documents of 4, 1 and 6 tokens, and of one that began before the window, 2, and one of 9.
STARTS = torch.tensor([[0] * 4 + [4] + [5] * 6, [0] * 2 + [2] * 9])
WHOLE = torch.zeros(2, TOKENS, dtype=torch.int64)


def places(starts):
    return torch.arange(TOKENS)[None] - starts


def angles(c, head, starts):
    out = []
    for k in range(head // 2):
        f = c["rope_theta"] ** (-2 * k / head)
        s = c.get("rope_scaling")
        if s:
            turns = s["original_max_position_embeddings"] * f / (2 * math.pi)
            if turns < s["low_freq_factor"]:
                f /= s["factor"]
            elif turns <= s["high_freq_factor"]:
                part = (turns - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
                f = (1 - part) * f / s["factor"] + part * f
        out.append(f)
    return places(starts).double()[:, None, :, None] * torch.tensor(out, dtype=torch.float64)


def turned(x, a):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * a.cos() - second * a.sin(), second * a.cos() + first * a.sin()], -1)


def attention(q, k, v, scale, cap, window, starts):
    s = q @ k.transpose(-1, -2) * scale
    if cap:
        s = cap * torch.tanh(s / cap)
    i = torch.arange(TOKENS)
    allowed = i[None] <= i[:, None]
    if window:
        allowed = allowed & (i[None] > i[:, None] - window)
    allowed = allowed[None] & (i[None, None] >= starts[:, :, None])
    return torch.softmax(s.masked_fill(~allowed[:, None], -math.inf), -1) @ v


def heads(x, count):
    return x.view(2, TOKENS, count, -1).transpose(1, 2)


def gpt2(c, w, tokens, starts):
    def norm(x, name):
        x = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
        return x * w.take(name + ".weight", WIDTH, mean=1.0) + w.take(name + ".bias", WIDTH)

    def product(x, name, outputs):
        return x @ w.take(name + ".weight", x.shape[-1], outputs) + w.take(name + ".bias", outputs)

    x = w.take("wte.weight", WORDS, WIDTH)[tokens] + w.take("wpe.weight", 64, WIDTH)[places(starts)]
    for i in range(LAYERS):
        qkv = product(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn", 3 * WIDTH).split(WIDTH, -1)
        q, k, v = (heads(t, HEADS) for t in qkv)
        mixed = attention(q, k, v, 1 / math.sqrt(WIDTH // HEADS), 0, 0, starts).transpose(1, 2).reshape(2, TOKENS, WIDTH)
        x = x + product(mixed, f"h.{i}.attn.c_proj", WIDTH)
        x = x + product(gelu(product(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc", 4 * WIDTH)), f"h.{i}.mlp.c_proj", WIDTH)
    return norm(x, "ln_f") @ w["wte.weight"].t()


def llama(c, w, tokens, starts):
    family, eps = c["model_type"], c["rms_norm_eps"]
    gemma = family == "gemma2"
    head = c.get("head_dim", WIDTH // HEADS)
    words = w.take("model.embed_tokens.weight", WORDS, WIDTH)

    def norm(x, name):
        weight = w.take(name + ".weight", x.shape[-1], mean=0.0 if gemma else 1.0)
        return rms(x, 1 + weight if gemma else weight, eps)

    def product(x, name, outputs, bias=False):
        y = x @ w.take(name + ".weight", outputs, x.shape[-1]).t()
        return y + w.take(name + ".bias", outputs) if bias else y

    x = words[tokens] * (math.sqrt(WIDTH) if gemma else 1.0)
    a = angles(c, head, starts)
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        h = norm(x, at + "input_layernorm")
        bias = family == "qwen2"
        q = heads(product(h, at + "self_attn.q_proj", HEADS * head, bias), HEADS)
        k = heads(product(h, at + "self_attn.k_proj", GROUPS * head, bias), GROUPS)
        v = heads(product(h, at + "self_attn.v_proj", GROUPS * head, bias), GROUPS)
        if family == "qwen3":
            q, k = norm(q, at + "self_attn.q_norm"), norm(k, at + "self_attn.k_norm")
        q, k = turned(q, a), turned(k, a)
        k, v = (t.repeat_interleave(HEADS // GROUPS, 1) for t in (k, v))
        window = c.get("sliding_window") if c.get("use_sliding_window", True) and not (gemma and i % 2) else 0
        mixed = attention(q, k, v, 1 / math.sqrt(c.get("query_pre_attn_scalar", head)),
                          c.get("attn_logit_softcapping", 0), window, starts)
        y = product(mixed.transpose(1, 2).reshape(2, TOKENS, -1), at + "self_attn.o_proj", WIDTH)
        x = x + (norm(y, at + "post_attention_layernorm") if gemma else y)
        h = norm(x, at + ("pre_feedforward_layernorm" if gemma else "post_attention_layernorm"))
        gate = product(h, at + "mlp.gate_proj", HIDDEN)
        y = product((gelu(gate) if gemma else gate * torch.sigmoid(gate)) * product(h, at + "mlp.up_proj", HIDDEN),
                    at + "mlp.down_proj", WIDTH)
        x = x + (norm(y, at + "post_feedforward_layernorm") if gemma else y)
    x = norm(x, "model.norm")
    logits = x @ (words if c["tie_word_embeddings"] else w.take("lm_head.weight", WORDS, WIDTH)).t()
    cap = c.get("final_logit_softcapping")
    return cap * torch.tanh(logits / cap) if cap else logits


def write_safetensors(path, weights):
    header, data = {}, b""
    for name, value in sorted(weights.items()):
        raw = struct.pack(f"<{value.numel()}f", *value.detach().flatten().tolist())
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def outcome(name, config, weights, tokens, labels, starts):
    for value in weights.values():
        value.grad = None
    logits = (gpt2 if name == "gpt2" else llama)(config, weights, tokens, starts)
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, WORDS), labels.reshape(-1), ignore_index=-100)
    loss.backward()
    gradients = {n: [float(v.grad.sum()), float((v.grad ** 2).sum())] for n, v in sorted(weights.items())}
    return {"labels": labels.flatten().tolist(), "logits": [float(f"{v:.8g}") for v in logits.flatten().tolist()],
            "loss": float(loss), "gradients": gradients}


def main():
    for name, config in FORMS.items():
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        weights = Weights()
        tokens = torch.randint(0, WORDS, (2, TOKENS))
        labels = torch.cat([tokens[:, 1:], torch.full((2, 1), -100)], 1)
        whole = outcome(name, config, weights, tokens, labels, WHOLE)
        ends = torch.cat([STARTS[:, 1:] != STARTS[:, :-1], torch.zeros(2, 1, dtype=torch.bool)], 1)
        apart = outcome(name, config, weights, tokens, labels.masked_fill(ends, -100), STARTS)
        apart["starts"] = STARTS.flatten().tolist()
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f, indent=1)
        write_safetensors(os.path.join(folder, "model.safetensors"), weights)
        expected = {"tokens": tokens.flatten().tolist(), **whole, "apart": apart}
        with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as f:
            json.dump(expected, f)


if __name__ == "__main__":
    main()
