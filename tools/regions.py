#!/usr/bin/env python3
"""Writes src/engine/regions_hot.c: straight-line C for each signature of src/engine/regions.def.

    python3 tools/regions.py            writes it
    python3 tools/regions.py --check    fails if it is stale
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "src/engine/regions.def")
TARGET = os.path.join(ROOT, "src/engine/regions_hot.c")
UNARY = 1
COMPARE = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}

HEAD = """/* The hot regions as straight-line code: written by tools/regions.py from regions.def; do not edit. A file that is kept
 * rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is fresh. */
/* clang-format off */
#include "engine/math_scalar.h"
#include "engine/region.h"

#include <string.h>

#define PARAMETERS (const void *const *value, void *const *out, const float (*pq)[2], int64_t count)
"""


def read():
    for line in open(SOURCE):
        if line.strip() and not line.startswith("#"):
            name, signature = line.strip().split(" ", 1)
            yield name, signature


def body(name, signature):
    letters, *words = signature.split(" ")
    stores = [int(v) for v in words[words.index("store") + 1].split(",")]
    code = [re.match(r"(\w+)\(([\d,]+)\)", w).groups() for w in words[:words.index("store")]]
    truth = {i for i, letter in enumerate(letters) if letter in "bB"}
    lines = ["MW__INLINE void %s_body PARAMETERS" % name, "{"]
    for i, letter in enumerate(letters):
        kind = "uint8_t" if letter in "bB" else "float"
        if letter in "Sb":
            lines.append("    const %s v%d = *(const %s *)value[%d];" % (kind, i, kind, i))
        else:
            lines.append("    const %s *const x%d = value[%d];" % (kind, i, i))
    loop = []
    for i, letter in enumerate(letters):
        if letter in "TB":
            loop.append("const %s v%d = x%d[i];" % ("uint8_t" if letter == "B" else "float", i, i))
    parameters = False
    for k, (operation, operands) in enumerate(code):
        v = ["v" + o for o in operands.split(",")]
        result = len(letters) + k
        if operation == "select":
            loop.append("const float v%d = %s != 0 ? %s : %s;" % (result, *v))
        elif operation in COMPARE:
            truth.add(result)
            loop.append("const uint8_t v%d = %s %s %s;" % (result, v[0], COMPARE[operation], v[1]))
        elif len(v) == UNARY:
            parameters = True
            loop.append("const float v%d = mw__scalar_%s(%s, pq[%d][0], pq[%d][1]);" % (result, operation, v[0], k, k))
        else:
            loop.append("const float v%d = mw__scalar_%s(%s, %s);" % (result, operation, *v))
    for n, value in enumerate(stores):
        kind = "uint8_t" if value in truth else "float"
        lines.append("    %s *const y%d = out[%d];" % (kind, n, n))
        loop.append("y%d[i] = v%d;" % (n, value))
    if not parameters:
        lines.append("    (void)pq;")
    lines += ["    MW__VECTORIZE for (int64_t i = 0; i < count; i++)", "    {"]
    lines += ["        " + line for line in loop] + ["    }", "}"]
    lines.append("MW__EACH_WIDTH(%s, PARAMETERS, (value, out, pq, count))" % name)
    return "\n".join(lines)


def text():
    rows = list(read())
    parts = [HEAD] + [body(*row) + "\n" for row in rows]
    table = ["    {\"%s\", \"%s\", MW__WIDTHS(%s)}," % (name, signature, name) for name, signature in rows]
    parts.append("static const mw__hot_region rows[] = {\n%s\n};\n" % "\n".join(table))
    parts.append("const mw__hot_region *mw__hot_find(const char *signature)\n{\n"
                 "    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)\n"
                 "        if (strcmp(rows[i].signature, signature) == 0)\n"
                 "            return &rows[i];\n"
                 "    return NULL;\n}\n/* clang-format on */\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if "--check" in sys.argv:
        if open(TARGET).read() != text():
            sys.exit("src/engine/regions_hot.c is stale: run tools/regions.py")
    else:
        open(TARGET, "w").write(text())
