/* The reader of Core ML's models against any bytes as model.mlmodel: it refuses with a status, or reads a program that
 * prints, and a description that prints. */
#include "fuzz/replay.h"

#include <millwright/coreml.h>
#include <millwright/mil.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char manifest[] = "{\"fileFormatVersion\":\"1.0.0\",\"itemInfoEntries\":{\"a\":{\"path\":\"m/model\"}},"
                               "\"rootModelIdentifier\":\"a\"}";

static void put(const char *folder, const char *name, const void *data, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static char made[64];

static void clean(void)
{
    static const char *const names[] = {"Data/m/model", "Manifest.json", "Data/m", "Data", ""};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", made, names[i]);
        remove(path);
    }
}

/* One package for all runs, removed at the end. */
static const char *package(void)
{
    char path[128];
    if (made[0] != '\0')
        return made;
    memcpy(made, "/tmp/mw-fuzz-XXXXXX", sizeof "/tmp/mw-fuzz-XXXXXX");
    if (mkdtemp(made) == NULL || atexit(clean) != 0)
        abort();
    snprintf(path, sizeof path, "%s/Data", made);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/Data/m", made);
    mkdir(path, 0700);
    put(made, "Manifest.json", manifest, sizeof manifest - 1);
    return made;
}

static void look_at(const mw_coreml *model)
{
    mw_error err = {0};
    const mw_graph *graph = mw_coreml_graph(model, &err);
    mw_error ignored = {0};
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &ignored) : NULL;
    char *said = mw_description_print(mw_coreml_get_info(model).description, NULL);
    if (said == NULL || (graph == NULL && err.status == MW_OK))
        abort();
    mw_string_free(text);
    mw_string_free(said);
    for (size_t i = 0; i < mw_coreml_get_info(model).part_count; i++)
        look_at(mw_coreml_part(model, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    put(package(), "Data/m/model", data, size);
    mw_coreml *model = mw_coreml_open(made, NULL, &err);
    if (model == NULL && err.status == MW_OK)
        abort();
    if (model != NULL)
        look_at(model);
    mw_coreml_destroy(model);
    return 0;
}
