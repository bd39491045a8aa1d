/* The heap door and the arena. The only file of the library that calls the C library's heap. */
#include "base/memory/alloc.h"

#include "base/memory/checked.h"
#include "base/memory/large_pages.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

static void *heap_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static const mw_allocator heap = {.resize = heap_resize};

const mw_allocator *mw__allocator_default(void) { return &heap; }

const mw_allocator *mw__allocator_or_default(const mw_allocator *given)
{
    return given != NULL && given->resize != NULL ? given : &heap;
}

static void *out_of_memory(mw_error *err, size_t count, size_t size)
{
    mw__fail(err, MW_ERROR_MEMORY, "out of memory: %zu x %zu bytes", count, size);
    return NULL;
}

void *mw__alloc(const mw_allocator *allocator, size_t count, size_t size, mw_error *err)
{
    allocator = mw__allocator_or_default(allocator);
    size_t bytes;
    if (!mw__mul_size(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return out_of_memory(err, count, size);
    bytes += bytes == 0;
    void *pointer;
    if (allocator->resize == heap_resize) {
        pointer = calloc(1, bytes); /* large blocks come as zero pages, which are not touched */
    } else {
        pointer = allocator->resize(allocator->user, NULL, bytes);
        if (pointer != NULL)
            memset(pointer, 0, bytes);
    }
    return pointer != NULL ? pointer : out_of_memory(err, count, size);
}

void *mw__resize(const mw_allocator *allocator, void *pointer, size_t count, size_t size, mw_error *err)
{
    allocator = mw__allocator_or_default(allocator);
    size_t bytes;
    if (!mw__mul_size(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return out_of_memory(err, count, size);
    bytes += bytes == 0; /* zero would free */
    void *resized = allocator->resize(allocator->user, pointer, bytes);
    return resized != NULL ? resized : out_of_memory(err, count, size);
}

void mw__free(const mw_allocator *allocator, void *pointer)
{
    if (pointer == NULL)
        return;
    allocator = mw__allocator_or_default(allocator);
    allocator->resize(allocator->user, pointer, 0);
}

/* ---- memory that is freed late ---- */

enum { RETIRED_MAX = 1024, RETIRED_BYTES = 1 << 20 };

static struct {
    pthread_mutex_t mutex;
    struct {
        void *pointer;
        size_t size;
    } ring[RETIRED_MAX];
    size_t first, count, bytes;
} retired = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void free_oldest(void)
{
    free(retired.ring[retired.first].pointer);
    retired.bytes -= retired.ring[retired.first].size;
    retired.first = (retired.first + 1) % RETIRED_MAX;
    retired.count--;
}

void mw__retire(const mw_allocator *allocator, void *pointer, size_t size)
{
    if (pointer == NULL)
        return;
    if (mw__allocator_or_default(allocator)->resize != heap_resize || size > RETIRED_BYTES) {
        mw__free(allocator, pointer);
        return;
    }
    pthread_mutex_lock(&retired.mutex);
    while (retired.count == RETIRED_MAX || retired.bytes + size > RETIRED_BYTES)
        free_oldest();
    const size_t last = (retired.first + retired.count++) % RETIRED_MAX;
    retired.ring[last].pointer = pointer;
    retired.ring[last].size = size;
    retired.bytes += size;
    pthread_mutex_unlock(&retired.mutex);
}

/* The block starts somewhere before the address that is handed out, which is preceded by the block's own address. */
void *mw__alloc_aligned(const mw_allocator *allocator, size_t size, size_t alignment, mw_error *err)
{
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    size_t bytes;
    if (!mw__add_size(size, alignment + sizeof(void *), &bytes))
        return out_of_memory(err, 1, size);
    char *block = mw__alloc(allocator, bytes, 1, err);
    if (block == NULL)
        return NULL;
    const uintptr_t start = (uintptr_t)block + sizeof(void *);
    const size_t skip = (size_t)(((start + alignment - 1) & ~((uintptr_t)alignment - 1)) - (uintptr_t)block);
    memcpy(block + skip - sizeof(void *), &block, sizeof block);
    return block + skip;
}

enum { LINE = 64, LARGE_LEAST = 4 * MW__PAGE_LARGE };

void mw__pages_use_large(const mw_allocator *allocator, void *memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t mask = ~((uintptr_t)MW__PAGE_LARGE - 1);
    const uintptr_t begin = ((uintptr_t)memory + MW__PAGE_LARGE - 1) & mask, end = ((uintptr_t)memory + bytes) & mask;
    if (begin < end && mw__allocator_or_default(allocator)->resize == heap_resize)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* without them it is slower, and no less right */
#else
    (void)allocator, (void)memory, (void)bytes;
#endif
}

void *mw__alloc_large(const mw_allocator *allocator, size_t size, mw_error *err)
{
    void *memory = mw__alloc_aligned(allocator, size, LINE, err);
    if (memory != NULL && size >= LARGE_LEAST)
        mw__pages_use_large(allocator, memory, size);
    return memory;
}

void mw__free_aligned(const mw_allocator *allocator, void *pointer)
{
    if (pointer == NULL)
        return;
    void *block;
    memcpy(&block, (char *)pointer - sizeof(void *), sizeof block);
    mw__free(allocator, block);
}

mw_status mw__grow(const mw_allocator *allocator, void *array, size_t *capacity, size_t wanted, size_t size,
                   mw_error *err)
{
    if (wanted <= *capacity)
        return MW_OK;
    size_t target = *capacity < 8 ? 8 : *capacity;
    if (!mw__mul_size(target, *capacity == 0 ? 1 : 2, &target) || target < wanted)
        target = wanted;
    void *items;
    memcpy(&items, array, sizeof items); /* the caller's pointer has a type of its own */
    items = mw__resize(allocator, items, target, size, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    memcpy(array, &items, sizeof items);
    *capacity = target;
    return MW_OK;
}

/* ---- arena ---- */

enum { ARENA_BLOCK = 16384, ARENA_ALIGNMENT = 64, ARENA_ALIGNED = 512 };

typedef struct mw__arena_block {
    struct mw__arena_block *next;
    size_t size; /* bytes of data */
    char data[];
} arena_block;

void mw__arena_init(mw__arena *arena, const mw_allocator *allocator)
{
    *arena = (mw__arena){.allocator = mw__allocator_or_default(allocator), .block_size = ARENA_BLOCK};
}

void mw__arena_deinit(mw__arena *arena)
{
    for (arena_block *block = arena->block; block != NULL;) {
        arena_block *next = block->next;
        mw__free(arena->allocator, block);
        block = next;
    }
    *arena = (mw__arena){.allocator = arena->allocator, .block_size = arena->block_size};
}

void mw__arena_retire(mw__arena *arena)
{
    for (arena_block *block = arena->block; block != NULL;) {
        arena_block *next = block->next;
        mw__retire(arena->allocator, block, sizeof *block + block->size);
        block = next;
    }
    *arena = (mw__arena){.allocator = arena->allocator, .block_size = arena->block_size};
}

static arena_block *new_block(const mw__arena *arena, size_t size, mw_error *err)
{
    size_t bytes;
    if (!mw__add_size(sizeof(arena_block), size, &bytes))
        return out_of_memory(err, 1, size);
    arena_block *block = mw__alloc(arena->allocator, 1, bytes, err);
    if (block != NULL)
        block->size = size;
    return block;
}

/* The first aligned offset in the block that is not below `used`. */
static size_t aligned_offset(const arena_block *block, size_t used, size_t alignment)
{
    const uintptr_t address = (uintptr_t)(block->data + used);
    return used + (size_t)(((address + alignment - 1) & ~((uintptr_t)alignment - 1)) - address);
}

/* A block of its own goes behind the newest, which stays in use. */
static void *alloc_large(mw__arena *arena, size_t bytes, mw_error *err)
{
    size_t padded;
    if (!mw__add_size(bytes, ARENA_ALIGNMENT, &padded))
        return out_of_memory(err, 1, bytes);
    arena_block *block = new_block(arena, padded, err);
    if (block == NULL)
        return NULL;
    if (arena->block == NULL) {
        arena->block = block;
        arena->used = padded;
    } else {
        block->next = arena->block->next;
        arena->block->next = block;
    }
    return block->data + aligned_offset(block, 0, ARENA_ALIGNMENT);
}

/* Of what needs a cache line, or more than the newest block has left. */
static __attribute__((noinline)) void *alloc_slowly(mw__arena *arena, size_t bytes, mw_error *err)
{
    if (bytes > arena->block_size / 4)
        return alloc_large(arena, bytes, err);
    const size_t alignment = bytes >= ARENA_ALIGNED ? ARENA_ALIGNMENT : 16;
    size_t offset = arena->block != NULL ? aligned_offset(arena->block, arena->used, alignment) : 0;
    if (arena->block == NULL || offset > arena->block->size || bytes > arena->block->size - offset) {
        arena_block *block = new_block(arena, arena->block_size, err);
        if (block == NULL)
            return NULL;
        block->next = arena->block;
        arena->block = block;
        offset = aligned_offset(block, 0, alignment);
    }
    arena->used = offset + bytes;
    return arena->block->data + offset;
}

void *mw__arena_alloc(mw__arena *arena, size_t count, size_t size, mw_error *err)
{
    size_t bytes;
    if (!mw__mul_size(count, size, &bytes))
        return out_of_memory(err, count, size);
    bytes += bytes == 0;
    if (arena->block != NULL && bytes < ARENA_ALIGNED && bytes <= arena->block_size / 4) {
        const size_t offset = aligned_offset(arena->block, arena->used, 16);
        if (offset <= arena->block->size && bytes <= arena->block->size - offset) {
            arena->used = offset + bytes;
            return arena->block->data + offset;
        }
    }
    return alloc_slowly(arena, bytes, err);
}

char *mw__arena_string(mw__arena *arena, const char *text, size_t length, mw_error *err)
{
    size_t bytes;
    if (!mw__add_size(length, 1, &bytes)) {
        out_of_memory(err, 1, length);
        return NULL;
    }
    char *copy = mw__arena_alloc(arena, bytes, 1, err);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *mw__arena_keep(mw__arena *arena, const char *string, mw_error *err)
{
    return string != NULL ? mw__arena_string(arena, string, strlen(string), err) : NULL;
}
