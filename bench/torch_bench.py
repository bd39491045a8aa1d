#!/usr/bin/env python3
"""The workloads in PyTorch: torch_bench.py WORKLOAD [--threads N] [--steps N] [--data DIR] [--mode M].

Prints `workload<TAB>metric<TAB>value` lines. Mode is eager, or some of jit (scripted, for inference frozen too),
channels_last and foreach (an optimizer that takes all parameters in one call), with commas.
PyTorch is an OpenMP program: an OpenBLAS with threads of its own makes two pools that spin on the same processors, four
times slower and more. So this runs with the OpenMP build of OpenBLAS (Debian: libopenblas0-openmp) or not at all."""
import argparse
import ctypes
import functools
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


@functools.lru_cache(maxsize=None)
def blas_core():
    """{"OPENBLAS_CORETYPE": ..} where OpenBLAS has to be told what the processor is: one that is younger than the library
    (Emerald Rapids and 0.3.21) it takes for a Prescott with SSE3, at a quarter of the speed."""
    if "OPENBLAS_CORETYPE" in os.environ or blas_folder() is None or not os.path.exists("/proc/cpuinfo"):
        return {}
    name = ctypes.CDLL(glob.glob(f"{blas_folder()}/lib*blas.so.*")[0]).openblas_get_corename
    name.restype = ctypes.c_char_p
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    if name().decode() not in ("Prescott", "Core2", "Generic") or "avx2" not in flags:
        return {}
    return {"OPENBLAS_CORETYPE": "SKYLAKEX" if "avx512bw" in flags else "HASWELL"}


def environment(threads):
    """The environment that PyTorch has to start in."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
    threads = {name: str(threads) for name in names}
    return {**os.environ, **blas_core(), "LD_LIBRARY_PATH": blas_folder() or "", **threads}


def whats_missing():
    """A sentence if PyTorch cannot be measured with this interpreter, else None."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is left out: python3-torch is not installed."
    if blas_folder() is None:
        return "PyTorch is left out: with another OpenBLAS than libopenblas0-openmp its figures say nothing."
    return None


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=[f"W{i}" for i in range(1, 15)] + ["W10layer"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="0 = as many as the workload has by itself")
    parser.add_argument("--data", default="data/mnist")
    parser.add_argument("--mode", default="eager")
    parser.add_argument("--tiny", action="store_true", help="W7 to W14 with small networks, to try them out")
    options = parser.parse_args()
    options.mode = options.mode.split(",")
    if set(options.mode) - {"eager", "jit", "channels_last", "foreach"}:
        parser.error("no such mode")
    return options


class Bench:
    """One run; torch is imported here, once the environment is right."""

    def __init__(self, options):
        import torch

        self.torch, self.o = torch, options
        torch.set_num_threads(options.threads)
        torch.manual_seed(1)

    def emit(self, metric, value):
        print(f"{self.o.workload}\t{metric}\t{value:.6g}", flush=True)

    def emit_runs(self, seconds, cpu):
        cold = len(seconds) // 10
        self.emit("step_ms", 1e3 * statistics.median(seconds[cold:]))
        self.emit("cpu_ms", 1e3 * (time.process_time() - cpu[cold]) / (len(seconds) - cold))
        self.emit_peak()

    def emit_steps(self, seconds, cpu, losses):
        """cpu has the processor time at the start of each step."""
        self.emit_runs(seconds, cpu)
        last = losses[-((len(losses) + 9) // 10):]
        self.emit("loss", sum(float(loss) for loss in last) / len(last))

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
        if "channels_last" in self.o.mode:
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
        if "jit" in self.o.mode:
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

    # ---- W7 to W14: torch_nets.py ----

    STEPS = {"W7": 4, "W8": 6, "W9": 8, "W10": 8, "W10layer": 8, "W11": 4, "W12": 6, "W13": 16, "W14": 4}

    def large(self):
        import torch_nets

        model, x, y = torch_nets.data(self.o.workload, self.o.tiny)
        self.emit("parameters", sum(p.numel() for p in model.parameters()))
        if "channels_last" in self.o.mode:
            model, x = model.to(memory_format=self.torch.channels_last), x.to(memory_format=self.torch.channels_last)
        if y is None:
            self.run_large(model.eval(), x)
        else:
            self.train_large(model, x, y, torch_nets.optimizer_of(self.o.workload, model, "foreach" in self.o.mode))

    def train_large(self, model, x, y, optimizer):
        loss_of, seconds, cpu, losses = model.loss, [], [], []
        if "jit" in self.o.mode:
            loss_of = self.torch.jit.trace_module(model, {"loss": (x, y)}).loss
        for _ in range(self.o.steps or self.STEPS[self.o.workload]):
            cpu.append(time.process_time())
            start = time.perf_counter()
            loss = loss_of(x, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            seconds.append(time.perf_counter() - start)
        self.emit_runs(seconds, cpu)
        self.emit("first_loss", losses[0])
        self.emit("loss", losses[-1])

    def run_large(self, model, x):
        torch, seconds, cpu = self.torch, [], []
        if "jit" in self.o.mode:
            model = torch.jit.freeze(torch.jit.trace(model, x))
        with torch.inference_mode():
            for _ in range(self.o.steps or self.STEPS[self.o.workload]):
                cpu.append(time.process_time())
                start = time.perf_counter()
                model(x)
                seconds.append(time.perf_counter() - start)
        self.emit_runs(seconds, cpu)

    def decode(self):
        import torch_nets

        torch = self.torch
        model, (layers, heads, tokens, width) = torch_nets.decoder(self.o.tiny)
        self.emit("parameters", sum(p.numel() for p in model.parameters()))
        model.eval()
        with torch.inference_mode():
            for batch in (1, 4, 16, 64):
                caches = [[torch.zeros(batch, heads, tokens, width) for _ in range(2)] for _ in range(layers)]
                words, seconds, cpu = torch.zeros(batch, dtype=torch.long), [], []
                for at in range(min(tokens, self.o.steps or self.STEPS["W13"])):
                    cpu.append(time.process_time())
                    start = time.perf_counter()
                    words = model.token(words, caches, at).argmax(-1)
                    seconds.append(time.perf_counter() - start)
                cold, median = len(seconds) // 10, statistics.median(seconds[len(seconds) // 10:])
                self.emit(f"token_ms.b{batch}", 1e3 * median)
                self.emit(f"cpu_ms.b{batch}", 1e3 * (time.process_time() - cpu[cold]) / (len(seconds) - cold))
                self.emit(f"tokens_per_s.b{batch}", batch / median)
        self.emit_peak()

    def run(self):
        if self.o.workload == "W13":
            self.decode()
        elif self.o.workload in self.STEPS:
            self.large()
        else:
            getattr(self, self.o.workload.lower())()


def main():
    options, missing = parse(), whats_missing()
    if missing:
        print(missing, file=sys.stderr)
        sys.exit(LEFT_OUT)
    if os.environ.get("LD_LIBRARY_PATH") != blas_folder():
        os.execve(sys.executable, [sys.executable, *sys.argv], environment(options.threads))
    Bench(options).run()


if __name__ == "__main__":
    main()
