/* e5rt: weights of a function that are exchanged without a compile. */
#include "base/number/float_mode.h"
#include "engine/surface/surface_options.h"
#include "mil/weights/blob.h"

#include <string.h>

/* ---- a set of them ---- */

/* Immutable, shared by the operations that are made with it. */
typedef struct mw__weights {
    mw__object object;
    mw__function_object *function; /* whose constants stand for what no file was named for */
    mw_graph *graph;               /* the memory of what was read */
    mw__buffer_object **buffers;   /* by mutable constant of the function */
} mw__weights;

static void destroy_weights(mw__object *object)
{
    mw__weights *weights = (mw__weights *)object;
    for (size_t i = 0; weights->buffers != NULL && i < weights->function->program->weights.count; i++)
        mw__object_release(weights->buffers[i]);
    mw__free(&object->allocator, weights->buffers);
    mw__graph_free(weights->graph);
    mw__object_release(weights->function);
}

static mw__weights *make_weights(mw__function_object *function, mw_error *err)
{
    mw__weights *weights = mw__object_create(sizeof *weights, destroy_weights, err);
    if (weights == NULL)
        return NULL;
    mw_graph_options options = mw_graph_defaults();
    options.allocator = &weights->object.allocator;
    weights->function = mw__object_retain(function);
    weights->graph = mw__graph_make(&options, err);
    weights->buffers =
        mw__alloc(&weights->object.allocator, function->program->weights.count, sizeof(mw__buffer_object *), err);
    if (weights->graph != NULL && weights->buffers != NULL)
        return weights;
    mw__object_release(weights);
    return NULL;
}

/* The memory belongs to the set, which the operation keeps as long as its buffers. */
static mw_status set_buffer(mw__weights *weights, size_t index, const mw__payload *payload, mw_error *err)
{
    mw__buffer_object *buffer = mw__object_create(sizeof *buffer, NULL, err);
    if (buffer == NULL)
        return MW_ERROR_MEMORY;
    buffer->data = (void *)(uintptr_t)payload->data; /* of an input, which nothing writes */
    buffer->size = payload->size;
    mw__object_release(weights->buffers[index]);
    weights->buffers[index] = buffer;
    return MW_OK;
}

/* ---- reading ---- */

static mw_status read_entry(mw__weights *weights, mw__blob_file *file, const char *path, size_t index, mw_error *err)
{
    const mw__payload *there = weights->function->program->weights.payload[index];
    mw__payload *payload = mw__arena_alloc(&weights->graph->arena, 1, sizeof *payload, err);
    if (payload == NULL)
        return MW_ERROR_MEMORY;
    *payload = (mw__payload){.type = there->type, .blob_offset = there->blob_offset};
    MW_TRY(mw__blob_read(file, path, weights->graph, payload, err));
    return set_buffer(weights, index, payload, err);
}

/* Entries have the offsets that the text names. */
static mw_status read_file(mw__weights *weights, const char *path, const char *from, mw_error *err)
{
    const mw__open_weights *open = &weights->function->program->weights;
    bool found = false;
    mw__blob_file file = {0};
    MW_TRY(mw__file_open(&file.file, from, err));
    file.budget = file.file.size;
    mw_status status = MW_OK;
    for (size_t i = 0; i < open->count && status == MW_OK; i++) {
        if (strcmp(open->payload[i]->blob_path, path) != 0)
            continue;
        found = true;
        status = read_entry(weights, &file, from, i, err);
    }
    mw__file_close(&file.file);
    if (status == MW_OK && !found)
        return mw__fail(err, MW_ERROR_ARGUMENT, "function \"%s\" was compiled with no mutable weight in \"%.100s\"",
                        weights->function->program->name, path);
    return status;
}

static mw_status read_files(mw__weights *weights, const char *const *paths, const char *const *files, uint64_t count,
                            mw_error *err)
{
    const mw__open_weights *open = &weights->function->program->weights;
    for (size_t i = 0; i < open->count; i++)
        MW_TRY(set_buffer(weights, i, open->payload[i], err));
    for (uint64_t i = 0; i < count; i++) {
        MW_TRY(mw__surface_text(paths[i], "a path", err));
        MW_TRY(mw__surface_text(files[i], "a file", err));
        MW_TRY(read_file(weights, paths[i], files[i], err));
    }
    return MW_OK;
}

static mw_status set_weights(mw__operation_options *options, const char *const *paths, const char *const *files,
                             uint64_t count, mw_error *err)
{
    if ((paths == NULL || files == NULL) && count > 0)
        return mw__surface_text(NULL, paths == NULL ? "paths" : "files", err);
    mw__weights *weights = make_weights(options->function, err);
    if (weights == NULL)
        return err->status;
    if (read_files(weights, paths, files, count, err) != MW_OK) {
        mw__object_release(weights);
        return err->status;
    }
    mw__object_release(options->weights);
    options->weights = weights;
    return MW_OK;
}

e5rt_error_code e5rt_mw_precompiled_compute_op_create_options_set_mutable_weights(void *handle,
                                                                                  const char *const *paths,
                                                                                  const char *const *files,
                                                                                  uint64_t count)
{
    MW__FLOAT_SCOPE;
    mw_error *err = mw__surface_begin();
    mw__operation_options *options = mw__surface_get(handle, MW__KIND_OPERATION_OPTIONS, "options", err);
    if (options != NULL)
        set_weights(options, paths, files, count, err);
    return mw__surface_end(err);
}

/* ---- an operation's ---- */

mw_status mw__surface_weights_bind(mw__operation *operation, mw__weights *weights, mw_error *err)
{
    const mw__program *program = operation->function->program;
    if (program->weights.count == 0)
        return MW_OK;
    if (weights == NULL) {
        weights = operation->weights = make_weights(operation->function, err);
        if (weights == NULL || read_files(weights, NULL, NULL, 0, err) != MW_OK)
            return err->status;
    } else
        operation->weights = mw__object_retain(weights);
    for (size_t i = 0; i < program->weights.count; i++)
        operation->inputs[mw__input_ports(program) + i] = mw__object_retain(weights->buffers[i]);
    return MW_OK;
}
