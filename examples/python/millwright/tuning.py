"""Fine-tuning: what a graph that was read holds, copies of it that train, and weights from files.

    graph = Graph.read_onnx("model.onnx")
    tuned = graph.trainable(["fc2*"])                     # or graph.lora(["*"], rank=8)
    logits, labels = tuned.outputs[0], tuned.input("labels", (64,), I32)

Everything works on copies, as in C: the graph is what a Trainer's export writes the result back into."""
from __future__ import annotations

import collections
import ctypes
import os
from typing import TYPE_CHECKING, Any, List, Sequence, Union

from . import abi
from .arrays import DType
from .kinds import Path
from .library import Callbacks, Handle, checked, extents_of, fill, library, text_of

if TYPE_CHECKING:
    from .graph import Graph

Weight = collections.namedtuple("Weight", "name dtype shape size is_parameter role operation argument obstacle reason")
Choice = collections.namedtuple("Choice", "name pattern outcome reason")
Loaded = collections.namedtuple("Loaded", "outcome parameter tensor shape there")
Compressed = collections.namedtuple("Compressed", "name shape dtype size_before size_after largest_error relative_error reason")



def _text(pointer):
    """A text of C, or None."""
    return None if pointer is None else text_of(pointer)


def _choice(pointer):
    choice = pointer[0]
    return Choice(text_of(choice.weight[0].name), _text(choice.pattern), abi.mw_tune_outcome(choice.outcome).name[8:].lower(),
                  _text(choice.reason))


def _loaded(pointer):
    choice = pointer[0]
    return Loaded(abi.mw_weights_outcome(choice.outcome).name[11:].lower(), _text(choice.parameter), _text(choice.tensor),
                  extents_of(choice.shape), extents_of(choice.there))


def _compressed(pointer):
    choice = pointer[0]
    return Compressed(text_of(choice.name), extents_of(choice.shape), DType(choice.dtype), choice.size_before,
                      choice.size_after, choice.largest_error, choice.relative_error, _text(choice.reason))


class Told:
    """What a call reports, as a list; `with told as report:` gives the function for C."""

    def __init__(self, prototype, taken):
        self.items, self._calls = [], Callbacks()
        self.function = self._calls.add(prototype, lambda _, pointer: self.items.append(taken(pointer)), None)

    def __enter__(self):
        return self._calls.__enter__() and self

    def __exit__(self, *raised):
        return self._calls.__exit__(*raised)


def weights_options(options, keep, what):
    """mw_weights_options of Python's: prefixes={"module.": ""}, name=function, partial, new_heads, base, compressed.
    Returns the options and what is told of parameters and tensors."""
    options, told = dict(options), Told(abi.mw_weights_report, _loaded)
    rename = options.pop("name", None)
    filled = fill(library.mw_weights_defaults(), options, keep, what)
    filled.report = told.function
    if rename is not None:
        texts = {}  # that C reads until its next call

        def name(_, tensor):
            made = rename(text_of(tensor))
            texts["last"] = None if made is None else ctypes.create_string_buffer(made.encode())
            return None if made is None else ctypes.addressof(texts["last"])

        filled.name = told._calls.add(abi.mw_weights_name, name, None)
    return filled, told


class Tunable(Handle):
    """What a graph has for fine-tuning."""

    _lock: Any  # of the graph, as the next
    _of: Any

    @property
    def weights(self) -> List[Weight]:
        """Weights of the program, the largest first: [Weight]. `obstacle` says why one cannot be trained, `reason` why
        only its whole name takes it; None is none."""
        count = ctypes.c_size_t()
        checked("mw_graph_weights", self, None, 0, ctypes.byref(count))
        found = (abi.mw_weight * count.value)()
        checked("mw_graph_weights", self, found, count.value, ctypes.byref(count))
        return [Weight(text_of(w.name), DType(w.dtype), extents_of(w.shape), w.size, w.is_parameter, text_of(w.role_name),
                       text_of(w.operation), text_of(w.argument), _text(w.obstacle), _text(w.reason)) for w in found]

    def trainable(self, patterns: Union[str, Sequence[str]], **options: Any) -> Graph:
        """A copy in which the weights of these names (patterns of fnmatch) are parameters. Options: skip_fixed, dtype,
        shapes={"x": (64, 784)}. What became of each is in the copy's `choices`: [Choice]."""
        return self._tuned("mw_graph_trainable", library.mw_tune_defaults, patterns, options)

    def lora(
            self, patterns: Union[str, Sequence[str]], rank: int = 8, alpha: float = 16.0, full: Union[str,
            Sequence[str]] = (), **options: Any) -> Graph:
        """A copy with low-rank adapters for these weights, W + alpha / rank B A; those of `full` are trained themselves.
        Options and `choices` as trainable."""
        options = {"rank": rank, "alpha": alpha, "full_patterns": full, **options}
        return self._tuned("mw_graph_lora", library.mw_lora_defaults, patterns, options)

    def _tuned(self, call, defaults, patterns, options):
        keep, told = [], Told(abi.mw_tune_report, _choice)
        filled = fill(defaults(None, 0), {"patterns": patterns, **options}, keep, call[9:])
        with self._lock, told:
            filled.report = told.function
            made = self._of(checked(call, self, ctypes.byref(filled)))
        made.choices = told.items
        return made

    def load_weights(self, path: Path, **options: Any) -> Graph:
        """A copy whose weights have the values of a file; options: prefixes={"module.": ""}, name=function, partial,
        new_heads, base, compressed. `choices` of the copy: [Loaded]."""
        keep: List[Any] = []
        filled, told = weights_options(options, keep, "load_weights")
        with self._lock, told:
            made = self._of(checked("mw_graph_load_weights", self, os.fspath(path).encode(), ctypes.byref(filled)))
        made.choices = told.items
        return made

    def compress(self, form: str = "i8", **options: Any) -> Graph:
        """A copy whose large constants are stored as "f16", "i8" or a "palette"; options: bits, least_elements. `choices`
        of the copy: [Compressed]."""
        told = Told(abi.mw_compress_report, _compressed)
        filled = fill(library.mw_compress_defaults(1), {"form": form, **options}, [], "compress")
        with self._lock, told:
            filled.report = told.function
            made = self._of(checked("mw_graph_compress", self, ctypes.byref(filled)))
        made.choices = told.items
        return made
