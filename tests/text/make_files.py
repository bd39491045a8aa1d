#!/usr/bin/env python3
"""Writes networks and vocabularies in the forms that are not folders: GGUF, llama2.c and llm.c.
usage: tests/text/make_files.py FOLDER MODELS VECTORS [networks]
MODELS is what make_models.py wrote, VECTORS what make_tokenizers.py wrote. In FOLDER: NAME.gguf or NAME.bin, and in
expected.json for each the tokens [1, T] and the logits [T, words] that the PyTorch forms of make_models.py give with the
weights as they are stored; NAME.vocabulary.gguf with the vocabulary of VECTORS/NAME, with `networks` beside a network of
one layer, which mw convert makes a folder of. Formats and quantization are written
here from their specifications, with numpy, and share nothing with the library."""
import base64
import json
import math
import os
import struct
import sys

import numpy
import torch

import make_models as forms

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8, "BF16": 30}
PACKED = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", U64: "<Q", U8: "<B"}


# ---- GGUF ----

def text_of(text):
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def value_of(kind, value):
    return text_of(value) if kind == STRING else struct.pack(PACKED[kind], value)


def pair_of(key, kind, value):
    if isinstance(value, list):
        return text_of(key) + struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(value_of(kind, v) for v in value)
    return text_of(key) + struct.pack("<I", kind) + value_of(kind, value)


def half(x):
    return numpy.float32(x).astype("<f2")


def blocks_of(values, kind):
    """Bytes of the elements, and what they stand for."""
    flat = values.astype(numpy.float32).reshape(-1)
    if kind == "F32":
        return flat.tobytes(), flat
    if kind == "F16":
        return flat.astype("<f2").tobytes(), flat.astype("<f2").astype(numpy.float32)
    if kind == "BF16":
        bits = flat.view(numpy.uint32).astype(numpy.uint64)
        top = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype("<u2")
        return top.tobytes(), (top.astype(numpy.uint32) << 16).view(numpy.float32)
    raw, stands = b"", []
    for block in flat.reshape(-1, 32):
        if kind == "Q8_0":
            d = numpy.float32(abs(block).max() / numpy.float32(127))
            scaled = block * (numpy.float32(1) / d if d else numpy.float32(0))
            q = (numpy.sign(scaled) * numpy.floor(abs(scaled) + 0.5)).astype(numpy.int8)
            raw += half(d).tobytes() + q.tobytes()
        else:
            end = block[abs(block).argmax()]
            d = numpy.float32(end / numpy.float32(-8))
            scaled = block * (numpy.float32(1) / d if d else numpy.float32(0)) + numpy.float32(8.5)
            codes = numpy.minimum(15, scaled.astype(numpy.int8)).astype(numpy.uint8)
            raw += half(d).tobytes() + (codes[:16] | codes[16:] << 4).astype(numpy.uint8).tobytes()
            q = codes.astype(numpy.int32) - 8
        stands.append(numpy.float32(half(d)) * q.astype(numpy.float32))
    return raw, numpy.concatenate(stands)


def write_gguf(path, pairs, tensors):
    """tensors: name -> (array, type). Returns what each stands for."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    header += b"".join(pair_of(*pair) for pair in pairs)
    data, stands = b"", {}
    for name, (values, kind) in tensors.items():
        raw, flat = blocks_of(values, kind)
        stands[name] = flat.reshape(values.shape)
        shape = values.shape[::-1]
        header += text_of(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, TYPES[kind], len(data))
        data += raw + b"\0" * (-len(raw) % 32)
    with open(path, "wb") as f:
        f.write(header + b"\0" * (-len(header) % 32) + data)
    return stands


STEMS = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "wte": "token_embd",
    "wpe": "position_embd", "ln_f": "output_norm", "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "ln_1": "attn_norm", "ln_2": "ffn_norm",
    "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
    "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}


def stem_of(name, gemma):
    parts = name.split(".")
    kind = parts[-1]
    body = parts[:-1]
    layer = ""
    if body[:2] == ["model", "layers"]:
        layer, body = f"blk.{body[2]}.", body[3:]
    elif body[:2] == ["encoder", "layer"]:
        layer, body = f"blk.{body[2]}.", body[3:]
    elif body[0] == "h":
        layer, body = f"blk.{body[1]}.", body[2:]
    body = ".".join(body)
    other = {"post_attention_layernorm": "post_attention_norm" if gemma else "ffn_norm",
             "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
    return layer + (other.get(body) or STEMS[body]) + "." + kind


def paired(rows, heads):
    """Rows k and k + half of each head beside each other."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def unpaired(rows, heads):
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def turned(config, name, value, back=False):
    """From a folder's order to that of GGUF, or back."""
    family = config["model_type"]
    if family == "gpt2" and value.ndim == 2 and name.split(".")[0] == "h":
        return value.T
    turn = unpaired if back else paired
    if family in ("llama", "mistral") and ".q_proj." in name:
        return turn(value, config["num_attention_heads"])
    if family in ("llama", "mistral") and ".k_proj." in name:
        return turn(value, config["num_key_value_heads"])
    if family == "gemma2" and value.ndim == 1:
        return value - 1 if back else value + 1
    if family == "gemma2" and ".q_proj." in name:  # GGUF has no scale of its own
        scale = math.sqrt(config["head_dim"] / config["query_pre_attn_scalar"])
        return value / scale if back else value * scale
    return value


def keys_of(config):
    """Metadata as llama.cpp asks for it."""
    family = config["model_type"]
    a = "llama" if family == "mistral" else family
    width = config.get("hidden_size") or config["n_embd"]
    heads = config.get("num_attention_heads") or config["n_head"]
    pairs = [("general.architecture", STRING, a), ("general.name", STRING, "tiny " + family),
             (a + ".context_length", U32, config.get("max_position_embeddings") or config["n_positions"]),
             (a + ".embedding_length", U32, width),
             (a + ".block_count", U32, config.get("num_hidden_layers") or config["n_layer"]),
             (a + ".feed_forward_length", U32, config.get("intermediate_size") or 4 * width),
             (a + ".attention.head_count", U32, heads)]
    if family == "gpt2":
        return pairs + [(a + ".attention.layer_norm_epsilon", F32, config["layer_norm_epsilon"])]
    if family == "bert":
        return pairs + [(a + ".attention.layer_norm_epsilon", F32, config["layer_norm_eps"]),
                        (a + ".attention.causal", BOOL, False), (a + ".pooling_type", U32, 1)]
    pairs += [(a + ".attention.head_count_kv", U32, config["num_key_value_heads"]),
              (a + ".attention.layer_norm_rms_epsilon", F32, config["rms_norm_eps"]),
              (a + ".rope.freq_base", F32, config["rope_theta"])]
    if "head_dim" in config:
        pairs += [(a + ".attention.key_length", U32, config["head_dim"]),
                  (a + ".attention.value_length", U32, config["head_dim"])]
    if family in ("mistral", "gemma2"):
        pairs += [(a + ".attention.sliding_window", U32, config["sliding_window"])]
    if family == "gemma2":
        pairs += [(a + ".attn_logit_softcapping", F32, config["attn_logit_softcapping"]),
                  (a + ".final_logit_softcapping", F32, config["final_logit_softcapping"])]
    return pairs


def rope_factors(config):
    head = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    plain = {k: v for k, v in config.items() if k != "rope_scaling"}
    scaled, usual = forms.angles(config, head, forms.WHOLE)[0, 0, 1], forms.angles(plain, head, forms.WHOLE)[0, 0, 1]
    return (usual / scaled).numpy().astype(numpy.float32)


def logits_of(config, weights, tokens):
    w = forms.Weights()
    for name, value in weights.items():
        w[name] = torch.tensor(numpy.asarray(value, dtype=numpy.float64))
    form = forms.gpt2 if config["model_type"] == "gpt2" else forms.llama
    logits = form(config, w, torch.tensor([tokens, tokens]), forms.WHOLE)[0]
    return [float(f"{v:.8g}") for v in logits.flatten().tolist()]


def put_gguf_model(out, name, config, weights, kind, expected):
    gemma = config["model_type"] == "gemma2"
    tensors = {}
    for key, value in weights.items():
        plain = value.ndim == 1 or kind == "F32"
        tensors[stem_of(key, gemma)] = (turned(config, key, value), "F32" if plain else kind)
    if config.get("rope_scaling"):
        tensors["rope_freqs.weight"] = (rope_factors(config), "F32")
    stands = write_gguf(os.path.join(out, name + ".gguf"), keys_of(config), tensors)
    back = {key: turned(config, key, stands[stem_of(key, gemma)], True) for key in weights}
    tokens = [(7 * i + 3) % forms.WORDS for i in range(forms.TOKENS)]
    expected[name + ".gguf"] = {"tokens": tokens, "logits": logits_of(config, back, tokens)}


# ---- folders ----

def read_folder(path):
    with open(os.path.join(path, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    with open(os.path.join(path, "model.safetensors"), "rb") as f:
        raw = f.read()
    size = struct.unpack("<Q", raw[:8])[0]
    weights = {}
    for name, item in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = item["data_offsets"]
            weights[name] = numpy.frombuffer(raw[8 + size + begin:8 + size + end], "<f4").reshape(item["shape"])
    return config, weights


def made(config):
    """Random weights of a configuration."""
    w = forms.Weights()
    form = forms.gpt2 if config["model_type"] == "gpt2" else forms.llama
    form(config, w, torch.zeros(2, forms.TOKENS, dtype=torch.int64), forms.WHOLE)
    return {name: value.detach().numpy().astype(numpy.float32) for name, value in w.items()}


# ---- llama2.c ----

L2C = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"]
MLP = ["mlp.gate_proj", "mlp.down_proj", "mlp.up_proj"]


def of_layers(config, weights, part):
    names = [f"model.layers.{i}.{part}.weight" for i in range(config["num_hidden_layers"])]
    return [turned(config, n, weights[n]) for n in names]


def groups_of(value, size):
    flat = value.astype(numpy.float32).reshape(-1, size)
    scale = abs(flat).max(1) / numpy.float32(127)
    q = numpy.rint(flat / scale[:, None]).astype(numpy.int8)
    return q.tobytes() + scale.astype("<f4").tobytes(), (q * scale[:, None]).reshape(value.shape)


def put_llama2c(out, name, config, weights, version, expected):
    sizes = [config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"],
             config["num_attention_heads"], config["num_key_value_heads"], config["vocab_size"],
             config["max_position_embeddings"]]
    tied = config["tie_word_embeddings"]
    floats = lambda values: b"".join(v.astype("<f4").tobytes() for v in values)
    words, norm = [weights["model.embed_tokens.weight"]], [weights["model.norm.weight"]]
    head = [] if tied else [weights["lm_head.weight"]]
    norms = [of_layers(config, weights, p) for p in ("input_layernorm", "post_attention_layernorm")]
    used = dict(weights)
    if version == 0:
        sizes[5] *= 1 if tied else -1
        raw = struct.pack("<7i", *sizes) + floats(words + norms[0])
        raw += floats([v for p in L2C for v in of_layers(config, weights, p)] + norms[1])
        raw += floats([v for p in MLP for v in of_layers(config, weights, p)] + norm)
        raw += b"\0" * (4 * sizes[6] * (sizes[0] // sizes[3])) + floats(head)
    else:
        raw = struct.pack("<Ii7iB", 0x616b3432, version, *sizes, tied)
        raw += struct.pack("<i", 16) if version == 2 else b""
        raw += b"\0" * (256 - len(raw)) + floats(norms[0] + norms[1] + norm)
        if version == 1:
            raw += floats(words + [v for p in L2C + MLP for v in of_layers(config, weights, p)] + head)
        else:
            names = ["model.embed_tokens.weight"]
            names += [f"model.layers.{i}.{p}.weight" for p in L2C + MLP for i in range(sizes[2])]
            names += [] if tied else ["lm_head.weight"]
            for key in names:
                part, stands = groups_of(turned(config, key, weights[key]), 16)
                raw += part
                used[key] = turned(config, key, stands, True)
    with open(os.path.join(out, name + ".bin"), "wb") as f:
        f.write(raw)
    tokens = [(5 * i + 1) % forms.WORDS for i in range(forms.TOKENS)]
    expected[name + ".bin"] = {"tokens": tokens, "logits": logits_of(config, used, tokens)}


# ---- llm.c ----

def put_llmc(out, name, config, weights, version, expected):
    width, layers, words = config["n_embd"], config["n_layer"], config["vocab_size"]
    padded = (words + 127) // 128 * 128
    header = [20240326, version, config["n_positions"], words, layers, config["n_head"], width, padded]
    raw = struct.pack("<256i", *header, *[0] * (256 - len(header)))
    order = ["ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight",
             "attn.c_proj.bias", "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight",
             "mlp.c_proj.bias"]
    names = ["wte.weight", "wpe.weight"] + [f"h.{i}.{part}" for part in order for i in range(layers)]
    names += ["ln_f.weight", "ln_f.bias"]
    used = {}
    for key in names:
        value = turned(config, key, weights[key])
        part, stands = blocks_of(value, "F32" if version == 3 else "BF16")
        used[key] = turned(config, key, stands.reshape(value.shape), True)
        raw += part + (b"\0" * (len(part) // words * (padded - words)) if key == "wte.weight" else b"")
    with open(os.path.join(out, name + ".bin"), "wb") as f:
        f.write(raw)
    tokens = [(5 * i + 1) % forms.WORDS for i in range(forms.TOKENS)]
    expected[name + ".bin"] = {"tokens": tokens, "logits": logits_of(config, used, tokens)}


# ---- vocabularies ----

def write_vocabulary(path, pairs):
    if sys.argv[4:] != ["networks"]:
        write_gguf(path, pairs, {})
        return
    words = next(len(value) for key, _, value in pairs if key == "tokenizer.ggml.tokens")
    pairs = [pair for pair in pairs if pair[0] != "general.architecture"]
    pairs += [("general.architecture", STRING, "llama"), ("llama.block_count", U32, 1), ("llama.context_length", U32, 8),
              ("llama.embedding_length", U32, 8), ("llama.feed_forward_length", U32, 8),
              ("llama.attention.head_count", U32, 2), ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5)]
    shapes = {"token_embd": (words, 8), "output_norm": (8,)}
    shapes.update({"blk.0." + part: (8,) if "norm" in part else (8, 8) for part in (
        "attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")})
    write_gguf(path, pairs, {name + ".weight": (numpy.ones(shape), "F32") for name, shape in shapes.items()})


def special_pairs(ids):
    return [("tokenizer.ggml.add_bos_token", BOOL, "bos" in ids),
            *[(f"tokenizer.ggml.{name}_token_id", U32, i) for name, i in ids.items()]]


def put_byte_pairs(out, vectors, name, pre, ids):
    with open(os.path.join(vectors, name + ".json"), encoding="utf-8") as f:
        file = json.load(f)
    by_id = {i: (text, 1) for text, i in file["model"]["vocab"].items()}
    by_id.update({t["id"]: (t["content"], 3 if t["special"] else 4) for t in file["added_tokens"]})
    tokens = [by_id[i] for i in range(len(by_id))]
    merges = [m if isinstance(m, str) else " ".join(m) for m in file["model"]["merges"]]
    pairs = [("general.architecture", STRING, "gpt2"), ("tokenizer.ggml.model", STRING, "gpt2"),
             ("tokenizer.ggml.pre", STRING, pre), ("tokenizer.ggml.tokens", STRING, [t for t, _ in tokens]),
             ("tokenizer.ggml.token_type", I32, [k for _, k in tokens]), ("tokenizer.ggml.merges", STRING, merges)]
    write_vocabulary(os.path.join(out, name + ".vocabulary.gguf"), pairs + special_pairs(ids))


def fields(raw):
    """(number, value) of a protobuf message."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = raw[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(raw):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 5:
            at += 4
            yield key >> 3, struct.unpack("<f", raw[at - 4:at])[0]
        else:
            size = number()
            at += size
            yield key >> 3, raw[at - size:at]


def put_sentencepiece(out, vectors, name):
    with open(os.path.join(vectors, name + ".model"), "rb") as f:
        pieces = [dict(fields(value)) for number, value in fields(f.read()) if number == 1]
    pairs = [("general.architecture", STRING, "llama"), ("tokenizer.ggml.model", STRING, "llama"),
             ("tokenizer.ggml.tokens", STRING, [p[1] for p in pieces]),
             ("tokenizer.ggml.scores", F32, [p.get(2, 0.0) for p in pieces]),
             ("tokenizer.ggml.token_type", I32, [p.get(3, 1) for p in pieces])]
    write_vocabulary(os.path.join(out, name + ".vocabulary.gguf"), pairs + special_pairs({}))


def put_unigram(out, vectors, name):
    """As llama.cpp's converter of T5 has it, with the normalizer of the file."""
    with open(os.path.join(vectors, name + ".model"), "rb") as f:
        parts = list(fields(f.read()))
    pieces = [dict(fields(value)) for number, value in parts if number == 1]
    normal = [dict(fields(value)) for number, value in parts if number == 3][0]
    pairs = [("general.architecture", STRING, "t5"), ("tokenizer.ggml.model", STRING, "t5"),
             ("tokenizer.ggml.pre", STRING, "default"),
             ("tokenizer.ggml.tokens", STRING, [p[1] for p in pieces]),
             ("tokenizer.ggml.scores", F32, [p.get(2, 0.0) for p in pieces]),
             ("tokenizer.ggml.token_type", I32, [p.get(3, 1) for p in pieces]),
             ("tokenizer.ggml.add_space_prefix", BOOL, bool(normal.get(3, 1))),
             ("tokenizer.ggml.remove_extra_whitespaces", BOOL, bool(normal.get(4, 1))),
             ("tokenizer.ggml.add_eos_token", BOOL, False)]
    if normal.get(2):
        pairs.append(("tokenizer.ggml.precompiled_charsmap", U8, list(normal[2])))
    write_vocabulary(os.path.join(out, name + ".vocabulary.gguf"), pairs)


def put_t5(out, vectors, name):
    """As the converter makes it of T5's files: tokenizer.json has the same pieces, scores and table."""
    with open(os.path.join(vectors, name + ".json"), encoding="utf-8") as f:
        file = json.load(f)
    pieces = file["model"]["vocab"]
    kinds = {t["id"]: 3 for t in file["added_tokens"]}
    kinds[file["model"]["unk_id"]] = 2
    pairs = [("general.architecture", STRING, "t5"), ("tokenizer.ggml.model", STRING, "t5"),
             ("tokenizer.ggml.tokens", STRING, [p for p, _ in pieces]),
             ("tokenizer.ggml.scores", F32, [s for _, s in pieces]),
             ("tokenizer.ggml.token_type", I32, [kinds.get(i, 1) for i in range(len(pieces))]),
             ("tokenizer.ggml.add_space_prefix", BOOL, True),
             ("tokenizer.ggml.remove_extra_whitespaces", BOOL, True),
             ("tokenizer.ggml.precompiled_charsmap", U8,
              list(base64.b64decode(file["normalizer"]["precompiled_charsmap"])))]
    write_vocabulary(os.path.join(out, name + ".vocabulary.gguf"), pairs)


def put_word_piece(out, vectors, name):
    """What begins a word has the mark, what does not has lost its "##"."""
    with open(os.path.join(vectors, name + ".json"), encoding="utf-8") as f:
        file = json.load(f)
    tokens = sorted(file["model"]["vocab"], key=file["model"]["vocab"].get)
    special = [t["content"] for t in file["added_tokens"]]

    def marked(text):
        if text.startswith("[") and text.endswith("]"):
            return text
        return text[2:] if text.startswith("##") else "\u2581" + text

    ids = {"unknown": 1, "cls": 2, "bos": 2, "seperator": 3, "padding": 0, "mask": 4}
    pairs = [("general.architecture", STRING, "bert"), ("tokenizer.ggml.model", STRING, "bert"),
             ("tokenizer.ggml.pre", STRING, "jina-v2-en"), ("tokenizer.ggml.token_type_count", U32, 2),
             ("tokenizer.ggml.tokens", STRING, [marked(t) for t in tokens]),
             ("tokenizer.ggml.token_type", I32, [3 if t in special else 1 for t in tokens])]
    write_vocabulary(os.path.join(out, name + ".vocabulary.gguf"), pairs + special_pairs(ids))


def main():
    out, models, vectors = sys.argv[1:4]
    os.makedirs(out, exist_ok=True)
    torch.manual_seed(11)
    expected = {}
    for name in forms.FORMS:
        config, weights = read_folder(os.path.join(models, name))
        if name == "minilm":  # its pooler has no place
            write_gguf(os.path.join(out, "minilm.gguf"), keys_of(config),
                       {stem_of(key, False): (value, "F32") for key, value in weights.items() if "pooler" not in key})
        if config["model_type"] == "bert":
            continue
        put_gguf_model(out, name, config, weights, "F16" if name == "mistral" else "F32", expected)
        if name == "gpt2":
            put_llmc(out, "gpt2_v3", config, weights, 3, expected)
            put_llmc(out, "gpt2_v5", config, weights, 5, expected)
    plain = {**forms.LLAMA, "model_type": "llama"}
    weights = made(plain)
    for version in range(3):
        put_llama2c(out, f"stories_v{version}", plain, weights, version, expected)
    tied = {**plain, "tie_word_embeddings": True}
    put_llama2c(out, "stories_tied", tied, made(tied), 0, expected)
    forms.WIDTH, forms.HIDDEN = 32, 64
    wide = {**plain, "hidden_size": 32, "intermediate_size": 64}
    weights = made(wide)
    for kind in ("BF16", "Q8_0", "Q4_0"):
        put_gguf_model(out, "llama_" + kind.lower(), wide, weights, kind, expected)
    with open(os.path.join(out, "expected.json"), "w", encoding="utf-8") as f:
        json.dump(expected, f)
    put_byte_pairs(out, vectors, "gpt2", "gpt-2", {})
    put_byte_pairs(out, vectors, "qwen2", "qwen2", {})
    put_byte_pairs(out, vectors, "llama3", "llama-bpe", {"bos": 956})
    put_sentencepiece(out, vectors, "spm_bpe")
    put_unigram(out, vectors, "spm_unigram")
    put_t5(out, vectors, "t5_table")
    put_word_piece(out, vectors, "bert")


if __name__ == "__main__":
    main()
