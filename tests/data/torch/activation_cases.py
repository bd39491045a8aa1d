"""Random cases of the activation family: python3 tests/data/torch/activation_cases.py writes activation.safetensors."""
import torch
import torch.nn.functional as F

from record import Recorder, real, tensor, text

record = Recorder("activation", tolerance=1e-5,
                  reason="the slopes of silu and gelu are sums that cancel near their minima")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def shape(low=0, high=4):
    return tuple(extent(1, 5) for _ in range(extent(low, high)))


def lattice(*extents):
    """Quarters in [-8, 8]: the kinks at 0, 1 and 6 come up."""
    return torch.round(record.uniform(-32, 32, *extents)) / 4


def number(low, high):
    """A quarter in [low, high]."""
    return extent(low * 4, high * 4) / 4


def unary(operation, function, draw, arguments=""):
    record.case("%s(%sx = x)" % (operation, arguments), {"x": draw(*shape())}, lambda x: function(x))


def linear_then_clamp(x, alpha, beta):
    """hardsigmoid of any slope; clamp's own gradient is 1 at its bounds, hardsigmoid's is 0 there."""
    inner = alpha * x + beta
    return torch.where((inner > 0) & (inner < 1), inner, inner.detach().clamp(0, 1))


def clamped(x, alpha, beta):
    inner = F.leaky_relu(x, alpha)
    return torch.where(inner < beta, inner, torch.full_like(inner, beta))


def channels(rank, equal):
    count = extent(1, 4)
    x = lattice(extent(1, 3), count, *(extent(1, 4) for _ in range(rank - 2))) / 2
    alpha = torch.round(record.uniform(-8, 8, 1 if equal else count)) / 4
    return x, alpha.expand(count).contiguous()


def column(vector, rank):
    return vector.reshape(1, -1, *[1] * (rank - 2))


for _ in range(12):
    unary("relu", torch.relu, lattice)
    unary("relu6", F.relu6, lattice)
    unary("sigmoid", torch.sigmoid, record.normal)
    unary("silu", F.silu, record.normal)
    unary("gelu", F.gelu, record.normal, "mode = %s, " % text("EXACT"))
    unary("gelu", lambda x: F.gelu(x, approximate="tanh"), record.normal,
          "mode = %s, " % text("TANH_APPROXIMATION"))
    unary("gelu", lambda x: x * torch.sigmoid(1.702 * x), record.normal,
          "mode = %s, " % text("SIGMOID_APPROXIMATION"))
    unary("softplus", F.softplus, lattice)
    alpha, beta = number(-1, 2), number(-1, 4)
    one, both = "alpha = %s, " % real(alpha), "alpha = %s, beta = %s, " % (real(alpha), real(beta))
    unary("leaky_relu", lambda x: F.leaky_relu(x, alpha), lattice, one)
    unary("elu", lambda x: F.elu(x, alpha), lattice, one)
    unary("thresholded_relu", lambda x: torch.where(x >= alpha, x, torch.zeros_like(x)), lattice, one)
    unary("clamped_relu", lambda x: clamped(x, alpha, beta), lattice, both)
    unary("scaled_tanh", lambda x: alpha * torch.tanh(beta * x), record.normal, both)
    unary("linear_activation", lambda x: alpha * x + beta, record.normal, both)
    slope = number(1, 2) / 8
    unary("sigmoid_hard", lambda x: linear_then_clamp(x, slope, 0.5), lattice,
          "alpha = %s, beta = %s, " % (real(slope), real(0.5)))
    sixth = 1 / 6
    unary("sigmoid_hard", F.hardsigmoid, record.normal, "alpha = %s, beta = %s, " % (real(sixth), real(0.5)))
for i in range(15):
    rank = 3 + i % 3
    x, alpha = channels(rank, rank != 4)
    record.case("prelu(alpha = %s, x = x)" % tensor(alpha), {"x": x}, lambda x: F.prelu(x, alpha))
    x, alpha = channels(rank, False)
    beta = record.uniform(-2, 2, len(alpha))
    record.case("softplus_parametric(alpha = %s, beta = %s, x = x)" % (tensor(alpha), tensor(beta)), {"x": x},
                lambda x: column(alpha, rank) * F.softplus(column(beta, rank) * x))
for _ in range(12):
    unary("softsign", F.softsign, lattice)
record.write()
