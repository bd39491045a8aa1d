"""Programs: a graph compiled for a device; models of files, run on any number of examples."""
import ctypes
import os

from . import abi, arrays
from .arrays import Array, DType
from .data import batch_of
from .library import Handle, checked, extents_of, fill, library, shape_of, text_of


class Port:
    """What is known of a port. A shape has None for extents that are still to be chosen."""

    def __init__(self, port):
        self.name, self.dtype, self.shape = text_of(port.name), DType(port.dtype), extents_of(port.shape)
        self.is_output, self.is_parameter = port.is_output, port.is_parameter

    def __repr__(self):
        kind = "output" if self.is_output else "parameter" if self.is_parameter else "input"
        return f"<{kind} {self.name!r} {arrays.NAMES.get(self.dtype, self.dtype.name)} {list(self.shape)}>"

    def array(self, dtype=None):
        """Room for its elements; of floats fp32, unless dtype says otherwise."""
        own = DType.MW_F32 if self.dtype in arrays.FLOATS or self.dtype not in arrays.TYPES else self.dtype
        return Array(self.shape, own if dtype is None else arrays.dtype_of(dtype))


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

    def __init__(self, graph, **options):
        keep = []
        filled = fill(library.mw_compile_defaults(), options, keep, "a program")
        with graph._lock:
            self._adopt(checked("mw_program_create", graph, ctypes.byref(filled)), *keep)

    @property
    def ports(self):
        """{name: Port}; of a program with None in its shapes as they are chosen."""
        return ports_of(self, "program")

    @property
    def where(self):
        """What runs it: "engine, CPU (fp32), 2 threads"."""
        return text_of(library.mw_program_get_info(self).where)

    @property
    def mil(self):
        """The MIL text that it runs."""
        return text_of(library.mw_program_get_info(self).mil)

    def set_shapes(self, **shapes):
        """Chooses shapes of inputs that have None in theirs."""
        items = (abi.mw_input_shape * len(shapes))()
        for item, (name, shape) in zip(items, shapes.items()):
            item.input, item.shape = name.encode(), shape_of(shape)
        checked("mw_program_set_shapes", self, items, len(items))

    def write(self, name, value):
        """Copies values to an input, of its shape and, converted, to its type."""
        found, ports = arrays.source(value, name), self.ports
        if name in ports:
            arrays.of_shape(found, ports[name].shape, name)
        checked("mw_program_write", self, name.encode(), found.dtype, found.address, found.count)

    def read(self, name, dtype=None):
        """A copy of a port as an Array."""
        port = self.ports.get(name)
        made = port.array(dtype) if port else Array((0,), DType.MW_F32)
        checked("mw_program_read", self, name.encode(), made.dtype, ctypes.byref(made.data), made.size)
        return made

    def run(self, **feeds):
        """Writes inputs, runs once, and returns {name: Array} of the outputs. Inputs that are not given keep theirs."""
        for name, value in feeds.items():
            self.write(name, value)
        checked("mw_program_run", self)
        return {name: self.read(name) for name, port in self.ports.items() if port.is_output}

    def share(self, output, name):
        """Makes an output the next value of an input; before the first run."""
        checked("mw_program_alias", self, output.encode(), name.encode())

    def load_weights(self, path):
        """Parameters from a safetensors file."""
        checked("mw_program_load_weights", self, os.fspath(path).encode(), None)


class Model(Handle):
    """A model of a file: .mlpackage, .mlmodelc, model.mil, .onnx. It may be used by several threads at once; each makes
    a Predictor of its own."""

    _destroy = "mw_model_destroy"

    def __init__(self, path, batch=0, **options):
        keep = []
        filled = fill(library.mw_model_defaults(), {"batch": batch}, keep, "a model")
        compiled = fill(library.mw_compile_defaults(), options, keep, "a model")
        filled.compile = ctypes.pointer(compiled)
        self._adopt(checked("mw_model_open", os.fspath(path).encode(), ctypes.byref(filled)), *keep)

    @property
    def ports(self):
        """{name: Port} for a run of `batch` examples."""
        return ports_of(self, "model")

    @property
    def batch(self):
        """The most examples that one run takes."""
        return library.mw_model_get_info(self).batch

    def write(self, path):
        """Writes it in the format that the path ends in: .mlpackage, .onnx, else a folder with model.mil."""
        checked("mw_model_write", self, os.fspath(path).encode(), None)

    def predictor(self):
        return Predictor(self)


class Predictor(Handle):
    """What one thread predicts with; it keeps the model alive."""

    _destroy = "mw_predictor_destroy"

    def __init__(self, model):
        self._adopt(checked("mw_predictor_create", model), model)
        self.model, self._ports, self._batch = model, model.ports, model.batch

    def predict(self, **feeds):
        """{name: Array} of all results for any number of examples, which stand along the first axis."""
        shapes = {n: (None, *p.shape[1:]) for n, p in self._ports.items() if not p.is_output and p.shape}
        batch, keep = batch_of(feeds, shapes)
        made = {n: self._room(p, batch.examples) for n, p in self._ports.items() if p.is_output}
        results = (abi.mw_result * len(made))()
        for item, (name, array) in zip(results, made.items()):
            item.name, item.dtype, item.count = name.encode(), array.dtype, array.size
            item.data = ctypes.addressof(array.data)
        checked("mw_predictor_predict", self, ctypes.byref(batch), results, len(results))
        return made

    def _room(self, port, examples):
        shape = (examples, *port.shape[1:]) if port.shape and port.shape[0] == self._batch else port.shape
        return Array(shape, port.array().dtype)
