/* docs/e5rt.md is what the rows of src/engine/surface/symbols.def say. MW_UPDATE_GOLDENS=1 writes it anew. */
#include "support/check.h"
#include "support/page.h"
#include "symbol_rows.h"

enum { LIMIT = 1 << 17 };

static const char head[] =
    "# The e5rt functions\n"
    "\n"
    "`e5rt` is the interface of Espresso.framework below Core ML. Nothing of it is documented by Apple; the names and\n"
    "parameters here are facts that public projects gathered. `libmillwright_e5rt` exports every one of them, so that "
    "a\n"
    "client of e5rt runs on Millwright's engine as it is, and `include/e5rt/e5rt.h` declares those whose parameters "
    "are\n"
    "known. A function that the engine has not answers status 2 (invalid operation) with the message\n"
    "`e5rt_NAME is not available on this platform: WHY`, and reads and writes nothing.\n"
    "\n"
    "A client opens `libmillwright_e5rt` with `dlopen` where it would open Espresso, or links it; the other way "
    "round,\n"
    "`MW_E5RT_LIBRARY` gives Millwright another e5rt library (docs/environment.md). Programs that go through the\n"
    "`ane_e5rt_*` functions of ANEForge use `millwright/ane_e5rt.h`.\n"
    "\n"
    "**Confidence**: **A** two independent projects or Apple's own text, **B** one project that calls it, **C** count "
    "and\n"
    "widths of arguments read from machine code, **D** a guess, **M** Millwright's own, absent from Espresso. "
    "**Source**: a\n"
    "project that has the name; others may too. [ANEForge](https://github.com/sbryngelson/ANEForge),\n"
    "[ane-bridge-rs](https://github.com/electricapp/ane-bridge-rs), [tmc/apple](https://github.com/tmc/apple).\n"
    "`e5rt_error_code_get_string` exists in Espresso and is not here: it returns an object of C++.\n"
    "\n"
    "Conventions: creating and allocating functions take the out pointer first, others last; `release` takes the "
    "address\n"
    "of the handle and clears it. A handle is counted: what is bound, encoded or taken from another lives on when its\n"
    "handle is released. A NULL, released or foreign handle, and one of another kind, is refused by name. The result "
    "is a\n"
    "status: 0 success, 1 invalid argument, 2 invalid operation, 3 allocation failure, 4 out of bounds, 5 invalid "
    "type, 6\n"
    "invalid data type. Of options, *effect* is what one changes here; one without effect is kept and given back.\n"
    "\n"
    "This file is written by its test (`tests/engine/surface/test_symbols_document.c`).\n";

static void put_group(page *p, const symbol_row *row)
{
    page_put(p, "\n## %s\n\n", row->name);
    if (row->what[0] != '\0')
        page_put(p, "%s\n\n", row->what);
    page_put(p, "| function | confidence | source | what the engine does |\n|---|---|---|---|\n");
}

static void put_row(page *p, const symbol_row *row)
{
    page_put(p, "| `%s%s` | %s | %s | ", row->name, row->parameters, row->confidence, row->source);
    if (row->state == SYMBOL_HAS || row->state == SYMBOL_TEXT)
        page_put(p, "%s |\n", row->what);
    else
        page_put(p, "*not available*: %s |\n", row->what);
}

static void put_counts(page *p)
{
    size_t has = 0, absent = 0, own = 0;
    for (size_t i = 0; i < symbol_count; i++) {
        const symbol_row *row = &symbol_rows[i];
        const bool answers = row->state == SYMBOL_HAS || row->state == SYMBOL_TEXT;
        own += row->confidence[0] == 'M';
        has += answers && row->confidence[0] != 'M';
        absent += row->state == SYMBOL_ABSENT || row->state == SYMBOL_UNKNOWN;
    }
    page_put(p, "\nOf %zu names of Espresso the engine has %zu; %zu more are Millwright's own.\n", has + absent, has,
             own);
}

static void test_the_document_says_what_the_rows_say(void)
{
    page p = page_make(LIMIT);
    REQUIRE(p.text != NULL);
    page_put(&p, "%s", head);
    put_counts(&p);
    for (size_t i = 0; i < symbol_count; i++)
        (symbol_rows[i].state == SYMBOL_GROUP ? put_group : put_row)(&p, &symbol_rows[i]);
    page_check(MW_TESTS_DIR "/../docs/e5rt.md", p.text);
    page_free(&p);
}

int main(void)
{
    RUN(test_the_document_says_what_the_rows_say);
    return check_finish();
}
