/* The rows of chip/task/registers.def: none overlaps another, and docs/hwx_registers.md is what they say.
 * MW_UPDATE_GOLDENS=1 writes it anew. */
#include "chip/task/emit.h"
#include "chip/task/expect.h"
#include "chip/task/table.h"
#include "support/check.h"
#include "support/page.h"

#include <millwright/chip_all.h>

#include <stdlib.h>

enum { LIMIT = 1 << 17 };

/* ---- the rows ---- */

static void test_registers_do_not_overlap_and_lie_in_their_unit(void)
{
    const mw__register_row *rows = mw__register_rows();
    for (int i = 0; i < MW__REGISTER_COUNT; i++) {
        const mw__chip_unit_row *unit = &mw__chip_unit_rows()[rows[i].unit];
        const uint32_t end = rows[i].address + 4 * rows[i].count;
        check_note(rows[i].address >= unit->address && end <= unit->address + 4 * unit->words, __FILE__, __LINE__,
                   "%s is not in %s", rows[i].id, unit->name);
        if (i > 0 && rows[i - 1].unit == rows[i].unit)
            check_note(rows[i].address == rows[i - 1].address + 4 * rows[i - 1].count, __FILE__, __LINE__,
                       "%s does not follow %s", rows[i].id, rows[i - 1].id);
    }
}

static void test_fields_do_not_overlap(void)
{
    const mw__field_row *rows = mw__field_rows();
    uint32_t taken[MW__REGISTER_COUNT] = {0};
    for (int i = 0; i < MW__FIELD_COUNT; i++) {
        const uint32_t mask = mw__field_put((mw__field_id)i, 0, UINT32_MAX);
        check_note(mask != 0 && (taken[rows[i].in] & mask) == 0, __FILE__, __LINE__, "%s overlaps", rows[i].id);
        taken[rows[i].in] |= mask;
        CHECK_INT(mw__field_of((mw__field_id)i, UINT32_MAX), (UINT64_C(1) << rows[i].width) - 1);
        CHECK_INT(mw__field_of((mw__field_id)i, mw__field_put((mw__field_id)i, 0, 1)), 1);
    }
}

static void test_words_are_found_by_address(void)
{
    unsigned index = 0;
    const mw__register_row *row = mw__register_find(0x1f84c, &index);
    REQUIRE(row != NULL);
    CHECK_STR(row->name, "CoeffBaseAddr");
    CHECK_INT(index, 1);
    row = mw__register_find(0x00000, &index);
    REQUIRE(row != NULL);
    CHECK_STR(row->name, "InDim"); /* not the header, whose words have no address of their own */
    CHECK(mw__register_find(0x00040, &index) == NULL);
    CHECK(mw__register_find(0x0001d, &index) == NULL);
    CHECK(mw__register_find(UINT32_MAX, &index) == NULL);
}

/* ---- the document ---- */

static const char head[] =
    "# Registers of an H13 task\n"
    "\n"
    "What the words of a task say to the engine of an M1, row by row: the rows that the library decodes, shows and "
    "runs "
    "by\n"
    "([chip_run.md](chip_run.md)). This file is written by its test (`tests/chip/task/test_task_registers.c`) from\n"
    "`src/chip/task/registers.def`. Nothing here was read off a chip by us.\n"
    "\n"
    "A task is a header of ten words, or eleven where both low bits of the tenth are set, and runs of register writes: "
    "a word\n"
    "`(count - 1) << 26 | byte address`, then `count` values. *files* are the eleven public H13 files of tinygrad, "
    "which "
    "run\n"
    "to the value of their operation by these rows; *register map* is that of allbilly/ane, after\n"
    "freedomtan/coreml_to_ane_hwx; *records* are those of joshuaswarren/mil-hwx-compiler, decoded words that Apple's "
    "compiler\n"
    "of macOS 26 wrote.\n";

static void put_fields(page *p, mw__register_id id)
{
    for (int i = 0; i < MW__FIELD_COUNT; i++) {
        const mw__field_row *f = &mw__field_rows()[i];
        if (f->in != id)
            continue;
        if (f->width == 1)
            page_put(p, "| | %u | %s | %s | |\n", f->low, f->id, f->meaning);
        else
            page_put(p, "| | %u:%u | %s | %s | |\n", f->low + f->width - 1, f->low, f->id, f->meaning);
    }
}

static void put_register(page *p, mw__register_id id)
{
    const mw__register_row *row = &mw__register_rows()[id];
    if (row->unit == MW__UNIT_header)
        page_put(p, "| +0x%02x |", (unsigned)row->address);
    else
        page_put(p, "| 0x%05x |", (unsigned)row->address);
    page_put(p, " | **%s**", row->name);
    if (row->count > 1)
        page_put(p, "[%u]", row->count);
    page_put(p, " | %s | %s |\n", row->meaning, row->source);
    put_fields(p, id);
}

static void put_units(page *p)
{
    for (int u = 0; u < MW__UNIT_COUNT; u++) {
        const mw__chip_unit_row *unit = &mw__chip_unit_rows()[u];
        page_put(p, "\n## %s: %s\n\n", unit->name, unit->job);
        page_put(p, "| address | bits | name | meaning | source |\n|---|---|---|---|---|\n");
        for (int i = 0; i < MW__REGISTER_COUNT; i++)
            if ((int)mw__register_rows()[i].unit == u)
                put_register(p, (mw__register_id)i);
    }
}

static void put_expectations(page *p)
{
    page_put(p, "\n## What the interpreter refuses\n\n"
                "Fields with another value than these are refused, with the words of the last column.\n\n"
                "| register | field | tasks | understood | otherwise |\n|---|---|---|---|---|\n");
    for (size_t i = 0; mw__chip_expectations(i) != NULL; i++) {
        const mw__chip_expectation *e = mw__chip_expectations(i);
        const mw__field_row *f = &mw__field_rows()[e->field];
        page_put(p, "| %s | %s | %s |", mw__register_rows()[f->in].name, f->id,
                 e->neural && e->planar ? "all"
                 : e->neural            ? "neural"
                                        : "planar");
        if (e->least == e->most)
            page_put(p, " %u |", (unsigned)e->least);
        else
            page_put(p, " %u to %u |", (unsigned)e->least, (unsigned)e->most);
        page_put(p, " %s |\n", e->otherwise);
    }
}

static void put_modes(page *p)
{
    unsigned mode = 0;
    page_put(
        p, "\n## Modes of activation tables\n\n"
           "Of the 43 numbers of a table: 0 and 1 limits of x, 2 and 3 the result beyond them, 4 to 36 the knots, 37 "
           "to 40\n"
           "slope and offset of the lines below and above, 41 s (knots are 2^-s apart), 42 the mode. What a mode does "
           "is read\n"
           "off the knots of the functions that have it.\n\n"
           "| mode | functions |\n|---|---|\n");
    for (size_t i = 0; mw__chip_table_mode_name(i, &mode) != NULL; i++)
        page_put(p, "| 0x%02x | %s |\n", mode, mw__chip_table_mode_name(i, &mode));
}

static void put_word(page *p, const mw__emit_word *word)
{
    const mw__register_row *row = &mw__register_rows()[word->id];
    const char *header = row->unit == MW__UNIT_header ? "+" : "";
    page_put(p, "| %s0x%0*x %s |", header, *header != '\0' ? 2 : 5, (unsigned)row->address, row->name);
    if (word->tasks != NULL)
        page_put(p, " %s | 0x%x |", word->tasks, (unsigned)word->value);
    else
        page_put(p, " %s |", word->rule);
    page_put(p, " %s |\n", word->seen);
}

static void put_words(page *p, bool guessed)
{
    mw__emit_word word;
    for (size_t i = 0; mw__emit_word_at(i, &word); i++)
        if ((word.tasks == NULL) == guessed)
            put_word(p, &word);
}

static void put_written(page *p)
{
    page_put(
        p, "\n## Words that are written as they were found\n\n"
           "`mw_hwx_emit` writes these without knowing why. Tasks: PASS relu and tables, PRODUCT gemm and conv, NEURAL "
           "both,\n"
           "PLANAR two operands.\n\n"
           "| register | tasks | value | seen in |\n|---|---|---|---|\n");
    put_words(p, false);
    page_put(
        p, "\n## Words that are guessed\n\n"
           "For the shapes of the public files these rules give their words; for others nobody has seen them. No value "
           "that the\n"
           "interpreter computes depends on one. A program that needs one is marked `--unverified`.\n\n"
           "| register | rule | seen in |\n|---|---|---|\n");
    put_words(p, true);
}

static void test_document_is_what_the_rows_say(void)
{
    page p = page_make(LIMIT);
    page_put(&p, "%s", head);
    put_units(&p);
    put_expectations(&p);
    put_modes(&p);
    put_written(&p);
    REQUIRE(p.text != NULL);
    page_check(MW_TESTS_DIR "/../docs/hwx_registers.md", p.text);
    page_free(&p);
}

int main(void)
{
    RUN(test_registers_do_not_overlap_and_lie_in_their_unit);
    RUN(test_fields_do_not_overlap);
    RUN(test_words_are_found_by_address);
    RUN(test_document_is_what_the_rows_say);
    return check_finish();
}
