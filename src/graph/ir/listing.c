/* A graph as text for people: one line an operation, columns aligned, parameters counted. Constants are written where
 * they are used. Not MIL; that is src/mil. */
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "graph/ir/names.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Constants with more elements are shown by type and shape. */
#define SHOWN_ELEMENTS 8

typedef struct printing {
    mw__text *out;
    const mw__names *names;
} printing;

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

static void pad_to(mw__text *out, size_t start, size_t width)
{
    while (!out->failed && out->size - start < width)
        mw__text_puts(out, " ");
}

/* ---- values ---- */

enum { NAME_MAX_BYTES = MW__PRINTABLE_NAME + 1 };

static const char *shown_name(const printing *p, const mw_tensor *value, char name[NAME_MAX_BYTES])
{
    const char *full = value->name != NULL ? value->name : mw__names_get(p->names, value);
    return mw__printable(name, NAME_MAX_BYTES, full != NULL ? full : "?");
}

static void print_type(mw__text *out, const mw_tensor *value)
{
    char shape[200];
    if (value->type->kind == MW__TENSOR)
        mw__text_printf(out, "%s %s", mw_dtype_name(value->type->dtype),
                        mw__shape_print(value->type->shape, shape, sizeof shape));
    else
        mw__text_puts(out, "(no tensor)");
}

static void print_element(mw__text *out, const mw__payload *payload, size_t index)
{
    char number[MW__NUMBER_MAX];
    const mw_dtype dtype = payload->type->dtype;
    if (dtype == MW_STRING) {
        mw__text_puts(out, "\"");
        mw__text_show(out, payload->strings[payload->splat ? 0 : index], MW__PRINTABLE_NAME);
        mw__text_puts(out, "\"");
    } else if (dtype == MW_BOOL) {
        mw__text_puts(out, mw__payload_int(payload, index) != 0 ? "true" : "false");
    } else if (dtype == MW_F16 || dtype == MW_F32) {
        mw__number_print_float(number, (float)mw__payload_float(payload, index));
        mw__text_puts(out, number);
    } else {
        mw__text_printf(out, "%" PRId64, mw__payload_int(payload, index));
    }
}

static void print_constant(mw__text *out, const mw_tensor *value)
{
    const mw__payload *payload = value->payload;
    const bool loaded = payload->data != NULL || payload->strings != NULL;
    const size_t count = mw__payload_count(payload);
    if (payload->type->kind != MW__TENSOR || !loaded || count > SHOWN_ELEMENTS) {
        print_type(out, value);
        return;
    }
    const bool vector = payload->type->shape.rank > 0;
    mw__text_puts(out, vector ? "[" : "");
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(out, i > 0 ? ", " : "");
        print_element(out, payload, i);
    }
    mw__text_puts(out, vector ? "]" : "");
}

static void print_operand(const printing *p, const mw__operand *operand)
{
    const mw_tensor *value = operand->value;
    if (value == NULL) {
        mw__text_puts(p->out, "(");
        for (size_t i = 0; i < operand->member_count; i++) {
            mw__text_puts(p->out, i > 0 ? ", " : "");
            print_operand(p, &operand->members[i]);
        }
        mw__text_puts(p->out, ")");
    } else if (value->payload != NULL) {
        print_constant(p->out, value);
    } else {
        char name[NAME_MAX_BYTES];
        mw__text_puts(p->out, shown_name(p, value, name));
    }
}

/* ---- lines ---- */

static void print_arguments(const printing *p, const mw__op *op)
{
    const char *comma = "";
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        if (slot->operands == NULL)
            continue;
        mw__text_puts(p->out, comma);
        mw__text_show(p->out, slot->name, MW__PRINTABLE_NAME);
        mw__text_puts(p->out, " = ");
        for (size_t k = 0; k < slot->count; k++) {
            mw__text_puts(p->out, k > 0 ? ", " : slot->count > 1 ? "(" : "");
            print_operand(p, &slot->operands[k]);
        }
        mw__text_puts(p->out, slot->count > 1 ? ")" : "");
        comma = ", ";
    }
}

typedef struct widths {
    size_t name, type;
} widths;

/* "  name  fp32 [128, 10]" with both columns aligned. */
static void print_value(const printing *p, const mw_tensor *value, widths w, int indent, const char *end)
{
    mw__text_printf(p->out, "%*s", indent, "");
    size_t start = p->out->size;
    char name[NAME_MAX_BYTES];
    mw__text_puts(p->out, shown_name(p, value, name));
    pad_to(p->out, start, w.name + 2);
    start = p->out->size;
    print_type(p->out, value);
    if (end == NULL)
        pad_to(p->out, start, w.type + 2);
    else
        mw__text_puts(p->out, end);
}

static void measure_value(const printing *p, const mw_tensor *value, widths *w)
{
    char shape[200], type[240], name[NAME_MAX_BYTES];
    snprintf(type, sizeof type, "%s %s", mw_dtype_name(mw_tensor_dtype(value)),
             mw__shape_print(mw_tensor_shape(value), shape, sizeof shape));
    w->name = max_size(w->name, strlen(shown_name(p, value, name)));
    w->type = max_size(w->type, strlen(type));
}

static widths measure_columns(const printing *p, const mw__block *block)
{
    widths w = {0, 0};
    for (size_t i = 0; i < block->input_count; i++)
        measure_value(p, block->inputs[i], &w);
    for (size_t i = 0; i < block->op_count; i++) {
        for (size_t k = 0; !mw__op_is_const(block->ops[i]) && k < block->ops[i]->result_count; k++)
            measure_value(p, block->ops[i]->results[k], &w);
    }
    return w;
}

static void print_block(const printing *p, const mw__block *block, int indent);

static void print_op(const printing *p, const mw__op *op, widths w, int indent)
{
    for (size_t k = 0; k < op->result_count; k++)
        print_value(p, op->results[k], w, indent, k + 1 < op->result_count ? "\n" : NULL);
    if (op->result_count == 0)
        mw__text_printf(p->out, "%*s", indent, "");
    mw__text_show(p->out, op->kind, MW__PRINTABLE_NAME);
    mw__text_puts(p->out, "(");
    print_arguments(p, op);
    mw__text_puts(p->out, ")\n");
    for (size_t i = 0; i < op->block_count; i++)
        print_block(p, op->blocks[i], indent + 4);
}

static void print_input(const printing *p, const mw_tensor *value, widths w, int indent)
{
    char next[NAME_MAX_BYTES];
    print_value(p, value, w, indent, NULL);
    if (value->role == MW__PARAMETER)
        mw__text_printf(p->out, "parameter, %" PRId64 "\n", mw_shape_count(value->type->shape));
    else if (value->role == MW__RESIDENT && value->next != NULL)
        mw__text_printf(p->out, "state, next %s\n", shown_name(p, value->next, next));
    else
        mw__text_puts(p->out, value->role == MW__RESIDENT ? "state\n" : "input\n");
}

static void print_block(const printing *p, const mw__block *block, int indent)
{
    const widths w = measure_columns(p, block);
    for (size_t i = 0; i < block->input_count; i++)
        print_input(p, block->inputs[i], w, indent);
    for (size_t i = 0; i < block->op_count; i++) {
        if (!mw__op_is_const(block->ops[i]))
            print_op(p, block->ops[i], w, indent);
    }
    mw__text_printf(p->out, "%*s-> (", indent, "");
    char name[NAME_MAX_BYTES];
    for (size_t i = 0; i < block->output_count; i++)
        mw__text_printf(p->out, "%s%s", i > 0 ? ", " : "", shown_name(p, block->outputs[i], name));
    mw__text_puts(p->out, ")\n");
}

/* ---- the whole ---- */

static mw_status print_function(mw__text *out, const mw__function *function, mw_error *err)
{
    mw__names names;
    const mw_status status = mw__names_assign(function, &names, err);
    if (status == MW_OK) {
        const printing p = {.out = out, .names = &names};
        mw__text_show(out, function->name, MW__PRINTABLE_NAME);
        mw__text_printf(out, "<ios%d>\n", (int)function->opset);
        print_block(&p, function->body, 2);
    }
    mw__names_deinit(&names);
    return status;
}

static void print_total(mw__text *out, const mw_graph *graph)
{
    int64_t total = 0;
    size_t count = 0;
    for (size_t i = 0; i < graph->value_count; i++) {
        if (graph->values[i]->role != MW__PARAMETER)
            continue;
        total += mw_shape_count(graph->values[i]->type->shape);
        count++;
    }
    mw__text_printf(out, "%zu parameter tensors, %" PRId64 " parameters\n", count, total);
}

/* mw_string_free has no object to ask, so the result is a plain heap string; the work is in the graph's memory. */
static char *take_string(const mw__text *text, mw_error *err)
{
    if (mw__text_check(text, err) != MW_OK)
        return NULL;
    char *string = mw__alloc(NULL, text->size + 1, 1, err);
    if (string != NULL && text->size > 0)
        memcpy(string, text->data, text->size);
    return string;
}

char *mw_graph_print(const mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw__text text;
    mw__text_init(&text, graph->allocator);
    mw_status status = MW_OK;
    for (size_t i = 0; i < graph->function_count && status == MW_OK; i++)
        status = print_function(&text, graph->functions[i], err);
    print_total(&text, graph);
    char *string = status == MW_OK ? take_string(&text, err) : NULL;
    mw__text_deinit(&text);
    return string;
}
