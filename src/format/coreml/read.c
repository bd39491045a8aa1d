/* Packages: manifest, message, text, graph. The public calls that read and ask. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "format/coreml/describe.h"
#include "format/coreml/manifest.h"
#include "format/coreml/model.h"
#include "format/coreml/text.h"
#include "format/protobuf/wire.h"
#include "graph/ir/ir.h"
#include "mil/io.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ---- */

char *mw__coreml_join(const mw_allocator *allocator, const char *folder, const char *name, mw_error *err)
{
    const size_t a = strlen(folder), b = strlen(name);
    char *path = mw__alloc(allocator, a + b + 2, 1, err);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b);
    return path;
}

mw_status mw__coreml_load(const mw_allocator *allocator, const char *root, const char *name, size_t limit, char **out,
                          size_t *out_size, mw_error *err)
{
    mw__file file;
    MW_TRY(mw__file_open_below(&file, root, name, err));
    const mw_status status = mw__file_read_open(allocator, &file, name, limit, out, err);
    *out_size = (size_t)file.size;
    mw__file_close(&file);
    return status;
}

/* ---- the object ---- */

void mw__coreml_init(mw_coreml *model, const mw_allocator *allocator)
{
    *model = (mw_coreml){.allocator = allocator, .name = "", .description = mw_description_defaults()};
    mw__arena_init(&model->arena, allocator);
}

static bool is_live(const mw_coreml *model) { return mw__live_has(model, MW__LIVE_COREML); }

void mw__coreml_deinit(mw_coreml *model)
{
    for (size_t i = 0; i < model->part_count; i++)
        mw__coreml_deinit(&model->parts[i]);
    mw__free(model->allocator, model->parts);
    mw_graph_destroy(model->graph);
    mw__arena_deinit(&model->arena);
}

/* ---- from a message ---- */

static mw_status take_program(mw_coreml *out, const pb_model *from, size_t size, const mw__coreml_source *source,
                              mw_error *err)
{
    mw__text text;
    mw__text_init(&text, out->allocator);
    mw_status status = mw__coreml_print(out->allocator, from, size, &text, err);
    if (status == MW_OK) {
        out->graph = mw_graph_parse_mil(text.data, text.size, source->folder, source->options, err);
        status = out->graph != NULL ? MW_OK : err->status;
    }
    mw__text_deinit(&text);
    return status;
}

/* As the format calls a part that has no name. */
static mw_status name_part(mw_coreml *part, const pb_pipeline *pipeline, size_t index, mw_error *err)
{
    char standard[32];
    const char *given = index < pipeline->n_names ? pipeline->names[index] : "";
    snprintf(standard, sizeof standard, "model%zu", index);
    given = given[0] != '\0' ? given : standard;
    part->name = mw__arena_string(&part->arena, given, strlen(given), err);
    return part->name != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_pipeline(mw_coreml *out, const pb_pipeline *from, size_t size, const mw__coreml_source *source,
                               mw_error *err)
{
    mw__coreml_source inner = *source;
    if (from == NULL || from->n_models == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": a pipeline without a model", source->path);
    if (inner.depth++ == MW__COREML_DEPTH || from->n_models > MW__COREML_PARTS)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": pipelines deeper than %d, or one of more than %d models",
                        source->path, MW__COREML_DEPTH, MW__COREML_PARTS);
    out->parts = mw__alloc(out->allocator, from->n_models, sizeof *out->parts, err);
    if (out->parts == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < from->n_models; i++) {
        mw_coreml *part = &out->parts[out->part_count++];
        mw__coreml_init(part, out->allocator);
        MW_TRY(name_part(part, from, i, err));
        MW_TRY(mw__coreml_take(part, from->models[i], size, &inner, err));
    }
    return MW_OK;
}

/* The field that holds the model itself: one of ours, or one that the schema here leaves out. */
static unsigned kind_of(const pb_model *from)
{
    if (from->type_case != MW__COREML__MODEL__TYPE__NOT_SET)
        return (unsigned)from->type_case;
    for (size_t i = 0; i < from->base.n_unknown_fields; i++)
        if (from->base.unknown_fields[i].tag >= MW__COREML__MODEL__TYPE_CLASSIFIER)
            return from->base.unknown_fields[i].tag;
    return 0;
}

mw_status mw__coreml_take(mw_coreml *out, const pb_model *from, size_t size, const mw__coreml_source *source,
                          mw_error *err)
{
    out->kind = kind_of(from);
    out->specification = from->version;
    MW_TRY(mw__coreml_describe(&out->arena, from->description, &out->description, err));
    switch (from->type_case) {
    case MW__COREML__MODEL__TYPE_PROGRAM:
        return take_program(out, from, size, source, err);
    case MW__COREML__MODEL__TYPE_PIPELINE:
        return take_pipeline(out, from->pipeline, size, source, err);
    case MW__COREML__MODEL__TYPE_CLASSIFIER:
        return take_pipeline(out, from->classifier->pipeline, size, source, err);
    case MW__COREML__MODEL__TYPE_REGRESSOR:
        return take_pipeline(out, from->regressor->pipeline, size, source, err);
    default:
        return MW_OK;
    }
}

/* What to do with a model that has no graph. */
static const char *coreml_cure(const mw_coreml *model)
{
    if (model->part_count > 0)
        return "; its parts may (mw_coreml_part)";
    if (strncmp(mw__coreml_kind_name(model->kind), "neuralNetwork", 13) == 0)
        return "; convert it again from its source: coremltools.convert(.., convert_to=\"mlprogram\")";
    return "";
}

/* ---- packages ---- */

static mw_status take_bytes(mw_coreml *out, const char *data, size_t size, const mw__coreml_source *source,
                            mw_error *err)
{
    mw__wire wire;
    ProtobufCMessage *message =
        mw__wire_read(&wire, out->allocator, &mw__coreml__model__descriptor, data, size, source->path, err);
    if (message == NULL)
        return err->status;
    const mw_status status = mw__coreml_take(out, (const pb_model *)message, size, source, err);
    mw__wire_free(&wire, message);
    return status;
}

/* `name` is the path of the model in the package. */
static mw_status take_file(mw_coreml *out, char *name, const mw__coreml_source *source, mw_error *err)
{
    char *data = NULL;
    size_t size = 0;
    MW_TRY(mw__coreml_load(out->allocator, source->path, name, MW__COREML_FILE_MAX, &data, &size, err));
    *strrchr(name, '/') = '\0'; /* "Data/.." has one */
    char *folder = mw__coreml_join(out->allocator, source->path, name, err);
    mw__coreml_source inner = *source;
    inner.folder = folder;
    const mw_status status = folder != NULL ? take_bytes(out, data, size, &inner, err) : MW_ERROR_MEMORY;
    mw__free(out->allocator, folder);
    mw__free(out->allocator, data);
    return status;
}

mw_status mw__coreml_read_package(mw_coreml *out, const mw__coreml_source *source, mw_error *err)
{
    enum { MANIFEST_MAX = 1 << 20 };
    char *text = NULL, *name = NULL;
    size_t size = 0;
    MW_TRY(mw__coreml_load(out->allocator, source->path, "Manifest.json", MANIFEST_MAX, &text, &size, err));
    mw_status status = mw__coreml_manifest_read(out->allocator, text, size, &name, err);
    mw__free(out->allocator, text);
    if (status == MW_OK)
        status = take_file(out, name, source, err);
    mw__free(out->allocator, name);
    return status;
}

/* ---- the calls ---- */

static bool has_file(const mw_allocator *allocator, const char *folder, const char *name, mw_error *err)
{
    struct stat status;
    char *path = mw__coreml_join(allocator, folder, name, err);
    const bool found = path != NULL && stat(path, &status) == 0;
    mw__free(allocator, path);
    return found;
}

static mw_status read_any(mw_coreml *out, const mw__coreml_source *source, mw_error *err)
{
    if (has_file(out->allocator, source->path, "Manifest.json", err))
        MW_TRY(mw__coreml_read_package(out, source, err));
    else if (has_file(out->allocator, source->path, "coremldata.bin", err))
        MW_TRY(mw__coreml_read_compiled(out, source, err));
    else
        return mw__fail(err, MW_ERROR_FILE,
                        "\"%.200s\" is no model of Core ML: it has neither Manifest.json nor coremldata.bin",
                        source->path);
    if (out->graph != NULL || out->part_count > 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "\"%.200s\" is a model of the kind %s; programs and pipelines are read%s", source->path,
                    mw__coreml_kind_name(out->kind), coreml_cure(out));
}

/* Messages that do not name the model yet. */
static void name_model(const char *path, mw_error *reason)
{
    const mw_error unnamed = *reason;
    if (strstr(unnamed.message, path) != NULL)
        return;
    mw_error_clear(reason);
    mw__fail(reason, unnamed.status, "\"%.200s\": %s", path, unnamed.message);
    mw__error_subject(reason, unnamed.operation, unnamed.tensor);
    mw__error_position(reason, unnamed.text_line, unnamed.text_column);
    reason->file = unnamed.file;
    reason->line = unnamed.line;
}

/* ---- models that users hold, and their parts ---- */

static mw_status publish(const mw_coreml *model, mw_error *err)
{
    MW_TRY(mw__live_add(model, MW__LIVE_COREML, err));
    for (size_t i = 0; i < model->part_count; i++)
        MW_TRY(publish(&model->parts[i], err));
    return MW_OK;
}

static void withdraw_parts(const mw_coreml *model)
{
    for (size_t i = 0; i < model->part_count; i++) {
        withdraw_parts(&model->parts[i]);
        if (is_live(&model->parts[i]))
            mw__live_remove(&model->parts[i], MW__LIVE_COREML, "mw_coreml_destroy");
    }
}

static void free_model(mw_coreml *model)
{
    const mw_allocator *allocator = model->allocator;
    mw__coreml_deinit(model);
    mw__free(allocator, model);
}

void mw_coreml_destroy(mw_coreml *model)
{
    if (model == NULL || !mw__live_remove(model, MW__LIVE_COREML, __func__))
        return;
    withdraw_parts(model);
    free_model(model);
}

static mw_status read_and_publish(mw_coreml *model, const mw__coreml_source *source, mw_error *err)
{
    MW_TRY(read_any(model, source, err));
    const mw_status status = publish(model, err);
    if (status == MW_OK)
        return MW_OK;
    withdraw_parts(model);
    if (is_live(model))
        mw__live_remove(model, MW__LIVE_COREML, "mw_coreml_open");
    return status;
}

mw_coreml *mw_coreml_open(const char *path, const mw_graph_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    if (mw__skips(err))
        return NULL;
    if (path == NULL || (options != NULL && options->struct_size != sizeof *options)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s",
                 path == NULL ? "path is NULL" : "the graph options were not made by mw_graph_defaults");
        return NULL;
    }
    const mw_allocator *allocator = mw__allocator_or_default(options != NULL ? options->allocator : NULL);
    const mw__coreml_source source = {.path = path, .options = options};
    mw_coreml *model = mw__alloc(allocator, 1, sizeof *model, err);
    if (model == NULL)
        return NULL;
    mw__coreml_init(model, allocator);
    if (read_and_publish(model, &source, &own) == MW_OK)
        return model;
    free_model(model);
    name_model(path, &own);
    if (err != NULL)
        *err = own;
    return NULL;
}

const mw_graph *mw_coreml_graph(const mw_coreml *model, mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    if (model == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "model is NULL"), NULL;
    if (mw__live_check(model, MW__LIVE_COREML, __func__, err) != MW_OK)
        return NULL;
    if (model->graph == NULL)
        mw__fail(err, MW_ERROR_UNSUPPORTED, "the model%s%.96s%s is of the kind %s and has no program of its own%s",
                 model->name[0] != '\0' ? " \"" : "", model->name, model->name[0] != '\0' ? "\"" : "",
                 mw__coreml_kind_name(model->kind), coreml_cure(model));
    return model->graph;
}

mw_coreml_info mw_coreml_get_info(const mw_coreml *model)
{
    if (!is_live(model))
        return (mw_coreml_info){.kind = "", .name = ""};
    return (mw_coreml_info){.description = &model->description,
                            .specification = model->specification,
                            .kind = mw__coreml_kind_name(model->kind),
                            .name = model->name,
                            .part_count = model->part_count};
}

const mw_coreml *mw_coreml_part(const mw_coreml *model, size_t index)
{
    return is_live(model) && index < model->part_count ? &model->parts[index] : NULL;
}
