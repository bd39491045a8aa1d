#!/usr/bin/env python3
"""Refuses circles between the folders of one room: where folder a includes b, b does not include a, not even by way of
others. The exceptions are in tools/lint_circles.txt; one that is not needed any more is refused, too. Exits 1 if there
is a circle. First shows itself that it finds one.

    tools/lint_circles.py             looks at src
    tools/lint_circles.py --list ROOM prints which folder of the room includes which, and by how many lines"""
import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "tools/lint_circles.txt")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def room_of(folder):
    """Rooms as in lint_includes.awk: engine and chip have rooms of their own."""
    parts = folder.split("/")
    return "/".join(parts[:2]) if parts[0] in ("engine", "chip") else parts[0]


def read_includes(top):
    """{(folder, included folder): [\"file includes header\"]}, within a room."""
    found = collections.defaultdict(list)
    for path, _, names in os.walk(top):
        folder = os.path.relpath(path, top)
        for name in sorted(names):
            if not name.endswith((".c", ".h", ".def")):
                continue
            text = open(os.path.join(path, name), encoding="utf-8").read()
            for header in INCLUDE.findall(text):
                other = os.path.dirname(header)
                if other != folder and room_of(other) == room_of(folder):
                    found[folder, other].append("%s/%s includes %s" % (folder, name, header))
    return found


def reaches(edges, a, b):
    seen, open_ = {a}, [a]
    while open_:
        at = open_.pop()
        for folder, other in edges:
            if folder == at and other not in seen:
                seen.add(other)
                open_.append(other)
    return b in seen


def find_circles(edges):
    """The edges that are part of a circle."""
    return sorted(edge for edge in edges if reaches(edges, edge[1], edge[0]))


def read_exceptions():
    """Lines "folder -> folder: reason"."""
    found = {}
    for line in open(TABLE, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            edge, reason = line.split(":", 1)
            a, b = (part.strip() for part in edge.split("->"))
            assert reason.strip(), line
            found[a, b] = reason.strip()
    return found


def check(includes, exceptions):
    broken = False
    allowed = set(includes) - set(exceptions)
    for edge in find_circles(allowed):
        broken = True
        print("%s -> %s is part of a circle: %s" % (edge[0], edge[1], "; ".join(includes[edge][:3])))
    for edge in sorted(exceptions):
        if edge not in includes or not reaches(allowed, edge[1], edge[0]):
            broken = True
            print("tools/lint_circles.txt: %s -> %s closes no circle any more" % edge)
    return broken


def test_itself():
    circle = {("a/x", "a/y"): [""], ("a/y", "a/z"): [""], ("a/z", "a/x"): [""], ("a/w", "a/x"): [""]}
    assert find_circles(set(circle)) == [("a/x", "a/y"), ("a/y", "a/z"), ("a/z", "a/x")]
    assert find_circles(set(circle) - {("a/z", "a/x")}) == []


def main():
    test_itself()
    includes = read_includes(os.path.join(ROOT, "src"))
    if sys.argv[1:2] == ["--list"]:
        for a, b in sorted(includes):
            if room_of(a) == sys.argv[2]:
                print("%-24s %-24s %3d" % (a, b, len(includes[a, b])))
        return
    sys.exit(check(includes, read_exceptions()))


main()
