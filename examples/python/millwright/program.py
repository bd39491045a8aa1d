"""Programs: a graph compiled for a device; models of files, run on any number of examples."""
from __future__ import annotations

import contextlib
import ctypes
import math
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

from . import abi, arrays
from .arrays import Array, DType
from .description import described, facts_of, write_options
from .feeds import Feeders
from .kinds import Path, Shape, Type, Values
from .library import Handle, call, checked, extents_of, fill, library, shape_array, text_of
from .tuning import weights_options

if TYPE_CHECKING:
    from .graph import Graph
    from .tuning import Loaded


class Port:
    """What is known of a port. A shape has None for extents that are still to be chosen."""

    def __init__(self, port: Any) -> None:
        self.name, self.dtype, self.shape = text_of(port.name), DType(port.dtype), extents_of(port.shape)
        self.is_output, self.is_parameter = port.is_output, port.is_parameter

    def __repr__(self):
        kind = "output" if self.is_output else "parameter" if self.is_parameter else "input"
        return f"<{kind} {self.name!r} {arrays.NAMES.get(self.dtype, self.dtype.name)} {list(self.shape)}>"

    def dtype_out(self) -> DType:
        """The type that it is read in: of floats fp32."""
        return DType.MW_F32 if self.dtype in arrays.FLOATS or self.dtype not in arrays.TYPES else self.dtype

    def array(self, dtype: Optional[Type] = None) -> Array:
        """Room for its elements; of floats fp32, unless dtype says otherwise."""
        return Array(self.shape, self.dtype_out() if dtype is None else arrays.dtype_of(dtype))


def ports_of(handle, kind):
    """The ports of a program or a model, by name; of a name that comes twice the first."""
    found, port = {}, abi.mw_port()
    for i in range(getattr(library, f"mw_{kind}_get_info")(handle).port_count):
        getattr(library, f"mw_{kind}_port_at")(handle, i, ctypes.byref(port))
        found.setdefault(text_of(port.name), Port(port))
    return found


class Program(Handle):
    """The outputs of a graph, compiled. Options are the fields of mw_compile_options: device, threads, seed, .."""

    _destroy = "mw_program_destroy"

    def __init__(self, graph: Graph, **options: Any) -> None:
        keep: List[Any] = []
        filled = fill(library.mw_compile_defaults(), options, keep, "a program")
        with graph._lock:
            self._adopt(checked("mw_program_create", graph, ctypes.byref(filled)), *keep)
        self._ports = None  # until shapes are chosen

    @property
    def ports(self) -> Dict[str, Port]:
        """{name: Port}; of a program with None in its shapes as they are chosen."""
        if self._ports is None or self.closed:
            self._ports = ports_of(self, "program")
        return dict(self._ports or {})

    @property
    def where(self) -> str:
        """What runs it: "engine, CPU (fp32), 2 threads"."""
        return text_of(library.mw_program_get_info(self).where)

    @property
    def mil(self) -> str:
        """The MIL text that it runs."""
        return text_of(library.mw_program_get_info(self).mil)

    def set_shapes(self, **shapes: Shape) -> None:
        """Chooses shapes of inputs that have None in theirs."""
        items, self._ports = shape_array(shapes), None
        checked("mw_program_set_shapes", self, items, len(items))

    def write(self, name: str, value: Values) -> None:
        """Copies values to an input, of its shape and, converted, to its type."""
        found, ports = arrays.source(value, name), self.ports
        if name in ports:
            arrays.of_shape(found, ports[name].shape, name)
        checked("mw_program_write", self, name.encode(), found.dtype, found.address, found.count)

    def read(self, name: str, dtype: Optional[Type] = None) -> Array:
        """A copy of a port as an Array."""
        port = self.ports.get(name)
        made = port.array(dtype) if port else Array((0,), DType.MW_F32)
        checked("mw_program_read", self, name.encode(), made.dtype, ctypes.byref(made.data), made.size)
        return made

    def run(self, **feeds: Values) -> Dict[str, Array]:
        """Writes inputs, runs once, and returns {name: Array} of the outputs. Inputs that are not given keep theirs."""
        for name, value in feeds.items():
            self.write(name, value)
        checked("mw_program_run", self)
        return {name: self.read(name) for name, port in self.ports.items() if port.is_output}

    def share(self, output: str, name: str) -> None:
        """Makes an output the next value of an input; before the first run."""
        checked("mw_program_alias", self, output.encode(), name.encode())

    def load_weights(self, path: Path, **options: Any) -> List[Loaded]:
        """Parameters from a file of tensors; options as those of Graph.load_weights. Returns [Loaded]."""
        keep: List[Any] = []
        filled, told = weights_options(options, keep, "load_weights")
        with told:
            checked("mw_program_load_weights", self, os.fspath(path).encode(), ctypes.byref(filled))
        return told.items

    def classes(self, result: str) -> List[Any]:
        """The labels of a result of a classifier."""
        return classes_of("mw_program_classes", self, result)


def classes_of(call, handle, result):
    """The labels of a result: texts or integers; [] if it has none."""
    found = abi.mw_classes()
    checked(call, handle, result.encode(), ctypes.byref(found))
    if found.names:
        return [text_of(found.names[i]) for i in range(found.count)]
    return list(found.numbers[: found.count]) if found.numbers else []


class Model(Handle):
    """A model of a file (.mlpackage, .mlmodelc, model.mil, .onnx), or of a graph, which is copied. It may be used by
    several threads at once; each makes a Predictor of its own. weights: a file of tensors that it starts with, or a dict
    with "path" and the options of Graph.load_weights; description: what a graph's model says of itself; other options
    are the fields of mw_model_options and mw_compile_options: batch, shapes={"x": (1, 3, 224, 224)}, read_only, device,
    threads, .."""

    _destroy = "mw_model_destroy"

    def __init__(
            self, source: Union[Graph, Path], weights: Union[Path, Mapping[str, Any], None] = None, description:
            Optional[Mapping[str, str]] = None, **options: Any) -> None:
        keep: List[Any] = []
        own = {name for name, _ in abi.mw_model_options._fields_}
        filled = fill(library.mw_model_defaults(), {k: v for k, v in options.items() if k in own}, keep, "a model")
        compiled = fill(library.mw_compile_defaults(), {k: v for k, v in options.items() if k not in own}, keep, "a model")
        filled.compile = ctypes.pointer(compiled)
        told = None
        if weights is not None:
            given = dict(weights) if isinstance(weights, dict) else {"path": weights}
            filled.weights.path = os.fspath(given.pop("path")).encode()
            loading, told = weights_options(given, keep, "a model: weights")
            filled.weights.options = ctypes.pointer(loading)
        if description is not None:
            described_as = described(description, keep)
            filled.description = ctypes.pointer(described_as)
            keep.append(described_as)
        with told or contextlib.nullcontext():
            if hasattr(source, "_lock"):
                with source._lock:
                    self._adopt(checked("mw_model_create", source, ctypes.byref(filled)), *keep)
            else:
                self._adopt(checked("mw_model_open", os.fspath(source).encode(), ctypes.byref(filled)), *keep)

    @property
    def description(self) -> Dict[str, str]:
        """What the file says of itself: {"author": .., ..}"""
        return facts_of(library.mw_model_get_info(self).description)

    def classes(self, result: str) -> List[Any]:
        """The labels of a result of a classifier: texts or integers; [] if it has none."""
        return classes_of("mw_model_classes", self, result)

    @property
    def ports(self) -> Dict[str, Port]:
        """{name: Port} for a run of `batch` examples."""
        return ports_of(self, "model")

    @property
    def batch(self) -> int:
        """The most examples that one run takes."""
        return library.mw_model_get_info(self).batch

    def write(self, path: Path, **options: Any) -> None:
        """Writes it in the format that the path ends in: .mlpackage, .onnx, else a folder with model.mil. Options as those
        of Graph.write."""
        keep: List[Any] = []
        filled = write_options(options, keep, "write")
        checked("mw_model_write", self, os.fspath(path).encode(), ctypes.byref(filled))

    def predictor(self) -> Predictor:
        return Predictor(self)


class Predictor(Handle):
    """What one thread predicts with; it keeps the model alive."""

    _destroy = "mw_predictor_destroy"

    def __init__(self, model: Model) -> None:
        self._adopt(checked("mw_predictor_create", model), model)
        self.model, self._chosen = model, False
        self._learn(model.ports)

    def _learn(self, ports):
        shapes = {n: (None, *p.shape[1:]) for n, p in ports.items() if not p.is_output and p.shape}
        self._outputs = {name: port for name, port in ports.items() if port.is_output}
        self._feeders, self._places = Feeders(shapes), {}

    def predict(self, out: Optional[Mapping[str, Values]] = None, **feeds: Values) -> Dict[str, Any]:
        """{name: Array} of all results for any number of examples, which stand along the first axis. What `out` has,
        {name: array}, is written there, converted to its type, and returned; nothing is copied on the way in, and
        numpy.asarray(array) shares the memory of an Array."""
        feeder = self._feeders.take()
        try:
            batch = feeder.batch(feeds)
            results, made = self._results(batch.examples, out)
            call("mw_predictor_predict", self._as_parameter_, ctypes.byref(batch), results, len(results))
            return made
        finally:
            self._feeders.give(feeder)

    def set_shapes(self, **shapes: Shape) -> None:
        """Chooses shapes of inputs that have None in theirs. Results go to `out` from then on."""
        items = shape_array(shapes)
        checked("mw_predictor_set_shapes", self, items, len(items))
        ports, self._chosen = self.model.ports, True
        for name, shape in shapes.items():
            ports[name].shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self._learn(ports)

    def reset(self) -> None:
        """Gives every state its first value again."""
        checked("mw_predictor_reset", self)

    def read(self, state: str, shape: Shape, dtype: Type = DType.MW_F32) -> Array:
        """A copy of a state."""
        made = Array(shape, arrays.dtype_of(dtype))
        checked("mw_predictor_read", self, state.encode(), made.dtype, ctypes.byref(made.data), made.size)
        return made

    def write(self, state: str, value: Values) -> None:
        """Replaces a state."""
        found = arrays.source(value, state, DType.MW_F32)
        checked("mw_predictor_write", self, state.encode(), found.dtype, found.address, found.count)

    def _results(self, examples, out):
        """Rooms for the results, and what C is told of them."""
        rooms = self._places.get(examples)
        if rooms is None:
            rooms = self._places[examples] = [self._room(name, port, examples) for name, port in self._outputs.items()]
            if len(self._places) > 16:  # numbers of examples that do not come again
                self._places = {examples: rooms}
        results, made = (abi.mw_result * len(rooms))(), {}
        for item, (name, text, room) in zip(results, rooms):
            item.name = text
            if out is not None and name in out:
                found = arrays.place(out[name], name, room[1], room[0])
                made[name], item.dtype, item.data, item.count = out[name], found.dtype, found.address, found.count
            elif room[0] is None:
                raise ValueError(f"{name}: its shape follows from shapes that were chosen; out={{{name!r}: array}} has room")
            else:
                array = made[name] = Array.room(*room)
                item.dtype, item.data, item.count = room[1], ctypes.addressof(array.data), room[3]
        if out is not None and not made.keys() >= out.keys():
            raise ValueError(f"there is no result {', '.join(out.keys() - made.keys())}")
        return results, made

    def _room(self, name, port, examples):
        """Shape, type, kind of memory and size of a result."""
        dtype, found = port.dtype_out(), abi.mw_shape()
        if self._chosen:
            return name, name.encode(), (None, dtype, None, 0)
        checked("mw_model_result_shape", self.model, name.encode(), max(1, examples), ctypes.byref(found))
        shape = extents_of(found)
        size = math.prod(shape)
        return name, name.encode(), (shape, dtype, arrays.TYPES[dtype][1] * size, size)
