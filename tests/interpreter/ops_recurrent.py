"""Recurrent layers. x [S, B, I]; S steps, B batch, I input, H hidden. Numbers are rounded at the end alone."""
import torch

from registry import operator
from values import InterpreterError

ACTIVATIONS = {
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "linear": lambda x: x,
    # Without alpha and beta, which a name cannot give, coremltools' tests expect the plain tanh.
    "scaled_tanh": torch.tanh,
    "hard_sigmoid": lambda x: torch.clamp(0.2 * x + 0.5, 0, 1),
    "sigmoid_hard": lambda x: torch.clamp(0.2 * x + 0.5, 0, 1),
}


def activation_named(name):
    if name not in ACTIVATIONS:
        raise InterpreterError("activation %s" % name)
    return ACTIVATIONS[name]


def unrolled(x, state, step, reverse, output_sequence):
    """step(x_t, state) -> state, whose first tensor is the output. A reverse layer's outputs stand at their inputs."""
    outputs = []
    for t in range(x.shape[0] - 1, -1, -1) if reverse else range(x.shape[0]):
        state = step(x[t], state)
        outputs.append(state[0])
    if not output_sequence:
        return outputs[-1].unsqueeze(0), state
    return torch.stack(outputs[::-1] if reverse else outputs), state


def is_reverse(direction):
    if direction not in ("forward", "reverse"):
        raise InterpreterError("direction %s" % direction)
    return direction == "reverse"


# ---- lstm ----

def lstm_step(weights, acts, clip):
    """Gates stand in the order i, f, o, z."""
    weight_ih, weight_hh, bias, peephole = weights
    gate, candidate, output = acts

    def step(x, state):
        h, c = state
        sums = x @ weight_ih.t() + h @ weight_hh.t()
        i, f, o, z = (sums if bias is None else sums + bias).chunk(4, -1)
        if peephole is not None:
            pi, pf, po = peephole.chunk(3)
            i, f = i + pi * c, f + pf * c
        c = gate(f) * c + gate(i) * candidate(z)
        if clip is not None:    # as coremltools' tests expect it: the cell, not its candidate
            c = torch.clamp(c, -clip, clip)
        o = gate(o + po * c if peephole is not None else o)
        return o * output(c), c
    return step


@operator("lstm")
def lstm(x, initial_h, initial_c, weight_ih, weight_hh, bias=None, peephole=None, weight_ih_back=None,
         weight_hh_back=None, bias_back=None, peephole_back=None, direction: str = "forward",
         output_sequence: bool = False, recurrent_activation: str = "sigmoid", cell_activation: str = "tanh",
         activation: str = "tanh", clip: float = None):
    acts = [activation_named(n) for n in (recurrent_activation, cell_activation, activation)]
    forward = lstm_step((weight_ih, weight_hh, bias, peephole), acts, clip)
    if direction != "bidirectional":
        y, (h, c) = unrolled(x, (initial_h, initial_c), forward, is_reverse(direction), output_sequence)
        return y, h, c
    halves = list(zip(initial_h.chunk(2, -1), initial_c.chunk(2, -1)))
    backward = lstm_step((weight_ih_back, weight_hh_back, bias_back, peephole_back), acts, clip)
    y, (h, c) = unrolled(x, halves[0], forward, False, output_sequence)
    yb, (hb, cb) = unrolled(x, halves[1], backward, True, output_sequence)
    return torch.cat([y, yb], -1), torch.cat([h, hb], -1), torch.cat([c, cb], -1)


# ---- gru ----

def gru_step(weight_ih, weight_hh, bias, input_bias, acts, reset_after):
    """Gates stand in the order r, o, z. With reset_after, r scales the hidden product with its bias."""
    gate, output = acts
    hidden = weight_hh.shape[1]
    zero = torch.zeros(3 * hidden, dtype=weight_hh.dtype)
    bias = zero if bias is None else bias
    input_bias = zero if input_bias is None else input_bias

    def step(x, state):
        h = state[0]
        xr, xo, xz = (x @ weight_ih.t() + input_bias).chunk(3, -1)
        wr, wo, wz = weight_hh.chunk(3)
        br, bo, bz = bias.chunk(3)
        r, z = gate(xr + h @ wr.t() + br), gate(xz + h @ wz.t() + bz)
        inner = r * (h @ wo.t() + bo) if reset_after else (r * h) @ wo.t() + bo
        o = output(xo + inner)
        return ((1 - z) * o + z * h,)
    return step


@operator("gru")
def gru(x, initial_h, weight_ih, weight_hh, bias=None, input_bias=None, direction: str = "forward",
        output_sequence: bool = False, recurrent_activation: str = "sigmoid", activation: str = "tanh",
        reset_after: bool = False):
    acts = [activation_named(n) for n in (recurrent_activation, activation)]
    step = gru_step(weight_ih, weight_hh, bias, input_bias, acts, reset_after)
    y, (h,) = unrolled(x, (initial_h,), step, is_reverse(direction), output_sequence)
    return y, h


# ---- rnn ----

@operator("rnn")
def rnn(x, initial_h, weight_ih, weight_hh, bias=None, direction: str = "forward", output_sequence: bool = False,
        activation: str = "tanh"):
    """coremltools' tests expect of a reverse rnn, unlike lstm and gru, its outputs in the order of its work."""
    act = activation_named(activation)

    def step(x_t, state):
        sums = x_t @ weight_ih.t() + state[0] @ weight_hh.t()
        return (act(sums if bias is None else sums + bias),)
    y, (h,) = unrolled(x.flip(0) if is_reverse(direction) else x, (initial_h,), step, False, output_sequence)
    return y, h
