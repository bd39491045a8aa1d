/* docs/hwx_later.md: prose, and the rows of versions.def and packets.def. MW_UPDATE_GOLDENS=1 writes it anew. */
#include "chip/hwx/hwx_page.h"
#include "chip/task/packets.h"
#include "support/check.h"
#include "support/page.h"

#include <string.h>

enum { LIMIT = 1 << 17 };

static void put_versions(page *p)
{
    const mw_hwx_version *v;
    page_put(p, "| subtype | version | order | targets | registers that change | known, and not |\n"
                "|---|---|---|---|---|---|\n");
    for (size_t i = 0; (v = mw_hwx_version_at(i)) != NULL; i++) {
        page_put(p, "| %u | v%u | ", v->subtype, v->version);
        page_put(p, v->order != 0 ? "%u" : "?", v->order);
        page_put(p, " | %s | %s | %s |\n", v->targets, v->words, v->known);
    }
}

static void put_bits(page *p, const char *place, const mw__packet_bits *b)
{
    if (b->width == 1)
        page_put(p, "| %s | %u | %s | %s | |\n", place, b->low, b->name, b->meaning);
    else
        page_put(p, "| %s | %u:%u | %s | %s | |\n", place, b->low + b->width - 1, b->low, b->name, b->meaning);
}

static void put_header(page *p)
{
    const mw__packet_bits *b;
    page_put(p, "| word | bits | name | meaning | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; (b = mw__packet_header_at(i)) != NULL; i++) {
        char word[16];
        snprintf(word, sizeof word, "%u", b->address);
        put_bits(p, word, b);
    }
}

static void put_register(page *p, const mw__packet_register *r)
{
    const mw__packet_bits *b;
    page_put(p, "| 0x%04x | | **%s**", r->address, r->name);
    if (r->count > 1)
        page_put(p, ", %u words", r->count);
    page_put(p, " | %s | %s |\n", r->meaning, r->source);
    for (size_t i = 0; (b = mw__packet_bits_at(i)) != NULL; i++)
        if (b->address == r->address)
            put_bits(p, "", b);
}

static void put_registers(page *p)
{
    const mw__packet_unit *unit;
    const mw__packet_register *r;
    for (size_t u = 0; (unit = mw__packet_unit_at(u)) != NULL; u++) {
        page_put(p, "\n### %s: %s\n\n| word | bits | name | meaning | source |\n|---|---|---|---|---|\n", unit->name,
                 unit->job);
        for (size_t i = 0; (r = mw__packet_register_at(i)) != NULL; i++)
            if (strcmp(r->unit, unit->name) == 0)
                put_register(p, r);
    }
}

static void put_bars(page *p)
{
    const mw__packet_bar *b;
    page_put(p, "| BAR | what |\n|---|---|\n");
    for (size_t i = 0; (b = mw__packet_bar_at(i)) != NULL; i++)
        if (b->first == b->last)
            page_put(p, "| %u | %s |\n", b->first, b->meaning);
        else
            page_put(p, "| from %u by %u | %s |\n", b->first, b->step, b->meaning);
}

/* Registers whose words nobody published. */
static void put_unseen(page *p)
{
    const mw__packet_register *r;
    const char *before = "";
    int count = 0;
    for (size_t i = 0; (r = mw__packet_register_at(i)) != NULL; i++)
        if (strcmp(r->source, "text of the study") == 0) {
            page_put(p, "%s%s (0x%04x)", before, r->name, r->address);
            before = ++count % 6 == 0 ? ",\n" : ", ";
        }
    page_put(p, ".\n");
}

static void test_registers_do_not_overlap(void)
{
    const mw__packet_register *r, *before = NULL;
    for (size_t i = 0; (r = mw__packet_register_at(i)) != NULL; before = r, i++) {
        const mw__packet_unit *unit = mw__packet_unit_of(r->address);
        CHECK(before == NULL || r->address >= before->address + before->count);
        CHECK(unit != NULL && strcmp(unit->name, r->unit) == 0);
        CHECK(mw__packet_unit_of(r->address + r->count - 1) == unit);
        CHECK(mw__packet_register_of(r->address, MW__VERSION_ALL) == r);
    }
}

static void test_fields_do_not_overlap(void)
{
    const mw__packet_bits *a, *b;
    for (size_t i = 0; (a = mw__packet_bits_at(i)) != NULL; i++) {
        CHECK(a->low + a->width <= 32 && mw__packet_register_of(a->address, MW__VERSION_ALL) != NULL);
        CHECK(mw__packet_bits_named(a->name) == a);
        for (size_t k = i + 1; (b = mw__packet_bits_at(k)) != NULL; k++)
            CHECK(a->address != b->address || a->low + a->width <= b->low || b->low + b->width <= a->low);
    }
    for (size_t i = 0; (a = mw__packet_header_at(i)) != NULL; i++)
        CHECK(a->low + a->width <= 32 && a->address < 9 && mw__packet_bits_named(a->name) == a);
}

static void test_document_is_what_the_rows_say(void)
{
    page p = page_make(LIMIT);
    page_put(&p, "%s", hwx_later_head);
    put_versions(&p);
    page_put(&p, "%s", hwx_later_files);
    put_header(&p);
    page_put(&p, "%s", hwx_later_bars);
    put_bars(&p);
    page_put(&p, "%s", hwx_later_registers);
    put_registers(&p);
    page_put(&p, "%s", hwx_later_unseen);
    put_unseen(&p);
    page_put(&p, "%s", hwx_later_end);
    REQUIRE(p.text != NULL);
    page_check(MW_TESTS_DIR "/../docs/hwx_later.md", p.text);
    page_free(&p);
}

int main(void)
{
    RUN(test_registers_do_not_overlap);
    RUN(test_fields_do_not_overlap);
    RUN(test_document_is_what_the_rows_say);
    return check_finish();
}
