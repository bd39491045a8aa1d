#!/usr/bin/env python3
"""Writes small language models with random weights, and what PyTorch makes of a text with them.
usage: tests/text/make_models.py FOLDER
For each family FOLDER/NAME/config.json, model.safetensors and expected.json: tokens [2, T], logits [2, T, words], the
loss of labels (those of -100 do not count), and of each parameter the sum of its gradient and of its squares; "apart":
the same for windows of several documents, which begin at "starts", see themselves alone and count positions from
there. Of the encoders bert and minilm also types and mask [2, T], what is hidden [2, T, width] and pooled [2, width];
minilm has no head, but a tokenizer and what sentence-transformers puts beside it, and expected.json has texts and their
embeddings by numpy. The forms are written here from the papers and the configurations, in double, and share nothing with
the library."""
import json
import math
import os
import struct
import sys

import numpy
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
    "bert": {"architectures": ["BertForPreTraining"], "model_type": "bert", "hidden_size": WIDTH,
             "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": HIDDEN, "vocab_size": WORDS,
             "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
             "position_embedding_type": "absolute", "pad_token_id": 0},
}
FORMS["minilm"] = {**FORMS["bert"], "architectures": ["BertModel"]}


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


def bert(c, w, tokens, types, mask):
    """Hidden states, pooled first tokens and, with a head, logits."""
    def norm(x, name):
        x = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + c["layer_norm_eps"])
        return x * w.take(name + ".weight", WIDTH, mean=1.0) + w.take(name + ".bias", WIDTH)

    def product(x, name, outputs):
        return x @ w.take(name + ".weight", outputs, x.shape[-1]).t() + w.take(name + ".bias", outputs)

    def exact(x):
        return x / 2 * (1 + torch.erf(x / math.sqrt(2)))

    count, length = tokens.shape
    words = w.take("embeddings.word_embeddings.weight", WORDS, WIDTH)
    x = (words[tokens] + w.take("embeddings.position_embeddings.weight", 64, WIDTH)[:length]
         + w.take("embeddings.token_type_embeddings.weight", 2, WIDTH)[types])
    x = norm(x, "embeddings.LayerNorm")
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        q, k, v = (product(x, at + "attention.self." + part, WIDTH).view(count, length, HEADS, -1).transpose(1, 2)
                   for part in ("query", "key", "value"))
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        shares = torch.softmax(scores.masked_fill(mask[:, None, None, :] == 0, -math.inf), -1)
        mixed = (shares @ v).transpose(1, 2).reshape(count, length, WIDTH)
        x = norm(x + product(mixed, at + "attention.output.dense", WIDTH), at + "attention.output.LayerNorm")
        inner = exact(product(x, at + "intermediate.dense", HIDDEN))
        x = norm(x + product(inner, at + "output.dense", WIDTH), at + "output.LayerNorm")
    pooled = torch.tanh(product(x[:, 0], "pooler.dense", WIDTH))
    if c["architectures"] == ["BertModel"]:
        return x, pooled, None
    head = norm(exact(product(x, "cls.predictions.transform.dense", WIDTH)), "cls.predictions.transform.LayerNorm")
    return x, pooled, head @ words.t() + w.take("cls.predictions.bias", WORDS)


# ---- sentences ----

# Pieces of a WordPiece vocabulary: letters, and the same within a word, and some longer ones.
PIECES = (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list("abcdefghijkl") + ["##" + c for c in "abcdefghijkl"]
          + ["abc", "##def", "ab", "bad", "##ed", "hide", "##able"])
TEXTS = ["a bad cab", "Bad CAB", "abcdef", "", "hide fed abide faded", "jib jab xyz ~ a"]


def pieces_of(text):
    """The longest piece first, of words between spaces."""
    ids = []
    for word in text.lower().split():
        at, own = 0, []
        while at < len(word):
            ends = [e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in PIECES]
            if not ends:
                own = [1]
                break
            own.append(PIECES.index(("##" if at else "") + word[at:ends[0]]))
            at = ends[0]
        ids += own
    return ids


def write_sentences(folder, config, weights):
    """What sentence-transformers has beside the weights; returns embeddings: means over the tokens, of length 1."""
    found = []
    for text in TEXTS:
        ids = torch.tensor([[2] + pieces_of(text)[:10] + [3]])
        hidden = bert(config, weights, ids, ids * 0, ids * 0 + 1)[0].detach().numpy()[0]
        mean = hidden.mean(0)
        found.append({"text": text, "ids": ids.tolist()[0], "mean": (mean / numpy.linalg.norm(mean)).tolist(),
                      "cls": hidden[0].tolist()})
    files = {"modules.json": [{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
                              for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"),
                                                                ("2_Normalize", "Normalize")])],
             "sentence_bert_config.json": {"max_seq_length": 12, "do_lower_case": False},
             "1_Pooling/config.json": {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": False,
                                       "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
                                       "pooling_mode_mean_sqrt_len_tokens": False},
             "tokenizer.json": {
                 "version": "1.0", "truncation": None, "padding": None,
                 "added_tokens": [{"id": i, "content": p, "single_word": False, "lstrip": False, "rstrip": False,
                                   "normalized": False, "special": True} for i, p in enumerate(PIECES[:5])],
                 "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                                "strip_accents": None, "lowercase": True},
                 "pre_tokenizer": {"type": "BertPreTokenizer"},
                 "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
                 "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
                 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                           "max_input_chars_per_word": 100, "vocab": {p: i for i, p in enumerate(PIECES)}}}}
    for name, content in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(content, f, indent=1 if "tokenizer" not in name else None)
    return found


def write_encoder(name, config):
    """Files of bert have the name of the whole before all but the head, and norms as of old: gamma and beta."""
    folder = os.path.join(sys.argv[1], name)
    os.makedirs(folder, exist_ok=True)
    weights, tokens = Weights(), torch.randint(5, WORDS, (2, TOKENS))
    types = (torch.arange(TOKENS) >= 5).long().expand(2, TOKENS)
    mask = (torch.arange(TOKENS)[None] < torch.tensor([[TOKENS], [7]])).long()
    hidden, pooled, logits = bert(config, weights, tokens, types, mask)
    expected = {"tokens": tokens.flatten().tolist(), "types": types.flatten().tolist(), "mask": mask.flatten().tolist(),
                "hidden": hidden.flatten().tolist(), "pooled": pooled.flatten().tolist()}
    if logits is not None:
        labels = torch.where((torch.arange(TOKENS) % 3 == 1) & (mask == 1), tokens.flip(1), torch.tensor(-100))
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, WORDS), labels.reshape(-1), ignore_index=-100)
        loss.backward()
        expected.update(labels=labels.flatten().tolist(), logits=logits.flatten().tolist(), loss=float(loss),
                        gradients={n: [float(v.grad.sum()), float((v.grad ** 2).sum())]
                                   for n, v in sorted(weights.items()) if v.grad is not None})
    else:
        expected["sentences"] = write_sentences(folder, config, weights)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f, indent=1)
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as f:
        json.dump(expected, f)
    if name == "bert":
        weights = {("" if n.startswith("cls.") else "bert.")
                   + n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
                   for n, v in weights.items()}
    write_safetensors(os.path.join(folder, "model.safetensors"), weights)


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
        if config["model_type"] == "bert":
            write_encoder(name, config)
            continue
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
