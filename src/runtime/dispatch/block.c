/* The layout is that of Clang's "Block Implementation Specification". Espresso retains the completion of a submission
 * and calls it; it takes none without a block. */
#include "runtime/dispatch/block.h"

#include "base/memory/alloc.h"

#include <stddef.h>

typedef struct descriptor {
    unsigned long reserved, size;
} descriptor;

static const descriptor about = {0, sizeof(mw__block_literal)};

/* The result is for callers that read one: success. Which arguments Espresso gives is not known for sure. */
static int64_t invoke(void *pointer, uint64_t stream, uint64_t request, int status)
{
    const mw__block_literal *block = pointer;
    (void)stream, (void)request;
#if defined(__APPLE__)
    status = 0;
#endif
    block->function(block->user, status);
    return 0;
}

#if defined(__APPLE__)

extern void *_NSConcreteGlobalBlock[], *_NSConcreteStackBlock[];
void *_Block_copy(const void *block);
void _Block_release(const void *block);

static const void *global_class(void) { return _NSConcreteGlobalBlock; }

void *mw__dispatch_callback_create(mw__block_function *function, void *user)
{
    const mw__block_literal block = {
        .isa = _NSConcreteStackBlock, .invoke = invoke, .about = &about, .function = function, .user = user};
    return _Block_copy(&block);
}

void mw__dispatch_callback_release(void *block)
{
    if (block != NULL)
        _Block_release(block);
}

#else

static const void *global_class(void) { return NULL; }

void *mw__dispatch_callback_create(mw__block_function *function, void *user)
{
    mw__block_literal *block = mw__alloc(mw__allocator_default(), 1, sizeof *block, NULL);
    if (block != NULL)
        mw__dispatch_callback_init(block, function, user);
    return block;
}

void mw__dispatch_callback_release(void *block) { mw__free(mw__allocator_default(), block); }

#endif

void mw__dispatch_callback_init(mw__block_literal *block, mw__block_function *function, void *user)
{
    const int is_global = 1 << 28; /* retaining and releasing it does nothing */
    *block = (mw__block_literal){.isa = global_class(),
                                 .flags = is_global,
                                 .invoke = invoke,
                                 .about = &about,
                                 .function = function,
                                 .user = user};
}
