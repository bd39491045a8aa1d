"""Random cases of the attention family: python3 tests/data/torch/attention_cases.py writes attention.safetensors.

PyTorch 1.13 has no public scaled_dot_product_attention; its own formula is written out here."""
import math

import torch

from record import Recorder

record = Recorder("attention", tolerance=2e-5,
                  reason="sums in another order; a gradient is the difference of terms that nearly cancel")


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -math.inf)
    elif mask is not None:
        scores = scores + mask
    return torch.softmax(scores, -1) @ value


def draw_mask(batch, rows, keys):
    """A mask with extents of 1 or left out here and there; a boolean one leaves two keys to every row. Its last
    extent is whole: with one key, or the same added to every score, gradients are 0, of which rounding leaves noise."""
    shape = [*(record.pick(1, e) for e in (*batch, rows)), keys][record.pick(0, 0, len(batch)):]
    if record.pick(True, False):
        return record.normal(*shape)
    mask = record.uniform(0, 1, *shape) < 0.6
    mask[..., :2] = True
    return mask


for i in range(200):
    batch = [extent(1, 2) for _ in range(record.pick(1, 1, 2))]
    rows, keys, inner, width = extent(1, 4), extent(2, 5), extent(1, 4), extent(1, 3)
    inputs = {"query": record.normal(*batch, rows, inner), "key": record.normal(*batch, keys, inner),
              "value": record.normal(*batch, keys, width)}
    words = "key = key, query = query, value = value"
    if record.pick(True, True, False):
        inputs["mask"] = draw_mask(batch, rows, keys)
        words = "attn_mask = mask, " + words
    record.case("scaled_dot_product_attention(%s)" % words, inputs, attention)
record.write()
