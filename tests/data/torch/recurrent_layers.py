"""Random cases of layers with PyTorch's own modules and state dicts: python3 tests/data/torch/recurrent_layers.py writes
recurrent_layers.safetensors for tests/autograd/test_recurrent_layers.c.

"layer.<i>" in its metadata names the layer and its numbers: for lstm and gru hidden elements, layers, bidirectional,
batch_first, bias and whether states are given; for attention heads, whether key and value are of their own, and the
mask (0 none, 1 float, 2 bool). Parameters are recorded by their names in the state dict, after "net."."""
import torch

from record import Recorder

record = Recorder("recurrent_layers", tolerance=2e-5,
                  reason="sums in another order, and functions of 2 ulp, which later steps pass on")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def draw_parameters(module):
    """As large as those that a layer begins with, from the generator of this file."""
    with torch.no_grad():
        for value in module.parameters():
            value.copy_(record.uniform(-0.7, 0.7, *value.shape))


def case(note, module, inputs, function):
    """Results are y, and h and c where there are some; their gradients are seeded with dy, dh and dc."""
    leaves = {name: value.clone().requires_grad_(value.dtype == torch.float32) for name, value in inputs.items()}
    results = function(module, **leaves)
    seeds = {name: record.normal(*value.shape) for name, value in results.items()}
    torch.autograd.backward(list(results.values()), list(seeds.values()))
    record.notes["layer.%d" % record.count] = note
    for name, value in inputs.items():
        record._tensor(name, value)
        if leaves[name].grad is not None:
            record._tensor("d." + name, leaves[name].grad)
    for name, value in module.state_dict().items():
        record._tensor("net." + name, value)
    for name, value in module.named_parameters():
        record._tensor("d.net." + name, value.grad)
    for name, value in results.items():
        record._tensor("out." + name, value)
        record._tensor("seed." + name, seeds[name])
    record.count += 1


def recurrent_case(kind):
    hidden, layers, inputs, batch, steps = extent(1, 4), extent(1, 3), extent(1, 3), extent(1, 3), extent(1, 4)
    both, first, bias, given = (record.pick(True, False) for _ in range(4))
    module = (torch.nn.LSTM if kind == "lstm" else torch.nn.GRU)(
        inputs, hidden, layers, bias=bias, batch_first=first, bidirectional=both)
    draw_parameters(module)
    data = {"x": record.normal(*((batch, steps) if first else (steps, batch)), inputs)}
    for name in (("h", "c") if kind == "lstm" else ("h",)) if given else ():
        data[name] = record.normal(layers * (2 if both else 1), batch, hidden)

    def function(module, x, h=None, c=None):
        if kind == "gru":
            return dict(zip(("y", "h"), module(x, h)))
        y, (last, cell) = module(x, (h, c) if given else None)
        return {"y": y, "h": last, "c": cell}
    case("%s %d %d %d %d %d %d" % (kind, hidden, layers, both, first, bias, given), module, data, function)


def attention_case():
    heads, batch, rows, keys = extent(1, 3), extent(1, 3), extent(1, 4), extent(2, 4)
    own = record.pick(True, False)
    mask = record.pick(0, 1, 2)
    keys = keys if own else rows
    module = torch.nn.MultiheadAttention(heads * extent(1, 3), heads, batch_first=True)
    draw_parameters(module)
    data = {"query": record.normal(batch, rows, module.embed_dim)}
    if own:
        data.update(key=record.normal(batch, keys, module.embed_dim), value=record.normal(batch, keys, module.embed_dim))
    if mask == 1:
        data["mask"] = record.normal(rows, keys)
    elif mask == 2:
        data["mask"] = record.uniform(0, 1, rows, keys) < 0.6
        data["mask"][:, 0] = True

    def function(module, query, key=None, value=None, mask=None):
        if mask is not None and mask.dtype == torch.bool:
            mask = ~mask
        key = query if key is None else key
        return {"y": module(query, key, key if value is None else value, attn_mask=mask, need_weights=False)[0]}
    case("attention %d %d %d" % (heads, own, mask), module, data, function)


for i in range(14):
    recurrent_case("lstm")
    recurrent_case("gru")
    attention_case()
record.write()
