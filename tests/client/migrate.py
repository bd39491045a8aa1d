"""tools/migrate_api.py on programs as they were before the interface was settled (../data/before), and on small cases of each
kind of row. Arguments: the C compiler, the folder of the headers. What the compiler refuses after it must be what the
tool said needs a hand."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / "tools"
sys.path.insert(0, str(TOOLS))
import migrate_api  # noqa: E402
from migrate_table import BEGIN, END, Malformed, Table  # noqa: E402

passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}")


TABLE = f"""{BEGIN}
| before | now |
|---|---|
| `mw_run` | `mw_program_run` |
| `mw_read(a, count, err)` | `mw_read(a, MW_F32, count, err)` |
| `mw_gone` | take another |
| `mw_options.clip` | `clipping.norm` |
| `mw_options.lost` | there is none |
| `mw_options.paths` | `paths.first` |
| `mw_old(a, err)` | `evaluate_confusion(a, err)` (added) |
| `<millwright/old.h>` | `<millwright/new.h>` |
{END}"""

OTHER = "typedef struct other { int clip; } other; "

CASES = [
    ("mw_run(p, &err);", "mw_program_run(p, &err);"),
    ("my_mw_run(p); x.mw_run = 1;", "my_mw_run(p); x.mw_run = 1;"),
    ('puts("mw_run"); /* mw_run */', 'puts("mw_run"); /* mw_run */'),
    ("mw_read(f(a, b), 3, (err));", "mw_read(f(a, b), MW_F32, 3, (err));"),
    ("mw_read(x,\n        mw_read(y, 1, e), e);", "mw_read(x, MW_F32, mw_read(y, MW_F32, 1, e), e);"),
    ("void f(mw_options *o) { o->clip = 1; }", "void f(mw_options *o) { o->clipping.norm = 1; }"),
    ("void f(void) { mw_options o = d(), p; o.clip = p.clip; }",
     "void f(void) { mw_options o = d(), p; o.clipping.norm = p.clipping.norm; }"),
    (OTHER + "void f(mw_options *o) { other *o2; o2->clip = 1; }", OTHER + "void f(mw_options *o) { other *o2; o2->clip = 1; }"),
    (OTHER + "void f(void) { { mw_options o; } other o; o.clip = 1; }",
     OTHER + "void f(void) { { mw_options o; } other o; o.clip = 1; }"),
    ("mw_options o = {.clip = 1, .more = {.part = 2}};", "mw_options o = {.clipping.norm = 1, .more = {.part = 2}};"),
    ("g(&(mw_options){.clip = 1});", "g(&(mw_options){.clipping.norm = 1});"),
    ("struct s { mw_options trained; }; void f(struct s *s) { s->trained.clip = 1; }",
     "struct s { mw_options trained; }; void f(struct s *s) { s->trained.clipping.norm = 1; }"),
    ("void f(mw_options o[2]) { o[1].clip = 1; }", "void f(mw_options o[2]) { o[1].clipping.norm = 1; }"),
    ("void f(mw_options *o) { o->paths = a; }", "void f(mw_options *o) { o->paths.first = a; }"),
    ("size_t n = offsetof(mw_options, clip);", "size_t n = offsetof(mw_options, clipping.norm);"),
    ("#define RUN(p) mw_run(p)\nint x;", "#define RUN(p) mw_program_run(p)\nint x;"),
    ("#include <millwright/old.h>\n", "#include <millwright/new.h>\n"),
]

BY_HAND = [
    ("int x;\nmw_gone(1);", (2, "mw_gone")),
    ("mw_read(a, err);", (1, "mw_read")),
    ("\n#define READ(a) mw_read(a, 1, e)\n", (2, "mw_read")),
    ("void f(mw_options *o)\n{\n    o->lost = 1;\n}", (3, "mw_options.lost")),
]


def migrated_file(text, path="x.c", table=TABLE, others=()):
    table = Table(table)
    types = migrate_api.Types(table.structs())
    types.read(migrate_api.tokens_of(path, t) for t in (text, *others))
    file = migrate_api.File(path, text, table, types)
    return file, file.migrate()


def migrated(text, *arguments):
    file, new = migrated_file(text, *arguments)
    return new, [what[:2] for what in file.by_hand]


def test_rows():
    for before, after in CASES:
        text, by_hand = migrated(before)
        check(text == after and not by_hand, f"{before!r} became {text!r}, {by_hand}")
    for before, told in BY_HAND:
        check(told in migrated(before)[1], f"{before!r} says {migrated(before)[1]}")


def test_functions_are_added_once():
    text, by_hand = migrated("#include <a.h>\nint x = mw_old(1, e) + mw_old(2, e);\n")
    check(text.count("static inline mw_status evaluate_confusion(") == 1 and not by_hand, text)
    check("int x = evaluate_confusion(1, e) + evaluate_confusion(2, e);" in text, text)
    check(text.index("static inline") > text.index("a.h"), text)
    kept = "void f(void) { mw_evaluation found; mw_old(&found, e); }"
    check(migrated(kept)[0] == kept, migrated(kept)[0])


def test_a_second_time_changes_nothing():
    for _, after in CASES:
        check(migrated(after) == (after, []), f"{after!r} became {migrated(after)}")


def test_tables_that_are_none():
    for text in ("", f"{BEGIN}\n| word | `x` |\n{END}", f"{BEGIN}\n| `a` | `b` |\n| `a` | `c` |\n{END}"):
        try:
            Table(text)
            check(False, f"{text!r} is taken")
        except Malformed:
            check(True, text)


def run_tool(folder, *arguments):
    return subprocess.run([sys.executable, str(TOOLS / "migrate_api.py"), str(folder), *arguments], capture_output=True,
                          text=True)


def lines_told(said):
    """The places that need a hand."""
    places = re.finditer(r"^(.*?):(\d+): (?!look at )", said, re.M)
    return {(pathlib.Path(m.group(1)).name, int(m.group(2))) for m in places}


def test_programs_of_the_interface_before(compiler, include):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "before"
        shutil.copytree(HERE.parent / "data" / "before", copy)
        old = {path.name: path.read_text() for path in copy.iterdir()}
        dry = run_tool(copy, "--dry-run")
        check({p.name: p.read_text() for p in copy.iterdir()} == old, "--dry-run changed something")
        real = run_tool(copy)
        told = lines_told(real.stdout)
        check(told == lines_told(dry.stdout) and real.returncode == bool(told), real.stdout + real.stderr)
        once = {path.name: path.read_text() for path in copy.iterdir()}
        check(run_tool(copy).returncode == bool(told), "a second time")
        check({path.name: path.read_text() for path in copy.iterdir()} == once, "a second time something changed")
        for path in sorted(copy.glob("*.c")):
            check(path.read_text() != old[path.name], f"{path.name} is as it was")
            built = subprocess.run([compiler, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", f"-I{include}", str(path)],
                                   capture_output=True, text=True)
            refused = {(pathlib.Path(m.group(1)).name, int(m.group(2)))
                       for m in re.finditer(r"^(\S+?):(\d+):\d+: error", built.stderr, re.M)}
            check(refused <= told, f"{path.name}: {sorted(refused - told)}\n{built.stderr}")


def test_arguments():
    check(run_tool("nowhere").returncode == 2, "a folder that is not there")
    with tempfile.TemporaryDirectory() as folder:
        check(run_tool(folder).returncode == 0, "an empty folder")


def main():
    compiler, include = sys.argv[1:3]
    test_rows()
    test_functions_are_added_once()
    test_a_second_time_changes_nothing()
    test_tables_that_are_none()
    test_programs_of_the_interface_before(compiler, include)
    test_arguments()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
