/* The root of a descriptor: symbols, build info, sections, version. */
#include "chip/e5/e5.h"

#include "base/text/printable.h"

#include <stdarg.h>
#include <string.h>

enum { NOTES_MAX = 64, NOTE_SIZE = 256, SYMBOL_MAX = 1024 };

mw_status mw__e5_note(mw_e5 *e5, mw_error *err, const char *format, ...)
{
    char text[NOTE_SIZE];
    mw_e5_program *program = &e5->program;
    if (program->note_count == NOTES_MAX)
        return MW_OK;
    if (program->notes == NULL &&
        (program->notes = mw__arena_alloc(&e5->arena, NOTES_MAX, sizeof *program->notes, err)) == NULL)
        return MW_ERROR_MEMORY;
    va_list arguments;
    va_start(arguments, format);
    const size_t length = mw__printable_vprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *copy = mw__arena_string(&e5->arena, text, length, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    ((const char **)program->notes)[program->note_count++] = copy;
    return MW_OK;
}

const char *mw__e5_symbol(const mw_e5_program *program, uint32_t index)
{
    return index < program->symbol_count ? program->symbols[index] : NULL;
}

/* ---- symbols ---- */

static mw_status read_symbols(mw_e5 *e5, mw__flatbuffer *flat, const mw__flatbuffer_table *root, mw_error *err)
{
    mw__flatbuffer_vector list;
    MW_TRY(mw__flatbuffer_vector_in(flat, root, MW__E5_SYMBOL_NAMES, 4, &list, err));
    const char **symbols = mw__arena_alloc(&e5->arena, list.count, sizeof *symbols, err);
    if (symbols == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < list.count; i++) {
        MW_TRY(mw__flatbuffer_string_at(flat, &list, i, &symbols[i], err));
        if (strlen(symbols[i]) > SYMBOL_MAX) /* each operand may show it again */
            return mw__fail(err, MW_ERROR_FORMAT, "symbol %zu is longer than %d bytes", i, SYMBOL_MAX);
    }
    e5->program.symbols = symbols;
    e5->program.symbol_count = list.count;
    return MW_OK;
}

/* ---- build info ---- */

static mw_status read_pair(mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index, mw_text_pair *out,
                           mw_error *err)
{
    mw__flatbuffer_table pair;
    MW_TRY(mw__flatbuffer_table_at(flat, list, index, &pair, err));
    MW_TRY(mw__flatbuffer_string(flat, &pair, MW__E5_KEY, &out->key, err));
    MW_TRY(mw__flatbuffer_string(flat, &pair, MW__E5_VALUE, &out->value, err));
    out->key = out->key != NULL ? out->key : "";
    out->value = out->value != NULL ? out->value : "";
    return MW_OK;
}

static mw_status read_pairs(mw_e5 *e5, mw__flatbuffer *flat, const mw__flatbuffer_table *root, mw_error *err)
{
    mw__flatbuffer_table info;
    mw__flatbuffer_vector list = {0};
    MW_TRY(mw__flatbuffer_child(flat, root, MW__E5_BUILD_INFO, &info, err));
    if (info.at != 0)
        MW_TRY(mw__flatbuffer_vector_in(flat, &info, MW__E5_PAIRS, 4, &list, err));
    mw_text_pair *pairs = mw__arena_alloc(&e5->arena, list.count, sizeof *pairs, err);
    if (pairs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < list.count; i++)
        MW_TRY(read_pair(flat, &list, i, &pairs[i], err));
    e5->program.build_info = pairs;
    e5->program.build_info_count = list.count;
    return MW_OK;
}

/* ---- sections ---- */

static mw_status read_section(mw_e5 *e5, mw__flatbuffer *flat, const mw__flatbuffer_table *table, mw_e5_section *out,
                              mw_error *err)
{
    uint32_t name;
    mw__flatbuffer_vector data;
    MW_TRY(mw__flatbuffer_u32(flat, table, MW__E5_SECTION_NAME, &name, err));
    MW_TRY(mw__flatbuffer_vector_in(flat, table, MW__E5_SECTION_DATA, 1, &data, err));
    out->name = mw__e5_symbol(&e5->program, name);
    if (out->name == NULL || data.at == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "it has the name %u of %zu symbols, and %zu bytes", name,
                        e5->program.symbol_count, data.count);
    out->data = flat->data + data.at;
    out->size = data.count;
    return MW_OK;
}

/* The vector must be one of tables; what is in these is lenient. */
static mw_status read_sections(mw_e5 *e5, mw__flatbuffer *flat, const mw__flatbuffer_table *root, mw_error *err)
{
    mw__flatbuffer_vector list;
    MW_TRY(mw__flatbuffer_vector_in(flat, root, MW__E5_SECTIONS, 4, &list, err));
    mw_e5_section *sections = mw__arena_alloc(&e5->arena, list.count, sizeof *sections, err);
    if (sections == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < list.count; i++) {
        mw__flatbuffer_table table;
        mw_error why = {0};
        sections[i] = (mw_e5_section){.name = "", .data = "", .size = 0};
        MW_TRY(mw__flatbuffer_table_at(flat, &list, i, &table, err));
        if (read_section(e5, flat, &table, &sections[i], &why) != MW_OK) {
            sections[i] = (mw_e5_section){.name = "", .data = "", .size = 0};
            MW_TRY(mw__e5_note(e5, err, "section %zu, a table of %u fields at 0x%zx, has another form: %s", i,
                               table.slots, table.at, why.message));
        }
    }
    e5->program.sections = sections;
    e5->program.section_count = list.count;
    return MW_OK;
}

/* ---- the root ---- */

static mw_status read_root(mw_e5 *e5, mw__flatbuffer *flat, mw_error *err)
{
    mw__flatbuffer_table root;
    mw_error why = {0};
    uint32_t version;
    MW_TRY(mw__flatbuffer_root(flat, &root, err));
    MW_TRY(mw__flatbuffer_u32(flat, &root, MW__E5_FORMAT_VERSION, &version, err));
    e5->program.format_version = (int32_t)version;
    if (version != MW__E5_VERSION)
        return mw__fail(err, MW_ERROR_FORMAT, "format_version is %d; known is %d", (int)(int32_t)version,
                        MW__E5_VERSION);
    if (root.slots > MW__E5_FORMAT_VERSION + 1)
        MW_TRY(mw__e5_note(e5, err, "the root has %u fields; %d are known", root.slots, MW__E5_FORMAT_VERSION + 1));
    MW_TRY(read_symbols(e5, flat, &root, err));
    const mw_status status = read_pairs(e5, flat, &root, &why);
    if (status == MW_ERROR_MEMORY)
        return mw__fail(err, status, "%s", why.message);
    if (status != MW_OK)
        MW_TRY(mw__e5_note(e5, err, "the build info has another form: %s", why.message));
    return read_sections(e5, flat, &root, err);
}

mw_status mw__e5_read_program(mw_e5 *e5, const void *data, size_t size, mw_error *err)
{
    mw__flatbuffer flat;
    void *copy = mw__arena_alloc(&e5->arena, size, 1, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    if (size > 0)
        memcpy(copy, data, size);
    mw_status status = mw__flatbuffer_begin(&flat, e5->allocator, copy, size, err);
    if (status == MW_OK)
        status = read_root(e5, &flat, err);
    mw__flatbuffer_end(&flat);
    return status == MW_OK ? mw__e5_read_function(e5, err) : status;
}
