"""Millwright from Python: graphs, gradients, training and prediction by ctypes, with nothing but Python itself.

    import millwright as mw

    graph = mw.Graph()
    x, y = graph.input("x", (128, 784)), graph.input("y", (128,), mw.I32)
    logits = mw.nn.dense(mw.nn.dense(x, 256, "fc1").relu(), 10, "fc2")
    trainer = mw.Trainer(mw.nn.cross_entropy(logits, y), mw.optim.adam(3e-3), metric=mw.nn.accuracy(logits, y))
    trainer.fit(mw.Dataset.idx("data/mnist", "train"), epochs=1)

ops has every operation by its name in MIL, nn the constructors of the C library, abi all that ctypes knows of it.
Calls release the interpreter's lock, so that other threads of Python go on meanwhile; what an object allows of several
threads is said in its header, and calls on one graph wait for each other."""
from . import abi, nn, ops, text
from .arrays import Array, DType
from .data import Batch, Dataset, Loader, Tensors, concatenate, write_tensors
from .figures import Metrics, Scores
from .graph import Graph, Tensor, classify, cond, custom_vjp, grad, hvp, while_loop
from .layers import Layer, custom
from .library import Error, Status, set_log, version
from .program import Model, Predictor, Program
from .tables import TableEncoder
from .trainer import Evaluation, Trainer, group, init, metrics_of, optim, schedule

F16, F32, F64, I32, I64, U8, BOOL = (
    DType.MW_F16, DType.MW_F32, DType.MW_F64, DType.MW_I32, DType.MW_I64, DType.MW_U8, DType.MW_BOOL)
optim.custom = custom
CPU, ANE = abi.mw_device.MW_DEVICE_CPU, abi.mw_device.MW_DEVICE_ANE

__all__ = [
    "ANE", "Array", "BOOL", "Batch", "CPU", "DType", "Dataset", "Error", "Evaluation", "F16", "F32", "F64", "Graph",
    "I32", "I64", "Layer", "Loader", "Metrics", "Model", "Predictor", "Program", "Scores", "Status", "TableEncoder",
    "Tensor", "Tensors", "Trainer", "U8", "abi", "classify", "concatenate", "cond", "custom_vjp", "grad", "group",
    "hvp", "init", "metrics_of", "nn", "ops", "optim", "schedule", "set_log", "text", "version", "while_loop",
    "write_tensors",
]
