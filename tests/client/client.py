"""A client in Python of the ane_e5rt_* ABI: the calls that a ctypes bridge over it, and a trainer over that, make.

Usage: client.py LIBRARY, the path of libmillwright. Needs nothing but Python. Prints "N passed, N failed".
source  the reference of e5rt dispatch of ANEForge, section 4: names, argument types, results
"""
import ctypes
import math
import os
import struct
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint16, c_uint64, c_void_p

HEADER = (
    'program(1.3)\n[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3520.4.1"}, '
    '{"coremlc-version", "3520.5.1"}})]\n{\n'
)
NAMES, SIZES, HALVES = POINTER(c_char_p), POINTER(c_size_t), POINTER(c_uint16)
PORTS = [c_void_p, c_char_p, HALVES, c_size_t]
PORTS_OF = [c_void_p, c_size_t, c_char_p, HALVES, c_size_t]
VIEW = [c_void_p, c_char_p, POINTER(c_void_p), SIZES]
CALLS = {
    "program_compile": (c_void_p, [c_char_p, c_char_p, c_uint64, NAMES, SIZES, c_size_t, NAMES, SIZES, c_size_t]),
    "program_set_input_fp16": (c_int, PORTS),
    "program_get_output_fp16": (c_int, PORTS),
    "program_execute": (c_int, [c_void_p]),
    "program_release": (None, [c_void_p]),
    "program_input_buffer": (c_int, VIEW),
    "program_output_buffer": (c_int, VIEW),
    "program_share_buffer": (c_int, [c_void_p, c_size_t, c_char_p, c_size_t, c_char_p]),
    "program_add_op": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, c_char_p, c_size_t]),
    "program_set_input_fp16_op": (c_int, PORTS_OF),
    "program_get_output_fp16_op": (c_int, PORTS_OF),
    "program_execute_multi": (c_int, [c_void_p]),
    "program_get_op_count": (c_size_t, [c_void_p]),
    "program_chain_ops": (c_int, [c_void_p, c_size_t, c_size_t, c_char_p]),
    "program_get_chain_event_last_signaled": (c_int, [c_void_p, c_size_t, POINTER(c_uint64)]),
    "program_execute_async": (c_int, [c_void_p]),
    "program_wait_for_completion": (c_int, [c_void_p]),
    "program_get_final_event_signaled": (c_int, [c_void_p, POINTER(c_uint64), POINTER(c_uint64)]),
    "compile_check": (c_int, [c_char_p, c_char_p, c_uint64, c_char_p]),
    "last_error": (c_char_p, []),
    "set_quiet": (None, [c_int]),
}


class Library:
    """The functions by their names without "ane_e5rt_"."""

    def __init__(self, path):
        loaded = ctypes.CDLL(path)
        for name, (result, arguments) in CALLS.items():
            call = getattr(loaded, "ane_e5rt_" + name)
            call.restype, call.argtypes = result, arguments
            setattr(self, name, call)


def halves(values):
    """Numbers as fp16, rounded to nearest."""
    data = struct.pack(f"<{len(values)}e", *values)
    return (c_uint16 * len(values)).from_buffer_copy(data)


def numbers(data):
    return list(struct.unpack(f"<{len(data)}e", bytes(data)))


def count_of(shape):
    return math.prod(shape)


class Program:
    """One compiled text; inputs and outputs are dictionaries of shapes."""

    def __init__(self, library, folder, text, inputs, outputs, mask=4):
        self.library, self.shapes = library, {**inputs, **outputs}
        path = os.path.join(folder, "model.mil")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        self.handle = library.program_compile(
            path.encode(), folder.encode(), mask, *self.ports(inputs), *self.ports(outputs)
        )
        if not self.handle:
            raise RuntimeError(library.last_error().decode())

    @staticmethod
    def ports(shapes):
        names = (c_char_p * len(shapes))(*[name.encode() for name in shapes])
        sizes = (c_size_t * len(shapes))(*[2 * count_of(shape) for shape in shapes.values()])
        return names, sizes, len(shapes)

    def set_input(self, name, values):
        return self.library.program_set_input_fp16(self.handle, name.encode(), halves(values), len(values))

    def read_output(self, name):
        data = (c_uint16 * count_of(self.shapes[name]))()
        if self.library.program_get_output_fp16(self.handle, name.encode(), data, len(data)) != 0:
            raise RuntimeError(self.library.last_error().decode())
        return numbers(data)

    def view(self, name, is_output):
        """The port's memory, as 16-bit elements."""
        call = self.library.program_output_buffer if is_output else self.library.program_input_buffer
        address, size = c_void_p(), c_size_t()
        if call(self.handle, name.encode(), byref(address), byref(size)) != 0:
            raise RuntimeError(self.library.last_error().decode())
        return (c_uint16 * (size.value // 2)).from_address(address.value)

    def share(self, output, name):
        return self.library.program_share_buffer(self.handle, 0, output.encode(), 0, name.encode())

    def execute(self):
        return self.library.program_execute(self.handle)

    def release(self):
        self.library.program_release(self.handle)
        self.handle = None


# ---- texts ----


def tensor(shape):
    return f"tensor<fp16, {list(shape)}>"


def statement(name, shape, call):
    return f'        {tensor(shape)} {name} = {call}[name = string("{name}")];\n'


def function(inputs, statements, outputs):
    arguments = ", ".join(f"{tensor(shape)} {name}" for name, shape in inputs.items())
    body = "".join(statement(*parts) for parts in statements)
    return HEADER + f"    func main<ios18>({arguments}) {{\n{body}    }} -> ({', '.join(outputs)});\n}}\n"


def scalar(value):
    return f"fp16({float(value).hex()})"


def plus_one():
    shape = (1, 8)
    return function({"t0": shape}, [("t1", shape, f"add(x = t0, y = {scalar(1)})")], ["t1"])


# x [4, 3], w [3, 2], t [4, 2]; Adam on w for the mean of (x w - t)^2, all state resident.
B, K, N = 4, 3, 2
BETA1, BETA2, EPSILON = 0.9, 0.99, 2.0**-12
STATE = {"w": (K, N), "m": (K, N), "v": (K, N)}
FEEDS = {"x": (B, K), "t": (B, N), "rate": (1, 1)}


def adam_text():
    p = (K, N)
    no = "transpose_x = bool(false), transpose_y = bool(false)"
    return function(
        {**FEEDS, **STATE},
        [
            ("y", (B, N), f"matmul({no}, x = x, y = w)"),
            ("d", (B, N), "sub(x = y, y = t)"),
            ("xt", (K, B), "transpose(perm = tensor<int32, [2]>([1, 0]), x = x)"),
            ("s", p, f"matmul({no}, x = xt, y = d)"),
            ("g", p, f"mul(x = s, y = {scalar(2 / (B * N))})"),
            ("m1", p, f"mul(x = m, y = {scalar(BETA1)})"),
            ("m2", p, f"mul(x = g, y = {scalar(1 - BETA1)})"),
            ("m_new", p, "add(x = m1, y = m2)"),
            ("g2", p, "mul(x = g, y = g)"),
            ("v1", p, f"mul(x = v, y = {scalar(BETA2)})"),
            ("v2", p, f"mul(x = g2, y = {scalar(1 - BETA2)})"),
            ("v_new", p, "add(x = v1, y = v2)"),
            ("root", p, "sqrt(x = v_new)"),
            ("below", p, f"add(x = root, y = {scalar(EPSILON)})"),
            ("above", p, "mul(x = rate, y = m_new)"),
            ("step", p, "real_div(x = above, y = below)"),
            ("w_new", p, "sub(x = w, y = step)"),
        ],
        ["w_new", "m_new", "v_new"],
    )


def adam_reference(x, t, w, rates):
    """The same in double precision."""
    m, v = [0.0] * (K * N), [0.0] * (K * N)
    for rate in rates:
        d = [sum(x[b * K + k] * w[k * N + n] for k in range(K)) - t[b * N + n] for b in range(B) for n in range(N)]
        for k in range(K):
            for n in range(N):
                i = k * N + n
                g = sum(x[b * K + k] * d[b * N + n] for b in range(B)) * 2 / (B * N)
                m[i] = BETA1 * m[i] + (1 - BETA1) * g
                v[i] = BETA2 * v[i] + (1 - BETA2) * g * g
                w[i] -= rate * m[i] / (math.sqrt(v[i]) + EPSILON)
    return w


# ---- tests ----


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def test_a_program_runs_many_times(library, folder):
    """Feed, run and read, by copies and by the ports' own memory."""
    program = Program(library, folder, plus_one(), {"t0": (1, 8)}, {"t1": (1, 8)})
    for first in range(3):
        check(program.set_input("t0", [first + i for i in range(8)]) == 0, "set_input")
        check(program.execute() == 0, "execute")
        check(program.read_output("t1") == [first + i + 1 for i in range(8)], "values")
    fed, made = program.view("t0", False), program.view("t1", True)
    fed[:8] = halves([10.0] * 8)[:]
    check(program.execute() == 0 and numbers((c_uint16 * 8)(*made[:8])) == [11.0] * 8, "views")
    program.release()


def test_both_masks_compute(library, folder):
    for mask in (1, 4):
        program = Program(library, folder, plus_one(), {"t0": (1, 8)}, {"t1": (1, 8)}, mask)
        program.set_input("t0", [3.0] * 8)
        check(program.execute() == 0 and program.read_output("t1") == [4.0] * 8, f"mask {mask}")
        program.release()


def test_long_reads_end_with_the_port(library, folder):
    program = Program(library, folder, plus_one(), {"t0": (1, 8)}, {"t1": (1, 8)})
    data = (c_uint16 * 10)(*[7] * 10)
    check(program.execute() == 0, "execute")
    check(library.program_get_output_fp16(program.handle, b"t1", data, 10) == 0, "a long read succeeds")
    check(numbers(data)[:8] == [1.0] * 8 and data[8] == data[9] == 7, "and leaves the rest alone")
    check(program.set_input("t0", [1.0] * 9) == -1, "a long write does not")
    program.release()


def test_a_resident_trainer(library, folder):
    """Every state output bound to its input: the host feeds the batch and the rate, and reads w at the end."""
    outputs = {name + "_new": shape for name, shape in STATE.items()}
    program = Program(library, folder, adam_text(), {**FEEDS, **STATE}, outputs)
    for name in STATE:
        check(program.share(name + "_new", name) == 0, "share_buffer")
    x = [0.5, -1.0, 0.25, 1.0, 0.5, -0.5, -0.25, 0.75, 1.0, 1.5, -0.5, 0.0]
    target, start = [1.0, 0.5, -1.0, 0.25, 0.5, -0.5, 2.0, 1.0], [0.1, -0.2, 0.3, 0.0, -0.1, 0.2]
    program.set_input("w", start)
    for name in ("m", "v"):
        program.set_input(name, [0.0] * (K * N))
    rates = [0.05 * math.sqrt(1 - BETA2**i) / (1 - BETA1**i) for i in range(1, 101)]
    program.set_input("x", x)
    program.set_input("t", target)
    for rate in rates:
        program.set_input("rate", [rate])
        check(program.execute() == 0, "execute")
    wanted = adam_reference(x, target, numbers(halves(start)), rates)
    got = program.read_output("w_new")
    # 100 steps round w to 11 bits each, which is 5e-4 near 1; they add up to less than 0.02.
    worst = max(abs(a - b) for a, b in zip(got, wanted))
    check(worst < 0.02, f"weights differ by {worst} from those of double precision")
    check(max(abs(a - b) for a, b in zip(got, start)) > 0.2, "it has not moved")
    program.release()


def test_shares_are_refused_once_it_has_run(library, folder):
    program = Program(library, folder, plus_one(), {"t0": (1, 8)}, {"t1": (1, 8)})
    check(program.share("t9", "t0") == -1 and program.share("t1", "t9") == -1, "unknown ports")
    check(library.program_share_buffer(program.handle, 1, b"t1", 0, b"t0") == -1, "unknown operation")
    check(program.execute() == 0 and program.share("t1", "t0") == -1, "after execute")
    check(b"has run" in library.last_error(), "the reason")
    program.release()


def test_many_operations_in_one_dispatch(library, folder):
    """K copies of a step, each handing its buffer to the next, advance a state by K."""
    program = Program(library, folder, plus_one(), {"t0": (1, 8)}, {"t1": (1, 8)})
    path, handle = os.path.join(folder, "model.mil").encode(), program.handle
    for i in range(1, 100):
        check(library.program_add_op(handle, path, b"t0", 16, b"t1", 16) == i, "add_op")
        check(library.program_share_buffer(handle, i - 1, b"t1", i, b"t0") == 0, "share_buffer")
        check(library.program_chain_ops(handle, i - 1, i, b"chain") == 0, "chain_ops")
    check(library.program_get_op_count(handle) == 100, "get_op_count")
    check(library.program_set_input_fp16_op(handle, 0, b"t0", halves([5.0] * 8), 8) == 0, "set_input_op")
    check(library.program_execute_multi(handle) == 0, "execute_multi")
    data, signaled = (c_uint16 * 8)(), c_uint64(9)
    check(library.program_get_output_fp16_op(handle, 99, b"t1", data, 8) == 0, "get_output_op")
    check(numbers(data) == [105.0] * 8, "the state")
    check(library.program_get_chain_event_last_signaled(handle, 99, byref(signaled)) == 0, "the event")
    check(signaled.value == 0, "which a synchronous run does not signal")
    program.release()


def test_runs_that_are_not_waited_for(library, folder):
    program = Program(library, folder, plus_one(), {"t0": (1, 8)}, {"t1": (1, 8)})
    handle, before, after = program.handle, c_uint64(9), c_uint64(9)
    check(library.program_wait_for_completion(handle) == -2, "nothing was submitted")
    check(program.share("t1", "t0") == 0, "share_buffer")
    for _ in range(20):
        check(library.program_execute_async(handle) == 0, "execute_async")
    check(library.program_wait_for_completion(handle) == 0, "wait_for_completion")
    check(program.read_output("t1") == [20.0] * 8, "the state")
    check(library.program_get_final_event_signaled(handle, byref(before), byref(after)) == 0, "the event")
    check(before.value < after.value == 20, "which counts the runs")
    program.release()


def test_compile_check(library, folder):
    path = os.path.join(folder, "model.mil")
    with open(path, "w", encoding="ascii") as file:
        file.write(plus_one())
    check(library.compile_check(path.encode(), folder.encode(), 4, None) == 0, "it compiles")
    check(library.compile_check(path.encode(), folder.encode(), 4, b"TargetArchitecture=h13") == 0, "also for h13")
    check(library.compile_check(b"/none/model.mil", folder.encode(), 4, None) != 0, "no file")


def test_failures_are_null_and_minus_one(library, folder):
    try:
        Program(library, folder, "program(1.3) { }", {"t0": (1, 8)}, {"t1": (1, 8)})
        raise AssertionError("a text that is none was compiled")
    except RuntimeError as error:
        check(str(error), "a reason")
    check(library.program_execute(None) == -1 and library.program_get_op_count(None) == 0, "NULL")
    library.program_release(None)


def main():
    library = Library(sys.argv[1])
    library.set_quiet(1)
    tests = [(name, call) for name, call in globals().items() if name.startswith("test_")]
    failed = 0
    for name, call in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                call(library, folder)
            except (AssertionError, RuntimeError) as error:
                failed += 1
                print(f"{name}: {error} ({library.last_error().decode()})")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
