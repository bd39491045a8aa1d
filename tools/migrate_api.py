#!/usr/bin/env python3
"""Takes C and C++ sources from an older public interface of Millwright to this one: tools/migrate_api.py FOLDER ..

Applies the table of CHANGELOG.md (tools/migrate_table.py says how to read it) to every .c, .h, .cc, .cpp, .cxx, .hh, .hpp
and .hxx file below the folders, or to the files that are named. It lists what needs a hand, FILE:LINE: what, and what to
do; and what it changed that may do something else now, FILE:LINE: look at. Changed files are replaced as a whole; comments
and text stay. Exit code 1 if anything needs a hand, 2 for wrong arguments.

--dry-run    says what would be done
--table F    another table"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from c_file import lex, lex_body  # noqa: E402
from migrate_calls import Calls, add_functions, arguments_of, count, insertion, new_arguments  # noqa: E402
from migrate_table import ADDED, WRITERS, Malformed, Table  # noqa: E402
from migrate_types import Scopes, Types, base_type, cast_type, declared, further, is_type, text_at  # noqa: E402

CPP_ENDINGS = (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx")
ENDINGS = (".c", ".h", *CPP_ENDINGS)
HERE = os.path.dirname(os.path.abspath(__file__))
MEMBER = re.compile(r"(?:\.|->)\s*([A-Za-z_]\w*)")
PRESENT = re.compile(r"`(\w+)\(([^`]*)\)`")


class File(Calls):
    """One source: its tokens, of which edits replace the text, and what needs a hand or a look."""

    def __init__(self, path, text, table, types):
        self.path, self.table, self.is_cpp = path, table, path.endswith(CPP_ENDINGS)
        self.all = [["space", ""]] + [list(t) for t in lex(text, self.is_cpp)]
        self.at = [i for i, t in enumerate(self.all) if is_code(t)]
        self.tokens = [tuple(self.all[i]) for i in self.at]
        self.scopes = Scopes(types, self.is_cpp)
        self.by_hand, self.notes, self.blocks, self.parentheses = [], [], [], 0
        self.current = self.name = None  # what is being declared: its type and its name
        self.forms, self.added = {}, []  # number of a call -> whose it is; functions that are written into the file
        self.gone = {field for _, field in table.fields} - types.library

    def migrate(self, keep_lines=False):
        """Returns the new text. Places have the lines of the new text, with keep_lines those of the old one."""
        lines = line_numbers(self.all)
        self.migrate_headers()
        self.migrate_macros()
        for number in range(len(self.tokens)):
            self.visit(number)
        self.migrate_calls()
        self.migrate_libraries()
        add_functions(self.all, self.added)
        lines = lines if keep_lines else line_numbers(self.all)
        self.by_hand = sorted((lines[at], *what) for at, *what in self.by_hand)
        self.notes = sorted((lines[at], *what) for at, *what in self.notes)
        return "".join(t[1] for t in self.all)

    def set(self, number, text):
        self.all[self.at[number]][1] = text

    def tell(self, number, what, sentence):
        self.by_hand.append((self.at[number], what, sentence))

    def look_at(self, number, what, sentence):
        self.notes.append((self.at[number], what, sentence))

    def migrate_headers(self):
        for token in self.all:
            if token[0] == "line" and "include" in token[1]:
                for old, new in self.table.headers.items():
                    token[1] = token[1].replace(f"<{old}>", f"<{new}>").replace(f'"{old}"', f'"{new}"')

    def migrate_libraries(self):
        """What the core had and a library beside it has now: its header, and a word of the library."""
        texts = [t[1] for t in self.all if is_code(t)] + [ADDED[name] for name in self.added]
        used = {name for text in texts for name in re.findall(r"\bmw_\w+", text)}
        includes = [t for t in self.all if t[0] == "line" and "include" in t[1]]
        core = next((t for t in includes if "millwright/millwright.h" in t[1]), None)
        lines = []
        for library, (umbrella, names) in BESIDE.items():
            wanted = {names[name] for name in used & set(names)}
            if not wanted or all(any(h in t[1] for t in includes for h in (umbrella, header)) for header in wanted):
                continue
            lines.append(core[1].replace("millwright/millwright.h", umbrella) if core else f"#include <{umbrella}>")
            at = self.all.index(core) if core else insertion(self.all)
            self.notes.append((at, min(used & set(names)), f"link libmillwright_{library}, which has it now"))
        if core:
            core[1] = "\n".join([*lines, core[1]])
        elif lines:  # behind the first includes: the core's header is in one of them
            at = insertion(self.all)
            text = "\n".join(lines)
            self.all[at][1] += "\n" + text if at else text + "\n"

    def migrate_macros(self):
        for at, token in enumerate(self.all):
            if token[0] == "line" and "define" in token[1]:
                for field in sorted(set(MEMBER.findall(token[1])) & self.gone):
                    self.by_hand.append((at, field, self.unknown(field)))
                self.migrate_macro(token, at)

    def migrate_macro(self, token, at):
        """Names in the body of a macro; calls that changed their arguments there need a hand."""
        for name in sorted(set(re.findall(r"\bmw_\w+", token[1]))):
            if name in self.table.names:
                token[1] = re.sub(rf"\b{name}\b", self.table.names[name], token[1])
                if name in WRITERS:
                    self.notes.append((at, name, WRITERS[name].sentence))
            elif (name in self.table.by_hand or name in self.table.calls) and not self.is_present_in(token[1], name):
                call = self.table.calls.get(name)
                self.by_hand.append((at, name, f"is now `{call.text}`" if call else self.table.by_hand[name]))

    def is_present_in(self, macro, name):
        """Whether all that a macro has of a name are calls as they are now."""
        call = self.table.calls.get(name)
        tokens = [t for t in lex_body(macro.replace("\\\n", "\n")) if is_code(t)]
        found = [arguments_of(tokens, at) for at, t in enumerate(tokens) if t[1] == name]
        wanted = new_arguments(name, call) if call else None
        return wanted is not None and all(a is not None and len(a) == wanted for a in found)

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
            return self.scopes.types.of(cast_type(self.tokens, number - 1))
        if before[-1:] == ["="] and before[0] == ".":
            return self.scopes.types.member(self.blocks[-1][0] if self.blocks else None, before[1])
        if before[-1:] == ["="]:
            return self.current
        if before[-1:] in (["{"], [","]) and self.blocks:
            return self.blocks[-1][0]
        return self.current if before[-1:] and before[-1] == self.name else None

    def visit_name(self, number, text):
        before = text_at(self.tokens, number - 1)
        if before in (".", "->"):
            return self.visit_field(number, text, before)
        if is_type(self.tokens, number) or text in self.scopes.types.names:
            self.visit_type(number, self.scopes.types.of(text))
        if text == "offsetof":
            return self.visit_offset(number)
        if text in WRITERS and (text in self.table.names or text in self.table.calls):
            self.look_at_writer(number)
        is_call = text_at(self.tokens, number + 1) == "("
        if text in self.table.calls and is_call:
            self.judge_call(number)
        elif text in self.table.by_hand and not self.is_present(number, self.table.by_hand[text]):
            self.tell(number, text, self.table.by_hand[text])
        elif text in self.table.names:
            self.set(number, self.table.names[text])

    def is_present(self, number, sentence):
        """Whether a call has the arguments that the sentence says the function has now."""
        now, arguments = PRESENT.match(sentence), self.arguments(number)
        if not now or now.group(1) != self.tokens[number][1] or arguments is None:
            return False
        return len(arguments) == count(now.group(2)) or self.is_prototype(number)

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
        if before == "." and text_at(self.tokens, number - 2) in ("{", ","):
            struct = self.blocks[-1][0] if self.blocks else None
            self.rename_field(number, struct, text, self.is_cpp)
        else:
            self.rename_field(number, base_type(self.tokens, number - 1, self.scopes), text)

    def visit_offset(self, number):
        struct, field = self.scopes.types.of(text_at(self.tokens, number + 2)), number + 4
        if struct in self.table.structs() and field < len(self.tokens):
            self.rename_field(field, struct, self.tokens[field][1])

    def rename_field(self, number, struct, text, is_flat=False):
        """is_flat: the place takes no path, as a designator of C++."""
        if (struct, text) in self.table.fields and not self.is_group(number, struct, text):
            path = self.table.fields[struct, text]
            if is_flat and "." in path:
                self.tell(number, f"{struct}.{text}", f"is now `{path}`, which no initializer of C++ can name")
            else:
                self.set(number, path)
        elif (struct, text) in self.table.by_hand:
            self.tell(number, f"{struct}.{text}", self.table.by_hand[struct, text])
        elif text in self.gone and self.is_unknown(struct):
            self.tell(number, text, self.unknown(text))

    def is_unknown(self, struct):
        return struct is None or struct not in self.scopes.types.defined | self.table.structs()

    def unknown(self, field):
        paths = [f"`{path}` of {struct}" for (struct, old), path in self.table.fields.items() if old == field]
        return f"its struct is not known; is now {' or '.join(paths)}"

    def is_group(self, number, struct, text):
        """Whether a name that is both a field of old and a group of now stands for the group: what follows is in it."""
        after = [t[1] for t in self.tokens[number + 1:number + 5]]
        if after[:3] == ["=", "{", "."]:
            after = after[2:]
        paths = {p for (s, _), p in self.table.fields.items() if s == struct}
        return after[:1] == ["."] and f"{text}.{''.join(after[1:2])}" in paths


def is_code(token):
    return token[0] not in ("space", "comment", "line")


# The interface of now, for the types that it has.
HEADERS = os.path.join(HERE, "..", "include", "millwright")


def read_beside(library):
    """The header that has all of a library beside the core, and what its headers declare: name -> header."""
    umbrella, declared_in = f"millwright/{library}.h", {}
    for header in re.findall(r"#include <(millwright/\w+\.h)>", read(os.path.join(HEADERS, "..", umbrella))):
        text = read(os.path.join(HEADERS, "..", header))
        names = re.findall(r"^MW_API [^(]*?\b(mw_\w+)\(|^\} (mw_\w+);|^typedef [^(]*?\b(mw_\w+)\(", text, re.M)
        declared_in.update((name, header) for name in map("".join, names))
    return umbrella, declared_in


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


# Libraries whose functions the core had.
BESIDE = {library: read_beside(library) for library in ("data", "inspect")}


def write(path, text):
    beside = path + ".migrated"
    with open(beside, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    os.chmod(beside, os.stat(path).st_mode)
    os.replace(beside, path)


def migrate_files(paths, table, dry_run):
    """Returns (changed files, [(path, line, what, sentence)] for a hand, the same to look at)."""
    texts = {path: read(path) for path in sources(paths)}
    types = Types(table.structs())
    types.read_library(tokens_of(path, read(path)) for path in sources([HEADERS]))
    types.read([tokens_of(path, text) for path, text in texts.items()])
    changed, by_hand, notes = [], [], []
    for path, text in texts.items():
        file = File(path, text, table, types)
        new = file.migrate(dry_run)
        by_hand += [(path, *what) for what in file.by_hand]
        notes += [(path, *what) for what in file.notes]
        if new != text:
            changed.append(path)
            if not dry_run:
                write(path, new)
    return changed, by_hand, notes


def tokens_of(path, text):
    return [t for t in lex(text, path.endswith(CPP_ENDINGS)) if is_code(t)]


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="FOLDER")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--table", default=os.path.join(HERE, "..", "CHANGELOG.md"), metavar="F")
    options = parser.parse_args()
    for path in options.paths:
        if not os.path.exists(path):
            parser.error(f"{path} is not there")
    try:
        options.table = Table(read(options.table))
    except (Malformed, OSError) as error:
        parser.error(str(error))
    return options


def main():
    options = parsed_arguments()
    changed, by_hand, notes = migrate_files(options.paths, options.table, options.dry_run)
    for path in changed:
        print(("would change " if options.dry_run else "changed ") + path)
    for path, line, what, sentence in by_hand:
        print(f"{path}:{line}: {what}: {sentence}")
    for path, line, what, sentence in notes:
        print(f"{path}:{line}: look at {what}: {sentence}")
    print(f"{len(changed)} files changed, {len(by_hand)} places need a hand, {len(notes)} places to look at")
    return 1 if by_hand else 0


if __name__ == "__main__":
    sys.exit(main())
