"""Lists, random numbers, classify. cond, while_loop, const and states need the scopes of interpret.py and are there."""
import torch

from registry import integer, ints, operator
from values import Chances, InterpreterError, List, kind_of

# ---- lists: each operator gives a new one, so that an older name keeps its elements ----


@operator("make_list")
def make_list(elem_shape=(), init_length: int = 1, dynamic_length: bool = True, dtype: str = "fp32", call=None):
    parts = elem_shape if isinstance(elem_shape, (list, tuple)) else elem_shape.reshape(-1)
    shape = tuple(None if isinstance(p, str) else int(p) for p in parts)    # a string is an extent not known yet
    return List([empty(dtype, shape, call.precision)] * init_length, dtype, shape)


def empty(dtype, shape, precision):
    kind = {"float": precision, "int": torch.int64, "bool": torch.bool}[kind_of(dtype)]
    return torch.zeros([1 if n is None else n for n in shape], dtype=kind)


def written(ls, index, value):
    if index < 0:
        raise InterpreterError("list index %d" % index)
    gap = max(0, index + 1 - len(ls.elements))
    elements = ls.elements + [torch.zeros_like(value)] * gap
    return List(elements[:index] + [value] + elements[index + 1:], ls.dtype, ls.shape)


@operator("list_write")
def list_write(ls, index: int, value):
    return written(ls, index, value)


@operator("list_read")
def list_read(ls, index: int):
    return ls.elements[index]


@operator("list_gather")
def list_gather(ls, indices: ints):
    return torch.stack([ls.elements[i] for i in indices])


@operator("list_scatter")
def list_scatter(ls, indices: ints, value):
    for i, element in zip(indices, value):
        ls = written(ls, i, element)
    return ls


@operator("list_length")
def list_length(ls):
    return integer(len(ls.elements))


# ---- random numbers: seeded, but no sequence is defined by MIL ----

def generator_of(seed, call):
    return call.generator if seed == -1 else torch.Generator().manual_seed(seed)


@operator("random_normal")
def random_normal(shape: ints, mean: float = 0.0, stddev: float = 1.0, seed: int = -1, call=None):
    draws = torch.randn(shape, generator=generator_of(seed, call), dtype=torch.float64)
    return (mean + stddev * draws).to(call.precision)


@operator("random_uniform")
def random_uniform(shape: ints, low: float = 0.0, high: float = 1.0, seed: int = -1, call=None):
    draws = torch.rand(shape, generator=generator_of(seed, call), dtype=torch.float64)
    return (low + (high - low) * draws).to(call.precision)


@operator("random_bernoulli")
def random_bernoulli(shape: ints, prob: float = 0.5, seed: int = -1, call=None):
    draws = torch.rand(shape, generator=generator_of(seed, call), dtype=torch.float64) < prob
    return draws.to(call.precision if kind_of(call.dtype) == "float" else torch.int64)


@operator("random_categorical")
def random_categorical(x, mode: str = "logits", size: int = 1, seed: int = -1, call=None):
    weights = torch.softmax(x.detach().double(), -1) if mode == "logits" else x.detach().double()
    rows = weights.reshape(-1, weights.shape[-1])
    drawn = torch.multinomial(rows, size, replacement=True, generator=generator_of(seed, call))
    return drawn.reshape(*x.shape[:-1], size).to(call.precision if kind_of(call.dtype) == "float" else torch.int64)


# ---- the last operator of classifiers ----

@operator("classify")
def classify(probabilities, classes):
    """The most probable class, and the probability of each class."""
    numbers = probabilities.reshape(-1)
    labels = [c if isinstance(c, str) else int(c) for c in classes]
    if len(labels) != len(numbers):
        raise InterpreterError("%d classes, %d probabilities" % (len(labels), len(numbers)))
    best = labels[numbers.tolist().index(numbers.max().item())]     # the first of equal ones
    return best if isinstance(best, str) else integer(best), Chances(numbers, "fp32", labels)
