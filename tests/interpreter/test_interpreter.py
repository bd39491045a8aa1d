"""Tests of the interpreter: python3 tests/interpreter/test_interpreter.py

Programs and recorded cases are looked for in the folder that the environment variable MW_SHARED_DATA names.
"""
import os
import struct
import sys
import tempfile

import numpy as np
import torch

import blob
import cases
import interpret
import mil_text
import recorded
from registry import OPERATORS

IN_INTERPRETER = ["const", "cond", "while_loop", "read_state", "write_state"]


# ---- the parser ----

def function_text(body, output, params="", opset="ios18"):
    return "program(1.3)\n{\n func main<%s>(%s) {\n%s\n } -> (%s);\n}" % (opset, params, body, output)


def parsed(body, output="y", params=""):
    return mil_text.parse(function_text(body, output, params)).functions["main"]


def test_parser_reads_both_literal_styles():
    old = parsed('tensor<fp16, []> y = const()[val = tensor<fp16, []>(-0x1.8p-3)];').body.statements[0]
    new = parsed('fp16 y = const()[val = fp16(-0.1875)];').body.statements[0]
    assert old.results == new.results == [(mil_text.Type("tensor", "fp16"), "y")]
    assert old.attrs["val"].payload == new.attrs["val"].payload == -0.1875


def test_parser_reads_blob():
    text = ('tensor<int4, [2]> y = const()[val = tensor<int4, [2]>(BLOBFILE(path = string("@model_path/w"), '
            'offset = uint64(64)))];')
    assert parsed(text).body.statements[0].attrs["val"].payload == mil_text.Blob("@model_path/w", 64)


def test_parser_reads_states_lists_and_open_extents():
    f = parsed("", "x", "state<tensor<fp16, [1, ?]>> k, list<tensor<fp32, [2]>, ?> x")
    assert f.params[0][0].inner[0].shape == (1, None)
    assert f.params[1][0].kind == "list" and f.params[1][0].length is None


def test_parser_reads_nested_blocks():
    body = "fp32 y = cond(pred = p)[name = string(\"c\")] () { } -> (a) { } -> (b);"
    s = parsed(body, "y", "bool p").body.statements[0]
    assert [b.outputs for b in s.blocks] == [["a"], ["b"]]


def test_parser_reads_statement_without_result():
    assert parsed("write_state(data = d, input = k);", "d").body.statements[0].results == []


def test_parser_says_where():
    try:
        mil_text.parse("program(1.3)\n{\n  func main<ios18>(fp99 x)")
    except mil_text.MilError as error:
        assert str(error).startswith("3:20:"), error
        return
    raise AssertionError("fp99 was taken for a type")


def test_flexible_shapes():
    attr = ('[FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, '
            'dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 5]}}), ("RangeDims", '
            '{{"x", [[1, 1], [2, 9]]}})))]')
    text = 'program(1.3)\n{ func main<ios17>(tensor<fp32, [1, ?]> x) %s { } -> (x); }' % attr
    assert mil_text.flexible_shapes(mil_text.parse(text).functions["main"]) == {"x": [1, 5]}


# ---- blobs ----

def entry(code, data, offset=64):
    return bytes(offset) + struct.pack("<IIQQ40x", blob.SENTINEL, code, len(data), offset + 64) + data


def refused(function, *arguments):
    try:
        function(*arguments)
    except blob.BlobError:
        return True
    return False


def test_blob_sub_byte_numbers_straddle_bytes():
    values = [5, 1, 7, 0, 6]
    assert blob.read_entry(entry(12, blob.pack_bits(values, 3)), 64, "uint3", 5).tolist() == values
    assert blob.read_entry(entry(8, bytes([0x8F, 0x07])), 64, "int4", 3).tolist() == [-1, -8, 7]


def test_blob_float8():
    assert blob.decode(bytes([0x38, 0x7E, 0x01, 0xC0]), "fp8e4m3fn", 4).tolist() == [1, 448, 2**-9, -2]
    assert blob.decode(bytes([0x3C, 0x7C]), "fp8e5m2", 2).tolist() == [1, float("inf")]


def test_blob_refuses_what_lies_outside():
    data = entry(1, bytes(4))
    assert not refused(blob.read_entry, data, 64, "fp16", 2)
    assert refused(blob.read_entry, data, 64, "fp16", 3)
    assert refused(blob.read_entry, data, 64, "fp32", 1)
    assert refused(blob.read_entry, data, 128, "fp16", 2)
    assert refused(blob.read_entry, data[:-1], 64, "fp16", 2)
    assert refused(blob.path_below, "folder", "@model_path/../secret")


def test_blob_written_is_read():
    with tempfile.TemporaryDirectory() as folder:
        wanted = [("fp16", (2, 3)), ("int4", (3,)), ("uint3", (5,)), ("int32", (2,))]
        weights = blob.Weights(folder)
        made = [weights.read(mil_text.Blob("@model_path/w.bin", 64 + 192 * i), d, s) for i, (d, s) in enumerate(wanted)]
        blob.write_entries(folder, weights.generated)
        again = blob.Weights(folder)
        for i, (dtype, shape) in enumerate(wanted):
            assert np.array_equal(again.read(mil_text.Blob("@model_path/w.bin", 64 + 192 * i), dtype, shape), made[i])
        assert not again.generated


# ---- operators ----

def literal_type(array):
    return {"b": "bool", "i": "int32", "f": "fp32"}[np.asarray(array).dtype.kind]


def result_type(statement, expected):
    for dtype in ("fp16", "int32", "bool"):
        if statement.startswith('cast(dtype = string("%s")' % dtype):
            return dtype
    if statement.startswith("quantize"):
        return "int8"
    of_inputs = {"reduce_arg": "int32", "argsort": "int32", "non_zero": "int32", "shape(": "int32"}
    for start, dtype in of_inputs.items():
        if statement.startswith(start):
            return dtype
    return "bool" if np.asarray(expected).dtype.kind == "b" else None


def run_statement(types, statement, inputs):
    params = ", ".join("tensor<%s, %s> %s" % (literal_type(a), list(np.shape(a)), n) for n, a in inputs.items())
    names = ["r%d" % i for i in range(len(types))]
    body = "%s = %s;" % (", ".join("%s %s" % pair for pair in zip(types, names)), statement)
    program = mil_text.parse(function_text(body, ", ".join(names), params))
    run = interpret.Interpreter(program, ".")
    outputs = run.run(run.inputs({n: np.asarray(a) for n, a in inputs.items()}))
    return [outputs[n].data.numpy() for n in names]


def check_close(got, expected):
    assert got.shape == np.shape(expected), (got.shape, np.shape(expected))
    assert np.allclose(got.astype(np.float64), np.asarray(expected, np.float64), rtol=1e-5, atol=1e-6), got


def declared_for(statement, inputs, expected):
    dtype = result_type(statement, expected)
    if dtype is None:   # comparisons apart an operator keeps the type of x, or of its first literal
        first = inputs.get("x", next(iter(inputs.values()), None))
        made_of_int = "value = int32" in statement or "start = int32" in statement or "on_value = int32" in statement
        dtype = "int32" if made_of_int or (first is not None and literal_type(first) == "int32") else "fp32"
    if statement.startswith("lstm"):
        return ["tensor<fp32, [1, 1, 1]>", "tensor<fp32, [1, 1]>", "tensor<fp32, [1, 1]>"]
    shape = "tensor<%s, %s>" % (dtype, list(np.shape(expected)))
    return [shape, "tensor<fp32, [1, 1]>"] if statement.startswith(("gru", "rnn")) else [shape]


def test_operators():
    for statement, inputs, expected in cases.CASES:
        try:
            check_close(run_statement(declared_for(statement, inputs, expected), statement, inputs)[0], expected)
        except (AssertionError, interpret.InterpreterError, mil_text.MilError) as error:
            yield "%s: %s" % (statement, error)
        else:
            yield None


def test_operators_of_several_results():
    for types, statement, inputs, expected in cases.SEVERAL:
        try:
            for got, wanted in zip(run_statement(types, statement, inputs), expected):
                check_close(got, wanted)
        except (AssertionError, interpret.InterpreterError, mil_text.MilError) as error:
            yield "%s: %s" % (statement, error)
        else:
            yield None


def run_text(body, output, params="", given=None, precision=32):
    run = interpret.Interpreter(mil_text.parse(function_text(body, output, params)), ".", precision=precision)
    return run, run.run(run.inputs(given))[output].data


def test_half_is_rounded_after_each_operation():
    body = "fp16 a = add(x = fp16(2048), y = fp16(1)); fp16 y = sub(x = a, y = fp16(2048));"
    for precision in (32, 64):
        assert run_text(body, "y", precision=precision)[1].item() == 0


def test_half_is_rounded_in_one_step():
    # By way of float32 this would be 1 + 2^-10: 1 + 2^-11 + 2^-30 lies above the tie in float64 alone.
    body = 'fp16 y = cast(dtype = string("fp16"), x = x);'
    run, _ = run_text(body, "y", "fp64 x", precision=64)
    assert run.run(run.inputs({"x": np.array(1 + 2.0**-11 + 2.0**-30)}))["y"].data.item() == 1 + 2**-10


def test_integers_wrap():
    assert run_text("int32 y = add(x = int32(2147483647), y = int32(1));", "y")[1].item() == -2**31


def test_declared_shape_is_checked():
    try:
        run_text("tensor<fp32, [3]> y = relu(x = x);", "y", "tensor<fp32, [2]> x")
    except interpret.InterpreterError as error:
        assert "shape [2]" in str(error)
        return
    raise AssertionError("a wrong declared shape was taken")


def test_state_is_kept_from_run_to_run():
    body = ("fp16 r = read_state(input = k); fp16 y = add(x = r, y = x); write_state(data = y, input = k);")
    run, first = run_text(body, "y", "state<fp16> k, fp16 x", {"x": np.array(3.0)})
    assert first.item() == 3
    assert run.run(run.inputs({"x": np.array(4.0)}))["y"].data.item() == 7


def test_loop_with_list():
    body = """
    list<tensor<fp32, []>, ?> l = make_list(dtype = string("fp32"), dynamic_length = bool(true),
        elem_shape = (), init_length = int32(1));
    int32 n, list<tensor<fp32, []>, ?> m = while_loop(loop_vars = (int32(0), l))
    (int32 i, list<tensor<fp32, []>, ?> a) { bool c = less(x = i, y = int32(3)); } -> (c)
    (int32 i, list<tensor<fp32, []>, ?> a) {
        fp32 f = cast(dtype = string("fp32"), x = i);
        list<tensor<fp32, []>, ?> b = list_write(index = i, ls = a, value = f);
        int32 j = add(x = i, y = int32(1));
    } -> (j, b);
    list<tensor<fp32, []>, ?> s = list_scatter(indices = tensor<int32, [1]>([0]), ls = m,
        value = tensor<fp32, [1]>([9]));
    tensor<fp32, [2]> g = list_gather(indices = tensor<int32, [2]>([2, 0]), ls = s);
    fp32 e = list_read(index = int32(1), ls = s);
    int32 t = list_length(ls = s);
    fp32 u = cast(dtype = string("fp32"), x = t);
    fp32 v = add(x = e, y = u);
    tensor<fp32, [2]> y = add(x = g, y = v);"""
    assert run_text(body, "y")[1].tolist() == [6, 13]


def test_cond_takes_its_branch():
    body = """fp32 y = cond(pred = p) () { fp32 a = identity(x = fp32(1)); } -> (a)
        () { fp32 b = identity(x = fp32(2)); } -> (b);"""
    assert run_text(body, "y", "bool p", {"p": np.array(False)})[1].item() == 2


def drawn(operator, arguments):
    return run_text("tensor<fp32, [1000]> y = random_%s(%s, seed = int32(1), shape = tensor<int32, [1]>([1000]));"
                    % (operator, arguments), "y")[1]


def test_random_numbers_lie_in_range():
    y = drawn("uniform", "high = fp32(3), low = fp32(2)")
    assert 2 <= y.min() and y.max() < 3 and abs(y.mean() - 2.5) < 0.05
    y = drawn("normal", "mean = fp32(5), stddev = fp32(2)")
    assert abs(y.mean() - 5) < 0.3 and abs(y.std() - 2) < 0.2
    y = drawn("bernoulli", "prob = fp32(0.25)")
    assert set(y.tolist()) == {0, 1} and abs(y.mean() - 0.25) < 0.05
    y = run_text("tensor<fp32, [9]> y = random_categorical(mode = string(\"probs\"), seed = int32(1), "
                 "size = int32(9), x = tensor<fp32, [3]>([0, 1, 0]));", "y")[1]
    assert y.tolist() == [1] * 9


def test_classify():
    body = ('%s l, dict<%s, fp32> p = classify(classes = list<%s, 2>([%s]), '
            'probabilities = tensor<fp32, [1, 2]>([[0.25, 0.75]]));')
    assert run_text(body % ("string", "string", "string", '"cat", "dog"'), "l")[1] == "dog"
    assert int(run_text(body % ("int64", "int64", "int64", "5, -3"), "l")[1]) == -3
    assert run_text(body % ("string", "string", "string", '"cat", "dog"'), "p")[1].tolist() == [0.25, 0.75]


def test_gradient_of_square_is_twice_x():
    program = mil_text.parse(function_text("tensor<fp32, [3]> y = square(x = x);", "y", "tensor<fp32, [3]> x"))
    run = interpret.Interpreter(program, ".", precision=64)
    inputs = run.inputs()
    weight = 2 * blob.uniform("dy#1", 3) - 1
    assert np.allclose(run.gradients(inputs)[1]["x"].numpy(), 2 * inputs["x"].data.numpy() * weight)


# ---- real programs ----

def folders_of(kind):
    root = os.path.join(os.environ.get("MW_SHARED_DATA", ""), kind)
    if "MW_SHARED_DATA" not in os.environ or not os.path.isdir(root):
        print("MW_SHARED_DATA names no folder with %s: these were not tried" % kind)
        return root, []
    return root, sorted(f for f in os.listdir(root) if os.path.exists(os.path.join(root, f, "model.mil")))


def test_real_programs():
    root, folders = folders_of("mil")
    for folder in folders:
        try:
            run = interpret.load(os.path.join(root, folder))
            outputs = run.run(run.inputs())
            assert list(outputs) == run.function.body.outputs
        except (interpret.InterpreterError, mil_text.MilError, blob.BlobError) as error:
            yield "%s: %s" % (folder, error)
        else:
            yield None


def test_recorded_cases():
    root, folders = folders_of("coremltools")
    agreed, wrong = recorded.check_all(root) if folders else (0, {})
    yield from [None] * agreed
    yield from ["%s: %s" % pair for pair in wrong.items()]


def test_cases_of_pytorch():
    """Results and gradients. Some files beside them hold no programs, but layers and losses."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "torch")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".safetensors") and recorded.holds_programs(path):
            agreed, wrong = recorded.check_torch(path)
            yield from [None] * agreed
            yield from ["%s: %s" % pair for pair in wrong.items()]


def test_every_operator_has_a_case():
    """In cases.py, or a test of its own above."""
    named = {s.split("(")[0] for s, _, _ in cases.CASES} | {s.split("(")[0] for _, s, _, _ in cases.SEVERAL}
    own = {"make_list", "list_write", "list_read", "list_gather", "list_scatter", "list_length", "random_normal",
           "random_uniform", "random_bernoulli", "random_categorical", "classify"}
    assert set(OPERATORS) - named == own, set(OPERATORS) - named - own
    print("%d operators" % (len(OPERATORS) + len(IN_INTERPRETER)))


# ---- all of them ----

def results_of(test):
    """Sentences of what failed, None for what passed; a test that is a generator holds many."""
    try:
        found = test()
        return [None] if found is None else list(found)
    except Exception as error:      # whatever it is, the other tests are run
        return ["%s: %r" % (type(error).__name__, str(error))]


def main():
    torch.set_num_threads(1)
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        for found in results_of(test):
            passed, failed = passed + (found is None), failed + (found is not None)
            if found:
                print("%s: %s" % (name, found))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
