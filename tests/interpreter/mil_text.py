"""Reads MIL text into plain data.

It knows the grammar and no operator: what a name or a number means is the business of interpret.py. Both styles of
literals (`int32(1)` and `tensor<int32, []>(1)`) give the same Type, since a scalar is a tensor of rank 0.
"""
import re
from dataclasses import dataclass, field

PRIMITIVES = frozenset(
    "fp16 fp32 fp64 bf16 fp8e4m3fn fp8e5m2 int4 int8 int16 int32 int64 uint1 uint2 uint3 uint4 uint6 uint8 uint16 "
    "uint32 uint64 bool string".split())
COMPOUND = frozenset(["tensor", "list", "dict", "tuple", "state"])
TYPE_WORDS = PRIMITIVES | COMPOUND


class MilError(Exception):
    """The text is no program; the message begins with line and column."""


@dataclass(frozen=True)
class Type:
    kind: str            # tensor, list, dict, tuple or state
    dtype: str = ""      # of a tensor
    shape: tuple = ()    # of a tensor; None stands for `?`
    inner: tuple = ()    # types inside a list, dict, tuple or state
    length: object = 0   # of a list; None stands for `?`


@dataclass(frozen=True)
class Blob:
    path: str
    offset: int


@dataclass(frozen=True)
class Name:
    text: str


@dataclass(frozen=True)
class Literal:
    type: Type
    payload: object      # number, bool, string, nested list, tuple, list of pairs, Blob or Literal


@dataclass
class Block:
    params: list         # of (Type, name)
    statements: list = field(default_factory=list)
    outputs: list = field(default_factory=list)


@dataclass
class Statement:
    results: list        # of (Type, name)
    op: str
    args: dict           # name -> Name, Literal or a list of these
    attrs: dict          # name -> Literal
    blocks: list
    line: int = 0


@dataclass
class Function:
    name: str
    opset: str
    params: list
    attrs: dict
    body: Block


@dataclass
class Program:
    version: str
    attrs: dict
    functions: dict


TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<number>-?0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?|[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|-inf|-nan)
  | (?P<word>[A-Za-z_][A-Za-z0-9_@]*)
  | (?P<mark>->|[()\[\]{}<>,;=?])
""", re.VERBOSE | re.DOTALL)

ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def place(text, offset):
    line = text.count("\n", 0, offset) + 1
    return "%d:%d" % (line, offset - (text.rfind("\n", 0, offset) + 1) + 1)


def tokens_of(text):
    """(kind, text, offset) for each token, and one of kind `end`."""
    result, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise MilError("%s: unexpected character %r" % (place(text, at), text[at]))
        if match.lastgroup != "space":
            result.append((match.lastgroup, match.group(), at))
        at = match.end()
    result.append(("end", "end of text", at))
    return result


def number_of(word):
    if "x" in word or "X" in word:
        return float.fromhex(word)
    if word.lstrip("+-").isdigit():
        return int(word)
    return float(word)


def string_of(word):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), word[1:-1], flags=re.DOTALL)


class Reader:
    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.at = 0

    # ---- tokens ----

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def kind(self):
        return self.tokens[self.at][0]

    def fail(self, wanted):
        raise MilError("%s: expected %s, found %s" % (place(self.text, self.tokens[self.at][2]), wanted, self.peek()))

    def next(self, kind):
        if self.kind() != kind:
            self.fail(kind)
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, text):
        if self.kind() not in ("string", "end") and self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text):
        if not self.accept(text):
            self.fail(repr(text))

    def sequence(self, close, item):
        """item {"," item} close, or close alone."""
        items = []
        if self.accept(close):
            return items
        while True:
            items.append(item())
            if self.accept(close):
                return items
            self.expect(",")

    # ---- types ----

    def dim(self):
        if self.accept("?"):
            return None
        word = self.next("number")
        if not word.isdigit():
            self.at -= 1
            self.fail("an extent")
        return int(word)

    def type(self):
        """type = prim | tensor<prim, [dims]> | list<type, dim> | dict<type, type> | tuple<types> | state<type>"""
        word = self.next("word")
        if word in PRIMITIVES:
            return Type("tensor", word)
        if word not in COMPOUND:
            self.at -= 1
            self.fail("a type")
        self.expect("<")
        if word == "tensor":
            return self.tensor_type()
        if word == "list":
            inner = self.type()
            self.expect(",")
            length = self.dim()
            self.expect(">")
            return Type("list", inner=(inner,), length=length)
        return Type(word, inner=tuple(self.sequence(">", self.type)))

    def tensor_type(self):
        dtype = self.next("word")
        if dtype not in PRIMITIVES:
            self.at -= 1
            self.fail("an element type")
        self.expect(",")
        self.expect("[")
        shape = tuple(self.sequence("]", self.dim))
        self.expect(">")
        return Type("tensor", dtype, shape)

    # ---- values ----

    def literal(self):
        """typed-value = type "(" payload ")" """
        of = self.type()
        self.expect("(")
        payload = self.payload()
        self.expect(")")
        return Literal(of, payload)

    def payload(self):
        if self.kind() == "string":
            return string_of(self.next("string"))
        if self.kind() == "number":
            return number_of(self.next("number"))
        if self.accept("["):
            return self.sequence("]", self.payload)
        if self.accept("("):
            return tuple(self.sequence(")", self.payload))
        if self.accept("{"):
            return self.sequence("}", self.pair)
        return self.word_payload()

    def word_payload(self):
        constants = {"true": True, "false": False, "inf": float("inf"), "nan": float("nan")}
        if self.peek() in constants:
            return constants[self.next("word")]
        if self.accept("BLOBFILE"):
            return self.blob()
        if self.peek() in TYPE_WORDS:
            return self.literal()
        self.fail("a value")

    def pair(self):
        self.expect("{")
        key = self.payload()
        self.expect(",")
        value = self.payload()
        self.expect("}")
        return key, value

    def blob(self):
        """BLOBFILE "(" path = typed-value "," offset = typed-value ")" """
        self.expect("(")
        parts = dict(self.sequence(")", self.attribute))
        if set(parts) != {"path", "offset"}:
            self.fail("path and offset")
        return Blob(parts["path"].payload, int(parts["offset"].payload))

    def attribute(self):
        name = self.next("word")
        self.expect("=")
        return name, self.literal()

    def attributes(self):
        return dict(self.sequence("]", self.attribute)) if self.accept("[") else {}

    def argument_value(self):
        if self.accept("("):
            return self.sequence(")", self.argument_value)
        if self.peek() in TYPE_WORDS and self.peek(1) in ("(", "<"):
            return self.literal()
        return Name(self.next("word"))

    def argument(self):
        name = self.next("word")
        self.expect("=")
        return name, self.argument_value()

    # ---- programs ----

    def param(self):
        of = self.type()
        return of, self.next("word")

    def results(self):
        """The results of a statement; none if it begins with its operator, as write_state does."""
        found = []
        if self.peek() not in TYPE_WORDS or self.peek(1) in ("(", "="):
            return found
        while True:
            found.append(self.param())
            if not self.accept(","):
                break
        self.expect("=")
        return found

    def statement(self):
        line = self.text.count("\n", 0, self.tokens[self.at][2]) + 1
        results = self.results()
        op = self.next("word")
        self.expect("(")
        args = dict(self.sequence(")", self.argument))
        attrs = self.attributes()
        blocks = []
        while not self.accept(";"):
            blocks.append(self.nested_block())
        return Statement(results, op, args, attrs, blocks, line)

    def nested_block(self):
        params = self.sequence(")", self.param) if self.accept("(") else []
        block = self.block(params)
        # A `;` after a block that is not the last one belongs to the block, as after a function.
        if self.peek() == ";" and self.peek(1) in ("(", "{"):
            self.expect(";")
        return block

    def block(self, params):
        """ "{" {statement} "}" "->" "(" [ident {"," ident}] ")" """
        block = Block(params)
        self.expect("{")
        while not self.accept("}"):
            block.statements.append(self.statement())
        self.expect("->")
        self.expect("(")
        block.outputs = self.sequence(")", lambda: self.next("word"))
        return block

    def function(self):
        self.expect("func")
        name = self.next("word")
        self.expect("<")
        opset = self.next("word")
        self.expect(">")
        self.expect("(")
        params = self.sequence(")", self.param)
        attrs = self.attributes()
        body = self.block(params)
        self.expect(";")
        return Function(name, opset, params, attrs, body)

    def program(self):
        self.expect("program")
        self.expect("(")
        version = self.next("number")
        self.expect(")")
        attrs = self.attributes()
        self.expect("{")
        functions = []
        while not self.accept("}"):
            functions.append(self.function())
        if self.kind() != "end":
            self.fail("the end of the text")
        return Program(version, attrs, {f.name: f for f in functions})


def parse(text):
    return Reader(text).program()


def plain(payload):
    """A payload without the literals in it: numbers, strings, lists, tuples, dicts."""
    if isinstance(payload, Literal):
        return plain(payload.payload)
    if isinstance(payload, tuple):
        return tuple(plain(p) for p in payload)
    if isinstance(payload, list):
        if payload and all(isinstance(p, tuple) and len(p) == 2 for p in payload):
            return {plain(k): plain(v) for k, v in payload}
        return [plain(p) for p in payload]
    return payload


def flexible(function, part):
    info = function.attrs.get("FlexibleShapeInformation")
    return dict(dict(plain(info.payload)).get(part, {})) if info else {}


def flexible_shapes(function):
    """{input: shape} of FlexibleShapeInformation's DefaultShapes, {} where there are none."""
    return flexible(function, "DefaultShapes")


def flexible_ranges(function):
    """{input: [[low, high] of each axis]} of RangeDims, {} where there are none. A negative high is no bound."""
    return flexible(function, "RangeDims")
