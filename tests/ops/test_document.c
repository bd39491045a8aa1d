/* docs/operations.md is what the operation table says, one line an operation. MW_UPDATE_GOLDENS=1 writes it anew. */
#include "support/check.h"
#include "support/op_cases.h"

#include <stdlib.h>

typedef struct line {
    const char *name;
    int since;
    const char *gradient, *kernel;
} line;

static const line lines[] = {
#define MW_OP(id, name, since, shape, vjp, kernel) {name, (int)since, #vjp, #kernel},
#define MW_EXPAND(id, function)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_EXPAND
#undef MW_ARG
#undef MW_END
};

enum { LINES = sizeof lines / sizeof lines[0], LIMIT = 1 << 16 };

static const char head[] =
    "# Operations\n"
    "\n"
    "What the operation table knows, and so what can be built, differentiated, read, printed and run. Operations of "
    "MIL\n"
    "that are not here are read and printed, and reported by what needs their meaning. The text and the verifier "
    "follow\n"
    "from the row; what a chip refuses is in `src/mil/legality.c`. Each row has a case that checks its kernel (fp32 "
    "and\n"
    "fp16), its gradient and its text. This file is written by its test (`tests/ops/test_document.c`).\n"
    "\n"
    "| operation | since | constructor | gradient | kernel | cases |\n"
    "|---|---|---|---|---|---|\n";

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, LIMIT);
    if (file != NULL && text != NULL)
        text[fread(text, 1, LIMIT - 1, file)] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

/* True if a public header declares mw_<name>. */
static bool has_constructor(const char *name)
{
    static const char *const headers[] = {
#define FAMILY(name) #name,
#include "support/families.def"
#undef FAMILY
    };
    char path[512], declared[80];
    bool found = false;
    snprintf(declared, sizeof declared, "*mw_%s(", name);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0] && !found; i++) {
        snprintf(path, sizeof path, "%s/../include/millwright/op_%s.h", MW_TESTS_DIR, headers[i]);
        char *text = read_text(path);
        char status[80];
        snprintf(status, sizeof status, "mw_status mw_%s(", name);
        found = text != NULL && (strstr(text, declared) != NULL || strstr(text, status) != NULL);
        free(text);
    }
    return found;
}

static int count_cases(const char *name)
{
    int count = 0;
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        count += strcmp(c->name, name) == 0;
    return count;
}

static size_t write_line(char *out, size_t size, int first)
{
    char since[64], constructor[80] = "`mw_op`";
    size_t used = (size_t)snprintf(since, sizeof since, "ios%d", lines[first].since);
    for (int i = first + 1; i < LINES && strcmp(lines[i].name, lines[first].name) == 0; i++)
        used += (size_t)snprintf(since + used, sizeof since - used, ", ios%d", lines[i].since);
    if (strcmp(lines[first].name, "const") == 0)
        snprintf(constructor, sizeof constructor, "`mw_constant`");
    else if (has_constructor(lines[first].name))
        snprintf(constructor, sizeof constructor, "`mw_%s`", lines[first].name);
    const char *gradient = strcmp(lines[first].gradient, "NONE") == 0   ? "none"
                           : strcmp(lines[first].gradient, "zero") == 0 ? "zero"
                                                                        : "yes";
    return (size_t)snprintf(out, size, "| %s | %s | %s | %s | %s | %d |\n", lines[first].name, since, constructor,
                            gradient, lines[first].kernel, count_cases(lines[first].name));
}

static void test_the_list_of_operations_is_that_of_the_table(void)
{
    char path[512], *text = calloc(1, LIMIT);
    REQUIRE(text != NULL);
    size_t used = (size_t)snprintf(text, LIMIT, "%s", head);
    for (int i = 0; i < LINES; i++) {
        if (i == 0 || strcmp(lines[i].name, lines[i - 1].name) != 0)
            used += write_line(text + used, LIMIT - used, i);
    }
    snprintf(path, sizeof path, "%s/../docs/operations.md", MW_TESTS_DIR);
    FILE *file = getenv("MW_UPDATE_GOLDENS") != NULL ? fopen(path, "wb") : NULL;
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
    char *found = read_text(path);
    CHECK_STR(found != NULL ? found : "", text);
    free(found);
    free(text);
}

int main(void)
{
    RUN(test_the_list_of_operations_is_that_of_the_table);
    return check_finish();
}
