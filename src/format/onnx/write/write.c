/* The call that writes a graph as an ONNX file: the model message and the file. */
#include "format/onnx/write/write.h"
#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "format/formats.h"
#include "format/onnx/check/check.h"
#include "format/onnx/read/literal.h"
#include "format/protobuf/wire.h"
#include "graph/ir/build_info.h"
#include "graph/transform/extents/interface.h"

#include <millwright/tune.h>
#include <string.h>

enum { FILE_FORMAT = 8, OPERATOR_SET = 17 };

static mw_status answer_problems(const mw__onnx_writer *w)
{
    if (w->problems == 0)
        return MW_OK;
    return mw__fail(w->err, MW_ERROR_UNSUPPORTED, "%zu operations cannot be written as ONNX: %s%s%s%s%s%s", w->problems,
                    w->first[0], w->problems > 1 ? "; " : "", w->first[1], w->problems > 2 ? "; " : "", w->first[2],
                    w->problems > 3 ? " .." : "");
}

/* What is not valid is a fault of ours, which nobody shall find in a file. */
static mw_status check_model(mw__onnx_writer *w, const Mw__Onnx__Model *model, const char *path)
{
    mw_error why = {0};
    const mw_status status = mw__onnx_check(w->graph->allocator, model, path, &why);
    if (status == MW_OK || status == MW_ERROR_MEMORY)
        return status == MW_OK ? MW_OK : mw__fail(w->err, status, "%s", why.message);
    return mw__fail(w->err, MW_ERROR_UNSUPPORTED, "ONNX: %s", why.message);
}

/* metadata_props */
static mw_status put_description(mw__onnx_writer *w, Mw__Onnx__Model *model)
{
    mw__pairs said;
    MW_TRY(mw__build_info_list(w->options->description, &w->arena, &said, w->err));
    model->metadata = mw__onnx_alloc(w, said.count + 1, sizeof *model->metadata);
    for (size_t i = 0; model->metadata != NULL && i < said.count; i++) {
        Mw__Onnx__StringPair *pair = mw__onnx_alloc(w, 1, sizeof *pair);
        if (pair == NULL)
            break;
        mw__onnx__string_pair__init(pair);
        pair->key = mw__onnx_text(w, said.items[i].key);
        pair->value = mw__onnx_text(w, said.items[i].value);
        model->metadata[model->n_metadata++] = pair;
    }
    return w->err->status;
}

static mw_status finish_model(mw__onnx_writer *w, Mw__Onnx__Graph *graph, const char *path)
{
    Mw__Onnx__OperatorSet set, *sets = &set;
    Mw__Onnx__Model model;
    char producer[] = "millwright";
    mw__onnx__operator_set__init(&set);
    mw__onnx__model__init(&model);
    set.version = OPERATOR_SET;
    model.ir_version = FILE_FORMAT;
    model.producer_name = producer;
    model.graph = graph;
    model.opset_import = &sets;
    model.n_opset_import = 1;
    MW_TRY(put_description(w, &model));
    MW_TRY(check_model(w, &model, path));
    return w->options->check_only ? MW_OK : mw__onnx_write_file(w->graph->allocator, &model, path, w->err);
}

static mw_status write_with(mw__onnx_writer *w, const mw__function *function, const char *path)
{
    Mw__Onnx__Graph graph;
    mw__onnx__graph__init(&graph);
    const size_t length = strlen(function->name);
    graph.name = mw__arena_string(&w->arena, function->name, length, w->err);
    if (graph.name == NULL)
        return w->err->status;
    MW_TRY(mw__onnx_write_graph(w, function, &graph));
    MW_TRY(answer_problems(w));
    return finish_model(w, &graph, path);
}

static const mw__function *find_function(const mw_graph *graph, const char *name, mw_error *err)
{
    name = name != NULL ? name : "main";
    for (size_t i = 0; i < graph->function_count; i++)
        if (strcmp(graph->functions[i]->name, name) == 0)
            return graph->functions[i];
    mw__fail(err, MW_ERROR_ARGUMENT, "ONNX: the graph has no function \"%.96s\"", name);
    return NULL;
}

static mw_status write_graph(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    const mw__function *function = find_function(graph, options->function, err);
    if (function == NULL)
        return err->status;
    mw__onnx_writer w = {.graph = graph, .options = options, .err = err};
    mw__arena_init(&w.arena, graph->allocator);
    mw__map_init(&w.taken, graph->allocator);
    const mw_status status = write_with(&w, function, path);
    mw__map_deinit(&w.taken);
    mw__arena_deinit(&w.arena);
    return status;
}

/* A copy whose inputs are open. */
static mw_status write_open(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    mw_graph *open = mw__for_examples(graph, MW__EXAMPLES_ANY, err);
    if (open == NULL)
        return err->status;
    const mw_tensor *input = mw_graph_input_at(open, 0);
    const bool is_open = input != NULL && mw_shape_count(mw_tensor_shape(input)) < 0;
    const mw_status status = is_open ? write_graph(open, path, options, err)
                                     : mw__fail(err, MW_ERROR_UNSUPPORTED,
                                                "ONNX: operations of the graph hold it at its batch, so that "
                                                "it does not take any number of examples (any_batch)");
    mw_graph_destroy(open);
    return status;
}

mw_status mw__onnx_write(const mw_graph *graph, const char *path, const mw_write_options *options, mw_error *err)
{
    MW_TRY(mw_graph_verify(graph, err)); /* writers rely on arguments that are there, and fit the ranks */
    return (options->any_batch ? write_open : write_graph)(graph, path, options, err);
}

/* ---- checking a file ---- */

/* Elements are not looked at, so that large ones may stay in the file. */
mw_status mw__onnx_check_file(const char *path, mw_error *err)
{
    mw_error own = {0};
    const mw_allocator *allocator = mw__allocator_default();
    mw__wire wire;
    mw__file file;
    char *data;
    size_t size;
    bool outline;
    err = err != NULL ? err : &own;
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_onnx_check: path is NULL");
    MW_TRY(mw__file_open(&file, path, err));
    const mw_status opened = mw__onnx_message_bytes(allocator, &file, path, &data, &size, &outline, err);
    mw__file_close(&file);
    MW_TRY(opened);
    ProtobufCMessage *message = mw__wire_read(&wire, allocator, &mw__onnx__model__descriptor, data, size, path, err);
    mw_status status = err->status;
    if (message != NULL)
        status = mw__onnx_check(allocator, (const Mw__Onnx__Model *)message, path, err);
    mw__wire_free(&wire, message);
    mw__free(allocator, data);
    return status;
}
