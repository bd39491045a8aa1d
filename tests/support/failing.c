/* The counting and failing allocator of failing.h, over the C library's heap. */
#include "support/failing.h"

#include <stdlib.h>

static void *failing_resize(void *user, void *pointer, size_t size)
{
    failing_allocator *failing = user;
    if (size == 0) {
        failing->live -= pointer != NULL;
        free(pointer);
        return NULL;
    }
    long request = failing->requests++;
    if (failing->fail_at >= 0 && (request == failing->fail_at || (failing->and_after && request > failing->fail_at))) {
        failing->failed = true;
        return NULL;
    }
    void *grown = realloc(pointer, size);
    failing->live += pointer == NULL && grown != NULL;
    return grown;
}

mw_allocator failing_allocator_of(failing_allocator *failing)
{
    return (mw_allocator){.resize = failing_resize, .user = failing};
}
