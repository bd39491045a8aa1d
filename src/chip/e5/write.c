/* A descriptor as bytes. Each operation has two sections, which are FlatBuffers of their own; so has the function,
 * which is the first. */
#include "chip/e5/e5.h"

#include "base/memory/map.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
    const mw_e5_program *program;
    mw__arena arena;
    mw__map index; /* of a symbol: its place + 1, as a pointer */
    const char **symbols;
    size_t symbol_count, symbol_capacity;
    mw_e5_section *sections;
    size_t section_count, section_capacity;
    mw_error *err;
} writer;

/* ---- symbols and sections ---- */

static mw_status add_symbol(writer *w, const char *name)
{
    MW_TRY(mw__grow(w->arena.allocator, &w->symbols, &w->symbol_capacity, w->symbol_count + 1, sizeof *w->symbols,
                    w->err));
    w->symbols[w->symbol_count++] = name;
    return mw__map_get(&w->index, name) != NULL ? MW_OK : mw__map_set(&w->index, name, (void *)w->symbol_count, w->err);
}

/* The place of a symbol, which gets one if it has none. Failures stick to the error. */
static uint32_t symbol(writer *w, const char *name)
{
    if (mw__failed(w->err))
        return 0;
    const void *at = mw__map_get(&w->index, name);
    if (at != NULL)
        return (uint32_t)((uintptr_t)at - 1);
    return add_symbol(w, name) == MW_OK ? (uint32_t)(w->symbol_count - 1) : 0;
}

/* Takes over a section that is written; `name` is copied. */
static uint32_t add_section(writer *w, const char *name, mw__text *data)
{
    const char *copy = mw__arena_string(&w->arena, name, strlen(name), w->err);
    char *bytes = mw__arena_alloc(&w->arena, data->size, 1, w->err);
    if (mw__text_check(data, w->err) == MW_OK && copy != NULL && bytes != NULL &&
        mw__grow(w->arena.allocator, &w->sections, &w->section_capacity, w->section_count + 1, sizeof *w->sections,
                 w->err) == MW_OK) {
        memcpy(bytes, data->data, data->size);
        w->sections[w->section_count++] = (mw_e5_section){.name = copy, .data = bytes, .size = data->size};
    }
    mw__text_deinit(data);
    return (uint32_t)w->section_count - 1;
}

static mw__text begin_section(writer *w)
{
    mw__text out;
    mw__text_init(&out, w->arena.allocator);
    mw__flatbuffer_put_head(&out);
    return out;
}

/* ---- tables ---- */

static void put64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

static void pack_layout(const mw_e5_layout *layout, uint8_t out[MW__E5_LAYOUT])
{
    const uint64_t fields[] = {layout->width,
                               layout->height,
                               layout->channels,
                               layout->batch_number,
                               layout->sequence_length,
                               layout->stride_width,
                               layout->stride_height,
                               layout->stride_channels,
                               layout->stride_batch_number,
                               layout->stride_sequence_length,
                               (uint32_t)layout->storage_type};
    for (size_t i = 0; i < 4; i++) {
        put64(out + 8 * i, layout->dim[i]);
        put64(out + 32 + 8 * i, layout->stride[i]);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put64(out + 64 + 8 * i, fields[i]); /* the last is an i32 and its padding */
}

/* An operand, or a port. */
static void put_operand(writer *w, mw__text *out, size_t link, const char *name, bool is_output,
                        const mw_e5_layout *layout)
{
    uint8_t packed[MW__E5_LAYOUT];
    pack_layout(layout, packed);
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U32, .value = symbol(w, name)},
                                     {.kind = MW__FLAT_U8, .value = is_output},
                                     {.kind = MW__FLAT_STRUCT, .bytes = packed, .size = sizeof packed}};
    mw__flatbuffer_put_table(out, link, fields, 3);
}

static uint32_t put_frame(writer *w, const mw_e5_operation *op, const char *name)
{
    mw__text out = begin_section(w);
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_LINK}};
    mw__flatbuffer_put_table(&out, 0, fields, 1);
    const size_t links = mw__flatbuffer_put_links(&out, fields[0].at, op->operand_count);
    for (size_t i = 0; i < op->operand_count && !out.failed; i++)
        put_operand(w, &out, links + 4 * i, op->operands[i].symbol, op->operands[i].is_output, &op->operands[i].layout);
    return add_section(w, name, &out);
}

static void put_cast(mw__text *out, size_t link, const mw_e5_operation *op)
{
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U8, .value = (uint32_t)op->from},
                                     {.kind = MW__FLAT_U8, .value = (uint32_t)op->to}};
    mw__flatbuffer_put_table(out, link, fields, 2);
}

static void put_inference(writer *w, mw__text *out, size_t link, const mw_e5_operation *op)
{
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U32, .value = symbol(w, op->procedure)},
                                     {.kind = MW__FLAT_LINK},
                                     {.kind = MW__FLAT_U32, .value = op->segment}};
    mw__flatbuffer_put_table(out, link, fields, 3);
    if (!out->failed)
        mw__flatbuffer_put_string(out, fields[1].at, op->container);
}

static uint32_t put_attributes(writer *w, const mw_e5_operation *op, const char *name)
{
    mw__text out = begin_section(w);
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U8, .value = (uint32_t)op->kind}, {.kind = MW__FLAT_LINK}};
    mw__flatbuffer_put_table(&out, 0, fields, 2);
    if (out.failed)
        return add_section(w, name, &out);
    if (op->kind == MW_E5_CAST)
        put_cast(&out, fields[1].at, op);
    else
        put_inference(w, &out, fields[1].at, op);
    return add_section(w, name, &out);
}

/* ---- the function ---- */

static void put_operation(writer *w, mw__text *out, size_t link, const mw_e5_operation *op)
{
    char frame[MW_NAME_MAX + 32], attributes[MW_NAME_MAX + 32];
    snprintf(frame, sizeof frame, "%s.__arg_frame", op->name);
    snprintf(attributes, sizeof attributes, "%s.__op_attrs", op->name);
    const uint32_t name = symbol(w, op->name), frame_at = put_frame(w, op, frame);
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U32, .value = name},
                                     {.kind = MW__FLAT_U8, .value = (uint32_t)op->kind},
                                     {.kind = MW__FLAT_U32, .value = frame_at},
                                     {.kind = MW__FLAT_U32, .value = put_attributes(w, op, attributes)}};
    mw__flatbuffer_put_table(out, link, fields, 4);
}

static void put_ports(writer *w, mw__text *out, size_t link)
{
    const mw_e5_program *program = w->program;
    const size_t links = mw__flatbuffer_put_links(out, link, program->port_count);
    for (size_t i = 0; i < program->port_count && !out->failed; i++)
        put_operand(w, out, links + 4 * i, program->ports[i].symbol, program->ports[i].is_output,
                    &program->ports[i].layout);
}

static void put_aliases(writer *w, mw__text *out, size_t link)
{
    const mw_e5_program *program = w->program;
    const size_t links = mw__flatbuffer_put_links(out, link, program->alias_count);
    for (size_t i = 0; i < program->alias_count && !out->failed; i++) {
        mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_LINK},
                                         {.kind = MW__FLAT_U32, .value = symbol(w, program->aliases[i].symbol)},
                                         {.kind = MW__FLAT_U32, .value = program->aliases[i].offset}};
        mw__flatbuffer_put_table(out, links + 4 * i, fields, 3);
        if (!out->failed)
            mw__flatbuffer_put_string(out, fields[0].at, program->aliases[i].name);
    }
}

static void put_block(writer *w, mw__text *out, size_t link)
{
    const mw_e5_program *program = w->program;
    mw__flatbuffer_field block = {.kind = MW__FLAT_LINK};
    const size_t blocks = mw__flatbuffer_put_links(out, link, 1);
    if (!out->failed)
        mw__flatbuffer_put_table(out, blocks, &block, 1);
    const size_t links = mw__flatbuffer_put_links(out, block.at, program->operation_count);
    for (size_t i = 0; i < program->operation_count && !out->failed && !mw__failed(w->err); i++)
        put_operation(w, out, links + 4 * i, &program->operations[i]);
}

/* The function takes section 0, those of its operations follow while it is written. */
static mw_status put_function(writer *w)
{
    mw__text empty = begin_section(w), out = begin_section(w);
    add_section(w, w->program->function, &empty);
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U32, .value = symbol(w, w->program->function)},
                                     {.kind = MW__FLAT_LINK},
                                     {.kind = MW__FLAT_LINK},
                                     {.kind = MW__FLAT_LINK}};
    mw__flatbuffer_put_table(&out, 0, fields, 4);
    if (!out.failed && !mw__failed(w->err)) {
        put_ports(w, &out, fields[1].at);
        put_aliases(w, &out, fields[2].at);
        put_block(w, &out, fields[3].at);
    }
    add_section(w, w->program->function, &out);
    if (!mw__failed(w->err))
        w->sections[0] = w->sections[--w->section_count];
    return w->err->status;
}

/* ---- the root ---- */

static void put_build_info(const writer *w, mw__text *out, size_t link)
{
    const mw_e5_program *program = w->program;
    mw__flatbuffer_field info = {.kind = MW__FLAT_LINK};
    mw__flatbuffer_put_table(out, link, &info, 1);
    const size_t links = mw__flatbuffer_put_links(out, info.at, program->build_info_count);
    for (size_t i = 0; i < program->build_info_count && !out->failed; i++) {
        mw__flatbuffer_field pair[] = {{.kind = MW__FLAT_LINK}, {.kind = MW__FLAT_LINK}};
        mw__flatbuffer_put_table(out, links + 4 * i, pair, 2);
        if (out->failed)
            return;
        mw__flatbuffer_put_string(out, pair[0].at, program->build_info[i].key);
        mw__flatbuffer_put_string(out, pair[1].at, program->build_info[i].value);
    }
}

static void put_sections(writer *w, mw__text *out, size_t link)
{
    const size_t links = mw__flatbuffer_put_links(out, link, w->section_count);
    for (size_t i = 0; i < w->section_count && !out->failed; i++) {
        mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_U32, .value = symbol(w, w->sections[i].name)},
                                         {.kind = MW__FLAT_LINK}};
        mw__flatbuffer_put_table(out, links + 4 * i, fields, 2);
        if (!out->failed)
            mw__flatbuffer_put_bytes(out, fields[1].at, w->sections[i].data, w->sections[i].size);
    }
}

static mw_status put_root(writer *w, mw__text *out)
{
    mw__flatbuffer_field fields[] = {{.kind = MW__FLAT_LINK},
                                     {.kind = MW__FLAT_LINK},
                                     {.kind = MW__FLAT_LINK},
                                     {.kind = MW__FLAT_U32, .value = (uint32_t)w->program->format_version}};
    for (size_t i = 0; i < w->section_count; i++)
        symbol(w, w->sections[i].name);
    if (mw__failed(w->err))
        return w->err->status;
    mw__flatbuffer_put_head(out);
    mw__flatbuffer_put_table(out, 0, fields, 4);
    if (out->failed)
        return mw__text_check(out, w->err);
    const size_t links = mw__flatbuffer_put_links(out, fields[0].at, w->symbol_count);
    for (size_t i = 0; i < w->symbol_count && !out->failed; i++)
        mw__flatbuffer_put_string(out, links + 4 * i, w->symbols[i]);
    put_build_info(w, out, fields[1].at);
    put_sections(w, out, fields[2].at);
    return mw__text_check(out, w->err);
}

mw_status mw__e5_encode(const mw_e5_program *program, mw__text *out, mw_error *err)
{
    writer w = {.program = program, .err = err};
    mw__arena_init(&w.arena, out->allocator);
    mw__map_init(&w.index, out->allocator);
    mw_status status = MW_OK;
    for (size_t i = 0; status == MW_OK && i < program->symbol_count; i++)
        status = add_symbol(&w, program->symbols[i]);
    if (status == MW_OK)
        status = put_function(&w);
    if (status == MW_OK)
        status = put_root(&w, out);
    if (status == MW_OK && out->size > INT32_MAX)
        status = mw__fail(err, MW_ERROR_UNSUPPORTED, "a descriptor of %zu bytes does not fit its offsets", out->size);
    mw__free(out->allocator, w.symbols);
    mw__free(out->allocator, w.sections);
    mw__map_deinit(&w.index);
    mw__arena_deinit(&w.arena);
    return status;
}
