"""Tests of examples/python/millwright. Usage: run.py LIBRARY COMPILER EXAMPLES [TEST..], the paths of libmillwright, of
a C compiler and of the folder with the examples in C. Prints "N passed, N failed, N skipped". Needs nothing but Python;
what wants numpy is skipped without it."""
import os
import pathlib
import sys
import tempfile
import traceback

os.environ["MILLWRIGHT_LIBRARY"] = sys.argv[1]
os.environ["MW_ENGINE_THREADS"] = "1"  # also of the examples in C: teams wait for each other on a busy machine

import calls  # noqa: E402
import installed  # noqa: E402
import lifetimes  # noqa: E402
import mirror  # noqa: E402
import own  # noqa: E402
import texts  # noqa: E402
import training  # noqa: E402
import tuning  # noqa: E402
import typed  # noqa: E402
from frame import Skip  # noqa: E402


def main():
    setting = {"library": sys.argv[1], "compiler": sys.argv[2], "examples": pathlib.Path(sys.argv[3])}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for module in (mirror, installed, calls, lifetimes, texts, training, tuning, own, typed):
        for name, test in list(vars(module).items()):
            if name.startswith("test_") and (not sys.argv[4:] or name in sys.argv[4:]):
                counts[outcome(name, test, setting)] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


def outcome(name, test, setting):
    """Runs a test with what it names of the setting, and a folder of its own if it asks for one."""
    wanted = test.__code__.co_varnames[: test.__code__.co_argcount]
    with tempfile.TemporaryDirectory() as folder:
        try:
            test(**{key: value for key, value in {**setting, "folder": pathlib.Path(folder)}.items() if key in wanted})
            return "passed"
        except Skip as reason:
            print(f"{name}: skipped, {reason}")
            return "skipped"
        except Exception:  # pylint: disable=broad-except
            print(f"{name}: FAILED\n{traceback.format_exc()}")
            return "failed"


sys.exit(main())
