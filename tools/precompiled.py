#!/usr/bin/env python3
"""Writes src/engine/kernels/fused/precompiled_<subject>.c: straight-line C for each signature of src/engine/kernels/fused/precompiled.def.

    python3 tools/precompiled.py            writes them
    python3 tools/precompiled.py --check    fails if one is stale
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "src/engine/kernels/fused/precompiled.def")
TARGET = os.path.join(ROOT, "src/engine/kernels/fused/precompiled_%s.c")
SUBJECTS = {"update": "the optimizers", "check": "checked updates", "half": "the optimizers in fp16",
            "half_check": "checked updates in fp16", "layer": "the layers and their gradients",
            "norm": "normalisation and its gradients"}
UNARY = 1
OPERATIONS = glob.glob(os.path.join(ROOT, "src/graph/ops/*.def"))
# Rounding their results would change nothing, if their operands are rounded.
EXACT = {row[0] for family in OPERATIONS
         for row in re.findall(r"^MW_KERNEL\((\w+), +\w+, +(EXACT|SCALARS),", open(family).read(), re.M)}
COMPARE = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}

HEAD = """/* Precompiled kernels of %s, from precompiled.def by tools/precompiled.py. Do not edit.
 * A file that is kept rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is
 * fresh. */
/* clang-format off */
#include "engine/kernels/fused/precompiled.h"
"""


def read():
    """The rows by subject, which a line in brackets begins."""
    rows = {subject: [] for subject in SUBJECTS}
    for line in open(SOURCE):
        line = line.strip()
        if line.startswith("["):
            subject = line.strip("[]")
        elif line and not line.startswith("#"):
            rows[subject].append(line.split(" ", 1))
    for checked, subject in (("check", "update"), ("half_check", "half")):
        rows[checked] = [[name + "_check", ungated(signature)] for name, signature in rows[subject]]
    return rows


def ungated(signature):
    """An update without its flag, the last operand, and the choices by it at its end: its new values in their order."""
    letters, *words = signature.split(" ")
    flag = len(letters) - 1
    code = [re.match(r"(\w+)\(([\d,]+)\)", w).groups() for w in words[:words.index("store")]]
    code = [(operation, [int(v) for v in operands.split(",")]) for operation, operands in code]
    new = sorted(v[1] for operation, v in code if operation == "select" and v[0] == flag)
    kept = ["%s(%s)" % (operation, ",".join(str(v - (v > flag)) for v in operands))
            for operation, operands in code if not (operation == "select" and operands[0] == flag)]
    return " ".join([letters[:flag]] + kept + ["store", ",".join(str(v - 1) for v in new)])


def pack(lines, indent):
    """Joins lines up to the width of the page."""
    packed = [indent + lines[0]]
    for line in lines[1:]:
        if len(packed[-1]) + len(line) < 117:
            packed[-1] += " " + line
        else:
            packed.append(indent + line)
    return packed


def ties(operation):
    """How its result is rounded: a chip takes products away from zero."""
    return "EXACT" if operation in EXACT else "AWAY" if operation == "mul" else "EVEN"


def scalar(operation, operands):
    return "%s(%s)" % ("QUOTIENT" if operation == "real_div" else "mw__scalar_" + operation, ", ".join(operands))


def body(name, signature):
    letters, *words = signature.split(" ")
    stores = [int(v) for v in words[words.index("store") + 1].split(",")]
    code = [re.match(r"(\w+)\(([\d,]+)\)", w).groups() for w in words[:words.index("store")]]
    truth = {i for i, letter in enumerate(letters) if letter in "bB"}
    lines = []
    for i, letter in enumerate(letters):
        kind = "uint8_t" if letter in "bB" else "float"
        if letter in "Sb":
            lines.append("const %s v%d = *(const %s *)value[%d];" % (kind, i, kind, i))
        else:
            lines.append("const %s *const x%d = value[%d];" % (kind, i, i))
    loop = []
    for i, letter in enumerate(letters):
        if letter in "TB":
            loop.append("const %s v%d = x%d[i];" % ("uint8_t" if letter == "B" else "float", i, i))
    for k, (operation, operands) in enumerate(code):
        v = ["v" + o for o in operands.split(",")]
        result = len(letters) + k
        if operation == "select":
            loop.append("const float v%d = %s != 0 ? %s : %s;" % (result, *v))
        elif operation in COMPARE:
            truth.add(result)
            loop.append("const uint8_t v%d = %s %s %s;" % (result, v[0], COMPARE[operation], v[1]))
        else:
            v += ["pq[%d][0]" % k, "pq[%d][1]" % k] if len(v) == UNARY else []
            loop.append("const float v%d = AFTER(%d, %s, %s);" % (result, k, ties(operation), scalar(operation, v)))
    for n, value in enumerate(stores):
        kind = "uint8_t" if value in truth else "float"
        lines.append("%s *const y%d = out[%d];" % (kind, n, n))
        loop.append("y%d[i] = v%d;" % (n, value))
    lines.append("(void)pq, (void)form;")
    lines = ["MW__INLINE void %s_form FORM" % name, "{"] + pack(lines, "    ")
    lines += ["    MW__VECTORIZE for (int64_t i = begin; i < count; i++)", "    {"]
    lines += pack(loop, "        ") + ["    }", "}"]
    lines.append("FORMS(%s)" % name)
    return "\n".join(lines)


def strips(name, signature):
    """The same as a macro of the lanes of a vector and the function that rounds one; EIGHT of them in
    turn."""
    letters, *words = signature.split(" ")
    stores = [int(v) for v in words[words.index("store") + 1].split(",")]
    code = [re.match(r"(\w+)\(([\d,]+)\)", w).groups() for w in words[:words.index("store")]]
    truth = {i for i, letter in enumerate(letters) if letter in "bB"}
    lines, loop = [], []
    for i, letter in enumerate(letters):
        kind = "uint8_t" if letter in "bB" else "float"
        lines.append("const %s *const x%d = value[%d];" % (kind, i, i))
        if letter in "Sb":
            lines.append("const %s s%d = *x%d;" % (kind, i, i))

    def mask(text):
        """A truth as all bits: what is chosen by it is read in any case, so that the choice is no branch."""
        v = int(text)
        return "v%d[n][l]" % v if v >= len(letters) else "MASK(%s != 0)" % operand(text)

    def operand(text):
        v = int(text)
        return "v%d[n][l]" % v if v >= len(letters) else "s%d" % v if letters[v] in "Sb" else "x%d[i + l]" % v

    for k, (operation, operands) in enumerate(code):
        v = [operand(o) for o in operands.split(",")]
        result = len(letters) + k
        kind, rounds = "float", None
        if operation == "select":
            value = "chosen(%s, %s, %s)" % (mask(operands.split(",")[0]), v[1], v[2])
        elif operation in COMPARE:
            truth.add(result)
            kind, value = "uint32_t", "MASK(%s %s %s)" % (v[0], COMPARE[operation], v[1])
        else:
            v += ["pq[%d][0]" % k, "pq[%d][1]" % k] if len(v) == UNARY else []
            value, rounds = scalar(operation, v).replace("QUOTIENT", "quotient"), ties(operation)
        loop.append("%s v%d[8][lanes];" % (kind, result))
        loop.append("EIGHT { EACH(lanes) { v%d[n][l] = %s; } }" % (result, value.replace("[i + l]", "[i + n * (lanes) + l]")))
        if rounds:
            loop.append("after(%d, %s, v%d)" % (k, rounds, result))
    for n, value in enumerate(stores):
        lines.append("%s *const y%d = out[%d];" % ("uint8_t" if value in truth else "float", n, n))
        stored = "(uint8_t)(v%d[n][l] & 1)" if value in truth else "v%d[n][l]"
        loop.append("EIGHT { EACH(lanes) { y%d[i + n * (lanes) + l] = %s; } }" % (n, stored % value))
    lines = pack(lines, "    ") + ["    for (int64_t i = 0; i < done; i += 8 * (lanes)) {"]
    lines += pack(loop, "        ") + ["    }"]
    return "#define %s_STRIPS(lanes, after, quotient) \\\n" % name + " \\\n".join(lines)


def text(subject, rows):
    parts = [HEAD % SUBJECTS[subject]] + [strips(*row) + "\n" + body(*row) + "\n" for row in rows]
    table = ["    {\"%s\", \"%s\", {MW__BASE_AVX2_AVX512_LIST(%s), MW__BASE_AVX2_AVX512_LIST(%s_half), MW__BASE_AVX2_AVX512_LIST(%s_chip)}}," % (name, signature, name, name, name)
             for name, signature in rows]
    parts.append("const mw__precompiled mw__precompiled_%s[] = {\n%s\n};\n" % (subject, "\n".join(table)))
    parts.append("const size_t mw__precompiled_%s_count = sizeof mw__precompiled_%s / sizeof *mw__precompiled_%s;\n/* clang-format on */\n"
                 % (subject, subject, subject))
    return "\n".join(parts)


if __name__ == "__main__":
    for subject, rows in read().items():
        target = TARGET % subject
        if "--check" not in sys.argv:
            open(target, "w").write(text(subject, rows))
        elif open(target).read() != text(subject, rows):
            sys.exit("%s is stale: run tools/precompiled.py" % os.path.relpath(target, ROOT))
