"""What a package says, line by line, read by Google's protobuf alone: python3 expect.py A.mlpackage.

Knows nothing of the library: the messages below are those of Apple's specification (Model.proto, FeatureTypes.proto,
MIL.proto), as far as an app sees them. Exits 1, and says why, if the program does not fit the description as Core ML
wants it; 3 if there is no protobuf for Python."""
import json
import os
import sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    sys.exit(3)

INT, STRING, MESSAGE, FLOATS, BOOL = 3, 9, 11, 2, 8
ONE, MANY = 1, 3
# message: {field: (number, type, label, message of the field)}; a map is a repeated entry of key and value.
MESSAGES = {
    "Model": {"version": (1, INT, ONE, None), "description": (2, MESSAGE, ONE, "Description"),
              "program": (502, MESSAGE, ONE, "Program")},
    "Description": {"input": (1, MESSAGE, MANY, "Feature"), "output": (10, MESSAGE, MANY, "Feature"),
                    "predicted": (11, STRING, ONE, None), "probabilities": (12, STRING, ONE, None),
                    "metadata": (100, MESSAGE, ONE, "Metadata")},
    "Metadata": {"text": (1, STRING, ONE, None), "version": (2, STRING, ONE, None), "author": (3, STRING, ONE, None),
                 "license": (4, STRING, ONE, None), "user": (100, MESSAGE, MANY, "Pair")},
    "Pair": {"key": (1, STRING, ONE, None), "value": (2, STRING, ONE, None)},
    "Feature": {"name": (1, STRING, ONE, None), "type": (3, MESSAGE, ONE, "FeatureType")},
    "FeatureType": {"integer": (1, MESSAGE, ONE, "Empty"), "number": (2, MESSAGE, ONE, "Empty"),
                    "string": (3, MESSAGE, ONE, "Empty"), "image": (4, MESSAGE, ONE, "Image"),
                    "array": (5, MESSAGE, ONE, "Array"), "dictionary": (6, MESSAGE, ONE, "Dictionary")},
    "Empty": {}, "Image": {"width": (1, INT, ONE, None), "height": (2, INT, ONE, None), "color": (3, INT, ONE, None)},
    "Array": {"shape": (1, INT, MANY, None), "type": (2, INT, ONE, None), "ranges": (31, MESSAGE, ONE, "Ranges")},
    "Ranges": {"sizes": (1, MESSAGE, MANY, "Range")}, "Range": {"low": (1, INT, ONE, None), "high": (2, INT, ONE, None)},
    "Dictionary": {"integer": (1, MESSAGE, ONE, "Empty"), "string": (2, MESSAGE, ONE, "Empty")},
    "Program": {"functions": (2, MESSAGE, MANY, "NamedFunction")},
    "NamedFunction": {"key": (1, STRING, ONE, None), "value": (2, MESSAGE, ONE, "Function")},
    "Function": {"inputs": (1, MESSAGE, MANY, "Named"), "opset": (2, STRING, ONE, None),
                 "blocks": (3, MESSAGE, MANY, "NamedBlock")},
    "NamedBlock": {"key": (1, STRING, ONE, None), "value": (2, MESSAGE, ONE, "Block")},
    "Block": {"outputs": (2, STRING, MANY, None), "operations": (3, MESSAGE, MANY, "Operation")},
    "Operation": {"type": (1, STRING, ONE, None), "inputs": (2, MESSAGE, MANY, "NamedArgument"),
                  "outputs": (3, MESSAGE, MANY, "Named"), "attributes": (5, MESSAGE, MANY, "NamedValue")},
    "NamedValue": {"key": (1, STRING, ONE, None), "value": (2, MESSAGE, ONE, "Value")},
    "NamedArgument": {"key": (1, STRING, ONE, None), "value": (2, MESSAGE, ONE, "Argument")},
    "Argument": {"bindings": (1, MESSAGE, MANY, "Binding")},
    "Binding": {"name": (1, STRING, ONE, None), "value": (2, MESSAGE, ONE, "Value")},
    "Named": {"name": (1, STRING, ONE, None), "type": (2, MESSAGE, ONE, "ValueType")},
    "ValueType": {"tensor": (1, MESSAGE, ONE, "TensorType")},
    "TensorType": {"type": (1, INT, ONE, None), "rank": (2, INT, ONE, None),
                   "dimensions": (3, MESSAGE, MANY, "Dimension")},
    "Dimension": {"constant": (1, MESSAGE, ONE, "Constant")}, "Constant": {"size": (1, INT, ONE, None)},
    "Value": {"immediate": (3, MESSAGE, ONE, "Immediate")},
    "Immediate": {"tensor": (1, MESSAGE, ONE, "Tensor"), "list": (3, MESSAGE, ONE, "List")},
    "List": {"values": (1, MESSAGE, MANY, "Value")},
    "Tensor": {"floats": (1, MESSAGE, ONE, "Floats"), "strings": (4, MESSAGE, ONE, "Strings"),
               "longs": (5, MESSAGE, ONE, "Longs")},
    "Floats": {"values": (1, FLOATS, MANY, None)}, "Strings": {"values": (1, STRING, MANY, None)},
    "Longs": {"values": (1, INT, MANY, None)},
}
COLORS = {10: "gray", 20: "RGB", 30: "BGR", 40: "gray fp16"}
ARRAYS = {65568: "float32", 65552: "float16", 131104: "int32", 65600: "double"}
TENSORS = {10: "fp16", 11: "fp32", 2: "string", 23: "int32", 24: "int64"}


def make_messages():
    file = descriptor_pb2.FileDescriptorProto(name="app.proto", package="app", syntax="proto3")
    for name, members in MESSAGES.items():
        message = file.message_type.add(name=name)
        for key, (number, kind, label, inner) in members.items():
            message.field.add(name=key, number=number, type=kind, label=label,
                              type_name=".app." + inner if inner else None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("app.Model"))


def load(path):
    with open(os.path.join(path, "Manifest.json")) as file:
        manifest = json.load(file)
    entry = manifest["itemInfoEntries"][manifest["rootModelIdentifier"]]
    with open(os.path.join(path, "Data", entry["path"]), "rb") as file:
        return make_messages().FromString(file.read())


def say_type(kind):
    if kind.HasField("image"):
        return "image %s, %d wide, %d high" % (COLORS.get(kind.image.color, "?"), kind.image.width, kind.image.height)
    if kind.HasField("array"):
        sizes = ["%d..%d" % (r.low, r.high) for r in kind.array.ranges.sizes]
        return "array %s %s%s" % (ARRAYS.get(kind.array.type, "?"), list(kind.array.shape),
                                  " of " + " x ".join(sizes) if sizes else "")
    if kind.HasField("dictionary"):
        return "dictionary by %s" % ("string" if kind.dictionary.HasField("string") else "integer")
    return "string" if kind.HasField("string") else "integer" if kind.HasField("integer") else "?"


def shape_of(named):
    return [d.constant.size for d in named.type.tensor.dimensions]


def operand(operation, key):
    for item in operation.inputs:
        if item.key == key:
            return item.value.bindings[0]
    return None


def value_of(binding, operations):
    """What a binding holds: a literal, or what the const says that it names."""
    if binding.HasField("value"):
        return binding.value.immediate
    for operation in operations:
        if operation.type == "const" and operation.outputs[0].name == binding.name:
            return [a.value.immediate for a in operation.attributes if a.key == "val"][0]
    return None


def check_image(feature, function, operations):
    """Apple: the program's input of that name is [1, C, H, W]; scale and bias are operations on it."""
    port = [i for i in function.inputs if i.name == feature.name]
    image = feature.type.image
    channels = 1 if image.color in (10, 40) else 3
    assert len(port) == 1, "the program has no input %s" % feature.name
    assert shape_of(port[0]) == [1, channels, image.height, image.width], "the image is %s" % shape_of(port[0])
    assert TENSORS.get(port[0].type.tensor.type) in ("fp32", "fp16"), "an image is fp32 or fp16"
    users = [o for o in operations for i in o.inputs for b in i.value.bindings if b.name == feature.name]
    assert users and users[0].type == "mul", "nothing scales the image"
    y = operand(users[0], "y")
    x = value_of(y if y.name != feature.name else operand(users[0], "x"), operations)
    return "scale %s" % ", ".join("%.6g" % n for n in x.tensor.floats.values)


def labels_of(operation, operations):
    value = value_of(operand(operation, "classes"), operations)
    parts = value.list.values if value.HasField("list") else None
    tensors = [v.immediate.tensor for v in parts] if parts is not None else [value.tensor]
    return [w for t in tensors for w in (list(t.strings.values) + list(t.longs.values))]


def check_classifier(description, operations):
    last = [o for o in operations if o.type == "classify"]
    assert len(last) == 1, "no classify, or several"
    names = [o.name for o in last[0].outputs]
    assert names == [description.predicted, description.probabilities], "classify gives %s" % names
    kinds = {f.name: say_type(f.type) for f in description.output}
    labels = labels_of(last[0], operations)
    word = "string" if isinstance(labels[0], str) else "integer"
    assert kinds[description.predicted] in ("string", "integer"), "the label is %s" % kinds[description.predicted]
    assert kinds[description.predicted] == word, "labels are %s" % word
    assert kinds[description.probabilities] == "dictionary by " + word, "probabilities by another kind than labels"
    return "labels: %s" % ", ".join(str(w) for w in labels)


def main():
    model = load(sys.argv[1])
    description = model.description
    function = model.program.functions[0].value
    operations = [o for b in function.blocks for o in b.value.operations]
    block = [b.value for b in function.blocks if b.key == function.opset][0]
    assert model.version >= {"CoreML5": 6, "CoreML6": 7, "CoreML7": 8, "CoreML8": 9}[function.opset], "version"
    assert sorted(block.outputs) == sorted(f.name for f in description.output), "outputs differ"
    assert sorted(i.name for i in function.inputs) == sorted(f.name for f in description.input), "inputs differ"
    for feature in description.input:
        kind = say_type(feature.type)
        print("input %s: %s" % (feature.name, kind))
        if feature.type.HasField("image"):
            print("  " + check_image(feature, function, operations))
    for feature in description.output:
        print("output %s: %s" % (feature.name, say_type(feature.type)))
    if description.predicted:
        print("predicted %s, probabilities %s" % (description.predicted, description.probabilities))
        print(check_classifier(description, operations))
    for key in ("text", "version", "author", "license"):
        if getattr(description.metadata, key):
            print("%s: %s" % (key, getattr(description.metadata, key)))
    for pair in sorted(description.metadata.user, key=lambda p: p.key):
        print("%s: %s" % (pair.key, pair.value.replace("\n", " ")))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as why:
        print("%s: %s" % (sys.argv[1], why))
        sys.exit(1)
