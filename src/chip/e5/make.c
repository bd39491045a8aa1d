/* The descriptor of a graph: which segments there are, what each reads and makes, and the casts around them. */
#include "chip/e5/e5.h"

#include "base/memory/live.h"
#include "graph/ir/ir.h"
#include "graph/ir/names.h"

#include <stdio.h>
#include <string.h>

enum { NO_SEGMENT = 0, BEFORE = 1 }; /* of a value: a constant; an input. Segment s is BEFORE + 1 + s */

typedef struct maker {
    const mw_e5_options *options;
    const mw__function *function;
    mw__names names;
    mw__arena arena;
    uint32_t *segment; /* by id: where a value is made */
    bool *read;        /* by id: it is used by another segment than its own, or by a cast */
    bool *used;        /* by id: by the segment that is being listed */
    bool reads;        /* the operation that is looked at reads what is no constant */
    uint32_t segment_count;
    mw_e5_operation *operations;
    mw_e5_port *ports;
    mw_e5_alias *aliases;
    mw_e5_program program;
    mw_error *err;
} maker;

/* ANEForge's bridges that are operations of MIL. */
static const char *const bridges[] = {
    "scaled_dot_product_attention", "reduce_argmax",  "reduce_argmin", "topk", "argsort",
    "local_response_norm",          "space_to_batch", "batch_to_space"};

mw_e5_options mw_e5_defaults(void)
{
    return (mw_e5_options){.struct_size = sizeof(mw_e5_options),
                           .container = "model.hwx",
                           .bridges = bridges,
                           .bridge_count = sizeof bridges / sizeof *bridges,
                           .row_bytes = 64,
                           .compiler = "millwright",
                           .source = "model.mil"};
}

/* ---- segments ---- */

static bool is_bridge(const maker *m, const mw__op *op)
{
    for (size_t i = 0; i < m->options->bridge_count; i++)
        if (strcmp(op->kind, m->options->bridges[i]) == 0)
            return true;
    return false;
}

typedef void visit(maker *m, mw_tensor *value, uint32_t segment);

static void visit_operand(maker *m, const mw__operand *operand, uint32_t segment, visit *each)
{
    if (operand->value != NULL)
        each(m, operand->value, segment);
    for (size_t i = 0; i < operand->member_count; i++)
        visit_operand(m, &operand->members[i], segment, each);
}

static void visit_operands(maker *m, const mw__op *op, uint32_t segment, visit *each)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; k < op->slots[s].count; k++)
            visit_operand(m, &op->slots[s].operands[k], segment, each);
}

static void note_reading(maker *m, mw_tensor *value, uint32_t segment)
{
    m->reads = m->reads || m->segment[value->id] != segment;
}

static bool follows_from_constants(maker *m, const mw__op *op)
{
    m->reads = false;
    visit_operands(m, op, NO_SEGMENT, note_reading);
    return !m->reads;
}

static void mark_read(maker *m, mw_tensor *value, uint32_t segment)
{
    if (m->segment[value->id] != NO_SEGMENT && m->segment[value->id] != segment)
        m->read[value->id] = true;
}

/* Every operation that does not follow from constants gets a segment: a bridge one of its own. */
static mw_status cut_segments(maker *m)
{
    const mw__block *body = m->function->body;
    bool after_bridge = true; /* nothing is open */
    for (size_t i = 0; i < body->input_count; i++)
        m->segment[body->inputs[i]->id] = BEFORE;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (op->block_count > 0)
            return mw__fail(m->err, MW_ERROR_UNSUPPORTED,
                            "mw_e5_create: %s has blocks; mw_graph_flatten gives a graph without", op->kind);
        if (follows_from_constants(m, op))
            continue;
        const bool bridge = is_bridge(m, op);
        m->segment_count += bridge || after_bridge;
        after_bridge = bridge;
        visit_operands(m, op, BEFORE + m->segment_count, mark_read);
        for (size_t k = 0; k < op->result_count; k++)
            m->segment[op->results[k]->id] = BEFORE + m->segment_count;
    }
    return MW_OK;
}

/* ---- layouts ---- */

static int element_of(mw_dtype dtype)
{
    static const struct {
        mw_dtype dtype;
        int element;
    } rows[] = {{MW_I4, MW_E5_INT4},     {MW_U8, MW_E5_UINT8},  {MW_I8, MW_E5_INT8},    {MW_F16, MW_E5_FLOAT16},
                {MW_F32, MW_E5_FLOAT32}, {MW_I16, MW_E5_INT16}, {MW_U16, MW_E5_UINT16}, {MW_I32, MW_E5_INT32},
                {MW_U32, MW_E5_UINT32},  {MW_I64, MW_E5_INT64}, {MW_U64, MW_E5_UINT64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].dtype == dtype)
            return rows[i].element;
    return -1;
}

/* The element type inside: floating point is half there. */
static int engine_element(mw_dtype dtype) { return dtype == MW_F32 ? MW_E5_FLOAT16 : element_of(dtype); }

static uint64_t element_bytes(int element)
{
    static const uint8_t bytes[] = {1, 1, 1, 2, 4, 2, 2, 4, 4, 8, 8};
    return bytes[element];
}

/* `row` = 1: dense; else rows begin at multiples of it. */
static mw_e5_layout lay_out(mw_shape shape, int element, uint64_t row)
{
    mw_e5_layout out = {.dim = {1, 1, 1, 1}, .sequence_length = 1, .storage_type = element};
    for (int i = 0; i < shape.rank; i++)
        out.dim[i] = (uint64_t)shape.dim[shape.rank - 1 - i];
    out.stride[0] = element_bytes(element);
    out.stride[1] = (out.dim[0] * out.stride[0] + row - 1) / row * row;
    out.stride[2] = out.stride[1] * out.dim[1];
    out.stride[3] = out.stride[2] * out.dim[2];
    out.width = out.dim[0];
    out.height = out.dim[1];
    out.channels = out.dim[2];
    out.batch_number = out.dim[3];
    out.stride_width = out.stride[0];
    out.stride_height = out.stride[1];
    out.stride_channels = out.stride[2];
    out.stride_batch_number = out.stride[3];
    out.stride_sequence_length = out.stride[3] * out.dim[3];
    return out;
}

static mw_status check_value(const maker *m, const mw_tensor *value)
{
    const char *name = mw__names_get(&m->names, value);
    const mw_shape shape = value->type->shape;
    name = name != NULL ? name : "";
    if (value->type->kind != MW__TENSOR || element_of(value->type->dtype) < 0 || value->type->dtype == MW_I4)
        return mw__fail(m->err, MW_ERROR_UNSUPPORTED, "mw_e5_create: \"%s\" has a type without a code", name);
    if (shape.rank > 4)
        return mw__fail(m->err, MW_ERROR_UNSUPPORTED, "mw_e5_create: \"%s\" is of rank %d; the record has 4 axes", name,
                        shape.rank);
    const int64_t count = mw_shape_count(shape);
    if (count < 0 || count > INT64_MAX / 4096)
        return mw__fail(m->err, MW_ERROR_SHAPE,
                        "mw_e5_create: \"%s\" has `?` extents or too many elements; mw_graph_specialize says them",
                        name);
    return MW_OK;
}

/* ---- operations ---- */

static const char *make_string(maker *m, const char *a, const char *b)
{
    const size_t length = strlen(a);
    char *out = mw__arena_alloc(&m->arena, length + strlen(b) + 1, 1, m->err);
    if (out != NULL) {
        memcpy(out, a, length);
        memcpy(out + length, b, strlen(b) + 1);
    }
    return out;
}

static mw_e5_operation *add_operation(maker *m, mw_e5_kind kind, size_t operands)
{
    char name[64];
    mw_e5_operand *list = mw__arena_alloc(&m->arena, operands, sizeof *list, m->err);
    mw_e5_operation *op = &m->operations[m->program.operation_count];
    snprintf(name, sizeof name, "Op%zu_%s", m->program.operation_count, mw_e5_kind_name(kind));
    *op = (mw_e5_operation){.name = make_string(m, name, ""), .kind = kind, .operands = list};
    m->program.operation_count++;
    return op->name != NULL && list != NULL ? op : NULL;
}

static mw_status add_operand(maker *m, mw_e5_operation *op, const char *symbol, bool is_output, mw_e5_layout layout)
{
    ((mw_e5_operand *)op->operands)[op->operand_count++] =
        (mw_e5_operand){.symbol = symbol, .is_output = is_output, .layout = layout};
    return symbol != NULL ? MW_OK : m->err->status;
}

/* A value inside the engine. */
static mw_status add_engine_operand(maker *m, mw_e5_operation *op, const mw_tensor *value, bool is_output)
{
    MW_TRY(check_value(m, value));
    const char *symbol = make_string(m, mw__names_get(&m->names, value), "_ane");
    return add_operand(m, op, symbol, is_output,
                       lay_out(value->type->shape, engine_element(value->type->dtype), m->options->row_bytes));
}

static mw_status add_host_operand(maker *m, mw_e5_operation *op, const mw_tensor *value, const char *name,
                                  bool is_output)
{
    const mw_e5_layout layout = lay_out(value->type->shape, element_of(value->type->dtype), 1);
    m->ports[m->program.port_count++] = (mw_e5_port){.symbol = name, .is_output = is_output, .layout = layout};
    return add_operand(m, op, name, is_output, layout);
}

/* From the host's layout to the engine's, or back. */
static mw_status add_cast(maker *m, const mw_tensor *value, const char *name, bool back)
{
    MW_TRY(check_value(m, value));
    mw_e5_operation *op = add_operation(m, MW_E5_CAST, 2);
    if (op == NULL || name == NULL)
        return m->err->status;
    const int host = element_of(value->type->dtype), engine = engine_element(value->type->dtype);
    op->from = back ? engine : host;
    op->to = back ? host : engine;
    if (back)
        MW_TRY(add_engine_operand(m, op, value, false));
    MW_TRY(add_host_operand(m, op, value, name, back));
    return back ? MW_OK : add_engine_operand(m, op, value, true);
}

/* ---- inferences ---- */

static void mark_operand(maker *m, mw_tensor *value, uint32_t segment)
{
    m->used[value->id] = m->segment[value->id] != NO_SEGMENT && m->segment[value->id] != segment;
}

static bool is_operand(const maker *m, size_t id, uint32_t segment, bool output)
{
    return output ? m->segment[id] == segment && m->read[id] : m->used[id];
}

/* What a segment reads or makes, in the order of ids. */
static mw_status list_operands(maker *m, mw_e5_operation *op, uint32_t segment, bool outputs)
{
    const mw_graph *graph = m->function->graph;
    for (size_t id = 0; id < graph->value_count; id++)
        if (is_operand(m, id, segment, outputs))
            MW_TRY(add_engine_operand(m, op, graph->values[id], outputs));
    return MW_OK;
}

static void mark_operands(maker *m, uint32_t segment)
{
    const mw__block *body = m->function->body;
    memset(m->used, 0, m->function->graph->value_count * sizeof *m->used);
    for (size_t i = 0; i < body->op_count; i++)
        if (body->ops[i]->result_count > 0 && m->segment[body->ops[i]->results[0]->id] == segment)
            visit_operands(m, body->ops[i], segment, mark_operand);
}

static mw_status add_inference(maker *m, uint32_t index)
{
    const uint32_t segment = BEFORE + 1 + index;
    size_t count = 0;
    char suffix[32] = "_ane";
    mark_operands(m, segment);
    for (size_t id = 0; id < m->function->graph->value_count; id++)
        count += (size_t)is_operand(m, id, segment, false) + is_operand(m, id, segment, true);
    mw_e5_operation *op = add_operation(m, MW_E5_ANE_INFERENCE, count);
    if (op == NULL)
        return m->err->status;
    if (index > 0)
        snprintf(suffix, sizeof suffix, "_ane_%u", index);
    op->segment = index;
    op->container = m->options->container;
    op->procedure = make_string(m, m->function->name, suffix);
    MW_TRY(list_operands(m, op, segment, false));
    MW_TRY(list_operands(m, op, segment, true));
    return op->procedure != NULL ? MW_OK : m->err->status;
}

/* ---- the program ---- */

static void mark_outputs(maker *m)
{
    const mw__block *body = m->function->body;
    for (size_t i = 0; i < body->output_count; i++)
        mark_read(m, body->outputs[i], NO_SEGMENT);
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->next != NULL)
            mark_read(m, body->inputs[i]->next, NO_SEGMENT);
}

/* A state that is assigned is an output, in the place of the state. */
static mw_status add_state(maker *m, const mw_tensor *state)
{
    const char *symbol = mw__names_get(&m->names, state), *name = make_string(m, symbol, "_next");
    m->aliases[m->program.alias_count++] = (mw_e5_alias){.name = name, .symbol = symbol};
    return add_cast(m, state->next, name, true);
}

static mw_status add_operations(maker *m)
{
    const mw__block *body = m->function->body;
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(add_cast(m, body->inputs[i], mw__names_get(&m->names, body->inputs[i]), false));
    for (uint32_t i = 0; i < m->segment_count; i++)
        MW_TRY(add_inference(m, i));
    for (size_t i = 0; i < body->output_count; i++)
        MW_TRY(add_cast(m, body->outputs[i], mw__names_get(&m->names, body->outputs[i]), true));
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->next != NULL)
            MW_TRY(add_state(m, body->inputs[i]));
    return MW_OK;
}

static mw_status prepare_maker(maker *m)
{
    const mw__block *body = m->function->body;
    const size_t values = m->function->graph->value_count, ports = 2 * body->input_count + body->output_count;
    m->segment = mw__arena_alloc(&m->arena, values, sizeof *m->segment, m->err);
    m->read = mw__arena_alloc(&m->arena, values, sizeof *m->read, m->err);
    m->used = mw__arena_alloc(&m->arena, values, sizeof *m->used, m->err);
    if (m->segment == NULL || m->read == NULL || m->used == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(cut_segments(m));
    mark_outputs(m);
    m->operations = mw__arena_alloc(&m->arena, ports + m->segment_count, sizeof *m->operations, m->err);
    m->ports = mw__arena_alloc(&m->arena, ports, sizeof *m->ports, m->err);
    m->aliases = mw__arena_alloc(&m->arena, body->input_count, sizeof *m->aliases, m->err);
    return m->operations != NULL && m->ports != NULL && m->aliases != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* As bytes, which are then read: what is handed out is what a file of it gives. */
static mw_status make_bytes(maker *m, mw__text *out)
{
    const mw_text_pair info[] = {{"compiler", m->options->compiler}, {"source", m->options->source}};
    MW_TRY(mw__names_assign(m->function, &m->names, m->err));
    MW_TRY(prepare_maker(m));
    MW_TRY(add_operations(m));
    m->program.format_version = MW__E5_VERSION;
    m->program.build_info = info;
    m->program.build_info_count = 2;
    m->program.function = m->function->name;
    m->program.ports = m->ports;
    m->program.aliases = m->aliases;
    m->program.operations = m->operations;
    return mw__e5_encode(&m->program, out, m->err);
}

static mw_e5 *make_bundle(const mw_graph *graph, const mw_e5_options *options, mw_error *err)
{
    maker m = {.options = options, .function = mw__function_choose(graph, options->function, err), .err = err};
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_e5 *e5 = NULL;
    mw__text out;
    if (m.function == NULL)
        return NULL;
    mw__text_init(&out, allocator);
    mw__arena_init(&m.arena, allocator);
    if (make_bytes(&m, &out) == MW_OK)
        e5 = mw_e5_parse(out.data, out.size, allocator, err);
    mw__names_deinit(&m.names);
    mw__arena_deinit(&m.arena);
    mw__text_deinit(&out);
    return e5;
}

mw_e5 *mw_e5_create(const mw_graph *graph, const mw_e5_options *options, mw_error *err)
{
    mw_error own = {0};
    const mw_e5_options standard = mw_e5_defaults();
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    options = options != NULL ? options : &standard;
    if (graph == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_e5_create: the graph is NULL");
    else if (options->struct_size != sizeof *options || options->container == NULL || options->compiler == NULL ||
             options->source == NULL || options->row_bytes == 0 || options->row_bytes > 4096 ||
             (options->bridges == NULL && options->bridge_count > 0))
        mw__fail(err, MW_ERROR_ARGUMENT, "the options were not made by mw_e5_defaults");
    else if (mw_graph_check(graph, err) == MW_OK)
        return make_bundle(graph, options, err);
    return NULL;
}
