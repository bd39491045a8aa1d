/* The records of the container as rows, and the loops over them.
 * Sources: Mach-O for header, segments, sections, symbols and relocations; hwx.h of A. Sanchez Bach for the flavors of
 * threads; eiln/ane for the .ane; the rest was read from the public files of tinygrad and allbilly/ane. */
#include "chip/hwx/layout.h"

#include "base/number/bytes.h"
#include "chip/hwx/hwx.h"

#include <string.h>

#define FIELD(type_, member_, at_, size_, show_)                                                                       \
    {                                                                                                                  \
        .name = #member_, .at = (at_), .size = (size_), .show = (show_), .member = offsetof(type_, member_)            \
    }
#define NAMED(name_, type_, member_, at_, size_, show_)                                                                \
    {                                                                                                                  \
        .name = (name_), .at = (at_), .size = (size_), .show = (show_), .member = offsetof(type_, member_)             \
    }
#define ARRAY(type_, member_, at_, size_, show_, count_)                                                               \
    {                                                                                                                  \
        .name = #member_, .at = (at_), .size = (size_), .show = (show_), .member = offsetof(type_, member_),           \
        .count = (count_)                                                                                              \
    }
#define LAYOUT(name_)                                                                                                  \
    const mw__hwx_layout mw__hwx_##name_##_layout = {name_##_fields, sizeof name_##_fields / sizeof *name_##_fields}

static const mw__hwx_field header_fields[] = {
    FIELD(mw_hwx, magic, 0, 4, MW__HWX_HEX),
    NAMED("cpu_type", mw_hwx, info.cpu_type, 4, 4, MW__HWX_HEX),
    NAMED("cpu_subtype", mw_hwx, info.cpu_subtype, 8, 4, MW__HWX_DECIMAL),
    NAMED("file_type", mw_hwx, info.file_type, 12, 4, MW__HWX_DECIMAL),
    FIELD(mw_hwx, command_count, 16, 4, MW__HWX_DECIMAL),
    FIELD(mw_hwx, command_size, 20, 4, MW__HWX_HEX),
    NAMED("flags", mw_hwx, info.flags, 24, 4, MW__HWX_HEX),
    FIELD(mw_hwx, reserved, 28, 4, MW__HWX_HEX),
};
LAYOUT(header);

static const mw__hwx_field segment_fields[] = {
    FIELD(mw__hwx_segment, name, 8, 16, MW__HWX_NAME),
    NAMED("address", mw__hwx_segment, public.address, 24, 8, MW__HWX_HEX),
    NAMED("size", mw__hwx_segment, public.size, 32, 8, MW__HWX_HEX),
    NAMED("offset", mw__hwx_segment, public.offset, 40, 8, MW__HWX_HEX),
    NAMED("stored", mw__hwx_segment, public.stored, 48, 8, MW__HWX_HEX),
    NAMED("most_protection", mw__hwx_segment, public.most_protection, 56, 4, MW__HWX_DECIMAL),
    NAMED("protection", mw__hwx_segment, public.protection, 60, 4, MW__HWX_DECIMAL),
    NAMED("section_count", mw__hwx_segment, public.section_count, 64, 4, MW__HWX_DECIMAL),
    NAMED("flags", mw__hwx_segment, public.flags, 68, 4, MW__HWX_HEX),
};
LAYOUT(segment);

static const mw__hwx_field section_fields[] = {
    FIELD(mw__hwx_section, name, 0, 16, MW__HWX_NAME),
    FIELD(mw__hwx_section, segment, 16, 16, MW__HWX_NAME),
    NAMED("address", mw__hwx_section, public.address, 32, 8, MW__HWX_HEX),
    NAMED("size", mw__hwx_section, public.size, 40, 8, MW__HWX_HEX),
    NAMED("offset", mw__hwx_section, public.offset, 48, 4, MW__HWX_HEX),
    NAMED("alignment", mw__hwx_section, public.alignment, 52, 4, MW__HWX_DECIMAL),
    NAMED("relocation_offset", mw__hwx_section, public.relocation_offset, 56, 4, MW__HWX_HEX),
    NAMED("relocation_count", mw__hwx_section, public.relocation_count, 60, 4, MW__HWX_DECIMAL),
    NAMED("flags", mw__hwx_section, public.flags, 64, 4, MW__HWX_HEX),
    ARRAY(mw__hwx_section, reserved, 68, 4, MW__HWX_HEX, 3),
};
LAYOUT(section);

static const mw__hwx_field binding_fields[] = {
    FIELD(mw__hwx_binding, name_at, 8, 4, MW__HWX_HEX),
    FIELD(mw__hwx_binding, reserved, 12, 4, MW__HWX_HEX),
    FIELD(mw__hwx_binding, address_32, 16, 4, MW__HWX_HEX),
};
LAYOUT(binding);

static const mw__hwx_field binding_64_fields[] = {
    FIELD(mw__hwx_binding, name_at, 8, 4, MW__HWX_HEX),
    FIELD(mw__hwx_binding, reserved, 12, 4, MW__HWX_HEX),
    FIELD(mw__hwx_binding, address, 16, 8, MW__HWX_HEX),
};
LAYOUT(binding_64);

static const mw__hwx_field thread_fields[] = {
    FIELD(mw__hwx_thread, flavor, 8, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_thread, count, 12, 4, MW__HWX_HEX),
};
LAYOUT(thread);

static const mw__hwx_field program_fields[] = {
    ARRAY(mw__hwx_program_state, registers, 0x10, 8, MW__HWX_HEX, MW__HWX_REGISTERS),
    FIELD(mw__hwx_program_state, first_task, 0x810, 8, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, first_words, 0x818, 4, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, task_count, 0x81c, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_program_state, engine, 0x820, 4, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, engines, 0x824, 4, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, name_at, 0x83c, 4, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, scratch, 0x848, 4, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, unknown_850, 0x850, 4, MW__HWX_HEX),
    FIELD(mw__hwx_program_state, unknown_858, 0x858, 4, MW__HWX_HEX),
};
LAYOUT(program);

static const mw__hwx_field program_note_fields[] = {
    FIELD(mw__hwx_program_state, note_count, 0x860, 8, MW__HWX_DECIMAL),
    FIELD(mw__hwx_program_state, note_tag, 0x868, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_program_state, note_size, 0x86c, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_program_state, note_value, 0x870, 8, MW__HWX_HEX),
};
LAYOUT(program_note);

static const mw__hwx_field port_fields[] = {
    FIELD(mw__hwx_port_state, kind, 0x10, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_port_state, direction, 0x14, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_port_state, procedure_at, 0x18, 4, MW__HWX_HEX),
    FIELD(mw__hwx_port_state, tensor_at, 0x20, 4, MW__HWX_HEX),
    FIELD(mw__hwx_port_state, type, 0x24, 4, MW__HWX_DECIMAL),
    ARRAY(mw__hwx_port_state, extent, 0x28, 4, MW__HWX_DECIMAL, 5),
    ARRAY(mw__hwx_port_state, stride, 0x50, 8, MW__HWX_HEX, 5),
    FIELD(mw__hwx_port_state, interleave, 0x78, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_port_state, symbol_at, 0x7c, 4, MW__HWX_HEX),
    FIELD(mw__hwx_port_state, size, 0x80, 8, MW__HWX_HEX),
};
LAYOUT(port);

static const mw__hwx_field segment_state_fields[] = {
    ARRAY(mw__hwx_segment_state, registers, 0x10, 8, MW__HWX_HEX, MW__HWX_REGISTERS),
    FIELD(mw__hwx_segment_state, address, 0x810, 8, MW__HWX_HEX),
    FIELD(mw__hwx_segment_state, section, 0x818, 8, MW__HWX_HEX),
    FIELD(mw__hwx_segment_state, header_size, 0x820, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_segment_state, word_count, 0x824, 4, MW__HWX_HEX),
    FIELD(mw__hwx_segment_state, id, 0x828, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_segment_state, first_task, 0x82c, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_segment_state, task_count, 0x830, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_segment_state, next_count, 0x834, 4, MW__HWX_DECIMAL),
    ARRAY(mw__hwx_segment_state, next, 0x838, 4, MW__HWX_HEX, 2),
    FIELD(mw__hwx_segment_state, engine, 0x840, 4, MW__HWX_HEX),
    FIELD(mw__hwx_segment_state, engines, 0x844, 4, MW__HWX_HEX),
};
LAYOUT(segment_state);

static const mw__hwx_field note_fields[] = {
    FIELD(mw__hwx_note, name, 8, 16, MW__HWX_NAME),
    FIELD(mw__hwx_note, at, 24, 8, MW__HWX_HEX),
    FIELD(mw__hwx_note, size, 32, 8, MW__HWX_HEX),
};
LAYOUT(note);

static const mw__hwx_field symtab_fields[] = {
    FIELD(mw__hwx_symtab, symbol_at, 8, 4, MW__HWX_HEX),
    FIELD(mw__hwx_symtab, symbol_count, 12, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_symtab, string_at, 16, 4, MW__HWX_HEX),
    FIELD(mw__hwx_symtab, string_size, 20, 4, MW__HWX_HEX),
};
LAYOUT(symtab);

static const mw__hwx_field symbol_fields[] = {
    FIELD(mw__hwx_symbol, name_at, 0, 4, MW__HWX_HEX),
    NAMED("type", mw__hwx_symbol, public.type, 4, 1, MW__HWX_HEX),
    NAMED("section", mw__hwx_symbol, public.section, 5, 1, MW__HWX_DECIMAL),
    NAMED("description", mw__hwx_symbol, public.description, 6, 2, MW__HWX_HEX),
    NAMED("value", mw__hwx_symbol, public.value, 8, 8, MW__HWX_HEX),
};
LAYOUT(symbol);

static const mw__hwx_field relocation_fields[] = {
    FIELD(mw__hwx_relocation, address, 0, 4, MW__HWX_HEX),
    FIELD(mw__hwx_relocation, info, 4, 4, MW__HWX_HEX),
};
LAYOUT(relocation);

static const mw__hwx_field ane_fields[] = {
    FIELD(mw__hwx_ane, size, 0, 8, MW__HWX_HEX),
    FIELD(mw__hwx_ane, first_size, 8, 4, MW__HWX_HEX),
    FIELD(mw__hwx_ane, task_count, 12, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_ane, task_size, 16, 8, MW__HWX_HEX),
    FIELD(mw__hwx_ane, kernel_size, 24, 8, MW__HWX_HEX),
    FIELD(mw__hwx_ane, input_count, 32, 4, MW__HWX_DECIMAL),
    FIELD(mw__hwx_ane, output_count, 36, 4, MW__HWX_DECIMAL),
    ARRAY(mw__hwx_ane, tiles, 40, 4, MW__HWX_DECIMAL, 32),
    ARRAY(mw__hwx_ane, nchw, 168, 8, MW__HWX_DECIMAL, 192),
};
LAYOUT(ane);

/* ---- numbers ---- */

static void put_little_endian(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

void mw__hwx_put32(uint8_t *at, uint32_t value) { put_little_endian(at, value, 4); }

/* ---- rows ---- */

static size_t elements(const mw__hwx_field *f) { return f->count > 0 ? f->count : 1; }

size_t mw__hwx_layout_size(const mw__hwx_layout *layout)
{
    size_t size = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const mw__hwx_field *f = &layout->fields[i];
        const size_t end = f->at + f->size * elements(f);
        size = end > size ? end : size;
    }
    return size;
}

static void read_field(const mw__hwx_field *f, const uint8_t *from, char *member)
{
    uint32_t narrow = 0;
    if (f->size == 16) {
        memcpy(member, from, 16);
        member[16] = '\0';
    } else if (f->size == 8) {
        const uint64_t wide = mw__bytes_u64(from);
        memcpy(member, &wide, sizeof wide);
    } else {
        for (size_t i = 0; i < f->size; i++)
            narrow |= (uint32_t)from[i] << 8 * i;
        memcpy(member, &narrow, sizeof narrow);
    }
}

void mw__hwx_layout_read(const mw__hwx_layout *layout, const uint8_t *bytes, void *out)
{
    for (size_t i = 0; i < layout->count; i++) {
        const mw__hwx_field *f = &layout->fields[i];
        for (size_t k = 0; k < elements(f); k++)
            read_field(f, bytes + f->at + k * f->size, (char *)out + f->member + k * (f->size == 8 ? 8 : 4));
    }
}

static void write_field(const mw__hwx_field *f, const char *member, uint8_t *to)
{
    uint32_t narrow;
    uint64_t wide;
    if (f->size == 16) {
        memcpy(to, member, strlen(member));
    } else if (f->size == 8) {
        memcpy(&wide, member, sizeof wide);
        put_little_endian(to, wide, 8);
    } else {
        memcpy(&narrow, member, sizeof narrow);
        put_little_endian(to, narrow, f->size);
    }
}

void mw__hwx_layout_write(const mw__hwx_layout *layout, const void *from, uint8_t *bytes)
{
    for (size_t i = 0; i < layout->count; i++) {
        const mw__hwx_field *f = &layout->fields[i];
        for (size_t k = 0; k < elements(f); k++)
            write_field(f, (const char *)from + f->member + k * (f->size == 8 ? 8 : 4), bytes + f->at + k * f->size);
    }
}
