"""Figures: streams of metrics that other programs read, and scores of predictions.

    with Metrics("run/mnist.jsonl") as metrics:
        metrics.write("step", 10, loss=0.5)
    print(Scores("classes", 10).add(predictions=p, labels=y).figures)"""
from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Mapping, Optional, Union

from . import abi, arrays
from .arrays import DType
from .kinds import Path, Values
from .library import Handle, checked, fill, library, named_value, text_of


def fields_of(values):
    """mw_metrics_field of {name: number or text}, and what they point to."""
    items = (abi.mw_metrics_field * len(values))()
    for item, (name, value) in zip(items, values.items()):
        item.name = name.encode()
        if isinstance(value, str):
            item.text = value.encode()
        else:
            item.value = float(value)
    return items


class Metrics(Handle):
    """A file of records that grows: .jsonl, .csv, or TensorBoard's events in a folder. Options: resume, step, format."""

    _destroy = "mw_metrics_destroy"

    def __init__(self, path: Path, **options: Any) -> None:
        filled = fill(library.mw_metrics_defaults(), options, [], "metrics")
        self._adopt(checked("mw_metrics_create", os.fspath(path).encode(), ctypes.byref(filled)))

    def write(self, kind: str, step: int, values: Optional[Mapping[str, Any]] = None, **more: Any) -> None:
        """Appends one record: numbers and texts by their names."""
        items = fields_of({**(values or {}), **more})
        checked("mw_metrics_write", self, kind.encode(), step, items, len(items))


class Scores(Handle):
    """Sums over examples, of which figures are made; task is "classes", "labels", "values" or "texts", names are those
    of the figures, with commas between them, and None those the task is usually judged by. In libmillwright_learn."""

    _destroy = "mw_scores_destroy"

    def __init__(self, task: Union[str, int], columns: int = 1, names: Optional[str] = None) -> None:
        library.need("learn")
        task = named_value("mw_scores_create", "task", task, "scores: task")
        self._adopt(checked("mw_scores_create", task, columns, names and names.encode()))
        self._columns, self._task = columns, task

    def add(
            self, predictions: Values, labels: Optional[Values] = None, targets: Optional[Values] = None, weights:
            Optional[Values] = None) -> Scores:
        """Adds examples; returns the scores."""
        made, keep = abi.mw_score_batch(), []
        given = {"predictions": (predictions, DType.MW_F32), "labels": (labels, DType.MW_I32),
                 "targets": (targets, DType.MW_F32), "weights": (weights, DType.MW_F32)}
        for name, (value, dtype) in given.items():
            if value is None:
                continue
            found = arrays.converted(arrays.source(value, name, DType.MW_F32), dtype, name)
            keep.append(found)
            made.examples = made.examples or (found.shape[0] if found.shape else 0)
            self._check(name, found, made.examples)
            setattr(made, name, ctypes.cast(found.address, type(getattr(made, name))))
        checked("mw_scores_add", self, ctypes.byref(made))
        return self

    def _check(self, name, found, examples):
        single = name == "weights" or (name == "labels" and self._task == abi.mw_score_task.MW_SCORE_CLASSES)
        if found.count != examples * (1 if single else self._columns):
            raise ValueError(f"{name}: the shape is {list(found.shape)}, of {examples} examples of {self._columns} columns")

    def add_text(self, reference: str, text: str) -> Scores:
        """Adds a text beside what it should be; returns the scores."""
        checked("mw_scores_add_text", self, reference.encode(), text.encode())
        return self

    @property
    def figures(self) -> Dict[str, float]:
        """{name: value}; nan where one is not defined."""
        found = (library.mw_scores_get(self, i) for i in range(library.mw_scores_count(self)))
        return {text_of(one.name): one.value for one in found}
