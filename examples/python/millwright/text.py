"""Language models: tokenizers, models that write, encoders, and fine-tuning on a text.

    model = mw.text.Model("SmolLM2-135M")
    print(model.generate("Once upon a time", tokens=100, seed=1))
    vectors = mw.text.Model("all-MiniLM-L6-v2").embed(["one text", "another"])
    mw.text.finetune("SmolLM2-135M", "notes.txt", "tuned", lora=8, epochs=3)"""
from __future__ import annotations

import ctypes
import math
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from . import abi
from .arrays import Array, DType
from .graph import Graph
from .kinds import Path
from .library import Callbacks, Error, Handle, Status, checked, fill, library, text_of
from .trainer import Trainer, optim


def _needed():
    library.need("text")


def _path(path):
    return os.fspath(path).encode()


class Tokenizer(Handle):
    """That of a folder or a file: tokenizer.json, tokenizer.model, .."""

    _destroy = "mw_tokenizer_destroy"

    def __init__(self, path: Path) -> None:
        _needed()
        self._adopt(checked("mw_tokenizer_open", _path(path)))

    def __len__(self):
        return library.mw_tokenizer_get_info(self).count

    def encode(self, text: str, **options: Any) -> List[int]:
        """Numbers of the tokens of a text; options are no_special and special_as_text."""
        data, found = text.encode("utf-8", "surrogateescape"), abi.mw_tokens()
        filled = fill(library.mw_encode_defaults(), options, [], "encode")
        checked("mw_tokenizer_encode", self, data, len(data), ctypes.byref(filled), ctypes.byref(found))
        ids = found.ids[: found.count]
        library.mw_tokens_destroy(ctypes.byref(found))
        return ids

    def decode(self, ids: Sequence[int], keep_special: bool = False) -> str:
        """The text of tokens."""
        array = (ctypes.c_int32 * len(ids))(*ids)
        return _taken(checked("mw_tokenizer_decode", self, array, len(ids), keep_special, None))


def _taken(pointer):
    """A string of the library, as one of Python's."""
    text = text_of(ctypes.cast(pointer, ctypes.c_char_p).value)
    library.mw_string_free(pointer)
    return text


class Model(Handle):
    """A folder with config.json, weights and a tokenizer. Options are the fields of mw_compile_options; `cache` is the
    most tokens of a text."""

    _destroy = "mw_text_model_destroy"

    def __init__(self, folder: Path, cache: int = 0, **options: Any) -> None:
        _needed()
        keep: List[Any] = []
        compiled = fill(library.mw_compile_defaults(), options, keep, "a text model")
        filled = library.mw_text_model_defaults()
        filled.compile, filled.cache = ctypes.pointer(compiled), cache
        self._adopt(checked("mw_text_model_open", _path(folder), ctypes.byref(filled)), keep)

    def generate(
            self, prompt: str, stops: Sequence[str] = (), on_text: Optional[Callable[[str], Any]] = None, **options:
            Any) -> str:
        """What the model writes behind a prompt. Options are the fields of mw_generate_options: tokens, temperature,
        seed, ..; on_text(part) is called with each part as it comes, and ends the text by returning False."""
        filled = fill(library.mw_generate_defaults(), options, [], "generate")
        texts = (ctypes.c_char_p * len(stops))(*(stop.encode() for stop in stops))
        filled.stops, filled.stop_count = texts, len(stops)
        with Callbacks() as calls:
            if on_text is not None:
                kind = dict(abi.mw_generate_options._fields_)["token"]
                filled.token = calls.add(kind, lambda _, part: on_text(text_of(part)) is not False, False)
            return _taken(checked("mw_text_model_generate", self, prompt.encode(), ctypes.byref(filled)))


    def embed(self, texts: Sequence[str], **options: Any) -> Array:
        """A vector for each of a list of texts, by an encoder: an Array of F32, [count, width]. Options are the fields of
        mw_embed_options: pooling, unit."""
        texts = list(texts)
        filled = fill(library.mw_embed_defaults(), options, [], "embed")
        listed = (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))
        made = Array((len(texts), library.mw_text_model_get_config(self).contents.width), DType.MW_F32)
        out = ctypes.cast(made.data, ctypes.POINTER(ctypes.c_float))
        checked("mw_text_model_embed", self, listed, len(texts), ctypes.byref(filled), out)
        return made


class Data(Handle):
    """A text as data sets: .txt, .jsonl with "text" or "messages", or .bin with tokens. Options are the fields of
    mw_text_data_options: tokens, padded, validation, chat, .."""

    _destroy = "mw_text_data_destroy"

    def __init__(self, path: Path, folder: Optional[Path] = None, **options: Any) -> None:
        _needed()
        keep: List[Any] = []
        filled = fill(library.mw_text_data_defaults(), options, keep, "text data")
        of = None if folder is None else _path(folder)
        self._adopt(checked("mw_text_data_open", _path(path), of, ctypes.byref(filled)), keep)

    @property
    def info(self):
        """An mw_text_data_info: examples, tokens, documents, label_bytes, .."""
        return library.mw_text_data_get_info(self)


def _graph(config, batch, tokens, tuning, apart):
    options = library.mw_text_graph_defaults()
    options.batch, options.tokens, options.loss, options.tuning, options.apart = batch, tokens, True, tuning, apart
    return Graph._of(checked("mw_text_graph", ctypes.byref(config), ctypes.byref(options)))


def _fit(trainer, data, epochs, progress):
    options = library.mw_fit_defaults(library.mw_text_data_training(data), epochs)
    options.data.validation = library.mw_text_data_validation(data)
    options.progress.quiet = options.progress.no_warnings = True
    summary = abi.mw_fit_summary()
    options.summary = ctypes.pointer(summary)
    with Callbacks() as calls:
        if progress is not None:
            options.progress.function = calls.add(abi.mw_progress_function, lambda _, p: bool(progress(p[0])), True)
        checked("mw_trainer_fit", trainer, ctypes.byref(options))
    return summary


def _check(folder, out):
    """What could not be written is not trained."""
    options = library.mw_text_save_defaults()
    options.check_only = True
    checked("mw_text_save", _path(folder), _path(out), ctypes.byref(options))


def finetune(
        folder: Path, path: Path, out: Path, epochs: int = 1, batch: int = 1, lora: int = 0, learning_rate:
        Optional[float] = None, progress: Optional[Callable[[Any], Any]] = None, trainer: Optional[Mapping[str, Any]]
        = None, **options: Any) -> Dict[str, float]:
    """Trains the model of a folder on a text, all weights or adapters of rank `lora`, and writes the folder `out`, or a
    .gguf or .bin. Other options are those of Data; `trainer` is a dict of those of Trainer. Returns {"loss",
    "perplexity", "bits_per_byte"} on the validation set, or of the last epoch where there is none."""
    _needed()
    _check(folder, out)
    config, tuning = abi.mw_text_config(), abi.mw_text_tuning(rank=lora)
    checked("mw_text_config_read", _path(folder), ctypes.byref(config))
    if config.types:
        raise Error(Status.MW_ERROR_UNSUPPORTED, "an encoder does not learn which word follows in a text")
    options["tokens"] = options.get("tokens", min(256, config.positions))
    options["multiple"] = batch * (trainer or {}).get("accumulate", 1)
    data = Data(path, folder, **options)
    batch = min(batch, data.info.examples)
    info, apart = data.info, options.get("apart", False)
    lengths = info.buckets[: info.bucket_count] if options.get("buckets") else [options["tokens"]]
    graphs = [_graph(config, batch, length, tuning, apart) for length in lengths]
    rate = learning_rate if learning_rate is not None else 2e-4 if lora else 5e-5
    losses = [graph.find("loss") for graph in graphs]
    made = Trainer(losses[-1], optim.adam(rate), variants=losses[:-1], **(trainer or {}))
    checked("mw_text_load_weights", made, _path(folder))
    summary = _fit(made, data, epochs, progress)
    checked("mw_text_save_trained", made, _path(folder), _path(out), None)
    loss = summary.validation.loss if summary.validation.examples else summary.loss
    bytes_of = data.info.label_bytes
    return {"loss": loss, "perplexity": math.exp(loss), "bits_per_byte": loss / math.log(2) / bytes_of if bytes_of else 0.0}
