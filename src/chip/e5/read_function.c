/* What stands in the sections of a descriptor: the function, and two sections for each operation. Their order of fields
 * is our reading, so that another one is a note: what was read until then stays. */
#include "base/number/bytes.h"
#include "chip/e5/e5.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
    mw_e5 *e5;
    bool *used;    /* sections: each is read once */
    mw_error why;  /* of what is not understood */
    mw_error *err; /* of memory */
} reader;

/* A failure of memory goes on; any other becomes the note "what: why". */
static mw_status settle(reader *r, mw_status status, const char *what)
{
    if (status == MW_OK)
        return MW_OK;
    if (status == MW_ERROR_MEMORY)
        return mw__fail(r->err, status, "%s", r->why.message);
    const mw_error why = r->why;
    r->why = (mw_error){0};
    return mw__e5_note(r->e5, r->err, "%s has another form: %s", what, why.message);
}

static mw_status symbol_of(reader *r, const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                           const char **out)
{
    uint32_t index;
    MW_TRY(mw__flatbuffer_u32(flat, table, slot, &index, &r->why));
    *out = mw__e5_symbol(&r->e5->program, index);
    return *out != NULL
               ? MW_OK
               : mw__fail(&r->why, MW_ERROR_FORMAT, "there is no symbol %u of %zu", index, r->e5->program.symbol_count);
}

/* ---- layouts ---- */

static mw_status read_layout(reader *r, const mw__flatbuffer *flat, const mw__flatbuffer_table *table,
                             mw_e5_layout *out)
{
    const uint8_t *data;
    MW_TRY(mw__flatbuffer_struct(flat, table, MW__E5_OPERAND_LAYOUT, MW__E5_LAYOUT, &data, &r->why));
    if (data == NULL)
        return mw__fail(&r->why, MW_ERROR_FORMAT, "the operand at 0x%zx has no layout", table->at);
    uint64_t *const fields[] = {&out->width,
                                &out->height,
                                &out->channels,
                                &out->batch_number,
                                &out->sequence_length,
                                &out->stride_width,
                                &out->stride_height,
                                &out->stride_channels,
                                &out->stride_batch_number,
                                &out->stride_sequence_length};
    for (int i = 0; i < 4; i++) {
        out->dim[i] = mw__bytes_u64(data + (size_t)8 * (size_t)i);
        out->stride[i] = mw__bytes_u64(data + 32 + (size_t)8 * (size_t)i);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = mw__bytes_u64(data + 64 + 8 * i);
    out->storage_type = (int32_t)mw__bytes_u32(data + 144);
    return MW_OK;
}

/* ---- ports, aliases ---- */

static mw_status read_port(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                           mw_e5_port *out)
{
    mw__flatbuffer_table table;
    uint8_t output;
    MW_TRY(mw__flatbuffer_table_at(flat, list, index, &table, &r->why));
    MW_TRY(symbol_of(r, flat, &table, MW__E5_OPERAND_SYMBOL, &out->symbol));
    MW_TRY(mw__flatbuffer_u8(flat, &table, MW__E5_OPERAND_OUTPUT, &output, &r->why));
    out->is_output = output != 0;
    return read_layout(r, flat, &table, &out->layout);
}

static mw_status read_ports(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *function)
{
    mw__flatbuffer_vector list;
    mw_e5_program *program = &r->e5->program;
    MW_TRY(mw__flatbuffer_vector_in(flat, function, MW__E5_PORTS, 4, &list, &r->why));
    mw_e5_port *ports = mw__arena_alloc(&r->e5->arena, list.count, sizeof *ports, &r->why);
    if (ports == NULL)
        return MW_ERROR_MEMORY;
    program->ports = ports;
    for (size_t i = 0; i < list.count; i++) {
        MW_TRY(read_port(r, flat, &list, i, &ports[i]));
        program->port_count++;
    }
    return MW_OK;
}

static mw_status read_alias(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                            mw_e5_alias *out)
{
    mw__flatbuffer_table table;
    MW_TRY(mw__flatbuffer_table_at(flat, list, index, &table, &r->why));
    MW_TRY(mw__flatbuffer_string(flat, &table, MW__E5_ALIAS_NAME, &out->name, &r->why));
    out->name = out->name != NULL ? out->name : "";
    MW_TRY(symbol_of(r, flat, &table, MW__E5_ALIAS_SYMBOL, &out->symbol));
    return mw__flatbuffer_u32(flat, &table, MW__E5_ALIAS_OFFSET, &out->offset, &r->why);
}

static mw_status read_aliases(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *function)
{
    mw__flatbuffer_vector list;
    mw_e5_program *program = &r->e5->program;
    MW_TRY(mw__flatbuffer_vector_in(flat, function, MW__E5_ALIASES, 4, &list, &r->why));
    mw_e5_alias *aliases = mw__arena_alloc(&r->e5->arena, list.count, sizeof *aliases, &r->why);
    if (aliases == NULL)
        return MW_ERROR_MEMORY;
    program->aliases = aliases;
    for (size_t i = 0; i < list.count; i++) {
        MW_TRY(read_alias(r, flat, &list, i, &aliases[i]));
        program->alias_count++;
    }
    return MW_OK;
}

/* ---- operations ---- */

/* Opens section `index` for the first and only time. */
static mw_status open_section(reader *r, uint32_t index, mw__flatbuffer *flat, mw__flatbuffer_table *root)
{
    const mw_e5_program *program = &r->e5->program;
    *flat = (mw__flatbuffer){.allocator = r->e5->allocator};
    if (index >= program->section_count || r->used[index])
        return mw__fail(&r->why, MW_ERROR_FORMAT, "section %u of %zu is not there, or has another use", index,
                        program->section_count);
    r->used[index] = true;
    const mw_e5_section *section = &program->sections[index];
    MW_TRY(mw__flatbuffer_begin(flat, r->e5->allocator, section->data, section->size, &r->why));
    return mw__flatbuffer_root(flat, root, &r->why);
}

static mw_status read_operands(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *frame, mw_e5_operation *out)
{
    mw__flatbuffer_vector list;
    MW_TRY(mw__flatbuffer_vector_in(flat, frame, MW__E5_OPERANDS, 4, &list, &r->why));
    mw_e5_operand *operands = mw__arena_alloc(&r->e5->arena, list.count, sizeof *operands, &r->why);
    if (operands == NULL)
        return MW_ERROR_MEMORY;
    out->operands = operands;
    for (size_t i = 0; i < list.count; i++) {
        mw_e5_port port;
        MW_TRY(read_port(r, flat, &list, i, &port));
        operands[i] = (mw_e5_operand){.symbol = port.symbol, .is_output = port.is_output, .layout = port.layout};
        out->operand_count++;
    }
    return MW_OK;
}

static mw_status read_cast(reader *r, const mw__flatbuffer *flat, const mw__flatbuffer_table *table,
                           mw_e5_operation *out)
{
    uint8_t from, to;
    MW_TRY(mw__flatbuffer_u8(flat, table, MW__E5_CAST_FROM, &from, &r->why));
    MW_TRY(mw__flatbuffer_u8(flat, table, MW__E5_CAST_TO, &to, &r->why));
    out->from = from;
    out->to = to;
    return MW_OK;
}

static mw_status read_inference(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *table,
                                mw_e5_operation *out)
{
    MW_TRY(symbol_of(r, flat, table, MW__E5_PROCEDURE, &out->procedure));
    MW_TRY(mw__flatbuffer_string(flat, table, MW__E5_CONTAINER, &out->container, &r->why));
    out->container = out->container != NULL ? out->container : "";
    return mw__flatbuffer_u32(flat, table, MW__E5_SEGMENT, &out->segment, &r->why);
}

static mw_status read_attributes(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *root,
                                 mw_e5_operation *out)
{
    uint8_t kind;
    mw__flatbuffer_table table;
    MW_TRY(mw__flatbuffer_u8(flat, root, MW__E5_ATTRS_KIND, &kind, &r->why));
    MW_TRY(mw__flatbuffer_child(flat, root, MW__E5_ATTRS_TABLE, &table, &r->why));
    if (kind != out->kind || table.at == 0)
        return mw__fail(&r->why, MW_ERROR_FORMAT, "they are of kind %u in an operation of kind %d", kind, out->kind);
    if (kind == MW_E5_CAST)
        return read_cast(r, flat, &table, out);
    if (kind == MW_E5_ANE_INFERENCE)
        return read_inference(r, flat, &table, out);
    return mw__fail(&r->why, MW_ERROR_FORMAT, "attributes of %s are not known", mw_e5_kind_name(kind));
}

typedef mw_status content(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *root, mw_e5_operation *out);

static mw_status read_section(reader *r, uint32_t index, mw_e5_operation *out, content *read, const char *what)
{
    mw__flatbuffer flat;
    mw__flatbuffer_table root;
    char subject[160];
    mw_status status = open_section(r, index, &flat, &root);
    if (status == MW_OK)
        status = read(r, &flat, &root, out);
    mw__flatbuffer_end(&flat);
    snprintf(subject, sizeof subject, "the %s of operation \"%.96s\"", what, out->name);
    return settle(r, status, subject);
}

static mw_status read_operation(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                                mw_e5_operation *out)
{
    mw__flatbuffer_table table;
    uint8_t kind;
    uint32_t frame, attributes;
    MW_TRY(mw__flatbuffer_table_at(flat, list, index, &table, &r->why));
    MW_TRY(symbol_of(r, flat, &table, MW__E5_OPERATION_NAME, &out->name));
    MW_TRY(mw__flatbuffer_u8(flat, &table, MW__E5_OPERATION_KIND, &kind, &r->why));
    MW_TRY(mw__flatbuffer_u32(flat, &table, MW__E5_ARG_FRAME, &frame, &r->why));
    MW_TRY(mw__flatbuffer_u32(flat, &table, MW__E5_OP_ATTRS, &attributes, &r->why));
    if (mw_e5_kind_name(kind) == NULL)
        return mw__fail(&r->why, MW_ERROR_FORMAT, "operation \"%s\" is of kind %u; there are 12", out->name, kind);
    out->kind = kind;
    r->e5->program.operation_count++;
    MW_TRY(read_section(r, frame, out, read_operands, "argument frame"));
    return read_section(r, attributes, out, read_attributes, "attributes");
}

static mw_status read_block(reader *r, mw__flatbuffer *flat, const mw__flatbuffer_table *function)
{
    mw__flatbuffer_vector blocks, list;
    mw__flatbuffer_table block;
    MW_TRY(mw__flatbuffer_vector_in(flat, function, MW__E5_BLOCKS, 4, &blocks, &r->why));
    if (blocks.count != 1)
        return mw__fail(&r->why, MW_ERROR_FORMAT, "it has %zu blocks; known is 1", blocks.count);
    MW_TRY(mw__flatbuffer_table_at(flat, &blocks, 0, &block, &r->why));
    MW_TRY(mw__flatbuffer_vector_in(flat, &block, MW__E5_OPERATIONS, 4, &list, &r->why));
    mw_e5_operation *operations = mw__arena_alloc(&r->e5->arena, list.count, sizeof *operations, &r->why);
    if (operations == NULL)
        return MW_ERROR_MEMORY;
    r->e5->program.operations = operations;
    for (size_t i = 0; i < list.count; i++)
        MW_TRY(read_operation(r, flat, &list, i, &operations[i]));
    return MW_OK;
}

/* ---- the function ---- */

static mw_status read_function(reader *r, mw__flatbuffer *flat)
{
    mw__flatbuffer_table function;
    MW_TRY(open_section(r, 0, flat, &function));
    MW_TRY(symbol_of(r, flat, &function, MW__E5_FUNCTION_NAME, &r->e5->program.function));
    MW_TRY(read_ports(r, flat, &function));
    MW_TRY(read_aliases(r, flat, &function));
    return read_block(r, flat, &function);
}

static mw_status note_unused(reader *r)
{
    for (size_t i = 0; i < r->e5->program.section_count; i++)
        if (!r->used[i])
            MW_TRY(mw__e5_note(r->e5, r->err, "section %zu, \"%.96s\", belongs to no operation that is understood", i,
                               r->e5->program.sections[i].name));
    return MW_OK;
}

mw_status mw__e5_read_function(mw_e5 *e5, mw_error *err)
{
    mw__flatbuffer flat = {.allocator = e5->allocator};
    reader r = {.e5 = e5, .err = err};
    if (e5->program.section_count == 0)
        return mw__e5_note(e5, err, "there are no sections");
    r.used = mw__alloc(e5->allocator, e5->program.section_count, sizeof *r.used, err);
    if (r.used == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = settle(&r, read_function(&r, &flat), "section 0, the function,");
    mw__flatbuffer_end(&flat);
    if (status == MW_OK)
        status = note_unused(&r);
    mw__free(e5->allocator, r.used);
    return status;
}
