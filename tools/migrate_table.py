"""The table old -> new of the public interface, as CHANGELOG.md has it. Its rows, by what stands in the first column:

    `mw_run(program, err)`         a call: its arguments by name, and the same names in the new one
    `mw_predictor`                 a name: of a function, a type, a constant, a macro
    `mw_fit_options.patience`      a field of a struct, and the path that it has now
    `mw_optimizer.beta2`           the same of a struct that is a value now: `mw_optimizer_set(&it, MW_X, value)`, the call
                                   that sets it, and behind ", read" the one that reads it, if there is one
    `<millwright/weights.h>`          a header

A second column that is code and "(added)" calls a function that the tool writes into the file (ADDED). One that is not
code in backticks says what to do by hand."""
import re
from collections import namedtuple

BEGIN, END = "<!-- migrate: begin -->", "<!-- migrate: end -->"
ROW = re.compile(r"^\|\s*(.+?)\s*\|\s*(.+?)\s*\|$")
CALL = re.compile(r"^(\w+)\((.*)\)$", re.S)
FIELD = re.compile(r"^(\w+)\.(\w+)$")
HEADER = re.compile(r"^<(.+)>$")

ACCESSOR = re.compile(r"^`(\w+\()&it(, \w+), value\)`(?:, read `(\(?\w+\()&it(, \w+\)(?: != 0\))?)`)?$")

Call = namedtuple("Call", "parameters text added")


class Accessor(namedtuple("Accessor", "set get")):
    """What stands before and behind the value in the calls that set and read one of its numbers; get may be None."""

    def says(self):
        return f"`{self.set[0]}&it{self.set[1]}, value)`" + (f", read `{self.get[0]}&it{self.get[1]}`" if self.get else "")


ADDED_MARK = "(added)"

# Functions of both interfaces whose calls have as many arguments, and those of the arguments that tell which one it is.
BOTH = {"mw_trainer_evaluate": (2, 3)}

# Writers that took any path. path: which argument it is; ending: what makes it the same format now, None = the ending of
# no other format; always: whether there is more to look at than the path
Writer = namedtuple("Writer", "path ending always sentence")
ENDS = "the path now says the format: it must end in {}"
FOLDER = "the path now says the format: it must not end in .onnx, .mlpackage or .espresso.net"
WRITERS = {
    "mw_onnx_write": Writer(1, ".onnx", False, ENDS.format(".onnx")),
    "mw_coreml_write": Writer(1, ".mlpackage", False, ENDS.format(".mlpackage")),
    "mw_graph_write_mil": Writer(1, None, False, FOLDER),
    "mw_trainer_write_onnx": Writer(1, ".onnx", False, ENDS.format(".onnx")),
    "mw_trainer_write_coreml": Writer(1, ".mlpackage", False, ENDS.format(".mlpackage")),
    "mw_trainer_write_mil": Writer(1, None, True, FOLDER + "; adapters are merged now"),
    "mw_trainer_write_tuned": Writer(2, None, False, FOLDER),
}

# Functions of the interface before that one expression cannot stand for, as they are written behind the includes.
ADDED = {
    "evaluate_loss_and_metric": """
#ifndef MW_MIGRATED_EVALUATE
#define MW_MIGRATED_EVALUATE
static inline mw_status evaluate_loss_and_metric(mw_trainer *trainer, const mw_dataset *dataset, double *out_loss,
                                                 double *out_metric, mw_error *err)
{
    mw_evaluation found;
    const mw_status status = mw_trainer_evaluate(trainer, dataset, NULL, &found, err);
    if (out_loss != NULL)
        *out_loss = found.loss;
    if (out_metric != NULL)
        *out_metric = found.metric_count > 0 ? found.metrics[0].value : 0.0;
    return status;
}
#endif
""",
    "evaluate_confusion": """
#ifndef MW_MIGRATED_CONFUSION
#define MW_MIGRATED_CONFUSION
static inline mw_status evaluate_confusion(mw_trainer *trainer, const mw_dataset *dataset, const char *labels,
                                           int64_t classes, int64_t *out_counts, mw_error *err)
{
    const mw_confusion confusion = {labels, classes, out_counts};
    return mw_trainer_evaluate(trainer, dataset, &confusion, NULL, err);
}
#endif
""",
    "class_name_at": """
#ifndef MW_MIGRATED_CLASS_NAME
#define MW_MIGRATED_CLASS_NAME
static inline const char *class_name_at(mw_classes classes, size_t index)
{
    return index < classes.count && classes.names != NULL ? classes.names[index] : NULL;
}
#endif
""",
    "count_functions": """
#ifndef MW_MIGRATED_FUNCTIONS
#define MW_MIGRATED_FUNCTIONS
static inline size_t count_functions(const mw_graph *graph)
{
    size_t count = 0;
    while (mw_graph_function_at(graph, count) != NULL)
        count++;
    return count;
}
#endif
""",
    "count_columns": """
#ifndef MW_MIGRATED_COLUMNS
#define MW_MIGRATED_COLUMNS
static inline size_t count_columns(const mw_dataset *dataset)
{
    size_t count = 0;
    while (mw_dataset_column_at(dataset, count) != NULL)
        count++;
    return count;
}
#endif
""",
    "count_placements": """
#ifndef MW_MIGRATED_PLACEMENTS
#define MW_MIGRATED_PLACEMENTS
static inline size_t count_placements(const mw_program *program)
{
    mw_placement placement;
    size_t count = 0;
    while (mw_program_placement_at(program, count, &placement))
        count++;
    return count;
}
#endif
""",
    "comparison_first": """
#ifndef MW_MIGRATED_COMPARISON
#define MW_MIGRATED_COMPARISON
static inline const mw_compared *comparison_first(const mw_comparison *comparison, bool accumulated)
{
    const mw_comparison_info info = mw_comparison_get_info(comparison);
    return accumulated ? info.first_accumulated : info.first_local;
}
#endif
""",
}


class Malformed(Exception):
    pass


class Table:
    """calls: name -> Call or a sentence; names: old -> new; fields: (struct, field) -> path; accessors: (struct, field) ->
    Accessor; headers: old -> new; by_hand: what no edit is known for, name or (struct, field) -> sentence."""

    def __init__(self, text):
        self.calls, self.names, self.fields, self.headers, self.by_hand, self.accessors = {}, {}, {}, {}, {}, {}
        for old, new in rows(text):
            self.add(old, new)

    def add(self, old, new):
        code = uncoded(new)
        if HEADER.match(old):
            self.headers[HEADER.match(old).group(1)] = HEADER.match(code).group(1) if code else new
        elif FIELD.match(old) and ACCESSOR.match(new):
            parts = ACCESSOR.match(new).groups()
            self.add_to(self.accessors, FIELD.match(old).groups(), Accessor(parts[:2], parts[2] and parts[2:]), new)
        elif FIELD.match(old):
            self.add_to(self.fields, FIELD.match(old).groups(), code, new)
        elif CALL.match(old):
            name, parameters = CALL.match(old).groups()
            added = uncoded(new[: -len(ADDED_MARK)].strip()) if new.endswith(ADDED_MARK) else None
            names = [p.strip() for p in parameters.split(",") if p.strip()]
            call = Call(names, code or added, bool(added)) if code or added else None
            self.add_to(self.calls, name, call, new)
        else:
            self.add_to(self.names, old, code, new)

    def add_to(self, where, key, value, sentence):
        if any(key in them for them in (where, self.by_hand, self.fields, self.accessors)):
            raise Malformed(f"{key} stands twice in the table")
        if value is None:
            self.by_hand[key] = sentence
        else:
            where[key] = value

    def structs(self):
        keys = [*self.fields, *self.accessors, *self.by_hand]
        return {key[0] for key in keys if isinstance(key, tuple)}


def uncoded(cell):
    """What stands in backticks, if it is all of the cell."""
    return cell[1:-1] if re.fullmatch(r"`[^`]+`", cell) else None


def rows(text):
    if BEGIN not in text or END not in text:
        raise Malformed("no table between the marks")
    for line in text.split(BEGIN)[1].split(END)[0].splitlines():
        row = ROW.match(line.strip())
        if not row or set(row.group(1)) <= set("-: ") or row.group(1) == "before":
            continue
        old = uncoded(row.group(1))
        if old is None:
            raise Malformed(f"the first column is no code: {line}")
        yield old, row.group(2)
