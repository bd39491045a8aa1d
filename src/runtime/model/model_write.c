/* A model into a file of any format: its graph, what its description says, and the values that its parameters have. */
#include "base/memory/map.h"
#include "base/number/float_mode.h"
#include "graph/random/init.h"
#include "runtime/model/model_file.h"
#include "runtime/model/model_object.h"

/* ---- parameters and states of a graph that was built ---- */

/* What the programs of the model start with, by name: a file has them as constants. */
typedef struct starts {
    mw__arena arena;
    mw__map values;
} starts;

static mw_status add_start(starts *s, const mw_model *model, const mw_tensor *input, mw_error *err)
{
    size_t size;
    if (input->init == NULL || input->name == NULL)
        return MW_OK;
    if (!mw__type_bytes(input->type, &size))
        return mw__fail(err, MW_ERROR_SHAPE, "mw_model_write: the size of \"%.96s\" is not known", input->name);
    void *data = mw__arena_alloc(&s->arena, size, 1, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    const mw__init_source source = {input->name, model->compile.seed, model->compile.threads};
    MW_TRY(mw__init_fill(input->init, mw_tensor_shape(input), mw_tensor_dtype(input), &source, data, err));
    return mw__map_set(&s->values, input->name, data, err);
}

static mw_status fill_starts(starts *s, const mw_model *model, mw_error *err)
{
    const mw__function *function = mw__function_choose(model->graph, model->compile.function, err);
    if (function == NULL)
        return err->status;
    for (size_t i = 0; i < function->body->input_count; i++)
        MW_TRY(add_start(s, model, function->body->inputs[i], err));
    return MW_OK;
}

static const void *start_of(void *user, const char *name) { return mw__map_get(&((starts *)user)->values, name); }

/* ---- writing ---- */

/* A package is written as a whole, with every function that it has. */
static mw_status write_model(const mw_model *model, const char *path, const mw_write_options *options, mw_error *err)
{
    starts s;
    const bool package = mw__model_file_use(path) == MW__USE_PACKAGE && model->coreml != NULL;
    const mw_graph *graph = package ? mw_coreml_graph(model->coreml, err) : model->graph;
    mw__arena_init(&s.arena, model->allocator);
    mw__map_init(&s.values, model->allocator);
    mw_status status = fill_starts(&s, model, err);
    mw_write_options own = *options;
    own.description = own.description != NULL ? own.description : model->description;
    own.bake = start_of;
    own.bake_user = &s;
    if (status == MW_OK)
        status = mw__model_file_write(graph, path, &own, err);
    mw__map_deinit(&s.values);
    mw__arena_deinit(&s.arena);
    return status;
}

mw_status mw_model_write(const mw_model *model, const char *path, const mw_write_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    const mw_write_options defaults = mw_write_defaults();
    options = options != NULL ? options : &defaults;
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__live_check(model, MW__LIVE_MODEL, __func__, err));
    if (path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_model_write: there is no path");
    MW_TRY(mw__model_file_check(path, options, MW__USE_MODEL, __func__, err));
    return write_model(model, path, options, err);
}
