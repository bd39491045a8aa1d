"""What the tests of the Python module share: checks, a small network, its data."""
import pathlib
import random
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODULE = ROOT / "examples" / "python"
sys.path.insert(0, str(MODULE))

import millwright as mw  # noqa: E402  # pylint: disable=wrong-import-position

try:
    import numpy
except ImportError:
    numpy = None


class Skip(Exception):
    """A test that cannot run here; the reason."""


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def raises(kind, call, *words):
    """The exception of that kind which a call raises; its text has these words."""
    try:
        call()
    except kind as error:
        for word in words:
            check(word in str(error), f"{word!r} is not in {error!r}")
        return error
    raise AssertionError(f"{kind.__name__} was not raised ({', '.join(words)})")


def need_numpy():
    if numpy is None:
        raise Skip("numpy is not installed")


def network(batch=8, width=4, classes=3, seed=1, **options):
    """Graph and trainer of a network with one hidden layer on "x" [batch, width] and "y"."""
    graph = mw.Graph()
    x, y = graph.input("x", (batch, width)), graph.input("y", (batch,), mw.I32)
    logits = mw.nn.dense(mw.nn.dense(x, 16, "fc1").tanh(), classes, "fc2")
    metric = mw.nn.accuracy(logits, y)
    loss = mw.nn.cross_entropy(logits, y)
    options = {"threads": 1, **options}
    return graph, mw.Trainer(loss, mw.optim.adam(1e-2), metric=metric, prediction=logits, seed=seed, **options)


def examples(count=64, width=4, classes=3):
    """Rows whose largest number says their class."""
    draw = random.Random(3)
    labels = [draw.randrange(classes) for _ in range(count)]
    rows = [[draw.random() + (2.0 if i == label else 0.0) for i in range(width)] for label in labels]
    return rows, labels


def dataset(count=64):
    rows, labels = examples(count)
    return mw.Dataset.arrays(x=rows, y=labels)


def made_by_function(count=64, fault=None, what=None):
    """The same from a function, which raises `what` at an example."""
    rows, labels = examples(count)

    def make(example, column):
        if example == fault:
            raise what
        return rows[example] if column == "x" else labels[example]

    return mw.Dataset.function({"x": (mw.F32, (4,)), "y": (mw.I32, ())}, count, make)


def write_idx(folder, counts):
    """Pictures in MNIST's files, with a bright band that says the class."""
    draw = random.Random(5)
    for prefix, count in counts.items():
        labels = bytes(draw.randrange(10) for _ in range(count))
        pixels = bytearray()
        for label in labels:
            pixels += bytes(min(255, (200 if i // 78 == label else 0) + draw.randrange(56)) for i in range(784))
        images = folder / f"{prefix}-images-idx3-ubyte"
        images.write_bytes(struct.pack(">4i", 0x803, count, 28, 28) + pixels)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, count) + labels)
