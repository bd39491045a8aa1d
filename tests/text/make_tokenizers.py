#!/usr/bin/env python3
"""Writes small tokenizer.json files of the forms that language models come with, each with a vocabulary of its own.
usage: tests/text/make_tokenizers.py FOLDER [TEXT..]
The vocabularies are learned here from the texts (by default the project's documents), plainly and slowly; how the forms
are put together follows the files of GPT-2, RoBERTa, Llama 2 and 3, Qwen2, Gemma, BERT and T5."""
import base64
import collections
import glob
import json
import math
import os
import re
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = CL100K.replace("{1,3}", "")
MARK = "\u2581"
OTHERS = ("Grüße, être, naïve café; Привет мир, как дела? 東京は日本の首都です。 مرحبا بالعالم ไทย हिन्दी 한국어 "
          "ﬁne ½ ² ① Ⅳ 😀 👩‍👩‍👧 e\u0301 \u0130 ſ ") * 8


def printable():
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    spelled, n = {}, 0
    for byte in range(256):
        spelled[byte] = chr(byte) if byte in keep else chr(256 + n)
        n += byte not in keep
    return spelled


SPELLED = printable()


def spell(text):
    return "".join(SPELLED[b] for b in text.encode())


def learn(words, count):
    """Merges of the commonest pairs; words: {tuple of symbols: how often}."""
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, often in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += often
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        made = {}
        for word, often in words.items():
            out, i = [], 0
            while i < len(word):
                if i + 1 < len(word) and (word[i], word[i + 1]) == best:
                    out.append(word[i] + word[i + 1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            made[tuple(out)] = made.get(tuple(out), 0) + often
        words = made
    return merges


def added(content, number, **more):
    row = {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False, "special": True}
    return {**row, **more}


def file_of(model, tokens=(), normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(tokens),
            "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": post_processor,
            "decoder": decoder, "model": model}


def template(before, after):
    parts = [{"SpecialToken": {"id": t, "type_id": 0}} for t, _ in before]
    parts += [{"Sequence": {"id": "A", "type_id": 0}}]
    parts += [{"SpecialToken": {"id": t, "type_id": 0}} for t, _ in after]
    return {"type": "TemplateProcessing", "single": parts,
            "pair": parts + [{"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {t: {"id": t, "ids": [n], "tokens": [t]} for t, n in list(before) + list(after)}}


def bpe(vocabulary, merges, **more):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary,
            "merges": [" ".join(m) for m in merges], **more}


def byte_level_forms(text):
    words = collections.Counter(re.findall(r"'s|'t| ?\w+| ?[^\s\w]+|\s+", text))
    merges = learn({tuple(spell(w)): n for w, n in words.items()}, 700)
    vocabulary = {}
    for piece in [SPELLED[b] for b in range(256)] + ["".join(m) for m in merges]:
        vocabulary.setdefault(piece, len(vocabulary))
    n = len(vocabulary)
    bytes_of = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    no_regex = {**bytes_of, "use_regex": False}
    with_end = {**vocabulary, "<|endoftext|>": n}
    yield "gpt2", file_of(bpe(with_end, merges), [added("<|endoftext|>", n, normalized=True)], None, bytes_of,
                          {**bytes_of, "trim_offsets": False}, bytes_of)
    special = {**vocabulary, "<s>": n, "</s>": n + 1, "<mask>": n + 2}
    yield "roberta", file_of(bpe(special, merges),
                             [added("<s>", n), added("</s>", n + 1), added("<mask>", n + 2, lstrip=True)], None,
                             {**bytes_of, "add_prefix_space": True},
                             {"type": "RobertaProcessing", "sep": ["</s>", n + 1], "cls": ["<s>", n],
                              "trim_offsets": True, "add_prefix_space": True}, bytes_of)

    def cut(pattern):
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        return {"type": "Sequence", "pretokenizers": [split, no_regex]}

    begin = ("<|begin_of_text|>", n)
    yield "llama3", file_of(bpe(vocabulary, merges, ignore_merges=True),
                            [added(*begin), added("<|end_of_text|>", n + 1), added("<|eot_id|>", n + 2)], None,
                            cut(CL100K),
                            {"type": "Sequence", "processors": [{**bytes_of, "trim_offsets": True,
                                                                 "add_prefix_space": True}, template([begin], [])]},
                            {**bytes_of, "add_prefix_space": True})
    yield "qwen2", file_of(bpe(vocabulary, merges), [added("<|im_start|>", n), added("<|im_end|>", n + 1),
                                                     added("<tool_call>", n + 2, special=False)],
                           {"type": "NFC"}, cut(QWEN2), {**bytes_of, "trim_offsets": False}, bytes_of)
    yield "other_pattern", file_of(bpe(vocabulary, merges), [], None,
                                   cut(r"\p{Lu}?\p{Ll}+|\p{N}|[^\p{L}\p{N}]+|\p{L}"), None, bytes_of)


def charsmap(table):
    """SentencePiece's table of what texts become: a double array, then the texts. A node's children stand in 256 units of
    their own, at base ^ byte; base ^ 0 has the value of a text that ends there, and these stand behind all of them."""
    values = {key.encode(): value for key, value in table.items()}
    inner = sorted({key[:end] for key in values for end in range(len(key))}, key=lambda p: (len(p), p))
    bases = {prefix: 256 * (i + 1) for i, prefix in enumerate(inner)}
    last, units, texts = 256 * (len(inner) + 1), {}, b""
    for prefix in inner + sorted(values):
        at = bases[prefix[:-1]] ^ prefix[-1] if prefix else 0
        base = bases.get(prefix, last)
        units[at] = (at ^ base) << 10 | (prefix in values) << 8 | (prefix[-1] if prefix else 0)
        if prefix in values:
            units[base] = 1 << 31 | len(texts)
            texts += values[prefix].encode() + b"\0"
            last += base == last
    array = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(-(-last // 256) * 256))
    return struct.pack("<I", len(array)) + array + texts


# A few of what nmt_nfkc has, and all white space.
TABLE = {"\ufb01": "fi", "\u00bd": "1/2", "\u00c5": "A", "\u2460": "1",
         **{c: " " for c in "\t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
            "\u2028\u2029\u202f\u205f\u3000"}}


def with_table(t5):
    """As T5's own file is."""
    data = base64.b64encode(charsmap(TABLE)).decode()
    return {**t5, "normalizer": {"type": "Precompiled", "precompiled_charsmap": data}}


def marked_forms(text):
    words = collections.Counter(MARK + w for w in text.split())
    words.update(w for w in OTHERS.split())
    merges = [m for m in learn({tuple(w): n for w, n in words.items()}, 600)]
    chars = sorted({c for w in words for c in w})
    specials = ["<unk>", "<s>", "</s>"]
    vocabulary = {}
    for piece in specials + [f"<0x{b:02X}>" for b in range(256)] + chars[::2] + [MARK]:
        vocabulary.setdefault(piece, len(vocabulary))
    merges = [m for m in merges if all(c in vocabulary for c in m[0] + m[1])]
    for m in merges:
        vocabulary.setdefault("".join(m), len(vocabulary))
    tokens = [added(s, i) for i, s in enumerate(specials)]
    to_mark = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    back = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    yield "llama2", file_of(bpe(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True), tokens,
                            {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, to_mark]}, None,
                            template([("<s>", 1)], []),
                            {"type": "Sequence", "decoders": back + [{"type": "Strip", "content": " ", "start": 1,
                                                                      "stop": 0}]})
    yield "gemma", file_of(bpe(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                           tokens + [added("\n\n", len(vocabulary), special=False)], to_mark,
                           {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious",
                            "invert": False}, template([("<s>", 1)], []), {"type": "Sequence", "decoders": back})
    scored = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]]
    scored += [[p, -3.0 - math.log(2 + i)] for i, p in enumerate(dict.fromkeys(
        ["".join(m) for m in merges] + chars[::2] + [MARK]))]
    marks = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True}
    t5 = file_of({"type": "Unigram", "unk_id": 2, "vocab": scored, "byte_fallback": False},
                 [added("<pad>", 0), added("</s>", 1), added("<unk>", 2)], {"type": "NFKC"},
                 {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, marks]},
                 template([], [("</s>", 1)]), marks)
    yield "t5", t5
    yield "t5_table", with_table(t5)


def word_piece(text):
    words = collections.Counter(re.findall(r"\w+|[^\w\s]", text.lower()))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += sorted({c for w in words for c in w}) + sorted({"##" + c for w in words for c in w[1:]})
    parts = collections.Counter()
    for word, often in words.items():
        for a in range(len(word)):
            for b in range(a + 2, min(len(word), a + 6) + 1):
                parts[("" if a == 0 else "##") + word[a:b]] += often
    pieces += [p for p, _ in parts.most_common(600)]
    vocabulary = {p: i for i, p in enumerate(dict.fromkeys(pieces))}
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 20, "vocab": vocabulary}
    yield "bert", file_of(model, [added(p, i) for i, p in enumerate(pieces[:5])],
                          {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": None, "lowercase": True}, {"type": "BertPreTokenizer"},
                          template([("[CLS]", 2)], [("[SEP]", 3)]),
                          {"type": "WordPiece", "prefix": "##", "cleanup": True})


def main():
    out, texts = sys.argv[1], sys.argv[2:] or sorted(glob.glob(os.path.join(ROOT, "docs", "t*.md")))
    text = OTHERS
    for name in texts:
        with open(name, encoding="utf-8") as f:
            text += f.read()[:20000]
    os.makedirs(out, exist_ok=True)
    for forms in (byte_level_forms(text), marked_forms(text), word_piece(text)):
        for name, content in forms:
            with open(os.path.join(out, name + ".json"), "w", encoding="utf-8") as f:
                json.dump(content, f, ensure_ascii=False)


if __name__ == "__main__":
    main()
