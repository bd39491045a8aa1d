"""Tables as people bring them: empty cells, words, dates, numbers of any size.

    encoder, training, validation = TableEncoder.fit("titanic.csv", "Survived")
    x = graph.input("x", (32, encoder.width))
    logits = nn.dense(encoder.layer(x, "table"), len(encoder.target.classes), "out")"""
from __future__ import annotations

import collections
import ctypes
import os
from typing import Any, List, Mapping, Optional, Tuple

from . import abi
from .data import Dataset
from .graph import Tensor, owned_text
from .kinds import Path
from .library import Handle, checked, fill, library, text_of, to_c

Field = collections.namedtuple("Field", "name kind reason missing filled mean deviation words width")
Target = collections.namedtuple("Target", "name kind mean deviation logarithm classes")


def _settings(fields, keep):
    """mw_field_setting of {name: {"kind": "category", "width": 8}}; a text is the kind alone."""
    items = (abi.mw_field_setting * len(fields))()
    for item, (name, facts) in zip(items, fields.items()):
        item.name = to_c(ctypes.c_char_p, name, keep, name)
        facts = {"kind": facts} if isinstance(facts, str) else facts
        fill(item, facts, keep, f"field {name}")
    return items


class TableEncoder(Handle):
    """What was decided of a table, and how its words and numbers are encoded. It does not change."""

    _destroy = "mw_table_encoder_destroy"

    @classmethod
    def _of(cls, pointer):
        encoder = cls.__new__(cls)
        encoder._adopt(pointer)
        return encoder

    @classmethod
    def fit(
            cls, path: Path, target: Optional[str] = None, fields: Optional[Mapping[str, Any]] = None, **options: Any) -> Tuple[TableEncoder, Dataset, Optional[Dataset]]:
        """Fits an encoder on the training part of a .csv or .jsonl and encodes both parts: (encoder, training,
        validation), the last None where no row is kept out. fields={"age": "number", "town": {"kind": "category",
        "width": 8}}; options: target_kind="class", target_scale, validation=0.1, split="stratified", split_field, seed,
        only_fields, form={"separator": b";"}."""
        keep = [to_c(ctypes.c_char_p, path, [], "the table"), to_c(ctypes.c_char_p, target, [], "target")]
        filled = library.mw_table_fit_defaults(*keep)  # which points to both
        fill(filled, options, keep, "a table")
        settings = _settings(fields or {}, keep)
        filled.fields, filled.field_count = settings, len(settings)
        parts = [ctypes.POINTER(abi.mw_dataset)() for _ in range(2)]
        made = cls._of(checked("mw_table_encoder_fit", ctypes.byref(filled), *(ctypes.byref(part) for part in parts)))
        training, validation = (Dataset._of(part) if part else None for part in parts)
        assert training is not None
        return made, training, validation

    @classmethod
    def read(cls, text: str) -> TableEncoder:
        """One of what `json` gave."""
        return cls._of(checked("mw_table_encoder_read", text.encode()))

    def open(self, path: Path, **form: Any) -> Dataset:
        """Encodes another file with the same fields; without the target it has "x" alone."""
        filled = fill(abi.mw_table_form(), form, [], "a table")
        return Dataset._of(checked("mw_table_encoder_open", self, os.fspath(path).encode(), ctypes.byref(filled)))

    def layer(self, x: Tensor, name: str) -> Tensor:
        """Scaled numbers and words of "x", as one-hot or as learned numbers: a tensor [N, sum of the widths]."""
        return self._made("mw_table_encoder_layer", x, x, name.encode())

    def unscale(self, y: Tensor) -> Tensor:
        """Values of the target in its own unit."""
        return self._made("mw_table_encoder_unscale", y, y)

    def _made(self, call, tensor, *arguments):
        graph: Tensor = tensor.graph
        with graph._lock:
            return graph._wrap(getattr(library, call)(self, *arguments))

    @property
    def width(self) -> int:
        """Numbers of an example of x."""
        return library.mw_table_encoder_width(self)

    @property
    def fields(self) -> List[Field]:
        """What became of each field, in the order of the file: [Field]."""
        found: List[Field] = []
        one = abi.mw_encoded_field()
        while library.mw_table_encoder_field_at(self, len(found), ctypes.byref(one)):
            words = [text_of(one.words[i]) for i in range(one.word_count)]
            found.append(Field(text_of(one.name), abi.mw_field_kind(one.kind).name[9:].lower(), text_of(one.reason),
                               one.missing, one.filled, one.mean, one.deviation, words, one.width))
        return found

    @property
    def target(self) -> Target:
        """What became of the target."""
        one = library.mw_table_encoder_target(self)
        classes = [text_of(one.classes.names[i]) for i in range(one.classes.count)] if one.classes.names else []
        return Target(text_of(one.name), abi.mw_target_kind(one.kind).name[10:].lower(), one.mean, one.deviation,
                      bool(one.logarithm), classes)

    @property
    def json(self) -> str:
        """All of it as a text, of which `read` makes the same again."""
        return owned_text(checked("mw_table_encoder_write", self))

    def __str__(self):
        return owned_text(checked("mw_table_encoder_print", self))
