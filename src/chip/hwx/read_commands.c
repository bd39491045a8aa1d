/* Load commands, one kind after the other. A kind that is not here stays bytes. */
#include "chip/hwx/read.h"

#include <inttypes.h>
#include <string.h>

static void *make_state(mw__hwx_reader *reader, mw__hwx_command *command, size_t size)
{
    command->state = mw__arena_alloc(&reader->hwx->arena, 1, size, reader->err);
    return command->state;
}

static mw_status refuse_command(mw__hwx_reader *reader, const mw__hwx_command *command, const char *why)
{
    return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: the load command \"%s\" at 0x%zx (0x%zx bytes) %s",
                    command->public.name, command->public.offset, command->public.size, why);
}

/* A string of the command: `at` counts from its beginning, the NUL is within it. */
static mw_status read_string(mw__hwx_reader *reader, const mw__hwx_command *command, uint32_t at, mw__hwx_string *out)
{
    const size_t offset = command->public.offset, size = command->public.size;
    const char *text = (const char *)reader->bytes + offset + at;
    const char *end = at >= 8 && at < size ? memchr(text, 0, size - at) : NULL;
    if (end == NULL)
        return refuse_command(reader, command, "has a string that does not end in it");
    out->at = at;
    out->text = mw__arena_string(&reader->hwx->arena, text, (size_t)(end - text), reader->err);
    if (out->text == NULL)
        return MW_ERROR_MEMORY;
    return mw__hwx_claim(reader, offset + at, (size_t)(end - text) + 1, MW__HWX_STRING, "a string of a load command");
}

/* ---- segments ---- */

static mw_status read_relocations(mw__hwx_reader *reader, mw__hwx_section *section)
{
    const mw__hwx_section_fields *s = &section->public;
    if (s->relocation_count == 0)
        return MW_OK;
    if (!mw__hwx_inside(reader, s->relocation_offset, (uint64_t)s->relocation_count * 8))
        return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: %u relocations of \"%s\" at 0x%x are beyond the file",
                        s->relocation_count, s->name, s->relocation_offset);
    section->relocations =
        mw__arena_alloc(&reader->hwx->arena, s->relocation_count, sizeof *section->relocations, reader->err);
    if (section->relocations == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < s->relocation_count; i++)
        MW_TRY(mw__hwx_read_layout(reader, s->relocation_offset + i * 8, &mw__hwx_relocation_layout,
                                   &section->relocations[i], "a relocation"));
    return MW_OK;
}

static bool is_text(const mw__hwx_section *section)
{
    return strcmp(section->name, "__text") == 0 && strcmp(section->segment, "__TEXT") == 0;
}

/* The bytes of a section. A window of a port has none: nothing is stored of its segment. */
static mw_status read_content(mw__hwx_reader *reader, const mw__hwx_segment *segment, mw__hwx_section *section)
{
    mw__hwx_section_fields *s = &section->public;
    if (s->size == 0 || s->offset == 0 || segment->public.stored == 0)
        return MW_OK;
    if (!mw__hwx_inside(reader, s->offset, s->size))
        return mw__fail(reader->err, MW_ERROR_FORMAT,
                        ".hwx: section \"%s\" at 0x%x has 0x%" PRIx64 " bytes, the file ends at 0x%zx", s->name,
                        s->offset, s->size, reader->size);
    /* Twice claimed bytes would be copied twice: claimed before they are. Those of tasks are claimed by them. */
    if (is_text(section) && reader->hwx->text == NULL)
        reader->hwx->text = section;
    else
        MW_TRY(mw__hwx_claim(reader, s->offset, (size_t)s->size, MW__HWX_CONTENT, "a section"));
    section->data = mw__arena_alloc(&reader->hwx->arena, (size_t)s->size, 1, reader->err);
    if (section->data == NULL)
        return MW_ERROR_MEMORY;
    memcpy(section->data, reader->bytes + s->offset, (size_t)s->size);
    s->data = section->data;
    return MW_OK;
}

static mw_status read_section(mw__hwx_reader *reader, const mw__hwx_segment *segment, mw__hwx_section *section,
                              size_t at)
{
    MW_TRY(mw__hwx_read_layout(reader, at, &mw__hwx_section_layout, section, "a section"));
    section->public.name = section->name;
    section->public.segment = section->segment;
    MW_TRY(read_content(reader, segment, section));
    return read_relocations(reader, section);
}

static mw_status read_segment(mw__hwx_reader *reader, mw__hwx_command *command)
{
    mw_hwx *hwx = reader->hwx;
    const size_t at = command->public.offset;
    if (command->public.size < 72)
        return refuse_command(reader, command, "is shorter than 72 bytes");
    mw__hwx_segment *segment = make_state(reader, command, sizeof *segment);
    if (segment == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__hwx_read_layout(reader, at, &mw__hwx_segment_layout, segment, "a segment"));
    mw_hwx_segment *s = &segment->public;
    s->name = segment->name;
    if (s->section_count > (command->public.size - 72) / 80)
        return refuse_command(reader, command, "has more sections than fit in it");
    if (!mw__hwx_inside(reader, s->offset, s->stored))
        return refuse_command(reader, command, "ends beyond the file");
    segment->sections = mw__arena_alloc(&hwx->arena, s->section_count, sizeof *segment->sections, reader->err);
    if (segment->sections == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__grow(hwx->allocator, &hwx->sections, &hwx->section_capacity, hwx->section_count + s->section_count,
                    sizeof *hwx->sections, reader->err));
    for (uint32_t i = 0; i < s->section_count; i++) {
        MW_TRY(read_section(reader, segment, &segment->sections[i], at + 72 + (size_t)i * 80));
        hwx->sections[hwx->section_count++] = &segment->sections[i];
    }
    hwx->segment_count++;
    return MW_OK;
}

/* ---- bindings, ident, note, symbols ---- */

static mw_status read_binding(mw__hwx_reader *reader, mw__hwx_command *command)
{
    const bool wide = command->public.kind == MW__HWX_CMD_BINDING_64;
    const mw__hwx_layout *layout = wide ? &mw__hwx_binding_64_layout : &mw__hwx_binding_layout;
    if (command->public.size < mw__hwx_layout_size(layout))
        return refuse_command(reader, command, "is too short for its address");
    mw__hwx_binding *binding = make_state(reader, command, sizeof *binding);
    if (binding == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__hwx_read_layout(reader, command->public.offset, layout, binding, "a binding"));
    if (!wide)
        binding->address = binding->address_32;
    return read_string(reader, command, binding->name_at, &binding->name);
}

/* The line of the compiler in the ident. */
static mw_status find_compiler(mw_hwx *hwx, const char *ident, mw_error *err)
{
    const char *line = strstr(ident, "zin_ane_compiler");
    if (line == NULL)
        return MW_OK;
    hwx->info.compiler = mw__arena_string(&hwx->arena, line, strcspn(line, "\n"), err);
    return hwx->info.compiler != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status read_ident(mw__hwx_reader *reader, mw__hwx_command *command)
{
    mw__hwx_ident *ident = make_state(reader, command, sizeof *ident);
    if (ident == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(read_string(reader, command, 8, &ident->text));
    if (reader->hwx->info.ident[0] != '\0')
        return MW_OK;
    reader->hwx->info.ident = ident->text.text;
    return find_compiler(reader->hwx, ident->text.text, reader->err);
}

static mw_status read_note(mw__hwx_reader *reader, mw__hwx_command *command)
{
    const size_t size = command->public.size;
    if (size < mw__hwx_layout_size(&mw__hwx_note_layout))
        return refuse_command(reader, command, "is too short");
    mw__hwx_note *note = make_state(reader, command, sizeof *note);
    if (note == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__hwx_read_layout(reader, command->public.offset, &mw__hwx_note_layout, note, "a note"));
    if (note->at > size || note->size > size - note->at)
        return refuse_command(reader, command, "has its bytes beyond its end");
    note->data = mw__arena_alloc(&reader->hwx->arena, (size_t)note->size, 1, reader->err);
    if (note->data == NULL)
        return MW_ERROR_MEMORY;
    const size_t from = command->public.offset + (size_t)note->at;
    memcpy(note->data, reader->bytes + from, (size_t)note->size);
    return mw__hwx_claim(reader, from, (size_t)note->size, MW__HWX_FIELD, "the bytes of a note");
}

static mw_status read_symtab(mw__hwx_reader *reader, mw__hwx_command *command)
{
    if (command->public.size < 24)
        return refuse_command(reader, command, "is shorter than 24 bytes");
    if (reader->hwx->symtab != NULL)
        return refuse_command(reader, command, "is the second of its kind");
    mw__hwx_symtab *symtab = make_state(reader, command, sizeof *symtab);
    if (symtab == NULL)
        return MW_ERROR_MEMORY;
    reader->hwx->symtab = symtab;
    return mw__hwx_read_layout(reader, command->public.offset, &mw__hwx_symtab_layout, symtab, "the symbol table");
}

/* ---- threads ---- */

static mw_status read_program(mw__hwx_reader *reader, mw__hwx_command *command, mw__hwx_thread *thread)
{
    const size_t at = command->public.offset, size = 16 + (size_t)thread->count * 4;
    mw__hwx_program_state *program = mw__arena_alloc(&reader->hwx->arena, 1, sizeof *program, reader->err);
    if (program == NULL)
        return MW_ERROR_MEMORY;
    thread->program = program;
    MW_TRY(mw__hwx_read_layout(reader, at, &mw__hwx_program_layout, program, "a thread"));
    program->has_note = size >= mw__hwx_layout_size(&mw__hwx_program_note_layout);
    if (program->has_note)
        MW_TRY(mw__hwx_read_layout(reader, at, &mw__hwx_program_note_layout, program, "a thread"));
    if (program->name_at != 0)
        MW_TRY(read_string(reader, command, program->name_at, &thread->procedure));
    if (reader->hwx->program == NULL) {
        reader->hwx->program = program;
        reader->hwx->info.procedure = thread->procedure.text != NULL ? thread->procedure.text : "";
    }
    return MW_OK;
}

static mw_status read_port(mw__hwx_reader *reader, mw__hwx_command *command, mw__hwx_thread *thread)
{
    mw__hwx_port_state *port = mw__arena_alloc(&reader->hwx->arena, 1, sizeof *port, reader->err);
    if (port == NULL)
        return MW_ERROR_MEMORY;
    thread->port = port;
    MW_TRY(mw__hwx_read_layout(reader, command->public.offset, &mw__hwx_port_layout, port, "a thread"));
    if (port->procedure_at != 0)
        MW_TRY(read_string(reader, command, port->procedure_at, &thread->procedure));
    if (port->tensor_at != 0)
        MW_TRY(read_string(reader, command, port->tensor_at, &thread->tensor));
    if (port->symbol_at != 0)
        MW_TRY(read_string(reader, command, port->symbol_at, &thread->symbol));
    if (++reader->hwx->port_count > MW__HWX_REGISTERS)
        return refuse_command(reader, command, "is of a port, and there are more ports than base registers");
    return MW_OK;
}

static mw_status read_segment_state(mw__hwx_reader *reader, mw__hwx_command *command, mw__hwx_thread *thread)
{
    mw__hwx_segment_state *state = mw__arena_alloc(&reader->hwx->arena, 1, sizeof *state, reader->err);
    if (state == NULL)
        return MW_ERROR_MEMORY;
    thread->segment = state;
    if (reader->hwx->segment_program == NULL)
        reader->hwx->segment_program = state;
    return mw__hwx_read_layout(reader, command->public.offset, &mw__hwx_segment_state_layout, state, "a thread");
}

static mw_status read_thread(mw__hwx_reader *reader, mw__hwx_command *command)
{
    static const struct {
        const mw__hwx_layout *layout;
        mw_status (*read)(mw__hwx_reader *, mw__hwx_command *, mw__hwx_thread *);
    } flavors[] = {[1] = {&mw__hwx_program_layout, read_program},
                   [3] = {&mw__hwx_port_layout, read_port},
                   [4] = {&mw__hwx_segment_state_layout, read_segment_state}};
    if (command->public.size < 16)
        return refuse_command(reader, command, "is shorter than 16 bytes");
    mw__hwx_thread *thread = make_state(reader, command, sizeof *thread);
    if (thread == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__hwx_read_layout(reader, command->public.offset, &mw__hwx_thread_layout, thread, "a thread"));
    if (thread->count > (command->public.size - 16) / 4)
        return refuse_command(reader, command, "has more words of state than fit in it");
    if (thread->flavor >= sizeof flavors / sizeof *flavors || flavors[thread->flavor].read == NULL)
        return MW_OK;
    if (16 + (size_t)thread->count * 4 < mw__hwx_layout_size(flavors[thread->flavor].layout)) {
        /* No file with segment states is public: a shorter one is kept as it is. */
        return thread->flavor == 4 ? MW_OK
                                   : refuse_command(reader, command, "has fewer words of state than its flavor");
    }
    return flavors[thread->flavor].read(reader, command, thread);
}

mw_status mw__hwx_read_command(mw__hwx_reader *reader, mw__hwx_command *command)
{
    switch (command->public.kind) {
    case MW__HWX_CMD_SEGMENT:
        return read_segment(reader, command);
    case MW__HWX_CMD_BINDING:
    case MW__HWX_CMD_BINDING_64:
        return read_binding(reader, command);
    case MW__HWX_CMD_THREAD:
        return read_thread(reader, command);
    case MW__HWX_CMD_IDENT:
        return read_ident(reader, command);
    case MW__HWX_CMD_NOTE:
        return read_note(reader, command);
    case MW__HWX_CMD_SYMTAB:
        return read_symtab(reader, command);
    default:
        return MW_OK;
    }
}
