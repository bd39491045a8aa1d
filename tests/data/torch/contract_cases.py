"""Random einsums: python3 tests/data/torch/contract_cases.py writes contract.safetensors for tests/ops/test_contract.c.
"equation.<i>" in its metadata is the equation of a case, "operands.<i>" how many there are: x0, x1, .."""
import torch

from record import Recorder

record = Recorder("contract", tolerance=1e-5, reason="sums of products in another order")
LETTERS = "abcdXYZ"


def extent(low, high):
    return int(torch.randint(low, high + 1, (), generator=record.generator))


def case(equation, shapes):
    record.notes["equation.%d" % record.count] = equation
    record.notes["operands.%d" % record.count] = str(len(shapes))
    inputs = {"x%d" % i: record.normal(*shape) for i, shape in enumerate(shapes)}
    record.case("einsum", inputs, lambda **x: torch.einsum(equation, *x.values()))


def term(extents, dots, repeats):
    """Letters of one operand with its shape; "..." somewhere in it stands for axes of `dots` or of extent 1."""
    letters = [record.pick(*LETTERS) for _ in range(extent(0, 4))]
    if not repeats:
        letters = list(dict.fromkeys(letters))
    text, shape = "".join(letters), [extents[letter] for letter in letters]
    for i, letter in enumerate(letters):
        if letters.count(letter) == 1 and extent(0, 9) == 0:
            shape[i] = 1
    if dots is not None and extent(0, 3) > 0:
        own, at = dots[extent(0, len(dots)):], extent(0, len(letters))
        own = [n if extent(0, 3) > 0 else 1 for n in own]
        text, shape = text[:at] + "..." + text[at:], shape[:at] + own + shape[at:]
    return text, shape


def random_case(count):
    extents = {letter: extent(1, 4) for letter in LETTERS}
    dots = record.pick(None, None, [2], [3, 2])
    terms = [term(extents, dots, extent(0, 2) == 0) for _ in range(count)]
    texts, equation = [t for t, _ in terms], ",".join(t for t, _ in terms)
    given = "".join(texts).replace(".", "")
    has_dots = any("." in t for t in texts)
    if extent(0, 3) > 0:
        kept = [letter for letter in dict.fromkeys(given) if extent(0, 1) == 0]
        order = torch.randperm(len(kept), generator=record.generator).tolist()
        result = [kept[i] for i in order][:5]
        if has_dots and extent(0, 3) > 0:
            result.insert(extent(0, len(result)), "...")
        equation += "->" + "".join(result)
    elif sum(given.count(letter) == 1 for letter in set(given)) > 5:
        equation += "->"
    case(equation, [shape for _, shape in terms])


for equation, shapes in (("ij,jk->ik", ([3, 4], [4, 5])), ("bij,bjk->bik", ([2, 3, 4], [2, 4, 5])),
                         ("bhid,bhjd->bhij", ([2, 3, 4, 5], [2, 3, 6, 5])), ("ii", ([4, 4],)), ("ii->i", ([4, 4],)),
                         ("iij->ji", ([3, 3, 2],)), ("iii->i", ([3, 3, 3],)), ("i,j", ([3], [4])), ("i,i", ([5], [5])),
                         ("bi,ri,ro->bo", ([4, 6], [2, 6], [2, 5])), ("nchw,nwhu->nchu", ([2, 3, 2, 4], [2, 4, 2, 5])),
                         ("abcd,efcd->abef", ([2, 3, 2, 2], [3, 2, 2, 2])), ("...ij,...jk", ([2, 3, 4], [4, 5])),
                         ("pqrs,tuqvr->pstuv", ([2, 3, 4, 2], [2, 2, 3, 2, 4])),
                         ("abi,bcj,cak,ijk->", ([2, 3, 2], [3, 4, 2], [4, 2, 3], [2, 2, 3])),
                         ("a,b,c,d,e,f->fadecb", ([2], [2], [2], [1], [3], [2])), ("", ([],)), (",", ([], []))):
    case(equation, shapes)
for i in range(60):
    random_case(1)
for i in range(120):
    random_case(2)
for i in range(60):
    random_case(3)
for i in range(40):
    random_case(extent(4, 5))
for i in range(6):
    case(",".join("%s%s" % pair for pair in zip("abcdefghijk", "bcdefghijkl")) + record.pick("->al", "->la", "->"),
         [[2 + (k + i) % 3, 2 + (k + 1 + i) % 3] for k in range(11)])
record.write()
