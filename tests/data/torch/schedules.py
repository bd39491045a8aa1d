"""Records learning rates of PyTorch's schedulers; tests/runtime/fit/test_schedule.c repeats them.

    python3 tests/data/torch/schedules.py > tests/data/torch/schedules.txt

The optimizer's rate is 1, so that a rate is a factor. A line is: name, its three numbers, steps of the warm-up, its start
factor, steps, then the factor of each step.
"""
import warnings

import torch
from torch.optim import lr_scheduler as schedulers

warnings.simplefilter("ignore")  # SequentialLR steps its parts in a way that it warns of itself


def one_cycle(optimizer, numbers, steps):
    rise, start, end = numbers
    return schedulers.OneCycleLR(optimizer, 1.0, total_steps=steps, pct_start=rise, div_factor=start,
                                 final_div_factor=end, cycle_momentum=False)


makers = {
    "constant": lambda o, n, steps: schedulers.LambdaLR(o, lambda t: 1.0),
    "step": lambda o, n, steps: schedulers.StepLR(o, int(n[0]), n[1]),
    "cosine": lambda o, n, steps: schedulers.CosineAnnealingLR(o, steps, eta_min=n[0]),
    "linear": lambda o, n, steps: schedulers.LinearLR(o, 1.0, n[0], steps),
    "one_cycle": one_cycle,
}


def record(name, numbers, steps, warmup=0, start=0.0):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = makers[name]
    if warmup > 0:
        scheduler = schedulers.SequentialLR(optimizer, [schedulers.LinearLR(optimizer, start, 1.0, warmup),
                                                        schedule(optimizer, numbers, steps - warmup)], [warmup])
    else:
        scheduler = schedule(optimizer, numbers, steps)
    rates = []
    for step in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if step + 1 < steps:
            scheduler.step()
    numbers = tuple(numbers) + (0.0,) * (3 - len(numbers))
    print(name, *(repr(float(n)) for n in numbers), warmup, repr(start), steps, *(repr(r) for r in rates))


if __name__ == "__main__":
    print("# torch", torch.__version__)
    record("constant", (), 10)
    record("constant", (), 15, warmup=5, start=0.2)
    record("step", (3, 0.5), 14)
    record("step", (1, 0.9), 12)
    record("step", (4, 0.1), 16, warmup=3, start=0.25)
    record("cosine", (0.0,), 12)
    record("cosine", (0.1,), 17)
    record("cosine", (0.05,), 20, warmup=6, start=0.01)
    record("linear", (0.0,), 12)
    record("linear", (0.25,), 11)
    record("linear", (0.1,), 18, warmup=4, start=0.5)
    record("one_cycle", (0.3, 25.0, 1e4), 12)
    record("one_cycle", (0.25, 10.0, 100.0), 40)
    record("one_cycle", (0.9, 2.0, 3.0), 13)
    record("one_cycle", (0.0, 4.0, 5.0), 11)
    record("one_cycle", (1.0, 4.0, 5.0), 11)
