/* Large pages, where Linux gives them to who asks: networks walk over planes that lie in a page each. */
#ifndef MW__BASE_MEMORY_LARGE_PAGES_H
#define MW__BASE_MEMORY_LARGE_PAGES_H

#include "base/memory/alloc.h"

/* A large page. Memory from two of them on that may be written as a whole begins with one. */
enum { MW__PAGE_LARGE = 2 << 20 };
static inline size_t mw__pages_alignment(size_t size, size_t alignment)
{
    return size >= 2 * (size_t)MW__PAGE_LARGE ? MW__PAGE_LARGE : alignment;
}

/* Asks for them where they fit into memory of mw__alloc or mw__alloc_aligned that will be written as a whole, as a
 * large page is there from its first byte on. Memory of an allocator that a program brings stays as it is. */
void mw__pages_use_large(const mw_allocator *allocator, void *memory, size_t size);

#endif
