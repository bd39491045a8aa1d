#!/usr/bin/env python3
"""Takes C and C++ sources from an older public interface of Millwright to this one: tools/migrate_api.py FOLDER ..

Applies the table of CHANGELOG.md (tools/migrate_table.py says how to read it) to every .c, .h, .cc, .cpp and .hpp file
below the folders, or to the files that are named, and lists what needs a hand: FILE:LINE: what, and what to do. Changed
files are replaced as a whole; comments and text stay. Exit code 1 if anything needs a hand, 2 for wrong arguments.

--dry-run    says what would be done
--table F    another table"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from c_file import lex  # noqa: E402
from migrate_table import ADDED, CALL, Malformed, Table  # noqa: E402
from migrate_types import Scopes, base_type, declared, further, members_of  # noqa: E402

ENDINGS = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp")
HERE = os.path.dirname(os.path.abspath(__file__))


class File:
    """One source: its tokens, of which edits replace the text, and what needs a hand."""

    def __init__(self, path, text, table, members):
        self.path, self.table = path, table
        self.all = [list(t) for t in lex(text)]
        self.line_of = line_numbers(self.all)
        self.at = [i for i, t in enumerate(self.all) if t[0] not in ("space", "comment", "line")]
        self.tokens = [tuple(self.all[i]) for i in self.at]
        self.scopes = Scopes(table.structs(), members)
        self.by_hand, self.blocks, self.parentheses, self.current = [], [], 0, None
        self.results, self.added = set(), []  # names of the present results; functions that are written into the file

    def migrate(self):
        self.migrate_headers()
        self.migrate_macros()
        for number in range(len(self.tokens)):
            self.visit(number)
        self.migrate_calls()
        self.add_functions()
        return "".join(t[1] for t in self.all)

    def set(self, number, text):
        self.all[self.at[number]][1] = text

    def tell(self, number, what, sentence):
        self.by_hand.append((self.line_of[self.at[number]], what, sentence))

    def migrate_headers(self):
        for token in self.all:
            if token[0] == "line" and "include" in token[1]:
                for old, new in self.table.headers.items():
                    token[1] = token[1].replace(f"<{old}>", f"<{new}>")

    def migrate_macros(self):
        """Names in the bodies of macros; calls that changed their arguments there need a hand."""
        for at, token in enumerate(self.all):
            if token[0] != "line" or "define" not in token[1]:
                continue
            for name in sorted(set(re.findall(r"\bmw_\w+", token[1]))):
                if name in self.table.names:
                    token[1] = re.sub(rf"\b{name}\b", self.table.names[name], token[1])
                elif name in self.table.by_hand or name in self.table.calls:
                    call = self.table.calls.get(name)
                    self.by_hand.append((self.line_of[at], name, f"is now `{call.text}`" if call else self.table.by_hand[name]))

    # ---- one pass over the tokens, for names and fields ----

    def visit(self, number):
        kind, text = self.tokens[number]
        if text in "{}":
            self.visit_brace(number, text)
        elif text in ("(", ")"):
            self.parentheses += 1 if text == "(" else -1
        elif text == ";" and self.parentheses == 0:
            self.current = None
            self.scopes.pending = {}
        elif kind == "name":
            self.visit_name(number, text)

    def visit_brace(self, number, text):
        if text == "}":
            if self.blocks:
                self.parentheses, self.current = self.blocks.pop()[1:]
            self.scopes.close()
            return
        self.blocks.append((self.initialized(number), self.parentheses, self.current))
        self.parentheses = 0
        self.scopes.open()

    def initialized(self, number):
        """The struct whose initializer begins with the brace at `number`."""
        before = [t[1] for t in self.tokens[max(0, number - 3):number]]
        if before[-1:] == [")"]:
            cast = [t for t in before if t in self.scopes.structs]
            return cast[0] if cast else None
        if before[-1:] == ["="]:
            return self.scopes.members.get(before[1]) if before[0] == "." else self.current
        if before[-1:] in (["{"], [","]) and self.blocks:
            return self.blocks[-1][0]
        return self.current if before[-1:] and before[-1] == self.declared_name() else None

    def declared_name(self):
        return getattr(self, "name", None)

    def visit_name(self, number, text):
        before = self.tokens[number - 1][1] if number > 0 else ""
        if before in (".", "->"):
            return self.visit_field(number, text, before)
        if text in self.scopes.structs:
            self.visit_type(number, text)
        if text in ("mw_evaluation", "mw_confusion") and declared(self.tokens, number):
            self.results.add(declared(self.tokens, number)[1])
        if text == "offsetof":
            return self.visit_offset(number)
        after = self.tokens[number + 1][1] if number + 1 < len(self.tokens) else ""
        if text in self.table.by_hand:
            self.tell(number, text, self.table.by_hand[text])
        elif text in self.table.names and not (text in self.table.calls and after == "("):
            self.set(number, self.table.names[text])

    def visit_type(self, number, text):
        found = declared(self.tokens, number)
        if not found:
            return
        is_parameter = self.parentheses > 0
        self.scopes.declare(found[1], text, is_parameter)
        self.current, self.name = text, found[1]
        if not is_parameter:
            for name in further(self.tokens, found[0]):
                self.scopes.declare(name, text, False)

    def visit_field(self, number, text, before):
        first = self.tokens[number - 2][1] if number > 1 else ""
        if before == "." and first in ("{", ","):
            struct = self.blocks[-1][0] if self.blocks else None
        else:
            struct = base_type(self.tokens, number - 1, self.scopes, RETURNS)
        self.rename_field(number, struct, text)

    def visit_offset(self, number):
        struct, field = self.tokens[number + 2][1], number + 4
        if struct in self.scopes.structs:
            self.rename_field(field, struct, self.tokens[field][1])

    def rename_field(self, number, struct, text):
        if (struct, text) in self.table.fields and not self.is_group(number, struct, text):
            self.set(number, self.table.fields[struct, text])
        elif (struct, text) in self.table.by_hand:
            self.tell(number, f"{struct}.{text}", self.table.by_hand[struct, text])

    def is_group(self, number, struct, text):
        """Whether a name that is both a field of old and a group of now stands for the group: what follows is in it."""
        after = [t[1] for t in self.tokens[number + 1:number + 3]]
        return after[:1] == ["."] and f"{text}.{after[1]}" in {p for (s, _), p in self.table.fields.items() if s == struct}

    # ---- calls, the innermost first ----

    def migrate_calls(self):
        for number in range(len(self.tokens) - 1, -1, -1):
            kind, text = self.tokens[number]
            if kind == "name" and text in self.table.calls and self.tokens[number - 1][1] not in (".", "->"):
                self.migrate_call(number, self.table.calls[text])

    def migrate_call(self, number, call):
        arguments = self.arguments(number)
        if arguments is not None and len(arguments) == new_arguments(self.tokens[number][1], call):
            return
        if call.added and arguments is not None and self.has_result(arguments):
            return
        if arguments is None or len(arguments) != len(call.parameters):
            self.tell(number, self.tokens[number][1], f"is now `{call.text}`")
            return
        texts = dict(zip(call.parameters, (self.text(first, last).strip() for first, last in arguments)))
        new = substituted(call.text, texts)
        if call.added:
            self.added.append(CALL.match(call.text).group(1))
        for at in range(self.at[number], self.at[self.closing(number + 1)] + 1):
            self.all[at][1] = ""
        self.set(number, new)

    def has_result(self, arguments):
        """Whether a call has what only the present interface has."""
        return any(self.tokens[at][1] in self.results for first, last in arguments for at in range(first, last))

    def add_functions(self):
        """Behind the last of the includes at the head of the file."""
        includes = [i for i, t in enumerate(self.all) if t[0] == "line" and "include" in t[1]]
        for name in sorted(set(self.added)):
            if includes:
                self.all[includes[-1]][1] += "\n" + ADDED[name].rstrip("\n")
            else:
                self.all.insert(0, ["line", ADDED[name].lstrip("\n")])

    def closing(self, number):
        depth = 0
        for at in range(number, len(self.tokens)):
            depth += (self.tokens[at][1] in "([{") - (self.tokens[at][1] in ")]}")
            if depth == 0:
                return at
        return None

    def arguments(self, number):
        """[(first, last + 1)] of the arguments of the call at `number`; None if it is no call."""
        if number + 1 >= len(self.tokens) or self.tokens[number + 1][1] != "(":
            return None
        end = self.closing(number + 1)
        if end is None:
            return None
        out, first, depth = [], number + 2, 0
        for at in range(number + 2, end):
            text = self.tokens[at][1]
            depth += (text in "([{") - (text in ")]}")
            if depth == 0 and text == ",":
                out.append((first, at))
                first = at + 1
        return out + [(first, end)] if end > number + 2 else []

    def text(self, first, last):
        """What stands from token `first` to before `last`, with its spaces."""
        if first >= last:
            return ""
        return "".join(t[1] for t in self.all[self.at[first]:self.at[last - 1] + 1])


def substituted(template, texts):
    """The new call with the arguments of the old one; names of members stay."""
    out = []
    for kind, text in lex(template):
        is_member = bool(out) and out[-1] == "."
        out.append(texts.get(text, text) if kind == "name" and not is_member else text)
    return "".join(out)


def new_arguments(name, call):
    """How many the call has now, if its name stayed; a call with so many was migrated before."""
    new = CALL.match(call.text)
    if not new or new.group(1) != name:
        return None
    depth, count = 0, 1
    for text in new.group(2):
        depth += (text in "([{") - (text in ")]}")
        count += text == "," and depth == 0
    return count


# Functions whose result is used without a name.
RETURNS = {}


def line_numbers(tokens):
    out, line = [], 1
    for _, text in tokens:
        out.append(line)
        line += text.count("\n")
    return out


def sources(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, _, names in os.walk(path):
            for name in sorted(names):
                if name.endswith(ENDINGS) and not os.path.islink(os.path.join(folder, name)):
                    yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def write(path, text):
    beside = path + ".migrated"
    with open(beside, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    os.chmod(beside, os.stat(path).st_mode)
    os.replace(beside, path)


def migrate_files(paths, table, dry_run):
    """Returns (changed files, [(path, line, what, sentence)])."""
    texts = {path: read(path) for path in sources(paths)}
    members = dict(MEMBERS)
    for text in texts.values():
        members.update(members_of([t for t in lex(text) if t[0] not in ("space", "comment", "line")], table.structs()))
    changed, by_hand = [], []
    for path, text in texts.items():
        file = File(path, text, table, members)
        new = file.migrate()
        by_hand += [(path, *what) for what in sorted(file.by_hand)]
        if new != text:
            changed.append(path)
            if not dry_run:
                write(path, new)
    return changed, by_hand


# Members of our own structs whose fields moved; those of the sources are found in them.
MEMBERS = {"compile": "mw_compile_options", "reference": "mw_compile_options", "device": "mw_compile_options"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="FOLDER")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--table", default=os.path.join(HERE, "..", "CHANGELOG.md"), metavar="F")
    options = parser.parse_args()
    for path in options.paths:
        if not os.path.exists(path):
            parser.error(f"{path} is not there")
    try:
        table = Table(read(options.table))
    except (Malformed, OSError) as error:
        parser.error(str(error))
    changed, by_hand = migrate_files(options.paths, table, options.dry_run)
    for path in changed:
        print(("would change " if options.dry_run else "changed ") + path)
    for path, line, what, sentence in by_hand:
        print(f"{path}:{line}: {what}: {sentence}")
    print(f"{len(changed)} files changed, {len(by_hand)} places need a hand")
    return 1 if by_hand else 0


if __name__ == "__main__":
    sys.exit(main())
