#!/usr/bin/env python3
"""Writes what Python's constructors say of themselves, from the public headers: examples/python/millwright/nn.pyi, their
types, and documents.py, their descriptions. With --check it only says whether the files are what would be written."""
import re
import sys

import interface
import python_abi

FOLDER = python_abi.TARGET.parent
STUB, DOCUMENTS = FOLDER / "nn.pyi", FOLDER / "documents.py"
# As nn.py has them; tests/client/bindings holds both to each other.
LEAVES = {"input", "parameter", "state", "constant", "scalar", "text", "state_assign", "name", "output", "custom_vjp",
          "graph_find", "graph_input_at", "graph_output_at"}
TENSOR, LIST, GRAPH = "mw_tensor *", "mw_tensor *const *", "mw_graph *"
PLAIN = {
    "bool": "bool", "float": "float", "double": "float", "const char *": "str", "mw_shape": "Shape", "mw_axes": "Axes",
    "mw_dtype": "Type", TENSOR: "Tensor", LIST: "Sequence[Tensor]", GRAPH: "Graph",
}

STUB_HEAD = '''"""Layers, losses and all other constructors of the C library, by their names without mw_.

Written by tools/python_stubs.py from include/millwright; not to be edited."""
from typing import Any, Optional, Sequence, Tuple, Union

from .arrays import DType
from .graph import Graph, Tensor

Shape = Union[int, Sequence[Optional[int]]]
Axes = Union[int, Sequence[int]]
Type = Union[DType, str, int]
Member = Union[str, int]  # of an enum, by its name or value

'''
DOCUMENTS_HEAD = '''"""What the headers say of the constructors, by their names without mw_.

Written by tools/python_stubs.py from include/millwright; not to be edited."""
DOCUMENTS = {
'''


class Constructors:
    def __init__(self):
        self.headers = python_abi.Headers(python_abi.chosen())
        functions = self.headers.functions
        self.options = {result: given for name, (result, given) in functions.items()
                        if name.endswith("_defaults") and not any("*" in kind and "char" not in kind for kind, _ in given)}
        self.found = {name[3:]: parts for name, parts in functions.items() if self.is_one(name, *parts)}

    def options_of(self, kind):
        """The struct of options that a parameter points to."""
        match = re.fullmatch(r"const (mw_\w+) \*", kind.strip())
        return match[1] if match and match[1] in self.options else None

    def is_one(self, name, result, parameters):
        if result.strip() not in (TENSOR, "mw_recurrent") or name[3:] in LEAVES or not parameters:
            return False
        return parameters[0][0].strip() in (TENSOR, LIST, GRAPH) and all(self.is_safe(kind) for kind, _ in parameters)

    def is_safe(self, kind):
        kind = kind.strip()
        if kind in PLAIN or self.options_of(kind):
            return True
        return "*" not in kind and kind not in self.headers.callbacks

    def type_of(self, kind):
        kind = kind.strip()
        if kind in PLAIN:
            return PLAIN[kind]
        if self.headers.enum_of(kind):
            return "Member"
        if kind in self.headers.structs:
            return "Any"
        return "int"

    def signature(self, name):
        result, parameters = self.found[name]
        shown, options, count, wanted = [], [], False, []
        for kind, parameter in parameters:
            if count:
                count = False
            elif self.options_of(kind):
                wanted = self.options[self.options_of(kind)]
                options = self.fields(self.options_of(kind), {parameter for _, parameter in [*parameters, *wanted]})
            else:
                shown.append(f"{parameter}: {self.type_of(kind)}")
                count = kind.strip() == LIST
        given = {parameter for _, parameter in parameters}
        shown += [f"{parameter}: {self.type_of(kind)}" for kind, parameter in wanted if parameter not in given]
        star = ["*"] if options else []
        returned = "Tensor" if result.strip() == TENSOR else "Tuple[Tensor, ...]"
        return f"def {name}(", [*shown, *star, *options], f") -> {returned}:"

    def fields(self, struct, taken):
        """Options as keywords; what no text or number can be is left out."""
        found = []
        for kind, field, suffix in self.headers.structs[struct]:
            if field == "struct_size" or isinstance(suffix, list) or field in taken or "*" in kind and "char" not in kind:
                continue
            of = self.type_of(kind)
            found.append(f"{field}: {f'Sequence[{of}]' if suffix else of} = ...")
        return found


def blocks():
    """{name: what its header says}, in lines."""
    found, before = {}, ""
    for path in sorted(interface.HEADERS.glob("**/*.h")):
        for match in interface.FUNCTION.finditer(path.read_text(encoding="utf-8")):
            before = cleaned(match.group("block")) if match.group("block") else before
            found[match.group("name")] = before
    return found


def cleaned(block):
    lines = [re.sub(r"^\s*\*? {0,2}", "", line).rstrip() for line in block.strip().splitlines()]
    return "\n".join(lines).strip()


def stub(constructors, documents):
    out = [STUB_HEAD]
    for name in constructors.found:
        opening, items, closing = constructors.signature(name)
        sentence = interface.first_sentence(documents.get(f"mw_{name}", "")).replace("\\", "\\\\").replace('"', "'")
        line = opening + ", ".join(items) + closing
        if len(line) > 118:
            line = opening + "\n" + "".join(f"    {item},\n" for item in items) + closing
        out.append(f'{line}\n    """{sentence}."""\n')
    return "\n".join(out)


def written(constructors, documents):
    out = [DOCUMENTS_HEAD]
    for name in constructors.found:
        text = documents.get(f"mw_{name}", "").replace("\\", "\\\\").replace('"""', "'''")
        out.append(f'    "{name}": """{text}\n""",\n')
    return "".join(out) + "}\n"


def main():
    constructors, documents = Constructors(), blocks()
    status = 0
    for path, text in {STUB: stub(constructors, documents), DOCUMENTS: written(constructors, documents)}.items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(python_abi.ROOT)} is not what the headers say: run tools/python_stubs.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
