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
from migrate_table import ADDED, BEGIN, END, Malformed, Table  # noqa: E402

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
    ("#define READ(a) mw_read(a, MW_F32, 1, \\\n e)\nint x;", "#define READ(a) mw_read(a, MW_F32, 1, \\\n e)\nint x;"),
    ("f((mw_options[]){{.clip = 1}});", "f((mw_options[]){{.clipping.norm = 1}});"),
    (OTHER + "f(&(other){.clip = 1}, (const struct other[]){{.clip = 2}});",
     OTHER + "f(&(other){.clip = 1}, (const struct other[]){{.clip = 2}});"),
    ("#define RUN(p) mw_run(p)\nint x;", "#define RUN(p) mw_program_run(p)\nint x;"),
    ("#include <millwright/old.h>\n", "#include <millwright/new.h>\n"),
]

BY_HAND = [
    ("int x;\nmw_gone(1);", (2, "mw_gone")),
    ("mw_read(a, err);", (1, "mw_read")),
    ("\n#define READ(a) mw_read(a, 1, e)\n", (2, "mw_read")),
    ("void f(mw_options *o)\n{\n    o->lost = 1;\n}", (3, "mw_options.lost")),
]


def migrated_file(text, path="x.c", table=TABLE, others=(), library=""):
    table = Table(table)
    types = migrate_api.Types(table.structs())
    types.read_library([migrate_api.tokens_of(path, library)])
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
        check(len(told) == len(lines_told(dry.stdout)) and real.returncode == bool(told), real.stdout + real.stderr)
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


QUERIES = """#include <millwright/millwright.h>
#include <stdio.h>
void queries(mw_trainer *t, const mw_program *p, const mw_model *m, mw_coreml *c, mw_communicator *r, mw_dataset *d, size_t i);
void queries(mw_trainer *t, const mw_program *p, const mw_model *m, mw_coreml *c, mw_communicator *r, mw_dataset *d, size_t i)
{
    const mw_trainer_counters before = mw_trainer_count(t);
    const mw_trainer_parts parts = mw_trainer_count_parts(t);
    const mw_trainer_recomputation again = mw_trainer_recomputed(t);
    const mw_communicator_counters wire = mw_communicator_count(r);
    const mw_graph *graph = mw_model_graph(m);
    const mw_description *said[] = {mw_model_description(m), mw_coreml_description(c)};
    mw_placement place;
    const size_t counts[] = {mw_trainer_warning_count(t), mw_trainer_watch_count(t), mw_trainer_class_count(t, "y"),
                             mw_program_port_count(mw_trainer_program(t)), mw_program_warning_count(p), mw_model_port_count(m),
                             mw_program_placement_count(p), mw_coreml_part_count(c), mw_graph_function_count(graph),
                             mw_dataset_column_count(d), mw_dataset_class_count(d, "y"), parts.calls, again.stretches};
    printf("%s %s %s %s %s %s", mw_trainer_class_name(t, "y", i), mw_dataset_class_name(d, "y", i), mw_program_where(p),
           mw_program_mil(p), mw_coreml_kind(c), mw_coreml_part_name(mw_coreml_part(c, i)));
    printf("%d %d %d %g %d %d %d %zu %d", (int)mw_trainer_steps(t), (int)before.steps, (int)mw_model_batch(m),
           (double)mw_trainer_learning_rate(t), mw_coreml_specification(c), mw_communicator_rank(r), mw_communicator_size(r),
           counts[i] + (said[0] != said[1]) + (size_t)wire.messages_sent, mw_program_placement(p, i, &place));
}
"""


def test_queries_become_structs(compiler, include):
    new, by_hand = migrated(QUERIES, "x.c", (TOOLS.parent / "CHANGELOG.md").read_text())
    built = subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", f"-I{include}", "-xc", "-"],
                           input=new, capture_output=True, text=True)
    check(not by_hand and built.returncode == 0, f"{by_hand}\n{built.stderr}")
    refused = subprocess.run([compiler, "-std=c11", "-Werror", "-fsyntax-only", f"-I{include}", "-xc", "-"], input=QUERIES,
                             capture_output=True, text=True)
    check(refused.returncode != 0, "the interface before is there still")


EVALUATE = f"""{BEGIN}
| `mw_trainer_evaluate(t, d, loss, metric, err)` | `evaluate_loss_and_metric(t, d, loss, metric, err)` (added) |
{END}"""
RUN_STRUCT = "typedef struct run { mw_evaluation result, all[2]; double loss; } run; "


def evaluated(third, fourth, before=""):
    """What becomes of a call in a function: "present", "edited" or "by hand"."""
    call = f"mw_trainer_evaluate(t, d, {third}, {fourth}, &err);"
    text = f"{before} void f(run *r, mw_evaluation *out, double *number) {{ double loss; {call} }}"
    new, by_hand = migrated(text, "x.c", EVALUATE, (RUN_STRUCT,))
    if by_hand:
        return "by hand" if new == text else "both"
    return "present" if new == text else "edited" if "evaluate_loss_and_metric(t, d" in new else new


def test_evaluations_of_the_present_stay():
    for fourth in ("&r->result", "out", "&r->all[1]", "r->all", "&r[1].result", "&(*r).result", "&((run *)p)->result"):
        check(evaluated("NULL", fourth) == "present", f"NULL, {fourth}: {evaluated('NULL', fourth)}")
    check(evaluated("&(mw_confusion){l, 2, c}", "NULL") == "present", "a confusion")
    check(evaluated("NULL", "NULL") == "present", "nothing is asked for")
    for third, fourth in (("&loss", "NULL"), ("NULL", "&loss"), ("number", "&r->loss"), ("NULL", "&r->loss")):
        check(evaluated(third, fourth) == "edited", f"{third}, {fourth}: {evaluated(third, fourth)}")
    for fourth in ("&unknown", "get(r)", "&q->what"):
        check(evaluated("NULL", fourth) == "by hand", f"NULL, {fourth}: {evaluated('NULL', fourth)}")
    check(evaluated("NULL", "&loss", "mw_evaluation loss;") == "edited", "the inner name counts")


def test_cpp_gets_no_c():
    braces = "mw_options o = {.clip = 1};"
    table = f"{BEGIN}\n| `mw_w(a)` | `mw_v(a, &(mw_o){{.b = 1}})` |\n{END}"
    for ending in ("cc", "cpp", "cxx", "hpp", "hh", "hxx"):
        check(migrated(braces, "x." + ending) == (braces, [(1, "mw_options.clip")]), ending)
        check(migrated("mw_w(1);", "x." + ending, table) == ("mw_w(1);", [(1, "mw_w")]), ending)
        check(("x." + ending).endswith(migrate_api.ENDINGS), ending)
    check(migrated("mw_w(1);", "x.c", table)[0] == "mw_v(1, &(mw_o){.b = 1});", "C")
    text = "void f(mw_options &o) { n = 1'000; o.clip = 0x1'0; c = 'a'; mw_run(p, '\\''); }"
    new = text.replace("clip", "clipping.norm").replace("mw_run", "mw_program_run")
    check(migrated(text, "x.cc") == (new, []), migrated(text, "x.cc"))


def test_names_of_other_types():
    text = "mw_options o; struct app { int clip; }; void set(struct app *o) { o->clip = 1; } void g(void) { o.clip = 1; }"
    new = text.replace("o.clip", "o.clipping.norm")
    check(migrated(text) == (new, []), migrated(text))
    text = OTHER + "mw_options o; void f(void) { unsigned n = 1, m; other *a, *o = g(n * m); o->clip = 1; }"
    check(migrated(text) == (text, []), migrated(text))
    text = "typedef mw_options mine; typedef const struct mw_options *its; void f(mine *a, its b) { a->clip = b->clip; }"
    check(migrated(text) == (text.replace("->clip", "->clipping.norm"), []), migrated(text))
    structs = OTHER + "struct a { mw_options part; }; struct b { other part; }; "
    text = structs + "void f(struct a *a, struct b *b) { a->part.clip = b->part.clip; }"
    check(migrated(text) == (text.replace("a->part.clip", "a->part.clipping.norm"), []), migrated(text))
    text = structs + "void f(void) { x->part.clip = 1; }"
    check(migrated(text) == (text, [(1, "clip")]), migrated(text))


def test_members_of_classes():
    text = ("class t : public b<c> { t() { own.clip = 1; this->own.clip = 1; } mw_options &get(); mw_options own; };\n"
            "void f(t &t) { t.get().clip = 1; for (mw_options &one : all) one.clip = 1; }")
    check(migrated(text, "x.cc") == (text.replace(".clip", ".clipping.norm"), []), migrated(text, "x.cc"))
    text = "struct s { union { mw_options a; int b; }; struct { mw_options c; } d; }; void f(struct s *s) { "
    text += "s->a.clip = s->d.c.clip; }"
    check(migrated(text) == (text.replace(".clip", ".clipping.norm"), []), migrated(text))


def test_fields_of_unknown_structs():
    for text in ("get(&fit)->clip = 1;", "#define CLIP(o) ((o).clip)\n", "void f(gone *o) { o->clip = 1; }",
                 "auto o = f(); o.clip = 1;", "x = (c ? a : b)->clip;"):
        check(migrated(text) == (text, [(1, "clip")]), f"{text}: {migrated(text)}")
    text = "mw_options *get(void *x); void f(void) { get(x)->clip = (*get(x)).clip; }"
    check(migrated(text) == (text.replace("clip", "clipping.norm"), []), migrated(text))
    text = "get(x)->clip = 1;"  # a name that the present interface has too
    check(migrated(text, "x.c", TABLE, (), "struct mw_now { int clip; };") == (text, []), "a present name")
    text = "mw_options o = {.paths = {.first = a}}; mw_options p = {.paths = {.x = a}};"
    check(migrated(text)[0] == text.replace(".paths = {.x", ".paths.first = {.x"), migrated(text))


HEADS = [  # what stands before the added functions, and behind them
    ("#include <a.h>\n#include <b.h>", "\nint x;\n#include <c.h>\n"),
    ("#include <a.h>", "\n#ifdef X\n#include <b.h>\n#endif\nint x;\n"),
    ("#ifdef X\n#include <b.h>\n#endif\n#include <a.h>", "\nint x;\n"),
    ("/* head */\n#ifndef A_H\n#define A_H\n#pragma once\n#include <a.h>", "\nint x;\n#endif\n"),
    ("#ifndef A\n#define A 1\n#endif\n#include <a.h>", "\nint x;\n"),
    ("", "int x;\n#include <a.h>\n"),
    ("", "#if X\n#include <a.h>\n#endif\nint x;\n"),
]


def test_lines_are_those_of_the_file_as_it_is_left():
    text = "#include <a.h>\nint x = mw_old(1,\n e);\nint y = mw_gone;\n"
    new, by_hand = migrated(text)
    check(by_hand == [(new[:new.index("mw_gone")].count("\n") + 1, "mw_gone")], by_hand)


def test_added_functions_stand_behind_the_first_includes():
    for before, behind in HEADS:
        new = migrated(before + behind.replace("int x", "int x = mw_old(1, e)"))[0]
        good = new.startswith(before) and new[len(before):].lstrip().startswith("#ifndef MW_MIGRATED")
        check(good and new.count("evaluate_confusion(1, e)") == 1, new)


WRITES = [
    ('mw_onnx_write(g, "a.onnx", NULL, e);', 0), ("mw_onnx_write(g, path, NULL, e);", 1),
    ('mw_onnx_write(g, "a.bin", NULL, e);', 1), ('mw_coreml_write(g, "A.mlpackage", NULL, e);', 0),
    ('mw_graph_write_mil(g, "a", NULL, e);', 0), ('mw_graph_write_mil(g, "a.onnx", NULL, e);', 1),
    ('mw_graph_write_mil(g, "a.espresso.net", NULL, e);', 1), ("f = mw_onnx_write;", 1),
    ('mw_trainer_write_onnx(t, "a.onnx", NULL, e);', 0), ("mw_trainer_write_coreml(t, f(a, b), NULL, e);", 1),
    ('mw_trainer_write_mil(t, "a", e);', 1), ('mw_trainer_write_tuned(t, s, "a", e);', 0),
    ("mw_trainer_write_tuned(t, s, a, e);", 1), ("#define W(g) mw_onnx_write(g, 0, 0, 0)\n", 1),
]


def test_paths_of_writers_are_looked_at():
    table = (TOOLS.parent / "CHANGELOG.md").read_text()
    for text, notes in WRITES:
        file, new = migrated_file(text, "x.c", table)
        check(len(file.notes) == notes and not file.by_hand and new != text, f"{text}: {file.notes}, {new}")
    file, new = migrated_file('mw_trainer_write_mil(t, "a", e);', "x.c", table)
    check(".keep_batch = true" in new and "adapters" in file.notes[0][2], new)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a.c").write_text("void f(void) { mw_onnx_write(g, path, NULL, e); }\n")
        ran = run_tool(folder)
        check(ran.returncode == 0 and "0 places need a hand, 1 places to look at" in ran.stdout, ran.stdout)


COMMENTS = [
    ("mw_read(a /* a */, /* n */ 3, e);", "mw_read(a /* a */, MW_F32, /* n */ 3, e);"),
    ("mw_read(/* a */ a, // a\n 3, e // e\n);", "mw_read(/* a */ a, MW_F32, // a\n 3, e // e\n);"),
    ("mw_read /* r */ (a, 3, e);", "/* r */ mw_read(a, MW_F32, 3, e);"),
    ("mw_drop(/* p */ a, // b\n b);", "/* p */ mw_drop(// b\n b);"),
    ("mw_drop(a // a\n, b);", "// a\nmw_drop(b);"),
    ("mw_none(/* none */);", "/* none */ mw_none(NULL);"),
]


def test_comments_of_calls_are_kept():
    table = TABLE.replace(END, f"| `mw_drop(a, b)` | `mw_drop(b)` |\n| `mw_none()` | `mw_none(NULL)` |\n{END}")
    for text, new in COMMENTS:
        check(migrated(text, "x.c", table) == (new, []), f"{text!r} became {migrated(text, 'x.c', table)}")
    text = "mw_read(a,\n#ifdef X\n 3,\n#endif\n e);"
    check(migrated(text) == (text, [(1, "mw_read")]), migrated(text))


def test_what_is_no_call_stays():
    for text in ("mw_status mw_read(mw_x *, size_t, mw_error *);", "const mw_x *mw_read(a, b, c);", "mw_x *mw_read(A, B, C);",
                 "static mw_status mw_read(mw_x *x, int n, mw_error *e) { return 0; }",
                 "mw_status mw_read(mw_x *x, int n, mw_y y, mw_error *e);"):
        check(migrated(text) == (text, []), f"{text}: {migrated(text)}")
    for text in ("x = &mw_read;", "f(mw_old);"):
        file, new = migrated_file(text)
        check(new == text and len(file.by_hand) == 1 and "without a call" in file.by_hand[0][2], file.by_hand)
    for text in ("return mw_read(a, 1, e);", "return x * mw_read(a, 1, e);", "y = x * mw_read(sizeof a, 1, e);"):
        check(migrated(text)[0] == text.replace("1", "MW_F32, 1"), migrated(text))


def test_ends_of_files():
    whole = "mw_options o, *p = {.clip = 1}; x = offsetof(mw_options, clip) + mw_read(a, 1, e) + (*p).clip; mw_old"
    for end in range(len(whole)):
        try:
            migrated(whole[:end])
            migrated(whole[end:], "x.cc")
        except IndexError:
            check(False, f"{whole[:end]!r} or the rest")


def test_what_a_library_beside_the_core_has():
    table = (TOOLS.parent / "CHANGELOG.md").read_text()
    core, data, inspect = (f"#include <millwright/{name}.h>\n" for name in ("millwright", "data", "inspect"))
    opened, options = "f(mw_dataset_open_idx(p, q, e));", "mw_augment_options o;"
    for text in (opened, options, "mw_dataset_shard(d, 0, 1, e);", "mw_map_example_uniform(x, 0);"):
        file, new = migrated_file(core + text, "x.c", table)
        check(new == data + core + text and not file.by_hand, new)
        check([note[0] for note in file.notes] == [1] and "libmillwright_data" in file.notes[0][2], file.notes)
        check(migrated(new, "x.c", table) == (new, []), migrated(new, "x.c", table))
    file, new = migrated_file(f"{core}{opened} mw_plan_create(p, e);", "x.c", table)
    check(new.startswith(data + inspect + core + opened) and len(file.notes) == 2, new)
    local = '#include "options.h"\n#include <math.h>\n'
    check(migrated(local + opened, "x.c", table)[0].split() == (local + data + opened).split(), "a header that has the core's")
    check(migrated(opened, "x.c", table)[0] == data + opened, migrated(opened, "x.c", table))
    old = "#include <millwright/dataset.h>\n"  # which had it
    check(migrated(old + opened, "x.c", table)[0].split() == (old + data + opened).split(), "dataset.h")
    for text in (f"#include <millwright/dataset_files.h>\n{opened}", f"{core}mw_dataset_split(d, c, 2, 1, p, e);",
                 f"{core}mw_dataset_prefetch(d, 2, e); // mw_dataset_map"):
        check(migrated(text, "x.c", table) == (text, []), migrated(text, "x.c", table))


def test_metrics():
    table = (TOOLS.parent / "CHANGELOG.md").read_text()
    kept = "mw_metrics_create(path, &o, &err); o = mw_metrics_defaults(); mw_metrics *mw_metrics_create(const mw_o *o);"
    check(migrated(kept, "x.c", table) == (kept, []), migrated(kept, "x.c", table))
    old = "void f(mw_metrics_options o) { o = mw_metrics_defaults(p); o.path = p; mw_metrics_create(&o, &err); }"
    new, by_hand = migrated(old, "x.c", table)
    check(new == old.replace("defaults(p)", "defaults()"), new)
    check([what for _, what in by_hand] == ["mw_metrics_create", "mw_metrics_options.path"], by_hand)
    quoted = '#include "millwright/load.h"\n'
    check(migrated(quoted, "x.c", table)[0] == '#include "millwright/weights.h"\n', "quotes")


def test_the_table_names_what_there_is(include):
    table = Table((TOOLS.parent / "CHANGELOG.md").read_text())
    headers = "\n".join(p.read_text() for p in (pathlib.Path(include) / "millwright").rglob("*.h"))
    known = {t[1] for t in migrate_api.tokens_of("x.h", headers)} | set(re.findall(r"#define (\w+)", headers))
    new = [call.text for call in table.calls.values()] + list(table.names.values()) + list(ADDED.values())
    for name in sorted(set(re.findall(r"\b(?:mw|MW)_\w+", "\n".join(new)))):
        check(name in known or name.startswith("MW_MIGRATED"), f"{name} is not there")
    for header in table.headers.values():
        check((pathlib.Path(include) / header).exists(), f"{header} is not there")
    rows = {*table.calls, *table.names, *table.by_hand}
    for path in (HERE.parent / "data" / "before").iterdir():
        for name in sorted(set(re.findall(r"\b(mw_\w+)\(", path.read_text()))):
            check(name in known or name in rows, f"{path.name}: {name} has no row")


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
    test_queries_become_structs(compiler, include)
    test_arguments()
    test_evaluations_of_the_present_stay()
    test_cpp_gets_no_c()
    test_names_of_other_types()
    test_members_of_classes()
    test_fields_of_unknown_structs()
    test_lines_are_those_of_the_file_as_it_is_left()
    test_added_functions_stand_behind_the_first_includes()
    test_paths_of_writers_are_looked_at()
    test_comments_of_calls_are_kept()
    test_what_is_no_call_stays()
    test_ends_of_files()
    test_what_a_library_beside_the_core_has()
    test_metrics()
    test_the_table_names_what_there_is(include)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
