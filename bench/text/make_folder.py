#!/usr/bin/env python3
"""Writes a folder as Hugging Face gives models out: the form of Llama with random weights, and a tokenizer whose every
number is a letter.
usage: bench/text/make_folder.py 15m|110m|tiny FOLDER [--dtype F32|F16]"""
import argparse
import json
import os
import struct

import numpy

FORMS = {  # width, layers, heads, hidden, words
    "110m": (768, 12, 12, 2048, 32000),
    "15m": (288, 6, 6, 768, 32000),
    "tiny": (32, 2, 4, 64, 300),
}


def config(form):
    width, layers, heads, hidden, words = FORMS[form]
    return {"model_type": "llama", "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": heads, "intermediate_size": hidden, "vocab_size": words,
            "max_position_embeddings": 1024, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
            "tie_word_embeddings": True}


def shapes(c):
    width, hidden = c["hidden_size"], c["intermediate_size"]
    yield "model.embed_tokens.weight", (c["vocab_size"], width)
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        for name in "qkvo":
            yield f"{at}self_attn.{name}_proj.weight", (width, width)
        yield at + "mlp.gate_proj.weight", (hidden, width)
        yield at + "mlp.up_proj.weight", (hidden, width)
        yield at + "mlp.down_proj.weight", (width, hidden)
        yield at + "input_layernorm.weight", (width,)
        yield at + "post_attention_layernorm.weight", (width,)
    yield "model.norm.weight", (width,)


def write_weights(path, c, dtype):
    random, kind = numpy.random.default_rng(1), {"F32": numpy.float32, "F16": numpy.float16}[dtype]
    header, at = {}, 0
    for name, shape in shapes(c):
        size = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape in shapes(c):
            values = numpy.ones(shape) if len(shape) == 1 else random.standard_normal(shape, numpy.float32) * 0.02
            file.write(values.astype(kind).tobytes())


def tokenizer(words):
    """Bytes as GPT-2 spells them, and behind them letters of a script that no text here has."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spelled = {b: chr(b) for b in plain}
    spelled.update({b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in spelled)})
    vocabulary = {spelled[b]: b for b in range(256)}
    vocabulary.update({spelled[i % 256] + spelled[i // 256]: i for i in range(256, words)})
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "vocab": vocabulary, "merges": []}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("folder")
    parser.add_argument("--dtype", choices=["F32", "F16"], default="F32")
    o = parser.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    c = config(o.form)
    with open(os.path.join(o.folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(c, file, indent=1)
    with open(os.path.join(o.folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(tokenizer(c["vocab_size"]), file)
    write_weights(os.path.join(o.folder, "model.safetensors"), c, o.dtype)


if __name__ == "__main__":
    main()
