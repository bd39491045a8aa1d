/* docs/hwx.md: prose, the records as the rows of layout.c have them, and what became of the public files.
 * MW_UPDATE_GOLDENS=1 writes it anew. */
#include "chip/hwx/hwx.h"
#include "chip/hwx/hwx_files.h"
#include "chip/hwx/hwx_page.h"
#include "chip/hwx/layout.h"
#include "support/check.h"
#include "support/page.h"

#include <millwright/chip_all.h>
#include <millwright/graph.h>
#include <stdlib.h>

enum { LIMIT = 1 << 17 };

/* ---- the records ---- */

static const struct {
    const char *name;
    const mw__hwx_layout *layout;
} records[] = {
    {"Header", &mw__hwx_header_layout},
    {"Segment", &mw__hwx_segment_layout},
    {"Section", &mw__hwx_section_layout},
    {"Binding, 0x06", &mw__hwx_binding_layout},
    {"Binding, 0x40", &mw__hwx_binding_64_layout},
    {"Thread", &mw__hwx_thread_layout},
    {"Thread, flavor 1: the program", &mw__hwx_program_layout},
    {"Thread, flavor 1, compilers from 7 on", &mw__hwx_program_note_layout},
    {"Thread, flavor 3: a port", &mw__hwx_port_layout},
    {"Thread, flavor 4: a segment", &mw__hwx_segment_state_layout},
    {"Note", &mw__hwx_note_layout},
    {"Symbols", &mw__hwx_symtab_layout},
    {"A symbol", &mw__hwx_symbol_layout},
    {"A relocation", &mw__hwx_relocation_layout},
};

static void put_record(page *p, const char *name, const mw__hwx_layout *layout)
{
    page_put(p, "| %s |", name);
    for (size_t i = 0; i < layout->count; i++) {
        const mw__hwx_field *f = &layout->fields[i];
        page_put(p, "%s +0x%x %s", i > 0 ? "," : "", f->at, f->name);
        if (f->size == 16)
            page_put(p, " (16 bytes)");
        else if (f->count > 0)
            page_put(p, " (%u x u%d)", f->count, f->size * 8);
        else
            page_put(p, " (u%d)", f->size * 8);
    }
    page_put(p, " |\n");
}

static void put_records(page *p)
{
    page_put(p, "| record | offset and field |\n|---|---|\n");
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        put_record(p, records[i].name, records[i].layout);
    page_put(p,
             "\n`first_words` is less 1. `unknown_850` (0x11 or 7 here; 0x17, 0x48) and `unknown_858` (3 or 4) have no "
             "published meaning.\n");
}

/* ---- the files ---- */

typedef struct total {
    size_t files, equal, tasks, records, kept;
} total;

static bool comes_back(const mw_hwx *hwx, const uint8_t *bytes, size_t size)
{
    void *out = NULL;
    size_t out_size = 0;
    const bool same =
        mw_hwx_write_memory(hwx, &out, &out_size, NULL) == MW_OK && out_size == size && memcmp(out, bytes, size) == 0;
    mw_string_free(out);
    return same;
}

static const char *kernel_words(const mw_hwx *hwx, char out[64])
{
    const mw_hwx_kernel *k = mw_hwx_kernel_at(hwx, 0);
    if (k == NULL)
        return "none";
    if (k->kind == MW_HWX_TABLE)
        return "a table";
    snprintf(out, 64, "[%u, %u, %u, %u]%s", k->extent[0], k->extent[1], k->extent[2], k->extent[3],
             k->has_bias ? ", bias" : "");
    return k->kind == MW_HWX_WEIGHTS ? out : "opaque";
}

static void put_file(page *p, const hwx_file *file, total *t)
{
    size_t size = 0, records_here = 0;
    char kernel[64];
    mw_error err = {0};
    uint8_t *bytes = hwx_file_read(file, &size);
    mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
    if (CHECK_OK(err) && CHECK(hwx != NULL)) {
        const mw__hwx_coverage *c = &hwx->coverage;
        const bool equal = comes_back(hwx, bytes, size);
        for (size_t i = 0; i < hwx->task_count; i++)
            records_here += hwx->tasks[i].public.record_count;
        CHECK_INT(c->fields + c->strings + c->tasks + c->contents + c->zeros + c->kept, size);
        page_put(p, "| `%s` | %s | %zu | %zu | %s | %zu | %zu | %zu | %zu | %zu | %zu | %s |\n", file->name, file->what,
                 size, hwx->task_count, kernel_words(hwx, kernel), c->fields, c->strings, c->tasks, c->contents,
                 c->zeros, c->kept, equal ? "yes" : "**no**");
        *t = (total){t->files + 1, t->equal + equal, t->tasks + hwx->task_count, t->records + records_here,
                     t->kept + c->kept};
    }
    mw_hwx_destroy(hwx);
    free(bytes);
}

static void put_files(page *p)
{
    total t = {0};
    page_put(p,
             "| file | what | bytes | tasks | kernel | in fields | in names | in tasks | in contents | zeros | kept | "
             "written equal |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < HWX_FILES; i++)
        put_file(p, &hwx_files[i], &t);
    page_put(
        p,
        "\n%zu of %zu files come back equal; %zu tasks with %zu records end where they should; %zu bytes that are not "
        "0 are unexplained.\nAs `.ane` and back their programs are equal too (`tests/chip/hwx/test_hwx.c`).\n",
        t.equal, t.files, t.tasks, t.records, t.kept);
}

static void test_the_document_is_what_the_files_say(void)
{
    char path[1024];
    if (!hwx_files_present())
        SKIP("the public .hwx files are not in %s", MW_SHARED_DATA);
    page p = page_make(LIMIT);
    page_put(&p, "%s", hwx_page_head);
    put_files(&p);
    page_put(&p, "%s", hwx_page_container);
    put_records(&p);
    page_put(&p, "%s", hwx_page_tasks);
    page_put(&p, "| record | offset and field |\n|---|---|\n");
    put_record(&p, "Header of a .ane", &mw__hwx_ane_layout);
    page_put(&p, "%s%s", hwx_page_published, hwx_page_against);
    snprintf(path, sizeof path, "%s/../docs/hwx.md", MW_TESTS_DIR);
    page_check(path, p.text);
    page_free(&p);
}

int main(void)
{
    RUN(test_the_document_is_what_the_files_say);
    return check_finish();
}
