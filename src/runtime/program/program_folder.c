/* Private folders of programs. */
#include "runtime/program/program_folder.h"

#include "base/memory/checked.h"

#include <string.h>

char *mw__path_join(const mw_allocator *allocator, const char *folder, const char *name, mw_error *err)
{
    const size_t length = strlen(folder), tail = strlen(name);
    char *path = mw__alloc(allocator, length + tail + 2, 1, err);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, tail);
    return path;
}

/* The weights are one level down. */
void mw__program_folder_remove(mw__program_folder *folder, const mw_allocator *allocator)
{
    if (folder->weights != NULL)
        mw__file_remove_folder(folder->weights);
    mw__private_folder_remove(&folder->top, allocator);
    mw__free(allocator, folder->weights);
    folder->weights = NULL;
}

/* Bytes of the text, about, and of the weights. */
static size_t folder_size(const mw_graph *graph)
{
    size_t size = (size_t)1 << 16;
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i]->payload != NULL && !mw__add_size(size, graph->values[i]->payload->size, &size))
            return SIZE_MAX;
    return size;
}

mw_status mw__program_folder_make(mw__program_folder *folder, const mw_allocator *allocator, const mw_graph *graph,
                                  mw_error *err)
{
    MW_TRY(mw__private_folder_make(&folder->top, allocator, folder_size(graph), err));
    folder->weights = mw__path_join(allocator, folder->top.path, "weights", err);
    return folder->weights != NULL ? MW_OK : MW_ERROR_MEMORY;
}
