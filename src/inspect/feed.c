/* What a program that is looked at is fed: a batch, a file, or numbers that are drawn. */
#include "inspect/feed.h"

#include "base/number/random.h"
#include "format/tensors/safetensors.h"
#include "runtime/program/feed.h"

#include <stdio.h>
#include <string.h>

static bool is_fed(const mw_program *program, size_t port)
{
    return port < program->input_count && !program->ports[port].is_parameter;
}

/* ---- drawn ---- */

static double draw_feed(mw__random *random, const mw__port_rule *rule)
{
    if (rule->declared == MW_F16 || rule->declared == MW_F32 || rule->declared == MW_F64)
        return ((double)mw__random_below(random, 1024) - 512.0) / 256.0;
    return (double)mw__random_below(random, rule->index_limit > 0 ? (uint64_t)rule->index_limit : 2);
}

static mw_status draw_input(mw_program *program, size_t port, uint64_t seed, mw_error *err)
{
    mw__random random = {.seed = seed, .stream = port};
    const size_t count = mw__program_elements(program, port);
    double *data = mw__alloc(program->allocator, count, sizeof *data, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        data[i] = draw_feed(&random, &program->rules[port]);
    const mw_status status = mw_program_write(program, program->ports[port].name, MW_F64, data, count, err);
    mw__free(program->allocator, data);
    return status;
}

/* ---- from a file ---- */

static mw_status read_input(mw_program *program, size_t port, const mw__safetensors *file, mw_error *err)
{
    const char *name = program->ports[port].name;
    const mw__safetensors_tensor *tensor = mw__safetensors_find(file, name);
    if (tensor == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s has nothing for input \"%s\"", file->path, name);
    void *data = mw__alloc(program->allocator, tensor->size, 1, err);
    mw_status status = data != NULL ? mw__safetensors_read(file, tensor, data, err) : MW_ERROR_MEMORY;
    if (status == MW_OK)
        status = mw_program_write(program, name, tensor->dtype, data, (size_t)mw_shape_count(tensor->shape), err);
    mw__free(program->allocator, data);
    return status;
}

static mw_status read_inputs(mw_program *program, const char *path, mw_error *err)
{
    mw__safetensors file;
    MW_TRY(mw__safetensors_open(&file, program->allocator, path, err));
    mw_status status = MW_OK;
    for (size_t i = 0; i < program->input_count && status == MW_OK; i++)
        if (is_fed(program, i))
            status = read_input(program, i, &file, err);
    mw__safetensors_close(&file);
    return status;
}

/* ---- both sides ---- */

static mw_status feed_batch(const mw__inspect_source *source, mw_program *program, mw_error *err)
{
    mw__feeder feeder = {0};
    uint64_t bytes = 0;
    MW_TRY(mw__feeder_init(&feeder, program, source->graph, NULL, NULL, err));
    return mw__feeder_feed(&feeder, source->options->batch, 0, &bytes, err);
}

mw_status mw__inspect_feed(void *user, mw_program *reference, mw_program *device, mw_error *err)
{
    const mw__inspect_source *source = user;
    const mw_compare_options *o = source->options;
    if (o->reference.share.program != NULL)
        MW_TRY(mw__compare_copy_inputs(o->reference.share.program, reference, err));
    if (o->batch != NULL)
        MW_TRY(feed_batch(source, reference, err));
    else if (o->batch_path != NULL)
        MW_TRY(read_inputs(reference, o->batch_path, err));
    for (size_t i = 0; o->batch == NULL && o->batch_path == NULL && i < reference->input_count; i++)
        if (is_fed(reference, i))
            MW_TRY(draw_input(reference, i, o->seed, err));
    return mw__compare_copy_inputs(reference, device, err);
}
