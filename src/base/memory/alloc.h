/* The only door to the heap: an allocator of the caller's choice, and an arena for things that die together. */
#ifndef MW__BASE_MEMORY_ALLOC_H
#define MW__BASE_MEMORY_ALLOC_H

#include "base/text/error.h"
#include "base/visible.h"

/* The C library's heap; what a NULL allocator means. */
MW__SIBLING const mw_allocator *mw__allocator_default(void);

/* `given`, or the default for NULL. */
MW__SIBLING const mw_allocator *mw__allocator_or_default(const mw_allocator *given);

/* Zero-filled memory for `count` elements of `size` bytes, NULL and MW_ERROR_MEMORY on failure or overflow.
 * count * size == 0 yields one byte, so that NULL always means failure. */
MW__SIBLING void *mw__alloc(const mw_allocator *allocator, size_t count, size_t size, mw_error *err);

/* Grows or shrinks without clearing; on failure the old block stays valid. */
MW__SIBLING void *mw__resize(const mw_allocator *allocator, void *pointer, size_t count, size_t size, mw_error *err);

/* NULL is fine. */
MW__SIBLING void mw__free(const mw_allocator *allocator, void *pointer);

/* Frees late: what still points there reads what was left there, and no other object gets the address, until 1 MiB was
 * retired behind it. Only memory of the C library's heap, as another allocator may be gone by then; the rest is freed
 * now. */
void mw__retire(const mw_allocator *allocator, void *pointer, size_t size);

/* Zero-filled memory whose address is a multiple of `alignment` (a power of two); free with mw__free_aligned. */
void *mw__alloc_aligned(const mw_allocator *allocator, size_t size, size_t alignment, mw_error *err);
/* The same for memory that will be written as a whole: aligned to a cache line, and from 8 MB on, if it comes from the
 * C library's heap, in large pages where Linux has them (transparent_hugepage), which are there from their first byte
 * on. */
void *mw__alloc_large(const mw_allocator *allocator, size_t size, mw_error *err);
void mw__free_aligned(const mw_allocator *allocator, void *pointer);

/* Makes room for one more element of an array that doubles: `array` is the address of the pointer.
 *     MW_TRY(mw__grow(allocator, &list->items, &list->capacity, list->count + 1, sizeof *list->items, err)); */
MW__SIBLING mw_status mw__grow(const mw_allocator *allocator, void *array, size_t *capacity, size_t wanted, size_t size,
                               mw_error *err);

/* An arena: blocks that are released together. Large requests get a block of their own. */
typedef struct mw__arena {
    const mw_allocator *allocator;
    struct mw__arena_block *block; /* newest first */
    size_t used;                   /* bytes used of the newest block */
    size_t block_size;             /* of those that serve several requests; 0: each request is one of the allocator's */
} mw__arena;

MW__SIBLING void mw__arena_init(mw__arena *arena, const mw_allocator *allocator);
MW__SIBLING void mw__arena_deinit(mw__arena *arena);
/* The same by mw__retire. */
void mw__arena_retire(mw__arena *arena);

/* Zero-filled, aligned to 64 (a cache line) for requests of 512 bytes and more, else to 16. */
MW__SIBLING void *mw__arena_alloc(mw__arena *arena, size_t count, size_t size, mw_error *err);

/* A NUL-terminated copy. */
MW__SIBLING char *mw__arena_string(mw__arena *arena, const char *text, size_t length, mw_error *err);
/* A copy of a whole string; NULL for NULL, too. */
MW__SIBLING char *mw__arena_keep(mw__arena *arena, const char *string, mw_error *err);

#endif
