/* The call that writes a graph as a netplist: a network and a procedure for each function, and the files. */
#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "chip/netplist/netplist.h"
#include "graph/values/convert.h"
#include "mil/check/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mw_netplist_options mw_netplist_defaults(void)
{
    return (mw_netplist_options){.struct_size = sizeof(mw_netplist_options), .chip = MW_CHIP_AUTO};
}

/* ---- operations ---- */

static const mw__net_row *find_row(const char *operation)
{
    for (size_t i = 0; i < mw__net_row_count; i++)
        if (mw__net_rows[i].write != NULL && strcmp(mw__net_rows[i].operation, operation) == 0)
            return &mw__net_rows[i];
    return NULL;
}

/* True if an operand stands behind an operation that was told of already. */
static bool is_behind_problem(const mw__net_writer *w, const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; k < op->slots[s].count; k++) {
            const mw_tensor *value = op->slots[s].operands[k].value;
            if (value != NULL && !mw__is_constant(value) && w->values[value->id].symbol == NULL)
                return true;
        }
    return false;
}

void mw__net_write_op(mw__net_writer *w, const mw__op *op)
{
    const mw__net_row *row = op->row != NULL ? find_row(op->kind) : NULL;
    if (op->result_count > 0 && mw__is_constant(op->results[0]))
        return;
    if (row == NULL)
        mw__net_cannot(w, op, "there is no unit for it");
    else if (op->result_count > 0 && op->results[0]->type->shape.rank > 5)
        mw__net_cannot(w, op, "a netplist has five axes");
    else if (!is_behind_problem(w, op))
        row->write(w, op, row);
}

/* ---- ports ---- */

static bool is_port_name(const char *name)
{
    static const char *const keys[] = {"Units", "Weights", "Constants"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (name == NULL || strcmp(name, keys[i]) == 0)
            return false;
    return true;
}

static mw_status check_port(mw__net_writer *w, const mw_tensor *value)
{
    const mw__type *type = value->type;
    const char *name = value->name != NULL ? value->name : "";
    if (!is_port_name(value->name))
        return mw__fail(w->err, MW_ERROR_UNSUPPORTED, "netplist: \"%s\" cannot be the name of a port", name);
    if (type->kind != MW__TENSOR || (type->dtype != MW_F16 && type->dtype != MW_F32) || type->shape.rank > 5)
        return mw__fail(w->err, MW_ERROR_UNSUPPORTED, "netplist: port \"%s\" is not floating point of rank 5 or less",
                        name);
    if (mw_shape_count(type->shape) <= 0)
        return mw__fail(w->err, MW_ERROR_SHAPE, "netplist: port \"%s\" has `?` extents or no elements", name);
    return MW_OK;
}

/* A parameter with the caller's values, which are of the type of the source's. */
static mw_status bake(mw__net_writer *w, const mw_tensor *value)
{
    const mw_tensor *source = mw_graph_find(w->source, value->name);
    const void *data = w->options->bake(w->options->bake_user, value->name);
    const size_t count = (size_t)mw_shape_count(value->type->shape);
    uint16_t *half = mw__arena_alloc(&w->arena, count, sizeof *half, w->err);
    if (data == NULL || source == NULL || (size_t)mw_shape_count(source->type->shape) != count)
        return mw__fail(w->err, MW_ERROR_ARGUMENT, "netplist: parameter \"%s\" has no value; bake gives it",
                        value->name);
    if (half == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        half[i] = mw__fp16_from_double(mw__load_element(data, source->type->dtype, i));
    w->values[value->id] = mw__net_constant(w, "Float16", half, mw__net_dims_of(w, value->type->shape));
    return w->err->status;
}

static mw_status add_input(mw__net_writer *w, mw_tensor *value)
{
    MW_TRY(check_port(w, value));
    if (mw__is_resident(value) && w->options->bake != NULL)
        return bake(w, value);
    mw__net_value *input = &w->values[value->id];
    *input = (mw__net_value){.symbol = value->name, .dims = mw__net_dims_of(w, value->type->shape)};
    MW_TRY(mw__map_set(&w->taken, value->name, w, w->err));
    return mw__map_set(&w->inputs, value->name, input, w->err);
}

static bool is_unit(const mw__net_writer *w, const char *symbol)
{
    for (size_t i = w->entry_count; i-- > 0;)
        if (strcmp(w->entries[i].key, symbol) == 0)
            return mw__net_string(w->entries[i].node, "Type") != NULL;
    return false;
}

static plist_t output_entry(const char *name)
{
    plist_t entry = plist_new_dict();
    mw__net_set_int(entry, "OutputInterleave", 1);
    mw__net_set_string(entry, "OutputName", name);
    mw__net_set_string(entry, "OutputType", "Float16");
    return entry;
}

static mw_status put_output(mw__net_writer *w, mw_tensor *value)
{
    mw__net_value v = w->values[value->id];
    if (v.symbol == NULL) /* behind an operation that was told of */
        return w->err->status;
    if (!is_unit(w, v.symbol)) /* an input, or a constant: a unit that does nothing */
        v = mw__net_goc(w, v, 1, 0);
    if (mw__failed(w->err))
        return w->err->status;
    MW_TRY(
        mw__grow(w->arena.allocator, &w->entries, &w->entry_capacity, w->entry_count + 1, sizeof *w->entries, w->err));
    plist_t inside = output_entry(value->name), outside = output_entry(value->name);
    mw__net_set_string(inside, "Bottom", v.symbol);
    mw__net_set_string(outside, "Name", v.symbol);
    mw__net_set_string(outside, "OperationName", "op0");
    mw__net_set_int(outside, "OutputChannels", v.dims.of[MW__NET_CHANNEL]);
    plist_array_append_item(w->output_list, outside);
    w->entries[w->entry_count++] = (mw__net_entry){value->name, inside};
    return MW_OK;
}

/* ---- one function ---- */

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const mw__net_entry *)a)->key, ((const mw__net_entry *)b)->key);
}

static plist_t sorted_dict(mw__net_entry *entries, size_t count)
{
    plist_t dict = plist_new_dict();
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++)
        plist_dict_set_item(dict, entries[i].key, entries[i].node);
    return dict;
}

static int rank_of(const mw__function *function)
{
    for (size_t i = 0; i < function->body->input_count; i++)
        if (function->body->inputs[i]->type->shape.rank == 5)
            return 5;
    for (size_t i = 0; i < function->body->op_count; i++)
        for (size_t k = 0; k < function->body->ops[i]->result_count; k++)
            if (function->body->ops[i]->results[k]->type->shape.rank == 5 &&
                !mw__is_constant(function->body->ops[i]->results[k]))
                return 5;
    return 4;
}

static mw_status write_body(mw__net_writer *w)
{
    const mw__block *body = w->function->body;
    w->rank = rank_of(w->function);
    w->values = mw__arena_alloc(&w->arena, w->graph->value_count, sizeof *w->values, w->err);
    if (w->values == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->output_count; i++) { /* their names are taken before any unit gets one */
        MW_TRY(check_port(w, body->outputs[i]));
        MW_TRY(mw__map_set(&w->taken, body->outputs[i]->name, w, w->err));
    }
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(add_input(w, body->inputs[i]));
    for (size_t i = 0; i < body->op_count && !mw__failed(w->err); i++)
        mw__net_write_op(w, body->ops[i]);
    for (size_t i = 0; i < body->output_count && !mw__failed(w->err); i++)
        MW_TRY(put_output(w, body->outputs[i]));
    return w->err->status;
}

static plist_t make_procedure(mw__net_writer *w, const char *name, const char *network)
{
    plist_t procedure = plist_new_dict(), operations = plist_new_array(), operation = plist_new_dict();
    mw__net_set_string(operation, "NetworkName", network);
    mw__net_set_string(operation, "OperationName", "op0");
    plist_array_append_item(operations, operation);
    plist_dict_set_item(procedure, "InputList", w->input_list);
    mw__net_set_string(procedure, "Name", name);
    plist_dict_set_item(procedure, "OperationList", operations);
    plist_dict_set_item(procedure, "OutputList", w->output_list);
    return procedure;
}

/* Room for what a network has beside its units and ports; else nothing of it stays. */
static bool reserve_lists(mw__net_writer *w, size_t count)
{
    if (mw__grow(w->arena.allocator, &w->entries, &w->entry_capacity, w->entry_count + count, sizeof *w->entries,
                 w->err) == MW_OK)
        return true;
    for (size_t i = 0; i < w->entry_count; i++)
        plist_free(w->entries[i].node);
    plist_free(w->constants);
    plist_free(w->units);
    return false;
}

static plist_t make_network(mw__net_writer *w)
{
    if (!reserve_lists(w, 3))
        return NULL;
    plist_t weights = plist_new_array();
    for (int i = 0; i < 2; i++)
        plist_array_append_item(weights, plist_new_string(w->weight_names[i]));
    w->entries[w->entry_count++] = (mw__net_entry){"Constants", w->constants};
    w->entries[w->entry_count++] = (mw__net_entry){"Units", w->units};
    w->entries[w->entry_count++] = (mw__net_entry){"Weights", weights};
    return sorted_dict(w->entries, w->entry_count);
}

/* ---- the forms of a function ---- */

/* Weights whose file was not read cannot be written. */
static mw_status check_loaded(const mw_graph *graph, mw_error *err)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__payload *payload = graph->values[i]->payload;
        if (payload != NULL && payload->data == NULL && payload->blob_path != NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "netplist: the weights of \"%s\" were not read",
                            graph->values[i]->name != NULL ? graph->values[i]->name : "");
    }
    return MW_OK;
}

typedef struct network {
    plist_t body, procedure;
    char *name;
} network;

static mw_status write_network(mw__net_writer *w, const mw_graph *graph, const char *function, network *out)
{
    w->graph = graph;
    w->function = mw__graph_main(graph);
    w->made = w->entry_count = 0;
    mw__map_init(&w->taken, w->arena.allocator);
    mw__map_init(&w->inputs, w->arena.allocator);
    w->units = plist_new_array();
    w->constants = plist_new_array();
    w->input_list = plist_new_array();
    w->output_list = plist_new_array();
    const mw_status status = write_body(w);
    mw__map_deinit(&w->taken);
    mw__map_deinit(&w->inputs);
    out->procedure = make_procedure(w, function, out->name);
    out->body = make_network(w);
    return status != MW_OK ? status : w->err->status;
}

static mw_status write_function(mw__net_writer *w, const char *function, network *out)
{
    const mw__legality legality = {.device = mw__device_find(MW_DEVICE_ANE), .chip = mw__chip_find(w->options->chip)};
    mw__chip_form form = {0};
    mw_graph *named = mw__chip_copy_named(w->source, function, w->arena.allocator, w->err);
    mw_status status = named != NULL ? MW_OK : w->err->status;
    const size_t size = strlen(function) + sizeof "network_";
    out->name = mw__arena_alloc(&w->arena, size, 1, w->err);
    if (out->name == NULL)
        status = MW_ERROR_MEMORY;
    else
        snprintf(out->name, size, "network_%s", function);
    const mw_graph *graph = named;
    if (status == MW_OK && !w->options->as_it_is) {
        status = mw__chip_form_make(&form, named, &legality, w->arena.allocator, w->err);
        graph = form.legal.graph;
    }
    if (status == MW_OK)
        status = write_network(w, graph, function, out);
    if (named != NULL && !w->options->as_it_is)
        mw__chip_form_deinit(&form);
    mw__graph_free(named);
    return status;
}

/* ---- files ---- */

static mw_status put_files(mw__net_writer *w, const char *path, plist_t root)
{
    char *text = NULL;
    uint32_t size = 0;
    if (w->problems > 0)
        return mw__fail(w->err, MW_ERROR_UNSUPPORTED,
                        "netplist: %zu operations cannot be written as units: %s%s%s%s%s%s", w->problems, w->first[0],
                        w->problems > 1 ? "; " : "", w->first[1], w->problems > 2 ? "; " : "", w->first[2],
                        w->problems > 3 ? " .." : "");
    if (w->weights.size > INT32_MAX)
        return mw__fail(w->err, MW_ERROR_UNSUPPORTED, "netplist: %zu bytes of weights; 2 GB is the most",
                        w->weights.size);
    if (w->options->check_only)
        return MW_OK;
    plist_to_xml(root, &text, &size);
    if (text == NULL)
        return mw__fail(w->err, MW_ERROR_MEMORY, "netplist: libplist made no text");
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    mw_status status = MW_OK;
    for (int i = 0; i < 2 && status == MW_OK; i++) {
        mw__text file;
        mw__text_init(&file, w->arena.allocator);
        mw__text_append(&file, path, (size_t)(name - path));
        mw__text_puts(&file, w->weight_names[i]);
        status = mw__text_check(&file, w->err);
        if (status == MW_OK)
            status = mw__file_write(w->arena.allocator, file.data, w->weights.data, i == 1 ? w->weights.size : 0, true,
                                    w->err);
        mw__text_deinit(&file);
    }
    if (status == MW_OK)
        status = mw__file_write(w->arena.allocator, path, text, size, true, w->err);
    plist_to_xml_free(text);
    return status;
}

static mw_status name_weights(mw__net_writer *w, const char *path)
{
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    const size_t size = strlen(name) + sizeof ".weights.0";
    for (int i = 0; i < 2; i++) {
        char *out = mw__arena_alloc(&w->arena, size, 1, w->err);
        if (out == NULL)
            return MW_ERROR_MEMORY;
        snprintf(out, size, "%s.weights.%d", name, i);
        w->weight_names[i] = out;
    }
    return name[0] != '\0' ? MW_OK : mw__fail(w->err, MW_ERROR_ARGUMENT, "netplist: the path has no name");
}

static mw_status write_all(mw__net_writer *w, const char *path)
{
    plist_t procedures = plist_new_array(), names = plist_new_array();
    const size_t count = w->source->function_count;
    mw__net_entry *top = mw__arena_alloc(&w->arena, count + 3, sizeof *top, w->err);
    mw_status status = top != NULL ? name_weights(w, path) : MW_ERROR_MEMORY;
    size_t used = 0;
    for (size_t i = 0; i < count && status == MW_OK; i++) {
        network n = {0};
        status = write_function(w, w->source->functions[i]->name, &n);
        if (n.procedure != NULL)
            plist_array_append_item(procedures, n.procedure);
        if (n.body != NULL) {
            plist_array_append_item(names, plist_new_string(n.name));
            top[used++] = (mw__net_entry){n.name, n.body};
        }
    }
    if (top == NULL) {
        plist_free(procedures);
        plist_free(names);
        return status;
    }
    top[used++] = (mw__net_entry){"Networks", names};
    top[used++] = (mw__net_entry){"ProcedureList", procedures};
    top[used++] = (mw__net_entry){"Version", plist_new_string("1.0.10")};
    plist_t root = sorted_dict(top, used);
    if (status == MW_OK)
        status = put_files(w, path, root);
    plist_free(root);
    return status;
}

mw_status mw_graph_write_netplist(const mw_graph *graph, const char *path, const mw_netplist_options *options,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    const mw_netplist_options standard = mw_netplist_defaults();
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    options = options != NULL ? options : &standard;
    if (graph == NULL || path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "netplist: the %s is NULL", graph == NULL ? "graph" : "path");
    if (options->struct_size != sizeof *options || mw__chip_find(options->chip) == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the options were not made by mw_netplist_defaults, or name no chip");
    MW_TRY(mw_graph_check(graph, err));
    MW_TRY(mw_graph_verify(graph, err)); /* writers rely on arguments that are there, and fit the ranks */
    MW_TRY(check_loaded(graph, err));
    mw__net_writer w = {.source = graph, .options = options, .err = err};
    mw__arena_init(&w.arena, graph->allocator);
    mw__text_init(&w.weights, graph->allocator);
    mw__graph_hold(graph);
    const mw_status status = write_all(&w, path);
    mw__text_deinit(&w.weights);
    mw__free(graph->allocator, w.entries);
    mw__arena_deinit(&w.arena);
    return mw__graph_drop(graph, __func__, status, err);
}
