/* docs/operations.md is what the operation table says and the engine does, one line an operation. MW_UPDATE_GOLDENS=1
 * writes it anew. */
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/page.h"

#include <millwright/millwright.h>
#include <stdlib.h>

typedef struct line {
    const char *name;
    int since;
    const char *gradient;
} line;

static const line lines[] = {
#define MW_OP(id, name, since, shape, vjp, kernel) {name, (int)since, #vjp},
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_ARG
#undef MW_END
};

enum { LINES = sizeof lines / sizeof lines[0], LIMIT = 1 << 16 };

static const char head[] =
    "# Operations\n"
    "\n"
    "What the operation table knows, and so what can be built, differentiated, read, printed and run: %d operations. "
    "They\n"
    "are all that coremltools defines for the opsets ios15 to ios18 (the folders `iOS15` to `iOS18` of its\n"
    "`converters/mil/mil/ops/defs`), and `write_state`, as which its `coreml_update_state` stands in programs. An "
    "operation\n"
    "that is not known is a mistake in typing, or of a later opset: it is read and printed, and reported by what needs "
    "its\n"
    "meaning. What a chip refuses is in `src/rules`.\n"
    "\n"
    "- **builder**: a typed constructor; `mw_op` builds every operation.\n"
    "- **VJP**: yes, zero (the derivative is 0 almost everywhere), or none.\n"
    "- **text**: a program with it is printed and read back.\n"
    "- **fp32**, **fp16**: the engine runs it with that float type.\n"
    "- **tested**: cases that compare the kernel in both types with double precision, the VJP and its own derivative\n"
    "  with central differences, and the text with itself (`tests/support/cases/cases_<family>.c`). Random cases "
    "recorded from\n"
    "  PyTorch come on top (`tests/data/torch`).\n"
    "\n"
    "This file is written by its test (`tests/ops/test_document.c`).\n"
    "\n"
    "| operation | since | builder | VJP | text | fp32 | fp16 | tested |\n"
    "|---|---|---|---|---|---|---|---|\n";

/* True if a public header declares that function. */
static bool has_constructor(const char *name)
{
    static const char *const headers[] = {
#define FAMILY(name) #name,
#include "support/cases/families.def"
#undef FAMILY
    };
    static const char *const gives[] = {"*", "mw_status ", "mw_recurrent "};
    char path[512], declared[80];
    bool found = false;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0] && !found; i++) {
        snprintf(path, sizeof path, "%s/../include/millwright/ops/%s.h", MW_TESTS_DIR, headers[i]);
        char *text = page_read(path);
        for (size_t k = 0; k < sizeof gives / sizeof gives[0]; k++) {
            snprintf(declared, sizeof declared, "%s%s(", gives[k], name);
            found = found || (text != NULL && strstr(text, declared) != NULL);
        }
        free(text);
    }
    return found;
}

/* Two operations have names that C or MW_SHAPE take. */
static const char *constructor_name(const char *name)
{
    return strcmp(name, "const") == 0 ? "constant" : strcmp(name, "shape") == 0 ? "shape_of" : name;
}

static int count_cases(const char *name)
{
    int count = 0;
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        count += strcmp(c->name, name) == 0;
    return count;
}

typedef struct findings {
    bool text, fp32, fp16;
} findings;

static bool compiles(const mw_graph *graph)
{
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, NULL);
    mw_program_destroy(program);
    return program != NULL;
}

static void try_case(const op_case *c, mw_dtype real, bool *runs, bool *prints)
{
    op_instance instance;
    if (op_instance_init(&instance, c, real, 1) && mw_output(instance.y, "y") != NULL) {
        char *text = mw_graph_print_mil(instance.graph, NULL, NULL);
        *prints = *prints || text != NULL;
        *runs = *runs || compiles(instance.graph);
        mw_string_free(text);
    }
    op_instance_deinit(&instance);
}

static findings find_out(const char *name)
{
    findings found = {0};
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        if (strcmp(c->name, name) != 0)
            continue;
        try_case(c, MW_F32, &found.fp32, &found.text);
        try_case(c, MW_F16, &found.fp16, &found.text);
    }
    return found;
}

static const char *yes(bool value) { return value ? "yes" : "no"; }

static size_t write_line(char *out, size_t size, int first)
{
    char since[64], constructor[80] = "`mw_op`";
    size_t used = (size_t)snprintf(since, sizeof since, "ios%d", lines[first].since);
    for (int i = first + 1; i < LINES && strcmp(lines[i].name, lines[first].name) == 0; i++)
        used += (size_t)snprintf(since + used, sizeof since - used, ", ios%d", lines[i].since);
    char function[64];
    snprintf(function, sizeof function, "mw_%s", constructor_name(lines[first].name));
    if (strcmp(lines[first].name, "const") == 0 || has_constructor(function))
        snprintf(constructor, sizeof constructor, "`%s`", function);
    const char *gradient = strcmp(lines[first].gradient, "NONE") == 0   ? "none"
                           : strcmp(lines[first].gradient, "zero") == 0 ? "zero"
                                                                        : "yes";
    const findings found = find_out(lines[first].name);
    return (size_t)snprintf(out, size, "| %s | %s | %s | %s | %s | %s | %s | %d |\n", lines[first].name, since,
                            constructor, gradient, yes(found.text), yes(found.fp32), yes(found.fp16),
                            count_cases(lines[first].name));
}

static void test_the_list_of_operations_is_that_of_the_table(void)
{
    char path[512], *text = calloc(1, LIMIT);
    REQUIRE(text != NULL);
    int names = 0;
    for (int i = 0; i < LINES; i++)
        names += i == 0 || strcmp(lines[i].name, lines[i - 1].name) != 0;
    CHECK_INT(names, 168); /* coremltools has no more of ios15 to ios18 */
    size_t used = (size_t)snprintf(text, LIMIT, head, names);
    for (int i = 0; i < LINES; i++) {
        if (i == 0 || strcmp(lines[i].name, lines[i - 1].name) != 0)
            used += write_line(text + used, LIMIT - used, i);
    }
    snprintf(path, sizeof path, "%s/../docs/operations.md", MW_TESTS_DIR);
    page_check(path, text);
    free(text);
}

int main(void)
{
    RUN(test_the_list_of_operations_is_that_of_the_table);
    return check_finish();
}
