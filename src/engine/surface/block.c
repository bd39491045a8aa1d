/* The layout is that of Clang's "Block Implementation Specification". macOS has the functions; elsewhere a copy is made
 * here, so that no run-time library of blocks is needed: its helpers copy and drop what was captured. */
#include "engine/surface/block.h"

#include "base/text/error.h"

#include <string.h>

typedef struct descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from); /* these two only with HAS_HELPERS */
    void (*dispose)(const void *block);
} descriptor;

typedef struct literal {
    void *isa;
    int flags, reserved;
    void (*invoke)(void);
    const descriptor *about;
} literal;

typedef void invoke_function(void *block, uint64_t stream, uint64_t request, int status);

static mw_status check_literal(const literal *block, mw_error *err)
{
    const unsigned long most = 1 << 20; /* what is captured is copied into the block */
    if (block->invoke == NULL || block->about == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the completion is no block");
    if (block->about->size < sizeof *block || block->about->size > most)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "Invalid Function Argument: the completion is no block: its descriptor says %lu bytes",
                        block->about->size);
    return MW_OK;
}

#if defined(__APPLE__)

void *_Block_copy(const void *block);
void _Block_release(const void *block);

void *mw__objc_block_copy(const void *block, const mw_allocator *allocator, mw_error *err)
{
    (void)allocator;
    if (check_literal(block, err) != MW_OK)
        return NULL;
    void *copy = _Block_copy(block);
    if (copy == NULL)
        mw__fail(err, MW_ERROR_MEMORY, "the block cannot be copied");
    return copy;
}

static literal *literal_of(void *copy) { return copy; }

void mw__objc_block_release(void *copy) { _Block_release(copy); }

#else

enum { HAS_HELPERS = 1 << 25, NEEDS_FREE = 1 << 24, COUNT_MASK = 0xffff };

/* On the heap, behind what is needed to free it. To the helpers it is a block on the stack: whoever copied it would get
 * another. */
typedef struct held {
    mw_allocator allocator;
    _Alignas(16) unsigned char bytes[];
} held;

static literal *literal_of(void *copy) { return (literal *)(void *)((held *)copy)->bytes; }

void *mw__objc_block_copy(const void *block, const mw_allocator *allocator, mw_error *err)
{
    const literal *from = block;
    if (check_literal(from, err) != MW_OK)
        return NULL;
    held *copy = mw__alloc(allocator, 1, sizeof *copy + from->about->size, err);
    if (copy == NULL)
        return NULL;
    copy->allocator = *allocator;
    memcpy(copy->bytes, block, from->about->size);
    literal *to = literal_of(copy);
    to->flags &= ~(NEEDS_FREE | COUNT_MASK);
    if ((from->flags & HAS_HELPERS) != 0)
        from->about->copy(to, from);
    return copy;
}

void mw__objc_block_release(void *pointer)
{
    held *copy = pointer;
    const literal *block = literal_of(copy);
    if ((block->flags & HAS_HELPERS) != 0)
        block->about->dispose(block);
    const mw_allocator allocator = copy->allocator;
    mw__free(&allocator, copy);
}

#endif

void mw__objc_block_call(void *copy, uint64_t stream, uint64_t request, int status)
{
    literal *block = literal_of(copy);
    ((invoke_function *)block->invoke)(block, stream, request, status);
}
