#!/usr/bin/env python3
"""A network of the zoo in PyTorch: torch_run.py NAME [--threads N] [--steps N] [--tiny] [--mode M] [--infer].

Prints `network<TAB>metric<TAB>value` lines. Mode is eager or channels_last; optimizers take all parameters in one call
(foreach), inference is traced and frozen. OpenBLAS as bench/torch_bench.py has it."""
import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "forms")]
import torch_bench  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--mode", choices=("eager", "channels_last"), default="eager")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--infer", action="store_true")
    return parser.parse_args()


def emit(options, metric, value):
    print(f"{options.network}\t{metric}\t{value:.6g}", flush=True)


def emit_size(options, model, inputs):
    elements = sum(value.numel() for key, value in inputs.items() if key != "y" or not options.infer)
    emit(options, "parameters", sum(p.numel() for p in model.parameters()))
    emit(options, "elements", elements)


def with_channels_last(torch, model, inputs):
    """Every tensor of two or three spatial axes with its channels last."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    for parameter in model.parameters():
        if parameter.dim() in formats:
            parameter.data = parameter.data.contiguous(memory_format=formats[parameter.dim()])
    return {key: value.contiguous(memory_format=formats[value.dim()]) if value.dim() in formats else value
            for key, value in inputs.items()}


def take_steps(options, step):
    """Seconds of each, processor seconds of all but the first, and what the first and the last gave."""
    seconds, given, cpu = [], [], 0.0
    for i in range(options.steps):
        cpu = time.process_time() if i <= 1 else cpu
        start = time.perf_counter()
        given.append(step())
        seconds.append(time.perf_counter() - start)
    return seconds, time.process_time() - cpu, given[0], given[-1]


def trained(options, model, inputs, optimizer):
    def step():
        loss = model.loss(*inputs.values())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    return take_steps(options, step)


def inferred(torch, options, model, inputs):
    values = tuple(value for key, value in inputs.items() if key != "y")
    model.eval()
    with torch.inference_mode():
        model = torch.jit.freeze(torch.jit.trace(model, values, check_trace=False))
        return take_steps(options, lambda: model(*values).abs().mean().item())


def main():
    options, missing = parse(), torch_bench.whats_missing()
    if missing:
        print(missing, file=sys.stderr)
        sys.exit(torch_bench.LEFT_OUT)
    if os.environ.get("LD_LIBRARY_PATH") != torch_bench.blas_folder():
        os.execve(sys.executable, [sys.executable, *sys.argv], torch_bench.environment(options.threads))
    import torch

    import registry

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    registry.load()
    model, inputs = registry.build(options.network, options.tiny)
    emit_size(options, model, inputs)
    if options.mode == "channels_last":
        inputs = with_channels_last(torch, model, inputs)
    if options.infer:
        seconds, cpu, first, last = inferred(torch, options, model, inputs)
    else:
        seconds, cpu, first, last = trained(options, model, inputs, registry.optimizer_of(options.network, model, True))
    warm = seconds[1:] or seconds
    emit(options, "first_ms", 1e3 * seconds[0])
    emit(options, "step_ms", 1e3 * statistics.median(warm))
    emit(options, "cpu_ms", 1e3 * cpu / len(warm))
    with open("/proc/self/status", encoding="ascii") as file:
        emit(options, "peak_mb", next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024 / 1e6)
    if not options.infer:
        emit(options, "first_loss", first)
        emit(options, "loss", last)


if __name__ == "__main__":
    main()
