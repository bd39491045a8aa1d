#!/usr/bin/env python3
"""Runs the workloads in Millwright, the floor and PyTorch, one after the other in each round, and compares them.

A round is one run of each, so that what else the machine does falls on all of them; the ratios are taken within a round.
Called by `./run bench`; see bench/README.md."""
import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

import chart
import torch_bench

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE = ["W7", "W8", "W9", "W10", "W10layer", "W11", "W12", "W13", "W14"]
WORKLOADS = ["W1", "W2", "W3", "W4", "W5", "W6", *LARGE, "dispatch"]
SPLIT = {"W1", "W2", "W3", *LARGE}  # the others run on one thread
ROUNDS, ROUNDS_LARGE = 5, 3
TORCH_MODE = {"W2": "channels_last", "W5": "jit", "W8": "channels_last,foreach", "W9": "channels_last,foreach",
              "W12": "jit"}  # what is fastest there, of the modes of torch_bench.py and several at once; else eager
MORE_IS_BETTER = {"steps_per_s", "trainer_steps_per_s", *(f"tokens_per_s.b{batch}" for batch in (1, 4, 16, 64))}
NO_RATIO = {"loss", "first_loss", "parameters", "gflop", "gflops", "of_product"}
PEERS = ["millwright", "floor", "torch", "fp16", "fp16 ieee"]


def parse():
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS) + " (all)")
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS} by default, of W7 to W14 {ROUNDS_LARGE}")
    parser.add_argument("--threads", default=str(os.cpu_count()), help="a list such as 1,2; %(default)s by default")
    parser.add_argument("--steps", type=int, default=0, help="of every workload, to try something out")
    parser.add_argument("--build", default="build/release/bench", help="folder of the programs")
    parser.add_argument("--data", default="data/mnist")
    parser.add_argument("--out", default="bench-out")
    options = parser.parse_args()
    unknown = [w for w in options.workloads if w not in WORKLOADS]
    if unknown or (options.rounds is not None and options.rounds < 1):
        parser.error(f"there is no workload {unknown[0]}" if unknown else "at least one round")
    options.workloads = options.workloads or WORKLOADS
    options.threads = [int(t) for t in options.threads.split(",")]
    return options


def torch_python():
    """An interpreter that has PyTorch, or None; prints why."""
    script = "import sys; sys.path.insert(0, sys.argv[1]); import torch_bench; print(torch_bench.whats_missing() or '')"
    said = ""
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        if shutil.which(python):
            run = subprocess.run([python, "-c", script, HERE], capture_output=True, text=True, check=False)
            if run.returncode == 0 and not run.stdout.strip():
                return python
            said = said or run.stdout.strip()
    print(said or "PyTorch is left out: no Python has it.")
    return None


def commands(options, python):
    """[(workload, threads, peer, command)] of one round."""
    floor = os.path.join(options.build, "floor")
    if not os.path.exists(floor):
        print("The floor is left out: it needs clang and OpenBLAS with cblas.h.")
        floor = None
    result = []
    for workload in options.workloads:
        for threads in options.threads if workload in SPLIT else [1]:
            common = [workload, "--threads", str(threads), "--data", options.data]
            common += ["--steps", str(options.steps)] if options.steps else []
            ours = [os.path.join(options.build, "millwright"), *common]
            result.append((workload, threads, "millwright", ours))
            if floor and workload not in ("dispatch", *LARGE):
                result.append((workload, threads, "floor", [floor, *common]))
            if python and workload != "dispatch":
                mode = ["--mode", TORCH_MODE.get(workload, "eager")]
                script = os.path.join(HERE, "torch_bench.py")
                result.append((workload, threads, "torch", [python, script, *common, *mode]))
            if workload in SPLIT:
                fp16 = ["fp16"] if workload in LARGE else ["fp16", "fp16 ieee"]
                result += [(workload, threads, peer, [*ours, "--device", "ane"]) for peer in fp16]
    return result


def run(command, peer, threads):
    """{metric: value}; empty if the peer does not have the workload."""
    environment = torch_bench.environment(threads) if peer == "torch" else dict(os.environ)
    if peer == "floor":
        environment.update(torch_bench.blas_core())
    if peer == "fp16 ieee":
        environment["MW_ENGINE_PROFILE"] = "ieee"
    environment["BENCH_T0"] = str(time.time_ns())
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == torch_bench.LEFT_OUT:
        return {}
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return {line.split("\t")[1]: float(line.split("\t")[2]) for line in done.stdout.splitlines()}


def rounds_of(options, workload):
    return options.rounds or (ROUNDS_LARGE if workload in LARGE else ROUNDS)


def measure(options, plan):
    """{(workload, threads, metric): {peer: [value of each round]}}"""
    results, rounds = {}, max(rounds_of(options, workload) for workload in options.workloads)
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}, load {os.getloadavg()[0]:.1f}", flush=True)
        due = [entry for entry in plan if number < rounds_of(options, entry[0])]
        for workload, threads, peer, command in due if number % 2 == 0 else reversed(due):
            for metric, value in run(command, peer, threads).items():
                results.setdefault((workload, threads, metric), {}).setdefault(peer, []).append(value)
    order = {workload: i for i, workload in enumerate(WORKLOADS)}
    return dict(sorted(results.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def spread(values):
    if not values:
        return "-"
    return f"{statistics.median(values):.4g} [{min(values):.4g}..{max(values):.4g}]"


def ratio(metric, peers, other, one="millwright"):
    """How much more time (or memory) the one takes than the other, round by round."""
    ours, theirs = peers.get(one), peers.get(other)
    if not ours or not theirs or metric in NO_RATIO:
        return "-"
    pairs = zip(theirs, ours) if metric in MORE_IS_BETTER else zip(ours, theirs)
    return f"{statistics.median(a / b for a, b in pairs):.2f}"


def check(results):
    """Ends the program unless the peers have the same number of parameters, and losses that fell."""
    for (workload, threads, metric), peers in results.items():
        everywhere = {value for values in peers.values() for value in values}
        if metric == "parameters" and len(everywhere) > 1:
            sys.exit(f"{workload} has {peers} parameters: these are different networks.")
        for peer, firsts in peers.items() if metric == "first_loss" else ():
            lasts = results[workload, threads, "loss"][peer]
            if any(last >= first for first, last in zip(firsts, lasts)):
                sys.exit(f"{workload}: the loss of {peer} went from {firsts} to {lasts}.")


def table(results):
    rows = [["workload", "threads", "metric", *PEERS, "/floor", "/torch", "fp16/fp32", "fp16/ieee"]]
    for (workload, threads, metric), peers in results.items():
        cells = [spread(peers.get(peer)) for peer in PEERS]
        ratios = [ratio(metric, peers, "floor"), ratio(metric, peers, "torch"),
                  ratio(metric, peers, "millwright", "fp16"), ratio(metric, peers, "fp16 ieee", "fp16")]
        rows.append([workload, str(threads), metric, *cells, *ratios])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows)


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "?"


def machine():
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), model)
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.machine()}"


def pinned():
    """Variables of the environment that choose the BLAS's kernels or threads: they change every peer's figures."""
    prefixes = ("OPENBLAS_", "OMP_", "BLIS_", "DNNL_", "ONEDNN_", "MKL_", "MW_")
    return [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(prefixes)]


def told():
    """What the floor's and PyTorch's BLAS is told because it does not know the processor."""
    return "".join(f"; {name}={value} for floor and torch" for name, value in torch_bench.blas_core().items())


def heading(options):
    now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M")
    return (f"{now}, {machine()}, commit {first_line('git', 'describe', '--always', '--dirty')}, "
            f"{options.rounds or f'{ROUNDS} or {ROUNDS_LARGE}'} rounds; {first_line('cc', '--version')}; {first_line('clang', '--version')}; "
            f"environment {' '.join(pinned()) or 'free'}{told()}")


def write(options, results, text):
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "bench.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(options.out, "bench.tsv"), "w", encoding="utf-8") as file:
        file.write("workload\tthreads\tmetric\tpeer\tround\tvalue\n")
        for (workload, threads, metric), peers in results.items():
            for peer, values in peers.items():
                for number, value in enumerate(values):
                    file.write(f"{workload}\t{threads}\t{metric}\t{peer}\t{number + 1}\t{value:.6g}\n")
    with open(os.path.join(options.out, "bench.svg"), "w", encoding="utf-8") as file:
        file.write(chart.draw(results, PEERS, MORE_IS_BETTER, text.splitlines()[0]))


def main():
    options = parse()
    plan = commands(options, torch_python())
    before = os.getloadavg()[0]
    if before > 0.5:
        print(f"Something else is running (load {before:.1f}): look at the ratios and the spread, not at the times.")
    if pinned():
        print(f"The environment has {' '.join(pinned())}: that may hold libraries back.")
    results = measure(options, plan)
    if not options.steps:
        check(results)
    load = f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    text = f"{heading(options)}; {load}\n\n{table(results)}\n"
    write(options, results, text)
    print(f"\n{text}\nmedian [smallest..largest]; /floor and /torch: Millwright's time (or memory) as a multiple of theirs, "
          f"median of the rounds\nwritten to {options.out}: bench.txt, bench.tsv, bench.svg")


if __name__ == "__main__":
    main()
