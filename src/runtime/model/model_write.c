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
    MW_TRY(mw__init_fill(input->init, mw_tensor_shape(input), mw_tensor_dtype(input), input->name, model->compile.seed,
                         data, err));
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
static mw_status write_model(const mw_model *model, const char *path, bool check_only, mw_error *err)
{
    starts s;
    const mw__model_file_kind kind = mw__model_file_kind_of(path);
    const mw_graph *graph =
        kind == MW__FILE_PACKAGE && model->coreml != NULL ? mw_coreml_graph(model->coreml, err) : model->graph;
    mw__arena_init(&s.arena, model->allocator);
    mw__map_init(&s.values, model->allocator);
    mw_status status = fill_starts(&s, model, err);
    const mw__model_file file = {.path = path,
                                 .kind = kind,
                                 .description = model->description,
                                 .bake = start_of,
                                 .user = &s,
                                 .check_only = check_only};
    if (status == MW_OK)
        status = mw__model_file_write(graph, &file, err);
    mw__map_deinit(&s.values);
    mw__arena_deinit(&s.arena);
    return status;
}

static mw_status enter_and_write(const mw_model *model, const char *path, bool check_only, const char *call,
                                 mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    MW_TRY(mw__live_check(model, MW__LIVE_MODEL, call, err));
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the path is NULL", call);
    return write_model(model, path, check_only, err);
}

mw_status mw_model_write(const mw_model *model, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    return enter_and_write(model, path, false, __func__, err);
}

mw_status mw_model_check_write(const mw_model *model, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    return enter_and_write(model, path, true, __func__, err);
}
