#!/usr/bin/env python3
"""Writes folders of small language models with random weights and the vocabularies of the tests: what llama_cpp.sh
converts and compares.
usage: tests/text/make_folders.py FOLDER MODELS VECTORS (those of make_models.py and make_tokenizers.py)"""
import json
import os
import shutil
import sys

import torch

import make_models as forms

# Family, vocabulary, and the tokens at the ends of a text.
ROWS = [("gpt2", "gpt2.json", 956, 956), ("llama", "llama3.json", 956, 957), ("qwen2", "qwen2.json", 956, 957),
        ("qwen3", "qwen2.json", 956, 957)]


def main():
    out, models, vectors = sys.argv[1:4]
    torch.manual_seed(3)
    forms.WORDS, forms.WIDTH, forms.HIDDEN, forms.GROUPS = 960, 64, 128, 2
    for family, vocabulary, first, last in ROWS:
        folder = os.path.join(out, family)
        os.makedirs(folder, exist_ok=True)
        config = dict(forms.FORMS[family], vocab_size=960, max_position_embeddings=64, bos_token_id=first,
                      eos_token_id=last)
        config.update({"n_embd": 64} if family == "gpt2" else {"hidden_size": 64, "intermediate_size": 128})
        if family == "qwen3":
            config["head_dim"] = 16
        weights = forms.Weights()
        (forms.gpt2 if family == "gpt2" else forms.llama)(config, weights, torch.zeros(2, forms.TOKENS).long(), forms.WHOLE)
        forms.write_safetensors(os.path.join(folder, "model.safetensors"), weights)
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        shutil.copy(os.path.join(vectors, vocabulary), os.path.join(folder, "tokenizer.json"))


if __name__ == "__main__":
    main()
