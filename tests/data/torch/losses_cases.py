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
record.write()
