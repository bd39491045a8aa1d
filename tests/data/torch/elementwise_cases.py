"""Random cases of the elementwise family: python3 tests/data/torch/elementwise_cases.py writes elementwise.safetensors."""
import torch

from record import Recorder, mil_type, real, text

record = Recorder("elementwise", tolerance=2e-6,
                  reason="two libraries' elementary functions, at most 4 ulp apart each, in chains of up to three")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def shape():
    return tuple(extent(1, 5) for _ in range(record.pick(0, 1, 2, 3, 4)))


def broadcast_shapes():
    full = shape()
    x = tuple(record.pick(1, e, e) for e in full)
    y = tuple(record.pick(1, e, e) for e in full)[record.pick(0, 0, len(full)):]
    return record.pick((x, y), (full, y), (x, full))


def lattice(*extents):
    """Quarters in [-3, 3]: kinks, ties and zeros come up."""
    return torch.round(record.uniform(-12, 12, *extents)) / 4


def whole(low, high, *extents):
    return torch.randint(low, high, extents, generator=record.generator).to(torch.int32)


def away(value):
    """The same, with a magnitude of at least 1/4."""
    return torch.where(value.abs() < 0.25, torch.full_like(value, 0.25), value)


def binary(operation, function, draw_x, draw_y, count, gradient=True):
    for _ in range(count):
        sx, sy = broadcast_shapes()
        record.case("%s(x = x, y = w)" % operation, {"x": draw_x(*sx), "w": draw_y(*sy)},
                    lambda x, w: function(x, w), gradient)


def unary(operation, function, draw, count=4, arguments="", gradient=True):
    for _ in range(count):
        record.case("%s(%sx = x)" % (operation, arguments), {"x": draw(*shape())}, lambda x: function(x), gradient)


def positive(*extents):
    return record.uniform(0.2, 4, *extents)


def open_unit(*extents):
    return record.uniform(-0.95, 0.95, *extents)


def nonzero(*extents):
    return away(lattice(*extents))


def any_whole(*extents):
    return whole(-20, 20, *extents)


def divisor(*extents):
    return whole(1, 8, *extents) * record.pick(-1, 1)


for name, function in (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul)):
    binary(name, function, record.normal, record.normal, 6)
    binary(name, function, any_whole, any_whole, 2, gradient=False)
binary("real_div", torch.div, record.normal, nonzero, 6)
binary("floor_div", lambda x, w: torch.div(x, w, rounding_mode="floor"), record.normal, nonzero, 4)
binary("floor_div", lambda x, w: torch.div(x, w, rounding_mode="floor").int(), any_whole, divisor, 3, gradient=False)
binary("mod", torch.remainder, record.normal, nonzero, 6)
binary("mod", torch.remainder, any_whole, divisor, 3, gradient=False)
for name, function in (("maximum", torch.maximum), ("minimum", torch.minimum)):
    binary(name, function, lattice, lattice, 6)
    binary(name, function, any_whole, any_whole, 2, gradient=False)
binary("pow", torch.pow, positive, lattice, 6)
for exponent in (-1, 2, 3):
    unary("pow", lambda x, e=exponent: x ** e, nonzero, 2, arguments="y = %s, " % real(exponent))
binary("pow", lambda x, w: (x.long() ** w.long()).int(), lambda *e: whole(-4, 5, *e), lambda *e: whole(0, 5, *e), 2,
       gradient=False)

unary("abs", torch.abs, lattice)
unary("abs", torch.abs, any_whole, 2, gradient=False)
unary("sign", torch.sign, lattice)
unary("sign", torch.sign, any_whole, 2, gradient=False)
unary("square", torch.square, record.normal)
unary("square", torch.square, any_whole, 2, gradient=False)
unary("sqrt", torch.sqrt, positive)
unary("exp", torch.exp, record.normal)
unary("exp2", torch.exp2, record.normal)
unary("exp2", lambda x: 2 ** x.long(), lambda *e: whole(0, 20, *e), 2, gradient=False)
unary("erf", torch.erf, record.normal)
unary("floor", torch.floor, lattice)
unary("ceil", torch.ceil, lattice)
unary("round", torch.round, lambda *e: lattice(*e) * 2)
unary("sin", torch.sin, lattice)
unary("cos", torch.cos, lattice)
unary("tan", torch.tan, open_unit)
unary("asin", torch.asin, open_unit)
unary("acos", torch.acos, open_unit)
unary("atan", torch.atan, record.normal)
unary("sinh", torch.sinh, record.normal)
unary("cosh", torch.cosh, record.normal)
unary("tanh", torch.tanh, record.normal)
unary("atanh", torch.atanh, open_unit)
for _ in range(4):
    epsilon = float(record.uniform(0, 0.5))
    given = "epsilon = %s, " % real(epsilon)
    unary("rsqrt", lambda x: torch.rsqrt(x + epsilon), positive, 1, given)
    unary("inverse", lambda x: torch.reciprocal(x + epsilon), positive, 1, given)
    unary("log", lambda x: torch.log(x + epsilon), positive, 1, given)
    low = float(lattice())
    high = low + 0.25 + float(lattice().abs())
    unary("clip", lambda x: torch.clamp(x, low, high), lattice, 2,
          "alpha = %s, beta = %s, " % (real(low), real(high)))
    unary("threshold", lambda x: torch.clamp(x, min=low), lattice, 1, "alpha = %s, " % real(low))
    bound = int(whole(-9, 9, 1))
    unary("threshold", lambda x: torch.clamp(x, min=bound), any_whole, 1, "alpha = int32(%d), " % bound,
          gradient=False)

for _ in range(3):
    unary("cast", lambda x: x.int(), lambda *e: lattice(*e) * 3, 1, "dtype = %s, " % text("int32"), gradient=False)
    unary("cast", lambda x: x.bool(), lattice, 1, "dtype = %s, " % text("bool"), gradient=False)
    unary("cast", lambda x: x.float(), any_whole, 1, "dtype = %s, " % text("fp32"), gradient=False)
    unary("cast", lambda x: x.int(), lambda *e: lattice(*e) > 0, 1, "dtype = %s, " % text("int32"), gradient=False)
    x = record.normal(*shape())
    half = mil_type(x).replace("fp32", "fp16")
    record.case("cast(dtype = %s, x = h)" % text("fp32"), {"x": x}, lambda x: x.half().float(),
                before=('%s h = cast(dtype = %s, x = x)[name = string("h")];' % (half, text("fp16")),))
record.write()
