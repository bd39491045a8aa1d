/* The tables of docs/chip.md are what the rows of rules say. MW_UPDATE_GOLDENS=1 writes them anew. */
#include "rules/arithmetic.h"
#include "rules/chips.h"
#include "support/check.h"
#include "support/page.h"

#include <stdlib.h>

enum { LIMIT = 1 << 17 };

static void put_chips(page *p, unsigned chips)
{
    int count = 0;
    for (mw_chip chip = MW_CHIP_H13; chip <= MW_CHIP_H17; chip = (mw_chip)(chip + 1))
        count += (int)(chips >> chip & 1u);
    if (count == 0 || count == 5) {
        page_put(p, "%s", count == 0 ? "none" : "every");
        return;
    }
    for (mw_chip chip = MW_CHIP_H13, first = MW_CHIP_AUTO; chip <= MW_CHIP_H17; chip = (mw_chip)(chip + 1))
        if ((chips >> chip & 1u) != 0) {
            page_put(p, "%s%s", first != MW_CHIP_AUTO ? " " : "", mw__chip_find(chip)->name);
            first = chip;
        }
}

static void put_switches(page *p)
{
    page_put(p, "| switch | on for | what is computed | measured or model | source |\n|---|---|---|---|---|\n");
    for (int i = 0; i < MW__SWITCH_COUNT; i++) {
        const mw__switch_row *row = &mw__switch_rows()[i];
        page_put(p, "| `%s` | ", row->name);
        put_chips(p, row->chips);
        page_put(p, " | %s | %s | %s |\n", row->what, row->measured, row->source);
    }
}

static void put_facts(page *p)
{
    page_put(p, "| quantity | published | source | profile | the model | test |\n|---|---|---|---|---|---|\n");
#define MW_FACT(id, quantity, published, source, profile, verdict)                                                     \
    page_put(p, "| %s | %s | %s | `%s` | %s | `%s` |\n", quantity, published, source, profile, verdict, #id);
#include "rules/facts.def"
#undef MW_FACT
}

/* ---- the file ---- */

/* Between the two lines that name it the section is `wanted`; if it is not, and goldens are written, it becomes that.
 */
static void check_section(char *text, const char *name, const char *wanted)
{
    char begin[64], end[64];
    snprintf(begin, sizeof begin, "<!-- begin %s -->\n", name);
    snprintf(end, sizeof end, "<!-- end %s -->\n", name);
    char *from = strstr(text, begin), *to = strstr(text, end);
    REQUIRE(from != NULL && to != NULL);
    from += strlen(begin);
    const size_t size = (size_t)(to - from), length = strlen(wanted);
    if (size == length && memcmp(from, wanted, length) == 0)
        return;
    if (!page_updates()) {
        CHECK_STR("docs/chip.md is stale: run this test with MW_UPDATE_GOLDENS=1", name);
        return;
    }
    memmove(from + length, to, strlen(to) + 1);
    memcpy(from, wanted, length);
}

static void test_the_tables_are_those_of_the_rows(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/../docs/chip.md", MW_TESTS_DIR);
    page switches = page_make(LIMIT), facts = page_make(LIMIT), whole = page_make((size_t)2 * LIMIT);
    char *read = page_read(path);
    REQUIRE(switches.text != NULL && facts.text != NULL && whole.text != NULL && read != NULL);
    page_put(&whole, "%s", read);
    put_switches(&switches);
    put_facts(&facts);
    check_section(whole.text, "switches", switches.text);
    check_section(whole.text, "facts", facts.text);
    if (page_updates())
        page_check(path, whole.text);
    page_free(&switches);
    page_free(&facts);
    page_free(&whole);
    free(read);
}

int main(void)
{
    RUN(test_the_tables_are_those_of_the_rows);
    return check_finish();
}
