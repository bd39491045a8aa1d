"""The module as pip installs it, in an environment that has nothing else."""
import os
import pathlib
import subprocess
import sys

from frame import MODULE, Skip, check, mw

PROGRAM = """
import millwright as mw
graph = mw.Graph()
(graph.input("x", (2,)) + 1.0).output("y")
print(mw.version, mw.library.candidates()[0], mw.__file__, mw.Program(graph).run(x=[1.0, 2.0])["y"].tolist())
"""


def run(*command, **environment):
    names = {key: value for key, value in os.environ.items() if not key.startswith(("MILLWRIGHT_", "PYTHONPATH", "PIP_"))}
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=200, check=False, cwd="/",
                          env={**names, **environment})


def environment_of(folder):
    made = run(sys.executable, "-m", "venv", folder / "venv")
    if made.returncode != 0:
        raise Skip("this Python makes no environments (python3-venv)")
    return folder / "venv" / "bin"


def test_pip_installs_the_module_with_its_libraries(library, folder):
    programs = environment_of(folder)
    build = str(pathlib.Path(library).resolve().parent)
    install = [programs / "pip", "install", "--no-index", "--no-build-isolation", MODULE]
    wrong = run(*install, MILLWRIGHT_BUILD="/nowhere")
    check(wrong.returncode != 0 and "MILLWRIGHT_BUILD is /nowhere" in wrong.stdout + wrong.stderr, wrong.stderr)
    done = run(*install, MILLWRIGHT_BUILD=build)
    check(done.returncode == 0, done.stdout + done.stderr)
    said = run(programs / "python", "-c", PROGRAM)
    check(said.returncode == 0, said.stderr)
    words = said.stdout.split(maxsplit=3)
    check(words[0] == mw.version and words[3].strip() == "[2.0, 3.0]", said.stdout)
    check(all(word.startswith(str(folder.resolve())) for word in words[1:3]), said.stdout)
    shown = run(programs / "pip", "show", "millwright").stdout
    check(f"Version: {mw.version}" in shown, shown)
    gone = run(programs / "pip", "uninstall", "-y", "millwright")
    check(gone.returncode == 0 and not list((folder / "venv").rglob("libmillwright*")), gone.stderr)
