#!/usr/bin/env python3
"""Finds calls of which two arguments build operations: C leaves open which is built first, so that the text of a program
would depend on the compiler. Names its lines; exits 1 if there are any."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ["autograd", "graph", "graph/patterns", "mil", "format", "format/coreml", "format/protobuf", "runtime"]
# What asks and builds nothing.
ASKS = re.compile(r"mw_(tensor|shape|dtype|graph)_\w+|mw__(rule|arg|shape|vjp|optimizer|payload|type|row|op|text)_\w+|mw__arg|"
                  r"mw__(log|fail|count_of|digit_of|evaluated|clone_get|loss_class_axis|split_extents)|"
                  r"mw__(trainer|term)_(largest|stored|measure_name|reason)|mw_name")
CALL = re.compile(r"\b(mw_[a-z_0-9]+)\(")


def arguments(text, at):
    """The arguments of the call whose opening parenthesis stands before `at`."""
    depth, begin, found = 0, at, []
    for i in range(at, len(text)):
        if depth == 0 and text[i] in ",)":
            found.append(text[begin:i])
            begin = i + 1
            if text[i] == ")":
                break
        depth += (text[i] in "([{") - (text[i] in ")]}")
    return found


def builds(argument):
    return any(not ASKS.fullmatch(name) for name in CALL.findall(argument))


def check(path):
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), open(path).read(), flags=re.S)
    lines = set()
    for match in CALL.finditer(text):
        if not ASKS.fullmatch(match.group(1)) and sum(map(builds, arguments(text, match.end()))) > 1:
            lines.add(text.count("\n", 0, match.start()) + 1)
    return sorted(lines)


if __name__ == "__main__":
    findings = ["%s:%d: two arguments build operations; give one a name before the call" % (os.path.relpath(path, ROOT), n)
                for room in ROOMS for path in sorted(glob.glob(os.path.join(ROOT, "src", room, "*.c")))
                for n in check(path)]
    print("\n".join(findings), end="\n" if findings else "")
    sys.exit(1 if findings else 0)
