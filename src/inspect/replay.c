/* A refused step from its folder (trainer/trainer_replay.c writes it): read, compile, feed, run, look. */
#include <millwright/replay.h>

#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "format/tensors/safetensors.h"
#include "runtime/program/program_object.h"
#include "runtime/trainer/step/trainer_replay.h"

#include <millwright/mil.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 28)

typedef struct replay {
    const mw_allocator *allocator;
    const char *folder;
    mw_graph *graph;
    mw_program *program;
    char *operations;
    mw__text path;
    mw_replay_result *out;
} replay;

static mw_status path_to(replay *r, const char *name, mw_error *err)
{
    r->path.size = 0;
    mw__text_printf(&r->path, "%s/%s", r->folder, name);
    return mw__text_check(&r->path, err);
}

static mw_status no_replay(const replay *r, const char *why, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "mw_replay_run: \"%.300s\" is no folder of a refused step: %s", r->folder,
                    why);
}

/* ---- reading ---- */

static mw_status read_operations(replay *r, mw_error *err)
{
    size_t size;
    MW_TRY(path_to(r, MW__REPLAY_OPERATIONS, err));
    MW_TRY(mw__file_read(r->allocator, r->path.data, TEXT_MAX, &r->operations, &size, err));
    if (strncmp(r->operations, MW__REPLAY_HEADER, strlen(MW__REPLAY_HEADER)) != 0 || strlen(r->operations) != size)
        return no_replay(r, MW__REPLAY_OPERATIONS " does not begin as one", err);
    return MW_OK;
}

static mw_status compile_replay(replay *r, const mw_compile_options *given, mw_error *err)
{
    mw_compile_options options = given != NULL ? *given : mw_compile_defaults();
    options.keep_folder = NULL;
    options.share = (mw_share){0}; /* what is fed would be written into the memory of others */
    options.function = NULL;
    MW_TRY(path_to(r, "model.mil", err));
    r->graph = mw_graph_open_mil(r->path.data, NULL, err);
    r->program = r->graph != NULL ? mw_program_create(r->graph, &options, err) : NULL;
    return r->program != NULL ? MW_OK : mw__status_or(err, MW_ERROR_FORMAT);
}

static mw_status feed_tensor(replay *r, const mw__safetensors *file, size_t index, void *data, mw_error *err)
{
    const mw__safetensors_tensor *tensor = &file->tensors[index];
    const size_t bits = (size_t)mw_dtype_bits(tensor->dtype);
    if (mw__program_find(r->program, tensor->name) >= r->program->input_count)
        return MW_OK; /* nothing reads it on this device */
    return mw_program_write(r->program, tensor->name, tensor->dtype, data, bits > 0 ? tensor->size * 8 / bits : 0, err);
}

static mw_status feed_all(replay *r, const mw__safetensors *file, mw_error *err)
{
    void **data = mw__alloc(r->allocator, file->count, sizeof *data, err);
    mw_status status = data != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; status == MW_OK && i < file->count; i++) {
        data[i] = mw__alloc(r->allocator, file->tensors[i].size, 1, err);
        status = data[i] != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    if (status == MW_OK)
        status = mw__safetensors_read_all(file, data, err);
    for (size_t i = 0; status == MW_OK && i < file->count; i++)
        status = feed_tensor(r, file, i, data[i], err);
    for (size_t i = 0; data != NULL && i < file->count; i++)
        mw__free(r->allocator, data[i]);
    mw__free(r->allocator, data);
    return status;
}

static mw_status feed(replay *r, mw_error *err)
{
    mw__safetensors file;
    MW_TRY(path_to(r, MW__REPLAY_INPUTS, err));
    MW_TRY(mw__safetensors_open(&file, r->allocator, r->path.data, err));
    const char *step = mw__safetensors_metadata(&file, "mw.step");
    mw_status status = step == NULL || !mw__number_read_i64(step, strlen(step), &r->out->step)
                           ? no_replay(r, MW__REPLAY_INPUTS " has no step", err)
                           : feed_all(r, &file, err);
    mw__safetensors_close(&file);
    return status;
}

/* ---- looking ---- */

/* Line `index` of the operations, as its three parts. */
static bool describe_result(const replay *r, size_t index, mw_replay_result *out)
{
    const char *line = r->operations + strlen(MW__REPLAY_HEADER);
    for (; index > 0 && line != NULL; index--)
        line = (line = strchr(line, '\n')) != NULL ? line + 1 : NULL;
    const char *end = line != NULL ? strchr(line, '\n') : NULL;
    const char *tab = end != NULL ? memchr(line, '\t', (size_t)(end - line)) : NULL;
    const char *second = tab != NULL ? memchr(tab + 1, '\t', (size_t)(end - tab - 1)) : NULL;
    if (second == NULL)
        return false;
    snprintf(out->operation, sizeof out->operation, "%.*s", (int)(tab - line), line);
    snprintf(out->tensor, sizeof out->tensor, "%.*s", (int)(second - tab - 1), tab + 1);
    mw__printable_printf(out->text, sizeof out->text, "%.*s", (int)(end - second - 1), second + 1);
    return true;
}

static void look_at(replay *r, const float *good, size_t count)
{
    mw_replay_result *out = r->out;
    for (size_t i = 0; i < count; i++) {
        if (good[i] == 1.0f)
            continue;
        if (out->non_finite++ == 0)
            out->first = out->values + i;
    }
    out->values += count;
}

/* Outputs are in the order in which they were written. */
static mw_status look(replay *r, mw_error *err)
{
    for (size_t i = r->program->input_count; i < r->program->port_count; i++) {
        const mw_port *port = &r->program->ports[i];
        const size_t count = (size_t)mw_shape_count(port->shape);
        float *good = mw__alloc(r->allocator, count, sizeof *good, err);
        if (good == NULL)
            return MW_ERROR_MEMORY;
        const mw_status status = mw_program_read(r->program, port->name, MW_F32, good, count, err);
        if (status == MW_OK)
            look_at(r, good, count);
        mw__free(r->allocator, good);
        if (status != MW_OK)
            return status;
    }
    if (r->out->non_finite > 0 && !describe_result(r, r->out->first, r->out))
        return no_replay(r, MW__REPLAY_OPERATIONS " has too few lines", err);
    return MW_OK;
}

static mw_status run_replay(replay *r, const mw_compile_options *options, mw_error *err)
{
    MW_TRY(read_operations(r, err));
    MW_TRY(compile_replay(r, options, err));
    MW_TRY(feed(r, err));
    MW_TRY(mw_program_run(r->program, err));
    return look(r, err);
}

mw_status mw_replay_run(const char *folder, const mw_compile_options *options, mw_replay_result *out, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_replay_result unwanted;
    mw_error own = {0}, *said = err != NULL ? err : &own;
    out = out != NULL ? out : &unwanted;
    *out = (mw_replay_result){0};
    if (mw__skips(said))
        return said->status;
    if (folder == NULL || folder[0] == '\0')
        return mw__fail(said, MW_ERROR_ARGUMENT, "mw_replay_run: no folder");
    replay r = {.folder = folder, .out = out};
    r.allocator = mw__allocator_or_default(options != NULL ? options->allocator : NULL);
    mw__text_init(&r.path, r.allocator);
    const mw_status status = run_replay(&r, options, said);
    mw_program_destroy(r.program);
    mw_graph_destroy(r.graph);
    mw__free(r.allocator, r.operations);
    mw__text_deinit(&r.path);
    if (status != MW_OK)
        *out = (mw_replay_result){0};
    return status;
}
