"""Random cases of the matmul family: python3 tests/data/torch/matmul_cases.py writes matmul.safetensors."""
import torch

from record import Recorder, boolean, tensor, text

record = Recorder("matmul", tolerance=2e-6, reason="sums of at most 48 products in another order")


def transposed(value, yes):
    return value.transpose(-1, -2) if yes else value


def product(value, axes_x, axes_y):
    """One matmul with batch extents that broadcast."""
    m, k, n = (value(1, 6) for _ in range(3))
    batch = [value(1, 4) for _ in range(record.pick(0, 0, 1, 2))]
    x_batch = [record.pick(1, e) for e in batch]
    y_batch = [record.pick(1, e) for e in batch][record.pick(0, len(batch)):]
    x = record.normal(*x_batch, *((k, m) if axes_x else (m, k)))
    w = record.normal(*y_batch, *((n, k) if axes_y else (k, n)))
    record.case("matmul(transpose_x = %s, transpose_y = %s, x = x, y = w)" % (boolean(axes_x), boolean(axes_y)),
                {"x": x, "w": w}, lambda x, w: transposed(x, axes_x) @ transposed(w, axes_y))


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


for i in range(150):
    product(extent, record.pick(False, True), record.pick(False, True))
for i in range(20):
    k, n = extent(1, 9), extent(1, 5)
    shapes = record.pick(((k,), (k, n)), ((n, k), (k,)), ((k,), (k,)), ((k,), (2, k, n)))
    record.case("matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w)",
                {"x": record.normal(*shapes[0]), "w": record.normal(*shapes[1])}, lambda x, w: x @ w)
for i in range(20):
    k, n = extent(1, 9), extent(1, 5)
    weight, bias = record.normal(n, k), record.normal(n)
    record.case("linear(bias = %s, weight = %s, x = x)" % (tensor(bias), tensor(weight)),
                {"x": record.normal(*([2, 3][:record.pick(0, 1, 2)]), k)},
                lambda x: torch.nn.functional.linear(x, weight, bias))
for i in range(20):
    n, c, h, w, u = (extent(1, 4) for _ in range(5))
    equation, a, b = record.pick(("nchw,nwhu->nchu", [n, c, h, w], [n, w, h, u]), ("chw,whr->chr", [c, h, w], [w, h, u]),
                                 ("abcd,adce->abce", [n, c, h, w], [n, w, h, u]))
    record.case("einsum(equation = %s, values = (x, w))" % text(equation),
                {"x": record.normal(*a), "w": record.normal(*b)}, lambda x, w: torch.einsum(equation, x, w))
record.write()
