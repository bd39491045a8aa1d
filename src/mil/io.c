/* The public calls: read, parse, write and print a program. */
#include "mil/io.h"
#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "mil/folder.h"
#include "mil/text/print.h"
#include "mil/write_use.h"
#include <stdio.h>
#include <string.h>

/* No model.mil comes near this; it bounds what a hostile path can make us read. */
#define TEXT_MAX ((size_t)1 << 30)

mw_write_options mw_write_defaults(void) { return (mw_write_options){.struct_size = sizeof(mw_write_options)}; }

/* ---- reading ---- */

mw_graph *mw_graph_parse_mil(const char *text, size_t size, const char *folder, const mw_graph_options *options,
                             mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (text == NULL && size > 0) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_parse_mil: the text is NULL");
        return NULL;
    }
    if (size > PTRDIFF_MAX) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_parse_mil: a text of %zu bytes; at most %td", size,
                 (ptrdiff_t)PTRDIFF_MAX);
        return NULL;
    }
    mw_graph *graph = mw_graph_create(options, err);
    if (graph == NULL)
        return NULL;
    mw_status status = mw__mil_parse(graph, text != NULL ? text : "", size, err);
    if (status == MW_OK && folder != NULL)
        status = mw__mil_load_blobs(graph, folder, false, err);
    if (status == MW_OK)
        return graph;
    mw__graph_free(graph);
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

/* The text stays open while its weights are read: so long no other file has its identity. */
static mw_graph *read_once(const mw_allocator *allocator, const char *path, const char *folder,
                           const mw_graph_options *options, bool *out_replaced, mw_error *err)
{
    mw__file file;
    char *text = NULL;
    mw_graph *graph = NULL;
    *out_replaced = false;
    if (mw__file_open(&file, path, err) != MW_OK)
        return NULL;
    if (mw__file_read_open(allocator, &file, path, TEXT_MAX, &text, err) == MW_OK)
        graph = mw_graph_parse_mil(text, (size_t)file.size, folder, options, err);
    *out_replaced = graph == NULL && !mw__file_is_at(&file, path);
    mw__free(allocator, text);
    mw__file_close(&file);
    return graph;
}

/* The parser does not know which file it reads. */
static void name_file(const char *path, mw_error *reason)
{
    const mw_error unnamed = *reason;
    if (reason->text_line == 0)
        return;
    mw_error_clear(reason);
    mw__fail(reason, unnamed.status, "\"%.200s\", %s", path, unnamed.message);
    mw__error_subject(reason, unnamed.operation, unnamed.tensor);
    mw__error_position(reason, unnamed.text_line, unnamed.text_column);
    reason->file = unnamed.file;
    reason->line = unnamed.line;
}

/* A model that is replaced while it is read loses the weights of the old text, which are never others: then the new
 * one is read. */
static mw_graph *read_current(const mw_allocator *allocator, const char *path, const char *folder,
                              const mw_graph_options *options, mw_error *err)
{
    enum { ATTEMPTS = 100 }; /* each needs another save by another process in between */
    mw_error reason = {0};
    mw_graph *graph = NULL;
    bool replaced = true;
    for (int i = 0; i < ATTEMPTS && graph == NULL && replaced; i++) {
        reason = (mw_error){0};
        graph = read_once(allocator, path, folder, options, &replaced, &reason);
    }
    if (graph == NULL)
        name_file(path, &reason);
    if (graph == NULL && err != NULL)
        *err = reason;
    return graph;
}

mw_graph *mw_graph_open_mil(const char *path, const mw_graph_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (path == NULL || (options != NULL && options->struct_size != sizeof *options)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s",
                 path == NULL ? "path is NULL" : "the graph options were not made by mw_graph_defaults");
        return NULL;
    }
    const mw_allocator *allocator = mw__allocator_or_default(options != NULL ? options->allocator : NULL);
    char *folder = folder_of(allocator, path, err);
    mw_graph *graph = folder != NULL ? read_current(allocator, path, folder, options, err) : NULL;
    mw__free(allocator, folder);
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

mw_status mw__mil_print(const mw_graph *graph, const mw_write_options *options, mw__text *out, mw__names *names,
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

mw_status mw__mil_write(const mw_graph *graph, const char *folder, const mw_write_options *options, mw__write_mode mode,
                        mw__names *names, mw_error *err)
{
    written output;
    const bool durable = mode == MW__WRITE_DURABLE;
    if (mw__failed(err))
        return err->status;
    output_init(&output, graph->allocator);
    output.blobs.folder = mode == MW__WRITE_PRIVATE ? folder : NULL;
    mw_status status = mw__print_program(graph, options, true, &output.text, names, &output.blobs, &output.arena, err);
    if (status == MW_OK) {
        status = mw__mil_write_folder(graph->allocator, folder, &output.text, &output.blobs, durable, err);
        if (status != MW_OK && names != NULL)
            mw__names_deinit(names);
    }
    output_deinit(&output);
    return status;
}

char *mw_graph_print_mil(const mw_graph *graph, const mw_write_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "graph is NULL");
        return NULL;
    }
    const mw_write_options defaults = mw_write_defaults();
    options = options != NULL ? options : &defaults;
    if (mw_graph_check(graph, err) != MW_OK ||
        mw__write_use_check(options, MW__USE_TEXT | MW__USE_GRAPH, __func__, NULL, err) != MW_OK)
        return NULL;
    mw__text text;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    mw__graph_hold(graph);
    if (mw__graph_drop(graph, __func__, mw__mil_print(graph, options, &text, NULL, err), err) == MW_OK)
        return text.data;
    mw__text_deinit(&text);
    return NULL;
}
