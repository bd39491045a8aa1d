"""Runs a MIL program and says what it computes.

    python3 tests/interpreter/interpret.py FOLDER [--function main] [--precision 32|64] [--gradients] [--seed 1]
            [--inputs FILE.npz] [--save FILE.npz] [--write-weights FOLDER]

FOLDER holds model.mil and its weights; a MIL file does too. Without --inputs the inputs are seeded: see `seeded`.
--save writes inputs, outputs and gradients; --write-weights the weights that had to be generated, so that another
engine can be given the same.
"""
import argparse
import os
import sys

import numpy as np
import torch

import blob
import mil_text
from registry import data_of, invoke
from values import InterpreterError, List, Tensor, finish, from_numpy, kind_of

import ops_control      # noqa: F401  each fills its part of the table
import ops_constant     # noqa: F401
import ops_convolution  # noqa: F401
import ops_elementwise  # noqa: F401
import ops_image        # noqa: F401
import ops_index        # noqa: F401
import ops_linear       # noqa: F401
import ops_normalize    # noqa: F401
import ops_recurrent    # noqa: F401
import ops_reduce       # noqa: F401
import ops_shape        # noqa: F401
import ops_space        # noqa: F401

DEFAULT_EXTENT = 4       # of an input's `?` for which the program names no default shape
LOOP_LIMIT = 100000      # iterations, so that a loop that never ends is reported


def opset_number(name):
    digits = "".join(c for c in name if c.isdigit())
    if name.startswith("CoreML"):
        return {5: 15, 6: 16, 7: 17, 8: 18, 9: 26}[int(digits)]
    return int(digits)


def detached(value):
    return Tensor(value.data.detach(), value.dtype) if torch.is_tensor(getattr(value, "data", None)) else value


class Interpreter:
    def __init__(self, program, folder, function="main", precision=32, seed=1):
        if function not in program.functions:
            raise InterpreterError("no function %s" % function)
        self.program = program
        self.function = program.functions[function]
        self.opset = opset_number(self.function.opset)
        self.weights = blob.Weights(folder)
        self.precision = torch.float64 if precision == 64 else torch.float32
        self.generator = torch.Generator().manual_seed(seed)
        self.states = {}
        self.extent = None       # of every `?` of an input, None = default shapes
        self.after = None        # called with (name, value) for each result, for whoever wants to look

    # ---- constants ----

    def literal(self, value):
        of, payload = value.type, value.payload
        if of.kind != "tensor":
            return [self.literal(mil_text.Literal(of.inner[0], p)) if not isinstance(p, mil_text.Literal)
                    else self.literal(p) for p in payload]
        if of.dtype == "string":
            return self.strings(payload)
        if isinstance(payload, mil_text.Blob):
            return from_numpy(self.weights.read(payload, of.dtype, of.shape), of.dtype, self.precision)
        array = np.array(mil_text.plain(payload))
        if array.ndim == 0:      # also stands for a tensor of one value
            array = np.broadcast_to(array, of.shape)
        # Some generators write the elements of any shape as one flat list.
        if array.ndim == 1 and array.size == np.prod(of.shape):
            array = array.reshape(of.shape)
        if array.shape != of.shape:
            raise InterpreterError("a literal of shape %s for type %s" % (list(array.shape), list(of.shape)))
        return from_numpy(array, of.dtype, self.precision)

    def strings(self, payload):
        if isinstance(payload, list):
            return [self.strings(p) for p in payload]
        return Tensor(payload, "string")

    def argument(self, value, scope):
        if isinstance(value, mil_text.Literal):
            return self.literal(value)
        if isinstance(value, list):
            return [self.argument(v, scope) for v in value]
        if value.text not in scope:
            raise InterpreterError("no value %s" % value.text)
        return scope[value.text]

    # ---- statements ----

    def block(self, block, scope):
        for statement in block.statements:
            try:
                results = self.statement(statement, scope)
                self.bind(statement, results, scope)
            except (InterpreterError, blob.BlobError) as error:
                raise InterpreterError("line %d, %s: %s" % (statement.line, statement.op, error)) from None
            except (RuntimeError, ValueError, IndexError, TypeError, AttributeError) as error:
                raise InterpreterError("line %d, %s: %s: %s" % (statement.line, statement.op, type(error).__name__,
                                                                 error)) from error
        return [scope[name] for name in block.outputs]

    def statement(self, statement, scope):
        args = {k: self.argument(v, scope) for k, v in statement.args.items()}
        if statement.op == "const":
            return self.literal(statement.attrs["val"])
        if statement.op == "cond":
            return self.cond(statement, args, scope)
        if statement.op == "while_loop":
            return self.while_loop(statement, args, scope)
        if statement.op in ("read_state", "write_state"):
            return self.state(statement, args)
        # Older constexpr operators have their arguments as attributes.
        args.update({k: self.literal(v) for k, v in statement.attrs.items() if k != "name"})
        types = [t for t, _ in statement.results]
        return invoke(statement.op, args, types, self.opset, self.precision, self.generator)

    def bind(self, statement, results, scope):
        if not statement.results:
            return
        single = len(statement.results) == 1 and not isinstance(results, tuple)
        results = [results] if single else list(results)
        if len(results) != len(statement.results):
            raise InterpreterError("%d results, %d are declared" % (len(results), len(statement.results)))
        for (of, name), result in zip(statement.results, results):
            scope[name] = self.checked(of, result)
            if self.after:
                self.after(name, scope[name])

    def checked(self, of, result):
        """The result in its declared type, which must be what the operator's rules give."""
        if isinstance(result, (List, list)) or of.kind != "tensor":
            return result
        value = finish(data_of(result), of.dtype, self.precision)
        if isinstance(value.data, str):
            return value
        shape = tuple(value.data.shape)
        if len(shape) != len(of.shape) or any(d not in (None, s) for d, s in zip(of.shape, shape)):
            raise InterpreterError("shape %s, %s is declared" % (list(shape), list(of.shape)))
        return value

    # ---- control flow and states ----

    def run_nested(self, block, args, scope):
        inner = dict(scope)
        inner.update({name: value for (_, name), value in zip(block.params, args)})
        return self.block(block, inner)

    def cond(self, statement, args, scope):
        chosen = statement.blocks[0 if bool(args["pred"].data) else 1]
        return tuple(self.run_nested(chosen, [], scope))

    def while_loop(self, statement, args, scope):
        values = args["loop_vars"] if isinstance(args["loop_vars"], list) else [args["loop_vars"]]
        condition, body = statement.blocks
        for _ in range(LOOP_LIMIT):
            if not bool(self.run_nested(condition, values, scope)[0].data):
                return tuple(values)
            # A list is changed in place, so a body gets its own: the loop's input may be read after it.
            values = [List(list(v.elements), v.dtype, v.shape) if isinstance(v, List) else v for v in values]
            values = self.run_nested(body, values, scope)
        raise InterpreterError("more than %d iterations" % LOOP_LIMIT)

    def state(self, statement, args):
        name = statement.args["input"].text
        if statement.op == "write_state":
            self.states[name] = args["data"]
        return self.states[name]

    # ---- a run ----

    def shape_of(self, of, name):
        """The default shape, or with `extent` that number for each `?`, as near as the program admits."""
        default, ranges = mil_text.flexible_shapes(self.function), mil_text.flexible_ranges(self.function)
        if name in default and self.extent is None:
            return tuple(default[name])
        wanted = DEFAULT_EXTENT if self.extent is None else self.extent
        shape = [wanted if d is None else d for d in of.shape]
        for axis, (low, high) in enumerate(ranges.get(name, ())):
            shape[axis] = max(low, min(shape[axis], high) if high >= 0 else shape[axis])
        return tuple(shape)

    def seeded(self, name, of, seed):
        """Floats are 2u - 1 with u in [0, 1) of (name, index, seed), integers 0 or 1. States begin as zeros."""
        if of.kind == "state":
            return np.zeros(self.shape_of(of.inner[0], name))
        shape = self.shape_of(of, name)
        u = blob.uniform("%s#%d" % (name, seed), int(np.prod(shape))).reshape(shape)
        return 2 * u - 1 if kind_of(of.dtype) == "float" else (u * 2).astype(np.int64)

    def inputs(self, given=None, seed=1):
        given = given or {}
        values = {}
        for of, name in self.function.params:
            array = np.asarray(given[name] if name in given else self.seeded(name, of, seed))
            tensor = of.inner[0] if of.kind == "state" else of
            if array.size == np.prod(self.shape_of(tensor, name)) and None not in tensor.shape:
                array = array.reshape(tensor.shape)
            values[name] = from_numpy(array, tensor.dtype, self.precision)
        return values

    def run(self, inputs):
        """Outputs by name; `inputs` as from `inputs()`. States keep what is written to them from run to run."""
        scope = dict(inputs)
        for of, name in self.function.params:
            if of.kind == "state":
                self.states.setdefault(name, inputs[name])
        results = self.block(self.function.body, scope)
        return dict(zip(self.function.body.outputs, results))

    def weight_of(self, name, value, seed, given):
        if name in (given or {}):
            weight = given[name]
        else:
            weight = 2 * blob.uniform("d%s#%d" % (name, seed), value.data.numel()) - 1
        return torch.tensor(weight).reshape(value.data.shape).to(self.precision)

    def gradients(self, inputs, seed=1, weights=None):
        """(outputs, gradients): of sum(w * y) over all float outputs, w given by name, or seeded as inputs are."""
        leaves = {name: Tensor(v.data.clone().requires_grad_(kind_of(v.dtype) == "float"), v.dtype)
                  for name, v in inputs.items()}
        outputs = self.run(leaves)
        loss = torch.zeros((), dtype=self.precision)
        for name, value in outputs.items():
            if isinstance(value, Tensor) and kind_of(value.dtype) == "float" and value.data.requires_grad:
                loss = loss + (self.weight_of(name, value, seed, weights) * value.data).sum()
        if loss.requires_grad:
            loss.backward()
        found = {n: v.data.grad for n, v in leaves.items() if v.data.requires_grad and v.data.grad is not None}
        return {n: detached(v) for n, v in outputs.items()}, found


# ---- command line ----

def load(path, function="main", precision=32, seed=1):
    """An interpreter for a folder with model.mil, or for a MIL file."""
    text = os.path.join(path, "model.mil") if os.path.isdir(path) else path
    with open(text, encoding="utf-8") as file:
        program = mil_text.parse(file.read())
    return Interpreter(program, os.path.dirname(text), function, precision, seed)


def described(name, data, dtype):
    if isinstance(data, str):
        return "%s string %r" % (name, data)
    numbers = data.to(torch.float64)
    line = "%s %s %s" % (name, dtype, list(data.shape))
    if numbers.numel():
        line += " min %.6g max %.6g mean %.6g root-mean-square %.6g" % (
            numbers.min(), numbers.max(), numbers.mean(), (numbers * numbers).mean().sqrt())
    return line


def options():
    parser = argparse.ArgumentParser(description="Runs a MIL program.")
    parser.add_argument("folder")
    parser.add_argument("--function", default="main")
    parser.add_argument("--precision", type=int, choices=(32, 64), default=32)
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs")
    parser.add_argument("--save")
    parser.add_argument("--write-weights")
    return parser.parse_args()


def save(path, groups):
    arrays = {"%s.%s" % (group, name): np.asarray(data) for group, values in groups.items()
              for name, data in values.items() if not isinstance(data, str)}
    np.savez(path, **arrays)


def read_inputs(path):
    """By name; `in.<name>` as --save writes them is taken too."""
    try:
        with np.load(path) as file:
            return {key.removeprefix("in."): file[key] for key in file if not key.startswith(("out.", "d."))}
    except ValueError as error:
        raise InterpreterError("%s: %s" % (path, error)) from None


def main():
    torch.set_num_threads(1)
    chosen = options()
    run = load(chosen.folder, chosen.function, chosen.precision, chosen.seed)
    inputs = run.inputs(read_inputs(chosen.inputs) if chosen.inputs else None, chosen.seed)
    outputs, gradients = run.gradients(inputs, chosen.seed) if chosen.gradients else (run.run(inputs), {})
    outputs = {n: v for n, v in outputs.items() if isinstance(v, Tensor)}
    for name, value in outputs.items():
        print(described(name, value.data, value.dtype))
    for name, data in gradients.items():
        print(described("d" + name, data, inputs[name].dtype))
    if run.weights.generated:
        print("%d weights were generated" % len(run.weights.generated))
    if chosen.write_weights:
        blob.write_entries(chosen.write_weights, run.weights.generated)
    if chosen.save:
        save(chosen.save, {"in": {n: v.data for n, v in inputs.items()},
                           "out": {n: v.data for n, v in outputs.items()}, "d": gradients})


if __name__ == "__main__":
    try:
        main()
    except (InterpreterError, mil_text.MilError, blob.BlobError, OSError) as failure:
        sys.exit("interpret: %s" % failure)
