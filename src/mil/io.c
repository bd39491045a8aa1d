/* The public calls: read, parse, write and print a program. */
#include "base/file.h"
#include "mil/mil.h"
#include "mil/print.h"
#include <stdio.h>
#include <string.h>

/* No model.mil comes near this; it bounds what a hostile path can make us read. */
#define TEXT_MAX ((size_t)1 << 30)

mw_mil_write_options mw_mil_write_defaults(void)
{
    return (mw_mil_write_options){.struct_size = sizeof(mw_mil_write_options)};
}

/* ---- reading ---- */

mw_graph *mw_graph_parse_mil(const char *text, size_t size, const char *folder, const mw_graph_options *options,
                             mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    if (text == NULL && size > 0) {
        mw__fail(err, MW_ERROR_ARGUMENT, "text is NULL");
        return NULL;
    }
    mw_graph *graph = mw_graph_create(options);
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_MEMORY, "no graph could be created: out of memory, or zeroed options");
        return NULL;
    }
    mw_status status = mw__mil_parse(graph, text != NULL ? text : "", size, err);
    if (status == MW_OK && folder != NULL)
        status = mw__mil_load_blobs(graph, folder, err);
    if (status == MW_OK)
        return graph;
    mw_graph_destroy(graph);
    return NULL;
}

/* The folder part of a path, "." if it has none. */
static char *folder_of(const mw_allocator *allocator, const char *path, mw_error *err)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = mw__alloc(allocator, length + 1, 1, err);
    if (folder != NULL)
        memcpy(folder, slash == NULL ? "." : path, length);
    return folder;
}

mw_graph *mw_graph_read_mil(const char *path, const mw_graph_options *options, mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    if (path == NULL || (options != NULL && options->struct_size != sizeof *options)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s",
                 path == NULL ? "path is NULL" : "the graph options were not made by mw_graph_defaults");
        return NULL;
    }
    const mw_allocator *allocator = mw__allocator_or_default(options != NULL ? options->allocator : NULL);
    char *text = NULL;
    size_t size = 0;
    if (mw__file_read(allocator, path, TEXT_MAX, &text, &size, err) != MW_OK)
        return NULL;
    char *folder = folder_of(allocator, path, err);
    mw_graph *graph = folder != NULL ? mw_graph_parse_mil(text, size, folder, options, err) : NULL;
    mw__free(allocator, folder);
    mw__free(allocator, text);
    return graph;
}

/* ---- writing ---- */

/* What one print makes. */
typedef struct written {
    mw__text text;
    mw__blob_list blobs;
    mw__arena arena; /* payloads of baked parameters */
} written;

static void output_init(written *output, const mw_allocator *allocator)
{
    mw__text_init(&output->text, allocator);
    mw__blob_list_init(&output->blobs, allocator);
    mw__arena_init(&output->arena, allocator);
}

static void output_deinit(written *output)
{
    mw__text_deinit(&output->text);
    mw__blob_list_deinit(&output->blobs);
    mw__arena_deinit(&output->arena);
}

mw_status mw__mil_print(const mw_graph *graph, const mw_mil_write_options *options, mw__text *out, mw__names *names,
                        mw_error *err)
{
    written rest;
    if (mw__failed(err))
        return err->status;
    output_init(&rest, graph->allocator);
    const mw_status status = mw__print_program(graph, options, false, out, names, &rest.blobs, &rest.arena, err);
    output_deinit(&rest);
    return status;
}

static mw_status write_below(const mw_allocator *allocator, const char *folder, const char *name, const written *output,
                             bool durable, mw_error *err)
{
    const bool weights = strcmp(name, MW__WEIGHT_FILE) == 0;
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = mw__alloc(allocator, size, 1, err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    snprintf(path, size, "%s/%s", folder, name);
    const mw_status status = weights
                                 ? mw__blob_list_write(&output->blobs, path, durable, err)
                                 : mw__file_write(allocator, path, output->text.data, output->text.size, durable, err);
    mw__free(allocator, path);
    return status;
}

static mw_status make_folders(const mw_allocator *allocator, const char *folder, bool weights, mw_error *err)
{
    const size_t size = strlen(folder) + sizeof "/weights";
    char *path = mw__alloc(allocator, size, 1, err);
    if (path == NULL)
        return MW_ERROR_MEMORY;
    snprintf(path, size, "%s%s", folder, weights ? "/weights" : "");
    const mw_status status = mw__file_make_folders(path, err);
    mw__free(allocator, path);
    return status;
}

/* Weights first, so that a failure leaves no text that names missing ones. */
static mw_status write_files(const mw_allocator *allocator, const char *folder, const written *output, bool durable,
                             mw_error *err)
{
    const bool weights = output->blobs.count > 0;
    MW_TRY(make_folders(allocator, folder, weights, err));
    if (weights)
        MW_TRY(write_below(allocator, folder, MW__WEIGHT_FILE, output, durable, err));
    return write_below(allocator, folder, "model.mil", output, durable, err);
}

mw_status mw__mil_write(const mw_graph *graph, const char *folder, const mw_mil_write_options *options, bool durable,
                        mw__names *names, mw_error *err)
{
    written output;
    if (mw__failed(err))
        return err->status;
    output_init(&output, graph->allocator);
    mw_status status = mw__print_program(graph, options, true, &output.text, names, &output.blobs, &output.arena, err);
    if (status == MW_OK) {
        status = write_files(graph->allocator, folder, &output, durable, err);
        if (status != MW_OK && names != NULL)
            mw__names_deinit(names);
    }
    output_deinit(&output);
    return status;
}

mw_status mw_graph_write_mil(const mw_graph *graph, const char *folder, const mw_mil_write_options *options,
                             mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    if (graph == NULL || folder == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "graph or folder is NULL");
    return mw__mil_write(graph, folder, options, true, NULL, err);
}

char *mw_graph_print_mil(const mw_graph *graph, const mw_mil_write_options *options, mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "graph is NULL");
        return NULL;
    }
    mw__text text;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    if (mw__mil_print(graph, options, &text, NULL, err) == MW_OK)
        return text.data;
    mw__text_deinit(&text);
    return NULL;
}
