"""Small packages of every form: python3 tests/data/coreml/make.py writes them beside itself.

What is here by hand, besides the messages, is the text that each program must print as, <name>.mil: written from the
rules of Apple's printer, not by any printer."""
import json
import os
import struct

from wire import F32, encode

HERE = os.path.dirname(os.path.abspath(__file__))
BOOL, STRING, F16, F32T, F64, I8, I16, I32, I64, U8, U16, U32 = 1, 2, 10, 11, 12, 21, 22, 23, 24, 31, 32, 33
ARRAY_F32, ARRAY_I32, ARRAY_F16 = 65568, 131104, 65552


def package(name, model, text=None, weights=None):
    folder = os.path.join(HERE, name + ".mlpackage")
    data = os.path.join(folder, "Data/com.apple.CoreML")
    os.makedirs(data, exist_ok=True)
    items = {"A0000000-0000-4000-8000-000000000001": {
        "author": "com.apple.CoreML", "description": "CoreML Model Specification", "name": "model.mlmodel",
        "path": "com.apple.CoreML/model.mlmodel"}}
    if weights is not None:
        items["A0000000-0000-4000-8000-000000000002"] = {
            "author": "com.apple.CoreML", "description": "CoreML Model Weights", "name": "weights",
            "path": "com.apple.CoreML/weights"}
        os.makedirs(os.path.join(data, "weights"), exist_ok=True)
        with open(os.path.join(data, "weights/weight.bin"), "wb") as file:
            file.write(weights)
    manifest = {"fileFormatVersion": "1.0.0", "itemInfoEntries": items,
                "rootModelIdentifier": "A0000000-0000-4000-8000-000000000001"}
    with open(os.path.join(folder, "Manifest.json"), "w") as file:
        json.dump(manifest, file, indent=4)
    with open(os.path.join(data, "model.mlmodel"), "wb") as file:
        file.write(encode(model))
    if text is not None:
        with open(os.path.join(HERE, name + ".mil"), "w") as file:
            file.write(text)


# ---- messages ----

def dim(extent):
    return (3, [(2, [])] if extent is None else [(1, [(1, extent)])])


def tensor(dtype, *shape):
    return [(1, [(1, dtype), (2, len(shape))] + [dim(d) for d in shape])]


def named(name, kind):
    return [(1, name), (2, kind)]


def value(kind, field, packed):
    """A tensor literal; `packed` is the content of the repeated field."""
    return [(2, kind), (3, [(1, [(field, packed)])])]


def words(*strings):
    return [(1, s) for s in strings]


def string(text):
    return value(tensor(STRING), 4, words(text))


def floats(kind, *numbers):
    return value(kind, 1, [(1, struct.pack("<%df" % len(numbers), *numbers))])


def ints(kind, *numbers):
    from wire import varint
    return value(kind, 2, [(1, b"".join(varint(n) for n in numbers))])


def raw(kind, data):
    return value(kind, 7, [(1, data)])


def operation(kind, inputs, outputs, attributes=(), blocks=()):
    return ([(1, kind)] + [(2, [(1, key), (2, [(1, [(1, name)]) for name in ([names] if isinstance(names, str) else names)])])
                           for key, names in inputs] +
            [(3, named(n, k)) for n, k in outputs] + [(4, b) for b in blocks] +
            [(5, [(1, key), (2, v)]) for key, v in attributes])


def const(name, kind, v):
    return operation("const", [], [(name, kind)], [("val", v), ("name", string(name))])


def block(operations, outputs, inputs=()):
    return [(1, named(n, k)) for n, k in inputs] + [(2, o) for o in outputs] + [(3, o) for o in operations]


def function(inputs, opset, body):
    return [(1, named(n, k)) for n, k in inputs] + [(2, opset), (3, [(1, opset), (2, body)])]


def program(functions, attributes=()):
    return [(1, 1)] + [(2, [(1, n), (2, f)]) for n, f in functions] + [(4, [(1, k), (2, v)]) for k, v in attributes]


def feature(name, kind, text="", optional=False):
    return [(1, name)] + ([(2, text)] if text else []) + [(3, kind + ([(1000, 1)] if optional else []))]


def array(dtype, shape, *more):
    return [(5, [(1, d) for d in shape] + [(2, dtype)] + list(more))]


def model(version, description, field, content):
    return [(1, version), (2, description), (field, content)]


# ---- the packages ----

HEADER = '[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-component-MIL", "3500.14.1"}, ' \
         '{"coremlc-version", "3500.32.1"}})]\n{\n'
NEW_HEADER = 'program(1.3)\n[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3500.14.1"}, ' \
             '{"coremlc-version", "3500.32.1"}})]\n{\n'


def literals():
    """Every way in which elements are stored."""
    rows = [("a", F32T, (2,), floats(tensor(F32T, 2), 1.5, -0.0), "[0x1.8p+0, -0x0p+0]", "fp32"),
            ("b", F16, (1, 2), raw(tensor(F16, 1, 2), struct.pack("<2e", 0.5, 2 ** -24)), "[[0x1p-1, 0x1p-24]]", "fp16"),
            ("c", I32, (2,), ints(tensor(I32, 2), -1, 7), "[-1, 7]", "int32"),
            ("d", BOOL, (3,), value(tensor(BOOL, 3), 3, [(1, bytes([1, 0, 1]))]), "[true, false, true]", "bool"),
            ("e", I8, (2,), raw(tensor(I8, 2), bytes([0x80, 0x7F])), "[-128, 127]", "int8"),
            ("f", U8, (2,), raw(tensor(U8, 2), bytes([0, 255])), "[0, 255]", "uint8"),
            ("g", I16, (1,), ints(tensor(I16, 1), -300), "[-300]", "int16"),
            ("h", U16, (1,), ints(tensor(U16, 1), 65535), "[65535]", "uint16"),
            ("i", U32, (1,), raw(tensor(U32, 1), struct.pack("<I", 4294967295)), "[4294967295]", "uint32"),
            ("j", I64, (1,), value(tensor(I64, 1), 5, [(1, b"\x80\x80\x80\x80\x10")]), "[4294967296]", "int64"),
            ("k", F64, (1,), value(tensor(F64, 1), 6, [(1, struct.pack("<d", 0.1))]), "[0x1.999999999999ap-4]", "fp64"),
            ("l", STRING, (2,), value(tensor(STRING, 2), 4, words("x", 'say "\\"')), '["x", "say \\"\\\\\\""]', "string"),
            ("m", F32T, (2, 0), floats(tensor(F32T, 2, 0)), "[[], []]", "fp32")]
    body, lines = [], []
    for name, dtype, shape, v, text, word in rows:
        kind = "tensor<%s, [%s]>" % (word, ", ".join(map(str, shape)))
        body.append(const(name, tensor(dtype, *shape), v))
        lines.append('            %s %s = const()[name = tensor<string, []>("%s"), val = %s(%s)];\n'
                     % (kind, name, name, kind, text))
    body.append(operation("relu", [("x", "x")], [("y", tensor(F32T, 2))]))
    lines.append("            tensor<fp32, [2]> y = relu(x = x);\n")
    text = ("program(1.0)\n" + HEADER + "    func main<ios16>(tensor<fp32, [2]> x) {\n" + "".join(lines) +
            "        } -> (y);\n}")
    package("literals", model(7, [(1, feature("x", array(ARRAY_F32, (2,)))), (10, feature("y", array(ARRAY_F32, (2,))))],
                              502, program([("main", function([("x", tensor(F32T, 2))], "CoreML6", block(body, ["y"])))])),
            text)


def functions():
    """Two functions of ios18, each with its own flexible shapes; a state; a default function."""
    def ranges(*bounds):
        return (31, [(1, [(1, low), (2, high)]) for low, high in bounds])

    listed = (21, [(1, [(1, 1), (1, 4)]), (1, [(1, 1), (1, 8)])])
    step = function([("x", tensor(F16, 1, None)), ("k", [(5, [(1, tensor(F16, 1, 4))])])], "CoreML8", block([
        operation("read_state", [("input", "k")], [("r", tensor(F16, 1, 4))], [("name", string("read"))]),
        operation("write_state", [("input", "k"), ("data", "r")], []),
        operation("relu", [("x", "x")], [("y", tensor(F16, 1, None))], [("name", string("y"))])], ["y"]))
    other = function([("b", tensor(F32T, 1, None)), ("a", tensor(F32T, 1, None))], "CoreML8", block([
        operation("add", [("y", "b"), ("x", "a")], [("z", tensor(F32T, 1, None))], [("name", string("z"))])], ["z"]))
    description = [
        (20, [(1, "main"), (2, feature("x", array(ARRAY_F16, (1, 4), ranges((1, 1), (2, -1))))),
              (3, feature("y", array(ARRAY_F16, ()))),
              (6, feature("k", [(8, [(1, [(1, 1), (1, 4), (2, ARRAY_F16)])])]))]),
        (20, [(1, "other"), (2, feature("a", array(ARRAY_F32, (1, 4), listed), "the first")),
              (2, feature("b", array(ARRAY_F32, (), listed, (51, F32(0.5))), optional=True)),
              (3, feature("z", array(ARRAY_F32, ())))]),
        (21, "main"), (100, [(1, "two functions"), (2, "1.2"), (3, "nobody"), (4, "none"),
                             (100, [(1, "key"), (2, "value")])])]
    standard = 'tuple<string, dict<string, tensor<int32, [?]>>>'
    text = (NEW_HEADER +
            '    func main<ios18>(state<tensor<fp16, [1, 4]>> k, tensor<fp16, [1, ?]> x) [FlexibleShapeInformation = tuple<' +
            standard + ', tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 4]}}), '
            '("RangeDims", {{"x", [[1, 1], [2, -1]]}})))] {\n'
            '            tensor<fp16, [1, 4]> r = read_state(input = k)[name = string("read")];\n'
            '            write_state(data = r, input = k);\n'
            '            tensor<fp16, [1, ?]> y = relu(x = x)[name = string("y")];\n'
            '        } -> (y);\n'
            '    func other<ios18>(tensor<fp32, [1, ?]> a, tensor<fp32, [1, ?]> b) [FlexibleShapeInformation = tuple<' +
            standard + ', tuple<string, dict<string, dict<string, tensor<int32, [?]>>>>>((("DefaultShapes", '
            '{{"a", [1, 4]}, {"b", [1, 4]}}), ("EnumeratedShapes", {{"00000000", {{"a", [1, 4]}, {"b", [1, 4]}}}, '
            '{"00000001", {{"a", [1, 8]}, {"b", [1, 8]}}}})))] {\n'
            '            tensor<fp32, [1, ?]> z = add(x = a, y = b)[name = string("z")];\n'
            '        } -> (z);\n}')
    package("functions", model(9, description, 502, program([("other", other), ("main", step)])), text)


def classifier():
    """An image in BGR, and the label and the probabilities of a classifier; weights in a file."""
    weights = struct.pack("<IIQ", 1, 2, 0) + bytes(48)
    data = struct.pack("<12f", *[i / 8 for i in range(12)])
    weights += struct.pack("<IIQQ", 0xDEADBEEF, 2, len(data), 128) + bytes(40) + data
    blob = [(2, tensor(F32T, 4, 3)), (5, [(1, "@model_path/weights/weight.bin"), (2, 64)])]
    labels = [(2, [(2, [(1, tensor(STRING)), (2, [(1, [(1, 4)])])])]),
              (3, [(3, [(1, string(word)) for word in ("ant", "bee", "cow", "dog")])])]
    kind = [(2, [(1, tensor(STRING)), (2, [(1, [(1, 4)])])])]
    probabilities = [(4, [(1, tensor(STRING)), (2, tensor(F32T))])]
    body = block([
        const("axes", tensor(I32, 2), ints(tensor(I32, 2), 2, 3)),
        const("keep", tensor(BOOL), value(tensor(BOOL), 3, [(1, b"\0")])),
        operation("reduce_mean", [("x", "image"), ("keep_dims", "keep"), ("axes", "axes")], [("mean", tensor(F32T, 1, 3))],
                  [("name", string("mean"))]),
        operation("const", [], [("w", tensor(F32T, 4, 3))], [("name", string("w")), ("val", blob)]),
        operation("linear", [("x", "mean"), ("weight", "w")], [("h", tensor(F32T, 1, 4))], [("name", string("h"))]),
        const("axis", tensor(I32), ints(tensor(I32), -1)),
        operation("softmax", [("x", "h"), ("axis", "axis")], [("p", tensor(F32T, 1, 4))], [("name", string("p"))]),
        operation("const", [], [("classes", kind)], [("name", string("classes")), ("val", labels)]),
        operation("classify", [("probabilities", "p"), ("classes", "classes")],
                  [("label", tensor(STRING)), ("label_probs", probabilities)], [("name", string("classify"))])],
        ["label", "label_probs"])
    image = [(4, [(1, 8), (2, 6), (3, 30)])]
    description = [(1, feature("image", image, "a picture")), (10, feature("label", [(3, [])])),
                   (10, feature("label_probs", [(6, [(2, [])])])), (11, "label"), (12, "label_probs")]
    info = [(2, [(4, [(1, tensor(STRING)), (2, tensor(STRING))])]),
            (3, [(4, [(1, [(1, string("z")), (2, string("last"))]), (1, [(1, string("a")), (2, string("first"))])])])]
    text = ('program(1.0)\n[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"a", "first"}, '
            '{"coremlc-component-MIL", "3500.14.1"}, {"coremlc-version", "3500.32.1"}, {"z", "last"}})]\n{\n'
            '    func main<ios15>(tensor<fp32, [1, 3, 6, 8]> image) {\n'
            '            tensor<int32, [2]> axes = const()[name = tensor<string, []>("axes"), val = tensor<int32, [2]>([2, 3])];\n'
            '            tensor<bool, []> keep = const()[name = tensor<string, []>("keep"), val = tensor<bool, []>(false)];\n'
            '            tensor<fp32, [1, 3]> mean = reduce_mean(axes = axes, keep_dims = keep, x = image)'
            '[name = tensor<string, []>("mean")];\n'
            '            tensor<fp32, [4, 3]> w = const()[name = tensor<string, []>("w"), val = tensor<fp32, [4, 3]>(BLOBFILE('
            'path = tensor<string, []>("@model_path/weights/weight.bin"), offset = tensor<uint64, []>(64)))];\n'
            '            tensor<fp32, [1, 4]> h = linear(weight = w, x = mean)[name = tensor<string, []>("h")];\n'
            '            tensor<int32, []> axis = const()[name = tensor<string, []>("axis"), val = tensor<int32, []>(-1)];\n'
            '            tensor<fp32, [1, 4]> p = softmax(axis = axis, x = h)[name = tensor<string, []>("p")];\n'
            '            list<tensor<string, []>, 4> classes = const()[name = tensor<string, []>("classes"), '
            'val = list<tensor<string, []>, 4>(["ant", "bee", "cow", "dog"])];\n'
            '            tensor<string, []> label, dict<tensor<string, []>, tensor<fp32, []>> label_probs = '
            'classify(classes = classes, probabilities = p)[name = tensor<string, []>("classify")];\n'
            '        } -> (label, label_probs);\n}')
    package("classifier", model(6, description, 502, program([("main", function([("image", tensor(F32T, 1, 3, 6, 8))],
            "CoreML5", body))], [("buildInfo", info)])), text, weights)


def pipeline():
    """A program and then a kind of model that is not read; names for both."""
    body = block([operation("relu", [("x", "x")], [("y", tensor(F32T, 2))], [("name", string("y"))])], ["y"])
    first = model(7, [(1, feature("x", array(ARRAY_F32, (2,)))), (10, feature("y", array(ARRAY_F32, (2,))))], 502,
                  program([("main", function([("x", tensor(F32T, 2))], "CoreML6", body))]))
    second = model(7, [(1, feature("y", array(ARRAY_F32, (2,)))), (10, feature("z", array(ARRAY_F32, (2,))))], 610,
                   [(1, 0.5)])
    package("pipeline", model(7, [(1, feature("x", array(ARRAY_F32, (2,)))), (10, feature("z", array(ARRAY_F32, (2,))))],
                              202, [(1, first), (1, second), (2, "network"), (2, "")]))


def network():
    """A model of another kind alone."""
    package("network", model(4, [(1, feature("x", [(2, [])])), (10, feature("y", [(1, [])]))], 500, [(1, [(1, "layer")])]))


if __name__ == "__main__":
    literals()
    functions()
    classifier()
    pipeline()
    network()
