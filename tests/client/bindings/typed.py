"""What the module says of itself: types, as mypy reads them, and descriptions, as the headers have them."""
import shutil
import subprocess
import sys

from frame import MODULE, ROOT, Skip, check, mw

sys.path.insert(0, str(ROOT / "tools"))
import python_stubs  # noqa: E402

GOOD = """
from typing import List, Tuple
import millwright as mw

graph = mw.Graph()
x = graph.input("x", (8, 4))
logits: mw.Tensor = mw.nn.dense(x, 3, "fc")
pooled: mw.Tensor = mw.nn.conv_layer(x, 8, (3, 3), "c", pad_type="same", stride=[1, 1, 1])
trainer = mw.Trainer(logits, mw.optim.adam(1e-3), prediction=logits, threads=1)
loss: float = trainer.step(x=[[0.0] * 4] * 8)
tuned: mw.Graph = graph.lora(["fc*"], rank=4)
names: List[str] = [weight.name for weight in tuned.weights]
encoder, training, validation = mw.TableEncoder.fit("t.csv", "y")
width: int = encoder.width
mw.Model("net.onnx", batch=4).predictor().predict(x=[[0.0]])["y"]
"""
WRONG = {
    'mw.nn.dense(x, "3", "fc")': 'Argument 2 to "dense" has incompatible type "str"',
    'mw.nn.dense(x, 3)': 'Missing positional argument "name"',
    'mw.nn.conv_layer(x, 3, (3, 3), "c", padding="same")': 'Unexpected keyword argument "padding"',
    'graph.lora(["fc*"], rank="4")': 'Argument "rank" to "lora"',
    'trainer.save(3)': 'Argument 1 to "save"',
    'loss.tolist()': '"float" has no attribute "tolist"',
}


def checked_by_mypy(folder, program):
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    command = ["mypy", "--cache-dir", folder / "cache", "--no-error-summary", MODULE / "millwright", path]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, check=False)
    return [line for line in done.stdout.splitlines() if "error" in line]


def test_hints_are_right(folder):
    if shutil.which("mypy") is None:
        raise Skip("mypy is not installed")
    found = checked_by_mypy(folder, GOOD)
    check(not found, "\n".join(found))
    found = checked_by_mypy(folder, GOOD + "\n".join(WRONG) + "\n")
    for line, words in zip(found, WRONG.values()):
        check(words in line, f"{words!r} is not in {line!r}")
    check(len(found) == len(WRONG), "\n".join(found))


def test_constructors_are_those_of_the_headers():
    said = set(python_stubs.Constructors().found)
    check(said == set(mw.nn.CONSTRUCTORS), f"{said ^ set(mw.nn.CONSTRUCTORS)}")
    check(python_stubs.LEAVES == mw.nn.LEAVES, "what is left out")


def test_constructors_say_what_the_headers_say():
    said = mw.nn.conv_layer.__doc__
    check("PyTorch's Conv1d, Conv2d and Conv3d" in said and "channels  O > 0" in said, said)
    lacking = [name for name in mw.nn.CONSTRUCTORS if len(getattr(mw.nn, name).__doc__) < 20]
    check(not lacking, f"without a description: {lacking}")
    check("nn.softmax, whose arguments are those of C" in mw.ops.softmax.__doc__, mw.ops.softmax.__doc__)
