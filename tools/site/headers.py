"""Turns the public headers into pages of the site: one for each header, with what its first comment says, and one part
for each function, type and constant, which others link to. Called by tools/site/build.py."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "include" / "millwright"
LEAD = re.compile(r"\A/\*(?P<text>.*?)\*/", re.S)
ITEM = re.compile(
    r"/\*\*(?P<block>(?:(?!\*/).)*)\*/\s*\n(?P<code>(?:#define[^\n]*(?:\\\n[^\n]*)*|(?:typedef|MW_API|static|struct|enum)"
    r"(?:[^;{]*\{.*?\n\}[^;]*;|[^;]*;)))", re.S)
MORE = re.compile(r"\s*\n(?P<code>MW_API[^;]*;)", re.S)
FIELD = re.compile(r"(?P<name>[^\s`][^\s]*(?:,? [^\s]+){0,3}?) {2,}(?P<text>\S.*)")
NAME = re.compile(r"\b(?:mw|ane_e5rt)_\w+\b|\bMW_[A-Z0-9_]+\b")


def lines_of(block):
    """The text of a comment without its frame; what stands further right than its left edge keeps its distance."""
    lines = [re.sub(r"^\s*\*? ?", "", line, count=1).rstrip() for line in block.strip("\n").splitlines()]
    edge = min((len(line) - len(line.lstrip()) for line in lines[1:] if line), default=0)
    return [lines[0].strip()] + [line[edge:] for line in lines[1:]] if lines else []


def declared(code):
    """The name of a declaration: of a function, a macro, a type or a variable."""
    for pattern in (r"#define\s+(\w+)", r"\b((?:mw|ane_e5rt)_\w+)\s*\(", r"\(\*(\w+)\)", r"\}\s*(\w+)\s*;", r"(\w+)(?:\[[^]]*\])?\s*;"):
        found = re.search(pattern, code)
        if found:
            return found.group(1)
    return None


def items_of(text):
    """(comment, [(name, code)]) of what is documented; functions right below share the comment of the first."""
    for found in ITEM.finditer(text):
        members, end = [found.group("code")], found.end()
        while more := MORE.match(text[end:]):
            members.append(more.group("code"))
            end += more.end()
        named = [(declared(code), code) for code in members]
        yield found.group("block"), [(name, code) for name, code in named if name]


class Links:
    """Where each name is explained."""

    def __init__(self, pages):
        self.places = {name: page for page, names in pages.items() for name in names}

    def mark(self, text, page):
        """Names as code, those of headers as links; what is in backticks stays."""
        parts = re.split(r"(`[^`]*`)", text)
        return "".join(part if part.startswith("`") else self.words(part, page) for part in parts)

    def words(self, text, page):
        escaped = re.sub(r"([*_<\[\]|\\])", r"\\\1", text)
        return re.sub(r"\b(?:mw|MW|ane\\_e5rt)(?:\\_\w+?)+\b(?!\\_)", lambda found: self.link(found.group(0).replace("\\", ""), page), escaped)

    def link(self, name, page):
        place = self.places.get(name)
        if place is None:
            return f"`{name}`"
        up = "../" * page.count("/")
        return f"[`{name}`](#{name.lower()})" if place == page else f"[`{name}`]({up}{place}.md#{name.lower()})"


def markdown(lines, links, page):
    """Paragraphs, code that is indented, fields ("x  [N, C]") as a table, lists."""
    out, fields, paragraph, code = [], [], [], []

    def end():
        if paragraph:
            out.extend([links.mark(" ".join(paragraph), page), ""])
        if code:
            out.extend(["```c", *code, "```", ""])
        if fields:
            out.extend(["| | |", "|---|---|", *(row(name, text) for name, text in fields), ""])
        paragraph.clear(), code.clear(), fields.clear()

    def row(name, text):
        return f"| {links.mark(name, page)} | {links.mark(' '.join(text), page)} |"

    for line in lines:
        field = FIELD.fullmatch(line) if not line.startswith(" ") else None
        if not line:
            if code:
                code.append("")
            else:
                end()
        elif fields and line.startswith(" "):
            fields[-1][1].append(line.strip())
        elif field:
            if not fields:
                end()
            fields.append((field.group("name"), [field.group("text")]))
        elif line.startswith("    ") and not paragraph:
            code.append(line[4:])
        elif line.startswith("- "):
            end()
            paragraph.append(line)
        elif line.startswith("  ") and paragraph and paragraph[0].startswith("- "):
            paragraph.append(line.strip())
        else:
            if code or fields:
                end()
            paragraph.append(line.strip())
    end()
    return [line for line in out if line is not None]


def page_of(header):
    return "api/" + header.relative_to(HEADERS).with_suffix("").as_posix()


def headers():
    return sorted(HEADERS.glob("**/*.h"))


def links():
    return Links({page_of(header): [name for _, members in items_of(header.read_text(encoding="utf-8")) for name, _ in members]
                  for header in headers()})


def item(block, members, known, page):
    out = []
    for name, code in members:
        out += [f"## {name}", "", "```c", re.sub(r"^MW_API ", "", code, flags=re.M).strip(), "```", ""]
        if name == members[0][0]:
            out += markdown(lines_of(block), known, page)
        else:
            out += [f"See {known.link(members[0][0], page)}.", ""]
    return out


def write(header, known):
    """The page of a header, as Markdown."""
    text, page = header.read_text(encoding="utf-8"), page_of(header)
    lead = LEAD.match(text)
    out = [f"# `<millwright/{header.relative_to(HEADERS).as_posix()}>`", ""]
    out += markdown(lines_of(lead.group("text")) if lead else [], known, page)
    for block, members in items_of(text):
        out += item(block, members, known, page)
    return "\n".join(out)
