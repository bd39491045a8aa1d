/* docs/e5rt.md is what the rows of src/engine/surface/symbols.def say. MW_UPDATE_GOLDENS=1 writes it anew. */
#include "support/check.h"
#include "support/page.h"
#include "symbol_rows.h"

enum { LIMIT = 1 << 17 };

static const char head[] =
    "# The e5rt functions\n"
    "\n"
    "`e5rt` is the interface of Espresso.framework below Core ML. Apple documents nothing of it. The names and\n"
    "parameters here are facts that public projects gathered. `libmillwright_e5rt` exports every one of them. So\n"
    "a client of e5rt runs on Millwright's engine unchanged. `include/e5rt/e5rt.h` declares the functions whose\n"
    "parameters are known. A function that the engine does not have returns status 2 (invalid operation) with the\n"
    "message `e5rt_NAME is not available on this platform: WHY`. It reads and writes nothing.\n"
    "\n"
    "A client opens `libmillwright_e5rt` with `dlopen` where it would open Espresso, or links it. In the other\n"
    "direction, `MW_E5RT_LIBRARY` gives Millwright another e5rt library (docs/environment.md). Programs that use\n"
    "the `ane_e5rt_*` functions of ANEForge use `millwright/ane_e5rt.h`.\n"
    "\n"
    "**Confidence** has these levels:\n"
    "\n"
    "- **A**: two independent projects or Apple's own text\n"
    "- **B**: one project that calls it\n"
    "- **C**: count and widths of arguments read from machine code\n"
    "- **D**: a guess\n"
    "- **M**: Millwright's own, absent from Espresso\n"
    "\n"
    "**Source** is a project that has the name; others may have it too. The projects are\n"
    "[ANEForge](https://github.com/sbryngelson/ANEForge),\n"
    "[ane-bridge-rs](https://github.com/electricapp/ane-bridge-rs) and [tmc/apple](https://github.com/tmc/apple).\n"
    "`e5rt_error_code_get_string` exists in Espresso and is not here, because it returns a C++ object.\n"
    "\n"
    "Conventions:\n"
    "\n"
    "- Functions that create or allocate take the out pointer first. Other functions take it last.\n"
    "- `release` takes the address of the handle and clears it. Handles are counted. If an object is bound,\n"
    "  encoded or taken from another, it stays alive when its handle is released.\n"
    "- A handle that is NULL, released, foreign or of another kind is refused by name.\n"
    "- The result is a status: 0 success, 1 invalid argument, 2 invalid operation, 3 allocation failure, 4 out of\n"
    "  bounds, 5 invalid type, 6 invalid data type.\n"
    "- For options, *effect* is what an option changes here. An option without effect is kept and given back.\n"
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
