/* An ONNX file: decoded, its inputs bound to extents, its nodes read, its outputs declared. */
#include "base/file/file.h"
#include "base/text/name.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "format/onnx/read/open.h"
#include "format/onnx/read/store.h"
#include "format/protobuf/wire.h"
#include "graph/ir/ir.h"
#include "graph/transform/segment/prune.h"

#include <millwright/function.h>
#include <millwright/ops/shape.h>

#include <stdio.h>
#include <string.h>

mw_onnx_options mw_onnx_defaults(void)
{
    return (mw_onnx_options){.struct_size = sizeof(mw_onnx_options), .opset = MW_IOS18, .flexible = true};
}

/* ---- inputs ---- */

static mw_status refuse_input(const mw__onnx_import *import, const Mw__Onnx__ValueInfo *info, const char *why)
{
    return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%.200s\": the input \"%.100s\" %s", import->source.path,
                    info->name, why);
}

static const mw_onnx_extent *find_extent(const mw__onnx_import *import, const char *name)
{
    for (size_t i = 0; i < import->options->extent_count; i++)
        if (strcmp(import->options->extents[i].name, name) == 0)
            return &import->options->extents[i];
    return NULL;
}

static const mw_shape *find_shape(const mw__onnx_import *import, const char *name)
{
    for (size_t i = 0; i < import->options->shape_count; i++)
        if (strcmp(import->options->shapes[i].input, name) == 0)
            return &import->options->shapes[i].shape;
    return NULL;
}

/* The extent that a dimension of that name has in a shape of the options; -1 if none says it. */
static int64_t extent_in_shapes(const mw__onnx_import *import, const char *name)
{
    const Mw__Onnx__Graph *graph = import->model->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        const mw_shape *given = find_shape(import, graph->input[i]->name);
        const Mw__Onnx__Type *type = graph->input[i]->type;
        const bool tensor = type != NULL && type->value_case == MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
        const Mw__Onnx__Shape *shape = given != NULL && tensor ? type->tensor_type->shape : NULL;
        for (size_t k = 0; shape != NULL && shape->n_dim == (size_t)given->rank && k < shape->n_dim; k++)
            if (shape->dim[k]->value_case == MW__ONNX__DIMENSION__VALUE_DIM_PARAM &&
                strcmp(shape->dim[k]->dim_param, name) == 0)
                return given->dim[k];
    }
    return -1;
}

static mw_status read_dimension(const mw__onnx_import *import, const Mw__Onnx__ValueInfo *info, int axis,
                                const Mw__Onnx__Dimension *dimension, int64_t *out)
{
    if (dimension->value_case == MW__ONNX__DIMENSION__VALUE_DIM_VALUE) {
        *out = dimension->dim_value;
        if (*out == -1) /* what some exporters write for an open one */
            return mw__onnx_open_extent(import, NULL, info->name, axis, out);
        if (*out >= 0)
            return MW_OK;
        return mw__fail(import->err, MW_ERROR_FORMAT, "\"%.200s\": extent %lld of axis %d of the input \"%.100s\"",
                        import->source.path, (long long)*out, axis, info->name);
    }
    const bool named = dimension->value_case == MW__ONNX__DIMENSION__VALUE_DIM_PARAM && dimension->dim_param[0] != '\0';
    const mw_onnx_extent *extent = named ? find_extent(import, dimension->dim_param) : NULL;
    *out = extent != NULL ? extent->extent : named ? extent_in_shapes(import, dimension->dim_param) : -1;
    if (*out < 0)
        MW_TRY(mw__onnx_open_extent(import, named ? dimension->dim_param : NULL, info->name, axis, out));
    return MW_OK;
}

static mw_status check_shape(const mw__onnx_import *import, const Mw__Onnx__ValueInfo *info, const mw_shape *given)
{
    const Mw__Onnx__Shape *declared = info->type->tensor_type->shape;
    bool fits = declared == NULL || declared->n_dim == (size_t)given->rank;
    for (int i = 0; fits && declared != NULL && i < given->rank; i++)
        fits = declared->dim[i]->value_case != MW__ONNX__DIMENSION__VALUE_DIM_VALUE ||
               declared->dim[i]->dim_value == -1 || declared->dim[i]->dim_value == given->dim[i];
    if (fits && mw_shape_count(*given) >= 0)
        return MW_OK;
    return mw__fail(import->err, MW_ERROR_SHAPE, "\"%.200s\": the shape asked for the input \"%.100s\" is not its own",
                    import->source.path, info->name);
}

static mw_status read_shape(const mw__onnx_import *import, const Mw__Onnx__ValueInfo *info, mw_shape *out)
{
    const mw_shape *given = find_shape(import, info->name);
    const Mw__Onnx__Shape *declared = info->type->tensor_type->shape;
    if (given != NULL) {
        *out = *given;
        return check_shape(import, info, given);
    }
    if (declared == NULL)
        return mw__fail(import->err, MW_ERROR_SHAPE,
                        "\"%.200s\": the input \"%.100s\" has no shape: say it in options.shapes", import->source.path,
                        info->name);
    if (declared->n_dim > MW_RANK_MAX)
        return refuse_input(import, info, "has more than 8 axes");
    out->rank = (int)declared->n_dim;
    for (int i = 0; i < out->rank; i++)
        MW_TRY(read_dimension(import, info, i, declared->dim[i], &out->dim[i]));
    return MW_OK;
}

static const mw_onnx_constant *find_constant(const mw__onnx_import *import, const char *name)
{
    for (size_t i = 0; i < import->options->constant_count; i++)
        if (strcmp(import->options->constants[i].input, name) == 0)
            return &import->options->constants[i];
    return NULL;
}

/* The input as a literal, which is copied. */
static mw_status define_constant(mw__onnx_import *import, const mw_onnx_constant *given, mw__onnx_value *value)
{
    const size_t size = mw__onnx_type_size(value->type);
    const int64_t count = mw_shape_count(value->shape);
    mw__onnx_literal *literal = mw__arena_alloc(&import->arena, 1, sizeof *literal, import->err);
    if (count < 0 || given->size / size != (size_t)count || given->size % size != 0)
        return mw__fail(import->err, MW_ERROR_SHAPE, "\"%.200s\": %zu bytes are given for the input \"%.100s\"",
                        import->source.path, given->size, value->name);
    char *data = mw__arena_alloc(&import->arena, given->size, 1, import->err);
    if (literal == NULL || data == NULL)
        return MW_ERROR_MEMORY;
    if (given->size > 0)
        memcpy(data, given->data, given->size);
    *literal = (mw__onnx_literal){value->type, value->shape, (size_t)count, data, NULL, 0};
    value->literal = literal;
    value->weight = true;
    return mw__onnx_define(import, value);
}

static mw_status define_input(mw__onnx_import *import, const Mw__Onnx__ValueInfo *info)
{
    char buffer[16], why[64];
    if (mw__onnx_find(import, info->name) != NULL)
        return MW_OK; /* an initializer, which older files list among the inputs too */
    if (info->type == NULL || info->type->value_case != MW__ONNX__TYPE__VALUE_TENSOR_TYPE ||
        info->type->tensor_type == NULL)
        return refuse_input(import, info, "is no tensor");
    const int type = info->type->tensor_type->elem_type;
    snprintf(why, sizeof why, "is of %s", mw__onnx_type_name(type, buffer));
    if (mw__onnx_dtype(type) == MW_DTYPE_NONE)
        return refuse_input(import, info, why);
    mw__onnx_value value = {.name = info->name, .type = type};
    MW_TRY(mw__name_check("input", info->name, import->err));
    MW_TRY(read_shape(import, info, &value.shape));
    const mw_onnx_constant *given = find_constant(import, info->name);
    if (given != NULL)
        return define_constant(import, given, &value);
    value.tensor = mw_input(import->graph, info->name, mw__onnx_dtype(type), value.shape);
    if (value.tensor == NULL)
        return mw_graph_check(import->graph, import->err);
    MW_TRY(mw__onnx_note_port(import, info, type, value.tensor));
    return mw__onnx_define(import, &value);
}

/* ---- outputs ---- */

static bool is_tensor(const Mw__Onnx__ValueInfo *info)
{
    return info->type == NULL || info->type->value_case == MW__ONNX__TYPE__VALUE__NOT_SET ||
           info->type->value_case == MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
}

enum { NAME_BYTES = 256 };

/* The name of an output: its own, but where it is an input of the model, which has that name. */
static const char *output_name(const mw__onnx_import *import, const mw_tensor *x, const char *own, char *buffer)
{
    if (x == NULL || x->role != MW__INPUT || x->name == NULL || strcmp(x->name, own) != 0)
        return own;
    for (int i = 1; i < 1000; i++) {
        snprintf(buffer, NAME_BYTES, i == 1 ? "%.200s_output" : "%.200s_output_%d", own, i);
        if (mw_graph_find(import->graph, buffer) == NULL && mw__onnx_find(import, buffer) == NULL)
            return buffer;
    }
    return own;
}

/* A constant of the graph has its name already. */
static mw_status declare_output(mw__onnx_import *import, const Mw__Onnx__ValueInfo *info)
{
    mw__onnx_value *value = mw__onnx_find(import, info->name);
    if (value == NULL)
        return mw__fail(import->err, MW_ERROR_FORMAT, "\"%.200s\": nothing gives the output \"%.100s\"",
                        import->source.path, info->name);
    if (!is_tensor(info))
        return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%.200s\": the output \"%.100s\" is no tensor",
                        import->source.path, info->name);
    MW_TRY(mw__onnx_check_read(import, value));
    const bool weight = value->weight;
    value->weight = weight && value->tensor != NULL; /* unless it is used, the name is that of the output */
    mw_tensor *x = mw__onnx_emit(import, value);
    char name[NAME_BYTES];
    mw_tensor *output = mw_output(x, output_name(import, x, info->name, name));
    if (output != NULL)
        return mw__onnx_note_port(import, info, value->type, output);
    if (!mw__failed(import->err))
        return mw_graph_check(import->graph, import->err);
    return import->err->status;
}

/* ---- the model ---- */

static mw_status find_opset(mw__onnx_import *import, const Mw__Onnx__Model *model)
{
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const Mw__Onnx__OperatorSet *set = model->opset_import[i];
        if (set->domain[0] == '\0' || strcmp(set->domain, "ai.onnx") == 0)
            import->opset = set->version;
    }
    if (import->opset >= MW__ONNX_OPSET_MIN && import->opset <= MW__ONNX_OPSET_MAX)
        return MW_OK;
    return mw__fail(import->err, MW_ERROR_UNSUPPORTED, "\"%.200s\": operator set %lld; those from %d to %d are read",
                    import->source.path, (long long)import->opset, MW__ONNX_OPSET_MIN, MW__ONNX_OPSET_MAX);
}

static bool is_input(const Mw__Onnx__Graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_input; i++)
        if (strcmp(graph->input[i]->name, name) == 0)
            return true;
    return false;
}

static bool has_dimension(const Mw__Onnx__ValueInfo *info, const char *name)
{
    const bool shaped = info->type != NULL && info->type->value_case == MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
    const Mw__Onnx__Shape *shape = shaped ? info->type->tensor_type->shape : NULL;
    for (size_t i = 0; shape != NULL && i < shape->n_dim; i++)
        if (shape->dim[i]->value_case == MW__ONNX__DIMENSION__VALUE_DIM_PARAM &&
            strcmp(shape->dim[i]->dim_param, name) == 0)
            return true;
    return false;
}

static bool is_listed(const mw__text *list, const char *name)
{
    char quoted[200];
    snprintf(quoted, sizeof quoted, "\"%.96s\"", name);
    return list->size > 0 && strstr(list->data, quoted) != NULL;
}

/* "batch", "time": as many as are read at a glance. */
static void list_dimensions(const Mw__Onnx__ValueInfo *info, mw__text *out)
{
    const bool shaped = info->type != NULL && info->type->value_case == MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
    const Mw__Onnx__Shape *shape = shaped ? info->type->tensor_type->shape : NULL;
    for (size_t i = 0; shape != NULL && i < shape->n_dim && out->size < 200 && !out->failed; i++)
        if (shape->dim[i]->value_case == MW__ONNX__DIMENSION__VALUE_DIM_PARAM && shape->dim[i]->dim_param[0] != '\0' &&
            !is_listed(out, shape->dim[i]->dim_param))
            mw__text_printf(out, "%s\"%.96s\"", out->size > 0 ? ", " : "", shape->dim[i]->dim_param);
}

static mw_status fail_extent(const mw__onnx_import *import, const Mw__Onnx__Graph *graph, const char *name)
{
    mw__text list;
    mw__text_init(&list, import->arena.allocator);
    for (size_t i = 0; i < graph->n_input; i++)
        list_dimensions(graph->input[i], &list);
    mw__fail(import->err, MW_ERROR_ARGUMENT, "\"%.100s\": no dimension of an input is called \"%.96s\"; %s%.250s",
             import->source.path, name, list.size > 0 && !list.failed ? "there are " : "none has a name",
             list.size > 0 && !list.failed ? list.data : "");
    mw__text_deinit(&list);
    return import->err->status;
}

/* One of a dimension that no input has is a mistake in typing, unless a list is for many files. */
static mw_status check_extents(const mw__onnx_import *import, const Mw__Onnx__Graph *graph)
{
    for (size_t i = 0; import->options->strict && i < import->options->extent_count; i++) {
        const char *name = import->options->extents[i].name;
        bool found = false;
        for (size_t k = 0; !found && k < graph->n_input; k++)
            found = has_dimension(graph->input[k], name);
        if (!found)
            return fail_extent(import, graph, name);
    }
    return MW_OK;
}

static mw_status check_options(const mw__onnx_import *import, const Mw__Onnx__Graph *graph)
{
    MW_TRY(check_extents(import, graph));
    for (size_t i = 0; i < import->options->shape_count; i++)
        if (!is_input(graph, import->options->shapes[i].input))
            return mw__fail(
                import->err, MW_ERROR_ARGUMENT,
                "\"%.200s\": there is no input \"%.96s\", for which a shape is given; the first is \"%.96s\"",
                import->source.path, import->options->shapes[i].input, graph->n_input > 0 ? graph->input[0]->name : "");
    for (size_t i = 0; i < import->options->constant_count; i++)
        if (!is_input(graph, import->options->constants[i].input))
            return mw__fail(import->err, MW_ERROR_ARGUMENT, "\"%.200s\": options.constants names \"%.100s\": no input",
                            import->source.path, import->options->constants[i].input);
    return MW_OK;
}

static mw_status read_parts(mw__onnx_import *import, const Mw__Onnx__Graph *graph)
{
    for (size_t i = 0; i < graph->n_output; i++)
        MW_TRY(mw__map_set(&import->results, graph->output[i]->name, graph->output[i], import->err));
    MW_TRY(mw__onnx_import_initializers(import, graph));
    for (size_t i = 0; i < graph->n_input; i++)
        MW_TRY(define_input(import, graph->input[i]));
    MW_TRY(mw__onnx_import_nodes(import, graph->node, graph->n_node));
    MW_TRY(mw__onnx_check_problems(import));
    for (size_t i = 0; i < graph->n_output; i++)
        MW_TRY(declare_output(import, graph->output[i]));
    MW_TRY(mw_graph_check(import->graph, import->err));
    return mw__prune(import->graph->functions[0], import->err);
}

static mw_status read_model(mw__onnx_import *import, const Mw__Onnx__Model *model)
{
    const Mw__Onnx__Graph *graph = model->graph;
    if (graph == NULL || graph->n_output == 0)
        return mw__fail(import->err, MW_ERROR_FORMAT, "\"%.200s\": no graph with an output", import->source.path);
    MW_TRY(find_opset(import, model));
    MW_TRY(check_options(import, graph));
    mw__map *const maps[] = {&import->whole.values, &import->functions, &import->weights, &import->results,
                             &import->orders};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        mw__map_init(maps[i], import->arena.allocator);
    import->scope = &import->whole;
    mw_status status = mw__onnx_note_functions(import, model);
    if (status == MW_OK)
        status = read_parts(import, graph);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        mw__map_deinit(maps[i]);
    return status;
}

mw_graph *mw__onnx_build(const Mw__Onnx__Model *model, const mw__onnx_request *request, mw__onnx_open *open,
                         mw_error *err)
{
    const mw_onnx_options *options = request->options;
    mw_graph_options made = mw_graph_defaults();
    made.allocator = options->allocator;
    made.opset = options->opset;
    mw__onnx_import import = {.options = options,
                              .model = model,
                              .store = request->store,
                              .open = open,
                              .room = MW__ONNX_BUDGET_LEAST,
                              .evaluator = request->evaluator,
                              .err = err};
    mw__arena_init(&import.arena, mw__allocator_or_default(options->allocator));
    import.source = (mw__onnx_source){request->path, request->folder_of, &import.arena, request->self};
    import.graph = mw__graph_make(&made, err);
    if (import.graph != NULL && read_model(&import, model) != MW_OK) {
        mw__graph_free(import.graph);
        import.graph = NULL;
    }
    mw__arena_deinit(&import.arena);
    return import.graph;
}

/* Builds the graph beside the weights that lie in other files. */
static mw_graph *build_graph(const Mw__Onnx__Model *model, mw__onnx_request *request, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(request->options->allocator);
    mw__onnx_store store = {0};
    mw__arena arena;
    mw_graph *graph = NULL;
    mw__arena_init(&arena, allocator);
    const mw__onnx_source source = {request->path, request->folder_of, &arena, request->self};
    request->store = &store;
    if (mw__onnx_store_fill(&store, allocator, &source, model, err) == MW_OK)
        graph = mw__onnx_build_open(model, request, err);
    if (graph != NULL && mw__onnx_note_model(graph, model, err) != MW_OK) {
        mw__graph_free(graph);
        graph = NULL;
    }
    mw__onnx_store_release(&store);
    mw__arena_deinit(&arena);
    return graph;
}

/* The bytes of the file are freed once they are decoded. */
static mw_graph *decode(char *data, size_t size, mw__onnx_request *request, mw_error *err)
{
    mw__wire wire;
    mw_error own = {0};
    const mw_allocator *allocator = mw__allocator_or_default(request->options->allocator);
    ProtobufCMessage *message =
        mw__wire_read(&wire, allocator, &mw__onnx__model__descriptor, data, size, request->path, &own);
    mw__free(allocator, data);
    mw_graph *graph = message != NULL ? build_graph((const Mw__Onnx__Model *)message, request, &own) : NULL;
    mw__wire_free(&wire, message);
    graph = mw__graph_publish(graph, &own);
    if (graph == NULL && err != NULL)
        *err = own;
    return graph;
}

static bool check_arguments(const char *path, const mw_onnx_options *options, mw_error *err)
{
    if (path == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_open_onnx: path is NULL");
    else if (options->struct_size != sizeof *options)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_open_onnx: the options were not made by mw_onnx_defaults");
    else if ((options->extent_count > 0 && options->extents == NULL) ||
             (options->shape_count > 0 && options->shapes == NULL) ||
             (options->constant_count > 0 && options->constants == NULL))
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_open_onnx: a list of the options is NULL");
    else
        return true;
    return false;
}

static mw_graph *read_file(const mw__file *file, const char *path, mw__onnx_request *request, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(request->options->allocator);
    char *data;
    size_t size;
    bool outline;
    if (mw__onnx_message_bytes(allocator, file, path, &data, &size, &outline, err) != MW_OK)
        return NULL;
    request->self = outline ? file : NULL;
    return decode(data, size, request, err); /* which frees them */
}

mw_graph *mw__onnx_read(const char *path, const mw_onnx_options *options, mw__onnx_evaluator *evaluator, mw_error *err)
{
    mw_error own = {0};
    const mw_onnx_options defaults = mw_onnx_defaults();
    options = options != NULL ? options : &defaults;
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    if (!check_arguments(path, options, err))
        return NULL;
    mw__file file;
    if (mw__file_open(&file, path, err) != MW_OK)
        return NULL;
    mw__onnx_request request = {options, path, path, evaluator, NULL, NULL};
    mw_graph *graph = read_file(&file, path, &request, err);
    mw__file_close(&file);
    return graph;
}
