/* The call that reads a netplist: the file, its procedures as functions. */
#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "chip/netplist/netplist.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 1 << 26 };

static mw_status answer_problems(const mw__net_reader *r)
{
    if (r->problems == 0)
        return MW_OK;
    return mw__fail(r->err, MW_ERROR_UNSUPPORTED, "\"%.96s\": %zu units cannot be read: %s%s%s%s%s%s", r->path,
                    r->problems, r->first[0], r->problems > 1 ? "; " : "", r->first[1], r->problems > 2 ? "; " : "",
                    r->first[2], r->problems > 3 ? " .." : "");
}

void mw__net_cannot_read(mw__net_reader *r, const mw__net_unit *unit, const char *reason)
{
    const mw_netplist_problem problem = {.name = unit->name, .operation = unit->type, .reason = reason};
    if (r->problems < sizeof r->first / sizeof *r->first)
        snprintf(r->first[r->problems], sizeof *r->first, "%.60s \"%.60s\": %.100s", unit->type, unit->name, reason);
    r->problems++;
    if (r->options->report != NULL)
        r->options->report(r->options->report_user, &problem);
}

/* ---- functions ---- */

/* Names of ports, and shared constants, belong to one function: the graph keeps those of main. */
static mw_status read_function(mw__net_reader *r, plist_t procedure, const char *name)
{
    mw_graph *graph = r->graph;
    const bool main = strcmp(name, "main") == 0;
    const mw__map names = graph->names, constants = graph->constants;
    mw__function *function = mw__function_create(graph, name, MW_IOS18, r->err);
    if (function == NULL)
        return r->err->status;
    graph->current = function;
    graph->block = function->body;
    mw__map_init(&graph->names, graph->allocator);
    mw__map_init(&graph->constants, graph->allocator);
    mw__map_init(&r->symbols, r->allocator);
    const mw_status status = mw__net_read_network(r, procedure);
    mw__map_deinit(&r->symbols);
    mw__map dead = main ? names : graph->names;
    mw__map_deinit(&dead);
    mw__map_deinit(&graph->constants);
    graph->names = main ? graph->names : names;
    graph->constants = constants;
    return status;
}

/* The older version has no procedures: each network lists its own Inputs and Outputs. */
static mw_status check_root(mw__net_reader *r, size_t *procedures)
{
    size_t networks;
    const char *version = mw__net_string(r->root, "Version");
    const bool older = version != NULL && strcmp(version, "1.0.9") == 0;
    if (version == NULL || (!older && strcmp(version, "1.0.10") != 0))
        return mw__fail(r->err, version == NULL ? MW_ERROR_FORMAT : MW_ERROR_UNSUPPORTED,
                        "\"%.96s\": Version is \"%.32s\", not 1.0.10 or 1.0.9", r->path,
                        version != NULL ? version : "absent");
    mw__net_list(r->root, "Networks", &networks);
    *procedures = 0;
    if (older && networks > 0)
        return MW_OK;
    if (mw__net_list(r->root, "ProcedureList", procedures) == NULL || *procedures == 0 || networks == 0)
        return mw__fail(r->err, MW_ERROR_FORMAT, "\"%.96s\": there are %zu Networks, and %zu in the ProcedureList",
                        r->path, networks, *procedures);
    return MW_OK;
}

static mw_status read_procedures(mw__net_reader *r)
{
    size_t count;
    MW_TRY(check_root(r, &count));
    const bool older = count == 0;
    plist_t list = mw__net_list(r->root, older ? "Networks" : "ProcedureList", &count);
    for (size_t i = 0; i < count; i++) {
        plist_t procedure = older ? NULL : plist_array_get_item(list, (uint32_t)i);
        const char *own = older ? mw__net_string_at(list, i) : mw__net_string(procedure, "Name");
        if (own == NULL)
            return mw__fail(r->err, MW_ERROR_FORMAT, "\"%.96s\": procedure %zu has no Name", r->path, i);
        r->network = older ? mw__net_dict(r->root, own) : NULL;
        MW_TRY(read_function(r, procedure, count == 1 ? "main" : own));
    }
    mw__function *first = mw__graph_main(r->graph);
    r->graph->current = first != NULL ? first : r->graph->functions[0];
    r->graph->block = r->graph->current->body;
    return answer_problems(r);
}

/* ---- the file ---- */

static mw_status read_file(mw__net_reader *r)
{
    char *data = NULL;
    size_t size = 0;
    MW_TRY(mw__file_read(r->allocator, r->path, FILE_MAX, &data, &size, r->err));
    mw_status status = mw__net_scan(data, size, r->err);
    if (status == MW_OK)
        plist_from_xml(data, (uint32_t)size, &r->root);
    mw__free(r->allocator, data);
    if (status == MW_OK && (r->root == NULL || plist_get_node_type(r->root) != PLIST_DICT))
        status = mw__fail(r->err, MW_ERROR_FORMAT, "\"%.96s\" is no property list with a dictionary", r->path);
    return status;
}

static mw_status find_folder(mw__net_reader *r)
{
    const char *slash = strrchr(r->path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - r->path) + 1 : 1;
    r->folder = mw__arena_string(&r->arena, slash != NULL ? r->path : ".", length, r->err);
    return r->folder != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_graph *read_graph(mw__net_reader *r)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = r->options->allocator;
    mw_status status = find_folder(r);
    if (status == MW_OK)
        status = read_file(r);
    if (status == MW_OK && (r->graph = mw__graph_make(&options, r->err)) == NULL)
        status = r->err->status;
    if (status == MW_OK)
        status = read_procedures(r);
    if (status == MW_OK && (status = mw_graph_check(r->graph, r->err)) == MW_OK)
        status = mw_graph_verify(r->graph, r->err);
    plist_free(r->root);
    if (status == MW_OK)
        return mw__graph_publish(r->graph, r->err);
    mw__graph_free(r->graph);
    return NULL;
}

mw_graph *mw_graph_open_netplist(const char *path, const mw_netplist_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    const mw_netplist_options standard = mw_netplist_defaults();
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    options = options != NULL ? options : &standard;
    if (path == NULL || options->struct_size != sizeof *options) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_open_netplist: %s",
                 path == NULL ? "the path is NULL" : "the options were not made by mw_netplist_defaults");
        return NULL;
    }
    mw__net_reader r = {.path = path, .options = options, .err = err};
    r.allocator = mw__allocator_or_default(options->allocator);
    mw__arena_init(&r.arena, r.allocator);
    mw__map_init(&r.weight_files, r.allocator);
    mw_graph *graph = read_graph(&r);
    mw__map_deinit(&r.weight_files);
    mw__arena_deinit(&r.arena);
    return graph;
}
