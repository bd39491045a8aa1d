"""Millwright's shared library for Python, as far as the comparison needs it: read, compile, write ports, run, read.

Numbers of the headers are repeated here; a layout that changed shows as a wrong status at once.
"""
import ctypes

import numpy as np

F32, I32 = 2, 8           # mw_dtype
CPU, ANE = 1, 4           # mw_device
ENGINE = 1                # mw_provider
RANK_MAX = 8


class LibraryError(Exception):
    """A call failed; the text is the library's."""


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 512), ("rest", ctypes.c_char * 256)]


class Options(ctypes.Structure):
    """mw_compile_options with room behind what is known of it."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_int), ("provider", ctypes.c_int),
                ("threads", ctypes.c_int), ("rest", ctypes.c_char * 512)]


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int), ("dim", ctypes.c_int64 * RANK_MAX)]

    @staticmethod
    def of(extents):
        return Shape(len(extents), (ctypes.c_int64 * RANK_MAX)(*extents))


class InputShape(ctypes.Structure):
    _fields_ = [("input", ctypes.c_char_p), ("shape", Shape)]

    @staticmethod
    def all(shapes):
        """(array, count) of {input: extents}."""
        return ((InputShape * len(shapes))(*[InputShape(n.encode(), Shape.of(s)) for n, s in shapes.items()]),
                ctypes.c_size_t(len(shapes)))


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("mil_name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("shape", Shape),
                ("is_output", ctypes.c_bool), ("is_parameter", ctypes.c_bool)]


class Label(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int64), ("name", ctypes.c_char_p), ("number", ctypes.c_int64)]


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        for name in ("mw_graph_open_mil", "mw_program_create", "mw_graph_flatten", "mw_graph_specialize", "mw_graph_find", "mw_input", "mw_output"):
            getattr(self.calls, name).restype = ctypes.c_void_p
        self.calls.mw_compile_defaults.restype = Options
        self.calls.mw_tensor_shape.restype = Shape
        self.calls.mw_program_port_at.restype = ctypes.c_bool
        self.calls.mw_input.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, Shape]

    def checked(self, error, result):
        if error.status != 0:
            raise LibraryError(error.message.decode(errors="replace"))
        return result

    def read(self, path):
        error = Error()
        return Graph(self, self.checked(error, self.calls.mw_graph_open_mil(path.encode(), None, ctypes.byref(error))))


class Graph:
    def __init__(self, library, handle):
        self.library, self.handle = library, ctypes.c_void_p(handle)

    def close(self):
        self.library.calls.mw_graph_destroy(self.handle)

    def flat(self):
        error = Error()
        handle = self.library.calls.mw_graph_flatten(self.handle, ctypes.byref(error))
        return Graph(self.library, self.library.checked(error, handle))

    def specialized(self, shapes):
        error = Error()
        handle = self.library.calls.mw_graph_specialize(self.handle, *InputShape.all(shapes), ctypes.byref(error))
        return Graph(self.library, self.library.checked(error, handle))

    def find(self, name):
        handle = self.library.calls.mw_graph_find(self.handle, name.encode())
        if not handle:
            raise LibraryError("no tensor %s" % name)
        return ctypes.c_void_p(handle)

    def add_gradients(self, outputs, inputs):
        """Inputs `w_<i>` with the shapes of the outputs, and results `d_<i>`: sums of w dy/dx for each input."""
        calls, error = self.library.calls, Error()
        ys = [self.find(name) for name in outputs]
        seeds = [ctypes.c_void_p(calls.mw_input(self.handle, b"w_%d" % i, calls.mw_tensor_dtype(y),
                                                calls.mw_tensor_shape(y))) for i, y in enumerate(ys)]
        xs = [self.find(name) for name in inputs]
        found = (ctypes.c_void_p * len(xs))()
        calls.mw_vjp((ctypes.c_void_p * len(ys))(*[y.value for y in ys]),
                     (ctypes.c_void_p * len(ys))(*[s.value for s in seeds]), ctypes.c_size_t(len(ys)),
                     (ctypes.c_void_p * len(xs))(*[x.value for x in xs]), ctypes.c_size_t(len(xs)), found,
                     ctypes.byref(error))
        self.library.checked(error, None)
        for i, gradient in enumerate(found):
            calls.mw_output(ctypes.c_void_p(gradient), b"d_%d" % i)

    def compile(self, device):
        options = self.library.calls.mw_compile_defaults()
        options.device, options.provider, options.threads = device, ENGINE, 1
        error = Error()
        handle = self.library.calls.mw_program_create(self.handle, ctypes.byref(options), ctypes.byref(error))
        return Program(self.library, self.library.checked(error, handle))


class Program:
    def __init__(self, library, handle):
        self.library, self.handle = library, ctypes.c_void_p(handle)

    def close(self):
        self.library.calls.mw_program_destroy(self.handle)

    def ports(self):
        port = Port()
        index = 0
        while self.library.calls.mw_program_port_at(self.handle, ctypes.c_size_t(index), ctypes.byref(port)):
            yield port.name.decode(), bool(port.is_output)
            index += 1

    def set_shapes(self, shapes):
        error = Error()
        self.library.calls.mw_program_set_shapes(self.handle, *InputShape.all(shapes), ctypes.byref(error))
        self.library.checked(error, None)

    def pass_array(self, call, name, dtype, array):
        error = Error()
        call(self.handle, name.encode(), dtype, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.size),
             ctypes.byref(error))
        self.library.checked(error, None)
        return array

    def write(self, name, values):
        """Floats as fp32, anything else as int32."""
        is_float = np.asarray(values).dtype.kind == "f"
        array = np.ascontiguousarray(values, np.float32 if is_float else np.int32)
        self.pass_array(self.library.calls.mw_program_write, name, F32 if is_float else I32, array)

    def read(self, name, shape):
        return self.pass_array(self.library.calls.mw_program_read, name, F32, np.empty(shape, np.float32))

    def label(self, name):
        """What classify predicted: a string or a number."""
        error, label = Error(), Label()
        self.library.calls.mw_program_label(self.handle, name.encode(), ctypes.byref(label), ctypes.byref(error))
        self.library.checked(error, None)
        return label.name.decode() if label.name is not None else label.number

    def run(self):
        error = Error()
        self.library.calls.mw_program_run(self.handle, ctypes.byref(error))
        self.library.checked(error, None)
