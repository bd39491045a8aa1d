"""Training: optimizers, schedules and initial values, and the trainer.

    trainer = Trainer(loss, optim.adam(1e-3), metric=nn.accuracy(logits, y), seed=1)
    trainer.fit(train, 5, validation=test, schedule=schedule.cosine(0.0))
    print(trainer.evaluate(test).loss)"""
from __future__ import annotations

import collections
import ctypes
import os
import signal
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import abi, arrays
from .arrays import Array, DType
from .data import Batch
from .description import write_options
from .feeds import Feeders
from .figures import fields_of
from .graph import pointers
from .kinds import Feeds, Path, Values
from .library import Callbacks, Error, Handle, Status, call, checked, fill, library, text_of, to_c
from .program import ports_of
from .tuning import weights_options

if TYPE_CHECKING:
    from .data import Dataset
    from .graph import Graph, Tensor
    from .tuning import Loaded

Evaluation = collections.namedtuple("Evaluation", "loss examples metrics")


def _numbers(optimizer):
    """{name: (number, value)} of those that an optimizer has, as the library lists them."""
    found, numbers = abi.mw_optimizer_number_info(), {}
    while library.mw_optimizer_number_at(ctypes.byref(optimizer), len(numbers), ctypes.byref(found)):
        numbers[found.name.decode()] = (found.number, found.value)
    return numbers


def _number(optimizer, name):
    numbers = _numbers(optimizer)
    if name not in numbers:
        raise AttributeError(f"this optimizer has {', '.join(numbers)}, and no {name}")
    return numbers[name][1]


abi.mw_optimizer.__getattr__ = _number  # optim.adam(1e-3).beta1


def _set_numbers(made, fields, what):
    numbers = _numbers(made)
    for name, value in fields.items():
        if name not in numbers:
            raise TypeError(f"{what} has no {name}; it has {', '.join(numbers)}")
        if not library.mw_optimizer_set(ctypes.byref(made), numbers[name][0], float(value)):
            raise ValueError(f"{what}: {name} cannot be {value}")
    return made


def _set_fields(made, fields, what):
    return fill(made, fields, [], what)


def _makers(struct, prefix, put=_set_fields):
    """The functions that return a value, by their names without the prefix; what else it has is set by `put`."""

    def maker(name, parameters):
        def make(*given, **fields):
            if len(given) > len(parameters):
                raise TypeError(f"{name} takes {len(parameters)} numbers by position, not {len(given)}")
            names = [parameter for parameter, _ in parameters]
            values = dict(zip(names, given))
            values.update({key: fields.pop(key) for key in names if key in fields})
            missing = [key for key in names if key not in values]
            if missing:
                raise TypeError(f"{name} wants {', '.join(missing)}")
            made = getattr(library, name)(*(to_c(kind, values[p], [], f"{name}: {p}") for p, kind in parameters))
            return put(made, fields, name)

        make.__name__ = name[len(prefix):]
        make.__doc__ = f"{name}({', '.join(p for p, _ in parameters)}) of the C library; other names are its numbers."
        return make

    plain = {name: parts[1] for name, parts in abi.FUNCTIONS.items() if parts[0] is struct and not any(
        kind is ctypes.c_void_p or hasattr(kind, "_flags_") or hasattr(kind, "contents") for _, kind in parts[1])}
    return types.SimpleNamespace(**{name[len(prefix):]: maker(name, parameters) for name, parameters in plain.items()})


optim = _makers(abi.mw_optimizer, "mw_", _set_numbers)
schedule = _makers(abi.mw_schedule, "mw_schedule_")
init = _makers(abi.mw_init, "mw_init_")


def group(pattern: str, frozen: bool = False, **numbers: float) -> Any:
    """Parameters whose names match a pattern, with numbers of their own: rate_factor, weight_decay, or frozen."""
    text = pattern.encode()
    made = (library.mw_parameter_group_frozen if frozen else library.mw_parameter_group_defaults)(text)
    made.pattern = text  # a value of the library points to it
    for name, value in numbers.items():
        number = getattr(abi.mw_parameter_group_number, f"MW_GROUP_{name.upper()}", None)
        if number is None:
            raise TypeError(f"a group has no {name}")
        if not library.mw_parameter_group_set(ctypes.byref(made), number, float(value)):
            raise ValueError(f"a group: {name} cannot be {value}")
    return made


def _custom_schedule(function):
    """function(step, steps) is the factor of the learning rate at a step, from 0."""
    thunk = abi.mw_schedule_function(lambda _, step, steps: float(function(step, steps)))
    made = library.mw_schedule_custom(thunk, None)
    made.keeps = thunk  # as long as the value is used
    return made


schedule.custom = _custom_schedule


class Trainer(Handle):
    """Forward pass, backward pass and update as one program. The graph may be closed when it is made. Options are the
    fields of mw_trainer_options and mw_compile_options: accumulate, device, threads, seed, ..; groups of them are
    dicts: clipping={"norm": 1.0}.
    metrics: {name: scalar tensor}; variants: losses of the same network for inputs of other sizes. schedule and progress
    are given to fit."""

    _destroy = "mw_trainer_destroy"

    def __init__(
            self, loss: Tensor, optimizer: Any, metric: Optional[Tensor] = None, metrics: Optional[Mapping[str,
            Tensor]] = None, prediction: Optional[Tensor] = None, groups: Sequence[Any] = (), variants:
            Sequence[Tensor] = (), **options: Any) -> None:
        graph, keep = loss.graph, []
        filled = library.mw_trainer_defaults(loss, optimizer)
        keep.append(optimizer)
        compiled = {name for name, _ in abi.mw_compile_options._fields_} - {"struct_size"}
        fill(filled.compile, {k: v for k, v in options.items() if k in compiled}, keep, "a trainer")
        fill(filled, {k: v for k, v in options.items() if k not in compiled}, keep, "a trainer")
        tensors = {"metric": metric, "prediction": prediction}
        fill(filled, {name: tensor for name, tensor in tensors.items() if tensor is not None}, keep, "a trainer")
        more = (abi.mw_metric * len(metrics or {}))()
        for item, (name, tensor) in zip(more, (metrics or {}).items()):
            item.name, item.tensor = name.encode(), tensor._as_parameter_
        filled.metrics, filled.metric_count = more, len(more)
        filled.variants, filled.variant_count = pointers(variants), len(variants)
        block = (abi.mw_parameter_group * len(groups))(*groups)
        filled.groups, filled.group_count = block, len(block)
        with graph._lock:
            graph.check()
            self._adopt(checked("mw_trainer_create", ctypes.byref(filled)), graph._keep, keep)
        self._ports = ports_of(library.mw_trainer_program(self), "program")
        self._feeders = Feeders({n: p.shape for n, p in self._ports.items() if not p.is_output and not p.is_parameter})
        self._prediction = prediction.shape if prediction is not None else None

    # ---- steps ----

    def step(self, batch: Union[Batch, Feeds, None] = None, **feeds: Values) -> float:
        """One step on a Batch of a loader, or on values by the names of inputs; returns the loss."""
        loss = ctypes.c_float()
        self._feed("mw_trainer_step", batch, feeds, ctypes.byref(loss))
        return loss.value

    def predict(self, batch: Union[Batch, Feeds, None] = None, **feeds: Values) -> Array:
        """The prediction on a batch, as fp32."""
        if self._prediction is None:
            raise Error(Status.MW_ERROR_ARGUMENT, "this Trainer was made without a prediction")
        made = Array(self._prediction, DType.MW_F32)
        self._feed("mw_trainer_predict", batch, feeds, DType.MW_F32, made.data, made.size)
        return made

    def _feed(self, name, batch, feeds, *results):
        if isinstance(batch, Batch):
            with batch.held():
                return checked(name, self, batch, *results)
        feeder = self._feeders.take()
        try:
            made = feeder.batch({**batch, **feeds} if batch else feeds)
            return call(name, self._as_parameter_, ctypes.byref(made), *results)
        finally:
            self._feeders.give(feeder)

    def fit(
            self, training: Any, epochs: int, validation: Any = None, schedule: Any = None, progress:
            Optional[Callable[[Any], Any]] = None, seed: Optional[int] = None, quiet: bool = True, **options: Any) -> Any:
        """Trains for whole epochs; options are the groups of mw_fit_options as dicts: data={"keep_order": True},
        stopping={"best_by": "loss", "patience": 2}, ..; checkpoint and metrics may be a path. schedule is one of
        schedule.*, or a dict. progress(p) is called after every step and at the end of each epoch (p.epoch_end) with an
        mw_progress; what it returns, if true, ends the training with Error (MW_ERROR_STOPPED), and what it raises is
        raised here. SIGINT and SIGTERM save the checkpoint; the first is KeyboardInterrupt then. Returns an
        mw_fit_summary."""
        keep, summary = [training, validation], abi.mw_fit_summary()
        filled = fill(library.mw_fit_defaults(training, epochs), options, keep, "fit")
        filled.progress.quiet = quiet
        if seed is not None:
            filled.data.seed = seed
        if validation is not None:
            filled.data.validation = validation._as_parameter_
        if isinstance(schedule, abi.mw_schedule):
            filled.schedule.rate = schedule
        elif schedule is not None:
            fill(filled.schedule, schedule, keep, "fit: schedule")
        filled.summary = ctypes.pointer(summary)
        with Callbacks() as calls:
            if progress is not None:
                filled.progress.function = calls.add(abi.mw_progress_function, lambda _, p: bool(progress(copied(p))), True)
            try:
                checked("mw_trainer_fit", self, ctypes.byref(filled))
            except Error as error:
                if error.status == Status.MW_ERROR_STOPPED and library.mw_fit_signal() == signal.SIGINT:
                    raise KeyboardInterrupt from error
                raise
        return summary

    def evaluate(self, dataset: Dataset) -> Evaluation:
        """Loss and metrics over a data set: Evaluation(loss, examples, {name: value})."""
        found = abi.mw_evaluation()
        checked("mw_trainer_evaluate", self, dataset, None, ctypes.byref(found))
        return Evaluation(found.loss, found.examples, metrics_of(found))

    def confusion(self, dataset: Dataset, classes: int, labels: Optional[str] = None) -> Array:
        """How often class j is predicted where the label says i: an Array [classes, classes] of int64."""
        made = Array((classes, classes), DType.MW_I64)
        asked = abi.mw_confusion(labels and labels.encode(), classes, ctypes.cast(made.data, ctypes.POINTER(ctypes.c_int64)))
        checked("mw_trainer_evaluate", self, dataset, ctypes.byref(asked), None)
        return made

    def log(self, values: Optional[Mapping[str, Any]] = None, **more: Any) -> None:
        """Writes numbers and texts to the metrics files of the fit that runs: from its progress function."""
        items = fields_of({**(values or {}), **more})
        checked("mw_trainer_log", self, items, len(items))

    def classes(self, column: str = "y") -> List[str]:
        """The classes of a column that the trainer has learned from the data of its last fit."""
        found = library.mw_trainer_classes(self, column.encode())
        return [text_of(found.names[i]) for i in range(found.count)] if found.names else []

    @property
    def warnings(self) -> List[str]:
        """What the library says of the step program: [text]."""
        found: List[str] = []
        one = abi.mw_warning()
        while library.mw_trainer_warning_at(self, len(found), ctypes.byref(one)):
            found.append(text_of(one.message))
        return found

    @property
    def watched(self) -> Dict[str, Any]:
        """{name: mw_watched} of the step that ran last: what options watch={..} ask for."""
        found: Dict[str, Any] = {}
        one = abi.mw_watched()
        while library.mw_trainer_watch_at(self, len(found), ctypes.byref(one)):
            found[text_of(one.name)] = type(one).from_buffer_copy(one)
        return found

    def use_averages(self, use: bool = True) -> None:
        """Whether the moving averages stand for the parameters wherever these are read."""
        checked("mw_trainer_use_averages", self, use)

    @property
    def learning_rate(self) -> float:
        return library.mw_trainer_get_info(self).learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        checked("mw_trainer_set_learning_rate", self, value)

    @property
    def steps(self) -> int:
        """Updates done."""
        return library.mw_trainer_get_info(self).steps

    @property
    def where(self) -> str:
        """What runs it."""
        return text_of(library.mw_program_get_info(library.mw_trainer_program(self)).where)

    # ---- weights and files ----

    @property
    def parameters(self) -> Dict[str, Tuple[int, ...]]:
        """{name: shape} of what read and write take."""
        return {name: port.shape for name, port in self._ports.items() if port.is_parameter and not port.is_output}

    def read(self, name: str) -> Array:
        """A copy of a parameter or state, as fp32."""
        port = self._ports.get(name)
        made = Array(port.shape if port else (0,), DType.MW_F32)
        checked("mw_trainer_read", self, name.encode(), DType.MW_F32, made.data, made.size)
        return made

    def write(self, name: str, value: Values) -> None:
        """Replaces a parameter or state."""
        found = arrays.converted(arrays.source(value, name, DType.MW_F32), DType.MW_F32, name)
        if name in self._ports:
            arrays.of_shape(found, self._ports[name].shape, name)
        checked("mw_trainer_write", self, name.encode(), DType.MW_F32, found.address, found.count)

    def save(self, path: Path, position: Optional[Tuple[int, int]] = None) -> None:
        """A checkpoint: weights, states of the optimizer, step, and the position of a loader."""
        at = ctypes.byref(abi.mw_loader_position(*position)) if position is not None else None
        checked("mw_trainer_save", self, os.fspath(path).encode(), at)

    def load(self, path: Path) -> Tuple[int, int]:
        """Restores a checkpoint; returns the position for the loader."""
        at = abi.mw_loader_position()
        checked("mw_trainer_load", self, os.fspath(path).encode(), ctypes.byref(at))
        return at.epoch, at.batch

    def save_weights(self, path: Path) -> None:
        """Parameters and running statistics by name, as safetensors."""
        checked("mw_trainer_save_weights", self, os.fspath(path).encode())

    def load_weights(self, path: Path, **options: Any) -> List[Loaded]:
        """Parameters from a file of tensors, or an adapter of PEFT's; options as those of Graph.load_weights. Returns
        [Loaded]."""
        keep: List[Any] = []
        if not options:
            checked("mw_trainer_load_weights", self, os.fspath(path).encode(), None)
            return []
        filled, told = weights_options(options, keep, "load_weights")
        with told:
            checked("mw_trainer_load_weights", self, os.fspath(path).encode(), ctypes.byref(filled))
        return told.items

    def save_lora(self, folder: Path) -> None:
        """The adapters, and what was trained beside them, as PEFT does."""
        checked("mw_trainer_save_lora", self, os.fspath(folder).encode())

    def export(self, path: Path, source: Optional[Graph] = None, **options: Any) -> None:
        """The prediction with its weights, in the format that the path ends in: .mlpackage, .onnx, else a folder with
        model.mil. With a source, the graph that was tuned with the trained weights in the place of its own. Without one
        for one example, an ONNX file for any number, unless keep_batch. Options as those of Graph.write."""
        keep: List[Any] = []
        filled = write_options(options, keep, "export")
        checked("mw_trainer_export", self, source, os.fspath(path).encode(), ctypes.byref(filled))


def metrics_of(evaluation: Any) -> Dict[str, float]:
    """{name: value} of an mw_evaluation."""
    return {text_of(m.name): m.value for m in evaluation.metrics[: evaluation.metric_count]}


def copied(pointer):
    """A struct that is C's during a callback, as one of Python's."""
    return type(pointer[0]).from_buffer_copy(pointer[0])
