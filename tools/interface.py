#!/usr/bin/env python3
"""Writes the list of docs/interface.md: every public function, by the noun that its name begins with, with the first
sentence of what its header says. --check says whether the document has what would be written, and holds the names to
the rules that the document gives. --count prints the number of functions of each library."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "millwright"
DOCUMENT = ROOT / "docs" / "interface.md"
BEGIN, END = "<!-- list: begin -->", "<!-- list: end -->"
LIBRARIES = {
    "chip": "chip_all chip_cost chip_place chip_plan chip_run e5 hwx netplist".split(),
    "view": "draw plot report summary view".split(),
    "mpi": ["mpi"],
    "e5rt": ["ane_e5rt"],
}
FUNCTION = re.compile(r"(?:/\*\*(?P<block>(?:(?!\*/).)*)\*/\s*)?MW_API\s+(?P<declaration>[^;#]*?\b(?P<name>mw_\w+)\([^;]*);", re.S)
# Verbs that stand for others, by the rules.
FOREIGN = {"close": "destroy", "free": "destroy", "new": "create", "delete": "destroy"}
ALLOWED = {"mw_string_free"}  # text is no object


def library_of(header):
    return next((library for library, headers in LIBRARIES.items() if header in headers), "core")


def first_sentence(block):
    text = " ".join(line.strip().lstrip("*").strip() for line in (block or "").splitlines())
    text = re.sub(r"\s+", " ", text).strip()
    return re.split(r"(?<=[.;:])\s", text)[0].rstrip(".;:") if text else ""


def functions():
    """(header, name, first sentence) of each, in the order of the headers."""
    for path in sorted(HEADERS.glob("**/*.h")):
        text = path.read_text(encoding="utf-8")
        before = ""
        for match in FUNCTION.finditer(text):
            if match.group("declaration").startswith("#"):
                continue
            sentence = first_sentence(match.group("block")) or before
            before = sentence
            yield path.stem, match.group("name"), sentence


def nouns():
    """The names of types that functions begin with: mw_trainer of mw_trainer_step."""
    found = set()
    for path in HEADERS.glob("**/*.h"):
        found |= set(re.findall(r"typedef (?:struct|enum) (mw_\w+)", path.read_text(encoding="utf-8")))
    found |= {name[: -len("_options")] for name in found if name.endswith("_options")}
    return found | {"mw_log", "mw_thread_hooks", "mw_gradcheck", "mw_replay", "mw_netplist", "mw_plot"}


def noun_of(name, known):
    """The longest noun that the name begins with; None if there is none."""
    parts = name.split("_")
    for end in range(len(parts) - 1, 1, -1):
        if "_".join(parts[:end]) in known:
            return "_".join(parts[:end])
    return None


def listing():
    known, by_noun, constructors = nouns(), {}, {}
    for header, name, sentence in functions():
        noun = noun_of(name, known)
        where = by_noun.setdefault(noun, []) if noun else constructors.setdefault(header, [])
        where.append((header, name, sentence))
    out = []
    for noun in sorted(by_noun):
        out += table(f"`{noun}`", by_noun[noun])
    for header in sorted(constructors):
        out += table(f"Without a noun, `<millwright/{header}.h>`", constructors[header])
    return "\n".join(out)


def table(title, rows):
    headers = sorted({header for header, _, _ in rows})
    lines = ["", f"### {title}", "", "Header: " + ", ".join(f"`{header}.h`" for header in headers), "", "| function | |", "|---|---|"]
    return lines + [f"| `{name}` | {sentence.replace('|', chr(92) + '|')} |" for _, name, sentence in rows]


def counts():
    found = {}
    for header, _, _ in functions():
        found[library_of(header)] = found.get(library_of(header), 0) + 1
    return found


def main():
    if "--count" in sys.argv:
        for library, count in sorted(counts().items()):
            print(f"{library}\t{count}")
        return 0
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    new = head + BEGIN + "\n" + listing() + "\n\n" + END + rest.split(END)[1]
    if "--check" in sys.argv:
        faults = [name for _, name, _ in functions() if name.split("_")[-1] in FOREIGN and name not in ALLOWED]
        for name in faults:
            print(f"{name}: say {FOREIGN[name.split('_')[-1]]}")
        if new != text:
            print("docs/interface.md is not what tools/interface.py writes")
        return 1 if faults or new != text else 0
    DOCUMENT.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
