/* The text that is compiled, and the folder that its weights are in. */
#ifndef MW__ENGINE_COMPILE_SOURCE_SOURCE_H
#define MW__ENGINE_COMPILE_SOURCE_SOURCE_H

#include "base/memory/alloc.h"

typedef struct mw__source {
    const mw_allocator *allocator; /* outlives it */
    char *text;                    /* with a NUL behind it */
    size_t size;
    char *folder;
} mw__source;

/* `path`: a model.mil, or its folder. After a failure there is nothing to deinitialize. */
mw_status mw__source_read(mw__source *source, const mw_allocator *allocator, const char *path, mw_error *err);
void mw__source_deinit(mw__source *source);

#endif
