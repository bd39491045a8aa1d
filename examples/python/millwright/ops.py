"""Every operation of the library's table, by its name in MIL: ops.conv(x, weight=w, strides=[1, 1]).

The functions are made from the table of the library that is loaded, so there is no list here that could be out of date;
dir(ops) and help(ops.conv) show them. An argument x, and y beside it, may be given by position (of operations without x
`values` or `data`), everything else by name. An operation without a tensor among its arguments takes graph=."""
import ctypes
import inspect

from . import abi
from .documents import DOCUMENTS
from .graph import Graph, Tensor
from .library import library, text_of

LEADING = ("x", "y"), ("values",), ("data",), ("indices",)


def _table():
    """{name: {argument: its abi.mw_operation_argument}} over all versions of an operation."""
    table, operation, argument = {}, abi.mw_operation(), abi.mw_operation_argument()
    index = 0
    while library.mw_operation_at(index, ctypes.byref(operation)):
        arguments = table.setdefault(text_of(operation.name), {})
        for i in range(operation.argument_count):
            library.mw_operation_argument_at(index, i, ctypes.byref(argument))
            name = text_of(argument.name)
            optional = bool(argument.optional) or arguments.get(name, False)
            arguments[name] = optional
        index += 1
    return table


TABLE = _table()


def _make(name):
    arguments = TABLE[name]
    leading = next((names for names in LEADING if names[0] in arguments), ())
    leading = [argument for argument in leading if argument in arguments]

    def call(*given, graph=None, **named):
        if len(given) > len(leading):
            raise TypeError(f"{name} takes by position: {', '.join(leading) or 'nothing'}; {len(given)} are given")
        for argument, value in zip(leading, given):
            if argument in named:
                raise TypeError(f"{name}: {argument} is given twice")
            named[argument] = value
        for argument in named:
            if argument not in arguments:
                raise TypeError(f"{name} has no argument {argument!r}; it has {', '.join(arguments)}")
        return _graph_of(name, graph, named).op(name, **named)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"MIL's {name}. Arguments: " + ", ".join(f"[{a}]" if o else a for a, o in arguments.items())
    if name in DOCUMENTS:
        call.__doc__ += f"\n\nnn.{name}, whose arguments are those of C, says:\n\n{DOCUMENTS[name]}"
    call.__signature__ = _signature(leading, {**arguments, "graph": True})
    return call


def _signature(leading, arguments):
    kinds = inspect.Parameter
    named = {argument: None if optional else kinds.empty for argument, optional in arguments.items()}
    return inspect.Signature(
        [kinds(argument, kinds.POSITIONAL_OR_KEYWORD) for argument in leading]
        + [kinds(a, kinds.KEYWORD_ONLY, default=value) for a, value in named.items() if a not in leading])


def _graph_of(name, graph, named):
    if graph is not None:
        return graph
    for value in named.values():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, Tensor):
                return item.graph
    raise TypeError(f"{name}: no argument is a tensor, so graph= must say where it belongs")


def __getattr__(name):
    if name not in TABLE:
        raise AttributeError(f"there is no operation {name!r}")
    return globals().setdefault(name, _make(name))


def __dir__():
    return sorted(TABLE)


def methods():
    """Operations that tensors have as methods."""
    return [name for name, arguments in TABLE.items() if "x" in arguments]


def method(tensor, name):
    if name.startswith("_") or "x" not in TABLE.get(name, ()):
        raise AttributeError(f"a Tensor has no {name!r}")
    function = globals().get(name) or __getattr__(name)
    return lambda *given, **named: function(tensor, *given, **named)


__all__ = ["Graph", "TABLE", "methods"]
