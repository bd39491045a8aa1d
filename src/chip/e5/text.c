/* A descriptor as text for people, and as JSON. */
#include "chip/e5/e5.h"

#include "base/memory/live.h"
#include "base/text/json_write.h"
#include "base/text/printable.h"

#include <inttypes.h>
#include <string.h>

/* ---- text ---- */

static void put_layout(mw__text *out, const mw_e5_layout *layout)
{
    const char *element = mw_e5_element_name(layout->storage_type);
    mw__text_printf(out, "%s", element != NULL ? element : "element ");
    if (element == NULL)
        mw__text_printf(out, "%d", (int)layout->storage_type);
    mw__text_puts(out, " [");
    for (int i = 4; i-- > 0;)
        mw__text_printf(out, "%" PRIu64 "%s", layout->dim[i], i > 0 ? ", " : "] strides [");
    for (int i = 4; i-- > 0;)
        mw__text_printf(out, "%" PRIu64 "%s", layout->stride[i], i > 0 ? ", " : "]");
}

static void put_operand(mw__text *out, const char *indent, const char *symbol, bool is_output,
                        const mw_e5_layout *layout)
{
    mw__text_printf(out, "%s%s ", indent, is_output ? "out" : "in ");
    mw__text_show(out, symbol, MW__PRINTABLE_NAME);
    mw__text_puts(out, ": ");
    put_layout(out, layout);
    mw__text_puts(out, "\n");
}

static void put_operation(mw__text *out, const mw_e5_operation *op)
{
    mw__text_puts(out, "  ");
    mw__text_show(out, op->name, MW__PRINTABLE_NAME);
    mw__text_printf(out, " (%s)", mw_e5_kind_name(op->kind));
    if (op->kind == MW_E5_CAST && mw_e5_element_name(op->from) != NULL && mw_e5_element_name(op->to) != NULL)
        mw__text_printf(out, " %s to %s", mw_e5_element_name(op->from), mw_e5_element_name(op->to));
    if (op->procedure != NULL) {
        mw__text_printf(out, " segment %u: ", op->segment);
        mw__text_show(out, op->procedure, MW__PRINTABLE_NAME);
        mw__text_puts(out, " of ");
        mw__text_show(out, op->container != NULL ? op->container : "", MW__PRINTABLE_NAME);
    }
    mw__text_puts(out, "\n");
    for (size_t i = 0; i < op->operand_count; i++)
        put_operand(out, "    ", op->operands[i].symbol, op->operands[i].is_output, &op->operands[i].layout);
}

static void put_head(mw__text *out, const mw_e5_program *program)
{
    mw__text_printf(out, "E5 dispatch descriptor, format version %d (unverified: see docs/e5.md)\n",
                    (int)program->format_version);
    for (size_t i = 0; i < program->build_info_count; i++) {
        mw__text_puts(out, "  ");
        mw__text_show(out, program->build_info[i].key, MW__PRINTABLE_NAME);
        mw__text_puts(out, ": ");
        mw__text_show(out, program->build_info[i].value, 512);
        mw__text_puts(out, "\n");
    }
    mw__text_printf(out, "symbols %zu\n", program->symbol_count);
    for (size_t i = 0; i < program->symbol_count; i++) {
        mw__text_printf(out, "  %zu ", i);
        mw__text_show(out, program->symbols[i], MW__PRINTABLE_NAME);
        mw__text_puts(out, "\n");
    }
    mw__text_printf(out, "sections %zu\n", program->section_count);
    for (size_t i = 0; i < program->section_count; i++) {
        mw__text_printf(out, "  %zu ", i);
        mw__text_show(out, program->sections[i].name, MW__PRINTABLE_NAME);
        mw__text_printf(out, ": %zu bytes\n", program->sections[i].size);
    }
}

static void put_text(mw__text *out, const mw_e5_program *program)
{
    put_head(out, program);
    if (program->function != NULL) {
        mw__text_puts(out, "function ");
        mw__text_show(out, program->function, MW__PRINTABLE_NAME);
        mw__text_puts(out, "\n");
    }
    for (size_t i = 0; i < program->port_count; i++)
        put_operand(out, "  port ", program->ports[i].symbol, program->ports[i].is_output, &program->ports[i].layout);
    for (size_t i = 0; i < program->alias_count; i++) {
        mw__text_puts(out, "  alias ");
        mw__text_show(out, program->aliases[i].name, MW__PRINTABLE_NAME);
        mw__text_puts(out, " = ");
        mw__text_show(out, program->aliases[i].symbol, MW__PRINTABLE_NAME);
        mw__text_printf(out, " + %u\n", program->aliases[i].offset);
    }
    mw__text_printf(out, "operations %zu\n", program->operation_count);
    for (size_t i = 0; i < program->operation_count; i++)
        put_operation(out, &program->operations[i]);
    for (size_t i = 0; i < program->note_count; i++) {
        mw__text_puts(out, "note: ");
        mw__text_show(out, program->notes[i], 512);
        mw__text_puts(out, "\n");
    }
}

/* ---- JSON ---- */

static void add_numbers(mw__json_writer *json, const char *key, const uint64_t *values, size_t count)
{
    mw__json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        mw__json_add_unsigned(json, NULL, values[i]);
    mw__json_close(json, ']');
}

static void add_strings(mw__json_writer *json, const char *key, const char *const *strings, size_t count)
{
    mw__json_break(json);
    mw__json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        mw__json_add_string(json, NULL, strings[i]);
    mw__json_close(json, ']');
}

/* An operand, or a port. */
static void add_operand(mw__json_writer *json, const char *symbol, bool is_output, const mw_e5_layout *layout)
{
    const uint64_t axes[] = {layout->width, layout->height, layout->channels, layout->batch_number,
                             layout->sequence_length};
    const uint64_t strides[] = {layout->stride_width, layout->stride_height, layout->stride_channels,
                                layout->stride_batch_number, layout->stride_sequence_length};
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "symbol", symbol);
    mw__json_add_bool(json, "output", is_output);
    mw__json_add_integer(json, "storage_type", (int)layout->storage_type);
    add_numbers(json, "dim", layout->dim, 4);
    add_numbers(json, "stride", layout->stride, 4);
    add_numbers(json, "whcns", axes, 5);
    add_numbers(json, "whcns_stride", strides, 5);
    mw__json_close(json, '}');
}

static void add_operation(mw__json_writer *json, const mw_e5_operation *op)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "name", op->name);
    mw__json_add_string(json, "kind", mw_e5_kind_name(op->kind));
    if (op->kind == MW_E5_CAST) {
        mw__json_add_integer(json, "from", op->from);
        mw__json_add_integer(json, "to", op->to);
    }
    if (op->procedure != NULL) {
        mw__json_add_unsigned(json, "segment", op->segment);
        mw__json_add_string(json, "procedure", op->procedure);
        mw__json_add_string(json, "container", op->container);
    }
    mw__json_open(json, "operands", '[');
    for (size_t i = 0; i < op->operand_count; i++)
        add_operand(json, op->operands[i].symbol, op->operands[i].is_output, &op->operands[i].layout);
    mw__json_close(json, ']');
    mw__json_close(json, '}');
}

static void add_head(mw__json_writer *json, const mw_e5_program *program)
{
    mw__json_add_integer(json, "format_version", (int)program->format_version);
    mw__json_break(json);
    mw__json_add_string(json, "function", program->function);
    mw__json_break(json);
    mw__json_open(json, "build_info", '[');
    for (size_t i = 0; i < program->build_info_count; i++) {
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "key", program->build_info[i].key);
        mw__json_add_string(json, "value", program->build_info[i].value);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
    add_strings(json, "symbols", program->symbols, program->symbol_count);
    mw__json_break(json);
    mw__json_open(json, "sections", '[');
    for (size_t i = 0; i < program->section_count; i++) {
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "name", program->sections[i].name);
        mw__json_add_unsigned(json, "size", program->sections[i].size);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static void add_ports(mw__json_writer *json, const mw_e5_program *program)
{
    mw__json_break(json);
    mw__json_open(json, "ports", '[');
    for (size_t i = 0; i < program->port_count; i++) {
        mw__json_break(json);
        add_operand(json, program->ports[i].symbol, program->ports[i].is_output, &program->ports[i].layout);
    }
    mw__json_close(json, ']');
    mw__json_break(json);
    mw__json_open(json, "aliases", '[');
    for (size_t i = 0; i < program->alias_count; i++) {
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "name", program->aliases[i].name);
        mw__json_add_string(json, "symbol", program->aliases[i].symbol);
        mw__json_add_unsigned(json, "offset", program->aliases[i].offset);
        mw__json_close(json, '}');
    }
    mw__json_close(json, ']');
}

static void put_json(mw__text *out, const mw_e5_program *program)
{
    mw__json_writer json;
    mw__json_writer_init(&json, out->allocator, false);
    json.style = MW__JSON_VALID;
    mw__json_open(&json, NULL, '{');
    add_head(&json, program);
    add_ports(&json, program);
    mw__json_break(&json);
    mw__json_open(&json, "operations", '[');
    for (size_t i = 0; i < program->operation_count; i++) {
        mw__json_break(&json);
        add_operation(&json, &program->operations[i]);
    }
    mw__json_close(&json, ']');
    add_strings(&json, "notes", program->notes, program->note_count);
    mw__json_close(&json, '}');
    mw__text_puts(&json.text, "\n");
    *out = json.text; /* which was empty */
}

/* ---- the calls ---- */

static char *print(const mw_e5 *e5, const char *call, void put(mw__text *out, const mw_e5_program *program),
                   mw_error *err)
{
    mw_error own = {0};
    mw__text out;
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (e5 == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the descriptor is NULL", call);
        return NULL;
    }
    if (mw__live_check(e5, MW__LIVE_E5, call, err) != MW_OK)
        return NULL;
    mw__text_init(&out, NULL); /* mw_string_free has no object to ask */
    put(&out, &e5->program);
    return mw__text_take(&out, err);
}

char *mw_e5_text(const mw_e5 *e5, mw_error *err) { return print(e5, __func__, put_text, err); }

char *mw_e5_json(const mw_e5 *e5, mw_error *err) { return print(e5, __func__, put_json, err); }
