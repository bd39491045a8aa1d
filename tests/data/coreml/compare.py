"""Whether two packages say the same: python3 compare.py A.mlpackage B.mlpackage. Prints what differs; exits 1 if any.

Maps have no order, nor have the pairs of a dictionary and the inputs of a function; weights are compared by their bytes and types, wherever they lie in the weight file. Everything
else is compared as it is on the wire: strings, numbers, and messages field by field. Reads Manifest.json, as
model.mlmodel is found through it."""
import json
import os
import struct
import sys

from wire import fields

# Fields that hold messages, and maps: message -> {field: message}; a map's entries are (key = 1, value = 2).
MESSAGES = {
    "Model": {2: "Description", 502: "Program", 202: "Pipeline"}, "Pipeline": {1: "Model"},
    "Description": {1: "Feature", 10: "Feature", 13: "Feature", 20: "FunctionDescription", 100: "Metadata"},
    "FunctionDescription": {2: "Feature", 3: "Feature", 6: "Feature"}, "Feature": {3: "FeatureType"},
    "FeatureType": {n: "Leaf" for n in range(1, 9)}, "Metadata": {100: "map:"},
    "Program": {2: "map:Function", 4: "map:Value"}, "Function": {1: "Named", 3: "map:Block", 4: "map:Value"},
    "Block": {1: "Named", 3: "Operation", 4: "map:Value"},
    "Operation": {2: "map:Argument", 3: "Named", 4: "Block", 5: "map:Value"},
    "Argument": {1: "Binding"}, "Binding": {2: "Value"}, "Named": {2: "Type"},
    "Value": {2: "Type", 3: "Immediate", 5: "Blob"}, "Immediate": {1: "Leaf", 2: "Values", 3: "Values", 4: "Dictionary"},
    "Values": {1: "Value"}, "Dictionary": {1: "Entry"}, "Entry": {1: "Value", 2: "Value"}, "Type": {}, "Leaf": {},
    "Blob": {}}


def blob(data, weights):
    """The type code and the bytes of an entry of the weight file."""
    said = {number: value for number, _, value in fields(data)}
    at = said[2]
    mark, code, size, begin = struct.unpack_from("<IIQQ", weights, at)
    assert mark == 0xDEADBEEF, "no entry at %d" % at
    return ("blob", bytes(said[1]), code, weights[begin:begin + size])


def decode(data, kind, weights):
    if kind == "Blob":
        return blob(data, weights)
    out = {}
    for number, wire, value in fields(data):
        inner = MESSAGES[kind].get(number)
        if inner is None or wire != 2:
            out.setdefault(number, []).append(bytes(value) if wire != 0 else value)
        elif inner.startswith("map:"):
            entry = {n: v for n, _, v in fields(value)}
            held = entry.get(2, b"")
            key = bytes(entry.get(1, b""))
            assert key not in out.setdefault(number, {}), "a key twice"
            out[number][key] = decode(held, inner[4:], weights) if inner != "map:" else bytes(held)
        else:
            out.setdefault(number, []).append(decode(value, inner, weights))
    if (kind == "Dictionary" or kind == "Function") and 1 in out:
        out[1].sort(key=repr)
    return {n: v for n, v in out.items() if v not in ([b""], {}, [0])}  # what is not said is empty or zero


def load(path):
    with open(os.path.join(path, "Manifest.json")) as file:
        manifest = json.load(file)
    assert manifest["fileFormatVersion"] == "1.0.0"
    items = manifest["itemInfoEntries"]
    model = os.path.join(path, "Data", items[manifest["rootModelIdentifier"]]["path"])
    for item in items.values():
        assert os.path.exists(os.path.join(path, "Data", item["path"])), item
    weights = os.path.join(os.path.dirname(model), "weights/weight.bin")
    data = open(weights, "rb").read() if os.path.exists(weights) else b""
    if data:
        assert struct.unpack_from("<I", data, 4)[0] == 2 and "weights" in {i["name"] for i in items.values()}
    with open(model, "rb") as file:
        return decode(file.read(), "Model", data)


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b), key=str):
            yield from differences(a.get(key), b.get(key), "%s/%s" % (path, key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, "%s[%d]" % (path, i))
    elif a != b:
        yield "%s: %.80r and %.80r" % (path, a, b)


if __name__ == "__main__":
    found = list(differences(load(sys.argv[1]), load(sys.argv[2])))
    if found:
        print("\n".join(found[:20]))
    sys.exit(1 if found else 0)
