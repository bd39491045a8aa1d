"""Graphs and tensors, gradients, and operations by their names in MIL.

    graph = Graph()
    x = graph.input("x", (128, 784))
    y = ops.relu(x @ w + 1.0)                # or (x @ w + 1.0).relu()
    dw, = grad(y.reduce_sum(), [w])

An error in a graph stays there, as in C: what failed is raised, and so is every later call on that graph."""
from __future__ import annotations

import ctypes
import itertools
import os
import threading
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

from . import abi, arrays
from .arrays import DType
from .description import write_options
from .kinds import Path, Shape, Type, Values
from .library import Callbacks, Error, Status, checked, extents_of, fill, library, report, shape_of, text_of
from .tuning import Tunable

NUMBERS = (bool, int, float)
SPLITS = ("num_splits", "split_sizes")  # how many results there are


class Graph(Tunable):
    """A program that is being built. Tensors keep it alive; calls from several threads wait for each other."""

    _destroy = "mw_graph_destroy"

    def __init__(self, opset: int = 18) -> None:
        options = fill(library.mw_graph_defaults(), {"opset": opset}, [], "a graph")
        self._adopt(checked("mw_graph_create", ctypes.byref(options)))

    def _adopt(self, pointer, *keep):
        super()._adopt(pointer, *keep)
        self._lock = threading.RLock()

    @classmethod
    def _of(cls, pointer):
        graph = cls.__new__(cls)
        graph._adopt(pointer)
        return graph

    # ---- models that there are ----

    @classmethod
    def read_mil(cls, path: Path) -> Graph:
        """A model.mil with its weights."""
        return cls._of(checked("mw_graph_open_mil", str(path).encode(), None))

    @classmethod
    def parse_mil(cls, text: str, folder: Optional[Path] = None) -> Graph:
        """MIL text; `folder` has its weight files."""
        data = text.encode()
        return cls._of(checked("mw_graph_parse_mil", data, len(data), folder and str(folder).encode(), None))

    @classmethod
    def read_onnx(cls, path: Path, extents: Optional[Mapping[str, int]] = None, **options: Any) -> Graph:
        """An ONNX file; `extents` gives dimensions by name, the others stay open."""
        items = [abi.mw_onnx_extent(name.encode(), extent) for name, extent in (extents or {}).items()]
        array = (abi.mw_onnx_extent * len(items))(*items)
        filled = fill(library.mw_onnx_defaults(), options, [], "read_onnx")
        filled.extents, filled.extent_count = array, len(items)
        return cls._of(checked("mw_graph_open_onnx", str(path).encode(), ctypes.byref(filled)))

    @classmethod
    def read_coreml(cls, path: Path, function: Optional[str] = None) -> Graph:
        """A function of a Core ML package or compiled model; None is its "main", or the only one."""
        model = checked("mw_coreml_open", str(path).encode(), None)
        try:
            lent = checked("mw_coreml_graph", model)
            return cls._of(checked("mw_graph_function", lent, function and function.encode()))
        finally:
            library.mw_coreml_destroy(model)

    # ---- leaves ----

    def input(self, name: str, shape: Shape, dtype: Type = DType.MW_F32) -> Tensor:
        """A tensor that is fed at each run. None in the shape: an extent that is chosen later."""
        return self._made("mw_input", name.encode(), arrays.dtype_of(dtype), shape_of(shape))

    def parameter(self, name: str, shape: Shape, init: Any = None, dtype: Type = DType.MW_F32) -> Tensor:
        """A tensor that training changes. init: one of `init`, or its values; None is init.kaiming_uniform()."""
        return self._leaf("mw_parameter", name, shape, init, dtype)

    def state(self, name: str, shape: Shape, init: Any = None, dtype: Type = DType.MW_F32) -> Tensor:
        """A tensor that stays on the device but is not trained; init as parameter, None is zeros."""
        return self._leaf("mw_state", name, shape, library.mw_init_zeros() if init is None else init, dtype)

    def _leaf(self, call, name, shape, init, dtype):
        dtype, found = arrays.dtype_of(dtype), None
        if init is None:
            init = library.mw_init_kaiming_uniform()
        elif not isinstance(init, abi.mw_init):
            found = arrays.converted(arrays.source(init, name), dtype, name)
            arrays.of_shape(found, extents_of(shape_of(shape)), name)
            init = library.mw_init_data(found.address)
        return self._made(call, name.encode(), dtype, shape_of(shape), init)

    def constant(self, data: Values, dtype: Optional[Type] = None) -> Tensor:
        """A constant of numbers, lists of them, arrays, or one text. Floats of Python are fp32, integers int32, unless
        dtype says otherwise; arrays have the type of their elements."""
        if isinstance(data, str):
            return self._made("mw_text", data.encode())
        found = arrays.source(data, "a constant", real=DType.MW_F32)
        found = found if dtype is None else arrays.converted(found, arrays.dtype_of(dtype), "a constant")
        return self._made("mw_constant", found.dtype, shape_of(found.shape), found.address)

    # ---- operations ----

    def op(self, operation: str, **arguments: Any) -> Any:
        """Appends an operation by its name in MIL, with its arguments by theirs; None is one that is left out. Numbers,
        text, lists and arrays become constants: a float has the type of the first floating-point tensor, and an
        argument that stands beside a tensor (x, y, a, b) that of the tensor. Returns a tensor, or a tuple of them."""
        with self._lock:
            given = {name: value for name, value in arguments.items() if value is not None}
            values = {name: self._values(operation, name, value, given) for name, value in given.items()}
            items = (abi.mw_argument * len(values))()
            for item, (name, tensors) in zip(items, values.items()):
                block = (ctypes.POINTER(abi.mw_tensor) * len(tensors))(*(t._as_parameter_ for t in tensors))
                item.name, item.values, item.count = name.encode(), block, len(tensors)
            room = max([64] + [results_of(v) for n, v in given.items() if n in SPLITS])
            results = (ctypes.POINTER(abi.mw_tensor) * room)()
            checked("mw_op", self, operation.encode(), items, len(items), results, room)
            made = tuple(Tensor(self, pointer) for pointer in results if pointer)
        return made[0] if len(made) == 1 else made

    def _values(self, operation, name, value, given):
        """The tensors of one argument."""
        if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
            value = list(value)
        elif not isinstance(value, Tensor):
            value = [self._constant_of(name, value, given)]
        else:
            value = [value]
        for tensor in value:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{operation}: {name} has {tensor!r} among its tensors")
            if tensor.graph._pointer_value() != self._pointer_value():
                raise Error(Status.MW_ERROR_ARGUMENT, f"{operation}: {name} is a tensor of another graph", operation)
        return value

    def _constant_of(self, name, value, given):
        if isinstance(value, DType):
            return self.constant(arrays.NAMES.get(value, value.name))
        if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple)):
            return self.constant(value)
        lists = [v if isinstance(v, (list, tuple)) else [v] for v in given.values()]
        tensors = [tensor for items in lists for tensor in items if isinstance(tensor, Tensor)]
        if name in ("x", "y", "a", "b") and tensors:
            beside = [given[n].dtype for n in ("x", "y", "a", "b") if isinstance(given.get(n), Tensor)]
            return self.constant(value, (beside or [tensors[0].dtype])[0])
        real = next((t.dtype for t in tensors if t.dtype in arrays.FLOATS), DType.MW_F32)
        found = arrays.source(value, name, real=real)
        return self._made("mw_constant", found.dtype, shape_of(found.shape), found.address)

    def _made(self, call, *arguments):
        """What a constructor of this graph makes."""
        with self._lock:
            return self._wrap(getattr(library, call)(self, *arguments))

    def _made_of(self, call, *arguments):
        """What a call on tensors of this graph gives."""
        with self._lock:
            return self._wrap(getattr(library, call)(*arguments))

    def _wrap(self, pointer):
        if not pointer:
            self.check()
            raise Error(Status.MW_ERROR_ARGUMENT, "a constructor gave no tensor")
        return Tensor(self, pointer)

    def _pointer_value(self):
        return ctypes.cast(self._as_parameter_, ctypes.c_void_p).value

    # ---- the whole ----

    def check(self) -> None:
        """Raises the first error of any constructor."""
        with self._lock:
            checked("mw_graph_check", self)

    def find(self, name: str) -> Optional[Tensor]:
        """An input, parameter, result or named tensor; None if there is none."""
        with self._lock:
            pointer = library.mw_graph_find(self, name.encode())
            return Tensor(self, pointer) if pointer else None

    def evaluation(self) -> Graph:
        """The same outputs as they are after training: a new graph."""
        with self._lock:
            return Graph._of(checked("mw_graph_evaluation", self))

    @property
    def inputs(self) -> List[Tensor]:
        """What is fed, in the order of the text; parameters and states are not."""
        return self._all("mw_graph_input_at")

    @property
    def outputs(self) -> List[Tensor]:
        """The results, in the order of the text."""
        return self._all("mw_graph_output_at")

    def _all(self, call):
        with self._lock:
            found = (getattr(library, call)(self, i) for i in itertools.count())
            return [Tensor(self, pointer) for pointer in itertools.takewhile(bool, found)]

    def write(self, path: Path, **options: Any) -> None:
        """Writes it in the format that the path ends in: .mlpackage, .onnx, else a folder with model.mil, where
        parameters are inputs. Options: description={"author": .., "license": .., "text": ..}, any_batch, check_only,
        opset, function."""
        keep: List[Any] = []
        filled = write_options(options, keep, "write")
        with self._lock:
            checked("mw_graph_write", self, os.fspath(path).encode(), ctypes.byref(filled))

    def mil(self) -> str:
        """The graph as MIL text."""
        with self._lock:
            return owned_text(checked("mw_graph_print_mil", self, None))

    def __str__(self):
        with self._lock:
            return owned_text(checked("mw_graph_print", self))

    def close(self) -> None:
        with self._lock:
            super().close()


def owned_text(pointer):
    """A string that the library made, which is freed."""
    try:
        return text_of(ctypes.string_at(pointer))
    finally:
        library.mw_string_free(ctypes.cast(pointer, ctypes.c_char_p))


def results_of(splits):
    """Room for the parts that a number, or a list of extents, asks for."""
    return max(0, splits.__index__()) if hasattr(splits, "__index__") else len(splits)


class Tensor:
    """A value of a graph. Every operation with an argument x is a method: x.relu(), x.reshape(shape=[2, 3])."""

    __slots__ = ("graph", "_pointer", "__weakref__")
    __array_ufunc__ = None  # numpy leaves array + tensor to the tensor

    def __init__(self, graph: Graph, pointer: Any) -> None:
        self.graph, self._pointer = graph, pointer

    @property
    def _as_parameter_(self):
        self.graph._as_parameter_  # pylint: disable=pointless-statement  # it must be open
        return self._pointer

    @property
    def dtype(self) -> DType:
        return DType(library.mw_tensor_dtype(self))

    @property
    def shape(self) -> Tuple[Optional[int], ...]:
        return extents_of(library.mw_tensor_shape(self))

    @property
    def name(self) -> str:
        return text_of(library.mw_tensor_name(self))

    def named(self, name: str) -> Tensor:
        """Gives it a name, for messages, text and ports; returns it."""
        return self.graph._made_of("mw_name", self, name.encode())

    def output(self, name: str) -> Tensor:
        """Makes it a result of the graph; returns the tensor that is the result."""
        return self.graph._made_of("mw_output", self, name.encode())

    def assign(self, value: Tensor) -> Tensor:
        """Of a state: the value that it has after each training step."""
        return self.graph._made_of("mw_state_assign", self, value)

    def __repr__(self):
        if self.graph.closed:
            return "<Tensor of a closed graph>"
        name = f" {self.name!r}" if self.name else ""
        return f"<Tensor{name} {arrays.NAMES.get(self.dtype, self.dtype.name)} {list(self.shape)}>"

    def __getattr__(self, name):
        from .ops import method

        return method(self, name)

    def __dir__(self):
        from .ops import methods

        return sorted(set(super().__dir__()) | set(methods()))

    def __getitem__(self, index):
        index = self._whole_index(index if isinstance(index, tuple) else (index,))
        parts = [i if isinstance(i, slice) else slice(i, i + 1) for i in index]
        single = [not isinstance(i, slice) for i in index]
        return self.graph.op(
            "slice_by_index", x=self, begin=[p.start or 0 for p in parts], end=[p.stop or 0 for p in parts],
            stride=[1 if p.step is None else p.step for p in parts], begin_mask=[p.start is None for p in parts],
            end_mask=[not s and p.stop is None for p, s in zip(parts, single)], squeeze_mask=single,
        )

    def _whole_index(self, index):
        """An integer or a slice for each axis."""
        shape, dots = self.shape, [i for i, part in enumerate(index) if part is Ellipsis]
        fill = (slice(None),) * (len(shape) - len(index) + len(dots[:1]))
        index = index[: dots[0]] + fill + index[dots[0] + 1 :] if dots else index + fill
        if len(index) != len(shape):
            raise IndexError(f"{len(index)} indices for {len(shape)} axes")
        for part, extent in zip(index, shape):
            if not isinstance(part, (int, slice)):
                raise TypeError(f"an index is a whole number, a slice or ..., not {part!r}; ops.gather takes tensors")
            if isinstance(part, int) and extent is not None and not -extent <= part < extent:
                raise IndexError(f"index {part} on an axis of {extent}")
        return index

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self):
        raise TypeError("a Tensor has no value while the graph is built; cond and ops.select choose")

    def __neg__(self):
        return self.graph.op("mul", x=self, y=-1)

    def __abs__(self):
        return self.graph.op("abs", x=self)

    def __matmul__(self, other):
        return self.graph.op("matmul", x=self, y=other)

    def __rmatmul__(self, other):
        return self.graph.op("matmul", x=other, y=self)


def _operator(operation, swapped=False):
    def call(self, other):
        if not isinstance(other, NUMBERS + (Tensor, list, tuple)) and not hasattr(other, "__array_interface__"):
            return NotImplemented
        x, y = (other, self) if swapped else (self, other)
        return self.graph.op(operation, x=x, y=y)

    return call


for _python, _mil in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "real_div", "floordiv": "floor_div",
                      "mod": "mod", "pow": "pow"}.items():
    setattr(Tensor, f"__{_python}__", _operator(_mil))
    setattr(Tensor, f"__r{_python}__", _operator(_mil, swapped=True))
for _python, _mil in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Tensor, f"__{_python}__", _operator(_mil))


# ---- gradients ----


def pointers(tensors):
    return (ctypes.POINTER(abi.mw_tensor) * len(tensors))(*(t._as_parameter_ for t in tensors))


def grad(loss: Tensor, x: Sequence[Tensor]) -> Tuple[Tensor, ...]:
    """d loss / d x for each tensor of the list x, as tensors of the same graph: they can be differentiated again."""
    return _gradients("mw_grad", loss.graph, x, loss)


def hvp(loss: Tensor, x: Sequence[Tensor], v: Sequence[Tensor]) -> Tuple[Tensor, ...]:
    """The Hessian of a scalar times v, over the list of tensors x."""
    return _gradients("mw_hvp", loss.graph, x, loss, v)


def _gradients(call, graph, x, loss, *more):
    with graph._lock:
        out = (ctypes.POINTER(abi.mw_tensor) * len(x))()
        checked(call, loss, pointers(x), *(pointers(v) for v in more), len(x), out)
        return tuple(Tensor(graph, pointer) for pointer in out)


def custom_vjp(
        name: str, y: Tensor, inputs: Sequence[Tensor], rule: Callable[[Sequence[Tensor], Tensor, Tensor],
        Sequence[Optional[Tensor]]]) -> Tensor:
    """y with the gradient rule(inputs, y, dy), which returns a tensor, or None, for each input. It is called when a
    gradient is built, also by a Trainer, on tensors of that graph; they are of no use when it has returned."""

    kept = y.graph._keep  # trainers that are made of the graph keep this list, too

    def call(asked, out, err):
        graph = borrowed(asked[0].graph, kept)
        try:
            given = [Tensor(graph, asked[0].inputs[i]) for i in range(asked[0].count)]
            made = rule(given, Tensor(graph, asked[0].y), Tensor(graph, asked[0].dy))
            for i, tensor in enumerate(made):
                if tensor is not None:
                    out[i] = tensor._as_parameter_
            return int(Status.MW_OK)
        except BaseException as exception:  # pylint: disable=broad-except
            return report(err, exception)
        finally:
            graph.close()

    thunk = abi.mw_custom_vjp_rule(call)
    kept.append(thunk)
    return y.graph._made_of("mw_custom_vjp", name.encode(), y, pointers(inputs), len(inputs), thunk, None)


class Lent(Graph):
    """A graph of somebody else, for the time of a callback."""

    def __init__(self, pointer, keep):  # pylint: disable=super-init-not-called
        self._pointer, self._keep, self._lock, self._open = pointer, keep, threading.RLock(), True

    @property
    def closed(self):
        return not self._open

    def close(self):
        self._open = False


def borrowed(pointer, keep):
    # The pointer in a callback's struct is a view of that struct; the graph is what it points to.
    return Lent(ctypes.cast(ctypes.cast(pointer, ctypes.c_void_p), ctypes.POINTER(abi.mw_graph)), keep)


# ---- branches and loops ----


def while_loop(
        variables: Sequence[Tensor], condition: Callable[..., Tensor], body: Callable[..., Any]) -> Tuple[Tensor, ...]:
    """variables = body(*variables) as long as condition(*variables); both are called once, while the loop is built, and
    use what stands around them. Returns the loop variables at its end."""
    graph = variables[0].graph

    def seen(items, count):
        return [Tensor(graph, items[i]) for i in range(count)]

    def ask(_, items, count):
        return ctypes.cast(condition(*seen(items, count))._as_parameter_, ctypes.c_void_p).value

    def go(_, items, count, out):
        give(body(*seen(items, count)), out, count, "the body of the loop")

    with graph._lock, Callbacks() as calls:
        out = (ctypes.POINTER(abi.mw_tensor) * len(variables))()
        functions = calls.add(abi.mw_loop_condition, ask, None), calls.add(abi.mw_loop_body, go, None)
        status = library.mw_while_loop(pointers(variables), len(variables), *functions, None, out)
        if status != Status.MW_OK and calls.exception is None:
            graph.check()
    return tuple(Tensor(graph, pointer) for pointer in out)


def cond(predicate: Tensor, yes: Callable[[], Any], no: Callable[[], Any], count: int = 1) -> Tuple[Tensor, ...]:
    """yes() where the predicate holds, else no(): each gives a tensor, or `count` of them. Returns a tuple."""
    graph = predicate.graph

    def branch(function):
        return lambda _, out, count: give(function(), out, count, "a branch")

    with graph._lock, Callbacks() as calls:
        out = (ctypes.POINTER(abi.mw_tensor) * count)()
        functions = [calls.add(abi.mw_branch, branch(function), None) for function in (yes, no)]
        status = library.mw_cond(predicate, *functions, None, out, count)
        if status != Status.MW_OK and calls.exception is None:
            graph.check()
    return tuple(Tensor(graph, pointer) for pointer in out)


def give(made, out, count, what):
    made = [made] if isinstance(made, Tensor) else list(made)
    if len(made) != count:
        raise ValueError(f"{what} gives {len(made)} tensors, {count} are wanted")
    for i, tensor in enumerate(made):
        out[i] = tensor._as_parameter_


def classify(probabilities: Tensor, labels: Union[Sequence[str], Sequence[int]]) -> Tuple[Tensor, Tensor]:
    """The label of the largest probability, and all of them with their labels, as two results for output(): labels are
    texts or integers, one for each element. They make a program a classifier for Core ML."""
    texts, graph = [label for label in labels if isinstance(label, str)], probabilities.graph
    names = (ctypes.c_char_p * len(labels))(*(label.encode() for label in texts)) if texts else None
    numbers = None if texts else (ctypes.c_int64 * len(labels))(*(label for label in labels if isinstance(label, int)))
    classes = abi.mw_classes(len(labels), names, numbers)
    with graph._lock:
        label, share = ctypes.POINTER(abi.mw_tensor)(), ctypes.POINTER(abi.mw_tensor)()
        library.mw_classify(probabilities, ctypes.byref(classes), ctypes.byref(label), ctypes.byref(share))
        graph.check()
        return Tensor(graph, label), Tensor(graph, share)
