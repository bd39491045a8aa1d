/* The netplist reader against any bytes: it makes a graph that holds together, or says why not; and what it made is
 * written again, or refused. Weights are the file "w" beside it. */
#include "fuzz/replay.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void remove_all(void)
{
    static const char *const names[] = {"net", "w", "out", "out.weights.0", "out.weights.1"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void put_bytes(const char *name, const void *data, size_t size)
{
    char path[128];
    if (folder[0] == '\0') {
        strcpy(folder, "/tmp/mw-fuzz-XXXXXX");
        if (mkdtemp(folder) == NULL)
            abort();
        atexit(remove_all);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void write_again(const mw_graph *graph)
{
    char path[128];
    mw_error err = {0};
    mw_netplist_options options = mw_netplist_defaults();
    options.as_it_is = true;
    snprintf(path, sizeof path, "%s/out", folder);
    if (mw_graph_write_netplist(graph, path, &options, &err) != MW_OK) {
        if (err.message[0] == '\0')
            abort();
        return;
    }
    mw_graph *again = mw_graph_open_netplist(path, NULL, &err);
    if (again == NULL)
        abort();
    mw_graph_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    mw_error err = {0};
    static const char weights[256] = {0, 60, 0, 64};
    put_bytes("w", weights, sizeof weights);
    put_bytes("net", data, size);
    snprintf(path, sizeof path, "%s/net", folder);
    mw_graph *graph = mw_graph_open_netplist(path, NULL, &err);
    if ((graph == NULL) == (err.status == MW_OK) || (graph == NULL && err.message[0] == '\0'))
        abort();
    if (graph != NULL && mw_graph_check(graph, &err) != MW_OK)
        abort();
    if (graph != NULL)
        write_again(graph);
    mw_graph_destroy(graph);
    return 0;
}
