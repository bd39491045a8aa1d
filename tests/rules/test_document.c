/* The tables of docs/chip.md are what the rows of rules say. MW_UPDATE_GOLDENS=1 writes them anew. */
#include "rules/arithmetic.h"
#include "rules/chips.h"
#include "support/check.h"
#include "support/page.h"

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

static void test_the_tables_are_those_of_the_rows(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/../docs/chip.md", MW_TESTS_DIR);
    page switches = page_make(LIMIT), facts = page_make(LIMIT);
    REQUIRE(switches.text != NULL && facts.text != NULL);
    put_switches(&switches);
    put_facts(&facts);
    page_check_section(path, "switches", switches.text);
    page_check_section(path, "facts", facts.text);
    page_free(&switches);
    page_free(&facts);
}

int main(void)
{
    RUN(test_the_tables_are_those_of_the_rows);
    return check_finish();
}
