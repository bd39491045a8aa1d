"""The table of operators by MIL name, and how a function of it gets its arguments.

A function takes MIL's argument names. An argument without annotation is a torch tensor. The annotations int, float,
bool, str, ints, bools and floats ask for plain Python values, which MIL has as constants; `tensors` asks for a list of
tensors. `call` gets the Call: declared result types, opset and dtypes, which few operators need.
"""
import inspect
from dataclasses import dataclass

import torch

from values import InterpreterError, List, Tensor

OPERATORS = {}


class ints(list):
    pass


class bools(list):
    pass


class floats(list):
    pass


class tensors(list):
    pass


@dataclass
class Call:
    results: list        # declared Types
    dtypes: dict         # argument -> dtype, or a list of them
    opset: int           # 15, 16, ..
    precision: object    # torch type of all floats
    generator: object    # of random numbers

    @property
    def dtype(self):
        return self.results[0].dtype


def operator(*names):
    def register(function):
        for name in names:
            assert name not in OPERATORS, name
            OPERATORS[name] = function
        function.parameters = inspect.signature(function).parameters
        return function
    return register


def data_of(value):
    return value.data if isinstance(value, Tensor) else value


def flat(value):
    """Numbers of a tensor, or of a tuple of scalars."""
    if isinstance(value, list):
        return [data_of(v).item() for v in value]
    return data_of(value).reshape(-1).tolist()


def scalar(value):
    data = data_of(value)
    if isinstance(data, str):
        return data
    if data.numel() != 1:
        raise InterpreterError("a scalar is wanted, not %s" % list(data.shape))
    return data.item()


def converted(value, wanted):
    if isinstance(value, List):
        return value
    if wanted in (int, float, bool, str):
        return wanted(scalar(value))
    if wanted in (ints, bools, floats):
        return flat(value)
    if wanted is tensors:
        return [data_of(v) for v in value] if isinstance(value, list) else [data_of(value)]
    if isinstance(value, list):
        return [data_of(v) for v in value]
    return data_of(value)


def dtypes_of(value):
    return [v.dtype for v in value] if isinstance(value, list) else value.dtype


def invoke(name, args, results, opset, precision, generator):
    """What the operator gives for `args` (values or lists of values): data, or a tuple of them."""
    if name not in OPERATORS:
        raise InterpreterError("operator %s is not known" % name)
    function = OPERATORS[name]
    given = {}
    for key, value in args.items():
        if key not in function.parameters or key == "call":
            raise InterpreterError("%s has no argument %s" % (name, key))
        given[key] = converted(value, function.parameters[key].annotation)
    if "call" in function.parameters:
        dtypes = {key: dtypes_of(value) for key, value in args.items()}
        given["call"] = Call(results, dtypes, opset, precision, generator)
    return function(**given)


def normal_axis(axis, rank):
    if not -rank <= axis < max(rank, 1):
        raise InterpreterError("axis %d of rank %d" % (axis, rank))
    return axis + rank if axis < 0 else axis


def integer(values, like=None):
    return torch.tensor(values, dtype=torch.int64)
