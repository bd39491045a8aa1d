#!/usr/bin/env python3
"""A network of the zoo as ONNX in codes of 8 bits: quantize.py NAME FILE [--tiny].

Batch norms go into the convolutions before them. Weights are int8 with a scale for each output, biases int32, and what
lies between the operations uint8, whose scales are those of one run on the numbers of the bench. FILE gets
QuantizeLinear and DequantizeLinear around float operations, FILE.inputs what `zoo --onnx` writes there."""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "forms")]
import torch_bench  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("file")
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


def coded_class(torch):
    class Coded(torch.autograd.Function):
        """y = scale (clamp(round(x / scale) + zero) - zero)"""

        @staticmethod
        def symbolic(g, x, scale, zero):
            return g.op("DequantizeLinear", g.op("QuantizeLinear", x, scale, zero), scale, zero)

        @staticmethod
        def forward(_, x, scale, zero):
            return ((x / scale).round() + zero.float()).clamp(0, 255).sub(zero.float()).mul(scale)

    class Stored(torch.autograd.Function):
        @staticmethod
        def symbolic(g, codes, scale, zero):
            return g.op("DequantizeLinear", codes, scale, zero, axis_i=0)

        @staticmethod
        def forward(_, codes, scale, zero):
            return codes.float() * scale.view(-1, *[1] * (codes.dim() - 1))

    return Coded, Stored


def modules_of(torch):
    coded, stored = coded_class(torch)

    class Point(torch.nn.Module):
        """A place between operations: its range first, then its codes."""

        def __init__(self):
            super().__init__()
            self.low = self.high = 0.0
            self.settled = False

        def settle(self):
            step = max(self.high - self.low, 1e-8) / 255
            self.register_buffer("scale", torch.tensor(step))
            self.register_buffer("zero", torch.tensor(round(-self.low / step), dtype=torch.uint8))
            self.settled = True

        def forward(self, x):
            if self.settled:
                return coded.apply(x, self.scale, self.zero)
            self.low, self.high = min(self.low, x.min().item()), max(self.high, x.max().item())
            return x

    class Product(torch.nn.Module):
        """A convolution or a dense layer by codes; `point` is where its x comes from."""

        def __init__(self, layer, point):
            super().__init__()
            self.layer, self.point, self.settled = layer, point, False

        def settle(self):
            weight = self.layer.weight.detach()
            scale = weight.abs().amax(tuple(range(1, weight.dim()))).clamp_min(1e-8) / 127
            codes = (weight / scale.view(-1, *[1] * (weight.dim() - 1))).round().clamp(-127, 127)
            self.register_buffer("codes", codes.to(torch.int8))
            self.register_buffer("scale", scale)
            self.register_buffer("zero", torch.zeros(len(scale), dtype=torch.int8))
            self.register_buffer("bias_scale", scale * self.point.scale)
            self.register_buffer("bias_zero", torch.zeros(len(scale), dtype=torch.int32))
            if self.layer.bias is not None:
                self.register_buffer("bias", (self.layer.bias.detach() / self.bias_scale).round().to(torch.int32))
            self.settled = True

        def forward(self, x):
            if not self.settled:
                return self.layer(x)
            weight = stored.apply(self.codes, self.scale, self.zero)
            bias = stored.apply(self.bias, self.bias_scale, self.bias_zero) if self.layer.bias is not None else None
            if isinstance(self.layer, torch.nn.Linear):
                return torch.nn.functional.linear(x, weight, bias)
            return self.layer._conv_forward(x, weight, bias)

    return Point, Product


def is_kept(node, functions):
    """What is done to codes without a point of its own: an activation takes the place of what it follows."""
    return len(node.users) == 1 and next(iter(node.users)).target in functions


def quantized(torch, model, values):
    from torch.fx import symbolic_trace
    from torch.fx.experimental.optimization import fuse

    point_class, product_class = modules_of(torch)
    traced = fuse(symbolic_trace(model.eval()))
    modules, points, products = dict(traced.named_modules()), [], []
    bounded = {torch.relu, torch.nn.functional.relu, torch.nn.functional.relu6}
    for node in list(traced.graph.nodes):
        if node.op in ("output", "get_attr") or is_kept(node, bounded) or node.name in ("categories",):
            continue
        if any(user.op == "output" for user in node.users):
            continue
        traced.add_module(f"point{len(points)}", point_class())
        with traced.graph.inserting_after(node):
            new = traced.graph.call_module(f"point{len(points)}", (node,))
        node.replace_all_uses_with(new, lambda user, new=new: user is not new)
        points.append(getattr(traced, f"point{len(points)}"))
        modules[new.target] = points[-1]
    for node in traced.graph.nodes:
        layer = modules.get(node.target) if node.op == "call_module" else None
        if not isinstance(layer, (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Linear)):
            continue
        product = product_class(layer, modules[node.args[0].target])
        parent, _, name = node.target.rpartition(".")
        setattr(traced.get_submodule(parent) if parent else traced, name, product)
        products.append(product)
    traced.recompile()
    with torch.no_grad():
        traced(*values)
    for each in points + products:
        each.settle()
    return traced


def main():
    options, missing = parse(), torch_bench.whats_missing()
    if missing:
        print(missing, file=sys.stderr)
        sys.exit(torch_bench.LEFT_OUT)
    import torch

    import registry

    torch.manual_seed(1)
    registry.load()
    model, inputs = registry.build(options.network, options.tiny)
    inputs.pop("y")
    model = quantized(torch, model, tuple(inputs.values()))
    torch.onnx.export(model, tuple(inputs.values()), options.file, opset_version=13, input_names=list(inputs),
                      output_names=["result"], do_constant_folding=False)
    with open(options.file + ".inputs", "w", encoding="ascii") as file:
        for name, value in inputs.items():
            file.write(" ".join([name, "0", *map(str, value.shape)]) + "\n")


if __name__ == "__main__":
    main()
