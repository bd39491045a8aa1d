"""Operations, tensors, arrays and errors."""
import array
import re
import struct

from cases import APART, CASES, Const, In
from frame import ROOT, check, mw, need_numpy, numpy, raises
from millwright import arrays

MODELS = ROOT / "tests" / "text" / "models"


def given(graph, value, feeds):
    """An argument of a case as a user gives it."""
    if isinstance(value, In):
        name = f"in{len(feeds)}"
        feeds[name] = value
        return graph.input(name, value.shape, arrays.dtype_of(value.dtype))
    if isinstance(value, Const):
        return graph.constant(value.values, arrays.dtype_of(value.dtype))
    if isinstance(value, list) and any(isinstance(item, In) for item in value):
        return [given(graph, item, feeds) for item in value]
    if value == "list":
        return mw.ops.make_list(init_length=2, elem_shape=[3], dtype="fp32", graph=graph)
    return value


def numbers(port):
    """Values for an input: the same at each call, in its range."""
    count, made = 1, []
    for extent in port.shape:
        count *= extent
    for i in range(count):
        value = port.low + (port.high - port.low) * (i * 7 % 11) / 11
        made.append(value if port.dtype == "fp32" else int(value))
    for extent in reversed(port.shape[1:]):
        made = [made[i : i + extent] for i in range(0, len(made), extent)]
    return [[bool(v) for v in row] for row in made] if port.dtype == "bool" else made


def statement(text, name):
    """The names of the arguments of the last statement of an operation in a MIL text."""
    found = re.findall(rf" = {name}\((.*)\)\[name", text)
    check(found, f"{name} is not in the text")
    return set(re.findall(r"(\w+) = ", re.sub(r"\([^()]*\)", "", found[-1])))


def test_every_operation_of_the_table_has_a_case():
    lacking = set(mw.ops.TABLE) - set(CASES) - set(APART)
    check(not lacking, f"no case for {sorted(lacking)}")
    check(not (set(CASES) | set(APART)) - set(mw.ops.TABLE), "a case of no operation")
    check(len(mw.ops.TABLE) >= 160 and set(dir(mw.ops)) == set(mw.ops.TABLE), "the list of operations")


def run_case(name, arguments, shapes):
    graph, feeds = mw.Graph(), {}
    values = {key: given(graph, value, feeds) for key, value in arguments.items()}
    made = getattr(mw.ops, name)(**values, graph=graph)
    results = made if isinstance(made, tuple) else (made,)
    check(len(results) == len(shapes), f"{name} has {len(results)} results")
    wanted = [result.shape if shape is None else shape for result, shape in zip(results, shapes)]
    check([result.shape for result in results] == wanted, f"{name}: {results}")
    for i, result in enumerate(results):
        if None in shapes:
            return
        result.output(f"y{i}")
    if "constexpr" not in name and not name.startswith("list_"):
        check(set(arguments) <= statement(graph.mil(), name), f"{name}: arguments that did not arrive: {graph.mil()}")
    out = mw.Program(graph, threads=1).run(**{key: numbers(port) for key, port in feeds.items()})
    for i, shape in enumerate(shapes):
        check(out[f"y{i}"].shape == shape, f"{name}: what it gives has the shape {out[f'y{i}'].shape}")


def test_every_operation_is_called_and_runs():
    """With the arguments of its case, which all arrive in the text of the program."""
    for name, rows in CASES.items():
        check(rows, f"{name} has no row")
        for arguments, shapes in rows:
            try:
                run_case(name, arguments, shapes)
            except mw.Error as error:
                raise AssertionError(f"{name}: {error}") from error


def computed(build, *feeds):
    """What a function of tensors a, b, .. gives for lists of numbers."""
    graph = mw.Graph()
    names = "abcd"[: len(feeds)]
    sources = [arrays.source(feed, "a feed", mw.F32) for feed in feeds]
    inputs = [graph.input(name, source.shape, source.dtype) for name, source in zip(names, sources)]
    build(*inputs).output("result")
    return mw.Program(graph, threads=1).run(**dict(zip(names, feeds)))["result"].tolist()


def test_operators_compute_what_python_computes():
    a, b = [1.5, -2.0, 3.0], [2.0, 4.0, 0.5]
    for call in (lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, lambda x, y: x % y,
                 lambda x, y: 2 - x, lambda x, y: 2.0 / y, lambda x, y: y**2, lambda x, y: -x, lambda x, y: abs(x),
                 lambda x, y: x // y, lambda x, y: 1 + x * 3, lambda x, y: x < y, lambda x, y: x >= y,
                 lambda x, y: 1.0 > x):
        check(computed(call, a, b) == [call(x, y) for x, y in zip(a, b)], f"{computed(call, a, b)}")
    check(computed(lambda x, y: x @ y, [[1.0, 2.0]], [[3.0], [4.0]]) == [[11.0]], "@")
    check(computed(lambda x: x + 1, [1, 2]) == [2, 3], "an integer beside integers")


def test_indices_take_what_they_take_of_lists():
    rows = [[float(10 * i + j) for j in range(4)] for i in range(3)]
    for call in (lambda x: x[1], lambda x: x[-1], lambda x: x[1:], lambda x: x[:-1], lambda x: x[::-1],
                 lambda x: x[0:3:2]):
        check(computed(call, rows) == call(rows), f"{computed(call, rows)}")
    check(computed(lambda x: x[..., 1], rows) == [1.0, 11.0, 21.0], "...")
    check(computed(lambda x: x[1, 2], rows) == 12.0, "two indices")
    check(computed(lambda x: x[:, 1:3], rows) == [row[1:3] for row in rows], "a part of each row")
    check(computed(lambda x: mw.ops.concat(list(x), axis=0), rows) == sum(rows, []), "one after the other")
    x = mw.Graph().input("x", (3, 4))
    for index in (3, -4, (0, 4), (0, 0, 0)):
        raises(IndexError, lambda i=index: x[i])
    raises(TypeError, lambda: x["a"], "whole number")
    raises(TypeError, lambda: x[x], "gather")
    raises(TypeError, lambda: x < 1.0 and x, "cond")
    check(x[-3].shape == (4,) and x[..., -1].shape == (3,), "the graph has no error")


def test_gradients_are_those_of_the_formula():
    graph = mw.Graph()
    x = graph.input("x", (3,))
    y = mw.ops.reduce_sum(x * x * x, axes=[0])
    (dx,) = mw.grad(y, [x])
    (ddx,) = mw.grad(mw.ops.reduce_sum(dx, axes=[0]), [x])
    (hv,) = mw.hvp(y, [x], [graph.constant([1.0, 0.0, 2.0])])
    for name, tensor in {"dx": dx, "ddx": ddx, "hv": hv}.items():
        tensor.output(name)
    out = mw.Program(graph).run(x=[1.0, 2.0, 3.0])
    check(out["dx"].tolist() == [3.0, 12.0, 27.0], "the first derivative")
    check(out["ddx"].tolist() == [6.0, 12.0, 18.0], "the second")
    check(out["hv"].tolist() == [6.0, 0.0, 36.0], "the Hessian times a vector")


def test_branches_and_loops_run():
    def loop(x):
        graph = x.graph
        _, y = mw.while_loop((graph.constant(0), x), lambda i, v: i < 5, lambda i, v: (i + 1, v * 2.0))
        return mw.cond(mw.ops.less(x=y[0], y=100.0), lambda: y + 1.0, lambda: y - 1.0)[0]

    check(computed(loop, [1.0]) == [33.0] and computed(loop, [10.0]) == [319.0], "while_loop and cond")


def test_states_and_labels_are_reached():
    text = """program(1.3) { func main<ios18>(state<tensor<fp16, [2]>> s, tensor<fp16, [2]> x) {
        tensor<fp16, [2]> t = read_state(input = s)[name = string("t")]; } -> (t); }"""
    graph = mw.Graph.parse_mil(text)
    state, x = graph.find("s"), graph.find("x")
    mw.ops.write_state(input=state, data=mw.ops.read_state(input=state) + x)
    check("write_state" in graph.mil() and graph.mil().count("read_state(") == 2, "states")
    graph = mw.Graph()
    label, shares = mw.classify(graph.input("p", (3,)), ["cat", "dog", "owl"])
    label.output("label"), shares.output("shares")
    out = mw.Program(graph).run(p=[0.1, 0.7, 0.2])
    check(out["label"].tolist() == 1 and abs(out["shares"].tolist()[1] - 0.7) < 1e-6, "classify")


def test_errors_are_exceptions_with_their_parts():
    graph = mw.Graph()
    x = graph.input("x", (2, 3))
    error = raises(mw.Error, lambda: x @ x, "matmul", "[2, 3]")
    check(error.status == mw.Status.MW_ERROR_SHAPE and error.operation == "matmul", f"{error.status} {error.operation}")
    check(raises(mw.Error, lambda: x + 1.0).message == error.message, "the first error of a graph stays")
    error = raises(mw.Error, lambda: mw.Graph.parse_mil("program(1.3)\n{ nonsense }"))
    check(error.status == mw.Status.MW_ERROR_FORMAT and error.line == 2 and error.column == 3, f"{error.line}")
    error = raises(mw.Error, lambda: mw.Tensors("/nowhere/w.safetensors"), "/nowhere/w.safetensors")
    check(error.status == mw.Status.MW_ERROR_FILE, "the status of a missing file")
    other = mw.Graph().input("y", (2, 3))
    raises(mw.Error, lambda: mw.ops.add(mw.Graph().input("x", (2, 3)), other), "another graph")


def test_wrong_names_and_numbers_are_refused_in_python():
    """Before C sees them, so that the graph has no error."""
    graph = mw.Graph()
    x = graph.input("x", (2, 3))
    raises(TypeError, lambda: mw.ops.relu(x, alpha=1.0), "no argument 'alpha'")
    raises(TypeError, lambda: mw.ops.relu(x, x), "by position")
    raises(TypeError, lambda: mw.ops.add(x, x, x=x), "twice")
    raises(TypeError, lambda: mw.ops.fill(shape=[2]), "graph=")
    raises(AttributeError, lambda: mw.ops.relux, "relux")
    raises(AttributeError, lambda: x.relux, "relux")
    raises(AttributeError, lambda: mw.nn.densest, "densest")
    raises(TypeError, lambda: mw.nn.dense(x, 2.5, "fc"), "whole number")
    raises(ValueError, lambda: mw.nn.dense(x, 2**63, "fc"), "out of range")
    raises(ValueError, lambda: mw.nn.dense(x, 2, "a\0b"), "zero byte")
    raises(TypeError, lambda: mw.nn.dense(3, 2, "fc"), "neither")
    raises(ValueError, lambda: graph.input("z", [1] * 9), "9 axes")
    raises(TypeError, lambda: mw.Program(graph, treads=2), "no option 'treads'", "threads")
    raises(TypeError, lambda: mw.Program(graph, allocator=1), "allocator")
    raises(TypeError, lambda: mw.optim.adam(1e-3, beta3=1.0), "beta3")
    raises(TypeError, lambda: mw.optim.adam(), "learning_rate")
    raises(ValueError, lambda: graph.constant([3000000000], mw.I32), "int32")
    raises(ValueError, lambda: graph.constant([1e300], mw.F32), "fp32")
    raises(ValueError, lambda: graph.constant([[1, 2], [3]]), "differ in length")
    raises(ValueError, lambda: graph.constant([16], mw.DType.MW_U4), "4 bits")
    raises(TypeError, lambda: graph.constant([1, "a"]), "str")
    raises(TypeError, lambda: graph.constant(object()), "no elements")
    graph.check()


def refused(program, value, kind, *words):
    raises(kind, lambda: program.write("x", value), "x", *words)


def test_buffers_are_taken_or_refused_by_type_and_shape():
    graph = mw.Graph()
    (graph.input("x", (2, 3)) * 2.0).output("y")
    program = mw.Program(graph)
    want = [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    flat = array.array("f", range(6))
    for value in (memoryview(flat).cast("B").cast("f", (2, 3)), [[0, 1, 2], [3, 4, 5]], ((0.0, 1, 2), (3, 4, 5))):
        check(program.run(x=value)["y"].tolist() == want, f"{value}")
    packed = memoryview(struct.pack("6d", *range(6))).cast("d", (2, 3))
    check(packed.readonly and program.run(x=packed)["y"].tolist() == want, "a buffer that cannot be written")
    before = program.read("x").tolist()
    refused(program, flat, ValueError, "[6]", "[2, 3]")
    refused(program, [[0.0, 1.0]], ValueError, "[1, 2]")
    refused(program, [[1.0, 2.0, 3.0], [4.0, 5.0]], ValueError)
    refused(program, memoryview(flat).cast("B").cast("c", (24,)), TypeError, "'c'")
    refused(program, memoryview(array.array("f", range(12)))[::2], ValueError, "dense")
    refused(program, "text", TypeError)
    refused(program, None, TypeError)
    refused(program, [[1j, 2, 3], [4, 5, 6]], TypeError, "complex")
    check(program.read("x").tolist() == before, "a refused value changed the port")


def test_arrays_of_numpy_are_taken_or_refused():
    need_numpy()
    graph = mw.Graph()
    (graph.input("x", (2, 3)) * 2.0).output("y")
    program = mw.Program(graph)
    values = numpy.arange(6).reshape(2, 3)
    for dtype in "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split():
        out = program.run(x=values.astype(dtype))["y"]
        check(numpy.array_equal(numpy.asarray(out), values * 2), dtype)
    check(program.run(x=values > 2)["y"].tolist() == [[0.0] * 3, [2.0] * 3], "bool")
    refused(program, values.T, ValueError, "dense")
    refused(program, numpy.arange(12.0).reshape(2, 6)[:, ::2], ValueError, "ascontiguousarray")
    refused(program, numpy.asfortranarray(values), ValueError, "ascontiguousarray")
    refused(program, values.astype(complex), TypeError, "c16")
    refused(program, values.astype(">f4"), TypeError, ">f4")
    refused(program, values.astype(object), TypeError)
    refused(program, numpy.array([["a", "b", "c"]] * 2), TypeError)
    refused(program, values.reshape(6), ValueError, "[6]", "[2, 3]")
    refused(program, numpy.zeros((2, 3), [("a", "f4")]), TypeError)


def test_arrays_go_to_numpy_without_a_copy():
    need_numpy()
    made = mw.Array((2, 3), mw.F32)
    shared = numpy.asarray(made)
    shared[1, 2] = 5.0
    check(made.tolist()[1][2] == 5.0 and made[1][2] == 5.0 and shared.shape == (2, 3), "one memory")
    view = numpy.asarray(mw.Array((4, 4), mw.I32)[2])
    del made
    check(shared[1, 2] == 5.0 and view.shape == (4,), "numpy keeps the memory")
    check(numpy.asarray(mw.Array((0, 3), mw.F32)).shape == (0, 3), "no elements")
    tensor = mw.Graph().input("x", (2,))
    check(isinstance(numpy.float32(2.0) * tensor, mw.Tensor), "a number of numpy beside a tensor")
    check((numpy.ones(2, "f4") + tensor).shape == (2,), "an array beside a tensor")


def test_arrays_without_numpy():
    half = mw.Array((2, 2), mw.F16, (mw.abi.c_uint16 * 4)(0x3C00, 0xC000, 0x3800, 0))
    check(half.tolist() == [[1.0, -2.0], [0.5, 0.0]] and half[0].tolist() == [1.0, -2.0], "fp16")
    check(float(mw.Array((), mw.F32)) == 0.0 and mw.Array((), mw.I32).tolist() == 0, "rank 0")
    check(mw.Array((2, 0), mw.F32).tolist() == [[], []] and len(mw.Array((0,), mw.F32)) == 0, "no elements")
    raises(IndexError, lambda: half[2])
    raises(TypeError, lambda: float(half), "4 elements")
    check([row.tolist() for row in half] == half.tolist(), "one after the other")


def test_texts_become_vectors():
    model = mw.text.Model(MODELS / "minilm")
    texts = ["a bad cab", "Bad CAB", "A bad cab"]
    made = model.embed(texts)
    check(made.shape == (3, 16), "a vector for each")
    near = [sum(a * b for a, b in zip(made[0].tolist(), row.tolist())) for row in made]
    check(abs(near[0] - 1) < 1e-5 and abs(near[2] - 1) < 1e-5 and near[1] < 0.99, "the same text is the nearest")
    first = model.embed(texts, pooling=mw.abi.mw_pooling.MW_POOLING_CLS)
    check(first.tolist() != made.tolist(), "another pooling")
    check(model.embed([]).tolist() == [], "no texts")
    raises(mw.Error, lambda: mw.text.Model(MODELS / "llama").embed(texts), "no encoder")
    raises(mw.Error, lambda: model.generate("a"), "encoder")
