#!/usr/bin/env python3
"""A picture of what a command draws on a terminal, two thirds of the way: what was typed, and the screen below it.
usage: tools/terminal.py OUT.svg COLUMNS COMMAND [ARGUMENT..]; the command runs in a terminal of that width, and of its
control sequences those of src/tool/show/dashboard.c are understood: clear the line, so many lines up, carriage return."""
import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios

CONTROL = re.compile(r"\x1b\[(\d*)([AK])|([\r\n])|([^\x1b\r\n]+)")


def output_of(command, columns):
    child, screen = pty.fork()
    if child == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(command[0], command)
    data = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:  # Linux's word for an end
            part = b""
        if not part:
            break
        data += part
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("%s failed:\n%s" % (command[0], data.decode(errors="replace")))
    return data.decode()


def screens(text):
    """The lines of the screen each time the cursor goes up to draw them again, and at the end."""
    lines, row, column, seen = [""], 0, 0, []
    for count, kind, move, plain in CONTROL.findall(text):
        if kind == "A":
            seen.append([line.rstrip() for line in lines])
            row = max(0, row - int(count or 1))
        elif kind == "K":
            lines[row] = lines[row][:column]
        elif move == "\r":
            column = 0
        elif move == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        else:
            lines[row] = lines[row].ljust(column)[:column] + plain + lines[row][column + len(plain):]
            column += len(plain)
    return seen + [[line.rstrip() for line in lines]]


def wrapped(lines, columns):
    return [line[at:at + columns] for line in lines for at in range(0, max(1, len(line)), columns)]


def picture(lines, columns):
    width, height = columns * 8.4 + 24, len(lines) * 19 + 22
    text = "".join('<tspan x="12" y="%d">%s</tspan>' % (24 + 19 * i, html.escape(line)) for i, line in enumerate(lines))
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d">\n'
            '<rect width="100%%" height="100%%" rx="6" fill="#1e2227"/>\n'
            '<text xml:space="preserve" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
            'fill="#d8dee6">%s</text>\n</svg>\n' % (width, height, width, height, text.replace("<tspan", "\n<tspan")))


def main():
    out, columns, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    seen = screens(output_of(command, columns))
    shown = seen[len(seen) * 2 // 3]
    if len(seen) < 4 or not any("\u2581" <= c <= "\u2588" for line in shown for c in line):
        sys.exit("the command drew no curve over itself: %s" % shown)
    if max(map(len, shown[-3:])) > columns:
        sys.exit("a line that is drawn over is longer than the terminal is wide: %s" % shown)
    typed = "$ mw " + " ".join(command[1:])
    with open(out, "w", encoding="utf-8") as f:
        f.write(picture(wrapped([typed] + shown, columns), columns))


main()
