#!/usr/bin/env python3
"""Writes the netplists of this folder with Python's plistlib, apart from the library: what a test of it reads.

Keys and bit patterns are those with which ANEForge authors networks.
"""
import os
import plistlib
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def half(value):
    return struct.unpack("<H", struct.pack("<e", value))[0]


def halves(values):
    return struct.pack("<%de" % len(values), *values)


def port(name, unit, width, height=1, channels=1):
    return {"BatchSize": 1, "InputChannels": channels, "InputDepth": 1, "InputHeight": height, "InputInterleave": 1,
            "InputName": name, "InputType": "Float16", "InputWidth": width, "Name": unit, "OperationName": "op0"}


def unit(kind, bottoms, params=None, channels=1, **more):
    made = {"Bottom": bottoms, "InputType": ["Float16"] * len(bottoms), "OutputChannels": channels,
            "OutputType": "Float16", "Type": kind}
    if params is not None:
        made["Params"] = params
    made.update(more)
    return made


def constant(width, channels=1, offset=0, kind="Float16"):
    return {"ConstantBatchSize": 1, "ConstantByteOffset": offset, "ConstantChannels": channels, "ConstantDepth": 1,
            "ConstantHeight": 1, "ConstantIndex": 1, "ConstantInterleave": 1, "ConstantType": kind,
            "ConstantWidth": width}


def network(units, output, weights, constants=None):
    made = {name: dict(content, Name=name) for name, content in units.items()}
    made["Units"] = list(units)
    made["Weights"] = weights
    made["y"] = {"Bottom": output, "OutputInterleave": 1, "OutputName": "y", "OutputType": "Float16"}
    for name, content in (constants or {}).items():
        made[name] = dict(content, ConstantName=name)
        made["Constants"] = list(constants)
    return made


def procedure(name, inputs, output):
    return {"Name": name, "InputList": inputs,
            "OperationList": [{"NetworkName": "network_" + name, "OperationName": "op0"}],
            "OutputList": [{"Name": output, "OperationName": "op0", "OutputInterleave": 1, "OutputName": "y",
                            "OutputType": "Float16"}]}


def write(file, procedures, networks, weights=b""):
    top = {"Version": "1.0.10", "Networks": ["network_" + p["Name"] for p in procedures], "ProcedureList": procedures}
    for p, n in zip(procedures, networks):
        top["network_" + p["Name"]] = n
    with open(os.path.join(HERE, file + ".plist"), "wb") as out:
        plistlib.dump(top, out, sort_keys=True)
    for index, data in enumerate((b"", weights)):
        with open(os.path.join(HERE, "%s.weights.%d" % (file, index)), "wb") as out:
            out.write(data)


def main():
    # x / (1 + |x|), with the 1 broadcast from a constant
    weights = ["softsign.weights.0", "softsign.weights.1"]
    units = {"a": unit("ElementWise", ["x"], {"Type": "Abs"}),
             "b": unit("Broadcast", ["c"], {"BroadcastInfo": [{"Dimension": "Width", "Size": 4}]}),
             "d": unit("ElementWise", ["a", "b"], {"Type": "Add"}),
             "e": unit("Neuron", ["d"], {"Type": "Inv"}),
             "f": unit("ElementWise", ["x", "e"], {"Type": "Mult"})}
    write("softsign", [procedure("softsign", [port("x", "a", 4), port("x", "f", 4)], "f")],
          [network(units, "f", weights, {"c": constant(1)})], halves([1.0]))

    # a [2, 3] times x [3, 2], by the transposes that put rows into channels
    swap = {"TransposeDimensions": [
        {"TransposeDestinationDimension": "Channel", "TransposeSourceDimension": "Height"},
        {"TransposeDestinationDimension": "Height", "TransposeSourceDimension": "Channel"}]}
    units = {"s": unit("Transpose", ["a"], swap, 2), "t": unit("Transpose", ["x"], swap, 3),
             "u": unit("MatrixMultiplication", ["s", "t"], None, 2), "v": unit("Transpose", ["u"], swap)}
    write("matmul", [procedure("matmul", [port("a", "s", 3, 2), port("x", "t", 2, 3)], "v")],
          [network(units, "v", ["matmul.weights.0"])])

    # a convolution of 2 channels to 3 by kernels of 2 x 1 with a pad on the left, then 2x + 1 clamped to [0, 6]
    kernel = [0.5 * i - 2 for i in range(12)]
    params = {"KernelDepth": 1, "KernelGroupReuse": False, "KernelHeight": 1, "KernelIndex": 1, "KernelMode": "Dense",
              "KernelMutable": False, "KernelOffset": 64, "KernelType": "Float16", "KernelWidth": 2, "PadBack": 0,
              "PadBot": 0, "PadFront": 0, "PadLeft": 1, "PadRight": 0, "PadTop": 0, "PaddingMode": "Zero",
              "Step": [1, 1, 1], "Type": "Conv"}
    units = {"conv": unit("Conv", ["x"], params, 3, NumGroups=1),
             "goc": unit("GOC", ["conv"], {"BiasScalar": half(1.0), "ScaleScalar": half(2.0)}, 3),
             "clamp": unit("Neuron", ["goc"], {"ReluMax": half(6.0), "ReluMin": 0, "Type": "ClampedReLU"}, 3)}
    write("conv", [procedure("conv", [port("x", "conv", 4, 1, 2)], "clamp")],
          [network(units, "clamp", ["conv.weights.0", "conv.weights.1"])], b"\0" * 64 + halves(kernel))

    # attention: 3 queries in the channels, 2 heads in the height, 4 wide, with a scale of its own and a mask
    units = {"sdpa": unit("SDPA", ["q", "k", "v", "scale", "mask"], {"SubtractMax": True}, 3)}
    ports = [port(n, "sdpa", 4, 2, 3) for n in "qkv"] + [port("mask", "sdpa", 3, 1, 3)]
    write("sdpa", [procedure("sdpa", ports, "sdpa")],
          [network(units, "sdpa", ["sdpa.weights.0", "sdpa.weights.1"], {"scale": constant(1)})], halves([0.25]))

    # version 1.0.9, as Apple's compiler wrote tinygrad's net.plist: ports in the network, Bottom a name, weights in fp32
    # at an absolute path, an offset for each channel
    conv = {"KernelGroupReuse": False, "KernelHeight": 1, "KernelIndex": 0, "KernelMode": "Dense", "KernelOffset": 192,
            "KernelType": "Float32", "KernelWidth": 1, "Step": [1, 1], "Type": "Conv"}
    group = {"BiasCount": 2, "BiasIndex": 1, "BiasOffset": 0, "BiasType": "Float16"}
    image = {"BatchSize": 1, "InputChannels": 3, "InputHeight": 1, "InputInterleave": 1, "InputPlaneStride": 64,
             "InputRowStride": 64, "InputType": "Float16", "InputWidth": 1}
    net = {"Inputs": ["image"], "Outputs": ["probs@output"], "Units": ["probs_tmp_0", "probs"], "image": image,
           "Weights": ["/Volumes/elsewhere/older.espresso.weights", "older.additional.weights"],
           "probs_tmp_0": {"Bottom": "image", "Name": "probs_tmp_0", "OutputChannels": 2, "OutputType": "Float16",
                           "Params": conv, "Type": "Conv"},
           "probs": {"Bottom": "probs_tmp_0", "Name": "probs", "OutputType": "Float16",
                     "Params": {"BiasScaleGroupData": group}, "Type": "GOC"},
           "probs@output": {"Bottom": "probs", "OutputInterleave": 1, "OutputPlaneStride": 64, "OutputRowStride": 64,
                            "OutputType": "Float16"}}
    with open(os.path.join(HERE, "older.plist"), "wb") as out:
        plistlib.dump({"Networks": ["net"], "Version": "1.0.9", "net": net}, out, sort_keys=True)
    with open(os.path.join(HERE, "older.espresso.weights"), "wb") as out:
        out.write(b"\0" * 192 + struct.pack("<6f", 1, 2, 3, -1, 0.5, 0.25))
    with open(os.path.join(HERE, "older.additional.weights"), "wb") as out:
        out.write(halves([0.5, -2]))

    # two procedures
    relu, square = {"r": unit("Neuron", ["x"], {"Type": "ReLU"})}, {"m": unit("ElementWise", ["x", "x"], {"Type": "Mult"})}
    write("two", [procedure("main", [port("x", "r", 4)], "r"), procedure("again", [port("x", "m", 4)], "m")],
          [network(relu, "r", ["two.weights.0"]), network(square, "m", ["two.weights.0"])])


main()
