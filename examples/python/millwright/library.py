"""The loaded library: where it is found, errors as exceptions, handles that are freed once, functions that C calls."""
from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import itertools
import os
import pathlib
import re
import sys
import threading
import warnings
import weakref
from typing import Any, Callable, Dict, Optional

from . import abi

Status = abi.mw_status


class Error(Exception):
    """A call that failed. `status` is one of Status; `operation` and `tensor` name what it is about, or are ""; `line`
    and `column` are those of a text that was read, or 0."""

    def __init__(self, status, message, operation="", tensor="", line=0, column=0):
        super().__init__(message)
        self.status, self.message = Status(status), message
        self.operation, self.tensor, self.line, self.column = operation, tensor, line, column


# ---- finding and loading ----

FILE = "libmillwright.dylib" if sys.platform == "darwin" else "libmillwright.so.0"


def candidates():
    """Paths where the library may be, best first. MILLWRIGHT_LIBRARY is the only one if it is set."""
    named = os.environ.get("MILLWRIGHT_LIBRARY")
    if named:
        return [named]
    own = pathlib.Path(__file__).resolve()
    here = own.parents[2:6]  # a prefix that it is installed in, or the repository; pip puts libraries beside the module
    folders = [own.parent / "lib", *(root / f for root in here for f in ("lib", "lib64", "build/release", "build"))]
    folders += [folder for root in here for folder in sorted(root.glob("lib/*-*-*"))]
    found = [str(folder / FILE) for folder in folders if (folder / FILE).exists()]
    elsewhere = ctypes.util.find_library("millwright")
    return found + ([elsewhere] if elsewhere else [])


class Loaded:
    """The core and the libraries of the same release that lie beside it, or in it: a function is of whichever has it. All
    but libmillwright_data may be missing; `without` has the reasons, by their names."""

    def __init__(self, path):
        self.core, self.others, self.without = ctypes.CDLL(path), {}, {}
        for name, functions in abi.BESIDE.items():
            if hasattr(self.core, next(iter(functions))):
                continue
            try:
                self.others.update(dict.fromkeys(functions, ctypes.CDLL(beside(path, name))))
            except OSError as error:
                if name == "data":
                    raise
                self.without[name] = str(error)

    def lacks(self, name):
        """Whether a function is of a library that is missing."""
        return any(name in abi.BESIDE[missing] for missing in self.without)

    def __getattr__(self, name):
        return getattr(self.others.get(name, self.core), name)

    def __getitem__(self, name):
        return self.others.get(name, self.core)[name]


def beside(path, name):
    """The path of a library beside the core: libmillwright_data.so.0 in the folder of libmillwright.so.0."""
    file = pathlib.Path(path).name.replace("millwright", f"millwright_{name}", 1)
    return str(pathlib.Path(path).with_name(file)) if os.path.dirname(path) else file


class Functions:
    """The functions of abi.FUNCTIONS by their names. Handles among the arguments become their pointers here and not in
    ctypes, which would make its own error of what a closed one raises."""

    def __init__(self, loaded):
        self.without, self.plain = loaded.without, {}
        for name, (result, parameters) in abi.FUNCTIONS.items():
            if loaded.lacks(name):
                continue
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, [kind for _, kind in parameters]
            self.plain[name] = function
            setattr(self, name, self.caller(function))

    def need(self, name):
        """Raises what is missing, if it is the library of that name."""
        if name in self.without:
            raise Error(Status.MW_ERROR_UNSUPPORTED, f"there is no libmillwright_{name}: {self.without[name]}")

    @staticmethod
    def caller(function):
        return lambda *arguments: function(*[getattr(a, "_as_parameter_", a) for a in arguments])


def check_sizes(loaded):
    """Options that this module and the library see alike say so by their struct_size; other headers mean another
    layout, and a crash later. Asked with room to spare, so that a larger struct does no harm."""
    for name, (result, parameters) in abi.FUNCTIONS.items():
        if not name.endswith("_defaults") or result._fields_[0][0] != "struct_size" or loaded.lacks(name):
            continue
        if ctypes.sizeof(result) <= 16:
            continue  # comes in registers, not in memory with room behind it
        function = loaded[name]  # another one than loaded.name, with a declaration of its own
        fields = [("it", result), ("room", ctypes.c_char * 4096)]
        function.restype = type("Roomy", (ctypes.Structure,), {"_fields_": fields})
        function.argtypes = [kind for _, kind in parameters]
        size = function(*[None if hasattr(kind, "contents") else kind() for _, kind in parameters]).it.struct_size
        if size != ctypes.sizeof(result):
            raise AttributeError(f"{result.__name__} has {size} bytes there, {ctypes.sizeof(result)} here")


def register_chip(path, core):
    """Netplists and costs of chips, where libmillwright_chip of the same release lies beside the core, or in it."""
    name = pathlib.Path(path).name
    sibling = name.replace("millwright", "millwright_chip", 1)
    if hasattr(core, "mw_chip_register"):
        core.mw_chip_register()
    elif sibling != name:
        place = pathlib.Path(path).with_name(sibling)
        try:
            ctypes.CDLL(str(place)).mw_chip_register()
        except (OSError, AttributeError) as error:
            if place.exists():
                warnings.warn(f"no netplists, no costs of chips: {error}")


def load():
    """The library with every function declared."""
    paths = candidates()
    if not paths:
        raise ImportError("libmillwright is not found: set MILLWRIGHT_LIBRARY to its path")
    try:
        loaded = Loaded(paths[0])
        functions = Functions(loaded)
        check_sizes(loaded)
        register_chip(paths[0], loaded.core)
        return functions
    except (OSError, AttributeError) as error:
        raise ImportError(f"{paths[0]} is no libmillwright for this module: {error}") from error


library = load()
version = library.mw_version().decode()


# ---- errors ----

_raised: Dict[int, BaseException] = {}
_numbers, _raised_lock = itertools.count(1), threading.Lock()


def text_of(data):
    return data.decode("utf-8", "replace")


def raise_error(err):
    """Raises what an mw_error says, or the exception of a function of Python that it comes from."""
    message = text_of(err.message)
    mark = re.search(r"python exception #(\d+)", message)
    with _raised_lock:
        exception = _raised.pop(int(mark[1]), None) if mark else None
    if exception is not None:
        raise exception
    raise Error(err.status, message, text_of(err.operation), text_of(err.tensor), err.text_line, err.text_column)


def checked(name, *arguments):
    """Calls a function whose last parameter is the error, and raises that."""
    err = abi.mw_error()
    result = getattr(library, name)(*arguments, ctypes.byref(err))
    if err.status != Status.MW_OK:
        raise_error(err)
    return result


class _Errors(threading.local):
    """The error of a thread for calls that come often."""

    def __init__(self):
        self.it = abi.mw_error()
        self.reference = ctypes.byref(self.it)


_errors = _Errors()


def call(name, *arguments):
    """The same as checked, where the time of a call counts: what is given is what the prototype has, handles as pointers,
    and the error is made once for each thread."""
    errors = _errors
    err = errors.it
    library.plain[name](*arguments, errors.reference)
    if err.status != 0:
        failed = abi.mw_error.from_buffer_copy(err)
        ctypes.memset(ctypes.addressof(err), 0, ctypes.sizeof(err))
        raise_error(failed)


def report(err, exception):
    """Leaves an exception in an mw_error that C hands to whoever called it."""
    with _raised_lock:
        number = next(_numbers)
        _raised[number] = exception
        for old in list(_raised)[:-16]:  # of calls whose error nobody asked for
            del _raised[old]
    if err:
        err[0].status = Status.MW_ERROR_STATE
        err[0].message = f"python exception #{number}: {type(exception).__name__}: {exception}".encode()[:300]
    return int(Status.MW_ERROR_STATE)


class Callbacks:
    """Functions of Python for the time of one call. What they raise is raised again when the call has returned:

        with Callbacks() as calls:
            ... library.mw_trainer_fit(..., calls.add(abi.mw_progress_function, function, True), ...)
    """

    def __init__(self):
        self.exception, self.thunks = None, []

    def add(self, prototype, function, failure):
        def call(*arguments):
            try:
                return function(*arguments)
            except BaseException as exception:  # pylint: disable=broad-except
                self.exception = self.exception or exception
                return failure

        self.thunks.append(prototype(call))
        return self.thunks[-1]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.exception is not None and value is not self.exception:
            raise self.exception from None


# ---- handles ----


class Handle:
    """An object of the library. It is freed once: by close(), at the end of a with block, when nothing refers to it any
    more, or when the interpreter ends. `_keep` holds what it needs, for as long as it is referred to."""

    _destroy = ""  # the function that frees it

    def _adopt(self, pointer, *keep):
        self._pointer, self._keep = pointer, list(keep)
        self._finalizer = weakref.finalize(self, getattr(library, self._destroy), pointer)

    @property
    def closed(self) -> bool:
        return not self._finalizer.alive

    @property
    def _as_parameter_(self):
        """What is handed to C."""
        if self.closed:
            raise Error(Status.MW_ERROR_STATE, f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self) -> None:
        """Frees it; what is made of it lives on. Twice is fine."""
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---- arguments ----


def fill(struct, values, keep, what):
    """Sets fields of an options struct by name; pointers that it gets are kept in `keep`."""
    kinds = {name: kind for name, kind in struct._fields_ if can_fill(name, kind)}
    for name, value in values.items():
        if name not in kinds:
            raise TypeError(f"{what} has no option {name!r}; it has {', '.join(sorted(kinds))}")
        if is_group(kinds[name], value):
            fill(getattr(struct, name), {"path": value} if isinstance(value, (str, os.PathLike)) else value, keep,
                 f"{what}: {name}")
        elif name in COUNTED:
            array = COUNTED_AS[kinds[name]](value, f"{what}: {name}")
            keep.append(array)
            setattr(struct, name, array)
            setattr(struct, COUNTED[name], len(array))
        else:
            value = named_value(type(struct).__name__, name, value, f"{what}: {name}")
            setattr(struct, name, to_c(kinds[name], value, keep, f"{what}: {name}"))
    return struct


def named_value(owner, name, value, what):
    """The member of an enum that a text names, "same" of MW_PAD_SAME; any other value as it is."""
    kind = abi.ENUMS.get((owner, name))
    if kind is None or not isinstance(value, str):
        return value
    if kind is abi.mw_dtype and value in abi_dtypes():
        return abi_dtypes()[value]
    begin = os.path.commonprefix([member.name for member in kind if not member.name.endswith("_DTYPE_NONE")])
    begin = begin[: begin.rfind("_") + 1]
    names = {member.name[len(begin):].lower(): member for member in kind}
    if value.lower() not in names:
        raise ValueError(f"{what} is one of {', '.join(names)}, not {value!r}")
    return names[value.lower()]


def abi_dtypes():
    from .arrays import NAMES  # by MIL's names; it needs this module

    return {name: dtype for dtype, name in NAMES.items()}


def is_group(kind, value):
    """Whether a field is a struct of options that is given as a dict, or as the path that is in it."""
    fields = dict(getattr(kind, "_fields_", []))
    return bool(fields) and (isinstance(value, dict) or "path" in fields and isinstance(value, (str, os.PathLike)))


# Arrays whose length goes along, by their fields.
COUNTED = {
    "class_weights": "class_count", "patterns": "pattern_count", "full_patterns": "full_count", "shapes": "shape_count",
    "prefixes": "prefix_count", "more": "more_count", "inputs": "input_count", "targets": "target_count",
    "class_names": "class_count",
}
HANDLES = {ctypes.POINTER(kind) for kind in (
    abi.mw_tensor, abi.mw_trainer, abi.mw_program, abi.mw_dataset, abi.mw_communicator)}


def text_array(texts, what="texts"):
    """Texts as C has them: one is a list of one."""
    texts = [texts] if isinstance(texts, (str, os.PathLike)) else list(texts)
    return (ctypes.c_char_p * len(texts))(*(to_c(ctypes.c_char_p, text, [], what) for text in texts))


def shape_array(shapes, what="shapes"):
    """{input: shape}"""
    made = (abi.mw_input_shape * len(shapes))()
    for item, (name, shape) in zip(made, shapes.items()):
        item.input, item.shape = name.encode(), shape_of(shape, f"{what}: {name}")
    return made


def prefix_array(prefixes, what="prefixes"):
    """{begin of a name: what it becomes}"""
    made = (abi.mw_weights_prefix * len(prefixes))()
    for item, (begin, end) in zip(made, prefixes.items()):
        item.__setattr__("from", to_c(ctypes.c_char_p, begin, [], what))
        item.to = to_c(ctypes.c_char_p, end, [], what)
    return made


COUNTED_AS = {
    ctypes.POINTER(ctypes.c_float): lambda value, what: (ctypes.c_float * len(value))(*value),
    ctypes.POINTER(ctypes.c_char_p): text_array, ctypes.POINTER(abi.mw_input_shape): shape_array,
    ctypes.POINTER(abi.mw_weights_prefix): prefix_array,
}


def can_fill(name, kind):
    """Whether a field can be set by name: no functions and no memory, which have calls that keep them alive."""
    if hasattr(kind, "contents") and kind not in HANDLES or hasattr(kind, "_flags_"):
        return name in COUNTED and kind in COUNTED_AS
    return kind is not ctypes.c_void_p and name not in ("struct_size", *COUNTED.values())


def to_c(kind, value, keep, what):
    """A value of Python as one of ctypes: text as UTF-8, tuples as shapes, axes and arrays, handles as pointers."""
    if kind is ctypes.c_char_p and isinstance(value, (str, os.PathLike)):
        value = os.fspath(value).encode()
        if b"\0" in value:
            raise ValueError(f"{what} holds a zero byte")
        return value
    if kind is abi.mw_shape:
        return shape_of(value, what)
    if kind is abi.mw_axes:
        axes = [value] if isinstance(value, int) else list(value)
        return abi.mw_axes(len(axes), (ctypes.c_int * abi.MW_RANK_MAX)(*axes))
    if hasattr(kind, "_length_") and isinstance(value, (list, tuple)):
        return kind(*value)
    if kind in WHOLE:
        return whole(kind, value, what)
    if hasattr(value, "_as_parameter_"):
        keep.append(value)
        return value._as_parameter_
    return value


WHOLE = {ctypes.c_int, ctypes.c_int32, ctypes.c_uint, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t}


def whole(kind, value, what):
    """An integer that the type holds; ctypes would cut it."""
    number = value.__index__() if hasattr(value, "__index__") else None
    if number is None:
        raise TypeError(f"{what} is a whole number, not {value!r}")
    if kind(number).value != number:
        raise ValueError(f"{what}: {number} is out of range")
    return number


def shape_of(extents, what="the shape"):
    """An mw_shape of one extent, or of several; None is an unknown one."""
    extents = [extents] if isinstance(extents, int) else list(extents)
    if len(extents) > abi.MW_RANK_MAX:
        raise ValueError(f"{what} has {len(extents)} axes, at most {abi.MW_RANK_MAX} are allowed")
    numbers = [abi.MW_DIM_UNKNOWN if d is None else whole(ctypes.c_int64, d, what) for d in extents]
    return abi.mw_shape(len(numbers), (ctypes.c_int64 * abi.MW_RANK_MAX)(*numbers))


def extents_of(shape):
    """A tuple of an mw_shape."""
    return tuple(None if d == abi.MW_DIM_UNKNOWN else d for d in shape.dim[: shape.rank])


def set_log(function: Optional[Callable[[int, str], Any]]) -> None:
    """Has function(level, line) called with what the library logs; None ends it. What it raises is printed. Before
    other threads use the library."""
    global _log  # C calls it until another is set
    told: Any = function
    thunk = abi.mw_log_function(lambda user, level, line: told(level, text_of(line))) if told else None
    library.mw_log_set(thunk or NO_LOG, None)
    _log = thunk


NO_LOG: Any = abi.mw_log_function()  # type: ignore[call-overload]  # NULL
_log: Any = None
atexit.register(lambda: library.mw_log_set(NO_LOG, None))  # behind the last object
