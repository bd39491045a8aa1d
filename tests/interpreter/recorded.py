"""Recorded cases: those of coremltools' operator tests (MW_SHARED_DATA/coremltools; its README.md says how), and those
of PyTorch beside this folder (../data/torch), whose programs call for one operator and whose gradients are recorded.

Of coremltools' cases a result must lie within the test's own tolerance. Where the program holds fp16 the recorded
result was rounded in other places than ours, and from weights that were not rounded: two units of the largest element
more.
"""
import json
import math
import os
import struct

import numpy as np

import interpret

TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I8": "<i1", "U8": "<u1", "I16": "<i2", "U16": "<u2", "I32": "<i4",
         "U32": "<u4", "I64": "<i8", "BOOL": "?"}

# Cases that disagree on purpose, with the reason.
EXCEPTED = {
    "02130": "slice_by_size: the declared type takes size -1 from a negative begin for 5 elements, there are 2",
    "05921": "slice_by_size, likewise",
    "02386": "crop_resize: the test has 7.899 for 7.9",
}


def read_safetensors(path):
    """({name: array}, metadata)"""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        array = np.frombuffer(data[8 + size + first:8 + size + last], TYPES[entry["dtype"]])
        arrays[name] = array.reshape(entry["shape"])
    return arrays, metadata


def slack(wanted, holds_half):
    """What rounding to fp16 may add."""
    finite = np.abs(wanted[np.isfinite(wanted)])
    if not holds_half or not finite.size or not finite.max():
        return 0.0
    return 2.0 ** (math.floor(math.log2(finite.max())) - 9)


def difference(got, wanted, metadata, holds_half):
    """None if they agree, or what is wrong."""
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    if got.shape != wanted.shape:
        if got.size != wanted.size:
            return "shape %s, %s was recorded" % (list(got.shape), list(wanted.shape))
        wanted = wanted.reshape(got.shape)
    atol = float(metadata["atol"]) + slack(wanted, holds_half)
    if np.allclose(got, wanted, rtol=float(metadata["rtol"]), atol=atol, equal_nan=True):
        return None
    return "differs by %g of %g" % (np.nanmax(np.abs(got - wanted)), np.nanmax(np.abs(wanted)))


def check_case(folder):
    """None if the interpreter gives what was recorded, or a sentence."""
    values, metadata = read_safetensors(os.path.join(folder, "values.safetensors"))
    run = interpret.load(folder)
    with open(os.path.join(folder, "model.mil"), encoding="utf-8") as file:
        holds_half = "fp16" in file.read()
    inputs = {key[3:]: array for key, array in values.items() if key.startswith("in.")}
    outputs = run.run(run.inputs(inputs))
    for k, name in enumerate(run.function.body.outputs):
        if "out.%d" % k in values:
            wrong = difference(outputs[name].data.numpy(), values["out.%d" % k], metadata, holds_half)
            if wrong:
                return "%s: output %s %s" % (metadata["operations"], name, wrong)
    return None


def check_all(root):
    """(how many agreed, {case: sentence})"""
    agreed, wrong = 0, {}
    for case in sorted(os.listdir(root)):
        folder = os.path.join(root, case)
        if not os.path.isdir(folder) or case in EXCEPTED:
            continue
        try:
            found = check_case(folder)
        except (interpret.InterpreterError, interpret.blob.BlobError, interpret.mil_text.MilError) as error:
            found = str(error)
        if found:
            wrong[case] = found
        else:
            agreed += 1
    return agreed, wrong


# ---- ../data/torch ----

# Their run-time bounds may lie outside the tensor in these recordings. MIL does not say what happens then: the library
# cuts them, the interpreter refuses them.
BEYOND = ("slice_by_size(begin = b", "slice_update(begin = b", "reverse_sequence(", "range_1d(")


def check_torch_case(text, values, tolerance):
    """None if y and the gradients are as recorded, or a sentence. The tolerance is a share of the largest element."""
    run = interpret.Interpreter(interpret.mil_text.parse(text), ".")
    names = [name for _, name in run.function.params]
    inputs = run.inputs({name: values[name] for name in names})
    outputs, gradients = run.gradients(inputs, weights={"y": values["dy"]} if "dy" in values else None)
    found = {"y": outputs["y"].data}
    for name in names:
        if "d" + name in values:
            found["d" + name] = gradients.get(name, inputs[name].data * 0)
    for key, got in found.items():
        wanted = values[key].astype(np.float64)
        got = got.detach().numpy().astype(np.float64)
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
        if "fp16" in text:      # PyTorch rounds the gradient of a cast too
            tolerance = max(tolerance, 2.0**-11)
        if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=0, atol=tolerance * largest, equal_nan=True):
            worst = np.nanmax(np.abs(got - wanted)) if got.shape == wanted.shape else "shape"
            return "%s differs by %s of %g: %s" % (key, worst, largest, text.splitlines()[-3].strip()[:160])
    return None


def holds_programs(path):
    """The files of layers and losses hold calls of the library in their place."""
    metadata = read_safetensors(path)[1]
    return "program.0" in metadata and "layer.0" not in metadata and "loss.0" not in metadata


def check_torch(path):
    """(how many agreed, {case: sentence}) of one family's file."""
    arrays, metadata = read_safetensors(path)
    agreed, wrong = 0, {}
    for i in range(int(metadata["count"])):
        values = {key.split(".", 1)[1]: a for key, a in arrays.items() if key.split(".", 1)[0] == str(i)}
        try:
            found = check_torch_case(metadata["program.%d" % i], values, float(metadata["tolerance"]))
        except (interpret.InterpreterError, interpret.mil_text.MilError) as error:
            if any(name in metadata["program.%d" % i] for name in BEYOND):
                continue
            found = str(error)
        if found:
            wrong["%s %d" % (os.path.basename(path), i)] = found
        else:
            agreed += 1
    return agreed, wrong
