"""Element by element: arithmetic, comparisons, logic, functions of one argument, cast and select."""
import math

import torch
from torch.nn import functional

from registry import operator
from values import InterpreterError, kind_of

INT64_MAX = 2.0**63 - 2**10      # the largest that float64 holds below 2^63


def register_pair(name, function):
    @operator(name)
    def pair(x, y):
        return function(x, y)


def register_single(name, function):
    @operator(name)
    def single(x):
        return function(x)


def is_int(x):
    return not x.dtype.is_floating_point


# ---- two arguments, which broadcast ----

def real_div(x, y):
    return torch.div(x, y, rounding_mode="trunc") if is_int(x) else x / y


def power(x, y):
    if is_int(x):
        return torch.trunc(torch.pow(x.double(), y.double())).to(torch.int64)
    return torch.pow(x, y)


PAIRS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "real_div": real_div, "pow": power,
    "floor_div": lambda x, y: torch.div(x, y, rounding_mode="floor"), "mod": torch.remainder,
    "maximum": torch.maximum, "minimum": torch.minimum,
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge,
    "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
}


# ---- one argument ----

def softplus(x):
    """log(1 + e^x). Above 80, before e^x overflows, it is x in both precisions; torch's own limit of 20 is too low."""
    return functional.softplus(x, threshold=80)


def exp2(x):
    return torch.exp2(x.double()).to(torch.int64) if is_int(x) else torch.exp2(x)


SINGLES = {
    "abs": torch.abs, "sign": torch.sign, "square": lambda x: x * x, "exp2": exp2, "ceil": torch.ceil,
    "floor": torch.floor, "round": torch.round, "exp": torch.exp, "sqrt": torch.sqrt, "erf": torch.erf,
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan,
    "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "atanh": torch.atanh,
    "logical_not": torch.logical_not, "identity": lambda x: x,
    "relu": torch.relu, "relu6": functional.relu6, "sigmoid": torch.sigmoid,
    "silu": lambda x: x * torch.sigmoid(x), "softsign": lambda x: x / (1 + torch.abs(x)),
    "softplus": softplus,
}

for table, register in ((PAIRS, register_pair), (SINGLES, register_single)):
    for operator_name, of_tensors in table.items():
        register(operator_name, of_tensors)


def rounded_epsilon(value, dtype):
    """An epsilon has the type of x: the defaults of log and rsqrt are 0 in fp16."""
    return torch.tensor(value, dtype=torch.float16 if dtype == "fp16" else torch.float32).double().item()


@operator("rsqrt")
def rsqrt(x, epsilon: float = 1e-12, call=None):
    return 1 / torch.sqrt(x + rounded_epsilon(epsilon, call.dtypes["x"]))


@operator("log")
def log(x, epsilon: float = 1e-45, call=None):
    return torch.log(x + rounded_epsilon(epsilon, call.dtypes["x"]))


@operator("inverse")
def inverse(x, epsilon: float = 1e-4, call=None):
    return 1 / (x + rounded_epsilon(epsilon, call.dtypes["x"]))


@operator("clip")
def clip(x, alpha: float, beta: float):
    return torch.clamp(x, alpha, beta)


@operator("threshold")
def threshold(x, alpha: float):
    return torch.clamp(x, min=int(alpha) if is_int(x) else alpha)


@operator("cast")
def cast(x, dtype: str, call=None):
    """Float to integer cuts towards zero; anything to bool is x != 0."""
    if dtype != call.dtype:
        raise InterpreterError("dtype %s, %s is declared" % (dtype, call.dtype))
    kind = kind_of(dtype)
    if kind == "bool":
        return x != 0
    if kind == "float":
        return x.to(call.precision)
    if x.dtype.is_floating_point:   # what does not fit is undefined, but must be some number
        x = torch.nan_to_num(torch.trunc(x.detach().double())).clamp(-INT64_MAX, INT64_MAX)
    return x.to(torch.int64)


@operator("select")
def select(cond, a, b):
    return torch.where(cond, a, b)


# ---- activations with numbers ----

def by_channel(alpha, x):
    """[C] as [1, C, 1, ..] of x's rank."""
    return alpha.reshape([1, -1] + [1] * (x.dim() - 2))


@operator("leaky_relu")
def leaky_relu(x, alpha: float):
    return functional.leaky_relu(x, alpha)      # of the two derivatives at 0 this takes alpha


@operator("prelu")
def prelu(x, alpha):
    return torch.where(x > 0, x, by_channel(alpha, x) * x)


@operator("clamped_relu")
def clamped_relu(x, alpha: float, beta: float):
    y = functional.leaky_relu(x, alpha)
    return torch.where(y < beta, y, torch.full_like(y, beta))


@operator("thresholded_relu")
def thresholded_relu(x, alpha: float):
    return torch.where(x >= alpha, x, torch.zeros_like(x))


@operator("elu")
def elu(x, alpha: float):
    # The branch not taken must not overflow, or its gradient is NaN.
    return torch.where(x > 0, x, alpha * torch.expm1(torch.clamp(x, max=0)))


@operator("gelu")
def gelu(x, mode: str = "EXACT"):
    if mode == "EXACT":
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    if mode == "TANH_APPROXIMATION":
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    if mode == "SIGMOID_APPROXIMATION":
        return x * torch.sigmoid(1.702 * x)
    raise InterpreterError("mode %s" % mode)


@operator("sigmoid_hard")
def sigmoid_hard(x, alpha: float, beta: float):
    return functional.hardtanh(alpha * x + beta, 0.0, 1.0)


@operator("softplus_parametric")
def softplus_parametric(x, alpha, beta):
    t = by_channel(beta, x) * x
    return by_channel(alpha, x) * softplus(t)


@operator("scaled_tanh")
def scaled_tanh(x, alpha: float, beta: float):
    return alpha * torch.tanh(beta * x)


@operator("linear_activation")
def linear_activation(x, alpha: float, beta: float):
    return alpha * x + beta


@operator("softmax")
def softmax(x, axis: int = -1):
    return torch.softmax(x, axis)
