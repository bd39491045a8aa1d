"""How models.py and nets.py write what they export: <name>.onnx, and <name>.f32 with the inputs and then the outputs that
PyTorch computes, as float32.
"""
import os

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_num_threads(1)


def settle(module):
    """Statistics and norms that are not those of a new module."""
    for name, value in list(module.named_parameters()) + list(module.named_buffers()):
        if name.endswith("running_var"):
            value.data.uniform_(0.5, 2)
        elif value.dtype == torch.float32 and value.dim() == 1:
            value.data.uniform_(-0.5, 0.5)
            if "bn" in name and name.endswith("weight"):
                value.data.add_(1)
    return module.eval()


def write(name, *tensors):
    with open(os.path.join(HERE, name + ".f32"), "wb") as file:
        for x in tensors:
            file.write(x.detach().numpy().astype(np.float32).tobytes())


def export(name, module, x, opset, **options):
    torch.onnx.export(module, (x,), os.path.join(HERE, name + ".onnx"), opset_version=opset, input_names=["x"],
                      output_names=["y"], **options)


def record(name, module, x, opset, **options):
    module = settle(module)
    export(name, module, x, opset, **options)
    with torch.no_grad():
        write(name, x, module(x))
