/* Opening: what kind of file it is, the header, the loop over the load commands, and which bytes are left that nobody
 * has explained. */
#include "chip/hwx/read.h"

#include "base/file/file.h"
#include "base/memory/live.h"
#include "base/number/bytes.h"

#include <string.h>

#define MAGIC       0xBEEFFACEU
#define MACHO_MAGIC 0xFEEDFACFU

enum { HEADER = 32, FILE_MOST = 1 << 30 };

/* ---- claims ---- */

bool mw__hwx_inside(const mw__hwx_reader *reader, uint64_t offset, uint64_t size)
{
    return offset <= reader->size && size <= reader->size - offset;
}

mw_status mw__hwx_claim(mw__hwx_reader *reader, size_t at, size_t size, mw__hwx_owner owner, const char *what)
{
    if (!mw__hwx_inside(reader, at, size))
        return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: %s at 0x%zx has 0x%zx bytes, the file ends at 0x%zx", what,
                        at, size, reader->size);
    for (size_t i = at; i < at + size; i++) {
        const uint8_t before = reader->owner[i];
        if (before != MW__HWX_FREE && !(before == MW__HWX_STRING && owner == MW__HWX_STRING))
            return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: %s at 0x%zx overlaps what was read before at 0x%zx",
                            what, at, i);
        reader->owner[i] = (uint8_t)owner;
    }
    return MW_OK;
}

/* Of a name the part up to its NUL, and the rest if it is empty. */
static size_t name_size(const uint8_t *bytes)
{
    const uint8_t *end = memchr(bytes, 0, 16);
    const size_t length = end != NULL ? (size_t)(end - bytes) : 16;
    for (size_t i = length; i < 16; i++)
        if (bytes[i] != 0)
            return length;
    return 16;
}

mw_status mw__hwx_read_layout(mw__hwx_reader *reader, size_t at, const mw__hwx_layout *layout, void *out,
                              const char *what)
{
    for (size_t i = 0; i < layout->count; i++) {
        const mw__hwx_field *f = &layout->fields[i];
        const size_t count = f->count > 0 ? f->count : 1;
        const size_t size = f->size == 16 ? name_size(reader->bytes + at + f->at) : f->size * count;
        MW_TRY(mw__hwx_claim(reader, at + f->at, size, MW__HWX_FIELD, what));
    }
    mw__hwx_layout_read(layout, reader->bytes + at, out);
    return MW_OK;
}

/* ---- header and commands ---- */

static const struct {
    mw_chip chip;
    const char *name;
} subtypes[] = {{MW_CHIP_AUTO, "m9"},        {MW_CHIP_H11, "h11"}, {MW_CHIP_AUTO, "t0"}, {MW_CHIP_H12, "h12"},
                {MW_CHIP_H13, "h13"},        {MW_CHIP_H14, "h14"}, {MW_CHIP_H15, "h15"}, {MW_CHIP_H16, "h16"},
                {MW_CHIP_AUTO, "m11"},       {MW_CHIP_H17, "h17"}, {MW_CHIP_H18, "h18"}, {MW_CHIP_H18G, "h18g"},
                [17] = {MW_CHIP_AUTO, "m12"}};

static void name_chip(mw_hwx *hwx)
{
    const uint32_t subtype = hwx->info.cpu_subtype & 0xFF; /* flags may stand above */
    const bool known = subtype < sizeof subtypes / sizeof *subtypes && subtypes[subtype].name != NULL;
    hwx->info.chip = known ? subtypes[subtype].chip : MW_CHIP_AUTO;
    hwx->info.chip_name = known ? subtypes[subtype].name : "?";
    hwx->version = mw__version_of_subtype(subtype);
    hwx->info.task_version = hwx->version != NULL ? hwx->version->public.version : 0;
}

static mw_status read_header(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    if (reader->size < HEADER)
        return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: the file has %zu bytes, its header needs 32",
                        reader->size);
    MW_TRY(mw__hwx_read_layout(reader, 0, &mw__hwx_header_layout, hwx, "the header"));
    name_chip(hwx);
    if (hwx->command_size > reader->size - HEADER || hwx->command_count > hwx->command_size / 8)
        return mw__fail(reader->err, MW_ERROR_FORMAT,
                        ".hwx: %u load commands in 0x%x bytes do not fit a file of 0x%zx bytes", hwx->command_count,
                        hwx->command_size, reader->size);
    return MW_OK;
}

static const char *command_name(uint32_t kind)
{
    switch (kind) {
    case MW__HWX_CMD_SYMTAB:
        return "symbols";
    case MW__HWX_CMD_THREAD:
        return "thread";
    case MW__HWX_CMD_BINDING:
    case MW__HWX_CMD_BINDING_64:
        return "binding";
    case MW__HWX_CMD_IDENT:
        return "ident";
    case MW__HWX_CMD_SEGMENT:
        return "segment";
    case MW__HWX_CMD_NOTE:
        return "note";
    default:
        return "unknown";
    }
}

static mw_status read_commands(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    const size_t end = HEADER + hwx->command_size;
    size_t at = HEADER;
    hwx->commands = mw__arena_alloc(&hwx->arena, hwx->command_count, sizeof *hwx->commands, reader->err);
    if (hwx->commands == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < hwx->command_count; i++) {
        mw__hwx_command_fields *command = &hwx->commands[i].public;
        if (end - at < 8)
            return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: load command %u of %u at 0x%zx is beyond 0x%zx", i,
                            hwx->command_count, at, end);
        *command = (mw__hwx_command_fields){mw__bytes_u32(reader->bytes + at), NULL, at,
                                            mw__bytes_u32(reader->bytes + at + 4)};
        command->name = command_name(command->kind);
        if (command->size < 8 || command->size % 4 != 0 || command->size > end - at)
            return mw__fail(reader->err, MW_ERROR_FORMAT,
                            ".hwx: load command %u (0x%x) at 0x%zx has 0x%zx bytes, not 8 to 0x%zx in fours", i,
                            command->kind, at, command->size, end - at);
        MW_TRY(mw__hwx_claim(reader, at, 8, MW__HWX_FIELD, "a load command"));
        MW_TRY(mw__hwx_read_command(reader, &hwx->commands[i]));
        at += command->size;
    }
    return MW_OK;
}

/* ---- the whole ---- */

/* Keeps what nobody claimed. */
static mw_status keep_rest(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    hwx->kept = mw__arena_alloc(&hwx->arena, reader->size, 1, reader->err);
    if (hwx->kept == NULL)
        return MW_ERROR_MEMORY;
    size_t counts[MW__HWX_CONTENT + 1] = {0};
    for (size_t i = 0; i < reader->size; i++) {
        counts[reader->owner[i]]++;
        if (reader->owner[i] != MW__HWX_FREE)
            continue;
        hwx->kept[i] = reader->bytes[i];
        hwx->coverage.kept += reader->bytes[i] != 0;
    }
    hwx->coverage.zeros = counts[MW__HWX_FREE] - hwx->coverage.kept;
    hwx->coverage.fields = counts[MW__HWX_FIELD];
    hwx->coverage.strings = counts[MW__HWX_STRING];
    hwx->coverage.tasks = counts[MW__HWX_TASK];
    hwx->coverage.contents = counts[MW__HWX_CONTENT];
    return MW_OK;
}

static mw_status read_container(mw__hwx_reader *reader)
{
    MW_TRY(read_header(reader));
    MW_TRY(read_commands(reader));
    MW_TRY(mw__hwx_read_symbols(reader));
    MW_TRY(mw__hwx_read_ports(reader));
    return mw__hwx_read_tasks(reader);
}

/* Firmware containers have their names as the first four letters, in one order or the other. */
static const char *firmware_name(const uint8_t *bytes)
{
    static const char *const names[] = {"ANEH", "ANEP", "ANES"};
    for (size_t i = 0; i < 3; i++) {
        const char reversed[4] = {names[i][3], names[i][2], names[i][1], names[i][0]};
        if (memcmp(bytes, names[i], 4) == 0 || memcmp(bytes, reversed, 4) == 0)
            return names[i];
    }
    return NULL;
}

/* How bytes are opened. */
typedef struct opening {
    uint64_t payload_offset;      /* of a .ane; 0 = where its first task is */
    const mw__version_row *words; /* they are words of tasks; NULL = a file */
} opening;

/* Words alone are a section of tasks. */
static mw_status read_words(mw__hwx_reader *reader, const mw__version_row *version)
{
    mw_hwx *hwx = reader->hwx;
    mw__hwx_section *section = mw__arena_alloc(&hwx->arena, 1, sizeof *section, reader->err);
    uint8_t *data = mw__arena_alloc(&hwx->arena, reader->size, 1, reader->err);
    if (section == NULL || data == NULL)
        return MW_ERROR_MEMORY;
    memcpy(data, reader->bytes, reader->size);
    section->data = data;
    section->public =
        (mw__hwx_section_fields){.segment = "__TEXT", .name = "__text", .size = reader->size, .data = data};
    hwx->info.is_words = true;
    hwx->info.cpu_subtype = version->public.subtype;
    hwx->text = section;
    name_chip(hwx);
    return mw__hwx_read_tasks(reader);
}

static mw_status read_kind(mw__hwx_reader *reader, const opening *how)
{
    if (how->words != NULL)
        return read_words(reader, how->words);
    const char *firmware = reader->size >= 4 ? firmware_name(reader->bytes) : NULL;
    if (firmware != NULL)
        return mw__fail(
            reader->err, MW_ERROR_UNSUPPORTED,
            "%s is a container of the firmware, which no public source describes; give the .hwx that it was "
            "made of",
            firmware);
    const uint32_t magic = reader->size >= 4 ? mw__bytes_u32(reader->bytes) : 0;
    if (magic == MACHO_MAGIC)
        return mw__fail(reader->err, MW_ERROR_FORMAT,
                        "this is Mach-O (0xfeedfacf); a .hwx has 0xbeefface there, and some tools patch that word");
    if (magic == MAGIC || reader->size < HEADER)
        return read_container(reader);
    return mw__hwx_read_ane(reader, how->payload_offset);
}

static mw_hwx *make_hwx(size_t size, const mw_allocator *allocator, mw_error *err)
{
    mw_hwx *hwx = mw__live_make(allocator, sizeof *hwx, MW__LIVE_HWX, err);
    if (hwx == NULL)
        return NULL;
    hwx->allocator = allocator;
    hwx->size = size;
    hwx->info.chip_name = "?";
    hwx->info.compiler = hwx->info.ident = hwx->info.procedure = "";
    mw__arena_init(&hwx->arena, allocator);
    return hwx;
}

static mw_hwx *open_bytes(const void *data, size_t size, const opening *how, const mw_allocator *allocator,
                          mw_error *err)
{
    allocator = mw__allocator_or_default(allocator);
    if (size > FILE_MOST) {
        mw__fail(err, MW_ERROR_FORMAT, ".hwx: %zu bytes are more than 2^30", size);
        return NULL;
    }
    mw_hwx *hwx = make_hwx(size, allocator, err);
    if (hwx == NULL)
        return NULL;
    mw__hwx_reader reader = {.hwx = hwx, .bytes = data, .size = size, .err = err};
    reader.owner = mw__alloc(allocator, size, 1, err);
    mw_status status = reader.owner != NULL ? read_kind(&reader, how) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = keep_rest(&reader);
    if (status == MW_OK)
        status = mw__hwx_find_kernels(hwx, err);
    mw__free(allocator, reader.owner);
    if (status == MW_OK)
        return hwx;
    mw_hwx_destroy(hwx);
    return NULL;
}

mw_hwx *mw__hwx_read(const void *data, size_t size, uint64_t payload_offset, const mw_allocator *allocator,
                     mw_error *err)
{
    return open_bytes(data, size, &(opening){.payload_offset = payload_offset}, allocator, err);
}

mw_hwx *mw_hwx_parse_ane(const void *data, size_t size, uint64_t payload_offset, const mw_allocator *allocator,
                         mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (data == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "a file in memory: the data is NULL");
        return NULL;
    }
    return mw__hwx_read(data, size, payload_offset, allocator, err);
}

mw_hwx *mw_hwx_parse(const void *data, size_t size, const mw_allocator *allocator, mw_error *err)
{
    return mw_hwx_parse_ane(data, size, 0, allocator, err);
}

/* The version of words, if their packets can be read. */
static const mw__version_row *find_words(const uint32_t *words, size_t count, uint32_t version, mw_error *err)
{
    const mw__version_row *row = mw__version_named(version);
    if (words == NULL || count > FILE_MOST / 4)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_parse_words: the words are NULL, or more than 2^28");
    else if (row == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_parse_words: no source names version %u", version);
    else if (row->header == 0)
        mw__fail(err, MW_ERROR_UNSUPPORTED, "mw_hwx_parse_words: version %u (%s): %s", version, row->public.targets,
                 version == MW__VERSION_H13 ? "the length of its first task stands in the file" : row->public.known);
    else
        return row;
    return NULL;
}

mw_hwx *mw_hwx_parse_words(const uint32_t *words, size_t count, uint32_t version, const mw_allocator *allocator,
                           mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    const opening how = {.words = find_words(words, count, version, err)};
    const mw_allocator *used = mw__allocator_or_default(allocator);
    uint8_t *bytes = how.words != NULL ? mw__alloc(used, count, 4, err) : NULL;
    if (bytes == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        mw__hwx_put32(bytes + 4 * i, words[i]);
    mw_hwx *hwx = open_bytes(bytes, 4 * count, &how, allocator, err);
    mw__free(used, bytes);
    return hwx;
}

const mw_hwx_version *mw_hwx_version_at(size_t index)
{
    const mw__version_row *row = mw__version_at(index);
    return row != NULL ? &row->public : NULL;
}

mw_hwx *mw_hwx_open(const char *path, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    char *data = NULL;
    size_t size = 0;
    if (mw__skips(err))
        return NULL;
    if (path == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_open: the path is NULL");
        return NULL;
    }
    if (mw__file_read(mw__allocator_default(), path, FILE_MOST, &data, &size, err) != MW_OK)
        return NULL;
    mw_hwx *hwx = mw__hwx_read(data, size, 0, NULL, err);
    mw__free(mw__allocator_default(), data);
    return hwx;
}

void mw_hwx_destroy(mw_hwx *hwx)
{
    if (hwx == NULL || !mw__live_remove(hwx, MW__LIVE_HWX, __func__))
        return;
    const mw_allocator *allocator = hwx->allocator;
    mw__free(allocator, hwx->sections);
    mw__arena_deinit(&hwx->arena);
    mw__free(allocator, hwx);
}
