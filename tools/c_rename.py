"""Gives other names to what a C file has at file level, token by token, for amalgamate.py. Members of structs keep
theirs, and so do parameters of macros."""
import re

from c_file import DEFINE, lex_body

NAMED = re.compile(r"[ \t]*#[ \t]*(undef|if|ifdef|ifndef|elif)\b")


class Renamer:
    """names: ordinary names and their new ones; tags: those of structs, unions and enums."""

    def __init__(self, names, tags):
        self.names, self.tags = names, tags

    def text(self, tokens):
        if not self.names and not self.tags:
            return "".join(text for _, text in tokens)
        return "".join(self.renamed(tokens, self.names))

    def renamed(self, tokens, names):
        out, plain = [], [i for i, t in enumerate(tokens) if t[0] not in ("space", "comment")]
        place, braces, parentheses = {at: i for i, at in enumerate(plain)}, [], 0
        seen = [tokens[at] for at in plain if tokens[at][0] != "line"]
        number = -1
        for at, (kind, text) in enumerate(tokens):
            if at not in place:
                out.append(text)
                continue
            if kind == "line":
                out.append(self.directive(text))
                continue
            number += 1
            if text == "{":
                braces.append((is_aggregate(seen, number), parentheses))
                parentheses = 0
            elif text == "}" and braces:
                parentheses = braces.pop()[1]
            parentheses += (text in "([") - (text in ")]")
            if kind == "name" and (text in names or text in self.tags):
                text = self.name(seen, number, names, bool(braces) and braces[-1][0], parentheses)
            out.append(text)
        return out

    def name(self, seen, at, names, in_members, parentheses):
        text = seen[at][1]
        before = seen[at - 1][1] if at > 0 else ""
        after = seen[at + 1][1] if at + 1 < len(seen) else ""
        if before in ("struct", "union", "enum"):
            return self.tags.get(text, text)
        if before in (".", "->") or text not in names or in_offsetof(seen, at):
            return text
        if in_members and parentheses == 0 and after in (";", ",", "[", ":"):
            return text
        if in_members and parentheses == 1 and before == "*" and seen[at - 2][1] == "(" and after in (")", "["):
            return text
        return names[text]

    def directive(self, text):
        define = DEFINE.match(text)
        if not define:
            return "".join(self.renamed(lex_body(text), self.names)) if NAMED.match(text) else text
        start, name, parameters, body = define.groups()
        own = {p.strip() for p in (parameters or "()")[1:-1].split(",")}
        names = {n: new for n, new in self.names.items() if n not in own}
        return start + names.get(name, name) + (parameters or "") + "".join(self.renamed(lex_body(body), names))


def is_aggregate(seen, at):
    return any(t[1] in ("struct", "union") for t in seen[max(0, at - 2):at])


def in_offsetof(seen, at):
    if at < 4 or seen[at - 1][1] != ",":
        return False
    depth, i = 0, at - 1
    while i > 0:
        depth += (seen[i][1] in ")}]") - (seen[i][1] in "({[")
        if depth < 0:
            return seen[i - 1][1] == "offsetof"
        i -= 1
    return False
