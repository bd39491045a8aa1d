"""The ABI as Python mirrors it, held to the C compiler: a program prints size and offset of every struct and field of
the public headers, the value of every enumerator and the size and kind of every type of a parameter, as JSON.

A field of the wrong kind (a float for an int, one with a sign for one without) has the right size: kinds count too."""
import ctypes
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADERS_AT = ROOT / "include" / "millwright"
sys.path.insert(0, str(ROOT / "tools"))

import python_abi  # noqa: E402  # pylint: disable=wrong-import-position

HEAD = """#include <stdio.h>
%s
#define KIND(x) _Generic((x), float: "real", double: "real", bool: "bool", char: "text", signed char: "whole", \\
    short: "whole", int: "whole", long: "whole", long long: "whole", unsigned char: "natural", \\
    unsigned short: "natural", unsigned: "natural", unsigned long: "natural", unsigned long long: "natural", \\
    default: "other")
#define FIELD(s, f, of_it) printf(",\\"%%s\\": [%%zu, %%zu, \\"%%s\\"]", #f, offsetof(s, f), sizeof(((s *)0)->f), \\
    KIND(((s *)0)->f of_it))
int main(void)
{
    printf("{\\"structs\\": {\\"\\": []");
"""


def program(headers):
    """The C program for what the headers declare."""
    names = [f"#include <millwright/{name}.h>" for name in python_abi.every()]
    out = [HEAD % "\n".join(["#include <stddef.h>", *names])]
    for name, fields in headers.structs.items():
        out.append(f'    printf(",\\"{name}\\": {{\\"\\": [%zu]", sizeof({name}));')
        for _, field, extents in fields:
            element = "[0]" * extents.count("[") if isinstance(extents, str) else ""
            out.append(f"    FIELD({name}, {field}, {element});")
        out.append('    printf("}");')
    out.append('    printf("}, \\"values\\": {\\"\\": 0");')
    for values in [headers.constants, *headers.enums.values()]:
        out += [f'    printf(",\\"{key}\\": %lld", (long long)({key}));' for key in values]
    out.append('    printf("}, \\"types\\": {\\"\\": []");')
    for kind in types_of(headers):
        out.append(f'    printf(",\\"{kind}\\": [%zu, \\"%s\\"]", sizeof({kind}), KIND(*({kind} *)0));')
    return "\n".join([*out, '    printf("}}\\n");', "    return 0;", "}", ""])


def types_of(headers):
    """Every C type of a parameter or result, as the headers spell it."""
    prototypes = [*headers.functions.values(), *headers.callbacks.values()]
    found = {result for result, _ in prototypes} | {kind for _, parameters in prototypes for kind, _ in parameters}
    return sorted(kind for kind in found if kind != "void")


MEASURED = {}


def measured(headers, compiler, folder):
    """What the compiler says, which is asked once."""
    key = frozenset(headers.structs)
    if key not in MEASURED:
        MEASURED[key] = compiled(headers, compiler, folder)
    return MEASURED[key]


def compiled(headers, compiler, folder):
    source, binary = folder / "layout.c", folder / "layout"
    source.write_text(program(headers), encoding="utf-8")
    command = [compiler, "-std=c11", "-w", "-I", str(ROOT / "include"), str(source), "-o", str(binary)]
    subprocess.run(command, check=True)
    return json.loads(subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout)


def kind_of(kind):
    """The same of a type of ctypes; of an array that of its elements."""
    while hasattr(kind, "_length_"):
        kind = kind._type_
    code = getattr(kind, "_type_", None) if not hasattr(kind, "contents") else None
    return {"f": "real", "d": "real", "?": "bool", "c": "text"}.get(
        code, "natural" if code in tuple("BHILQ") else "whole" if code in tuple("bhilq") else "other")


def same_kind(mine, theirs):
    """Enumerations have whatever sign the compiler gives them; ctypes has int for them."""
    return mine == theirs or {mine, theirs} <= {"whole", "natural"}


def differences(headers, module, compiler, folder):
    """What differs between a module of the form of abi.py and the compiler, as sentences."""
    truth, found = measured(headers, compiler, folder), []
    for name, fields in headers.structs.items():
        mine, theirs = getattr(module, name), truth["structs"][name]
        if ctypes.sizeof(mine) != theirs[""][0]:
            found.append(f"{name} has {ctypes.sizeof(mine)} bytes, in C {theirs[''][0]}")
        if [field for field, _ in mine._fields_] != [field for _, field, _ in fields]:
            found.append(f"{name} has other fields than in C")
        for (field, kind), (spelled, _, _) in zip(mine._fields_, fields):
            place, enum = getattr(mine, field), spelled.split()[-1] in headers.enums
            wanted = theirs.get(field, [None, None, "nothing"])
            same = same_kind(kind_of(kind), wanted[2]) if enum else kind_of(kind) == wanted[2] or wanted[2] == "other"
            if [place.offset, place.size] != wanted[:2] or not same:
                found.append(f"{name}.{field} is {place.offset}, {place.size}, {kind_of(kind)}, in C {wanted}")
    for values in [headers.constants, *headers.enums.values()]:
        for key, value in values.items():
            mine = value_in(module, headers, key)
            if (mine - truth["values"][key]) % 2**64:
                found.append(f"{key} is {mine}, in C {truth['values'][key]}")
    for spelled in types_of(headers):
        kind = eval(headers.ctype(spelled), vars(module))  # pylint: disable=eval-used
        size, theirs = truth["types"][spelled]
        enum = spelled.split()[-1] in headers.enums
        same = same_kind(kind_of(kind), theirs) if enum else kind_of(kind) == theirs or theirs == "other"
        if ctypes.sizeof(kind) != size or not same:
            found.append(f"{spelled} is {kind}, in C {size}, {theirs}")
    return found


def value_in(module, headers, key):
    for name, values in headers.enums.items():
        if key in values:
            return int(getattr(module, name)[key])
    return getattr(module, key)


# ---- what headers have that a binding cannot call ----


def function_macros():
    """{macro with parameters or of a compound literal: its header}"""
    found = {}
    for path in sorted(HEADERS_AT.glob("*.h")):
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for name, rest in re.findall(r"^#define (MW_\w+)(.*)$", text, re.M):
            if rest.startswith("(") or "{" in rest:
                found[name] = path.stem
    return found


def by_value(headers):
    """Structs that functions take or return by value, with how many do."""
    counts = {}
    for result, parameters in headers.functions.values():
        for kind in [result, *(kind for kind, _ in parameters)]:
            name = kind.replace("const", "").strip()
            if name in headers.structs:
                counts[name] = counts.get(name, 0) + 1
    return counts
