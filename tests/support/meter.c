/* Each block has its size in front. */
#include "support/meter.h"

#include <stdlib.h>

void *meter_resize(void *user, void *pointer, size_t size)
{
    meter *m = user;
    size_t *block = pointer != NULL ? (size_t *)pointer - 2 : NULL;
    const size_t before = block != NULL ? block[0] : 0;
    if (size == 0) {
        m->held -= before;
        free(block);
        return NULL;
    }
    block = realloc(block, size + 2 * sizeof *block);
    if (block == NULL)
        return NULL;
    block[0] = size;
    m->held += size - before;
    m->most = m->held > m->most ? m->held : m->most;
    return block + 2;
}
