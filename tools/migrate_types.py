"""Which struct a name stands for in a file of C or C++, as far as it takes to rename fields: declarations by scope,
members of structs, designators of initializers. It knows declarations that begin with the name of a type."""
from c_file import words

OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


class Scopes:
    """structs: the names of types to be followed; members: name of a member -> the type that it has in any struct."""

    def __init__(self, structs, members):
        self.structs, self.members = structs, members
        self.stack, self.pending = [{}], {}

    def open(self):
        self.stack.append(self.pending)
        self.pending = {}

    def close(self):
        if len(self.stack) > 1:
            self.stack.pop()

    def declare(self, name, struct, is_parameter):
        (self.pending if is_parameter else self.stack[-1])[name] = struct

    def find(self, name):
        for scope in reversed(self.stack):
            if name in scope:
                return scope[name]
        return self.pending.get(name)


def declared(tokens, at):
    """(index, name) of what is declared after the name of a type at `at`; None if it is a cast or the like."""
    at += 1
    while at < len(tokens) and tokens[at][1] in ("*", "const", "restrict", "&"):
        at += 1
    follows = tokens[at + 1][1] if at + 1 < len(tokens) else ""
    if at < len(tokens) and tokens[at][0] == "name" and follows in ("=", ";", ",", ")", "[", "{", ":"):
        return at, tokens[at][1]
    return None


def further(tokens, at):
    """The other names of a declaration whose first one stands at `at`: `a = .., *b, c;`."""
    depth = 0
    while at < len(tokens):
        text = tokens[at][1]
        depth += (text in OPENING) - (text in CLOSING)
        if depth < 0 or (depth == 0 and text == ";"):
            return
        if depth == 0 and text == ",":
            while tokens[at + 1][1] == "*":
                at += 1
            if tokens[at + 1][0] == "name":
                yield tokens[at + 1][1]
        at += 1


def members_of(tokens, structs):
    """Members of structs of this file whose type is one of `structs`: name -> type."""
    found, inside = {}, []
    for at, (_, text) in enumerate(tokens):
        if text == "{":
            before = [t[1] for t in tokens[max(0, at - 2):at]]
            inside.append(bool({"struct", "union"} & set(before)))
        elif text == "}" and inside:
            inside.pop()
        elif text in structs and inside and inside[-1] and declared(tokens, at):
            found[declared(tokens, at)[1]] = text
    return found


def partner(tokens, at):
    """The index of the bracket that the closing one at `at` belongs to."""
    depth = 0
    while at >= 0:
        text = tokens[at][1]
        depth += (text in CLOSING) - (text in OPENING)
        if depth == 0:
            return at
        at -= 1
    return -1


def base_type(tokens, at, scopes, returns):
    """The struct of the expression that ends before the `.` or `->` at `at`; None if it is not known.
    returns: name of a function -> the struct that it returns"""
    at -= 1
    while at >= 0 and tokens[at][1] == "]":
        at = partner(tokens, at) - 1
    if at >= 0 and tokens[at][1] == ")":
        opening = partner(tokens, at)
        if opening > 0 and tokens[opening - 1][0] == "name":
            return returns.get(tokens[opening - 1][1])
        names = [t[1] for t in tokens[opening:at] if t[0] == "name"]
        return scopes.find(names[0]) if len(names) == 1 else None
    if at < 0 or tokens[at][0] != "name":
        return None
    if at > 0 and tokens[at - 1][1] in (".", "->"):
        return scopes.members.get(tokens[at][1])
    return scopes.find(tokens[at][1])


def plain(tokens):
    return words(tokens)
