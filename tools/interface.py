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
    "data": "app data dataset_derived dataset_files dataset_images dataset_labels dataset_sounds log_mel table_encoder "
            "table_fields table_stream tensors_derived".split(),
    "inspect": "chip compare gradcheck inspect onnx_check plan ranges replay".split(),
    "chip": "chip_all chip_cost chip_place chip_plan chip_plan_rows chip_run e5 hwx netplist".split(),
    "learn": "learn loss_embedding loss_focus per_example scores".split(),
    "ranks": ["communicator"],
    "text": "text text_data text_model text_save tokenizer".split(),
    "view": "draw plot report summary view".split(),
    "mpi": ["mpi"],
    "e5rt": ["ane_e5rt"],
}
FUNCTION = re.compile(r"(?:/\*\*(?P<block>(?:(?!\*/).)*)\*/\s*)?MW_API\s+(?P<declaration>[^;#]*?\b(?P<name>mw_\w+)\([^;]*);", re.S)
# In a doc block, what ends the first paragraph: a field ("return  a graph"), an item of a list.
FIELD = re.compile(r"- |\S+(?: \S+)?  +\S")
# A name is a noun if one of these makes or ends its objects; values have no such functions.
LIFE = {"create", "open", "destroy"}
VALUES = {"mw_dtype", "mw_init", "mw_operation", "mw_schedule", "mw_shape", "mw_tensor"}
# Of the headers in ops/, those that have more than constructors.
ABOUT_OPERATIONS = {"ops/layer", "ops/operation"}
# How many functions the core may have, by the rules.
CORE_MAX = 430
# Verbs that stand for others, by the rules.
FOREIGN = {"close": "destroy", "free": "destroy", "new": "create", "delete": "destroy"}
ALLOWED = {"mw_string_free"}  # text is no object


def library_of(header):
    return next((library for library, headers in LIBRARIES.items() if header in headers), "core")


def first_sentence(block):
    """Up to a full stop before a space, or to the first field; neither ";" nor ":" ends it."""
    lines = [line.strip().lstrip("*").rstrip().removeprefix("  ") for line in (block or "").strip().splitlines()]
    fields = (at for at, line in enumerate(lines) if at > 0 and (not line.strip() or FIELD.match(line.strip())))
    text = re.sub(r"\s+", " ", " ".join(lines[: next(fields, len(lines))])).strip()
    return re.split(r"(?<=[^.]\.)(?<!e\.g\.)(?<!i\.e\.)\s", text)[0].rstrip(".;:") if text else ""


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
            yield path.relative_to(HEADERS).with_suffix("").as_posix(), match.group("name"), sentence


def nouns():
    """What is created, opened or destroyed, and values: mw_trainer of mw_trainer_create."""
    names = (name.rsplit("_", 1) for _, name, _ in functions())
    return {noun for noun, verb in names if verb in LIFE} | VALUES


def noun_of(header, name, known):
    """The longest noun that the name begins with; None if there is none, and for operations: mw_layer_norm."""
    if (header.startswith("ops/") and header not in ABOUT_OPERATIONS) or header == "loss":
        return None
    parts = name.split("_")
    starts = ("_".join(parts[:end]) for end in range(len(parts) - 1, 1, -1))
    return next((noun for noun in starts if noun in known), None)


def listing():
    known, by_noun, constructors = nouns(), {}, {}
    for header, name, sentence in functions():
        noun = noun_of(header, name, known)
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
        core = counts()["core"]
        if core > CORE_MAX:
            faults.append("core")
            print(f"the core has {core} functions, at most {CORE_MAX}: into which library beside it does the new one belong?")
        if new != text:
            print("docs/interface.md is not what tools/interface.py writes")
        return 1 if faults or new != text else 0
    DOCUMENT.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
