/* Models: made of a graph or a file, asked, and freed with the last that uses them. */
#include "runtime/model/model_object.h"

#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/text/text.h"
#include "graph/ir/admitted.h"
#include "graph/transform/clone/clone.h"

#include <string.h>

enum { RUNS_DEFAULT = 8, RUNS_MAX = 1024 };

mw_model_options mw_model_defaults(void) { return (mw_model_options){.struct_size = sizeof(mw_model_options)}; }

/* ---- options ---- */

static mw_status check_compile(const mw_compile_options *compile, mw_error *err)
{
    if (compile->struct_size != sizeof *compile)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the model's compile options are not from mw_compile_defaults()");
    if (compile->share.program != NULL || compile->keep_folder != NULL || compile->share.trainer != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the compile option %s is not for models, which compile several times",
                        compile->share.program != NULL   ? "share.program"
                        : compile->share.trainer != NULL ? "share.trainer"
                                                         : "keep_folder");
    return MW_OK;
}

static mw_status check_options(const mw_model_options *options, mw_error *err)
{
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the options of the model are not from mw_model_defaults()");
    if (options->batch < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the option batch of a model is %lld, not 0 or more",
                        (long long)options->batch);
    if (options->max_plans < 0 || options->max_plans > RUNS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the option max_plans of a model is %d, not in 0 .. %d",
                        options->max_plans, (int)RUNS_MAX);
    if (options->shapes == NULL && options->shape_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the shapes of a model are NULL, their count is %zu",
                        options->shape_count);
    if (options->weights.path == NULL && options->weights.options != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "the model has weights.options, but no weights.path, the file that they are for");
    return options->compile != NULL ? check_compile(options->compile, err) : MW_OK;
}

/* What is needed after the call is copied. */
static mw_status copy_text(mw_model *model, const char **text, mw_error *err)
{
    if (*text == NULL)
        return MW_OK;
    *text = mw__arena_string(&model->arena, *text, strlen(*text), err);
    return *text != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_options(mw_model *model, const mw_model_options *options, mw_error *err)
{
    model->compile = options->compile != NULL ? *options->compile : mw_compile_defaults();
    model->compile.function = NULL; /* the graph has no other */
    model->asked = options->batch;
    model->run_max = options->max_plans > 0 ? (size_t)options->max_plans : RUNS_DEFAULT;
    MW_TRY(copy_text(model, &model->compile.profile, err));
    return copy_text(model, &model->compile.cache_folder, err);
}

/* ---- inputs and shapes ---- */

static mw_status note_input(mw_model *model, const mw__function *function, const mw_tensor *input, mw_error *err)
{
    mw_admitted_shapes admitted;
    MW_TRY(mw__admitted_read(function, input, &admitted, err));
    const size_t at = model->input_count++;
    model->inputs[at] = mw_tensor_name(input); /* the graph lives as long */
    model->shapes[at] = admitted.has_standard ? admitted.standard : admitted.declared;
    model->open = model->open || mw_shape_count(admitted.declared) < 0;
    return MW_OK;
}

static mw_status note_inputs(mw_model *model, mw_error *err)
{
    const mw__function *function = mw__graph_main(model->graph);
    const mw__block *body = function->body;
    model->inputs = mw__arena_alloc(&model->arena, body->input_count, sizeof *model->inputs, err);
    model->shapes = mw__arena_alloc(&model->arena, body->input_count, sizeof *model->shapes, err);
    if (model->inputs == NULL || model->shapes == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++)
        if (mw__is_fed(body->inputs[i]))
            MW_TRY(note_input(model, function, body->inputs[i], err));
    return MW_OK;
}

static mw_status fail_unknown(const mw_model *model, const char *name, mw_error *err)
{
    mw__text list;
    mw__text_init(&list, model->allocator);
    for (size_t i = 0; i < model->input_count && list.size < 200; i++)
        mw__text_printf(&list, "%s%.96s", i > 0 ? ", " : "", model->inputs[i]);
    mw__fail(err, MW_ERROR_ARGUMENT, "the model has no input \"%.96s\" that a shape could be for; it has %.300s", name,
             list.size > 0 && !list.failed ? list.data : "none");
    mw__text_deinit(&list);
    return MW_ERROR_ARGUMENT;
}

mw_status mw__model_put_shapes(const mw_model *model, const mw_input_shape *shapes, size_t count, mw_shape *out,
                               mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < model->input_count && (shapes[i].input == NULL || strcmp(model->inputs[at], shapes[i].input) != 0))
            at++;
        if (at == model->input_count)
            return fail_unknown(model, shapes[i].input != NULL ? shapes[i].input : "(NULL)", err);
        out[at] = shapes[i].shape;
    }
    return MW_OK;
}

/* ---- ports ---- */

static bool is_shown(const mw_port *port) { return port->is_output || !port->is_parameter; }

static mw_status note_ports(mw_model *model, mw_error *err)
{
    const mw_program *program = model->first->program;
    const size_t count = mw_program_get_info(program).port_count;
    model->ports = mw__arena_alloc(&model->arena, count, sizeof *model->ports, err);
    for (size_t i = 0; model->ports != NULL && i < count; i++)
        if (is_shown(&program->ports[i]))
            model->ports[model->port_count++] = program->ports[i];
    return model->ports != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__model_is_ready(const mw_model *model, const char *call, mw_error *err)
{
    return model->first != NULL ? MW_OK
                                : mw__fail(err, MW_ERROR_STATE,
                                           "%s: the model was only read (read_only of its options), so that nothing "
                                           "of it runs",
                                           call);
}

/* ---- making and freeing ---- */

static void free_model(mw_model *model)
{
    const mw_allocator *allocator = model->allocator;
    if (model->first != NULL)
        mw__model_plan_drop(model, model->first);
    mw_graph_destroy(model->owned);
    mw_coreml_destroy(model->coreml);
    pthread_mutex_destroy(&model->mutex);
    mw__arena_deinit(&model->arena);
    mw__free(allocator, model);
}

void mw__model_release(mw_model *model)
{
    pthread_mutex_lock(&model->mutex);
    const bool last = --model->users == 0;
    pthread_mutex_unlock(&model->mutex);
    if (last)
        free_model(model);
}

static mw_status make_first(mw_model *model, const mw_model_options *options, mw_error *err)
{
    const mw__function *function = mw__graph_main(model->graph);
    if (function == NULL)
        return mw__fail(err, MW_ERROR_STATE, "the model has no function \"main\"");
    MW_TRY(note_inputs(model, err));
    MW_TRY(mw__model_put_shapes(model, options->shapes, options->shape_count, model->shapes, err));
    mw_error why = {0};
    const int64_t wanted = model->asked > 0 ? model->asked : 1;
    mw_status status = mw__model_plan_take(model, model->shapes, wanted, &model->first, &why);
    model->latency = status == MW_OK;
    if (status != MW_OK && model->asked == 0) /* then as it is; if that fails, too, its error counts */
        MW_TRY(mw__model_plan_take(model, model->shapes, 0, &model->first, err));
    else if (status != MW_OK)
        return mw__fail(err, status, "%s", why.message);
    return note_ports(model, err);
}

/* An empty one with its options. */
static mw_model *begin_model(const mw_model_options *options, mw_error *err)
{
    if (check_options(options, err) != MW_OK)
        return NULL;
    const mw_allocator *allocator =
        mw__allocator_or_default(options->compile != NULL ? options->compile->allocator : NULL);
    mw_model *model = mw__alloc(allocator, 1, sizeof *model, err);
    if (model == NULL)
        return NULL;
    *model = (mw_model){.allocator = allocator, .users = 1};
    mw__arena_init(&model->arena, allocator);
    pthread_mutex_init(&model->mutex, NULL);
    if (take_options(model, options, err) == MW_OK)
        return model;
    free_model(model);
    return NULL;
}

/* A copy of the graph with the weights of a file takes its place; what describes the model stays. */
static mw_status load_weights(mw_model *model, const mw_model_options *options, mw_error *err)
{
    if (options->weights.path == NULL)
        return MW_OK;
    mw_graph *loaded = mw_graph_load_weights(model->graph, options->weights.path, options->weights.options, err);
    if (loaded == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    mw_graph_destroy(model->owned);
    model->graph = model->owned = loaded;
    return MW_OK;
}

/* With its graph there: its weights, the first plan, and the user's. */
static mw_model *finish_model(mw_model *model, const mw_model_options *options, mw_status status, mw_error *err)
{
    if (status == MW_OK)
        status = load_weights(model, options, err);
    if (status == MW_OK && !options->read_only)
        status = make_first(model, options, err);
    if (status == MW_OK)
        status = mw__live_add(model, MW__LIVE_MODEL, err);
    if (status == MW_OK)
        return model;
    free_model(model);
    return NULL;
}

mw_model *mw_model_open(const char *path, const mw_model_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    const mw_model_options standard = mw_model_defaults();
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    options = options != NULL ? options : &standard;
    if (path == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_model_open: the path is NULL");
    mw_model *model = path != NULL ? begin_model(options, err) : NULL;
    return model != NULL ? finish_model(model, options, mw__model_read(model, path, options, err), err) : NULL;
}

static mw_status copy_graph(mw_model *model, const mw_graph *graph, const mw_model_options *options, mw_error *err)
{
    MW_TRY(mw_graph_check(graph, err));
    model->owned = mw_graph_function(graph, options->compile != NULL ? options->compile->function : NULL, err);
    model->graph = model->owned;
    model->description = options->description;
    return model->owned != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
}

mw_model *mw_model_create(const mw_graph *graph, const mw_model_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    const mw_model_options standard = mw_model_defaults();
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    options = options != NULL ? options : &standard;
    if (graph == NULL)
        mw__fail_null(err, "mw_model_create: the graph is NULL");
    mw_model *model = graph != NULL ? begin_model(options, err) : NULL;
    return model != NULL ? finish_model(model, options, copy_graph(model, graph, options, err), err) : NULL;
}

void mw_model_destroy(mw_model *model)
{
    if (model != NULL && mw__live_remove(model, MW__LIVE_MODEL, __func__))
        mw__model_release(model);
}

/* ---- asking ---- */

static bool is_live(const mw_model *model) { return mw__live_has(model, MW__LIVE_MODEL); }

mw_model_info mw_model_get_info(const mw_model *model)
{
    if (!is_live(model))
        return (mw_model_info){0};
    return (mw_model_info){.graph = model->graph,
                           .description = model->description,
                           .batch = model->first != NULL ? model->first->examples : 0,
                           .port_count = model->port_count};
}

bool mw_model_port_at(const mw_model *model, size_t index, mw_port *out)
{
    if (!is_live(model) || index >= model->port_count || out == NULL)
        return false;
    *out = model->ports[index];
    return true;
}

/* Of one that is a whole in each run there are as many as runs, one behind the other. */
static bool shape_for(const mw_model *model, const mw__model_result *result, int64_t examples, mw_shape *shape)
{
    const int64_t batch = model->first->examples;
    *shape = model->first->program->ports[result->port].shape;
    if (result->kind == MW__BATCH_ROWS)
        return mw__mul_i64(shape->dim[result->axis] / batch, examples, &shape->dim[result->axis]);
    if (result->kind == MW__BATCH_NONE || examples / batch <= 1)
        return true;
    if (shape->rank == 0)
        *shape = MW_SHAPE(1);
    return mw__mul_i64(shape->dim[0], examples / batch, &shape->dim[0]);
}

mw_status mw_model_result_shape(const mw_model *model, const char *result, int64_t examples, mw_shape *out,
                                mw_error *err)
{
    if (out != NULL)
        *out = (mw_shape){0};
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(model, MW__LIVE_MODEL, __func__, err));
    MW_TRY(mw__model_is_ready(model, __func__, err));
    if (out == NULL || result == NULL || examples < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_model_result_shape: %s",
                        examples < 1 ? "a batch has at least 1 example" : "the name or the place is NULL");
    for (size_t i = 0; i < model->first->result_count; i++)
        if (strcmp(model->first->results[i].name, result) == 0)
            return shape_for(model, &model->first->results[i], examples, out)
                       ? MW_OK
                       : mw__fail(err, MW_ERROR_SHAPE, "result \"%.96s\" of %lld examples is too large", result,
                                  (long long)examples);
    return mw__fail(err, MW_ERROR_ARGUMENT, "the model has no result \"%.96s\"", result);
}

mw_status mw_model_classes(const mw_model *model, const char *result, mw_classes *out, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(model, MW__LIVE_MODEL, __func__, err));
    MW_TRY(mw__model_is_ready(model, __func__, err));
    return mw_program_classes(model->first->program, result, out, err);
}
