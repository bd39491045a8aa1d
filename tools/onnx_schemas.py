#!/usr/bin/env python3
"""Writes src/format/onnx/schemas.def: what the published schema of ONNX says of each operator of ai.onnx, operator set
17. Wants the package `onnx`, 1.12 (Debian: python3-onnx); with --check it only says whether the file is what would be
written. The ranks stand here: onnx.defs has none, the descriptions of the operators
(https://github.com/onnx/onnx/blob/v1.12.0/docs/Operators.md) do."""
import pathlib
import sys
import textwrap

import onnx
import onnx.defs

OPSET = 17
TARGET = pathlib.Path(__file__).resolve().parent.parent / "src" / "format" / "onnx" / "schemas.def"
HEAD = """\
/* The operators of ai.onnx in operator set 17, as onnx.defs of the package onnx 1.12 has them: written by
 * tools/onnx_schemas.py, which also says where the ranks are from.
 *
 *     MW_ONNX_SCHEMA(operator, inputs, results, types, attributes, ranks)
 *
 * inputs, results: the type of each in order, a name or the digit of one type; behind it ? of one that may be left out,
 *     + of one or more of that type, * of one or more of any.
 * types: which element types a name may stand for, by the numbers of TensorProto.DataType as digits: 1 float, 2 uint8,
 *     3 int8, 4 uint16, 5 int16, 6 int32, 7 int64, 8 string, 9 bool, A float16, B double, C uint32, D uint64,
 *     E complex64, F complex128, G bfloat16.
 * attributes: name:kind, i f s t g for one, capitals for several; ! must be there.
 * ranks: of each input, > of each result: a digit; x for ranks that are alike, with the least behind it (x3); ^ the
 *     largest of all inputs; - any; * for as many more inputs as there are, with the rule before it. */
"""
KINDS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "FLOATS": "F", "INTS": "I",
         "STRINGS": "S", "TENSORS": "T", "GRAPHS": "G", "SPARSE_TENSOR": "p", "SPARSE_TENSORS": "P",
         "TYPE_PROTO": "y", "TYPE_PROTOS": "Y"}
DIGITS = ["", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double",
          "uint32", "uint64", "complex64", "complex128", "bfloat16"]

SAME = """Abs Acos Acosh Asin Asinh Atan Atanh Bernoulli Cast Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish
Hardmax Identity IsInf IsNaN LeakyRelu Log LogSoftmax LpNormalization Mish Neg Not Reciprocal Relu Round Selu Shrink
Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Tan Tanh ThresholdedRelu EyeLike Dropout""".split()
BROADCAST = """Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or Pow Sub Sum Where
Xor BitShift""".split()
RANKS = {
    "AveragePool": "x3 > x", "MaxPool": "x3 > x x", "LpPool": "x3 > x", "LRN": "x3 > x", "GlobalAveragePool": "x3 > x",
    "GlobalMaxPool": "x3 > x", "GlobalLpPool": "x3 > x",
    "Conv": "x3 x 1 > x", "ConvTranspose": "x3 x 1 > x",
    "BatchNormalization": "x2 1 1 1 1 > x 1 1", "InstanceNormalization": "x3 1 1 > x",
    "LayerNormalization": "x1 - - > x x x",
    "Clip": "x 0 0 > x", "PRelu": "x - > x", "Pad": "x 1 0 > x", "CumSum": "x 0 > x", "TopK": "x1 1 > x x",
    "Trilu": "x2 0 > x", "ReverseSequence": "x2 1 > x", "Tile": "x 1 > x",
    "Slice": "x1 1 1 1 1 > x", "Split": "x1 1 > -", "Concat": "x1 * > x", "Gemm": "2 2 - > 2",
    "DepthToSpace": "4 > 4", "SpaceToDepth": "4 > 4", "Shape": "- > 1", "Size": "- > 0", "ConstantOfShape": "1 > -",
    "Reshape": "- 1 > -", "Expand": "- 1 > -", "Unsqueeze": "- 1 > -", "Squeeze": "- 1 > -", "Resize": "x1 1 1 1 > x",
    "GatherElements": "x1 x > x", "ScatterElements": "x1 x x > x", "ScatterND": "x1 - - > x", "GatherND": "x1 - > -",
    "LSTM": "3 3 3 2 1 3 3 2 > 4 3 3", "GRU": "3 3 3 2 1 3 > 4 3", "RNN": "3 3 3 2 1 3 > 4 3",
    "QuantizeLinear": "x - - > x", "DequantizeLinear": "x - - > x", "MatMul": "- - > -",
    "If": "0 > -", "Loop": "0 0 - > -", "NonZero": "- > 2", "Range": "0 0 0 > 1", "ReduceSum": "- 1 > -",
}


def letters(kinds):
    found = [f"tensor({name})" for name in DIGITS]
    return "".join("0123456789ABCDEFG"[i] for i, name in enumerate(found) if i > 0 and name in kinds)


def parameter(p, names):
    option = str(p.option).split(".")[-1]
    kind = p.typeStr if p.typeStr in names else letters([p.typeStr])
    return kind + {"Single": "", "Optional": "?", "Variadic": "+" if p.isHomogeneous else "*"}[option]


def ranks(name):
    if name in SAME:
        return "x > x x"
    return "- * > ^" if name in BROADCAST else RANKS.get(name, "")


def row(schema):
    constraints = {t.type_param_str: letters(t.allowed_type_strs) for t in schema.type_constraints}
    inputs = " ".join(parameter(p, constraints) for p in schema.inputs)
    results = " ".join(parameter(p, constraints) for p in schema.outputs)
    types = " ".join(f"{name}:{allowed}" for name, allowed in sorted(constraints.items()))
    attributes = " ".join(f"{name}:{KINDS[str(a.type).split('.')[-1]]}{'!' if a.required else ''}"
                          for name, a in sorted(schema.attributes.items()))
    parts = [inputs, results, types, attributes, ranks(schema.name)]
    lines = [f"MW_ONNX_SCHEMA({schema.name}"]
    for part in parts:
        pieces = [f'"{piece} "' for piece in textwrap.wrap(part, 98)] or ['" "']
        pieces[-1] = pieces[-1][:-2] + '"'
        for i, piece in enumerate(pieces):
            separator = ", " if i == 0 else " "
            if len(lines[-1]) + len(separator) + len(piece) <= 118:
                lines[-1] += separator + piece
            else:
                lines[-1] += separator.rstrip()
                lines.append(" " * 15 + piece)
    return "\n".join(lines) + ")"


def main():
    newest = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= OPSET and not schema.deprecated:
            if schema.name not in newest or newest[schema.name].since_version < schema.since_version:
                newest[schema.name] = schema
    text = HEAD + "".join(row(newest[name]) + "\n" for name in sorted(newest))
    if "--check" in sys.argv[1:]:
        sys.exit(0 if TARGET.read_text() == text else "src/format/onnx/schemas.def is not what onnx_schemas.py writes")
    TARGET.write_text(text)


if onnx.__version__.startswith("1.12."):
    main()
else:
    sys.exit(f"onnx 1.12 is wanted, this is {onnx.__version__}")
