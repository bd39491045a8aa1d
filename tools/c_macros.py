"""What macros make of their arguments, for amalgamate.py: names, and text."""


def arguments(tokens, at):
    """Those of a call whose parenthesis is at `at`; what is not closed ends with the tokens."""
    found, depth = [[]], 0
    for token in tokens[at:]:
        depth += (token[1] in "([{") - (token[1] in ")]}")
        if depth == 0:
            break
        if token[1] == "," and depth == 1:
            found.append([])
        elif depth > 1 or token[1] != "(":
            found[-1].append(token)
    return found


class Pasting:
    """Which arguments of macros become text or a part of a name: in the macro itself, where the argument stands as it
    was written, or in a macro that it is passed on to, where macros in it have been replaced by then."""

    def __init__(self, macros, others=None):
        """others: of macros that are there too; those given here come first."""
        self.direct = dict(others.direct if others else {}, **{name: {} for name in macros})
        self.passed = dict(others.passed if others else {}, **{name: {} for name in macros})
        for name, number, parameter, body in every_parameter(macros):
            self.direct[name][number] = self.direct[name].get(number, False) or is_pasted(parameter, body)
        changed = True
        while changed:
            changed = False
            for name, number, parameter, body in every_parameter(macros):
                if not self.passed[name].get(number) and self.is_passed(parameter, body):
                    self.passed[name][number] = changed = True

    def is_passed(self, word, body):
        return any(text == word for _, number, name, argument in calls(body)
                   if self.direct.get(name, {}).get(number) or self.passed.get(name, {}).get(number)
                   for _, text in argument)

    def names(self, tokens, names):
        """Of these names, those that are such an argument of the macro called, and one that is passed on, or None."""
        direct, passed = set(), None
        for _, number, macro, argument in calls(tokens):
            for name in {text for at, (_, text) in enumerate(argument)
                         if text in names and (at == 0 or argument[at - 1][1] not in (".", "->"))}:
                if self.passed.get(macro, {}).get(number):
                    passed = name
                elif self.direct.get(macro, {}).get(number):
                    direct.add(name)
        return direct, passed


def every_parameter(macros):
    for name, definitions in macros.items():
        for parameters, body in definitions:
            for number, parameter in enumerate(parameters or ()):
                yield name, number, "__VA_ARGS__" if parameter == "..." else parameter, body


def calls(tokens):
    """Each argument of each thing that looks like a call."""
    for at, (kind, text) in enumerate(tokens):
        if kind == "name" and at + 1 < len(tokens) and tokens[at + 1][1] == "(":
            for number, argument in enumerate(arguments(tokens, at + 1)):
                yield at, number, text, argument


def is_pasted(word, body):
    for at, (_, text) in enumerate(body):
        if text == word and (at > 0 and body[at - 1][1] in ("#", "##") or body[at + 1:at + 2] == [("mark", "##")]):
            return True
    return False


class Expansion:
    """Expands calls of macros. Where a macro has several definitions, under conditions, `choice` says which counts;
    names that were pasted together are gathered in `pasted`."""

    def __init__(self, macros, choice):
        self.macros, self.choice, self.pasted = macros, choice, set()

    def definition(self, name):
        definitions = self.macros[name]
        return definitions[min(self.choice, len(definitions) - 1)]

    def expand(self, tokens, hidden=frozenset()):
        out, at = [], 0
        while at < len(tokens):
            kind, text = tokens[at]
            at += 1
            if kind != "name" or text in hidden or text not in self.macros:
                out.append((kind, text))
                continue
            parameters, body = self.definition(text)
            values = {}
            if parameters is not None:
                if at == len(tokens) or tokens[at][1] != "(":
                    out.append((kind, text))
                    continue
                values = self.values(parameters, arguments(tokens, at), hidden)
                at = end_of_call(tokens, at)
            out += self.expand(self.replaced(body, values), hidden | {text})
        return out

    def values(self, parameters, given, hidden):
        values = {}
        for number, parameter in enumerate(parameters):
            raw = given[number] if number < len(given) else []
            if parameter == "...":
                parameter, raw = "__VA_ARGS__", joined(given[number:])
            values[parameter] = raw, self.expand(raw, hidden)
        return values

    def replaced(self, body, values):
        out, paste = [], False
        for at, (kind, text) in enumerate(body):
            if text == "##":
                paste = True
                continue
            beside = paste or at + 1 < len(body) and body[at + 1][1] == "##"
            if text in values:
                new = list(values[text][0 if beside else 1])
            else:
                new = [(kind, text)]
            if paste and out and new:
                name = out.pop()[1] + new.pop(0)[1]
                self.pasted.add(name)
                out.append(("name", name))
            out += new
            paste = False
        return out


def joined(given):
    out = []
    for number, argument in enumerate(given):
        out += ([("mark", ",")] if number else []) + argument
    return out


def end_of_call(tokens, at):
    depth = 0
    while at < len(tokens):
        depth += (tokens[at][1] == "(") - (tokens[at][1] == ")")
        at += 1
        if depth == 0:
            break
    return at
