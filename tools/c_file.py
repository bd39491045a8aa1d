"""Reads a C file as tokens, and finds what it includes, its macros and its names at file level. For amalgamate.py: it
knows the C that is written here, as clang-format leaves it, and not all of C."""
import re

from c_macros import Expansion

# A directive of the preprocessor with its continuations; elsewhere # is an operator.
LINE = r"(?P<line>(?:(?<=\n)|\A)[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*)|"
TOKEN = r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      |(?P<name>[A-Za-z_]\w*)
      |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
      |(?P<space>[ \t]+|\\?\n)
      |(?P<mark>->|\#\#|\.\.\.|.)"""
LEXER = re.compile(LINE + TOKEN, re.X | re.S)
BODY_LEXER = re.compile(TOKEN, re.X | re.S)
CPP_LEXER = re.compile(LINE + TOKEN.replace(r"|[\w.])*", r"|[\w.]|'(?=\w))*"), re.X | re.S)  # numbers as 1'000
INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')
DEFINE = re.compile(r"([ \t]*#[ \t]*define[ \t]+)(\w+)(\([^)]*\))?(.*)", re.S)
CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b")


class Refused(Exception):
    pass


def lex(text, is_cpp=False):
    """(kind, text) of each token; a directive with its continuations is one."""
    return [(m.lastgroup, m.group()) for m in (CPP_LEXER if is_cpp else LEXER).finditer(text)]


def lex_body(text):
    """The same of what a macro stands for, where # makes text of a name."""
    return [(m.lastgroup, m.group()) for m in BODY_LEXER.finditer(text)]


def words(tokens):
    return [t for t in tokens if t[0] not in ("space", "comment")]


class Source:
    """A file of src/, include/ or of others, by the path that #include has for it."""

    def __init__(self, path, text):
        self.path = path
        self.tokens = lex(text)
        self.includes = []  # (path, whether in <>, depth of conditions)
        self.macros = {}  # name -> (parameters or None, body as tokens)
        self.names, self.tags = set(), set()
        self.pasted = set()  # names that macros make of parts
        self.read_lines()

    def read_lines(self):
        depth = -1 if self.path.endswith(".h") else 0  # the guard of a header is no condition
        for kind, text in self.tokens:
            if kind != "line":
                continue
            condition, include, define = CONDITION.match(text), INCLUDE.match(text), DEFINE.match(text)
            if condition:
                depth += {"if": 1, "en": -1}.get(condition.group(1)[:2], 0)
            elif include:
                self.includes.append((include.group(2), include.group(1) == "<", depth))
            elif define:
                parameters = define.group(3)
                parameters = [p.strip() for p in parameters[1:-1].split(",")] if parameters else None
                self.macros.setdefault(define.group(2), []).append((parameters, words(lex_body(define.group(4)))))

    def find_names(self, macros):
        """macros: those of all headers. Its own come first."""
        macros = {**macros, **self.macros}
        calls = {name for name, definitions in macros.items() if any(p is not None for p, _ in definitions)}
        expansions = [Expansion(macros, choice) for choice in range(2)]
        tokens = words(self.tokens)
        FileLevel(self, calls, lambda call, choice: expansions[choice].expand(call), tokens)
        for expansion in expansions:
            expansion.expand([t for t in tokens if t[0] != "line"])
            self.pasted |= expansion.pasted


class FileLevel:
    """Finds the names that a file has at file level: functions, objects, types, constants and tags."""

    def __init__(self, source, calls, expand, tokens):
        self.source, self.calls, self.expand, self.tokens = source, calls, expand, tokens
        self.at = 0
        try:
            while self.at < len(self.tokens):
                self.declaration()
        except IndexError:
            raise Refused("src/" + source.path + ": braces or parentheses are not closed") from None

    def declaration(self):
        """One declaration or definition, in which a group in braces is the token {}."""
        found = []
        while True:
            if self.at >= len(self.tokens):
                return
            kind, text = self.tokens[self.at]
            if kind == "line":
                self.conditional(text, found)
            elif text == ";":
                self.at += 1
                break
            elif text == "{":
                body = self.is_body(found)
                self.group("{", "}", None if body or self.is_value(found) else self.members)
                found.append(("group", "{}"))
                if body:
                    break
            elif not found and text in self.calls and self.tokens[self.at + 1][1] == "(":
                self.call()
                return
            elif found and found[-1][1] == ")" and text in self.calls and self.is_made_body():
                break
            else:
                found.append((kind, text))
                self.at += 1
        self.declared(found)

    def call(self):
        """A macro in the place of declarations: what it makes of itself is read in its place."""
        start = self.at
        self.at += 1
        self.group("(", ")", None)
        call = self.tokens[start:self.at]
        if self.at < len(self.tokens) and self.tokens[self.at][1] == ";":
            self.at += 1
        for choice in range(2):
            made = self.expand(call, choice)
            if made and made[0] != call[0]:
                FileLevel(self.source, self.calls, self.expand, made)

    def is_made_body(self):
        """Steps over a macro that stands where the body of a function does, if it is one."""
        start = self.at
        self.at += 1
        self.group("(", ")", None)
        made = self.expand(self.tokens[start:self.at], 0)
        if made and made[0][1] == "{":
            return True
        self.at = start
        return False

    def conditional(self, text, found):
        """Of #if .. #else within a declaration only the first branch counts."""
        self.at += 1
        condition = CONDITION.match(text)
        if not found or not condition or condition.group(1)[:2] != "el":
            return
        depth = 0
        while True:
            kind, text = self.tokens[self.at]
            condition = CONDITION.match(text) if kind == "line" else None
            if condition and condition.group(1) == "endif" and depth == 0:
                return
            if condition:
                depth += {"if": 1, "en": -1}.get(condition.group(1)[:2], 0)
            self.at += 1

    @staticmethod
    def is_value(found):
        return ("mark", "=") in found

    @staticmethod
    def is_body(found):
        keyword = [i for i, t in enumerate(found) if t[1] in ("struct", "union", "enum")]
        if ("mark", "=") in found or not found:
            return False
        return not (keyword and keyword[-1] >= len(found) - 2)

    def group(self, opening, closing, visit):
        """Skips to the end of a group; visit sees the tokens in it."""
        start, depth = self.at, 0
        while True:
            text = self.tokens[self.at][1]
            depth += (text == opening) - (text == closing)
            self.at += 1
            if depth == 0:
                break
        if visit:
            visit(start)

    def members(self, start):
        """What stands in the braces of a type: constants of enums, and tags, which are seen outside of it."""
        before = self.tokens[max(0, start - 2):start]
        inside = self.tokens[start + 1:self.at - 1]
        if any(t[1] == "enum" for t in before):
            self.constants(inside)
        for i, (_, text) in enumerate(inside):
            if text in ("struct", "union", "enum") and inside[i + 1][0] == "name" and inside[i + 2][1] == "{":
                self.source.tags.add(inside[i + 1][1])
            if text == "enum":
                opening = next(j for j in range(i, len(inside)) if inside[j][1] in "{;")
                if inside[opening][1] == "{":
                    end = next(j for j in range(opening, len(inside)) if inside[j][1] == "}")
                    self.constants(inside[opening + 1:end])

    def constants(self, inside):
        wanted, depth = True, 0
        for kind, text in inside:
            if kind == "line":
                continue
            if wanted and kind == "name":
                self.source.names.add(text)
                wanted = False
            depth += (text in "([") - (text in ")]")
            if text == "," and depth == 0:
                wanted = True

    def declared(self, found):
        for i, (_, text) in enumerate(found):
            if text in ("struct", "union", "enum") and i + 1 < len(found) and found[i + 1][0] == "name":
                if i + 2 == len(found) or found[i + 2][1] == "{}" or found[0][1] == "typedef":
                    self.source.tags.add(found[i + 1][1])
        found = without_attributes(found, self.calls)
        if not found or found[0][1] in ("_Static_assert", "extern"):
            return
        if len(found) == 2 and found[0][1] in ("struct", "union", "enum"):
            return  # a tag alone
        for part in split(found):
            name = declarator(part)
            if name:
                self.source.names.add(name)


def without_attributes(found, calls):
    kept, i = [], 0
    while i < len(found):
        if found[i][1] in ("__attribute__", "_Alignas", "_Atomic") or found[i][1] in calls and found[i + 1:i + 2] == [
                ("mark", "(")]:
            depth, i = 0, i + 1
            while True:
                depth += (found[i][1] == "(") - (found[i][1] == ")")
                i += 1
                if depth == 0:
                    break
        else:
            kept.append(found[i])
            i += 1
    return kept


def split(found):
    """The declarators of a declaration, each but the first without its type."""
    parts, depth = [[]], 0
    for token in found:
        depth += (token[1] in "([") - (token[1] in ")]")
        if token[1] == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def declarator(part):
    name = None
    for i, (kind, text) in enumerate(part):
        if text in "=[" or text == "(" and name and part[i + 1][1] != "*":
            return name
        if text == "(" and part[i + 1][1] == "*":
            return next(t[1] for t in part[i + 1:] if t[0] == "name" and t[1] != "const")
        if kind == "name" and text not in ("const", "volatile", "restrict"):
            name = text
        if text == "{}":
            name = None
    return name if part and part[-1][0] == "name" else None
