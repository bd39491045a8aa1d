#!/usr/bin/env python3
"""Writes include/millwright/millwright.hpp, the public interface for C++17: objects that own what they are made of, errors
as exceptions, and every function of the headers without its prefix. With --check it only says whether the file is what
would be written. What stands at its top is tools/cpp_header.hpp."""
import pathlib
import re
import sys

import interface
import python_abi

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "include" / "millwright" / "millwright.hpp"
HEAD = ROOT / "tools" / "cpp_header.hpp"
# Headers of the compiler of the ANE, of MPI and of e5rt are for C.
LEFT_OUT = {"chip", "mpi", "e5rt"}
KEYWORDS = {"export", "and", "or", "not", "xor", "operator", "default", "delete", "new", "union", "template", "this"}
# Lists of tensors that results go to, one for each of the list of this name.
RESULTS_OF = {"mw_grad": "x", "mw_backward": "x", "mw_vjp": "x", "mw_jvp": "y", "mw_hvp": "x"}
LIST, HANDLE = "mw_tensor *const *", re.compile(r"(const )?(mw_\w+) \*")


class Interface:
    """What the headers declare, as C++ sees it."""

    def __init__(self):
        names = [name for name in python_abi.every() if interface.library_of(name) not in LEFT_OUT]
        self.headers = python_abi.Headers(names)
        self.documents = {name: sentence for _, name, sentence in interface.functions()}
        functions = self.headers.functions
        self.owned = sorted(
            {name[: -len("_destroy")] for name in functions if name.endswith("_destroy")} - set(self.headers.structs))
        self.members = {noun: [] for noun in self.owned}
        self.free = []
        for name, (result, parameters) in functions.items():
            if name.endswith("_destroy") and self.noun_of(name) or name in ("mw_string_free",):
                continue
            one = Function(self, name, result, parameters)
            (self.members[one.noun] if one.noun else self.free).append(one)

    def noun_of(self, name):
        """The longest name of an object that the function's name begins with."""
        return max((noun for noun in self.owned if name.startswith(noun + "_")), key=len, default=None)


class Function:
    def __init__(self, whole, name, result, parameters):
        self.name, self.noun = name, whole.noun_of(name)
        self.document = whole.documents.get(name, "")
        self.throws = bool(parameters) and parameters[-1] == ("mw_error *", "err")
        parameters = parameters[:-1] if self.throws else list(parameters)
        self.self_type = None
        if self.noun and parameters:
            match = HANDLE.fullmatch(parameters[0][0])
            if match and match[2] == self.noun:
                self.self_type, parameters = parameters[0][0], parameters[1:]
        self.is_static = self.noun is not None and self.self_type is None
        short = name[len(self.noun) + 1:] if self.noun else name[3:]
        self.short = short + "_" if short in KEYWORDS else short
        self.read_result(whole, result)
        self.read_parameters(parameters)

    def read_result(self, whole, result):
        match = HANDLE.fullmatch(result)
        self.raw_result = result.strip()
        self.result, self.wrap = self.raw_result, "{}"
        if match and not match[1] and match[2] in whole.owned and self.throws:
            self.result = match[2][3:]
            self.wrap = f"{self.result}({{}})"
        elif self.raw_result == "mw_tensor *":
            self.result = "tensor"
        elif self.raw_result == "char *":
            self.result, self.wrap = "std::string", "detail::taken({})"
        elif self.raw_result == "mw_status" and self.throws:
            self.result = "void"

    def read_parameters(self, parameters):
        """[(declaration, what is handed to C)]; a list of tensors brings its count."""
        self.shown, self.handed, self.results, open_lists = [], [], None, []
        for kind, name in parameters:
            if kind.strip() == LIST.strip():
                self.shown.append((f"const tensor_list &{name}", ""))
                self.handed.append(f"{name}.data()")
                open_lists.append(name)
            elif kind.strip() == "size_t" and open_lists and re.fullmatch(r"(\w+_)?count", name):
                self.handed.append(f"detail::count({', '.join(open_lists)})")
                open_lists = []
            elif kind.strip() == "mw_tensor **" and self.name in RESULTS_OF:
                self.results = RESULTS_OF[self.name]
                self.handed.append("made.data()")
            else:
                self.shown.append((self.declaration(kind, name), self.default_of(kind)))
                self.handed.append(name + "_" if name in KEYWORDS else name)
        if self.results:
            self.result = "std::vector<tensor>"

    @staticmethod
    def declaration(kind, name):
        kind = {"const char *": "zstring ", "mw_tensor *": "tensor "}.get(kind.strip(), kind)
        kind = kind if kind.endswith(("*", " ")) else kind + " "
        return kind + (name + "_" if name in KEYWORDS else name)

    @staticmethod
    def default_of(kind):
        return " = nullptr" if re.fullmatch(r"const mw_(\w+_options|allocator|table_form) \*", kind.strip()) else ""

    def parameters(self, with_defaults):
        """As they are declared; what can be left out is at the end."""
        texts, last = [], True
        for declaration, default in reversed(self.shown):
            last = last and bool(default)
            texts.append(declaration + (default if with_defaults and last else ""))
        return ", ".join(reversed(texts))

    def call(self):
        handed = (["handle::get()"] if self.self_type else []) + self.handed + (["&err.it"] if self.throws else [])
        return f"{self.name}({', '.join(handed)})"

    def body(self):
        lines = ["detail::call err;"] if self.throws else []
        if self.results:
            lines.append(f"std::vector<mw_tensor *> made({self.results}.size());")
            lines += [f"{self.call()};", "err.check();", "return detail::tensors_of(made);"]
        elif self.result == "void":
            lines += [f"{self.call()};"] + (["err.check();"] if self.throws else [])
        elif not self.throws:
            lines.append(f"return {self.wrap.format(self.call())};")
        elif self.result == "std::string":
            lines += [f"char *const made = {self.call()};", "err.check();", "return detail::taken(made);"]
        elif self.wrap != "{}":
            lines += [f"{self.result} made({self.call()});", "err.check();", "return made;"]
        else:
            lines += [f"{self.raw_result} made = {self.call()};".replace("* ", "*"), "err.check();", "return made;"]
        return lines

    def suffix(self):
        return " const" if self.self_type and self.self_type.startswith("const") else ""


# ---- writing ----


def spaced(result):
    return result if result.endswith("*") else result + " "


def wrapped(opening, parameters, closing, indent):
    """A declaration in lines of 120: what does not fit goes below the bracket."""
    lines, items = [f"{indent}{opening}("], parameters.split(", ") if parameters else []
    inside = " " * len(lines[0])
    for i, item in enumerate(items):
        item += ", " if i + 1 < len(items) else closing
        if len(lines[-1]) + len(item.rstrip()) > 120:
            lines[-1] = lines[-1].rstrip()
            lines.append(inside)
        lines[-1] += item
    return lines if items else [lines[0] + closing]


def defined(one, name):
    """A function with its body, in one line if it fits."""
    opening, body = f"inline {spaced(one.result)}{name}", one.body()
    line = f"{opening}({one.parameters(one.noun is None)}){one.suffix()} {{ {' '.join(body)} }}"
    if len(line) <= 120:
        return [line]
    lines = []
    for statement in body:
        start, _, rest = statement.partition("(")
        lines += wrapped(start, rest[:-2], ");", "    ") if rest.endswith(");") else [f"    {statement}"]
    return [*wrapped(opening, one.parameters(one.noun is None), f"){one.suffix()}", ""), "{", *lines, "}"]


def documented(text, indent):
    """The first sentence of the header, in lines of 120."""
    if not text:
        return []
    words, lines = (text + ".").replace("*/", "* /").split(), [f"{indent}/**"]
    for word in words:
        if len(lines[-1]) + len(word) > 113:
            lines.append(f"{indent} * ")
        lines[-1] += " " + word if not lines[-1].endswith(" ") else " " + word
    lines[-1] += " */"
    return lines


def class_of(whole, noun):
    short = noun[3:]
    out = [f"class {short} : public handle<{noun}, {noun}_destroy> {{", "public:", "    using handle::handle;", ""]
    for one in whole.members[noun]:
        out += documented(one.document, "    ")
        static = "static " if one.is_static else ""
        out += wrapped(f"{static}{spaced(one.result)}{one.short}", one.parameters(True), f"){one.suffix()};", "    ")
    return out + ["};", ""]


def write():
    whole = Interface()
    out = [HEAD.read_text(encoding="utf-8").rstrip(), ""]
    out += [f"class {noun[3:]};" for noun in whole.owned] + [""]
    for noun in whole.owned:
        out += class_of(whole, noun)
    out += ["/* ---- functions ---- */", ""]
    for one in whole.free:
        out += documented(one.document, "")
        out += defined(one, one.short)
    out += ["", "/* ---- what the members do ---- */", ""]
    for noun in whole.owned:
        for one in whole.members[noun]:
            out += defined(one, f"{noun[3:]}::{one.short}")
    return "\n".join(out + ["", "} // namespace mw", "", "#endif", ""])


def main():
    text = write()
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET.relative_to(ROOT)} is not what the headers say: run tools/cpp_header.py")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
