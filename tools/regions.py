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
EXACT = {"maximum", "minimum", "abs", "sign", "relu"}  # rounding their results would change nothing
COMPARE = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}

HEAD = """/* The hot regions as straight-line code: written by tools/regions.py from regions.def; do not edit. A file that is kept
 * rather than made by the build, as a cross-build has no tool to make it with; lint sees that it is fresh. */
/* clang-format off */
#include "engine/math_scalar.h"
#include "engine/region.h"

#include <string.h>

#define PARAMETERS (const void *const *value, void *const *out, const float (*pq)[2], int64_t count)
#define FORM                                                                                                           \\
    (const void *const *value, void *const *out, const float (*pq)[2], int64_t begin, int64_t count, bool half)
#define ROUND(v) (half ? mw__half_of(v) : (v))

/* As computed, and with every value rounded to fp16. */
#define FORMS(name)                                                                                                    \\
    MW__INLINE void name##_body PARAMETERS { name##_form(value, out, pq, 0, count, false); }                           \\
    MW__INLINE void name##_half_body PARAMETERS { name##_form(value, out, pq, 0, count, true); }                       \\
    MW__EACH_WIDTH(name, PARAMETERS, (value, out, pq, count))                                                          \\
    HALVES(name)

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>

/* The instructions that round cannot stand in a loop that the compiler makes vectors of, so that strips of two
 * vectors are written: the next rounding may begin long before one is done, and those of one vector mostly wait for
 * each other. For gcc, which keeps them in registers; clang does not. */
#define EACH(lanes) _Pragma("GCC unroll 1") for (int l = 0; l < (lanes); l++)
#define STRIPS(name, width, target)                                                                                    \\
    target static void name##_half_##width PARAMETERS                                                                  \\
    {                                                                                                                  \\
        const int64_t done = count - count % (2 * LANES_##width);                                                      \\
        name##_STRIPS(LANES_##width, round_##width)                                                                    \\
        name##_form(value, out, pq, done, count, true);                                                                \\
    }
#define HALVES(name)                                                                                                   \\
    static void name##_half_base PARAMETERS { name##_half_body(value, out, pq, count); }                               \\
    STRIPS(name, wide, MW__WIDE_TARGET)                                                                                \\
    STRIPS(name, wider, MW__WIDER_TARGET)

enum { LANES_wide = 8, LANES_wider = 16 };

MW__WIDE_TARGET MW__INLINE void round_wide(float *v)
{
    _mm256_storeu_ps(v, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(v), _MM_FROUND_TO_NEAREST_INT)));
}

MW__WIDER_TARGET MW__INLINE void round_wider(float *v)
{
    _mm512_storeu_ps(v, _mm512_cvtph_ps(_mm512_cvtps_ph(_mm512_loadu_ps(v), _MM_FROUND_TO_NEAREST_INT)));
}
#else
#define HALVES(name) MW__EACH_WIDTH(name##_half, PARAMETERS, (value, out, pq, count))
#endif
"""


def read():
    for line in open(SOURCE):
        if line.strip() and not line.startswith("#"):
            name, signature = line.strip().split(" ", 1)
            yield name, signature


def pack(lines, indent):
    """Joins lines up to the width of the page."""
    packed = [indent + lines[0]]
    for line in lines[1:]:
        if len(packed[-1]) + len(line) < 117:
            packed[-1] += " " + line
        else:
            packed.append(indent + line)
    return packed


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
    parameters = rounds = False
    for k, (operation, operands) in enumerate(code):
        v = ["v" + o for o in operands.split(",")]
        result = len(letters) + k
        if operation == "select":
            loop.append("const float v%d = %s != 0 ? %s : %s;" % (result, *v))
        elif operation in COMPARE:
            truth.add(result)
            loop.append("const uint8_t v%d = %s %s %s;" % (result, v[0], COMPARE[operation], v[1]))
        else:
            if len(v) == UNARY:
                parameters = True
                v += ["pq[%d][0]" % k, "pq[%d][1]" % k]
            exact = "mw__scalar_%s(%s)" % (operation, ", ".join(v))
            rounds = rounds or operation not in EXACT
            loop.append("const float v%d = %s;" % (result, exact if operation in EXACT else "ROUND(%s)" % exact))
    for n, value in enumerate(stores):
        kind = "uint8_t" if value in truth else "float"
        lines.append("%s *const y%d = out[%d];" % (kind, n, n))
        loop.append("y%d[i] = v%d;" % (n, value))
    if not parameters:
        lines.append("(void)pq;")
    if not rounds:
        lines.append("(void)half;")
    lines = ["MW__INLINE void %s_form FORM" % name, "{"] + pack(lines, "    ")
    lines += ["    MW__VECTORIZE for (int64_t i = begin; i < count; i++)", "    {"]
    lines += pack(loop, "        ") + ["    }", "}"]
    lines.append("FORMS(%s)" % name)
    return "\n".join(lines)


def strips(name, signature):
    """The same as a macro of the lanes of a vector and the function that rounds one; two vectors in turn."""
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

    def operand(text):
        v = int(text)
        return "v%d[AT][l]" % v if v >= len(letters) else "s%d" % v if letters[v] in "Sb" else "x%d[i + PLUS + l]" % v

    def twice(code):
        return [code.replace("AT", str(n)).replace("PLUS + ", "(lanes) + " if n else "") for n in range(2)]

    for k, (operation, operands) in enumerate(code):
        v = [operand(o) for o in operands.split(",")]
        result = len(letters) + k
        kind, rounds = "float", False
        if operation == "select":
            value = "%s != 0 ? %s : %s" % tuple(v)
        elif operation in COMPARE:
            truth.add(result)
            kind, value = "uint8_t", "%s %s %s" % (v[0], COMPARE[operation], v[1])
        else:
            v += ["pq[%d][0]" % k, "pq[%d][1]" % k] if len(v) == UNARY else []
            value, rounds = "mw__scalar_%s(%s)" % (operation, ", ".join(v)), operation not in EXACT
        loop.append("%s v%d[2][lanes];" % (kind, result))
        loop.extend(twice("EACH(lanes) { v%d[AT][l] = %s; }" % (result, value)))
        if rounds:
            loop.extend(twice("round(v%d[AT]);" % result))
    for n, value in enumerate(stores):
        lines.append("%s *const y%d = out[%d];" % ("uint8_t" if value in truth else "float", n, n))
        loop.extend(twice("EACH(lanes) { y%d[i + PLUS + l] = v%d[AT][l]; }" % (n, value)))
    lines = pack(lines, "    ") + ["    for (int64_t i = 0; i < done; i += 2 * (lanes)) {"]
    lines += pack(loop, "        ") + ["    }"]
    return "#define %s_STRIPS(lanes, round) \\\n" % name + " \\\n".join(lines)


def text():
    rows = list(read())
    parts = [HEAD] + [strips(*row) + "\n" + body(*row) + "\n" for row in rows]
    table = ["    {\"%s\", \"%s\", {MW__WIDTHS(%s), MW__WIDTHS(%s_half)}}," % (name, signature, name, name)
             for name, signature in rows]
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
