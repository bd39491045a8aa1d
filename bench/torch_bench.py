#!/usr/bin/env python3
"""The workloads in PyTorch: torch_bench.py WORKLOAD [--threads N] [--steps N] [--data DIR] [--mode M].

Prints `workload<TAB>metric<TAB>value` lines. Mode is eager, jit (scripted and frozen) or channels_last.
PyTorch is an OpenMP program: an OpenBLAS with threads of its own makes two pools that spin on the same processors, four
times slower and more. So this runs with the OpenMP build of OpenBLAS (Debian: libopenblas0-openmp) or not at all."""
import argparse
import glob
import importlib.util
import os
import statistics
import sys
import time

LEFT_OUT = 3  # exit code


def blas_folder():
    """Where the OpenMP build of OpenBLAS is, None if it is not installed."""
    found = glob.glob("/usr/lib/*/openblas-openmp/libopenblas.so.0") + glob.glob("/usr/lib*/openblas-openmp/libblas.so.3")
    return os.path.dirname(found[0]) if found else None


def environment(threads):
    """The environment that PyTorch has to start in."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
    return {**os.environ, "LD_LIBRARY_PATH": blas_folder() or "", **{name: str(threads) for name in names}}


def whats_missing():
    """A sentence if PyTorch cannot be measured with this interpreter, else None."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is left out: python3-torch is not installed."
    if blas_folder() is None:
        return "PyTorch is left out: with another OpenBLAS than libopenblas0-openmp its figures say nothing."
    return None


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=["W1", "W2", "W3", "W4", "W5", "W6"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="0 = as many as the workload has by itself")
    parser.add_argument("--data", default="data/mnist")
    parser.add_argument("--mode", choices=["eager", "jit", "channels_last"], default="eager")
    return parser.parse_args()


class Bench:
    """One run; torch is imported here, once the environment is right."""

    def __init__(self, options):
        import torch

        self.torch, self.o = torch, options
        torch.set_num_threads(options.threads)
        torch.manual_seed(1)

    def emit(self, metric, value):
        print(f"{self.o.workload}\t{metric}\t{value:.6g}", flush=True)

    def emit_steps(self, seconds, cpu, losses):
        """cpu has the processor time at the start of each step."""
        tenth = len(seconds) // 10
        self.emit("step_ms", 1e3 * statistics.median(seconds[tenth:]))
        self.emit("cpu_ms", 1e3 * (time.process_time() - cpu[tenth]) / (len(seconds) - tenth))
        last = losses[-((len(losses) + 9) // 10):]
        self.emit("loss", sum(float(loss) for loss in last) / len(last))
        self.emit_peak()

    def emit_peak(self):
        with open("/proc/self/status", encoding="ascii") as file:
            self.emit("peak_mb", next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024 / 1e6)

    # ---- models ----

    def mlp(self):
        nn = self.torch.nn
        return nn.Sequential(nn.Linear(784, 256), nn.GELU(approximate="tanh"), nn.Linear(256, 10))

    def cnn(self):
        nn = self.torch.nn
        return nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10))

    def block(self, width=256, heads=4, length=128, words=96):
        torch, nn = self.torch, self.torch.nn

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.token, self.position = nn.Embedding(words, width), nn.Embedding(length, width)
                self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
                self.head = nn.Linear(width, words, bias=False)
                self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

            def forward(self, tokens):
                n, t = tokens.shape
                x = self.token(tokens) + self.position.weight
                q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
                p = torch.softmax(q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5) + self.mask, -1)
                x = x + self.projection((p @ v).transpose(1, 2).reshape(n, t, -1))
                x = x + self.fc2(nn.functional.gelu(self.fc1(self.norm2(x)), approximate="tanh"))
                return self.head(self.norm3(x))

        return Block()

    def adam(self, model):
        return self.torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8)

    # ---- workloads ----

    def read_images(self):
        def bytes_of(name, header):
            with open(f"{self.o.data}/train-{name}-ubyte", "rb") as file:
                return self.torch.frombuffer(bytearray(file.read()[header:]), dtype=self.torch.uint8)

        return bytes_of("images-idx3", 16).view(-1, 784).float().div_(255), bytes_of("labels-idx1", 8).long()

    def train_images(self, model, shape, usual):
        torch = self.torch
        x, y = self.read_images()
        x = x.view(-1, *shape)
        if self.o.mode == "channels_last":
            model = model.to(memory_format=torch.channels_last)
        optimizer, seconds, cpu, losses, order = self.adam(model), [], [], [], None
        for step in range(self.o.steps or usual):
            if step % 468 == 0:
                order = torch.randperm(60000)
            cpu.append(time.process_time())
            start = time.perf_counter()
            at = order[step % 468 * 128:(step % 468 + 1) * 128]
            loss = torch.nn.functional.cross_entropy(model(x[at]), y[at])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            seconds.append(time.perf_counter() - start)
        self.emit_steps(seconds, cpu, losses)

    def w1(self):
        self.train_images(self.mlp(), (784,), 468)

    def w2(self):
        self.train_images(self.cnn(), (1, 28, 28), 60)

    def w3(self):
        torch = self.torch
        model = self.block()
        optimizer, seconds, cpu, losses = self.adam(model), [], [], []
        tokens, following = torch.randint(0, 96, (8, 128)), torch.randint(0, 96, (8 * 128,))
        for _ in range(self.o.steps or 30):
            cpu.append(time.process_time())
            start = time.perf_counter()
            loss = torch.nn.functional.cross_entropy(model(tokens).reshape(-1, 96), following)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            seconds.append(time.perf_counter() - start)
        self.emit_steps(seconds, cpu, losses[-1:])

    def w4(self):
        torch, nn = self.torch, self.torch.nn
        model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        x, y = torch.randn(4, 16), torch.randn(4, 1)
        steps = self.o.steps or 3000
        for count in (steps // 10 + 1, steps):  # the first few warm up
            start = time.perf_counter()
            for _ in range(count):
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
        self.emit("steps_per_s", steps / (time.perf_counter() - start))

    def infer(self, metric, model, x, usual, per_second):
        torch, seconds, runs = self.torch, [], self.o.steps or usual
        model.eval()
        if self.o.mode == "jit":
            scripted = torch.jit.script(model)
            model = torch.jit.freeze(scripted) if len(x) == 1 else torch.jit.optimize_for_inference(scripted)
        with torch.inference_mode():
            for _ in range(runs):
                start = time.perf_counter()
                model(x)
                seconds.append(time.perf_counter() - start)
        self.emit(metric, per_second * statistics.median(seconds[runs // 10:]))

    def w5(self):
        self.infer("mlp_b1_us", self.mlp(), self.torch.rand(1, 784), 4000, 1e6)
        self.infer("cnn_b64_ms", self.cnn(), self.torch.rand(64, 1, 28, 28), 50, 1e3)

    def w6(self):
        torch = self.torch
        model = self.mlp()
        optimizer = self.adam(model)
        x, y = torch.rand(128, 784), torch.randint(0, 10, (128,))
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        self.emit("first_step_ms", (time.time_ns() - int(os.environ.get("BENCH_T0", "0"))) * 1e-6)
        self.emit_peak()


def main():
    options, missing = parse(), whats_missing()
    if missing:
        print(missing, file=sys.stderr)
        sys.exit(LEFT_OUT)
    if os.environ.get("LD_LIBRARY_PATH") != blas_folder():
        os.execve(sys.executable, [sys.executable, *sys.argv], environment(options.threads))
    getattr(Bench(options), options.workload.lower())()


if __name__ == "__main__":
    main()
