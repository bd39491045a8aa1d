"""Layers, losses and all other constructors of the C library, by their names without mw_: nn.dense(x, 256, "fc1").

They are made from the prototypes in abi.py, with their parameters by position or name. Shapes and axes are tuples; a
parameter for options takes the options' fields as arguments: nn.conv_layer(x, 8, (3, 3), "c1", stride=(2, 2, 1))."""
import ctypes
import inspect

from . import abi
from .graph import Graph, Tensor, pointers
from .library import fill, library, named_value, to_c

TENSOR, TENSORS = ctypes.POINTER(abi.mw_tensor), ctypes.POINTER(ctypes.POINTER(abi.mw_tensor))
LEAVES = {"input", "parameter", "state", "constant", "scalar", "text", "state_assign", "name", "output", "custom_vjp",
          "graph_find", "graph_input_at", "graph_output_at"}  # methods of Graph and Tensor
# What makes options, with what it wants to know: nn.max_pool(x, kernel=(2, 2), stride=(2, 2)).
DEFAULTS = {result: (name, parameters) for name, (result, parameters) in abi.FUNCTIONS.items()
            if name.endswith("_defaults") and not any(hasattr(kind, "contents") for _, kind in parameters)}


def _options_of(kind):
    """The struct that a parameter points to, if it is one of options."""
    struct = getattr(kind, "_type_", None)
    return struct if struct in DEFAULTS else None


def _is_constructor(name, result, parameters):
    first = parameters[0][1] if parameters else None
    graph = ctypes.POINTER(abi.mw_graph)
    if result not in (TENSOR, abi.mw_recurrent) or first not in (TENSOR, TENSORS, graph) or name[3:] in LEAVES:
        return False
    return all(_is_safe(kind) for _, kind in parameters)


def _is_safe(kind):
    """No memory of a length that the call does not say, and no functions."""
    if kind in (TENSOR, TENSORS, ctypes.POINTER(abi.mw_graph)):
        return True
    pointer = hasattr(kind, "contents") or hasattr(kind, "_flags_") or kind is ctypes.c_void_p
    return _options_of(kind) is not None or not pointer


CONSTRUCTORS = {name[3:]: parts for name, parts in abi.FUNCTIONS.items() if _is_constructor(name, *parts)}


def _parameters(name):
    """Those that Python shows: counts follow from lists, and options are fields."""
    parameters = CONSTRUCTORS[name][1]
    hidden = {parameters[i + 1][0] for i, (_, kind) in enumerate(parameters) if kind is TENSORS}
    shown = [(parameter, kind) for parameter, kind in parameters if parameter not in hidden and not _options_of(kind)]
    wanted = [one for _, kind in parameters if _options_of(kind) for one in DEFAULTS[_options_of(kind)][1]]
    return shown + [one for one in wanted if one[0] not in dict(shown)]


def documented(name, otherwise):
    """What the header says of a constructor."""
    from .documents import DOCUMENTS  # when somebody asks for the first one

    return DOCUMENTS.get(name) or otherwise


def _make(name):
    shown = _parameters(name)
    kinds = inspect.Parameter
    signature = inspect.Signature([kinds(p, kinds.POSITIONAL_OR_KEYWORD) for p, _ in shown])
    optional = any(_options_of(kind) for _, kind in CONSTRUCTORS[name][1])

    def call(*given, **named):
        options = {key: named.pop(key) for key in list(named) if optional and key not in signature.parameters}
        values = signature.bind(*given, **named).arguments
        return _call(name, values, options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = documented(name, f"mw_{name} of the C library.")
    if optional:
        call.__signature__ = signature.replace(
            parameters=[*signature.parameters.values(), kinds("options", kinds.VAR_KEYWORD)])
    else:
        call.__signature__ = signature
    return call


def _call(name, values, options):
    result, parameters = CONSTRUCTORS[name]
    first = next(iter(values.values()))
    first = first[0] if isinstance(first, (list, tuple)) else first
    if not isinstance(first, (Graph, Tensor)):
        raise TypeError(f"{name}: {first!r} is neither a tensor nor a graph")
    graph, keep, arguments, count = first if isinstance(first, Graph) else first.graph, [], [], 0
    for parameter, kind in parameters:
        if kind is TENSORS:
            arguments.append(pointers(values[parameter]))
            count = len(values[parameter])
        elif _options_of(kind):
            maker, wanted = DEFAULTS[_options_of(kind)]
            told = [to_c(k, values[p], keep, f"{name}: {p}") for p, k in wanted]
            keep += told
            made = getattr(library, maker)(*told)
            arguments.append(ctypes.byref(fill(made, options, keep, name)))
        else:
            value = values.get(parameter, count)  # what is not shown is the number of tensors before it
            value = named_value(f"mw_{name}", parameter, value, f"{name}: {parameter}")
            arguments.append(to_c(kind, value, keep, f"{name}: {parameter}"))
    for beside in library.without:
        if f"mw_{name}" in abi.BESIDE[beside]:
            library.need(beside)
    with graph._lock:
        made = getattr(library, f"mw_{name}")(*arguments)
        graph.check()  # losses give a tensor even where they fail
        if result is TENSOR:
            return graph._wrap(made)
        return tuple(Tensor(graph, part) for part in (made.y, made.h, made.c) if part)


def __getattr__(name):
    if name not in CONSTRUCTORS:
        raise AttributeError(f"there is no constructor {name!r}")
    return globals().setdefault(name, _make(name))


def __dir__():
    return sorted(CONSTRUCTORS)
