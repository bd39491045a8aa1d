#!/usr/bin/env python3
"""Writes examples/python/millwright/abi.py, what ctypes needs to know of the public headers: structs, enums, callbacks
and the prototypes of functions. With --check it only says whether the file is what would be written.

The headers are read as they are formatted here: one declaration ends with one semicolon, a struct has no bit fields and
no unions, and macros that a declaration needs are plain numbers. tests/client/bindings/layout.py holds what comes out
to the C compiler."""
import pathlib
import re
import sys
import textwrap

import interface

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "millwright"
TARGET = ROOT / "examples" / "python" / "millwright" / "abi.py"

# Libraries whose functions the module does not need: structs of their headers are known by name alone.
LEFT_OUT = {"chip", "inspect", "view"}
# A library of their own, and one whose client is tests/client/client.py.
APART = {"mpi", "ane_e5rt", "millwright"}

PLAIN = {
    "void": "None", "bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "float": "c_float",
    "double": "c_double", "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
    "uint64_t": "c_uint64", "uint8_t": "c_uint8", "uint16_t": "c_uint16", "unsigned char": "c_ubyte",
}
KNOWN = {"SIZE_MAX": 2**64 - 1, "INT32_MIN": -(2**31), "INT64_MAX": 2**63 - 1}


class Headers:
    """What the named headers declare, in their order."""

    def __init__(self, names):
        self.constants, self.enums, self.structs, self.callbacks, self.functions = {}, {}, {}, {}, {}
        self.aliases, self.sections, self.varargs, self.inlines = {}, {}, [], []
        self.forward = set()
        for name in names:
            self.read(name, (HEADERS / f"{name}.h").read_text(encoding="utf-8"))

    def read(self, header, text):
        text = preprocess(text, self.constants)
        for declaration in split(text, ";"):
            self.declare(header, " ".join(declaration.split()))

    def declare(self, header, text):
        text = re.sub(r"^\}\s*", "", text)
        if "static inline" in text:
            self.inlines.append(text)
        elif match := re.fullmatch(r"(?:typedef )?enum (\w+)? ?\{(.*)\}( \w+)?", text):
            self.enum(header, match[1], match[2])
        elif match := re.fullmatch(r"typedef struct (\w+) \{(.*)\} \w+", text):
            self.structs[match[1]] = fields_of(match[2])
            self.sections[match[1]] = header
        elif match := re.fullmatch(r"(?:typedef )?struct (\w+)( \w+)?", text):
            self.forward.add(match[1])
        elif match := re.fullmatch(r"typedef (.+?)(\w+)\((.*)\)", text):
            self.callbacks[match[2]] = (match[1].strip(), parameters_of(match[3]))
        elif match := re.fullmatch(r"typedef (\w+) (\w+)", text):
            self.aliases[match[2]] = match[1]
        elif match := re.fullmatch(r"MW_API (.+?)(\w+)\((.*)\)", text):
            self.functions[match[2]] = (match[1].strip(), parameters_of(match[3]))
            self.sections[match[2]] = header
            if "..." in match[3]:
                self.varargs.append(match[2])
        elif text:
            raise ValueError(f"{header}.h: what is this? {text}")

    def enum(self, header, name, body):
        values, following = {}, 0
        for item in filter(None, (item.strip() for item in body.split(","))):
            key, _, value = (part.strip() for part in item.partition("="))
            following = number(value, {**self.constants, **values}) if value else following
            values[key] = following
            following += 1
        if name:
            self.enums[name] = values
            self.sections[name] = header
        else:
            self.constants.update(values)

    # ---- C types to those of ctypes ----

    def ctype(self, text, returned=False):
        """The ctypes expression of a C type; `returned`: what a function of Python gives to C."""
        text = re.sub(r"\b(const|struct|enum)\b", " ", text)
        base, stars = " ".join(text.replace("*", " ").split()), text.count("*")
        base = self.aliases.get(base, base)
        if base in self.callbacks and stars == 1:
            return base
        if returned and stars:
            return "c_void_p"
        if base in self.enums:
            plain = "c_int"
        elif base in PLAIN:
            plain = PLAIN[base]
        elif base in self.structs or stars:
            plain = base
        else:
            raise ValueError(f"what is the type {text}?")
        if stars and plain in ("None", "c_char"):
            plain, stars = {"None": "c_void_p", "c_char": "c_char_p"}[plain], stars - 1
        return "POINTER(" * stars + plain + ")" * stars

    def member(self, text, suffix):
        """The same of a struct's field, with its array extents or, of a function pointer, its parameters."""
        if isinstance(suffix, list):
            return self.function_type(text, suffix)
        expression = self.ctype(text)
        for extent in reversed(suffix and suffix.strip("[]").split("][") or []):
            expression = f"{expression} * {number(extent, self.constants)}"
        return expression

    def function_type(self, result, parameters):
        inner = [self.ctype(result, returned=True)] + [self.ctype(kind) for kind, _ in parameters]
        return f"CFUNCTYPE({', '.join(inner)})"

    def enum_of(self, text):
        """The enum that a type is, by value or through a pointer; None for all others."""
        base = " ".join(re.sub(r"\b(const|struct|enum)\b", " ", text).replace("*", " ").split())
        return base if self.aliases.get(base, base) in self.enums else None

    def enum_uses(self):
        """{(struct or function, field or parameter): enum}"""
        fields = [(name, field, kind) for name, items in self.structs.items() for kind, field, suffix in items
                  if not isinstance(suffix, list)]
        parameters = [(name, parameter, kind) for name, (_, items) in self.functions.items() for kind, parameter in items]
        found = {(name, one): self.enum_of(kind) for name, one, kind in fields + parameters if "*" not in kind}
        return {key: enum for key, enum in found.items() if enum}

    def opaque(self):
        """Structs that are only pointed to."""
        prototypes = [*self.callbacks.values(), *self.functions.values()]
        texts = [kind for _, parameters in prototypes for kind, _ in parameters] + [result for result, _ in prototypes]
        texts += [kind for fields in self.structs.values() for kind, _, _ in fields]
        names = {name for text in texts for name in re.findall(r"\bmw_\w+", text)}
        return sorted(names - set(self.structs) - set(self.enums) - set(self.callbacks) - set(self.aliases))


def preprocess(text, constants):
    """Without comments and what is for C++ or Windows; macros that are numbers go to `constants`."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
    text = re.sub(r"//[^\n]*", "", text)
    lines, taken = [], []
    for line in text.splitlines():
        word = line.strip()
        if word.startswith("#if"):
            taken.append(word.startswith("#ifndef"))
        elif word.startswith("#else"):
            taken[-1] = not taken[-1]
        elif word.startswith("#endif"):
            taken.pop()
        elif all(taken) and (match := re.fullmatch(r"#define (MW_\w+)\s+(\S.*)", word)):
            value = number(match[2], constants, strict=False)
            if value is not None:
                constants[match[1]] = value
        elif all(taken) and not word.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


def number(text, constants, strict=True):
    """The value of a constant expression, None for what is none."""
    text = re.sub(r"\((size_t|int|int64_t)\)", "", text)
    try:
        return int(eval(re.sub(r"(?<=\d)[uUlL]+\b", "", text), {"__builtins__": {}}, {**KNOWN, **constants}))
    except (NameError, SyntaxError, TypeError):
        if strict:
            raise
        return None


def split(text, separator):
    """Parts of a text between separators that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "({[") - (letter in ")}]")
        if letter == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]] if text[start:].strip() else parts


def parameters_of(text):
    """[(type, name)] of a parameter list; an array is a pointer."""
    found = []
    for item in split(text, ","):
        item = item.strip()
        if item in ("void", "..."):
            continue
        match = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", item)
        found.append((match[1].strip() + (" *" if match[3] else ""), match[2]))
    return found


def fields_of(body):
    """[(type, name, extents or parameters)] of a struct's body."""
    found = []
    for item in split(body, ";"):
        item = " ".join(item.split())
        if match := re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", item):
            found.append((match[1].strip(), match[2], parameters_of(match[3])))
            continue
        first, *others = split(item, ",")
        match = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", first.strip())
        found.append((match[1].strip(), match[2], match[3]))
        base = match[1].replace("*", " ").strip()
        for other in others:
            match = re.fullmatch(r"(\**)(\w+)((?:\[\w*\])*)", other.replace(" ", ""))
            found.append((f"{base} {match[1]}".strip(), match[2], match[3]))
    return found


# ---- writing ----

HEAD = '''"""What ctypes needs to know of the public headers: constants, enums, structs, callbacks, prototypes.

Written by tools/python_abi.py from include/millwright; not to be edited. Structs and functions have their names in C.
Handles are pointers to structs without fields, so that a tensor is not taken for a graph. FUNCTIONS has for each
function what it returns and its parameters by name."""
from ctypes import (  # noqa: F401
    CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t,
    c_ubyte, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p,
)
from enum import IntEnum


def _struct(name):
    return type(name, (Structure,), {"__module__": __name__})

'''


def wrapped(opening, items, closing):
    """One line, or several that are indented."""
    line = opening + ", ".join(items) + closing
    if len(line) <= 116:
        return line
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > 107:
            lines.append("")
        lines[-1] += f" {item},"
    return "\n".join([opening, *(f"   {line}" for line in lines), closing])


def in_order(headers):
    """Names of structs, those that another one holds before it."""
    names = []

    def add(name):
        for kind, _, suffix in headers.structs[name]:
            inner = re.sub(r"\b(const|struct|enum)\b", "", kind).strip()
            if inner in headers.structs and not isinstance(suffix, list):
                add(inner)
        if name not in names:
            names.append(name)

    for name in headers.structs:
        add(name)
    return names


def write(headers):
    out = [HEAD]
    out += [f"{name} = {value}" for name, value in headers.constants.items()]
    for name, values in headers.enums.items():
        out += ["\n", f"class {name}(IntEnum):"] + [f"    {key} = {value}" for key, value in values.items()]
    out += ["\n", "# Known by name alone."]
    out += [f'{name} = _struct("{name}")' for name in headers.opaque()]
    out += ["", "# Structs, whose fields follow when all are known."]
    out += [f'{name} = _struct("{name}")' for name in headers.structs]
    out += ["", "# Functions of Python that the library calls. A pointer that they return is a number."]
    for name, (result, parameters) in headers.callbacks.items():
        out.append(f"{name} = {headers.function_type(result, parameters)}")
    out.append("")
    for name in in_order(headers):
        fields = headers.structs[name]
        items = [f'("{field}", {headers.member(kind, suffix)})' for kind, field, suffix in fields]
        out.append(wrapped(f"{name}._fields_ = [", items, "]"))
    out += ["", "FUNCTIONS = {"]
    for name, (result, parameters) in headers.functions.items():
        returned = "POINTER(c_char)" if re.fullmatch(r"char \*", result) else headers.ctype(result)
        items = [f'("{parameter}", {headers.ctype(kind)})' for kind, parameter in parameters]
        out.append(textwrap.indent(wrapped(f'"{name}": ({returned}, [', items, "]),"), "    "))
    out += ["}", "", "# Functions of libraries beside the core, by the names of the libraries.", "BESIDE = {"]
    for library in interface.LIBRARIES:
        names = [f'"{n}"' for n in headers.functions if interface.library_of(headers.sections[n]) == library]
        out += [textwrap.indent(wrapped(f'"{library}": {{', names, "},"), "    ")] if names else []
    out += ["}", "", "# Enums of fields and parameters, which ctypes knows as integers.", "ENUMS = {"]
    out += [f'    ("{owner}", "{name}"): {enum},' for (owner, name), enum in headers.enum_uses().items()]
    return "\n".join(out + ["}", ""])


def name_of(path):
    """The header as it is included: "ops/conv"."""
    return path.relative_to(HEADERS).with_suffix("").as_posix()


def every():
    """All headers of libmillwright."""
    return sorted(name for name in map(name_of, HEADERS.rglob("*.h")) if name not in APART)


def chosen():
    """What a person needs to build, train and predict."""
    return [name for name in every() if interface.library_of(name) not in LEFT_OUT]


def main():
    text = write(Headers(chosen()))
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET.relative_to(ROOT)} is not what the headers say: run tools/python_abi.py")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
