"""Which type a name stands for in sources of C or C++, as far as it takes to rename fields: declarations by scope, members
of structs, results of functions, typedefs. It knows declarations that begin with the name of a type."""

OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
STATEMENTS = {"return", "else", "do", "case", "goto", "sizeof", "_Alignof", "throw", "new", "delete", "co_return", "and",
              "or", "not"}
NO_TYPES = STATEMENTS | {"struct", "union", "enum", "class", "namespace", "const", "static", "extern", "typedef", "using",
                         "volatile", "inline", "register"}
STRUCTS = ("struct", "union", "class")
BEFORE_TYPES = ("{", "}", ";", "(", ",", ":", "]")


class Types:
    """What all files say: of a library and of the program that uses it.

    names: name of a type -> the struct that it stands for; own: (struct, member) -> type; members: member -> type, None if
    structs have several; defined: structs with known members; returns: function -> type; library: members of its structs"""

    def __init__(self, structs):
        self.names = {name: name for name in structs}
        self.own, self.members, self.returns, self.defined, self.library = {}, {}, {}, set(), set()

    def of(self, name):
        return self.names.get(name, name)

    def member(self, owner, name):
        """The type of a member; by its name alone if the struct is not known, or has it from another one."""
        return self.own.get((owner, name)) or self.members.get(name)

    def read_library(self, files):
        self.read(files)
        self.library = {member for _, member in self.own}

    def read(self, files):
        """files: the tokens of each. Typedefs of all count in all."""
        files = list(files)
        for tokens in files:
            self.read_typedefs(tokens)
        members = {}
        for tokens in files:
            self.read_members(tokens, members)
            self.read_functions(tokens)
        self.members.update(members)

    def read_typedefs(self, tokens):
        for at, (_, text) in enumerate(tokens):
            if text == "typedef":
                at += 1
                while at < len(tokens) and tokens[at][1] in ("struct", "const"):
                    at += 1
                found = declared(tokens, at) if at < len(tokens) and tokens[at][1] in self.names else None
                if found:
                    self.names[found[1]] = self.names[tokens[at][1]]

    def read_functions(self, tokens):
        for at in range(len(tokens)):
            found = declared(tokens, at, ("(",)) if is_type(tokens, at) else None
            if found:
                self.returns[found[1]] = self.of(tokens[at][1])

    def read_members(self, tokens, members):
        owners = []
        for at, (_, text) in enumerate(tokens):
            if text == "{":
                owners.append(struct_names(tokens, at, owners[-1] if owners else []))
                self.defined.update(owners[-1])
            elif text == "}" and owners:
                owners.pop()
            elif owners and owners[-1] and is_type(tokens, at):
                for name in declared_names(tokens, at):
                    self.add_member(owners[-1], name, self.of(text), members)

    def add_member(self, owners, name, text, members):
        for owner in owners:
            self.own[owner, name] = text
        members[name] = text if members.get(name, text) == text else None


class Scopes:
    """The names that are declared where a file is read: name -> type."""

    def __init__(self, types, is_cpp=False):
        self.types, self.is_cpp = types, is_cpp
        self.stack, self.pending = [{}], {}

    def open(self):
        self.stack.append(self.pending)
        self.pending = {}

    def close(self):
        if len(self.stack) > 1:
            self.stack.pop()

    def declare(self, name, text, is_parameter):
        (self.pending if is_parameter else self.stack[-1])[name] = text

    def find(self, name):
        """The type of a name; in C++ it may be a member of the class around it."""
        for scope in [self.pending, *reversed(self.stack)]:
            if name in scope:
                return scope[name]
        return self.types.members.get(name) if self.is_cpp else None


def text_at(tokens, at):
    return tokens[at][1] if 0 <= at < len(tokens) else ""


def is_type(tokens, at):
    """Whether a declaration may begin with the name at `at`."""
    if tokens[at][0] != "name" or tokens[at][1] in NO_TYPES:
        return False
    if at == 0 or tokens[at - 1][1] in BEFORE_TYPES:
        return True
    return tokens[at - 1][0] == "name" and tokens[at - 1][1] not in STATEMENTS


def declared(tokens, at, follows=("=", ";", ",", ")", "[", "{", ":")):
    """(index, name) of what is declared after the name of a type at `at`; None if it is a cast or the like."""
    at += 1
    while text_at(tokens, at) in ("*", "const", "volatile", "restrict", "&"):
        at += 1
    if at < len(tokens) and tokens[at][0] == "name" and text_at(tokens, at + 1) in follows:
        return at, tokens[at][1]
    return None


def further(tokens, at):
    """The other names of a declaration whose first one stands at `at`: `a = .., *b, c;`."""
    depth = 0
    while at + 1 < len(tokens):
        text = tokens[at][1]
        depth += (text in OPENING) - (text in CLOSING)
        if depth < 0 or (depth == 0 and text == ";"):
            return
        if depth == 0 and text == ",":
            while text_at(tokens, at + 1) == "*":
                at += 1
            if at + 1 < len(tokens) and tokens[at + 1][0] == "name":
                yield tokens[at + 1][1]
        at += 1


def declared_names(tokens, at):
    found = declared(tokens, at)
    return [found[1], *further(tokens, found[0])] if found else []


def struct_names(tokens, at, outer):
    """The names of the struct whose members begin with the brace at `at`: its tag, and what follows it. outer: those of
    the struct around it, which has the members of one without a name."""
    first, end = at - 1, closing(tokens, at)
    while first >= 0 and tokens[first][1] not in STRUCTS and (tokens[first][0] == "name" or tokens[first][1] in ":,<>"):
        first -= 1
    if first < 0 or tokens[first][1] not in STRUCTS or text_at(tokens, first - 1) == "enum":
        return []
    tag = [tokens[first + 1][1]] if first + 1 < at else []
    if end is None or text_at(tokens, end + 1) == ";":
        return tag or outer
    return tag + [tokens[end + 1][1]] * (text_at(tokens, end + 2) == ";")


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`; None if none does."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i][1] in OPENING) - (tokens[i][1] in CLOSING)
        if depth == 0:
            return i
    return None


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


def cast_type(tokens, end):
    """The type in the parentheses that end at `end`, as in `(const struct x[]){`; None if it is none."""
    inside = tokens[partner(tokens, end) + 1:end]
    names = [t[1] for t in inside if t[0] == "name" and t[1] not in NO_TYPES]
    return names[0] if names else None


def base_type(tokens, at, scopes):
    """The type of the expression that ends before `at`; None if it is not known."""
    at -= 1
    while text_at(tokens, at) == "]":
        at = partner(tokens, at) - 1
    if text_at(tokens, at) == ")":
        return parenthesized(tokens, partner(tokens, at), at, scopes)
    if at < 0 or tokens[at][0] != "name":
        return None
    if text_at(tokens, at - 1) in (".", "->"):
        return scopes.types.member(base_type(tokens, at - 1, scopes), tokens[at][1])
    return scopes.find(tokens[at][1])


def parenthesized(tokens, opening, end, scopes):
    """The type of what a call returns, of `(*x)`, or of `((struct *)x)`."""
    if opening > 0 and tokens[opening - 1][0] == "name":
        return scopes.types.returns.get(tokens[opening - 1][1])
    first = opening + 1
    while text_at(tokens, first) in ("*", "&"):
        first += 1
    if text_at(tokens, first) == "(" and text_at(tokens, first + 1) in scopes.types.names:
        return scopes.types.of(tokens[first + 1][1])
    inside = tokens[first:end]
    is_call = len(inside) > 2 and inside[0][0] == "name" and partner(tokens, end - 1) == first + 1
    plain = is_call or all(t[0] in ("name", "number") or t[1] in (".", "->", "[", "]") for t in inside)
    return base_type(tokens, end, scopes) if inside and plain else None
