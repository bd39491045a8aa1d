"""Calls of a file whose arguments changed, for migrate_api.py: the innermost first, with the comments that stand in them."""
from c_file import lex
from migrate_table import ADDED, BOTH, CALL, WRITERS
from migrate_types import STATEMENTS, base_type, closing, is_type, text_at

BEFORE_ARGUMENTS = ("(", ",", ":", "]")
RESULTS = ("mw_evaluation", "mw_confusion")  # types that only the present interface has


class Calls:
    """The part of a file (migrate_api.File) that knows calls. all: every token; tokens: those that are no spaces, comments
    or directives; at: where these stand in `all`; forms: calls of which both interfaces have one that looks the same"""

    def judge_call(self, number):
        """While the scopes are known: whether a call is of the interface before, of the present one, or either."""
        name, arguments = self.tokens[number][1], self.arguments(number)
        call = self.table.calls[name]
        if not call.added or arguments is None or len(arguments) != len(call.parameters):
            return
        types = {base_type(self.tokens, last, self.scopes) for _, last in arguments}
        words = {t[1] for first, last in arguments for t in self.tokens[first:last]}
        if types & set(RESULTS) or words & set(RESULTS):
            self.forms[number] = "present"
        elif name in BOTH and "double" not in types:
            nothing = all(self.is_null(*arguments[i]) for i in BOTH[name])
            self.forms[number] = "present" if nothing else "either"

    def is_null(self, first, last):
        return last == first + 1 and self.tokens[first][1] in ("NULL", "nullptr", "0")

    def look_at_writer(self, number):
        """Writers took any path; those of now choose the format by its ending."""
        name, arguments = self.tokens[number][1], self.arguments(number)
        writer = WRITERS[name]
        if self.is_prototype(number):
            return
        if not (arguments and len(arguments) > writer.path and self.is_path(*arguments[writer.path], writer)):
            self.look_at(number, name, writer.sentence)

    def is_path(self, first, last, writer):
        kind, text = self.tokens[last - 1]
        if last != first + 1 or kind != "string" or writer.always:
            return False
        return text[:-1].endswith(writer.ending) if writer.ending else not text[:-1].endswith(OTHERS)

    def migrate_calls(self):
        for number in range(len(self.tokens) - 1, -1, -1):
            kind, text = self.tokens[number]
            is_member = text_at(self.tokens, number - 1) in (".", "->")
            if kind == "name" and text in self.table.calls and not is_member and not self.is_prototype(number):
                self.migrate_call(number, self.table.calls[text])

    def migrate_call(self, number, call):
        name, arguments = self.tokens[number][1], self.arguments(number)
        if arguments is None:
            self.tell(number, name, no_call(call))
        elif len(arguments) == new_arguments(name, call) or self.forms.get(number) == "present":
            return
        elif self.forms.get(number) == "either":
            self.tell(number, name, f"if the call is as it was before, it is now `{call.text}`")
        elif len(arguments) != len(call.parameters) or self.has_directives(number):
            self.tell(number, name, f"is now `{call.text}`")
        elif self.is_cpp and "){" in call.text:
            self.tell(number, name, f"is now, with a variable for the options, `{call.text}`")
        else:
            self.replace_call(number, call, arguments)

    def replace_call(self, number, call, arguments):
        texts = dict(zip(call.parameters, (self.text(first, last) for first, last in arguments)))
        lost = [a for p, a in zip(call.parameters, arguments) if p not in used_in(call.text)]
        comments = self.comments(self.at[number] + 1, self.at[number + 1])
        if not arguments:
            comments += self.comments(self.at[number + 1], self.at[number + 2])
        for first, last in lost:
            comments += self.comments(self.at[first - 1], self.at[last])
        if call.added:
            self.added.append(CALL.match(call.text).group(1))
        for at in range(self.at[number], self.at[closing(self.tokens, number + 1)] + 1):
            self.all[at][1] = ""
        self.set(number, comments + substituted(call.text, texts))

    def comments(self, first, last):
        """Those from token `first` to before `last` of all, to stand before what follows."""
        found = [t[1] for t in self.all[first:last] if t[0] == "comment" and t[1]]
        return "".join(c + ("\n" if c.startswith("//") else " ") for c in found)

    def has_directives(self, number):
        end = closing(self.tokens, number + 1)
        return any(t[0] == "line" for t in self.all[self.at[number]:self.at[end]])

    def is_prototype(self, number):
        """Whether a type stands before the name, or a parameter of a declaration in its parentheses."""
        before = number - 1
        while text_at(self.tokens, before) == "*":
            before -= 1
        kind = self.tokens[before][0] if before >= 0 else ""
        if kind == "name" and self.tokens[before][1] not in STATEMENTS:
            starts = is_type(self.tokens, before) and text_at(self.tokens, before - 1) not in BEFORE_ARGUMENTS
            return before == number - 1 or starts
        return any(last > first + 1 and self.tokens[first][0] == self.tokens[first + 1][0] == "name" and
                   self.tokens[first][1] not in STATEMENTS for first, last in self.arguments(number) or [])

    def arguments(self, number):
        return arguments_of(self.tokens, number)

    def text(self, first, last):
        """An argument with its comments: what stands between the comma before it and the one behind it."""
        tokens = self.all[self.at[first - 1] + 1:self.at[last]]
        kept = [t for t in tokens if t[0] != "space" and t[1]]
        text = "".join(t[1] for t in tokens).strip()
        return text + "\n" if kept and kept[-1][0] == "comment" and kept[-1][1].startswith("//") else text


def arguments_of(tokens, number):
    """[(first, last + 1)] of the arguments of the call at `number`; None if it is no call."""
    end = closing(tokens, number + 1) if text_at(tokens, number + 1) == "(" else None
    if end is None:
        return None
    out, first, depth = [], number + 2, 0
    for at in range(number + 2, end):
        text = tokens[at][1]
        depth += (text in "([{") - (text in ")]}")
        if depth == 0 and text == ",":
            out.append((first, at))
            first = at + 1
    return out + [(first, end)] if end > number + 2 else []


OTHERS = (".onnx", ".mlpackage", ".espresso.net")


def no_call(call):
    """For a function that is not called where it stands, as in `f = &mw_x;`."""
    where = ", which tools/migrate_table.py has" if call.added else ""
    return f"stands without a call, and the function is another one now; what it did is `{call.text}`{where}"


def used_in(template):
    return {text for kind, text in lex(template) if kind == "name"}


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
    return count(new.group(2)) if new and new.group(1) == name else None


def count(text):
    """The number of arguments in the text between the parentheses of a call."""
    depth, commas = 0, 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        commas += letter == "," and depth == 0
    return commas + 1 if text.strip() else 0


def insertion(tokens):
    """The token behind which functions may stand: the last include of the head that no condition holds; 0 if none."""
    depth, found = -guarded(tokens), 0
    for at, (kind, text) in enumerate(tokens):
        words = text.replace("#", " ").split()
        if kind not in ("space", "comment", "line"):
            break
        if kind == "line" and words:
            depth += words[0].startswith("if") - (words[0] == "endif")
            if words[0].startswith("include") and depth == 0:
                found = at
    return found


def guarded(tokens):
    """Whether all of a file stands between #ifndef X, #define X and the #endif of it."""
    lines = [t[1].replace("#", " ").split() for t in tokens if t[0] == "line"]
    lines = [words for words in lines if words and words[0] != "pragma"]
    if [w[0] for w in lines[:2]] != ["ifndef", "define"] or lines[0][1:2] != lines[1][1:2]:
        return False
    depth, ends = 0, []
    for at, words in enumerate(lines):
        depth += words[0].startswith("if") - (words[0] == "endif")
        ends += [at] if depth == 0 else []
    return ends[:1] == [len(lines) - 1]


def add_functions(tokens, names):
    """Puts them behind the includes, or at the head: the first token is an empty one."""
    at = insertion(tokens)
    for name in sorted(set(names)):
        tokens[at][1] += "\n" + ADDED[name].rstrip("\n") if at else ADDED[name].lstrip("\n")
