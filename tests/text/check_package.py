#!/usr/bin/env python3
"""What mw convert writes of a language model as a package of Core ML, message by message, with no schema of the library:
check_package.py MW, the path of the tool. Field numbers are those that Apple publishes (Model.proto, MIL.proto)."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "data" / "coreml"))

from wire import fields  # noqa: E402

F16, F32, I32, ARRAY_F16 = 10, 11, 23, 65552
LAYERS, GROUPS, CACHE, WIDE, WORDS = 2, 2, 16, 4, 40


def all_of(data, number):
    return [value for key, _, value in fields(data) if key == number]


def one(data, number):
    found = all_of(data, number)
    assert len(found) == 1, f"field {number}: {len(found)} times"
    return found[0]


def text(data, number=1):
    return bytes(one(data, number)).decode()


def pairs(data, number):
    """A map of strings to messages."""
    return {text(entry): one(entry, 2) for entry in all_of(data, number)}


def tensor(value_type):
    """(element type, shape) of a ValueType that is a tensor."""
    inside = one(value_type, 1)
    return one(inside, 1), [one(one(dimension, 1), 1) for dimension in all_of(inside, 3)]


def packed(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            out.append(value)
            value = shift = 0
    return out


def binding(operation, name):
    """The name that an argument is bound to."""
    return text(one(pairs(operation, 2)[name], 1))


def check_description(description):
    states = {text(feature): one(one(one(feature, 3), 8), 1) for feature in all_of(description, 13)}
    wanted = {f"{what}_{layer}" for what in ("key", "value") for layer in range(LAYERS)}
    assert set(states) == wanted, states
    for array in states.values():
        assert packed(one(array, 1)) == [1, GROUPS, CACHE, WIDE] and one(array, 2) == ARRAY_F16, bytes(array)
    assert [text(feature) for feature in all_of(description, 1)] == ["tokens", "at"]
    assert [text(feature) for feature in all_of(description, 10)] == ["logits"]
    return wanted


def check_function(function, states):
    inputs = {text(port): one(port, 2) for port in all_of(function, 1)}
    assert set(inputs) == states | {"tokens", "at"}, set(inputs)
    for name, value_type in inputs.items():
        if name in states:
            assert tensor(one(one(value_type, 5), 1)) == (F16, [1, GROUPS, CACHE, WIDE]), name
    assert tensor(inputs["tokens"]) == (I32, [1, 1]) and tensor(inputs["at"]) == (I32, [1])
    opset = text(function, 2)
    return opset, pairs(function, 3)[opset]


def check_block(block, states):
    """Each state is read once, and written once with fp16 that was computed before, after it was read."""
    read, written, made = {}, {}, {}
    for at, operation in enumerate(all_of(block, 3)):
        kind = text(operation)
        for result in all_of(operation, 3):
            made[text(result)] = (at, one(result, 2))
        if kind == "read_state":
            assert binding(operation, "input") not in read
            read[binding(operation, "input")] = at
            assert tensor(one(all_of(operation, 3)[0], 2)) == (F16, [1, GROUPS, CACHE, WIDE])
        if kind == "write_state":
            name, value = binding(operation, "input"), binding(operation, "data")
            assert name not in written and not all_of(operation, 3)
            written[name] = at
            assert made[value][0] < at and tensor(made[value][1]) == (F16, [1, GROUPS, CACHE, WIDE])
        assert kind != "coreml_update_state", "which no program holds"
    assert set(read) == set(written) == states, (read, written)
    assert all(read[name] < written[name] for name in states)
    assert [bytes(name).decode() for name in all_of(block, 2)] == ["logits"]
    assert tensor(made["logits"][1]) == (F32, [1, WORDS])


def check_package(package):
    model = (package / "Data/com.apple.CoreML/model.mlmodel").read_bytes()
    assert one(model, 1) == 9, "specification version"  # iOS 18
    states = check_description(one(model, 2))
    functions = pairs(one(model, 502), 2)
    assert list(functions) == ["main"]
    opset, block = check_function(functions["main"], states)
    assert opset == "CoreML8", opset
    check_block(block, states)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("fp32", "fp16"):
            package = pathlib.Path(folder) / f"{kind}.mlpackage"
            subprocess.run([sys.argv[1], "convert", HERE / "models/llama", package, "--context", str(CACHE), "--weights",
                            kind], check=True, timeout=60)
            check_package(package)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
