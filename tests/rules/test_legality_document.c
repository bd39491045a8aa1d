/* docs/chip_legality.md is what the rows of rules say. MW_UPDATE_GOLDENS=1 writes it anew. */
#include "rules/legality.h"
#include "support/check.h"
#include "support/page.h"

#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 18 };

static const char head[] =
    "# What a chip takes\n"
    "\n"
    "The limits of the generations of the ANE and the rules that follow from them, as the library holds programs to "
    "them:\n"
    "`mw_chip_report_create` lists all that hold of a program, `mw_program_create` for a named chip "
    "(`mw_compile_options.chip`) "
    "writes "
    "in\n"
    "another form what it can and refuses the rest by name, and `ane_e5rt_compile_check` on the engine holds a "
    "program\n"
    "as it stands to the architecture of `TargetArchitecture=h13`. Nothing here was tried on a Mac of ours: every row "
    "names\n"
    "who measured or read it, and where sources disagree, which is taken. Sources: ANEForge; the ane-guide\n"
    "(github.com/sbryngelson/ane-guide), which measured M1, M2 and M5 and read M3 and M4 off the compiler; the M6 "
    "study\n"
    "(github.com/751K/Apple-Neural-Engine-Microarchitecture-Study-M6), which swept M4 and M6.\n"
    "\n"
    "```c\n"
    "mw_error err = {0};\n"
    "mw_graph *graph = mw_graph_open_mil(\"model.mil\", NULL, &err);\n"
    "mw_chip_report *report = mw_chip_report_create(graph, MW_CHIP_H13, NULL, &err);\n"
    "const mw_chip_finding *f;\n"
    "for (size_t i = 0; (f = mw_chip_report_finding_at(report, i)) != NULL; i++) {\n"
    "    if (f->verdict == MW_CHIP_REFUSED)\n"
    "        mw_error_clear(&err); /* f->rule, f->operation, f->message, f->source .. */\n"
    "}\n"
    "mw_chip_report_destroy(report);\n"
    "mw_graph_destroy(graph);\n"
    "```\n"
    "\n"
    "From the shell (exit code 3 if something is refused; some lines left out):\n"
    "\n"
    "    $ mw check --chip m6 digits.mlpackage\n"
    "    h18g (M6): 0 refused, 0 warned, 4 noted\n"
    "    noted \"x\": is fp32; the ANE takes fp16 and uint8\n"
    "        rule input_type, validator\n"
    "        source: ANEForge, ports\n"
    "        rewritten: fp16, floating point is fp16, integers and truths that pass a port are fp16 numbers\n"
    "    h18g: takes it\n"
    "\n"
    "This file is written by its test (`tests/rules/test_legality_document.c`). How a chip computes is in "
    "[chip.md](chip.md);\n"
    "which training steps pass, in [chip_training.md](chip_training.md).\n"
    "\n"
    "## Limits\n"
    "\n"
    "In elements, or bytes where it says so. *any* is what a program for no named chip is held to; h18 is known by "
    "name "
    "only\n"
    "and has the limits of h16, h19 has those of h18g. h17 was not swept: its windows are those of the ane-guide.\n"
    "\n";

static const char rules_head[] =
    "\n## Rules\n"
    "\n"
    "A rule holds on the chips in its row; *all* includes programs for no named chip. Where a program stops: at the\n"
    "*validator* of Apple's compiler, in its *lowering* to code, at *load*, or not at all (*run*: it runs with other\n"
    "numbers); what the *planner* of Core ML leaves out runs on the CPU. Refused unless it says *warned* (it runs, not "
    "as\n"
    "it should, or sources disagree) or *noted*. *Written as*\n"
    "is the rewrite by which `mw_program_create` stands for it where it can (`src/passes/rewrites.def`).\n"
    "\n"
    "Two judges decide what the ANE takes, and a rule is of one or of *both*:\n"
    "\n"
    "- *direct*: the ANE's compiler, which is given the whole program. `mw_program_create` writes programs for it, "
    "and\n"
    "  `mw check` asks its rules by default.\n"
    "- *Core ML*: the planner of Core ML, which offers operations to the ANE one by one. What it does not offer runs "
    "on\n"
    "  the CPU, between parts that may run on the ANE. `mw check --judge coreml` and `mw_chip_check_options.judge` ask "
    "its\n"
    "  rules. Add `--as-it-is` for a model that coremltools converted: without it the program is judged as\n"
    "  `mw_program_create` writes it.\n"
    "\n"
    "The planner is less strict than the compiler where it writes an operation in another form first (volumes, pads "
    "of\n"
    "channels, fp32 between casts), and stricter elsewhere (every int32 tensor). It was measured on M4.\n";

/* ---- limits ---- */

typedef struct column {
    const char *what;
    size_t offset;
    bool is_flag;
} column;

#define NUMBER(what_, field_)                                                                                          \
    {                                                                                                                  \
        .what = what_, .offset = offsetof(mw__chip_row, field_)                                                        \
    }
#define FLAG(what_, field_)                                                                                            \
    {                                                                                                                  \
        .what = what_, .offset = offsetof(mw__chip_row, field_), .is_flag = true                                       \
    }

static const column columns[] = {
    FLAG("runs MIL", runs_mil),
    NUMBER("longest axis, but those of rank 4 below", axis_max),
    NUMBER("batch of rank 4", batch_max),
    NUMBER("channels of rank 4", channels_max),
    NUMBER("depth of rank 5", depth_max),
    NUMBER("axis that is transposed (0: always in parts)", transpose_max),
    NUMBER("axis of an argmax", argument_max),
    NUMBER("kernel width, fp16", kernel_width_max),
    NUMBER("kernel width, default format", kernel_width_default_max),
    NUMBER("kernel height", kernel_height_max),
    NUMBER("kernel depth", kernel_depth_max),
    NUMBER("patch width", patch_width),
    NUMBER("patch height", patch_height),
    NUMBER("patch depth", patch_depth),
    NUMBER("square kernel that Core ML offers (0: none)", kernel_square_coreml),
    NUMBER("pooling window", pool_window_max),
    NUMBER("width of a max_pool (0: not measured)", max_pool_width_max),
    NUMBER("inner extent of a matmul of two computed operands (0: not measured)", inner_extent_max),
    NUMBER("reductions become transposes from", reduction_transpose),
    NUMBER("groups are written out up to", group_decompose),
    NUMBER("kernel memory, bytes", kernel_memory),
    NUMBER("streamed kernel, bytes", kernel_stream),
    NUMBER("working set, bytes", working_set),
    NUMBER("table of an activation, bytes", lut_bytes),
    FLAG("texture engine: sampling, reflected pads", has_texture_engine),
    FLAG("squares after reductions", squares_reductions),
    FLAG("sorting, computed positions", has_sort),
    FLAG("sin, cos", has_sine),
    FLAG("random numbers", has_random),
    FLAG("softmax", has_softmax),
    FLAG("norms", has_norms),
    FLAG("fp8", has_fp8),
};

static void put_cell(page *p, const mw__chip_row *chip, const column *c)
{
    int64_t number;
    bool flag;
    if (c->is_flag) {
        memcpy(&flag, (const char *)chip + c->offset, sizeof flag);
        page_put(p, " %s |", flag ? "yes" : "no");
    } else {
        memcpy(&number, (const char *)chip + c->offset, sizeof number);
        page_put(p, " %lld |", (long long)number);
    }
}

static void put_limits(page *p)
{
    const mw__chip_row *chip;
    page_put(p, "| |");
    for (size_t i = 0; (chip = mw__chip_at(i)) != NULL; i++)
        page_put(p, " %s%s%s |", chip->name, chip->product[0] == 'M' ? ", " : "",
                 chip->product[0] == 'M' ? chip->product : "");
    page_put(p, "\n|---|");
    for (size_t i = 0; mw__chip_at(i) != NULL; i++)
        page_put(p, "---|");
    page_put(p, "\n| most dimensions |");
    for (size_t i = 0; (chip = mw__chip_at(i)) != NULL; i++)
        page_put(p, " %d |", chip->rank_max);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        page_put(p, "\n| %s |", columns[k].what);
        for (size_t i = 0; (chip = mw__chip_at(i)) != NULL; i++)
            put_cell(p, chip, &columns[k]);
    }
    page_put(p, "\n");
}

/* ---- rules ---- */

static const char *chips_of(unsigned chips)
{
    switch (chips) {
    case MW__ON_ALL:
        return "all";
    case MW__ON_NAMED:
        return "named";
    case MW__ON_OLDER:
        return "h11, h12";
    case MW__ON_BELOW_H14:
        return "up to h13";
    case MW__ON_BELOW_H15:
        return "up to h14";
    case MW__ON_BELOW_H16:
        return "up to h15";
    case MW__ON_FROM_H15:
        return "from h15 on";
    case MW__ON_SWEPT:
        return "h16, h18, h18g, h19";
    case MW__ON_NOT_SWEPT:
        return "up to h15, h17";
    case MW__ON_H13:
        return "h13";
    case MW__ON_H16:
        return "h16";
    default:
        return "?";
    }
}

static void put_operations(page *p, const mw__legality_row *row)
{
    if (row->operations == NULL)
        page_put(p, row->port != NULL ? "ports" : row->function != NULL ? "the program" : "any");
    for (const char *const *name = row->operations; name != NULL && *name != NULL; name++)
        page_put(p, "%s`%s`", name != row->operations ? ", " : "", *name);
}

static void put_rule(page *p, const mw__legality_row *row)
{
    static const char *const stages[] = {"validator", "lowering", "load", "run", "planner"};
    static const char *const verdicts[] = {"", ", warned", ", noted"};
    static const char *const judges[] = {"both", "direct", "Core ML"};
    page_put(p, "| `%s` | ", row->id);
    put_operations(p, row);
    page_put(p, " | %s | %s | %s%s | %s | %s%s%s | %s | %s%s%s |\n", chips_of(row->chips), judges[row->judges],
             stages[row->stage], verdicts[row->verdict], row->rule, row->validator != NULL ? "\"" : "",
             row->validator != NULL ? row->validator : "", row->validator != NULL ? "\"" : "", row->source,
             row->rewrite != MW__RULE_NONE ? "`" : "", mw__pass_rule_of(row->rewrite)->name,
             row->rewrite != MW__RULE_NONE ? "`" : "");
}

static void put_rules(page *p)
{
    const mw__legality_family *family;
    for (size_t f = 0; (family = mw__legality_family_at(f)) != NULL; f++) {
        page_put(p,
                 "\n### %s\n\n| rule | operations | chips | judge | stage | what is refused | Apple's words | source | "
                 "written as "
                 "|\n"
                 "|---|---|---|---|---|---|---|---|---|\n",
                 family->name);
        for (size_t i = 0; i < family->count; i++)
            put_rule(p, &family->rows[i]);
    }
}

static void test_the_document_is_what_the_rows_say(void)
{
    char path[512];
    page p = page_make(LIMIT);
    REQUIRE(p.text != NULL);
    page_put(&p, "%s", head);
    put_limits(&p);
    page_put(&p, "%s", rules_head);
    put_rules(&p);
    snprintf(path, sizeof path, "%s/../docs/chip_legality.md", MW_TESTS_DIR);
    page_check(path, p.text);
    page_free(&p);
}

int main(void)
{
    RUN(test_the_document_is_what_the_rows_say);
    return check_finish();
}
