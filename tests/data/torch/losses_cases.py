"""Cases of the losses: python3 tests/data/torch/losses_cases.py writes losses.safetensors for
tests/autograd/losses/test_loss_torch.c. "loss.<i>" in its metadata names the loss and its numbers; the tensors are x and t (the
operands), w (class weights or the positive weight), the loss y and the gradients dx and dt."""
import torch
import torch.nn.functional as F

from record import Recorder

record = Recorder("losses", tolerance=2e-6, reason="sums in another order, and exp and log of another library")


def case(note, inputs, function, constant=()):
    """The "program" of the record is only for people here. dy is 1: a loss is a scalar that nothing follows. There is no
    gradient by a `constant`."""
    index = record.count
    record.notes["loss.%d" % index] = note
    record.case(note, inputs, function)
    dy = record.tensors.pop("%d.dy" % index)
    for name in inputs:
        key = "%d.d%s" % (index, name)
        if name in constant:
            record.tensors.pop(key, None)
        elif key in record.tensors:
            record.tensors[key] = record.tensors[key] / dy


def labels(classes, *shape):
    return record.indices(classes, *shape)


def classes_last(function):
    """PyTorch has the classes at axis 1."""
    return lambda x, t, **more: function(x.movedim(-1, 1), (t.movedim(-1, 1) if t.dtype.is_floating_point else t.long()),
                                         **more)


def cross_entropy(shape, smoothing=0.0, ignore=None, weighted=False, dense=False):
    classes = shape[-1]
    x = 3.0 * record.normal(*shape)
    t = torch.softmax(record.normal(*shape), -1) if dense else labels(classes, *shape[:-1])
    if ignore is not None:
        drop = torch.rand(t.shape, generator=record.generator) < 0.4
        drop.view(-1)[0] = True
        drop.view(-1)[1] = False
        t = torch.where(drop, torch.tensor(ignore, dtype=torch.int32), t)
        if 0 <= ignore < classes:
            t.view(-1)[1] = (ignore + 1) % classes
    more = {"label_smoothing": smoothing}
    if ignore is not None:
        more["ignore_index"] = ignore
    inputs = {"x": x, "t": t}
    if weighted:
        inputs["w"] = record.uniform(0.2, 3.0, classes)
    def function(x, t, w=None):
        return classes_last(F.cross_entropy)(x, t, weight=None if w is None else w.detach(), **more)
    case("cross_entropy %r %d" % (smoothing, -2 ** 31 if ignore is None else ignore), inputs, function, "w")


for shape in [(4, 3), (7, 10), (1, 2), (3, 5, 4), (2, 3, 2, 5)]:
    cross_entropy(shape)
    cross_entropy(shape, dense=True)
    cross_entropy(shape, smoothing=0.1)
    cross_entropy(shape, weighted=True)
    cross_entropy(shape, smoothing=0.3, weighted=True)
    cross_entropy(shape, smoothing=0.2, weighted=True, dense=True)
    cross_entropy(shape, smoothing=1.0)
    if shape != (1, 2):
        cross_entropy(shape, ignore=-100)
        cross_entropy(shape, ignore=1)
        cross_entropy(shape, smoothing=0.1, ignore=-100)
        cross_entropy(shape, smoothing=0.1, ignore=0, weighted=True)
        cross_entropy(shape, ignore=-1, weighted=True)

for shape in [(5, 4), (2, 6, 3)]:
    case("nll", {"x": torch.log_softmax(record.normal(*shape), -1), "t": labels(shape[-1], *shape[:-1])},
         classes_last(F.nll_loss))
    for margin in (1.0, 0.25):
        x, t = record.distinct(*shape), labels(shape[-1], *shape[:-1])
        case("multi_margin %r" % margin, {"x": x + 0.01, "t": t},
             lambda x, t, margin=margin: F.multi_margin_loss(x.reshape(-1, x.shape[-1]), t.long().reshape(-1),
                                                             margin=margin))

for shape in [(6,), (4, 5), (2, 3, 4)]:
    for loss, function in (("mse", F.mse_loss), ("l1", F.l1_loss)):
        case(loss, {"x": 2.0 * record.normal(*shape), "t": record.normal(*shape)},
             lambda x, t, function=function: function(x, t))
    for delta in (1.0, 0.25, 3.0):
        case("huber %r" % delta, {"x": 2.0 * record.normal(*shape), "t": record.normal(*shape)},
             lambda x, t, delta=delta: F.huber_loss(x, t, delta=delta))
    for beta in (1.0, 0.5, 0.0):
        case("smooth_l1 %r" % beta, {"x": 2.0 * record.normal(*shape), "t": record.normal(*shape)},
             lambda x, t, beta=beta: F.smooth_l1_loss(x, t, beta=beta))
    for scale in (1.0, 6.0):
        case("binary_cross_entropy", {"x": scale * record.normal(*shape), "t": record.uniform(0.0, 1.0, *shape)},
             lambda x, t: F.binary_cross_entropy_with_logits(x, t))
        case("binary_cross_entropy", {"x": scale * record.normal(*shape),
                                      "t": record.indices(2, *shape).float(),
                                      "w": record.uniform(0.5, 4.0, shape[-1])},
             lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, pos_weight=w.detach()), "w")
    probability = torch.softmax(record.normal(*shape), -1)
    case("kl_divergence", {"x": torch.log_softmax(record.normal(*shape), -1), "t": probability},
         lambda x, t: F.kl_div(x, t, reduction="batchmean"))
    sparse = torch.where(probability < 0.2, torch.zeros(()), probability)
    case("kl_divergence", {"x": torch.log_softmax(record.normal(*shape), -1), "t": sparse},
         lambda x, t: F.kl_div(x, t.detach(), reduction="batchmean"), "t")  # not finite where t is 0
    case("hinge", {"x": 2.0 * record.normal(*shape), "t": 2.0 * record.indices(2, *shape).float() - 1.0},
         lambda x, t: torch.clamp(1.0 - t * x, min=0.0).mean())

# ---- focal, overlap, counts, quantiles ----

def focal(x, t, gamma):
    log_p = torch.log_softmax(x, -1).gather(-1, t.long().unsqueeze(-1)).squeeze(-1)
    return (-(1.0 - log_p.exp()) ** gamma * log_p).mean()


def binary_focal(x, t, alpha, gamma):
    """torchvision's sigmoid_focal_loss, which Debian has not."""
    p = torch.sigmoid(x)
    cost = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    right = p * t + (1.0 - p) * (1.0 - t)
    weight = 1.0 if alpha == -1.0 else alpha * t + (1.0 - alpha) * (1.0 - t)
    return (weight * cost * (1.0 - right) ** gamma).mean()


def dice(x, t, axes):
    return (1.0 - (2.0 * (x * t).sum(axes) + 1.0) / (x.sum(axes) + t.sum(axes) + 1.0)).mean()


for shape in [(5, 4), (2, 6, 3)]:
    for gamma in (0.0, 1.0, 2.0, 3.5):
        case("focal %r" % gamma, {"x": 2.0 * record.normal(*shape), "t": labels(shape[-1], *shape[:-1])},
             lambda x, t, gamma=gamma: focal(x, t, gamma))
        for alpha in (0.25, -1.0):
            case("binary_focal %r %d" % (gamma, 100 * alpha),
                 {"x": 2.0 * record.normal(*shape), "t": record.indices(2, *shape).float()},
                 lambda x, t, a=alpha, g=gamma: binary_focal(x, t.detach(), a, g), "t")
    case("poisson_nll", {"x": record.normal(*shape), "t": record.indices(6, *shape).float()},
         lambda x, t: F.poisson_nll_loss(x, t))
    for q in (0.5, 0.1, 0.9):
        case("pinball %r" % q, {"x": 2.0 * record.normal(*shape), "t": record.normal(*shape)},
             lambda x, t, q=q: torch.maximum(q * (t - x), (q - 1.0) * (t - x)).mean())
for shape, axes in (((3, 7), (1,)), ((2, 3, 4, 5), (2, 3)), ((2, 3, 4, 5), (1, 2, 3))):
    case("dice %d" % len(axes), {"x": record.uniform(0.0, 1.0, *shape), "t": record.indices(2, *shape).float()},
         lambda x, t, axes=axes: dice(x, t, axes))

# ---- embeddings ----

for shape in [(6, 5), (2, 3, 8), (4, 2)]:
    rows = shape[:-1]
    for margin in (0.0, 0.3):
        flat = lambda x: x.reshape(-1, x.shape[-1])
        case("cosine_embedding %r" % margin,
             {"x": record.normal(*shape), "t": record.normal(*shape), "w": 2.0 * record.indices(2, *rows).float() - 1.0},
             lambda x, t, w, margin=margin: F.cosine_embedding_loss(flat(x), flat(t), w.detach().reshape(-1), margin),
             "w")
    for margin in (1.0, 0.2):
        case("triplet %r" % margin,
             {"x": record.normal(*shape), "t": record.normal(*shape), "w": record.normal(*shape)},
             lambda x, t, w, margin=margin: F.triplet_margin_loss(x, t, w, margin, eps=0.0))


def nt_xent(x, t, temperature):
    z = F.normalize(torch.cat([x, t]), dim=1)
    likeness = z @ z.T / temperature
    likeness = likeness.masked_fill(torch.eye(len(z), dtype=torch.bool), -float("inf"))
    return F.cross_entropy(likeness, (torch.arange(len(z)) + len(x)) % len(z))


for shape in [(5, 7), (3, 4), (1, 6)]:
    for temperature in (0.5, 0.07):
        operands = {"x": record.normal(*shape), "t": record.normal(*shape)}
        case("info_nce %r" % temperature, operands,
             lambda x, t, T=temperature: F.cross_entropy(F.normalize(x, dim=1) @ F.normalize(t, dim=1).T / T,
                                                         torch.arange(len(x))))
        operands = {"x": record.normal(*shape), "t": record.normal(*shape)}
        case("nt_xent %r" % temperature, operands, lambda x, t, T=temperature: nt_xent(x, t, T))

# ---- sequences ----

# batch, steps, classes, labels, blank, rows of (steps that count, labels that count); None = all
for n, steps, classes, most, blank, lengths in [
        (2, 6, 4, 2, 0, None), (3, 9, 5, 3, 4, ((9, 3), (7, 2), (4, 0))), (1, 1, 3, 1, 0, None),
        (4, 12, 3, 5, 1, ((12, 5), (11, 4), (3, 5), (10, 1))), (2, 20, 6, 7, 2, ((20, 7), (15, 7)))]:
    x = torch.log_softmax(2.0 * record.normal(n, steps, classes), -1)
    t = record.indices(classes - 1, n, most)
    t = torch.where(t >= blank, t + 1, t).int()
    operands = {"x": x, "t": t}
    if lengths is not None:
        operands["w"] = torch.tensor(lengths, dtype=torch.int32).T.contiguous()
    def ctc(x, t, w=None, n=n, steps=steps, most=most, blank=blank):
        ins = torch.full((n,), steps) if w is None else w[0].long()
        outs = torch.full((n,), most) if w is None else w[1].long()
        # in doubles: PyTorch's own sums in fp32 are off by 2e-6 of the largest gradient after 20 steps
        return F.ctc_loss(x.double().transpose(0, 1), t.long(), ins, outs, blank, zero_infinity=True).float()
    # PyTorch's gradient by log_probs takes for granted that a log_softmax follows: here it is that of the logits
    case("ctc 0 %d" % blank, operands, lambda x, t, w=None: ctc(torch.log_softmax(x, -1), t, w))
record.write()
