/* Compiled models (.mlmodelc): the text, and coremldata.bin with the description. metadata.json says the same again for
 * people and is not read. Source: 41 files of Apple's compiler.
 *
 *     0x00  u32 field number of the kind of model; u32 version; 20 bytes 0
 *     0x1c  u64 n; n bytes ("generic"); u32 specification; 28 bytes 0
 *           u64 n; n bytes: the description as protobuf */
#include "base/text/text.h"
#include "format/coreml/describe.h"
#include "format/coreml/model.h"
#include "format/protobuf/wire.h"
#include <millwright/mil.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct reader {
    const unsigned char *data;
    size_t at, size;
    bool short_file;
} reader;

static uint64_t take_number(reader *r, size_t bytes)
{
    uint64_t value = 0;
    if (r->size - r->at < bytes) {
        r->short_file = true;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)r->data[r->at + i] << (8 * i);
    r->at += bytes;
    return value;
}

static const unsigned char *take_bytes(reader *r, uint64_t count)
{
    const unsigned char *at = r->data + r->at;
    if (count > r->size - r->at) {
        r->short_file = true;
        return at;
    }
    r->at += (size_t)count;
    return at;
}

/* Fills kind, specification and *out_description, bytes of the file. */
static mw_status read_header(mw_coreml *out, reader *r, const char *path, const unsigned char **out_description,
                             size_t *out_size, mw_error *err)
{
    out->kind = (unsigned)take_number(r, 4);
    take_bytes(r, 4 + 20);
    take_bytes(r, take_number(r, 8));
    out->specification = (int)(uint32_t)take_number(r, 4);
    take_bytes(r, 28);
    *out_size = (size_t)take_number(r, 8);
    *out_description = take_bytes(r, *out_size);
    if (r->short_file)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s/coremldata.bin\" ends within its header", path);
    return MW_OK;
}

static mw_status read_description(mw_coreml *out, const unsigned char *data, size_t size, const char *path,
                                  mw_error *err)
{
    mw__wire wire;
    ProtobufCMessage *message =
        mw__wire_read(&wire, out->allocator, &mw__coreml__description__descriptor, data, size, path, err);
    if (message == NULL)
        return err->status;
    const mw_status status = mw__coreml_describe(&out->arena, (const pb_description *)message, &out->description, err);
    mw__wire_free(&wire, message);
    return status;
}

/* The layout is known of programs alone; of other kinds only the kind is taken. */
static mw_status read_data(mw_coreml *out, const mw__coreml_source *source, mw_error *err)
{
    const unsigned char *description = NULL;
    char *data = NULL;
    size_t size = 0, described = 0;
    MW_TRY(mw__coreml_load(out->allocator, source->path, "coremldata.bin", MW__COREML_FILE_MAX, &data, &size, err));
    reader r = {.data = (const unsigned char *)data, .size = size};
    mw_status status = MW_OK;
    if (size < 4)
        status = mw__fail(err, MW_ERROR_FORMAT, "\"%.200s/coremldata.bin\" ends within its header", source->path);
    else if ((out->kind = (unsigned)take_number(&r, 4)) == MW__COREML_PROGRAM) {
        r.at = 0;
        status = read_header(out, &r, source->path, &description, &described, err);
        if (status == MW_OK)
            status = read_description(out, description, described, source->path, err);
    }
    mw__free(out->allocator, data);
    return status;
}

static mw_status read_text(mw_coreml *out, const mw__coreml_source *source, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    MW_TRY(mw__coreml_load(out->allocator, source->path, "model.mil", MW__COREML_FILE_MAX, &text, &size, err));
    out->graph = mw_graph_parse_mil(text, size, source->path, source->options, err);
    mw__free(out->allocator, text);
    return out->graph != NULL ? MW_OK : err->status;
}

/* ---- pipelines ---- */

static bool is_pipeline(unsigned kind)
{
    return kind == MW__COREML__MODEL__TYPE_PIPELINE || kind == MW__COREML__MODEL__TYPE_CLASSIFIER ||
           kind == MW__COREML__MODEL__TYPE_REGRESSOR;
}

/* Parts lie in the folders model0, model1, .. in the order in which they run. */
static mw_status count_parts(const mw__coreml_source *source, size_t *out, const mw_allocator *allocator, mw_error *err)
{
    struct stat status;
    bool found = true;
    *out = 0;
    while (found && *out <= MW__COREML_PARTS) {
        char name[32];
        snprintf(name, sizeof name, "model%zu", *out);
        char *path = mw__coreml_join(allocator, source->path, name, err);
        if (path == NULL)
            return MW_ERROR_MEMORY;
        found = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
        *out += found;
        mw__free(allocator, path);
    }
    if (*out > 0 && *out <= MW__COREML_PARTS)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is a pipeline of no models, or of more than %d", source->path,
                    MW__COREML_PARTS);
}

static mw_status read_part(mw_coreml *part, const char *name, const mw__coreml_source *source, mw_error *err)
{
    part->name = mw__arena_string(&part->arena, name, strlen(name), err);
    char *path = mw__coreml_join(part->allocator, source->path, name, err);
    mw__coreml_source inner = {.path = path, .options = source->options, .depth = source->depth + 1};
    mw_status status = MW_ERROR_MEMORY;
    if (part->name != NULL && path != NULL)
        status = mw__coreml_read_compiled(part, &inner, err);
    mw__free(part->allocator, path);
    return status;
}

static mw_status read_parts(mw_coreml *out, const mw__coreml_source *source, mw_error *err)
{
    size_t count = 0;
    if (source->depth == MW__COREML_DEPTH)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": pipelines deeper than %d", source->path, MW__COREML_DEPTH);
    MW_TRY(count_parts(source, &count, out->allocator, err));
    out->parts = mw__alloc(out->allocator, count, sizeof *out->parts, err);
    if (out->parts == NULL)
        return MW_ERROR_MEMORY;
    while (out->part_count < count) {
        char name[32];
        snprintf(name, sizeof name, "model%zu", out->part_count);
        mw_coreml *part = &out->parts[out->part_count++];
        mw__coreml_init(part, out->allocator);
        MW_TRY(read_part(part, name, source, err));
    }
    return MW_OK;
}

mw_status mw__coreml_read_compiled(mw_coreml *out, const mw__coreml_source *source, mw_error *err)
{
    MW_TRY(read_data(out, source, err));
    if (is_pipeline(out->kind))
        return read_parts(out, source, err);
    return out->kind == MW__COREML_PROGRAM ? read_text(out, source, err) : MW_OK;
}
