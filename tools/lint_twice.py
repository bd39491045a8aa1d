#!/usr/bin/env python3
"""Finds functions of src that stand twice: two static ones of three lines or more with the same body and the same types
of parameters, whatever those are called. One of them goes into the nearest folder that both may include. Kernels may
repeat their loops, which are compiled for one instruction set in each file. Names the lines; exits 1 if there are
any."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST = 3  # lines
APART = ("src/engine/kernels/", "src/mil/")  # src/mil until its passes have a room of their own
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FUNCTION = re.compile(r"^static (?P<head>[^;{}=]*?\b(?P<name>\w+)\((?P<parameters>[^;{}]*)\))\n\{\n(?P<body>.*?)\n\}$",
                      re.M | re.S)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|->|\.\.\.|\w+|\S')


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def rename(body, names):
    """The tokens, parameters by their number; members keep their names."""
    tokens = TOKEN.findall(body)
    return [names.get(t, t) if i == 0 or tokens[i - 1] not in (".", "->") else t for i, t in enumerate(tokens)]


def key(function):
    """Equal for functions that are the same but for the names of parameters."""
    names, types = {}, []
    for i, parameter in enumerate(re.split(r",(?![^(]*\))", function["parameters"])):
        name = re.search(r"(\w+)\s*(?:\[[^\]]*\])*\s*$", parameter)
        if name:
            names[name.group(1)] = "#%d" % i
        types.append(re.sub(r"\b%s\b" % name.group(1) if name else "$^", "", parameter).split())
    result = function["head"].split(function["name"] + "(")[0].split()
    return repr((result, types, rename(function["body"], names)))


def main():
    places = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "src", "**", "*.[ch]"), recursive=True)):
        relative = os.path.relpath(path, ROOT)
        if relative.startswith(APART):
            continue
        with open(path, encoding="utf-8") as file:
            text = COMMENT.sub(blank, file.read())
        for function in FUNCTION.finditer(text):
            if len([line for line in function["body"].split("\n") if line.strip()]) >= LEAST:
                line = text.count("\n", 0, function.start()) + 1
                places.setdefault(key(function), []).append("%s:%d: %s" % (relative, line, function["name"]))
    twice = [found for found in places.values() if len(found) > 1]
    for found in twice:
        print("%s stands again in %s" % (found[0], ", ".join(found[1:])))
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
