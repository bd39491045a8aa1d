"""Fields that became calls, for migrate_api.py: `x.beta2 = 0.9f;` and `y = x.beta2;` where the struct is a value of the
library now, with functions that set and read its numbers."""
from migrate_types import CLOSING, OPENING, STATEMENTS, partner, text_at

BEFORE_STATEMENTS = ("", ";", "{", "}", ")", ":", ",", "else", "do")


class Values:
    """The part of a file (migrate_api.File) that knows such fields. all, tokens, at: as in migrate_calls.Calls"""

    def migrate_value(self, number, struct, text, is_designator):
        """The field at `number`, which a dot or an arrow stands before."""
        accessor, start = self.table.accessors[struct, text], base_start(self.tokens, number - 1)
        end = self.assigned(number, start)
        if is_designator:
            self.tell(number, f"{struct}.{text}", f"no initializer can name it; is now {accessor.says()}")
        elif end:
            self.replace_assignment(number, start, end, accessor)
        elif accessor.get and self.is_read(number, start):
            self.put_call(number, start, accessor.get)
            self.set(number, accessor.get[1])
        else:
            self.tell(number, f"{struct}.{text}", f"is now {accessor.says()}")

    def assigned(self, number, start):
        """The token behind the value, if a statement of its own sets the field; else None."""
        is_set = text_at(self.tokens, number + 1) == "=" and text_at(self.tokens, number + 2) != "="
        if not is_set or self.parentheses > 0 or text_at(self.tokens, start - 1) not in BEFORE_STATEMENTS:
            return None
        depth, at = 0, number + 2
        while at < len(self.tokens) and not (depth == 0 and self.tokens[at][1] in (";", ",", "}", ")")):
            depth += (self.tokens[at][1] in OPENING) - (self.tokens[at][1] in CLOSING)
            if depth == 0 and self.is_assignment(at):
                return None
            at += 1
        is_whole = at < len(self.tokens) and self.tokens[at][1] in (";", ",") and at > number + 2
        return at if is_whole and not self.has_line(number, at) else None

    def is_assignment(self, at):
        around = (text_at(self.tokens, at - 1), text_at(self.tokens, at + 1))
        return self.tokens[at][1] == "=" and around[0] not in tuple("=!<>") and around[1] != "="

    def is_read(self, number, start):
        before, after = text_at(self.tokens, start - 1), text_at(self.tokens, number + 1)
        last = text_at(self.tokens, number + 2)
        is_changed = after == "=" and last != "=" or after in tuple("+-*/") and last in ("=", after)
        is_both = text_at(self.tokens, start - 2) == "&" and self.ends_value(start - 3)
        is_address = before == "&" and not is_both and not self.ends_value(start - 2)
        is_step = before in ("+", "-") and text_at(self.tokens, start - 2) == before
        return not (is_changed or is_address or is_step or before == "sizeof")

    def ends_value(self, at):
        """Whether an operator behind it has two sides: `a & b`."""
        if at < 0 or self.tokens[at][1] in STATEMENTS:
            return False
        return self.tokens[at][0] in ("name", "number") or self.tokens[at][1] in (")", "]")

    def has_line(self, first, last):
        return any(t[0] == "line" for t in self.all[self.at[first]:self.at[last]])

    def replace_assignment(self, number, start, end, accessor):
        self.put_call(number, start, accessor.set)
        self.set(number, accessor.set[1])
        for at in range(self.at[number] + 1, self.at[number + 1]):
            self.all[at][1] = "" if self.all[at][0] == "space" else self.all[at][1]
        self.set(number + 1, ",")
        self.all[self.at[end]][1] = ")" + self.all[self.at[end]][1]

    def put_call(self, number, start, parts):
        """The beginning of the call before the expression, whose dot or arrow goes."""
        address = "&" if self.tokens[number - 1][1] == "." else ""
        self.all[self.at[start]][1] = parts[0] + address + self.all[self.at[start]][1]
        self.set(number - 1, "")


def base_start(tokens, at):
    """The first token of the expression that ends before the dot or arrow at `at`: `a->b[i]`, `f(x)`, `(*p)`."""
    at -= 1
    while at > 0:
        if tokens[at][1] in ("]", ")"):
            opening = partner(tokens, at)
            kind, text = tokens[opening - 1] if opening > 0 else ("", "")
            if tokens[at][1] == "]" or kind == "name" and text not in STATEMENTS or text in ("]", ")"):
                at = opening - 1
                continue
            at = opening
        if text_at(tokens, at - 1) not in (".", "->"):
            break
        at -= 2
    return max(at, 0)
