#!/usr/bin/env python3
"""Writes a C file that calls every function of the public headers with every value of each parameter's list.

usage: make_calls.py OUTPUT

One function in C for each public one: it gets an index for each parameter and picks the value there. The first value of
a list is a good one; the others are NULL, an object that was destroyed, and numbers at the edges of their type. The rows
at the end say how long the lists are; test_calls.c goes through them."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import python_abi  # noqa: E402

# Of libraries of their own, or with prototypes of Apple's.
APART = {"millwright", "mpi", "ane_e5rt"}
FIRST = ["status", "types", "graph", "function"]

# What a row cannot do, and why.
LEFT_OUT = {
    "mw_thread_hooks_set": "the hooks start threads, and the ones here would start none",
}
# What a child of fork() can only destroy.
ENDS_AT_FORK = {"mw_program", "mw_trainer", "mw_model", "mw_predictor", "mw_communicator"}
# Returned without a transfer of ownership.
LENT = {"mw_trainer_program", "mw_tensor_graph", "mw_program_view"}

INTEGERS = {
    "int": ["1", "0", "-1", "INT_MAX", "INT_MIN"], "int32_t": ["1", "0", "-1", "INT32_MAX", "INT32_MIN"],
    "int64_t": ["1", "0", "-1", "INT64_MAX", "INT64_MIN"], "uint64_t": ["1", "0", "UINT64_MAX"],
    "uint32_t": ["1", "0", "UINT32_MAX"], "uint16_t": ["1", "0", "UINT16_MAX"], "size_t": ["1", "0", "SIZE_MAX"],
    "float": ["1", "0", "-1", "NAN", "INFINITY"], "double": ["1", "0", "-1", "NAN", "INFINITY"],
    "bool": ["false", "true"], "unsigned": ["1", "0", "UINT_MAX"],
}
BY_VALUE = {
    "mw_shape": ["MW_SHAPE(2, 3)", "(mw_shape){0}", "(mw_shape){.rank = 99}", "(mw_shape){.rank = -1}",
                 "MW_SHAPE(INT64_MAX, INT64_MAX)", "MW_SHAPE(-7)"],
    "mw_axes": ["MW_AXES(0)", "(mw_axes){0}", "(mw_axes){.count = 99}", "(mw_axes){.count = -1}", "MW_AXES(INT_MIN)"],
    "mw_optimizer": ["mw_sgd(0.1f)", "(mw_optimizer){{0}}", "mw_adam(NAN)"],
    "mw_init": ["mw_init_constant(1)", "(mw_init){{0}}", "mw_init_constant(NAN)"],
}
STRINGS = ['"x"', "NULL", '""', '"no/such/file"', '"a\\n\\xff%s"']
TENSORS = ["now.x", "NULL", "gone.x", "now.labels", "now.image"]


def read_headers():
    found = [name for name in map(python_abi.name_of, sorted(python_abi.HEADERS.rglob("*.h"))) if name not in APART]
    return python_abi.Headers(FIRST + [name for name in found if name not in FIRST])


def plain(kind):
    return " ".join(re.sub(r"\b(const|struct|enum)\b|\*", " ", kind).split())


class Writer:
    def __init__(self, headers):
        self.headers, self.out = headers, []
        self.opaque = set(headers.opaque()) - {"mw_tensor"}

    # ---- the values of a type ----

    def values(self, kind, name):
        """(values, what they are: "array", "number" or "")."""
        base, stars = plain(kind), kind.count("*")
        base = self.headers.aliases.get(base, base)
        if base in self.headers.callbacks:
            return [f"dummy_{base}", "NULL"], ""
        if stars == 0:
            return self.by_value(base)
        if stars == 1 and base in self.opaque:
            return [f"now.{base}", "NULL", f"gone.{base}"], ""
        if stars == 1 and base == "mw_tensor":
            return TENSORS, ""
        if stars == 1 and base == "char" and "const" in kind:
            return STRINGS, ""
        if stars == 1 and base == "mw_error":
            return ["&failure", "NULL"], ""
        handed_back = base == "char" and "const" not in kind
        if (base == "void" and name == "user") or (base == "char" and stars == 1) or handed_back:  # or taken over
            return ["NULL"], ""
        return self.by_address(kind, base, stars), "array"

    def by_value(self, base):
        if base in self.headers.enums:
            members = self.headers.enums[base].values()
            return [f"({base}){v}" for v in (min(members), max(members), max(members) + 1, -1)], ""
        if base in INTEGERS:
            return INTEGERS[base], "number" if base in ("size_t", "int", "int64_t") else ""
        if base in BY_VALUE:
            return BY_VALUE[base], ""
        return [*self.defaults(base), f"({base}){self.zeros(base)}"], ""

    def by_address(self, kind, base, stars):
        """Pointers to one thing or to several; room for LENGTH of them."""
        if base in ("mw_batch", "mw_column") and stars == 1:
            return [f"now.{base}", f"({base}[LENGTH]){{{{0}}}}", "NULL"]
        if stars == 1 and base in self.headers.structs:
            made = [f"({base}[LENGTH]){{{text}}}" for text in self.defaults(base)]
            return [*made, f"({base}[LENGTH]){{{self.zeros(base)}}}", "NULL"]
        if stars == 2 and (base == "mw_tensor" or base in self.opaque):
            array, name = f"({kind.strip()[:-1].strip()}[LENGTH])", "x" if base == "mw_tensor" else base
            return [f"{array}{{now.{name}}}", "NULL", f"{array}{{gone.{name}}}", f"{array}{{NULL}}"]
        if stars == 2 and base == "char":
            return ['(const char *[LENGTH]){"x"}', "NULL", "(const char *[LENGTH]){NULL}"]
        return ["memory(0)", "NULL"]

    def zeros(self, base):
        """Of a struct; one that begins with an array has braces for it."""
        suffix = self.headers.structs[base][0][2] if base in self.headers.structs else ""
        return "{{0}}" if isinstance(suffix, str) and suffix.startswith("[") else "{0}"

    def defaults(self, base):
        """What <noun>_defaults returns, with good values and then with destroyed objects."""
        maker = self.headers.functions.get(f"{base.removesuffix('_options')}_defaults")
        if maker is None or plain(maker[0]) != base:
            return []
        name = f"{base.removesuffix('_options')}_defaults"
        lists = [self.values(kind, parameter)[0] for kind, parameter in maker[1]]
        made = [f"{name}({', '.join(values[0] for values in lists)})"]
        if any("gone." in value for values in lists for value in values):
            dead = [next((v for v in values if "gone." in v), values[0]) for values in lists]
            made.append(f"{name}({', '.join(dead)})")
        return made

    # ---- callbacks ----

    def dummies(self):
        called = {plain(kind) for _, parameters in self.headers.functions.values() for kind, _ in parameters}
        for name, (result, parameters) in self.headers.callbacks.items():
            if name not in called:
                continue
            declared = ", ".join(f"{kind} {parameter}" for kind, parameter in parameters) or "void"
            unused = " ".join(f"(void){parameter};" for _, parameter in parameters)
            given = "" if result == "void" else f" return ({result}){'0' if '*' in result else '{0}'};"
            self.out.append(f"static {result} dummy_{name}({declared})\n{{\n    {unused}{given}\n}}")

    # ---- functions ----

    def release(self, name, result):
        base, stars = plain(result), result.count("*")
        if name in LENT or "const" in result or stars != 1:
            return None
        if base == "char":
            return "mw_string_free(result)"
        closing = [f"{base}_{verb}" for verb in ("destroy", "close") if f"{base}_{verb}" in self.headers.functions]
        return f"if (result != now.{base})\n        {closing[0]}(result)" if closing and base in self.opaque else None

    def function(self, name):
        result, parameters = self.headers.functions[name]
        lines, marks, lists = [], [], []
        for at, (kind, parameter) in enumerate(parameters):
            values, mark = self.values(kind, parameter)
            base = kind.replace("const *", "*").replace("const ", "", 1) if mark == "array" else kind
            lines.append(f"    {self.declared(kind, base)} a{at}[] = {{{', '.join(values)}}};")
            marks.append(mark)
            lists.append(values)
        call = f"{name}({', '.join(f'a{i}[v[{i}]]' for i in range(len(parameters)))})"
        release = self.release(name, result)
        body = f"    {result} result = {call};\n    {release};" if release else \
            f"    {call};" if result == "void" else f"    (void){call};"
        self.out.append(f"static void call_{name}(const int *v)\n{{\n" + "\n".join([*lines, "    (void)v;", body]) + "\n}")
        return self.row(name, lists, marks)

    def declared(self, kind, base):
        kind = kind.strip()
        return kind[len("const "):] if kind.startswith("const ") and "*" not in kind else kind

    def row(self, name, lists, marks):
        """How long the lists are, which values are NULL, destroyed or the largest number, and what they are."""
        def find(values, wanted):
            return next((i for i, value in enumerate(values) if wanted(value)), -1)
        cells = []
        for values, mark in zip(lists, marks):
            largest = find(values, lambda v: v in ("SIZE_MAX", "INT_MAX", "INT64_MAX")) if mark == "number" else -1
            dead = find(values, lambda v: "gone." in v)
            cells.append(f"{{{len(values)}, {find(values, lambda v: v == 'NULL')}, {dead}, {largest}, "
                         f"{int(mark == 'array')}, {int('&failure' in values)}, "
                         f"{int(values[0].removeprefix('now.') in ENDS_AT_FORK)}}}")
        return f'    {{"{name}", call_{name}, {len(cells)}, {{{", ".join(cells) or "{0}"}}}}},'

    def write(self):
        names = [name for name in self.headers.functions if name not in LEFT_OUT]
        self.out.append("/* Written by make_calls.py from include/millwright. */\n#include \"calls.h\"\n\n"
                        "#include <limits.h>\n#include <math.h>\n\nenum { LENGTH = 64 };\n")
        self.dummies()
        rows = [self.function(name) for name in names]
        self.out.append("const calls_row calls_rows[] = {\n" + "\n".join(rows) + "\n};")
        self.out.append("const size_t calls_row_count = sizeof calls_rows / sizeof calls_rows[0];\n")
        return "\n\n".join(self.out)


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(Writer(read_headers()).write(), encoding="utf-8")
