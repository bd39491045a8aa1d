#!/usr/bin/env python3
"""Runs the networks of the zoo in Millwright, PyTorch and ONNX Runtime, one after the other in each round, and compares
them: training beside PyTorch (in the faster of its two formats of memory, as the first round shows), inference of one
exported ONNX file beside ONNX Runtime, and the same from a Core ML package.

Called by `./run bench zoo`; see bench/README.md."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import compare as bench_compare  # noqa: E402  (bench/compare.py: this file runs as __main__)
import torch_bench  # noqa: E402

MODULES = "build/cache/onnxruntime"
TRAINED = ["train", "torch", "torch channels_last", "fp16"]
INFERRED = ["package", "onnx", "onnxruntime"]
SAME_RESULT = 2e-3  # of the mean of magnitudes


def parse():
    parser = argparse.ArgumentParser(prog="./run bench zoo", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="zoo --list has them (all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2", help="a list; %(default)s by default")
    parser.add_argument("--steps", type=int, default=4, help="of a run; the first is reported alone")
    parser.add_argument("--peers", default=",".join(TRAINED + INFERRED), help="%(default)s")
    parser.add_argument("--build", default="build/release/bench", help="folder of the program")
    parser.add_argument("--tiny", action="store_true", help="small networks, to try this out")
    parser.add_argument("--keep", help="add to the values of this file, and write them there")
    parser.add_argument("--out", default="bench-out")
    options = parser.parse_args()
    options.program = os.path.join(options.build, "zoo")
    known = [line.split("\t")[0] for line in bench_lines(options.program, "--list")]
    unknown = [name for name in options.networks if name not in known]
    if unknown:
        parser.error(f"there is no network {unknown[0]}")
    options.networks = options.networks or known
    options.threads = [int(t) for t in options.threads.split(",")]
    options.peers = options.peers.split(",")
    return options


def bench_lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


# ---- the peers ----

def command_of(options, python, folder, name, peer, threads):
    """None if the peer is not here."""
    common = ["--threads", str(threads), "--steps", str(options.steps)] + (["--tiny"] if options.tiny else [])
    ours = [options.program, name, *common]
    model = os.path.join(folder, f"{name}.onnx")
    if peer == "onnxruntime":
        script = os.path.join(HERE, "onnxruntime.mjs")
        return ["node", script, MODULES, model, str(threads), str(options.steps)] if os.path.isdir(MODULES) else None
    if peer.startswith("torch"):
        mode = peer.partition(" ")[2] or "eager"
        return [python, os.path.join(HERE, "torch_run.py"), name, *common, "--mode", mode] if python else None
    more = {"train": [], "fp16": ["--device", "ane"], "package": ["--infer"], "onnx": ["--infer", "--model", "onnx"]}
    return ours + more[peer]


def run(command, peer, threads):
    """{metric: value}; empty, with a sentence, if that failed."""
    environment = torch_bench.environment(threads) if peer.startswith("torch") else dict(os.environ)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        return {}
    return {line.split("\t")[1]: float(line.split("\t")[2]) for line in done.stdout.splitlines()}


def slower_mode(results, name, threads):
    """The mode of PyTorch that the first round found slower."""
    times = {peer: results.get((name, threads, peer, "step_ms"), [None])[0] for peer in TRAINED[1:3]}
    known = {peer: value for peer, value in times.items() if value is not None}
    return max(known, key=known.get) if len(known) == 2 else None


def measure_network(options, python, folder, name, results):
    """Fills results {(network, threads, peer, metric): [value of each round]}."""
    export = [options.program, name, "--onnx", os.path.join(folder, f"{name}.onnx")]
    bench_lines(*export, *(["--tiny"] if options.tiny else []))
    for number in range(options.rounds):
        for threads in options.threads:
            peers = options.peers if number % 2 == 0 else options.peers[::-1]
            for peer in peers:
                command = command_of(options, python, folder, name, peer, threads)
                if command is None or (number > 0 and peer == slower_mode(results, name, threads)):
                    continue
                for metric, value in run(command, peer, threads).items():
                    results.setdefault((name, threads, peer, metric), []).append(value)


# ---- the tables ----

class Figures:
    def __init__(self, results, name, threads):
        self.results, self.name, self.threads = results, name, threads

    def values(self, peer, metric):
        return self.results.get((self.name, self.threads, peer, metric), [])

    def median(self, peer, metric):
        values = self.values(peer, metric)
        return statistics.median(values) if values else None

    def torch(self):
        """The faster of PyTorch's modes."""
        slow = slower_mode(self.results, self.name, self.threads)
        return TRAINED[2] if slow == TRAINED[1] else TRAINED[1]

    def ratio(self, one, other, metric):
        pairs = list(zip(self.values(one, metric), self.values(other, metric)))
        return statistics.median(a / b for a, b in pairs) if pairs else None

    def bound(self):
        """What the roof of a training step is made of."""
        memory = self.median("train", "roof_memory")
        return None if memory is None else "memory" if memory > 0.6 else "both" if memory > 0.4 else "products"


def cell(value, form="{:.0f}"):
    return "-" if value is None else value if isinstance(value, str) else form.format(value)


def row_of(f):
    torch = f.torch()
    return [f.name, cell(f.median("train", "step_ms")), cell(f.median(torch, "step_ms")),
            cell(f.ratio("train", torch, "step_ms"), "{:.2f}"), cell(f.ratio("train", torch, "peak_mb"), "{:.2f}"),
            cell(f.ratio("fp16", "train", "step_ms"), "{:.2f}"), cell(f.median("train", "compile_ms")),
            cell(f.median("train", "first_ms")), cell(f.median("train", "of_product"), "{:.2f}"),
            cell(f.median("train", "of_roof"), "{:.2f}"), cell(f.bound()),
            cell(f.median("onnx", "step_ms"), "{:.1f}"), cell(f.median("onnxruntime", "step_ms"), "{:.1f}"),
            cell(f.ratio("onnx", "onnxruntime", "step_ms"), "{:.2f}"),
            cell(f.ratio("package", "onnxruntime", "step_ms"), "{:.2f}")]


HEAD = ["network", "step ms", "torch", "ratio", "memory", "fp16/fp32", "compile ms", "first ms", "of product", "of roof",
        "bound", "infer ms", "ORT", "ratio", "package"]


def table(results, threads):
    names = list(dict.fromkeys(name for name, count, _, _ in results if count == threads))
    rows = [HEAD, *[row_of(Figures(results, name, threads)) for name in names]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in rows)


def mean_of(ratios):
    known = [ratio for ratio in ratios if ratio is not None]
    return f"{statistics.geometric_mean(known):.2f} of {len(known)}" if known else "-"


def means(results, threads):
    figures = [Figures(results, name, threads) for name in dict.fromkeys(key[0] for key in results)]
    training = mean_of([f.ratio("train", f.torch(), "step_ms") for f in figures])
    return (f"geometric means, {threads} thread{'s' if threads > 1 else ''}: training {training}, inference from ONNX "
            f"{mean_of([f.ratio('onnx', 'onnxruntime', 'step_ms') for f in figures])}, from a package "
            f"{mean_of([f.ratio('package', 'onnxruntime', 'step_ms') for f in figures])}")


def check(results):
    """Sentences on networks that differ: sizes, losses that do not fall, results of inference."""
    said = []
    for name, threads in dict.fromkeys(key[:2] for key in results):
        f = Figures(results, name, threads)
        for metric in ("parameters", "elements"):
            counts = {value for peer in TRAINED for value in f.values(peer, metric)}
            said += [f"{name}: {metric} differ, {counts}"] if len(counts) > 1 else []
        wanted = f.median("onnxruntime", "result")
        for peer in ("onnx", "package"):
            ours = f.median(peer, "result")
            if wanted is not None and ours is not None and abs(ours - wanted) > SAME_RESULT * abs(wanted):
                said.append(f"{name}: the result of {peer} is {ours}, onnxruntime's {wanted}")
    return said


# ---- files ----

def read_values(path):
    results = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines()[1:]:
                name, threads, peer, metric, value = line.split("\t")
                results.setdefault((name, int(threads), peer, metric), []).append(float(value))
    return results


def write_values(path, results):
    with open(path, "w", encoding="utf-8") as file:
        file.write("network\tthreads\tpeer\tmetric\tvalue\n")
        for (name, threads, peer, metric), values in results.items():
            file.writelines(f"{name}\t{threads}\t{peer}\t{metric}\t{value:.6g}\n" for value in values)


def main():
    options = parse()
    python = bench_compare.torch_python() if any(peer.startswith("torch") for peer in options.peers) else None
    if "onnxruntime" in options.peers and not (os.path.isdir(MODULES) and shutil.which("node")):
        print("ONNX Runtime is left out: tools/onnxruntime.sh gets it.")
    results = read_values(options.keep)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.networks:
            print(f"{time.strftime('%H:%M:%S')} {name}, load {os.getloadavg()[0]:.1f}", flush=True)
            measure_network(options, python, folder, name, results)
            if options.keep:
                write_values(options.keep, results)
    text = [f"{bench_compare.machine()}, {options.rounds} rounds of {options.steps} steps"]
    for threads in options.threads:
        text += ["", f"{threads} thread{'s' if threads > 1 else ''}", "", table(results, threads), "",
                 means(results, threads)]
    text += ["", *check(results)]
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "zoo.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    write_values(os.path.join(options.out, "zoo.tsv"), results)
    print("\n".join(text))


if __name__ == "__main__":
    main()
