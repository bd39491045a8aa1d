"""Random cases of the recurrent family: python3 tests/data/torch/recurrent_cases.py writes recurrent.safetensors.

PyTorch's own LSTM, GRU and RNN say what comes out, with gates in MIL's order; what they have not (peephole, clip, other
activations, a GRU that resets before its product) is written out here."""
import torch

from record import Recorder, boolean, ints, real, tensor, text

record = Recorder("recurrent", tolerance=2e-5,
                  reason="sums in another order, and functions of 2 ulp, which later steps pass on")

ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "linear": lambda v: v,
               "hard_sigmoid": lambda v: torch.clamp(0.2 * v + 0.5, 0, 1)}


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


# ---- the functions ----

def rows(weight, order):
    """The gates of a weight in another order."""
    parts = weight.chunk(len(order))
    return torch.cat([parts[i] for i in order])


def run(function, x, states, params):
    return function(x, states, params, len(params) > 2, 1, 0.0, False, False, False)


def lstm_torch(x, h, c, w):
    """MIL has i, f, o, z, PyTorch i, f, z, o; its second bias is zero."""
    params = [rows(w["weight_ih"], (0, 1, 3, 2)), rows(w["weight_hh"], (0, 1, 3, 2))]
    if "bias" in w:
        params += [rows(w["bias"], (0, 1, 3, 2)), torch.zeros_like(w["bias"])]
    y, h, c = run(torch._VF.lstm, x, (h.unsqueeze(0), c.unsqueeze(0)), params)
    return y, h[0], c[0]


def lstm_written(x, h, c, w, gate, cell, out, clip):
    gate, cell, out = (ACTIVATIONS[n] for n in (gate, cell, out))
    outputs = []
    for step in x:
        i, f, o, z = (step @ w["weight_ih"].t() + h @ w["weight_hh"].t() + w.get("bias", 0)).chunk(4, -1)
        p = w["peephole"].chunk(3) if "peephole" in w else (0, 0, 0)
        c_new = gate(f + p[1] * c) * c + gate(i + p[0] * c) * cell(z)
        c = c_new.clamp(-clip, clip) if clip is not None else c_new
        h = gate(o + p[2] * c) * out(c)
        outputs.append(h)
    return torch.stack(outputs), h, c


def gru_torch(x, h, w):
    """MIL has r, n, z, PyTorch r, z, n."""
    params = [rows(w["weight_ih"], (0, 2, 1)), rows(w["weight_hh"], (0, 2, 1))]
    zero = torch.zeros(w["weight_hh"].shape[0])
    params += [rows(w.get("input_bias", zero), (0, 2, 1)), rows(w.get("bias", zero), (0, 2, 1))]
    y, h = run(torch._VF.gru, x, h.unsqueeze(0), params)
    return y, h[0]


def gru_written(x, h, w, gate, out):
    gate, out = ACTIVATIONS[gate], ACTIVATIONS[out]
    outputs = []
    wr, wn, wz = w["weight_hh"].chunk(3)
    br, bn, bz = w["bias"].chunk(3) if "bias" in w else (0, 0, 0)
    for step in x:
        xr, xn, xz = (step @ w["weight_ih"].t() + w.get("input_bias", 0)).chunk(3, -1)
        r, z = gate(xr + h @ wr.t() + br), gate(xz + h @ wz.t() + bz)
        n = out(xn + (r * h) @ wn.t() + bn)
        h = (1 - z) * n + z * h
        outputs.append(h)
    return torch.stack(outputs), h


def rnn_torch(x, h, w, out):
    params = [w["weight_ih"], w["weight_hh"]]
    if "bias" in w:
        params += [w["bias"], torch.zeros_like(w["bias"])]
    y, h = run(torch._VF.rnn_relu if out == "relu" else torch._VF.rnn_tanh, x, h.unsqueeze(0), params)
    return y, h[0]


# ---- one case ----

# What need not be written.
DEFAULTS = {("direction", text("forward")), ("reset_after", boolean(False)), ("activation", text("tanh")),
            ("cell_activation", text("tanh")), ("recurrent_activation", text("sigmoid"))}


def joined(results, sequence):
    """What the program makes of the results: outputs and states one below the other."""
    y = results[0] if sequence else results[1].unsqueeze(0)
    return torch.cat([y] + [s.unsqueeze(0) for s in results[1:]])


def statements(operation, words, shapes):
    """The operation, and its states with an axis of steps."""
    results = ", ".join("tensor<fp32, %s> %s" % (list(s), n) for s, n in zip(shapes, "yhc"))
    lines = ["%s = %s(%s);" % (results.replace("> y", "> y0").replace("> h", "> h0")
             .replace("> c", "> c0"), operation, ", ".join("%s = %s" % w for w in sorted(words.items())))]
    for shape, name in list(zip(shapes, "yhc"))[1:]:
        lines.append("tensor<fp32, %s> %s1 = expand_dims(axes = %s, x = %s0);"
                     % ([1] + list(shape), name, ints([0]), name))
    return lines


def coarse(bound, *shape):
    """Numbers whose literals are short."""
    return (record.uniform(-bound, bound, *shape) * 16).round() / 16


def draw_weights(gates, inputs, hidden, suffix="", extra=()):
    w = {"weight_ih" + suffix: coarse(1, gates * hidden, inputs),
         "weight_hh" + suffix: coarse(1, gates * hidden, hidden)}
    if record.pick(True, True, False):
        w["bias" + suffix] = coarse(0.5, gates * hidden)
    for name, factor in extra:
        w[name + suffix] = coarse(0.5, factor * hidden)
    return w


def case(operation, x, states, weights, words, sequence, function):
    """Most of the cases have constants for weights, as MIL wants it; the others compute them."""
    names = ("h", "c")
    inputs = dict({"x": x}, **dict(zip(names, states)))
    words = {n: v for n, v in words.items() if (n, v) not in DEFAULTS}
    words.update({"initial_h": "h", "x": "x"}, **{"initial_c": n for n in inputs if n == "c"})
    fixed = record.pick(True, True, True, True, True, True, False)
    short = {name: "w%d" % i for i, name in enumerate(weights)}
    for name, value in weights.items():
        words[name] = tensor(value) if fixed else short[name]
    if not fixed:
        inputs.update({short[name]: value for name, value in weights.items()})
    if sequence:
        words["output_sequence"] = boolean(True)
    batch, width = states[0].shape
    shapes = [(x.shape[0] if sequence else 1, batch, width)] + [(batch, width)] * len(states)
    parts = ", ".join(["y0"] + ["%s1" % n for n in "hc"[:len(states)]])

    def all_results(x, **v):
        w = {name: v.get(short[name], value) for name, value in weights.items()}
        return joined(function(x, *[v[n] for n in names[:len(states)]], w), sequence)
    record.case("concat(axis = int32(0), interleave = bool(false), values = (%s))" % parts, inputs, all_results,
                before=statements(operation, words, shapes))


def turned(function, x, reverse, restores=True):
    """A reverse network sees the last step first; its outputs stand at their inputs, but for rnn."""
    if not reverse:
        return function(x)
    results = function(x.flip(0))
    return (results[0].flip(0) if restores else results[0],) + tuple(results[1:])


def draw_states(count, batch, width):
    return [record.uniform(-1, 1, batch, width) for _ in range(count)]


def draw_extents():
    """Two inputs: of one alone the gradient may be a small difference, beside which nothing is large."""
    return extent(1, 3), extent(1, 2), 2, record.pick(1, 2, 2)


def lstm_case():
    steps, batch, inputs, hidden = draw_extents()
    direction = record.pick("forward", "forward", "reverse", "bidirectional")
    sequence = record.pick(True, True, False)
    plain = record.pick(True, False)
    extra = [] if plain or record.pick(True, False) else [("peephole", 3)]
    halves = ("", "_back") if direction == "bidirectional" else ("",)
    weights = {}
    for suffix in halves:
        weights.update(draw_weights(4, inputs, hidden, suffix, extra))
    words = {"direction": text(direction)}
    kinds = ["sigmoid", "tanh", "tanh"]
    clip = None
    if not plain:
        kinds = [record.pick("sigmoid", "hard_sigmoid"), record.pick("tanh", "relu"), record.pick("tanh", "linear")]
        clip = record.pick(None, 0.4)
    words.update(recurrent_activation=text(kinds[0]), cell_activation=text(kinds[1]), activation=text(kinds[2]))
    if clip is not None:
        words["clip"] = real(clip)

    def half(x, h, c, w, suffix):
        own = {n[:len(n) - len(suffix)]: v for n, v in w.items() if n.endswith("_back") == (suffix != "")}
        return lstm_torch(x, h, c, own) if plain else lstm_written(x, h, c, own, *kinds, clip)

    def function(x, h, c, w):
        if direction != "bidirectional":
            return turned(lambda v: half(v, h, c, w, ""), x, direction == "reverse")
        hs, cs = h.chunk(2, -1), c.chunk(2, -1)
        a = half(x, hs[0], cs[0], w, "")
        b = turned(lambda v: half(v, hs[1], cs[1], w, "_back"), x, True)
        return [torch.cat(p, -1) for p in zip(a, b)]
    case("lstm", record.normal(steps, batch, inputs), draw_states(2, batch, hidden * len(halves)), weights, words,
         sequence, function)


def gru_case():
    steps, batch, inputs, hidden = draw_extents()
    after, reverse = record.pick(True, False), record.pick(True, False)
    weights = draw_weights(3, inputs, hidden, "", [("input_bias", 3)] if record.pick(True, False) else [])
    words = {"direction": text("reverse" if reverse else "forward"), "reset_after": boolean(after)}
    kinds = ("sigmoid", "tanh") if after else (record.pick("sigmoid", "hard_sigmoid"), record.pick("tanh", "relu"))
    words.update(recurrent_activation=text(kinds[0]), activation=text(kinds[1]))

    def function(x, h, w):
        return turned(lambda v: gru_torch(v, h, w) if after else gru_written(v, h, w, *kinds), x, reverse)
    sequence = record.pick(True, True, False)
    case("gru", record.normal(steps, batch, inputs), draw_states(1, batch, hidden), weights, words, sequence, function)


def rnn_case():
    steps, batch, inputs, hidden = draw_extents()
    reverse, kind = record.pick(True, False), record.pick("tanh", "relu")
    words = {"direction": text("reverse" if reverse else "forward"), "activation": text(kind)}

    def function(x, h, w):
        return turned(lambda v: rnn_torch(v, h, w, kind), x, reverse, restores=False)
    case("rnn", record.normal(steps, batch, inputs), draw_states(1, batch, hidden),
         draw_weights(1, inputs, hidden), words, record.pick(True, True, False), function)


for i in range(90):
    if i < 50:
        lstm_case()
    if i < 60:
        gru_case()
    if i < 90:
        rnn_case()
record.write()
