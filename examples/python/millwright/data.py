"""Data sets, loaders that serve them in batches, and files of tensors.

    train = Dataset.idx("data/mnist", "train")
    for batch in Loader(train, 128, seed=1):     # one epoch
        loss = trainer.step(batch)

What a function of Python raises while it makes an example is raised by the call that wanted the example."""
from __future__ import annotations

import ctypes
import itertools
import os
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import abi, arrays
from .arrays import Array, DType
from .kinds import Feeds, Path, Shape, Type, Values
from .library import Error, Handle, Status, checked, extents_of, fill, library, report, shape_of, text_of


class Dataset(Handle):
    """Columns of examples. What is made of others keeps them alive."""

    _destroy = "mw_dataset_destroy"

    @classmethod
    def _of(cls, pointer, *keep):
        dataset = cls.__new__(cls)
        dataset._adopt(pointer, *keep)
        return dataset

    # ---- files ----

    @classmethod
    def idx(cls, folder: Path, prefix: str) -> Dataset:
        """Columns "x" and "y" of files of the MNIST family; prefix "train" or "t10k"."""
        return cls._of(checked("mw_dataset_open_idx", os.fspath(folder).encode(), prefix.encode()))

    @classmethod
    def csv(cls, path: Path, separator: str = ",", header: bool = True, **columns: Mapping[str, Any]) -> Dataset:
        """A table: csv("iris.csv", x={"fields": ["length", "width"]}, y={"fields": ["kind"], "classes": True}).
        Of a column: fields, dtype, classes, class_names, scale, offset."""
        options, keep = table_options(columns)
        options.separator, options.no_header = separator.encode(), not header
        return cls._of(checked("mw_dataset_open_csv", os.fspath(path).encode(), ctypes.byref(options)))

    @classmethod
    def jsonl(cls, path: Path, **columns: Mapping[str, Any]) -> Dataset:
        """A file of JSON objects, one a line; columns as those of csv."""
        options, keep = table_options(columns)
        return cls._of(checked("mw_dataset_open_jsonl", os.fspath(path).encode(), ctypes.byref(options)))

    @classmethod
    def images(cls, folder: Path, **options: Any) -> Dataset:
        """Pictures of a folder for each class, or of a table: columns "x" and "y". Options are those of
        mw_image_options: images("flowers", height=224, width=224, fit=2, table="labels.csv")."""
        keep: List[Any] = []
        filled = fill(library.mw_image_defaults(), options, keep, "images")
        return cls._of(checked("mw_dataset_open_images", os.fspath(folder).encode(), ctypes.byref(filled)))

    @classmethod
    def sounds(cls, folder: Path, **options: Any) -> Dataset:
        """WAV and FLAC files of a folder for each class, or of a table: columns "x" and "y". Options are those of
        mw_sound_options: sounds("words", rate=16000, length=16000)."""
        keep: List[Any] = []
        filled = fill(library.mw_sound_defaults(), options, keep, "sounds")
        return cls._of(checked("mw_dataset_open_sounds", os.fspath(folder).encode(), ctypes.byref(filled)))

    @classmethod
    def tensors(cls, path: Path) -> Dataset:
        """Every tensor of a .npz, .npy, safetensors or other file, whose first axis counts the examples."""
        return cls._of(checked("mw_dataset_open_tensors", os.fspath(path).encode(), None, 0))

    # ---- memory and functions ----

    @classmethod
    def arrays(cls, scales: Optional[Mapping[str, float]] = None, **columns: Values) -> Dataset:
        """Arrays whose first axis counts the examples; copied. `scales` gives factors by column."""
        found = {name: arrays.source(value, name, DType.MW_F32) for name, value in columns.items()}
        counts = {name: s.shape[0] if s.shape else None for name, s in found.items()}
        if len(set(counts.values())) != 1 or None in counts.values():
            raise ValueError(f"the columns have {counts} examples")
        items = column_array({name: (s.dtype, s.shape[1:]) for name, s in found.items()}, scales)
        for item, part in zip(items, found.values()):
            item.data = part.address
        examples = next(iter(counts.values()))
        return cls._of(checked("mw_dataset_create", items, len(items), examples, True))

    @classmethod
    def function(
            cls, columns: Mapping[str, Tuple[Type, Shape]], examples: int, make: Callable[[int, str], Values]) -> Dataset:
        """Examples that make(example, column) gives; columns is {name: (dtype, shape)}. Loaders call it."""
        columns = {name: (arrays.dtype_of(d), extents_of(shape_of(s))) for name, (d, s) in columns.items()}
        names = list(columns)

        def call(_, example, column, out, err):
            try:
                put(make(example, names[column]), *columns[names[column]], names[column], out)
                return int(Status.MW_OK)
            except BaseException as exception:  # pylint: disable=broad-except
                return report(err, exception)

        thunk = abi.mw_dataset_function(call)
        items = column_array(columns)
        return cls._of(checked("mw_dataset_create_callback", items, len(items), examples, thunk, None), thunk)

    def map(
            self, change: Callable[[Mapping[str, Array]], Feeds], columns: Optional[Mapping[str, Tuple[Type, Shape]]]
            = None, seed: int = 0) -> Dataset:
        """Each example as change({column: Array}) gives it, in a dict, whenever it is served."""
        source = self.columns
        columns = source if columns is None else {
            name: (arrays.dtype_of(d), extents_of(shape_of(s))) for name, (d, s) in columns.items()}

        def call(_, example, err):
            try:
                inputs = getattr(example[0], "in")  # a word of Python
                given = {name: taken(*kind, inputs[i]) for i, (name, kind) in enumerate(source.items())}
                made = change(given)
                for i, (name, (dtype, shape)) in enumerate(columns.items()):
                    put(made[name], dtype, shape, name, example[0].out[i])
                return int(Status.MW_OK)
            except BaseException as exception:  # pylint: disable=broad-except
                return report(err, exception)

        thunk = abi.mw_map_function(call)
        items = None if columns is source else column_array(columns)
        count = len(columns) if items else 0
        return self._made("mw_dataset_map", items, count, thunk, None, seed, keep=thunk)

    # ---- parts and mixtures ----

    def subset(self, examples: Sequence[int]) -> Dataset:
        """The examples with these numbers, in this order."""
        return self._made("mw_dataset_subset", (ctypes.c_int64 * len(examples))(*examples), len(examples))

    def split(self, counts: Sequence[int], seed: int = 0) -> List[Dataset]:
        """Parts dealt out at random; one of the counts may be -1, the rest."""
        out = (ctypes.POINTER(abi.mw_dataset) * len(counts))()
        checked("mw_dataset_split", self, (ctypes.c_int64 * len(counts))(*counts), len(counts), seed, out)
        return [Dataset._of(pointer, self) for pointer in out]

    def augment(self, column: str = "x", **options: Any) -> Dataset:
        """Pictures moved, mirrored and changed at random: the fields of mw_augment_options."""
        filled = fill(library.mw_augment_defaults(column.encode()), options, [], "augment")
        return self._made("mw_dataset_augment", ctypes.byref(filled))

    def mix(self, classes: int, column: str = "x", label: str = "y", **options: Any) -> Dataset:
        """Pictures mixed with others of the set (mixup, cutmix); labels become numbers of all classes."""
        names = column.encode(), label.encode()
        filled = fill(library.mw_mix_defaults(*names, classes), options, [], "mix")
        return self._made("mw_dataset_mix", ctypes.byref(filled))

    def normalize(
            self, mean: Sequence[float], deviation: Sequence[float], column: str = "x", channels_first: bool = False) -> Dataset:
        """Pictures less the mean of each channel, by its deviation."""
        if len(mean) != len(deviation):
            raise ValueError(f"{len(mean)} means and {len(deviation)} deviations")
        numbers = [(ctypes.c_float * len(part))(*part) for part in (mean, deviation)]
        filled = library.mw_normalize_defaults(column.encode(), *numbers, len(mean))
        filled.channels_first = channels_first
        return self._made("mw_dataset_normalize", ctypes.byref(filled))

    def change_sounds(self, column: str = "x", **options: Any) -> Dataset:
        """Sounds moved, louder or softer, and with noise at random: the fields of mw_sound_change_options."""
        name = column.encode()
        filled = fill(library.mw_sound_change_defaults(name), options, [], "change_sounds")
        return self._made("mw_dataset_change_sounds", ctypes.byref(filled))

    def window(self, length: int, **options: Any) -> Dataset:
        """Windows of a series in time, whose rows are the examples; options: stride, horizon, gap, inputs=["a"],
        targets=["b"], series."""
        keep: List[Any] = []
        filled = fill(library.mw_window_defaults(length), options, keep, "window")
        return self._made("mw_dataset_window", ctypes.byref(filled))

    def shard(self, rank: int, ranks: int) -> Dataset:
        """The part that one of several machines trains on."""
        return self._made("mw_dataset_shard", rank, ranks)

    def prefetch(self, batches: int, threads: int = 1) -> Dataset:
        """The same; threads of the library make so many batches ahead."""
        return self._made("mw_dataset_prefetch_threads", batches, threads)

    def bucket(self, lengths: Sequence[int], limits: Sequence[int]) -> Dataset:
        """The same, in batches of examples of about one length, cut to the limit that the longest needs."""
        numbers = (ctypes.c_int64 * len(lengths))(*lengths), (ctypes.c_int64 * len(limits))(*limits)
        return self._made("mw_dataset_bucket", *numbers, len(limits))

    def _made(self, call, *arguments, keep=None):
        return Dataset._of(checked(call, self, *arguments), self, keep)

    # ---- queries ----

    def __len__(self):
        return library.mw_dataset_examples(self)

    @property
    def columns(self) -> Dict[str, Any]:
        """{name: (dtype, shape of one example)}"""
        found = itertools.takewhile(bool, (library.mw_dataset_column_at(self, i) for i in itertools.count()))
        columns = [column[0] for column in found]
        return {text_of(c.name): (DType(c.dtype), extents_of(c.shape)) for c in columns}

    def classes(self, column: str = "y") -> List[str]:
        """Names of the classes of a column."""
        name = column.encode()
        classes = library.mw_dataset_classes(self, name)
        return [text_of(classes.names[i]) for i in range(classes.count)]


def concatenate(datasets: Sequence[Dataset]) -> Dataset:
    """The examples of one data set after those of another."""
    block = (ctypes.POINTER(abi.mw_dataset) * len(datasets))(*(d._as_parameter_ for d in datasets))
    return Dataset._of(checked("mw_dataset_concatenate", block, len(datasets)), *datasets)


def column_array(columns, scales=None):
    items = (abi.mw_column * len(columns))()
    for item, (name, (dtype, shape)) in zip(items, columns.items()):
        item.name, item.dtype, item.shape = name.encode(), dtype, shape_of(shape)
        item.scale = (scales or {}).get(name, 0.0)
    return items


def table_options(columns):
    items, keep = (abi.mw_table_column * len(columns))(), []
    for item, (name, facts) in zip(items, columns.items()):
        facts = dict(facts)
        item.name = name.encode()
        item.dtype = arrays.dtype_of(facts.pop("dtype", DType.MW_I64 if facts.get("classes") else DType.MW_F32))
        for field, count in (("fields", "field_count"), ("class_names", "class_count")):
            words = facts.pop(field, None)
            if words is not None:
                keep.append((ctypes.c_char_p * len(words))(*(w.encode() for w in words)))
                setattr(item, field, ctypes.cast(keep[-1], ctypes.POINTER(ctypes.c_char_p)))
                setattr(item, count, len(words))
        fill(item, {"classes": False, **facts}, keep, f"column {name}")
    keep.append(items)
    return library.mw_table_defaults(items, len(items)), keep


def put(value, dtype, shape, name, out):
    """Copies an example of a column to where C wants it."""
    found = arrays.of_shape(arrays.converted(arrays.source(value, name, DType.MW_F64), dtype, name), shape, name)
    ctypes.memmove(out, found.address, found.count * ctypes.sizeof(arrays.TYPES[dtype][1]))


def taken(dtype, shape, address):
    """A copy of dense elements."""
    made = Array(shape, dtype)
    ctypes.memmove(made.data, address, ctypes.sizeof(made.data))
    return made


# ---- batches ----


class Loader(Handle):
    """Serves a data set in batches; each `for` is an epoch."""

    _destroy = "mw_loader_destroy"

    def __init__(self, dataset: Dataset, batch: int, **options: Any) -> None:
        filled = fill(library.mw_loader_defaults(dataset, batch), options, [], "a loader")
        self._adopt(checked("mw_loader_create", ctypes.byref(filled)), dataset)
        self.dataset, self._served, self._lock = dataset, 0, threading.RLock()

    def next(self) -> Optional[Batch]:
        """The next batch; None at the end of an epoch. It is good until the next call."""
        with self._lock:
            self._served += 1
            pointer = checked("mw_loader_next", self)
            return Batch(self, pointer, self._served) if pointer else None

    def close(self) -> None:
        with self._lock:
            super().close()

    def __iter__(self):
        return iter(self.next, None)

    def __len__(self):
        return library.mw_loader_batches(self)

    @property
    def position(self) -> Tuple[int, int]:
        """(epoch, batches served in it); may be set."""
        position = library.mw_loader_tell(self)
        return position.epoch, position.batch

    @position.setter
    def position(self, value: Tuple[int, int]) -> None:
        with self._lock:
            self._served += 1
            checked("mw_loader_seek", self, abi.mw_loader_position(*value))


class Batch:
    """What a loader serves: memory of the loader, until its next batch."""

    def __init__(self, loader: Any, pointer: Any, number: Any) -> None:
        self._loader, self._pointer, self._number = loader, pointer, number

    @property
    def _as_parameter_(self):
        if self._loader.closed or self._loader._served != self._number:
            raise Error(Status.MW_ERROR_STATE, "this batch is gone: its loader went on, or is closed")
        return self._pointer

    def held(self):
        """For a with block in which no other thread takes its memory away."""
        return self._loader._lock

    @property
    def examples(self) -> int:
        return self._as_parameter_[0].examples

    def _feeds(self):
        batch = self._as_parameter_[0]
        return {text_of(batch.feeds[i].name): batch.feeds[i] for i in range(batch.feed_count)}

    @property
    def ids(self) -> List[int]:
        """Numbers of its examples."""
        batch, (dtype, shape) = self._as_parameter_[0], next(iter(self._loader.dataset.columns.values()))
        each = max(1, Array(shape, DType.MW_U8).size)
        return list(batch.ids[: batch.feeds[0].count // each]) if batch.ids else []

    def __getitem__(self, name):
        """A copy of a column, as it is stored: scale and offset are applied when it is fed."""
        with self.held():
            feed, (dtype, shape) = self._feeds()[name], self._loader.dataset.columns[name]
            each = max(1, Array(shape, DType.MW_U8).size)
            return taken(dtype, (feed.count // each, *shape), feed.data)


def batch_of(feeds, shapes, examples=0):
    """An mw_batch of {name: values}, and what it points to. Of names in `shapes` the extents are checked."""
    items, keep = (abi.mw_feed * len(feeds))(), []
    for item, (name, value) in zip(items, feeds.items()):
        found = arrays.source(value, name)
        if name in shapes:
            arrays.of_shape(found, shapes[name], name)
        item.name, item.dtype, item.data, item.count = name.encode(), found.dtype, found.address, found.count
        keep.append(found)
        examples = examples or (found.shape[0] if found.shape else 1)
    return abi.mw_batch(items, len(items), examples, None), (items, keep)


# ---- files of tensors ----


class Tensors(Handle):
    """A file of named tensors: safetensors, PyTorch's, .npy, .npz, GGUF. tensors["fc.weight"] reads one."""

    _destroy = "mw_tensors_destroy"

    def __init__(self, path: Path) -> None:
        self._adopt(checked("mw_tensors_open", os.fspath(path).encode()))

    def __len__(self):
        return library.mw_tensors_get_info(self).count

    def __iter__(self):
        return (text_of(library.mw_tensors_at(self, i)[0].name) for i in range(len(self)))

    keys = __iter__

    def read(self, name: str, dtype: Optional[Type] = None) -> Array:
        """A tensor; bfloat16 and what Python has no type for becomes fp32."""
        found = library.mw_tensors_find(self, name.encode())
        if not found:
            raise KeyError(name)
        info = found[0]
        own = DType(info.dtype) if info.dtype in arrays.TYPES else DType.MW_F32
        made = Array(extents_of(info.shape), own if dtype is None else arrays.dtype_of(dtype))
        checked("mw_tensors_read", self, name.encode(), made.dtype, ctypes.byref(made.data), made.size)
        return made

    __getitem__ = read


def write_tensors(path: Path, tensors: Feeds) -> None:
    """Writes {name: values} as .safetensors, .npz or .npy."""
    items, keep = (abi.mw_tensor_values * len(tensors))(), []
    for item, (name, value) in zip(items, tensors.items()):
        found = arrays.source(value, name, DType.MW_F32)
        item.name, item.dtype, item.shape, item.data = name.encode(), found.dtype, shape_of(found.shape), found.address
        keep.append(found)
    checked("mw_tensors_write", os.fspath(path).encode(), items, len(items))
