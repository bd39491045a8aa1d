#!/usr/bin/env python3
"""Writes relu.e5 with FlatBuffers' own compiler (Debian flatbuffers-compiler 2.0.8), from e5.fbs: a cast, an inference and a
cast, as a writer that shares nothing with the library lays them out. --read FILE: prints what flatc reads in one of ours.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "e5.fbs")


def run(arguments):
    subprocess.run(["flatc"] + arguments, check=True)


def pack(root, content):
    """The bytes of a table."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "x.json")
        json.dump(content, open(path, "w"))
        run(["-b", "--force-defaults", "--root-type", root, "-o", work, SCHEMA, path])
        return open(os.path.join(work, "x.bin"), "rb").read()


def unpack(root, data):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "x.bin")
        open(path, "wb").write(data)
        run(["-t", "--strict-json", "--defaults-json", "--raw-binary", "--root-type", root, "-o", work, SCHEMA, "--", path])
        return json.load(open(os.path.join(work, "x.json")))


def layout(width, height, channels, element, stride):
    size, rows = stride[0], stride[1]
    plane, batch = rows * height, rows * height * channels
    return {"dim0": width, "dim1": height, "dim2": channels, "dim3": 1, "stride0": size, "stride1": rows,
            "stride2": plane, "stride3": batch, "width": width, "height": height, "channels": channels,
            "batch_number": 1, "sequence_length": 1, "stride_width": size, "stride_height": rows,
            "stride_channels": plane, "stride_batch_number": batch, "stride_sequence_length": batch,
            "storage_type": element}


def main():
    symbols = ["main", "x", "y", "x_ane", "y_ane", "main_ane", "Op0_Cast", "Op1_AneInference", "Op2_Cast"]
    host, engine = layout(5, 3, 2, 4, (4, 20)), layout(5, 3, 2, 3, (2, 64))

    def operand(name, output, where):
        return {"symbol": symbols.index(name), "is_output": output, "layout": where}

    frames = [[operand("x", 0, host), operand("x_ane", 1, engine)],
              [operand("x_ane", 0, engine), operand("y_ane", 1, engine)],
              [operand("y_ane", 0, engine), operand("y", 1, host)]]
    attributes = [pack("CastAttrs", {"type": 0, "op": {"from": 4, "to": 3}}),
                  pack("AneInferenceAttrs",
                       {"type": 1, "op": {"procedure": 5, "container": "model.hwx", "segment": 0}}),
                  pack("CastAttrs", {"type": 0, "op": {"from": 3, "to": 4}})]
    operations = [{"name": 6 + i, "type": 1 if i == 1 else 0, "arg_frame": 1 + 2 * i, "attrs": 2 + 2 * i}
                  for i in range(3)]
    function = {"name": 0, "ports": [operand("x", 0, host), operand("y", 1, host)], "aliases": [],
                "blocks": [{"operations": operations}]}
    sections = [("main", pack("Function", function))]
    for i, frame in enumerate(frames):
        sections.append((symbols[6 + i] + ".__arg_frame", pack("OpArgFrame", {"operands": frame})))
        sections.append((symbols[6 + i] + ".__op_attrs", attributes[i]))
    symbols += [name for name, _ in sections[1:]]
    program = {"symbol_names": symbols, "format_version": 4,
               "build_info": {"pairs": [{"key": "compiler", "value": "flatc"}]},
               "sections": [{"name": symbols.index(name), "data": list(data)} for name, data in sections]}
    open(os.path.join(HERE, "relu.e5"), "wb").write(pack("E5Program", program))


def read(path):
    program = unpack("E5Program", open(path, "rb").read())
    print(json.dumps({k: v for k, v in program.items() if k != "sections"}))
    for section in program["sections"]:
        name, data = program["symbol_names"][section["name"]], bytes(section["data"])
        root = "OpArgFrame" if name.endswith("__arg_frame") else "CastAttrs" if "_Cast" in name else \
            "AneInferenceAttrs" if name.endswith("__op_attrs") else "Function"
        print(name, json.dumps(unpack(root, data)))


if len(sys.argv) == 3 and sys.argv[1] == "--read":
    read(sys.argv[2])
else:
    main()
