#!/usr/bin/env python3
"""Draws docs/house.svg: the rooms of src/ with their lines of code, and an arrow for each room that another includes.

Arrows are taken from the #include lines, less those that follow from others. The two dashed lines are no includes: MIL
text and the e5rt functions, the ways on which runtime reaches the engine. --check: fails if the file is not fresh.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.join(ROOT, "docs/house.svg")
WIDTH, HEIGHT = 168, 58

# Left to right and top to bottom; what each room does, in a few words.
ROOMS = {
    "public": (0.0, 0, "include/millwright", "what a user may say"),
    "inspect": (1.1, 0, "inspect", "looks into programs"),
    "data": (2.1, 0, "data", "files as data sets"),
    "runtime": (0.0, 1, "runtime", "programs, state, trainers"),
    "engine/surface": (2.55, 1, "engine/surface", "the e5rt functions"),
    "engine/run": (2.1, 2, "engine/run", "phases, memory, threads"),
    "engine/compile": (3.0, 3, "engine/compile", "text to plan"),
    "engine/kernels": (3.0, 4, "engine/kernels", "operations computed"),
    "engine/core": (2.55, 5, "engine/core", "contract of kernels"),
    "format": (0.0, 3, "format", "files of others"),
    "autograd": (0.0, 4, "autograd", "gradients, optimizers"),
    "mil": (1.1, 4, "mil", "text, weights, legality"),
    "rules": (1.1, 5, "rules", "the ANE, as rows"),
    "graph": (1.1, 6, "graph", "operations and their table"),
    "view": (0.0, 7, "view", "what people look at"),
    "base": (1.1, 7, "base", "memory, errors, files"),
}
DASHED = [("runtime", "engine/surface", "e5rt functions"), ("mil", "engine/compile", "MIL text")]


def room_of(path):
    parts = path.split("/")
    if parts[0] == "millwright":
        return "public"
    return "/".join(parts[:2]) if parts[0] in ("engine", "chip") else parts[0]


def read_sources():
    """Lines by room, and the set of (room, included room)."""
    lines, edges = {room: 0 for room in ROOMS}, set()
    for top in ("src", "include"):
        for folder, _, files in os.walk(os.path.join(ROOT, top)):
            for name in files:
                if not name.endswith((".c", ".h", ".def")):
                    continue
                path = os.path.join(folder, name)
                room = room_of(os.path.relpath(path, os.path.join(ROOT, top)))
                if room not in ROOMS:
                    continue
                text = open(path, encoding="utf-8").read()
                lines[room] += text.count("\n")
                for header in re.findall(r'#\s*include\s+["<]([a-z0-9_]+/[^">]+)[">]', text):
                    other = room_of(header)
                    if other in ROOMS and other not in (room, "public"):
                        edges.add((room, other))
    return lines, edges


def reduce_edges(edges):
    """Without those that a longer way implies."""
    def reaches(a, b, without):
        return any(n == b or reaches(n, b, without) for m, n in edges if m == a and (m, n) != without)
    return sorted(edge for edge in edges if not reaches(edge[0], edge[1], edge))


def center(room):
    column, row, _, _ = ROOMS[room]
    return 20 + column * 200 + WIDTH / 2, 20 + row * 92 + HEIGHT / 2


def arrow(x1, y1, x2, y2, extra=""):
    return '<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" marker-end="url(#tip)" %s/>' % (x1, y1, x2, y2, extra)


def include(a, b):
    (x1, y1), (x2, y2) = center(a), center(b)
    down = HEIGHT / 2 if y1 < y2 else -HEIGHT / 2
    return arrow(x1, y1 + down, x2, y2 - down)


def way(a, b):
    """Dashed, into the left side of the room, so that it lies on no arrow of an include."""
    (x1, y1), (x2, y2) = center(a), center(b)
    x1, y1 = (x1 + WIDTH / 2, y1) if y1 == y2 else (x1 + WIDTH / 4, y1 - HEIGHT / 2)
    return arrow(x1, y1, x2 - WIDTH / 2, y2, 'stroke-dasharray="5 4"')


def draw():
    lines, edges = read_sources()
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 760" font-family="sans-serif">',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
           'orient="auto"><path d="M0 0 8 4 0 8z" fill="#456"/></marker></defs>',
           '<rect width="820" height="760" fill="#fff"/>',
           '<rect x="425" y="100" width="385" height="470" rx="8" fill="#f2f5f8"/>',
           '<g stroke="#456" stroke-width="1.3">']
    out += [include(a, b) for a, b in reduce_edges(edges)]
    out += [way(a, b) for a, b, _ in DASHED]
    out.append("</g>")
    for a, b, text in DASHED:
        (x1, y1), (x2, y2) = center(a), center(b)
        out.append('<text x="%.0f" y="%.0f" font-size="12" font-style="italic" text-anchor="middle" fill="#456">%s</text>'
                   % ((x1 + x2) / 2, (y1 + y2) / 2 - (8 if y1 == y2 else 26), text))
    for room, (_, _, name, job) in ROOMS.items():
        x, y = center(room)
        fill = "#e3edf7" if room.startswith("engine") else "#fff"
        out.append('<rect x="%.0f" y="%.0f" width="%d" height="%d" rx="6" fill="%s" stroke="#456"/>'
                   % (x - WIDTH / 2, y - HEIGHT / 2, WIDTH, HEIGHT, fill))
        out.append('<text x="%.0f" y="%.0f" font-size="14" font-weight="bold" text-anchor="middle">%s</text>'
                   % (x, y - 9, name))
        out.append('<text x="%.0f" y="%.0f" font-size="11" text-anchor="middle">%s</text>' % (x, y + 6, job))
        out.append('<text x="%.0f" y="%.0f" font-size="11" text-anchor="middle" fill="#678">%s lines</text>'
                   % (x, y + 20, "{:,}".format(round(lines[room], -2))))
    return "\n".join(out + ["</svg>"]) + "\n"


def shape(text):
    """What --check compares: arrows and names; counts of lines may age."""
    return re.sub(r">[0-9,]+ lines<", "><", text)


def main():
    text = draw()
    if sys.argv[1:] == ["--check"]:
        if not os.path.exists(TARGET) or shape(open(TARGET, encoding="utf-8").read()) != shape(text):
            sys.exit("docs/house.svg is not fresh: run tools/draw_house.py")
        return
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(text)


main()
