#include "support/metered.h"

#include <stdlib.h>

static void *resize(void *user, void *pointer, size_t size)
{
    metered_bytes *bytes = user;
    size_t *block = pointer != NULL ? (size_t *)pointer - 2 : NULL;
    const size_t before = block != NULL ? *block : 0;
    if (size == 0) {
        bytes->now -= before;
        free(block);
        return NULL;
    }
    block = realloc(block, size + 2 * sizeof *block);
    if (block == NULL)
        return NULL;
    *block = size;
    bytes->now += size - before;
    bytes->most = bytes->now > bytes->most ? bytes->now : bytes->most;
    return block + 2;
}

mw_allocator metered_allocator(metered_bytes *bytes) { return (mw_allocator){.resize = resize, .user = bytes}; }
